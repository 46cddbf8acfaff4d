"""`stream` and `astream` on a tiny model with random weights: the snapshots and the final value."""

import asyncio
import datetime
import enum
import itertools
from typing import Annotated, Literal

import numpy as np
import pydantic
import pytest
from pydantic import AfterValidator, BaseModel, Field, field_validator

import structgen


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = Field(max_length=8)


class Person(BaseModel):
    name: str = Field(max_length=12)
    age: int = Field(ge=0, le=120)
    born: datetime.date
    colours: list[Colour] = Field(max_length=3)
    pet: Cat | Dog
    grid: list[Annotated[list[bool], Field(max_length=2)]] = Field(max_length=2)
    note: Annotated[str, Field(max_length=6)] | None


def grows_into(before, after):
    """Return whether a snapshot of a person can be followed by another one."""
    for name in Person.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if old is None or old == new:
            continue
        if name in ("name", "note"):
            assert new.startswith(old)
        elif name in ("colours", "grid"):
            assert len(old) <= len(new)
        else:
            assert name == "pet" and type(old) is type(new)
    return True


@pytest.mark.parametrize("seed", range(8))
def test_snapshots_grow_into_the_value(tiny_model, seed):
    options = {"temperature": 1.2, "seed": seed, "max_new_tokens": 450}
    with structgen.stream(tiny_model, "hi", Person, **options) as s:
        parts = list(s)
        value = s.final()
    assert parts[-1] is value
    assert value == structgen.generate(tiny_model, "hi", Person, **options)
    assert all(type(part) is Person for part in parts)
    assert all(itertools.starmap(grows_into, itertools.pairwise(parts)))
    assert all(a != b for a, b in itertools.pairwise(parts[:-1]))  # the last is the validated one, whatever came before
    assert {part.age for part in parts} == {None, value.age}  # no digits of a number that goes on
    assert {part.born for part in parts} == {None, value.born}
    assert {part.name for part in parts if part.name} <= {value.name[:end] for end in range(1, 13)}


SUM = structgen.Grammar.kbnf(
    """
    start ::= term '+' term '+' term '\\n' term {('+' | '\\n') term};
    term  ::= #'[0-9]{1,2}' | '(' start ')' | '"é"';
    """,
    eager=False,
)


class Sums(BaseModel):
    one: Annotated[str, SUM]
    more: list[Annotated[str, SUM] | None] = Field(min_length=1, max_length=2)
    word: Annotated[str, structgen.Grammar.choice(["yes", "no"])]
    code: Annotated[str, Field(pattern="^[a-z]{6,8}$")]


@pytest.mark.parametrize("seed", range(4))
def test_a_string_with_a_grammar_grows(tiny_model, seed):
    with structgen.stream(tiny_model, "hi", Sums, temperature=1.0, seed=seed, max_new_tokens=160) as s:
        parts = list(s)
        value = s.final()
    assert all(a != b for a, b in itertools.pairwise(parts[:-1]))
    for name in ("one", "word", "code"):
        assert all(getattr(value, name).startswith(getattr(part, name) or "") for part in parts)
    assert len({part.one for part in parts}) > 3
    assert {part.word for part in parts} == {None, value.word}  # known texts, and patterns, appear as a whole
    assert {part.code for part in parts} == {None, value.code}


def test_a_number_is_complete_when_no_digit_may_follow(tiny_model):
    schema = {"type": "object", "properties": {"n": {"enum": [12, 12.5]}, "m": {"maximum": 3, "minimum": 3}}, 
              "required": ["n", "m"], "additionalProperties": False}  # fmt: skip
    with structgen.stream(tiny_model, "hi", schema, temperature=1.0, seed=1) as s:
        parts = list(s)
    assert all(part.get("n", parts[-1]["n"]) == parts[-1]["n"] for part in parts)


@pytest.mark.parametrize("seed", range(4))
def test_json_lines_are_a_list_that_grows(tiny_model, seed):
    schema = structgen.json_lines(Cat | Annotated[int, Field(ge=0, le=999)], max_items=4)
    options = {"temperature": 1.2, "seed": seed}
    with structgen.stream(tiny_model, "hi", schema, **options) as s:
        items = list(s.items())
        value = s.final()
    assert items == value == structgen.generate(tiny_model, "hi", schema, **options)
    with structgen.stream(tiny_model, "hi", schema, **options) as s:
        parts = list(s)
    assert parts[-1] == value
    assert all(len(a) <= len(b) for a, b in itertools.pairwise(parts))
    assert {len(part) for part in parts} == set(range(len(value) + 1))
    assert all(part[index] == value[index] for part in parts for index in range(len(part) - 1))


def writes(text, tiny_model):
    """Return a model that writes one text, and then an end token."""
    vocabulary = tiny_model.vocabulary
    spelled = {vocabulary.token_bytes(token): token for token in range(vocabulary.size)}
    wanted = [*(spelled[bytes([byte])] for byte in text.encode()), vocabulary.eos_token_ids[0]]
    prompt = []

    def next_logits(ids):
        prompt.append(len(ids))
        logits = [0.0] * vocabulary.size
        logits[wanted[min(len(ids) - prompt[0], len(wanted) - 1)]] = 9.0
        return logits

    return structgen.from_logits(next_logits, tiny_model.tokenizer, vocab_size=vocabulary.size)


@pytest.mark.parametrize(("text", "values"), [("", []), ("1", [1]), ("1\n", [1]), ("1\n23", [1, 23])])
def test_the_last_line_may_end_or_not(tiny_model, text, values):
    with structgen.stream(writes(text, tiny_model), "hi", structgen.json_lines(int)) as s:
        assert list(s.items()) == values
    assert s.text == text
    with structgen.stream(writes(text, tiny_model), "hi", structgen.json_lines(int)) as s:
        assert list(s)[-1] == s.final() == values


def test_what_is_complete_of_lines_is_told_when_the_budget_ends(tiny_model):
    model = writes('["a","b"]\n["c","', tiny_model)
    with pytest.raises(structgen.IncompleteOutputError) as caught:
        structgen.generate(
            model, "hi", structgen.json_lines(list[str]), max_new_tokens=14, whitespace="compact", on_budget="error"
        )
    assert caught.value.partial == [["a", "b"], ["c"]]


def test_texts_of_a_grammar_grow(tiny_model):
    with structgen.stream(tiny_model, "hi", structgen.Grammar.regex("(ab|cd){6}"), temperature=1.0, seed=2) as s:
        parts = list(s)
        assert s.text == s.final() == parts[-1]
    assert all(after.startswith(before) and before for before, after in itertools.pairwise(parts))
    assert len(parts) > 3


def test_items_come_one_by_one(tiny_model):
    schema = Annotated[list[Cat | Dog], Field(min_length=3, max_length=3)]
    seen_at = []
    with structgen.stream(tiny_model, "hi", schema, temperature=1.0, seed=1, max_new_tokens=400) as s:
        items = []
        for item in s.items():
            items.append(item)
            seen_at.append(len(s.text))
        assert s.final() == items
    assert seen_at == sorted(seen_at) and len(set(seen_at)) == 3


def test_items_of_a_field(tiny_model):
    options = {"temperature": 1.0, "seed": 5, "max_new_tokens": 450}
    with structgen.stream(tiny_model, "hi", Person, **options) as s:
        assert list(s.items("colours")) == s.final().colours
    with structgen.stream(tiny_model, "hi", Person, **options) as s:
        for path in (["name"], ["nobody"], ["pet", "name"], ["colours", "x"], []):
            place = r"'\.'".join(path) if path else "root"
            with pytest.raises(TypeError, match=f"^no value of Person has a list at .*{place}"):
                s.items(*path)


class Choices(BaseModel):
    flags: Annotated[list[bool], Field(max_length=3)] | None
    groups: dict[str, Annotated[list[Colour], Field(max_length=2)]] = Field(max_length=0)


class More(pydantic.RootModel[Choices | list[Colour]]):
    pass


@pytest.mark.parametrize("seed", range(6))
def test_items_of_what_may_be_a_list(tiny_model, seed):
    options = {"temperature": 1.0, "seed": seed, "max_new_tokens": 400}
    with structgen.stream(tiny_model, "hi", More, **options) as s:
        assert list(s.items("groups", "a")) == []
        root = s.final().root
        assert list(s.items("flags")) == (getattr(root, "flags", None) or [])
        assert list(s.items()) == (root if isinstance(root, list) else [])
        with pytest.raises(TypeError, match="no value of More has a list at 'groups'"):
            s.items("groups")


PLACES = {
    "$ref": "#/$defs/place",
    "$defs": {
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3, "minItems": 1},
        "place": {
            "type": "object",
            "properties": {"name": {"enum": ["x"]}, "tags": {"$ref": "#/$defs/tags"}},
            "required": ["name", "tags"],
            "unevaluatedProperties": False,
        },
    },
}


@pytest.mark.filterwarnings("ignore:unevaluatedProperties is no keyword of draft7")
@pytest.mark.parametrize("draft", ["2020-12", "draft7"])
def test_items_of_a_json_schema(tiny_model, draft):
    with structgen.stream(tiny_model, "hi", PLACES, draft=draft, temperature=1.0) as s:
        for path in ([], ["name"], ["tags", "name"], *([["nobody"]] if draft == "2020-12" else [])):
            with pytest.raises(TypeError, match="no value of the schema has a list at"):
                s.items(*path)
        items = list(s.items("tags"))
        assert items and items == s.final()["tags"]
    with structgen.stream(tiny_model, "hi", True, max_new_tokens=3) as s:
        assert list(itertools.islice(s.items("anything"), 0)) == []
    with (
        structgen.stream(tiny_model, "hi", structgen.json_lines({"type": "array"})) as s,
        pytest.raises(TypeError, match="'name'"),
    ):
        s.items("name")


@pytest.mark.parametrize("retries", [1, 3])
def test_items_are_those_of_the_answer_that_stands(tiny_model, retries):
    """Elements of refused answers are not yielded, and an element that its own validator refuses causes a retry."""
    refusals = []

    class Digit(BaseModel):
        number: int = Field(ge=0, le=9)

        @field_validator("number")
        @classmethod
        def is_accepted(cls, value):
            if len(refusals) < 1:
                refusals.append(value)
                raise ValueError("not this one")
            return value

    options = {"temperature": 1.0, "seed": 1, "max_new_tokens": 200}
    schema = Annotated[list[Digit], Field(min_length=2, max_length=4)]
    with structgen.stream(tiny_model, "hi", schema, max_retries=retries, **options) as s:
        items = list(s.items())
        assert items == s.final() and len(s.result().attempts) == 1 == len(refusals)


def test_the_last_attempts_items_come_one_by_one(tiny_model):
    with structgen.stream(tiny_model, "hi", Annotated[list[Colour], Field(min_length=3, max_length=3)]) as s:
        lengths = [len(s.text) for _ in s.items()]
    assert lengths == sorted(set(lengths))


def test_a_refused_stream_stays_refused(tiny_model):
    calls = []

    def never(value):
        calls.append(value)
        raise ValueError("never")

    with structgen.stream(tiny_model, "hi", Colour, validate=never) as s:
        errors = []
        for ask in (s.final, s.result, lambda: list(s), lambda: list(s.items())):
            with pytest.raises((structgen.ValidationFailedError, TypeError)) as caught:
                ask()
            errors.append(caught.value)
    assert len(calls) == 1
    assert errors[0] is errors[1] is errors[2] and len(errors[0].attempts) == 1


def test_items_are_validated(tiny_model):
    class Even(BaseModel):
        number: int = Field(ge=0, le=99)

        @field_validator("number")
        @classmethod
        def is_never_right(cls, value):
            raise ValueError("never")

    with (
        structgen.stream(tiny_model, "hi", Annotated[list[Even], Field(min_length=2, max_length=2)]) as s,
        pytest.raises(structgen.ValidationFailedError, match="never"),
    ):
        list(s.items())


def test_a_budget_that_ends_too_early_is_an_error(tiny_model):
    with structgen.stream(tiny_model, "hi", Person, max_new_tokens=20, on_budget="error") as s:
        with pytest.raises(structgen.IncompleteOutputError) as caught:
            list(s)
        assert s.text == caught.value.text
        with pytest.raises(structgen.IncompleteOutputError):
            s.final()


def test_a_refused_answer_begins_anew(tiny_model):
    class Picky(BaseModel):
        word: str = Field(max_length=5)

    refused = []

    def picky(value):
        if not refused:
            refused.append(value)
            raise ValueError("again, please")

    with structgen.stream(tiny_model, "hi", Picky, max_retries=1, validate=picky) as s:
        attempts = [(s.attempt, part) for part in s]
        result = s.result()
    assert [attempt for attempt, _ in attempts] == sorted(attempt for attempt, _ in attempts)
    assert {attempt for attempt, _ in attempts} == {0, 1}
    assert [text for text, _ in result.attempts] == [refused[0].model_dump_json().replace(":", ": ")]
    assert attempts[-1][1] is result.value


def test_a_closed_stream_goes_no_further(tiny_model):
    with structgen.stream(tiny_model, "hi", Person, max_new_tokens=450) as s:
        next(iter(s))
    with pytest.raises(structgen.GenerationError, match="closed"):
        s.final()
    assert s.text


def test_final_alone_runs_to_the_end(tiny_model):
    with structgen.stream(tiny_model, "hi", Colour) as s:
        assert isinstance(s.final(), Colour)
    assert s.final() is s.result().value


def test_astream(tiny_model):
    async def run():
        async with structgen.astream(tiny_model, "hi", Dog, temperature=1.0, seed=1) as s:
            parts = [part async for part in s]
            assert await s.final() is parts[-1]
            assert s.text == (await s.result()).text
        async with structgen.astream(tiny_model, "hi", list[Colour], temperature=1.0, seed=4) as s:
            assert [item async for item in s.items()] == await s.final()
        return parts

    assert type(asyncio.run(run())[-1]) is Dog


def test_many_awaited_at_once(tiny_model):
    async def run():
        return await asyncio.gather(
            *(structgen.agenerate(tiny_model, "hi", Dog, temperature=1.0, seed=seed) for seed in range(6))
        )

    expected = [structgen.generate(tiny_model, "hi", Dog, temperature=1.0, seed=seed) for seed in range(6)]
    assert asyncio.run(run()) == expected


def test_streams_of_the_real_model(smollm2):
    prompt = "Extract the person as JSON with name and age. Text: Alice Smith is a 34 year old nurse."

    class Named(BaseModel):
        name: str = Field(max_length=40)
        age: int = Field(ge=0, le=120)

    with structgen.stream(smollm2, prompt, Named) as s:
        parts = [(part.name, part.age) for part in s]
    assert parts[0] == (None, None)
    assert parts[-1] == ("Alice Smith", 34)
    assert ("Alice", None) in parts


def test_an_async_stream_that_is_not_open_says_so(tiny_model):
    async def iterate():
        async for _ in structgen.astream(tiny_model, "x", bool):
            pass

    with pytest.raises(structgen.GenerationError, match="async with"):
        asyncio.run(iterate())


def written(tiny_tokenizer, text):
    """Return a model that writes a text, token by token, and again in each attempt."""
    ids = tiny_tokenizer.encode(text)
    size = len(tiny_tokenizer)

    def logits(before):
        row = np.zeros(size, np.float32)
        known = next((count for count in range(len(ids), 0, -1) if before[-count:] == ids[:count]), 0)
        row[ids[known] if known < len(ids) else tiny_tokenizer.eos_token_id] = 9.0
        return row

    return structgen.from_logits(logits, tiny_tokenizer)


def test_a_key_that_a_validator_refuses_is_refused_at_the_end(tiny_tokenizer):
    def refuse(value):
        raise ValueError("not this key")

    picky = dict[Annotated[str, AfterValidator(refuse)], int]
    model = written(tiny_tokenizer, '{"a": 1, "b": 2, "c": 3}')
    stream = structgen.stream(model, "hi", picky, max_retries=1)
    with pytest.raises(structgen.ValidationFailedError) as refused:
        list(stream)
    assert [text for text, _ in refused.value.attempts] == ['{"a": 1, "b": 2, "c": 3}'] * 2


@pytest.mark.parametrize("depth", [50, 210, 900])
def test_a_text_that_is_nested_too_deeply_has_the_error_of_generate(tiny_tokenizer, depth):
    nested = {"$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}, "$ref": "#/$defs/list"}
    model = written(tiny_tokenizer, "[" * depth + "]" * depth)
    options = {"max_new_tokens": 2_000, "max_repeats": None, "on_budget": "error"}
    stream = structgen.stream(model, "hi", nested, **options)
    if depth == 50:
        assert list(stream)[-1] == structgen.generate(model, "hi", nested, **options)
    else:
        with pytest.raises(structgen.LimitExceededError, match="nested too deeply to be validated"):
            list(stream)
