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
from typing import Any, NamedTuple, cast

from structgen.generation.tools.messages import ParsedCall, ParsedReply, begun, unfinished, without_begun
from structgen.generation.tools.notations import read_arguments, write_arguments
from structgen.generation.tools.python_calls import PYTHON_CALLS

__all__ = ["FORMATS", "Special"]


class Special(NamedTuple):
    """The functions of a format; see `structgen.generation.tools.reading`."""

    read: Callable[[str, Mapping[str, Any], bool], ParsedReply]
    write: Callable[[str, Sequence[ParsedCall]], str]


# --- Harmony: messages in channels ------------------------------------------------------------------------------------

_HEAD = re.compile(
    r"\s*(?:<\|start\|>)?(?:assistant)?(?P<head>(?:(?!<\|start\|>|<\|message\|>).)*)<\|message\|>", re.DOTALL
)
_RECIPIENT = re.compile(r"to=functions\.([\w.:/-]+)")
_HARMONY_CALLED = re.compile(r"\s*<\|call\|>")
_HARMONY_MARKS = ("<|end|>", "<|return|>")
_HARMONY_END = re.compile(r"(?P<body>.*?)(?:<\|end\|>|<\|return\|>|\Z)", re.DOTALL)


def _read_harmony(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[ParsedCall] = []
    position = 0
    while (found := _HEAD.match(text, position)) is not None:
        recipient = _RECIPIENT.search(found["head"])
        if recipient is not None:
            call, position = _json_call(recipient[1], text, found.end(), _HARMONY_CALLED, partial)
            calls.append(call)
            continue
        ended = cast(re.Match[str], _HARMONY_END.match(text, found.end()))
        body, position = ended["body"], ended.end()
        shown = without_begun(body, _HARMONY_MARKS) if partial and position == ended.end("body") else body
        (reasoning if "analysis" in found["head"] else texts).append(shown)
    rest = text[position:]
    if not position and "<|" not in rest and not partial:
        texts.append(rest)  # an answer whose channel was opened for the model
    return ParsedReply("".join(texts), calls, "\n".join(reasoning))


def _json_call(
    name: str, text: str, start: int, end: re.Pattern[str], partial: bool, call_id: str = "", *, needs_end: bool = False
) -> tuple[ParsedCall, int]:
    """Read the arguments of a call as JSON, and its end mark; the strings in them may hold any mark.

    Args:
        name: the tool's name.
        text: the whole text.
        start: the position of the arguments.
        end: the end mark.
        partial: whether the text may end within the call.
        call_id: the id of the call.
        needs_end: whether the call is complete only with its end mark.

    Returns:
        The call, and the position after it.
    """
    arguments = read_arguments("json", text, start, True)
    ended = end.match(text, arguments.end) if arguments.end >= 0 else None
    is_complete = arguments.end >= 0 and (ended is not None or not needs_end)
    if not is_complete and not partial:
        raise unfinished(name, text)
    after = arguments.end if arguments.end >= 0 else len(text)
    call = ParsedCall(name, arguments.values, call_id, is_complete=is_complete, source=text[start:after])
    return call, after if ended is None else ended.end()


def _write_harmony(text: str, calls: Sequence[ParsedCall]) -> str:
    parts = [f"<|channel|>final<|message|>{text}<|end|>"] if text or not calls else []
    for call in calls:
        arguments = write_arguments("json", call.arguments)
        parts.append(f" to=functions.{call.name}<|channel|>commentary json<|message|>{arguments}<|call|>")
    return "<|start|>assistant".join(parts)


# --- Solar: a message of text or of calls ----------------------------------------------------------------------------

_SOLAR_PART = re.compile(
    r"\s*(?:<\|begin\|>assistant)?<\|(?P<kind>content|think)\|>(?P<body>.*?)(?:<\|end\|>|\Z)", re.DOTALL
)
_SOLAR_CALLS = re.compile(r"\s*(?:<\|begin\|>assistant)?(?:<\|tool_calls\|>)?")
_SOLAR_CALL = re.compile(
    r"\s*<\|tool_call:begin\|>(?P<id>[^<]*)<\|tool_call:name\|>(?P<name>[\w.:/-]+)<\|tool_call:args\|>"
)
_SOLAR_END = re.compile(r"<\|tool_call:end\|>")


def _read_solar(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    bodies: dict[str, str] = {}
    calls: list[ParsedCall] = []
    position = 0
    while (part := _SOLAR_PART.match(text, position)) is not None:
        bodies[part["kind"]], position = part["body"], part.end()
    position = cast(re.Match[str], _SOLAR_CALLS.match(text, position)).end()
    while (found := _SOLAR_CALL.match(text, position)) is not None:
        call, position = _json_call(found["name"], text, found.end(), _SOLAR_END, partial, found["id"], needs_end=True)
        calls.append(call)
    shown = bodies.get("content", "" if "<|" in text or partial else text)
    shown = without_begun(shown, ["<|end|>"]) if partial else shown
    return ParsedReply(shown, calls, bodies.get("think", ""))


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

_MUSE_MARKS = ("<|eom|>", "<|eot|>", "<|start|>")
_MUSE_BODY = re.compile(r"(?P<body>(?:(?!<\|start\|>|<\|eom\|>|<\|eot\|>).)*)(?:<\|eom\|>|<\|eot\|>|)", re.DOTALL)
_MUSE_RECIPIENT = re.compile(r"to=([\w.:/-]+)")
_MUSE_CALL = re.compile(r'\s*(?:<atem:function_calls>)?\s*<atem:invoke name="(?P<name>[\w.:/-]+)">')
_MUSE_END = re.compile(r"\s*</atem:invoke>")


def _read_muse(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[ParsedCall] = []
    position = 0
    while (found := _HEAD.match(text, position)) is not None:
        recipient = _MUSE_RECIPIENT.search(found["head"])
        is_call = recipient is not None and recipient[1] not in ("self", "user")
        position = _read_muse_calls(text, found.end(), calls, schemas, partial) if is_call else found.end()
        ended = cast(re.Match[str], _MUSE_BODY.match(text, position))
        position = ended.end()
        if not is_call:
            is_open = partial and position == ended.end("body")
            body = without_begun(ended["body"], _MUSE_MARKS) if is_open else ended["body"]
            (reasoning if recipient is not None and recipient[1] == "self" else texts).append(body)
    rest = text[position:]
    if not position and "<|" not in rest and not partial:
        texts.append(rest)  # an answer whose message was opened for the model
    return ParsedReply("".join(texts), calls, "\n".join(reasoning))


def _read_muse_calls(
    text: str, position: int, calls: list[ParsedCall], schemas: Mapping[str, Any], partial: bool
) -> int:
    """Read the calls of a message to a tool, whose texts may hold any mark; return the position after them."""
    while (found := _MUSE_CALL.match(text, position)) is not None:
        arguments = read_arguments("atem_xml", text, found.end(), schemas.get(found["name"], True))
        end = _MUSE_END.match(text, arguments.end) if arguments.end >= 0 else None
        if end is None:
            if not partial:
                raise unfinished(found["name"], text)
            source = begun(arguments.values)
            calls.append(ParsedCall(found["name"], arguments.values, is_complete=False, source=source))
            return len(text)
        calls.append(ParsedCall(found["name"], arguments.values))
        position = end.end()
    return position


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
