"""The numbers of a set that are different once they are read, if they are few.

An array of three such numbers that must differ needs three of them, so it is impossible if a set has only two. A text
with a point or an exponent is read as the nearest double. So the set of numbers from 1 to 1.0000000000000002 has two:
all texts between them are read as one of them. Multiples of a fraction are only written where doubles hold them, with
at most 15 digits (`algebra/safe_numbers.py`): there is one multiple of 1e-18 from 0.1 to 0.1000000000000002.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from structgen.schema.algebra.numbers import DIGITS, OTHER_FORMS, NumberSet
from structgen.schema.algebra.safe_numbers import MAX_SAFE_DIGITS, Number
from structgen.schema.json_text.multiples import has_exponents, is_large
from structgen.schema.json_text.number_terminals import listed_multiples
from structgen.schema.json_text.numbers import exact
from structgen.schema.json_text.plain_numbers import places_between

__all__ = ["different_numbers"]

_MAX_LISTED = 200_000  # numbers between two bounds, of which those that are excluded are found one by one


def different_numbers(numbers: NumberSet, most: int, *, plain: bool) -> set[Number] | None:
    """Return the numbers of a set that are different once they are read, and perhaps more of its members.

    The result is None if there are more than `most`.

    Args:
        numbers: the set.
        most: the largest number of results.
        plain: numbers are written without exponents where they can be, see `plain_numbers.py`.
    """
    if numbers.values is None and not numbers.is_integer and (numbers.multiple is not None or numbers.outside):
        members = _safe_numbers(numbers, most, plain=plain)
        return None if members is None or len(members) > most else members
    listed = _members(numbers, most, plain=plain)
    if listed is None:
        return None
    found = (
        {value for value in listed if not value % 1 and numbers.contains(value)} if numbers.written & DIGITS else set()
    )
    if numbers.written & OTHER_FORMS:
        found |= {value for value in map(_read, listed) if numbers.contains(value)}
    return found if len(found) <= most else None


def _safe_numbers(numbers: NumberSet, most: int, *, plain: bool) -> set[Number] | None:
    """Return `different_numbers` of fractions that are multiples of a step, or are no multiples."""
    found: set[Number] = set()
    plain = plain and not (numbers.multiple is not None and is_large(numbers.multiple))
    if numbers.written & DIGITS:
        integers = replace(numbers, written=DIGITS).reduced()
        listed = [] if integers is None else _members(integers, most, plain=plain)
        if listed is None:
            return None
        found.update(value for value in listed if numbers.contains(value))
    if numbers.written & OTHER_FORMS:
        safe = numbers.safe_members(most, MAX_SAFE_DIGITS) if plain else _safe_fractions(numbers, most)
        if plain and not found and safe == []:  # where nothing is plain, all forms are written
            safe = _safe_fractions(numbers, most)
        if safe is None:
            return None
        found.update(safe)
    return found


def _safe_fractions(numbers: NumberSet, most: int) -> list[Number] | None:
    """Return the safe members of a set of fractions, written in any form; None if there are more than `most`."""
    listed, step = listed_multiples(numbers), numbers.multiple
    if listed is not None:
        return list(listed)
    is_pointed = step is not None and (is_large(step) or not has_exponents(step))
    return numbers.safe_members(most, MAX_SAFE_DIGITS if is_pointed else None)


def _members(numbers: NumberSet, most: int, *, plain: bool) -> list[Number] | None:
    """Return the members of a set, or those that others are read as; None if they are many."""
    size, low, high = numbers.size(), numbers.low, numbers.high
    if size is not None and size <= (_MAX_LISTED if numbers.outside else most):
        return numbers.listed()
    if low is None or high is None or numbers.is_integer:
        return None
    if plain and (places := places_between(low, high)) is not None:
        unit = Fraction(1, 10**places)
        steps = range(math.ceil(low / unit), math.floor(high / unit) + 1)
        if len(steps) <= most:
            return [unit * number for number in steps]
    doubles = _doubles(low, high, most)
    whole = range(math.ceil(low), math.floor(high) + 1)
    return None if doubles is None or len(whole) > most else [*doubles, *whole]


def _read(value: Number) -> Number:
    """Return the number that a text with a point or an exponent is read as."""
    try:
        return exact(float(value))
    except OverflowError:
        return value


def _doubles(low: Number, high: Number, most: int) -> list[Number] | None:
    """Return the doubles next to the numbers between two bounds; None if there are more than `most`."""
    try:
        at, last = float(low), float(high)
    except OverflowError:
        return None
    found: list[Number] = []
    while at <= last:
        if len(found) == most:
            return None
        found.append(exact(at))
        at = math.nextafter(at, math.inf)
    return found
