"""`run_tools`: replies, calls and their results, until the model answers without a call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack

from structgen.errors import StructgenError
from structgen.generation.runs import Usage
from structgen.generation.settings import CallOptions
from structgen.generation.tools.calling import Caller
from structgen.generation.tools.results import ToolCall, ToolReply
from structgen.limits import Limits
from structgen.models.base import AsyncServer, as_messages

if TYPE_CHECKING:
    from structgen.models.base import AnyModel, Prompt

__all__ = ["Transcript", "arun_tools", "run_tools"]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation with tools, after its end.

    Attributes:
        text: the final answer; where the turns ended before there was one, the text of the last reply.
        messages: the whole conversation, in OpenAI's form: the given messages, the replies and the results of tools.
        replies: the model's replies.
        finish_reason: "stop" where the model answered; "length" where the token budget ended the answer; "turns" where
            `max_turns` were used up.
        usage: the cost of all replies.
    """

    text: str
    messages: tuple[dict[str, Any], ...]
    replies: tuple[ToolReply, ...]
    finish_reason: Literal["stop", "length", "turns"]
    usage: Usage


def run_tools(
    model: AnyModel,
    messages: Prompt,
    tools: Iterable[Any],
    *,
    max_turns: int = 8,
    tool_choice: str = "auto",
    parallel: bool = True,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Unpack[CallOptions],
) -> Transcript:
    """Let a model call tools until it answers, and run the tools.

    An exception of a tool goes back to the model as the tool's result, and so do the errors of arguments that a
    validator refuses.

    Args:
        model: see `structgen.call`.
        messages: see `structgen.call`.
        tools: see `structgen.call`. Each needs a function.
        max_turns: the number of replies at most.
        tool_choice: for the first reply; later ones are "auto", unless it is "none".
        parallel: see `structgen.call`.
        format: see `structgen.call`.
        limits: see `structgen.call`.
        options: see `structgen.call`.

    Returns:
        The final answer and the transcript.

    Raises:
        ValueError: `max_turns` is less than 1.
        StructgenError: a tool has no Python function, or an `async` one. For other errors see `structgen.call`.

    Example:
        >>> structgen.run_tools(model, "Is it warm in Lyon?", [weather]).text                 # doctest: +SKIP
        'It is 18 degrees in Lyon.'
    """
    loop = _Loop(model, messages, tools, max_turns, tool_choice, parallel, format, limits, options)
    while loop.goes_on:
        reply = loop.take(loop.caller.reply(loop.messages, loop.tool_choice))
        for call in reply.tool_calls:
            loop.answer(call, *_result_of(call))
    return loop.transcript()


async def arun_tools(
    model: AnyModel,
    messages: Prompt,
    tools: Iterable[Any],
    *,
    max_turns: int = 8,
    tool_choice: str = "auto",
    parallel: bool = True,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Unpack[CallOptions],
) -> Transcript:
    """Run `run_tools` with the model in threads, or awaited if it is a server with an asynchronous client.

    Tools may be `async`; the calls of one reply run side by side.

    The arguments and errors are those of `structgen.run_tools`.

    Example:
        >>> transcript = await structgen.arun_tools(model, "Is it warm in Lyon?", [weather])  # doctest: +SKIP
    """

    def begin() -> _Loop:
        return _Loop(model, messages, tools, max_turns, tool_choice, parallel, format, limits, options)

    loop = begin() if isinstance(model, AsyncServer) else await asyncio.to_thread(begin)
    while loop.goes_on:
        begun = list(loop.messages)
        reply = loop.take(await loop.caller.areply(begun, loop.tool_choice))
        results = await asyncio.gather(*map(_awaited_result_of, reply.tool_calls))
        for call, result in zip(reply.tool_calls, results):
            loop.answer(call, *result)
    return loop.transcript()


class _Loop:
    """The state of a conversation with tools.

    Attributes:
        caller: replies.
        messages: the conversation so far.
        goes_on: whether there is another turn.
    """

    def __init__(
        self,
        model: AnyModel,
        messages: Prompt,
        tools: Iterable[Any],
        max_turns: int,
        tool_choice: str,
        parallel: bool,
        format: str | None,
        limits: Limits | None,
        options: CallOptions,
    ) -> None:
        if not isinstance(max_turns, int) or max_turns < 1:
            raise ValueError(f"max_turns must be a whole number >= 1, not {max_turns!r}")
        self.caller = Caller(
            model, tools, parallel=parallel, format=format, limits=limits, options=options, keeps_refused=True
        )
        for tool in self.caller.toolbox.tools:
            if tool.function is None:
                raise StructgenError(
                    f"the tool {tool.name} has no Python function to run",
                    hint="give it one with structgen.Tool(name, parameters, function=…), or use structgen.call",
                )
        self.messages = as_messages(messages)
        self.goes_on = True
        self._first_choice = tool_choice
        self._max_turns = max_turns
        self._replies: list[ToolReply] = []
        self._reason: Literal["stop", "length", "turns"] = "stop"

    @property
    def tool_choice(self) -> str:
        """The tool choice of the next reply."""
        return self._first_choice if not self._replies or self._first_choice == "none" else "auto"

    def take(self, reply: ToolReply) -> ToolReply:
        """Add a reply, and return it."""
        self._replies.append(reply)
        self.messages.append(reply.message)
        self.goes_on = bool(reply.tool_calls) and len(self._replies) < self._max_turns
        self._reason = "turns" if reply.tool_calls else reply.finish_reason
        return reply

    def answer(self, call: ToolCall, returned: Any, error: Exception | None) -> None:
        """Add the result of a call."""
        if error is not None:
            returned = f"Error: {type(error).__name__}: {error}"
        self.messages.append(call.message(returned))

    def transcript(self) -> Transcript:
        """Return the conversation."""
        usages = [reply.usage for reply in self._replies if reply.usage is not None]
        usage = usages[0]
        for one in usages[1:]:
            usage = usage.plus(one)
        return Transcript(self._replies[-1].text, tuple(self.messages), tuple(self._replies), self._reason, usage)


def _result_of(call: ToolCall) -> tuple[Any, Exception | None]:
    """Return the result of a call, and its error."""
    if call.error is not None:
        return None, call.error
    try:
        return call.run(), None
    except StructgenError:
        raise
    except Exception as error:
        return None, error


async def _awaited_result_of(call: ToolCall) -> tuple[Any, Exception | None]:
    if call.error is not None:
        return None, call.error
    try:
        return await call.arun(), None
    except StructgenError:
        raise
    except Exception as error:
        return None, error
