"""Generated schemas: a grammar derives a value's text exactly when `jsonschema` accepts the value."""

import json
from typing import Any

import jsonschema
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from structgen.errors import UnsatisfiableSchemaError, UnsupportedSchemaError

KEYS = ["a", "b", "c"]
SCALARS: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([0.5, 1.5, -2.25, 7.0]),
    st.sampled_from(["", "a", "ab", "b1", "é", '"', "abc"]),
)
VALUES: Any = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*KEYS, "d"]), inner, max_size=3)
    ),
    max_leaves=5,
)
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def _some(**keywords: Any) -> Any:
    """Generate a schema with some of the keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


_FLAT: Any = st.one_of(
    st.booleans(),
    _some(
        type=st.one_of(st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True))
    ),
    _some(
        type=st.sampled_from(["integer", "number"]),
        minimum=st.integers(-3, 5),
        maximum=st.sampled_from([1.5, 4, 7]),
        exclusiveMinimum=st.integers(-3, 3),
        exclusiveMaximum=st.integers(3, 9),
        multipleOf=st.sampled_from([1, 2, 3, 0.5]),
    ),
    _some(
        type=st.just("string"),
        minLength=st.integers(0, 2),
        maxLength=st.integers(1, 3),
        pattern=st.sampled_from(["a", "^a", "b$", "^[a-b]+$", "^.?$"]),
    ),
    st.builds(lambda value: {"const": value}, VALUES),
    st.builds(lambda values: {"enum": values}, st.lists(VALUES, min_size=1, max_size=3)),
)


def _larger(inner: Any) -> Any:
    branches = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        _some(
            type=st.just("array"),
            items=inner,
            prefixItems=branches,
            minItems=st.integers(0, 2),
            maxItems=st.integers(1, 3),
        ),
        _some(
            type=st.just("object"),
            properties=st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
            required=st.lists(st.sampled_from([*KEYS, "d"]), max_size=2, unique=True),
            additionalProperties=inner,
            patternProperties=st.dictionaries(st.sampled_from(["^a", "[bc]"]), inner, max_size=2),
            propertyNames=_some(pattern=st.sampled_from(["[ab]", "^[^c]"]), maxLength=st.integers(0, 2)),
            minProperties=st.integers(0, 2),
            maxProperties=st.integers(1, 3),
            dependentRequired=st.dictionaries(
                st.sampled_from(KEYS), st.lists(st.sampled_from(KEYS), max_size=2), max_size=1
            ),
        ),
        _some(allOf=branches, anyOf=branches, type=st.sampled_from(TYPES)),
        _some(oneOf=branches),
        st.builds(lambda schema: {"not": schema}, inner),
        _some(**{"if": inner, "then": inner, "else": inner}),
    )


SCHEMAS: Any = st.recursive(_FLAT, _larger, max_leaves=5)


def _in_order(value: Any) -> Any:
    """Return a value with its keys in alphabetical order, the order of the schemas' properties here."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _ordered(schema: Any) -> Any:
    """Return a schema that names all its keys in alphabetical order, so that one order fits all values."""
    if isinstance(schema, list):
        return [_ordered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _in_order(value) if key in ("const", "enum") else _ordered(value) for key, value in sorted(schema.items())
    }


def _floats(value: Any) -> bool:
    """Return whether a value has a float such as 1.0: an integer in JSON Schema, with another text here."""
    if isinstance(value, list):
        return any(map(_floats, value))
    if isinstance(value, dict):
        return any(map(_floats, value.values()))
    return isinstance(value, float) and value.is_integer()


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(SCHEMAS, st.lists(VALUES, min_size=1, max_size=8))
def test_a_text_is_derived_only_if_its_value_is_valid(accepts, schema, values):
    schema = _ordered(schema)
    validator = jsonschema.Draft202012Validator(schema)
    try:
        accepted = accepts(schema, whitespace="single")
    except UnsupportedSchemaError:
        assume(False)
    except UnsatisfiableSchemaError:
        for value in values:
            assert not validator.is_valid(value), value
        return
    for value in values:
        text = json.dumps(_in_order(value), ensure_ascii=False)
        valid = validator.is_valid(value)
        if accepted(text):
            assert valid, value
        elif valid and not _floats(value):
            # The order of keys is the schema's; a value is refused for no other reason.
            assert any(accepted(other) for other in _orders(value)), value


def _orders(value: Any) -> list[str]:
    """Yield the texts of a value with its keys in any order, at every depth."""
    return [json.dumps(other, ensure_ascii=False) for other in _permuted(value)]


def _permuted(value: Any) -> list[Any]:
    from itertools import permutations, product

    if isinstance(value, list):
        return [list(items) for items in product(*map(_permuted, value))]
    if isinstance(value, dict):
        return [
            dict(zip(keys, items))
            for keys in permutations(value)
            for items in product(*(_permuted(value[key]) for key in keys))
        ]
    return [value]


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(SCHEMAS)
def test_random_texts_under_the_mask_are_valid(walks, schema):
    validator = jsonschema.Draft202012Validator(schema)
    try:
        texts = walks(schema, 4, whitespace="compact", longest=600)
    except (UnsupportedSchemaError, UnsatisfiableSchemaError):
        assume(False)
    for text in texts:
        assert validator.is_valid(json.loads(text)), text
