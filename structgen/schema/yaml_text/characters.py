r"""Characters of YAML texts, and the plain texts that readers take for another type than a string.

Strings are written without quotes (plain) where every reader gets the same string back. YAML 1.1 and 1.2 differ in what
they read as another type; a text that either of them reads so is quoted:

    no, on, y            booleans in 1.1
    12:30, 1_000, 017    numbers in 1.1
    0o17, 1e3            numbers in 1.2
    2024-05-01           a date in 1.1
    null, ~              null in both

Characters that are not printable, and those that YAML 1.1 takes for line breaks, occur only as escapes in quotes.
"""

from __future__ import annotations

import re

from structgen.engine.regex.tree import (
    Chars,
    Literal,
    Regex,
    Sequence,
    choice,
    difference,
    plus,
    sequence,
    star,
)
from structgen.engine.regex_syntax.parser import parse_regex

__all__ = [
    "CHARACTER",
    "LINE_CHARACTER",
    "LINE_RANGES",
    "PLAIN",
    "PLAIN_KEY",
    "PRINTABLE",
    "Ranges",
    "character_class",
    "is_plain",
    "is_plain_key",
    "without",
]

Ranges = tuple[tuple[int, int], ...]
"""Inclusive ranges of code points, sorted and disjoint."""

PRINTABLE: Ranges = (
    (0x20, 0x7E),
    (0xA0, 0x2027),  # without 0x85, a line break in YAML 1.1
    (0x202A, 0xD7FF),  # without 0x2028 and 0x2029, line breaks in YAML 1.1
    (0xE000, 0xFEFE),  # without 0xFEFF, the byte order mark
    (0xFF00, 0xFFFD),
    (0x10000, 0x10FFFF),
)
"""The characters that are written as they are. Tabs are among them only within the lines of a block."""


def without(ranges: Ranges, characters: str) -> Ranges:
    """Return ranges without some characters.

    >>> without(((0x61, 0x65),), "bc")
    ((97, 97), (100, 101))
    """
    found = ranges
    for point in map(ord, characters):
        found = tuple(
            (low, high)
            for first, last in found
            for low, high in ((first, min(last, point - 1)), (max(first, point + 1), last))
            if low <= high
        )
    return found


_INDICATORS = "-?:,[]{}#&*!|>'\"%@`"
_WORD = without(PRINTABLE, " ")

LINE_RANGES: Ranges = ((0x09, 0x09), *PRINTABLE)
"""The characters of a line in a block."""

CHARACTER: Regex = Chars(PRINTABLE)
"""One character of a plain scalar or of a quoted one, escapes aside."""
LINE_CHARACTER: Regex = Chars(LINE_RANGES)
"""One character of a line in a block."""

# The types that a plain scalar may have other than a string: in the core schema of YAML 1.2, and in YAML 1.1.
_TYPED = "|".join(
    (
        r"~|null|Null|NULL|true|True|TRUE|false|False|FALSE",
        r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N|=|<<",
        r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
        r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        r"[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?[1-9][0-9_]*|[-+]?0x[0-9a-fA-F_]+",
        r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
        r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?",
        r"[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?",
        r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
        r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ ]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
        r"(?:[ ]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?",
    )
)
_IS_TYPED = re.compile(_TYPED)


def _words(first: Ranges, character: Regex, further: Regex) -> Regex:
    """Return words between spaces: a first character and others, then further words."""
    return sequence(Chars(first), star(character), star(sequence(plus(Literal(b" ")), further)))


_FIRST = without(_WORD, _INDICATORS + ".")
_NO_COLON = Chars(without(_WORD, ":"))
_COLONS = plus(Literal(b":"))
_UNIT = choice(_NO_COLON, Sequence((_COLONS, _NO_COLON)))  # a colon ends a key only where a space or line break follows
_FURTHER = sequence(choice(Chars(without(_WORD, ":#")), Sequence((_COLONS, _NO_COLON))), star(_UNIT))
_FURTHER_OF_KEY = sequence(Chars(without(_WORD, ":#")), star(_NO_COLON))
_TYPED_REGEX = parse_regex(_TYPED, "python")

PLAIN: Regex = difference(_words(_FIRST, _UNIT, _FURTHER), _TYPED_REGEX)
"""Strings that are written without quotes. They do not begin with `-`, `?`, `:` or `.`, though some of those could."""
PLAIN_KEY: Regex = difference(_words(_FIRST, _NO_COLON, _FURTHER_OF_KEY), _TYPED_REGEX)
"""Keys that are written without quotes. They have no colon, so that the first colon ends the key."""


def character_class(ranges: Ranges) -> str:
    """Return ranges as a class of Python's `re`."""
    return "[" + "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in ranges) + "]"


_UNIT_TEXT = rf"(?:(?!:){character_class(_WORD)}|:+(?!:){character_class(_WORD)})"
_PLAIN_TEXT = re.compile(rf"{character_class(_FIRST)}{_UNIT_TEXT}*(?: +(?!#){_UNIT_TEXT}+)*")


def is_plain(text: str) -> bool:
    """Return whether a string is written without quotes: whether `PLAIN` matches it."""
    return _PLAIN_TEXT.fullmatch(text) is not None and _IS_TYPED.fullmatch(text) is None


def is_plain_key(key: str) -> bool:
    """Return whether a key is written without quotes: whether `PLAIN_KEY` matches it."""
    return ":" not in key and is_plain(key)
