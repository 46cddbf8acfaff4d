"""Operations on masks as sets of tokens: uint32[words], token t is bit t % 32 of word t // 32."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from structgen.engine.arrays import zeros
from structgen.engine.vocabulary.token_trie import TokenTrie

__all__ = [
    "UndecidedTokens",
    "are_many",
    "count",
    "count_to",
    "drop",
    "drop_both",
    "first_bytes",
    "has",
    "ids",
    "intersect",
    "intersect_either",
    "intersection",
    "ints",
    "list_tokens",
    "remove",
    "remove_both",
    "select",
    "tokens_first",
    "tokens_in",
    "undecided_tokens",
    "unite",
    "unite_both",
    "without",
]

# Declared as C integers in the .pxd, so not importable from here.
ALL_BITS = 0xFFFFFFFF  # of a word
BLOCK = 128  # words that are counted together
MANY_WORDS = 512
SMALL_BLOCK = 32  # words that are looked at one by one if any of them has tokens

BIT_OF = zeros(37)  # by a power of two modulo 37, all of which differ: its exponent
for _exponent in range(32):
    BIT_OF[(1 << _exponent) % 37] = _exponent


def ints(values: list[int]) -> array[int]:
    """Return the values as an array."""
    made = zeros(len(values))
    for index in range(len(values)):
        made[index] = values[index]
    return made


def ids(row: Any) -> list[int]:
    """Return the tokens of a mask, ascending."""
    return list(tokens_in(row))


def tokens_in(row: Any) -> array[int]:
    """Return the tokens of a mask as an array, ascending."""
    made = zeros(count(row))
    list_tokens(row, made, len(made))
    return made


def list_tokens(row: Any, out: Any, most: int) -> int:
    """Write the tokens of a mask to a list, int32[most or more]. Return their number; `most` + 1 if they are more."""
    size, begin, found = len(row), 0, 0
    while begin < size:
        end = min(begin + SMALL_BLOCK, size)
        if not is_empty(row, begin, end):
            index = begin
            while index < end:
                if index + 4 <= end and not row[index] | row[index + 1] | row[index + 2] | row[index + 3]:
                    index += 4
                    continue
                word = row[index]
                while word:
                    if found == most:
                        return most + 1
                    lowest = word & ((ALL_BITS ^ word) + 1)
                    out[found] = 32 * index + BIT_OF[lowest % 37]
                    found += 1
                    word ^= lowest
                index += 1
        begin = end
    return found


def drop_both(some: array[int], count: int, row: Any, other: Any) -> int:
    """Remove the tokens that two masks share from the first `count` ones of a list, and return how many are left."""
    kept, one = 0, 1
    for index in range(count):
        token = some[index]
        if not row[token >> 5] & other[token >> 5] & (one << (token & 31)):
            some[kept] = token
            kept += 1
    return kept


def is_empty(row: Any, begin: int, end: int) -> bool:
    """Return whether some words of a mask have no tokens."""
    found = 0
    for index in range(begin, end):  # without an end before the last word, which would forbid vectors
        found |= row[index]
    return not found


def has(row: Any, token: int) -> bool:
    """Return whether a mask has a token."""
    return bool(row[token >> 5] >> (token & 31) & 1)


def count(row: Any) -> int:
    """Return the number of tokens of a mask."""
    return count_to(row, 32 * len(row))


def count_within(row: Any, begin: int, end: int) -> int:
    """Return the number of tokens in some words of a mask."""
    found = 0
    for index in range(begin, end):
        word = row[index]  # counts pairs of bits at once, then groups of four, then bytes; a test would forbid vectors
        word -= word >> 1 & 0x55555555
        word = (word & 0x33333333) + (word >> 2 & 0x33333333)
        word = (word + (word >> 4)) & 0x0F0F0F0F
        word += word >> 8  # no multiplication: uncompiled, it would overflow 32 bits and warn
        found += (word + (word >> 16)) & 0xFF
    return found


def count_to(row: Any, most: int) -> int:
    """Return the number of tokens of a mask. If it has more than `most`, the rest of the mask is not counted."""
    size, begin, found = len(row), 0, 0
    while begin < size and found <= most:
        end = min(begin + BLOCK, size)
        if not is_empty(row, begin, end):
            found += count_within(row, begin, end)
        begin = end
    return found


def are_many(row: Any) -> bool:
    """Return whether so many words of a mask have tokens that they had better be treated together."""
    found = 0
    for index in range(len(row)):
        found += row[index] != 0
    return found > MANY_WORDS


def without(out: Any, row: Any, some: array[int]) -> None:
    """Write a mask without some tokens to `out`."""
    out[:] = row
    one = 1
    for index in range(len(some)):
        token = some[index]
        out[token >> 5] &= ALL_BITS ^ (one << (token & 31))


def drop(out: Any, some: array[int]) -> None:
    """Remove some tokens from `out`."""
    one = 1
    for index in range(len(some)):
        token = some[index]
        out[token >> 5] &= ALL_BITS ^ (one << (token & 31))


def unite(out: Any, row: Any) -> None:
    """Add the tokens of a mask to `out`."""
    for index in range(len(out)):
        out[index] |= row[index]


def remove(out: Any, row: Any) -> None:
    """Remove the tokens of a mask from `out`."""
    for index in range(len(out)):
        out[index] &= ALL_BITS ^ row[index]


def intersect(out: Any, row: Any) -> None:
    """Keep only the tokens of a mask in `out`."""
    for index in range(len(out)):
        out[index] &= row[index]


def intersection(out: Any, row: Any, other: Any) -> None:
    """Write the tokens that two masks share to `out`."""
    for index in range(len(out)):
        out[index] = row[index] & other[index]


def select(out: Any, row: Any, other: Any, removed: Any) -> bool:
    """Write the tokens that two masks share and a third one has not to `out`; return what `are_many` returns for it."""
    found = 0
    for index in range(len(out)):
        word = row[index] & other[index] & (ALL_BITS ^ removed[index])
        out[index] = word
        found += word != 0
    return found > MANY_WORDS


def intersect_either(out: Any, row: Any, other: Any) -> None:
    """Keep only the tokens in `out` that one of two masks has."""
    for index in range(len(out)):
        out[index] &= row[index] | other[index]


def unite_both(out: Any, row: Any, other: Any) -> None:
    """Add the tokens that two masks share to `out`."""
    for index in range(len(out)):
        out[index] |= row[index] & other[index]


def remove_both(out: Any, row: Any, other: Any) -> None:
    """Remove the tokens that two masks share from `out`."""
    for index in range(len(out)):
        out[index] &= ALL_BITS ^ (row[index] & other[index])


def tokens_first(row: Any, first: array[int]) -> Iterator[int]:
    """Yield the tokens of a mask; those of `first` before the others. Most callers take one or two of them."""
    at = next_of(row, first, 0)
    while at >= 0:
        yield first[at]
        at = next_of(row, first, at + 1)
    token = next_token(row, 0)
    while token >= 0:
        yield token
        token = next_token(row, token + 1)


def next_of(row: Any, some: array[int], begin: int) -> int:
    """Return the index in `some` of the next token that a mask has, from `begin` on; -1 for none."""
    for at in range(begin, len(some)):
        token = some[at]
        if row[token >> 5] >> (token & 31) & 1:
            return at
    return -1


def next_token(row: Any, begin: int) -> int:
    """Return the smallest token of a mask from `begin` on; -1 for none."""
    for index in range(begin >> 5, len(row)):
        word = row[index]
        if word:
            for bit in range(begin & 31 if index == begin >> 5 else 0, 32):
                if word >> bit & 1:
                    return 32 * index + bit
    return -1


def first_bytes(row: Any, trie: TokenTrie) -> int:
    """Return the bytes with which the tokens of a mask begin, as bits of a number."""
    found, one = 0, 1
    for byte in range(256):
        node = trie.first_node[byte]
        if node >= 0:
            for index in range(trie.token_start[node], trie.token_start[trie.node_end[node]]):
                token = trie.tokens[index]
                if row[token >> 5] >> (token & 31) & 1:
                    found |= one << byte
                    break
    return found


class UndecidedTokens:
    """Tokens that fit an Earley set and a state, and must be checked one by one for dead ends.

    Attributes:
        tokens: int32[tokens], many of them in the order of their texts.
        dead: other tokens, from which no proper way leads to an end.
        verdicts: int32[tokens]: UNKNOWN, GOOD or BAD.
        is_walked: whether those were decided that many tokens of a walk are, see `InnerWalk`.
    """

    def __init__(self) -> None:
        self.is_walked = False
        self.tokens = self.verdicts = _NOTHING
        self.dead: list[int] = []

    def take_over(self, other: UndecidedTokens) -> None:
        """Take over what is known of the same tokens in others, of the same place in other sets."""
        known = {other.tokens[index]: other.verdicts[index] for index in range(len(other.tokens))}
        for index in range(len(self.tokens)):
            self.verdicts[index] = known.get(self.tokens[index], 0)
        self.is_walked = other.is_walked

    def count_decided(self) -> int:
        """Return the number of tokens that are decided."""
        count = 0
        for index in range(len(self.verdicts)):
            count += self.verdicts[index] != 0
        return count


def undecided_tokens(tokens: array[int], dead: list[int]) -> UndecidedTokens:
    """Return some tokens as `UndecidedTokens`: to hand arrays to a constructor takes longer than to make them."""
    made = UndecidedTokens()
    made.dead = dead
    if len(tokens):
        made.tokens = tokens
        made.verdicts = zeros(len(tokens))
    return made


_NOTHING = zeros(0)
