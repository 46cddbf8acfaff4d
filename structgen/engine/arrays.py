"""Flat int32 arrays that grow: `array.array` uncompiled, typed memoryviews when compiled.

In compiled modules, small arrays are slices of one slab: a grammar begins with dozens of them, and separate arrays
would be two objects each for Python's garbage collector. Large arrays take memory only where they are written to:
clearing pages that are not needed yet would take milliseconds in the middle of a mask. For the same reason a *pool*, an
array of which only the values in use are read, is not cleared when it grows.
"""

from __future__ import annotations

import mmap
from array import array
from typing import Any, cast

import numpy as np

from structgen.engine.deadlines import count_bytes

__all__ = ["block", "column", "enlarged", "grown", "grown_pool", "head", "room", "zeros"]

# Declared as C integers in the .pxd, so not importable from here.
SMALL = 1024  # room for a grammar's first sets (832 values) without a call of numpy; a multiple of a map of 256 bytes
SLAB = 8192
LARGE = 2**20  # in values of four bytes, like SMALL and SLAB
COUNTED = 2**16  # growth by less is counted with the steps that need it; see `deadlines.py`
IS_COMPILED = not __file__.endswith(".py")

_slab = array("i", [0]) * SLAB
_used = 0


def zeros(count: int, value: int = 0) -> array[int]:
    """Return an int32 array of `count` equal values."""
    if count > SMALL and value == 0:
        if not IS_COMPILED:
            return array("i", [0]) * count
        lazy: Any = np.zeros(count, dtype=np.intc) if count < LARGE else _pages(count)
        return cast("array[int]", lazy)
    made = _unset(count)
    for index in range(count):
        made[index] = value
    return made


def _unset(count: int) -> array[int]:
    """Return an int32 array of values that are not set yet."""
    global _slab, _used
    if count > SMALL:
        if IS_COMPILED:
            lazy: Any = np.empty(count, dtype=np.intc) if count < LARGE else _pages(count)
            return cast("array[int]", lazy)
        return array("i", [0]) * count
    if _used + count > SLAB:
        _slab = _new_slab()
        _used = 0
    made = _slab[_used : _used + count]
    _used += count
    return made


def _new_slab() -> array[int]:
    """Return a slab. Compiled, it is not cleared: half of its values are set before they are read."""
    if IS_COMPILED:
        made: Any = np.empty(SLAB, dtype=np.intc)
        return cast("array[int]", made)
    return array("i", [0]) * SLAB


def _pages(count: int) -> memoryview:
    """Return `count` int32 zeros in pages that are allocated one by one when they are first written to.

    For large arrays numpy asks for pages of 2 MB. Clearing one of these takes milliseconds in the middle of a mask.
    """
    try:
        private = mmap.mmap(-1, 4 * count, access=mmap.ACCESS_COPY)  # not shared with forked processes
    except OSError as error:
        raise MemoryError(f"no memory for {count} numbers") from error
    return memoryview(private).cast("i")


def room(count: int) -> array[int]:
    """Return an int32 array of zeros that will grow to about `count`; uncompiled, it begins smaller."""
    return zeros(count if IS_COMPILED else min(count, SMALL))


def grown(old: array[int], used: int, value: int = 0) -> array[int]:
    """Return a copy of the first `used` values in an array of twice the size, filled up with `value`."""
    new = zeros(max(2 * len(old), 16), value)
    _count_growth(len(old))
    new[:used] = old[:used]
    return new


def grown_pool(old: array[int], used: int) -> array[int]:
    """Return a copy of the first `used` values in an array of twice the size; the other values are not set."""
    new = _unset(max(2 * len(old), 16))
    _count_growth(len(old))
    new[:used] = old[:used]
    return new


def _count_growth(values: int) -> None:
    """Count the memory of some more values, where they are many."""
    if values >= COUNTED:
        count_bytes(4 * values)


def block(columns: int, length: int) -> array[int]:
    """Return an int32 array for columns that grow together: one array leaves no holes when it is freed."""
    _count_growth(columns * length // 2)  # the columns were half as long before
    return _unset(columns * length)


def column(block: array[int], number: int, length: int, old: array[int], used: int) -> array[int]:
    """Return a column of a block, with the first `used` values of a shorter one; the other values are not set."""
    new = block[number * length : (number + 1) * length]
    if used:
        new[:used] = old[:used]
    return new


def enlarged(old: array[int], code: str, size: int) -> array[int]:
    """Return a copy of an array of any type code, filled up with zeros to `size`."""
    _count_growth((size - len(old)) * old.itemsize // 4)
    if IS_COMPILED:
        large: Any = np.zeros(size, dtype=code)
        large[: len(old)] = old
        return cast("array[int]", large)
    return array(code, old) + array(code, [0]) * (size - len(old))


def head(old: array[int], used: int) -> array[int]:
    """Return a copy of the first `used` values."""
    new = _unset(used)
    new[:] = old[:used]
    return new
