"""Nodes of remainders that were followed from a place in the grammar, so that each is followed from there once.

A *place* is a dotted rule, or a group of items, with the look-ahead that holds there. A token may be read as several
words in many ways where nothing need stand between them, as in a list of names:

    list ::= list name | name        `abc` is one name, or `a` and `bc`, or `ab` and `c`, or three names

After the first name, remainders are all nodes at which a name may end; after the second one, nearly all of these again;
and so on, as often as the longest token has characters. What may follow remainders is the union of what may follow each
of their nodes. So from each place, only the nodes that are new there need be followed. This is done for remainders with
thousands of nodes; others are followed as they are, which takes little.
"""

from __future__ import annotations

from array import array

from structgen.engine.masks.next_bytes import NextBytes
from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import RemainderNodes
from structgen.engine.masks.token_lists import CountedTokens

__all__ = ["Followed", "FollowedNodes"]

# Declared as a C integer in the .pxd, so not importable from here.
MIN_NODES = 2048  # of remainders that are compared; these have bits, as it is VERY_MANY_NODES of `next_bytes.py`


class Followed:
    """The nodes that were followed from one place.

    Attributes:
        noted: remainders that the bits do not have yet: from most places, nothing else is followed.
        bits: uint64 with one bit for each node of the trie; None until a second part is followed.
    """

    def __init__(self) -> None:
        self.noted: list[RemainderNodes] = []
        self.bits: array[int] | None = None


class FollowedNodes:
    """A memory of the nodes that were followed from some places.

    Args:
        store: keeps the nodes.
        next_bytes: makes the bits of very many nodes.
    """

    def __init__(self, store: TableStore, next_bytes: NextBytes) -> None:
        self._store = store
        self._next_bytes = next_bytes
        self._new = CountedTokens(1024)

    def is_large(self, remainders: RemainderNodes) -> bool:
        """Return whether remainders are so many nodes that they are compared, of the vocabulary's trie."""
        if remainders.last - remainders.first < MIN_NODES or remainders.ended is not None:
            return False
        return remainders.trie is self._store.trie and remainders.removed is None

    def new(self, followed: dict[int, Followed], place: int, remainders: RemainderNodes) -> RemainderNodes | None:
        """Return the part of remainders that was not followed from a place before; None if all of it was.

        Args:
            followed: what was followed, by place; it gets these remainders, too.
            place: the place, as a number.
            remainders: the remainders. Few nodes are returned as they are, and so are tries of remainders.
        """
        if not self.is_large(remainders):
            return remainders
        before = followed.get(place)
        if before is None:
            before = followed[place] = Followed()
        before.noted.append(remainders)
        if before.bits is None and len(before.noted) == 1:
            return remainders
        if before.bits is None:
            before.bits = array("Q", bytes(8 * ((remainders.trie.size >> 6) + 1)))
        for noted in before.noted:
            self._add(before.bits, noted)
        before.noted.clear()
        new = self._new
        if new.size == 0:
            return None
        if 2 * new.size > remainders.last - remainders.first:
            return remainders  # other places may have followed the same ones
        return self._store.remainders_at(remainders.trie, new, 0, 0, None)

    def _add(self, bits: array[int], remainders: RemainderNodes) -> None:
        """Set the bits of nodes, uint64 with one for each node of the trie; list those that were not set."""
        new = self._new
        new.size = 0
        if remainders.is_node is None:
            self._next_bytes.make_table(remainders)
        words, pool, own = bits, self._store.pool, remainders.is_node
        if own is None:
            return
        for index in range(len(own)):
            if own[index] & ~words[index]:
                break
        else:
            return
        one = 1
        for at in range(remainders.first, remainders.last):
            node = pool[at]
            if not words[node >> 6] >> (node & 63) & 1:
                words[node >> 6] |= one << (node & 63)
                new.add_counted(node, 0)
