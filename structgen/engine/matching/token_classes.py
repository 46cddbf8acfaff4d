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
from structgen.engine.vocabulary.bitmask_kernel import TokenSubset

__all__ = ["TokenClasses", "TokenUnion"]

MAX_UNIONS = 64  # kept for one item set
MAX_LISTED = 4_096  # tokens of a union that are listed, too


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
    _unions: dict[tuple[int, int], TokenUnion] = field(default_factory=dict)
    _longest: tuple[int, int] = field(init=False)  # in bytes and in tokens, of the rests that are known

    def __post_init__(self) -> None:
        """Find the length of the longest rest: larger bounds are all the same."""
        known = [length for length in self.lengths if FAR not in length] or [(-1, -1)]
        self._longest = (max(size for size, _ in known), max(count for _, count in known))

    def within(self, *, max_bytes: int = FAR, max_tokens: int = FAR) -> TokenUnion:
        """Return the tokens after which the rest has at most so many bytes and tokens, and the end tokens."""
        longest_bytes, longest_tokens = self._longest
        key = (min(max_bytes, longest_bytes), min(max_tokens, longest_tokens))
        found = self._unions.get(key)
        if found is None:
            if len(self._unions) >= MAX_UNIONS:
                self._unions.clear()
            rows = [at for at, (size, count) in enumerate(self.lengths) if size <= key[0] and count <= key[1]]
            mask = np.bitwise_or.reduce(self.masks[rows], axis=0)
            found = self._unions[key] = _union(mask, self.ends)
        return found


@dataclass(slots=True)
class TokenUnion:
    """Some classes together, and the end tokens.

    Attributes:
        mask: uint32[words], these tokens.
        listed: the same tokens; None if they are many.
    """

    mask: NDArray[np.uint32]
    listed: TokenSubset | None

    def narrow(self, words: NDArray[np.uint32]) -> None:
        """Remove all other tokens from a mask, uint32[words]."""
        words &= self.mask


def _union(mask: NDArray[np.uint32], ends: list[int]) -> TokenUnion:
    """Return the tokens of a mask and the end tokens."""
    for token in ends:
        mask[token >> 5] |= np.uint32(1 << (token & 31))
    tokens = tokens_of(mask)
    return TokenUnion(mask, TokenSubset(tokens.astype(np.int32)) if len(tokens) <= MAX_LISTED else None)
