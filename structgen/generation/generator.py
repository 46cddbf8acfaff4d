"""`Generator`: a model and a schema, ready to turn prompts into validated values.

It decides what kind of run a prompt gets: a `LocalRun`, whose answer is masked, or a `ServerRun`, whose answer is
validated. `structgen.generation.api` has the functions above it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, cast, overload

from structgen.compilation.compiler import compile
from structgen.compilation.constraint import Constraint
from structgen.errors import ModelError
from structgen.generation.awaited import await_rows
from structgen.generation.batches import BatchSettings, BeginRow, answer_rows, prompt_list
from structgen.generation.decoder import Observer
from structgen.generation.runs import LocalRun, Result, Run, in_thread
from structgen.generation.scheduler import run_shared
from structgen.generation.server_run import ServerRun
from structgen.generation.settings import (
    BATCH_SIZE,
    LOCAL_READING,
    OPTION_DEFAULTS,
    ConstraintOptions,
    GenerationOptions,
    GeneratorOptions,
    Settings,
    check_names,
    split_options,
)
from structgen.limits import Limits
from structgen.models.base import AnyModel, AsyncServer, Prompt, RemoteModel, Session, check_model
from structgen.output_types.grammar import Grammar
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from structgen.compilation.schemas import FormatOrConstraint, Texts
    from structgen.generation.streams import AsyncStream, Stream

__all__ = ["Generator", "begin_rows"]

T = TypeVar("T")

_overrides = shows_options(GenerationOptions, {})


class Generator(Generic[T]):
    """A model and a schema, ready for many prompts. Safe to use from several threads.

    It can be pickled if its model was made by `structgen.load`: the other process loads the model by its name, and
    compiles the schema again. A copy shares the model and the compiled schema.

    Args:
        model: from `structgen.load(…)`, `structgen.from_transformers(…)` or the like; any
            `structgen.models.base.Model`.
        schema: a Pydantic model or any type that Pydantic supports, a JSON Schema as a dict, a `Grammar`,
            `json_lines(…)`, `template(…)`, or a result of `structgen.compile` for the model's vocabulary.
        limits: bounds on what the schema may cost.
        options: see `structgen.settings.GenerationOptions`, which each run may override, and `ConstraintOptions`.

    Attributes:
        model: the model.
        constraint: the compiled schema.

    Raises:
        SchemaError, GrammarError, LimitExceededError: see `structgen.compile`.
        TypeError, ValueError: an unknown option, or a value out of its range.

    Example:
        >>> extract = structgen.Generator(model, Person, max_new_tokens=200)                  # doctest: +SKIP
        >>> extract("Alice is a 34 year old nurse.")                                          # doctest: +SKIP
        Person(name='Alice', age=34, occupation='nurse')
    """

    @overload
    def __init__(
        self,
        model: AnyModel,
        schema: TypeForm[T],
        *,
        limits: Limits | None = ...,
        **options: Unpack[GeneratorOptions],
    ) -> None: ...
    @overload
    def __init__(
        self,
        model: AnyModel,
        schema: FormatOrConstraint[T],
        *,
        limits: Limits | None = ...,
        **options: Unpack[GeneratorOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: Generator[str],
        model: AnyModel,
        schema: Texts,
        *,
        limits: Limits | None = ...,
        **options: Unpack[GeneratorOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: Generator[Any],
        model: AnyModel,
        schema: Any,
        *,
        limits: Limits | None = ...,
        **options: Unpack[GeneratorOptions],
    ) -> None: ...
    @shows_options(GeneratorOptions, OPTION_DEFAULTS)
    def __init__(
        self,
        model: AnyModel,
        schema: Any,
        *,
        limits: Limits | None = None,
        **options: Unpack[GeneratorOptions],
    ) -> None:
        running, reading = split_options(cast(dict[str, Any], options))
        self._settings = Settings(**running)
        self.model = model
        self.constraint: Constraint[T] = _constraint_for(model, schema, limits, cast(ConstraintOptions, reading))

    def __deepcopy__(self, memo: Any) -> Generator[T]:
        """Return another generator with the same model, constraint and settings."""
        return copy.copy(self)

    def __repr__(self) -> str:
        return f"Generator({self.model!r}, {self.constraint!r})"

    @_overrides
    def __call__(self, prompt: Prompt, **options: Unpack[GenerationOptions]) -> T:
        """Run the model on one prompt, and return the value alone; see `run`."""
        return self.run(prompt, **options).value

    @_overrides
    def run(
        self,
        prompt: Prompt,
        *,
        observe: Callable[[list[int]], Observer] | None = None,
        **options: Unpack[GenerationOptions],
    ) -> Result[T]:
        """Run the model on one prompt.

        Args:
            prompt: a text (one user message, where the model has a chat template) or chat messages.
            observe: see `begin`.
            options: override those of the generator.

        Raises:
            IncompleteOutputError: the token budget ended before the text did; with the values that were complete.
            ValidationFailedError: every attempt fits the schema, but a validator written in Python refused it.
            GenerationError: the prompt does not fit the model.
            LimitExceededError: a bound of `limits` was passed on the way.
        """
        return self.begin(prompt, observe=observe, **options).to_end(threading.Event())

    @_overrides
    async def arun(self, prompt: Prompt, **options: Unpack[GenerationOptions]) -> Result[T]:
        """Run the model in a thread, and await it. If it is cancelled, the model stops after the pass under way.

        Calls that run at the same time share the passes of a model with batched passes; so do `structgen.agenerate`,
        `structgen.acall` and the `async` streams of that model. A server with an asynchronous client is awaited without
        threads.
        """
        if isinstance(self.model, AsyncServer):
            return await cast(ServerRun[T], self.begin(prompt, **options)).ato_end()
        return await run_shared(
            self.model, lambda make, cancelled: self.begin(prompt, new_session=make, **options).to_end(cancelled)
        )

    @_overrides
    def stream(
        self,
        prompt: Prompt,
        *,
        new_session: Callable[[], Session] | None = None,
        **options: Unpack[GenerationOptions],
    ) -> Stream[T]:
        """Return the value while it grows; see `structgen.stream`, and `begin` for `new_session`."""
        from structgen.generation.streams import Stream

        if self._merged(options).is_aligned:
            raise ValueError("sampling and num_beams compare whole answers: there is nothing to stream; use generate")
        return Stream(self.begin(prompt, new_session=new_session, streams=True, **options), self.constraint)

    @_overrides
    def astream(self, prompt: Prompt, **options: Unpack[GenerationOptions]) -> AsyncStream[T]:
        """Return the value while it grows; see `structgen.astream`."""
        from structgen.generation.streams import AsyncStream

        return AsyncStream(self.model, lambda make: self.stream(prompt, new_session=make, **options))

    @overload
    def batch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[False] = ...,
        progress: bool = ...,
        results: Literal[False] = ...,
        **options: Unpack[GenerationOptions],
    ) -> list[T]: ...
    @overload
    def batch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[True],
        progress: bool = ...,
        results: Literal[False] = ...,
        **options: Unpack[GenerationOptions],
    ) -> list[T | Exception]: ...
    @overload
    def batch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[False] = ...,
        progress: bool = ...,
        results: Literal[True],
        **options: Unpack[GenerationOptions],
    ) -> list[Result[T]]: ...
    @overload
    def batch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[True],
        progress: bool = ...,
        results: Literal[True],
        **options: Unpack[GenerationOptions],
    ) -> list[Result[T] | Exception]: ...
    @overload
    def batch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: bool = ...,
        progress: bool = ...,
        results: bool = ...,
        **options: Unpack[GenerationOptions],
    ) -> list[Any]: ...
    @_overrides
    def batch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = BATCH_SIZE,
        return_exceptions: bool = False,
        progress: bool = False,
        results: bool = False,
        **options: Unpack[GenerationOptions],
    ) -> list[Any]:
        """Return the values of many prompts, in batched passes of the model; see `structgen.batch`."""
        settings = BatchSettings(batch_size, return_exceptions, progress, results)
        return self._batch(prompts, settings, options, threading.Event())

    @overload
    async def abatch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[False] = ...,
        progress: bool = ...,
        results: Literal[False] = ...,
        **options: Unpack[GenerationOptions],
    ) -> list[T]: ...
    @overload
    async def abatch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[True],
        progress: bool = ...,
        results: Literal[False] = ...,
        **options: Unpack[GenerationOptions],
    ) -> list[T | Exception]: ...
    @overload
    async def abatch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[False] = ...,
        progress: bool = ...,
        results: Literal[True],
        **options: Unpack[GenerationOptions],
    ) -> list[Result[T]]: ...
    @overload
    async def abatch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: Literal[True],
        progress: bool = ...,
        results: Literal[True],
        **options: Unpack[GenerationOptions],
    ) -> list[Result[T] | Exception]: ...
    @overload
    async def abatch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = ...,
        return_exceptions: bool = ...,
        progress: bool = ...,
        results: bool = ...,
        **options: Unpack[GenerationOptions],
    ) -> list[Any]: ...
    @_overrides
    async def abatch(
        self,
        prompts: Iterable[Prompt],
        *,
        batch_size: int = BATCH_SIZE,
        return_exceptions: bool = False,
        progress: bool = False,
        results: bool = False,
        **options: Unpack[GenerationOptions],
    ) -> list[Any]:
        """Run `batch` in a thread, and await it; see `structgen.abatch`."""
        settings = BatchSettings(batch_size, return_exceptions, progress, results)
        if isinstance(self.model, AsyncServer):
            generator, rows = self._with(options), prompt_list(prompts)
            begin_row = begin_rows([generator] * len(rows), rows, generator._settings.seed)
            return await await_rows(begin_row, len(rows), settings)
        return await in_thread(lambda cancelled: self._batch(prompts, settings, options, cancelled))

    def _batch(
        self,
        prompts: Iterable[Prompt],
        settings: BatchSettings,
        options: GenerationOptions,
        cancelled: threading.Event,
    ) -> list[Any]:
        generator = self._with(options)
        rows = prompt_list(prompts)
        begin_row = begin_rows([generator] * len(rows), rows, generator._settings.seed)
        return answer_rows(self.model, begin_row, len(rows), settings, cancelled=cancelled)

    def _with(self, options: GenerationOptions) -> Generator[T]:
        """Return the generator with a call's options."""
        generator = copy.copy(self)
        generator._settings = self._merged(options)
        return generator

    def _merged(self, options: GenerationOptions) -> Settings:
        """Return the generator's settings with a call's options."""
        check_names(cast(dict[str, Any], options))
        return replace(self._settings, **options) if options else self._settings

    @_overrides
    def begin(
        self,
        prompt: Prompt,
        *,
        new_session: Callable[[], Session] | None = None,
        observe: Callable[[list[int]], Observer] | None = None,
        streams: bool = False,
        **options: Unpack[GenerationOptions],
    ) -> Run[T]:
        """Begin a run, for a loop of your own; see `structgen.generation.runs.Run`.

        Args:
            prompt: a text or messages.
            new_session: makes the sessions in which a local model reads; by default `model.session`.
            observe: called with the prompt's token ids at each attempt; returns the `Observer` to notify. Only local
                models notify it.
            streams: whether a server sends its answer in pieces.
            options: override those of the generator.
        """
        settings = self._merged(options)
        if isinstance(self.model, RemoteModel):
            if settings.is_aligned:
                raise ModelError(
                    "sampling and num_beams need the model's logits, which servers do not return",
                    hint="load a local model",
                )
            return ServerRun(self.model, self.constraint, prompt, settings, streams=streams)
        return LocalRun(self.model, self.constraint, prompt, settings, new_session=new_session, observe=observe)


def _constraint_for(model: AnyModel, schema: Any, limits: Limits | None, options: ConstraintOptions) -> Constraint[Any]:
    """Return the schema compiled for a model.

    By default a local model writes JSON with single spaces and plain numbers, and a server as it chooses.

    Raises:
        TypeError: the object is not a model.
        ValueError: the schema was compiled already, for another vocabulary or tokenization.
    """
    check_model(model)
    if not isinstance(schema, Constraint):
        reading = model.reading if isinstance(model, RemoteModel) else LOCAL_READING
        if isinstance(model, RemoteModel) and isinstance(schema, Grammar):
            schema = replace(schema, eager=False)  # a server writes whole texts
        merged = cast(ConstraintOptions, {**reading, **options})
        return compile(schema, model.vocabulary, limits=limits, **merged)
    if schema.vocabulary.fingerprint != model.vocabulary.fingerprint:
        raise ValueError("the schema was compiled for another vocabulary than the model's")
    if options.get("tokenization", schema.tokenization) != schema.tokenization:
        raise ValueError(f"the schema was compiled with tokenization={schema.tokenization!r}")
    return schema


def begin_rows(generators: Sequence[Generator[Any]], prompts: Sequence[Prompt], seed: int | None) -> BeginRow:
    """Return a function that begins the run of a row.

    Args:
        generators: one for each row.
        prompts: one for each row.
        seed: row i samples with seed + i; None without a seed.
    """

    def begin_row(index: int, new_session: Callable[[], Session] | None) -> Run[Any]:
        own: GenerationOptions = {} if seed is None else {"seed": seed + index}
        return generators[index].begin(prompts[index], new_session=new_session, **own)

    return begin_row
