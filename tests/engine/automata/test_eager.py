"""Automata that are built ahead: no text needs a state that is not there yet."""

import random

import pytest

from structgen.engine.automata.eager import build_automata
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import Deadline
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import LimitExceededError
from structgen.limits import Limits


@pytest.mark.parametrize(
    ("pattern", "states"),
    [("abc", 4), ("a*", 1), ("[ab]{3}", 4), ("ab|cb", 3), ("(?:a|b)*abb", 4), (r"[^\s\S]", 0), ("", 1)],
)
def test_numbers_of_states(pattern, states):
    """Those of the smallest automaton, without its dead state."""
    assert build_automata(AutomatonStore(), [parse_regex(pattern)]) == states


@pytest.mark.parametrize(
    "pattern", [r"\d+(?:\.\d+)?", "é*[à-ü]{2,5}x", "(?i)straße|[a-f0-9]{4}", '"(?:[^"\\\\]|\\\\.)*"']
)
def test_no_state_is_made_later(pattern):
    regexes = [parse_regex(pattern), parse_regex("ab*")]
    store = AutomatonStore()
    build_automata(store, regexes)
    count, choose = store.count, random.Random(pattern)
    for regex in regexes:
        for _ in range(50):
            state = store.add(regex)
            for _ in range(20):
                bytes_on = [byte for byte in range(256) if store.first_bytes(state) >> byte & 1]
                if not bytes_on:
                    break
                state = store.next(state, choose.choice(bytes_on))
    assert store.count == count
    assert AutomatonStore().add(regexes[0]) < count


def test_bounds():
    regex = parse_regex("[ab]{5000}")
    with pytest.raises(LimitExceededError, match="automaton_states"):
        build_automata(AutomatonStore(Limits(automaton_states=1000)), [regex])
    with pytest.raises(LimitExceededError, match="compile_seconds"):
        build_automata(AutomatonStore(), [regex], Deadline(-1.0))
