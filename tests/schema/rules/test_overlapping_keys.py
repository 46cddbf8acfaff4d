"""Overlapping `patternProperties` stay conditions: the language is the same, and their number costs little."""

import random
from itertools import combinations, product

import jsonschema
import pytest
from support.judging_schemas import accepts, assert_walks_are_valid, compiled_or_none
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.schema.algebra import objects
from structgen.schema.reading import key_classes
from structgen.schema.rules import overlapping_keys

_TEXT = "name date time type code size user mail link path text note area zone rank unit cost kind mode flag"
WORDS = _TEXT.split()
TYPES = ["string", "integer", "number", "boolean", "null", "array"]
PATTERNS = ["^a", "b$", "c", "^.b", "ab", "^[a-c]*$", "^[a-z]{2}$", "d", "^(a|b)$"]
VALUES = [
    True, False, {"type": "string"}, {"type": "integer"}, {"enum": [1, "x", None]}, {"minimum": 3},
    {"type": ["string", "null"]}, {"not": {"type": "string"}}, {"$ref": "#"},
]  # fmt: skip
SAMPLER = Sampler(BYTES, longest=400, repeats=0.2)
KEYS = ["", *(f"{first}{second}" for first, second in product("abcd", ["", *"abcd"])), "abc", "cab", "dd"]


def of_words(count, values, **others):
    return {"type": "object", "patternProperties": dict(zip(WORDS[:count], values, strict=False)), **others}


def random_schema(rng):
    schema = {"type": "object", "patternProperties": {p: rng.choice(VALUES) for p in rng.sample(PATTERNS, 4)}}
    choices = {
        "additionalProperties": lambda: rng.choice(VALUES),
        "required": lambda: rng.sample(["a", "ab", "cb"], rng.randint(1, 2)),
        "minProperties": lambda: rng.randint(1, 3),
        "maxProperties": lambda: rng.randint(1, 4),
        "properties": lambda: {key: rng.choice(VALUES) for key in rng.sample(["a", "abc", "cb"], 2)},
        "propertyNames": lambda: {"maxLength": rng.randint(1, 3)},
    }
    for keyword in rng.sample(list(choices), rng.randint(0, 3)):
        schema[keyword] = choices[keyword]()
    return schema


def random_document(rng):
    schema = random_schema(rng)
    return rng.choice(
        [schema, schema, {"allOf": [schema, random_schema(rng)]}, {"not": schema}, {"oneOf": [schema, {"minimum": 0}]}]
    )


@pytest.mark.one_in(4, uncompiled=8)
@pytest.mark.parametrize("seed", range(160))
def test_overlapping_patterns_have_the_language_of_jsonschema(seed, monkeypatch):
    monkeypatch.setattr(key_classes, "_is_many", lambda classes, added, patterns: True)
    rng = random.Random(seed)
    schema = random_document(rng)
    validator = jsonschema.Draft202012Validator(schema)
    constraint = compiled_or_none(schema, property_order=rng.choice(["schema", "any"]), whitespace="any")
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 2)
    for _ in range(30):
        keys = sorted(rng.sample(KEYS, rng.randint(0, 3)))
        value = {key: rng.choice([1, 5, "x", None, {}, True]) for key in keys}
        if validator.is_valid(value):
            assert constraint is not None
            named = schema.get("properties", {}).keys() | set(schema.get("required", ()))
            assert accepts(constraint, value) or (len(keys) > 1 and named)  # else the order of keys may be wrong
        elif constraint is not None:
            assert not accepts(constraint, value)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("values", [[{"minLength": i} for i in range(20)], [{"type": TYPES[i % 6]} for i in range(20)]])
def test_twenty_overlapping_patterns(values, closed):
    schema = of_words(20, values, **({"additionalProperties": False} if closed else {}))
    constraint = structgen.compile(schema, BYTES)
    long = "x" * 20
    kind = values[0].get("type")
    assert accepts(constraint, {"username": long, "rename": long, "update": long if kind is None else 1})
    assert accepts(constraint, {"other": [1]}) == (not closed)
    assert not accepts(constraint, {"name and date": "" if kind is None else 1})  # too short; no string
    assert accepts(constraint, {"names and codes": long}) == (kind is None)  # no value is a string and null


def test_values_of_a_key_with_conditions_that_exclude_each_other_are_never_begun():
    schema = of_words(6, [{"type": name} for name in TYPES], additionalProperties={"type": "object"})
    matcher = structgen.compile(schema, BYTES).matcher()
    matcher.accept_bytes(b'{"name_dat')
    assert ord("e") not in matcher.allowed_token_ids()
    assert ord("a") in matcher.allowed_token_ids()


def test_conditions_that_refuse_all_keys_leave_the_empty_object():
    schema = of_words(6, [{"type": name} for name in TYPES], additionalProperties=False, propertyNames={"maxLength": 3})
    assert structgen.compile(schema, BYTES, whitespace="compact").matcher().forced_bytes() == b"{}"
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile({**schema, "minProperties": 1}, BYTES)


def test_the_search_for_an_end_leaves_out_keys_that_meet_no_condition():
    one_sign = {"patternProperties": {"^.$": True, "a": {"exclusiveMinimum": 10}}}
    schema = {
        "not": {"propertyNames": {"pattern": "[^\\x00-\\x7f]"}},
        "oneOf": [{"patternProperties": {"^$": {}}}, one_sign],
    }
    constraint = structgen.compile(schema, BYTES, property_order="any")
    matcher = constraint.matcher()
    matcher.accept_bytes(b'{"a"')
    assert ord(":") in matcher.allowed_token_ids()  # mask_seconds: it tried the other keys of one sign, one by one
    values = {"a": 1}, {"xa": 1}, {"b": 0, "xa": 10}, {"a": 11}, {"b": 1}, {"\u00e9a": 1}
    assert [accepts(constraint, value) for value in values] == [True, True, True, False, False, False]


def test_many_ways_to_overlap_are_refused_where_they_must_be_told_apart(monkeypatch):
    monkeypatch.setattr(objects, "_MAX_CLASSES", 50)
    schema = of_words(20, [{"minLength": i} for i in range(20)])
    with pytest.raises(structgen.LimitExceededError, match="overlap"):
        structgen.compile({"allOf": [schema, {"not": of_words(1, [{"type": "string"}])}]}, BYTES)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(30))
def test_the_greatest_sets_of_conditions_are_those_of_brute_force(seed):
    """Each condition is a set of numbers; conditions hold together if they share a number."""
    rng = random.Random(seed)
    sets = [frozenset(rng.sample(range(6), rng.randint(1, 4))) for _ in range(rng.randint(1, 7))]
    nodes = [(number + 2,) for number in range(len(sets))]

    def holds(node):
        return bool(frozenset(range(6)).intersection(*(sets[atom - 2] for atom in node)))

    every = [frozenset(found) for size in range(1, 8) for found in combinations(range(len(sets)), size)]
    good = [numbers for numbers in every if holds(tuple(number + 2 for number in numbers))]
    expected = {numbers for numbers in good if not any(numbers < other for other in good)}
    found = overlapping_keys._greatest(nodes, holds)
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("count", [100])
def test_values_of_few_kinds_are_answered_and_of_many_kinds_refused(count):
    """Few greatest sets of conditions share no values; as many as there are patterns would take long in masks."""
    words = [f"{first}{second}{third}" for first, second, third in product("abcdef", "ghijkl", "mnopqr")][:count]
    few = {word: {"type": TYPES[i % 3 * 2]} for i, word in enumerate(words)}
    constraint = structgen.compile({"type": "object", "patternProperties": few}, BYTES)
    assert accepts(constraint, {"agm": "x", "xagn": 1.5, "agmz": ""})
    assert not accepts(constraint, {"agmagn": "x"})
    many = {word: {"const": i} for i, word in enumerate(words)}
    with pytest.raises(structgen.UnsupportedSchemaError, match="too many of them overlap"):
        structgen.compile({"type": "object", "patternProperties": many}, BYTES)
