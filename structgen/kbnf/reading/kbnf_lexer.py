"""The lexer of KBNF: cuts a text into tokens, and reads the escapes in strings."""

from __future__ import annotations

import json
import re
import string
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
_ESCAPE = re.compile(
    r"""\\(?:
    u(?P<high>[Dd][89ABab][0-9A-Fa-f]{2})\\u(?P<low>[Dd][C-Fc-f][0-9A-Fa-f]{2})
  | (?:u\{(?P<braced>[0-9A-Fa-f]{1,6})\} | u(?P<four>[0-9A-Fa-f]{4}) | x(?P<two>[0-9A-Fa-f]{2}))
  | c(?P<control>[A-Za-z])
  | (?P<line>\r?\n)
  | (?P<letter>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
# The published package has all of them but `\v`.
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


def unescape(source: str, token: Token, *, of_regex: bool = False) -> str:
    r"""Return the text of a string token, its escapes resolved.

    Escapes are those of JavaScript: `\n \t \r \b \f \v \0 \/ \\ \' \"`, `\xHH`, `\uHHHH` (two for one character
    too), `\u{…}`, `\cA`, a backslash before a mark such as `\-`, and one at the end of a line, which joins two lines.
    Each is a character, so `'\xff'` is U+00FF, two bytes in UTF-8 (as in the published package). JavaScript drops the
    backslash of any other letter; here that is an error, since it is most often a regex's.

    Args:
        source: the grammar.
        token: a token of kind "string".
        of_regex: whether the text is a regex. Then marks keep their backslash: `\.` is a full stop there too.

    Raises:
        GrammarError: an escape is unknown, or is not a Unicode scalar value.
    """
    inner = token.text[1:-1]
    if "\\" not in inner:
        return inner
    return _ESCAPE.sub(
        lambda found: _unescaped(source, token.offset + 1 + found.start(), found, of_regex=of_regex), inner
    )


def _unescaped(source: str, offset: int, found: re.Match[str], *, of_regex: bool) -> str:
    """Return the text of one escape, which stands at an offset of the source."""
    if found["high"]:
        return chr(0x10000 + ((int(found["high"], 16) & 0x3FF) << 10) + (int(found["low"], 16) & 0x3FF))
    digits = found["braced"] or found["four"] or found["two"]
    if digits:
        return numbered_character(source, offset, found[0], digits)
    if found["control"]:
        return chr(ord(found["control"]) % 32)
    if found["line"]:
        return ""
    letter = found["letter"]
    if letter in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[letter]
    if letter in string.punctuation:
        return found[0] if of_regex else letter
    return fail(source, offset, f"unknown escape {found[0]}", hint=_hint_of_escape(letter))


def source_offset(source: str, token: Token, index: int, *, of_regex: bool = False) -> int:
    """Return the offset in the source of character `index` of a string token's text, as `unescape` returns it."""
    begin = token.offset + 1
    position, inner = 0, token.text[1:-1]
    while position < len(inner):
        found = _ESCAPE.match(inner, position)
        index -= len(_unescaped(source, begin + position, found, of_regex=of_regex)) if found else 1
        if index < 0:
            break
        position = found.end() if found else position + 1
    return begin + position
