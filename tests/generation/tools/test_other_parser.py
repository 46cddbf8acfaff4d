"""Calls read by transformers' response parser and by structgen are the same, in random walks through the grammars."""

import random

import pytest
from support.walks import Sampler, byte_vocabulary

import structgen
from structgen.generation.tools.messages import ParsedCall
from structgen.generation.tools.reading import read_reply, write_reply

chat_parsing = pytest.importorskip("transformers.utils.chat_parsing", reason="response templates are of transformers 5")

OBJECT = {"content": "json", "repeats": True, "transform": {"function": "{content}"}}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
XML = {"content": "xml-inline", "repeats": True, "transform": NAMED}
TEMPLATES = {
    "hermes": {"open": "<tool_call>", "close": "</tool_call>", **OBJECT},
    "exaone": {"open": "<tool_call>", "close": "</tool_call>", **OBJECT},
    "mistral": {
        "open": "[TOOL_CALLS]",
        "content": "json",
        "transform": {"function": {"name": "{name}", "arguments": "{arguments}"}},
        "transform_each": True,
    },
    "kimi": {
        "open_pattern": r"<\|tool_call_begin\|>functions\.(?P<name>\w+):\d+<\|tool_call_argument_begin\|>",
        "close": "<|tool_call_end|>",
        "content": "json",
        "repeats": True,
        "transform": NAMED,
    },
    "deepseek_v3_1": {
        "open_pattern": r"<｜tool▁call▁begin｜>(?P<name>\w+)<｜tool▁sep｜>",
        "close": "<｜tool▁call▁end｜>",
        "content": "json",
        "repeats": True,
        "transform": NAMED,
    },
    "qwen_3_coder": {
        "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
        "close": "</tool_call>",
        "content_args": {"tag_pattern": r"<parameter=(?P<key>\w+)>\n?(?P<value>.*?)\n?</parameter>"},
        **XML,
    },
    "minimax": {
        "open_pattern": r'<invoke name="(?P<name>\w+)">',
        "close": "</invoke>",
        "content_args": {"tag_pattern": r'<parameter name="(?P<key>\w+)">(?P<value>.*?)</parameter>'},
        **XML,
    },
    "muse_glimmer": {
        "open_pattern": r'<atem:invoke name="(?P<name>\w+)">',
        "close": "</atem:invoke>",
        "content_args": {"tag_pattern": r'<atem:parameter name="(?P<key>\w+)">(?P<value>.*?)</atem:parameter>'},
        **XML,
    },
    "glm_4_7": {
        "open_pattern": r"<tool_call>(?P<name>\w+)",
        "close": "</tool_call>",
        "content_args": {"tag_pattern": r"<arg_key>(?P<key>\w+)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>"},
        **XML,
    },
    "gemma_4": {
        "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
        "close": "<tool_call|>",
        "content": "json",
        "content_args": {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
        "repeats": True,
        "transform": NAMED,
    },
}
PARAMETERS = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "pattern": "^[a-z é]{0,4}$"},
        "count": {"type": "integer", "minimum": 0, "maximum": 99},
        "kind": {"enum": ["red", "blue"], "type": "string"},
    },
    "required": ["note"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in ("add", "take")]
SCHEMAS = {"add": PARAMETERS, "take": PARAMETERS}


def check(format, text):
    """Compare the two readings, and return the number of calls."""
    template = {"start_anchor": "<|never|>", "fields": {"content": {}, "tool_calls": TEMPLATES[format]}}
    found = chat_parsing.parse_response(text, template, prefix="", tools=TOOLS)
    functions = [call["function"] for call in found.get("tool_calls", [])]
    calls = read_reply(format, text, SCHEMAS).calls
    assert [(call.name, call.arguments) for call in calls] == [(one["name"], one["arguments"]) for one in functions]
    return len(calls)


@pytest.mark.parametrize("format", sorted(TEMPLATES))
def test_what_is_written(format):
    calls = [ParsedCall("add", {"note": "é x", "count": 7}), ParsedCall("take", {"note": "12", "kind": "red"})]
    assert check(format, write_reply(format, "Well.", calls)) == 2
    assert check(format, "Hello.") == 0


@pytest.mark.parametrize("format", sorted({*TEMPLATES} - {"gemma_4"}))
def test_walks_at_random(format):
    vocabulary = byte_vocabulary()
    sampler = Sampler(vocabulary, longest=600, late=60)
    read = 0
    for choice in ("required", "take"):
        grammar = structgen.Grammar.tool_calls(TOOLS, format, tool_choice=choice, reasoning="outside")
        compiled = structgen.compile(grammar, vocabulary, whitespace="single", numbers="plain")
        for seed in range(4):
            walk = sampler.walk(compiled.grammar, random.Random(seed))
            read += check(format, walk.text.decode()) if walk.finished else 0
    assert read > 2
