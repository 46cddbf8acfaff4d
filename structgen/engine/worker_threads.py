"""Threads that share the rows of a batch, where the work on a row needs no interpreter lock.

The rows are divided into blocks, one for each thread. The calling thread adds them in order. Each thread does the rows
of its own block first, and then those of others:

    calling thread, with the interpreter lock     helper, without
    fill row 0, add it                            -
    fill row 1, add it                            do row 0, as there is none of its own yet
    fill row 2, add it                            -
    fill row 3, add it                            do row 2
    finish: do row 1                              do row 3

So a helper works while the calling thread computes. In the next step, each thread has nearly the same rows again: parts
of them are still in its processor's cache, and no two processors write side by side. (When rows went to whichever
thread was free, two threads on two cores were 1.5 times as fast as one. With blocks they are 1.8 to 1.9 times as fast.)

Helpers never take the interpreter lock: a thread that asks for it waits for up to 5 ms. A thread whose block is done
takes rows of others, so a helper that the system did not wake in time is not waited for. Helpers are started once, and
wait. A process that was forked starts its own.

Uncompiled there are no helpers: everything needs the interpreter lock.
"""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from types import SimpleNamespace

from structgen.engine.arrays import zeros
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
MAX_THREADS = 64

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
        self._blocks = 1
        self._rows = self._size = 0  # of all blocks, and of each but the last, which has the rest
        self._added = 0  # the rows before this one can be done
        self._begun = zeros(MAX_THREADS)  # by block: the number of rows
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
        wanted = min(threads, os.cpu_count() or 1, rows // MIN_ROWS, MAX_THREADS) - 1
        try:
            while len(self._helpers) < wanted:
                helper = _free_helper()
                if helper is None:
                    break
                self._helpers.append(helper)
        except BaseException:  # such as Ctrl-C while a thread starts: `finish` would wait for helpers never called
            _idle.extend(self._helpers)
            self._helpers.clear()
            raise
        self._blocks = 1 + len(self._helpers)
        self._size = rows // self._blocks
        self._rows = rows
        for index in range(len(self._helpers)):
            called = self._helpers[index]
            called.call(self, 1 + index)

    def add(self, rows: int) -> None:
        """Add `rows` more rows that the threads can do."""
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
            self.work(0)
        else:
            with cython.nogil:
                self.work(0)
        for helper in self._helpers:
            with cython.nogil:
                helper.leave()
        _idle.extend(reversed(self._helpers))  # the next call takes them in the same order
        self._helpers.clear()

    def work(self, block: int) -> None:
        """Do one row after another, those of a block first, until there will be no more."""
        while True:
            row = self._next(block)
            if row >= 0:
                self.do(row)
            elif row == NO_MORE:
                return
            else:
                self._gate.take()
                self._gate.give()

    def _next(self, block: int) -> int:
        """Return the row to be done next, NONE_YET or NO_MORE."""
        row = NONE_YET
        self._lock.take()
        if self._left(block) <= 0:
            block = self._fullest()
        if self._left(block) > 0:
            row = block * self._size + self._begun[block]
            self._begun[block] += 1
        elif self._is_closed:
            row = NO_MORE
        elif self._is_open:
            self._gate.take()  # at once, or when another helper has passed
            self._is_open = False
        self._lock.give()
        return row

    def _left(self, block: int) -> int:
        """Return how many rows of a block were added and not begun; negative before the first is added."""
        last = (block + 1) * self._size if block + 1 < self._blocks else self._rows
        return min(last, self._added) - block * self._size - self._begun[block]

    def _fullest(self) -> int:
        """Return the block with most rows that were added and not begun."""
        found, most = 0, 0
        for block in range(self._blocks):
            left = self._left(block)
            if left > most:
                found, most = block, left
        return found

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
        self._block = 0
        self._is_called = False  # and has not seen it yet
        self._is_at_work = False
        self._called.take()
        self._done.take()

    def call(self, queue: RowQueue, block: int) -> None:
        """Wake the thread to work for a queue, on one block first. The caller keeps the queue alive until `leave`."""
        self._lock.take()
        self._block = block
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
            queue, block = self._queue, self._block
            self._is_at_work = queue != cython.NULL
            self._lock.give()
            if queue != cython.NULL:
                cython.cast(RowQueue, queue).work(block)
                self._lock.take()
                self._queue = cython.NULL
                self._is_at_work = False
                self._lock.give()
                self._done.give()


def _free_helper() -> Helper | None:
    """Return a helper that waits, or a new one; None if other queues use as many as there are processors."""
    global _helpers_made
    if _idle:
        return _idle.pop()
    if _helpers_made >= (os.cpu_count() or 1):
        return None
    _helpers_made += 1  # first: other threads run while one is started
    helper = Helper()
    try:
        threading.Thread(target=helper.run, daemon=True, name="structgen-rows").start()
    except RuntimeError:  # the system has no more threads
        _helpers_made -= 1
        return None
    return helper


def _forget() -> None:
    """Forget the threads of the process that was forked: they do not run here."""
    global _helpers_made
    _idle.clear()
    _helpers_made = 0


call_in_forked(_forget)
