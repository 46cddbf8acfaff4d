"""Hash-consed terms: the residual languages of byte automata, each a number.

A term is a *head* followed by a *tail*, which is again a term; or a union of such terms; or one of three constants.
Concatenation is right-associated and unions are distributed over it on the left (as in Antimirov's partial
derivatives), so that the term of a state is a set of sequences, much like a set of positions of an NFA. Equal terms
get one number. The constructors keep a normal form (unions are flat, sorted and without duplicates; neighbouring
literals are joined; repetitions stay counted, and those of one body merge), which makes many equal languages
equal terms: the more, the better the sharing. Equality of terms is sound, but not complete, for equality of languages.

Sources: Brzozowski, "Derivatives of Regular Expressions" (1964); Antimirov, "Partial Derivatives of Regular Expressions
and Finite Automaton Constructions" (1996); Owens, Reppy, Turon, "Regular-expression derivatives reexamined" (2009).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structgen.engine.covers import is_made_of, is_part_of, is_spelled
from structgen.engine.pairs import PairTable
from structgen.engine.term_kinds import (
    ALL,
    EMPTY,
    FAR,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_COUNTING,
    K_EARLY,
    K_EMPTY,
    K_INTERSECTION,
    K_LITERAL,
    K_MULTIPLE,
    K_REPEAT,
    K_SUBSTRINGS,
    K_TABLE,
    K_UNION,
    NOTHING,
)
from structgen.engine.term_table import BROKEN_CHARS, OTHER_CHARS, TermTable, power_of_two
from structgen.engine.utf8 import ByteRanges, byte_sequences
from structgen.limits import Limits

__all__ = ["Terms"]

CHUNK = 32  # bytes of one literal term; a longer literal is a chain, cut from its end, so that suffixes are shared
MAX_FACTORING = 16  # how deep unions are factored from the left


class Terms(TermTable):
    """A table of terms with the constructors that keep their normal form."""

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        super().__init__(limits, capacity)
        self._unions: dict[tuple[int, ...], int] = {}
        self._made_of: dict[tuple[int, int], bool] = {}
        self._part_of: dict[tuple[int, int], bool] = {}
        self._made_of_star: dict[int, dict[int, bool]] = {}
        places = power_of_two(capacity)
        self._unions_of_two = PairTable(places)
        self._intersections_of_two = PairTable(places)
        self._appended = PairTable(places)
        self._factoring = 0

    def literal(self, data: bytes, tail: int) -> int:
        """`data`, then `tail`. Adjacent literals are joined, and cut into chunks from their end."""
        if tail == NOTHING or not data:
            return tail
        size = len(data)
        if self.kind[tail] == K_LITERAL:
            following = self.payload[tail]
            if len(following) < CHUNK:
                data = data + following
                tail = self.tail[tail]
                size = len(data)
        while size > CHUNK:
            size -= CHUNK
            tail = self._intern(
                K_LITERAL, data[size : size + CHUNK], tail, 0, self.hard[tail], self._sum(CHUNK, self.min_len[tail])
            )
        if size < len(data):
            data = data[:size]
        return self._intern(K_LITERAL, data, tail, 0, self.hard[tail], self._sum(size, self.min_len[tail]))

    def _sum(self, left: int, right: int) -> int:
        """Saturating addition of lengths."""
        return left + right if left + right < FAR else FAR

    def byte_set(self, mask: int, tail: int) -> int:
        """One byte of the set, then `tail`."""
        if mask == 0 or tail == NOTHING:
            return NOTHING
        if mask & (mask - 1) == 0:
            return self.literal(bytes((mask.bit_length() - 1,)), tail)
        if self.kind[tail] == K_REPEAT:
            body, low, high = self.payload[tail]
            if self.kind[body] == K_BYTES and self.payload[body] == mask and self.tail[body] == EMPTY:
                return self.repeat(body, low + 1, high + 1 if high >= 0 else -1, self.tail[tail])
        return self._intern(K_BYTES, mask, tail, 0, self.hard[tail], self._sum(1, self.min_len[tail]))

    def chars(self, ranges: tuple[tuple[int, int], ...], tail: int) -> int:
        """One scalar value of sorted disjoint ranges, in UTF-8, then `tail`."""
        if not ranges or tail == NOTHING:
            return NOTHING
        low, high = ranges[len(ranges) - 1]
        if high < 128:
            return self.byte_set(sum(((2 << b) - (1 << a)) for a, b in ranges), tail)
        if low == high and len(ranges) == 1:
            return NOTHING if 0xD800 <= low <= 0xDFFF else self.literal(chr(low).encode(), tail)
        number = self._class_of_ranges.get(ranges)
        if number is None:
            sequences = byte_sequences(ranges)
            if not sequences:
                return NOTHING
            cover = sum(((2 << min(b, 127)) - (1 << a)) for a, b in ranges if a < 128)
            alphabet = cover | OTHER_CHARS
            if self._holds_all_other_chars(ranges):
                cover = alphabet
            number = self._class_of_ranges[ranges] = self._class(sequences, cover, alphabet)
        return self._char_class(number, tail)

    def _char_class(self, number: int, tail: int) -> int:
        """One byte sequence of a class, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        if self.kind[tail] == K_REPEAT:
            body, low, high = self.payload[tail]
            if self.kind[body] == K_CHARS and self.payload[body] == number and self.tail[body] == EMPTY:
                return self.repeat(body, low + 1, high + 1 if high >= 0 else -1, self.tail[tail])
        return self._intern(K_CHARS, number, tail, 0, self.hard[tail], self._sum(1, self.min_len[tail]))

    def byte_sequence_set(self, sequences: tuple[ByteRanges, ...]) -> int:
        """Any of the byte sequences: what is left of a character after its first byte. All have one length."""
        if len(sequences) == 1:
            term = EMPTY
            for low, high in reversed(sequences[0]):
                term = self.byte_set((2 << high) - (1 << low), term)
            return term
        if len(sequences[0]) == 1:
            mask = 0
            for ((low, high),) in sequences:
                mask |= (2 << high) - (1 << low)
            return self.byte_set(mask, EMPTY)
        return self._char_class(self._class(sequences, 0, BROKEN_CHARS), EMPTY)

    def repeat(self, body: int, low: int, high: int, tail: int) -> int:
        """`body` from `low` to `high` times (-1: without bound), then `tail`."""
        if tail == NOTHING:
            return NOTHING
        if high == 0 or body == EMPTY:
            return tail
        if body == NOTHING:
            return tail if low == 0 else NOTHING
        if self.accepting[body]:
            low = 0
            if self.kind[body] == K_UNION and self.payload[body][0] == EMPTY:
                body = self.union(self.payload[body][1:])
        while self.kind[body] == K_REPEAT and self.tail[body] == EMPTY:
            merged = self._nested_counts(self.payload[body], low, high)
            if merged is None:
                break
            body, low, high = merged
        if self.kind[tail] == K_REPEAT and not self.hard[body]:
            follows, more, most = self.payload[tail]
            if more == 0 and most < 0 and follows != body and self.is_made_of(body, follows):
                # What stands before any number of C is one of them: how often it may come says nothing.
                if low == 0:
                    return tail
                high = -1
            elif low == 0 and high < 0 and more != most and follows != body and self.is_made_of(follows, body):
                tail = self.repeat(follows, more, more, self.tail[tail])
        if low == 1 and high == 1:
            return self.append(body, tail)
        if self.kind[tail] == K_REPEAT and self.payload[tail][0] == body:
            _, more, most = self.payload[tail]
            low = self._sum(low, more)
            high = -1 if high < 0 or most < 0 else self._sum(high, most)
            tail = self.tail[tail]
        least = self.min_len[body]
        least = 0 if low == 0 or least == 0 else FAR if low > FAR // least else low * least
        return self._intern(
            K_REPEAT,
            (body, low, high),
            tail,
            1 if low == 0 and self.accepting[tail] else 0,
            1 if self.hard[body] or self.hard[tail] else 0,
            self._sum(least, self.min_len[tail]),
        )

    def _nested_counts(self, inner: tuple[int, int, int], low: int, high: int) -> tuple[int, int, int] | None:
        """(C{p,q}){m,n} as C{pm,qn}, where no count in between is missing."""
        body, least, most = inner
        if most < 0:
            # m times p up to any number: every count from pm on, and none besides 0.
            if low == 0 and least > 1:
                return None
            return body, min(least * low, FAR), -1
        if low != high and low * (most - least) + 1 < least:
            return None
        return body, min(least * low, FAR), -1 if high < 0 else min(most * high, FAR)

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

    def _is_star(self, term: int) -> bool:
        """Whether a term is C*·R."""
        if self.kind[term] != K_REPEAT:
            return False
        _, low, high = self.payload[term]
        return bool(low == 0 and high == -1)

    def _is_within(self, term: int, star: int) -> bool:
        """Whether all texts of a term are texts of `star`, which is C*·R, as far as its form shows it."""
        body, _, _ = self.payload[star]
        rest = self.tail[star]
        cover = self._cover(body)
        if rest == EMPTY:
            return cover != 0 and self.alphabet(term) & ~cover == 0
        known = self._made_of_star.setdefault(star, {})
        found = known.get(term)
        if found is None:
            before = len(known)
            found = is_spelled(self, term, body, rest, cover, known)
            self._count_pairs(len(known) - before)
        return found

    def is_made_of(self, term: int, body: int) -> bool:
        """Whether all texts of a term are made of texts of `body`, as far as its form shows it."""
        key = (term, body)
        found = self._made_of.get(key)
        if found is None:
            found = self._made_of[key] = is_made_of(self, term, body, self._cover(body))
            self._count_pairs(1)
        return found

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
                K_EARLY, term, tail, 0, 1 if self.hard[term] or self.hard[tail] else 0,
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
            self.hard[tail],
            self._sum(0 if ends else 1, self.min_len[tail]),
        )

    def substrings(self, number: int, state: int, tail: int) -> int:
        """What a suffix automaton spells from one of its states, ending anywhere, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        return self._intern(
            K_SUBSTRINGS, (number, state), tail, self.accepting[tail], self.hard[tail], self.min_len[tail]
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
            self.hard[tail],
            self._sum(1 if remainder else 0, self.min_len[tail]),
        )

    def append(self, term: int, tail: int) -> int:
        """`term`, then `tail`. Iterative: a term may be as long as its regex."""
        if tail == EMPTY or term == NOTHING:
            return term
        if term == EMPTY:
            return tail
        if tail == NOTHING:
            return NOTHING
        if self.kind[term] != K_UNION and self.tail[term] == EMPTY:
            return self.with_tail(term, tail)
        done = self._appended
        result = done.get(term, tail)
        if result >= 0:
            return result
        stack = [term]
        while stack:
            top = stack[len(stack) - 1]
            if done.get(top, tail) >= 0:
                stack.pop()
                continue
            if self.kind[top] == K_UNION:
                missing = [t for t in self.payload[top] if t != EMPTY and done.get(t, tail) < 0]
                if missing:
                    stack.extend(missing)
                    continue
                result = self.union([tail if t == EMPTY else done.get(t, tail) for t in self.payload[top]])
            else:
                after = self.tail[top]
                if after == EMPTY:
                    result = self.with_tail(top, tail)
                elif done.get(after, tail) >= 0:
                    result = self.with_tail(top, done.get(after, tail))
                else:
                    stack.append(after)
                    continue
            done.put(top, tail, result)
            stack.pop()
        return done.get(term, tail)

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

    def union(self, parts: Iterable[int]) -> int:
        """Any of the parts."""
        found: set[int] = set()
        for part in parts:
            if part == ALL:
                return ALL
            if self.kind[part] == K_UNION:
                found.update(self.payload[part])
            elif part != NOTHING:
                found.add(part)
        if len(found) < 2:
            return found.pop() if found else NOTHING
        if len(found) == 2:
            left, right = found
            return self._union_of_two(left, right)
        key = tuple(sorted(found))
        done = self._unions.get(key)
        if done is None:
            done = self._unions[key] = self._normal_union(found)
        return done

    def unite(self, left: int, right: int) -> int:
        """Either of two terms."""
        if left == right or right == NOTHING:
            return left
        if left == NOTHING:
            return right
        if left == ALL or right == ALL or self.kind[left] == K_UNION or self.kind[right] == K_UNION:
            return self.union((left, right))
        return self._union_of_two(left, right)

    def _union_of_two(self, left: int, right: int) -> int:
        """The union of two different terms, neither of them a union, nothing or everything."""
        if left > right:
            left, right = right, left
        done = self._unions_of_two.get(left, right)
        if done < 0:
            done = self._normal_union({left, right})
            self._unions_of_two.put(left, right, done)
        return done

    def _normal_union(self, found: set[int]) -> int:
        """The union of two terms at least, none of them a union."""
        repeats = 0
        heads: dict[tuple[int, Any], list[int]] = {}
        tails: dict[int, list[int]] = {}
        shared_heads = shared_tails = False
        for term in found:
            kind = self.kind[term]
            if kind == K_EMPTY:
                continue
            payload = self.payload[term]
            same = heads.setdefault((kind, payload), [])
            same.append(term)
            shared_heads = shared_heads or len(same) > 1
            if kind == K_REPEAT:
                repeats += 1
            elif kind == K_BYTES or (kind == K_LITERAL and len(payload) == 1):
                same = tails.setdefault(self.tail[term], [])
                same.append(term)
                shared_tails = shared_tails or len(same) > 1
        before = len(found)
        if repeats:
            self._absorb_into_stars(found)
            self._merge_repeats(found)
        if shared_tails:
            self._merge_bytes(found, tails)
        if shared_heads and self._factoring < MAX_FACTORING:
            self._factor_heads(found, heads)
        if EMPTY in found and self._count_accepting(found) > 1:
            found.discard(EMPTY)
        if len(found) != before or self._count_unions(found) > 0:
            return self.union(list(found))
        accepting = hard = 0
        least = FAR
        for term in found:
            accepting |= self.accepting[term]
            hard |= self.hard[term]
            least = min(least, self.min_len[term])
        return self._intern(K_UNION, tuple(sorted(found)), NOTHING, accepting, hard, least)

    def _absorb_into_stars(self, found: set[int]) -> None:
        """Leaves out the parts of a union that are made of nothing but what a part `C*` repeats, and end as it does."""
        for star in [t for t in found if self._is_star(t)]:
            if star in found:
                found.difference_update([t for t in found if t != star and self._is_within(t, star)])

    def _merge_repeats(self, found: set[int]) -> None:
        """Joins C{m,n}·T and C{p,q}·T where no count in between is missing; T itself is C{0,0}·T."""
        groups: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        for term in found:
            if self.kind[term] == K_REPEAT:
                body, low, high = self.payload[term]
                groups.setdefault((body, self.tail[term]), []).append((low, high, term))
        for (body, tail), counts in groups.items():
            if not found.issuperset([term for _, _, term in counts]):
                continue
            counts.sort()
            low, high, term = counts[0]
            bare = self.payload[tail] if self.kind[tail] == K_UNION else (tail,)
            swallows = low <= 1 and found.issuperset(bare)
            if swallows:
                found.difference_update(bare)
                low = 0
            if len(counts) == 1 and low == self.payload[term][1]:
                continue
            found.difference_update([t for _, _, t in counts])
            for more, most, _ in counts[1:]:
                if high < 0 or more <= high + 1:
                    high = -1 if high < 0 or most < 0 else max(high, most)
                else:
                    found.add(self.repeat(body, low, high, tail))
                    low, high = more, most
            found.add(self.repeat(body, low, high, tail))

    def _merge_bytes(self, found: set[int], tails: dict[int, list[int]]) -> None:
        """Joins single bytes before the same tail into one set."""
        for tail, terms in tails.items():
            alive = [t for t in terms if t in found]
            if len(alive) < 2:
                continue
            mask = 0
            for term in alive:
                payload = self.payload[term]
                mask |= payload if self.kind[term] == K_BYTES else 1 << payload[0]
            found.difference_update(alive)
            found.add(self.byte_set(mask, tail))

    def _factor_heads(self, found: set[int], heads: dict[tuple[int, Any], list[int]]) -> None:
        """h·T | h·U becomes h·(T | U)."""
        self._factoring += 1
        try:
            for terms in heads.values():
                alive = [t for t in terms if t in found]
                if len(alive) > 1:
                    found.difference_update(alive)
                    found.add(self.with_tail(alive[0], self.union([self.tail[t] for t in alive])))
        finally:
            self._factoring -= 1
