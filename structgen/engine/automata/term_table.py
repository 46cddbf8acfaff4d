"""The table of terms: a number for each term, and the facts about it that are needed most often.

`terms.py` says what a term is, and makes them. Here a term is a row of a table, and the columns are flat arrays. Rows 0
to 3 are NOTHING, EMPTY, ANY_BYTE and ALL. For the regex `ab*`:

    term  kind       payload       tail        accepting  min_len
    4     K_LITERAL  b"b"          EMPTY       0          1
    5     K_REPEAT   (4, 0, -1)    EMPTY       1          0
    6     K_LITERAL  b"a"          5           0          1

A term is never changed or removed. Other components keep columns of their own (`TermTable.add_column`), such as each
term's partition of the bytes. All columns have one length, and double together.

A hash table finds the number of a term by its row. It uses linear hashing (Litwin 1980): with each new term, the table
gets one bucket more, and the terms of one older bucket are divided between both. So it never stops to move all terms.
And few terms lie on few pages of memory: in a fresh process, the first write to each page takes 2 µs.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from typing import Any

from structgen.engine.arrays import enlarged, grown, zeros
from structgen.engine.constants import (
    ANY_BYTE,
    EMPTY,
    FAR,
    K_BYTES,
    K_COUNTING,
    K_EMPTY,
    K_NOTHING,
    K_REPEAT,
    K_UNION,
    NOTHING,
)
from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["FULL_MASK", "TermColumn", "TermTable"]

FULL_MASK = (1 << 256) - 1
NONE = -1  # no term


def _mix(value: int, kind: int, tail: int) -> int:
    """Return a hash of 31 bits of the hash of a payload, a kind and a tail."""
    mixed = (value ^ (value >> 32)) & 0x7FFFFFFF
    mixed = (mixed * 31 + tail * 7919 + kind * 104729) & 0x7FFFFFFF
    return mixed ^ (mixed >> 15)


class TermColumn:
    """A column of integers, one for each term; its length is the table's capacity.

    Attributes:
        values: int32, by term. It is replaced when the table grows, so read it again after terms may have been made.

    Args:
        length: the length of `values`.
        initial: the value for every new term.
    """

    def __init__(self, length: int, initial: int = 0) -> None:
        self._initial = initial
        self.values = array("i", [initial]) * length if initial else zeros(length)

    def grow(self) -> None:
        """Double the length."""
        before = self.values  # goes when the other is in place: see `Matcher._fill`
        self.values = grown(before, len(before), self._initial)


class TermTable:
    """The terms of one store.

    Attributes (the arrays are by term, may be longer than `count`, and are replaced when they grow):
        count: the number of terms.
        pairs: the number of facts about pairs of terms that other components remember. There may be as many as the
            square of the number of terms, so they count toward the limit like terms.
        capacity: the length of the columns.
        accepting: uint8, 1 if the empty text is in the language (the term is nullable).
        kind: uint8, the kind of its head: one of the `K_` numbers of `constants.py`.
        tail: int32, the term after the head.
        may_be_empty: uint8, 1 if it holds an intersection or a complement: only a search tells whether it matches any
            text.
        counted: uint8, 1 if its sequences repeat something from 0 to some maximum number of times; see
            `count_bounds.py`.
        min_len: int64, in bytes: no text of the language is shorter.
        payload: the data of the head; `constants.py` says for each kind what it is.

    Args:
        limits: `automaton_states` bounds the number of terms.
        capacity: the number of terms for which there is room at first. A store that many grammars share should not
            begin small: growing takes milliseconds in the middle of a mask.
    """

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        self.limits = limits if limits is not None else Limits()
        self.count = 0
        self.pairs = 0
        self.capacity = capacity
        self._limit = min(self.limits.automaton_states, 2**31 - 2)
        self.accepting = enlarged(array("B"), "B", capacity)
        self.kind = enlarged(array("B"), "B", capacity)
        self.may_be_empty = enlarged(array("B"), "B", capacity)
        self.tail = enlarged(array("i"), "i", capacity)
        self.min_len = enlarged(array("q"), "q", capacity)
        self.counted = enlarged(array("B"), "B", capacity)
        self.payload: list[Any] = []
        self._columns: list[TermColumn] = []
        self._mark_of = zeros(capacity)  # by term: a hash of its kind, payload and tail
        self._first_in = zeros(capacity)  # by bucket: its last term + 1; 0 if it has none
        self._next_in = zeros(capacity)  # by term: the term before it in the same bucket, + 1; 0 if it is the last
        self._buckets = 1  # their number, that of the terms
        self._round_size = 1  # their number when this round began, a power of two; a round divides each of them once
        self.intern(K_NOTHING, None, NOTHING, 0, 0, FAR)
        self.intern(K_EMPTY, None, NOTHING, 1, 0, 0)
        self.intern(K_BYTES, FULL_MASK, EMPTY, 0, 0, 1)
        self.intern(K_REPEAT, (ANY_BYTE, 0, -1), EMPTY, 1, 0, 0)

    def add_column(self, initial: int = 0) -> TermColumn:
        """Return a new column, which grows with the table.

        Args:
            initial: the value for every new term.
        """
        column = TermColumn(self.capacity, initial)
        self._columns.append(column)
        return column

    def _grow(self) -> None:
        """Double the length of all columns."""
        self.capacity *= 2
        for name, code in (
            ("accepting", "B"),
            ("kind", "B"),
            ("may_be_empty", "B"),
            ("counted", "B"),
            ("tail", "i"),
            ("min_len", "q"),
        ):
            setattr(self, name, enlarged(getattr(self, name), code, self.capacity))
        self._mark_of = grown(self._mark_of, len(self._mark_of))
        self._first_in = grown(self._first_in, len(self._first_in))
        self._next_in = grown(self._next_in, len(self._next_in))
        for column in self._columns:
            column.grow()

    def intern(self, kind: int, payload: Any, tail: int, accepting: int, may_be_empty: int, min_len: int) -> int:
        """Return the number of a term; add the term if the table does not have it.

        The term, `kind` with `payload` and then `tail`, must be in normal form. The other arguments are its values in
        the columns of their names.

        Raises:
            LimitExceededError: automaton_states.
        """
        spend(1)
        mark = _mix(hash(payload), kind, tail)
        found = self._first_in[self._bucket_of(mark)] - 1
        while found != NONE:
            if (
                self._mark_of[found] == mark
                and self.tail[found] == tail
                and self.kind[found] == kind
                and self.payload[found] == payload
            ):
                return found
            found = self._next_in[found] - 1
        term = self.count
        if term + self.pairs >= self._limit:
            raise LimitExceededError("automaton_states", self.limits.automaton_states)
        if term >= self.capacity:
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
        self._put(term)
        if self._buckets < self.count:
            self._divide()
        return term

    def count_pairs(self, count: int) -> None:
        """Count newly remembered facts about pairs of terms toward the limit.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.pairs += count
        if self.count + self.pairs > self._limit:
            raise LimitExceededError("automaton_states", self.limits.automaton_states)

    def _bucket_of(self, mark: int) -> int:
        """Return the bucket of a hash: its last bits tell, one more of them if the bucket has been divided."""
        bucket = mark & (2 * self._round_size - 1)
        return bucket if bucket < self._buckets else bucket - self._round_size

    def _put(self, term: int) -> None:
        """Put a term in its bucket."""
        bucket = self._bucket_of(self._mark_of[term])
        self._next_in[term] = self._first_in[bucket]
        self._first_in[bucket] = term + 1

    def _divide(self) -> None:
        """Add a bucket, and divide the terms of the next bucket of this round between both."""
        divided = self._buckets - self._round_size
        term = self._first_in[divided] - 1
        self._first_in[divided] = 0
        self._buckets += 1
        while term != NONE:
            following = self._next_in[term] - 1
            self._put(term)
            term = following
        if self._buckets == 2 * self._round_size:
            self._round_size = self._buckets

    def _holds_count(self, kind: int, payload: Any, tail: int) -> bool:
        """Return whether the sequences of a term repeat something from 0 to some maximum number of times."""
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

    def all_accepting(self, terms: Collection[int]) -> bool:
        """Return whether all terms match the empty text."""
        return self.count_accepting(terms) == len(terms)

    def count_accepting(self, terms: Iterable[int]) -> int:
        """Return the number of terms that match the empty text."""
        count = 0
        for term in terms:
            count += self.accepting[term]
        return count

    def count_unions(self, terms: set[int]) -> int:
        """Return the number of terms that are unions."""
        count = 0
        for term in terms:
            if self.kind[term] == K_UNION:
                count += 1
        return count
