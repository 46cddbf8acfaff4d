"""JSON while it is being written: a tree of what is there, in which only the last way down is still open.

The text is known to be JSON so far, since a grammar made it. What the text alone does not tell, whether a number at its
end might go on and whether a string may be shown before it ends, is told by who feeds it.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pydantic_core

__all__ = ["Node", "PartialReader"]

_STRING_PART = re.compile(rb'["\\]')
_SCALAR = re.compile(rb"[-+.0-9eE]+|[a-z]+")
_LITERALS = (b"true", b"false", b"null")


class Node:
    """A value of the text.

    Attributes:
        kind: "object", "array", "string", or "scalar" for numbers and literals.
        start: where its text begins, in bytes.
        end: where it ends; -1 while it is open.
        members: of an object: the values by key.
        items: of an array.
        shown: of an open string or scalar: what is there to see, or None.
    """

    __slots__ = ("cache", "end", "items", "kind", "members", "shown", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = -1
        self.members: dict[str, Node] = {}
        self.items: list[Node] = []
        self.shown: str | None = None
        self.cache: tuple[Any, Any] | None = None  # a type, and the value of that type; of complete values only

    @property
    def is_complete(self) -> bool:
        """Whether the value has ended."""
        return self.end >= 0


class PartialReader:
    """Reads a JSON text that comes in pieces.

    Attributes:
        root: the value; None before it begins.
        changes: counts what has become visible: containers that open, values that end, strings that grow.
    """

    def __init__(self) -> None:
        self.root: Node | None = None
        self.changes = 0
        self._text = bytearray()
        self._position = 0
        self._open: list[Node] = []  # containers, and a string or scalar at the end
        self._key: str | None = None  # of the value that comes next
        self._key_start = -1  # of a key that is being written
        self._wants_key = False

    @property
    def tail(self) -> str:
        """What the text ends in: "string" or "number", open, or "" for anything else."""
        if not self._open or self._key_start >= 0:
            return ""
        last = self._open[-1]
        if last.kind == "scalar" and not self._text[last.start : last.start + 1].isalpha():
            return "number"
        return last.kind if last.kind == "string" else ""

    @property
    def is_shown(self) -> bool:
        """Whether the string at the end of the text has been shown."""
        return self._open[-1].shown is not None

    def source(self, node: Node) -> bytes:
        """The text of a complete value."""
        return bytes(self._text[node.start : node.end])

    def feed(self, data: bytes) -> None:
        """Goes on with the text."""
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
        """Makes the string at the end of the text visible, as far as it goes."""
        node = self._open[-1]
        raw = self._text[node.start :].decode(errors="ignore")
        shown = pydantic_core.from_json(raw, allow_partial="trailing-strings")
        if shown != node.shown:
            node.shown = shown
            self.changes += 1

    def end_scalar(self) -> None:
        """Makes the number at the end of the text complete."""
        self._close(self._position)

    def _read_mark(self, byte: int) -> None:
        """One character between values, or the first of a value."""
        character = chr(byte)
        start = self._position
        self._position += 1
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
            self._begin(Node("scalar", start))
            self._position = start

    def _read_string(self) -> bool:
        """Goes on in a string; False at the end of the text."""
        found = _STRING_PART.search(self._text, self._position)
        if found is None:
            self._position = len(self._text)
        elif found.group() == b'"':
            self._position = found.end()
            self._end_string()
        elif found.end() < len(self._text):
            self._position = found.end() + 1
        else:
            self._position = found.start()  # a backslash, and nothing yet behind it
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
        """Goes on in a number or literal. One at the end of the text is open, unless it is a whole literal."""
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
