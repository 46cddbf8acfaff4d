"""The lock of tables that grammars share, whose holder can be asked to go elsewhere.

A mask takes microseconds, so threads rarely wait for the lock. But a grammar made to exhaust a server may hold it for
as long as a mask may take. So whoever waits for long asks the holder to leave: its work ends at the next look at the
clock, and begins anew in tables of its own.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from structgen.engine.fork_safety import forkable_rlock

__all__ = ["Guest", "TableLock"]

PATIENCE_SECONDS = 0.01  # a thread waits so long before it asks the holder to leave


class Guest(Protocol):
    """What holds the lock, and can leave it."""

    def expire(self) -> None:
        """End the work under the lock at the next look at the clock. Called by another thread."""


class TableLock:
    """A lock that one thread may take several times.

    Attributes:
        guest: the holder that can be asked to leave; None if none can. It ignores what it is asked once it has given
            the lock back.
    """

    __slots__ = ("__weakref__", "acquire", "guest", "release")

    def __init__(self) -> None:
        lock = forkable_rlock()
        self.acquire, self.release = lock.acquire, lock.release
        self.guest: Guest | None = None

    def __enter__(self) -> None:
        self.take()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def take(self) -> None:
        """Take the lock. Ask the holder to leave, again and again, if that takes long."""
        if self.acquire(False):
            return
        while not self.acquire(timeout=PATIENCE_SECONDS):
            if self.guest is not None:
                self.guest.expire()
