"""Servers with OpenAI's interface, through the official `openai` client: `from_openai`.

Nothing is masked here. The schema is sent as `response_format`, and the server follows it as well as it can. The answer
is validated afterwards, and sent back with its errors where `max_retries` allows.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import openai

from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.models.base import ServerPiece, ServerRequest, ServerUsage
from structgen.models.names import by_name
from structgen.schema.options import SchemaArguments

__all__ = ["OpenAIModel", "from_openai"]


def from_openai(client: openai.OpenAI, model: str, **parameters: Any) -> OpenAIModel:
    """Make a model behind a server usable with `generate`, `stream`, `batch`, `call`, `Generator` and `@fn`.

    The server decides how it follows the schema, and its answers may break it. They are validated, and `max_retries`
    sends them back. Supported are `max_new_tokens`, `temperature`, `top_p`, `seed`, `stop`, `frequency_penalty`,
    `presence_penalty`, `logit_bias`, and everything that is done with messages. Not supported are `top_k`, `min_p`,
    `repetition_penalty`, `logprobs`, `raw`, `tokenization`, grammars, and a `Reasoning` of your own.

    Args:
        client: an `openai.OpenAI`, with its `base_url` and its own retries.
        model: the model's name on the server.
        parameters: more parameters of each request, such as `extra_body`. None omits one: `temperature=None` for models
            that accept none, or `max_completion_tokens=None, max_tokens=500` for older servers.

    Raises:
        TypeError: the arguments are not a client and a name, or the client is asynchronous. (`agenerate` and `astream`
            use the synchronous one, in threads.)

    Example:
        >>> client = openai.OpenAI(base_url="http://localhost:8000/v1", api_key="-")          # doctest: +SKIP
        >>> model = structgen.from_openai(client, "Qwen/Qwen3-8B")                            # doctest: +SKIP
        >>> structgen.generate(model, "Alice is 34 years old.", Person, max_retries=2)        # doctest: +SKIP
        Person(name='Alice', age=34)
    """
    if isinstance(client, openai.AsyncOpenAI):
        raise TypeError("from_openai takes an openai.OpenAI, not an AsyncOpenAI: agenerate and astream use threads")
    if not hasattr(client, "chat") or not isinstance(model, str):
        given = f"{type(client).__name__} and {type(model).__name__}"
        raise TypeError(f"from_openai takes an openai.OpenAI and the name of a model, not {given}")
    return OpenAIModel(client, model, parameters)


class OpenAIModel:
    """A `structgen.models.base.Server` over OpenAI's interface; see `from_openai`.

    Attributes:
        client, name: the client and the model's name that were given.
        vocabulary: bytes. Texts are followed byte by byte, to know which values of a stream are complete.
        reading: the default options for reading schemas.
    """

    def __init__(self, client: openai.OpenAI, name: str, parameters: dict[str, Any]) -> None:
        self.vocabulary = byte_vocabulary()
        self.reading: SchemaArguments = {"whitespace": "any", "property_order": "any"}
        self.client = client
        self.name = name
        self._parameters = parameters

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores; see `structgen.models.names.by_name`."""
        return by_name(self)

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r} at {self.client.base_url})"

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: ServerRequest,
        response_format: Mapping[str, Any],
        *,
        streams: bool,
    ) -> Generator[ServerPiece]:
        """Send one request; see `structgen.models.base.Server.ask`.

        Args:
            messages: chat messages.
            request: how the server samples.
            response_format: the schema.
            streams: whether the answer comes in pieces, or as one.
        """
        options: dict[str, Any] = {
            "max_completion_tokens": request.max_new_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "frequency_penalty": request.frequency_penalty or None,
            "presence_penalty": request.presence_penalty or None,
            "logit_bias": {str(token): bias for token, bias in request.logit_bias.items()} or None,
        }
        if streams:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        given = {name: value for name, value in (options | self._parameters).items() if value is not None}
        if request.template:  # the name by which vLLM, SGLang and llama.cpp's server read them
            body = given.get("extra_body") or {}
            variables = {**body.get("chat_template_kwargs", {}), **request.template}
            given["extra_body"] = {**body, "chat_template_kwargs": variables}
        create: Any = self.client.chat.completions.create
        answer = create(model=self.name, messages=messages, response_format=response_format, **given)
        if streams:
            with answer:
                yield from map(_piece, answer)
        else:
            yield _piece(answer)


def _piece(answer: Any) -> ServerPiece:
    """Return a chunk of a streamed answer, or a whole answer, as a piece."""
    text = reasoning = refusal = ""
    reasons: list[str] = []
    for choice in answer.choices:
        message = choice.message if hasattr(choice, "message") else choice.delta
        text += message.content or ""
        reasoning += getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""
        refusal += getattr(message, "refusal", None) or ""
        reasons += [choice.finish_reason] if choice.finish_reason else []
    return ServerPiece(text, reasoning, refusal, reasons[-1] if reasons else None, _usage(answer.usage))


def _usage(usage: Any) -> ServerUsage | None:
    if usage is None:
        return None
    details = usage.completion_tokens_details
    return ServerUsage(
        usage.prompt_tokens, usage.completion_tokens, (details.reasoning_tokens if details else None) or 0
    )
