"""A `Grammar` as the annotation of a field: the value of the string is one of its texts, in masks and in validators."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

import structgen
from structgen import Grammar
from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.languages import language_source

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


NESTED = Grammar.kbnf('start ::= "(" [start] ")";')
GRAMMARS: dict[str, tuple[Grammar, str, str]] = {  # each with a text and another one
    "kbnf": (NESTED, "(())", "(()"),
    "another start": (Grammar.kbnf("a ::= 'x' [b]; b ::= a 'y';", start="a"), "xxy", "xy"),
    "a language from another start": (Grammar.kbnf(language_source("json"), start="string"), '"a"', "[1]"),
    "flags": (Grammar.regex("(?ix) A b # letters"), "aB", "a b"),
    "gbnf": (Grammar.gbnf('root ::= "\\"" root? "\\""'), '""', '"'),
    "llguidance": (Grammar.lark('start: "a" start? "b"'), "aabb", "ab\n"),
    "lark": (Grammar.lark('start: A start? "b"\nA: "a"', dialect="lark"), "aabb", "aab"),
    "language": (Grammar.language("json"), '{"a": "\\n"}', "{'a': 1}"),
    "substring": (Grammar.substring("né à Lyon", unit="word"), "à Lyon", "à Ly"),
    "concat": ("é: " + NESTED, "é: ()", "()"),
    "union": (NESTED | Grammar.choice(["none", 'n"']), 'n"', ""),
    "repeat": (NESTED.repeat(2, 3, separator=", "), "(), ()", "()"),
    "optional": (NESTED.optional(), "", "("),
    "named": (Grammar.concat(NESTED.named("pair"), Grammar.regex("[a-z]")), "()x", "()X"),
    "substring in another": (Grammar.substring("né à Lyon", max_length=3) + NESTED, "né ()", "né à()"),
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_field_of_any_grammar(name: str) -> None:
    grammar, text, other = GRAMMARS[name]

    class Context(BaseModel):
        text: Annotated[str, grammar]

    constraint = structgen.compile(Context, BYTES, whitespace="compact")
    for value, is_text in ((text, True), (other, False)):
        written = Context.model_construct(text=value).model_dump_json()
        matcher = constraint.matcher()
        try:
            matcher.accept_bytes(written.encode())
            assert matcher.is_accepting == is_text
        except structgen.TokenRejectedError:
            assert not is_text
        try:
            assert constraint.parse(written).text == value
            assert is_text
        except ValidationError as error:
            assert not is_text
            assert "it is not a text of Grammar." in str(error)
    assert structgen.check(Context.model_json_schema(), Context(text=text).model_dump_json()).fits
    assert not structgen.check(Context, Context.model_construct(text=other).model_dump_json()).fits


def test_a_field_of_a_structural_tag_or_with_a_schema_is_refused_by_name() -> None:
    tag = {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"}
    bound = Grammar.kbnf("start ::= 'a' [b];", bind={"b": {"type": "integer"}})
    for grammar, why in (
        (Grammar.structural_tag({"type": "structural_tag", "format": tag}), "it is a structural tag"),
        (bound, "it holds a schema"),
    ):
        with pytest.raises(UnsupportedSchemaError, match=rf"cannot be the grammar of a field: {why}"):

            class _Context(BaseModel):
                text: Annotated[str, grammar]


def test_a_field_of_an_imported_grammar_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "numbers.lark").write_text("INT: /[0-9]+/\n")
    grammar = Grammar.lark("%import .numbers.INT\nstart: INT", import_paths=[tmp_path])
    with pytest.raises(UnsupportedSchemaError, match="it imports files"):

        class _Context(BaseModel):
            text: Annotated[str, grammar]


@dataclass
class Line:
    query: Annotated[str, NESTED]


class Lines(TypedDict):
    queries: list[Annotated[str, NESTED]]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Line, {"query": "()"}),
        (Lines, {"queries": ["()", "(())"]}),
        (dict[str, Annotated[str, NESTED]], {"a": "()"}),
        (Annotated[str, NESTED] | None, "()"),
        (tuple[Annotated[str, NESTED], int], ["()", 1]),
    ],
)
def test_other_types(kind: Any, value: Any) -> None:
    text = json.dumps(value)
    assert structgen.check(kind, text).fits
    assert not structgen.check(kind, text.replace(")", "}")).fits
    assert structgen.export(kind, "kbnf")


def test_bytes_and_numbers_that_become_a_text_are_checked() -> None:
    class Made(BaseModel):
        model_config = ConfigDict(coerce_numbers_to_str=True)
        text: Annotated[str, Grammar.regex("a+|12")]

    assert [Made.model_validate({"text": value}).text for value in (b"aa", bytearray(b"a"), 12)] == ["aa", "a", "12"]
    for value in (b"ab", bytearray(b""), b"\xff", 1, 12.0):
        with pytest.raises(ValidationError, match="it is not a text of Grammar"):
            Made.model_validate({"text": value})


def test_a_field_of_another_type_is_refused() -> None:
    with pytest.raises(SchemaError, match="Grammar annotates str only"):

        class _Number(BaseModel):
            number: Annotated[int, Grammar.regex("[0-9]+")]


def test_a_pattern_between_two_grammars_is_refused() -> None:
    with pytest.raises(SchemaError, match="a pattern between Grammar and another annotation"):

        class _Between(BaseModel):
            text: Annotated[str, Grammar.regex("[ab]+"), Field(pattern="^a"), Grammar.regex("..?")]
