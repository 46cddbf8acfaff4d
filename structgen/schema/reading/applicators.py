"""Keywords that combine subschemas which apply to the same value, and those that list values: what each accepts.

Such are `$ref`, `allOf`, `not`, `if`, `unevaluatedProperties` and their like ("applicators" in the specification's
words), `enum` and `const`. Each has a function that gives the shape of the values that satisfy it; those that it
refuses are found by pushing the complement inward, to the subschemas. The counterpart for all other keywords is
`keywords.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from structgen.engine.regex.tree import choice
from structgen.errors import LimitExceededError, SchemaError
from structgen.schema.algebra import (
    ALL_STRINGS,
    ANY,
    EVERYTHING,
    NONE,
    NOTHING,
    ArraySet,
    Language,
    Node,
    ObjectSet,
    Shape,
    StringSet,
    any_of,
    complement,
    complements,
    meet,
)
from structgen.schema.reading.evaluation import Evaluated, Evaluation
from structgen.schema.reading.keywords import base_shape, value_shape
from structgen.schema.reading.number_keywords import written_in
from structgen.schema.reading.refs import REFERENCES
from structgen.schema.reading.scopes import Location, pointer

if TYPE_CHECKING:
    from structgen.schema.reading.space import Space

__all__ = ["APPLICATORS", "accepted", "refused"]

_DEPENDENCIES = ("dependencies", "dependentRequired", "dependentSchemas")
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")


def accepted(space: Space, key: str, schema: dict[str, Any], place: Location) -> Shape:
    """The values that satisfy a keyword.

    Args:
        space: has the subschemas.
        key: one of `APPLICATORS`.
        schema: the keywords of the schema that holds it.
        place: where that schema is.
    """
    return _ACCEPTED[key](space, key, schema, place)


def refused(space: Space, key: str, schema: dict[str, Any], place: Location) -> Shape:
    """The values that a keyword refuses; the arguments are those of `accepted`."""
    if key in REFERENCES:
        return space.union(complements(space.target(key, schema, place)))
    if key == "not":
        return space.shape(space.node(schema["not"], (place, "not")))
    if key == "allOf":
        return space.union(no for node in _branches(space, schema, key, place) for no in complements(node))
    if key == "anyOf":
        return space.shape(_none_of(_branches(space, schema, key, place)))
    if key == "oneOf":
        return space.union(_not_one_of(space, _branches(space, schema, key, place)))
    if key in _UNEVALUATED:
        return _unevaluated(space, key, schema, place, negated=True)
    if key in _DEPENDENCIES:
        return _dependencies(space, key, schema, place, negated=True)
    if key == "if":
        condition, then, otherwise = _conditional(space, schema, place)
        return space.union([meet(condition, complement(then)), meet(complement(condition), complement(otherwise))])
    return space.all_but(lambda: accepted(space, key, schema, place))


def _branches(space: Space, schema: dict[str, Any], keyword: str, place: Location) -> list[Node]:
    branches = schema[keyword]
    if not isinstance(branches, list) or not branches:
        raise SchemaError(f"{keyword} must be a list of schemas", pointer=pointer(place), keyword=keyword)
    inside = (place, keyword)
    return [space.node(branch, (inside, str(i))) for i, branch in enumerate(branches)]


def _referred(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    return space.shape(space.target(keyword, schema, place))


def _all_of(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    result = ANY
    for node in _branches(space, schema, keyword, place):
        result = meet(result, node)
    return space.shape(result)


def _any_of(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    return space.union(_branches(space, schema, keyword, place))


def _one_of(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    nodes = _branches(space, schema, keyword, place)
    return space.union(_exclusive(space, nodes, place))


def _exclusive(space: Space, nodes: list[Node], place: Location) -> list[Node]:
    """Nodes for "this and none of the others"; branches that have nothing in common need no complement."""
    out: list[Node] = []
    apart: set[tuple[int, int]] = set()
    for i, node in enumerate(nodes):
        space.deadline.check()
        alternatives = [node]
        for j, other in enumerate(nodes):
            if i == j or (j, i) in apart:
                continue
            if space.are_disjoint(node, other):
                apart.add((i, j))
                continue
            alternatives = [meet(mine, rest) for mine in alternatives for rest in complements(other)]
            if len(alternatives) > space.limits.schema_nodes:
                raise LimitExceededError("schema_nodes", space.limits.schema_nodes)
        out.extend(alternative for alternative in alternatives if alternative != NONE)
    return out


def _not(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    return space.union(complements(space.node(schema[keyword], (place, keyword))))


def _conditional(space: Space, schema: dict[str, Any], place: Location) -> tuple[Node, Node, Node]:
    """`if`, `then` and `else`."""
    condition = space.node(schema["if"], (place, "if"))
    then = space.node(schema.get("then", True), (place, "then"))
    return condition, then, space.node(schema.get("else", True), (place, "else"))


def _if(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    condition, then, otherwise = _conditional(space, schema, place)
    if then == ANY and otherwise == ANY:
        return EVERYTHING
    return space.union([meet(condition, then), *(meet(no, otherwise) for no in complements(condition))])


def _none_of(nodes: list[Node]) -> Node:
    """The values that are in none of some nodes."""
    result = ANY
    for node in nodes:
        result = meet(result, complement(node))
    return result


def _not_one_of(space: Space, nodes: list[Node]) -> list[Node]:
    """Nodes for "none, or two of them"."""
    out = [_none_of(nodes)]
    for i, node in enumerate(nodes):
        space.deadline.check()
        for other in nodes[:i]:
            if not space.are_disjoint(node, other):
                out.append(meet(node, other))
    return out


def _enum(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    values = schema[keyword]
    if not isinstance(values, list):
        raise SchemaError("enum must be a list", pointer=pointer(place), keyword=keyword)
    return value_shape(values, place, keyword, space.node, written_in(schema))


def _const(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    return value_shape([schema[keyword]], place, keyword, space.node, written_in(schema))


def _property_names(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Shape:
    strings = space.shape(space.node(schema[keyword], (place, keyword))).strings
    if strings == ALL_STRINGS:
        return EVERYTHING
    keys = _single(strings)
    objects = ObjectSet(classes=() if keys is None else ((keys, ANY),)).reduced()
    return EVERYTHING if objects is None else _objects(objects)


def _dependent(space: Space, keyword: str, schema: dict[str, Any], place: Location) -> Iterable[tuple[str, Node]]:
    """The keys that ask for something when they are there, and for what."""
    rules = schema[keyword]
    if not isinstance(rules, dict):
        raise SchemaError(f"{keyword} must be an object", pointer=pointer(place), keyword=keyword)
    inside = (place, keyword)
    for key, rule in rules.items():
        node = space.node({"required": rule} if isinstance(rule, list) else rule, (inside, key))
        if node != ANY:
            yield key, node


def _dependencies(
    space: Space, keyword: str, schema: dict[str, Any], place: Location, *, negated: bool = False
) -> Shape:
    """The values in which each key that is there has what it asks for, or one has not."""
    result = NOTHING if negated else EVERYTHING
    for key, node in _dependent(space, keyword, schema, place):
        there = ObjectSet({key: ANY}, required=(key,))
        if negated:
            broken = space.both(Shape(objects=(there,)), space.shape(complement(node)))
            result = space.spend(result.unite(broken))
        else:
            then = space.both(_objects(there), space.shape(node))
            result = space.both(result, then.unite(_objects(ObjectSet(properties={key: NONE}))))
    return result


def _unevaluated(
    space: Space, keyword: str, schema: dict[str, Any], place: Location, *, negated: bool = False
) -> Shape:
    """By the cases of what is evaluated: the values in which the rest is as it must be, or is not.

    The negation is meant for the values that satisfy the keywords beside it: the others are refused anyway.
    """
    allowed = space.node(schema[keyword], (place, keyword))
    if allowed == ANY:
        return NOTHING if negated else EVERYTHING
    if keyword == "unevaluatedProperties":
        evaluation = Evaluation(space, "properties", contains=False)
    else:
        evaluation = Evaluation(space, "items", contains=space.dialect.name != "2019-09")
    found: list[Shape] = []
    for node, evaluated in evaluation.cases(schema, place, own=True):
        if evaluated.everything:
            rest = EVERYTHING
        elif keyword == "unevaluatedItems":
            items = ArraySet((ANY,) * evaluated.prefix, any_of([allowed, *sorted(evaluated.within)])).reduced()
            rest = replace(EVERYTHING, arrays=(items,) if items is not None else ())
        else:
            rest = _only_evaluated(space, evaluated, allowed, place)
        found.append(space.both(space.shape(node), space.complement(rest) if negated else rest))
    return space.spend(NOTHING.unite(*found))


def _only_evaluated(space: Space, evaluated: Evaluated, allowed: Node, place: Location) -> Shape:
    """Objects whose other properties are in a node; and every value that is no object."""
    names, patterns = sorted(evaluated.names), sorted(evaluated.patterns)
    schema = {
        "properties": dict.fromkeys(names, True),
        "patternProperties": dict.fromkeys(patterns, True),
        "additionalProperties": None,
    }
    nodes = lambda child, where: allowed if child is None else ANY  # noqa: E731
    return base_shape(schema, place, nodes, space.options, space.limits, space.deadline)


def _objects(part: ObjectSet) -> Shape:
    """Every value that is no object, and these objects."""
    return Shape(True, 3, EVERYTHING.numbers, EVERYTHING.strings, EVERYTHING.arrays, (part,))


def _single(strings: tuple[StringSet, ...]) -> StringSet | None:
    """A union of string sets as one, or None when it is empty."""
    if len(strings) < 2:
        return strings[0] if strings else None
    if all(part.texts is not None for part in strings):
        return StringSet(texts=tuple(dict.fromkeys(text for part in strings for text in part.texts or ())))
    regex = choice(*(part.regex() for part in strings))
    widest = choice(*(part.regex(widest=True) for part in strings))
    return StringSet(within=(Language(repr(strings), regex, None if widest == regex else widest),))


_ACCEPTED: dict[str, Callable[[Space, str, dict[str, Any], Location], Shape]] = {
    **dict.fromkeys(REFERENCES, _referred),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "enum": _enum,
    "const": _const,
    "propertyNames": _property_names,
    **dict.fromkeys(_DEPENDENCIES, _dependencies),
    **dict.fromkeys(_UNEVALUATED, _unevaluated),
}

APPLICATORS = frozenset(_ACCEPTED)
"""Keywords that combine subschemas, or say which values there are."""
