"""Ladders: the optional properties of an object are predicted as one nonterminal, and nothing else changes."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.schema import schema_to_rules

_PIECES = (
    """{" ":" "," ":{ },{ {"a": {"a":1 "a":1,"b" "b":"x","c": "e": ,"f": 1,"g" [{ },{"b": "x":1 "y" }] }} ":1} {} 1} """
)
END = 400
VOCABULARY = Vocabulary.from_bytes(
    {byte: bytes([byte]) for byte in range(32, 127)}
    | {200 + number: piece.encode() for number, piece in enumerate(_PIECES.split())}
    | {END: b""},
    eos_token_ids=[END],
)


class WithoutLadders:
    """The same rules from a source that makes the bodies of each nonterminal alone."""

    def __init__(self, source: Any) -> None:
        for name in ("bodies", "after", "refusals", "remaining", "least_bytes", "forget"):
            setattr(self, name, getattr(source, name))


def random_object(rng: random.Random, depth: int) -> dict[str, Any]:
    names = rng.sample("abcdefgh", rng.randint(0, 7))
    values: list[Any] = [{"type": "integer"}, {"enum": ["x", 1]}, {"type": "string", "pattern": "^[xy]*$"}, False]
    if depth:
        items = {"type": "array", "items": random_object(rng, depth - 1), "uniqueItems": rng.random() < 0.5}
        values += [random_object(rng, depth - 1), items] * 2
    schema: dict[str, Any] = {"type": "object", "properties": {name: rng.choice(values) for name in names}}
    held = [name for name in names if schema["properties"][name] is not False]
    schema["required"] = [name for name in held if rng.random() < 0.3]
    if rng.random() < 0.7:
        schema["additionalProperties"] = rng.choice([False, {"type": "integer"}])
    if rng.random() < 0.2:
        schema["minProperties"] = 2
    if rng.random() < 0.2:
        schema["anyOf"] = [{"required": [rng.choice("abcx")]}, {"maxProperties": 3}]
    return schema


def test_an_object_that_differs_from_another_one_by_a_key_that_it_leaves_out() -> None:
    keys = {name: {"enum": ["x", 1]} for name in "abcd"}
    items = {"type": "object", "properties": keys, "additionalProperties": {"type": "integer"}}
    matcher = Matcher(compiled(schema_to_rules({"type": "array", "uniqueItems": True, "items": items})))
    matcher.accept_bytes(b'[{"a":1,"b":1},{"a":1')
    assert matcher.allows_bytes(b',"b":"x"}') and matcher.allows_bytes(b',"c":1') and matcher.allows_bytes(b',"z":1')


def compiled(tables: GrammarTables) -> CompiledGrammar:
    return CompiledGrammar(tables, VOCABULARY)


@pytest.mark.parametrize("seed", range(60))
def test_a_ladder_allows_what_the_nonterminals_alone_allow(seed: int) -> None:
    rng = random.Random(seed)
    objects = [random_object(rng, 2) for _ in range(rng.randint(1, 2))]
    tables = schema_to_rules({"anyOf": [*objects, {"type": "integer"}]})  # the objects may have no value
    one, other = compiled(tables), compiled(replace(tables, source=WithoutLadders(tables.source)))
    for _ in range(4):
        matchers = Matcher(one), Matcher(other)
        for _ in range(60):
            allowed = matchers[0].allowed_token_ids()
            assert allowed == matchers[1].allowed_token_ids()
            assert matchers[0].forced_bytes() == matchers[1].forced_bytes()
            allowed = [token for token in allowed if token != END]
            if not allowed:
                break
            token = rng.choice([token for token in allowed if token >= 200] or allowed)
            for matcher in matchers:
                matcher.accept_token(token)


def test_rules_of_optional_properties_are_written_once() -> None:
    names = [f"key{number}" for number in range(40)]
    schema = {"properties": {name: {"type": "integer"} for name in names}, "additionalProperties": False}
    grammar = compiled(schema_to_rules({"type": "object", **schema}))
    matcher = Matcher(grammar)
    matcher.accept_bytes(b'{"key0":1,"')
    assert matcher.allows_bytes(b'key1":1,"key39":1}')
    before = grammar.sets.rules.size
    matcher.accept_bytes(b'key1":1,"')
    assert matcher.allows_bytes(b'key2":1') and not matcher.allows_bytes(b'key1":1')
    assert grammar.sets.rules.size - before < 40  # the keys after the second have their rules
