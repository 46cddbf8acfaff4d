"""`batch`: rows that the model reads together get the same answers as alone."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import pytest
from pydantic import BaseModel, Field

import structgen
from structgen.generation.batches import run_batch


class Person(BaseModel):
    name: str = Field(max_length=10)
    age: int = Field(ge=0, le=120)
    mood: Literal["good", "bad"]


PROMPTS = ["hi", "What is your name and how old are you?", "a", "Tell me " * 12, "no", "yes yes", "and you?"]


@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_rows_are_what_they_are_alone(tiny_model, batch_size):
    values = structgen.batch(tiny_model, PROMPTS, Person, batch_size=batch_size, max_new_tokens=200)
    assert values == [structgen.generate(tiny_model, prompt, Person, max_new_tokens=200) for prompt in PROMPTS]


def test_each_row_has_its_seed(tiny_model):
    values = structgen.batch(tiny_model, ["hi"] * 5, Person, temperature=1.0, seed=7, max_new_tokens=200)
    generator = structgen.Generator(tiny_model, Person, temperature=1.0, max_new_tokens=200)
    alone = [generator("hi", seed=7 + index) for index in range(5)]
    assert values == alone
    assert len({value.name for value in values}) > 1


def test_generators_have_batches(tiny_model):
    """Use the generator's own options, and those of the call; in asyncio too."""
    generator = structgen.Generator(tiny_model, Person, temperature=1.0, seed=7, max_new_tokens=5)
    options = {"temperature": 1.0, "seed": 7, "max_new_tokens": 200}
    expected = structgen.batch(tiny_model, PROMPTS, Person, **options)
    assert generator.batch(PROMPTS, batch_size=3, max_new_tokens=200) == expected
    assert asyncio.run(generator.abatch(iter(PROMPTS), max_new_tokens=200)) == expected
    assert asyncio.run(structgen.abatch(tiny_model, PROMPTS, Person, batch_size=3, **options)) == expected
    cut = generator.batch(["hi"], return_exceptions=True)
    assert isinstance(cut[0], structgen.IncompleteOutputError)
    with pytest.raises(TypeError, match="no option 'whitespace'"):
        generator.batch(["hi"], whitespace="compact")


def test_each_row_may_have_its_schema(tiny_model):
    schemas = [Person, {"enum": [1, 2]}, structgen.Grammar.regex("[ab]{4}")]
    person, number, letters = structgen.batch(tiny_model, ["hi"] * 3, schemas, max_new_tokens=200)
    assert isinstance(person, Person) and number in (1, 2) and set(letters) <= set("ab")
    with pytest.raises(ValueError, match="3 schemas for 2 prompts"):
        structgen.batch(tiny_model, ["hi"] * 2, schemas)


def test_errors_are_raised_or_returned(tiny_model):
    prompts = ["hi", "hello " * 1500, "a"]  # the second is longer than the model's context
    with pytest.raises(structgen.GenerationError, match="context"):
        structgen.batch(tiny_model, prompts, Person, max_new_tokens=200)
    values = structgen.batch(tiny_model, prompts, Person, max_new_tokens=200, return_exceptions=True)
    assert [type(value) for value in values] == [Person, structgen.GenerationError, Person]
    cut = structgen.batch(tiny_model, ["hi", "a"], Person, max_new_tokens=5, return_exceptions=True)
    assert all(isinstance(value, structgen.IncompleteOutputError) for value in cut)


def test_an_error_of_the_model_is_one_of_its_row(tiny_model):
    vocabulary = tiny_model.vocabulary

    def next_logits(ids):
        if "bad" in tiny_model.tokenizer.decode(ids):
            raise RuntimeError("no logits today")
        return np.zeros(vocabulary.size, np.float32)

    model = structgen.from_logits(next_logits, tiny_model.tokenizer, vocab_size=vocabulary.size)
    prompts = ["a", "bad", "b"]
    found = structgen.batch(model, prompts, Literal["x", "y"], return_exceptions=True)
    assert [type(value) for value in found] == [str, RuntimeError, str]
    with pytest.raises(RuntimeError, match="today"):
        structgen.batch(model, prompts, Literal["x", "y"])


def test_a_pass_that_fails_fails_its_rows_and_no_others(tiny_model, monkeypatch):
    forward = tiny_model.hf_model.forward
    passes = []

    def failing(*args, **kwargs):
        passes.append(kwargs["input_ids"].shape)
        if len(passes) == 4:
            raise RuntimeError("out of memory")
        return forward(*args, **kwargs)

    monkeypatch.setattr(tiny_model.hf_model, "forward", failing)
    found = structgen.batch(tiny_model, PROMPTS, Person, batch_size=3, max_new_tokens=200, return_exceptions=True)
    failed = [index for index, value in enumerate(found) if isinstance(value, RuntimeError)]
    assert failed == [0, 1, 2]
    monkeypatch.undo()
    alone = structgen.batch(tiny_model, PROMPTS[3:], Person, batch_size=3, max_new_tokens=200)
    assert found[3:] == alone


def test_retries_go_on_in_the_batch(tiny_model):
    refused = set()

    def twice(value):
        if value.name not in refused:
            refused.add(value.name)
            raise ValueError("another, please")

    values = structgen.batch(
        tiny_model, PROMPTS, Person, validate=twice, max_retries=20, max_new_tokens=100, return_exceptions=True
    )
    assert refused and len(values) == len(PROMPTS)
    assert all(isinstance(value, (Person, structgen.StructgenError)) for value in values)


def test_nothing_and_no_room(tiny_model):
    assert structgen.batch(tiny_model, [], Person) == []
    with pytest.raises(ValueError, match="at least 1"):
        structgen.batch(tiny_model, ["hi"], Person, batch_size=0)
    with pytest.raises(ValueError, match="batch_size"):
        structgen.batch(tiny_model, ["hi"], Person, batch_size="3")
    with pytest.raises(TypeError, match="a list of prompts, not None"):
        structgen.batch(tiny_model, None, Person)


def test_the_bar_is_on_stderr(tiny_model, capsys):
    pytest.importorskip("tqdm")
    structgen.batch(tiny_model, ["hi", "a"], Literal["x", "y"], progress=True)
    out, err = capsys.readouterr()
    assert "2/2" in err and not out


def test_passes_are_shared(tiny_model, monkeypatch):
    calls = []
    forward = tiny_model.hf_model.forward

    def counted(*args, **kwargs):
        calls.append(kwargs["input_ids"].shape)
        return forward(*args, **kwargs)

    monkeypatch.setattr(tiny_model.hf_model, "forward", counted)
    structgen.batch(tiny_model, PROMPTS, Person, batch_size=8, max_new_tokens=200)
    together = len(calls)
    calls.clear()
    for prompt in PROMPTS:
        structgen.generate(tiny_model, prompt, Person, max_new_tokens=200)
    assert together * 3 < len(calls)


def test_models_that_read_one_sequence_at_a_time(tiny_model):
    class Alone:
        """The tiny model without batched passes."""

        def __getattr__(self, name):
            if name == "session_batch":
                raise AttributeError(name)
            return getattr(tiny_model, name)

    expected = structgen.batch(tiny_model, PROMPTS[:3], Person, max_new_tokens=200)
    assert structgen.batch(Alone(), PROMPTS[:3], Person, max_new_tokens=200) == expected


def test_the_cache_of_a_batch_holds_what_each_row_has_read(tiny_model):
    """Rows join, roll back, wait and leave at random; their logits equal those of sessions of their own."""
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(0)
    batch = tiny_model.session_batch()
    rows = {}
    for step in range(60):
        if len(rows) < 5 and generator.random() < 0.5:
            rows[batch.session()] = (tiny_model.session(), [])
        if rows and generator.random() < 0.15:
            del rows[list(rows)[int(generator.integers(len(rows)))]]
        if not rows:
            continue
        requests, expected = [], []
        for row, (session, tokens) in rows.items():
            if len(tokens) > 3 and generator.random() < 0.3:
                count = int(generator.integers(1, 4))
                row.crop(count)
                session.crop(count)
                del tokens[-count:]
            new = generator.integers(0, 390, int(generator.integers(1, 9 if tokens else 40))).tolist()
            keep = int(generator.integers(1, len(new) + 1))
            tokens += new
            requests.append((row, new, keep))
            expected.append(session.forward(new, keep=keep))
        found = batch.forward(requests)
        for one, other in zip(found, expected):
            assert one.shape == other.shape
            assert np.allclose(one, other, atol=1e-4), step
    assert torch.is_tensor(batch._is_token) and batch._is_token.shape[1] < 600


def test_one_model_in_many_threads(tiny_model):
    def ask(index):
        schema = [Person, Literal["a", "b"], {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 3}][index % 3]
        return structgen.generate(tiny_model, f"hi {index}", schema, temperature=1.0, seed=index, max_new_tokens=200)

    expected = [ask(index) for index in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(24))) == expected


def test_rows_leave_as_they_finish(tiny_model):
    generators = [structgen.Generator(tiny_model, schema, max_new_tokens=200) for schema in (Person, bool, Person)]
    jobs = [(index, lambda make, g=g: g.begin("hi", new_session=make)) for index, g in enumerate(generators)]
    order = [index for index, _ in run_batch(tiny_model, jobs, batch_size=3)]
    assert order[0] == 1 and sorted(order) == [0, 1, 2]


def test_batches_of_the_real_model(smollm2):
    reviews = ["I love it", "Awful thing", "Broken on arrival"]
    prompts = [f"Is this review positive or negative? '{review}'" for review in reviews]
    schema = Literal["positive", "negative"]
    assert structgen.batch(smollm2, prompts, schema) == [structgen.generate(smollm2, p, schema) for p in prompts]


def test_a_batch_that_nobody_waits_for_ends(tiny_model):
    """A cancelled batch stops after the pass under way."""
    passes = []

    def next_logits(ids):
        passes.append(len(ids))
        time.sleep(0.01)
        return np.zeros(tiny_model.vocabulary.size, np.float32)

    model = structgen.from_logits(next_logits, tiny_model.tokenizer, vocab_size=tiny_model.vocabulary.size)

    async def run():
        await asyncio.wait_for(structgen.abatch(model, ["a", "b"] * 50, Person, batch_size=2), 0.3)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(run())
    before = len(passes)
    time.sleep(0.2)
    assert before and len(passes) <= before + 2
