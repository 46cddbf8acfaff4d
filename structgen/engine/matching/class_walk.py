"""A walk over the trie of a vocabulary that puts each token into a class, by the item set that it leads to.

    set 7     reads a  ->  set 7      class 0: a, ab, …
              reads "  ->  set 9      class 1: ", a", …

Tokens that lead to the same item set are in the same class, so the class is asked for once for each set. A walk takes
some milliseconds where most tokens are allowed, and microseconds where few are. `rests.py` keeps what it finds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from structgen.engine.arrays import zeros
from structgen.engine.deadlines import spend
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.vocabulary.token_trie import TokenTrie

__all__ = ["ClassWalk"]


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
        set_at[0] = set_id
        node = visited = 0
        while node < trie.node_count:
            visited += 1
            depth = trie.node_depth[node]
            reached = sets.goto(set_at[depth - 1], trie.node_byte[node])
            if not reached:
                node = trie.node_end[node]
                continue
            set_at[depth] = reached
            if trie.token_start[node] < trie.token_start[node + 1]:
                if reached != last_set:
                    row = self._class_of(reached)
                    if row < 0:
                        return None
                    last_set = reached
                for index in range(trie.token_start[node], trie.token_start[node + 1]):
                    token = trie.tokens[index]
                    rows[row, token >> 5] |= one << (token & 31)
            node += 1
        spend(visited)
        return found
