"""Repetition as rules: `{x}`, `x+`, and `x` between m and n times in rules whose number is logarithmic in n.

The printer and the normal form use the same expansion, each with its own way to make a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["CountedRules"]

S = TypeVar("S", bound=Hashable)

# Up to this many copies are written out: the rules that would save them cost more items than they save.
_COPIES = 3


class CountedRules(Generic[S]):
    """Makes the rules of counted repetitions, and makes each only once.

    Every count within the bounds is derived, in one way only (as far as the body's own are), and no other.

    Args:
        rule: makes a nonterminal out of bodies (sequences of symbols; an empty one is the empty text).
        unbounded: makes a nonterminal for a symbol any number of times, none included.
    """

    def __init__(self, rule: Callable[[list[tuple[S, ...]]], S], unbounded: Callable[[S], S]) -> None:
        self._rule = rule
        self._unbounded = unbounded
        self._exactly: dict[tuple[S, int], S] = {}
        self._up_to: dict[tuple[S, int], S] = {}

    def between(self, symbol: S, minimum: int, maximum: int | None) -> tuple[S, ...]:
        """A sequence of symbols for `symbol`, at least `minimum` and at most `maximum` times (None: no bound)."""
        head = self.exactly(symbol, minimum)
        if maximum is None:
            return (*head, self._unbounded(symbol))
        return head + self.up_to(symbol, maximum - minimum)

    def exactly(self, symbol: S, count: int) -> tuple[S, ...]:
        """`symbol` `count` times, by doubling: `E(2n) ::= E(n) E(n)`, `E(2n+1) ::= E(n) E(n) x`."""
        if count <= _COPIES:
            return (symbol,) * count
        # Smallest first: a count may be a number of any size, so no recursion.
        halves = [count]
        while halves[-1] // 2 > _COPIES:
            halves.append(halves[-1] // 2)
        for size in reversed(halves):
            if (symbol, size) not in self._exactly:
                half = self._part(symbol, size // 2)
                self._exactly[symbol, size] = self._rule([half * 2 + (symbol,) * (size % 2)])
        return (self._exactly[symbol, count],)

    def _part(self, symbol: S, count: int) -> tuple[S, ...]:
        return (symbol,) * count if count <= _COPIES else (self._exactly[symbol, count],)

    def up_to(self, symbol: S, count: int) -> tuple[S, ...]:
        """`symbol` at most `count` times, by halving: at most h, or h + 1 and then at most the rest.

        `U(n) ::= U(h) | E(h+1) U(n-h-1)` with h = n // 2: the alternatives share no count, and the sizes at one depth
        are at most two neighbours, so the rules are O(log n).
        """
        if count == 0:
            return ()
        sizes, level = [], {count}
        while level:
            sizes.extend(sorted(level, reverse=True))
            level = {half for size in level for half in (size // 2, size - size // 2 - 1) if half > 0}
        for size in reversed(sizes):
            if (symbol, size) not in self._up_to:
                half = size // 2
                rest = size - half - 1
                small = (self._up_to[symbol, half],) if half else ()
                large = self.exactly(symbol, half + 1) + ((self._up_to[symbol, rest],) if rest else ())
                self._up_to[symbol, size] = self._rule([small, large])
        return (self._up_to[symbol, count],)
