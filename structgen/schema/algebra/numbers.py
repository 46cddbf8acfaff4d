"""Sets of numbers: an interval, multiples and non-multiples, or finitely many values; and the forms of writing them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, gcd

from structgen.schema.algebra.safe_numbers import Number, common_multiple, safe_runs

__all__ = ["ALL_NUMBERS", "ANY_FORM", "DIGITS", "INTEGERS", "OTHER_FORMS", "Number", "NumberSet"]

DIGITS = 1
"""The form of integers in digits: `-?[0-9]+`."""
OTHER_FORMS = 2
"""The forms of numbers with a point or an exponent."""
ANY_FORM = DIGITS | OTHER_FORMS

_INTEGRAL = (int, type(None))
_TRIED_TIMES = 16


@dataclass(slots=True, unsafe_hash=True)
class NumberSet:
    """Numbers that satisfy all of these conditions.

    Attributes:
        low: the exact lower bound, or None.
        low_open: the lower bound itself is excluded.
        high: the exact upper bound, or None.
        high_open: the upper bound itself is excluded.
        multiple: the numbers are multiples of it (1 for integers), or None.
        outside: the numbers are multiples of none of these.
        values: all numbers of the set, each once; None if it is not given as a list.
        written: the forms that may be written, of `DIGITS` and `OTHER_FORMS`. In draft 4, and for types that know
            integers, `1.0` is no integer.
    """

    low: Number | None = None
    low_open: bool = False
    high: Number | None = None
    high_open: bool = False
    multiple: Number | None = None
    outside: tuple[Number, ...] = ()
    values: tuple[Number, ...] | None = None
    written: int = ANY_FORM

    @property
    def is_integer(self) -> bool:
        """The conditions allow only integers."""
        return self.multiple is not None and Fraction(self.multiple).denominator == 1

    def contains(self, value: Number) -> bool:
        """Return whether a number is a member, in some form."""
        if self.low is not None and (value < self.low or (value == self.low and self.low_open)):
            return False
        if self.high is not None and (value > self.high or (value == self.high and self.high_open)):
            return False
        if self.multiple is not None and value % self.multiple:
            return False
        if self.values is not None and value not in self.values:
            return False
        return all(value % divisor for divisor in self.outside)

    def intersect(self, other: NumberSet) -> NumberSet | None:
        """Return the numbers that are in both, or None if there are none."""
        written = self.written & other.written
        if not written:
            return None
        if self.values is not None or other.values is not None:
            return self._filter(other) if self.values is not None else other._filter(self)
        low, low_open = self.low, self.low_open
        if other.low is not None and (low is None or other.low > low or (other.low == low and other.low_open)):
            low, low_open = other.low, other.low_open
        high, high_open = self.high, self.high_open
        if other.high is not None and (high is None or other.high < high or (other.high == high and other.high_open)):
            high, high_open = other.high, other.high_open
        multiple = self.multiple
        if other.multiple is not None:
            multiple = other.multiple if multiple is None else common_multiple(multiple, other.multiple)
        outside = self.outside + tuple(d for d in other.outside if d not in self.outside)
        return NumberSet(low, low_open, high, high_open, multiple, outside, None, written).reduced()

    def _filter(self, other: NumberSet) -> NumberSet | None:
        values = self.values or ()
        if other.values is not None:
            known = set(other.values)
            kept = tuple(value for value in values if value in known)
        else:
            kept = tuple(value for value in values if other.contains(value))
        return NumberSet(values=kept, written=self.written & other.written).reduced()

    def reduced(self) -> NumberSet | None:
        """Return the same set with bounds that are multiples, where there is a `multiple`; None if it is empty."""
        if self.written == DIGITS and not self.is_integer:
            return self._digits_only()
        if self.values is not None:
            return self if self.values else None
        multiple = self.multiple
        if self.outside:
            if multiple is not None and any(not multiple % divisor for divisor in self.outside):
                return None
            outside = _needed(self.outside, multiple)
            if outside != self.outside:
                return replace(self, outside=outside).reduced()
        if multiple is not None:
            low, high = self.low, self.high
            closed = not self.low_open and not self.high_open
            if multiple == 1 and closed and type(low) in _INTEGRAL and type(high) in _INTEGRAL and not self.outside:
                return None if low is not None and high is not None and low > high else self
            if low is not None:
                steps = low / Fraction(multiple)
                low = multiple * (floor(steps) + 1 if self.low_open else ceil(steps))
            if high is not None:
                steps = high / Fraction(multiple)
                high = multiple * (ceil(steps) - 1 if self.high_open else floor(steps))
            low, high = _whole(low), _whole(high)
            if low != self.low or high != self.high or self.low_open or self.high_open:
                return NumberSet(low, False, high, False, multiple, self.outside, None, self.written).reduced()
        if self.low is not None and self.high is not None:
            if self.low > self.high or (self.low == self.high and (self.low_open or self.high_open)):
                return None
            if self.outside and not self._has_member(self.low, self.high):
                return None
        return self

    def _digits_only(self) -> NumberSet | None:
        """Reduce a set of numbers in digits, all of which are integers."""
        if self.values is not None:
            kept = tuple(value for value in self.values if not value % 1)
            return replace(self, values=kept) if kept else None
        multiple = 1 if self.multiple is None else common_multiple(1, self.multiple)
        return replace(self, multiple=multiple).reduced()

    def _has_member(self, low: Number, high: Number) -> bool:
        """Return whether there is a member between two bounds that satisfy all conditions but `outside`.

        Of 2**k neighbours, k divisors leave at least one, unless they exclude all numbers (Kanold's bound of
        Jacobsthal's function).
        """
        if self.multiple is None:
            return low < high or all(low % divisor for divisor in self.outside)
        neighbours = min(int((high - low) / self.multiple), 2 ** len(self.outside))
        steps = (low + i * self.multiple for i in range(neighbours + 1))
        return any(all(value % divisor for divisor in self.outside) for value in steps)

    def safe_members(self, most: int, max_places: int | None = None) -> list[Number] | None:
        """Return the members that a reader of doubles gets exactly; None if there may be more than `most`.

        Args:
            most: the number; 16 times as many are tried.
            max_places: see `safe_runs`.
        """
        found: list[Number] = []
        tried = 0
        for first, step, count in safe_runs(self.low, self.high, self.multiple, max_places):
            tried += count
            if tried > most * _TRIED_TIMES:
                return None
            run = (_whole(first + number * step) for number in range(count))
            found += [value for value in run if value is not None and self.contains(value)]
        return found if len(found) <= most else None

    def size(self) -> int | None:
        """Return an upper bound on the number of members; None if there are infinitely many."""
        if self.values is not None:
            return len(self.values)
        if self.low is None or self.high is None:
            return None
        if self.multiple is None:
            return 1 if self.low == self.high else None
        return floor(self.high / Fraction(self.multiple)) - ceil(self.low / Fraction(self.multiple)) + 1

    def listed(self) -> list[Number]:
        """Return the members of a set with a finite `size`, in order."""
        if self.values is not None:
            return sorted(self.values)
        if self.low is None or self.high is None:
            return []
        if self.multiple is None:
            return [self.low] if self.contains(self.low) else []
        step = self.multiple
        steps = range(ceil(self.low / Fraction(step)), floor(self.high / Fraction(step)) + 1)
        return [step * number for number in steps if self.contains(step * number)]

    def complement(self) -> list[NumberSet]:
        """Return sets whose union is every other number."""
        parts = [NumberSet(written=ANY_FORM & ~self.written)] if self.written != ANY_FORM else []
        if self.values is not None:
            return [*parts, *_gaps(sorted(self.values))]
        if self.low is not None:
            parts.append(NumberSet(high=self.low, high_open=not self.low_open))
        if self.high is not None:
            parts.append(NumberSet(low=self.high, low_open=not self.high_open))
        if self.multiple is not None:
            parts.append(NumberSet(outside=(self.multiple,)))
        parts.extend(NumberSet(multiple=divisor) for divisor in self.outside)
        return parts


def _needed(outside: tuple[Number, ...], multiple: Number | None) -> tuple[Number, ...]:
    """Return the smallest divisors that exclude the same numbers.

    For example, of the multiples of 429, 6 excludes the same as 2, and 8 nothing beyond that.
    """
    if isinstance(multiple, int):
        outside = tuple(_apart(divisor, multiple) if isinstance(divisor, int) else divisor for divisor in outside)
    outside = tuple(dict.fromkeys(outside))
    if len(outside) == 1:
        return outside
    return tuple(d for d in outside if not any(d != other and not d % other for other in outside))


def _apart(divisor: int, multiple: int) -> int:
    """Return the least number with the same multiples as a divisor, among the multiples of another number."""
    missing = divisor // gcd(divisor, multiple)  # the factor that makes a multiple one of the divisor too
    rest = divisor
    while (shared := gcd(rest, missing)) > 1:
        rest //= shared
    return divisor // rest


def _whole(value: Number | None) -> Number | None:
    """Return a whole Fraction as an int: sets are compared by equality and written by type."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def _gaps(values: list[Number]) -> list[NumberSet]:
    """Return the open intervals before, between and after sorted values."""
    parts = [NumberSet(high=values[0], high_open=True)]
    parts += [NumberSet(low, True, high, True) for low, high in pairwise(values)]
    parts.append(NumberSet(low=values[-1], low_open=True))
    return parts


ALL_NUMBERS = (NumberSet(),)
INTEGERS = (NumberSet(multiple=1),)
