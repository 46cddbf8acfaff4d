"""Threads that share rows do all of them, whoever else calls, and work in a forked process."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from structgen import apply_token_bitmask
from structgen.engine import worker_threads
from structgen.engine.worker_threads import IS_COMPILED, thread_count

only_compiled = pytest.mark.skipif(not IS_COMPILED, reason="uncompiled there are no helpers")
needs_processors = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor: no second thread is started")


def check_rows(rows: int, threads: int, width: int = 100) -> None:
    """Apply a mask in threads, and compare with the definition."""
    random = np.random.default_rng(rows)
    mask = random.integers(0, 2**32, (rows, (width + 31) // 32), dtype=np.uint32)
    logits = random.standard_normal((rows, width)).astype(np.float32)
    allowed = np.unpackbits(mask.view(np.uint8), axis=1, count=width, bitorder="little").astype(bool)
    should = np.where(allowed, logits, -np.inf)
    apply_token_bitmask(logits, mask, threads=threads)
    np.testing.assert_array_equal(logits, should)


@pytest.mark.parametrize("threads", [1, 2, 3, 100])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 7, 100])
def test_all_rows_are_done(rows: int, threads: int) -> None:
    check_rows(rows, threads)


def test_calls_one_after_another() -> None:
    """A helper that was late for one call is there for a later one."""
    for rows in range(300):
        check_rows(rows % 9, 2)


@pytest.mark.parametrize("processors", [1, 2, 8])
def test_calls_at_the_same_time(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls share the helpers, which are no more than processors; a call that finds none does its rows alone."""
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(worker_threads, "_idle", [])
    monkeypatch.setattr(worker_threads, "_helpers_made", 0)
    with ThreadPoolExecutor(6) as callers:
        for _ in callers.map(lambda number: check_rows(number % 40, 1 + number % 8), range(400)):
            pass
    assert worker_threads._helpers_made == len(worker_threads._idle) <= processors


@only_compiled
@needs_processors
def test_a_helper_does_some_of_the_rows() -> None:
    """Time that this process has used beside this thread is that of a helper."""
    logits, mask = np.zeros((64, 32_000), np.float32), np.full((64, 1000), 0x55555555, np.uint32)
    until = time.monotonic() + 60
    helped = 0.0
    while helped < 0.002 and time.monotonic() < until:
        began = time.process_time() - time.thread_time()
        apply_token_bitmask(logits, mask, threads=2)
        helped += time.process_time() - time.thread_time() - began
    assert helped >= 0.002


@only_compiled
@needs_processors
def test_helpers_need_no_interpreter_lock() -> None:
    """A thread that computes without end does not hold a call up for 5 ms per part."""
    logits, mask = np.zeros((64, 3200), np.float32), np.full((64, 100), 0x55555555, np.uint32)
    is_done = threading.Event()

    def compute() -> None:
        while not is_done.is_set():
            sum(range(1000))

    busy = threading.Thread(target=compute)
    busy.start()
    try:
        for _ in range(20):
            apply_token_bitmask(logits, mask, threads=2)
    finally:
        is_done.set()
        busy.join()
    assert np.isneginf(logits).sum() == logits.size // 2


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_thread_that_cannot_be_started(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without more threads the calling one does all rows; an interrupt is raised once no helper has the rows."""

    def refuse(thread: threading.Thread) -> None:
        raise error

    monkeypatch.setattr(worker_threads, "_idle", [])
    monkeypatch.setattr(worker_threads, "_helpers_made", 0)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    is_raised = IS_COMPILED and error is KeyboardInterrupt and (os.cpu_count() or 1) > 1
    with pytest.raises(error) if is_raised else contextlib.nullcontext():
        check_rows(40, 100)


def test_logits_that_cannot_be_written() -> None:
    logits = np.zeros((4, 32), np.float32)
    logits.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        apply_token_bitmask(logits, np.zeros((4, 1), np.uint32), threads=2)


def test_numbers_of_threads() -> None:
    assert [thread_count(count) for count in (1, np.int64(3))] == [1, 3]
    with pytest.raises(ValueError, match="0 threads"):
        thread_count(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    check_rows(100, 2)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            check_rows(100, 2)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@only_compiled
def test_an_interrupt_while_a_helper_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The helpers that were found before are not called any more. The call must not wait for them."""
    check_rows(8, 2)
    start = threading.Thread.start
    started: list[threading.Thread] = []

    def interrupted(thread: threading.Thread) -> None:
        if started:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(worker_threads, "_idle", [])
    monkeypatch.setattr(worker_threads, "_helpers_made", 0)
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check_rows(20, 4)
    monkeypatch.setattr(threading.Thread, "start", start)
    check_rows(20, 4)
