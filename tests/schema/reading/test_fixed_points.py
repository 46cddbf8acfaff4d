"""Subschemas that refer to themselves at the same value: the fixed point decides, and an error where nothing does."""

import contextlib
import json

import jsonschema
import pytest
from support.judging_schemas import accepts
from support.vocabularies import BYTES

import structgen
from structgen.schema.validation import validator_for

SELF = {"$ref": "#"}
AGAIN = {"$ref": "#/$defs/list"}
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
    "a condition and its consequence": {"if": SELF, "then": SELF},
    "exactly one": {"oneOf": [{"type": "string"}, SELF]},
    "exactly one of itself twice": {"oneOf": [{"oneOf": [SELF, SELF]}, {}]},
}

DENSE = {
    "dynamic references": {
        "oneOf": [
            {"$dynamicRef": "#node"},
            {},
            {"oneOf": [{}, {"type": "number"}, {"oneOf": [{"enum": []}, SELF, {}], "maxLength": 3}]},
        ],
        "$dynamicAnchor": "node",
    },
    "a definition and its complement": {
        "anyOf": [{"oneOf": [{}, {"$ref": "#/$defs/d"}]}],
        "$defs": {
            "d": {
                "oneOf": [
                    {"exclusiveMaximum": 0.5},
                    {
                        "minLength": 3,
                        "oneOf": [
                            {},
                            {"not": {"$ref": "#/$defs/d"}},
                            {"oneOf": [{}, {"enum": ["a"]}, SELF]},
                        ],
                    },
                ]
            }
        },
    },
    "a condition": {
        "if": {"oneOf": [SELF]},
        "then": False,
        "else": {
            "oneOf": [{"propertyNames": {"minLength": 2}, "enum": ["1", None]}],
            "properties": {"ab": {"pattern": "\\."}},
        },
    },
}

DRAFT = "https://json-schema.org/draft/2019-09/schema"
EMPTY = {"unevaluatedItems": False}  # holds for the empty array and for every value that is not an array
LEAF = {"type": ["boolean", "null"]}
PARTLY_DECIDED = {
    "a condition": {"if": {"anyOf": [EMPTY, SELF]}, "then": {"type": ["object", "boolean"]}, **EMPTY},
    "a recursive condition": {"if": {"anyOf": [LEAF, {"$recursiveRef": "#"}]}, "then": LEAF, **EMPTY},
    "a branch": {"anyOf": [EMPTY, {"$recursiveRef": "#"}], **EMPTY},
    "only a condition": {"if": SELF, **EMPTY},
    "both sides": {"if": SELF, "then": {"type": "string"}, "else": {"type": ["string", "null"]}},
    "the complement of both sides": {
        "not": {"if": {"not": SELF}, "then": {"type": "string"}, "else": {"type": ["string", "null"]}}
    },
    "the complement of oneOf": {"not": {"oneOf": [{"type": "string"}, SELF, {"type": ["string", "null"]}]}},
    "properties": {"anyOf": [LEAF, {"properties": {"a": SELF}}, SELF], "unevaluatedProperties": False},
    "before its reference": {
        "if": {"then": {"anyOf": [{"unevaluatedProperties": False, "$recursiveRef": "#"}, LEAF]}, "if": True},
        "else": LEAF,
    },
    "not evaluated": {
        "not": {"anyOf": [LEAF, {"properties": {"a": {}}}, {"not": SELF}], "unevaluatedProperties": False}
    },
}


def their_answer(schema, value):
    try:
        return jsonschema.Draft201909Validator(schema).is_valid(value)
    except BaseException as error:  # where the stack ends in a library that is not written in Python, it is a panic
        if type(error).__name__ == "PanicException":
            raise RecursionError from None
        raise


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


@pytest.mark.parametrize("name", DENSE)
def test_values_that_only_are_refused_leave_nothing_to_write(name):
    # As unions of shapes, these grew in each round: the same sets, in ever more parts.
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(DENSE[name], BYTES, limits=structgen.Limits(schema_nodes=500))
    assert not any(validator_for(DENSE[name]).is_valid(value) for value in VALUES)


def test_one_item_decides_beside_others_that_are_undecided():
    undecided_numbers = {"oneOf": [{"$ref": "#/$defs/a"}, {"type": "string"}, {}]}  # of strings, two branches accept
    schema = {"not": {"items": {"$ref": "#/$defs/a"}}, "$defs": {"a": undecided_numbers}}
    constraint = structgen.compile(schema, BYTES)
    for value, expected in ((["a", 2], True), ([2, "a"], True), ([2], False), ([], False)):
        assert accepts(constraint, value) == validator_for(schema).is_valid(value) == expected


def test_one_key_decides_beside_others_that_are_undecided():
    undecided_numbers = {"oneOf": [{"$ref": "#/$defs/a"}, {"type": "string"}, {}]}
    schema = {"not": {"additionalProperties": {"$ref": "#/$defs/a"}}, "$defs": {"a": undecided_numbers}}
    constraint = structgen.compile(schema, BYTES)
    for value, expected in (({"k": "a", "l": 2}, True), ({"k": 2, "l": "a"}, True), ({"k": 2}, False), ({}, False)):
        assert accepts(constraint, value) == validator_for(schema).is_valid(value) == expected


def test_one_key_decides_beside_others_with_undecided_keys_inside():
    members = {"additionalProperties": {"$ref": "#/$defs/itself"}}
    inner = {"if": members, "then": {"type": "null"}}
    schema = {
        "not": {"additionalProperties": inner},
        "$defs": {"itself": {"oneOf": [{"$ref": "#/$defs/itself"}, {"type": "string"}, {}]}},
    }
    constraint = structgen.compile(schema, BYTES)
    for value, expected in (
        ({"k": [], "l": {"m": 1}}, True),
        ({"k": {"m": 1}, "l": []}, True),
        ({"l": {"m": 1}}, False),
    ):
        assert accepts(constraint, value) == validator_for(schema).is_valid(value) == expected


def test_a_value_whose_member_is_undecided_is_not_written():
    inner = {"if": {"$ref": "#"}, "then": {"maxLength": 0}}
    schema = {"not": {"if": {"not": {"properties": {"ab": {"oneOf": [inner]}}}}, "then": False, "else": {"$ref": "#"}}}
    assert not any(validator_for(schema).is_valid(value) for value in ({"ab": "x"}, {"ab": ""}, {}, "x"))
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(schema, BYTES)


def test_branches_that_share_no_value_are_not_apart_where_values_are_undecided():
    circle = {"anyOf": [{"enum": ["a"]}, {"$ref": "#/$defs/circle"}]}  # leaves all but "a" undecided
    either = {"oneOf": [{"pattern": "^b"}, {"$ref": "#/$defs/circle"}]}
    schema = {"$schema": DRAFT, "$defs": {"circle": circle}, "additionalProperties": either}
    constraint, validator = structgen.compile(schema, BYTES), validator_for(schema)
    values = [{}, {"x": 1}, {"x": "b"}, {"x": "a"}]
    assert [accepts(constraint, value) for value in values] == [True, False, False, True]
    assert [validator.is_valid(value) for value in values] == [True, False, False, True]


def test_a_condition_that_is_undecided_does_not_matter_where_both_branches_hold():
    circle = {"anyOf": [{"enum": ["a"]}, {"$ref": "#/$defs/circle"}]}
    condition = {"if": {"properties": {"a": {"$ref": "#/$defs/circle"}}}, "then": {"minItems": 1}}
    schema = {"$schema": DRAFT, "$defs": {"circle": circle}, **condition}
    constraint, validator = structgen.compile(schema, BYTES), validator_for(schema)
    values = [{}, {"a": 1}, {"b": 1}, [1], []]
    assert [accepts(constraint, value) for value in values] == [True, True, True, True, False]
    assert [validator.is_valid(value) for value in values] == [True, True, True, True, False]


@pytest.mark.parametrize("name", PARTLY_DECIDED)
def test_the_grammar_and_the_validator_decide_the_same_values(name):
    schema = {"$schema": DRAFT, **PARTLY_DECIDED[name]}
    constraint = structgen.compile(schema, BYTES, property_order="any")
    validator = validator_for(schema)
    valid = [validator.is_valid(value) for value in VALUES]
    assert any(valid)
    assert [accepts(constraint, value) for value in VALUES] == valid
    for value, ours in zip(VALUES, valid, strict=True):
        with contextlib.suppress(RecursionError):
            assert their_answer(schema, value) == ours


def test_an_undecided_value_of_a_condition_is_refused_by_the_validator():
    validator = validator_for({"$schema": "http://json-schema.org/draft-07/schema#", "if": SELF, "then": SELF})
    assert not any(validator.is_valid(value) for value in VALUES)


def test_nested_unevaluated_keywords_do_not_double_the_work():
    tree = {"anyOf": [{"type": "null"}, {"properties": {"a": SELF}}], "unevaluatedProperties": False}
    chain = {"items": {"$ref": "#", "unevaluatedItems": False}, "type": ["array", "null"]}
    value = None
    for _ in range(40):
        value = {"a": value}
    assert validator_for(tree).is_valid(value)
    assert not validator_for(tree).is_valid({"b": value})
    text = "[" * 40 + "]" * 40
    assert structgen.compile({"$schema": DRAFT, **chain}, BYTES).parse(text) == json.loads(text)


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", DRAFT])
def test_additional_items_beside_a_boolean_say_nothing(draft):
    schema = {"$schema": draft, "items": True, "additionalItems": False}
    assert structgen.compile(schema, BYTES).parse("[1]") == [1]  # jsonschema raises a TypeError


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda others: {"anyOf": [{"type": "string"}, *others]}, [False, True]),
        (lambda others: {"oneOf": [{"type": "string"}, *others]}, [False, False]),
        (
            lambda others: {"if": {"anyOf": others}, "then": {"type": "string"}, "else": {"oneOf": others}},
            [False, False],
        ),
    ],
)
def test_references_that_all_lead_to_one_another_are_followed_few_times(make, expected):
    # Without answers that are kept while a reference is open, these take the time of 12! paths.
    others = [{"$ref": f"#/$defs/d{index}"} for index in range(12)]
    schema = {"$defs": {f"d{index}": make(others) for index in range(12)}, "$ref": "#/$defs/d0"}
    validator = validator_for(schema)
    assert [validator.is_valid(value) for value in (1, "a")] == expected


def test_errors_of_a_repeated_reference_keep_their_paths():
    branch = {"properties": {"a": {"$ref": "#/$defs/text"}}}
    schema = {"$ref": "#/$defs/twice", "$defs": {"text": {"type": "string"}, "twice": {"allOf": [branch, branch]}}}
    errors = list(validator_for(schema).iter_errors({"a": 1}))
    assert [list(error.path) for error in errors] == [["a"], ["a"]]


def test_values_that_a_circle_through_one_of_leaves_undecided_are_refused():
    either = {"anyOf": [{"const": 1}, {"$ref": "#/$defs/one"}]}
    one = {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/either"}]}
    schema = {"$schema": DRAFT, "$ref": "#/$defs/either", "$defs": {"either": either, "one": one}}
    constraint, validator = structgen.compile(schema, BYTES), validator_for(schema)
    for value in (1, 2, "a", None):  # 2 is in `either` if it is in `one`, and in `one` if it is not in `either`
        assert accepts(constraint, value) == validator.is_valid(value) == (value == 1)
    assert their_answer(schema, 1)
    with pytest.raises(RecursionError):
        their_answer(schema, 2)


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


@pytest.mark.parametrize("inner", [{"items": AGAIN}, {"prefixItems": [AGAIN]}, {"if": {"items": AGAIN}, "then": True}])
def test_no_depth_is_a_panic(inner):
    """Wherever the stack ends, the error is one of this package: a library in Rust panics where it runs out of it."""
    document = {"$defs": {"list": {"type": "array", **inner}}, **AGAIN}
    constraint = structgen.compile(document, BYTES)

    def parse_deeper(frames, text):
        return parse_deeper(frames - 1, text) if frames else constraint.parse(text)

    refused = 0
    for frames in range(12):
        for depth in (*range(90, 160, 7), 300):
            try:
                parse_deeper(frames, "[" * depth + "]" * depth)
            except structgen.LimitExceededError:
                refused += 1
    assert refused >= 12
