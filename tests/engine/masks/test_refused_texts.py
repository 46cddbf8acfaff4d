"""Compare masks without texts that are refused, such as items that must differ, with what matchers accept."""

import random

import pytest
from support.vocabularies import accepted_tokens

import structgen
from structgen.engine.arrays import IS_COMPILED
from structgen.engine.masks import table_store
from structgen.engine.vocabulary.vocabulary import Vocabulary

TOKENS = [*(bytes([byte]) for byte in range(256)), *b'"," ", a"," ab"," "," ", "] a"] ":1 ": {"a ["a'.split(b" ")]
TOKENS += [b'", "', b'", "a', b'": 1', b'": 1, "a']
STRINGS = [
    {"type": "string"},
    {"type": "string", "maxLength": 2},
    {"type": "string", "pattern": "^(?!ab$)[ab]*$"},
    {"type": "string", "not": {"enum": ["a", "b"]}},
    {"type": ["string", "null"], "pattern": "^a"},
]


def random_schema(rng):
    """Return a schema of items that must differ, or of keys, which do."""
    if rng.random() < 0.6:
        return {"type": "array", "items": rng.choice(STRINGS), "uniqueItems": True, "maxItems": rng.randint(2, 9)}
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    if rng.random() < 0.5:
        schema["properties"] = {"ab": {"type": "integer"}, "b": False}
    if rng.random() < 0.5:
        schema["propertyNames"] = {"pattern": rng.choice(["^[ab]*$", "^a", "^(?!aa$)[ab]+$"])}
    return schema


def check(schema, vocabulary, rng):
    """Compare the masks along a text with what the matcher accepts."""
    matcher = structgen.compile(schema, vocabulary).matcher()
    for _ in range(12):
        allowed = matcher.allowed_token_ids()
        assert allowed == accepted_tokens(matcher, vocabulary.size)
        left = [token for token in allowed if 256 <= token < len(TOKENS)]
        if not left or rng.random() < 0.3:
            left = [token for token in allowed if token < 256 and bytes([token]) in b'ab",:1[]{}'] or left
        if not left:
            break
        matcher.accept_token(rng.choice(left))


@pytest.mark.parametrize("seed", range(20))
def test_masks_are_what_is_accepted(seed):
    rng = random.Random(seed)
    vocabulary = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=[len(TOKENS)])
    check(random_schema(rng), vocabulary, rng)


@pytest.mark.skipif(IS_COMPILED, reason="in compiled modules, constants are C integers")
@pytest.mark.parametrize("seed", range(20))
def test_masks_are_what_is_accepted_where_all_tables_are_masks_of_bits(monkeypatch, seed):
    monkeypatch.setattr(table_store, "MAX_LISTED_TOKENS", 0)
    rng = random.Random(seed)
    own = f"<{seed}>".encode()  # a vocabulary's tables are kept: no other test has this one
    vocabulary = Vocabulary.from_bytes(dict(enumerate([*TOKENS, own])), eos_token_ids=[len(TOKENS) + 1])
    check(random_schema(rng), vocabulary, rng)
