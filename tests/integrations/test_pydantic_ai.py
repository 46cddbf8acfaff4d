"""The model of pydantic-ai, with the real package: outputs, tools, streams, settings, and what is refused."""

import asyncio
from typing import Literal

import pytest
from pydantic import BaseModel
from support.scripted_chat import ScriptedChat

pytest.importorskip("pydantic_ai", reason="the test group has it: pydantic-ai-slim")

from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput, messages
from pydantic_ai.exceptions import ModelAPIError, UserError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ToolOrOutput

from structgen.integrations.chat import UnsupportedRequestError
from structgen.integrations.pydantic_ai import StructgenModel


class Person(BaseModel):
    name: str
    age: int


def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather in a city."""
    return f"18 {unit} in {city}"


ALICE = '{"name": "Alice", "age": 34}'
WEATHER = '<tool_call>\n{"name": "weather", "arguments": {"city": "Lyon"}}\n</tool_call>'


def call(name, arguments):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def agent_for(*said, template="hermes", after="", options=None, **agent):
    """Returns an agent whose model says texts, and the model."""
    model = ScriptedChat(template, list(said), after=after)
    return Agent(StructgenModel(model, **(options or {})), **agent), model


def run_of(agent, prompt, **how):
    """Runs an agent. `run_sync` would leave an event loop open."""
    return asyncio.run(agent.run(prompt, **how))


def test_text_and_usage():
    agent, model = agent_for("Hello!", system_prompt="Be kind.", instructions="Be short.")
    run = run_of(agent, "hi")
    assert run.output == "Hello!"
    assert (run.usage.input_tokens, run.usage.output_tokens) == (len(model.prompts[-1].encode()), 6)
    assert model.prompts[-1:] == ["[system]Be kind.\n\nBe short.[user]hi[assistant]"]
    response = run.all_messages()[-1]
    assert (response.finish_reason, response.model_name, response.provider_name) == (
        "stop",
        "ScriptedChat",
        "structgen",
    )


def test_a_conversation_goes_on():
    agent, model = agent_for("Hello!", "Bye!")
    first = run_of(agent, "hi")
    assert run_of(agent, "bye", message_history=first.all_messages()).output == "Bye!"
    assert model.prompts[-1] == "[user]hi[assistant]Hello![user]bye[assistant]"


@pytest.mark.parametrize("output", [Person, NativeOutput(Person), PromptedOutput(Person)])
def test_output_without_tools_is_json(output):
    agent, model = agent_for(ALICE, output_type=output)
    assert run_of(agent, "hi").output == Person(name="Alice", age=34)
    assert "tool" not in model.prompts[-1]


def test_output_by_a_tool():
    agent, _ = agent_for(call("final_result", ALICE), output_type=ToolOutput(Person))
    assert run_of(agent, "hi").output == Person(name="Alice", age=34)


def test_output_of_other_types():
    agent, _ = agent_for('{"response": "no"}', output_type=Literal["yes", "no"])
    assert run_of(agent, "hi").output == "no"
    agent, _ = agent_for('{"response": [1, 2]}', output_type=list[int])
    assert run_of(agent, "hi").output == [1, 2]


def test_tools_run_and_their_results_go_back():
    agent, model = agent_for(f"Let me see.{WEATHER}", "Warm.", tools=[weather])
    run = run_of(agent, "Is it warm?")
    assert run.output == "Warm."
    assert "The weather in a city." in model.prompts[-2]
    assert model.prompts[-1].endswith(f"[assistant]Let me see.{WEATHER}[tool]18 C in Lyon[assistant]")
    assert [part.part_kind for part in run.all_messages()[1].parts] == ["text", "tool-call"]
    assert run.all_messages()[1].finish_reason == "tool_call"


def test_output_beside_tools():
    agent, _ = agent_for(WEATHER, call("final_result", ALICE), tools=[weather], output_type=Person)
    assert run_of(agent, "hi").output == Person(name="Alice", age=34)
    agent, _ = agent_for(WEATHER, call("answer", ALICE), tools=[weather], output_type=NativeOutput(Person))
    assert run_of(agent, "hi").output == Person(name="Alice", age=34)


def test_a_refused_output_is_asked_for_again():
    agent, model = agent_for(ALICE, '{"name": "Bob", "age": 5}', output_type=Person, retries=1)

    @agent.output_validator
    def young(person):
        from pydantic_ai import ModelRetry

        if person.age > 18:
            raise ModelRetry("too old")
        return person

    assert run_of(agent, "hi").output == Person(name="Bob", age=5)
    assert "too old" in model.prompts[-1]


def test_thinking():
    agent, _ = agent_for("Hm.</think>\n\nHello!", template="hermes", after="<think>\n")
    agent.model._profile["supports_thinking"] = True  # the short template of this test has no end mark
    run = run_of(agent, "hi", model_settings={"thinking": True})
    assert [(part.part_kind, part.content) for part in run.all_messages()[-1].parts] == [
        ("thinking", "Hm."),
        ("text", "Hello!"),
    ]


@pytest.mark.parametrize(
    ("asked", "allows_text", "expected"),
    [
        (None, True, (["weather", "final_result"], "auto")),
        (None, False, (["weather", "final_result"], "required")),
        ("none", False, (["final_result"], "required")),
        ("none", True, (["final_result"], "auto")),
        ("required", True, (["weather"], "required")),
        (["weather"], True, (["weather"], "required")),
        (ToolOrOutput(function_tools=["weather"]), False, (["weather", "final_result"], "required")),
        (ToolOrOutput(function_tools=[]), True, (["final_result"], "auto")),
    ],
)
def test_tool_choice(asked, allows_text, expected):
    from pydantic_ai.tools import ToolDefinition

    from structgen.integrations.pydantic_ai import _chosen

    parameters = ModelRequestParameters(
        function_tools=[ToolDefinition(name="weather")],
        output_tools=[ToolDefinition(name="final_result", kind="output")],
        output_mode="tool",
        allow_text_output=allows_text,
    )
    tools, choice = _chosen(asked, parameters)
    assert ([tool.name for tool in tools], choice) == expected
    with pytest.raises(UserError, match="tool_choice asks for rain; the tools are weather, final_result"):
        _chosen(["rain"], parameters)
    with pytest.raises(UserError, match="tool_choice asks for a tool"):
        _chosen("required", ModelRequestParameters())


def test_settings_become_options():
    agent, _ = agent_for("Hello!", "Hello!", options={"max_new_tokens": 3})
    assert run_of(agent, "hi").output == "Hel"
    settings = {"max_tokens": 5, "temperature": 0.0, "top_p": 0.9, "stop_sequences": ["l"], "logit_bias": {"65": 1}}
    assert run_of(agent, "hi", model_settings=settings).output == "He"
    agent, _ = agent_for("Hello!")
    with pytest.raises(ValueError, match="top_p"):
        run_of(agent, "hi", model_settings={"temperature": 1.0, "top_p": 5})


def streamed(agent, prompt, **how):
    async def collected():
        async with agent.run_stream(prompt, **how) as stream:
            texts = [text async for text in stream.stream_text(delta=True, debounce_by=None)]
            return texts, stream.usage, stream.all_messages()[-1]

    return asyncio.run(collected())


def test_a_stream_of_text():
    agent, _ = agent_for("Hello!")
    texts, usage, response = streamed(agent, "hi")
    assert "".join(texts) == "Hello!"
    assert len(texts) > 1
    assert (usage.output_tokens, response.finish_reason, response.state) == (6, "stop", "complete")


@pytest.mark.parametrize(("output", "said"), [(Person, ALICE), (ToolOutput(Person), call("final_result", ALICE))])
def test_a_stream_of_output(output, said):
    async def collected(agent):
        async with agent.run_stream("hi") as stream:
            return [person async for person in stream.stream_output(debounce_by=None)]

    agent, _ = agent_for(said, output_type=output)
    people = asyncio.run(collected(agent))
    assert people[-1] == Person(name="Alice", age=34)
    assert len(people) > 1


def test_a_stream_with_tools():
    agent, _ = agent_for(f"See.{WEATHER}{WEATHER}", "Warm.", tools=[weather])

    async def collected():
        calls = []
        async with agent.iter("hi") as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for _ in stream:
                            pass
                        calls.append([(part.tool_name, part.args_as_dict()) for part in stream.response.tool_calls])
        return calls, run.result.output

    calls, output = asyncio.run(collected())
    assert calls == [[("weather", {"city": "Lyon"})] * 2, []]
    assert output == "Warm."


def test_a_stream_is_cancelled():
    agent, _ = agent_for("Hello!")

    async def cancelled():
        async with agent.run_stream("hi") as stream:
            async for _ in stream.stream_text(delta=True, debounce_by=None):
                await stream.cancel()
            return stream.response.state

    assert asyncio.run(cancelled()) == "interrupted"


def test_a_stream_is_left_early():
    agent, _ = agent_for("Hello!", "Bye!")

    async def left():
        async with agent.run_stream("hi") as stream:
            texts = stream.stream_text(delta=True, debounce_by=None)
            text = await anext(texts)
        return text, (await agent.run("bye")).output

    assert asyncio.run(left()) == ("H", "Bye!")


def test_runs_at_once_share_the_model(tiny_model):
    agent = Agent(StructgenModel(tiny_model), output_type=Literal["yes", "no"])

    async def several():
        return await asyncio.gather(*(agent.run(f"question {number}") for number in range(4)))

    assert {run.output for run in asyncio.run(several())} <= {"yes", "no"}


def test_an_error_of_the_model_is_one_of_pydantic_ai(tiny_model):
    agent = Agent(StructgenModel(tiny_model))
    with pytest.raises(ModelAPIError, match="shorten the prompt"):
        run_of(agent, "x" * 5000)


def test_what_is_not_text_is_refused():
    agent, _ = agent_for("Hello!")
    with pytest.raises(UnsupportedRequestError, match="pydantic-ai does not support ImageUrl in a prompt"):
        run_of(agent, ["what is this?", messages.ImageUrl("https://example.com/cat.png")])
    with pytest.raises(ValueError, match="the option 'max_retries' has no effect"):
        StructgenModel(ScriptedChat("hermes", []), max_retries=1)
    from pydantic_ai.native_tools import WebSearchTool

    agent, _ = agent_for("Hello!")
    request = ModelRequestParameters(native_tools=[WebSearchTool()])
    with pytest.raises(UserError, match="not supported"):
        asyncio.run(agent.model.request([messages.ModelRequest.user_text_prompt("hi")], None, request))


def test_several_texts_of_the_user_are_one_message():
    agent, model = agent_for("Hello!")
    run_of(agent, ["one", "two"])
    assert model.prompts[-1:] == ["[user]one\n\ntwo[assistant]"]
