"""Schemas in subclasses of Python's types: ordered dictionaries, enums, the maps of YAML readers."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict, defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.schema.reading.plain_data import plain_copy, plain_data
from structgen.schema.reading.shared_parts import content_of, small_key

BYTES = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": [1, 2]}, "b": {"type": "array", "items": {"$ref": "#/$defs/word"}}},
    "required": ["a"],
    "patternProperties": {"^x": {"type": "null"}},
    "additionalProperties": False,
    "$defs": {"word": {"type": "string", "pattern": "^[a-z]+$"}},
}
TEXT = b'{"a": 2, "b": ["word"], "xy": null}'


class Map(dict[str, Any]):
    pass


class Items(list[Any]):
    pass


class Word(str, enum.Enum):  # noqa: UP042  (its text is its name, unlike that of a StrEnum)
    RED = "red"


class Count(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize("kind", [OrderedDict, Map, lambda pairs: defaultdict(int, pairs)])
def test_maps_of_other_types_are_read(kind: Any) -> None:
    inner = {**SCHEMA, "properties": json.loads(json.dumps(SCHEMA["properties"]), object_pairs_hook=kind)}
    for schema in (json.loads(json.dumps(SCHEMA), object_pairs_hook=kind), inner):
        matcher = structgen.compile(schema, BYTES).matcher()
        matcher.accept_bytes(TEXT)
        assert matcher.is_accepting


def test_members_of_enums_are_their_values() -> None:
    schema = {"type": "array", "prefixItems": [{"enum": [Word.RED]}, {"const": Count.ONE}], "required": Items()}
    matcher = structgen.compile(schema, BYTES).matcher()
    matcher.accept_bytes(b'["red", 1]')
    assert matcher.is_accepting


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from([Word.RED, Count.ONE]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(Items)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3).map(Map)
    ),
    max_leaves=8,
)


def types_of(value: Any) -> set[type]:
    if isinstance(value, dict):
        return {type(value)}.union(*map(types_of, value), *map(types_of, value.values()))
    return {type(value)}.union(*map(types_of, value)) if isinstance(value, list) else {type(value)}


@given(DATA)
def test_data_becomes_plain_and_stays_equal(data: Any) -> None:
    found = plain_data(data)
    assert found == data
    own = {dict, list, str, int, float, bool, type(None)}
    assert types_of(found) <= own
    if types_of(data) <= own:
        assert found is data


@given(DATA)
def test_only_plain_data_has_a_small_key(data: Any) -> None:
    key = small_key([data])
    if key is not None:
        assert plain_data(data) is data
        again = content_of(key)
        assert again == [data]
        assert types_of(again) == types_of([data])


def test_a_copy_has_no_part_of_the_original() -> None:
    data = {"a": [1.5, {"b": True}], "c": (1,)}
    copy = plain_copy(data)
    assert copy == {"a": [1.5, {"b": True}], "c": [1]}
    assert copy["a"] is not data["a"]
    assert copy["a"][1] is not data["a"][1]


def test_shared_parts_and_circles_stay() -> None:
    part = Map(a=1)
    found = plain_data([part, part])
    assert found[0] is found[1]
    circle = Map()
    circle["self"] = circle
    made = plain_data(circle)
    assert type(made) is dict
    assert made["self"] is made
