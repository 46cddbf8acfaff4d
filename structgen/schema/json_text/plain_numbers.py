"""Regexes of numbers as people write them: integers in digits, other numbers without an exponent.

    set of numbers                      plain form          all forms, `number_terminals.py`
    {"type": "integer"}                 12, -3              12, 12.0, 1.2e1, 1.20E+01
    {"minimum": 0, "maximum": 1}        0, 0.25             0, 0.25, 2.5e-1, 0e7
    {"enum": [1, 0.25]}                 1, 0.25             1, 1.0, 1e0, 0.25, 0.250
    {"minimum": 1e300}                  1e300, 1.5E+301: its numbers are too long to be written without an exponent

A number has at most MAX_DIGITS digits before and after the point, more where a bound has more. Doubles have no more. So
a model does not write digits without end.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from structgen.engine.regex.tree import NOTHING, Literal, Regex, Repeat, choice, literal_set, optional, sequence
from structgen.schema.algebra import ALL_NUMBERS, INTEGERS, Number, NumberSet
from structgen.schema.algebra.numbers import ANY_FORM, DIGITS, OTHER_FORMS
from structgen.schema.algebra.safe_numbers import MAX_EXACT_INTEGER, MAX_SAFE_DIGITS
from structgen.schema.json_text.multiples import (
    digits_of_multiples,
    is_large,
    multiples_of_any_length,
    other_forms,
)
from structgen.schema.json_text.number_terminals import has_no_text, number_regex, numbers_regex
from structgen.schema.json_text.numbers import (
    MAX_INTEGER_DIGITS,
    decimal_text,
    integer_range,
    number_range,
    read_as_doubles,
    scientific_range,
)
from structgen.schema.json_text.plain_multiples import integers_by_ending, numbers_by_ending, places_of
from structgen.schema.json_text.strings import byte_set

__all__ = ["PLAIN_INTEGER", "PLAIN_NUMBER", "plain_number_regex", "plain_numbers_regex", "with_any_length"]

MAX_DIGITS = 17  # significant digits of a double
_LIMIT = 10**MAX_DIGITS
_MAX_INTEGER = _LIMIT - 1
_ALL_INTEGERS = (INTEGERS[0], replace(INTEGERS[0], written=DIGITS))
_MAX_CHARACTERS = 64  # of a listed value
_FAR = 10**MAX_INTEGER_DIGITS

_DIGIT, _NONZERO = byte_set("0123456789"), byte_set("123456789")
_MINUS, _ZERO, _POINT = Literal(b"-"), Literal(b"0"), Literal(b".")
_POSITIVE = sequence(_NONZERO, Repeat(_DIGIT, 0, MAX_DIGITS - 1))

PLAIN_INTEGER = choice(_ZERO, sequence(optional(_MINUS), _POSITIVE))
PLAIN_NUMBER = sequence(
    optional(_MINUS), choice(_ZERO, _POSITIVE), optional(sequence(_POINT, Repeat(_DIGIT, 1, MAX_DIGITS)))
)


@lru_cache(maxsize=1024)
def plain_numbers_regex(parts: tuple[NumberSet, ...]) -> Regex:
    """Return the plain JSON text of a union of sets of numbers.

    Raises:
        Inexpressible: as `number_terminals.numbers_regex`.
    """
    found = choice(*map(plain_number_regex, parts))
    return numbers_regex(parts) if has_no_text(parts, found) else found


@lru_cache(maxsize=1024)
def plain_number_regex(numbers: NumberSet) -> Regex:
    """Return the plain JSON text of a set of numbers; all its texts where none is plain.

    Raises:
        Inexpressible: as `number_terminals.number_regex`.
    """
    if numbers == ALL_NUMBERS[0]:
        return PLAIN_NUMBER
    if numbers in _ALL_INTEGERS:
        return PLAIN_INTEGER
    numbers = _without_far_bounds(numbers)
    if numbers.values is not None:
        found = _values(numbers)
    elif numbers.is_integer and numbers.written & DIGITS:
        found = _integers(numbers)
    elif numbers.written == ANY_FORM and _are_small(numbers):
        found = _interval(numbers) if numbers.multiple is None and not numbers.outside else _multiples(numbers)
    else:
        found = _far(numbers)
    return number_regex(numbers) if has_no_text((numbers,), found) else found


def _without_far_bounds(numbers: NumberSet) -> NumberSet:
    """Return numbers without a bound that no number of MAX_DIGITS digits passes, if some of these are in the set."""
    low, high = numbers.low, numbers.high
    if numbers.multiple is not None or numbers.outside or numbers.values is not None:
        return numbers
    if low is not None and low <= -_LIMIT and (high is None or high > -_LIMIT):
        numbers = replace(numbers, low=None, low_open=False)
    if high is not None and high >= _LIMIT and (low is None or low < _LIMIT):
        numbers = replace(numbers, high=None, high_open=False)
    return numbers


def _far(numbers: NumberSet) -> Regex:
    """Return numbers with an exponent only, where all are so large that nobody writes their digits."""
    if numbers.written != ANY_FORM or numbers.multiple is not None or numbers.outside:
        return NOTHING
    bounds = read_as_doubles(numbers.low, numbers.low_open, numbers.high, numbers.high_open)
    low, low_open, high, high_open = bounds or (None, False, None, False)
    if low is not None and low >= _FAR:
        return scientific_range(low, low_open, high, high_open)
    if high is not None and high <= -_FAR:
        return sequence(_MINUS, scientific_range(-high, high_open, None if low is None else -low, low_open))
    return NOTHING


def _are_small(numbers: NumberSet, limit: int = MAX_EXACT_INTEGER) -> bool:
    """Return whether the bounds of some numbers, where they have any, are no larger than a limit."""
    return all(-limit <= bound <= limit for bound in (numbers.low, numbers.high) if bound is not None)


def _decimals(numbers: NumberSet, digits: int, places: int) -> Regex:
    """Return numbers with at most so many digits before the point, where a bound is missing, and places after it."""
    low, low_open, high, high_open = numbers.low, numbers.low_open, numbers.high, numbers.high_open
    limit = 10**digits
    if low is None and (high is None or high > -limit):
        low, low_open = -limit, True
    if high is None and (low is None or low < limit):
        high, high_open = limit, True
    return number_range(low, low_open, high, high_open, places)


def _values(numbers: NumberSet) -> Regex:
    """Return listed values: those that can be written plainly in one text each, the others in all forms."""
    texts: list[bytes] = []
    others: list[Number] = []
    for value in numbers.values or ():
        text = decimal_text(value)
        form = DIGITS if isinstance(value, int) else OTHER_FORMS
        if len(text) <= _MAX_CHARACTERS and numbers.written & form:
            texts.append(text.encode())
        else:
            others.append(value)
    rest = number_regex(replace(numbers, values=tuple(others))) if others else NOTHING
    return choice(literal_set(texts), rest) if texts else rest


def _integers(numbers: NumberSet) -> Regex:
    """Return integers in digits."""
    low, high = numbers.low, numbers.high
    step = numbers.multiple or 1
    if numbers.outside or places_of(step) is None:
        return number_regex(replace(numbers, written=DIGITS))
    if step != 1:
        return integers_by_ending(low, high, int(step))
    if low is None and (high is None or high > -_MAX_INTEGER):
        low = -_MAX_INTEGER
    if high is None and (low is None or low < _MAX_INTEGER):
        high = _MAX_INTEGER
    return integer_range(None if low is None else ceil(low), None if high is None else floor(high))


def with_any_length(numbers: NumberSet) -> Regex | None:
    """Return the integers of a set with any number of digits, if their automaton is then much smaller; else None.

    So it is for multiples whose remainder has to be counted, such as those of 7, without a bound on one side.
    """
    steps = [step for step in (numbers.multiple, *numbers.outside) if step is not None]
    has_both_bounds = numbers.low is not None and numbers.high is not None
    if numbers.values is not None or has_both_bounds or not (numbers.is_integer and numbers.written & DIGITS):
        return None
    if any(map(is_large, steps)) or all(places_of(step) is not None for step in steps):
        return None
    return multiples_of_any_length(numbers.low, numbers.high, numbers.multiple or 1, numbers.outside)


def _interval(numbers: NumberSet) -> Regex:
    """Return all numbers between two bounds, without an exponent."""
    bounds = read_as_doubles(numbers.low, numbers.low_open, numbers.high, numbers.high_open)
    if bounds is None:
        return NOTHING
    low, low_open, high, high_open = bounds
    places = places_between(low, high)
    return NOTHING if places is None else _decimals(NumberSet(low, low_open, high, high_open), MAX_DIGITS, places)


def places_between(low: Number | None, high: Number | None) -> int | None:
    """Return the maximum number of digits after the point, between two bounds; None if they are too long."""
    places = MAX_DIGITS
    for bound in (low, high):
        if bound is not None:
            fraction = decimal_text(max(bound, -bound)).partition(".")[2]
            if len(fraction) > _MAX_CHARACTERS:
                return None
            places = max(places, len(fraction) + 1)
    return places


def _places(numbers: NumberSet) -> int | None:
    """Return n if the numbers are the multiples of 10**-n between two bounds, so that doubles tell them apart."""
    if numbers.multiple is None or numbers.outside or numbers.is_integer:
        return None
    parts = Fraction(numbers.multiple)
    places = len(str(parts.denominator)) - 1
    return places if parts.numerator == 1 and parts.denominator == 10**places <= 10**MAX_SAFE_DIGITS else None


def _multiples(numbers: NumberSet) -> Regex:
    """Return multiples, and other numbers between two bounds, without an exponent."""
    places = _places(numbers)
    # Cents, for instance. Doubles tell them apart up to 15 digits.
    if places is not None and _are_small(numbers, 10 ** (MAX_SAFE_DIGITS - places)):
        return _decimals(numbers, MAX_SAFE_DIGITS - places, places)
    low, high, step = numbers.low, numbers.high, numbers.multiple
    if step is not None and not (numbers.outside or numbers.is_integer) and (places := places_of(step)) is not None:
        return numbers_by_ending(low, numbers.low_open, high, numbers.high_open, step, MAX_SAFE_DIGITS - places)
    if step is not None and Fraction(step).denominator > 1 and is_large(step):
        return NOTHING
    parts: list[Regex] = []
    integers = NumberSet(low, numbers.low_open, high, numbers.high_open, 1).reduced()
    if integers is not None:
        parts.append(digits_of_multiples(integers.low, integers.high, numbers.multiple or 1, numbers.outside))
    parts.append(
        other_forms(low, numbers.low_open, high, numbers.high_open, numbers.multiple, numbers.outside, plain=True)
    )
    return choice(*parts)
