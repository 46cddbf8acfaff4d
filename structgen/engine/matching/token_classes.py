"""The tokens that may come next, in classes by how long the rest of the text is after them.

    text     {"name": "Ada         the rest of the text after it: `"}`
    rest     `"}`                  Lovelace, smith, 7, …     the text is as far from its end as before
             `}`                   ", ."
             ``                    "}, ."}
             `n"}`                 a backslash, which begins an escape

A class is a mask, so the tokens after which a rest fits are the union of some masks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from structgen.engine.grammar.shortest_bodies import FAR
from structgen.engine.vocabulary.bitmask import tokens_of

__all__ = ["TokenClasses"]

MAX_UNIONS = 64  # kept for one item set


@dataclass(slots=True)
class TokenClasses:
    """The classes of tokens after one item set.

    Attributes:
        lengths: of each class, the length of the rest in bytes and in tokens; FAR where no rest is known.
        masks: uint32[classes, words], the tokens of each class.
        ends: the end tokens, which belong to no class.
    """

    lengths: list[tuple[int, int]]
    masks: NDArray[np.uint32]
    ends: list[int]
    _unions: dict[tuple[int, int], NDArray[np.uint32]] = field(default_factory=dict)
    _listed: dict[int, NDArray[np.intp]] = field(default_factory=dict)

    def within(self, *, max_bytes: int = FAR - 1, max_tokens: int = FAR - 1) -> NDArray[np.uint32]:
        """Return the mask of the tokens after which the rest has at most so many bytes and tokens.

        Returns:
            uint32[words]; do not change it.
        """
        key = (max_bytes, max_tokens)
        found = self._unions.get(key)
        if found is None:
            if len(self._unions) >= MAX_UNIONS:
                self._unions.clear()
            rows = [at for at, (size, count) in enumerate(self.lengths) if size <= max_bytes and count <= max_tokens]
            found = self._unions[key] = np.bitwise_or.reduce(self.masks[rows], axis=0)
        return found

    def nearer(self, max_bytes: int) -> NDArray[np.intp]:
        """Return the tokens after which the rest has at most so many bytes; do not change them."""
        found = self._listed.get(max_bytes)
        if found is None:
            found = self._listed[max_bytes] = tokens_of(self.within(max_bytes=max_bytes))
        return found

    def narrow(self, words: NDArray[np.uint32], kept: NDArray[np.uint32]) -> None:
        """Intersect a mask with one of the classes. End tokens stay."""
        ends = [(token >> 5, words[token >> 5] & np.uint32(1 << (token & 31))) for token in self.ends]
        words &= kept
        for at, bit in ends:
            words[at] |= bit
