"""Conditions on different keys stay clauses: the language is that of `jsonschema`, and their number costs little."""

import contextlib
import json
import random

import jsonschema
import pytest
from support.judging_schemas import accepts, assert_walks_are_valid, compiled_or_none
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.engine.grammar.tables import Lazy
from structgen.schema import schema_to_rules
from structgen.schema.reading import exploration, intersections
from structgen.schema.rules import clause_search

KEYS = ["a", "b", "c", "d"]
VALUES = [
    {"type": "string"}, {"const": 1}, {"enum": [1, "x"]}, {"minimum": 3}, {"not": {"type": "string"}},
    {"type": "object"}, True, {"type": "integer"},
]  # fmt: skip
SAMPLER = Sampler(BYTES, longest=300, repeats=0.2)


def condition(rng, depth=0):
    kind = rng.choice(["required", "properties", "both", "required", "properties", "not", "anyOf", "dependentSchemas"])
    if kind == "required" or depth > 1:
        return {"required": rng.sample(KEYS, rng.randint(1, 2))}
    if kind in ("properties", "both"):
        keys = rng.sample(KEYS, rng.randint(1, 2))
        values = {"properties": {key: rng.choice(VALUES) for key in keys}}
        return values if kind == "properties" else {**values, "required": keys[:1]}
    inner = condition(rng, depth + 1)
    if kind == "not":
        return {"not": inner}
    if kind == "anyOf":
        return {rng.choice(["anyOf", "oneOf"]): [inner, condition(rng, depth + 1)]}
    return {"dependentSchemas": {rng.choice(KEYS): inner}}


def random_schema(rng):
    def many(most):
        return [condition(rng) for _ in range(rng.randint(2, most))]

    kinds = [
        lambda: {"if": condition(rng), "then": condition(rng)},
        lambda: {"if": condition(rng), "else": condition(rng)},
        lambda: {"anyOf": many(3)},
        lambda: {"oneOf": many(3)},
        lambda: {"not": {"oneOf": many(2)}},
        lambda: {"dependentSchemas": dict(zip(rng.sample(KEYS, 2), many(2), strict=False))},
    ]
    others = {
        "properties": lambda: {key: rng.choice(VALUES) for key in rng.sample(KEYS, 2)},
        "minProperties": lambda: rng.randint(1, 3),
        "maxProperties": lambda: rng.randint(1, 3),
        "patternProperties": lambda: {"^a": {"type": "string"}, "z": {"type": "integer"}},
        "additionalProperties": lambda: {"type": ["string", "integer"]},
        "not": lambda: {"propertyNames": {"maxLength": 1}},
    }
    schema = {"type": "object", "allOf": [rng.choice(kinds)() for _ in range(rng.randint(2, 4))]}
    return schema | {keyword: others[keyword]() for keyword in rng.sample(list(others), rng.randint(0, 2))}


@pytest.mark.one_in(4, uncompiled=10)
@pytest.mark.parametrize("seed", range(200))
def test_clauses_have_the_language_of_jsonschema(seed, monkeypatch):
    monkeypatch.setattr(intersections, "_MAX_SETS", 0)
    rng = random.Random(seed)
    schema = random_schema(rng)
    order = rng.choice(["schema", "any"])
    validator = jsonschema.Draft202012Validator(schema)
    constraint = compiled_or_none(schema, property_order=order)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 2)
    for _ in range(40):
        keys = rng.sample([*KEYS, "z"], rng.randint(0, 4))
        value = {key: rng.choice([1, 5, "x", "q", {}, None]) for key in keys}
        accepted = constraint is not None and accepts(constraint, value)
        assert accepted <= validator.is_valid(value), value
        if order == "any":
            assert accepted == validator.is_valid(value), value


def not_one_of(count):
    return {"not": one_of(count)}


def one_of(count):
    return {"oneOf": [{"required": [f"p{i}{j}" for j in range(3)]} for i in range(count)]}


def dependencies(count):
    return {
        "dependentSchemas": {
            f"p{i}0": {"required": [f"p{i}1"], "properties": {f"p{i}2": {"type": "string"}}} for i in range(count)
        }
    }


def conditions(count):
    return {
        "allOf": [
            {
                "if": {"properties": {f"p{i}0": {"const": 1}}, "required": [f"p{i}0"]},
                "then": {"required": [f"p{i}1"]},
                "else": {"properties": {f"p{i}2": {"type": "string"}}},
            }
            for i in range(count)
        ]
    }


def one_of_two_keys(count):
    return {"allOf": [{"anyOf": [{"required": [f"p{i}0"]}, {"required": [f"p{i}1"]}]} for i in range(count)]}


@pytest.mark.parametrize(
    ("make", "count"), [(not_one_of, 10), (one_of, 10), (dependencies, 16), (conditions, 10), (one_of_two_keys, 30)]
)
@pytest.mark.parametrize("bounds", [{}, {"minProperties": 4, "maxProperties": 50}])
def test_many_conditions_on_different_keys(make, count, bounds):
    schema = {"type": "object", **make(count), **bounds}
    validator = jsonschema.Draft202012Validator(schema)
    constraint = structgen.compile(schema, BYTES, property_order="any")
    rng = random.Random(count)
    keys = [f"p{i}{j}" for i in range(count) for j in range(3)]
    found = set()
    for size in (0, 1, 2, 3, 5, 6, len(keys)):
        for _ in range(1 if size > 6 else 4):
            rng.shuffle(keys)
            groups = sorted(keys) if size % 3 == 0 else keys
            start = 3 * rng.randrange(count) if size % 3 == 0 else 0
            value = {key: rng.choice([1, "x"]) for key in (groups + groups)[start : start + size]}
            found.add(validator.is_valid(value))
            assert accepts(constraint, value) == validator.is_valid(value), value
    assert found == {False, True} or bounds


def test_clauses_that_exclude_each_other_are_unsatisfiable():
    halves = [{"required": [f"a{i}"]} for i in range(8)], [{"not": {"required": [f"a{i}"]}} for i in range(8)]
    pairs = [{"anyOf": [{"required": [f"b{i}"]}, half]} for half in halves[0] for i in range(2)]
    never = [{"not": {"required": [f"b{i}"]}} for i in range(2)]
    schema = {"type": "object", "allOf": [*pairs, {"anyOf": halves[1]}, *never]}
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(schema, BYTES)


@pytest.mark.parametrize("seed", range(2))
def test_many_clauses_are_searched_from_the_tightest_on(seed):
    """60 clauses of three literals over 30 keys: a generation must not end at a limit after some keys are written."""
    chance = random.Random(seed)
    keys = [f"k{index}" for index in range(30)]
    clauses = [
        {"anyOf": [{"properties": {key: {"const": chance.random() < 0.5}}, "required": [key]} for key in three]}
        for three in (chance.sample(keys, 3) for _ in range(60))
    ]
    schema = {"type": "object", "properties": {key: {"type": "boolean"} for key in keys}, "allOf": clauses}
    matcher = structgen.compile(schema, BYTES, property_order="any", whitespace="compact").matcher()
    validator = jsonschema.Draft202012Validator(schema)
    matcher.accept_bytes(b"{")
    written = {}
    for key in chance.sample(keys, 30):
        for value in chance.sample((True, False), 2):
            with contextlib.suppress(structgen.TokenRejectedError):
                comma = b"," if written else b""
                matcher.accept_bytes(comma + json.dumps({key: value}, separators=(",", ":")).encode()[1:-1])
                written[key] = value
                assert (ord("}") in matcher.allowed_token_ids()) == validator.is_valid(written)
                break
    assert validator.is_valid(written)


def objects_without_a_tag(count, size):
    """Exactly one of some objects, which share keys, but declare values of other types."""
    kinds = ["string", "integer", "boolean"]
    return {
        "oneOf": [
            {
                "type": "object",
                "properties": {f"k{key}": {"type": kinds[(number + key) % 3]} for key in range(number, number + size)},
                "required": [f"k{number}"],
            }
            for number in range(count)
        ]
    }


class NoSearch:
    """Stands in for ChoiceSearch where none may begin."""

    nodes = failed = 0

    def found(self, *given):
        raise AssertionError(given)


def test_clauses_with_a_property_each_need_no_search(monkeypatch):
    monkeypatch.setattr(clause_search, "ChoiceSearch", NoSearch)
    constraint = structgen.compile(objects_without_a_tag(6, 30), BYTES, cache=False)
    for seed in range(3):
        SAMPLER.walk(constraint.grammar, random.Random(seed))


@pytest.mark.parametrize("most", [0, 64])
@pytest.mark.parametrize("seed", range(4))
def test_objects_without_a_tag(seed, most, monkeypatch):
    """Clauses are the same whether they are given a property each, or searched."""
    monkeypatch.setattr(clause_search, "_MAX_MATCHED", most)
    rng = random.Random(seed)
    schema = objects_without_a_tag(rng.randint(2, 4), rng.randint(1, 4))
    constraint = structgen.compile(schema, BYTES, property_order="any", cache=False)
    validator = jsonschema.Draft202012Validator(schema)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 3)
    for _ in range(100):
        value = {f"k{key}": rng.choice(["x", 1, True]) for key in rng.sample(range(5), rng.randint(0, 4))}
        assert accepts(constraint, value) == validator.is_valid(value)


def test_many_hard_clauses_of_keys_in_any_order_are_refused_by_the_compile():
    """Masks would search for each key whether it may come."""
    rng = random.Random(1)
    keys = [f"k{i}" for i in range(80)]
    clauses = [
        {
            "anyOf": [
                {"properties": {key: {"const": rng.random() < 0.5}}, "required": [key]} for key in rng.sample(keys, 3)
            ]
        }
        for _ in range(330)
    ]
    schema = {"type": "object", "properties": {key: {"type": "boolean"} for key in keys}, "allOf": clauses}
    with pytest.raises(structgen.LimitExceededError, match="too many ways to satisfy"):
        structgen.compile(schema, BYTES, property_order="any")


def refused_by_other_keys(count, *, first=False):
    """Each key excludes its name from a list, as in the schema of pyproject.toml."""
    keys = [f"k{i}" for i in range(count)]
    named = {"list": {"type": "array", "items": {"enum": keys}}}
    others = {key: {"type": "string"} for key in keys}
    listed = {key: {"properties": {"list": {"contains": {"const": key}}}, "required": ["list"]} for key in keys}
    return {
        "properties": {**named, **others} if first else {**others, **named},
        "dependentSchemas": {key: {"not": listed[key]} for key in keys},
        "oneOf": [listed["k0"], {"required": ["k0"]}],
        "type": "object",
        "additionalProperties": False,
    }


@pytest.mark.parametrize("most", [0, 8])
@pytest.mark.parametrize(("order", "first"), [("schema", False), ("schema", True), ("any", False)])
def test_keys_that_narrow_one_list(order, first, most, monkeypatch):
    monkeypatch.setattr(clause_search, "_MAX_SPLIT", most)
    schema = refused_by_other_keys(4, first=first)
    constraint = structgen.compile(schema, BYTES, property_order=order, cache=False)
    validator = jsonschema.Draft202012Validator(schema)
    chance = random.Random(4)
    found = set()
    for _ in range(60):
        value = dict.fromkeys(chance.sample([f"k{i}" for i in range(4)], chance.randint(0, 3)), "x")
        if chance.random() < 0.8:
            value["list"] = chance.sample([f"k{i}" for i in range(4)], chance.randint(0, 3))
        value = {key: value[key] for key in schema["properties"] if key in value}
        found.add(validator.is_valid(value))
        assert accepts(constraint, value) == validator.is_valid(value), value
    assert found == {False, True}


def test_a_list_has_one_case_after_the_keys_that_narrow_it():
    schema = refused_by_other_keys(20)
    constraint = structgen.compile(schema, BYTES, limits=structgen.Limits(schema_nodes=20_000))
    assert accepts(constraint, {"k1": "x", "k3": "x", "list": ["k0", "k2"]})
    assert not accepts(constraint, {"k1": "x", "k3": "x", "list": ["k0", "k3"]})


@pytest.mark.parametrize(("order", "first"), [("schema", True), ("any", False)])
def test_a_list_before_the_keys_that_it_narrows_is_decided_once_it_is_written(order, first):
    """As cases of the list, they would be 2³⁰."""
    limits = structgen.Limits(schema_nodes=20_000)
    constraint = structgen.compile(refused_by_other_keys(30, first=first), BYTES, property_order=order, limits=limits)
    assert accepts(constraint, {"list": ["k0", "k3"], "k1": "x", "k4": "x"})
    assert not accepts(constraint, {"list": ["k0", "k3"], "k1": "x", "k3": "x"})
    assert not accepts(constraint, {"list": ["k3"], "k1": "x"})


OBJECTS = [
    {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "properties": {"x": {"const": 1}}},
    {"type": "object", "required": ["y"]},
    {"type": ["object", "array"], "minProperties": 1, "contains": {"const": "a"}},
    {"type": "object", "additionalProperties": {"type": "integer"}},
]


@pytest.mark.parametrize("seed", range(4))
def test_values_that_decide_clauses_once_they_are_written(seed, monkeypatch):
    monkeypatch.setattr(intersections, "_MAX_SETS", 0)
    monkeypatch.setattr(clause_search, "_MAX_SPLIT", 0)
    rng = random.Random(seed)

    def branch(tag):
        named = {"tag": {"const": tag}, "options": rng.choice(OBJECTS), "more": rng.choice(OBJECTS)}
        return {"type": "object", "properties": named, "required": rng.sample(list(named), rng.randint(0, 1))}

    schema = {"oneOf": [branch(tag) for tag in range(3)]}
    validator = jsonschema.Draft202012Validator(schema)
    constraint = structgen.compile(schema, BYTES, property_order="any", cache=False)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 2)
    values = [{}, {"x": 1}, {"x": 2}, {"y": 1}, {"x": 1, "y": "s"}, ["a"], []]
    for _ in range(30):
        whole = {"tag": rng.choice([0, 1, 5]), "options": rng.choice(values), "more": rng.choice(values)}
        value = {key: whole[key] for key in rng.sample(list(whole), rng.randint(0, 3))}
        assert accepts(constraint, value) == validator.is_valid(value), value


@pytest.mark.parametrize("seed", range(6))
def test_values_that_decide_conditions_on_any_key_once_they_are_written(seed, monkeypatch):
    monkeypatch.setattr(exploration, "_MAX_UNTESTED", 0)
    rng = random.Random(seed)
    schema = {
        "type": "object",
        "properties": {"a": rng.choice(OBJECTS)},
        "allOf": [{"not": {"additionalProperties": other}} for other in rng.sample(OBJECTS, 2)],
        "not": {"enum": [{"b": {}}, {"b": {"x": 1}, "c": 3}]},
    }
    validator = jsonschema.Draft202012Validator(schema)
    constraint = structgen.compile(schema, BYTES, property_order="any", cache=False)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 2)
    for _ in range(30):
        values = [{}, {"x": 1}, {"x": 2}, {"y": 1}, {"x": 1, "y": "s"}, ["a"], [], 3]
        value = {key: rng.choice(values) for key in rng.sample("abcd", rng.randint(0, 3))}
        assert accepts(constraint, value) == validator.is_valid(value), value


def workspace(branches, size):
    """A `oneOf` of closed objects, with options and maps of options, whose tag may be missing: as Angular's schema."""

    def branch(number):
        named = {f"o{(7 * number + i) % (2 * size)}": {"type": "string"} for i in range(size)}
        options = {"type": "object", "properties": named, "additionalProperties": False}
        maps = {"type": "object", "additionalProperties": options}
        properties = {"tag": {"const": f"t{number}"}, "options": options, "maps": maps}
        return {"type": "object", "properties": properties, "additionalProperties": False}

    return {"oneOf": [branch(number) for number in range(branches)]}


def test_many_branches_with_many_options_whose_tag_may_be_missing():
    schema = workspace(19, 12)
    constraint = structgen.compile(schema, BYTES)
    validator = jsonschema.Draft202012Validator(schema)
    values = [
        {}, {"tag": "t1"}, {"tag": "t1", "options": {"o7": "x"}}, {"options": {"o7": "x"}}, {"options": {}},
        {"options": {"o0": "x", "o11": "x"}}, {"options": {"o0": "x"}, "maps": {"m": {"o11": "x"}}},
        {"options": {}, "maps": {"m": {"o0": "x"}, "n": {"o11": "x"}}}, {"maps": {"m": {"o1": "x"}, "n": {"o2": "x"}}},
    ]  # fmt: skip
    for value in values:
        assert accepts(constraint, value) == validator.is_valid(value), value
    assert {validator.is_valid(value) for value in values} == {False, True}
    assert_walks_are_valid(constraint, SAMPLER, validator, random.Random(1), 4)


def test_exports_refuse_conditions_that_only_written_values_decide():
    schema = {"type": "object", "allOf": [{"not": {"additionalProperties": other}} for other in OBJECTS]}
    with pytest.raises(structgen.StructgenError):
        structgen.export(schema, "gbnf")


def test_masks_have_a_count_of_parts_of_their_own():
    """Each combination of keys has other lists: a limit of the compile must not end a later text."""
    constraint = structgen.compile(refused_by_other_keys(12), BYTES, limits=structgen.Limits(schema_nodes=2_000))
    chance = random.Random(5)
    for _ in range(40):
        keys = sorted(chance.sample(range(1, 12), 6))
        assert accepts(constraint, {**{f"k{i}": "x" for i in keys}, "list": ["k0"]})


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("is_circular", [False, True])
def test_a_tag_may_choose_among_many_large_objects(order, is_circular):
    """No value has to satisfy the schemas of all tags: their intersection has 2ⁿ parts.

    Beside a schema that refers to itself, the conditions become clauses.
    """
    count = 130
    keys = ("first", "second")

    def inner(number):
        branches = [{"type": "array", "items": {"maximum": number}}, {"type": "array", "minItems": number}]
        return {"type": "object", "properties": {"config": {"anyOf": branches}}, "required": ["config"]}

    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}, **{key: {"type": "object"} for key in keys}},
        "required": ["kind"],
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": f"k{number}"}}},
                "then": {"properties": {key: inner(number) for key in keys}},
            }
            for number in range(count)
        ],
    }
    if is_circular:
        schema["$defs"] = {"circle": {"allOf": [{"$ref": "#/$defs/circle"}, inner(0)]}}
        schema["allOf"][0]["then"]["properties"]["first"] = {"$ref": "#/$defs/circle"}
    constraint = structgen.compile(schema, BYTES, property_order=order)
    good, bad = {"config": [5, 7]}, {"config": [8]}
    assert accepts(constraint, {"kind": "k7", "first": good, "second": {"config": [8] * 7}})
    assert accepts(constraint, {"kind": "k7"}) and accepts(constraint, {"kind": "other", "first": bad})
    assert not accepts(constraint, {"kind": "k7", "first": bad})
    assert not accepts(constraint, {"kind": "k7", "first": good, "second": {}})


def _inside(levels, schema):
    """Return a schema whose objects hold, some levels down, an object of another schema."""
    for _ in range(levels):
        schema = {"properties": {"in": schema}}
    return schema


def nested(levels, value):
    """Return an object that holds a value some levels down."""
    for _ in range(levels):
        value = {"in": value}
    return value


def _binding_of(tag, levels):
    return {"properties": {"binding": _inside(levels, {"properties": {"type": tag}})}}


def _type(*names):
    return {"properties": {"type": {"enum": list(names)}}}


def tags_of_a_value(levels):
    """Return one of the real schemas in which a property has conditions on the tag of another one, an object.

    Args:
        levels: how much deeper than in the real one the tag is.
    """
    return {
        "allOf": [
            {
                "allOf": [
                    {"if": {"properties": {"type": {"const": "Dropdown"}}}, "then": {"required": ["choices"]}},
                    {"if": {"oneOf": [_type("String")]}, "else": {"not": {"required": ["placeholder"]}}},
                ],
                "properties": {
                    "description": {},
                    "label": {},
                    "type": {"type": "string"},
                    "editable": {},
                    "constraints": {},
                    "group": {},
                },
            },
            {
                "required": ["binding"],
                "allOf": [
                    {"if": _binding_of({"const": "property"}, levels), "then": _type("Text", "Dropdown")},
                    {"if": _binding_of({"const": "listener"}, levels), "then": _type("Hidden")},
                    {"if": _binding_of({"enum": ["in", "out"]}, levels), "then": _type("String", "Hidden", "Dropdown")},
                    {"if": _binding_of({"enum": ["input"]}, levels), "then": _type("Text", "Dropdown")},
                ],
                "properties": {
                    "binding": _inside(
                        levels,
                        {
                            "allOf": [
                                {
                                    "if": {"properties": {"type": {"const": "out"}}},
                                    "then": {"oneOf": [{}, {"not": {"required": ["source"]}}]},
                                }
                            ],
                            "properties": {"type": {"enum": ["property", "input", "out", "listener"]}},
                        },
                    )
                },
            },
        ]
    }


@pytest.mark.parametrize("levels", [0, 2])
def test_a_value_needs_no_object_that_satisfies_the_conditions_of_all_tags(levels):
    """What a `type` leaves to the `binding` is a part of its conditions: all of them are too many schemas together.

    With the tag where it is in the real schema (0), the conditions are seen to exclude each other before that.
    """
    limits = structgen.Limits(schema_nodes=20_000)
    constraint = structgen.compile(tags_of_a_value(levels), BYTES, limits=limits, property_order="any")
    matcher = constraint.matcher()
    for byte in b'{"type':
        assert byte in matcher.allowed_token_ids()
        matcher.accept_token(byte)

    assert accepts(constraint, {"type": "Hidden", "binding": nested(levels, {"type": "listener"})})
    assert accepts(constraint, {"type": "Hidden", "binding": nested(levels, {"type": "out", "source": 1})})
    assert not accepts(constraint, {"type": "Hidden", "binding": nested(levels, {"type": "out"})})
    assert not accepts(constraint, {"type": "Text", "binding": nested(levels, {"type": "listener"})})
    assert accepts(constraint, {"type": "Dropdown", "choices": [], "binding": nested(levels, {"type": "input"})})
    assert not accepts(constraint, {"type": "Dropdown", "binding": nested(levels, {"type": "input"})})


def test_many_conditions_on_a_nested_tag():
    """Two of them never hold together: without that, 24 conditions have 2²⁴ intersections."""
    versions = [f"{number}.0" for number in range(24)]

    def condition(number):
        version = {"properties": {"version": {"const": versions[number]}}, "required": ["version"]}
        allowed = {f"k{number + i}": {"type": "integer"} for i in range(3)}
        return {
            "if": {"properties": {"software": version}, "required": ["software"]},
            "then": {"properties": {"software": {}, **allowed}, "additionalProperties": False},
        }

    software = {"type": "object", "properties": {"version": {"enum": versions}}, "required": ["version"]}
    schema = {
        "type": "object",
        "properties": {"software": software},
        "required": ["software"],
        "allOf": [condition(number) for number in range(24)],
    }
    constraint = structgen.compile(schema, BYTES, limits=structgen.Limits(schema_nodes=50_000))
    validator = jsonschema.Draft202012Validator(schema)
    values = [{"software": {"version": f"{i}.0"}, f"k{j}": 1} for i in (0, 7, 23, 24) for j in (0, 8, 9, 10, 25)]
    for value in values:
        assert accepts(constraint, value) == validator.is_valid(value), value
    assert {validator.is_valid(value) for value in values} == {False, True}


LATE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string"},
        "size": {"type": ["integer", "null", "object"], "properties": {"z": {"type": "boolean"}}},
        "more": {"enum": ["x", "y"]},
    },
    "allOf": [
        {"anyOf": [{"properties": {"size": {"type": "integer"}}}, {"required": ["more"]}]},
        {"anyOf": [{"properties": {"kind": {"const": "q"}}}, {"required": ["more"]}]},
    ],
    "required": ["kind"],
    "additionalProperties": False,
}


def test_values_are_split_by_clauses_after_their_key(monkeypatch):
    monkeypatch.setattr(intersections, "_MAX_SETS", 0)
    tables = schema_to_rules(LATE)
    rules, waiting, seen = tables.source, list(tables.lazy), set()
    while waiting:
        key = waiting.pop()
        for symbol in [symbol for body in rules.bodies(key) for symbol in body if isinstance(symbol, Lazy)]:
            if symbol.key not in seen:
                seen.add(symbol.key)
                waiting.append(symbol.key)
    late = [key for key in seen if key[1] == "value"]
    assert {len(rules.bodies(key)) for key in late} >= {2}, "no value is split late"
    for key in late:  # a bound that counts the key as still to come would be too high
        assert rules.least_bytes(key) <= len("1}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"kind": "q", "size": "', "an integer (#/properties/size); null or an object (#/properties/size)"),
        ('{"kind": 3', 'a string (#/properties/kind); "q" (#/properties/kind)'),
        ('{"kind": "a", "more": 3', '"x" or "y" (#/properties/more)'),
    ],
)
def test_messages_name_the_property_of_a_value_that_is_split_after_its_key(text, expected, monkeypatch):
    monkeypatch.setattr(intersections, "_MAX_SETS", 0)
    structgen.clear_cache()
    assert f"expected: {expected}" in str(structgen.check(LATE, text))
