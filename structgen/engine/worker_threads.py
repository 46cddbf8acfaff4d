"""Threads that share the rows of a batch, where the work on a row needs no interpreter lock.

The calling thread adds rows to a queue, one after another. Helpers begin each as soon as it is there:

    calling thread, with the interpreter lock     helper, without
    fill row 0, add it                            -
    fill row 1, add it                            do row 0
    fill row 2, add it                            do row 1
    finish: do row 2                              -

So a helper works while the calling thread computes. Helpers never take the interpreter lock: a thread that asks for it
waits for up to 5 ms. A row goes to the thread that is free, and a helper that the system did not wake in time is not
waited for. Helpers are started once, and wait. A process that was forked starts its own.

Uncompiled there are no helpers: everything needs the interpreter lock.
"""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from types import SimpleNamespace

from structgen.engine.fork_safety import call_in_forked
from structgen.engine.whole_numbers import whole_number

try:
    import cython  # type: ignore[import-untyped]  # compiled, `cython.nogil` releases the interpreter lock
except ImportError:
    cython = SimpleNamespace(nogil=nullcontext())

__all__ = ["IS_COMPILED", "Helper", "RowQueue", "thread_count"]

IS_COMPILED = not __file__.endswith(".py")
# Declared as C integers in the .pxd.
NONE_YET = -1  # in place of a row
NO_MORE = -2
MIN_ROWS = 2  # of a thread: to wake it takes as long as a row or two

_idle: list[Helper] = []
_helpers_made = 0


def thread_count(threads: object) -> int:
    """Return a number of threads that a user asks for.

    Raises:
        ValueError: it is not positive.
        TypeError: it is no integer.
    """
    count = whole_number(threads, "a number of threads")
    if count < 1:
        raise ValueError(f"{count} threads: one is needed at least")
    return count


class _Lock:
    """A lock that is taken without a look at the interpreter lock, and that another thread may give back."""

    def __init__(self) -> None:
        self._lock = PyThread_allocate_lock()  # type: ignore[name-defined]  # noqa: F821  (of Python's C interface)

    def __dealloc__(self) -> None:
        PyThread_free_lock(self._lock)  # type: ignore[name-defined]  # noqa: F821

    def take(self) -> None:
        """Wait until the lock is free, and take it."""
        PyThread_acquire_lock(self._lock, WAIT_LOCK)  # type: ignore[name-defined]  # noqa: F821

    def give(self) -> None:
        """Give the lock back."""
        PyThread_release_lock(self._lock)  # type: ignore[name-defined]  # noqa: F821


class RowQueue:
    """Rows that several threads work off while one thread adds them.

    A subclass says what is done with a row. It must need no Python object. Two locks order the threads: `_lock` guards
    the numbers, and is held for some nanoseconds; `_gate` is held while there is no row to begin, and helpers wait for
    it.
    """

    def __init__(self) -> None:
        self._lock = _Lock()
        self._gate = _Lock()
        self._added = self._begun = 0  # numbers of rows
        self._is_closed = False
        self._is_open = False  # the gate
        self._gate.take()
        self._helpers: list[Helper] = []

    def do(self, row: int) -> None:
        """Do the work on one row."""

    def begin(self, threads: int, rows: int) -> None:
        """Call helpers. Each call needs one of `finish`, even if it fails: helpers refer to the queue.

        Args:
            threads: the number of threads, the calling one included. There are no more than processors, and for few
                rows fewer.
            rows: the number of rows that will be added.
        """
        global _helpers_made
        processors = os.cpu_count() or 1
        for _ in range(min(threads, processors, rows // MIN_ROWS) - 1):
            if _idle:
                helper = _idle.pop()
            elif _helpers_made < processors:
                _helpers_made += 1  # first: other threads run while one is started
                helper = Helper()
                try:
                    threading.Thread(target=helper.run, daemon=True, name="structgen-rows").start()
                except RuntimeError:  # the system has no more threads
                    _helpers_made -= 1
                    return
            else:  # other queues use them
                return
            self._helpers.append(helper)
            helper.call(self)

    def add(self, rows: int) -> None:
        """Say that so many more rows can be done."""
        self._lock.take()
        self._added += rows
        self._open_gate()
        self._lock.give()

    def finish(self) -> None:
        """Help with the rows that are left, and wait until all are done.

        Without helpers, this thread keeps the interpreter lock: a busy thread would have it for 5 ms.
        """
        self._lock.take()
        self._is_closed = True
        self._open_gate()
        self._lock.give()
        if not self._helpers:
            self.work()
        else:
            with cython.nogil:
                self.work()
        for helper in self._helpers:
            with cython.nogil:
                helper.leave()
        _idle.extend(self._helpers)
        self._helpers.clear()

    def work(self) -> None:
        """Do one row after another, until there will be no more."""
        while True:
            row = self._next()
            if row >= 0:
                self.do(row)
            elif row == NO_MORE:
                return
            else:
                self._gate.take()
                self._gate.give()

    def _next(self) -> int:
        """Return the row to be done next, NONE_YET or NO_MORE."""
        row = NONE_YET
        self._lock.take()
        if self._begun < self._added:
            row = self._begun
            self._begun += 1
        elif self._is_closed:
            row = NO_MORE
        elif self._is_open:
            self._gate.take()  # at once, or when another helper has passed
            self._is_open = False
        self._lock.give()
        return row

    def _open_gate(self) -> None:
        if not self._is_open:
            self._is_open = True
            self._gate.give()


class Helper:
    """A thread that works for one queue after another, and waits in between.

    `_lock` guards the attributes; `_called` and `_done` are held until the helper is called, and until it has left the
    queue.
    """

    def __init__(self) -> None:
        self._lock = _Lock()
        self._called = _Lock()
        self._done = _Lock()
        self._queue = cython.NULL  # a pointer: Python's counts of references need the interpreter lock
        self._is_called = False  # and has not seen it yet
        self._is_at_work = False
        self._called.take()
        self._done.take()

    def call(self, queue: RowQueue) -> None:
        """Let the thread work for a queue. The queue stays alive until `leave`."""
        self._lock.take()
        self._queue = cython.cast("void *", queue)
        was_called = self._is_called
        self._is_called = True
        self._lock.give()
        if not was_called:
            self._called.give()

    def leave(self) -> None:
        """Wait until the thread does not work for the queue any more, or keep it from beginning."""
        is_late = False
        self._lock.take()
        if self._queue != cython.NULL and not self._is_at_work:
            self._queue = cython.NULL
            is_late = True
        self._lock.give()
        if not is_late:
            self._done.take()

    def run(self) -> None:
        """Run the thread, as long as the process lives."""
        with cython.nogil:
            self._serve()

    def _serve(self) -> None:
        while True:
            self._called.take()
            self._lock.take()
            self._is_called = False
            queue = self._queue
            self._is_at_work = queue != cython.NULL
            self._lock.give()
            if queue != cython.NULL:
                cython.cast(RowQueue, queue).work()
                self._lock.take()
                self._queue = cython.NULL
                self._is_at_work = False
                self._lock.give()
                self._done.give()


def _forget() -> None:
    """Forget the threads of the process that was forked: they do not run here."""
    global _helpers_made
    _idle.clear()
    _helpers_made = 0


call_in_forked(_forget)
