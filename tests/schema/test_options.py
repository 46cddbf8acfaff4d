"""The options of a schema's reading: the same names at every entrance, checked, and part of the cache's key."""

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
from structgen.engine.vocabulary import Vocabulary
from structgen.errors import UnsupportedSchemaError
from structgen.schema import SchemaOptions, SchemaWarning, resolve, schema_to_kbnf

WRONG = [
    ({"whitespace": "none"}, ValueError),
    ({"property_order": "random"}, ValueError),
    ({"formats": True}, ValueError),
    ({"lenient": 1}, TypeError),
    ({"registry": {}}, TypeError),
    ({"white_space": "any"}, TypeError),
]


@pytest.mark.parametrize(("arguments", "error"), WRONG)
def test_words_are_checked_at_the_door(byte_vocabulary: Vocabulary, arguments: dict[str, Any], error: type) -> None:
    name = next(iter(arguments))
    for entrance in (
        lambda: structgen.compile({}, byte_vocabulary, **arguments),
        lambda: structgen.to_kbnf({}, **arguments),
        lambda: schema_to_kbnf({}, **arguments),
    ):
        with pytest.raises(error, match=name):
            entrance()


def test_options_are_part_of_the_cache_key(byte_vocabulary: Vocabulary) -> None:
    schema = {"type": "string", "format": "date", "title": "a cache's key"}
    first = structgen.compile(schema, byte_vocabulary)
    assert structgen.compile(schema, byte_vocabulary, formats="assert").grammar is first.grammar
    assert structgen.compile(schema, byte_vocabulary, formats="annotate").grammar is not first.grammar


def test_formats_assert(allows: Callable[[Any, Any], bool]) -> None:
    assert allows({"format": "date"}, "2024-02-29")
    assert not allows({"format": "date"}, "2023-02-29")
    with pytest.warns(SchemaWarning, match="unknown format 'color' .at #/items."):
        assert allows({"items": {"format": "color"}}, ["red"])


@pytest.mark.parametrize("name", ["color", "int32"])
def test_formats_strict_refuses_what_is_not_enforced(name: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=name) as caught:
        schema_to_kbnf({"items": {"format": name}}, formats="strict")
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
    assert "the format 'color'" in capsys.readouterr().err
    assert main(["export", "--to", "kbnf", schema, "--formats", "annotate", "--property-order", "any"]) == 0
