"""Texts that searches found are tried on other terms: fewer terms are searched, and the answers stay the same."""

from __future__ import annotations

import itertools

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex

ADDRESS = parse_regex("[a-c.]+@[a-c]+(\\.[a-c]+)*")
UP_TO_40 = rx.choice(rx.repeat(parse_regex("[a-b.@]"), 1, 40), rx.repeat(parse_regex("[a-c.@]"), 1, 20))


def test_states_along_a_text_are_not_searched_one_by_one():
    store = AutomatonStore()
    state = store.add(rx.intersection(ADDRESS, UP_TO_40))
    before = store.emptiness.terms_searched
    for _ in range(30):
        state = store.step(state, ord("a"))
        assert state != DEAD
    assert store.emptiness.terms_searched - before < 30


def test_the_end_of_a_bound_is_found():
    store = AutomatonStore()
    state = store.add(rx.intersection(ADDRESS, UP_TO_40))
    assert [store.matches(state, b"a" * count + b"@b") for count in (37, 38, 39)] == [True, True, False]
    assert [store.matches(state, b"c" * count + b"@b") for count in (17, 18, 19)] == [True, True, False]
    for _ in range(39):
        state = store.step(state, ord("a"))
    assert state == DEAD


@pytest.mark.parametrize(
    "parts",
    [
        ("[ab]*a[ab]{2}", "(a|bb)*"),
        ("([ab]{2})*", "[ab]*bb", "(aab|b)*"),
        ("(ab*c)*", "[abc]{0,5}", "(.{3})*"),
    ],
)
def test_states_match_some_text_exactly_if_they_are_not_dead(parts: tuple[str, ...]):
    regexes = [parse_regex(part) for part in parts]
    store, alone = AutomatonStore(), AutomatonStore()
    state = store.add(rx.intersection(*regexes))
    starts = [alone.add(regex) for regex in regexes]
    texts = ["".join(text).encode() for size in range(9) for text in itertools.product("abc", repeat=size)]
    matched = [text for text in texts if all(alone.matches(start, text) for start in starts)]
    for text in texts:
        if len(text) > 3:
            continue
        at = state
        for byte in text:
            at = store.step(at, byte)
        assert (at != DEAD) == any(found.startswith(text) for found in matched), text


def test_texts_of_one_length_are_one_term_before_each_thing_that_may_follow():
    numbers = rx.Repeat(parse_regex("0[1-7]|[1-3][0-9]|4[2-5]|9[13579]|8[02468]|7[0-36]|[a-c][d-f]"), 1, 1)
    store, distributed = AutomatonStore(), AutomatonStore()
    ends = [f"{count:03}x".encode() for count in range(50)]
    states = [store.add(rx.sequence(numbers, rx.Literal(end))) for end in ends]
    others = [distributed.add(rx.sequence(numbers.body, rx.Literal(end))) for end in ends]
    assert store.count < distributed.count - 200
    for text in (b"01", b"08", b"39", b"46", b"97", b"ad", b"ag", b"0", b"011"):
        for at, end in enumerate(ends):
            assert store.matches(states[at], text + end) == distributed.matches(others[at], text + end)
