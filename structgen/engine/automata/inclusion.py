"""Inclusion of a term in a star C*·R, as far as the form of the term shows it.

An intersection of the term with C*·R then adds no condition, and is replaced by the term. Example: a JSON string with
`"minLength": 3` and a `pattern`. After three characters the length asks only for "any characters, then a quote", and
every text of the pattern is of that form. So the state becomes that of the pattern alone, and shares its tables.

The tests compare alphabets, and some compare byte by byte. Where they return False, the inclusion may still hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from structgen.engine.automata.alphabets import ASCII_MASK, Alphabets
from structgen.engine.automata.term_table import TermTable
from structgen.engine.constants import (
    ANY_BYTE,
    EMPTY,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    K_TABLE,
    K_UNION,
)
from structgen.engine.deadlines import spend

__all__ = ["is_all_refused", "is_made_of", "is_part_of", "is_spelled"]

ONE = 1  # an object: sets of bytes have 256 bits

# Declared as C integers in the .pxd, so not importable from here.
MAX_TERMS = 100  # terms, or pairs of terms, visited by one test; past it the answer is no
MAX_TERMS_OF_PROOF = 2_000  # the same where the alternative is a long search


class TermForms(Protocol):
    """The part of `RegularTerms` that the comparisons use; `RegularTerms` calls them."""

    @property
    def table(self) -> TermTable:
        """The table of terms."""

    @property
    def alphabets(self) -> Alphabets:
        """The characters of the terms."""

    def literal(self, data: bytes, tail: int) -> int:
        """Return the term of `data`, then `tail`."""

    def repeat(self, body: int, low: int, high: int, tail: int) -> int:
        """Return the term of `body` from `low` to `high` times (-1: without bound), then `tail`."""

    def is_made_of(self, term: int, body: int) -> bool:
        """Return whether each text of a term is a concatenation of texts of `body`."""


def is_spelled(
    terms: TermForms,
    term: int,
    body: int,
    rest: int,
    cover: int,
    known: dict[int, bool],
    heads: dict[int, bool] | None = None,
    most: int = MAX_TERMS,
) -> bool:
    """Return whether all texts of a term are texts of C*·R; False if its form does not show it.

    It follows the sequences of the term. Each head must be made of texts of C, until R is left:

        term          C           R
        abc*"         [a-z]       "         True: after `ab` and `c*`, R is left
        ab"c"         [a-z]       "         False: `"` is neither in C, nor all that is left

    Args:
        terms: the constructors and tables of terms.
        term: a sequence, or a union of sequences.
        body: C.
        rest: R.
        cover: the characters that are texts of C by themselves: `Alphabets.cover`.
        known: the results so far for this C and R, by term; new results are added.
        heads: if given, compare byte by byte where alphabets do not show it, as with escapes. This is slow. These are
            the results so far for C and an empty R, by which heads are compared; new results are added.
        most: the number of terms that the test visits at most.
    """
    table = terms.table
    seen = {term}
    waiting = [term]
    while waiting:
        spend(1)
        top = waiting.pop()
        if top == rest or known.get(top):
            continue
        following: Iterable[int] = ()
        if top not in known and len(seen) <= most:
            if table.kind[top] == K_UNION:
                following = table.payload[top]
            elif _has_head_of(terms, top, body, cover, heads, most):
                following = (table.tail[top],)
            elif heads is not None:
                following = _after_one(terms, top, body)
        if not following:
            known[term] = False
            return False
        # A term that was seen is not visited again: the rest of a text gets shorter at each step.
        waiting.extend([part for part in following if part not in seen])
        seen.update(following)
    known.update(dict.fromkeys(seen, True))
    return True


def is_all_refused(terms: TermForms, term: int, known: dict[int, dict[int, bool]]) -> bool:
    """Return whether a complement of an intersection refuses all that another of its parts matches.

    False if the forms do not show it. The comparison by bytes takes long, but less than a search of an automaton that
    has thousands of states.

        part          complement        C
        a(b|c)*"      ~[a-z]*"          [a-z]      True: no text is left

    Args:
        terms: the constructors and tables of terms.
        term: any term; False if it is no intersection.
        known: by C*·R, the results of `is_spelled` so far; new results are added.
    """
    if terms.table.kind[term] != K_INTERSECTION:
        return False
    parts = terms.table.payload[term]
    for other in parts:
        if terms.table.kind[other] != K_COMPLEMENT or terms.table.tail[other] != EMPTY:
            continue
        for star in _stars(terms, terms.table.payload[other]):
            body, rest = terms.table.payload[star][0], terms.table.tail[star]
            found = known.setdefault(star, {rest: True})
            heads = known.setdefault(terms.repeat(body, 0, -1, EMPTY), {EMPTY: True})
            before = len(found) + len(heads)
            cover = terms.alphabets.cover(body)
            is_refused = False
            for part in parts:
                if part != other:
                    is_refused = is_spelled(terms, part, body, rest, cover, found, heads, MAX_TERMS_OF_PROOF)
                if is_refused:
                    break
            terms.table.count_pairs(len(found) + len(heads) - before)
            if is_refused:
                return True
    return False


def _stars(terms: TermForms, refused: int) -> list[int]:
    """Return the sequences C*·R within the alternatives of a term where R is empty or one literal.

    What may be left out between C* and R is: `[a-z]*(/[a-z]*)?"` has all texts of `[a-z]*"`.
    """
    found: list[int] = []
    for term in terms.table.payload[refused] if terms.table.kind[refused] == K_UNION else (refused,):
        if terms.table.kind[term] != K_REPEAT or terms.table.payload[term][1:] != (0, -1):
            continue
        body, rest = terms.table.payload[term][0], terms.table.tail[term]
        for last in terms.table.payload[rest] if terms.table.kind[rest] == K_UNION else (rest,):
            end = last
            while terms.table.kind[end] == K_REPEAT and terms.table.payload[end][1] == 0:
                end = terms.table.tail[end]
            if end == EMPTY or (terms.table.kind[end] == K_LITERAL and terms.table.tail[end] == EMPTY):
                found.append(terms.repeat(body, 0, -1, end))
    return found


def _has_head_of(terms: TermForms, term: int, body: int, cover: int, heads: dict[int, bool] | None, most: int) -> bool:
    """Return whether the texts of a sequence's head are concatenations of texts of `body`."""
    table = terms.table
    kind = table.kind[term]
    if kind == K_REPEAT:
        inner = table.payload[term][0]
        return terms.is_made_of(inner, body) or (
            heads is not None and is_made_of(terms, inner, body, cover, heads, most)
        )
    if kind == K_BOUNDED:
        # Counted are the texts of `inner` that consist of a `phase`, the rest of a unit, and of a star of units.
        star, phase, inner = table.payload[table.payload[term][0]]
        return (phase == EMPTY and terms.is_made_of(star, body)) or terms.is_made_of(inner, body)
    if kind == K_INTERSECTION:
        for part in table.payload[term]:  # noqa: SIM110  (a generator would not be compiled)
            if terms.is_made_of(part, body):
                return True
        return False
    return kind in (K_LITERAL, K_BYTES, K_CHARS, K_TABLE) and terms.alphabets.head_alphabet(term) & ~cover == 0


def is_made_of(
    terms: TermForms, term: int, body: int, cover: int, heads: dict[int, bool] | None = None, most: int = MAX_TERMS
) -> bool:
    """Return whether each text of a term is a concatenation of texts of `body`.

    `cover`, `heads` and `most` are those of `is_spelled`.
    """
    if term == body:
        return True
    if terms.table.kind[term] == K_UNION:
        for part in terms.table.payload[term]:  # noqa: SIM110  (a generator would not be compiled)
            if not is_made_of(terms, part, body, cover, heads, most):
                return False
        return True
    if is_narrower(terms, term, body):
        return True
    known = {EMPTY: True} if heads is None else heads
    return is_spelled(terms, term, body, EMPTY, cover, known, heads, most)


def is_part_of(terms: TermForms, term: int, body: int, cover: int) -> bool:
    """Return whether each text of a term is one text of `body`; False if their forms do not show it."""
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
    """Return whether all texts of a term are texts of another; False if a comparison by bytes does not show it.

    This finds inclusions of escape sequences, which are several bytes long and so in no cover.
    """
    return _after_one(terms, term, other) == {EMPTY}


def _after_one(terms: TermForms, term: int, other: int) -> set[int]:
    """Return the rests of a term after one text of `other`, found by comparing byte by byte.

    The result is empty if some text of the term does not begin with a text of `other`, or if MAX_TERMS pairs of terms
    do not settle it.
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
    """Return the rests of a sequence and of a part of `other` after the same first byte or character class.

    Returns:
        One pair (rest of `term`, rest of the part); or no pair, if no part has all first bytes of `term`.
    """
    table = terms.table
    first, rest = _first_byte(terms, term)
    for part in table.payload[other] if table.kind[other] == K_UNION else (other,):
        if table.kind[part] == K_CHARS:
            if table.kind[term] == K_CHARS and table.payload[term] == table.payload[part]:
                return [(table.tail[term], table.tail[part])]
            wider, its_rest = terms.alphabets.head_alphabet(part) & ASCII_MASK, table.tail[part]
        else:
            wider, its_rest = _first_byte(terms, part)
        if first and first & ~wider == 0:
            return [(rest, its_rest)]
    return []


def _first_byte(terms: TermForms, term: int) -> tuple[int, int]:
    """Return the first bytes of a sequence, as a mask, and the rest after them; the mask is 0 if its form has none."""
    table = terms.table
    kind, payload = table.kind[term], table.payload[term]
    if kind == K_LITERAL:
        return ONE << payload[0], terms.literal(payload[1:], table.tail[term])
    if kind == K_BYTES:
        return payload, table.tail[term]
    if kind == K_REPEAT and payload[1] > 0 and table.kind[payload[0]] == K_BYTES and table.tail[payload[0]] == EMPTY:
        body, low, high = payload
        rest = terms.repeat(body, low - 1, high - 1 if high > 0 else high, table.tail[term])
        return table.payload[body], rest
    return 0, EMPTY
