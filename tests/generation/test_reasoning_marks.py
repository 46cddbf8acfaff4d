"""Marks of reasoning: found from chat templates, named, or given; and templates that open the reasoning."""

import numpy as np
import pytest
from support.exports import read_back
from support.texts import lets_through

import structgen
from structgen.generation.reasoning_marks import MARKS, marks_of

# The tell-tale parts of the families' own templates.
TEMPLATES = {
    "harmony": '{{- "<|start|>assistant<|channel|>analysis<|message|>" + message.thinking + "<|end|>" }}',
    "kimi_k3": "{{- '<|open|>' + tag + '<|sep|>' -}}{{- open_tag('think') -}}",
    "gemma": r"{{- '<|channel>thought\n' + thinking_text + '\n<channel|>' -}}",
    "cohere": "<|START_THINKING|>{{message.reasoning_content}}<|END_THINKING|>",
    "muse_glimmer": "{{- '<|start|>assistant to=self<|message|>' + message['reasoning_content'] + '<|eom|>' -}}",
    "solar": """{{- "<|begin|>assistant<|think|>" + message.reasoning + "<|end|>" }}""",
    "apriel": "{%- set start = 'Here are my reasoning steps:\n' -%}{{ reasoning + '\n[BEGIN FINAL RESPONSE]\n' }}",
    "apertus": "{%- set inner_token = '<|inner_prefix|>' -%}{%- set outer_token = '<|inner_suffix|>' -%}",
    "mistral": "{{- '[THINK]' + block['thinking'] + '[/THINK]' }}",
    "seed": "{{ '<seed:think>' + message.reasoning_content + '</seed:think>' }}",
    "minimax_m3": "{{ '<mm:think>' ~ message.reasoning_content ~ '</mm:think>' }}",
    "hunyuan": "{%- set think_end_token = '</think{}>'.format(HYTK) %}",
    "deepseek_r1": r"{% set c = c.split('</think>')[-1] %}{{'<｜Assistant｜><think>\n'}}",
    "deepseek_v3_1": "{{'<｜Assistant｜><think></think>'}}",
    "kimi_k2": "<|im_middle|>{{ '<think></think>' }}",
    "gigachat": "{%- set blocks = ['<think>' ~ text ~ '</think>'] -%}{{- '<｜GCML｜invoke name=\"' ~ name ~ '\">' -}}",
    "glm": "<|observation|>{{ '<think></think>' }}",
    "qwen": r"{{- '<think>\n' + reasoning_content + '\n</think>\n\n' + content }}",
}


@pytest.mark.parametrize("family", MARKS)
def test_each_family_is_found_and_can_be_named(family):
    assert marks_of(TEMPLATES[family]) == MARKS[family]
    assert structgen.Reasoning(family=family).marks(None) == MARKS[family]
    assert structgen.Reasoning(max_tokens=5).marks(TEMPLATES[family]) == MARKS[family]


@pytest.mark.parametrize(
    ("template", "start", "after"),
    [
        (r"{{ '<think>' + reasoning + '</think>' }}{{ content }}", "<think>", ""),
        (r"{{- '<think>\n' + reasoning.strip('\n') + '\n</think>\n' + content }}", "<think>\n", "\n"),
        (r"{{ '<think>' ~ '\n' ~ reasoning ~ '\n' ~ '</think>' ~ '\n\n' }}", "<think>\n", "\n\n"),
        (r'{%- set c = "<think>\n" ~ reasoning ~ "\n</think>\n" ~ (content | default("")) %}', "<think>\n", "\n"),
        (r"{%- set c = c.split('</think>')[-1] %}{{- '<think></think>' -}}", "<think>\n", "\n\n"),  # writes none
    ],
)
def test_white_space_is_as_the_template_writes_it(template, start, after):
    assert marks_of(template) == ((start,), ("</think>",), after, "")


def test_a_template_without_marks_has_none():
    assert marks_of("{{ message.content }}") is None
    assert marks_of(None) is None
    assert structgen.Reasoning().marks("{{ message.content }}") == MARKS["qwen"]


def test_marks_that_are_given_win():
    marks = structgen.Reasoning(start=["<r>", "<t>"], end="</r>").marks(TEMPLATES["harmony"])
    assert marks == (("<r>", "<t>"), ("</r>",), "\n\n", "")
    marks = structgen.Reasoning(family="gemma", after="\n").marks(None)
    assert (marks.end, marks.after) == (("<channel|>",), "\n")


def test_unknown_names_are_errors():
    with pytest.raises(TypeError, match=r"a family of marks .*gemma.* not 'qwenn'"):
        structgen.generation.settings.Settings(reasoning="qwenn")
    with pytest.raises(ValueError, match="known are harmony"):
        structgen.Reasoning(family="qwenn")


class Scripted:
    """A model of characters that says a text; `<…>` of the marks are characters too."""

    def __init__(self, said, template):
        self.said, self.read = said.encode(), []
        self.vocabulary = structgen.Vocabulary.from_bytes({i: bytes([i]) for i in range(256)}, [256], 257)
        self.context_tokens, self.chat_template = None, template

    def encode_prompt(self, prompt, *, raw=False, **template):
        self.template = template
        return [*b"ask ", *(b"<think>\n" if "opens" in (self.chat_template or "") else b"")]

    def encode_text(self, text):
        return list(text.encode())

    def session(self):
        return self

    can_crop = False

    def forward(self, token_ids, *, keep=1):
        self.read += token_ids
        logits = np.zeros((keep, 257), np.float32)
        logits[-1, self.said[0] if self.said else 256] = 9
        self.said = self.said[1:]
        return logits


def run(said, chat_template, schema=None, **options):
    model = Scripted(said, chat_template)
    result = structgen.Generator(model, schema or structgen.Grammar.regex("[a-z]+")).run("x", **options)
    return result, bytes(model.read).decode(), model.template


def test_harmony_answers_in_its_final_channel():
    result, read, _ = run("two<|end|>yes", TEMPLATES["harmony"], reasoning=True)
    assert (result.reasoning, result.text) == ("two", "yes")
    assert read == ("ask <|channel|>analysis<|message|>two<|end|><|start|>assistant<|channel|>final<|message|>yes")
    result, read, _ = run("yes", TEMPLATES["harmony"])
    assert read == "ask <|channel|>final<|message|>yes"


@pytest.mark.parametrize(
    ("family", "end", "before", "after"),
    [
        ("muse_glimmer", "<|eom|>", " to=self<|message|>", "<|start|>assistant to=user<|message|>"),
        ("solar", "<|end|>", "<|think|>", "<|begin|>assistant<|content|>"),
        ("hunyuan", "</think:opensource>", "<think:opensource>", ""),
        ("apriel", "[BEGIN FINAL RESPONSE]", "", "\n"),
    ],
)
def test_the_marks_around_the_reasoning_of_a_family(family, end, before, after):
    result, read, _ = run(f"two{end}yes", TEMPLATES[family], reasoning=True)
    assert (result.reasoning, result.text) == ("two", "yes")
    assert read == f"ask {before}two{end}{after}yes"


def test_any_of_several_marks_ends_it():
    reasoning = structgen.Reasoning(start="<r>", end=["</r>", "</t>"], after="")
    for said in ("two</r>yes", "two</t>yes"):
        assert run(said, None, reasoning=reasoning)[0].reasoning == "two"


def test_reasoning_that_the_template_opens_is_closed():
    template = TEMPLATES["qwen"] + "opens"
    result, read, _ = run("yes", template)
    assert (result.reasoning, read) == ("", "ask <think>\n</think>\n\nyes")
    assert run("two</think>yes", template, reasoning=True)[1] == "ask <think>\ntwo</think>\n\nyes"


def test_reasoning_sets_the_templates_variable():
    template = TEMPLATES["qwen"] + "{% if enable_thinking %}"
    assert run("two</think>yes", template, reasoning=True)[2] == {"enable_thinking": True}
    assert run("two</think>yes", template, reasoning=True, template={"enable_thinking": 2})[2] == {"enable_thinking": 2}
    assert run("yes", template)[2] == {}


def test_reasoning_sets_the_effort_where_the_default_is_none():
    template = TEMPLATES["hunyuan"] + "{% set reasoning_effort = reasoning_effort | default('no_think') %}"
    assert run("two</think:opensource>yes", template, reasoning=True)[2] == {"reasoning_effort": "high"}
    assert run("yes", template)[2] == {}
    assert run("two</think>yes", TEMPLATES["gigachat"] + "{{ reasoning }}", reasoning=True)[2] == {"reasoning": True}
    template = TEMPLATES["harmony"] + "{% set reasoning_effort = reasoning_effort | default('medium') %}"
    assert "reasoning_effort" not in run("two<|end|>yes", template, reasoning=True)[2]


def test_variables_of_the_template(tiny_model, monkeypatch):
    monkeypatch.setattr(tiny_model.tokenizer, "chat_template", "{{ mood }}:" + tiny_model.chat_template)
    seen = []
    encode = tiny_model.encode_prompt

    def encoded(*args, **more):
        seen.append(encode(*args, **more))
        return seen[-1]

    monkeypatch.setattr(tiny_model, "encode_prompt", encoded)
    options = {"template": {"mood": "good"}, "max_new_tokens": 90}
    structgen.generate(tiny_model, "hi", bool, **options)
    structgen.batch(tiny_model, ["hi"], bool, **options)
    with structgen.stream(tiny_model, "hi", bool, **options) as s:
        s.final()
    structgen.fn(model=tiny_model, schema=bool, **options)(_question)()
    assert [tiny_model.tokenizer.decode(ids)[:5] for ids in seen] == ["good:"] * 4


def _question() -> bool:
    """Is it?"""
    return True


@pytest.mark.parametrize(
    ("template", "error", "says"),
    [
        ({"enable_thinkng": True}, ValueError, "did you mean 'enable_thinking'"),
        ({"mood": 1}, ValueError, "the chat template has no such variable"),
        ({"messages": []}, ValueError, "cannot set 'messages'"),
        ({"tools": []}, ValueError, r"structgen\.call takes tools"),
        ([1], TypeError, "must map names"),
    ],
)
def test_variables_that_cannot_be_set(template, error, says):
    with pytest.raises(error, match=says):
        run("yes", TEMPLATES["qwen"] + "enable_thinking", template=template)
    if "mood" in template:
        with pytest.raises(ValueError, match="the model has no chat template"):
            run("yes", None, template=template)


@pytest.mark.parametrize("to", ["kbnf", "gbnf", "lark"])
@pytest.mark.parametrize("family", ["qwen", "harmony", "hunyuan", "mistral"])
@pytest.mark.parametrize("opened", [False, True])
def test_the_grammar_of_a_whole_text(family, opened, to):
    marks = MARKS[family]
    grammar = structgen.Reasoning(family=family).grammar({"enum": [1, "a"]}, opened=opened)
    begin = "" if opened else marks.start[0]
    after = marks.after + marks.answer
    for given in (grammar, read_back(structgen.export(grammar, to), to)):
        assert lets_through(given, f'{begin}Hm, é < 2.{marks.end[-1]}{after}"a"')
        assert lets_through(given, f"{begin}{marks.end[0]}{after}1")
        assert not lets_through(given, f"{begin}Hm.{marks.end[0]}{after}2")
        assert not lets_through(given, f"{begin}Hm.{after}1")
        assert not lets_through(given, f"{begin}a{marks.end[0]}b{marks.end[0]}{after}1")


def test_marks_without_text_are_token_terminals_of_the_grammar():
    vocabulary = structgen.Vocabulary.from_bytes(
        {0: b"h", 1: b"true", 2: b"[THINK]"}, size=6, eos_token_ids=[5], special_tokens={"[THINK]": 3, "[/THINK]": 4}
    )
    grammar = structgen.Reasoning(family="mistral").grammar(bool, vocabulary=vocabulary)
    matcher = structgen.compile(grammar, vocabulary).matcher()
    for allowed, token in (([3], 3), ([0, 1, 2, 4], 0), ([0, 1, 2, 4], 4), ([1], 1), ([5], 5)):
        assert matcher.allowed_token_ids() == allowed
        matcher.accept_token(token)
