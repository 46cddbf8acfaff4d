"""The types of structural tags without marks: texts, schemas, regexes, grammars, and how formats are put together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from structgen.errors import StructgenError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import sequence
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.parameters import STYLES, Parameters
from structgen.output_types.structural_tags.fields import Fields, refuse
from structgen.output_types.structural_tags.reader import Reader, ReadFormat, Scope

__all__ = ["BASIC", "read_schema"]


def _const_string(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return reader.text(fields.text("value"))


def _any_text(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    excludes = {*fields.texts("excludes", []), *scope.ends}
    max_chars, max_tokens = fields.count("max_chars", None), fields.count("max_tokens", None)
    if max_tokens is None:
        return reader.any_text(excludes, max_chars, scope.mark)
    return reader.text_of_tokens(excludes, max_chars, scope.mark, max_tokens, f"the text at #{fields.pointer}")


def _json_schema(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    style = fields.text("style", "json")
    if style not in STYLES:
        refuse(f"the style {style!r} is unknown", fields.at("style"), hint=f"one of {', '.join(STYLES)}")
    options: dict[str, Any] = {"property_order": "any"} if fields.flag("any_order") else {}
    if fields.value("max_whitespace_cnt", None) is not None:
        options["whitespace"] = _whitespace(fields)
    return read_schema(reader, fields, "json_schema", style, fields.texts("excludes", []), options)


def _whitespace(fields: Fields) -> str:
    """Return the mode of white space for a bound on it: one that stays within the bound."""
    most = fields.count("max_whitespace_cnt")
    return "compact" if most == 0 else "single"


def _qwen_xml_parameter(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return read_schema(reader, fields, "json_schema", "qwen_xml")


def read_schema(
    reader: Reader,
    fields: Fields,
    name: str,
    style: str = "json",
    excludes: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
) -> ast.Expression:
    """Return the expression of a schema.

    Args:
        reader: the reader.
        fields: have the schema.
        name: the key of the schema: JSON data, or JSON as a text.
        style: the notation of its values.
        excludes: texts that must not occur in its strings.
        options: how it is read.
    """
    schema, pointer = fields.value(name), fields.at(name)
    rule, place = "schema", f"the schema at #{pointer}"
    if isinstance(schema, BoundSchema):  # of a tool: it has a name
        rule, place, schema = schema.name, schema.location, schema.schema
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError as error:
            refuse(f"it is not JSON: {error}", pointer)
    if style != "json" or excludes:
        schema = Parameters(schema, style, tuple(excludes), reader.special_tokens)
    return reader.schema(rule, schema, options or {}, place)


def _regex(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    from structgen.engine.regex_syntax.parser import parse_regex

    pattern = fields.text("pattern")
    try:
        return ast.RegexTerminal(parse_regex(pattern, "ecma"))
    except StructgenError as error:
        error.add_location(f"the regex at #{fields.at('pattern')}")
        raise


def _grammar(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    from structgen.kbnf.reading.gbnf import parse_gbnf

    text, syntax = fields.text("grammar"), fields.text("syntax", "ebnf")
    if syntax != "ebnf":
        hint = "write it as EBNF, or put a Grammar.lark and other grammars together with + and |"
        refuse(f"the syntax {syntax!r} is not read here", fields.at("syntax"), hint=hint)
    try:
        return reader.grammar("grammar", parse_gbnf(text))
    except StructgenError as error:
        error.add_location(f"the grammar at #{fields.at('grammar')}")
        raise


def _sequence(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return sequence(reader.read_all(fields, "elements", scope))


def _or(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    parts = reader.read_all(fields, "elements", scope)
    return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))


def _content(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return reader.read(fields.value("content"), fields.at("content"), scope)


def _optional(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return ast.Option(_content(reader, fields, scope))


def _plus(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return ast.OneOrMore(_content(reader, fields, scope))


def _star(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return ast.ZeroOrMore(_content(reader, fields, scope))


def _repeat(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    least, most = fields.count("min"), fields.count("max", least=-1)
    if -1 < most < least:
        refuse(f"a repetition of {least} to {most} times is not possible", fields.pointer)
    return ast.Bounded(_content(reader, fields, scope), least, None if most == -1 else most)


BASIC: dict[str, ReadFormat] = {
    "const_string": _const_string,
    "any_text": _any_text,
    "json_schema": _json_schema,
    "qwen_xml_parameter": _qwen_xml_parameter,
    "regex": _regex,
    "grammar": _grammar,
    "sequence": _sequence,
    "or": _or,
    "optional": _optional,
    "plus": _plus,
    "star": _star,
    "repeat": _repeat,
}
"""The function that reads each of these types."""
