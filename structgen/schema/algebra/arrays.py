"""Sets of arrays. Their items are nodes, so a set describes one level of an array.

A count is a condition on how many items are in a node. A clause is a list of counts, of which at least one must hold.
`{"if": {"contains": A}, "then": {"contains": B}}` is one clause: no item is in A, or some item is in B. Thirteen such
conditions are thirteen clauses of one set. As a union of sets without clauses, they would be 2¹³ sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from structgen.schema.algebra.nodes import ANY, NONE, Case, Node, cases, complement, meet

__all__ = ["ALL_ARRAYS", "ArraySet", "Contains", "CountClause", "Inexpressible", "opposite"]


class Inexpressible(Exception):
    """A set cannot be written as a finite union of parts, or not as a grammar.

    Attributes:
        keyword: the JSON Schema keyword that asked for it.
        reason: the reason, for the message; "" where the keyword says enough.
    """

    def __init__(self, keyword: str, reason: str = "") -> None:
        super().__init__(keyword)
        self.keyword = keyword
        self.reason = reason


@dataclass(frozen=True)
class Contains:
    """A count: `low` to `high` of the items from index `start` on are in `node`. A `high` of None is no bound."""

    start: int
    node: Node
    low: int = 1
    high: int | None = None


CountClause = tuple[Contains, ...]
"""Counts of which at least one holds. Each has a lower bound or an upper bound, not both."""


@dataclass(unsafe_hash=True)
class ArraySet:
    """Arrays that satisfy conditions on their items.

    Attributes:
        prefix: the nodes of the first items.
        rest: the node of all later items.
        low: the least number of items.
        high: the greatest number of items; None without a bound.
        contains: counts; all of them hold.
        repeats: False: no two items are equal (`uniqueItems`); True: some two are; None: either.
        clauses: all of them hold.
        known_cases: what `cases` returns, by index; None if it computes them. Not part of the set.
    """

    prefix: tuple[Node, ...] = ()
    rest: Node = ANY
    low: int = 0
    high: int | None = None
    contains: tuple[Contains, ...] = ()
    repeats: bool | None = None
    clauses: tuple[CountClause, ...] = ()
    known_cases: dict[int, list[Case]] | None = field(default=None, init=False, compare=False, hash=False, repr=False)

    def at(self, index: int) -> Node:
        """Return the node of the item at an index."""
        return self.prefix[index] if index < len(self.prefix) else self.rest

    @property
    def settled(self) -> int:
        """First index from which on the same conditions hold for all items."""
        return max(len(self.prefix), *(count.start for count in self.contains)) if self.contains else len(self.prefix)

    def cases(self, index: int) -> list[Case]:
        """Split the values of the item at an index by the counts that they add to.

        The union of the cases is `at(index)`. Cases that are known to be empty are left out. From `settled` on, all
        indices have the same cases.
        """
        if self.known_cases is not None:
            return self.known_cases[min(index, self.settled)]
        return cases(self.at(index), self.counting(index))

    def counting(self, index: int) -> list[tuple[int, Node]]:
        """Return the numbers of the counts that the item at an index may add to, with their nodes."""
        return [(number, count.node) for number, count in enumerate(self.contains) if count.start <= index]

    def having(self, indices: Collection[int], node: Node) -> ArraySet:
        """Return the arrays with items in `node` at some indices, whether items repeat or not."""
        size = max(indices) + 1
        prefix = [self.at(index) for index in range(max(size, len(self.prefix)))]
        for index in indices:
            prefix[index] = node
        return ArraySet(tuple(prefix), self.rest, max(self.low, size), self.high, self.contains)

    def repetitions(self) -> Iterator[tuple[tuple[int, int], Case]]:
        """Yield pairs of indices, each with a case of the values that both items may have.

        All values of a case add to the same counts. So if an array of this set has two equal items, `repeating` has a
        member for one of the pairs.
        """
        last = self.settled + 1 if self.high is None else min(self.settled + 1, self.high - 1)
        for later in range(last, 0, -1):  # the last two indices stand for all later ones
            for earlier in range(later - 1, -1, -1):
                for case in self.counted(meet(self.at(earlier), self.at(later))):
                    yield (earlier, later), case

    def repeating(self, indices: tuple[int, int], case: Case, known: dict[int, list[Case]]) -> ArraySet:
        """Return the arrays with a case of `repetitions` at its indices.

        Args:
            indices: the indices.
            case: the case.
            known: the cases of this set by index; those that are missing are added.
        """
        counts, node = case
        found = self.having(indices, node)
        found.known_cases = {}
        for index in range(found.settled + 1):
            if index not in known:
                known[index] = self.cases(index)
            found.known_cases[index] = known[index]
        for index in indices:
            counted = frozenset([number for number, _ in self.counting(index)])
            found.known_cases[index] = [(counts & counted, node)]
        return found

    def counted(self, node: Node) -> list[Case]:
        """Split a node by the counts that its values add to, wherever these start."""
        return cases(node, ((number, count.node) for number, count in enumerate(self.contains)))

    def without_clauses(self, repeats: bool | None) -> ArraySet:
        """Return the set without its clauses, and with another condition on equal items."""
        found = ArraySet(self.prefix, self.rest, self.low, self.high, self.contains, repeats)
        found.known_cases = self.known_cases
        return found

    def intersect(self, other: ArraySet) -> ArraySet | None:
        """Return the arrays that are in both; None if the counts alone exclude every array."""
        size = max(len(self.prefix), len(other.prefix))
        prefix = tuple(meet(self.at(i), other.at(i)) for i in range(size))
        high = _least(self.high, other.high)
        contains = self.contains
        if other.contains:
            contains = tuple(dict.fromkeys((*contains, *other.contains)))
        repeats = other.repeats if self.repeats is None else self.repeats
        if other.repeats is not None and other.repeats != repeats:
            return None
        low = max(self.low, other.low)
        clauses = tuple(dict.fromkeys((*self.clauses, *other.clauses))) if other.clauses else self.clauses
        return ArraySet(prefix, meet(self.rest, other.rest), low, high, contains, repeats, clauses).reduced()

    def reduced(self) -> ArraySet | None:
        """Return the same set with the tightest `high` known; None if the counts exclude every array."""
        if self.clauses:
            propagated = self._propagated()
            if propagated is not self:
                return propagated.reduced() if propagated is not None else None
        if self.contains:
            found = self._counted()
            if found is not self:
                return found.reduced() if found is not None else None
        high = self.high
        size = len(self.prefix) if self.rest == NONE else None
        for index, node in enumerate(self.prefix):
            if node == NONE:
                size = index
                break
        if size is not None and (high is None or size < high):
            high = size
        low = max(self.low, 2) if self.repeats else self.low
        if high is not None and high < low:
            return None
        prefix = self.prefix if high is None or high >= len(self.prefix) else self.prefix[:high]
        repeats = None if high in (0, 1) else self.repeats
        if (low, high, repeats) == (self.low, self.high, self.repeats) and prefix is self.prefix:
            return self
        found = ArraySet(prefix, self.rest, low, high, self.contains, repeats, self.clauses)
        return found.reduced() if found.contains or found.clauses else found  # a new bound may settle a count

    def _propagated(self) -> ArraySet | None:
        """Return the same set without clauses that the other conditions decide; None if one of them cannot hold.

        A clause of which a single count is left becomes that count (unit propagation).
        """
        kept: list[CountClause] = []
        counts: list[Contains] = []
        for clause in self.clauses:
            known = [(count, self._decided(count)) for count in clause]
            if any(is_met for _, is_met in known):
                continue
            left = tuple([count for count, is_met in known if is_met is None])
            if not left:
                return None
            if len(left) == 1:
                counts.append(left[0])
            else:
                kept.append(left)
        if len(kept) == len(self.clauses) and all(map(tuple.__eq__, kept, self.clauses)):
            return self
        contains = tuple(dict.fromkeys((*self.contains, *counts)))
        return replace(self, contains=contains, clauses=tuple(kept))

    def _decided(self, count: Contains) -> bool | None:
        """Return whether all arrays of the set meet a count, or none does; None if neither is known."""
        least, most = 0, None if self.high is None else max(self.high - count.start, 0)
        last = max(self.settled, count.start)
        if all(meet(self.at(index), count.node) == NONE for index in range(count.start, last + 1)):
            most = 0
        elif self.low > count.start:
            least = sum(
                meet(self.at(index), count.node) == self.at(index) for index in range(count.start, min(self.low, last))
            )
            if self.low > last and meet(self.rest, count.node) == self.rest:
                least += self.low - last
        for other in self.contains:
            if other.start == count.start and other.node == count.node:
                least, most = max(least, other.low), _least(most, other.high)
        if most is not None and most < count.low:
            return False
        if count.high is None:
            return True if least >= count.low else None
        if least > count.high:
            return False
        return True if least >= count.low and most is not None and most <= count.high else None

    def _counted(self) -> ArraySet | None:
        """Do one step of reduction: merge counts of one node, and drop counts that bounds and items can express."""
        merged: dict[tuple[int, Node], Contains] = {}
        for count in self.contains:
            known = merged.get((count.start, count.node), count)
            high = _least(known.high, count.high)
            merged[count.start, count.node] = Contains(count.start, count.node, max(known.low, count.low), high)
        result, kept = replace(self, contains=(), clauses=()), []
        for count in merged.values():
            settled = self._settle(count)
            if settled is None:
                kept.append(count)
                continue
            both = result.intersect(settled)
            if both is None:
                return None
            result = both
        if tuple(kept) == self.contains:
            return self
        result.contains = tuple(kept)
        result.clauses = self.clauses
        return result

    def _settle(self, count: Contains) -> ArraySet | None:
        """Return the set of arrays that meet a count, without `contains`; None if that cannot be expressed.

        Compares nodes by equality only.
        """
        start, node, low, high = count.start, count.node, count.low, count.high
        most = None if self.high is None else max(self.high - start, 0)
        if (high is not None and high < low) or (most is not None and most < low):
            return ArraySet(rest=NONE, low=1)
        if node == NONE:
            return ArraySet() if low == 0 else ArraySet(rest=NONE, low=1)
        sure = 0  # items that every array has, and that are in the node
        for index in range(start, min(self.low, self.settled)):
            sure += meet(self.at(index), node) == self.at(index)
        if self.low > self.settled and meet(self.rest, node) == self.rest:
            sure += self.low - max(self.settled, start)
        if sure >= low and (high is None or (most is not None and most <= high)):
            return ArraySet()
        if high == 0:
            return ArraySet((ANY,) * start, complement(node))
        if all(meet(self.at(i), node) == self.at(i) for i in range(start, max(self.settled, start) + 1)):
            return ArraySet(low=start + low if low else 0, high=None if high is None else start + high)
        return None

    def following(self, given: frozenset[int]) -> ArraySet | None:
        """Return the arrays that may follow a first item of the case `given`; None if that item is not allowed.

        Clauses are left out, so there may be more of them.
        """
        contains = []
        for number, count in enumerate(self.contains):
            one = int(number in given)
            high = None if count.high is None else count.high - one
            if high is not None and high < 0:
                return None
            contains.append(Contains(max(count.start - 1, 0), count.node, max(count.low - one, 0), high))
        if self.high == 0:
            return None
        high = None if self.high is None else self.high - 1
        after = ArraySet(self.prefix[1:], self.rest, max(self.low - 1, 0), high, tuple(contains), self.repeats)
        if self.known_cases is not None:
            after.known_cases = {index: self.cases(index + 1) for index in range(after.settled + 1)}
        return after

    def covers(self, other: ArraySet) -> bool:
        """Return whether each condition of this set is one of `other` too, so that it includes `other`.

        False does not mean that it does not include `other`: this compares conditions one by one.
        """
        if self.low > other.low or self.repeats not in (None, other.repeats):
            return False
        if self.high is not None and (other.high is None or other.high > self.high):
            return False
        if self.contains and not set(self.contains).issubset(other.contains):
            return False
        if self.clauses and not set(self.clauses).issubset(other.clauses):
            return False
        last = max(len(self.prefix), len(other.prefix))  # an index of `rest` in both
        for index in range(last + 1 if other.high is None else min(last + 1, other.high)):
            mine, theirs = self.at(index), other.at(index)
            if mine is not theirs and not set(mine).issubset(theirs):  # atoms are conditions
                return False
        return True

    @property
    def has_empty(self) -> bool:
        """The empty array is a member."""
        return (
            self.low == 0
            and not any(count.low for count in self.contains)
            and all(any(not count.low for count in clause) for clause in self.clauses)
        )

    def complement(self) -> list[ArraySet]:
        """Return sets whose union is every other array."""
        parts: list[ArraySet] = []
        if self.repeats is not None:
            parts.append(ArraySet(repeats=not self.repeats))
        if self.low:
            parts.append(ArraySet(high=self.low - 1))
        if self.high is not None:
            parts.append(ArraySet(low=self.high + 1))
        for index, node in enumerate(self.prefix):
            if node != ANY:
                parts.append(ArraySet((*(ANY,) * index, complement(node)), low=index + 1))
        size = len(self.prefix)
        if self.rest == NONE:
            parts.append(ArraySet(low=size + 1))
        elif self.rest != ANY and not (self.high is not None and self.high <= size):
            parts.append(ArraySet(low=size + 1, contains=(Contains(size, complement(self.rest)),)))
        for count in self.contains:
            if count.low:
                parts.append(ArraySet(contains=(replace(count, low=0, high=count.low - 1),)))
            if count.high is not None:
                parts.append(ArraySet(contains=(replace(count, low=count.high + 1, high=None),)))
        parts.extend(ArraySet(contains=tuple(map(opposite, clause))) for clause in self.clauses)
        return [part for part in (part.reduced() for part in parts) if part is not None]


def opposite(count: Contains) -> Contains:
    """Return the count that an array meets if it does not meet a count of a clause."""
    if count.high is None:
        return Contains(count.start, count.node, 0, count.low - 1)
    return Contains(count.start, count.node, count.high + 1)


def _least(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


ALL_ARRAYS = (ArraySet(),)
