"""A walk over the trie of a vocabulary that puts each token into a class, by the item set that it leads to.

    set 7     reads a  ->  set 7      class 0: a, ab, …
              reads "  ->  set 9      class 1: ", a", …

Tokens that lead to the same item set are in the same class, so the class is asked for once for each set.

Within a string, most bytes lead back to the same set. Where a subtree of the trie has only such
bytes, all its tokens are of one class, and it is not walked:

    set 7     reads a letter  ->  set 7      the subtree of `lov`: love, lovely, lovers, … are of class 0
                                             that of `x` has the token `x"`: it is walked

So a walk takes about a millisecond where most tokens are allowed, and microseconds where few are. `rests.py` keeps what
it finds.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from structgen.engine.arrays import zeros
from structgen.engine.deadlines import spend
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.vocabulary.token_trie import TokenTrie

__all__ = ["ClassWalk"]

LETTER = 97


class ClassWalk:
    """A walk over all tokens after an item set.

    Args:
        sets: the item sets.
        trie: the tokens.
        word_count: the number of words of a mask.
        class_of: returns the number of the class of an item set; a negative number ends the walk.
    """

    def __init__(self, sets: ItemSetStore, trie: TokenTrie, word_count: int, class_of: Callable[[int], int]) -> None:
        self._sets = sets
        self._trie = trie
        self._class_of = class_of
        self._words = word_count
        self._set_at = zeros(trie.max_depth + 1)  # by depth: the item set after the bytes up to there
        self._after_loop = zeros(256)  # by byte: the item set after the set to which letters lead back

    def find(self, set_id: int, max_classes: int) -> NDArray[np.uint32] | None:
        """Return a mask for each class of tokens.

        Args:
            set_id: the item set before the tokens.
            max_classes: the number of classes.

        Returns:
            uint32[max_classes, words]; None if the walk was ended.

        Raises:
            LimitExceededError: see `ItemSetStore.goto`.
        """
        trie, sets, set_at = self._trie, self._sets, self._set_at
        found = np.zeros((max_classes, self._words), np.uint32)
        rows = found
        one = 1
        last_set = row = 0
        loop = self._loop_from(set_id)
        leaving = self._leaving_nodes(loop)
        after_loop = self._after_loop
        set_at[0] = set_id
        node = visited = 0
        while node < trie.node_count:
            visited += 1
            depth = trie.node_depth[node]
            before = set_at[depth - 1]
            reached = after_loop[trie.node_byte[node]] if before == loop else sets.goto(before, trie.node_byte[node])
            if not reached:
                node = trie.node_end[node]
                continue
            set_at[depth] = reached
            after = node + 1
            if reached == loop and leaving[after] >= trie.node_end[node]:
                after = trie.node_end[node]
            if trie.token_start[node] < trie.token_start[after]:
                if reached != last_set:
                    row = self._class_of(reached)
                    if row < 0:
                        return None
                    last_set = reached
                for index in range(trie.token_start[node], trie.token_start[after]):
                    token = trie.tokens[index]
                    rows[row, token >> 5] |= one << (token & 31)
            node = after
        spend(visited)
        return found

    def _loop_from(self, set_id: int) -> int:
        """Return the set to which letters lead back, after the first one; 0 if there is none."""
        reached = self._sets.goto(set_id, LETTER)
        return reached if reached and self._sets.goto(reached, LETTER) == reached else 0

    def _leaving_nodes(self, loop: int) -> array[int]:
        """Return, for each node, the first node from it on whose byte does not lead from a set back to it."""
        trie = self._trie
        count = trie.node_count
        if not loop:
            return zeros(0)
        leaves = zeros(256, 1)
        for byte in range(256):
            self._after_loop[byte] = self._sets.goto(loop, byte)
            if self._after_loop[byte] == loop:
                leaves[byte] = 0
        found = zeros(count + 1, count)
        for node in range(count - 1, -1, -1):
            found[node] = node if leaves[trie.node_byte[node]] else found[node + 1]
        return found
