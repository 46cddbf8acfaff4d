"""The chat model of LangChain, with the real package: messages, tools, structured output, streams, and refusals."""

import asyncio
from typing import Literal

import pytest
from pydantic import BaseModel, field_validator
from support.scripted_chat import ScriptedChat
from typing_extensions import TypedDict

pytest.importorskip("langchain_core", reason="the test group has it: langchain-core")

from langchain_core.caches import InMemoryCache
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, ChatMessage, FunctionMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_json_schema

from structgen.integrations.chat import UnsupportedRequestError
from structgen.integrations.langchain import ChatStructgen
from structgen.output_types.grammar import Grammar


class Person(BaseModel):
    name: str
    age: int


class Movie(TypedDict):
    title: str


@tool
def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather in a city."""
    return f"18 {unit} in {city}"


ALICE = '{"name": "Alice", "age": 34}'
WEATHER = '<tool_call>\n{"name": "weather", "arguments": {"city": "Lyon"}}\n</tool_call>'


def call(name, arguments):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def chat_for(*said, template="hermes", after="", **options):
    """Returns a chat model that says texts, and the model inside."""
    model = ScriptedChat(template, list(said), after=after)
    return ChatStructgen(model, **options), model


def whole(chunks):
    """Returns the sum of chunks."""
    total = None
    for chunk in chunks:
        total = chunk if total is None else total + chunk
    return total


async def gathered(stream):
    return [chunk async for chunk in stream]


def test_text_and_usage():
    chat, model = chat_for("Hello!")
    answer = chat.invoke([SystemMessage("Be kind."), SystemMessage("Be short."), HumanMessage("hi")])
    assert (answer.content, answer.tool_calls) == ("Hello!", [])
    assert answer.usage_metadata["output_tokens"] == 6
    assert answer.response_metadata["finish_reason"] == "stop"
    assert model.prompts[-1] == "[system]Be kind.\n\nBe short.[user]hi[assistant]"


def test_four_ways_agree():
    said, options = f"See.{WEATHER}{WEATHER}", {"tools": [weather]}
    once = chat_for(said)[0].invoke("hi", **options)
    awaited = asyncio.run(chat_for(said)[0].ainvoke("hi", **options))
    streamed = whole(chat_for(said)[0].stream("hi", **options))
    chunks = asyncio.run(gathered(chat_for(said)[0].astream("hi", **options)))
    assert len(chunks) > 5
    for answer in (awaited, streamed, whole(chunks)):
        assert (answer.content, answer.tool_calls) == (once.content, once.tool_calls)
        assert answer.usage_metadata == once.usage_metadata
        assert answer.response_metadata == once.response_metadata
    assert [(one["name"], one["args"]) for one in once.tool_calls] == [("weather", {"city": "Lyon"})] * 2
    assert once.tool_calls[0]["id"] != once.tool_calls[1]["id"]
    assert once.response_metadata["finish_reason"] == "tool_calls"


def test_reasoning():
    chat, _ = chat_for("Hm.</think>\n\nHello!", after="<think>\n", reasoning=True)
    answer = whole(chat.stream("hi"))
    assert (answer.content, answer.additional_kwargs) == ("Hello!", {"reasoning_content": "Hm."})
    assert answer.usage_metadata["output_token_details"]["reasoning"] == 3


def test_tools_and_their_results():
    chat, model = chat_for(WEATHER, "Warm.")
    bound = chat.bind_tools([weather])
    answer = bound.invoke("Is it warm?")
    result = weather.invoke(answer.tool_calls[0])
    assert bound.invoke([HumanMessage("Is it warm?"), answer, result]).content == "Warm."
    assert model.prompts[-1].endswith(f"[user]Is it warm?[assistant]{WEATHER}[tool]18 C in Lyon[assistant]")


@pytest.mark.parametrize(
    "choice", ["any", "required", "weather", True, {"type": "function", "function": {"name": "weather"}}]
)
def test_a_required_tool(choice):
    chat, _ = chat_for(WEATHER)
    answer = chat.bind_tools([weather], tool_choice=choice).invoke("hi")
    assert [one["name"] for one in answer.tool_calls] == ["weather"]
    chat, _ = chat_for("Hello!")
    assert chat.bind_tools([weather], tool_choice="none").invoke("hi").content == "Hello!"
    with pytest.raises(ValueError, match="tool_choice is 'rain', and the tools are weather"):
        chat.bind_tools([weather], tool_choice="rain")


def test_one_call_at_most():
    chat, _ = chat_for(WEATHER + WEATHER)
    assert len(chat.bind_tools([weather], parallel_tool_calls=False).invoke("hi").tool_calls) == 1


DATA = {"name": "Alice", "age": 34}
SCHEMA = Person.model_json_schema()


@pytest.mark.parametrize(
    ("schema", "said", "expected"),
    [
        (Person, ALICE, Person(**DATA)),
        (SCHEMA, ALICE, DATA),
        ({"type": "json_schema", "json_schema": {"name": "p", "schema": SCHEMA}}, ALICE, DATA),
        ({"name": "p", "parameters": SCHEMA}, ALICE, DATA),
        (Movie, '{"title": "Alien"}', {"title": "Alien"}),
        (Literal["yes", "no"], '"no"', "no"),
        (list[int], "[1, 2]", [1, 2]),
        (Grammar.regex("[0-9]+"), "42", "42"),
    ],
)
def test_structured_output(schema, said, expected):
    structured = chat_for(said)[0].with_structured_output(schema)
    assert structured.invoke("hi") == expected
    structured = chat_for(said)[0].with_structured_output(schema)
    assert asyncio.run(structured.ainvoke("hi")) == expected
    structured = chat_for(said)[0].with_structured_output(schema, include_raw=True)
    found = structured.invoke("hi")
    assert (found["raw"].content, found["parsed"], found["parsing_error"]) == (said, expected, None)


def test_structured_output_is_masked(tiny_model):
    structured = ChatStructgen(tiny_model).with_structured_output(Person)
    prompt = ChatPromptTemplate.from_messages([("system", "Be short."), ("user", "{text}")])
    for person in (prompt | structured).batch([{"text": "one"}, {"text": "two"}]):
        assert isinstance(person, Person)


def test_structured_output_as_a_stream():
    structured = chat_for(ALICE)[0].with_structured_output(Person.model_json_schema())
    values = list(structured.stream("hi"))
    assert values[-1] == {"name": "Alice", "age": 34}
    assert {"name": "Al"} in values


@pytest.mark.parametrize("schema", [Person, Movie, Person.model_json_schema()])
def test_traces_show_the_schema_as_langchain_writes_it(schema):
    bound = chat_for()[0].with_structured_output(schema).first
    assert bound.kwargs["ls_structured_output_format"]["schema"] == convert_to_json_schema(schema)


def test_structured_output_by_a_call():
    structured = chat_for(call("Person", ALICE))[0].with_structured_output(Person, method="function_calling")
    assert structured.invoke("hi") == Person(name="Alice", age=34)
    with pytest.raises(ValueError, match="method is"):
        chat_for()[0].with_structured_output(Person, method="magic")


def test_what_a_validator_refuses():
    class Adult(Person):
        @field_validator("age")
        @classmethod
        def check(cls, age):
            if age < 18:
                raise ValueError("too young")
            return age

    said = '{"name": "Bob", "age": 5}'
    with pytest.raises(OutputParserException, match="too young"):
        chat_for(said)[0].with_structured_output(Adult).invoke("hi")
    found = chat_for(said)[0].with_structured_output(Adult, include_raw=True).invoke("hi")
    assert found["parsed"] is None
    assert "too young" in str(found["parsing_error"])


def test_an_answer_beside_tools():
    bound = chat_for(call("answer", ALICE))[0].bind_tools([weather], response_format=Person)
    answer = bound.invoke("hi")
    assert (answer.content, answer.tool_calls, answer.response_metadata["finish_reason"]) == (ALICE, [], "stop")
    bound = chat_for(WEATHER)[0].bind_tools([weather], response_format=Person)
    assert bound.invoke("hi").tool_calls[0]["name"] == "weather"


def test_options_and_stops():
    chat, _ = chat_for("Hello!", "Hello!", "Hello!", max_tokens=3)
    assert chat.invoke("hi").content == "Hel"
    assert chat.invoke("hi", max_tokens=2).content == "He"
    assert chat.bind(max_new_tokens=9).invoke("hi", stop=["l"]).content == "He"
    with pytest.raises(TypeError, match="did you mean 'temperature'"):
        chat_for(temprature=1)
    with pytest.raises(ValueError, match="the option 'max_retries' has no effect"):
        chat_for(max_retries=1)


def test_callbacks_see_each_piece():
    from langchain_core.callbacks import BaseCallbackHandler

    class Seen(BaseCallbackHandler):
        def __init__(self):
            self.tokens = []

        def on_llm_new_token(self, token, **_):
            self.tokens.append(token)

    seen = Seen()
    list(chat_for("Hello!")[0].stream("hi", config={"callbacks": [seen]}))
    assert "".join(seen.tokens) == "Hello!"


def test_a_cache_tells_models_apart():
    cache = InMemoryCache()
    one, _ = chat_for("Hello!", cache=cache)
    two, _ = chat_for("Bye!", cache=cache)
    assert [one.invoke("hi").content, one.invoke("hi").content, two.invoke("hi").content] == [
        "Hello!",
        "Hello!",
        "Bye!",
    ]


def test_counts_of_tokens():
    assert chat_for()[0].get_num_tokens("Hello!") == 6


def test_messages_in_parts():
    chat, model = chat_for("Hello!")
    parts = [{"type": "text", "text": "one"}, "two"]
    thought = AIMessage([{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "See."}])
    chat.invoke([ChatMessage("three", role="user"), thought, HumanMessage(parts)])
    assert model.prompts == ["[user]three[assistant]See.[user]one\ntwo[assistant]"]


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}]), "'image_url'"),
        (ToolMessage([{"type": "image"}], tool_call_id="a"), "'image'"),
        (FunctionMessage("x", name="f"), "FunctionMessage"),
    ],
)
def test_what_is_not_text_is_refused(message, named):
    with pytest.raises(UnsupportedRequestError, match=f"LangChain does not support .*{named}"):
        chat_for("Hello!")[0].invoke([message])
