"""Flat int32 arrays that grow: `array.array` uncompiled, typed memoryviews of the same when compiled.

Compiled, small ones are slices of one slab: a grammar begins with dozens, and each array of its own would be two
objects for Python's garbage collector to go through.
"""

from __future__ import annotations

from array import array

__all__ = ["grown", "head", "zeros"]

# Declared as C integers in the .pxd, so not importable from here.
SMALL = 512
SLAB = 8192

_slab = array("i", [0]) * SLAB
_used = 0


def zeros(count: int, value: int = 0) -> array[int]:
    """An int32 array of `count` equal values."""
    global _slab, _used
    if count > SMALL:
        return array("i", [value]) * count
    if _used + count > SLAB:
        _slab = array("i", [0]) * SLAB
        _used = 0
    made = _slab[_used : _used + count]
    _used += count
    for index in range(count):
        made[index] = value
    return made


def grown(old: array[int], used: int, value: int = 0) -> array[int]:
    """A copy of the first `used` values in an array of twice the size, filled up with `value`."""
    new = zeros(max(2 * len(old), 16), value)
    new[:used] = old[:used]
    return new


def head(old: array[int], used: int) -> array[int]:
    """A copy of the first `used` values."""
    new = zeros(used)
    new[:] = old[:used]
    return new
