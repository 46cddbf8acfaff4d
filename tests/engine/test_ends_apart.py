"""Whether two states have a text in common, held against all short texts."""

import itertools
import random

import pytest

from structgen.engine import regex as rx
from structgen.engine.automata import AutomatonStore
from structgen.engine.regex_parser import parse_regex

LETTERS = b'ab\\"'
TEXTS = [bytes(text) for length in range(6) for text in itertools.product(LETTERS, repeat=length)]
QUOTE = rx.Literal(b'"')
CHARACTER = r'[^"\\]|\\["\\ab]'
STARS = (f"({CHARACTER})*", "[ab]*", r'(a|\\")*', r"[ab\\]*", '[ab"]*', "(a|ab)*", "a*b")
PARTS = ("a{2}", f"({CHARACTER})*", "[ab]{1,2}", r'\\"', r"b|\\a", "(a|ab)?", '"?')


@pytest.mark.parametrize("seed", range(150))
def test_states_that_are_said_to_end_apart_do(seed: int) -> None:
    rng = random.Random(seed)
    store = AutomatonStore()
    parts = [parse_regex(rng.choice(PARTS)) for _ in range(rng.randrange(4))]
    text = store.add(rx.sequence(*parts, rng.choice((QUOTE, QUOTE, rx.Literal(b'b"'), rx.Literal(b"b"), rx.EMPTY))))
    star = store.add(parse_regex(rng.choice(STARS)))
    common = [spelled for spelled in TEXTS if store.matches(text, spelled) and store.matches(star, spelled)]
    assert not common or not store.ends_apart(text, star)


def test_a_string_ends_apart_from_its_characters_at_no_cost() -> None:
    store = AutomatonStore()
    string = store.add(parse_regex(f'({CHARACTER})*[ab]{{80}}({CHARACTER})*"'))
    characters = store.add(parse_regex(f"({CHARACTER})*"))
    before = store.count
    assert store.ends_apart(string, characters)
    assert store.count < before + 5
