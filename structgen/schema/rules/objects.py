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
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from structgen.engine.grammar.tables import Capture, Lazy, Spelling, Symbol
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import Inexpressible
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.json_text.strings import rest_of_spelling, spelling
from structgen.schema.json_text.terminals import key_regex
from structgen.schema.json_text.values import Value
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.object_states import ObjectStates, Pair, Written, index_of, seen_of, shortened, whole
from structgen.schema.rules.states import ObjectState

__all__ = ["ObjectRules"]

_LONGEST_BODY = 128
_NONE: frozenset[Any] = frozenset()  # one for all states: there are many
_BEGINNINGS_KEPT = 10_000
_NOTHING_REFUSED: tuple[Spelling, ...] = ()

_KeyTaken = tuple[int, Written, tuple[str, ...]]
"""After a key of a class: its number, the state before it, and the keys that are taken beside those it has seen."""


def _taken(then: _KeyTaken) -> frozenset[str]:
    """The keys that must not come again."""
    seen = seen_of(then[1])
    return seen.union(then[2]) if then[2] else seen


class ObjectRules:
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
        self._states = ObjectStates(lazy, part)
        self.classes = self._states.classes
        self._sorted_names: tuple[tuple[str, ...], ...] | None = None
        self._names_begun: dict[tuple[int, bytes], tuple[Spelling, ...]] = {}
        self._keys: dict[int, Regex] = {}
        self._first_keys = tuple([key_regex(found.keys, []) for found in self.classes])

    def start(self, avoid: frozenset[Value] = _NONE) -> Written:
        """See `Places`."""
        return ObjectState(0, avoid=avoid) if avoid else 0

    def is_alive(self, written: Written) -> bool:
        """See `Places`."""
        return self._states.lives(whole(written))

    # --- rules -------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str | int, written: Written) -> Sequence[Sequence[Symbol]]:
        """See `Places`."""
        states = self._states
        if kind == "pair":
            return self._pair_bodies(written)
        if isinstance(kind, int):
            return self._value_bodies(kind, written)
        if states.is_free(written):
            place = index_of(written)
            is_closable = states.required_from[place] == 0
            goes_on = place < len(states.properties) or states.has_keys(seen_of(written))
        else:
            state = whole(written)
            is_closable, goes_on = states.is_closable(state), states.lives(state, True)
        layout = self._layout
        is_first = kind == "first"
        found: list[Sequence[Symbol]] = []
        if is_closable:
            found.append((layout.open_object, layout.end_object) if is_first else (layout.close_object,))
        if not goes_on:
            return found
        if states.is_forced(written):
            found.append(self._forced("{" if is_first else ",", written))
        else:
            found.append((layout.open_object if is_first else layout.comma, self._lazy_place("pair", written)))
        return found

    def _forced(self, lead: str, written: Written) -> Sequence[Symbol]:
        """Required properties that stand side by side, in one body, and what follows them."""
        states = self._states
        body: list[Symbol] = []
        start = place = index_of(written)
        while place < len(states.properties) and states.properties[place].is_required and len(body) < _LONGEST_BODY:
            entry = states.properties[place]
            body.extend(self._layout.key_after(lead, entry.key))
            body.append(self._lazy.symbol(entry.node))
            place += 1
            lead = ","
        after: Written = place
        if not states.is_free(written):
            state = whole(written)
            after = shortened(states.normal(ObjectState(place, state.written + place - start, state.given, state.seen)))
        body.append(self._lazy_place("then", after))
        return body

    def _lazy_place(self, kind: str, written: Written) -> Lazy:
        return Lazy((self._number, kind, written))

    def _pair_bodies(self, written: Written) -> list[Sequence[Symbol]]:
        states = self._states
        if states.is_forced(written):
            return [self._forced("", written)]
        size = len(states.properties)
        found: list[Sequence[Symbol]] = []
        if not states.any_order and index_of(written) < size:
            return self._plain_bodies(index_of(written)) if states.is_free(written) else self._next_bodies(written)
        if states.any_order:
            state = whole(written)
            for index in range(size):
                if not state.place >> index & 1:
                    found += self._named_bodies(index, state)
        for index in range(len(self.classes)):
            found += self._open_bodies(index, written)
        return found

    def _plain_bodies(self, place: int) -> list[Sequence[Symbol]]:
        """An optional property or what comes after it, where nothing depends on what was written."""
        states = self._states
        entry = states.properties[place]
        after = place + 1
        key, value = self._layout.key(entry.key), self._lazy.symbol(entry.node)
        found: list[Sequence[Symbol]] = [(key, value, self._lazy_place("then", after))]
        if after < len(states.properties) or self.classes:
            found.append((self._lazy_place("pair", after),))
        return found

    def _next_bodies(self, written: Written) -> list[Sequence[Symbol]]:
        """The next property, or what comes after it where it is optional."""
        states = self._states
        state = whole(written)
        found = self._named_bodies(state.place, state)
        if not states.properties[state.place].is_required:
            further = states.skipped(state)
            if states.lives(further, True):
                found.append((self._lazy_place("pair", shortened(further)),))
        return found

    def _key(self, index: int) -> Regex:
        key = self._keys.get(index)
        if key is None:
            key = self._keys[index] = self._layout.key(self._states.properties[index].key)
        return key

    def _named_bodies(self, index: int, state: ObjectState) -> list[Sequence[Symbol]]:
        states = self._states
        key = self._key(index)
        return [(key, *self._rest(pair)) for pair in states.named(index, state) if states.goes_on(pair)]

    def _rest(self, pair: Pair) -> tuple[Symbol, Symbol]:
        value = self._lazy.symbol_without(pair.node, pair.values)
        return value, self._lazy_place("then", shortened(pair.state))

    def _open_bodies(self, index: int, written: Written) -> list[Sequence[Symbol]]:
        """Pairs whose keys the schema does not name."""
        states = self._states
        found = self.classes[index]
        if states.is_free(written) and self._lazy.captures:
            seen = seen_of(written)
            return [self._captured_key(index, written, ())] if found.is_endless or found.left(seen) > 0 else []
        state = whole(written)
        out: list[Sequence[Symbol]] = []
        expected = states.open_keys(found, state)
        for key in expected:
            regex = self._layout.key(key)
            out += [(regex, *self._rest(pair)) for pair in states.unnamed(found, state, key) if states.goes_on(pair)]
        if not found.is_endless and found.left(state.seen) <= len(expected):
            return out
        if not states.any_goes_on(states.unnamed(found, state, None)):
            return out
        if not self._lazy.captures:
            return [*out, *self._repeatable(index, state)]
        before = shortened(ObjectState(state.place, state.written, state.given, state.seen))
        return [*out, self._captured_key(index, before, tuple(expected))]

    def _captured_key(self, index: int, before: Written, taken: tuple[str, ...]) -> Sequence[Symbol]:
        """A key that the schema does not name, nor was seen, nor is one of some others; what follows depends on it."""
        then = (self._number, (index, before, taken))
        return (Capture(self._first_keys[index], then, self.classes[index].is_endless, refuses=True),)

    def _repeatable(self, index: int, state: ObjectState) -> list[Sequence[Symbol]]:
        """Where nothing can be captured, a key may come twice, and is then one key, with the last value."""
        states = self._states
        if states.low - state.written > 1 and states.counts:
            raise Inexpressible("minProperties")
        if states.asked:
            raise Inexpressible("not")
        colon = self._layout.colon
        pairs = states.unnamed(self.classes[index], state, None)
        keys = key_regex(self.classes[index].keys, self._names_in(index))
        return [
            (keys, colon, *self._rest(pair._replace(state=replace(pair.state, seen=_NONE))))
            for pair in pairs
            if states.goes_on(pair)
        ]

    def after(self, then: _KeyTaken, text: bytes | None) -> tuple[int, Written] | None:
        """See `Places`: after a key that the schema does not name."""
        index, before, taken = then
        if text is None:
            return index, before
        key = json.loads(text) if b"\\" in text else text[1 : len(text) - 1].decode()
        state = whole(before)
        if key in state.seen or key in taken or key in self._states.names:
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
            names = sorted(self._states.names)
            self._sorted_names = tuple([tuple(filter(found.keys.contains, names)) for found in self.classes])
        return self._sorted_names[index]

    def remaining(self, then: _KeyTaken) -> Regex:
        """See `RuleSource`."""
        index = then[0]
        keys = self.classes[index].keys
        return key_regex(keys, [*self._names_in(index), *sorted(filter(keys.contains, _taken(then)))])

    def _value_bodies(self, index: int, written: Written) -> list[Sequence[Symbol]]:
        """After the key, which `written` has seen: the colon, the value, and what follows."""
        states = self._states
        colon = self._layout.colon
        cases = self.classes[index].cases
        if states.is_free(written):
            return [(colon, self._lazy.symbol(cases[0][1]), self._lazy_place("then", written))]
        pairs = states.valued(None, None, cases, whole(written))
        return [(colon, *self._rest(pair)) for pair in pairs if states.goes_on(pair)]


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
