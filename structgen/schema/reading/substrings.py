"""The keyword `x-substring-of`: strings that occur in a given text, so that an extraction cannot invent any.

    {"type": "string", "x-substring-of": "the text"}
    {"type": "string", "x-substring-of": {"text": "the text", "unit": "word"}}

A string satisfies it if it is a run of one or more whole units of the text. Units are characters (code points) or
words; runs of words neither begin nor end with white space or within a word. The empty string does not satisfy it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from structgen.engine.regex.tree import ANY_CHAR, Regex, Runs, intersection, repeat
from structgen.errors import GrammarError, LimitExceededError, SchemaError
from structgen.limits import Limits
from structgen.schema.algebra import Language
from structgen.schema.own_keywords import SUBSTRING_OF
from structgen.schema.reading.scopes import ROOT, Location, pointer

if TYPE_CHECKING:
    from structgen.kbnf import ast

__all__ = [
    "Unit",
    "is_substring",
    "read_keyword",
    "shortest_unit",
    "substring_grammar",
    "substring_language",
    "substring_regex",
    "units_of",
]


Unit = Literal["character", "word"]

_MAX_TEXTS_KEPT = 8  # texts whose word borders are kept


class _Kinds(dict[int, str]):
    """A table for `str.translate` that maps each character to its kind, one letter. It is filled on demand.

    w: letter of a word; d: digit; m: mark, part of the unit before it; j: joiner; a: apostrophe; p: point or comma,
    which may be in a number; s: white space; o: any other character, a unit of its own.
    """

    def __missing__(self, point: int) -> str:
        character = chr(point)
        category = unicodedata.category(character)
        if character.isspace():
            kind = "s"
        elif category[0] == "M" or 0x1F3FB <= point <= 0x1F3FF:  # skin tones
            kind = "m"
        elif category == "Nd":
            kind = "d"
        elif character in "\u200c\u200d":
            kind = "j"
        elif character in "'’":
            kind = "a"
        elif character in ".,":
            kind = "p"
        else:
            kind = "w" if (category[0] in "LN" or category == "Pc") and not _is_written_solid(point) else "o"
        self[point] = kind
        return kind


def _is_written_solid(point: int) -> bool:
    """Return whether a letter belongs to a script without spaces between words; such letters are units of their own."""
    return (
        0x0E00 <= point <= 0x0EFF  # Thai, Lao
        or 0x1000 <= point <= 0x109F  # Myanmar
        or 0x1780 <= point <= 0x17FF  # Khmer
        or (0x2E80 <= point <= 0xA4CF and not 0x3130 <= point <= 0x318F)  # Chinese, Japanese, Yi
        or 0xF900 <= point <= 0xFAFF
        or 0xFF66 <= point <= 0xFF9F
        or 0x20000 <= point <= 0x3FFFF
    )


_KINDS = _Kinds()
_WORDS = re.compile(r"(?:[wdmj]|(?<=[wm])a(?=w)|(?<=d)p(?=d))+|s+|.(?:m|jo?)*", re.DOTALL)


def units_of(text: str, unit: Unit) -> list[str]:
    """Split a text into units, which together are the text again.

    Args:
        text: the text.
        unit: "character": code points. "word": words (letters, marks and digits, with apostrophes inside), runs of
            white space, and all other characters one by one.

    >>> units_of("Don't pay 3.50 €!", "word")
    ["Don't", ' ', 'pay', ' ', '3.50', ' ', '€', '!']
    """
    if unit == "character":
        return list(text)
    return [text[found.start() : found.end()] for found in _WORDS.finditer(text.translate(_KINDS))]


def substring_regex(units: Sequence[str], unit: Unit) -> Regex:
    """Return a regex of the runs of one or more units; runs of words have no white space at their ends.

    Args:
        units: the units of a text.
        unit: the kind of unit.
    """
    known: dict[str, bytes] = {}
    pieces: list[bytes] = []
    skipped: list[int] = []
    space = ""
    for piece in units:
        if unit == "word" and piece.isspace():
            space = piece
            continue
        whole = space + piece
        pieces.append(known.get(whole) or known.setdefault(whole, whole.encode()))
        skipped.append(len(space.encode()))
        space = ""
    return Runs(tuple(pieces), tuple(skipped))


def shortest_unit(units: Sequence[str], unit: Unit) -> int:
    """Return the length of the shortest run, in characters."""
    return min([len(piece) for piece in units if unit == "character" or not piece.isspace()])


def substring_grammar(text: str, unit: Unit, max_length: int | None) -> ast.Grammar:
    """Return the grammar of the pieces of a text.

    Args:
        text: the text.
        unit: what a piece is a run of.
        max_length: the largest number of characters in a piece; None for no bound.

    Raises:
        SchemaError: the text is empty, or the unit is unknown.
        GrammarError: no piece is as short as `max_length`.
        TypeError: `max_length` is no integer.
    """
    from structgen.kbnf import ast  # here, as each schema's compile imports this module

    if max_length is not None and (not isinstance(max_length, int) or isinstance(max_length, bool)):
        raise TypeError(f"max_length is an integer, not {max_length!r}")
    read_keyword({"text": text, "unit": unit})
    units = units_of(text, unit)
    regex = substring_regex(units, unit)
    if max_length is not None:
        if max_length < shortest_unit(units, unit):
            raise GrammarError(f"no {unit} of the text has at most {max_length} characters")
        regex = intersection(regex, repeat(ANY_CHAR, 1, max_length))
    return ast.Grammar.of_regex(regex)


def is_substring(value: str, text: str, unit: Unit) -> bool:
    """Return whether a string is a run of one or more units of a text.

    >>> is_substring("cat", "concatenate", "character"), is_substring("cat", "concatenate", "word")
    (True, False)
    """
    if not value or value not in text:
        return False
    if unit == "character":
        return True
    starts, ends = _borders(text)
    at = text.find(value)
    while at >= 0:
        if at in starts and at + len(value) in ends:
            return True
        at = text.find(value, at + 1)
    return False


@lru_cache(maxsize=_MAX_TEXTS_KEPT)
def _borders(text: str) -> tuple[set[int], set[int]]:
    """Return the positions where runs of words may begin, and those where they may end."""
    starts: set[int] = set()
    ends: set[int] = set()
    at = 0
    for piece in units_of(text, "word"):
        if not piece.isspace():
            starts.add(at)
            ends.add(at + len(piece))
        at += len(piece)
    return starts, ends


def read_keyword(value: Any, location: Location = ROOT) -> tuple[str, Unit]:
    """Return the text and the unit of the keyword's value.

    Args:
        value: the keyword's value.
        location: the location of the schema that holds it, for errors.

    Raises:
        SchemaError: the value has another form, or the text has no units.
    """
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict) or not isinstance(value.get("text"), str) or value.keys() - {"text", "unit"}:
        raise _fail(f'{SUBSTRING_OF} must be a string, or {{"text": …, "unit": …}}', location)
    text, unit = value["text"], value.get("unit", "character")
    if unit not in get_args(Unit):
        raise _fail(f"the unit of {SUBSTRING_OF} must be one of {', '.join(get_args(Unit))}, not {unit!r}", location)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _fail(f"the text of {SUBSTRING_OF} has a lone surrogate", location) from error
    if not text if unit == "character" else not text.strip():
        raise _fail(f"the text of {SUBSTRING_OF} is empty: it has no substrings", location)
    return text, unit


def _fail(message: str, location: Location) -> SchemaError:
    return SchemaError(message, pointer=pointer(location), keyword=SUBSTRING_OF)


def substring_language(value: Any, location: Location, limits: Limits) -> Language:
    """Return the language of the texts that satisfy the keyword.

    Raises:
        SchemaError: see `read_keyword`.
        LimitExceededError: the text is longer than automata may be.
    """
    text, unit = read_keyword(value, location)
    if len(text) > limits.automaton_states:
        raise LimitExceededError("automaton_states", limits.automaton_states)
    units = units_of(text, unit)
    shortest = shortest_unit(units, unit)
    sizes = (shortest, len(units), len(units)) if unit == "character" else (shortest, shortest, 1)
    return Language(f"{SUBSTRING_OF} {unit} {text}", substring_regex(units, unit), sizes=sizes)
