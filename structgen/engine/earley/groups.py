"""Groups: the items of one set that wait for the same nonterminal. The number of a group is a return address.

When a nonterminal ends, the items of the group that it returns to advance. `make` adds the groups of a set that is
closed; `mark_completed` makes sure that a step advances each group once; `top` is Leo's optimisation for right
recursion.

Equal groups
------------

Groups with equal items have one number (hash-consing), as equal kernels have. Then what follows is found once. Take
the objects of an array:

    start ::= '[' object more;    more ::= ']' | ',' object more;

The first object and the second one begin in different sets. What follows them is the same: `more`, then the end of the
text. So their groups are equal, and the sets inside of the second object are those of the first one.

Leo's optimisation
------------------

Take `start ::= 'a' tail; tail ::= 'b' | 'b' tail;` and the text "abbb". Each "b" predicts `tail` again. When the text
ends, the last `tail` ends, then the one around it, and so on: a chain of calls, each of which has nothing left to do
but return.

    start -> 'a' .tail          waits in group 2, returns to ROOT
    tail  -> 'b' .tail          waits in group 3, returns to group 2
    tail  -> 'b' .tail          waits in group 4, returns to group 3

    without:  group 4 -> group 3 -> group 2 -> ROOT      a new set for each byte, and long chains at each end
    with:     every item returns to ROOT at once         set 3 comes back after every "b"

A compiler calls that the removal of tail calls. If a group has exactly one item, the dot stands before its last symbol,
and no look-ahead holds after that, then telling the group is the same as telling the group that this item returns to.
`top` follows such groups up to the first one that is different, and remembers the result. A new item gets `top(group)`
for its address. Sets that no address leads to cannot matter any more, so right recursion runs in a finite number of
sets.

Source: Leo 1991 ("transitive items", found when a nonterminal ends; here the address is replaced when an item is made).
"""

from __future__ import annotations

from structgen.engine.arrays import block, column, grown_pool, zeros
from structgen.engine.constants import AFTER, CAPTURED, FRESH, REFUSING, ROOT, UNSET
from structgen.engine.earley.item_columns import rows_for
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import CAPTURES, END

__all__ = ["GroupTable"]

# Declared as C integers in the .pxd, so not importable from here.
COMPLETED_BITS = 31  # of an int32 without its sign


class GroupTable:
    """The groups of one grammar. Group 0, ROOT, stands for the end of the whole text.

    New groups are made by `begin`, then `wait` for each item, then `make`, which sorts the items by group.

    Args:
        rules: the grammar.

    Attributes:
        count: number of groups made so far, ROOT included.
        pending_size: number of numbers that `wait` has collected, three for an item.
        first, last: int32 by group; its items are rows `first[g]` to `last[g] - 1` of the two columns below.
        wait_position: int32 by waiting item; its dotted rule, before the nonterminal that it waits for.
        wait_group: int32 by waiting item; its own return address.
        text: int32 by group; the captured text of the set that the group belongs to.
        captures: int32 by group; CAPTURED, FRESH and REFUSING as bits.
    """

    def __init__(self, rules: Rules) -> None:
        nothing = zeros(0)
        self._rules = rules
        self.count = 0
        self.first = self.last = self.text = self.captures = nothing
        self._top = self._mark = self._completed = self._completed_more = self._hash = nothing
        self._slots = zeros(64, UNSET)
        self._renamed = zeros(16)
        self._grow(0)
        self._wait_size = 0
        self.wait_position = self.wait_group = nothing
        self._grow_waits(0)
        self._pending = zeros(128)
        self.pending_size = 0
        self._make_root()

    def _make_root(self) -> None:
        self.count = 1
        self.first[ROOT] = self.last[ROOT] = 0
        self._top[ROOT] = ROOT
        self._mark[ROOT] = 0
        self.text[ROOT] = 0
        self._completed[ROOT] = self._completed_more[ROOT] = 0
        self.captures[ROOT] = 0

    def waiting(self, group: int) -> list[tuple[int, int]]:
        """Return the items of a group, each as its dotted rule and its own return address. For messages."""
        return [(self.wait_position[row], self.wait_group[row]) for row in range(self.first[group], self.last[group])]

    # -- making groups ----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin new groups, without items."""
        self.pending_size = 0

    def wait(self, group: int, position: int, address: int) -> None:
        """Add an item to one of the new groups, which have the numbers from `count` on."""
        size = self.pending_size
        if size + 3 > len(self._pending):
            self._pending = grown_pool(self._pending, size)
        self._pending[size] = group
        self._pending[size + 1] = position
        self._pending[size + 2] = address
        self.pending_size = size + 3

    def make(self, made: int, text: int, *, shares: bool = True) -> None:
        """Add the new groups with the items that wait in them. `renamed` returns their numbers.

        Args:
            made: number of new groups.
            text: the captured text of the set that they belong to.
            shares: whether groups that are equal to older ones get their numbers.
        """
        base = self.count
        if base + made > len(self.first):
            self._grow(base + made)
        self._sort_pending(made)
        for group in range(base, base + made):
            self._top[group] = UNSET
            self._mark[group] = 0
            self.text[group] = text
            self.captures[group] = 0
        self.count = base + made
        if shares:
            self._share(base)
        if self._rules.has_captures:
            self._mark_captures(base)

    def renamed(self, group: int, base: int) -> int:
        """Return the number of a new group after `make` found equal ones; an older group keeps its number.

        Args:
            group: its number before.
            base: the number of groups before `make`.
        """
        return group if group < base else self._renamed[group - base]

    def _sort_pending(self, made: int) -> None:
        """Write the pending items of the new groups, sorted by group: by counting."""
        base = self.count
        pending = self.pending_size
        if self._wait_size + pending // 3 > len(self.wait_position):
            self._grow_waits(self._wait_size + pending // 3)
        for group in range(base, base + made):
            self.last[group] = 0
        for index in range(0, pending, 3):
            self.last[self._pending[index]] += 1
        size = self._wait_size
        for group in range(base, base + made):
            self.first[group] = size
            size += self.last[group]
            self.last[group] = self.first[group]
        for index in range(0, pending, 3):
            group = self._pending[index]
            row = self.last[group]
            self.wait_position[row] = self._pending[index + 1]
            self.wait_group[row] = self._pending[index + 2]
            self.last[group] = row + 1
        self._wait_size = size

    def _share(self, base: int) -> None:
        """Give the groups from `base` on the numbers of equal older ones, and close the gaps.

        The addresses of their items are replaced by `top` first. An item may return to a later group of the same set,
        whose new number is not known yet: such a group is *unsettled*, and is not compared. Until all numbers are
        known, these addresses are negative.
        """
        end, row = self.count, self.first[base] if self.count > base else self._wait_size
        while len(self._renamed) < end - base:
            self._renamed = grown_pool(self._renamed, 0)
        while len(self._slots) < 2 * end:
            self._rehash()
        self.count = base
        is_any_unsettled = False
        for group in range(base, end):
            is_unsettled = self._move(group, row, base)
            is_any_unsettled |= is_unsettled
            kept = self.count
            number = kept if is_unsettled else self._equal_group(kept)
            self._renamed[group - base] = number
            if number == kept:
                row = self.last[kept]
                self.count = kept + 1
        self._wait_size = row
        if is_any_unsettled:
            self._settle(base)

    def _move(self, group: int, row: int, base: int) -> bool:
        """Move a new group to number `count` and its items to `row`; return whether it is unsettled."""
        kept = self.count
        first, last = self.first[group], self.last[group]
        self.first[kept] = row
        self._top[kept] = UNSET
        for waiting in range(first, last):
            above = self.wait_group[waiting]
            if above > group:
                self._top[kept] = kept  # until it is settled
                above = -above
            elif above == group:
                above = kept
            else:
                above = self.top(self.renamed(above, base))
            self.wait_position[row] = self.wait_position[waiting]
            self.wait_group[row] = above
            row += 1
        self.last[kept] = row
        return self._top[kept] == kept

    def _settle(self, base: int) -> None:
        """Give the addresses of unsettled groups from `base` on their new numbers."""
        for group in range(base, self.count):
            for row in range(self.first[group], self.last[group]):
                if self.wait_group[row] < 0:
                    self.wait_group[row] = self.renamed(-self.wait_group[row], base)
                    self._top[group] = UNSET

    def _equal_group(self, group: int) -> int:
        """Return the older group that is equal to the last one; the last one, noted for later ones, if none is."""
        first, last = self.first[group], self.last[group]
        h = self.text[group] * 40503 + last - first
        for row in range(first, last):
            above = self.wait_group[row]
            h = h * 31 + self.wait_position[row] * 40503 + (0 if above == group else above)
            h = h & 0xFFFFFFF
        mask = len(self._slots) - 1
        slot = (h ^ (h >> 11)) & mask
        while True:
            other = self._slots[slot]
            if other < 0:
                break
            if self._hash[other] == h and self._are_equal(other, group):
                return other
            slot = (slot + 1) & mask
        self._hash[group] = h
        self._slots[slot] = group
        return group

    def _are_equal(self, one: int, other: int) -> bool:
        """Return whether two groups have equal items, in the same order. Both may have items that return to them."""
        shift = self.first[other] - self.first[one]
        if self.text[one] != self.text[other] or self.last[other] - self.last[one] != shift:
            return False
        for row in range(self.first[one], self.last[one]):
            if self.wait_position[row] != self.wait_position[row + shift]:
                return False
            above, above_other = self.wait_group[row], self.wait_group[row + shift]
            if above != above_other and not (above == one and above_other == other):
                return False
        return True

    def _rehash(self) -> None:
        """Double the slots."""
        old = self._slots
        self._slots = zeros(2 * len(old), UNSET)
        mask = len(self._slots) - 1
        for index in range(len(old)):
            group = old[index]
            if group >= 0:
                h = self._hash[group]
                slot = (h ^ (h >> 11)) & mask
                while self._slots[slot] >= 0:
                    slot = (slot + 1) & mask
                self._slots[slot] = group

    def _mark_captures(self, base: int) -> None:
        """Set `captures` of the groups from `base` on, until nothing changes: their items may wait in one another."""
        changed = True
        while changed:
            changed = False
            for group in range(base, self.count):
                captures = self.captures[group]
                for row in range(self.first[group], self.last[group]):
                    symbol = self._rules.symbols[self.wait_position[row] + 1]
                    if symbol <= CAPTURES:
                        captures |= CAPTURED
                        if self._rules.refuses(CAPTURES - symbol):
                            captures |= REFUSING
                        if not self._rules.refuses_only_ends(CAPTURES - symbol):
                            captures |= FRESH
                    captures |= self.captures[self.wait_group[row]] & (CAPTURED | FRESH)
                if self.text[group] != AFTER:
                    captures &= CAPTURED | REFUSING
                if captures != self.captures[group]:
                    self.captures[group] = captures
                    changed = True

    # -- completion -------------------------------------------------------------------------------------------------

    def top(self, group: int) -> int:
        """Return the address that `group` can be replaced by: tail calls removed, as the module's docstring says.

        The walk up ends. Items of a group return to groups of older sets, or of the same set; in the second case they
        were predicted, so a kernel item leads to them, and it waits in one of the groups beside another item.
        """
        top = self._top[group]
        if top != UNSET:
            return top
        rules = self._rules
        top = group
        while self._top[top] == UNSET:
            row = self.first[top]
            after = self.wait_position[row] + 1
            if self.last[top] - row != 1 or rules.symbols[after] != END or rules.before[after]:
                self._top[top] = top
                break
            top = self.wait_group[row]
        top = self._top[top]
        while self._top[group] == UNSET:
            self._top[group] = top
            group = self.wait_group[self.first[group]]
        return top

    def mark_completed(self, group: int, ahead: int, step: int) -> bool:
        """Note that the nonterminal of a group has ended. Return whether the items that wait for it must advance now.

        In one step, they advance once for each look-ahead, and not again after they have advanced without one.

        Args:
            group: the group.
            ahead: the number of the look-ahead that holds at the end; 0 for none.
            step: the serial number of the step.
        """
        if self._mark[group] != step:
            self._mark[group] = step
            self._completed[group] = self._completed_more[group] = 0
        completed = self._completed[group]
        if completed & 1:
            return False
        if ahead >= COMPLETED_BITS:
            completed = self._completed_more[group]
            self._completed_more[group] = completed | 1 << ahead - COMPLETED_BITS
            return not completed >> ahead - COMPLETED_BITS & 1
        self._completed[group] = completed | 1 << ahead
        return not completed >> ahead & 1

    # -- growth -----------------------------------------------------------------------------------------------------

    def _grow(self, needed: int) -> None:
        used = self.count
        size = rows_for(needed)
        columns = block(9, size)
        self.first = column(columns, 0, size, self.first, used)
        self.last = column(columns, 1, size, self.last, used)
        self._top = column(columns, 2, size, self._top, used)
        self._mark = column(columns, 3, size, self._mark, used)
        self.text = column(columns, 4, size, self.text, used)
        self.captures = column(columns, 5, size, self.captures, used)
        self._completed = column(columns, 6, size, self._completed, used)
        self._completed_more = column(columns, 7, size, self._completed_more, used)
        self._hash = column(columns, 8, size, self._hash, used)

    def _grow_waits(self, needed: int) -> None:
        used = self._wait_size
        size = rows_for(needed)
        columns = block(2, size)
        self.wait_position = column(columns, 0, size, self.wait_position, used)
        self.wait_group = column(columns, 1, size, self.wait_group, used)
