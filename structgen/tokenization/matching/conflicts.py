"""Tokens that cannot follow a given token within a pre-token, since a merge would cross the border between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.arrays import zeros
from structgen.tokenization.matching.token_sets import drop, list_tokens, remove
from structgen.tokenization.merges.merge_table import MergeTable

__all__ = ["ConflictTable", "Conflicts", "mask_of"]

# Declared as C integers in the .pxd, so not importable from here.
ALL_BITS = 0xFFFFFFFF  # of a word
MAX_FEW = 256  # tokens of a mask that are compared with the last token in a list
MAX_KEPT = 4096  # tokens whose conflicts are remembered
MAX_LISTED = 1024  # tokens in a list; more are kept as a mask
MAX_REMOVED = 8192  # tokens that are removed one by one the first time
MIN_TOGETHER = 16  # tokens of a mask for which the ranges of all conflicts are found


class Conflicts:
    """Tokens that cannot follow another one.

    Args:
        listed: int32[tokens], in no order, if they are few; else empty. One may occur more than once.
        row: uint32[words], a mask of them, if they are many; else None.

    Attributes:
        listed, row: the same.
    """

    def __init__(self, listed: Any, row: Any) -> None:
        self.listed = listed
        self.row = row

    def mask(self, words: int) -> NDArray[np.uint32]:
        """Return them as a mask: uint32[words]."""
        return mask_of(self.listed, words) if self.row is None else np.asarray(self.row)


_NONE = zeros(0)
NO_CONFLICTS = Conflicts(_NONE, None)


class ConflictTable:
    """The conflicts of a tokenizer's tokens, computed when first asked for.

    Args:
        merges: merges of the tokenizer.
        words: the number of words of a mask.
    """

    def __init__(self, merges: MergeTable, words: int) -> None:
        self._merges = merges
        self._words = words
        self._known: dict[int, Conflicts] = {}
        self._met: set[int] = set()  # tokens whose conflicts were removed once, and not kept
        self._listed = zeros(MAX_FEW)

    def remove(self, token: int, row: Any) -> None:
        """Remove the conflicts of a token from a mask, uint32[words].

        Few tokens of a mask are looked at one by one. For a mask of more tokens, many conflicts are kept as a mask from
        the second time on: most tokens of a text come once.
        """
        if token < 0:
            return
        if token not in self._known:
            count = list_tokens(row, self._listed, MAX_FEW) if self._merges.is_proper[token] else MAX_FEW + 1
            if count <= MAX_FEW:
                self._remove_some(token, row, count)
                return
            most = MAX_LISTED if token in self._met else MAX_REMOVED
            if self._merges.remove_conflicts(token, row, most):
                if len(self._met) >= MAX_KEPT:
                    self._met.clear()
                self._met.add(token)
                return
        conflicts = self.of(token)
        if conflicts.row is not None:
            remove(row, conflicts.row)
        else:
            drop(row, conflicts.listed)

    def _remove_some(self, token: int, row: Any, count: int) -> None:
        """Remove the conflicts of a token from a mask whose tokens are listed."""
        one = 1
        if count >= MIN_TOGETHER:
            self._merges.remove_crossed(token, self._listed, count, row)
        else:
            for index in range(count):
                other = self._listed[index]
                if self._merges.crosses(token, other):
                    row[other >> 5] &= ALL_BITS ^ (one << (other & 31))

    def of(self, token: int) -> Conflicts:
        """Return the conflicts of a token; a negative one has none."""
        known = self._known.get(token)
        if known is None:
            if len(self._known) >= MAX_KEPT:
                self._known.clear()
            known = self._known[token] = self._find(token) if token >= 0 else NO_CONFLICTS
        return known

    def _find(self, token: int) -> Conflicts:
        if self._merges.count_conflicts(token) < MAX_LISTED:
            return Conflicts(self._merges.conflicts(token), None)
        row = np.zeros(self._words, dtype=np.uint32)
        self._merges.mark_conflicts(token, row)
        return Conflicts(_NONE, row)


def mask_of(tokens: object, words: int) -> NDArray[np.uint32]:
    """Return a mask of some tokens: uint32[words], token t is bit t % 32 of word t // 32."""
    bits = np.zeros(32 * words, dtype=np.bool_)
    bits[np.asarray(tokens, dtype=np.intp)] = True
    return np.packbits(bits, bitorder="little").view(np.uint32)
