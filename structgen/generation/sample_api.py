"""`sample` and `asample`: several answers with weights, thin over `Generator`."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from structgen.generation.aligned.answer import AlignedAnswer
from structgen.generation.aligned.samples import Samples
from structgen.generation.generator import Generator
from structgen.generation.runs import in_thread
from structgen.generation.settings import OPTION_DEFAULTS, GeneratorOptions
from structgen.limits import Limits
from structgen.models.base import Model, Prompt
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from structgen.compilation.schemas import FormatOrConstraint, Texts

__all__ = ["asample", "sample"]

T = TypeVar("T")


@overload
def sample(
    model: Model,
    prompt: Prompt,
    schema: TypeForm[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Samples[T]: ...


@overload
def sample(
    model: Model,
    prompt: Prompt,
    schema: FormatOrConstraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Samples[T]: ...


@overload
def sample(
    model: Model, prompt: Prompt, schema: Texts, *, limits: Limits | None = ..., **options: Unpack[GeneratorOptions]
) -> Samples[str]: ...


@overload
def sample(
    model: Model, prompt: Prompt, schema: Any, *, limits: Limits | None = ..., **options: Unpack[GeneratorOptions]
) -> Samples[Any]: ...


@shows_options(GeneratorOptions, OPTION_DEFAULTS)
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
    return _samples(model, prompt, schema, limits, options, threading.Event())


@overload
async def asample(
    model: Model,
    prompt: Prompt,
    schema: TypeForm[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Samples[T]: ...


@overload
async def asample(
    model: Model,
    prompt: Prompt,
    schema: FormatOrConstraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Samples[T]: ...


@overload
async def asample(
    model: Model, prompt: Prompt, schema: Texts, *, limits: Limits | None = ..., **options: Unpack[GeneratorOptions]
) -> Samples[str]: ...


@overload
async def asample(
    model: Model, prompt: Prompt, schema: Any, *, limits: Limits | None = ..., **options: Unpack[GeneratorOptions]
) -> Samples[Any]: ...


@shows_options(GeneratorOptions, OPTION_DEFAULTS)
async def asample(
    model: Model, prompt: Prompt, schema: Any, *, limits: Limits | None = None, **options: Unpack[GeneratorOptions]
) -> Samples[Any]:
    """Run `sample` in a thread, and await it. If it is cancelled, the model stops after the pass under way.

    The arguments and errors are those of `structgen.sample`.

    Example:
        >>> samples = await structgen.asample(model, "Ann is 34.", Person, seed=0)            # doctest: +SKIP
    """
    return await in_thread(lambda cancelled: _samples(model, prompt, schema, limits, options, cancelled))


def _samples(
    model: Model,
    prompt: Prompt,
    schema: Any,
    limits: Limits | None,
    options: GeneratorOptions,
    cancelled: threading.Event,
) -> Samples[Any]:
    """Return the samples; none after a cancellation."""
    if options.get("sampling") is None:
        options = {**options, "sampling": "smc"}
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    run = generator.begin(prompt)
    run.to_end(cancelled)
    answer = run.decoder
    if not isinstance(answer, AlignedAnswer):  # it was cancelled during the reasoning
        return Samples((), -math.inf, run.cost())
    return Samples(answer.items, answer.log_normalizer, run.cost(), generator.constraint.is_json)
