"""Random arrays whose items must differ and have few values: no text under the masks stops early."""

import random

import jsonschema
import pytest
from support.judging_schemas import assert_walks_are_valid, compiled_or_none
from support.vocabularies import BYTES
from support.walks import Sampler

SCALARS = [
    {"type": "boolean"}, {"const": 1}, {"enum": ["a", "b"]}, {"enum": ["a b", "é", " "]}, {"type": "number"},
    {"type": "string", "format": "idn-hostname", "enum": ["a b", " "]}, {"enum": [[], [1], {}, None]},
    {"type": "object"},
]  # fmt: skip
SAMPLER = Sampler(BYTES, longest=250, late=40)


def random_array(rng, depth):
    keywords = {
        "items": lambda: random_schema(rng, depth - 1),
        "contains": lambda: random_schema(rng, depth - 1),
        "minItems": lambda: rng.randint(1, 3),
        "maxItems": lambda: rng.randint(0, 3),
        "uniqueItems": lambda: True,
    }
    return {"type": "array", **{name: make() for name, make in keywords.items() if rng.random() < 0.5}}


def random_object(rng, depth):
    keywords = {
        "properties": lambda: {key: random_schema(rng, depth - 1) for key in rng.sample("ab", rng.randint(1, 2))},
        "required": lambda: [rng.choice("ab")],
        "additionalProperties": lambda: rng.choice([False, random_schema(rng, depth - 1)]),
        "propertyNames": lambda: rng.choice([{"enum": ["a", "b"]}, {"pattern": "^[abc]$"}, {"maxLength": 0}]),
        "minProperties": lambda: rng.randint(0, 3),
        "maxProperties": lambda: rng.randint(0, 2),
    }
    return {"type": "object", **{name: make() for name, make in keywords.items() if rng.random() < 0.4}}


def random_schema(rng, depth):
    if depth <= 0 or rng.random() < 0.3:
        return rng.choice(SCALARS)
    return random_array(rng, depth) if rng.random() < 0.75 else random_object(rng, depth)


@pytest.mark.one_in(3, uncompiled=10)
@pytest.mark.parametrize("seed", range(150))
def test_masks_never_run_out_of_different_items(seed):
    rng = random.Random(seed)
    schema = {"type": "array", "uniqueItems": True, "items": random_schema(rng, 3), "minItems": rng.randint(1, 4)}
    validator = jsonschema.Draft202012Validator(schema)
    constraint = compiled_or_none(schema)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 3)
