"""Captured texts as hash-consed lists of bytes: a number for each text, one byte longer than another's.

Earley sets inside of a captured symbol (`engine/grammar/rules.py`) carry the text since the capture began; equal texts
have equal numbers, so that sets stay values.
"""

from __future__ import annotations

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import EMPTY_TEXT
from structgen.engine.pair_table import PairTable

__all__ = ["CapturedTexts"]


class CapturedTexts:
    """A table of texts.

    Attributes:
        count: the next number.
    """

    def __init__(self) -> None:
        self.count = EMPTY_TEXT + 1
        self._parent = zeros(32)
        self._byte = zeros(32)
        self._numbers = PairTable()

    def append(self, text: int, byte: int) -> int:
        """Return the number of a text and one more byte."""
        found = self._numbers.get(text, byte)
        if found >= 0:
            return found
        found = self.count
        if found >= len(self._parent):
            self._parent = grown_pool(self._parent, found)
            self._byte = grown_pool(self._byte, found)
        self._parent[found] = text
        self._byte[found] = byte
        self._numbers.put(text, byte, found)
        self.count = found + 1
        return found

    def between(self, start: int, end: int) -> bytes:
        """Return what has to be appended to text `start` to get text `end`, which begins with it."""
        out = bytearray()
        while end != start:
            out.append(self._byte[end])
            end = self._parent[end]
        out.reverse()
        return bytes(out)
