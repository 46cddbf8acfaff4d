"""Ranges of Unicode scalar values as sequences of byte ranges (UTF-8).

The splitting is the well-known one of Russ Cox's RE2 and the crate utf8-ranges: cut a range where the encoded length
changes, then wherever a continuation byte's range is not full. The range U+0061 to U+0141 becomes three sequences:

    [61-7F]             U+0061 to U+007F
    [C2-C4] [80-BF]     U+0080 to U+013F
    [C5] [80-81]        U+0140 to U+0141
"""

from __future__ import annotations

__all__ = ["ByteRanges", "byte_sequences"]

ByteRanges = tuple[tuple[int, int], ...]  # one inclusive range of bytes for each position of a sequence

_LENGTH_ENDS = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)


def _split(low: int, high: int) -> list[tuple[int, int]]:
    """Cut a code point range into ranges whose encodings are the product of the ranges of their bytes."""
    out: list[tuple[int, int]] = []
    stack = [(low, high)]
    while stack:
        low, high = stack.pop()
        if low <= 0xDFFF and high >= 0xD800:  # surrogates have no encoding
            stack.extend((a, b) for a, b in ((0xE000, high), (low, 0xD7FF)) if a <= b)
            continue
        cut = next((end for end in _LENGTH_ENDS if low <= end < high), None)
        if cut is None and high > 0x7F:
            for bits in (6, 12, 18):  # of the last one, two and three continuation bytes
                mask = (1 << bits) - 1
                if low >> bits != high >> bits:
                    if low & mask:
                        cut = low | mask
                        break
                    if high & mask != mask:
                        cut = (high & ~mask) - 1
                        break
        if cut is None:
            out.append((low, high))
        else:
            stack.append((cut + 1, high))
            stack.append((low, cut))
    return out


def byte_sequences(ranges: tuple[tuple[int, int], ...]) -> tuple[ByteRanges, ...]:
    """Return the encodings of all code points of sorted, disjoint ranges.

    Args:
        ranges: inclusive code point ranges; surrogates among them are left out.

    Returns:
        Sequences in the order of their bytes; each matches one byte of each of its ranges in turn.
    """
    out: list[ByteRanges] = []
    for low, high in ranges:
        for first, last in _split(low, high):
            out.append(tuple(zip(chr(first).encode(), chr(last).encode(), strict=True)))
    return tuple(out)
