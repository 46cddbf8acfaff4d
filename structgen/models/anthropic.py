"""Anthropic's models, through the official `anthropic` client: `from_anthropic`.

    schema    `output_config`: JSON outputs, where the schema has a form in their subset
              a tool whose input is the answer, where it has none
    choice    `output_config`: an object with one of the texts

Anthropic takes no other grammars. Every answer is validated.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from functools import partial
from typing import Any, overload

import anthropic

from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.errors import ModelError
from structgen.models.asked import Asked, Form, Masks
from structgen.models.base import ServerPiece, ServerRequest, ServerUsage
from structgen.models.names import by_name
from structgen.models.servers.errors import refuse_options, server_errors
from structgen.models.servers.forms import NAME, answer_form, choice_schema
from structgen.models.servers.sending import RefusedForms, asend, send
from structgen.models.servers.strict_schemas import ANTHROPIC, strict_schema
from structgen.schema.options import SchemaArguments

__all__ = ["AnthropicModel", "AsyncAnthropicModel", "from_anthropic"]

_KNOWN = frozenset({"max_new_tokens", "stop"})  # since its release 2, the client has no parameters of sampling
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


@overload
def from_anthropic(client: anthropic.AsyncAnthropic, model: str, **parameters: Any) -> AsyncAnthropicModel: ...
@overload
def from_anthropic(client: anthropic.Anthropic, model: str, **parameters: Any) -> AnthropicModel: ...
def from_anthropic(
    client: anthropic.Anthropic | anthropic.AsyncAnthropic, model: str, **parameters: Any
) -> AnthropicModel | AsyncAnthropicModel:
    """Make one of Anthropic's models usable with `generate`, `stream`, `batch`, `call`, `Generator` and `@fn`.

    Schemas are sent as JSON outputs (`output_config`). The keywords that these lack, such as bounds of numbers and
    lengths, are validated here. A schema that has no such form, as one with open objects, is sent as the input of a
    tool; then nothing holds the answer to it but the validation. `Result.masks` says which it was. Supported are
    `max_new_tokens`, `stop`, and everything that is done with messages. The interface has no options of sampling.

    Args:
        client: an `anthropic.Anthropic`; or an `anthropic.AsyncAnthropic` for `agenerate`, `astream`, `abatch`,
            `acall` and typed functions with `async def`, which then use no threads.
        model: the model's name.
        parameters: more parameters of each request, such as `thinking`, `output_config={"effort": "low"}`, or
            `extra_body={"temperature": 0.5}` for models that accept it.

    Raises:
        TypeError: the arguments are not a client and a name.

    Example:
        >>> client = anthropic.Anthropic()                                                    # doctest: +SKIP
        >>> model = structgen.from_anthropic(client, "claude-sonnet-4-6")                     # doctest: +SKIP
        >>> structgen.generate(model, "Alice is 34 years old.", Person, max_retries=2)        # doctest: +SKIP
        Person(name='Alice', age=34)
    """
    if not hasattr(client, "messages") or not isinstance(model, str):
        given = f"{type(client).__name__} and {type(model).__name__}"
        raise TypeError(f"from_anthropic takes an anthropic.Anthropic and the name of a model, not {given}")
    if isinstance(client, anthropic.AsyncAnthropic):
        return AsyncAnthropicModel(client, model, parameters)
    return AnthropicModel(client, model, parameters)


class _Requests:
    """The requests to one model, and the reading of its answers.

    Attributes:
        name: the model's name that was given.
        vocabulary: bytes. Texts are followed byte by byte, to know which values of a stream are complete.
        reading: the default options for reading schemas.
    """

    def __init__(self, client: Any, name: str, parameters: dict[str, Any]) -> None:
        self.vocabulary = byte_vocabulary()
        self.reading: SchemaArguments = {"whitespace": "any", "property_order": "any"}
        self.name = name
        self._address = client.base_url
        self._parameters = parameters
        self._refused = RefusedForms()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores; see `structgen.models.names.by_name`."""
        return by_name(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._address})"

    def _arguments(
        self, messages: Sequence[Mapping[str, Any]], request: ServerRequest, streams: bool, form: Form
    ) -> dict[str, Any]:
        """Return the arguments of `client.messages.create`."""
        refuse_options(request, _KNOWN, "Anthropic's interface")
        system, rest = _without_system(messages)
        merged: dict[str, Any] = {
            "max_tokens": request.max_new_tokens,
            "stop_sequences": list(request.stop) or None,
            "system": system or None,
            "stream": streams or None,
            **form.fields,
            **self._parameters,
            "messages": rest,
            "model": self.name,
        }
        config = {**(self._parameters.get("output_config") or {}), **form.fields.get("output_config", {})}
        merged["output_config"] = config or None
        return {name: value for name, value in merged.items() if value is not None}


class AnthropicModel(_Requests):
    """A `structgen.models.base.Server` over Anthropic's interface; see `from_anthropic`.

    Attributes:
        client: the client that was given.
    """

    def __init__(self, client: anthropic.Anthropic, name: str, parameters: dict[str, Any]) -> None:
        super().__init__(client, name, parameters)
        self.client = client

    def ask(
        self, messages: Sequence[Mapping[str, Any]], request: ServerRequest, asked: Asked, *, streams: bool
    ) -> Generator[ServerPiece]:
        """Send one request; see `structgen.models.base.Server.ask`.

        Args:
            messages: chat messages.
            request: how the server samples.
            asked: the constraint of the answer.
            streams: whether the answer comes in pieces, or as one.
        """
        with server_errors(anthropic.AnthropicError, self._address):
            create: Any = self.client.messages.create
            arguments = partial(self._arguments, messages, request, streams)
            form, answer = send(create, arguments, _form(asked), anthropic.BadRequestError, self._refused)
            yield ServerPiece(form)
            if streams:
                with answer:
                    reader = _Events()
                    yield from map(reader.piece, answer)
            else:
                yield _whole(answer)


class AsyncAnthropicModel(_Requests):
    """A `structgen.models.base.AsyncServer` over Anthropic's interface; see `from_anthropic`.

    Attributes:
        client: the client that was given.
    """

    def __init__(self, client: anthropic.AsyncAnthropic, name: str, parameters: dict[str, Any]) -> None:
        super().__init__(client, name, parameters)
        self.client = client

    async def aask(
        self, messages: Sequence[Mapping[str, Any]], request: ServerRequest, asked: Asked, *, streams: bool
    ) -> AsyncGenerator[ServerPiece]:
        """Send one request; see `structgen.models.base.AsyncServer.aask`.

        Args:
            messages: chat messages.
            request: how the server samples.
            asked: the constraint of the answer.
            streams: whether the answer comes in pieces, or as one.
        """
        with server_errors(anthropic.AnthropicError, self._address):
            create: Any = self.client.messages.create
            arguments = partial(self._arguments, messages, request, streams)
            form, answer = await asend(create, arguments, _form(asked), anthropic.BadRequestError, self._refused)
            yield ServerPiece(form)
            if streams:
                async with answer:
                    reader = _Events()
                    async for event in answer:
                        yield reader.piece(event)
            else:
                yield _whole(answer)


def _form(asked: Asked) -> Form:
    if asked.kind == "choice":
        return Form({"output_config": _json_output(choice_schema(asked))}, answer="text_value")
    if asked.source is None:
        raise ModelError(
            "Anthropic's interface takes JSON Schemas and choices, no grammars",
            hint="ask for a schema; or serve a model with vLLM, SGLang, llama.cpp or structgen, which take grammars",
        )
    found = strict_schema(asked.source, ANTHROPIC)
    answer = answer_form(found.is_wrapped)
    tool = {"name": NAME, "description": "Takes the answer, as its input.", "input_schema": found.schema}
    fields = {"tools": [tool], "tool_choice": {"type": "tool", "name": NAME, "disable_parallel_tool_use": True}}
    as_tool = Form(fields, masks="none", answer=answer)
    if not found.is_strict:
        return as_tool
    # JSON outputs refuse some schemas of their subset, such as recursive ones.
    config = _json_output(found.schema)
    masks: Masks = "server" if found.is_exact else "wider"
    return Form({"output_config": config}, masks=masks, answer=answer, otherwise=lambda: as_tool)


def _json_output(schema: dict[str, Any]) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


def _without_system(messages: Sequence[Mapping[str, Any]]) -> tuple[Any, list[Mapping[str, Any]]]:
    """Return the system messages' content, and the other messages: Anthropic's interface has a field for it."""
    contents = [message["content"] for message in messages if message["role"] in ("system", "developer")]
    rest = [message for message in messages if message["role"] not in ("system", "developer")]
    if all(isinstance(content, str) for content in contents):
        return "\n\n".join(contents), rest
    parts = [[{"type": "text", "text": one}] if isinstance(one, str) else list(one) for one in contents]
    return [part for content in parts for part in content], rest


def _whole(answer: Any) -> ServerPiece:
    """Return a whole answer as a piece."""
    text = reasoning = ""
    for block in answer.content:
        if block.type == "text":
            text += block.text
        elif block.type == "tool_use":
            text += json.dumps(block.input, ensure_ascii=False)
        elif block.type == "thinking":
            reasoning += block.thinking
    usage = answer.usage
    return ServerPiece(
        None, text, reasoning, finish_reason=_reason(answer.stop_reason), usage=_usage(usage, usage.output_tokens)
    )


class _Events:
    """Reads the events of a streamed answer."""

    def __init__(self) -> None:
        self._began: Any = None

    def piece(self, event: Any) -> ServerPiece:
        """Return an event as a piece."""
        if event.type == "message_start":
            self._began = event.message.usage
        elif event.type == "content_block_delta":
            delta = event.delta
            text = getattr(delta, "text", None) or getattr(delta, "partial_json", None) or ""
            return ServerPiece(None, text, getattr(delta, "thinking", None) or "")
        elif event.type == "message_delta":
            usage = _usage(self._began, event.usage.output_tokens, event.usage)
            return ServerPiece(finish_reason=_reason(event.delta.stop_reason), usage=usage)
        return ServerPiece()


def _reason(stop_reason: str | None) -> str | None:
    return None if stop_reason is None else _REASONS.get(stop_reason, stop_reason)


def _usage(began: Any, output_tokens: int, ended: Any = None) -> ServerUsage:
    """Return the token counts; tokens that a cache holds are part of the prompt."""
    cached = (began.cache_creation_input_tokens or 0) + (began.cache_read_input_tokens or 0)
    details = getattr(began if ended is None else ended, "output_tokens_details", None)
    return ServerUsage(began.input_tokens + cached, output_tokens, 0 if details is None else details.thinking_tokens)
