"""Shortest completions: compared with a search through all texts, byte by byte."""

from __future__ import annotations

import random

import pytest
from support.grammars import random_grammar
from support.random_schemas import DRAFTS, RandomSchemas
from support.walks import byte_vocabulary

import structgen
from structgen.engine.grammar import shortest_bodies
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.shortest_completions import shortest_completion
from structgen.errors import LimitExceededError, StructgenError
from structgen.kbnf.normal_form.passes import normalize

DEEPEST = 9  # bytes that a search through all texts goes down
MOST = 4_000  # item sets that it reaches


def by_search(compiled: CompiledGrammar, text: bytes) -> int | None:
    """Return how many bytes complete a text, by a search through all texts; None where it became too large."""
    sets = compiled.sets
    reached = sets.start_set
    for byte in text:
        reached = sets.goto(reached, byte)
    level, seen = {reached}, {reached}
    for length in range(DEEPEST):
        if any(sets.table.accepting[each] for each in level):
            return length
        try:
            level = {target for each in level for byte in range(256) if (target := sets.goto(each, byte))} - seen
        except LimitExceededError:  # a matcher would begin its sets anew
            return None
        seen |= level
        if len(seen) > MOST:
            break
    return None


def check(compiled: CompiledGrammar, text: bytes, *, may_be_longer: bool = False) -> bool:
    """Check the completion of a text; return whether the search told how long it has to be."""
    matcher = Matcher(compiled)
    matcher.accept_bytes(text)
    found = shortest_completion(matcher)
    least = by_search(compiled, text)
    assert found is not None or least is None, text
    if found is not None:
        matcher.accept_bytes(found)
        assert matcher.is_accepting, (text, found)
        assert least is None or len(found) == least or (may_be_longer and len(found) > least), (text, found)
    return least is not None


def walk(compiled: CompiledGrammar, rng: random.Random, most: int) -> bytes:
    """Return the beginning of a text, drawn at random."""
    matcher = Matcher(compiled)
    text = b""
    for _ in range(rng.randint(0, most)):
        allowed = [token for token in matcher.allowed_token_ids() if token < 256]
        if not allowed:
            break
        matcher.accept_token(byte := rng.choice(allowed))
        text += bytes((byte,))
    return text


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(3, uncompiled=6)
def test_completions_of_random_grammars_are_shortest(seed: int) -> None:
    rng = random.Random(seed)
    known = 0
    while known < 20:
        try:
            tables = normalize(random_grammar(rng))
        except StructgenError:
            continue
        compiled = CompiledGrammar(tables, byte_vocabulary())
        known += check(compiled, walk(compiled, rng, 12))


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.one_in(5, uncompiled=10)
def test_completions_of_random_schemas_complete_them(seed: int) -> None:
    rng = random.Random(seed)
    schemas = RandomSchemas(rng, rng.choice(list(DRAFTS)))
    order = rng.choice(("schema", "any"))
    try:
        compiled = structgen.compile(
            schemas.document(), byte_vocabulary(), property_order=order, formats="annotate"
        ).grammar
    except StructgenError:
        return
    for _ in range(5):
        check(compiled, walk(compiled, rng, 25))


@pytest.mark.parametrize(
    ("schema", "text", "completion"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, b"", b'{"a":0}'),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, b'{"a":1', b"}"),
        ({"type": "string", "minLength": 3}, b'"x', b'aa"'),
        ({"type": "array", "items": {"enum": [1, 2, "a"]}, "uniqueItems": True, "minItems": 3}, b"[1", b',2,"a"]'),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2}, b'[""', b'," "]'),
        ({"type": "object", "additionalProperties": {"type": "null"}, "minProperties": 2}, b'{"":null', b'," ":null}'),
        ({"type": "array", "contains": {"const": 7}, "minContains": 2}, b"[1,7", b",7]"),
        ({"anyOf": [{"const": "a long text"}, {"type": "object", "required": ["b"]}]}, b"", b'{"b":0}'),
    ],
)
def test_completions_of_schemas(schema: object, text: bytes, completion: bytes) -> None:
    matcher = structgen.compile(schema, byte_vocabulary()).matcher()
    matcher.accept_bytes(text)
    assert shortest_completion(matcher) == completion


@pytest.mark.parametrize("order", ["schema", "any"])
def test_optional_properties_are_left_out(order: str) -> None:
    names = [f"k{number}" for number in range(40)]
    schema = {"type": "object", "properties": {name: {"type": "boolean"} for name in names}, "required": names[30:]}
    matcher = structgen.compile(schema, byte_vocabulary(), property_order=order).matcher()  # type: ignore[call-overload]
    found = shortest_completion(matcher)
    assert found is not None
    assert len(found) == len('{"k30":true' + ',"k30":true' * 9 + "}")


def test_a_long_array_is_completed() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 500}
    matcher = structgen.compile(schema, byte_vocabulary()).matcher()
    assert shortest_completion(matcher) == b"[" + b"0," * 499 + b"0]"


@pytest.mark.slow
def test_a_completion_is_found_where_too_many_bodies_would_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortest_bodies, "MAX_BODIES", 3)
    rng = random.Random(1)
    schema = {
        "type": "object",
        "properties": {f"key{number}": {"type": ["integer", "array"], "minItems": 2} for number in range(6)},
        "required": ["key2", "key5"],
    }
    compiled = structgen.compile(schema, byte_vocabulary(), property_order="any").grammar
    for _ in range(10):
        check(compiled, walk(compiled, rng, 30), may_be_longer=True)


def test_rules_that_never_end_have_no_completion() -> None:
    grammar = structgen.Grammar.kbnf("start ::= 'a' | 'b' endless; endless ::= 'c' endless;")
    matcher = structgen.compile(grammar, byte_vocabulary()).matcher()
    assert shortest_completion(matcher) == b"a"
    matcher.accept_bytes(b"b")
    assert shortest_completion(matcher) is None


def test_a_look_ahead_is_kept() -> None:
    grammar = structgen.Grammar.kbnf("start ::= 'a' !'b' rest; rest ::= 'b' | 'cc';")
    matcher = structgen.compile(grammar, byte_vocabulary()).matcher()
    assert shortest_completion(matcher) == b"acc"


def test_a_text_that_has_ended_needs_nothing() -> None:
    matcher = structgen.compile(structgen.Grammar.kbnf("start ::= 'a';"), byte_vocabulary()).matcher()
    matcher.accept_bytes(b"a")
    assert shortest_completion(matcher) == b""


def test_tables_that_are_begun_anew_give_the_same_completions() -> None:
    limits = structgen.Limits(item_sets=60)
    schema = {"type": "array", "items": {"enum": ["north", "south"]}, "uniqueItems": True, "minItems": 2}
    matcher = structgen.compile(schema, byte_vocabulary(), limits=limits).matcher()
    matcher.accept_bytes(b'["so')
    for _ in range(3):
        assert shortest_completion(matcher) == b'uth","north"]'
        matcher.fork().accept_bytes(b'uth", "north"')


@pytest.mark.parametrize(("begun", "completion"), [("", "[0,0]"), ("[7", ",7]"), ("[1,2", ",2]"), ('["w', '",0,0]')])
def test_a_later_item_equals_one_of_unknown_text(begun: str, completion: str) -> None:
    schema = {"type": "array", "not": {"uniqueItems": True}}
    matcher = structgen.compile(schema, byte_vocabulary(), whitespace="compact").matcher()
    matcher.accept_bytes(begun.encode())
    assert shortest_completion(matcher) == completion.encode()
