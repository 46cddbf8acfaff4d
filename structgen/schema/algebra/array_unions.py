"""Unions of sets of arrays as one set with clauses, and back.

The intersection of many unions is a product of sets: thirteen unions of two sets are 8,192 sets. As one set with
clauses each, they are one set with all their clauses. A union in which each set has one condition is one clause:

    {no item in A}  or  {some item in B}          no item is in A, or some item is in B

Where the sets have more conditions each, there is a clause for each way to choose one condition from every set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.schema.algebra.arrays import ArraySet, Contains, CountClause
from structgen.schema.algebra.clauses import one_of_each
from structgen.schema.algebra.nodes import ANY, Node, complement, is_decided

__all__ = ["apart", "as_one", "is_unordered"]

_MAX_CLAUSES = 128  # of one union
_MAX_TRIED = 1_024  # clauses, of which those that others imply are dropped
_MAX_APART = 4_096  # sets that one set with clauses stands for


def as_one(parts: Sequence[ArraySet], within: ArraySet | None = None) -> ArraySet | None:
    """Return the union of some sets as one set; None if clauses cannot express it, or too many would be needed.

    Args:
        parts: the sets.
        within: a set that the result is intersected with. Arrays that are not in it may be added to the union.
    """
    first = parts[0]
    if any((part.prefix, part.repeats) != (first.prefix, first.repeats) for part in parts):
        return None
    conditions = [_conditions(part) for part in parts]
    if any(own is None for own in conditions):
        return None
    known = set(_conditions(within) or ()) if within is not None and within.prefix == first.prefix else set()
    found: dict[CountClause, None] = {(): None}
    common = [clause for clause in conditions[0] or () if all(clause in (own or ()) for own in conditions)]
    for own in conditions:
        rest = [clause for clause in own or () if clause not in known and clause not in common]
        tried = one_of_each(found, rest, _either, _MAX_TRIED)
        if tried is None:
            return None
        found = dict.fromkeys(_least(list(tried)))
        if len(found) > _MAX_CLAUSES:
            return None
    return _with_clauses(ArraySet(first.prefix, repeats=first.repeats), [*common, *found])


def _with_clauses(part: ArraySet, clauses: Iterable[CountClause]) -> ArraySet:
    """Return the arrays of a set that satisfy some clauses; a set without arrays if none does."""
    return (
        ArraySet(
            part.prefix,
            part.rest,
            part.low,
            part.high,
            part.contains,
            part.repeats,
            tuple(dict.fromkeys((*part.clauses, *clauses))),
        ).reduced()
        or _NO_ARRAYS
    )


_NO_ARRAYS = ArraySet(low=1, high=0)


def _conditions(part: ArraySet) -> dict[CountClause, None] | None:
    """Return a set's conditions as clauses, those of its prefix aside; None if clauses cannot express one."""
    size = len(part.prefix)
    counts = [Contains(size, complement((atom,)), 0, 0) for atom in part.rest]  # no item is out of an atom
    if part.low:
        counts.append(Contains(0, ANY, part.low))
    if part.high is not None:
        counts.append(Contains(0, ANY, 0, part.high))
    for count in part.contains:
        if count.low:
            counts.append(Contains(count.start, count.node, count.low))
        if count.high is not None:
            counts.append(Contains(count.start, count.node, 0, count.high))
    found = dict.fromkeys([*((count,) for count in counts), *part.clauses])
    return found if all(is_decided(count.node) for clause in found for count in clause) else None


def _either(left: CountClause, right: CountClause) -> CountClause | None:
    """Return the clause that holds where either of two does; None if every array satisfies it."""
    merged: dict[tuple[int, Node, bool], Contains] = {
        (count.start, count.node, count.high is None): count for count in left
    }
    for count in right:
        key = count.start, count.node, count.high is None
        known = merged.get(key, count)
        if count.high is None:
            merged[key] = count if count.low < known.low else known
        else:
            merged[key] = count if known.high is not None and count.high > known.high else known
        at_least, at_most = merged.get((*key[:2], True)), merged.get((*key[:2], False))
        if at_least is not None and at_most is not None and (at_most.high or 0) + 1 >= at_least.low:
            return None
    return tuple(merged.values())


def _least(clauses: list[CountClause]) -> list[CountClause]:
    """Return clauses without those that others imply."""
    sets = [set(clause) for clause in clauses]
    spend(len(sets) * len(sets) >> 3)
    return [
        clause
        for number, (clause, mine) in enumerate(zip(clauses, sets, strict=True))
        if not any(other < mine or (other == mine and at < number) for at, other in enumerate(sets))
    ]


def is_unordered(part: ArraySet) -> bool:
    """Return whether a set with clauses only asks whether items are in nodes, wherever they stand, and how often.

    So the order of items does not matter, nor does their greatest number.
    """
    if part.prefix or part.high is not None or part.repeats is not None:
        return False
    return all(not count.start and count.high is None for count in part.contains) and all(
        not count.start and count.high in (None, 0) for clause in part.clauses for count in clause
    )


def apart(part: ArraySet) -> list[ArraySet]:
    """Return sets without clauses whose union is a set with clauses.

    Raises:
        LimitExceededError: they are too many.
    """
    found: list[ArraySet] = []
    waiting = [part]
    while waiting:
        at = waiting.pop()
        spend(1 + len(at.clauses))
        if not at.clauses:
            found.append(at)
            if len(found) > _MAX_APART:
                message = "too many ways to meet the conditions on the items of an array"
                raise LimitExceededError("schema_nodes", _MAX_APART, message=message, is_fixed=True)
            continue
        first, *others = at.clauses
        plain = ArraySet(at.prefix, at.rest, at.low, at.high, at.contains, at.repeats, tuple(others))
        for count in reversed(first):
            both = plain.intersect(ArraySet(contains=(count,)))
            if both is not None:
                waiting.append(both)
    return list(dict.fromkeys(found))
