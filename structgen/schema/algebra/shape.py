"""Shapes: sets of JSON values as unions of parts, a kind of part for each JSON type.

`{"allOf": [{"type": "integer"}, {"minimum": 3}]}` has one part, a set of numbers:

    Shape(numbers=(NumberSet(low=3, multiple=1),))

`{"type": ["null", "object"], "properties": {"a": {"type": "string"}}, "required": ["a"]}` has null and one set of
objects. The value of `a` is a node, say (3,): its own shape is computed when it is asked for.

    Shape(null=True, objects=(ObjectSet(properties={"a": (2,)}, required=("a",)),))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from structgen.engine.deadlines import spend
from structgen.schema.algebra.arrays import ALL_ARRAYS, ArraySet
from structgen.schema.algebra.nodes import NONE, Node
from structgen.schema.algebra.numbers import ALL_NUMBERS, NumberSet
from structgen.schema.algebra.object_unions import joined
from structgen.schema.algebra.objects import ALL_OBJECTS, ObjectSet
from structgen.schema.algebra.strings import ALL_STRINGS, StringSet

__all__ = ["EVERYTHING", "NOTHING", "Shape"]

_MAX_APART = 4  # sets of objects that are not compared, for simple rules of small unions

_P = TypeVar("_P", bound="_Part")


class _Part(Protocol):
    """The operations that the parts of all types have."""

    def intersect(self: _P, other: _P) -> _P | None: ...

    def complement(self: _P) -> list[_P]: ...


@dataclass(unsafe_hash=True)
class Shape:
    """The union of its parts. A type without a part has no value in the shape.

    Attributes:
        null: null is a member.
        booleans: bit 0: false is a member; bit 1: true is a member.
        numbers: sets of numbers; the shape has the union of them.
        strings: sets of strings.
        arrays: sets of arrays.
        objects: sets of objects.
    """

    null: bool = False
    booleans: int = 0
    numbers: tuple[NumberSet, ...] = ()
    strings: tuple[StringSet, ...] = ()
    arrays: tuple[ArraySet, ...] = ()
    objects: tuple[ObjectSet, ...] = ()

    @property
    def size(self) -> int:
        """Number of parts, null and booleans aside."""
        return len(self.numbers) + len(self.strings) + len(self.arrays) + len(self.objects)

    def is_nothing(self) -> bool:
        """Return whether no value is in the shape; False means unknown, as its parts may have no members."""
        return not (self.null or self.booleans or self.numbers or self.strings or self.arrays or self.objects)

    def has_all_but_objects(self) -> bool:
        """Return whether every value that is not an object is in the shape; False means unknown."""
        return (
            self.null
            and self.booleans == 3
            and self.numbers is ALL_NUMBERS
            and self.strings is ALL_STRINGS
            and self.arrays is ALL_ARRAYS
        )

    def intersect(self, other: Shape) -> Shape:
        """Return the values that are in both shapes."""
        return Shape(
            self.null and other.null,
            self.booleans & other.booleans,
            _intersect(self.numbers, other.numbers, ALL_NUMBERS),
            _intersect(self.strings, other.strings, ALL_STRINGS),
            _intersect(self.arrays, other.arrays, ALL_ARRAYS),
            _intersect(self.objects, other.objects, ALL_OBJECTS),
        )

    def unite(self, *others: Shape) -> Shape:
        """Return the values that are in any of the shapes."""
        shapes = (self, *others)
        booleans = 0
        for shape in shapes:
            booleans |= shape.booleans
        return Shape(
            any(shape.null for shape in shapes),
            booleans,
            _unite([shape.numbers for shape in shapes], ALL_NUMBERS),
            _unite([shape.strings for shape in shapes], ALL_STRINGS),
            _unite([shape.arrays for shape in shapes], ALL_ARRAYS),
            _unite([shape.objects for shape in shapes], ALL_OBJECTS),
        )

    def absorbed(self) -> Shape:
        """Return the same set without sets of objects that others cover. Compares each two of them."""
        kept: list[tuple[ObjectSet, frozenset[str]]] = []
        for part in self.objects:
            spend(1 + len(kept))
            needed = frozenset(part.required)
            if not _is_covered(part, needed, kept):
                kept = [(other, keys) for other, keys in kept if not (needed <= keys and part.covers(other))]
                kept.append((part, needed))
        objects = tuple([part for part, _ in kept])
        return Shape(self.null, self.booleans, self.numbers, self.strings, self.arrays, objects)

    def with_fewer_complements(self) -> Shape:
        """Return the same set without sets of objects that need a complement, if other sets cover them without it.

        Of "A and not B", where a key tells A and B apart, one set has the values of A with another value of the key. It
        covers those with a value that B refuses: the complement of that value's schema need not be made.

            {kind: x, a: A}        covers        {kind: x, a: A and not B}
        """
        objects = self.objects
        for part in self.objects:
            keys = [key for key, node in part.properties.items() if _has_complement(node)]
            if keys and _is_needless(part, keys, objects):
                objects = tuple([other for other in objects if other is not part])
        if objects is self.objects:
            return self
        return Shape(self.null, self.booleans, self.numbers, self.strings, self.arrays, objects)

    def joined(self) -> Shape:
        """Return the same set with fewer sets of objects: those that differ in one key become one."""
        if len(self.objects) <= _MAX_APART:
            return self
        objects = joined(self.objects)
        return Shape(self.null, self.booleans, self.numbers, self.strings, self.arrays, objects)

    def complement(self) -> Shape:
        """Return the values that are not in the shape."""
        return Shape(
            not self.null,
            3 & ~self.booleans,
            _complement(self.numbers, ALL_NUMBERS),
            _complement(self.strings, ALL_STRINGS),
            _complement(self.arrays, ALL_ARRAYS),
            _complement(self.objects, ALL_OBJECTS),
        )


def _is_covered(part: ObjectSet, needed: frozenset[str], others: list[tuple[ObjectSet, frozenset[str]]]) -> bool:
    """Return whether one of some sets covers a set of objects. The required keys beside each are compared first."""
    for other, keys in others:  # noqa: SIM110  (compiled, a generator takes longer)
        if keys <= needed and other.covers(part):
            return True
    return False


def _has_complement(node: Node) -> bool:
    """Return whether a node has complements or unions among its atoms; these come last."""
    if not node or node == NONE:
        return False
    last = node[len(node) - 1]
    return not isinstance(last, int) or last < 0


def _is_needless(part: ObjectSet, keys: list[str], others: tuple[ObjectSet, ...]) -> bool:
    """Return whether one of some sets covers a set of objects, with its keys in the same order, and fewer complements.

    Args:
        part: the set.
        keys: those whose values need a complement or a union.
        others: the sets.
    """
    order = _order(part)
    for other in others:
        spend(1)
        if other is not part and len(other.required) <= len(part.required):
            nodes = [(part.at(key), other.at(key)) for key in keys]
            is_less = any(len(theirs) < len(mine) for mine, theirs in nodes)
            if is_less and order == _order(other) and other.covers(part):
                return True
    return False


def _order(part: ObjectSet) -> tuple[object, ...]:
    """Return what the order of keys depends on: the properties, other required keys, and the keys of clauses."""
    unnamed = [key for key in part.required if key not in part.properties]
    return list(part.properties), unnamed, part.clauses


def _intersect(left: tuple[_P, ...], right: tuple[_P, ...], whole: tuple[_P, ...]) -> tuple[_P, ...]:
    if right is whole or not left:
        return left
    if left is whole or not right:
        return right
    if len(left) == 1 and len(right) == 1:  # sets need not be hashed
        spend(2)
        only = left[0].intersect(right[0])
        return () if only is None else (only,)
    out: dict[_P, None] = {}
    for part in left:
        for other in right:
            spend(2)
            both = part.intersect(other)
            if both is not None:
                out[both] = None
    return tuple(out)


def _unite(unions: list[tuple[_P, ...]], whole: tuple[_P, ...]) -> tuple[_P, ...]:
    full = [parts for parts in unions if parts]
    if len(full) < 2:
        return full[0] if full else ()
    if any(parts is whole for parts in full):
        return whole
    return tuple(dict.fromkeys(part for parts in full for part in parts))


def _complement(parts: tuple[_P, ...], whole: tuple[_P, ...]) -> tuple[_P, ...]:
    if parts is whole:
        return ()
    rest = whole
    for part in parts:
        spend(2)
        rest = _intersect(rest, tuple(part.complement()), whole)
    return rest


NOTHING = Shape()
EVERYTHING = Shape(True, 3, ALL_NUMBERS, ALL_STRINGS, ALL_ARRAYS, ALL_OBJECTS)
