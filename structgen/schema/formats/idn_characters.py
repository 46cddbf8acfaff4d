"""The characters of internationalized labels and their properties, computed by the rules of RFC 5892.

All of it is computed from Python's own `unicodedata`, once per process, in 0.05 s, when first needed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from typing import TypeVar

from structgen.engine.regex.unicode_classes import Ranges, difference_of, intersection_of, union_of
from structgen.schema.formats.idn_tables import CONTEXTUAL, DISALLOWED, VALID_BY_EXCEPTION

__all__ = ["compositions", "grouped", "label_characters", "members"]

_Value = TypeVar("_Value")

_LETTER_DIGITS = frozenset({"Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"})
_PLANES_WITH_LETTERS = ((0x80, 0x1FFFF), (0x20000, 0x3FFFF))
_MIN_LONG_RUN = 1000  # characters, from which a run has no decompositions
_MAX_SHORT_RUN = 8  # characters, up to which a run is checked one by one


@cache
def label_characters() -> Ranges:
    """Return PVALID of RFC 5892, section 3: the characters that are valid in a label in any context."""
    found: list[tuple[int, int]] = []
    for low, high in _PLANES_WITH_LETTERS:
        at = low
        for category, run in groupby(map(unicodedata.category, map(chr, range(low, high + 1)))):
            size = len(list(run))
            if category in _LETTER_DIGITS:
                found.extend(_stable(at, at + size - 1))
            at += size
    ascii_part = ((0x2D, 0x2D), (0x30, 0x39), (0x61, 0x7A))
    valid = difference_of(union_of(found), union_of([*DISALLOWED, *CONTEXTUAL]))
    return union_of([*valid, *VALID_BY_EXCEPTION, *ascii_part])


def _stable(low: int, high: int) -> Iterable[tuple[int, int]]:
    """Return the characters of a run that case folding and compatibility normalization leave unchanged."""
    text = "".join(map(chr, range(low, high + 1)))
    if unicodedata.is_normalized("NFKC", text) and text == text.casefold():
        return [(low, high)]  # each part of a normalized text is normalized
    if high - low < _MAX_SHORT_RUN:
        return [(code, code) for code in range(low, high + 1) if _is_stable(chr(code))]
    middle = (low + high) // 2
    return [*_stable(low, middle), *_stable(middle + 1, high)]


def _is_stable(character: str) -> bool:
    folded = unicodedata.normalize("NFKC", character).casefold()
    return unicodedata.normalize("NFKC", folded) == character


@cache
def grouped(key: Callable[[str], _Value]) -> dict[_Value, Ranges]:
    """Return the characters of labels, grouped by the value of a property."""
    found: dict[_Value, list[tuple[int, int]]] = {}
    for low, high in label_characters():
        at = low
        for value, run in groupby(map(key, map(chr, range(low, high + 1)))):
            size = len(list(run))
            found.setdefault(value, []).append((at, at + size - 1))
            at += size
    return {value: tuple(ranges) for value, ranges in found.items()}


def members(key: Callable[[str], object], *values: object) -> Ranges:
    """Return the characters of labels for which a property has one of these values.

    >>> members(unicodedata.bidirectional, "ES")
    ((45, 45),)
    """
    by_value = grouped(key)
    return union_of(r for value in values for r in by_value.get(value, ()))


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
