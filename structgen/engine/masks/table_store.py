"""The arrays, dense masks and remainders that the tables of one vocabulary refer to by number."""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import grown, room
from structgen.engine.constants import ALL_BITS, MAX_LISTED_TOKENS, MAX_ROUNDS, RECORD_BYTES, ROOT_NODE
from structgen.engine.masks.tables import DenseMask, RemainderNodes, TerminalMask, Trie
from structgen.engine.masks.token_lists import CountedTokens, FoundTokens
from structgen.engine.vocabulary.marks import MARK_BYTE

__all__ = ["TableStore"]

# Declared as C integers in the .pxd, so not importable from here.
POOL = 16_000_000  # numbers; the tables of some ten thousand schemas refer to so many
FACTOR = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio: spreads what it is multiplied by over all bits
ALL_64_BITS = 2**64 - 1
ENTRY_BYTES = 150  # about the size of remainders, their number in a dictionary included


class TableStore:
    """The masks, lists and remainders that the tables of one vocabulary refer to.

    Args:
        trie: the vocabulary's trie.
        size: the number of tokens of the vocabulary.

    Attributes:
        trie: the vocabulary's trie.
        words: the number of uint32 words of a mask.
        empty: uint32[words], the mask that allows nothing.
        pool: int32, tokens and trie nodes, one list after another.
        dense: masks of many tokens; `TerminalMask.dense` is an index.
        remainders: what is left of tokens after a terminal's end; `TerminalMask.first_remainders` is an index.
        whole: the remainder of every token before its first byte.
        bytes_used: about how many bytes masks and lists take.
    """

    def __init__(self, trie: Trie, size: int) -> None:
        self.trie = trie
        self.words = (size + 31) // 32
        self.empty = np.zeros(self.words, dtype=np.uint32)
        self.pool = room(POOL)
        self.pool[0] = ROOT_NODE
        self._pool_size = 1
        self.dense: list[DenseMask] = []
        self.remainders: list[RemainderNodes] = []
        self.whole = RemainderNodes(trie, 0, 1, 0, 0, None)
        self.bytes_used = 0
        self._remainders_by_hash: dict[int, RemainderNodes] = {}
        self._remainders_of_trie: dict[tuple[int, int, int], RemainderNodes] = {}  # by identity: they keep it alive
        self._numbered = 0
        self._rounds = 0
        # By the identities of tables, which are kept alive here: another table must not get the identity of one.
        self._united: dict[tuple[int, ...], tuple[tuple[TerminalMask, ...], TerminalMask]] = {}
        self._inside_both: dict[tuple[int, int], tuple[TerminalMask, TerminalMask, TerminalMask]] = {}
        marks = self.trie.child(ROOT_NODE, MARK_BYTE)
        self._first_mark = trie.token_start[trie.size if marks < 0 else marks]  # a token may have a text and a mark
        # The index in `dense` of the mask of all tokens before the marks, made before the first mask is wanted.
        self._all = self.dense_of(trie.tokens, 0, self._first_mark)

    # -- lists ------------------------------------------------------------------------------------------------------

    def keep(self, values: array[int], count: int) -> int:
        """Copy the first values into the pool; return the index of the first there."""
        first = self._pool_size
        before = self.pool  # goes when all is in place: see `Matcher._fill`
        if first + count > len(before):
            wider = grown(before, first)
            while first + count > len(wider):
                wider = grown(wider, first)
            self.pool = wider
        for index in range(count):
            self.pool[first + index] = values[index]
        self._pool_size = first + count
        self.bytes_used += 4 * count
        return first

    def keep_tokens(self, table: TerminalMask, tokens: CountedTokens) -> None:
        """Make a list of tokens those of a table that are not in its dense mask."""
        table.first_token = self.keep(tokens.values, tokens.size)
        table.last_token = table.first_token + tokens.size

    # -- dense masks ------------------------------------------------------------------------------------------------

    def keep_dense(self, mask: np.ndarray) -> int:
        """Keep a mask, uint32[words]; return its index in `dense`."""
        self.dense.append(DenseMask(mask))
        self.bytes_used += 4 * self.words
        return len(self.dense) - 1

    def drop_last_dense(self) -> None:
        """Forget the mask that was kept last."""
        self.dense.pop()
        self.bytes_used -= 4 * self.words

    def dense_of(self, tokens: array[int], first: int, last: int) -> int:
        """Keep the mask of `tokens[first:last]`; return its index in `dense`."""
        number = self.keep_dense(np.zeros(self.words, dtype=np.uint32))
        dense: DenseMask = self.dense[number]
        words = dense.words
        one = 1
        for index in range(first, last):
            token = tokens[index]
            words[token >> 5] |= one << (token & 31)
        return number

    def dense_of_found(self, found: FoundTokens) -> int:
        """Keep the mask of the tokens inside that a walk has found; return its index in `dense`."""
        many = self.trie.token_start[self.trie.size] // 2
        if found.is_ordered and found.inside_count() - found.inside.size > many:
            return self._dense_without_gaps(found)
        number = self.dense_of(found.inside.values, 0, found.inside.size)
        dense: DenseMask = self.dense[number]
        words, tokens, below = dense.words, self.trie.tokens, found.below.values
        one = 1
        for at in range(0, found.below.size, 4):  # many short ranges: a call for each would take longer than its tokens
            for index in range(below[at], below[at + 1]):
                token = tokens[index]
                words[token >> 5] |= one << (token & 31)
        return number

    def _dense_without_gaps(self, found: FoundTokens) -> int:
        """Keep that mask where most tokens are in the ranges of `found.below`, as in strings.

        It is the mask of all tokens but those between the ranges, which are few, and of the tokens of `found.inside`.
        A token between the ranges may be in one of them, too, if it is there by its mark.
        """
        tokens = self.trie.tokens
        count = self.trie.token_start[self.trie.size]
        everything: DenseMask = self.dense[self._all]
        number = self.keep_dense(np.array(everything.words, dtype=np.uint32))
        dense: DenseMask = self.dense[number]
        found.skip(count, count, 0, 0)  # an empty range after the last gap
        words, below, inside = dense.words, found.below.values, found.inside.values
        one = 1
        last = 0
        for at in range(0, found.below.size, 4):
            for index in range(last, min(below[at], self._first_mark)):
                token = tokens[index]
                words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
            last = below[at + 1]
            for index in range(max(below[at], self._first_mark), last):
                token = tokens[index]
                words[token >> 5] |= one << (token & 31)
        for index in range(found.inside.size):
            token = inside[index]
            words[token >> 5] |= one << (token & 31)
        return number

    def words_of(self, table: TerminalMask) -> np.ndarray:
        """Return the dense mask of a table without the tokens that the table removes, uint32[words]."""
        dense: DenseMask = self.dense[table.dense]
        if table.first_removed == table.last_removed:
            return dense.words
        mask = np.array(dense.words, dtype=np.uint32)
        words = mask
        one = 1
        for index in range(table.first_removed, table.last_removed):
            token = self.pool[index]
            words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        return mask

    def united(self, tables: list[TerminalMask]) -> TerminalMask:
        """Return a table whose dense mask is the union of those of several, the tokens they remove left out."""
        key = tuple([id(table) for table in tables])
        kept = self._united.get(key)
        if kept is None:
            kept = self._united[key] = (tuple(tables), self._union_of(tables))
        return kept[1]

    def _union_of(self, tables: list[TerminalMask]) -> TerminalMask:
        """Return what `united` does; one of the tables, if it has all tokens of the others."""
        mask = np.zeros(self.words, dtype=np.uint32)
        words = mask
        for table in tables:
            self._add_words(words, self.words_of(table))
        for table in tables:
            if self.are_equal(words, self.words_of(table)):
                return table
        made = TerminalMask()
        made.dense = self.keep_dense(mask)
        self.bytes_used += RECORD_BYTES
        return made

    def inside_both(self, left: TerminalMask, right: TerminalMask) -> TerminalMask:
        """Return a table of the tokens inside of two tables, without remainders."""
        key = (id(left), id(right))
        kept = self._inside_both.get(key)
        if kept is None:
            made = TerminalMask()
            made.dense = self.keep_dense(self._inside(left) & self._inside(right))
            self.bytes_used += RECORD_BYTES
            kept = self._inside_both[key] = (left, right, made)
        return kept[2]

    def _inside(self, table: TerminalMask) -> np.ndarray:
        """Return the tokens inside of a table as a mask, uint32[words]."""
        mask = np.zeros(self.words, dtype=np.uint32)
        words = mask
        if table.dense >= 0:
            self._add_words(words, self.words_of(table))
        one = 1
        for index in range(table.first_token, table.last_token):
            token = self.pool[index]
            words[token >> 5] |= one << (token & 31)
        return mask

    def _add_words(self, words: np.ndarray, others: np.ndarray) -> None:
        """Add the tokens of a mask to another one, both uint32[words]."""
        for index in range(self.words):
            words[index] |= others[index]

    def are_equal(self, words: np.ndarray, others: np.ndarray) -> bool:
        """Return whether two masks are equal, both uint32[words]."""
        for index in range(self.words):  # noqa: SIM110  (a generator would not be compiled to a loop)
            if words[index] != others[index]:
                return False
        return True

    # -- tables and remainders --------------------------------------------------------------------------------------

    def table_of(self, found: FoundTokens) -> TerminalMask:
        """Return a new table of the tokens inside that a walk has found: a dense mask where they are many."""
        made = TerminalMask()
        if found.inside_count() > MAX_LISTED_TOKENS:
            made.dense = self.dense_of_found(found)
        else:
            found.add_below(self.trie.tokens, self.trie.token_count)
            self.keep_tokens(made, found.inside)
        self.bytes_used += RECORD_BYTES
        return made

    def add_remainders(self, table: TerminalMask, remainders: RemainderNodes) -> None:
        """Give a table remainders. No other table may have been given any since this one got its first."""
        if table.first_remainders == table.last_remainders:
            table.first_remainders = len(self.remainders)
        self.remainders.append(remainders)
        table.last_remainders = len(self.remainders)

    def remainders_at(
        self, trie: Trie, exits: CountedTokens, min_count: int, max_count: int, removed: frozenset[int] | None
    ) -> RemainderNodes:
        """Return what is left of the tokens after some nodes of a trie; see `RemainderNodes` for the arguments.

        Terminals that end with the same byte often have the same nodes. These get the same object, so what comes after
        it is found once.
        """
        self._sort(exits)
        hashed = min_count ^ max_count << 8
        for index in range(exits.size):
            hashed = (hashed ^ exits.values[index]) * FACTOR & ALL_64_BITS
            hashed ^= hashed >> 29
        known = self._remainders_by_hash.get(hashed)
        if known is not None and self._is_same(known, trie, exits, min_count, max_count, removed):
            return known
        first = self.keep(exits.values, exits.size)
        made = RemainderNodes(trie, first, first + exits.size, min_count, max_count, removed)
        self._remainders_by_hash[hashed] = made
        self.bytes_used += ENTRY_BYTES
        return made

    def _sort(self, nodes: CountedTokens) -> None:
        """Sort nodes, and keep each once. Most walks find them so. Their counts are not needed any more."""
        values = nodes.values
        for index in range(1, nodes.size):
            if values[index - 1] >= values[index]:
                break
        else:
            return
        np.asarray(values)[: nodes.size].sort()
        kept = 1
        for index in range(1, nodes.size):
            if values[index] != values[kept - 1]:
                values[kept] = values[index]
                kept += 1
        nodes.size = kept

    def has_node_in(self, remainders: RemainderNodes, first: int, last: int) -> bool:
        """Return whether remainders begin at one of the nodes from `first` to `last - 1`."""
        low, high = remainders.first, remainders.last
        while low < high:
            middle = (low + high) >> 1
            if self.pool[middle] < first:
                low = middle + 1
            else:
                high = middle
        return low < remainders.last and self.pool[low] < last

    def most_left(self, remainders: RemainderNodes) -> int:
        """Return the largest number of bytes that is left of a token."""
        trie = remainders.trie
        most = 0
        for at in range(remainders.first, remainders.last):
            node = self.pool[at]
            if node == ROOT_NODE:
                most = max(most, trie.max_depth)
            else:
                most = max(most, trie.max_depth - trie.depth[node] if trie.has_counts else trie.height[node])
        return most

    def remainders_of(self, trie: Trie, min_count: int, max_count: int) -> RemainderNodes:
        """Return all texts of a trie of remainders whose tokens have counts within bounds."""
        key = (id(trie), min_count, max_count)
        known = self._remainders_of_trie.get(key)
        if known is None:
            known = self._remainders_of_trie[key] = RemainderNodes(trie, 0, 1, min_count, max_count, None)
            self.bytes_used += ENTRY_BYTES
        return known

    def _is_same(
        self,
        known: RemainderNodes,
        trie: Trie,
        exits: CountedTokens,
        min_count: int,
        max_count: int,
        removed: frozenset[int] | None,
    ) -> bool:
        """Return whether remainders are those after some nodes of a trie."""
        if known.trie is not trie or known.last - known.first != exits.size or known.removed != removed:
            return False
        if known.min_count != min_count or known.max_count != max_count:
            return False
        for index in range(exits.size):  # noqa: SIM110  (a generator would not be compiled to a loop)
            if self.pool[known.first + index] != exits.values[index]:
                return False
        return True

    def give_number(self, remainders: RemainderNodes) -> None:
        """Give remainders a number of their own."""
        self._numbered += 1
        remainders.number = self._numbered

    def new_round(self) -> int:
        """Return the number of a mask that is about to be made."""
        self._rounds = 1 if self._rounds == MAX_ROUNDS else self._rounds + 1
        return self._rounds
