"""Terms of regular expressions: literals, classes, repetition, concatenation and union, each in its normal form.

`terms.py` says what a term is, and makes those of all other operators. The normal form, for a body C and tails T, U:

    (T | U)·V            T·V | U·V            unions are distributed over what follows
    T | (U | V)          T | U | V            a union holds no union
    h·T | h·U            h·(T | U)            parts with the same head are factored
    [a]·T | [bc]·T       [abc]·T              single bytes before one tail are joined
    C{1,2}·T | C{3,5}·T  C{1,5}·T             repetitions of one body before one tail are joined
    [a-z]*·T | [ab]·T    [a-z]*·T             a part that a star contains is removed
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structgen.engine.automata.alphabets import Alphabets
from structgen.engine.automata.inclusion import is_made_of, is_spelled
from structgen.engine.automata.payload_tables import BROKEN_CHARS, PayloadTables
from structgen.engine.automata.term_table import TermTable
from structgen.engine.constants import (
    ALL,
    EMPTY,
    FAR,
    K_BYTES,
    K_CHARS,
    K_EMPTY,
    K_LITERAL,
    K_REPEAT,
    K_UNION,
    NOTHING,
)
from structgen.engine.deadlines import spend
from structgen.engine.pair_table import PairTable
from structgen.engine.regex.utf8 import ByteRanges

__all__ = ["RegularTerms", "is_star"]

CHUNK = 32  # bytes of one literal term; a longer literal is a chain, cut from its end, so suffixes are shared
MAX_FACTORING = 16  # nesting depth of unions in which equal heads are factored


class RegularTerms:
    """Constructors of the terms of regular expressions, and facts about their form.

    Args:
        table: numbers the terms.
        payloads: has the character classes and texts that terms refer to.
        alphabets: tells the characters of terms.
    """

    def __init__(self, table: TermTable, payloads: PayloadTables, alphabets: Alphabets) -> None:
        self.table = table
        self.payloads = payloads
        self.alphabets = alphabets
        self._unions: dict[tuple[int, ...], int] = {}
        self._made_of: dict[tuple[int, int], bool] = {}
        self._made_of_star: dict[int, dict[int, bool]] = {}
        self._unions_of_two = PairTable()
        self._appended = PairTable()
        self._factoring = 0

    # -- sequences ----------------------------------------------------------------------------------------------------

    def literal(self, data: bytes, tail: int) -> int:
        """Return the term of `data`, then `tail`.

        A literal at the head of `tail` is joined to `data`, and the whole is cut into chunks from its end.
        """
        if tail == NOTHING or not data:
            return tail
        size = len(data)
        if self.table.kind[tail] == K_LITERAL:
            following = self.table.payload[tail]
            if len(following) < CHUNK:
                data = data + following
                tail = self.table.tail[tail]
                size = len(data)
        while size > CHUNK:
            size -= CHUNK
            tail = self.table.intern(
                K_LITERAL,
                data[size : size + CHUNK],
                tail,
                0,
                self.table.may_be_empty[tail],
                self._sum(CHUNK, self.table.min_len[tail]),
            )
        if size < len(data):
            data = data[:size]
        return self.table.intern(
            K_LITERAL, data, tail, 0, self.table.may_be_empty[tail], self._sum(size, self.table.min_len[tail])
        )

    def _sum(self, left: int, right: int) -> int:
        """Return the sum of two lengths, at most FAR."""
        return left + right if left + right < FAR else FAR

    def byte_set(self, mask: int, tail: int) -> int:
        """Return one byte of the set, then `tail`."""
        if mask == 0 or tail == NOTHING:
            return NOTHING
        if mask & (mask - 1) == 0:
            return self.literal(bytes((mask.bit_length() - 1,)), tail)
        if self.table.kind[tail] == K_REPEAT:
            body, low, high = self.table.payload[tail]
            if self.table.kind[body] == K_BYTES and self.table.payload[body] == mask and self.table.tail[body] == EMPTY:
                return self.repeat(body, low + 1, high + 1 if high >= 0 else -1, self.table.tail[tail])
        return self.table.intern(
            K_BYTES, mask, tail, 0, self.table.may_be_empty[tail], self._sum(1, self.table.min_len[tail])
        )

    def chars(self, ranges: tuple[tuple[int, int], ...], tail: int) -> int:
        """Return one scalar value of sorted disjoint ranges, in UTF-8, then `tail`."""
        if not ranges or tail == NOTHING:
            return NOTHING
        low, high = ranges[len(ranges) - 1]
        if high < 128:
            return self.byte_set(sum(((2 << b) - (1 << a)) for a, b in ranges), tail)
        if low == high and len(ranges) == 1:
            return NOTHING if 0xD800 <= low <= 0xDFFF else self.literal(chr(low).encode(), tail)
        number = self.payloads.class_of_ranges(ranges)
        return self._char_class(number, tail) if number >= 0 else NOTHING

    def _char_class(self, number: int, tail: int) -> int:
        """Return one byte sequence of a class, then `tail`."""
        if tail == NOTHING:
            return NOTHING
        if self.table.kind[tail] == K_REPEAT:
            body, low, high = self.table.payload[tail]
            if (
                self.table.kind[body] == K_CHARS
                and self.table.payload[body] == number
                and self.table.tail[body] == EMPTY
            ):
                return self.repeat(body, low + 1, high + 1 if high >= 0 else -1, self.table.tail[tail])
        return self.table.intern(
            K_CHARS, number, tail, 0, self.table.may_be_empty[tail], self._sum(1, self.table.min_len[tail])
        )

    def byte_sequence_set(self, sequences: tuple[ByteRanges, ...]) -> int:
        """Return the term of any of some byte sequences, which all have one length.

        They are the rests of UTF-8 characters after the first byte.
        """
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
        return self._char_class(self.payloads.add_class(sequences, 0, BROKEN_CHARS), EMPTY)

    def repeat(self, body: int, low: int, high: int, tail: int) -> int:
        """Return the term of `body` from `low` to `high` times (-1: without bound), then `tail`."""
        if tail == NOTHING:
            return NOTHING
        if high == 0 or body == EMPTY:
            return tail
        if body == NOTHING:
            return tail if low == 0 else NOTHING
        if self.table.accepting[body]:
            low = 0
            if self.table.kind[body] == K_UNION and self.table.payload[body][0] == EMPTY:
                body = self.union(self.table.payload[body][1:])
        while self.table.kind[body] == K_REPEAT and self.table.tail[body] == EMPTY:
            merged = _nested_counts(self.table.payload[body], low, high)
            if merged is None:
                break
            body, low, high = merged
        if self.table.kind[tail] == K_REPEAT and not self.table.may_be_empty[body]:
            follows, more, most = self.table.payload[tail]
            if more == 0 and most < 0 and follows != body and self.is_made_of(body, follows):
                # B{m,n}·C* where B is made of C: the maximum n makes no difference, and with m = 0 it is just C*.
                if low == 0:
                    return tail
                high = -1
            elif low == 0 and high < 0 and more != most and follows != body and self.is_made_of(follows, body):
                # C*·B{m,n} where B is made of C: any further B are some of the C.
                tail = self.repeat(follows, more, more, self.table.tail[tail])
        if low == 1 and high == 1:
            return self.append(body, tail)
        if self.table.kind[tail] == K_REPEAT and self.table.payload[tail][0] == body:
            _, more, most = self.table.payload[tail]
            low = self._sum(low, more)
            high = -1 if high < 0 or most < 0 else self._sum(high, most)
            tail = self.table.tail[tail]
        least = self.table.min_len[body]
        least = 0 if low == 0 or least == 0 else FAR if low > FAR // least else low * least
        return self.table.intern(
            K_REPEAT,
            (body, low, high),
            tail,
            1 if low == 0 and self.table.accepting[tail] else 0,
            1 if self.table.may_be_empty[body] or self.table.may_be_empty[tail] else 0,
            self._sum(least, self.table.min_len[tail]),
        )

    def append(self, term: int, tail: int) -> int:
        """Return the concatenation of `term` and `tail`.

        It keeps a stack of its own and does not recurse, as a term may be as long as its regex.
        """
        if tail == EMPTY or term == NOTHING:
            return term
        if term == EMPTY:
            return tail
        if tail == NOTHING:
            return NOTHING
        if self.table.kind[term] != K_UNION and self.table.tail[term] == EMPTY:
            return self.with_tail(term, tail)
        done = self._appended
        result = done.get(term, tail)
        if result >= 0:
            return result
        stack = [term]
        while stack:
            spend(1)
            top = stack[len(stack) - 1]
            if done.get(top, tail) >= 0:
                stack.pop()
                continue
            if self.table.kind[top] == K_UNION:
                missing = [t for t in self.table.payload[top] if t != EMPTY and done.get(t, tail) < 0]
                if missing:
                    stack.extend(missing)
                    continue
                result = self.union([tail if t == EMPTY else done.get(t, tail) for t in self.table.payload[top]])
            else:
                after = self.table.tail[top]
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
        """Return a sequence with its tail replaced by `tail`; `Terms` implements it for all heads."""
        raise NotImplementedError

    # -- unions -------------------------------------------------------------------------------------------------------

    def union(self, parts: Iterable[int]) -> int:
        """Return the union of the parts."""
        found: set[int] = set()
        for part in parts:
            spend(1)
            if part == ALL:
                return ALL
            if self.table.kind[part] == K_UNION:
                spend(len(self.table.payload[part]) >> 2)
                found.update(self.table.payload[part])
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
        """Return the union of two terms."""
        if left == right or right == NOTHING:
            return left
        if left == NOTHING:
            return right
        if left == ALL or right == ALL or self.table.kind[left] == K_UNION or self.table.kind[right] == K_UNION:
            return self.union((left, right))
        return self._union_of_two(left, right)

    def _union_of_two(self, left: int, right: int) -> int:
        """Return the union of two different terms; neither is a union, NOTHING or ALL."""
        if left > right:
            left, right = right, left
        done = self._unions_of_two.get(left, right)
        if done < 0:
            done = self._normal_union({left, right})
            self._unions_of_two.put(left, right, done)
        return done

    def _normal_union(self, found: set[int]) -> int:
        """Return the normal form of the union of two or more terms, none of them a union."""
        repeats = 0
        heads: dict[tuple[int, Any], list[int]] = {}
        tails: dict[int, list[int]] = {}
        shared_heads = shared_tails = False
        for term in found:
            kind = self.table.kind[term]
            if kind == K_EMPTY:
                continue
            payload = self.table.payload[term]
            same = heads.setdefault((kind, payload), [])
            same.append(term)
            shared_heads = shared_heads or len(same) > 1
            if kind == K_REPEAT:
                repeats += 1
            elif kind == K_BYTES or (kind == K_LITERAL and len(payload) == 1):
                same = tails.setdefault(self.table.tail[term], [])
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
        if EMPTY in found and self.table.count_accepting(found) > 1:
            found.discard(EMPTY)
        if len(found) != before or self.table.count_unions(found) > 0:
            return self.union(list(found))
        accepting = may_be_empty = 0
        least = FAR
        for term in found:
            accepting |= self.table.accepting[term]
            may_be_empty |= self.table.may_be_empty[term]
            least = min(least, self.table.min_len[term])
        return self.table.intern(K_UNION, tuple(sorted(found)), NOTHING, accepting, may_be_empty, least)

    def _absorb_into_stars(self, found: set[int]) -> None:
        """Remove the parts of a union that another of its parts, a star C*·R, contains."""
        for star in [t for t in found if is_star(self.table, t)]:
            if star in found:
                spend(len(found))
                found.difference_update([t for t in found if t != star and self._is_within(t, star)])

    def _merge_repeats(self, found: set[int]) -> None:
        """Join C{m,n}·T and C{p,q}·T where no count between them is missing.

        T alone counts as C{0,0}·T: the union of T and C{1,3}·T is C{0,3}·T.
        """
        groups: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        for term in found:
            if self.table.kind[term] == K_REPEAT:
                body, low, high = self.table.payload[term]
                groups.setdefault((body, self.table.tail[term]), []).append((low, high, term))
        for (body, tail), counts in groups.items():
            if not found.issuperset([term for _, _, term in counts]):
                continue
            counts.sort()
            low, high, term = counts[0]
            bare = self.table.payload[tail] if self.table.kind[tail] == K_UNION else (tail,)
            swallows = low <= 1 and found.issuperset(bare)
            if swallows:
                found.difference_update(bare)
                low = 0
            if len(counts) == 1 and low == self.table.payload[term][1]:
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
        """Join single bytes that have the same tail into one set of bytes."""
        for tail, terms in tails.items():
            alive = [t for t in terms if t in found]
            if len(alive) < 2:
                continue
            mask = 0
            for term in alive:
                payload = self.table.payload[term]
                mask |= payload if self.table.kind[term] == K_BYTES else 1 << payload[0]
            found.difference_update(alive)
            found.add(self.byte_set(mask, tail))

    def _factor_heads(self, found: set[int], heads: dict[tuple[int, Any], list[int]]) -> None:
        """Replace h·T | h·U by h·(T | U)."""
        self._factoring += 1
        try:
            for terms in heads.values():
                alive = [t for t in terms if t in found]
                if len(alive) > 1:
                    found.difference_update(alive)
                    found.add(self.with_tail(alive[0], self.union([self.table.tail[t] for t in alive])))
        finally:
            self._factoring -= 1

    # -- inclusion ----------------------------------------------------------------------------------------------------

    def _is_within(self, term: int, star: int) -> bool:
        """Return whether all texts of a term are texts of `star`, C*·R; False if its form does not show it."""
        body, _, _ = self.table.payload[star]
        rest = self.table.tail[star]
        cover = self.alphabets.cover(body)
        if rest == EMPTY:
            return cover != 0 and self.alphabets.alphabet(term) & ~cover == 0
        known = self._made_of_star.setdefault(star, {})
        found = known.get(term)
        if found is None:
            before = len(known)
            found = is_spelled(self, term, body, rest, cover, known)
            self.table.count_pairs(len(known) - before)
        return found

    def is_made_of(self, term: int, body: int) -> bool:
        """Return whether each text of a term is a concatenation of texts of `body`.

        False if its form does not show it.
        """
        key = (term, body)
        found = self._made_of.get(key)
        if found is None:
            found = self._made_of[key] = is_made_of(self, term, body, self.alphabets.cover(body))
            self.table.count_pairs(1)
        return found


def _nested_counts(inner: tuple[int, int, int], low: int, high: int) -> tuple[int, int, int] | None:
    """Return the repetition (C{p,q}){m,n} as C{pm,qn}; None if some count between pm and qn is impossible.

    (C{2,3}){1,2} is C{2,6}. (C{4,5}){1,2} is not C{4,10}: 6 and 7 are missing.

    Args:
        inner: C, p and q.
        low: m.
        high: n; -1 if there is no maximum.

    Returns:
        C, pm and qn, with -1 if there is no maximum; or None.
    """
    body, least, most = inner
    if most < 0:
        # m times p up to any number: every count from pm on, and none besides 0.
        if low == 0 and least > 1:
            return None
        return body, min(least * low, FAR), -1
    if low != high and low * (most - least) + 1 < least:
        return None
    return body, min(least * low, FAR), -1 if high < 0 else min(most * high, FAR)


def is_star(table: TermTable, term: int) -> bool:
    """Return whether a term is a star: C*·R, with any body C and any tail R."""
    if table.kind[term] != K_REPEAT:
        return False
    _, low, high = table.payload[term]
    return bool(low == 0 and high == -1)
