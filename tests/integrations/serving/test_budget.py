"""Texts that are closed within their budget, in a server."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import structgen
from structgen import Vocabulary
from structgen.compilation.budget import Budget
from structgen.compilation.repetition import RepetitionGuard
from structgen.integrations.serving.sequence import ServedSequence

WORDS = ['"name"', '": "', '"tags"', '": ["', '", "', '"]', '"}', "true", "ab", "abc", '": ']
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-c ]*$"},
        "tags": {"type": "array", "items": {"enum": ["a", "ab", "abc"]}},
    },
    "required": ["name", "tags"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def vocabulary():
    tokens = {byte: bytes([byte]) for byte in range(256)}
    tokens |= {300 + at: word.encode() for at, word in enumerate(WORDS)}
    return Vocabulary.from_bytes(tokens, eos_token_ids=[256])


def written(schema, vocabulary, tokens, rng, drafts=0):
    """A text by chance, or None if the budget cut it off. Drafts are accepted and rolled back, as engines do."""
    constraint = structgen.compile(
        schema, vocabulary, **({"whitespace": "compact"} if isinstance(schema, dict) else {})
    )
    sequence = ServedSequence(constraint.matcher(), vocabulary, budget=Budget(tokens - 1, is_proper=False))
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)

    def draw():
        sequence.fill(mask, 0)
        return rng.choice(np.flatnonzero(np.unpackbits(mask[0].view(np.uint8), bitorder="little")).tolist())

    text = b""
    for _ in range(tokens):
        count = 0
        for _ in range(rng.randint(0, drafts)):
            if sequence.has_ended or not sequence.accept(draw()):
                break
            count += 1
        sequence.rollback(count)
        token = draw()
        assert sequence.accept(token)
        if token == 256:
            return text.decode()
        text += vocabulary.token_bytes(token)
    return None


@pytest.mark.parametrize("drafts", [0, 3])
@pytest.mark.parametrize("tokens", [26, 30, 40, 80, 200])
def test_every_text_is_whole_within_its_budget(vocabulary, tokens, drafts):
    rng = random.Random(tokens)
    for _ in range(20):
        text = written(SCHEMA, vocabulary, tokens, rng, drafts)
        assert text is not None
        assert structgen.check(SCHEMA, text).fits, text
        assert set(json.loads(text)) == {"name", "tags"}


def test_free_text_ends(vocabulary):
    rng = random.Random(3)
    for _ in range(10):
        assert written(structgen.Grammar.regex("[ab]*"), vocabulary, 20, rng) is not None


def test_a_budget_that_is_too_small_cuts_the_text_off(vocabulary):
    assert written(SCHEMA, vocabulary, 8, random.Random(1)) is None


def test_a_grammar_that_never_ends_is_left_alone(vocabulary, monkeypatch):
    from structgen.compilation import budget

    def shortest_rest(matcher):
        raise structgen.LimitExceededError("mask_seconds", 1.0)

    monkeypatch.setattr(budget, "shortest_rest", shortest_rest)
    assert written(structgen.Grammar.regex("[ab]{100,}"), vocabulary, 20, random.Random(1)) is None


def test_nothing_long_is_begun_near_the_end(vocabulary):
    """Optional properties whose rest is longer than any reserve: a token that begins one is removed in time."""
    long = {"type": "string", "minLength": 60, "maxLength": 70, "pattern": "^x*$"}
    schema = {"type": "object", "properties": {"a": long, "b": long}, "additionalProperties": False}
    for tokens in (4, 30, 75, 90, 140, 160):
        text = written(schema, vocabulary, tokens, random.Random(tokens))
        assert text is not None
        assert structgen.check(schema, text).fits, text


def test_maps_with_keys_that_must_differ_are_closed(vocabulary):
    schema = {"type": "object", "additionalProperties": {"type": "boolean"}, "propertyNames": {"pattern": "^[ab]+$"}}
    rng = random.Random(5)
    for tokens in (20, 40, 80):
        text = written(schema, vocabulary, tokens, rng)
        assert text is not None
        assert structgen.check(schema, text).fits, text


def test_a_text_that_repeats_itself_is_closed(vocabulary):
    constraint = structgen.compile({"type": "string"}, vocabulary)
    sequence = ServedSequence(constraint.matcher(), vocabulary, guard=RepetitionGuard(2))
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    assert sequence.accept_all(list(b'"' + b"x" * 60))
    for state in (sequence, sequence.fork()):
        state.fill(mask, 0)
        assert np.flatnonzero(np.unpackbits(mask[0].view(np.uint8), bitorder="little")).tolist() == [ord('"')]
    sequence.rollback(1)
    sequence.fill(mask, 0)
    assert int(mask[0, ord("x") >> 5]) >> (ord("x") & 31) & 1
