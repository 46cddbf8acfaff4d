"""Grammars in string fields, with proper tokens only: each walk is what the tokenizer makes of its text."""

import json
import random

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import encoded, random_walk, vocabulary_of
from support.reachable_texts import BYTES, sequences
from support.texts import is_read

import structgen
from structgen import Grammar
from structgen.errors import VocabularyError

GRAMMAR = 'start ::= "(" [start] ")" | #\'[ "é\\\\w]\' start | word !#\'[a-z]\' [" " start]; word ::= #\'[a-z]+\';'


def schema_of(grammar):
    return {"type": "string", "x-structgen-grammar": {"kbnf": grammar}}


@pytest.mark.parametrize("make", [bpe_tokenizers.gpt2, bpe_tokenizers.qwen3], ids=lambda make: make.__name__)
def test_walks_are_the_tokenizers_own(make):
    vocabulary, rng = vocabulary_of(make), random.Random(3)
    constraint = structgen.compile(schema_of(GRAMMAR), vocabulary, tokenization="proper")
    plain = structgen.compile(Grammar.kbnf(GRAMMAR, eager=False), BYTES)
    for _ in range(8):
        ids = random_walk(constraint.matcher(), vocabulary, rng, 60)
        text = b"".join(vocabulary.token_bytes(token) for token in ids).decode()
        assert encoded(make, text) == ids
        assert is_read(plain, json.loads(text)), text


def test_texts_of_special_tokens_are_left_out():
    vocabulary = vocabulary_of(bpe_tokenizers.qwen3)
    with pytest.raises(VocabularyError, match="cannot spell"):
        structgen.compile(schema_of('start ::= "<|im_end|>" [start] | "a";'), vocabulary, tokenization="proper")
    rules = 'start ::= "<" rest | "a"; rest ::= "|im_end|>" [start] | "b";'
    constraint = structgen.compile(schema_of(rules), vocabulary, tokenization="proper")
    found = sequences(constraint.matcher(), set(vocabulary.eos_token_ids), 100)
    texts = {b"".join(vocabulary.token_bytes(token) for token in ids) for ids in found}
    assert texts == {b'"a"', b'"<b"'}
