"""Emptiness of terms: whether a term matches any text at all.

Only intersections and complements may match nothing without saying so; to know takes a search for an accepting term
along the derivatives, best first and remembered. A bound on a count is left out of the search: for the term without
the bound it finds the least count that is still needed, which serves all bounds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from structgen.engine.automata.derivatives import Derivatives
from structgen.engine.constants import (
    ALIVE,
    DEAD,
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

__all__ = ["Emptiness"]

SHORT_TEXT = 32  # bytes, looked at before a search


class Emptiness:
    """Tells whether terms match anything, and the derivatives of a term that do.

    Attributes:
        terms_searched: terms looked at by searches so far, each time anew (a work counter for tests).

    Args:
        derivatives: of the terms.
    """

    def __init__(self, derivatives: Derivatives) -> None:
        self.derivatives = derivatives
        self.table = derivatives.table
        self.terms = derivatives.terms
        self.partitions = derivatives.partitions
        self.terms_searched = 0
        self._life = self.table.add_column()
        self._least_begun = self.table.add_column()
        self._begun_at_least = self.table.add_column()
        self._short_texts: dict[int, bytes | None] = {}

    def pruned(self, term: int) -> int:
        """Return the same language, without alternatives that match nothing; 0 if nothing is left."""
        if not self.table.may_be_empty[term]:
            return term
        if self.table.kind[term] == K_UNION:
            return self.terms.union([part for part in self.table.payload[term] if self.is_alive(part)])
        return term if self.is_alive(term) else NOTHING

    def is_alive(self, term: int) -> bool:
        """Return whether some text is matched from a term: a search for an accepting term along the derivatives.

        The search goes first where the least length of what is missing is smallest, then where it went last. It
        remembers the path it found, and what it has learned besides; when there is none, all that it saw is dead.

        Raises:
            LimitExceededError: automaton_states.
        """
        if term == NOTHING:
            return False
        if self._is_known_alive(term):
            return True
        if self.table.kind[term] == K_COUNTING:
            return self.least_begun(term) < NEVER
        if self._life.values[term] == LIFELESS:
            return False
        if self.table.kind[term] == K_INTERSECTION and self._has_short_text(term):
            self._life.values[term] = ALIVE
            return True
        came_from = {term: NOTHING}
        queue = [(self.table.min_len[term], 0, 0, term)]
        order = 0
        looked_at = 0
        while queue:
            _, _, _, top = heapq.heappop(queue)
            looked_at += 1
            self.terms_searched += 1
            for index in range(self._successor_count(top)):
                target = self._successor(top, index)
                if target == NOTHING or target in came_from or self._life.values[target] == LIFELESS:
                    continue
                if self._is_known_alive(target):
                    while top != NOTHING:
                        self._life.values[top] = ALIVE
                        top = came_from[top]
                        looked_at -= 1
                    if looked_at > 0:
                        self._conclude(came_from, {waiting for _, _, _, waiting in queue})
                    return True
                came_from[target] = top
                order -= 1
                heapq.heappush(queue, (self.table.min_len[target], self._spread(target), order, target))
        for seen in came_from:
            self._life.values[seen] = LIFELESS
        return False

    def _has_short_text(self, term: int) -> bool:
        """Return whether an intersection matches one short text, which is tried before a search.

        It is a text of the only part that is no complement, and the complements must not refuse it; most do not. The
        text belongs to many terms that differ in what they refuse, and their derivatives are not made.
        """
        if self.table.tail[term] != EMPTY:
            return False
        plain = NOTHING
        for part in self.table.payload[term]:
            if self.table.kind[part] != K_COMPLEMENT or self.table.tail[part] != EMPTY:
                if plain != NOTHING or self.table.may_be_empty[part]:
                    return False
                plain = part
        text = self._short_text(plain) if plain != NOTHING else None
        if text is None:
            return False
        for part in self.table.payload[term]:
            if part != plain and self._is_matched(self.table.payload[part], text):
                return False
        return True

    def _short_text(self, term: int) -> bytes | None:
        """Return a shortest text of a term without intersections or complements; None if it is not short."""
        if term not in self._short_texts:
            text = bytearray()
            at = term
            while not self.table.accepting[at] and len(text) < SHORT_TEXT:
                nearest = NOTHING
                byte = 0
                self.derivatives.derive(at)
                first = self.partitions.targets_at.values[at]
                for number in range(self.partitions.width_of[self.partitions.map_at.values[at]]):
                    target = self.derivatives.materialize(first + number)
                    if target != NOTHING and (
                        nearest == NOTHING or self.table.min_len[target] < self.table.min_len[nearest]
                    ):
                        nearest = target
                        byte = self.partitions.byte_of[self.partitions.map_at.values[at] * 256 + number]
                text.append(byte)
                at = nearest
            self._short_texts[term] = bytes(text) if self.table.accepting[at] else None
        return self._short_texts[term]

    def _is_matched(self, term: int, text: bytes) -> bool:
        """Return whether a term matches a text.

        The terms on the way are not pruned, unlike the states of an automaton: pruning calls this method.
        """
        for index in range(len(text)):
            self.derivatives.derive(term)
            term = self.derivatives.target(term, text[index])
            if term == NOTHING:
                return False
        return bool(self.table.accepting[term])

    def _is_known_alive(self, term: int) -> bool:
        """Return whether it is known, without a search, that a term other than `NOTHING` matches something."""
        return not self.table.may_be_empty[term] or bool(self.table.accepting[term]) or self._life.values[term] == ALIVE

    def _conclude(self, seen: dict[int, int], waiting: set[int]) -> None:
        """Remember all that a search tells that met a living term; or the next searches would see the same again.

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
                self._life.values[term] = ALIVE
            elif term not in undecided:
                self._life.values[term] = LIFELESS

    @staticmethod
    def _closed(terms: Iterable[int], before: dict[int, list[int]]) -> set[int]:
        """Return some terms and all that leads to them."""
        found = set(terms)
        stack = list(found)
        while stack:
            for term in before.get(stack.pop(), ()):
                if term not in found:
                    found.add(term)
                    stack.append(term)
        return found

    def _successor_count(self, term: int) -> int:
        """Return how many terms a term leads to, at most: by one byte, or past all that a bound is about."""
        if self.table.kind[term] == K_BOUNDED:
            return 1
        self.derivatives.derive(term)
        return self.partitions.width_of[self.partitions.map_at.values[term]]

    def _successor(self, term: int, index: int) -> int:
        """Return a term that a term leads to. They are made one by one: a search ends with the first that lives."""
        if self.table.kind[term] == K_BOUNDED:
            counting, most = self.table.payload[term]
            least = self.least_begun(counting)
            return self.table.tail[term] if least < NEVER and least <= most else NOTHING
        return self.derivatives.materialize(self.partitions.targets_at.values[term] + index)

    def least_begun(self, term: int) -> int:
        """Return the least count that a text of a counting term needs; NEVER if the term has no texts.

        For states that are past that it is 0. A search by that number, remembered along the path that it finds. For
        all others that it looked at, it has shown how many are needed at least: the next searches make for where that
        says, so that each of them shows something new. Without, each search of multiples of some thousand would look
        at all that those before it looked at.

        Sources: Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (1968);
        Koenig, Likhachev, "Adaptive A*" (2005), for the bounds.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.table.kind[term] != K_COUNTING:
            return 0
        known = self._least_begun.values[term] - 1
        if known >= 0:
            return known
        if self.table.accepting[term]:
            return 0
        came_from = {term: NOTHING}
        cost = {term: 0}
        settled: set[int] = set()
        queue = [(self._begun_at_least.values[term], 0, self.table.min_len[term], term)]
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
                if self.table.kind[target] != K_COUNTING:
                    known = 0 if self.is_alive(target) else NEVER
                else:
                    known = 0 if self.table.accepting[target] else self._least_begun.values[target] - 1
                reached = total + self.derivatives.begun(top, target)
                if known >= 0:
                    if reached + known < best:
                        best = reached + known
                        last = top
                elif reached < cost.get(target, NEVER):
                    cost[target] = reached
                    came_from[target] = top
                    bound = reached + self._begun_at_least.values[target]
                    heapq.heappush(queue, (bound, -reached, self.table.min_len[target], target))
        if best == NEVER:
            for seen in cost:
                self._least_begun.values[seen] = NEVER + 1
            return NEVER
        for seen in settled:
            self._begun_at_least.values[seen] = max(self._begun_at_least.values[seen], best - cost[seen])
        while last != NOTHING:
            self._least_begun.values[last] = best - cost[last] + 1
            last = came_from[last]
        return best

    def _spread(self, term: int) -> int:
        """Return the sum of the least lengths of an intersection's parts, which falls as any of them nears its end."""
        if self.table.kind[term] != K_INTERSECTION:
            return self.table.min_len[term]
        return sum([self.table.min_len[part] for part in self.table.payload[term]])

    # -- derivatives that match something ---------------------------------------------------------------------------

    def live_target(self, at: int) -> int:
        """Return the state at a position of the target pool, DEAD if nothing is matched from it.

        Raises:
            LimitExceededError: automaton_states.
        """
        target = self.partitions.target_pool[at]
        if target < 0:
            # The language stays the same, so the term may keep this for its derivatives too.
            target = self.pruned(self.derivatives.materialize(at))
            self.partitions.target_pool[at] = target
        return target

    def successors(self, state: int) -> dict[int, int]:
        """Return the states after one more byte, each with these bytes as bits of a number.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derivatives.derive(state)
        classes = self.partitions.class_bytes(self.partitions.map_at.values[state])
        found: dict[int, int] = {}
        for number in range(len(classes)):
            target = self.live_target(self.partitions.targets_at.values[state] + number)
            if target != DEAD:
                found[target] = found.get(target, 0) | classes[number]
        return found
