"""Regexes of integers in digits that a remainder decides, without an intersection.

The integers between two bounds are cut into blocks, each with a prefix and a number of free digits:

    from 37 to 1999     37, 38, 39, then no digit
                        4 … 9, then one digit
                        1 … 9, then two digits
                        1, then three digits

After the prefix, `Remainders` reads the free digits. It never begins what cannot end: a state knows how many digits may
follow, and whether one of the numbers that they make is a member.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from structgen.engine.automata.remainder_sets import Choices, modulus_of
from structgen.engine.regex.tree import Literal, Regex, Remainders, choice, sequence

__all__ = ["Choices", "integers_of", "magnitudes_of", "may_count"]

_MAX_MODULUS = 50_000  # a set of integers has a number for each remainder, in memory
_MINUS, _ZERO = Literal(b"-"), Literal(b"0")


def may_count(choices: Choices) -> bool:
    """Return whether the remainders of some sets of integers are few enough for `integers_of`."""
    return modulus_of(choices) <= _MAX_MODULUS


def integers_of(low: int | None, high: int | None, choices: Choices) -> Regex:
    """Return the integers between two bounds that are members of one of some sets.

    Args:
        low: the lower bound; None for none, and for any number of digits.
        high: the same, the upper bound.
        choices: the sets.
    """
    parts: list[Regex] = []
    if (low is None or low <= 0) and (high is None or high >= 0) and any(not refused for _, refused in choices):
        parts.append(_ZERO)
    if high is None or high > 0:
        parts.append(magnitudes_of(max(low or 1, 1), high, choices))
    if low is None or low < 0:
        parts.append(sequence(_MINUS, magnitudes_of(max(-(high or -1), 1), None if low is None else -low, choices)))
    return choice(*parts)


@lru_cache(maxsize=256)
def magnitudes_of(low: int, high: int | None, choices: Choices) -> Regex:
    """Return the positive integers between two bounds that are members of one of some sets.

    Args:
        low: the lower bound, at least 1.
        high: the upper bound; None for none, and for any number of digits.
        choices: the sets.
    """
    modulus = modulus_of(choices)
    size = len(str(low))
    last = 10 ** (size + 1) - 1 if high is None else high
    free: dict[int, list[int]] = {}  # by prefix: the numbers of digits that may follow
    for digits in range(size, len(str(last)) + 1):
        least, most = 10 ** (digits - 1), 10**digits - 1
        if low <= least and most <= last:
            for digit in range(1, 10):
                free.setdefault(digit, []).append(digits - 1)
        else:
            for prefix, count in _blocks(max(low, least), min(last, most)):
                free.setdefault(prefix, []).append(count)
    parts: list[Regex] = []
    for prefix, counts in sorted(free.items(), key=lambda item: str(item[0])):
        first = None
        for count in counts:
            first = count if first is None else first
            if count + 1 not in counts:
                most = None if high is None and count == size else count
                parts.append(sequence(Literal(b"%d" % prefix), Remainders(choices, prefix % modulus, first, most)))
                first = None
    return choice(*parts)


def _blocks(low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the integers from `low` to `high` in blocks of 10**k: a prefix, not empty, and the number k of digits."""
    count, size = 0, 1
    while low <= high:
        while low % (size * 10) == 0 and low >= size * 10 and low + size * 10 - 1 <= high:
            count, size = count + 1, size * 10
        while low + size - 1 > high:
            count, size = count - 1, size // 10
        yield low // size, count
        low += size
