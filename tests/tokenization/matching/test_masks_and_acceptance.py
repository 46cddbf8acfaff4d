"""Masks, in which most tokens are decided at once, hold the tokens that are accepted where no mask was made."""

import random

import numpy as np
import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import gemma_like, gpt2, gpt_neox, llama3, qwen3, vocabulary_of
from support.vocabularies import accepts

import structgen
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

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


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("make", [llama3, gpt2, qwen3])
@pytest.mark.parametrize("schema", [KEYS, UNIQUE, NAMED], ids=["keys", "unique", "named"])
def test_masks_hold_the_tokens_that_are_accepted_without_one(make, schema):
    _check_masks(vocabulary_of(make), schema, make.__name__)


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("make", [llama3, gpt_neox, gemma_like])
def test_white_space_before_keys_that_must_differ_from_others_is_what_is_accepted(make):
    """It is in the same sets as these keys, and is decided as if they were not there; some of it is added tokens."""
    _check_masks(vocabulary_of(make), BESIDE, make.__name__, walks=8)


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("schema", [KEYS, UNIQUE], ids=["keys", "unique"])
def test_masks_of_a_large_vocabulary_hold_them_too(smollm2, schema):
    """There most tokens within a terminal are decided at once, also where its end may be refused."""
    _check_masks(smollm2.vocabulary, schema, 5, walks=2, tokens=24)


def test_tokens_that_nothing_completes_stay_out_of_masks_that_are_made_again():
    """After `"`, only `×` and `÷` would go on with the byte C3, and each is one token: so no grammar lets C3 join.

    What follows a state of the tokenizer is forgotten after many other states, and found again.
    """
    texts = ["÷×", "×÷", "÷", "×", "é", "à"] * 30
    tokenizer = bpe_tokenizers._bpe(
        [bpe_tokenizers._split(bpe_tokenizers.LLAMA3), bpe_tokenizers._bytes_only()], 280, texts=texts
    )
    vocabulary = bpe_tokenizers.vocabulary_of_its_own(tokenizer, 0)
    for key, is_forgotten in (("é", False), ("à", False), ("éa", True)):
        schema = {"properties": {key: {"const": 1}}, "required": [key], "additionalProperties": False}
        constraint = structgen.compile({"type": "object", **schema}, vocabulary, tokenization="proper")
        expected = tokenizer.encode(key, add_special_tokens=False).ids[:1]
        for _ in range(1 + is_forgotten):
            matcher = constraint.matcher()
            for token in tokenizer.encode('{"', add_special_tokens=False).ids:
                matcher.accept_token(token)
            assert matcher.allowed_token_ids() == expected
            if is_forgotten:
                ProperTokenization.of(vocabulary).next_tokens._rows.clear()
