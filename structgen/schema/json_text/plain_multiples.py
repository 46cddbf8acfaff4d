r"""Regexes of multiples that their last digits tell, as people write them: without an exponent.

A number is a multiple of 0.25 if it ends with .0, .25, .5 or .75, and an integer is a multiple of 20 if its last two
digits are 00, 20, 40, 60 or 80. So a choice of endings stands after any digits, and no automaton counts remainders:

    0.25      (?:0|[1-9][0-9]{0,12})(?:\.(?:0|00|25|5|50|75))?
    20        (?:0|20|40|60|80)|[1-9][0-9]{0,15}(?:00|20|40|60|80)
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from structgen.engine.regex.tree import Literal, Regex, choice, literal_set, optional, sequence
from structgen.schema.algebra import Number
from structgen.schema.json_text.multiples import MAX_MULTIPLE_DIGITS
from structgen.schema.json_text.numbers import integer_range

__all__ = ["integers_by_ending", "numbers_by_ending", "places_of"]

_MAX_ENDINGS = 100
_MAX_PLACES = 12
_MINUS, _POINT = Literal(b"-"), Literal(b".")


def places_of(step: Number, max_endings: int = _MAX_ENDINGS) -> int | None:
    """Return the number of digits that tell whether a number is a multiple of a step; None if no few digits do.

    These are the digits after the point if the step is a fraction, such as 2 for 0.25, and the last ones if it is an
    integer, such as 2 for 20.

    Args:
        step: the step.
        max_endings: the maximum number of different digits.
    """
    numerator, denominator = Fraction(step).as_integer_ratio()
    if numerator != 1 and denominator != 1:
        return None
    for places in range(_MAX_PLACES + 1):
        if 10**places % (numerator * denominator) == 0:
            endings = denominator if numerator == 1 else 10**places // numerator
            return places if endings <= max_endings else None
    return None


def numbers_by_ending(
    low: Number | None, low_open: bool, high: Number | None, high_open: bool, step: Number, digits: int
) -> Regex:
    """Return the multiples of a fraction between two bounds, with at most `places_of` digits after the point.

    Args:
        low: the lower bound; None for none.
        low_open: whether the lower bound itself is left out.
        high: the upper bound; None for none.
        high_open: whether the upper bound itself is left out.
        step: the step, 1 divided by an integer.
        digits: the largest number of digits before the point.
    """
    places = places_of(step, Fraction(step).denominator) or 0
    endings = [Fraction(number, Fraction(step).denominator) for number in range(Fraction(step).denominator)]

    def magnitudes(low: Number | None, low_open: bool, high: Number | None, high_open: bool) -> Regex:
        ranges: dict[tuple[int, int], list[bytes]] = {}
        for ending in endings:
            first = 0 if low is None else max(0, _from(low - ending, low_open))
            last = 10**digits - 1
            if high is not None:
                last = min(last, -_from(ending - high, high_open))
            if first <= last:
                ranges.setdefault((first, last), []).extend(_digits(ending, places))
        return choice(*[sequence(integer_range(*one), _optional_fraction(texts)) for one, texts in ranges.items()])

    positive = magnitudes(low, low_open, high, high_open)
    near, near_open = (0, True) if high is None or high >= 0 else (-high, high_open)
    far = None if low is None else -low
    return choice(positive, sequence(_MINUS, magnitudes(near, near_open, far, low_open)))


def _optional_fraction(texts: list[bytes]) -> Regex:
    """Return a point and digits; nothing, too, if one of the texts is empty."""
    fraction = sequence(_POINT, literal_set(text for text in texts if text))
    return optional(fraction) if b"" in texts else fraction


def _from(bound: Number, is_open: bool) -> int:
    """Return the smallest integer from a bound on."""
    return floor(bound) + 1 if is_open else ceil(bound)


def _digits(ending: Fraction, places: int) -> Iterator[bytes]:
    """Yield the digits of a fraction below 1, with zeros at the end or without; of 0 also no digits."""
    text = f"{int(ending * 10**places):0{places}}"
    shortest = text.rstrip("0")
    if not shortest:
        yield b""
    for size in range(max(len(shortest), 1), places + 1):
        yield text[:size].encode()


def integers_by_ending(low: Number | None, high: Number | None, step: int) -> Regex:
    """Return the integers in digits between two bounds that are multiples of a step.

    Args:
        low: the lower bound; None for none.
        high: the upper bound; None for none.
        step: a step with `places_of`.
    """
    places = places_of(step) or 0
    of_bounds = [len(str(abs(ceil(bound)))) + 1 for bound in (low, high) if bound is not None]
    whole, most = 10**places, 10 ** max([MAX_MULTIPLE_DIGITS, *of_bounds]) - 1

    def magnitudes(low: int, high: int) -> Regex:
        short = [b"%d" % number for number in range(0, whole, step) if low <= number <= high]
        ranges: dict[tuple[int, int], list[bytes]] = {}
        for ending in range(0, whole, step):
            first, last = max(1, -((ending - low) // whole)), (high - ending) // whole
            if first <= last:
                ranges.setdefault((first, last), []).append(f"{ending:0{places}}".encode())
        longer = [sequence(integer_range(*one), literal_set(texts)) for one, texts in ranges.items()]
        return choice(literal_set(short), *longer)

    positive = magnitudes(max(0, ceil(low or 0)), most if high is None else floor(high))
    near, far = 1 if high is None else max(1, ceil(-high)), most if low is None else floor(-low)
    return choice(positive, sequence(_MINUS, magnitudes(near, far)))
