"""Biases and penalties: which allowed token is taken, never what is allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import structgen
from structgen import Grammar
from structgen.generation.adjusting import Adjuster


def adjusted(logits, prompt=(), answer=(), **options):
    return Adjuster(**options).adjusted(np.array(logits, np.float32), list(prompt), list(answer))


def test_the_penalties_of_openai():
    """The formula of OpenAI's documentation: logit - count * frequency - (count > 0) * presence."""
    found = adjusted([1, 2, 3, -1], answer=[1, 1, 3], frequency_penalty=0.5, presence_penalty=0.25)
    assert found.tolist() == [1, 2 - 2 * 0.5 - 0.25, 3, -1 - 0.5 - 0.25]


@given(
    st.lists(st.floats(-20, 20, width=32), min_size=6, max_size=6),
    st.lists(st.integers(0, 5), max_size=5),
    st.floats(0.5, 3),
)
def test_the_penalty_of_transformers(logits, seen, penalty):
    torch = pytest.importorskip("torch")
    from transformers import RepetitionPenaltyLogitsProcessor

    ids = [0, *seen]
    expected = RepetitionPenaltyLogitsProcessor(penalty)(torch.tensor([ids]), torch.tensor([logits]))[0]
    found = adjusted(logits, prompt=[0], answer=seen, repetition_penalty=penalty)
    assert found == pytest.approx(expected.numpy(), rel=1e-5)


def test_biases_by_token():
    assert adjusted([1, 2, 3], logit_bias={0: 5, 2: -100}).tolist() == [6, 2, -97]


def test_nothing_asked_for_changes_nothing():
    logits = np.array([1, 2], np.float32)
    assert Adjuster().adjusted(logits, [0], [1]) is logits


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"repetition_penalty": 0}, ValueError),
        ({"repetition_penalty": "1.1"}, ValueError),
        ({"frequency_penalty": float("nan")}, ValueError),
        ({"presence_penalty": True}, ValueError),
        ({"logit_bias": [1, 2]}, TypeError),
        ({"logit_bias": {"a": 1}}, TypeError),
        ({"logit_bias": {-1: 1}}, ValueError),
        ({"logit_bias": {1: float("inf")}}, ValueError),
        ({"min_p": 2, "temperature": 1}, ValueError),
        ({"min_p": 0.1}, ValueError),
        ({"max_tokens": 0}, ValueError),
    ],
)
def test_options_out_of_their_range(tiny_model, options, error):
    with pytest.raises(error):
        structgen.Generator(tiny_model, {"type": "integer"}, **options)


# -- in runs -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def steady_model(tiny_tokenizer):
    """A model that always prefers "a", then "b", then "c"."""
    logits = np.full(len(tiny_tokenizer), -10, np.float32)
    for rank, letter in enumerate("abc"):
        logits[tiny_tokenizer.encode(letter)[0]] = 3 - rank
    logits[tiny_tokenizer.eos_token_id] = -5
    return structgen.from_logits(lambda ids: logits, tiny_tokenizer)


def text_of(model, schema=None, **options):
    schema = Grammar.regex("[abc]{6}") if schema is None else schema
    return structgen.generate(model, "Go", schema, raw=True, **options)


def test_a_penalty_ends_repetition(steady_model):
    assert text_of(steady_model) == "aaaaaa"
    assert text_of(steady_model, presence_penalty=10) == "abcabc"[:3] + "aaa"
    assert text_of(steady_model, frequency_penalty=1.5) == "abacba"


def test_a_bias_chooses_among_the_allowed(steady_model, tiny_tokenizer):
    c, x = (tiny_tokenizer.encode(letter)[0] for letter in "cx")
    assert text_of(steady_model, logit_bias={c: 50, x: 100}) == "cccccc"


def test_forced_text_is_written_whatever_the_penalties(tiny_model):
    value = structgen.generate(tiny_model, "Go", {"const": "aaaaaaaa"}, frequency_penalty=100, presence_penalty=100)
    assert value == "aaaaaaaa"


def test_a_bias_of_a_token_that_there_is_not(steady_model):
    with pytest.raises(ValueError, match="logit_bias names token"):
        text_of(steady_model, logit_bias={10**6: 1.0})


def test_min_p_drops_the_unlikely(steady_model):
    texts = {text_of(steady_model, temperature=1.0, seed=seed, min_p=0.3) for seed in range(30)}
    assert set("".join(texts)) == {"a", "b"}  # "c" is e**-2 = 0.14 as likely as "a"


def test_max_tokens_is_the_same(steady_model):
    schema = Grammar.regex("[abc]*")
    whole = structgen.Generator(steady_model, schema, raw=True, max_tokens=7)
    assert whole.run("Go").text == structgen.Generator(steady_model, schema, raw=True, max_new_tokens=7).run("Go").text
    assert len(whole.run("Go").token_ids) == 7
    assert len(whole.run("Go", max_new_tokens=3).token_ids) == 3
    assert len(whole.run("Go", max_tokens=2).token_ids) == 2


def test_batches_of_results(tiny_model):
    schema = {"enum": ["yes", "no"]}
    results = structgen.batch(tiny_model, ["A?", "B?"], schema, results=True)
    assert [result.value for result in results] == structgen.batch(tiny_model, ["A?", "B?"], schema)
    assert all(isinstance(result, structgen.Result) and result.token_ids for result in results)
