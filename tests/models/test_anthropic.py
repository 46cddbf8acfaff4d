"""Anthropic's models: the real client over a transport that checks requests by the client's own definitions."""

import asyncio
import functools
import json
from typing import Annotated, Any, Literal

import pydantic
import pytest
from pydantic import BaseModel, Field

import structgen
from structgen.models.servers.strict_schemas import ANTHROPIC, strict_schema
from structgen.schema import resolve

anthropic = pytest.importorskip("anthropic", reason="the test group has it")
httpx = pytest.importorskip("httpx2", reason="the clients openai and anthropic bring it")


class Person(BaseModel):
    name: str
    age: int = Field(ge=0, le=120)


@functools.cache
def definitions():
    from anthropic.types import message_create_params as params

    class Plain(params.MessageCreateParamsNonStreaming):
        __pydantic_config__ = pydantic.ConfigDict(extra="forbid")

    class Streaming(params.MessageCreateParamsStreaming):
        __pydantic_config__ = pydantic.ConfigDict(extra="forbid")

    return pydantic.TypeAdapter(Plain | Streaming)


class FakeServer:
    """Answers with texts of a queue, in the form that was asked for.

    Attributes:
        requests: the bodies of the requests.
        answers: the texts.
        stop_reason: why answers end.
        refuses: a field of requests that is answered with 400.
        thinking: the text of a block of thinking before the answer.
    """

    def __init__(self):
        self.requests, self.answers = [], []
        self.stop_reason, self.refuses, self.thinking = "end_turn", None, ""

    def __call__(self, request):
        body = json.loads(request.content)
        definitions().validate_python(body)
        self.requests.append(body)
        if self.refuses in body:
            error = {"type": "invalid_request_error", "message": f"cannot use {self.refuses}"}
            return httpx.Response(400, json={"type": "error", "error": error})
        text = self.answers.pop(0)
        block = {"type": "text", "text": text, "citations": None}
        if "tools" in body:
            block = {"type": "tool_use", "id": "t", "name": body["tool_choice"]["name"], "input": json.loads(text)}
        before = [{"type": "thinking", "thinking": self.thinking, "signature": "s"}] if self.thinking else []
        if body.get("stream"):
            return self.stream(text, block["type"], before)
        message = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [*before, block],
                   "stop_reason": self.stop_reason, "stop_sequence": None, "usage": self.usage(5)}  # fmt: skip
        return httpx.Response(200, json=message)

    def usage(self, output):
        return {"input_tokens": 7, "output_tokens": output, "cache_read_input_tokens": 3,
                "output_tokens_details": {"thinking_tokens": 2 if self.thinking else 0}}  # fmt: skip

    def stream(self, text, kind, before):
        message = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": self.usage(1)}  # fmt: skip
        events = [{"type": "message_start", "message": message}]
        blocks = [
            ({**one, "thinking": ""}, [{"type": "thinking_delta", "thinking": one["thinking"]}]) for one in before
        ]
        pieces = [text[start : start + 3] for start in range(0, len(text), 3)]
        if kind == "text":
            blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": one} for one in pieces]))
        else:
            start = {"type": "tool_use", "id": "t", "name": "answer", "input": {}}
            blocks.append((start, [{"type": "input_json_delta", "partial_json": one} for one in pieces]))
        for index, (start, deltas) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        delta = {"stop_reason": self.stop_reason, "stop_sequence": None}
        events += [{"type": "message_delta", "delta": delta, "usage": self.usage(5)}, {"type": "message_stop"}]
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return httpx.Response(200, content=body.encode(), headers={"content-type": "text/event-stream"})


@pytest.fixture
def server():
    return FakeServer()


@pytest.fixture
def model(server):
    transport = httpx.MockTransport(server)
    with anthropic.Anthropic(api_key="-", max_retries=0, http_client=httpx.Client(transport=transport)) as client:
        yield structgen.from_anthropic(client, "claude")


def test_a_schema_is_sent_as_json_output(model, server):
    server.answers.append('{"name": "Al", "age": 3}')
    result = structgen.Generator(model, Person).run("hi", system="Be short.", max_new_tokens=77, stop=["\n\n"])
    assert (result.value, result.masks) == (Person(name="Al", age=3), "wider")
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (10, 5)
    (body,) = server.requests
    schema = body["output_config"]["format"]["schema"]
    assert (schema["additionalProperties"], schema["required"]) == (False, ["name", "age"])
    assert "minimum" not in json.dumps(schema)
    assert (body["max_tokens"], body["stop_sequences"], body["system"]) == (77, ["\n\n"], "Be short.")
    assert body["messages"] == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("schema", "text", "value", "masks"),
    [
        (Literal["a", 3], '{"value": "a"}', "a", "server"),
        (list[bool], '{"value": [true]}', [True], "server"),
        (structgen.Grammar.choice({"yes": 1, "no": 0}), '{"value": "yes"}', 1, "server"),
        (Annotated[list[int], Field(min_length=2)], '{"value": [1, 2]}', [1, 2], "wider"),
        (dict[str, int], '{"a": 1}', {"a": 1}, "none"),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": 1, "b": 2}', {"a": 1, "b": 2}, "none"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_values(model, server, schema, text, value, masks, streams):
    server.answers.append(text)
    generator = structgen.Generator(model, schema)
    result = generator.stream("hi").result() if streams else generator.run("hi")
    assert (result.value, result.masks) == (value, masks)
    assert ("tools" in server.requests[0]) == (masks == "none")
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (10, 5)


def test_streams_grow(model, server):
    server.answers.append('{"name": "Alice", "age": 34}')
    server.thinking = "Who is it?"
    with structgen.stream(model, "hi", Person) as s:
        parts = list(s)
    assert parts[-1] == Person(name="Alice", age=34) and len(parts) > 3
    assert (s.reasoning, s.result().usage.reasoning_tokens) == ("Who is it?", 2)


def test_answers_are_validated_and_sent_back(model, server):
    server.answers += ['{"name": "Al", "age": 300}', '{"name": "Al", "age": 30}']
    result = structgen.Generator(model, Person).run("hi", max_retries=1)
    assert result.value.age == 30
    assert [message["role"] for message in server.requests[1]["messages"]] == ["user", "assistant", "user"]
    server.answers += ['{"name": "Al", "age": 300}']
    with pytest.raises(structgen.ValidationFailedError, match="the answer is not valid"):
        structgen.generate(model, "hi", Person)


def test_a_schema_that_json_outputs_refuse_becomes_a_tool(model, server):
    server.refuses, server.answers = "output_config", ['{"name": "Al", "age": 30}']
    result = structgen.Generator(model, Person).run("hi")
    assert (result.value.age, result.masks) == (30, "none")
    assert [("tools" in body) for body in server.requests] == [False, True]


def test_endings(model, server):
    server.answers, server.stop_reason = ['{"name": "Al'], "max_tokens"
    with pytest.raises(structgen.IncompleteOutputError, match="after 5 tokens"):
        structgen.generate(model, "hi", Person)
    server.answers, server.stop_reason = [""], "refusal"
    with pytest.raises(structgen.GenerationError, match="filter"):
        structgen.generate(model, "hi", Person)


def test_what_it_cannot_do_is_named(model, server):
    with pytest.raises(structgen.ModelError, match="no grammars"):
        structgen.generate(model, "hi", structgen.Grammar.regex("a"))
    for option in (
        {"temperature": 0.5},
        {"seed": 3},
        {"frequency_penalty": 0.5},
        {"logprobs": True},
        {"logit_bias": {1: 2.0}},
    ):
        with pytest.raises(structgen.ModelError, match=f"has no option {next(iter(option))}"):
            structgen.generate(model, "hi", Person, **option)
    with pytest.raises(TypeError, match="not str and str"):
        structgen.from_anthropic("x", "y")
    server.refuses = "messages"
    with pytest.raises(structgen.ServerError, match="400: cannot use messages") as caught:
        structgen.generate(model, "hi", Person)
    assert isinstance(caught.value.__cause__, anthropic.BadRequestError)


def test_parameters(model, server):
    server.answers += ['{"name": "Al", "age": 3}']
    own = structgen.from_anthropic(model.client, "claude", output_config={"effort": "low"}, max_tokens=9)
    structgen.generate(own, "hi", Person)
    assert server.requests[0]["max_tokens"] == 9
    assert {"effort", "format"} == server.requests[0]["output_config"].keys()


def test_calls(model, server):
    def add(a: Annotated[int, Field(ge=0, le=9)]) -> int:
        return a + 1

    server.answers += [
        '{"text": "", "tool_calls": [{"name": "add", "arguments": {"a": 4}}]}',
        '{"text": "5", "tool_calls": []}',
    ]
    found = structgen.run_tools(model, "hi", [add])
    assert found.text == "5"


def test_awaited(server):
    async def main():
        transport = httpx.MockTransport(server)
        http_client = httpx.AsyncClient(transport=transport)
        async with anthropic.AsyncAnthropic(api_key="-", max_retries=0, http_client=http_client) as client:
            model = structgen.from_anthropic(client, "claude")
            values = await structgen.abatch(model, ["a", "b"], Person)
            async with structgen.astream(model, "hi", Person) as s:
                parts = [part async for part in s]
            with pytest.raises(structgen.ModelError, match="await agenerate"):
                structgen.generate(model, "hi", Person)
            server.refuses = "messages"
            with pytest.raises(structgen.ServerError, match="400"):
                await structgen.agenerate(model, "hi", Person)
            return values, parts

    server.answers += ['{"name": "Al", "age": 3}'] * 3
    values, parts = asyncio.run(main())
    assert values == [Person(name="Al", age=3)] * 2 and parts[-1] == values[0]


class Node(BaseModel):
    value: int
    next: "Node | None" = None


@pytest.mark.parametrize(
    "schema", [Person, list[Person], Node, Literal["a", "b"], int | None, Annotated[str, Field(max_length=3)]]
)
def test_the_subset_is_that_of_the_client(schema):
    """The client's own function leaves a schema of the subset as it is."""
    found = strict_schema(resolve(schema), ANTHROPIC)
    assert found.is_strict
    assert without_notes(anthropic.transform_schema(found.schema)) == without_notes(found.schema)


@pytest.mark.parametrize(("beside", "is_exact"), [({"description": "A name."}, True), ({"enum": ["a"]}, False)])
def test_what_stands_beside_a_reference_is_left_to_the_validator(beside, is_exact):
    schema = {"properties": {"a": {"$ref": "#/$defs/A", **beside}}, "required": ["a"], "additionalProperties": False}
    found = strict_schema(resolve({"type": "object", **schema, "$defs": {"A": {"type": "string"}}}), ANTHROPIC)
    assert found.schema["properties"] == {"a": {"$ref": "#/$defs/A"}}
    assert (found.is_strict, found.is_exact) == (True, is_exact)


def without_notes(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_notes(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    has_literals = "enum" in schema or "const" in schema
    return {
        key: without_notes(value)
        for key, value in schema.items()
        if key not in ("description", "title") and not (key == "type" and has_literals)
    }
