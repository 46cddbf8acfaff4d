"""Classes of tokens by the rest of the text: compared with the rest after each token alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from support.grammars import random_grammar
from support.random_schemas import RandomSchemas

import structgen
from structgen.engine.matching import rests
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.rests import rests_around, shortest_rest, tokens_by_rest, tokens_towards
from structgen.engine.vocabulary.bitmask import tokens_of
from structgen.errors import StructgenError
from structgen.kbnf.normal_form.passes import normalize

LONGER = [b'", "', b'"}', b'": ', b"true", b"ab", b'a"', b"[[", b"]}", b", ", b' "']
SPELLINGS = [*(bytes([byte]) for byte in range(256)), *LONGER]
VOCABULARY = structgen.Vocabulary.from_bytes(dict(enumerate([*SPELLINGS, b"</s>"])), eos_token_ids=[len(SPELLINGS)])


def check(matcher: Matcher) -> bool:
    """Compare the classes with the rest after each allowed token; return whether there are classes."""
    classes = tokens_by_rest(matcher)
    if classes is None:
        return False
    masks = dict(zip(classes.lengths, classes.masks, strict=True))
    for token in matcher.allowed_token_ids():
        if token in VOCABULARY.eos_token_ids:
            continue
        matcher.accept_token(token)
        rest = shortest_rest(matcher)
        matcher.rollback(1)
        assert rest is not None
        assert rest.tokens is not None
        assert token in tokens_of(masks[len(rest.text), len(rest.tokens)]), VOCABULARY.token_bytes(token)
    return True


def walk(matcher: Matcher, rng: random.Random, most: int) -> int:
    """Check along a text drawn at random; return the number of its item sets with classes."""
    found = 0
    for _ in range(most):
        allowed = [token for token in matcher.allowed_token_ids() if token not in VOCABULARY.eos_token_ids]
        if matcher.is_terminated or not allowed:
            break
        found += check(matcher)
        matcher.accept_token(rng.choice(allowed))
    return found


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.one_in(4, uncompiled=10)
def test_classes_of_random_schemas(seed: int) -> None:
    rng = random.Random(seed)
    try:
        constraint = structgen.compile(RandomSchemas(rng, "2020-12").document(), VOCABULARY, numbers="plain")
    except StructgenError:
        return
    walk(constraint.matcher(), rng, 12)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.one_in(4, uncompiled=10)
def test_classes_of_random_grammars(seed: int) -> None:
    rng = random.Random(seed)
    compiled = CompiledGrammar(normalize(random_grammar(rng)), VOCABULARY)
    walk(Matcher(compiled), rng, 12)


def test_a_mask_is_narrowed_to_the_tokens_that_fit() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    matcher = structgen.compile(schema | {"additionalProperties": False}, VOCABULARY).matcher()
    matcher.accept_bytes(b'{"a": "x')
    classes = tokens_by_rest(matcher)
    assert classes is not None
    mask = structgen.allocate_token_bitmask(1, VOCABULARY.size)
    matcher.fill_next_token_bitmask(mask)
    classes.within(max_tokens=0).keep(mask[0])
    assert [VOCABULARY.token_bytes(token) for token in tokens_of(mask[0])] == [b'"}']
    longest = max(count for _, count in classes.lengths)
    assert [classes.all_within(count) for count in (0, longest - 1, longest)] == [False, False, True]
    matcher.fill_next_token_bitmask(mask)
    classes.within(max_bytes=1).keep(mask[0])
    assert [VOCABULARY.token_bytes(token) for token in tokens_of(mask[0])] == [b'"', b'"}', b'a"', b' "']


def test_end_tokens_stay() -> None:
    matcher = structgen.compile({"type": "integer"}, VOCABULARY, numbers="plain").matcher()
    matcher.accept_bytes(b"12")
    classes = tokens_by_rest(matcher)
    assert classes is not None
    mask = structgen.allocate_token_bitmask(1, VOCABULARY.size)
    matcher.fill_next_token_bitmask(mask)
    classes.within(max_tokens=-1).keep(mask[0])
    assert tokens_of(mask[0]).tolist() == list(VOCABULARY.eos_token_ids)


def test_no_classes_where_texts_are_captured_or_too_many_sets_are_reached(monkeypatch: Any) -> None:
    matcher = structgen.compile({"type": "object", "additionalProperties": True}, VOCABULARY).matcher()
    matcher.accept_bytes(b'{"a')
    assert tokens_by_rest(matcher) is None
    monkeypatch.setattr(rests, "MAX_REACHED", 1)
    assert tokens_by_rest(structgen.compile({"type": "array"}, VOCABULARY, cache=False).matcher()) is None


@pytest.mark.parametrize("text", [b'{"name": "x', b'{"name": "', b'{"name": "x", "tags": ["'])
def test_closing_tokens_of_strings_are_all_that_shorten_the_rest(text: bytes) -> None:
    schema = {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}
    whole = {"type": "object", "properties": schema, "required": ["name", "tags"], "additionalProperties": False}
    matcher = structgen.compile(whole, VOCABULARY, whitespace="single").matcher()
    matcher.accept_bytes(text)
    rest = shortest_rest(matcher)
    assert rest is not None
    shorter, found = [], []
    for token in matcher.allowed_token_ids():
        around = rests_around(matcher, token, with_closing=True)
        assert around is not None
        before, after, closing = around
        assert before == rest
        assert after is not None
        if len(after.text) < len(rest.text) and VOCABULARY.token_bytes(token) != b' "':
            shorter.append(token)
        if closing is not None:
            assert after == rest
            found.append(closing.tolist())
    assert found
    assert all(closing == shorter for closing in found)


def test_the_tokens_towards_a_rest_end_with_its_first_token() -> None:
    matcher = structgen.compile({"type": "object", "additionalProperties": True}, VOCABULARY).matcher()
    matcher.accept_bytes(b'{"a')
    rest = shortest_rest(matcher)
    assert rest is not None
    around = rests_around(matcher, next(iter(matcher.allowed_token_ids())), with_closing=True)
    assert around is not None
    assert around.closing is None
    mask = np.full((1, 9), 0xFFFFFFFF, np.uint32)
    *found, end = tokens_towards(matcher, rest).keep(mask[0]) or [0]
    assert [VOCABULARY.token_bytes(token) for token in found] == [
        b'"',
        b'", "',
        b'a"',
        b' "',
    ]  # the mask forbids the second
    assert end in VOCABULARY.eos_token_ids


def test_a_token_that_is_more_than_its_text_has_no_rests_around() -> None:
    matcher = structgen.compile({"type": "integer"}, VOCABULARY, numbers="plain").matcher()
    matcher.accept_bytes(b"1")
    assert rests_around(matcher, VOCABULARY.eos_token_ids[0]) is None
