"""CapturedTexts as hash-consed lists of bytes: a number for each text, one byte longer than another's.

Earley sets inside of a captured symbol (`engine/rules.py`) carry the text since the capture began; equal texts have
equal numbers, so that sets stay values.
"""

from __future__ import annotations

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import EMPTY_TEXT

__all__ = ["CapturedTexts"]

FREE = -1


class CapturedTexts:
    """A table of texts.

    Attributes:
        count: the next number.
    """

    def __init__(self) -> None:
        self.count = EMPTY_TEXT + 1
        self._parent = zeros(32)
        self._byte = zeros(32)
        self._table = zeros(64, FREE)

    def append(self, text: int, byte: int) -> int:
        """The number of a text and one more byte."""
        mask = len(self._table) - 1
        slot = self._hash(text, byte) & mask
        while True:
            found = self._table[slot]
            if found < 0:
                break
            if self._parent[found] == text and self._byte[found] == byte:
                return found
            slot = (slot + 1) & mask
        found = self.count
        if found >= len(self._parent):
            self._parent = grown_pool(self._parent, found)
            self._byte = grown_pool(self._byte, found)
        self._parent[found] = text
        self._byte[found] = byte
        self._table[slot] = found
        self.count = found + 1
        if 2 * self.count > mask:
            self._rehash()
        return found

    def between(self, start: int, end: int) -> bytes:
        """What has to be appended to one text to get another, which begins with it."""
        out = bytearray()
        while end != start:
            out.append(self._byte[end])
            end = self._parent[end]
        out.reverse()
        return bytes(out)

    def _hash(self, text: int, byte: int) -> int:
        return text * 40503 ^ byte * 19349663 ^ (text >> 7)

    def _rehash(self) -> None:
        table = zeros(2 * len(self._table), FREE)
        mask = len(table) - 1
        for text in range(EMPTY_TEXT + 1, self.count):
            slot = self._hash(self._parent[text], self._byte[text]) & mask
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = text
        self._table = table
