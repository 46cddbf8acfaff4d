"""The arrays of a grammar's Earley sets: their sets, items and groups as columns of numbers that grow.

Columns of one thing stand in one array, and grow together: most schemas are compiled for one text and need little, and
the memory of columns that have grown is given back at once.
"""

from __future__ import annotations

from structgen.engine.arrays import block, column, zeros
from structgen.engine.pair_table import PairTable

__all__ = ["ItemColumns"]

# Declared as C integers in the .pxd, so not importable from here.
LEAST = 64
ROOT = 0  # the group that stands for the end of the whole text
UNKNOWN = -1


class ItemColumns:
    """What item sets are made of; `ItemSetStore` says more of what is in there.

    Attributes:
        set_count: sets made so far; set 0 is dead, from which nothing can be accepted.
        accepting: int32 by set; 1 where the text so far is a whole text of the language.
        first_scan: int32 by set, -1 until the set is closed; its scannable items are
            `first_scan[s] .. last_scan[s]` in `scan_position`, `scan_state`, `scan_group`.
        step_targets: the set after a set and a byte, as far as it was asked for, without the first step from each set.
        only_byte: int32 by set, once closed: the one byte that leads on; 256 when none does, -1 when several do.
    """

    def __init__(self) -> None:
        nothing = zeros(0)
        # sets
        self.set_count = 0
        self.accepting = self.text = self._first_kernel = self._last_kernel = self._set_hash = nothing
        self.first_scan = self.last_scan = self.only_byte = self.captures = nothing
        self._first_byte = self._first_target = nothing  # the first step: those along one text stand side by side
        self._grow_sets(0)
        self.step_targets = PairTable()
        self._kernel = zeros(128)
        self._kernel_size = 0
        self._set_table = zeros(128, UNKNOWN)
        # items, interned
        self._item_count = 0
        self._item_position = self._item_state = self._item_group = self._item_mark = nothing
        self._grow_items(0)
        self._item_table = zeros(128, UNKNOWN)
        # scannable items by set
        self._scan_size = 0
        self.scan_position = self.scan_state = self.scan_group = nothing
        self._grow_scans(0)
        # groups: the items that wait for one nonterminal in one set
        self._group_count = 0
        self._group_first = self._group_last = self._group_top = self._group_mark = nothing
        self._group_text = self._group_told = self._group_told_more = self.group_captures = nothing
        self._grow_groups(0)
        self._wait_size = 0
        self._wait_position = self._wait_group = nothing
        self._grow_waits(0)
        self._make_root()

    def _make_root(self) -> None:
        """Makes the first group."""
        self._group_count = 1
        self._group_first[ROOT] = self._group_last[ROOT] = 0
        self._group_top[ROOT] = ROOT
        self._group_mark[ROOT] = 0
        self._group_text[ROOT] = 0
        self._group_told[ROOT] = self._group_told_more[ROOT] = 0
        self.group_captures[ROOT] = 0

    def waiting(self, group: int) -> list[tuple[int, int]]:
        """The items that a group is made of, each as its position and its own group: what goes on when a nonterminal
        ends. For messages.
        """
        first, last = self._group_first[group], self._group_last[group]
        return [(self._wait_position[index], self._wait_group[index]) for index in range(first, last)]

    def _grow_sets(self, needed: int) -> None:
        used = self.set_count
        size = _room_for(needed)
        before = self.accepting  # the old block goes when all is in place: see `Matcher._fill`
        columns = block(11, size)
        self.accepting = column(columns, 0, size, before, used)
        self.first_scan = column(columns, 1, size, self.first_scan, used)
        self.last_scan = column(columns, 2, size, self.last_scan, used)
        self.only_byte = column(columns, 3, size, self.only_byte, used)
        self.text = column(columns, 4, size, self.text, used)
        self.captures = column(columns, 5, size, self.captures, used)
        self._first_kernel = column(columns, 6, size, self._first_kernel, used)
        self._last_kernel = column(columns, 7, size, self._last_kernel, used)
        self._set_hash = column(columns, 8, size, self._set_hash, used)
        self._first_byte = column(columns, 9, size, self._first_byte, used)
        self._first_target = column(columns, 10, size, self._first_target, used)

    def _grow_items(self, needed: int) -> None:
        used = self._item_count
        size = _room_for(needed)
        columns = block(4, size)
        self._item_position = column(columns, 0, size, self._item_position, used)
        self._item_state = column(columns, 1, size, self._item_state, used)
        self._item_group = column(columns, 2, size, self._item_group, used)
        self._item_mark = column(columns, 3, size, self._item_mark, used)

    def _grow_scans(self, needed: int) -> None:
        used = self._scan_size
        size = _room_for(needed)
        columns = block(3, size)
        self.scan_position = column(columns, 0, size, self.scan_position, used)
        self.scan_state = column(columns, 1, size, self.scan_state, used)
        self.scan_group = column(columns, 2, size, self.scan_group, used)

    def _grow_groups(self, needed: int) -> None:
        used = self._group_count
        size = _room_for(needed)
        columns = block(8, size)
        self._group_first = column(columns, 0, size, self._group_first, used)
        self._group_last = column(columns, 1, size, self._group_last, used)
        self._group_top = column(columns, 2, size, self._group_top, used)
        self._group_mark = column(columns, 3, size, self._group_mark, used)
        self._group_text = column(columns, 4, size, self._group_text, used)
        self.group_captures = column(columns, 5, size, self.group_captures, used)
        self._group_told = column(columns, 6, size, self._group_told, used)
        self._group_told_more = column(columns, 7, size, self._group_told_more, used)

    def _grow_waits(self, needed: int) -> None:
        used = self._wait_size
        size = _room_for(needed)
        columns = block(2, size)
        self._wait_position = column(columns, 0, size, self._wait_position, used)
        self._wait_group = column(columns, 1, size, self._wait_group, used)


def _room_for(needed: int) -> int:
    """How long columns should be for so many values: at least twice what they were when they had no more room."""
    size = LEAST
    while size < needed:
        size *= 2
    return size
