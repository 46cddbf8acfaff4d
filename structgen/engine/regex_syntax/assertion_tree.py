r"""The tree of a pattern with assertions, as the parser builds it; `assertions.resolve` turns it into a regex.

A regex tree describes the texts that match. An assertion (`^`, `$`, look-ahead, look-behind, `\b`) is a condition on
the text around a position. `Pattern` is a regex, or an `Asserting` node that has both kinds of parts:

    ^a(?!b)c*      Asserting("sequence", (Asserting("begin"), Literal(b"a"), Asserting("look", …, negative=True), c*))

`\b` has no node of its own: it is a choice of "a word character before and none after", and the opposite.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from structgen.engine.regex.tree import EMPTY, NOTHING, Chars, Choice, Literal, Regex, choice, repeat, sequence
from structgen.engine.regex.unicode_classes import Ranges, negation_of, union_of

__all__ = [
    "Asserting",
    "CannotRepeat",
    "Pattern",
    "alternatives",
    "assertion",
    "join",
    "line_anchor",
    "look_ahead",
    "look_behind",
    "repeated",
    "single_character",
    "word_boundary",
    "word_edge",
]


@dataclass(slots=True, eq=False)
class Asserting:
    """A part of a pattern with an assertion in it.

    Attributes:
        kind: "begin", "end", "end_or_newline" (Python's `$`), "look", "behind", "sequence", "choice", "repeat".
        parts: its parts; for "look", "behind" and "repeat" exactly one.
        min, max: the counts of a "repeat".
        negative: whether a "look" or "behind" is negative.
        begin: the position of a "repeat" in the pattern, if it is known.
        has_begin: it contains a "begin".
        has_refused_begin: it contains a "begin" in a negative look-ahead, so it may match less where the text begins.
        has_look: it contains a look-ahead over more than one character, or Python's `$`.
        has_near_look: it contains a look-ahead at one character.
        has_behind: it contains a "behind", or a "repeat" with a look-ahead at one character.
        has_rounds: it contains a "repeat" of more than one round.
        has_looking_rounds: it contains such a "repeat" with a look-ahead over more than one character.
        depth: the depth of nesting.
        size: the number of nodes, where a regex is one node; a shared part counts at each of its uses.
    """

    kind: str
    parts: tuple[Pattern, ...] = ()
    min: int = 0
    max: int | None = None
    negative: bool = False
    begin: int = field(init=False, default=0)
    has_begin: bool = field(init=False, default=False)
    has_refused_begin: bool = field(init=False, default=False)
    has_look: bool = field(init=False, default=False)
    has_near_look: bool = field(init=False, default=False)
    has_behind: bool = field(init=False, default=False)
    has_rounds: bool = field(init=False, default=False)
    has_looking_rounds: bool = field(init=False, default=False)
    depth: int = field(init=False, default=1)
    size: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        kind = self.kind
        self.size += len(self.parts)
        if kind == "begin":
            self.has_begin = True
        elif kind == "end_or_newline":
            self.has_look = True
        elif kind == "behind":
            self.has_behind = True
        elif kind == "look":
            self.has_near_look = single_character(self.parts[0]) is not None
            self.has_look = not self.has_near_look
        for part in self.parts:
            if isinstance(part, Asserting):
                self._take_over(part)
        if kind == "repeat" and self.max != 1:
            self.has_rounds = True
            self.has_looking_rounds = self.has_looking_rounds or self.has_look
            self.has_behind = self.has_behind or self.has_near_look
        elif self.negative and self.has_begin:
            self.has_refused_begin = True

    def _take_over(self, part: Asserting) -> None:
        """Copy the facts of a part to the whole."""
        self.has_begin = self.has_begin or part.has_begin
        self.has_refused_begin = self.has_refused_begin or part.has_refused_begin
        self.has_look = self.has_look or part.has_look
        self.has_near_look = self.has_near_look or part.has_near_look
        self.has_behind = self.has_behind or part.has_behind
        self.has_rounds = self.has_rounds or part.has_rounds
        self.has_looking_rounds = self.has_looking_rounds or part.has_looking_rounds
        self.depth = max(self.depth, part.depth + 1)
        self.size += part.size - 1


Pattern = Regex | Asserting


class CannotRepeat(Exception):
    """A repeated group with assertions that is not supported; the parser adds the position.

    Attributes:
        begin: the position of the group in the pattern, if that is known; otherwise 0.
    """

    def __init__(self, message: str, part: Asserting) -> None:
        super().__init__(message)
        self.begin = part.begin


def single_character(part: Pattern) -> Chars | None:
    """Return a part that matches single characters only as their set, else None."""
    if isinstance(part, Chars):
        return part
    if isinstance(part, Choice):
        inner = [single_character(p) for p in part.parts]
        return None if None in inner else Chars(union_of(r for found in inner if found for r in found.ranges))
    if isinstance(part, Literal) and 0 < len(part.data) <= 4:
        text = part.data.decode(errors="replace")
        return Chars(((ord(text), ord(text)),)) if len(text) == 1 and text != "\ufffd" else None
    return None


def assertion(kind: str) -> Asserting:
    """Return an anchor: "begin", "end" or "end_or_newline"."""
    return Asserting(kind)


def look_ahead(body: Pattern, *, negative: bool) -> Pattern:
    """Return `(?=body)`, or `(?!body)` if negative."""
    if isinstance(body, Asserting) or body != NOTHING:
        return Asserting("look", (body,), negative=negative)
    return EMPTY if negative else NOTHING


def join(*parts: Pattern) -> Pattern:
    """Return the parts one after the other."""
    if any(not isinstance(p, Asserting) and p == NOTHING for p in parts):
        return NOTHING
    out: list[Pattern] = []
    plain: list[Regex] = []
    for part in parts:
        if isinstance(part, Asserting):
            if plain:
                out.append(sequence(*plain))
                plain = []
            out.append(part)
        else:
            plain.append(part)
    if plain and (not out or plain != [EMPTY]):
        out.append(sequence(*plain))
    return out[0] if len(out) == 1 else Asserting("sequence", tuple(out)) if out else EMPTY


def alternatives(*parts: Pattern) -> Pattern:
    """Return the choice between the parts."""
    plain = choice(*(p for p in parts if not isinstance(p, Asserting)))
    asserting = [p for p in parts if isinstance(p, Asserting)]
    if not asserting:
        return plain
    if plain == NOTHING:
        return asserting[0] if len(asserting) == 1 else Asserting("choice", tuple(asserting))
    return Asserting("choice", (plain, *asserting))


def repeated(body: Pattern, minimum: int, maximum: int | None) -> Pattern:
    """Return `body` between `minimum` and `maximum` times."""
    if not isinstance(body, Asserting):
        return repeat(body, minimum, maximum)
    if maximum == 0:
        return EMPTY
    return body if minimum == maximum == 1 else Asserting("repeat", (body,), minimum, maximum)


def look_behind(body: Pattern, *, negative: bool) -> Pattern:
    """Return `(?<=body)`, or `(?<!body)` if negative."""
    if isinstance(body, Asserting) or body != NOTHING:
        return Asserting("behind", (body,), negative=negative)
    return EMPTY if negative else NOTHING


def line_anchor(kind: str, new_lines: Ranges, *, crlf: bool = False) -> Pattern:
    r"""Return `^` or `$` at each line: `(?<![^\n])` or `(?![^\n])`.

    Args:
        kind: "begin" or "end".
        new_lines: the characters that end a line.
        crlf: there is no line between `\r` and `\n`.
    """
    inside = Chars(negation_of(new_lines))
    found = look_behind(inside, negative=True) if kind == "begin" else look_ahead(inside, negative=True)
    if not crlf:
        return found
    apart = alternatives(look_behind(Literal(b"\r"), negative=True), look_ahead(Literal(b"\n"), negative=True))
    return join(found, apart)


def word_edge(word: Ranges, edge: str) -> Pattern:
    r"""Return one of Rust's boundaries of a word: `\b{start}`, `\b{end}`, `\b{start-half}` or `\b{end-half}`.

    Args:
        word: the word characters.
        edge: "start", "end", "start-half" or "end-half".
    """
    inside = Chars(word)
    if edge == "start":
        return join(look_behind(inside, negative=True), look_ahead(inside, negative=False))
    if edge == "end":
        return join(look_behind(inside, negative=False), look_ahead(inside, negative=True))
    half = look_behind if edge == "start-half" else look_ahead
    return half(inside, negative=True)


def word_boundary(word: Ranges, *, negative: bool, in_text: bool = False) -> Pattern:
    r"""Return `\b`, or `\B` if negative.

    Args:
        word: the word characters.
        negative: whether it is `\B`.
        in_text: `\B` does not hold in the empty text (Python before 3.14).
    """
    inside = Chars(word)
    ends, starts = look_behind(inside, negative=False), look_ahead(inside, negative=False)
    not_ends, not_starts = look_behind(inside, negative=True), look_ahead(inside, negative=True)
    if not negative:
        return alternatives(join(ends, not_starts), join(not_ends, starts))
    if not in_text:
        return alternatives(join(ends, starts), join(not_ends, not_starts))
    other = Chars(negation_of(word))
    before, after = look_behind(other, negative=False), look_ahead(other, negative=False)
    return alternatives(join(ends, starts), join(before, not_starts), join(not_ends, after))
