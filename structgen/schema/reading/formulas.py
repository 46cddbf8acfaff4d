"""Unions of intersections of some shapes, all of one JSON type: each a formula in the shapes' numbers.

With A, B and C as shapes of numbers, `(A ∩ B) ∪ C` has the two terms {A, B} and {C}. A formula has the fewest terms:
of {A, B} and {A}, the second includes the first. So two formulas are equal if they say the same whatever the shapes
hold, and a computation in rounds sees when nothing changes. As a shape, the same values could be written in many ways.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.schema.algebra import EVERYTHING, NOTHING, Shape
from structgen.schema.reading.nodes import NodeSpace

__all__ = ["ALWAYS", "KINDS", "NEVER", "Formula", "Formulas", "only"]

KINDS = ("null", "false", "true", "numbers", "strings", "arrays", "objects")
"""The JSON types; false and true are one each. The strings stand before the objects, because keys are strings."""

Formula = dict[int, tuple[int, ...]]
"""The terms of a formula. A term is a set of shapes: bit n stands for shape n. Beside it are its shapes in order."""

ALWAYS: Formula = {0: ()}
NEVER: Formula = {}

_MAX_ABSORBED = 256  # sets of objects that are compared with each other


def only(shape: Shape, kind: str) -> Shape:
    """Return the values of a shape that are of one of `KINDS`."""
    if kind == "null":
        return Shape(null=shape.null)
    if kind in ("false", "true"):
        return Shape(booleans=shape.booleans & (1 if kind == "false" else 2))
    return replace(NOTHING, **{kind: getattr(shape, kind)})


class Formulas:
    """Makes formulas of the shapes of one kind.

    Args:
        space: counts the parts made.
        kind: one of `KINDS`.
    """

    def __init__(self, space: NodeSpace, kind: str) -> None:
        self._space = space
        self._kind = kind
        self._whole = only(EVERYTHING, kind)
        self._shapes: list[Shape] = []
        self._numbers: dict[Shape, int] = {}
        self._meets: dict[int, bool] = {}  # by two shapes, as a term: whether they may have a value in common
        self._made: dict[tuple[int, ...], Shape] = {(): self._whole}

    def of(self, shape: Shape) -> Formula:
        """Return the formula of a shape's values of this kind."""
        mine = only(shape, self._kind)
        if mine == self._whole:
            return ALWAYS
        if mine == NOTHING:
            return NEVER
        number = self._numbers.get(mine)
        if number is None:
            number = self._numbers[mine] = len(self._shapes)
            self._shapes.append(mine)
        return {1 << number: (number,)}

    def both(self, left: Formula, right: Formula) -> Formula:
        """Return the formula of the values that are in both."""
        if right == ALWAYS or not left:
            return left
        if left == ALWAYS or not right:
            return right
        found: Formula = {}
        spend(len(left) * len(right))
        for term, order in left.items():
            for other, more in right.items():
                if term | other not in found and self._may_meet(order, more):
                    found[term | other] = order + tuple([number for number in more if not term >> number & 1])
        return self._least(found)

    def either(self, formulas: Iterable[Formula]) -> Formula:
        """Return the formula of the values that are in any of some formulas."""
        found: Formula = {}
        for formula in formulas:
            for term, order in formula.items():
                found.setdefault(term, order)
        return self._least(found)

    def shape(self, formula: Formula) -> Shape:
        """Return the values of a formula."""
        found = NOTHING.unite(*[self._all_of(order) for order in formula.values()])
        if 1 < len(found.objects) <= _MAX_ABSORBED:
            found = found.absorbed()
        return self._space.spend(found.joined())

    def _least(self, terms: Formula) -> Formula:
        """Return some terms without those that others include."""
        if len(terms) < 2:
            return terms
        if len(terms) > self._space.limits.schema_nodes:
            raise LimitExceededError("schema_nodes", self._space.limits.schema_nodes)
        kept: list[int] = []
        for term in sorted(terms, key=int.bit_count):
            spend(1 + (len(kept) >> 3))
            if not any(term & other == other for other in kept):
                kept.append(term)
        return terms if len(kept) == len(terms) else {term: terms[term] for term in terms if term in set(kept)}

    def _may_meet(self, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
        """Return whether no shape of one term is known to have no value in common with a shape of the other."""
        for number in left:
            for other in right:
                pair = 1 << number | 1 << other
                known = self._meets.get(pair)
                if known is None:
                    known = self._meets[pair] = self._shapes[number].intersect(self._shapes[other]) != NOTHING
                if not known:
                    return False
        return True

    def _all_of(self, numbers: tuple[int, ...]) -> Shape:
        """Return the values that are in all of some shapes."""
        found = self._made.get(numbers)
        if found is None:
            before, last = self._all_of(numbers[:-1]), self._shapes[numbers[-1]]
            found = self._made[numbers] = last if before is self._whole else self._space.both(before, last)
        return found
