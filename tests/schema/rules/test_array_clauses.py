"""Conditions on the items of an array are clauses: the language is that of `jsonschema`, and many cost little."""

import random

import jsonschema
import pytest
from support.judging_schemas import accepts, assert_walks_are_valid, compiled_or_none
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.kbnf.writing.kbnf import print_grammar
from structgen.schema import schema_to_kbnf
from structgen.schema.reading import intersections
from structgen.schema.rules import array_clauses

KINDS = [
    {"const": 1}, {"enum": [1, "x"]}, {"minimum": 2}, {"type": "integer"}, {"type": "string"}, {"multipleOf": 2},
    {"not": {"type": "string"}}, {"maxLength": 1}, {"type": "array", "contains": {"const": 1}}, {"required": ["a"]},
]  # fmt: skip
VALUES = [1, 2, 3, 0.5, "x", "yy", None, [1], [], {"a": 1}, {}]
SAMPLER = Sampler(BYTES, longest=300, repeats=0.2)


def a_count(rng):
    found = {"contains": rng.choice(KINDS)}
    return rng.choice([
        found, found, found, {"not": found}, {"not": found}, found | {"minContains": 2},
        found | {"maxContains": rng.randint(1, 2)}, {"maxItems": rng.randint(0, 3)}, {"items": rng.choice(KINDS)},
    ])  # fmt: skip


def a_condition(rng):
    left, right = a_count(rng), a_count(rng)
    return rng.choice([
        {"if": left, "then": right}, {"if": left, "then": right, "else": a_count(rng)},
        {"anyOf": [left, right, a_count(rng)]}, {"not": {"allOf": [left, right]}},
    ])  # fmt: skip


def random_schema(rng):
    others = {
        "items": lambda: {"anyOf": rng.sample(KINDS, 3)},
        "prefixItems": lambda: rng.sample(KINDS, 1),
        "minItems": lambda: rng.randint(1, 3),
        "maxItems": lambda: rng.randint(2, 4),
        "uniqueItems": lambda: True,
    }
    chosen = rng.sample(list(others), rng.choice((0, 0, 0, 1)))
    conditions = [a_condition(rng) for _ in range(rng.randint(2, 6))]
    return {"type": "array", "allOf": conditions} | {keyword: others[keyword]() for keyword in chosen}


@pytest.mark.one_in(4, uncompiled=10)
@pytest.mark.parametrize("seed", range(240))
def test_conditions_have_the_language_of_jsonschema(seed, monkeypatch):
    monkeypatch.setattr(intersections, "_multiplies", lambda before, after: after > 1)
    rng = random.Random(seed)
    schema = random_schema(rng)
    validator = jsonschema.Draft202012Validator(schema)
    constraint = compiled_or_none(schema)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 2)
    for _ in range(60):
        value = [rng.choice(VALUES) for _ in range(rng.randint(0, 5))]
        accepted = constraint is not None and accepts(constraint, value)
        assert accepted == validator.is_valid(value), value


def has(**members):
    properties = {key: {"const": value} for key, value in members.items()}
    return {"contains": {"type": "object", "properties": properties, "required": list(members)}}


def many_conditions(count):
    """Return a schema in which each kind of item asks for the next kind, and the first four exclude one each."""
    asks = [{"if": has(kind=i), "then": has(kind=(i + 1) % count, name=f"n{i}")} for i in range(count)]
    excludes = [{"if": has(kind=i), "then": {"not": has(kind=-1 - i)}} for i in range(4)]
    item = {"type": "object", "properties": {"kind": {"type": "integer"}, "name": {"type": "string"}}}
    return {"type": "array", "items": item, "allOf": asks + excludes}


def test_thirteen_conditions_are_one_set_of_arrays():
    schema = many_conditions(13)
    validator = jsonschema.Draft202012Validator(schema)
    constraint = structgen.compile(schema, BYTES)
    rng = random.Random(0)
    whole = [{"kind": (i + 1) % 13, "name": f"n{i}"} for i in range(13)]
    for _ in range(40):
        value = rng.sample(whole, rng.choice((0, 1, 12, 13, 13))) + rng.choice(([], [{"kind": -1}], [{"kind": -9}]))
        assert accepts(constraint, value) == validator.is_valid(value), value
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 2)


def test_conditions_of_an_object_on_its_arrays():
    conditions = [{"properties": {"a": condition}} for condition in many_conditions(6)["allOf"]]
    schema = {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"], "allOf": conditions}
    validator = jsonschema.Draft202012Validator(schema)
    constraint = structgen.compile(schema, BYTES)
    whole = [{"kind": (i + 1) % 6, "name": f"n{i}"} for i in range(6)]
    for items in ([], whole, whole[1:], [*whole, {"kind": -1}], [{"kind": -1}, 1]):
        assert accepts(constraint, {"a": items}) == validator.is_valid({"a": items}), items


def test_a_printed_grammar_has_the_same_language(monkeypatch):
    monkeypatch.setattr(intersections, "_multiplies", lambda before, after: after > 1)
    schema = {
        "items": {"enum": [1, 2, 3, 4]},
        "type": "array",
        "allOf": [{"if": {"contains": {"const": i}}, "then": {"contains": {"const": i + 1}}} for i in range(1, 4)],
    }
    printed = structgen.compile(structgen.Grammar.kbnf(print_grammar(schema_to_kbnf(schema))), BYTES)
    for value in ([], [1], [1, 2], [4], [3, 4], [1, 2, 3, 4], [4, 3, 2], [2, 3, 4, 4]):
        assert accepts(printed, value) == jsonschema.Draft202012Validator(schema).is_valid(value), value


def test_too_many_searches_are_an_error_that_names_the_conditions(monkeypatch):
    monkeypatch.setattr(array_clauses, "_MAX_SEARCHES", 0)
    schema = {**many_conditions(13), "contains": {}}
    with pytest.raises(structgen.LimitExceededError, match="conditions on the items of an array"):
        structgen.compile(schema, BYTES)
