"""`explain` with proper tokenizations: it agrees with the mask, and shows how the tokenizer would split the text."""

import random

import numpy as np
import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import tokenizer_of, vocabulary_of

import structgen

SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["William", "Theodore"]}, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("make", [bpe_tokenizers.gpt2, bpe_tokenizers.llama3, bpe_tokenizers.qwen3])
def test_it_agrees_with_the_mask(make):
    vocabulary, rng = vocabulary_of(make), random.Random(1)
    assert tokenizer_of(make) is not None
    matcher = structgen.compile(SCHEMA, vocabulary, tokenization="proper", whitespace="single").matcher()
    reasons = set()
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    while not matcher.is_terminated:
        matcher.fill_next_token_bitmask(mask)
        bits = np.unpackbits(mask.view(np.uint8)[0], bitorder="little")[: vocabulary.size]
        fresh = matcher.fork()  # which has no mask yet
        for token in range(vocabulary.size):
            found = matcher.explain(token)
            assert found.allowed == bool(bits[token]), str(found)
            assert fresh.explain(token) == found
            reasons.add(found.reason)
        tokens = [int(token) for token in np.flatnonzero(bits) if vocabulary.token_bytes(int(token))]
        if not tokens:
            break
        matcher.accept_token(rng.choice(tokens))
    assert {"allowed", "grammar", "tokenizer"} <= reasons


def test_what_the_tokenizer_writes_is_told():
    make = bpe_tokenizers.gpt2
    vocabulary = vocabulary_of(make)
    written = [vocabulary.token_bytes(token) for token in tokenizer_of(make).encode(" Theodore the").ids]
    grammar = structgen.Grammar.regex("( Theodore the|x)+")
    matcher = structgen.compile(grammar, vocabulary, tokenization="proper").matcher()
    found = matcher.explain(vocabulary.spellings.index(b" "))
    assert (found.reason, found.allowed, found.position, found.expected) == ("tokenizer", False, None, ())
    assert "at the beginning: the grammar allows it, the tokenizer would not write it there" in str(found)
    for text in written[:-1]:
        matcher.accept_token(vocabulary.spellings.index(text))
    assert written[-1] == b" the"
    matcher.fork().accept_token(vocabulary.spellings.index(b" the"))
    found = matcher.explain(vocabulary.spellings.index(b" t"))
    assert found.reason == "tokenizer"


def test_a_joined_token_is_told():
    make = bpe_tokenizers.gpt2
    vocabulary = vocabulary_of(make)
    matcher = structgen.compile(structgen.Grammar.regex("[a-z ]+"), vocabulary, tokenization="proper").matcher()
    matcher.accept_token(vocabulary.spellings.index(b" t"))
    found = matcher.explain(vocabulary.spellings.index(b"he"))
    assert found.reason == "tokenizer"
    assert found.instead == (b" the",)
    assert str(found).endswith('the tokenizer would not write it there: it writes " the".')


def test_a_schemas_places_are_told_as_with_any_tokenization():
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    vocabulary = bpe_tokenizers.vocabulary_of(bpe_tokenizers.gpt2)
    matcher = structgen.compile(schema, vocabulary, tokenization="proper", whitespace="single").matcher()
    for token in bpe_tokenizers.encoded(bpe_tokenizers.gpt2, '{"age": '):
        matcher.accept_token(token)
    assert [str(one) for one in matcher.expected()] == ["an integer (#/properties/age)"]
