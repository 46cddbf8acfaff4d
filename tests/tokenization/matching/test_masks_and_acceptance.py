"""Masks, in which most tokens are decided at once, hold the tokens that are accepted where no mask was made."""

import random

import numpy as np
import pytest
from support.bpe_tokenizers import gemma_like, gpt2, gpt_neox, llama3, qwen3, vocabulary_of
from support.vocabularies import accepts

import structgen

KEYS = {"type": "object", "additionalProperties": {"type": "string", "maxLength": 9}, "maxProperties": 3}
UNIQUE = {
    "type": "array",
    "items": {"type": "string", "pattern": "^[a-z \\\\é]*$", "maxLength": 12},
    "uniqueItems": True,
}
BESIDE = {"type": "object", "properties": {"is": {"enum": [1, "a b"]}}, "additionalProperties": {"const": 2}}
NAMED = {"type": "object", "properties": {"is": {"enum": [1, "a b"]}, "island": True}, "additionalProperties": False}


def _check_masks(vocabulary, schema, seed, walks=3, tokens=30, sample=12, **options):
    """Compare masks of random walks with what a matcher accepts that made no mask."""
    rng, spellings = random.Random(seed), vocabulary.spellings
    blank = [token for token, text in enumerate(spellings) if text and not text.strip()]
    constraint = structgen.compile(schema, vocabulary, tokenization="proper", **options)
    row = structgen.allocate_token_bitmask(1, vocabulary.size)
    for _ in range(walks):
        matcher, alone = constraint.matcher(), constraint.matcher()
        for _ in range(tokens):
            matcher.fill_next_token_bitmask(row)
            bits = np.unpackbits(row[0].view(np.uint8), bitorder="little")[: vocabulary.size]
            allowed = np.flatnonzero(bits).tolist()
            blank = [token for token, text in enumerate(vocabulary.spellings) if text and not text.strip()]
            for token in [
                *rng.choices(range(vocabulary.size), k=sample),
                *rng.choices(allowed, k=3),
                *rng.sample(blank, 3),
            ]:
                assert accepts(alone, token) == bool(bits[token]), vocabulary.spellings[token]
            token = rng.choice(allowed)
            if token in vocabulary.eos_token_ids:
                break
            matcher.accept_token(token)
            alone.accept_token(token)


@pytest.mark.parametrize("make", [llama3, gpt2, qwen3])
@pytest.mark.parametrize("schema", [KEYS, UNIQUE, NAMED], ids=["keys", "unique", "named"])
def test_masks_hold_the_tokens_that_are_accepted_without_one(make, schema):
    _check_masks(vocabulary_of(make), schema, make.__name__)


@pytest.mark.parametrize("make", [llama3, gpt_neox, gemma_like])
def test_white_space_before_keys_that_must_differ_from_others_is_what_is_accepted(make):
    """It is in the same sets as these keys, and is decided as if they were not there; some of it is added tokens."""
    _check_masks(vocabulary_of(make), BESIDE, make.__name__, walks=8)


@pytest.mark.parametrize("schema", [KEYS, UNIQUE], ids=["keys", "unique"])
def test_masks_of_a_large_vocabulary_hold_them_too(smollm2, schema):
    """There most tokens within a terminal are decided at once, also where its end may be refused."""
    _check_masks(smollm2.vocabulary, schema, 5, walks=2, tokens=24)
