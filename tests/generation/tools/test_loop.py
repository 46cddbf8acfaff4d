"""`run_tools`: the loop of replies and results."""

import asyncio
import functools

import pytest
from support.scripted_chat import ScriptedChat

import structgen


def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


def divide(a: int, b: int) -> float:
    """Divides."""
    return a / b


def said_call(name, arguments):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


ADD = said_call("add", '{"a": 2, "b": 3}')


def test_until_the_model_answers():
    first = "First." + ADD + "\n" + said_call("add", '{"a": 1}')
    model = ScriptedChat("hermes", [first, said_call("add", '{"a": 5}'), "It is 6."])
    found = structgen.run_tools(model, "hi", [add])
    assert (found.text, found.finish_reason, len(found.replies)) == ("It is 6.", "stop", 3)
    assert [message["role"] for message in found.messages] == [
        "user",
        "assistant",
        *["tool"] * 2,
        "assistant",
        "tool",
        "assistant",
    ]
    assert [message["content"] for message in found.messages if message["role"] == "tool"] == ["5", "2", "6"]
    ids = [call["id"] for message in found.messages for call in message.get("tool_calls", ())]
    assert ids == ["call00000", "call00001", "call00002"]
    assert [m["tool_call_id"] for m in found.messages if m["role"] == "tool"] == ids
    assert found.usage.prompt_tokens > sum(len(prompt) for prompt in model.prompts[-1:])
    # The transcript can go on.
    model.said.append("Bye.")
    again = structgen.run_tools(model, [*found.messages, {"role": "user", "content": "Thanks"}], [add])
    assert again.text == "Bye."


def test_exceptions_go_back():
    model = ScriptedChat("hermes", [said_call("divide", '{"a": 2, "b": 0}'), "I cannot."])
    found = structgen.run_tools(model, "hi", [divide])
    assert found.messages[2]["content"] == "Error: ZeroDivisionError: division by zero"
    assert "Error: ZeroDivisionError" in model.prompts[-1]
    assert found.text == "I cannot."


def test_turns_end():
    model = ScriptedChat("hermes", [ADD] * 3)
    found = structgen.run_tools(model, "hi", [add], max_turns=2)
    assert (found.finish_reason, len(found.replies), found.messages[-1]["role"]) == ("turns", 2, "tool")
    with pytest.raises(ValueError, match="max_turns"):
        structgen.run_tools(model, "hi", [add], max_turns=0)


def test_a_required_call_is_the_first_one():
    model = ScriptedChat("hermes", [ADD, "Done."])
    assert structgen.run_tools(model, "hi", [add], tool_choice="required").text == "Done."


def test_arguments_that_are_refused_go_back():
    from typing import Annotated

    from pydantic import AfterValidator

    def even(value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value

    def halve(number: Annotated[int, AfterValidator(even)]) -> int:
        return number // 2

    model = ScriptedChat("hermes", [said_call("halve", '{"number": 3}'), said_call("halve", '{"number": 4}'), "2"])
    found = structgen.run_tools(model, "hi", [halve])
    assert "must be even" in found.messages[2]["content"]
    assert found.messages[4]["content"] == "2"
    assert found.replies[0].tool_calls[0].error is not None


def test_tools_without_functions():
    tool = {"name": "f", "parameters": {"type": "object"}}
    with pytest.raises(structgen.StructgenError, match=r"the tool f has no Python function.*\n.*structgen\.Tool"):
        structgen.run_tools(ScriptedChat("hermes", []), "hi", [tool])


def test_asynchronous_tools():
    running = []

    async def slow(a: int) -> int:
        running.append(a)
        await asyncio.sleep(0)
        if a == 3:
            raise KeyError("three")
        return a * 2

    calls = "\n".join(said_call("slow", f'{{"a": {a}}}') for a in (1, 3))
    model = ScriptedChat("hermes", [calls + said_call("add", '{"a": 1}'), "Done."])
    found = asyncio.run(structgen.arun_tools(model, "hi", [slow, add]))
    assert (found.text, running) == ("Done.", [1, 3])
    contents = [message["content"] for message in found.messages if message["role"] == "tool"]
    assert contents == ["2", "Error: KeyError: 'three'", "2"]
    with pytest.raises(structgen.StructgenError, match="use arun_tools"):
        structgen.run_tools(ScriptedChat("hermes", [said_call("slow", '{"a": 1}')]), "hi", [slow])


# --- streams ---------------------------------------------------------------------------------------------------------

SAID = ["First." + ADD, "It is 5."]


def summary(events):
    """Texts joined, complete calls, results, and the end."""
    found = []
    for event in events:
        if isinstance(event, str):
            if found and isinstance(found[-1], str):
                found[-1] += event
            else:
                found.append(event)
        elif isinstance(event, structgen.ToolCall):
            if event.is_complete:
                found.append((event.name, dict(event.arguments)))
        else:
            found.append(event)
    return found


def test_a_stream_shows_what_happens():
    with structgen.stream_tools(ScriptedChat("hermes", SAID), "hi", [add]) as s:
        events = list(s)
        transcript = s.transcript()
    text, call, result, answer, end = summary(events)
    assert (text, call, answer) == ("First.", ("add", {"a": 2, "b": 3}), "It is 5.")
    assert (result.call.name, result.value, result.error, result.message["content"]) == ("add", 5, None, "5")
    assert end is transcript
    assert any(isinstance(event, structgen.ToolCall) and not event.is_complete for event in events)
    assert transcript.messages == structgen.run_tools(ScriptedChat("hermes", SAID), "hi", [add]).messages


def test_an_error_of_a_tool_is_an_event():
    said = [said_call("divide", '{"a": 2, "b": 0}'), "I cannot."]
    with structgen.stream_tools(ScriptedChat("hermes", said), "hi", [divide]) as s:
        results = [event for event in s if isinstance(event, structgen.ToolResult)]
    assert isinstance(results[0].error, ZeroDivisionError) and results[0].value is None
    assert results[0].message["content"] == "Error: ZeroDivisionError: division by zero"


def test_the_conversation_is_not_lost_with_an_error():
    cut = "Now let me see what comes next. " + ADD
    with structgen.stream_tools(ScriptedChat("hermes", [ADD, cut]), "hi", [add], max_new_tokens=90) as s:
        with pytest.raises(structgen.IncompleteOutputError):
            s.transcript()
        assert [message["role"] for message in s.messages] == ["user", "assistant", "tool"]


def test_a_stream_that_is_closed():
    with structgen.stream_tools(ScriptedChat("hermes", SAID), "hi", [add]) as s:
        first = next(iter(s))
    assert "First.".startswith(first)
    with pytest.raises(structgen.GenerationError, match="the stream is closed"):
        s.transcript()


def test_a_stream_for_asyncio():
    async def slow(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    async def run():
        said = [said_call("slow", '{"a": 2, "b": 3}'), "It is 5."]
        async with structgen.astream_tools(ScriptedChat("hermes", said), "hi", [slow]) as s:
            return [event async for event in s], await s.transcript(), s.messages

    events, transcript, messages = asyncio.run(run())
    call, result, answer, end = summary(events)
    assert (call, result.value, answer, end) == (("slow", {"a": 2, "b": 3}), 5, "It is 5.", transcript)
    assert tuple(messages) == transcript.messages


def test_a_stream_for_asyncio_that_is_not_open():
    async def run():
        await structgen.astream_tools(ScriptedChat("hermes", SAID), "hi", [add]).transcript()

    with pytest.raises(structgen.GenerationError, match="not open"):
        asyncio.run(run())


def test_a_stream_goes_on_after_a_loop_that_breaks_off():
    with structgen.stream_tools(ScriptedChat("hermes", SAID), "hi", [add]) as s:
        for _ in s:
            break
        assert s.transcript().text == "It is 5."


def test_functions_that_return_coroutines():
    async def slow(a: int) -> int:
        return a * 2

    @functools.wraps(slow)
    def wrapped(*given, **named):
        return slow(*given, **named)

    said = [said_call("slow", '{"a": 4}'), "It is 8."]
    found = asyncio.run(structgen.arun_tools(ScriptedChat("hermes", said), "hi", [wrapped]))
    assert found.messages[2]["content"] == "8"
    with pytest.raises(structgen.StructgenError, match="use arun_tools"):
        structgen.run_tools(ScriptedChat("hermes", said), "hi", [wrapped])


def test_errors_of_structgen_in_a_tool_go_back():
    def ask(a: int) -> str:
        raise structgen.GenerationError("not today")

    model = ScriptedChat("hermes", [said_call("ask", '{"a": 4}'), "I cannot."])
    found = structgen.run_tools(model, "hi", [ask])
    assert (found.text, found.messages[2]["content"]) == ("I cannot.", "Error: GenerationError: not today")


def test_a_result_that_is_no_data():
    def thing(a: int):
        return object()

    with pytest.raises(structgen.StructgenError, match=r"the tool thing returned <object .* cannot be written as JSON"):
        structgen.run_tools(ScriptedChat("hermes", [said_call("thing", '{"a": 4}')]), "hi", [thing])


def test_results_for_a_template_whose_roles_alternate():
    """As Gemma's, which knows no tools: the results of one reply are one message of the user."""
    add_line = '{"name": "add", "arguments": {"a": 2}}'
    model = ScriptedChat("none", [f"{add_line}\n{add_line.replace('2', '5')}", "Done."])
    model.chat_template = (
        "{% for m in messages if m.role != 'system' %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('roles must alternate') }}{% endif %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
        "{# messages[0].role == 'system' #}"
    )
    found = structgen.run_tools(model, "hi", [add])
    assert (found.text, len(found.messages)) == ("Done.", 5)
    said = (
        "[user]The result of add is: 3.\nThe result of add is: 6. Now answer in plain text, or call another function."
    )
    assert said in model.prompts[-1]


@pytest.mark.parametrize(("returned", "content"), [("caf\udce9", "caf\\udce9"), (["\udce9"], '["\\udce9"]')])
def test_a_result_with_half_of_a_surrogate_pair(returned, content):
    """As names of files have it: no tokenizer reads it, so it is written as an escape."""

    def names(a: int):
        return returned

    found = structgen.run_tools(ScriptedChat("hermes", [said_call("names", '{"a": 4}'), "Done."]), "hi", [names])
    assert (found.text, found.messages[2]["content"]) == ("Done.", content)


def test_a_tool_and_a_validator_that_raise_stop_iteration():
    """As `next` does of something empty. No future can hold this error."""

    def first(a: int) -> int:
        return next(iter([]))

    async def run(call):
        return await asyncio.wait_for(call, 20)

    model = ScriptedChat("hermes", [said_call("first", '{"a": 4}'), "I cannot.", "Hi."])
    found = asyncio.run(run(structgen.arun_tools(model, "hi", [first])))
    assert found.messages[2]["content"] == "Error: RuntimeError: first raised StopIteration"
    with pytest.raises(RuntimeError, match="a validator raised StopIteration"):
        asyncio.run(run(structgen.acall(model, "hi", [], validate=lambda _: next(iter([])))))
