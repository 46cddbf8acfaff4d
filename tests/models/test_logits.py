"""Models that only return logits: `from_logits`."""

import pytest
from pydantic import BaseModel, Field

import structgen


class Person(BaseModel):
    name: str = Field(max_length=8)
    age: int = Field(ge=0, le=120)


class Recomputing:
    """Return the tiny model without a cache."""

    def __init__(self, tiny_model):
        self.tiny_model = tiny_model
        self.calls = 0

    def next_logits(self, ids):
        self.calls += 1
        return self.tiny_model.session().forward(ids)[0]


def test_the_answers_are_those_of_the_model_behind(tiny_model):
    inner = Recomputing(tiny_model)
    model = structgen.from_logits(inner, tiny_model.tokenizer, vocab_size=tiny_model.vocabulary.size)
    for prompt in ("hi", "Who are you?"):
        expected = structgen.generate(tiny_model, prompt, Person, max_new_tokens=200)
        assert structgen.generate(model, prompt, Person, max_new_tokens=200) == expected
        assert structgen.batch(model, [prompt] * 2, Person, max_new_tokens=200) == [expected] * 2
    assert inner.calls > 5


def test_functions_do_too(tiny_model):
    size = tiny_model.vocabulary.size
    model = structgen.from_logits(lambda ids: [0.0] * size, tiny_model.tokenizer, vocab_size=size)
    assert isinstance(structgen.generate(model, "hi", bool), bool)
    cut = structgen.from_logits(lambda ids: [0.0] * size, tiny_model.tokenizer, vocab_size=size, context_tokens=3)
    with pytest.raises(structgen.GenerationError, match="context"):
        structgen.generate(cut, "a long prompt", bool)


def test_what_does_not_fit_is_named(tiny_model):
    with pytest.raises(structgen.ModelError, match="no next_logits"):
        structgen.from_logits(object(), tiny_model.tokenizer)
    narrow = structgen.from_logits(lambda ids: [0.0] * 3, tiny_model.tokenizer)
    with pytest.raises(structgen.ModelError, match=r"shape \(3,\)"):
        structgen.generate(narrow, "hi", bool)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda size: None, "returned None\n.*must return the logits"),
        (lambda size: [[0.0] * size], r"shape \(1, .*\n.*in one dimension, such as logits\[0, -1\]"),
        (lambda size: [0.0] * (size + 1), "shape .*\n.*vocab_size="),
        (lambda size: ["a"] * size, "no numbers, but list"),
    ],
)
def test_logits_of_another_form_are_named(tiny_model, returned, message):
    size = tiny_model.vocabulary.size
    model = structgen.from_logits(lambda ids: returned(size), tiny_model.tokenizer, vocab_size=size)
    with pytest.raises(structgen.ModelError, match=message):
        structgen.generate(model, "hi", bool)


def test_what_is_no_tokenizer_is_named(tiny_model):
    with pytest.raises(structgen.VocabularyError, match="pass the tokenizer itself: a vocabulary cannot"):
        structgen.from_logits(lambda ids: [], tiny_model.vocabulary)
    with pytest.raises(structgen.VocabularyError, match=r"AutoTokenizer.from_pretrained\('llama'\)"):
        structgen.Vocabulary.from_huggingface("llama")
