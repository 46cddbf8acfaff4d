"""Arguments of calls as elements: each text is read back as an object of the schema."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.schemas import SCHEMAS, document
from support.texts import constraint_of, is_read, lets_through
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen import Grammar
from structgen.output_types.parameters import Parameters
from structgen.schema.rules.parameter_styles import KINDS, STYLES

FLAT = [name for name, style in STYLES.items() if style.item is None]


def arguments(schema: Any, style: str, excludes: tuple[str, ...] = ()) -> Grammar:
    """The grammar of arguments, between brackets: they may be empty."""
    return Grammar.kbnf("start ::= '[' x ']';", bind={"x": Parameters(schema, style, excludes)}, eager=False)


def values(text: str, opening: str, style: str) -> Iterator[Any]:
    """All values that a reader may take a text for, given what is written before it."""
    kinds = [kind for kind in KINDS if STYLES[style].opening(kind) == opening]
    if text.startswith("<![CDATA["):
        assert STYLES[style].has_sections
        yield text.removeprefix("<![CDATA[").removesuffix("]]>")
        return
    try:
        value = json.loads(text)
    except ValueError:
        value = ""
    if not isinstance(value, str) and set(kinds) - {"string"}:
        yield value
    if "string" in kinds:
        yield re.sub(r"\A\n|\n\Z", "", text) if STYLES[style].trims_line_breaks else text


def objects(text: str, style: str) -> Iterator[dict[str, Any]]:
    """All objects that a reader may take a text of a flat notation for."""
    marks = STYLES[style]
    openings = sorted({re.escape(marks.opening(kind)) for kind in KINDS}, reverse=True)
    gap = "[ \n\r\t]*" if marks.opens_after_gap else ""
    element = re.compile(
        rf"\s*{re.escape(marks.before_key)}(.*?){re.escape(marks.after_key)}"
        rf"{gap}({'|'.join(openings)})(.*?){re.escape(marks.close)}",
        re.DOTALL,
    )
    found: list[list[tuple[str, Any]]] = []
    at = 0
    while (match := element.match(text, at)) is not None:
        key, opening, value = match.groups()
        found.append([(key, one) for one in values(value, opening, style)])
        at = match.end()
    assert not text[at:].strip(" \n\r\t"), text[at:]
    for pairs in itertools.product(*found):
        assert len(dict(pairs)) == len(pairs)
        yield dict(pairs)


@settings(max_examples=80)
@given(st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3), st.booleans(), st.sampled_from(FLAT), st.data())
def test_texts_are_read_back_as_objects_of_the_schema(properties, is_open, style, data):
    required = (
        data.draw(st.lists(st.sampled_from([*properties, *("a" if is_open else "")]), unique=True))
        if (properties or is_open)
        else []
    )
    schema = {**document(), "type": "object", "properties": properties, "required": required}
    schema |= {} if is_open else {"additionalProperties": False}
    try:
        constraint = constraint_of(arguments(schema, style))
    except (structgen.UnsupportedSchemaError, structgen.UnsatisfiableSchemaError):
        return
    validator = jsonschema.Draft202012Validator(schema)
    sampler = Sampler(BYTES, longest=400, late=60)
    for _ in range(2):
        walk = sampler.walk(constraint.grammar, random.Random(data.draw(st.integers(0, 999))))
        if walk.finished:
            assert any(validator.is_valid(one) for one in objects(walk.text[1:-1].decode(), style)), walk.text


CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "days": {"type": ["integer", "null"]},
        "at": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
    "additionalProperties": False,
}
EXAMPLES = {
    "qwen_xml": "<parameter=city>\nLyon\n</parameter>\n<parameter=days>\n3\n</parameter>"
    '<parameter=tags>["a"]</parameter>',
    "seed_xml": '<parameter=city>Lyon</parameter>\n<parameter=days>3</parameter>\n<parameter=tags>["a"]</parameter>',
    "minimax_xml": '<parameter name="city">Lyon</parameter>\n<parameter name="days">null</parameter>\n',
    "atem_xml": '<atem:parameter name="city">Lyon</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n',
    "deepseek_xml": '<｜DSML｜parameter name="city" string="true">Lyon</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>',
    "deepseek_v4_1_xml": '<｜DSML｜ parameter name="city" string="true">Lyon</｜DSML｜ parameter>\n'
    '<｜DSML｜ parameter name="tags" string="false">[]</｜DSML｜ parameter>',
    "gcml_xml": '<｜GCML｜parameter name="city" string="true">Lyon</｜GCML｜parameter>\n'
    '<｜GCML｜parameter name="days" string="false">3</｜GCML｜parameter>\n',
    "glm_xml": "\n<arg_key>city</arg_key>\n<arg_value>Lyon</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>3</arg_value>",
    "hunyuan_xml": "<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Lyon</arg_value:opensource>\n"
    "<arg_key:opensource>days</arg_key:opensource>\n<arg_value:opensource>3</arg_value:opensource>\n",
    "minicpm_xml": '<param name="city"><![CDATA[Lyon]]></param><param name="days">3</param>',
    "kimi_k3_xml": '<|open|>argument key="city" type="string"<|sep|>Lyon<|close|>argument<|sep|>'
    '<|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|>',
    "cohere_xml": '<cofl:value name="city" type="raw">Lyon</cofl:value><cofl:value name="at" type="dict">'
    '<cofl:value name="x" type="json">1</cofl:value></cofl:value><cofl:value name="tags" type="list">'
    '<cofl:value type="raw">a</cofl:value><cofl:value type="raw"></cofl:value></cofl:value>',
    "minimax_m3_xml": "]<]minimax[>[<city>Lyon]<]minimax[>[</city>]<]minimax[>[<at>]<]minimax[>[<x>1.5]<]minimax[>[</x>"
    "]<]minimax[>[</at>]<]minimax[>[<tags>]<]minimax[>[<item>a]<]minimax[>[</item>]<]minimax[>[</tags>",
}


@pytest.mark.parametrize("style", STYLES)
def test_examples_of_each_notation(style):
    constraint = constraint_of(arguments(CITY, style))
    assert lets_through(constraint, f"[{EXAMPLES[style]}]")
    for wrong in (
        EXAMPLES[style].replace("Lyon", "L"),
        EXAMPLES[style].replace("city", "town"),
        EXAMPLES[style].replace("Lyon", f"Ly{STYLES[style].unspelled}on"),
        EXAMPLES[style] + EXAMPLES[style],
        "",
    ):
        assert not lets_through(constraint, f"[{wrong}]")


@pytest.mark.parametrize("style", STYLES)
def test_objects_without_properties_are_no_text(style):
    constraint = constraint_of(arguments({"type": "object", "additionalProperties": False}, style))
    assert lets_through(constraint, "[]")
    assert lets_through(constraint, "[ \n]")
    assert not lets_through(constraint, "[x]")


def test_strings_with_markup_stand_in_sections():
    grammar = constraint_of(arguments({"properties": {"s": {"type": "string"}}}, "minicpm_xml"))
    for text in ("x > y", "<![CDATA[<a> & b\n]]>", "<![CDATA[]]>", ""):
        assert lets_through(grammar, f'[<param name="s">{text}</param>]')
    for text in ("a < b", "a & b", "a\nb", "<![CDATA[]]>]]>", "<![CDATA[a"):
        assert not lets_through(grammar, f'[<param name="s">{text}</param>]')


def test_other_keys_are_names_and_differ():
    grammar = constraint_of(arguments({"properties": {"a": {"type": "null"}}}, "qwen_xml"))
    assert lets_through(grammar, "[<parameter=b_1>x</parameter><parameter=c>{}</parameter>]")
    assert not lets_through(grammar, "[<parameter=b>x</parameter><parameter=b>y</parameter>]")
    assert not lets_through(grammar, "[<parameter=a>x</parameter>]")
    assert not lets_through(grammar, "[<parameter=b-1>x</parameter>]")


def test_keys_come_in_any_order_where_that_is_asked_for():
    grammar = arguments({**CITY, "required": ["city", "days"]}, "minimax_xml")
    swapped = '[<parameter name="days">1</parameter><parameter name="city">Lyon</parameter>]'
    assert not lets_through(grammar, swapped)
    assert lets_through(grammar, swapped, property_order="any")


def test_excluded_texts_are_in_no_string():
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    grammar = constraint_of(arguments(schema, "minimax_xml", ("<|", "no")))
    for value, is_right in (("yes", True), ("no", False), ('["yes"]', True), ('["no"]', False), ('{"no":1}', False)):
        assert is_read(grammar, f'[<parameter name="a">{value}</parameter>]') == is_right


@pytest.mark.parametrize(
    ("schema", "style", "message"),
    [
        ({"type": "string"}, "qwen_xml", "arguments are an object"),
        ({"properties": {"a>b": {}}}, "qwen_xml", "the key .* cannot be written in this notation"),
        (
            {"properties": {"a": {"enum": ["</parameter>"]}}, "required": ["a"]},
            "qwen_xml",
            "this .* cannot be expressed",
        ),
        ({"minProperties": 2, "properties": {"a": {}}}, "qwen_xml", "this minProperties cannot be expressed"),
        ({"properties": {"a": {"items": {"type": "null"}, "uniqueItems": True}}}, "cohere_xml", "this uniqueItems"),
    ],
)
def test_what_cannot_be_written_is_refused(schema, style, message):
    with pytest.raises(structgen.SchemaError, match=message):
        constraint_of(arguments(schema, style))


# --- marks that are special tokens -----------------------------------------------------------------------------------

NAMES = {
    "kimi_k3_xml": ("<|open|>", "<|close|>", "<|sep|>"),
    "hunyuan_xml": tuple(f"<{name}:opensource>" for name in ("arg_key", "/arg_key", "arg_value", "/arg_value")),
    "deepseek_xml": ("｜DSML｜",),
    "minicpm_xml": ("</param>",),
    "cohere_xml": ("<cofl:value", "</cofl:value>"),
    "minimax_m3_xml": ("]<]minimax[>[",),
}
OPEN = {**CITY, "additionalProperties": {"enum": ["", "on", None]}, "maxProperties": 4}


def with_tokens(schema: Any, style: str) -> structgen.Constraint[Any]:
    names = NAMES[style]
    special = {name: 257 + number for number, name in enumerate(names)}
    vocabulary = structgen.Vocabulary.from_bytes(
        {byte: bytes([byte]) for byte in range(256)}, [256], 257 + len(names), special_tokens=special
    )
    bound = {"x": Parameters(schema, style, (), names)}
    return structgen.compile(Grammar.kbnf("start ::= '[' x ']';", bind=bound, eager=False), vocabulary)


def tokens_of(text: str, names: tuple[str, ...]) -> list[int]:
    """The tokens of a text: one for each name, and for each other byte."""
    pieces = re.split("(" + "|".join(map(re.escape, names)) + ")", text)
    return [
        token for piece in pieces for token in ([257 + names.index(piece)] if piece in names else list(piece.encode()))
    ]


def fits(constraint: structgen.Constraint[Any], tokens: list[int]) -> bool:
    matcher = constraint.matcher()
    for token in tokens:
        if token not in matcher.allowed_token_ids():
            return False
        matcher.accept_token(token)
    return 256 in matcher.allowed_token_ids()


@pytest.mark.parametrize("style", NAMES)
def test_special_tokens_stand_for_their_names_in_marks(style):
    """The texts are those of the notation without tokens."""
    names, rng = NAMES[style], random.Random(5)
    schema = OPEN if STYLES[style].names else CITY
    texts, tokens = constraint_of(arguments(schema, style)), with_tokens(schema, style)
    assert fits(tokens, tokens_of(f"[{EXAMPLES[style]}]", names))
    assert not fits(tokens, list(f"[{EXAMPLES[style]}]".encode()))
    assert not fits(tokens, tokens_of(f"[{EXAMPLES[style].replace('Lyon', names[0])}]", names))
    sampler = Sampler(BYTES, longest=300, late=40)
    for seed in range(3):
        walk = sampler.walk(texts.grammar, random.Random(seed))
        assert not walk.finished or fits(tokens, tokens_of(walk.text.decode(), names)), walk.text
    for _ in range(3):
        matcher, written = tokens.matcher(), b""
        while 256 not in (allowed := matcher.allowed_token_ids()) and len(written) < 200:
            likely = [token for token in allowed if token > 256 or token == ord("]")]
            token = rng.choice(likely if likely and rng.random() < 0.3 else allowed)
            matcher.accept_token(token)
            written += bytes([token]) if token < 256 else names[token - 257].encode()
        assert texts.matcher().allows_bytes(written), written


def test_keys_before_a_token_are_not_written_twice():
    schema = {"type": "object", "additionalProperties": {"const": 1}, "propertyNames": {"enum": ["a", "ab"]}}
    for style in ("hunyuan_xml", "kimi_k3_xml"):
        constraint = with_tokens(schema, style)
        style_of = STYLES[style]
        one = f"{style_of.before_key}KEY{style_of.after_key}{style_of.opening('number')}1{style_of.close}"
        for keys, is_right in (("a", True), ("ab", True), (("a", "ab"), True), (("ab", "ab"), False)):
            text = "".join(one.replace("KEY", key) for key in ([keys] if isinstance(keys, str) else keys))
            assert fits(constraint, tokens_of(f"[{text}]", NAMES[style])) == is_right, text


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(
    ("inner", "allowed", "refused"),
    [
        # Only the empty object has a text: keys that are not declared have none.
        ({"type": "object", "properties": {"b": False}}, "@<a>@</a>", "@<a> "),
        # After "b" only a key that is not declared could come, so "b" alone has no text.
        ({"type": "object", "properties": {"b": {"type": "null"}, "c": {"type": "null"}}, "minProperties": 2},
         "@<a>@<b>null@</b>@<c>null@</c>@</a>", "@<a>@<b>null@</b>@</a>"),
        ({"type": "object", "properties": {"b": {"type": "null"}, "c": {"type": "null"}}, "required": ["b", "c"]},
         "@<a>@<b>null@</b>@<c>null@</c>@</a>", "@<a>@<b>null@</b>@</a>"),
    ],
)  # fmt: skip
def test_nested_elements_never_wait_for_keys_that_cannot_be_written(inner, allowed, refused, order):
    schema = {"type": "object", "properties": {"a": inner}, "required": ["a"]}
    grammar = arguments(schema, "minimax_m3_xml")
    compiled = structgen.compile(grammar, BYTES, property_order=order)
    allowed, refused = (text.replace("@", "]<]minimax[>[") for text in (allowed, refused))
    assert is_read(compiled, f"[{allowed}]")
    assert not compiled.matcher().allows_bytes(f"[{refused}".encode())
    sampler = Sampler(BYTES, longest=300, late=20)
    for seed in range(20):
        sampler.walk(compiled.grammar, random.Random(seed))  # raises DeadEnd


@pytest.mark.parametrize(
    "asks",
    [
        {"not": {"propertyNames": {"pattern": "^a"}}},
        {"not": {"patternProperties": {"^..$": {"type": "integer"}}}},
        {"minProperties": 1, "propertyNames": {"pattern": "^b"}},
    ],
)
def test_a_needed_key_that_cannot_be_written_is_an_error(asks):
    """Where only declared keys are written, such objects were dead ends."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, **asks}
    with pytest.raises(structgen.UnsupportedSchemaError):
        constraint_of(arguments(schema, "minimax_m3_xml"))
    assert is_read(constraint_of(arguments(schema, "qwen_xml")), "[<parameter=bc>x</parameter>]")


@pytest.mark.parametrize("style", [*STYLES, "python", "gemma"])
@pytest.mark.parametrize(
    "asks",
    [
        {"properties": {"a": False}, "patternProperties": {"^ x": {}}, "additionalProperties": False},
        {"properties": {"a": {}}, "patternProperties": {"^<.?$": {}}, "propertyNames": {"minLength": 2}},
        {"not": {"patternProperties": {"^[a:] ": False}}, "additionalProperties": True},
        {"properties": {"b": {}}, "dependentRequired": {"b": ["x\n"]}, "additionalProperties": True},
    ],
)
def test_a_needed_key_that_a_notation_cannot_write_is_refused_by_name(asks, style):
    """The key of a pattern may be needed, and a dead end. As JSON within an argument, it is written."""
    schema = {"type": "object", "minProperties": 1, "additionalProperties": False, **asks}
    with pytest.raises(structgen.SchemaError):
        constraint_of(arguments(schema, style))
    if style in FLAT:
        nested = {"properties": {"a": schema}, "required": ["a"]}
        assert constraint_of(arguments(nested, style)).matcher().allowed_token_ids()


@pytest.mark.parametrize("style", FLAT)
def test_json_holds_no_mark_that_ends_its_argument(style):
    """A reader takes the first such mark for the end."""
    marks = STYLES[style]
    schema = {"properties": {"a": {"type": ["array", "object"], "minItems": 1}}, "additionalProperties": False}
    before = marks.before_key + "a" + marks.after_key
    constraint = constraint_of(arguments(schema, style))
    for kind, value, is_right in (
        ("array", '["x<"]', True),
        ("array", f'["{marks.close}"]', False),
        ("array", f'["{marks.close.replace("<", chr(92) + "u003c")}"]', True),
        ("object", f'{{"{marks.close}":1}}', False),
        ("object", f'{{"x":"{marks.close[:-1]}"}}', True),
    ):
        assert lets_through(constraint, f"[{before}{marks.opening(kind)}{value}{marks.close}]") == is_right, value


@pytest.mark.parametrize(
    "inner",
    [
        {"enum": ["x", "</parameter>"]},
        {"type": "string", "pattern": "^(x|</parameter>)$"},
        {"type": "object", "properties": {"</parameter>": {}}},
        {"type": "object", "patternProperties": {"^</parameter>[xy]$": {}}, "additionalProperties": False},
    ],
)
def test_json_that_must_hold_the_mark_is_refused_by_name(inner):
    with pytest.raises(structgen.UnsupportedSchemaError, match="which ends an argument"):
        constraint_of(arguments({"properties": {"a": {"type": "array", "items": inner}}}, "qwen_xml"))


@pytest.mark.parametrize("style", ["qwen_xml", "cohere_xml", "minimax_m3_xml"])
def test_strings_that_all_hold_a_mark_are_refused_by_name(style):
    mark = STYLES[style].unspelled
    has_mark = {"type": "string", "not": {"pattern": f"^((?!{re.escape(mark)})[^])*$"}}
    with pytest.raises(structgen.UnsupportedSchemaError, match="this pattern"):
        constraint_of(arguments({"properties": {"a": has_mark}, "required": ["a"]}, style))


def test_a_key_that_reads_as_an_end_mark_is_refused_by_name():
    schema = {"properties": {"/a": {}}}
    with pytest.raises(structgen.UnsupportedSchemaError, match="the key '/a'"):
        constraint_of(arguments(schema, "minimax_m3_xml"))
    assert is_read(constraint_of(arguments(schema, "qwen_xml")), "[<parameter=/a>x</parameter>]")


def test_what_an_export_cannot_express_is_refused_by_name():
    grammar = arguments({"not": {"patternProperties": {"^x": {"type": "integer"}}}}, "qwen_xml")
    with pytest.raises(structgen.UnsupportedSchemaError, match="this not cannot be expressed exactly in an export"):
        structgen.export(grammar, "kbnf")
