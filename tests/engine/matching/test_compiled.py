"""Compiled grammars: shared tables, dropped tables, and sets that are copied into new stores."""

from __future__ import annotations

import gc
import random
import weakref

import pytest
from support.grammars import random_grammar
from support.vocabularies import BYTES, EOS, SMALL, compiled_from

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.normal_form.passes import normalize
from structgen.limits import Limits

GRAMMAR = "start ::= '\"' #'[ab]*' '\"' | #'[0-9]+' '.';"


def test_grammars_of_one_vocabulary_and_the_same_limits_share_their_tables() -> None:
    first, second = compiled_from(GRAMMAR), compiled_from("start ::= #'[ab]*' '.';")
    assert first.shared is second.shared
    assert compiled_from(GRAMMAR, BYTES).shared is not first.shared
    assert compiled_from(GRAMMAR, limits=Limits(set_items=999)).shared is not first.shared
    assert first.lock is second.lock


def test_a_terminal_of_two_grammars_is_walked_once() -> None:
    vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"ab", 2: b'"', 3: b"walked once"})
    Matcher(compiled_from(GRAMMAR, vocabulary)).allowed_token_ids()
    first = compiled_from("start ::= 'x' #'[ab]*' 'x';".replace("x", '"'), vocabulary)
    Matcher(first).allowed_token_ids()
    visited = first.shared.terminals.nodes_visited
    second = compiled_from("start ::= 'x' #'[ab]*' 'x';".replace("x", '"'), vocabulary)
    assert Matcher(second).allowed_token_ids() == Matcher(first).allowed_token_ids()
    assert second.shared.terminals.nodes_visited == visited


def test_nothing_keeps_a_vocabulary_alive() -> None:
    vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"kept by nobody"})
    Matcher(compiled_from("start ::= 'a';", vocabulary)).allowed_token_ids()
    gone = weakref.ref(vocabulary)
    del vocabulary
    gc.collect()
    assert gone() is None


def test_tables_worn_by_other_grammars_are_not_used_by_new_ones() -> None:
    limits = Limits(automaton_states=400)
    old = compiled_from("start ::= #'(a|b)*a(a|b){7}' '.';", BYTES, limits=limits)
    matcher = Matcher(old)
    rng = random.Random(0)
    while not old.shared.is_worn:
        matcher.accept_bytes(rng.choice((b"a", b"b")))
    assert compiled_from("start ::= 'a';", BYTES, limits=limits).shared is not old.shared
    assert matcher.allowed_token_ids()


@pytest.mark.one_in(1, uncompiled=4)
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_a_copied_set_has_the_same_future(seed: int, eager: bool) -> None:
    """Drop the sets at most tokens, on random grammars: ambiguous, cyclic, left- and right-recursive."""
    rng = random.Random(seed)
    tables = normalize(random_grammar(rng), keep_endless=eager)
    compiled, plain = (CompiledGrammar(tables, SMALL, eager=eager) for _ in range(2))
    matcher, expected = Matcher(compiled), Matcher(plain)
    for step in range(10):
        allowed = expected.allowed_token_ids()
        assert matcher.allowed_token_ids() == allowed
        assert matcher.is_accepting == expected.is_accepting
        assert matcher.forced_bytes()[:50] == expected.forced_bytes()[:50]
        if not allowed:
            break
        token = rng.choice(allowed)
        matcher.accept_token(token)
        expected.accept_token(token)
        if step % 3 != 2:
            compiled.renew_sets()
        if rng.random() < 0.2:
            count = 1
            matcher.rollback(count)
            expected.rollback(count)
            compiled.renew()
    assert compiled.sets.set_count <= 5000


def test_a_set_is_found_again_after_any_number_of_renewals() -> None:
    compiled = compiled_from(GRAMMAR)
    matchers = [Matcher(compiled) for _ in range(4)]
    for index, matcher in enumerate(matchers):
        matcher.accept_bytes(b'"ab')
        for _ in range(index):
            compiled.renew_sets()
    compiled.renew()
    compiled.renew_sets()
    for matcher in matchers:
        assert matcher.allowed_token_ids() == compiled_at('"ab')
        matcher.accept_bytes(b'"')
        assert set(EOS) <= set(matcher.allowed_token_ids())


def compiled_at(text: str) -> list[int]:
    matcher = Matcher(compiled_from(GRAMMAR))
    matcher.accept_bytes(text.encode())
    return matcher.allowed_token_ids()
