"""Regexes of the multiples of a step, in every written form of a number, and of the numbers that are not multiples.

Write the step as d · 2^a · 5^b, where d has no factor 2 or 5, and a and b may be negative. A number m · 10^t, where m
does not end in 0, is a multiple of the step if

- m is a multiple of d, and t >= max(a, b); or
- m is a multiple of d · p^c, and t >= max(a, b) - c, where p is 2 or 5, whichever has the larger power, and
  c <= abs(a - b).

So the digits and the exponent of a text can be checked separately. For example, 0.25 is 1 · 2^-2 · 5^0: its multiples
are m · 10^t with t >= 0, with t = -1 and m a multiple of 5, or with t = -2 and m a multiple of 25.

Integers in digits aside, texts have at most `MAX_SAFE_DIGITS` digits here: a reader of doubles gets exactly the number
that is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from structgen.engine.regex.tree import (
    NOTHING,
    Literal,
    Multiple,
    Regex,
    Repeat,
    choice,
    difference,
    intersection,
    optional,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.schema.json_text.numbers import Number, exponent_range, integer_range, number_range
from structgen.schema.json_text.strings import byte_set

__all__ = ["MAX_DIVISOR", "digits_of_multiples", "is_large", "other_forms", "step_in_integers"]

MAX_DIVISOR = 5000
"""The largest divisor, without zeros at its end and decimal point, that has an automaton: a state per remainder."""
MAX_ODD_FACTOR = 64
"""The largest factor d of a step whose multiples are also written with an exponent."""
MAX_MULTIPLE_DIGITS = 18
"""Maximum digits of an integer that is a multiple; 1.5 times the digits of the divisor if that is more."""
MAX_SAFE_DIGITS = 15
"""Maximum significant digits of a decimal number that survives the way through a double unchanged."""
_EXPONENTS = (-307, 307)

_DIGIT = byte_set("0123456789")
_NONZERO = byte_set("123456789")
_ZERO = Literal(b"0")
_POINT = Literal(b".")
_SIGN = optional(Literal(b"-"))


def is_large(step: Number) -> bool:
    """Return whether the automaton of a step's multiples has too many states."""
    divisor, _ = _without_zeros(Fraction(step).numerator)
    return divisor > MAX_DIVISOR


def _without_zeros(divisor: int) -> tuple[int, int]:
    """Return a divisor without the zeros at its end, and their number."""
    zeros = 0
    while divisor % 10 == 0:
        divisor, zeros = divisor // 10, zeros + 1
    return divisor, zeros


def step_in_integers(step: Number) -> int:
    """Return the integer whose multiples are the integers among a step's multiples."""
    return Fraction(step).numerator


def digits_of_multiples(low: Number | None, high: Number | None, step: Number, outside: tuple[Number, ...]) -> Regex:
    """Return the integers in digits between two closed bounds that are multiples of a step.

    Args:
        low: the lower bound; None for none.
        high: the upper bound; None for none.
        step: the step.
        outside: steps whose multiples are left out.
    """
    divisor = step_in_integers(step)
    if any(divisor % step_in_integers(other) == 0 for other in outside):
        return NOTHING
    if divisor > 1:
        bound = 10 ** max(MAX_MULTIPLE_DIGITS, len(str(divisor)) * 3 // 2) - 1
        low, high = (-bound if low is None else low), (bound if high is None else high)
    found = integer_range(None if low is None else ceil(low), None if high is None else floor(high))
    if divisor > 1:
        found = intersection(found, sequence(_SIGN, _whole_multiples(divisor)))
    for other in outside:
        found = difference(found, sequence(_SIGN, _whole_multiples(step_in_integers(other))))
    return found


def other_forms(
    low: Number | None,
    low_open: bool,
    high: Number | None,
    high_open: bool,
    step: Number | None,
    outside: tuple[Number, ...],
) -> Regex:
    """Return the numbers with a point or an exponent between two bounds that are multiples of a step.

    Args:
        low: the lower bound; None for none.
        low_open: whether the lower bound itself is left out.
        high: the upper bound; None for none.
        high_open: whether the upper bound itself is left out.
        step: the step; None for all numbers.
        outside: steps whose multiples are left out.
    """
    found = _SAFE if step is None or Fraction(step).numerator > 1 or outside else _SAFE_FRACTIONS
    if low is not None or high is not None:
        found = intersection(found, number_range(low, low_open, high, high_open))
    if step is not None:
        found = intersection(found, _multiples(step, _factors(Fraction(step))[0] <= MAX_ODD_FACTOR))
    for other in outside:
        found = difference(found, _multiples(other, True))
    return found


def _safe(largest: int) -> Regex:
    """Return numbers with a point or an exponent, of at most `MAX_SAFE_DIGITS` digits and exponents up to `largest`."""
    plain: list[Regex] = []
    for places in range(1, MAX_SAFE_DIGITS):
        whole = choice(_ZERO, sequence(_NONZERO, Repeat(_DIGIT, 0, MAX_SAFE_DIGITS - places - 1)))
        plain.append(sequence(whole, _POINT, repeat(_DIGIT, places, places)))
    mantissa = sequence(_NONZERO, optional(sequence(_POINT, Repeat(_DIGIT, 1, MAX_SAFE_DIGITS - 1))))
    scientific = sequence(mantissa, exponent_range(_EXPONENTS[0], largest))
    return sequence(_SIGN, choice(*plain, scientific, _ZERO_WITH_EXPONENT))


_ZERO_WITH_EXPONENT = sequence(
    _ZERO, optional(sequence(_POINT, Repeat(_ZERO, 1, MAX_SAFE_DIGITS - 1))), exponent_range(-99, 99)
)
_SAFE = _safe(MAX_SAFE_DIGITS - 1)
_SAFE_FRACTIONS = _safe(_EXPONENTS[1])
"""Numbers with larger exponents too. All doubles above 2**53 are integers, so they are multiples of steps such as 0.01,
however they are rounded.
"""


@lru_cache(maxsize=1024)
def _multiples(step: Number, scientific: bool) -> Regex:
    """Return exactly the multiples of a step among the texts of `_SAFE_FRACTIONS`.

    Args:
        step: the step.
        scientific: include texts with an exponent.
    """
    odd, prime, power, spared = _factors(Fraction(step))
    forms = choice(*_plain_multiples(Fraction(step)))
    if scientific:
        forms = choice(forms, *_scientific_multiples(odd, prime, power, spared), _ZERO_WITH_EXPONENT)
    return sequence(_SIGN, forms)


def _plain_multiples(step: Fraction) -> Iterator[Regex]:
    """Yield the multiples with a point: by the number of digits after it, all digits together are a multiple."""
    places = 0
    while 10**places % step.denominator:
        places += 1
    for written in range(1, places + 1):
        digits = sequence(plus(_DIGIT), _POINT, repeat(_DIGIT, written, written))
        yield _multiples_of((step * 10**written).numerator, digits)
    if places:
        digits = sequence(plus(_DIGIT), _POINT, repeat(_DIGIT, places, places))
        yield sequence(_multiples_of((step * 10**places).numerator, digits), plus(_ZERO))
    else:
        yield sequence(_whole_multiples(step.numerator), _POINT, plus(_ZERO))


def _scientific_multiples(odd: int, prime: int, least: int, spared: int) -> Iterator[Regex]:
    """Yield the multiples with an exponent: for each number of digits after the point, without zeros at the end."""
    for used in range(MAX_SAFE_DIGITS):
        digits: Regex = _NONZERO
        if used:
            digits = sequence(_NONZERO, _POINT, repeat(_DIGIT, used - 1, used - 1), _NONZERO)
        zeros: Regex = star(_ZERO) if used else optional(sequence(_POINT, plus(_ZERO)))
        for power in range(spared + 1):
            first = max(used + least - power, _EXPONENTS[0])
            if first <= _EXPONENTS[1]:
                yield sequence(_multiples_of(odd * prime**power, digits), zeros, exponent_range(first, _EXPONENTS[1]))


def _factors(step: Fraction) -> tuple[int, int, int, int]:
    """Write a step as d · 2^a · 5^b.

    Returns:
        d; the prime with the larger power; that power; the difference of the two powers.
    """
    numerator, denominator = step.numerator, step.denominator
    powers = {2: 0, 5: 0}
    for prime in powers:
        while numerator % prime == 0:
            numerator //= prime
            powers[prime] += 1
        while denominator % prime == 0:
            denominator //= prime
            powers[prime] -= 1
    prime = 2 if powers[2] >= powers[5] else 5
    return numerator, prime, powers[prime], abs(powers[2] - powers[5])


def _whole_multiples(divisor: int) -> Regex:
    """Return the digits of multiples; factors of ten need no automaton, only zeros at the end."""
    divisor, zeros = _without_zeros(divisor)
    found = _multiples_of(divisor, plus(_DIGIT))
    return choice(_ZERO, sequence(found, repeat(_ZERO, zeros, zeros))) if zeros else found


def _multiples_of(divisor: int, digits: Regex) -> Regex:
    """Return those digit strings that are multiples of a divisor."""
    return digits if divisor == 1 else intersection(digits, Multiple(divisor))
