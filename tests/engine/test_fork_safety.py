"""Locks stay usable where several threads fork at a time."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from structgen.engine import fork_safety


class Slow:
    """A lock that lets another thread run after it was taken first."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.was_taken = threading.Event()
        self.may_go_on = threading.Event()

    def acquire(self, timeout: float) -> bool:
        was_taken: bool = self._lock.acquire(timeout=timeout)
        if not self.was_taken.is_set():
            self.was_taken.set()
            self.may_go_on.wait(60)
        return was_taken

    def release(self) -> None:
        self._lock.release()


def test_each_thread_that_forks_releases_the_locks_that_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the second thread begins to fork while the first one waits, and takes a lock that the first one needs."""
    first, second = threading.RLock(), threading.RLock()
    slow = Slow(second)
    locks: dict[str, list[Any]] = {"first": [slow], "second": [first]}
    monkeypatch.setattr(fork_safety, "_all_locks", lambda: locks[threading.current_thread().name])
    has_taken, may_release = threading.Event(), threading.Event()

    def fork_first() -> None:
        fork_safety._before()
        fork_safety._after_in_parent()

    def fork_second() -> None:
        fork_safety._before()
        has_taken.set()
        may_release.wait(60)
        fork_safety._after_in_parent()

    threads = [threading.Thread(target=fork_first, name="first"), threading.Thread(target=fork_second, name="second")]
    threads[0].start()
    slow.was_taken.wait(60)
    threads[1].start()
    has_taken.wait(60)
    slow.may_go_on.set()
    threads[0].join()
    assert not first.acquire(timeout=0.01)  # the second thread still has it
    may_release.set()
    threads[1].join()
    assert first.acquire(timeout=0)
    assert second.acquire(timeout=0)
