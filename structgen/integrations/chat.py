"""The common form of a framework's request and of its answer, as a whole or in pieces.

    adapter of a framework ──▶ ChatRequest ──▶ Chat ──▶ Piece, Piece, …, Outcome ──▶ its own messages

A request without tools and with a schema is answered with the value alone. A request with both is answered with calls:
the answer is the call of one more tool, so a model in the format of its family never has to mix the two.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from structgen.errors import GenerationError, StructgenError
from structgen.generation.answer_pieces import AnswerPieces, answer_tool
from structgen.generation.generator import Generator
from structgen.generation.pieces import CallPieces, Outcome, Piece, TextPieces
from structgen.generation.scheduler import SharedThreads, run_shared
from structgen.generation.settings import CallOptions, Settings, split_options
from structgen.generation.tools.calling import Caller
from structgen.generation.tools.streaming import CallStream
from structgen.models.base import as_messages, check_model
from structgen.models.names import by_name

if TYPE_CHECKING:
    from structgen.generation.batches import NewSession
    from structgen.limits import Limits
    from structgen.models.base import AnyModel

__all__ = ["AsyncPieces", "Chat", "ChatRequest", "missing_package", "name_of_model", "refusal", "with_one_system"]

# Options for work that a framework does itself, or whose results have no place in its messages.
_NOT_HERE = ("context", "logprobs", "max_retries", "raw", "validate")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request for one answer.

    Attributes:
        messages: the conversation, in OpenAI's form.
        tools: tools in OpenAI's form.
        tool_choice: see `structgen.call`.
        parallel: whether there may be several calls.
        schema: what the text has to be: a JSON Schema, a type or a grammar; None for free text.
        options: the options of this answer; see `structgen.settings.CallOptions`. None stands for the default.
    """

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str = "auto"
    parallel: bool = True
    schema: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)


class UnsupportedRequestError(StructgenError):
    """A request of a framework that asks for something a model of text cannot answer."""


class Chat:
    """A model that answers requests, for an adapter of a framework.

    Args:
        model: see `structgen.generate`.
        limits: bounds on what a schema may cost.
        options: the options of every answer that a request does not set.

    Attributes:
        model: the model.

    Raises:
        TypeError: it is not a model, or an option is unknown.
        ValueError: an option is out of its range, or is one that the framework does itself.
    """

    def __init__(self, model: AnyModel, *, limits: Limits | None = None, options: CallOptions | None = None) -> None:
        check_model(model)
        self.model = model
        self._limits = limits
        self._options = _with_one_budget(options or {})
        for name in _NOT_HERE:
            if name in self._options:
                raise ValueError(f"the option {name!r} has no effect through a framework: leave it out")
        Settings(**split_options(self._options)[0])

    def ask(self, request: ChatRequest) -> Outcome:
        """Return the whole answer.

        Args:
            request: the request.

        Raises:
            StructgenError: see `structgen.generate` and `structgen.call`.
        """
        return self._whole(request, threading.Event(), None)

    async def aask(self, request: ChatRequest) -> Outcome:
        """Answer in a thread, and await it; see `ask`. If it is cancelled, the model stops after the pass under way.

        Answers that are written at the same time share the passes of the model.
        """
        return await run_shared(self.model, lambda make, cancelled: self._whole(request, cancelled, make))

    def stream(self, request: ChatRequest) -> Iterator[Piece | Outcome]:
        """Yield the pieces of an answer, and the whole at last; see `ask`."""
        pieces = self._begin(request, None)
        try:
            yield from pieces
        finally:
            pieces.close()

    def astream(self, request: ChatRequest) -> AsyncPieces:
        """Return the pieces of an answer, and the whole at last, for `async with` and `async for`; see `aask`."""
        return AsyncPieces(self.model, lambda make: self._begin(request, make))

    def _whole(self, request: ChatRequest, cancelled: threading.Event, new_session: NewSession) -> Outcome:
        pieces = self._begin(request, new_session)
        try:
            for item in pieces:
                if isinstance(item, Outcome):
                    return item
                if cancelled.is_set():
                    raise CancelledError
        finally:
            pieces.close()
        raise AssertionError("the pieces of an answer end with the whole")

    def _begin(self, request: ChatRequest, new_session: NewSession) -> _Pieces:
        given = {name: value for name, value in request.options.items() if value is not None}
        options = _sampled({**self._options, **_with_one_budget(given)})
        tools, choice, answer = [_closed(tool) for tool in request.tools], request.tool_choice, None
        if request.schema is not None and (not tools or choice == "none"):
            return self._of_schema(request, options, new_session)
        if request.schema is not None and choice == "auto":
            tools.append(answer_tool(request.schema, {tool["function"]["name"] for tool in tools}))
            answer, choice = tools[-1]["function"]["name"], "required"
        caller = self._caller(tools, options, parallel=request.parallel)
        stream = CallStream(caller, request.messages, choice if tools else "none", new_session=new_session)
        pieces = CallPieces(stream, _stops(options))
        return pieces if answer is None else AnswerPieces(pieces, answer)

    def _of_schema(self, request: ChatRequest, options: Mapping[str, Any], new_session: NewSession) -> TextPieces:
        generator: Generator[Any] = Generator(self.model, request.schema, limits=self._limits, **options)
        messages = self._caller((), {}).adapted(request.messages)
        return TextPieces(generator.begin(messages, new_session=new_session, streams=True))

    def _caller(self, tools: Sequence[Any], options: Mapping[str, Any], *, parallel: bool = True) -> Caller:
        return Caller(
            self.model,
            tools,
            parallel=parallel,
            format=None,
            limits=self._limits,
            options=cast(CallOptions, options),
        )


class AsyncPieces:
    """The pieces of an answer, for `async with` and `async for`; the model runs in threads.

    Args:
        model: the model.
        begin: begins the run; its argument makes the sessions of the run.
    """

    def __init__(self, model: AnyModel, begin: Callable[[NewSession], _Pieces]) -> None:
        self._threads = SharedThreads(model)
        self._begin = begin
        self._pieces: _Pieces | None = None
        self._is_closed = False

    async def __aenter__(self) -> AsyncPieces:
        self._pieces = await self._threads.open(self._begin)
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.close()

    async def __aiter__(self) -> AsyncIterator[Piece | Outcome]:
        items = iter(self._pieces or ())
        try:
            while (item := await self._threads.run(lambda: next(items, None))) is not None:
                yield item
        except (asyncio.CancelledError, GenerationError):
            task = asyncio.current_task()
            if not self._is_closed or (task is not None and task.cancelling()):
                raise  # else the run was closed, and the pieces end where they are

    def close(self) -> None:
        """End the run where it is, after the pass under way. Another task may iterate."""
        self._is_closed = True
        if self._pieces is not None:
            self._pieces.close()
        self._threads.close()


_Pieces = TextPieces | CallPieces | AnswerPieces


# Keywords of a schema beside which a property may be declared elsewhere.
_ELSEWHERE = (
    "$ref", "$dynamicRef", "additionalProperties", "allOf", "anyOf", "dependentSchemas", "if", "oneOf",
    "patternProperties", "unevaluatedProperties",
)  # fmt: skip


def _closed(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool that accepts no other arguments than those that it declares.

    The JSON Schemas of frameworks allow further properties by default, but a call of the function with them would fail.
    """
    function = tool["function"]
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping) or "properties" not in parameters or set(_ELSEWHERE) & set(parameters):
        return dict(tool)
    return {**tool, "function": {**function, "parameters": {**parameters, "additionalProperties": False}}}


def _with_one_budget(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the one name of `max_tokens`, so that a request's value replaces that of the model."""
    found = dict(options)
    if "max_tokens" in found:
        found["max_new_tokens"] = found.pop("max_tokens")
    return found


def _sampled(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for sampling as servers read them.

    Without a temperature, a `top_p` below 1 turns sampling on. At temperature 0, filters change nothing: they are left
    out.
    """
    if "temperature" not in options and options.get("top_p") not in (None, 1):
        return {**options, "temperature": 1.0}
    if options.get("temperature"):
        return options
    return {name: value for name, value in options.items() if name not in ("top_p", "top_k", "min_p")}


def _stops(options: Mapping[str, Any]) -> Sequence[str]:
    stop = options.get("stop") or ()
    return (stop,) if isinstance(stop, str) else tuple(stop)


def with_one_system(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages whose first system messages are one; chat templates read one, at the beginning.

    Args:
        messages: messages in OpenAI's form, with texts.
    """
    found = as_messages(messages)
    count = 0
    while count < len(found) and found[count]["role"] == "system":
        count += 1
    if count < 2:
        return found
    whole = "\n\n".join(message["content"] for message in found[:count])
    return [{"role": "system", "content": whole}, *found[count:]]


def name_of_model(model: AnyModel) -> str:
    """Return the name of a model for records of a framework: that of `structgen.load` or of the server, or its class's.

    Args:
        model: the model.
    """
    try:
        return by_name(model)[1][0]
    except TypeError:
        return str(getattr(model, "name", None) or type(model).__name__)


def refusal(what: str, framework: str, hint: str = "") -> UnsupportedRequestError:
    """Return the error for a part of a framework's request that a model of text cannot answer.

    Args:
        what: the part, such as "an image".
        framework: the framework's name.
        hint: what to do instead.
    """
    return UnsupportedRequestError(f"structgen's adapter of {framework} does not support {what}", hint=hint)


def missing_package(package: str, error: ImportError) -> ImportError:
    """Return the error for a framework that is not installed.

    Args:
        package: what to install.
        error: the error of its import.
    """
    return ImportError(f"this adapter needs another package: pip install '{package}'  ({error})", name=error.name)
