"""Threads that share rows do each row once, hand errors on, and work in a forked process."""

from __future__ import annotations

import os
import threading

import pytest

from structgen.engine.worker_threads import run_in_parts


@pytest.mark.parametrize("threads", [1, 2, 3, 100])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 100])
def test_each_number_is_done_once(count: int, threads: int) -> None:
    done: list[int] = []
    run_in_parts(lambda begin, end: done.extend(range(begin, end)), count, threads)
    assert sorted(done) == list(range(count))


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor: no second thread is started")
def test_two_threads_work_at_once() -> None:
    both_are_here = threading.Barrier(2, timeout=60)
    run_in_parts(lambda begin, end: both_are_here.wait() and None, 2, 2)
    assert not both_are_here.broken


@pytest.mark.parametrize("at", [0, 50, 99])
def test_an_error_is_raised_after_all_threads_have_stopped(at: int) -> None:
    def work(begin: int, end: int) -> None:
        if begin <= at < end:
            raise RuntimeError("a row that fails")

    with pytest.raises(RuntimeError, match="a row that fails"):
        run_in_parts(work, 100, 2)
    test_each_number_is_done_once(100, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    test_each_number_is_done_once(100, 2)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            test_each_number_is_done_once(100, 2)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
