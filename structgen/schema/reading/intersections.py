"""Intersections of many shapes, where unions of sets of objects become clauses before they multiply.

The intersection of ten unions of three sets of objects is a union of up to 59,049 sets. Often far fewer are left, as
where all of them are conditions on one key. Otherwise, each union becomes one set with clauses
(`algebra/object_unions.py`), and so does the intersection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from structgen.schema.algebra import EVERYTHING, Shape, as_one
from structgen.schema.reading.nodes import NodeSpace

__all__ = ["all_of"]

_MAX_SETS = 1_000  # sets of objects of an intersection; where there would be more, unions become clauses
_MANY_SETS = 64  # where there are more, the same if their number grows with each union by half or more


def all_of(space: NodeSpace, shapes: Iterable[tuple[Shape, bool]]) -> Shape:
    """Return the values that are in all of some shapes.

    Args:
        space: counts the parts made.
        shapes: the shapes; beside each, `absorb` of `NodeSpace.both`.
    """
    met: list[tuple[Shape, bool]] = []
    has_clauses = False
    result = EVERYTHING
    for shape, absorb in shapes:
        if has_clauses:
            result = space.both(result, _with_clauses(shape), absorb=absorb)
            continue
        met.append((shape, absorb))
        before = len(result.objects)
        result = shape if result is EVERYTHING else space.both(result, shape, absorb=absorb)
        if _multiplies(before, len(result.objects)):
            has_clauses, result = True, EVERYTHING
            for other, absorbs in met:
                result = space.both(result, _with_clauses(other), absorb=absorbs)
    return result


def _multiplies(before: int, after: int) -> bool:
    """Return whether the number of sets in an intersection is large and grows by a factor with each union.

    It grows by one where the unions differ in one key, as in conditions on a tag: such sets stay as they are.
    """
    return after > _MAX_SETS or (after > _MANY_SETS and 2 * after > 3 * before)


def _with_clauses(shape: Shape) -> Shape:
    """Return a shape with its sets of objects as one set with clauses, where that is possible."""
    one = as_one(shape.objects) if len(shape.objects) > 1 else None
    return shape if one is None else replace(shape, objects=(one,))
