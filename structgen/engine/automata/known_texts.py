"""Texts that terms are known to match: those that searches found last, and shortest texts of terms.

A term that is an intersection may match nothing, which takes a search to decide (`emptiness.py`). The states along a
token often match the same text. After each letter of a mail address's local part `@a"` may follow, whatever is left of
its bounds. So the texts that were found last are tried before a search. Reading a text takes one derivative for each of
its bytes; a search evaluates all derivatives of each term that it visits, those for escapes included.
"""

from __future__ import annotations

from structgen.engine.automata.derivatives import Derivatives
from structgen.engine.constants import K_BOUNDED, NEVER, NOTHING
from structgen.engine.deadlines import spend

__all__ = ["KnownTexts"]

# Declared as C integers in the .pxd, so not importable from here.
MAX_BYTES = 32  # of a shortest text
MAX_TEXTS = 8  # that are tried
MAX_TRIED_BYTES = 16  # of one that is tried; past it a pattern has long searches, which `first_states.py` must notice
UNKNOWN = -1


class KnownTexts:
    """Texts of the terms of one table.

    Args:
        derivatives: the derivatives of the terms.
    """

    def __init__(self, derivatives: Derivatives) -> None:
        self._derivatives = derivatives
        self._table = derivatives.table
        self._partitions = derivatives.partitions
        self._last: list[bytes] = []  # the texts found last, the latest first
        self._text_of: dict[int, bytes] = {}  # by term: a text that a search found, or that was tried
        self._shortest: dict[int, bytes | None] = {}  # by term: see `shortest`

    def begun(self, term: int, most: int = NEVER) -> int:
        """Return how many of the counted texts begin in one of the last texts, if a term matches one; else -1.

        Args:
            term: the term. For one that does not count, the result is 0 or -1.
            most: texts in which more of the counted texts begin are not taken.
        """
        for index in range(len(self._last)):
            text = self._last[index]
            begun = self._begun_by(term, text, most)
            if begun >= 0:
                if index:
                    self._last.insert(0, self._last.pop(index))
                self._text_of[term] = text
                return begun
        return UNKNOWN

    def _begun_by(self, term: int, text: bytes, most: int) -> int:
        """Return how many of the counted texts begin in a text; -1 if a term does not match it, or past `most`."""
        total = 0
        for index in range(len(text)):
            self._derivatives.derive(term)
            after = self._derivatives.target(term, text[index])
            if after == NOTHING:
                return UNKNOWN
            total += self._derivatives.begun(term, after)
            if total > most:
                return UNKNOWN
            term = after
        spend(len(text))
        return total if self._table.accepting[term] else UNKNOWN

    def add(self, path: list[int]) -> None:
        """Keep the text that a search found.

        Args:
            path: the terms that the search went along, to one that is known to match a text.
        """
        last = len(path) - 1
        rest = self._known(path[last])
        if rest is None or len(rest) + last > MAX_TRIED_BYTES:
            return
        found = bytearray()
        for index in range(last):
            byte = self._byte_between(path[index], path[index + 1])
            if byte == UNKNOWN:
                return
            found.append(byte)
        text = bytes(found) + rest
        for index in range(last):
            self._text_of[path[index]] = text[index:]
        if text in self._last:
            self._last.remove(text)
        self._last.insert(0, text)
        del self._last[MAX_TEXTS:]

    def _known(self, term: int) -> bytes | None:
        """Return a text that a term is known to match; None if none is known, or it is long."""
        if self._table.accepting[term]:
            return b""
        text = self._text_of.get(term)
        if text is None and not self._table.may_be_empty[term]:
            return self.shortest(term)
        return text

    def _byte_between(self, term: int, after: int) -> int:
        """Return a byte by which the derivative of a term is `after`; -1 if there is none."""
        if self._table.kind[term] == K_BOUNDED:
            return UNKNOWN  # the search goes from here to the tail, not to the derivatives
        number = self._partitions.map_at.values[term]
        for place in range(self._partitions.width_of[number]):
            if self._derivatives.materialize(self._partitions.targets_at.values[term] + place) == after:
                return self._partitions.byte_of[number * 256 + place]
        return UNKNOWN

    def shortest(self, term: int) -> bytes | None:
        """Return a text of a term, a shortest one if the term has no intersections or complements.

        None if it has more than MAX_BYTES bytes, or if the search finds none: it never goes back.
        """
        if term == NOTHING:
            return None
        if term not in self._shortest:
            text = bytearray()
            at = term
            while not self._table.accepting[at] and len(text) < MAX_BYTES:
                nearest = NOTHING
                byte = 0
                self._derivatives.derive(at)
                first = self._partitions.targets_at.values[at]
                for number in range(self._partitions.width_of[self._partitions.map_at.values[at]]):
                    target = self._derivatives.materialize(first + number)
                    if target != NOTHING and (
                        nearest == NOTHING or self._table.min_len[target] < self._table.min_len[nearest]
                    ):
                        nearest = target
                        byte = self._partitions.byte_of[self._partitions.map_at.values[at] * 256 + number]
                text.append(byte)
                at = nearest
            self._shortest[term] = bytes(text) if self._table.accepting[at] else None
        return self._shortest[term]
