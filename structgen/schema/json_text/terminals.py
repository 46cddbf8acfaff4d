"""Regexes of the JSON text of the algebra's scalar sets: strings, keys, numbers, literals.

The shape of `{"enum": [null, "a", 1]}` becomes one table of known texts. Its terminals accept these spellings:

    null
    "a"                    known strings have their canonical spelling only
    1, 1.0, 1e0, 1E+00     known numbers have any form, unless the schema asks for digits
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from structgen.engine.deadlines import spend
from structgen.engine.regex.tree import (
    Complement,
    Regex,
    choice,
    intersection,
    literal_set,
)
from structgen.schema.algebra import (
    ALL_NUMBERS,
    ALL_STRINGS,
    INTEGERS,
    Inexpressible,
    Language,
    NumberSet,
)
from structgen.schema.algebra.any_text import ANY_OF_ECMA
from structgen.schema.algebra.numbers import DIGITS
from structgen.schema.algebra.safe_numbers import MAX_EXACT_INTEGER
from structgen.schema.algebra.shape import Shape
from structgen.schema.algebra.strings import StringSet
from structgen.schema.json_text.number_terminals import INTEGER, NUMBER, number_regex, numbers_regex
from structgen.schema.json_text.plain_numbers import PLAIN_INTEGER, PLAIN_NUMBER, plain_numbers_regex
from structgen.schema.json_text.strings import (
    JSON_STRING,
    any_string,
    are_few,
    canonical,
    canonical_string,
    escaped,
    every_form,
    is_scalar,
    key_outside,
    quoted,
    texts_regex,
)
from structgen.schema.own_keywords import SUBSTRING_OF

__all__ = [
    "INTEGER",
    "NUMBER",
    "PLAIN_INTEGER",
    "PLAIN_NUMBER",
    "are_surely_expressible",
    "has_long_texts",
    "is_long",
    "is_surely_expressible",
    "key_regex",
    "number_regex",
    "scalar_terminals",
    "string_regex",
]

_NODES_OF_RANGE = 32  # about so many nodes of a regex describe a range of numbers
_MAX_SHORT = 16_384  # nodes of terminals, or characters of texts, that are surely within the limits

# --- strings ---------------------------------------------------------------------------------------------------------


def _quoted_language(language: Language, outside: bool) -> Regex:
    """Return the texts of a language, or all other strings, quotes included.

    Equal calls return one object, which the engine translates once; large languages are not kept in memory.
    """
    return _made_of(language, outside) if language.is_large else _quoted_once(language, outside)


@lru_cache(maxsize=1024)
def _quoted_once(language: Language, outside: bool) -> Regex:
    return _made_of(language, outside)


def _made_of(language: Language, outside: bool) -> Regex:
    """Build the regex of the texts of a language, or of all other strings."""
    if outside:
        return Complement(quoted(escaped(language.widest, every=True)))
    return quoted(escaped(language.regex))


def string_regex(strings: StringSet) -> Regex:
    """Return the JSON text of a set of strings, quotes included.

    Raises:
        Inexpressible: a language describes bytes, a text contains a lone surrogate, or the set is context-free.
    """
    if strings.grammars:
        strings.regex()  # raises
    if strings.texts is not None:
        return _known(strings.texts, "const")
    if not (strings.within or strings.outside or strings.excluded):
        return any_string(strings.low, strings.high)
    return _quoted(strings)


def _known(texts: Iterable[str], keyword: str) -> Regex:
    """Return known strings, each in its canonical form."""
    try:
        return texts_regex(texts)
    except UnicodeEncodeError as error:
        raise Inexpressible(keyword) from error


def _quoted(strings: StringSet) -> Regex:
    """Return a set of strings as the intersection of its conditions, each with the quotes.

    With the quotes in each, the engine sees that one condition is nearly everything and the others only vary it
    (`AutomatonStore.as_variation`). Where many texts are excluded, the set has canonical spellings only: then a table
    of the texts excludes them.
    """
    excluded = [text for text in strings.excluded if text.isascii() or is_scalar(text)]
    few = are_few(excluded)
    try:
        parts = [_quoted_language(language, False) for language in strings.within]
        if few:
            low, high = _bounds_left(strings)
            if low or high is not None or not parts:
                parts.append(any_string(low, high))
        else:
            parts.append(canonical_string(strings.low, strings.high))
        parts += [_quoted_language(language, True) for language in strings.outside]
    except (ValueError, UnicodeDecodeError) as error:
        is_source = any(language.name.startswith(SUBSTRING_OF) for language in strings.outside)
        raise Inexpressible(SUBSTRING_OF if is_source else "pattern") from error
    if excluded:
        parts.append(Complement(choice(*map(_every_quoted, excluded)) if few else texts_regex(excluded)))
    return intersection(*parts)


@lru_cache(maxsize=1024)
def _every_quoted(text: str) -> Regex:
    """Return every way to write a text as a string: one object, which the engine translates once."""
    return quoted(every_form(text))


def _bounds_left(strings: StringSet) -> tuple[int, int | None]:
    """Return the bounds on the length, without one that a format has anyway: an address has at most 254 characters.

    Only formats are asked. Their lengths are computed once in a process.
    """
    low, high = strings.low, strings.high
    if low or high is not None:
        for language in strings.within:
            if language.is_format:
                low = 0 if language.is_within(low, None) else low
                high = None if high is not None and language.is_within(0, high) else high
    return low, high


def key_regex(keys: StringSet, names: Collection[str]) -> Regex:
    """Return the JSON text of the keys of a class, quotes included, without some names.

    Where names are left out, printable ASCII is accepted unescaped only.

    Raises:
        Inexpressible: as `string_regex`.
    """
    if keys is ALL_STRINGS[0] or keys == ALL_STRINGS[0]:
        return key_outside(names) if names else JSON_STRING
    if keys.texts is not None:
        return _known([text for text in keys.texts if text not in names], "properties")
    return intersection(string_regex(keys), key_outside(names)) if names else string_regex(keys)


# --- shapes ----------------------------------------------------------------------------------------------------------


def is_surely_expressible(shape: Shape) -> bool:
    """Return whether `scalar_terminals` surely raises nothing, without building a regex.

    That is so for ASCII texts, lengths, ECMA-262 patterns (they describe characters), integers and wide ranges of
    numbers.
    """
    if shape.strings is not ALL_STRINGS:
        for strings in shape.strings:
            if not are_surely_expressible(strings):
                return False
    if not shape.numbers or shape.numbers is ALL_NUMBERS or shape.numbers is INTEGERS:
        return True
    return all(map(_is_wide, shape.numbers))


def is_long(shape: Shape) -> bool:
    """Return whether the terminals of a shape's scalars may have more nodes or states than the limits allow."""
    size = len(shape.numbers) * _NODES_OF_RANGE if len(shape.numbers) > 1 else 0
    for strings in shape.strings:
        if strings.within or strings.outside:
            size += sum([len(language.name) for language in (*strings.within, *strings.outside)])
    return size > _MAX_SHORT or has_long_texts(shape)


def has_long_texts(shape: Shape) -> bool:
    """Return whether strings with a pattern must be so long that a search for one of them may take long."""
    for strings in shape.strings:  # noqa: SIM110  (a generator is more code, and each compile comes here)
        if strings.low > _MAX_SHORT and (strings.within or strings.outside):
            return True
    return False


def are_surely_expressible(strings: StringSet) -> bool:
    """Return whether `string_regex` and `key_regex` surely raise nothing, without building a regex."""
    if strings.grammars:
        return False
    for language in strings.within + strings.outside:
        if not language.name.startswith(("ecma ", ANY_OF_ECMA)):
            return False
    return not strings.texts or all(map(str.isascii, strings.texts))


def _is_wide(numbers: NumberSet) -> bool:
    """Return whether a set of numbers, at first sight, surely contains a double."""
    if numbers.values is not None and len(numbers.values) == 1 and numbers.written & DIGITS:
        value = numbers.values[0]
        return isinstance(value, int) and -MAX_EXACT_INTEGER <= value <= MAX_EXACT_INTEGER
    if numbers.multiple not in (None, 1) or numbers.outside or numbers.values is not None:
        return False
    low, high = numbers.low, numbers.high
    if any(bound and not -MAX_EXACT_INTEGER <= bound <= MAX_EXACT_INTEGER for bound in (low, high)):
        return False
    return low is None or high is None or high - low >= 2


def _words(null: bool, booleans: int) -> list[bytes]:
    """Return the texts of null and of the booleans that a shape has."""
    words = [b"null"] if null else []
    if booleans & 2:
        words.append(b"true")
    if booleans & 1:
        words.append(b"false")
    return words


@lru_cache(maxsize=8)
def _one_word(null: bool, booleans: int) -> Regex:
    """Return one of `_words`: in all schemas the same object, which the engine translates once."""
    return literal_set(_words(null, booleans))


def scalar_terminals(shape: Shape, plain: bool = False) -> list[Regex]:
    """Return the terminals of a shape's scalars; all known texts share one terminal.

    Args:
        shape: the shape.
        plain: numbers are written in plain form; see `plain_numbers.py`.

    Raises:
        Inexpressible: no automaton can express a part.
    """
    known: list[bytes] = []
    strings: list[StringSet] = []
    for part in shape.strings:
        if part.texts is None:
            strings.append(part)
            continue
        try:
            for text in part.texts:
                spend(1)
                known.append(canonical(text))
        except UnicodeEncodeError as error:
            raise Inexpressible("enum") from error
    numbers: list[NumberSet] = []
    for number in shape.numbers:
        if number.values is None or number.written != DIGITS:
            numbers.append(number)
        else:
            known += [b"%d" % value for value in number.values]
    parts: list[Regex] = []
    if known:
        parts.append(literal_set(_words(shape.null, shape.booleans) + known))
    elif shape.null or shape.booleans:
        parts.append(_one_word(shape.null, shape.booleans))
    parts.extend(map(string_regex, strings))
    if numbers:
        parts.append(plain_numbers_regex(tuple(numbers)) if plain else numbers_regex(tuple(numbers)))
    return parts
