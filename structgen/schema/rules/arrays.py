"""The rules of one set of arrays: places, named by what was written before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structgen.engine.grammar.tables import Capture, Lazy, Spelling, Symbol
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import ArraySet, Case, Contains, Inexpressible, Node, any_of, meet
from structgen.schema.algebra.counting import can_be_met
from structgen.schema.json_text.values import Value, read_value
from structgen.schema.reading.emptiness import can_differ, can_repeat
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.states import ArrayState

__all__ = ["ArrayRules"]

_NO_VALUES: frozenset[Value] = frozenset()

_Written = ArrayState | int
"""A state; where nothing matters but how many items were written, that alone."""


class _Item(NamedTuple):
    """An item that may come next: a value of `node` but for `values`, and the state after it."""

    node: Node
    values: frozenset[Value]
    state: _Written


class ArrayRules:
    """The rules of a set of arrays by `ArrayState`. Kinds of places: "first", before the array; "item", where an item
    must follow; "then", after one.

    Attributes:
        part: the set.
        most: how many items there can be, as far as bounds and items without a value say; None: no bound.
    """

    def __init__(self, lazy: LazyRules, part: ArraySet, number: int) -> None:
        if part.repeats is not None and not lazy.captures:
            raise Inexpressible("uniqueItems")
        self._lazy = lazy
        self.part = part
        self._number = number
        self._layout = lazy.layout
        self._cap = max(part.settled, part.low) if part.high is None else part.high + 1
        self._alive: dict[ArrayState, bool] = {}
        self._needed_after: dict[ArrayState, frozenset[Value]] = {}
        self._is_plain = not part.contains and part.repeats is None
        self.most = self._most_items()
        self._is_endless = part.repeats is False and all(
            lazy.is_endless(node) for index in range(part.settled + 1) for _, node in part.cases(index)
        )

    def _most_items(self) -> int | None:
        part, holds = self.part, self._lazy.holds
        for index, node in enumerate(part.prefix[: part.high]):
            if not holds(node):
                return index
        size = len(part.prefix)
        return size if (part.high is None or part.high > size) and not holds(part.rest) else part.high

    def is_repetition(self, state: _Written) -> bool:
        """Whether nothing matters at a place, the first, but how many items there are."""
        return state == 0

    def start(self, avoid: frozenset[Value] = _NO_VALUES) -> _Written:
        """See `Places`."""
        if self._is_plain and not avoid:
            return 0
        return ArrayState(0, (0,) * len(self.part.contains), avoid=avoid)

    # --- what may follow ---------------------------------------------------------------------------------------------

    def _is_closable(self, state: _Written) -> bool:
        if isinstance(state, int):
            return self._fits(state)
        if not self._fits(state.written) or self._must_repeat(state):
            return False
        for count, asked in zip(state.counts, self.part.contains, strict=True):
            if count < asked.low or (asked.high is not None and count > asked.high):
                return False
        return all(len(other[1]) != state.written for other in state.avoid)

    def _must_repeat(self, state: ArrayState) -> bool:
        """Whether an item has still to be equal to another one."""
        return bool(self.part.repeats) and not state.repeats

    def _fits(self, written: int) -> bool:
        """Whether there may be so many items."""
        return written >= self.part.low and (self.part.high is None or written <= self.part.high)

    def is_alive(self, state: _Written) -> bool:
        """See `Places`."""
        if isinstance(state, int):
            return self.most is None or max(self.part.low, state) <= self.most
        found = self._alive.get(state)
        if found is None:
            if state.avoid:
                found = self._is_closable(state) or any(True for _ in self._items(state))
            else:
                found = self._can_be_met(state)
            self._alive[state] = found
        return found

    def _can_be_met(self, state: ArrayState) -> bool:
        """Whether what is left to be written can be."""
        left, holds = self._left(state), self._lazy.holds
        if (left.high is not None and left.high < left.low) or any(
            asked.high is not None and asked.high < asked.low for asked in left.contains
        ):
            return False
        if left.repeats is None:
            return can_be_met(left, holds)
        if left.repeats is False:
            return can_differ(left, holds, self._lazy.space.sizes(), state.seen)
        return can_repeat(left, holds) or bool(self._repeatable(left, self._lazy.among(state.seen)))

    def _left(self, state: ArrayState) -> ArraySet:
        """What is left to be written is an array of a set itself."""
        part = self.part
        return ArraySet(
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

    def _repeatable(self, left: ArraySet, node: Node) -> list[Node]:
        """Those values of `node` to which an item of what is left can be equal, with all else met."""
        holds = self._lazy.holds
        last = left.settled if left.high is None else min(left.settled, left.high - 1)
        return [
            shared
            for index in range(last + 1)
            for _, shared in left.counted(meet(node, left.at(index)))
            if holds(shared) and can_be_met(left.having((index,), shared), holds)
        ]

    def _items(self, state: ArrayState) -> Iterator[_Item]:
        """All items that may come next, after which the array can be ended."""
        part, lazy = self.part, self._lazy
        if part.high is not None and state.written >= part.high:
            return
        for given, node in self._cases(state):
            if not lazy.holds(node):
                continue
            after = self._after(state, given)
            same: dict[Value, list[Value]] = {}
            for other in state.avoid:
                if len(other[1]) > state.written:
                    same.setdefault(other[1][state.written], []).append(other)
            for value, others in same.items():
                item = _Item(lazy.among((value,), node), _NO_VALUES, self._after_value(after, value, frozenset(others)))
                is_new = part.repeats is not False or value not in state.seen
                if is_new and lazy.holds(item.node) and self.is_alive(item.state):
                    yield item
            values = state.seen.union(same)
            after = ArrayState(after.written, after.counts, after.seen, repeats=after.repeats)
            if part.repeats is False:
                values |= self._needed(after)
            if self._must_repeat(state):
                again = lazy.among(state.seen.difference(same), node)
                item = _Item(again, _NO_VALUES, self._normal(ArrayState(after.written, after.counts, repeats=True)))
                if lazy.holds(again) and self.is_alive(item.state):
                    yield item
                if not self.is_alive(after):  # a new value has to come again itself
                    node = any_of(self._repeatable(self._left(after), node))
            item = _Item(node, values, self._normal(after))
            if lazy.holds_without(node, values) and (self._must_repeat(state) or self._goes_on(item)):
                yield item

    def _needed(self, after: ArrayState) -> frozenset[Value]:
        """The values that no item may have before a state, because a later one has to."""
        found = self._needed_after.get(after)
        if found is None:
            found = self._needed_after[after] = self._made_needed(after)
        return found

    def _made_needed(self, after: ArrayState) -> frozenset[Value]:
        left, holds, sizes = self._left(after), self._lazy.holds, self._lazy.space.sizes()
        if left.has_empty or (left.high is not None and left.high < left.low):
            return _NO_VALUES
        few = [sizes.values(node) or _NO_VALUES for at in range(left.settled + 1) for _, node in left.cases(at)]
        rare = _NO_VALUES.union(*few) - after.seen
        return frozenset(value for value in rare if not can_differ(left, holds, sizes, after.seen | {value}))

    def _cases(self, state: ArrayState) -> list[Case]:
        """The next item, by which counts it adds to; where it may have to come again, by those of later items, too."""
        part = self.part
        index = min(state.written, part.settled)
        return part.counted(part.at(index)) if self._must_repeat(state) else part.cases(index)

    def _after_value(self, after: ArrayState, value: Value, avoid: frozenset[Value]) -> ArrayState:
        """The state after an item, when that is known."""
        if self.part.repeats is None or after.repeats:
            return ArrayState(after.written, after.counts, after.seen, avoid, after.repeats)
        if self.part.repeats and value in after.seen:
            return ArrayState(after.written, after.counts, _NO_VALUES, avoid, True)
        return ArrayState(after.written, after.counts, after.seen | {value}, avoid)

    def _goes_on(self, item: _Item) -> bool:
        """Whether the array can be ended after some value of the item."""
        if self.part.repeats is False and not isinstance(item.state, int):
            return self._can_be_met(item.state)
        return self.is_alive(item.state)

    def _after(self, state: ArrayState, given: frozenset[int]) -> ArrayState:
        counts = tuple(
            count + 1
            if number in given and asked.start <= state.written and (asked.high is not None or count < asked.low)
            else count
            for number, (count, asked) in enumerate(zip(state.counts, self.part.contains, strict=True))
        )
        return ArrayState(state.written + 1, counts, state.seen, state.avoid, state.repeats)

    def _normal(self, state: ArrayState) -> _Written:
        """Equal for states after which the same follows."""
        if state.avoid:
            return state
        written = min(state.written, self._cap)
        if self._is_plain or (state.repeats and not self.part.contains):
            return written
        return ArrayState(written, state.counts, state.seen, repeats=state.repeats)

    # --- rules -------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str, state: _Written) -> Sequence[Sequence[Symbol]]:
        """See `Places`."""
        if kind == "item":
            return [self._plain_body(state)] if isinstance(state, int) else self._item_bodies(state)
        layout = self._layout
        found: list[Sequence[Symbol]] = []
        if self._is_closable(state):
            found.append((layout.open_array, layout.end_array) if kind == "first" else (layout.close_array,))
        if self._may_go_on(state):
            item = Lazy((self._number, "item", state))
            found.append((layout.open_array if kind == "first" else layout.comma, item))
        return found

    def _may_go_on(self, state: _Written) -> bool:
        """Whether an item may come next."""
        if isinstance(state, int):
            return self.most is None or (state < self.most and self.part.low <= self.most)
        return any(True for _ in self._items(state))

    def _plain_body(self, written: int) -> Sequence[Symbol]:
        """An item, where nothing matters but how many there are."""
        after = min(written + 1, self._cap)
        return self._lazy.symbol(self.part.at(written)), Lazy((self._number, "then", after))

    def _item_bodies(self, state: ArrayState) -> list[Sequence[Symbol]]:
        return [self._body(item, state) for item in self._items(state)]

    def _body(self, item: _Item, before: ArrayState) -> Sequence[Symbol]:
        symbol = self._lazy.symbol_without(item.node, item.values)
        after = item.state
        if isinstance(after, int) or self.part.repeats is None or after.repeats:
            return symbol, Lazy((self._number, "then", after))
        if isinstance(symbol, Capture):
            raise TypeError("a captured symbol cannot be captured as a whole")
        then = ArrayState(after.written, after.counts, before.seen, after.avoid)
        return (Capture(symbol, (self._number, then), self._is_endless),)

    def refusals(self, then: ArrayState, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """See `RuleSource`: items are made without those seen."""
        return (), ()

    def remaining(self, then: ArrayState) -> Regex:
        """See `RuleSource`."""
        raise TypeError("no item refuses a text")

    def after(self, then: ArrayState, text: bytes | None) -> tuple[str, ArrayState]:
        """See `Places`: after an item that differs from those seen."""
        if text is None:
            return "then", then
        seen = then.seen | {read_value(text)}
        return "then", ArrayState(then.written, then.counts, seen, then.avoid)
