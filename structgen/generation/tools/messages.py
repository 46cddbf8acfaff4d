"""A reply of a model in parts: text, reasoning, calls; and what all readers of such replies need."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ParsedCall", "ParsedReply", "begun", "unfinished", "without_begun"]


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call as the model wrote it.

    Attributes:
        name: the name of the tool.
        arguments: JSON data by name.
        id: the call's id, where the model writes one.
        is_complete: whether its text has ended.
        source: the text of the arguments, where it is JSON. Of a call that is not complete: JSON text that the whole
            text will begin with.
    """

    name: str
    arguments: dict[str, Any]
    id: str = ""
    is_complete: bool = True
    source: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A reply as the model wrote it.

    Attributes:
        text: the text outside of calls.
        calls: the calls, in order.
        reasoning: the reasoning, where the format has it between the other parts.
    """

    text: str
    calls: Sequence[ParsedCall]
    reasoning: str = ""


def without_begun(text: str, marks: Sequence[str]) -> str:
    """Return a text up to the first mark, or up to the begin of a mark at its end.

    Args:
        text: the text.
        marks: the marks, none of them empty.
    """
    text = text[: min((at for mark in marks if (at := text.find(mark)) >= 0), default=len(text))]
    lengths = [size for mark in marks for size in range(1, len(mark)) if text.endswith(mark[:size])]
    return text[: len(text) - max(lengths)] if lengths else text


def begun(arguments: Mapping[str, Any]) -> str:
    """Return arguments as JSON text that may go on with more of them.

    Args:
        arguments: those that are complete.

    Example:
        >>> begun({"a": 1})
        '{"a": 1'
    """
    return json.dumps(arguments, ensure_ascii=False)[:-1] if arguments else ""


def unfinished(name: str, text: str) -> ValueError:
    """Return the error of a call that is not finished, or not in its format."""
    return ValueError(f"the call of {name} is not finished, or not in the format: {text[-120:]!r}")
