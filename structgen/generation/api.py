"""The functions of the package, thin over `Generator`: `generate`, `stream`, `batch`, their `async` twins; `sample`."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, TypeVar, Unpack, cast, overload

from structgen.compilation.constraint import Constraint
from structgen.generation.aligned.answer import AlignedAnswer
from structgen.generation.aligned.samples import Samples
from structgen.generation.awaited import await_rows
from structgen.generation.batches import BatchSettings, NewSession, answer_rows, prompt_list
from structgen.generation.generator import Generator, begin_rows
from structgen.generation.runs import Result, in_thread
from structgen.generation.scheduler import run_shared
from structgen.generation.settings import BATCH_SIZE, GeneratorOptions
from structgen.generation.streams import AsyncStream, Stream
from structgen.limits import Limits
from structgen.models.base import AnyModel, AsyncServer, Model, Prompt

__all__ = ["abatch", "agenerate", "astream", "batch", "generate", "sample", "stream"]

T = TypeVar("T")


@overload
def generate(
    model: AnyModel,
    prompt: Prompt,
    schema: type[T] | Constraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> T: ...


@overload
def generate(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Any: ...


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
        options: see `structgen.settings.GenerationOptions`: `max_new_tokens`, `temperature`, `top_p`, `top_k`, `seed`,
            `stop`, `raw`, `system`, `examples`, `describe_schema`, `template`, `reasoning`, `max_retries`, `validate`,
            `context`; and `ConstraintOptions`: `tokenization`, `whitespace`, `property_order`, `formats`, `draft`,
            `lenient`, `registry`, `base_uri`.

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


def batch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: Any,
    *,
    batch_size: int = BATCH_SIZE,
    return_exceptions: bool = False,
    progress: bool = False,
    results: bool = False,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> list[Any]:
    """Answer many prompts, in batched passes of the model.

    Args:
        model: see `structgen.generate`. Models without batched passes, among them those with sliding windows or
            recurrent states, answer one prompt after the other.
        prompts: texts or lists of messages.
        schema: one schema for all prompts, or a list with one for each.
        batch_size: the number of rows that the model reads together at most. When a row is done, the next prompt takes
            its place.
        return_exceptions: return an error as the result of its row, as `asyncio.gather` does; by default the first one
            is raised.
        progress: show a bar on stderr; needs tqdm.
        results: return the `Result` of each row, with its text and its cost, in place of its value.
        limits: bounds on what the schemas may cost.
        options: see `structgen.generate`. With a `seed` each row has its own: seed + index.

    Returns:
        The values, in the order of the prompts.

    Raises:
        TypeError: a single prompt was given.
        ValueError: the list of schemas is not as long as the list of prompts, or `batch_size` is less than 1.
        SchemaError, GrammarError: a schema cannot be used.
        IncompleteOutputError, ValidationFailedError, GenerationError: the first row that fails, by its error.

    Example:
        >>> structgen.batch(model, ["I love it.", "Awful."], Literal["good", "bad"])          # doctest: +SKIP
        ['good', 'bad']
    """
    settings = BatchSettings(batch_size, return_exceptions, progress, results)
    return _answer(model, prompts, schema, settings, limits, options)


async def abatch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: Any,
    *,
    batch_size: int = BATCH_SIZE,
    return_exceptions: bool = False,
    progress: bool = False,
    results: bool = False,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> list[Any]:
    """Run `batch` in a thread, and await it. If it is cancelled, the model stops after the pass under way.

    The arguments and errors are those of `structgen.batch`.

    Example:
        >>> moods = await structgen.abatch(model, reviews, Literal["good", "bad"])            # doctest: +SKIP
    """
    settings = BatchSettings(batch_size, return_exceptions, progress, results)
    if isinstance(model, AsyncServer):
        rows = prompt_list(prompts)
        begin_row = begin_rows(_generators(model, schema, len(rows), limits, options), rows, options.get("seed"))
        return await await_rows(begin_row, len(rows), settings)
    return await in_thread(lambda cancelled: _answer(model, prompts, schema, settings, limits, options, cancelled))


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


@overload
def sample(
    model: Model,
    prompt: Prompt,
    schema: type[T] | Constraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Samples[T]: ...


@overload
def sample(
    model: Model, prompt: Prompt, schema: Any, *, limits: Limits | None = ..., **options: Unpack[GeneratorOptions]
) -> Samples[Any]: ...


def sample(
    model: Model, prompt: Prompt, schema: Any, *, limits: Limits | None = None, **options: Unpack[GeneratorOptions]
) -> Samples[Any]:
    """Draw several answers from the model's own distribution over whole answers that fit the schema, with weights.

    `generate` masks token by token, which changes the distribution: an answer that begins well and ends badly is drawn
    too often. The weights correct that. Answers that a validator refuses are left out.

    Args:
        model: a local model.
        prompt: see `structgen.generate`.
        schema: see `structgen.generate`.
        limits: bounds on what the schema may cost.
        options: see `structgen.settings.GenerationOptions`: `sampling` ("smc" by default, "awrs" or "asap"),
            `particles` (16 by default), `seed`, `temperature` (1 by default), `max_new_tokens`, `on_budget`,
            `reasoning`, and those of the prompt and the schema. `top_p`, `top_k`, `min_p`, `stop`, `max_retries`,
            `logprobs` and `num_beams` are refused.

    Raises:
        ValueError: an option that is refused, or out of its range.
        ModelError: the model is behind a server, or gives all answers the probability 0.
        SchemaError, GrammarError: the schema cannot be used.
        IncompleteOutputError: no answer is complete within the budget.
        ValidationFailedError: a validator refuses all answers.
        LimitExceededError: a bound of `limits` was passed.

    Example:
        >>> samples = structgen.sample(model, "Ann is 34.", Person, particles=32, seed=0)     # doctest: +SKIP
        >>> samples.best                                                                      # doctest: +SKIP
        Person(name='Ann', age=34)
        >>> samples.shares("/age")                                                            # doctest: +SKIP
        [(34, 0.91), (3, 0.09)]
    """
    if options.get("sampling") is None:
        options = {**options, "sampling": "smc"}
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    run = generator.begin(prompt)
    result = run.to_end(threading.Event())
    answer = cast(AlignedAnswer, run.decoder)
    return Samples(answer.items, answer.log_normalizer, result.usage, result.is_json)


def _answer(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: Any,
    settings: BatchSettings,
    limits: Limits | None,
    options: GeneratorOptions,
    cancelled: threading.Event | None = None,
) -> list[Any]:
    rows = prompt_list(prompts)
    begin_row = begin_rows(_generators(model, schema, len(rows), limits, options), rows, options.get("seed"))
    return answer_rows(model, begin_row, len(rows), settings, cancelled=cancelled)


def _generators(
    model: AnyModel, schema: Any, count: int, limits: Limits | None, options: GeneratorOptions
) -> list[Generator[Any]]:
    """Return the generator of each row."""
    if not isinstance(schema, list):
        return [Generator(model, schema, limits=limits, **options)] * count
    if len(schema) != count:
        raise ValueError(f"got {len(schema)} schemas for {count} prompts")
    return [Generator(model, one, limits=limits, **options) for one in schema]
