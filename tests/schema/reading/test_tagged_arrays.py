"""Arrays whose first item tells kinds apart: the values are those of `jsonschema`, and their sets do not multiply."""

import random

import jsonschema
import pytest
from support.membership import is_member, space_of

from structgen.schema.algebra import ArraySet

KINDS = ["a", "b", "c", "d", "e", "f", "g"]
ITEMS = [*KINDS, "x", 1, None]


def random_kind(rng, kind):
    """A schema of arrays that begin with a text, with further conditions."""
    first = rng.choice([{"const": kind}, {"const": kind}, {"enum": [kind, rng.choice(KINDS)]}])
    second = rng.choice([{"type": "string"}, {"const": 1}, {"enum": ["x", None]}, True])
    schema = {"type": "array", "prefixItems": [first, second], "minItems": rng.choice([1, 2, 2, 2])}
    if rng.random() < 0.6:
        schema["maxItems"] = rng.choice([2, 2, 3])
    if rng.random() < 0.2:
        schema["items"] = rng.choice([False, {"const": 1}])
    if rng.random() < 0.1:
        schema["uniqueItems"] = True
    if rng.random() < 0.1:
        schema["contains"] = {"const": 1}
    return schema


def random_schema(rng):
    kinds = [random_kind(rng, kind) for kind in rng.sample(KINDS, rng.randint(2, 5))]
    refused = [{"not": kind} for kind in kinds]
    return rng.choice(
        [
            {"allOf": refused},
            {"allOf": [random_kind(rng, rng.choice(KINDS)), *refused]},
            {"not": {"allOf": refused}},
            {"oneOf": kinds},
            {"allOf": [{"anyOf": [refused[0], kinds[1]]}, *refused[2:]]},
        ]
    )


def random_values(rng, count):
    values = [None, "a", {}, []]
    return values + [[rng.choice(ITEMS) for _ in range(rng.choice([1, 2, 2, 2, 3, 4]))] for _ in range(count)]


@pytest.mark.parametrize("seed", range(60))
def test_members_are_the_valid_values(seed):
    rng = random.Random(seed)
    schema = random_schema(rng)
    validator = jsonschema.Draft202012Validator(schema)
    space, root = space_of(schema)
    for value in random_values(rng, 150):
        assert is_member(space, root, value) == validator.is_valid(value), (schema, value)


def test_arrays_that_are_of_no_kind_are_few_sets():
    kinds = [
        {"type": "array", "prefixItems": [{"const": kind}, {"type": "string"}], "minItems": 2, "maxItems": 2}
        for kind in KINDS
    ]
    space, root = space_of({"type": "array", "allOf": [{"not": kind} for kind in kinds]})
    assert len(space.shape(root).arrays) <= len(KINDS) + 4
    space, root = space_of({"allOf": [kinds[0], *({"not": kind} for kind in kinds[1:])]})
    assert len(space.shape(root).arrays) == 1


def test_a_set_covers_those_with_more_conditions():
    wide = ArraySet((), (), 1, 3)
    assert wide.covers(wide)
    assert wide.covers(ArraySet(((2,),), (3,), 1, 2))
    assert not wide.covers(ArraySet((), (), 0, 3))
    assert not wide.covers(ArraySet((), (), 1, 4))
    assert not ArraySet(((2,),)).covers(ArraySet())
    assert ArraySet(((2,), (3,)), (4,)).covers(ArraySet(((2, 5),), high=1))
    assert not ArraySet(rest=(4,)).covers(ArraySet(((4,),)))
    assert not ArraySet(repeats=False).covers(ArraySet())
