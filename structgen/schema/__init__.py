"""From Pydantic models, Python types and JSON Schema to KBNF grammars.

sources         what a caller gives, as one JSON Schema, and the validator that has the last word
pydantic_schema, core_schemas    what Pydantic reads, said exactly
dialects, refs  the drafts; where `$ref` leads
keywords        one subschema's keywords, by JSON type
options         what a caller chooses about the reading of a schema
space           subschemas combined: nodes, and their shapes
emptiness, exploration    which have a value; what a root reaches
algebra         sets of JSON values: intersection, union, complement
substrings      what stands in a source text
writable        what of the strings and keys a tokenizer can spell
strings, numbers, formats, terminals    the regexes of scalars as they stand in JSON text
layout, values, objects, arrays, lazy   rules, by what was written before
to_rules        a schema's rules for the engine, made in use
to_kbnf, repetitions    the same, written down
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from structgen.engine.grammar.tables import GrammarTables
from structgen.limits import Deadline, Limits
from structgen.schema.options import SchemaArguments, SchemaOptions
from structgen.schema.reading.keywords import SchemaWarning
from structgen.schema.rules.to_rules import begins_with_bracket, json_schema_to_rules, strings_of_schema
from structgen.schema.sources import Source, resolve

if TYPE_CHECKING:
    from structgen.kbnf import ast

__all__ = [
    "SchemaOptions",
    "SchemaWarning",
    "Source",
    "begins_with_bracket",
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
    **options: Unpack[SchemaArguments],
) -> ast.Grammar:
    """The grammar of the JSON texts of a schema: every text that it derives passes the schema's validator.

    Args:
        schema_or_type: what `resolve` takes, or a `Source` that it gave.
        start: the name of the first rule. No other rule is called so, nor `start`.
        limits: bounds on what the translation may cost.
        deadline: a clock that runs already; by default one of `limits.compile_seconds` starts now.
        options: see `SchemaArguments`.

    Raises:
        SchemaError: not a schema.
        UnsupportedSchemaError: it cannot be expressed exactly.
        UnsatisfiableSchemaError: no value satisfies it.
        LimitExceededError: it costs more than `limits` allow.

    Example:
        >>> from structgen.kbnf.ast import Literal
        >>> schema_to_kbnf({"const": "yes"}).rules[0].body == Literal(b'"yes"')
        True
    """
    from structgen.schema.rules.to_kbnf import json_schema_to_kbnf

    source = _source(schema_or_type, limits, options)
    return json_schema_to_kbnf(source.json_schema, source.options, start=start, limits=limits, deadline=deadline)


def schema_to_rules(
    schema_or_type: Any,
    *,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    **options: Unpack[SchemaArguments],
) -> GrammarTables:
    """The same grammar for the engine, where in addition all keys of an object differ, and `uniqueItems` holds.

    Args:
        schema_or_type: as for `schema_to_kbnf`.
        limits: as for `schema_to_kbnf`.
        deadline: as for `schema_to_kbnf`.
        options: as for `schema_to_kbnf`.

    Raises:
        SchemaError, UnsupportedSchemaError, UnsatisfiableSchemaError, LimitExceededError: as `schema_to_kbnf`.
    """
    source = _source(schema_or_type, limits, options)
    return json_schema_to_rules(source.json_schema, source.options, limits=limits, deadline=deadline)


def _source(schema_or_type: Any, limits: Limits | None, options: SchemaArguments) -> Source:
    if isinstance(schema_or_type, Source):
        return replace(schema_or_type, options=replace(schema_or_type.options, **options))
    return resolve(schema_or_type, limits=limits, options=SchemaOptions(**options))
