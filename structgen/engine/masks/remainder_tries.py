"""Tries of what is left of tokens after the nodes at which a terminal may end within them.

At the end of a JSON string the tokens `","`, `",` and `"}` all go on after their quotes: what is left is `,"`, `,` and
`}`. Many exits of a vocabulary's trie have the same texts left after them; merged into one small trie, these are walked
once.
"""

from __future__ import annotations

from array import array

from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import Trie
from structgen.engine.vocabulary.token_trie import TokenTrie

__all__ = ["RemainderTries"]

# Declared as a C integer in the .pxd, so not importable from here.
MAX_MERGED_NODES = 6000  # below the exits; to merge more costs more than it saves


class RemainderTries:
    """The tries of remainders that were made for one vocabulary.

    Args:
        store: where their memory is counted.
        spellings: the bytes of each token of the vocabulary.
    """

    def __init__(self, store: TableStore, spellings: tuple[bytes, ...]) -> None:
        self._store = store
        self._spellings = spellings
        self._merged: dict[tuple[int, bytes, bytes], Trie | None] = {}  # by trie, which lives as long, exits and counts

    def merge(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie | None:
        """Return what is left of the tokens after some exits as one trie; None where a list of exits serves better.

        The same exits come again and again: those at the end of a string, whatever its characters.

        Args:
            trie: the trie of the exits.
            exits: int32, nodes of the trie.
            counts: int32, for each exit a count that its tokens get; with counts one trie is always better, unless it
                grows too large.
        """
        if not len(exits):
            return None
        key = (id(trie), bytes(exits), b"" if counts is None else bytes(counts))
        if key not in self._merged:
            self._merged[key] = self._new_trie(trie, exits, counts)
            self._store.bytes_used += 2 * len(key[1])
        return self._merged[key]

    def _new_trie(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie | None:
        nodes = 0
        for index in range(len(exits)):
            nodes += trie.end[exits[index]] - exits[index] - 1
            if nodes > MAX_MERGED_NODES:
                return None
        pairs_of = self._tokens_by_remainder(trie, exits, counts)
        texts: list[bytes] = []
        tokens: list[int] = []
        token_counts: list[int] = []
        for left in sorted(pairs_of):
            pairs = pairs_of[left]
            for at in range(0, len(pairs), 2):
                texts.append(left)
                tokens.append(pairs[at])
                token_counts.append(pairs[at + 1])
        merged = TokenTrie(texts, tokens)
        self._store.bytes_used += 32 * len(merged.node_byte) + 8 * len(tokens)
        return Trie(merged, array("i", token_counts))

    def _tokens_by_remainder(self, trie: Trie, exits: array[int], counts: array[int] | None) -> dict[bytes, list[int]]:
        """Return tokens and their counts in turn, by what is left of the tokens; most lists hold one pair."""
        spellings = self._spellings
        pairs_of: dict[bytes, list[int]] = {}
        for index in range(len(exits)):
            exit_node = exits[index]
            skipped = trie.depth[exit_node]
            count = counts[index] if counts is not None else 0
            for at in range(trie.token_start[exit_node + 1], trie.token_start[trie.end[exit_node]]):
                token = trie.tokens[at]
                spelling = spellings[token]
                left = spelling[skipped:]
                pairs = pairs_of.get(left)
                if pairs is None:
                    pairs = pairs_of[left] = []
                pairs.append(token)
                pairs.append(count)
        return pairs_of
