"""Kernels of Earley sets, hash-consed: what a step has found becomes the number of a set.

An item is a triple of numbers that is kept once; a kernel is a set of items, beside its text and whether the text so
far is whole; equal ones are one set. `item_sets.py` says why that is enough.
"""

from __future__ import annotations

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import AFTER, DEAD_SET, FRESH, NEEDS_CHECK, NO_TEXT, UNSET
from structgen.engine.earley.groups import GroupTable
from structgen.engine.earley.item_columns import ItemTable, SetTable
from structgen.engine.grammar.rules import Rules
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["Kernels"]


class Kernels:
    """The kernel in the making, and the numbers of those that were made.

    Args:
        table: the sets; new ones are added.
        items: the items; new ones are added.
        groups: the return addresses.
        rules: the grammar.
        limits: bounds of sets, and of items in one.

    Attributes:
        serial: number of the step whose kernel is in the making, from 1.
        size: items in it so far.
        accepting: 1 where the text after the step is whole.
        text: the captured text after the step.
        kind: AFTER or NEEDS_CHECK once that is known of the set in the making.
    """

    def __init__(self, table: SetTable, items: ItemTable, groups: GroupTable, rules: Rules, limits: Limits) -> None:
        self._table = table
        self._items = items
        self._groups = groups
        self._rules = rules
        self._max_items = limits.set_items
        self._max_sets = limits.item_sets
        self._slots = zeros(128, UNSET)
        self._found = zeros(64)
        self.serial = 0
        self.size = 0
        self.accepting = 0
        self.text = NO_TEXT
        self.kind = NO_TEXT

    def begin(self, text: int) -> None:
        """Begin the kernel after one more byte, where the captured text is to be `text`."""
        self.serial += 1
        self.size = 0
        self.accepting = 0
        self.text = text
        self.kind = text if text in (AFTER, NEEDS_CHECK) else NO_TEXT

    def add(self, position: int, state: int, group: int) -> None:
        """Add an item to the kernel in the making, unless it is there."""
        items = self._items
        item = items.number(position, state, group)
        if items.mark[item] != self.serial:
            items.mark[item] = self.serial
            if self.size >= self._max_items:
                raise LimitExceededError("set_items", self._max_items)
            if self.size >= len(self._found):
                self._found = grown_pool(self._found, self.size)
            self._found[self.size] = item
            self.size += 1

    def finish(self) -> int:
        """Return the number of the set whose kernel was made. Kernels are compared as sets, by the items' marks."""
        if self.size == 0 and not self.accepting:
            return DEAD_SET
        if self.text != NO_TEXT or self.kind != NO_TEXT:
            self._settle_text()
        h = self.size + 7 * self.accepting + 40503 * self.text
        for index in range(self.size):
            item = self._found[index]
            h += (item * 40503 ^ (item >> 5)) & 0xFFFFFF
        h = h & 0x7FFFFFFF
        mask = len(self._slots) - 1
        slot = (h ^ (h >> 11)) & mask
        while True:
            set_id = self._slots[slot]
            if set_id < 0:
                break
            if self._table.kernel_hash[set_id] == h and self._is_made(set_id):
                return set_id
            slot = (slot + 1) & mask
        set_id = self.add_set()
        self._table.kernel_hash[set_id] = h
        self._slots[slot] = set_id
        if 2 * self._table.count > mask:
            self._rehash()
        return set_id

    def add_set(self) -> int:
        """Add a set of the kernel in the making, without looking for an equal one."""
        if self._table.count >= self._max_sets:
            raise LimitExceededError("item_sets", self._max_sets)
        return self._table.add(self._found, self.size, self.accepting, self.text)

    def _settle_text(self) -> None:
        """Settle which text the set in the making has: only what is inside of a capture has one."""
        text = self.text
        kind = self.kind
        captures = 0
        for index in range(self.size):
            captures |= self._groups.captures[self._items.group[self._found[index]]]
        if kind == NO_TEXT:
            self.text = text if captures else NO_TEXT
        elif text == AFTER and captures & FRESH and not self._goes_on_endless():
            self.text = NEEDS_CHECK  # a byte of the next capture, which may have to differ from the last
        else:
            self.text = kind

    def _goes_on_endless(self) -> bool:
        """Return whether the capture that the set in the making has entered surely ends in infinitely many ways."""
        for index in range(self.size):
            item = self._found[index]
            is_fresh = self._groups.captures[self._items.group[item]] & FRESH
            if is_fresh and self._rules.goes_on_endless(self._items.position[item]):
                return True
        return False

    def _is_made(self, set_id: int) -> bool:
        """Return whether a set has the kernel in the making."""
        table = self._table
        first = table.first_kernel[set_id]
        last = table.last_kernel[set_id]
        if last - first != self.size or table.accepting[set_id] != self.accepting:
            return False
        if table.text[set_id] != self.text:
            return False
        for index in range(first, last):  # noqa: SIM110  (a generator would not be compiled to a loop)
            if self._items.mark[table.kernel[index]] != self.serial:
                return False
        return True

    def _rehash(self) -> None:
        slots = zeros(2 * len(self._slots), UNSET)
        mask = len(slots) - 1
        for set_id in range(1, self._table.count):
            h = self._table.kernel_hash[set_id]
            slot = (h ^ (h >> 11)) & mask
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
            slots[slot] = set_id
        self._slots = slots
