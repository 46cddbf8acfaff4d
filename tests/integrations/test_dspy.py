"""The language model and the adapter of DSPy, with the real package: fields, tools, streams, and refusals."""

import asyncio
import json
from typing import Any, Literal

import pytest
from support.scripted_chat import ScriptedChat

pytest.importorskip("dspy", reason="make test-frameworks has it")

import dspy
from dspy import lm15

from structgen.integrations.dspy import StructgenAdapter, StructgenLM

pytestmark = pytest.mark.filterwarnings("default")  # the package has warnings of its own

ALICE = '{"name": "Alice", "age": 34}'
WEATHER = '<tool_call>\n{"name": "weather", "arguments": {"city": "Lyon"}}\n</tool_call>'
TOOL = lm15.FunctionTool(
    "weather",
    description="The weather in a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def weather(city: str) -> str:
    """The weather in a city."""
    return f"18 C in {city}"


def lm_for(*said, template="hermes", after="", **options):
    """Returns a language model that says texts, and the model inside."""
    model = ScriptedChat(template, list(said), after=after)
    return StructgenLM(model, **options), model


def predicted(lm, signature, adapter=None, **inputs):
    with dspy.context(lm=lm, adapter=adapter or StructgenAdapter()):
        return dspy.Predict(signature)(**inputs)


def asked(*messages, **config):
    """Returns a request."""
    tools = config.pop("tools", ())
    messages = messages or (lm15.Message.user("hi"),)
    return lm15.Request(model="any", messages=messages, tools=tools, config=lm15.Config(**config))


def test_text():
    lm, model = lm_for("Hello!")
    assert lm("hi") == ["Hello!"]
    assert model.prompts[-1] == "[user]hi[assistant]"
    assert lm.history[-1]["usage"]["completion_tokens"] == 6
    assert lm.history[-1]["model"] == "structgen/ScriptedChat"


@pytest.mark.parametrize("adapter", [StructgenAdapter, dspy.JSONAdapter])
def test_output_fields_are_the_schema(adapter):
    lm, model = lm_for(ALICE)
    found = predicted(lm, "text -> name: str, age: int", adapter(), text="hi")
    assert (found.name, found.age) == ("Alice", 34)
    assert "age" in model.prompts[-1]


def test_fields_of_any_type():
    said = {"next_tool": "weather", "arguments": {"city": "Lyon", "more": [1]}, "why": None}

    class Step(dspy.Signature):
        """Choose a tool."""

        question: str = dspy.InputField()
        next_tool: Literal["weather", "finish"] = dspy.OutputField()
        arguments: dict[str, Any] = dspy.OutputField()
        why: str | None = dspy.OutputField()

    found = predicted(lm_for(json.dumps(said))[0], Step, question="hi")
    assert {name: found[name] for name in said} == said


def test_fields_are_masked(tiny_model):
    found = predicted(StructgenLM(tiny_model), "text -> mood: Literal['good', 'bad'], stars: int", text="hi")
    assert found.mood in ("good", "bad")
    assert isinstance(found.stars, int)


def test_predictions_for_asyncio():
    async def gathered():
        lm, _ = lm_for(ALICE)
        with dspy.context(lm=lm, adapter=StructgenAdapter()):
            return await dspy.Predict("text -> name: str, age: int").acall(text="hi")

    assert asyncio.run(gathered()).age == 34


def test_modules_with_tools():
    steps = [
        {"next_thought": "I look.", "next_tool_name": "weather", "next_tool_args": {"city": "Lyon"}},
        {"next_thought": "Done.", "next_tool_name": "finish", "next_tool_args": {}},
        {"reasoning": "It is 18.", "answer": "Warm."},
    ]
    lm, model = lm_for(*map(json.dumps, steps))
    with dspy.context(lm=lm, adapter=StructgenAdapter()):
        found = dspy.ReAct("question -> answer", tools=[weather])(question="Is it warm?")
    assert found.answer == "Warm."
    assert "18 C in Lyon" in model.prompts[-1]


def test_native_calls():
    class Ask(dspy.Signature):
        """Call tools."""

        question: str = dspy.InputField()
        tools: list[dspy.Tool] = dspy.InputField()
        calls: dspy.ToolCalls = dspy.OutputField()

    found = predicted(lm_for(WEATHER)[0], Ask, question="Is it warm?", tools=[dspy.Tool(weather)])
    assert [(call.name, call.args) for call in found.calls.tool_calls] == [("weather", {"city": "Lyon"})]


def test_requests():
    lm, model = lm_for(f"See.{WEATHER}", "Warm.")
    response = lm.engine.complete(asked(tools=[TOOL]))
    assert (response.message.parts_of(lm15.TextPart)[0].text, response.finish_reason) == ("See.", "tool_call")
    (call,) = response.message.parts_of(lm15.ToolCallPart)
    assert (call.name, call.input) == ("weather", {"city": "Lyon"})
    result = lm15.ToolResultPart(call.id, (lm15.TextPart("18 C in Lyon"),))
    following = asked(lm15.Message.user("hi"), response.message, lm15.Message("tool", (result,)), tools=[TOOL])
    assert lm.engine.complete(following).text == "Warm."
    assert model.prompts[-1].endswith(f"See.{WEATHER}[tool]18 C in Lyon[assistant]")


@pytest.mark.parametrize("mode", ["required", "auto", "none"])
def test_tool_choice(mode):
    said = "Hello!" if mode == "none" else WEATHER
    response = lm_for(said)[0].engine.complete(asked(tools=[TOOL], tool_choice=lm15.ToolChoice(mode)))
    assert response.finish_reason == ("stop" if mode == "none" else "tool_call")


def test_streams():
    said = f"Hm.</think>\n\nSee.{WEATHER}"
    config = {"tools": [TOOL]}
    once = lm_for(said, after="<think>\n", reasoning=True)[0].engine.complete(asked(**config))
    lm, _ = lm_for(said, after="<think>\n", reasoning=True)
    events = list(lm.engine.stream(asked(**config)))
    assert lm15.materialize_response(iter(events), asked(**config)) == once
    deltas = [event.delta for event in events if getattr(event, "delta", None) and event.delta.type == "tool_call"]
    assert [delta.name for delta in deltas] == ["weather", *[None] * (len(deltas) - 1)]
    assert len(deltas) > 1

    async def gathered():
        lm, _ = lm_for(said, after="<think>\n", reasoning=True)
        return [event async for event in lm._async_engine_spec.stream(asked(**config))]

    assert asyncio.run(gathered()) == events


def test_options_and_refusals():
    lm, _ = lm_for("Hello!", "Hello!", max_tokens=3)
    assert lm("hi") == ["Hel"]
    assert lm("hi", max_tokens=2) == ["He"]
    with pytest.raises(TypeError, match="did you mean 'reasoning'"):
        lm_for(resoning=True)
    image = lm15.Message("user", (lm15.ImagePart(url="https://example.com/cat.png", media_type="image/png"),))
    for request, named in ((asked(image), "ImagePart in a message"), (asked(logprobs=1), "the option 'logprobs'")):
        with pytest.raises(lm15.InvalidRequestError, match=f"DSPy does not support {named}"):
            lm.engine.complete(request)
