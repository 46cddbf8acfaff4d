"""The functions of the package: `generate`, `stream` and their `async` twins, thin over `Generator`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from structgen.generation.batches import NewSession
from structgen.generation.generator import Generator
from structgen.generation.runs import Result
from structgen.generation.scheduler import run_shared
from structgen.generation.settings import OPTION_DEFAULTS, GeneratorOptions
from structgen.generation.streams import AsyncStream, Stream
from structgen.limits import Limits
from structgen.models.base import AnyModel, AsyncServer, Prompt
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from structgen.compilation.schemas import FormatOrConstraint, Texts

__all__ = ["agenerate", "astream", "generate", "stream"]

T = TypeVar("T")

_shows_options = shows_options(GeneratorOptions, OPTION_DEFAULTS)


@overload
def generate(
    model: AnyModel,
    prompt: Prompt,
    schema: TypeForm[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> T: ...


@overload
def generate(
    model: AnyModel,
    prompt: Prompt,
    schema: FormatOrConstraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> T: ...


@overload
def generate(
    model: AnyModel,
    prompt: Prompt,
    schema: Texts,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> str: ...


@overload
def generate(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Any: ...


@_shows_options
def generate(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> Any:
    """Run a model on a prompt, and return a validated value of the schema.

    Args:
        model: from `structgen.load(…)`, `structgen.from_transformers(…)` or the like; any
            `structgen.models.base.Model`.
        prompt: a text (one user message, where the model has a chat template) or chat messages.
        schema: a Pydantic model or any type that Pydantic supports, a JSON Schema as a dict, a `Grammar`,
            `json_lines(…)`, `template(…)`, or a result of `structgen.compile`.
        limits: bounds on what the schema may cost.
        options: those of `structgen.settings.GenerationOptions`, such as `max_new_tokens`, `temperature`, `seed`,
            `system`, `examples`, `reasoning`, `max_retries`; and those of `structgen.settings.ConstraintOptions`, such
            as `format`, `whitespace`, `property_order`, `tokenization`. These classes have the whole lists.

    Returns:
        An instance for a model or type, JSON data for a JSON Schema, the text for a grammar.

    Raises:
        SchemaError, GrammarError: the schema cannot be used.
        IncompleteOutputError: the token budget ended before the text did; with the values that were complete.
        ValidationFailedError: every attempt fits the schema, but a validator written in Python refused it.
        LimitExceededError: a bound of `limits` was passed.

    Example:
        >>> model = structgen.load("smollm2")                                                 # doctest: +SKIP
        >>> structgen.generate(model, "Is 'I love it' positive?", Literal["yes", "no"])       # doctest: +SKIP
        'yes'
    """
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    return generator(prompt)


@overload
async def agenerate(
    model: AnyModel,
    prompt: Prompt,
    schema: TypeForm[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> T: ...


@overload
async def agenerate(
    model: AnyModel,
    prompt: Prompt,
    schema: FormatOrConstraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> T: ...


@overload
async def agenerate(
    model: AnyModel,
    prompt: Prompt,
    schema: Texts,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> str: ...


@overload
async def agenerate(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Any: ...


@_shows_options
async def agenerate(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> Any:
    """Run `generate` in a thread, and await it. Calls that run at once share the passes of the model.

    A server with an asynchronous client, such as `openai.AsyncOpenAI`, is awaited without threads. If the awaiting task
    is cancelled, so is the request.

    The arguments and errors are those of `structgen.generate`.

    Example:
        >>> names = await asyncio.gather(*(agenerate(model, text, Name) for text in texts))   # doctest: +SKIP
    """
    if isinstance(model, AsyncServer):
        awaited: Generator[Any] = Generator(model, schema, limits=limits, **options)
        return (await awaited.arun(prompt)).value

    def work(new_session: NewSession, cancelled: threading.Event) -> Result[Any]:
        generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
        return generator.begin(prompt, new_session=new_session).to_end(cancelled)

    return (await run_shared(model, work)).value


@overload
def stream(
    model: AnyModel,
    prompt: Prompt,
    schema: TypeForm[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Stream[T]: ...


@overload
def stream(
    model: AnyModel,
    prompt: Prompt,
    schema: FormatOrConstraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Stream[T]: ...


@overload
def stream(
    model: AnyModel,
    prompt: Prompt,
    schema: Texts,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Stream[str]: ...


@overload
def stream(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Stream[Any]: ...


@_shows_options
def stream(
    model: AnyModel, prompt: Prompt, schema: Any, *, limits: Limits | None = None, **options: Unpack[GeneratorOptions]
) -> Stream[Any]:
    """Run a model on a prompt, and show the value while it grows.

    Args:
        model: see `structgen.generate`.
        prompt: a text or messages.
        schema: the schema of the answer.
        limits: bounds on what the schema may cost.
        options: see `structgen.generate`.

    Returns:
        A context manager; see `Stream`.

    Raises:
        SchemaError, GrammarError: the schema cannot be used. Later errors are raised by the iteration.

    Example:
        >>> with structgen.stream(model, "Alice Smith is a 34 year old nurse.", Person) as s:   # doctest: +SKIP
        ...     for part in s:
        ...         print(part)
        ...     person = s.final()
        Person(name=None, age=None)
        Person(name='Alice', age=None)
        Person(name='Alice Smith', age=None)
        Person(name='Alice Smith', age=34)
    """
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    return generator.stream(prompt)


@overload
def astream(
    model: AnyModel,
    prompt: Prompt,
    schema: TypeForm[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> AsyncStream[T]: ...


@overload
def astream(
    model: AnyModel,
    prompt: Prompt,
    schema: FormatOrConstraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> AsyncStream[T]: ...


@overload
def astream(
    model: AnyModel,
    prompt: Prompt,
    schema: Texts,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> AsyncStream[str]: ...


@overload
def astream(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> AsyncStream[Any]: ...


@_shows_options
def astream(
    model: AnyModel, prompt: Prompt, schema: Any, *, limits: Limits | None = None, **options: Unpack[GeneratorOptions]
) -> AsyncStream[Any]:
    """Run a model as `stream` does, for asyncio: `async with structgen.astream(…) as s: async for part in s: …`.

    The arguments are those of `structgen.stream`.

    Example:
        >>> async with structgen.astream(model, text, Person) as s:                           # doctest: +SKIP
        ...     async for part in s:
        ...         await websocket.send_json(part.model_dump(mode="json"))
    """

    def begin(new_session: NewSession) -> Stream[Any]:
        generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
        return generator.stream(prompt, new_session=new_session)

    return AsyncStream(model, begin)
