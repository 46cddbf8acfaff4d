"""Schemas that are too deep, too large or too slow raise errors and break nothing else."""

import json

import jsonschema
import pytest

from structgen.engine.deadlines import Deadline
from structgen.errors import LimitExceededError, SchemaError
from structgen.limits import Limits
from structgen.schema import resolve, schema_to_kbnf, schema_to_rules

DEEP = 100_000


def _nested(wrap, depth, leaf=True):
    schema = leaf
    for _ in range(depth):
        schema = wrap(schema)
    return schema


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"allOf": [inner]},
        lambda inner: {"anyOf": [inner, {"type": "null"}]},
        lambda inner: {"oneOf": [inner]},
        lambda inner: {"not": inner},
        lambda inner: {"if": inner, "then": {"type": "null"}},
        lambda inner: {"const": 1, "allOf": [inner]},
    ],
)
def test_deep_nesting_of_schemas_for_one_value_is_an_error(wrap):
    with pytest.raises(LimitExceededError) as caught:
        schema_to_rules(_nested(wrap, DEEP, {"type": "string"}))
    assert caught.value.limit == "schema_depth"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"type": "array", "items": inner},
        lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": False},
    ],
)
def test_deep_nesting_of_values_works(wrap):
    grammar = schema_to_kbnf(_nested(wrap, 20_000, {"type": "string"}))
    assert len(grammar.rules) >= 20_000


def test_a_deep_const_is_translated_or_refused():
    value = _nested(lambda inner: [inner], 20_000, 1)
    assert len(schema_to_kbnf({"const": value}).rules) >= 20_000


def test_a_chain_of_references_is_an_error_when_too_long():
    schema = {"$ref": "#/$defs/0", "$defs": {str(i): {"$ref": f"#/$defs/{i + 1}"} for i in range(1000)}}
    schema["$defs"]["1000"] = {"type": "null"}
    with pytest.raises(LimitExceededError):
        schema_to_rules(schema)


def test_deep_json_text_is_an_error():
    with pytest.raises((LimitExceededError, SchemaError)):
        resolve('{"items":' * DEEP + "true" + "}" * DEEP)


def test_too_many_subschemas_are_an_error():
    schema = {"properties": {str(i): {"const": i} for i in range(200)}}
    with pytest.raises(LimitExceededError) as caught:
        schema_to_rules(schema, limits=Limits(schema_nodes=100))
    assert caught.value.limit == "schema_nodes"


def test_the_deadline_is_kept():
    branches = [{"required": [f"a{i}", f"b{i}"]} for i in range(200)]
    with pytest.raises(LimitExceededError) as caught:
        schema_to_rules({"type": "object", "oneOf": branches}, deadline=Deadline(0.1))
    assert caught.value.limit == "compile_seconds"


@pytest.mark.parametrize("bound", [10**6, 10**12])
def test_huge_bounds_cost_nothing(bound):
    schema = {
        "type": "array",
        "minItems": bound,
        "maxItems": 2 * bound,
        # Characters are counted in 32 bits; a larger minLength is refused by name (test_no_dead_ends).
        "items": {"type": "string", "minLength": min(bound, 10**9), "maxLength": 3 * bound},
    }
    schema_to_rules(schema, limits=Limits(schema_nodes=50, grammar_symbols=500, automaton_states=500))


def test_a_large_enum_is_one_terminal():
    schema = {"enum": [f"value {i}" for i in range(50_000)], "type": "string", "minLength": 3}
    schema_to_rules(schema, limits=Limits(grammar_symbols=500, automaton_states=500))


def test_many_optional_properties_give_rules_in_linear_number():
    def size(count):
        schema = {"properties": {f"p{i}": {"type": "string"} for i in range(count)}, "type": "object"}
        return len(repr(schema_to_kbnf(schema | {"additionalProperties": False})))

    assert size(400) < 2.5 * size(200)


def test_an_integer_bound_of_many_digits_is_refused_or_works():
    with pytest.raises(SchemaError):
        schema_to_rules({"minimum": 10**5000})
    schema_to_rules(json.loads('{"type": "integer", "maximum": 1e300}'))


def test_many_patterns_of_keys_that_begin_differently_are_told_apart_with_little_work():
    schema = {"type": "object", "patternProperties": {f"^a{i}_": {"type": "integer"} for i in range(1000)}}
    schema_to_rules(schema, limits=Limits(schema_nodes=5_000, automaton_states=20_000))


def test_many_patterns_of_keys_are_told_apart_in_time():
    schema = {"type": "object", "patternProperties": {f"^[ab]{i}": {"type": "integer"} for i in range(1000)}}
    with pytest.raises(LimitExceededError) as caught:
        schema_to_rules(schema, deadline=Deadline(0.5))
    assert caught.value.limit == "compile_seconds"


def test_tags_keep_hundreds_of_branches_apart():
    branches = [
        {"type": "object", "properties": {"kind": {"const": f"k{i}"}, "n": {"type": "integer"}}, "required": ["kind"]}
        for i in range(200)
    ]
    assert len(schema_to_kbnf({"oneOf": branches}).rules) >= 200


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"$ref": "#"}},
        {"if": {"$ref": "#"}, "then": False},
        {"type": "string", "allOf": [{"$ref": "#"}]},
    ],
)
def test_a_schema_that_applies_itself_to_one_value_is_an_error(schema):
    with pytest.raises((LimitExceededError, SchemaError)):
        schema_to_rules(schema)


@pytest.mark.parametrize("place", ["default", "$defs", "description"])
def test_depth_outside_of_the_schema_is_no_matter(place):
    schema = {"type": "null", place: _nested(lambda inner: {"a": inner}, DEEP, {})}
    assert len(schema_to_kbnf(schema).rules) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "number", "exclusiveMinimum": i / 7, "maximum": i / 7 + 0.05} for i in range(600)]},
        {"type": "string", "allOf": [{"pattern": f"^({'ab?' * 500})*c{{0,{i}}}$"} for i in range(1, 21)]},
    ],
)
def test_large_terminals_are_refused_by_the_compile(schema):
    """Not by the first mask."""
    with pytest.raises(LimitExceededError, match=r"the numbers and strings are too many") as caught:
        schema_to_rules({"properties": {"a": schema}}, limits=Limits(regex_nodes=20_000))
    assert caught.value.limit == "regex_nodes"


@pytest.mark.parametrize("pattern", ["^a.*b$", "a"])
def test_long_texts_with_a_pattern_are_refused_by_the_compile(pattern):
    schema = {"type": "string", "minLength": 10**8, "maxLength": 2**30, "pattern": pattern}
    with pytest.raises(LimitExceededError, match=r"minLength .* takes too many automaton states \(at #\)"):
        schema_to_rules(schema)
    schema_to_rules(schema | {"minLength": 100})


def test_an_answer_is_validated_by_a_pattern_that_only_raised_limits_allow():
    pattern = "^(" + "|".join(f"w{number}" for number in range(60_000)) + ")$"
    limits = Limits(regex_nodes=1_000_000)
    schema = {"patternProperties": {pattern: {"pattern": pattern}}, "additionalProperties": False}
    schema_to_rules(schema, limits=limits)
    parse = resolve(schema, limits=limits).parse
    assert parse('{"w1": "w59999"}') == {"w1": "w59999"}
    for text in ('{"w1": "w60000"}', '{"w60000": "w1"}'):
        with pytest.raises(jsonschema.ValidationError):
            parse(text)
