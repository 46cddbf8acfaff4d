"""Structural tags: the masks are those of xgrammar, and errors name the location."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from support.structural_tags import differences
from support.texts import constraint_of, lets_through
from support.vocabularies import BYTES
from support.walks import Sampler, byte_vocabulary

import structgen
from structgen import Grammar

ANY = {"type": "any_text"}


def text(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


def tag(content: Any, begin: str = "<a>", end: Any = "</a>") -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def whole(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


TAGS = [tag(text("1"), "<f=a>", "</f>"), tag(ANY, "<f=b>", ["</f>", "</g>"])]
TRIGGERED = {"type": "triggered_tags", "triggers": ["<f="], "tags": TAGS}
SEPARATED = {"type": "tags_with_separator", "tags": TAGS, "separator": ","}
BOOLEAN = {"type": "json_schema", "json_schema": {"type": "boolean"}}
PARAMETERS = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "integer"},
        "l": {"type": "array", "items": {"type": "null"}},
    },
    "required": ["s"],
    "additionalProperties": False,
}
WORDS = ["<a>", "</a>", "<f=", "<f=a>1</f>", "<f=b>", "</f>", "</g>", "true", "ab", "cd"]

FORMATS = {
    "const_string": text("yes"),
    "any_text": ANY,
    "any_text up to an end": tag(ANY),
    "any_text without some texts": tag({**ANY, "excludes": ["x", "ya"]}, end=["</a>", "|"]),
    "any_text of few characters": tag({**ANY, "max_chars": 3}),
    "any_text of few tokens": tag({**ANY, "max_tokens": 3}),
    "any_text of few tokens and characters": tag({**ANY, "max_chars": 4, "max_tokens": 2, "excludes": ["x"]}),
    "any_text of no token": tag({**ANY, "max_tokens": 0}),
    "any_text before a text": {"type": "sequence", "elements": [ANY, text("end")]},
    "any_text in parts of a tag": tag({"type": "or", "elements": [{"type": "sequence", "elements": [ANY, ANY]}, ANY]}),
    "json_schema": tag(BOOLEAN, end=""),
    "json_schema of an object": tag({"type": "json_schema", "json_schema": PARAMETERS}),
    "regex": {"type": "regex", "pattern": r"a+|b\d"},
    "grammar": {"type": "grammar", "grammar": 'root ::= a "!"\na ::= "x" | "y" a'},
    "optional": {"type": "optional", "content": tag(ANY)},
    "plus": {"type": "plus", "content": tag(ANY)},
    "star": {"type": "star", "content": text("ab")},
    "repeat": {"type": "repeat", "min": 1, "max": 3, "content": tag(BOOLEAN)},
    "repeat without a bound": {"type": "repeat", "min": 2, "max": -1, "content": text("1")},
    "a tag in a tag": tag(tag(ANY, "[", "]")),
    "triggered_tags": TRIGGERED,
    "triggered_tags, one at least": {**TRIGGERED, "at_least_one": True},
    "triggered_tags, one at most": {**TRIGGERED, "stop_after_first": True, "excludes": ["q"]},
    "triggered_tags, one": {**TRIGGERED, "at_least_one": True, "stop_after_first": True},
    "triggered_tags in a tag": tag(TRIGGERED, "[", "]"),
    "two triggers": {**TRIGGERED, "triggers": ["<f=a", "<f=b"]},
    "tags_with_separator": SEPARATED,
    "tags_with_separator, one at least": {**SEPARATED, "at_least_one": True},
    "tags_with_separator, one at most": {**SEPARATED, "stop_after_first": True},
    "tags without a separator": {**SEPARATED, "separator": ""},
    "dispatch": {"type": "dispatch", "rules": [["ab", text("1")], ["cd", tag(ANY)]], "excludes": ["z"]},
    "dispatch once": {"type": "dispatch", "rules": [["ab", text("1")]], "loop": False},
}


@pytest.mark.parametrize("name", FORMATS)
def test_masks_are_those_of_xgrammar(name):
    assert not differences(whole(FORMATS[name]), range(8), WORDS)


@pytest.mark.parametrize(
    "style",
    ["qwen_xml", "minimax_xml", "deepseek_xml", "deepseek_v4_1_xml", "glm_xml", "kimi_k3_xml", "cohere_xml"],
)
def test_masks_of_arguments_are_those_of_xgrammar(style):
    from structgen.schema.rules.parameter_styles import STYLES

    marks = STYLES[style]
    keys = [f"{marks.before_key}{name}{marks.after_key}{marks.opening('number')}" for name in "sn"]
    words = [*keys, marks.close, marks.before_key, "s", marks.opening("string"), "[null]", "7"]
    schema = {"type": "json_schema", "json_schema": PARAMETERS, "style": style}
    found = differences(whole(schema), range(25), words)
    # Where free text may hold the first byte of a wide character, their text need not be UTF-8.
    assert {before for before, only_here, _ in found if only_here} == set()
    assert all(before.endswith("\N{REPLACEMENT CHARACTER}") for before, _, _ in found)


def test_the_older_form_is_read():
    structures = [{"begin": "<f=a>", "schema": {"type": "boolean"}, "end": "</f>"}]
    older = {"type": "structural_tag", "structures": structures, "triggers": ["<f="]}
    newer = whole({"type": "triggered_tags", "tags": [tag(BOOLEAN, "<f=a>", "</f>")], "triggers": ["<f="]})
    for written in ("x <f=a>true</f> y", "", "<f", "<f=a>1</f>", "<f=b>"):
        assert lets_through(Grammar.structural_tag(older), written) == lets_through(
            Grammar.structural_tag(newer), written
        )
    assert Grammar.structural_tag(json.dumps(older)) == Grammar.structural_tag(json.dumps(older))
    structures[0]["schema"] = '{"type": "null"}'
    assert lets_through(Grammar.structural_tag(older), "<f=a>null</f>")


def test_schemas_are_exact_and_grammars_compose():
    items = {"type": "json_schema", "json_schema": {"items": {"enum": [1, 2]}, "type": "array", "uniqueItems": True}}
    twice = "[" + Grammar.structural_tag(whole(tag(items))).repeat(2, 2) + "]"
    assert lets_through(twice, "[<a>[1,2]</a><a>[1]</a>]")
    assert not lets_through(twice, "[<a>[1,1]</a><a>[1]</a>]")
    assert not lets_through(twice, "[<a>[1,2]</a>]")


def test_free_text_is_utf_8():
    matcher = constraint_of(Grammar.structural_tag(whole(tag(ANY)))).matcher()
    matcher.accept_bytes("<a>é".encode()[:-1])
    assert all(0x80 <= token < 0xC0 for token in matcher.allowed_token_ids())


@pytest.mark.parametrize("more", [{}, {"max_chars": 3}, {"max_tokens": 9}])
def test_an_end_that_overlaps_itself_ends_the_text_of_its_tag_where_it_first_occurs(more):
    code = Grammar.structural_tag(whole(tag({**ANY, **more, "excludes": ["x"]}, "<a>", "```")))
    assert lets_through(code, "<a>a`b```")
    for written in ("<a>a````", "<a>`````", "<a>```b```", "<a>x```"):
        assert not lets_through(code, written)
    # What follows the text decides, too: here nothing ends early.
    either = Grammar.structural_tag(whole(tag({**ANY, **more}, "<a>", ["```", "END"])))
    before_more = whole(tag({"type": "sequence", "elements": [{**ANY, **more}, text("b")]}, "<a>", "```"))
    assert lets_through(either, "<a>a`END")
    assert lets_through(Grammar.structural_tag(before_more), "<a>a`b```")


def test_a_mark_that_overlaps_itself_ends_text_where_it_first_occurs():
    once = Grammar.structural_tag(whole({"type": "dispatch", "rules": [["aba", text("!")]], "loop": False}))
    assert lets_through(once, "xaba!")
    assert not lets_through(once, "xababa!")


def test_any_order_still_asks_for_each_key_once():
    grammar = Grammar.structural_tag(whole({"type": "json_schema", "json_schema": PARAMETERS, "any_order": True}))
    assert lets_through(grammar, '{"n":1,"s":""}')
    assert not lets_through(grammar, '{"n":1}')
    assert not lets_through(grammar, '{"s":"","s":""}')


def test_strings_without_some_texts():
    schema = {"type": "json_schema", "json_schema": {"type": "string"}, "excludes": ["<|", "no"]}
    grammar = Grammar.structural_tag(whole(schema))
    assert lets_through(grammar, '"yes <"')
    assert not lets_through(grammar, '"nose"')
    enum = {**schema, "json_schema": {"enum": ["no", "yes"]}}
    assert not lets_through(Grammar.structural_tag(whole(enum)), '"no"')
    assert lets_through(Grammar.structural_tag(whole(enum)), '"yes"')


BAD = {"type": "object", "properties": {"x": {"enum": ["BAD"]}}, "required": ["x"]}


@pytest.mark.parametrize(
    ("schema", "written", "excluded"),
    [
        ({"enum": [["BAD"], ["ok"], 4]}, ['["ok"]', "4"], '["BAD"]'),
        ({"type": "array", "items": {"type": "string", "pattern": "^BAD+$"}}, ["[]"], '["BAD"]'),
        ({"anyOf": [BAD, {"type": "null"}]}, ["null"], '{"x":"BAD"}'),
        ({"properties": {"BAD": True}, "additionalProperties": False}, ["{}"], '{"BAD":1}'),
        ({"type": ["number", "object"]}, ["12", '{"a":12}'], '{"BAD":12}'),
    ],
)
def test_values_with_excluded_strings_are_left_out(schema, written, excluded):
    tag = {"type": "json_schema", "json_schema": schema, "excludes": ["BAD", "12", ":", "true"]}
    grammar = Grammar.structural_tag(whole(tag))
    assert all(lets_through(grammar, text) for text in written)
    assert not lets_through(grammar, excluded)
    sampler = Sampler(byte_vocabulary())
    compiled = structgen.compile(grammar, sampler.vocabulary).grammar
    for seed in range(10):
        sampler.walk(compiled, random.Random(seed))  # raises at a dead end


def _differing(strings: dict, count: int) -> list[dict]:
    """Return a schema of so many different items, and one of so many keys."""
    items = {"type": "array", "items": strings, "uniqueItems": True, "minItems": count}
    keys = {"type": "object", "propertyNames": strings, "additionalProperties": {"type": "null"}}
    return [items, {**keys, "minProperties": count}]


@pytest.mark.parametrize(
    ("strings", "excluded", "left"),
    [
        ({"type": "string", "pattern": "^[ab]{7}$"}, "b", 1),  # 128 strings, more than are listed
        ({"type": "string", "pattern": "^a*$"}, "aa", 2),  # infinitely many
        ({"type": "string", "pattern": r"^[ab\n]{1,2}$"}, "n", 6),  # an end of line is written with an n
        ({"type": "string", "pattern": r'^["a]{2}$'}, '"a', 3),
        ({"enum": [f"x{number}" for number in range(100)]}, "7", 81),
    ],
)
def test_strings_without_excluded_texts_are_counted(strings, excluded, left):
    tag = {"type": "json_schema", "excludes": [excluded]}
    sampler = Sampler(byte_vocabulary())
    for schema in _differing(strings, left):
        grammar = Grammar.structural_tag(whole({**tag, "json_schema": schema}))
        compiled = structgen.compile(grammar, sampler.vocabulary).grammar
        for seed in range(5):
            found = json.loads(sampler.walk(compiled, random.Random(seed)).text)
            assert left == len(set(found))
    for schema in _differing(strings, left + 1):
        grammar = Grammar.structural_tag(whole({**tag, "json_schema": schema}))
        with pytest.raises(structgen.UnsatisfiableSchemaError):
            structgen.compile(grammar, sampler.vocabulary)


def test_excluded_signs_of_json_stay_around_strings():
    items = {"type": "array", "items": {"enum": ["a", 'b"']}, "minItems": 1}
    nested = {"type": "object", "properties": {"v": items}, "required": ["v"], "additionalProperties": False}
    for style, excluded in (("json", '"'), ("qwen_xml", '"'), ("python", "b")):
        tag = {"type": "json_schema", "json_schema": nested, "excludes": [excluded, "[", ":"], "style": style}
        compiled = structgen.compile(Grammar.structural_tag(whole(tag)), byte_vocabulary()).grammar
        texts = {Sampler(byte_vocabulary()).walk(compiled, random.Random(seed)).text for seed in range(5)}
        assert all(re.search(rb"""\[\s*["']a["']""", text) and b"b" not in text for text in texts)


@pytest.mark.parametrize("style", ["gemma", "python", "qwen_xml", "json"])
def test_keys_without_excluded_texts_are_counted(style):
    keys = {"patternProperties": {"^[ab]{1,2}$": {"type": "null"}}, "additionalProperties": False}
    for count in (2, 3):  # b and bb
        nested = {"type": "object", "properties": {"v": {"type": "object", **keys, "minProperties": count}}}
        tag = {"type": "json_schema", "json_schema": {**nested, "required": ["v"]}, "excludes": ["a"], "style": style}
        grammar = Grammar.structural_tag(whole(tag))
        if count == 3:
            with pytest.raises(structgen.SchemaError):
                structgen.compile(grammar, byte_vocabulary())
            continue
        sampler = Sampler(byte_vocabulary())
        compiled = structgen.compile(grammar, sampler.vocabulary).grammar
        for seed in range(5):
            sampler.walk(compiled, random.Random(seed))  # raises at a dead end


@pytest.mark.parametrize(("style", "sign"), [("python", "'"), ("python", "="), ("gemma", "|"), ("gemma", "{")])
def test_signs_of_a_notation_cannot_be_excluded(style, sign):
    tag = {"type": "json_schema", "json_schema": PARAMETERS, "excludes": [sign], "style": style}
    with pytest.raises(structgen.UnsupportedSchemaError, match="cannot be excluded: the notation"):
        structgen.compile(Grammar.structural_tag(whole(tag)), byte_vocabulary())


@pytest.mark.parametrize(("format", "value"), [("email", "ab@cd.de"), ("hostname", "ab.de"), ("uri", "a://b")])
def test_marks_are_excluded_from_formats(format, value):
    """Three marks together in an e-mail address passed the time of a mask."""
    schema = {"type": "string", "format": format}
    marks = ["<|open|>", "<|close|>", "<|sep|>"]
    grammar = Grammar.structural_tag(whole({"type": "json_schema", "json_schema": schema, "excludes": marks}))
    assert lets_through(grammar, json.dumps(value))
    assert lets_through(schema, json.dumps('"<|sep|>"@cd.de')) == (format == "email")
    assert not lets_through(grammar, json.dumps('"<|sep|>"@cd.de'))


@pytest.mark.parametrize("style", ["json", "kimi_k3_xml", "qwen_xml", "gemma", "python"])
def test_schemas_of_excluded_strings_only_are_refused(style):
    nested = {"type": "object", "properties": {"v": BAD}, "required": ["v"]}
    tag = {"type": "json_schema", "json_schema": nested, "excludes": ["BAD"], "style": style}
    with pytest.raises(structgen.UnsatisfiableSchemaError, match="excluded: 'BAD'"):
        structgen.compile(Grammar.structural_tag(whole(tag)), byte_vocabulary())


def test_white_space_stays_within_its_bound():
    schema = {"type": "json_schema", "json_schema": PARAMETERS}
    for most, good, bad in ((0, '{"s":""}', '{"s": ""}'), (1, '{"s": ""}', '{"s":  ""}')):
        grammar = Grammar.structural_tag(whole({**schema, "max_whitespace_cnt": most}))
        assert lets_through(grammar, good)
        assert not lets_through(grammar, bad)


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ({"type": "tagg"}, r"the type 'tagg' is unknown \(at #/format/type\)\nHint: did you mean 'tag'"),
        ({}, r"'type' is missing \(at #/format\)"),
        (7, r"made of JSON objects, not of int \(at #/format\)"),
        (text(7), r"it must be a text, not 7 \(at #/format/value\)"),
        (text("\ud800"), r"a lone surrogate cannot be written \(at #/format/value\)"),
        ({**ANY, "excludes": [""]}, r"a text that is not empty \(at #/format/excludes/0\)"),
        ({**ANY, "max_tokens": -1}, r"it must be an integer from 0 to 2147483647, not -1 \(at #/format/max_tokens\)"),
        ({**ANY, "max_tokens": 2**31}, r"from 0 to 2147483647, not 2147483648 \(at #/format/max_tokens\)"),
        ({**ANY, "color": 1}, r"'color' is unknown here \(at #/format\)"),
        (tag(ANY, end=[]), r"a list of at least one text, or a token \(at #/format/end\)"),
        ({"type": "or", "elements": []}, r"at least one item, not \[\] \(at #/format/elements\)"),
        ({"type": "sequence", "elements": [ANY, {"type": "x/y"}]}, r"'x/y' is unknown \(at #/format/elements/1/type\)"),
        ({"type": "repeat", "min": 3, "max": 2, "content": ANY}, r"3 to 2 times is not possible \(at #/format\)"),
        ({**TRIGGERED, "triggers": ["<g="]}, r"begins with none of the triggers \(at #/format/tags/0/begin\)"),
        ({**TRIGGERED, "triggers": ["<f=", "<f"]}, r"begins with several triggers.*\(at #/format/tags/0/begin\)"),
        ({**TRIGGERED, "triggers": ["<f=", "x"]}, r"no tag begins with the trigger 'x' \(at #/format/triggers/1\)"),
        ({"type": "regex", "pattern": "("}, r"the regex at #/format/pattern: line 1"),
        ({"type": "grammar", "grammar": "root ::= a"}, r"the grammar at #/format/grammar: "),
        (
            {"type": "grammar", "grammar": "start: /a/", "syntax": "lark"},
            r"is not read here \(at #/format/syntax\)",
        ),
        ({"type": "json_schema", "json_schema": {}, "style": "xml"}, r"style 'xml' is unknown \(at #/format/style\)"),
        ({"type": "json_schema", "json_schema": "{"}, r"it is not JSON: .* \(at #/format/json_schema\)"),
        ({"type": "dispatch", "rules": [["a"]]}, r"a list of a text and a format \(at #/format/rules/0\)"),
    ],
)
def test_errors_name_the_location(format, message):
    with pytest.raises(structgen.GrammarError, match=message):
        Grammar.structural_tag(whole(format))


def test_errors_of_a_schema_name_its_location_in_the_tag():
    schema = {"type": "json_schema", "json_schema": {"properties": {"a": {"type": "strin"}}}}
    grammar = Grammar.structural_tag(whole(tag(schema)))
    with pytest.raises(structgen.SchemaError, match=r"the schema at #/format/content/json_schema: .* #/properties/a"):
        structgen.compile(grammar, BYTES)


@pytest.mark.parametrize(("to", "written"), [("kbnf", "#ex'</think>'"), ("kbnf-older", "except!('</think>')")])
def test_exports_write_free_text_up_to_its_delimiter(to, written):
    thinking = {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"}
    digit = {"type": "regex", "pattern": "[0-9]"}
    tag = Grammar.structural_tag({"format": {"type": "sequence", "elements": [thinking, digit]}})
    text = structgen.export(tag, to)
    assert written in text
    read_back = Grammar.kbnf(text, eager=False)
    for grammar in (tag, read_back):
        for answer in ("<think></think>1", "<think>a < b</think>1", "<think>é</think>1"):
            assert lets_through(grammar, answer)
        for answer in ("<think></think></think>1", "<think>a</think>x"):
            assert not lets_through(grammar, answer)


def test_text_of_few_tokens():
    grammar = Grammar.structural_tag(whole(tag({**ANY, "max_tokens": 1})))
    vocabulary = structgen.Vocabulary.from_bytes(
        dict(enumerate([b"<a>", b"ab", b"c", b"</a>", b"\xc3", b"\xa9"])), [6], 7
    )
    matcher = structgen.compile(grammar, vocabulary).matcher()
    matcher.accept_token(0)
    assert matcher.allowed_token_ids() == [0, 1, 2, 3, 4]
    matcher.accept_token(1)
    assert matcher.allowed_token_ids() == [3]
    with pytest.raises(structgen.GrammarError, match="the tokens of the text at #/format/content cannot be exported"):
        structgen.export(grammar, "gbnf")


def test_exports_hold_the_schemas():
    written = structgen.export(Grammar.structural_tag(whole(TRIGGERED)), "kbnf")
    assert "triggered ::=" in written
    written = structgen.export(Grammar.structural_tag(whole(tag(BOOLEAN))), "gbnf")
    assert '"true"' in written.replace("\\", "")
    styled = {"type": "json_schema", "json_schema": PARAMETERS, "style": "qwen_xml"}
    assert "<parameter=" in structgen.export(Grammar.structural_tag(whole(styled)), "kbnf")


# --- tokens ----------------------------------------------------------------------------------------------------------

NAMES = {"<s>": 0, "<call>": 3, "</call>": 4, "<think>": 7, "</s>": 9}
VOCABULARY = structgen.Vocabulary.from_bytes(
    {1: b"a", 2: b"b", 5: b"ab", 6: b"<", 8: b"x"}, eos_token_ids=[9], special_tokens=NAMES
)


def token(value: int | str) -> dict[str, Any]:
    return {"type": "token", "token": value}


CALL = tag(text("x"), token("<call>"), token("</call>"))
TRIGGERED_BY_TOKEN = {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [CALL]}


@pytest.mark.parametrize(
    ("format", "walk"),
    [
        (token(3), [({3}, 3), ({9}, 9)]),
        (tag({"type": "any_tokens", "exclude_tokens": ["<s>"]}, token(7), token(4)), [({7}, 7), (range(1, 9), 1)]),
        (tag({"type": "exclude_token"}, "a", token(4)), [({1}, 1), ({0, 1, 2, 3, 5, 6, 7, 8}, 3), ({4}, 4), ({9}, 9)]),
        ({"type": "any_tokens", "max_tokens": 1}, [(range(10), 3), ({9}, 9)]),
        (TRIGGERED_BY_TOKEN, [(range(10), 3), ({8}, 8), ({4}, 4), (range(10), 1), (range(10), 9)]),
        ({**TRIGGERED_BY_TOKEN, "stop_after_first": True}, [(range(10), 3), ({8}, 8), ({4}, 4), ({9}, 9)]),
        ({**TRIGGERED_BY_TOKEN, "at_least_one": True}, [({3}, 3), ({8}, 8), ({4}, 4), (range(10), 9)]),
        (
            tag(TRIGGERED_BY_TOKEN, "b", token(7)),
            [({2}, 2), (range(9), 3), ({8}, 8), ({4}, 4), (range(9), 7), ({9}, 9)],
        ),
        ({"type": "token_dispatch", "rules": [["<call>", text("ab")]]}, [(range(10), 3), ({1, 5}, 5), (range(10), 9)]),
        (tag(ANY, token("<think>"), token(4)), [({7}, 7), ({1, 2, 4, 5, 6, 8}, 4), ({9}, 9)]),
    ],
)
def test_tokens(format, walk):
    matcher = structgen.compile(Grammar.structural_tag(whole(format)), VOCABULARY).matcher()
    for allowed, taken in walk:
        assert set(matcher.allowed_token_ids()) == set(allowed)
        matcher.accept_token(taken)


@pytest.mark.parametrize(
    ("format", "message"),
    [
        (token(-1), r"a token is an id or a name \(at #/format/token\)"),
        (tag(ANY, text("a"), "b"), r"a mark is a text or a token \(at #/format/begin\)"),
        ({**TRIGGERED, "tags": [CALL]}, r"begins with a token \(at #/format/tags/0/begin\)"),
        ({**TRIGGERED_BY_TOKEN, "trigger_tokens": [5]}, r"none of the trigger tokens \(at #/format/tags/0/begin\)"),
        ({**TRIGGERED_BY_TOKEN, "tags": TAGS}, r"none of the trigger tokens \(at #/format/tags/0/begin\)"),
    ],
)
def test_errors_of_tokens_name_the_location(format, message):
    with pytest.raises(structgen.GrammarError, match=message):
        Grammar.structural_tag(whole(format))


def test_depth_is_bounded():
    nested: Any = text("x")
    for _ in range(3000):
        nested = {"type": "optional", "content": nested}
    with pytest.raises(structgen.LimitExceededError, match="schema_depth"):
        Grammar.structural_tag(whole(nested))
    schema: Any = {"type": "integer"}
    for _ in range(20_000):  # Python 3.13 follows 10,000
        schema = {"type": "array", "items": schema}
    for grammar in (
        lambda: Grammar.kbnf("start ::= x;", bind={"x": schema}),
        lambda: Grammar.structural_tag(whole({"type": "json_schema", "json_schema": schema})),
        lambda: Grammar.tool_calls([{"name": "f", "parameters": schema}], "qwen_3_coder"),
    ):
        with pytest.raises(structgen.LimitExceededError, match="schema_depth"):
            structgen.compile(grammar(), BYTES)
