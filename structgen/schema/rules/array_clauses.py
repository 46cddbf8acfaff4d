"""Rules of a set of arrays with clauses: of each, one must hold, such as "no item is in A" or "some item is in B".

Items are captured: once an item is written, its value shows which clauses it satisfies or breaks. So n clauses need not
split the values of an item into 2ⁿ cases. The state has the clauses that are still open, and the nodes of which no item
may be relied on to be absent any more. For "no item is 1, or some item is 2":

    [           open; no item is 1: the array may end
    [1          open; some item must be 2
    [1,2        no clause is open: any item may follow, and the end

An item must leave a way to end the array. Of most items that is clear without a look at their values: whatever they
are, later items can satisfy what is left. For that, a *plan* is searched: for each open clause, either items that are
added later satisfy it, or the clause keeps items absent that the next item, whatever it is, leaves absent. Where there
is no such plan, the values are split by one of the nodes, and each half gets a plan of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structgen.engine.grammar.tables import Capture, Lazy, Refusals, Symbol
from structgen.engine.regex.tree import NOTHING, Regex
from structgen.errors import LimitExceededError
from structgen.schema.algebra import ANY, NONE, ArraySet, Node, complement, meet
from structgen.schema.json_text.values import Value, read_value
from structgen.schema.reading.membership import surely_in
from structgen.schema.rules.clause_choices import Choice, ChoiceSearch
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.states import ArrayState

__all__ = ["ArrayClauseRules"]

_MAX_STEPS = 5_000  # of one search for a plan
_MAX_SEARCHES = 200  # for one plan
_MAX_CASES = 256  # of one item


class _Then(NamedTuple):
    """After a captured item: the state before it, and for some nodes whether the item is in them."""

    before: ArrayState
    known: tuple[tuple[int, bool], ...]


class _Case(NamedTuple):
    """Values that the next item may have, and for some nodes whether all of them are in it, or none."""

    node: Node
    known: dict[int, bool]


class _Options(NamedTuple):
    """The ways to satisfy a clause.

    Attributes:
        adds: nodes; it is enough to add items of one of them.
        keeps: nodes; it is enough that items of one of them stay absent.
        keeps_all: nodes; it is enough that items of all of them stay absent. One of them is absent, but not surely the
            same one for all values.
    """

    adds: list[int]
    keeps: list[int]
    keeps_all: list[int]


class _State(NamedTuple):
    """A state without its short form.

    Attributes:
        open: the clauses that are not satisfied for good.
        seen: the nodes that some item may be in.
        counts: the number of items that are surely in each node.
        left: the number of items that must follow.
    """

    open: tuple[int, ...]
    seen: frozenset[int]
    counts: tuple[int, ...]
    left: int


class ArrayClauseRules:
    """The rules of a set of arrays with clauses, for which `is_unordered` of `algebra/array_unions.py` holds.

    Kinds of nonterminals: "first", the whole array; "item", an item and what follows it; "then", what follows an item.

    The `counts` of its states are: a bit for each open clause, a bit for each node that an item may be in, and the
    number of items in each node. What is no longer asked for is zero.

    Attributes:
        part: the set.
    """

    def __init__(self, lazy: LazyRules, part: ArraySet, number: int) -> None:
        self.part = part
        self._lazy = lazy
        self._number = number
        numbers: dict[Node, int] = {}
        clauses = [*((count,) for count in part.contains), *part.clauses]
        self._clauses = [
            [(numbers.setdefault(count.node, len(numbers)), 0 if count.high == 0 else count.low) for count in clause]
            for clause in clauses
        ]
        self._any = len(numbers)
        self._nodes = [*numbers, ANY]
        self._alive: dict[ArrayState, bool] = {}
        self._cases: dict[ArrayState, list[_Case]] = {}
        self._pairs: dict[tuple[int, int], bool] = {}  # by two nodes: whether an item may be in both
        self._conflicts: list[tuple[int, frozenset[int]]] = []  # no item may be in the node, and in none of the others

    # --- states ------------------------------------------------------------------------------------------------------

    def start(self, avoid: frozenset[Value]) -> ArrayState:
        """Return the state before the first item. No arrays are excluded. See `SetRules.start`."""
        return self._short(
            _State(tuple(range(len(self._clauses))), frozenset(), (0,) * len(self._nodes), self.part.low)
        )

    def _short(self, state: _State) -> ArrayState:
        """Return the short form of a state, one for all states with the same continuations."""
        open_bits = seen_bits = 0
        counts = [0] * len(self._nodes)
        for number in state.open:
            clause = self._clauses[number]
            if any(low and state.counts[node] >= low for node, low in clause):
                continue
            open_bits |= 1 << number
            for node, low in clause:
                if low:
                    counts[node] = state.counts[node]
                elif node in state.seen:
                    seen_bits |= 1 << node
        return ArrayState(self.part.low - max(state.left, 0), (open_bits, seen_bits, *counts))

    def _whole(self, short: ArrayState) -> _State:
        open_bits, seen_bits, *counts = short.counts
        clauses = tuple([number for number in range(len(self._clauses)) if open_bits >> number & 1])
        seen = frozenset([node for node in range(len(self._nodes)) if seen_bits >> node & 1])
        return _State(clauses, seen, tuple(counts), self.part.low - short.written)

    def _is_closable(self, state: _State) -> bool:
        return state.left <= 0 and all(self._absent(number, state) for number in state.open)

    def _absent(self, number: int, state: _State) -> list[int]:
        """Return the nodes of which no item is there yet, each of which satisfies a clause by that."""
        return [node for node, low in self._clauses[number] if not low and node not in state.seen]

    def is_alive(self, short: ArrayState) -> bool:
        """Return whether an array of the set can be completed from a state. See `SetRules.is_alive`."""
        found = self._alive.get(short)
        if found is None:
            state = self._whole(short)
            options = [_Options(self._added(number), self._absent(number, state), []) for number in state.open]
            found = self._alive[short] = self._is_closable(state) or self._has_plan(options, state.left)
        return found

    # --- plans -------------------------------------------------------------------------------------------------------

    def _added(self, number: int) -> list[int]:
        """Return the nodes of which enough items satisfy a clause."""
        return [node for node, low in self._clauses[number] if low]

    def _options_after(self, number: int, state: _State, case: _Case) -> _Options:
        """Return the ways to satisfy a clause after an item of some values, whichever it is."""
        absent = [node for node in self._absent(number, state) if case.known.get(node) is not True]
        surely = [node for node in absent if node in case.known]
        if surely or not absent or self._may_be_in_all(case.node, absent):
            return _Options(self._added(number), surely, [])
        return _Options(self._added(number), [], absent)

    def _may_be_in_all(self, node: Node, numbers: Sequence[int]) -> bool:
        """Return whether an item may be in a node and in some others."""
        if any(not self._may_meet(one, other) for at, one in enumerate(numbers) for other in numbers[:at]):
            return False
        for number in numbers:
            node = meet(node, self._nodes[number])
        return node != NONE and self._lazy.holds(node)

    def _may_meet(self, left: int, right: int) -> bool:
        """Return whether an item may be in two of the nodes; False is certain."""
        key = (left, right) if left < right else (right, left)
        found = self._pairs.get(key)
        if found is None:
            both = meet(self._nodes[left], self._nodes[right])
            found = self._pairs[key] = left == right or (both != NONE and self._lazy.space.may_hold(both))
        return found

    def _has_plan(self, options: list[_Options], left: int) -> bool:
        """Return whether each clause can be satisfied in one of some ways, all of them together.

        A search chooses nodes to add and nodes to keep absent. If an item cannot be in an added node and in no kept
        one, that is a conflict, which is a further clause of all searches to come.

        Args:
            options: the ways, by clause.
            left: the number of items that must follow.
        """
        if left > 0:
            options = [*options, _Options([self._any], [], [])]
        if any(not any(one) for one in options):
            return False
        for _ in range(_MAX_SEARCHES):
            found = self._find_plan(options)
            if found is None:
                return False
            added, kept = found
            if not [node for node in added if not self._can_add(node, kept)]:  # each conflict is remembered
                return True
        raise _too_many(_MAX_SEARCHES)

    def _find_plan(self, options: list[_Options]) -> tuple[set[int], set[int]] | None:
        """Return nodes to add and nodes to keep absent, without conflicts that are known; None if there are none."""
        adding, keeping = [0] * len(self._nodes), [0] * len(self._nodes)
        others: list[list[Choice]] = []
        bits = 0
        asked: set[int] = set()
        for one in options:
            bits += 1
            bit = 1 << (bits - 1)
            for node in one.adds:
                adding[node] |= bit
            for node in one.keeps:
                keeping[node] |= bit
            asked.update(one.adds, one.keeps, one.keeps_all)
            if one.keeps_all:  # a choice of its own, which implies that each of the nodes is kept
                mask = 0
                for node in one.keeps_all:
                    bits += 1
                    mask |= 1 << (bits - 1)
                    keeping[node] |= 1 << (bits - 1)
                others.append([(bit, 0), (mask, 0)])
        wanted = list(adding)
        for node, absent in self._conflicts:
            if node in asked and absent <= asked:
                bits += 1
                keeping[node] |= 1 << (bits - 1)
                for other in absent:
                    adding[other] |= 1 << (bits - 1)
        choices = {node: [(adding[node], 0), (keeping[node], 0)] for node in asked}
        choices |= {len(self._nodes) + index: pair for index, pair in enumerate(others)}
        made = ChoiceSearch().found((1 << bits) - 1, -1, choices, _MAX_STEPS, {})
        if made is None:
            return None
        chosen = {node: mask for node, (mask, _) in made.items() if mask and node < len(self._nodes)}
        kept = {node for node, mask in chosen.items() if not mask & ~keeping[node]}
        return {node for node, mask in chosen.items() if node not in kept and mask & wanted[node]}, kept

    def _can_add(self, number: int, absent: set[int]) -> bool:
        """Return whether an item may be in a node, and in none of some others. If not, the conflict is remembered."""
        near = [other for other in sorted(absent) if self._may_meet(number, other)]
        if self._holds_without(number, near):
            return True
        for other in list(near):  # a smaller conflict rules out more
            rest = [one for one in near if one != other]
            if not self._holds_without(number, rest):
                near = rest
        self._conflicts.append((number, frozenset(near)))
        return False

    def _holds_without(self, number: int, absent: Sequence[int]) -> bool:
        node = meet(self.part.rest, self._nodes[number])
        for other in absent:
            node = meet(node, complement(self._nodes[other]))
        return node != NONE and self._lazy.holds(node)

    # --- items -------------------------------------------------------------------------------------------------------

    def _items(self, short: ArrayState) -> list[_Case]:
        """Return the values that may come next and leave a way to end the array."""
        found = self._cases.get(short)
        if found is None:
            found = self._cases[short] = list(self._find_items(self._whole(short)))
        return found

    def _find_items(self, state: _State) -> Iterator[_Case]:
        case = _Case(self.part.rest, {})
        for number in state.open:
            absent = self._absent(number, state)
            if self._added(number) or not self._may_be_in_all(case.node, absent):
                continue
            refused = ANY  # an item in all of these nodes would leave nothing that satisfies the clause
            for node in absent:
                refused = meet(refused, self._nodes[node])
            known = {absent[0]: False} if len(absent) == 1 else {}
            case = _Case(meet(case.node, complement(refused)), case.known | known)
        return self._split(state, case)

    def _split(self, state: _State, first: _Case) -> Iterator[_Case]:
        """Yield the values of a case after which a plan is left, in as few cases as seem needed."""
        waiting, count = [first], 0
        while waiting:
            case = waiting.pop()
            if case.node == NONE or not self._lazy.holds(case.node):
                continue
            options = [self._options_after(number, state, case) for number in state.open]
            if self._has_plan(options, state.left - 1):
                yield case
                continue
            count += 1
            if count > _MAX_CASES:
                raise _too_many(_MAX_CASES)
            node = self._undecided(state, case, options)
            if node is None:
                continue
            inside = meet(case.node, self._nodes[node])
            is_inside = inside != NONE and self._lazy.holds(inside)
            outside = meet(case.node, complement(self._nodes[node])) if is_inside else case.node
            waiting.append(_Case(outside, case.known | {node: False}))
            if is_inside:
                waiting.append(_Case(inside, case.known | {node: True}))

    def _undecided(self, state: _State, case: _Case, options: list[_Options]) -> int | None:
        """Return a node to split the values of a case by; None if none of them matters. Few options come first."""
        by_options = sorted(zip(options, state.open, strict=True), key=lambda pair: sum(map(len, pair[0])))
        for _, number in by_options:
            for node in self._absent(number, state):
                if node not in case.known:
                    return node
        return None

    def after(self, then: _Then, text: bytes | None) -> tuple[str, ArrayState]:
        """Return the state after an item. After an unknown text, everything may follow. See `SetRules.after`."""
        before = self._whole(then.before)
        if text is None:
            return "then", self._short(_State((), frozenset(), before.counts, 0))
        value, known = read_value(text), dict(then.known)
        seen, counts = set(before.seen), list(before.counts)
        asked = {node for number in before.open for node, _ in self._clauses[number]}
        shape_of = self._lazy.space.shape
        for node in sorted(asked):
            is_inside = known.get(node)
            if is_inside is None:
                is_inside = surely_in(shape_of, self._nodes[node], value)
            counts[node] += is_inside
            if is_inside or (node not in known and not surely_in(shape_of, complement(self._nodes[node]), value)):
                seen.add(node)
        return "then", self._short(_State(before.open, frozenset(seen), tuple(counts), before.left - 1))

    # --- rules -------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str, short: ArrayState) -> Sequence[Sequence[Symbol]]:
        """Return the bodies of a kind of nonterminal in a state. See `SetRules.bodies`."""
        if kind == "item":
            return [self._item_body(case, short) for case in self._items(short)]
        layout = self._lazy.layout
        found: list[Sequence[Symbol]] = []
        if self._is_closable(self._whole(short)):
            found.append((layout.open_array, layout.end_array) if kind == "first" else (layout.close_array,))
        if self._items(short):
            item = Lazy((self._number, "item", short))
            found.append((layout.open_array if kind == "first" else layout.comma, item))
        return found

    def _item_body(self, case: _Case, short: ArrayState) -> Sequence[Symbol]:
        state, symbol = self._whole(short), self._lazy.symbol(case.node)
        if not state.open:
            after = self._short(_State((), frozenset(), state.counts, state.left - 1))
            return symbol, Lazy((self._number, "then", after))
        if isinstance(symbol, Capture):
            raise TypeError("a captured symbol cannot be captured as a whole")
        return (Capture(symbol, (self._number, _Then(short, tuple(sorted(case.known.items())))), False),)

    def least_bytes(self, kind: str | int, short: ArrayState) -> int:
        """Return a lower bound of the bytes of a kind of nonterminal in a state. See `SetRules.least_bytes`."""
        return max(1, 2 * (self.part.low - short.written))

    def refusals(self, then: _Then, begun: bytes) -> Refusals:
        """Return no completions: no text is refused where it ends. See `SetRules.refusals`."""
        return (), ()

    def remaining(self, then: _Then, least: int) -> Regex:
        """Return nothing: no text is refused. See `SetRules.remaining`."""
        return NOTHING

    def ladder(self, state: ArrayState) -> None:
        """Return None: there are no pairs. See `SetRules.ladder`."""

    def forget(self) -> None:
        """Drop what was computed for written items. See `RuleSource.forget`."""
        self._alive.clear()
        self._cases.clear()


def _too_many(steps: int) -> LimitExceededError:
    message = "too many ways to satisfy the conditions on the items of an array"
    return LimitExceededError("schema_nodes", steps, message=message, is_fixed=True)
