"""Patterns with anchors and look-ahead, and how these become plain regexes.

A regex tree says which texts match; an anchor or a look-ahead says something about the rest of the text, or about
what came before. Both are resolved where the whole text is known: at the top of the pattern.

`^` is resolved from the left. For each part there are two languages: what it matches at the begin of the text (P), and
past it, where `^` never holds (Q). Then P(AB) = P(A)·Q(B) ∪ [A matches the empty text there]·P(B). `$` and look-ahead
are resolved from the right: with K the language of all that follows a part, (?=X) leaves of K what begins with X,
(?!X) the rest, and `$` leaves the empty text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from structgen.engine.automata import AutomatonStore
from structgen.engine.regex import (
    ANY_CHAR,
    EMPTY,
    NOTHING,
    ByteSet,
    Chars,
    Choice,
    Complement,
    Early,
    Intersection,
    Literal,
    Regex,
    Repeat,
    Sequence,
    choice,
    difference,
    intersection,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.errors import GrammarError

__all__ = ["Asserting", "Pattern", "alternatives", "assertion", "join", "look_ahead", "repeated", "resolve"]

ANY_TEXT = star(ANY_CHAR)


@dataclass(slots=True, eq=False)
class Asserting:
    """A part of a pattern that holds an assertion.

    Attributes:
        kind: "begin", "end", "end_or_newline" (Python's `$`), "look", "sequence", "choice", "repeat".
        parts: what it is made of; for "look" and "repeat" one part.
        min, max: of "repeat".
        negative: of "look".
        has_begin: a "begin" is in it.
        has_refused_begin: a "begin" is in a negative look-ahead, so that it may match less at the begin of the text.
        has_look: something that looks at the text that follows is in it, an "end" apart.
        depth: nesting.
    """

    kind: str
    parts: tuple[Pattern, ...] = ()
    min: int = 0
    max: int | None = None
    negative: bool = False
    has_begin: bool = field(init=False)
    has_refused_begin: bool = field(init=False)
    has_look: bool = field(init=False)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        inner = [part for part in self.parts if isinstance(part, Asserting)]
        self.has_begin = self.kind == "begin" or any(part.has_begin for part in inner)
        self.has_refused_begin = any(part.has_refused_begin for part in inner) or (self.negative and self.has_begin)
        self.has_look = self.kind in ("look", "end_or_newline") or any(part.has_look for part in inner)
        self.depth = 1 + max((part.depth for part in inner), default=0)


Pattern = Regex | Asserting


def assertion(kind: str) -> Asserting:
    """An anchor: "begin", "end" or "end_or_newline"."""
    return Asserting(kind)


def look_ahead(body: Pattern, *, negative: bool) -> Pattern:
    """`(?=body)`, or `(?!body)` if negative."""
    if isinstance(body, Asserting) or body != NOTHING:
        return Asserting("look", (body,), negative=negative)
    return EMPTY if negative else NOTHING


def join(*parts: Pattern) -> Pattern:
    """One part after the other."""
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
    """Any of the parts."""
    plain = choice(*(p for p in parts if not isinstance(p, Asserting)))
    asserting = [p for p in parts if isinstance(p, Asserting)]
    if not asserting:
        return plain
    if plain == NOTHING:
        return asserting[0] if len(asserting) == 1 else Asserting("choice", tuple(asserting))
    return Asserting("choice", (plain, *asserting))


def repeated(body: Pattern, minimum: int, maximum: int | None) -> Pattern:
    """`body` between `minimum` and `maximum` times."""
    if not isinstance(body, Asserting):
        return repeat(body, minimum, maximum)
    if maximum == 0:
        return EMPTY
    return body if minimum == maximum == 1 else Asserting("repeat", (body,), minimum, maximum)


def resolve(pattern: Pattern, *, anchored: bool) -> Regex:
    """The texts that a pattern matches: as a whole, or somewhere in them.

    Args:
        pattern: nested no deeper than Python's stack allows; "repeat" with more than one round holds no "look".
        anchored: whether the pattern must match the whole text.

    Raises:
        GrammarError: `^` in a negative look-ahead after something that cannot be told to be empty or not.
    """
    if not isinstance(pattern, Asserting):
        return pattern if anchored else sequence(ANY_TEXT, pattern, ANY_TEXT)
    whole = pattern if anchored else join(ANY_TEXT, pattern, ANY_TEXT)
    return _before(_at_begin(whole), EMPTY)


def _is_nullable(regex: Regex) -> bool:
    """Whether a regex matches the empty text. Looks no further than it must: mostly at the first part that does not."""
    # Open nodes: what is left of their parts, the value of a part that decides, whether to negate the outcome.
    stack: list[tuple[Iterator[Regex], bool, bool]] = []
    value = False
    node: Regex | None = regex
    while node is not None:
        match node:
            case Sequence(parts) | Intersection(parts):
                stack.append((iter(parts), False, False))
                value = True
            case Choice(parts):
                stack.append((iter(parts), True, False))
                value = False
            case Complement(body) | Early(body):
                stack.append((iter((body,)), False, isinstance(node, Complement)))
                value = True
            case Repeat(body, low, _):
                stack.append((iter((body,) if low else ()), False, False))
                value = True
            case _:
                value = _leaf_is_nullable(node)
        node = None
        while stack and node is None:
            parts_left, decisive, negated = stack[-1]
            node = next(parts_left, None) if value != decisive else None
            if node is None:
                stack.pop()
                value = value != negated
    return value


def _leaf_is_nullable(leaf: Regex) -> bool:
    """Whether a regex without parts matches the empty text."""
    match leaf:
        case Literal(data):
            return not data
        case Chars() | ByteSet():
            return False
    store = AutomatonStore()
    return store.is_accepting(store.add(leaf))


def _matches(regex: Regex, text: bytes) -> bool:
    """Whether a regex matches a text."""
    store = AutomatonStore()
    return store.matches(store.add(regex), text)


def _has_begin(part: Pattern) -> bool:
    return isinstance(part, Asserting) and part.has_begin


def _empty_at_begin(part: Pattern) -> Pattern | None:
    """What remains to be asserted when a part matches the empty text at the begin of the text; None if it cannot."""
    if not isinstance(part, Asserting):
        return EMPTY if _is_nullable(part) else None
    if part.kind == "begin":
        return EMPTY
    if part.kind == "look":
        return _at_begin(part)
    if part.kind == "sequence":
        inner = [_empty_at_begin(p) for p in part.parts]
        return None if None in inner else join(*(p for p in inner if p is not None))
    if part.kind == "choice":
        found = [p for p in map(_empty_at_begin, part.parts) if p is not None]
        return alternatives(*found) if found else None
    if part.kind == "repeat":
        return EMPTY if part.min == 0 else _empty_at_begin(part.parts[0])
    return part


def _at_begin(part: Pattern) -> Pattern:
    """What a part matches at the begin of the text, its `^` resolved."""
    if not isinstance(part, Asserting) or not part.has_begin:
        return part
    if part.kind == "begin":
        return EMPTY
    if part.kind == "look":
        return look_ahead(_at_begin(part.parts[0]), negative=part.negative)
    if part.kind == "choice":
        return alternatives(*[_at_begin(p) for p in part.parts])
    if part.kind == "sequence":
        return _sequence_at_begin(part.parts)
    body = part.parts[0]
    first, others = _at_begin(body), _past_begin(body)
    fewer = None if part.max is None else part.max - 1
    found = [join(first, repeated(others, max(part.min - 1, 0), fewer))]
    empty = _empty_at_begin(body)
    if empty is not None and part.min > 1:
        # Rounds that match nothing at the begin fill up the count.
        found.append(join(empty, first, repeated(others, 0, None if part.max is None else part.max - 2)))
    if part.min == 0:
        found.append(EMPTY)
    return alternatives(*found)


def _sequence_at_begin(parts: tuple[Pattern, ...]) -> Pattern:
    """P of a sequence: for each part, all before it empty, and all after it past the begin."""
    found: list[Pattern] = []
    asserted: Pattern = EMPTY
    for number, part in enumerate(parts):
        rest = parts[number + 1 :]
        first = _at_begin(part)
        if any(isinstance(p, Asserting) and p.has_refused_begin for p in rest):
            first = _not_empty(first)
        found.append(join(asserted, first, *map(_past_begin, rest)))
        if not any(map(_has_begin, rest)):
            break
        empty = _empty_at_begin(part)
        if empty is None:
            break
        asserted = join(asserted, empty)
    return alternatives(*found)


def _not_empty(part: Pattern) -> Pattern:
    """What a part matches but for the empty text."""
    if not isinstance(part, Asserting):
        return intersection(part, plus(ANY_CHAR)) if _is_nullable(part) else part
    if _empty_at_begin(part) is None:
        return part
    if part.kind == "look" or part.kind.startswith("end"):
        return NOTHING
    raise GrammarError("'^' in a negative look-ahead is not supported after a part with assertions of its own")


def _past_begin(part: Pattern) -> Pattern:
    """What a part matches past the begin of the text, where its `^` never hold."""
    if not isinstance(part, Asserting) or not part.has_begin:
        return part
    if part.kind == "begin":
        return NOTHING
    inner = [_past_begin(p) for p in part.parts]
    if part.kind == "look":
        return look_ahead(inner[0], negative=part.negative)
    if part.kind == "choice":
        return alternatives(*inner)
    if part.kind == "sequence":
        return join(*inner)
    return repeated(inner[0], part.min, part.max)


def _before(part: Pattern, rest: Regex) -> Regex:
    """A part, then `rest`, which is all that follows to the end of the text."""
    if not isinstance(part, Asserting):
        return sequence(part, rest)
    if part.kind == "end":
        return EMPTY if _is_nullable(rest) else NOTHING
    if part.kind == "end_or_newline":
        return choice(*[Literal(text) for text in (b"", b"\n") if _matches(rest, text)])
    if part.kind == "look":
        seen = _before(part.parts[0], ANY_TEXT)
        return difference(rest, seen) if part.negative else intersection(rest, seen)
    if part.kind == "sequence":
        for inner in reversed(part.parts):
            rest = _before(inner, rest)
        return rest
    if part.kind == "choice":
        return choice(*[_before(inner, rest) for inner in part.parts])
    body = part.parts[0]
    if part.max == 1:
        return choice(_before(body, rest), *([rest] if part.min == 0 else []))
    others = _past_end(body)
    fewer = None if part.max is None else part.max - 1
    found = [sequence(repeat(others, max(part.min - 1, 0), fewer), _before(body, rest))]
    empty = _empty_at_begin(body)
    if empty is not None and part.min > 1:
        last = _before(body, _before(empty, rest))
        found.append(sequence(repeat(others, 0, None if part.max is None else part.max - 2), last))
    if part.min == 0:
        found.append(rest)
    return choice(*found)


def _past_end(part: Pattern) -> Regex:
    """What a part without look-ahead matches where more text follows, so that its `$` never hold."""
    if not isinstance(part, Asserting):
        return part
    if part.kind == "end":
        return NOTHING
    inner = [_past_end(p) for p in part.parts]
    if part.kind == "choice":
        return choice(*inner)
    if part.kind == "sequence":
        return sequence(*inner)
    return repeat(inner[0], part.min, part.max)
