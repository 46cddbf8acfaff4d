"""The merges of a byte-pair encoding: which neighbouring tokens they leave as they are.

A sequence of tokens within one pre-token is *proper* (the tokenizer makes it from its text) if and only if each token
is proper by itself and each pair of neighbours is.

With Llama 3's merges, (`is`, `land`) is proper, and (`her`, `s`) is not:

    i s | l a n d    rank   30   a + n      i s | l an d        h e r | s    rank  13   e + r     h er | s
                     rank   41   i + s      is | l an d                      rank 199   er + s    h ers: crosses
                     rank  300   an + d     is | l and
                     rank 4071   l + and    is | land                        the tokenizer makes `h`, `ers`

*Proof.* Merges are taken from a queue: the one of the least rank first, of equal ranks the leftmost. As long as no
merge crosses a border between two tokens of the sequence, the merges between two borders do not depend on what is
outside, and the queue of a pair is the whole queue without the rest. So the first merge of all that crosses a border
crosses it in the run of that pair alone, too. And if a merge crosses the border in the run of a pair, then it does so
in the run of the whole, or another merge has crossed some border before. A border that was crossed is gone for good. ∎

This was seen by the authors of GitHub's `bpe` crate, and by Vieira et al., "Language Models over Canonical Byte-Pair
Encodings", 2025. Nothing here assumes that merges come in the order in which they were learned.

Whether a merge crosses the border of a pair (t, u) is read off two *spines*: the symbols that stand at the right end
of t while it is put together (its last byte, …, its right part, itself), and those at the left end of u. A merge (a, b)
of such symbols is taken if both stand there at the same time, and its turn comes before one of them is merged away.

Turns: in one token's run, the rank of the next merge may be less than that of the merge before, if that one has made a
pair of less rank than its own. All merges between two that set a new maximum are a *block*; runs that do not touch
each other are interleaved block by block, by these maxima.

The left spines of all tokens are a forest: the parent of a token is its left part. Tokens that conflict with a given
one are a few subtrees of it, so they are kept in the forest's preorder, and a merge stands for one range of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from structgen.engine.arrays import grown, zeros

__all__ = ["MergeTable", "ids_of_merges"]

# Declared as C integers in the .pxd, so not importable from here.
NEVER = 2147483647  # the turn of a merge that does not happen
PARTNERS_OF_ONE = 16  # merges that are looked at in the time in which two tokens are compared
ALL_BITS = 0xFFFFFFFF  # of a word


class MergeTable:
    """The merges of a byte-pair encoding, and the way in which each token is put together by them.

    Args:
        size: the number of token ids.
        merges: int32[merges, 3], contiguous: left part, right part and product, in the order of their ranks. Each pair
            occurs once; a product may have several pairs.
        lengths: int32[size]: the number of symbols that a token is merged from. 1 for symbols (bytes, characters); 0
            for ids that are no tokens of the encoding.

    Attributes:
        is_proper: uint8[size]: whether the encoding makes the token from its own text.
        position: int32[size]: position of a proper token in the preorder of the left spines; -1 for others.
        by_position: int32[proper tokens]: the token at a position.

    Cost: Llama-3's 280,147 merges take 0.1 s, compiled.
    """

    def __init__(self, size: int, merges: Any, lengths: Any) -> None:
        self._ranges = zeros(64)  # pairs: ranges of positions, see `_find_conflicts`
        self._range_count = 0
        self._crossed = np.zeros((size + 31) // 32, dtype=np.uint32)
        self._index(size, merges)
        self._put_together(size, merges, lengths)
        self._order(size, lengths)
        self._find_ranges(size)

    def _index(self, size: int, merges: Any) -> None:
        """Index the merges by left part: in the order of their right parts, and in that of their ranks."""
        order = np.argsort(merges[:, 0].astype(np.int64) * size + merges[:, 1])  # faster than by two keys
        self.partner_start = _ints(np.searchsorted(merges[order, 0], np.arange(size + 1)))
        self.partner = _ints(merges[order, 1])
        self.partner_rank = _ints(order)
        by_rank = np.argsort(merges[:, 0], kind="stable")
        self.ranked_partner = _ints(merges[by_rank, 1])
        self.ranked = _ints(by_rank)
        self.product = _ints(merges[:, 2])

    def rank(self, left: int, right: int) -> int:
        """Return the rank of a merge; -1 if there is none."""
        first = self.partner_start[left]
        last = self.partner_start[left + 1]
        while first < last:
            middle = (first + last) // 2
            if self.partner[middle] < right:
                first = middle + 1
            else:
                last = middle
        return self.partner_rank[first] if first < self.partner_start[left + 1] and self.partner[first] == right else -1

    def merged(self, symbols: Sequence[int]) -> list[int]:
        """Merge symbols within a pre-token: the least rank first, of equal ranks the leftmost.

        Cost: some nanoseconds for each pair of symbols.
        """
        tokens = list(symbols)
        ranks = [self.rank(tokens[at], tokens[at + 1]) for at in range(len(tokens) - 1)]
        while True:
            best = -1
            for at in range(len(ranks)):
                if ranks[at] >= 0 and (best < 0 or ranks[at] < ranks[best]):
                    best = at
            if best < 0:
                return tokens
            tokens[best] = self.product[ranks[best]]
            del tokens[best + 1]
            del ranks[best]
            if best > 0:
                ranks[best - 1] = self.rank(tokens[best - 1], tokens[best])
            if best < len(ranks):
                ranks[best] = self.rank(tokens[best], tokens[best + 1])

    # -- how tokens are put together --------------------------------------------------------------------------------

    def _put_together(self, size: int, merges: Any, lengths: Any) -> None:
        """Find the last merge of each token: the one whose parts are proper and stay what they are until it.

        Shorter tokens come first, as longer ones are made of them.
        """
        order, table = _ints(np.argsort(lengths[merges[:, 2]], kind="stable")), _ints(merges.ravel())
        self.is_proper = _ints(lengths == 1)
        self.left_part = zeros(size, -1)
        self.right_part = zeros(size, -1)
        self.block = zeros(size, -1)
        self.left_until = zeros(size, -1)
        self.right_until = zeros(size, -1)
        for index in range(len(order)):
            rank = order[index]
            left, right, product = table[3 * rank], table[3 * rank + 1], table[3 * rank + 2]
            if self.is_proper[product] or not self.is_proper[left] or not self.is_proper[right]:
                continue
            if not self._crosses(left, right, True):
                self._take(left, right, product, rank)

    def _take(self, left: int, right: int, product: int, rank: int) -> None:
        """Set the last merge of a token.

        `left_until` is the turn before which a merge must come that takes the left part into another token, while the
        right part gets ready or once both are ready; `right_until` is the same for the right part.
        """
        before, after = self.block[left], self.block[right]
        self.is_proper[product] = 1
        self.left_part[product] = left
        self.right_part[product] = right
        most = before if before > after else after
        self.block[product] = rank if rank > most else most
        # If the merge belongs to the block of the part that is ready last, that part is merged away at once.
        self.left_until[product] = rank if before > after else self.block[product]
        self.right_until[product] = rank if before <= after else self.block[product]

    def taken_merges(self) -> list[tuple[int, int, int]]:
        """Return the last merge of each proper token: left part, right part and product, in the order of their ranks.

        No other merge is ever taken: what happens within a token does not depend on the text around it.
        """
        ranked = []
        for product in range(len(self.left_part)):
            left, right = self.left_part[product], self.right_part[product]
            if left >= 0:
                ranked.append((self.rank(left, right), left, right, product))
        ranked.sort()
        return [(left, right, product) for _, left, right, product in ranked]

    def crosses(self, left: int, right: int) -> bool:
        """Return whether a merge crosses the border between two proper tokens of a pre-token."""
        return self._crosses(left, right, False)

    def _crosses(self, left: int, right: int, early: bool) -> bool:
        """Return whether a merge crosses the border between two proper tokens.

        Args:
            left: the first token.
            right: the second token.
            early: whether the merge that makes them one token, when both are complete, does not count.
        """
        a, a_end, a_until = left, NEVER, NEVER
        while a >= 0:
            b, b_end, b_until = right, NEVER, NEVER
            while b >= 0:
                if self.block[a] <= b_end and self.block[b] < a_end and not (early and a == left and b == right):
                    rank = self.rank(a, b)
                    if 0 <= rank < a_until and rank <= b_until:
                        return True
                b_end, b_until = self.block[b], self.left_until[b]
                b = self.left_part[b]
            a_end, a_until = self.block[a], self.right_until[a]
            a = self.right_part[a]
        return False

    # -- all that conflict with one ---------------------------------------------------------------------------------

    def _order(self, size: int, lengths: Any) -> None:
        """Give proper tokens positions in the preorder of the left spines; children merged away late come first."""
        proper = np.flatnonzero(np.asarray(self.is_proper))
        parents = np.asarray(self.left_part)[proper]
        until = np.asarray(self.left_until)[proper].astype(np.int64)
        children = _ints(proper[np.argsort((parents.astype(np.int64) << 32) - until)])
        self.children = children
        self.child_start = _ints(np.searchsorted(np.sort(parents), np.arange(size + 1)))
        self.subtree = zeros(size, 0)
        self.least_block = zeros(size, NEVER)
        by_length = _ints(proper[np.argsort(-lengths[proper], kind="stable")])
        for index in range(len(by_length)):
            token = by_length[index]
            self.subtree[token] += 1
            parent = self.left_part[token]
            if parent >= 0:
                self.subtree[parent] += self.subtree[token]
                self.least_block[parent] = min(self.least_block[parent], self.block[token])
        self.position = zeros(size, -1)
        self.by_position = zeros(len(by_length))
        position = 0
        for index in range(self.child_start[0]):  # those without a parent
            self.position[children[index]] = position
            position += self.subtree[children[index]]
        for index in range(len(by_length) - 1, -1, -1):
            token = by_length[index]
            position = self.position[token]
            self.by_position[position] = token
            position += 1
            for at in range(self.child_start[token], self.child_start[token + 1]):
                self.position[children[at]] = position
                position += self.subtree[children[at]]

    def _find_ranges(self, size: int) -> None:
        """Find for each merge the tokens whose left spine leads to its right part, in the order of `ranked`.

        They are one range of positions, or several ones, which are found again each time (`_add_subtree`): few merges
        have any.
        """
        count = len(self.ranked)
        self.ranked_block, self.range_first, self.range_last = zeros(count, NEVER), zeros(count, -1), zeros(count)
        for left in range(size):
            for at in range(self.partner_start[left], self.partner_start[left + 1]):
                right = self.ranked_partner[at]
                if self.is_proper[right]:
                    self.ranked_block[at] = self.block[right]
                    self._range_count = 0
                    self._add_subtree(right, self.ranked[at], self.block[left])
                    if self._range_count == 2:
                        self.range_first[at], self.range_last[at] = self._ranges[0], self._ranges[1]
        self._range_count = 0

    def conflicts(self, token: int) -> array[int]:
        """Return the proper tokens that cannot follow a proper token within a pre-token.

        Returns:
            int32[tokens], in no order; one may occur more than once.

        Cost: some nanoseconds for each of them, and for each merge with a symbol of the token's right spine that comes
        before the merge that takes the symbol.
        """
        count = self._find_conflicts(token)
        found = zeros(count)
        size = 0
        for index in range(0, self._range_count, 2):
            for at in range(self._ranges[index], self._ranges[index + 1]):
                found[size] = self.by_position[at]
                size += 1
        return found

    def count_conflicts(self, token: int) -> int:
        """Return the length of the list that `conflicts` returns."""
        return self._find_conflicts(token)

    def mark_conflicts(self, token: int, row: Any) -> int:
        """Add the tokens that `conflicts` returns to a mask, uint32[words], and return the length of that list."""
        one = 1
        count = self._find_conflicts(token)
        for index in range(0, self._range_count, 2):
            for at in range(self._ranges[index], self._ranges[index + 1]):
                other = self.by_position[at]
                row[other >> 5] |= one << (other & 31)
        return count

    def remove_conflicts(self, token: int, row: Any, most: int) -> int:
        """Remove the tokens that `conflicts` returns from a mask, uint32[words], unless they are more than `most`.

        Returns:
            1 if they were removed, else 0.
        """
        one = 1
        if self._find_conflicts(token) > most:
            return 0
        for index in range(0, self._range_count, 2):
            for at in range(self._ranges[index], self._ranges[index + 1]):
                other = self.by_position[at]
                row[other >> 5] &= ALL_BITS ^ (one << (other & 31))
        return 1

    def remove_crossed(self, token: int, some: array[int], count: int, row: Any) -> None:
        """Remove those tokens of a list from a mask that cannot follow a proper token within a pre-token.

        Args:
            token: the proper token.
            some: int32[count or more], the tokens.
            count: their number.
            row: uint32[words], changed in place.

        Cost: some nanoseconds for each token of the list, for each range of conflicts, and for each merge with a symbol
        of the token's right spine; that of `crosses` for each token where there are many such merges.
        """
        one = 1
        crossed = self._crossed
        are_ranges = self._count_partners(token) <= PARTNERS_OF_ONE * count
        if are_ranges:
            self._find_conflicts(token)
            self._cross_ranges(True)
        for index in range(count):
            other = some[index]
            position = self.position[other]
            if are_ranges and position >= 0:
                is_crossed = crossed[position >> 5] >> (position & 31) & 1
            else:
                is_crossed = self.crosses(token, other)
            if is_crossed:
                row[other >> 5] &= ALL_BITS ^ (one << (other & 31))
        if are_ranges:
            self._cross_ranges(False)

    def _count_partners(self, token: int) -> int:
        """Return the number of merges with the symbols of a token's right spine on their left."""
        count, a = 0, token
        while a >= 0:
            count += self.partner_start[a + 1] - self.partner_start[a]
            a = self.right_part[a]
        return count

    def _cross_ranges(self, are_crossed: bool) -> None:
        """Set the bits of the ranges in `_crossed`, or clear the words that hold them."""
        all_bits = ALL_BITS
        for index in range(0, self._range_count, 2):
            at, last = self._ranges[index], self._ranges[index + 1]
            while at < last:
                width = min(32 - (at & 31), last - at)
                if are_crossed:
                    self._crossed[at >> 5] |= all_bits >> (32 - width) << (at & 31)
                else:
                    self._crossed[at >> 5] = 0
                at += width

    def _find_conflicts(self, token: int) -> int:
        """Write the conflicts of a token to `_ranges`, as ranges of positions, and return their number."""
        self._range_count = 0
        count = 0
        a, a_end, a_until = token, NEVER, NEVER
        while a >= 0:
            for at in range(self.partner_start[a], self.partner_start[a + 1]):
                rank = self.ranked[at]
                if rank >= a_until:
                    break
                if self.ranked_block[at] < a_end:
                    if self.range_first[at] >= 0:
                        count += self._add_range(self.range_first[at], self.range_last[at])
                    else:
                        count += self._add_subtree(self.ranked_partner[at], rank, self.block[a])
            a_end, a_until = self.block[a], self.right_until[a]
            a = self.right_part[a]
        return count

    def _add_subtree(self, token: int, rank: int, block: int) -> int:
        """Add the tokens whose left spine leads to a token that a merge takes, and return their number.

        Args:
            token: the token, the right part of the merge.
            rank: the rank of the merge: it comes too late for children that were merged away before.
            block: the block of its left part: it comes too early for children whose block is smaller.
        """
        begin, first, end = self.child_start[token], self.child_start[token], self.child_start[token + 1]
        while first < end:
            middle = (first + end) // 2
            if self.left_until[self.children[middle]] < rank:
                end = middle
            else:
                first = middle + 1
        first = self.position[token]
        last = first + self.subtree[token]
        if end < self.child_start[token + 1]:
            last = self.position[self.children[end]]
        count = 0
        if block > self.least_block[token]:
            for index in range(begin, end):
                child = self.children[index]
                if block > self.block[child]:
                    count += self._add_range(first, self.position[child])
                    first = self.position[child] + self.subtree[child]
        return count + self._add_range(first, last)

    def _add_range(self, first: int, last: int) -> int:
        """Add a range of positions, and return its length."""
        if self._range_count + 2 > len(self._ranges):
            self._ranges = grown(self._ranges, self._range_count)
        self._ranges[self._range_count] = first
        self._ranges[self._range_count + 1] = last
        self._range_count += 2
        return last - first

    def mark_joining(self, first_bytes: Any, out: Any) -> None:
        """Find the bytes that may change the token before them, within a pre-token.

        A byte may if and only if some token that begins with it conflicts. If one does, then also the right part of a
        merge with a symbol of the token's right spine.

        Args:
            first_bytes: int32[size], the first byte of each token's text; -1 for none.
            out: uint32[8 * size], gets for byte b after token t the bit b % 32 of word 8 * t + b // 32.

        Cost: some nanoseconds for each merge with a symbol of a right spine that comes before the symbol is taken.
        """
        one = 1
        for token in range(len(self.is_proper)):
            if not self.is_proper[token]:
                continue
            a, a_end, a_until = token, NEVER, NEVER
            while a >= 0:
                for at in range(self.partner_start[a], self.partner_start[a + 1]):
                    if self.ranked[at] >= a_until:
                        break
                    b = self.ranked_partner[at]
                    if self.block[b] < a_end and self.is_proper[b]:
                        byte = first_bytes[b]
                        if byte >= 0:
                            out[8 * token + (byte >> 5)] |= one << (byte & 31)
                a_end, a_until = self.block[a], self.right_until[a]
                a = self.right_part[a]


def ids_of_merges(pieces: Sequence[Sequence[str]], vocabulary: dict[str, int]) -> Any:
    """Return the ids of the two parts of each merge and of its product: int32[merges, 3].

    Args:
        pieces: the two parts of each merge, as texts.
        vocabulary: the id of each text.
    """
    found = zeros(3 * len(pieces))
    at = 0
    for pair in pieces:
        left, right = pair
        found[at] = vocabulary[left]
        found[at + 1] = vocabulary[right]
        found[at + 2] = vocabulary[left + right]
        at += 3
    return np.asarray(found).reshape(-1, 3)


def _ints(values: Any) -> Any:
    """Return the values as int32, contiguous: an array as compiled code takes it."""
    given = np.ascontiguousarray(values, dtype=np.intc)
    return given if IS_COMPILED else array("i", given.tobytes())


IS_COMPILED = not __file__.endswith(".py")
