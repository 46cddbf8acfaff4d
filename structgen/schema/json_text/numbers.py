"""Regexes of JSON numbers: integer ranges, and decimal ranges with open or closed ends.

One value has many spellings. For 15, `integral_range` accepts 15, 15.0, 1.5e1, 1.5E+01, and more. The written forms,
and their bounds (they keep a model from writing digits without end, and keep doubles finite):

- integers in digits: at most `MAX_INTEGER_DIGITS` digits, more where a bound has more;
- numbers without bounds: at most `MAX_INTEGER_DIGITS` digits before the point and `MAX_FRACTION_DIGITS` after it, with
  an exponent between -99 and 99, of at most three digits;
- all numbers: plain decimals, and scientific form: one digit before the point, which is 0 only for zero; at most
  `MAX_MANTISSA_DIGITS` after it; exponents that keep the number between the smallest and the largest double, or at most
  three digits for zero;
- exponents: at most two zeros before their other digits, as in 1e+007.

Readers round to doubles. Rounding is monotone, so it never crosses a closed bound that is itself a double. Every other
bound becomes the nearest closed bound that is a double (`read_as_doubles`). Only 0 stays open: no number here is small
enough to be rounded to it.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from structgen.engine.regex.tree import (
    EMPTY,
    NOTHING,
    Literal,
    Regex,
    Repeat,
    choice,
    optional,
    repeat,
    sequence,
)
from structgen.schema.algebra.safe_numbers import MAX_EXACT_INTEGER, Number, decade
from structgen.schema.json_text.strings import byte_set

__all__ = [
    "MAX_FRACTION_DIGITS",
    "MAX_INTEGER_DIGITS",
    "MAX_MANTISSA_DIGITS",
    "decimal_digits",
    "decimal_text",
    "exact",
    "exponent_range",
    "integer_range",
    "integral_range",
    "number_range",
    "read_as_doubles",
    "scientific_range",
]

MAX_INTEGER_DIGITS = 64  # before the point
MAX_FRACTION_DIGITS = 20  # after the point of a plain decimal
MAX_MANTISSA_DIGITS = 16  # after the point of a scientific form: a double's shortest form has at most 17 digits
_MAX_LONG_FRACTION_DIGITS = 64  # after the point, where a bound has more than MAX_FRACTION_DIGITS
_MAX_DOUBLE = math.nextafter(math.inf, 0)
_MIN_NUMBER = Fraction(3, 10**324)  # written with one digit, the least number that is read as a double above 0
_MAX_NUMBER = int(Decimal(repr(_MAX_DOUBLE)))  # the digits that Python writes for the largest double
_MAX_EXPONENT_ZEROS = 2  # before the other digits of an exponent

_DIGIT = byte_set("0123456789")
_NONZERO = byte_set("123456789")
_MINUS = Literal(b"-")
_POINT = Literal(b".")
_ZERO = Literal(b"0")


def exact(value: Any) -> Number:
    """Return the exact number that a JSON value means.

    A float stands for its shortest decimal form: 0.1 for 1/10. Above 2**53, where all doubles are integers, it stands
    for itself, as Python and validators compare it with integers.

    >>> exact(0.1), exact(2.0)
    (Fraction(1, 10), 2)

    Raises:
        ValueError: NaN or infinite.
        TypeError: not a number.
    """
    if not isinstance(value, (int, float, Decimal, Fraction)):
        raise TypeError("not a number")
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        value = Decimal(value if abs(value) > MAX_EXACT_INTEGER else repr(value))
    if isinstance(value, Decimal) and not value.is_finite():
        raise ValueError("not a finite number")
    fraction = Fraction(value)
    return fraction.numerator if fraction.denominator == 1 else fraction


def _digits_range(low: str, high: str) -> Regex:
    """Return the digit strings of one length between two of that length."""
    if not low:
        return EMPTY
    length = len(low)
    if low == "0" * length and high == "9" * length:
        return repeat(_DIGIT, length, length)
    same = next((i for i in range(length) if low[i] != high[i]), length)
    head, low, high = Literal(low[:same].encode()), low[same:], high[same:]
    if not low:
        return head
    parts: list[Regex] = []
    first, last = int(low[0]), int(high[0])
    if low[1:].strip("0"):
        parts.extend(_beside(low, "9"))
        first += 1
    if high[1:].strip("9"):
        parts.extend(_beside(high, "0"))
        last -= 1
    if first <= last:
        parts.append(_from_digit(first, last, len(low) - 1))
    return sequence(head, choice(*parts))


@lru_cache(maxsize=1024)
def _from_digit(first: int, last: int, more: int) -> Regex:
    """Return strings of a digit in a range and `more` others."""
    digit = byte_set("".join(str(d) for d in range(first, last + 1)))
    return sequence(digit, repeat(_DIGIT, more, more))


def _beside(edge: str, end: str) -> list[Regex]:
    """Return the digit strings between `edge` and its first digit followed by only `end`s.

    The alternatives are not nested, however many digits there are.
    """
    parts: list[Regex] = [Literal(edge.encode())]
    for i in range(1, len(edge)):
        digit = int(edge[i])
        first, last = (digit + 1, 9) if end == "9" else (0, digit - 1)
        if first <= last:
            parts.append(sequence(Literal(edge[:i].encode()), _from_digit(first, last, len(edge) - 1 - i)))
    return parts


@lru_cache(maxsize=1024)
def _natural_range(low: int, high: int | None) -> Regex:
    """Return naturals without leading zeros from `low` to `high`.

    Without `high`, they have at most `MAX_INTEGER_DIGITS` digits.
    """
    if high is not None and low > high:
        return NOTHING
    parts: list[Regex] = []
    if low == 0:
        parts.append(_ZERO)
        low = 1
        if high == 0:
            return _ZERO
    first = len(str(low))
    last = max(MAX_INTEGER_DIGITS, first) if high is None else len(str(high))
    whole_from, whole_to = first, last
    if high is not None and first == last:
        return choice(*parts, _digits_range(str(low), str(high)))
    if str(low) != "1" + "0" * (first - 1):
        parts.append(_digits_range(str(low), "9" * first))
        whole_from += 1
    if high is not None and str(high).strip("9"):
        parts.append(_digits_range("1" + "0" * (last - 1), str(high)))
        whole_to -= 1
    if whole_from <= whole_to:
        parts.append(sequence(_NONZERO, Repeat(_DIGIT, whole_from - 1, whole_to - 1)))
    return choice(*parts)


@lru_cache(maxsize=1024)
def integer_range(low: int | None, high: int | None) -> Regex:
    """Return the integers between two bounds in digits; None stands for no bound."""
    parts: list[Regex] = []
    if high is None or high >= 0:
        parts.append(_natural_range(max(low or 0, 0), high))
    if low is None or low < 0:
        nearest = 1 if high is None or high >= 0 else -high
        parts.append(sequence(_MINUS, _natural_range(nearest, None if low is None else -low)))
    return choice(*parts)


# --- fractions -------------------------------------------------------------------------------------------------------

_Digits = tuple[int, ...] | None


def _fraction_digits(low: _Digits, low_open: bool, high: _Digits, high_open: bool, count: int) -> tuple[bool, Regex]:
    """Return the strings of at most `count` digits d with low <= 0.d <= high.

    Args:
        low: digits of the lower bound without trailing zeros; None for no bound.
        low_open: whether the lower bound itself is left out.
        high: as `low`, of the upper bound.
        high_open: as `low_open`.
        count: the maximum number of digits.

    Returns:
        Whether the empty string is one of them, and a regex of the others.
    """
    if low is not None and not low and not low_open:
        low = None
    nullable = low is None and (high is None or bool(high) or not high_open)
    if count == 0 or (high is not None and not high and (high_open or low is not None)):
        return nullable, NOTHING
    if low is None and not high:
        return True, Repeat(_DIGIT if high is None else _ZERO, 1, count)
    groups: dict[tuple[_Digits, _Digits], str] = {}
    for digit in range(10):
        low_digit, high_digit = (low[0] if low else 0), (high[0] if high else 0)
        if (low is not None and digit < low_digit) or (high is not None and digit > high_digit):
            continue
        low_rest = None if low is None or digit > low_digit else low[1:]
        high_rest = None if high is None or digit < high_digit else high[1:]
        groups[low_rest, high_rest] = groups.get((low_rest, high_rest), "") + str(digit)
    parts: list[Regex] = []
    for (low_rest, high_rest), digits in groups.items():
        ends, more = _fraction_digits(low_rest, low_open, high_rest, high_open, count - 1)
        if more != NOTHING:
            parts.append(sequence(byte_set(digits), optional(more) if ends else more))
        elif ends:
            parts.append(byte_set(digits))
    return nullable, choice(*parts)


def decimal_digits(value: Fraction) -> tuple[int, ...]:
    """Return the digits after the point of a number in [0, 1) with a finite decimal form."""
    numerator, denominator = value.numerator, value.denominator
    places = 0
    while 10**places % denominator:
        places += 1
    digits = numerator * 10**places // denominator
    return tuple(map(int, f"{digits:0{places}d}")) if places else ()


def _ends(value: Number) -> bool:
    """Return whether a number has a finite decimal form."""
    rest = Fraction(value).denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


@lru_cache(maxsize=1024)
def _tail(low: _Digits, low_open: bool, high: _Digits, high_open: bool, count: int) -> Regex:
    """Return the texts that may follow an integer part: nothing, or a point and digits."""
    nullable, digits = _fraction_digits(low, low_open, high, high_open, count)
    if digits == NOTHING:
        return EMPTY if nullable else NOTHING
    dotted = sequence(_POINT, digits)
    return optional(dotted) if nullable else dotted


def _plain(low: Number, low_open: bool, high: Number | None, high_open: bool, count: int) -> Regex:
    """Return the plain decimals from `low` >= 0 to `high`, with at most `count` digits after the point."""
    floor = int(low // 1)
    start = decimal_digits(Fraction(low) - floor)
    if high is None:
        edge = sequence(_natural_range(floor, floor), _tail(start, low_open, None, False, count))
        return choice(edge, sequence(_natural_range(floor + 1, None), _tail(None, False, None, False, count)))
    ceiling = int(high // 1)
    end = decimal_digits(Fraction(high) - ceiling)
    if floor == ceiling:
        return sequence(_natural_range(floor, floor), _tail(start, low_open, end, high_open, count))
    return choice(
        sequence(_natural_range(floor, floor), _tail(start, low_open, None, False, count)),
        sequence(_natural_range(floor + 1, ceiling - 1), _tail(None, False, None, False, count)),
        sequence(_natural_range(ceiling, ceiling), _tail(None, False, end, high_open, count)),
    )


@lru_cache(maxsize=1024)
def exponent_range(low: int, high: int) -> Regex:
    """Return the exponents `low` to `high`, with the signs and leading zeros that programs write: e5, E+05, e+005."""
    parts: list[Regex] = []
    zeros = Repeat(_ZERO, 0, _MAX_EXPONENT_ZEROS)
    if high >= 0:
        parts.append(sequence(optional(byte_set("+")), zeros, _natural_range(max(low, 0), high)))
    if low < 0:
        parts.append(sequence(_MINUS, zeros, _natural_range(max(-high, 1), -low)))
    return sequence(byte_set("eE"), choice(*parts))


def _largest() -> Regex:
    """Return numbers from 1e308 to the largest double; above 1.7e308 only that one, which makes the regex short."""
    rounded = sequence(byte_set("0123456"), Repeat(_DIGIT, 0, MAX_MANTISSA_DIGITS - 1))
    seventh = sequence(Literal(b"7"), optional(Literal(str(_MAX_NUMBER)[2 : MAX_MANTISSA_DIGITS + 1].encode())))
    return sequence(Literal(b"1"), optional(sequence(_POINT, choice(rounded, seventh))), exponent_range(308, 308))


_LARGEST = _largest()


def scientific_range(low: Number, low_open: bool, high: Number | None, high_open: bool, whole: bool = False) -> Regex:
    """Return `d.ddde±x` between two bounds, with `low` >= 0; only integers if `whole`."""
    largest: list[Regex] = []
    if high is None and low < 10**308:
        high, high_open, largest = 10**308, True, [_LARGEST]
    elif high is None:
        high, high_open = _MAX_NUMBER, False
    if high <= 0:
        return NOTHING
    if low == 0:
        low, low_open = (1 if whole else _MIN_NUMBER), False
    first, last = decade(low), decade(high)
    first_whole = not low_open and low == Fraction(10) ** first
    parts = [_decades(first + (not first_whole), last - 1, whole), *largest]
    for exponent in sorted({first, last}) if not first_whole else [last]:
        if first <= exponent <= last:
            unit = Fraction(10) ** exponent
            least, least_open = (low / unit, low_open) if exponent == first else (Fraction(1), False)
            most, most_open = (high / unit, high_open) if exponent == last else (Fraction(10), True)
            count = min(exponent, MAX_MANTISSA_DIGITS) if whole else MAX_MANTISSA_DIGITS
            parts.append(
                sequence(_plain(least, least_open, most, most_open, count), exponent_range(exponent, exponent))
            )
    return choice(*parts)


@lru_cache(maxsize=1024)
def _decades(first: int, last: int, whole: bool) -> Regex:
    """Return all numbers with the exponents `first` to `last` in scientific form; only integers if `whole`."""
    if first > last:
        return NOTHING
    if not whole:
        return sequence(
            _NONZERO, optional(sequence(_POINT, Repeat(_DIGIT, 1, MAX_MANTISSA_DIGITS))), exponent_range(first, last)
        )
    parts = [sequence(optional(sequence(_POINT, Repeat(_ZERO, 1, MAX_MANTISSA_DIGITS))), exponent_range(first, last))]
    for used in range(1, min(last, MAX_MANTISSA_DIGITS) + 1):  # digits after the point: no more than the exponent
        digits = sequence(repeat(_DIGIT, used - 1, used - 1), _NONZERO, repeat(_ZERO, 0, MAX_MANTISSA_DIGITS - used))
        parts.append(sequence(_POINT, digits, exponent_range(max(first, used), last)))
    return sequence(_NONZERO, choice(*parts))


def _magnitudes(low: Number, low_open: bool, high: Number | None, high_open: bool, places: int | None) -> Regex:
    """Return the numbers without sign between two bounds, with `low` >= 0."""
    if high is not None and (low > high or (low == high and (low_open or high_open))):
        return NOTHING
    if places is not None:
        return _plain(low, low_open, high, high_open, places)
    digits = [len(decimal_digits(Fraction(bound) % 1)) for bound in (low, high) if bound is not None]
    count = min(max(MAX_FRACTION_DIGITS, *digits), _MAX_LONG_FRACTION_DIGITS)
    return choice(_plain(low, low_open, high, high_open, count), scientific_range(low, low_open, high, high_open))


def _double_from(bound: Number, is_open: bool) -> Number | None:
    """Return the smallest number at or above a bound that a double stands for; None when there is none."""
    try:
        value = float(bound)
    except OverflowError:
        return None if bound > 0 else -_MAX_DOUBLE_AS_INTEGER
    if not is_open and bound == int(value):
        return bound
    value = max(math.nextafter(value, -math.inf), -_MAX_DOUBLE)
    while value < math.inf:
        number = exact(value)
        if number > bound or (number == bound and not is_open):
            return number
        value = math.nextafter(value, math.inf)
    return None


_MAX_DOUBLE_AS_INTEGER = int(_MAX_DOUBLE)


def read_as_doubles(
    low: Number | None, low_open: bool, high: Number | None, high_open: bool
) -> tuple[Number | None, bool, Number | None, bool] | None:
    """Move two bounds so that every number between them is, read as a double, between the original bounds.

    Integers in digits are read exactly, not as doubles: above 2**53, compare them with the original bounds.

    Returns:
        The lower bound, whether it is open, the upper bound, whether it is open; None when no double is between them.
    """
    if low:
        low, low_open = _double_from(low, low_open), False
        if low is None:
            return None
        low = min(low, _shortest(low))
    if high:
        below = _double_from(-high, high_open)
        if below is None:
            return None
        high, high_open = max(-below, _shortest(-below)), False
    return low, low_open, high, high_open


def _shortest(value: Number) -> Number:
    """Return the number whose digits Python writes for a large double, which is read as the same double."""
    return value if -MAX_EXACT_INTEGER <= value <= MAX_EXACT_INTEGER else int(Decimal(repr(float(value))))


_ZERO_EXPONENT = sequence(byte_set("eE"), optional(byte_set("+-")), Repeat(_DIGIT, 1, 3))
_SHORT_EXPONENT = sequence(
    byte_set("eE"), optional(byte_set("+-")), Repeat(_ZERO, 0, _MAX_EXPONENT_ZEROS - 1), Repeat(_DIGIT, 1, 2)
)
_ZERO_FORMS = sequence(
    _ZERO, optional(sequence(_POINT, Repeat(_ZERO, 1, MAX_FRACTION_DIGITS))), optional(_ZERO_EXPONENT)
)


def _free_scientific(whole: bool) -> Regex:
    """Return positive numbers, or integers, in scientific form."""
    if whole:
        return choice(_decades(0, 307, whole), _LARGEST)
    fraction = optional(sequence(_POINT, Repeat(_DIGIT, 1, MAX_MANTISSA_DIGITS)))
    smallest = sequence(byte_set("3456789"), fraction, exponent_range(-324, -324))
    return choice(_decades(-323, 307, whole), _LARGEST, smallest)


def _free() -> Regex:
    """Return numbers without bounds, of the documented sizes."""
    fraction = optional(sequence(_POINT, Repeat(_DIGIT, 1, MAX_FRACTION_DIGITS)))
    plain = sequence(_natural_range(0, None), fraction, optional(_SHORT_EXPONENT))
    zero = sequence(
        _ZERO, optional(Literal(b".0")), _ZERO_EXPONENT
    )  # after more zeros: an exponent as of other numbers
    return sequence(optional(_MINUS), choice(plain, zero, _free_scientific(False)))


_FREE = _free()


@lru_cache(maxsize=1024)
def number_range(
    low: Number | None, low_open: bool, high: Number | None, high_open: bool, places: int | None = None
) -> Regex:
    """Return the numbers between two bounds; None stands for no bound.

    Args:
        low: exact bound with a finite decimal form.
        low_open: whether the bound itself is left out.
        high: as `low`.
        high_open: as `low_open`.
        places: None for numbers that are read as doubles. Otherwise the bounds are exact, numbers have at most so many
            digits after the point, and no exponent.
    """
    if low is None and high is None and places is None:
        return _FREE
    if places is None:
        bounds = read_as_doubles(low, low_open, high, high_open)
        if bounds is None:
            return NOTHING
        low, low_open, high, high_open = bounds
    parts: list[Regex] = []
    if high is None or high > 0 or (high == 0 and not high_open):
        from_zero = low is None or low < 0
        parts.append(_magnitudes(0 if from_zero else low or 0, low_open and not from_zero, high, high_open, places))
    if low is None or low < 0:
        to_zero = high is None or high >= 0
        near: Number = 0 if high is None or high >= 0 else -high
        far = None if low is None else -low
        parts.append(sequence(_MINUS, _magnitudes(near, to_zero or high_open, far, low_open, places)))
    if places is None and _has_zero(low, low_open, high, high_open):
        parts.append(sequence(optional(_MINUS), _ZERO_FORMS))
    return choice(*parts)


def _has_zero(low: Number | None, low_open: bool, high: Number | None, high_open: bool) -> bool:
    """Return whether 0 is between two bounds."""
    above = low is None or low < 0 or (low == 0 and not low_open)
    return above and (high is None or high > 0 or (high == 0 and not high_open))


@lru_cache(maxsize=1024)
def integral_range(low: int | None, high: int | None) -> Regex:
    """Return the integers between two bounds (None: no bound) in any form: 1, 1.0, 1e0, -0."""
    parts = [integer_range(low, high)]
    bounds = read_as_doubles(low, False, high, False)
    if bounds is None:
        return parts[0]
    least, most = bounds[0], bounds[2]  # integers, as the given bounds are
    if least is None and most is None:
        return _free_integers()
    zeros = sequence(_POINT, Repeat(_ZERO, 1, MAX_FRACTION_DIGITS))
    if (least, most) == (low, high):
        parts[0] = sequence(parts[0], optional(zeros))
    else:
        parts.append(sequence(_integers(least, most), zeros))
    if most is None or most > 0:
        parts.append(_whole_scientific(max(least or 1, 1), most))
    if least is None or least < 0:
        parts.append(sequence(_MINUS, _whole_scientific(max(-(most or -1), 1), None if least is None else -least)))
    if _has_zero(low, False, high, False):
        parts.append(sequence(optional(_MINUS), _ZERO_FORMS))
    return choice(*parts)


def _free_integers() -> Regex:
    """Return integers without bounds, in any form."""
    zeros = optional(sequence(_POINT, Repeat(_ZERO, 1, MAX_FRACTION_DIGITS)))
    more = sequence(_NONZERO, Repeat(_DIGIT, 0, MAX_INTEGER_DIGITS - 1), zeros)
    short = choice(_ZERO_FORMS, sequence(more, optional(exponent_range(0, 99))))
    return sequence(optional(_MINUS), choice(short, _free_scientific(True)))


def _integers(low: Number | None, high: Number | None) -> Regex:
    """Return the integers between two bounds in digits."""
    return integer_range(None if low is None else int(low), None if high is None else int(high))


def _whole_scientific(low: Number, high: Number | None) -> Regex:
    """Return integers from `low` >= 1 with an exponent; without bounds, also with more digits before the point."""
    found = scientific_range(low, False, high, False, whole=True)
    if low > 1 or high is not None:
        return found
    zeros = optional(sequence(_POINT, Repeat(_ZERO, 1, MAX_FRACTION_DIGITS)))
    return choice(sequence(_NONZERO, Repeat(_DIGIT, 1, MAX_INTEGER_DIGITS - 1), zeros, exponent_range(0, 99)), found)


def decimal_text(value: Number) -> str:
    """Return the plain decimal form of a number with a finite one.

    >>> decimal_text(Fraction(-5, 4))
    '-1.25'
    """
    if isinstance(value, int):
        return str(value)
    sign, value = ("-", -value) if value < 0 else ("", value)
    whole = int(value // 1)
    digits = "".join(map(str, decimal_digits(value - whole)))
    return f"{sign}{whole}.{digits}" if digits else f"{sign}{whole}"
