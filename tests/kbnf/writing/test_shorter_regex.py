"""Regexes written shorter: the same language, and never a longer text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.kbnf.writing.regex_text import regex_to_rust
from structgen.kbnf.writing.shorter_regex import shortened
from structgen.schema.formats import by_name

LEAVES = st.one_of(
    st.sampled_from(["", "a", "b", "ab", "ba", "é"]).map(lambda text: rx.Literal(text.encode())),
    st.sampled_from(["ab", "bc", "0123"]).map(
        lambda text: rx.Chars(tuple((ord(character), ord(character)) for character in text[::2]))
    ),
    st.lists(st.sampled_from([b"a", b"b", b"ab", b"\xff"]), min_size=2, max_size=3, unique=True).map(rx.literal_set),
    st.just(rx.ByteSet(1 << 0x61 | 1 << 0x62)),
)


def _larger(inner):
    parts = st.lists(inner, min_size=2, max_size=4)
    return st.one_of(
        parts.map(lambda found: rx.choice(*found)),
        parts.map(lambda found: rx.sequence(*found)),
        st.tuples(inner, st.integers(0, 2), st.sampled_from([0, 1, None])).map(
            lambda found: rx.repeat(found[0], found[1], None if found[2] is None else found[1] + found[2])
        ),
        st.lists(inner, min_size=2, max_size=2).map(lambda found: rx.Intersection(tuple(found))),
    )


REGEXES = st.recursive(LEAVES, _larger, max_leaves=12)


def _are_equal(one, other):
    store = AutomatonStore()
    return store.is_empty(rx.difference(one, other)) and store.is_empty(rx.difference(other, one))


@given(REGEXES)
def test_the_language_stays(regex):
    assert _are_equal(regex, shortened(regex))


@given(REGEXES)
def test_the_text_is_read_as_the_same_language(regex):
    text = regex_to_rust(shortened(regex))
    if text is not None:
        assert _are_equal(regex, parse_regex(text))


@pytest.mark.parametrize(
    ("pattern", "shorter"),
    [
        ("0(1|9|[2-8])|9(0|9|[1-8])", "0[1-9]|9[0-9]"),
        ("0[0-9]|1[0-9]|2[0-9]", "[0-2][0-9]"),
        ("hour|hours", "hours?"),
        ("[0-9][0-9][0-9]", "[0-9]{3}"),
        ("[ab]x[ab]x[ab]x", "(?:[ab]x){3}"),
        ("xab|yab", "[xy]ab"),
        ("one|two", "one|two"),
        ('[^"\\\\]', '[^"\\\\]'),
    ],
)
def test_what_alternatives_share_is_written_once(pattern, shorter):
    assert regex_to_rust(shortened(parse_regex(pattern))) == shorter


@pytest.mark.parametrize("name", ["date", "date-time", "ipv4", "ipv6", "uri", "x-datetime", "x-timedelta"])
def test_formats_get_shorter(name):
    regex = by_name.regex(name)
    shorter = shortened(regex)
    assert _are_equal(regex, shorter)
    assert len(regex_to_rust(shorter)) < 0.9 * len(regex_to_rust(regex))


@pytest.mark.parametrize(
    "alternatives",
    [["ab" * 600 + "x", "ab" * 600 + "yz"], ["x" + "ab" * 600, "yz" + "ab" * 600], ["a" * size for size in range(250)]],
    ids=["prefix", "suffix", "many"],
)
def test_long_alternatives_are_left_as_they_are(alternatives):
    """What they have in common was found piece by piece, in cubic time and past Python's recursion."""
    regex = rx.choice(*[rx.Literal(text.encode()) for text in alternatives])
    assert shortened(regex) == regex
