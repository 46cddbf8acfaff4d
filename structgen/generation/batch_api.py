"""`batch` and `abatch`: many prompts, thin over `Generator`."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from structgen.generation.awaited import await_rows
from structgen.generation.batches import BatchSettings, answer_rows, prompt_list
from structgen.generation.generator import Generator, begin_rows
from structgen.generation.runs import Result, in_thread
from structgen.generation.settings import BATCH_SIZE, OPTION_DEFAULTS, GeneratorOptions
from structgen.limits import Limits
from structgen.models.base import AnyModel, AsyncServer, Prompt
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from structgen.compilation.schemas import FormatOrConstraint

__all__ = ["abatch", "batch"]

T = TypeVar("T")

_shows_options = shows_options(GeneratorOptions, OPTION_DEFAULTS)


@overload
def batch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[False] = ...,
    progress: bool = ...,
    results: Literal[False] = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[T]: ...


@overload
def batch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: FormatOrConstraint[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[False] = ...,
    progress: bool = ...,
    results: Literal[False] = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[T]: ...


@overload
def batch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[True],
    progress: bool = ...,
    results: Literal[False] = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[T | Exception]: ...


@overload
def batch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[False] = ...,
    progress: bool = ...,
    results: Literal[True],
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[Result[T]]: ...


@overload
def batch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[True],
    progress: bool = ...,
    results: Literal[True],
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[Result[T] | Exception]: ...


@overload
def batch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: Any,
    *,
    batch_size: int = ...,
    return_exceptions: bool = ...,
    progress: bool = ...,
    results: bool = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[Any]: ...


@_shows_options
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


@overload
async def abatch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[False] = ...,
    progress: bool = ...,
    results: Literal[False] = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[T]: ...


@overload
async def abatch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: FormatOrConstraint[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[False] = ...,
    progress: bool = ...,
    results: Literal[False] = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[T]: ...


@overload
async def abatch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[True],
    progress: bool = ...,
    results: Literal[False] = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[T | Exception]: ...


@overload
async def abatch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[False] = ...,
    progress: bool = ...,
    results: Literal[True],
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[Result[T]]: ...


@overload
async def abatch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: TypeForm[T],
    *,
    batch_size: int = ...,
    return_exceptions: Literal[True],
    progress: bool = ...,
    results: Literal[True],
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[Result[T] | Exception]: ...


@overload
async def abatch(
    model: AnyModel,
    prompts: Iterable[Prompt],
    schema: Any,
    *,
    batch_size: int = ...,
    return_exceptions: bool = ...,
    progress: bool = ...,
    results: bool = ...,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> list[Any]: ...


@_shows_options
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
