r"""Keys of block-style YAML, with the colon after them: regexes, spellings, and the way back.

A key that the schema names has one spelling, plain where that is possible, else quoted. Another key may be plain or in
any quoted form:

    name:            plain
    "a: b":          quoted, as it has a colon
    "na\u006De":     the same key as `name`, so it is refused where `name` was written
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import product

from structgen.engine.grammar.tables import Spelling
from structgen.engine.regex.tree import (
    Chars,
    Literal,
    Regex,
    Repeat,
    choice,
    difference,
    intersection,
    literal_set,
    sequence,
    star,
)
from structgen.schema.algebra import Inexpressible, Language, StringSet
from structgen.schema.json_text.strings import every_form, quoted, rest_of
from structgen.schema.yaml_text.characters import CHARACTER, PLAIN_KEY, PRINTABLE, is_plain_key, without
from structgen.schema.yaml_text.scalars import plain_regex, quoted_canonical, quoted_regex

__all__ = ["MAX_KEY_CHARACTERS", "are_surely_enough", "completions", "key_of", "key_regex", "key_text"]

MAX_KEY_CHARACTERS = 1024
"""Maximum characters of a key, quotes included. YAML allows longer keys only after a `?`."""

_MAX_COUNTED = 10_000  # keys; so many never run out
_COLON = Literal(b":")
_SHORT_ENOUGH: Regex = Repeat(CHARACTER, 0, MAX_KEY_CHARACTERS)
_SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def key_text(key: str) -> bytes:
    """Return a key that the schema names, and its colon.

    >>> key_text("name"), key_text("no")
    (b'name:', b'"no":')

    Raises:
        UnicodeEncodeError: the key contains a lone surrogate.
        Inexpressible: the key is too long.
    """
    text = key.encode() if is_plain_key(key) else quoted_canonical(key)
    if len(text.decode()) > MAX_KEY_CHARACTERS:
        raise Inexpressible("properties")
    return text + b":"


def key_regex(keys: StringSet, names: Iterable[str]) -> Regex:
    """Return the keys of a set and their colons, without some names.

    Raises:
        Inexpressible: no automaton can express the set.
    """
    names = list(names)
    if keys.texts is not None:
        return literal_set([_listed(text) for text in keys.texts if text not in names])
    found = sequence(choice(plain_regex(keys, PLAIN_KEY), quoted_regex(keys)), _COLON)
    found = intersection(found, _SHORT_ENOUGH)
    if not names:
        return found
    plain = [name.encode() + b":" for name in names if is_plain_key(name)]
    others = [sequence(quoted(every_form(name)), _COLON) for name in names if _is_encodable(name)]
    return difference(found, choice(literal_set(plain), *others))


def are_surely_enough(keys: StringSet) -> bool:
    """Return whether all keys of a set can be written, or so many that they never run out.

    So it is for keys that are short enough if each character is an escape, and for those without escapes.
    """
    count = 0 if keys.texts is not None else keys.count(_MAX_COUNTED)
    for short in (_SHORT_IN_ESCAPES, _SHORT_AS_THEY_ARE):
        left = keys.intersect(short)
        if count <= (left.count(_MAX_COUNTED) if left is not None else 0):
            return True
    return False


_SHORT_IN_ESCAPES = StringSet(high=(MAX_KEY_CHARACTERS - 3) // len("\\u0000"))  # besides the quotes and the colon
_SHORT_AS_THEY_ARE = StringSet(
    high=MAX_KEY_CHARACTERS - 3,
    within=(Language("characters of YAML keys", star(Chars(without(PRINTABLE, '"\\')))),),
)


def _listed(text: str) -> bytes:
    try:
        return key_text(text)
    except UnicodeEncodeError as error:
        raise Inexpressible("properties") from error


def _is_encodable(name: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in name)


def key_of(text: bytes) -> str:
    """Return the key of a text with its colon."""
    return str(json.loads(text[:-1])) if text[:1] == b'"' else text[:-1].decode()


def completions(keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
    """Return the rests of those keys' spellings that begin with some bytes."""
    found: list[Spelling] = []
    for key in keys:
        for spelling in _spellings(key):
            rest = rest_of(spelling, begun)
            if rest:
                found.append(rest)
    return tuple(found)


@lru_cache(maxsize=4096)
def _spellings(key: str) -> tuple[Spelling, ...]:
    """Return every way to write a key and its colon."""
    found: list[Spelling] = [((key_text(key),),)] if is_plain_key(key) else []
    if _is_encodable(key):
        found.append(((b'"',), *map(_forms, key), (b'"',), (b":",)))
    return tuple(found)


@lru_cache(maxsize=4096)
def _forms(character: str) -> tuple[bytes, ...]:
    """Return every way to write a character in quotes."""
    point = ord(character)
    found: list[bytes] = []
    if character in _SHORT:
        found.append(b"\\" + _SHORT[character].encode())
    elif any(low <= point <= high for low, high in PRINTABLE):
        found.append(character.encode())
    if point <= 0xFFFF:
        hexes = product(*(sorted({digit, digit.upper()}) for digit in f"{point:04x}"))
        found += [b"\\u" + "".join(digits).encode() for digits in hexes]
    return tuple(found)
