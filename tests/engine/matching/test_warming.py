"""Masks made ahead of time: the same as those made when asked for, known when they are asked for, and within limits."""

from __future__ import annotations

import gc
import pickle
import random
import threading
import weakref
from typing import Any

import pytest
from support.random_schemas import RandomSchemas

import structgen
from structgen.engine.deadlines import spend
from structgen.engine.matching import warming
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.warming import WarmUp, warm_in_background, warm_up
from structgen.errors import StructgenError

LONGER = [b'", "', b'"}', b'": ', b"true", b"ab", b'a"', b"[[", b"]}", b", "]
SPELLINGS = [*(bytes([byte]) for byte in range(256)), *LONGER]
VOCABULARY = structgen.Vocabulary.from_bytes(dict(enumerate([*SPELLINGS, b"</s>"])), eos_token_ids=[len(SPELLINGS)])
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"age": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
    "required": ["age", "names"],
    "additionalProperties": False,
}


def same_walk(first: structgen.Matcher, second: structgen.Matcher, rng: random.Random) -> int:
    """Compare the masks of two matchers along a text drawn at random; return how many were compared."""
    for count in range(30):
        allowed = first.allowed_token_ids()
        assert allowed == second.allowed_token_ids()
        if not allowed or first.is_terminated:
            return count
        token = rng.choice(allowed)
        first.accept_token(token)
        second.accept_token(token)
    return 30


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.one_in(4, uncompiled=12)
def test_masks_of_random_schemas_are_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "MAX_SETS", 300)
    rng = random.Random(seed)
    compared = 0
    for _ in range(4):
        schema = RandomSchemas(rng, "2020-12").document()
        try:
            cold = structgen.compile(schema, VOCABULARY, cache=False)
        except StructgenError:
            continue
        warm = structgen.compile(schema, VOCABULARY, cache=False, warm=60)
        compared += same_walk(cold.matcher(), warm.matcher(), rng)
    assert compared


@pytest.mark.parametrize(
    "grammar",
    [
        structgen.Grammar.kbnf('start ::= "a" start "b" | "";'),
        structgen.Grammar.kbnf('start ::= #token[265] "x" | "y";'),
        structgen.Grammar.regex("[é-ü]{3}(ab|cd)*"),
        structgen.Grammar.lark('start: "<" word ">"\nword[max_tokens=2]: /[a-z]*/'),
    ],
    ids=["nested", "token terminal", "no ascii", "token bound"],
)
def test_masks_of_grammars_are_the_same(grammar: structgen.Grammar) -> None:
    cold = structgen.compile(grammar, VOCABULARY, cache=False)
    warm = structgen.compile(grammar, VOCABULARY, cache=False, warm=60)
    assert all(same_walk(cold.matcher(), warm.matcher(), random.Random(seed)) for seed in range(4))


def test_a_likely_text_needs_no_new_step() -> None:
    compiled = structgen.compile(PERSON, VOCABULARY, cache=False, warm=60).grammar
    made = compiled.sets.table.count
    matcher = structgen.Matcher(compiled)
    for part in (b"{", b'"age"', b":"):
        assert matcher.allowed_token_ids()
        matcher.accept_bytes(part)
    assert matcher.allowed_token_ids()
    assert compiled.sets.table.count == made


def test_a_walk_goes_on_where_it_was_left() -> None:
    compiled = structgen.compile(PERSON, VOCABULARY, cache=False).grammar
    assert not warm_up(compiled, 0.0)
    walk = compiled.warming
    assert warm_up(compiled, 60.0)
    assert compiled.warming is walk
    assert warm_up(compiled, 60.0)


def test_a_new_epoch_ends_the_walk() -> None:
    compiled = structgen.compile(PERSON, VOCABULARY, cache=False).grammar
    walk = WarmUp(compiled)
    assert walk.step()
    compiled.renew()
    assert not walk.step()
    assert warm_up(compiled, 60.0)


@pytest.mark.parametrize(
    "limits",
    [
        structgen.Limits(item_sets=100),
        structgen.Limits(mask_bytes=0),
        structgen.Limits(mask_seconds=1e-9),
        structgen.Limits(automaton_states=2_000),
    ],
    ids=["item_sets", "mask_bytes", "mask_seconds", "automaton_states"],
)
def test_limits_end_the_walk_without_an_error(limits: structgen.Limits) -> None:
    schema = {"type": "array", "items": {"type": "string", "pattern": "^(a|b)*a(a|b){12}$"}}
    compiled = structgen.compile(schema, VOCABULARY, cache=False, limits=limits, warm=60).grammar
    assert compiled.sets.table.count <= limits.item_sets
    assert warm_up(compiled, 60.0)


def test_a_step_ends_when_another_thread_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = structgen.compile(PERSON, VOCABULARY, cache=False).grammar
    after = []

    def visit(walk: WarmUp, compiled: CompiledGrammar, set_id: int) -> None:
        compiled.expire()  # as the lock does for a thread that waits for long
        spend(10_000)
        after.append(set_id)

    monkeypatch.setattr(WarmUp, "_visit", visit)
    assert not WarmUp(compiled).step()  # only the first set was left
    assert not after
    assert not compiled.has_moved
    assert structgen.Matcher(compiled).allowed_token_ids() == [ord("{")]


def test_a_constraint_that_nobody_uses_is_freed() -> None:
    constraint = structgen.compile(PERSON, VOCABULARY, cache=False, warm=60)
    seen = weakref.ref(constraint.grammar)
    del constraint
    gc.collect()
    assert seen() is None


def test_the_background_thread_ends_when_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "SLEEP_SECONDS", 0.0)
    constraints = [structgen.compile(PERSON, VOCABULARY, cache=False, warm="background") for _ in range(3)]
    thread = warming._thread
    while thread is not None:
        thread.join()
        thread = warming._thread
    assert not warming._waiting
    for constraint in constraints:
        walk = constraint.grammar.warming
        assert isinstance(walk, WarmUp)
        assert not walk.step()


def test_an_error_in_the_background_leaves_a_grammar_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = structgen.compile(PERSON, VOCABULARY, cache=False).grammar

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(WarmUp, "_visit", fail)
    warm_in_background(compiled)
    thread = warming._thread
    if thread is not None:
        thread.join()
    assert structgen.Matcher(compiled).allowed_token_ids() == [ord("{")]


def test_a_thread_that_cannot_start_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        first = structgen.compile(PERSON, VOCABULARY, cache=False, warm="background")
    assert warming._thread is None
    structgen.compile(PERSON, VOCABULARY, cache=False, warm="background")
    thread = warming._thread
    while thread is not None:
        thread.join()
        thread = warming._thread
    assert first.grammar.warming is not None


def test_wrong_values_are_refused() -> None:
    for wrong, error in (("later", ValueError), (-1.0, ValueError), (float("inf"), ValueError), (None, TypeError)):
        with pytest.raises(error, match="warm"):
            structgen.compile(PERSON, VOCABULARY, warm=wrong)  # type: ignore[call-overload]


def test_a_pickled_constraint_is_warm_where_it_is_loaded() -> None:
    constraint = structgen.compile({**PERSON, "title": "pickled"}, VOCABULARY, warm=60)
    structgen.clear_cache()
    assert pickle.loads(pickle.dumps(constraint)).grammar.warming is not None


WORD_AND_NUMBER = """start ::= #"[a-z]+" !#"[a-z]" #" ?[0-9]+";"""


def test_the_first_mask_of_a_grammar_with_look_aheads_is_made_by_its_compile() -> None:
    constraint = structgen.compile(structgen.Grammar.kbnf(WORD_AND_NUMBER), VOCABULARY, cache=False)
    made = constraint.grammar.shared.terminals.nodes_visited
    assert made > 0
    assert constraint.matcher().allowed_token_ids()
    assert constraint.grammar.shared.terminals.nodes_visited == made


@pytest.mark.parametrize("schema", [{"properties": {"age": {"type": "integer"}}}, {"type": ["object", "string"]}])
def test_the_first_mask_of_a_schema_without_a_type_is_made_by_its_compile(schema: dict[str, Any]) -> None:
    constraint = structgen.compile(schema, VOCABULARY, cache=False)
    made = constraint.grammar.shared.terminals.nodes_visited
    assert constraint.matcher().allowed_token_ids()
    assert constraint.grammar.shared.terminals.nodes_visited == made
