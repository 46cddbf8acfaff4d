"""Log-probabilities of answers, and the confidence in single values."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from pydantic import BaseModel

import structgen
from structgen import Grammar
from structgen.generation.logprobs import span_of
from structgen.models.logits import LogitsSession


class Person(BaseModel):
    name: Literal["Ann", "Bob"]
    married: bool
    tags: list[Literal["a", "b"]] = []


def logits_of(ids, size):
    """Return logits that depend on the tokens read, and on nothing else."""
    return np.random.default_rng([len(ids), *ids[-3:]]).normal(scale=3.0, size=size).astype(np.float32)


@pytest.fixture(scope="module")
def random_model(tiny_tokenizer):
    return structgen.from_logits(lambda ids: logits_of(ids, len(tiny_tokenizer)), tiny_tokenizer)


def log_softmax(row):
    row = row.astype(np.float64)
    return row - np.log(np.exp(row - row.max()).sum()) - row.max()


def test_they_are_those_of_the_model(random_model, tiny_tokenizer):
    """Each token's log-probability is computed anew, from the tokens before it."""
    generator = structgen.Generator(random_model, Person, raw=True, temperature=1.0, seed=3)
    result = generator.run("Who?", logprobs=True)
    ids = tiny_tokenizer.encode("Who?")
    matcher = generator.constraint.matcher()
    mask = structgen.allocate_token_bitmask(1, random_model.vocabulary.size)
    asked = 0
    for token in result.logprobs:
        expected = log_softmax(logits_of(ids, random_model.vocabulary.size))
        if token.logprob is not None:
            asked += 1
            assert token.logprob == pytest.approx(expected[token.token_id], abs=1e-5)
        matcher.fill_next_token_bitmask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask[0].view(np.uint8), bitorder="little"))
        if token.logprob is not None and token.allowed_logprob < 0:
            among = expected[token.token_id] - np.log(np.exp(expected[allowed]).sum())
            assert token.allowed_logprob == pytest.approx(among, abs=1e-5)
        ids.append(token.token_id)
        matcher.accept_token(token.token_id)
    assert asked > 2


def test_the_tokens_are_the_answer_in_order(random_model):
    result = structgen.Generator(random_model, Person, raw=True).run("Who?", logprobs=True)
    data = result.text.encode()
    written = [data[token.start : token.end] for token in result.logprobs]
    assert b"".join(written) == data
    own = [token for token in result.logprobs if token.token_id not in random_model.vocabulary.eos_token_ids]
    assert tuple(token.token_id for token in own) == result.token_ids
    for token, text in zip(own, written, strict=False):
        assert random_model.vocabulary.token_bytes(token.token_id) == text


@pytest.mark.parametrize(
    ("grammar", "options", "texts"),
    [
        ('start ::= "a" #token"<|im|>" "b" #"[cd]*";', {}, [b"a", b"<|im|>", b"b", b""]),
        ('start ::= "a" #token"<|end|>" "b" #"[cd]*";', {}, [b"a", b"<|end|>", b"b", b""]),
        ('start ::= #"[a-e]{4}|c+";', {"stop": "c"}, [b"c"]),
        ('start ::= #"[a-e]{1,4}";', {"stop": "d", "logit_bias": {3: 9.0}}, [b"cd"]),
    ],
)
def test_the_texts_of_token_terminals_and_of_a_token_that_is_cut(grammar, options, texts):
    """Each token has its place in the text; an end token that the grammar names has a text where it ends nothing."""
    tokens = {0: b"a", 1: b"b", 2: b"c", 3: b"cdc", 4: b"d"}
    special = {"<|im|>": 5, "<|end|>": 6}

    class Model:
        vocabulary = structgen.Vocabulary.from_bytes(tokens, eos_token_ids=[6], size=7, special_tokens=special)
        context_tokens = chat_template = None

        def encode_prompt(self, prompt, *, raw=False, **template):
            return [0]

        def encode_text(self, text):
            return [1]

        def session(self):
            return LogitsSession(lambda ids: [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0], 7)

    result = structgen.Generator(Model(), Grammar.kbnf(grammar, eager=False)).run("x", logprobs=True, **options)
    whole = result.text.encode()
    assert [whole[token.start : token.end] for token in result.logprobs] == texts
    assert all(token.end <= len(whole) for token in result.logprobs)


def test_the_confidence_in_a_value_is_that_in_its_tokens(random_model):
    result = structgen.Generator(random_model, Person, raw=True).run("Who?", logprobs=True)
    start, end = span_of(result.text, "/married")
    inside = [token.allowed_logprob for token in result.logprobs if token.start < end and token.end > start]
    assert result.confidence("/married") == pytest.approx(math.exp(sum(inside)))
    assert 0 < result.confidence() <= result.confidence("/married") <= 1
    assert result.confidence() == pytest.approx(math.exp(sum(token.allowed_logprob for token in result.logprobs)))


def test_a_value_without_a_choice_is_certain(random_model):
    result = structgen.Generator(random_model, {"const": {"a": [1, 2]}}, raw=True).run("Go", logprobs=True)
    assert result.confidence("/a/1") == 1.0


@pytest.mark.parametrize("pointer", ["/age", "/tags/9", "/name/0", "/tags/00", "/tags/²", "/tags/" + "9" * 5000])
def test_there_is_no_such_value(random_model, pointer):
    result = structgen.Generator(random_model, Person, raw=True).run("Who?", logprobs=True)
    with pytest.raises(ValueError, match="no value at"):
        result.confidence(pointer)


def test_without_logprobs_there_is_no_confidence(random_model):
    result = structgen.Generator(random_model, Person, raw=True).run("Who?")
    assert result.logprobs == ()
    with pytest.raises(ValueError, match="logprobs=True"):
        result.confidence()


def test_a_grammar_has_no_pointers(random_model):
    result = structgen.Generator(random_model, structgen.Grammar.regex("[ab]{3}"), raw=True).run("Go", logprobs=True)
    assert 0 < result.confidence() <= 1
    with pytest.raises(ValueError, match="not JSON"):
        result.confidence("/a")


def test_batches_and_observers_have_them_too(random_model):
    seen = []

    class Listener:
        def accepted(self, token_id, logits, mask, *, forced):
            seen.append(token_id)

        def rolled_back(self, token_ids):
            pass

    generator = structgen.Generator(random_model, Person, raw=True, logprobs=True)
    result = generator.run("Who?", observe=lambda prompt_ids: Listener())
    assert [token.token_id for token in result.logprobs] == seen


@pytest.mark.parametrize(
    ("text", "pointer", "part"),
    [
        ('{"é": ["ü", {"a/b": 12}]}', "/é/1/a~1b", "12"),
        ('{"é": ["ü", {"a/b": 12}]}', "/é/0", '"ü"'),
        ("[[], [1, 2]]", "/1", "[1, 2]"),
        ('{"0": {"x": null}}', "/0/x", "null"),
        ("17", "", "17"),
    ],
)
def test_the_span_of_a_value(text, pointer, part):
    start, end = span_of(text, pointer)
    assert text.encode()[start:end] == part.encode()
