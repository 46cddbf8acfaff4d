"""Facts about the texts of terms, read off their form: which characters and first bytes they have, and how many bytes.

An *alphabet* is a set of characters as bits of a number: bit c for the ASCII character c, `OTHER_CHARS` for all
characters beyond ASCII, `BROKEN_CHARS` for bytes that are not whole characters. The alphabet of `ab*|é` has the bits of
`a` and `b`, and `OTHER_CHARS`.

These facts are seldom needed. So each is computed at its first use, and remembered.
"""

from __future__ import annotations

from structgen.engine.automata.payload_tables import BROKEN_CHARS, OTHER_CHARS, PayloadTables
from structgen.engine.automata.term_table import TermTable
from structgen.engine.constants import (
    ANY_BYTE,
    EMPTY,
    FAR,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_COUNTING,
    K_DIGITS,
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
from structgen.engine.deadlines import spend

__all__ = ["ASCII_MASK", "Alphabets"]

ASCII_MASK = (1 << 128) - 1
DIGITS_MASK = 0x3FF << ord("0")
MAX_TABLE_TEXTS = 1000  # texts; the alphabet of a larger table is not computed
MAX_CODE_TERMS = 64  # terms visited by one test for a prefix code; past it the answer is no


class Alphabets:
    """Characters and first bytes of the terms of one table.

    Args:
        table: the terms.
        payloads: the character classes and texts that terms refer to.
    """

    def __init__(self, table: TermTable, payloads: PayloadTables) -> None:
        self.table = table
        self.payloads = payloads
        self._covers: dict[int, int] = {}
        self._alphabets: dict[int, int] = {}
        self._table_alphabets: dict[int, int] = {}
        self._made_of: dict[int, dict[int, bool]] = {}
        self._codes: dict[int, bool] = {}
        self._longest: dict[int, int] = {NOTHING: 0, EMPTY: 0}

    def cover(self, body: int) -> int:
        """Return the characters that are texts of `body` by themselves, as an alphabet.

        The cover of `[a-z]|01` is a to z. Some characters may be missing, but none is wrong.
        """
        cover = self._covers.get(body)
        if cover is None:
            cover = 0
            for part in self.table.payload[body] if self.table.kind[body] == K_UNION else (body,):
                kind = self.table.kind[part]
                if kind >= K_LITERAL and self.table.tail[part] == EMPTY:
                    if kind == K_CHARS:
                        cover |= self.payloads.class_cover[self.table.payload[part]]
                    elif kind == K_BYTES:
                        cover |= self.table.payload[part] & ASCII_MASK
            if body == ANY_BYTE:
                cover |= OTHER_CHARS | BROKEN_CHARS
            self._covers[body] = cover
        return cover

    def alphabet(self, term: int) -> int:
        """Return the characters that texts of `term` may hold, as an alphabet.

        Some of them may be in no text, but none is missing.
        """
        done = self._alphabets
        stack = [term]
        while stack:
            top = stack[len(stack) - 1]
            kind = self.table.kind[top]
            needed: tuple[int, ...] = ()
            if kind == K_UNION:
                needed = self.table.payload[top]
            elif kind == K_REPEAT:
                needed = (self.table.payload[top][0], self.table.tail[top])
            elif kind == K_EARLY:
                needed = (self.table.payload[top], self.table.tail[top])
            elif kind == K_INTERSECTION:
                needed = (*self.table.payload[top], self.table.tail[top])
            elif kind == K_COUNTING:
                needed = self.table.payload[top]
            elif kind == K_BOUNDED:
                needed = (self.table.payload[top][0], self.table.tail[top])
            elif kind >= K_LITERAL:
                needed = (self.table.tail[top],)
            missing = [t for t in needed if t not in done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            result = self.head_alphabet(top)
            if kind == K_INTERSECTION:
                for part in self.table.payload[top]:
                    result &= done[part]
                result |= done[self.table.tail[top]]
            elif kind == K_COUNTING:
                star, phase, matched = self.table.payload[top]
                result &= (done[star] | done[phase]) & done[matched]
            else:
                for part in needed:
                    result |= done[part]
            done[top] = result
        return done[term]

    def head_alphabet(self, term: int) -> int:
        """Return the alphabet of a term's head, without the terms that the head refers to."""
        kind = self.table.kind[term]
        if kind == K_LITERAL:
            data: bytes = self.table.payload[term]
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
            mask = int(self.table.payload[term])
            return mask & ASCII_MASK | (BROKEN_CHARS if mask >> 128 else 0)
        if kind == K_CHARS:
            return self.payloads.class_alphabet[int(self.table.payload[term])]
        if kind == K_TABLE:
            return self._alphabet_of_table(int(self.table.payload[term][0]))
        if kind == K_DIGITS:
            return DIGITS_MASK
        if kind in (K_INTERSECTION, K_COMPLEMENT, K_SUBSTRINGS, K_MULTIPLE, K_COUNTING):
            return ASCII_MASK | OTHER_CHARS | BROKEN_CHARS
        return 0

    def may_consist_of(self, term: int, alphabet: int) -> bool:
        """Return whether some text of `term` has no other ASCII characters than those of an alphabet.

        True if the form of the term does not show that there is none. `a*b` needs a `b`.
        """
        done = self._made_of.get(alphabet)
        if done is None:
            done = self._made_of[alphabet] = {EMPTY: True, NOTHING: False}
        if term in done:
            return done[term]
        alphabet |= OTHER_CHARS | BROKEN_CHARS
        stack = [term]
        while stack:
            spend(1)
            top = stack[len(stack) - 1]
            kind = self.table.kind[top]
            needed: tuple[int, ...] = ()
            if kind in (K_UNION, K_COUNTING):
                needed = self.table.payload[top]
            elif kind == K_INTERSECTION:
                needed = (*self.table.payload[top], self.table.tail[top])
            elif kind == K_BOUNDED or (kind == K_REPEAT and self.table.payload[top][1] > 0):
                needed = (self.table.payload[top][0], self.table.tail[top])
            elif kind == K_EARLY:
                needed = (self.table.payload[top], self.table.tail[top])
            elif kind >= K_LITERAL:
                needed = (self.table.tail[top],)
            missing = [t for t in needed if t not in done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            found = [t for t in needed if done[t]]
            if kind == K_UNION:
                done[top] = len(found) > 0
            elif kind == K_LITERAL:
                done[top] = len(found) > 0 and self.head_alphabet(top) & ~alphabet == 0
            elif kind in (K_BYTES, K_CHARS):
                done[top] = len(found) > 0 and self.head_alphabet(top) & alphabet != 0
            else:
                done[top] = len(found) == len(needed)
        return done[term]

    def leave_nothing(self, parts: tuple[int, ...]) -> bool:
        """Return whether no text matches all of some terms, because one needs a character that another does not have.

        `[a-z]+@[a-z]+` needs an `@`, which no text of `[a-z.]*` has. False if the forms do not show it.
        """
        common = ASCII_MASK
        for part in parts:
            common &= self.alphabet(part)
        for part in parts:  # noqa: SIM110  (a generator would not be compiled)
            if not self.may_consist_of(part, common):
                return True
        return False

    def longest(self, term: int) -> int:
        """Return an upper bound on the number of bytes of a term's texts; FAR where the form shows none."""
        done = self._longest
        stack = [term]
        while stack:
            spend(1)
            top = stack[len(stack) - 1]
            kind = self.table.kind[top]
            inner: tuple[int, ...] = ()
            if kind in (K_UNION, K_INTERSECTION):
                inner = self.table.payload[top]
            elif kind in (K_REPEAT, K_BOUNDED):
                inner = (self.table.payload[top][0],)
            elif kind == K_COUNTING:
                inner = (self.table.payload[top][2],)
            elif kind == K_EARLY:
                inner = (self.table.payload[top],)
            tail = self.table.tail[top] if kind >= K_LITERAL else EMPTY
            missing = [t for t in (*inner, tail) if t not in done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            done[top] = min(FAR, self._longest_head(top, [done[t] for t in inner]) + done[tail])
        return done[term]

    def _longest_head(self, term: int, inner: list[int]) -> int:
        """Return an upper bound on the bytes of a term without its tail, from those of the terms that it refers to."""
        kind, payload = self.table.kind[term], self.table.payload[term]
        if kind == K_UNION:
            return max(inner)
        if kind == K_INTERSECTION:
            return min(inner)
        if kind == K_REPEAT:
            return FAR if payload[2] < 0 else inner[0] * int(payload[2])
        if kind in (K_BOUNDED, K_COUNTING, K_EARLY):
            return inner[0]
        if kind == K_LITERAL:
            return len(payload)
        if kind == K_BYTES:
            return 1
        if kind == K_DIGITS:
            return int(payload[3]) if payload[3] >= 0 else FAR
        if kind == K_CHARS:
            return max([len(sequence) for sequence in self.payloads.sequences[int(payload)]])
        return FAR

    def _alphabet_of_table(self, number: int) -> int:
        """Return the alphabet of all texts of a table; all characters if it is large or not in ASCII."""
        found = self._table_alphabets.get(number)
        if found is None:
            texts = self.payloads.texts[number]
            found = ASCII_MASK | OTHER_CHARS | BROKEN_CHARS
            if len(texts) <= MAX_TABLE_TEXTS:
                joined = b"".join(texts)
                if joined.isascii():
                    found = 0
                    for byte in set(joined):
                        found |= 1 << byte
            self._table_alphabets[number] = found
        return found

    def is_code(self, term: int) -> bool:
        """Return whether a term is a prefix code: none of its texts is a prefix of another.

        False if its form does not show it.
        """
        found = self._codes.get(term)
        if found is None:
            found = self._codes[term] = self._seems_code(term)
        return found

    def _seems_code(self, term: int) -> bool:
        """Compute `is_code`: at each choice the first bytes must tell the alternatives apart.

        Besides unions only literals, bytes, character classes and repetitions with one exact count are understood.
        """
        seen = {term}
        stack = [term]
        while stack:
            top = stack.pop()
            kind = self.table.kind[top]
            if kind == K_UNION:
                inner = self.table.payload[top]
                taken = 0
                for part in inner:
                    first = self._first_bytes(part)
                    if first == 0 or first & taken:
                        return False
                    taken |= first
            elif K_LITERAL <= kind <= K_CHARS:
                inner = (self.table.tail[top],)
            elif kind == K_REPEAT and self.table.payload[top][1] == self.table.payload[top][2]:
                inner = (self.table.payload[top][0], self.table.tail[top])
            elif kind == K_EMPTY:
                continue
            else:
                return False
            stack.extend([t for t in inner if t not in seen])
            seen.update(inner)
            if len(seen) > MAX_CODE_TERMS:
                return False
        return not self.table.accepting[term]

    def begin_apart(self, left: int, right: int) -> bool:
        """Return whether no byte begins texts of both terms; False if their forms do not show it."""
        masks = [0, 0]
        for side, term in enumerate((left, right)):
            for part in self.table.payload[term] if self.table.kind[term] == K_UNION else (term,):
                first = self._first_bytes(part)
                if first == 0:
                    return False
                masks[side] |= first
        return masks[0] & masks[1] == 0

    def _first_bytes(self, term: int) -> int:
        """Return the bytes that texts of a sequence may begin with, as a mask; 0 if its form does not show them."""
        kind = self.table.kind[term]
        if kind == K_LITERAL:
            return 1 << int(self.table.payload[term][0])
        if kind == K_BYTES:
            return int(self.table.payload[term])
        mask = 0
        if kind == K_CHARS:
            for sequence in self.payloads.sequences[self.table.payload[term]]:
                low, high = sequence[0]
                mask |= (2 << high) - (1 << low)
        return mask
