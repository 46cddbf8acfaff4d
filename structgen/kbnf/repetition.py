"""Counted repetitions as rules: `x` between m and n times, in a number of rules that is logarithmic in n.

    E2 ::= x x;   E4 ::= E2 E2;            exactly 6:    E4 E2
    U1 ::= x?;    U3 ::= U1 | E2 U1;       at most 5:    U5 ::= U3 | E4 U1;

`E` are blocks of exactly 2, 4, 8, … copies, `U` of at most 1, 3, 7, … copies. All counts of one symbol share the same
blocks, so that an Earley set predicts each block once, whatever counts it is part of. The printer and the normal form
use the same expansion, each with its own way to make a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["CountedRules"]

S = TypeVar("S", bound=Hashable)

# Copies that are written out: up to this many, rules would cost more items than they save.
_MAX_COPIES = 3


class CountedRules(Generic[S]):
    """The rules of counted repetitions, each made once.

    Exactly the counts within the bounds are derived, each in one way only.

    Args:
        rule: makes a nonterminal out of bodies (sequences of symbols; an empty one is the empty text).
        unbounded: makes a symbol for any number of copies of a symbol, none included.
    """

    def __init__(self, rule: Callable[[list[tuple[S, ...]]], S], unbounded: Callable[[S], S]) -> None:
        self._rule = rule
        self._unbounded = unbounded
        # For each symbol, the blocks of 2, 4, 8, … copies and of at most 1, 3, 7, … copies.
        self._blocks: dict[S, list[S]] = {}
        self._up_to_blocks: dict[S, list[S]] = {}
        self._up_to: dict[tuple[S, int], S] = {}

    def between(self, symbol: S, minimum: int, maximum: int | None) -> tuple[S, ...]:
        """Return symbols for `symbol` at least `minimum` and at most `maximum` times (None: no bound)."""
        head = self.exactly(symbol, minimum)
        if maximum is None:
            return (*head, self._unbounded(symbol))
        return head + self.up_to(symbol, maximum - minimum)

    def exactly(self, symbol: S, count: int) -> tuple[S, ...]:
        """Return symbols for `count` copies: the blocks of the count's binary digits, the largest first."""
        if count <= _MAX_COPIES:
            return (symbol,) * count
        return tuple(self._block(symbol, size) for size in reversed(range(count.bit_length())) if count >> size & 1)

    def _block(self, symbol: S, size: int) -> S:
        """Return the block of `2**size` copies: `E(2n) ::= E(n) E(n)`."""
        blocks = self._blocks.setdefault(symbol, [symbol])
        while len(blocks) <= size:
            blocks.append(self._rule([(blocks[-1], blocks[-1])]))
        return blocks[size]

    def up_to(self, symbol: S, count: int) -> tuple[S, ...]:
        """Return symbols for at most `count` copies.

        Let p be the largest power of two that is at most `count + 1`. There are at most p - 1 copies, or p and then at
        most the rest: `U(n) ::= U(p-1) | E(p) U(n-p)`. No count is in both alternatives.
        """
        rests = []
        while count & (count + 1):
            rests.append(count)
            count -= 1 << (count + 1).bit_length() - 1
        tail = (self._full(symbol, count.bit_length()),) if count else ()
        for rest in reversed(rests):
            if (symbol, rest) not in self._up_to:
                size = (rest + 1).bit_length() - 1
                bodies = [(self._full(symbol, size),), (self._block(symbol, size), *tail)]
                self._up_to[symbol, rest] = self._rule(bodies)
            tail = (self._up_to[symbol, rest],)
        return tail

    def _full(self, symbol: S, size: int) -> S:
        """Return the block of at most `2**size - 1` copies, `size >= 1`: `U(2n-1) ::= U(n-1) | E(n) U(n-1)`."""
        blocks = self._up_to_blocks.setdefault(symbol, [])
        while len(blocks) < size:
            half = (blocks[-1],) if blocks else ()
            blocks.append(self._rule([half, (self._block(symbol, len(blocks)), *half)]))
        return blocks[size - 1]
