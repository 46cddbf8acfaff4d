"""`stream_call`: pieces of text, and calls that grow."""

import asyncio
from typing import Annotated

import pytest
from pydantic import Field
from support.scripted_chat import ScriptedChat

import structgen


def add(a: int, note: str) -> int:
    """Adds."""
    return a


SAID = (
    'Let me see.<tool_call>\n{"name": "add", "arguments": {"a": 27, "note": "one two"}}\n</tool_call>'
    '\n<tool_call>\n{"name": "add", "arguments": {"a": 3, "note": ""}}\n</tool_call>'
)


def test_text_and_then_calls():
    model = ScriptedChat("hermes", [SAID])
    with structgen.stream_call(model, "hi", [add]) as s:
        parts = list(s)
        reply = s.reply()
    texts = [part for part in parts if isinstance(part, str)]
    calls = [part for part in parts if not isinstance(part, str)]
    assert "".join(texts) == reply.text == "Let me see." and len(texts) > 3
    assert parts.index(calls[0]) == len(texts)
    first = [call for call in calls if call.id == "call00000"]
    assert first[0].arguments == {} and not first[0].is_complete
    assert {"a": 27} in [call.arguments for call in first]
    assert [call.is_complete for call in first].count(True) == 1
    assert first[-1] == reply.tool_calls[0] and calls[-1] == reply.tool_calls[1]
    assert reply == structgen.call(ScriptedChat("hermes", [SAID]), "hi", [add])
    with pytest.raises(structgen.StructgenError, match="is not complete"):
        first[0].run()


@pytest.mark.parametrize("format", ["qwen_3_coder", "glm_4_7", "json"])
def test_other_formats(tiny_model, format):
    def add(a: int, note: Annotated[str, Field(max_length=4)]) -> int:
        return a

    options = {"tool_choice": "add", "temperature": 1.5, "seed": 4, "max_new_tokens": 400, "format": format}
    with structgen.stream_call(tiny_model, "hi", [add], **options) as s:
        parts = list(s)
    assert parts[-1].is_complete and parts[-1].run() == parts[-1].arguments["a"]


def test_asyncio():
    async def run():
        async with structgen.astream_call(ScriptedChat("hermes", [SAID]), "hi", [add]) as s:
            return [part async for part in s], await s.reply()

    parts, reply = asyncio.run(run())
    assert "".join(part for part in parts if isinstance(part, str)) == "Let me see."
    assert parts[-1] == reply.tool_calls[-1]


def test_a_closed_stream():
    with structgen.stream_call(ScriptedChat("hermes", [SAID]), "hi", [add]) as s:
        next(iter(s))
    with pytest.raises(structgen.GenerationError, match="closed"):
        s.reply()


def test_special_tokens_are_no_text():
    names = ("[TOOL_CALLS]", "[ARGS]")
    model = ScriptedChat("none", ['Hm.[TOOL_CALLS]add[ARGS]{"a": 1, "note": "x"}'], special=names)
    with structgen.stream_call(model, "hi", [add], format="mistral_v11") as s:
        parts = list(s)
    assert "".join(part for part in parts if isinstance(part, str)) == "Hm."
    assert parts[-1].arguments == {"a": 1, "note": "x"}


def test_an_error_ends_a_stream_for_good():
    with structgen.stream_call(ScriptedChat("hermes", [SAID]), "hi", [add], max_new_tokens=len(SAID) - 30) as s:
        for _ in range(2):
            with pytest.raises(structgen.IncompleteOutputError):
                s.reply()
    with pytest.raises(structgen.IncompleteOutputError):
        s.reply()


def test_text_after_a_call_and_white_space_before_the_text():
    said = f"\n\n{SAID} And more."
    with structgen.stream_call(ScriptedChat("hermes", [said]), "hi", [add]) as s:
        text = "".join(part for part in s if isinstance(part, str))
        assert text.strip() == s.reply().text == "Let me see. And more."
