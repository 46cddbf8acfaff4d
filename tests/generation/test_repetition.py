"""Answers that would repeat themselves without end are closed, in every way to run a model."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import structgen
from structgen.models.base import Model


@pytest.fixture
def shopper(tiny_tokenizer: Any) -> Model:
    """Return a model that writes one item of a list again and again."""
    return repeating(tiny_tokenizer, "[", '"Milk", ')


def repeating(tokenizer: Any, before: str, unit: str) -> Model:
    """Return a model that writes a text and then a unit without end; logits of chance decide the rest."""
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer)
    text = (before + unit * 200).encode()
    rows = np.random.default_rng(0).normal(size=(7, vocabulary.size)).astype(np.float32)

    def logits(ids: list[int]) -> Any:
        spelled = [vocabulary.token_bytes(token) or b"" for token in ids]
        row = rows[len(ids) % 7].copy()
        for first in range(len(spelled)):
            written = b"".join(spelled[first:])
            if text.startswith(written) and written[:1] == text[:1]:
                break
        else:
            written = b""
        for token in range(vocabulary.size):
            if (spelling := vocabulary.token_bytes(token)) and text.startswith(spelling, len(written)):
                row[token] += 20 + len(spelling)
        return row

    return structgen.from_logits(logits, tokenizer)


def test_a_list_is_closed(shopper: Model) -> None:
    result = structgen.Generator(shopper, list[str], max_new_tokens=400, raw=True).run("x")
    assert 20 < len(result.value) < 32
    assert set(result.value) == {"Milk"}
    assert result.finish_reason == "length"
    fewer = structgen.generate(shopper, "x", list[str], max_new_tokens=400, raw=True, max_repeats=2)
    assert len(fewer) < len(result.value)


@pytest.mark.parametrize("tokens", range(20, 60, 3))
def test_strings_end_with_a_whole_word_near_the_end_of_the_budget(tiny_tokenizer: Any, tokens: int) -> None:
    words = "we go to an inn as it is by us or at no "
    model = repeating(tiny_tokenizer, '["', words)
    run = structgen.Generator(model, list[str], max_new_tokens=tokens, raw=True, max_repeats=None).run("x")
    assert run.finish_reason == "length"
    assert len(run.token_ids) > tokens * 3 // 5
    assert re.findall("[a-z]+", run.value[0])[-1] in words.split(), run.text


def test_without_the_guard_the_budget_ends_it(shopper: Model) -> None:
    value = structgen.generate(shopper, "x", list[str], max_new_tokens=300, raw=True, max_repeats=None)
    assert len(value) > 32


@pytest.mark.parametrize("tokenization", ["any", "proper"])
def test_a_string_is_closed(own_tokenizer: Any, tokenization: Any) -> None:
    model = repeating(own_tokenizer, '"', "and so on, and on, ")
    value = structgen.generate(model, "x", str, max_new_tokens=500, raw=True, tokenization=tokenization)
    assert 8 <= value.count("and so on") <= 20
    assert set(value[:-2]) <= set("and so on, ")


def test_batches_and_streams_are_closed(shopper: Model) -> None:
    options: Any = {"max_new_tokens": 400, "raw": True, "max_repeats": 2}
    one = structgen.generate(shopper, "x", list[str], **options)
    assert structgen.batch(shopper, ["x", "x"], list[str], **options) == [one, one]
    with structgen.stream(shopper, "x", list[str], **options) as stream:
        assert stream.final() == one


def test_a_schema_that_requires_repetition_has_it(shopper: Model) -> None:
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 50, "maxItems": 60}
    value = structgen.generate(shopper, "x", schema, max_new_tokens=500, raw=True)
    assert value == ["Milk"] * 50


def test_texts_that_are_not_json_are_not_guarded(tiny_tokenizer: Any) -> None:
    model = repeating(tiny_tokenizer, "a", "b")
    assert (
        structgen.generate(model, "x", structgen.Grammar.regex("ab{300}"), max_new_tokens=400, raw=True)
        == "a" + "b" * 300
    )


def test_other_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="max_repeats must be a whole number >= 1, or None, not 0"):
        structgen.generate(None, "x", str, max_repeats=0)  # type: ignore[call-overload]
