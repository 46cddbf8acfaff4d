"""`unevaluatedProperties` and `unevaluatedItems`: which keywords evaluate which members."""

import json

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.membership import is_member, space_of
from support.schemas import KEYS, some

from structgen.errors import LimitExceededError, SchemaError, UnsatisfiableSchemaError
from structgen.schema import schema_to_rules
from structgen.schema.algebra import complement
from structgen.schema.validation import validator_for

_OLD = "https://json-schema.org/draft/2019-09/schema"
_NEW = "https://json-schema.org/draft/2020-12/schema"
_CLOSED = {"type": "object", "unevaluatedProperties": False}
_FULL = {"type": "array", "unevaluatedItems": False}
_INT = {"type": "integer"}

CASES = [
    (_CLOSED, [{}], [{"a": 1}]),
    (_CLOSED | {"additionalProperties": _INT}, [{"a": 1}], [{"a": "x"}]),
    (_CLOSED | {"$schema": _OLD, "additionalProperties": _INT}, [{"a": 1}], [{"a": "x"}]),
    (_CLOSED | {"properties": {"a": {}}, "patternProperties": {"^b": {}}}, [{"a": 1, "bc": 2}], [{"c": 1}]),
    (_CLOSED | {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, [{"a": 1, "b": 1}], [{"c": 1}]),
    (
        _CLOSED | {"anyOf": [{"properties": {"a": _INT}}, {"properties": {"b": _INT}}]},
        [{"a": 1, "b": 1}, {"a": 1}],
        [{"a": "x"}, {"b": "x"}, {"c": 1}],
    ),
    (
        _CLOSED
        | {"oneOf": [{"properties": {"a": _INT}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]},
        [{"a": 1}, {"b": 1}],
        [{"a": 1, "b": 1}, {"a": "x", "b": 1}],
    ),
    (
        _CLOSED
        | {
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"properties": {"b": {}}},
            "else": {"properties": {"c": {}}},
        },
        [{"a": 1, "b": 2}, {"c": 1}],
        [{"a": 2}, {"b": 2}, {"a": 1, "c": 1}],
    ),
    (_CLOSED | {"dependentSchemas": {"a": {"properties": {"a": {}, "b": {}}}}}, [{"a": 1, "b": 1}, {}], [{"b": 1}]),
    (_CLOSED | {"not": {"not": {"properties": {"a": {}}}}}, [{}], [{"a": 1}]),
    (
        _CLOSED
        | {"anyOf": [{"required": ["c"]}, {"properties": {"a": {}}, "allOf": [False]}], "properties": {"c": {}}},
        [{"c": 1}],
        [{"a": 1}, {"c": 1, "a": 1}],
    ),  # a branch without values has no case
    (_CLOSED | {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {}}}}}, [{"a": 1}], [{"b": 1}]),
    (_CLOSED | {"allOf": [{"additionalProperties": _INT}]}, [{"a": 1}], [{"a": "x"}]),
    (_CLOSED | {"allOf": [{"unevaluatedProperties": True}]}, [{"a": 1}], []),
    ({"type": "object", "allOf": [{"properties": {"a": {}}}, {"unevaluatedProperties": False}]}, [{}], [{"a": 1}]),
    ({"type": "object", "unevaluatedProperties": _INT, "properties": {"a": {}}}, [{"a": "x", "b": 1}], [{"b": "x"}]),
    (_FULL, [[]], [[1]]),
    (_FULL | {"prefixItems": [_INT]}, [[1], []], [[1, 2], ["x"]]),
    (_FULL | {"contains": _INT}, [[1, 2]], [[1, "x"], []]),
    (_FULL | {"prefixItems": [{}], "contains": _INT}, [["x", 1], [1]], [["x", "y", 1]]),
    (
        _FULL | {"anyOf": [{"prefixItems": [_INT]}, {"prefixItems": [{}, _INT]}]},
        [[1], ["x", 1]],
        [["x", 1, 2], ["x", "y"], [1, "x"]],
    ),
    (_FULL | {"allOf": [{"items": _INT}]}, [[1, 2, 3]], [["x"]]),
    (_FULL | {"$schema": _OLD, "items": [_INT]}, [[1]], [[1, 2]]),
    (_FULL | {"$schema": _OLD, "items": [_INT], "additionalItems": {}}, [[1, "x"]], [["x"]]),
    (_FULL | {"$schema": _OLD, "contains": _INT}, [], [[1], []]),
]


@pytest.mark.parametrize("index", range(len(CASES)))
def test_what_is_not_evaluated_is_refused(accepts, index):
    schema, valid, invalid = CASES[index]
    space, root = space_of(schema)
    for value in (*valid, *invalid):
        assert is_member(space, root, value) == (value in valid), value
        assert is_member(space, complement(root), value) == (value in invalid), value
    if not valid:
        with pytest.raises(UnsatisfiableSchemaError):
            schema_to_rules(schema)
        return
    accepted = accepts(schema, property_order="any")
    assert [value for value in (*valid, *invalid) if accepted(json.dumps(value))] == valid


_LEAVES = st.sampled_from([True, _INT, {"type": "string"}, {"const": 1}])
_BY_KEY = st.dictionaries(st.sampled_from(KEYS), _LEAVES, min_size=1, max_size=2)


def _nested(inner):
    branches = st.lists(inner, min_size=1, max_size=3)
    conditional = {"if": inner, "then": inner, "else": inner}
    return st.one_of(
        some(properties=_BY_KEY, anyOf=branches, required=st.lists(st.sampled_from(KEYS), max_size=1)),
        some(oneOf=branches, patternProperties=_BY_KEY, contains=_LEAVES, minContains=st.just(0)),
        some(allOf=branches, prefixItems=st.lists(_LEAVES, min_size=1, max_size=2), **conditional),
        some(dependentSchemas=st.dictionaries(st.sampled_from(KEYS), inner, max_size=2), contains=_LEAVES),
        some(unevaluatedProperties=_LEAVES, unevaluatedItems=_LEAVES, anyOf=branches),
        some(**{"not": inner}),
    )


_ADJACENT = st.recursive(some(properties=_BY_KEY, prefixItems=st.lists(_LEAVES, min_size=1)), _nested, max_leaves=8)
_VALUES = st.one_of(
    st.dictionaries(st.sampled_from([*KEYS, "d"]), st.sampled_from([1, 2, "x"]), max_size=4),
    st.lists(st.sampled_from([1, 2, "x"]), max_size=4),
)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(_ADJACENT, _LEAVES | st.just(False), st.lists(_VALUES, min_size=4, max_size=12))
def test_generated_schemas_agree_with_the_validator(adjacent, rest, values):
    schema = {**adjacent, "$schema": _NEW, "unevaluatedProperties": rest, "unevaluatedItems": rest}
    validator = validator_for(schema)
    space, root = space_of(schema)
    for value in values:
        try:
            assert is_member(space, root, value) == validator.is_valid(value), value
            assert is_member(space, complement(root), value) != validator.is_valid(value), value
        except LimitExceededError:
            assume(False)


_TAGGED = st.builds(
    lambda tag, own, is_required: {
        "properties": {**own, "a": {"enum": tag}},
        **({"required": ["a"]} if is_required else {}),
    },
    st.sampled_from([[1], [2], ["x"], [1, "x"]]),
    st.dictionaries(st.sampled_from(["b", "c", "d"]), _LEAVES, max_size=2),
    st.sampled_from([True, True, True, False]),
)


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.one_of(_TAGGED, _TAGGED, _LEAVES), min_size=2, max_size=5),
    _BY_KEY,
    _LEAVES | st.just(False),
    st.lists(_VALUES, min_size=8, max_size=16),
)
def test_branches_with_tags_agree_with_the_validator(branches, beside, rest, values):
    schema = {"$schema": _NEW, "anyOf": branches, "properties": beside, "unevaluatedProperties": rest}
    validator = validator_for(schema)
    space, root = space_of(schema)
    for value in values:
        assert is_member(space, root, value) == validator.is_valid(value), value
        assert is_member(space, complement(root), value) != validator.is_valid(value), value


def test_classes_whose_members_are_of_other_classes_make_no_cases_together():
    """As in the schema of SPDX 3: a class is told by its tag, and its members are of any class again."""
    classes = [
        {
            "properties": {"type": {"const": f"c{i}"}, "id": {"type": "string"}, f"p{i}": {"$ref": "#/$defs/any"}},
            "required": ["type", f"p{i}"],
        }
        for i in range(80)
    ]
    node = {"type": "object", "anyOf": [{"$ref": f"#/$defs/c{i}"} for i in range(80)], "unevaluatedProperties": False}
    definitions = {f"c{i}": found for i, found in enumerate(classes)}
    schema = {
        "$schema": _NEW,
        "$ref": "#/$defs/any",
        "$defs": {**definitions, "any": {"anyOf": [{"type": "string"}, node]}},
    }
    space, root = space_of(schema)
    validator = validator_for(schema)
    values = [
        {"type": "c3", "p3": "x"}, {"type": "c3", "p4": "x"}, {"type": "c3"}, {"type": "c3", "p3": "x", "p4": "x"},
        {"type": "c79", "p79": {"type": "c0", "p0": "", "id": ""}}, {"type": "c79", "p79": {"type": "c0"}}, {},
    ]  # fmt: skip
    for value in values:
        assert is_member(space, root, value) == validator.is_valid(value), value
    assert len(space.shape(root).objects) == 80


def test_keys_keep_the_order_of_branches_that_evaluate_the_same(accepts):
    branches = [
        {"properties": {"type": {"const": f"c{i}"}, "z": _INT, "a": _INT}, "required": ["type"]} for i in range(3)
    ]
    accepted = accepts({"type": "object", "unevaluatedProperties": False, "anyOf": branches})
    assert accepted('{"type": "c1", "z": 1, "a": 1}')
    assert not accepted('{"a": 1, "type": "c1", "z": 1}')


@pytest.mark.parametrize("keyword", ["unevaluatedProperties", "unevaluatedItems"])
def test_many_branches_are_an_error_and_no_hang(keyword):
    branches = [{"properties": {f"k{i}": {}}, "prefixItems": [{}] * i, "required": [f"r{i}"]} for i in range(40)]
    with pytest.raises(LimitExceededError):
        schema_to_rules({"anyOf": [*branches, {"type": "array", "contains": {"const": 1}}], keyword: False})


def test_a_chain_of_references_is_followed_to_the_limit():
    definitions = {str(i): {"$ref": f"#/$defs/{i + 1}", "title": "x", "minProperties": 0} for i in range(10_000)}
    definitions["10000"] = {"properties": {"a": {}}}
    with pytest.raises(LimitExceededError):
        schema_to_rules({"$ref": "#/$defs/0", "$defs": definitions, "unevaluatedProperties": False})


def test_branches_that_evaluate_the_same_make_no_cases():
    branches = [{"required": [f"r{i}"]} for i in range(60)]
    schema = {"type": "object", "properties": {"a": {}}, "anyOf": branches, "unevaluatedProperties": False}
    space, root = space_of(schema | {"$schema": _NEW})
    assert not is_member(space, root, {"a": 1})
    assert len(space.shape(root).objects) <= 60


def test_branches_for_values_without_properties_make_no_cases():
    """As in the schema of SPDX 3: `else` is a string that says which class the object is not of."""
    branches = [
        {
            "if": {"type": "object", "properties": {"type": {"const": f"c{i}"}}, "required": ["type"]},
            "then": {"properties": {"type": {"type": "string"}, f"p{i}": {"type": "string"}}},
            "else": {"const": f"not a c{i}"},
        }
        for i in range(24)
    ]
    schema = {"type": "object", "anyOf": branches, "unevaluatedProperties": False}
    space, root = space_of(schema)
    validator = validator_for(schema)
    values = [
        {"type": "c3"}, {"type": "c3", "p3": "x"}, {"type": "c3", "p3": 1}, {"type": "c3", "p4": "x"}, {"type": "c24"},
        {}, "not a c3", {"p3": "x"}, {"type": "c23", "p23": ""},
    ]  # fmt: skip
    for value in values:
        assert is_member(space, root, value) == validator.is_valid(value), value
    assert {validator.is_valid(value) for value in values} == {False, True}


def test_a_bound_that_no_limit_raises_says_so():
    branches = [{"required": [f"p{i}"], "properties": {f"p{i}": {}}} for i in range(12)]
    with pytest.raises(LimitExceededError, match="this bound is fixed"):
        schema_to_rules({"anyOf": branches, "unevaluatedProperties": False})


def test_a_branch_without_values_has_no_case():
    dead = {"properties": {"a": {}}, "allOf": [False]}
    schema_to_rules({"unevaluatedProperties": False, "anyOf": [dead, {"type": "null"}]})


@pytest.mark.parametrize(
    "keyword", ["dependencies", "dependentSchemas", "properties", "patternProperties", "prefixItems"]
)
def test_what_is_evaluated_by_a_wrong_schema_is_an_error_that_names_it(keyword):
    """Such a schema may be read for what it evaluates before its own shape is made."""
    kind = "Items" if keyword == "prefixItems" else "Properties"
    for wrong in (5, None, True, "a"):
        with pytest.raises(SchemaError, match=rf"{keyword} must be .*#/allOf/0\b"):
            schema_to_rules({f"unevaluated{kind}": False, "allOf": [{keyword: wrong}]})
        with pytest.raises(SchemaError, match=f"{keyword} must be "):
            schema_to_rules({f"unevaluated{kind}": False, keyword: wrong})


def test_a_subschema_that_many_references_lead_to_is_split_once():
    """Each of 30 levels leads to the next one twice."""
    both = {
        f"{name}{i}": {"allOf": [{"$ref": f"#/$defs/{x}{i + 1}"} for x in "ab"]} for name in "ab" for i in range(60)
    }
    ends = {f"{name}30": {"properties": {name: _INT}} for name in "ab"}
    schema = _CLOSED | {"$ref": "#/$defs/a0", "$defs": both | ends}
    space, root = space_of(schema)
    for value, is_valid in (({"a": 1, "b": 2}, True), ({"a": "x"}, False), ({"c": 1}, False)):
        assert is_member(space, root, value) == is_valid
        if "x" not in value.values():  # which is one error for each of the ways
            assert validator_for(schema).is_valid(value) == is_valid
