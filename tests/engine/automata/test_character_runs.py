"""Compare the longest runs of characters with automata."""

from __future__ import annotations

import itertools

import pytest

from structgen.engine.automata.character_runs import CharacterRuns
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import FAR
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex

CHARACTER = parse_regex(r'[^"\\]')
CASES = [
    ("[ab]{0,3}", "ab", 3),
    ("[ab]{0,3}b", "ab", 4),
    ("[ab]{0,3}c*b", "ab", 4),
    ("(ab){0,3}", "ab", 6),
    ("(ab){0,3}", "a", 3),
    ("a*", "a", FAR),
    ("a*", "b", 0),
    ("abca", "ab", 2),
    ("(a|bb|c)b?", "ab", 3),
    ("é{2}", "aé", 4),  # of literals, bytes are counted
    ("[^a]{2}a", "é", 2),
    ("ca*", "a", 0),
]


def alphabet(characters: str) -> int:
    return sum(1 << min(ord(character), 128) for character in characters)


@pytest.mark.parametrize(("pattern", "characters", "longest"), CASES)
def test_longest_runs(pattern: str, characters: str, longest: int) -> None:
    store = AutomatonStore()
    state = store.add(parse_regex(pattern))
    found = CharacterRuns(store.alphabets).longest(state, alphabet(characters))
    assert found == longest
    assert found >= FAR or not alive(store, state, characters, found + 1)


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("inner", ["[ab]{1,5}", "a+(ba+)*", "(ab)*c", "a{3}b*"])
def test_runs_within_bounds(inner: str, most: int) -> None:
    store = AutomatonStore()
    local = rx.intersection(parse_regex(inner), rx.repeat(CHARACTER, 0, most))
    outer = rx.intersection(rx.sequence(local, parse_regex("(-|a-)c*")), rx.repeat(CHARACTER, 0, 6))
    state = store.add(outer)
    if state:
        found = CharacterRuns(store.alphabets).longest(state, alphabet("ab"))
        assert found <= 6
        assert not alive(store, state, "ab", found + 1)


def alive(store: AutomatonStore, state: int, characters: str, length: int) -> bool:
    """Return whether some text of so many characters may begin a text of a state."""
    for letters in itertools.product(characters, repeat=length):
        target = state
        for byte in "".join(letters).encode():
            target = store.next(target, byte)
        if target:
            return True
    return False
