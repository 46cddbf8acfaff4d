"""The keys that overlapping conditions leave, such as those of many `patternProperties`.

The conditions of `ObjectSet.overlapping` are not multiplied out: n patterns would make 2ⁿ classes of keys. A key is
written first, and then tells which conditions it meets. So only one question has to be answered before: which keys may
be written at all? A key must not meet conditions that exclude each other:

    "a": {"type": "string"}, "b": {"type": "integer"}, "c": {}       not both an "a" and a "b"

`allowed_keys` finds the greatest sets of conditions that some value satisfies together. A key may be written if all
conditions that it meets are in one such set.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from structgen.engine.deadlines import spend
from structgen.engine.regex.tree import choice, intersection
from structgen.schema.algebra import (
    ALL_STRINGS,
    ANY,
    Inexpressible,
    KeyClass,
    Language,
    Node,
    ObjectSet,
    StringSet,
    any_of,
    meet,
)

__all__ = ["allowed_keys"]

_MAX_SEARCHED = 2_000  # sets of conditions


def allowed_keys(part: ObjectSet, holds: Callable[[Node], bool]) -> list[KeyClass]:
    """Return disjoint sets of the keys without properties that may be written, each with a node of all their values.

    Args:
        part: the set of objects.
        holds: returns whether a node has a value.

    Raises:
        Inexpressible: too many sets of conditions exclude each other.
    """
    found: list[KeyClass] = []
    for keys, node in part.classes:
        if not holds(node):
            continue
        conditions: list[KeyClass] = []
        allowed: StringSet | None = keys
        for mine, other in part.overlapping:
            if allowed is None or allowed.intersect(mine) is None:
                continue
            if holds(meet(node, other)):
                conditions.append((mine, other))
            else:
                allowed = allowed.intersect(_others(mine))
        if allowed is None:
            continue
        nodes = [meet(node, other) for _, other in conditions]
        every = any_of([*nodes, node] if _has_unmatched(allowed, conditions) else nodes)
        if conditions:
            allowed = allowed.intersect(_compatible(node, conditions, holds))
        if allowed is not None and holds(every):
            found.append((allowed, every))
    return found


def _has_unmatched(keys: StringSet, conditions: list[KeyClass]) -> bool:
    unmatched = [keys]
    for mine, _ in conditions:
        unmatched = [rest for left in unmatched for rest in left.split(mine)[1]]
    return bool(unmatched)


def _others(keys: StringSet) -> StringSet:
    """Return the texts that are not in a set, as one set."""
    parts = keys.complement()
    if len(parts) == 1:
        return parts[0]
    name = repr(("other than", keys))
    return StringSet(within=(Language(name, choice(*(part.regex() for part in parts))),))


def _compatible(node: Node, conditions: list[KeyClass], holds: Callable[[Node], bool]) -> StringSet:
    """Return the keys that meet only conditions which some value in a node satisfies together.

    With the greatest sets of conditions that some value satisfies, a key is refused if it meets, for each of these
    sets, a condition that is not in it.
    """
    everything = frozenset(range(len(conditions)))
    greatest = _greatest([meet(node, other) for _, other in conditions], holds)
    if everything in greatest:
        return ALL_STRINGS[0]
    missing = [[conditions[number][0] for number in sorted(everything - numbers)] for numbers in greatest]
    refused = intersection(*(choice(*(keys.regex() for keys in sets)) for sets in missing))
    return StringSet(outside=(Language(repr(("incompatible", missing)), refused),))


def _greatest(nodes: list[Node], holds: Callable[[Node], bool]) -> list[frozenset[int]]:
    """Return the greatest sets of nodes that have a value in common, as their numbers. Each node has one alone.

    Sets that are known to have none tell which nodes to leave out: one of each.
    """
    everything = frozenset(range(len(nodes)))
    excluded: list[frozenset[int]] = []
    if not _holds_all(everything, nodes, holds):
        pairs = map(frozenset, combinations(range(len(nodes)), 2))
        excluded = [pair for pair in pairs if not _holds_all(pair, nodes, holds)]
    found: list[frozenset[int]] = []
    waiting = [everything]
    seen = set(waiting)
    while waiting:
        chosen = waiting.pop()
        spend(1 + len(excluded))
        least = next((numbers for numbers in excluded if numbers <= chosen), None)
        if least is None:
            if _holds_all(chosen, nodes, holds):
                found.append(chosen)
                continue
            least = _least(chosen, nodes, holds)
            excluded.append(least)
        smaller = {chosen - {number} for number in least} - seen
        seen |= smaller
        waiting += smaller
        if len(seen) > _MAX_SEARCHED:
            raise Inexpressible("patternProperties")
    return [numbers for numbers in found if not any(numbers < other for other in found)]


def _least(chosen: frozenset[int], nodes: list[Node], holds: Callable[[Node], bool]) -> frozenset[int]:
    """Return a least subset of some nodes without a value in common that has none either."""
    for number in sorted(chosen):
        fewer = chosen - {number}
        if not _holds_all(fewer, nodes, holds):
            chosen = fewer
    return chosen


def _holds_all(numbers: frozenset[int], nodes: list[Node], holds: Callable[[Node], bool]) -> bool:
    node: Node = ANY
    for number in sorted(numbers):
        node = meet(node, nodes[number])
    return holds(node)
