"""Deadlines and memory budgets of compiles, masks and accepted tokens, and the count of the work that they bound.

A call that may take long runs under a `Deadline`. It is the *running* deadline of its thread: loops do not receive it
as an argument. Each loop that can grow calls `spend` with the number of its steps. Once every few thousand steps,
`spend` compares the clock with the thread's running deadline:

    with Deadline(2.0):          is the running deadline of this thread
        ...
        spend(1)                 one more automaton state: counts down
        spend(len(parts))        past UNITS_BETWEEN_LOOKS: looks at the clock; raises if the time is over

Deadlines nest: the outer ones are checked as well, so an inner one cannot extend them.

A compiled loop keeps Python's interpreter lock, so other threads would wait until it ends. Each look at the clock lets
them run (`structgen.engine.turns`). While passes of a model run, work that has taken long sleeps at some of the looks;
that time does not count. From the first look on until its outermost deadline ends, a call lets no full garbage
collection begin; a mask or an accepted token lets none at all begin in its first 5 ms
(`structgen.engine.garbage_collection`).

A unit is one step of a loop, of about a microsecond. `spend` raises where a bound on sizes may raise as well: between
two steps, when every table holds whole entries only.

Memory
------

A step of a loop makes at most UNIT_BYTES of objects that last; large arrays are counted by `count_bytes`. So the count
of a deadline is an upper bound on the memory that its call has taken. Many calls free most of what they make. So past
the budget the resident memory of the process decides: the error is raised if that has grown by more than the budget
since an eighth of it was counted. Both are needed. The count alone would refuse a long call that needs little; the
process alone may grow because of other threads.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from structgen.engine.fork_safety import call_in_forked
from structgen.engine.garbage_collection import (
    allow_full_collections,
    hold_collections,
    postpone_full_collections,
    release_collections,
)
from structgen.engine.memory import release_later, resident_bytes
from structgen.engine.threads import this_thread
from structgen.engine.turns import end_rests, pause, rest
from structgen.errors import LimitExceededError

__all__ = ["Deadline", "count_bytes", "empty", "look", "spend"]

IS_COMPILED = not __file__.endswith(".py")
UNITS_BETWEEN_LOOKS = 2_000
VALUES_AT_ONCE = 20_000  # that are forgotten between two looks at the clock
NOT_STARTED = 0.0  # in place of the end of a deadline that starts at the first look at the clock
OVER = -1.0  # in place of an end that has passed
UNBOUNDED_SECONDS = 1e9  # of work that another thread may end with `Deadline.expire`
LONG_WORK_SECONDS = 0.01  # after so long, work rests while passes of a model run
HELD_SECONDS = 0.005  # of a mask or an accepted token, in which no garbage collection begins
SECONDS_BETWEEN_TURNS = 0.001  # that long work works between two rests, at least
SECONDS_BETWEEN_READINGS = 0.01  # of the resident memory: reading it releases the lock for a moment; see `pause`
UNIT_BYTES = 128  # memory that one step takes at most; tests/compilation/test_memory.py measures it
BYTES_BETWEEN_READINGS = 1 << 20  # of the resident memory: reading it takes some microseconds
SPARE = 5  # entries of `_begun` that no thread owns: a list that was emptied gets its memory anew each time
SMALL_PART = 8  # calls that stay below this part of their budget never read the resident memory
UNKNOWN = -1

_begun: list[Deadline] = []  # SPARE entries, and the deadlines that run; of each thread, the innermost comes last
_units_left = UNITS_BETWEEN_LOOKS  # of all threads together: it only decides when the clock is looked at
_is_postponed = False  # whether a call lets no full garbage collection begin
_last_turn = 0.0  # when long work rested last, in any thread
_last_reading = 0.0  # when the resident memory was read last
_last_resident = UNKNOWN  # what was read then
_new_bytes = 0  # counted since they were last added to the count of a deadline


def spend(units: int) -> None:
    """Count some steps of a loop; look at the clock once every few thousand.

    Args:
        units: the number of steps.

    Raises:
        LimitExceededError: the thread's running deadline has passed, or its memory budget.
    """
    global _units_left
    _units_left -= units
    if _units_left < 0:
        look()


def empty(values: list[Any]) -> None:
    """Empty a list in parts. Forgetting a million objects in one go takes long, and looks at no clock.

    Args:
        values: the list.

    Raises:
        LimitExceededError: as for `spend`.
    """
    while values:
        spend(UNITS_BETWEEN_LOOKS)
        del values[max(0, len(values) - VALUES_AT_ONCE) :]


def count_bytes(size: int) -> None:
    """Count memory for one large object. It raises nothing: the next `spend` does, between two steps.

    Args:
        size: in bytes.
    """
    global _units_left, _new_bytes
    _new_bytes += size
    if _new_bytes > BYTES_BETWEEN_READINGS:
        _units_left = 0


def look() -> None:
    """Compare the clock and the memory with the thread's running deadline, and let other threads run.

    Raises:
        LimitExceededError: the deadline has passed, or its memory budget.
    """
    global _units_left, _new_bytes, _is_postponed
    _new_bytes += (UNITS_BETWEEN_LOOKS - _units_left) * UNIT_BYTES
    _units_left = UNITS_BETWEEN_LOOKS
    has_passes = pause()
    deadline = _running(this_thread())
    size = _new_bytes
    if size > BYTES_BETWEEN_READINGS:
        _new_bytes = 0
    if deadline is not None:
        if not _is_postponed:
            _is_postponed = True
            postpone_full_collections()
        if time.monotonic() > deadline._began() + HELD_SECONDS:
            release_collections()
        if has_passes:
            deadline.rest()
        deadline.check_chain()
        if size > BYTES_BETWEEN_READINGS:
            deadline.count(size)


def _running(thread: int) -> Deadline | None:
    """Return the innermost deadline of a thread.

    Deadlines of other threads may end meanwhile, which moves those after them. So the search goes from the last one on.
    """
    for deadline in reversed(_begun):
        if deadline._thread == thread:
            return deadline
    return None


def _recent_resident_bytes(default: int) -> int:
    """Return the resident memory of the process, as it was at most SECONDS_BETWEEN_READINGS ago.

    Args:
        default: returned where the system does not tell it.
    """
    global _last_reading, _last_resident
    now = time.monotonic()
    if now > _last_reading + SECONDS_BETWEEN_READINGS:
        _last_reading = now
        _last_resident = resident_bytes(UNKNOWN)
    return default if _last_resident == UNKNOWN else _last_resident


class Deadline:
    """A clock that raises `LimitExceededError` when its time is over.

    As a context manager it is the running deadline of its thread, which `spend` compares with the clock. One thread at
    a time may use it.

    Attributes:
        counted_bytes: an upper bound on the memory that the call has taken so far.

    Args:
        seconds: the time allowed, from now on.
        limit: the field of `Limits` that the error names.
        memory_bytes: the memory budget, `Limits.memory_bytes`; 0 for none.
    """

    def __init__(self, seconds: float, limit: str = "compile_seconds", memory_bytes: int = 0) -> None:
        self._memory_bytes = memory_bytes
        self.counted_bytes = 0
        self._resident_before = UNKNOWN
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
            self._thread = this_thread()
            self._outer = _running(self._thread) if len(_begun) > SPARE else None
            _begun.append(self)
        self._depth += 1

    def begin_anew(self) -> None:
        """Begin it with its whole time, from the next look at the clock on; a deadline that has begun just goes on.

        For a time, HELD_SECONDS or more, no garbage collection begins.
        """
        if self._depth == 0:
            self._end = NOT_STARTED
            self.counted_bytes = 0
            self._resident_before = UNKNOWN
        self.begin()
        if self._depth == 1 and self._outer is None:
            hold_collections()

    def end(self) -> None:
        """Make the deadline that ran before the running one of the thread."""
        global _is_postponed
        self._depth -= 1
        if self._depth == 0:
            if IS_COMPILED and _begun[len(_begun) - 1] is self:  # no other thread runs between these two lines
                _begun.pop()
            else:
                _begun.remove(self)
            if self._outer is None:
                release_collections()
                if _is_postponed:
                    _is_postponed = False
                    allow_full_collections()
            self._outer = None

    def expire(self) -> None:
        """End the time now. Another thread may call it."""
        self._end = OVER
        end_rests()  # the work may rest: it ends now, not when it would have gone on

    def restart(self) -> None:
        """Give the work its whole time again, from the next look at the clock on."""
        self._end = NOT_STARTED

    def check(self) -> None:
        """Raise an error if the time is over, or that of the thread's running deadline.

        Raises:
            LimitExceededError: the time is over.
        """
        self.check_chain()
        running = _running(this_thread())
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
            if self._seconds < UNBOUNDED_SECONDS:
                release_later()
            raise LimitExceededError(self._limit, self._seconds)
        outer = self._outer
        if outer is not None:
            outer.check_chain()

    def rest(self) -> None:
        """Sleep for a moment, if the work has taken long. The time does not count."""
        global _last_turn
        now = time.monotonic()
        worked = now - self._began()
        if worked < LONG_WORK_SECONDS or now - _last_turn < SECONDS_BETWEEN_TURNS:
            return
        seconds = rest(worked)
        deadline: Deadline | None = self
        while deadline is not None:
            if deadline._end > NOT_STARTED:
                deadline._end += seconds
            deadline = deadline._outer
        _last_turn = time.monotonic()

    def _began(self) -> float:
        """Return when the work of the outermost deadline began; times of rest do not count."""
        outermost = self
        while outermost._outer is not None:
            outermost = outermost._outer
        return outermost._end - outermost._seconds if outermost._end > NOT_STARTED else time.monotonic()

    def count(self, size: int) -> None:
        """Count memory against this budget and those outside of it.

        Args:
            size: in bytes; an upper bound.

        Raises:
            LimitExceededError: one of the budgets is spent: that count and the process's growth have passed it.
        """
        self.counted_bytes += size
        if self._memory_bytes and self.counted_bytes > self._memory_bytes // SMALL_PART:
            if self._resident_before == UNKNOWN:
                self._resident_before = resident_bytes(self.counted_bytes)
            elif (
                self.counted_bytes > self._memory_bytes
                and _recent_resident_bytes(self.counted_bytes) - self._resident_before > self._memory_bytes
            ):
                self.counted_bytes = 0  # the tables are begun anew after the error, which needs memory too
                raise LimitExceededError("memory_bytes", self._memory_bytes)
        outer = self._outer
        if outer is not None:
            outer.count(size)


def _forget_others() -> None:
    """Forget the deadlines of other threads, in a forked process: they do not run there, and never end.

    A grammar's deadline is used again there. So it must be one that has not begun.
    """
    release_collections()
    thread = this_thread()
    for deadline in _begun[SPARE:]:
        if deadline._thread != thread:
            _begun.remove(deadline)
            deadline._depth = 0
            deadline._outer = None


_begun.extend([Deadline(0.0)] * SPARE)
call_in_forked(_forget_others)
