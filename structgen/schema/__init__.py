"""From Pydantic models, Python types and JSON Schema to KBNF grammars.

sources         what a caller gives, as one JSON Schema, and the validator that has the last word
dialects, refs  the drafts; where `$ref` leads
keywords        one subschema's keywords, by JSON type
options         what a caller chooses about the reading of a schema
space           subschemas combined: nodes, their shapes, which are empty
algebra         sets of JSON values: intersection, union, complement
strings, numbers, formats, terminals    the regexes of scalars as they stand in JSON text
layout, objects, to_kbnf                rules
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from structgen.kbnf import ast
from structgen.limits import Deadline, Limits
from structgen.schema.keywords import SchemaWarning
from structgen.schema.options import SchemaArguments, SchemaOptions
from structgen.schema.sources import Source, resolve
from structgen.schema.to_kbnf import json_schema_to_kbnf

__all__ = ["SchemaOptions", "SchemaWarning", "Source", "json_schema_to_kbnf", "resolve", "schema_to_kbnf"]


def schema_to_kbnf(
    schema_or_type: Any,
    *,
    start: str = "start",
    is_printed: bool = False,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    **options: Unpack[SchemaArguments],
) -> ast.Grammar:
    """The grammar of the JSON texts of a schema: every text that it derives passes the schema's validator.

    Args:
        schema_or_type: what `resolve` takes, or a `Source` that it gave.
        start: the name of the first rule. No other rule is called so, nor `start`.
        is_printed: whether the grammar has to stand by itself, without rules that are made in use.
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
        >>> schema_to_kbnf({"const": 1}).rules[0].body == Literal(b"1")
        True
    """
    if isinstance(schema_or_type, Source):
        source = replace(schema_or_type, options=replace(schema_or_type.options, **options))
    else:
        source = resolve(schema_or_type, limits=limits, options=SchemaOptions(**options))
    return json_schema_to_kbnf(
        source.json_schema, source.options, start=start, is_printed=is_printed, limits=limits, deadline=deadline
    )
