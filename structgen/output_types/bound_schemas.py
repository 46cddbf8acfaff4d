"""Schemas inside grammars: `BoundSchema` is what fills a hole of a grammar's tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from structgen.output_types.parameters import Parameters

if TYPE_CHECKING:
    from structgen.kbnf import ast

__all__ = ["BoundSchema", "bound_schemas", "with_written_schemas"]


@dataclass(frozen=True, slots=True, eq=False)
class BoundSchema:
    """A schema, a type or another format whose texts stand somewhere in a grammar.

    Equal are those of the same content: types by identity, JSON Schemas by their text.

    Attributes:
        name: of the nonterminal that it is bound to.
        schema: anything that `structgen.compile` accepts. A JSON Schema is copied.
        options: options for reading this schema only (`SchemaArguments`); those of `compile` hold for all others.
        location: for messages: what it is, and where; by default the bound nonterminal.
    """

    name: str
    schema: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    location: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.schema, (dict, list)):
            with suppress(RecursionError):  # the compiler refuses it
                object.__setattr__(self, "schema", deepcopy(self.schema))

    @property
    def place(self) -> str:
        """The words for the schema in messages."""
        return self.location or f"the bound nonterminal {self.name!r}"

    def _content(self) -> Any:
        """Return what tells this schema from all others."""
        return self.name, _told(self.schema), repr(sorted(self.options.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundSchema) and (self is other or self._content() == other._content())

    def __hash__(self) -> int:
        return hash(self.name)


def _told(schema: Any) -> Any:
    """Return what tells a schema from all others: JSON text, or the object itself."""
    if isinstance(schema, Parameters):
        return schema.style, schema.excludes, _told(schema.schema)
    if isinstance(schema, (dict, list, bool)):
        try:
            return json.dumps(schema)
        except (TypeError, ValueError, RecursionError):  # decimals, for instance
            return id(schema)
    try:
        hash(schema)
    except TypeError:
        return id(schema)
    return schema


def bound_schemas(bind: Mapping[str, Any]) -> dict[str, BoundSchema]:
    """Return the schemas that nonterminals are bound to, by name.

    Raises:
        TypeError: it is no mapping.
    """
    if not isinstance(bind, Mapping):
        raise TypeError(f"bind maps the names of nonterminals to schemas; it is a {type(bind).__name__}")
    return {name: BoundSchema(name, schema) for name, schema in bind.items()}


def with_written_schemas(grammar: ast.Grammar) -> tuple[ast.Grammar, tuple[BoundSchema, ...]]:
    """Return a grammar whose schemas in `#json {…}` or `%json {…}` are bound, and these schemas."""
    from structgen.kbnf import ast
    from structgen.kbnf.holes import filled

    found: dict[object, BoundSchema] = {}

    def bound(hole: ast.Hole) -> ast.Expression:
        if not isinstance(hole.content, tuple):
            return hole
        text, line = hole.content
        if hole.content not in found:
            found[hole.content] = BoundSchema(hole.name, json.loads(text), {}, f"the schema in line {line}")
        return ast.Hole(hole.name, found[hole.content])

    return filled(grammar, bound), tuple(found.values())
