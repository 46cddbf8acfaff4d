"""What a caller chooses about a run: the options of `generate` and all that is like it, and `Settings`, checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, TypedDict

from structgen.compilation.constraint import Tokenization
from structgen.generation.sampling import Sampler
from structgen.schema.options import SchemaArguments

__all__ = [
    "BATCH_SIZE",
    "ConstraintOptions",
    "GenerationOptions",
    "GeneratorOptions",
    "Reasoning",
    "Settings",
    "check_names",
    "split_options",
]


class GenerationOptions(TypedDict, total=False):
    """How a run samples, what it asks, and when it ends: keyword arguments of `generate`, `stream`, `batch`,
    `Generator` and its methods, and `@fn`.

    Attributes:
        max_new_tokens: budget of the answer, forced tokens included; 512 by default.
        temperature: 0, the default, takes the most probable token; 1 samples the model's own distribution.
        top_p, top_k: see `structgen.generation.sampling.Sampler`; over the allowed tokens only.
        seed: makes sampling repeatable.
        stop: texts after which the run ends, wherever the grammar allows an end there. They stay in the text.
        raw: give a text to the model as it is, without a chat template.
        system: the system message, in front of all others.
        examples: pairs of a prompt and its answer, put before the prompt as messages of user and assistant. An answer
            is a value of the schema, as an instance or as data, or the text of what is no JSON; it is written just as
            the model has to write its own.
        describe_schema: with True, the JSON Schema is told to the model in the system message, or to its chat template
            where that takes a `json_schema`.
        reasoning: free text before the answer: True for text between `<think>` and `</think>`, or a `Reasoning`.
        max_retries: how often an answer that a validator refuses is sent back with the errors; 0 by default.
        validate: called with the value; what it returns is the result, but for None, which leaves the value as it is.
            A ValueError or AssertionError refuses it.
        context: what Pydantic's validators find as `info.context`.
    """

    max_new_tokens: int
    temperature: float
    top_p: float | None
    top_k: int | None
    seed: int | None
    stop: str | Sequence[str]
    raw: bool
    system: str | None
    examples: Sequence[tuple[Any, Any]]
    describe_schema: bool
    reasoning: bool | Reasoning | None
    max_retries: int
    validate: Callable[[Any], Any] | None
    context: Any


class ConstraintOptions(SchemaArguments, total=False):
    """How a schema is read, and how its texts are split: keyword arguments of `generate`, `Generator` and `@fn`.

    Attributes:
        tokenization: "any", the default, or "proper"; see `structgen.compile`.
    """

    tokenization: Tokenization


class GeneratorOptions(GenerationOptions, ConstraintOptions, total=False):
    """Keyword arguments of `Generator`, `generate`, `stream` and `batch`: of a run, and of what its texts may be."""


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`GeneratorOptions`, as those of a run and those of the constraint.

    Raises:
        TypeError: an option that there is not; with the one that was meant.
    """
    check_names(options, (*GenerationOptions.__annotations__, *_CONSTRAINT_OPTIONS))
    constraint = {name: options[name] for name in _CONSTRAINT_OPTIONS if name in options}
    return {name: value for name, value in options.items() if name not in constraint}, constraint


def check_names(options: dict[str, Any], known: Sequence[str] = tuple(GenerationOptions.__annotations__)) -> None:
    """Raises a TypeError for an option that is not known."""
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            raise TypeError(f"there is no option {name!r}" + (f": did you mean {close[0]!r}?" if close else ""))


_CONSTRAINT_OPTIONS = (*SchemaArguments.__annotations__, "tokenization")


@dataclass(frozen=True, slots=True)
class Settings:
    """`GenerationOptions` with their defaults, checked.

    Raises:
        ValueError: a value out of its range, or options that exclude each other.
        TypeError: an unknown option, or a value of another type.
    """

    max_new_tokens: int = 512
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: str | Sequence[str] = ()
    raw: bool = False
    system: str | None = None
    examples: Sequence[tuple[Any, Any]] = ()
    describe_schema: bool = False
    reasoning: bool | Reasoning | None = None
    max_retries: int = 0
    validate: Callable[[Any], Any] | None = None
    context: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.max_new_tokens, int) or self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be a whole number >= 1, not {self.max_new_tokens!r}")
        if not isinstance(self.max_retries, int) or self.max_retries < 0:
            raise ValueError(f"max_retries must be a whole number >= 0, not {self.max_retries!r}")
        if not all(isinstance(text, str) and text for text in self.stop_texts()):
            raise ValueError(f"stop must be texts, and none of them empty, not {self.stop!r}")
        if self.validate is not None and not callable(self.validate):
            raise TypeError(f"validate must be a function, not {self.validate!r}")
        if inspect.iscoroutinefunction(self.validate):
            raise TypeError("validate must be a plain function: an async one is not awaited")
        if not isinstance(self.reasoning, bool | Reasoning | None):
            raise TypeError(f"reasoning must be True, False or a structgen.Reasoning, not {self.reasoning!r}")
        if self.raw and (self.system or self.examples or self.describe_schema):
            raise ValueError("raw prompts have no messages: leave out system, examples and describe_schema")
        for example in self.examples:
            if not isinstance(example, Sequence) or isinstance(example, str) or len(example) != 2:
                raise ValueError(f"examples are pairs of a prompt and its answer, not {example!r}")
        self.sampler()  # checks its own arguments

    def sampler(self) -> Sampler:
        """A sampler with these options."""
        return Sampler(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, seed=self.seed)

    def stop_texts(self) -> Sequence[str]:
        """The texts of `stop`."""
        return (self.stop,) if isinstance(self.stop, str) else self.stop

    def again(self) -> Settings:
        """Those of a retry: what stood before the prompt is in its messages."""
        return replace(self, system=None, examples=(), describe_schema=False)

    def reasoning_marks(self) -> Reasoning | None:
        """What `reasoning` asks for, if anything."""
        if isinstance(self.reasoning, Reasoning):
            return self.reasoning
        return Reasoning() if self.reasoning else None


BATCH_SIZE = 16
"""Rows that a model reads together, where nothing else is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """How a model marks its reasoning.

    Attributes:
        start: opens it; written after the prompt, unless the chat template has ended the prompt with it already.
        end: closes it. The model writes it, or it is written where the model ends its turn or the budget is used up.
        after: written between the end and the answer, as the model has learned to.
        max_tokens: the reasoning's own budget, the marks not included.

    Example:
        >>> Reasoning(start="<reasoning>", end="</reasoning>", max_tokens=200).end
        '</reasoning>'
    """

    start: str = "<think>\n"
    end: str = "</think>"
    after: str = "\n\n"
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if not self.end:
            raise ValueError("the end mark of a reasoning must not be empty")
        if not isinstance(self.max_tokens, int) or self.max_tokens < 0:
            raise ValueError(f"max_tokens must be a whole number >= 0, not {self.max_tokens!r}")
