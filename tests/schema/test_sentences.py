"""What a validator refuses, in sentences."""

from __future__ import annotations

import json
from typing import Literal

import jsonschema
import pydantic
import pytest
from pydantic import BaseModel, Field, field_validator

import structgen
from structgen.schema.sentences import reasons, sentences

CASES = [
    ({"type": "integer"}, "a", ['the value: "a" is not an integer']),
    ({"type": ["string", "null"]}, 3, ["the value: 3 is not a text or null"]),
    ({"maximum": 120}, 200, ["the value: 200 is more than the maximum 120"]),
    ({"minimum": 1.5}, 1, ["the value: 1 is less than the minimum 1.5"]),
    ({"exclusiveMinimum": 0}, 0, ["the value: 0 is not more than 0"]),
    ({"exclusiveMaximum": 0}, 0, ["the value: 0 is not less than 0"]),
    ({"multipleOf": 5}, 7, ["the value: 7 is not a multiple of 5"]),
    ({"minLength": 3}, "é", ['the value: "é" has 1 characters, fewer than 3']),
    ({"maxLength": 1}, "ab", ['the value: "ab" has 2 characters, more than 1']),
    ({"pattern": "^a"}, "b", ['the value: "b" does not match the pattern ^a']),
    ({"items": {"minItems": 1}}, [[]], ["[0]: there are 0 items, fewer than 1"]),
    ({"maxItems": 1}, [1, 2], ["the value: there are 2 items, more than 1"]),
    ({"uniqueItems": True}, [1, 1], ["the value: two items of [1, 1] are equal"]),
    ({"required": ["a", "b", "c d"]}, {"a": 1}, ["b is required", '["c d"] is required']),
    (
        {"properties": {"name": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": False},
        {"nam": 1, "x-y": 2, "zzz": 3},
        ["nam is not an allowed property (did you mean name?)", "zzz is not an allowed property"],
    ),
    ({"enum": ["red", "green"]}, "gren", ['the value: "gren" is none of "red", "green" (did you mean green?)']),
    ({"enum": list(range(9))}, 10, ["the value: 10 is none of 0, 1, 2, 3, 4, 5, …"]),
    ({"const": {"a": 1}}, 2, ['the value: 2 is not {"a": 1}']),
    ({"anyOf": [{"type": "null"}, {"type": "string"}]}, 3, ["the value: 3 fits none of the 2 alternatives"]),
    ({"oneOf": [{}, {}]}, 3, ["the value: 3 does not fit exactly one of the 2 alternatives"]),
    ({"not": {"type": "null"}}, None, ["the value: null is excluded"]),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ["the value: 'b' is a dependency of 'a'"]),
    (
        {"properties": {"people": {"items": {"properties": {"a b": {"type": "null"}}}}}},
        {"people": [{}, {"a b": 1}]},
        ['people[1]["a b"]: 1 is not null'],
    ),
]


@pytest.mark.parametrize(("schema", "value", "expected"), CASES)
def test_each_keyword_has_a_sentence(schema, value, expected):
    errors = jsonschema.Draft202012Validator(schema).iter_errors(value)
    assert sentences(errors) == expected


class Pet(BaseModel):
    kind: Literal["cat", "dog"]


class Owner(BaseModel, extra="forbid"):
    name: str
    age: int = Field(ge=0, le=120)
    pets: list[Pet] = []


def test_a_check_begins_with_them():
    text = json.dumps({"name": "Ann", "age": 200, "pets": [{}, {"kind": "dg"}]})
    found = structgen.check(Owner, text)
    assert found.reasons == (
        "age: 200 is more than the maximum 120",
        "pets[0].kind is required",
        'pets[1].kind: "dg" is none of "cat", "dog" (did you mean dog?)',
    )
    assert str(found).startswith("\n".join(found.reasons) + "\n1:")


@pytest.mark.parametrize("text", ['{"name": "Ann", "age": 3}', '{"name": "Ann", "age": 3', "no JSON", b"\xff", "NaN"])
def test_other_texts_have_none(text):
    assert structgen.check(Owner, text).reasons == ()


def test_yaml():
    assert structgen.check(structgen.Grammar.yaml(Owner), "name: Ann\nage: 300").reasons == (
        "age: 300 is more than the maximum 120",
    )


def test_long_values_are_cut():
    (sentence,) = structgen.check({"type": "integer"}, json.dumps("x" * 500)).reasons
    assert len(sentence) < 80


def test_places_behind_references():
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "null"}}}},
    }
    found = structgen.check(schema, '{"next": {"next": {"v": 1}}}')
    assert found.reasons == ("next.next.v: 1 is not null",)


class Person(BaseModel):
    """A person, with a validator in Python."""

    model_config = {"extra": "forbid"}

    name: str = Field(min_length=2, max_length=5, pattern="^[A-Z]")
    age: int = Field(ge=0, le=120)
    tags: list[str] = Field(max_length=1)

    @field_validator("name")
    @classmethod
    def known(cls, name: str) -> str:
        """Refuse one name."""
        if name == "Nobody"[:5]:
            raise ValueError("nobody is called so")
        return name


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"name": "Ann", "age": 200, "tags": []}, ["age: 200 is more than the maximum 120"]),
        ({"name": "A", "age": -1, "tags": ["a", "b"]}, [
            'name: "A" has 1 characters, fewer than 2', "age: -1 is less than the minimum 0",
            "tags: there are 2 items, more than 1",
        ]),
        ({"name": "ann", "tags": [], "x": 1}, [
            'name: "ann" does not match the pattern ^[A-Z]', "age is required", "x is not an allowed property",
        ]),
        ({"name": "Nobod", "age": 3, "tags": []}, ["name: nobody is called so"]),
    ],
)  # fmt: skip
def test_reasons_of_pydantic(value, said):
    with pytest.raises(pydantic.ValidationError) as caught:
        Person.model_validate(value)
    assert reasons(caught.value) == said


def test_reasons_of_other_errors():
    error = jsonschema.ValidationError("no")
    assert reasons(error) == ["the value: no"]
    assert reasons(ValueError("too old")) == []


class Counted(BaseModel):
    """A model whose values are not what the text counts."""

    model_config = {"coerce_numbers_to_str": True}

    code: str = Field("", max_length=3)
    items: set[int] = Field({1, 2}, min_length=2)
    word: pydantic.SecretStr = Field("", max_length=2)
    names: dict[str, int] = Field({}, max_length=1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"code": 12345}', "code: String should have at most 3 characters"),
        ('{"items": [1, 1]}', "items: Set should have at least 2 items after validation, not 1"),
        ('{"word": "abc"}', "word: Value should have at most 2 items after validation, not 3"),
        ('{"names": {"a": 1, "b": 2}}', "names: there are 2 items, more than 1"),
    ],
)
def test_what_pydantic_counts_otherwise_than_the_text_is_said_by_pydantic(text, sentence):
    with pytest.raises(pydantic.ValidationError) as caught:
        Counted.model_validate_json(text)
    assert reasons(caught.value) == [sentence]
