"""The cost of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of a run, all attempts together.

    Attributes:
        prompt_tokens: tokens of the prompts, chat template included.
        completion_tokens: tokens of the answers, forced ones included, without the end token.
        forced_tokens: the completion tokens that the grammar left no choice about, which cost no step of the model.
        reasoning_tokens: tokens of the reasoning, without its marks.
        model_calls: passes of the model, those over the prompts included.
        seconds: wall-clock time, validation included.
    """

    prompt_tokens: int
    completion_tokens: int
    forced_tokens: int
    reasoning_tokens: int
    model_calls: int
    seconds: float

    def plus(self, other: Usage) -> Usage:
        """Return the sum of two usages."""
        return Usage(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))
