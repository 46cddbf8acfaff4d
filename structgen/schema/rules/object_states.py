"""The states of an object under way: what was written of it, which pairs may follow, and whether it can be ended.

In the schema's order a state is the index of the next property; in any order, a bit for each property that was written.
Counts, keys that must differ, values that must be somewhere, and objects that it must differ from add to a state what
matters of them. `objects.py` makes rules of the states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from structgen.errors import LimitExceededError
from structgen.schema.algebra import ALL_STRINGS, ANY, NONE, OPEN, Case, Node, StringSet
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.json_text.values import Value, members
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.states import MANY_KEYS, ObjectState, OtherKeys, Property

__all__ = ["ObjectStates", "Pair", "Written", "index_of", "seen_of", "shortened", "whole"]

_STATES_SEARCHED = 50_000
_NONE: frozenset[Any] = frozenset()  # one for all states: there are many
_NO_CASES: tuple[Case, ...] = ()

Written = ObjectState | int
"""A state; if only its place matters, that alone. Rules are named by states, and Python's garbage collector does not go
through numbers."""


_ANY_KEY = (OtherKeys(0, ALL_STRINGS[0], ((_NONE, ANY),), MANY_KEYS),)


def shortened(state: ObjectState) -> Written:
    """Return the short form of a state: its index alone, where nothing else matters."""
    return state if state.written or state.given or state.seen or state.avoid else state.place


def whole(written: Written) -> ObjectState:
    """Return the state of a short form."""
    return ObjectState(written) if isinstance(written, int) else written


def index_of(written: Written) -> int:
    """Return the index of the next property, for states in the schema's order."""
    return written if isinstance(written, int) else written.place


def seen_of(written: Written) -> frozenset[str]:
    """Return the keys written so far that the schema does not name."""
    return _NONE if isinstance(written, int) else written.seen


class Pair(NamedTuple):
    """A pair that may come next.

    Attributes:
        key: its key; None for any key of the class that was not seen.
        node: what its value is in, but for `values`.
        state: after it.
    """

    key: str | None
    node: Node
    values: frozenset[Value]
    state: ObjectState


class ObjectStates:
    """The states of an object under way, for one set of objects: which pairs may follow, and where it can be ended.

    Args:
        lazy: makes the rules of the schema; tells which nodes have values.
        part: the set.

    Attributes:
        any_order: the properties come in any order; else in the schema's.
        low: pairs that an object of the set has at least.
        high: pairs that it has at most; None without a bound.
        names: the node of each key that the schema names.
        properties: those of them that may be written.
        classes: the keys that the schema does not name.
        asked: the parts of `ObjectSet.somewhere`, each of which some value must give.
        counts: how many pairs there are matters, beyond the required ones.
        is_plain: nothing depends on what was written, unless the object must differ from others.
        required_from: in the schema's order, how many required properties stand at an index and after it.
    """

    def __init__(self, lazy: LazyRules, part: ObjectSet) -> None:
        self._lazy = lazy
        self.any_order = lazy.options.property_order == "any"
        self.low, self.high = part.low, part.high
        self.asked = frozenset(range(len(part.somewhere))) if part.somewhere else _NONE
        needed = frozenset(part.required)
        self.names = part.properties
        if not needed <= part.properties.keys():
            self.names = part.properties | {key: part.at(key) for key in part.required if key not in part.properties}
        is_full = self.high is not None and self.high <= len(needed)
        self.properties = self._written_properties(part, needed, is_full)
        self.classes = () if is_full else self._classes(part)
        self.counts = self.low > len(needed) or self.high is not None
        self.is_plain = not (self.any_order or self.asked or self.counts)
        self._required = 0
        if self.any_order:
            self._required = sum([1 << index for index, entry in enumerate(self.properties) if entry.is_required])
        self.required_from = self._missing_by_place()
        self._alive: dict[ObjectState, bool] = {}

    def _written_properties(self, part: ObjectSet, needed: frozenset[str], is_full: bool) -> tuple[Property, ...]:
        """The properties that may be written; `is_full`: only the required ones."""
        found: list[Property] = []
        for key, node in self.names.items():
            is_required = key in needed
            if (is_required or not is_full) and node != NONE and self._lazy.holds(node):
                cases = self._held(part.cases(key)) if part.somewhere else _NO_CASES
                found.append(Property(key, node, cases, is_required))
        return tuple(found)

    def _missing_by_place(self) -> tuple[int, ...]:
        """In the schema's order: how many required properties stand at a place and after it."""
        left = 0
        for entry in self.properties:
            left += entry.is_required
        missing = [left]
        for entry in self.properties:
            left -= entry.is_required
            missing.append(left)
        return tuple(missing)

    def _held(self, cases: list[Case]) -> tuple[Case, ...]:
        return tuple([case for case in cases if self._lazy.holds(case[1])])

    def _classes(self, part: ObjectSet) -> tuple[OtherKeys, ...]:
        if part.classes is OPEN and not part.somewhere:
            self._lazy.holds(ANY)
            return _ANY_KEY
        found: list[OtherKeys] = []
        for keys, cases in part.key_cases():
            held = self._held(cases)
            size = self._unnamed_count(keys) if held else 0
            if size:
                found.append(OtherKeys(len(found), keys, held, size))
        return tuple(found)

    def _unnamed_count(self, keys: StringSet) -> int:
        """How many of some keys have no property."""
        many = MANY_KEYS + len(self.names)
        if keys.count(many) == many:
            return MANY_KEYS
        unnamed = keys.intersect(StringSet(excluded=tuple(self.names)))
        return unnamed.count(MANY_KEYS) if unnamed is not None else 0

    # --- what was written --------------------------------------------------------------------------------------------

    def is_free(self, written: Written) -> bool:
        """Whether nothing depends on what was written, but that keys must differ."""
        return self.is_plain and (isinstance(written, int) or not written.avoid)

    def has_keys(self, seen: frozenset[str]) -> bool:
        """Whether there are keys without a property that were not seen."""
        for found in self.classes:  # noqa: SIM110  (no generator where it is compiled)
            if found.is_endless or found.left(seen) > 0:
                return True
        return False

    def is_forced(self, written: Written) -> bool:
        """Whether nothing but the next property can follow, and its value decides nothing."""
        if self.any_order:
            return False
        place = index_of(written)
        if place >= len(self.properties) or not self.properties[place].is_required:
            return False
        if isinstance(written, int):
            return not self.asked
        return not written.avoid and written.given == self.asked

    def _missing(self, state: ObjectState) -> int:
        """How many required properties are still to be written."""
        if self.any_order:
            return (self._required & ~state.place).bit_count()
        return self.required_from[state.place]

    def is_closable(self, state: ObjectState) -> bool:
        """Return whether the object may be closed in a state."""
        if self._missing(state) or (state.written < self.low and self.counts) or state.given != self.asked:
            return False
        return not state.avoid or all(len(other[1]) != state.written for other in state.avoid)

    def lives(self, state: ObjectState, writes: bool = False) -> bool:
        """Whether an object can still be written; with `writes`, one that has another pair."""
        if not state.avoid and state.given == self.asked:
            return self._fits(state, writes)
        if not writes and self.is_closable(state):
            return True
        return any(self._can_end(pair.state) for pair in self._pairs(state))

    def _fits(self, state: ObjectState, writes: bool) -> bool:
        """Where nothing but counts and required properties matters."""
        need = self._missing(state) or int(writes)
        if self.counts:
            need = max(need, self.low - state.written)
        if self.high is not None and state.written + need > self.high:
            return False
        if not need:
            return True
        if self.any_order:
            left = len(self.properties) - state.place.bit_count()
        else:
            left = len(self.properties) - state.place
        if need <= left:
            return True
        return need <= left + sum(found.size if found.is_endless else found.left(state.seen) for found in self.classes)

    def _can_end(self, state: ObjectState) -> bool:
        """Whether an object can be ended from a state: a search, remembered."""
        found = self._alive.get(state)
        if found is not None:
            return found
        came_from: dict[ObjectState, ObjectState | None] = {state: None}
        waiting = [state]
        end: ObjectState | None = None
        while waiting and end is None:
            here = waiting.pop()
            simple = not here.avoid and here.given == self.asked
            if self._alive.get(here) or self.is_closable(here) or (simple and self._fits(here, False)):
                end = here
            elif here not in self._alive and not simple:
                for pair in self._pairs(here):
                    if pair.state not in came_from:
                        came_from[pair.state] = here
                        waiting.append(pair.state)
            if len(came_from) > _STATES_SEARCHED:
                raise LimitExceededError("schema_nodes", self._lazy.space.limits.schema_nodes)
        if end is None:
            self._alive.update(dict.fromkeys(came_from, False))
            return False
        step: ObjectState | None = end
        while step is not None:
            self._alive[step] = True
            step = came_from[step]
        return True

    def _pairs(self, state: ObjectState) -> Iterator[Pair]:
        """All pairs that may come next, whether or not the object can be ended after them."""
        if self.high is not None and state.written >= self.high:
            return
        here = state
        for index in range(len(self.properties)):
            if self.any_order:
                if not state.place >> index & 1:
                    yield from self.named(index, state)
            elif index >= state.place:
                yield from self.named(index, here)
                if self.properties[index].is_required:
                    return
                here = self.skipped(here)
        for found in self.classes:
            if found.left(here.seen) > 0:
                yield from self.unnamed(found, here, None)
            for key in self.open_keys(found, here):
                yield from self.unnamed(found, here, key)

    def skipped(self, state: ObjectState) -> ObjectState:
        """The state after passing by a property."""
        key = self.properties[state.place].key
        avoid = frozenset(other for other in state.avoid if key not in members(other)) if state.avoid else state.avoid
        return ObjectState(state.place + 1, state.written, state.given, state.seen, avoid)

    def named(self, index: int, state: ObjectState) -> Iterator[Pair]:
        """Yield the pairs of a property that may come next."""
        entry = self.properties[index]
        place = state.place | 1 << index if self.any_order else index + 1
        after = ObjectState(place, state.written, state.given, state.seen, state.avoid)
        yield from self.valued(entry.key, entry.node, entry.cases, after)

    def unnamed(self, found: OtherKeys, state: ObjectState, key: str | None) -> Iterator[Pair]:
        """Yield the pairs of one key of a class; None stands for any key of it that was not written yet."""
        node = found.cases[0][1] if len(found.cases) == 1 else None
        if key is None:
            seen = state.seen if found.is_endless else state.seen | {f"{found.mark}{len(state.seen)}"}
            after = ObjectState(state.place, state.written, state.given, seen)
        else:
            after = ObjectState(state.place, state.written, state.given, state.seen | {key}, state.avoid)
        yield from self.valued(key, node, found.cases, after)

    def valued(self, key: str | None, node: Node | None, cases: Sequence[Case], state: ObjectState) -> Iterator[Pair]:
        """A key's pairs, by what their values give and which objects to avoid go on so; `state` is after the key."""
        if node is not None and (not self.asked or state.given == self.asked):
            cases = ((_NONE, node),)
        for given, mine in cases:
            all_given = state.given | given if given else state.given
            after = ObjectState(state.place, state.written + 1, all_given, state.seen, state.avoid)
            if not state.avoid:
                if self._lazy.holds(mine):
                    yield Pair(key, mine, _NONE, self.normal(after))
                continue
            same: dict[Value, list[Value]] = {}
            for other in state.avoid:
                value = members(other).get(key) if key is not None else None
                if value is not None:
                    same.setdefault(value, []).append(other)
            for value, others in same.items():
                const = self._lazy.among((value,), mine)
                if self._lazy.holds(const):
                    yield Pair(key, const, _NONE, self.normal(replace(after, avoid=frozenset(others))))
            values = frozenset(same)
            if self._lazy.holds_without(mine, values):
                yield Pair(key, mine, values, self.normal(replace(after, avoid=_NONE)))

    def normal(self, state: ObjectState) -> ObjectState:
        """Equal for states after which the same follows."""
        if state.avoid or self.high is not None:
            return state
        written = min(state.written, self.low) if self.counts else 0
        return state if written == state.written else ObjectState(state.place, written, state.given, state.seen)

    def open_keys(self, found: OtherKeys, state: ObjectState) -> list[str]:
        """Keys of a class that objects to avoid have, and were not written yet."""
        if not state.avoid:
            return []
        keys = {key for other in state.avoid for key in members(other)} - state.seen - self.names.keys()
        return sorted(key for key in keys if found.keys.contains(key))

    def goes_on(self, pair: Pair) -> bool:
        """Return whether the object can be ended after a pair."""
        return (self.high is None or pair.state.written <= self.high) and self.lives(pair.state)

    def any_goes_on(self, pairs: Iterable[Pair]) -> bool:
        """Return whether the object can be ended after one of some pairs."""
        for pair in pairs:  # noqa: SIM110  (no generator where it is compiled)
            if self.goes_on(pair):
                return True
        return False
