r"""Formats of tool calls that are more than marks around arguments.

harmony     <|channel|>analysis<|message|>…<|end|><|start|>assistant to=functions.f<|channel|>commentary json…
kimi_k3     <|open|>response<|sep|>…<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>…

The formats of Python's calls are in `python_calls`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from structgen.generation.tools.messages import ParsedCall, ParsedReply, unfinished, without_begun
from structgen.generation.tools.notations import read_arguments, write_arguments
from structgen.generation.tools.python_calls import PYTHON_CALLS

__all__ = ["FORMATS", "Special"]


class Special(NamedTuple):
    """The functions of a format; see `structgen.generation.tools.reading`."""

    read: Callable[[str, Mapping[str, Any], bool], ParsedReply]
    write: Callable[[str, Sequence[ParsedCall]], str]


# --- Harmony: messages in channels ------------------------------------------------------------------------------------

_MESSAGE = re.compile(
    r"(?:<\|start\|>)?(?:assistant)?(?P<head>(?:(?!<\|start\|>|<\|message\|>).)*)<\|message\|>"
    r"(?P<body>(?:(?!<\|start\|>|<\|end\|>|<\|return\|>|<\|call\|>).)*)(?P<end><\|end\|>|<\|return\|>|<\|call\|>|)",
    re.DOTALL,
)
_RECIPIENT = re.compile(r"to=functions\.([\w.:/-]+)")


def _read_harmony(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[ParsedCall] = []
    position = 0
    while (found := _MESSAGE.match(text, position)) is not None:
        position = found.end()
        head, body = found["head"], found["body"]
        if partial and not found["end"]:
            body = without_begun(body, ["<|end|>", "<|return|>", "<|call|>", "<|start|>"])
        recipient = _RECIPIENT.search(head)
        if recipient is not None:
            arguments = read_arguments("json", body, 0, True)
            if arguments.end < 0 and not partial:
                raise unfinished(recipient[1], text)
            is_complete = arguments.end >= 0
            calls.append(ParsedCall(recipient[1], arguments.values, is_complete=is_complete, source=body))
        else:
            (reasoning if "analysis" in head else texts).append(body)
    rest = text[position:]
    if not position and "<|" not in rest and not partial:
        texts.append(rest)  # an answer whose channel was opened for the model
    return ParsedReply("".join(texts), calls, "\n".join(reasoning))


def _write_harmony(text: str, calls: Sequence[ParsedCall]) -> str:
    parts = [f"<|channel|>final<|message|>{text}<|end|>"] if text or not calls else []
    for call in calls:
        arguments = write_arguments("json", call.arguments)
        parts.append(f" to=functions.{call.name}<|channel|>commentary json<|message|>{arguments}<|call|>")
    return "<|start|>assistant".join(parts)


# --- Kimi K3: blocks ------------------------------------------------------------------------------------------------

_K3_BLOCK = r"(?:<\|open\|>{0}<\|sep\|>)?(?P<body>.*?)(?:<\|close\|>{0}<\|sep\|>|\Z)"
_K3_RESPONSE = re.compile(_K3_BLOCK.format("response"), re.DOTALL)
_K3_CALL = re.compile(r'<\|open\|>call tool="(?P<name>[^"]+)" index="(?P<index>\d+)"<\|sep\|>')
_K3_THINK = re.compile(r"\A(?:<\|open\|>think<\|sep\|>)?(?P<body>.*?)<\|close\|>think<\|sep\|>", re.DOTALL)


def _read_kimi_k3(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    think = _K3_THINK.match(text)
    position = think.end() if think else 0
    is_response = "<|close|>response<|sep|>" in text or not text.startswith("<|open|>call", position)
    response = _K3_RESPONSE.match(text, position) if is_response else None
    said = response["body"] if response else ""
    position = response.end() if response else position
    calls = []
    while (found := _K3_CALL.search(text, position)) is not None:
        arguments = read_arguments("kimi_k3_xml", text, found.end(), schemas.get(found["name"], True))
        if arguments.end < 0 or not text.startswith("<|close|>call<|sep|>", arguments.end):
            if not partial:
                raise unfinished(found["name"], text)
            calls.append(ParsedCall(found["name"], arguments.values, is_complete=False))
            break
        calls.append(ParsedCall(found["name"], arguments.values))
        position = arguments.end
    shown = without_begun(said, ["<|close|>response<|sep|>", "<|open|>"]) if partial else said
    return ParsedReply(shown, calls, think["body"] if think else "")


def _write_kimi_k3(text: str, calls: Sequence[ParsedCall]) -> str:
    written = [
        f'<|open|>call tool="{call.name}" index="{index}"<|sep|>{write_arguments("kimi_k3_xml", call.arguments)}'
        "<|close|>call<|sep|>"
        for index, call in enumerate(calls, 1)
    ]
    section = f"<|open|>tools<|sep|>{''.join(written)}<|close|>tools<|sep|>" if calls else ""
    return f"{text}<|close|>response<|sep|>{section}<|close|>message<|sep|>"


FORMATS = {
    "harmony": Special(_read_harmony, _write_harmony),
    "kimi_k3": Special(_read_kimi_k3, _write_kimi_k3),
    **{name: Special(calls.read, calls.write) for name, calls in PYTHON_CALLS.items()},
}
"""The formats by name."""
