"""Schemas with `oneOf` whose branches are told apart by the keywords beside it.

Alone, the two branches of this schema have values in common: the objects without `kind`. So each branch would need the
complement of the other. With the keyword beside them they have none in common, and their union is enough:

    {"required": ["kind"],
     "oneOf": [{"properties": {"kind": {"const": "a"}}}, {"properties": {"kind": {"const": "b"}}}]}

A branch may have a `oneOf` too. Its branches are told apart by the keywords beside both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from structgen.schema.algebra import EVERYTHING, Node, Shape, is_decided
from structgen.schema.reading.applicators import APPLICATORS, branches
from structgen.schema.reading.intersections import both_of
from structgen.schema.reading.nodes import NodeSpace
from structgen.schema.reading.scopes import Location
from structgen.schema.reading.tags import pairs_that_may_meet, tag_of

__all__ = ["told_apart"]

_P = TypeVar("_P")


class _Beside(NamedTuple):
    """The values that keywords beside a `oneOf` allow: those before it and after it, as keys keep their order."""

    before: Shape
    after: Shape


_ALONE = _Beside(EVERYTHING, EVERYTHING)


def told_apart(space: NodeSpace, known: dict[str, Any], location: Location, beside: _Beside = _ALONE) -> Shape | None:
    """Return the values that satisfy a schema's keywords, one of them `oneOf`; None if its branches may overlap.

    Args:
        space: makes the nodes and shapes of subschemas.
        known: the keywords.
        location: their location.
        beside: the values to look at. The values returned are in both of its shapes.
    """
    if len(known) == 1 and beside is _ALONE:
        return None
    combining = [key for key in known if key in APPLICATORS]
    first, last = combining[: combining.index("oneOf")], combining[combining.index("oneOf") + 1 :]
    base = [space.base(known, location)] if len(combining) < len(known) else []
    before = _all(space, [beside.before, *base, *(space.keyword(key, known, location) for key in first)])
    after = _all(space, [*(space.keyword(key, known, location) for key in last), beside.after])
    if before is EVERYTHING and after is EVERYTHING:
        return None
    nodes = branches(space, known, "oneOf", location)
    if not all(map(is_decided, nodes)):
        return None
    inside = [_within(space, node, _Beside(before, after)) for node in nodes]
    others = _other_types(inside, _all(space, [before, after]))
    objects = [Shape(objects=shape.objects) for shape in inside]
    tags = [tag_of(shape, space.known_scalar) for shape in objects]
    if others is None or any(_overlap(space, objects[i], objects[j]) for i, j in pairs_that_may_meet(tags)):
        return None
    return space.spend(others.unite(*objects).joined())


def _all(space: NodeSpace, shapes: Iterable[Shape]) -> Shape:
    """Return the values that are in all of some shapes."""
    result = EVERYTHING
    for shape in shapes:
        if shape is not EVERYTHING:
            result = shape if result is EVERYTHING else both_of(space, result, shape)
    return result


def _within(space: NodeSpace, node: Node, beside: _Beside) -> Shape:
    """Return the values of a node that are in both shapes beside it."""
    atom = node[0] if len(node) == 1 else 0
    if isinstance(atom, int) and atom > 0 and atom not in space.under_way:
        with space.inside(atom) as (known, location):
            if "oneOf" in known:
                space.under_way.add(atom)
                try:
                    found = told_apart(space, known, location, beside)
                finally:
                    space.under_way.discard(atom)
                if found is not None:
                    return found
    return _all(space, [beside.before, space.shape(node), beside.after])


def _overlap(space: NodeSpace, left: Shape, right: Shape) -> bool:
    return any(space.object_may_hold(part) for part in space.both(left, right).objects)


def _other_types(shapes: list[Shape], whole: Shape) -> Shape | None:
    """Return the values that are no objects and in exactly one of some shapes; None where that is not simple.

    Args:
        shapes: the shapes.
        whole: a shape that includes them.
    """
    numbers = _in_one([shape.numbers for shape in shapes], whole.numbers)
    strings = _in_one([shape.strings for shape in shapes], whole.strings)
    arrays = _in_one([shape.arrays for shape in shapes], whole.arrays)
    if numbers is None or strings is None or arrays is None:
        return None
    booleans = sum(bit for bit in (1, 2) if sum(bool(shape.booleans & bit) for shape in shapes) == 1)
    null = sum(shape.null for shape in shapes) == 1
    return Shape(null, booleans, numbers, strings, arrays)


def _in_one(unions: Sequence[tuple[_P, ...]], whole: tuple[_P, ...]) -> tuple[_P, ...] | None:
    """Return what is in exactly one of some unions; None where that is not simple."""
    held = [parts for parts in unions if parts]
    if len(held) < 2:
        return held[0] if held else ()
    return () if sum(parts == whole for parts in held) > 1 else None
