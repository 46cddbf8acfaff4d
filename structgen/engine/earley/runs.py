"""Several bytes of a text read at once, where a step for each of them would make as many sets.

- *Literals.* Where only one literal may come next, such as the rest of a key, the dot stays before it; only the state
  of its automaton changes.
- *Repeated bytes.* White space has an upper bound in many grammars, so each blank leads to another set, and all that
  may follow the white space would be predicted in each of them.

A run leads to the set to which the steps would lead, but the sets between are not made.
"""

from __future__ import annotations

from structgen.engine.constants import DEAD_SET, EMPTY_TEXT, K_LITERAL, NO_BYTE, UNSET
from structgen.engine.deadlines import spend
from structgen.engine.earley.completer import Completer
from structgen.engine.earley.groups import GroupTable
from structgen.engine.earley.item_columns import ScanTable, SetTable
from structgen.engine.earley.kernels import Kernels
from structgen.engine.earley.predictor import Predictor
from structgen.engine.grammar.rules import Rules

__all__ = ["Runs"]

# Declared as C integers in the .pxd, so not importable from here.
SHORTEST_RUN = 2  # bytes that are read at once, at least
MIN_EQUAL = 4  # equal bytes in a text, for which it is asked whether they may be read at once


class Runs:
    """The runs from the sets of one grammar. The last one from each set is remembered.

    Args:
        table: the sets; their columns of runs are filled here.
        scans: their scannable items.
        groups: the return addresses.
        kernels: makes the sets after runs.
        predictor: closes sets.
        completer: moves the dot past a terminal that ends.
        rules: the grammar.
    """

    def __init__(
        self,
        table: SetTable,
        scans: ScanTable,
        groups: GroupTable,
        kernels: Kernels,
        predictor: Predictor,
        completer: Completer,
        rules: Rules,
    ) -> None:
        self._table = table
        self._scans = scans
        self._groups = groups
        self._kernels = kernels
        self._predictor = predictor
        self._completer = completer
        self._automata = rules.automata

    def known(self, set_id: int, text: bytes, at: int) -> int:
        """Return the set after the last run from a set, if the text goes on with its bytes from `at` on; else 0.

        `SetTable.run_length` says how many bytes they are.
        """
        table = self._table
        length = table.run_length[set_id]
        if not length or at + length > len(text):
            return DEAD_SET
        byte = table.run_byte[set_id]
        if byte >= 0:
            for index in range(length):
                if text[at + index] != byte:
                    return DEAD_SET
            return table.run_target[set_id]
        literal: bytes = self._automata.table.payload[self._scans.state[table.first_scan[set_id]]]
        for index in range(length):
            if literal[index] != text[at + index]:
                return DEAD_SET
        return table.run_target[set_id]

    def read(self, set_id: int, text: bytes, at: int) -> int:
        """Read several bytes of a text at once, from `at` on; the result is kept for `known`.

        Returns:
            The set after the bytes; 0 where a step has to be made.

        Raises:
            LimitExceededError: see `ItemSetStore.goto`.
        """
        table = self._table
        if table.first_scan[set_id] < 0:
            self._predictor.close(set_id)
        if table.first_scan[set_id] == table.last_scan[set_id]:
            return DEAD_SET
        if table.text[set_id] >= EMPTY_TEXT or table.captures[set_id]:
            return DEAD_SET  # each byte would be a part of a captured text
        if 0 <= table.only_byte[set_id] < NO_BYTE:
            return self._read_literal(set_id, text, at)
        return self._read_equal(set_id, text, at)

    def _read_literal(self, set_id: int, text: bytes, at: int) -> int:
        """Read bytes of the literal that all items of a set have next; its last byte is left to a step."""
        table, terms = self._table, self._automata.table
        first, last = table.first_scan[set_id], table.last_scan[set_id]
        state = self._scans.state[first]
        if terms.kind[state] != K_LITERAL:
            return DEAD_SET
        for scan in range(first + 1, last):
            if self._scans.state[scan] != state:
                return DEAD_SET
        literal: bytes = terms.payload[state]
        most = min(len(literal) - 1, len(text) - at)
        length = 0
        while length < most and literal[length] == text[at + length]:
            length += 1
        if length < SHORTEST_RUN:
            return DEAD_SET
        spend(last - first)
        after = self._automata.after_bytes(state, length)
        self._kernels.begin(table.text[set_id])
        for scan in range(first, last):
            self._kernels.add(self._scans.position[scan], after, self._groups.top(self._scans.group[scan]))
        return self._keep(set_id, UNSET, length)

    def _read_equal(self, set_id: int, text: bytes, at: int) -> int:
        """Read one byte several times, where one item alone moves on it.

        If the item's state accepts, the set has all items that the end of its terminal predicts. After each byte they
        are there again, and the byte does not move them. If the state does not accept, the run ends with the first
        byte after which it does.
        """
        byte = text[at]
        if at + MIN_EQUAL > len(text):
            return DEAD_SET
        for index in range(at + 1, at + MIN_EQUAL):
            if text[index] != byte:
                return DEAD_SET
        scan = self._only_moving(set_id, byte)
        if scan < 0:
            return DEAD_SET
        automata, terms = self._automata, self._automata.table
        start = after = self._scans.state[scan]
        length = 0
        while at + length < len(text) and text[at + length] == byte:
            reached = automata.next(after, byte)
            if reached == 0 or reached == start:
                break
            after = reached
            length += 1
            if terms.accepting[after] and not terms.accepting[start]:
                break
        if length < SHORTEST_RUN:
            return DEAD_SET
        spend(length)
        automata.expand(after)
        position, group = self._scans.position[scan], self._scans.group[scan]
        self._kernels.begin(self._table.text[set_id])
        self._completer.skips = False
        if automata.only_byte.values[after] != NO_BYTE:
            self._kernels.add(position, after, self._groups.top(group))
        if terms.accepting[after]:
            self._completer.advance(position, group)
        return self._keep(set_id, byte, length)

    def _only_moving(self, set_id: int, byte: int) -> int:
        """Return the scannable item of a set that moves on a byte; -1 where there is none, or several do."""
        found = UNSET
        first, last = self._table.first_scan[set_id], self._table.last_scan[set_id]
        spend(last - first)
        for scan in range(first, last):
            if self._automata.next(self._scans.state[scan], byte):
                if found >= 0:
                    return UNSET
                found = scan
        return found

    def _keep(self, set_id: int, byte: int, length: int) -> int:
        """Remember the run to the set in the making; return that set. `byte` is -1 for a part of a literal."""
        table = self._table
        reached = self._kernels.finish()
        table.run_byte[set_id] = byte
        table.run_length[set_id] = length
        table.run_target[set_id] = reached
        return reached
