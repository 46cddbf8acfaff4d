"""JSON while it is being written: a tree of the values so far, in which only the last path is still open.

    {"name": "Alice", "tags": ["a", "b        object (open)
                                                name: string (complete)
                                                tags: array (open)
                                                        "a": string (complete)
                                                        "b": string (open)

The text is known to be a prefix of JSON, since a grammar made it. Two facts do not follow from the text alone: whether
a number at its end might continue, and whether a string may be shown before it ends. The caller tells them.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pydantic_core

__all__ = ["Node", "PartialReader", "partial_value"]

_STRING_PART = re.compile(rb'["\\]')
_SCALAR = re.compile(rb"[-+.0-9eE]+|[a-z]+")
_NUMBER_AT_END = re.compile(r"(?<![-+.0-9eE])-?[0-9][-+.0-9eE]*\Z")
_LITERALS = (b"true", b"false", b"null")


class Node:
    """A value of the text.

    Attributes:
        kind: "object", "array", "string", or "scalar" for numbers and literals.
        start: the position of its first byte.
        end: the position after its last byte; -1 while it is open.
        members: the values of an object, by key.
        items: the items of an array.
        shown: the visible part of an open string; None while there is none.
    """

    __slots__ = ("cache", "end", "items", "kind", "members", "shown", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = -1
        self.members: dict[str, Node] = {}
        self.items: list[Node] = []
        self.shown: str | None = None
        self.cache: tuple[Any, Any] | None = None  # for complete values: a type, and the value read as this type

    @property
    def is_complete(self) -> bool:
        """True if the value has ended."""
        return self.end >= 0


class PartialReader:
    """Reader of a JSON text that comes in pieces.

    Attributes:
        root: the value; None before it begins.
        changes: counts visible changes: containers that open, values that end, strings that grow.
    """

    def __init__(self) -> None:
        self.root: Node | None = None
        self.changes = 0
        self._text = bytearray()
        self._position = 0
        self._open: list[Node] = []  # containers, and a string or scalar at the end
        self._key: str | None = None  # the key of the next value
        self._key_start = -1  # the position of a key that is being written
        self._wants_key = False

    @property
    def tail(self) -> str:
        """The kind of an open value at the end of the text: "string", "number", or "" for anything else."""
        if not self._open or self._key_start >= 0:
            return ""
        last = self._open[-1]
        if last.kind == "scalar" and not self._text[last.start : last.start + 1].isalpha():
            return "number"
        return last.kind if last.kind == "string" else ""

    @property
    def is_shown(self) -> bool:
        """True if the string at the end of the text has been shown."""
        return self._open[-1].shown is not None

    @property
    def path(self) -> list[str | int]:
        """The keys and indices that lead to the value at the end of the text."""
        return [
            next(reversed(node.members)) if node.kind == "object" else len(node.items) - 1 for node in self._open[:-1]
        ]

    def source(self, node: Node) -> bytes:
        """Return the text of a complete value."""
        return bytes(self._text[node.start : node.end])

    def feed(self, data: bytes) -> None:
        """Read more of the text.

        Raises:
            ValueError: the text is not JSON, so that it cannot be read on.
        """
        self._text += data
        text, size = self._text, len(self._text)
        while self._position < size:
            if self._key_start >= 0 or (self._open and self._open[-1].kind == "string"):
                if not self._read_string():
                    return
            elif self._open and self._open[-1].kind == "scalar":
                self._read_scalar()
            else:
                self._read_mark(text[self._position])

    def show_string(self) -> None:
        """Make the string at the end of the text visible, as far as it goes."""
        node = self._open[-1]
        raw = self._text[node.start :].decode(errors="ignore")
        shown = pydantic_core.from_json(raw, allow_partial="trailing-strings")
        if shown != node.shown:
            node.shown = shown
            self.changes += 1

    def end_scalar(self) -> None:
        """Complete the number at the end of the text."""
        self._close(self._position)

    def _read_mark(self, byte: int) -> None:
        """Read a character between values, or the first one of a value."""
        character = chr(byte)
        start = self._position
        self._position += 1
        if not self._open and (self.root is not None or character in "}],:") and not character.isspace():
            raise ValueError(f"{character!r} stands outside of the value")
        if character in "{[":
            self._begin(Node("object" if character == "{" else "array", start))
            self.changes += 1
            self._wants_key = character == "{"
        elif character in "}]":
            self._close(self._position)
            self._wants_key = False
        elif character == ",":
            self._wants_key = self._open[-1].kind == "object"
        elif character == '"' and self._wants_key:
            self._key_start = start
        elif character == '"':
            self._begin(Node("string", start))
        elif not character.isspace() and character != ":":
            if _SCALAR.match(self._text, start) is None:
                raise ValueError(f"{character!r} begins no value")
            self._begin(Node("scalar", start))
            self._position = start

    def _read_string(self) -> bool:
        """Read on in a string; return False at the end of the text."""
        found = _STRING_PART.search(self._text, self._position)
        if found is None:
            self._position = len(self._text)
        elif found.group() == b'"':
            self._position = found.end()
            self._end_string()
        elif found.end() < len(self._text):
            self._position = found.end() + 1
        else:
            self._position = found.start()  # a backslash, and nothing after it yet
            return False
        return True

    def _end_string(self) -> None:
        if self._key_start < 0:
            self._close(self._position)
            return
        self._key = json.loads(self._text[self._key_start : self._position])
        self._key_start = -1
        self._wants_key = False

    def _read_scalar(self) -> None:
        """Read on in a number or literal. At the end of the text it stays open, unless it is a whole literal."""
        node = self._open[-1]
        found = _SCALAR.match(self._text, node.start)
        self._position = found.end() if found else self._position
        if self._position < len(self._text) or self._text[node.start : self._position] in _LITERALS:
            self._close(self._position)

    def _begin(self, node: Node) -> None:
        if not self._open:
            self.root = node
        elif self._open[-1].kind == "object":
            self._open[-1].members[self._key or ""] = node
        else:
            self._open[-1].items.append(node)
        self._open.append(node)

    def _close(self, end: int) -> None:
        self._open.pop().end = end
        self.changes += 1


def partial_value(text: str) -> Any:
    """Return the JSON value of an incomplete text, with the values that are complete in it; None when there are none.

    An incomplete string, literal or number is omitted, with its key. So is a number at the very end, which might
    continue.

    Example:
        >>> partial_value('{"name": "Alice", "tags": ["a", "b')
        {'name': 'Alice', 'tags': ['a']}
        >>> partial_value('{"name": "Alice", "age": 3')
        {'name': 'Alice'}
    """
    try:
        return pydantic_core.from_json(_NUMBER_AT_END.sub("", text), allow_partial=True)
    except ValueError:
        return None
