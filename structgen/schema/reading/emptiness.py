"""Which sets of arrays and objects have a member, given the nodes of items and properties that have a value.

All answers err on one side: a set reported as empty is empty; a set reported as not empty may be empty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container

from structgen.engine.deadlines import spend
from structgen.schema.algebra import Case, Clause, KeyClass, Node, StringSet, meet
from structgen.schema.algebra.arrays import ArraySet
from structgen.schema.algebra.counting import can_be_met
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.algebra.shape import Shape
from structgen.schema.algebra.text_grammars import JsonContent
from structgen.schema.reading.distinct_items import ValueSizes, can_differ

__all__ = ["array_holds", "can_repeat", "children", "holds", "object_holds", "string_holds", "witnesses"]

_MAX_ASKED = 8  # parts of `ObjectSet.somewhere` whose combinations are searched
_MAX_NAMES = 256  # single keys of `ObjectSet.somewhere`


def children(shape: Shape) -> list[Node]:
    """Return the nodes of the items and properties that a shape's values may have."""
    found: list[Node] = []
    spend(1 + shape.size)
    for strings in shape.strings:
        found += [content.node for content in strings.grammars if isinstance(content, JsonContent)]
    for array in shape.arrays:
        if array.contains and not array.clauses:
            last = array.settled if array.high is None else min(array.settled, array.high - 1)
            for index in range(last + 1):
                found += [node for _, node in array.cases(index)]
        if array.repeats:
            found += [node for _, (_, node) in array.repetitions()]
        found += array.prefix
        if array.high is None or array.high > len(array.prefix):
            found.append(array.rest)
    for part in shape.objects:
        found += part.properties.values()
        found += part.class_nodes()
        if part.overlapping:
            found += [part.at(key) for key in part.required if key not in part.properties]
        for clause in part.clauses:
            found += [meet(part.at(literal.key), literal.node) for literal in clause]
        if part.somewhere:
            for asked in part.somewhere:
                found += witnesses(part, asked)
            for cases in (*map(part.cases, part.properties), *[cases for _, cases in part.key_cases()]):
                found += [node for _, node in cases]
    return found


def witnesses(part: ObjectSet, asked: KeyClass) -> list[Node]:
    """Return the nodes of the values that satisfy one part of `ObjectSet.somewhere`."""
    named, others = part.witnesses(*asked)
    return [*named.values(), *(node for _, node in others)]


def holds(shape: Shape, productive: Container[Node], sizes: Callable[[], ValueSizes]) -> bool:
    """Return whether a shape has a value, given the nodes that are known to have one."""
    if shape.null or shape.booleans or shape.numbers:
        return True
    for strings in shape.strings:
        if string_holds(strings, productive):
            return True
    for array in shape.arrays:
        if array_holds(array, productive, sizes):
            return True
    for part in shape.objects:  # noqa: SIM110  (Cython makes no inner functions of such functions)
        if object_holds(part, productive):
            return True
    return False


def array_holds(part: ArraySet, productive: Container[Node], sizes: Callable[[], ValueSizes] | None = None) -> bool:
    """Return whether a set of arrays has a member, given the nodes that are known to have a value.

    Whether all counts of a set with clauses can hold together, the rules show.
    """
    for index in range(min(part.low, len(part.prefix) + 1)):
        if part.at(index) not in productive:
            return False
    if part.clauses:
        return True
    if part.repeats:
        return can_repeat(part, productive.__contains__)
    if part.repeats is False and sizes is not None:
        return can_differ(part, productive.__contains__, sizes())
    return not part.contains or can_be_met(part, productive.__contains__)


def can_repeat(part: ArraySet, usable: Callable[[Node], bool]) -> bool:
    """Return whether a set of arrays has a member with two equal items."""
    known: dict[int, list[Case]] = {}
    for indices, case in part.repetitions():
        if usable(case[1]) and can_be_met(part.repeating(indices, case, known), usable):
            return True
    return False


def string_holds(part: StringSet, productive: Container[Node]) -> bool:
    """Return whether a set of strings has a member, given the nodes that are known to have a value."""
    for condition in part.grammars:
        if isinstance(condition, JsonContent) and condition.node not in productive:
            return False
    return True


def object_holds(part: ObjectSet, productive: Container[Node]) -> bool:
    """Return whether a set of objects has a member, given the nodes that are known to have a value."""
    for key in part.required:
        if part.at(key) not in productive:
            return False
    for clause in part.clauses:
        if not _may_hold_clause(part, clause, productive):
            return False
    fewest = len(part.required)
    if part.somewhere:
        found = _fewest_keys(part, productive)
        if found is None or (part.high is not None and found > part.high):
            return False
        fewest = found
    if part.low <= fewest:
        return True
    there = {key for key, node in part.properties.items() if node in productive}
    missing = part.low - len(there.union(part.required))
    classes = part.few_classes() if missing > 0 else ()
    if classes is None:  # whether there are enough keys is known once the rules are made
        return _has_one(part.class_nodes(), productive)
    others = StringSet(excluded=tuple(dict.fromkeys((*part.properties, *part.required))))
    for keys, node in classes:
        if missing > 0 and node in productive:
            inside = keys.intersect(others)
            missing -= inside.count(missing) if inside is not None else 0
    return missing <= 0


def _has_one(nodes: Collection[Node], productive: Container[Node]) -> bool:
    return any(node in productive for node in nodes)


def _may_hold_clause(part: ObjectSet, clause: Clause, productive: Container[Node]) -> bool:
    """Return whether a condition of a clause can hold. Whether all clauses can hold together, the rules show."""
    return any(literal.or_absent or meet(part.at(literal.key), literal.node) in productive for literal in clause)


def _fewest_keys(part: ObjectSet, productive: Container[Node]) -> int | None:
    """Return the least number of keys that satisfy `somewhere` and `required`; None if no number does."""
    if part.is_unsplit or len(part.somewhere) > _MAX_ASKED:
        possible = all(any(node in productive for node in witnesses(part, asked)) for asked in part.somewhere)
        return len(part.required) if possible else None
    everything = frozenset(range(len(part.somewhere)))
    fewest: dict[frozenset[int], int] = {frozenset(): 0}
    asked = [key for keys, _ in part.somewhere for key in keys.texts or ()]
    if len(asked) > _MAX_NAMES:
        asked = []
    named = tuple(dict.fromkeys((*part.required, *part.properties, *asked)))  # an object has each at most once
    for key in named:
        useful = {given for given, node in part.cases(key) if node in productive}
        with_key: dict[frozenset[int], int] = {} if key in part.required else dict(fewest)
        for before, count in fewest.items():
            spend(1 + len(useful))
            for given in useful:
                after = before | given
                with_key[after] = min(with_key.get(after, count + 1), count + 1)
        fewest = with_key
    unnamed = StringSet(excluded=named)
    others = {
        given
        for keys, found in part.key_cases()
        if keys.intersect(unnamed) is not None
        for given, node in found
        if given and node in productive
    }
    waiting = list(fewest)
    while waiting:
        before = waiting.pop()
        spend(1 + len(others))
        for given in others:
            after, count = before | given, fewest[before] + 1
            if count < fewest.get(after, count + 1):
                fewest[after] = count
                waiting.append(after)
    return fewest.get(everything)
