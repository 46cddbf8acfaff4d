r"""Formats of tool calls that are more than marks around arguments.

functionary_3_2   all\n…>>>f\n{…}
harmony     <|channel|>analysis<|message|>…<|end|><|start|>assistant to=functions.f<|channel|>commentary json…
solar       <|tool_calls|><|tool_call:begin|>ID<|tool_call:name|>f<|tool_call:args|>{…}<|tool_call:end|><|calls|>
muse_glimmer   to=f<|message|><atem:function_calls>…</atem:function_calls><|eom|><|start|>assistant to=user<|message|>…
kimi_k3     <|open|>response<|sep|>…<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>…

The formats of Python's calls are in `python_calls`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from structgen.generation.tools.messages import ParsedCall, ParsedReply, begun, unfinished, without_begun
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
            source = body[: arguments.end] if is_complete else body
            calls.append(ParsedCall(recipient[1], arguments.values, is_complete=is_complete, source=source))
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


# --- Solar: a message of text or of calls ----------------------------------------------------------------------------

_SOLAR_TEXT = re.compile(r"<\|content\|>(.*?)(?:<\|end\|>|\Z)", re.DOTALL)
_SOLAR_THINK = re.compile(r"<\|think\|>(.*?)<\|end\|>", re.DOTALL)
_SOLAR_CALL = re.compile(
    r"<\|tool_call:begin\|>(?P<id>[^<]*)<\|tool_call:name\|>(?P<name>[\w.:/-]+)<\|tool_call:args\|>"
)


def _read_solar(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    think, said = _SOLAR_THINK.search(text), _SOLAR_TEXT.search(text)
    calls: list[ParsedCall] = []
    for found in _SOLAR_CALL.finditer(text):
        arguments = read_arguments("json", text, found.end(), True)
        is_complete = arguments.end >= 0 and text.startswith("<|tool_call:end|>", arguments.end)
        if not is_complete and not partial:
            raise unfinished(found["name"], text)
        source = text[found.end() : arguments.end if arguments.end >= 0 else len(text)]
        calls.append(ParsedCall(found["name"], arguments.values, found["id"], is_complete=is_complete, source=source))
    shown = said[1] if said is not None else "" if "<|" in text or partial else text
    shown = without_begun(shown, ["<|end|>"]) if partial else shown
    return ParsedReply(shown, calls, think[1] if think is not None else "")


def _write_solar(text: str, calls: Sequence[ParsedCall]) -> str:
    if not calls:
        return f"<|content|>{text}<|end|>"
    written = [
        f"<|tool_call:begin|>{call.id or f'call{index:05}'}<|tool_call:name|>{call.name}<|tool_call:args|>"
        f"{write_arguments('json', call.arguments)}<|tool_call:end|>"
        for index, call in enumerate(calls)
    ]
    said = f"<|content|>{text}<|end|><|begin|>assistant" if text else ""
    return f"{said}<|tool_calls|>{''.join(written)}<|calls|>"


# --- Muse Glimmer: messages to itself, to the user and to tools -------------------------------------------------------

_MUSE_MESSAGE = re.compile(
    r"(?:<\|start\|>)?(?P<head>(?:(?!<\|start\|>|<\|message\|>).)*)<\|message\|>"
    r"(?P<body>(?:(?!<\|start\|>|<\|eom\|>|<\|eot\|>).)*)(?P<end><\|eom\|>|<\|eot\|>|)",
    re.DOTALL,
)
_MUSE_MARKS = ("<|eom|>", "<|eot|>", "<|start|>")
_MUSE_RECIPIENT = re.compile(r"to=([\w.:/-]+)")
_MUSE_CALL = re.compile(r'<atem:invoke name="(?P<name>[\w.:/-]+)">')
_MUSE_END = re.compile(r"\s*</atem:invoke>")


def _read_muse(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[ParsedCall] = []
    position = 0
    while (found := _MUSE_MESSAGE.match(text, position)) is not None:
        position = found.end()
        recipient = _MUSE_RECIPIENT.search(found["head"])
        body = without_begun(found["body"], _MUSE_MARKS) if partial and not found["end"] else found["body"]
        if recipient is None or recipient[1] == "user":
            texts.append(body)
        elif recipient[1] == "self":
            reasoning.append(body)
        else:
            calls += _muse_calls(found["body"], schemas, partial)
    rest = text[position:]
    if not position and "<|" not in rest and not partial:
        texts.append(rest)  # an answer whose message was opened for the model
    return ParsedReply("".join(texts), calls, "\n".join(reasoning))


def _muse_calls(body: str, schemas: Mapping[str, Any], partial: bool) -> list[ParsedCall]:
    """Return the calls of a message to a tool."""
    calls: list[ParsedCall] = []
    found = _MUSE_CALL.search(body)
    while found is not None:
        arguments = read_arguments("atem_xml", body, found.end(), schemas.get(found["name"], True))
        end = _MUSE_END.match(body, arguments.end) if arguments.end >= 0 else None
        if end is None:
            if not partial:
                raise unfinished(found["name"], body)
            source = begun(arguments.values)
            calls.append(ParsedCall(found["name"], arguments.values, is_complete=False, source=source))
            break
        calls.append(ParsedCall(found["name"], arguments.values))
        found = _MUSE_CALL.search(body, end.end())
    return calls


def _write_muse(text: str, calls: Sequence[ParsedCall]) -> str:
    messages = [f" to=user<|message|>{text}"] if text or not calls else []
    for call in calls:
        messages.append(
            f' to={call.name}<|message|><atem:function_calls>\n<atem:invoke name="{call.name}">\n'
            f"{write_arguments('atem_xml', call.arguments)}</atem:invoke>\n</atem:function_calls>"
        )
    return f"{'<|eom|><|start|>assistant'.join(messages)}<|eot|>"


# --- Functionary 3.2: messages after the names of their recipients ----------------------------------------------------

_RECIPIENT_LINE = re.compile(r"(?:\A|>>>)(?P<name>[\w.:/-]+)\n")


def _read_functionary(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    found = _RECIPIENT_LINE.search(text)
    if found is None:
        return ParsedReply("" if partial else text, [])
    texts: list[str] = []
    calls: list[ParsedCall] = []
    while found is not None:
        following = _RECIPIENT_LINE.search(text, found.end())
        if found["name"] == "all":
            said = text[found.end() : following.start() if following is not None else len(text)]
            texts.append(without_begun(said, [">>>"]) if partial else said)
        else:
            arguments = read_arguments("json", text, found.end(), True)
            is_complete = arguments.end >= 0
            if not is_complete and not partial:
                raise unfinished(found["name"], text)
            source = text[found.end() : arguments.end if is_complete else len(text)]
            calls.append(ParsedCall(found["name"], arguments.values, is_complete=is_complete, source=source))
            following = _RECIPIENT_LINE.search(text, arguments.end) if is_complete else None
        found = following
    return ParsedReply("".join(texts), calls)


def _write_functionary(text: str, calls: Sequence[ParsedCall]) -> str:
    parts = [f"all\n{text}"] if text or not calls else []
    return ">>>".join([*parts, *(f"{call.name}\n{write_arguments('json', call.arguments)}" for call in calls)])


# --- Kimi K3: blocks ------------------------------------------------------------------------------------------------

_K3_BLOCK = r"(?:<\|open\|>{0}<\|sep\|>)?(?P<body>.*?)(?:<\|close\|>{0}<\|sep\|>|\Z)"
_K3_RESPONSE = re.compile(_K3_BLOCK.format("response"), re.DOTALL)
_K3_CALL = re.compile(r'<\|open\|>call tool="(?P<name>[^"]+)" index="(?P<index>\d+)"<\|sep\|>')
_K3_END = re.compile(r"\s*<\|close\|>call<\|sep\|>")
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
        if arguments.end < 0 or not _K3_END.match(text, arguments.end):
            if not partial:
                raise unfinished(found["name"], text)
            source = begun(arguments.values)
            calls.append(ParsedCall(found["name"], arguments.values, is_complete=False, source=source))
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
    "functionary_3_2": Special(_read_functionary, _write_functionary),
    "harmony": Special(_read_harmony, _write_harmony),
    "kimi_k3": Special(_read_kimi_k3, _write_kimi_k3),
    "muse_glimmer": Special(_read_muse, _write_muse),
    "solar": Special(_read_solar, _write_solar),
    **{name: Special(calls.read, calls.write) for name, calls in PYTHON_CALLS.items()},
}
"""The formats by name."""
