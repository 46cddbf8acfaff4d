"""Subschemas that refer to themselves at the same value: the fixed point decides, and an error where nothing does."""

import json

import jsonschema
import pytest
from support.judging_schemas import accepts
from support.vocabularies import BYTES

import structgen

SELF = {"$ref": "#"}
VALUES = [None, True, 1, 2.5, "a", "ab", [], [1], {}, {"a": 1}, {"a": "x", "b": 1}, [[]], {"a": {"a": 1}}]

DECIDED = {
    "under a keyword of another type": {"type": "integer", "dependentSchemas": {"a": SELF}},
    "keys": {"propertyNames": SELF, "maxLength": 1},
    "not of keys": {"type": ["object", "string"], "not": {"propertyNames": {"not": SELF}, "type": "object"}},
    "a condition": {"if": {"type": "object"}, "then": {"required": ["a"]}, "else": {"type": "string"}},
    "after a branch that matches": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": SELF}}, SELF]},
    "two in a circle": {
        "anyOf": [{"type": "string"}, {"$ref": "#/$defs/other"}],
        "$defs": {"other": {"anyOf": [{"type": "array", "items": SELF}, SELF]}},
    },
}

UNDECIDED = {
    "only itself": SELF,
    "a circle of references": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    "its own complement": {"not": SELF},
    "one of itself": {"anyOf": [SELF, {"allOf": [SELF]}]},
}


@pytest.mark.parametrize("name", DECIDED)
def test_the_fixed_point_is_what_jsonschema_decides(name):
    schema = DECIDED[name]
    constraint = structgen.compile(schema, BYTES, property_order="any")
    decided = 0
    for value in VALUES:
        try:
            expected = jsonschema.Draft202012Validator(schema).is_valid(value)
        except RecursionError:
            assert not accepts(constraint, value)
        else:
            decided += 1
            assert accepts(constraint, value) == expected
            if expected:
                assert constraint.parse(json.dumps(value)) == value
    assert decided


@pytest.mark.parametrize("name", UNDECIDED)
def test_an_error_where_no_value_is_decided(name):
    with pytest.raises(structgen.SchemaError, match="refers to itself") as caught:
        structgen.compile(UNDECIDED[name], BYTES)
    assert type(caught.value) is structgen.SchemaError


def test_a_branch_that_is_never_decided_is_left_out():
    schema = {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "$defs": {"a": {"$ref": "#/$defs/a"}}}
    constraint = structgen.compile(schema, BYTES)
    assert accepts(constraint, None)
    assert not accepts(constraint, 1)
    assert constraint.parse("null") is None  # jsonschema would follow the circle until the stack ends
    with pytest.raises(jsonschema.ValidationError):
        constraint.parse("1")


@pytest.mark.parametrize("depth", [150, 900, 5_000, 100_000])
def test_deep_texts_are_parsed_or_refused_by_name(depth):
    constraint = structgen.compile({"items": SELF}, BYTES)
    try:
        value = constraint.parse("[" * depth + "]" * depth)
    except structgen.LimitExceededError as error:
        assert "nested too deeply" in str(error)
        assert depth > 150
    else:
        assert isinstance(value, list)
