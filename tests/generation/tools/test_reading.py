"""Reading of tool calls: the reverse of writing, for every format; and the grammars of the formats agree."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.walks import Sampler, byte_vocabulary

import structgen
from structgen.generation.tools.messages import ParsedCall, ParsedReply
from structgen.generation.tools.reading import FORMATS, read_reply, write_reply
from structgen.generation.tools.server_replies import read_object, reply_schema
from structgen.generation.tools.toolbox import Toolbox
from structgen.output_types.tool_formats.building import TOOL_FORMATS
from structgen.output_types.tool_formats.families import FAMILIES
from structgen.schema.options import SchemaOptions

# Texts that every notation can carry: no marks, and no line break where a frame of line breaks is cut off.
TEXTS = st.text("abc 019\"'\\é😀,.", max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.floats(-9, 9).map(lambda x: round(x, 3)) | TEXTS,
    lambda inner: st.lists(inner, min_size=1, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, min_size=1),
    max_leaves=4,
)
ANY_OBJECT = {"type": "object"}
BY_TYPE = {
    "s": ({"type": "string"}, TEXTS),
    "i": ({"type": "integer"}, st.integers(-999, 999)),
    "b": ({"type": "boolean"}, st.booleans()),
    "l": ({"type": "array", "items": {"type": "integer"}}, st.lists(st.integers(0, 9), min_size=1, max_size=3)),
    "o": ({"type": "object", "properties": {"t": {"type": "string"}}}, st.fixed_dictionaries({"t": TEXTS})),
    "n": ({"type": ["integer", "null"]}, st.none() | st.integers(0, 9)),
    "e": ({"enum": ["red", "blue"]}, st.sampled_from(["red", "blue"])),
    "r": ({"$ref": "#/$defs/name"}, TEXTS),
}
SCHEMA = {
    "type": "object",
    "properties": {name: schema for name, (schema, _) in BY_TYPE.items()},
    "$defs": {"name": {"type": "string"}},
    "additionalProperties": False,
}
NAMES = ("add", "get_weather", "a.b-c")
CALLS = st.lists(
    st.builds(
        ParsedCall,
        st.sampled_from(NAMES),
        st.fixed_dictionaries({}, optional={name: values for name, (_, values) in BY_TYPE.items()}),
    ),
    max_size=3,
)
ALONE = ("json", "pythonic", "solar")  # nothing stands beside their calls
SAID = st.text("abc \n.,é", max_size=12).map(str.strip)


def plain(calls):
    return [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=25)
@given(text=SAID, calls=CALLS)
def test_what_is_written_is_read(format, text, calls):
    schemas = dict.fromkeys(NAMES, SCHEMA)
    if format in ALONE and calls:
        text = ""
    found = read_reply(format, write_reply(format, text, calls), schemas)
    assert plain(found.calls) == plain(calls)
    assert found.text == text


@pytest.mark.parametrize("format", [name for name in FORMATS if "xml" not in name])
@settings(max_examples=5)
@given(arguments=st.dictionaries(st.sampled_from("abc"), VALUES))
def test_json_data_of_any_kind(format, arguments):
    text = write_reply(format, "", [ParsedCall("f", arguments)])
    schema = {"properties": {key: _type_schema(value) for key, value in arguments.items()}}
    assert plain(read_reply(format, text, {"f": schema}).calls) == [("f", arguments)]


@pytest.mark.parametrize("format", [name for name in FORMATS if "xml" not in name])
@pytest.mark.parametrize("value", [[[None, None]], [[[1], []], [2]], [{"b": ["5", "6"]}], {"b": [["5"], None]}])
def test_lists_in_lists(format, value):
    schema = {"properties": {"a": _optional(value)}}
    text = write_reply(format, "", [ParsedCall("f", {"a": value})])
    assert plain(read_reply(format, text, {"f": schema}).calls) == [("f", {"a": value})]


def _optional(value):
    """A schema of a value, in which each list and object may also be null: a string "5" is no number for all that."""
    if isinstance(value, dict):
        whole = {"type": "object", "properties": {key: _optional(one) for key, one in value.items()}}
    elif isinstance(value, list):
        whole = {"type": "array", "items": next(map(_optional, value), {})}
    else:
        return {"type": "string" if isinstance(value, str) else ["number", "null"]}
    return {"anyOf": [whole, {"type": "null"}]}


def _type_schema(value):
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: _type_schema(one) for key, one in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": {"anyOf": [_type_schema(one) for one in value]}}
    kinds = {str: "string", bool: "boolean", type(None): "null"}
    return {"type": kinds.get(type(value), "number")}


@pytest.mark.parametrize("format", FORMATS)
def test_a_text_that_goes_on(format):
    """At each position of a text, what is read grows into what is read at the end."""
    calls = [ParsedCall("add", {"i": 7, "s": "one two"}), ParsedCall("add", {"s": "x", "l": [1, 2]})]
    said = "" if format in ALONE else "Well."
    text = write_reply(format, said, calls)
    schemas = {"add": SCHEMA}
    counts = []
    for end in range(len(text) + 1):
        found = read_reply(format, text[:end], schemas, partial=True)
        assert said.startswith(found.text.strip())
        assert [call.name for call in found.calls if call.is_complete] == ["add"] * sum(
            call.is_complete for call in found.calls
        )
        for call, whole in zip(found.calls, calls):
            assert call.arguments.keys() <= whole.arguments.keys()
        counts.append(len(found.calls))
    assert counts == sorted(counts)
    assert plain(read_reply(format, text, schemas, partial=True).calls) == plain(calls)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=10, deadline=None)
@given(calls=CALLS.filter(len))
def test_a_streamed_call_only_grows(format, calls):
    """The name of a call that goes on is whole, and the text of its arguments begins the text at the end."""
    calls = [replace(call, name=name) for call, name in zip(calls, ("add", "add_all", "add"))]
    schemas = {"add": SCHEMA, "add_all": SCHEMA}
    text = write_reply(format, "", calls)
    toolbox = Toolbox([{"name": name, "parameters": SCHEMA} for name in schemas], SchemaOptions())
    whole = [toolbox.call(call, "1").source for call in read_reply(format, text, schemas).calls]
    written = [""] * len(calls)
    for end in range(len(text) + 1):
        for index, call in enumerate(read_reply(format, text[:end], schemas, partial=True).calls):
            assert call.name == calls[index].name
            source = toolbox.call(call, "1").source
            assert source.startswith(written[index]) and whole[index].startswith(source)
            written[index] = source
    assert written == whole


TOOLS = [
    {"name": "add", "parameters": SCHEMA},
    {"name": "get_weather", "parameters": {**SCHEMA, "required": ["s", "i"]}},
]


@pytest.mark.parametrize("format", sorted({*TOOL_FORMATS} & {*FORMATS}))
def test_the_grammar_takes_what_is_written(format):
    calls = [ParsedCall("add", {"i": 7, "s": "one two"}), ParsedCall("get_weather", {"s": "x", "i": 2})]
    for choice, some in (("auto", calls), ("required", calls), ("get_weather", calls[1:]), ("auto", []), ("none", [])):
        text = write_reply(format, "" if (some and choice != "auto") or (some and format in ALONE) else "Well. ", some)
        if choice not in ("auto", "none"):
            text = (FAMILIES[format].lead if format in FAMILIES else "") + text
        grammar = structgen.Grammar.tool_calls(TOOLS, format, tool_choice=choice, reasoning="outside")
        found = structgen.check(grammar, text, property_order="any")
        assert found.fits, (choice, text, found)


SMALL = {
    "type": "object",
    "properties": {"s": {"type": "string", "maxLength": 3}, "i": {"type": "integer", "minimum": 0, "maximum": 99}},
    "additionalProperties": False,
}
SMALL_TOOLS = [
    {"name": "add", "parameters": SMALL},
    {"name": "get_weather", "parameters": {**SMALL, "required": ["s"]}},
]


# Kimi K3 has free text before the calls, whose end mark a random walk does not find.
@pytest.mark.parametrize("format", sorted({*TOOL_FORMATS} & {*FORMATS} - {"kimi_k3"}))
def test_what_the_grammar_makes_is_read(format):
    vocabulary = byte_vocabulary()
    sampler = Sampler(vocabulary, longest=600, late=40)
    tools = Toolbox(SMALL_TOOLS, SchemaOptions())
    read = 0
    for choice in ("auto", "required", "get_weather"):
        grammar = structgen.Grammar.tool_calls(SMALL_TOOLS, format, tool_choice=choice, reasoning="outside")
        compiled = structgen.compile(grammar, vocabulary, whitespace="single", numbers="plain")
        for seed in range(3):
            walk = sampler.walk(compiled.grammar, random.Random(seed))
            if not walk.finished:
                continue
            found = read_reply(format, walk.text.decode(), tools.schemas)
            for index, call in enumerate(found.calls):
                tools.call(call, str(index))  # its arguments are valid
            read += len(found.calls)
            assert found.calls or choice == "auto"
    assert read


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "text",
    [
        "See [1], and [2].",
        "```json\n[\n 1\n]```",
        'It is {"city": "Lyon"}.',
        'It is {"name": "Bob", "arguments": 5}.',
        '{"name":"Bob","arguments":5}',
        '{"tool_name": "Bob", "parameters": 1}',
        '{"tool_call_id": "1", "tool_name": "Bob", "parameters": 1}',
        'Is it {"name": "x"} or functools[{"name": "x", "arguments": 1}]?',
        "Write [ add(x) ] or [add(x)].",
        'Write <invoke name="x"> first, and <cofl:tool_call id="1" name="x"> then.',
        "<｜tool▁call▁begin｜>x<｜tool▁sep｜>",
        "The marks <|start|>, <|call|> and <|tool_call:begin|>x<|tool_call:name|>x<|tool_call:args|>.",
    ],
)
def test_free_text_is_no_call(format, text):
    """Free text of the grammar is text for the reader, also while it is written, if it is like a call."""
    grammar = structgen.Grammar.tool_calls(TOOLS, format, reasoning="outside")
    written = write_reply(format, text, [])
    if structgen.check(grammar, written).fits:
        schemas = dict.fromkeys(("add", "get_weather"), SCHEMA)
        assert read_reply(format, written, schemas) == ParsedReply(text, [])
        texts = [read_reply(format, written[:end], schemas, partial=True).text for end in range(len(written) + 1)]
        assert all(text.startswith(one) for one in texts)
        assert not text.startswith("See") or texts[-1] == text


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "mark",
    [
        *("<|call|>", "<|end|>", "<|start|>", "<|return|>", "<|message|>", "<|eom|>", "<|eot|>", "<|content|>x<|end|>"),
        "<|tool_call:begin|>x<|tool_call:name|>add<|tool_call:args|>{}<|tool_call:end|>",
        *(">>>add\n{}", "</tool_call>", "}]</tool_calls>", "add(i=1)]", "<|close|>call<|sep|>", "</atem:invoke>"),
    ],
)
def test_a_string_may_hold_a_mark(format, mark):
    """What the grammar takes for a string is no mark for the reader."""
    calls = [ParsedCall("add", {"i": 1, "s": mark}), ParsedCall("add", {"s": "x"})]
    written = (FAMILIES[format].lead if format in FAMILIES else "") + write_reply(format, "", calls)
    grammar = structgen.Grammar.tool_calls(TOOLS[:1], format, tool_choice="required", reasoning="outside")
    if structgen.check(grammar, written, property_order="any").fits:
        found = read_reply(format, written, {"add": SCHEMA})
        assert plain(found.calls) == plain(calls) and not found.text
        for end in range(len(written)):
            assert len(read_reply(format, written[:end], {"add": SCHEMA}, partial=True).calls) <= 2


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["2fa", "été", "a.b:c/d-e"])
def test_every_name_of_a_tool_is_read(format, name):
    tools = [{"name": name, "parameters": {"type": "object", "properties": {}}}]
    text = (FAMILIES[format].lead if format in FAMILIES else "") + write_reply(format, "", [ParsedCall(name, {})])
    grammar = structgen.Grammar.tool_calls(tools, format, tool_choice=name, reasoning="outside")
    assert structgen.check(grammar, text).fits
    assert plain(read_reply(format, text, {name: {}}).calls) == [(name, {})]


def test_white_space_of_the_marks_may_differ():
    text = '<tool_call>{"name":"f","arguments": {"a": 1}}</tool_call>\n\n'
    text += '<tool_call>\n {"name": "g", "arguments": {} }</tool_call>'
    assert plain(read_reply("hermes", text).calls) == [("f", {"a": 1}), ("g", {})]


def test_white_space_beside_the_elements_of_minimax_m3():
    """It may stand wherever the grammar allows it: before the first element, and after each."""
    mark = "]<]minimax[>["
    schema = {
        "properties": {
            "o": {"type": "object", "properties": {"t": {"type": "string"}}},
            "l": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        }
    }
    text = "@<tool_call>\n@<invoke name='f'>~@<o>~@<t> x @</t>~@</o>~@<l>~@<item>~@<item>1@</item>~@</item>~@</l>~"
    text = f"{text}@</invoke>\n@</tool_call>".replace("@", mark).replace("'", '"')
    grammar = structgen.Grammar.tool_calls(
        [{"name": "f", "parameters": schema}], "minimax_m3", tool_choice="f", reasoning="outside"
    )
    for gap in ("", " ", "\n", "\n  "):
        spaced = text.replace("~", gap)
        assert structgen.check(grammar, spaced).fits
        assert plain(read_reply("minimax_m3", spaced, {"f": schema}).calls) == [("f", {"o": {"t": " x "}, "l": [[1]]})]


def test_white_space_beside_the_elements_of_kimi_k3():
    text = '<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>~<|open|>'
    text += 'argument key="a" type="number"<|sep|>~6~<|close|>argument<|sep|>~<|close|>call<|sep|><|close|>tools<|sep|>'
    text += "<|close|>message<|sep|>"
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
    grammar = structgen.Grammar.tool_calls(tools, "kimi_k3", tool_choice="f", reasoning="outside")
    for gap in ("", " ", "\n  "):
        spaced = text.replace("~", gap)
        assert structgen.check(grammar, spaced).fits
        assert plain(read_reply("kimi_k3", spaced).calls) == [("f", {"a": 6})]


def test_ids_that_the_model_writes():
    text = '[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "abcdefghi"}]'
    assert read_reply("mistral", text).calls[0].id == "abcdefghi"
    text = "[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{}[TOOL_CALLS]g[ARGS]{}"
    assert plain(read_reply("mistral_v11", text).calls) == [("f", {}), ("g", {})]
    text = "<|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>{}<|tool_call_end|>"
    assert read_reply("kimi", text).calls[0].id == "functions.f:3"


def test_calls_as_the_template_of_gigachat_3_5_writes_them():
    text = (
        '<｜GCML｜tool_calls>\n<｜GCML｜invoke name="add">\n'
        '<｜GCML｜parameter name="i" string="false">1</｜GCML｜parameter>\n'
        '<｜GCML｜parameter name="s" string="true">7</｜GCML｜parameter>\n</｜GCML｜invoke>\n'
        '<｜GCML｜invoke name="get_weather">\n<｜GCML｜parameter name="s" string="true">x</｜GCML｜parameter>\n'
        '<｜GCML｜parameter name="i" string="false">2</｜GCML｜parameter>\n</｜GCML｜invoke>\n</｜GCML｜tool_calls>'
    )
    grammar = structgen.Grammar.tool_calls(TOOLS, "gigachat_3_5", tool_choice="required", reasoning="outside")
    assert structgen.check(grammar, text, property_order="any").fits
    calls = [("add", {"i": 1, "s": "7"}), ("get_weather", {"s": "x", "i": 2})]
    assert plain(read_reply("gigachat_3_5", f"Well.\n\n{text}").calls) == calls


def test_raw_text_is_typed_by_its_schema():
    schema = {
        "properties": {
            "a": {"type": ["string", "integer"]},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "c": {"allOf": [{"$ref": "#/definitions/t"}]},
        },
        "definitions": {"t": {"type": "string"}},
    }
    text = "<tool_call>\n<function=f>\n{}\n</function>\n</tool_call>"

    def read(key, raw):
        element = f"<parameter={key}>\n{raw}\n</parameter>"
        return read_reply("qwen_3_coder", text.format(element), {"f": schema}).calls[0].arguments[key]

    assert [read("a", "5"), read("a", "five"), read("a", "true")] == [5, "five", "true"]
    assert [read("b", "null"), read("b", "7")] == [None, "7"]
    assert [read("c", "7"), read("c", "\n7\n")] == ["7", "\n7\n"]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": '),
        ("hermes", '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>'),
        ("qwen_3_coder", "<tool_call>\n<function=f>\n<parameter=a>1"),
        ("gemma_4", "<|tool_call>call:f{a:1"),
        ("pythonic", "[f(a=1"),
        ("harmony", ' to=functions.f<|channel|>commentary json<|message|>{"a"'),
        ("kimi_k3", '<|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="nu'),
    ],
)
def test_calls_that_are_not_whole(format, text):
    with pytest.raises(ValueError, match=r"the call of|not an object"):
        read_reply(format, text)
    if "[1]" not in text:
        assert not any(call.is_complete for call in read_reply(format, text, partial=True).calls)


@pytest.mark.parametrize(("format", "value"), [("seed", "\nx\n"), ("qwen_3_coder", "x")])
def test_line_breaks_at_the_ends_of_a_string(format, value):
    """In Seed's format they are part of the string. Qwen's template writes one at each end."""
    begin, end = ("<seed:tool_call>", "</seed:tool_call>") if format == "seed" else ("<tool_call>", "</tool_call>")
    text = f"{begin}\n<function=add>\n<parameter=a>\nx\n</parameter>\n</function>\n{end}"
    parameters = {"properties": {"a": {"enum": [value]}}, "required": ["a"], "additionalProperties": False}
    tools = [{"name": "add", "parameters": {"type": "object", **parameters}}]
    assert structgen.check(structgen.Grammar.tool_calls(tools, format, tool_choice="add"), text).fits
    assert read_reply(format, text, {"add": parameters}).calls == [ParsedCall("add", {"a": value})]


def test_calls_of_qwen_3_coder_without_their_first_mark():
    """The model leaves `<tool_call>` out at times. A known tool and the end marks tell such a call from text."""
    call = "<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    schemas = {"add": {"properties": {"a": {"type": "integer"}}}}
    read = read_reply("qwen_3_coder", f"Now.\n{call}\n<tool_call>\n{call}", schemas)
    assert (read.text, read.calls) == ("Now.", [ParsedCall("add", {"a": 1})] * 2)
    for text in (call.replace("add", "mul"), call[:30], "It is <function=add> in full."):
        assert read_reply("qwen_3_coder", text, schemas) == ParsedReply(text, [])
    for size in range(len(call)):
        begun = read_reply("qwen_3_coder", f"Now.{call[:size]}", schemas, partial=True)
        assert begun.text == "Now."
        assert [part.is_complete for part in begun.calls] in ([], [False])


def test_unknown_formats():
    with pytest.raises(ValueError, match="did you mean 'qwen_3"):
        read_reply("qwen_33", "")
    with pytest.raises(ValueError, match="known are apertus"):
        write_reply("nothing", "", [])


# The calls as mistral-common 1.13.1 encodes them, by version of the tokenizer; those of version 7 are as of version 3.
MISTRAL = {
    "v3, SentencePiece": (
        "mistral",
        '[TOOL_CALLS] [{"name": "add", "arguments": {"i": 1, "s": "one\\ntwo"}, "id": "call00000"}, '
        '{"name": "get_weather", "arguments": {"s": "é \\"x\\"", "i": 2}, "id": "call00001"}]',
    ),
    "v3, Tekken": (
        "mistral",
        '[TOOL_CALLS][{"name": "add", "arguments": {"i": 1, "s": "one\\ntwo"}, "id": "call00000"}, '
        '{"name": "get_weather", "arguments": {"s": "é \\"x\\"", "i": 2}, "id": "call00001"}]',
    ),
    "v11": (
        "mistral_v11",
        '[TOOL_CALLS]add[CALL_ID]call00000[ARGS]{"i": 1, "s": "one\\ntwo"}'
        '[TOOL_CALLS]get_weather[CALL_ID]call00001[ARGS]{"s": "é \\"x\\"", "i": 2}',
    ),
    "v13": (
        "mistral_v11",
        '[TOOL_CALLS]add[ARGS]{"i": 1, "s": "one\\ntwo"}[TOOL_CALLS]get_weather[ARGS]{"s": "é \\"x\\"", "i": 2}',
    ),
}


@pytest.mark.parametrize("version", MISTRAL)
def test_calls_as_mistral_common_writes_them(version):
    format, text = MISTRAL[version]
    calls = [("add", {"i": 1, "s": "one\ntwo"}), ("get_weather", {"s": 'é "x"', "i": 2})]
    for choice in ("auto", "required"):
        grammar = structgen.Grammar.tool_calls(TOOLS, format, tool_choice=choice, reasoning="outside")
        assert structgen.check(grammar, text, property_order="any").fits
    found = read_reply(format, f"Well. {text}")
    assert plain(found.calls) == calls and found.text == "Well."
    assert [call.id for call in found.calls] == (["", ""] if version == "v13" else ["call00000", "call00001"])


TEXT_OR_NUMBER = {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "integer", "maximum": 5}]}


@pytest.mark.parametrize(
    ("schema", "raw", "value"),
    [
        ({"properties": {"a": TEXT_OR_NUMBER}}, "4", 4),
        ({"properties": {"a": TEXT_OR_NUMBER}}, "4.0", 4.0),
        ({"properties": {"a": TEXT_OR_NUMBER}}, "7", "7"),
        ({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}, "7", "7"),
        ({"allOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["a"]}]}, "7", "7"),
        ({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": ["string", "integer"]}}}, "7", 7),
    ],
)
def test_the_schema_decides_what_a_raw_text_is(schema, raw, value):
    schema = {"type": "object", **schema}
    text = f"<tool_call>\n<function=f>\n<parameter=a>\n{raw}\n</parameter>\n</function>\n</tool_call>"
    tools = [{"name": "f", "parameters": schema}]
    grammar = structgen.Grammar.tool_calls(tools, "qwen_3_coder", tool_choice="f", reasoning="outside")
    assert structgen.check(grammar, text).fits
    found = read_reply("qwen_3_coder", text, {"f": schema}).calls[0].arguments["a"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "element", "value"),
    [
        ({"type": "object"}, "@<a>@</a>", {}),
        ({"type": "array"}, "@<a>@</a>", []),
        ({"allOf": [{"properties": {"b": {"type": "object"}}}, {"type": "object"}]}, "@<a>@<b>@</b>@</a>", {"b": {}}),
    ],
)
def test_empty_elements_of_minimax_m3(schema, element, value):
    parameters = {"type": "object", "properties": {"a": schema}}
    text = f'@<tool_call>\n@<invoke name="f">{element}@</invoke>\n@</tool_call>'.replace("@", "]<]minimax[>[")
    tools = [{"name": "f", "parameters": parameters}]
    grammar = structgen.Grammar.tool_calls(tools, "minimax_m3", tool_choice="f", reasoning="outside")
    assert structgen.check(grammar, text).fits
    assert read_reply("minimax_m3", text, {"f": parameters}).calls[0].arguments == {"a": value}


@pytest.mark.parametrize(
    "text", ['{"tool_calls": ["x', '{"text": 5, "tool_calls": 3', '{"tool_calls": [{"name": 3}', "[1"]
)
def test_an_answer_of_a_server_that_does_not_fit(text):
    """It is refused at its end; a stream may have it before."""
    assert read_object(text, partial=True) == ParsedReply("", [])


def test_the_schema_of_a_servers_reply():
    tools = Toolbox([{"name": "files/read", "parameters": {"properties": {"s": {"type": "string"}}}}], SchemaOptions())
    schema = reply_schema(tools, "auto", parallel=True)
    reply = '{"text": "", "tool_calls": [{"name": "files/read", "arguments": @}]}'
    assert structgen.check(schema, reply.replace("@", '{"s": "x"}')).fits
    assert not structgen.check(schema, reply.replace("@", "5")).fits


def _tagged(kind, value):
    properties = {"kind": {"const": kind}, "a": {"type": value}}
    return {"type": "object", "properties": properties, "required": ["kind", "a"], "additionalProperties": False}


TAGGED = {"anyOf": [_tagged("cat", "string"), _tagged("dog", "integer")]}
PAIR = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"type": "object", **TAGGED}, {"kind": "cat", "a": "5"}),
        ({"type": "object", **TAGGED}, {"kind": "dog", "a": 5}),
        ({"type": "object", "properties": {"t": TAGGED, "u": TAGGED}}, {"t": {"kind": "cat", "a": "5"}}),
        ({"type": "object", "properties": {"t": TAGGED}}, {"t": {"kind": "dog", "a": 5}}),
        ({"type": "object", "properties": {"t": PAIR}}, {"t": ["5", 6]}),
        ({"type": "object", "properties": {"t": PAIR}}, {"t": ["five", 6]}),
        ({"type": "object", "properties": {"t": {"type": "array"}}}, {"t": ["<b>"]}),
        ({"type": "object", "properties": {"t": {**PAIR, "items": {"type": "string"}}}}, {"t": ["5", 6, "7"]}),
    ],
)
def test_the_whole_schema_decides_what_a_raw_text_is(format, schema, arguments):
    text = (FAMILIES[format].lead if format in FAMILIES else "") + write_reply(format, "", [ParsedCall("f", arguments)])
    tools = [{"name": "f", "parameters": schema}]
    grammar = structgen.Grammar.tool_calls(tools, format, tool_choice="f", reasoning="outside")
    assert structgen.check(grammar, text, property_order="any").fits
    assert plain(read_reply(format, text, {"f": schema}).calls) == [("f", arguments)]
    for end in range(len(text)):
        for call in read_reply(format, text[:end], {"f": schema}, partial=True).calls:
            assert call.arguments.items() <= arguments.items() or "xml" not in format


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {"a": {"const": {"$ref": "#/x"}}}, "required": ["a"]}, {"a": {"$ref": "#/x"}}),
        (
            {"$id": "http://x/y", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "null"}}},
            {"a": None},
        ),
        (
            {"properties": {"a": {"$id": "http://x/b", "$ref": "#/$defs/c", "$defs": {"c": {"type": "null"}}}}},
            {"a": None},
        ),
    ],
)
def test_references_in_the_schema_of_a_servers_reply(schema, arguments):
    reply = reply_schema(Toolbox([{"name": "f", "parameters": schema}], SchemaOptions()), "auto", parallel=True)
    for one, fits in ((arguments, True), ({"a": "no"}, False)):
        text = json.dumps({"text": "", "tool_calls": [{"name": "f", "arguments": one}]})
        assert structgen.check(reply, text).fits is fits
