"""Regexes of the multiples of a step, in every written form of a number, and of the numbers that are not multiples.

Write the step as d · 2^a · 5^b, where d has no factor 2 or 5, and a and b may be negative. A number m · 10^t, where m
does not end in 0, is a multiple of the step if

- m is a multiple of d, and t >= max(a, b); or
- m is a multiple of d · p^c, and t >= max(a, b) - c, where p is 2 or 5, whichever has the larger power, and
  c <= abs(a - b).

So the digits and the exponent of a text can be checked separately. For example, 0.25 is 1 · 2^-2 · 5^0: its multiples
are m · 10^t with t >= 0, with t = -1 and m a multiple of 5, or with t = -2 and m a multiple of 25.

Integers in digits aside, a reader of doubles gets exactly the number that is written here: texts have at most
`MAX_SAFE_DIGITS` significant digits, or are integers up to 2**53, as `5648801004102410.0`. Zeros at the end may follow.
All doubles above 2**53 are integers, so larger numbers are multiples of steps such as 0.01 however they are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from math import ceil, floor, gcd, lcm

from structgen.engine.automata.remainder_sets import modulus_of
from structgen.engine.regex.tree import (
    EMPTY,
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
from structgen.schema.algebra.safe_numbers import MAX_EXACT_INTEGER, MAX_SAFE_DIGITS, Number, decade
from structgen.schema.json_text.numbers import (
    MAX_FRACTION_DIGITS,
    MAX_INTEGER_DIGITS,
    MAX_MANTISSA_DIGITS,
    exponent_range,
    integer_range,
    number_range,
    scientific_range,
)
from structgen.schema.json_text.remainders import Choices, integers_of, magnitudes_of, may_count
from structgen.schema.json_text.strings import byte_set

__all__ = [
    "MAX_DIVISOR",
    "are_counted",
    "choices_of",
    "counted_forms",
    "digits_of_choices",
    "digits_of_multiples",
    "is_large",
    "largest_divisor",
    "multiples_of_any_length",
    "other_forms",
    "step_in_integers",
]

MAX_DIVISOR = 5000
"""The largest divisor, without zeros at its end and decimal point, that has an automaton: a state per remainder."""
MAX_DIVISOR_OF_FRACTIONS = 10_000
"""The same for a step with digits after the point."""
MAX_MODULUS_OF_EXPONENTS = 1024
"""The largest number, without zeros at its end, whose remainders are counted for numbers with an exponent and bounds.
It takes long to see that few digits can be no multiple of a larger one."""
MAX_ODD_FACTOR = 64
"""The largest factor d of a step whose multiples are also written with an exponent."""
MAX_MULTIPLE_DIGITS = 18
"""Maximum digits of an integer that is a multiple. It is more where the divisor has many (1.5 times as many) or a bound
has as many (one more)."""
MAX_EXCLUDED_STEPS = 4
"""The largest number of excluded steps beside which integers are also written with a point or an exponent. Each form
has a state for each combination of remainders."""
_MIN_EXPONENT, _MAX_EXPONENT = -307, 308

_DIGIT = byte_set("0123456789")
_NONZERO = byte_set("123456789")
_ZERO = Literal(b"0")
_POINT = Literal(b".")
_MINUS = Literal(b"-")
_SIGN = optional(_MINUS)
_POINT_ZEROS = Repeat(_ZERO, 1, MAX_FRACTION_DIGITS)


def is_large(step: Number) -> bool:
    """Return whether the automaton of a step's multiples has too many states."""
    most = MAX_DIVISOR if Fraction(step).denominator == 1 else MAX_DIVISOR_OF_FRACTIONS
    return largest_divisor(step) > most


@lru_cache(maxsize=1024)
def largest_divisor(step: Number) -> int:
    """Return the largest number that the digits of a step's multiples are divided by.

    The zeros at its end do not count. It is 4096 for 4096, and 5 for 50. It is 3125 for 1/32: of the digits after the
    point, there are at most five.
    """
    fraction = Fraction(step)
    whole = (fraction * 10 ** _places(fraction)).numerator
    return max(_without_zeros(whole)[0], _without_zeros(fraction.numerator)[0])


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
    choices = choices_of(((step, outside),))
    if (divisor > 1 or outside) and may_count(choices):
        return digits_of_choices(low, high, choices)
    found = integer_range(*_bounds_of_digits(low, high, divisor))
    if divisor > 1:
        found = intersection(found, sequence(_SIGN, _whole_multiples(divisor)))
    return _without_multiples(found, outside)


def choices_of(sets: Iterable[tuple[Number, tuple[Number, ...]]]) -> Choices:
    """Return the integers of sets of numbers, each given by a step and steps whose multiples are left out."""
    return tuple([(step_in_integers(step), tuple(map(step_in_integers, outside))) for step, outside in sets])


def digits_of_choices(low: Number | None, high: Number | None, choices: Choices) -> Regex:
    """Return the integers in digits between two bounds that are in one of some sets; 1 is no step, or the only one."""
    return integers_of(*_bounds_of_digits(low, high, max(step for step, _ in choices)), choices)


def _bounds_of_digits(low: Number | None, high: Number | None, divisor: int) -> tuple[int, int]:
    """Return bounds for the multiples of a divisor between two bounds, in digits; None stands for no bound."""
    if divisor > 1:
        of_bounds = (len(str(abs(ceil(bound)))) + 1 for bound in (low, high) if bound is not None)
        digits = max(MAX_MULTIPLE_DIGITS, len(str(divisor)) * 3 // 2, *of_bounds)
    else:
        digits = max(MAX_INTEGER_DIGITS, len(str(max(ceil(low or 0), -floor(high or 0), 0))))
    most: int = 10**digits - 1
    return -most if low is None else ceil(low), most if high is None else floor(high)


def multiples_of_any_length(
    low: Number | None, high: Number | None, step: Number, outside: tuple[Number, ...]
) -> Regex:
    """Return `digits_of_multiples` without a bound on the digits; one of the two bounds is None.

    The automaton has a state for each remainder. With the bound it has one for each remainder and number of digits.
    """
    found = _any_length(None if low is None else ceil(low), None if high is None else floor(high))
    found = intersection(found, sequence(_SIGN, _whole_multiples(step_in_integers(step))))
    return _without_multiples(found, outside)


def _without_multiples(found: Regex, steps: tuple[Number, ...]) -> Regex:
    """Return integers in digits without the multiples of some steps; those of many steps are one term."""
    divisors = sorted({step_in_integers(step) for step in steps})
    if len(divisors) > MAX_EXCLUDED_STEPS:
        refused = Multiple(lcm(*divisors), 0, tuple(divisors))
        return difference(found, sequence(_SIGN, intersection(plus(_DIGIT), refused)))
    for divisor in divisors:
        found = difference(found, sequence(_SIGN, _whole_multiples(divisor)))
    return found


def _any_length(low: int | None, high: int | None) -> Regex:
    """Return the integers in digits on one side of a bound, or all, with any number of digits."""
    positive = sequence(_NONZERO, star(_DIGIT))
    if low is None and high is None:
        return choice(_ZERO, sequence(_SIGN, positive))
    sign, other_sign, least = (EMPTY, _MINUS, low) if low is not None else (_MINUS, EMPTY, -(high or 0))
    if least is not None and least > 0:  # the numbers next to 0 are left out
        return sequence(sign, difference(positive, integer_range(1, least - 1)))
    near = integer_range(1, -(least or 0))
    return choice(_ZERO, sequence(sign, positive), sequence(other_sign, near))


def other_forms(
    low: Number | None,
    low_open: bool,
    high: Number | None,
    high_open: bool,
    step: Number | None,
    outside: tuple[Number, ...],
    *,
    plain: bool = False,
) -> Regex:
    """Return the numbers with a point or an exponent between two bounds that are multiples of a step.

    Integers that are no multiples of many steps have none of these forms; they are written in digits.

    Args:
        low: the lower bound; None for none.
        low_open: whether the lower bound itself is left out.
        high: the upper bound; None for none.
        high_open: whether the upper bound itself is left out.
        step: the step; None for all numbers.
        outside: steps whose multiples are left out.
        plain: no exponents.
    """
    if step is not None and Fraction(step).denominator == 1 and len(outside) > MAX_EXCLUDED_STEPS:
        return NOTHING
    if step is not None and are_counted(step, outside):
        choices = choices_of(((step, outside),))
        if may_count(choices):
            return counted_forms(low, low_open, high, high_open, choices, plain=plain)
    reads_all = step is not None and Fraction(step).numerator == 1 and not outside
    has_integers = all(Fraction(step_in_integers(step or 1)) % other for other in outside)
    places = MAX_SAFE_DIGITS if step is None else min(_places(Fraction(step)), MAX_SAFE_DIGITS)
    found: list[Regex] = []
    # Part by part, with few sizes and exponents: it would take long to see that the others have no number in the range.
    for sign, least, most in ((EMPTY, low or 0, high), (_MINUS, -(high or 0), None if low is None else -low)):
        sizes = _sizes(least, most, reads_all)
        if not has_integers:
            sizes &= _SHORT
        if not sizes:
            continue
        # A mask would search long to see that digits without an exponent are no number as large as that.
        in_digits = sizes & ~_LARGE if least >= 10**MAX_INTEGER_DIGITS else sizes
        forms: list[tuple[Regex, tuple[int, int] | None]] = [(_plain(in_digits, places), None)]
        if not plain and (step is None or has_exponents(step)):
            forms.append((_scientific(sizes, *_middle(least, most)), _exponents(least, most, sizes)))
        for form, exponents in forms:
            part = sequence(sign, form)
            if low is not None or high is not None:
                part = intersection(part, number_range(low, low_open, high, high_open))
            if step is not None and outside:
                part = intersection(part, _some_multiples(step, outside, exponents))
            elif step is not None:
                part = intersection(part, _multiples(step, exponents))
            else:
                for other in outside:
                    part = difference(part, _multiples(other, exponents))
            found.append(part)
    return choice(*found)


def has_exponents(step: Number) -> bool:
    """Return whether the multiples of a step are also written with an exponent."""
    return _factors(Fraction(step))[0] <= MAX_ODD_FACTOR


def are_counted(step: Number, outside: tuple[Number, ...]) -> bool:
    """Return whether the remainders of integers tell the multiples of a step that are multiples of none of others."""
    return (step != 1 or bool(outside)) and all(Fraction(number).denominator == 1 for number in (step, *outside))


def counted_forms(
    low: Number | None,
    low_open: bool,
    high: Number | None,
    high_open: bool,
    choices: Choices,
    *,
    plain: bool = False,
) -> Regex:
    """Return `other_forms` of the members of sets of integers that remainders tell; of all the sets at once."""
    choices = tuple([(step, refused) for step, refused in choices if len(refused) <= MAX_EXCLUDED_STEPS])
    scientific = tuple([(step, refused) for step, refused in choices if _factors(Fraction(step))[0] <= MAX_ODD_FACTOR])
    is_free = low is None and high is None
    if not is_free and _without_zeros(modulus_of(scientific))[0] > MAX_MODULUS_OF_EXPONENTS:
        scientific = ()
    has_zero = any(not refused for _, refused in choices)
    found: list[Regex] = [_whole_forms(low, low_open, high, high_open, choices)] if choices else []
    for sign, least, most in ((EMPTY, low or 0, high), (_MINUS, -(high or 0), None if low is None else -low)):
        sizes = _sizes(least, most, False)
        parts: list[Regex] = [_plain(_ZEROS, 0)] if sizes & _ZEROS and has_zero else []
        if sizes and scientific and not plain:
            multiples: list[Regex] = [_counted_scientific(scientific, *_exponents(least, most, sizes))]
            if any(not refused for _, refused in scientific):
                multiples.append(_ZERO_WITH_EXPONENT)
            parts.append(intersection(_scientific(sizes, *_middle(least, most)), choice(*multiples)))
        part = sequence(sign, choice(*parts))
        found.append(part if is_free else intersection(part, number_range(low, low_open, high, high_open)))
    return choice(*found)


def _middle(low: Number, high: Number | None) -> tuple[int, int]:
    """Return the least and the largest integer of size `_MIDDLE` between two bounds."""
    last = MAX_EXACT_INTEGER if high is None else min(MAX_EXACT_INTEGER, floor(high))
    return max(10**MAX_SAFE_DIGITS, ceil(low)), last


def _whole_forms(low: Number | None, low_open: bool, high: Number | None, high_open: bool, choices: Choices) -> Regex:
    """Return the integers of some sets between two bounds, but 0, with a point and zeros; up to MAX_EXACT_INTEGER."""
    least = -MAX_EXACT_INTEGER if low is None else floor(low) + 1 if low_open else ceil(low)
    most = MAX_EXACT_INTEGER if high is None else ceil(high) - 1 if high_open else floor(high)
    positive = magnitudes_of(max(least, 1), min(most, MAX_EXACT_INTEGER), choices)
    negative = magnitudes_of(max(-most, 1), min(-least, MAX_EXACT_INTEGER), choices)
    return sequence(choice(positive, sequence(_MINUS, negative)), _POINT, _POINT_ZEROS)


_ZEROS, _SHORT, _MIDDLE, _LARGE = 1, 2, 4, 8
"""Sizes of numbers that doubles tell apart: 0, up to `MAX_SAFE_DIGITS` digits, integers up to 2**53, larger numbers."""


def _sizes(low: Number, high: Number | None, reads_all: bool) -> int:
    """Return the sizes of the numbers between two bounds with `high` >= 0, as bits; larger ones only if `reads_all`."""
    if high is not None and high < 0:
        return 0
    sizes = _ZEROS if low <= 0 else 0
    if (high is None or high > 0) and low < 10**MAX_SAFE_DIGITS:
        sizes |= _SHORT
    if (high is None or high >= 10**MAX_SAFE_DIGITS) and low <= MAX_EXACT_INTEGER:
        sizes |= _MIDDLE
    if reads_all and (high is None or high >= MAX_EXACT_INTEGER):
        sizes |= _LARGE
    return sizes


def _exponents(low: Number, high: Number | None, sizes: int) -> tuple[int, int]:
    """Return the smallest and the largest exponent of numbers between two bounds, other than 0, in scientific form."""
    last = _MAX_EXPONENT if sizes & _LARGE else MAX_SAFE_DIGITS
    if high is not None:
        last = min(last, decade(high) if high > 0 else 0)
    return decade(low) if low > 0 else _MIN_EXPONENT, last


@cache
def _plain(sizes: int, most_places: int) -> Regex:
    """Return numbers of some sizes with a point that doubles tell apart, without sign.

    Args:
        sizes: as bits.
        most_places: the largest number of digits after the point, without zeros at the end; up to `MAX_SAFE_DIGITS`.
    """
    forms: list[Regex] = []
    if sizes & _ZEROS:
        forms.append(sequence(_ZERO, _POINT, _POINT_ZEROS))
    if sizes & _SHORT:
        for places in range(most_places + 1):
            before = MAX_SAFE_DIGITS - places
            whole = choice(_ZERO, sequence(_NONZERO, Repeat(_DIGIT, 0, before - 1))) if before else _ZERO
            more = Repeat(_ZERO, 0 if places else 1, MAX_FRACTION_DIGITS - places)
            forms.append(sequence(whole, _POINT, repeat(_DIGIT, places, places), more))
    if sizes & _MIDDLE:
        forms.append(sequence(integer_range(10**MAX_SAFE_DIGITS, MAX_EXACT_INTEGER), _POINT, _POINT_ZEROS))
    if sizes & _LARGE:
        whole = sequence(_NONZERO, Repeat(_DIGIT, MAX_SAFE_DIGITS + 1, MAX_INTEGER_DIGITS - 1))
        forms.append(sequence(whole, _POINT, Repeat(_DIGIT, 1, MAX_FRACTION_DIGITS)))
    return choice(*forms)


@lru_cache(maxsize=1024)
def _scientific(sizes: int, first: int, last: int) -> Regex:
    """Return numbers of some sizes with an exponent that doubles tell apart, without sign.

    Args:
        sizes: as bits.
        first: the least of size `_MIDDLE`. Without these bounds, a mask may search long to see that no other bound
            leaves one: each of these numbers has 16 digits.
        last: the largest of size `_MIDDLE`.
    """
    forms: list[Regex] = []
    if sizes & _ZEROS:
        forms.append(_ZERO_WITH_EXPONENT)
    if sizes & _SHORT:
        zeros = Repeat(_ZERO, 0, MAX_MANTISSA_DIGITS - MAX_SAFE_DIGITS + 1)
        mantissa = sequence(_NONZERO, optional(sequence(_POINT, Repeat(_DIGIT, 1, MAX_SAFE_DIGITS - 1), zeros)))
        forms.append(sequence(mantissa, exponent_range(_MIN_EXPONENT, MAX_SAFE_DIGITS - 1)))
    if sizes & _MIDDLE and first <= last:
        forms.append(scientific_range(first, False, last, False, whole=True))
    if sizes & _LARGE:
        forms.append(scientific_range(MAX_EXACT_INTEGER, False, None, False))
    return choice(*forms)


_ANY_EXPONENT = sequence(byte_set("eE"), plus(byte_set("+-0123456789")))
_ZERO_WITH_EXPONENT = sequence(
    _ZERO, optional(sequence(_POINT, Repeat(_ZERO, 1, MAX_FRACTION_DIGITS))), exponent_range(-99, 99)
)


@lru_cache(maxsize=1024)
def _multiples(step: Number, exponents: tuple[int, int] | None) -> Regex:
    """Return exactly the multiples of a step among the texts of `_plain`; of `_scientific` if there are `exponents`."""
    if exponents is None:
        return sequence(_SIGN, choice(*_plain_multiples(Fraction(step))))
    return sequence(_SIGN, choice(*_scientific_multiples(Fraction(step), *exponents), _ZERO_WITH_EXPONENT))


def _plain_multiples(step: Fraction) -> Iterator[Regex]:
    """Yield the multiples with a point: by the number of digits after it, all digits together are a multiple."""
    places = _places(step)
    for written in range(1, places + 1):
        digits = sequence(plus(_DIGIT), _POINT, repeat(_DIGIT, written, written))
        yield _multiples_of((step * 10**written).numerator, digits)
    if places:
        digits = sequence(plus(_DIGIT), _POINT, repeat(_DIGIT, places, places))
        yield sequence(_multiples_of((step * 10**places).numerator, digits), plus(_ZERO))
    else:
        yield sequence(_whole_multiples(step.numerator), _POINT, plus(_ZERO))


@lru_cache(maxsize=1024)
def _some_multiples(step: Number, outside: tuple[Number, ...], exponents: tuple[int, int] | None) -> Regex:
    """Return the texts of `_multiples` that are multiples of none of some other steps, but 0."""
    places = _places(Fraction(step))
    scale = 10**places
    choices = choices_of([(Fraction(step) * scale, tuple([Fraction(other) * scale for other in outside]))])
    if exponents is not None:
        return sequence(_SIGN, _counted_scientific(choices, *exponents, places))
    found: list[Regex] = []
    for used in range(places + 1):  # digits after the point, of which the last is not 0
        shares = _shares(choices, places - used, used > 0)
        for divisor, refused in shares:
            last = sequence(_POINT, repeat(_DIGIT, used - 1, used - 1), _NONZERO) if used else EMPTY
            digits = _multiples_of(divisor, sequence(plus(_DIGIT), last))
            digits = difference(digits, choice(*map(Multiple, refused))) if refused else digits
            found.append(sequence(digits, star(_ZERO) if used else sequence(_POINT, plus(_ZERO))))
    return sequence(_SIGN, choice(*found))


def _places(step: Fraction) -> int:
    """Return the largest number of digits that multiples have after the point, without zeros at the end."""
    places = 0
    while 10**places % step.denominator:
        places += 1
    return places


def _scientific_multiples(step: Fraction, lowest: int, highest: int) -> Iterator[Regex]:
    """Yield the multiples with an exponent in a range.

    There is an alternative for each number that the digits may have to be a multiple of. An automaton counts the
    remainders once for it, beside the digits after the point: their number decides which exponents may follow.
    """
    odd, prime, least, spared = _factors(step)
    for power in range(spared + 1):
        forms: list[Regex] = []
        for used in range(MAX_MANTISSA_DIGITS + 1):
            first = used + least - power
            last = highest if power == 0 else min(first, highest)
            first = max(first, lowest)
            if first <= last:
                forms.append(sequence(_mantissa(used), exponent_range(first, last)))
        found = choice(*forms)
        divisor = odd * prime**power
        yield found if divisor == 1 else intersection(found, sequence(_mantissas_of(divisor), _ANY_EXPONENT))


@cache
def _mantissa(used: int) -> Regex:
    """Return the mantissas with some number of digits after the point, without zeros at the end; these may follow."""
    if not used:
        return sequence(_NONZERO, optional(sequence(_POINT, plus(_ZERO))))
    return sequence(_NONZERO, _POINT, repeat(_DIGIT, used - 1, used - 1), _NONZERO, star(_ZERO))


def _with_exponents(first: int, last: int | None, lowest: int, highest: int) -> Regex:
    """Return the numbers m · 10^t in scientific form, where m does not end in 0, by bounds for t.

    The digits are read one by one; an alternative for each number of digits would make larger states.

    Args:
        first: the least t.
        last: the largest t; None for no bound.
        lowest: the least exponent that is written.
        highest: the largest exponent that is written.
    """
    found: Regex = NOTHING  # what follows `used - 1` digits after the point
    exponents: Regex = NOTHING
    for used in range(MAX_MANTISSA_DIGITS, -1, -1):
        least, most = max(used + first, lowest), highest if last is None else min(used + last, highest)
        exponents = exponent_range(least, most) if least <= most else NOTHING
        if used:
            found = choice(sequence(_NONZERO, star(_ZERO), exponents), sequence(_DIGIT, found))
    zeros = sequence(optional(sequence(_POINT, plus(_ZERO))), exponents)
    return sequence(_NONZERO, choice(zeros, sequence(_POINT, found)))


@lru_cache(maxsize=1024)
def _counted_scientific(choices: Choices, lowest: int, highest: int, places: int = 0) -> Regex:
    """Return the members of sets of integers, divided by 10**places, with an exponent in a range, but 0.

    A number m · 10^t, where m does not end in 0, is an integer if t >= 0. It is a multiple of 12 if m is one of
    12, of 6 or of 3, for t = 0, t = 1 or t >= 2. So there is an alternative for each such condition on m.
    """
    numbers = [number for step, refused in choices for number in (step, *refused)]
    largest = max(_factors(Fraction(number))[2] for number in numbers)  # from here on, t makes no difference
    found: list[Regex] = []
    first = 0
    for power in range(largest + 1):
        shares = _shares(choices, power)
        if power < largest and shares == _shares(choices, power + 1):
            continue
        if shares:
            form = _with_exponents(first - places, power - places if power < largest else None, lowest, highest)
            found.append(_with_mantissas(form, shares))
        first = power + 1
    return choice(*found)


def _shares(choices: Choices, power: int, is_last: bool = True) -> Choices:
    """Return the sets of the integers m with m · 10**power in some sets; where `is_last`, m does not end in 0."""
    found: dict[tuple[int, tuple[int, ...]], None] = {}
    for step, refused in choices:
        rest = step // gcd(step, 10**power)
        others = tuple(number // gcd(number, 10**power) for number in refused)
        if is_last:
            if rest % 10 == 0:
                continue
            others = tuple([number for number in others if number % 10])
        if all(rest % number for number in others):
            found[rest, others] = None
    return tuple(found)


def _with_mantissas(form: Regex, choices: Choices) -> Regex:
    """Return those numbers in scientific form whose digits are in one of some sets, without the zeros at their end."""
    if (1, ()) in choices:
        return form
    parts: list[Regex] = []
    for step, refused in choices:
        to_last = sequence(star(byte_set("0123456789.")), _NONZERO)
        to_last = to_last if step == 1 else intersection(Multiple(step), to_last)
        others = choice(*map(Multiple, refused))
        parts.append(difference(to_last, others) if refused else to_last)
    return intersection(form, sequence(choice(*parts), star(byte_set("0.")), _ANY_EXPONENT))


def _mantissas_of(divisor: int) -> Regex:
    """Return digits, with a point or not, that are a multiple of a divisor without the zeros at their end."""
    to_last = intersection(Multiple(divisor), sequence(star(byte_set("0123456789.")), _NONZERO))
    return sequence(to_last, star(byte_set("0.")))


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
