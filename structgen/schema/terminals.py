"""From the algebra's scalar sets to the regexes of their JSON text."""

from __future__ import annotations

from functools import lru_cache

from structgen.engine.regex import (
    Complement,
    Regex,
    Repeat,
    choice,
    intersection,
)
from structgen.schema.algebra import Inexpressible, Language, StringSet
from structgen.schema.number_terminals import INTEGER, NUMBER, number_regex
from structgen.schema.strings import (
    JSON_CHAR,
    JSON_KEY,
    JSON_STRING,
    any_string,
    escaped,
    every_form,
    key_outside,
    quoted,
    texts_regex,
)

__all__ = ["INTEGER", "NUMBER", "key_regex", "number_regex", "string_regex"]

# --- strings ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _escaped_language(language: Language, every: bool) -> Regex:
    return escaped(language.regex, every=every)


def string_regex(strings: StringSet) -> Regex:
    """The JSON text of a set of strings, quotes included.

    Raises:
        Inexpressible: a language is about bytes, or a text holds a lone surrogate.
    """
    if strings.texts is not None:
        try:
            return texts_regex(strings.texts)
        except UnicodeEncodeError as error:
            raise Inexpressible("const") from error
    if not (strings.within or strings.outside or strings.excluded):
        return any_string(strings.low, strings.high)
    return quoted(_body(strings))


def _body(strings: StringSet) -> Regex:
    try:
        parts = [_escaped_language(language, False) for language in strings.within]
        if strings.low or strings.high is not None or not parts:
            parts.append(Repeat(JSON_CHAR, strings.low, strings.high))
        parts.extend(Complement(_escaped_language(language, True)) for language in strings.outside)
    except (ValueError, UnicodeDecodeError) as error:
        raise Inexpressible("pattern") from error
    excluded = [every_form(text) for text in strings.excluded if text.isascii() or _is_scalar(text)]
    if excluded:
        parts.append(Complement(choice(*excluded)))
    return intersection(*parts)


def _is_scalar(text: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def key_regex(keys: StringSet, names: list[str]) -> Regex:
    """The JSON text of the keys of a class, quotes included, without some names.

    Raises:
        Inexpressible: as `string_regex`.
    """
    if keys == StringSet():
        return key_outside(names) if names else JSON_STRING
    body = quoted(_body(keys))
    names = [name for name in names if keys.contains(name)]
    return intersection(body, key_outside(names)) if names else intersection(body, JSON_KEY)
