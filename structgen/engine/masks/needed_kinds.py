"""Kinds of characters that the texts of a term need, for each way in which a text may be made.

A text of `.*(foo|date).*` has an `f` and an `o`, or it has a `d`, an `a`, a `t` and an `e`: there are two ways. A text
that lacks a kind of each way is no text of the term. So `boat` may follow where a string must not match that pattern,
and no automaton is needed to tell: it has no `f`, and no `d`.
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import FIRST_LEAD, K_BYTES, K_EMPTY, K_LITERAL, K_REPEAT, K_UNION, NOTHING
from structgen.engine.masks.character_kinds import ALL_KINDS, kind_of, kinds_in

__all__ = ["NeededKinds", "least_ways"]

# Declared as C integers in the .pxd, so not importable from here.
MAX_DEPTH = 200  # terms inside of terms
MAX_WAYS = 16  # of one term; of more, only what all have in common is known

ANY_WAY = (0,)  # nothing is known to be needed


class NeededKinds:
    """Finds what the texts of terms need.

    Args:
        automata: the automata of the terms.
    """

    def __init__(self, automata: AutomatonStore) -> None:
        self._table = automata.table
        self._known: dict[tuple[int, int], tuple[int, ...]] = {}  # by term and kinds

    def of(self, term: int, kinds: int) -> tuple[int, ...]:
        """Return the ways to a text of a term that is made of some kinds of characters.

        Returns:
            For each way, kinds that occur in the text, as a mask. Each text of the term has all kinds of one of these
            masks. None if there is no such text; a mask of no kinds if nothing is known.
        """
        return self._of(term, kinds, 0)

    def _of(self, term: int, kinds: int, depth: int) -> tuple[int, ...]:
        if depth > MAX_DEPTH:
            return ANY_WAY
        key = (term, kinds)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._made(term, kinds, depth + 1)
        return found

    def _made(self, term: int, kinds: int, depth: int) -> tuple[int, ...]:
        kind = self._table.kind[term]
        if kind == K_EMPTY:
            return ANY_WAY
        if term == NOTHING:
            return ()
        payload = self._table.payload[term]
        if kind == K_UNION:
            ways: list[int] = []
            for part in payload:
                ways.extend(self._of(part, kinds, depth))
            return least_ways(ways)
        rest = self._of(self._table.tail[term], kinds, depth)
        own = 0
        if kind == K_LITERAL:
            last = len(payload) - 1
            own = kinds_in(payload if payload[last] < FIRST_LEAD else payload[:last])  # the next byte tells its kind
            if own & ~kinds:
                return ()
        elif kind == K_BYTES:
            own = kind_of_all(payload, kinds)
            if own == ALL_KINDS:
                return ()
        elif kind == K_REPEAT and payload[1] > 0:
            return _of_both(self._of(payload[0], kinds, depth), rest)
        return _of_both((own,), rest) if own else rest


def _of_both(some: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """Return the ways to two texts, one after the other."""
    ways: list[int] = []
    for one in some:
        for other in others:
            ways.append(one | other)
    return least_ways(ways)


def least_ways(ways: list[int]) -> tuple[int, ...]:
    """Return some ways without those that need all that another one needs; what all have in common, if they are many.

    A text that lacks one of the kinds of the shorter way lacks one of the longer, too.
    """
    found: list[int] = []
    for one in sorted(set(ways), key=int.bit_count):
        is_least = True
        for other in found:
            if not other & ~one:
                is_least = False
        if is_least:
            found.append(one)
    if len(found) <= MAX_WAYS:
        return tuple(found)
    common = ALL_KINDS
    for one in found:
        common &= one
    return (common,)


def kind_of_all(mask: int, kinds: int) -> int:
    """Return the kind of all bytes of a mask that are of some kinds; 0 if they differ, ALL_KINDS if there is none."""
    if mask >> 128:
        return 0
    found = 0
    for byte in range(128):
        if mask >> byte & 1:
            found |= kind_of(byte)
    found &= kinds
    if not found:
        return ALL_KINDS
    return 0 if found & (found - 1) else found
