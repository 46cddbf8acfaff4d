"""Earley sets over bytes as shared, immutable values.

An item is a dotted rule, the state of the terminal's automaton after the dot, and a return address. A return address
is a *group*: the items of one set that wait for one nonterminal; on completion each of them advances. Completed items
are dropped, and predicted ones follow from the others, so a set is its kernel, and equal kernels are one set
(hash-consing). That makes `(set, byte) -> set` a function that can be remembered for every text, position and thread.

Leo's rule for right recursion (Leo 1991, "A general context-free parsing algorithm running in linear time on every
LR(k) grammar without using lookahead") becomes the removal of tail calls when a kernel is made: an address whose group
is one item with the dot before its last symbol is replaced by that item's own address. Sets that no address names any
more cannot matter to the future, and right recursion runs in a finite number of sets.

Source of the rest: Earley 1970; Aycock and Horspool 2002 for doing without nullable rules (the normal form removes
them here); the compaction of finished sets follows the `kbnf` crate.

A set inside of a captured symbol (`engine/rules.py`) has a *text* besides its kernel: the bytes since the outermost
capture began. While masks are made, the text of what has just ended is not known (many tokens end it); such sets have
one of three kinds of no text: UNKNOWN, AFTER a capture whose text does not matter yet, and NEEDS_CHECK where it may
have mattered, so that tokens that lead there have to be looked at one by one.

Here are the steps: scanning and completion. `closures.py` predicts, `kernels.py` numbers the sets, `item_pools.py` has
the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import AFTER, EMPTY_TEXT, NEEDS_CHECK, NO_BYTE, NO_TEXT, UNKNOWN_TEXT
from structgen.engine.earley.captured_texts import CapturedTexts
from structgen.engine.earley.kernels import Kernels
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import CAPTURES, END, Spelling
from structgen.engine.regex.tree import Literal
from structgen.limits import Limits

__all__ = ["ItemSetStore"]

# Declared as C integers in the .pxd, so not importable from here.
DEAD_SET = 0
ROOT = 0  # as in `engine/item_pools.py`
UNKNOWN = -1  # the same
TOLD_BITS = 31  # of an int32 without its sign


class ItemSetStore(Kernels):
    """All Earley sets of one grammar that have been reached, and the steps between them.

    Attributes, besides those of `Predictor`:
        texts: what was read inside of captures.
        start_set: the set before the first byte.
        steps: how many steps were computed rather than remembered (a work counter for benchmarks).
    """

    def __init__(self, rules: Rules, limits: Limits, *, accepts_empty: bool) -> None:
        super().__init__(rules, limits)
        self.texts = CapturedTexts()
        self._stack = zeros(64)
        self.steps = 0
        self._new_set_from_work()  # number 0: the dead set, an empty kernel
        self._close(DEAD_SET)
        self._begin(NO_TEXT)
        self._add_item(rules.start_position, 0, ROOT)
        self._accepts_empty = accepts_empty
        self._work_accepting = 1 if accepts_empty else 0
        self.start_set = self._finish_set()

    def start_behind(self, prefix: bytes) -> int:
        """The set before some bytes that a text of the grammar follows.

        Raises:
            LimitExceededError: automaton_states, or item_sets.
        """
        if not prefix:
            return self.start_set
        state = self.automata.add(Literal(prefix))
        self._begin(NO_TEXT)
        self._add_item(self.rules.start_position - 1, state, ROOT)
        if self._accepts_empty:
            self._add_item(self.rules.empty_position, state, ROOT)
        return self._finish_set()

    # -- one step ---------------------------------------------------------------------------------------------------

    def goto(self, set_id: int, byte: int) -> int:
        """The set after one more byte, or 0 when the grammar does not allow it.

        Raises:
            LimitExceededError: a set is too large, there are too many, or the automata have grown too large.
        """
        target = self.known_step(set_id, byte)
        if target >= 0:
            return target
        if self.first_scan[set_id] < 0:
            self._close(set_id)
        only = self.only_byte[set_id]
        if only >= 0 and only != byte:
            return DEAD_SET
        target = self._step(set_id, byte)
        if target == DEAD_SET:
            return DEAD_SET  # not remembered: of most sets nearly all bytes lead nowhere
        if self._first_byte[set_id] < 0:
            self._first_byte[set_id] = byte
            self._first_target[set_id] = target
        else:
            self.step_targets.put(set_id, byte, target)
        return target

    def known_step(self, set_id: int, byte: int) -> int:
        """The set after one more byte, if that was found before and is one; else -1."""
        if self._first_byte[set_id] == byte:
            return self._first_target[set_id]
        return self.step_targets.get(set_id, byte)

    def _step(self, set_id: int, byte: int) -> int:
        automata = self.automata
        self.steps += 1
        self._begin(self._text_after(set_id, byte))
        for scan in range(self.first_scan[set_id], self.last_scan[set_id]):
            state = automata.next(self.scan_state[scan], byte)
            if state == 0:
                continue
            automata.expand(state)
            if automata.only_byte.values[state] != NO_BYTE:
                self._add_item(self.scan_position[scan], state, self._top(self.scan_group[scan]))
            if automata.table.accepting[state]:
                self._advance(self.scan_position[scan], self.scan_group[scan])
        return self._finish_set()

    def _text_after(self, set_id: int, byte: int) -> int:
        """The text of the captures that are open after one more byte."""
        text = self.text[set_id]
        if text < EMPTY_TEXT:
            if text != NO_TEXT or not self.captures[set_id]:
                return text
            text = EMPTY_TEXT
        return self.texts.append(text, byte)

    def after(self, set_id: int, state: int) -> int:
        """The set after the terminals that are in `state` have ended here, whatever their last bytes were."""
        if self.first_scan[set_id] < 0:
            self._close(set_id)
        text = self.text[set_id]
        if self.captures[set_id] and text not in (AFTER, NEEDS_CHECK):
            text = UNKNOWN_TEXT
        self._begin(text)
        self._skips = True
        for scan in range(self.first_scan[set_id], self.last_scan[set_id]):
            if self.scan_state[scan] == state:
                self._advance(self.scan_position[scan], self.scan_group[scan])
        return self._finish_set()

    def is_stuck(self, set_id: int, state: int) -> bool:
        """Whether look-aheads let nothing follow the terminals that are in `state`, nor the text end there."""
        for scan in range(self.first_scan[set_id], self.last_scan[set_id]):
            if self.scan_state[scan] == state:
                behind = self.scan_position[scan] + 1
                ahead = self._before[behind]
                if not ahead or self._symbols[behind] >= 0:
                    return False
                if self._symbols[behind] != END and self._lookaheads.started(self._start_state[behind], ahead):
                    return False
        self._begin(AFTER if self.captures[set_id] else NO_TEXT)
        self._skips = True
        for scan in range(self.first_scan[set_id], self.last_scan[set_id]):
            if self.scan_state[scan] == state:
                self._advance(self.scan_position[scan], self.scan_group[scan])
        return self._work_size == 0 and not self._work_accepting

    def unknown(self, set_id: int) -> int:
        """The set of the same items, the text of which is not known; the set itself where it has no text."""
        if self.text[set_id] < EMPTY_TEXT:
            return set_id
        self._begin(UNKNOWN_TEXT)
        for index in range(self._first_kernel[set_id], self._last_kernel[set_id]):
            item = self._kernel[index]
            self._add_item(self._item_position[item], self._item_state[item], self._item_group[item])
        self._work_accepting = self.accepting[set_id]
        return self._finish_set()

    def begins_here(self, set_id: int, group: int) -> bool:
        """Whether what a group waits for begins in this set."""
        text = self.text[set_id]
        return self._group_text[group] == (EMPTY_TEXT if text == NO_TEXT else text)

    def refusals(self, set_id: int, group: int) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """What would complete a text that the capture of a group refuses: see `RuleSource.refusals`.

        Args:
            set_id: a closed set; its text is not that of one AFTER a capture.
            group: of a scannable item of the set, a REFUSING one.
        """
        begun = b""
        if not self.begins_here(set_id, group):
            if self.text[set_id] < EMPTY_TEXT:
                return (), ()  # the set stands for those with texts that are not refused
            begun = self.texts.between(self._group_text[group], self.text[set_id])
        capture = CAPTURES - self._symbols[self._wait_position[self._group_first[group]] + 1]
        return self.rules.refusals(capture, begun)

    def _advance(self, position: int, group: int) -> None:
        """Moves the dot past the symbol at `position`, and completes whatever that completes."""
        ahead = 0  # what must not come next
        self._stack[0] = position
        self._stack[1] = group
        self._stack[2] = NO_TEXT
        self._stack[3] = ahead
        size = 4
        while size:
            size -= 4
            position = self._stack[size] + 1
            group = self._stack[size + 1]
            ahead = self._stack[size + 3]
            symbol = self._symbols[position]
            if self._before[position]:
                ahead = self._lookaheads.united(ahead, self._before[position])
            if symbol != END:
                if symbol <= CAPTURES:
                    position = self._continue(CAPTURES - symbol, self._stack[size + 2])
                    if position < 0:
                        continue
                self._add_advanced(position, ahead, group)
            elif group == ROOT:
                self._work_accepting = 1
            elif self._tell(group, ahead):
                first = self._group_first[group]
                last = self._group_last[group]
                while size + 4 * (last - first) > len(self._stack):
                    self._stack = grown_pool(self._stack, size)
                for waiting in range(first, last):
                    self._stack[size] = self._wait_position[waiting]
                    self._stack[size + 1] = self._wait_group[waiting]
                    self._stack[size + 2] = self._group_text[group]
                    self._stack[size + 3] = ahead
                    size += 4

    def _add_advanced(self, position: int, ahead: int, group: int) -> None:
        """Adds the item whose dot was moved to `position`, where `ahead` holds: in the state of a terminal that it
        stands before, or in place of that of a nonterminal.
        """
        state = self._start_state[position]
        if ahead:
            if self._symbols[position] < 0:
                state = self._lookaheads.started(state, ahead)
                if state == 0:
                    return
            else:
                state = ahead
        self._add_item(position, state, self._top(group))

    def _tell(self, group: int, ahead: int) -> bool:
        """Whether a group is to be told that what it waits for has ended, and `ahead` holds there: once a step, and
        not where it was told so without a condition.
        """
        if self._group_mark[group] != self._serial:
            self._group_mark[group] = self._serial
            self._group_told[group] = self._group_told_more[group] = 0
        told = self._group_told[group]
        if told & 1:
            return False
        if ahead >= TOLD_BITS:
            told = self._group_told_more[group]
            self._group_told_more[group] = told | 1 << ahead - TOLD_BITS
            return not told >> ahead - TOLD_BITS & 1
        self._group_told[group] = told | 1 << ahead
        return not told >> ahead & 1

    def _continue(self, capture: int, start: int) -> int:
        """The position after a captured symbol that has ended and began when the text was `start`; -1 for none."""
        text = self._work_text
        if text >= EMPTY_TEXT:
            position = self.rules.continuation(capture, self.texts.between(start, text))
        else:
            is_known = text == UNKNOWN_TEXT and self.rules.is_endless(capture)
            if is_known and not self._skips and self.rules.refuses(capture):
                is_known = False
            self._work_kind = AFTER if is_known and self._work_kind != NEEDS_CHECK else NEEDS_CHECK
            position = self.rules.continuation(capture, None)
        self._load_rules()
        return position

    def _top(self, group: int) -> int:
        """The address that is told in the end when `group` is told: tail calls removed.

        The walk ends: a group's items are in older sets, or were predicted from a kernel item of the same set, which
        then waits beside them.
        """
        top = self._group_top[group]
        if top != UNKNOWN:
            return top
        top = group
        while self._group_top[top] == UNKNOWN:
            first = self._group_first[top]
            last = self._wait_position[first] + 1
            if self._group_last[top] - first != 1 or self._symbols[last] != END or self._before[last]:
                self._group_top[top] = top
                break
            top = self._wait_group[first]
        top = self._group_top[top]
        while self._group_top[group] == UNKNOWN:
            self._group_top[group] = top
            group = self._wait_group[self._group_first[group]]
        return top

    # -- sets of another store --------------------------------------------------------------------------------------

    def adopt(self, other: ItemSetStore, set_id: int) -> int:
        """Makes a set of another store here: its kernel, and the groups that its addresses lead to.

        Whatever else the other store holds cannot matter to what follows after this set, and may be dropped with it.
        Cost: in the number of items that still wait for something, so in the depth of nesting.

        Args:
            other: with the same rules.
            set_id: its number there.

        Raises:
            LimitExceededError: there are too many sets already.
        """
        number = self._adopt_groups(other, set_id)
        self._begin(self._adopt_text(other, other.text[set_id]))
        for index in range(other._first_kernel[set_id], other._last_kernel[set_id]):
            item = other._kernel[index]
            self._add_item(other._item_position[item], other._item_state[item], number[other._item_group[item]])
        self._work_accepting = other.accepting[set_id]
        return self._finish_set()

    def _adopt_groups(self, other: ItemSetStore, set_id: int) -> dict[int, int]:
        """Copies all groups that a set's addresses lead to; returns their numbers here by their numbers there."""
        number = {ROOT: ROOT}
        found: list[int] = []
        first_kernel = other._first_kernel[set_id]
        addresses = [other._item_group[other._kernel[k]] for k in range(first_kernel, other._last_kernel[set_id])]
        while addresses:
            group = addresses.pop()
            if group not in number:
                number[group] = self._group_count + len(found)
                found.append(group)
                for waiting in range(other._group_first[group], other._group_last[group]):
                    addresses.append(other._wait_group[waiting])
        base = self._group_count
        pending = 0
        for index in range(len(found)):
            group = found[index]
            for waiting in range(other._group_first[group], other._group_last[group]):
                address = number[other._wait_group[waiting]]
                pending = self._add_pending(pending, base + index, other._wait_position[waiting], address)
        self._make_groups(base, len(found), pending, NO_TEXT)
        for index in range(len(found)):
            self._group_text[base + index] = self._adopt_text(other, other._group_text[found[index]])
        return number

    def _adopt_text(self, other: ItemSetStore, text: int) -> int:
        if text <= EMPTY_TEXT:
            return text
        mine = EMPTY_TEXT
        data = other.texts.between(EMPTY_TEXT, text)
        for at in range(len(data)):  # by index: iterating bytes gives a signed char when compiled
            mine = self.texts.append(mine, data[at])
        return mine
