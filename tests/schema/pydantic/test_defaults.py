"""Defaults that Pydantic checks (`validate_default`): a field whose default is refused must be written."""

from __future__ import annotations

import dataclasses
import datetime as dt
import ipaddress
from typing import Annotated, Any, NamedTuple, Optional

import pytest
from pydantic import AfterValidator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, OnErrorOmit, create_model
from support.texts import constraint_of, is_read, is_valid_for
from typing_extensions import TypedDict

CHECKED = ConfigDict(validate_default=True)


class OfField(BaseModel):
    a: int = Field("x", validate_default=True)  # type: ignore[assignment]
    b: int = Field("x")  # type: ignore[assignment]
    c: int = Field("1", validate_default=True)  # type: ignore[assignment]


class OfModel(BaseModel):
    model_config = CHECKED
    a: int = Field(-1, ge=0)
    b: str = "x"
    c: int = Field(-1, ge=0, validate_default=False)


class Strict(BaseModel):
    model_config = ConfigDict(validate_default=True, strict=True)
    a: int = "1"  # type: ignore[assignment]
    b: dt.date = "2020-01-02"  # type: ignore[assignment]


class Made(BaseModel):
    a: list[int] = Field(default_factory=list, validate_default=True, min_length=1)


class Addresses(BaseModel):
    """Functions of Python read its types; they are not the user's."""

    model_config = CHECKED
    a: ipaddress.IPv4Network = 1.5  # type: ignore[assignment]
    b: ipaddress.IPv4Network = "10.0.0.0/8"  # type: ignore[assignment]


class Checked(BaseModel):
    """Pydantic refuses the default of `a` before it calls the functions."""

    model_config = CHECKED
    a: Annotated[int, AfterValidator(abs), AfterValidator(lambda value: value)] = "x"  # type: ignore[assignment]
    b: Annotated[int, AfterValidator(lambda value: value)] = "1"  # type: ignore[assignment]


class Omitted(BaseModel):
    a: OnErrorOmit[int]


class Inside(BaseModel):
    a: int = Field("x", validate_default=True, validation_alias=AliasPath("p", "q"))  # type: ignore[assignment]


class Nested(BaseModel):
    """Its defaults are checked with the types that it refers to."""

    model_config = CHECKED
    a: int = 3
    b: Optional[Nested] = {"a": "x"}  # type: ignore[assignment]  # noqa: UP045
    c: list[Nested] = [{"a": 1, "b": None}]  # type: ignore[list-item]


@dataclasses.dataclass
class Point:
    __pydantic_config__ = CHECKED
    a: int = 1
    b: Annotated[int, Field(ge=0)] = -1


class Movie(TypedDict, total=False):
    a: Annotated[int, Field(default="x", validate_default=True)]


class Row(NamedTuple):
    a: int = 1
    b: Annotated[int, Field(validate_default=True, ge=0)] = -1
    c: int = 1


class Rows(BaseModel):
    model_config = CHECKED
    row: Row


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (OfField, ["{}", '{"a":1}', '{"b":1}', '{"a":1,"c":2}']),
        (OfModel, ["{}", '{"a":1}', '{"a":1,"b":"y"}', '{"b":"y"}']),
        (Strict, ["{}", '{"a":1}', '{"a":1,"b":"2020-01-02"}', '{"b":"2020-01-02"}']),
        (Made, ["{}", '{"a":[1]}']),
        (Addresses, ["{}", '{"a":"1.2.3.4"}']),
        (Checked, ["{}", '{"a":1}', '{"b":1}']),
        (Omitted, ["{}", '{"a":1}']),
        (Inside, ["{}", '{"p":{}}', '{"p":{"q":1}}']),
        (Nested, ["{}", '{"b":null}', '{"a":1,"b":{"b":null}}', '{"a":1,"b":{}}']),
        (Point, ["{}", '{"a":1}', '{"b":1}', '{"a":1,"b":1}']),
        (Movie, ["{}", '{"a":1}']),
        (Row, ["[]", "[1]", "[1,2]", "[1,2,3]"]),
        (Rows, ['{"row":[]}', '{"row":[1]}', '{"row":[1,2]}']),
    ],
)
def test_a_field_whose_default_is_refused_must_be_written(kind, texts):
    constraint = constraint_of(kind, whitespace="compact")
    assert [is_read(constraint, text) for text in texts] == [is_valid_for(kind, text) for text in texts]


def forbidden(value: Any) -> Any:
    raise AssertionError("code of the user runs in a compile")


@pytest.mark.parametrize(
    "field",
    [
        (Annotated[int, BeforeValidator(forbidden)], Field(None, validate_default=True)),
        (Annotated[int, AfterValidator(forbidden)], Field("1", validate_default=True)),
        (int, Field(default_factory=lambda: forbidden(None), validate_default=True)),
    ],
)
def test_no_code_of_the_user_runs(field):

    constraint = constraint_of(create_model("Model", a=field), whitespace="compact")
    assert is_read(constraint, "{}") and is_read(constraint, '{"a":1}')
