"""Whether the items of an array can all differ, where some of them have few values: a matching of items and values.

    first item 1 or 2, second 1, third 2 or 3      2, 1, 3
    first item 1 or 2, second 1, third 2           no: three items have two values together

Items with few values are matched with these, each value with one item at most. The matching grows along augmenting
paths: an item gets a value that another one has, if that one can get another value. Source: Kuhn, "The Hungarian method
for the assignment problem" (1955); Berge, "Two theorems in graph theory" (1957).

Counts (`contains`) decide which values an item may have beside others. So values are tried one by one there, with a
matching of the items that are left after each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

from structgen.engine.deadlines import spend
from structgen.schema.algebra import Case, Node
from structgen.schema.algebra.arrays import ArraySet
from structgen.schema.algebra.counting import TooManyCounts, can_be_met
from structgen.schema.json_text.values import Value

__all__ = ["can_differ", "needed_values"]

_MAX_STEPS = 5_000  # combinations of items that are tried
_SOME_VALUE: Value = ("some value",)  # one that no item has

_Items: TypeAlias = list[tuple[list[Node], int]]
"""Items by the nodes of their values, with the number of those that are alike."""


class ValueSizes(Protocol):
    """Upper bounds on the number of values of nodes; see `Sizes`."""

    def need(self, items: int) -> None:
        """Count and list more values, if so many items must differ."""

    def count(self, node: Node) -> int | None:
        """Return an upper bound on the number of values; None where none is known."""

    def values(self, node: Node) -> frozenset[Value] | None:
        """Return the values of a node, and perhaps more; None where they are unknown or many."""


def can_differ(
    part: ArraySet, usable: Callable[[Node], bool], sizes: ValueSizes, used: frozenset[Value] = frozenset()
) -> bool:
    """Return whether a set of arrays has a member whose items differ from each other and from used values.

    Args:
        part: the set of arrays.
        usable: returns whether a node has a value.
        sizes: the numbers of values of nodes.
        used: values that no item may have.

    Raises:
        TooManyCounts: there are too many combinations to try.
    """
    return _values_of_one(part, usable, sizes, used) is not None


def needed_values(
    part: ArraySet, usable: Callable[[Node], bool], sizes: ValueSizes, used: frozenset[Value]
) -> frozenset[Value]:
    """Return the listed values that no other item may have: if one was used, too, the items could not all differ.

    Args:
        part: a set of arrays. Its first items may differ from later ones; their cases are kept in it.
        usable: returns whether a node has a value.
        sizes: the numbers of values of nodes.
        used: values that no item may have.

    Raises:
        TooManyCounts: there are too many combinations to try.
    """
    sizes.need(max(_most_needed(part), part.low))
    part.known_cases = {at: part.cases(at) for at in range(part.settled + 1)}
    nodes = [node for known in part.known_cases.values() for _, node in known]
    listed = frozenset[Value]().union(*[sizes.values(node) or () for node in nodes]) - used
    one_more = used | {_SOME_VALUE}
    if not _has_counts(part):
        unused = _Unused(usable, sizes, one_more, 0)
        return unused.needed(part) if unused.may_suffice(part) else listed
    some = _values_of_one(part, usable, sizes, one_more)
    if some is None:
        return listed
    needed: set[Value] = set()
    waiting = listed & some
    while waiting:
        value = next(iter(waiting))
        some = _values_of_one(part, usable, sizes, used | {value})
        waiting -= {value}
        if some is None:
            needed.add(value)
        else:
            waiting &= some
    return frozenset(needed)


def _values_of_one(
    part: ArraySet, usable: Callable[[Node], bool], sizes: ValueSizes, used: frozenset[Value]
) -> frozenset[Value] | None:
    """Return the used values and the listed values of one array whose items differ, perhaps with more; None if none do.

    That array is still there if another value is used, too. See `can_differ`.
    """
    needed = _most_needed(part)
    sizes.need(max(needed, part.low))
    waiting = [(part, used)]
    for _ in range(_MAX_STEPS):
        if not waiting:
            return None
        spend(1)
        left, seen = waiting.pop()
        if left.has_empty:
            return seen
        unused = _Unused(usable, sizes, seen, needed)
        if not left.settled:  # all items are alike, so the number of values decides
            if can_be_met(left, usable, unused.count):
                return _with_listed(seen, left, sizes)
            continue
        if not seen and left.low < 2 and left.high != 0 and not left.contains:
            if _is_any_usable(left.cases(0), usable):  # one item: how many values there are does not matter
                return _with_listed(seen, left, sizes)
            continue
        if not unused.may_suffice(left):
            continue
        if not _has_counts(left):
            return seen | unused.matched(left)
        for given, node in left.cases(0):
            after = left.following(given) if usable(node) else None
            if after is not None:
                values = sizes.values(node)
                choices = [seen] if values is None else [seen | {value} for value in values - seen]
                waiting += [(after, choice) for choice in choices]
    raise TooManyCounts


def _most_needed(part: ArraySet) -> int:
    """Return the most items that one condition of a set asks for, if it has counts; else 0."""
    return max(part.low, max([count.low for count in part.contains])) if part.contains else 0


def _has_counts(part: ArraySet) -> bool:
    """Return whether a set has counts that are not met yet, or that items may pass."""
    return any(count.low or count.high is not None for count in part.contains)


def _with_listed(values: frozenset[Value], part: ArraySet, sizes: ValueSizes) -> frozenset[Value]:
    """Return some values and the listed ones of the first item of a set."""
    return values.union(*[sizes.values(node) or () for _, node in part.cases(0)])


def _is_any_usable(cases: Iterable[Case], usable: Callable[[Node], bool]) -> bool:
    return any(usable(node) for _, node in cases)


class _Unused:
    """The values that items may have: those of some nodes that were not used.

    Args:
        usable, sizes, used: see `can_differ`.
        needed: the most items that one condition asks for, where there are counts; else 0.
    """

    def __init__(self, usable: Callable[[Node], bool], sizes: ValueSizes, used: frozenset[Value], needed: int) -> None:
        self._usable = usable
        self._sizes = sizes
        self._used = used
        self._needed = needed

    def count(self, node: Node) -> int | None:
        """Return an upper bound on the number of values of a node that were not used; None where none is known.

        Of so many values that no condition asks for more, those that were used are not left out: each of them counts
        for what its node counts for.

        Raises:
            TooManyCounts: a node has so few values that they may run out, and too many to be listed.
        """
        size, values = self._sizes.count(node), self._sizes.values(node)
        if size is None:
            return None
        if values is not None:
            return len(values - self._used)
        if size < self._needed:
            raise TooManyCounts
        return size

    def may_suffice(self, part: ArraySet) -> bool:
        """Return whether the items of an array of a set can differ, and each count by itself can be met.

        Without counts the answer is exact, as far as the sizes of nodes are. With some, only False is certain.
        """
        if self._most_different(self._items(part, part.low, lambda case: True)) < part.low:
            return False
        for number, count in enumerate(part.contains):
            last = part.settled + count.low if part.high is None else min(part.settled + count.low, part.high)
            inside = self._items(part, last, lambda case, number=number: number in case[0])  # type: ignore[misc]
            if self._most_different(inside) < count.low:
                return False
            if count.high is not None:
                outside = self._items(part, part.low, lambda case, number=number: number not in case[0])  # type: ignore[misc]
                if part.low - self._most_different(outside) > count.high:
                    return False
        return True

    def _items(self, part: ArraySet, size: int, is_meant: Callable[[Case], bool]) -> _Items:
        """Return the first items of a set's arrays, with those cases of their values that are meant."""

        def nodes(index: int) -> list[Node]:
            return [case[1] for case in part.cases(index) if is_meant(case) and self._usable(case[1])]

        found = [(nodes(index), 1) for index in range(min(size, part.settled))]
        if size > part.settled:
            found.append((nodes(part.settled), size - part.settled))
        return found

    def matched(self, part: ArraySet) -> frozenset[Value]:
        """Return the listed values of the first items of an array whose items differ, without counts."""
        return frozenset(_largest_matching(self._choices(self._items(part, part.low, lambda case: True))[1]).values())

    def needed(self, part: ArraySet) -> frozenset[Value]:
        """Return the listed values that each array of a set without counts has, where all items must differ.

        They are among those of one matching. An item whose choices include a value that is left over can have that one,
        and its own value is then left over.
        """
        _, choices = self._choices(self._items(part, part.low, lambda case: True))
        taken = _largest_matching(choices)
        matched = frozenset(taken.values())
        alike: dict[int, tuple[list[Value], list[Value]]] = {}  # by choices: these, and the values of their items
        for item, values in enumerate(choices):
            alike.setdefault(id(values), (values, []))[1].append(taken[item])
        having: dict[Value, list[list[Value]]] = {}
        for values, own in alike.values():
            for value in values:
                having.setdefault(value, []).append(own)
        left = having.keys() - matched
        waiting = list(left)
        while waiting:
            for own in having[waiting.pop()]:
                waiting += [value for value in own if value not in left]
                left.update(own)
                own.clear()
        return matched - left

    def _most_different(self, items: _Items) -> int:
        """Return how many of some items can have values that differ from each other.

        Raises:
            TooManyCounts: a node has so few values that they may run out, and too many to be listed.
        """
        free, choices = self._choices(items)
        return free + len(_largest_matching(choices))

    def _choices(self, items: _Items) -> tuple[int, list[list[Value]]]:
        """Return the number of items that can always differ from all others, and the values of each other item.

        Raises:
            TooManyCounts: a node has so few values that they may run out, and too many to be listed.
        """
        choices: list[list[Value]] = []
        free = 0
        most = sum(alike for _, alike in items) + len(self._used)
        for nodes, alike in items:
            values: list[Value] = []
            is_free = False
            for node in nodes:
                listed = self._sizes.values(node)
                if listed is not None:
                    values += listed - self._used
                    continue
                size = self._sizes.count(node)
                if size is not None and size < most:
                    raise TooManyCounts
                is_free = True
            if is_free:
                free += alike
            else:
                choices += [values] * min(alike, len(values))
        return free, choices


def _largest_matching(choices: Sequence[Sequence[Value]]) -> dict[int, Value]:
    """Return different values of as many items as can have some, by item.

    Args:
        choices: the values of each item.
    """
    owner: dict[Value, int] = {}
    taken: dict[int, Value] = {}
    for first in range(len(choices)):
        asked: dict[Value, int] = {}  # by value: the item that would get it
        waiting = [first]
        for item in waiting:
            spend(1 + len(choices[item]))
            free = _asked(item, choices[item], owner, asked, waiting)
            if free is not None:
                _give(free, owner, taken, asked)
                break
    return taken


def _asked(
    item: int, values: Sequence[Value], owner: dict[Value, int], asked: dict[Value, int], waiting: list[int]
) -> Value | None:
    """Ask for the values of an item. Return one that no item has; otherwise their owners wait for other values."""
    for value in values:
        if value not in asked:
            asked[value] = item
            if value not in owner:
                return value
            waiting.append(owner[value])
    return None


def _give(value: Value | None, owner: dict[Value, int], taken: dict[int, Value], asked: dict[Value, int]) -> None:
    """Give a value to the item that asked for it. The value that this one had goes to the item that asked for that."""
    while value is not None:
        item = asked[value]
        before = taken.get(item)
        owner[value], taken[item] = item, value
        value = before
