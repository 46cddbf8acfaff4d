"""Arguments in the notations of Gemma and Python: texts are read back as objects of the schema, and back."""

from __future__ import annotations

import ast
import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.schemas import SCHEMAS, document
from support.texts import constraint_of, lets_through
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen import Grammar
from structgen.generation.tools.literals import read_gemma, read_python, write_gemma, write_python
from structgen.output_types.parameters import Parameters
from structgen.schema.rules.call_rules import STYLES
from structgen.schema.rules.parameter_styles import MARKS


def arguments(schema: Any, style: str, excludes: tuple[str, ...] = (), special: tuple[str, ...] = ()) -> Grammar:
    bound = {"x": Parameters(schema, style, excludes, special)}
    return Grammar.kbnf("start ::= 'f' x;", bind=bound, eager=False)


def by_python(text: str) -> Any:
    """Named arguments, read by Python's own parser."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call) and not call.args
    values = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    assert len(values) == len(call.keywords)
    return values


def read(style: str, text: str) -> Any:
    values, end = read_python(text, 1) if style == "python" else read_gemma(text, 1, MARKS[style])
    assert end == len(text), (text, end)
    return values


def write(style: str, values: dict[str, Any]) -> str:
    return "f" + (write_python(values) if style == "python" else write_gemma(values, MARKS[style]))


def schema_of(properties: dict[str, Any], required: list[str], is_open: bool) -> dict[str, Any]:
    schema = {**document(), "type": "object", "properties": properties, "required": required}
    return schema if is_open else {**schema, "additionalProperties": False}


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3), st.booleans(), st.sampled_from(STYLES), st.data())
def test_texts_are_read_back_as_objects_of_the_schema(properties, is_open, style, data):
    names = [*properties, *("a" if is_open else "")]
    required = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    schema = schema_of(properties, required, is_open)
    try:
        constraint = constraint_of(arguments(schema, style))
    except (structgen.UnsupportedSchemaError, structgen.UnsatisfiableSchemaError):
        return
    validator = jsonschema.Draft202012Validator(schema)
    sampler = Sampler(BYTES, longest=400, late=60)
    for _ in range(2):
        walk = sampler.walk(constraint.grammar, random.Random(data.draw(st.integers(0, 999))))
        if not walk.finished:
            continue
        text = walk.text.decode()
        found = read(style, text)
        assert validator.is_valid(found), text
        if style == "python" and all(key.isidentifier() for key in found):
            assert by_python(text) == found


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.sampled_from([0.5, -3.25])
    | st.text("aé'\"\\\n<|>", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["x", "y-1", "é"]), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=2),
    st.dictionaries(st.sampled_from(["a", "b", "c", "d_1"]), VALUES, max_size=3),
    st.booleans(),
    st.sampled_from(STYLES),
)
def test_what_is_written_fits_where_it_is_valid(properties, values, is_open, style):
    schema = schema_of(properties, [], is_open)
    try:
        constraint = constraint_of(arguments(schema, style), whitespace="single", property_order="any")
    except (structgen.UnsupportedSchemaError, structgen.UnsatisfiableSchemaError):
        return
    text = write(style, values)
    assert read(style, text) == values
    assert lets_through(constraint, text) == jsonschema.Draft202012Validator(schema).is_valid(values), text


CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 9},
        "days": {"type": ["integer", "null"]},
        "at": {"type": "object", "properties": {"x": {"type": "boolean"}}, "additionalProperties": False},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-c'\\\\]*$"}},
        "size": {"enum": ["it's", "big"]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
FITTING = {
    "gemma": ['{city:<|"|>Lyon<|"|>,days:3,at:{x:true},tags:[<|"|><|"|>,<|"|>a\'\\<|"|>]}', '{city:<|"|>{a:1}<|"|>}'],
    "function_gemma": ["{city:<escape>Lyon<escape>,days:None,tags:[],size:<escape>it's<escape>}"],
    "python": [
        "(city='Lyon', days=3, at={'x': True}, tags=[\"a'\\\\\"], size='it\\'s')",
        '(city="Ly\\u00f6n", days=None, at={"x": False}, tags=[], size="it\'s")',
        "(city='a\\'b\\n', at={})",
    ],
}
UNFITTING = {
    "gemma": [
        '{city:"Lyon"}',
        '{city:<|"|>L<|"|>}',
        "{city:Lyon}",
        '{"city":<|"|>Lyon<|"|>}',
        "()",
        '{city:<|"|>a<|"|>b<|"|>}',
    ],
    "function_gemma": ["{city:<escape>Lyon}", '{city:<|"|>Lyon<|"|>}', "{}"],
    "python": [
        "(city='Lyon\")",
        "(city=Lyon)",
        "(city='L')",
        "(city='Lyon', at={'x': true})",
        "(city='Lyon', days=null)",
        "('Lyon')",
        "(city='a\nb')",
        "(city='Ly\\x41')",
        "(city='Lyon', at={'x': True, \"x\": True})",
        "(city='Ly\\/n')",
    ],
}


@pytest.mark.parametrize("style", STYLES)
def test_examples_of_each_notation(style):
    constraint = constraint_of(arguments(CITY, style), whitespace="single")
    for text in FITTING[style]:
        assert lets_through(constraint, f"f{text}"), text
    for text in UNFITTING[style]:
        assert not lets_through(constraint, f"f{text}"), text


@pytest.mark.parametrize("style", STYLES)
def test_other_keys_are_bare_and_differ(style):
    grammar = constraint_of(arguments({"properties": {"a": {"type": "null"}}}, style), whitespace="single")
    for values, fits in (({"b": 1, "é-2": {}}, True), ({"a": 1}, False), ({"b c": 1}, False), ({"b:": 1}, False)):
        assert lets_through(grammar, write(style, values)) == fits
    twice = write(style, {"b": 1, "c": 2}).replace("c", "b")
    assert not lets_through(grammar, twice)


def test_other_keys_of_a_dict_are_any_strings():
    grammar = constraint_of(arguments({"properties": {"a": {"properties": {"k": {"type": "null"}}}}}, "python"))
    for text in ("{'a b':1,\"it's\":2}", '{"\\"":1}', "{'k':None}", '{"k":None}', "{'':1}"):
        assert lets_through(grammar, f"f(a={text})"), text
    for text in ("{'k':1}", '{"k":1}', "{'b':1,\"b\":2}", "{'b':1,'b':2}", "{'it\\'s':1}", '{"\\u006b":1}'):
        assert not lets_through(grammar, f"f(a={text})"), text


@pytest.mark.parametrize(
    ("style", "schema", "keyword"),
    [
        ("gemma", {"properties": {"a b": {}}}, "properties"),
        ("gemma", {"properties": {"a": {"properties": {"x:y": {}}}}}, "properties"),
        ("python", {"properties": {"a=b": {}}}, "properties"),
        ("python", {"properties": {"a": {"type": "array", "uniqueItems": True}}}, "uniqueItems"),
        ("gemma", {"properties": {"a": {"enum": ['<|"|>']}}}, "enum"),
        ("gemma", {"patternProperties": {"^[a:]$": {}}, "additionalProperties": False}, "patternProperties"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(style, schema, keyword):
    with pytest.raises(structgen.UnsupportedSchemaError) as caught:
        constraint_of(arguments({"type": "object", **schema}, style))
    assert caught.value.keyword == keyword
    if keyword == "properties":
        assert "the key" in str(caught.value)


def test_marks_that_are_special_tokens():
    """Gemma's mark of strings is a token of its own; its text within a string is refused."""
    special = {'<|"|>': 256}
    vocabulary = structgen.Vocabulary.from_bytes(
        {byte: bytes([byte]) for byte in range(256)}, [257], 258, special_tokens=special
    )
    schema = {"properties": {"s": {"type": "string"}, "e": {"enum": ["", "on"]}}, "additionalProperties": False}
    constraint = structgen.compile(arguments(schema, "gemma", (), tuple(special)), vocabulary)
    for pieces, fits in (
        ([b"f{s:", 256, b"a}", 256, b",e:", 256, 256, b"}"], True),
        ([b"f{s:", 256, 256, b",e:", 256, b"on", 256, b"}"], True),
        ([b'f{s:<|"|>a<|"|>}'], False),
        ([b"f{s:", 256, b'<|"|>', 256, b"}"], False),
    ):
        matcher = constraint.matcher()
        tokens = [token for piece in pieces for token in ([piece] if isinstance(piece, int) else piece)]
        allowed = True
        for token in [*tokens, 257]:
            allowed = allowed and token in matcher.allowed_token_ids()
            if allowed:
                matcher.accept_token(token)
        assert allowed == fits, pieces


def test_excluded_texts_are_in_no_string():
    grammar = constraint_of(arguments({}, "python", ("]",)))
    assert lets_through(grammar, "f(a='x')")
    assert not lets_through(grammar, "f(a=']')")


def test_numbers_are_those_of_json():
    grammar = constraint_of(arguments({"properties": {"n": {"type": "number"}}}, "python"), numbers="plain")
    for text in ("1", "-2.5", "0"):
        assert lets_through(grammar, f"f(n={text})") and ast.literal_eval(text) == json.loads(text)
    for text in ("01", "1_0", "1e5", ".5", "inf"):
        assert not lets_through(grammar, f"f(n={text})")
