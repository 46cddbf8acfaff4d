"""Pydantic's types: all texts of their grammars pass `validate_json`, and texts that must be possible are."""

from __future__ import annotations

import dataclasses
import datetime as dt
import ipaddress
import json
import re
import uuid
from collections.abc import Hashable
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Optional, TypeVar, Union

import pydantic
import pydantic.dataclasses
import pytest
from pydantic import (
    AfterValidator,
    AnyUrl,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    HttpUrl,
    RootModel,
    Tag,
    TypeAdapter,
)
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from structgen.errors import UnsupportedSchemaError
from structgen.schema import resolve, schema_to_rules
from structgen.schema.schema_warnings import SchemaWarning


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str
    zip_code: Annotated[str, Field(pattern=r"^\d{5}$", alias="zip")]


class Person(BaseModel):
    name: str
    age: Annotated[int, Field(ge=0, le=150)]
    address: Address | None = None
    tags: list[str] = []


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    meow: int


class Dog(BaseModel):
    kind: Literal["dog", "wolf"]
    bark: int


class Pets(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


class AliasCat(BaseModel):
    kind: Literal["cat"] = Field(alias="Kind", default="cat")


class AliasDog(BaseModel):
    kind: Literal["dog"] = Field(alias="Kind")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = Field(alias="A", default=1)


class TypedOpen(BaseModel):
    __pydantic_extra__: dict[str, int] = Field(init=False)
    model_config = ConfigDict(extra="allow")
    a: str


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = 1


class ByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True, extra="allow")
    a: int = Field(validation_alias=pydantic.AliasChoices("x", "y"))


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    a: int
    b: dt.date
    c: Color
    d: tuple[int, str]
    e: Decimal
    f: float


class LastItem(BaseModel):
    name: str = Field(validation_alias=pydantic.AliasPath("names", -1))


class Meeting(BaseModel):
    person: dict[str, str]
    name: str = Field(validation_alias=pydantic.AliasPath("person", "name"))


class ReadTwice(BaseModel):
    a: int = Field(0, validation_alias=pydantic.AliasChoices("x", "y"))
    b: str = Field(validation_alias="y")


class ReadByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    a: int = Field(0, alias="x")
    b: str = Field(alias="a")


class ReadFromOther(BaseModel):
    user: dict[str, int]
    name: str = Field(validation_alias=pydantic.AliasChoices(pydantic.AliasPath("user", "name"), "name"))


class ReadFromFiller(BaseModel):
    a: int = Field(validation_alias=pydantic.AliasPath("x", 1))
    b: str = Field(validation_alias=pydantic.AliasChoices(pydantic.AliasPath("x", 0), "b"))


class OfOneKey(BaseModel):
    a: int = Field(alias="x")
    b: str = Field(alias="x")


class NoWay(BaseModel):
    a: int = Field(validation_alias=pydantic.AliasPath("x", -1, 0))


class Paths(BaseModel):
    a: int = Field(validation_alias=pydantic.AliasPath("x", 0))
    b: int = Field(validation_alias=pydantic.AliasPath("x", 1, "b"))
    c: int = Field(0, validation_alias=pydantic.AliasPath("x", 2))
    e: int = Field(0, validation_alias=pydantic.AliasChoices(pydantic.AliasPath("y", "z"), pydantic.AliasPath("w", 0)))
    d: str


class Short(BaseModel):
    model_config = ConfigDict(str_min_length=2, str_max_length=3)
    a: str


class ShortAddress(BaseModel):
    model_config = ConfigDict(str_min_length=4, str_max_length=9)
    lax: ipaddress.IPv6Address = ipaddress.IPv6Address(1)
    strict: Annotated[ipaddress.IPv4Address, Field(strict=True)]


class ShortNetwork(BaseModel):
    model_config = ConfigDict(str_min_length=4, strict=True)
    network: ipaddress.IPv6Network


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
class OpenPoint:
    x: int
    y: int = 0


class Mixed(Enum):
    ONE = 1
    HALF = 0.5
    TWO = 2.0
    WORD = "a"


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    a: Annotated[str, Field(min_length=2)]


class PythonRegex(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    a: Annotated[str, Field(pattern=r"^(?=a)\w+$")]


T = TypeVar("T")
HAS_FRACTIONS = hasattr(GenerateJsonSchema, "fraction_schema")  # from Pydantic 2.14 on


class Box(BaseModel, Generic[T]):
    content: T


class Root(RootModel[list[int]]):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    z: int = dataclasses.field(init=False, default=3)


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: str = "x"


def _tag(value: Any) -> str:
    return "a" if isinstance(value, int) else "b"


U4 = "12345678-1234-4234-9234-567812345678"
U1 = "12345678-1234-1234-9234-567812345678"

# type, JSON texts that are let through, JSON texts that are not
TABLE: list[tuple[Any, list[str], list[str]]] = [
    (int, ["0", "-5", "12345678901234567890"], ["1.5", '"1"', "true", "-0", "01", "1e2"]),
    (float, ["0", "-1.5", "1e10", "1E-5", "0.1"], ['"1"', "NaN", "Infinity", "1e999", ".5", "1."]),
    (bool, ["true", "false"], ["1", '"true"']),
    (str, ['""', '"a\\n\\u00e9\\ud83d\\ude00/\\/"', '"é😀"'], ['"\\ud800"', '"\n"', '"\\x"', "1"]),
    (None, ["null"], ["0"]),
    (Any, ["null", "1", '{"a":[1]}', "[]"], ["NaN", "", "[1,]"]),
    (bytes, ['"abc"'], ["1"]),
    (Annotated[bytes, Field(max_length=2)], ['"ab"'], ['"abc"', '"\u00e9\u00e9"']),
    (Annotated[int, Field(ge=3, lt=10)], ["3", "9"], ["2", "10", "33"]),
    (Annotated[int, Field(multiple_of=5, ge=0)], ["0", "15", "100"], ["1", "16", "-5"]),
    (Annotated[int, Field(multiple_of=7)], ["0", "-7", "49", "700000000000000007"], ["1", "-8", "50", "-0"]),
    (Annotated[float, Field(gt=0, le=1)], ["1", "0.5", "1e-9", "1.0"], ["0", "0.0", "1.1", "-1", "2"]),
    (Annotated[float, Field(multiple_of=0.5)], ["0", "1.5", "-2", "3.0"], ["0.3", "1.25"]),
    (
        Annotated[str, Field(min_length=1, max_length=2)],
        ['"a"', '"\U0001f600\U0001f600"', '"\\ud83d\\ude00"'],
        ['""', '"abc"'],
    ),
    (Annotated[str, Field(pattern="a")], ['"xax"'], ['"b"']),
    (Annotated[str, Field(pattern=r"^\d$")], ['"1"', '"\u0663"'], ['"a"', '"12"']),
    (Annotated[str, Field(pattern=re.compile(r"^\d$"))], ['"1"'], ['"a"', '"12"']),
    (PythonRegex, ['{"a": "ab"}'], ['{"a": "ba"}', '{"a": "a!"}']),
    (Stripped, ['{"a": "ab"}', '{"a": "a b"}'], ['{"a": " a"}', '{"a": "  "}', '{"a": "a"}']),
    (Decimal, ["1.5", '"1.50"', '"-0.1"', "3"], ['"x"', '"NaN"', "true"]),
    (
        Annotated[Decimal, Field(max_digits=4, decimal_places=2)],
        ["12.34", '"99.99"', '"0.05"', "7"],
        ["123", "1.234", '"100"', '"0.005"'],
    ),
    (Annotated[Decimal, Field(max_digits=3)], ['"123"', '"1.23"', '"0.12"', "12.3"], ['"1234"', '"12.34"']),
    (Annotated[Decimal, Field(ge=1, lt=2)], ["1", "1.99", '"1.5"', '"1.00"'], ["2", "0.99", '"2"', '"2.0"', '"0.99"']),
    (Annotated[Decimal, Field(gt=0, max_digits=5, decimal_places=2)], ['"0.01"', "1"], ['"0"', "0", '"1000"', '"-1"']),
    (Short, ['{"a": "ab"}', '{"a": "abc"}'], ['{"a": "a"}', '{"a": "abcd"}']),
    (OpenPoint, ['{"x": 1}', '{"x": 1, "y": 2}'], ['{"x": "a"}', "{}"]),
    (Mixed, ["1", "0.5", "2.0", "2", "5e-1", '"a"'], ["1.0", "1e0", "1.5"]),
    (int, ["0", "-1", "10"], ["-0", "1.0", "1e3"]),
    (Literal[1, 20], ["1", "20"], ["1.0", "2e1"]),
    (pydantic.ByteSize, ['"10 MB"', '"3kib"', "1024", '"1.5 GiB"'], ['"1 x"', '"kb"']),
    (pydantic.Json, ['"[1]"', '"\\"a\\""'], ['"["', '"a"', "[1]"]),
    (pydantic.Json[int], ['"1"', '"-12"'], ["1", '"a"', '"1.5"']),
    (Annotated[set[int], Field(min_length=2)], ["[1, 2]", "[1, 3, 2]"], ["[1]", "[]", "[1, 1]"]),
    (Annotated[Decimal, Field(multiple_of=Decimal("0.25"), ge=0)], ["1.25"], ['"1.25"', "1.3"]),
    (
        Annotated[float, Field(multiple_of=0.01, ge=0, le=10)],
        ["9", "9.0", "9.00", "0.1", "0.10", "9.000", "1e-1"],
        ["10.01", "1e-3"],
    ),
    (
        Annotated[float, Field(gt=2**53, lt=2**53 + 10)],
        ["9007199254740994", "9007199254740996.0"],
        ["9007199254740993"],
    ),
    (Annotated[float, Field(ge=1e300)], ["1e300", "6.85e+300", "1e301"], ["9e299", "1"]),
    (Annotated[float, Field(gt=1e-300, le=2.5e-8)], ["2.5e-08", "1.5e-8", "2e-300", "0.000000025"], ["1e-300", "3e-8"]),
    (Annotated[int, Field(ge=10**300)], [str(10**300), str(5 * 10**300 + 7)], [str(10**299), "1"]),
    (dt.date, ['"2024-02-29"', '"0001-01-01"'], ['"2023-02-29"', '"2023-02-30"', '"0000-01-01"', '"2023-1-01"', "1"]),
    (
        Annotated[dt.date, Field(ge=dt.date(2020, 2, 28), lt=dt.date(2021, 1, 2))],
        ['"2020-02-28"', '"2020-02-29"', '"2020-12-31"', '"2021-01-01"'],
        ['"2020-02-27"', '"2021-01-02"', '"2021-02-01"', '"2019-12-31"'],
    ),
    (
        dt.datetime,
        ['"2024-02-29T23:59:59Z"', '"2024-02-29T23:59:59.123456Z"', '"2024-02-29T00:00:00+05:30"'],
        [
            '"2024-02-29T23:59:59"',
            '"2024-02-29t23:59:59z"',
            '"2024-02-29"',
            '"2024-02-30T00:00:00"',
            '"2024-02-29T24:00:00"',
            '"2024-02-29T23:59:60Z"',
            '"2024-02-29T00:00:00+24:00"',
        ],
    ),
    (pydantic.AwareDatetime, ['"2024-02-29T23:59:59Z"'], ['"2024-02-29T23:59:59"']),
    (pydantic.NaiveDatetime, ['"2024-02-29T23:59:59"'], ['"2024-02-29T23:59:59Z"']),
    (dt.time, ['"23:59:59Z"', '"00:00:00.5+01:00"', '"10:00:00Z"'], ['"24:00:00Z"', '"1:00:00Z"', '"10:00:00"']),
    (
        dt.timedelta,
        ['"P1D"', '"PT1H30M"', '"P1Y35DT1S"', '"PT1H1S"', '"-P3DT4S"', '"PT0.5S"', '"PT0S"', '"PT90M"'],
        ['"P"', '"PT"', '"1 day"', '"P1Y2M3W4D"', '"P12M"', '"PT06M"', '"+P1D"', '"P1.5D"'],
    ),
    (uuid.UUID, [f'"{U4}"', f'"{U1}"'], ['"12345678"', f'"{U4}0"']),
    (pydantic.UUID4, [f'"{U4}"'], [f'"{U1}"']),
    (Color, ['"red"'], ['"RED"', '"green"']),
    (Level, ["1", "2"], ["3", '"1"', "true"]),
    (Literal[Color.RED, Level.HIGH, "x"], ['"x"', "2"], ['"red"', "1"]),
    (Literal["a", 1, True, None], ['"a"', "1", "true", "null"], ["2", "false", '"b"']),
    (Optional[int], ["1", "null"], ['"1"']),  # noqa: UP045
    (Union[int, str], ["1", '"x"'], ["null"]),  # noqa: UP007
    (list[int], ["[]", "[1, 2]"], ["[1,]", '["1"]', "1"]),
    (Annotated[list[int], Field(min_length=1, max_length=2)], ["[1]", "[1, 2]"], ["[]", "[1, 2, 3]"]),
    (tuple[int, str], ['[1, "x"]'], ["[1]", '["x", 1]', '[1, "x", 2]']),
    (tuple[int, ...], ["[]", "[1, 2]"], ['["x"]']),
    (tuple[()], ["[]"], ["[1]"]),
    (set[int], ["[]", "[1, 1]"], ['["x"]']),
    (set[Any], ['[1, "x", null]'], ["[[1]]", "[{}]"]),
    (frozenset[tuple[int, str]], ['[[1, "x"]]'], ["[[1]]"]),
    (Annotated[set[int], Field(min_length=1)], ["[1]", "[1, 1]"], ["[]"]),
    (dict[str, int], ["{}", '{"a": 1}'], ['{"a": "x"}']),
    (dict[int, str], ['{"1": "x", "-2": "y"}'], ['{"a": "x"}', '{"1.5": "x"}']),
    (dict[Annotated[str, Field(pattern="^a")], int], ['{"ab": 1}'], ['{"b": 1}']),
    (dict[Color, int], ['{"red": 1}', "{}", '{"red": 1, "blue": 2}'], ['{"green": 1}']),
    (dict[dt.date, int], ['{"2024-02-29": 1}'], ['{"2023-02-29": 1}']),
    (Annotated[dict[str, int], Field(min_length=1)], ['{"a": 1}'], ["{}"]),
    (
        Person,
        [
            '{"name": "A", "age": 3}',
            '{"name": "A", "age": 3, "address": {"street": "x", "zip": "12345"}, "tags": ["a"]}',
            '{"name": "A", "age": 3, "address": null}',
        ],
        [
            '{"name": "A"}',
            '{"age": 3, "name": "A"}',
            '{"name": "A", "age": 200}',
            '{"name": "A", "age": 3, "extra": 1}',
        ],
    ),
    (Tree, ['{"value": 1}', '{"value": 1, "children": [{"value": 2, "children": []}]}'], ['{"children": []}']),
    (
        Pets,
        ['{"pet": {"kind": "cat", "meow": 1}}', '{"pet": {"kind": "wolf", "bark": 1}}'],
        ['{"pet": {"meow": 1}}', '{"pet": {"kind": "dog", "meow": 1}}', '{"pet": {"kind": "cow"}}'],
    ),
    (
        Annotated[AliasCat | AliasDog, Field(discriminator="kind")],
        ['{"Kind": "cat"}', '{"Kind": "dog"}'],
        ["{}", '{"kind": "cat"}'],
    ),
    (Annotated[Annotated[int, Tag("a")] | Annotated[str, Tag("b")], Discriminator(_tag)], ["1", '"x"'], ["null"]),
    (Open, ["{}", '{"A": 1, "b": [1]}'], ['{"A": "x"}']),
    (TypedOpen, ['{"a": "x", "b": 1}'], ['{"a": "x", "b": "y"}']),
    (Closed, ["{}", '{"a": 1}'], ['{"b": 1}']),
    (ByName, ['{"x": 1}', '{"x": 1, "z": "w"}'], ['{"x": 1, "y": "w"}', '{"x": 1, "a": "w"}', "{}"]),
    (Strict, ['{"a": 1, "b": "2024-01-01", "c": "red", "d": [1, "x"], "e": "1.5", "f": 1}'], ['{"a": "1"}']),
    (Box[int], ['{"content": 1}'], ['{"content": "x"}']),
    (Root, ["[1]"], ['{"root": [1]}']),
    (Point, ['{"x": 1}', '{"x": 1, "y": 2}'], ["{}", '{"x": 1, "z": 2}']),
    (Movie, ['{"title": "x"}', '{"title": "x", "year": 1}'], ["{}", '{"title": "x", "a": 1}']),
    (Pair, ["[1]", '[1, "y"]'], ["[]", '["y"]']),
    (TypeAdapter(list[int]), ["[1]"], ['["x"]']),
    (ipaddress.IPv4Address, ['"1.2.3.4"'], ['"1.2.3.256"', '"01.2.3.4"']),
    (ipaddress.IPv6Address, ['"::1"', '"2001:db8::8a2e:370:7334"'], ['":::"', '"12345::"']),
    (pydantic.IPvAnyAddress, ['"::1"', '"1.2.3.4"'], ['"x"']),
    (AnyUrl, ['"https://example.com/a?b=c#d"', '"ftp://x.org"'], ['"example.com"', '"http://"']),
    (HttpUrl, ['"https://example.com"', '"http://localhost:8000/x"'], ['"ftp://x.org"', '"http://999999"']),
    (pydantic.SecretStr, ['"x"'], ["1"]),
    (pydantic.Base64Str, ['"YWJj"', '"YWI="', '""'], ['"8PDw"', '"YWJ"']),
    (pydantic.Base64Bytes, ['"YWJj"', '"YWI="', '""'], ['"YWJ"', '"!"']),
    (pydantic.Base64UrlStr, ['"Pz8_"', '"YWI="'], ['"Pz8/"', '"8PDw"']),
    (ipaddress.IPv4Network, ['"10.0.0.0/8"', '"1.2.3.4"'], ['"10.0.0.1/8"', '"1.2.3.4/33"']),
    (ShortAddress, ['{"lax": "::1", "strict": "1.2.3.4"}', '{"strict": "12.3.4.56"}'], ['{"strict": "12.34.5.67"}']),
    (ShortNetwork, ['{"network": "::/8"}'], ['{"network": "::"}']),
    (ipaddress.IPv6Interface, ['"::1/64"', '"::1"'], ['"::1/129"']),
    (pydantic.PostgresDsn, ['"postgres://u:p@a.org:1,b.org/db"'], ['"mysql://a.org"', '"postgres://"']),
    (pydantic.RedisDsn, ['"redis://localhost:6379/0"'], ['"http://a.org"']),
    (Path, ['"a/b"'], ["1"]),
    (complex, ['"1+2j"', '"-1.5e-07j"', '"0"'], ['"1+2"', '"j"', '"nan"', '"(1+2j)"', "1"]),
    (dict[int | str, int], ['{"1": 1, "a": 2}'], ['{"1": "a"}']),
    (dict[int | Color, int], ['{"1": 1, "red": 2}'], ['{"a": 1}', '{"1.5": 1}']),
    (Annotated[AnyUrl, Field(max_length=14)], ['"http://ab.cd"'], ['"http://ab.cd/ef"']),
    (
        Paths,
        ['{"x": [1, {"b": 2}], "d": "q"}', '{"x": [1, {"b": 2}, 3], "y": {"z": 4}, "d": "q"}'],
        [
            '{"x": [1], "d": "q"}',
            '{"x": ["1", {"b": 2}], "d": "q"}',
            '{"x": [1, {}], "d": "q"}',
            '{"a": 1, "d": "q"}',
            '{"x": [1, {"b": 2}], "d": "q", "y": {"w": 1}}',
        ],
    ),
]
if HAS_FRACTIONS:
    TABLE += [
        (Fraction, ['"1/3"', '"-2"', "0.1", "7"], ['"1/0"', '"1.5/2"', '"1_0"']),
        (Annotated[bytes, Field(pattern="^a")], ['"ab"'], ['"b"']),  # before, only the validator knows the pattern
        (Annotated[Fraction, Field(gt=0, le=Fraction(1, 4))], ["0.25", "0.1", "1e-9"], ["0", "0.26", '"1/8"']),
    ]


@pytest.mark.parametrize("index", range(len(TABLE)))
def test_texts_are_let_through_as_the_type_asks(accepts, index):
    kind, allowed, refused = TABLE[index]
    accepted = accepts(kind)
    parse = resolve(kind).parse
    for text in allowed:
        parse(text)  # the table itself is right
        assert accepted(text), text
    for text in refused:
        assert not accepted(text), text


@pytest.mark.parametrize(
    ("kind", "keyword"),
    [
        (Annotated[dt.datetime, Field(gt=dt.datetime(2020, 1, 1), lt=dt.datetime(2019, 1, 1))], "gt"),
        (Annotated[pydantic.NaiveDatetime, Field(gt=dt.datetime(2020, 1, 1, tzinfo=dt.UTC))], "gt"),
        (Annotated[dt.time, Field(le=dt.time(10, tzinfo=dt.timezone(dt.timedelta(hours=5))))], "le"),
        (Annotated[dt.timedelta, Field(le=dt.timedelta(1), gt=dt.timedelta(2))], "gt"),
        (Annotated[set[dt.datetime], Field(min_length=2)], "uniqueItems"),
        (set[Color] | Annotated[set[float | bool], Field(min_length=2)], "uniqueItems"),
        (pydantic.ImportString, "format"),
        (pydantic.NewPath, "format"),
        (LastItem, "validation_alias"),
        (Meeting, "validation_alias"),
        (ReadTwice, "validation_alias"),
        (ReadByName, "validation_alias"),
        (ReadFromOther, "validation_alias"),
        (ReadFromFiller, "validation_alias"),
        (OfOneKey, "validation_alias"),
        (NoWay, "validation_alias"),
        (Annotated[pydantic.Base64Str, Field(max_length=4)], "max_length"),
        (Annotated[pydantic.Base64Bytes, Field(min_length=1)], "min_length"),
        (dict[float, int], "propertyNames"),
        (dict[float | int, int], "propertyNames"),
        (Annotated[AnyUrl, Field(min_length=9)], "min_length"),
        (Annotated[float, Field(multiple_of=0.1, ge=1e7)], "multiple_of"),
        (Annotated[float, Field(multiple_of=0.1, gt=5e6)], "multiple_of"),
        (Annotated[dt.date, Field(lt=dt.date.min)], "lt"),
        (Annotated[dt.date, Field(gt=dt.date.max)], "gt"),
        (Annotated[dt.time, Field(gt=dt.time(23, 59, 59, 1))], "gt"),
        (Annotated[dt.datetime, Field(ge=dt.datetime.max)], "ge"),
        (pydantic.PaymentCardNumber, "format"),
        *([(Annotated[Fraction, Field(gt=Fraction(1, 3))], "gt")] if HAS_FRACTIONS else []),
        *([(Annotated[Fraction, Field(multiple_of=0.1)], "multiple_of")] if HAS_FRACTIONS else []),
        (Annotated[Decimal, Field(multiple_of=0.1 + 0.2)], "multiple_of"),
        (set[frozenset[int] | Person], "items"),
        (pydantic.FileUrl, "allowed_schemes"),
        (pydantic.FilePath, "format"),
        (type(lambda: 0), "type"),
        (type[Person], "type"),
        (Literal[Color.RED], "literal"),
        (re.Pattern[bytes], "type"),
        (Annotated[str, Field(pattern=re.compile("a", re.IGNORECASE))], "pattern"),
    ],
)
def test_what_json_schema_does_not_say_is_refused_by_name(kind, keyword):
    with pytest.raises(UnsupportedSchemaError) as caught:
        schema_to_rules(kind)
    assert caught.value.keyword == keyword


def test_errors_say_what_pydantic_reads():
    with pytest.raises(UnsupportedSchemaError, match=r"no JSON as Literal\[Color.RED\]; .* class Color\(str, Enum\)"):
        schema_to_rules(Literal[Color.RED])
    with pytest.raises(UnsupportedSchemaError, match=r"no JSON as Literal\[b'a'\] \(at #\)"):
        schema_to_rules(Literal[b"a"])
    with pytest.raises(UnsupportedSchemaError, match=r"no JSON as a member of Point \(at #\)"):
        schema_to_rules(Enum("Point", {"ORIGIN": (0, 0)}))


@pytest.mark.parametrize("kind", [bytes, pydantic.Base64Bytes, pydantic.Base64UrlBytes, pydantic.SecretBytes])
@pytest.mark.parametrize("encoding", ["base64", "hex"])
def test_encoded_bytes_are_refused_by_name(kind, encoding):
    model = pydantic.create_model("Encoded", __config__=ConfigDict(val_json_bytes=encoding), data=(kind, ...))
    with pytest.raises(UnsupportedSchemaError) as caught:
        schema_to_rules(model)
    assert caught.value.keyword == "val_json_bytes"


def test_what_can_be_hashed_is_a_scalar(accepts):
    accepted = accepts(Hashable)
    assert [accepted(text) for text in ('"a"', "1", "null", "[]", "{}")] == [True, True, True, False, False]


@pytest.mark.parametrize("keyword", ["le", "multiple_of"])
def test_a_constraint_on_the_result_of_a_function_is_named(accepts, keyword):
    kind = Annotated[int, AfterValidator(lambda number: -number), Field(**{keyword: 2})]
    with pytest.warns(SchemaWarning, match=f"{keyword} applies to what the validator <lambda> returns"):
        accepted = accepts(kind)
    assert accepted("3")
    first = Annotated[int, Field(**{keyword: 2}), AfterValidator(lambda number: -number)]
    assert not accepts(first)("3")


def test_the_parser_gives_instances_and_its_own_errors():
    assert resolve(Person).parse('{"name": "A", "age": 3}') == Person(name="A", age=3)
    assert resolve(list[Color]).parse('["red"]') == [Color.RED]
    with pytest.raises(pydantic.ValidationError):
        resolve(Person).parse("{}")


def test_a_schema_given_as_text_or_dict_is_parsed_by_jsonschema():
    import jsonschema

    parse = resolve('{"type": "integer", "multipleOf": 2}').parse
    assert parse("4") == 4
    with pytest.raises(jsonschema.ValidationError):
        parse("3")
    with pytest.raises(json.JSONDecodeError):
        parse("x")
    assert resolve({"multipleOf": 0.01}).parse("0.07") == 0.07
    with pytest.raises(jsonschema.ValidationError):
        resolve({"pattern": r"^\d$"}).parse('"\u0663"')


_NOT_FOR_CHECKERS = (pydantic.NaiveDatetime, Paths)
"""Types that read other texts than Pydantic's own schema says: without an offset, and inside other values."""


@pytest.mark.parametrize("index", range(len(TABLE)))
def test_random_texts_are_valid_by_the_schema_that_pydantic_publishes(walks, index):
    import jsonschema

    kind = TABLE[index][0]
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    schema = adapter.json_schema()
    schema.pop("uniqueItems", None)  # a set reads equal items as one; they are not kept apart
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    for text in walks(kind, 10, seed=index, whitespace="compact"):
        adapter.validate_json(text)
        if kind not in _NOT_FOR_CHECKERS:
            validator.validate(json.loads(text))


@pytest.mark.parametrize("whitespace", ["any", "single", "compact"])
@pytest.mark.parametrize("index", range(len(TABLE)))
def test_random_texts_under_the_mask_are_read_by_pydantic(walks, index, whitespace):
    kind = TABLE[index][0]
    parse = resolve(kind).parse
    texts = walks(kind, 12, seed=index, whitespace=whitespace)
    assert texts
    for text in texts:
        parse(text)
