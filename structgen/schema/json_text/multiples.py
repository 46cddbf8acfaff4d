"""Regexes of the multiples of a step, in every form of a number, and of all other numbers.

A step is d · 2^a · 5^b, with d prime to ten and a, b that may be below 0. A number m · 10^t, where m ends in a digit
other than 0, is a multiple of it if m is one of d, and t is at least the larger of a and b; or less by c if m is a
multiple of the c-th power of the prime that has the larger one. So digits and exponents are looked at one by one.

Beside integers in digits, texts have at most `SAFE_DIGITS` digits here: doubles tell those apart, and reading them
gives the number that is written.
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
"""Divisors above it, without zeros at their ends and the point, are too large for automata: a state a remainder."""
MAX_ODD_FACTOR = 64
"""Multiples of a step with a larger factor that is prime to ten are not written with an exponent."""
MULTIPLE_DIGITS = 18
"""Integers that are multiples have at most so many digits, or as the divisor has and half of them."""
SAFE_DIGITS = 15
_EXPONENTS = (-307, 307)

_DIGIT = byte_set("0123456789")
_NONZERO = byte_set("123456789")
_ZERO = Literal(b"0")
_POINT = Literal(b".")
_SIGN = optional(Literal(b"-"))


def is_large(step: Number) -> bool:
    """Whether an automaton of a step's multiples has too many states."""
    divisor, _ = _without_zeros(Fraction(step).numerator)
    return divisor > MAX_DIVISOR


def _without_zeros(divisor: int) -> tuple[int, int]:
    zeros = 0
    while divisor % 10 == 0:
        divisor, zeros = divisor // 10, zeros + 1
    return divisor, zeros


def step_in_integers(step: Number) -> int:
    """The integers that are multiples of a step are the multiples of this."""
    return Fraction(step).numerator


def digits_of_multiples(low: Number | None, high: Number | None, step: Number, outside: tuple[Number, ...]) -> Regex:
    """Integers in digits between two closed bounds, multiples of a step and of none of others."""
    divisor = step_in_integers(step)
    if any(divisor % step_in_integers(other) == 0 for other in outside):
        return NOTHING
    if divisor > 1:
        bound = 10 ** max(MULTIPLE_DIGITS, len(str(divisor)) * 3 // 2) - 1
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
    """Numbers with a point or an exponent between two bounds, multiples of a step and of none of others."""
    found = _SAFE if step is None or Fraction(step).numerator > 1 or outside else _SAFE_FRACTIONS
    if low is not None or high is not None:
        found = intersection(found, number_range(low, low_open, high, high_open))
    if step is not None:
        found = intersection(found, _multiples(step, _factors(Fraction(step))[0] <= MAX_ODD_FACTOR))
    for other in outside:
        found = difference(found, _multiples(other, True))
    return found


def _safe(largest: int) -> Regex:
    """Numbers with a point or an exponent, of at most `SAFE_DIGITS` digits, below a power of ten."""
    plain: list[Regex] = []
    for places in range(1, SAFE_DIGITS):
        whole = choice(_ZERO, sequence(_NONZERO, Repeat(_DIGIT, 0, SAFE_DIGITS - places - 1)))
        plain.append(sequence(whole, _POINT, repeat(_DIGIT, places, places)))
    mantissa = sequence(_NONZERO, optional(sequence(_POINT, Repeat(_DIGIT, 1, SAFE_DIGITS - 1))))
    scientific = sequence(mantissa, exponent_range(_EXPONENTS[0], largest))
    return sequence(_SIGN, choice(*plain, scientific, _ZERO_WITH_EXPONENT))


_ZERO_WITH_EXPONENT = sequence(
    _ZERO, optional(sequence(_POINT, Repeat(_ZERO, 1, SAFE_DIGITS - 1))), exponent_range(-99, 99)
)
_SAFE = _safe(SAFE_DIGITS - 1)
_SAFE_FRACTIONS = _safe(_EXPONENTS[1])
"""As all doubles above 2**53 are integers, they are multiples of steps such as 0.01, however they are rounded."""


@lru_cache(maxsize=1024)
def _multiples(step: Number, scientific: bool) -> Regex:
    """The multiples of a step among the texts of `_SAFE_FRACTIONS`, exactly; or those without an exponent."""
    odd, prime, power, spared = _factors(Fraction(step))
    forms = choice(*_plain_multiples(Fraction(step)))
    if scientific:
        forms = choice(forms, *_scientific_multiples(odd, prime, power, spared), _ZERO_WITH_EXPONENT)
    return sequence(_SIGN, forms)


def _plain_multiples(step: Fraction) -> Iterator[Regex]:
    """With a point: for each number of digits after it, the others together are multiples of something."""
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
    """With an exponent: for each number of digits after the point, without zeros at the end."""
    for used in range(SAFE_DIGITS):
        digits: Regex = _NONZERO
        if used:
            digits = sequence(_NONZERO, _POINT, repeat(_DIGIT, used - 1, used - 1), _NONZERO)
        zeros: Regex = star(_ZERO) if used else optional(sequence(_POINT, plus(_ZERO)))
        for power in range(spared + 1):
            first = max(used + least - power, _EXPONENTS[0])
            if first <= _EXPONENTS[1]:
                yield sequence(_multiples_of(odd * prime**power, digits), zeros, exponent_range(first, _EXPONENTS[1]))


def _factors(step: Fraction) -> tuple[int, int, int, int]:
    """Of d · 2^a · 5^b: d, the prime with the larger power, that power, and by how much it is larger."""
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
    """Digits of multiples; those of powers of ten are told by their zeros, however many."""
    divisor, zeros = _without_zeros(divisor)
    found = _multiples_of(divisor, plus(_DIGIT))
    return choice(_ZERO, sequence(found, repeat(_ZERO, zeros, zeros))) if zeros else found


def _multiples_of(divisor: int, digits: Regex) -> Regex:
    return digits if divisor == 1 else intersection(digits, Multiple(divisor))
