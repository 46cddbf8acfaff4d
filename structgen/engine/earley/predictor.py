"""Earley's predictor: the closing of a set, once for each set that a step is taken from.

From a set's kernel follow its scannable items, the groups of items that wait for one nonterminal each, and what can be
told of both at once: the one byte on which all items move, and whether any is inside of a capture. Nonterminals that
are made lazily get their bodies here. `earley.py` says what items, groups and captures are.
"""

from __future__ import annotations

from structgen.engine.arrays import grown, grown_pool, zeros
from structgen.engine.constants import AFTER, EMPTY_TEXT, NO_BYTE, NO_TEXT
from structgen.engine.earley.item_columns import ItemColumns
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import CAPTURES
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["Predictor"]

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = -1  # as in `engine/item_pools.py`
CAPTURED = 1  # of a group: it is captured, or waits inside of a capture
FRESH = 2  # and the capture began after another had ended, of which the text is not known
REFUSING = 4  # it is captured itself, and some texts are refused where they end


class Predictor(ItemColumns):
    """The sets of one grammar, as far as they follow from their kernels.

    Attributes, besides those of `ItemColumns`:
        automata: the store that the terminals' states belong to.
        rules: the grammar; other stores may use the same object.
    """

    def __init__(self, rules: Rules, limits: Limits) -> None:
        super().__init__()
        self.rules = rules
        self.automata = rules.automata
        self._lookaheads = rules.lookaheads
        self._shift = rules.lookaheads.shift
        self._max_items = limits.set_items
        self._load_rules()
        self._serial = 0
        self._agenda = zeros(64)
        self._pending = zeros(128)
        self._predicted_at = zeros(64)
        self._predicted_group = zeros(64)

    def _load_rules(self) -> None:
        """Takes the arrays of the rules, which are others whenever they have grown."""
        rules = self.rules
        self._symbols = rules.symbols
        self._start_state = rules.start_state
        self._first_rule = rules.first_rule
        self._last_rule = rules.last_rule
        self._rule_starts = rules.rule_starts
        self._before = rules.before

    def close(self, set_id: int) -> None:
        """Makes the set's scannable items and waiting groups, once."""
        if self.first_scan[set_id] < 0:
            self._close(set_id)

    def _close(self, set_id: int) -> None:
        """Predicts from the kernel.

        Waiting items are first collected as triples (number of the awaited nonterminal among those predicted here,
        position, group), then sorted into groups by counting.
        """
        self._serial += 1
        scan_first = self._scan_size
        group_base = self._group_count
        shift = self._shift
        predicted = 0  # nonterminals on the agenda, each with the look-ahead that holds before it
        pending = 0  # waiting items, three numbers each
        for index in range(self._first_kernel[set_id], self._last_kernel[set_id]):
            item = self._kernel[index]
            position = self._item_position[item]
            symbol = self._symbols[position]
            if symbol < 0:
                self._add_scan(position, self._item_state[item], self._item_group[item])
                continue
            key = symbol << shift | self._item_state[item]
            predicted = self._predict(key, group_base, predicted)
            pending = self._add_pending(pending, self._predicted_group[key], position, self._item_group[item])
        done = 0
        while done < predicted:
            key = self._agenda[done]
            group = self._predicted_group[key]
            nonterminal = key >> shift
            done += 1
            if self._first_rule[nonterminal] < 0:
                self._expand(nonterminal, scan_first)
            for rule in range(self._first_rule[nonterminal], self._last_rule[nonterminal]):
                position = self._rule_starts[rule]
                symbol = self._symbols[position]
                state = self._start_state[position]
                ahead = key - (nonterminal << shift)
                if self._before[position]:
                    ahead = self._lookaheads.united(ahead, self._before[position])
                if symbol < 0:
                    if ahead:
                        state = self._lookaheads.started(state, ahead)
                    if state:
                        self._add_scan(position, state, group)
                    continue
                waited = symbol << shift | ahead
                predicted = self._predict(waited, group_base, predicted)
                pending = self._add_pending(pending, self._predicted_group[waited], position, group)
            if self._scan_size - scan_first + pending > self._max_items * 3:
                self._scan_size = scan_first
                raise LimitExceededError("set_items", self._max_items)
        text = self.text[set_id]
        self._make_groups(group_base, predicted, pending, EMPTY_TEXT if text == NO_TEXT else text)
        self.captures[set_id] = self._are_captured(scan_first)
        self.only_byte[set_id] = self._common_byte(scan_first)
        self.last_scan[set_id] = self._scan_size
        self.first_scan[set_id] = scan_first

    def expand(self, nonterminal: int) -> None:
        """Makes the bodies of a lazy nonterminal."""
        self._expand(nonterminal, self._scan_size)

    def _expand(self, nonterminal: int, scan_first: int) -> None:
        """Makes the bodies of a lazy nonterminal; where that fails, the set stays open."""
        try:
            self.rules.expand(nonterminal)
        except BaseException:
            self._scan_size = scan_first
            raise
        finally:
            self._load_rules()

    def _are_captured(self, scan_first: int) -> int:
        """Whether any item from `scan_first` on is inside of a capture, or begins one."""
        if self.rules.has_captures:
            for scan in range(scan_first, self._scan_size):
                if self.group_captures[self.scan_group[scan]]:
                    return 1
        return 0

    def _common_byte(self, scan_first: int) -> int:
        """The one byte on which every item from `scan_first` on moves; 256 when there is no item, -1 otherwise."""
        automata = self.automata
        common = NO_BYTE
        for scan in range(scan_first, self._scan_size):
            state = self.scan_state[scan]
            automata.expand(state)
            only = automata.only_byte.values[state]
            if only < 0 or (common != NO_BYTE and common != only):
                return UNKNOWN
            common = only
        return common

    def _predict(self, nonterminal: int, group_base: int, predicted: int) -> int:
        """Puts a nonterminal (and its look-ahead) on the agenda, once a closure, and gives it the next group."""
        while nonterminal >= len(self._predicted_at):
            used = len(self._predicted_at)
            self._predicted_at = grown(self._predicted_at, used)
            self._predicted_group = grown_pool(self._predicted_group, used)
        if self._predicted_at[nonterminal] == self._serial:
            return predicted
        self._predicted_at[nonterminal] = self._serial
        self._predicted_group[nonterminal] = group_base + predicted
        if predicted >= len(self._agenda):
            self._agenda = grown_pool(self._agenda, predicted)
        self._agenda[predicted] = nonterminal
        return predicted + 1

    def _add_pending(self, pending: int, group: int, position: int, address: int) -> int:
        if pending + 3 > len(self._pending):
            self._pending = grown_pool(self._pending, pending)
        self._pending[pending] = group
        self._pending[pending + 1] = position
        self._pending[pending + 2] = address
        return pending + 3

    def _add_scan(self, position: int, state: int, group: int) -> None:
        size = self._scan_size
        if size >= len(self.scan_position):
            self._grow_scans(size + 1)
        self.scan_position[size] = position
        self.scan_state[size] = state
        self.scan_group[size] = group
        self._scan_size = size + 1

    def _make_groups(self, group_base: int, count: int, pending: int, text: int) -> None:
        if group_base + count > len(self._group_first):
            self._grow_groups(group_base + count)
        if self._wait_size + pending // 3 > len(self._wait_position):
            self._grow_waits(self._wait_size + pending // 3)
        for group in range(group_base, group_base + count):
            self._group_last[group] = 0
            self._group_top[group] = UNKNOWN
            self._group_mark[group] = 0
            self._group_text[group] = text
            self.group_captures[group] = 0
        for index in range(0, pending, 3):
            self._group_last[self._pending[index]] += 1
        size = self._wait_size
        for group in range(group_base, group_base + count):
            self._group_first[group] = size
            size += self._group_last[group]
            self._group_last[group] = self._group_first[group]
        for index in range(0, pending, 3):
            group = self._pending[index]
            slot = self._group_last[group]
            self._wait_position[slot] = self._pending[index + 1]
            self._wait_group[slot] = self._pending[index + 2]
            self._group_last[group] = slot + 1
        self._wait_size = size
        self._group_count = group_base + count
        if self.rules.has_captures:
            self._mark_captures(group_base)

    def _mark_captures(self, group_base: int) -> None:
        """Finds the groups from `group_base` on that are captured, or wait inside of a capture."""
        changed = True
        while changed:
            changed = False
            for group in range(group_base, self._group_count):
                captures = self.group_captures[group]
                for waiting in range(self._group_first[group], self._group_last[group]):
                    symbol = self._symbols[self._wait_position[waiting] + 1]
                    if symbol <= CAPTURES:
                        refuses = self.rules.refuses(CAPTURES - symbol)
                        captures |= CAPTURED | REFUSING if refuses else CAPTURED | FRESH
                    captures |= self.group_captures[self._wait_group[waiting]] & (CAPTURED | FRESH)
                if self._group_text[group] != AFTER:
                    captures &= CAPTURED | REFUSING
                if captures != self.group_captures[group]:
                    self.group_captures[group] = captures
                    changed = True
