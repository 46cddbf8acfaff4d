"""Tables for states that differ in a count alone, and the making of tables from what a walk has found.

A state `C{m,n} R` (a counted class and what follows it, such as a string's characters and its closing quote) has no
tables of its own for each count: tokens are indexed by how many `C` they begin, and a table for a count is read off.
(Only where C is narrow and R wide, tables are made count by count: nearly all of the index would be tokens inside R.)

Likewise a state with a bound on a count and further conditions: tokens are indexed by the bound they need, counting
what they begin and what is begun at least after them, and the states that differ in the bound alone share this.
"""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.masks.counted_walks import CountedWalks
from structgen.engine.masks.tables import ByCount, CountedTerminal, DenseMask, RemainderNodes, TerminalMask, Trie
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["CountedMasks"]

# Declared as C integers in the .pxd, so not importable from here.
# A list of token ids this long takes longer to write into a mask than a finished one to copy.
SPARSE_TOKENS = 128
# Past this many nodes behind the exits, merging what is left of the tokens costs more than it saves.
MERGED_NODES = 6000
ALL_BITS = 0xFFFFFFFF  # of a word; `~` would give a negative number where this runs uncompiled
# A mask is a copy of a like one, from which so many tokens are removed; with more it is made by itself.
REMOVED_TOKENS = 2048
PAIRS = 64  # of states, in looking whether what follows a class goes on with it
RECORD_BYTES = 500  # about what the tables of a state take besides their lists


class CountedMasks(CountedWalks):
    """What walks find, as tables.

    Attributes, besides those of `CountedWalks`:
        vocabulary: the vocabulary.
        words: uint32 words of a mask.
        empty: uint32[words], the mask of nothing.
        dense, exits: the masks and the exits that the tables refer to.
    """

    def __init__(self, vocabulary: Vocabulary, automata: AutomatonStore) -> None:
        super().__init__(vocabulary, automata)
        self.vocabulary = vocabulary
        self.words = (vocabulary.size + 31) // 32
        self.empty = np.zeros(self.words, dtype=np.uint32)
        self.dense: list[DenseMask] = []
        self.exits: list[RemainderNodes] = []
        self._sorted = zeros(4096)
        self._starts = zeros(64)
        self._next_at = zeros(64)
        self._order = ByCount()  # of the most tokens that were ever inside a counted class,
        self._order_count = zeros(0)  # and by token one more than its count there; 0 for no token of these
        self._insides: list[tuple[int, int]] = []  # large masks of these: how many tokens, and its number in `dense`
        self._merged: dict[tuple[int, bytes, bytes], Trie | None] = {}  # by trie, which lives as long, exits and counts

    def keep_dense(self, mask: np.ndarray) -> int:
        """Keeps a mask, uint32[words]; returns its number in `dense`."""
        self.dense.append(DenseMask(mask))
        self.bytes_used += 4 * self.words
        return len(self.dense) - 1

    def _drop_last_dense(self) -> None:
        self.dense.pop()
        self.bytes_used -= 4 * self.words

    def _add_exits(self, table: TerminalMask, exits: RemainderNodes) -> None:
        """Gives a table exits, which must be the last that were given to any, or its first."""
        if table.first_exit == table.last_exit:
            table.first_exit = len(self.exits)
        self.exits.append(exits)
        table.last_exit = len(self.exits)

    def _meant(self, part: TerminalMask) -> np.ndarray:
        """The dense mask of a table, what is removed from it left out."""
        dense: DenseMask = self.dense[part.dense]
        if part.first_removed == part.last_removed:
            return dense.words
        mask = np.array(dense.words, dtype=np.uint32)
        words = mask
        one = 1
        for index in range(part.first_removed, part.last_removed):
            token = self.pool[index]
            words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        return mask

    def _exits_found(self, trie: Trie, least: int, most: int, removed: frozenset[int] | None) -> RemainderNodes:
        """The exits that the last walk has found."""
        first = self._keep(self._exits, self._exit_size)
        return RemainderNodes(trie, first, first + self._exit_size, least, most, removed)

    def _record(self) -> TerminalMask:
        """Tables with the tokens inside that the last walk has found."""
        made = TerminalMask()
        if self._token_size > SPARSE_TOKENS:
            made.dense = self._made_dense(self._tokens, 0, self._token_size)
        else:
            made.first_token = self._keep(self._tokens, self._token_size)
            made.last_token = made.first_token + self._token_size
        self.bytes_used += RECORD_BYTES
        return made

    def _made_dense(self, tokens: array[int], first: int, last: int) -> int:
        mask = np.zeros(self.words, dtype=np.uint32)
        words = mask
        one = 1
        for index in range(first, last):
            token = tokens[index]
            words[token >> 5] |= one << (token & 31)
        return self.keep_dense(mask)

    # -- a counted class and its rest -------------------------------------------------------------------------------

    def _make_counted(self, char_state: int, rest_state: int, most: int) -> CountedTerminal | None:
        """Indexes the vocabulary for `C* R`; None where a text could be read in more than one way.

        Args:
            char_state: that of C,
            rest_state: and that of R.
            most: how many C may come in the state that is asked for; -1 is without bound.
        """
        absorbs = self._absorbs(rest_state, char_state)
        if not self._walk_counted(char_state, rest_state, absorbs):
            return None
        made = self._new_counted(char_state, rest_state, -1 if absorbs else most)
        made.absorbs = absorbs
        return made

    def _absorbs(self, rest_state: int, char_state: int) -> bool:
        """Whether one more C before it changes nothing in `rest_state`."""
        automata = self.automata
        seen = {(char_state, rest_state)}
        stack = [(char_state, rest_state)]
        while stack:
            char, rest = stack.pop()
            last_after = last_rest = DEAD
            for byte in range(256):
                after = automata.next(char, byte)
                after_rest = automata.next(rest, byte)
                if not after or (after == last_after and after_rest == last_rest):
                    continue
                last_after, last_rest = after, after_rest
                pair = (after, after_rest)
                if automata.table.accepting[after]:
                    if after_rest != rest_state or automata.has_next(after):
                        return False
                elif pair not in seen:
                    if not after_rest or len(seen) >= PAIRS:
                        return False
                    seen.add(pair)
                    stack.append(pair)
        return True

    def _new_counted(self, state: int, rest_state: int, most: int) -> CountedTerminal:
        """The index of what the last walk found; see `CountedTerminal` and `_make_counted`."""
        made = CountedTerminal(
            state, rest_state, self._largest, self._by_count(self._rest, self._rest_counts, self._rest_size)
        )
        if self._token_size > SPARSE_TOKENS:
            made.inside_mask = self._inside_mask()
        if made.inside_mask < 0 or 0 <= most < self._largest:
            made.inside = self._inside_by_count()
        made.exit_count = self._exit_size
        made.exit_nodes = self._keep(self._exits, self._exit_size)
        made.exit_counts = self._keep(self._exit_counts, self._exit_size)
        for index in range(self._exit_size):
            made.largest_exit = max(made.largest_exit, self._exit_counts[index])
        made.remainders = self._merge(self.trie, self._exits[: self._exit_size], self._exit_counts[: self._exit_size])
        return made

    def _by_count(self, tokens: array[int], counts: array[int], size: int) -> ByCount:
        """The first tokens, sorted by count."""
        width = self._largest + 2
        while width > len(self._starts):
            self._starts = zeros(2 * len(self._starts))
            self._next_at = zeros(2 * len(self._next_at))
        while size > len(self._sorted):
            self._sorted = zeros(2 * len(self._sorted))
        starts, places, in_order = self._starts, self._next_at, self._sorted
        for count in range(width):
            starts[count] = 0
        for index in range(size):
            starts[counts[index] + 1] += 1
        places[0] = 0
        for count in range(1, width):
            starts[count] += starts[count - 1]
            places[count] = starts[count]
        for index in range(size):
            at = places[counts[index]]
            places[counts[index]] = at + 1
            in_order[at] = tokens[index]
        made = ByCount()
        made.first = self._keep(in_order, size)
        made.size = size
        made.starts = self._keep(starts, width)
        made.width = width
        return made

    def _inside(self, counted: CountedTerminal) -> ByCount:
        """The tokens inside by count; the walk is made again where nothing depended on their counts before."""
        inside: ByCount | None = counted.inside
        if inside is None:
            if counted.rest_state < 0:
                self._walk_bounded(counted.state)
            else:
                self._walk_counted(counted.state, counted.rest_state, counted.absorbs)
            inside = counted.inside = self._inside_by_count()
        return inside

    def _inside_by_count(self) -> ByCount:
        """The tokens inside by count, as the last walk found them; among others where they are many.

        Nearly all classes leave out a few characters of a string's; their tokens stand in one order, as sorting and
        keeping a hundred thousand numbers takes milliseconds.
        """
        size = self._token_size
        if size > SPARSE_TOKENS and self._is_in_order():
            return self._order
        made = self._by_count(self._tokens, self._token_counts, size)
        if size > SPARSE_TOKENS and size > self._order.size:
            self._order = made
            self._order_count = zeros(self.vocabulary.size)
            self.bytes_used += 4 * self.vocabulary.size
            for index in range(size):
                self._order_count[self._tokens[index]] = self._token_counts[index] + 1
        return made

    def _is_in_order(self) -> bool:
        """Whether all tokens inside have the counts that they have in the order."""
        if not self._order.size:
            return False
        for index in range(self._token_size):
            if self._order_count[self._tokens[index]] != self._token_counts[index] + 1:
                return False
        return True

    def _inside_mask(self) -> int:
        """The number of a dense mask of the tokens inside; that of another state if they are the same."""
        size = self._token_size
        number = self._made_dense(self._tokens, 0, size)
        for known_size, known in self._insides:
            if known_size == size and np.array_equal(self.dense[known].words, self.dense[number].words):
                self._drop_last_dense()
                return known
        self._insides.append((size, number))
        return number

    def _of_count(self, counted: CountedTerminal, least: int, most: int) -> TerminalMask:
        """The tables for `C{least,most} R`; `most` -1 is without bound."""
        largest = counted.largest
        least = min(least, largest + 1)
        most = largest if most < 0 else min(most, largest)
        made: TerminalMask | None = counted.masks.get((least, most))
        if made is None:
            made = counted.masks[least, most] = self._made_of_count(counted, least, most)
        return made

    def _made_of_count(self, counted: CountedTerminal, least: int, most: int) -> TerminalMask:
        rest = counted.rest
        made = TerminalMask()
        made.first_exit, made.last_exit = self._exits_of_count(counted, least, most)
        self.bytes_used += RECORD_BYTES
        if counted.inside_mask >= 0 and most >= counted.largest:
            made.dense = counted.inside_mask
            self._token_size = 0
        else:
            self._add_inside(made, counted, most)
        pool = self.pool
        if least <= most:
            self._append(pool, rest.first + pool[rest.starts + least], rest.first + pool[rest.starts + most + 1])
        if made.dense < 0 and self._token_size > SPARSE_TOKENS:
            made.dense = self._made_dense(self._tokens, 0, self._token_size)
            self._token_size = 0
        made.first_token = self._keep(self._tokens, self._token_size)
        made.last_token = made.first_token + self._token_size
        return made

    def _add_inside(self, made: TerminalMask, counted: CountedTerminal, most: int) -> None:
        """Gives a table the tokens that begin at most so many C: a mask, and the first of `_tokens`."""
        inside = self._inside(counted)
        pool = self.pool
        last = inside.first + inside.size
        stop = inside.first + pool[inside.starts + min(most + 1, inside.width - 1)]
        self._token_size = 0
        if counted.inside_mask < 0:
            self._append(pool, inside.first, stop)
        elif last - stop > REMOVED_TOKENS:
            self._append_set(pool, inside.first, stop, counted.inside_mask)
            if self._token_size > SPARSE_TOKENS:
                made.dense = self._made_dense(self._tokens, 0, self._token_size)
                self._token_size = 0
        else:
            made.dense = counted.inside_mask
            made.first_removed, made.last_removed = stop, last

    def _append_set(self, tokens: array[int], first: int, last: int, dense: int) -> None:
        """Appends those of the tokens that are set in a dense mask."""
        words = self.dense[dense].words
        one = 1
        for index in range(first, last):
            if words[tokens[index] >> 5] >> (tokens[index] & 31) & one:
                self._append(tokens, index, index + 1)

    def _exits_of_count(self, counted: CountedTerminal, least: int, most: int) -> tuple[int, int]:
        """Where the exits for a state with these counts are; no exit comes after more than `largest_exit`."""
        key = (min(least, counted.largest_exit + 1), min(most, counted.largest_exit))
        found: tuple[int, int] | None = counted.exits.get(key)
        if found is None:
            least, most = key
            begin = len(self.exits)
            self._exit_size = 0
            for index in range(counted.exit_count):
                if least <= self.pool[counted.exit_counts + index] <= most:
                    self._add_exit(self.pool[counted.exit_nodes + index], 0)
            if self._exit_size and counted.remainders is not None:
                self.exits.append(RemainderNodes(counted.remainders, 0, 1, least, most, None))
            elif self._exit_size:
                self.exits.append(self._exits_found(self.trie, 0, 0, None))
            found = counted.exits[key] = (begin, len(self.exits))
        return found

    # -- what is left of the tokens ---------------------------------------------------------------------------------

    def _merge(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie | None:
        """What is left of the tokens after the exits, as one trie; None where a list of exits serves better.

        With counts it is always better, unless it grows too large. The same exits come again and again: at the end of
        a string whatever its characters.
        """
        if not len(exits):
            return None
        key = (id(trie), bytes(exits), b"" if counts is None else bytes(counts))
        if key not in self._merged:
            self._merged[key] = self._new_merged(trie, exits, counts)
            self.bytes_used += 2 * len(key[1])
        return self._merged[key]

    def _new_merged(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie | None:
        nodes = 0
        for index in range(len(exits)):
            nodes += trie.end[exits[index]] - exits[index] - 1
            if nodes > MERGED_NODES:
                return None
        spellings = self.vocabulary.spellings
        behind: dict[bytes, list[int]] = {}  # by what is left: tokens and their counts in turn, for most have one
        for index in range(len(exits)):
            exit_node = exits[index]
            skipped = trie.depth[exit_node]
            count = counts[index] if counts is not None else 0
            for at in range(trie.token_start[exit_node + 1], trie.token_start[trie.end[exit_node]]):
                token = trie.tokens[at]
                spelling = spellings[token]
                left = spelling[skipped:]
                pairs = behind.get(left)
                if pairs is None:
                    pairs = behind[left] = []
                pairs.append(token)
                pairs.append(count)
        texts: list[bytes] = []
        tokens: list[int] = []
        token_counts: list[int] = []
        for left in sorted(behind):
            pairs = behind[left]
            for at in range(0, len(pairs), 2):
                texts.append(left)
                tokens.append(pairs[at])
                token_counts.append(pairs[at + 1])
        merged = TokenTrie(texts, tokens)
        self.bytes_used += 16 * len(merged.node_byte) + 8 * len(tokens)
        return Trie(merged, array("i", token_counts))
