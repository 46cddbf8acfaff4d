"""Character classes against `unicodedata` and the laws of sets."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.regex.unicode_classes import (
    ANY,
    Ranges,
    case_closure,
    category,
    difference_of,
    intersection_of,
    negation_of,
    property_class,
    script,
    union_of,
    word_class,
)

SAMPLE = [c for c in (*range(0x3000), *range(0x3000, 0x110000, 97)) if not 0xD800 <= c <= 0xDFFF]
sets = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40)), max_size=6).map(
    lambda pairs: union_of((low, low + size) for low, size in pairs)
)


def members(ranges: Ranges) -> set[int]:
    return {c for low, high in ranges for c in range(low, high + 1)}


@given(sets, sets)
def test_set_operations(left: Ranges, right: Ranges) -> None:
    assert members(union_of([*left, *right])) == members(left) | members(right)
    assert members(intersection_of(left, right)) == members(left) & members(right)
    assert members(difference_of(left, right)) == members(left) - members(right)
    assert negation_of(negation_of(left)) == left
    for result in (union_of([*left, *right]), intersection_of(left, right), difference_of(left, right)):
        assert all(a[1] + 1 < b[0] for a, b in pairwise(result))


def test_no_set_holds_a_surrogate() -> None:
    assert negation_of(()) == ANY
    assert negation_of(ANY) == ()
    assert category("Cs") == ()
    assert not members(negation_of(((97, 97),))) & set(range(0xD800, 0xE000))


@pytest.mark.parametrize("name", ["Lu", "Ll", "Nd", "Zs", "Sm", "Cn", "Co", "Pc"])
def test_categories(name: str) -> None:
    found = members(category(name))
    assert all((unicodedata.category(chr(c)) == name) == (c in found) for c in SAMPLE)


def test_categories_of_all_characters() -> None:
    """Most of the planes are not looked at character by character."""
    found = {c: name for name in ("Cn", "Co", "Cf", "Mn", "Lo") for c in members(category(name))}
    assert all(found[c] == unicodedata.category(chr(c)) for c in range(0x20000, 0x110000))


@pytest.mark.parametrize("name", ["L", "N", "P", "S", "Z", "M"])
def test_major_categories(name: str) -> None:
    found = members(category(name))
    assert all((unicodedata.category(chr(c))[0] == name) == (c in found) for c in SAMPLE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lu", "Uppercase_Letter"),
        ("L", "letter"),
        ("gc=Nd", "Decimal Number"),
        ("LC", "L&"),
        ("Zs", "space-separator"),
        ("Greek", "sc=Grek"),
        ("Script_Extensions=Old Italic", "scx:ital"),
    ],
)
def test_names_of_one_property(one: str, other: str) -> None:
    assert property_class(one) == property_class(other) != None  # noqa: E711


def test_scripts_are_those_of_the_package_regex() -> None:
    """By its own tables: all scripts under all names, and the characters of some."""
    regex = pytest.importorskip("regex")
    names = regex._regex_core.PROPERTIES["SCRIPT"][1]
    assert {name for name in names if script(name) is None} == {"UNKNOWN", "ZZZZ"}
    text = "".join(map(chr, SAMPLE))
    for name in ("Greek", "Han", "Latin", "Common", "Zinh", "Deva", "Cyrillic", "Qaac", "Old_Italic"):
        for key, extended in (("Script", False), ("Script_Extensions", True)):
            expected = {ord(c) for c in regex.findall(rf"\p{{{key}={name}}}", text)}
            found = script(name, extended=extended)
            assert {c for low, high in found for c in range(low, high + 1)}.intersection(SAMPLE) == expected


@pytest.mark.parametrize(
    "name", ["Emoji", "", "Xx", "gc=Greek", "LuX", "Unknown", "sc=Zzzz", "sc=Lu", "sc!=Greek", "scx="]
)
def test_unknown_properties(name: str) -> None:
    assert property_class(name) is None


def test_word_classes() -> None:
    assert word_class("ecma") == ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
    python = members(word_class("python"))
    assert all((chr(c).isalnum() or chr(c) == "_") == (c in python) for c in SAMPLE)


def test_case_closure() -> None:
    assert case_closure(((0x61, 0x7A),), ascii_only=True) == ((0x41, 0x5A), (0x61, 0x7A))
    assert case_closure(((0x6B, 0x6B),)) == ((0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A))
    assert case_closure(((0x31, 0x32),)) == ((0x31, 0x32),)
    for c in SAMPLE:
        if c < 0x3000 and len(chr(c).lower()) == len(chr(c).upper().lower()) == 1:
            closed = members(case_closure(((c, c),)))
            assert ord(chr(c).lower()) in closed
