"""Automata as few rules: the same language, and no rule for a state that only leads on."""

import json
import random

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
from structgen.kbnf.writing.state_graphs import END, united
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


def random_graph(rng):
    states = range(rng.randint(1, 8))
    graph = {}
    for state in states:
        targets = rng.sample([*states, END], rng.randint(1, min(3, len(states) + 1)))
        graph[state] = {}
        for at, target in enumerate(targets):
            graph[state][target] = rx.Chars(((97 + at, 97 + at),) if rng.random() < 0.7 else ((97, 99),))
    return graph


def texts(graph, longest):
    """Return the texts up to some length that lead from the first state to the end."""
    found, waiting = set(), [(next(iter(graph)), "")]
    for state, text in waiting:
        if len(text) < longest:
            for target, chars in graph[state].items():
                for sign in "abc":
                    if any(low <= ord(sign) <= high for low, high in chars.ranges):
                        found |= {text + sign} if target == END else set()
                        waiting += [] if target == END else [(target, text + sign)]
    return found


def test_texts_stay_the_same():
    smaller = 0
    for seed in range(300):
        graph = random_graph(random.Random(seed))
        made = united(graph)
        assert next(iter(made)) == next(iter(graph))
        assert texts(made, 5) == texts(graph, 5)
        keys = [frozenset((-2 if to == state else to, regex) for to, regex in made[state].items()) for state in made]
        assert len(set(keys)) == len(keys)
        smaller += len(made) < len(graph)
    assert smaller > 20


def test_a_chain_of_equal_ends_becomes_one_state():
    digit = rx.Chars(((48, 57),))
    graph = {
        0: {1: rx.Chars(((97, 97),)), 2: rx.Chars(((98, 98),))},
        1: {3: digit},
        2: {4: digit},
        3: {END: digit},
        4: {END: digit},
    }
    assert len(united(graph)) == 3
