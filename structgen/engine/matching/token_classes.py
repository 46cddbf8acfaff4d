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
from structgen.engine.vocabulary.bitmask_kernel import keep_only

__all__ = ["TokenClasses"]

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
    _unions: dict[tuple[int, int], _Union] = field(default_factory=dict)
    _longest: tuple[int, int] = field(init=False)  # in bytes and in tokens, of the rests that are known

    def __post_init__(self) -> None:
        """Find the length of the longest rest: larger bounds are all the same."""
        known = [length for length in self.lengths if FAR not in length] or [(-1, -1)]
        self._longest = (max(size for size, _ in known), max(count for _, count in known))

    def narrow(
        self, words: NDArray[np.uint32], *, max_bytes: int = FAR, max_tokens: int = FAR
    ) -> NDArray[np.intp] | None:
        """Remove the tokens from a mask after which the rest has more bytes or tokens. End tokens stay.

        Args:
            words: uint32[words], the mask.
            max_bytes: the number of bytes that the rest may have.
            max_tokens: the number of tokens that it may have.

        Returns:
            The tokens that are left, in ascending order, where few tokens have such a rest. None for many: see the
            mask.
        """
        union = self._within(max_bytes, max_tokens)
        if union.listed is not None:
            kept = np.empty_like(union.listed)
            return kept[: keep_only(words, union.listed, kept)]
        ends = [(token >> 5, words[token >> 5] & np.uint32(1 << (token & 31))) for token in self.ends]
        words &= union.mask
        for at, bit in ends:
            words[at] |= bit
        return None

    def _within(self, max_bytes: int, max_tokens: int) -> _Union:
        """Return the tokens after which the rest has at most so many bytes and tokens."""
        longest_bytes, longest_tokens = self._longest
        key = (min(max_bytes, longest_bytes), min(max_tokens, longest_tokens))
        found = self._unions.get(key)
        if found is None:
            if len(self._unions) >= MAX_UNIONS:
                self._unions.clear()
            rows = [at for at, (size, count) in enumerate(self.lengths) if size <= key[0] and count <= key[1]]
            mask = np.bitwise_or.reduce(self.masks[rows], axis=0)
            found = self._unions[key] = _Union(mask, _listed(mask, self.ends))
        return found


@dataclass(slots=True)
class _Union:
    """Some classes together.

    Attributes:
        mask: uint32[words], their tokens.
        listed: these tokens and the end tokens, in ascending order; None if they are many.
    """

    mask: NDArray[np.uint32]
    listed: NDArray[np.intp] | None


def _listed(mask: NDArray[np.uint32], ends: list[int]) -> NDArray[np.intp] | None:
    """Return the tokens of a mask and the end tokens; None if they are many."""
    tokens = np.union1d(tokens_of(mask), np.array(ends, np.intp))
    return tokens if len(tokens) <= MAX_LISTED else None
