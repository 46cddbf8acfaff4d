r"""Regexes of strings in JSON text: the escaped forms of regexes over decoded text, and pieces that all schemas share.

A decoded regex describes the characters of the string's value. `escaped` substitutes each character by its spellings:

    value       caf and U+00E9
    canonical   "café"              the spelling of `json.dumps(ensure_ascii=False)`
    others      "caf\u00e9", "caf\u00E9", "\u0063af\u00e9", …

Texts that a schema names (a `Literal`, or the bytes of a `ByteSet`) keep their canonical form. A `Chars` accepts every
legal form. Under a complement every form is meant: otherwise an excluded text would be accepted in another spelling.

Different values have no spelling in common. The substitution therefore commutes with union, intersection and
difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from json.encoder import encode_basestring

from structgen.engine.deadlines import spend
from structgen.engine.regex.tree import (
    ByteSet,
    Chars,
    Choice,
    Complement,
    Early,
    Intersection,
    Literal,
    LiteralSet,
    Multiple,
    Regex,
    Remainders,
    Repeat,
    Runs,
    Sequence,
    Substrings,
    choice,
    difference,
    literal_set,
    repeat,
    sequence,
)

__all__ = [
    "JSON_CHAR",
    "JSON_KEY",
    "JSON_STRING",
    "STRING_BODY",
    "any_string",
    "are_few",
    "byte_set",
    "canonical",
    "canonical_string",
    "escaped",
    "every_form",
    "is_scalar",
    "key_outside",
    "quoted",
    "remaining_spelling",
    "rest_of",
    "spelling",
    "texts_regex",
]

MAX_DISTRIBUTED_RANGES = 32  # of a class whose escapes are terms of their own before each thing that may follow
_SURROGATES = (0xD800, 0xDFFF)
_SHORT = {0x22: '"', 0x5C: "\\", 0x2F: "/", 0x08: "b", 0x0C: "f", 0x0A: "n", 0x0D: "r", 0x09: "t"}


def byte_set(text: str) -> ByteSet:
    """Return one byte out of the ASCII characters of `text`."""
    mask = 0
    for byte in text.encode("ascii"):
        mask |= 1 << byte
    return ByteSet(mask)


def canonical(text: str) -> bytes:
    r"""Return the canonical spelling of a string, quotes included: that of `json.dumps(text, ensure_ascii=False)`.

    >>> canonical("caf\u00e9\n")
    b'"caf\xc3\xa9\\n"'

    Raises:
        UnicodeEncodeError: the text contains a lone surrogate, which UTF-8 text cannot.
    """
    return encode_basestring(text).encode()


def _hex_choice(digits: int) -> Regex:
    """Return one hexadecimal digit, in either case, out of a set: bit d stands for digit d."""
    signs = {sign for digit in range(16) if digits >> digit & 1 for sign in (f"{digit:x}", f"{digit:X}")}
    return byte_set("".join(signs)) if len(signs) > 1 else Literal("".join(signs).encode())


_HEX = _hex_choice(0xFFFF)


_Ranges = tuple[tuple[int, int], ...]


@lru_cache(maxsize=4096)
def _hex_numbers(ranges: _Ranges, digits: int) -> Regex:
    """Return strings of hexadecimal digits whose number is in one of the sorted ranges.

    First digits that are followed by the same digits share one alternative.
    """
    if digits == 1:
        return _hex_choice(sum(1 << d for low, high in ranges for d in range(low, high + 1)))
    unit = 16 ** (digits - 1)
    if ranges == ((0, 16 * unit - 1),):
        return repeat(_HEX, digits, digits)
    first_digits: dict[_Ranges, int] = {}
    for digit in range(ranges[0][0] // unit, ranges[len(ranges) - 1][1] // unit + 1):
        rest = _shifted(_clip(ranges, digit * unit, digit * unit + unit - 1), -digit * unit)
        if rest:
            first_digits[rest] = first_digits.get(rest, 0) | 1 << digit
    return choice(*(sequence(_hex_choice(mask), _hex_numbers(rest, digits - 1)) for rest, mask in first_digits.items()))


def _shifted(ranges: Iterable[tuple[int, int]], by: int) -> _Ranges:
    return tuple((low + by, high + by) for low, high in ranges)


def _pairs(ranges: _Ranges) -> list[Regex]:
    """Return surrogate pairs, without their first backslash, for code points above U+FFFF."""
    trailing_of: dict[tuple[int, int], list[tuple[int, int]]] = {}  # by a range of leading surrogates
    for low, high in ranges:
        for first, last, trailing in _boxes(low - 0x10000, high - 0x10000):
            trailing_of.setdefault((first, last), []).append(trailing)
    leading: dict[_Ranges, list[tuple[int, int]]] = {}
    for firsts, trailings in trailing_of.items():
        leading.setdefault(tuple(trailings), []).append(firsts)
    return [
        sequence(
            Literal(b"u"),
            _hex_numbers(_shifted(sorted(firsts), 0xD800), 4),
            Literal(b"\\u"),
            _hex_numbers(_shifted(trailing, 0xDC00), 4),
        )
        for trailing, firsts in leading.items()
    ]


def _boxes(low: int, high: int) -> list[tuple[int, int, tuple[int, int]]]:
    """Return a range of 20-bit numbers as products of a range of the upper ten bits and one of the lower ten."""
    first, last = low >> 10, high >> 10
    if first == last:
        return [(first, last, (low & 0x3FF, high & 0x3FF))]
    boxes: list[tuple[int, int, tuple[int, int]]] = []
    if low & 0x3FF:
        boxes.append((first, first, (low & 0x3FF, 0x3FF)))
        first += 1
    if high & 0x3FF != 0x3FF:
        boxes.append((last, last, (0, high & 0x3FF)))
        last -= 1
    if first <= last:
        boxes.append((first, last, (0, 0x3FF)))
    return boxes


def _needs_escape(point: int) -> bool:
    return point < 0x20 or point == 0x22 or point == 0x5C


def _clip(ranges: Iterable[tuple[int, int]], low: int, high: int) -> list[tuple[int, int]]:
    return [(max(a, low), min(b, high)) for a, b in ranges if a <= high and b >= low]


def _raw_ranges(ranges: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return the part of the ranges that JSON accepts unescaped in a string."""
    return [piece for low, high in ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)) for piece in _clip(ranges, low, high)]


@lru_cache(maxsize=4096)
def escaped_chars(ranges: tuple[tuple[int, int], ...]) -> Regex:
    """Return every legal form of one character out of the ranges."""
    escapes = _escapes(ranges)
    forms: list[Regex] = [sequence(Literal(b"\\"), choice(*escapes))] if escapes else []
    raw = _raw_ranges(ranges)
    if raw:
        forms.insert(0, Chars(tuple(raw)))
    return choice(*forms)


def _escapes(ranges: _Ranges) -> list[Regex]:
    """Return what follows the backslash in the escaped forms of one character out of the ranges."""
    escapes: list[Regex] = []
    short = "".join(sign for point, sign in _SHORT.items() if _clip(ranges, point, point))
    if short:
        escapes.append(byte_set(short))
    hexes = (*_clip(ranges, 0, _SURROGATES[0] - 1), *_clip(ranges, _SURROGATES[1] + 1, 0xFFFF))
    pairs = _pairs(tuple(_clip(ranges, 0x10000, 0x10FFFF)))
    if len(ranges) > MAX_DISTRIBUTED_RANGES:
        if hexes:
            escapes.append(sequence(Literal(b"u"), Repeat(_hex_numbers(hexes, 4), 1, 1)))
        if pairs:
            escapes.append(Repeat(choice(*pairs), 1, 1))
    else:
        if hexes:
            escapes.append(sequence(Literal(b"u"), _hex_numbers(hexes, 4)))
        escapes.extend(pairs)
    return escapes


JSON_CHAR: Regex = escaped_chars(((0, 0xD7FF), (0xE000, 0x10FFFF)))
"""One character of a JSON string, in any legal form. The engine recognizes counted runs of this object: share it."""

QUOTE: Regex = Literal(b'"')
STRING_BODY: Regex = Repeat(JSON_CHAR, 0, None)
JSON_STRING: Regex = Sequence((QUOTE, STRING_BODY, QUOTE))
"""Any JSON string, quotes included."""

# A key that the schema does not name. Printable ASCII has one form only, so that a table of literals excludes the
# declared names; other characters may be escaped in any way.
_KEY_CHAR: Regex = Choice(
    (
        Chars(tuple(_raw_ranges(((0, 0xD7FF), (0xE000, 0x10FFFF))))),
        sequence(  # one backslash for all, so that the form shows that no character begins another: they can be counted
            Literal(b"\\"),
            choice(byte_set('"\\'), *_escapes(((0, 0x1F), (0x7F, 0xD7FF), (0xE000, 0x10FFFF)))),
        ),
    )
)
KEY_BODY: Regex = Repeat(_KEY_CHAR, 0, None)
JSON_KEY: Regex = Sequence((QUOTE, KEY_BODY, QUOTE))
"""Any key, quotes included; printable ASCII characters stay unescaped wherever possible."""


_CANONICAL_CHAR: Regex = Choice(
    (
        Chars(((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF))),
        *(Literal(canonical(chr(point))[1:-1]) for point in (*range(0x20), 0x22, 0x5C)),
    )
)
_MAX_EVERY_FORM = 10_000  # characters of texts that are excluded in every form; each takes several nodes of a tree


@lru_cache(maxsize=1024)
def any_string(minimum: int, maximum: int | None) -> Regex:
    """Return strings, quotes included, of `minimum` to `maximum` code points."""
    if minimum == 0 and maximum is None:
        return JSON_STRING
    return Sequence((QUOTE, Repeat(JSON_CHAR, minimum, maximum), QUOTE))


def quoted(body: Regex) -> Regex:
    """Return a body between quotes."""
    return Sequence((QUOTE, body, QUOTE))


def texts_regex(texts: Iterable[str]) -> Regex:
    """Return known strings, quotes included, each in its canonical form."""
    return literal_set(map(_counted_canonical, texts))


def _counted_canonical(text: str) -> bytes:
    spend(1)
    return canonical(text)


def key_outside(names: Iterable[str]) -> Regex:
    """Return any key, quotes included, whose value is none of the names in any spelling."""
    plain: list[bytes] = []
    others: list[str] = []
    for name in names:
        if all(0x20 <= ord(c) <= 0x7E for c in name):
            plain.append(canonical(name))
        elif is_scalar(name):
            others.append(name)
    if not are_few(others):
        return difference(canonical_string(0, None), literal_set([*plain, *map(canonical, others)]))
    parts: list[Regex] = [quoted(every_form(name)) for name in others]
    if plain:
        parts.append(literal_set(plain))
    return difference(JSON_KEY, choice(*parts)) if parts else JSON_KEY


def are_few(texts: Iterable[str]) -> bool:
    """Return whether texts are so few that a tree can hold every form of them."""
    return sum(map(len, texts)) <= _MAX_EVERY_FORM


def is_scalar(text: str) -> bool:
    """Return whether a text has no lone surrogates, so that UTF-8 can hold it."""
    return not any(_SURROGATES[0] <= ord(character) <= _SURROGATES[1] for character in text)


def canonical_string(minimum: int, maximum: int | None) -> Regex:
    """Return strings in their canonical spelling, quotes included, of `minimum` to `maximum` code points."""
    return quoted(Repeat(_CANONICAL_CHAR, minimum, maximum))


@lru_cache(maxsize=4096)
def spelling(text: str) -> tuple[tuple[bytes, ...], ...]:
    r"""Return every way to write a string, quotes included.

    Lone surrogates are written as escapes only, as in JSON text.

    >>> [forms[:2] for forms in spelling("a")]
    [(b'"',), (b'a', b'\\u0061'), (b'"',)]

    Returns:
        The forms of the first quote, of each character, and of the last quote.
    """
    spend(1)
    return ((b'"',), *map(_forms, text), (b'"',))


@lru_cache(maxsize=4096)
def _forms(character: str) -> tuple[bytes, ...]:
    """Return every way to write a character in a JSON string."""
    point = ord(character)
    forms = [b"\\" + _SHORT[point].encode()] if point in _SHORT else []
    if not _needs_escape(point) and not _SURROGATES[0] <= point <= _SURROGATES[1]:
        forms.insert(0, character.encode())
    units = character.encode("utf-16-be", "surrogatepass")
    escapes = [b""]
    for at in range(0, len(units), 2):
        digits = units[at : at + 2].hex()
        if digits.isdigit():  # most characters have no letters in their number
            numbers = [digits.encode()]
        else:
            forms_of_digits = [digit if digit.isdigit() else digit.upper() + digit for digit in digits]
            numbers = ["".join(chosen).encode() for chosen in product(*forms_of_digits)]
        escapes = [before + b"\\u" + number for before in escapes for number in numbers]
    return (*forms, *escapes)


def remaining_spelling(text: str, begun: bytes) -> tuple[tuple[bytes, ...], ...] | None:
    """Return the ways to complete a string after some bytes; None where it cannot begin so, or is complete.

    Args:
        text: the string's value.
        begun: the bytes written so far, from the first quote on.

    Returns:
        The forms of each remaining unit, as in `spelling`; the first unit may be the rest of a form.
    """
    return rest_of(spelling(text), begun)


def begun_text(begun: bytes) -> str:
    """Return the characters of a begun string up to its first escape, without a last one that is unfinished."""
    return begun[1:].partition(b"\\")[0].decode(errors="ignore")


def rest_of(units: tuple[tuple[bytes, ...], ...], begun: bytes) -> tuple[tuple[bytes, ...], ...] | None:
    """Return the units of a spelling after some bytes; None where it cannot begin so, or is complete."""
    at = 0
    for number, forms in enumerate(units):
        if at == len(begun):
            return units[number:]
        for form in forms:
            if begun.startswith(form, at):
                at += len(form)
                break
        else:
            left = begun[at:]
            pending = tuple([form[len(left) :] for form in forms if form.startswith(left)])
            return (pending, *units[number + 1 :]) if pending else None
    return None


@lru_cache(maxsize=1024)
def every_form(text: str) -> Regex:
    """Return every way to write a text inside a JSON string."""
    return sequence(*(escaped_chars(((ord(c), ord(c)),)) for c in text))


def _exact(text: str) -> Regex:
    """Return the canonical form of a text, without quotes."""
    return Literal(_unquoted(text))


def _unquoted(text: str) -> bytes:
    data = canonical(text)
    return data[1 : len(data) - 1]


def _ascii(mask: int, every: bool) -> Regex:
    """Return one ASCII character out of a set; only in canonical form unless `every`."""
    points = [b for b in range(128) if mask >> b & 1]
    if every:
        ranges: list[tuple[int, int]] = []
        for point in points:
            low = ranges.pop()[0] if ranges and ranges[len(ranges) - 1][1] == point - 1 else point
            ranges.append((low, point))
        return escaped_chars(tuple(ranges)) if ranges else ByteSet(0)
    special = [_exact(chr(b)) for b in points if _needs_escape(b)]
    raw = sum(1 << b for b in points if not _needs_escape(b))
    return choice(ByteSet(raw), *special)


def _leaf(regex: Regex, every: bool) -> Regex:
    """Return the escaped form of a tree without children.

    Raises:
        ValueError: the tree describes bytes that are no characters.
    """
    if isinstance(regex, Chars):
        return escaped_chars(regex.ranges)
    if isinstance(regex, Literal):
        return every_form(regex.data.decode()) if every else _exact(regex.data.decode())
    if isinstance(regex, LiteralSet):
        texts = [text.decode() for text in regex.texts]
        return choice(*map(every_form, texts)) if every else literal_set(map(_unquoted, texts))
    if isinstance(regex, Substrings) and not every:
        return Substrings(tuple([_unquoted(unit.decode()) for unit in regex.units]))
    if isinstance(regex, Runs) and not every:
        return _escaped_runs(regex)
    if isinstance(regex, (Multiple, Remainders)) and not every:
        return regex  # of digits, which are written as they are
    if isinstance(regex, ByteSet) and regex.mask < 1 << 128:
        return _ascii(regex.mask, every)
    raise ValueError(f"{type(regex).__name__} describes bytes, not characters")


def _escaped_runs(runs: Runs) -> Regex:
    forms: dict[bytes, tuple[bytes, int]] = {}
    for unit, skipped in zip(runs.units, runs.skipped):
        if unit not in forms:
            forms[unit] = _unquoted(unit.decode()), len(_unquoted(unit[:skipped].decode()))
    return Runs(tuple([forms[unit][0] for unit in runs.units]), tuple([forms[unit][1] for unit in runs.units]))


def _rebuilt(regex: Regex, children: list[Regex]) -> Regex:
    """Return a tree with other children."""
    if isinstance(regex, Sequence):
        return sequence(*children)
    if isinstance(regex, Choice):
        return choice(*children)
    if isinstance(regex, Intersection):
        return Intersection(tuple(children))
    if isinstance(regex, Early):
        return Early(children[0])
    if isinstance(regex, Repeat):
        return Repeat(children[0], regex.min, regex.max)
    return Intersection((STRING_BODY, Complement(children[0])))


def escaped(regex: Regex, *, every: bool = False) -> Regex:
    """Return the JSON-escaped form of a regex over decoded text, without quotes.

    Trees may be of any depth; shared parts stay shared.

    Args:
        regex: a tree over characters: no bytes beyond ASCII except in `Chars`, `Runs`, `Substrings` and literals.
        every: accept every legal form of every character, as needed under a complement. `Runs` and `Substrings` have
            no such form.

    Raises:
        ValueError: the tree describes bytes that are no characters.
    """
    done: dict[tuple[int, bool], Regex] = {}
    stack: list[tuple[Regex, bool]] = [(regex, every)]
    while stack:
        node, full = stack[len(stack) - 1]
        key = (id(node), full)
        if key in done:
            stack.pop()
            continue
        if isinstance(node, (Sequence, Choice, Intersection)):
            children, inner = list(node.parts), full
        elif isinstance(node, Repeat):
            children, inner = [node.body], full
        elif isinstance(node, Complement):
            children, inner = [node.body], not full
        elif isinstance(node, Early):  # a shorter match may have any form
            children, inner = [node.body], True
        else:
            done[key] = _leaf(node, full)
            stack.pop()
            continue
        missing = [(child, inner) for child in children if (id(child), inner) not in done]
        if missing:
            stack.extend(missing)
            continue
        done[key] = _rebuilt(node, [done[id(child), inner] for child in children])
        stack.pop()
    return done[id(regex), every]
