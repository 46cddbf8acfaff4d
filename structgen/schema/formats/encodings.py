"""Regexes of UUIDs (RFC 9562), Base64 (RFC 4648) and JSON inside of a string (RFC 8259)."""

from __future__ import annotations

from functools import cache

from structgen.engine.regex.tree import (
    ANY_CHAR,
    Chars,
    Literal,
    Regex,
    Repeat,
    choice,
    optional,
    repeat,
    sequence,
    star,
)
from structgen.schema.formats.parts import DIGIT, DIGITS, DOT, HEX, LOWER, MINUS, digit, digits, two, words
from structgen.schema.json_text.strings import byte_set

__all__ = ["ASCII", "LOOSE_JSON", "STRIPPED", "UUID", "base64", "base64_of_ascii", "json_text", "uuid_of"]

UUID = sequence(
    repeat(HEX, 8, 8), MINUS, repeat(HEX, 4, 4), MINUS, repeat(HEX, 4, 4), MINUS, repeat(HEX, 4, 4), MINUS,
    repeat(HEX, 12, 12),
)  # fmt: skip
ASCII = star(Chars(((0, 0x7F),)))

# Neither white space in Unicode's sense nor in Python's: neither Rust's `trim` nor Python's `strip` removes it.
_SOLID = Chars(
    (
        (0x00, 0x08), (0x0E, 0x1B), (0x21, 0x84), (0x86, 0x9F), (0xA1, 0x167F), (0x1681, 0x1FFF), (0x200B, 0x2027),
        (0x202A, 0x202E), (0x2030, 0x205E), (0x2060, 0x2FFF), (0x3001, 0xD7FF), (0xE000, 0x10FFFF),
    )
)  # fmt: skip
STRIPPED = optional(sequence(_SOLID, optional(sequence(star(ANY_CHAR), _SOLID))))
"""Texts without white space at either end."""


def uuid_of(version: int) -> Regex:
    """Return UUIDs of one version (RFC 9562, section 4.2), all of the variant `10`, which has versions."""
    return sequence(
        repeat(HEX, 8, 8), MINUS, repeat(HEX, 4, 4), MINUS, Literal(str(version).encode()), repeat(HEX, 3, 3),
        MINUS, byte_set("89abAB"), repeat(HEX, 3, 3), MINUS, repeat(HEX, 12, 12),
    )  # fmt: skip


# --- Base64 ----------------------------------------------------------------------------------------------------------


def _signs(url: bool) -> str:
    return LOWER.upper() + LOWER + DIGITS + ("-_" if url else "+/")


def _base64(first: Regex, second: Regex, third: Regex, last: Regex) -> Regex:
    """Return groups of four signs, the last group padded; the bits that padding leaves unused are 0."""
    two = sequence(first, byte_set("AQgw"), Literal(b"=="))
    three = sequence(first, second, byte_set("AEIMQUYcgkosw048"), Literal(b"="))
    return sequence(star(sequence(first, second, third, last)), optional(choice(two, three)))


def base64(*, url: bool) -> Regex:
    """Return padded Base64 of RFC 4648: section 4, or section 5 with the alphabet for URLs."""
    sign = byte_set(_signs(url))
    return _base64(sign, sign, sign, sign)


def base64_of_ascii(*, url: bool) -> Regex:
    """Return Base64 of ASCII text.

    The highest bit of each byte is 0. In a group of four signs, these are bits of the first, the second and the third
    sign:

        bytes   0aaaaaaa 0bbbbbbb 0ccccccc
        signs   0aaaaa aa0bbb bbbb0c cccccc
    """
    signs = _signs(url)
    first = byte_set(signs[:32])
    second = byte_set("".join(sign for i, sign in enumerate(signs) if not i & 8))
    third = byte_set("".join(sign for i, sign in enumerate(signs) if not i & 2))
    return _base64(first, second, third, byte_set(signs))


# --- JSON ------------------------------------------------------------------------------------------------------------

MAX_JSON_DEPTH = 4
"""Maximum nesting depth of arrays and objects in a `json-string`."""
_MAX_NUMBER_DIGITS = 15
_BLANK = Repeat(byte_set(" \n"), 0, 2)


LOOSE_JSON = sequence(byte_set(' \t\n\r"-[{tfnNI' + DIGITS), star(ANY_CHAR))
"""Texts that some reader might accept as JSON, `NaN` and `Infinity` included."""


@cache
def json_text() -> Regex:
    """Return JSON text (RFC 8259) with up to `MAX_JSON_DEPTH` levels of arrays and objects.

    Numbers have few enough digits that no reader rounds them.
    """
    hexes = choice(  # no surrogate
        sequence(byte_set("0123456789abcABCefEF"), repeat(HEX, 3, 3)),
        sequence(byte_set("dD"), digit(0, 7), repeat(HEX, 2, 2)),
    )
    escape = sequence(Literal(b"\\"), choice(byte_set('"\\/bfnrt'), sequence(Literal(b"u"), hexes)))
    plain = Chars(((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF)))
    string = sequence(Literal(b'"'), star(choice(plain, escape)), Literal(b'"'))
    whole = choice(Literal(b"0"), sequence(digit(1, 9), Repeat(DIGIT, 0, _MAX_NUMBER_DIGITS - 1)))
    number = sequence(
        optional(MINUS), whole, optional(sequence(Literal(b"."), Repeat(DIGIT, 1, _MAX_NUMBER_DIGITS))),
        optional(sequence(byte_set("eE"), optional(byte_set("+-")), digits(1))),
    )  # fmt: skip
    value = choice(words("null", "true", "false"), number, string)
    for _depth in range(MAX_JSON_DEPTH):
        member = sequence(_BLANK, string, _BLANK, Literal(b":"), _BLANK)
        inner = Repeat(value, 1, 1)  # one shared term for all uses
        value = choice(inner, _list(b"[", _BLANK, inner, b"]"), _list(b"{", member, inner, b"}"))
    return sequence(_BLANK, value, _BLANK)


def _list(opening: bytes, before: Regex, value: Regex, closing: bytes) -> Regex:
    """Return an array or object of one level: items separated by commas, each a value with `before` in front."""
    item = sequence(before, value, _BLANK)
    items = sequence(item, star(sequence(Literal(b","), item)))
    return sequence(Literal(opening), choice(_BLANK, items), Literal(closing))


# --- numbers in strings ----------------------------------------------------------------------------------------------

MAX_FRACTION_DIGITS = 18
"""Maximum digits of the numerator and of the denominator of a fraction."""


def fraction() -> Regex:
    """Return integers and fractions as `fractions.Fraction` writes them: 3, -1/2."""
    positive = sequence(digit(1, 9), Repeat(DIGIT, 0, MAX_FRACTION_DIGITS - 1))
    whole = choice(Literal(b"0"), positive)
    return sequence(optional(MINUS), whole, optional(sequence(Literal(b"/"), positive)))


def complex_number() -> Regex:
    """Return complex numbers as Python writes them, without brackets: 1.5, -2j, 1e-05+0.25j."""
    digits = Repeat(DIGIT, 0, 15)
    exponent = sequence(Literal(b"e"), optional(byte_set("+-")), two(0, 99))
    number = sequence(
        choice(Literal(b"0"), sequence(digit(1, 9), digits)),
        optional(sequence(DOT, Repeat(DIGIT, 1, 17))),
        optional(exponent),
    )
    imaginary = sequence(number, Literal(b"j"))
    both = sequence(number, optional(sequence(byte_set("+-"), imaginary)))
    return sequence(optional(MINUS), choice(both, imaginary))
