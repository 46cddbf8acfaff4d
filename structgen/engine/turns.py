"""How long work in one thread lets the others run.

Python runs one thread at a time. A thread that waits for the interpreter lock asks for it after 5 ms, and receives it
at the next step of Python code. Compiled code has no such steps, so its long loops call `pause` now and then.

A pass of a model needs more than that. It releases the lock some hundred times, at each operation on arrays. If another
thread works all the time, the pass waits up to 5 ms after each of them: a pass of 60 ms takes two seconds. So long work
sleeps most of the time while passes run:

    with passes running     work 2 ms | sleep 10 ms | work 2 ms | …
    without                 work | pause | work | …           (a pause takes 0.1 µs if no thread waits)

Whoever runs passes says so with an object of `ModelPasses`. This module is never compiled; see `pause`.
"""

from __future__ import annotations

import threading
import time

from structgen.engine.fork_safety import call_in_forked

__all__ = ["ModelPasses", "pause", "rest"]

REST_SECONDS = 0.01  # of each thread that does long work, as long as passes run

_passes: set[int] = set()  # by id: objects of ModelPasses that run
_no_passes = threading.Event()
_no_passes.set()
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


def rest() -> float:
    """Sleep while passes run, for REST_SECONDS at most. Several threads that rest take turns: each sleeps longer.

    Returns:
        The seconds that it took.
    """
    global _resting
    began = time.monotonic()
    _resting += 1
    try:
        _no_passes.wait(REST_SECONDS * _resting)
    finally:
        _resting -= 1
    return time.monotonic() - began


class ModelPasses:
    """Says that passes of a model run, one after the other."""

    def begin(self) -> None:
        """Let long work in other threads rest from now on."""
        if id(self) not in _passes:
            _passes.add(id(self))
            _no_passes.clear()

    def end(self) -> None:
        """Let long work go on."""
        _passes.discard(id(self))
        if not _passes:
            _no_passes.set()


def _forget() -> None:
    """Forget the passes of the process that was forked: they do not run here."""
    global _resting
    _passes.clear()
    _resting = 0
    _no_passes.set()


call_in_forked(_forget)
