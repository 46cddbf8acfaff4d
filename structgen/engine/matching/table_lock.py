"""The lock of tables that grammars share. A thread that waits for long can ask the holder to give it back.

A mask takes microseconds, so threads rarely wait for the lock. But a grammar made to exhaust a server may hold it for
as long as a mask may take. So a thread that has waited for PATIENCE_SECONDS asks the holder to leave: the holder's work
ends at its next look at the clock, and begins anew in tables of its own, which have another lock.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Protocol

from structgen.engine.fork_safety import forkable_rlock, register_lock
from structgen.engine.threads import this_thread

__all__ = ["Guest", "TableLock"]

PATIENCE_SECONDS = 0.01  # a thread waits so long before it asks the holder to leave
FREE = 0  # in place of a thread; no thread has this number
IS_COMPILED = not __file__.endswith(".py")


class Guest(Protocol):
    """A holder of the lock that can be asked to give it back, such as a `CompiledGrammar`."""

    def expire(self) -> None:
        """End the work under the lock at the next look at the clock. Called by another thread."""


class TableLock:
    """A lock that one thread may take several times.

    It is taken for each new mask and step, so taking it must cost little. Compiled, a free lock is taken by naming its
    owner: no object is made between the question whether it is free and the assignment, so no other thread can run.

    Attributes:
        guest: the holder that can be asked to leave; None if the holder cannot. After it has given the lock back, it
            ignores the question.
    """

    def __init__(self) -> None:
        self.guest: Guest | None = None
        self._owner = FREE  # the thread that holds the lock
        self._depth = 0  # how many times it has taken the lock
        self._is_awaited = False  # whether a thread may be waiting for `_changed`
        self._changed = threading.Condition(forkable_rlock())
        register_lock(self)

    def __enter__(self) -> None:
        self.take()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def take(self) -> None:
        """Take the lock. Ask the holder to leave, again and again, if that takes long."""
        thread = this_thread()
        if self._owner == thread:
            self._depth += 1
        elif IS_COMPILED and self._owner == FREE:
            self._owner = thread
            self._depth = 1
        else:
            self._wait(thread, None)

    def acquire(self, timeout: float) -> bool:
        """Take the lock if that is possible within `timeout` seconds. Return whether it was taken."""
        thread = this_thread()
        if self._owner != thread:
            return self._wait(thread, time.monotonic() + timeout)
        self._depth += 1
        return True

    def release(self) -> None:
        """Give the lock back, once for each time it was taken."""
        self._depth -= 1
        if not self._depth:
            self._owner = FREE
            if self._is_awaited:
                self._wake()

    def _wait(self, thread: int, end: float | None) -> bool:
        """Wait for the lock, and take it. Return whether it was taken.

        Args:
            thread: this thread, which does not hold the lock.
            end: the time of `time.monotonic` to give up at; None to wait without end.
        """
        with self._changed:
            self._is_awaited = True  # set before `_owner` is read: `release` reads it after it has cleared `_owner`
            while self._owner != FREE:
                if end is not None and time.monotonic() >= end:
                    return False
                if not self._changed.wait(PATIENCE_SECONDS):
                    guest = self.guest  # read once: the holder may set it to None meanwhile
                    if guest is not None:
                        guest.expire()
                self._is_awaited = True
            self._owner = thread
            self._depth = 1
        return True

    def _wake(self) -> None:
        """Wake the threads that wait."""
        with self._changed:
            self._is_awaited = False
            self._changed.notify_all()

    def _at_fork_reinit(self) -> None:
        """Free the lock in a forked process, where the thread that held it does not run."""
        self._owner = FREE
        self._depth = 0
