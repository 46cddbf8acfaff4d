"""Numbers that a reader of doubles gets exactly as they are written: of at most 15 digits, or integers up to 2**53.

A text with a point or an exponent is read as the double next to it. `0.1000000000000001` has 16 significant digits, and
is read as a number that differs in the 33rd digit. So it is no multiple of 1e-16 any more, and it may be the double of
other texts, too. With 15 digits, no two texts are read as one double, and the shortest text of the double is that text.
So fractions among multiples, and among numbers that are no multiples, are written with at most 15 digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor, gcd

__all__ = ["MAX_EXACT_INTEGER", "MAX_SAFE_DIGITS", "Number", "common_multiple", "decade", "safe_runs"]

Number = int | Fraction

MAX_SAFE_DIGITS = 15
"""Maximum significant digits of a decimal number that survives the way through a double unchanged."""
MAX_EXACT_INTEGER = 2**53
"""Every integer up to it is a double."""
_MIN_DECADE = -307  # of doubles that have all their digits


def safe_runs(
    low: Number | None, high: Number | None, step: Number | None, max_places: int | None = None
) -> Iterator[tuple[Number, Number, int]]:
    """Yield the safe numbers between two closed bounds, those with large magnitudes first.

    Args:
        low: the lower bound; None for none.
        high: the upper bound; None for none.
        step: the numbers are its multiples; None for all numbers.
        max_places: the maximum number of digits after the point, where numbers have no exponent; None for any.

    Yields:
        First number, difference, count: of the numbers of one sign and one power of ten. 0 is by itself.
    """
    ends = ((1, low, high), (-1, None if high is None else -high, None if low is None else -low))
    for sign, first, last in ends:
        least = max(first or 0, 0)
        most = MAX_EXACT_INTEGER if last is None else min(last, MAX_EXACT_INTEGER)
        if most <= 0 or least > most:
            continue
        lowest = max(_MIN_DECADE if step is None else decade(step), decade(least) if least else _MIN_DECADE)
        if max_places is not None:
            lowest = max(lowest, -max_places)
        for power in range(decade(most), lowest - 1, -1):
            unit = _unit(power, max_places)
            unit = unit if step is None else common_multiple(step, unit)
            begin = ceil(max(least, Fraction(10) ** power) / Fraction(unit))
            end = floor(min(most, Fraction(10) ** (power + 1)) / Fraction(unit))
            if begin <= end:
                yield sign * begin * unit, sign * unit, end - begin + 1
    if (low is None or low <= 0) and (high is None or high >= 0):
        yield 0, 1, 1


def _unit(power: int, max_places: int | None) -> Number:
    """Return the last digit's value in the safe numbers from 10**power on."""
    if power >= MAX_SAFE_DIGITS:
        return 1
    places = MAX_SAFE_DIGITS - 1 - power
    return Fraction(1, 10 ** (places if max_places is None else min(places, max_places)))


def decade(value: Number) -> int:
    """Return the exponent e with 10**e <= value < 10**(e + 1), for a value > 0.

    >>> decade(150)
    2
    """
    fraction = Fraction(value)
    guess = len(str(fraction.numerator)) - len(str(fraction.denominator))
    return guess if Fraction(10) ** guess <= fraction else guess - 1


def common_multiple(left: Number, right: Number) -> Number:
    """Return the least number > 0 that is a multiple of two others."""
    a, b = Fraction(left), Fraction(right)
    denominator = a.denominator * b.denominator // gcd(a.denominator, b.denominator)
    x, y = int(a * denominator), int(b * denominator)
    common = Fraction(x * y // gcd(x, y), denominator)
    return common.numerator if common.denominator == 1 else common
