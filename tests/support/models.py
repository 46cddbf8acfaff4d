"""Two hundred types of Pydantic in families, and types that are refused, with the keyword that the refusal names."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import ipaddress
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NotRequired,
    Optional,
    Required,
    TypeVar,
    Union,
)

import pydantic
from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, StringConstraints, Tag
from pydantic.alias_generators import to_camel
from support.scalars import INTEGERS, NUMBERS, OTHER_SCALARS, STRINGS, Color, Level, Unit, bounded
from typing_extensions import TypeAliasType, TypedDict

__all__ = ["REFUSED", "TYPES"]


# -- models ----------------------------------------------------------------------------------------------------------


class Address(BaseModel):
    """A model with an alias and a pattern."""

    street: str
    zip_code: Annotated[str, Field(pattern=r"^\d{5}(-\d{4})?$", alias="zip")]
    city: str | None = None


class Person(BaseModel):
    """Nesting, lists, bounds and defaults."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    age: Annotated[int, Field(ge=0, le=150)]
    address: Address | None = None
    tags: list[str] = []
    likes: set[Color] = set()


class Company(BaseModel):
    name: str
    founded: dt.date
    people: Annotated[list[Person], Field(max_length=3)]
    offices: dict[str, Address] = {}


class AllDefaults(BaseModel):
    a: int = 1
    b: str = "x"
    c: float | None = None
    d: list[int] = Field(default_factory=list)
    e: bool = False


class ManyOptional(BaseModel):
    a: int | None = None
    b: Annotated[str, Field(max_length=3)] = ""
    c: int
    d: bool = True
    e: Literal["x", "y"] = "x"
    f: Decimal
    g: dt.time | None = None


class Empty(BaseModel):
    pass


class OddNames(BaseModel):
    """Keys that need escapes, and some that look like others."""

    a: int = Field(alias='quo"te')
    b: int = Field(alias="back\\slash", default=0)
    c: int = Field(alias="é😀\n")
    d: int = Field(alias="", default=0)
    e: int = Field(alias="a/b", default=0)


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int
    b: str = ""


class Ignoring(BaseModel):
    model_config = ConfigDict(extra="ignore")
    a: int
    b: str = ""


class Allowing(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = Field(alias="A", default=1)
    b: str


class TypedExtra(BaseModel):
    __pydantic_extra__: dict[str, Annotated[int, Field(ge=0)]] = Field(init=False)
    model_config = ConfigDict(extra="allow")
    a: str


class ByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    a: int = Field(alias="alpha")


class Choices(BaseModel):
    a: int = Field(validation_alias=pydantic.AliasChoices("x", "y"))
    b: str = Field(validation_alias="bee", serialization_alias="bee", default="")


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    first_name: str
    last_name: str = ""
    birth_date: dt.date


class StrictModel(BaseModel):
    model_config = ConfigDict(strict=True)
    a: int
    b: dt.date
    c: Color
    d: tuple[int, str]
    e: Decimal
    f: float
    g: uuid.UUID
    h: set[int]
    i: bytes


class Stripping(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, str_min_length=1, str_max_length=8)
    a: str
    b: str = "x"


class Lowering(BaseModel):
    model_config = ConfigDict(str_to_lower=True)
    a: str
    b: Annotated[str, StringConstraints(to_upper=True, max_length=4)]


class PythonRegex(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    a: Annotated[str, Field(pattern=r"^(?=a)\w+$")]


class UsesEnumValues(BaseModel):
    model_config = ConfigDict(use_enum_values=True, frozen=True)
    a: Color
    b: Level = Level.LOW


class Computed(BaseModel):
    width: Annotated[int, Field(ge=1, le=9)]
    _hidden: int = 0

    @pydantic.computed_field
    @property
    def area(self) -> int:
        return self.width**2


class Excluding(BaseModel):
    a: int
    b: str = Field(exclude=True, default="")
    c: Annotated[int, Field(frozen=True)] = 2


class Base(BaseModel):
    id: uuid.UUID
    kind: str = "base"


class Derived(Base):
    kind: Literal["derived"] = "derived"
    more: list[Base] = []


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


class Linked(BaseModel):
    value: Annotated[str, Field(max_length=3)]
    next: Linked | None = None


class Ping(BaseModel):
    count: int
    pong: Pong | None = None


class Pong(BaseModel):
    pings: Annotated[list[Ping], Field(max_length=2)] = []
    last: Ping | None = None


class Operand(BaseModel):
    kind: Literal["number"] = "number"
    value: float


class Operation(BaseModel):
    kind: Literal["add", "mul"]
    left: Expression
    right: Expression


Expression = Annotated[Operand | Operation, Field(discriminator="kind")]
Operation.model_rebuild()


class Calculation(BaseModel):
    expression: Expression


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    meow: int


class Dog(BaseModel):
    kind: Literal["dog", "wolf"]
    bark: float = 1.5


class Bird(BaseModel):
    kind: Literal[Unit.METRE] = Field(alias="kind")
    wings: Annotated[int, Field(ge=0, le=2)] = 2


class Pets(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    others: list[Annotated[Cat | Dog | Bird, Field(discriminator="kind")]] = []


class AliasCat(BaseModel):
    kind: Literal["cat"] = Field(alias="Kind", default="cat")


class AliasDog(BaseModel):
    kind: Literal["dog"] = Field(alias="Kind")
    model_config = ConfigDict(extra="allow")


T = TypeVar("T")
K = TypeVar("K")


class Box(BaseModel, Generic[T]):
    content: T
    spare: T | None = None


class PairOf(BaseModel, Generic[K, T]):
    key: K
    values: list[T]


class Ints(RootModel[list[int]]):
    pass


class Names(RootModel[dict[Annotated[str, Field(pattern="^[a-z]+$")], Box[int]]]):
    pass


class Either(RootModel[Cat | Dog]):
    pass


class Checked(BaseModel):
    """Validators in Python that refuse nothing."""

    name: Annotated[str, pydantic.AfterValidator(str.strip)]
    size: Annotated[int, pydantic.BeforeValidator(lambda value: value)]

    @pydantic.field_validator("name")
    @classmethod
    def _title(cls, value: str) -> str:
        return value.title()

    @pydantic.model_validator(mode="after")
    def _same(self) -> Checked:
        return self


class Dates(BaseModel):
    start: dt.datetime
    end: pydantic.AwareDatetime
    local: pydantic.NaiveDatetime | None = None
    day: Annotated[dt.date, Field(ge=dt.date(1999, 12, 31), le=dt.date(2004, 3, 1))]
    at: dt.time
    lasts: dt.timedelta


class Net(BaseModel):
    v4: ipaddress.IPv4Address
    v6: ipaddress.IPv6Address | None = None
    url: pydantic.HttpUrl
    any_url: pydantic.AnyUrl | None = None


class Amounts(BaseModel):
    price: Annotated[Decimal, Field(max_digits=6, decimal_places=2)]
    rate: Annotated[float, Field(ge=0.1, lt=0.3)]
    count: Annotated[int, Field(gt=0, multiple_of=12)]
    share: Annotated[float, Field(gt=0, lt=1)]
    big: Annotated[int, Field(ge=-(10**30), le=10**30)] = 0


class Wide(BaseModel):
    """Twenty fields, most of them optional."""

    f01: int
    f02: str
    f03: int | None = None
    f04: str = ""
    f05: list[int] = []
    f06: float = 0.0
    f07: bool = False
    f08: dt.date | None = None
    f09: Literal["a", "b"] = "a"
    f10: Color = Color.RED
    f11: int = 1
    f12: str | int = ""
    f13: dict[str, int] = {}
    f14: tuple[int, int] = (0, 0)
    f15: uuid.UUID | None = None
    f16: Decimal = Decimal(0)
    f17: Annotated[str, Field(max_length=2)] = ""
    f18: Annotated[int, Field(ge=0, le=9)] = 0
    f19: Empty | None = None
    f20: bool


# -- dataclasses, typed dicts, named tuples --------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    z: int = dataclasses.field(init=False, default=3)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Segment:
    start: Point
    end: Point
    label: str | None = None
    weights: list[float] = dataclasses.field(default_factory=list)


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="forbid"))
class Sized:
    width: Annotated[float, Field(gt=0, le=1e6)]
    unit: Unit = Unit.METRE


@pydantic.dataclasses.dataclass
class Node:
    name: str
    child: Node | None = None


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Series(TypedDict, total=False):
    title: Required[str]
    seasons: Annotated[int, Field(ge=1, le=99)]
    pilot: Movie


class OpenDict(TypedDict):
    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
    a: int


class Pair(NamedTuple):
    left: int
    right: str = "x"


class Nested(NamedTuple):
    pair: Pair
    point: Point
    rest: list[int]


# -- names for types -------------------------------------------------------------------------------------------------

Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | float | bool | None")
Rows = TypeAliasType("Rows", list[dict[str, int]])
Matrix = Annotated[list[Annotated[list[float], Field(min_length=2, max_length=2)]], Field(min_length=2, max_length=2)]


def _tag(value: Any) -> str:
    return "a" if isinstance(value, int) else "b"


# -- the families ----------------------------------------------------------------------------------------------------

_CHOICES = {
    "optional": Optional[int],  # noqa: UP045
    "nullable": str | None,
    "union": Union[int, str],  # noqa: UP007
    "three": int | list[int] | dict[str, int],
    "models": Cat | Dog,
    "overlap": bounded(int, ge=0) | bounded(float, le=10),
    "bool_or_int": bool | int,
    "nested": list[int | None] | None | Literal["none"],
    "left_to_right": Annotated[int | str, Field(union_mode="left_to_right")],
    "tagged": Annotated[Cat | Dog, Field(discriminator="kind")],
    "tagged_enum": Annotated[Cat | Dog | Bird, Field(discriminator="kind")],
    "tagged_alias": Annotated[AliasCat | AliasDog, Field(discriminator="kind")],
    "tagged_function": Annotated[Annotated[int, Tag("a")] | Annotated[str, Tag("b")], Discriminator(_tag)],
    "tagged_nullable": Annotated[Cat | Dog, Field(discriminator="kind")] | None,
    "tagged_list": list[Annotated[Cat | Dog, Field(discriminator="kind")]],
    "dates": dt.date | dt.datetime,
    "defaulted": Annotated[int, Field(default=5)],
}

_COLLECTIONS = {
    "json_text_of_integers": pydantic.Json[list[int]],
    "list": list[int],
    "bare_list": list,
    "list_bounded": bounded(list[int], min_length=1, max_length=2),
    "list_long": bounded(list[bool], min_length=12, max_length=40),
    "list_huge": bounded(list[None], max_length=10**9),
    "lists": list[list[str]],
    "matrix": Matrix,
    "tuple": tuple[int, str],
    "tuple_empty": tuple[()],
    "tuple_free": tuple[int, ...],
    "tuple_bounded": bounded(tuple[int, ...], max_length=2),
    "tuple_nested": tuple[tuple[int, int], list[bool] | None],
    "tuple_in_tuple": tuple[int, *tuple[str, ...], int],
    "set": set[int],
    "set_any": set[Any],
    "set_bounded": bounded(set[str], max_length=2),
    "set_non_empty": bounded(set[int], min_length=1),
    "frozenset": frozenset[tuple[int, str]],
    "sequence": Sequence[Unit],
    "iterable": Iterable[int],
    "deque": collections.deque[int],
    "deque_bounded": bounded(collections.deque[int], max_length=3),
    "dict": dict[str, int],
    "bare_dict": dict,
    "dict_any": dict[str, Any],
    "dict_bounded": bounded(dict[str, int], max_length=2),
    "dict_non_empty": bounded(dict[str, int], min_length=1),
    "dict_int_keys": dict[int, str],
    "dict_bounded_keys": dict[bounded(int, ge=0, le=12), bool],
    "dict_pattern_keys": dict[bounded(str, pattern="^a"), int],
    "dict_short_keys": dict[bounded(str, min_length=1, max_length=2), None],
    "dict_enum_keys": dict[Color, int],
    "dict_literal_keys": dict[Literal["x", "y"], int],
    "dict_date_keys": dict[dt.date, int],
    "dict_uuid_keys": dict[uuid.UUID, bool],
    "dict_of_models": dict[str, Point],
    "mapping": Mapping[str, float],
    "default_dict": collections.defaultdict[str, list[int]],
    "ordered_dict": collections.OrderedDict[str, int],
    "counter": collections.Counter[str],
    "alias": Rows,
    "recursive_alias": Json,
    "type_adapter": pydantic.TypeAdapter(list[Person]),
}

_MODELS = {
    model.__name__: model
    for model in (
        Address, Person, Company, AllDefaults, ManyOptional, Empty, OddNames, Forbidding, Ignoring, Allowing,
        TypedExtra, ByName, Choices, Camel, StrictModel, Stripping, Lowering, PythonRegex, UsesEnumValues, Computed,
        Excluding, Derived, Tree, Linked, Ping, Pong, Calculation, Pets, Box[int], Box[Box[str]],
        PairOf[Literal["k"], Point], Ints, Names, Either, Checked, Dates, Net, Amounts, Wide, Point, Segment, Sized,
        Node, Movie, Series, OpenDict, Pair, Nested,
    )
}  # fmt: skip

_FAMILIES = {
    "string": STRINGS,
    "integer": INTEGERS,
    "number": NUMBERS,
    "scalar": OTHER_SCALARS,
    "choice": _CHOICES,
    "collection": _COLLECTIONS,
    "model": _MODELS,
}

TYPES: dict[str, Any] = {
    f"{family}:{name}": kind for family, kinds in _FAMILIES.items() for name, kind in kinds.items()
}
"""All types that are supported, by family and name."""


REFUSED: dict[str, tuple[Any, str]] = {
    "set_of_two_times": (bounded(set[dt.datetime], min_length=2), "uniqueItems"),
    "frozenset_of_two_decimals": (bounded(frozenset[Decimal], min_length=2), "uniqueItems"),
    "import": (pydantic.ImportString, "format"),
    "new_path": (pydantic.NewPath, "format"),
    "set_of_lists": (set[list[int]], "items"),
    "dict_float_keys": (dict[float, int], "propertyNames"),
    "file": (pydantic.FilePath, "format"),
    "function": (type(_tag), "type"),
    "flags": (bounded(str, pattern=re.compile("a", re.IGNORECASE)), "pattern"),
    "back_reference": (bounded(str, pattern=re.compile(r"(a+)\1")), "pattern"),
}
"""Types that are refused, with the keyword that the error names."""
