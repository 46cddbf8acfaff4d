"""Intersections of many shapes, where unions of sets of objects or arrays become clauses before they multiply.

The intersection of ten unions of three sets of objects is a union of up to 59,049 sets. Often far fewer are left, as
where all of them are conditions on one key. Otherwise, each union becomes one set with clauses
(`algebra/object_unions.py`, `algebra/array_unions.py`), and so does the intersection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from structgen.schema.algebra import EVERYTHING, Shape
from structgen.schema.algebra.array_unions import as_one
from structgen.schema.reading.nodes import NodeSpace

__all__ = ["all_of", "and_also", "both_of"]

_MAX_SETS = 1_000  # sets of objects of an intersection. If there would be more, unions become clauses
_MIN_GROWING_SETS = 16  # the same for more than so many, if a union makes their number larger by more than a half


def all_of(space: NodeSpace, shapes: Iterable[tuple[Shape, bool]]) -> tuple[Shape, bool]:
    """Return the values that are in all of some shapes, and whether unions became clauses for that.

    Args:
        space: counts the parts made.
        shapes: the shapes; beside each, `absorb` of `NodeSpace.both`.
    """
    met: list[tuple[Shape, bool]] = []
    objects: Shape | None = None  # once unions of objects become clauses: what is known of the objects without them
    arrays: Shape | None = None  # the same of arrays
    result = EVERYTHING
    for shape, absorb in shapes:
        met.append((shape, absorb))
        if _is_included(result, shape):
            continue
        clauses = _with_all_clauses(space, shape, objects, arrays)
        both = clauses if result is EVERYTHING else space.both(result, clauses, absorb=absorb)
        multiply = (
            objects is None and _multiplies(len(result.objects), len(both.objects)),
            arrays is None and _multiplies(len(result.arrays), len(both.arrays)),
        )
        if any(multiply):
            objects = _single(space, met) if multiply[0] else objects
            arrays = _single_arrays(space, met) if multiply[1] else arrays
            both = EVERYTHING
            for other, absorbs in met:
                both = space.both(both, _with_all_clauses(space, other, objects, arrays), absorb=absorbs)
        result = both
    if objects is None:
        _keep_factors(space, result, [shape for shape, _ in met])
    return result, objects is not None or arrays is not None


def _is_included(shape: Shape, other: Shape) -> bool:
    """Return whether a shape without objects is included in another one; False means unknown.

    Of many conditions on a tag, a few leave no object.
    """
    return not shape.objects and (shape.is_nothing() or other.has_all_but_objects())


def _keep_factors(space: NodeSpace, result: Shape, factors: Sequence[Shape]) -> None:
    """Remember the unions of sets of objects whose intersection a shape has, if the intersection is larger."""
    unions = [shape.objects for shape in factors if shape.objects is not EVERYTHING.objects]
    if len(unions) > 1 and len(result.objects) > max(map(len, unions)):
        space.unions.keep_factors(result.objects, unions)


def _with_all_clauses(space: NodeSpace, shape: Shape, objects: Shape | None, arrays: Shape | None) -> Shape:
    """Return a shape with its unions as one set each, where the intersections without them are given."""
    if objects is not None:
        shape = _with_clauses(space, shape, objects)
    return shape if arrays is None else _with_array_clauses(shape, arrays)


def and_also(space: NodeSpace, known: Shape, shape: Shape, *, absorb: bool) -> Shape | None:
    """Return the values in an intersection of shapes and in a further one; None if unions must become clauses."""
    result = shape if known is EVERYTHING else space.both(known, shape, absorb=absorb)
    if _multiplies(len(known.arrays), len(result.arrays)) or _multiplies(len(known.objects), len(result.objects)):
        return None
    _keep_factors(space, result, (known, shape))
    return result


def both_of(space: NodeSpace, left: Shape, right: Shape) -> Shape:
    """Return the values that are in both of two shapes. Where their sets of objects multiply, those of one become one.

    The other shape stays a union: its sets may differ in a tag, which tells what clauses would have to find out.
    """
    both = space.both(left, right)
    few, many = sorted((left, right), key=lambda shape: len(shape.objects))
    if len(few.objects) < 2 or not _multiplies(len(many.objects), len(both.objects)):
        return both
    one = _with_clauses(space, few, _single(space, [(left, False), (right, False)]))
    return space.both(one, right) if few is left else space.both(left, one)


def _multiplies(before: int, after: int) -> bool:
    """Return whether the number of sets in an intersection is large and grows by a factor with each union.

    It grows by one where the unions differ in one key, as in conditions on a tag: such sets stay as they are.
    """
    return after > _MAX_SETS or (after > _MIN_GROWING_SETS and 2 * after > 3 * before)


def _single(space: NodeSpace, shapes: list[tuple[Shape, bool]]) -> Shape:
    """Return the intersection of those of some shapes that have one set of objects."""
    result = EVERYTHING
    for shape, _ in shapes:
        if len(shape.objects) == 1:
            result = space.both(result, Shape(objects=shape.objects))
    return result


def _single_arrays(space: NodeSpace, shapes: list[tuple[Shape, bool]]) -> Shape:
    """Return the intersection of those of some shapes that have one set of arrays."""
    single = [Shape(arrays=shape.arrays) for shape, _ in shapes if len(shape.arrays) == 1]
    return reduce(space.both, single) if single else EVERYTHING


def _with_array_clauses(shape: Shape, single: Shape) -> Shape:
    """Return a shape with its sets of arrays as one set with clauses, where that is possible."""
    if len(shape.arrays) < 2:
        return shape
    one = as_one(shape.arrays, single.arrays[0] if len(single.arrays) == 1 else None)
    return shape if one is None else replace(shape, arrays=(one,))


def _with_clauses(space: NodeSpace, shape: Shape, single: Shape) -> Shape:
    """Return a shape with its sets of objects as one set with clauses, where that is possible.

    Where it is not, it may be possible for the objects that are in another shape, too.
    """
    if len(shape.objects) < 2:
        return shape
    one = space.unions.as_one(shape.objects)
    if one is None:
        factors = space.unions.factors(shape.objects)
        if factors:
            each = [_with_clauses(space, Shape(objects=objects), single) for objects in factors]
            return replace(shape, objects=reduce(space.both, each).objects)
    if one is None and len(single.objects) == 1:
        inside = space.both(shape, single)
        if len(inside.objects) < 2:
            return replace(shape, objects=inside.objects)
        one = space.unions.as_one(inside.objects, single.objects[0])
    return shape if one is None else replace(shape, objects=(one,))
