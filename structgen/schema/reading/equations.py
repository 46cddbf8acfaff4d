"""Equations of subschemas that refer to themselves: the values of a subschema by those of others at the same value.

The equation of `{"minLength": 2, "oneOf": [A, B]}`, and that of its complement:

    X  =  minLength 2  and  (A and not B  or  B and not A)
    ¬X =  not minLength 2  or  (not A and not B)  or  (A and B)

A and its complement are two unknowns, because a value may be undecided: it is in neither (`fixed_points.py`). Therefore
each equation names the values that can be shown to be in it. Of `{"if": A, "then": B, "else": C}`, these are

    (A and B)  or  (not A and C)  or  (B and C)

where the last part is for values that are undecided in A.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from structgen.errors import UnsupportedSchemaError
from structgen.schema.algebra import ANY, EVERYTHING, NONE, Node, ObjectSet, Shape, complement, complements, meet
from structgen.schema.reading.applicators import (
    branches,
    conditional,
    dependent,
    exclusive,
    none_of,
    unevaluated_cases,
)
from structgen.schema.reading.formulas import only
from structgen.schema.reading.nodes import NodeSpace
from structgen.schema.reading.refs import REFERENCES
from structgen.schema.reading.scopes import Location
from structgen.schema.reading.widening import Widening

__all__ = ["Case", "Equation", "Names", "beside_value", "equation"]

_LISTS = ("allOf", "anyOf", "oneOf")
_DEPENDENCIES = ("dependencies", "dependentSchemas")
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_COMBINING = frozenset({*REFERENCES, *_LISTS, "not", "if", "propertyNames", *_DEPENDENCIES, *_UNEVALUATED})


class Names(NamedTuple):
    """The values that a `propertyNames` accepts, or refuses. Their shape depends on the strings of a node.

    Attributes:
        node: the node of the keyword's subschema.
        location: the location of the schema that holds the keyword.
        is_refused: the values are those that it refuses.
    """

    node: Node
    location: Location
    is_refused: bool


Case = tuple[Node, Shape | Names]
"""The values that are in both."""

Equation = list[list[Case]]
"""The values that are, for each of the lists, in one of its cases."""


def beside_value(space: NodeSpace, atom: int) -> list[Node]:
    """Return the nodes of the subschemas that a subschema applies to the same value, or to keys."""
    found: list[Node] = []
    with space.inside(atom) as (known, location):
        for key in known:
            if key in REFERENCES:
                try:
                    found.append(space.target(key, known, location))
                except UnsupportedSchemaError:  # raised again, or dropped, when it is read
                    continue
            elif key in _LISTS:
                found += branches(space, known, key, location)
            elif key in ("not", "propertyNames"):
                found.append(space.node(known[key], (location, key)))
            elif key == "if":
                found += conditional(space, known, location)
            elif key in _DEPENDENCIES:
                found += [node for _, node in dependent(space, key, known, location)]
    return found


def equation(space: NodeSpace, atom: int, widening: Widening) -> Equation:
    """Return the equation of an atom, or of its complement."""
    with space.inside(atom) as (known, location):
        own = space.beside(known, location, combining=_COMBINING)
        found = [_any(complements(own) if atom < 0 else [own])]
        for key in known:
            if key not in _COMBINING:
                continue
            try:
                read = _refused(space, key, known, location) if atom < 0 else _accepted(space, key, known, location)
            except UnsupportedSchemaError as error:
                widening.drop(error)
                read = [_any([ANY])]
            found += read
    return [[case for cases in found for case in cases]] if atom < 0 else found


def _any(nodes: Iterable[Node]) -> list[Case]:
    return [(node, EVERYTHING) for node in nodes]


def _accepted(space: NodeSpace, key: str, known: dict[str, Any], location: Location) -> Equation:
    """Return the values that satisfy a keyword."""
    if key in REFERENCES:
        return [_any([space.target(key, known, location)])]
    if key == "allOf":
        return [_any([node]) for node in branches(space, known, key, location)]
    if key == "anyOf":
        return [_any(branches(space, known, key, location))]
    if key == "oneOf":
        return [_any(exclusive(space, branches(space, known, key, location), space.beside(known, location)))]
    if key == "not":
        return [_any(complements(space.node(known[key], (location, key))))]
    if key == "if":
        condition, then, otherwise = conditional(space, known, location)
        return [_any([meet(condition, then), meet(complement(condition), otherwise), meet(then, otherwise)])]
    if key == "propertyNames":
        return [[(ANY, Names(space.node(known[key], (location, key)), location, is_refused=False))]]
    if key in _UNEVALUATED:
        others = replace(EVERYTHING, objects=()) if key == "unevaluatedProperties" else replace(EVERYTHING, arrays=())
        return [[*_unevaluated(space, key, known, location, negated=False), (ANY, others)]]
    return [
        [*_any([node]), (ANY, replace(EVERYTHING, objects=(ObjectSet({name: NONE}),)))]
        for name, node in dependent(space, key, known, location)
    ]


def _refused(space: NodeSpace, key: str, known: dict[str, Any], location: Location) -> Equation:
    """Return the values that do not satisfy a keyword."""
    if key in REFERENCES:
        return [_any(complements(space.target(key, known, location)))]
    if key == "allOf":
        return [_any([no for node in branches(space, known, key, location) for no in complements(node)])]
    if key == "anyOf":
        return [_any([none_of(branches(space, known, key, location))])]
    if key == "oneOf":
        nodes = branches(space, known, key, location)
        return [_any([none_of(nodes), *(meet(nodes[i], nodes[j]) for i, j in space.overlaps(nodes))])]
    if key == "not":
        return [_any([space.node(known[key], (location, key))])]
    if key == "if":
        condition, then, otherwise = conditional(space, known, location)
        wrong = complement(then), complement(otherwise)
        return [_any([meet(condition, wrong[0]), meet(complement(condition), wrong[1]), meet(*wrong)])]
    if key == "propertyNames":
        return [[(ANY, Names(space.node(known[key], (location, key)), location, is_refused=True))]]
    if key in _UNEVALUATED:
        return [_unevaluated(space, key, known, location, negated=True)]
    return [
        [
            (complement(node), Shape(objects=(ObjectSet({name: ANY}, required=(name,)),)))
            for name, node in dependent(space, key, known, location)
        ]
    ]


def _unevaluated(space: NodeSpace, key: str, known: dict[str, Any], location: Location, *, negated: bool) -> list[Case]:
    """Return the arrays, or objects, that satisfy an `unevaluated…` keyword; with `negated`, those that do not."""
    kind = "objects" if key == "unevaluatedProperties" else "arrays"
    cases = unevaluated_cases(space, key, known, location, negated=negated, is_circular=True)
    return [(node, only(shape, kind)) for node, shape in cases]
