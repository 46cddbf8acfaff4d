"""Operations on masks as sets of tokens: uint32[words], token t is bit t % 32 of word t // 32."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from structgen.engine.arrays import zeros

__all__ = [
    "UndecidedTokens",
    "count",
    "has",
    "ids",
    "intersect",
    "intersection",
    "ints",
    "remove",
    "remove_both",
    "tokens_first",
    "unite",
    "unite_both",
    "without",
]

ALL_BITS = 0xFFFFFFFF  # of a word; declared as a C integer in the .pxd, so not importable from here


def ints(values: list[int]) -> array[int]:
    """Return the values as an array."""
    made = zeros(len(values))
    for index in range(len(values)):
        made[index] = values[index]
    return made


def ids(row: Any) -> list[int]:
    """Return the tokens of a mask, ascending."""
    found = []
    for index in range(len(row)):
        word = row[index]
        if word:
            for bit in range(32):
                if word >> bit & 1:
                    found.append(32 * index + bit)
    return found


def has(row: Any, token: int) -> bool:
    """Return whether a mask has a token."""
    return bool(row[token >> 5] >> (token & 31) & 1)


def count(row: Any) -> int:
    """Return the number of tokens of a mask."""
    found = 0
    for index in range(len(row)):
        word = row[index]  # counts pairs of bits at once, then groups of four, then bytes; a test would forbid vectors
        word -= word >> 1 & 0x55555555
        word = (word & 0x33333333) + (word >> 2 & 0x33333333)
        word = (word + (word >> 4)) & 0x0F0F0F0F
        word += word >> 8  # no multiplication: uncompiled, it would overflow 32 bits and warn
        found += (word + (word >> 16)) & 0xFF
    return found


def without(out: Any, row: Any, some: array[int]) -> None:
    """Write a mask without some tokens to `out`."""
    out[:] = row
    one = 1
    for index in range(len(some)):
        token = some[index]
        out[token >> 5] &= ALL_BITS ^ (one << (token & 31))


def unite(out: Any, row: Any) -> None:
    """Add the tokens of a mask to `out`."""
    for index in range(len(out)):
        out[index] |= row[index]


def remove(out: Any, row: Any) -> None:
    """Remove the tokens of a mask from `out`."""
    for index in range(len(out)):
        out[index] &= ALL_BITS ^ row[index]


def intersect(out: Any, row: Any) -> None:
    """Keep only the tokens of a mask in `out`."""
    for index in range(len(out)):
        out[index] &= row[index]


def intersection(out: Any, row: Any, other: Any) -> None:
    """Write the tokens that two masks share to `out`."""
    for index in range(len(out)):
        out[index] = row[index] & other[index]


def unite_both(out: Any, row: Any, other: Any) -> None:
    """Add the tokens that two masks share to `out`."""
    for index in range(len(out)):
        out[index] |= row[index] & other[index]


def remove_both(out: Any, row: Any, other: Any) -> None:
    """Remove the tokens that two masks share from `out`."""
    for index in range(len(out)):
        out[index] &= ALL_BITS ^ (row[index] & other[index])


def tokens_first(row: Any, first: array[int]) -> Iterator[int]:
    """Yield the tokens of a mask; those of `first` before the others. Most callers take one or two of them."""
    at = next_of(row, first, 0)
    while at >= 0:
        yield first[at]
        at = next_of(row, first, at + 1)
    token = next_token(row, 0)
    while token >= 0:
        yield token
        token = next_token(row, token + 1)


def next_of(row: Any, some: array[int], begin: int) -> int:
    """Return the index in `some` of the next token that a mask has, from `begin` on; -1 for none."""
    for at in range(begin, len(some)):
        token = some[at]
        if row[token >> 5] >> (token & 31) & 1:
            return at
    return -1


def next_token(row: Any, begin: int) -> int:
    """Return the smallest token of a mask from `begin` on; -1 for none."""
    for index in range(begin >> 5, len(row)):
        word = row[index]
        if word:
            for bit in range(begin & 31 if index == begin >> 5 else 0, 32):
                if word >> bit & 1:
                    return 32 * index + bit
    return -1


class UndecidedTokens:
    """Tokens that fit an Earley set and a state, and must be checked one by one for dead ends.

    Args:
        tokens: int32[tokens], many of them in the order of their texts.

    Attributes:
        tokens: the same.
        verdicts: int32[tokens]: UNKNOWN, GOOD or BAD.
    """

    def __init__(self, tokens: array[int]) -> None:
        self.tokens = tokens
        self.verdicts = zeros(len(tokens))
