"""Partitions of the 256 bytes by what they lead to, kept flat.

A partition has two parts: a *class map*, which gives each byte a class, and a target for each class. The partition of
the term `[0-9]x|y`, where E is the term of the empty text:

    bytes            class    target
    all others       0        NOTHING
    0 to 9           1        x
    y                2        E

Class maps are numbered, and terms share them: few different ones occur. So the common refinement of two class maps is
computed once and remembered for all terms that have them. Every class holds at least one byte. Otherwise the search for
terms that match something (`emptiness.py`) would follow a target that no byte leads to.

The targets of all terms stand one after another in one array. As objects of their own they would cost time in each run
of the garbage collector. The targets of a partition under construction stand on top of a stack.

A target may be a negative number: an unevaluated derivative, see `derivatives.py`.
"""

from __future__ import annotations

from structgen.engine.arrays import grown, grown_pool, room, zeros
from structgen.engine.automata.term_table import TermTable
from structgen.engine.constants import NO_MAP, ONE_CLASS
from structgen.engine.pair_table import PairTable

__all__ = ["DIGITS", "DIGITS_AND_POINT", "BytePartitions"]

TERMS_PER_MAP = 32  # an estimate, for the initial size of the arrays: at least as many terms share a class map

DIGITS = bytes([b"0123456789".find(byte) + 1 for byte in range(256)])
"""The classes of bytes where each digit is a class of its own."""
DIGITS_AND_POINT = bytes([b"0123456789.".find(byte) + 1 for byte in range(256)])

_SPREAD = [bytes([byte >> bit & 1 for bit in range(8)]) for byte in range(256)]  # by byte: its 8 bits, lowest first


class BytePartitions:
    """The partitions of the terms of one table, and the stack on which they are constructed.

    Attributes (arrays may be longer than what is used, and are replaced when they grow):
        map_at: column, by term: the number of the class map of its derivatives; NO_MAP if they are not computed yet.
        targets_at: column, by term: the position of its first target in `target_pool`; one for each class follows.
        target_pool: int32. A number >= 0 is a term that matches something, or 0 (NOTHING). A negative number is an
            unevaluated derivative (see `Derivatives`). It also matches something, unless `may_be_empty` holds for
            the term that leads to it.
        pools: how often `target_pool` or `class_of` was replaced. Code that keeps a reference to one of them compares
            this number to see whether the reference is out of date.
        class_of: int32[maps * 256]; the class of byte b in map m is at m * 256 + b.
        byte_of: int32[maps * 256]; some byte of class c in map m is at m * 256 + c.
        width_of: int32, by class map: the number of its classes.
        stack: int32, the targets of partitions under construction.
        stack_size: number of values on the stack.

    Args:
        table: the terms.
    """

    def __init__(self, table: TermTable) -> None:
        capacity = table.capacity
        self.map_at = table.add_column()
        self.targets_at = table.add_column()
        self.target_pool = room(16 * capacity)
        self._target_count = 0
        self.class_of = room(max(16, capacity // TERMS_PER_MAP) * 256)
        self.pools = 0
        self.byte_of = room(len(self.class_of))
        self.width_of = zeros(len(self.class_of) // 256)
        self._map_count = 1  # the number NO_MAP stays unused
        self._number_of_map: dict[bytes, int] = {}
        self._bytes_of_map: dict[int, list[int]] = {}
        self._number_of_set: dict[int, int] = {}
        self._maps_of_bytes = zeros(256)
        self._products = PairTable()
        self.stack = zeros(1024)
        self.stack_size = 0
        self._left = zeros(256)
        self._right = zeros(256)
        self.map_number(bytes(256))  # ONE_CLASS

    # -- class maps -------------------------------------------------------------------------------------------------

    def map_number(self, classes: bytes) -> int:
        """Return the number of a class map.

        Args:
            classes: the class of each byte, 256 of them. Classes are 0, 1, 2, … without gaps.
        """
        found = self._number_of_map.get(classes)
        if found is not None:
            return found
        number = self._number_of_map[classes] = self._map_count
        self._map_count = number + 1
        first = number * 256
        if first == len(self.class_of):
            before = self.class_of  # goes when all is in place: see `Matcher._fill`
            self.class_of = grown(before, first)
            self.byte_of = grown(self.byte_of, first)
            self.width_of = grown(self.width_of, number)
            self.pools += 1
        width = 0
        for byte in range(256):
            class_id = classes[byte]
            self.class_of[first + byte] = class_id
            self.byte_of[first + class_id] = byte
            if class_id >= width:
                width = class_id + 1
        self.width_of[number] = width
        return number

    def class_bytes(self, number: int) -> list[int]:
        """Return the set of bytes of each class of a class map, as a number whose bit b stands for byte b."""
        found = self._bytes_of_map.get(number)
        if found is None:
            found = self._bytes_of_map[number] = [0] * self.width_of[number]
            one = 1  # a Python integer: a C integer has fewer than 256 bits
            for byte in range(256):
                found[self.class_of[number * 256 + byte]] |= one << byte
        return found

    def has_one_byte(self, number: int, class_id: int) -> bool:
        """Return whether a class of a class map holds only one byte."""
        count = 0
        for byte in range(256):
            count += self.class_of[number * 256 + byte] == class_id
        return count == 1

    def map_of_set(self, mask: int) -> int:
        """Return the class map with the bytes of a set in class 1, all others in class 0; bit b of `mask` is byte b."""
        found = self._number_of_set.get(mask)
        if found is None:
            spread = b"".join([_SPREAD[byte] for byte in mask.to_bytes(32, "little")])
            found = self._number_of_set[mask] = self.map_number(spread)
        return found

    def map_of_byte(self, byte: int) -> int:
        """Return the class map with one byte in class 1, all others in class 0."""
        number = self._maps_of_bytes[byte]
        if number == NO_MAP:
            number = self._maps_of_bytes[byte] = self.map_number(bytes(byte) + b"\1" + bytes(255 - byte))
        return number

    def product(self, first: int, second: int) -> int:
        """Return the common refinement of two class maps.

        Two bytes share a class of the result if they share a class in both maps. The refinement of {0-9 | others} and
        {a-f, 0-4 | others} has four classes: 0-4, 5-9, a-f, others.
        """
        if first == second or second == ONE_CLASS:
            return first
        if first == ONE_CLASS:
            return second
        found = self._products.get(first, second)
        if found >= 0:
            return found
        left, right = self._left, self._right  # by class of the product: its class in `first`, in `second`
        width = 0
        product = bytearray(256)
        for byte in range(256):
            mine = self.class_of[first * 256 + byte]
            other = self.class_of[second * 256 + byte]
            class_id = 0
            while class_id < width and (left[class_id] != mine or right[class_id] != other):
                class_id += 1
            if class_id == width:
                left[class_id] = mine
                right[class_id] = other
                width += 1
            product[byte] = class_id
        found = self.map_number(bytes(product))
        self._products.put(first, second, found)
        return found

    # -- a partition under construction -----------------------------------------------------------------------------

    def push(self, target: int) -> None:
        """Put the target of the next class on the stack."""
        if self.stack_size == len(self.stack):
            self.stack = grown_pool(self.stack, self.stack_size)
        self.stack[self.stack_size] = target
        self.stack_size += 1

    def reduced(self, number: int, base: int) -> int:
        """Merge the classes that have the same target, and return the class map of the result.

        The targets of the class map `number` stand on the stack from `base` on; after the call, those of the result.
        """
        work = self.stack
        new_ids = self._left  # by class: its class in the result
        width = self.width_of[number]
        different = 0
        for class_id in range(width):
            target = work[base + class_id]
            new = 0
            while new < different and work[base + new] != target:
                new += 1
            if new == different:  # the first class with this target; work[base + new] was read already
                work[base + new] = target
                different += 1
            new_ids[class_id] = new
        if different == width:
            return number
        self.stack_size = base + different
        classes = bytearray(256)
        for byte in range(256):
            classes[byte] = new_ids[self.class_of[number * 256 + byte]]
        return self.map_number(bytes(classes))

    def keep(self, term: int, number: int) -> None:
        """Store a partition as that of a term, and remove its targets from the stack.

        Args:
            term: the term.
            number: the class map; its targets are the topmost values of the stack.
        """
        count = self._target_count
        size = self.width_of[number]
        base = self.stack_size - size
        if count + size > len(self.target_pool):
            before = self.target_pool  # goes when the other is in place: see `Matcher._fill`
            self.target_pool = grown_pool(before, count)
            self.pools += 1
        for class_id in range(size):
            self.target_pool[count + class_id] = self.stack[base + class_id]
        self.stack_size = base
        self._target_count = count + size
        self.targets_at.values[term] = count
        self.map_at.values[term] = number

    def moved_down(self, base: int, top: int) -> int:
        """Move the values of the stack from `top` on down to `base`, and overwrite those there. Returns `base`."""
        size = self.stack_size - top
        for offset in range(size):
            self.stack[base + offset] = self.stack[top + offset]
        self.stack_size = base + size
        return base

    def place_of(self, term: int, byte: int) -> int:
        """Return the position in `target_pool` of the derivative of a term by a byte."""
        return self.targets_at.values[term] + self.class_of[self.map_at.values[term] * 256 + byte]
