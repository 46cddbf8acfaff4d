"""Sentences about JSON that breaks a schema before it is finished."""

from __future__ import annotations

import random
from typing import Any

import pydantic
import pytest
from support.random_schemas import RandomSchemas

import structgen
from structgen.errors import StructgenError
from structgen.schema.options import SchemaOptions
from structgen.schema.unfinished import unfinished_sentences

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 5},
        "age": {"type": "integer", "minimum": 18, "maximum": 120},
        "debt": {"type": "number", "minimum": -9, "exclusiveMaximum": 0},
        "status": {"enum": ["single", "married"]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "extra": {"anyOf": [{"type": "integer", "maximum": 9}, {"type": "null"}]},
        "people": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
BYTES = structgen.Vocabulary.from_bytes({byte: bytes((byte,)) for byte in range(256)} | {256: b"200", 257: b'x", '})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"age": 200', "age: 200 is more than the maximum 120"),
        ('{"age": 1.5', "age: 1.5 is not an integer"),
        ('{"age": 2,', "age: 2 is less than the minimum 18"),
        ('{"age": "x', 'age: "x" is not an integer'),
        ('{"age": true', "age: true is not an integer"),
        ('{"debt": -10', "debt: -10 is less than the minimum -9"),
        ('{"debt": 1', "debt: 1 is not less than 0"),
        ('{"name": "Annabelle', 'name: "Annabelle" has 9 characters, more than 5'),
        ('{"name": "A",', 'name: "A" has 1 characters, fewer than 3'),
        ('{"name": "Ann"}', "age is required"),
        ('{"name": "Ann", "agf', "agf is not an allowed property (did you mean age?)"),
        ('{"status": "singx', 'status: "singx" is none of "single", "married" (did you mean single?)'),
        ('{"tags": ["a", "b", "c', "tags: there are 3 items, more than 2"),
        ('{"tags": []', "tags: there are 0 items, fewer than 1"),
        ('{"tags": ["a", 3', "tags[1]: 3 is not a text"),
        ('{"extra": 10', "extra: 10 is more than the maximum 9"),
        ('{"people": [{"name": "Ann", "age": 20}, {"age": 200', "people[1].age: 200 is more than the maximum 120"),
        ('["', 'the value: [""] is not an object'),
    ],
)
def test_what_no_further_text_can_mend(text: str, sentence: str) -> None:
    assert unfinished_sentences(SCHEMA, SchemaOptions(), text) == (sentence,)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", '{"', '{"age"', '{"age":', '{"age": -', '{"age": 2', '{"age": 12.', '{"age": tr', '{"name": "A'),
        *(
            '{"debt": -1',
            '{"name": "a\\',
            '{"name": "a\\u12',
            '{"tags": [',
            '{"extra": 1,',
            '{"people": [{"age": 20, "na',
        ),
        *('{"age": 20, "age', '{"age"]', "}", '{"age": 20', "{{", '{"name": "Ann" "age'),
    ],
)
def test_what_more_text_may_mend_or_is_no_json(text: str) -> None:
    assert unfinished_sentences(SCHEMA, SchemaOptions(), text) == ()


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.one_in(3)
def test_nothing_is_wrong_with_the_beginning_of_a_right_text(seed: int) -> None:
    rng = random.Random(seed)
    schema = RandomSchemas(rng, "2020-12").document()
    try:
        matcher = structgen.compile(schema, BYTES, numbers="plain", whitespace="compact").matcher()
    except StructgenError:
        return
    text = b""
    for _ in range(30):
        allowed = matcher.allowed_token_ids()
        if not allowed or matcher.is_terminated:
            break
        token = rng.choice(allowed)
        matcher.accept_token(token)
        text += BYTES.token_bytes(token) or b""
        if text[-1:] in b"{}[],":  # a text or a number that is still open may look wrong, as in an enum
            assert unfinished_sentences(schema, SchemaOptions(), text.decode(errors="ignore")) == (), text


def test_an_explanation_begins_with_them() -> None:
    class Person(pydantic.BaseModel):
        age: int = pydantic.Field(le=120)

    for tokenized in (Person, Person.model_json_schema()):
        matcher = structgen.compile(tokenized, BYTES).matcher()
        matcher.accept_bytes(b'{"age": ')
        found = matcher.fork().explain(256)
        assert found.reasons == ("age: 200 is more than the maximum 120",)
        first, second = str(found).splitlines()
        assert first == found.reasons[0]
        assert second.startswith('token 256 ("200") is refused at its byte 2')
        assert matcher.explain(ord("1")).reasons == matcher.explain(ord("]")).reasons == ()
        matcher.accept_bytes(b"7")
        assert matcher.explain(257).reasons == ()


def test_what_follows_the_refused_byte_need_not_be_json() -> None:
    matcher = structgen.compile({"enum": ["ab", "ac"]}, BYTES).matcher()
    matcher.accept_bytes(b'"a')
    assert matcher.explain(257).reasons == ('the value: "ax" is none of "ab", "ac"',)


def test_grammars_have_none() -> None:
    matcher = structgen.compile(structgen.Grammar.regex("[0-9]"), BYTES).matcher()
    assert matcher.explain(ord("x")).reasons == ()
