"""Hash-consed terms: the residual languages of byte automata, each a number.

A term is a *head* followed by a *tail*, which is again a term; or a union of such terms; or one of three constants.
Concatenation is right-associated and unions are distributed over it on the left (as in Antimirov's partial
derivatives), so that the term of a state is a set of sequences, much like a set of positions of an NFA. Equal terms
get one number. The constructors keep a normal form (unions are flat, sorted and without duplicates; neighbouring
literals are joined; repetitions stay counted, and those of one body merge), which makes many equal languages
equal terms: the more, the better the sharing. Equality of terms is sound, but not complete, for equality of languages.

Those of regular expressions are made in `regular_terms.py`; here, what languages have besides: intersections and
complements, counts that are bounded, shortest matches, the texts of a table, of a suffix automaton, multiples.

Sources: Brzozowski, "Derivatives of Regular Expressions" (1964); Antimirov, "Partial Derivatives of Regular Expressions
and Finite Automaton Constructions" (1996); Owens, Reppy, Turon, "Regular-expression derivatives reexamined" (2009).
"""

from __future__ import annotations

from collections.abc import Iterable

from structgen.engine.automata.inclusion import is_part_of
from structgen.engine.automata.regular_terms import RegularTerms
from structgen.engine.automata.term_table import power_of_two
from structgen.engine.constants import (
    ALL,
    EMPTY,
    FAR,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_COUNTING,
    K_EARLY,
    K_INTERSECTION,
    K_LITERAL,
    K_MULTIPLE,
    K_REPEAT,
    K_SUBSTRINGS,
    K_TABLE,
    K_UNION,
    NOTHING,
)
from structgen.engine.pair_table import PairTable
from structgen.limits import Limits

__all__ = ["Terms"]


class Terms(RegularTerms):
    """A table of terms with all constructors: beyond regular expressions those of intersections, complements and bounds
    on counts, of shortest matches, and of texts that a table or an automaton spells.
    """

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        super().__init__(limits, capacity)
        self._part_of: dict[tuple[int, int], bool] = {}
        self._intersections_of_two = PairTable(power_of_two(capacity))

    def intersection(self, parts: Iterable[int], tail: int) -> int:
        """What all parts match, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        found: set[int] = set()
        refused: list[int] = []
        for part in parts:
            if part == NOTHING:
                return NOTHING
            for term in self.conjuncts(part):
                if self.kind[term] == K_COMPLEMENT and self.tail[term] == EMPTY:
                    refused.append(self.payload[term])
                elif term != ALL:
                    found.add(term)
        if refused:
            excluded = self.union(refused)
            if excluded in found or excluded == ALL or self._is_all_refused(found, excluded):
                return NOTHING
            if excluded != NOTHING:
                found.add(self.complement(excluded, EMPTY))
        if len(found) > 1:
            self._drop_covering(found)
            if not self._merge_counts(found):
                return NOTHING
        if EMPTY in found:
            return tail if self._all_accepting(found) else NOTHING
        if not found:
            return self.append(ALL, tail)
        if len(found) == 1:
            return self.append(found.pop(), tail)
        for part in sorted(found):
            if self._is_bounded(part) or self._is_countable(part):
                return self._bounded_by(part, found, tail)
        least = max([self.min_len[t] for t in found])
        accepting = 1 if self.accepting[tail] and self._all_accepting(found) else 0
        return self._intern(
            K_INTERSECTION, tuple(sorted(found)), tail, accepting, 1, self._sum(least, self.min_len[tail])
        )

    def conjuncts(self, term: int) -> tuple[int, ...]:
        """What a term is the intersection of: itself alone if it is none."""
        if self.kind[term] != K_INTERSECTION or self.tail[term] != EMPTY:
            return (term,)
        parts: tuple[int, ...] = self.payload[term]
        return parts

    def intersect(self, left: int, right: int) -> int:
        """What both of two terms match."""
        if left == NOTHING or right == NOTHING:
            return NOTHING
        if left > right:
            left, right = right, left
        done = self._intersections_of_two.get(left, right)
        if done < 0:
            done = self.intersection((left, right), EMPTY)
            self._intersections_of_two.put(left, right, done)
        return done

    def _is_all_refused(self, parts: set[int], refused: int) -> bool:
        """Whether all texts of one of some parts are among those refused, C*·R, as far as their forms show it."""
        for term in self.payload[refused] if self.kind[refused] == K_UNION else (refused,):
            if not self._is_star(term):
                continue
            body = self.payload[term][0]
            rest = self.tail[term]
            for end in self.payload[rest] if self.kind[rest] == K_UNION else (rest,):
                if self.kind[end] == K_LITERAL and self.tail[end] == EMPTY:
                    star = self.repeat(body, 0, -1, end)
                    for part in parts:
                        if self._is_within(part, star):
                            return True
        return False

    def _drop_covering(self, found: set[int]) -> None:
        """Leaves out the parts of an intersection that are a star over all that some other part is made of."""
        for star in sorted(found):
            if self._is_star(star) and any(self._is_within(other, star) for other in found if other != star):
                found.discard(star)

    def _merge_counts(self, found: set[int]) -> bool:
        """In an intersection, joins D{m,n}·R and C{p,q}·R if texts begin as many D as C; False if no count is left."""
        waiting = sorted([term for term in found if self.kind[term] == K_REPEAT], reverse=True)
        apart: list[int] = []
        while waiting:
            term = waiting.pop()
            for other in apart:
                narrow = term if self._counts_alike(term, other) else other
                if narrow == other and not self._counts_alike(other, term):
                    continue
                body, low, high = self.payload[narrow]
                _, least, most = self.payload[other if narrow == term else term]
                low = max(low, least)
                high = most if high < 0 else high if most < 0 else min(high, most)
                if 0 <= high < low:
                    return False
                joined = self.repeat(body, low, high, self.tail[narrow])
                apart.remove(other)
                found.difference_update((term, other))
                found.add(joined)
                if self.kind[joined] == K_REPEAT:
                    waiting.append(joined)
                break
            else:
                apart.append(term)
        return True

    def _counts_alike(self, narrow: int, wide: int) -> bool:
        """Whether a text of `narrow`, which is D{m,n}·R, and of `wide`, which is C{p,q}·R, begins as many D as C.

        It does if each D is one C, C is a prefix code, and R begins as no C does.
        """
        rest = self.tail[narrow]
        if self.tail[wide] != rest:
            return False
        body = self.payload[narrow][0]
        wider = self.payload[wide][0]
        return self._is_countable_with(wider, rest) and (body == wider or self._is_part_of(body, wider))

    def _is_part_of(self, term: int, other: int) -> bool:
        """Whether each text of a term is one of another, as far as their forms show it."""
        key = (term, other)
        found = self._part_of.get(key)
        if found is None:
            found = self._part_of[key] = is_part_of(self, term, other, self._cover(other))
            self._count_pairs(1)
        return found

    def _is_bounded(self, term: int) -> bool:
        """Whether a term is a bounded one with nothing behind."""
        return self.kind[term] == K_BOUNDED and self.tail[term] == EMPTY

    def _is_countable(self, term: int) -> bool:
        """Whether a term is C{m,n}·R with a greatest count n, where what has been read tells how many C were begun.

        R is nothing or one literal, such as a quote: what is counted must not come again behind it.
        """
        if self.kind[term] != K_REPEAT:
            return False
        return bool(self.payload[term][2] >= 0) and self._is_countable_with(self.payload[term][0], self.tail[term])

    def _is_countable_with(self, body: int, rest: int) -> bool:
        """Whether what has been read of any C{m,n}·R tells how many C were begun."""
        if not self._is_code(body):
            return False
        is_literal = self.kind[rest] == K_LITERAL and self.tail[rest] == EMPTY
        return rest == EMPTY or (is_literal and self._begin_apart(body, rest))

    def _bounded_by(self, bound: int, found: set[int], tail: int) -> int:
        """An intersection one part of which, `bound`, holds a bound of a count, with that bound taken out of it."""
        if self._is_bounded(bound):
            star, phase, _ = self.payload[self.payload[bound][0]]
        else:
            star = self.repeat(self.payload[bound][0], 0, -1, self.tail[bound])
            phase = EMPTY
        body = self.payload[star][0]
        rest = self.tail[star]
        least = 0
        most = FAR
        others: list[int] = []
        for part in found:
            if (
                phase == EMPTY
                and self.kind[part] == K_REPEAT
                and self.payload[part][0] == body
                and self.tail[part] == rest
            ):
                _, low, high = self.payload[part]
                least = max(least, low)
                most = min(most, high) if high >= 0 else most
                continue
            if self._is_bounded(part):
                inner, high = self.payload[part]
                if self.payload[inner][0] == star and self.payload[inner][1] == phase:
                    most = min(most, high)
                    part = self.payload[inner][2]
            others.append(part)
        if least > most:
            return NOTHING
        if least:
            others.append(self.repeat(body, least, -1, rest))
        return self.bounded(self.counting(star, phase, self.intersection(others, EMPTY)), most, tail)

    def counting(self, star: int, phase: int, term: int) -> int:
        """The texts of `term` that spell `phase` and then `star`, which is C*·R: how many C they begin is counted.

        Here C is a prefix code, R is EMPTY or a literal that begins as no C does, and `phase` is what is left of a C
        that has begun, or EMPTY. So each beginning of a text tells how many C it begins.
        """
        if term == NOTHING:
            return NOTHING
        whole = self.append(phase, star)
        if term == whole:
            term = ALL
        elif self.kind[term] == K_INTERSECTION and self.tail[term] == EMPTY and whole in self.payload[term]:
            term = self.intersection([part for part in self.payload[term] if part != whole], EMPTY)
        accepting = 1 if self.accepting[whole] and self.accepting[term] else 0
        least = max(self.min_len[whole], self.min_len[term])
        return self._intern(K_COUNTING, (star, phase, term), EMPTY, accepting, 1, least)

    def bounded(self, counting: int, most: int, tail: int) -> int:
        """The texts of a counting term that begin at most so many of what it counts, then `tail`."""
        if most < 0 or tail == NOTHING or counting == NOTHING:
            return NOTHING
        star, phase, term = self.payload[counting]
        body = self.payload[star][0]
        rest = self.tail[star]
        if term == ALL:
            return self.append(self.append(phase, self.repeat(body, 0, most, rest)), tail)
        if phase == EMPTY and self.kind[term] == K_REPEAT and self.tail[term] == rest:
            inner, low, high = self.payload[term]
            if inner == body and high < 0:
                return self.append(self.repeat(body, low, most, rest), tail) if low <= most else NOTHING
        accepting = 1 if self.accepting[counting] and self.accepting[tail] else 0
        least = self._sum(self.min_len[counting], self.min_len[tail])
        return self._intern(K_BOUNDED, (counting, most), tail, accepting, 1, least)

    def complement(self, term: int, tail: int) -> int:
        """Every byte string that `term` does not match, then `tail`."""
        if tail == NOTHING or term == ALL:
            return NOTHING
        if term == NOTHING:
            return self.append(ALL, tail)
        if self.kind[term] == K_COMPLEMENT and self.tail[term] == EMPTY:
            return self.append(self.payload[term], tail)
        accepting = 0 if self.accepting[term] else 1
        return self._intern(
            K_COMPLEMENT,
            term,
            tail,
            1 if accepting and self.accepting[tail] else 0,
            1,
            self._sum(1 - accepting, self.min_len[tail]),
        )

    def early(self, term: int, tail: int) -> int:
        """The shortest matches of `term` along each text, then `tail`."""
        if term == NOTHING or tail == NOTHING:
            return NOTHING
        prefix: list[int] = []  # heads that are no prefix of one another: the early end lies after them
        while K_LITERAL <= self.kind[term] <= K_CHARS:
            prefix.append(term)
            term = self.tail[term]
        if self.accepting[term]:
            result = tail
        else:
            result = self._intern(
                K_EARLY, term, tail, 0, 1 if self.may_be_empty[term] or self.may_be_empty[tail] else 0,
                self._sum(self.min_len[term], self.min_len[tail]),
            )  # fmt: skip
        while prefix:
            result = self.with_tail(prefix.pop(), result)
        return result

    def table(self, number: int, low: int, high: int, depth: int, tail: int) -> int:
        """What is left after `depth` bytes of the texts `low` to `high - 1` of a table, then `tail`."""
        if low >= high or tail == NOTHING:
            return NOTHING
        texts = self._tables[number]
        if high - low == 1:
            return self.literal(texts[low][depth:], tail)
        ends = len(texts[low]) == depth
        accepting = 1 if ends and self.accepting[tail] else 0
        return self._intern(
            K_TABLE,
            (number, low, high, depth),
            tail,
            accepting,
            self.may_be_empty[tail],
            self._sum(0 if ends else 1, self.min_len[tail]),
        )

    def substrings(self, number: int, state: int, tail: int) -> int:
        """What a suffix automaton spells from one of its states, ending anywhere, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        return self._intern(
            K_SUBSTRINGS, (number, state), tail, self.accepting[tail], self.may_be_empty[tail], self.min_len[tail]
        )

    def multiple(self, divisor: int, remainder: int, tail: int) -> int:
        """Digits that, read on from a remainder, make a multiple of a divisor, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        return self._intern(
            K_MULTIPLE,
            (divisor, remainder),
            tail,
            self.accepting[tail] if remainder == 0 else 0,
            self.may_be_empty[tail],
            self._sum(1 if remainder else 0, self.min_len[tail]),
        )

    def with_tail(self, term: int, tail: int) -> int:
        """The head of a sequence before another tail."""
        if tail == NOTHING:
            return NOTHING
        kind = self.kind[term]
        payload = self.payload[term]
        if kind == K_LITERAL:
            return self.literal(payload, tail)
        if kind == K_BYTES:
            return self.byte_set(payload, tail)
        if kind == K_CHARS:
            return self._char_class(payload, tail)
        if kind == K_REPEAT:
            body, low, high = payload
            return self.repeat(body, low, high, tail)
        if kind == K_INTERSECTION:
            return self.intersection(payload, tail)
        if kind == K_COMPLEMENT:
            return self.complement(payload, tail)
        if kind == K_EARLY:
            return self.early(payload, tail)
        if kind == K_TABLE:
            number, low, high, depth = payload
            return self.table(number, low, high, depth, tail)
        if kind == K_BOUNDED:
            return self.bounded(payload[0], payload[1], tail)
        if kind == K_COUNTING:
            star, phase, inner = payload
            return self.intersection((self.append(phase, star), inner), tail)
        number, state = payload
        return self.multiple(number, state, tail) if kind == K_MULTIPLE else self.substrings(number, state, tail)
