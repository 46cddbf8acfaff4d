"""What notebooks and terminals show of values: `_repr_html_` and `repr`."""

import html.parser
from typing import Literal

import pydantic
import pytest

import structgen
from structgen import Grammar
from structgen.reporting.cards import MAX_CHARACTERS, as_json, card, chip, shown


class Person(pydantic.BaseModel):
    name: str = pydantic.Field(max_length=12)
    mood: Literal["good", "bad"]


class _Balanced(html.parser.HTMLParser):
    """A parser that fails where an element is not closed, and keeps the text."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.text = ""

    def handle_starttag(self, tag, attributes):
        assert tag in {"b", "div", "pre", "span", "table", "td", "th", "tr"}  # above all, no script
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def text_of(value):
    parser = _Balanced()
    parser.feed(value if isinstance(value, str) else value._repr_html_())
    assert not parser.open
    return parser.text


def test_texts_are_escaped_and_cut():
    assert "&lt;script&gt;" in shown("<script>")
    assert r"\x1b[31m" in shown("\x1b[31m")
    assert "(9,000 characters)" in shown("a" * 9_000)
    assert len(shown("a" * 9_000)) < MAX_CHARACTERS + 300
    assert "onmouseover" not in chip("a", title='"><b onmouseover="x">').replace("onmouseover=&quot;", "")
    assert text_of(card("a < b", [("key", "1 < 2"), ("empty", "")])) == "a < bkey1 < 2"


def test_values_without_json_are_shown_by_their_repr():
    assert as_json({"a": object}).startswith('{\n  "a": "<class')
    assert as_json(float("nan")) == "NaN"


def test_a_result(tiny_model):
    result = structgen.Generator(tiny_model, Person, max_new_tokens=60).run("hi")
    text = text_of(result)
    assert text.startswith("Result: Person")
    assert f'"mood": "{result.value.mood}"' in text
    assert f"{result.usage.completion_tokens} tokens ({result.usage.forced_tokens} forced)" in text


def test_a_result_shows_the_refused_attempts(tiny_model):
    answers = iter([ValueError("not <this>"), None])

    def validate(value):
        error = next(answers)
        if error is not None:
            raise error

    generator = structgen.Generator(tiny_model, Literal["a", "b"], max_retries=1, validate=validate)
    assert "not <this>" in text_of(generator.run("hi"))


def test_a_trace(tiny_model):
    trace = structgen.trace(tiny_model, "hi <b>", Person, max_new_tokens=60)
    text = text_of(trace)
    assert text.startswith(f"Trace: {trace.summary}")
    assert "hi <b>" in text
    assert all(step.text in text for step in trace.steps if step.text.isalnum())
    broken = structgen.trace(tiny_model, "hi", Person, max_new_tokens=3, on_budget="error")
    assert "IncompleteOutputError" in text_of(broken)


def test_checks():
    assert text_of(structgen.check(int, "12")) == "✓ The text fits"
    refused = text_of(structgen.check(Person, '{"name": "Al", "mood": "sad"}'))
    assert refused.startswith("✗ The text does not fit")
    assert "1:25" in refused
    assert "mood: " in refused


@pytest.mark.parametrize(
    ("grammar", "expected"),
    [
        (Grammar.kbnf('start ::= "<" word;\nword ::= #"[a-z]+";'), 'start ::= "<" word;'),
        (Grammar.gbnf('root ::= "a" | "b"'), 'root ::= "a" | "b"'),
        (Grammar.regex("[0-9]+"), "[0-9]+"),
        (Grammar.choice(["left", "right"]), '["left", "right"]'),
        (Grammar.substring("The cat sat."), "Grammar.substring('The cat sat.')"),
        (Grammar.regex("a+") + "<", "Grammar.concat(Grammar.regex('a+'), '<')"),
    ],
    ids=lambda value: value.kind if isinstance(value, Grammar) else "",
)
def test_grammars(grammar, expected):
    text = text_of(grammar)
    assert text.startswith(f"Grammar: {grammar.kind}")
    assert expected in text
    assert ("rules" in text) == (grammar.kind in ("kbnf", "gbnf"))


def test_reprs(tiny_model):
    constraint = structgen.compile(Person, tiny_model.vocabulary)
    assert repr(constraint) == f"Constraint(Person, {tiny_model.vocabulary!r}, tokenization='any')"
    matcher = constraint.matcher()
    assert repr(matcher) == "Matcher(b'', 0 tokens)"
    matcher.accept_bytes(b'{"name": "')
    assert repr(matcher) == """Matcher(b'{"name": "', 1 tokens)"""
    long = structgen.compile(Grammar.regex("a{50}"), tiny_model.vocabulary).matcher()
    long.accept_bytes(b"a" * 50)
    assert repr(long) == f"Matcher(…b'{'a' * 40}', 1 tokens)"

    stream = structgen.stream(tiny_model, "hi", Literal["yes"])
    assert repr(stream) == "Stream('', open)"
    stream.final()
    assert repr(stream) == """Stream('"yes"', ended)"""
    assert repr(structgen.astream(tiny_model, "hi", int)) == "AsyncStream(not open)"

    @structgen.fn
    def double(number: int, *, times: int = 2) -> int:
        """{number} by {times}"""
        raise NotImplementedError

    assert repr(double).endswith("double(number: int, *, times: int = 2) -> int>")
