"""Deadlines of compiles, masks and accepted tokens, and the count of the work that they bound.

A call that may take long runs under a `Deadline`. It is the *running* deadline of its thread: loops do not receive it
as an argument. Each loop that can grow calls `spend` with the number of its steps. Once every few thousand steps,
`spend` compares the clock with the thread's running deadline:

    with Deadline(2.0):          is the running deadline of this thread
        ...
        spend(1)                 one more automaton state: counts down
        spend(len(parts))        past UNITS_BETWEEN_LOOKS: looks at the clock; raises if the time is over

Deadlines nest: the outer ones are checked as well, so an inner one cannot extend them.

A compiled loop keeps Python's interpreter lock, so other threads would wait until it ends. `spend` lets them run every
few milliseconds.

A unit is one step of a loop, of about a microsecond. `spend` raises where a bound on sizes may raise as well: between
two steps, when every table holds whole entries only.
"""

from __future__ import annotations

import select
import sys
import time
from threading import get_ident
from types import TracebackType

from structgen.errors import LimitExceededError

__all__ = ["Deadline", "look", "spend"]

UNITS_BETWEEN_LOOKS = 2_000
NOT_STARTED = 0.0  # in place of the end of a deadline that starts at the first look at the clock
SECONDS_BETWEEN_TURNS = 0.005  # a thread that waits for the interpreter lock asks for it after so long

_running: dict[int, Deadline | None] = {}  # by thread: its innermost deadline
_units_left = UNITS_BETWEEN_LOOKS  # of all threads together: it only decides when the clock is looked at
_last_turn = 0.0  # when other threads could run last


def spend(units: int) -> None:
    """Count some steps of a loop; look at the clock once every few thousand.

    Args:
        units: the number of steps.

    Raises:
        LimitExceededError: the thread's running deadline has passed.
    """
    global _units_left
    _units_left -= units
    if _units_left < 0:
        look()


def look() -> None:
    """Compare the clock with the thread's running deadline, and let other threads run.

    Raises:
        LimitExceededError: the deadline has passed.
    """
    global _units_left, _last_turn
    _units_left = UNITS_BETWEEN_LOOKS
    now = time.monotonic()
    if now - _last_turn > SECONDS_BETWEEN_TURNS:
        _last_turn = now
        if sys.platform == "win32":
            time.sleep(0)
        else:
            select.select((), (), (), 0)  # releases the interpreter lock, as `sleep` does, in 1 µs instead of 55
    deadline = _running.get(get_ident())
    if deadline is not None:
        deadline.check_chain()


class Deadline:
    """A clock that raises `LimitExceededError` when its time is over.

    As a context manager it is the running deadline of its thread, which `spend` compares with the clock. One thread at
    a time may use it.

    Args:
        seconds: the time allowed, from now on.
        limit: the field of `Limits` that the error names.
    """

    def __init__(self, seconds: float, limit: str = "compile_seconds") -> None:
        self._seconds = seconds
        self._limit = limit
        self._end = time.monotonic() + seconds
        self._thread = 0
        self._depth = 0  # how many times it was begun and not ended
        self._outer: Deadline | None = None  # the running deadline when it was begun first

    def __enter__(self) -> Deadline:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        """Make it the running deadline of the thread. Each call needs one of `end`, in the same thread."""
        if self._depth == 0:
            self._thread = get_ident()
            self._outer = _running.get(self._thread)
            _running[self._thread] = self
        self._depth += 1

    def begin_anew(self) -> None:
        """Begin it with its whole time, from the next look at the clock on; a deadline that has begun just goes on."""
        if self._depth == 0:
            self._end = NOT_STARTED
        self.begin()

    def end(self) -> None:
        """Make the deadline that ran before the running one of the thread."""
        self._depth -= 1
        if self._depth == 0:
            _running[self._thread] = self._outer  # None stays as a value: the next deadline comes soon
            self._outer = None

    def check(self) -> None:
        """Raise an error if the time is over, or that of the thread's running deadline.

        Raises:
            LimitExceededError: the time is over.
        """
        self.check_chain()
        running = _running.get(get_ident())
        if running is not None:
            running.check_chain()

    def check_chain(self) -> None:
        """Check this deadline and those outside of it.

        Raises:
            LimitExceededError: the time of one of them is over.
        """
        now = time.monotonic()
        if self._end == NOT_STARTED:
            self._end = now + self._seconds
        if now > self._end:
            raise LimitExceededError(self._limit, self._seconds)
        outer = self._outer
        if outer is not None:
            outer.check_chain()
