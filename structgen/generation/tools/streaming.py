"""`stream_call`: a reply while it is written: pieces of text, and calls with the arguments so far."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack, cast

from structgen.errors import GenerationError
from structgen.generation.passes import PASS, Passes, Steps, adrive, drive
from structgen.generation.runs import Result
from structgen.generation.scheduler import SharedThreads, in_threads
from structgen.generation.settings import CALL_DEFAULTS, CallOptions
from structgen.generation.tools.calling import Caller
from structgen.generation.tools.results import ToolCall, ToolReply
from structgen.generation.usage import Usage
from structgen.limits import Limits
from structgen.models.base import AsyncServer
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from structgen.generation.batches import NewSession
    from structgen.models.base import AnyModel, Prompt

__all__ = ["AsyncCallStream", "CallStream", "astream_call", "stream_call"]


@shows_options(CallOptions, CALL_DEFAULTS)
def stream_call(
    model: AnyModel,
    messages: Prompt,
    tools: Iterable[Any],
    *,
    tool_choice: str = "auto",
    parallel: bool = True,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Unpack[CallOptions],
) -> CallStream:
    """Run a model as `call` does, and show the reply while it is written.

    Args:
        model: see `structgen.call`.
        messages: see `structgen.call`.
        tools: see `structgen.call`.
        tool_choice: see `structgen.call`.
        parallel: see `structgen.call`.
        format: see `structgen.call`.
        limits: see `structgen.call`.
        options: see `structgen.call`.

    Returns:
        A context manager; see `CallStream`.

    Example:
        >>> with structgen.stream_call(model, "Is it warm in Lyon?", [weather]) as s:         # doctest: +SKIP
        ...     for part in s:
        ...         print(part if isinstance(part, str) else (part.name, part.arguments))
        Let me see.
        ('weather', {})
        ('weather', {'city': 'Lyon', 'unit': 'C'})
    """
    caller = Caller(model, tools, parallel=parallel, format=format, limits=limits, options=options)
    return CallStream(caller, messages, tool_choice)


@shows_options(CallOptions, CALL_DEFAULTS)
def astream_call(
    model: AnyModel,
    messages: Prompt,
    tools: Iterable[Any],
    *,
    tool_choice: str = "auto",
    parallel: bool = True,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Unpack[CallOptions],
) -> AsyncCallStream:
    """Run a model as `stream_call` does, for asyncio; streams and calls that run at once share the model's passes.

    The arguments are those of `structgen.stream_call`.

    Example:
        >>> async with structgen.astream_call(model, messages, [weather]) as s:               # doctest: +SKIP
        ...     async for part in s:
        ...         print(part)
    """

    def begin(new_session: NewSession) -> CallStream:
        caller = Caller(model, tools, parallel=parallel, format=format, limits=limits, options=options)
        return CallStream(caller, messages, tool_choice, new_session=new_session)

    return AsyncCallStream(model, begin)


class CallStream:
    """A reply while it is written; made by `stream_call`.

    The model runs as the stream is iterated. Iterating yields pieces of text, as `str`, and calls, as `ToolCall`: a
    call whenever more of its arguments are there, and at last with `is_complete` and validated arguments. When a reply
    is refused and tried again, the pieces begin anew.
    """

    def __init__(
        self,
        caller: Caller,
        messages: Prompt,
        tool_choice: str,
        *,
        streams: bool = True,
        new_session: NewSession = None,
    ) -> None:
        self._caller = caller
        self._messages = messages
        self._tool_choice = tool_choice
        self._run = caller.begin(messages, tool_choice, streams=streams, new_session=new_session)
        self._passes = Passes(self._run, "reply()")

    def __enter__(self) -> CallStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[str | ToolCall]:
        return drive(self._parts(), self._passes.step)

    def _parts(self) -> Steps:
        shown = _Shown()
        while (yield PASS):
            yield from zip(shown.new_parts(self._so_far(), self._run.decoder))
        yield from zip(shown.new_parts(self._finished(), self._run.decoder))

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far."""
        return self._run.reasoning

    def cost(self) -> Usage:
        """Return the cost so far."""
        return self._run.cost()

    def reply(self) -> ToolReply:
        """Return the whole reply, after generating the rest of it.

        Raises:
            IncompleteOutputError, ValidationFailedError, GenerationError: see `structgen.call`.
        """
        while self._passes.step():
            pass
        return self._finished()

    def close(self) -> None:
        """End the run where it is, after the pass under way."""
        self._passes.close()

    async def _areply(self) -> ToolReply:
        while await self._passes.astep():
            pass
        return self._finished()

    def _finished(self) -> ToolReply:
        return self._caller.finished(cast(Result[Any], self._run.result))

    def _so_far(self) -> ToolReply:
        decoder = self._run.decoder
        text = "" if decoder is None else decoder.text_bytes.decode(errors="ignore")
        return self._caller.partial(text, self._messages, self._tool_choice)


class _Shown:
    """The parts of a reply that were yielded."""

    def __init__(self) -> None:
        self._attempt: Any = None
        self._begin()

    def _begin(self) -> None:
        self._text = ""
        self._calls: list[tuple[str, bool]] = []

    def new_parts(self, reply: ToolReply, attempt: object) -> Iterator[str | ToolCall]:
        """Yield what is new: text, and calls that changed.

        Args:
            reply: the reply so far.
            attempt: tells the attempts apart.
        """
        if attempt is not self._attempt:
            self._attempt = attempt
            self._begin()
        if reply.tool_calls:
            self._text = self._text.lstrip()  # as the text of a reply with calls has no white space around it
        if len(reply.text) > len(self._text) and reply.text.startswith(self._text):
            yield reply.text[len(self._text) :]
            self._text = reply.text
        for index, call in enumerate(reply.tool_calls):
            state = (call.source, call.is_complete)
            if index == len(self._calls):
                self._calls.append(("", False))
            elif self._calls[index] == state:
                continue
            self._calls[index] = state
            if call.error is None:  # else it is raised at the end
                yield call


class AsyncCallStream:
    """A `CallStream` for `async with` and `async for`.

    A local model runs in threads. A server with an asynchronous client is awaited.
    """

    def __init__(self, model: AnyModel, begin: Callable[[NewSession], CallStream]) -> None:
        self._begin = begin
        self._opened: CallStream | None = None
        self._threads = None if isinstance(model, AsyncServer) else SharedThreads(model)

    async def __aenter__(self) -> AsyncCallStream:
        self._opened = self._begin(None) if self._threads is None else await self._threads.open(self._begin)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is None:
            await self._stream._passes.aclose()
            return
        self._stream.close()
        self._threads.close()

    def __aiter__(self) -> AsyncIterator[str | ToolCall]:
        if self._threads is None:
            return adrive(self._stream._parts(), self._stream._passes.astep)
        return in_threads(iter(self._stream), self._threads)

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far."""
        return self._stream.reasoning

    async def reply(self) -> ToolReply:
        """Return the whole reply; see `CallStream.reply`."""
        if self._threads is None:
            return await self._stream._areply()
        return await self._threads.run(self._stream.reply)

    @property
    def _stream(self) -> CallStream:
        if self._opened is None:
            raise GenerationError("the stream is not open: use it in `async with structgen.astream_call(…) as s:`")
        return self._opened
