"""Small generated schemas of draft 2020-12 with all of its keywords, and values that often satisfy them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

DRAFT = "https://json-schema.org/draft/2020-12/schema"
KEYS = ["a", "b", "c"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

SCALARS: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.sampled_from([0.5, 1.0, -2.25]),
    st.sampled_from(["", "a", "ab", "b1", "é"]),
)
VALUES: Any = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from([*KEYS, "d"]), inner, max_size=4)
    ),
    max_leaves=6,
)

_COUNTS: Any = st.integers(0, 3)
_NAMES: Any = st.lists(st.sampled_from([*KEYS, "d"]), max_size=2, unique=True)


def some(**keywords: Any) -> Any:
    """A schema with some of the keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


FLAT: Any = st.one_of(
    st.booleans(),
    some(type=st.one_of(st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True))),
    some(type=st.sampled_from(["integer", "number"]), minimum=st.integers(-2, 3), multipleOf=st.sampled_from([2, 0.5])),
    some(type=st.just("string"), minLength=st.integers(0, 2), pattern=st.sampled_from(["a", "b$", "^.?$"])),
    st.builds(lambda value: {"const": value}, VALUES),
    st.builds(lambda values: {"enum": values}, st.lists(VALUES, min_size=1, max_size=3)),
    st.sampled_from([{"$ref": "#/$defs/list"}, {"$ref": "#/$defs/tree"}]),
)

DEFINITIONS = {
    "list": {"prefixItems": [{"type": "integer"}], "items": {"$ref": "#/$defs/list"}},
    "tree": {"properties": {"a": {"$ref": "#/$defs/tree"}, "b": {"type": ["string", "null"]}}, "maxProperties": 2},
}


def _larger(inner: Any) -> Any:
    branches = st.lists(inner, min_size=1, max_size=3)
    by_key = st.dictionaries(st.sampled_from(KEYS), inner, max_size=2)
    return st.one_of(
        some(
            type=st.just("array"),
            items=inner,
            prefixItems=branches,
            minItems=_COUNTS,
            maxItems=_COUNTS,
            contains=inner,
            minContains=_COUNTS,
            maxContains=_COUNTS,
            uniqueItems=st.booleans(),
        ),
        some(
            type=st.just("object"),
            properties=by_key,
            required=_NAMES,
            additionalProperties=inner,
            patternProperties=st.dictionaries(st.sampled_from(["^a", "[bc]"]), inner, max_size=2),
            propertyNames=inner,
            minProperties=_COUNTS,
            maxProperties=_COUNTS,
            dependentRequired=st.dictionaries(st.sampled_from(KEYS), _NAMES, max_size=1),
            dependentSchemas=by_key,
        ),
        some(contains=inner, maxContains=_COUNTS, allOf=branches),
        some(allOf=branches, anyOf=branches, type=st.sampled_from(TYPES)),
        some(oneOf=branches),
        st.builds(lambda schema: {"not": schema}, inner),
        some(**{"if": inner, "then": inner, "else": inner}),
        some(unevaluatedProperties=inner, properties=by_key, anyOf=branches, allOf=branches, dependentSchemas=by_key),
        some(unevaluatedItems=inner, prefixItems=branches, anyOf=branches, oneOf=branches, contains=inner),
        some(**{"unevaluatedItems": inner, "unevaluatedProperties": inner, "if": inner, "then": inner, "not": inner}),
    )


SCHEMAS: Any = st.recursive(FLAT, _larger, max_leaves=6)


def document(**subschemas: Any) -> dict[str, Any]:
    """A schema of any value, with subschemas to look at."""
    return {"$schema": DRAFT, "$defs": {**DEFINITIONS, **subschemas}}
