"""A `Grammar` as the annotation of a field: the value of the string is one of its texts, in masks and in validators."""

import re
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

import structgen
from structgen import Grammar
from structgen.errors import SchemaError, UnsupportedSchemaError

BYTES = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)} | {256: b""}, eos_token_ids=[256])
TEXTS = ("", "a", "aa", "b", "bb", "ab", "ccc", "a\n", "é", "x", 'q"')


class Fields(BaseModel):
    letters: Annotated[str, Grammar.regex("a+|b|é")] = "a"
    short: Annotated[str, Grammar.regex("a|bb|ccc"), Field(max_length=2)] = "a"
    before: Annotated[str, Field(pattern="^a"), Grammar.regex("[ab]+")] = "a"
    after: Annotated[str, Grammar.regex("[ab]+"), Field(pattern="^a")] = "a"
    both: Annotated[str, Grammar.regex("[ab]+"), Grammar.regex("..?"), Field(pattern="^a")] = "a"
    chosen: Annotated[str, Grammar.choice(["x", 'q"', "é"])] | None = None
    many: list[Annotated[str, Grammar.choice({"a": 1, "bb": 2})]] = []


def is_accepted(text: str) -> bool:
    matcher = structgen.compile(Fields, BYTES, whitespace="compact").matcher()
    try:
        matcher.accept_bytes(text.encode())
    except structgen.TokenRejectedError:
        return False
    return matcher.is_accepting


@pytest.mark.parametrize("name", Fields.model_fields)
def test_masks_let_through_what_the_validator_takes(name: str) -> None:
    agreed = 0
    for text in TEXTS:
        value = [text] if name == "many" else text
        written = Fields.model_construct(**{name: value}).model_dump_json(include={name})
        try:
            Fields.model_validate_json(written)
            is_valid = True
        except ValidationError:
            is_valid = False
        assert is_accepted(written) == is_valid, written
        agreed += is_valid
    assert 0 < agreed < len(TEXTS)


def test_a_field_with_another_grammar_is_refused_by_name() -> None:
    with pytest.raises(
        UnsupportedSchemaError, match=re.escape("Grammar.kbnf(\"start ::= 'a';\") cannot be the grammar")
    ):

        class _Context(BaseModel):
            text: Annotated[str, Grammar.kbnf("start ::= 'a';")]


def test_a_field_of_another_type_is_refused() -> None:
    with pytest.raises(SchemaError, match="Grammar annotates str only"):

        class _Number(BaseModel):
            number: Annotated[int, Grammar.regex("[0-9]+")]


def test_a_pattern_between_two_grammars_is_refused() -> None:
    with pytest.raises(SchemaError, match="a pattern between Grammar and another annotation"):

        class _Between(BaseModel):
            text: Annotated[str, Grammar.regex("[ab]+"), Field(pattern="^a"), Grammar.regex("..?")]
