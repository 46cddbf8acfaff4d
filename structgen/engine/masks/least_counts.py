"""States with a least count beside other conditions, whose tables come from one index for all least counts.

Take a string of at least 12 characters that has a digit. With each character that is read, the least count becomes
smaller. So a walk meets other states at each depth, and each character of a text needs a walk of its own. But the least
count decides about the end of the text only. Every prefix can go on, as more characters may always come:

    C{12,}R & P       the state: C is a character, R the closing quote, P has a digit
    C*R & P           the state without its least count

- A token that stays among the C is inside the one if it is inside the other.
- A token that goes on into R needs 12 C before it.
- So does an exit, at which the terminal ends within a token.

`engine/masks/counted_masks.py` has an index of tokens by the number of C that they need. It serves every least count,
together with every bound.

This holds if each count from the least one on is possible, whatever has been read. It is not so for a string that
matches `_id$`: after `_i` the text may end after one more character, or after four, but not after two. So this module
asks of each state in which a token ends: may a further C lead to a state that needs no more C than this one? Then one C
more is possible here, and the same is asked of that state.
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import EMPTY, K_COUNTING, K_INTERSECTION, K_REPEAT, NOTHING

__all__ = ["LeastCounts"]


class LeastCounts:
    """Finds states with a least count, and whether one index serves for all least counts.

    Args:
        automata: the automata of the states.
    """

    def __init__(self, automata: AutomatonStore) -> None:
        self._automata = automata
        self._has_all: set[int] = set()  # counting states with all counts from the least one on

    def of(self, state: int) -> tuple[int, int, int] | None:
        """Return the parts of a state with a least count beside other conditions; None for any other state.

        Returns:
            (the counting state without the least count, the least count, the bound or -1 for none).
        """
        automata = self._automata
        table = automata.table
        bounded = automata.as_bounded(state)
        term, most, star = state, -1, NOTHING
        if bounded is not None:
            most = bounded[1]
            star, phase, term = table.payload[bounded[0]]
            if phase != EMPTY:
                return None
        elif table.kind[state] != K_INTERSECTION or table.tail[state] != EMPTY:
            return None
        parts = automata.terms.conjuncts(term)
        found = self._least_count(parts, star)
        if found == NOTHING:
            return None
        body, least, _ = table.payload[found]
        if star == NOTHING:
            star = automata.terms.repeat(body, 0, -1, table.tail[found])
        others = automata.terms.intersection([part for part in parts if part != found], EMPTY)
        free = automata.emptiness.pruned(automata.terms.counting(star, EMPTY, others))
        return (free, least, most) if free != NOTHING else None

    def _least_count(self, parts: tuple[int, ...], star: int) -> int:
        """Return the C{n,}R with the largest n among some conditions; NOTHING if there is none.

        Args:
            parts: the conditions.
            star: the C*R whose C is counted; NOTHING for any.
        """
        automata = self._automata
        table = automata.table
        found, most = NOTHING, 0
        for part in parts:
            if table.kind[part] != K_REPEAT:
                continue
            body, least, high = table.payload[part]
            if least <= most or high >= 0:
                continue
            if star == NOTHING:
                is_counted = automata.terms.is_countable_with(body, table.tail[part])
            else:
                is_counted = body == table.payload[star][0] and table.tail[part] == table.tail[star]
            if is_counted:
                found, most = part, least
        return found

    def have_all(self, states: list[int]) -> bool:
        """Return whether each of some states has all counts from its least one on.

        States that do not count are left out: they are past all that is counted, so their tokens have one count.
        """
        for state in states:  # noqa: SIM110  (a generator would not be compiled to a loop)
            if not self.has_all(state):
                return False
        return True

    def has_all(self, state: int) -> bool:
        """Return whether a state has all counts from its least one on, if it counts at all."""
        begun = 0
        begun_at: dict[int, int] = {}
        while self._automata.table.kind[state] == K_COUNTING and state not in self._has_all:
            if state in begun_at:
                if begun == begun_at[state]:  # within one C, to which a byte that changes nothing was added
                    return False
                break
            begun_at[state] = begun
            target = self._next_as_near(state)
            if target == NOTHING:
                return False
            begun += self._automata.derivatives.begun(state, target)
            state = target
        self._has_all.update(begun_at)
        return True

    def _next_as_near(self, state: int) -> int:
        """Return a counting state after one more byte, from which a text needs few C; NOTHING if there is none.

        Few are at most one more than the shortest text needs now, with the C that the byte begins. Along such states,
        texts with one C more are found, with two more, and so on.
        """
        automata = self._automata
        emptiness, partitions = automata.emptiness, automata.partitions
        automata.derivatives.derive(state)
        most = emptiness.least_begun(state) + 1
        for number in range(partitions.width_of[partitions.map_at.values[state]]):
            target = emptiness.live_target(partitions.targets_at.values[state] + number)
            if target == NOTHING or automata.table.kind[target] != K_COUNTING:
                continue
            if automata.derivatives.begun(state, target) + emptiness.least_begun(target) <= most:
                return target
        return NOTHING
