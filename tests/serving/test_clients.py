"""OpenAI's own client, unchanged: parse, streams, tools, responses, errors."""

import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field


class Person(BaseModel):
    name: str = Field(max_length=8)
    age: int = Field(ge=0, le=120)
    mood: Literal["good", "bad"]


MESSAGES = [{"role": "user", "content": "hi"}]
PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.fixture(scope="session")
def openai_client(client):
    openai = pytest.importorskip("openai")
    return openai.OpenAI(api_key="none", base_url="http://testserver/v1", http_client=client, max_retries=0)


def test_parse(openai_client):
    found = openai_client.chat.completions.parse(
        model="tiny", messages=MESSAGES, response_format=Person, max_completion_tokens=200
    )
    assert isinstance(found.choices[0].message.parsed, Person)


def test_stream(openai_client):
    with openai_client.chat.completions.stream(
        model="tiny", messages=MESSAGES, response_format=Person, max_completion_tokens=200
    ) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert isinstance(final.choices[0].message.parsed, Person)
    assert {"chunk", "content.delta", "content.done"} <= kinds


def test_tools(openai_client):
    import openai

    class Add(BaseModel):
        a: int = Field(ge=0, le=9)

    found = openai_client.chat.completions.parse(
        model="tiny",
        messages=MESSAGES,
        tools=[openai.pydantic_function_tool(Add)],
        tool_choice="required",
        parallel_tool_calls=False,
        max_tokens=60,
    )
    assert isinstance(found.choices[0].message.tool_calls[0].function.parsed_arguments, Add)


def test_streamed_tools(openai_client):
    import openai

    class Add(BaseModel):
        a: int = Field(ge=0, le=9)
        note: str = Field(max_length=12)

    with openai_client.chat.completions.stream(
        model="tiny",
        messages=MESSAGES,
        tools=[openai.pydantic_function_tool(Add)],
        tool_choice="required",
        parallel_tool_calls=False,
        max_tokens=200,
    ) as stream:
        events = [event for event in stream if event.type == "tool_calls.function.arguments.delta"]
        (call,) = stream.get_final_completion().choices[0].message.tool_calls
    assert isinstance(call.function.parsed_arguments, Add)
    assert "".join(event.arguments_delta for event in events) == call.function.arguments
    assert sum(bool(event.arguments_delta) for event in events) > 3


def test_pydantic_ai_reads_streamed_tools(client):
    import asyncio

    import httpx2

    pydantic_ai = pytest.importorskip("pydantic_ai", reason="the test group has it")
    pytest.importorskip("openai", reason="the test group has it")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    transport = httpx2.ASGITransport(client.app)

    async def run():
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver/v1") as http:
            provider = OpenAIProvider(base_url="http://testserver/v1", api_key="none", http_client=http)
            model = OpenAIChatModel("tiny", provider=provider, settings={"max_tokens": 200})
            agent = pydantic_ai.Agent(model, output_type=pydantic_ai.ToolOutput(Person, name="person"))
            async with agent.run_stream("hi") as found:
                parts = [one async for one in found.stream_output(debounce_by=None)]
            return parts, await found.get_output()

    parts, output = asyncio.run(run())
    assert isinstance(output, Person) and parts[-1] == output and len(parts) > 1


def test_responses(openai_client):
    plain = openai_client.responses.create(model="tiny", input="hi", max_output_tokens=8)
    assert plain.object == "response" and plain.usage.output_tokens <= 8
    found = openai_client.responses.parse(
        model="tiny", instructions="Be brief.", input="hi", text_format=Person, max_output_tokens=200
    )
    assert isinstance(found.output_parsed, Person) and found.status == "completed"
    with openai_client.responses.stream(
        model="tiny", input=MESSAGES, text_format=Person, max_output_tokens=200
    ) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert final.output_parsed == Person.model_validate_json(text)


def test_responses_with_functions(openai_client):
    tool = {"type": "function", "name": "add", "parameters": PARAMETERS, "strict": True}
    options = {"model": "tiny", "tools": [tool], "max_output_tokens": 60}
    found = openai_client.responses.create(input="hi", tool_choice="required", parallel_tool_calls=False, **options)
    (call,) = found.output
    assert call.type == "function_call" and 0 <= json.loads(call.arguments)["a"] <= 9
    with openai_client.responses.stream(
        input="hi", tool_choice="required", parallel_tool_calls=False, **options
    ) as stream:
        kinds = [event.type for event in stream]
        (streamed,) = stream.get_final_response().output
    assert streamed.arguments == call.arguments
    assert kinds.count("response.function_call_arguments.delta") > 1
    assert kinds.index("response.function_call_arguments.done") < kinds.index("response.completed")
    turn = [*MESSAGES, call, {"type": "function_call_output", "call_id": call.call_id, "output": "3"}]
    again = openai_client.responses.create(input=turn, tool_choice="none", **options)
    assert again.output[0].type == "message"


def test_a_response_that_ends_within_a_call(client):
    """The call is its only item: none has the number of another one."""
    parameters = {"type": "object", "properties": {"s": {"type": "string", "minLength": 200}}, "required": ["s"]}
    tool = {"type": "function", "name": "say", "parameters": parameters}
    body = {"input": "hi", "tools": [tool], "tool_choice": "required", "max_output_tokens": 60, "stream": True}
    lines = client.post("/v1/responses", json=body).text.splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    added = [event["output_index"] for event in events if event["type"] == "response.output_item.added"]
    (item,) = events[-1]["response"]["output"]
    assert added == [0] and (item["type"], item["status"]) == ("function_call", "incomplete")


def test_errors_are_those_of_the_client(openai_client):
    import openai

    with pytest.raises(openai.BadRequestError) as refused:
        openai_client.chat.completions.create(model="tiny", messages=MESSAGES, extra_body={"guided_regex": "(a"})
    assert refused.value.param == "guided_regex" and refused.value.code == "invalid_grammar"
    with pytest.raises(openai.BadRequestError, match="stores no responses"):
        openai_client.responses.create(model="tiny", input="hi", previous_response_id="resp_1")
    with pytest.raises(openai.BadRequestError, match="only tools of the type function"):
        openai_client.responses.create(model="tiny", input="hi", tools=[{"type": "web_search"}])
    with pytest.raises(openai.BadRequestError, match="not supported"):
        openai_client.responses.create(model="tiny", input=[{"type": "item_reference", "id": "x"}])


def test_models(openai_client):
    assert [model.id for model in openai_client.models.list()] == ["tiny"]
