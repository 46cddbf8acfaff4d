"""Unions of sets of objects as one set with clauses.

The intersection of many unions is a product of sets: ten unions of three sets are 59,049 sets. As one set with clauses
each (`clauses.py`), they are one set with all their clauses. A union in which each set has one condition is one clause:

    {a: absent}  or  {b: string, required}          a is absent, or b is a string

Where the sets have more conditions each, there is a clause for each way to choose one condition from every set.

Sets that differ in one key need no clauses: `joined` makes one set of them, whose values of that key are a union.

    {a: string, b: 1}  or  {a: null, b: 1}          {a: string or null, b: 1}
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from structgen.engine.deadlines import spend
from structgen.schema.algebra.clauses import Clause, Literal, clause_of, either, one_of_each
from structgen.schema.algebra.nodes import ANY, any_of
from structgen.schema.algebra.objects import OPEN, KeyClass, ObjectSet

__all__ = ["ObjectUnions", "joined"]

_MAX_CLAUSES = 128  # of one union
_MAX_JOINED = 64  # sets that are joined where they differ in one key
_MAX_JOINED_KEYS = 8  # keys of those sets
_HASH_OF_OPEN = hash(OPEN)


Parts = tuple[ObjectSet, ...]
"""A union of sets."""


class ObjectUnions:
    """Unions of sets of objects as one set each. Hundreds of nodes may need the same union, so each is made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[object, ObjectSet | None]] = {}  # by identity
        self._factors: dict[int, tuple[object, tuple[Parts, ...]]] = {}  # by identity

    def as_one(self, parts: Sequence[ObjectSet], within: ObjectSet | None = None) -> ObjectSet | None:
        """Return the union of some sets as one set; None if clauses cannot express it, or too many would be needed.

        Args:
            parts: the sets.
            within: a set that the result is intersected with. Objects that are not in it may be added to the union.
        """
        key = (*map(id, parts), id(within))
        known = self._known.get(key)
        if known is None:  # the sets are kept beside the result, so that no other set gets the identity of one
            known = self._known[key] = ((parts, within), _as_one(parts, within))
        return known[1]

    def keep_factors(self, parts: Parts, factors: Iterable[Parts]) -> None:
        """Remember that a union is the intersection of some unions."""
        self._factors[id(parts)] = parts, tuple(factors)

    def factors(self, parts: Parts) -> tuple[Parts, ...]:
        """Return the unions whose intersection a union is, as far as is known.

        Each of them may be one set with few clauses, where their intersection would need too many.
        """
        known = self._factors.get(id(parts))
        return known[1] if known is not None else ()


def _as_one(parts: Sequence[ObjectSet], within: ObjectSet | None) -> ObjectSet | None:
    """See `ObjectUnions.as_one`."""
    parts = [_with_named_witnesses(part) for part in parts]
    first = parts[0]
    if any(_others(part) != _others(first) for part in parts):
        return None
    keys: dict[str, None] = {}
    for part in parts:
        keys |= dict.fromkeys((*part.properties, *part.required))
    conditions = [_conditions(part, keys) for part in parts]
    common = [clause for clause in conditions[0] if all(clause in own for own in conditions)]
    known = set(common) if within is None else {*common, *_conditions(within, keys)}
    clauses: dict[Clause, None] = {(): None}
    for own in conditions:
        rest = [clause for clause in own if clause not in known]
        found = one_of_each(clauses, rest, either, _MAX_CLAUSES)
        if found is None:
            return None
        clauses = found  # none where a set has the common conditions only: it includes the others
    return ObjectSet(
        {key: any_of(part.at(key) for part in parts) for key in keys},
        first.classes,
        (),
        first.low,
        first.high,
        first.somewhere,
        first.overlapping,
        (*common, *_least(list(clauses))),
    ).reduced() or ObjectSet({}, high=0, low=1)


def _with_named_witnesses(part: ObjectSet) -> ObjectSet:
    """Return a set with a clause for each part of `somewhere` that only properties can satisfy.

    In an object without other keys, "some key but `a`" is a clause: `b` is present, or `c` is.
    """
    kept: list[KeyClass] = []
    clauses: list[Clause] = []
    for keys, node in part.somewhere:
        named, others = part.witnesses(keys, node)
        clause = None if others else clause_of(Literal(key, node, False) for key in named)
        if clause is None:
            kept.append((keys, node))
        else:
            clauses.append(clause)
    return replace(part, somewhere=tuple(kept), clauses=(*part.clauses, *clauses)) if clauses else part


def joined(parts: tuple[ObjectSet, ...]) -> tuple[ObjectSet, ...]:
    """Return the union of some sets with fewer sets: those that differ in one key become one.

    Nested complements double the sets at each level without it. Of many sets, or many keys, it returns the sets as they
    are, because comparing them takes long.
    """
    keys = _keys(parts) if len(parts) <= _MAX_JOINED else []
    before = 0 if keys else len(parts)
    while len(parts) > 1 and len(parts) != before:
        before = len(parts)
        sketches = [_sketch(part) for part in parts]
        for key in keys:
            spend(len(parts) * len(keys))
            if not _may_be_alike(key, parts, sketches):
                continue
            alike: dict[Hashable, list[ObjectSet]] = {}
            for part in parts:
                alike.setdefault(_apart_from(key, part), []).append(part)
            if len(alike) < len(parts):
                parts = tuple([_joined_at(key, group) for group in alike.values()])
                sketches = [_sketch(part) for part in parts]
    return parts


def _keys(parts: tuple[ObjectSet, ...]) -> list[str]:
    """Return the keys of some sets; none if they are many."""
    found: dict[str, None] = {}
    for part in parts:
        for key in part.properties:
            found[key] = None
        for key in part.required:
            found[key] = None
        if len(found) > _MAX_JOINED_KEYS:
            return []
    return list(found)


def _sketch(part: ObjectSet) -> int:
    """Return a number that sets have in common if they have the same values of all keys and the same other conditions.

    It is made of one number for each key, so that one of them can be taken out of it.
    """
    classes = _HASH_OF_OPEN if part.classes is OPEN else hash(part.classes)
    found = hash((part.clauses, classes, part.low, part.high, part.somewhere, part.overlapping))
    properties = part.properties
    for key, node in properties.items():
        found ^= hash((key, node))
    return found


def _may_be_alike(key: str, parts: tuple[ObjectSet, ...], sketches: list[int]) -> bool:
    """Return whether two of some sets may differ in a key only, by their sketches."""
    found: set[int] = set()
    for i in range(len(parts)):
        part = parts[i]
        node = part.properties.get(key)
        sketch = sketches[i]
        found.add(sketch if node is None else sketch ^ hash((key, node)))
    return len(found) < len(parts)


def _apart_from(key: str, part: ObjectSet) -> Hashable:
    """Return the conditions of a set that are not about a key."""
    properties = frozenset(pair for pair in part.properties.items() if pair[0] != key)
    return properties, frozenset(part.required) - {key}, part.clauses, _others(part)


def _joined_at(key: str, parts: list[ObjectSet]) -> ObjectSet:
    """Return the union of sets that differ only in the values of a key, or in whether they require it."""
    first = parts[0]
    if len(parts) == 1:
        return first
    is_required = all(key in part.required for part in parts)
    required = [other for other in first.required if other != key or is_required]
    properties = first.properties | {key: any_of(part.at(key) for part in parts)}
    return replace(first, properties=properties, required=tuple(required))


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
