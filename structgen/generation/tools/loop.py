"""The loop of replies, calls and their results, until the model answers without a call.

`events` is the loop, and `async_events` the same for asyncio, where the calls of one reply run side by side. Both yield
what happens; `tool_streams` shows it, or returns the transcript alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from structgen.errors import StructgenError
from structgen.generation.prompts import check_prompt
from structgen.generation.settings import CallOptions
from structgen.generation.tools.calling import Caller
from structgen.generation.tools.results import NotRunnableError, ToolCall, ToolReply
from structgen.generation.tools.streaming import AsyncCallStream, CallStream
from structgen.generation.usage import Usage
from structgen.limits import Limits
from structgen.models.base import as_messages

if TYPE_CHECKING:
    from structgen.generation.batches import NewSession
    from structgen.models.base import AnyModel, Prompt

__all__ = ["Event", "Loop", "ToolResult", "Transcript", "async_events", "events"]


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


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call, in a stream.

    Attributes:
        call: the call.
        value: what the function returned; None where it raised an error.
        error: the error that the function raised, or by which a validator refused the arguments.
        message: the message that brings the result to the model.
    """

    call: ToolCall
    value: Any
    error: Exception | None
    message: dict[str, Any]


Event: TypeAlias = str | ToolCall | ToolResult | Transcript
"""An event of a loop: a piece of text, a call with its arguments so far, a call's result; the transcript comes last."""


class Loop:
    """The state of a conversation with tools.

    Args:
        model, messages, tools, max_turns, tool_choice, parallel, format, limits, options: see `structgen.run_tools`.
        shows: whether replies are shown while they are written.

    Attributes:
        model, shows: see above.
        messages: the conversation so far.
        goes_on: whether there is another turn.
        stream: the reply under way, or the last one.
        transcript: the whole conversation, after its end.
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
        *,
        shows: bool,
    ) -> None:
        if not isinstance(max_turns, int) or max_turns < 1:
            raise ValueError(f"max_turns must be a whole number >= 1, not {max_turns!r}")
        self._caller = Caller(
            model, tools, parallel=parallel, format=format, limits=limits, options=options, keeps_refused=True
        )
        for tool in self._caller.toolbox.tools:
            if tool.function is None:
                raise StructgenError(
                    f"the tool {tool.name} has no Python function to run",
                    hint="give it one with structgen.Tool(name, parameters, function=…), or use structgen.call",
                )
        check_prompt(messages)
        self.model = model
        self.shows = shows
        self.messages = as_messages(messages)
        self.goes_on = True
        self.stream: CallStream | None = None
        self.transcript: Transcript | None = None
        self._first_choice = tool_choice
        self._max_turns = max_turns
        self._replies: list[ToolReply] = []
        self._reason: Literal["stop", "length", "turns"] = "stop"

    def begin(self, new_session: NewSession = None) -> CallStream:
        """Begin the next reply.

        Args:
            new_session: see `Caller.begin`.
        """
        is_first = not self._replies or self._first_choice == "none"
        choice = self._first_choice if is_first else "auto"
        messages = list(self.messages)
        self.stream = CallStream(self._caller, messages, choice, streams=self.shows, new_session=new_session)
        return self.stream

    def take(self, reply: ToolReply) -> ToolReply:
        """Add a reply, and return it."""
        self._replies.append(reply)
        self.messages.append(reply.message)
        self.goes_on = bool(reply.tool_calls) and len(self._replies) < self._max_turns
        self._reason = "turns" if reply.tool_calls else reply.finish_reason
        return reply

    def answer(self, call: ToolCall, value: Any, error: Exception | None) -> ToolResult:
        """Add the result of a call, and return it."""
        returned = value if error is None else f"Error: {type(error).__name__}: {error}"
        message = call.message(returned)
        self.messages.append(message)
        return ToolResult(call, value, error, message)

    def finish(self) -> Transcript:
        """End the conversation, and return it."""
        usages = [reply.usage for reply in self._replies if reply.usage is not None]
        usage = usages[0]
        for one in usages[1:]:
            usage = usage.plus(one)
        text = self._replies[-1].text
        self.transcript = Transcript(text, tuple(self.messages), tuple(self._replies), self._reason, usage)
        return self.transcript


def events(loop: Loop) -> Generator[Event, None, None]:
    """Run a loop, and yield what happens; the transcript comes last."""
    while loop.goes_on:
        with loop.begin() as stream:
            if loop.shows:
                yield from stream
            reply = loop.take(stream.reply())
        for call in reply.tool_calls:
            yield loop.answer(call, *_result_of(call))
    yield loop.finish()


async def async_events(loop: Loop) -> AsyncGenerator[Event, None]:
    """Run a loop with the model in threads, and yield what happens; see `events`."""
    while loop.goes_on:
        async with AsyncCallStream(loop.model, loop.begin) as stream:
            if loop.shows:
                async for part in stream:
                    yield part
            reply = loop.take(await stream.reply())
        results = await asyncio.gather(*map(_awaited_result_of, reply.tool_calls))
        for call, result in zip(reply.tool_calls, results):
            yield loop.answer(call, *result)
    yield loop.finish()


def _result_of(call: ToolCall) -> tuple[Any, Exception | None]:
    """Return the result of a call, and its error."""
    if call.error is not None:
        return None, call.error
    try:
        return call.run(), None
    except NotRunnableError:
        raise
    except Exception as error:
        return None, error


async def _awaited_result_of(call: ToolCall) -> tuple[Any, Exception | None]:
    if call.error is not None:
        return None, call.error
    try:
        return await call.arun(), None
    except NotRunnableError:
        raise
    except Exception as error:
        return None, error
