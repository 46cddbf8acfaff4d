"""States that refuse a bounded repetition, and have the same tables without the bound.

Take two patterns of keys, `(foo|bar)` and `^[a-z]{1,64}$`. A key that neither matches is a string S that is no text U
of the first and no text `C{m,n}R` of the second:

    S & ~(U | C{m,n}R)      the state

With each C that is read, n becomes smaller. So a walk meets other states at each depth, and each letter of a key needs
a walk of its own. But most tokens are much shorter than n. They are those of the state without the bound:

    S & ~(U | C{m,}R)       the like

The state has the texts of the like, and others with more than n of C. Those are among the long texts:

    S & ~U & C*R            the long texts

So the tables of both are the same if

- no token of more than n bytes tells them apart, as a walk finds out;
- no token of C alone begins a long text that is not allowed in the like. (Mostly such a token holds a text of U.)
"""

from __future__ import annotations

import numpy as np

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import (
    DEAD,
    EMPTY,
    K_COMPLEMENT,
    K_EMPTY,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    K_UNION,
    NOTHING,
)
from structgen.engine.masks.difference_walk import LongTokenWalk
from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import TerminalMask

__all__ = ["RefusedBounds"]

# Declared as C integers in the .pxd, so not importable from here.
MIN_LEFT = 16  # of the bound: most tokens are shorter
MAX_LOST = 1000  # tokens of C alone that are looked at


class RefusedBounds:
    """Finds states that refuse a bounded repetition, and tells whether they have the same tables without the bound.

    Args:
        automata: the automata of the states.
        store: what the tables refer to.
        spellings: the bytes of each token.
        walk: the walk for long tokens.
    """

    def __init__(
        self, automata: AutomatonStore, store: TableStore, spellings: tuple[bytes, ...], walk: LongTokenWalk
    ) -> None:
        self._automata = automata
        self._store = store
        self._spellings = spellings
        self._walk = walk
        self._goes_on: dict[tuple[int, int], bool] = {}  # by the like and the long texts: what `_finds_long` returned

    def of(self, state: int) -> tuple[int, int, int, int] | None:
        """Return the parts of a state that refuses a bounded repetition of which much is left; None for others.

        Of several such repetitions it is that with the largest bound.

        Returns:
            (the like, the state of the long texts, C*, the bound).
        """
        table, terms, emptiness = self._automata.table, self._automata.terms, self._automata.emptiness
        if table.kind[state] != K_INTERSECTION or table.tail[state] != EMPTY:
            return None
        found = complement = NOTHING
        most = MIN_LEFT - 1
        for part in table.payload[state]:
            for member in self._refused_in(part):
                if table.kind[member] == K_REPEAT and table.payload[member][2] > most:
                    found, complement, most = member, part, table.payload[member][2]
        if found == NOTHING or table.min_len[table.payload[found][0]] == 0:
            return None
        body, low, most = table.payload[found]
        tail = table.tail[found]
        rest = [member for member in self._refused_in(complement) if member != found]
        others = [part for part in table.payload[state] if part != complement]
        if not rest and len(others) == 1 and self._is_any_string(others[0]):
            return None  # any string but these: it has few states, and a walk takes little
        unbounded = terms.union([*rest, terms.repeat(body, low, -1, tail)])
        like = emptiness.pruned(terms.intersection([*others, terms.complement(unbounded, EMPTY)], EMPTY))
        if like in (NOTHING, state):
            return None
        long = [*others, terms.complement(terms.union(rest), EMPTY), terms.repeat(body, 0, -1, tail)]
        return like, emptiness.pruned(terms.intersection(long, EMPTY)), terms.repeat(body, 0, -1, EMPTY), most

    def _is_any_string(self, term: int) -> bool:
        """Return whether a term is a repetition without further conditions, and its closing quote or the like."""
        table = self._automata.table
        return bool(table.kind[term] == K_REPEAT and table.kind[table.tail[term]] in (K_EMPTY, K_LITERAL))

    def _refused_in(self, term: int) -> tuple[int, ...]:
        """Return the members of what a complement refuses; none for another term."""
        table = self._automata.table
        if table.kind[term] != K_COMPLEMENT or table.tail[term] != EMPTY:
            return ()
        refused: int = table.payload[term]
        return table.payload[refused] if table.kind[refused] == K_UNION else (refused,)

    def are_alike(self, state: int, refused: tuple[int, int, int, int], like: TerminalMask, star: TerminalMask) -> bool:
        """Return whether a state has the tables of its like.

        Args:
            state: the state.
            refused: what `of` returned for it.
            like: the tables of the like.
            star: the tables of C*.
        """
        like_state, long, _, most = refused
        key = (like_state, long)
        if key not in self._goes_on:
            self._goes_on[key] = self._finds_long(long, like, star)
        return not self._goes_on[key] and self._walk.agree(state, like_state, most)

    def _finds_long(self, long: int, like: TerminalMask, star: TerminalMask) -> bool:
        """Return whether a token of C alone is not allowed in the like and begins a long text; True for many tokens."""
        lost = np.flatnonzero(self._is_inside(star) > self._is_inside(like))
        if len(lost) > MAX_LOST:
            return True
        for token in lost:  # noqa: SIM110  (a cdef method has no generators)
            if self._begins(self._spellings[token], long):
                return True
        return False

    def _is_inside(self, table: TerminalMask) -> np.ndarray:
        """Return which tokens are inside a table, uint8[tokens, and up to a whole word]."""
        store = self._store
        words = np.asarray(store.meant(table)) if table.dense >= 0 else np.zeros(store.words, dtype=np.uint32)
        found = np.unpackbits(words.view(np.uint8), bitorder="little")
        found[np.asarray(store.pool[table.first_token : table.last_token])] = 1
        return found

    def _begins(self, text: bytes, state: int) -> bool:
        """Return whether some text of a state begins with these bytes."""
        for byte in text:
            state = self._automata.next(state, byte)
            if state == DEAD:
                return False
        return state != DEAD
