"""Tests of arrays whose items must all differ, or two of which must be equal: exactly these, without dead ends."""

from __future__ import annotations

import json
import time
from itertools import product
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.texts import END, constraint_of, language
from support.vocabularies import BYTES, accepted_tokens

import structgen
from structgen import UnsatisfiableSchemaError

_VALUES = (1, 2, "ab", "aa")
_BYTES = frozenset(b'[],12"ab')
_FEW = st.lists(st.sampled_from(_VALUES), min_size=1, max_size=3, unique=True).map(lambda values: {"enum": values})
_ITEMS = st.one_of(_FEW, st.just({"type": "string", "pattern": "^a[ab]$"}))
_COUNTS = st.integers(0, 3)
_SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "type": st.just("array"),
        "items": st.one_of(_ITEMS, st.just(False)),
        "maxItems": _COUNTS,
    },
    optional={
        "prefixItems": st.lists(_ITEMS, min_size=1, max_size=3),
        "minItems": _COUNTS,
        "contains": _FEW,
        "minContains": _COUNTS,
        "maxContains": _COUNTS,
    },
)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _valid(schema: dict[str, Any], longest: int) -> set[str]:
    validator = jsonschema.Draft202012Validator(schema)
    arrays = (list(items) for length in range(longest + 1) for items in product(_VALUES, repeat=length))
    return {_compact(array) for array in arrays if validator.is_valid(array)}


@pytest.mark.parametrize("wanted", [{"uniqueItems": True}, {"not": {"uniqueItems": True}}])
@given(schema=_SCHEMAS)
def test_exactly_these_arrays_are_written(schema: dict[str, Any], wanted: dict[str, Any]) -> None:
    schema = schema | wanted
    valid = _valid(schema, 3)
    try:
        constraint = constraint_of(schema, whitespace="compact")
    except UnsatisfiableSchemaError:
        assert not valid
        return
    assert valid
    matcher = constraint.matcher()
    found, texts = set(), [b""]
    while texts:
        text = texts.pop()
        matcher.reset()
        matcher.accept_bytes(text)
        following = matcher.allowed_token_ids()
        assert len(following), text  # no dead end
        texts += [text + bytes([token]) for token in following if token in _BYTES]
        if END in following:
            found.add(text.decode())
    assert found == valid


_OVER_ENDS = (b"1,", b"1,1", b"2,1]", b'"aa",', b'"aa","a', b'b","ab"', b'b",2', b",2]", b'b"]')
_LONGER = structgen.Vocabulary.from_bytes(
    dict(enumerate([*(bytes([byte]) for byte in _BYTES), *_OVER_ENDS])), eos_token_ids=[len(_BYTES) + len(_OVER_ENDS)]
)


@pytest.mark.parametrize("wanted", [{"uniqueItems": True}, {"not": {"uniqueItems": True}}])
@given(schema=_SCHEMAS)
def test_tokens_over_the_end_of_an_item_are_allowed_where_they_are_accepted(schema: Any, wanted: Any) -> None:
    """The mask before such a token does not know the item that ends, with which the next one is compared."""
    schema = schema | wanted
    for text in sorted(_valid(schema, 3))[::5]:
        matcher = constraint_of(schema, _LONGER, whitespace="compact").matcher()
        for byte in text.encode():
            assert matcher.allowed_token_ids() == accepted_tokens(matcher, _LONGER.size)
            matcher.accept_bytes(bytes([byte]))


@pytest.mark.parametrize(
    "around",
    [
        lambda pairs: {"type": "array", "items": pairs, "uniqueItems": True, "minItems": 2, "maxItems": 2},
        lambda pairs: {"type": "array", "items": pairs, "not": {"uniqueItems": True}, "maxItems": 2},
    ],
)
def test_they_nest_in_arrays_that_compare_them(around: Any) -> None:
    pairs = {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 3, "not": {"uniqueItems": True}}
    schema = around(pairs)
    inner = [list(items) for length in (2, 3) for items in product((1, 2), repeat=length)]
    validator = jsonschema.Draft202012Validator(schema)
    valid = {_compact([a, b]) for a in inner for b in inner if validator.is_valid([a, b])}
    assert language(schema, "[],12", 17, whitespace="compact") == valid


_FLAG = {"type": "boolean"}


def assert_runs_out_after(count: int, schema: dict[str, Any]) -> None:
    matcher = constraint_of(schema | {"minItems": count}, whitespace="compact").matcher()
    while not matcher.is_accepting:
        following = matcher.allowed_token_ids()
        assert len(following)
        matcher.accept_token(int(following[-1]))
    with pytest.raises(UnsatisfiableSchemaError):
        constraint_of(schema | {"minItems": count + 1})


@pytest.mark.parametrize(
    ("items", "count"),
    [
        ({"type": "array", "items": _FLAG, "maxItems": 12, "uniqueItems": True}, 5),
        ({"type": "array", "items": _FLAG, "uniqueItems": True}, 5),
        ({"type": "array", "prefixItems": [_FLAG, {"type": "null"}], "items": {"const": 1}, "uniqueItems": True}, 7),
        ({"type": "array", "items": _FLAG, "maxItems": 3, "contains": {"const": True}}, 11),
        ({"type": "array", "items": _FLAG, "maxItems": 3, "contains": {"const": True}, "maxContains": 1}, 6),
        ({"type": "array", "items": _FLAG, "maxItems": 2, "minItems": 2, "not": {"uniqueItems": True}}, 2),
        ({"properties": dict.fromkeys("abc", _FLAG), "additionalProperties": False, "minProperties": 2}, 20),
        ({"properties": dict.fromkeys("abc", _FLAG), "additionalProperties": False, "maxProperties": 1}, 7),
    ],
)
def test_as_many_different_items_as_there_are_values(items: dict[str, Any], count: int) -> None:
    """One more is refused by the compile: a text with all values would be a dead end."""
    kind = "object" if "properties" in items else "array"
    schema = {"type": "array", "items": {"type": kind, **items}, "uniqueItems": True}
    assert_runs_out_after(count, schema)


_REFUSED = {"enum": ["a b", " "], "type": "string", "format": "idn-hostname"}
_IMPOSSIBLE = {"type": "array", "items": {"type": "number"}, "contains": {"type": "string"}}
_LISTS = {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}, "minItems": 1}}
_FLAG_OR_LISTS = {"anyOf": [{"$ref": "#/$defs/list"}, _FLAG]}
_ARRAYS: dict[str, tuple[dict[str, Any], int]] = {
    "contains": ({"items": {"type": "string"}, "maxItems": 1, "contains": {"enum": ["a", "b"]}}, 2),
    "contains, in a format": (
        {"items": {"format": "idn-hostname"}, "maxItems": 1, "contains": {"type": "string", "enum": ["a b", "é"]}}, 1),
    "no value of items": ({"items": _IMPOSSIBLE}, 1),
    "no value of items of items": ({"items": {"items": _IMPOSSIBLE, "type": "array", "minItems": 1}}, 1),
    "no value contained": ({"items": {"items": _IMPOSSIBLE, "contains": {"items": {"type": "object"}, "minItems": 2},
                                      "type": "array"}}, 1),
    "no value in a format": ({"items": _REFUSED}, 1),
    "no value in a branch": ({"items": {"anyOf": [_REFUSED, _FLAG]}, "maxItems": 1}, 3),
    "no value that ends": ({"items": _FLAG_OR_LISTS, "maxItems": 1}, 3),
    "different and contains": ({"items": _FLAG, "contains": {"const": True}, "uniqueItems": True}, 3),
    "different inside": ({"items": {"enum": [[], [1, 1]]}, "contains": {"uniqueItems": True}, "maxItems": 2}, 4),
}  # fmt: skip
_OBJECTS: dict[str, tuple[dict[str, Any], int]] = {
    "no keys": ({"maxProperties": 0}, 1),
    "required keys only": ({"maxProperties": 1, "required": ["a"], "properties": {"a": _FLAG}}, 2),
    "few keys": ({"patternProperties": {"^[ab]$": _FLAG}, "additionalProperties": False, "minProperties": 1}, 8),
    "few names": ({"propertyNames": {"pattern": "^[ab]$"}, "additionalProperties": _FLAG, "maxProperties": 1}, 5),
    "no value of other keys": ({"additionalProperties": _IMPOSSIBLE, "properties": {"a": _FLAG}}, 3),
    "no value of a key": ({"properties": {"a": _FLAG, "b": _REFUSED}, "additionalProperties": False}, 3),
    "one of two keys": (
        {"properties": {"a": _FLAG, "b": _FLAG}, "additionalProperties": False,
         "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, 8),
    "some key breaks a pattern": (
        {"patternProperties": {"^[ab]$": _FLAG}, "additionalProperties": False,
         "not": {"patternProperties": {"^[ab]$": {"const": True}}}}, 5),
    "the only key breaks a pattern": (
        {"patternProperties": {"^[ab]$": {"const": 1}, "^b$": {"const": 2}}, "additionalProperties": False,
         "not": {"patternProperties": {"^[ab]$": {"const": 3}}}}, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", [*_ARRAYS, *_OBJECTS])
def test_what_has_no_value_is_not_counted(name: str) -> None:
    """One different item more than there are values is refused by the compile; it would be a dead end."""
    kind, (items, count) = ("array", _ARRAYS[name]) if name in _ARRAYS else ("object", _OBJECTS[name])
    schema = {"type": "array", "items": {"type": kind, **items}, "uniqueItems": True, "$defs": _LISTS}
    assert_runs_out_after(count, schema)


@pytest.mark.parametrize(("low", "high", "count"), [(0, 1, 41), (39, 40, 41)])
def test_objects_with_few_of_many_keys(low: int, high: int, count: int) -> None:
    """Of 40 keys, all objects with more or fewer keys were made as well: 2⁴⁰, without a look at the clock."""
    keys = [f"k{number}" for number in range(40)]
    item = {
        "type": "object",
        "properties": {key: {"type": "null"} for key in keys},
        "additionalProperties": False,
        "minProperties": low,
        "maxProperties": high,
    }
    assert_runs_out_after(count, {"type": "array", "uniqueItems": True, "prefixItems": [item], "items": item})


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "array", "uniqueItems": True, "items": {"type": ["string", "array"]}}, '[["x%d"], '),
        ({"oneOf": [{"properties": {"a": {}}}, {"uniqueItems": True}]}, '["x%d"'),
    ],
)
def test_items_that_differ_from_any_number_of_others_since_the_compile(schema, text):
    # The values of items are kept with the schema. They counted for its limits until no mask was left.
    constraint = structgen.compile(schema, BYTES, limits=structgen.Limits(schema_nodes=300, compile_seconds=2))
    time.sleep(2)
    for number in range(400):
        matcher = constraint.matcher()
        matcher.accept_bytes((text % number).encode())
        assert matcher.allowed_token_ids()


_ONE_LETTER = {"type": "object", "properties": {"p": {}}, "maxProperties": 1}
_RUNS_OUT = {  # items of few values although a member has many: the text of one item, and the item
    "no key fits": ({"type": "object", "properties": {"c": {}}, "maxProperties": 0}, "{}"),
    "no item may be counted": (
        {
            "type": "array",
            "items": {"type": "string"},
            "contains": {"type": "string"},
            "minContains": 0,
            "maxContains": 0,
        },
        "[]",
    ),
    "the first item equals the second": (
        {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"const": "a"}],
            "items": False,
            "minItems": 2,
            "not": {"uniqueItems": True},
        },
        '["a","a"]',
    ),
    "a pattern needs the only key": (
        {**_ONE_LETTER, "not": {"patternProperties": {"^k$": {"not": {"const": 1}}}}},
        '{"k":1}',
    ),
}


@pytest.mark.parametrize("name", _RUNS_OUT)
def test_a_token_over_the_end_of_the_last_item_leads_to_no_other_one(name: str) -> None:
    items, text = _RUNS_OUT[name]
    over = text[-1].encode() + b","
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: over, 257: b"</s>"}
    vocabulary = structgen.Vocabulary.from_bytes(tokens, eos_token_ids=[257])
    schema = {"type": "array", "items": items, "uniqueItems": True, "maxItems": 2}
    matcher = structgen.compile(schema, vocabulary, whitespace="compact").matcher()
    matcher.accept_bytes(b"[" + text[:-1].encode())
    allowed = matcher.allowed_token_ids()
    assert over[0] in allowed
    assert 256 not in allowed
