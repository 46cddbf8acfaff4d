"""Warm-up: the masks of likely item sets, made before a text asks for them.

The walk goes from terminal to terminal, breadth first. Each terminal is followed by a few short texts: one to each of
its first automaton states, and its shortest whole text.

    {"age": integer}       {   {"   {"a   {"age"   {"age":   {"age":0   {"age":10   {"age":0}

Sets with the same dotted rules have similar masks: the masks of both mostly need the same tables. So of those that are
alike, a few masks are made, and only the first set is followed. The walk ends with the grammar, or where its tables
have grown to a part of their limits. All masks are those that a matcher would have made.

Each step holds the lock of the tables for one mask, or for one terminal. A thread that waits for long ends the step, as
it ends other long work; see `structgen.engine.matching.table_lock`.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import Counter, deque
from contextlib import suppress
from math import inf
from typing import Literal, TypeAlias

from structgen.engine.constants import DEAD
from structgen.engine.fork_safety import call_in_forked, forkable_lock
from structgen.engine.matching.compiled import CompiledGrammar, Turn
from structgen.engine.turns import pause, rest
from structgen.errors import LimitExceededError

__all__ = ["Warm", "WarmUp", "check_warm", "make_warm", "warm_in_background", "warm_up"]

Warm: TypeAlias = bool | float | Literal["background"]
"""The argument `warm` of `structgen.compile`: whether masks are made ahead of time, for how long, or in a thread."""

DEFAULT_SECONDS = 0.1
ALIKE_MASKS = 16  # masks that are made for sets with the same dotted rules
MAX_STATES = 16  # automaton states of a terminal that a text leads to
MAX_TEXT_BYTES = 200  # of the shortest text of a terminal
MAX_ITEMS = 100  # of one set, that are followed
MAX_SETS = 20_000  # that the walk reaches
PART_OF_SETS = 4  # the walk makes at most this part of the item sets that the limits allow

WORK_SECONDS = 0.0005  # in the background, between two sleeps
SLEEP_SECONDS = 0.001
BACKGROUND_SECONDS = 1.0  # of work for one grammar
MAX_WAITING = 64  # grammars that wait for the thread; the oldest are dropped

_MASK = -1  # in place of the number of an item
# The bytes that stand for all that lead to the same state: the first of these sets that has one.
_PREFERRED = [
    sum(1 << byte for byte in some) for some in (b"aeist0", range(0x21, 0x7F), range(0x20, 0x7F), range(0x80))
]


class WarmUp:
    """The walk over the item sets of one grammar, in one epoch.

    Args:
        compiled: the grammar.

    Attributes:
        epoch: that of the item sets.
    """

    def __init__(self, compiled: CompiledGrammar) -> None:
        self.epoch = compiled.epoch
        self._compiled = weakref.ref(compiled)  # which holds this object
        start = compiled.sets.start_set
        self._left = deque([(start, _MASK)])  # the steps: a set with _MASK, or with an item that is followed
        self._reached = {start}
        self._most = min(MAX_SETS, compiled.limits.item_sets // PART_OF_SETS)  # sets that are reached
        self._alike: Counter[tuple[int, ...]] = Counter()  # sets by their dotted rules
        self._texts: dict[int, list[bytes]] = {}  # by automaton state

    def step(self) -> bool:
        """Make one mask, or follow one item. Return whether there is more to do."""
        compiled = self._compiled()
        if compiled is None or not self._left:
            return False
        with Turn(compiled):
            if compiled.epoch != self.epoch or compiled.shared.is_worn or len(self._reached) > self._most:
                self._left.clear()
                return False
            if not self._left:
                return False  # another thread has done the last step
            set_id, item = self._left.popleft()
            try:
                compiled.let_move()  # the step just ends
                if item == _MASK:
                    self._visit(compiled, set_id)
                else:
                    self._follow(compiled, set_id, item)
            except LimitExceededError as error:
                if error.limit == "memory_bytes":
                    compiled.drop_tables()
            return bool(self._left)

    def _visit(self, compiled: CompiledGrammar, set_id: int) -> None:
        """Make the mask of a set, and note its items, unless there were sets like it."""
        sets = compiled.sets
        sets.close(set_id)
        items = range(sets.table.first_scan[set_id], sets.table.last_scan[set_id])
        rules = tuple(sorted({sets.scans.position[item] for item in items}))
        alike = self._alike[rules]
        self._alike[rules] += 1
        if not alike:
            self._left.extend((set_id, item) for item in items[:MAX_ITEMS])
        if alike < ALIKE_MASKS:
            compiled.masks.get(set_id)

    def _follow(self, compiled: CompiledGrammar, set_id: int, item: int) -> None:
        """Note the sets that the texts of an item's terminal lead to."""
        sets = compiled.sets
        state = sets.scans.state[item]
        if state not in self._texts:
            self._texts[state] = _texts_from(compiled, state)
        for text in self._texts[state]:
            reached = sets.goto_all(set_id, text)
            if reached > 0 and compiled.counts_tokens:
                reached = sets.after_token(reached)
            if reached > 0 and reached not in self._reached:
                self._reached.add(reached)
                self._left.append((reached, _MASK))


def _texts_from(compiled: CompiledGrammar, state: int) -> list[bytes]:
    """Return a few short texts of a terminal, from an automaton state on: beginnings, and the shortest whole text."""
    automata = compiled.shared.automata
    reached, found = {state}, [(state, b"")]
    for origin, text in found:
        for target, some in automata.successors(origin).items():
            byte = _byte_of(some)
            if target != DEAD and target not in reached and byte is not None and len(found) <= MAX_STATES:
                reached.add(target)
                found.append((target, text + bytes([byte])))
    texts = dict.fromkeys(text for _, text in found[1:])
    shortest = automata.shortest_text(state, MAX_TEXT_BYTES)
    if shortest:
        texts |= dict.fromkeys([shortest[:-1], shortest])
    return [text for text in texts if text]


def _byte_of(some: int) -> int | None:
    """Return an ASCII byte of a set of bytes, which is given as bits; None if it has none."""
    for preferred in _PREFERRED:
        both = some & preferred
        if both:
            return (both & -both).bit_length() - 1
    return None


def _walk_of(compiled: CompiledGrammar) -> WarmUp:
    """Return the walk of a grammar in this epoch; it goes on where it was left."""
    with Turn(compiled):
        walk = compiled.warming
        if not isinstance(walk, WarmUp) or walk.epoch != compiled.epoch:
            walk = compiled.warming = WarmUp(compiled)
        return walk


def warm_up(compiled: CompiledGrammar, seconds: float) -> bool:
    """Make masks ahead of time.

    Args:
        compiled: the grammar.
        seconds: how long it may take; one mask may take longer.

    Returns:
        Whether the walk has ended.
    """
    walk = _walk_of(compiled)
    end = time.monotonic() + seconds
    while walk.step():
        if time.monotonic() >= end:
            return False
    return True


def check_warm(warm: Warm) -> None:
    """Check the value of the option `warm`.

    Raises:
        TypeError: it is no number, and not "background".
        ValueError: it is another text, or a number of seconds that is negative or infinite.
    """
    if isinstance(warm, str):
        if warm != "background":
            raise ValueError(f'warm must be True, False, a number of seconds or "background", not {warm!r}')
    elif not isinstance(warm, (int, float)):
        raise TypeError(f'warm must be True, False, a number of seconds or "background", not {type(warm).__name__}')
    elif not 0 <= warm < inf:
        raise ValueError(f"warm is a number of seconds from 0 up, not {warm}")


def make_warm(compiled: CompiledGrammar, warm: Warm) -> None:
    """Make masks ahead of time, as the option `warm` of `structgen.compile` says."""
    if warm == "background":
        warm_in_background(compiled)
    elif warm:
        warm_up(compiled, DEFAULT_SECONDS if warm is True else float(warm))


# -- in the background -------------------------------------------------------------------------------------------------

_lock = forkable_lock()
_waiting: deque[weakref.ref[CompiledGrammar]] = deque(maxlen=MAX_WAITING)
_thread: threading.Thread | None = None


def warm_in_background(compiled: CompiledGrammar) -> None:
    """Make masks ahead of time in a thread that all grammars share. It sleeps most of the time."""
    global _thread
    with _lock:
        _waiting.append(weakref.ref(compiled))
        if _thread is None:
            thread = threading.Thread(target=_work, name="structgen-warm", daemon=True)
            with suppress(RuntimeError):  # the system has no more threads: the next call tries again
                thread.start()
                _thread = thread


def _work() -> None:
    """Warm one grammar after the other, until none waits."""
    global _thread
    while True:
        with _lock:
            if not _waiting:
                _thread = None
                return
            compiled = _waiting.popleft()()
        if compiled is not None:
            _warm_gently(compiled)


def _warm_gently(compiled: CompiledGrammar) -> None:
    """Make masks for half a millisecond at a time. While a model runs, sleep as other long work does."""
    worked = 0.0
    try:
        walk = _walk_of(compiled)
        while worked < BACKGROUND_SECONDS:
            began = time.monotonic()
            while walk.step():
                if time.monotonic() - began >= WORK_SECONDS:
                    break
            else:
                return
            worked += time.monotonic() - began
            if pause():
                rest(worked)
            else:
                time.sleep(SLEEP_SECONDS)
    except BaseException:  # such as MemoryError: a table may be half written, and nobody waits for the error
        compiled.abandon()


def _forget() -> None:
    """Forget the thread of the process that was forked: it does not run here."""
    global _thread
    _waiting.clear()
    _thread = None


call_in_forked(_forget)
