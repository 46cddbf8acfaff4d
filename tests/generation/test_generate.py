"""`generate` and `Generator` on a tiny model with random weights, and on SmolLM2 where it is installed."""

import asyncio
import datetime
import enum
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

import jsonschema
import numpy as np
import pydantic
import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

import structgen
from structgen.generation.partial_json import partial_value


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str = Field(max_length=12)
    number: int | None = Field(default=None, ge=1, le=999)


class Person(BaseModel):
    name: str = Field(max_length=10)
    age: int = Field(ge=0, le=120)
    born: datetime.date
    colours: list[Colour] = Field(max_length=3)
    address: Address
    score: float = Field(ge=0, le=1)
    boss: Literal["Ann", "Bob"] | None


@dataclass
class Switch:
    on: bool
    level: Literal[1, 2]


class Pair(NamedTuple):
    left: bool
    right: Literal["a", "b"]


class Options(TypedDict):
    fast: bool
    level: Literal[1, 2, 3]


SHORT = [
    bool,
    Colour,
    Literal["yes", "no", 3],
    Pair,
    Options,
    Switch,
    Address,
    tuple[bool, Colour],
    datetime.date,
    datetime.time,
    uuid.UUID,
    bool | None,
]


@pytest.mark.parametrize("schema", SHORT, ids=str)
@pytest.mark.parametrize("whitespace", ["single", "compact", "any"])
def test_values_are_of_the_type_at_any_temperature(tiny_model, schema, whitespace):
    adapter = pydantic.TypeAdapter(schema)
    for seed, temperature in enumerate([0.0, 0.7, 1.0, 100.0]):
        value = structgen.generate(
            tiny_model, "hi", schema, whitespace=whitespace, temperature=temperature, seed=seed, max_new_tokens=400
        )
        assert adapter.validate_python(value) == value


def test_a_nested_model_over_many_seeds(tiny_model):
    generator = structgen.Generator(tiny_model, Person, temperature=1.5, max_new_tokens=450)
    for seed in range(15):
        result = generator.run("hi", seed=seed)
        assert isinstance(result.value, Person)
        assert Person.model_validate_json(result.text) == result.value
        assert json.dumps(json.loads(result.text), ensure_ascii=False).count(", ") == result.text.count(", ")


def test_a_json_schema_gives_json_data(tiny_model):
    schema = {"type": "array", "items": {"enum": [1, "b", None]}, "minItems": 2, "maxItems": 4}
    value = structgen.generate(tiny_model, "hi", schema, temperature=1.0, seed=3)
    jsonschema.validate(value, schema)


def test_grammars_give_text(tiny_model):
    number = structgen.Grammar.regex(r"\d{3}-\d{4}")
    text = structgen.generate(tiny_model, "hi", number)
    assert text.replace("-", "").isdigit() and len(text) == 8
    moves = structgen.Grammar.kbnf('start ::= "go " way | "stay"; way ::= "north" | "south";')
    assert structgen.generate(tiny_model, "hi", moves) in ("go north", "go south", "stay")


def test_usage_adds_up(tiny_model):
    result = structgen.Generator(tiny_model, Address).run("hi", max_new_tokens=200)
    usage = result.usage
    assert usage.prompt_tokens == len(tiny_model.encode_prompt("hi"))
    assert usage.completion_tokens == len(result.token_ids)
    assert tiny_model.tokenizer.decode(list(result.token_ids)) == result.text
    # Each token was sampled or forced; every sampled one but held ones cost a pass, the end token too.
    assert 0 < usage.model_calls <= usage.completion_tokens - usage.forced_tokens + 1
    assert usage.forced_tokens >= 4
    assert usage.seconds > 0
    assert result.finish_reason == "stop"


def test_forced_answers_cost_no_pass(tiny_model):
    result = structgen.Generator(tiny_model, Literal["only this"]).run("hi")
    assert (result.value, result.usage.model_calls) == ("only this", 0)


def test_greedy_runs_repeat_and_seeds_do_too(tiny_model):
    generator = structgen.Generator(tiny_model, Address, max_new_tokens=200)
    assert generator.run("hi").text == generator.run("hi").text
    sampled = [generator.run("hi", temperature=1.0, seed=seed).text for seed in (1, 1, 2, 3, 4)]
    assert sampled[0] == sampled[1]
    assert len(set(sampled)) > 1


def test_prompts_may_be_messages_or_raw(tiny_model):
    generator = structgen.Generator(tiny_model, bool)
    text = generator.run("hi").usage.prompt_tokens
    assert generator.run([{"role": "user", "content": "hi"}]).usage.prompt_tokens == text
    assert generator.run("hi", raw=True).usage.prompt_tokens < text


def test_a_compiled_schema_can_be_given(tiny_model):
    compiled = structgen.compile(Colour, tiny_model.vocabulary)
    assert isinstance(structgen.generate(tiny_model, "hi", compiled), Colour)
    other = structgen.compile(Colour, structgen.Vocabulary.from_bytes({i: bytes([i]) for i in range(256)}))
    with pytest.raises(ValueError, match="another vocabulary"):
        structgen.generate(tiny_model, "hi", other)


def test_an_answer_that_is_cut_off(tiny_model):
    class Wordy(BaseModel):
        kind: Literal["wordy"]
        text: str = Field(min_length=400)

    with pytest.raises(structgen.IncompleteOutputError) as caught:
        structgen.generate(tiny_model, "hi", Wordy, max_new_tokens=30, on_budget="error")
    assert caught.value.text.startswith('{"kind": "wordy", "text": "')
    assert caught.value.partial == {"kind": "wordy"}
    assert "max_new_tokens" in caught.value.hint


def test_a_budget_that_ends_at_a_whole_text(tiny_model):
    result = structgen.Generator(tiny_model, structgen.Grammar.regex("[a-z]+")).run("hi", max_new_tokens=1)
    assert result.text.isalpha()
    assert result.finish_reason in ("length", "stop")


def test_validators_in_python_have_the_last_word(tiny_model):
    class Even(BaseModel):
        number: int = Field(ge=1, le=9)

        @pydantic.field_validator("number")
        @classmethod
        def refuse(cls, value: int) -> int:
            raise ValueError("not to my taste")

    with pytest.raises(structgen.ValidationFailedError, match="not to my taste") as caught:
        structgen.generate(tiny_model, "hi", Even)
    ((text, error),) = caught.value.attempts
    assert json.loads(text)["number"] in range(1, 10)
    assert isinstance(error, pydantic.ValidationError)
    assert caught.value.reasons == ("number: not to my taste",)
    assert str(caught.value).startswith("number: not to my taste\nthe answer fits the schema, but")


def test_stop_ends_where_the_grammar_allows(tiny_model):
    letters = structgen.Grammar.regex("[a-z]{1,300}")
    result = structgen.Generator(tiny_model, letters, temperature=5.0, stop="e").run("hi", seed=2)
    assert result.text.endswith("e") and result.text.count("e") == 1
    assert result.finish_reason == "stop"


def test_prompts_longer_than_the_context(tiny_model):
    with pytest.raises(structgen.GenerationError, match="context"):
        structgen.generate(tiny_model, "hi " * 3000, bool)
    wordy = structgen.Grammar.regex("[a-z]{20000}")
    with pytest.raises(structgen.IncompleteOutputError) as caught:
        structgen.generate(tiny_model, "hi", wordy, max_new_tokens=10_000)
    assert len(caught.value.text) < 20000


def test_a_prompt_without_tokens_is_refused_and_ends_no_other_run(tiny_model):
    """It would be no row of a pass that others read in."""
    with pytest.raises(ValueError, match="the prompt has no tokens"):
        structgen.generate(tiny_model, "", bool, raw=True)
    answers = structgen.batch(tiny_model, ["hi", "", "hello"], bool, raw=True, return_exceptions=True)
    assert [type(answer) for answer in answers] == [bool, ValueError, bool]


@pytest.mark.parametrize("prompt", ["t", "th", " ", "hello the"])
def test_proper_tokenization_leaves_a_token_of_the_prompt(tiny_hf_model, own_tokenizer, prompt):
    """All tokens of a short one might be merged with the answer; a model has to read at least one."""
    model = structgen.from_transformers(tiny_hf_model, own_tokenizer)
    letters = structgen.compile(structgen.Grammar.regex("[a-z ]{5,20}"), model.vocabulary, tokenization="proper")
    text = structgen.generate(model, prompt, letters, raw=True)
    found = [
        structgen.batch(model, ["hello", prompt], letters, raw=True)[1],
        asyncio.run(structgen.agenerate(model, prompt, letters, raw=True)),
        structgen.trace(model, prompt, letters, raw=True).value,
        structgen.Generator(model, letters, raw=True).run(prompt, logprobs=True).text,
    ]
    assert found == [text] * 4
    assert structgen.score(model, prompt, ["good the"], letters, raw=True)[0].logprob < 0
    assert structgen.check(letters.given, structgen.generate(model, prompt, letters, raw=True, num_beams=2)).fits


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_new_tokens": 0}, ValueError),
        ({"max_new_tokens": 2.5}, ValueError),
        ({"temperature": -1}, ValueError),
        ({"top_p": 0.5}, ValueError),
        ({"stop": ""}, ValueError),
        ({"stop": [3]}, ValueError),
        ({"stop": None}, ValueError),
        ({"system": ["be brief"]}, TypeError),
        ({"examples": None}, TypeError),
        ({"reasoning": ["qwen"]}, TypeError),
        ({"num_beams": None}, ValueError),
        ({"nonsense": 1}, TypeError),
        ({"whitespace": "none"}, ValueError),
    ],
)
def test_wrong_options_are_refused_at_once(tiny_model, options, error):
    with pytest.raises(error, match=next(iter(options))):
        structgen.Generator(tiny_model, bool, **options)


def test_misspelled_options_are_told_what_was_meant(tiny_model):
    with pytest.raises(TypeError, match="no option 'temprature': did you mean 'temperature'"):
        structgen.generate(tiny_model, "hi", bool, temprature=0.5)
    for option, instead in (("stream", "structgen.stream"), ("n", "structgen.sample"), ("tools", "structgen.call")):
        with pytest.raises(TypeError, match=f"no option '{option}' here: {instead}"):
            structgen.generate(tiny_model, "hi", bool, **{option: True})
    generator = structgen.Generator(tiny_model, bool)
    with pytest.raises(TypeError, match="no option 'whitespace'"):  # of the compiled schema, not of a run
        generator.run("hi", whitespace="compact")


def test_one_generator_many_threads(tiny_model):
    generator = structgen.Generator(tiny_model, Address, max_new_tokens=200)
    prompts = [f"prompt {index}" for index in range(12)]
    alone = [generator.run(prompt).text for prompt in prompts]
    with ThreadPoolExecutor(6) as pool:
        assert [result.text for result in pool.map(generator.run, prompts)] == alone


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("{", {}),
        ('{"a', {}),
        ('{"a": 12', {}),
        ('{"a": 12, ', {"a": 12}),
        ('{"a": -', {}),
        ('{"a": 1.5e', {}),
        ('{"a": tru', {}),
        ('{"a": true', {"a": True}),
        ('{"a": "x', {}),
        ('{"a": "x12', {}),
        ('{"a": "x", "b": [1, 2', {"a": "x", "b": [1]}),
        ('{"a": "\\u00', {}),
        ("12", None),
        ('"ab', None),
        ("[" * 100_000, None),
    ],
)
def test_partial_json_keeps_what_was_complete(text, value):
    assert partial_value(text) == value


# -- SmolLM2 ----------------------------------------------------------------------------------------------------------


def test_smollm2_extracts_a_person(smollm2):
    class Patient(BaseModel):
        name: str = Field(max_length=40)
        age: int = Field(ge=0, le=120)
        city: str = Field(max_length=40)

    prompt = "Extract the person as JSON with name, age, city. Text: Alice Smith is a 34 year old nurse from Lyon."
    result = structgen.Generator(smollm2, Patient).run(prompt)
    assert result.value == Patient(name="Alice Smith", age=34, city="Lyon")
    assert result.usage.model_calls < result.usage.completion_tokens // 2
    assert result.text == asked_token_by_token(smollm2, Patient, prompt)


def asked_token_by_token(model, schema, prompt):
    """Return the text of transformers' own loop under the same masks, which forces no tokens."""
    import torch

    ids = torch.tensor([model.encode_prompt(prompt)])
    processor = structgen.compile(schema, model.vocabulary, whitespace="single").logits_processor()
    out = model.hf_model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=64, logits_processor=[processor]
    )
    return model.tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True)


def test_smollm2_is_loaded_once(smollm2):
    assert structgen.load("smollm2") is smollm2


def test_smollm2_decimals_keep_their_bounds(smollm2):
    """The model chooses the amount, but the bounds of the type hold."""

    class Price(BaseModel):
        amount: Decimal = Field(gt=0, max_digits=7, decimal_places=2)
        currency: Literal["EUR", "USD"]

    result = structgen.Generator(smollm2, Price).run("Extract as JSON: The red kettle costs 39.90 EUR.")
    assert result.value == Price.model_validate_json(result.text)
    assert 0 < result.value.amount < 10**5
    assert result.value.amount == round(result.value.amount, 2)


def test_what_is_no_model_is_named():
    for model in (None, "smollm2", object()):
        with pytest.raises(TypeError, match=r"^expected a model, as from structgen\.load"):
            structgen.generate(model, "x", bool)


def test_logits_that_are_no_numbers_are_an_error(tiny_model, tiny_tokenizer):
    size = tiny_model.vocabulary.size
    model = structgen.from_logits(lambda ids: np.full(size, np.nan, np.float32), tiny_tokenizer, vocab_size=size)
    with pytest.raises(structgen.ModelError, match="NaN"):
        structgen.generate(model, "x", bool)


def test_validators_that_would_be_misread_are_errors(tiny_model):
    async def check(value):
        return value

    with pytest.raises(TypeError, match="not awaited"):
        structgen.generate(tiny_model, "x", Address, validate=check, max_new_tokens=100)
    with pytest.raises(TypeError, match="to refuse"):
        structgen.generate(tiny_model, "x", Address, validate=lambda value: True, max_new_tokens=100)


def test_a_function_is_no_schema(tiny_model):
    def delete(path: Literal["/"]) -> str:
        raise AssertionError("called")

    with pytest.raises(structgen.UnsupportedSchemaError, match="delete is a function"):
        structgen.generate(tiny_model, "x", delete)


def test_one_prompt_is_no_batch(tiny_model):
    with pytest.raises(TypeError, match="not one"):
        structgen.batch(tiny_model, "hello", bool)


def test_a_cancelled_run_stops_the_model(tiny_model, tiny_tokenizer):
    size, calls, cancelled = tiny_model.vocabulary.size, [], threading.Event()

    async def run():
        def logits(ids):
            calls.append(len(ids))
            if len(calls) == 10:
                loop.call_soon_threadsafe(task.cancel)
                assert cancelled.wait(60)
            return np.zeros(size, np.float32)

        loop = asyncio.get_running_loop()
        model = structgen.from_logits(logits, tiny_tokenizer, vocab_size=size)
        task = asyncio.create_task(structgen.agenerate(model, "x", list[int], max_new_tokens=400))
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    asyncio.run(run())  # which waits for the thread
    assert len(calls) == 10
