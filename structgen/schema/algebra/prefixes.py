"""Prefixes that all texts of a regex have, read off its tree.

Two sets of texts are disjoint if neither of their prefixes begins with the other. This tells most patterns of keys
apart (`^x1_`, `^x2_`, …) without an automaton.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Generic, TypeVar

from structgen.engine.deadlines import spend
from structgen.engine.regex.tree import Choice, Literal, LiteralSet, Regex, Repeat, Sequence

__all__ = ["ByPrefix", "prefix"]

_T = TypeVar("_T")
_MAX_DEPTH = 8  # alternatives within alternatives


def prefix(regex: Regex, depth: int = 0) -> bytes:
    r"""Return bytes that all texts of a regex begin with; the tree may not show all of them.

    >>> from structgen.engine.regex.tree import Literal, Repeat, Sequence
    >>> prefix(Sequence((Literal(b"x1_"), Repeat(Literal(b"a"), 0, None))))
    b'x1_'

    Args:
        regex: the tree.
        depth: the number of choices around it.
    """
    while True:
        if isinstance(regex, Sequence):
            regex = regex.parts[0]
        elif isinstance(regex, Repeat) and regex.min > 0:
            regex = regex.body
        elif isinstance(regex, Choice) and depth < _MAX_DEPTH:
            spend(len(regex.parts))
            return _common([prefix(part, depth + 1) for part in regex.parts])
        elif isinstance(regex, LiteralSet):  # it is sorted
            return _common([regex.texts[0], regex.texts[-1]])
        else:
            return regex.data if isinstance(regex, Literal) else b""


def _common(texts: list[bytes]) -> bytes:
    begin, last = min(texts), max(texts)
    while not last.startswith(begin):
        begin = begin[:-1]
    return begin


class ByPrefix(Generic[_T]):
    """Lists of objects, each list with a prefix of texts."""

    def __init__(self) -> None:
        self.lists: dict[bytes, list[_T]] = {}
        self._sorted: list[bytes] = []

    def add(self, begin: bytes, item: _T) -> None:
        """Add an object whose texts begin with some bytes."""
        if begin not in self.lists:
            self.lists[begin] = []
            insort(self._sorted, begin)
        self.lists[begin].append(item)

    def near(self, begin: bytes) -> list[bytes]:
        """Return the prefixes that begin with some bytes, or that these begin with.

        The texts of all other lists differ from texts with this prefix.
        """
        found = [begin[:length] for length in range(len(begin)) if begin[:length] in self.lists]
        at = bisect_left(self._sorted, begin)
        while at < len(self._sorted) and self._sorted[at].startswith(begin):
            found.append(self._sorted[at])
            at += 1
        spend(1 + len(found))
        return found
