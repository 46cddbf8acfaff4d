"""Pieces of one text: whether a piece is a text of a grammar, and its split into pieces of several grammars.

`splitting.py` splits a whole text once. Here pieces of pieces are split, as rules that use one another need it. So what
was found is kept: for a part and a start, all its ends; for some parts in a row and an end, the starts from which they
lead there. With rules such as `list ::= list item | item` each `list` begins at the same place, and is scanned once.

With `list ::= item list | item` each `list` ends at the same place. So once several starts were asked about for one
end, all starts before it are looked for together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from structgen.engine.matching.splitting import Part, ends_of, split, starts_of
from structgen.errors import LimitExceededError

__all__ = ["Span", "Spans"]

_MIN_WINDOW = 64  # bytes before an end that are looked at first
_MAX_ALONE = 8  # starts for one end that are looked at one by one
_MAX_PARTS = 50  # in a row, of which pieces are kept

Span = tuple[int, int]
"""Where a piece begins and ends, in bytes."""

_Goal = tuple[tuple[int, ...], int]
"""The ids of parts in a row, and an end."""


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
        self._starts: dict[_Goal, tuple[int, set[int]]] = {}
        self._alone: dict[_Goal, dict[int, bool]] = {}  # the starts that were looked at one by one
        self._crowded: set[_Goal] = set()  # where all starts together passed a limit

    def fits(self, part: Part, start: int, end: int) -> bool:
        """Return whether a piece is a text of a part."""
        return self._leads((part,), start, end)

    def ends(self, part: Part, start: int, end: int) -> list[int]:
        """Return where texts of a part may end that begin at `start`, up to `end`, in order."""
        known = self._ends.get((id(part), start))
        if known is None or known[0] < end:
            found = sorted(ends_of(part, self.data[:end], {start}))
            known = self._ends[id(part), start] = (end, found)
        return known[1][: bisect_right(known[1], end)]

    def split(self, parts: Sequence[Part], start: int, end: int) -> list[Span] | None:
        """Split a piece into one for each part, each as long as the later ones allow; None where that is impossible."""
        if len(parts) > _MAX_PARTS:
            pieces = split(self.data[start:end], parts)
            cuts = [start, *(start + cut for cut in accumulate(map(len, pieces or ())))]
            return None if pieces is None else list(pairwise(cuts))
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
        goal = (tuple(map(id, parts)), end)
        known = self._starts.get(goal)
        if known is not None and known[0] <= start:
            return start in known[1]
        alone = self._alone.setdefault(goal, {})
        found = alone.get(start)
        if found is None and len(alone) >= _MAX_ALONE and goal not in self._crowded:
            try:
                return start in self._leading(parts, start, end)
            except LimitExceededError:
                self._crowded.add(goal)
        if found is None:
            cuts = self.ends(parts[0], start, end)
            if len(parts) == 1:
                found = bool(cuts) and cuts[-1] == end
            else:
                found = any(self._leads(parts[1:], cut, end) for cut in reversed(cuts))
            alone[start] = found
        return found

    def _leading(self, parts: tuple[Part, ...], start: int, end: int) -> set[int]:
        """Return the positions, from `start` or an earlier one on, from which parts in a row lead to `end`."""
        goal = (tuple(map(id, parts)), end)
        low, found = self._starts.get(goal, (end + 1, set()))
        if start < low:
            # Twice as far back as before: all windows together cost as much as the last one.
            low = max(0, min(start, end - max(_MIN_WINDOW, 2 * (end - low))))
            goals = {end} if len(parts) == 1 else self._leading(parts[1:], low, end)
            found = starts_of(parts[0], self.data[:end], set(range(low, end + 1)), goals)
            self._starts[goal] = (low, found)
        return found
