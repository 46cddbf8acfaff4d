"""Models of any kind that return the logits after a sequence of tokens: `from_logits`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.errors import ModelError
from structgen.models.tokenized import TokenizedModel

__all__ = ["LogitsModel", "LogitsSession", "from_logits"]


def from_logits(
    model: Any,
    tokenizer: Any,
    *,
    vocab_size: int | None = None,
    eos_token_ids: int | Iterable[int] | None = None,
    context_tokens: int | None = None,
) -> LogitsModel:
    """Make anything that returns logits usable with `generate`, `stream`, `batch`, `Generator` and `@fn`.

    Args:
        model: an object with a method `next_logits(ids)`, or a function. It takes all tokens so far, a list of
            integers, and returns the logits of the next one: float[V], in any form that numpy reads. It may cache what
            it computed: a sequence is often the last one with a few more tokens, but not always.
        tokenizer: a tokenizer of transformers.
        vocab_size: V, where it is not the tokenizer's length.
        eos_token_ids: tokens that end the model's turn, besides the tokenizer's.
        context_tokens: the number of tokens that prompt and answer may have together.

    Raises:
        ModelError: the model is neither an object with `next_logits` nor a function.
        VocabularyError: the bytes of the tokenizer's tokens are unknown.

    Example:
        >>> model = structgen.from_logits(lambda ids: my_engine.logits(ids), tokenizer)       # doctest: +SKIP
        >>> structgen.generate(model, "Alice is 34 years old.", Person)                       # doctest: +SKIP
        Person(name='Alice', age=34)
    """
    next_logits = getattr(model, "next_logits", model)
    if not callable(next_logits):
        raise ModelError(f"{type(model).__name__} has no next_logits(ids)", hint="pass such an object, or a function")
    return LogitsModel(
        next_logits, tokenizer, vocab_size=vocab_size, eos_token_ids=eos_token_ids, context_tokens=context_tokens
    )


class LogitsModel(TokenizedModel):
    """A `structgen.models.base.Model` over a function; see `from_logits`."""

    def __init__(
        self,
        next_logits: Callable[[list[int]], Any],
        tokenizer: Any,
        *,
        vocab_size: int | None,
        eos_token_ids: int | Iterable[int] | None,
        context_tokens: int | None,
    ) -> None:
        super().__init__(tokenizer, vocab_size=vocab_size, eos_token_ids=eos_token_ids)
        self.context_tokens = context_tokens
        self._next_logits = next_logits

    def session(self) -> LogitsSession:
        """Return a new, empty sequence."""
        return LogitsSession(self._next_logits, self.vocabulary.size)


class LogitsSession:
    """A sequence's tokens, which the function reads anew in each pass."""

    can_crop = True

    def __init__(self, next_logits: Callable[[list[int]], Any], vocab_size: int) -> None:
        self._next_logits = next_logits
        self._vocab_size = vocab_size
        self._token_ids: list[int] = []

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """Read more tokens; see `structgen.models.base.Session.forward`.

        Raises:
            ModelError: the logits are no numbers, or not as wide as the vocabulary.
        """
        self._token_ids += token_ids
        rows = []
        for count in range(len(self._token_ids) - keep + 1, len(self._token_ids) + 1):
            row = self._read(self._next_logits(self._token_ids[:count]))
            rows.append(row)
        return np.stack(rows)

    def _read(self, logits: Any) -> NDArray[np.float32]:
        """Return the logits of one token as an array."""
        if logits is None:
            raise ModelError("next_logits returned None", hint="it must return the logits of the next token")
        try:
            row = np.asarray(logits, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ModelError(f"next_logits returned no numbers, but {type(logits).__name__}: {error}") from error
        if row.shape == (self._vocab_size,):
            return row
        hint = "pass vocab_size=<width of the logits> to from_logits"
        if row.ndim != 1:
            hint = "it must return one number for each token, in one dimension, such as logits[0, -1]"
        message = f"next_logits returned shape {row.shape}, but the vocabulary has {self._vocab_size} tokens"
        raise ModelError(message, hint=hint)

    def crop(self, count: int) -> None:
        """Remove the last tokens."""
        del self._token_ids[len(self._token_ids) - count :]
