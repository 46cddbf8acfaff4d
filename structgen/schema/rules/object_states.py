"""States of an object of one set: which pairs may follow, and whether the object can be completed.

In the schema's order, a state is the index of the next property; in any order, it has a bit for each property written.
Counts, keys that must differ, conditions on any value, and excluded objects add to a state what matters of them
(`ObjectState`). A state is alive if some object of the set can be completed from it. `objects` makes rules of the
states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.schema.algebra import ALL_STRINGS, ANY, NONE, Case, Node, StringSet, meet
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.json_text.values import Value, members, read_value
from structgen.schema.reading.membership import surely_in
from structgen.schema.rules.clause_search import Clauses
from structgen.schema.rules.lazy_rules import LazyRules, reaches_grammar
from structgen.schema.rules.notation import JsonNotation
from structgen.schema.rules.overlapping_keys import allowed_keys
from structgen.schema.rules.states import MAX_COUNTED_KEYS, ObjectState, OtherKeys, Pair, Property
from structgen.schema.rules.written_sets import Written

__all__ = ["ObjectStates", "ShortState", "index_of", "seen_of", "shortened", "whole"]

_MAX_SPLIT = 10  # conditions on any key that values are split by where they cannot be captured
_MAX_STATES_SEARCHED = 50_000  # in one search for a state that can be closed
_PAIR_BYTES = 4  # of a pair, besides the characters of its key
_NONE: frozenset[Any] = frozenset()  # one object shared by all states, as there are many
_NO_CASES: tuple[Case, ...] = ()

ShortState = ObjectState | int
"""A state; just its index, where nothing else matters. States are part of the names of rules, and Python's garbage
collector does not traverse numbers.
"""


_ANY_KEY = (OtherKeys(0, ALL_STRINGS[0], ((_NONE, ANY),), MAX_COUNTED_KEYS),)


def shortened(state: ObjectState) -> ShortState:
    """Return the short form of a state: its index alone, where nothing else matters."""
    return state if state.written or state.given or state.seen or state.avoid else state.progress


def whole(short_state: ShortState) -> ObjectState:
    """Return the state of a short form."""
    return ObjectState(short_state) if isinstance(short_state, int) else short_state


def index_of(short_state: ShortState) -> int:
    """Return the index of the next property, for states in the schema's order."""
    return short_state if isinstance(short_state, int) else short_state.progress


def seen_of(short_state: ShortState) -> Written:
    """Return the keys written so far that the schema does not name."""
    return _NONE if isinstance(short_state, int) else short_state.seen


class ObjectStates:
    """The states of one set of objects: which pairs may follow, and where an object can be completed.

    Args:
        lazy: makes the rules of the schema; knows which nodes have values.
        part: the set.

    Attributes:
        any_order: the properties come in any order, not the schema's.
        low: the minimum number of pairs of a key and its value.
        high: the maximum number of pairs; None for no bound.
        names: the node of each key that the schema names.
        properties: the named properties that may be written.
        classes: the classes of keys that the schema does not name. Mixed ones only if the written key may decide what
            follows.
        asked: the indices of `ObjectSet.somewhere`, and after these of `ObjectSet.clauses`. Some value must satisfy
            each of these conditions; a clause may also be satisfied by the absence of a key.
        asks_other_keys: keys that the schema does not name may satisfy a condition of `asked`.
        counts: the number of pairs matters, not only which keys are required.
        is_unsplit: see `ObjectSet.is_unsplit`.
        is_plain: nothing depends on what was written, unless objects are excluded.
        required_from: in the schema's order, the number of required properties from each index on.
        unknown: in any order, the number of the bit set after a key of unknown text. Any key may follow, and the end.
    """

    def __init__(self, lazy: LazyRules, part: ObjectSet) -> None:
        self._lazy = lazy
        self.names = part.properties
        self._part = replace(part) if part.is_unsplit and self._must_split(part) else part
        mine = self._part  # compiled, its type is known, unlike that of an argument
        self._node_numbers: dict[Node, int] = {}  # the values of keys of mixed classes, as they are met
        self._met_cases: list[tuple[Case, ...]] = []
        self.any_order = self._lazy.options.property_order == "any"
        self.low, self.high = mine.low, mine.high
        self.asked = self._asked_of_keys = frozenset(range(len(mine.somewhere))) if mine.somewhere else _NONE
        self.asks_other_keys = bool(mine.somewhere)
        needed = frozenset(mine.required)
        unnamed = [key for key in mine.required if key not in mine.properties]
        if unnamed:
            self.names = mine.properties | {key: mine.at(key) for key in unnamed}
        is_full = self.high is not None and self.high <= len(needed)
        if mine.clauses:
            clause_keys = [literal.key for clause in mine.clauses for literal in clause]
            self.names = self.names | {key: mine.at(key) for key in clause_keys if key not in self.names}
        self.properties = self._writable_properties(mine, needed, is_full)
        self._absent: tuple[frozenset[int], ...] = ()
        self._clauses: Clauses | None = None
        self.counts = self.low > len(needed) or self.high is not None
        if mine.clauses:
            self._clauses = Clauses(mine, self.properties, lazy.holds, self._is_deferrable, lazy.shapes, lazy.splits)
            self._absent = self._clauses.absent
            self.asked |= self._clauses.numbers
        self.classes = () if is_full else self._classes(mine)
        self.is_unsplit = mine.is_unsplit
        self._asked_in: list[list[tuple[int, Node]]] = []  # by class, where it is unsplit
        if mine.is_unsplit:
            self._asked_in = [mine.asked_in(found.keys) for found in self.classes]
        self._has_endless_keys = any([found.is_endless for found in self.classes])  # noqa: C419  (a generator is more code)
        self.is_plain = not (self.any_order or self.asked or self.counts)
        self.unknown = len(self.properties)
        self._required = 0
        if self.any_order:
            bits = ["1" if entry.is_required else "0" for entry in reversed(self.properties)]
            self._required = int("".join(bits) or "0", 2)
        self.required_from = self._missing_by_index()
        self._alive: dict[ObjectState, bool] = {}

    def _writable_properties(self, part: ObjectSet, needed: frozenset[str], is_full: bool) -> tuple[Property, ...]:
        """Return the properties that may be written; only the required ones if the object is full with them."""
        found: list[Property] = []
        held = self._lazy.productive
        spend(len(self.names))
        for key, node in self.names.items():
            is_required = key in needed
            if (is_required or not is_full) and (node in held or (node != NONE and self._lazy.holds(node))):
                cases = self._held(part.cases(key)) if part.somewhere else _NO_CASES
                found.append(Property(key, node, cases, is_required))
        return tuple(found)

    def _missing_by_index(self) -> tuple[int, ...]:
        """Return, for the schema's order, the number of required properties from each index on."""
        left = 0
        for entry in self.properties:
            left += entry.is_required
        missing = [left]
        spend(len(self.properties))
        if not left:
            return (0,) * (len(self.properties) + 1)
        for entry in self.properties:
            left -= entry.is_required
            missing.append(left)
        return tuple(missing)

    def _held(self, cases: list[Case]) -> tuple[Case, ...]:
        return tuple([case for case in cases if self._lazy.holds(case[1])])

    def _classes(self, part: ObjectSet) -> tuple[OtherKeys, ...]:
        if part.is_open and not part.somewhere and self._lazy.notation.other_keys is None:
            self._lazy.holds(ANY)
            return _ANY_KEY
        is_mixed = bool(part.overlapping) and self._lazy.captures and not part.somewhere
        pairs: list[tuple[StringSet, tuple[Case, ...]]]
        if is_mixed:
            pairs = [(keys, ((_NONE, node),)) for keys, node in allowed_keys(part, self._lazy.holds)]
        else:
            pairs = [(keys, held) for keys, cases in part.key_cases() if (held := self._held(cases))]
        found: list[OtherKeys] = []
        writable = self._lazy.notation.other_keys
        for keys, cases in pairs:
            left = keys if writable is None else keys.intersect(writable)
            size = 0 if left is None else self._unnamed_count(left)
            if left is not None and size:
                found.append(OtherKeys(len(found), left, cases, size, is_mixed))
        return tuple(found)

    def _unnamed_count(self, keys: StringSet) -> int:
        """Return how many of some keys have no property."""
        many = MAX_COUNTED_KEYS + len(self.names)
        if keys.count(many) == many:
            return MAX_COUNTED_KEYS
        unnamed = keys.intersect(StringSet(excluded=tuple(self.names)))
        return unnamed.count(MAX_COUNTED_KEYS) if unnamed is not None else 0

    def values_of(self, key: str) -> int:
        """Return the number of the values of a key of a mixed class or group; see `cases_after`."""
        node = self._part.at(key)
        number = self._node_numbers.get(node)
        if number is None:
            self._lazy.holds(node)
            number = self._node_numbers[node] = len(self.classes) + len(self._met_cases)
            self._met_cases.append(((_NONE, node),))
        return number

    def cases_after(self, number: int) -> tuple[Case, ...]:
        """Return the values after a key: of the class with a number, or those that `values_of` numbered."""
        size = len(self.classes)
        if number >= size:
            return self._met_cases[number - size]
        found = self.classes[number]
        return found.cases

    # --- what was written --------------------------------------------------------------------------------------------

    def is_free(self, short_state: ShortState) -> bool:
        """Return whether nothing depends on what was written, except that keys must differ."""
        return self.is_plain and (isinstance(short_state, int) or not short_state.avoid)

    def has_keys(self, seen: Written) -> bool:
        """Return whether some key without a property was not seen."""
        for found in self.classes:  # noqa: SIM110  (no generator where it is compiled)
            if found.is_endless or found.left(seen) > 0:
                return True
        return False

    def is_forced(self, short_state: ShortState) -> bool:
        """Return whether only the next property can follow, and its value decides nothing."""
        if self.any_order:
            return False
        index = index_of(short_state)
        if index >= len(self.properties) or not self.properties[index].is_required:
            return False
        if isinstance(short_state, int):
            return not self.asked
        return not short_state.avoid and short_state.given == self.asked

    def _missing(self, state: ObjectState) -> int:
        """Return the number of required properties still to be written."""
        if self.any_order:
            return 0 if state.progress >> self.unknown else (self._required & ~state.progress).bit_count()
        return self.required_from[state.progress]

    def least_bytes(self, state: ObjectState) -> int:
        """Return a lower bound of the bytes that complete an object from a state: its required keys, and the end."""
        found = 1
        for index in range(0 if self.any_order and state.progress >> self.unknown else len(self.properties)):
            entry = self.properties[index]
            if entry.is_required and not self._is_decided(index, state):
                found += _PAIR_BYTES + len(entry.key)
        return max(found, _PAIR_BYTES * (self.low - state.written)) if self.counts else found

    def is_closable(self, state: ObjectState) -> bool:
        """Return whether the object may be closed in a state."""
        if self._missing(state) or (state.written < self.low and self.counts):
            return False
        if state.given != self.asked and (
            self._clauses is None
            or not self._clauses.are_met(self._decided(state), state.given)
            or not self._asked_of_keys <= state.given
        ):
            return False
        for other in state.avoid:  # noqa: SIM110  (no generator where it is compiled)
            if len(other[1]) == state.written:
                return False
        return True

    def _is_decided(self, index: int, state: ObjectState) -> bool:
        """Return whether a property was written, or was left out in the schema's order."""
        return bool(state.progress >> index & 1) if self.any_order else index < state.progress

    def forget(self) -> None:
        """Drop what was found out about states. It is found again when needed."""
        self._alive.clear()
        if self._clauses is not None:
            self._clauses.forget()

    def is_alive(self, state: ObjectState, must_add: bool = False) -> bool:
        """Return whether an object can be completed from a state; with `must_add`, by at least one more pair."""
        if not state.avoid and state.given == self.asked:
            return self._fits(state, must_add)
        if self.is_unsplit and self._clauses is None:
            return True  # further keys can satisfy all conditions
        if not must_add and self.is_closable(state):
            return True
        if not must_add and self._absent and not state.avoid:
            return self._can_end(state)
        if must_add and self.may_write_next(state):
            return True
        for pair in self._pairs(state):  # noqa: SIM110  (no generator where it is compiled)
            if self._can_end(pair.state):
                return True
        return False

    def splits_next(self, state: ObjectState) -> bool:
        """Return whether clauses that are open in a state ask for the values of the next property."""
        return self._clauses is not None and self._clauses.asks(state.progress, state.given)

    def may_write_next(self, state: ObjectState) -> bool:
        """Return whether the next property surely may be written: later ones can satisfy all clauses, whatever it is.

        Then its values need not be split by the clauses to find that out.
        """
        if self._clauses is None or self.any_order or self.counts or self._asked_of_keys or state.avoid:
            return False
        if state.progress >= len(self.properties):
            return False
        return self._clauses.surely_holds((1 << (state.progress + 1)) - 1, state.given)

    def _fits(self, state: ObjectState, must_add: bool) -> bool:
        """Return whether an object can be completed, where only counts and required properties matter."""
        need = self._missing(state) or int(must_add)
        if self.counts:
            need = max(need, self.low - state.written)
        if self.high is not None and state.written + need > self.high:
            return False
        if not need:
            return True
        if self.any_order:
            left = len(self.properties) - state.progress.bit_count()
        else:
            left = len(self.properties) - state.progress
        for found in self.classes:
            if need <= left:
                return True
            left += found.size if found.is_endless else found.left(state.seen)
        return need <= left

    def _can_end(self, state: ObjectState) -> bool:
        """Return whether an object can be completed from a state.

        Searches the states that follow, and keeps the results.
        """
        if self.is_unsplit and self._clauses is None:
            return True
        if self._clauses is not None and (self.is_unsplit or not self._asked_of_keys) and not state.avoid:
            if not self._clauses_can_hold(state):
                return False
            if not self.counts or state.written >= self.low or self._has_endless_keys:
                return self.high is None or self.low <= self.high
        found = self._alive.get(state)
        if found is not None:
            return found
        came_from: dict[ObjectState, ObjectState | None] = {state: None}
        waiting = [state]
        end: ObjectState | None = None
        while waiting and end is None:
            here = waiting.pop()
            is_simple = not here.avoid and here.given == self.asked
            if self._alive.get(here) or self.is_closable(here) or (is_simple and self._fits(here, False)):
                end = here
            elif here not in self._alive and not is_simple and self._clauses_can_hold(here):
                for after in self._following(here):
                    if after not in came_from and self._is_nearer(after, here):
                        came_from[after] = here
                        waiting.append(after)
            if len(came_from) > _MAX_STATES_SEARCHED:
                raise LimitExceededError("schema_nodes", self._lazy.space.limits.schema_nodes)
        if end is None:
            self._alive.update(dict.fromkeys(came_from, False))
            return False
        step: ObjectState | None = end
        while step is not None:
            self._alive[step] = True
            step = came_from[step]
        return True

    def _is_nearer(self, after: ObjectState, here: ObjectState) -> bool:
        """Return whether a pair may have led nearer to an end. One that only used up a key has not."""
        if after.progress != here.progress or after.given != here.given or here.avoid:
            return True
        return self.counts and here.written < self.low

    def check_clauses(self) -> None:
        """Refuse clauses that take long to decide, before any text is written. See `Clauses.check`."""
        if self._clauses is not None:
            self._clauses.check(-1 if self.high is None else self.high, any_order=self.any_order)

    def _clauses_can_hold(self, state: ObjectState) -> bool:
        """Return whether the properties to come can satisfy all clauses, with no more keys than `high` allows."""
        if self._clauses is None:
            return True
        left = -1 if self.high is None else self.high - state.written
        return self._clauses.can_hold(self._decided(state), state.given, left)

    def _decided(self, state: ObjectState) -> int:
        """Return a bit for each property that was written, or can no longer be."""
        return state.progress if self.any_order else (1 << state.progress) - 1

    def _following(self, state: ObjectState) -> Iterator[ObjectState]:
        """Yield states whose completions are those of a state; the last one is to be tried first.

        With clauses, one property after the other is decided: it is written, or never will be. The order of the
        properties does not matter to that, so there are fewer states than ways to write the object.
        """
        if not self._absent or state.avoid:
            for pair in self._pairs(state):
                yield pair.state
            return
        if self.high is not None and state.written >= self.high:
            return
        for index in range(len(self.properties)):
            if not self._is_decided(index, state):
                for pair in self.pairs_of_property(index, state):
                    yield pair.state
                if not self.properties[index].is_required:
                    given = state.given | self._absent[index]
                    progress = state.progress | 1 << index if self.any_order else index + 1
                    yield ObjectState(progress, state.written, given, state.seen)
                return
        for found in self.classes:
            if found.left(state.seen) > 0:
                for pair in self.pairs_of_class(found, state, None):
                    yield pair.state

    def _pairs(self, state: ObjectState) -> Iterator[Pair]:
        """Yield all pairs that may come next, even where the object cannot be completed after them."""
        if self.high is not None and state.written >= self.high:
            return
        here = state
        for index in range(len(self.properties)):
            if self.any_order:
                if not state.progress >> index & 1:
                    yield from self.pairs_of_property(index, state)
            elif index >= state.progress:
                yield from self.pairs_of_property(index, here)
                if self.properties[index].is_required:
                    return
                here = self.skipped(here)
        for found in self.classes:
            expected = self.open_keys(found, here)
            if found.is_endless or found.left(here.seen) > len(expected):
                yield from self.pairs_of_class(found, here, None)
            for key in expected:
                yield from self.pairs_of_class(found, here, key)

    def skipped(self, state: ObjectState) -> ObjectState:
        """Return the state after the next property was left out."""
        key = self.properties[state.progress].key
        avoid = frozenset([other for other in state.avoid if key not in members(other)]) if state.avoid else state.avoid
        given = state.given | self._absent[state.progress] if self._absent else state.given
        return ObjectState(state.progress + 1, state.written, given, state.seen, avoid)

    def _is_deferrable(self, node: Node) -> bool:
        """Return whether the text of a value of a node may decide what follows: it has parts, and can be captured.

        Scalars are split into cases, as these are few and simple.
        """
        lazy = self._lazy
        if self.counts or not lazy.captures or not isinstance(lazy.notation, JsonNotation):
            return False
        shape = lazy.shapes[node]
        return bool(shape.arrays or shape.objects) and not reaches_grammar(lazy, shape)

    def _must_split(self, part: ObjectSet) -> bool:
        """Return whether unsplit values must be split here: they cannot be captured, or later keys may not suffice.

        Raises:
            LimitExceededError: there are too many cases.
        """
        lazy = self._lazy
        nodes = [*part.class_nodes(), *part.properties.values()]
        can_capture = lazy.captures and isinstance(lazy.notation, JsonNotation)
        if can_capture and not any(lazy.holds(node) and reaches_grammar(lazy, lazy.shapes[node]) for node in nodes):
            endless = [other for other in part.key_cases() if self._unnamed_count(other[0]) == MAX_COUNTED_KEYS]
            able = [
                number
                for keys, cases in endless
                for number, node in part.asked_in(keys)
                if lazy.holds(meet(cases[0][1], node))
            ]
            if len(set(able)) == len(part.somewhere):
                return False
        if len(part.somewhere) > _MAX_SPLIT:
            message = "too many ways to meet the conditions on the keys of an object"
            raise LimitExceededError("schema_nodes", lazy.space.limits.schema_nodes, message=message)
        return True

    def _satisfied(self, deferred: int, value: Value) -> frozenset[int]:
        """Return the conditions that a deferred value satisfies; see `Pair.deferred`."""
        shape_of = self._lazy.space.shape
        found: frozenset[int] = _NONE
        asked: list[tuple[int, Node]] = []
        if deferred < 0:
            asked = self._asked_in[-1 - deferred]
        else:
            key = self.properties[deferred - 1].key
            asked = self._part.asked_of(key)
            if self._clauses is not None:
                found = self._clauses.satisfied(deferred - 1, lambda node: surely_in(shape_of, node, value))
        return found.union([number for number, node in asked if surely_in(shape_of, node, value)])

    def state_after(self, deferred: int, state: ObjectState, text: bytes | None) -> ObjectState:
        """Return the state after a deferred value.

        Args:
            deferred: see `Pair.deferred`.
            state: the state after a value that decides nothing.
            text: the value's text. For an unknown text, the state has all continuations after any text.
        """
        given = self.asked
        if text is not None:
            given = state.given | self._satisfied(deferred, read_value(text))
        return self.normal(ObjectState(state.progress, state.written, given, state.seen))

    def pairs_of_property(self, index: int, state: ObjectState) -> Iterable[Pair]:
        """Return the pairs of a property that may come next."""
        entry = self.properties[index]
        progress = state.progress | 1 << index if self.any_order else index + 1
        after = ObjectState(progress, state.written, state.given, state.seen, state.avoid)
        cases = entry.cases
        if self._clauses is not None:
            if not state.avoid and state.given != self.asked:
                open_case = self._clauses.deferred(index, self._decided(state), state.given)
                if open_case is not None:
                    given, node = open_case
                    after = ObjectState(progress, state.written + 1, state.given | given, state.seen)
                    return [Pair(entry.key, node, _NONE, self.normal(after), index + 1)]
            cases = self._clauses.cases(index, self._decided(state), state.given)
        return self.pairs_of_key(entry.key, entry.node, cases, after, index + 1 if self.is_unsplit else 0)

    def pairs_of_class(self, found: OtherKeys, state: ObjectState, key: str | None) -> Iterable[Pair]:
        """Return the pairs of one key of a class; None stands for any unseen key of it."""
        cases = found.cases
        if found.is_mixed and key is not None:
            cases = self.cases_after(self.values_of(key))
        node = cases[0][1] if len(cases) == 1 else None
        if key is None:
            seen = state.seen if found.is_endless else state.seen | {f"{found.mark}{len(state.seen)}"}
            after = ObjectState(state.progress, state.written, state.given, seen)
        else:
            after = ObjectState(state.progress, state.written, state.given, state.seen | {key}, state.avoid)
        deferred = -1 - self.classes.index(found) if self.is_unsplit else 0
        return self.pairs_of_key(key, node, cases, after, deferred)

    def pairs_of_key(
        self, key: str | None, node: Node | None, cases: Sequence[Case], state: ObjectState, deferred: int
    ) -> Iterable[Pair]:
        """Return a key's pairs, split by the conditions that values satisfy and the excluded objects that still agree.

        Args:
            key: the key; None for any unseen key of a class.
            node: the node of the value, where it is one.
            cases: the values, split by the conditions of `ObjectSet.somewhere`.
            state: the state after the key.
            deferred: see `Pair`; used where a condition is left.
        """
        if not self.asked or state.given == self.asked:
            deferred = 0
            if node is not None:
                cases = ((_NONE, node),)
        if state.avoid:
            return self._pairs_unlike(key, cases, state, deferred)
        found: list[Pair] = []
        for given, mine in cases:
            if self._lazy.holds(mine):
                all_given = state.given | given if given else state.given
                after = ObjectState(state.progress, state.written + 1, all_given, state.seen)
                found.append(Pair(key, mine, _NONE, self.normal(after), deferred))
        return found

    def _pairs_unlike(
        self, key: str | None, cases: Sequence[Case], state: ObjectState, deferred: int
    ) -> Iterator[Pair]:
        """Yield a key's pairs where some objects are excluded; see `pairs_of_key`."""
        for given, mine in cases:
            all_given = state.given | given if given else state.given
            written = state.written + 1
            same: dict[Value, list[Value]] = {}
            for other in state.avoid:
                value = members(other).get(key) if key is not None else None
                if value is not None:
                    same.setdefault(value, []).append(other)
            for value, others in same.items():
                const = self._lazy.among((value,), mine)
                if self._lazy.holds(const):
                    met = all_given | self._satisfied(deferred, value) if deferred else all_given
                    after = ObjectState(state.progress, written, met, state.seen, frozenset(others))
                    yield Pair(key, const, _NONE, self.normal(after))
            values = frozenset(same)
            if self._lazy.holds_without(mine, values):
                after = ObjectState(state.progress, written, all_given, state.seen)
                yield Pair(key, mine, values, self.normal(after), deferred)

    def normal(self, state: ObjectState) -> ObjectState:
        """Return one representative for all states with the same continuations."""
        if state.avoid or self.high is not None:
            return state
        count = min(state.written, self.low) if self.counts else 0
        return state if count == state.written else ObjectState(state.progress, count, state.given, state.seen)

    def open_keys(self, found: OtherKeys, state: ObjectState) -> list[str]:
        """Return the keys of a class that excluded objects have and that were not written yet."""
        if not state.avoid:
            return []
        keys = {key for other in state.avoid for key in members(other)}.difference(state.seen, self.names)
        return sorted([key for key in keys if found.keys.contains(key)])

    def is_alive_after(self, pair: Pair) -> bool:
        """Return whether the object can be completed after a pair."""
        return (self.high is None or pair.state.written <= self.high) and self.is_alive(pair.state)

    def any_is_alive_after(self, pairs: Iterable[Pair]) -> bool:
        """Return whether the object can be completed after one of some pairs."""
        for pair in pairs:  # noqa: SIM110  (no generator where it is compiled)
            if self.is_alive_after(pair):
                return True
        return False
