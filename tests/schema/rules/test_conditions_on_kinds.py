"""Many conditions on the kind of a nested object and on a further key of it, as in Camunda's templates."""

import random

import jsonschema
import pytest
from support.judging_schemas import accepts, assert_walks_are_valid
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen

KINDS = [f"k{number}" for number in range(14)]
PROPERTIES = ["one", "two", "three"]
TYPES = ["Hidden", "String", "Text", "Number"]
SAMPLER = Sampler(BYTES, longest=400)


def binding(rng):
    """A binding of some kinds, perhaps with a key that tells more."""
    kinds = rng.sample(KINDS, rng.choice([1, 1, 2, 4]))
    properties = {"type": {"const": kinds[0]} if len(kinds) == 1 else {"enum": kinds}}
    if rng.random() < 0.7:
        properties["property"] = rng.choice([{"const": rng.choice(PROPERTIES)}, {"enum": rng.sample(PROPERTIES, 2)}])
    return {"properties": properties, "required": list(properties)}


def condition(rng):
    asked = {"properties": {"binding": binding(rng)}, "required": ["binding"]}
    if rng.random() < 0.3:
        asked["properties"]["type"] = {"enum": rng.sample(TYPES, 2)}
        asked["required"].append("type")
    then = rng.choice(
        [
            {"properties": {"type": {"enum": rng.sample(TYPES, 3)}}, "required": ["type"]},
            {"not": {"required": ["feel"]}},
            {"properties": {"value": {"type": rng.choice(["string", "integer"])}}},
            {"anyOf": [{"required": ["feel"]}, {"properties": {"type": {"enum": TYPES[:2]}}}]},
        ]
    )
    return {"if": asked, "then": then}


def template(rng, count):
    kinds = [{"properties": {"type": {"const": kind}}, "required": ["type", rng.choice(PROPERTIES)]} for kind in KINDS]
    shared = {"property": {"enum": PROPERTIES}, **{key: {"type": "null"} for key in PROPERTIES}}
    nested = {"type": "object", "properties": {"type": {"type": "string"}, **shared}, "oneOf": kinds}
    own = {"type": {"enum": TYPES}, "binding": nested, "value": {}, "feel": {"enum": ["optional", "required"]}}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": own,
        "required": ["binding"],
        "additionalProperties": False,
        "allOf": [condition(rng) for _ in range(count)],
    }


def value(rng):
    kind = {"type": rng.choice(KINDS), "property": rng.choice(PROPERTIES), **dict.fromkeys(PROPERTIES)}
    others = {"type": rng.choice(TYPES), "value": rng.choice(["x", 1]), "feel": "optional"}
    left = {key: held for key, held in others.items() if rng.random() < 0.7}
    return {"binding": {key: held for key, held in kind.items() if key == "type" or rng.random() < 0.8}, **left}


@pytest.mark.parametrize(("seed", "count"), [(seed, 4) for seed in range(10)] + [(11, 30), (12, 40)])
def test_conditions_on_kinds_compile_to_their_values(seed, count):
    rng = random.Random(seed)
    schema = template(rng, count)
    validator = jsonschema.Draft7Validator(schema)
    constraint = structgen.compile(schema, BYTES, property_order="any", cache=False)
    values = [value(rng) for _ in range(60)]
    for one in values:
        assert accepts(constraint, one) == validator.is_valid(one), one
    assert {validator.is_valid(one) for one in values} == {False, True}
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 3)
