r"""Formats of tool calls that are more than marks around arguments.

harmony     <|channel|>analysis<|message|>…<|end|><|start|>assistant to=functions.f<|channel|>commentary json…
kimi_k3     <|open|>response<|sep|>…<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>…
gemma_4     <|tool_call>call:f{a:1,note:<|"|>x<|"|>}<tool_call|>
pythonic    [f(a=1, note='x'), g()]
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from structgen.generation.tools.messages import ParsedCall, ParsedReply
from structgen.generation.tools.notations import read_arguments, write_arguments

__all__ = ["FORMATS", "Special", "without_begun"]


class Special(NamedTuple):
    """The functions of a format; see `structgen.generation.tools.reading`."""

    read: Callable[[str, Mapping[str, Any], bool], ParsedReply]
    write: Callable[[str, Sequence[ParsedCall]], str]


def without_begun(text: str, marks: Sequence[str]) -> str:
    """Return a text up to the first mark, or up to the begin of a mark at its end.

    Args:
        text: the text.
        marks: the marks, none of them empty.
    """
    text = text[: min((at for mark in marks if (at := text.find(mark)) >= 0), default=len(text))]
    lengths = [size for mark in marks for size in range(1, len(mark)) if text.endswith(mark[:size])]
    return text[: len(text) - max(lengths)] if lengths else text


def _unfinished(name: str, text: str) -> ValueError:
    return ValueError(f"the call of {name} is not finished, or not in the format: {text[-120:]!r}")


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
                raise _unfinished(recipient[1], text)
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
                raise _unfinished(found["name"], text)
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


# --- Gemma 4: objects with bare keys, and texts between <|"|> ---------------------------------------------------------

_GEMMA_CALL = re.compile(r"<\|tool_call>call:(?P<name>[\w.:/-]+)")
_GEMMA_QUOTE = '<|"|>'
_GEMMA_KEY = re.compile(r"\s*([^:{}\[\],]+):")
_GEMMA_SCALAR = re.compile(r"[^,{}\[\]]+")


def _read_gemma(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    texts, calls, position = [], [], 0
    while (found := _GEMMA_CALL.search(text, position)) is not None:
        texts.append(text[position : found.start()])
        values: dict[str, Any] = {}
        try:
            position = _gemma_object(text, found.end(), values)
            if not text.startswith("<tool_call|>", position):
                raise ValueError("no end mark")
        except ValueError:
            if not partial:
                raise _unfinished(found["name"], text) from None
            calls.append(ParsedCall(found["name"], values, is_complete=False))
            return ParsedReply("".join(texts).strip(), calls)
        position += len("<tool_call|>")
        calls.append(ParsedCall(found["name"], values))
    rest = without_begun(text[position:], ["<|tool_call>call:"]) if partial else text[position:]
    said = "".join([*texts, rest])
    return ParsedReply(said.strip() if calls else said, calls)


def _gemma_object(text: str, at: int, values: dict[str, Any]) -> int:
    """Read an object into `values`, and return the position after it."""
    at = _expect(text, at, "{")
    while not text.startswith("}", at):
        key = _GEMMA_KEY.match(text, at)
        if key is None:
            raise ValueError(f"no key at position {at}")
        name = key[1].removeprefix(_GEMMA_QUOTE).removesuffix(_GEMMA_QUOTE)
        values[name], at = _gemma_value(text, key.end())
        at = at if text.startswith("}", at) else _expect(text, at, ",")
    return at + 1


def _gemma_value(text: str, at: int) -> tuple[Any, int]:
    if text.startswith(_GEMMA_QUOTE, at):
        end = text.find(_GEMMA_QUOTE, at + len(_GEMMA_QUOTE))
        if end < 0:
            raise ValueError("the text ends within a string")
        return text[at + len(_GEMMA_QUOTE) : end], end + len(_GEMMA_QUOTE)
    if text.startswith("{", at):
        values: dict[str, Any] = {}
        return values, _gemma_object(text, at, values)
    if text.startswith("[", at):
        items: list[Any] = []
        at += 1
        while not text.startswith("]", at):
            item, at = _gemma_value(text, at)
            items.append(item)
            at = at if text.startswith("]", at) else _expect(text, at, ",")
        return items, at + 1
    found = _GEMMA_SCALAR.match(text, at)
    if found is None or found.end() == len(text):
        raise ValueError(f"no value at position {at}")
    return read_arguments("json", f'{{"v":{found.group()}}}', 0, True).values["v"], found.end()


def _expect(text: str, at: int, mark: str) -> int:
    if not text.startswith(mark, at):
        raise ValueError(f"no {mark} at position {at}")
    return at + len(mark)


def _write_gemma(text: str, calls: Sequence[ParsedCall]) -> str:
    return text + "".join(f"<|tool_call>call:{call.name}{_gemma(call.arguments)}<tool_call|>" for call in calls)


def _gemma(value: Any) -> str:
    if isinstance(value, str):
        return f"{_GEMMA_QUOTE}{value}{_GEMMA_QUOTE}"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_gemma(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_gemma, value)) + "]"
    return write_arguments("json", {"": value})[5:-1]


# --- Python: a list of calls ------------------------------------------------------------------------------------------

_PYTHON_BEGIN = re.compile(r"(?:<\|python_start\|>|<\|tool_call_start\|>)?\s*\[(?=[A-Za-z_][\w.]*\()")
_PYTHON_END = re.compile(r"\]\s*(?:<\|python_end\|>|<\|tool_call_end\|>)?")
_PYTHON_BEGUN = re.compile(r"(?:<\|[^<>]*\Z|<\|(?:python_start|tool_call_start)\|>)?\s*(?:\[[\w.]*)?\Z")
_PYTHON_NAMES = {"true": True, "false": False, "null": None}


def _read_pythonic(text: str, schemas: Mapping[str, Any], partial: bool) -> ParsedReply:
    begin = _PYTHON_BEGIN.search(text)
    if begin is None:
        return ParsedReply(_PYTHON_BEGUN.sub("", text) if partial else text, [])
    start = begin.end() - 1
    for end in _PYTHON_END.finditer(text, start):
        calls = _python_calls(text[start : end.start() + 1])
        if calls is None:
            continue
        return ParsedReply((text[: begin.start()] + text[end.end() :]).strip(), calls)
    if not partial:
        raise _unfinished("a function", text)
    return ParsedReply(text[: begin.start()].strip(), [])


def _python_calls(source: str) -> list[ParsedCall] | None:
    """Return the calls of a list; None where it is none. Some models write line breaks within strings."""
    for written in (source, source.replace("\n", "\\n")):
        try:
            tree = ast.parse(written, mode="eval").body
            return [_python_call(node) for node in tree.elts] if isinstance(tree, ast.List) else None
        except (SyntaxError, ValueError):
            continue
    return None


def _python_call(node: ast.expr) -> ParsedCall:
    if not isinstance(node, ast.Call) or node.args or any(word.arg is None for word in node.keywords):
        raise ValueError("it is not a call with named arguments")
    return ParsedCall(ast.unparse(node.func), {str(word.arg): _python_value(word.value) for word in node.keywords})


def _python_value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name) and node.id in _PYTHON_NAMES:
        return _PYTHON_NAMES[node.id]
    if isinstance(node, ast.List):
        return [_python_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) if key is not None else None for key in node.keys]
        return dict(zip(keys, map(_python_value, node.values)))
    return ast.literal_eval(node)


def _write_pythonic(text: str, calls: Sequence[ParsedCall]) -> str:
    written = [
        f"{call.name}({', '.join(f'{key}={value!r}' for key, value in call.arguments.items())})" for call in calls
    ]
    return f"{text}[{', '.join(written)}]" if calls else text


FORMATS = {
    "harmony": Special(_read_harmony, _write_harmony),
    "kimi_k3": Special(_read_kimi_k3, _write_kimi_k3),
    "gemma_4": Special(_read_gemma, _write_gemma),
    "pythonic": Special(_read_pythonic, _write_pythonic),
}
"""The formats by name."""
