"""Schemas inside grammars: bound nonterminals."""

from __future__ import annotations

import json
import pickle
import random
import re
from typing import Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.schemas import SCHEMAS, document
from support.texts import BYTES, constraint_of, is_read, language, lets_through
from support.walks import Sampler

import structgen
from structgen import Grammar
from structgen.engine.matching.matcher import Matcher


class Point(pydantic.BaseModel):
    x: int
    tags: list[str] = []


DISTINCT = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
FREE_KEYS = {"type": "object", "additionalProperties": {"type": "integer"}}


def bound(text: str, **schemas: Any) -> Grammar:
    return Grammar.kbnf(text, bind=schemas, eager=False)


def masks(constraint: structgen.Constraint[Any], data: bytes) -> list[list[int]]:
    matcher = constraint.matcher()
    found = [matcher.allowed_token_ids()]
    for byte in data:
        matcher.accept_token(byte)
        found.append(matcher.allowed_token_ids())
    return found


@settings(max_examples=60)
@given(SCHEMAS, st.integers(0, 99))
def test_within_a_grammar_the_masks_are_those_of_the_schema(whole, seed):
    schema = {**document(whole=whole), "$ref": "#/$defs/whole"}
    try:
        alone = constraint_of(schema)
    except structgen.StructgenError as error:
        with pytest.raises(type(error), match="the bound nonterminal 'value'"):
            constraint_of(bound("start ::= '<' value;", value=schema))
        return
    inside = constraint_of(bound("start ::= '<' value;", value=schema))
    text = Sampler(BYTES, longest=60, late=20).walk(alone.grammar, random.Random(seed)).text
    assert masks(inside, b"<" + text)[1:] == masks(alone, text)


@pytest.mark.parametrize("schema", [Point, DISTINCT, FREE_KEYS, {"type": "integer"}])
def test_a_schema_stands_anywhere_in_a_grammar(schema):
    """Between other texts, several times, and in a recursive rule: each walk can be read in pieces."""
    nested = constraint_of(bound(r"start ::= value | '\x01' start '\x02' start '\x03';", value=schema))
    alone = constraint_of(schema)
    for seed in range(10):
        walk = Sampler(BYTES, longest=200, late=40).walk(nested.grammar, random.Random(seed))
        if walk.finished:
            pieces = walk.text.translate(bytes.maketrans(b"\x02\x03", b"\x01\x01")).split(b"\x01")
            assert all(is_read(alone, piece) for piece in pieces if piece)


def test_items_differ_within_one_value_only():
    grammar = constraint_of(bound("start ::= (value ' ')+;", value=DISTINCT))
    assert lets_through(grammar, "[1,2] [1] [2,1] ")
    assert not lets_through(grammar, "[1,1] ")
    keys = constraint_of(bound("start ::= (value ' ')+;", value=FREE_KEYS))
    assert lets_through(keys, '{"a":1} {"a":2} ')
    assert not lets_through(keys, '{"a":1,"a":2} ')


def test_other_formats_are_bound_too():
    optional = Grammar.regex("b*")
    assert language(bound("start ::= 'a' x 'c';", x=optional), "abc", 4) == {"ac", "abc", "abbc"}
    assert language(bound("start ::= x;", x=optional), "ab", 2) == {"b", "bb"}  # no text of KBNF is empty
    assert language("a" + bound("start ::= x;", x=optional).optional(), "ab", 2) == {"a", "ab"}
    kbnf = Grammar.kbnf("start ::= 'a' start | 'b';")  # eager alone, not within another grammar
    assert language(bound("start ::= x 'c'?;", x=kbnf), "abc", 4) == {"b", "bc", "ab", "abc", "aab", "aabc", "aaab"}
    lines = structgen.json_lines({"enum": [1, 2]}, max_items=2)
    assert lets_through(bound("start ::= '[' x ']';", x=lines), "[1\n2]")
    assert lets_through(bound("start ::= x '!';", x=structgen.template("{n}?", n=int)), "12?!")
    look_ahead = Grammar.kbnf("start ::= 'a' !'b' | 'ac';")
    assert language(bound("start ::= x ('b' | 'c');", x=look_ahead), "abc", 3) == {"ac", "acb", "acc"}


def test_composed_grammars_keep_their_schemas():
    point = bound("start ::= 'p' value;", value=Point)
    number = bound("start ::= 'n' value;", value={"type": "integer"})
    both = (point | number).repeat(1, separator=", ").named("values") + "."
    for text in ('p{"x":1}.', 'n12, p{"x":1,"tags":["a"]}.'):
        assert lets_through(both, text)
    for text in ('n{"x":1}.', "p12.", "n1n2."):
        assert not lets_through(both, text)
    assert both == (point | number).repeat(1, separator=", ").named("values") + "."
    assert both != (point | point).repeat(1, separator=", ").named("values") + "."


def test_grammars_of_different_schemas_differ():
    one = bound("start ::= x;", x={"const": 1})
    true = bound("start ::= x;", x={"const": True})
    assert one == bound("start ::= x;", x={"const": 1})
    assert one != true
    assert language(one, "1true", 4, numbers="plain") == {"1"}
    assert language(true, "1true", 4, numbers="plain") == {"true"}


def test_a_schema_is_copied():
    schema = {"enum": ["a"]}
    grammar = bound("start ::= x;", x=schema)
    schema["enum"] = ["b"]
    assert lets_through(grammar, '"a"')


def test_the_options_are_those_of_compile():
    grammar = bound("start ::= x;", x=list[int])
    assert lets_through(grammar, "[1, 2]")
    assert not lets_through(grammar, "[1, 2]", whitespace="compact")


def test_constraints_are_pickled():
    constraint = constraint_of(bound("start ::= '<' x '>';", x={"enum": [1]}) + "!")
    assert lets_through(pickle.loads(pickle.dumps(constraint)), "<1>!")


@pytest.mark.parametrize(
    ("text", "schemas", "error", "message"),
    [
        ("start ::= x;", {"x": False}, structgen.UnsatisfiableSchemaError, "bound nonterminal 'x': no value"),
        ("start ::= x;", {"x": {"type": "strin"}}, structgen.SchemaError, "bound nonterminal 'x': 'strin'"),
        ("start ::= x; x ::= 'a';", {"x": int}, structgen.GrammarError, "'x' is bound, and a rule defines it"),
        ("start ::= 'a';", {"x": int}, structgen.GrammarError, "no rule uses the bound nonterminal 'x'"),
        ("start ::= 'a' | 'ab' - x;", {"x": int}, structgen.GrammarError, "bound nonterminal 'x' is used where only"),
        ("start ::= 'a' !'1' x;", {"x": int}, structgen.GrammarError, "look-ahead stands before a bound nonterminal"),
        ("start ::= margin! 'a' x;", {"x": int}, structgen.GrammarError, "margin! or indented! cannot have"),
    ],
)
def test_errors_say_what_is_wrong(text, schemas, error, message):
    with pytest.raises(error, match=message):
        constraint_of(bound(text, **schemas))


def test_messages_tell_the_location_in_the_schema():
    matcher = Matcher(constraint_of(bound("start ::= '<call>' x '</call>';", x=Point)).grammar)
    matcher.accept_bytes(b'<call>{"x":')
    assert "#/properties/x" in str(matcher.explain(ord("a")))


def test_schemas_are_written_in_a_grammar():
    kbnf = Grammar.kbnf('start ::= "<" x ">" | #json {"const": "}"}; x ::= #json{"enum": [1, 2]} | "-" x;', eager=False)
    assert language(kbnf, '<>12-"}', 4) == {"<1>", "<2>", "<-1>", "<-2>", '"}"'}
    assert kbnf == Grammar.kbnf(kbnf.source, eager=False)
    lark = Grammar.lark('start: "a" %json {"type": "array", "items": {"type": "null"}, "maxItems": 1} "b"\n%ignore " "')
    for text, is_text in (("a[null]b", True), ("a [null] b", True), ("a[] b", True), ("a[1]b", False), ("ab", False)):
        assert lets_through(lark, text) == is_text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Grammar.kbnf('start ::= #json {"a": };'), "line 1, column 17: expected a JSON object after '#json'"),
        (lambda: Grammar.kbnf("start ::= #json 7;"), "line 1, column 11: expected a string right after '#'"),
        (lambda: Grammar.kbnf('start ::= "a" -\n #json {};'), "#json {"),
        (lambda: Grammar.kbnf('start ::= "a"\n #json {"type": "x"};'), "the schema in line 2: 'x' is not a JSON type"),
        (lambda: Grammar.lark('start: a\na: %json {"type": "x"}'), "the schema in line 2: 'x' is not a JSON type"),
        (lambda: Grammar.lark("start: %json {}", dialect="lark"), "%json is not supported"),
    ],
)
def test_errors_of_written_schemas(make, message):
    with pytest.raises(structgen.StructgenError, match=re.escape(message) if message != "#json {" else "json"):
        constraint_of(make())


PAIR = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]}


@pytest.mark.parametrize(
    ("guidance", "written"),
    [
        ({}, ['{"a":1,"b":2}', '{"a": 1, "b": 2}', '{"a" :1,\n"b":2}']),
        ({"whitespace_flexible": False, "coerce_one_of": True}, ['{"a":1,"b":2}']),
        ({"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}, ['{"a": 1, "b": 2}']),
        ({"lenient": True}, ['{"a":1,"b":2}', '{"a": 1, "b": 2}', '{"a" :1,\n"b":2}']),
    ],
)
def test_x_guidance_says_how_values_are_written(guidance, written):
    source = json.dumps({**PAIR, "x-guidance": guidance})
    named = {"grammars": [{"lark_grammar": "start: @b"}, {"name": "b", "json_schema": json.loads(source)}]}
    for grammar in (Grammar.lark(f"start: %json {source}"), Grammar.lark(json.dumps(named))):
        for text in ('{"a":1,"b":2}', '{"a": 1, "b": 2}', '{"a" :1,\n"b":2}'):
            assert lets_through(grammar, text) == (text in written)


@pytest.mark.parametrize(
    ("guidance", "message"),
    [
        (
            {"item_separator": ";", "whitespace_flexible": False},
            "line 1: this item_separator of x-guidance",
        ),
        (
            {"key_separator": ": "},
            "not supported (at #/x-guidance/item_separator)",
        ),
        ({"whitespace_pattern": " "}, "not supported (at #/x-guidance/whitespace_pattern)"),
        (7, "x-guidance must be an object (at #/x-guidance)"),
    ],
)
def test_x_guidance_that_cannot_be_followed_is_refused_by_name(guidance, message):
    with pytest.raises(structgen.SchemaError, match=re.escape(message)):
        Grammar.lark(f"start: %json {json.dumps({**PAIR, 'x-guidance': guidance})}")


NAMES = {"<call>": 257, "</call>": 258}
WITH_NAMES = structgen.Vocabulary.from_bytes(
    {byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256], special_tokens=NAMES
)


@pytest.mark.parametrize(
    "grammar",
    [
        bound("start ::= #token'<call>' x #token'</call>';", x=DISTINCT),
        bound(
            "start ::= call x end;",
            call=bound("start ::= #token'<call>';"),
            x=DISTINCT,
            end=bound("start ::= #token'</call>';"),
        ),
        bound("start ::= x;", x=bound("start ::= #token'<call>' y #token'</call>';", y=DISTINCT)),
    ],
)
def test_token_terminals_beside_schemas(grammar):
    matcher = structgen.compile(grammar, WITH_NAMES).matcher()
    assert matcher.allowed_token_ids() == [257]
    matcher.accept_token(257)
    matcher.accept_bytes(b"[1,2")
    assert 257 not in matcher.allowed_token_ids()
    matcher.accept_bytes(b"]")
    assert matcher.allowed_token_ids() == [258]
    matcher.accept_token(258)
    assert matcher.allowed_token_ids() == [256]
    matcher.rollback(2)
    with pytest.raises(structgen.TokenRejectedError):
        matcher.accept_bytes(b",1]")
