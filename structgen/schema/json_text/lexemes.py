r"""Lexemes of JSON text as people write it: the canonical spelling of a text, and the JSON pointer of an offset.

For known strings, structgen accepts one spelling (that of `json.dumps(text, ensure_ascii=False)`); it bounds white
space and accepts none around the top-level value. A file may say the same with `\u00e9` or deep indentation. So the
file's canonical spelling is checked instead, in pieces that know their offset in the file:

    file      [ "caf\u00e9" ]
    pieces    [   ' '   "caf   é   "   ' '   ]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Piece", "canonical_pieces", "members_of", "offset_of", "pointer_at", "pointer_of"]

_LEXEME = re.compile(rb'[ \t\n\r]+|"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{},:]|[^ \t\n\r"\[\]{},:]+|.', re.DOTALL)
_SPACE = b" \t\n\r"
_NO_VALUE = b" \t\n\r]},:"  # no value begins with one of these
_CHARACTER = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*|.",
    re.DOTALL,
)


class Piece(NamedTuple):
    """A piece of a text.

    Attributes:
        data: its canonical spelling.
        start: its offset in the original text.
        is_verbatim: whether the original text has the same spelling.
    """

    data: bytes
    start: int
    is_verbatim: bool

    def offset(self, at: int) -> int:
        """Return the offset in the original text of a byte of the canonical spelling."""
        return self.start + at if self.is_verbatim else self.start


def canonical_pieces(text: bytes) -> Iterator[Piece]:
    r"""Yield a JSON text in canonical spelling: one character for a run of white space, no escapes that are not needed.

    White space around the whole text is left out. Text that is not JSON is left unchanged.

    >>> [piece.data for piece in canonical_pieces(b'  {"caf\\u00e9":\n\t 1} ')]
    [b'{', b'"caf', b'\xc3\xa9', b'"', b':', b'\n', b'1', b'}']
    """
    end = len(text.rstrip(_SPACE))
    for found in _LEXEME.finditer(text, len(text) - len(text.lstrip(_SPACE)), end):
        lexeme = found[0]
        if lexeme[0] in _SPACE:
            yield Piece(lexeme[:1], found.start(), True)
        elif lexeme[:1] == b'"' and b"\\" in lexeme:
            yield from _respelled(lexeme, found.start())
        else:
            yield Piece(lexeme, found.start(), True)


def _respelled(lexeme: bytes, start: int) -> Iterator[Piece]:
    """Yield a string, or the beginning of one, with each escape in its canonical form."""
    begun = 0
    for found in _CHARACTER.finditer(lexeme):
        character = found[0]
        if character == b"\\u":  # no escape: what follows, respelled, could make it one
            break
        spelled = _canonical(character) if character[:1] == b"\\" else character
        if spelled != character:
            if begun < found.start():
                yield Piece(lexeme[begun : found.start()], start + begun, True)
            yield Piece(spelled, start + found.start(), False)
            begun = found.end()
    if begun < len(lexeme):
        yield Piece(lexeme[begun:], start + begun, True)


def _canonical(escape: bytes) -> bytes:
    """Return the canonical form of an escape; invalid escapes and single surrogates are left unchanged."""
    try:
        return json.dumps(json.loads(b'"%s"' % escape), ensure_ascii=False)[1:-1].encode()
    except ValueError:
        return escape


def pointer_at(text: bytes, offset: int) -> str:
    """Return the JSON pointer of the innermost value that has begun before an offset and not ended.

    Between two members, this is the object or array that contains them.

    Args:
        text: JSON text, valid up to the offset; what follows is not read.
        offset: in bytes.

    >>> pointer_at(b'{"people": [{"age": 1}, {"age": 2', 33)
    '/people/1/age'
    """
    path = _Path()
    for found in _LEXEME.finditer(text, 0, offset):
        path.read(found[0])
    members = path.members[:-1] if path.is_between else path.members
    return pointer_of(members)


def offset_of(text: bytes, members: Sequence[str | int]) -> int:
    """Return the offset of a value, given the keys and indices that lead to it; 0 where there is no such value.

    >>> offset_of(b'[1, {"a": null}]', [1, "a"])
    10
    """
    path, wanted, last = _Path(), list(members), 0
    for found in _LEXEME.finditer(text):
        if path.members == wanted and not path.is_between and found[0][0] not in _NO_VALUE:
            last = found.start()  # the last one counts of two equal keys
        path.read(found[0])
    return last


def pointer_of(members: Iterable[str | int]) -> str:
    """Return the JSON pointer of a path of keys and indices."""
    return "".join(f"/{str(member).replace('~', '~0').replace('/', '~1')}" for member in members)


def members_of(pointer: str) -> list[str]:
    """Return the path of a JSON pointer; indices are texts, too.

    >>> members_of("/items/0/a~1b")
    ['items', '0', 'a/b']

    Raises:
        ValueError: it does not begin with "/".
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"a JSON pointer begins with '/', unlike {pointer!r}")
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]


class _Path:
    """The path to the current value, updated lexeme by lexeme.

    Attributes:
        members: a key or an index for each open object or array.
        is_between: whether the last member is complete already, or not known yet.
    """

    def __init__(self) -> None:
        self.members: list[str | int] = []
        self.is_between = False

    def read(self, lexeme: bytes) -> None:
        """Read one more lexeme."""
        sign, members = lexeme[:1], self.members
        if sign in (b"{", b"["):
            members.append("" if sign == b"{" else 0)
            self.is_between = sign == b"{"
        elif sign in (b"}", b"]"):
            del members[-1:]
            self.is_between = bool(members)
        elif sign == b",":
            if members:
                last = members[-1]
                members[-1] = last + 1 if isinstance(last, int) else ""
                self.is_between = isinstance(last, str)
        elif sign == b":":
            self.is_between = False
        elif lexeme[0] in _SPACE:
            self.is_between = self.is_between or self._is_scalar_read
        elif self.is_between:
            members[-1:] = [_name(lexeme)] if members else []
        else:
            is_string = sign == b'"'
            self.is_between = bool(members) and is_string and len(lexeme) > 1 and lexeme[-1:] == b'"'
        self._is_scalar_read = bool(members) and sign not in (b"{", b"[", b",", b":") and lexeme[0] not in _SPACE

    _is_scalar_read = False


def _name(lexeme: bytes) -> str:
    try:
        return str(json.loads(lexeme))
    except ValueError:
        return lexeme.decode(errors="replace").strip('"')
