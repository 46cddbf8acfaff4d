"""The tables of an item-set store: sets, items and scannable items, each as columns of numbers that grow.

A set is a row of `SetTable`, an item is a row of `ItemTable`, and so on. The number of the row stands for it. The
example of `item_sets.py` after the bytes "ab":

    SetTable                                             kernel     ItemTable              ScanTable
    set  accepting  first_kernel  first_scan  only_byte  row  item  position  state  group  row  position  state  group
      1  0          0             0           97 ("a")     0     0  9         0      0        0  0         4      1
      2  0          1             1           98 ("b")     1     1  1         0      0        1  3         5      2
      3  1          2             -1 (open)                2     2  6         0      0        2  5         5      2

`groups.py` has the fourth table, that of the groups.

The columns of one table stand in one array and grow together. Most schemas are compiled for one text and need little;
and the memory of columns that have grown is free again at once, without holes.
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import block, column, grown_pool, zeros
from structgen.engine.constants import UNSET

__all__ = ["ItemTable", "ScanTable", "SetTable", "rows_for"]

# Declared as C integers in the .pxd, so not importable from here.
MIN_ROWS = 64


class SetTable:
    """The sets of one grammar: for each its kernel, and what follows from that.

    Attributes:
        count: number of sets made so far. Set 0 is the dead set, from which no text is accepted.
        accepting: int32 by set; 1 where the text so far is a whole text of the language.
        text: int32 by set; the number of its captured text, or why it has none (`engine/constants.py`).
        first_kernel, last_kernel: int32 by set; its kernel is `kernel[first_kernel[s]:last_kernel[s]]`.
        kernel_hash: int32 by set.
        first_scan, last_scan: int32 by set; its rows in the `ScanTable`. `first_scan` is -1 until the set is closed.
        only_byte: int32 by set, once closed: the one byte that leads on; 256 when none does, -1 when several do.
        captures: int32 by set, once closed: 1 where an item is inside of a capture, or begins one.
        first_byte, first_target: int32 by set; the first step that was computed from it: steps along one text stand
            side by side. `first_byte` is -1 for none, and `first_target` 0.
        run_length, run_target: int32 by set; the last run that was read from it, and the set after it; 0 for none. See
            `ItemSetStore.follow`.
        run_byte: int32 by set; the byte of which that run is made; -1 where it is part of a literal.
        kernel: int32; the items of all kernels.
    """

    def __init__(self) -> None:
        nothing = zeros(0)
        self.count = 0
        self.accepting = self.text = self.first_kernel = self.last_kernel = self.kernel_hash = nothing
        self.first_scan = self.last_scan = self.only_byte = self.captures = nothing
        self.first_byte = self.first_target = self.run_length = self.run_target = self.run_byte = nothing
        self.kernel = zeros(128)
        self._kernel_size = 0
        self._grow(0)

    def add(self, items: array[int], size: int, accepting: int, text: int) -> int:
        """Add a set whose kernel is the first `size` of some items; return its number."""
        set_id = self.count
        if set_id >= len(self.accepting):
            self._grow(set_id + 1)
        while self._kernel_size + size > len(self.kernel):
            self.kernel = grown_pool(self.kernel, self._kernel_size)
        self.first_kernel[set_id] = self._kernel_size
        for index in range(size):
            self.kernel[self._kernel_size + index] = items[index]
        self._kernel_size += size
        self.last_kernel[set_id] = self._kernel_size
        self.accepting[set_id] = accepting
        self.text[set_id] = text
        self.first_scan[set_id] = UNSET
        self.first_byte[set_id] = UNSET
        self.first_target[set_id] = 0
        self.run_length[set_id] = 0
        self.count = set_id + 1
        return set_id

    def _grow(self, needed: int) -> None:
        used = self.count
        size = rows_for(needed)
        before = self.accepting  # keeps the old block until the new one is in place: see `Matcher._fill`
        columns = block(14, size)
        self.accepting = column(columns, 0, size, before, used)
        self.first_scan = column(columns, 1, size, self.first_scan, used)
        self.last_scan = column(columns, 2, size, self.last_scan, used)
        self.only_byte = column(columns, 3, size, self.only_byte, used)
        self.text = column(columns, 4, size, self.text, used)
        self.captures = column(columns, 5, size, self.captures, used)
        self.first_kernel = column(columns, 6, size, self.first_kernel, used)
        self.last_kernel = column(columns, 7, size, self.last_kernel, used)
        self.kernel_hash = column(columns, 8, size, self.kernel_hash, used)
        self.first_byte = column(columns, 9, size, self.first_byte, used)
        self.first_target = column(columns, 10, size, self.first_target, used)
        self.run_length = column(columns, 11, size, self.run_length, used)
        self.run_target = column(columns, 12, size, self.run_target, used)
        self.run_byte = column(columns, 13, size, self.run_byte, used)


class ItemTable:
    """The items of one grammar, each once: equal items have one number.

    The hash table has the items' numbers only and compares with the columns. (The keys of a `PairTable` are pairs, an
    item is a triple.)

    Attributes:
        position: int32 by item; the dotted rule.
        state: int32 by item; the state of the terminal's automaton after the dot, or the number of the look-ahead that
            holds before a nonterminal.
        group: int32 by item; the return address.
        mark: int32 by item; the serial number of the step that added it last.
    """

    def __init__(self) -> None:
        nothing = zeros(0)
        self._count = 0
        self.position = self.state = self.group = self.mark = nothing
        self._grow(0)
        self._slots = zeros(128, UNSET)

    def number(self, position: int, state: int, group: int) -> int:
        """Return the number of an item; add it where it is new."""
        mask = len(self._slots) - 1
        h = position * 73856093 ^ state * 19349663 ^ group * 83492791
        slot = (h ^ (h >> 17)) & mask
        while True:
            item = self._slots[slot]
            if item < 0:
                break
            if self.position[item] == position and self.state[item] == state and self.group[item] == group:
                return item
            slot = (slot + 1) & mask
        item = self._count
        if item >= len(self.position):
            self._grow(item + 1)
        self.position[item] = position
        self.state[item] = state
        self.group[item] = group
        self.mark[item] = 0
        self._slots[slot] = item
        self._count = item + 1
        if 2 * self._count > mask:
            self._rehash()
        return item

    def _rehash(self) -> None:
        slots = zeros(2 * len(self._slots), UNSET)
        mask = len(slots) - 1
        for item in range(self._count):
            h = self.position[item] * 73856093 ^ self.state[item] * 19349663
            h = h ^ self.group[item] * 83492791
            slot = (h ^ (h >> 17)) & mask
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
            slots[slot] = item
        self._slots = slots

    def _grow(self, needed: int) -> None:
        used = self._count
        size = rows_for(needed)
        columns = block(4, size)
        self.position = column(columns, 0, size, self.position, used)
        self.state = column(columns, 1, size, self.state, used)
        self.group = column(columns, 2, size, self.group, used)
        self.mark = column(columns, 3, size, self.mark, used)


class ScanTable:
    """The scannable items of closed sets: those with a terminal after the dot. Those of one set stand together.

    Attributes:
        size: number of rows in use.
        position: int32 by row; the dotted rule.
        state: int32 by row; the state of the terminal's automaton.
        group: int32 by row; the return address.
    """

    def __init__(self) -> None:
        nothing = zeros(0)
        self.size = 0
        self.position = self.state = self.group = nothing
        self._grow(0)

    def add(self, position: int, state: int, group: int) -> None:
        """Add a row."""
        size = self.size
        if size >= len(self.position):
            self._grow(size + 1)
        self.position[size] = position
        self.state[size] = state
        self.group[size] = group
        self.size = size + 1

    def _grow(self, needed: int) -> None:
        used = self.size
        size = rows_for(needed)
        before = self.position  # keeps the old block until the new one is in place: see `Matcher._fill`
        columns = block(3, size)
        self.position = column(columns, 0, size, before, used)
        self.state = column(columns, 1, size, self.state, used)
        self.group = column(columns, 2, size, self.group, used)


def rows_for(needed: int) -> int:
    """Return the length of columns with room for `needed` rows: a power of two, so that growth doubles them."""
    size = MIN_ROWS
    while size < needed:
        size *= 2
    return size
