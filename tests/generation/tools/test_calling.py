"""`call`: the prompt with its tools, the reply's calls, and conversations in the form of each template."""

import asyncio
import dataclasses
import datetime
import json
import types
from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field
from support.scripted_chat import ScriptedChat

import structgen


def weather(city: str, day: datetime.date = datetime.date(2026, 1, 1), unit: Literal["C", "F"] = "C") -> str:
    """The weather of a city."""
    return f"{city} {day} {unit}"


def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


class Order(BaseModel):
    """Orders something."""

    item: str
    count: int = Field(ge=1, le=9)


ADD = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3}}\n</tool_call>'
WEATHER = '<tool_call>\n{"name": "weather", "arguments": {"city": "Lyon", "day": "2026-03-04"}}\n</tool_call>'
DEEPSEEK = {
    name: f"<｜tool▁{name.replace('_', '▁')}｜>"
    for name in ("calls_begin", "calls_end", "call_begin", "call_end", "sep")
}


def test_text_and_several_calls():
    model = ScriptedChat("hermes", [f"Let me see.{ADD}\n{WEATHER}"])
    reply = structgen.call(model, "hi", [add, weather])
    assert (reply.text, reply.format, reply.finish_reason) == ("Let me see.", "hermes", "stop")
    first, second = reply.tool_calls
    assert (first.name, first.arguments, first.function, first.run()) == ("add", {"a": 2, "b": 3}, add, 5)
    assert second.arguments == {"city": "Lyon", "day": datetime.date(2026, 3, 4)}
    assert second.run() == "Lyon 2026-03-04 C"
    assert [call.id for call in reply.tool_calls] == ["call00000", "call00001"]
    assert reply.usage.completion_tokens == len(reply.source.encode())
    assert '"description": "The weather of a city."' in model.prompts[-1]


def test_text_alone():
    reply = structgen.call(ScriptedChat("hermes", ["Hello!"]), "hi", [add])
    assert (reply.text, reply.tool_calls) == ("Hello!", ())
    reply = structgen.call(ScriptedChat("hermes", ["Hello!"]), "hi", [])
    assert reply.text == "Hello!"


def test_tool_choice():
    told = ["Hello!", "Hello!", "Hello!"]
    model = ScriptedChat("hermes", told)
    assert structgen.call(model, "hi", [add], tool_choice="none").text == "Hello!"
    assert '"add"' not in model.prompts[-1]
    # Greedy picks of a model that would say something else still fit.
    for choice in ("required", "add"):
        model = ScriptedChat("hermes", [ADD])
        reply = structgen.call(model, "hi", [weather, add], tool_choice=choice)
        assert [call.name for call in reply.tool_calls] == ["add"]
    with pytest.raises(structgen.GrammarError, match="'ad', which is no tool"):
        structgen.call(model, "hi", [weather, add], tool_choice="ad")
    with pytest.raises(TypeError, match=r"or the name of a tool, not \{'type'"):
        structgen.call(model, "hi", [add], tool_choice={"type": "function", "function": {"name": "add"}})
    with pytest.raises(structgen.GrammarError, match="there are no tools"):
        structgen.call(model, "hi", [], tool_choice="required")


def test_one_call_at_most():
    model = ScriptedChat("hermes", [f"{ADD}\n{WEATHER}"])
    assert len(structgen.call(model, "hi", [add, weather], parallel=False).tool_calls) == 1


def test_marks_that_are_special_tokens():
    said = f"Hm.{DEEPSEEK['calls_begin']}{DEEPSEEK['call_begin']}add{DEEPSEEK['sep']}"
    said += f'{{"a": 2}}{DEEPSEEK["call_end"]}{DEEPSEEK["calls_end"]}'
    model = ScriptedChat("deepseek_v3_1", [said], special=DEEPSEEK.values())
    reply = structgen.call(model, "hi", [add])
    assert (reply.text, reply.tool_calls[0].arguments, reply.source) == ("Hm.", {"a": 2}, said)
    # The template shows no tools: the system message does, with an example of a call.
    assert model.prompts[-1].startswith("[system]You may call these functions:\n{")
    assert f"{DEEPSEEK['call_begin']}NAME{DEEPSEEK['sep']}" in model.prompts[-1]


HARMONY = ("<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|call|>", "<|return|>", "<|constrain|>")


def test_harmony_ends_a_call_with_an_end_token():
    said = [
        '<|channel|>commentary to=functions.add<|constrain|>json<|message|>{"a": 2}<|call|>'
        "<|start|>assistant<|channel|>final<|message|>This comes after the end.<|return|>",
        "<|channel|>final<|message|>It is 3.<|return|>",
    ]
    model = ScriptedChat("harmony", said, special=HARMONY, ends=("<|call|>", "<|return|>"))
    reply = structgen.call(model, "hi", [add])
    assert (reply.text, reply.format) == ("", "harmony")
    assert [call.run() for call in reply.tool_calls] == [3]
    assert structgen.call(model, "hi", [add]).text == "It is 3."


def test_a_model_that_knows_no_tools_writes_json():
    model = ScriptedChat("none", ['{"name": "add", "arguments": {"a": 2, "b": 3}}', "Hello"])
    reply = structgen.call(model, "hi", [add], system="Be brief.")
    assert reply.format == "json" and reply.tool_calls[0].run() == 5
    assert model.prompts[-1].startswith("[system]Be brief.\n\nYou may call these functions:\n{")
    assert structgen.call(model, "hi", [add]).text == "Hello"
    raw = ScriptedChat(None, ['{"name": "add", "arguments": {"a": 2}}'])
    assert structgen.call(raw, "hi", [add], tool_choice="required").tool_calls[0].run() == 3


def test_a_format_can_be_named():
    model = ScriptedChat("none", [WEATHER])
    reply = structgen.call(model, "hi", [weather], format="qwen_3")
    assert reply.tool_calls[0].name == "weather"
    assert '<tool_call>\n{"name": "NAME"' in model.prompts[-1]
    with pytest.raises(ValueError, match="did you mean 'qwen_3"):
        structgen.call(model, "hi", [weather], format="qwen_33")


@pytest.mark.parametrize("template", ["none", "hermes", "llama", "mistral", "granite_3", "deepseek_v3_1", None])
def test_calls_and_results_go_back(template):
    """Two calls and their results are in the next prompt, in whatever form the template accepts."""
    special = DEEPSEEK.values() if template == "deepseek_v3_1" else ()
    calls = [
        structgen.ToolCall("add", {"a": 2}, add, "call00000", '{"a": 2}'),
        structgen.ToolCall("add", {"a": 5}, add, "call00001", '{"a": 5}'),
    ]
    reply = structgen.ToolReply("Well.", tuple(calls))
    messages = [{"role": "user", "content": "hi"}, *reply.messages()]
    model = ScriptedChat(template, ["Done."], special=special)
    assert structgen.call(model, messages, [add]).text == "Done."
    prompt = model.prompts[-1]
    assert "hi" in prompt and '{"a": 2}' in prompt and '{"a": 5}' in prompt
    results = prompt[prompt.index('{"a": 2}') :]
    assert "3" in results and "6" in results[results.index("3") :]
    if template == "llama":
        assert prompt.count("<|python_tag|>") == 2
        assert prompt.index("[tool]3") < prompt.index('{"a": 5}')
    if template in ("none", None):
        assert "The result of add is: 3." in prompt


def test_messages_of_openais_interface():
    """Arguments as text, and results without a name, as OpenAI's interface has them."""
    call = {"id": "x", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "3"},
    ]
    model = ScriptedChat("none", ["Done.", ADD])
    assert structgen.call(model, messages, [add]).text == "Done."
    assert "The result of add is: 3." in model.prompts[-1]
    broken = {**call, "function": {"name": "add", "arguments": "{"}}
    with pytest.raises(ValueError, match="the arguments of a message's call of add are not JSON"):
        structgen.call(model, [messages[0], {**messages[1], "tool_calls": [broken]}], [add])


def test_a_call_that_is_made_by_hand():
    """Its arguments are written where no text of them is given."""
    reply = structgen.ToolReply("", (structgen.ToolCall("add", {"a": 2}, id="x"),))
    assert reply.message["tool_calls"][0]["function"] == {"name": "add", "arguments": {"a": 2}}


def test_every_kind_of_tool():
    data = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    openai = {"type": "function", "function": {"name": "f", "description": "F.", "parameters": data}}
    mcp = types.SimpleNamespace(
        tools=[types.SimpleNamespace(name="f", description="F.", inputSchema=data)], nextCursor=None
    )
    said = '<tool_call>\n{"name": "f", "arguments": {"x": 4}}\n</tool_call>'
    for tools in (
        [openai],
        [openai["function"]],
        [{"name": "f", "description": "F.", "inputSchema": data}],
        {"tools": [{"name": "f", "description": "F.", "inputSchema": data}]},
        [{"name": "f", "description": "F.", "input_schema": data}],
        mcp,
    ):
        model = ScriptedChat("hermes", [said])
        (call,) = structgen.call(model, "hi", tools).tool_calls
        assert (call.name, call.arguments, call.function) == ("f", {"x": 4}, None)
        assert json.dumps(openai) in model.prompts[-1]
        with pytest.raises(structgen.StructgenError, match="has no Python function"):
            call.run()
    bound = structgen.Tool("f", data, "F.", lambda x: x + 1)
    assert structgen.call(ScriptedChat("hermes", [said]), "hi", [bound]).tool_calls[0].run() == 5


def test_pydantic_models_are_tools():
    said = '<tool_call>\n{"name": "Order", "arguments": {"item": "tea", "count": 3}}\n</tool_call>'
    (call,) = structgen.call(ScriptedChat("hermes", [said]), "hi", [Order]).tool_calls
    assert call.arguments == {"item": "tea", "count": 3}
    assert call.run() == Order(item="tea", count=3)


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


def halve(number: Annotated[int, AfterValidator(even)]) -> int:
    return number // 2


def test_arguments_that_a_validator_refuses():
    said = '<tool_call>\n{"name": "halve", "arguments": {"number": 3}}\n</tool_call>'
    good = said.replace("3", "4")
    with pytest.raises(structgen.ValidationFailedError, match="must be even") as caught:
        structgen.call(ScriptedChat("hermes", [said]), "hi", [halve])
    assert caught.value.attempts[0][0] == said  # nothing is lost
    model = ScriptedChat("hermes", [said, good])
    reply = structgen.call(model, "hi", [halve], max_retries=1)
    assert reply.tool_calls[0].run() == 2
    assert "must be even" in model.prompts[-1]


def test_ids_that_the_model_writes():
    def said(*numbers):
        calls = [
            f'<|tool_call_begin|>functions.add:{number}<|tool_call_argument_begin|>{{"a": 1}}<|tool_call_end|>'
            for number in numbers
        ]
        return f"<|tool_calls_section_begin|>{''.join(calls)}<|tool_calls_section_end|>"

    model = ScriptedChat("none", [said(4, 5), said(1, 1)])
    ids = [[call.id for call in structgen.call(model, "hi", [add], format="kimi").tool_calls] for _ in range(2)]
    assert ids == [["functions.add:4", "functions.add:5"], ["functions.add:1", "functions.add:2"]]


def test_a_retry_is_told_of_the_tools_once():
    said = '{"name": "halve", "arguments": {"number": 3}}'
    model = ScriptedChat("none", [said, said.replace("3", "4")])
    reply = structgen.call(model, "hi", [halve], max_retries=1, system="Be brief.")
    assert reply.tool_calls[0].run() == 2
    assert model.prompts[-1].count("You may call") == model.prompts[-1].count("Be brief.") == 1


def test_a_raw_prompt_stays_as_it_is():
    model = ScriptedChat("hermes", ['{"name": "add", "arguments": {"a": 2}}'])
    assert structgen.call(model, "Call: ", [add], raw=True).tool_calls[0].run() == 3
    assert model.prompts == ["Call: "]


def test_a_reply_that_is_not_finished():
    with pytest.raises(structgen.IncompleteOutputError) as caught:
        structgen.call(ScriptedChat("hermes", [ADD]), "hi", [add], max_new_tokens=40)
    assert caught.value.text == ADD[:40]


def test_validate_sees_the_reply():
    def brief(reply):
        if len(reply.text) > 4:
            raise ValueError("too long")

    model = ScriptedChat("hermes", ["Hello!", "Hi."])
    assert structgen.call(model, "hi", [add], validate=brief, max_retries=1).text == "Hi."


def test_reasoning_comes_first():
    model = ScriptedChat("hermes", [f"two</think>\n\n{ADD}"], after="<think>\n")
    reply = structgen.call(model, "hi", [add], reasoning=True)
    assert (reply.reasoning, reply.text, reply.tool_calls[0].run()) == ("two", "", 5)
    assert reply.message["reasoning_content"] == "two"


def test_bad_tools():
    model = ScriptedChat("hermes", [])

    def bare(x):
        return x

    def many(*values: int) -> None: ...

    def again(a: int) -> int: ...

    again.__name__ = "add"
    for tools, message in [
        ([bare], "parameter x of bare has no annotation"),
        ([many], r"\*values"),
        ([int], "parameters of int cannot be read"),
        ([add, again], "two tools are called 'add'"),
        ([lambda: 1], "a tool cannot be called '<lambda>'"),
        ([{"name": "a+b"}], r"a tool cannot be called 'a\+b'"),
        ([3], "tool 1 is a int"),
        ([{"type": "function", "function": {}}], "tool 1 has no name"),
        ([{"type": "web_search"}], "not of the type 'function'"),
        ([structgen.Tool("f", list[int])], "parameters of the tool 'f' are no object, but of type 'array'"),
    ]:
        with pytest.raises(structgen.FunctionDefinitionError, match=message):
            structgen.call(model, "hi", tools)
    with pytest.raises(TypeError, match="tools is a list of tools"):
        structgen.call(model, "hi", add)


def test_where_people_look_for_tools(tiny_model):
    for run in (structgen.generate, structgen.stream, structgen.batch):
        with pytest.raises(TypeError, match=r"structgen\.call and structgen\.run_tools take tools"):
            run(tiny_model, ["hi"], bool, tools=[add])


def test_awaited():
    model = ScriptedChat("hermes", [ADD])
    reply = asyncio.run(structgen.acall(model, "hi", [add]))
    assert asyncio.run(reply.tool_calls[0].arun()) == 5


@pytest.mark.parametrize("format", ["json", "hermes", "mistral", "qwen_3_coder", "glm_4_7", "kimi"])
@pytest.mark.parametrize("seed", range(2))
def test_a_random_model_writes_valid_calls(tiny_model, format, seed):
    tools = [add, Order]
    options = {"tool_choice": "add", "temperature": 1.5, "seed": seed, "max_new_tokens": 300}
    reply = structgen.call(tiny_model, "hi", tools, format=format, **options)
    assert reply.tool_calls[0].run() == sum(reply.tool_calls[0].arguments.values()) + (
        "b" not in reply.tool_calls[0].arguments
    )


GEMMA = ("<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>")
SOLAR_CALL = [f"<|tool_call:{name}|>" for name in ("begin", "name", "args", "end")]
SOLAR = ("<|content|>", "<|end|>", "<|tool_calls|>", "<|calls|>", "<|begin|>", *SOLAR_CALL)


def solar_call(call_id, name, arguments):
    begin, after_id, after_name, end = SOLAR_CALL
    return f"{begin}{call_id}{after_id}{name}{after_name}{arguments}{end}"


KIMI_K3 = ("<|open|>", "<|close|>", "<|sep|>")
KIMI_K3_SAID = (
    'Well.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="add" index="1"<|sep|>'
    '<|open|>argument key="a" type="number"<|sep|>2<|close|>argument<|sep|>'
    '<|open|>argument key="b" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|>'
    '<|open|>call tool="weather" index="2"<|sep|><|open|>argument key="city" type="string"<|sep|>'
    "L'{y}:<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>"
)

MUSE = ("<|start|>", "<|message|>", "<|eom|>", "<|eot|>")


def muse_call(name, *arguments):
    written = "".join(f'<atem:parameter name="{key}">{value}</atem:parameter>\n' for key, value in arguments)
    call = f'<atem:function_calls>\n<atem:invoke name="{name}">\n{written}</atem:invoke>\n</atem:function_calls>'
    return f" to={name}<|message|>{call}"


MUSE_SAID = "<|eom|><|start|>assistant".join(
    [" to=user<|message|>Well.", muse_call("add", ("a", 2), ("b", 3)), muse_call("weather", ("city", "L'{y}:"))]
)


@pytest.mark.parametrize(
    ("format", "special", "said"),
    [
        (
            "gemma_4",
            GEMMA,
            'Well.<|tool_call>call:add{a:2,b:3}<tool_call|><|tool_call>call:weather{city:<|"|>L\'{y}:<|"|>}<tool_call|>',
        ),
        (
            "function_gemma",
            ("<escape>", "<start_function_call>", "<end_function_call>"),
            "Well.<start_function_call>call:add{a:2,b:3}<end_function_call>"
            "<start_function_call>call:weather{city:<escape>L'{y}:<escape>}<end_function_call>",
        ),
        ("pythonic", (), "[add(a=2, b=3), weather(city='L\\'{y}:')]"),
        (
            "lfm_2",
            ("<|tool_call_start|>", "<|tool_call_end|>"),
            """Well.<|tool_call_start|>[add(a=2, b=3), weather(city="L'{y}:")]<|tool_call_end|>""",
        ),
        ("olmo_3", (), "Well.<function_calls>add(a=2, b=3)\nweather(city='L\\'{y}:')</function_calls>"),
        (
            "solar",
            SOLAR,
            f"""<|tool_calls|>{solar_call("x-1", "add", '{"a": 2, "b": 3}')}"""
            f"""{solar_call("x-2", "weather", '{"city": "L' + "'" + '{y}:"}')}<|calls|>""",
        ),
        ("muse_glimmer", MUSE, f"{MUSE_SAID}<|eot|>"),
        ("kimi_k3", KIMI_K3, KIMI_K3_SAID),
        ("functionary_3_2", (), 'all\nWell.>>>add\n{"a": 2, "b": 3}>>>weather\n{"city": "L\'{y}:"}'),
    ],
)
def test_formats_whose_marks_are_special_tokens(format, special, said):
    """Marks that have no text are tokens, those around strings included."""
    model = ScriptedChat("none", [said], special=special)
    reply = structgen.call(model, "hi", [add, weather], format=format)
    assert reply.source == said
    assert reply.text == ("" if format in ("pythonic", "solar") else "Well.")
    assert [(call.name, call.run()) for call in reply.tool_calls] == [("add", 5), ("weather", "L'{y}: 2026-01-01 C")]
    if format == "solar":
        assert [call.id for call in reply.tool_calls] == ["x-1", "x-2"]


def test_muse_glimmer_writes_to_itself_to_tools_and_to_the_user():
    said = [
        f"add them<|eom|><|start|>assistant{muse_call('add', ('a', 2))}<|eot|> to=user<|message|>After the end.<|eot|>",
        " to=user<|message|>It is 3.<|eot|>",
    ]
    model = ScriptedChat("muse_glimmer", said, special=MUSE, ends=("<|eot|>",), after=" to=self<|message|>")
    reply = structgen.call(model, "hi", [add], reasoning=True)
    assert (reply.reasoning, reply.text, reply.format) == ("add them", "", "muse_glimmer")
    assert [call.run() for call in reply.tool_calls] == [3]
    model.after = ""
    assert structgen.call(model, "hi", [add]).text == "It is 3."
    with pytest.raises(structgen.GrammarError, match="a tool cannot be called 'user': it is a recipient"):
        structgen.call(model, "hi", [{"name": "user"}])


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_the_reasoning_before_a_call_goes_back(key):
    """Under the key that the template reads, and once, where the template wants one call a message."""
    model = ScriptedChat("none", [f"Because.</think>{ADD}{ADD}", "</think>It is 3."])
    one_call = "{% if m.tool_calls | length != 1 %}{{ raise_exception('one call') }}{% endif %}"
    model.chat_template = (
        "{{ tools | tojson }}{% for message in messages %}{% set m = message %}[{{ m.role }}]"
        f"{{% if message.{key} %}}<think>\n{{{{ message.{key} }}}}</think>{{% endif %}}{{{{ m.content }}}}"
        f"{{% if m.tool_calls %}}{one_call}<tool_call>{{{{ m.tool_calls[0].function.name }}}}"
        "{{ m.tool_calls[0].function.arguments | tojson }}{% endif %}{% endfor %}<think>\n"
    )
    found = structgen.run_tools(model, "hi", [add], reasoning=structgen.Reasoning(after=""))
    assert found.replies[0].reasoning == "Because."
    assert model.prompts[-1].count("Because.") == 1
    assert "<think>\nBecause.</think><tool_call>add" in model.prompts[-1]


def test_solar_answers_in_a_message_of_text():
    model = ScriptedChat("none", ["<|content|>Hello.<|end|>"], special=SOLAR, ends=("<|end|>", "<|calls|>"))
    assert structgen.call(model, "hi", [add], format="solar").text == "Hello."


def test_text_is_no_call_where_none_may_be():
    assert structgen.call(ScriptedChat("hermes", [ADD]), "hi", [add], tool_choice="none").text == ADD
    assert structgen.call(ScriptedChat("hermes", [ADD]), "hi", []).tool_calls == ()
    with structgen.stream_call(ScriptedChat("hermes", [ADD]), "hi", [add], tool_choice="none") as s:
        assert "".join(s) == ADD


def test_messages_that_are_none():
    for messages, error, text in [
        (["hi"], TypeError, r"a list of messages with role and content, not \['hi'\]"),
        (5, TypeError, "not int"),
        ([{"content": "hi"}], ValueError, "message 0 has no role"),
        ([{"role": "assistant", "tool_calls": 5}], ValueError, "message 0 has tool_calls that are no list: 5"),
    ]:
        for run in (structgen.call, structgen.run_tools):
            with pytest.raises(error, match=text):
                run(ScriptedChat("none", ["Hi"]), messages, [add])


def made_call(a, call_id=None):
    call = {"type": "function", "function": {"name": "add", "arguments": {"a": a}}}
    return call if call_id is None else {**call, "id": call_id}


def test_contents_of_parts():
    """Where calls stand in the text, it is that of the parts."""
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "Well."}], "tool_calls": [made_call(2, "x")]},
        {"role": "tool", "tool_call_id": "x", "content": [{"type": "text", "text": "3"}]},
    ]
    model = ScriptedChat("none", ["Done."])
    structgen.call(model, messages, [add])
    assert '[assistant]Well.{"name": "add", "arguments": {"a": 2}}' in model.prompts[-1]
    assert "The result of add is: 3." in model.prompts[-1]


def test_calls_without_ids_have_each_a_result():
    calls = {"role": "assistant", "content": "", "tool_calls": [made_call(1), made_call(2)]}
    results = [{"role": "tool", "content": text} for text in ("R1", "R2")]
    model = ScriptedChat("llama", ["Done."])
    structgen.call(model, [{"role": "user", "content": "hi"}, calls, *results], [add])
    assert model.prompts[-1].count("[tool]R1") == model.prompts[-1].count("[tool]R2") == 1
    assert model.prompts[-1].index("R1") < model.prompts[-1].index('{"a": 2}') < model.prompts[-1].index("R2")


def test_an_id_is_new_in_the_conversation():
    """Also where its beginning was left out."""
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [made_call(1, "call00001")]},
        {"role": "tool", "tool_call_id": "call00001", "content": "2"},
    ]
    reply = structgen.call(ScriptedChat("hermes", [f"{ADD}\n{ADD}"]), messages, [add])
    assert [call.id for call in reply.tool_calls] == ["call00002", "call00003"]


@dataclasses.dataclass
class Place:
    city: str
    unit: str = "C"


def test_a_type_and_a_function_that_it_belongs_to():
    said = '<tool_call>\n{"name": "f", "arguments": {"item": "tea", "count": 3}}\n</tool_call>'
    order = structgen.Tool("f", Order, "F.", lambda item, count: f"{count} {item}")
    assert structgen.call(ScriptedChat("hermes", [said]), "hi", [order]).tool_calls[0].run() == "3 tea"
    place = structgen.Tool("weather", Place, "W.", lambda city, unit: f"{city} {unit}")
    model = ScriptedChat("hermes", [WEATHER.replace(', "day": "2026-03-04"', "")])
    (call,) = structgen.call(model, "hi", [place]).tool_calls
    assert (call.arguments, call.run()) == ({"city": "Lyon", "unit": "C"}, "Lyon C")


def test_a_function_of_any_arguments():
    data = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}
    said = '<tool_call>\n{"name": "f", "arguments": {"x": 4, "y": 5}}\n</tool_call>'
    tool = structgen.Tool("f", data, "F.", lambda x, **others: (x, others))
    assert structgen.call(ScriptedChat("hermes", [said]), "hi", [tool]).tool_calls[0].run() == (4, {"y": 5})


def test_what_validate_returns():
    with pytest.raises(TypeError, match="validate returned 'x': it returns a ToolReply"):
        structgen.call(ScriptedChat("hermes", ["Hi."]), "hi", [add], validate=lambda _: "x")


def test_arguments_that_are_nested_too_deeply():
    lists = {"type": "array", "items": {"$ref": "#/$defs/lists"}}
    data = {"type": "object", "properties": {"x": {"$ref": "#/$defs/lists"}}, "$defs": {"lists": lists}}
    said = f'<tool_call>\n{{"name": "f", "arguments": {{"x": {"[" * 1500}{"]" * 1500}}}}}\n</tool_call>'
    tools = [{"name": "f", "parameters": data}]
    with pytest.raises(structgen.LimitExceededError, match="nested too deeply"):
        structgen.call(ScriptedChat("hermes", [said]), "hi", tools, max_new_tokens=4000)
