"""Random tokens that the masks of the language grammars allow: a text can always be finished."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray
from support.languages import programs
from support.named_vocabularies import vocabulary_named

import structgen
from structgen.engine.matching.matcher import Matcher
from structgen.languages import language_names

WALKS = 12
STEPS = 25


def prefix(name: str, rng: random.Random) -> bytes:
    """The beginning of a real program; nothing now and then."""
    text = rng.choice(programs(name)).read_bytes()
    return text[: rng.randrange(min(len(text), 6000))] if rng.random() < 0.8 else b""


def first_bytes(spellings: tuple[bytes, ...]) -> NDArray[np.int16]:
    """The first byte of each token; -1 where a token has none."""
    return np.array([text[0] if text else -1 for text in spellings], np.int16)


def choose(allowed: NDArray[np.int64], firsts: NDArray[np.int16], rng: random.Random) -> int:
    """Any token, or any first byte, so that quotes and brackets come often enough, and a token that begins with it."""
    if rng.random() < 0.5:
        return int(rng.choice(allowed))
    first = rng.choice(np.unique(firsts[allowed]))
    return int(rng.choice(allowed[firsts[allowed] == first]))


def walk(matcher: Matcher, spellings: tuple[bytes, ...], rng: random.Random, begun: bytes, steps: int) -> int:
    """Goes on at random; returns after how many tokens the text could only end."""
    written = begun
    firsts = first_bytes(spellings)
    matcher.accept_bytes(begun)
    for step in range(steps):
        allowed = np.array(matcher.allowed_token_ids(), np.int64)
        tokens = allowed[allowed < len(spellings)]
        tokens = tokens[firsts[tokens] >= 0]
        assert matcher.is_accepting == (len(tokens) < len(allowed)), written
        assert len(allowed), f"a dead end after {written!r}"
        if not len(tokens):
            return step
        token = choose(tokens, firsts, rng)
        matcher.accept_token(token)  # says so where the bytes lead nowhere
        written += spellings[token]
    return steps


def test_walks_find_dead_ends():
    """Here the vocabulary has no token for the text's end."""
    vocabulary = structgen.Vocabulary.from_bytes({0: b"a", 1: b""}, eos_token_ids=[1])
    with pytest.raises(AssertionError, match="a dead end after"):
        matcher = structgen.compile(structgen.Grammar.kbnf("start ::= 'ab';"), vocabulary).matcher()
        walk(matcher, vocabulary.spellings, random.Random(0), b"", 5)


@pytest.mark.parametrize("name", language_names())
def test_random_tokens_never_lead_into_a_dead_end(name):
    vocabulary = vocabulary_named("smollm2")
    constraint = structgen.compile(structgen.Grammar.language(name), vocabulary)
    rng = random.Random(name)
    for _ in range(WALKS):
        walk(constraint.matcher(), vocabulary.spellings, rng, prefix(name, rng), STEPS)
