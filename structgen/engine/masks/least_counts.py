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
visits all states of `C*R & P`, and asks of each whether one of the next states needs as few C, or one more. Then each
larger count is possible, too: go to that state, and on from there.
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD, EMPTY, K_COUNTING, K_INTERSECTION, K_REPEAT, NOTHING

__all__ = ["LeastCounts"]

# Declared as a C integer in the .pxd, so not importable from here.
MAX_STATES = 400  # visited in search of a count that is not possible


class LeastCounts:
    """Finds states with a least count, and whether one index serves for all least counts.

    Args:
        automata: the automata of the states.
    """

    def __init__(self, automata: AutomatonStore) -> None:
        self._automata = automata
        self._is_any_possible: dict[int, bool] = {}  # by state without a least count: whether each larger count is

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
        return (free, least, most) if free != DEAD else None

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

    def is_any_possible(self, free: int) -> bool:
        """Return whether, whatever has been read, each count from the least one on is possible.

        Args:
            free: a counting state without a least count. False, too, if it has many states.
        """
        known = self._is_any_possible.get(free)
        if known is not None:
            return known
        seen = {free}
        stack = [free]
        while stack:
            state = stack.pop()
            has_next = False
            least = self._automata.emptiness.least_begun(state)
            for target in self._automata.successors(state):
                if self._automata.table.kind[target] != K_COUNTING:
                    continue
                begun = self._automata.derivatives.begun(state, target)
                if not has_next:
                    has_next = begun + self._automata.emptiness.least_begun(target) <= least + 1
                if target not in seen and not self._is_any_possible.get(target, False):
                    seen.add(target)
                    stack.append(target)
            if not has_next or len(seen) > MAX_STATES:
                self._is_any_possible[free] = False
                return False
        for state in seen:  # each leads only to such states
            self._is_any_possible[state] = True
        return True
