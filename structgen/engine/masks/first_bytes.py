"""Estimates, from the first bytes of tokens, of how much of a vocabulary a state allows. No walk over the trie is made.

The weight of a byte is the number of nodes of the vocabulary's trie below it. In English vocabularies a fifth of the
nodes are below the space alone. So the few bytes with most nodes give a good estimate:

    state                  wide: more than a quarter of the nodes come below bytes that begin its texts
    a JSON string, inside  yes
    a number               no: few tokens begin with digits
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import head
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.masks.tables import Trie

__all__ = ["FirstBytes"]

# Declared as C integers in the .pxd, so not importable from here.
WIDE = 4  # a state is wide if more than 1 / WIDE of all nodes come below its first bytes
MAX_BYTES_AFTER = 16  # looked at to find the state after most tokens' first bytes


class FirstBytes:
    """The first bytes of tokens, those with most nodes below them first.

    Args:
        automata: the automata of the states.
        trie: the vocabulary's trie.
    """

    def __init__(self, automata: AutomatonStore, trie: Trie) -> None:
        self._automata = automata
        self._trie = trie
        found = [byte for byte in range(256) if trie.first_node[byte] >= 0]
        found.sort(key=self._nodes_after, reverse=True)
        self._bytes = head(array("i", found), len(found))

    def is_wide(self, state: int) -> bool:
        """Return whether a state is wide: bytes that lead on from it have more than a quarter of the trie's nodes."""
        needed = self._trie.size // WIDE
        left = self._trie.size  # nodes after the bytes that were not looked at yet
        for index in range(len(self._bytes)):
            if needed < 0 or needed >= left:
                break
            byte = self._bytes[index]
            nodes = self._nodes_after(byte)
            left -= nodes
            if self._automata.leads_on(state, byte):
                needed -= nodes
        return needed < 0

    def _nodes_after(self, byte: int) -> int:
        """Return how many nodes of the trie a first byte leads to."""
        node = self._trie.first_node[byte]
        return self._trie.end[node] - node

    def resembles(self, state: int, like: int) -> bool:
        """Return whether two states become the same one after the first bytes of many tokens.

        A byte is *same* if it leads both to one state that is not DEAD, and *different* if it leads to two states. The
        answer is True if the nodes below same bytes are more than a quarter of those below different bytes.
        """
        automata = self._automata
        same = different = 0
        left = self._trie.size  # nodes after the bytes that were not looked at yet
        for index in range(len(self._bytes)):
            if 4 * same > different + left or 4 * (same + left) <= different:
                break
            byte = self._bytes[index]
            nodes = self._nodes_after(byte)
            left -= nodes
            mine = automata.next(state, byte)
            if mine != automata.next(like, byte):
                different += nodes
            elif mine:
                same += nodes
        return 4 * same > different

    def after_most(self, state: int) -> int:
        """Return the state after the first bytes of most tokens; DEAD if there is none."""
        found, lead = DEAD, 0
        for index in range(min(MAX_BYTES_AFTER, len(self._bytes))):
            byte = self._bytes[index]
            after, nodes = self._automata.next(state, byte), self._nodes_after(byte)
            if after == found:
                lead += nodes
            elif lead > nodes:
                lead -= nodes
            else:
                found, lead = after, nodes - lead
        return found
