"""JSON inside a string, `Json[T]`: the masks let through what Pydantic reads."""

from __future__ import annotations

import json
import random
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, Json
from support.texts import is_read
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen import Grammar

KEYWORD = "x-structgen-json"
NESTED = Grammar.kbnf('start ::= "(" [start] ")" | \'"\' start;')


class Inner(BaseModel):
    number: int
    names: list[str] = []
    share: Annotated[float, Field(ge=0, le=1)] | None = None


class Nested(BaseModel):
    value: int
    child: Json[Nested] | None = None


class Holder(BaseModel):
    inner: Json[Inner]
    twice: Json[Json[int]]
    keys: Json[dict[str, bool]] | None = None
    short: Json[Annotated[str, Field(max_length=2)]] = '""'
    texts: Json[list[Annotated[str, NESTED]]] = "[]"


TYPES: dict[str, tuple[Any, list[Any], list[Any]]] = {  # each with values of the string, and others
    "int": (Json[int], ["1", "-3"], ["x", "1.5", "", "1 2"]),
    "list": (list[Json[list[int]]], [["[1]", "[ ]"]], [["[1"], [[1]]]),
    "map": (dict[str, Json[bool]], [{"a": "true"}], [{"a": "yes"}, {"a": True}]),
    "twice": (Json[Json[int]], ['"1"', '"-12"'], ["1", '"x"']),
    "optional": (Json[int] | None, [None, "1"], ["null"]),
    "model": (Json[Inner], ['{"number":1}', '{"number": 1, "names": ["a\\"b", "é"]}'], ['{"number":"a"}', "{}"]),
    "multiple": (Json[Annotated[int, Field(multiple_of=7)]], ["14"], ["15"]),
    "grammar": (Json[Annotated[str, NESTED]], ['"()"', '"\\"()"'], ['"(', "()"]),
    "grammars": (Json[list[Annotated[str, NESTED]]], ['["()"]'], ['["("]']),
    "recursive": (
        Nested,
        [{"value": 1, "child": '{"value":2,"child":"{\\"value\\":3}"}'}],
        [{"value": 1, "child": "1"}],
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_values_by_hand(name: str) -> None:
    kind, values, others = TYPES[name]
    constraint = structgen.compile(kind, BYTES)
    for value in (*values, *others):
        for ensure_ascii in (False, True):
            text = json.dumps(value, ensure_ascii=ensure_ascii)
            try:
                constraint.parse(text)
                is_valid = True
            except ValueError:
                is_valid = False
            assert is_valid == (value in values), value
            assert is_read(constraint, text) == is_valid, text


@pytest.mark.parametrize("kind", [Holder, Nested], ids=lambda kind: kind.__name__)
def test_walks_are_read_by_pydantic(kind: Any) -> None:
    constraint = structgen.compile(kind, BYTES)
    sampler, rng = Sampler(BYTES, longest=500, late=60), random.Random(4)
    finished = 0
    for _ in range(15):
        walk = sampler.walk(constraint.grammar, rng)
        if walk.finished:
            finished += 1
            constraint.parse(walk.text.decode())
    assert finished


def test_a_json_schema_validates_the_same() -> None:
    schema = {"type": "string", KEYWORD: {"type": "array", "items": {"type": "integer"}}}
    assert structgen.check(schema, '"[1, 2]"').fits
    for text in ('"[1.5]"', '"[1"', "[1]"):
        assert not structgen.check(schema, text).fits


def test_a_content_without_a_value_is_left_out() -> None:
    never = {"type": "string", KEYWORD: {"type": "object", "required": ["a"], "properties": {"a": False}}}
    assert is_read(structgen.compile({"anyOf": [never, {"type": "null"}]}, BYTES), "null")
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(never, BYTES)


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "string", KEYWORD: {}, "maxLength": 9}, KEYWORD),
        ({"not": {"type": "string", KEYWORD: {"type": "integer"}}}, KEYWORD),
        ({"enum": ["1", "x"], KEYWORD: {"type": "integer"}}, KEYWORD),
        ({"type": "string", KEYWORD: {"type": "array", "uniqueItems": True}}, "uniqueItems"),
        ({"type": "string", KEYWORD: {"type": "object", "minProperties": 3}}, "minProperties"),
        ({"type": "array", "items": {"type": "string", KEYWORD: {}}, "uniqueItems": True}, "uniqueItems"),
    ],
)
def test_what_has_no_rules_is_refused_by_name(schema: Any, keyword: str) -> None:
    with pytest.raises(structgen.UnsupportedSchemaError) as caught:
        structgen.compile(schema, BYTES)
    assert caught.value.keyword == keyword


def test_exports_have_the_same_texts() -> None:
    exported = structgen.compile(Grammar.kbnf(structgen.export(Json[list[int]], "kbnf")), BYTES)
    for value in ("[]", "[1, 2]", "[1", "[1.5]", "x"):
        assert is_read(exported, json.dumps(value)) == (value in ("[]", "[1, 2]"))
