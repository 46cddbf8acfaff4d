"""Tests of YAML as an output format: options, examples, errors, `check`, and the command line."""

import json
import sys
from typing import Literal

import pytest
from pydantic import BaseModel, Field, field_validator
from support.exports import differences, read_back

import structgen
from structgen import Grammar
from structgen.cli import main
from structgen.errors import StructgenError
from structgen.generation.partial_yaml import partial_yaml_value
from structgen.generation.yaml_examples import yaml_text_of

VOCABULARY = structgen.Vocabulary.from_bytes(
    {**{byte: bytes([byte]) for byte in range(256)}, 256: b""}, eos_token_ids=[256]
)


class Person(BaseModel):
    name: str
    age: int = Field(le=150)
    likes: set[str] = set()

    @field_validator("age")
    @classmethod
    def plausible(cls, age: int) -> int:
        if age > 120:
            raise ValueError("too old")
        return age


def accepts(constraint, text):
    matcher = constraint.matcher()
    try:
        matcher.accept_bytes(text.encode())
    except structgen.TokenRejectedError:
        return False
    return matcher.is_accepting


@pytest.mark.parametrize(
    "constraint",
    [structgen.compile(Person, VOCABULARY, format="yaml"), structgen.compile(Grammar.yaml(Person), VOCABULARY)],
    ids=["format", "Grammar.yaml"],
)
def test_a_value_is_read_from_yaml_and_validated(constraint):
    text = "name: Ada\nage: 36\nlikes:\n  - chess"
    assert accepts(constraint, text)
    assert constraint.parse(text) == Person(name="Ada", age=36, likes={"chess"})
    assert not constraint.is_json
    with pytest.raises(ValueError, match="too old"):
        constraint.parse("name: Ada\nage: 130")
    with pytest.raises(ValueError, match="line 1, column 8"):
        constraint.parse("name: [")


def test_large_integers_keep_their_digits():
    constraint = structgen.compile(dict[str, int], VOCABULARY, format="yaml")
    assert constraint.parse(f"a: {10**30 + 1}") == {"a": 10**30 + 1}


def test_the_same_schema_in_two_formats_is_two_grammars():
    as_json, as_yaml = (structgen.compile({"type": "array"}, VOCABULARY, format=form) for form in ("json", "yaml"))
    assert accepts(as_json, "[1]")
    assert not accepts(as_json, "- 1")
    assert accepts(as_yaml, "- 1")
    assert not accepts(as_yaml, "[1]")


def test_a_template_may_have_yaml_in_a_hole():
    notes = structgen.template("```yaml\n{data}\n```", data=Grammar.yaml(Person))
    constraint = structgen.compile(notes, VOCABULARY)
    text = "```yaml\nname: Ada\nage: 36\n```"
    assert accepts(constraint, text)
    assert constraint.parse(text)["data"] == Person(name="Ada", age=36)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (Grammar.regex("a"), {}, "for schemas, not for a Grammar"),
        (structgen.template("{a}", a=int), {}, "for schemas, not for a Template"),
        (structgen.json_lines(int), {}, "not for JSON Lines"),
        (int, {"whitespace": "line"}, "block-style YAML has many"),
        (int, {"tokenization": "proper"}, "not for YAML"),
    ],
)
def test_what_has_no_yaml_is_refused(given, options, message):
    with pytest.raises(ValueError, match=message):
        structgen.compile(given, VOCABULARY, format="yaml", **options)


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="format must be one of json, yaml"):
        structgen.compile(int, VOCABULARY, format="toml")


TEAM = {
    "properties": {
        "name": {"type": "string", "maxLength": 3},
        "size": {"type": ["integer", "null"]},
        "members": {
            "type": "array",
            "items": {
                "properties": {
                    "id": {"type": "number"},
                    "tags": {"type": "array", "items": {"enum": ["a", "no", "b: c"]}},
                },
                "required": ["id"],
                "additionalProperties": False,
                "type": "object",
            },
        },
    },
    "required": ["name", "members"],
    "additionalProperties": False,
    "type": "object",
}


@pytest.mark.one_in(2, uncompiled=4)
@pytest.mark.parametrize("to", ["kbnf", "gbnf", "lark"])
@pytest.mark.parametrize(
    "schema", [TEAM, {"type": "string"}, {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}]
)
@pytest.mark.parametrize("whitespace", ["single", "compact"])
def test_masks_of_exported_yaml(schema, to, whitespace):
    text = structgen.export(Grammar.yaml(schema), to, whitespace=whitespace)
    assert text == structgen.export(schema, to, format="yaml", whitespace=whitespace)
    constraint = structgen.compile(schema, VOCABULARY, format="yaml", whitespace=whitespace, numbers="plain")
    for seed in range(3):
        assert differences(constraint, read_back(text, to), seed, longest=120) is None


@pytest.mark.parametrize(
    ("schema", "pointer", "message"),
    [
        ({"$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}, "/$defs/a", "nest"),
        ({"type": "array", "items": {"type": "array", "items": {}}}, "/items", "nest without a bound"),
        ({"type": "array", "uniqueItems": True, "items": {"type": "integer"}}, "", "uniqueItems"),
    ],
)
def test_yaml_that_no_grammar_can_express_is_refused_by_name(schema, pointer, message):
    with pytest.raises(structgen.UnsupportedSchemaError, match=message) as caught:
        structgen.export(schema, "kbnf", format="yaml", whitespace="single")
    assert caught.value.pointer == pointer


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(StructgenError, match=r"PyYAML[\s\S]*structgen-llm\[yaml\]"):
        structgen.compile(int, VOCABULARY, format="yaml")


# --- examples --------------------------------------------------------------------------------------------------------


class Note(BaseModel):
    title: str = Field(alias="Title")
    text: str
    kind: Literal["a: b", "no"]


@pytest.mark.parametrize(
    ("whitespace", "text"),
    [
        ("single", 'Title: "12"\ntext: |-\n  a\n  b\nkind: "no"'),
        ("compact", 'Title: "12"\ntext: |-\n  a\n  b\nkind: "no"'),
    ],
)
def test_the_text_of_an_example(whitespace, text):
    constraint = structgen.compile(Note, VOCABULARY, format="yaml", whitespace=whitespace)
    note = Note(Title="12", text="a\nb", kind="no")
    assert yaml_text_of(note, constraint) == text
    assert constraint.parse(text) == note


def test_lines_in_a_string_that_is_no_block_are_quoted():
    constraint = structgen.compile({"enum": ["a\nb", "c"]}, VOCABULARY, format="yaml")
    assert yaml_text_of("a\nb", constraint) == '"a\\nb"'


def test_an_example_that_does_not_fit_is_refused():
    constraint = structgen.compile(Person, VOCABULARY, format="yaml")
    with pytest.raises(ValueError, match="does not fit"):
        yaml_text_of({"name": "Ada", "age": "x"}, constraint)


# --- check -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["name: Ada\nage: 36", "age: 36\nname: Ada\nlikes:\n- a\n", "name: |\n  Ada\nage: 1\n"]
)
def test_texts_that_fit(text):
    result = structgen.check(Person, text, format="yaml")
    assert result.fits
    assert not result.note
    assert structgen.check(Grammar.yaml(Person), text).fits


def test_other_styles_fit_with_a_note():
    result = structgen.check(Person, "# a person\nname: 'Ada'\nage: 36\n", format="yaml")
    assert result.fits
    assert "never generates this: 1:1" in result.note


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("name: Ada\nage: x", 2, 6, "unexpected"),
        ("name: Ada", 1, 10, "breaks off"),
        ("name: Ada\nage: 130", 2, 6, "too old"),
        ("# é\nname: 'é'\nlikes: []\nage: 130", 4, 6, "too old"),
        ("name: [", 1, 7, "unexpected"),
    ],
)
def test_problems_have_their_position(text, line, column, message):
    (problem,) = structgen.check(Person, text, format="yaml").problems
    assert (problem.line, problem.column) == (line, column)
    assert message in problem.message


def test_the_command_checks_yaml(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}}))
    (tmp_path / "right.yaml").write_text("a: 1\n")
    (tmp_path / "wrong.yaml").write_text("a: x\n")
    assert main(["check", "--format", "yaml", "--schema", "schema.json", "right.yaml", "wrong.yaml"]) == 1
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == 'wrong.yaml: a: "x" is not an integer'
    assert second.startswith("wrong.yaml:1:4: unexpected")


# --- with a model ----------------------------------------------------------------------------------------------------


class Small(BaseModel):
    word: str = Field(max_length=5)
    more: list[bool] = Field(max_length=2)


def test_a_model_generates_yaml(tiny_model):
    result = structgen.Generator(tiny_model, Small, format="yaml").run("x", temperature=1, seed=3)
    assert isinstance(result.value, Small)
    assert result.text.startswith("word: ")
    assert "{" not in result.text.partition("\n")[2]


def test_a_description_of_the_schema_asks_for_yaml(tiny_model):
    from structgen.generation.prompts import conversation
    from structgen.generation.settings import Settings

    constraint = structgen.compile(Small, tiny_model.vocabulary, format="yaml")
    settings = Settings(examples=[("hi", Small(word="a", more=[True]))])
    system, _, example, _ = conversation("x", constraint, settings, describe=True)
    assert system["content"].startswith("Answer with one value in block-style YAML that fits")
    assert example["content"] == "word: a\nmore:\n  - true"


@pytest.mark.parametrize("seed", range(4))
def test_a_stream_of_yaml_grows_by_lines(tiny_model, seed):
    options = {"temperature": 1.2, "seed": seed, "format": "yaml"}
    with structgen.stream(tiny_model, "x", Small, **options) as stream:
        parts = list(stream)
    value = structgen.generate(tiny_model, "x", Small, **options)
    assert parts[-1] == value
    for part in parts:
        assert type(part) is Small
        assert part.word in (value.word, None) or value.word.startswith(part.word)
        assert part.more is None or part.more == value.more[: len(part.more)]


def test_items_of_a_stream_of_yaml(tiny_model):
    options = {"temperature": 1.2, "seed": 5, "format": "yaml"}
    with structgen.stream(tiny_model, "x", Small, **options) as stream:
        assert list(stream.items("more")) == stream.final().more


def test_an_answer_that_the_budget_cuts_off_has_the_values_of_its_lines(tiny_model):
    schema = {"type": "array", "items": {"enum": [True]}, "minItems": 100}
    with pytest.raises(structgen.IncompleteOutputError) as caught:
        structgen.generate(tiny_model, "x", schema, format="yaml", max_new_tokens=9, on_budget="error")
    lines = caught.value.text.count("\n")
    assert caught.value.partial == ([True] * lines if lines else None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("name: Ada", None),
        ("name: Ada\nage: 3", {"name": "Ada"}),
        ("name: Ada\nage: 36\n", {"name": "Ada", "age": 36}),
        ("- |\n  one\n  two", []),
        ("- a: 1\n  b:\n  - x\n- a: 2", [{"a": 1, "b": ["x"]}]),
    ],
)
def test_the_value_of_whole_lines(text, value):
    assert partial_yaml_value(text) == value
