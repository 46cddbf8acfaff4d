"""The rules of one set of objects: places, named by what was written before.

In the schema's order and without counts that is a chain of two rules for each property, so that a grammar's size is
linear in the schema's: after a pair, "then" closes the object or writes a comma and goes on to "pair", which writes
property i or passes to the pair after it. Required properties stand in sequence, so that their keys and the punctuation
around them are forced text. Keys that the schema does not name come last.

Properties in any order, counts, keys that must differ, and values that must be somewhere only have more to say about
what was written; what is never written costs nothing.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from structgen.engine.grammar.tables import Capture, Lazy, Spelling, Symbol
from structgen.engine.regex.tree import Regex
from structgen.errors import LimitExceededError
from structgen.schema.algebra import ALL_STRINGS, ANY, NONE, OPEN, Case, Inexpressible, Node, StringSet
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.json_text.strings import rest_of_spelling, spelling
from structgen.schema.json_text.terminals import key_regex
from structgen.schema.json_text.values import Value, members
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.states import MANY_KEYS, ObjectState, OtherKeys, Property

__all__ = ["ObjectPlaces"]

_LONGEST_BODY = 128
_STATES_SEARCHED = 50_000
_NONE: frozenset[Any] = frozenset()  # one for all states: there are many
_BEGINNINGS_KEPT = 10_000
_NO_CASES: tuple[Case, ...] = ()
_NOTHING_REFUSED: tuple[Spelling, ...] = ()


_Written = ObjectState | int
"""A state; if only its place matters, that alone. Rules are named by states, and Python's garbage collector does not go
through numbers."""

_KeyTaken = tuple[int, _Written, tuple[str, ...]]
"""After a key of a class: its number, the state before it, and the keys that are taken beside those it has seen."""


def _short(state: ObjectState) -> _Written:
    return state if state.written or state.given or state.seen or state.avoid else state.place


def _whole(written: _Written) -> ObjectState:
    return ObjectState(written) if isinstance(written, int) else written


def _place_of(written: _Written) -> int:
    return written if isinstance(written, int) else written.place


def _seen_of(written: _Written) -> frozenset[str]:
    return _NONE if isinstance(written, int) else written.seen


_ANY_KEY = (OtherKeys(0, ALL_STRINGS[0], ((_NONE, ANY),), MANY_KEYS),)


def _taken(then: _KeyTaken) -> frozenset[str]:
    """The keys that must not come again."""
    seen = _seen_of(then[1])
    return seen.union(then[2]) if then[2] else seen


class _Pair(NamedTuple):
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


class ObjectPlaces:
    """The rules of a set of objects by `ObjectState`. Kinds of places: "first", before the object; "pair", where a pair
    must follow; "then", after a pair; the number of a class, after one of its keys.

    Attributes:
        part: the set.
        classes: the keys that the schema does not name.
    """

    def __init__(self, lazy: LazyRules, part: ObjectSet, number: int) -> None:
        self._lazy = lazy
        self.part = part
        self._number = number
        self._layout = lazy.layout
        self.any_order = lazy.options.property_order == "any"
        self.low, self.high = part.low, part.high
        self._asked = frozenset(range(len(part.somewhere))) if part.somewhere else _NONE
        needed = frozenset(part.required)
        self._names = part.properties
        if not needed <= part.properties.keys():
            self._names = part.properties | {key: part.at(key) for key in part.required if key not in part.properties}
        is_full = self.high is not None and self.high <= len(needed)
        self.properties = self._written_properties(part, needed, is_full)
        self._sorted_names: tuple[tuple[str, ...], ...] | None = None
        self._names_begun: dict[tuple[int, bytes], tuple[Spelling, ...]] = {}
        self.classes = () if is_full else self._classes(part)
        self._keys: dict[int, Regex] = {}
        self._first_keys = tuple([key_regex(found.keys, []) for found in self.classes])
        self.counts = self.low > len(needed) or self.high is not None
        self._is_plain = not (self.any_order or self._asked or self.counts)
        self._required = 0
        if self.any_order:
            self._required = sum([1 << index for index, entry in enumerate(self.properties) if entry.is_required])
        self._required_from = self._missing_by_place()
        self._alive: dict[ObjectState, bool] = {}

    def _written_properties(self, part: ObjectSet, needed: frozenset[str], is_full: bool) -> tuple[Property, ...]:
        """The properties that may be written; `is_full`: only the required ones."""
        found: list[Property] = []
        for key, node in self._names.items():
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
        many = MANY_KEYS + len(self._names)
        if keys.count(many) == many:
            return MANY_KEYS
        unnamed = keys.intersect(StringSet(excluded=tuple(self._names)))
        return unnamed.count(MANY_KEYS) if unnamed is not None else 0

    def start(self, avoid: frozenset[Value] = _NONE) -> _Written:
        """See `Places`."""
        return ObjectState(0, avoid=avoid) if avoid else 0

    # --- what may follow ---------------------------------------------------------------------------------------------

    def _missing(self, state: ObjectState) -> int:
        """How many required properties are still to be written."""
        if self.any_order:
            return (self._required & ~state.place).bit_count()
        return self._required_from[state.place]

    def _is_closable(self, state: ObjectState) -> bool:
        if self._missing(state) or (state.written < self.low and self.counts) or state.given != self._asked:
            return False
        return not state.avoid or all(len(other[1]) != state.written for other in state.avoid)

    def is_alive(self, written: _Written) -> bool:
        """See `Places`."""
        return self._lives(_whole(written))

    def _lives(self, state: ObjectState, writes: bool = False) -> bool:
        """Whether an object can still be written; with `writes`, one that has another pair."""
        if not state.avoid and state.given == self._asked:
            return self._fits(state, writes)
        if not writes and self._is_closable(state):
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
            simple = not here.avoid and here.given == self._asked
            if self._alive.get(here) or self._is_closable(here) or (simple and self._fits(here, False)):
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

    def _pairs(self, state: ObjectState) -> Iterator[_Pair]:
        """All pairs that may come next, whether or not the object can be ended after them."""
        if self.high is not None and state.written >= self.high:
            return
        here = state
        for index in range(len(self.properties)):
            if self.any_order:
                if not state.place >> index & 1:
                    yield from self._named(index, state)
            elif index >= state.place:
                yield from self._named(index, here)
                if self.properties[index].is_required:
                    return
                here = self._skipped(here)
        for found in self.classes:
            if found.left(here.seen) > 0:
                yield from self._unnamed(found, here, None)
            for key in self._open_keys(found, here):
                yield from self._unnamed(found, here, key)

    def _skipped(self, state: ObjectState) -> ObjectState:
        """The state after passing by a property."""
        key = self.properties[state.place].key
        avoid = frozenset(other for other in state.avoid if key not in members(other)) if state.avoid else state.avoid
        return ObjectState(state.place + 1, state.written, state.given, state.seen, avoid)

    def _named(self, index: int, state: ObjectState) -> Iterator[_Pair]:
        entry = self.properties[index]
        place = state.place | 1 << index if self.any_order else index + 1
        after = ObjectState(place, state.written, state.given, state.seen, state.avoid)
        yield from self._valued(entry.key, entry.node, entry.cases, after)

    def _unnamed(self, found: OtherKeys, state: ObjectState, key: str | None) -> Iterator[_Pair]:
        node = found.cases[0][1] if len(found.cases) == 1 else None
        if key is None:
            seen = state.seen if found.is_endless else state.seen | {f"{found.mark}{len(state.seen)}"}
            after = ObjectState(state.place, state.written, state.given, seen)
        else:
            after = ObjectState(state.place, state.written, state.given, state.seen | {key}, state.avoid)
        yield from self._valued(key, node, found.cases, after)

    def _valued(self, key: str | None, node: Node | None, cases: Sequence[Case], state: ObjectState) -> Iterator[_Pair]:
        """A key's pairs, by what their values give and which objects to avoid go on so; `state` is after the key."""
        if node is not None and (not self._asked or state.given == self._asked):
            cases = ((_NONE, node),)
        for given, mine in cases:
            all_given = state.given | given if given else state.given
            after = ObjectState(state.place, state.written + 1, all_given, state.seen, state.avoid)
            if not state.avoid:
                if self._lazy.holds(mine):
                    yield _Pair(key, mine, _NONE, self._normal(after))
                continue
            same: dict[Value, list[Value]] = {}
            for other in state.avoid:
                value = members(other).get(key) if key is not None else None
                if value is not None:
                    same.setdefault(value, []).append(other)
            for value, others in same.items():
                const = self._lazy.among((value,), mine)
                if self._lazy.holds(const):
                    yield _Pair(key, const, _NONE, self._normal(replace(after, avoid=frozenset(others))))
            values = frozenset(same)
            if self._lazy.holds_without(mine, values):
                yield _Pair(key, mine, values, self._normal(replace(after, avoid=_NONE)))

    def _normal(self, state: ObjectState) -> ObjectState:
        """Equal for states after which the same follows."""
        if state.avoid or self.high is not None:
            return state
        written = min(state.written, self.low) if self.counts else 0
        return state if written == state.written else ObjectState(state.place, written, state.given, state.seen)

    def _open_keys(self, found: OtherKeys, state: ObjectState) -> list[str]:
        """Keys of a class that objects to avoid have, and were not written yet."""
        if not state.avoid:
            return []
        keys = {key for other in state.avoid for key in members(other)} - state.seen - self._names.keys()
        return sorted(key for key in keys if found.keys.contains(key))

    # --- rules -------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str | int, written: _Written) -> Sequence[Sequence[Symbol]]:
        """See `Places`."""
        if kind == "pair":
            return self._pair_bodies(written)
        if isinstance(kind, int):
            return self._value_bodies(kind, written)
        if self._is_free(written):
            place = _place_of(written)
            is_closable = self._required_from[place] == 0
            goes_on = place < len(self.properties) or self._has_keys(_seen_of(written))
        else:
            state = _whole(written)
            is_closable, goes_on = self._is_closable(state), self._lives(state, True)
        layout = self._layout
        is_first = kind == "first"
        found: list[Sequence[Symbol]] = []
        if is_closable:
            found.append((layout.open_object, layout.end_object) if is_first else (layout.close_object,))
        if not goes_on:
            return found
        if self._is_forced(written):
            found.append(self._forced("{" if is_first else ",", written))
        else:
            found.append((layout.open_object if is_first else layout.comma, self._lazy_place("pair", written)))
        return found

    def _is_free(self, written: _Written) -> bool:
        """Whether nothing depends on what was written, but that keys must differ."""
        return self._is_plain and (isinstance(written, int) or not written.avoid)

    def _has_keys(self, seen: frozenset[str]) -> bool:
        """Whether there are keys without a property that were not seen."""
        for found in self.classes:  # noqa: SIM110  (no generator where it is compiled)
            if found.is_endless or found.left(seen) > 0:
                return True
        return False

    def _is_forced(self, written: _Written) -> bool:
        """Whether nothing but the next property can follow, and its value decides nothing."""
        if self.any_order:
            return False
        place = _place_of(written)
        if place >= len(self.properties) or not self.properties[place].is_required:
            return False
        if isinstance(written, int):
            return not self._asked
        return not written.avoid and written.given == self._asked

    def _forced(self, lead: str, written: _Written) -> Sequence[Symbol]:
        """Required properties that stand side by side, in one body, and what follows them."""
        body: list[Symbol] = []
        start = place = _place_of(written)
        while place < len(self.properties) and self.properties[place].is_required and len(body) < _LONGEST_BODY:
            entry = self.properties[place]
            body.extend(self._layout.key_after(lead, entry.key))
            body.append(self._lazy.symbol(entry.node))
            place += 1
            lead = ","
        after: _Written = place
        if not self._is_free(written):
            state = _whole(written)
            after = _short(self._normal(ObjectState(place, state.written + place - start, state.given, state.seen)))
        body.append(self._lazy_place("then", after))
        return body

    def _lazy_place(self, kind: str, written: _Written) -> Lazy:
        return Lazy((self._number, kind, written))

    def _pair_bodies(self, written: _Written) -> list[Sequence[Symbol]]:
        if self._is_forced(written):
            return [self._forced("", written)]
        size = len(self.properties)
        found: list[Sequence[Symbol]] = []
        if not self.any_order and _place_of(written) < size:
            return self._plain_bodies(_place_of(written)) if self._is_free(written) else self._next_bodies(written)
        if self.any_order:
            state = _whole(written)
            for index in range(size):
                if not state.place >> index & 1:
                    found += self._named_bodies(index, state)
        for index in range(len(self.classes)):
            found += self._open_bodies(index, written)
        return found

    def _plain_bodies(self, place: int) -> list[Sequence[Symbol]]:
        """An optional property or what comes after it, where nothing depends on what was written."""
        entry = self.properties[place]
        after = place + 1
        key, value = self._layout.key(entry.key), self._lazy.symbol(entry.node)
        found: list[Sequence[Symbol]] = [(key, value, self._lazy_place("then", after))]
        if after < len(self.properties) or self.classes:
            found.append((self._lazy_place("pair", after),))
        return found

    def _next_bodies(self, written: _Written) -> list[Sequence[Symbol]]:
        """The next property, or what comes after it where it is optional."""
        state = _whole(written)
        found = self._named_bodies(state.place, state)
        if not self.properties[state.place].is_required:
            further = self._skipped(state)
            if self._lives(further, True):
                found.append((self._lazy_place("pair", _short(further)),))
        return found

    def _key(self, index: int) -> Regex:
        key = self._keys.get(index)
        if key is None:
            key = self._keys[index] = self._layout.key(self.properties[index].key)
        return key

    def _named_bodies(self, index: int, state: ObjectState) -> list[Sequence[Symbol]]:
        key = self._key(index)
        return [(key, *self._rest(pair)) for pair in self._named(index, state) if self._goes_on(pair)]

    def _goes_on(self, pair: _Pair) -> bool:
        return (self.high is None or pair.state.written <= self.high) and self._lives(pair.state)

    def _rest(self, pair: _Pair) -> tuple[Symbol, Symbol]:
        value = self._lazy.symbol_without(pair.node, pair.values)
        return value, self._lazy_place("then", _short(pair.state))

    def _open_bodies(self, index: int, written: _Written) -> list[Sequence[Symbol]]:
        """Pairs whose keys the schema does not name."""
        found = self.classes[index]
        if self._is_free(written) and self._lazy.captures:
            seen = _seen_of(written)
            return [self._captured_key(index, written, ())] if found.is_endless or found.left(seen) > 0 else []
        state = _whole(written)
        out: list[Sequence[Symbol]] = []
        expected = self._open_keys(found, state)
        for key in expected:
            regex = self._layout.key(key)
            out += [(regex, *self._rest(pair)) for pair in self._unnamed(found, state, key) if self._goes_on(pair)]
        if not found.is_endless and found.left(state.seen) <= len(expected):
            return out
        if not any(map(self._goes_on, self._unnamed(found, state, None))):
            return out
        if not self._lazy.captures:
            return [*out, *self._repeatable(index, state)]
        before = _short(ObjectState(state.place, state.written, state.given, state.seen))
        return [*out, self._captured_key(index, before, tuple(expected))]

    def _captured_key(self, index: int, before: _Written, taken: tuple[str, ...]) -> Sequence[Symbol]:
        """A key that the schema does not name, nor was seen, nor is one of some others; what follows depends on it."""
        then = (self._number, (index, before, taken))
        return (Capture(self._first_keys[index], then, self.classes[index].is_endless, refuses=True),)

    def _repeatable(self, index: int, state: ObjectState) -> list[Sequence[Symbol]]:
        """Where nothing can be captured, a key may come twice, and is then one key, with the last value."""
        if self.low - state.written > 1 and self.counts:
            raise Inexpressible("minProperties")
        if self._asked:
            raise Inexpressible("not")
        colon = self._layout.colon
        pairs = self._unnamed(self.classes[index], state, None)
        keys = key_regex(self.classes[index].keys, self._names_in(index))
        return [
            (keys, colon, *self._rest(pair._replace(state=replace(pair.state, seen=_NONE))))
            for pair in pairs
            if self._goes_on(pair)
        ]

    def after(self, then: _KeyTaken, text: bytes | None) -> tuple[int, _Written] | None:
        """See `Places`: after a key that the schema does not name."""
        index, before, taken = then
        if text is None:
            return index, before
        key = json.loads(text) if b"\\" in text else text[1 : len(text) - 1].decode()
        state = _whole(before)
        if key in state.seen or key in taken or key in self._names:
            return None
        return index, ObjectState(state.place, state.written, state.given, state.seen | {key}, state.avoid)

    def refusals(self, then: _KeyTaken, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """See `RuleSource`: keys that the schema names, and those that were written before."""
        index = then[0]
        taken = _taken(then)
        others = _rests(taken, begun) if taken else _NOTHING_REFUSED
        names = self._names_in(index)
        if not names:
            return _NOTHING_REFUSED, others
        always = self._names_begun.get((index, begun))
        if always is None:
            always = _rests(names, begun)
            if not always:
                return _NOTHING_REFUSED, others
            if len(self._names_begun) >= _BEGINNINGS_KEPT:
                return _NOTHING_REFUSED, (*always, *others)
            self._names_begun[index, begun] = always
        return always, others

    def _names_in(self, index: int) -> tuple[str, ...]:
        """The names that are keys of a class, sorted."""
        if self._sorted_names is None:
            names = sorted(self._names)
            self._sorted_names = tuple([tuple(filter(found.keys.contains, names)) for found in self.classes])
        return self._sorted_names[index]

    def remaining(self, then: _KeyTaken) -> Regex:
        """See `RuleSource`."""
        index = then[0]
        keys = self.classes[index].keys
        return key_regex(keys, [*self._names_in(index), *sorted(filter(keys.contains, _taken(then)))])

    def _value_bodies(self, index: int, written: _Written) -> list[Sequence[Symbol]]:
        """After the key, which `written` has seen: the colon, the value, and what follows."""
        colon = self._layout.colon
        cases = self.classes[index].cases
        if self._is_free(written):
            return [(colon, self._lazy.symbol(cases[0][1]), self._lazy_place("then", written))]
        pairs = self._valued(None, None, cases, _whole(written))
        return [(colon, *self._rest(pair)) for pair in pairs if self._goes_on(pair)]


def _rests(keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
    """How the spellings of those keys go on that begin so; a tuple of keys is sorted."""
    if not begun:
        return tuple([spelling(key) for key in keys])
    text = begun[1:]
    if b"\\" in text or not text.isascii():
        return tuple([rest for key in keys if (rest := rest_of_spelling(key, begun)) is not None])
    start, size = text.decode(), len(begun)
    if isinstance(keys, tuple):
        first = last = bisect_left(keys, start)
        while last < len(keys) and keys[last].startswith(start):
            last += 1
        keys = keys[first:last]
    else:
        keys = [key for key in keys if key.startswith(start)]
    return tuple([spelling(key)[size:] for key in keys])  # each character of `start` is one byte
