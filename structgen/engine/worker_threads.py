"""Threads that share the rows of one piece of work, where it runs without the interpreter lock.

    run_in_parts(work, 256, threads=2)      this thread: work(0, 8), work(16, 24), …     another: work(8, 16), …

A thread takes the next part when it is done with one, so a thread that the system holds up holds nobody up. The other
threads are started once and wait for work; to call one takes some 20 µs. A process that was forked starts its own.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from structgen.engine.fork_safety import call_in_forked, forkable_lock

__all__ = ["run_in_parts"]

PART = 8  # numbers; rows of logits take some 20 µs each

_lock = forkable_lock()
_workers: ThreadPoolExecutor | None = None


def run_in_parts(work: Callable[[int, int], None], count: int, threads: int) -> None:
    """Do some work on the numbers below `count`, in several threads at once, and wait until all of it is done.

    Args:
        work: called with the first number of a part, and the first number after it.
        count: how many numbers there are.
        threads: the number of threads, this one included. No more run than there are processors.
    """
    threads = max(1, min(threads, count, os.cpu_count() or 1))
    size = max(1, min(PART, -(-count // threads)))
    parts = deque((begin, min(begin + size, count)) for begin in range(0, count, size))
    others = [_pool().submit(_work_off, work, parts) for _ in range(threads - 1)]
    try:
        _work_off(work, parts)
    finally:
        parts.clear()
        for other in others:
            other.exception()  # waits: the caller may free what the work writes to
    for other in others:
        other.result()


def _work_off(work: Callable[[int, int], None], parts: deque[tuple[int, int]]) -> None:
    """Do one part after the other, until no thread has left any."""
    while True:
        try:
            begin, end = parts.popleft()
        except IndexError:
            return
        work(begin, end)


def _pool() -> ThreadPoolExecutor:
    global _workers
    with _lock:
        if _workers is None:
            _workers = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="structgen-rows")
        return _workers


def _forget() -> None:
    """Forget the threads of the process that was forked: they do not run here."""
    global _workers
    _workers = None


call_in_forked(_forget)
