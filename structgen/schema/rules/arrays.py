"""Rules of one set of arrays, named by states.

A state is what was written of an array, as far as it decides what may follow (`ArrayState`); where only the number of
items matters, it is that number. For arrays of one to three integers, with the set's number 0:

    (0, "first", 0)   ->   [  (0, "item", 0)
    (0, "item", 0)    ->   integer  (0, "then", 1)
    (0, "then", 1)    ->   ]    or   ,  (0, "item", 1)
    …
    (0, "then", 3)    ->   ]

A state is alive if some array of the set can be completed from it. Rules lead to states that are alive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from structgen.engine.deadlines import spend
from structgen.engine.grammar.tables import Capture, Lazy, Refusals, Symbol
from structgen.engine.regex.tree import NOTHING, Regex
from structgen.schema.algebra import ArraySet, Case, Contains, Inexpressible, Node, any_of, meet
from structgen.schema.algebra.counting import can_be_met
from structgen.schema.algebra.shape import Shape
from structgen.schema.json_text.values import Value, read_value
from structgen.schema.reading.distinct_items import can_differ, needed_values
from structgen.schema.reading.emptiness import can_repeat
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.notation import JsonNotation
from structgen.schema.rules.states import ArrayState
from structgen.schema.rules.written_sets import Written, rests_of, text_of, with_written

__all__ = ["ArrayRules"]

_NO_VALUES: frozenset[Value] = frozenset()
_MAX_REMAINING = 64  # terminals without some strings that are kept

_ShortState = ArrayState | int
"""A state; just the number of items, where nothing else matters."""


class _Item(NamedTuple):
    """An item that may come next: a value of `node` not in `values`, and the state after it."""

    node: Node
    values: Written
    state: _ShortState


class _Refusing(NamedTuple):
    """After a captured string: the state without that string, the node of the item, and the values it must not have."""

    then: ArrayState
    node: Node
    values: Written


def _next_items(state: ArrayState) -> dict[Value, list[Value]]:
    """Return the next items of the excluded arrays, each with the arrays that have it."""
    same: dict[Value, list[Value]] = {}
    for other in state.avoid:
        if len(other[1]) > state.written:
            same.setdefault(other[1][state.written], []).append(other)
    return same


def _only_terminal(symbols: Sequence[Symbol]) -> Regex:
    """Return the terminal of strings; there may be none."""
    if not symbols:
        return NOTHING
    if len(symbols) > 1 or isinstance(symbols[0], (Lazy, Capture)):
        raise TypeError("strings are one terminal")
    return symbols[0]


class ArrayRules:
    """The rules of a set of arrays.

    Kinds of nonterminals: "first", the whole array; "item", an item and what follows it; "then", what follows an item.

    Attributes:
        part: the set.
        max_items: the maximum number of items, by bounds and by items without a value; None for no bound.
    """

    def __init__(self, lazy: LazyRules, part: ArraySet, number: int) -> None:
        if part.repeats is not None and not lazy.captures:
            raise Inexpressible("uniqueItems")
        self._lazy = lazy
        self.part = part
        self._number = number
        self._layout = lazy.layout
        self._cap = max(part.settled, part.low) if part.high is None else part.high + 1
        self._last_plain = max(part.settled, self._cap - 1)  # after so many items, the next one is like all later ones
        self._alive: dict[ArrayState, bool] = {}
        self._needed_after: dict[ArrayState, frozenset[Value]] = {}
        self._strings: dict[Node, Regex] = {}
        self._remaining: dict[tuple[Node, frozenset[Value]], Regex] = {}  # by the node, and the strings left out
        self._is_plain = not part.contains and part.repeats is None
        self.max_items = self._find_max_items()
        self._is_endless = part.repeats is False and all(
            lazy.is_endless(node) for index in range(part.settled + 1) for _, node in part.cases(index)
        )
        self._most_distinct = self._find_most_distinct()

    def _find_max_items(self) -> int | None:
        part, holds = self.part, self._lazy.holds
        for index, node in enumerate(part.prefix[: part.high]):
            if not holds(node):
                return index
        size = len(part.prefix)
        return size if (part.high is None or part.high > size) and not holds(part.rest) else part.high

    def _find_most_distinct(self) -> float:
        """Return the largest number of items for which each item only has to differ from those before.

        Up to that number, each item has a value left, whatever was written. The number is infinite if each item has
        infinitely many values, and 0 if items must satisfy more conditions.
        """
        part = self.part
        if part.repeats is not False or part.contains or (part.high is not None and part.low > part.high):
            return 0
        if self._is_endless:
            return math.inf
        nodes = [node for index in range(part.settled + 1) for _, node in part.cases(index)]
        return min(map(self._lazy.least_values, nodes))

    def _is_distinct(self, state: ArrayState, items: int = 1) -> bool:
        """Return whether `items` more items only have to differ from those seen; see `_find_most_distinct`."""
        needed = len(state.seen) + items
        return not state.avoid and max(needed, self.part.low) <= self._most_distinct

    def is_repetition(self, state: _ShortState) -> bool:
        """Return whether a state is the first one, and only the number of items matters."""
        return state == 0

    def start(self, avoid: frozenset[Value] = _NO_VALUES) -> _ShortState:
        """Return the state before the first item. See `SetRules.start`."""
        if self._is_plain and not avoid:
            return 0
        return ArrayState(0, (0,) * len(self.part.contains), avoid=avoid)

    # --- transitions -------------------------------------------------------------------------------------------------

    def _is_closable(self, state: _ShortState) -> bool:
        """Return whether the array may be closed in a state."""
        if isinstance(state, int):
            return self._fits(state)
        if not self._fits(state.written) or self._must_repeat(state):
            return False
        for count, asked in zip(state.counts, self.part.contains, strict=True):
            if count < asked.low or (asked.high is not None and count > asked.high):
                return False
        return all(len(other[1]) != state.written for other in state.avoid)

    def _must_repeat(self, state: ArrayState) -> bool:
        """Return whether two items must be equal and none are yet."""
        return bool(self.part.repeats) and not state.repeats

    def _fits(self, written: int) -> bool:
        """Return whether an array of the set may have so many items."""
        return written >= self.part.low and (self.part.high is None or written <= self.part.high)

    def is_alive(self, state: _ShortState) -> bool:
        """Return whether an array of the set can be completed from a state. See `SetRules.is_alive`."""
        if isinstance(state, int):
            return self.max_items is None or max(self.part.low, state) <= self.max_items
        found = self._alive.get(state)
        if found is None:
            if state.avoid:
                return self._can_end(state)
            found = self._alive[state] = self._can_be_met(state)
        return found

    def _can_end(self, state: ArrayState) -> bool:
        """Return whether some array that is not excluded can be completed from a state.

        `state.avoid` has the excluded arrays that agree with the items so far. This searches the states after further
        items that agree with some of them, without recursion, as excluded arrays may be long.
        """
        came_from: dict[ArrayState, ArrayState | None] = {state: None}
        waiting = [state]
        end: ArrayState | None = None
        while waiting and end is None:
            here = waiting.pop()
            spend(1)
            if self._alive.get(here) or self._is_closable(here) or any(True for _ in self._items_apart(here)):
                end = here
            elif here not in self._alive:
                for item in self._items_shared(here):
                    after = item.state
                    if isinstance(after, ArrayState) and after not in came_from:
                        came_from[after] = here
                        waiting.append(after)
        if end is None:
            self._alive.update(dict.fromkeys(came_from, False))
            return False
        while end is not None:
            self._alive[end] = True
            end = came_from[end]
        return True

    def _can_be_met(self, state: ArrayState) -> bool:
        """Return whether some array satisfies all that is left to satisfy."""
        left, holds = self._left(state), self._lazy.holds
        if (left.high is not None and left.high < left.low) or any(
            asked.high is not None and asked.high < asked.low for asked in left.contains
        ):
            return False
        if left.repeats is None:
            return can_be_met(left, holds)
        if left.repeats is False:
            return can_differ(left, holds, self._lazy.space.sizes(), frozenset(state.seen))
        return can_repeat(left, holds) or bool(self._repeatable(left, self._lazy.among(state.seen)))

    def _left(self, state: ArrayState) -> ArraySet:
        """Return the set of the arrays of remaining items: the remaining prefix, counts and bounds."""
        part = self.part
        left = ArraySet(
            part.prefix[state.written :],
            part.rest,
            max(part.low - state.written, 0),
            None if part.high is None else part.high - state.written,
            tuple(
                Contains(
                    max(asked.start - state.written, 0),
                    asked.node,
                    max(asked.low - count, 0),
                    None if asked.high is None else asked.high - count,
                )
                for asked, count in zip(part.contains, state.counts, strict=True)
            ),
            None if state.repeats else part.repeats,
        )
        if part.known_cases is not None:
            left.known_cases = {index: part.cases(state.written + index) for index in range(left.settled + 1)}
        return left

    def _repeatable(self, left: ArraySet, node: Node) -> list[Node]:
        """Return the nodes of the values in `node` that an item of `left` may equal, while `left` stays satisfiable."""
        holds = self._lazy.holds
        last = left.settled if left.high is None else min(left.settled, left.high - 1)
        return [
            shared
            for index in range(last + 1)
            for _, shared in left.counted(meet(node, left.at(index)))
            if holds(shared) and can_be_met(left.having((index,), shared), holds)
        ]

    def _items(self, state: ArrayState) -> Iterator[_Item]:
        """Yield all items that may come next and leave the state alive."""
        if state.avoid:
            for item in self._items_shared(state):
                if self.is_alive(item.state):
                    yield item
        yield from self._items_apart(state)

    def _items_shared(self, state: ArrayState) -> Iterator[_Item]:
        """Yield the items that may come next and that some excluded array has there. They may leave no end."""
        part, lazy = self.part, self._lazy
        if part.high is not None and state.written >= part.high:
            return
        same = _next_items(state)
        for given, node in self._cases(state):
            if lazy.holds(node):
                after = self._after(state, given)
                for value, others in same.items():
                    shared = lazy.among((value,), node)
                    is_new = part.repeats is not False or value not in state.seen
                    if is_new and lazy.holds(shared):
                        yield _Item(shared, _NO_VALUES, self._after_value(after, value, frozenset(others)))

    def _items_apart(self, state: ArrayState) -> Iterator[_Item]:
        """Yield the items that may come next and that no excluded array has there, if they leave the state alive."""
        part, lazy = self.part, self._lazy
        if part.high is not None and state.written >= part.high:
            return
        if self._is_distinct(state):
            yield self._distinct_item(state)
            return
        same = _next_items(state)
        for given, node in self._cases(state):
            if not lazy.holds(node):
                continue
            after = self._after(state, given)
            values = state.seen.union(same)
            after = ArrayState(after.written, after.counts, after.seen, repeats=after.repeats)
            if part.repeats is False:
                values |= self._needed(after)
            if self._must_repeat(state):
                again = lazy.among(state.seen.difference(same), node)
                item = _Item(again, _NO_VALUES, self._normal(ArrayState(after.written, after.counts, repeats=True)))
                if lazy.holds(again) and self.is_alive(item.state):
                    yield item
                if not self.is_alive(after):  # a new value must be repeated later
                    node = any_of(self._repeatable(self._left(after), node))
            item = _Item(node, values, self._normal(after))
            if lazy.holds_without(node, values) and (self._must_repeat(state) or self._is_alive_after(item)):
                yield item

    def _distinct_item(self, state: ArrayState) -> _Item:
        """Return the next item where items must only differ from those seen, and others are always left."""
        after = ArrayState(min(state.written + 1, self._cap), state.counts, state.seen)
        return _Item(self.part.at(state.written), state.seen, after)

    def _needed(self, after: ArrayState) -> frozenset[Value]:
        """Return the values that no item may have before a state, because a later item must have them."""
        found = self._needed_after.get(after)
        if found is None:
            found = self._needed_after[after] = self._made_needed(after)
        return found

    def _made_needed(self, after: ArrayState) -> frozenset[Value]:
        left, holds, sizes = self._left(after), self._lazy.holds, self._lazy.space.sizes()
        if left.has_empty or (left.high is not None and left.high < left.low):
            return _NO_VALUES
        if left.settled:
            return needed_values(left, holds, sizes, frozenset(after.seen))
        groups = [(sizes.values(node) or _NO_VALUES).difference(after.seen) for _, node in left.cases(0)]
        needed: set[Value] = set()
        for values in groups:  # all items are alike: all values of a case are needed, or none is
            if values and not can_differ(left, holds, sizes, after.seen.union([next(iter(values))])):
                needed |= values
        return frozenset(needed)

    def _cases(self, state: ArrayState) -> list[Case]:
        """Return the node of the next item, split by the counts that it adds to.

        Where two items must be equal, it is also split by the counts of later items, as it may come again there.
        """
        part = self.part
        index = min(state.written, part.settled)
        return part.counted(part.at(index)) if self._must_repeat(state) else part.cases(index)

    def _after_value(self, after: ArrayState, value: Value, avoid: frozenset[Value]) -> ArrayState:
        """Return the state after an item whose value is known."""
        if self.part.repeats is None or after.repeats:
            return ArrayState(after.written, after.counts, after.seen, avoid, after.repeats)
        if self.part.repeats and value in after.seen:
            return ArrayState(after.written, after.counts, _NO_VALUES, avoid, True)
        return ArrayState(after.written, after.counts, after.seen | {value}, avoid)

    def _is_alive_after(self, item: _Item) -> bool:
        """Return whether the array can be completed after some value of the item."""
        if self.part.repeats is False and not isinstance(item.state, int):
            return self._can_be_met(item.state)
        return self.is_alive(item.state)

    def _after(self, state: ArrayState, given: frozenset[int]) -> ArrayState:
        """Return the state after an item that adds to the counts `given`."""
        counts = tuple(
            count + 1
            if number in given and asked.start <= state.written and (asked.high is not None or count < asked.low)
            else count
            for number, (count, asked) in enumerate(zip(state.counts, self.part.contains, strict=True))
        )
        return ArrayState(state.written + 1, counts, state.seen, state.avoid, state.repeats)

    def _normal(self, state: ArrayState) -> _ShortState:
        """Return one representative for all states with the same continuations."""
        if state.avoid:
            return state
        written = min(state.written, self._cap)
        if self._is_plain or (state.repeats and not self.part.contains):
            return written
        return ArrayState(written, state.counts, state.seen, repeats=state.repeats)

    # --- rules -------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str, state: _ShortState) -> Sequence[Sequence[Symbol]]:
        """Return the bodies of a kind of nonterminal in a state. See `SetRules.bodies`."""
        if kind == "item":
            return [self._plain_body(state)] if isinstance(state, int) else self._item_bodies(state)
        layout = self._layout
        found: list[Sequence[Symbol]] = []
        if self._is_closable(state):
            found.append((layout.open_array, layout.end_array) if kind == "first" else (layout.close_array,))
        if self._may_go_on(state):
            item = Lazy((self._number, "item", min(state, self._last_plain) if isinstance(state, int) else state))
            found.append((layout.open_array if kind == "first" else layout.comma, item))
        return found

    def _may_go_on(self, state: _ShortState) -> bool:
        """Return whether another item may come."""
        if isinstance(state, int):
            return self.max_items is None or (state < self.max_items and self.part.low <= self.max_items)
        if self._is_distinct(state):
            return self.part.high is None or state.written < self.part.high
        return self._has_item(state)

    def _has_item(self, state: ArrayState) -> bool:
        return any(True for _ in self._items(state))

    def _plain_body(self, written: int) -> Sequence[Symbol]:
        """Return an item and what follows, where only the number of items matters."""
        after = min(written + 1, self._cap)
        return self._lazy.symbol(self.part.at(written)), Lazy((self._number, "then", after))

    def _item_bodies(self, state: ArrayState) -> list[Sequence[Symbol]]:
        if self._is_distinct(state):
            return self._bodies_of(self._distinct_item(state), state)
        return [body for item in self._items(state) for body in self._bodies_of(item, state)]

    def _bodies_of(self, item: _Item, before: ArrayState) -> list[Sequence[Symbol]]:
        """Return an item and what follows: one body, or one for its strings and others for other values."""
        lazy, number, after = self._lazy, self._number, item.state
        if isinstance(after, int) or self.part.repeats is None or after.repeats:
            return [(lazy.symbol_without(item.node, item.values), Lazy((number, "then", after)))]
        then = ArrayState(after.written, after.counts, before.seen, after.avoid)
        is_endless = self._is_endless or self._is_distinct(before, 2)
        if not item.values or not self._are_refused_at_end(item.node, before):
            return [self._captured(lazy.symbol_without(item.node, item.values), then, is_endless)]
        key = (number, _Refusing(then, item.node, item.values))
        strings = Capture(self._strings_of(item.node), key, is_endless, True)
        others = lazy.others_without(item.node, item.values)
        return [(strings,), *[self._captured(symbol, then, is_endless) for symbol in others]]

    def _captured(self, symbol: Symbol, then: ArrayState, is_endless: bool) -> Sequence[Symbol]:
        """Return the body of an item that is captured as a whole, and none of whose texts is refused where it ends."""
        if isinstance(symbol, Capture):
            raise TypeError("a captured symbol cannot be captured as a whole")
        return (Capture(symbol, (self._number, then), is_endless),)

    def _are_refused_at_end(self, node: Node, before: ArrayState) -> bool:
        """Return whether strings that are items already are refused where they end, as those of keys are.

        A terminal without the seen texts would be a new one for each item. Strings have few spellings, so the rests of
        those that are refused are known.
        """
        if self.part.repeats is not False or before.avoid or not isinstance(self._lazy.notation, JsonNotation):
            return False
        strings = self._lazy.shapes[node].strings
        return len(strings) == 1 and strings[0].texts is None and not strings[0].grammars

    def _strings_of(self, node: Node) -> Regex:
        """Return the terminal of the strings of a node, the same object each time."""
        found = self._strings.get(node)
        if found is None:
            found = self._strings[node] = _only_terminal(
                self._lazy.scalars(Shape(strings=self._lazy.shapes[node].strings))
            )
        return found

    def refusals(self, then: _Refusing, begun: bytes) -> Refusals:
        """Return the completions of strings that are items already. See `RuleSource.refusals`."""
        return rests_of(self._lazy.notation, then.values, begun)

    def least_bytes(self, kind: str | int, state: _ShortState) -> int:
        """Return a lower bound of the bytes of a kind of nonterminal in a state. See `SetRules.least_bytes`."""
        return max(1, 2 * (self.part.low - (state if isinstance(state, int) else state.written)))

    def remaining(self, then: _Refusing, least: int) -> Regex:
        """Return the terminal of an item without the long ones of those refused. See `RuleSource.remaining`."""
        long = frozenset([value for value in then.values if len(text_of(value) or "") >= least])
        found = self._remaining.get((then.node, long))
        if found is None:
            strings = self._lazy.strings_without(then.node, long)
            if len(self._remaining) >= _MAX_REMAINING:
                self._remaining.clear()
            found = self._remaining[then.node, long] = _only_terminal(strings)
        return found

    def ladder(self, state: Any) -> None:
        """Return None: there are no pairs. See `SetRules.ladder`."""

    def forget(self) -> None:
        """Drop what was computed for written items. See `RuleSource.forget`."""
        self._alive.clear()
        self._needed_after.clear()
        self._remaining.clear()

    def after(self, then: ArrayState | _Refusing, text: bytes | None) -> tuple[str, _ShortState] | None:
        """Return the state after an item that differs from those seen. See `SetRules.after`."""
        state = then.then if isinstance(then, _Refusing) else then
        if text is None:
            if self.part.repeats:  # the next item may equal this one, and then all that follows is free
                state = ArrayState(state.written, state.counts, _NO_VALUES, state.avoid, True)
                return "then", self._normal(state)
            return "then", state
        value = read_value(text)
        if isinstance(then, _Refusing) and value in then.values:
            return None
        return "then", ArrayState(state.written, state.counts, with_written(state.seen, value), state.avoid)
