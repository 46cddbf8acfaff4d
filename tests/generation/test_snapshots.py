"""Snapshots of values that are being written: prefixes of their texts are compared with the whole value."""

import dataclasses
import datetime
import enum
import itertools
import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypedDict

from structgen.generation.partial_json import PartialReader
from structgen.generation.snapshots import MISSING, PartialValues

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Point(NamedTuple):
    x: int
    y: str


class Options(TypedDict):
    fast: bool
    tags: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    width: int
    unit: str = "m"


class Box(BaseModel, Generic[T]):
    inside: T


class Names(RootModel[list[str]]):
    pass


class Everything(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str = Field(alias="Name")
    born: datetime.date
    colours: set[Colour]
    pet: Cat | Dog | None
    grid: list[list[int]]
    point: Point
    options: Options
    size: Size
    price: Decimal
    boxes: dict[str, Box[str]]
    names: Names
    either: str | list[int]
    tail: tuple[int, str] | None = None


WHOLE = Everything.model_validate(
    {
        "Name": 'Ann "x" \\ é😀',
        "born": "2020-02-29",
        "colours": ["red", "blue"],
        "pet": {"kind": "dog", "name": "Rex"},
        "grid": [[1, 2], [], [34]],
        "point": [1, "p"],
        "options": {"fast": True, "tags": ["a", "b"]},
        "size": {"width": 3, "unit": "cm"},
        "price": "3.50",
        "boxes": {"one": {"inside": "i"}, "two": {"inside": "j"}},
        "names": ["n", "m"],
        "either": "text",
        "tail": [1, "two"],
        "more": [1, {"a": "b"}],
    }
)


def read(text, annotation, *, grows=True):
    """Return the snapshots of a text that comes byte by byte, each different from the one before."""
    reader = PartialReader()
    values = PartialValues(reader)
    before = MISSING
    for byte in text.encode():
        reader.feed(bytes([byte]))
        if reader.tail == "string" and grows:
            reader.show_string()
        value = values.value(reader.root, annotation)
        if value is not MISSING and value != before:
            before = value
            yield value


def as_data(value):
    """Return a snapshot as JSON data, without missing values."""
    if isinstance(value, BaseModel):
        entries = {**value.__dict__, **(value.__pydantic_extra__ or {})}
        return {key: as_data(entry) for key, entry in entries.items() if entry is not None}
    if dataclasses.is_dataclass(value):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {key: as_data(entry) for key, entry in pairs if entry is not None}
    if isinstance(value, dict):
        return {key: as_data(entry) for key, entry in value.items()}
    if isinstance(value, set):
        return value
    return [as_data(entry) for entry in value if entry is not None] if isinstance(value, (list, tuple)) else value


def is_part(part, whole):
    """Return whether a snapshot can become a value by growing."""
    if isinstance(whole, dict):
        return isinstance(part, dict) and all(key in whole and is_part(part[key], whole[key]) for key in part)
    if isinstance(whole, list):
        return isinstance(part, list) and len(part) <= len(whole) and all(map(is_part, part, whole))
    if isinstance(whole, str):
        return isinstance(part, str) and whole.startswith(part)
    return part <= whole if isinstance(whole, set) else part == whole


def test_snapshots_of_a_model_grow_into_it():
    text = WHOLE.model_dump_json(by_alias=True)
    parts = list(read(text, Everything))
    assert parts[-1] == WHOLE
    assert type(parts[0]) is Everything and parts[0].name is None
    for part, after in itertools.pairwise(parts):
        assert is_part(as_data(part), as_data(after))
    assert any(part.pet == Dog.model_construct(kind="dog", name="Re") for part in parts)
    assert not any(isinstance(part.born, str) or isinstance(part.price, str) for part in parts)
    assert any(part.grid == [[1, 2], []] for part in parts)
    assert any(part.point == Point(1, None) for part in parts)
    assert any(part.colours and len(part.colours) == 1 for part in parts)
    assert any(part.size == Size(3, None) for part in parts)
    assert any(part.boxes == {"one": Box[str].model_construct(inside="")} for part in parts)
    assert any(isinstance(part.names, Names) and part.names.root == ["n"] for part in parts)
    assert all(type(part.names) in (Names, type(None)) for part in parts)


def test_a_union_appears_when_it_is_known_of_which_member():
    seen = list(read('{"kind": "cat", "lives": 9}', Cat | Dog))
    assert [type(part) for part in seen] == [Cat, Cat]
    assert seen[0].lives is None and seen[1] == Cat(kind="cat", lives=9)
    assert list(read('[{"a": [1, 22]}]', list[dict[str, list[int]] | list[str]])) == [
        [], [{}], [{"a": []}], [{"a": [1]}], [{"a": [1, 22]}],
    ]  # fmt: skip


def test_texts_that_the_schema_knows_appear_whole():
    assert list(read('["red", "blue"]', list[Colour])) == [[], [Colour.RED], [Colour.RED, Colour.BLUE]]
    assert list(read('"blue"', Literal["blue", "red"])) == ["blue"]
    assert list(read('"2020-02-29"', datetime.date)) == [datetime.date(2020, 2, 29)]
    assert list(read('"ab"', str, grows=False)) == ["ab"]
    assert list(read('"ab"', pydantic.SecretStr)) == [pydantic.SecretStr("ab")]


def test_strings_grow_by_whole_characters():
    text = json.dumps('a"\\😀\ud7ff\n')  # as escapes, in halves of surrogates
    assert list(read(text, str)) == ["", "a", 'a"', 'a"\\', 'a"\\😀', 'a"\\😀\ud7ff', 'a"\\😀\ud7ff\n']
    assert list(read('"é😀"', str)) == ["", "é", "é😀"]


def test_what_a_validator_refuses_is_shown_as_data():
    def refuse(value):
        raise ValueError("no")

    class Refusing(BaseModel):
        number: Annotated[int, pydantic.AfterValidator(refuse)]
        more: str

    *_, last = list(read('{"number": 3, "more": "x', Refusing))
    assert (last.number, last.more) == (3, "x")


@pytest.mark.parametrize("annotation", [Sequence[int], tuple[int, ...], frozenset[int], list])
def test_arrays_of_all_kinds(annotation):
    kind = {Sequence[int]: list, tuple[int, ...]: tuple, frozenset[int]: frozenset, list: list}[annotation]
    assert [kind(part) for part in ([], [1], [1, 23])] == list(read("[1, 23]", annotation))


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(max_examples=300)
@given(json_data, st.booleans(), st.sampled_from([None, 2]))
def test_json_data_grows_into_itself(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    parts = list(read(text + " ", Any))
    assert parts[-1] == value
    for part, after in itertools.pairwise(parts):
        assert is_part(part, after)


@settings(max_examples=100)
@given(json_data, st.lists(st.integers(0, 60)))
def test_pieces_make_no_difference(value, cuts):
    text = json.dumps(value, ensure_ascii=False).encode()
    reader = PartialReader()
    values = PartialValues(reader)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for start, end in itertools.pairwise(edges):
        reader.feed(text[start:end])
        if reader.tail == "string":
            reader.show_string()
        values.value(reader.root, Any)
    if reader.tail == "number":
        reader.end_scalar()
    assert values.value(reader.root, Any) == value
    assert reader.root.is_complete
