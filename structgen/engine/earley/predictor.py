"""Earley's predictor: closes a set, which finds the items and groups that follow from its kernel.

A set is closed once, before the first step from it. Closing finds

- its *scannable items*: those with a terminal after the dot;
- its *groups*: for each nonterminal after a dot, the items that wait for it (a group that is equal to an older one is
  that one);
- two summaries: the one byte on which all items move, and whether any item is inside of a capture.

The bodies of lazy nonterminals are made here, when they are first predicted.

Example (the grammar of `item_sets.py`: `start ::= 'a' tail; tail ::= 'b' | 'b' tail;`). The kernel of set 2, after the
byte "a", is one item:

    kernel     start -> 'a' .tail   address ROOT
    agenda     tail                 it gets group 2, in which the kernel's item waits
    scannable  tail -> .'b'         address group 2
               tail -> .'b' tail    address group 2
    only byte  "b"

A nonterminal is predicted once a set, however many items wait for it, so left recursion ends: `A -> .A 'x'` joins the
group of A that it has itself as its address.

Source: Earley 1970.
"""

from __future__ import annotations

from structgen.engine.arrays import grown, grown_pool, zeros
from structgen.engine.constants import EMPTY_TEXT, MANY_BYTES, NO_BYTE, NO_TEXT
from structgen.engine.deadlines import spend
from structgen.engine.earley.groups import GroupTable
from structgen.engine.earley.item_columns import ItemTable, ScanTable, SetTable
from structgen.engine.grammar.rules import Rules
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["Predictor"]


class Predictor:
    """Closes the sets of one grammar.

    Args:
        table: the sets and their kernels; closing fills the other columns.
        items: the items of the kernels.
        scans: closing adds scannable items.
        groups: closing adds groups.
        rules: the grammar.
        limits: bounds the number of items of a set.
    """

    def __init__(
        self,
        table: SetTable,
        items: ItemTable,
        scans: ScanTable,
        groups: GroupTable,
        rules: Rules,
        limits: Limits,
    ) -> None:
        self._table = table
        self._items = items
        self._scans = scans
        self._groups = groups
        self._rules = rules
        self._automata = self._rules.automata
        self._lookaheads = self._rules.lookaheads
        self._shift = self._lookaheads.shift
        self._max_items = limits.set_items
        self._serial = 0
        self._agenda = zeros(64)
        self._predicted_at = zeros(64)
        self._predicted_group = zeros(64)

    def close(self, set_id: int) -> None:
        """Close a set that is open.

        Raises:
            LimitExceededError: the set is too large, or the bodies of a lazy nonterminal are. The set stays open.
        """
        scan_first = self._scans.size
        try:
            groups_before = self._groups.count
            predicted = self._predict_from(set_id, scan_first)
            text = self._table.text[set_id]
            self._groups.make(predicted, EMPTY_TEXT if text == NO_TEXT else text)
            for scan in range(scan_first, self._scans.size):
                self._scans.group[scan] = self._groups.renamed(self._scans.group[scan], groups_before)
            self._table.captures[set_id] = self._are_captured(scan_first)
            self._table.only_byte[set_id] = self._common_byte(scan_first)
        except BaseException:
            self._scans.size = scan_first
            raise
        self._table.last_scan[set_id] = self._scans.size
        self._table.first_scan[set_id] = scan_first

    def _predict_from(self, set_id: int, scan_first: int) -> int:
        """Predict from the kernel until nothing is new; return the number of nonterminals predicted.

        An entry of the agenda is a nonterminal and the number of the look-ahead that holds before it, in one number.
        """
        table, items, rules = self._table, self._items, self._rules
        shift = self._shift
        self._serial += 1
        self._groups.begin()
        predicted = 0
        for index in range(table.first_kernel[set_id], table.last_kernel[set_id]):
            item = table.kernel[index]
            position = items.position[item]
            symbol = rules.symbols[position]
            if symbol < 0:
                self._scans.add(position, items.state[item], items.group[item])
                continue
            entry = symbol << shift | items.state[item]
            predicted = self._predict(entry, predicted)
            self._groups.wait(self._predicted_group[entry], position, items.group[item])
        done = 0
        while done < predicted:
            entry = self._agenda[done]
            done += 1
            if rules.first_rule[entry >> shift] < 0:
                rules.expand(entry >> shift)
            predicted = self._predict_rules(entry, predicted)
            if self._scans.size - scan_first + self._groups.pending_size > self._max_items * 3:
                raise LimitExceededError("set_items", self._max_items)
        return predicted

    def _predict_rules(self, entry: int, predicted: int) -> int:
        """Add the items at the beginning of a nonterminal's rules; return the new length of the agenda."""
        rules, shift = self._rules, self._shift
        group = self._predicted_group[entry]
        nonterminal = entry >> shift
        first, last = rules.first_rule[nonterminal], rules.last_rule[nonterminal]
        spend(1 + last - first)
        for rule in range(first, last):
            position = rules.rule_starts[rule]
            symbol = rules.symbols[position]
            state = rules.start_state[position]
            ahead = entry - (nonterminal << shift)
            if rules.before[position]:
                ahead = self._lookaheads.united(ahead, rules.before[position])
            if symbol < 0:
                if ahead:
                    state = self._lookaheads.started(state, ahead)
                if state:
                    self._scans.add(position, state, group)
                continue
            waited = symbol << shift | ahead
            predicted = self._predict(waited, predicted)
            self._groups.wait(self._predicted_group[waited], position, group)
        return predicted

    def _predict(self, entry: int, predicted: int) -> int:
        """Put an entry on the agenda unless it was there, with the next group; return the agenda's length."""
        while entry >= len(self._predicted_at):
            used = len(self._predicted_at)
            self._predicted_at = grown(self._predicted_at, used)
            self._predicted_group = grown_pool(self._predicted_group, used)
        if self._predicted_at[entry] == self._serial:
            return predicted
        self._predicted_at[entry] = self._serial
        self._predicted_group[entry] = self._groups.count + predicted
        if predicted >= len(self._agenda):
            self._agenda = grown_pool(self._agenda, predicted)
        self._agenda[predicted] = entry
        return predicted + 1

    def _are_captured(self, scan_first: int) -> int:
        """Return 1 if any scannable item from `scan_first` on is inside of a capture, or begins one."""
        if self._rules.has_captures:
            for scan in range(scan_first, self._scans.size):
                if self._groups.captures[self._scans.group[scan]]:
                    return 1
        return 0

    def _common_byte(self, scan_first: int) -> int:
        """Return the one byte on which every item from `scan_first` on moves; NO_BYTE or MANY_BYTES otherwise."""
        automata = self._automata
        common = NO_BYTE
        for scan in range(scan_first, self._scans.size):
            state = self._scans.state[scan]
            automata.expand(state)
            only = automata.only_byte.values[state]
            if only < 0 or (common != NO_BYTE and common != only):
                return MANY_BYTES
            common = only
        return common
