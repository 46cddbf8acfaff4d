"""Pieces of one text: whether a piece is a text of a grammar, and its split into pieces of several grammars.

`splitting.py` splits a whole text once. Here pieces of pieces are split, as rules that use one another need it. So what
was found is kept: for a part and a start, all its ends; for some parts in a row and an end, the starts from which they
lead there. With rules such as `list ::= item list | item` each `list` ends at the same place, and with
`list ::= list item | item` each begins at the same place: neither is scanned again at each level.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from structgen.engine.matching.splitting import Part, ends_of, starts_of

__all__ = ["Span", "Spans"]

_MIN_WINDOW = 64  # bytes before an end that are looked at first

Span = tuple[int, int]
"""Where a piece begins and ends, in bytes."""


class Spans:
    """The pieces of a text.

    Args:
        data: the text. Parts must stay alive as long as this object.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        # (id of the part, start) -> the end up to which it was looked for, and the ends, in order
        self._ends: dict[Span, tuple[int, list[int]]] = {}
        # (ids of parts in a row, end) -> the start from which on it was looked for, and the starts
        self._starts: dict[tuple[tuple[int, ...], int], tuple[int, set[int]]] = {}

    def fits(self, part: Part, start: int, end: int) -> bool:
        """Return whether a piece is a text of a part."""
        known = self._ends.get((id(part), start))
        if known is None or known[0] < end:
            leading = self._starts.get(((id(part),), end))
            if leading is not None and leading[0] <= start:
                return start in leading[1]
            self._leads((part,), start, end)
        ends = self.ends(part, start, end)
        return bool(ends) and ends[-1] == end

    def ends(self, part: Part, start: int, end: int) -> list[int]:
        """Return where texts of a part may end that begin at `start`, up to `end`, in order."""
        known = self._ends.get((id(part), start))
        if known is None or known[0] < end:
            found = sorted(ends_of(part, self.data[:end], {start}))
            known = self._ends[id(part), start] = (end, found)
        return known[1][: bisect_right(known[1], end)]

    def split(self, parts: Sequence[Part], start: int, end: int) -> list[Span] | None:
        """Split a piece into one for each part, each as long as the later ones allow; None where that is impossible."""
        found: list[Span] = []
        at = start
        for number, part in enumerate(parts):
            rest = tuple(parts[number + 1 :])
            if not rest:
                if not self._leads((part,), at, end):
                    return None
                found.append((at, end))
                break
            cut = next((cut for cut in reversed(self.ends(part, at, end)) if self._leads(rest, cut, end)), None)
            if cut is None:
                return None
            found.append((at, cut))
            at = cut
        return found if found or start == end else None

    def split_repeated(self, item: Part, items: Part, start: int, end: int) -> list[Span]:
        """Split a piece into pieces of one part, none empty, each as long as the later ones allow.

        Args:
            item: the part.
            items: any number of texts of the part, with or without none. The piece is such a text.
            start: where the piece begins.
            end: where it ends.
        """
        found: list[Span] = []
        at = start
        while at < end:
            ends = self.ends(item, at, end)
            cuts = ends[bisect_left(ends, at + 1) :]
            cut = next((cut for cut in reversed(cuts) if cut == end or self._leads((items,), cut, end)), None)
            if cut is None:
                break
            found.append((at, cut))
            at = cut
        return found

    def _leads(self, parts: tuple[Part, ...], start: int, end: int) -> bool:
        """Return whether texts of parts in a row lead from `start` to `end`."""
        return start in self._leading(parts, start, end)

    def _leading(self, parts: tuple[Part, ...], start: int, end: int) -> set[int]:
        """Return the positions, from `start` or an earlier one on, from which parts in a row lead to `end`."""
        key = (tuple(map(id, parts)), end)
        low, found = self._starts.get(key, (end + 1, set()))
        if start < low:
            # Twice as far back as before: all windows together cost as much as the last one.
            low = max(0, min(start, end - max(_MIN_WINDOW, 2 * (end - low))))
            goals = {end} if len(parts) == 1 else self._leading(parts[1:], low, end)
            found = starts_of(parts[0], self.data[:end], set(range(low, end + 1)), goals)
            self._starts[key] = (low, found)
        return found
