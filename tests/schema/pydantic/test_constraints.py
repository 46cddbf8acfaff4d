"""Constraints of Pydantic around a type, and on what functions return: the texts that they allow."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, Literal

import pydantic
import pytest
from pydantic import AfterValidator, Field, PlainValidator, StringConstraints, TypeAdapter
from pydantic.experimental.pipeline import validate_as
from pydantic.json_schema import GenerateJsonSchema
from support.texts import constraint_of, is_read, is_valid_for

from structgen.errors import UnsupportedSchemaError
from structgen.schema import resolve


def has_tenths() -> bool:
    """Whether Pydantic takes a float as a step of decimals for what is written: 2.11 does not."""
    try:
        TypeAdapter(Annotated[Decimal, Field(multiple_of=0.1)]).validate_json("0.1")
    except pydantic.ValidationError:
        return False
    return True


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class _Values(Enum):
    PAIR = (1, "x")
    TEXT = "b"


class _Pairs(Enum):
    PAIR = (1, "x")


_TEXTS = [
    *(
        "-1",
        "0",
        "1",
        "3",
        "5",
        "0.5",
        "-0.5",
        "0.12",
        "true",
        "false",
        "null",
        '"a"',
        '"ab"',
        '"bc"',
        "[]",
        '["a","b"]',
    ),
    *('[1,"x"]', "[1]", '{"a":1}', '{"a":1,"A":2}', '{"a":1,"b":2}', '"0"', '"0.12"', '"0.00"', '"b"', "{}"),
]


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        (Annotated[int | float, Field(gt=0)], ["1", "3", "5", "0.5", "0.12"]),
        (Annotated[int | float, Field(gt=0, lt=5)], ["1", "3", "0.5", "0.12"]),
        (Annotated[int | float | None, Field(ge=0)], ["0", "1", "3", "5", "0.5", "0.12", "null"]),
        (Annotated[Literal[1, 3, "a"], Field(le=2)], ["1"]),
        (Annotated[bool, Field(gt=0)], ["true"]),
        (Annotated[Level, Field(lt=2)], ["1"]),
        (Annotated[defaultdict[str, int], Field(min_length=1, max_length=1)], ['{"a":1}']),
        (Annotated[pydantic.SecretStr, Field(max_length=1)], ['"a"', '"0"', '"b"']),
        (Annotated[str | list[str], Field(min_length=2)], ['"ab"', '"bc"', '["a","b"]', '"0.12"', '"0.00"']),
        (Annotated[list[int] | dict[str, int], Field(max_length=1)], ["[]", "[1]", '{"a":1}', "{}"]),
        (Annotated[str | int, Field(pattern="^a")], ['"a"', '"ab"']),
        (Annotated[Decimal, Field(max_digits=2, decimal_places=2)], ["0.5", "-0.5", "0.12", '"0.12"']),
        (Annotated[dict[str, int], Field(min_length=2)], ['{"a":1,"A":2}', '{"a":1,"b":2}']),
        (_Values, ['"b"']),
    ],
)
def test_constraints_around_a_type_hold_as_in_pydantic(kind, allowed):
    constraint = constraint_of(kind, whitespace="compact")
    assert [text for text in _TEXTS if is_read(constraint, text)] == allowed
    for text in allowed:
        TypeAdapter(kind).validate_json(text)


FRACTIONS: Any = [
    (Annotated[Fraction, Field(ge=0.1, le=0.3)], ["0.1", "0.2", "0.3"]),
    (Annotated[Fraction, Field(gt=Fraction(1, 10), multiple_of=Fraction(1, 10))], ["0.1", "0.2", "0.25"]),
]
if not hasattr(GenerateJsonSchema, "fraction_schema"):  # before Pydantic 2.14
    FRACTIONS.clear()


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (Annotated[Decimal, Field(ge=0.1, le=0.3)], ["0.1", "0.3", '"0.1"', '"0.3"', '"0.3000000000000000001"', "0.2"]),
        (Annotated[Decimal, Field(gt=0.1, lt=0.3)], ["0.1", "0.3", '"0.1"', '"0.3"', '"0.1000000000000000001"', "0.2"]),
        pytest.param(
            Annotated[Decimal, Field(multiple_of=0.1)],
            ["0.1", "0.3", "0.35"],
            marks=pytest.mark.skipif(
                not has_tenths(), reason="Pydantic takes the float's exact value: refused by name"
            ),
        ),
        (Annotated[Decimal, Field(max_digits=30)], ["1" + "0" * 30, "9" * 30, f'"1{"0" * 30}"', f'"{"9" * 30}"']),
        (Annotated[Decimal, Field(max_digits=40, decimal_places=5)], ["1" + "0" * 35, "9" * 35]),
        *FRACTIONS,
    ],
)
def test_bounds_of_decimals_are_exact(kind, texts):
    """A float as a bound of decimals is what is written, and of fractions its value. No bound has only 28 digits."""
    constraint = constraint_of(kind, whitespace="compact")
    for text in texts:
        assert is_read(constraint, text) == is_valid_for(kind, text), text


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("places", [0, 1, 2, 3, 4])
def test_digits_of_decimals_are_counted_as_in_pydantic(digits, places):
    # With fewer digits than places, 0 and 0.001 were allowed. Pydantic counts the 0 before the point of 0, and in other
    # numbers all digits after it.
    kind = Annotated[Decimal, Field(max_digits=digits, decimal_places=places)]
    constraint = constraint_of(kind, whitespace="compact")
    for whole in ("0", "1", "10", "-12", "123"):
        for rest in ("", ".0", ".1", ".01", ".12", ".001", ".012", ".123", ".0001", ".1234"):
            for text in (whole + rest, f'"{whole}{rest}"'):
                if not rest.endswith("0"):
                    assert is_read(constraint, text) == is_valid_for(kind, text), text
                elif is_read(constraint, text):
                    assert is_valid_for(kind, text), text


@pytest.mark.parametrize(
    ("kind", "keyword"),
    [
        (Annotated[int | str, Field(gt=0)], "gt"),
        (Annotated[float | Decimal, Field(gt=0)], "gt"),
        (Annotated[set[int] | list[int], Field(min_length=2)], "min_length"),
        (Annotated[dict[Annotated[str, StringConstraints(to_lower=True)], int], Field(min_length=2)], "minProperties"),
        (_Pairs, "enum"),
    ],
)
def test_constraints_that_no_schema_says_are_refused(kind, keyword):
    with pytest.raises(UnsupportedSchemaError) as caught:
        constraint_of(kind)
    assert caught.value.keyword == keyword


def _at_least(value, gt):
    return abs(value) + gt


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Annotated[int, AfterValidator(partial(_at_least, gt=3))], "-1"),
        (Annotated[int, PlainValidator(partial(int))], "1"),
        (Annotated[list[str], AfterValidator(", ".join)], '["a"]'),
        (Annotated[int, validate_as(int).transform(str).validate_as(str)], "1"),
    ],
)
def test_functions_of_the_user_are_no_constraints(kind, text):
    TypeAdapter(kind).validate_json(text)
    assert is_read(constraint_of(kind), text)


@pytest.mark.parametrize(
    ("step", "allowed", "refused"),
    [
        (0.1, ["3999999.9", "-0.3", "4e6"], ["9936799.7", "-61006133.9", "1.25"]),
        (0.3, ["3999999.9", "0.3"], ["12944305.8"]),
        (0.25, ["1202412375202.25", "4e307"], ["0.3", "1.7e308"]),  # divided by the step, that is no double any more
        (5e-324, ["0.0", "8e-17"], ["1.0"]),
        (3.0, ["9007199254740990", "-9007199254740990.0"], ["272601235210150434", "9007199254740996"]),
        (0.75, ["999999999999.75"], ["2251799813685249.75", "1.25"]),
        (4.0, ["272601235210150436"], ["6"]),
    ],
)
def test_multiples_of_a_float_are_those_that_pydantic_surely_finds(accepts, step, allowed, refused):
    """It takes the remainder of doubles, which for large numbers is not near 0."""
    kind = Annotated[float, Field(multiple_of=step)]
    accepted = accepts(kind)
    for text in allowed:
        assert resolve(kind).parse(text) == float(text)
        assert accepted(text), text
    for text in refused:
        assert not accepted(text), text


@pytest.mark.parametrize("step", ["0.1", "0.01", "0.3", "0.07", "1.1", "12.3", "0.0000001", "123456.7"])
def test_pydantic_finds_all_multiples_of_a_float_that_are_written(accepts, step):
    """Those next to the largest one have the largest errors."""
    kind = Annotated[float, Field(multiple_of=float(step))]
    last = int(4_000_000 / Decimal(step))
    texts = [str(Decimal(step) * number) for number in range(last, max(last - 500, 0), -1)]
    assert all(resolve(kind).parse(text) == float(text) for text in texts)
    assert accepts(kind)(texts[0])
