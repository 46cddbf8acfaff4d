"""What the keywords about numbers say."""

from __future__ import annotations

from typing import Any

from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema.algebra.numbers import ALL_NUMBERS, ANY_FORM, DIGITS, INTEGERS, OTHER_FORMS, Number, NumberSet
from structgen.schema.json_text.numbers import exact, read_as_doubles
from structgen.schema.reading.scopes import Location, pointer

__all__ = ["DOUBLE", "INTEGER_DIGITS_ONLY", "NUMBER_FORM", "SHORT_DOUBLE", "number_of", "number_sets", "written_in"]

NUMBER_FORM = "x-structgen-numbers"
"""The keyword by which `sources` says how numbers are read; as in JSON Schema's newer drafts without it."""
INTEGER_DIGITS_ONLY = "digits"
"""Integers are written in digits: what has a point or an exponent is none, as in draft 4."""
DOUBLE = "double"
"""All numbers are read as doubles, integers too."""
SHORT_DOUBLE = "short-double"
"""As `DOUBLE`, and integers in digits have at most 64 bits."""

MAX_BOUND_DIGITS = 308

_KEYS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_SHORT = (NumberSet(low=-(2**63), high=2**63 - 1, multiple=1, written=DIGITS), NumberSet(written=OTHER_FORMS))
_DIGITS_ONLY = (NumberSet(multiple=1, written=DIGITS),)


def written_in(schema: dict[str, Any]) -> int:
    """The forms in which the integers of a subschema may be written."""
    return DIGITS if schema.get(NUMBER_FORM) == INTEGER_DIGITS_ONLY else ANY_FORM


def number_of(value: Any, place: Location, keyword: str) -> Number:
    """The number that a value of `enum` or `const` is.

    Raises:
        SchemaError: it is none.
    """
    try:
        return exact(value)
    except (ValueError, TypeError) as error:
        raise SchemaError(f"{value!r} is no JSON value", pointer=pointer(place), keyword=keyword) from error


def number_sets(schema: dict[str, Any], place: Location, *, integer: bool) -> tuple[NumberSet, ...]:
    """The numbers, or integers, that satisfy the keywords about numbers.

    Raises:
        SchemaError: a keyword has a value that it cannot have.
        UnsupportedSchemaError: a bound beyond what doubles hold.
    """
    written = written_in(schema) if integer else ANY_FORM
    form = schema.get(NUMBER_FORM)
    if form == SHORT_DOUBLE:
        wholes = number_sets({**schema, NUMBER_FORM: DOUBLE}, place, integer=integer)
        return tuple(part for whole in wholes for short in _SHORT if (part := whole.intersect(short)) is not None)
    if _KEYS.isdisjoint(schema.keys()):
        return (INTEGERS if written == ANY_FORM else _DIGITS_ONLY) if integer else ALL_NUMBERS
    low, high = _bound(schema, "minimum", place), _bound(schema, "maximum", place)
    low_open, high_open = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True
    found = NumberSet(low, low_open, high, high_open, 1 if integer else None, written=written).reduced()
    others: list[NumberSet] = []
    if "exclusiveMinimum" in schema or "exclusiveMaximum" in schema:
        above, below = _bound(schema, "exclusiveMinimum", place), _bound(schema, "exclusiveMaximum", place)
        others.append(NumberSet(above, above is not None, below, below is not None))
    step = _bound(schema, "multipleOf", place)
    if step is not None:
        if step <= 0:
            raise SchemaError("multipleOf must be above 0", pointer=pointer(place), keyword="multipleOf")
        others.append(NumberSet(multiple=step))
    for other in others:
        found = found.intersect(other) if found is not None else None
    if found is not None and form == DOUBLE:
        found = _as_doubles(found)
    return () if found is None else (found,)


def _as_doubles(numbers: NumberSet) -> NumberSet | None:
    bounds = read_as_doubles(numbers.low, numbers.low_open, numbers.high, numbers.high_open)
    return None if bounds is None else NumberSet(*bounds, numbers.multiple).reduced()


def _bound(schema: dict[str, Any], keyword: str, place: Location) -> Number | None:
    value = schema.get(keyword)
    if value is None or isinstance(value, bool):
        if keyword in schema and not (isinstance(value, bool) and keyword.startswith("exclusive")):
            raise SchemaError(f"{keyword} must be a number", pointer=pointer(place), keyword=keyword)
        return None
    try:
        number = exact(value)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise SchemaError(f"{keyword} must be a finite number", pointer=pointer(place), keyword=keyword) from error
    if abs(number) >= 10 ** (MAX_BOUND_DIGITS + 1):
        raise UnsupportedSchemaError(
            f"{keyword} is beyond the range of numbers", pointer=pointer(place), keyword=keyword
        )
    return number
