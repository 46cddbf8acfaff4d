"""Compare what texts are said to need with texts of small regexes."""

from __future__ import annotations

import itertools

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.masks.character_kinds import kind_of, kinds_in
from structgen.engine.masks.needed_kinds import NeededKinds, least_ways
from structgen.engine.regex_syntax.parser import parse_regex

KINDS = kinds_in(b"abcdx")


@pytest.mark.parametrize(
    "pattern",
    [
        "[abcdx]*(ab|cd)[abcdx]*",
        "[abcdx]*ab",
        "a(b|cd)?x",
        "(ab|cd)(ax|bx)",
        "[ab]x",
        "(ab){2,3}|d*",
        "aé|b",
        "(a|b)(b|c)(c|d)(d|x)",
        "é",
    ],
)
def test_each_text_has_all_kinds_of_some_way(pattern: str) -> None:
    automata = AutomatonStore()
    state = automata.add(parse_regex(pattern))
    ways = NeededKinds(automata).of(state, KINDS)
    for length in range(6):
        for text in map(bytes, itertools.product(b"abcdx", repeat=length)):
            if automata.matches(state, text):
                assert any(way & ~kinds_in(text) == 0 for way in ways), (text, ways)


def test_words_of_a_search_are_ways_of_their_own() -> None:
    automata = AutomatonStore()
    state = automata.add(parse_regex("[a-z]*(foo|date|bar)[a-z]*"))
    found = NeededKinds(automata).of(state, kinds_in(bytes(range(ord("a"), ord("z") + 1))))
    assert set(found) == {kinds_in(b"foo"), kinds_in(b"date"), kinds_in(b"bar")}


def test_words_with_other_characters_are_no_ways() -> None:
    automata = AutomatonStore()
    state = automata.add(parse_regex("[a-z]*(foo|date)[a-z]*"))
    assert NeededKinds(automata).of(state, kinds_in(b"abcdef")) == ()
    assert NeededKinds(automata).of(state, kinds_in(b"abcdeft")) == (kinds_in(b"date"),)


def test_a_way_that_needs_more_than_another_is_left_out() -> None:
    assert least_ways([0b011, 0b010, 0b110, 0b101]) == (0b010, 0b101)
    assert least_ways([0b001, 0]) == (0,)
    assert least_ways([]) == ()


def test_of_many_ways_only_what_all_need_is_known() -> None:
    words = [f"x{first}{second}[aegx]*" for first, second in itertools.combinations("aeghilm", 2)]
    automata = AutomatonStore()
    state = automata.add(parse_regex("|".join(words)))
    assert NeededKinds(automata).of(state, kinds_in(b"aeghilmx")) == (kind_of(ord("x")),)
