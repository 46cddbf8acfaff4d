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
- all shorter tokens of C alone that the long texts allow are allowed in the like, too.

Where they are not, for some C, four times, it is not tried with this C again: with `.{1,50}`, say, some token of fifty
equal characters nearly always tells them apart.

Both states may have another bound besides, as `maxLength` sets one. If that one is reached first, there are no long
texts, and both states have the same texts.
"""

from __future__ import annotations

import numpy as np

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import (
    EMPTY,
    FAR,
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
MAX_FAILURES = 4  # with one C


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
        # By the like and the long texts: the bytes of the shortest token of C alone that only the latter allow.
        self._shortest: dict[tuple[int, int], int] = {}
        self._failures: dict[int, int] = {}  # by C*
        self._parts: dict[tuple[int, int], bool] = {}  # what `_is_part` found

    def of(self, state: int) -> tuple[int, int, int, int] | None:
        """Return the parts of a state that refuses a bounded repetition of which much is left; None for others.

        Of several such repetitions it is that with the largest bound.

        Returns:
            (the like, the state of the long texts, C*, the bound). The second is NOTHING if the state has another bound
            that leaves no texts of more than n of C. Then it has the texts of the like, so its tables, too.
        """
        table, terms, bounded = self._automata.table, self._automata.terms, self._automata.as_bounded(state)
        if bounded is None and table.kind[state] != K_INTERSECTION:
            return None
        parts = terms.conjuncts(state if bounded is None else table.payload[bounded[0]][2])
        found = complement = NOTHING
        most = MIN_LEFT - 1
        for part in parts:
            for member in self._refused_in(part):
                if table.kind[member] == K_REPEAT and table.payload[member][2] > most:
                    found, complement, most = member, part, table.payload[member][2]
        if found == NOTHING or table.min_len[table.payload[found][0]] == 0:
            return None
        body, low, most = table.payload[found]
        tail = table.tail[found]
        rest = [member for member in self._refused_in(complement) if member != found]
        others = [part for part in parts if part != complement]
        if bounded is None and not rest and len(others) == 1 and self._is_any_string(others[0]):
            return None  # any string but these: it has few states, and a walk takes little
        star = terms.repeat(body, 0, -1, EMPTY)
        has_long = bounded is None or bounded[1] > most or not self._is_part(body, bounded[0])
        if has_long and self._failures.get(star, 0) >= MAX_FAILURES:
            return None
        unbounded = terms.union([*rest, terms.repeat(body, low, -1, tail)])
        like = self._with_parts(state, [*others, terms.complement(unbounded, EMPTY)])
        if like in (NOTHING, state):
            return None
        if not has_long:
            return like, NOTHING, star, most
        long = [*others, terms.complement(terms.union(rest), EMPTY), terms.repeat(body, 0, -1, tail)]
        return like, self._with_parts(state, long), star, most

    def _is_part(self, body: int, counting: int) -> bool:
        """Return whether each text of a term is one of those that a counting term counts; none has begun."""
        automata = self._automata
        star, phase, _ = automata.table.payload[counting]
        counted = automata.table.payload[star][0]
        if phase != EMPTY:
            return False
        key = (body, counted)
        if key not in self._parts:
            others = automata.terms.intersection([body, automata.terms.complement(counted, EMPTY)], EMPTY)
            self._parts[key] = not automata.emptiness.is_alive(others)
        return self._parts[key]

    def _with_parts(self, state: int, parts: list[int]) -> int:
        """Return a state with other conditions, and with the bound on a count that it may have besides."""
        table, terms = self._automata.table, self._automata.terms
        term = terms.intersection(parts, EMPTY)
        bounded = self._automata.as_bounded(state)
        if bounded is not None:
            star, phase, _ = table.payload[bounded[0]]
            term = terms.bounded(terms.counting(star, phase, term), bounded[1], EMPTY)
        return self._automata.emptiness.pruned(term)

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

    def agree_on_long(self, state: int, refused: tuple[int, int, int, int]) -> bool:
        """Return whether a state and its like have the same tokens of more bytes than the bound; see `of`."""
        return self._walk.agree(state, refused[0], refused[3]) or self._fail(refused[2])

    def agree_on_others(
        self, refused: tuple[int, int, int, int], like: TerminalMask, long: TerminalMask, star: TerminalMask
    ) -> bool:
        """Return whether a state and its like have the same tokens of at most as many bytes as the bound.

        Args:
            refused: what `of` returned for the state.
            like: the tables of the like.
            long: the tables of the long texts.
            star: the tables of C*.
        """
        key = refused[:2]
        if key not in self._shortest:
            lost = self._is_inside(long) & self._is_inside(star) > self._is_inside(like)
            self._shortest[key] = min([len(self._spellings[token]) for token in np.flatnonzero(lost)], default=FAR)
        return self._shortest[key] > refused[3] or self._fail(refused[2])

    def _fail(self, star: int) -> bool:
        """Return False, and count it: a look at the states costs up to 5 ms, and with some C the bound always tells."""
        self._failures[star] = self._failures.get(star, 0) + 1
        return False

    def _is_inside(self, table: TerminalMask) -> np.ndarray:
        """Return which tokens are inside a table, uint8[tokens, and up to a whole word]."""
        store = self._store
        words = np.asarray(store.meant(table)) if table.dense >= 0 else np.zeros(store.words, dtype=np.uint32)
        found = np.unpackbits(words.view(np.uint8), bitorder="little")
        found[np.asarray(store.pool[table.first_token : table.last_token])] = 1
        return found
