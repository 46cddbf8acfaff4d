"""Operations on masks as sets of tokens: uint32[words], token t is bit t % 32 of word t // 32."""

from __future__ import annotations

from array import array
from typing import Any

from structgen.engine.arrays import zeros

__all__ = ["count", "ids", "intersect", "ints", "remove", "unite", "without"]

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


def count(row: Any) -> int:
    """Return the number of tokens of a mask."""
    found = 0
    for index in range(len(row)):
        word = row[index]
        if word:  # counts pairs of bits at once, then groups of four, then bytes
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
