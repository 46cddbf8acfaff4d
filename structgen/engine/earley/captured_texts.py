"""Captured texts as numbers: each is another text and one more byte, and equal texts have one number.

An Earley set inside of a captured symbol (`engine/grammar/rules.py`) carries the text since the capture began. Because
equal texts have equal numbers, sets with equal kernels and texts are one set. With EMPTY_TEXT = 4, "ab" and "ac" are

    number  text without its last byte  last byte
    5       4 ("")                      "a"
    6       5 ("a")                     "b"
    7       5 ("a")                     "c"
"""

from __future__ import annotations

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import EMPTY_TEXT
from structgen.engine.pair_table import PairTable

__all__ = ["CapturedTexts"]


class CapturedTexts:
    """The captured texts of one grammar.

    Attributes:
        count: the number that the next new text gets.
    """

    def __init__(self) -> None:
        self.count = EMPTY_TEXT + 1
        self._parent = zeros(32)
        self._byte = zeros(32)
        self._numbers = PairTable()

    def append(self, text: int, byte: int) -> int:
        """Return the number of a text with one more byte."""
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

    def continues(self, text: int, beginning: int) -> bool:
        """Return whether a text is `beginning`, or that and more bytes."""
        while text > beginning:  # a text has a larger number than its beginnings
            text = self._parent[text]
        return text == beginning

    def between(self, start: int, end: int) -> bytes:
        """Return the bytes by which text `end` is longer than text `start`, with which it begins."""
        if end == start:
            return b""
        out = bytearray()
        while end != start:
            out.append(self._byte[end])
            end = self._parent[end]
        out.reverse()
        return bytes(out)
