"""The results of `structgen.call`: a reply with text, reasoning and tool calls."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import reprlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pydantic

from structgen.errors import StructgenError
from structgen.generation.decoder import FinishReason
from structgen.generation.prompts import render
from structgen.generation.usage import Usage

__all__ = ["NotRunnableError", "ToolCall", "ToolReply"]


class NotRunnableError(StructgenError):
    """A call that cannot be run, or whose result cannot be written as JSON."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model called, and its arguments.

    Attributes:
        name: the tool's name.
        arguments: the validated arguments by parameter name; those that the model omitted have defaults.
        function: the Python function, or the Pydantic model; None for a tool that was given as JSON data.
        id: the id of the call in the conversation.
        source: the arguments as JSON text; in a stream, what is written of it.
        value: for a Pydantic model, the instance.
        error: the error of the validator that refused the arguments, in `structgen.run_tools`; they are JSON data then.
        is_complete: False in a stream, while the arguments are written; they are JSON data so far then.
    """

    name: str
    arguments: Mapping[str, Any]
    function: Callable[..., Any] | None = None
    id: str = ""
    source: str = ""
    value: Any = None
    error: Exception | None = None
    is_complete: bool = True

    def run(self) -> Any:
        """Call the function, and return its result; for a Pydantic model, return the instance.

        Raises:
            StructgenError: the tool has no Python function, or an `async` one; or the arguments are not complete.
        """
        function = self._callable()
        returned = None if inspect.iscoroutinefunction(function) else self._called(function)
        if inspect.iscoroutinefunction(function) or inspect.iscoroutine(returned):
            if inspect.iscoroutine(returned):
                returned.close()
            raise NotRunnableError(f"{self.name} is an async function", hint="await call.arun(), or use arun_tools")
        return returned

    async def arun(self) -> Any:
        """Await an `async` function; run any other in a thread, and await it. See `run`."""
        function = self._callable()
        if inspect.iscoroutinefunction(function):
            return await self._called(function)
        returned = await asyncio.to_thread(self._called_in_thread, function)
        return await returned if inspect.iscoroutine(returned) else returned

    def message(self, returned: Any) -> dict[str, Any]:
        """Return the message that brings the tool's result to the model.

        Args:
            returned: the result; anything but a text is written as JSON.

        Raises:
            StructgenError: it cannot be written as JSON.
        """
        try:
            text = returned if isinstance(returned, str) else render(returned)
        except (ValueError, RecursionError) as error:
            message = (
                f"the tool {self.name} returned {reprlib.repr(returned)}, which cannot be written as JSON: {error}"
            )
            raise NotRunnableError(message, hint="return a text, or JSON data") from error
        text = text.encode(errors="backslashreplace").decode()  # names of files may hold halves of surrogate pairs
        return {"role": "tool", "tool_call_id": self.id, "name": self.name, "content": text}

    def _callable(self) -> Callable[..., Any]:
        if self.error is not None:
            raise NotRunnableError(f"the arguments of {self.name} were refused: {self.error}")
        if not self.is_complete:
            raise NotRunnableError(f"the call of {self.name} is not complete", hint="wait for the end of the stream")
        if self.function is None:
            raise NotRunnableError(
                f"the tool {self.name} has no Python function", hint="run it yourself with call.name, call.arguments"
            )
        return self.function

    def _called_in_thread(self, function: Callable[..., Any]) -> Any:
        try:
            return self._called(function)
        except StopIteration as error:  # no future can hold it, so the caller would wait for ever
            raise RuntimeError(f"{self.name} raised StopIteration") from error

    def _called(self, function: Callable[..., Any]) -> Any:
        if isinstance(function, type) and isinstance(self.value, function):
            return self.value
        parameters = inspect.signature(function).parameters
        given = OrderedDict((name, value) for name, value in self.arguments.items() if name in parameters)
        others = {name: value for name, value in self.arguments.items() if name not in parameters}
        given.update({one.name: others for one in parameters.values() if one.kind is one.VAR_KEYWORD})
        bound = inspect.BoundArguments(inspect.signature(function), given)
        bound.apply_defaults()
        return function(*bound.args, **bound.kwargs)


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A reply of a model that may call tools.

    Attributes:
        text: the text outside of the calls.
        tool_calls: the calls, in order.
        reasoning: the reasoning, without its marks.
        source: the text as the model wrote it, with its marks.
        format: the name of the format that the calls were written in.
        finish_reason: see `structgen.Result`.
        usage: the cost; None in a stream before its end.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    source: str = ""
    format: str = ""
    finish_reason: FinishReason = "stop"
    usage: Usage | None = field(default=None, compare=False)

    @property
    def message(self) -> dict[str, Any]:
        """The reply as a message of a conversation, in OpenAI's form."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [_in_openai_form(call) for call in self.tool_calls]
        return message

    def messages(self, returned: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Return the reply and the results of its calls, as messages for the next step.

        Args:
            returned: the results of the calls, in order; None to run the calls.

        Raises:
            ValueError: there are not as many results as calls.
        """
        results = [call.run() for call in self.tool_calls] if returned is None else returned
        if len(results) != len(self.tool_calls):
            raise ValueError(f"got {len(results)} results for {len(self.tool_calls)} calls")
        return [self.message, *(call.message(result) for call, result in zip(self.tool_calls, results))]


def _in_openai_form(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": json.loads(call.source or render(call.arguments))},
    }


def arguments_of(value: Any) -> Mapping[str, Any]:
    """Return the arguments of a validated value: a mapping, the given fields of a Pydantic model, or a dataclass's."""
    if isinstance(value, pydantic.BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    found: Mapping[str, Any] = value
    return found
