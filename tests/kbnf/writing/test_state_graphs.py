"""Automata as few rules: the same language, and no rule for a state that only leads on."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.writing.automaton_rules import automaton_rules
from structgen.limits import Limits

TEXT = rx.star(rx.ANY_CHAR)


def rules_of(regex, *, of_characters=False):
    rules = []
    names = (f"q{number}" for number in range(10_000))
    body = automaton_rules(regex, lambda: next(names), rules, Limits(), of_characters=of_characters)
    return [ast.Rule("start", body), *rules]


@pytest.mark.parametrize("of_characters", [False, True])
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_language_stays_the_same(of_characters, data, language, strategies):
    regex = rx.intersection(data.draw(strategies["regexes"]()), TEXT)
    rules = rules_of(regex, of_characters=of_characters)
    assert language(normalize(ast.Grammar(tuple(rules), "start"))) == language(normalize(ast.Grammar.of_regex(regex)))


def test_states_that_only_lead_on_or_back_have_no_rule():
    rules = rules_of(parse_regex(r"[a-z](-?[a-z0-9])*;", "rust"))
    assert len(rules) == 3
    regex = rules[2].body.regex
    assert AutomatonStore().is_empty(rx.difference(regex, parse_regex(r"(-?[a-z0-9])*;", "rust")))


@pytest.mark.parametrize(("to", "sign"), [("kbnf", "::="), ("gbnf", "::="), ("kbnf-older", "::=")])
def test_keys_other_than_the_declared_ones(to, sign):
    """Each of them needs the letters of the declared names, and a few rules for what they share."""
    names = ("name", "age", "email", "kind")
    schema = {"properties": {name: {"const": 1} for name in names}, "additionalProperties": {"const": 2}}
    text = structgen.export({"type": "object", **schema}, to, whitespace="compact")
    assert len([line for line in text.splitlines() if "key" in line.partition(sign)[0]]) <= 6
    assert len(text) < (2300 if to != "gbnf" else 4000)


def test_masks_of_keys_are_those_of_the_engine(strategies):
    schema = {"type": "object", "properties": {"name": {"const": 1}}, "additionalProperties": {"const": 2}}
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    text = structgen.export(schema, "kbnf", whitespace="compact")
    written = structgen.compile(structgen.Grammar.kbnf(text, eager=False), vocabulary)
    for key in ("name", "nam", "names", "n", "", "é\\n", "x" * 50):
        for value in (1, 2):
            data = json.dumps({key: value}, separators=(",", ":")).encode()
            matcher = written.matcher()
            assert matcher.allows_bytes(data) == (value == (1 if key == "name" else 2)), data
