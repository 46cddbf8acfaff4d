"""Schemas without a text that can be written are refused at compile time, never by an empty mask."""

import pytest
from support.vocabularies import BYTES

import structgen

EMPTY = {
    "not every text": {"type": "string", "not": {"pattern": ""}},
    "not every text, of any type": {"not": {"pattern": "a*"}},
    "items that are not any text": {
        "type": "array",
        "items": {"type": "string", "not": {"pattern": "^"}},
        "minItems": 1,
    },
    "keys that are not any text": {"type": "object", "propertyNames": {"not": {"pattern": ""}}, "minProperties": 1},
    "more keys than the pattern has": {"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 3},
    "more keys than the pattern has, one required": {
        "propertyNames": {"pattern": "^[ab]$"},
        "type": "object",
        "required": ["a"],
        "minProperties": 3,
    },
    "more keys than the patterns have": {
        "type": "object",
        "patternProperties": {"^[ab]$": {}, "^c$": {}},
        "additionalProperties": False,
        "minProperties": 4,
    },
    "more different values than keys": {
        "type": "object",
        "allOf": [{"not": {"additionalProperties": {"not": {"const": number}}}} for number in range(9)],
        "maxProperties": 8,
    },
    "a look-behind that never holds": {"type": "string", "pattern": "a(?<!a)b"},
    "a look-behind before the text": {"type": "string", "pattern": "^(?<=b)a"},
}

COUNTED = {
    "minProperties": [
        {"minProperties": 1_000_000_000},
        {"type": "object", "minProperties": 10**30},
        {"type": "object", "minProperties": 20_000, "required": ["a"], "properties": {"a": {}, "b": {}}},
        {
            "type": "object",
            "patternProperties": {"^[a-z]{9}$": {}},
            "additionalProperties": False,
            "minProperties": 10**6,
        },
    ],
    "minLength": [{"type": "string", "minLength": 2**31}, {"minLength": 10**30, "pattern": "^a*$"}],
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_empty_schemas_are_unsatisfiable(name, order):
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(EMPTY[name], BYTES, property_order=order)


@pytest.mark.parametrize("name", EMPTY)
def test_a_property_without_a_value_is_not_begun(name):
    properties = {"name": EMPTY[name], "other": {"const": 1}}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    matcher = structgen.compile(schema, BYTES, whitespace="compact").matcher()
    matcher.accept_bytes(b'{"')
    assert matcher.allowed_token_ids() == [ord("o")]


@pytest.mark.parametrize(("keyword", "schema"), [(key, schema) for key, found in COUNTED.items() for schema in found])
def test_counts_out_of_reach_are_refused_by_name(keyword, schema):
    with pytest.raises(structgen.UnsupportedSchemaError) as caught:
        structgen.compile({"properties": {"x": schema}}, BYTES)
    assert (caught.value.keyword, caught.value.pointer) == (keyword, "/properties/x")


@pytest.mark.parametrize("high", [2**31 - 1, 2**31, 2**63, 10**30])
def test_a_large_greatest_length_is_no_bound(high):
    schemas = ({"maxLength": high}, {"maxLength": high, "pattern": "^a*$"})
    for schema in (*schemas, {"propertyNames": {"maxLength": high}, "minProperties": 1}):
        matcher = structgen.compile({"type": ["string", "object"], **schema}, BYTES).matcher()
        matcher.accept_bytes(b'"aaa"' if "propertyNames" not in schema else b'{"aaa":1}')
        assert matcher.is_accepting


def test_minimum_counts_within_reach_are_written():
    matcher = structgen.compile({"type": "object", "minProperties": 9_000}, BYTES).matcher()
    matcher.accept_bytes(b'{"a":1')
    assert not matcher.allows_bytes(b"}")
    assert matcher.allows_bytes(b',"b"')


@pytest.mark.parametrize("numbers", ["any", "plain"])
@pytest.mark.parametrize("bounds", [{"minimum": 1e15}, {"maximum": -(2**60)}, {"exclusiveMinimum": 1e14}])
def test_fractions_of_numbers_too_large_to_have_any_are_refused(bounds, numbers):
    large = {"type": "number", "not": {"multipleOf": 1}, **bounds}
    for schema in (large, {"type": "array", "items": large, "minItems": 1}):
        with pytest.raises(structgen.UnsupportedSchemaError, match="cannot be expressed exactly"):
            structgen.compile(schema, BYTES, numbers=numbers)
    smaller = {"type": "number", "not": {"multipleOf": 1}, "minimum": 1e12, "maximum": 2e12}
    assert structgen.compile(smaller, BYTES, numbers=numbers).matcher().allowed_token_ids()
