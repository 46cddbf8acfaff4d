"""Pauses of long work, so that threads that run a model or wait for the interpreter lock are not held up.

Python runs one thread at a time. A thread that waits for the interpreter lock asks for it after 5 ms, and receives it
at the next step of Python code. Compiled code has no such steps, so its long loops call `pause` now and then.

A pass of a model needs more than that. It releases the lock some hundred times, at each operation on arrays. If another
thread works all the time, the pass waits up to 5 ms after each of them: a pass of 60 ms takes two seconds. So long work
sleeps most of the time while passes run, and the longer it has worked, the longer it sleeps:

    with passes running     work 2 ms | sleep 10 ms | work 2 ms | sleep 10 ms | … | work 2 ms | sleep 50 ms | …
    without                 work | pause | work | …           (a pause takes 0.1 µs if no thread waits)

Code that runs passes of a model marks them with an object of `ModelPasses`. This module is never compiled; see
`pause`.
"""

from __future__ import annotations

import threading
import time

from structgen.engine.fork_safety import call_in_forked

__all__ = ["ModelPasses", "end_rests", "pause", "rest"]

REST_SECONDS = 0.01  # of each thread that does long work, as long as passes run
LONGER_EACH_SECONDS = 0.01  # of work, a rest is longer by REST_SECONDS
LONGEST_REST_SECONDS = 0.05

_passes: set[int] = set()  # by id: objects of ModelPasses that run
_rests = threading.Condition()  # a thread that rests waits for it
_resting = 0  # the number of threads that rest


def pause() -> bool:
    """Let a waiting thread run, and handle signals such as Ctrl-C.

    Python does both where a function that is not compiled begins. The waiting thread surely runs then. Releasing the
    lock for a moment, as `sleep` or `select` do, is worse: the waiting thread wakes, finds the lock taken again, and
    waits another 5 ms before it asks.

    Returns:
        Whether passes of a model run, so that long work should rest.
    """
    return bool(_passes)


def rest(worked_seconds: float) -> float:
    """Sleep while passes run, up to LONGEST_REST_SECONDS. Several threads that rest take turns: each sleeps longer.

    Args:
        worked_seconds: how long the work has taken so far. Most work is soon done, so it sleeps little.

    Returns:
        The seconds that it took.
    """
    global _resting
    began = time.monotonic()
    _resting += 1
    seconds = min(REST_SECONDS * (1 + worked_seconds / LONGER_EACH_SECONDS), LONGEST_REST_SECONDS)
    try:
        with _rests:
            if _passes:
                _rests.wait(seconds * _resting)
    finally:
        _resting -= 1
    return time.monotonic() - began


def end_rests() -> None:
    """Wake all threads that rest, because another thread has asked one of them for something."""
    with _rests:
        _rests.notify_all()


class ModelPasses:
    """Marks a time in which passes of a model run, one after the other."""

    def begin(self) -> None:
        """Begin the time: from now on, long work in other threads rests."""
        _passes.add(id(self))

    def end(self) -> None:
        """End the time: long work goes on."""
        _passes.discard(id(self))
        if not _passes:
            end_rests()


def _forget() -> None:
    """Forget the passes of the process that was forked: they do not run here."""
    global _resting, _rests
    _passes.clear()
    _resting = 0
    _rests = threading.Condition()


call_in_forked(_forget)
