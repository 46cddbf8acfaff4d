"""Inclusion of terms in C*·R, as far as their forms show it: an intersection with C*·R then adds nothing.

Once a string has as many characters as it needs, "a string" is all that is left of that condition, beside what a
pattern asks. Without it what is left is the pattern, whose states have tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from structgen.engine.automata.alphabets import ASCII_MASK, Alphabets
from structgen.engine.automata.term_table import TermTable
from structgen.engine.constants import ANY_BYTE, EMPTY, K_BYTES, K_CHARS, K_LITERAL, K_REPEAT, K_TABLE, K_UNION

__all__ = ["is_made_of", "is_part_of", "is_spelled"]

MAX_TERMS = 100  # looked at for one answer


class TermForms(Protocol):
    """The part of `RegularTerms` that the comparisons use; `RegularTerms` calls them."""

    @property
    def table(self) -> TermTable:
        """The terms."""

    @property
    def alphabets(self) -> Alphabets:
        """The characters of the terms."""

    def literal(self, data: bytes, tail: int) -> int:
        """Return the term of a text, then `tail`."""

    def repeat(self, body: int, low: int, high: int, tail: int) -> int:
        """Return the term of a repetition, then `tail`."""

    def is_made_of(self, term: int, body: int) -> bool:
        """Return whether all texts of a term are seen to be made of texts of `body`."""


def is_spelled(
    terms: TermForms, term: int, body: int, rest: int, cover: int, known: dict[int, bool], *, by_bytes: bool = False
) -> bool:
    """Return whether all texts of a term are seen to be made of texts of `body`, and end as `rest`.

    Args:
        terms: has the terms.
        term: a sequence, or a union of such.
        body: C.
        rest: R.
        cover: the alphabet each of whose characters is a text of `body`, as `Alphabets.head_alphabet` has it.
        known: what was found for terms, with this body and rest; what is found is added.
        by_bytes: looks byte by byte where it is not seen otherwise, as with escapes; which takes time.
    """
    seen = {term}
    waiting = [term]
    while waiting:
        top = waiting.pop()
        if top == rest or known.get(top):
            continue
        following: Iterable[int] = ()
        if top not in known and len(seen) <= MAX_TERMS:
            if terms.table.kind[top] == K_UNION:
                following = terms.table.payload[top]
            elif _has_head_of(terms, top, body, cover, by_bytes):
                following = (terms.table.tail[top],)
            elif by_bytes:
                following = _after_one(terms, top, body)
        if not following:
            known[term] = False
            return False
        # A term that was seen needs no second look: what is left of a text grows shorter at each step.
        waiting.extend([part for part in following if part not in seen])
        seen.update(following)
    known.update(dict.fromkeys(seen, True))
    return True


def _has_head_of(terms: TermForms, term: int, body: int, cover: int, by_bytes: bool) -> bool:
    """Return whether the head of a sequence is made of texts of `body`."""
    kind = terms.table.kind[term]
    if kind == K_REPEAT:
        inner = terms.table.payload[term][0]
        return terms.is_made_of(inner, body) or (by_bytes and is_made_of(terms, inner, body, cover, by_bytes=True))
    return kind in (K_LITERAL, K_BYTES, K_CHARS, K_TABLE) and terms.alphabets.head_alphabet(term) & ~cover == 0


def is_made_of(terms: TermForms, term: int, body: int, cover: int, *, by_bytes: bool = False) -> bool:
    """Return whether the texts of a repeated term are made of texts of `body`."""
    if term == body:
        return True
    if terms.table.kind[term] == K_UNION:
        return all(is_made_of(terms, part, body, cover, by_bytes=by_bytes) for part in terms.table.payload[term])
    if is_narrower(terms, term, body):
        return True
    return is_spelled(terms, term, body, EMPTY, cover, {EMPTY: True}, by_bytes=by_bytes)


def is_part_of(terms: TermForms, term: int, body: int, cover: int) -> bool:
    """Return whether each text of a term is one text of `body`, as far as their forms show it."""
    for part in terms.table.payload[term] if terms.table.kind[term] == K_UNION else (term,):
        is_covered = _is_character(terms, part, body) and terms.alphabets.head_alphabet(part) & ~cover == 0
        if not is_covered and not is_narrower(terms, part, body):
            return False
    return True


def _is_character(terms: TermForms, term: int, body: int) -> bool:
    """Return whether each text of a term is one character, and one byte where `body` is any byte."""
    if terms.table.tail[term] != EMPTY:
        return False
    kind = terms.table.kind[term]
    if kind == K_LITERAL:
        text = terms.table.payload[term].decode(errors="replace")
        return len(text) == 1 and (text.isascii() or body != ANY_BYTE)
    return kind == K_BYTES or (kind == K_CHARS and body != ANY_BYTE)


def is_narrower(terms: TermForms, term: int, other: int) -> bool:
    """Return whether all texts of a term are matched by another, byte for byte, as it is with escapes."""
    return _after_one(terms, term, other) == {EMPTY}


def _after_one(terms: TermForms, term: int, other: int) -> set[int]:
    """Return the rests of a term after one text of `other`, compared byte for byte.

    Empty if not all texts of the term begin with a text of `other`.
    """
    found: set[int] = set()
    seen = {(term, other)}
    waiting = [(term, other)]
    while waiting:
        left, right = waiting.pop()
        if right == EMPTY or left == right:
            found.add(left if right == EMPTY else EMPTY)
            continue
        if terms.table.kind[left] == K_UNION:
            following = [(part, right) for part in terms.table.payload[left]]
        else:
            following = _after_first_byte(terms, left, right)
        if not following or len(seen) > MAX_TERMS:
            return set()
        waiting.extend([pair for pair in following if pair not in seen])
        seen.update(following)
    return found


def _after_first_byte(terms: TermForms, term: int, other: int) -> list[tuple[int, int]]:
    """Return the rests of a sequence and of a part of `other` after the same first byte or character class, if any."""
    first, rest = _first_byte(terms, term)
    for part in terms.table.payload[other] if terms.table.kind[other] == K_UNION else (other,):
        wider, its_rest = _first_byte(terms, part)
        if terms.table.kind[part] == K_CHARS:
            if terms.table.kind[term] == K_CHARS and terms.table.payload[term] == terms.table.payload[part]:
                return [(terms.table.tail[term], terms.table.tail[part])]
            wider, its_rest = terms.alphabets.head_alphabet(part) & ASCII_MASK, terms.table.tail[part]
        if first and first & ~wider == 0:
            return [(rest, its_rest)]
    return []


def _first_byte(terms: TermForms, term: int) -> tuple[int, int]:
    """Return the bytes that a sequence begins with, as a mask, and what follows; the mask is 0 for other terms."""
    kind = terms.table.kind[term]
    payload = terms.table.payload[term]
    if kind == K_LITERAL:
        return 1 << payload[0], terms.literal(payload[1:], terms.table.tail[term])
    if kind == K_BYTES:
        return payload, terms.table.tail[term]
    if (
        kind == K_REPEAT
        and payload[1] > 0
        and terms.table.kind[payload[0]] == K_BYTES
        and terms.table.tail[payload[0]] == EMPTY
    ):
        body, low, high = payload
        return terms.table.payload[body], terms.repeat(
            body, low - 1, high - 1 if high > 0 else high, terms.table.tail[term]
        )
    return 0, EMPTY
