"""The lexer of Lark grammars: cuts a text into tokens, and reads the escapes in strings."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from structgen.kbnf.reading.kbnf_lexer import fail, numbered_character

__all__ = ["LarkDialect", "LarkToken", "check_is_text", "lark_tokens", "pattern_of", "text_of"]

LarkDialect: TypeAlias = Literal["llguidance", "lark"]
"""The dialect: llguidance (regexes in Rust's syntax), or "lark", the Python toolkit (regexes in Python's)."""

# The order matters: a comment before a regex, a regex before marks. A line that begins with "|" continues a rule.
_SYNTAX = r"""
    (?P<space>[ \t]+|//[^\r\n]*|\#[^\r\n]*)
  | (?P<newline>[\r\n](?:\s|//[^\r\n]*|\#[^\r\n]*)*)
  | (?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*"i?)
  | (?P<regex>/(?:[^/\\\r\n]|\\[^\r\n])+/[a-z]*)
  | (?P<json>%(?:json|regex|llguidance)\b)
  | (?P<nested>%lark\b)
  | (?P<statement>%[a-z]+(?:_[a-z]+)*)
  | (?P<special><[^<>\s]+>|@[A-Za-z0-9_-]+)
  | (?P<terminal>_*[A-Z](?:[A-Z0-9_]|-(?!>))*)
  | (?P<rule>_*[a-z](?:[a-z0-9_]|-(?!>))*)
  | (?P<number>[0-9]+)
  | (?P<mark>->|\.\.|::|[:|()\[\]{}?*+~&,.!=-])
"""
# The toolkit's: a backslash continues a line, and a regex with the flag x may go over lines.
_TOOLKIT_SYNTAX = r"(?P<continued>\\[ ]*\r?\n)|(?P<long>/(?![/*])(?:[^/\\]|\\.)+/[a-z]*x[a-z]*)|" + _SYNTAX
_TOKEN = {
    "llguidance": re.compile(_SYNTAX, re.VERBOSE),
    "lark": re.compile(_TOOLKIT_SYNTAX, re.VERBOSE | re.DOTALL),
}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_VALUES = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([nftr])|.)", re.DOTALL)
_SIMPLE_ESCAPES = {"b": "\b", "n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "\\": "\\", '"': '"', "/": "/"}


_KNOWN_TO_TOOLKIT = frozenset('nftruUx\\"')


class LarkToken(NamedTuple):
    """A token of a Lark grammar.

    Attributes:
        kind: "newline", "string", "regex", "json", "nested", "statement", "special", "terminal", "rule", "number",
            "mark", "end".
        text: as written.
        offset: characters before it.
        value: the JSON data after a `%json`, `%regex` or `%llguidance`; where the grammar in the braces of a `%lark`
            begins and ends.
    """

    kind: str
    text: str
    offset: int
    value: Any = None


def lark_tokens(text: str, dialect: LarkDialect, *, begin: int = 0, end: int | None = None) -> list[LarkToken]:
    """Return the tokens of a grammar, without white space and comments; newlines only where a definition may end.

    Args:
        text: the grammar, or a text with several grammars in a row.
        dialect: see `LarkDialect`.
        begin: where the grammar begins in the text.
        end: where it ends; by default at the end of the text.

    Raises:
        GrammarError: a character begins no token, or the data after `%json`, `%regex` or `%llguidance` is not JSON.
    """
    tokens: list[LarkToken] = []
    depth = 0
    offset = begin
    end = len(text) if end is None else end
    syntax = _TOKEN[dialect]
    while offset < end:
        found = syntax.match(text, offset, end)
        if found is None:
            _fail_at_character(text, offset)
        kind, offset = found.lastgroup or "", found.end()
        token = LarkToken("regex" if kind == "long" else kind, found.group(), found.start())
        if kind == "json":
            token, offset = _with_data(text, token)
        elif kind == "nested":
            token, offset = _with_range(text, token, dialect, end)
        if token.text in ("(", "["):
            depth += 1
        elif token.text in (")", "]"):
            depth -= 1
        if kind == "newline":
            if depth <= 0 and not text.startswith("|", offset) and tokens and tokens[-1].kind != "newline":
                tokens.append(token)
        elif kind not in ("space", "continued"):
            tokens.append(token)
    tokens.append(LarkToken("newline", "", end))
    tokens.append(LarkToken("end", "", end))
    return tokens


def _with_data(text: str, token: LarkToken) -> tuple[LarkToken, int]:
    begin = re.compile(r"\s*").match(text, token.offset + len(token.text)).end()  # type: ignore[union-attr]
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError) as error:
        fail(text, begin, f"expected JSON after {token.text!r}: {error}")
    return LarkToken("json", token.text, token.offset, value), end


def _with_range(text: str, token: LarkToken, dialect: LarkDialect, end: int) -> tuple[LarkToken, int]:
    """Return the token of a `%lark {…}` with the range of the grammar in its braces, and where it ends."""
    syntax = _TOKEN[dialect]
    offset = token.offset + len(token.text)
    begin, depth = -1, 0
    while begin < 0 or depth:
        found = syntax.match(text, offset, end)
        if found is None:
            if offset >= end:
                fail(text, token.offset, f"{token.text} has no end: expected '}}'")
            _fail_at_character(text, offset)
        offset = found.end()
        if found.lastgroup == "json":
            offset = _with_data(text, LarkToken("json", found[0], found.start()))[1]
        elif found[0] == "{":
            begin = offset if begin < 0 else begin
            depth += 1
        elif found[0] == "}":
            depth -= 1
        elif begin < 0 and found.lastgroup not in ("space", "newline"):
            fail(text, found.start(), f"expected '{{' after {token.text}")
    return token._replace(value=(begin, offset - 1)), offset


def _fail_at_character(text: str, offset: int) -> NoReturn:
    if text[offset] == '"':
        fail(text, offset, "this string has no end: expected '\"'")
    if text[offset] == "/":
        fail(text, offset, "this regex has no end: expected '/'")
    hint = "strings are written between double quotes" if text[offset] == "'" else ""
    if text[offset] == "_" and text[offset - 1 : offset] in (":", "."):
        fail(text, offset, "parametric rules, rule::_ with %if, are not supported")
    fail(text, offset, f"unexpected character {text[offset]!r}", hint=hint)


def text_of(source: str, token: LarkToken, dialect: LarkDialect = "llguidance") -> tuple[str, bool]:
    r"""Return the text of a string token, and whether the case of its letters is ignored.

    Args:
        source: the grammar, for error messages.
        token: the string.
        dialect: in the toolkit's, an escape that Lark does not know is the backslash and the character: `"\ "`, `"\b"`.

    Raises:
        GrammarError: an escape is unknown, or is not a Unicode character; or the text has a lone surrogate.
    """
    ignores_case = token.text.endswith("i")
    inner = token.text[1 : -2 if ignores_case else -1]

    def replace(found: re.Match[str]) -> str:
        offset = token.offset + 1 + found.start()
        digits = found[1] or found[2] or found[3]
        if digits:
            return numbered_character(source, offset, found[0], digits)
        if dialect == "lark" and found[4] not in _KNOWN_TO_TOOLKIT:
            return found[0]
        if found[4] not in _SIMPLE_ESCAPES:
            fail(source, offset, f"unknown escape {found[0]}", hint="a backslash is written twice")
        return _SIMPLE_ESCAPES[found[4]]

    check_is_text(source, token, inner)
    return _ESCAPE.sub(replace, inner), ignores_case


def check_is_text(source: str, token: LarkToken, text: str) -> None:
    """Raise a `GrammarError` that points at a token if a text in it has a lone surrogate."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        fail(source, token.offset, "a lone surrogate is no Unicode character")


def pattern_of(source: str, token: LarkToken, pattern: str, dialect: LarkDialect) -> str:
    r"""Return the pattern of a regex token as the regex's own syntax has it.

    The Python toolkit replaces `\n`, `\x2e` and the like by their characters first: `/\x2e/` matches any character.

    Args:
        source: the grammar, for error messages.
        token: the regex.
        pattern: as it is written between the slashes.
        dialect: see `LarkDialect`.

    Raises:
        GrammarError: an escape is not a Unicode character.
    """
    if dialect != "lark":
        return pattern

    def replace(found: re.Match[str]) -> str:
        digits = found[1] or found[2] or found[3]
        if digits:
            return numbered_character(source, token.offset + 1 + found.start(), found[0], digits)
        return _SIMPLE_ESCAPES[found[4]] if found[4] else found[0]

    return _VALUES.sub(replace, pattern)
