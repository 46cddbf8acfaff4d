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

__all__ = ["TokenClasses", "subset"]

MAX_UNIONS = 64  # kept for one item set
MAX_LISTED = 4_096  # tokens of a subset that are listed, too


@dataclass(slots=True)
class TokenClasses:
    """The classes of tokens after one item set.

    Attributes:
        lengths: of each class, the length of the rest in bytes and in tokens; FAR where no rest is known.
        masks: uint32[classes, words], the tokens of each class.
        ends: the end tokens, which belong to no class.
        rest_tokens: the length of the rest in tokens before any of these tokens; None where no rest is known.
    """

    lengths: list[tuple[int, int]]
    masks: NDArray[np.uint32]
    ends: list[int]
    rest_tokens: int | None
    _unions: dict[tuple[int, int], TokenSubset] = field(default_factory=dict)
    _longest: tuple[int, int] = field(init=False)  # in bytes and in tokens, of the rests that are known
    _are_known: bool = field(init=False)  # whether all rests are

    def __post_init__(self) -> None:
        """Find the length of the longest rest: larger bounds are all the same."""
        known = [length for length in self.lengths if FAR not in length] or [(-1, -1)]
        self._are_known = all(FAR not in length for length in self.lengths)
        self._longest = (max(size for size, _ in known), max(count for _, count in known))

    def all_within(self, max_tokens: int) -> bool:
        """Return whether the rest has at most so many tokens after each token of all classes."""
        return self._are_known and max_tokens >= self._longest[1]

    def within(self, *, max_bytes: int = FAR, max_tokens: int = FAR) -> TokenSubset:
        """Return the tokens after which the rest has at most so many bytes and tokens, and the end tokens."""
        longest_bytes, longest_tokens = self._longest
        key = (min(max_bytes, longest_bytes), min(max_tokens, longest_tokens))
        found = self._unions.get(key)
        if found is None:
            if len(self._unions) >= MAX_UNIONS:
                self._unions.clear()
            rows = [at for at, (size, count) in enumerate(self.lengths) if size <= key[0] and count <= key[1]]
            mask = np.bitwise_or.reduce(self.masks[rows], axis=0)
            for token in self.ends:
                mask[token >> 5] |= np.uint32(1 << (token & 31))
            found = self._unions[key] = subset(mask)
        return found


def subset(mask: NDArray[np.uint32]) -> TokenSubset:
    """Return the tokens of a mask, to narrow others to."""
    tokens = tokens_of(mask).astype(np.int32)
    return TokenSubset(mask, tokens if len(tokens) <= MAX_LISTED else tokens[:0])
