"""Pydantic models, Python types and JSON Schema as grammars of their JSON texts.

    sources      turns the caller's input into one JSON Schema and a parser that validates the final text
    pydantic/    makes the JSON Schema of a type that accepts only what Pydantic accepts
    validation   the final validator of a plain JSON Schema; its keywords in `unevaluated` and `undecided`
    sentences    what a validator refuses, for people; `unfinished` of a text that is not finished
    reading/     reads keywords and references; computes the sets of values that satisfy subschemas
    algebra/     sets of JSON values: intersection, union, complement
    formats/     the regex of each `format`
    json_text/   regexes of scalars, and layout, as they are spelled in JSON text
    yaml_text/   the same for block-style YAML, with a reader and a writer
    rules/       grammar rules of sets of values, for the engine (`to_rules`) or as KBNF (`to_kbnf`)
    options      the options of the caller; `signatures` shows them to `help()`
    function_arguments   the types of a function's arguments
    moved_references     a schema that is moved into another one
    own_keywords         the keywords of structgen's own
    schema_warnings      warnings at the line that gave the schema

The way of a schema: `sources.resolve` returns a JSON Schema; `reading.space.Space` numbers its subschemas as nodes and
computes their shapes; `rules.LazyRules` makes grammar rules of the shapes, when the engine predicts them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import GrammarTables
from structgen.limits import Limits
from structgen.schema.options import SchemaArguments, SchemaOptions, read_options
from structgen.schema.rules.to_rules import (
    begins_plainly,
    begins_with_many_texts,
    json_schema_to_rules,
    strings_of_schema,
)
from structgen.schema.schema_warnings import SchemaWarning
from structgen.schema.sources import Source, resolve

if TYPE_CHECKING:
    from structgen.kbnf import ast

__all__ = [
    "SchemaOptions",
    "SchemaWarning",
    "Source",
    "begins_plainly",
    "begins_with_many_texts",
    "json_schema_to_rules",
    "resolve",
    "schema_to_kbnf",
    "schema_to_rules",
    "strings_of_schema",
]


def schema_to_kbnf(
    schema_or_type: Any,
    *,
    start: str = "start",
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    exact_formats: Collection[str] | None = None,
    **options: Unpack[SchemaArguments],
) -> ast.Grammar:
    """Translate a schema into a KBNF grammar of its JSON or YAML texts, all of which pass the schema's validator.

    Args:
        schema_or_type: input of `resolve`, or a `Source` that it returned.
        start: the name of the first rule. No other rule gets this name, or the name `start`.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default, one of `limits.compile_seconds` starts now.
        exact_formats: the formats that are written exactly however large they are; None: all. For others of a large
            automaton, such as `email`, the grammar is wider, and a `SchemaWarning` names the field.
        **options: see `SchemaArguments`.

    Returns:
        The grammar.

    Raises:
        SchemaError: the input is not a schema.
        UnsupportedSchemaError: the schema cannot be expressed exactly; or it is recursive, and the format is YAML.
        UnsatisfiableSchemaError: no value satisfies the schema.
        LimitExceededError: the translation costs more than `limits` allow.

    Example:
        >>> from structgen.kbnf.ast import Literal
        >>> schema_to_kbnf({"const": "yes"}).rules[0].body == Literal(b'"yes"')
        True
    """
    source = _source(schema_or_type, limits, options)
    if source.options.format == "yaml":
        from structgen.schema.rules.yaml_rules import json_schema_to_yaml_kbnf

        return json_schema_to_yaml_kbnf(
            source.json_schema, source.options, start=start, limits=limits, deadline=deadline
        )
    from structgen.schema.rules.to_kbnf import json_schema_to_kbnf

    return json_schema_to_kbnf(
        source.json_schema,
        source.options,
        start=start,
        limits=limits,
        deadline=deadline,
        exact_formats=exact_formats,
    )


def schema_to_rules(
    schema_or_type: Any,
    *,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    **options: Unpack[SchemaArguments],
) -> GrammarTables:
    """Translate a schema into a grammar for the engine.

    It enforces two conditions that the KBNF grammar does not: the keys of an object differ, and `uniqueItems`.

    Args:
        schema_or_type: as for `schema_to_kbnf`.
        limits: as for `schema_to_kbnf`.
        deadline: as for `schema_to_kbnf`.
        **options: as for `schema_to_kbnf`.

    Returns:
        The grammar's tables.

    Raises:
        SchemaError: as for `schema_to_kbnf`.
        UnsupportedSchemaError: as for `schema_to_kbnf`.
        UnsatisfiableSchemaError: as for `schema_to_kbnf`.
        LimitExceededError: as for `schema_to_kbnf`.
    """
    source = _source(schema_or_type, limits, options)
    if source.options.format == "yaml":
        from structgen.schema.rules.yaml_rules import json_schema_to_yaml_rules

        return json_schema_to_yaml_rules(source.json_schema, source.options, limits=limits, deadline=deadline)
    return json_schema_to_rules(source.json_schema, source.options, limits=limits, deadline=deadline)


def _source(schema_or_type: Any, limits: Limits | None, options: SchemaArguments) -> Source:
    if isinstance(schema_or_type, Source):
        return replace(schema_or_type, options=replace(schema_or_type.options, **options))
    return resolve(schema_or_type, limits=limits, options=read_options(**options))
