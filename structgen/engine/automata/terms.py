"""Hash-consed terms: the residual languages of byte automata, each a number.

A term is a constant (nothing, the empty text), a union of terms, or a sequence: a *head* followed by a *tail*, which is
again a term. Concatenation is associated to the right:

    ab*c          LITERAL "a" -> REPEAT b, 0 or more -> LITERAL "c" -> EMPTY
    (ab|x*)c      UNION of
                      LITERAL "abc" -> EMPTY
                      REPEAT x, 0 or more -> LITERAL "c" -> EMPTY

A union before a tail is distributed over it, as in Antimirov's partial derivatives. So the term of a state is a set of
sequences, much like a set of positions of an NFA.

Equal terms get one number. The constructors keep a normal form: unions are flat, sorted and without duplicates;
neighbouring literals are joined; repetitions stay counted, and repetitions of one body are merged. The more equal
languages become equal terms, the more tables are shared. Equal terms always have equal languages; two equal languages
may have different terms.

`regular_terms.py` makes the terms of regular expressions. This module adds the other operators: intersections,
complements, bounds on counts, shortest matches, the texts of a table or of a suffix automaton, multiples, and digits of
other sets of integers.

Sources: Brzozowski, "Derivatives of Regular Expressions" (1964); Antimirov, "Partial Derivatives of Regular Expressions
and Finite Automaton Constructions" (1996); Owens, Reppy, Turon, "Regular-expression derivatives reexamined" (2009).
"""

from __future__ import annotations

from collections.abc import Iterable

from structgen.engine.automata.alphabets import Alphabets
from structgen.engine.automata.inclusion import is_part_of
from structgen.engine.automata.payload_tables import PayloadTables
from structgen.engine.automata.regular_terms import RegularTerms, is_star
from structgen.engine.automata.remainder_sets import RemainderSet
from structgen.engine.automata.suffix_automaton import SuffixAutomaton
from structgen.engine.automata.term_table import TermTable
from structgen.engine.constants import (
    ALL,
    EMPTY,
    FAR,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_COUNTING,
    K_DIGITS,
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
from structgen.engine.deadlines import spend
from structgen.engine.pair_table import PairTable

__all__ = ["Terms", "is_multiple"]


class Terms(RegularTerms):
    """Constructors of all terms.

    This class adds intersections, complements, bounds on counts, shortest matches, and the texts of tables and suffix
    automata. `with_tail` calls all constructors, and the constructors of regular expressions call `with_tail`. So this
    is a subclass of `RegularTerms`, not a component beside it.
    """

    def __init__(self, table: TermTable, payloads: PayloadTables, alphabets: Alphabets) -> None:
        super().__init__(table, payloads, alphabets)
        self._part_of: dict[tuple[int, int], bool] = {}
        self._intersections_of_two = PairTable()

    def intersection(self, parts: Iterable[int], tail: int) -> int:
        """Return the texts that all parts match, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        found: set[int] = set()
        refused: list[int] = []
        for part in parts:
            if part == NOTHING:
                return NOTHING
            spend(1)
            for term in self.conjuncts(part):
                spend(1)
                if self.table.kind[term] == K_COMPLEMENT and self.table.tail[term] == EMPTY:
                    refused.append(self.table.payload[term])
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
            return tail if self.table.all_accepting(found) else NOTHING
        if not found:
            return self.append(ALL, tail)
        if len(found) == 1:
            return self.append(found.pop(), tail)
        for part in sorted(found):
            if is_bounded(self.table, part) or self._is_countable(part):
                return self._bounded_by(part, found, tail)
        least = max([self.table.min_len[t] for t in found])
        accepting = 1 if self.table.accepting[tail] and self.table.all_accepting(found) else 0
        return self.table.intern(
            K_INTERSECTION, tuple(sorted(found)), tail, accepting, 1, self._sum(least, self.table.min_len[tail])
        )

    def conjuncts(self, term: int) -> tuple[int, ...]:
        """Return the parts of an intersection; for any other term, the term alone."""
        if self.table.kind[term] != K_INTERSECTION or self.table.tail[term] != EMPTY:
            return (term,)
        parts: tuple[int, ...] = self.table.payload[term]
        return parts

    def intersect(self, left: int, right: int) -> int:
        """Return the texts that both terms match."""
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
        """Return whether some part matches only refused texts; False if the forms do not show it.

        It looks at equal terms, and at the sequences C*·R of `refused` where R is empty, a literal, or a union with one
        of these.
        """
        for term in self.table.payload[refused] if self.table.kind[refused] == K_UNION else (refused,):
            if term in parts:
                return True
            if not is_star(self.table, term):
                continue
            body = self.table.payload[term][0]
            rest = self.table.tail[term]
            for end in self.table.payload[rest] if self.table.kind[rest] == K_UNION else (rest,):
                if end == EMPTY or (self.table.kind[end] == K_LITERAL and self.table.tail[end] == EMPTY):
                    star = self.repeat(body, 0, -1, end)
                    for part in parts:
                        if self._is_within(part, star) or (end == EMPTY and self.is_made_of(part, body)):
                            return True
        return False

    def _drop_covering(self, found: set[int]) -> None:
        """Remove each star C*·R that contains another part of the intersection: it adds no condition."""
        for star in sorted(found):
            spend(len(found))
            if not is_star(self.table, star):
                continue
            for other in found:  # a generator would not be compiled to a loop
                if other != star and self._is_within(other, star):
                    found.discard(star)
                    break

    def _merge_counts(self, found: set[int]) -> bool:
        """Join D{m,n}·R and C{p,q}·R in an intersection, where both count alike; return False if no count is left.

        The result has the narrower body D, the larger minimum and the smaller maximum:
        `[a-z]{2,9}"` and `[a-z0-9]{0,5}"` together are `[a-z]{2,5}"`.
        """
        waiting = sorted([term for term in found if self.table.kind[term] == K_REPEAT], reverse=True)
        apart: list[int] = []
        while waiting:
            term = waiting.pop()
            spend(1 + len(apart))
            for other in apart:
                narrow = term if self._counts_alike(term, other) else other
                if narrow == other and not self._counts_alike(other, term):
                    continue
                body, low, high = self.table.payload[narrow]
                _, least, most = self.table.payload[other if narrow == term else term]
                low = max(low, least)
                high = most if high < 0 else high if most < 0 else min(high, most)
                if 0 <= high < low:
                    return False
                joined = self.repeat(body, low, high, self.table.tail[narrow])
                apart.remove(other)
                found.difference_update((term, other))
                found.add(joined)
                if self.table.kind[joined] == K_REPEAT:
                    waiting.append(joined)
                break
            else:
                apart.append(term)
        return True

    def _counts_alike(self, narrow: int, wide: int) -> bool:
        """Return whether every text of both `narrow`, D{m,n}·R, and `wide`, C{p,q}·R, has as many D as C.

        This holds if each text of D is one text of C, C is a prefix code, and no byte begins both C and R.
        """
        rest = self.table.tail[narrow]
        if self.table.tail[wide] != rest:
            return False
        body = self.table.payload[narrow][0]
        wider = self.table.payload[wide][0]
        return self.is_countable_with(wider, rest) and (body == wider or self.is_part(body, wider))

    def is_part(self, term: int, other: int) -> bool:
        """Return whether each text of a term is a text of another; False if their forms do not show it."""
        key = (term, other)
        found = self._part_of.get(key)
        if found is None:
            found = self._part_of[key] = is_part_of(self, term, other, self.alphabets.cover(other))
            self.table.count_pairs(1)
        return found

    def _is_countable(self, term: int) -> bool:
        """Return whether a term is C{m,n}·R with a maximum n, where the text so far tells how many C have begun.

        R is empty, or one literal such as a quote. No C may follow R, or the count would be ambiguous.
        """
        if self.table.kind[term] != K_REPEAT:
            return False
        return bool(self.table.payload[term][2] >= 0) and self.is_countable_with(
            self.table.payload[term][0], self.table.tail[term]
        )

    def is_countable_with(self, body: int, rest: int) -> bool:
        """Return whether every prefix of a text of C{m,n}·R tells how many C have begun; C is `body`, R is `rest`."""
        if not self.alphabets.is_code(body):
            return False
        is_literal = self.table.kind[rest] == K_LITERAL and self.table.tail[rest] == EMPTY
        return rest == EMPTY or (is_literal and self.alphabets.begin_apart(body, rest))

    def _bounded_by(self, bound: int, found: set[int], tail: int) -> int:
        """Return the intersection of the parts `found`, with the maximum count of its part `bound` moved outside.

        The maximum becomes the outermost operator (`bounded`). Inside, the parts keep their other conditions, and C is
        repeated without a maximum. So the states for different maxima differ in one number only.

        Args:
            bound: a part C{m,n}·R, or a bounded term.
            found: all parts of the intersection, with `bound`.
            tail: the term that follows.
        """
        if is_bounded(self.table, bound):
            star, phase, _ = self.table.payload[self.table.payload[bound][0]]
        else:
            star = self.repeat(self.table.payload[bound][0], 0, -1, self.table.tail[bound])
            phase = EMPTY
        body = self.table.payload[star][0]
        rest = self.table.tail[star]
        least = 0
        most = FAR
        others: list[int] = []
        for part in found:
            if (
                phase == EMPTY
                and self.table.kind[part] == K_REPEAT
                and self.table.payload[part][0] == body
                and self.table.tail[part] == rest
            ):
                _, low, high = self.table.payload[part]
                least = max(least, low)
                most = min(most, high) if high >= 0 else most
                continue
            if is_bounded(self.table, part):
                inner, high = self.table.payload[part]
                if self.table.payload[inner][0] == star and self.table.payload[inner][1] == phase:
                    most = min(most, high)
                    part = self.table.payload[inner][2]
            others.append(part)
        if least > most:
            return NOTHING
        if least:
            others.append(self.repeat(body, least, -1, rest))
        return self.bounded(self.counting(star, phase, self.intersection(others, EMPTY)), most, tail)

    def counting(self, star: int, phase: int, term: int) -> int:
        """Return the texts of `term` that also match `phase` and then `star`, in which C can be counted.

        Every prefix of such a text tells how many C have begun in it.

        Args:
            star: C*·R. C is a prefix code; R is EMPTY, or a literal whose first byte begins no C.
            phase: the rest of a C that has begun, or EMPTY.
            term: further conditions on the whole text.
        """
        if term == NOTHING:
            return NOTHING
        whole = self.append(phase, star)
        if term == whole:
            term = ALL
        elif (
            self.table.kind[term] == K_INTERSECTION
            and self.table.tail[term] == EMPTY
            and whole in self.table.payload[term]
        ):
            term = self.intersection([part for part in self.table.payload[term] if part != whole], EMPTY)
        accepting = 1 if self.table.accepting[whole] and self.table.accepting[term] else 0
        least = max(self.table.min_len[whole], self.table.min_len[term])
        return self.table.intern(K_COUNTING, (star, phase, term), EMPTY, accepting, 1, least)

    def bounded(self, counting: int, most: int, tail: int) -> int:
        """Return the texts of a term of `counting` in which at most `most` C begin, then `tail`."""
        if most < 0 or tail == NOTHING or counting == NOTHING:
            return NOTHING
        star, phase, term = self.table.payload[counting]
        body = self.table.payload[star][0]
        rest = self.table.tail[star]
        if term == ALL:
            return self.append(self.append(phase, self.repeat(body, 0, most, rest)), tail)
        if phase == EMPTY and self.table.kind[term] == K_REPEAT and self.table.tail[term] == rest:
            inner, low, high = self.table.payload[term]
            if inner == body and high < 0:
                return self.append(self.repeat(body, low, most, rest), tail) if low <= most else NOTHING
        accepting = 1 if self.table.accepting[counting] and self.table.accepting[tail] else 0
        least = self._sum(self.table.min_len[counting], self.table.min_len[tail])
        return self.table.intern(K_BOUNDED, (counting, most), tail, accepting, 1, least)

    def complement(self, term: int, tail: int) -> int:
        """Return every byte string that `term` does not match, then `tail`."""
        if tail == NOTHING or term == ALL:
            return NOTHING
        if term == NOTHING:
            return self.append(ALL, tail)
        if self.table.kind[term] == K_COMPLEMENT and self.table.tail[term] == EMPTY:
            return self.append(self.table.payload[term], tail)
        accepting = 0 if self.table.accepting[term] else 1
        return self.table.intern(
            K_COMPLEMENT,
            term,
            tail,
            1 if accepting and self.table.accepting[tail] else 0,
            1,
            self._sum(1 - accepting, self.table.min_len[tail]),
        )

    def early(self, term: int, tail: int) -> int:
        """Return the texts of `term` that have no shorter text of `term` as a prefix, then `tail`."""
        if term == NOTHING or tail == NOTHING:
            return NOTHING
        prefix: list[int] = []  # heads without a choice of length: the shortest match ends after them
        while K_LITERAL <= self.table.kind[term] <= K_CHARS:
            prefix.append(term)
            term = self.table.tail[term]
        while self.table.kind[term] == K_EARLY and self.table.tail[term] == EMPTY:
            term = self.table.payload[term]
        if self.table.accepting[term]:
            result = tail
        else:
            result = self.table.intern(
                K_EARLY, term, tail, 0, 1 if self.table.may_be_empty[term] or self.table.may_be_empty[tail] else 0,
                self._sum(self.table.min_len[term], self.table.min_len[tail]),
            )  # fmt: skip
        while prefix:
            result = self.with_tail(prefix.pop(), result)
        return result

    def text_table(self, number: int, low: int, high: int, depth: int, tail: int) -> int:
        """Return the texts `low` to `high - 1` of a table without their first `depth` bytes, then `tail`."""
        if low >= high or tail == NOTHING:
            return NOTHING
        texts = self.payloads.texts[number]
        if high - low == 1:
            return self.literal(texts[low][depth:], tail)
        ends = len(texts[low]) == depth
        accepting = 1 if ends and self.table.accepting[tail] else 0
        return self.table.intern(
            K_TABLE,
            (number, low, high, depth),
            tail,
            accepting,
            self.table.may_be_empty[tail],
            self._sum(0 if ends else 1, self.table.min_len[tail]),
        )

    def substrings(self, number: int, state: int, tail: int) -> int:
        """Return all texts that a suffix automaton reads from one of its states, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        return self.table.intern(
            K_SUBSTRINGS,
            (number, state),
            tail,
            self.table.accepting[tail],
            self.table.may_be_empty[tail],
            self.table.min_len[tail],
        )

    def runs(self, units: tuple[bytes, ...], skipped: tuple[int, ...], tail: int) -> int:
        """Return the runs of one or more consecutive units of a text, then `tail`.

        Args:
            units: the text, cut into units such as words.
            skipped: for each unit, the number of bytes that are left out where it is the first of a run.
            tail: the term that follows.
        """
        number = self.payloads.add_suffix_automaton(units)
        automaton: SuffixAutomaton = self.payloads.suffix_automata[number]
        left_out = dict(zip(units, skipped))
        begun = [
            self.literal(unit[left_out[unit] :], self.substrings(number, target, tail))
            for unit, target in automaton.edges(0)
        ]
        return self.union(begun)

    def multiple(self, divisor: int, remainder: int, factors: tuple[int, ...], tail: int) -> int:
        """Return the digits that complete a multiple of `divisor`, then `tail`.

        Args:
            divisor: of the whole number.
            remainder: of the digits that were read before, divided by `divisor`.
            factors: if there are some, a multiple of one of these factors of `divisor` is enough.
            tail: the term that follows.
        """
        if tail == NOTHING:
            return NOTHING
        needed = _digits_of_multiple((divisor, remainder, factors))
        return self.table.intern(
            K_MULTIPLE,
            (divisor, remainder, factors),
            tail,
            self.table.accepting[tail] if needed == 0 else 0,
            self.table.may_be_empty[tail],
            self._sum(needed, self.table.min_len[tail]),
        )

    def digits(self, number: int, remainder: int, least: int, most: int, tail: int) -> int:
        """Return the digits that continue a number so that it becomes a member of a set of integers, then `tail`.

        Args:
            number: of the set, a `RemainderSet`.
            remainder: of the digits that were read before, modulo the set's modulus.
            least: the least number of digits.
            most: the largest number of digits; -1 if there is no bound.
            tail: the term that follows.
        """
        if tail == NOTHING:
            return NOTHING
        members: RemainderSet = self.payloads.remainder_sets[number]
        needed = members.digits_needed(remainder, least)
        if needed < 0 or 0 <= most < needed:
            return NOTHING
        if most == 0:
            return tail
        return self.table.intern(
            K_DIGITS,
            (number, remainder, least, most),
            tail,
            self.table.accepting[tail] if needed == 0 else 0,
            self.table.may_be_empty[tail],
            self._sum(needed, self.table.min_len[tail]),
        )

    def with_tail(self, term: int, tail: int) -> int:
        """Return a sequence with its tail replaced by `tail`."""
        if tail == NOTHING:
            return NOTHING
        kind = self.table.kind[term]
        payload = self.table.payload[term]
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
            return self.text_table(number, low, high, depth, tail)
        if kind == K_BOUNDED:
            return self.bounded(payload[0], payload[1], tail)
        if kind == K_COUNTING:
            star, phase, inner = payload
            return self.intersection((self.append(phase, star), inner), tail)
        if kind == K_MULTIPLE:
            divisor, remainder, factors = payload
            return self.multiple(divisor, remainder, factors, tail)
        if kind == K_DIGITS:
            number, remainder, least, most = payload
            return self.digits(number, remainder, least, most, tail)
        number, state = payload
        return self.substrings(number, state, tail)


def is_multiple(payload: tuple[int, int, tuple[int, ...]]) -> bool:
    """Return whether the digits read so far are a multiple, given the payload of a term."""
    _, remainder, factors = payload
    for factor in factors:
        if remainder % factor == 0:
            return True
    return remainder == 0


def _digits_of_multiple(payload: tuple[int, int, tuple[int, ...]]) -> int:
    """Return the least number of digits that complete a multiple: 2 after 9 for 64, as 960 is one and 90 to 99 are not.

    Where a multiple of one of some factors is enough, the result is a lower bound.
    """
    if is_multiple(payload):
        return 0
    divisor, remainder, factors = payload
    count = window = 1
    while not factors and (-remainder * window * 10) % divisor >= window * 10:
        count, window = count + 1, window * 10
    return count


def is_bounded(table: TermTable, term: int) -> bool:
    """Return whether a term is a bound on a count, with nothing after it."""
    return table.kind[term] == K_BOUNDED and table.tail[term] == EMPTY
