"""The words of a text, as llguidance's `%regex { "substring_words": … }` cuts it."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from itertools import groupby

from structgen.engine.regex.unicode_classes import WHITE_SPACE

__all__ = ["words_of"]


def words_of(text: str) -> list[str]:
    """Split a text into runs of letters, digits and `_`, runs of white space, and runs of other characters.

    Marks belong to the letters that they stand on; in llguidance, only those marks do that Unicode calls alphabetic.

    >>> words_of("foo bar... baz")
    ['foo', ' ', 'bar', '...', ' ', 'baz']
    """
    return ["".join(run) for _, run in groupby(text, _kind)]


def _kind(character: str) -> str:
    if _is_white_space(ord(character)):
        return "space"
    return "word" if character == "_" or unicodedata.category(character)[0] in "LNM" else "other"


def _is_white_space(point: int) -> bool:
    at = bisect_right(WHITE_SPACE, (point, 0x10FFFF)) - 1
    return at >= 0 and point <= WHITE_SPACE[at][1]
