"""The format of calls, found in chat templates: in short ones, and in the families' own where they are at hand.

`STRUCTGEN_CHAT_TEMPLATES` names a folder of chat templates, such as `vendor/llama.cpp/models/templates` in the source
distribution of llama-cpp-python.
"""

import json
import os
import pathlib

import jinja2
import pytest
from support.scripted_chat import TEMPLATES, ScriptedChat

import structgen
from structgen.generation.prompts import template_variables
from structgen.generation.reasoning_marks import marks_of
from structgen.generation.settings import Settings
from structgen.generation.tools.conversation import adapted, form_for, tools_variable, tools_variables
from structgen.generation.tools.detection import format_of, format_of_model
from structgen.generation.tools.messages import ParsedCall
from structgen.generation.tools.reading import FORMATS, read_reply, write_reply
from structgen.output_types.tool_formats.building import TOOL_FORMATS

FOLDER = os.environ.get("STRUCTGEN_CHAT_TEMPLATES")

# What tells formats apart that share marks with others; any other is found by a call that its template writes.
MORE = {
    "exaone": "[|assistant|]",
    "functionary_3_2": ">>>all",
    "gigachat_3_1": "<|role_sep|>",
    "minimax_m1": "<beginning_of_sentence>",
    "glm_4_5": "</arg_key>\n<arg_value>",
    "harmony": "<|start|>assistant to=functions. <|channel|>commentary",
    "kimi_k3": "{{- '<|open|>' + tag + '<|sep|>' -}}",
    "llama": "<|python_tag|>",
    "pythonic": "<|python_start|>",
}
SAME = {"qwen_3": "hermes", "qwen_3_5": "qwen_3_coder"}
NONE = {"json"}


@pytest.mark.parametrize("format", sorted({*FORMATS} - NONE))
def test_a_template_that_writes_a_call(format):
    call = write_reply(format, "", [ParsedCall("f", {"a": "x"})])
    assert format_of(f"tools {MORE.get(format, '')} {call}") == SAME.get(format, format)


def test_templates_without_tools():
    assert format_of(None) is None
    assert format_of("{{ message.content }}") is None
    assert format_of("{{ tools | tojson }}") is None


@pytest.mark.parametrize(("name", "template"), TEMPLATES.items())
def test_short_templates(name, template):
    assert format_of(template) == (None if name == "none" else name)


def test_a_template_whose_tools_have_another_name():
    model = ScriptedChat("none", ['{"name": "f", "arguments": {}}'])
    model.chat_template = "{% if xml_tools %}{{ xml_tools | tojson }}{% endif %}" + model.chat_template
    assert tools_variable(model, model.chat_template) == "xml_tools"
    structgen.call(model, "hi", [{"name": "f", "description": "It does."}], tool_choice="required")
    assert any("It does." in prompt for prompt in model.prompts)


def test_a_template_whose_tools_are_a_text_beside_the_day():
    """As FireFunction 2's, which fails without the two."""
    model = ScriptedChat("none", ['{"name": "f", "arguments": {}}', "Well."])
    model.chat_template = "{{ 'Spec:\\n' + functions + '\\nToday is ' + datetime + '.' }}" + model.chat_template
    assert tools_variable(model, model.chat_template) == "functions"
    options = {"template": {"datetime": "Monday"}}
    structgen.call(model, "hi", [{"name": "f", "description": "It does."}], tool_choice="required", **options)
    prompt = next(prompt for prompt in reversed(model.prompts) if "It does." in prompt)
    assert '"name": "f"' in prompt and '"type": "function"' not in prompt and "Today is Monday." in prompt
    structgen.call(model, "hi", [{"name": "f", "description": "It does."}], tool_choice="none")
    assert "Spec:\n[]\nToday is 2" in model.prompts[-1]


def test_response_templates():
    model = ScriptedChat("none", [])
    model.response_template = {
        "fields": {"tool_calls": {"open_pattern": r"<\|tool_call_begin\|>(.*)<\|tool_call_argument_begin\|>"}}
    }
    assert format_of_model(model, model.chat_template) == "kimi"
    model.response_template = {"fields": {"content": {}}}
    assert format_of_model(model, model.chat_template) is None


def test_each_format_has_a_grammar_and_a_reader():
    assert set(FORMATS) == set(TOOL_FORMATS)


# --- real templates ----------------------------------------------------------------------------------------------

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "It does.",
            "parameters": {
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "description": "A number."},
                    "note": {"type": "string", "description": "A text."},
                },
                "required": ["count", "note"],
            },
        },
    }
    for name in ("add_it", "take_it")
]
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
CALLS = [("add_it", {"count": 1, "note": "one\ntwo"}), ("take_it", {"count": 2, "note": 'é "x"'})]


class Real(ScriptedChat):
    """A model with a real chat template."""

    def __init__(self, template):
        super().__init__("none", [])
        self.chat_template = template

    def encode_prompt(self, prompt, *, raw=False, **template):
        from transformers.utils.chat_template_utils import _compile_jinja_template

        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        more = {"bos_token": "", "eos_token": "<EOS>", "add_generation_prompt": True, **template}
        try:
            text = _compile_jinja_template(self.chat_template).render(messages=messages, **more)
        except jinja2.TemplateError as error:
            raise ValueError(str(error)) from error
        return list(text.encode())


def _real():
    folder = pathlib.Path(FOLDER) if FOLDER else None
    paths = sorted(folder.glob("*.jinja")) if folder else []
    return [pytest.param(path, id=path.stem) for path in paths] or [
        pytest.param(None, marks=pytest.mark.skip(reason="STRUCTGEN_CHAT_TEMPLATES names no folder of chat templates"))
    ]


@pytest.mark.parametrize("path", _real())
def test_real_templates(path):
    """Tools are shown, two calls and their results are rendered, and the calls are read back from the prompt."""
    template = path.read_text(encoding="utf-8")
    format = format_of(template)
    if format is None:
        pytest.skip("the template has no format of calls that is known")
    model = Real(template)
    shows = tools_variable(model, template)
    more = tools_variables(shows, TOOLS) if shows else {}
    try:
        model.encode_prompt("x", **more)
    except ValueError as error:
        pytest.skip(f"the template cannot be rendered: {error}")
    form = form_for(model, template, format)
    calls = [
        {"id": f"call0000{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(CALLS)
    ]
    results = [{"role": "tool", "tool_call_id": f"call0000{index}", "content": f"result {index}"} for index in range(2)]
    messages = [{"role": "user", "content": "QUESTION"}, {"role": "assistant", "content": "", "tool_calls": calls}]
    prompt = bytes(model.encode_prompt(adapted([*messages, *results], form, format), **more)).decode()
    if shows:
        assert all(name in prompt[: prompt.index("QUESTION")] for name, _ in CALLS)
    conversation = prompt[prompt.index("QUESTION") + len("QUESTION") :]
    assert "result 0" in conversation and "result 1" in conversation
    conversation = conversation.removeprefix("<|end|>" if format in ("harmony", "solar") else "<|eot|>")
    if format == "harmony":
        conversation = conversation.replace("<|start|>functions", "<|start|>assistant functions")
    found = read_reply(format, conversation, SCHEMAS)
    assert [(call.name, call.arguments) for call in found.calls] == CALLS
    written = write_reply(format, "", [ParsedCall(*call) for call in CALLS])
    grammar = structgen.Grammar.tool_calls(TOOLS, format, reasoning="outside")
    assert structgen.check(grammar, written).fits, json.dumps(written)


@pytest.mark.parametrize("path", _real())
def test_real_templates_let_the_model_reason(path):
    """With `reasoning=True`, no prompt ends with a reasoning that is closed."""
    template = path.read_text(encoding="utf-8")
    marks = marks_of(template)
    if marks is None:
        pytest.skip("the template has no marks of reasoning that are known")
    variables = template_variables(template, Settings(reasoning=True))
    prompt = bytes(Real(template).encode_prompt("QUESTION", **variables)).decode()
    assert not prompt.rstrip().endswith(marks.end)
