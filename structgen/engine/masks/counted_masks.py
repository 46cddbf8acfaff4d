"""Tables of states that differ only in a count, read off one index of the vocabulary's tokens by count.

A state `C{m,n} R` is a counted class C and what follows it, such as a string's characters and its closing quote. It has
no tables of its own for each count: tokens are indexed by how many `C` they begin. For `[a-z]{m,n}!`:

    count   inside                rest         C{0,2} R allows inside and rest up to count 2,
    0                             !            C{1,3} R inside up to 3, and rest from 1 to 3
    1       a b c                 a! b!
    2       ab th                 ab!
    3       the

(Only where C is narrow and R wide are tables made count by count: nearly all of the index would be tokens inside R.)

A state with a bound on a count and further conditions has an index, too: by the bound that each token needs, which is
what it begins and at least what must still begin after it. The states that differ only in the bound share this index.
"""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import ALL_BITS, DEAD, MAX_LISTED_TOKENS, NO_REST, RECORD_BYTES
from structgen.engine.masks.counted_walks import BoundedWalk, CountedWalk
from structgen.engine.masks.remainder_tries import RemainderTries
from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import ByCount, CountedTerminal, DenseMask, TerminalMask
from structgen.engine.masks.token_lists import CountedTokens, FoundTokens

__all__ = ["CountedMasks"]

# Declared as C integers in the .pxd, so not importable from here.
# So many tokens are removed from a mask that states share; where it were more, a state gets a mask of its own.
MAX_REMOVED_TOKENS = 2048
REMOVED_PER_KEPT = 3  # tokens that are removed from a copy of a mask in the time in which one is added to a new mask
MAX_OTHERS = 8192  # tokens whose counts are not their numbers of characters; with more an index has its own order
OTHERS_ROOM = 1024  # such tokens for which there is room at first
MAX_PAIRS = 64  # of states, looked at to see whether what follows a class goes on with it


class CountedMasks:
    """The tables of states that differ only in a count.

    Args:
        automata: the automata of the states.
        store: keeps what the tables refer to.
        remainder_tries: merge what is left of tokens after exits.
        counted_walk: the walk for `C* R`.
        bounded_walk: the walk for a state without its bound.
        found: the results of both walks.
        vocabulary_size: the number of tokens.
    """

    def __init__(
        self,
        automata: AutomatonStore,
        store: TableStore,
        remainder_tries: RemainderTries,
        counted_walk: CountedWalk,
        bounded_walk: BoundedWalk,
        found: FoundTokens,
        vocabulary_size: int,
    ) -> None:
        self._automata = automata
        self._store = store
        self._remainder_tries = remainder_tries
        self._counted_walk = counted_walk
        self._bounded_walk = bounded_walk
        self._found = found
        self._vocabulary_size = vocabulary_size
        self._sorted = zeros(4096)
        self._starts = zeros(64)
        self._next_at = zeros(64)
        self._others = CountedTokens(OTHERS_ROOM)
        # All tokens by their numbers of characters, and by token that number; none where no index has a mask.
        self._order = ByCount()
        self._characters = zeros(0)
        if store.trie.token_start[store.trie.size] > MAX_LISTED_TOKENS:
            self._sort_vocabulary()
        # Large masks of tokens inside: how many tokens each has, and its index in `TableStore.dense`.
        self._inside_masks: list[tuple[int, int]] = []

    def _sort_vocabulary(self) -> None:
        """Sort all tokens by their numbers of characters.

        Nearly all characters are each one of what strings count. So the indices share this order, as sorting and
        keeping a hundred thousand numbers takes milliseconds. It is made before the first mask is wanted.
        """
        trie, tokens = self._store.trie, CountedTokens(len(self._store.trie.tokens))
        self._characters = characters = zeros(self._vocabulary_size)
        for token in range(self._vocabulary_size):
            characters[token] = -1
        largest = 0
        for index in range(trie.token_start[trie.size]):
            token = trie.tokens[index]
            if characters[token] < 0:  # else it has a text, and this is its mark
                count = trie.token_count[index]
                tokens.add_counted(token, count)
                characters[token] = count
                largest = max(largest, count)
        self._order = self._by_count(tokens, largest)
        self._store.bytes_used += 4 * self._vocabulary_size

    # -- the index --------------------------------------------------------------------------------------------------

    def of_class(self, char_state: int, rest_state: int, max_count: int) -> CountedTerminal | None:
        """Index the vocabulary for `C* R`; None where a text could be read in more than one way.

        Args:
            char_state: the state of C.
            rest_state: the state of R.
            max_count: how many C may come in the state whose tables are wanted; -1 is without bound.
        """
        absorbs = self._absorbs(rest_state, char_state)
        if not self._counted_walk.count(char_state, rest_state, absorbs):
            return None
        made = self._index(char_state, rest_state, -1 if absorbs else max_count)
        made.absorbs = absorbs
        return made

    def of_bounded(self, free: int, max_count: int) -> CountedTerminal:
        """Index the vocabulary for a state without its bound; `max_count` is the bound of the state that is wanted."""
        self._bounded_walk.count(free)
        return self._index(free, NO_REST, max_count)

    def _absorbs(self, rest_state: int, char_state: int) -> bool:
        """Return whether one more C before it changes nothing in `rest_state`."""
        automata = self._automata
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
                    if not after_rest or len(seen) >= MAX_PAIRS:
                        return False
                    seen.add(pair)
                    stack.append(pair)
        return True

    def _index(self, state: int, rest_state: int, max_count: int) -> CountedTerminal:
        """Return the index of what the last walk has found; see `CountedTerminal` and `of_class`."""
        found, store = self._found, self._store
        exits = found.exits
        made = CountedTerminal(state, rest_state, found.largest_count, self._by_count(found.rest, found.largest_count))
        if found.inside_count() > MAX_LISTED_TOKENS:
            made.inside_mask = self._inside_mask()
        if made.inside_mask < 0 or 0 <= max_count < found.largest_count:
            self._sort_inside(made)
        made.exit_count = exits.size
        made.exit_nodes = store.keep(exits.values, exits.size)
        made.exit_counts = store.keep(exits.counts, exits.size)
        for index in range(exits.size):
            made.largest_exit = max(made.largest_exit, exits.counts[index])
        made.remainder_trie = self._remainder_tries.merge(
            store.trie, exits.values[: exits.size], exits.counts[: exits.size]
        )
        return made

    def _by_count(self, tokens: CountedTokens, largest: int) -> ByCount:
        """Keep tokens sorted by count; `largest` is the largest count."""
        size, values, counts = tokens.size, tokens.values, tokens.counts
        width = largest + 2
        while width > len(self._starts):
            self._starts = zeros(2 * len(self._starts))
            self._next_at = zeros(2 * len(self._next_at))
        while size > len(self._sorted):
            self._sorted = zeros(2 * len(self._sorted))
        starts, next_at, in_order = self._starts, self._next_at, self._sorted
        for count in range(width):
            starts[count] = 0
        for index in range(size):
            starts[counts[index] + 1] += 1
        next_at[0] = 0
        for count in range(1, width):
            starts[count] += starts[count - 1]
            next_at[count] = starts[count]
        for index in range(size):
            at = next_at[counts[index]]
            next_at[counts[index]] = at + 1
            in_order[at] = values[index]
        made = ByCount()
        made.first = self._store.keep(in_order, size)
        made.size = size
        made.starts = self._store.keep(starts, width)
        made.width = width
        return made

    def _inside(self, counted: CountedTerminal) -> ByCount:
        """Return the tokens inside by count; the walk is made again where nothing depended on their counts before."""
        if counted.inside is None:
            if counted.rest_state == NO_REST:
                self._bounded_walk.count(counted.state)
            else:
                self._counted_walk.count(counted.state, counted.rest_state, counted.absorbs)
            self._sort_inside(counted)
        inside: ByCount | None = counted.inside
        return self._order if inside is None else inside

    def _sort_inside(self, counted: CountedTerminal) -> None:
        """Give an index the tokens inside by count, as the last walk found them; see `CountedTerminal`."""
        found, trie = self._found, self._store.trie
        if found.inside_count() > MAX_LISTED_TOKENS and self._find_others():
            counted.inside = self._order
            counted.others = self._by_count(self._others, found.largest_count)
            return
        found.add_below(trie.tokens, trie.token_count)
        counted.inside = self._by_count(found.inside, found.largest_count)

    def _find_others(self) -> bool:
        """Find the tokens inside whose counts are not their numbers of characters; False if they are many."""
        found, others, trie, characters = self._found, self._others, self._store.trie, self._characters
        inside, below = found.inside, found.below
        others.size = 0
        for index in range(inside.size):
            if inside.counts[index] != characters[inside.values[index]]:
                others.add_counted(inside.values[index], inside.counts[index])
        for at in range(0, below.size, 4):
            count, least = below.values[at + 2], below.values[at + 3]
            if others.size > MAX_OTHERS:
                return False
            if count == 0 and least == 0:
                continue
            for index in range(below.values[at], below.values[at + 1]):
                needed = max(count + trie.token_count[index], least)
                if needed != trie.token_count[index]:
                    others.add_counted(trie.tokens[index], needed)
        return others.size <= MAX_OTHERS

    def _inside_mask(self) -> int:
        """Return the index of a dense mask of the tokens inside; that of another state if they are the same."""
        dense = self._store.dense
        number = self._store.dense_of_found(self._found)
        size = self._found.inside_count()
        mine: DenseMask = dense[number]
        for known_size, known in self._inside_masks:
            other: DenseMask = dense[known]
            if known_size == size and self._store.are_equal(mine.words, other.words):
                self._store.drop_last_dense()
                return known
        self._inside_masks.append((size, number))
        return number

    # -- the tables of one count ------------------------------------------------------------------------------------

    def with_counts(self, counted: CountedTerminal, min_count: int, max_count: int) -> TerminalMask:
        """Return the tables of `C{min_count,max_count} R`; `max_count` -1 is without bound."""
        largest = counted.largest
        min_count = min(min_count, largest + 1)
        max_count = largest if max_count < 0 else min(max_count, largest)
        made: TerminalMask | None = counted.masks.get((min_count, max_count))
        if made is None:
            made = counted.masks[min_count, max_count] = self._made(counted, min_count, max_count)
        return made

    def _made(self, counted: CountedTerminal, min_count: int, max_count: int) -> TerminalMask:
        store, rest = self._store, counted.rest
        made = TerminalMask()
        made.first_remainders, made.last_remainders = self._remainders(counted, min_count, max_count)
        store.bytes_used += RECORD_BYTES
        tokens = self._found.inside
        if counted.inside_mask >= 0 and max_count >= counted.largest:
            made.dense = counted.inside_mask
            tokens.size = 0
        else:
            self._add_inside(made, counted, max_count)
        pool = store.pool
        if min_count <= max_count:
            starts = rest.starts
            tokens.extend(pool, rest.first + pool[starts + min_count], rest.first + pool[starts + max_count + 1])
        if made.dense < 0 and tokens.size > MAX_LISTED_TOKENS:
            made.dense = store.dense_of(tokens.values, 0, tokens.size)
            tokens.size = 0
        store.keep_tokens(made, tokens)
        return made

    def _add_inside(self, made: TerminalMask, counted: CountedTerminal, max_count: int) -> None:
        """Give a table the tokens that begin at most so many C: a dense mask, and a list in the tokens found."""
        inside, others = self._inside(counted), counted.others
        pool, tokens = self._store.pool, self._found.inside
        last = inside.first + inside.size
        stop = inside.first + pool[inside.starts + min(max_count + 1, inside.width - 1)]
        tokens.size = 0
        if counted.inside_mask < 0:
            tokens.extend(pool, inside.first, stop)
        elif last - stop <= max(MAX_REMOVED_TOKENS, REMOVED_PER_KEPT * (stop - inside.first)):
            made.dense = counted.inside_mask
            made.first_removed, made.last_removed = stop, last
            if others is not None:
                self._correct(made, others, max_count)
            if made.last_removed - made.first_removed > MAX_REMOVED_TOKENS:  # removed once, not for each mask
                made.dense = self._store.keep_dense(self._store.words_of(made))
                made.first_removed = made.last_removed = 0
        else:
            self._extend_with_set(pool, inside.first, stop, self._mask_in_order(counted))
            if others is not None:
                stop = others.first + pool[others.starts + min(max_count + 1, others.width - 1)]
                tokens.extend(pool, others.first, stop)
            if tokens.size > MAX_LISTED_TOKENS:
                made.dense = self._store.dense_of(tokens.values, 0, tokens.size)
                tokens.size = 0

    def _correct(self, made: TerminalMask, others: ByCount, max_count: int) -> None:
        """Correct a table from which the tokens of more characters than `max_count` are removed.

        Those of them that begin fewer C are added again, and tokens of fewer characters that begin more are removed.
        """
        pool, characters = self._store.pool, self._characters
        stop = others.first + pool[others.starts + min(max_count + 1, others.width - 1)]
        for index in range(others.first, stop):
            if characters[pool[index]] > max_count:
                self._found.inside.add(pool[index])
        more = self._others
        more.size = 0
        for index in range(stop, others.first + others.size):
            if characters[pool[index]] <= max_count:
                more.add(pool[index])
        if more.size:
            more.extend(pool, made.first_removed, made.last_removed)
            made.first_removed = self._store.keep(more.values, more.size)
            made.last_removed = made.first_removed + more.size

    def _mask_in_order(self, counted: CountedTerminal) -> int:
        """Return the index of the dense mask of those tokens inside whose counts are as in `counted.inside`."""
        others = counted.others
        if others is None or not others.size:
            return int(counted.inside_mask)
        if counted.mask_in_order < 0:
            inside: DenseMask = self._store.dense[counted.inside_mask]
            mask = np.array(inside.words, dtype=np.uint32)
            words, pool = mask, self._store.pool
            one = 1
            for index in range(others.first, others.first + others.size):
                token = pool[index]
                words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
            counted.mask_in_order = self._store.keep_dense(mask)
        return int(counted.mask_in_order)

    def _extend_with_set(self, values: array[int], first: int, last: int, dense: int) -> None:
        """Append those of `values[first:last]` to the tokens found that are set in a dense mask."""
        words = self._store.dense[dense].words
        tokens = self._found.inside
        one = 1
        for index in range(first, last):
            if words[values[index] >> 5] >> (values[index] & 31) & one:
                tokens.add(values[index])

    def _remainders(self, counted: CountedTerminal, min_count: int, max_count: int) -> tuple[int, int]:
        """Return the first and the last index in `TableStore.remainders` of a table with these counts.

        No exit comes after more than `largest_exit` of the class, so larger counts have the same remainders.
        """
        key = (min(min_count, counted.largest_exit + 1), min(max_count, counted.largest_exit))
        known: tuple[int, int] | None = counted.remainders.get(key)
        if known is None:
            min_count, max_count = key
            store = self._store
            pool, exits = store.pool, self._found.exits
            begin = len(store.remainders)
            exits.size = 0
            for index in range(counted.exit_count):
                if min_count <= pool[counted.exit_counts + index] <= max_count:
                    exits.add_counted(pool[counted.exit_nodes + index], 0)
            if exits.size and counted.remainder_trie is not None:
                store.remainders.append(store.remainders_of(counted.remainder_trie, min_count, max_count))
            elif exits.size:
                store.remainders.append(store.remainders_at(store.trie, exits, 0, 0, None))
            known = counted.remainders[key] = (begin, len(store.remainders))
        return known
