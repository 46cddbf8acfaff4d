"""The texts of examples: for any value of a schema, the text that a model would have to write."""

import dataclasses
import datetime
import enum
import json
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AliasChoices,
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    RootModel,
    SecretStr,
    computed_field,
    field_serializer,
)
from pydantic.dataclasses import dataclass
from support.texts import is_read
from support.vocabularies import BYTES
from typing_extensions import TypedDict

import structgen
from structgen import Grammar
from structgen.generation.example_texts import text_of


def written(schema, value, **options):
    """Return the text of a value, after a check that the schema accepts it."""
    constraint = structgen.compile(schema, BYTES, **{"whitespace": "single", **options})
    text = text_of(constraint.prepared.pieces(value), constraint.grammar)
    assert is_read(constraint, text)
    constraint.parse(text)
    return text


class Address(BaseModel):
    street: str = Field(validation_alias="Street", serialization_alias="strasse")
    opened: datetime.date

    @field_serializer("opened")
    def write_german(self, value: datetime.date) -> str:
        return value.strftime("%d.%m.%Y")

    @computed_field
    def length(self) -> int:
        return len(self.street)


@dataclasses.dataclass
class Pair:
    left: Address
    right: int
    both: int = dataclasses.field(init=False, default=0)


@dataclass
class Named:
    name: str = Field(validation_alias="Name")
    hidden: int = Field(default=0, init=False)


class Colour(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: float


class Keyed(TypedDict):
    secret: SecretStr
    at: Address


class Cat(BaseModel):
    name: str
    kind: Literal["cat"] = "cat"


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    barks: bool


class Tree(BaseModel):
    label: str
    children: list["Tree"] = []


class Choices(BaseModel):
    model_config = ConfigDict(extra="allow")
    size: int = Field(validation_alias=AliasChoices("Size", "s"))


class ByName(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=False)
    size: int = Field(alias="Size")


class Coded(BaseModel):
    data: Base64Bytes
    inner: Json
    more: list[Base64Bytes] | None = None


ADDRESS = Address(Street="Rue", opened="2000-01-02")
ADDRESS_TEXT = '{"Street": "Rue", "opened": "2000-01-02"}'


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (Address, ADDRESS, ADDRESS_TEXT),
        (list[Address], [ADDRESS], f"[{ADDRESS_TEXT}]"),
        (dict[str, Address], {"a": ADDRESS}, f'{{"a": {ADDRESS_TEXT}}}'),
        (Address | int, ADDRESS, ADDRESS_TEXT),
        (Pair, Pair(ADDRESS, 2), f'{{"left": {ADDRESS_TEXT}, "right": 2}}'),
        (Named, Named(Name="Ann"), '{"Name": "Ann"}'),
        (Keyed, {"at": ADDRESS, "secret": SecretStr("s")}, f'{{"secret": "s", "at": {ADDRESS_TEXT}}}'),
        (SecretStr, SecretStr("abc"), '"abc"'),
        (RootModel[list[SecretStr]], RootModel[list[SecretStr]](["a"]), '["a"]'),
        (Colour, Colour.RED, '"red"'),
        (Point, Point(1, 2.5), "[1, 2.5]"),
        (set[int], {3}, "[3]"),
        (dict[int, bytes], {1: b"x"}, '{"1": "x"}'),
        (Cat | Dog, Cat(name="a"), '{"name": "a", "kind": "cat"}'),
        (
            Annotated[Cat | Dog, Field(discriminator="kind")],
            {"barks": True, "kind": "dog"},
            '{"kind": "dog", "barks": true}',
        ),
        (
            Tree,
            Tree(label="a", children=[Tree(label="b")]),
            '{"label": "a", "children": [{"label": "b", "children": []}]}',
        ),
        (Choices, Choices(s=1, more="x"), '{"Size": 1, "more": "x"}'),
        (ByName, ByName(size=1), '{"size": 1}'),
        (
            Coded,
            Coded(data=b"YWJj", inner="[1]", more=[b"YWJj"]),
            '{"data": "YWJj", "inner": "[1]", "more": ["YWJj"]}',
        ),
        (Decimal, Decimal("1.50"), '"1.50"'),
        (Annotated[Decimal, Field(multiple_of=Decimal("0.5"))], Decimal("1.5"), "1.5"),
        (datetime.timedelta, datetime.timedelta(hours=1), '"PT1H"'),
        ({"type": "string"}, 'é"\n', '"é\\"\\n"'),
    ],
)  # fmt: skip
def test_values_are_written_as_they_are_read(schema, value, text):
    assert written(schema, value) == text


@given(st.permutations("abcdef"), st.booleans())
def test_keys_come_in_the_order_of_the_schema(keys, is_any_order):
    """Keys given in any order are written in the schema's order, at every depth, unless any order is allowed."""
    inner = {"type": "object", "properties": {key: {"type": "integer"} for key in "abcdef"}, "required": ["c"]}
    schema = {"type": "object", "properties": {"z": inner, "a": {"$ref": "#/properties/z"}}}
    value = {"a": dict.fromkeys(keys, 1), "z": dict.fromkeys(keys[:3], 2) | {"c": 2}}
    options = {"property_order": "any"} if is_any_order else {}
    found = json.loads(written(schema, value, **options))
    assert found == value
    if is_any_order:
        assert [*found, *found["a"]] == ["a", "z", *keys]
    else:
        assert [*found, *found["a"]] == ["z", "a", *"abcdef"]
        assert [*found["z"]] == sorted(value["z"])


def test_a_key_that_the_schema_does_not_name_comes_where_it_may():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    assert json.loads(written(schema, {"x": 1, "b": 2, "a": 3})) == {"x": 1, "b": 2, "a": 3}


@pytest.mark.parametrize("whitespace", ["any", "line", "compact", "single"])
def test_white_space_is_that_of_the_schema(whitespace):
    text = written(Address, ADDRESS, whitespace=whitespace)
    assert text == (ADDRESS_TEXT.replace(", ", ",").replace(": ", ":") if whitespace == "compact" else ADDRESS_TEXT)


PLACES = structgen.template("{city:[A-Z][a-z]+}: {count}, {day}", count=int, day=datetime.date)


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (structgen.json_lines(Address), [ADDRESS, ADDRESS], f"{ADDRESS_TEXT}\n{ADDRESS_TEXT}"),
        (structgen.json_lines(int), [], ""),
        (structgen.json_lines(int), "1\n2\n", "1\n2\n"),
        (Grammar.choice({"yes": True, "one": 1}), True, "yes"),
        (Grammar.choice({"yes": True, "one": 1}), 1, "one"),
        (Grammar.choice({"yes": True}), "yes", "yes"),
        (Grammar.choice(Colour), Colour.RED, "red"),
        (Grammar.regex("[a-z]+"), "abc", "abc"),
        (PLACES, {"day": datetime.date(2000, 1, 2), "city": "Rome", "count": 3}, "Rome: 3, 2000-01-02"),
        (PLACES, "Rome: 3, 2000-01-02", "Rome: 3, 2000-01-02"),
        (structgen.template("{left}-{at}", left=str, at=Address), Pair(ADDRESS, 2), None),
        (structgen.template("{street}!", street=str), ADDRESS, "Rue!"),
        (structgen.template("{a}", a=structgen.template("{b}", b=int)), {"a": {"b": 1}}, "1"),
        (structgen.template("{a}", a=int | str), {"a": "1"}, '"1"'),
    ],
)
def test_formats_take_their_values_and_their_texts(schema, value, text):
    if text is None:
        with pytest.raises(ValueError, match="no value for the hole 'at'"):
            written(schema, value)
    else:
        assert written(schema, value) == text


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        (Address, {"Street": "Rue"}, r"^'}' does not fit at byte 16; expected: `, .opened.: `"),
        (
            Address,
            {"Street": "Rue", "opened": "soon"},
            r"^'.soon.' does not fit at byte 29, in /opened; expected: .*a date",
        ),
        (list[Address], [ADDRESS, {"Street": 1}], "in /1/Street; expected"),
        (Address, {"street": "Rue"}, '"street": . does not fit at byte 2; expected: `Street": `'),
        (bool, float("nan"), "'NaN' does not fit at byte 0"),
        (str, "\ud800", r"ud800.* does not fit at byte 2"),
        (Tree, object(), "Unable to serialize unknown type"),
        (Grammar.regex("[a-z]+"), "ab1", "'ab1' does not fit at byte 2; expected: "),
        (Grammar.regex("[a-z]{3}"), "ab", "^the end does not fit at byte 2"),
        (Grammar.regex("[a-z]+"), 3, "3 is none"),
        (Grammar.choice({"yes": True}), False, "False is not one of the choices"),
        (structgen.json_lines(int), 3, "JSON Lines are written for a list"),
        (structgen.json_lines(int), [1, "a"], '"a". does not fit at byte 2'),
        (PLACES, {"city": "Rome"}, "no value for the hole 'count'"),
        (PLACES, {"town": "Rome"}, "no hole 'town'"),
    ],
)
def test_what_cannot_be_written_is_told_with_its_place(schema, value, says):
    with pytest.raises(ValueError, match=says):
        written(schema, value)
