"""Arrays of strings that must differ, of which there are many but not infinitely many."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import pytest
from support.judging_schemas import assert_walks_are_valid, compiled_or_none
from support.vocabularies import BYTES, accepted_tokens
from support.walks import Sampler

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.schema.algebra import StringSet

TOKENS = [
    b"[",
    b"]",
    b'"',
    b"a",
    b"b",
    b"\\",
    b"n",
    b"1",
    b",",
    b'","',
    b'",',
    b'a","',
    b'ab","b',
    b'"a"',
    b'a"]',
    b'"]',
]
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=[len(TOKENS)])


def random_items(rng: random.Random) -> dict[str, Any]:
    high = rng.randint(0, 3)
    items: dict[str, Any] = {"type": rng.choice(["string", ["string", "integer"]]), "maxLength": high}
    if rng.random() < 0.4:
        items["minLength"] = rng.randint(0, high)
    if rng.random() < 0.3:
        items["not"] = {"enum": rng.sample(["", "a", "b", "ab"], 2)}
    return items


def random_array(rng: random.Random) -> dict[str, Any]:
    array: dict[str, Any] = {"type": "array", "uniqueItems": True, "items": random_items(rng)}
    if rng.random() < 0.5:
        array["maxItems"] = rng.randint(1, 5)
    if rng.random() < 0.3:
        array["prefixItems"] = [random_items(rng), {"const": "a"}][: rng.randint(1, 2)]
    return array


@pytest.mark.one_in(1, uncompiled=10)
@pytest.mark.parametrize("seed", range(60))
def test_masks_are_what_is_accepted(seed: int) -> None:
    rng = random.Random(seed)
    schema = random_array(rng)
    constraint = structgen.compile(schema, VOCABULARY, whitespace="compact")
    for _ in range(4):
        matcher = constraint.matcher()
        for _ in range(14):
            allowed = matcher.allowed_token_ids()
            assert allowed == accepted_tokens(matcher, VOCABULARY.size)
            left = [token for token in allowed if token < len(TOKENS)]
            if not left:
                break
            matcher.accept_token(rng.choice(left))


@pytest.mark.one_in(1, uncompiled=10)
@pytest.mark.parametrize("seed", range(40))
def test_texts_end_with_items_that_differ(seed: int) -> None:
    rng = random.Random(seed)
    schema = random_array(rng) | {"minItems": rng.randint(0, 3), "maxItems": rng.randint(3, 5)}
    constraint = compiled_or_none(schema)
    assert_walks_are_valid(
        constraint, Sampler(BYTES, longest=120, late=40), jsonschema.Draft202012Validator(schema), rng, 3
    )


@pytest.mark.parametrize(
    "strings",
    [
        StringSet(high=0),
        StringSet(high=0, excluded=("",)),
        StringSet(high=1, excluded=("a", "b")),
        StringSet(low=2, high=3),
        StringSet(texts=("a", "b")),
        StringSet(low=1, high=1, texts=("a",)),
    ],
)
def test_no_more_strings_are_promised_than_there_are(strings: StringSet) -> None:
    assert strings.surely_many() <= strings.count(10**8) or strings.count(10**8) == 10**8


def test_strings_with_a_bound_are_many() -> None:
    assert StringSet(low=3, high=128).surely_many() > 10**20
