"""Tests of scalars in YAML: the styles that strings may have, compared with two readers of their texts."""

import json
from fractions import Fraction

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from structgen.schema.algebra import Inexpressible, Language, NumberSet, Shape, StringSet
from structgen.schema.yaml_text.characters import PLAIN, PLAIN_KEY, is_plain, is_plain_key
from structgen.schema.yaml_text.keys import MAX_KEY_CHARACTERS, completions, key_of, key_regex, key_text
from structgen.schema.yaml_text.reader import yaml_to_json
from structgen.schema.yaml_text.scalars import (
    Ending,
    block_regex,
    has_block_style,
    quoted_canonical,
    quoted_regex,
    scalar_regexes,
)
from structgen.schema.yaml_text.writer import json_to_yaml

SIGNS = " \t\n:#-?.,[]{}&*!|>'\"%@`~=+_aye0o17xEn\x7f\x85\u2028\ufeffé😀"
texts = st.text(st.sampled_from(SIGNS), max_size=8) | st.text(max_size=6).filter(lambda text: text.isprintable())


def matches(regex, text):
    return Language("", regex).matches(text)


# Each line is read as another type by YAML 1.1, by the core schema of 1.2, or as syntax.
TRAPS = [
    "no",
    "yes",
    "on",
    "off",
    "y",
    "n",
    "No",
    "TRUE",
    "null",
    "~",
    "Null",
    "1",
    "-1",
    "+1",
    "007",
    "0o17",
    "0x1F",
    "0b1",
    "1_000",
    "1.5",
    ".5",
    "1.",
    "1e3",
    "1.0e+3",
    ".inf",
    "-.Inf",
    ".nan",
    "12:30",
    "1:30:00",
    "190:20:30.15",
    "2024-05-01",
    "2024-5-1T1:02:03Z",
    "=",
    "<<",
    "-",
    "--",
    "---",
    "...",
    "?",
    ":",
    "-",
    ":a",
    "a:",
    "#a",
    "a#b:",
    "&",
    "&a",
    "*",
    "*a",
    "!",
    "!a",
    "|",
    ">",
    "%",
    "@",
    "`",
    "{",
    "}",
    "[",
    "]",
    ",",
]


@pytest.mark.parametrize(
    "text", [*TRAPS, "", " ", " a", "a ", "a: b", "a #b", "- a", "? a", "a\nb", "a\tb", "\x85", "\u2028a"]
)
def test_traps_are_quoted(text):
    assert not is_plain(text)
    assert not matches(PLAIN, text)
    assert read(quoted_canonical(text).decode()) == text


@pytest.mark.parametrize(
    "text",
    [
        "Ada",
        "a b",
        "a  b",
        "12 Mill Road",
        "a:b",
        "a#b",
        "no way",
        "C++",
        "a - b",
        "50%",
        "é",
        "1 000",
        "it's",
        'say "hi"',
        "a, [b] {c}",
    ],
)
def test_plain_texts(text):
    assert is_plain(text)
    assert matches(PLAIN, text)
    assert read(text) == text


def read(text):
    """The value of a scalar after a key, in which both versions of YAML agree."""
    value = json.loads(yaml_to_json(f"k: {text}\nl: 1"))["k"]
    assert yaml.safe_load(f"k: {text}\nl: 1")["k"] == value
    assert yaml.safe_load(f"- - {text}\n  - 1")[0][0] == value
    return value


@given(texts)
def test_plain_is_what_both_versions_read_back(text):
    assert is_plain(text) == matches(PLAIN, text)
    assert is_plain_key(text) == matches(PLAIN_KEY, text)
    if is_plain(text):
        assert read(text) == text
    if is_plain_key(text):
        assert yaml.safe_load(f"{text}: 1") == {text: 1} == json.loads(yaml_to_json(f"{text}: 1"))


@given(texts)
def test_every_string_can_be_quoted(text):
    written = quoted_canonical(text)
    assert matches(quoted_regex(StringSet()), written.decode())
    assert matches(quoted_regex(StringSet(low=len(text), high=len(text))), written.decode())
    assert read(written.decode()) == text


@pytest.mark.parametrize(
    "text", [r'"\ud83d\ude00"', r'"\/"', '"\x7f"', '"\x85"', '"a\tb"', '"a\nb"', r'"\x41"', '"', '"a']
)
def test_quoted_texts_that_readers_differ_about_are_no_texts(text):
    assert not matches(quoted_regex(StringSet()), text)


def test_an_unprintable_character_of_a_pattern_is_escaped():
    (strings,) = (StringSet(within=(Language("ecma x", parsed("^\x7f$")),)),)
    assert matches(quoted_regex(strings), r'"\u007f"')
    assert not matches(quoted_regex(strings), '"\x7f"')


def parsed(pattern):
    from structgen.engine.regex_syntax.parser import parse_regex

    return parse_regex(pattern, "ecma")


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("1", True),
        ("-0", True),
        ("1.50", True),
        ("1.0e+3", True),
        ("1e3", False),
        ("1.0e3", False),
        (".5", False),
        ("+1", False),
    ],
)
def test_numbers_are_those_that_both_versions_read(text, fits):
    (regex,) = scalar_regexes(Shape(numbers=(NumberSet(),)))
    assert matches(regex, text) == fits
    if fits:
        assert read(text) == json.loads(text)


@pytest.mark.parametrize("value", [10**300, 3, 0, -(10**21), Fraction(1, 10**300), Fraction(3, 2)])
def test_every_known_number_has_a_text(value):
    """Of the forms that JSON has, one at least has a point before an exponent, and a sign in it."""
    (regex,) = scalar_regexes(Shape(numbers=(NumberSet(values=(value,)),)))
    number = json_number(value)
    assert any(matches(regex, text) for text in (number, json_to_yaml(number)))


def json_number(value):
    return str(value) if isinstance(value, int) else repr(float(value))


def test_a_lone_surrogate_is_refused():
    with pytest.raises(Inexpressible):
        scalar_regexes(Shape(strings=(StringSet(texts=("\ud800",)),)))


# --- blocks ----------------------------------------------------------------------------------------------------------

BLOCK_TEXTS = [
    "a\nb",
    "a",
    "a\n",
    "a\n\n",
    "a\n\n\n",
    "a\n\nb",
    "a\n  b\n c",
    "a b \nc",
    "a\tb\n\tc",
    "- a\n- b\n",
    "# a\nb: c",
    "a\n   \nb",
]
INDENTED_TEXTS = [" a\nb", "\na", "\n\n a\n", "  a", "\tb", " \na"]


def block(text, margin, header="|"):
    ends = len(text) - len(text.rstrip("\n"))
    lead = " " * margin
    lines = text[: len(text) - min(ends, 1)].split("\n")
    return "\n".join([header + ("-", "", "+")[min(ends, 2)], *(lead + line if line else "" for line in lines)]) + "\n"


def read_block(written):
    """The value of a block after a key, in which both versions of YAML agree."""
    value = json.loads(yaml_to_json(f"k: {written}l: 1"))["k"]
    assert yaml.safe_load(f"k: {written}l: 1") == {"k": value, "l": 1}
    return value


@pytest.mark.parametrize("text", BLOCK_TEXTS)
def test_blocks_are_read_back(text):
    written = block(text, 2)
    assert matches(block_regex(2, None, has_indicator=False, ending=Ending.LINE), written)
    assert read_block(written) == text


@pytest.mark.parametrize("text", INDENTED_TEXTS)
def test_blocks_that_begin_with_a_blank_need_an_indicator(text):
    written = block(text, 2, "|2")
    assert matches(block_regex(2, None, has_indicator=True, ending=Ending.LINE), written)
    assert not matches(block_regex(2, None, has_indicator=False, ending=Ending.LINE), written)
    assert not matches(block_regex(2, None, has_indicator=True, ending=Ending.LINE), block(text, 2))
    assert read_block(written) == text


@pytest.mark.parametrize("text", [*BLOCK_TEXTS, *INDENTED_TEXTS])
def test_blocks_are_counted_as_their_text(text):
    header = "|2" if text[0] in " \t\n" else "|"
    for high in range(1, len(text) + 3):
        regex = block_regex(2, high, has_indicator=True, ending=Ending.LINE)
        assert matches(regex, block(text, 2, header)) == (len(text) <= high)


@pytest.mark.parametrize(
    "lines",
    [
        "|\n a\n",
        "|\n   a\n",
        "|\n",
        "|\n\n",
        "|-\n  a\n\n",
        "|\n  a\n b\n",
        "|\n  a\nb\n",
        "|\n  a\x85\n",
        ">\n  a\n",
        "|\n  \n  a\n",
    ],
)
def test_what_is_no_block(lines):
    assert not matches(block_regex(2, None, has_indicator=True, ending=Ending.LINE), lines)


def test_the_line_break_at_the_end_of_a_text_is_written_where_it_belongs_to_the_value():
    at_end = block_regex(2, None, has_indicator=False, ending=Ending.TEXT)
    assert matches(at_end, "|-\n  a")
    assert not matches(at_end, "|-\n  a\n")
    assert matches(at_end, "|\n  a\n")
    bare = block_regex(2, None, has_indicator=False, ending=Ending.BARE)
    assert matches(bare, "|-\n  a")
    assert not matches(bare, "|\n  a\n")


@pytest.mark.parametrize(
    ("strings", "has"),
    [
        (StringSet(), True),
        (StringSet(low=1, high=9), True),
        (StringSet(low=2), False),
        (StringSet(texts=("a\nb",)), False),
        (StringSet(excluded=("a",)), False),
    ],
)
def test_the_sets_with_blocks(strings, has):
    assert has_block_style(strings) == has


# --- keys ------------------------------------------------------------------------------------------------------------


@given(texts)
def test_a_key_is_read_back(key):
    text = key_text(key).decode()
    assert key_of(text.encode()) == key
    assert yaml.safe_load(f"{text} 1") == {key: 1} == json.loads(yaml_to_json(f"{text} 1"))
    assert matches(key_regex(StringSet(), []), text)
    assert not matches(key_regex(StringSet(), [key]), text)


def test_a_key_is_refused_in_every_spelling():
    others = key_regex(StringSet(), ["ab", "no"])
    for text in ("ab:", '"ab":', r'"a\u0062":', '"no":', r'"\u006eo":'):
        assert matches(key_regex(StringSet(), []), text)
        assert not matches(others, text)
    assert matches(others, "abc:")


def test_the_completions_of_keys():
    def written(begun):
        return sorted({b"".join(forms[0] for forms in rest) for rest in completions(["ab", "no"], begun)})

    assert written(b"") == [b'"ab":', b'"no":', b"ab:"]
    assert written(b"a") == [b"b:"]
    assert written(b'"a') == [b'b":']
    assert written(b'"n\\u006') == [b'F":']
    assert written(b"x") == []


def test_longer_keys_than_yaml_allows_are_refused():
    long = "a" * MAX_KEY_CHARACTERS
    assert matches(key_regex(StringSet(), []), f"{long[1:]}:")
    assert yaml.safe_load(f"{long[1:]}: 1") == {long[1:]: 1}
    assert not matches(key_regex(StringSet(), []), f"{long}a:")
    with pytest.raises(Inexpressible):
        key_text(long + "a")
