"""Exact regexes for JSON numbers: integer ranges, decimal ranges with open or closed ends, multiples.

Written forms, and their bounds (they keep a model from spinning in digits, and doubles finite):

- integers: digits only, no `-0`, at most `INTEGER_DIGITS` digits;
- numbers without a bound: at most `INTEGER_DIGITS` digits before the point and `FRACTION_DIGITS` after it, with an
  exponent of at most two digits; and scientific form, one digit before the point, with exponents from -307 to 307;
- bounded numbers: plain decimals, and scientific form for the decades that lie inside the bounds as a whole, and for
  parts of decades below 1e-4 and from 1e16 on, where programs use this form.

Readers round to doubles. That is monotone, so a closed bound that is a double itself cannot be crossed by it. Every
other bound becomes the nearest closed one that is a double; only 0 stays open, as nothing here is small enough to round
to it.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from structgen.engine.regex import (
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
from structgen.schema.strings import byte_set

__all__ = ["FRACTION_DIGITS", "INTEGER_DIGITS", "Number", "decimal_text", "exact", "integer_range", "number_range"]

INTEGER_DIGITS = 64
FRACTION_DIGITS = 20
_MANTISSA_DIGITS = (
    16  # after the point in scientific form; with the digit before it, what a double's shortest form needs
)
_LONGEST_FRACTION = 64  # digits after the point where a bound has more of them
_EXACT_INTEGERS = 2**53  # up to it every integer is a double
_EXPONENTS = 307
_PLAIN_DECADES = (4, 16)  # programs write numbers from 1e-4 up to 1e16 in plain form

Number = int | Fraction

_DIGIT = byte_set("0123456789")
_NONZERO = byte_set("123456789")
_MINUS = Literal(b"-")
_POINT = Literal(b".")
_ZERO = Literal(b"0")


def exact(value: Any) -> Number:
    """The number that a JSON value means: a float stands for its shortest decimal form.

    Raises:
        ValueError: NaN or infinite.
        TypeError: not a number.
    """
    if not isinstance(value, (int, float, Decimal, Fraction)):
        raise TypeError("not a number")
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal) and not value.is_finite():
        raise ValueError("not a finite number")
    fraction = Fraction(value)
    return fraction.numerator if fraction.denominator == 1 else fraction


def _digits_range(low: str, high: str) -> Regex:
    """Digit strings of one length between two of that length."""
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


def _from_digit(first: int, last: int, more: int) -> Regex:
    """A digit out of a range and `more` others."""
    digit = byte_set("".join(str(d) for d in range(first, last + 1)))
    return sequence(digit, repeat(_DIGIT, more, more))


def _beside(edge: str, end: str) -> list[Regex]:
    """The digit strings between `edge` and its first digit followed by `end`s only. Flat, however many digits."""
    parts: list[Regex] = [Literal(edge.encode())]
    for i in range(1, len(edge)):
        digit = int(edge[i])
        first, last = (digit + 1, 9) if end == "9" else (0, digit - 1)
        if first <= last:
            parts.append(sequence(Literal(edge[:i].encode()), _from_digit(first, last, len(edge) - 1 - i)))
    return parts


def _natural_range(low: int, high: int | None) -> Regex:
    """Naturals without leading zeros between `low` and `high`, of at most INTEGER_DIGITS digits without `high`."""
    if high is not None and low > high:
        return NOTHING
    parts: list[Regex] = []
    if low == 0:
        parts.append(_ZERO)
        low = 1
        if high == 0:
            return _ZERO
    first = len(str(low))
    last = max(INTEGER_DIGITS, first) if high is None else len(str(high))
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
    """Integers between two bounds (None: none), in digits."""
    parts: list[Regex] = []
    if high is None or high >= 0:
        parts.append(_natural_range(max(low or 0, 0), high))
    if low is None or low < 0:
        nearest = 1 if high is None or high >= 0 else -high
        parts.append(sequence(_MINUS, _natural_range(nearest, None if low is None else -low)))
    return choice(*parts)


# --- fractions -------------------------------------------------------------------------------------------------------

_Digits = tuple[int, ...] | None


def _trim(digits: tuple[int, ...]) -> tuple[int, ...]:
    end = len(digits)
    while end and digits[end - 1] == 0:
        end -= 1
    return digits[:end]


def _fraction_digits(low: _Digits, low_open: bool, high: _Digits, high_open: bool, count: int) -> tuple[bool, Regex]:
    """Strings of at most `count` digits d with low <= 0.d <= high; bounds are digits without trailing zeros, or None.

    Returns whether the empty string is one of them, and the others.
    """
    if low is not None and not low and not low_open:
        low = None
    nullable = low is None and (high is None or bool(high) or not high_open)
    if count == 0 or (high is not None and not high and (high_open or low is not None)):
        return nullable, NOTHING
    if low is None and high is None:
        return True, Repeat(_DIGIT, 1, count)
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


def _decimal_digits(value: Fraction) -> tuple[int, ...]:
    """The digits after the point of a number in [0, 1) whose decimal form ends."""
    digits: list[int] = []
    while value:
        value *= 10
        digit = value.numerator // value.denominator
        digits.append(digit)
        value -= digit
    return _trim(tuple(digits))


def _ends(value: Number) -> bool:
    """Whether the decimal form of a number ends."""
    rest = Fraction(value).denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _tail(low: _Digits, low_open: bool, high: _Digits, high_open: bool, count: int) -> Regex:
    """What may follow an integer part: nothing, or a point and digits."""
    nullable, digits = _fraction_digits(low, low_open, high, high_open, count)
    if digits == NOTHING:
        return EMPTY if nullable else NOTHING
    dotted = sequence(_POINT, digits)
    return optional(dotted) if nullable else dotted


def _plain(low: Number, low_open: bool, high: Number | None, high_open: bool, count: int) -> Regex:
    """Plain decimals from `low` >= 0 to `high`, with at most `count` digits after the point."""
    floor = int(low // 1)
    start = _decimal_digits(Fraction(low) - floor)
    if high is None:
        edge = sequence(_natural_range(floor, floor), _tail(start, low_open, None, False, count))
        return choice(edge, sequence(_natural_range(floor + 1, None), _tail(None, False, None, False, count)))
    ceiling = int(high // 1)
    end = _decimal_digits(Fraction(high) - ceiling)
    if floor == ceiling:
        return sequence(_natural_range(floor, floor), _tail(start, low_open, end, high_open, count))
    return choice(
        sequence(_natural_range(floor, floor), _tail(start, low_open, None, False, count)),
        sequence(_natural_range(floor + 1, ceiling - 1), _tail(None, False, None, False, count)),
        sequence(_natural_range(ceiling, ceiling), _tail(None, False, end, high_open, count)),
    )


def _exponent_range(low: int, high: int) -> Regex:
    """The exponents `low` to `high`, with the sign and the leading zero that programs write: e5, e+5, e+05, E5."""
    parts: list[Regex] = []
    zeros = optional(_ZERO)
    if high >= 0:
        parts.append(sequence(optional(byte_set("+")), zeros, _natural_range(max(low, 0), high)))
    if low < 0:
        parts.append(sequence(_MINUS, zeros, _natural_range(max(-high, 1), -low)))
    return sequence(byte_set("eE"), choice(*parts))


def _decade(value: Number) -> int:
    """The exponent e with 10**e <= value < 10**(e + 1), for a value > 0."""
    fraction = Fraction(value)
    guess = len(str(fraction.numerator)) - len(str(fraction.denominator))
    return guess if Fraction(10) ** guess <= fraction else guess - 1


def _scientific(low: Number, low_open: bool, high: Number | None, high_open: bool) -> Regex:
    """`d.ddde±x`: the decades inside the bounds as a whole, and parts of those for which programs use this form."""
    first, first_whole = -_EXPONENTS, True
    if low > 0:
        first = _decade(low)
        first_whole = Fraction(10) ** first == low and not low_open
    last, last_whole = _EXPONENTS, True
    if high is not None:
        if high <= 0:
            return NOTHING
        last, last_whole = _decade(high), False
    parts: list[Regex] = []
    whole_from, whole_to = max(first + (not first_whole), -_EXPONENTS), min(last - (not last_whole), _EXPONENTS)
    if whole_from <= whole_to:
        mantissa = sequence(_NONZERO, optional(sequence(_POINT, Repeat(_DIGIT, 1, _MANTISSA_DIGITS))))
        parts.append(sequence(mantissa, _exponent_range(whole_from, whole_to)))
    for exponent in sorted({first, last} - set(range(whole_from, whole_to + 1))):
        if first <= exponent <= last and not -_PLAIN_DECADES[0] <= exponent < _PLAIN_DECADES[1]:
            unit = Fraction(10) ** exponent
            least, least_open = (low / unit, low_open) if exponent == first else (Fraction(1), False)
            most, most_open = (
                (high / unit, high_open) if high is not None and exponent == last else (Fraction(10), True)
            )
            part = _plain(least, least_open, most, most_open, _MANTISSA_DIGITS)
            parts.append(sequence(part, _exponent_range(exponent, exponent)))
    return choice(*parts)


def _magnitudes(low: Number, low_open: bool, high: Number | None, high_open: bool, places: int | None) -> Regex:
    """Numbers without sign between two bounds, `low` >= 0."""
    if high is not None and (low > high or (low == high and (low_open or high_open))):
        return NOTHING
    if places is not None:
        return _plain(low, low_open, high, high_open, places)
    digits = [len(_decimal_digits(Fraction(bound) % 1)) for bound in (low, high) if bound is not None]
    count = min(max(FRACTION_DIGITS, *digits), _LONGEST_FRACTION)
    return choice(_plain(low, low_open, high, high_open, count), _scientific(low, low_open, high, high_open))


def _double_from(bound: Number, is_open: bool) -> Number | None:
    """The least double from which on numbers are above a bound however they are read; None when there is none.

    A reader may compare the double itself, or the shortest decimal that stands for it: both are above the bound, but
    where the bound is a large double itself.
    """
    try:
        value = float(bound)
    except OverflowError:
        return None if bound > 0 else -int(_LARGEST)
    if not is_open and bound == int(value):
        return bound
    value = math.nextafter(value, -math.inf)
    while value < math.inf:
        number = exact(value)
        if abs(value) > _EXACT_INTEGERS:
            number = min(number, int(value))
        if number > bound or (number == bound and not is_open):
            return number
        value = math.nextafter(value, math.inf)
    return None


_LARGEST = math.nextafter(math.inf, 0)


def _free() -> Regex:
    """Any number of a documented size."""
    fraction = optional(sequence(_POINT, Repeat(_DIGIT, 1, FRACTION_DIGITS)))
    short = sequence(byte_set("eE"), optional(byte_set("+-")), Repeat(_DIGIT, 1, 2))
    plain = sequence(
        choice(_ZERO, sequence(_NONZERO, Repeat(_DIGIT, 0, INTEGER_DIGITS - 1))), fraction, optional(short)
    )
    return sequence(optional(_MINUS), choice(plain, _scientific(0, True, None, False)))


_FREE = _free()


@lru_cache(maxsize=1024)
def number_range(
    low: Number | None, low_open: bool, high: Number | None, high_open: bool, places: int | None = None
) -> Regex:
    """Numbers between two bounds (None: none).

    Args:
        low: exact bound whose decimal form ends.
        low_open: whether the bound itself is left out.
        high: as `low`.
        high_open: as `low_open`.
        places: at most so many digits after the point, and no exponent, and the bounds are exact; None for numbers
            that are read as doubles.
    """
    if low is None and high is None and places is None:
        return _FREE
    if places is None and low:
        low, low_open = _double_from(low, low_open), False
        if low is None:
            return NOTHING
    if places is None and high:
        below = _double_from(-high, high_open)
        if below is None:
            return NOTHING
        high, high_open = -below, False
    parts: list[Regex] = []
    if high is None or high > 0 or (high == 0 and not high_open):
        from_zero = low is None or low < 0
        parts.append(_magnitudes(0 if from_zero else low or 0, low_open and not from_zero, high, high_open, places))
    if low is None or low < 0:
        to_zero = high is None or high >= 0
        near: Number = 0 if high is None or high >= 0 else -high
        far = None if low is None else -low
        parts.append(sequence(_MINUS, _magnitudes(near, to_zero or high_open, far, low_open, places)))
    return choice(*parts)


def decimal_text(value: Number) -> str:
    """The plain decimal form of a number whose decimal form ends."""
    if isinstance(value, int):
        return str(value)
    sign, value = ("-", -value) if value < 0 else ("", value)
    whole = int(value // 1)
    digits = "".join(map(str, _decimal_digits(value - whole)))
    return f"{sign}{whole}.{digits}" if digits else f"{sign}{whole}"
