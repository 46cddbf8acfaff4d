"""`Chat`: requests of frameworks, answered as a whole and in pieces, with the same content."""

import asyncio

import pytest
from support.scripted_chat import ScriptedChat

from structgen.errors import UnsupportedSchemaError
from structgen.generation.pieces import Outcome
from structgen.integrations.chat import Chat, ChatRequest, with_one_system

ASK = ({"role": "user", "content": "hi"},)
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    },
}
ALICE = '{"name": "Alice", "age": 34}'
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
ANSWER = f'<tool_call>\n{{"name": "answer", "arguments": {ALICE}}}\n</tool_call>'


def four_ways(request, said, template="hermes", after="", **options):
    """Answers a request in all four ways; checks that they agree, and returns the outcome and the last model."""

    async def collected(chat):
        async with chat.astream(request) as pieces:
            return [item async for item in pieces]

    found = []
    for way in ("ask", "aask", "stream", "astream"):
        model = ScriptedChat(template, [said], after=after)
        chat = Chat(model, options=options)
        if way == "ask":
            found.append(chat.ask(request))
        elif way == "aask":
            found.append(asyncio.run(chat.aask(request)))
        else:
            items = list(chat.stream(request)) if way == "stream" else asyncio.run(collected(chat))
            *pieces, outcome = items
            assert not any(isinstance(piece, Outcome) for piece in pieces)
            assert "".join(piece.text for piece in pieces) == outcome.text
            assert "".join(piece.reasoning for piece in pieces) == outcome.reasoning
            calls = [piece.call for piece in pieces if piece.call and piece.call.is_complete]
            assert [(call.name, call.source) for call in calls] == [(call.name, call.source) for call in outcome.calls]
            found.append(outcome)
    assert found[1:] == found[:-1]
    return found[0], model


@pytest.mark.parametrize("said", ["Hello!", "", "Grüße 😀"])
def test_free_text(said):
    outcome, _ = four_ways(ChatRequest(ASK), said)
    assert (outcome.text, outcome.finish_reason, outcome.calls) == (said, "stop", ())
    assert outcome.completion_tokens == len(said.encode())


def test_a_schema_alone():
    outcome, model = four_ways(ChatRequest(ASK, schema=PERSON), ALICE)
    assert (outcome.text, outcome.finish_reason) == (ALICE, "stop")
    assert model.prompts[-1:] == ["[user]hi[assistant]"]


def test_tools():
    outcome, model = four_ways(ChatRequest(ASK, tools=[ADD]), f"See.{CALL}")
    assert (outcome.text, outcome.finish_reason) == ("See.", "tool_calls")
    assert [(call.name, call.arguments, call.source) for call in outcome.calls] == [("add", {"a": 2}, '{"a": 2}')]
    assert "Adds." in model.prompts[-1]
    outcome, model = four_ways(ChatRequest(ASK, tools=[ADD], tool_choice="none"), "See.")
    assert (outcome.text, outcome.finish_reason, outcome.calls) == ("See.", "stop", ())


def test_a_schema_beside_tools():
    request = ChatRequest(ASK, tools=[ADD], schema=PERSON)
    outcome, model = four_ways(request, ANSWER)
    assert (outcome.text, outcome.finish_reason, outcome.calls) == (ALICE, "stop", ())
    assert "final answer" in model.prompts[-1]
    outcome, _ = four_ways(request, CALL)
    assert (outcome.text, outcome.finish_reason) == ("", "tool_calls")
    assert [call.name for call in outcome.calls] == ["add"]
    outcome, model = four_ways(ChatRequest(ASK, tools=[ADD], tool_choice="none", schema=PERSON), ALICE)
    assert outcome.text == ALICE
    assert "Adds." not in model.prompts[-1]


def test_arguments_that_a_tool_does_not_declare_are_not_written():
    said = CALL.replace('{"a": 2}', '{"b": 2}')
    for keywords, expected in (({}, '{"a": 2'), ({"additionalProperties": True}, '{"b": 2}')):
        parameters = {"type": "object", "properties": {"a": {"const": 2}}, **keywords}
        tool = {"type": "function", "function": {"name": "add", "parameters": parameters}}
        outcome, _ = four_ways(ChatRequest(ASK, tools=[tool], tool_choice="add"), said)
        assert outcome.calls[0].source.startswith(expected)


def test_the_answer_has_a_name_of_its_own():
    own = {"type": "function", "function": {"name": "answer", "parameters": {"type": "object"}}}
    said = ANSWER.replace("answer", "answer_")
    outcome, _ = four_ways(ChatRequest(ASK, tools=[own], schema=PERSON), said)
    assert (outcome.text, outcome.calls) == (ALICE, ())


def test_beside_tools_an_answer_is_an_object():
    chat = Chat(ScriptedChat("hermes", [ANSWER]))
    with pytest.raises(UnsupportedSchemaError, match="has to be an object"):
        chat.ask(ChatRequest(ASK, tools=[ADD], schema={"type": "array"}))


def test_a_stop_text_is_no_part_of_the_answer():
    outcome, _ = four_ways(ChatRequest(ASK, options={"stop": ["END", "x"]}), "one EN two END three")
    assert (outcome.text, outcome.finish_reason) == ("one EN two ", "stop")
    outcome, _ = four_ways(ChatRequest(ASK), "one two", stop="two")
    assert outcome.text == "one "


def test_the_budget():
    outcome, _ = four_ways(ChatRequest(ASK, options={"max_new_tokens": 3}), "Hello!")
    assert (outcome.text, outcome.finish_reason) == ("Hel", "length")
    # A value is complete all the same; a call that is cut off does not count.
    outcome, _ = four_ways(ChatRequest(ASK, schema=PERSON, options={"max_new_tokens": 26}), ALICE)
    assert outcome.finish_reason in ("stop", "length")
    assert outcome.text.endswith("}")
    outcome, _ = four_ways(ChatRequest(ASK, tools=[ADD], options={"max_new_tokens": 30}), f"See.{CALL}")
    assert (outcome.text, outcome.finish_reason, outcome.calls) == ("See.", "length", ())


def test_reasoning():
    request = ChatRequest(ASK, tools=[ADD], options={"reasoning": True})
    outcome, _ = four_ways(request, f"Hm.</think>\n\n{CALL}", after="<think>\n")
    assert (outcome.reasoning, outcome.text, outcome.finish_reason) == ("Hm.", "", "tool_calls")
    assert outcome.reasoning_tokens


def test_a_conversation_with_calls_is_adapted():
    call = {"id": "call00000", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
    messages = [
        *ASK,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call00000", "content": "3"},
    ]
    for template in ("hermes", "none", "llama"):
        for request in (ChatRequest(messages), ChatRequest(messages, schema=PERSON)):
            outcome, model = four_ways(request, ALICE, template)
            assert outcome.text == ALICE
            assert '"a": 2' in model.prompts[-1]
            assert "3" in model.prompts[-1]


def test_options_of_a_request_come_first():
    outcome, _ = four_ways(ChatRequest(ASK, options={"max_new_tokens": 2, "seed": None}), "Hello!", max_new_tokens=4)
    assert outcome.text == "He"
    outcome, _ = four_ways(ChatRequest(ASK, options={"top_p": 0.5, "temperature": 0.0}), "Hello!")
    assert outcome.text == "Hello!"


def test_options_are_checked():
    model = ScriptedChat("hermes", [])
    with pytest.raises(ValueError, match="max_retries"):
        Chat(model, options={"max_retries": 2})
    with pytest.raises(TypeError, match="did you mean 'temperature'"):
        Chat(model, options={"temprature": 0})
    with pytest.raises(ValueError, match="max_new_tokens"):
        Chat(model, options={"max_new_tokens": 0})
    with pytest.raises(TypeError, match="expected a model"):
        Chat("smollm2")


def test_a_stream_ends_where_it_is_closed():
    async def until_closed(chat):
        found = []
        async with chat.astream(ChatRequest(ASK)) as pieces:
            async for item in pieces:
                found.append(item)
                pieces.close()
        return found

    assert len(asyncio.run(until_closed(Chat(ScriptedChat("hermes", ["Hello!"]))))) == 1
    stream = Chat(ScriptedChat("hermes", ["Hello!"])).stream(ChatRequest(ASK))
    next(stream)
    stream.close()
    assert list(stream) == []


def test_a_cancelled_answer_stops_the_model(tiny_model):
    async def cancelled():
        chat = Chat(tiny_model)
        task = asyncio.create_task(chat.aask(ChatRequest(ASK, options={"max_new_tokens": 100_000})))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        outcome = await chat.aask(ChatRequest(ASK, schema={"enum": ["yes", "no"]}))
        return outcome.text

    assert asyncio.run(cancelled()) in ('"yes"', '"no"')


def test_system_messages_at_the_beginning_are_one():
    one, two = {"role": "system", "content": "A."}, {"role": "system", "content": "B."}
    assert with_one_system([one, two, *ASK, two]) == [{"role": "system", "content": "A.\n\nB."}, *ASK, two]
    assert with_one_system([one, *ASK]) == [one, *ASK]
    assert with_one_system([]) == []
