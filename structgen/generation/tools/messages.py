"""A reply of a model in parts: text, reasoning, calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ParsedCall", "ParsedReply"]


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call as the model wrote it.

    Attributes:
        name: the name of the tool.
        arguments: JSON data by name.
        id: the call's id, where the model writes one.
        is_complete: whether its text has ended.
        source: the text of the arguments, where it is JSON.
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
