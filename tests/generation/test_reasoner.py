"""Reasoning before the answer: its begin and end, and the grammar after it."""

import numpy as np
import pytest
from pydantic import BaseModel, Field

import structgen
from structgen.generation.reasoner import Reasoner
from structgen.generation.sampling import Sampler
from structgen.generation.settings import Reasoning

# Characters are tokens; besides, a mark that is one token without a text, and tokens in which a mark ends or begins.
MARK, CROSSING, WHOLE, END = 300, 301, 302, 310
TEXTS = {i: bytes([i]) for i in range(256)} | {CROSSING: b"nk>\n{", WHOLE: b"</think>{"}
VOCABULARY = structgen.Vocabulary.from_bytes(TEXTS, eos_token_ids=[END], size=320)


class Speller:
    """A tokenizer of characters with one special token."""

    vocabulary = VOCABULARY
    context_tokens = None
    chat_template = None

    def encode_text(self, text):
        head, mark, tail = text.partition("<|mark|>")
        return [*head.encode(), *([MARK] if mark else []), *tail.encode()]


def think(tokens, prompt=b"ask", **options):
    """Return a reasoner after a model wrote these tokens one after the other."""
    reasoner = Reasoner(Speller(), list(prompt), Reasoning(**options), Sampler())
    said = iter(tokens)
    read = []
    while (request := reasoner.request()) is not None:
        read += request.token_ids
        logits = np.zeros((1, VOCABULARY.size), np.float32)
        logits[0, next(said)] = 9
        reasoner.take(logits)
        assert reasoner.prompt_ids[: reasoner.seen_tokens] == read
    assert reasoner.seen_tokens < len(reasoner.prompt_ids)  # the answer's first logits are still to come
    return reasoner


def spelled(ids):
    return b"".join(b"<|mark|>" if token == MARK else TEXTS.get(token, b"?") for token in ids).decode()


@pytest.mark.parametrize(
    ("said", "thought"),
    [
        (b"two\n</think>", "two"),
        ([*b"two</thi", CROSSING], "two"),  # what follows the mark in the same token is not the model's to say
        ([*b"two", WHOLE], "two"),
        ([*b"two", END], "two"),  # it would end its turn
        (b"</think>", ""),
        (b"a </thin a</think>", "a </thin a"),
    ],
)
def test_it_ends_with_its_mark(said, thought):
    reasoner = think(said)
    assert reasoner.text == thought
    assert spelled(reasoner.prompt_ids).startswith("ask<think>\n")
    assert spelled(reasoner.prompt_ids).endswith("</think>\n\n")
    assert spelled(reasoner.prompt_ids).count("</think>") == 1


def test_a_mark_may_be_a_special_token():
    reasoner = think([*b"two", MARK], end="<|mark|>", start="", after="")
    assert (reasoner.text, spelled(reasoner.prompt_ids)) == ("two", "asktwo<|mark|>")
    assert reasoner.token_count == 3


def test_the_budget_ends_it():
    reasoner = think(b"thoughts without end", max_tokens=8)
    assert (reasoner.text, reasoner.token_count, reasoner.model_calls) == ("thoughts", 8, 8)
    assert spelled(reasoner.prompt_ids) == "ask<think>\nthoughts</think>\n\n"
    assert spelled(think(b"", max_tokens=0).prompt_ids) == "ask<think>\n</think>\n\n"


@pytest.mark.parametrize("prompt", [b"ask<think>", b"ask<think>\n", b"ask<think>\n\n"])
def test_a_prompt_that_has_begun_it_already(prompt):
    assert spelled(think(b"two</think>", prompt=prompt).prompt_ids).count("<think>") == 1
    assert spelled(think(b"two</think>", prompt=b"<think> no</think>ask").prompt_ids).count("<think>") == 2


def test_tokens_without_a_text_are_not_thought():
    reasoner = Reasoner(Speller(), [1], Reasoning(), Sampler())
    reasoner.request()
    logits = np.zeros((1, VOCABULARY.size), np.float32)
    logits[0, 305], logits[0, ord("a")] = 9, 1
    reasoner.take(logits)
    assert reasoner.prompt_ids[-1] == ord("a")


def test_wrong_options():
    with pytest.raises(ValueError, match="end mark"):
        Reasoning(end="")
    with pytest.raises(ValueError, match="max_tokens"):
        Reasoning(max_tokens=-1)
    with pytest.raises(TypeError, match="reasoning must be"):
        structgen.generation.settings.Settings(reasoning="yes")


class Answer(BaseModel):
    number: int = Field(ge=0, le=99)


@pytest.mark.parametrize("tokenization", ["any", "proper"])
@pytest.mark.parametrize("seed", range(3))
def test_an_answer_behind_it(tiny_model, tokenization, seed):
    reasoning = Reasoning(max_tokens=15)
    generator = structgen.Generator(tiny_model, Answer, tokenization=tokenization, temperature=1.0)
    result = generator.run("hi", reasoning=reasoning, seed=seed)
    assert isinstance(result.value, Answer)
    assert 0 < result.usage.reasoning_tokens <= 15
    assert result.usage.model_calls > result.usage.reasoning_tokens
    assert generator.run("hi", seed=seed).reasoning == ""


def test_batches_reason_too(tiny_model):
    options = {"reasoning": Reasoning(max_tokens=9), "temperature": 1.0, "seed": 3}
    values = structgen.batch(tiny_model, ["hi", "a longer one", "b"], Answer, **options)
    alone = [
        structgen.generate(tiny_model, prompt, Answer, **{**options, "seed": 3 + index})
        for index, prompt in enumerate(["hi", "a longer one", "b"])
    ]
    assert values == alone


def test_streams_show_it(tiny_model):
    with structgen.stream(tiny_model, "hi", Answer, reasoning=Reasoning(max_tokens=9), temperature=1.0, seed=1) as s:
        parts = list(s)
        assert s.reasoning == s.result().reasoning != ""
    assert isinstance(parts[-1], Answer)


def test_the_real_model_thinks_first(smollm2):
    result = structgen.Generator(smollm2, Answer, reasoning=True).run(
        "What is 3 plus 4?", reasoning=Reasoning(max_tokens=40)
    )
    assert result.reasoning and result.usage.reasoning_tokens <= 40
    assert isinstance(result.value, Answer)


def test_reasoning_leaves_room_for_the_answer(tiny_model, tiny_tokenizer):
    longest = [0]

    def logits(ids):
        longest[0] = max(longest[0], len(ids))
        return np.zeros(size, np.float32)

    size = tiny_model.vocabulary.size
    model = structgen.from_logits(logits, tiny_tokenizer, vocab_size=size, context_tokens=64)
    options = {"reasoning": structgen.Reasoning(max_tokens=300), "raw": True}
    assert structgen.generate(model, "x", structgen.Grammar.choice(["a"]), **options) == "a"
    assert longest[0] <= 64
    with pytest.raises(structgen.GenerationError, match="shorten the prompt"):
        structgen.generate(model, "x" * 60, structgen.Grammar.choice(["a"]), **options)


def test_an_answer_that_fills_the_context_says_so(tiny_model, tiny_tokenizer):
    size = tiny_model.vocabulary.size
    model = structgen.from_logits(
        lambda ids: np.zeros(size, np.float32), tiny_tokenizer, vocab_size=size, context_tokens=40
    )
    with pytest.raises(structgen.IncompleteOutputError, match="the model's context of 40 tokens is full"):
        structgen.generate(model, "x", list[int], max_new_tokens=100, raw=True, on_budget="error")


def test_logits_of_a_wrong_shape_are_an_error():
    reasoner = Reasoner(Speller(), list(b"ask"), Reasoning(), Sampler())
    reasoner.request()
    for shape in ((1, VOCABULARY.size - 1), (2, VOCABULARY.size)):
        with pytest.raises(structgen.ModelError, match="the model returned logits of shape"):
            reasoner.take(np.zeros(shape, np.float32))
