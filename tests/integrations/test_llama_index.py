"""The language model of LlamaIndex, with the real package: chats, tools, predictions, streams, and refusals."""

import asyncio
from typing import Literal

import pytest
from pydantic import BaseModel, ValidationError, field_validator
from support.scripted_chat import ScriptedChat

pytest.importorskip("llama_index.core", reason="make test-frameworks has it")

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock, ThinkingBlock
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool

from structgen.integrations.chat import UnsupportedRequestError
from structgen.integrations.llama_index import StructgenLLM

pytestmark = pytest.mark.filterwarnings("default")  # the package has warnings of its own


class Person(BaseModel):
    name: str
    age: int


def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather in a city."""
    return f"18 {unit} in {city}"


WEATHER_TOOL = FunctionTool.from_defaults(weather)
PROMPT = PromptTemplate("{text}")
ALICE = '{"name": "Alice", "age": 34}'
WEATHER = '<tool_call>\n{"name": "weather", "arguments": {"city": "Lyon"}}\n</tool_call>'
ASK = [ChatMessage("hi")]


def llm_for(*said, template="hermes", after="", **options):
    """Returns a language model that says texts, and the model inside."""
    model = ScriptedChat(template, list(said), after=after)
    return StructgenLLM(model, **options), model


async def gathered(stream):
    return [response async for response in await stream]


def test_chat_and_completion():
    llm, model = llm_for("Hello!", "Hello!", system_prompt="Be kind.")
    response = llm.chat([ChatMessage("Be short.", role="system"), *ASK])
    assert response.message.content == "Hello!"
    assert response.raw["finish_reason"] == "stop"
    assert response.additional_kwargs["completion_tokens"] == 6
    assert model.prompts[-1] == "[system]Be short.[user]hi[assistant]"
    assert llm.complete("hi").text == "Hello!"
    assert (llm.metadata.is_function_calling_model, llm.metadata.model_name) == (True, "ScriptedChat")


def test_four_ways_agree():
    said = f"See.{WEATHER}{WEATHER}"
    asked = {"tools": [WEATHER_TOOL], "user_msg": "hi", "allow_parallel_tool_calls": True}
    once = llm_for(said)[0].chat_with_tools(**asked)
    awaited = asyncio.run(llm_for(said)[0].achat_with_tools(**asked))
    streamed = list(llm_for(said)[0].stream_chat_with_tools(**asked))
    astreamed = asyncio.run(gathered(llm_for(said)[0].astream_chat_with_tools(**asked)))
    for response in (awaited, streamed[-1], astreamed[-1]):
        assert response.message == once.message
        assert response.raw == once.raw
    assert "".join(response.delta for response in streamed) == once.message.content == "See."
    llm, _ = llm_for()
    calls = llm.get_tool_calls_from_response(once)
    assert [(call.tool_name, call.tool_kwargs) for call in calls] == [("weather", {"city": "Lyon"})] * 2


def test_completions_as_streams():
    assert [part.delta for part in llm_for("Hello!")[0].stream_complete("hi")][:2] == ["H", "e"]
    found = asyncio.run(gathered(llm_for("Hello!")[0].astream_complete("hi")))
    assert found[-1].text == "Hello!"
    assert asyncio.run(llm_for("Hello!")[0].acomplete("hi")).text == "Hello!"


def test_tools_run_and_their_results_go_back():
    llm, model = llm_for(WEATHER, "Warm.")
    assert llm.predict_and_call([WEATHER_TOOL], "Is it warm?").response == "18 C in Lyon"
    call = llm_for(WEATHER)[0].chat_with_tools([WEATHER_TOOL], "Is it warm?").message
    result = ChatMessage(
        "18 C in Lyon", role=MessageRole.TOOL, additional_kwargs={"tool_call_id": call.blocks[-1].tool_call_id}
    )
    assert llm.chat([ChatMessage("Is it warm?"), call, result]).message.content == "Warm."
    assert model.prompts[-1].endswith(f"[user]Is it warm?[assistant]{WEATHER}[tool]18 C in Lyon[assistant]")


def test_an_answer_without_a_call():
    llm, _ = llm_for("Hello!")
    response = llm.chat_with_tools([WEATHER_TOOL], "hi")
    assert llm.get_tool_calls_from_response(response, error_on_no_tool_call=False) == []
    with pytest.raises(ValueError, match="tool_required=True"):
        llm.get_tool_calls_from_response(response)


def test_structured_predictions():
    alice = Person(name="Alice", age=34)
    assert llm_for(ALICE)[0].structured_predict(Person, PROMPT, text="hi") == alice
    assert asyncio.run(llm_for(ALICE)[0].astructured_predict(Person, PROMPT, text="hi")) == alice
    assert llm_for(ALICE)[0].as_structured_llm(Person).complete("hi").raw == alice


def test_structured_predictions_as_streams():
    alice = Person(name="Alice", age=34)
    values = list(llm_for(ALICE)[0].stream_structured_predict(Person, PROMPT, text="hi"))
    assert values[-1] == alice
    assert "Al" in [value.name for value in values]
    found = asyncio.run(gathered(llm_for(ALICE)[0].astream_structured_predict(Person, PROMPT, text="hi")))
    assert found == values or [one.model_dump() for one in found] == [one.model_dump() for one in values]


def test_structured_predictions_are_masked(tiny_model):
    llm = StructgenLLM(tiny_model, max_tokens=200)
    assert isinstance(llm.structured_predict(Person, PROMPT, text="hi"), Person)


def test_what_a_validator_refuses():
    class Adult(Person):
        @field_validator("age")
        @classmethod
        def check(cls, age):
            if age < 18:
                raise ValueError("too young")
            return age

    said = '{"name": "Bob", "age": 5}'
    with pytest.raises(ValidationError, match="too young"):
        llm_for(said)[0].structured_predict(Adult, PROMPT, text="hi")
    with pytest.raises(ValidationError, match="too young"):
        list(llm_for(said)[0].stream_structured_predict(Adult, PROMPT, text="hi"))


def test_reasoning_and_options():
    llm, _ = llm_for("Hm.</think>\n\nHello!", after="<think>\n", reasoning=True)
    blocks = llm.chat(ASK).message.blocks
    assert [type(block) for block in blocks] == [ThinkingBlock, TextBlock]
    assert (blocks[0].content, blocks[1].text) == ("Hm.", "Hello!")
    llm, _ = llm_for("Hello!", "Hello!", max_tokens=3)
    assert llm.complete("hi").text == "Hel"
    assert llm.complete("hi", max_tokens=2).text == "He"
    assert llm.metadata.num_output == 3
    with pytest.raises(TypeError, match="did you mean 'temperature'"):
        llm_for(temprature=1)


def test_what_is_not_text_is_refused():
    with pytest.raises(UnsupportedRequestError, match="LlamaIndex does not support ImageBlock"):
        llm_for("Hello!")[0].chat([ChatMessage([ImageBlock(image=b"x")])])
