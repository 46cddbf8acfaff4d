"""`generate` and `Generator`: from a prompt and a schema to a validated value."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack, cast, overload

import jsonschema
import pydantic
import pydantic_core

from structgen.cache import compile
from structgen.constraint import Constraint, Tokenization
from structgen.decoding import Decoder, FinishReason
from structgen.errors import GenerationError, IncompleteOutputError, ValidationFailedError
from structgen.limits import Limits
from structgen.sampling import Sampler
from structgen.schema.options import SchemaArguments

if TYPE_CHECKING:
    from structgen.models.base import Model, Prompt

__all__ = [
    "ConstraintOptions",
    "GenerationOptions",
    "Generator",
    "GeneratorOptions",
    "Result",
    "Usage",
    "generate",
    "partial_json",
]

T = TypeVar("T")


class GenerationOptions(TypedDict, total=False):
    """How a run samples and when it ends: keyword arguments of `generate`, `Generator` and its methods, and `@fn`.

    Attributes:
        max_new_tokens: budget of the answer, forced tokens included; 512 by default.
        temperature: 0, the default, takes the most probable token; 1 samples the model's own distribution.
        top_p, top_k: see `structgen.sampling.Sampler`; over the allowed tokens only.
        seed: makes sampling repeatable.
        stop: texts after which the run ends, wherever the grammar allows an end there. They stay in the text.
        raw: give a text to the model as it is, without a chat template.
    """

    max_new_tokens: int
    temperature: float
    top_p: float | None
    top_k: int | None
    seed: int | None
    stop: str | Sequence[str]
    raw: bool


class ConstraintOptions(SchemaArguments, total=False):
    """How a schema is read, and how its texts are split: keyword arguments of `generate`, `Generator` and `@fn`.

    Attributes:
        tokenization: "any", the default, or "proper"; see `structgen.compile`.
    """

    tokenization: Tokenization


class GeneratorOptions(GenerationOptions, ConstraintOptions, total=False):
    """Keyword arguments of `Generator` and `generate`: how a run samples, and what its texts may be."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run cost.

    Attributes:
        prompt_tokens: tokens of the prompt, chat template included.
        completion_tokens: tokens of the answer, forced ones included, without the end token.
        forced_tokens: those of them that the grammar left no choice about, and that cost no step of the model.
        model_calls: passes of the model, the one over the prompt included.
        seconds: wall-clock time, validation included.
    """

    prompt_tokens: int
    completion_tokens: int
    forced_tokens: int
    model_calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """What a run gave.

    Attributes:
        value: the validated value.
        text: the text that it was read from.
        usage: what it cost.
        finish_reason: "stop" where the text ended; "length" where the budget did, at a place where the text happened
            to be whole (with `stop` at any other, `IncompleteOutputError` is raised).
        token_ids: the answer's tokens, without the end token.
    """

    value: T
    text: str
    usage: Usage
    finish_reason: FinishReason
    token_ids: tuple[int, ...]


class Generator(Generic[T]):
    """A model and a schema, ready to be run on many prompts. Safe for threads.

    Args:
        model: `structgen.from_transformers(…)`, `structgen.load(…)`, or any `structgen.models.base.Model`.
        schema: a Pydantic model or any type that Pydantic knows, a JSON Schema as a dict, a `Grammar`, or what
            `structgen.compile` gave for the model's vocabulary.
        limits: bounds on what the schema may cost.
        options: see `GenerationOptions`, which each run may override, and `ConstraintOptions`.

    Raises:
        SchemaError, GrammarError, LimitExceededError: see `structgen.compile`.
        TypeError, ValueError: an unknown option, or one out of its range.

    Example:
        >>> extract = structgen.Generator(model, Person, max_new_tokens=200)                  # doctest: +SKIP
        >>> extract("Alice is a 34 year old nurse.")                                          # doctest: +SKIP
        Person(name='Alice', age=34, occupation='nurse')
    """

    @overload
    def __init__(
        self,
        model: Model,
        schema: type[T] | Constraint[T],
        *,
        limits: Limits | None = ...,
        **options: Unpack[GeneratorOptions],
    ) -> None: ...
    @overload
    def __init__(
        self,
        model: Model,
        schema: Any,
        *,
        limits: Limits | None = ...,
        **options: Unpack[GeneratorOptions],
    ) -> None: ...
    def __init__(
        self,
        model: Model,
        schema: Any,
        *,
        limits: Limits | None = None,
        **options: Unpack[GeneratorOptions],
    ) -> None:
        reading = {name: options.pop(name) for name in _CONSTRAINT_OPTIONS if name in options}  # type: ignore[misc]
        self._options = _Options(**cast(GenerationOptions, options))
        self._model = model
        self._constraint: Constraint[T] = _constraint(schema, model, cast(ConstraintOptions, reading), limits)

    def __call__(self, prompt: Prompt, **options: Unpack[GenerationOptions]) -> T:
        """The value alone; see `run`."""
        return self.run(prompt, **options).value

    def run(self, prompt: Prompt, **options: Unpack[GenerationOptions]) -> Result[T]:
        """Runs the model on one prompt.

        Args:
            prompt: a text (one user message, where the model has a chat template) or chat messages.
            options: override those of the generator.

        Raises:
            IncompleteOutputError: the budget ended before the text did; with what was complete.
            ValidationFailedError: the text fits the schema, and a validator written in Python refused it.
            GenerationError: the prompt does not fit the model.
            LimitExceededError: a bound of `limits` was passed on the way.
        """
        settings = replace(self._options, **options)
        began = time.perf_counter()
        prompt_ids = self._model.encode_prompt(prompt, raw=settings.raw)
        decoder = Decoder(
            self._model,
            self._constraint,
            prompt_ids,
            sampler=settings.sampler(),
            max_new_tokens=_budget(settings.max_new_tokens, self._model, prompt_ids),
            stop=settings.stop_texts(),
        )
        reason = decoder.run()
        text = self._whole_text(decoder, reason)
        value = self._parse(text)
        usage = Usage(
            prompt_tokens=len(prompt_ids),
            completion_tokens=len(decoder.token_ids),
            forced_tokens=decoder.forced_tokens,
            model_calls=decoder.model_calls,
            seconds=time.perf_counter() - began,
        )
        return Result(value, text, usage, reason, tuple(decoder.token_ids))

    def _whole_text(self, decoder: Decoder, reason: FinishReason) -> str:
        if reason == "stop" or decoder.is_complete:
            return decoder.text_bytes.decode(errors="replace")
        text = decoder.text_bytes.decode(errors="ignore")
        count = len(decoder.token_ids)
        raise IncompleteOutputError(
            f"the answer was not finished after {count} tokens: {_shorten(text)}",
            text=text,
            partial=partial_json(text) if self._constraint.is_json else None,
            hint="raise max_new_tokens, or bound the schema (max_length, max_items)",
        )

    def _parse(self, text: str) -> T:
        try:
            return self._constraint.parse(text)
        except (pydantic.ValidationError, jsonschema.ValidationError, ValueError) as error:
            raise ValidationFailedError(
                f"the answer fits the schema, and its validation failed: {error}", attempts=[(text, error)]
            ) from error


@overload
def generate(
    model: Model,
    prompt: Prompt,
    schema: type[T] | Constraint[T],
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> T: ...
@overload
def generate(
    model: Model,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = ...,
    **options: Unpack[GeneratorOptions],
) -> Any: ...
def generate(
    model: Model,
    prompt: Prompt,
    schema: Any,
    *,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> Any:
    """Runs a model on a prompt and returns a validated value of the schema.

    Args:
        model: `structgen.from_transformers(…)`, `structgen.load(…)`, or any `structgen.models.base.Model`.
        prompt: a text (one user message, where the model has a chat template) or chat messages.
        schema: a Pydantic model or any type that Pydantic knows, a JSON Schema as a dict, a `Grammar`, or what
            `structgen.compile` gave.
        limits: bounds on what the schema may cost.
        options: see `GenerationOptions`: `max_new_tokens`, `temperature`, `top_p`, `top_k`, `seed`, `stop`, `raw`;
            and `ConstraintOptions`: `tokenization`, and `whitespace`, `property_order`, `formats`, `draft`, `lenient`,
            `registry`.

    Returns:
        An instance for a model or type, JSON data for a JSON Schema, the text for a grammar.

    Raises:
        SchemaError, GrammarError: the schema cannot be used.
        IncompleteOutputError: the budget ended before the text did; with what was complete.
        ValidationFailedError: the text fits the schema, and a validator written in Python refused it.
        LimitExceededError: a bound of `limits` was passed.

    Example:
        >>> model = structgen.load("smollm2")                                                 # doctest: +SKIP
        >>> structgen.generate(model, "Is 'I love it' positive?", Literal["yes", "no"])       # doctest: +SKIP
        'yes'
    """
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    return generator(prompt)


def partial_json(text: str) -> Any:
    """The JSON value of a text that breaks off, with what was complete in it; None when nothing was.

    A string, literal or number that breaks off is left out, with its key; so is a number at the very end, which
    might have gone on.

    Example:
        >>> partial_json('{"name": "Alice", "tags": ["a", "b')
        {'name': 'Alice', 'tags': ['a']}
        >>> partial_json('{"name": "Alice", "age": 3')
        {'name': 'Alice'}
    """
    try:
        return pydantic_core.from_json(_NUMBER_AT_END.sub("", text), allow_partial=True)
    except ValueError:
        return None


_CONSTRAINT_OPTIONS = (*SchemaArguments.__annotations__, "tokenization")
_NUMBER_AT_END = re.compile(r"-?[0-9][-+.0-9eE]*\Z")


@dataclass(frozen=True, slots=True)
class _Options:
    """`GenerationOptions` with its defaults, checked."""

    max_new_tokens: int = 512
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: str | Sequence[str] = ()
    raw: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.max_new_tokens, int) or self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be a whole number >= 1, not {self.max_new_tokens!r}")
        if not all(isinstance(text, str) and text for text in self.stop_texts()):
            raise ValueError(f"stop must be texts, and none of them empty, not {self.stop!r}")
        self.sampler()  # checks its own arguments

    def sampler(self) -> Sampler:
        return Sampler(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, seed=self.seed)

    def stop_texts(self) -> Sequence[str]:
        return (self.stop,) if isinstance(self.stop, str) else self.stop


def _constraint(schema: Any, model: Model, options: ConstraintOptions, limits: Limits | None) -> Constraint[Any]:
    if not isinstance(schema, Constraint):
        options.setdefault("whitespace", "single")
        return compile(schema, model.vocabulary, limits=limits, **options)
    if schema.vocabulary.fingerprint != model.vocabulary.fingerprint:
        raise ValueError("the schema was compiled for another vocabulary than the model's")
    if options.get("tokenization", schema.tokenization) != schema.tokenization:
        raise ValueError(f"the schema was compiled with tokenization={schema.tokenization!r}")
    return schema


def _budget(max_new_tokens: int, model: Model, prompt_ids: list[int]) -> int:
    """The token budget, cut to what the model's context has left."""
    if model.context_tokens is None:
        return max_new_tokens
    left = model.context_tokens - len(prompt_ids)
    if left < 1:
        raise GenerationError(
            f"the prompt has {len(prompt_ids)} tokens, and the model's context {model.context_tokens}",
            hint="shorten the prompt",
        )
    return min(max_new_tokens, left)


def _shorten(text: str, width: int = 120) -> str:
    return repr(text if len(text) <= width else "…" + text[-width:])
