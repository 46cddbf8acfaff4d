"""Rules with other terminals: what changes, and what stays."""

from __future__ import annotations

import random

import pytest

import structgen
from structgen.engine.grammar.changed_terminals import ChangedTerminals, are_same
from structgen.engine.grammar.composition import with_terminals
from structgen.engine.grammar.tables import Capture, Ladder, Lazy
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.schema import json_schema_to_rules

OPTIONAL = {"type": "object", "properties": {name: {"type": "integer"} for name in "abc"}}
UNIQUE = {"type": "array", "items": {"enum": ["a", "b", "cd"]}, "uniqueItems": True}
VOCABULARY = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])


def keys_and_bodies(source, start):
    """Yield all nonterminals that a start leads to, with their bodies or their ladder."""
    waiting, met = [start], {start}
    while waiting:
        key = waiting.pop()
        found = source.bodies_or_ladder(key)
        yield key, found
        bodies = found.bodies if isinstance(found, Ladder) else found
        for symbol in [symbol for body in bodies for symbol in body]:
            new = [symbol.key] if isinstance(symbol, Lazy) else []
            if isinstance(symbol, Capture):
                new = [source.after(symbol.then, None)]
            waiting += [key for key in new if key is not None and key not in met]
            met.update(new)


def renamed(regex):
    """Return a terminal with `x` for each `b` of its literals."""
    if isinstance(regex, rx.Literal):
        return rx.Literal(regex.data.replace(b"b", b"x")) if b"b" in regex.data else regex
    if isinstance(regex, rx.LiteralSet):
        return rx.literal_set([text.replace(b"b", b"x") for text in regex.texts])
    return rx.sequence(*map(renamed, regex.parts)) if isinstance(regex, rx.Sequence) else regex


@pytest.mark.parametrize("schema", [OPTIONAL, UNIQUE])
def test_rules_without_changed_terminals_are_the_same(schema):
    tables = json_schema_to_rules(schema)
    source = ChangedTerminals(tables, lambda regex: regex)
    for key, found in keys_and_bodies(source, tables.lazy[0]):
        bodies = tables.source.bodies_or_ladder(key)
        if isinstance(found, Ladder):
            found, bodies = found.bodies, bodies.bodies
        assert all(map(are_same, found, bodies))
        assert len(found) == len(bodies)


def test_ladders_stay_ladders():
    tables = json_schema_to_rules(OPTIONAL)
    changed = with_terminals(tables, renamed)
    ladders = [found for _, found in keys_and_bodies(changed.source, changed.lazy[0]) if isinstance(found, Ladder)]
    written = repr([body[0] for ladder in ladders for body in ladder.bodies])
    assert '"x"' in written
    assert '"b"' not in written


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("schema", [OPTIONAL, UNIQUE, {"type": "object", "required": ["b"], "minProperties": 2}])
def test_texts_are_those_of_the_rules_with_other_terminals(schema, seed):
    """A walk over the changed rules is one over the rules themselves, with the letters exchanged."""
    tables = json_schema_to_rules(schema)
    rng = random.Random(seed)
    plain = Matcher(CompiledGrammar(tables, VOCABULARY))
    same = Matcher(CompiledGrammar(with_terminals(tables, lambda regex: regex), VOCABULARY))
    text = b""
    for _ in range(40):
        allowed = plain.allowed_token_ids()
        assert same.allowed_token_ids() == allowed
        token = rng.choice(allowed)
        if token == 256:
            break
        text += bytes([token])
        plain.accept_token(token)
        same.accept_token(token)
    if schema is OPTIONAL:
        Matcher(CompiledGrammar(with_terminals(tables, renamed), VOCABULARY)).accept_bytes(text.replace(b'"b"', b'"x"'))


def test_messages_describe_the_rules_that_were_changed():
    schema = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
    tables = json_schema_to_rules(schema)
    matcher = Matcher(CompiledGrammar(with_terminals(tables, renamed), VOCABULARY))
    matcher.accept_bytes(b'{"x":')
    plain = Matcher(CompiledGrammar(tables, VOCABULARY))
    plain.accept_bytes(b'{"b":')
    assert [str(each) for each in matcher.expected()] == [str(each) for each in plain.expected()]


def test_a_grammar_without_source_is_refused():
    with pytest.raises(ValueError, match="without a source"):
        ChangedTerminals(normalize(parse("start ::= 'a';")), renamed)
