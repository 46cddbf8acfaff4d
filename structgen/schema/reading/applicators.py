"""Shapes of the keywords that combine subschemas of the same value ("applicators"), and of those that list values.

These are `$ref`, `allOf`, `not`, `if`, `unevaluatedProperties` and so on, `enum` and `const`. `accepted` returns the
values that satisfy a keyword. `refused` returns those that do not, by pushing the complement inward to the subschemas:
the complement of `{"anyOf": [A, B]}` is the intersection of the complements of A and B. `keywords.py` reads all other
keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

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
    is_decided,
    meet,
)
from structgen.schema.own_keywords import GRAMMAR
from structgen.schema.reading.evaluation import Evaluated, Evaluation, Kind
from structgen.schema.reading.intersections import all_of
from structgen.schema.reading.keywords import base_shape, check_names, unsupported, value_shape
from structgen.schema.reading.nodes import NodeSpace
from structgen.schema.reading.number_keywords import written_in
from structgen.schema.reading.refs import REFERENCES
from structgen.schema.reading.scopes import Location, pointer
from structgen.schema.reading.tagged_branches import not_tagged

__all__ = [
    "APPLICATORS",
    "accepted",
    "branches",
    "conditional",
    "dependent",
    "exclusive",
    "none_of",
    "refused",
    "unevaluated_cases",
    "with_names",
    "with_other_name",
]

_DEPENDENCIES = ("dependencies", "dependentRequired", "dependentSchemas")
_MAX_DISJOINT = 8
"""Dependencies of one schema that are split into disjoint sets: n of them make up to 2**n.

Of more, the sets overlap: an object without the key may be in both. Then a set often covers others.
"""
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_NO_OBJECTS = replace(EVERYTHING, objects=())


def accepted(space: NodeSpace, key: str, schema: dict[str, Any], location: Location) -> Shape:
    """Return the values that satisfy a keyword.

    Args:
        space: makes the nodes and shapes of subschemas.
        key: the keyword, one of `APPLICATORS`.
        schema: the keywords of the schema that holds it.
        location: the location of that schema.
    """
    return _ACCEPTED[key](space, key, schema, location)


def refused(space: NodeSpace, key: str, schema: dict[str, Any], location: Location) -> Shape:
    """Return the values that do not satisfy a keyword.

    Args:
        space: makes the nodes and shapes of subschemas.
        key: the keyword, one of `APPLICATORS`.
        schema: the keywords of the schema that holds it.
        location: the location of that schema.

    Returns:
        The values. Those that a keyword of a single type beside it refuses may be left out.
    """
    if key in REFERENCES:
        return space.union(complements(space.target(key, schema, location)))
    if key == "not":
        return space.shape(space.node(schema["not"], (location, "not")))
    if key == "allOf":
        return _not_all_of(space, branches(space, schema, key, location))
    if key in ("anyOf", "oneOf"):
        return _refused_branches(space, key, schema, location)
    if key in _UNEVALUATED:
        return _unevaluated(space, key, schema, location, negated=True)
    if key in _DEPENDENCIES:
        return _dependencies(space, key, schema, location, negated=True)
    if key == "if":
        condition, then, otherwise = conditional(space, schema, location)
        wrong = complement(then), complement(otherwise)
        found = [meet(condition, wrong[0]), meet(complement(condition), wrong[1])]
        return space.union(found if is_decided(condition) else [*found, meet(*wrong)])
    if key == "propertyNames":
        return with_other_name(space.union(complements(space.node(schema[key], (location, key)))))
    return space.all_but(lambda: accepted(space, key, schema, location))


def branches(space: NodeSpace, schema: dict[str, Any], keyword: str, location: Location) -> list[Node]:
    """Return the nodes of the branches of `allOf`, `anyOf` or `oneOf`.

    Raises:
        SchemaError: they are no list, or there are none.
    """
    schemas = schema[keyword]
    if not isinstance(schemas, list) or not schemas:
        raise SchemaError(
            f"{keyword} must be a list of at least one schema", pointer=pointer(location), keyword=keyword
        )
    inside = (location, keyword)
    return [space.node(branch, (inside, str(i))) for i, branch in enumerate(schemas)]


def _referred(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    return space.shape(space.target(keyword, schema, location))


def _all_of(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    result = ANY
    for node in branches(space, schema, keyword, location):
        result = meet(result, node)
    return space.shape(result)


def _any_of(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    return space.union(branches(space, schema, keyword, location))


def _one_of(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    beside = space.beside(schema, location)  # first, so that its keys come first
    nodes = branches(space, schema, keyword, location)
    objects = _only_objects(space, nodes, location)
    if objects is None:
        return space.union(exclusive(space, nodes, beside))
    return Shape(objects=space.union(exclusive(space, nodes, meet(beside, objects))).objects)


def _only_objects(space: NodeSpace, nodes: list[Node], location: Location, *, untyped: int = 2) -> Node | None:
    """Return the node of all objects if enough branches accept every value that is no object; else None.

    Branches without `type` do that. If two branches of a `oneOf` do, it refuses all values that are no objects, as none
    is in exactly one branch. So only objects need to be looked at.

    Args:
        space: makes nodes and shapes.
        nodes: the branches.
        location: the location of the schema.
        untyped: the number of such branches that is enough.
    """
    for node in nodes:
        if replace(space.shape(node), objects=()) == _NO_OBJECTS:
            untyped -= 1
            if not untyped:
                return space.node({"type": "object"}, location)
    return None


def exclusive(space: NodeSpace, nodes: list[Node], beside: Node) -> list[Node]:
    """Return nodes for "this branch and none of the others"; their union is the `oneOf`.

    Where two branches have no value in common, at least among the values of `beside`, neither needs the complement of
    the other. But a branch that may leave values undecided always needs one: these may be in it.

    Args:
        space: makes nodes and shapes.
        nodes: the branches.
        beside: the node of the keywords beside the `oneOf`.
    """
    overlapping: list[list[int]] = [[] for _ in nodes]
    for i, j in space.overlaps(_narrowed(space, nodes, beside)):
        overlapping[i].append(j)
        overlapping[j].append(i)
    undecided = {j for j, node in enumerate(nodes) if not is_decided(node)}
    out: list[Node] = []
    for i, (node, found) in enumerate(zip(nodes, overlapping, strict=True)):
        others = undecided.union(found) - {i}
        space.deadline.check()
        alternatives = [node]
        for j in sorted(others):
            alternatives = [meet(mine, rest) for mine in alternatives for rest in complements(nodes[j])]
            if len(alternatives) > space.limits.schema_nodes:
                raise LimitExceededError("schema_nodes", space.limits.schema_nodes)
        out.extend(alternative for alternative in alternatives if alternative != NONE)
    return out


def _not(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    return space.union(complements(space.node(schema[keyword], (location, keyword))))


def conditional(space: NodeSpace, schema: dict[str, Any], location: Location) -> tuple[Node, Node, Node]:
    """Return the nodes of `if`, `then` and `else`."""
    condition = space.node(schema["if"], (location, "if"))
    then = space.node(schema.get("then", True), (location, "then"))
    return condition, then, space.node(schema.get("else", True), (location, "else"))


def _if(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    condition, then, otherwise = conditional(space, schema, location)
    if then == ANY and otherwise == ANY:
        return EVERYTHING
    found = [meet(condition, then), *(meet(no, otherwise) for no in complements(condition))]
    if not is_decided(condition):
        return space.union([*found, meet(then, otherwise)])
    if condition == then:  # a chain of these would double the parts of a value at each step
        return space.union([condition, otherwise])
    return space.union(found)


def _narrowed(space: NodeSpace, nodes: list[Node], beside: Node) -> list[Node]:
    """Return nodes, each one without a tag intersected with the node of the keywords beside them."""
    return [meet(beside, node) if beside != ANY and space.tag(node) is None else node for node in nodes]


def _refused_branches(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    beside = space.beside(schema, location)
    nodes = branches(space, schema, keyword, location)
    if keyword == "oneOf":
        objects = _only_objects(space, nodes, location)
        found = _not_tagged(space, beside, objects, nodes, is_exclusive=True)
        if found is None:
            found = _not_one_of(space, nodes, objects)
        return found if objects is None else found.unite(_NO_OBJECTS)
    if beside != ANY:  # otherwise only the complements of the branches are needed, and not their shapes
        objects = _only_objects(space, nodes, location, untyped=1)
        told_apart = _not_tagged(space, beside, objects, nodes, is_exclusive=False)
        if told_apart is not None:
            return told_apart
    return space.shape(none_of(nodes))


def _not_tagged(
    space: NodeSpace, beside: Node, objects: Node | None, nodes: list[Node], *, is_exclusive: bool
) -> Shape | None:
    """Return the result of `not_tagged`, or None.

    If `objects`, the node of all objects, is given, the result has objects only; then it is None without keywords
    beside the branches.
    """
    if beside == ANY and objects is not None:
        return None
    return not_tagged(space, beside if objects is None else meet(beside, objects), nodes, is_exclusive=is_exclusive)


def none_of(nodes: list[Node]) -> Node:
    """Return the values that are in none of some nodes."""
    result = ANY
    for node in nodes:
        result = meet(result, complement(node))
    return result


def _not_one_of(space: NodeSpace, nodes: list[Node], objects: Node | None) -> Shape:
    """Return the values that are in none of the branches, or in two of them.

    If a node of objects is given, values that are no objects may be left out.
    """
    twice = space.overlaps(nodes if objects is None else _narrowed(space, nodes, objects))
    return space.union([none_of(nodes), *(meet(nodes[i], nodes[j]) for i, j in twice)])


def _not_all_of(space: NodeSpace, nodes: list[Node]) -> Shape:
    """Return the values that are not in all of some nodes.

    One of them may require a tag that the branches of a `oneOf` beside it do not require:

        {"allOf": [{"required": ["kind"]}, {"oneOf": [{"properties": {"kind": {"const": "a"}}}, …]}]}
    """
    for node in nodes:
        inner = _plain_one_of(space, node)
        if not inner:
            continue
        beside = ANY
        for other in nodes:
            beside = beside if other is node else meet(beside, other)
        told_apart = not_tagged(space, beside, inner, is_exclusive=True)
        if told_apart is not None:
            return space.spend(space.union(complements(beside)).unite(told_apart))
    return space.union(no for node in nodes for no in complements(node))


def _plain_one_of(space: NodeSpace, node: Node) -> list[Node]:
    """Return the branches of a subschema that has `oneOf` and no other keyword; none for other nodes."""
    if len(node) != 1 or not isinstance(node[0], int) or node[0] < 0:
        return []
    with space.inside(node[0]) as (known, location):
        return branches(space, known, "oneOf", location) if set(known) == {"oneOf"} else []


def _enum(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    values = schema[keyword]
    if not isinstance(values, list):
        raise SchemaError("enum must be a list", pointer=pointer(location), keyword=keyword)
    return value_shape(values, location, keyword, space.node, written_in(schema))


def _const(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    return value_shape([schema[keyword]], location, keyword, space.node, written_in(schema))


def _property_names(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Shape:
    return with_names(space.shape(space.node(schema[keyword], (location, keyword))), location)


def with_names(names: Shape, location: Location) -> Shape:
    """Return the objects whose keys are all in a shape, and every value that is not an object."""
    strings = names.strings
    if strings == ALL_STRINGS:
        return EVERYTHING
    if len(strings) > 1 and any(part.grammars for part in strings):
        raise unsupported(f"several sets of keys, one of them with {GRAMMAR}", location, "propertyNames")
    keys = _single(strings)
    objects = ObjectSet({}, classes=() if keys is None else ((keys, ANY),)).reduced()
    return EVERYTHING if objects is None else _objects(objects)


def with_other_name(others: Shape) -> Shape:
    """Return the objects with a key that is in a shape."""
    return Shape(objects=tuple(ObjectSet({}, somewhere=((keys, ANY),)) for keys in others.strings))


def dependent(space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location) -> Iterable[tuple[str, Node]]:
    """Yield the keys that require something of the object if they are present, with the node of such objects."""
    rules = schema[keyword]
    if not isinstance(rules, dict):
        raise SchemaError(f"{keyword} must be an object", pointer=pointer(location), keyword=keyword)
    check_names(rules, keyword, location)
    inside = (location, keyword)
    for key, rule in rules.items():
        node = space.node({"required": rule} if isinstance(rule, list) else rule, (inside, key))
        if node != ANY:
            yield key, node


def _dependencies(
    space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location, *, negated: bool = False
) -> Shape:
    """Return the values that meet what each present key requires; with `negated`, those that do not."""
    result = NOTHING
    allowed: list[tuple[Shape, bool]] = []
    rules = list(dependent(space, keyword, schema, location))
    is_long = len(rules) > _MAX_DISJOINT
    for key, node in rules:
        there = ObjectSet({key: ANY}, required=(key,))
        if negated:
            broken = space.both(Shape(objects=(there,)), space.shape(complement(node)))
            result = space.spend(result.unite(broken))
        else:
            then = space.shape(node) if is_long else space.both(_objects(there), space.shape(node))
            either = then.unite(_objects(ObjectSet(properties={key: NONE})))
            allowed.append((either, is_long))
    return result if negated else all_of(space, allowed)[0]


def _unevaluated(
    space: NodeSpace, keyword: str, schema: dict[str, Any], location: Location, *, negated: bool = False
) -> Shape:
    """Return the values whose unevaluated members are allowed; with `negated`, those that have another one.

    Each case of `Evaluation` is a set of values with the same evaluated members. The negation only has to be right for
    values that satisfy the keywords beside this one, because the others are refused anyway.
    """
    if space.node(schema[keyword], (location, keyword)) == ANY:
        return NOTHING if negated else EVERYTHING
    found = [
        space.both(space.shape(node), shape)
        for node, shape in unevaluated_cases(space, keyword, schema, location, negated=negated)
    ]
    # Values of other types have no such members: their cases do not matter, not even where they are undecided.
    others = NOTHING if negated else EVERYTHING
    united = NOTHING.unite(*found)
    if keyword == "unevaluatedItems":
        return space.spend(replace(others, arrays=united.arrays))
    return space.spend(replace(others, objects=united.objects))


def unevaluated_cases(
    space: NodeSpace,
    keyword: str,
    schema: dict[str, Any],
    location: Location,
    *,
    negated: bool,
    is_circular: bool = False,
) -> list[tuple[Node, Shape]]:
    """Return the cases of `Evaluation`, each with the values whose unevaluated members are allowed.

    Args:
        space: makes nodes and shapes.
        keyword: the keyword.
        schema: the keywords of the schema that holds it.
        location: the location of that schema.
        negated: return the values with an unevaluated member that is not allowed instead.
        is_circular: the schema refers to itself at the same value.
    """
    allowed = space.node(schema[keyword], (location, keyword))
    is_of_objects = keyword == "unevaluatedProperties"
    counts = not is_of_objects and space.dialect.name != "2019-09"
    kind: Kind = "properties" if is_of_objects else "items"
    evaluation = Evaluation(space, kind, contains=counts, refuses=negated, is_circular=is_circular)
    found: list[tuple[Node, Shape]] = []
    for node, evaluated in evaluation.cases(schema, location, own=True):
        if evaluated.everything:
            rest = EVERYTHING
        elif is_of_objects:
            rest = _only_evaluated(space, evaluated, allowed, location)
        else:
            items = ArraySet((ANY,) * evaluated.prefix, any_of([allowed, *sorted(evaluated.within)])).reduced()
            rest = replace(EVERYTHING, arrays=(items,) if items is not None else ())
        found.append((node, space.complement(rest) if negated else rest))
    return found


def _only_evaluated(space: NodeSpace, evaluated: Evaluated, allowed: Node, location: Location) -> Shape:
    """Return objects with only evaluated properties, or others in a node; and every value that is not an object."""
    names, patterns = sorted(evaluated.names), sorted(evaluated.patterns)
    schema = {
        "properties": dict.fromkeys(names, True),
        "patternProperties": dict.fromkeys(patterns, True),
        "additionalProperties": None,
    }
    nodes = lambda child, where: allowed if child is None else ANY  # noqa: E731
    return base_shape(schema, location, nodes, space.options, space.limits, space.deadline)


def _objects(part: ObjectSet) -> Shape:
    """Return the shape of some objects and every value that is not an object."""
    return Shape(True, 3, EVERYTHING.numbers, EVERYTHING.strings, EVERYTHING.arrays, (part,))


def _single(strings: tuple[StringSet, ...]) -> StringSet | None:
    """Return a union of string sets as one set, or None if it is empty."""
    if len(strings) < 2:
        return strings[0] if strings else None
    if all(part.texts is not None for part in strings):
        return StringSet(texts=tuple(dict.fromkeys(text for part in strings for text in part.texts or ())))
    regex = choice(*(part.regex() for part in strings))
    widest = choice(*(part.regex(widest=True) for part in strings))
    return StringSet(within=(Language(repr(strings), regex, None if widest == regex else lambda: widest),))


_ACCEPTED: dict[str, Callable[[NodeSpace, str, dict[str, Any], Location], Shape]] = {
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
"""Keywords that combine subschemas or list values."""
