"""Sets of characters as sorted, disjoint ranges of code points."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Ranges", "union_of"]

Ranges = tuple[tuple[int, int], ...]


def union_of(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same set as sorted ranges that neither overlap nor touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[len(out) - 1][1] + 1:
            last = out.pop()
            out.append((last[0], max(last[1], high)))
        else:
            out.append((low, high))
    return tuple(out)
