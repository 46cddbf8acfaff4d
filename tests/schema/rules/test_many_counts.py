"""Many `contains` are one count each: the language is that of `jsonschema`, and their number costs little."""

import random

import jsonschema
import pytest
from support.judging_schemas import accepts, assert_walks_are_valid, compiled_or_none
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.schema.reading import exploration

KINDS = [
    {"const": 1}, {"enum": [1, "x"]}, {"minimum": 2}, {"type": "integer"}, {"type": "string"}, {"multipleOf": 2},
    {"not": {"type": "string"}}, {"maxLength": 1}, True,
]  # fmt: skip
VALUES = [1, 2, 3, 0.5, "x", "yy", None]
SAMPLER = Sampler(BYTES, longest=300, repeats=0.2)


def random_schema(rng):
    def count():
        low = rng.randint(0, 2)
        return {"contains": rng.choice(KINDS), "minContains": low, "maxContains": rng.randint(max(low, 1), 3)}

    others = {
        "items": lambda: rng.choice(KINDS),
        "prefixItems": lambda: rng.sample(KINDS, 2),
        "minItems": lambda: rng.randint(1, 3),
        "maxItems": lambda: rng.randint(2, 5),
        "uniqueItems": lambda: True,
    }
    chosen = rng.sample(list(others), rng.randint(0, 2))
    counts = [count() for _ in range(rng.randint(2, 4))]
    return {"type": "array", "allOf": counts} | {keyword: others[keyword]() for keyword in chosen}


@pytest.mark.one_in(4, uncompiled=10)
@pytest.mark.parametrize("seed", range(160))
def test_counts_have_the_language_of_jsonschema(seed, monkeypatch):
    monkeypatch.setattr(exploration, "_MAX_UNTESTED", 0)
    rng = random.Random(seed)
    schema = random_schema(rng)
    validator = jsonschema.Draft202012Validator(schema)
    constraint = compiled_or_none(schema)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 2)
    for _ in range(60):
        value = [rng.choice(VALUES) for _ in range(rng.randint(0, 5))]
        accepted = constraint is not None and accepts(constraint, value)
        assert accepted == validator.is_valid(value), value


def many(count, **others):
    counts = [{"contains": {"const": i}, "minContains": 2, "maxContains": 3} for i in range(count)]
    return {"type": "array", "allOf": counts, **others}


@pytest.mark.parametrize("others", [{}, {"maxItems": 60}, {"items": {"type": "integer"}}])
def test_thirty_counts(others):
    schema = many(30, **others)
    constraint = structgen.compile(schema, BYTES)
    values = [*range(30), *reversed(range(30))]
    assert accepts(constraint, values)
    assert not accepts(constraint, values[1:])
    assert not accepts(constraint, [*values, 7, 7])
    assert accepts(constraint, [*values, "x"]) == (not others)


@pytest.mark.parametrize("others", [{"maxItems": 59}, {"uniqueItems": True}, {"items": {"maximum": 28}}])
def test_thirty_counts_that_cannot_be_met(others):
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(many(30, **others), BYTES)


def test_counts_of_items_that_overlap_in_many_ways_are_refused():
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
    schema = {"type": "array", "allOf": [{"contains": {"type": "integer", "multipleOf": prime}} for prime in primes]}
    with pytest.raises(structgen.LimitExceededError, match="too many ways to count"):
        structgen.compile(schema, BYTES)
