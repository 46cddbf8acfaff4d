"""`run_tools` and `stream_tools`: a model calls tools until it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack, cast

from structgen.errors import GenerationError
from structgen.generation.settings import CALL_DEFAULTS, CallOptions
from structgen.generation.tools.loop import Event, Loop, Transcript, async_events, events
from structgen.limits import Limits
from structgen.models.base import AsyncServer
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from structgen.models.base import AnyModel, Prompt

__all__ = ["AsyncToolStream", "ToolStream", "arun_tools", "astream_tools", "run_tools", "stream_tools"]


@shows_options(CallOptions, CALL_DEFAULTS)
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
    loop = Loop(model, messages, tools, max_turns, tool_choice, parallel, format, limits, options, shows=False)
    with ToolStream(loop) as stream:
        return stream.transcript()


@shows_options(CallOptions, CALL_DEFAULTS)
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

    def begin() -> Loop:
        return Loop(model, messages, tools, max_turns, tool_choice, parallel, format, limits, options, shows=False)

    async with AsyncToolStream(model, begin) as stream:
        return await stream.transcript()


@shows_options(CallOptions, CALL_DEFAULTS)
def stream_tools(
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
) -> ToolStream:
    """Run `run_tools`, and show what happens while it happens.

    Args:
        model: see `structgen.run_tools`.
        messages: see `structgen.run_tools`.
        tools: see `structgen.run_tools`.
        max_turns: see `structgen.run_tools`.
        tool_choice: see `structgen.run_tools`.
        parallel: see `structgen.run_tools`.
        format: see `structgen.run_tools`.
        limits: see `structgen.run_tools`.
        options: see `structgen.run_tools`.

    Returns:
        A context manager; see `ToolStream`.

    Example:
        >>> with structgen.stream_tools(model, "Is it warm in Lyon?", [weather]) as s:        # doctest: +SKIP
        ...     for event in s:
        ...         if isinstance(event, structgen.ToolResult):
        ...             print(event.call.name, event.value)
        weather 18
    """
    return ToolStream(
        Loop(model, messages, tools, max_turns, tool_choice, parallel, format, limits, options, shows=True)
    )


@shows_options(CallOptions, CALL_DEFAULTS)
def astream_tools(
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
) -> AsyncToolStream:
    """Run `stream_tools` for asyncio, with the model in threads. Tools may be `async`, as in `arun_tools`.

    The arguments are those of `structgen.stream_tools`.

    Example:
        >>> async with structgen.astream_tools(model, messages, [weather]) as s:              # doctest: +SKIP
        ...     async for event in s:
        ...         print(event)
    """

    def begin() -> Loop:
        return Loop(model, messages, tools, max_turns, tool_choice, parallel, format, limits, options, shows=True)

    return AsyncToolStream(model, begin)


def _ended(loop: Loop) -> Transcript:
    """Return the transcript of a loop whose events are over."""
    if loop.transcript is None:  # it was closed, or an error ended it
        raise GenerationError("the stream is closed", hint="iterate, or call transcript(), inside the with block")
    return loop.transcript


class ToolStream:
    """A conversation with tools while it goes on; made by `stream_tools`.

    The model and the tools run as the stream is iterated. Iterating yields pieces of text, as `str`; calls, as
    `ToolCall`, whenever more of their arguments are there; the results of calls, as `ToolResult`; and at last the
    `Transcript`.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._events = events(loop)

    def __enter__(self) -> ToolStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        return (event for event in self._events)  # a loop that breaks off closes this iterator, not the events

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far, in OpenAI's form, also after an error."""
        return list(self._loop.messages)

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far, in the reply under way."""
        return "" if self._loop.stream is None else self._loop.stream.reasoning

    def transcript(self) -> Transcript:
        """Return the whole conversation, after running the rest of it.

        Raises:
            StructgenError: see `structgen.run_tools`; or the stream was closed.
        """
        for _ in self._events:
            pass
        return _ended(self._loop)

    def close(self) -> None:
        """End the run where it is, after the pass under way."""
        if self._loop.stream is not None:
            self._loop.stream.close()
        self._events.close()


class AsyncToolStream:
    """A `ToolStream` for `async with` and `async for`.

    Args:
        model: it runs in threads, or is awaited if it is a server with an asynchronous client.
        begin: makes the loop.
    """

    def __init__(self, model: AnyModel, begin: Callable[[], Loop]) -> None:
        self._model = model
        self._begin = begin
        self._opened: Loop | None = None
        self._events: AsyncGenerator[Event, None] | None = None

    async def __aenter__(self) -> AsyncToolStream:
        self._opened = self._begin() if isinstance(self._model, AsyncServer) else await asyncio.to_thread(self._begin)
        self._events = async_events(self._opened)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._events is not None:
            await self._events.aclose()

    async def __aiter__(self) -> AsyncIterator[Event]:
        if self._events is None:
            raise GenerationError("the stream is not open: use it in `async with structgen.astream_tools(…) as s:`")
        async for event in self._events:
            yield event

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far, in OpenAI's form, also after an error."""
        return [] if self._opened is None else list(self._opened.messages)

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far, in the reply under way."""
        stream = None if self._opened is None else self._opened.stream
        return "" if stream is None else stream.reasoning

    async def transcript(self) -> Transcript:
        """Return the whole conversation; see `ToolStream.transcript`."""
        async for _ in self:
            pass
        return _ended(cast(Loop, self._opened))
