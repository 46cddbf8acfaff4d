"""`score` and `classify` beside the probabilities of every text of small languages."""

from __future__ import annotations

import asyncio
import copy
import itertools
import math
from typing import Literal

import numpy as np
import pytest
from pydantic import BaseModel
from support.toy_models import END, ToyModel

import structgen
from structgen import Grammar
from structgen.models.logits import LogitsSession


def logits_of(ids, size):
    return np.random.default_rng([len(ids), *ids[-3:]]).normal(scale=2.0, size=size).astype(np.float32)


@pytest.fixture(scope="module")
def random_model(tiny_tokenizer):
    return structgen.from_logits(lambda ids: logits_of(ids, len(tiny_tokenizer)), tiny_tokenizer)


def expected_logprob(model, tokenizer, prompt, text):
    """Return the log-probability of a text and the end token, each token computed from all before it."""
    ids, total = tokenizer.encode(prompt), 0.0
    for token in [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]:
        row = logits_of(ids, model.vocabulary.size).astype(np.float64)
        total += row[token] - np.log(np.exp(row).sum())
        ids.append(token)
    return total


TEXTS = ["not good", "not bad", "good", "bad", "not", "Zürich ist schön"]


def test_the_logprob_of_texts(random_model, tiny_tokenizer):
    scores = structgen.score(random_model, "So?", TEXTS, raw=True)
    assert [found.text for found in scores] == [found.value for found in scores] == TEXTS
    for found in scores:
        assert found.logprob == pytest.approx(
            expected_logprob(random_model, tiny_tokenizer, "So?", found.text), abs=1e-4
        )
        assert found.logprob == pytest.approx(sum(found.token_logprobs))
        assert found.token_ids == tuple(tiny_tokenizer.encode(found.text, add_special_tokens=False))
        assert found.logprob <= found.allowed_logprob <= 0


def test_under_the_mask_the_texts_of_single_bytes_share_all_probability(tiny_tokenizer):
    """Where each text has one split into tokens, `generate` writes some text of the language."""
    size = len(tiny_tokenizer)
    single = [tiny_tokenizer.encode(letter)[0] for letter in "xyz"]

    def next_logits(ids):
        logits = np.full(size, -50, np.float32)
        logits[single] = logits_of(ids, size)[single]
        logits[tiny_tokenizer.eos_token_id] = 0.5
        return logits

    model = structgen.from_logits(next_logits, tiny_tokenizer)
    texts = ["".join(letters) for count in (1, 2, 3) for letters in itertools.product("xyz", repeat=count)]
    scores = structgen.score(model, "Go", texts, Grammar.regex("[xyz]{1,3}"), raw=True)
    assert all(len(found.token_ids) == len(found.text) for found in scores)
    assert sum(math.exp(found.allowed_logprob) for found in scores) == pytest.approx(1, abs=1e-6)


def test_the_same_without_cutting_sessions(random_model, monkeypatch):
    from structgen.models.logits import LogitsSession

    whole = structgen.score(random_model, "So?", TEXTS, raw=True)
    monkeypatch.setattr(LogitsSession, "can_crop", False)
    monkeypatch.delattr(LogitsSession, "crop")
    again = structgen.score(random_model, "So?", TEXTS, raw=True)
    assert [found.logprob for found in again] == pytest.approx([found.logprob for found in whole])


def test_nan_is_no_probability(tiny_tokenizer):
    """A row of NaN alone is an error, as it is where an answer is written."""
    size, hash_sign = len(tiny_tokenizer), tiny_tokenizer.encode("#")

    def odds(value):
        def logits(ids):
            row = logits_of(ids, size)
            row[hash_sign] = value
            return row

        return structgen.classify(structgen.from_logits(logits, tiny_tokenizer), "So?", TEXTS, raw=True)

    assert odds(np.nan) == odds(-np.inf)
    broken = structgen.from_logits(lambda ids: np.full(size, np.nan, np.float32), tiny_tokenizer)
    with pytest.raises(structgen.ModelError, match="NaN"):
        structgen.classify(broken, "So?", TEXTS, raw=True)


class Padded(ToyModel):
    """A model whose rows are wider than its vocabulary."""

    def session(self):
        return LogitsSession(lambda ids: np.append(self.logits_after(ids), np.float32([9.0] * 3)), END + 5)


def test_logits_that_pad_a_row_are_of_no_token():
    grammar = Grammar.choice(["a", "ab", "b1"])
    padded, plain = (
        structgen.score(model, "ab", ["a", "ab", "b1"], grammar, raw=True) for model in (Padded(), ToyModel())
    )
    assert padded == plain


def test_answers_share_the_passes_of_what_they_begin_with(tiny_tokenizer):
    rows = []

    def next_logits(ids):
        rows.append(len(ids))
        return np.zeros(len(tiny_tokenizer), np.float32)

    model = structgen.from_logits(next_logits, tiny_tokenizer)
    prompt = "What do you say to that?"
    scores = structgen.score(model, prompt, TEXTS, raw=True)
    assert rows.count(len(tiny_tokenizer.encode(prompt))) == 1
    tokens = {found.token_ids[:count] for found in scores for count in range(1, len(found.token_ids) + 1)}
    assert len(rows) == 1 + len(tokens)


class Point(BaseModel):
    x: int
    tag: str = "none"


def test_values_of_a_schema(random_model):
    values = [Point(x=1), Point(x=22, tag="é")]
    scores = structgen.score(random_model, "Where?", values, Point)
    assert [found.value for found in scores] == values
    assert [Point.model_validate_json(found.text) for found in scores] == values
    assert all(found.logprob < found.allowed_logprob < 0 for found in scores)


def test_the_tokenizers_own_split(tiny_tokenizer):
    """With proper tokenization the last tokens of the prompt may be written again."""
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.add_tokens(["<|score|>"])  # or other tests' tokenizers would share its vocabulary
    model = structgen.from_logits(lambda ids: logits_of(ids, len(tokenizer)), tokenizer)
    scores = structgen.score(model, "It is ", ["good", "bad"], raw=True, tokenization="proper")
    assert all(found.logprob <= found.allowed_logprob + 1e-9 for found in scores)


def test_the_probabilities_of_choices(random_model, tiny_tokenizer):
    odds = structgen.classify(random_model, "So?", TEXTS, raw=True)
    weights = {text: math.exp(expected_logprob(random_model, tiny_tokenizer, "So?", text)) for text in TEXTS}
    assert sum(odds.values()) == pytest.approx(1)
    assert list(odds.values()) == sorted(odds.values(), reverse=True)
    for text, weight in weights.items():
        assert odds[text] == pytest.approx(weight / sum(weights.values()), rel=1e-3)


def test_in_a_chat(tiny_model):
    odds = structgen.classify(tiny_model, "Is it?", ["yes", "no"], system="Be brief.")
    assert set(odds) == {"yes", "no"}


@pytest.mark.parametrize(
    ("values", "schema", "error", "match"),
    [
        ([], None, ValueError, "no answer"),
        ("yes", None, TypeError, "must be a list"),
        ([Point(x=1), {"x": "one"}], Point, ValueError, "answer 1 does not fit"),
        (["abc"], Grammar.regex("[ab]+"), ValueError, "answer 0 does not fit"),
        ([7], None, structgen.GrammarError, "7 is not a string"),
    ],
)
def test_answers_that_do_not_fit(random_model, values, schema, error, match):
    with pytest.raises(error, match=match):
        structgen.score(random_model, "Go", values, schema)


def test_unknown_options(random_model):
    with pytest.raises(TypeError, match="temperature"):
        structgen.score(random_model, "Go", ["a"], temperature=0.5)


def test_servers_have_no_probabilities():
    from openai import OpenAI

    server = structgen.from_openai(OpenAI(api_key="none", base_url="http://127.0.0.1:9/v1"), "any")
    with pytest.raises(structgen.ModelError):
        structgen.classify(server, "Go", ["a", "b"])


def test_awaited_scores_are_the_same(random_model):
    async def both():
        return await asyncio.gather(
            structgen.ascore(random_model, "So?", TEXTS, raw=True),
            structgen.aclassify(random_model, "So?", TEXTS, raw=True),
        )

    scores, odds = asyncio.run(both())
    assert scores == structgen.score(random_model, "So?", TEXTS, raw=True)
    assert odds == structgen.classify(random_model, "So?", TEXTS, raw=True)
    with pytest.raises(TypeError, match="the answers, or choices, must be a list, not 'one'"):
        asyncio.run(structgen.ascore(random_model, "So?", "one", raw=True))


def test_a_choice_that_is_given_twice_counts_once(random_model):
    once = structgen.classify(random_model, "So?", ["yes", "no"], raw=True)
    assert structgen.classify(random_model, "So?", ["yes", "no", "yes"], raw=True) == pytest.approx(once)


def test_swapped_arguments_are_told(random_model):
    with pytest.raises(TypeError, match="the answers, or choices, must be a list, not <class 'str'>"):
        structgen.score(random_model, "So?", str, ["yes"], raw=True)
    with pytest.raises(TypeError, match=r"must be a list: typing.get_args\(typing.Literal\['a', 'b'\]\) gives it"):
        structgen.classify(random_model, "So?", Literal["a", "b"], raw=True)
