"""The bytes that lead on from a large set of items, as bits.

A set with hundreds of items, such as that before the key of a large object, is asked for many bytes, and nearly all of
them lead nowhere. Without these bits each of them would be tried on all items.
"""

from __future__ import annotations

from structgen.engine.arrays import grown, zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.earley.item_columns import ScanTable, SetTable
from structgen.engine.pair_table import PairTable

__all__ = ["LeadingBytes"]

# Declared as C integers in the .pxd, so not importable from here.
MIN_ITEMS = 16  # items of a set that gets bits
MIN_ASKED = 6  # calls for a set before it gets bits: each tries the byte on all items
NUMBERS = 16  # numbers of 16 bits each, which are the 256 bits of one set


class LeadingBytes:
    """A cache of the bytes that may lead on from each large set.

    Args:
        table: the sets.
        scans: their scannable items.
        automata: the automata of these items' terminals.
    """

    def __init__(self, table: SetTable, scans: ScanTable, automata: AutomatonStore) -> None:
        self._table = table
        self._scans = scans
        self._automata = automata
        self._asked = PairTable()  # by set: how often it was asked
        self._at = PairTable()  # by set: where its bits begin
        self._bits = zeros(0)
        self._size = 0

    def may_have(self, set_id: int, byte: int) -> bool:
        """Return False where a byte surely leads nowhere from a closed set; its items need not be tried.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self._table.last_scan[set_id] - self._table.first_scan[set_id] < MIN_ITEMS:
            return True
        at = self._at.get(set_id, 0)
        if at < 0:
            asked = self._asked.get(set_id, 0) + 1  # -1 the first time
            if asked < MIN_ASKED:
                self._asked.put(set_id, 0, asked)
                return True
            at = self._find(set_id)
        return bool(self._bits[at + (byte >> 4)] >> (byte & 15) & 1)

    def _find(self, set_id: int) -> int:
        """Find the bits of a set; return where they begin."""
        at = self._size
        if at + NUMBERS > len(self._bits):
            self._bits = grown(self._bits, at)
        for index in range(at, at + NUMBERS):
            self._bits[index] = 0  # an error may have left some
        for scan in range(self._table.first_scan[set_id], self._table.last_scan[set_id]):
            self._automata.add_leading_bytes(self._scans.state[scan], self._bits, at)
        self._size = at + NUMBERS
        self._at.put(set_id, 0, at)
        return at
