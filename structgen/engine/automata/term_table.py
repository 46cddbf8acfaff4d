"""The table of terms: numbers for residual languages, and facts about them. `terms.py` says what terms are.

A fact that is needed for every term (does it match the empty text, how short may its texts be) lies in a flat array;
one that is seldom needed (which characters its texts are made of, whether it is a prefix code) is found when asked
for, and remembered.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

from structgen.engine.arrays import enlarged, grown, zeros
from structgen.engine.constants import (
    ANY_BYTE,
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
    K_NOTHING,
    K_REPEAT,
    K_SUBSTRINGS,
    K_TABLE,
    K_UNION,
    NOTHING,
)
from structgen.engine.regex.utf8 import ByteRanges
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["ASCII_MASK", "BROKEN_CHARS", "FULL_MASK", "OTHER_CHARS", "TermTable", "power_of_two"]

FULL_MASK = (1 << 256) - 1
ASCII_MASK = (1 << 128) - 1
OTHER_CHARS = 1 << 128  # in an alphabet: characters beyond ASCII
BROKEN_CHARS = 1 << 129  # in an alphabet: bytes that are not whole characters
FREE = 0
TABLE_TEXTS = 1000  # looked at to see which characters are in them
CODE_TERMS = 64  # terms looked at to see whether something is a prefix code


def _mix(value: int, kind: int, tail: int) -> int:
    """A hash of 31 bits."""
    mixed = (value ^ (value >> 32)) & 0x7FFFFFFF
    mixed = (mixed * 31 + tail * 7919 + kind * 104729) & 0x7FFFFFFF
    return mixed ^ (mixed >> 15)


def power_of_two(at_least: int) -> int:
    """The smallest power of two that is not smaller."""
    size = 1
    while size < at_least:
        size *= 2
    return size


class TermTable:
    """The terms of one store.

    Attributes, all by term:
        accepting: uint8, the empty text is in the language (nullable).
        kind: uint8, one of the `K_` numbers.
        tail: int32, the term after the head.
        may_be_empty: uint8, holds an intersection or a complement, so that only a search can tell whether it is empty.
        count: terms made.
        pairs: pairs of terms of which something is remembered that is no term. They may come to be the square of the
            terms, so they count as terms do where there is a limit.
        counted: uint8, something in its sequences is repeated from 0 to some number of times; see `counts.py`.
        min_len: int64, no text of the language has fewer bytes.
        payload: what belongs to the kind.

    Args:
        limits: `automaton_states` bounds the number of terms.
        capacity: for so many terms there is room at first; a store that many grammars share should not begin small,
            for to make room takes milliseconds in the middle of a mask.
    """

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        self.limits = limits if limits is not None else Limits()
        self.count = 0
        self.pairs = 0
        self._limit = min(self.limits.automaton_states, 2**31 - 2)
        self._capacity = capacity
        self.accepting = enlarged(array("B"), "B", capacity)
        self.kind = enlarged(array("B"), "B", capacity)
        self.may_be_empty = enlarged(array("B"), "B", capacity)
        self.tail = enlarged(array("i"), "i", capacity)
        self.min_len = enlarged(array("q"), "q", capacity)
        self.counted = enlarged(array("B"), "B", capacity)
        self.payload: list[Any] = []
        self._mark_of = zeros(capacity)  # a hash of each term's key
        self._table = zeros(power_of_two(2 * capacity))  # open addressing: one more than a term, or FREE
        self._classes: list[tuple[ByteRanges, ...]] = []
        self._class_of_sequences: dict[tuple[ByteRanges, ...], int] = {}
        self._class_of_ranges: dict[tuple[tuple[int, int], ...], int] = {}
        self._class_cover: list[int] = []
        self._class_alphabet: list[int] = []
        self._tables: list[tuple[bytes, ...]] = []
        self._table_of: dict[tuple[bytes, ...], int] = {}
        self._table_alphabets: dict[int, int] = {}
        self._covers: dict[int, int] = {}
        self._alphabets: dict[int, int] = {}
        self._codes: dict[int, bool] = {}
        self._intern(K_NOTHING, None, NOTHING, 0, 0, FAR)
        self._intern(K_EMPTY, None, NOTHING, 1, 0, 0)
        self._intern(K_BYTES, FULL_MASK, EMPTY, 0, 0, 1)
        self._intern(K_REPEAT, (ANY_BYTE, 0, -1), EMPTY, 1, 0, 0)

    def _grow(self) -> None:
        """Doubles the arrays."""
        self._capacity *= 2
        for name, code in (
            ("accepting", "B"),
            ("kind", "B"),
            ("may_be_empty", "B"),
            ("counted", "B"),
            ("tail", "i"),
            ("min_len", "q"),
        ):
            setattr(self, name, enlarged(getattr(self, name), code, self._capacity))
        self._mark_of = grown(self._mark_of, len(self._mark_of))

    def _intern(self, kind: int, payload: Any, tail: int, accepting: int, may_be_empty: int, min_len: int) -> int:
        """The number of a term in normal form; a new one if it was not seen before."""
        mark = _mix(hash(payload), kind, tail)
        table = self._table
        mask = len(table) - 1
        at = mark & mask
        while table[at] != FREE:
            found = table[at] - 1
            if (
                self._mark_of[found] == mark
                and self.tail[found] == tail
                and self.kind[found] == kind
                and self.payload[found] == payload
            ):
                return found
            at = (at + 1) & mask
        term = self.count
        if term + self.pairs >= self._limit:
            raise LimitExceededError("automaton_states", self.limits.automaton_states)
        if term >= self._capacity:
            self._grow()
        self.accepting[term] = accepting
        self.kind[term] = kind
        self.may_be_empty[term] = may_be_empty
        self.tail[term] = tail
        self.min_len[term] = min_len
        self.counted[term] = self._holds_count(kind, payload, tail)
        self._mark_of[term] = mark
        self.payload.append(payload)
        self.count = term + 1
        self._table[at] = term + 1
        if 2 * self.count > len(self._table):
            self._rehash()
        return term

    def _count_pairs(self, count: int) -> None:
        """Counts pairs of terms of which something is remembered now."""
        self.pairs += count
        if self.count + self.pairs > self._limit:
            raise LimitExceededError("automaton_states", self.limits.automaton_states)

    def _rehash(self) -> None:
        """Doubles the table of terms."""
        table = zeros(2 * len(self._table))
        mask = len(table) - 1
        for term in range(self.count):
            at = self._mark_of[term] & mask
            while table[at] != FREE:
                at = (at + 1) & mask
            table[at] = term + 1
        self._table = table

    def _holds_count(self, kind: int, payload: Any, tail: int) -> bool:
        """Whether something is repeated in the sequences of a term from 0 to some number of times."""
        if kind == K_REPEAT:
            return bool((payload[1] == 0 and payload[2] > 0) or self.counted[tail])
        if kind == K_UNION:
            for part in payload:  # noqa: SIM110  (a generator would not be compiled to a loop)
                if self.counted[part]:
                    return True
            return False
        if kind == K_COUNTING:
            return bool(self.counted[payload[2]])
        return bool(self.counted[tail])

    @staticmethod
    def _holds_all_other_chars(ranges: tuple[tuple[int, int], ...]) -> bool:
        """Whether every scalar value beyond ASCII is in the ranges."""
        at = 128
        for low, high in ranges:
            if low > at:
                return False
            at = max(at, high + 1)
            if 0xD800 <= at <= 0xDFFF:
                at = 0xE000
        return at > 0x10FFFF

    def _class(self, sequences: tuple[ByteRanges, ...], cover: int, alphabet: int) -> int:
        """The number of a class of byte sequences; for `cover` and `alphabet` see the methods of these names."""
        number = self._class_of_sequences.get(sequences)
        if number is None:
            number = self._class_of_sequences[sequences] = len(self._classes)
            self._classes.append(sequences)
            self._class_cover.append(cover)
            self._class_alphabet.append(alphabet)
        return number

    def add_table(self, texts: tuple[bytes, ...]) -> int:
        """The number of a sorted table of distinct texts."""
        number = self._table_of.get(texts)
        if number is None:
            if any(a >= b for a, b in pairwise(texts)):
                return self.add_table(tuple(sorted(set(texts))))
            number = self._table_of[texts] = len(self._tables)
            self._tables.append(texts)
        return number

    def table_size(self, number: int) -> int:
        """How many texts a table has."""
        return len(self._tables[number])

    def _all_accepting(self, terms: Collection[int]) -> bool:
        """Whether all of the terms match the empty text."""
        return self._count_accepting(terms) == len(terms)

    def _count_accepting(self, terms: Iterable[int]) -> int:
        """How many of the terms match the empty text."""
        count = 0
        for term in terms:
            count += self.accepting[term]
        return count

    def _count_unions(self, terms: set[int]) -> int:
        """How many of the terms are unions."""
        count = 0
        for term in terms:
            if self.kind[term] == K_UNION:
                count += 1
        return count

    def _cover(self, body: int) -> int:
        """The alphabet each of whose characters `body` matches."""
        cover = self._covers.get(body)
        if cover is None:
            cover = 0
            for part in self.payload[body] if self.kind[body] == K_UNION else (body,):
                kind = self.kind[part]
                if kind >= K_LITERAL and self.tail[part] == EMPTY:
                    if kind == K_CHARS:
                        cover |= self._class_cover[self.payload[part]]
                    elif kind == K_BYTES:
                        cover |= self.payload[part] & ASCII_MASK
            if body == ANY_BYTE:
                cover |= OTHER_CHARS | BROKEN_CHARS
            self._covers[body] = cover
        return cover

    def alphabet(self, term: int) -> int:
        """The ASCII characters that texts of `term` may hold, with OTHER_CHARS and BROKEN_CHARS; a superset."""
        done = self._alphabets
        stack = [term]
        while stack:
            top = stack[len(stack) - 1]
            kind = self.kind[top]
            needed: tuple[int, ...] = ()
            if kind == K_UNION:
                needed = self.payload[top]
            elif kind == K_REPEAT:
                needed = (self.payload[top][0], self.tail[top])
            elif kind == K_EARLY:
                needed = (self.payload[top], self.tail[top])
            elif kind == K_INTERSECTION:
                needed = (*self.payload[top], self.tail[top])
            elif kind == K_COUNTING:
                needed = self.payload[top]
            elif kind == K_BOUNDED:
                needed = (self.payload[top][0], self.tail[top])
            elif kind >= K_LITERAL:
                needed = (self.tail[top],)
            missing = [t for t in needed if t not in done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            result = self.head_alphabet(top)
            if kind == K_INTERSECTION:
                for part in self.payload[top]:
                    result &= done[part]
                result |= done[self.tail[top]]
            elif kind == K_COUNTING:
                star, phase, matched = self.payload[top]
                result &= (done[star] | done[phase]) & done[matched]
            else:
                for part in needed:
                    result |= done[part]
            done[top] = result
        return done[term]

    def head_alphabet(self, term: int) -> int:
        """The part of the alphabet that comes from the head itself, not from terms in it."""
        kind = self.kind[term]
        if kind == K_LITERAL:
            data: bytes = self.payload[term]
            result = 0
            for byte in data:
                result |= 1 << byte
            if data.isascii():
                return result
            try:
                data.decode()
            except UnicodeDecodeError:
                return result & ASCII_MASK | BROKEN_CHARS
            return result & ASCII_MASK | OTHER_CHARS
        if kind == K_BYTES:
            mask = int(self.payload[term])
            return mask & ASCII_MASK | (BROKEN_CHARS if mask >> 128 else 0)
        if kind == K_CHARS:
            return self._class_alphabet[int(self.payload[term])]
        if kind == K_TABLE:
            return self._alphabet_of_table(int(self.payload[term][0]))
        if kind in (K_INTERSECTION, K_COMPLEMENT, K_SUBSTRINGS, K_MULTIPLE, K_COUNTING):
            return ASCII_MASK | OTHER_CHARS | BROKEN_CHARS
        return 0

    def _alphabet_of_table(self, number: int) -> int:
        """The alphabet of all texts of a table, if they are not too many to look at."""
        found = self._table_alphabets.get(number)
        if found is None:
            texts = self._tables[number]
            found = ASCII_MASK | OTHER_CHARS | BROKEN_CHARS
            if len(texts) <= TABLE_TEXTS:
                joined = b"".join(texts)
                if joined.isascii():
                    found = 0
                    for byte in set(joined):
                        found |= 1 << byte
            self._table_alphabets[number] = found
        return found

    def _is_code(self, term: int) -> bool:
        """Whether no text of a term is a prefix of another one; False may also mean that this is not easily seen."""
        found = self._codes.get(term)
        if found is None:
            found = self._codes[term] = self._seems_code(term)
        return found

    def _seems_code(self, term: int) -> bool:
        """The same, by its shape: at each choice the first bytes tell the alternatives apart."""
        seen = {term}
        stack = [term]
        while stack:
            top = stack.pop()
            kind = self.kind[top]
            if kind == K_UNION:
                inner = self.payload[top]
                taken = 0
                for part in inner:
                    first = self._first_bytes(part)
                    if first == 0 or first & taken:
                        return False
                    taken |= first
            elif K_LITERAL <= kind <= K_CHARS:
                inner = (self.tail[top],)
            elif kind == K_REPEAT and self.payload[top][1] == self.payload[top][2]:
                inner = (self.payload[top][0], self.tail[top])
            elif kind == K_EMPTY:
                continue
            else:
                return False
            stack.extend([t for t in inner if t not in seen])
            seen.update(inner)
            if len(seen) > CODE_TERMS:
                return False
        return not self.accepting[term]

    def _begin_apart(self, left: int, right: int) -> bool:
        """Whether no byte begins texts of both terms; False may also mean that this is not easily seen."""
        masks = [0, 0]
        for side, term in enumerate((left, right)):
            for part in self.payload[term] if self.kind[term] == K_UNION else (term,):
                first = self._first_bytes(part)
                if first == 0:
                    return False
                masks[side] |= first
        return masks[0] & masks[1] == 0

    def _first_bytes(self, term: int) -> int:
        """The bytes that texts of a sequence may begin with, as a mask; 0 if that is not easily seen."""
        kind = self.kind[term]
        if kind == K_LITERAL:
            return 1 << int(self.payload[term][0])
        if kind == K_BYTES:
            return int(self.payload[term])
        mask = 0
        if kind == K_CHARS:
            for sequence in self._classes[self.payload[term]]:
                low, high = sequence[0]
                mask |= (2 << high) - (1 << low)
        return mask
