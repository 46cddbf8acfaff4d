"""How many characters of some kinds may begin the texts of a term, read off its form.

At most 56 letters may come next in `[a-z]{0,55}[a-z0-9](-[a-z]+)*@`: 55 of the repetition, one more, and the `-` is
none. A token with more letters cannot come next, whatever states it would lead to.
"""

from __future__ import annotations

from structgen.engine.automata.alphabets import ASCII_MASK, Alphabets
from structgen.engine.constants import (
    EMPTY,
    FAR,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COUNTING,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    K_UNION,
    NOTHING,
)
from structgen.engine.deadlines import spend

__all__ = ["CharacterRuns"]

MAX_DEPTH = 60  # terms inside of terms; what is deeper is without bound


class CharacterRuns:
    """Longest runs of characters, with the results found so far.

    Args:
        alphabets: tell the characters of terms.
    """

    def __init__(self, alphabets: Alphabets) -> None:
        self._alphabets = alphabets
        self._table = alphabets.table
        self._known: dict[int, dict[int, int]] = {}  # by alphabet and term

    def longest(self, term: int, characters: int) -> int:
        """Return an upper bound on how many characters of an alphabet may begin a text of a term; FAR if none is known.

        Args:
            term: the term.
            characters: the alphabet. If it has characters beyond ASCII, it has all of them.
        """
        return self._find(term, characters, self._known.setdefault(characters, {EMPTY: 0, NOTHING: 0}), 0)

    def _find(self, term: int, characters: int, known: dict[int, int], depth: int) -> int:
        found = known.get(term)
        if found is not None:
            return found
        if depth == MAX_DEPTH:
            return FAR
        spend(1)
        kind = self._table.kind[term]
        run = self._of_head(term, characters, known, depth + 1)
        if K_LITERAL <= kind <= K_CHARS and run < self._length_of(term):
            found = run
        elif run < FAR and kind != K_UNION:
            found = min(FAR, run + self._find(self._table.tail[term], characters, known, depth + 1))
        else:
            found = run
        known[term] = found
        return found

    def _length_of(self, term: int) -> int:
        """Return the number of characters of a literal, a set of bytes or a class."""
        return len(self._table.payload[term]) if self._table.kind[term] == K_LITERAL else 1

    def _of_head(self, term: int, characters: int, known: dict[int, int], depth: int) -> int:
        """Return what `longest` does for a term without its tail."""
        kind, payload = self._table.kind[term], self._table.payload[term]
        if kind == K_UNION:
            return max([self._find(part, characters, known, depth) for part in payload])
        if kind == K_LITERAL:
            return _run_in(payload, characters)
        if kind in (K_BYTES, K_CHARS):
            return 1 if self._alphabets.head_alphabet(term) & characters else 0
        if kind == K_INTERSECTION:
            return min([self._find(part, characters, known, depth) for part in payload])
        if kind == K_COUNTING:
            return self._find(payload[2], characters, known, depth)
        if kind == K_REPEAT:
            each = self._find(payload[0], characters, known, depth)
            return 0 if each == 0 else FAR if payload[2] < 0 else min(FAR, each * int(payload[2]))
        if kind == K_BOUNDED:
            return self._of_bounded(payload, characters, known, depth)
        return FAR

    def _of_bounded(self, payload: tuple[int, int], characters: int, known: dict[int, int], depth: int) -> int:
        counting, most = payload
        star, phase, inner = self._table.payload[counting]
        each = self._find(self._table.payload[star][0], characters, known, depth)
        begun = self._find(phase, characters, known, depth)
        after = self._find(self._table.tail[star], characters, known, depth)
        return min(FAR, begun + each * most + after, self._find(inner, characters, known, depth))


def _run_in(data: bytes, characters: int) -> int:
    """Return how many characters of an alphabet begin some bytes; bytes beyond ASCII count each as one."""
    run = 0
    beyond = characters & ~ASCII_MASK
    for byte in data:
        if not (characters >> byte & 1 if byte < 128 else beyond):
            break
        run += 1
    return run
