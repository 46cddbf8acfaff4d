"""A check that the counts of a set of arrays (`contains`, `minItems`) can all be met at once.

Items are sorted into the cases of `ArraySet.cases`. Up to index `ArraySet.settled`, the search follows all counts that
the first items may give, item by item. After that all indices are alike, so it only chooses how many items there are of
each case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.schema.algebra.arrays import ArraySet
from structgen.schema.algebra.nodes import Node

__all__ = ["TooManyCounts", "can_be_met"]

_MAX_STEPS = 100_000  # combinations of counts tried for one set

Counts = tuple[int, ...]


class TooManyCounts(LimitExceededError):
    """There are too many combinations of counts to try."""

    def __init__(self) -> None:
        super().__init__("schema_nodes", _MAX_STEPS, message="too many ways to count the items of an array")


def _unbounded(node: Node) -> None:
    return None


def can_be_met(part: ArraySet, usable: Callable[[Node], bool], size: Callable[[Node], int | None] = _unbounded) -> bool:
    """Return whether some array has a length and counts that a set allows.

    Args:
        part: the set of arrays.
        usable: returns whether a node has a value.
        size: returns how many different values of a node may be in one array; None is no bound.

    Raises:
        TooManyCounts: there are too many combinations to try.
    """
    least = [count.low for count in part.contains]
    most = [count.high for count in part.contains]
    reached: set[Counts] = {(0,) * len(least)}
    for index in range(part.settled):
        if part.low <= index and any(_met(counts, least) for counts in reached):
            return True
        if part.high is not None and index >= part.high:
            return False
        cases = [given for given, node in part.cases(index) if usable(node)]
        reached = set(_following(reached, cases, least, most))
        if len(reached) > _MAX_STEPS:
            raise TooManyCounts
    ways = [(given, size(node)) for given, node in part.cases(part.settled) if usable(node)]
    low = max(part.low - part.settled, 0)
    high = None if part.high is None else part.high - part.settled
    if high is not None and high < 0:
        return False
    return any(_Tail(ways, counts, least, most).fits(low, high) for counts in reached)


def _met(counts: Counts, least: list[int]) -> bool:
    return all(count >= low for count, low in zip(counts, least, strict=True))


def _following(
    reached: Iterable[Counts], cases: list[frozenset[int]], least: list[int], most: list[int | None]
) -> Iterable[Counts]:
    """Yield the counts after one more item. A count without an upper bound stops at its lower bound."""
    for counts in reached:
        for given in cases:
            spend(2)
            after = list(counts)
            for number in given:
                after[number] += 1
                high = most[number]
                if high is None:
                    after[number] = min(after[number], least[number])
                elif after[number] > high:
                    break
            else:
                yield tuple(after)


class _Tail:
    """The number of items of each case, from index `ArraySet.settled` on.

    Cases that add to several counts are tried with every useful number of items; the numbers of the other cases follow
    from that.
    """

    def __init__(
        self,
        ways: list[tuple[frozenset[int], int | None]],
        counts: Counts,
        least: list[int],
        most: list[int | None],
    ) -> None:
        self.shared = [(given, size) for given, size in ways if len(given) > 1]
        self.single = {next(iter(given)): size for given, size in ways if len(given) == 1}
        self.others = [size for given, size in ways if not given]
        self.need = [low - count for low, count in zip(least, counts, strict=True)]
        self.room = [None if high is None else high - count for high, count in zip(most, counts, strict=True)]
        self.steps = 0

    def fits(self, low: int, high: int | None) -> bool:
        """Return whether some choice of `low` to `high` items meets all counts."""
        return self._tried(0, self.need, self.room, low, high)

    def _tried(self, index: int, need: list[int], room: list[int | None], low: int, high: int | None) -> bool:
        self.steps += 1
        spend(2)
        if self.steps > _MAX_STEPS:
            raise TooManyCounts
        if (high is not None and high < 0) or any(left is not None and left < 0 for left in room):
            return False
        if index == len(self.shared):
            return self._rest_fits(need, room, low, high)
        given, size = self.shared[index]
        count = 0
        # More items than any count or the length still needs never help.
        while (size is None or count <= size) and count <= max(low, *(need[j] for j in given), 0):
            fewer = [left - count if j in given else left for j, left in enumerate(need)]
            space = [left - count if j in given and left is not None else left for j, left in enumerate(room)]
            if any(left is not None and left < 0 for left in space) or (high is not None and high < count):
                return False
            if self._tried(index + 1, fewer, space, low - count, None if high is None else high - count):
                return True
            count += 1
        return False

    def _rest_fits(self, need: list[int], room: list[int | None], low: int, high: int | None) -> bool:
        fewest = 0
        greatest: int | None = 0
        for j, (asked, left) in enumerate(zip(need, room, strict=True)):
            size = self.single.get(j, 0)
            bound = left if size is None else size if left is None else min(size, left)
            asked = max(asked, 0)
            if bound is not None and bound < asked:
                return False
            fewest += asked
            greatest = None if greatest is None or bound is None else greatest + bound
        for size in self.others:
            greatest = None if greatest is None or size is None else greatest + size
        return (high is None or max(fewest, low) <= high) and (greatest is None or greatest >= low)
