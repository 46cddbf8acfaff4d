"""DSPy: a structgen model as a language model, and an adapter whose schema is the signature's output fields.

    dspy.configure(lm=StructgenLM(structgen.load("smollm2")), adapter=StructgenAdapter())
    dspy.Predict("review -> mood: Literal['good', 'bad']")(review="I love it.").mood

DSPy's adapters ask for output fields as text and parse the answer. `StructgenAdapter` asks for one JSON object with
these fields under the mask of their types, so no answer has to be parsed twice.

    dspy.lm15.Request ──▶ messages in OpenAI's form ──▶ Chat ──▶ dspy.lm15.Response, or events
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pydantic

from structgen.errors import GenerationError, StructgenError
from structgen.generation.pieces import CallTexts, Outcome, Piece
from structgen.generation.reasoning_marks import marks_of
from structgen.integrations.chat import Chat, ChatRequest, missing_package, name_of_model, refusal, with_one_system
from structgen.limits import Limits
from structgen.models.base import AnyModel
from structgen.schema.sources import resolve

try:
    import dspy
    from dspy import lm15
    from dspy.adapters.types.tool import ToolCalls
except ImportError as error:
    raise missing_package("dspy>=3.4,<3.5", error) from error

__all__ = ["StructgenAdapter", "StructgenLM"]

_FRAMEWORK = "DSPy"
_FINISH_REASONS = {"stop": "stop", "length": "length", "tool_calls": "tool_call"}
_OPTIONS = ("temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty")
_PARAMS = frozenset(
    {*_OPTIONS, "max_tokens", "stop", "stream", "response_format", "tools", "tool_choice", "parallel_tool_calls"}
)


class StructgenLM(dspy.LM):
    """A language model of DSPy that runs in this process, under exact masks.

    Args:
        model: from `structgen.load(…)`, `structgen.from_transformers(…)` or the like.
        name: the name in histories and caches; by default that of `structgen.load`, or of the model's class.
        limits: bounds on what a schema may cost.
        temperature: as `dspy.LM` has it.
        max_tokens: as `dspy.LM` has it.
        cache: whether DSPy keeps answers, also on disk. Their key has the model's name: give each model its own.
        callbacks: as `dspy.LM` has it.
        options: structgen's own options, such as `reasoning` or `whitespace`; see `structgen.call`.

    Raises:
        TypeError: it is not a model, or an option is unknown.
        ValueError: an option is out of its range, or is one that DSPy does itself, such as `max_retries`.

    Example:
        >>> lm = StructgenLM(structgen.load("smollm2"))                                       # doctest: +SKIP
        >>> dspy.configure(lm=lm, adapter=StructgenAdapter())                                 # doctest: +SKIP
        >>> dspy.Predict("text -> name: str, age: int")(text="Alice is 34.").age              # doctest: +SKIP
        34
    """

    def __init__(
        self,
        model: AnyModel,
        *,
        name: str | None = None,
        limits: Limits | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        cache: bool = False,
        callbacks: list[Any] | None = None,
        **options: Any,
    ) -> None:
        chat = Chat(model, limits=limits, options=options)  # type: ignore[arg-type]
        known = f"structgen/{name or name_of_model(model)}"
        super().__init__(
            known,
            temperature=temperature,
            max_tokens=max_tokens,
            cache=cache,
            callbacks=callbacks,
            num_retries=0,
            engine=_Engine(chat, known),
            async_engine=_AsyncEngine(chat, known),
        )


class StructgenAdapter(dspy.JSONAdapter):
    """An adapter of DSPy: the answer is a JSON object whose schema is that of the signature's output fields.

    `dspy.JSONAdapter` asks for any JSON object where a field is a dict, and makes every field required. This adapter
    keeps the types as they are. The arguments are those of `dspy.JSONAdapter`.

    Example:
        >>> dspy.configure(adapter=StructgenAdapter())                                        # doctest: +SKIP
    """

    def __call__(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> Any:
        """Ask for the output fields, and return them."""
        asked = {**lm_kwargs, "response_format": _outputs(signature, self.use_native_function_calling)}
        return super(dspy.JSONAdapter, self).__call__(lm, asked, signature, demos, inputs)

    async def acall(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> Any:
        """Ask for the output fields, and return them."""
        asked = {**lm_kwargs, "response_format": _outputs(signature, self.use_native_function_calling)}
        return await super(dspy.JSONAdapter, self).acall(lm, asked, signature, demos, inputs)


class _Answering:
    """The common part of both engines of a `dspy.LM`: the model, and what it supports.

    Args:
        chat: the model.
        name: the name in records.
    """

    supports_function_calling = True
    supports_response_schema = True
    supported_params = _PARAMS

    def __init__(self, chat: Chat, name: str) -> None:
        self._chat = chat
        self._name = name
        self.supports_reasoning = marks_of(getattr(chat.model, "chat_template", None)) is not None


class _Engine(_Answering):
    """Answers requests of `dspy.LM`."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Return the whole answer."""
        with _errors():
            return _response(self._chat.ask(_chat_request(request)), self._name)

    def stream(self, request: lm15.Request) -> Iterator[Any]:
        """Yield the events of an answer."""
        events = _Events()
        yield lm15.StreamStartEvent(model=self._name)
        with _errors():
            for item in self._chat.stream(_chat_request(request)):
                yield from events.of(item)

    def close(self) -> None:
        """Do nothing: the model is the caller's."""


class _AsyncEngine(_Answering):
    """Answers requests of `dspy.LM` for asyncio; answers at the same time share the passes of the model."""

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """Return the whole answer."""
        with _errors():
            return _response(await self._chat.aask(_chat_request(request)), self._name)

    async def stream(self, request: lm15.Request) -> AsyncIterator[Any]:
        """Yield the events of an answer."""
        events = _Events()
        yield lm15.StreamStartEvent(model=self._name)
        with _errors():
            async with self._chat.astream(_chat_request(request)) as pieces:
                async for item in pieces:
                    for event in events.of(item):
                        yield event

    async def aclose(self) -> None:
        """Do nothing: the model is the caller's."""


@contextmanager
def _errors() -> Iterator[None]:
    """Raise the errors of a run as DSPy's own."""
    try:
        yield
    except GenerationError as error:
        raise lm15.ServerError(str(error)) from error
    except StructgenError as error:
        raise lm15.InvalidRequestError(str(error)) from error


def _outputs(signature: Any, native_calls: bool) -> dict[str, Any]:
    """Return the response format of the output fields of a signature.

    Args:
        signature: the signature.
        native_calls: whether calls of tools are no field of the answer.

    Raises:
        UnsupportedSchemaError: a field's type has no schema.
    """
    fields: dict[str, Any] = {}
    for name, field in signature.output_fields.items():
        if native_calls and field.annotation == ToolCalls:
            continue  # the model calls the tools
        fields[name] = (field.annotation, field)
    config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    schema = resolve(pydantic.create_model("Outputs", __config__=config, **fields)).json_schema
    return {"type": "json_schema", "json_schema": {"name": "outputs", "schema": schema}}


def _chat_request(request: lm15.Request) -> ChatRequest:
    """Return a request of DSPy in the common form.

    Raises:
        UnsupportedRequestError: it asks for something other than text and calls.
    """
    config = request.config
    for name in ("logprobs", "probabilities", "cache", "extensions"):
        if getattr(config, name) is not None:
            raise refusal(f"the option {name!r}", _FRAMEWORK)
    options = {name: getattr(config, name) for name in _OPTIONS}
    options["max_new_tokens"] = config.max_tokens
    if config.stop:
        options["stop"] = config.stop
    if config.reasoning is not None:
        options["reasoning"] = config.reasoning.effort != "off"
    tools, choice, parallel = _tools(request)
    return ChatRequest(
        messages=_messages(request),
        tools=tools,
        tool_choice=choice,
        parallel=parallel,
        schema=_schema(config.response_format),
        options=options,
    )


def _tools(request: lm15.Request) -> tuple[list[dict[str, Any]], str, bool]:
    """Return the tools, the tool choice, and whether there may be several calls."""
    asked = request.config.tool_choice or lm15.ToolChoice()
    tools = []
    for tool in request.tools:
        if not isinstance(tool, lm15.FunctionTool):
            raise refusal(f"the tool {tool.name!r} of a provider", _FRAMEWORK)
        if not asked.allowed or tool.name in asked.allowed:
            function = {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters}
            tools.append({"type": "function", "function": function})
    return tools, asked.mode if tools else "none", asked.parallel is not False


def _schema(response_format: Mapping[str, Any] | None) -> Any:
    """Return the JSON Schema of a response format.

    Args:
        response_format: in one of OpenAI's forms; None for free text.
    """
    if response_format is None or response_format.get("type") == "text":
        return None
    if response_format.get("type") == "json_object":
        return {"type": "object"}
    inner = response_format.get("json_schema", response_format)
    return inner.get("schema", inner)


def _messages(request: lm15.Request) -> list[dict[str, Any]]:
    """Return a conversation in OpenAI's form."""
    found: list[dict[str, Any]] = []
    if request.system is not None:
        system = request.system if isinstance(request.system, str) else _text(request.system)
        found.append({"role": "system", "content": system})
    for message in request.messages:
        if message.role == "tool":
            found += [_result(part) for part in message.parts]
        elif message.role == "assistant":
            found.append(_assistant(message))
        else:
            role = "system" if message.role == "developer" else message.role
            found.append({"role": role, "content": _text(message.parts)})
    return with_one_system(found)


def _text(parts: Any) -> str:
    texts = []
    for part in parts:
        if not isinstance(part, lm15.TextPart):
            raise refusal(f"{type(part).__name__} in a message", _FRAMEWORK, "the model reads text only")
        texts.append(part.text)
    return "\n".join(texts)


def _result(part: Any) -> dict[str, Any]:
    if not isinstance(part, lm15.ToolResultPart):
        raise refusal(f"{type(part).__name__} in the message of a tool", _FRAMEWORK)
    found = {"role": "tool", "tool_call_id": part.id, "content": _text(part.content)}
    return {**found, "name": part.name} if part.name else found


def _assistant(message: lm15.Message) -> dict[str, Any]:
    calls = [part for part in message.parts if isinstance(part, lm15.ToolCallPart)]
    reasoning = "\n".join(part.text for part in message.parts if isinstance(part, lm15.ThinkingPart))
    others = (lm15.ToolCallPart, lm15.ThinkingPart)
    text = _text([part for part in message.parts if not isinstance(part, others)])
    found: dict[str, Any] = {"role": "assistant", "content": text}
    if reasoning:
        found["reasoning_content"] = reasoning
    if calls:
        found["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": dict(call.input)}}
            for call in calls
        ]
    return found


def _usage(outcome: Outcome) -> lm15.Usage:
    return lm15.Usage(
        input_tokens=outcome.prompt_tokens,
        output_tokens=outcome.completion_tokens,
        reasoning_tokens=outcome.reasoning_tokens or None,
    )


def _response(outcome: Outcome, name: str) -> lm15.Response:
    parts: list[Any] = [lm15.ThinkingPart(outcome.reasoning)] if outcome.reasoning else []
    if outcome.text or not outcome.calls:
        parts.append(lm15.TextPart(outcome.text))
    parts += [lm15.ToolCallPart(call.id, call.name, json.loads(call.source)) for call in outcome.calls]
    return lm15.Response(
        id=None,
        model=name,
        message=lm15.Message.assistant(parts),
        finish_reason=_FINISH_REASONS[outcome.finish_reason],
        usage=_usage(outcome),
    )


class _Events:
    """The pieces of an answer as DSPy's events; each kind of text and each call is a part with an index."""

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}
        self._calls = CallTexts()

    def of(self, item: Piece | Outcome) -> Iterator[Any]:
        """Yield the events of a piece. The first event of a call has its name."""
        if isinstance(item, Outcome):
            if not self._indices:
                yield lm15.StreamDeltaEvent(lm15.TextDelta("", self._index("text")))
            yield lm15.StreamEndEvent(finish_reason=_FINISH_REASONS[item.finish_reason], usage=_usage(item))
        elif item.reasoning:
            yield lm15.StreamDeltaEvent(lm15.ThinkingDelta(item.reasoning, self._index("reasoning")))
        elif item.text:
            yield lm15.StreamDeltaEvent(lm15.TextDelta(item.text, self._index("text")))
        elif item.call is not None:
            more = self._calls.more(item.call)
            name, call_id = (more.call.name, more.call.id) if more.is_first else (None, None)
            delta = lm15.ToolCallDelta(more.text, self._index(f"call {more.index}"), id=call_id, name=name)
            yield lm15.StreamDeltaEvent(delta)

    def _index(self, part: str) -> int:
        return self._indices.setdefault(part, len(self._indices))
