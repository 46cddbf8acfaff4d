"""A hash table from pairs of numbers to numbers, in one flat array: 30 bytes an entry, where a dict takes 200."""

from __future__ import annotations

from structgen.engine.arrays import zeros

__all__ = ["PairTable"]

# Declared as C integers in the .pxd, so not importable from here.
FREE = 0
WIDTH = 3  # numbers in a slot: the pair, and its number plus 1
MOVED = 16  # slots that each new pair moves to the wider table
NEIGHBOUR_BITS = 6  # pairs whose second numbers differ in so many last bits are neighbours
NEIGHBOURS = 64

_free_slot = zeros(WIDTH)  # of all empty tables, and never written to: many tables stay empty


class PairTable:
    """A map from pairs of numbers to numbers >= 0.

    Open addressing with linear probing; at most half of the slots are in use. Often one first number comes with many
    second numbers in a row. Their slots lie in one block of 64, so in one page of memory: in a fresh process, the first
    write to each page takes 2 µs. Within its block, each first number begins elsewhere: there are tables with thousands
    of first numbers and one letter with each.

    A table that grows does not stop to move all pairs, which takes milliseconds for a large one. It keeps its older
    slots for a while, and each new pair moves some of them.

    Args:
        places: number of slots at first, a power of two; half as many pairs fit before the table grows.
    """

    def __init__(self, places: int = 64) -> None:
        self._count = 0
        self._first_mask = places - 1
        self._mask = 0
        self._places = _free_slot
        self._older: PairTable | None = None  # the slots before the table grew, until all have moved
        self._moved = 0  # number of those that have moved

    def __len__(self) -> int:
        return self._count

    def get(self, first: int, second: int) -> int:
        """Return the number of a pair; -1 for none."""
        number = self._places[self._find(first, second) + 2] - 1
        if number < 0 and self._older is not None:
            return self._older.get(first, second)
        return number

    def put(self, first: int, second: int, number: int) -> None:
        """Set the number of a pair, in place of any that it has."""
        if self._mask == 0:
            self._take(self._first_mask)
        at = self._find(first, second)
        if self._places[at + 2] == FREE:
            if self._older is None or self._older.get(first, second) < 0:
                self._count += 1
            self._places[at] = first
            self._places[at + 1] = second
        self._places[at + 2] = number + 1
        if self._older is not None:
            self._move_some()
        elif 2 * self._count > self._mask:
            self._grow()

    def _find(self, first: int, second: int) -> int:
        """Return the index of the slot of a pair, or of the free slot for it."""
        mixed = first * 73856093 ^ (second >> NEIGHBOUR_BITS) * 19349663
        mixed ^= mixed >> 15
        place = (mixed << NEIGHBOUR_BITS | (second ^ mixed >> NEIGHBOUR_BITS) & NEIGHBOURS - 1) & self._mask
        while True:
            at = place * WIDTH
            if self._places[at + 2] == FREE or (self._places[at] == first and self._places[at + 1] == second):
                return at
            place = (place + 1) & self._mask

    def _take(self, mask: int) -> None:
        """Take slots, all of them free."""
        places = zeros((mask + 1) * WIDTH)
        self._mask = mask
        self._places = places

    def _grow(self) -> None:
        """Double the slots. A thread that reads meanwhile, without the lock, finds the same pairs."""
        older = PairTable()
        older._mask = self._mask
        older._places = self._places
        self._older = older
        self._moved = 0
        self._take(2 * self._mask + 1)

    def _move_some(self) -> None:
        """Move the next of the older slots. A pair that has a slot already has a newer number there."""
        older = self._older  # kept until None is stored: freeing it may let other threads run
        assert older is not None
        last = min(self._moved + MOVED, older._mask + 1)
        for place in range(self._moved, last):
            at = place * WIDTH
            if older._places[at + 2] != FREE:
                new = self._find(older._places[at], older._places[at + 1])
                if self._places[new + 2] == FREE:
                    self._places[new] = older._places[at]
                    self._places[new + 1] = older._places[at + 1]
                    self._places[new + 2] = older._places[at + 2]
        self._moved = last
        if last > older._mask:
            self._older = None
