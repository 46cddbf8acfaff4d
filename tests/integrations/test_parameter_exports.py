"""Exports of arguments in notations other than JSON: read back, they have the same masks."""

from __future__ import annotations

import random

import pytest
from support.exports import differences, read_back
from support.texts import lets_through
from support.vocabularies import BYTES

import structgen
from structgen import Grammar
from structgen.output_types.parameters import STYLES, Parameters

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 4},
        "days": {"type": ["integer", "null"]},
        "at": {"type": "object", "properties": {"x": {"type": "boolean"}}, "additionalProperties": False},
        "tags": {"type": "array", "items": {"enum": ["a", "it's"]}},
    },
    "required": ["city"],
    "additionalProperties": False,
}
NOTATIONS = [style for style in STYLES if style != "json"]


def grammar_of(schema, style, excludes=(), special=()):
    bound = {"x": Parameters(schema, style, excludes, special)}
    return Grammar.kbnf("start ::= '[' x ']';", bind=bound, eager=False)


@pytest.mark.parametrize("to", ["kbnf", "gbnf", "lark"])
@pytest.mark.parametrize("style", NOTATIONS)
def test_masks_of_what_is_read_back(style, to):
    grammar = grammar_of(SCHEMA, style)
    exported = read_back(structgen.export(grammar, to), to)
    for seed in range(2):
        assert differences(grammar, exported, seed) is None


@pytest.mark.parametrize("style", NOTATIONS)
def test_other_keys_may_come_twice(style):
    grammar = Grammar.kbnf(structgen.export(grammar_of({"type": "object"}, style), "kbnf"), eager=False)
    ours = structgen.compile(grammar_of({"type": "object"}, style), BYTES, numbers="plain")
    rng = random.Random(3)
    for _ in range(2):
        matcher, text = ours.matcher(), ""
        while len(text) < 120 and (allowed := [token for token in matcher.allowed_token_ids() if token < 127]):
            token = rng.choice(allowed)
            matcher.accept_token(token)
            text += chr(token)
        assert structgen.compile(grammar, BYTES).matcher().allows_bytes(text.encode()), text


def test_a_mark_that_is_a_token():
    grammar = grammar_of(SCHEMA, "gemma", (), ('<|"|>',))
    assert '<|"|>' in structgen.export(grammar, "gbnf")
    with pytest.raises(structgen.GrammarError, match="cannot express the token terminal"):
        structgen.export(grammar, "kbnf")
    exported = structgen.export(grammar_of(SCHEMA, "kimi_k3_xml", (), ("<|open|>", "<|sep|>", "<|close|>")), "gbnf")
    assert '<|open|> "argument key=\\"city\\""' in exported and '"<|' not in exported


def test_excluded_texts_stay_excluded():
    schema = {"properties": {"s": {"type": "string"}}, "additionalProperties": False}
    for style, text in (("kimi_k3_xml", None), ("python", "[(s='a<b')]"), ("gemma", '[{s:<|"|>a<b<|"|>}]')):
        exported = read_back(structgen.export(grammar_of(schema, style, ("<b",)), "kbnf"), "kbnf")
        if text is not None:
            assert lets_through(exported, text.replace("<b", "b")) and not lets_through(exported, text)


def test_json_with_excluded_texts_is_refused():
    with pytest.raises(structgen.GrammarError, match="exclude some texts cannot be exported"):
        structgen.export(grammar_of(SCHEMA, "json", ("<",)), "kbnf")


@pytest.mark.parametrize("format", ["qwen_3_coder", "glm_4_7", "gemma_4", "pythonic", "lfm_2", "minicpm_5"])
def test_formats_of_calls(format):
    tools = [{"name": "weather", "parameters": SCHEMA}, {"name": "now", "parameters": {"type": "object"}}]
    grammar = Grammar.tool_calls(tools[:1], format, tool_choice="required", reasoning="outside")
    exported = read_back(structgen.export(grammar, "kbnf"), "kbnf")
    # `#ex` may be any bytes.
    assert differences(grammar, exported, 1, left_out=set(range(128, 256))) is None
    structgen.export(Grammar.tool_calls(tools, format), "gbnf")
