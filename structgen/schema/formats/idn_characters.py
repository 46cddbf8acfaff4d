"""The characters of internationalized labels and their properties, computed by the rules of RFC 5892.

All of it is computed from Python's own `unicodedata`, once per process, in 0.03 s, when first needed.
"""

from __future__ import annotations

import sys
import unicodedata
from array import array
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from typing import TypeVar

from structgen.engine.regex.unicode_classes import Ranges, difference_of, intersection_of, union_of
from structgen.schema.formats.idn_tables import CONTEXTUAL, DIRECTED, DISALLOWED, VALID_BY_EXCEPTION

__all__ = ["combining_classes", "compositions", "label_characters", "mark_characters", "of_direction"]

_Value = TypeVar("_Value")

_LETTER_DIGITS = frozenset({"Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"})
_MARKS = frozenset({"Mn", "Mc", "Me"})
_UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
_BLOCK = 128  # characters that are looked at together
_PLANES_WITH_LETTERS = ((0x80, 0x1FFFF), (0x20000, 0x3FFFF))
_MIN_LONG_RUN = 1000  # characters, from which a run has no decompositions
_MAX_SHORT_RUN = 8  # characters, up to which a run is checked one by one


@cache
def label_characters() -> Ranges:
    """Return PVALID of RFC 5892, section 3: the characters that are valid in a label in any context."""
    found: list[tuple[int, int]] = []
    for low, high in _PLANES_WITH_LETTERS:
        text = _text(low, high)
        for at in range(0, len(text), _BLOCK):
            block = text[at : at + _BLOCK]
            if block.isalpha():  # title case aside, letters of each category are valid, and title case is not stable
                found.extend(_stable(low + at, block))
            elif not _LETTER_DIGITS.isdisjoint(map(unicodedata.category, block)):
                found.extend(_stable_letters(low + at, block))
    ascii_part = ((0x2D, 0x2D), (0x30, 0x39), (0x61, 0x7A))
    valid = difference_of(union_of(found), union_of([*DISALLOWED, *CONTEXTUAL]))
    return union_of([*valid, *VALID_BY_EXCEPTION, *ascii_part])


def _text(low: int, high: int) -> str:
    """Return the characters of a range."""
    return array("I", range(low, high + 1)).tobytes().decode(_UTF_32, "surrogatepass")


def _stable_letters(low: int, text: str) -> Iterable[tuple[int, int]]:
    """Return the stable ones of the letters, digits and marks in a text of consecutive characters."""
    at = 0
    for category, run in groupby(map(unicodedata.category, text)):
        size = len(list(run))
        if category in _LETTER_DIGITS:
            yield from _stable(low + at, text[at : at + size])
        at += size


def _stable(low: int, text: str) -> Iterable[tuple[int, int]]:
    """Return the characters of a text that case folding and compatibility normalization leave unchanged.

    Args:
        low: the first character; those after it are consecutive.
        text: the characters.
    """
    if unicodedata.is_normalized("NFKC", text) and text == text.casefold():
        return [(low, low + len(text) - 1)]  # each part of a normalized text is normalized
    if len(text) <= _MAX_SHORT_RUN:
        return [(low + at, low + at) for at, character in enumerate(text) if _is_stable(character)]
    middle = len(text) // 2
    return [*_stable(low, text[:middle]), *_stable(low + middle, text[middle:])]


def _is_stable(character: str) -> bool:
    folded = unicodedata.normalize("NFKC", character).casefold()
    return unicodedata.normalize("NFKC", folded) == character


@cache
def mark_characters() -> Ranges:
    """Return the characters of labels whose category is one of marks."""
    found: list[int] = []
    for low, high in label_characters():
        for at in range(low, high + 1, _BLOCK):
            block = _text(at, min(high, at + _BLOCK - 1))
            if not block.isalnum():
                found += [ord(character) for character in block if unicodedata.category(character) in _MARKS]
    return union_of((code, code) for code in found)


@cache
def combining_classes() -> dict[int, Ranges]:
    """Return the characters of labels by their combining class. Only marks have another class than 0."""
    found = _grouped(unicodedata.combining, mark_characters())
    found[0] = difference_of(label_characters(), union_of(r for value in found if value for r in found[value]))
    return found


def of_direction(*values: str) -> Ranges:
    """Return the characters of labels in `DIRECTED` whose direction is one of some values.

    >>> of_direction("AN")[:1]
    ((68912, 68921),)
    """
    by_value = _directions()
    return union_of(r for value in values for r in by_value.get(value, ()))


@cache
def _directions() -> dict[str, Ranges]:
    return _grouped(unicodedata.bidirectional, intersection_of(label_characters(), DIRECTED))


def _grouped(key: Callable[[str], _Value], characters: Ranges) -> dict[_Value, Ranges]:
    """Return some characters, grouped by the value of a property."""
    found: dict[_Value, list[tuple[int, int]]] = {}
    for low, high in characters:
        at = low
        for value, run in groupby(map(key, map(chr, range(low, high + 1)))):
            size = len(list(run))
            found.setdefault(value, []).append((at, at + size - 1))
            at += size
    return {value: tuple(ranges) for value, ranges in found.items()}


@cache
def compositions() -> tuple[tuple[int, Ranges], ...]:
    """Return the marks that NFC composes with a preceding character, each with those characters of labels.

    For U+0300, the grave accent, the characters contain `a`, as `à` is one character in NFC.
    """
    allowed = label_characters()
    decomposed = [
        code
        for low, high in allowed
        if high - low < _MIN_LONG_RUN
        for code in range(low, high + 1)
        if unicodedata.decomposition(chr(code))
    ]
    texts = [unicodedata.normalize("NFD", chr(code)) for code in decomposed]
    starters = _allowed({text[0] for text in texts} | set(map(chr, decomposed)))
    found: list[tuple[int, Ranges]] = []
    for mark in _allowed({sign for text in texts for sign in text[1:]}):
        # One call for all pairs: nothing composes with a hyphen.
        pairs = [starter + mark for starter in starters]
        normal = unicodedata.normalize("NFC", "-".join(pairs)).split("-")
        changed = [ord(pair[0]) for pair, after in zip(pairs, normal, strict=True) if pair != after]
        if changed:
            found.append((ord(mark), union_of((code, code) for code in changed)))
    return tuple(found)


def _allowed(characters: Iterable[str]) -> list[str]:
    """Return those of some characters that are valid in labels, sorted."""
    codes = union_of((ord(character), ord(character)) for character in characters)
    return [chr(code) for low, high in intersection_of(codes, label_characters()) for code in range(low, high + 1)]
