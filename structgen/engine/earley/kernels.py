"""Kernels of Earley sets, hash-consed: turns the items that a step has found into the number of a set.

A kernel is a set of items, with two more values: the captured text, and whether the text so far is whole. Equal kernels
get one number, so a set is a value that can be looked up: `item_sets.py` says why that is enough.

Example (the grammar of `item_sets.py`: `start ::= 'a' tail; tail ::= 'b' | 'b' tail;`). Steps that read "abb":

    step          items added to the kernel       accepting  finish() returns
    set 1 by "a"  start -> 'a' .tail  ROOT        no         2  (new)
    set 2 by "b"  tail -> 'b' .tail   ROOT        yes        3  (new)
    set 3 by "b"  tail -> 'b' .tail   ROOT        yes        3  (found)

Items are numbers (`ItemTable`). A step marks the items that it adds with its serial number. So an item is added once,
and a set has the kernel in the making if it has as many items and all of them bear the mark: their order does not
matter, and nothing is sorted.
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
    """The kernel in the making, and a hash table of the kernels made before.

    One step after the other: `begin`, any number of `add`, then `finish`. The sets' hash table has their numbers only,
    and compares kernels as described above.

    Args:
        table: the sets; `finish` adds new ones.
        items: the items; `add` adds new ones.
        groups: the return addresses.
        rules: the grammar.
        limits: bounds of the number of sets, and of items in one.

    Attributes:
        serial: number of the step whose kernel is in the making, from 1.
        size: number of its items so far.
        accepting: 1 where the text after the step is a whole text of the language.
        text: the captured text after the step, or the kind of none.
        kind: AFTER or NEEDS_CHECK once the step has ended such a capture; else NO_TEXT.
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
        """Begin the kernel of a new step, after which the captured text is `text`."""
        self.serial += 1
        self.size = 0
        self.accepting = 0
        self.text = text
        self.kind = text if text in (AFTER, NEEDS_CHECK) else NO_TEXT

    def add(self, position: int, state: int, group: int) -> None:
        """Add an item to the kernel in the making, unless it has it.

        Raises:
            LimitExceededError: set_items.
        """
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
        """Return the number of the set whose kernel was made: one made before, or a new one.

        Raises:
            LimitExceededError: item_sets.
        """
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
        """Add a set with the kernel in the making, without a search for an equal one."""
        if self._table.count >= self._max_sets:
            raise LimitExceededError("item_sets", self._max_sets)
        return self._table.add(self._found, self.size, self.accepting, self.text)

    def _settle_text(self) -> None:
        """Decide the text of the set in the making: only a set inside of a capture has one."""
        text = self.text
        kind = self.kind
        captures = 0
        for index in range(self.size):
            captures |= self._groups.captures[self._items.group[self._found[index]]]
        if kind == NO_TEXT:
            self.text = text if captures else NO_TEXT
        elif text == AFTER and captures & FRESH and not self._goes_on_endless():
            self.text = NEEDS_CHECK  # a byte of the next capture, whose text may have to differ from the last one
        else:
            self.text = kind

    def _goes_on_endless(self) -> bool:
        """Return whether the capture that the set in the making has entered can end in infinitely many ways."""
        for index in range(self.size):
            item = self._found[index]
            if not self._groups.captures[self._items.group[item]] & FRESH:
                continue
            position = self._items.position[item]
            if self._rules.goes_on_endless(position) or self._rules.has_room(position, self._items.state[item], 0):
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
