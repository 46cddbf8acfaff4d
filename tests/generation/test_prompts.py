"""Prompts: system texts, examples, descriptions of the schema, and errors of earlier attempts."""

import datetime
import json
from typing import Annotated, Literal

import pydantic
import pytest
from pydantic import BaseModel, Field, ValidationInfo, field_validator

import structgen
from structgen.generation import prompts
from structgen.generation.settings import Settings


class Person(BaseModel):
    name: str = Field(alias="Name", max_length=8)
    born: datetime.date


ANN = Person(Name="Ann", born="2000-01-02")


def constraint(model, schema=Person, **options):
    return structgen.compile(schema, model.vocabulary, **{"whitespace": "single", **options})


def asked(model, prompt, schema=Person, **options):
    return prompts.encode(model, prompt, constraint(model, schema), Settings(**options))[0]


def test_a_prompt_alone_stays_as_it_is(tiny_model):
    assert asked(tiny_model, "hi") == "hi"
    messages = [{"role": "user", "content": "hi"}]
    assert asked(tiny_model, messages) == messages


def test_examples_are_turns_of_the_chat(tiny_model):
    messages = asked(tiny_model, "Bob", examples=[("Ann", ANN), ({"text": "é"}, {"Name": "E", "born": "2001-01-01"})])
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2 + ["user"]
    assert messages[1]["content"] == '{"Name": "Ann", "born": "2000-01-02"}'
    assert messages[2]["content"] == '{"text": "é"}'
    assert messages[-1]["content"] == "Bob"


def test_examples_are_written_as_the_model_has_to(tiny_model):
    compact = constraint(tiny_model, whitespace="compact")
    (_, answer, _) = prompts.conversation("x", compact, Settings(examples=[("Ann", ANN)]), describe=False)
    assert answer["content"] == '{"Name":"Ann","born":"2000-01-02"}'
    colours = constraint(tiny_model, structgen.Grammar.regex("red|blue"))
    (_, answer, _) = prompts.conversation("x", colours, Settings(examples=[("sky", "blue")]), describe=False)
    assert answer["content"] == "blue"


def test_examples_that_do_not_fit_are_errors(tiny_model):
    with pytest.raises(ValueError, match=r"example 1 does not fit the schema: .* at byte 14; expected"):
        asked(tiny_model, "x", examples=[("Ann", ANN), ("Bob", {"Name": "Bob"})])
    with pytest.raises(ValueError, match=r"does not fit the schema: born is required; "):
        asked(tiny_model, "x", examples=[("Bob", {"Name": "Bob"})])
    with pytest.raises(ValueError, match="pairs"):
        Settings(examples=["Ann"])


def test_examples_of_formats_are_their_values(tiny_model):
    people = structgen.json_lines(Person)
    messages = asked(tiny_model, "x", people, examples=[("two", [ANN, ANN])])
    assert messages[1]["content"] == "\n".join(['{"Name": "Ann", "born": "2000-01-02"}'] * 2)
    moods = structgen.Grammar.choice({"good": True, "bad": False})
    assert asked(tiny_model, "x", moods, examples=[("Fine.", True)])[1]["content"] == "good"


def test_proper_tokenizations_take_examples_too(tiny_model):
    value = structgen.generate(
        tiny_model, "x", Person, tokenization="proper", examples=[("Ann", ANN)], max_new_tokens=200
    )
    assert isinstance(value, Person)


def test_system_texts_are_joined(tiny_model):
    messages = asked(tiny_model, [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}],
                     system="You extract people.", describe_schema=True)  # fmt: skip
    assert [message["role"] for message in messages] == ["system", "user"]
    first, schema, last = messages[0]["content"].split("\n\n")
    assert (first, last) == ("You extract people.", "Be kind.")
    assert json.loads(schema.partition("\n")[2]) == Person.model_json_schema()


def test_a_template_that_takes_the_schema_gets_it(tiny_model, monkeypatch):
    template = "{{ json_schema.title }}:" + tiny_model.chat_template
    monkeypatch.setattr(tiny_model.tokenizer, "chat_template", template)
    messages, ids = prompts.encode(tiny_model, "hi", constraint(tiny_model), Settings(describe_schema=True))
    assert messages == "hi"
    assert tiny_model.tokenizer.decode(ids).startswith("Person:<|user|>hi")


def test_a_model_without_a_chat_gets_text(tiny_model, monkeypatch):
    monkeypatch.setattr(tiny_model.tokenizer, "chat_template", None)
    text, ids = prompts.encode(
        tiny_model, "Bob", constraint(tiny_model), Settings(system="People.", examples=[("Ann", ANN)])
    )
    assert text == 'People.\n\nAnn\n\n{"Name": "Ann", "born": "2000-01-02"}\n\nBob'
    assert tiny_model.tokenizer.decode(ids) == text
    refused = []

    def once(value):
        if not refused:
            refused.append(value)
            raise ValueError("not this one")

    result = structgen.Generator(tiny_model, Literal["a", "b"], validate=once, max_retries=1).run("Which?")
    assert len(result.attempts) == 1


@pytest.mark.parametrize(
    ("prompt", "error", "says"),
    [
        (None, TypeError, "not NoneType"),
        (3, TypeError, "not int"),
        (["hi"], TypeError, r"list of messages with role and content, not \['hi'\]"),
        ([], ValueError, "no messages"),
        ([{"rolle": "user", "content": "hi"}], ValueError, "message 0 has no role"),
        ([{"role": "user", "content": "hi"}, {"role": "user"}], ValueError, "message 1 has no content"),
        ([{"role": "user", "content": 5}], ValueError, "message 0 has the content 5: a text, or a list of parts"),
        ([{"role": "user", "content": {"type": "text"}}], ValueError, "message 0 has the content {'type': 'text'}: a"),
        ("a \ud800", ValueError, r"half of a surrogate pair.*ud800' at character 2"),
        ([{"role": "user", "content": [{"type": "text", "text": "\udfff"}]}], ValueError, "half of a surrogate pair"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            structgen.ModelError,
            "a part of type 'image_url', but the model reads only text",
        ),
    ],
)
def test_what_is_no_prompt_is_named(tiny_model, prompt, error, says):
    with pytest.raises(error, match=says):
        structgen.generate(tiny_model, prompt, bool)
    assert isinstance(structgen.batch(tiny_model, ["hi", prompt], bool, return_exceptions=True)[1], error)


def test_a_system_message_of_parts_is_kept(tiny_model):
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": "hi"},
    ]
    found = prompts.conversation(messages, constraint(tiny_model), Settings(system="Answer."), describe=False)
    parts = [{"type": "text", "text": "Answer."}, {"type": "text", "text": "Be brief."}]
    assert found == [{"role": "system", "content": parts}, messages[1]]


def test_parts_are_joined_for_a_template_that_knows_none(tiny_model, monkeypatch):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    messages = [{"role": "system", "content": parts}, {"role": "user", "content": "hi"}]
    joined = [{"role": "system", "content": "x\na\nb"}, messages[1]]
    assert asked(tiny_model, messages, system="x") == joined
    knowing = "{% for m in messages %}{% for part in m.content %}{{ part['text'] }}{% endfor %}{% endfor %}"
    monkeypatch.setattr(tiny_model.tokenizer, "chat_template", knowing)
    assert asked(tiny_model, messages) == messages


def test_raw_prompts_have_no_messages(tiny_model):
    with pytest.raises(ValueError, match="raw prompts"):
        Settings(raw=True, system="x")
    with pytest.raises(TypeError, match="with raw=True the prompt is a text"):
        structgen.generate(tiny_model, [{"role": "user", "content": "hi"}], bool, raw=True)


class Even(BaseModel):
    number: Annotated[int, Field(ge=0, le=99)]

    @field_validator("number")
    @classmethod
    def is_a_multiple(cls, value: int, info: ValidationInfo) -> int:
        if value % (info.context or {}).get("of", 2):
            raise ValueError("must be even, for example 4")
        return value


def test_errors_go_back_as_messages(tiny_model):
    try:
        Even(number=3)
    except pydantic.ValidationError as error:
        messages = prompts.with_errors("Pick one.", '{"number": 3}', error, as_text=False)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["content"] == '{"number": 3}'
    assert "- number: Value error, must be even" in messages[2]["content"]
    assert "errors.pydantic.dev" not in messages[2]["content"]


def test_retries_keep_all_attempts(tiny_model):
    def never(value):
        raise ValueError(f"{value} is wrong")

    with pytest.raises(structgen.ValidationFailedError, match="3 answers") as caught:
        structgen.generate(tiny_model, "hi", Literal["a", "b"], validate=never, max_retries=2)
    assert len(caught.value.attempts) == 3
    assert all(text in ('"a"', '"b"') and "is wrong" in str(error) for text, error in caught.value.attempts)
    with pytest.raises(structgen.ValidationFailedError, match="max_retries"):
        structgen.generate(tiny_model, "hi", Literal["a", "b"], validate=never)


def test_usage_counts_all_attempts(tiny_model):
    refused = []

    def once(value):
        if not refused:
            refused.append(value)
            raise AssertionError("again")
        return "changed"

    generator = structgen.Generator(tiny_model, Literal["a", "b"], validate=once, max_retries=1)
    result = generator.run("hi")
    assert result.value == "changed"
    assert [type(error) for _, error in result.attempts] == [AssertionError]
    assert result.usage.prompt_tokens > 2 * len(tiny_model.encode_prompt("hi"))
    assert result.usage.completion_tokens > len(result.token_ids)


def test_the_context_reaches_validators(tiny_model):
    generator = structgen.Generator(tiny_model, Even, temperature=1.0, context={"of": 1})
    assert {generator("hi", seed=seed).number % 2 for seed in range(12)} == {0, 1}


def test_other_errors_of_validate_are_the_callers(tiny_model):
    def broken(value):
        raise KeyError("bug")

    with pytest.raises(KeyError):
        structgen.generate(tiny_model, "hi", Literal["a", "b"], validate=broken, max_retries=3)


def test_the_real_model_mends_its_answer(smollm2):
    generator = structgen.Generator(
        smollm2, Even, max_retries=3, describe_schema=True, examples=[("one", Even(number=2))]
    )
    result = generator.run("Give the number 7.")
    assert result.value.number % 2 == 0
