"""Unions of sets of objects as one set with clauses.

The intersection of many unions is a product of sets: ten unions of three sets are 59,049 sets. As one set with clauses
each (`clauses.py`), they are one set with all their clauses. A union in which each set has one condition is one clause:

    {a: absent}  or  {b: string, required}          a is absent, or b is a string

Where the sets have more conditions each, there is a clause for each way to choose one condition from every set.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.deadlines import spend
from structgen.schema.algebra.clauses import Clause, Literal, clause_of
from structgen.schema.algebra.nodes import ANY, any_of
from structgen.schema.algebra.objects import ObjectSet

__all__ = ["as_one"]

_MAX_CLAUSES = 128  # of one union


def as_one(parts: Sequence[ObjectSet]) -> ObjectSet | None:
    """Return the union of some sets as one set; None if clauses cannot express it, or too many would be needed."""
    first = parts[0]
    if any(_others(part) != _others(first) for part in parts):
        return None
    keys: dict[str, None] = {}
    for part in parts:
        keys |= dict.fromkeys((*part.properties, *part.required))
    conditions = [_conditions(part, keys) for part in parts]
    common = set(conditions[0]).intersection(*conditions[1:])
    clauses: dict[Clause, None] = {(): None}
    for own in conditions:
        rest = [clause for clause in own if clause not in common]
        if not rest:  # the set has the common conditions only, so it includes the others
            clauses = {}
        spend(len(clauses) * len(rest))
        joined = (clause_of((*clause, *other)) for clause in clauses for other in rest)
        clauses = {clause: None for clause in joined if clause is not None}
        if len(clauses) > _MAX_CLAUSES:
            return None
    return ObjectSet(
        {key: any_of(part.at(key) for part in parts) for key in keys},
        first.classes,
        (),
        first.low,
        first.high,
        first.somewhere,
        first.overlapping,
        (*common, *_least(list(clauses))),
    ).reduced() or ObjectSet(high=0, low=1)


def _others(part: ObjectSet) -> tuple[object, ...]:
    """Return the conditions of a set that are not about single keys."""
    return part.classes, part.low, part.high, part.somewhere, part.overlapping


def _conditions(part: ObjectSet, keys: dict[str, None]) -> dict[Clause, None]:
    """Return a set's conditions on some keys as clauses, those that are clauses already included."""
    found: dict[Clause, None] = {}
    for key in keys:
        literal = Literal(key, part.at(key), key not in part.required)
        if literal.node != ANY or not literal.or_absent:
            found[literal,] = None
    return found | dict.fromkeys(part.clauses)


def _least(clauses: list[Clause]) -> list[Clause]:
    """Return clauses without those that others imply."""
    sets = [set(clause) for clause in clauses]
    spend(len(sets) * len(sets) >> 3)
    return [clause for clause, mine in zip(clauses, sets, strict=True) if not any(other < mine for other in sets)]
