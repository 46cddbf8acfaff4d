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
from structgen.schema.algebra.any_text import any_text_of

__all__ = ["allowed_keys"]

_MAX_SEARCHED = 2_000  # sets of conditions
_MAX_MISSING = 1_600  # conditions that greatest sets do not have, summed over these sets


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
    regexes = [keys.regex() for keys, _ in conditions]
    missing = [sorted(everything - numbers) for numbers in greatest]
    if sum(map(len, missing)) > _MAX_MISSING:
        raise _too_many()
    refused = intersection(*(any_text_of([regexes[number] for number in numbers]) for numbers in missing))
    name = repr(("incompatible", [keys for keys, _ in conditions], sorted(map(sorted, greatest))))
    return StringSet(outside=(Language(name, refused),))


def _greatest(nodes: list[Node], holds: Callable[[Node], bool]) -> list[frozenset[int]]:
    """Return the greatest sets of nodes that have a value in common, as their numbers. Each node has one alone.

    Of such a set, each two have a value in common. The greatest sets with that property are the maximal cliques of a
    graph. Where one of these has no value in common, its least subset that has none tells which node to leave out.
    """
    everything = frozenset(range(len(nodes)))
    if _holds_all(everything, nodes, holds):
        return [everything]
    waiting = _cliques(_compatible_pairs(nodes, holds))
    found: list[frozenset[int]] = []
    seen = set(waiting)
    while waiting:
        chosen = waiting.pop()
        spend(1 + len(chosen))
        if len(chosen) < 3 or _holds_all(chosen, nodes, holds):
            found.append(chosen)
            continue
        least = _least(chosen, nodes, holds)
        smaller = {chosen - {number} for number in least} - seen
        seen |= smaller
        waiting += smaller
        if len(seen) > _MAX_SEARCHED:
            raise _too_many()
    spend(len(found) * len(found))
    return [numbers for numbers in found if not any(numbers < other for other in found)]


def _compatible_pairs(nodes: list[Node], holds: Callable[[Node], bool]) -> list[set[int]]:
    """Return for each node the numbers of the others that it has a value in common with."""
    near: list[set[int]] = [set() for _ in nodes]
    for i, j in combinations(range(len(nodes)), 2):
        spend(1)
        if holds(meet(nodes[i], nodes[j])):
            near[i].add(j)
            near[j].add(i)
    return near


def _cliques(near: list[set[int]]) -> list[frozenset[int]]:
    """Return the maximal cliques of a graph.

    Source: Bron, Kerbosch, "Algorithm 457: Finding All Cliques of an Undirected Graph" (1973).

    Args:
        near: for each vertex its neighbours.
    """
    found: list[frozenset[int]] = []
    waiting: list[tuple[frozenset[int], set[int], set[int]]] = [(frozenset(), set(range(len(near))), set())]
    while waiting:
        clique, candidates, excluded = waiting.pop()
        spend(1 + len(candidates) + len(excluded))
        if not candidates and not excluded:
            found.append(clique)
            if len(found) > _MAX_SEARCHED:
                raise _too_many()
            continue
        pivot = max(candidates | excluded, key=lambda vertex: len(candidates & near[vertex]))
        for vertex in sorted(candidates - near[pivot]):
            waiting.append((clique | {vertex}, candidates & near[vertex], excluded & near[vertex]))
            candidates = candidates - {vertex}
            excluded = excluded | {vertex}
    return found


def _too_many() -> Inexpressible:
    return Inexpressible("patternProperties", "too many of them overlap, with values that exclude each other")


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
