"""Whether two nodes surely have no value in common, found without making the node of both.

    {"kind": "a", …} and {"kind": "b", …}        no: both need `kind`, and no value of it is in both

Conditions such as "if the kind is a, then …" ask this of each two kinds. The node of many conditions has a large shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from structgen.engine.deadlines import spend
from structgen.schema.algebra import ANY, NONE, NOTHING, Node, ObjectSet
from structgen.schema.algebra.shape import Shape

__all__ = ["DisjointValues"]

_MAX_PAIRS = 64  # of sets of objects that are compared


class DisjointValues:
    """Answers the question, and keeps the answers about the values of keys.

    Args:
        holds: returns whether a node has a value.
        shapes: the shapes of nodes. Those that `holds` was asked about are there.
    """

    def __init__(self, holds: Callable[[Node], bool], shapes: Mapping[Node, Shape]) -> None:
        self._holds = holds
        self._shapes = shapes
        self._known: dict[tuple[Node, Node], bool] = {}  # by the nodes of two values of a key

    def are_disjoint(self, node: Node, other: Node) -> bool:
        """Return whether two nodes surely have no value in common. False says nothing."""
        if not self._has_value(node) or not self._has_value(other):
            return True
        left, right = self._shapes[node], self._shapes[other]
        if not _have_disjoint_scalars(left, right) or (left.arrays and right.arrays):
            return False
        if len(left.objects) * len(right.objects) > _MAX_PAIRS:
            return False
        return all(self._are_told_apart(one, two) for one in left.objects for two in right.objects)

    def _are_told_apart(self, part: ObjectSet, other: ObjectSet) -> bool:
        """Return whether a key that objects of both sets have has no value that is in both."""
        spend(1 + len(part.required) + len(other.required))
        return any(self._have_disjoint(part.at(key), other.at(key)) for key in {*part.required, *other.required})

    def _have_disjoint(self, node: Node, other: Node) -> bool:
        if ANY in (node, other):
            return False
        known = self._known.get((node, other))
        if known is None:
            known = not self._has_value(node) or not self._has_value(other)
            if not known:
                left, right = self._shapes[node], self._shapes[other]
                have_parts = (left.arrays and right.arrays) or (left.objects and right.objects)
                known = not have_parts and _have_disjoint_scalars(left, right)
            self._known[node, other] = known
        return known

    def _has_value(self, node: Node) -> bool:
        return node != NONE and self._holds(node)


def _have_disjoint_scalars(shape: Shape, other: Shape) -> bool:
    left, right = (replace(one, arrays=(), objects=()) for one in (shape, other))
    return left.intersect(right) == NOTHING
