"""Kernels of Earley sets, hash-consed: what a step has found becomes the number of a set.

An item is a triple of numbers that is kept once; a kernel is a set of items, beside its text and whether the text so
far is whole; equal ones are one set. `earley.py` says why that is enough.
"""

from __future__ import annotations

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import AFTER, NEEDS_CHECK, NO_TEXT
from structgen.engine.earley.predictor import Predictor
from structgen.engine.grammar.rules import Rules
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["Kernels"]

# Declared as C integers in the .pxd, so not importable from here.
DEAD_SET = 0
UNKNOWN = -1  # as in `engine/item_pools.py`
FRESH = 2  # as in `engine/closures.py`


class Kernels(Predictor):
    """The sets of one grammar, and the kernel in the making."""

    def __init__(self, rules: Rules, limits: Limits) -> None:
        super().__init__(rules, limits)
        self._max_sets = limits.item_sets
        self._work = zeros(64)
        self._work_size = 0
        self._work_accepting = 0
        self._work_text = NO_TEXT
        self._work_kind = NO_TEXT
        self._skips = False  # over bytes that are not known, to the end of a terminal

    def _begin(self, text: int) -> None:
        """Begins the kernel after one more byte, where the text is to be `text`."""
        self._serial += 1
        self._work_size = 0
        self._work_accepting = 0
        self._work_text = text
        self._work_kind = text if text in (AFTER, NEEDS_CHECK) else NO_TEXT
        self._skips = False

    def _add_item(self, position: int, state: int, group: int) -> None:
        """Adds an item to the kernel in the making, unless it is there."""
        item = self._intern_item(position, state, group)
        if self._item_mark[item] != self._serial:
            self._item_mark[item] = self._serial
            if self._work_size >= self._max_items:
                raise LimitExceededError("set_items", self._max_items)
            if self._work_size >= len(self._work):
                self._work = grown_pool(self._work, self._work_size)
            self._work[self._work_size] = item
            self._work_size += 1

    def _intern_item(self, position: int, state: int, group: int) -> int:
        mask = len(self._item_table) - 1
        h = position * 73856093 ^ state * 19349663 ^ group * 83492791
        slot = (h ^ (h >> 17)) & mask
        while True:
            item = self._item_table[slot]
            if item < 0:
                break
            if (
                self._item_position[item] == position
                and self._item_state[item] == state
                and self._item_group[item] == group
            ):
                return item
            slot = (slot + 1) & mask
        item = self._item_count
        if item >= len(self._item_position):
            self._grow_items(item + 1)
        self._item_position[item] = position
        self._item_state[item] = state
        self._item_group[item] = group
        self._item_mark[item] = 0
        self._item_table[slot] = item
        self._item_count = item + 1
        if 2 * self._item_count > mask:
            self._rehash_items()
        return item

    def _rehash_items(self) -> None:
        table = zeros(2 * len(self._item_table), UNKNOWN)
        mask = len(table) - 1
        for item in range(self._item_count):
            h = self._item_position[item] * 73856093 ^ self._item_state[item] * 19349663
            h = h ^ self._item_group[item] * 83492791
            slot = (h ^ (h >> 17)) & mask
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = item
        self._item_table = table

    def _finish_set(self) -> int:
        """The number of the set whose kernel is in `_work`; kernels are compared as sets, by the items' marks."""
        if self._work_size == 0 and not self._work_accepting:
            return DEAD_SET
        if self._work_text != NO_TEXT or self._work_kind != NO_TEXT:
            self._settle_text()
        h = self._work_size + 7 * self._work_accepting + 40503 * self._work_text
        for index in range(self._work_size):
            item = self._work[index]
            h += (item * 40503 ^ (item >> 5)) & 0xFFFFFF
        h = h & 0x7FFFFFFF
        mask = len(self._set_table) - 1
        slot = (h ^ (h >> 11)) & mask
        while True:
            set_id = self._set_table[slot]
            if set_id < 0:
                break
            if self._set_hash[set_id] == h and self._is_work(set_id):
                return set_id
            slot = (slot + 1) & mask
        set_id = self._new_set_from_work()
        self._set_hash[set_id] = h
        self._set_table[slot] = set_id
        if 2 * self.set_count > mask:
            self._rehash_sets()
        return set_id

    def _settle_text(self) -> None:
        """What the set in the making has as its text: only what is inside of a capture has one."""
        text = self._work_text
        kind = self._work_kind
        captures = 0
        for index in range(self._work_size):
            captures |= self.group_captures[self._item_group[self._work[index]]]
        if kind == NO_TEXT:
            self._work_text = text if captures else NO_TEXT
        elif text == AFTER and captures & FRESH and not self._goes_on_endless():
            self._work_text = NEEDS_CHECK  # a byte of the next capture, which may have to differ from the last
        else:
            self._work_text = kind

    def _goes_on_endless(self) -> bool:
        """Whether the capture that the set in the making has entered surely ends in infinitely many ways."""
        for index in range(self._work_size):
            item = self._work[index]
            if self.group_captures[self._item_group[item]] & FRESH:
                endless = self.rules.goes_on_endless(self._item_position[item])
                self._load_rules()
                if endless:
                    return True
        return False

    def _is_work(self, set_id: int) -> bool:
        first = self._first_kernel[set_id]
        last = self._last_kernel[set_id]
        if last - first != self._work_size or self.accepting[set_id] != self._work_accepting:
            return False
        if self.text[set_id] != self._work_text:
            return False
        for index in range(first, last):  # noqa: SIM110  (a generator would not be compiled to a loop)
            if self._item_mark[self._kernel[index]] != self._serial:
                return False
        return True

    def _rehash_sets(self) -> None:
        table = zeros(2 * len(self._set_table), UNKNOWN)
        mask = len(table) - 1
        for set_id in range(1, self.set_count):
            h = self._set_hash[set_id]
            slot = (h ^ (h >> 11)) & mask
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = set_id
        self._set_table = table

    def _new_set_from_work(self) -> int:
        set_id = self.set_count
        if set_id >= self._max_sets:
            raise LimitExceededError("item_sets", self._max_sets)
        if set_id >= len(self.accepting):
            self._grow_sets(set_id + 1)
        while self._kernel_size + self._work_size > len(self._kernel):
            self._kernel = grown_pool(self._kernel, self._kernel_size)
        self._first_kernel[set_id] = self._kernel_size
        for index in range(self._work_size):
            self._kernel[self._kernel_size + index] = self._work[index]
        self._kernel_size += self._work_size
        self._last_kernel[set_id] = self._kernel_size
        self.accepting[set_id] = self._work_accepting
        self.text[set_id] = self._work_text
        self.first_scan[set_id] = UNKNOWN
        self._first_byte[set_id] = UNKNOWN
        self.set_count = set_id + 1
        return set_id
