"""The sorted vocabulary as a trie in flat arrays, so that a refused byte skips a whole subtree by one assignment.

The nodes are in depth-first order and there is no node for the root, so a walk is one loop:

    node = 0
    while node < trie.node_count:
        if accepts(trie.node_byte[node]):  # the byte that leads to the node, after the bytes of its ancestors
            ...  # the tokens that end here: tokens[token_start[node]:token_start[node + 1]]
            node += 1  # the first child, or else the next sibling of the node or of an ancestor
        else:
            node = trie.node_end[node]  # past the whole subtree

When the walk comes to a node, the first `node_depth[node] - 1` bytes of the path walked so far lead to its parent. The
tokens `a`, `ab`, `ac` and `b` make the trie

    node         0    1    2    3
    node_byte    a    b    c    b
    node_end     3    2    3    4
    node_depth   1    2    2    1
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from structgen.engine.arrays import head, zeros
from structgen.errors import VocabularyError

__all__ = ["TokenTrie", "child_of"]


class TokenTrie:
    """A list of (bytes, token id) pairs as a depth-first trie.

    Building costs one pass over the bytes: 128,256 tokens of Llama-3 make some 275,000 nodes.

    Attributes:
        node_count: the number of nodes.
        node_byte: int32[node_count], 0..255.
        node_end: int32[node_count], the index just past the node's subtree.
        node_depth: int32[node_count], the number of bytes from the root; 1 for the top nodes.
        token_start: int32[node_count + 1], the index in `tokens` of a node's first token; never decreases.
        tokens: int32[number of entries], the ids in the order of the entries; those of a subtree are contiguous.
        first_node: int32[256], the top node for a byte, or -1.
        max_depth: the length of the longest entry in bytes; 0 when there is none.

    Args:
        spellings: the bytes of the entries, at least one byte each, sorted. Equal entries share a node.
        token_ids: the ids of the entries; an id may occur more than once.

    Raises:
        VocabularyError: an entry has no bytes, or comes before one with smaller bytes.
    """

    def __init__(self, spellings: list[bytes], token_ids: list[int]) -> None:
        self._ranks: NDArray[np.intc] | None = None  # by token, made when first asked for
        self._allocate(spellings)
        self._fill(spellings, token_ids)

    def _allocate(self, spellings: list[bytes]) -> None:
        """Allocate the arrays for the case that no two entries share a node; `_trim` shortens them."""
        max_nodes = longest = 0
        for spelling in spellings:
            length = len(spelling)
            max_nodes += length
            if length > longest:
                longest = length
        self.max_depth = longest
        self.node_byte = zeros(max_nodes)
        self.node_end = zeros(max_nodes)
        self.node_depth = zeros(max_nodes)
        self.token_start = zeros(max_nodes + 1)
        self.tokens = zeros(len(spellings))
        self.first_node = zeros(256, -1)

    def _fill(self, spellings: list[bytes], token_ids: list[int]) -> None:
        # A hot loop. `path[depth - 1]` is the last node made at that depth; the first `open_depth` nodes of the path
        # spell `previous`. A node gets its end when an entry leaves its subtree.
        node_byte, node_end, node_depth = self.node_byte, self.node_end, self.node_depth
        token_start, tokens, first_node = self.token_start, self.tokens, self.first_node
        path = zeros(self.max_depth + 1)
        previous = b""
        node = position = open_depth = 0
        for spelling in spellings:
            token_id = token_ids[position]
            length = len(spelling)
            shared = 0
            max_shared = length if length < open_depth else open_depth
            while shared < max_shared and spelling[shared] == previous[shared]:
                shared += 1
            if length == 0 or (shared == max_shared and length < open_depth):
                _refuse(spelling, token_id)
            if shared < max_shared and spelling[shared] < previous[shared]:
                _refuse(spelling, token_id)
            for depth in range(shared, open_depth):
                node_end[path[depth]] = node
            if shared == 0:
                first_node[spelling[0]] = node
            for depth in range(shared, length):
                path[depth] = node
                node_byte[node] = spelling[depth]
                node_depth[node] = depth + 1
                token_start[node] = position
                node += 1
            tokens[position] = token_id
            position += 1
            previous = spelling
            open_depth = length
        for depth in range(open_depth):
            node_end[path[depth]] = node
        token_start[node] = position
        self._trim(node)

    def fewest_tokens(self, data: bytes) -> list[int] | None:
        """Return the fewest tokens that spell some bytes; None if none do.

        From right to left, it finds the fewest tokens for each suffix of the bytes. Of several ways with equally few
        tokens, it takes the one whose first token is longest. Of several tokens of the same bytes, it takes the first.
        """
        node_byte, node_end, token_start = self.node_byte, self.node_end, self.token_start
        size = len(data)
        counts = zeros(size + 1, size + 1)  # by position: the fewest tokens from there on; size + 1 for none
        lengths = zeros(size + 1)  # the number of bytes of the first of them
        nodes = zeros(size + 1)  # and its node
        counts[size] = 0
        for begin in range(size - 1, -1, -1):
            at = begin
            node = self.first_node[data[at]]
            while node >= 0:
                at += 1
                if token_start[node] < token_start[node + 1] and counts[at] + 1 <= counts[begin]:
                    counts[begin] = counts[at] + 1
                    lengths[begin] = at - begin
                    nodes[begin] = node
                if at == size:
                    break
                child, end = node + 1, node_end[node]  # look among the children for that with the next byte
                while child < end and node_byte[child] != data[at]:
                    child = node_end[child]
                node = child if child < end else -1
        if counts[0] > size:
            return None
        found = []
        begin = 0
        while begin < size:
            found.append(self.tokens[token_start[nodes[begin]]])
            begin += lengths[begin]
        return found

    def tokens_with(self, byte: int) -> list[int]:
        """Return the tokens whose bytes have a byte, in the order of the entries."""
        found = []
        node = 0
        while node < self.node_count:
            if self.node_byte[node] == byte:
                end = self.node_end[node]
                for index in range(self.token_start[node], self.token_start[end]):
                    found.append(self.tokens[index])
                node = end
            else:
                node += 1
        return found

    def in_order(self, tokens: NDArray[np.intc]) -> array[int]:
        """Return some of the tokens, int32[tokens], in the order of the entries."""
        if self._ranks is None:
            size = int(np.asarray(self.tokens).max(initial=-1)) + 1
            self._ranks = np.zeros(size, dtype=np.intc)
            self._ranks[np.asarray(self.tokens)] = np.arange(len(self.tokens), dtype=np.intc)
        in_order: NDArray[np.intc] = np.asarray(self.tokens)[np.sort(self._ranks[tokens])]
        return array("i", in_order.tobytes())

    def _trim(self, node_count: int) -> None:
        """Set the number of nodes, and shorten the arrays to it."""
        self.node_count = node_count
        self.node_byte = head(self.node_byte, node_count)
        self.node_end = head(self.node_end, node_count)
        self.node_depth = head(self.node_depth, node_count)
        self.token_start = head(self.token_start, node_count + 1)

    def followed_by(self, last: TokenTrie, byte: int) -> TokenTrie:
        """Return a trie with the entries of this one that begin with smaller bytes than `byte`, then those of `last`.

        It costs a copy of the arrays, a tenth of the time of building them.

        Args:
            last: its entries begin with `byte` or greater bytes.
            byte: the entries of this trie from this first byte on are left out.
        """
        nodes = self.node_count
        for first in range(255, byte - 1, -1):
            if self.first_node[first] >= 0:
                nodes = self.first_node[first]
        tokens = self.token_start[nodes]
        made = TokenTrie([], [])
        made.node_count = nodes + last.node_count
        made.max_depth = max(self.max_depth, last.max_depth)
        made.node_byte = _joined(self.node_byte, nodes, last.node_byte, 0)
        made.node_end = _joined(self.node_end, nodes, last.node_end, nodes)
        made.node_depth = _joined(self.node_depth, nodes, last.node_depth, 0)
        made.token_start = _joined(self.token_start, nodes, last.token_start, tokens)
        made.tokens = _joined(self.tokens, tokens, last.tokens, 0)
        for first in range(256):
            if first < byte:
                made.first_node[first] = self.first_node[first]
            elif last.first_node[first] >= 0:
                made.first_node[first] = last.first_node[first] + nodes
        return made


def child_of(trie: TokenTrie, node: int, byte: int) -> int:
    """Return the node that a byte leads to from a node (-1 is the root); -1 if there is none."""
    if node < 0:
        return trie.first_node[byte]
    child, end = node + 1, trie.node_end[node]
    while child < end and trie.node_byte[child] != byte:
        child = trie.node_end[child]
    return child if child < end else -1


def _joined(first: array[int], used: int, second: array[int], offset: int) -> array[int]:
    """Return the first `used` values of an array, then those of another one plus an offset."""
    count = len(second)
    made = zeros(used + count)
    made[:used] = first[:used]
    for index in range(count):
        made[used + index] = second[index] + offset
    return made


def _refuse(spelling: bytes, token_id: int) -> None:
    fault = "comes after greater bytes" if spelling else "has no bytes"
    raise VocabularyError(f"entry {spelling!r} (token {token_id}) {fault}: a trie takes sorted, non-empty entries")
