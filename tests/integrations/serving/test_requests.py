"""Requests as texts: which notation a grammar is in, and where its errors are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import structgen
from structgen import Grammar, GrammarError, SchemaError
from structgen.integrations.serving.requests import Requested, read, read_grammar


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('root ::= "a"', "gbnf"),
        ('# a comment: one\nroot ::= "a;" [;] # and; another\n', "gbnf"),
        ('root ::=\n  "a" |\n  "b"', "gbnf"),
        ('start ::= "a";', "kbnf"),
        ('a ::= "x"; start ::= a ";";', "kbnf"),
        ("start ::= #'[0-9]+';", "kbnf"),
        ('start: "a"', "llguidance"),
        ('start: "::=" ";"', "llguidance"),
        ('// root ::= x\nstart: "a"', "llguidance"),
        ('%llguidance {"no_forcing": true}\nstart: "a"', "llguidance"),
        ('%gbnf\nroot ::= "a"', "gbnf"),
        ('\n %kbnf \r\nstart ::= "a";', "kbnf"),
        ('%lark\nstart: "a"', "llguidance"),
        ('%lark-python\nstart: "a"', "lark"),
    ],
)
def test_the_notation_of_a_grammar(text, kind):
    assert read_grammar(text).schema.kind == kind


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('root ::= "a" b', 1),
        ('root ::= "a"\nb ::= "c;', 2),
        ('start ::= "a";\nb ::= "c" (;', 2),
        ('start ::= "a;b"\nx ::= (', 2),
        ('%kbnf\n\nstart ::= "a" (;', 3),
        ('start: "a"\nb: (', 2),
    ],
)
def test_errors_name_the_line_of_the_request(text, line):
    with pytest.raises(GrammarError) as raised:
        read_grammar(text)
    assert raised.value.line == line


NAMES = st.text("abcdxyz", min_size=1, max_size=3)
TEXTS = st.text('ab;:=#/"\\\n[]', max_size=6)


def quoted(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'


@given(texts=st.lists(TEXTS.filter(bool), min_size=1, max_size=4), name=NAMES)
def test_the_same_rules_in_three_notations(texts, name):
    """A grammar of constants in each notation is recognized, whatever the constants hold."""
    words = " | ".join(quoted(text) for text in texts)
    name += "_rule"
    written = {
        "gbnf": f"root ::= {name}\n{name} ::= {words}\n",
        "kbnf": f"start ::= {name}; {name} ::= {words};",
        "llguidance": f"start: {name}\n{name}: {words}\n",
    }
    for kind, text in written.items():
        grammar = read_grammar(text).schema
        assert grammar.kind == kind
        for one in texts:
            assert structgen.check(grammar, one).fits


def test_each_kind():
    schema = {"type": "integer", "x-structgen": {"numbers": "plain", "tokenization": "proper"}}
    assert read("json", schema) == Requested({"type": "integer"}, {"numbers": "plain", "tokenization": "proper"})
    assert schema["x-structgen"], "the request stays as it is"
    assert read("json_object", None) == Requested({"type": "object"})
    assert read("choice", ["b", "a"]) == read("choice", '["a", "b"]') == Requested(Grammar.choice(["a", "b"]))
    assert read("regex", "a+") == Requested(Grammar.regex("a+"))


@pytest.mark.parametrize(
    ("kind", "given"), [("regex", None), ("grammar", ["a"]), ("choice", {"a": 1}), ("choice", "{}"), ("json", 1.5)]
)
def test_values_of_another_type(kind, given):
    with pytest.raises((GrammarError, SchemaError), match="must be"):
        read(kind, given)
