"""Locks that stay usable in a forked process.

`os.fork` copies a process with one thread, the one that forks. A lock that another thread held would stay locked in the
copy for ever. So before a fork all locks made here are taken, and after it they are released in both processes: the
copy has no state that was half written. A fork waits MAX_WAIT_SECONDS at most, as a thread may hold a lock for long; a
lock that was not free by then is replaced by a free one in the copy.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["call_in_forked", "forkable_lock", "forkable_rlock", "register_lock"]

MAX_WAIT_SECONDS = 1.0  # of one fork, for all locks together

_locks: dict[int, weakref.ref[Any]] = {}  # by id; an entry goes with its lock
_in_forked: list[Callable[[], None]] = []
_taken: dict[int, list[Any]] = {}  # by thread, as several may fork at a time: each releases what it took


def forkable_lock() -> threading.Lock:
    """Return a new `threading.Lock` that a forked process can use."""
    lock = threading.Lock()
    register_lock(lock)
    return lock


def forkable_rlock() -> threading.RLock:
    """Return a new `threading.RLock` that a forked process can use."""
    lock = threading.RLock()
    register_lock(lock)
    return lock


def call_in_forked(function: Callable[[], None]) -> None:
    """Call a function in each forked process, once its locks are free."""
    _in_forked.append(function)


def register_lock(lock: Any) -> None:
    """Let a forked process use a lock, which has the methods of Python's locks that are used here."""
    number = id(lock)
    _locks[number] = weakref.ref(lock, lambda _: _locks.pop(number, None))


def _all_locks() -> list[Any]:
    return [lock for found in list(_locks.values()) if (lock := found()) is not None]


def _before() -> None:
    end = time.monotonic() + MAX_WAIT_SECONDS
    taken = _taken[threading.get_ident()] = []
    for lock in _all_locks():
        # The forking thread may itself hold a plain lock: it is not waited for longer than others.
        if lock.acquire(timeout=max(0.0, end - time.monotonic())):
            taken.append(lock)


def _after_in_parent() -> None:
    taken = _taken.pop(threading.get_ident(), [])
    while taken:
        taken.pop().release()


def _after_in_child() -> None:
    taken = set(map(id, _taken.get(threading.get_ident(), ())))
    for lock in _all_locks():
        if id(lock) not in taken:
            lock._at_fork_reinit()
    _after_in_parent()  # after that: to release a lock may take another one, which must be free
    _taken.clear()
    for function in _in_forked:
        function()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
