"""Servers with OpenAI's interface, through the official `openai` client: `from_openai`.

Nothing is masked here: the schema is sent as `response_format`, the server keeps to it as well as it can, and what
comes back is validated, and sent back with its errors where `max_retries` allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import openai

from structgen.compilation.constraint import Constraint
from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.schema.options import SchemaArguments

if TYPE_CHECKING:
    from structgen.generation.server_run import ServerRun
    from structgen.generation.settings import Settings
    from structgen.models.base import Prompt

__all__ = ["OpenAIModel", "from_openai"]

T = TypeVar("T")


def from_openai(client: openai.OpenAI, model: str, **parameters: Any) -> OpenAIModel:
    """Makes a model behind a server usable with `generate`, `stream`, `batch`, `call`, `Generator` and `@fn`.

    The server decides how it keeps to the schema, and answers may break it: they are validated, and `max_retries` sends
    them back. Only what the interface has works: `max_new_tokens`, `temperature`, `top_p`, `seed`, `stop`, and all that
    is done with messages; not `top_k`, `raw`, `tokenization`, grammars, or a `Reasoning` of your own.

    Args:
        client: an `openai.OpenAI`, with its `base_url` and retries of its own.
        model: the model's name there.
        parameters: more for each request, such as `extra_body`; None leaves one out, as `temperature=None` for models
            that take none, or `max_completion_tokens=None, max_tokens=500` for older servers.

    Raises:
        TypeError: no client and a name; or an asynchronous client. (`agenerate` and `astream` work with the other one,
            in threads.)

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
    """A model behind a server; see `from_openai`.

    Attributes:
        client, name: what it was made of.
        vocabulary: bytes: texts are followed character by character, to tell what is complete in a stream.
        reading: how schemas are read where nothing else is asked for.
    """

    def __init__(self, client: openai.OpenAI, name: str, parameters: dict[str, Any]) -> None:
        self.vocabulary = byte_vocabulary()
        self.reading: SchemaArguments = {"whitespace": "any", "property_order": "any"}
        self.client = client
        self.name = name
        self._parameters = parameters

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r} at {self.client.base_url})"

    def begin(self, constraint: Constraint[T], prompt: Prompt, settings: Settings, *, streams: bool) -> ServerRun[T]:
        """A run at its beginning.

        Raises:
            ModelError: a grammar, or an option that the interface does not have.
        """
        from structgen.generation.server_run import ServerRun

        return ServerRun(self, constraint, prompt, settings, streams=streams)

    def ask(self, messages: Any, settings: Settings, sent: dict[str, Any], *, streams: bool) -> Any:
        """One request."""
        options: dict[str, Any] = {
            "max_completion_tokens": settings.max_new_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": settings.seed,
            "stop": list(settings.stop_texts()) or None,
        }
        if streams:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        given = {name: value for name, value in (options | self._parameters).items() if value is not None}
        create: Any = self.client.chat.completions.create
        return create(model=self.name, messages=messages, response_format=sent, **given)
