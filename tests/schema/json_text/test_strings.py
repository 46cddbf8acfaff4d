"""Tests of the escaped forms of strings."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import (
    Chars,
    Complement,
    Intersection,
    Literal,
    LiteralSet,
    Repeat,
    choice,
    intersection,
    sequence,
    star,
)
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.schema.algebra import StringSet
from structgen.schema.json_text.strings import (
    JSON_CHAR,
    JSON_STRING,
    any_string,
    byte_set,
    canonical,
    escaped,
    escaped_chars,
    key_outside,
    quoted,
)
from structgen.schema.json_text.terminals import string_regex

TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _spellings(character, rng):
    """Return one of the ways to write a character in a JSON string."""
    ways = []
    if character >= " " and character not in '"\\':
        ways.append(character)
    if character in SHORT:
        ways.append(SHORT[character])
    units = character.encode("utf-16-be")
    hexes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    ways.append("".join("\\u" + rng.choice([h, h.upper()]) for h in hexes))
    return rng.choice(ways)


def _spelled(text, rng):
    return '"' + "".join(_spellings(c, rng) for c in text) + '"'


@given(TEXT, st.integers())
def test_every_spelling_of_every_text_is_a_string(text, seed):
    spelled = _spelled(text, random.Random(seed))
    assert json.loads(spelled) == text
    store = AutomatonStore()
    assert store.matches(store.add(JSON_STRING), spelled.encode())
    assert store.matches(store.add(any_string(len(text), len(text))), spelled.encode())
    assert not store.matches(store.add(any_string(len(text) + 1, None)), spelled.encode())


@pytest.mark.parametrize(
    "text",
    [
        '"',
        '"a',
        'a"',
        '"\n"',
        '"\\x"',
        '"\\u12"',
        '"\\ud800"',
        '"\\udc00"',
        '"\\ud800\\u0041"',
        '"\\ud800x"',
        '"a"b"',
        '"\x1f"',
    ],
)
def test_what_is_no_string_is_refused(text):
    store = AutomatonStore()
    assert not store.matches(store.add(JSON_STRING), text.encode())
    for broken in (b'"\xff"', b'"\xed\xa0\x80"', b'"\xc3"'):
        assert not store.matches(store.add(JSON_STRING), broken)


def test_a_string_with_length_bounds_is_a_counted_run_of_the_shared_character():
    regex = string_regex(StringSet(low=2, high=300))
    assert regex.parts[0] == Literal(b'"')
    assert regex.parts[2] == Literal(b'"')
    assert regex.parts[1].body is JSON_CHAR
    assert (regex.parts[1].min, regex.parts[1].max) == (2, 300)
    assert string_regex(StringSet()) is JSON_STRING


@given(st.integers(0, 0x10FFFF), st.integers(0, 0x10FFFF), st.integers(0, 0x10FFFF), st.integers())
def test_escapes_of_a_range_are_those_of_its_characters(a, b, point, seed):
    low, high = min(a, b), max(a, b)
    ranges = tuple((x, y) for x, y in ((low, min(high, 0xD7FF)), (max(low, 0xE000), high)) if x <= y)
    if 0xD800 <= point <= 0xDFFF or not ranges:
        return
    store = AutomatonStore()
    state = store.add(escaped_chars(ranges))
    spelled = _spelled(chr(point), random.Random(seed))[1:-1]
    assert store.matches(state, spelled.encode()) == (low <= point <= high)


_A, _QUOTE, _LINE = Chars(((97, 99),)), Literal(b'"'), Literal("\n\u00e9\\".encode())
_TREES = st.recursive(
    st.sampled_from(
        [_A, _QUOTE, _LINE, byte_set('ab"\n'), LiteralSet((b"a", b'b"')), Chars(((0, 0x1F), (0x1F600, 0x1F64F)))]
    ),
    lambda inner: st.one_of(
        st.builds(lambda x, y: sequence(x, y), inner, inner),
        st.builds(lambda x, y: choice(x, y), inner, inner),
        st.builds(star, inner),
        st.builds(lambda x: Repeat(x, 0, 2), inner),
        st.builds(lambda x, y: Intersection((x, Complement(y))), inner, inner),
    ),
    max_leaves=5,
)


@given(_TREES, st.text(st.sampled_from('abc"\n\u00e9\\\U0001f600'), max_size=4), st.integers())
def test_the_escaped_form_matches_what_the_regex_matches(tree, text, seed):
    store = AutomatonStore()
    member = store.matches(store.add(tree), text.encode())
    state = store.add(quoted(escaped(tree)))
    assert store.matches(state, canonical(text)) == member
    if not member:
        assert not store.matches(state, _spelled(text, random.Random(seed)).encode())


def test_a_bound_on_a_key_is_told_from_its_form() -> None:
    """Otherwise a walk comes to other states with each character, wherever names are left out of keys with a bound."""
    store = AutomatonStore()
    searched = quoted(escaped(parse_regex("[A-Z]", "ecma", anchored=False)))
    state = store.add(intersection(key_outside(["name", "id"]), any_string(1, 64), searched))
    assert store.as_bounded(store.step(store.step(state, ord('"')), ord("k"))) is not None


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT, st.integers())
def test_a_key_is_none_of_the_names_however_it_is_written(names, key, seed):
    store = AutomatonStore()
    state = store.add(key_outside(names))
    rng = random.Random(seed)
    for name in names:
        assert not store.matches(state, _spelled(name, rng).encode())
        assert not store.matches(state, canonical(name))
    assert store.matches(state, canonical(key)) == (key not in names)


@pytest.mark.parametrize(
    "pattern", ["^a", "b$", '^[^"]*$', "\\\\", "^.{2,3}$", "a|b", "^\\S+$", "\\d{2}", "[\\u00e9-\\u00ff]"]
)
def test_patterns_are_searched_in_the_decoded_text(accepts, pattern):
    accepted = accepts({"type": "string", "pattern": pattern})
    for text in [
        "",
        "a",
        "b",
        "ab",
        "ba",
        'a"b',
        "\\",
        "12",
        "x12y",
        "\u00e9",
        "\n",
        "abc",
        " ",
        "\U0001f600\U0001f600",
    ]:
        assert accepted(json.dumps(text)) == bool(re.search(pattern, text, re.ASCII)), text
        assert accepted(json.dumps(text, ensure_ascii=False)) == bool(re.search(pattern, text, re.ASCII)), text


def test_a_literal_start_of_a_pattern_is_forced(accepts):
    accepted = accepts({"type": "string", "pattern": "^https://"})
    assert accepted('"https://x"')
    assert not accepted('"\\u0068ttps://x"')
