"""Servers with OpenAI's interface, through the official `openai` client: `from_openai`.

    Asked -> form_for(server) -> fields of the request -> pieces of the answer

The server masks the answer if it is one that takes the constraint. The answer is validated in any case, and sent back
with its errors where `max_retries` allows.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from functools import partial
from typing import Any, get_args, overload

import openai

from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.models.asked import Asked, Form
from structgen.models.base import ServerLogprob, ServerPiece, ServerRequest, ServerUsage
from structgen.models.names import by_name
from structgen.models.servers.detection import kind_by_address, kind_by_models
from structgen.models.servers.errors import answer_without_choices, refuse_options, server_errors
from structgen.models.servers.forms import ServerKind, ServerName, form_for
from structgen.models.servers.sending import RefusedForms, asend, send
from structgen.schema.options import SchemaArguments

__all__ = ["AsyncOpenAIModel", "OpenAIModel", "from_openai"]

_COMMON = frozenset(
    {
        "max_new_tokens", "temperature", "top_p", "seed", "stop", "template", "frequency_penalty", "presence_penalty",
        "logit_bias", "logprobs",
    }
)  # fmt: skip
# The names of further options, in the fields of a request that OpenAI's interface does not have.
_MORE: dict[ServerKind, dict[str, str]] = {
    "vllm": {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"},
    "sglang": {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"},
    "structgen": {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"},
    "llama.cpp": {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repeat_penalty"},
}
_REFUSALS = (openai.BadRequestError, openai.UnprocessableEntityError)


@overload
def from_openai(
    client: openai.AsyncOpenAI, model: str, *, server: ServerName = ..., **parameters: Any
) -> AsyncOpenAIModel: ...
@overload
def from_openai(client: openai.OpenAI, model: str, *, server: ServerName = ..., **parameters: Any) -> OpenAIModel: ...
def from_openai(
    client: openai.OpenAI | openai.AsyncOpenAI, model: str, *, server: ServerName = "auto", **parameters: Any
) -> OpenAIModel | AsyncOpenAIModel:
    """Make a model behind a server usable with `generate`, `stream`, `batch`, `call`, `Generator` and `@fn`.

    A server that takes the schema or the grammar masks the answer; docs/servers.md lists the fields that each is sent.
    `Result.masks` says who masked an answer. It is validated here in any case, and `max_retries` sends it back with
    its errors. Not supported are `raw`, `tokenization`, YAML, and a `Reasoning` of your own.

    Args:
        client: an `openai.OpenAI`, with its `base_url` and its own retries; or an `openai.AsyncOpenAI` for `agenerate`,
            `astream`, `abatch`, `acall` and typed functions with `async def`, which then use no threads.
        model: the model's name on the server.
        server: "vllm", "sglang", "llama.cpp", "openai" or "structgen". "auto", the default, finds it out at the first
            request: by OpenAI's address, or by the server's list of models. A server that is not found gets schemas as
            `response_format`, and no grammars.
        parameters: more parameters of each request, such as `extra_body`. None omits one: `temperature=None` for models
            that accept none, or `max_completion_tokens=None, max_tokens=500` for older servers.

    Raises:
        TypeError: the arguments are not a client and a name.
        ValueError: the server is unknown.

    Example:
        >>> client = openai.OpenAI(base_url="http://localhost:8000/v1", api_key="-")          # doctest: +SKIP
        >>> model = structgen.from_openai(client, "Qwen/Qwen3-8B")                            # doctest: +SKIP
        >>> structgen.generate(model, "Alice is 34 years old.", Person, max_retries=2)        # doctest: +SKIP
        Person(name='Alice', age=34)
    """
    if not hasattr(client, "chat") or not isinstance(model, str):
        given = f"{type(client).__name__} and {type(model).__name__}"
        hint = f": openai.OpenAI(base_url={client!r}) makes one" if isinstance(client, str) else ""
        raise TypeError(f"from_openai takes an openai.OpenAI and the name of a model, not {given}{hint}")
    if server not in get_args(ServerName):
        raise ValueError(f"server must be one of {', '.join(get_args(ServerName))}, not {server!r}")
    if isinstance(client, openai.AsyncOpenAI):
        return AsyncOpenAIModel(client, model, server, parameters)
    return OpenAIModel(client, model, server, parameters)


class _Requests:
    """The requests to one server, and the reading of its answers.

    Attributes:
        name: the model's name that was given.
        vocabulary: bytes. Texts are followed byte by byte, to know which values of a stream are complete.
        reading: the default options for reading schemas.
        server: the server; None until it is known.
    """

    def __init__(self, client: Any, name: str, server: ServerName, parameters: dict[str, Any]) -> None:
        self.vocabulary = byte_vocabulary()
        self.reading: SchemaArguments = {"whitespace": "any", "property_order": "any"}
        self.name = name
        self.server = kind_by_address(str(client.base_url)) if server == "auto" else server
        self._address = client.base_url
        self._parameters = parameters
        self._refused = RefusedForms()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores; see `structgen.models.names.by_name`."""
        return by_name(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._address})"

    def _arguments(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: ServerRequest,
        server: ServerKind,
        streams: bool,
        form: Form,
    ) -> dict[str, Any]:
        """Return the arguments of `client.chat.completions.create`."""
        budget = "max_tokens" if server == "llama.cpp" else "max_completion_tokens"
        options: dict[str, Any] = {
            budget: request.max_new_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "frequency_penalty": request.frequency_penalty or None,
            "presence_penalty": request.presence_penalty or None,
            "logit_bias": {str(token): bias for token, bias in request.logit_bias.items()} or None,
            "logprobs": request.logprobs or None,
        }
        if streams:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        merged = {**options, **form.fields, **self._parameters, "messages": messages, "model": self.name}
        given = {name: value for name, value in merged.items() if value is not None}
        extra = self._extra_body(request, form, server)
        return {**given, "extra_body": extra} if extra else given

    def _extra_body(self, request: ServerRequest, form: Form, server: ServerKind) -> dict[str, Any]:
        """Return the fields of a request that the client does not know."""
        body: dict[str, Any] = {}
        for option, field in _MORE.get(server, {}).items():
            value = getattr(request, option)
            if value is not None and (option, value) != ("repetition_penalty", 1):
                body[field] = value
        own = self._parameters.get("extra_body") or {}
        body |= {**form.extra, **own}
        if "structgen" in form.extra and isinstance(own.get("structgen"), Mapping):
            body["structgen"] = {**form.extra["structgen"], **own["structgen"]}
        if request.template:  # the name by which vLLM, SGLang and llama.cpp's server read them
            body["chat_template_kwargs"] = {**body.get("chat_template_kwargs", {}), **request.template}
        return body

    def _check(self, request: ServerRequest, server: ServerKind) -> None:
        name = "a server of OpenAI's interface" if server in ("openai", "unknown") else server
        refuse_options(request, _COMMON | set(_MORE.get(server, {})), name)


class OpenAIModel(_Requests):
    """A `structgen.models.base.Server` over OpenAI's interface; see `from_openai`.

    Attributes:
        client: the client that was given.
    """

    def __init__(self, client: openai.OpenAI, name: str, server: ServerName, parameters: dict[str, Any]) -> None:
        super().__init__(client, name, server, parameters)
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
        with server_errors(openai.OpenAIError, self._address):
            server = self._server()
            self._check(request, server)
            create: Any = self.client.chat.completions.create
            arguments = partial(self._arguments, messages, request, server, streams)
            form, answer = send(create, arguments, form_for(server, asked), _REFUSALS, self._refused)
            yield ServerPiece(form)
            if streams:
                with answer:
                    yield from map(_piece, answer)
            else:
                yield _piece(answer)

    def _server(self) -> ServerKind:
        """Return the server, which is asked for its models once."""
        if self.server is None:
            try:
                listed = self.client.with_options(max_retries=0).models.list().data
            except openai.APIStatusError:  # it has no list; a wrong key is found by the request itself
                return "unknown"
            self.server = kind_by_models(listed, self.name)
        return self.server


class AsyncOpenAIModel(_Requests):
    """A `structgen.models.base.AsyncServer` over OpenAI's interface; see `from_openai`.

    Attributes:
        client: the client that was given.
    """

    def __init__(self, client: openai.AsyncOpenAI, name: str, server: ServerName, parameters: dict[str, Any]) -> None:
        super().__init__(client, name, server, parameters)
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
        with server_errors(openai.OpenAIError, self._address):
            server = await self._server()
            self._check(request, server)
            create: Any = self.client.chat.completions.create
            arguments = partial(self._arguments, messages, request, server, streams)
            form, answer = await asend(create, arguments, form_for(server, asked), _REFUSALS, self._refused)
            yield ServerPiece(form)
            if streams:
                async with answer:
                    async for chunk in answer:
                        yield _piece(chunk)
            else:
                yield _piece(answer)

    async def _server(self) -> ServerKind:
        """Return the server, which is asked for its models once."""
        if self.server is None:
            try:
                listed = (await self.client.with_options(max_retries=0).models.list()).data
            except openai.APIStatusError:
                return "unknown"
            self.server = kind_by_models(listed, self.name)
        return self.server


def _piece(answer: Any) -> ServerPiece:
    """Return a chunk of a streamed answer, or a whole answer, as a piece.

    Raises:
        ServerError: it has no choices, as some gateways say that a request failed.
    """
    if answer.choices is None:
        raise answer_without_choices(getattr(answer, "error", None))
    text = reasoning = refusal = ""
    reasons: list[str] = []
    logprobs: list[ServerLogprob] = []
    for choice in answer.choices:
        message = choice.message if hasattr(choice, "message") else choice.delta
        text += (message.content or "") + "".join(map(_tool_input, message.tool_calls or ()))
        reasoning += getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""
        refusal += getattr(message, "refusal", None) or ""
        reasons += [choice.finish_reason] if choice.finish_reason else []
        logprobs += _logprobs(choice.logprobs)
    finish_reason = reasons[-1] if reasons else None
    return ServerPiece(None, text, reasoning, refusal, finish_reason, _usage(answer.usage), logprobs)


def _tool_input(call: Any) -> str:
    """Return the input of a call of a custom tool; in a stream the client has no type of its own for it."""
    custom = getattr(call, "custom", None)
    found = custom.get("input") if isinstance(custom, dict) else getattr(custom, "input", None)
    return found or ""


def _logprobs(given: Any) -> list[ServerLogprob]:
    tokens = (given.content or ()) if given is not None else ()
    return [
        ServerLogprob(token.token.encode() if token.bytes is None else bytes(token.bytes), token.logprob)
        for token in tokens
    ]


def _usage(usage: Any) -> ServerUsage | None:
    if usage is None:
        return None
    details = usage.completion_tokens_details
    return ServerUsage(
        usage.prompt_tokens, usage.completion_tokens, (details.reasoning_tokens if details else None) or 0
    )
