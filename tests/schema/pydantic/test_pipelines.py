"""Pipelines of Pydantic (`pydantic.experimental.pipeline`): each check is in the masks, is warned of, or is refused."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Json
from pydantic.experimental.pipeline import transform, validate_as
from support.texts import constraint_of, is_read, is_valid_for

from structgen.errors import UnsupportedSchemaError
from structgen.schema.schema_warnings import SchemaWarning

_TEXTS = [
    *("-1", "0", "1", "2", "3", "4", "5", "6", "12", "true", "null", '""', '"a"', '"b"', '"ab"', '"ba"', '"abb"'),
    *('"A"', '" a"', '"a "', "[]", "[1]", "[1,1]", "[1,2]", "[1,2,3]", '["a"]', "{}", '{"a":1}', '{"a":1,"b":2}'),
    *('"2020-01-02"', '"2030-01-02"', '"2020-01-02T00:00:00Z"', '"2020-01-02T00:00:00"'),
]
_READ_MORE = {"true", '" a"', '"a "', '{"a":1,"b":2}', '"2020-01-02T00:00:00Z"', '"2020-01-02T00:00:00"'}
"""Texts in which Pydantic drops or changes something; masks need not write them."""


class Model(BaseModel):
    a: int


MORE_THAN_3 = validate_as(int).validate_as(int).gt(3)
AFTER_2020 = validate_as(date).validate_as(date).gt(date(2021, 1, 1))


@pytest.mark.parametrize(
    "kind",
    [
        Annotated[int, MORE_THAN_3],
        Annotated[int, validate_as(int).gt(1).validate_as(int).lt(5)],
        Annotated[int, validate_as(int).ge(1).validate_as(int).ge(2).validate_as(int).le(4)],
        Annotated[int, validate_as(int).validate_as(int).multiple_of(3)],
        Annotated[int, validate_as(int).validate_as(Annotated[int, Field(gt=3)])],
        Annotated[float, validate_as(float).validate_as(float).lt(2)],
        Annotated[int, validate_as(int).gt(1) & validate_as(int).lt(5)],
        Annotated[int, validate_as(int).eq(1)],
        Annotated[int, validate_as(int).ge(0).in_([1, 5, -1])],
        Annotated[int, validate_as(int).validate_as(int).in_({1, 2}).not_eq(2)],
        Annotated[int, validate_as(int).not_in([1, 2])],
        Annotated[int, validate_as(int).not_in(range(0))],
        Annotated[int | str, (validate_as(int) | validate_as(str)).in_([1, 2])],
        Annotated[str, validate_as(str).in_(("a", "ab")).validate_as(str).len(2)],
        Annotated[str, validate_as(str).validate_as(str).str_pattern("^b|b$")],
        Annotated[str, validate_as(str).str_pattern("b").str_pattern("a")],
        Annotated[str, validate_as(str).str_contains("b")],
        Annotated[str, validate_as(str).str_starts_with("a").validate_as(str).str_ends_with("b")],
        Annotated[str, validate_as(str).str_strip().str_contains("a")],
        Annotated[str, validate_as(str).len(1).str_lower()],
        Annotated[str, validate_as(str).str_strip().validate_as(str)],
        Annotated[date, AFTER_2020],
        Annotated[list[int], validate_as(list[int]).validate_as(list[int]).len(1, 2)],
        Annotated[list[int], validate_as(list[int]).validate_as(...).len(2)],
        Annotated[set[int], validate_as(list[int]).validate_as(set[int])],
        Annotated[set[int], validate_as(list[int]).validate_as(Annotated[set[int], Field(min_length=2)])],
        Annotated[dict[str, int], validate_as(dict[str, int]).validate_as(...).len(1)],
        Annotated[dict[str, int], validate_as(dict[str, int]).validate_as(...).len(0, 1)],
        Annotated[Model, validate_as(Model).validate_as(Model)],
        Annotated[int, validate_as(int).validate_as(Any)],
        Annotated[int | None, validate_as(int | None).validate_as(...)],
    ],
)
def test_checks_of_all_types_are_in_the_masks(kind):
    constraint = constraint_of(kind, whitespace="compact")
    for text in _TEXTS:
        is_valid, is_let_through = is_valid_for(kind, text), is_read(constraint, text)
        assert is_let_through == is_valid or (is_valid and text in _READ_MORE), text


@pytest.mark.parametrize(
    ("kind", "keyword"),
    [
        (Annotated[int, validate_as(str).validate_as(int).gt(3)], "type"),
        (Annotated[int, validate_as(str).validate_as(int)], "type"),
        (Annotated[bool, validate_as(int).validate_as(bool)], "type"),
        (Annotated[int, validate_as(str).validate_as(Json[int])], "type"),
        (Annotated[list[int], validate_as(set[int]).validate_as(list[int]).len(2)], "type"),
        (Annotated[list[str], validate_as(list[int]).validate_as(list[str])], "type"),
        (Annotated[list[Any], validate_as(list[Json]).validate_as(...)], "type"),
        (Annotated[str, validate_as(str).str_lower().validate_as(str).str_pattern("A")], "type"),
        (Annotated[str, validate_as(str).str_lower().str_contains("A")], "str_contains"),
        (Annotated[str, validate_as(str).str_upper().eq("a")], "eq"),
        (Annotated[str, validate_as(str).validate_as(str).constrain(re.compile("a", re.IGNORECASE))], "pattern"),
        (Annotated[date, validate_as(date).eq(date(2020, 1, 2))], "eq"),
        (Annotated[datetime, validate_as(datetime).in_([datetime(2020, 1, 2)])], "in"),
        (Annotated[int, validate_as(int).not_in([1.0])], "not_in"),
        (Annotated[str, validate_as(str).in_("abc")], "in"),
        (dict[Annotated[int, validate_as(int).in_([1, 2])], int], "propertyNames"),
        (Annotated[float, validate_as(float).not_eq(1.0)], "not_eq"),
    ],
)
def test_checks_that_no_grammar_says_are_refused_by_name(kind, keyword):
    with pytest.raises(UnsupportedSchemaError) as caught:
        constraint_of(kind)
    assert caught.value.keyword == keyword


def increased(value: int) -> int:
    return value + 1


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        (Annotated[int, validate_as(int).transform(increased).gt(3)], "gt"),
        (Annotated[int, validate_as(int).transform(increased).in_([1])], "in"),
        (Annotated[int, validate_as(int).transform(increased).validate_as(int).gt(3)], "the second int"),
        (Annotated[int, transform(increased).validate_as(Annotated[int, Field(gt=3)])], "the second int"),
        (Annotated[int, transform(increased).validate_as(int).validate_as(int).lt(3)], "the second int"),
    ],
)
def test_checks_of_what_a_function_returns_are_warned_of(kind, start):
    with pytest.warns(SchemaWarning, match=f"^{start} applies to what the validator increased returns"):
        constraint = constraint_of(kind)
    assert is_read(constraint, "3")


def test_a_type_after_a_function_is_not_warned_of(recwarn):
    constraint = constraint_of(Annotated[int, validate_as(str).transform(len).validate_as(int)])
    assert is_read(constraint, '"abc"')
    assert not recwarn


def test_predicates_of_the_user_are_for_the_validator():
    constraint = constraint_of(Annotated[int, validate_as(int).predicate(lambda number: number > 3).le(5)])
    assert [is_read(constraint, text) for text in ("1", "5", "6")] == [True, True, False]


def test_options_that_change_strings_are_before_the_checks():
    class Upper(BaseModel):
        model_config = ConfigDict(str_to_upper=True)
        a: Annotated[str, validate_as(str).str_contains("a")]

    with pytest.raises(UnsupportedSchemaError, match="pattern"):
        constraint_of(Upper)


def test_validators_in_a_chain_stay_validators():
    kind = Annotated[list[int], validate_as(list[int]).validate_as(Annotated[list[int], AfterValidator(sorted)])]
    with pytest.raises(UnsupportedSchemaError, match="read as one type and then as another"):
        constraint_of(kind)
