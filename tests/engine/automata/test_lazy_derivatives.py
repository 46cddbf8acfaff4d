"""What a state leads to is made when it is asked for, and no more than that."""

from __future__ import annotations

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import Complement, Literal, Regex, intersection, repeat, sequence
from structgen.engine.regex_syntax.parser import parse_regex

FREE = parse_regex(r'(?:[^"\\]|\\["\\n]|\\u[0-9a-f]{4})*')
STRING = sequence(Literal(b'"'), FREE, Literal(b'"'))


def holding(pattern: str) -> Regex:
    return sequence(Literal(b'"'), FREE, parse_regex(pattern), FREE, Literal(b'"'))


def test_of_what_a_state_leads_to_only_what_is_asked_for_is_made() -> None:
    store = AutomatonStore()
    found = intersection(STRING, holding("hip[0-9]"), Complement(holding("git[a-z]")))
    state = store.step(store.add(found), ord('"'))
    store.expand(state)
    before = store.count
    state = store.step(state, ord("h"))
    assert store.count - before < 10
    assert store.leads_on(state, ord("i")) and not store.leads_on(state, ord('"'))
    for text, matches in ((b"ip1x", True), (b"ip1gita", False), (b"ip1git1", True), (b"ip", False)):
        assert store.matches(state, text + b'"') == matches


def test_that_all_that_is_left_is_refused_is_seen_without_a_search() -> None:
    store = AutomatonStore()
    refused = holding(r"(?:g|\\u0067)(?:i|\\u0069)t")
    start = store.add(intersection(holding("hipchat"), Complement(refused)))
    searched = store.emptiness.terms_searched
    assert not store.matches(start, b'"hipchat git"')
    assert store.matches(start, b'"hipchat gi"')
    assert store.emptiness.terms_searched == searched


@pytest.mark.parametrize("depth", [30, 240])
@pytest.mark.parametrize("layered", [False, True])
def test_deep_repetitions_take_no_deep_recursion(depth: int, layered: bool) -> None:
    """Also where each layer has been an automaton of its own before."""
    store = AutomatonStore()
    regex: Regex = Literal(b"a")
    for level in range(depth):
        regex = repeat(sequence(regex, Literal(b"%d" % (level % 10))), 1, 2 + level % 2)
        if layered:
            store.expand(store.add(regex))
    state = store.add(regex)
    text = b"a" + b"".join(b"%d" % (level % 10) for level in range(depth))
    assert store.matches(state, text)
    assert not store.matches(state, text[:-1])
