"""The lexer of KBNF: cuts a text into tokens, and reads the escapes in strings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from structgen.errors import GrammarError

__all__ = ["Token", "fail", "numbered_character", "source_offset", "tokens", "unescape"]

# The order matters: a comment before "(", "any!" before a name. Strings may run over lines.
_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\(\*.*?\*\))
  | (?P<string>'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+")
  | (?P<keyword>(?:any|except|margin|indented)!)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<number>[0-9]+)
  | (?P<json>\#json(?=\s*\{))
  | (?P<regex>\#(?:substrs|token|ex|e)?(?=['"]))
  | (?P<tokens>\#token\[(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^]'"])*\])
  | (?P<mark>\(\*|::=|[=;,|()\[\]{}?*+!-])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
# The escapes of the published package; and `\b \f \v \0 \/`, as in JavaScript, which it lacks.
_SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "/": "/",
}


class Token(NamedTuple):
    """A token of KBNF.

    Attributes:
        kind: "string", "keyword", "name", "number", "regex", "tokens", "json", "mark" or "end".
        text: as written, quotes included; "" at the end.
        offset: characters before it.
    """

    kind: str
    text: str
    offset: int


def fail(source: str, offset: int, message: str, *, hint: str = "") -> NoReturn:
    """Raise a `GrammarError` that points at a position of the source, with line and column."""
    raise GrammarError.at(source, offset, message, hint=hint)


def tokens(source: str) -> Iterator[Token]:
    """Yield the tokens of a grammar, without white space and comments, and at last one of kind "end".

    Raises:
        GrammarError: a string or comment has no end, or a character begins no token.
    """
    offset, end = 0, len(source)
    match_at = _TOKEN.match
    while offset < end:
        found = match_at(source, offset)
        if found is None or found.group() == "(*":
            _fail_at_character(source, offset)
        kind, end_of_token = found.lastgroup or "", found.end()
        if kind == "json":
            end_of_token = _end_of_json(source, end_of_token)
        if kind != "space":
            yield Token(kind, source[offset:end_of_token], offset)
        offset = end_of_token
    yield Token("end", "", end)


def _end_of_json(source: str, offset: int) -> int:
    """Return the end of the JSON object that begins after some white space."""
    begin = source.index("{", offset)
    try:
        return json.JSONDecoder().raw_decode(source, begin)[1]
    except (ValueError, RecursionError) as error:
        fail(source, begin, f"expected a JSON object after '#json': {error}")


def _fail_at_character(source: str, offset: int) -> NoReturn:
    character = source[offset]
    if source.startswith("(*", offset):
        fail(source, offset, "this comment has no end: expected '*)'")
    if character in "'\"":
        fail(source, offset, f"this string has no end: expected {character}")
    if character == "#":
        if source.startswith("#token", offset):
            hint = "write #token'<name>' or #token[7]"
            fail(source, offset, "expected a string or '[' right after '#token'", hint=hint)
        fail(source, offset, "expected a string right after '#', '#e', '#ex' or '#substrs'", hint="write #'[0-9]+'")
    fail(source, offset, f"unexpected character {character!r}")


def _hint_of_escape(letter: str) -> str:
    if not letter.isprintable():
        return ""
    name = "z" if letter == "Z" else letter  # the end of the text, in the syntax of Rust
    return f"a backslash of a regex is written twice: \\\\{name}"


def numbered_character(source: str, offset: int, escape: str, digits: str) -> str:
    r"""Return the character of a numbered escape such as `\x41`.

    Args:
        source: the whole text, for the message.
        offset: the position of the escape in it.
        escape: the text of the escape.
        digits: its hexadecimal digits.

    Raises:
        GrammarError: there is no such character.
    """
    code = int(digits, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        fail(source, offset, f"{escape} is not a Unicode character")
    return chr(code)


def unescape(source: str, token: Token) -> str:
    r"""Return the text of a string token, its escapes resolved.

    Escapes are those of JavaScript: `\n \t \r \b \f \v \0 \/ \\ \' \"`, `\xHH`, `\uHHHH`, `\u{…}`. Each is a character,
    so `'\xff'` is U+00FF, two bytes in UTF-8 (as in the published package).

    Raises:
        GrammarError: an escape is unknown, or is not a Unicode scalar value.
    """
    inner = token.text[1:-1]
    if "\\" not in inner:
        return inner

    def replace(found: re.Match[str]) -> str:
        digits = found[1] or found[2] or found[3]
        offset = token.offset + 1 + found.start()
        if digits:
            return numbered_character(source, offset, found[0], digits)
        if found[4] not in _SIMPLE_ESCAPES:
            fail(
                source,
                offset,
                f"unknown escape {found[0]}",
                hint=_hint_of_escape(found[4]),
            )
        return _SIMPLE_ESCAPES[found[4]]

    return _ESCAPE.sub(replace, inner)


def source_offset(token: Token, index: int) -> int:
    """Return the offset in the source of character `index` of a string token's text."""
    offset, inner = token.offset + 1, token.text[1:-1]
    position = 0
    for _ in range(index):
        if position >= len(inner):
            break
        found = _ESCAPE.match(inner, position)
        position = found.end() if found else position + 1
    return offset + position
