"""Chains of conditions on one key: the values are those of `jsonschema`, and their sets of objects do not multiply."""

import random

import jsonschema
import pytest
from support.membership import is_member, space_of

from structgen.schema.reading.tagged_pairs import MANY_PAIRS

KINDS = [f"t{i}" for i in range(18)]
KEYS = ["kind", "p0", "p1", "p12"]


def random_test(rng, i):
    """A schema of the key: one text, several, all but some, a union, or texts that a pattern narrows."""
    some = rng.sample(KINDS, 3)
    return rng.choice(
        [
            {"const": KINDS[i]},
            {"const": KINDS[i]},
            {"enum": [KINDS[i], *some]},
            {"enum": [KINDS[i], None]},
            {"type": "string", "enum": some},
            {"not": {"enum": some}},
            {"anyOf": [{"const": KINDS[i]}, {"const": some[0]}]},
            {"enum": some, "pattern": "[0-4]$"},
            {"const": i},
        ]
    )


def random_consequence(rng):
    key = rng.choice(KEYS)
    return rng.choice(
        [
            {"required": [key]},
            {"properties": {key: {"enum": ["a", "t1", "t2"]}}},
            {"properties": {"kind": {"enum": rng.sample(KINDS, 9)}}},
            {"properties": {key: {"type": "integer"}}, "required": ["p1"]},
            {"not": {"required": [key]}},
            {"minProperties": 2},
            False,
        ]
    )


def random_chain(rng):
    """Plain conditions on one kind each, and between them others, which split the sets of several kinds."""
    conditions = []
    for i in range(rng.randint(12, 18)):
        is_plain = i < 6 or rng.random() < 0.7
        test = {"properties": {"kind": {"const": KINDS[i]} if is_plain else random_test(rng, i)}}
        if rng.random() < 0.5:
            test["required"] = ["kind"]
        then = {"required": [f"p{i}"]} if is_plain else random_consequence(rng)
        condition = {"if": test, "then": then}
        if rng.random() < 0.05:
            condition["else"] = random_consequence(rng)
        conditions.append(condition)
    return {"allOf": conditions} | ({"required": ["kind"]} if rng.random() < 0.5 else {})


def random_values(rng, count):
    values = [None, 1, "t0", []]
    for _ in range(count):
        value = {key: rng.choice(["a", "t1", 1, None]) for key in rng.sample(KEYS[1:], rng.randint(0, 3))}
        kind = rng.randrange(len(KINDS))
        if rng.random() < 0.85:
            value["kind"] = KINDS[kind] if rng.random() < 0.8 else rng.choice(["x", 2, None])
        if rng.random() < 0.7:
            value[f"p{kind}"] = 1
        values.append(value)
    return values


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("negated", [False, True])
def test_members_of_random_chains_are_the_valid_values(seed, negated):
    rng = random.Random(seed)
    schema = random_chain(rng)
    schema = {"not": schema} if negated else schema
    validator = jsonschema.Draft202012Validator(schema)
    space, root = space_of(schema)
    for value in random_values(rng, 150):
        assert is_member(space, root, value) == validator.is_valid(value), value


def test_a_condition_adds_one_set():
    """Each condition tells one kind from the others, and has a key and a value of its own."""
    conditions = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": {"required": [f"p{i}"], "properties": {f"q{i}": {"const": i}}},
        }
        for i, kind in enumerate(KINDS)
    ]
    space, root = space_of({"allOf": conditions})
    assert MANY_PAIRS / 2 < len(space.shape(root).objects) <= len(KINDS) + 2


@pytest.mark.parametrize("is_required", [False, True])
def test_a_set_of_many_conditions_on_a_tag_has_one_name_for_its_values(is_required):
    """What other conditions on the tag rule out is not repeated; of two values at once, no object is left."""
    required = {"required": ["kind"]} if is_required else {}
    tests = [{"properties": {"kind": {"const": kind}}, **required} for kind in KINDS]
    others = [{"not": test} for test in tests[1:]]
    space, root = space_of({"allOf": [tests[0], *others]})
    (part,) = space.shape(root).objects
    assert part.required == ("kind",)
    assert len(part.at("kind")) <= 2
    space, root = space_of({"allOf": [tests[0], *others, {"properties": {"kind": {"const": "t1"}}, **required}]})
    assert space.shape(root).objects == ()
