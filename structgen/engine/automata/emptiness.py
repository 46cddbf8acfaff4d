"""Which terms match some text at all.

Only intersections and complements may match nothing without saying so; to know takes a search for an accepting term
along the derivatives, best first and remembered. A bound on a count is left out of the search: for the term without
the bound it finds the least count that is still needed, which serves all bounds.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable

from structgen.engine.arrays import enlarged, grown, zeros
from structgen.engine.automata.derivatives import DerivativeTable
from structgen.engine.constants import (
    ALIVE,
    EMPTY,
    K_BOUNDED,
    K_COMPLEMENT,
    K_COUNTING,
    K_INTERSECTION,
    K_UNION,
    LIFELESS,
    NEVER,
    NOTHING,
)
from structgen.limits import Limits

__all__ = ["LivingTerms"]

# Declared as a C integer in the .pxd, so not importable from here.
SHORT_TEXT = 32  # bytes, looked at before a search


class LivingTerms(DerivativeTable):
    """Terms of which it can be told whether they match anything.

    Attributes:
        terms_searched: terms looked at by searches so far, each time anew (a work counter for tests).
    """

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        super().__init__(limits, capacity)
        self.terms_searched = 0
        self._life = enlarged(array("B"), "B", self._capacity)
        self._least_begun = zeros(self._capacity)
        self._begun_at_least = zeros(self._capacity)
        self._short_texts: dict[int, bytes | None] = {}

    def _grow(self) -> None:
        """Doubles the arrays."""
        super()._grow()
        self._life = enlarged(self._life, "B", self._capacity)
        self._least_begun = grown(self._least_begun, len(self._least_begun))
        self._begun_at_least = grown(self._begun_at_least, len(self._begun_at_least))

    def _pruned(self, term: int) -> int:
        """The same language, without alternatives that match nothing; 0 if nothing is left."""
        if not self.may_be_empty[term]:
            return term
        if self.kind[term] == K_UNION:
            return self.union([part for part in self.payload[term] if self._is_alive(part)])
        return term if self._is_alive(term) else NOTHING

    def _is_alive(self, term: int) -> bool:
        """Whether some text is matched from a term: a search for an accepting term along the derivatives.

        The search goes first where the least length of what is missing is smallest, then where it went last. It
        remembers the path it found, and what it has learned besides; when there is none, all that it saw is dead.

        Raises:
            LimitExceededError: automaton_states.
        """
        if term == NOTHING:
            return False
        if self._is_known_alive(term):
            return True
        if self.kind[term] == K_COUNTING:
            return self.least_begun(term) < NEVER
        if self._life[term] == LIFELESS:
            return False
        if self.kind[term] == K_INTERSECTION and self._has_short_text(term):
            self._life[term] = ALIVE
            return True
        came_from = {term: NOTHING}
        queue = [(self.min_len[term], 0, 0, term)]
        order = 0
        looked_at = 0
        while queue:
            _, _, _, top = heapq.heappop(queue)
            looked_at += 1
            self.terms_searched += 1
            for index in range(self._successor_count(top)):
                target = self._successor(top, index)
                if target == NOTHING or target in came_from or self._life[target] == LIFELESS:
                    continue
                if self._is_known_alive(target):
                    while top != NOTHING:
                        self._life[top] = ALIVE
                        top = came_from[top]
                        looked_at -= 1
                    if looked_at > 0:
                        self._conclude(came_from, {waiting for _, _, _, waiting in queue})
                    return True
                came_from[target] = top
                order -= 1
                heapq.heappush(queue, (self.min_len[target], self._spread(target), order, target))
        for seen in came_from:
            self._life[seen] = LIFELESS
        return False

    def _has_short_text(self, term: int) -> bool:
        """Whether a short text of the one part of an intersection that is no complement is none that the others refuse.

        Most are. The text belongs to many terms that differ in what they refuse, and their derivatives are not made.
        """
        if self.tail[term] != EMPTY:
            return False
        plain = NOTHING
        for part in self.payload[term]:
            if self.kind[part] != K_COMPLEMENT or self.tail[part] != EMPTY:
                if plain != NOTHING or self.may_be_empty[part]:
                    return False
                plain = part
        text = self._short_text(plain) if plain != NOTHING else None
        if text is None:
            return False
        for part in self.payload[term]:  # noqa: SIM110  (a generator would not be compiled to a loop)
            if part != plain and self._is_matched(self.payload[part], text):
                return False
        return True

    def _short_text(self, term: int) -> bytes | None:
        """A text of a term without intersections or complements, along the least lengths; None if it is not short."""
        if term not in self._short_texts:
            text = bytearray()
            at = term
            while not self.accepting[at] and len(text) < SHORT_TEXT:
                nearest = NOTHING
                byte = 0
                self.derive(at)
                first = self.targets_at[at]
                for number in range(self._width_of[self.map_at[at]]):
                    target = self.materialize(first + number)
                    if target != NOTHING and (nearest == NOTHING or self.min_len[target] < self.min_len[nearest]):
                        nearest = target
                        byte = self._byte_of[self.map_at[at] * 256 + number]
                text.append(byte)
                at = nearest
            self._short_texts[term] = bytes(text) if self.accepting[at] else None
        return self._short_texts[term]

    def _is_matched(self, term: int, text: bytes) -> bool:
        """Whether a text is one of a term's. The terms on the way are not pruned, as those of an automaton are: whether
        they match anything is what is being found out.
        """
        for index in range(len(text)):
            self.derive(term)
            term = self._target(term, text[index])
            if term == NOTHING:
                return False
        return bool(self.accepting[term])

    def _is_known_alive(self, term: int) -> bool:
        """Whether it is known, without a search, that a term other than `NOTHING` matches something."""
        return not self.may_be_empty[term] or bool(self.accepting[term]) or self._life[term] == ALIVE

    def _conclude(self, seen: dict[int, int], waiting: set[int]) -> None:
        """Remembers all that a search tells that met a living term; or the next searches would see the same again.

        What leads to a living term lives. What leads neither to one nor to a term that was still waiting to be looked
        at matches nothing.
        """
        before: dict[int, list[int]] = {}
        living: list[int] = []
        for term in seen:
            if term in waiting:
                continue
            for index in range(self._successor_count(term)):
                target = self._successor(term, index)
                if target == NOTHING:
                    continue
                if self._is_known_alive(target):
                    living.append(term)
                    break
                if target in seen:
                    before.setdefault(target, []).append(term)
        living_before = self._closed(living, before)
        undecided = self._closed(waiting, before)
        for term in seen:
            if term in living_before:
                self._life[term] = ALIVE
            elif term not in undecided:
                self._life[term] = LIFELESS

    @staticmethod
    def _closed(terms: Iterable[int], before: dict[int, list[int]]) -> set[int]:
        """Some terms and all that leads to them."""
        found = set(terms)
        stack = list(found)
        while stack:
            for term in before.get(stack.pop(), ()):
                if term not in found:
                    found.add(term)
                    stack.append(term)
        return found

    def _successor_count(self, term: int) -> int:
        """How many terms a term leads to, at most: by one byte, or past all that a bound is about."""
        if self.kind[term] == K_BOUNDED:
            return 1
        self.derive(term)
        return self._width_of[self.map_at[term]]

    def _successor(self, term: int, index: int) -> int:
        """One of the terms that a term leads to. They are made one by one: a search ends with the first that lives."""
        if self.kind[term] == K_BOUNDED:
            counting, most = self.payload[term]
            least = self.least_begun(counting)
            return self.tail[term] if least < NEVER and least <= most else NOTHING
        return self.materialize(self.targets_at[term] + index)

    def least_begun(self, term: int) -> int:
        """The least number of what a counting term counts that one of its texts begins; NEVER if it has no texts.

        For states that are past that it is 0. A search by that number, remembered along the path that it finds. For
        all others that it looked at, it has shown how many are needed at least: the next searches make for where that
        says, so that each of them shows something new. Without, each search of multiples of some thousand would look
        at all that those before it looked at.

        Sources: Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (1968);
        Koenig, Likhachev, "Adaptive A*" (2005), for the bounds.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.kind[term] != K_COUNTING:
            return 0
        known = self._least_begun[term] - 1
        if known >= 0:
            return known
        if self.accepting[term]:
            return 0
        came_from = {term: NOTHING}
        cost = {term: 0}
        settled: set[int] = set()
        queue = [(self._begun_at_least[term], 0, self.min_len[term], term)]
        best = NEVER
        last = NOTHING
        while queue and queue[0][0] < best:
            lowest, _, _, top = heapq.heappop(queue)
            if top in settled:
                continue
            settled.add(top)
            self.terms_searched += 1
            total = cost[top]
            for index in range(self._successor_count(top)):
                if best <= lowest:  # nothing less is left
                    break
                target = self._successor(top, index)
                if target == NOTHING:
                    continue
                if self.kind[target] != K_COUNTING:
                    known = 0 if self._is_alive(target) else NEVER
                else:
                    known = 0 if self.accepting[target] else self._least_begun[target] - 1
                reached = total + self.begun(top, target)
                if known >= 0:
                    if reached + known < best:
                        best = reached + known
                        last = top
                elif reached < cost.get(target, NEVER):
                    cost[target] = reached
                    came_from[target] = top
                    bound = reached + self._begun_at_least[target]
                    heapq.heappush(queue, (bound, -reached, self.min_len[target], target))
        if best == NEVER:
            for seen in cost:
                self._least_begun[seen] = NEVER + 1
            return NEVER
        for seen in settled:
            self._begun_at_least[seen] = max(self._begun_at_least[seen], best - cost[seen])
        while last != NOTHING:
            self._least_begun[last] = best - cost[last] + 1
            last = came_from[last]
        return best

    def _spread(self, term: int) -> int:
        """The least lengths of an intersection's parts, added up: less when one of them comes nearer to its end."""
        if self.kind[term] != K_INTERSECTION:
            return self.min_len[term]
        return sum([self.min_len[part] for part in self.payload[term]])
