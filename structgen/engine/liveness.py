"""Which terms match some text at all.

Only intersections and complements may match nothing without saying so; to know takes a search for an accepting term
along the derivatives, best first and remembered. A bound on a count is left out of the search: for the term without
the bound it finds the least count that is still needed, which serves all bounds.
"""

from __future__ import annotations

import heapq
from array import array

from structgen.engine.arrays import enlarged
from structgen.engine.derivatives import DerivativeTable
from structgen.engine.term_kinds import (
    ALIVE,
    K_BOUNDED,
    K_COUNTING,
    K_INTERSECTION,
    K_UNION,
    LIFELESS,
    NEVER,
    NOTHING,
    UNKNOWN,
)
from structgen.limits import Limits

__all__ = ["LivingTerms"]


class LivingTerms(DerivativeTable):
    """Terms of which it can be told whether they match anything."""

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        super().__init__(limits, capacity)
        self._life = enlarged(array("B"), "B", self._capacity)
        self._least_begun = array("i", [-1]) * self._capacity

    def _grow(self) -> None:
        """Doubles the arrays."""
        super()._grow()
        for name, code, value in (("_life", "B", UNKNOWN), ("_least_begun", "i", -1)):
            setattr(self, name, enlarged(getattr(self, name), code, self._capacity, value))

    def _pruned(self, term: int) -> int:
        """The same language, without alternatives that match nothing; 0 if nothing is left."""
        if not self.hard[term]:
            return term
        if self.kind[term] == K_UNION:
            return self.union([part for part in self.payload[term] if self._is_alive(part)])
        return term if self._is_alive(term) else NOTHING

    def _is_alive(self, term: int) -> bool:
        """Whether some text is matched from a term: a search for an accepting term along the derivatives.

        The search goes first where the least length of what is missing is smallest, then where it went last. It
        remembers the path it found; when there is none, all that it saw is dead.

        Raises:
            LimitExceededError: automaton_states.
        """
        if not self.hard[term] or self.accepting[term] or self._life[term] == ALIVE:
            return term != NOTHING
        if self.kind[term] == K_COUNTING:
            return self.least_begun(term) < NEVER
        if self._life[term] == LIFELESS:
            return False
        came_from = {term: NOTHING}
        queue = [(self.min_len[term], 0, 0, term)]
        order = 0
        while queue:
            _, _, _, top = heapq.heappop(queue)
            for target in self._successors(top):
                if target == NOTHING or target in came_from or self._life[target] == LIFELESS:
                    continue
                if not self.hard[target] or self.accepting[target] or self._life[target] == ALIVE:
                    while top != NOTHING:
                        self._life[top] = ALIVE
                        top = came_from[top]
                    return True
                came_from[target] = top
                order -= 1
                heapq.heappush(queue, (self.min_len[target], self._spread(target), order, target))
        for seen in came_from:
            self._life[seen] = LIFELESS
        return False

    def _successors(self, term: int) -> list[int]:
        """What a term leads to: by one byte, or past all that a bound is about."""
        if self.kind[term] == K_BOUNDED:
            counting, most = self.payload[term]
            least = self.least_begun(counting)
            return [self.tail[term]] if least < NEVER and least <= most else []
        return self.targets(term)

    def least_begun(self, term: int) -> int:
        """The least number of what a counting term counts that one of its texts begins; NEVER if it has no texts.

        For states that are past that it is 0. A search by that number, remembered along the path that it finds.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.kind[term] != K_COUNTING:
            return 0
        known = self._least_begun[term]
        if known >= 0:
            return known
        if self.accepting[term]:
            return 0
        came_from = {term: NOTHING}
        cost = {term: 0}
        settled: set[int] = set()
        queue = [(0, self.min_len[term], 0, term)]
        best = NEVER
        last = NOTHING
        while queue and queue[0][0] < best:
            total, _, _, top = heapq.heappop(queue)
            if top in settled:
                continue
            settled.add(top)
            for target in self.targets(top):
                if target == NOTHING:
                    continue
                if self.kind[target] != K_COUNTING:
                    known = 0 if self._is_alive(target) else NEVER
                else:
                    known = 0 if self.accepting[target] else self._least_begun[target]
                reached = total + self.begun(top, target)
                if known >= 0:
                    if reached + known < best:
                        best = reached + known
                        last = top
                elif reached < cost.get(target, NEVER):
                    cost[target] = reached
                    came_from[target] = top
                    heapq.heappush(queue, (reached, self.min_len[target], len(cost), target))
        if best == NEVER:
            for seen in cost:
                self._least_begun[seen] = NEVER
            return NEVER
        while last != NOTHING:
            self._least_begun[last] = best - cost[last]
            last = came_from[last]
        return best

    def _spread(self, term: int) -> int:
        """The least lengths of an intersection's parts, added up: less when one of them comes nearer to its end."""
        if self.kind[term] != K_INTERSECTION:
            return self.min_len[term]
        return sum([self.min_len[part] for part in self.payload[term]])
