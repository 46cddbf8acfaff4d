"""States that refuse a bounded repetition, whose tables are those of two other states together.

Take two patterns of keys, `(foo|bar)` and `^[a-z]{1,64}$`. A key that neither matches is a string S that is no text U
of the first and no text `C{m,n}R` of the second:

    S & ~(U | C{m,n}R)      the state

With each C that is read, n becomes smaller. So a walk meets other states at each depth, and each letter of a key needs
a walk of its own. But its texts are those of two states for which no walk needs to count:

    S & ~(U | C{m,}R)       texts that are no text of C at all, or of too few
    S & ~U & C{n+1,}R       texts of more than n of C

The first has no count once m is reached. The second has a least count: see `engine/masks/least_counts.py`. A text must
not be readable as different numbers of C.

Often n is larger than the bytes of any token. Then no token ends the texts of the second, and those inside of it are
the tokens of C alone that are inside of

    S & ~U & C*R            texts of any number of C

if all of these can go on for ever. No walk has to count.
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import (
    DEAD,
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
from structgen.engine.masks.least_counts import LeastCounts

__all__ = ["RefusedBounds"]

# Declared as a C integer in the .pxd, so not importable from here.
NOT_COUNTED = -1


class RefusedBounds:
    """Finds states that refuse a bounded repetition, and the two states that have their texts.

    Args:
        automata: the automata of the states.
        least_counts: tells whether one index serves the state of more texts.
        longest: the number of bytes of the longest token.
    """

    def __init__(self, automata: AutomatonStore, least_counts: LeastCounts, longest: int) -> None:
        self._automata = automata
        self._longest = longest
        self._least_counts = least_counts
        self._alike: dict[tuple[int, int], bool] = {}  # by two terms; see `_count_alike`

    def of(self, state: int) -> tuple[list[int], tuple[int, int] | None] | None:
        """Return the states that have the texts of a state that refuses a bounded repetition; None for others.

        Of several such repetitions it is that with the largest bound.

        Returns:
            (states, pair). The tables are those of all states together; with a pair (L, C*), also with the tokens that
            are inside L as well as inside C*. None, too, if a walk would surely have to count.
        """
        automata = self._automata
        table, terms, bounded = automata.table, automata.terms, automata.as_bounded(state)
        star, term = NOTHING, state
        if bounded is not None:
            star, phase, term = table.payload[bounded[0]]
            if phase != EMPTY:
                return None
        elif table.kind[state] != K_INTERSECTION or table.tail[state] != EMPTY:
            return None
        parts = terms.conjuncts(term)
        complement, repeat = self._refused_bound(parts)
        if repeat == NOTHING:
            return None
        rest = [member for member in self._refused_in(complement) if member != repeat]
        others = [part for part in parts if part != complement]
        if bounded is None and not rest and len(others) == 1 and self._is_any_string(others[0]):
            return None  # any string but these: it has few states, and a walk takes little
        free = [*others, terms.complement(terms.union(rest), EMPTY)]
        if bounded is not None:
            others.append(terms.repeat(table.payload[star][0], 0, bounded[1], table.tail[star]))
        body, low, most = table.payload[repeat]
        refused = terms.union([*rest, terms.repeat(body, low, -1, table.tail[repeat])])
        without = automata.emptiness.pruned(terms.intersection([*others, terms.complement(refused, EMPTY)], EMPTY))
        if without == state:
            return None
        found = [without] if without != DEAD else []
        if bounded is None and most >= self._longest:
            pair = self._endless(free, repeat)
            if pair is not None:
                return found, pair if pair[0] != DEAD else None
        more = self._more(free, repeat, star, -1 if bounded is None else bounded[1])
        if more == state or not self._is_counted_by_index(more):
            return None
        return [*found, more] if more != DEAD else found, None

    def _is_any_string(self, term: int) -> bool:
        """Return whether a term is a repetition without further conditions, and its closing quote or the like."""
        table = self._automata.table
        return bool(table.kind[term] == K_REPEAT and table.kind[table.tail[term]] in (K_EMPTY, K_LITERAL))

    def _endless(self, parts: list[int], repeat: int) -> tuple[int, int] | None:
        """Return the states of S & ~U & C*R and of C*; None if some text of the former cannot go on for ever.

        Args:
            parts: S and ~U.
            repeat: C{m,n}R.
        """
        automata, terms = self._automata, self._automata.terms
        body, tail = automata.table.payload[repeat][0], automata.table.tail[repeat]
        # A text could go on for ever within one C, or without R end after a C, after which none may follow.
        if terms.alphabets.longest(body) >= FAR or tail == EMPTY:
            return None
        parts = [*parts, terms.repeat(body, 0, -1, tail)]
        endless = automata.emptiness.pruned(terms.intersection(parts, EMPTY))
        if endless != DEAD and not automata.is_ever_endless(endless):
            return None
        return endless, terms.repeat(body, 0, -1, EMPTY)

    def _more(self, parts: list[int], repeat: int, star: int, bound: int) -> int:
        """Return the state of S & ~U & C{n+1,}R; NOT_COUNTED if C cannot be counted in it.

        Args:
            parts: S and ~U.
            repeat: C{m,n}R.
            star: D*R, if at most `bound` of D are counted in all texts; else NOTHING.
            bound: the bound.
        """
        terms = self._automata.terms
        longer = self._longer(repeat, star, bound)
        if longer == NOT_COUNTED:
            return longer
        return self._automata.emptiness.pruned(terms.intersection([*parts, longer], EMPTY))

    def _longer(self, repeat: int, star: int, bound: int) -> int:
        """Return the texts with more of C than `repeat` allows, C{m,n}R, as a state; NOT_COUNTED if no index counts C.

        Args:
            repeat: the repetition.
            star: D*R, if at most `bound` of D are counted in all texts; else NOTHING.
            bound: the bound.
        """
        table, terms = self._automata.table, self._automata.terms
        body, _, most = table.payload[repeat]
        tail = table.tail[repeat]
        if star == NOTHING:
            return terms.repeat(body, most + 1, -1, tail)
        counted = table.payload[star][0]
        if tail != table.tail[star] or not self._count_alike(body, counted):
            return NOT_COUNTED
        if most >= bound:
            return NOTHING
        parts = (terms.repeat(body, 0, -1, tail), terms.repeat(counted, most + 1, bound, tail))
        return terms.intersection(parts, EMPTY)

    def _count_alike(self, body: int, other: int) -> bool:
        """Return whether each text that is made both of texts of one prefix code and of another has as many of both.

        It is so if no text of one is longer than one of the other that it begins with.
        """
        if body == other:
            return True
        key = (body, other)
        if key not in self._alike:
            automata = self._automata
            seen = {key}
            stack = [key]
            while stack:
                one, two = stack.pop()
                others = automata.successors(two)
                for target, mask in automata.successors(one).items():
                    for same, bits in others.items():
                        if mask & bits and (target, same) not in seen:
                            seen.add((target, same))
                            stack.append((target, same))
            accepting = automata.table.accepting
            self._alike[key] = all(accepting[one] == accepting[two] for one, two in seen)
        return self._alike[key]

    def _refused_bound(self, parts: tuple[int, ...]) -> tuple[int, int]:
        """Return the complement, among some conditions, of the repetition with the largest bound; and the repetition.

        Both are NOTHING if none of the conditions refuses a bounded repetition whose texts can be counted.
        """
        table = self._automata.table
        found = complement = NOTHING
        most = -1
        for part in parts:
            for member in self._refused_in(part):
                if table.kind[member] != K_REPEAT or table.payload[member][2] <= most:
                    continue
                if self._automata.terms.is_countable_with(table.payload[member][0], table.tail[member]):
                    found, complement, most = member, part, table.payload[member][2]
        return complement, found

    def _refused_in(self, term: int) -> tuple[int, ...]:
        """Return the members of what a complement refuses; none for another term."""
        table = self._automata.table
        if table.kind[term] != K_COMPLEMENT or table.tail[term] != EMPTY:
            return ()
        refused: int = table.payload[term]
        return table.payload[refused] if table.kind[refused] == K_UNION else (refused,)

    def _is_counted_by_index(self, more: int) -> bool:
        """Return whether one index may serve the state of more texts for all its least counts."""
        if more == NOT_COUNTED:
            return False
        if more == DEAD or self._automata.table.kind[more] == K_REPEAT:
            return True
        parts = self._least_counts.of(more)
        return parts is not None and self._least_counts.has_all(parts[0])
