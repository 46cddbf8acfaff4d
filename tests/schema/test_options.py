"""Schema options: the same names in every public function, checked, and part of the cache's key."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from datetime import date
from typing import Any

import jsonschema
import pydantic
import pytest

import structgen
from structgen.cli import main
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import UnsupportedSchemaError
from structgen.schema import SchemaOptions, SchemaWarning, resolve, schema_to_rules

WRONG = [
    ({"whitespace": "none"}, ValueError),
    ({"property_order": "random"}, ValueError),
    ({"formats": True}, ValueError),
    ({"draft": "7"}, ValueError),
    ({"lenient": 1}, TypeError),
    ({"registry": {}}, TypeError),
    ({"white_space": "any"}, TypeError),
]


@pytest.mark.parametrize(("arguments", "error"), WRONG)
def test_words_are_checked_at_the_door(byte_vocabulary: Vocabulary, arguments: dict[str, Any], error: type) -> None:
    name = next(iter(arguments))
    for entrance in (
        lambda: structgen.compile({}, byte_vocabulary, **arguments),
        lambda: structgen.export({}, "kbnf", **arguments),
        lambda: schema_to_rules({}, **arguments),
    ):
        with pytest.raises(error, match=name):
            entrance()


def test_options_are_part_of_the_cache_key(byte_vocabulary: Vocabulary) -> None:
    schema = {"type": "string", "format": "date", "title": "a cache's key"}
    first = structgen.compile(schema, byte_vocabulary)
    assert structgen.compile(schema, byte_vocabulary, formats="assert").grammar is first.grammar
    assert structgen.compile(schema, byte_vocabulary, formats="annotate").grammar is not first.grammar


def test_a_draft_is_that_of_schemas_that_name_none(accepts: Callable[..., Any]) -> None:
    schema: dict[str, Any] = {"$ref": "#/definitions/n", "maximum": 3, "definitions": {"n": {"type": "integer"}}}
    assert not accepts(schema)("4")
    assert accepts(schema, draft="draft7")("4")
    assert resolve(schema, options=SchemaOptions(draft="draft7")).parse("4") == 4
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    assert not accepts(named, draft="draft7")("4")


def test_formats_assert(allows: Callable[[Any, Any], bool]) -> None:
    assert allows({"format": "date"}, "2024-02-29")
    assert not allows({"format": "date"}, "2023-02-29")
    with pytest.warns(SchemaWarning, match="unknown format 'color' .at #/items."):
        assert allows({"items": {"format": "color"}}, ["red"])


@pytest.mark.parametrize("name", ["color", "int32"])
def test_formats_strict_refuses_what_is_not_enforced(name: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=name) as caught:
        schema_to_rules({"items": {"format": name}}, formats="strict")
    assert (caught.value.pointer, caught.value.keyword) == ("/items", "format")


@pytest.mark.parametrize("name", ["date", "color", "idn-hostname"])
def test_formats_annotate_enforces_none(accepts: Callable[..., Any], name: str) -> None:
    schema = {"type": "string", "format": name}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert accepts(schema, formats="annotate")('"~"')
    assert resolve(schema, options=SchemaOptions(formats="annotate")).parse('"~"') == "~"


def test_a_model_enforces_its_formats_whatever_is_asked(accepts: Callable[..., Any]) -> None:
    class Day(pydantic.BaseModel):
        day: date

    accepted = accepts(Day, formats="annotate", whitespace="compact")
    assert accepted('{"day":"2024-02-29"}')
    assert not accepted('{"day":"~"}')


def test_the_validator_enforces_formats(byte_vocabulary: Vocabulary) -> None:
    constraint = structgen.compile({"format": "date"}, byte_vocabulary)
    with pytest.raises(jsonschema.ValidationError):
        constraint.parse('"2023-02-29"')


def test_the_command_line_knows_them(capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.dumps({"format": "color"})
    assert main(["export", "--to", "kbnf", schema, "--formats", "strict"]) == 1
    assert "unknown format 'color'" in capsys.readouterr().err
    assert main(["export", "--to", "kbnf", schema, "--formats", "annotate", "--property-order", "any"]) == 0


UNSUPPORTED: list[dict[str, Any]] = [
    {"pattern": r"^(a+|b)\1$"},
    {"format": "file-path"},
    {"items": {"pattern": r"^(a+|b)\1$"}, "format": "file-path"},
]
AROUND: list[Callable[[Any], Any]] = [
    lambda s: s | {"minLength": 2, "maxItems": 3},
    lambda s: {"not": s},
    lambda s: {"not": {"not": s}},
    lambda s: {"oneOf": [s, {"type": "string"}]},
    lambda s: {"if": s, "then": {"maxLength": 2}, "else": {"minLength": 2}},
    lambda s: {"properties": {"a": s}, "additionalProperties": {"not": s}},
    lambda s: {"not": {"properties": {"a": s}, "required": ["a"]}},
    lambda s: {"propertyNames": s},
    lambda s: {"not": {"propertyNames": s}},
    lambda s: {"contains": s, "maxContains": 1},
    lambda s: {"not": {"contains": s}},
    lambda s: {"dependentSchemas": {"a": s}, "unevaluatedProperties": s},
    lambda s: {"patternProperties": {r"^(a+|b)\1$": s}, "additionalProperties": False},
]
VALUES: list[Any] = [
    *("", "a", "ab", "aa", "bb", "aab"),
    *([], [1], [1, 1], ["aa"], ["aa", "bb"], ["ab", "aa"]),
    *({}, {"a": 1}, {"a": "aa"}, {"a": "ab"}, {"aa": "bb"}, {"ab": "aa"}, {"a": [1, 1]}, {"b": [1, 2]}),
    *(None, 3),
]


@pytest.mark.parametrize("around", range(len(AROUND)))
@pytest.mark.parametrize("inner", range(len(UNSUPPORTED)))
def test_lenient_widens_and_never_narrows(accepts: Callable[..., Any], inner: int, around: int) -> None:
    schema = AROUND[around](UNSUPPORTED[inner])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        accepted = accepts(schema, lenient=True, property_order="any")
    parse = resolve(schema).parse
    for value in VALUES:
        text = json.dumps(value)
        try:
            parse(text)
        except jsonschema.ValidationError:
            continue
        assert accepted(text), (schema, text)


def test_lenient_says_what_it_drops_and_where(byte_vocabulary: Vocabulary) -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": r"^(a+|b)\1$", "maxLength": 2}}}
    with pytest.raises(UnsupportedSchemaError) as caught:
        structgen.compile(schema, byte_vocabulary)
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "pattern")
    with pytest.warns(SchemaWarning, match=r"pattern is dropped: (.|\n)*#/properties/a") as said:
        constraint = structgen.compile(schema, byte_vocabulary, lenient=True)
    assert len(said) == 1
    assert constraint.matcher().accept_bytes(b'{"a":"ab') is None
    with pytest.raises(jsonschema.ValidationError):
        constraint.parse('{"a":"ab"}')


def test_lenient_drops_a_reference_that_lies_outside(accepts: Callable[..., Any]) -> None:
    schema = {"not": {"$ref": "https://elsewhere.test/x", "type": "string"}, "type": ["string", "null"]}
    with pytest.warns(SchemaWarning, match=r"\$ref is dropped"):
        accepted = accepts(schema, lenient=True)
    assert accepted("null")
    assert accepted('"a"')
    assert not accepted("1")


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        ({"properties": {"a": {"type": "array", "uniqueItems": True}}}, "/properties/a", "uniqueItems"),
        ({"type": "object", "minProperties": 3}, "", "minProperties"),
    ],
)
def test_what_no_written_grammar_says_is_refused_or_dropped(schema: dict[str, Any], pointer: str, keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        structgen.export(schema, "kbnf")
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)
    with pytest.warns(SchemaWarning, match=f"{keyword} is dropped"):
        assert structgen.export(schema, "kbnf", lenient=True).startswith("start ::=")
