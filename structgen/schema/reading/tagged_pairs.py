"""Intersections of two unions of sets of objects that differ in a tag, without comparing what the tag decides.

A chain of conditions on one key adds a set with each condition:

    {"allOf": [{"if": {"properties": {"kind": {"const": "a"}}}, "then": A}, …]}

    "kind" is "a", and A;     "kind" is "b", and B;     …;     "kind" is none of these

The next condition has two sets: "kind" is "z", and Z; "kind" is not "z". The first has nothing in common with the sets
of "a" and "b", and the second leaves them as they are. So n conditions need not intersect n² sets of objects.
"""

from __future__ import annotations

from dataclasses import replace

from structgen.engine.deadlines import spend
from structgen.schema.algebra import ANY, Node, Shape
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.reading.simple_nodes import SimpleNodes

__all__ = ["MANY_PAIRS", "both_by_tag", "may_rule_out"]

MANY_PAIRS = 24  # pairs of sets of objects: of fewer, each is intersected


def both_by_tag(names: SimpleNodes, left: Shape, right: Shape) -> tuple[Shape, set[int]]:
    """Return the values that are in both of two shapes.

    Args:
        names: finds the values of tags.
        left: a shape.
        right: another one.

    Returns:
        The shape, and the identities of those of its sets of objects that are sets of `left`.
    """
    few = min(len(left.objects), len(right.objects)) < 2
    key = None if few else _tag(names, right.objects)
    if key is None:
        return left.intersect(right), set()
    others = [_Other(part, key, names) for part in right.objects]
    changed: dict[ObjectSet, None] = {}
    unchanged: set[int] = set()
    parts: list[ObjectSet] = []
    for part in left.objects:
        mine = names.values(part.properties.get(key, ANY))
        texts = None if mine is None or mine[0] else mine[1]
        for other in others:
            spend(1)
            is_inside = None if texts is None else other.includes(part, texts)
            if is_inside:
                if id(part) not in unchanged:
                    unchanged.add(id(part))
                    parts.append(part)
            elif is_inside is None:
                both = part.intersect(other.part)
                if both is not None and both not in changed:
                    changed[both] = None
                    parts.append(both)
    met = replace(left, objects=()).intersect(replace(right, objects=()))
    return replace(met, objects=tuple(parts)), unchanged


def may_rule_out(left: tuple[ObjectSet, ...], right: tuple[ObjectSet, ...]) -> bool:
    """Return whether some pairs of sets of objects may have no member in common, because of a required key."""
    if len(left) > 1 and len(right) > 1:
        return True
    single = left[0] if len(left) == 1 else right[0]
    return bool(single.required)


class _Other:
    """A set of objects that restricts a tag.

    Attributes:
        part: the set.
        key: the tag.
        texts: the values of the tag, or all that are not its values.
        excludes: the texts are those that are not its values.
        requires: the set requires the tag.
        is_only_tag: it has no other condition.
    """

    def __init__(self, part: ObjectSet, key: str, names: SimpleNodes) -> None:
        self.part = part
        self.key = key
        self.excludes, self.texts = names.values(part.properties[key]) or (True, frozenset())
        self.requires = key in part.required
        self.is_only_tag = part == ObjectSet({key: part.properties[key]}, required=(key,) if self.requires else ())

    def includes(self, part: ObjectSet, texts: frozenset[str]) -> bool | None:
        """Return whether a set of objects is included in this one; None if they must be intersected.

        Args:
            part: the set.
            texts: the values of its tag.

        Returns:
            True: it is included. False: the two have nothing in common.
        """
        is_required = self.key in part.required
        if self.texts.isdisjoint(texts) if not self.excludes else texts <= self.texts:
            return False if is_required or self.requires else None
        is_allowed = self.texts.isdisjoint(texts) if self.excludes else texts <= self.texts
        return True if is_allowed and self.is_only_tag and (is_required or not self.requires) else None


def _tag(names: SimpleNodes, parts: tuple[ObjectSet, ...]) -> str | None:
    """Return a key that all of some sets restrict to a few texts, or to all values but a few; None if there is none."""
    for key in parts[0].properties:
        if all(key in part.properties and _is_exact(names, part.properties[key]) for part in parts):
            return key
    return None


def _is_exact(names: SimpleNodes, node: Node) -> bool:
    """Return whether exactly the values of a node are known."""
    return names.covers(node) and names.values(node) is not None
