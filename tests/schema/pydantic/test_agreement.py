"""Types of which Pydantic's JSON Schema says less than its validation: masks and `validate_json` agree on each text.

Some of them are newer than the oldest release of Pydantic that structgen works with; where it ignores a constraint, so
does the mask.
"""

from __future__ import annotations

import inspect
from collections import Counter, OrderedDict
from datetime import timedelta
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.experimental.pipeline import validate_as
from support.texts import constraint_of, is_read, is_valid_for

from structgen.errors import UnsatisfiableSchemaError, UnsupportedSchemaError


class ShortNames(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Annotated[str, Field(max_length=3)], int] = Field(init=False)
    first: int = Field(default=1, alias="FIRST")


class NamedNames(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Literal["x", "y"], int] = Field(init=False)


class AnyNames(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int] = Field(init=False)
    first: int = 1


class Level(IntEnum):
    LOW = 1
    HIGH = 2
    NONE = -3


class Wide(IntEnum):
    LARGEST_READ = 2**63 - 1
    TOO_LARGE = 2**63
    TOO_SMALL = -(2**63) - 1


class Mixed(Enum):
    NUMBER = 1
    TEXT = "a"


_EXTRA = ['{"FIRST":2}', '{"abc":1}', '{"abcd":1}', '{"FIRST":2,"abc":3}', '{"FIRST":2,"abcd":3}', '{"x":1}', "{}"]


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (OrderedDict[int, str], ['{"1":"a"}', '{"a":"a"}', '{"1":1}', "{}"]),
        (OrderedDict[Literal["a"], int], ['{"a":1}', '{"b":1}', '{"a":1,"b":1}']),
        (Counter[int], ['{"1":2}', '{"a":2}', '{"1":"a"}', "{}"]),
        (Counter[str], ['{"1":2}', '{"a":2}', '{"a":"b"}']),
        (ShortNames, _EXTRA),
        (NamedNames, ['{"x":1}', '{"x":1,"y":2}', '{"z":1}', "{}"]),
        (AnyNames, ['{"x":1}', '{"first":2,"abcdef":2}', '{"x":"a"}', "{}"]),
        (Annotated[tuple[int, str], Field(min_length=1)], ['[1,"a"]', "[1]", "[]", '[1,"a",2]']),
        (Annotated[tuple[int, ...], Field(min_length=1, max_length=2)], ["[]", "[1]", "[1,2]", "[1,2,3]"]),
        (Annotated[int, validate_as(int).gt(1).lt(3)], ["1", "2", "3"]),
        (dict[Level, int], ['{"1":2}', '{"2":1,"-3":1}', '{"4":1}', "{}"]),
        (Annotated[dict[Level, int], Field(min_length=1)], ['{"1":2}', "{}"]),
        (Wide, ["9223372036854775807", "9223372036854775808", "-9223372036854775809"]),
        (Enum("Large", {"A": 2**64, "B": "b"}), ["18446744073709551616", '"b"']),
        (dict[Mixed, int], ['{"1":2}', '{"a":2}', "{}"]),
        (ZoneInfo, ['"UTC"', '"Europe/Berlin"', '"Nowhere"', '""', "1"]),
    ],
)
def test_masks_and_pydantic_agree(kind, texts):
    constraint = constraint_of(kind, whitespace="compact")
    assert [text for text in texts if is_read(constraint, text)] == [text for text in texts if is_valid_for(kind, text)]


@pytest.mark.skipif("ascii_only" not in inspect.signature(StringConstraints).parameters, reason="an older Pydantic")
@pytest.mark.parametrize("more", [{}, {"pattern": "^."}, {"strip_whitespace": True, "min_length": 1}])
def test_only_ascii(more):
    kind = Annotated[str, StringConstraints(ascii_only=True, **more)]
    constraint = constraint_of(kind)
    for text in ('"a"', '"\\u0061"', '"é"', '"\\u00e9"', '"aé"'):
        assert is_read(constraint, text) == is_valid_for(kind, text), text


def test_a_value_that_may_be_missing():
    missing: Any = getattr(pydantic, "MISSING", None)
    if missing is None:
        pytest.skip("an older Pydantic")
    optional = pydantic.create_model("Optional", a=(int | missing, missing), b=(missing, missing))
    constraint = constraint_of(optional, whitespace="compact")
    for text in ("{}", '{"a":1}', '{"a":"x"}', '{"b":1}', '{"b":null}'):
        assert is_read(constraint, text) == is_valid_for(optional, text), text
    for kind in (missing, pydantic.create_model("Required", a=(missing, ...))):
        with pytest.raises(UnsatisfiableSchemaError):
            constraint_of(kind)


def test_what_no_grammar_says_is_refused_by_name():
    for kind, keyword in [
        (OrderedDict[bool, int], "propertyNames"),
        (Annotated[int, Field(gt=2.5)], "type"),  # Pydantic makes no validator of it
        (Annotated[int, validate_as(str).validate_as(int)], "type"),
    ]:
        with pytest.raises(UnsupportedSchemaError) as caught:
            constraint_of(kind)
        assert caught.value.keyword == keyword


def test_durations_that_are_multiples():
    kind = Annotated[timedelta, Field(multiple_of=timedelta(minutes=15))]
    with pytest.raises(UnsupportedSchemaError) as caught:
        constraint_of(kind)
    assert caught.value.keyword == "multiple_of"


def test_options_that_pydantic_refuses_are_named():
    class Model(BaseModel):
        model_config: Any = ConfigDict(json_schema_extra=1)  # type: ignore[typeddict-item]

    with pytest.raises(UnsupportedSchemaError, match="json_schema_extra"):
        constraint_of(Model)
