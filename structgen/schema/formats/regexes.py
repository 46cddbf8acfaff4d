r"""A regex of the format `regex`: texts that ECMA-262 and Python both read as regular expressions.

`jsonschema` checks this format with Python's `re`. Syntax that only one of the two reads is therefore neither in the
format nor outside of it: named groups, back-references, `[]`, `\cA`, `\p{…}`, look-behind of variable width. The syntax
is that of ECMA-262's `u` flag, which is the stricter one. An automaton cannot count nesting without bound, so groups
nest at most `MAX_GROUP_DEPTH` deep. Bounds of quantifiers have up to three digits.
"""

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
    plus,
    repeat,
    sequence,
    star,
)
from structgen.schema.formats.parts import ALNUM, HEX, digit, digits, words
from structgen.schema.json_text.numbers import integer_range
from structgen.schema.json_text.strings import byte_set

__all__ = ["LOOSE_REGEX", "ecma_regex"]

MAX_GROUP_DEPTH = 8
"""Maximum nesting depth of groups and look-aheads."""

_SYNTAX = "^$\\.*+?()[]{}|/"
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_BEYOND = Chars(((0xA1, 0xD7FF), (0xE000, 0x10FFFF)))
_BACKSLASH = Literal(b"\\")


def _escape(signs: str) -> Regex:
    """Return escapes of one character: the common ones, and those of these signs."""
    return sequence(
        _BACKSLASH,
        choice(
            byte_set(signs + "fnrtv"), sequence(Literal(b"x"), repeat(HEX, 2, 2)), sequence(Literal(b"u"), _scalar())
        ),
    )


def _scalar() -> Regex:
    """Return four hexadecimal digits of a character that is no surrogate."""
    return choice(
        sequence(byte_set("0123456789abcABCefEF"), repeat(HEX, 3, 3)),
        sequence(byte_set("dD"), digit(0, 7), repeat(HEX, 2, 2)),
    )


def _bounds() -> Regex:
    """Return `{n}`, `{n,}` and `{n,m}` with n <= m."""
    few = integer_range(0, 99)
    pairs: list[Regex] = [sequence(Literal(f"{n},".encode()), integer_range(n, 99)) for n in range(100)]
    pairs.append(sequence(few, Literal(b","), digit(1, 9), digits(2)))
    count = choice(few, sequence(digit(1, 9), digits(2)))
    return sequence(Literal(b"{"), choice(sequence(count, optional(Literal(b","))), *pairs), Literal(b"}"))


def _class() -> Regex:
    """Return a bracketed class; the ends of a range are unescaped and in order."""
    # Python warns of pairs that may become set operations: [[, --, &&, ~~, ||.
    plain = "".join(sign for sign in _PRINTABLE if sign not in "[]\\-^&~|")
    ranges = [sequence(Literal(f"{low}-".encode()), byte_set(plain[i:])) for i, low in enumerate(plain) if low in ALNUM]
    item = choice(byte_set(plain), _BEYOND, sequence(_BACKSLASH, byte_set("dDsSwWb")), _escape(_SYNTAX + "-"), *ranges)
    dash = optional(Literal(b"-"))
    inside = choice(sequence(dash, plus(item), dash), Literal(b"-"))
    return sequence(Literal(b"["), optional(Literal(b"^")), inside, Literal(b"]"))


LOOSE_REGEX = optional(sequence(Chars(((0, 0x28), (0x2C, 0x3E), (0x40, 0xD7FF), (0xE000, 0x10FFFF))), star(ANY_CHAR)))
"""Texts that either reader might accept: none begins with a quantifier or a closing parenthesis."""


@cache
def ecma_regex() -> Regex:
    """Return regular expressions, built level by level of nesting."""
    plain = choice(byte_set("".join(sign for sign in _PRINTABLE if sign not in _SYNTAX) + "/"), _BEYOND)
    atom = choice(
        plain, Literal(b"."), sequence(_BACKSLASH, byte_set("dDsSwW")), _escape(_SYNTAX), Repeat(_class(), 1, 1)
    )
    quantifier = sequence(choice(byte_set("*+?"), _bounds()), optional(Literal(b"?")))
    fixed = Repeat(atom, 0, 64)  # Python's look-behind has a fixed width
    behind = sequence(words("(?<=", "(?<!"), fixed, Literal(b")"))
    edge = choice(byte_set("^$"), words("\\b", "\\B"), behind)
    single = Repeat(atom, 1, 1)
    quantified = optional(Repeat(quantifier, 1, 1))
    term = choice(edge, sequence(single, quantified))
    body = _alternatives(term)
    for _depth in range(MAX_GROUP_DEPTH):
        inner = Repeat(body, 1, 1)  # one shared term for all uses
        group = sequence(Literal(b"("), optional(Literal(b"?:")), inner, Literal(b")"), quantified)
        ahead = sequence(words("(?=", "(?!"), inner, Literal(b")"))
        body = _alternatives(choice(term, group, ahead))
    return body


def _alternatives(term: Regex) -> Regex:
    return star(choice(term, Literal(b"|")))
