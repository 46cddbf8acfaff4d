"""Tries of what is left of tokens after the nodes at which a terminal may end within them.

At the end of a JSON string the tokens `","`, `",` and `"}` all go on after their quotes: what is left is `,"`, `,` and
`}`. Many exits of a vocabulary's trie have the same texts left after them; merged into one small trie, these are walked
once.

The subtrees below the exits are merged byte by byte. A node of the merged trie stands for a *group* of nodes that have
the same text after their exits:

    exits    x and y, with the tokens x, xa, xab, ya and yc
    merged   a    of the nodes xa and ya: their tokens are here
             ab   of xab
             c    of yc
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import head, zeros
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
    """

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._merged: dict[tuple[int, bytes, bytes], Trie] = {}  # by trie, which lives as long, exits and counts

    def merge(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie | None:
        """Return what is left of the tokens after some exits as one trie; None where a list of exits serves better.

        The same exits come again and again: those at the end of a string, whatever its characters.

        Args:
            trie: the trie of the exits.
            exits: int32, nodes of the trie.
            counts: int32, for each exit a count that its tokens get; with counts one trie is always better, unless it
                grows too large.
        """
        if not len(exits) or self._are_too_many(trie, exits):
            return None
        key = (id(trie), bytes(exits), b"" if counts is None else bytes(counts))
        if key not in self._merged:
            self._merged[key] = self._new_trie(trie, exits, counts)
            self._store.bytes_used += 2 * len(key[1])
        return self._merged[key]

    def _are_too_many(self, trie: Trie, exits: array[int]) -> bool:
        """Return whether too many nodes come below some exits. These may be most of the trie, so they make no key."""
        nodes = 0
        for index in range(len(exits)):
            nodes += trie.end[exits[index]] - exits[index] - 1
            if nodes > MAX_MERGED_NODES:
                return True
        return False

    def _new_trie(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie:
        nodes = tokens = 0
        for index in range(len(exits)):
            node = exits[index]
            nodes += trie.end[node] - node - 1
            tokens += trie.token_start[trie.end[node]] - trie.token_start[node + 1]
        merging = Merging(trie, exits, counts, nodes, tokens)
        merged = merging.merge()
        self._store.bytes_used += 32 * merged.node_count + 8 * tokens
        return Trie(merged, merging.counts)


class Merging:
    """Merges the subtrees below some nodes of a trie, the exits.

    Args:
        trie: the trie.
        exits: int32, the nodes.
        counts: int32, for each exit the count of the tokens below it; None for 0.
        nodes, tokens: how many there are below all exits.

    Attributes:
        counts: int32, for each token of the merged trie its count.
    """

    def __init__(self, trie: Trie, exits: array[int], counts: array[int] | None, nodes: int, tokens: int) -> None:
        self._trie = trie
        # A group is a linked list: the entry `node_of[n - 1]`, then the one at `next_of[n - 1]`, until that is 0.
        size = nodes + len(exits)
        self._node_of = zeros(size)
        self._count_of = zeros(size)
        self._next_of = zeros(size)
        self._size = 0
        self._group_of_byte = zeros(256)
        self._waiting = zeros(nodes + 1)  # groups whose node is still to be made, the next one last,
        self._depth_of = zeros(nodes + 1)  # and the depth of each
        self._waiting_count = 0
        self._nodes, self._tokens = nodes, tokens
        self.counts = zeros(tokens)
        for index in range(len(exits)):
            self._add(exits[index], 0 if counts is None else counts[index], index)

    def _add(self, node: int, count: int, group: int) -> int:
        """Put a node before those of a group; return the group with it."""
        self._node_of[self._size] = node
        self._count_of[self._size] = count
        self._next_of[self._size] = group
        self._size += 1
        return self._size

    def merge(self) -> TokenTrie:
        """Return the merged trie: depth first, and the nodes below one node by byte."""
        trie = self._trie
        merged = TokenTrie([], [])
        node_byte, node_end, node_depth = zeros(self._nodes), zeros(self._nodes), zeros(self._nodes)
        token_start, tokens, counts = zeros(self._nodes + 1), zeros(self._tokens), self.counts
        path = zeros(trie.max_depth + 1)
        node = position = open_depth = 0
        self._add_below(self._size, 1)
        while self._waiting_count:
            self._waiting_count -= 1
            group, depth = self._waiting[self._waiting_count], self._depth_of[self._waiting_count]
            for above in range(depth, open_depth + 1):
                node_end[path[above]] = node
            path[depth] = node
            open_depth = depth
            byte = trie.byte[self._node_of[group - 1]]
            node_byte[node] = byte
            node_depth[node] = depth
            token_start[node] = position
            if depth == 1:
                merged.first_node[byte] = node
            merged.max_depth = max(merged.max_depth, depth)
            node += 1
            self._add_below(group, depth + 1)
            while group:
                entry = group - 1
                for at in range(trie.token_start[self._node_of[entry]], trie.token_start[self._node_of[entry] + 1]):
                    tokens[position] = trie.tokens[at]
                    counts[position] = self._count_of[entry]
                    position += 1
                group = self._next_of[entry]
        for above in range(1, open_depth + 1):
            node_end[path[above]] = node
        token_start[node] = position
        merged.node_count = node
        merged.node_byte, merged.node_end = head(node_byte, node), head(node_end, node)
        merged.node_depth, merged.token_start = head(node_depth, node), head(token_start, node + 1)
        merged.tokens = tokens
        return merged

    def _add_below(self, group: int, depth: int) -> None:
        """Let the children of a group's nodes wait, those of one byte as one group."""
        trie, group_of_byte = self._trie, self._group_of_byte
        least, largest = 256, -1
        while group:
            entry = group - 1
            child, end = self._node_of[entry] + 1, trie.end[self._node_of[entry]]
            while child < end:
                byte = trie.byte[child]
                group_of_byte[byte] = self._add(child, self._count_of[entry], group_of_byte[byte])
                least, largest = min(least, byte), max(largest, byte)
                child = trie.end[child]
            group = self._next_of[entry]
        for byte in range(largest, least - 1, -1):
            if group_of_byte[byte]:
                self._waiting[self._waiting_count] = group_of_byte[byte]
                self._depth_of[self._waiting_count] = depth
                self._waiting_count += 1
                group_of_byte[byte] = 0
