"""Syntax trees of regular expressions over bytes and Unicode characters, and the functions that build them.

A tree denotes a set of byte strings. `Chars` stands for one Unicode scalar value in UTF-8; everything else is
about bytes. Trees are immutable by convention. `regex_syntax/parser.py` reads them from text, `automata/store.py`
turns them into automata.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from structgen.engine.deadlines import empty, spend

__all__ = [
    "ANY_BYTES",
    "ANY_CHAR",
    "EMPTY",
    "NOTHING",
    "ByteSet",
    "Chars",
    "Choice",
    "Complement",
    "Early",
    "Intersection",
    "Literal",
    "LiteralSet",
    "Multiple",
    "Regex",
    "Remainders",
    "Repeat",
    "Runs",
    "Sequence",
    "Substrings",
    "choice",
    "difference",
    "intersection",
    "literal_set",
    "optional",
    "plus",
    "repeat",
    "sequence",
    "star",
]


@dataclass(unsafe_hash=True)
class Literal:
    """Exactly these bytes; `Literal(b"")` is the empty text."""

    data: bytes


@dataclass(unsafe_hash=True)
class Chars:
    """Any one Unicode scalar value of some ranges, in UTF-8.

    Attributes:
        ranges: inclusive code point ranges, sorted, disjoint, not adjacent, without surrogates.
    """

    ranges: tuple[tuple[int, int], ...]


@dataclass(unsafe_hash=True)
class ByteSet:
    """Any one byte of a set: bit `b` of `mask` (256 bits) is set for byte `b`. `ByteSet(0)` matches nothing."""

    mask: int


@dataclass(unsafe_hash=True)
class Sequence:
    """The concatenation of at least two parts."""

    parts: tuple[Regex, ...]


@dataclass(unsafe_hash=True)
class Choice:
    """Any of the parts; at least two."""

    parts: tuple[Regex, ...]


@dataclass(unsafe_hash=True)
class Repeat:
    """`body` at least `min` and at most `max` times; `max` None is without bound."""

    body: Regex
    min: int
    max: int | None


@dataclass(unsafe_hash=True)
class Intersection:
    """The texts that all parts match."""

    parts: tuple[Regex, ...]


@dataclass(unsafe_hash=True)
class Complement:
    """Every byte string that `body` does not match (not only UTF-8; intersect with what you mean)."""

    body: Regex


@dataclass(unsafe_hash=True)
class Early:
    """The matches of `body` that have no shorter match of `body` as a prefix: matching ends at the first chance."""

    body: Regex


@dataclass(unsafe_hash=True)
class LiteralSet:
    """Any one of many byte strings, kept as a sorted table rather than as a tree."""

    texts: tuple[bytes, ...]


@dataclass(unsafe_hash=True)
class Substrings:
    """Any run of whole units of the text, the empty one too; a unit is one element of `units` (a character, say)."""

    units: tuple[bytes, ...]


@dataclass(unsafe_hash=True)
class Runs:
    """Any run of one or more units of the text.

    Attributes:
        units: the text, such as a word each with the white space before it.
        skipped: for each unit, how many of its bytes are left out where it begins a run: that white space. Equal units
            have equal numbers, less than their lengths.
    """

    units: tuple[bytes, ...]
    skipped: tuple[int, ...]


@dataclass(unsafe_hash=True)
class Multiple:
    """Decimal digits whose number, read on from `remainder`, is a multiple of `divisor`. A point among them is skipped.

    Of the empty text: whether `remainder` is 0. Intersect it with how numbers are written.

    Attributes:
        divisor: the divisor.
        remainder: of the digits before.
        factors: if there are some, the number is a multiple of one of these factors of `divisor`.
    """

    divisor: int
    remainder: int = 0
    factors: tuple[int, ...] = ()


@dataclass(unsafe_hash=True)
class Remainders:
    """Decimal digits that continue a number with some remainder, so that it becomes a member of a set of integers.

    Attributes:
        choices: sets of integers, each a step and divisors: its multiples that are multiples of none of the divisors.
            The number must be in one of them.
        remainder: of the digits before, modulo the least common multiple of all steps and divisors.
        min: the least number of digits.
        max: the largest number of digits; None if there is no bound.
    """

    choices: tuple[tuple[int, tuple[int, ...]], ...]
    remainder: int
    min: int
    max: int | None


Regex = (
    Literal
    | Chars
    | ByteSet
    | Sequence
    | Choice
    | Repeat
    | Intersection
    | Complement
    | Early
    | LiteralSet
    | Multiple
    | Remainders
    | Substrings
    | Runs
)


def _parts_of(tree: Any) -> tuple[type, tuple[Any, ...]]:
    """Return the class of a tree, and the arguments that make it again: how pickle stores it."""
    return type(tree), tuple([getattr(tree, name) for name in tree.__match_args__])


for _kind in Regex.__args__:
    copyreg.pickle(_kind, _parts_of)

NOTHING: Regex = ByteSet(0)
EMPTY: Regex = Literal(b"")
ANY_CHAR: Regex = Chars(((0, 0xD7FF), (0xE000, 0x10FFFF)))
ANY_BYTES: Regex = Repeat(ByteSet((1 << 256) - 1), 0, None)


def sequence(*parts: Regex) -> Regex:
    """Return one part after the other; flattens, drops empty texts, joins neighbouring literals."""
    out: list[Regex] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Sequence) else (part,):
            if piece == NOTHING:
                return NOTHING
            if isinstance(piece, Literal):
                if not piece.data:
                    continue
                if out and isinstance(last := out[-1], Literal):
                    out[-1] = Literal(last.data + piece.data)
                    continue
            out.append(piece)
    if not out:
        return EMPTY
    return out[0] if len(out) == 1 else Sequence(tuple(out))


def choice(*parts: Regex) -> Regex:
    """Return any of the parts; flattens and drops what matches nothing. Of no parts it matches nothing."""
    out: list[Regex] = []
    for part in parts:
        out.extend(p for p in (part.parts if isinstance(part, Choice) else (part,)) if p != NOTHING)
    if not out:
        return NOTHING
    return out[0] if len(out) == 1 else Choice(tuple(out))


def repeat(body: Regex, minimum: int, maximum: int | None) -> Regex:
    """Return `body` between `minimum` and `maximum` times."""
    if maximum == 0:
        return EMPTY
    return body if minimum == 1 and maximum == 1 else Repeat(body, minimum, maximum)


def optional(body: Regex) -> Regex:
    """Return `body` or the empty text."""
    return Repeat(body, 0, 1)


def star(body: Regex) -> Regex:
    """Return `body` any number of times."""
    return Repeat(body, 0, None)


def plus(body: Regex) -> Regex:
    """`body` at least once."""
    return Repeat(body, 1, None)


def intersection(*parts: Regex) -> Regex:
    """Return what all parts match."""
    if len(parts) == 1:
        return parts[0]
    return NOTHING if NOTHING in parts else Intersection(parts)


def difference(left: Regex, right: Regex) -> Regex:
    """Return what `left` matches and `right` does not."""
    return NOTHING if left == NOTHING else Intersection((left, Complement(right)))


MAX_AT_ONCE = 20_000  # texts


def _common_length(left: bytes, right: bytes) -> int:
    """Return the number of bytes that two texts begin with in common."""
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length


def _sorted(texts: list[bytes]) -> tuple[bytes, ...]:
    """Sort many texts, each once, in parts: one long sort would hold Python's interpreter lock. The list is emptied.

    The parts have different bytes after what all texts begin with: a, ba and bb are sorted for themselves.
    """
    done: list[bytes] = []
    waiting = [texts]
    while waiting:
        part = waiting.pop()
        spend(len(part) >> 2)
        if len(part) <= MAX_AT_ONCE:
            done += sorted(set(part))
            continue
        lowest, highest = _bounds(part)
        if lowest == highest:
            done.append(lowest)
            continue
        begin = _common_length(lowest, highest)
        parts: dict[bytes, list[bytes]] = {}
        for first in range(0, len(part), MAX_AT_ONCE):
            spend(MAX_AT_ONCE)
            for text in part[first : first + MAX_AT_ONCE]:
                parts.setdefault(text[begin : begin + 2], []).append(text)
        waiting += [parts[key] for key in sorted(parts, reverse=True)]
        empty(part)
    table = tuple(done)
    empty(done)
    return table


def _bounds(texts: list[bytes]) -> tuple[bytes, bytes]:
    """Return the first and the last of some texts in their order."""
    lowest = highest = texts[0]
    for first in range(0, len(texts), MAX_AT_ONCE):
        spend(MAX_AT_ONCE >> 2)
        part = texts[first : first + MAX_AT_ONCE]
        lowest, highest = min(lowest, min(part)), max(highest, max(part))
    return lowest, highest


def _listed(texts: Iterable[bytes]) -> list[bytes]:
    """Return the texts as a list, made in parts."""
    found: list[bytes] = []
    rest = iter(texts)
    while part := list(islice(rest, MAX_AT_ONCE)):
        spend(MAX_AT_ONCE >> 2)
        found += part
    return found


def literal_set(texts: Iterable[bytes]) -> Regex:
    """Return any one of the texts."""
    listed = _listed(texts)
    table = tuple(sorted(set(listed))) if len(listed) <= MAX_AT_ONCE else _sorted(listed)
    if not table:
        return NOTHING
    return Literal(table[0]) if len(table) == 1 else LiteralSet(table)
