r"""Replies whose calls are written as calls of Python.

pythonic    [f(a=1, note='x'), g()]
lfm_2       text <|tool_call_start|>[f(a=1, note='x'), g()]<|tool_call_end|> text
olmo_3      text <function_calls>f(a=1, note='x')\ng()</function_calls> text
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from structgen.generation.tools.literals import read_python, write_python
from structgen.generation.tools.messages import ParsedCall, ParsedReply, begun, unfinished, without_begun

__all__ = ["PYTHON_CALLS", "PythonCalls"]

_ANY_NAME = r"[\w.:/-]+"


@dataclass(frozen=True, slots=True)
class PythonCalls:
    """A format of calls as in Python.

    Attributes:
        opening, closing: the marks around the calls, as regexes.
        marks: the same as texts.
        separator: the text between two calls.
        held: marks whose first characters are no text for a reader of a text that goes on.
    """

    opening: str
    closing: str
    marks: tuple[str, str]
    separator: str
    held: tuple[str, ...]

    def read(self, text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
        """Read a reply; see `read_reply`. A list without the name of a tool is text."""
        begin = re.compile(rf"{self.opening}(?=(?:{_names(schemas)})\()")
        texts: list[str] = []
        calls: list[ParsedCall] = []
        position = 0
        while (found := begin.search(text, position)) is not None:
            texts.append(text[position : found.start()])
            position = self._read_calls(text, found.end(), calls, partial)
            if position < 0:
                return ParsedReply("".join(texts).strip(), calls)
        rest = text[position:]
        texts.append(self._without_begun(rest, schemas) if partial else rest)
        said = "".join(texts)
        return ParsedReply(said.strip() if calls else said, calls)

    def _read_calls(self, text: str, position: int, calls: list[ParsedCall], partial: bool) -> int:
        """Read the calls between the marks; return the position after them, or -1 where the text ends before it."""
        name = re.compile(rf"[\s,]*({_ANY_NAME})(?=\()")
        closing = re.compile(self.closing)
        while (end := closing.match(text, position)) is None:
            found = name.match(text, position)
            values, position = read_python(text, found.end()) if found is not None else ({}, -1)
            if position < 0:
                if not partial:
                    raise unfinished(found[1] if found is not None else "a function", text)
                if found is not None:
                    calls.append(ParsedCall(found[1], values, is_complete=False, source=begun(values)))
                return -1
            calls += [ParsedCall(found[1], values)] if found is not None else []
        return end.end()

    def _without_begun(self, text: str, schemas: Iterable[str]) -> str:
        """Return a text without a mark that begins at its end."""
        calls = [f"[{name}(" for name in schemas] if self.marks[0] == "[" else []
        return without_begun(text, [*self.held, *calls])

    def write(self, text: str, calls: Sequence[ParsedCall]) -> str:
        """Return the text of a reply; see `write_reply`."""
        written = [f"{call.name}{write_python(call.arguments)}" for call in calls]
        return f"{text}{self.marks[0]}{self.separator.join(written)}{self.marks[1]}" if calls else text


def _names(schemas: Iterable[str]) -> str:
    """Return the regex of the names of tools; of any name where they are not known."""
    return "|".join(sorted(map(re.escape, schemas), key=len, reverse=True)) or _ANY_NAME


PYTHON_CALLS = {
    "pythonic": PythonCalls(
        r"(?:<\|python_start\|>)?\[",
        r"\s*\]\s*(?:<\|python_end\|>)?",
        ("[", "]"),
        ", ",
        ("<|python_start|>", "<|python_end|>"),
    ),
    "lfm_2": PythonCalls(
        r"<\|tool_call_start\|>\s*\[\s*",
        r"\s*\]\s*(?:<\|tool_call_end\|>)?",
        ("<|tool_call_start|>[", "]<|tool_call_end|>"),
        ", ",
        ("<|tool_call_start|>", "<|tool_call_end|>"),
    ),
    "olmo_3": PythonCalls(
        r"<function_calls>\s*",
        r"\s*</function_calls>",
        ("<function_calls>", "</function_calls>"),
        "\n",
        ("<function_calls>",),
    ),
}
"""The formats by name."""
