"""Tests of the reader of YAML: the types of the core schema, and what is refused by name and position."""

import json
import sys

import pytest

from structgen.errors import StructgenError
from structgen.schema.yaml_text.reader import YamlSyntaxError, read_yaml, yaml_to_json


@pytest.mark.parametrize(
    ("text", "json_text"),
    [
        *((text, "null") for text in ("null", "Null", "NULL", "~", "")),
        *((text, "true") for text in ("true", "True", "TRUE")),
        ("false", "false"),
        *(
            (text, f'"{text}"')
            for text in ("no", "yes", "on", "y", "12:30", "2024-05-01", "0b1", "1_000", "tRue", "<<", "=")
        ),
        ("12", "12"),
        ("-0", "-0"),
        ("+12", "12"),
        (f"-00{'7' * 5000}", f"-{'7' * 5000}"),
        ("007", "7"),
        ("0o17", "15"),
        ("0x1F", "31"),
        ("1.50", "1.50"),
        ("1e3", "1e3"),
        (".5", "0.5"),
        ("1.", "1"),
        ("+1.5", "1.5"),
        ("12345678901234567890.123456789", "12345678901234567890.123456789"),
        ("'12'", '"12"'),
        ('"null"', '"null"'),
        ("!!str 12", '"12"'),
        ("!!float 1", "1.0"),
        ("!!int '3'", "3"),
        ("|\n  a\n  b", '"a\\nb"'),
        (">-\n  a\n  b", '"a b"'),
        ("[1, {a: b}]", '[1,{"a":"b"}]'),
        ("{}", "{}"),
        ("[]", "[]"),
    ],
)
def test_values_of_the_core_schema(text, json_text):
    assert yaml_to_json(f"k: {text}") == f'{{"k":{json_text}}}'


def test_collections():
    text = "a:\n- 1\n-\n  - 2\n  - b: {}\nc:\n  d: e\n"
    assert json.loads(yaml_to_json(text)) == {"a": [1, [2, {"b": {}}]], "c": {"d": "e"}}


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("a: 1\nb: .inf", (2, 4), "not a number of JSON"),
        ("a: +1e99999999999999999999", (1, 4), "not a number of JSON"),
        (f"a: 0x{'f' * 5000}", (1, 4), "not a number of JSON"),
        ("a: .nan", (1, 4), "not a number of JSON"),
        ("a: 1\na: 2", (2, 1), "occurs twice"),
        ("1: 2", (1, 1), "not a string"),
        ("[1]: 2", (1, 1), "not a string"),
        ("a: &x 1\nb: *x", (2, 4), "alias"),
        ("a: !!binary x", (1, 4), "tag"),
        ("a: !!int x", (1, 4), "tag"),
        ("a: 1\n---\nb: 2", (2, 1), "second document"),
        ("a: b: c", (1, 5), "mapping values"),
        ("a: [", (1, 5), "expected"),
        ("a: \x07", (1, 4), "special characters"),
        ("", (1, 1), "no value"),
    ],
)
def test_other_texts_are_refused_with_their_position(text, position, message):
    with pytest.raises(YamlSyntaxError, match=message) as caught:
        yaml_to_json(text)
    assert (caught.value.line, caught.value.column) == position


def test_texts_nest_to_any_depth():
    depth = 1000
    text = "\n".join(" " * level + "a:" for level in range(depth)) + " 1"
    assert yaml_to_json(text).count("{") == depth


def test_the_offsets_of_values():
    text = "a: é\nb:\n- 1\n- c: 2\n"
    starts = read_yaml(text).starts
    assert {path: text[start] for path, start in starts.items()} == {
        (): "a",
        ("a",): "é",
        ("b",): "-",
        ("b", 0): "1",
        ("b", 1): "c",
        ("b", 1, "c"): "2",
    }


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(StructgenError, match=r"PyYAML[\s\S]*structgen-llm\[yaml\]"):
        yaml_to_json("a")
