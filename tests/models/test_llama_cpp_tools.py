"""Tool calls of a GGUF model, with a stand-in for llama-cpp-python."""

from __future__ import annotations

import sys

import pytest
from support.llama_stub import StubLlama, stub_modules

import structgen

SPECIAL = ("<s>", "</s>", "<tool_call>", "</tool_call>")
PLAIN = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}>>"
TOOLS = (
    "{{ bos_token }}{{ tools | tojson }}{% for m in messages %}[{{ m.role }}]{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}{{ c.function.arguments | tojson }}</tool_call>"
    "{% endfor %}{% endfor %}>>"
)
METADATA = {"tokenizer.chat_template": PLAIN, "tokenizer.chat_template.tool_use": TOOLS}
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 17, "b": 25}}\n</tool_call>'


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture(autouse=True)
def stub(monkeypatch):
    stub_modules(monkeypatch)
    yield
    sys.modules.pop("structgen.models.llama_cpp", None)


def test_the_loop_of_calls_and_results():
    """The marks are special tokens; the file has a template for prompts with tools."""
    llama = StubLlama(METADATA, [CALL, "It is 42."], SPECIAL)
    model = structgen.from_llama_cpp(llama)
    found = structgen.run_tools(model, "What is 17 plus 25?", [add])
    assert found.text == "It is 42."
    assert [message["role"] for message in found.messages] == ["user", "assistant", "tool", "assistant"]
    assert found.messages[2]["content"] == "42"
    assert found.replies[0].format == "hermes"


def test_templates():
    llama = StubLlama(METADATA, ["Hello."], SPECIAL)
    model = structgen.from_llama_cpp(llama)
    assert (model.chat_template, model.tool_template) == (PLAIN, TOOLS)
    assert bytes(model.encode_prompt("hi")[1:]) == b"[user]hi>>"
    assert bytes(model.encode_prompt("hi", tools=[1])[1:]) == b"[1][user]hi>>"
    given = structgen.from_llama_cpp(llama, chat_template="{{ messages[0].content }}>>")
    assert given.tool_template == given.chat_template
    assert bytes(given.encode_prompt("hi", tools=[1])[1:]) == b"hi>>"


def test_a_file_whose_template_knows_no_tools():
    said = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
    model = structgen.from_llama_cpp(StubLlama({"tokenizer.chat_template": PLAIN}, [said], SPECIAL))
    reply = structgen.call(model, "1 + 2?", [add], tool_choice="required", parallel=False)
    assert (reply.format, [call.run() for call in reply.tool_calls]) == ("json", [3])


@pytest.mark.parametrize("content", [[{"type": "text", "text": "hi"}], None])
def test_a_template_that_cannot_write_a_content(content):
    """It puts texts together, and the content is none."""
    llama = StubLlama({"tokenizer.chat_template": "{{ '>>' + messages[0].content }}"}, [], SPECIAL)
    model = structgen.from_llama_cpp(llama)
    with pytest.raises(structgen.ModelError, match="the chat template refuses the messages"):
        model.encode_prompt([{"role": "user", "content": content}])
