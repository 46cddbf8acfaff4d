"""Pairs of alternatives that may share a value, found by their constants. So n alternatives need not n² comparisons.

Alternatives are told apart by their values, where these are few, or by the values of a required key, their tag:

    {"const": "cat"}    {"const": "dog"}
    {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from structgen.engine.deadlines import spend
from structgen.schema.algebra import Node, Shape
from structgen.schema.json_text.values import Value

__all__ = ["Tag", "groups_that_may_meet", "pairs_that_may_meet", "tag_of"]

Tag = tuple[str | None, frozenset[Value]]
"""A required key, or None for the value itself, and the values that it may have."""

_MAX_VALUES = 64


def tag_of(shape: Shape, scalar: Callable[[Node], Shape | None]) -> Tag | None:
    """Return the tag of a shape; None if it has none.

    Args:
        shape: the shape.
        scalar: returns the shape of a node of scalars; None for other nodes.
    """
    if not shape.arrays and not shape.objects:
        values = _values(shape)
        return None if values is None else (None, values)
    if shape.size > len(shape.objects) or shape.null or shape.booleans:
        return None
    for key in shape.objects[0].required:
        found = _values_at(key, shape, scalar)
        if found is not None:
            return key, found
    return None


def _values_at(key: str, shape: Shape, scalar: Callable[[Node], Shape | None]) -> frozenset[Value] | None:
    """Return the values of a key in the objects of a shape; None if they are many, or some objects lack the key."""
    found: frozenset[Value] = frozenset()
    for part in shape.objects:
        spend(1)
        inner = scalar(part.at(key)) if key in part.required else None
        values = None if inner is None else _values(inner)
        if values is None:
            return None
        found |= values
    return found if len(found) <= _MAX_VALUES else None


def _values(shape: Shape) -> frozenset[Value] | None:
    """Return the values of a shape of scalars, and perhaps more; None if they are many, or not listed."""
    found: set[Value] = {("boolean", bool(bit)) for bit in range(2) if shape.booleans >> bit & 1}
    if shape.null:
        found.add(("null",))
    for strings in shape.strings:
        if strings.texts is None or len(strings.texts) > _MAX_VALUES:
            return None
        found.update(("string", text) for text in strings.texts)
    for numbers in shape.numbers:
        size = numbers.size()
        if size is None or size > _MAX_VALUES:
            return None
        found.update(("number", value) for value in numbers.listed())
    return frozenset(found) if len(found) <= _MAX_VALUES else None


def pairs_that_may_meet(tags: Sequence[Tag | None]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of indices, the lower one first, whose tags do not tell them apart."""
    indices: dict[str | None, list[int]] = defaultdict(list)  # by key
    by_value: dict[tuple[str | None, Value], list[int]] = defaultdict(list)
    untagged: list[int] = []
    for index, tag in enumerate(tags):
        spend(1)
        if tag is None:
            earlier = set(range(index))
            untagged.append(index)
        else:
            key, values = tag
            earlier = set(untagged)
            if key is not None:  # a scalar is no object
                earlier.update(*(others for other, others in indices.items() if other not in (None, key)))
            for value in values:
                same = by_value[key, value]
                earlier.update(same)
                same.append(index)
            indices[key].append(index)
        for before in sorted(earlier):
            yield before, index


def groups_that_may_meet(tags: Sequence[Tag | None]) -> list[list[int]]:
    """Return the indices of some tags in groups: tags that may be equal are in one group."""
    group_of = list(range(len(tags)))
    groups = [[i] for i in group_of]
    for i, j in pairs_that_may_meet(tags):
        first, second = group_of[i], group_of[j]
        if first != second:
            for other in groups[second]:
                group_of[other] = first
            groups[first] += groups[second]
            groups[second] = []
    return [group for group in groups if group]
