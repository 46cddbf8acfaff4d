"""Sets of integers that a remainder decides, and how many more digits bring a number into one.

Example: the multiples of 4 that are not multiples of 6. The remainders modulo 12 of its members are 4 and 8. So after
the digit `5`, with remainder 5, the number is no member, but one more digit makes 52 or 56, which are.

The search for a text of such numbers is arithmetic here. One more digit leads from a number n to 10n … 10n + 9, and k
more to 10**k · n … 10**k · n + 10**k - 1. One of these is a member if the next member from 10**k · n on is less than
10**k away.
"""

from __future__ import annotations

from math import lcm

from structgen.engine.arrays import zeros
from structgen.engine.deadlines import spend

__all__ = ["Choices", "RemainderSet", "modulus_of"]

Choices = tuple[tuple[int, tuple[int, ...]], ...]
"""Sets of integers, each a step and divisors: the multiples of the step that are multiples of none of the divisors."""


def modulus_of(choices: Choices) -> int:
    """Return the number whose remainders decide whether an integer is a member."""
    return lcm(*[number for step, refused in choices for number in (step, *refused)])


class RemainderSet:
    """The integers that belong to at least one of some sets of multiples.

    Attributes:
        modulus: the remainders of the integers modulo this number decide.
        bytes_used: estimated memory.

    Args:
        choices: the sets of multiples.
    """

    def __init__(self, choices: Choices) -> None:
        self.modulus = modulus_of(choices)
        self._distance = zeros(self.modulus)
        self.bytes_used = 4 * self.modulus
        self._has_members = self._measure(_members(choices, self.modulus))

    def _measure(self, members: bytes) -> bool:
        """Set the distance from each remainder to that of the next member; return False if there are no members."""
        spend(self.modulus >> 4)
        last = members.rfind(1)
        if last < 0:
            return False
        nearest = members.find(1) + self.modulus
        for number in range(self.modulus - 1, -1, -1):
            if members[number]:
                nearest = number
            self._distance[number] = nearest - number
        return True

    def holds(self, remainder: int) -> bool:
        """Return whether the numbers with a remainder are members."""
        return self._has_members and self._distance[remainder] == 0

    def digits_needed(self, remainder: int, least: int) -> int:
        """Return how many more digits, `least` or more, some number with a remainder needs to become a member.

        The result is the smallest such count; -1 if there are no members.
        """
        if not self._has_members:
            return -1
        count = 0
        window = 1
        while count < least or self._distance[remainder] >= window:
            remainder = remainder * 10 % self.modulus
            if window < self.modulus:
                window *= 10
            count += 1
        return count


def _members(choices: Choices, modulus: int) -> bytes:
    """Return for each remainder 1 if the numbers with it are members, else 0."""
    found = 0
    for step, refused in choices:
        marks = bytearray(modulus)
        marks[::step] = bytearray(b"\1") * len(range(0, modulus, step))
        for divisor in refused:
            marks[::divisor] = bytearray(len(range(0, modulus, divisor)))
        found |= int.from_bytes(marks, "little")
    return found.to_bytes(modulus, "little")
