"""The rules of one set of arrays: places, named by what was written before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structgen.engine.grammar import Capture, Lazy, Spelling, Symbol
from structgen.engine.regex import Regex
from structgen.schema.algebra import ArraySet, Contains, Inexpressible, Node
from structgen.schema.algebra.counting import can_be_met
from structgen.schema.emptiness import can_differ
from structgen.schema.lazy import LazyRules
from structgen.schema.members import ArrayState
from structgen.schema.values import Value, read_value, spelled

__all__ = ["ArrayPlaces"]


_Written = ArrayState | int
"""A state; where nothing matters but how many items were written, that alone."""


class _Item(NamedTuple):
    """An item that may come next: a value of `node` but for `values`, and the state after it."""

    node: Node
    values: frozenset[Value]
    state: _Written


class ArrayPlaces:
    """The rules of a set of arrays by `ArrayState`. Kinds of places: "first", before the array; "item", where an item
    must follow; "then", after one.

    Attributes:
        part: the set.
        most: how many items there can be, as far as bounds and items without a value say; None: no bound.
    """

    def __init__(self, lazy: LazyRules, part: ArraySet, number: int) -> None:
        if part.unique and not lazy.captures:
            raise Inexpressible("uniqueItems")
        self._lazy = lazy
        self.part = part
        self._number = number
        self._layout = lazy.layout
        self._cap = max(part.settled, part.low) if part.high is None else part.high + 1
        self._alive: dict[ArrayState, bool] = {}
        self._is_plain = not (part.contains or part.unique)
        self.most = self._most_items()
        nodes = [node for index in range(part.settled + 1) for _, node in part.cases(index)] if part.unique else []
        self._is_endless = part.unique and all(map(lazy.is_endless, nodes))

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

    def start(self, avoid: frozenset[Value] = frozenset()) -> _Written:
        """See `Places`."""
        if self._is_plain and not avoid:
            return 0
        return ArrayState(0, (0,) * len(self.part.contains), avoid=avoid)

    # --- what may follow ---------------------------------------------------------------------------------------------

    def _is_closable(self, state: _Written) -> bool:
        if isinstance(state, int):
            return self._fits(state)
        if not self._fits(state.written):
            return False
        for count, asked in zip(state.counts, self.part.contains, strict=True):
            if count < asked.low or (asked.high is not None and count > asked.high):
                return False
        return all(len(other[1]) != state.written for other in state.avoid)

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
        """Whether what is left to be written can be: it is a set of arrays itself."""
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
            part.unique,
        )
        if (left.high is not None and left.high < left.low) or any(
            asked.high is not None and asked.high < asked.low for asked in left.contains
        ):
            return False
        if not part.unique:
            return can_be_met(left, self._lazy.holds, lambda node: None)
        return can_differ(left, self._lazy.holds, self._lazy.space.sizes(), frozenset(map(spelled, state.seen)))

    def _items(self, state: ArrayState) -> Iterator[_Item]:
        """All items that may come next, after which the array can be ended."""
        part = self.part
        if part.high is not None and state.written >= part.high:
            return
        for given, node in part.cases(min(state.written, part.settled)):
            if not self._lazy.holds(node):
                continue
            after = self._after(state, given)
            same: dict[Value, list[Value]] = {}
            for other in state.avoid:
                if len(other[1]) > state.written:
                    same.setdefault(other[1][state.written], []).append(other)
            for value, others in same.items():
                const = self._lazy.const(value, node)
                if value not in state.seen and self._lazy.holds(const):
                    seen = after.seen | {value} if part.unique else after.seen
                    item = _Item(const, frozenset(), ArrayState(after.written, after.counts, seen, frozenset(others)))
                    if self.is_alive(item.state):
                        yield item
            values = state.seen.union(same)
            item = _Item(node, values, self._normal(ArrayState(after.written, after.counts, after.seen)))
            if self._lazy.holds_without(node, values) and self._goes_on(item):
                yield item

    def _goes_on(self, item: _Item) -> bool:
        """Whether the array can be ended after some value of the item."""
        if self.part.unique and not isinstance(item.state, int):
            return self._can_be_met(item.state)
        return self.is_alive(item.state)

    def _after(self, state: ArrayState, given: frozenset[int]) -> ArrayState:
        counts = tuple(
            count + 1 if number in given and (asked.high is not None or count < asked.low) else count
            for number, (count, asked) in enumerate(zip(state.counts, self.part.contains, strict=True))
        )
        return ArrayState(state.written + 1, counts, state.seen, state.avoid)

    def _normal(self, state: ArrayState) -> _Written:
        """Equal for states after which the same follows."""
        if state.avoid:
            return state
        written = min(state.written, self._cap)
        return written if self._is_plain else ArrayState(written, state.counts, state.seen)

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
        if isinstance(after, int) or not self.part.unique:
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
