"""Sets of numbers of the keywords about numbers: `minimum`, `exclusiveMinimum`, `multipleOf` and so on."""

from __future__ import annotations

from typing import Any

from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema.algebra.numbers import ALL_NUMBERS, ANY_FORM, DIGITS, INTEGERS, OTHER_FORMS, Number, NumberSet
from structgen.schema.json_text.numbers import exact, read_as_doubles
from structgen.schema.reading.scopes import Location, pointer

__all__ = ["DOUBLE", "INTEGER_DIGITS_ONLY", "NUMBER_FORM", "SHORT_DOUBLE", "number_of", "number_sets", "written_in"]

NUMBER_FORM = "x-structgen-numbers"
"""The keyword that tells how numbers are read, put into schemas of types. Without it: as in draft 6 and later."""
INTEGER_DIGITS_ONLY = "digits"
"""Integers are written in digits only, as in draft 4: a number with a point or an exponent is not an integer."""
DOUBLE = "double"
"""All numbers are read as doubles, integers too."""
SHORT_DOUBLE = "short-double"
"""All numbers are read as doubles, and integers in digits fit in 64 bits."""

MAX_BOUND_DIGITS = 308  # digits of a bound before the point, as many as doubles have

_KEYS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_SHORT = (NumberSet(low=-(2**63), high=2**63 - 1, multiple=1, written=DIGITS), NumberSet(written=OTHER_FORMS))
_DIGITS_ONLY = (NumberSet(multiple=1, written=DIGITS),)


def written_in(schema: dict[str, Any]) -> int:
    """Return the forms that integers of a subschema may be written in; see `NumberSet`."""
    return DIGITS if schema.get(NUMBER_FORM) == INTEGER_DIGITS_ONLY else ANY_FORM


def number_of(value: Any, location: Location, keyword: str) -> Number:
    """Return the number that a value of `enum` or `const` is.

    Args:
        value: the value.
        location: the location of the schema that lists it.
        keyword: the keyword that lists it.

    Raises:
        SchemaError: it is not a number.
    """
    try:
        return exact(value)
    except (ValueError, TypeError) as error:
        raise SchemaError(f"{value!r} is not a JSON value", pointer=pointer(location), keyword=keyword) from error


def number_sets(schema: dict[str, Any], location: Location, *, integer: bool) -> tuple[NumberSet, ...]:
    """Return the numbers that satisfy the keywords about numbers.

    Args:
        schema: the keywords of the subschema.
        location: the subschema's location.
        integer: the numbers are integers.

    Raises:
        SchemaError: a keyword has an invalid value.
        UnsupportedSchemaError: a bound is outside the range of doubles.
    """
    written = written_in(schema) if integer else ANY_FORM
    form = schema.get(NUMBER_FORM)
    if form == SHORT_DOUBLE:
        wholes = number_sets({**schema, NUMBER_FORM: DOUBLE}, location, integer=integer)
        return tuple(part for whole in wholes for short in _SHORT if (part := whole.intersect(short)) is not None)
    if _KEYS.isdisjoint(schema):
        return (INTEGERS if written == ANY_FORM else _DIGITS_ONLY) if integer else ALL_NUMBERS
    low, high = _bound(schema, "minimum", location), _bound(schema, "maximum", location)
    low_open, high_open = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True
    found = NumberSet(low, low_open, high, high_open, 1 if integer else None, written=written).reduced()
    others: list[NumberSet] = []
    if "exclusiveMinimum" in schema or "exclusiveMaximum" in schema:
        above, below = _bound(schema, "exclusiveMinimum", location), _bound(schema, "exclusiveMaximum", location)
        others.append(NumberSet(above, above is not None, below, below is not None))
    step = _bound(schema, "multipleOf", location)
    if step is not None:
        if step <= 0:
            raise SchemaError("multipleOf must be greater than 0", pointer=pointer(location), keyword="multipleOf")
        others.append(NumberSet(multiple=step))
    for other in others:
        found = found.intersect(other) if found is not None else None
    if found is not None and form == DOUBLE:
        found = _as_doubles(found)
    return () if found is None else (found,)


def _as_doubles(numbers: NumberSet) -> NumberSet | None:
    bounds = read_as_doubles(numbers.low, numbers.low_open, numbers.high, numbers.high_open)
    return None if bounds is None else NumberSet(*bounds, numbers.multiple).reduced()


def _bound(schema: dict[str, Any], keyword: str, location: Location) -> Number | None:
    value = schema.get(keyword)
    if value is None or isinstance(value, bool):
        if keyword in schema and not (isinstance(value, bool) and keyword.startswith("exclusive")):
            raise SchemaError(f"{keyword} must be a number", pointer=pointer(location), keyword=keyword)
        return None
    try:
        number = exact(value)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise SchemaError(f"{keyword} must be a finite number", pointer=pointer(location), keyword=keyword) from error
    if abs(number) >= 10 ** (MAX_BOUND_DIGITS + 1):
        raise UnsupportedSchemaError(
            f"{keyword} is outside the range of doubles", pointer=pointer(location), keyword=keyword
        )
    return number
