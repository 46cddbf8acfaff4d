"""Rules of one set of objects, named by states (`object_states`).

In the schema's order and without counts, a state is the index of the next property, and each property has two rules:
a grammar's size is linear in the schema's. "pair" writes a property, or passes to the pair after it; "then" closes the
object, or writes a comma and goes on to "pair". For a required `name`, an optional `age` and no other keys, with the
set's number 0:

    (0, "first", 0)   ->   {"name":  string   (0, "then", 1)
    (0, "then", 1)    ->   }    or   ,  (0, "pair", 1)
    (0, "pair", 1)    ->   "age":  integer   (0, "then", 2)
    (0, "then", 2)    ->   }

Adjacent required properties form one body, so that their keys and the punctuation between them are forced text. Keys
that the schema does not name come last.

With properties in any order, counts, keys that must differ or conditions on any value, states say more about what was
written. States that are never reached cost nothing.

Where a value decides conditions, there is one body for each case of its values. Where there may be too many cases, and
later keys can satisfy the conditions whatever the value is, the value is captured instead: its text decides the state
(`ObjectStates.state_after`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from structgen.engine.deadlines import spend
from structgen.engine.grammar.tables import Capture, Ladder, Lazy, Refusals, Spelling, Symbol
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import Inexpressible
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.json_text.values import Value
from structgen.schema.rules.key_groups import groups_of
from structgen.schema.rules.lazy_rules import PAIR, LazyRules
from structgen.schema.rules.notation import JsonNotation
from structgen.schema.rules.object_states import ObjectStates, ShortState, index_of, seen_of, shortened, whole
from structgen.schema.rules.states import ObjectState, Pair
from structgen.schema.rules.written_sets import Written, rests_of, with_written

__all__ = ["ObjectRules"]

_STATE_BITS_OF_UNIT = 10  # log2 of the bits of a state that one unit of `spend` stands for
_MAX_BODY_SYMBOLS = 128  # symbols of a body of required properties, about
_NONE: frozenset[Any] = frozenset()  # one object shared by all states, as there are many
_MAX_BEGINNINGS = 10_000  # beginnings of keys whose completions are kept
_MAX_REMAINING = 64  # terminals without some keys that are kept
_NOTHING_REFUSED: Refusals = ((), ())

_AfterKey = tuple[int, ShortState, tuple[str, ...]]
"""The `then` of a captured key: the index of its class, the state before it, and refused keys besides those seen."""


class _Deferred(NamedTuple):
    """The `then` of a captured value: `Pair.deferred`, and the state; see `ObjectStates.state_after`."""

    deferred: int
    state: ObjectState


def _used_keys(then: _AfterKey) -> Written:
    """Return the keys that must not be written again."""
    seen = seen_of(then[1])
    return seen.union(then[2]) if then[2] else seen


class ObjectRules:
    """The rules of a set of objects.

    Kinds of nonterminals: "first", the whole object; "pair", a pair and what follows it; "then", what follows a pair;
    "value", what follows the key of the next property; a number, what follows a key of the class with that number, or
    one with the values of that number (`ObjectStates.values_of`). The group n of keys has the number -1 - n; after a
    key of a mixed group, the number is that of its values.

    Args:
        lazy: the rules of the whole schema, which these belong to.
        part: the set.
        number: the number of the set among those of the schema.

    Attributes:
        part: see above.
        states: the states of the set.
        classes: the classes of keys that the schema does not name.
    """

    def __init__(self, lazy: LazyRules, part: ObjectSet, number: int) -> None:
        self._lazy = lazy
        self.part = part
        self._number = number
        self._layout = self._lazy.layout
        self.states = ObjectStates(lazy, part)
        self.classes = self.states.classes
        self._sorted_names: tuple[tuple[str, ...], ...] | None = None  # results of `_names_in`
        self._remaining: dict[tuple[int, tuple[str, ...]], Regex] = {}  # by class, and the keys left out
        self._names_begun: dict[tuple[int, bytes], tuple[Spelling, ...]] = {}  # by class and beginning: completions
        self._keys: dict[int, Regex] = {}  # by property: the terminal of its key
        self._notation = self._lazy.notation
        is_json = isinstance(self._notation, JsonNotation)
        self._groups, self._group_of = groups_of(self.states, self._lazy.captures and is_json)
        self._splits_late = self._lazy.captures and is_json and bool(part.clauses)
        self._first_keys = tuple([self._notation.keys(found.keys, []) for found in self.classes])

    def start(self, avoid: frozenset[Value] = _NONE) -> ShortState:
        """Return the state before the first pair. See `SetRules.start`."""
        return ObjectState(0, avoid=avoid) if avoid else 0

    def is_alive(self, short_state: ShortState) -> bool:
        """Return whether an object of the set can be completed from a state. See `SetRules.is_alive`."""
        return self.states.is_alive(whole(short_state))

    # --- rules -------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str | int, short_state: ShortState) -> Sequence[Sequence[Symbol]]:
        """Return the bodies of a kind of nonterminal in a state. See `SetRules.bodies`."""
        states = self.states
        if kind == PAIR:
            return self._pair_bodies(short_state)
        if kind == "value":
            return self._rests(index_of(short_state), whole(short_state))
        if isinstance(kind, int):
            return self._value_bodies(kind, short_state)
        if states.is_free(short_state):
            index = index_of(short_state)
            is_closable = states.required_from[index] == 0
            has_next = index < len(states.properties) or states.has_keys(seen_of(short_state))
        else:
            state = whole(short_state)
            is_closable, has_next = states.is_closable(state), states.is_alive(state, True)
        layout = self._layout
        is_first = kind == "first"
        found: list[Sequence[Symbol]] = []
        if is_closable:
            found.append((layout.open_object, layout.end_object) if is_first else (layout.close_object,))
        if not has_next:
            return found
        if states.is_forced(short_state):
            found.append(self._forced("{" if is_first else ",", short_state))
        else:
            found.append((layout.open_object if is_first else layout.comma, self._nonterminal(PAIR, short_state)))
        return found

    def _forced(self, lead: str, short_state: ShortState) -> Sequence[Symbol]:
        """Return one body with adjacent required properties, and with what follows them.

        Args:
            lead: the punctuation before the first key: "{", "," or "".
            short_state: the state before the first of them.
        """
        states = self.states
        body: list[Symbol] = []
        start = index = index_of(short_state)
        while index < len(states.properties) and states.properties[index].is_required and len(body) < _MAX_BODY_SYMBOLS:
            entry = states.properties[index]
            body.extend(self._layout.key_after(lead, entry.key))
            body.append(self._lazy.symbol(entry.node))
            index += 1
            lead = ","
        after: ShortState = index
        if not states.is_free(short_state):
            state = whole(short_state)
            after = shortened(states.normal(ObjectState(index, state.written + index - start, state.given, state.seen)))
        body.append(self._nonterminal("then", after))
        return body

    def _nonterminal(self, kind: str, short_state: ShortState) -> Lazy:
        """Return the nonterminal of a kind and a state."""
        return Lazy((self._number, kind, short_state))

    def _pair_bodies(self, short_state: ShortState) -> list[Sequence[Symbol]]:
        """Return the bodies of a pair that may come next, and what follows it."""
        states = self.states
        if states.is_forced(short_state):
            return [self._forced("", short_state)]
        size = len(states.properties)
        found: list[Sequence[Symbol]] = []
        if not states.any_order and index_of(short_state) < size:
            if states.is_free(short_state):
                return self._optional_bodies(index_of(short_state))
            return self._next_property_bodies(short_state)
        if states.any_order:
            state = whole(short_state)
            for index in range(size):
                if self._group_of[index] >= 0 and not state.avoid:
                    continue
                spend(1 + (size >> _STATE_BITS_OF_UNIT))  # the state after it has a bit for each property
                if not state.progress >> index & 1:
                    found += self._property_bodies(index, state)
            if not state.avoid:
                found += self._group_bodies(state)
        for index in range(len(self.classes)):
            found += self._class_bodies(index, short_state)
        return found

    def _group_bodies(self, state: ObjectState) -> list[Sequence[Symbol]]:
        """Return the keys of each group that may come next. They have no further symbols: the key decides the state."""
        states = self.states
        found: list[Sequence[Symbol]] = []
        for number, group in enumerate(self._groups):
            spend(len(group.numbers))
            first = group.first_left(state.progress)
            if first >= 0 and states.any_is_alive_after(states.pairs_of_property(first, state)):
                then = (self._number, (-1 - number, shortened(state), ()))
                found.append((Capture(group.keys_left(state.progress), then, False),))
        return found

    def _optional_bodies(self, index: int) -> list[Sequence[Symbol]]:
        """Return an optional property, or what comes after it, where nothing depends on what was written."""
        states = self.states
        number = self._group_of[index]
        if number >= 0:
            return self._run_bodies(number, index)
        entry = states.properties[index]
        after = index + 1
        key, value = self._layout.key(entry.key), self._lazy.late_symbol(entry.node)
        found: list[Sequence[Symbol]] = [(key, value, self._nonterminal("then", after))]
        if after < len(states.properties) or self.classes:
            found.append((self._nonterminal(PAIR, after),))
        return found

    def ladder(self, short_state: ShortState) -> Ladder | None:
        """Return optional properties that follow each other, and what comes after them. See `SetRules.ladder`."""
        states = self.states
        size = len(states.properties)
        if states.any_order or self._groups or not isinstance(short_state, int) or not states.is_free(short_state):
            return None  # a longer state has a body of its own, and then goes on with a short one
        index = index_of(short_state)
        if index >= size:
            return None
        number, lazy, layout = self._number, self._lazy, self._layout
        spend(size - index)
        keys: list[Any] = []
        bodies: list[Sequence[Symbol]] = []
        while index < size:
            entry = states.properties[index]
            keys.append((number, PAIR, index))
            if entry.is_required:
                bodies.append(self._forced("", index))
                break
            index += 1
            then = Lazy((number, "then", index))
            bodies.append((layout.key(entry.key), lazy.late_symbol(entry.node), then))
        if index == size and self.classes:
            keys.append((number, PAIR, index))
            bodies += self._pair_bodies(index)
        return Ladder(keys, bodies)

    def _run_bodies(self, number: int, index: int) -> list[Sequence[Symbol]]:
        """Return the keys of a group from an optional property on, or what comes after them."""
        group = self._groups[number]
        spend(len(group.numbers))
        keys = group.keys_left((1 << index) - 1)
        found: list[Sequence[Symbol]] = [(Capture(keys, (self._number, (-1 - number, index, ())), False),)]
        after = group.last + 1
        if after < len(self.states.properties) or self.classes:
            found.append((self._nonterminal(PAIR, after),))
        return found

    def _next_property_bodies(self, short_state: ShortState) -> list[Sequence[Symbol]]:
        """Return the next property, or what comes after it where it is optional."""
        states = self.states
        state = whole(short_state)
        if self._splits_late and states.splits_next(state) and states.may_write_next(state):
            # Only a written key needs its values split by the clauses.
            found: list[Sequence[Symbol]] = [(self._key(state.progress), self._nonterminal("value", short_state))]
        else:
            found = self._property_bodies(state.progress, state)
        if not states.properties[state.progress].is_required:
            further = states.skipped(state)
            if states.is_alive(further, True):
                found.append((self._nonterminal(PAIR, shortened(further)),))
        return found

    def _key(self, index: int) -> Regex:
        """Return the terminal of a property's key and the colon."""
        key = self._keys.get(index)
        if key is None:
            key = self._keys[index] = self._layout.key(self.states.properties[index].key)
        return key

    def _property_bodies(self, index: int, state: ObjectState) -> list[Sequence[Symbol]]:
        """Return a property's pairs, each with what follows it."""
        key = self._key(index)
        return [(key, *rest) for rest in self._rests(index, state)]

    def _rests(self, index: int, state: ObjectState) -> list[Sequence[Symbol]]:
        """Return the values of a property, each with what follows it."""
        states = self.states
        return [self._rest(pair) for pair in states.pairs_of_property(index, state) if states.is_alive_after(pair)]

    def _rest(self, pair: Pair) -> tuple[Symbol, ...]:
        """Return the value of a pair, and what follows the pair."""
        node, values = pair.node, pair.values
        if pair.deferred:
            then = (self._number, _Deferred(pair.deferred, pair.state))
            symbol = self._lazy.symbol_without(node, values)
            return (Capture(symbol, then, False),) if isinstance(symbol, (Regex, Lazy)) else ()
        value = self._lazy.symbol_without(node, values) if values else self._lazy.late_symbol(node)
        return value, self._nonterminal("then", shortened(pair.state))

    def _class_bodies(self, index: int, short_state: ShortState) -> list[Sequence[Symbol]]:
        """Return pairs whose keys are in a class, so have no property."""
        states = self.states
        key_class = self.classes[index]
        if states.is_free(short_state) and self._lazy.captures:
            is_any_left = key_class.is_endless or key_class.left(seen_of(short_state)) > 0
            return [self._captured_key(index, short_state, ())] if is_any_left else []
        state = whole(short_state)
        out: list[Sequence[Symbol]] = []
        expected = states.open_keys(key_class, state)  # these keys might tell it from an excluded object
        for key in expected:
            regex = self._layout.key(key)
            out += [
                (regex, *self._rest(pair))
                for pair in states.pairs_of_class(key_class, state, key)
                if states.is_alive_after(pair)
            ]
        if not key_class.is_endless and key_class.left(state.seen) <= len(expected):
            return out
        if not states.any_is_alive_after(states.pairs_of_class(key_class, state, None)):
            return out
        if not self._lazy.captures:
            return [*out, *self._repeatable(index, state)]
        before = shortened(ObjectState(state.progress, state.written, state.given, state.seen))
        return [*out, self._captured_key(index, before, tuple(expected))]

    def _captured_key(self, index: int, before: ShortState, used: tuple[str, ...]) -> Sequence[Symbol]:
        """Return the capture of an additional key: neither declared, nor already written, nor in `used`."""
        then = (self._number, (index, before, used))
        key_class = self.classes[index]
        is_endless = key_class.is_endless and not key_class.is_mixed
        return (Capture(self._first_keys[index], then, is_endless, refuses=True),)

    def _repeatable(self, index: int, state: ObjectState) -> list[Sequence[Symbol]]:
        """Return the pairs of a class for a target that cannot capture, such as an export. There a key may come twice.

        Readers of JSON then take the last of the two values.
        """
        states = self.states
        if states.low - state.written > 1 and states.counts:
            raise Inexpressible("minProperties")
        if states.asks_other_keys:
            raise Inexpressible("not")
        colon = self._layout.colon
        pairs = states.pairs_of_class(self.classes[index], state, None)
        keys = self._notation.keys(self.classes[index].keys, self._names_in(index))
        unseen = [
            Pair(pair.key, pair.node, pair.values, replace(pair.state, seen=_NONE), pair.deferred)
            for pair in pairs
            if states.is_alive_after(pair)
        ]
        return [(keys, colon, *self._rest(pair)) for pair in unseen]

    def after(self, then: _AfterKey | _Deferred, text: bytes | None) -> tuple[int | str, ShortState] | None:
        """Return the state after a key that the schema does not name, or a deferred value. See `SetRules.after`."""
        if isinstance(then, _Deferred):
            return "then", shortened(self.states.state_after(then.deferred, then.state, text))
        index, before, used = then
        state = whole(before)
        if index < 0:
            group = self._groups[-1 - index]
            after = shortened(self._after_grouped(group.numbers, state, text))
            if group.is_mixed and text is not None:
                index = self.states.values_of(self._notation.key_of(text))
            return index, after
        if text is None:
            return index, before
        key = self._notation.key_of(text)
        if key in state.seen or key in used or key in self.states.names:
            return None
        key_class = self.classes[index]
        if key_class.is_mixed:
            index = self.states.values_of(key)
        seen = with_written(state.seen, key)
        return index, ObjectState(state.progress, state.written, state.given, seen, state.avoid)

    def _after_grouped(self, numbers: dict[str, int], state: ObjectState, text: bytes | None) -> ObjectState:
        """Return the state after a key of a group; for an unknown key, one with all continuations of any of them."""
        index = self.states.unknown if text is None else numbers[self._notation.key_of(text)]
        if not self.states.any_order:
            return ObjectState(state.progress + 1 if text is None else index + 1)
        return ObjectState(state.progress | 1 << index, state.written, state.given, state.seen)

    def refusals(self, then: _AfterKey, begun: bytes) -> Refusals:
        """Return the completions of keys that are declared or already written. See `RuleSource.refusals`."""
        index = then[0]
        used = _used_keys(then)
        groups, others = rests_of(self._notation, used, begun) if used else _NOTHING_REFUSED
        names = self._names_in(index)
        if not names:
            return groups, others
        always = self._names_begun.get((index, begun))
        if always is None:
            always = self._notation.completions(names, begun)
            if not always:
                return groups, others
            if len(self._names_begun) >= _MAX_BEGINNINGS:
                return groups, (*always, *others)
            self._names_begun[index, begun] = always
        return (always, *groups), others

    def _names_in(self, index: int) -> tuple[str, ...]:
        """Return the schema's names that are keys of a class, sorted."""
        if self._sorted_names is None:
            names = sorted(self.states.names)
            self._sorted_names = tuple([tuple(filter(found.keys.contains, names)) for found in self.classes])
        return self._sorted_names[index]

    def least_bytes(self, kind: str | int, short_state: ShortState) -> int:
        """Return a lower bound of the bytes of a kind of nonterminal in a state. See `SetRules.least_bytes`."""
        state = whole(short_state)
        if kind == "value":
            state = replace(state, progress=state.progress + 1)
        return self.states.least_bytes(state)

    def remaining(self, then: _AfterKey, least: int) -> Regex:
        """Return the keys of a class that may be written. See `RuleSource.remaining`."""
        index = then[0]
        keys = self.classes[index].keys
        refused = [*self._names_in(index), *sorted(filter(keys.contains, _used_keys(then)))]
        long = tuple([key for key in refused if len(key) >= least])
        found = self._remaining.get((index, long))
        if found is None:
            if len(self._remaining) >= _MAX_REMAINING:
                self._remaining.clear()
            found = self._remaining[index, long] = self._notation.keys(keys, long)
        return found

    def forget(self) -> None:
        """Drop what was computed for written texts. See `RuleSource.forget`."""
        self.states.forget()
        self._remaining.clear()

    def _value_bodies(self, index: int, short_state: ShortState) -> list[Sequence[Symbol]]:
        """Return the bodies after a key that the state has seen: the colon, the value, and what follows."""
        states = self.states
        colon = self._layout.colon
        if index < 0:
            node = self._groups[-1 - index].node
            self._lazy.holds(node)  # explores ANY
            if states.is_free(short_state):
                return [(colon, self._lazy.symbol(node), self._nonterminal("then", short_state))]
            pairs = states.pairs_of_key(None, node, (), whole(short_state), 0)
            return [(colon, *self._rest(pair)) for pair in pairs if states.is_alive_after(pair)]
        cases = states.cases_after(index)
        if states.is_free(short_state):
            return [(colon, self._lazy.symbol(cases[0][1]), self._nonterminal("then", short_state))]
        deferred = -1 - index if self.states.is_unsplit else 0
        pairs = states.pairs_of_key(None, None, cases, whole(short_state), deferred)
        return [(colon, *self._rest(pair)) for pair in pairs if states.is_alive_after(pair)]
