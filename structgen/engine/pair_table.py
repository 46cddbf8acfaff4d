"""A hash table from pairs of numbers to numbers, in one flat array: 30 bytes an entry, 200 in a dict."""

from __future__ import annotations

from structgen.engine.arrays import zeros

__all__ = ["PairTable"]

# Declared as C integers in the .pxd, so not importable from here.
FREE = 0
WIDTH = 3  # a pair, and one more than its number


class PairTable:
    """A number, not negative, for each of some pairs of numbers.

    Open addressing; at most half of the places are taken.

    Args:
        places: a power of two, for half as many pairs at first: what is to hold many is spared being made anew then.
    """

    def __init__(self, places: int = 64) -> None:
        self._count = 0
        self._mask = places - 1
        self._places = zeros(places * WIDTH)

    def __len__(self) -> int:
        return self._count

    def get(self, first: int, second: int) -> int:
        """Return the number of a pair; -1 for none."""
        return self._places[self._find(first, second) + 2] - 1

    def put(self, first: int, second: int, number: int) -> None:
        """Give a pair its number, in place of any that it has."""
        at = self._find(first, second)
        self._count += self._places[at + 2] == FREE
        self._places[at] = first
        self._places[at + 1] = second
        self._places[at + 2] = number + 1
        if 2 * self._count > self._mask:
            self._grow()

    def _find(self, first: int, second: int) -> int:
        """Return where a pair stands, or may be put."""
        mixed = first * 73856093 ^ second * 19349663
        place = (mixed ^ (mixed >> 15)) & self._mask
        while True:
            at = place * WIDTH
            if self._places[at + 2] == FREE or (self._places[at] == first and self._places[at + 1] == second):
                return at
            place = (place + 1) & self._mask

    def _grow(self) -> None:
        """Double the places.

        Other threads may read meanwhile: the old places are replaced last, when all is in the new ones.
        """
        old = self._places
        wider = PairTable(2 * (self._mask + 1))
        for at in range(0, len(old), WIDTH):
            if old[at + 2] != FREE:
                new = wider._find(old[at], old[at + 1])
                wider._places[new] = old[at]
                wider._places[new + 1] = old[at + 1]
                wider._places[new + 2] = old[at + 2]
        self._mask = wider._mask
        self._places = wider._places
