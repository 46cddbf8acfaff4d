"""Flat int32 arrays that grow: `array.array` uncompiled, typed memoryviews of the same when compiled."""

from __future__ import annotations

from array import array

__all__ = ["grown", "head", "zeros"]


def zeros(count: int, value: int = 0) -> array[int]:
    """An int32 array of `count` equal values."""
    return array("i", [value]) * count


def grown(old: array[int], used: int, value: int = 0) -> array[int]:
    """A copy of the first `used` values in an array of twice the size, filled up with `value`."""
    new = array("i")
    new.frombytes(bytes(old[:used]))
    new.extend(array("i", [value]) * (max(2 * len(old), 16) - used))
    return new


def head(old: array[int], used: int) -> array[int]:
    """A copy of the first `used` values."""
    new = array("i")
    new.frombytes(bytes(old[:used]))
    return new
