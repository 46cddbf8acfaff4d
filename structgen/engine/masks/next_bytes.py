"""The bytes that what is left of tokens begins with, and the trie nodes that they lead to.

An identifier may end at each letter of a word, so its remainders begin at 50,000 nodes. Nearly all of these go on with
letters, and hardly any with what may come after an identifier, such as `(` or a space:

    byte   nodes it leads to
    (      those of `foo(`, `get(`, ...
    a      those of `ba`, `data`, ...

With such a table a walk begins at the few nodes that its state can reach.

Where the nodes are very many, the table would be as large as they are, and most of it is never looked at. Then one bit
for each node of the trie says whether what is left begins there. The nodes that a byte leads to are found among those
of this byte in the whole trie, by the bits of their parents.
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import zeros
from structgen.engine.constants import MANY_NODES, ROOT_NODE
from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import RemainderNodes
from structgen.engine.masks.token_lists import TokenList

__all__ = ["NextBytes"]

ONE = 1  # an object: sets of bytes have 256 bits

# Declared as C integers in the .pxd, so not importable from here.
BYTES = 256
VERY_MANY_NODES = 2048  # from so many on, bits take less room, and less time than a table


class NextBytes:
    """The first bytes of remainders, which may belong to one of several tries.

    Args:
        store: keeps the nodes.
    """

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._starts = zeros(BYTES + 1)
        self._nodes = TokenList(1024)
        self._sorted = zeros(1024)
        self._entries = zeros(2 * BYTES + 2)

    def bits(self, remainders: RemainderNodes) -> int:
        """Return a bit for each byte that some of what is left of tokens begins with."""
        starts, pool = self._starts, self._store.pool
        found = 0
        if remainders.last - remainders.first >= VERY_MANY_NODES and not remainders.last_entry:
            self.make_table(remainders)
            pool = self._store.pool
        if remainders.last_entry:
            for entry in range(remainders.first_entry, remainders.last_entry, 2):
                found |= ONE << pool[entry]
            return found
        self._find_nodes(remainders)
        for byte in range(BYTES):
            if starts[byte + 1] > starts[byte]:
                found |= ONE << byte
        return found

    def make_table(self, remainders: RemainderNodes) -> None:
        """Make the table of remainders: `first_entry` and `last_entry`."""
        store, starts, entries = self._store, self._starts, self._entries
        if remainders.last - remainders.first >= VERY_MANY_NODES and not remainders.trie.has_counts:
            self._make_bits(remainders)
            return
        self._find_nodes(remainders)
        size = self._nodes.size
        if size > len(self._sorted):
            self._sorted = zeros(2 * size)
        self._sort(remainders)
        first = store.keep(self._sorted, size)
        count = 0
        for byte in range(BYTES):
            if starts[byte + 1] > starts[byte]:
                entries[count] = byte
                entries[count + 1] = first + starts[byte]
                count += 2
        entries[count] = BYTES
        entries[count + 1] = first + size
        remainders.first_entry = store.keep(entries, count + 2)
        remainders.last_entry = remainders.first_entry + count

    def _make_bits(self, remainders: RemainderNodes) -> None:
        """Make the bits of remainders, and the entries of the bytes that lead on from them."""
        trie, store, entries = remainders.trie, self._store, self._entries
        bits = array("Q", bytes(8 * ((trie.size >> 6) + 1)))
        words = bits
        one = 1
        for at in range(remainders.first, remainders.last):
            node = store.pool[at]
            words[node >> 6] |= one << (node & 63)
        remainders.is_node = bits
        store.bytes_used += 8 * len(bits)
        count = 0
        for byte in range(BYTES):
            for at in range(trie.first_of_byte[byte], trie.first_of_byte[byte + 1]):
                node = trie.parent_of[at]
                if words[node >> 6] >> (node & 63) & 1:
                    entries[count] = byte
                    entries[count + 1] = 0
                    count += 2
                    break
        remainders.first_entry = store.keep(entries, count)
        remainders.last_entry = remainders.first_entry + count

    def find(self, remainders: RemainderNodes, byte: int, found: TokenList) -> None:
        """Set `found` to the nodes that a byte leads to from remainders."""
        found.size = 0
        trie = remainders.trie
        if remainders.last - remainders.first < MANY_NODES:
            pool = self._store.pool
            for at in range(remainders.first, remainders.last):
                node = trie.child(pool[at], byte)
                if node >= 0:
                    found.add(node)
            return
        if not remainders.last_entry:
            self.make_table(remainders)
        bits = remainders.is_node
        if bits is not None:
            for at in range(trie.first_of_byte[byte], trie.first_of_byte[byte + 1]):
                node = trie.parent_of[at]
                if bits[node >> 6] >> (node & 63) & 1:
                    found.add(trie.by_byte[at])
            return
        pool = self._store.pool
        for entry in range(remainders.first_entry, remainders.last_entry, 2):
            if pool[entry] == byte:
                found.extend(pool, pool[entry + 1], pool[entry + 3])

    def _find_nodes(self, remainders: RemainderNodes) -> None:
        """List the nodes one byte further, and count those with a smaller byte than each."""
        trie, nodes, starts, pool = remainders.trie, self._nodes, self._starts, self._store.pool
        nodes.size = 0
        for byte in range(BYTES + 1):
            starts[byte] = 0
        for at in range(remainders.first, remainders.last):
            node = pool[at]
            stop = trie.size if node == ROOT_NODE else trie.end[node]
            node += 1
            while node < stop:
                nodes.add(node)
                starts[trie.byte[node] + 1] += 1
                node = trie.end[node]
        for byte in range(BYTES):
            starts[byte + 1] += starts[byte]

    def _sort(self, remainders: RemainderNodes) -> None:
        """Sort the nodes by their bytes."""
        starts, nodes, in_order = self._starts, self._nodes, self._sorted
        node_byte = remainders.trie.byte
        for index in range(nodes.size):
            byte = node_byte[nodes.values[index]]
            in_order[starts[byte]] = nodes.values[index]
            starts[byte] += 1
        for byte in range(BYTES, 0, -1):  # each start is that of the next byte now
            starts[byte] = starts[byte - 1]
        starts[0] = 0
