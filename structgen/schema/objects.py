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
from itertools import accumulate
from typing import Any, NamedTuple

from structgen.engine.grammar import Capture, Lazy, Spelling, Symbol
from structgen.engine.regex import Regex
from structgen.errors import LimitExceededError
from structgen.schema.algebra import ALL_STRINGS, NONE, Case, Inexpressible, Node, ObjectSet, StringSet
from structgen.schema.lazy import LazyRules
from structgen.schema.strings import rest_of_spelling, spelling
from structgen.schema.terminals import key_regex
from structgen.schema.values import Value, members

__all__ = ["ObjectPlaces", "State"]

_LONGEST_BODY = 128
_MANY_KEYS = 10_000
"""Keys of a class are counted up to so many; more are taken to be without end."""
_STATES_SEARCHED = 50_000
_NONE: frozenset[Any] = frozenset()  # one for all states: there are many
_BEGINNINGS_KEPT = 10_000
_FEW_KEYS = 8
_NO_CASES: tuple[Case, ...] = ()
_NOTHING_REFUSED: tuple[Spelling, ...] = ()


class State(NamedTuple):
    """What was written of an object, as far as it matters for what follows.

    Attributes:
        place: in the schema's order, the index of the next property; in any order, bit i: property i was written.
        written: how many pairs, where that matters; without an upper bound up to the lower one.
        given: which of `ObjectSet.somewhere` were given.
        seen: the keys that the schema does not name.
        avoid: objects that are left out of the set and begin as this one does.
    """

    place: int
    written: int = 0
    given: frozenset[int] = _NONE
    seen: frozenset[str] = _NONE
    avoid: frozenset[Value] = _NONE


_Written = State | int
"""A state; if only its place matters, that alone. Rules are named by states, and Python's garbage collector does not go
through numbers."""

_KeyTaken = tuple[int, _Written, frozenset[str]]
"""After a key of a class: its number, the state before it, and the keys that are taken."""


def _short(state: State) -> _Written:
    return state if state.written or state.given or state.seen or state.avoid else state.place


def _whole(state: _Written) -> State:
    return State(state) if isinstance(state, int) else state


class _Property(NamedTuple):
    """A property that may be written.

    Attributes:
        cases: of its values, by which of `ObjectSet.somewhere` they give; none where nothing is asked.
    """

    key: str
    node: Node
    cases: Sequence[Case]
    is_required: bool


class _Class(NamedTuple):
    """Keys without a property: `size` of them, up to `_MANY_KEYS`.

    Attributes:
        mark: begins what stands for any of its keys among those that a state has seen, where states are searched.
    """

    keys: StringSet
    cases: list[Case]
    size: int
    mark: str

    def left(self, seen: frozenset[str]) -> int:
        """How many of its keys were not seen."""
        if not seen:
            return self.size
        return self.size - sum(key.startswith(self.mark) or self.keys.contains(key) for key in seen)

    @property
    def is_endless(self) -> bool:
        """Whether there are always more."""
        return self.size >= _MANY_KEYS


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
    state: State


class ObjectPlaces:
    """The rules of a set of objects by `State`. Kinds of places: "first", before the object; "pair", where a pair must
    follow; "then", after a pair.
    """

    def __init__(self, lazy: LazyRules, part: ObjectSet, number: int) -> None:
        self._lazy = lazy
        self._number = number
        self._layout = lazy.layout
        self.any_order = lazy.options.property_order == "any"
        self.low, self.high = part.low, part.high
        self._asked = frozenset(range(len(part.somewhere)))
        needed = set(part.required)
        nodes = dict(part.properties)
        for key in part.required:
            if key not in nodes:
                nodes[key] = part.at(key)
        self.properties = [
            _Property(key, node, self._held(part.cases(key)) if part.somewhere else _NO_CASES, key in needed)
            for key, node in nodes.items()
            if node != NONE and lazy.holds(node)
        ]
        if self.high is not None and self.high <= len(needed):
            self.properties = [entry for entry in self.properties if entry.is_required]
        self._names = nodes
        self._sorted_names: dict[int, list[str]] = {}
        self._names_begun: dict[tuple[int, bytes], tuple[Spelling, ...]] = {}
        self.classes = self._classes(part) if self.high is None or self.high > len(needed) else ()
        self._keys: dict[int, Regex] = {}
        self._first_keys = tuple([key_regex(found.keys, []) for found in self.classes])
        self.counts = self.low > len(needed) or self.high is not None
        self._is_plain = not (self.any_order or self._asked or self.counts)
        required = [entry.is_required for entry in self.properties]
        self._required = sum(1 << index for index, it_is in enumerate(required) if it_is) if self.any_order else 0
        self._required_from = tuple(accumulate(reversed(required), initial=0))[::-1]
        self._alive: dict[State, bool] = {}

    def _held(self, cases: list[Case]) -> list[Case]:
        return [case for case in cases if self._lazy.holds(case[1])]

    def _classes(self, part: ObjectSet) -> tuple[_Class, ...]:
        found: list[_Class] = []
        for keys, cases in part.key_cases():
            held = self._held(cases)
            size = self._unnamed_count(keys) if held else 0
            if size:
                found.append(_Class(keys, held, size, f"\0{len(found)}:"))
        return tuple(found)

    def _unnamed_count(self, keys: StringSet) -> int:
        """How many of some keys have no property."""
        many = _MANY_KEYS + len(self._names)
        if keys.count(many) == many:
            return _MANY_KEYS
        unnamed = keys.intersect(StringSet(excluded=tuple(self._names)))
        return unnamed.count(_MANY_KEYS) if unnamed is not None else 0

    def start(self, avoid: frozenset[Value] = _NONE) -> State:
        """See `Places`."""
        return State(0, avoid=avoid)

    # --- what may follow ---------------------------------------------------------------------------------------------

    def _missing(self, state: State) -> int:
        """How many required properties are still to be written."""
        if self.any_order:
            return (self._required & ~state.place).bit_count()
        return self._required_from[state.place]

    def _is_closable(self, state: State) -> bool:
        if self._missing(state) or (state.written < self.low and self.counts) or state.given != self._asked:
            return False
        return not state.avoid or all(len(other[1]) != state.written for other in state.avoid)

    def is_alive(self, state: State, *, writes: bool = False) -> bool:
        """See `Places`; with `writes`, whether an object can be written that has another pair."""
        if not state.avoid and state.given == self._asked:
            return self._fits(state, writes)
        if not writes and self._is_closable(state):
            return True
        return any(self._can_end(pair.state) for pair in self._pairs(state))

    def _fits(self, state: State, writes: bool) -> bool:
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

    def _can_end(self, state: State) -> bool:
        """Whether an object can be ended from a state: a search, remembered."""
        found = self._alive.get(state)
        if found is not None:
            return found
        came_from: dict[State, State | None] = {state: None}
        waiting = [state]
        end: State | None = None
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
        step: State | None = end
        while step is not None:
            self._alive[step] = True
            step = came_from[step]
        return True

    def _pairs(self, state: State) -> Iterator[_Pair]:
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

    def _skipped(self, state: State) -> State:
        """The state after passing by a property."""
        key = self.properties[state.place].key
        avoid = frozenset(other for other in state.avoid if key not in members(other)) if state.avoid else state.avoid
        return State(state.place + 1, state.written, state.given, state.seen, avoid)

    def _named(self, index: int, state: State) -> Iterator[_Pair]:
        entry = self.properties[index]
        place = state.place | 1 << index if self.any_order else index + 1
        after = State(place, state.written, state.given, state.seen, state.avoid)
        yield from self._valued(entry.key, entry.node, entry.cases, after)

    def _unnamed(self, found: _Class, state: State, key: str | None) -> Iterator[_Pair]:
        node = found.cases[0][1] if len(found.cases) == 1 else None
        if key is None:
            seen = state.seen if found.is_endless else state.seen | {f"{found.mark}{len(state.seen)}"}
            after = State(state.place, state.written, state.given, seen)
        else:
            after = State(state.place, state.written, state.given, state.seen | {key}, state.avoid)
        yield from self._valued(key, node, found.cases, after)

    def _valued(self, key: str | None, node: Node | None, cases: Sequence[Case], state: State) -> Iterator[_Pair]:
        """A key's pairs, by what their values give and which objects to avoid go on so; `state` is after the key."""
        if node is not None and (not self._asked or state.given == self._asked):
            cases = [(_NONE, node)]
        for given, mine in cases:
            all_given = state.given | given if given else state.given
            after = State(state.place, state.written + 1, all_given, state.seen, state.avoid)
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
                const = self._lazy.const(value, mine)
                if self._lazy.holds(const):
                    yield _Pair(key, const, _NONE, self._normal(after._replace(avoid=frozenset(others))))
            values = frozenset(same)
            if self._lazy.holds_without(mine, values):
                yield _Pair(key, mine, values, self._normal(after._replace(avoid=_NONE)))

    def _normal(self, state: State) -> State:
        """Equal for states after which the same follows."""
        if state.avoid or self.high is not None:
            return state
        written = min(state.written, self.low) if self.counts else 0
        return state if written == state.written else State(state.place, written, state.given, state.seen)

    def _open_keys(self, found: _Class, state: State) -> list[str]:
        """Keys of a class that objects to avoid have, and were not written yet."""
        if not state.avoid:
            return []
        keys = {key for other in state.avoid for key in members(other)} - state.seen - self._names.keys()
        return sorted(key for key in keys if found.keys.contains(key))

    # --- rules -------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str, written: _Written) -> Sequence[Sequence[Symbol]]:
        """See `Places`."""
        layout = self._layout
        state = _whole(written)
        if kind == "pair":
            return self._pair_bodies(state)
        if kind.startswith("value"):
            return self._value_bodies(int(kind[5:]), state)
        found: list[Sequence[Symbol]] = []
        begin, end = ("{", layout.end_object) if kind == "first" else (",", layout.close_object)
        if self._is_free(state):
            is_closable = not self._required_from[state.place]
            goes_on = state.place < len(self.properties) or self._has_keys(state.seen)
        else:
            is_closable, goes_on = self._is_closable(state), self.is_alive(state, writes=True)
        if is_closable:
            found.append((layout.open_object, end) if kind == "first" else (end,))
        if not goes_on:
            return found
        if self._is_forced(state):
            return [*found, self._forced(begin, state)]
        sign = layout.open_object if kind == "first" else layout.comma
        return [*found, (sign, self._lazy_place("pair", state))]

    def _is_free(self, state: State) -> bool:
        """Whether nothing depends on what was written, but that keys must differ."""
        return self._is_plain and not state.avoid

    def _has_keys(self, seen: frozenset[str]) -> bool:
        """Whether there are keys without a property that were not seen."""
        return any(found.is_endless or found.left(seen) > 0 for found in self.classes)

    def _is_forced(self, state: State) -> bool:
        """Whether nothing but the next property can follow, and its value decides nothing."""
        if self.any_order or state.avoid or state.given != self._asked or state.place >= len(self.properties):
            return False
        return self.properties[state.place].is_required

    def _forced(self, lead: str, state: State) -> Sequence[Symbol]:
        """Required properties that stand side by side, in one body, and what follows them."""
        body: list[Symbol] = []
        place = state.place
        while place < len(self.properties) and self.properties[place].is_required and len(body) < _LONGEST_BODY:
            entry = self.properties[place]
            body += (*self._layout.key_after(lead, entry.key), self._lazy.symbol(entry.node))
            place += 1
            lead = ","
        after = State(place, state.written + place - state.place, state.given, state.seen)
        return (*body, self._lazy_place("then", self._normal(after)))

    def _lazy_place(self, kind: str, state: State) -> Lazy:
        return Lazy((self._number, kind, _short(state)))

    def _pair_bodies(self, state: State) -> list[Sequence[Symbol]]:
        found: list[Sequence[Symbol]] = []
        size = len(self.properties)
        if self._is_forced(state):
            return [self._forced("", state)]
        if self._is_free(state) and state.place < size:
            return self._plain_bodies(state.place)
        if not self.any_order and state.place < size:
            found += self._named_bodies(state.place, state)
            if not self.properties[state.place].is_required:
                further = self._skipped(state)
                if self.is_alive(further, writes=True):
                    found.append((self._lazy_place("pair", further),))
            return found
        if self.any_order:
            for index in range(size):
                if not state.place >> index & 1:
                    found += self._named_bodies(index, state)
        for index in range(len(self.classes)):
            found += self._open_bodies(index, state)
        return found

    def _plain_bodies(self, place: int) -> list[Sequence[Symbol]]:
        """An optional property or what comes after it, where nothing depends on what was written."""
        node = self.properties[place].node
        after = State(place + 1)
        found: list[Sequence[Symbol]] = [
            (self._layout.key(self.properties[place].key), self._lazy.symbol(node), self._lazy_place("then", after)),
        ]
        if after.place < len(self.properties) or self.classes:
            found.append((self._lazy_place("pair", after),))
        return found

    def _key(self, index: int) -> Regex:
        key = self._keys.get(index)
        if key is None:
            key = self._keys[index] = self._layout.key(self.properties[index].key)
        return key

    def _named_bodies(self, index: int, state: State) -> list[Sequence[Symbol]]:
        key = self._key(index)
        return [(key, *self._rest(pair)) for pair in self._named(index, state) if self._goes_on(pair)]

    def _goes_on(self, pair: _Pair) -> bool:
        return (self.high is None or pair.state.written <= self.high) and self.is_alive(pair.state)

    def _rest(self, pair: _Pair) -> tuple[Symbol, Symbol]:
        value = self._lazy.symbol_without(pair.node, pair.values)
        return value, self._lazy_place("then", pair.state)

    def _open_bodies(self, index: int, state: State) -> list[Sequence[Symbol]]:
        """Pairs whose keys the schema does not name."""
        found = self.classes[index]
        out: list[Sequence[Symbol]] = []
        expected = self._open_keys(found, state)
        for key in expected:
            regex = self._layout.key(key)
            out += [(regex, *self._rest(pair)) for pair in self._unnamed(found, state, key) if self._goes_on(pair)]
        if not found.is_endless and found.left(state.seen) <= len(expected):
            return out
        if not self._is_free(state) and not any(map(self._goes_on, self._unnamed(found, state, None))):
            return out
        if not self._lazy.captures:
            return [*out, *self._repeatable(index, state)]
        taken = state.seen.union(expected) if expected else state.seen
        before = _short(State(state.place, state.written, state.given, state.seen))
        then = (self._number, (index, before, taken))
        return [*out, (Capture(self._first_keys[index], then, found.is_endless, refuses=True),)]

    def _repeatable(self, index: int, state: State) -> list[Sequence[Symbol]]:
        """Where nothing can be captured, a key may come twice, and is then one key, with the last value."""
        if self.low - state.written > 1 and self.counts:
            raise Inexpressible("minProperties")
        if self._asked:
            raise Inexpressible("not")
        colon = self._layout.colon
        pairs = self._unnamed(self.classes[index], state, None)
        keys = key_regex(self.classes[index].keys, self._names_in(index))
        return [
            (keys, colon, *self._rest(pair._replace(state=pair.state._replace(seen=_NONE))))
            for pair in pairs
            if self._goes_on(pair)
        ]

    def after(self, then: _KeyTaken, text: bytes | None) -> tuple[str, _Written] | None:
        """See `Places`: after a key that the schema does not name."""
        index, before, taken = then
        state = _whole(before)
        if text is not None:
            key = json.loads(text) if b"\\" in text else text[1:-1].decode()
            if key in taken or key in self._names:
                return None
            state = State(state.place, state.written, state.given, state.seen | {key}, state.avoid)
        return f"value{index}", _short(state)

    def refusals(self, then: _KeyTaken, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """See `RuleSource`: keys that the schema names, and those that were written before."""
        index, _, taken = then
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

    def _names_in(self, index: int) -> list[str]:
        """The names that are keys of a class, sorted."""
        names = self._sorted_names.get(index)
        if names is None:
            keys = self.classes[index].keys
            names = sorted(self._names if keys == ALL_STRINGS[0] else filter(keys.contains, self._names))
            self._sorted_names[index] = names
        return names

    def remaining(self, then: _KeyTaken) -> Regex:
        """See `RuleSource`."""
        index, _, taken = then
        keys = self.classes[index].keys
        return key_regex(keys, [*self._names_in(index), *sorted(filter(keys.contains, taken))])

    def _value_bodies(self, index: int, state: State) -> list[Sequence[Symbol]]:
        """After the key, which `state` has seen: the colon, the value, and what follows."""
        colon = self._layout.colon
        cases = self.classes[index].cases
        if self._is_free(state):
            return [(colon, self._lazy.symbol(cases[0][1]), self._lazy_place("then", self._normal(state)))]
        pairs = self._valued(None, None, cases, state)
        return [(colon, *self._rest(pair)) for pair in pairs if self._goes_on(pair)]


def _rests(keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
    """How the spellings of those keys go on that begin so; `keys` may be a sorted list."""
    if not begun:
        return tuple([spelling(key) for key in keys])
    text = begun[1:]
    if b"\\" in text or not text.isascii():
        return tuple([rest for key in keys if (rest := rest_of_spelling(key, begun)) is not None])
    start, size = text.decode(), len(begun)
    if type(keys) is list and len(keys) > _FEW_KEYS:
        first = last = bisect_left(keys, start)
        while last < len(keys) and keys[last].startswith(start):
            last += 1
        keys = keys[first:last]
    return tuple([spelling(key)[size:] for key in keys if key.startswith(start)])  # each character of it is one byte
