r"""Regexes of scalars in block-style YAML.

A string has up to three styles. Which one it may have depends on its characters (`characters.py`):

    plain     Ada Lovelace                     where every reader sees a string
    quoted    "no", "a: b", "two\nlines"       any string; escapes are those of JSON, without surrogate pairs
    block     |-                               strings of several lines, where the schema has no pattern, no format
                two                            and no least length above 1
                lines

Known strings (`enum`, `const`) have one style: plain where that is possible, else quoted. Numbers have the forms of
JSON that YAML 1.1 and 1.2 read in the same way: an exponent needs a point before it and a sign.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from structgen.engine.regex.tree import (
    EMPTY,
    ByteSet,
    Chars,
    Choice,
    Complement,
    Intersection,
    Literal,
    LiteralSet,
    Regex,
    Repeat,
    choice,
    intersection,
    literal_set,
    optional,
    plus,
    sequence,
    star,
)
from structgen.engine.regex.tree import Sequence as RegexSequence
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.schema.algebra import Inexpressible, Language, Shape, StringSet
from structgen.schema.algebra.numbers import DIGITS
from structgen.schema.json_text.number_terminals import numbers_regex
from structgen.schema.json_text.plain_numbers import plain_numbers_regex
from structgen.schema.json_text.strings import (
    are_few,
    canonical,
    canonical_string,
    escaped,
    every_form,
    quoted,
    texts_regex,
)
from structgen.schema.own_keywords import SUBSTRING_OF
from structgen.schema.yaml_text.characters import (
    CHARACTER,
    LINE_CHARACTER,
    PLAIN,
    PRINTABLE,
    is_plain,
    without,
)

__all__ = [
    "QUOTED",
    "Ending",
    "block_regex",
    "has_block_style",
    "plain_regex",
    "quoted_canonical",
    "quoted_regex",
    "scalar_regexes",
]

_HEX = r"[0-9a-fA-F]"
_ESCAPE = parse_regex(rf'\\(?:["\\bfnrt]|u(?:[0-9a-cA-CefEF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}}))', "python")
_QUOTED_CHARACTER: Regex = choice(Chars(without(PRINTABLE, '"\\')), _ESCAPE)
QUOTED: Regex = quoted(star(_QUOTED_CHARACTER))
"""Any string in double quotes."""

_NUMBER = parse_regex(r"-?[0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?", "python")
_BREAK = Literal(b"\n")
_INDICATOR = b"2"  # lines of a block are indented by two more than their parent


def scalar_regexes(shape: Shape, *, plain_numbers: bool = False) -> tuple[Regex, ...]:
    """Return the texts of a shape's scalars on one line: known texts, strings plain and quoted, numbers.

    Args:
        shape: the scalars.
        plain_numbers: numbers are written in plain form; see `json_text/plain_numbers.py`.

    Raises:
        Inexpressible: no automaton can express a part.
    """
    known: list[bytes] = [b"null"] if shape.null else []
    known += [text for bit, text in ((2, b"true"), (1, b"false")) if shape.booleans & bit]
    parts: list[Regex] = []
    for strings in shape.strings:
        if strings.texts is None:
            parts += [plain_regex(strings), quoted_regex(strings)]
        else:
            known += [_encoded(text) for text in strings.texts]
    numbers = tuple([part for part in shape.numbers if part.values is None or part.written != DIGITS])
    known += [b"%d" % value for part in shape.numbers if part not in numbers for value in part.values or ()]
    if known:
        parts.insert(0, literal_set(known))
    if numbers:
        written = plain_numbers_regex(numbers) if plain_numbers else numbers_regex(numbers)
        parts.append(intersection(written, _NUMBER))
    return tuple(parts)


def _encoded(text: str) -> bytes:
    """Return the text of a known string.

    Raises:
        Inexpressible: it contains a lone surrogate.
    """
    try:
        return text.encode() if is_plain(text) else quoted_canonical(text)
    except UnicodeEncodeError as error:
        raise Inexpressible("enum") from error


_UNPRINTABLE = {
    ord(character): f"\\u{ord(character):04x}"
    for character in map(chr, (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF))
}


def quoted_canonical(text: str) -> bytes:
    r"""Return a string in quotes: as JSON writes it, with further escapes for characters that are not printable.

    >>> quoted_canonical("a\x7f\n")
    b'"a\\u007f\\n"'

    Raises:
        UnicodeEncodeError: the text contains a lone surrogate.
    """
    return canonical(text).decode().translate(_UNPRINTABLE).encode()


# --- strings on one line ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _counted(character: Regex, low: int, high: int | None) -> Regex:
    return Repeat(character, low, high)


def plain_regex(strings: StringSet, plain: Regex = PLAIN) -> Regex:
    """Return the strings of a set that are written without quotes."""
    parts: list[Regex] = [plain]
    if strings.low > 1 or strings.high is not None:
        parts.append(_counted(CHARACTER, strings.low, strings.high))
    parts += [language.regex for language in strings.within]
    parts += [Complement(language.widest) for language in strings.outside]
    excluded = [text.encode() for text in strings.excluded if is_plain(text)]
    if excluded:
        parts.append(Complement(literal_set(excluded)))
    return intersection(*parts)


def quoted_regex(strings: StringSet) -> Regex:
    """Return the strings of a set in double quotes; where many texts are excluded, only in canonical spellings.

    Raises:
        Inexpressible: a language describes bytes.
    """
    excluded = [text for text in strings.excluded if not _has_surrogates(text)]
    few = are_few(excluded)
    if not few:  # a table excludes the texts, each in one spelling
        parts = [canonical_string(strings.low, strings.high), QUOTED, Complement(texts_regex(excluded))]
    elif strings.low or strings.high is not None:
        parts = [quoted(_counted(_QUOTED_CHARACTER, strings.low, strings.high))]
    else:
        parts = [QUOTED]
    try:
        parts += [_quoted_language(language) for language in strings.within]
        parts += [Complement(quoted(escaped(language.widest, every=True))) for language in strings.outside]
    except (ValueError, UnicodeDecodeError) as error:
        is_source = any(language.name.startswith(SUBSTRING_OF) for language in strings.outside)
        raise Inexpressible(SUBSTRING_OF if is_source else "pattern") from error
    if excluded and few:
        parts.append(Complement(quoted(choice(*map(every_form, excluded)))))
    return intersection(*parts)


def _has_surrogates(text: str) -> bool:
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def _quoted_language(language: Language) -> Regex:
    return _made_quoted(language) if language.is_large else _quoted_once(language)


@lru_cache(maxsize=1024)
def _quoted_once(language: Language) -> Regex:
    return _made_quoted(language)


def _made_quoted(language: Language) -> Regex:
    """Return the texts of a language in quotes, as JSON escapes them; `QUOTED` leaves out what YAML cannot read.

    JSON writes known characters in one way. For characters that YAML must escape and JSON does not, every way is
    needed.
    """
    return quoted(escaped(language.regex, every=_names_unprintable(language.regex)))


def _names_unprintable(regex: Regex) -> bool:
    """Return whether a known text of a regex contains a character that YAML must escape and JSON does not."""
    seen: set[int] = set()
    work = [regex]
    while work:
        part = work.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, (RegexSequence, Choice, Intersection)):
            work.extend(part.parts)
        elif isinstance(part, (Repeat, Complement)):
            work.append(part.body)
        elif isinstance(part, ByteSet):
            if part.mask >> 0x7F & 1:
                return True
        else:
            texts = (part.data,) if isinstance(part, Literal) else part.texts if isinstance(part, LiteralSet) else ()
            if any(ord(character) in _UNPRINTABLE for text in texts for character in text.decode()):
                return True
    return False


# --- blocks ----------------------------------------------------------------------------------------------------------


def has_block_style(strings: StringSet) -> bool:
    """Return whether strings of a set may be written as a block of lines."""
    is_known = strings.texts is not None or strings.high == 0
    return strings.low <= 1 and not (is_known or strings.within or strings.outside or strings.excluded)


class Ending(IntEnum):
    """The end of a value's text.

    LINE: a line break, as more lines follow. TEXT: that of the whole text; a line break only where it belongs to the
    value. BARE: no line break, as it comes after the value.
    """

    LINE = 0
    TEXT = 1
    BARE = 2


@lru_cache(maxsize=1024)
def block_regex(margin: int, high: int | None, *, has_indicator: bool, ending: Ending) -> Regex:
    r"""Return strings as blocks of lines, from the `|` on.

    The header tells the line breaks at the end of the string: none with `|-`, one with `|`, more with `|+`. With `|2-`,
    `|2` and `|2+` the string may begin with a blank or a line break.

    Args:
        margin: the number of blanks that each line begins with, empty lines aside.
        high: the greatest length of a string, in code points; None without a bound.
        has_indicator: whether the forms with `2` are among the texts: the margin is two more than that of the parent.
        ending: the end of the text. A BARE block is a string without a line break at its end.
    """
    lead = Literal(b" " * margin)
    line = plus(LINE_CHARACTER)
    breaks = plus(_BREAK)
    counted = _counted_lines(lead, high)
    further = star(sequence(breaks, lead, line))
    first = sequence(Chars(without(PRINTABLE, " ")), star(LINE_CHARACTER))
    found = _with_ends(b"", sequence(lead, first, further), counted, ending)
    if has_indicator:
        blank = sequence(lead, Chars(((0x09, 0x09), (0x20, 0x20))), star(LINE_CHARACTER))
        later = sequence(breaks, lead, line)
        found += _with_ends(_INDICATOR, sequence(choice(blank, later), further), counted, ending)
    return choice(*found)


def _counted_lines(lead: Regex, high: int | None) -> Regex | None:
    """Return lines that stand for at most `high` characters; None for no bound.

    Blanks after a line break may be read as a margin or as characters. The first way counts less, and is the right one:
    so a text is among these if its right count is at most `high`. A least length could not be counted so.
    """
    if high is None:
        return None
    return sequence(optional(lead), Repeat(choice(LINE_CHARACTER, sequence(_BREAK, lead), _BREAK), 0, high))


def _with_ends(indicator: bytes, lines: Regex, counted: Regex | None, ending: Ending) -> list[Regex]:
    """Return blocks of some lines with each header, and the line breaks that belong to it."""
    header = b"|" + indicator
    clipped = sequence(lines, _BREAK)
    kept = sequence(clipped, plus(_BREAK))
    if counted is not None:
        lines, clipped, kept = (intersection(part, counted) for part in (lines, clipped, kept))
    stripped = sequence(Literal(header + b"-\n"), lines, _BREAK if ending is Ending.LINE else EMPTY)
    if ending is Ending.BARE:
        return [stripped]
    return [stripped, sequence(Literal(header + b"\n"), clipped), sequence(Literal(header + b"+\n"), kept)]
