"""Schemas inside grammars: a `BoundSchema` is the content of a hole in a grammar's tree."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from structgen.output_types.guidance_options import guidance_options
from structgen.output_types.parameters import Parameters

if TYPE_CHECKING:
    from structgen.kbnf import ast

__all__ = ["BoundSchema", "MakeGrammar", "bound_schemas", "with_written_schemas"]

MakeGrammar: TypeAlias = Callable[[str, "ast.Grammar", "tuple[BoundSchema, ...]"], Any]
"""Makes a `Grammar` of its text, its tree, and the schemas that its holes are bound to."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundSchema:
    """A schema, a type or another format whose texts stand somewhere in a grammar.

    Two of them are equal if their content is: types are compared by identity, JSON Schemas by their text.

    Attributes:
        name: of the nonterminal that it is bound to.
        schema: anything that `structgen.compile` accepts. A JSON Schema is copied.
        options: options for reading this schema only (`SchemaArguments`); those of `compile` hold for all others.
        location: for messages: what it is, and where; by default the bound nonterminal.
        temperature: of sampling, within its texts; None to leave it as it is.
        max_tokens: the number of tokens after which its text ends; 0 for no bound.
    """

    name: str
    schema: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    location: str = ""
    temperature: float | None = None
    max_tokens: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.schema, (dict, list)):
            with suppress(RecursionError):  # the compiler refuses it
                object.__setattr__(self, "schema", deepcopy(self.schema))

    @property
    def place(self) -> str:
        """The words for the schema in messages."""
        return self.location or f"the bound nonterminal {self.name!r}"

    def _content(self) -> Any:
        """Return a value that is equal for schemas of the same content only."""
        return (
            self.name,
            _identity_of(self.schema),
            repr(sorted(self.options.items())),
            self.temperature,
            self.max_tokens,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundSchema) and (self is other or self._content() == other._content())

    def __hash__(self) -> int:
        return hash(self.name)


def _identity_of(schema: Any) -> Any:
    """Return a value that identifies a schema: its JSON text, the object itself, or the id of the object."""
    if isinstance(schema, Parameters):
        return schema.style, schema.excludes, schema.special_tokens, _identity_of(schema.schema)
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


def with_written_schemas(
    grammar: ast.Grammar,
    bind: Mapping[str, BoundSchema] | None = None,
    source: str = "",
    make: MakeGrammar | None = None,
) -> tuple[ast.Grammar, tuple[BoundSchema, ...]]:
    """Return a grammar whose holes are filled with `BoundSchema`s, and these.

    Args:
        grammar: the tree, as its reader made it: each hole holds what its text says; see `ast.Hole.content`.
        bind: the schema or grammar of each name in it.
        source: its text; it is a part of the identity of the grammars within it.
        make: makes the `Grammar` of a grammar within it.
    """
    from structgen.kbnf import ast
    from structgen.kbnf.holes import filled

    found: dict[object, BoundSchema] = {}

    def bound(hole: ast.Hole) -> ast.Expression:
        content = hole.content
        if isinstance(content, BoundSchema):
            return hole
        key = (id(content) if isinstance(content, ast.Grammar) else content, hole.temperature, hole.max_tokens)
        if key not in found:
            found[key] = _written_schema(hole, bind or {}, f"{len(found)} in {source}", make)
        return ast.Hole(hole.name, found[key])

    return filled(grammar, bound), tuple(found.values())


def _written_schema(
    hole: ast.Hole, bind: Mapping[str, BoundSchema], source: str, make: MakeGrammar | None
) -> BoundSchema:
    """Return the schema or grammar that a hole of a grammar's text stands for; `source` identifies a grammar."""
    from structgen.kbnf import ast

    content: Any = hole.content
    if isinstance(content, str):
        return replace(bind[content], temperature=hole.temperature)
    if isinstance(content, ast.Grammar) and make is not None:
        tree, written = with_written_schemas(content, bind, source, make)
        schema, location = make(source, tree, written), f"the grammar {hole.name!r}"
        return BoundSchema(hole.name, schema, {}, location, hole.temperature, hole.max_tokens)
    text, line = content
    schema, place = json.loads(text), f"the schema in line {line}"
    return BoundSchema(hole.name, schema, guidance_options(schema, place), place, hole.temperature)
