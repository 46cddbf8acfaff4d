"""The texts that are read as one number, each as a beginning and a regex of what may follow it.

Readers round to doubles. So the texts of 0.3 are those of all numbers between the doubles beside it:

    beginning               rest
    0.3                     0*                 the number
    0.3000000000000000      0 0*[1-9][0-9]*    up to the next double, 0.30000000000000004
    0.3000000000000000      [1-3][0-9]*
    0.2999999999999999      9[0-9]*            from the double before, 0.29999999999999993 (shortened here)
    3                       (.0*)?e-1          the same with an exponent: 3e-1

A list of numbers that must differ refuses these texts. As they have known beginnings, the texts of many numbers can be
kept as a tree (`schema/rules/written_numbers.py`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from structgen.engine.regex.tree import EMPTY, ByteSet, Literal, Regex, Repeat, optional, sequence
from structgen.schema.algebra.safe_numbers import Number, decade
from structgen.schema.json_text.numbers import (
    decimal_digits,
    decimal_text,
    exact,
    exponent_range,
)
from structgen.schema.json_text.strings import byte_set

__all__ = ["Text", "texts_of_number"]

Text = tuple[bytes, Regex]
"""A beginning, and the regex of what follows it."""

_ANY = ByteSet((1 << 256) - 1)
_ZEROS = Repeat(Literal(b"0"), 0, None)
_POINT_ZEROS = optional(sequence(Literal(b"."), _ZEROS))
_DIGITS = Repeat(byte_set("0123456789"), 0, None)
_MORE = sequence(_ZEROS, byte_set("123456789"), _DIGITS)  # digits after others that make a number larger
_REST_OF_ZERO = sequence(_POINT_ZEROS, optional(sequence(byte_set("eE"), Repeat(_ANY, 0, None))))


def texts_of_number(value: Number, *, is_whole: bool, is_plain: bool) -> list[Text]:
    """Return the texts that are read as a number.

    Texts that are no numbers may be among them, and, of whole numbers, texts with digits after the point.

    Args:
        value: the number. Other numbers than 0 must be doubles, and integers small enough to be told by doubles.
        is_whole: only integers are written, so that no text is rounded.
        is_plain: numbers are written without an exponent.
    """
    if not value:
        return [(b"0", _REST_OF_ZERO), (b"-0", _REST_OF_ZERO)]
    sign, size = (b"-", -value) if value < 0 else (b"", value)
    found = _exact_texts(size, is_plain)
    if not is_whole:
        below, above = (exact(math.nextafter(float(size), towards)) for towards in (0, math.inf))
        found += _between(below, size, is_plain) + _between(size, above, is_plain)
    return [(sign + begun, rest) for begun, rest in found]


def _exact_texts(size: Number, is_plain: bool) -> list[Text]:
    """Return the texts of exactly a number above 0."""
    found = [_with_zeros(decimal_text(size), EMPTY)]
    if not is_plain:
        exponent = decade(size)
        found.append(_with_zeros(decimal_text(size / Fraction(10) ** exponent), _exponent(exponent)))
    return found


def _with_zeros(text: str, end: Regex) -> Text:
    """Return a decimal, with more zeros after the point, and an end."""
    return text.encode(), sequence(_ZEROS if "." in text else _POINT_ZEROS, end)


@lru_cache(maxsize=1024)
def _exponent(value: int) -> Regex:
    return exponent_range(value, value)


@lru_cache(maxsize=1024)
def _digits(first: int, last: int, end: Regex) -> Regex:
    """Return digits the first of which is between two others, then `end`."""
    return sequence(byte_set("".join(map(str, range(first, last + 1)))), _DIGITS, end)


def _between(low: Number, high: Number, is_plain: bool) -> list[Text]:
    """Return the texts of the numbers between two others above 0 that have no integer between them."""
    found = _decimals(low, high, EMPTY)
    if not is_plain:
        exponent = decade(low)
        unit = Fraction(10) ** exponent
        found += _decimals(low / unit, high / unit, _exponent(exponent))
    return found


def _decimals(low: Number, high: Number, end: Regex) -> list[Text]:
    """Return the decimals between two numbers above 0 that have no integer between them, each followed by `end`."""
    whole, next_whole = int(low // 1), int(high // 1)
    least, most = decimal_digits(Fraction(low) - whole), decimal_digits(Fraction(high) - next_whole)
    if whole != next_whole:
        return (
            _above(f"{whole}.", least, end)
            + ([(b"%d" % next_whole, end)] if most else [])
            + _below(f"{next_whole}.", most, end)
        )
    same = 0
    while same < len(least) and least[same] == most[same]:
        same += 1
    begun = f"{whole}." + "".join(map(str, least[:same]))
    if same < len(least):
        digit, rest = least[same], _above(f"{begun}{least[same]}", least[same + 1 :], end)
    else:  # `low` may go on with zeros
        while most[same] == 0:
            begun += "0"
            same += 1
        digit, rest = 0, [(f"{begun}0".encode(), sequence(_MORE, end))]
    if digit + 1 < most[same]:
        rest.append((begun.encode(), _digits(digit + 1, most[same] - 1, end)))
    return rest + _below(f"{begun}{most[same]}", most[same + 1 :], end)


def _above(begun: str, low: tuple[int, ...], end: Regex) -> list[Text]:
    """Return a beginning followed by digits d with 0.d > 0.low, then `end`."""
    found: list[Text] = []
    for digit in low:
        if digit < 9:
            found.append((begun.encode(), _digits(digit + 1, 9, end)))
        begun += str(digit)
    return [*found, (begun.encode(), sequence(_MORE, end))]


def _below(begun: str, high: tuple[int, ...], end: Regex) -> list[Text]:
    """Return a beginning followed by digits d with 0.d < 0.high, or by none, then `end`."""
    found: list[Text] = []
    for digit in high:
        found.append((begun.encode(), end))
        if digit > 0:
            found.append((begun.encode(), _digits(0, digit - 1, end)))
        begun += str(digit)
    return found
