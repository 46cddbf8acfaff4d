"""Sets of numbers: an interval, integrality, multiples; or finitely many values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, gcd

__all__ = ["ALL_NUMBERS", "INTEGERS", "Number", "NumberSet"]

Number = int | Fraction

_INTEGRAL = (int, type(None))


@dataclass(slots=True, unsafe_hash=True)
class NumberSet:
    """Numbers that satisfy all of these.

    Attributes:
        low, high: exact bounds, or None.
        low_open, high_open: whether the bound itself is left out.
        multiple: the numbers are multiples of it (1 for integers), or None.
        outside: the numbers are multiples of none of these.
        values: the numbers are these, each with the text to write it; or None. More than one text for a value is
            several entries.
    """

    low: Number | None = None
    low_open: bool = False
    high: Number | None = None
    high_open: bool = False
    multiple: Number | None = None
    outside: tuple[Number, ...] = ()
    values: tuple[tuple[Number, str], ...] | None = None

    @property
    def is_integer(self) -> bool:
        """Whether all members are integers by what is asked of them."""
        return self.multiple is not None and Fraction(self.multiple).denominator == 1

    def contains(self, value: Number) -> bool:
        """Whether a number is a member."""
        if self.low is not None and (value < self.low or (value == self.low and self.low_open)):
            return False
        if self.high is not None and (value > self.high or (value == self.high and self.high_open)):
            return False
        if self.multiple is not None and value % self.multiple:
            return False
        if self.values is not None and all(value != known for known, _ in self.values):
            return False
        return all(value % divisor for divisor in self.outside)

    def intersect(self, other: NumberSet) -> NumberSet | None:
        """The numbers in both, or None when there are none (which is found out exactly but for `outside`)."""
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
            multiple = other.multiple if multiple is None else _common_multiple(multiple, other.multiple)
        outside = self.outside + tuple(d for d in other.outside if d not in self.outside)
        return NumberSet(low, low_open, high, high_open, multiple, outside).reduced()

    def _filter(self, other: NumberSet) -> NumberSet | None:
        values = self.values or ()
        if other.values is not None:
            known = {value for value, _ in other.values}
            kept = tuple(pair for pair in values if pair[0] in known)
        else:
            kept = tuple(pair for pair in values if other.contains(pair[0]))
        return NumberSet(values=kept) if kept else None

    def reduced(self) -> NumberSet | None:
        """The same set with bounds that are members where multiples are asked for, or None when it is empty."""
        multiple = self.multiple
        if multiple is not None:
            if any(not multiple % divisor for divisor in self.outside):
                return None
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
            if low != self.low or high != self.high or self.low_open or self.high_open:
                return NumberSet(low, False, high, False, multiple, self.outside).reduced()
        if self.low is not None and self.high is not None:
            if self.low > self.high or (self.low == self.high and (self.low_open or self.high_open)):
                return None
            if self.low == self.high and any(not self.low % divisor for divisor in self.outside):
                return None
        return self

    def complement(self) -> list[NumberSet]:
        """Sets whose union is every other number."""
        if self.values is not None:
            return _gaps(sorted({value for value, _ in self.values}))
        parts: list[NumberSet] = []
        if self.low is not None:
            parts.append(NumberSet(high=self.low, high_open=not self.low_open))
        if self.high is not None:
            parts.append(NumberSet(low=self.high, low_open=not self.high_open))
        if self.multiple is not None:
            parts.append(NumberSet(outside=(self.multiple,)))
        parts.extend(NumberSet(multiple=divisor) for divisor in self.outside)
        return parts


def _common_multiple(left: Number, right: Number) -> Number:
    a, b = Fraction(left), Fraction(right)
    denominator = a.denominator * b.denominator // gcd(a.denominator, b.denominator)
    x, y = int(a * denominator), int(b * denominator)
    common = Fraction(x * y // gcd(x, y), denominator)
    return common.numerator if common.denominator == 1 else common


def _gaps(values: list[Number]) -> list[NumberSet]:
    """The open intervals before, between and after sorted values."""
    parts = [NumberSet(high=values[0], high_open=True)]
    parts += [NumberSet(low, True, high, True) for low, high in pairwise(values)]
    parts.append(NumberSet(low=values[-1], low_open=True))
    return parts


ALL_NUMBERS = (NumberSet(),)
INTEGERS = (NumberSet(multiple=1),)
