"""Models behind a server: the official client, and a real HTTP server on loopback that answers with a tiny model."""

import asyncio
import datetime
import enum
import json
from itertools import pairwise
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field, ValidationInfo, field_validator
from support.chat_server import serve

import structgen
from structgen.models.servers.strict_schemas import ANTHROPIC, OPENAI, strict_schema
from structgen.schema import resolve

openai = pytest.importorskip("openai", reason="the test group has it")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Person(BaseModel):
    name: str = Field(max_length=8)
    age: int = Field(ge=0, le=120)
    born: datetime.date
    colours: list[Colour] = Field(max_length=2)


@pytest.fixture
def server(tiny_model):
    with serve(tiny_model) as server:
        yield server


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="-", max_retries=0) as client:
        yield client


@pytest.fixture
def model(client):
    return structgen.from_openai(client, "tiny")


@pytest.mark.parametrize("schema", [Colour, list[Colour], int | None, Literal["a", 3], dict[str, Colour]])
def test_values_of_types(model, server, schema):
    result = structgen.Generator(model, schema, temperature=1.0, max_new_tokens=77).run("hi", seed=3)
    assert structgen.schema.resolve(schema).parse(result.text) == result.value
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (7, 5)
    (request,) = server.requests
    assert request["messages"] == [{"role": "user", "content": "hi"}]
    assert (request["temperature"], request["seed"], request["max_completion_tokens"]) == (1.0, 3, 77)
    assert request["response_format"]["json_schema"]["schema"]["type"] == "object"


def test_penalties_are_the_servers(model, server):
    options = {"frequency_penalty": 0.5, "presence_penalty": -0.25, "logit_bias": {7: 2.5}}
    structgen.generate(model, "hi", Colour, **options)
    structgen.generate(model, "hi", Colour)
    first, second = server.requests
    assert {name: first[name] for name in options} == {**options, "logit_bias": {"7": 2.5}}
    assert not options.keys() & second.keys()
    with pytest.raises(structgen.ModelError, match="repetition_penalty"):
        structgen.generate(model, "hi", Colour, repetition_penalty=1.2)


def test_streams(model, server):
    server.schema = Person
    with structgen.stream(model, "hi", Person, temperature=1.0, seed=1) as s:
        parts = list(s)
        assert s.final() == parts[-1]
    assert all(type(part) is Person for part in parts)
    assert {part.age for part in parts} == {None, parts[-1].age}
    assert {part.born for part in parts} == {None, parts[-1].born}
    assert len(parts) > 4


@pytest.mark.parametrize("schema", [list[Colour], Annotated[list[Colour], Field(max_length=3)], str, int])
def test_streams_of_what_is_no_object(model, server, schema):
    texts = {str: '{"value": "a}b}"}', int: '{ "value" : 123 } '}
    server.answers += [texts[schema]] if schema in texts else []
    with structgen.stream(model, "hi", schema, temperature=1.0, seed=2) as s:
        parts = list(s)
    assert parts[-1] == s.final() == structgen.schema.resolve(schema).parse(s.text)
    if schema is str:
        assert parts[-1] == "a}b}"
    if schema is int:
        assert parts == [123]


def test_items_of_a_stream(model, server):
    server.answers.append('{"value": [{"n": 1}, {"n": 22}]}')
    schema = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    with structgen.stream(model, "hi", schema) as s:
        assert list(s.items()) == [{"n": 1}, {"n": 22}] == s.final()


def test_a_stream_that_is_closed_ends_the_servers_answer(model, server):
    server.never_ends = True
    with structgen.stream(model, "hi", Person) as s:
        iterator = iter(s)
        server.answers = ['{"name": "' + "abc" * 50]
        assert next(iterator) is not None
        assert not server.client_is_gone.is_set()
    assert server.client_is_gone.wait(10)
    with pytest.raises(structgen.GenerationError, match="closed"):
        next(iterator)


def test_an_awaited_stream_that_is_cancelled_ends_the_servers_answer(model, server):
    server.never_ends = True
    server.answers = ["[" + '"abc", ' * 50]

    async def run():
        async with structgen.astream(model, "hi", list[str]) as s:
            async for _ in s.items():
                pass

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(asyncio.wait_for(run(), 1))
    assert server.client_is_gone.wait(10)


def test_batches_are_asked_at_once(model, server):
    values = structgen.batch(model, ["a", "b", "c"], Colour, temperature=1.0, seed=1)
    assert all(isinstance(value, Colour) for value in values)
    assert sorted(request["seed"] for request in server.requests) == [1, 2, 3]
    server.answers += ["no JSON"]
    found = structgen.batch(model, ["a", "b"], Colour, return_exceptions=True)
    assert sorted(type(value).__name__ for value in found) == ["Colour", "ValidationFailedError"]


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_even(cls, value: int, info: ValidationInfo) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


def test_answers_that_break_the_schema_are_sent_back(model, server):
    server.answers += ['{"number": "x"}', '{"number": 3}', "no JSON", '{"number": 4}']
    result = structgen.Generator(model, Even).run("hi", max_retries=3)
    assert result.value == Even(number=4)
    assert len(result.attempts) == 3
    assert result.usage.model_calls == 4 and result.usage.prompt_tokens == 28
    assert [message["role"] for message in server.requests[-1]["messages"]] == ["user", "assistant"] * 3 + ["user"]
    assert "must be even" in server.requests[2]["messages"][-1]["content"]
    server.answers += ['{"number": 3}']
    with pytest.raises(structgen.ValidationFailedError):
        structgen.generate(model, "hi", Even)


def test_budgets_refusals_and_filters(model, server):
    server.answers += ['{"number": ', '{"number": 4}']
    server.finish_reason = "length"
    with pytest.raises(structgen.IncompleteOutputError):
        structgen.generate(model, "hi", Even)
    assert structgen.generate(model, "hi", Even) == Even(number=4)
    server.finish_reason, server.answers = "content_filter", [""]
    with pytest.raises(structgen.GenerationError, match="filter"):
        structgen.generate(model, "hi", Even)
    server.finish_reason, server.more, server.answers = "stop", {"refusal": "I will not."}, [""]
    with pytest.raises(structgen.GenerationError, match="I will not"):
        structgen.generate(model, "hi", Even)


def test_reasoning_of_the_server(model, server):
    server.more, server.answers = {"reasoning_content": "Even it is."}, ['{"number": 4}'] * 2
    assert structgen.Generator(model, Even).run("hi", reasoning=True).reasoning == "Even it is."
    with structgen.stream(model, "hi", Even) as s:
        assert s.final() == Even(number=4)
        assert s.reasoning == "Even it is."


def test_variables_of_the_template(server, client):
    model = structgen.from_openai(client, "test", extra_body={"chat_template_kwargs": {"a": 1}, "top_k": 3})
    server.answers += ['{"number": 4}'] * 2
    structgen.generate(model, "hi", Even, template={"enable_thinking": False})
    structgen.generate(model, "hi", Even)
    first, second = server.requests
    assert (first["chat_template_kwargs"], first["top_k"]) == ({"a": 1, "enable_thinking": False}, 3)
    assert second["chat_template_kwargs"] == {"a": 1}


def test_messages_examples_and_system(model, server):
    server.answers.append('{"number": 4}')
    structgen.generate(model, "hi", Even, system="Be even.", examples=[("one", Even(number=2))], describe_schema=True)
    system, question, answer, prompt = server.requests[0]["messages"]
    assert system["content"].startswith("Be even.") and '"Even"' in system["content"]
    assert (question["content"], answer["content"], prompt["content"]) == ("one", '{"number": 2}', "hi")


def test_tools(model):
    def add(a: Annotated[int, Field(ge=0, le=99)], b: Literal[1, 2]) -> int:
        return a + b

    options = {"tool_choice": "required", "parallel": False, "temperature": 1.0, "seed": 1}
    (step,) = structgen.call(model, "hi", [add], **options).tool_calls
    assert step.run() == step.arguments["a"] + step.arguments["b"]


def test_text_and_calls(model, server):
    class Point(BaseModel):
        x: int

    def move(to: Point, steps: int = 1) -> int:
        """Moves."""
        return to.x * steps

    call = {"name": "move", "arguments": {"to": {"x": 4}, "steps": 2}}
    answers = [json.dumps({"text": "Moving.", "tool_calls": [call]}), '{"text": "Done.", "tool_calls": []}']
    server.answers += answers
    found = structgen.run_tools(model, "hi", [move])
    assert (found.text, [message["content"] for message in found.messages]) == (
        "Done.",
        ["hi", "Moving.", "8", "Done."],
    )
    first, second = server.requests
    assert first["response_format"]["json_schema"]["schema"]["$defs"]["move"]
    assert "Moves." in first["messages"][0]["content"]
    assert second["messages"][-1] == {
        "role": "user",
        "content": "The result of move is: 8. Now answer in plain text, or call another function.",
    }
    server.answers += [answers[0], '{"text": "Done."}']
    with structgen.stream_call(model, "hi", [move]) as s:
        parts = list(s)
    assert "".join(part for part in parts if isinstance(part, str)) == "Moving."
    assert parts[-1].run() == 8
    calls = [part for part in parts if not isinstance(part, str)]
    assert {"to": {"x": 4}} in [call.arguments for call in calls if not call.is_complete]
    assert all(later.source.startswith(call.source) for call, later in pairwise(calls))
    assert structgen.call(model, "hi", [move], tool_choice="none").text == "Done."
    with pytest.raises(structgen.GrammarError, match="the tools are move"):
        structgen.call(model, "hi", [move], tool_choice="moved")


def test_awaited(model):
    async def run():
        return await asyncio.gather(*(structgen.agenerate(model, "hi", Colour, seed=seed) for seed in range(3)))

    assert all(isinstance(value, Colour) for value in asyncio.run(run()))


def test_typed_functions(model):
    @structgen.fn(model=model)
    def colour(of: str) -> Colour:
        """Which colour has {of}?"""

    assert isinstance(colour("the sky"), Colour)


def test_what_a_server_cannot_do_is_named(model, client):
    with pytest.raises(structgen.ModelError, match="grammars"):
        structgen.generate(model, "hi", structgen.Grammar.regex("a"))
    with pytest.raises(structgen.ModelError, match="top_k"):
        structgen.generate(model, "hi", Colour, top_k=3, temperature=1.0)
    with pytest.raises(structgen.ModelError, match="raw"):
        structgen.generate(model, "hi", Colour, raw=True)
    with pytest.raises(structgen.ModelError, match="reason"):
        structgen.generate(model, "hi", Colour, reasoning=structgen.Reasoning())
    with pytest.raises(ValueError, match="server must be one of auto, vllm"):
        structgen.from_openai(client, "x", server="tgi")
    with pytest.raises(TypeError, match=r"not str and str: openai.OpenAI.base_url='http://localhost'. makes one"):
        structgen.from_openai("http://localhost", "x")
    with pytest.raises(TypeError, match="not str and OpenAI"):
        structgen.from_openai("x", client)
    with pytest.raises(structgen.ServerError, match="404: no such model") as caught:
        structgen.generate(structgen.from_openai(client, "broken"), "hi", Colour)
    assert (caught.value.status, type(caught.value.__cause__)) == (404, openai.NotFoundError)


class Optional(BaseModel):
    a: int = 3
    b: str | None = Field(default=None, min_length=2, pattern="^x")


class Open(BaseModel, extra="allow"):
    a: int


CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (Person, True),
        (Optional, True),
        (list[Person | Even], True),
        (Open, False),
        (dict[str, int], False),
        (Any, False),
        ({**CLOSED, "required": ["a"]}, True),
        (CLOSED, False),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, False),
        ({"not": {"type": "null"}}, False),
        (True, False),
        # Any value, in an object or array that is closed.
        (list[Any], False),
        ({**CLOSED, "properties": {"a": {"description": "anything"}}, "required": ["a"]}, False),
        ({**CLOSED, "properties": {"a": {"type": ["object", "null"]}}, "required": ["a"]}, False),
        ({**CLOSED, "properties": {"a": {"type": ["array", "null"]}}, "required": ["a"]}, False),
        ({**CLOSED, "type": ["object", "null"], "required": ["a"]}, True),
    ],
)
def test_strict_where_it_can_be(schema, strict):
    found = strict_schema(resolve(schema), OPENAI)
    assert found.is_strict is strict
    assert found.schema["type"] == "object"
    assert found.is_wrapped == ("value" in found.schema.get("properties", {}))
    if strict:
        text = json.dumps(found.schema)
        assert not any(f'"{word}"' in text for word in ("default", "minLength", "maxLength", "oneOf"))


TREE = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]}


@pytest.mark.parametrize("subset", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (TREE, [1, [2, []]]),
        ({"$id": "urn:tree", **TREE}, [1, [2, []]]),
        ({"oneOf": TREE["anyOf"]}, [1, [2, []]]),
        ({"not": {"type": "null"}, **TREE}, [1, [2, []]]),  # has no strict form
        ({"$id": "urn:tree", "not": {"type": "null"}, **TREE}, [1, [2, []]]),
        ({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#/items/anyOf/0"}]}}, [1, 2]),
        ({"type": "array", "items": {"oneOf": [{"type": "integer"}, {"$ref": "#/items/oneOf/0"}]}}, []),
        ({"$ref": "#/$defs/a", "$defs": {"a": TREE}}, [1, [2]]),
        ({"type": "array", "items": {"const": {"$ref": "#"}}}, [{"$ref": "#"}]),
    ],
)
def test_references_of_a_value_that_is_wrapped(schema, value, subset):
    """They are those to the value, and not to the object around it."""
    found = strict_schema(resolve(schema), subset)
    assert found.is_wrapped
    check = jsonschema.Draft202012Validator(found.schema).is_valid
    assert check({"value": value})
    assert not check({"value": [{"value": 1}]})
    assert not check({"value": [[{"value": 1}]]})


def test_strict_objects_are_closed_and_whole():
    found = strict_schema(resolve(Optional), OPENAI)
    assert (found.schema["required"], found.schema["additionalProperties"]) == (["a", "b"], False)
    assert found.schema["properties"]["b"]["anyOf"][0]["pattern"] == "^x"
    assert not found.is_exact  # minLength is left to the validator


class Described(BaseModel):
    one: Optional = Field(description="The first.")
    other: Optional


def test_nothing_stands_beside_a_reference_of_a_strict_schema():
    """OpenAI refuses `$ref` beside a description, as Pydantic writes it for a field of a model."""
    found = strict_schema(resolve(Described), OPENAI)
    to = {"$ref": "#/$defs/Optional"}
    assert found.schema["properties"] == {"one": {"anyOf": [to], "description": "The first."}, "other": to}
    both = {"$ref": "#/$defs/a", "anyOf": [{"type": "string"}]}
    schema = {**CLOSED, "properties": {"a": both}, "required": ["a"], "$defs": {"a": {"type": "string"}}}
    assert not strict_schema(resolve(schema), OPENAI).is_strict


TEXT = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("text", "value"), [('{"a": "x\ud83d\ude00"}', "x\U0001f600"), ('{"a": "x\ud83d yz"}', "x\ufffd yz")]
)
def test_a_surrogate_pair_may_be_cut_between_two_pieces(model, server, text, value):
    server.answers = [text, text]
    assert structgen.generate(model, "hi", TEXT) == {"a": value}
    with structgen.stream(model, "hi", TEXT) as stream:
        assert stream.final() == {"a": value}


@pytest.mark.parametrize("error", [None, {"message": "the provider is overloaded", "code": 502}, "overloaded"])
def test_an_answer_without_choices_is_an_error_of_the_server(model, server, error):
    """Some gateways answer so, with the status 200."""
    server.error = 200, {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "error": error}
    with pytest.raises(structgen.ServerError, match="has no choices" if error is None else "overloaded"):
        structgen.generate(model, "hi", TEXT)
