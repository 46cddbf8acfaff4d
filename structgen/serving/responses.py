"""/v1/responses: text and calls of functions, in the smallest form that OpenAI's clients read. Nothing is stored."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from structgen.generation.pieces import CallTexts, Outcome, Piece
from structgen.generation.tools.results import ToolCall
from structgen.serving.chat import id_of
from structgen.serving.problems import RequestError
from structgen.serving.requests import Defaults, Task, chat_task, check_fields

__all__ = ["response", "response_events", "response_task"]

_SHARED = (
    "temperature", "top_p", "top_k", "seed", "max_output_tokens", "tool_choice", "parallel_tool_calls", "reasoning",
    "chat_template_kwargs", "structgen",
)  # fmt: skip
_OWN = ("input", "instructions", "text", "tools", "include", "truncation", "background", "stream_options")


def response_task(body: Mapping[str, Any], defaults: Defaults) -> Task:
    """Read a request of /v1/responses.

    Args:
        body: the request.
        defaults: the values for fields that the request leaves out.

    Raises:
        RequestError: a field is wrong, unknown or not supported.
    """
    if body.get("previous_response_id") or body.get("conversation"):
        message = "this server stores no responses: send the whole conversation in input"
        raise RequestError(message, param="previous_response_id", code="unsupported")
    known = {name: value for name, value in body.items() if name not in ("previous_response_id", "conversation")}
    check_fields(known, (*_SHARED, *_OWN))
    if body.get("background"):
        raise RequestError("background is not supported by this server", param="background", code="unsupported")
    chat = {name: body[name] for name in _SHARED if body.get(name) is not None}
    system, found = _instructions(body.get("instructions")), _messages(body.get("input"))
    chat["messages"] = [*system, *(message for _, message in found)]
    tools, text = body.get("tools") or [], body.get("text") or {}
    if not isinstance(tools, list):
        raise RequestError("tools is a list", param="tools")
    if not isinstance(text, Mapping):
        raise RequestError("text is an object with a format", param="text")
    chat["tools"] = [_tool(tool, index) for index, tool in enumerate(tools)]
    form = text.get("format")
    if form is not None:
        chat["response_format"] = form
    try:
        task, _ = chat_task(chat, defaults)
    except RequestError as error:
        places = {f"messages[{len(system) + number}]": f"input[{item}]" for number, (item, _) in enumerate(found)}
        raise error.renamed(places) from error
    return task


def _instructions(text: Any) -> list[dict[str, Any]]:
    if not isinstance(text, str | None):
        raise RequestError("instructions is a text", param="instructions")
    return [{"role": "system", "content": text}] if text else []


def _messages(given: Any) -> list[tuple[int, dict[str, Any]]]:
    """Return the items of a conversation as chat messages, each with the number of its item."""
    if isinstance(given, str):
        return [(0, {"role": "user", "content": given})]
    if not isinstance(given, list) or not given:
        raise RequestError("input is a text, or a list of items", param="input")
    messages: list[tuple[int, dict[str, Any]]] = []
    for index, item in enumerate(given):
        kind = item.get("type", "message") if isinstance(item, Mapping) else None
        if kind == "message":
            messages.append((index, {"role": item.get("role"), "content": item.get("content")}))
        elif kind == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            if messages and messages[-1][1]["role"] == "assistant":
                messages[-1][1].setdefault("tool_calls", []).append(call)
            else:
                messages.append((index, {"role": "assistant", "content": "", "tool_calls": [call]}))
        elif kind == "function_call_output":
            result = {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
            messages.append((index, result))
        elif kind != "reasoning":
            raise RequestError(f"items of the type {kind!r} are not supported", param=f"input[{index}]")
    return messages


def _tool(tool: Any, index: int) -> dict[str, Any]:
    if not isinstance(tool, Mapping) or tool.get("type") != "function":
        raise RequestError("only tools of the type function are supported", param=f"tools[{index}]", code="unsupported")
    function = {key: tool[key] for key in ("name", "description", "parameters") if tool.get(key) is not None}
    return {"type": "function", "function": function}


def response(model: str, body: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """Return the body of a whole response.

    Args:
        model: the name of the model.
        body: the request.
        outcome: the answer.
    """
    output: list[dict[str, Any]] = []
    if outcome.text or not outcome.calls:
        output.append(_message(id_of("msg_"), outcome.text))
    output += [_function_call(id_of("fc_"), call) for call in outcome.calls]
    return _finished(_empty(model, body), outcome, output)


def _empty(model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": id_of("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "model": model,
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "previous_response_id": None,
        "store": False,
        "temperature": body.get("temperature"),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p"),
        "truncation": "disabled",
        "usage": None,
    }


def _finished(whole: dict[str, Any], outcome: Outcome, output: list[dict[str, Any]]) -> dict[str, Any]:
    is_cut = outcome.finish_reason == "length"
    return {
        **whole,
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": output,
        "usage": {
            "input_tokens": outcome.prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": outcome.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": outcome.reasoning_tokens},
            "total_tokens": outcome.prompt_tokens + outcome.completion_tokens,
        },
    }


def _message(item_id: str, text: str | None, status: str = "completed") -> dict[str, Any]:
    content = [] if text is None else [_part(text)]
    return {"id": item_id, "type": "message", "role": "assistant", "status": status, "content": content}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _function_call(item_id: str, call: ToolCall, status: str = "completed") -> dict[str, Any]:
    return {
        "id": item_id,
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.source,
        "status": status,
    }


async def response_events(
    model: str, body: Mapping[str, Any], pieces: AsyncGenerator[tuple[int, Piece | Outcome]]
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the events of a streamed response.

    Args:
        model: the name of the model.
        body: the request.
        pieces: what the model writes.
    """
    events = _Events(_empty(model, body))
    is_begun = False
    try:
        async for _, item in pieces:
            if not is_begun:
                is_begun = True
                for event in events.begin():
                    yield event
            for event in events.read(item):
                yield event
    except RequestError as error:
        if not is_begun:
            raise
        for event in events.fail(error):
            yield event


class _Events:
    """The events of one response, in order.

    Args:
        whole: the response, still empty.
    """

    def __init__(self, whole: dict[str, Any]) -> None:
        self._whole = whole
        self._output: list[dict[str, Any]] = []
        self._text = ""
        self._message_id = ""  # of the message that is open
        self._calls = CallTexts()
        self._call: tuple[str, ToolCall] | None = None  # the item's id, and the call that is open
        self._number = 0

    def begin(self) -> Iterator[dict[str, Any]]:
        yield self._event("response.created", response=self._whole)
        yield self._event("response.in_progress", response=self._whole)

    def read(self, item: Piece | Outcome) -> Iterator[dict[str, Any]]:
        if isinstance(item, Outcome):
            if not self._output and not self._message_id and self._call is None:
                yield from self._more_text("")
            yield from self._close_message()
            yield from self._close_call("incomplete")
            whole = _finished(self._whole, item, self._output)
            yield self._event(f"response.{whole['status']}", response=whole)
        elif item.call is not None:
            yield from self._close_message()
            yield from self._called(item.call)
        elif item.text:
            yield from self._more_text(item.text)

    def fail(self, error: RequestError) -> Iterator[dict[str, Any]]:
        failure = {"code": "server_error", "message": str(error)}
        yield self._event("response.failed", response={**self._whole, "status": "failed", "error": failure})

    def _more_text(self, text: str) -> Iterator[dict[str, Any]]:
        if not self._message_id:
            self._message_id, self._text = id_of("msg_"), ""
            item = _message(self._message_id, None, "in_progress")
            yield self._event("response.output_item.added", output_index=len(self._output), item=item)
            yield self._part_event("response.content_part.added", part=_part(""))
        self._text += text
        if text:
            yield self._part_event("response.output_text.delta", delta=text, logprobs=[])

    def _close_message(self) -> Iterator[dict[str, Any]]:
        if not self._message_id:
            return
        yield self._part_event("response.output_text.done", text=self._text, logprobs=[])
        yield self._part_event("response.content_part.done", part=_part(self._text))
        item = _message(self._message_id, self._text)
        yield self._event("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        self._message_id = ""

    def _called(self, call: ToolCall) -> Iterator[dict[str, Any]]:
        more, index = self._calls.more(call), len(self._output)
        item_id = id_of("fc_") if self._call is None else self._call[0]
        self._call = (item_id, more.call)
        if more.is_first:
            item = _function_call(item_id, replace(more.call, source=""), "in_progress")
            yield self._event("response.output_item.added", output_index=index, item=item)
        common = {"item_id": item_id, "output_index": index}
        if more.text:
            yield self._event("response.function_call_arguments.delta", **common, delta=more.text)
        if call.is_complete:
            yield self._event("response.function_call_arguments.done", **common, name=call.name, arguments=call.source)
            yield from self._close_call("completed")

    def _close_call(self, status: str) -> Iterator[dict[str, Any]]:
        if self._call is None:
            return
        item = _function_call(*self._call, status)
        yield self._event("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        self._call = None

    def _part_event(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self._event(kind, item_id=self._message_id, output_index=len(self._output), content_index=0, **fields)

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._number += 1
        return {"type": kind, "sequence_number": self._number - 1, **fields}
