"""Emptiness of terms: whether a term matches any text at all.

A term without intersections, complements and counting terms always matches something: the constructors return NOTHING
otherwise. A term that holds one of these may match nothing although its form does not show this. The intersection of
`ab*` and `a*b` matches `ab`; that of `a+` and `(aa)*b` matches nothing.

To decide, a best-first search follows the derivatives until it reaches an accepting term. Its results are remembered.

A bound on a count takes no part in the search, because each bound would make other terms. The search uses the term
without the bound instead and finds the least count that its texts need (`least_begun`). Every bound is then compared
with that number. The least count takes a search in all directions, of thousands of terms where a pattern may match
anywhere in a string. Most bounds leave plenty of room, so first a search straight to an end looks for any text that
keeps within the bound (`keeps_within`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from structgen.engine.automata.derivatives import Derivatives
from structgen.engine.automata.inclusion import is_all_refused
from structgen.engine.automata.known_texts import KnownTexts
from structgen.engine.constants import (
    ALIVE,
    DEAD,
    EMPTY,
    K_BOUNDED,
    K_COMPLEMENT,
    K_COUNTING,
    K_INTERSECTION,
    K_MULTIPLE,
    K_REPEAT,
    K_UNION,
    LIFELESS,
    NEVER,
    NOTHING,
)
from structgen.engine.deadlines import spend

__all__ = ["Emptiness"]

PROVED_AFTER = 64  # terms of a search; then the forms of the terms are compared, which may end the search
MULTIPLES_TRIED = 8  # of one number of digits
FEW = 16  # terms of a search, after which no multiples are tried
MAX_TRIED = 2_000  # terms that the search straight to an end reaches before it gives up


class Emptiness:
    """Emptiness check of the terms of one table, with the results found so far.

    A term is *alive* if it matches some text, and *dead* otherwise.

    Attributes:
        terms_searched: number of terms that searches have visited so far; a term counts again in each search. A work
            counter for tests.

    Args:
        derivatives: the derivatives of the terms.
    """

    def __init__(self, derivatives: Derivatives) -> None:
        self.derivatives = derivatives
        self.table = derivatives.table
        self.terms = derivatives.terms
        self.partitions = derivatives.partitions
        self.known_texts = KnownTexts(derivatives)
        self.terms_searched = 0
        self._life = self.table.add_column()
        self._least_begun = self.table.add_column()
        self._begun_at_least = self.table.add_column()
        self._begun_at_most = self.table.add_column()
        self._refused: dict[int, dict[int, bool]] = {}

    def pruned(self, term: int) -> int:
        """Return the same language without the alternatives that match nothing; NOTHING if none is left."""
        if not self.table.may_be_empty[term]:
            return term
        if self.table.kind[term] == K_UNION:
            return self.terms.union([part for part in self.table.payload[term] if self.is_alive(part)])
        return term if self.is_alive(term) else NOTHING

    def is_alive(self, term: int) -> bool:
        """Return whether a term matches some text, by a search along the derivatives for an accepting term.

        The search visits the term with the smallest lower bound on the length of its texts first; of several such, the
        one with the smallest `_spread`, then the newest. If it finds a term that is alive, all terms on the path to it
        are alive, and `_conclude` decides others that were reached. If it finds none, all terms it reached are dead.
        Both are remembered.

        Raises:
            LimitExceededError: automaton_states.
        """
        if term == NOTHING:
            return False
        if self._is_known_alive(term):
            return True
        if self.table.kind[term] == K_COUNTING:
            return self.keeps_within(term, NEVER - 1)
        if self._life.values[term] == LIFELESS:
            return False
        if self.table.kind[term] == K_INTERSECTION and (self._has_short_text(term) or self._has_multiple(term)):
            self._life.values[term] = ALIVE
            return True
        if self.known_texts.begun(term) >= 0:
            self._life.values[term] = ALIVE
            return True
        came_from = {term: NOTHING}
        queue = [(self.table.min_len[term], 0, 0, term)]
        order = 0
        looked_at = 0
        refuses = self._has_complement(term)
        while queue:
            _, _, _, top = heapq.heappop(queue)
            looked_at += 1
            self.terms_searched += 1
            spend(2)
            if looked_at == PROVED_AFTER and self._is_proved_empty(term):
                break
            for index in range(self._successor_count(top)):
                spend(1)
                target = self._successor(top, index)
                if target == NOTHING or target in came_from or self._life.values[target] == LIFELESS:
                    continue
                if looked_at > PROVED_AFTER and self._is_hopeless(target):
                    continue
                if (
                    self._is_known_alive(target)
                    or (refuses and self._has_free_text(target))
                    or (looked_at <= FEW and self._has_multiple(target))
                ):
                    path = [target]
                    while top != NOTHING:
                        self._life.values[top] = ALIVE
                        path.append(top)
                        top = came_from[top]
                        looked_at -= 1
                    path.reverse()
                    self.known_texts.add(path)
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
        """Return whether an intersection matches one short text. This is tried before a search.

        The intersection must have exactly one part that is not a complement, as `string & ~keyword1 & ~keyword2` has.
        The text is a shortest one of that part. The method returns True if no complement refuses it, which is the usual
        case. Many intersections have the same part and differ in their complements. They share the text, and the
        derivatives of the intersections are not needed.
        """
        if self.table.tail[term] != EMPTY:
            return False
        plain = NOTHING
        for part in self.table.payload[term]:
            if self.table.kind[part] != K_COMPLEMENT or self.table.tail[part] != EMPTY:
                if plain != NOTHING or self.table.may_be_empty[part]:
                    return False
                plain = part
        text = self.short_text(plain) if plain != NOTHING else None
        if text is None:
            return False
        for part in self.table.payload[term]:
            if part != plain and self.is_matched(self.table.payload[part], text):
                return False
        return True

    def short_text(self, term: int) -> bytes | None:
        """Return a short text of a term, or None; see `KnownTexts.shortest`."""
        return self.known_texts.shortest(term)

    def _has_multiple(self, term: int) -> bool:
        """Return whether a term matches one of a few multiples, and remember it; see `_begun_by_multiple`."""
        if self._begun_by_multiple(term) < 0:
            return False
        self._life.values[term] = ALIVE
        return True

    def _begun_by_multiple(self, term: int) -> int:
        """Try the digits of a few multiples, where a term asks for multiples of a number.

        A search would visit remainder after remainder: one number in 4,004 is a multiple of 4,004.

        Returns:
            How many of the counted texts one such text begins; -1 if none of the tried texts is matched.
        """
        number = self._multiple_in(term)
        if number == NOTHING:
            return -1
        divisor, remainder, _ = self.table.payload[number]
        least = len(str(divisor))
        for length in range(least, least + 2):
            first = -remainder * 10**length % divisor
            for step in range(MULTIPLES_TRIED):
                digits = str(first + step * divisor)
                if len(digits) > length:
                    break
                begun = self._begun_by(term, digits.rjust(length, "0").encode())
                if begun >= 0:
                    return begun
        return -1

    def _multiple_in(self, term: int) -> int:
        """Return a multiple of one number that the texts of a term begin with, or NOTHING."""
        kind, payload = self.table.kind, self.table.payload
        if kind[term] == K_COUNTING:
            term = payload[term][2]
        for part in payload[term] if kind[term] == K_INTERSECTION else (term,):
            for inner in payload[part] if kind[part] == K_INTERSECTION else (part,):
                if kind[inner] == K_MULTIPLE and not payload[inner][2]:
                    return int(inner)
        return NOTHING

    def _begun_by(self, term: int, digits: bytes) -> int:
        """Return how many of the counted texts begin in a text of a term: some digits, and a short text after them.

        The result is -1 if the term does not match that text.
        """
        begun = 0
        rest = self.short_text(self._after(term, digits))
        if rest is None:
            return -1
        for byte in digits + rest:
            after = self.derivatives.target(term, byte)
            begun += self.derivatives.begun(term, after)
            term = after
        return begun

    def _after(self, term: int, text: bytes) -> int:
        """Return what a term leaves after a text; NOTHING if none of its texts begins so."""
        for index in range(len(text)):
            if term == NOTHING:
                break
            self.derivatives.derive(term)
            term = self.derivatives.target(term, text[index])
        return term

    def _has_complement(self, term: int) -> bool:
        """Return whether a term is an intersection with a complement."""
        if self.table.kind[term] != K_INTERSECTION:
            return False
        for part in self.table.payload[term]:  # noqa: SIM110  (a generator would not be compiled)
            if self.table.kind[part] == K_COMPLEMENT:
                return True
        return False

    def _has_free_text(self, term: int) -> bool:
        """Return whether a term without complements has a short text, and remember that; see `short_text`.

        For a search that begins with a complement. In "an e-mail address that is no URI", every address may follow
        `a^`, as no URI has that character. A search by length alone would first visit all ends that are too short.
        """
        kind = self.table.kind[term]
        if kind != K_BOUNDED and (kind != K_INTERSECTION or self._has_complement(term)):
            return False
        if self.short_text(term) is None:
            return False
        self._life.values[term] = ALIVE
        return True

    def is_matched(self, term: int, text: bytes) -> bool:
        """Return whether a term matches a text.

        Unlike the states of an automaton, the derivatives on the way are not pruned, because pruning calls this method.
        """
        term = self._after(term, text)
        return bool(self.table.accepting[term])

    def _is_known_alive(self, term: int) -> bool:
        """Return whether a term is known to be alive without a search. The term must not be NOTHING."""
        return not self.table.may_be_empty[term] or bool(self.table.accepting[term]) or self._life.values[term] == ALIVE

    def _conclude(self, seen: dict[int, int], waiting: set[int]) -> None:
        """Remember what a successful search tells of the terms off its path, so that no later search repeats the work.

        A term that leads to a term that is alive is alive. A term that leads neither to one nor to a term that still
        waits in the queue is dead. The others stay undecided.

        Args:
            seen: the terms that the search has reached, as keys.
            waiting: those of them that it has not visited.
        """
        before: dict[int, list[int]] = {}
        living: list[int] = []
        for term in seen:
            if term in waiting:
                continue
            for index in range(self._successor_count(term)):
                spend(1)
                target = self._successor(term, index)
                if target == NOTHING:
                    continue
                if self._is_known_alive(target):
                    living.append(term)
                    break
                if target in seen:
                    before.setdefault(target, []).append(term)
        living_before = self._leading_to(living, before)
        undecided = self._leading_to(waiting, before)
        for term in seen:
            if term in living_before:
                self._life.values[term] = ALIVE
            elif term not in undecided:
                self._life.values[term] = LIFELESS

    @staticmethod
    def _leading_to(terms: Iterable[int], before: dict[int, list[int]]) -> set[int]:
        """Return some terms and all terms that lead to them.

        Args:
            terms: the terms to begin with.
            before: for a term, the terms that lead to it by one byte.
        """
        found = set(terms)
        stack = list(found)
        while stack:
            for term in before.get(stack.pop(), ()):
                if term not in found:
                    found.add(term)
                    stack.append(term)
        return found

    def _successor_count(self, term: int) -> int:
        """Return the number of successors of a term in the search, some of which may be NOTHING.

        These are the derivatives; for a bounded term, only the term after the bounded part (see `_successor`).
        """
        if self.table.kind[term] == K_BOUNDED:
            return 1
        self.derivatives.derive(term)
        return self.partitions.width_of[self.partitions.map_at.values[term]]

    def _successor(self, term: int, index: int) -> int:
        """Return one successor of a term in the search.

        Successors are evaluated one by one, because a search ends at the first that is alive. The successor of a
        bounded term is its tail if some text of the counting term keeps within the bound, else NOTHING.
        """
        if self.table.kind[term] == K_BOUNDED:
            counting, most = self.table.payload[term]
            return self.table.tail[term] if self.keeps_within(counting, most) else NOTHING
        return self.derivatives.materialize(self.partitions.targets_at.values[term] + index)

    def keeps_within(self, term: int, most: int) -> bool:
        """Return whether some text of a counting term begins at most `most` of the counted texts.

        Raises:
            LimitExceededError: automaton_states.
        """
        most = min(most, NEVER - 1)
        if self.table.kind[term] != K_COUNTING or self.table.accepting[term]:
            return True
        known = self._least_begun.values[term] - 1
        if known >= 0:
            return known <= most
        at_least, at_most = self._begun_at_least.values[term], self._begun_at_most.values[term] - 1
        if at_least > most:
            return False
        if 0 <= at_most <= most:
            return True
        begun = self._begun_by_multiple(term) if at_least == 0 and at_most < 0 else -1
        if begun >= 0:
            self._begun_at_most.values[term] = begun + 1
            if begun <= most:
                return True
        if at_least == 0 and at_most < 0:
            begun = self.known_texts.begun(term, most)
            if begun >= 0:
                self._begun_at_most.values[term] = begun + 1
                return True
        # With a lower bound, an earlier search in all directions was here. The next one is fast, as it uses the bound,
        # which the search straight to an end does not.
        return (at_least == 0 and self._ends_within(term, most)) or self.least_begun(term, most) <= most

    def _ends_within(self, term: int, most: int) -> bool:
        """Return whether a search straight to an end finds a text that begins at most `most` of the counted texts.

        The search visits the term with the smallest lower bound on the length of its texts first. If it finds a text,
        the counts of the terms on its path are remembered as upper bounds. False does not mean that there is no text.
        Where the forms of the terms show that there is none, that is remembered.
        """
        came_from = {term: NOTHING}
        cost = {term: 0}
        queue = [(self.table.min_len[term], 0, term)]
        order = 0
        looked_at = 0
        while queue and len(cost) < MAX_TRIED:
            _, _, top = heapq.heappop(queue)
            looked_at += 1
            self.terms_searched += 1
            if looked_at == PROVED_AFTER and self._is_proved_empty(self.table.payload[term][2]):
                self._least_begun.values[term] = NEVER + 1
                return False
            total = cost[top]
            for index in range(self._successor_count(top)):
                spend(1)
                target = self._successor(top, index)
                if target == NOTHING or target in cost:
                    continue
                if looked_at > PROVED_AFTER and self._is_hopeless(target):
                    continue
                reached = total + self.derivatives.begun(top, target)
                rest = self._known_count(target)
                if reached > most or rest == NEVER:
                    continue
                if rest >= 0 and reached + rest <= most:
                    path = [target]
                    while top != NOTHING:
                        self._begun_at_most.values[top] = reached + rest - cost[top] + 1
                        path.append(top)
                        top = came_from[top]
                    path.reverse()
                    self.known_texts.add(path)
                    return True
                cost[target] = reached
                came_from[target] = top
                order -= 1
                heapq.heappush(queue, (self.table.min_len[target], order, target))
        return False

    def _is_proved_empty(self, term: int) -> bool:
        """Return whether the form of a term shows that it matches nothing."""
        if self.table.kind[term] != K_INTERSECTION:
            return False
        return self.terms.alphabets.leave_nothing(self.table.payload[term]) or is_all_refused(
            self.terms, term, self._refused
        )

    def _is_hopeless(self, term: int) -> bool:
        """Return whether the form of a term shows that it matches nothing, for terms that a long search reaches.

        Its texts would need more bytes than its form allows, or a character that one of its parts does not have: "an
        e-mail address with a colon" needs it before the `@` or in brackets, so no host name has to be followed.
        """
        alphabets = self.terms.alphabets
        if alphabets.longest(term) < self.table.min_len[term]:
            return True
        for part in self.table.payload[term] if self.table.kind[term] == K_UNION else (term,):
            if self.table.kind[part] == K_COUNTING:
                part = self.table.payload[part][2]
            if self.table.kind[part] != K_INTERSECTION or not alphabets.leave_nothing(self.table.payload[part]):
                return False
        return True

    def _known_count(self, term: int) -> int:
        """Return a count that some text of a term is known to keep within; NEVER if it has none, -1 if not known."""
        if self.table.kind[term] != K_COUNTING:
            return 0 if self.is_alive(term) else NEVER
        if self.table.accepting[term]:
            return 0
        least = self._least_begun.values[term] - 1
        return least if least >= 0 else self._begun_at_most.values[term] - 1

    def least_begun(self, term: int, most: int = NEVER) -> int:
        """Return the least count that a text of a counting term needs; NEVER if the term has no texts.

        For a term that does not count, or no longer does, the result is 0. If the least count is known to be more than
        `most`, the result is a lower bound: a term without texts may lead to very many others.

        An A* search over the derivatives, where a byte costs 1 if it begins one more of the counted texts, else 0. The
        results for the terms on the path it finds are remembered. For every other term it visited, the search has
        proved a lower bound: the least count of the start, minus the cost to reach the term. Later searches use these
        bounds as their heuristic and so do not visit the same terms again. Without them, each search for a multiple of
        some thousand would repeat all earlier ones. So does the least count of a term, and a term needs no fewer than
        the term before it, but for the one that the byte begins. These bounds do not agree with each other, so a term
        is visited again where a later path to it costs less.

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
        floor = {term: max(self._begun_at_least.values[term], self._least_by_form(term))}
        settled: set[int] = set()
        queue = [(floor[term], 0, self.table.min_len[term], term)]
        best = NEVER
        last = NOTHING
        while queue and queue[0][0] < best:
            lowest, _, _, top = heapq.heappop(queue)
            if top in settled:
                continue
            if lowest > most:
                for seen in settled:
                    self._begun_at_least.values[seen] = max(self._begun_at_least.values[seen], lowest - cost[seen])
                return lowest
            settled.add(top)
            self.terms_searched += 1
            if len(settled) == PROVED_AFTER and self._is_proved_empty(self.table.payload[term][2]):
                best = NEVER
                break
            total = cost[top]
            for index in range(self._successor_count(top)):
                spend(1)
                if best <= lowest:  # no path with a lower cost is left
                    break
                target = self._successor(top, index)
                if target == NOTHING or (len(settled) > PROVED_AFTER and self._is_hopeless(target)):
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
                    settled.discard(target)
                    known = floor[target] = max(
                        floor.get(target, self._begun_at_least.values[target]),
                        floor[top] - reached + total,
                        self._least_by_form(target),
                    )
                    heapq.heappush(queue, (reached + known, -reached, self.table.min_len[target], target))
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

    def _least_by_form(self, term: int) -> int:
        """Return the least count among the conditions of a counting term; 0 within a counted text."""
        if not self.derivatives.is_between(term):
            return 0
        star, _, inner = self.table.payload[term]
        least = 0
        for part in self.terms.conjuncts(inner):
            if self.table.kind[part] == K_REPEAT and self.table.tail[part] == self.table.tail[star]:
                body, low, _ = self.table.payload[part]
                if body == self.table.payload[star][0]:
                    least = max(least, low)
        return least

    def _spread(self, term: int) -> int:
        """Return the sum of the minimal lengths of an intersection's parts; the search prefers terms with a small sum.

        The sum becomes smaller when any part comes nearer to its end; the minimal length of the intersection need not.
        """
        if self.table.kind[term] != K_INTERSECTION:
            return self.table.min_len[term]
        return sum([self.table.min_len[part] for part in self.table.payload[term]])

    # -- derivatives that are alive ---------------------------------------------------------------------------------

    def live_target(self, at: int) -> int:
        """Return the state at a position of the target pool; DEAD if it matches nothing.

        Raises:
            LimitExceededError: automaton_states.
        """
        target = self.partitions.target_pool[at]
        if target < 0:
            # Pruning keeps the language, so the pruned term can replace the derivative in the pool.
            target = self.pruned(self.derivatives.materialize(at))
            self.partitions.target_pool[at] = target
        return target

    def successors(self, state: int) -> dict[int, int]:
        """Return the states after one more byte, each with the bytes that lead to it; bit b of the number is byte b.

        For a state of `[ab]c`: `{state of c: 1 << 97 | 1 << 98}`.

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
