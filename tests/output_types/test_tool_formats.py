"""The formats of tool calls: those of xgrammar, for any tools, choices and modes of reasoning."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from typing import Any, Literal

import pydantic
import pytest
from support.structural_tags import as_json, differences
from support.texts import constraint_of, lets_through

import structgen
from structgen import Grammar
from structgen.generation.tools.messages import ParsedCall
from structgen.generation.tools.reading import FORMATS, read_reply, write_reply
from structgen.output_types.tool_formats.building import TOOL_FORMATS, structural_tag_of
from structgen.output_types.tool_formats.families import FAMILIES
from structgen.output_types.tool_formats.tools import read_tools

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in ("weather", "rain")]
THEIR_FORMATS = (*FAMILIES, "harmony", "kimi_k3")
CHOICES = ("auto", "required", "none", "weather")
MODES = ("enabled", "disabled", "auto")
LISTED = re.compile(r"\ufffd$|[0-9]{17}$")


def tag_of(format: str, choice: str, reasoning: Any, parallel: bool) -> Any:
    return structural_tag_of(read_tools(TOOLS), format, choice, reasoning, parallel)


def marks_in(tag: Any) -> list[str]:
    """The texts of a structural tag, and the names of tools."""
    found: list[str] = []
    for key, value in tag.items() if isinstance(tag, dict) else enumerate(tag) if isinstance(tag, list) else ():
        if isinstance(value, str) and key != "type" and key != "style":
            found.append(value)
        elif key != "json_schema":
            found += marks_in(value)
    return sorted(set(found) - {""})


def test_the_formats_are_those_of_xgrammar():
    """The tags are the same grammar, or the same tag but for how its sequences are nested."""
    xgrammar = pytest.importorskip("xgrammar")
    builtin = pytest.importorskip("xgrammar.builtin_structural_tag")
    assert set(builtin._structural_tag_registry) == set(THEIR_FORMATS) <= set(TOOL_FORMATS)
    for format, choice, reasoning, parallel in itertools.product(THEIR_FORMATS, CHOICES, MODES, (True, False)):
        named = {"type": "function", "function": {"name": choice}}
        theirs = xgrammar.get_model_structural_tag(
            format,
            TOOLS,
            named if choice == "weather" else choice,
            reasoning=reasoning,
            parallel_tool_calls=parallel,
        )
        ours = as_json(tag_of(format, choice, reasoning, parallel))
        grammars = [xgrammar.Grammar.from_structural_tag(tag) for tag in (json.dumps(ours), theirs)]
        if str(grammars[0]) != str(grammars[1]):
            assert flat(ours["format"]) == flat(theirs.model_dump()["format"]), (format, choice, reasoning, parallel)


def flat(format: Any) -> list[Any]:
    """A format as a list of what follows one another; adjacent texts are one."""
    kind = format["type"]
    if kind == "sequence":
        parts = [part for element in format["elements"] for part in flat(element)]
    elif kind == "tag" and isinstance(format["end"], str) and format["content"]["type"] not in ("any_text",):
        parts = [format["begin"], *flat(format["content"]), format["end"]]
    elif kind == "const_string":
        parts = [format["value"]]
    else:
        kept = {key: value for key, value in format.items() if value not in (None, [], False) and key != "style"}
        for key in ("elements", "tags"):
            if key in kept:
                kept[key] = [flat(element) for element in kept[key]]
        if "content" in kept:
            kept["content"] = flat(kept["content"])
        parts = [kept]
    joined: list[Any] = []
    for part in filter(None, parts):
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


@pytest.mark.one_in(8, uncompiled=40)
@pytest.mark.parametrize(
    ("format", "choice", "reasoning", "parallel"), [*itertools.product(THEIR_FORMATS, CHOICES, MODES, (True, False))]
)
def test_masks_are_those_of_xgrammar(format, choice, reasoning, parallel):
    tag = tag_of(format, choice, reasoning, parallel)
    words = [*marks_in(tag), "city", "days", '{"city": "x"}', "7"]
    found = differences(tag, range(6), words, longest=400)
    # xgrammar's free text need not be UTF-8, and its numbers have any number of digits.
    assert all(LISTED.search(before) and not only_here for before, only_here, _ in found)


# --- tools -----------------------------------------------------------------------------------------------------------


def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather in a city."""
    return f"warm in {city} ({unit})"


def without_annotation(x):
    return x


class Search(pydantic.BaseModel):
    """Search the web."""

    model_config = pydantic.ConfigDict(extra="forbid")
    query: str


MCP = {"name": "read-file", "description": "Read it.", "inputSchema": PARAMETERS}


def test_tools_have_many_forms():
    tools = read_tools([weather, Search, MCP, TOOLS[1], {"name": "now"}])
    assert [tool.name for tool in tools] == ["weather", "Search", "read-file", "rain", "now"]
    assert [tool.description for tool in tools] == ["The weather in a city.", "Search the web.", "Read it.", "", ""]
    grammar = Grammar.tool_calls([weather, Search, MCP, {"name": "now"}], "qwen_3")
    for name, arguments in (
        ("weather", '{"city": "Lyon", "unit": "F"}'),
        ("Search", '{"query": "x"}'),
        ("read-file", '{"city": "a"}'),
        ("now", "{}"),
        ("now", '{"any": [1]}'),
    ):
        call = f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'
        assert lets_through(grammar, f"Let me see.\n{call}\n{call} Done.")
    for name, arguments in (("weather", '{"unit": "F"}'), ("Search", '{"q": "x"}'), ("now", "[]"), ("later", "{}")):
        call = f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'
        assert not lets_through(grammar, call)


def test_grammars_of_functions_are_equal_and_pickled():
    grammar = Grammar.tool_calls([weather, Search], "qwen_3_coder")
    assert grammar == Grammar.tool_calls([weather, Search], "qwen_3_coder")
    constraint = constraint_of(grammar)
    call = "<tool_call>\n<function=weather>\n<parameter=city>Lyon</parameter>\n</function>\n</tool_call>"
    for again in (pickle.loads(pickle.dumps(grammar)), pickle.loads(pickle.dumps(constraint))):
        assert lets_through(again, call)
        assert not lets_through(again, call.replace("city", "town"))


def test_the_choice_of_tools():
    call = '<tool_call>{"name": "%s", "arguments": {"city": "x"}}</tool_call>'
    both = f"{call % 'weather'}{call % 'rain'}"
    for choice, parallel, good, bad in (
        ("auto", True, ["", "text", f"a{both}b"], ["<tool_call>"]),
        ("auto", False, ["", f"a{call % 'rain'}"], [both, f"{call % 'rain'}b"]),
        ("required", True, [both, f"{call % 'rain'}b"], ["", "text"]),
        ("required", False, [call % "rain"], [both, ""]),
        ("rain", True, [call % "rain"], [call % "weather", "", both]),
        ("none", True, ["", "text"], []),
    ):
        grammar = Grammar.tool_calls(TOOLS, "exaone", tool_choice=choice, parallel=parallel)
        assert all(lets_through(grammar, text) for text in good)
        assert not any(lets_through(grammar, text) for text in bad)


@pytest.mark.parametrize("format", sorted({*TOOL_FORMATS} & {*FORMATS}))
def test_a_named_tool_is_called_once(format):
    grammar = Grammar.tool_calls(TOOLS, format, tool_choice="weather", reasoning="outside")
    calls = [ParsedCall("weather", {"city": "x"})] * 2
    for count in (1, 2):
        text = write_reply(format, "", calls[:count])
        lead = FAMILIES[format].lead if format in FAMILIES else ""
        assert structgen.check(grammar, lead + text).fits == (count == 1)


@pytest.mark.parametrize(
    ("format", "begin", "end"),
    [
        ("qwen_3_coder", "<tool_call>\n<function=weather>", "</function>\n</tool_call>"),
        ("seed", "<seed:tool_call>\n<function=weather>", "</function>\n</seed:tool_call>"),
        ("glm_4_5", "<tool_call>weather", "</tool_call>"),
    ],
)
@pytest.mark.parametrize("choice", ["auto", "weather"])
def test_a_call_without_arguments_may_have_one_line_break(format, begin, end, choice):
    """Chat templates write it so; there may be as many as with arguments, too."""
    optional = {**PARAMETERS, "required": []}
    for parameters, counts in (
        ({"type": "object"}, (1, 2, 3)),
        (optional, (1, 2, 3)),
        ({**optional, "minProperties": 1}, ()),
        (PARAMETERS, ()),
    ):
        tools = [{"name": "weather", "parameters": parameters}]
        grammar = Grammar.tool_calls(tools, format, tool_choice=choice)
        for count in range(1, 4):
            text = begin + "\n" * count + end
            assert structgen.check(grammar, text).fits == (count in counts)
            assert read_reply(format, text).calls == [ParsedCall("weather", {})]


def test_reasoning():
    for reasoning, good, bad in (
        ("enabled", "hm</think>\n\nyes", "yes"),
        ("disabled", "yes", "hm</think>\n\nyes"),
        ("auto", "<think>hm</think>\n\nyes", "hm</think>\n\nyes"),
    ):
        grammar = Grammar.tool_calls(TOOLS, "qwen_3", reasoning=reasoning)
        assert lets_through(grammar, good)
        assert not lets_through(grammar, bad)


@pytest.mark.parametrize(
    ("format", "begin", "rest"),
    [
        ("nemotron_2", "", "hm\n</think>\n\n"),
        ("apertus", "<|inner_prefix|>", "hm<|inner_suffix|>"),
        ("apriel", "", "hm\n[BEGIN FINAL RESPONSE]\n"),
        ("granite_3", "<think>", "hm</think>\n\n"),
    ],
)
def test_reasoning_of_formats_that_xgrammar_does_not_name(format, begin, rest):
    call = write_reply(format, "", [ParsedCall("weather", {"city": "x"})])
    for answer, choice in ((call, "weather"), ("yes", "none")):
        grammar = Grammar.tool_calls(TOOLS, format, tool_choice=choice, reasoning="enabled")
        assert [structgen.check(grammar, text).fits for text in (begin + rest + answer, answer)] == [True, False]


@pytest.mark.parametrize(
    ("tools", "options", "message"),
    [
        ([weather, weather], {}, "two tools are called 'weather'"),
        ([3], {}, "tool 1 is a int"),
        ([{"parameters": {}}], {}, "tool 1 has no name"),
        ([{"type": "retrieval"}], {}, "tool 1 is not of the type 'function'"),
        ([{"name": "a", "parameters": "x"}], {}, "the parameters of the tool 'a' are no JSON Schema"),
        ([without_annotation], {}, "the parameter x of without_annotation has no annotation"),
        ([{"name": 'a"b'}], {}, "a tool cannot be called"),
        ([{"name": "a b"}], {}, "a tool cannot be called 'a b'"),
    ],
)
def test_bad_tools(tools, options, message):
    with pytest.raises(structgen.StructgenError, match=message):
        Grammar.tool_calls(tools, "qwen_3", **options)


def test_bad_choices():
    for tools, format, options, message in (
        (TOOLS, "qwen3", {}, "the format 'qwen3' is unknown\nHint: did you mean 'qwen_3'"),
        (TOOLS, "qwen_3", {"tool_choice": "snow"}, "names 'snow', which is no tool\nHint: .*'weather', 'rain'"),
        ([], "qwen_3", {"tool_choice": "required"}, "a call is required, and there are no tools"),
        (
            TOOLS,
            "qwen_3",
            {"reasoning": "on"},
            "reasoning is one of 'enabled', 'disabled', 'auto', 'outside', not 'on'",
        ),
    ):
        with pytest.raises(structgen.GrammarError, match=message):
            Grammar.tool_calls(tools, format, **options)


def test_errors_of_parameters_name_the_tool():
    grammar = Grammar.tool_calls([{"name": "a-b", "parameters": {"type": "strin"}}], "qwen_3")
    with pytest.raises(structgen.SchemaError, match="the parameters of the tool 'a-b': "):
        lets_through(grammar, "")


# --- marks that are special tokens -----------------------------------------------------------------------------------

SPECIAL = {
    "<|channel|>": 300,
    "<|message|>": 301,
    "<|constrain|>": 302,
    "<|call|>": 303,
    "<|end|>": 304,
    "<|start|>": 305,
}
HARMONY = structgen.Vocabulary.from_bytes(
    {byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256], special_tokens=SPECIAL
)


def tokens_of(text: str) -> list[int]:
    """The tokens of a text: one for each special token, and for each other byte."""
    pieces = re.split("(" + "|".join(map(re.escape, SPECIAL)) + ")", text)
    return [token for piece in pieces for token in ([SPECIAL[piece]] if piece in SPECIAL else piece.encode())]


def test_marks_that_are_special_tokens_are_tokens():
    grammar = Grammar.tool_calls(TOOLS, "harmony", reasoning="enabled", vocabulary=HARMONY)
    matcher = structgen.compile(grammar, HARMONY).matcher()
    text = (
        "<|channel|>analysis<|message|>It is <|raining.<|end|><|start|>assistant"
        '<|channel|>commentary to=functions.rain<|constrain|>json<|message|>{"city": "Lyon"}<|call|>'
    )
    for token in tokens_of(text):
        assert token in matcher.allowed_token_ids()
        matcher.accept_token(token)
    assert set(matcher.allowed_token_ids()) == {SPECIAL["<|start|>"], 256}


def test_a_trigger_that_is_a_special_token_ends_free_text():
    names = {"<tool_call>": 300, "</tool_call>": 301}
    vocabulary = structgen.Vocabulary.from_bytes(
        {byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256], special_tokens=names
    )
    grammar = "[" + Grammar.tool_calls(TOOLS, "exaone", vocabulary=vocabulary)
    matcher = structgen.compile(grammar, vocabulary).matcher()
    matcher.accept_bytes(b"[text")
    assert {300, 256, ord("<")} <= set(matcher.allowed_token_ids())
    assert 301 not in matcher.allowed_token_ids()
    matcher.accept_token(300)
    matcher.accept_bytes(b'{"name": "rain", "arguments": {"city":"x"}}')
    assert matcher.allowed_token_ids() == [301]
    text = structgen.compile("[" + Grammar.tool_calls(TOOLS, "exaone"), vocabulary).matcher()
    text.accept_bytes(b"[text<tool_call>")  # without the vocabulary, marks are texts


def test_special_tokens_within_marks():
    names = ["<|a|>", "<|b|>"]
    vocabulary = structgen.Vocabulary.from_bytes(
        {byte: bytes([byte]) for byte in range(256)},
        eos_token_ids=[256],
        special_tokens={name: 300 + number for number, name in enumerate(names)},
    )
    tag = {"type": "tag", "begin": "x<|a|>", "content": {"type": "json_schema", "json_schema": {}}, "end": "<|b|>"}
    triggered = {"type": "triggered_tags", "triggers": ["x<|a|>"], "tags": [tag]}
    grammar = Grammar.structural_tag({"type": "structural_tag", "format": triggered}, vocabulary=vocabulary)
    matcher = structgen.compile(grammar, vocabulary).matcher()
    matcher.accept_bytes(b"yxx")
    matcher.accept_token(300)
    matcher.accept_bytes(b"12")
    matcher.accept_token(301)
    assert 256 in matcher.allowed_token_ids()
    triggered["triggers"] = ["x<|"]
    with pytest.raises(structgen.GrammarError, match=r"'x<\|' ends inside .* '<\|a\|>' \(at #/format/tags/0/begin\)"):
        Grammar.structural_tag({"type": "structural_tag", "format": triggered}, vocabulary=vocabulary)
    assert grammar != Grammar.structural_tag(
        {"type": "structural_tag", "format": {**triggered, "triggers": ["x<|a|>"]}}
    )


@pytest.mark.parametrize("parameters", [{}, True, {"properties": {"x": {}}}, {"type": ["null", "object"]}])
def test_arguments_are_an_object(parameters):
    """Also where the schema does not say so."""
    tools = [structgen.Tool("f", parameters)]
    grammar = structgen.Grammar.tool_calls(tools, "hermes", tool_choice="f", reasoning="outside")
    call = '<tool_call>\n{"name": "f", "arguments": @}\n</tool_call>'
    assert structgen.check(grammar, call.replace("@", '{"x": 1}')).fits
    for value in ("5", "[1]", "null"):
        assert not structgen.check(grammar, call.replace("@", value)).fits


def test_a_call_of_ours_begins_without_a_blank():
    """A model that writes compact JSON is led to the call, whose one blank the format has."""
    tools = [{"name": "add", "parameters": {"type": "object", "properties": {}}}]
    grammar = structgen.Grammar.tool_calls(tools, "json")
    assert structgen.check(grammar, '{"name": "add", "arguments": {}}').fits
    for text in ('{"name":"add","arguments":{}}', 'Well. {"name":"add","arguments":{}}'):
        assert not structgen.check(grammar, text).fits
    assert structgen.check(grammar, 'Well. {"nam":1}').fits
