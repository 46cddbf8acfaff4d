"""Changes of a model's logits before a token is sampled: biases of tokens, and penalties for repetition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Adjuster"]

_MAX_TOKENS = 2**31  # of any vocabulary


class Adjuster:
    """Adds biases to logits, and lowers those of tokens that were written already.

    The penalties are those of OpenAI's interface and of transformers. Tokens that the grammar forces are written
    whatever the penalties are.

    Args:
        repetition_penalty: the logit of each token of the prompt or the answer is divided by it where it is positive,
            and multiplied where it is negative; 1 for none.
        frequency_penalty: is subtracted for each time that a token stands in the answer so far.
        presence_penalty: is subtracted once for each token that stands in the answer so far.
        logit_bias: is added to the logits of tokens, by token id.

    Raises:
        ValueError: a value out of its range.
        TypeError: `logit_bias` does not map token ids to numbers.
    """

    def __init__(
        self,
        *,
        repetition_penalty: float = 1.0,
        frequency_penalty: float = 0.0,
        presence_penalty: float = 0.0,
        logit_bias: Mapping[int, float] | None = None,
    ) -> None:
        if not (_is_number(repetition_penalty) and repetition_penalty > 0):
            raise ValueError(f"repetition_penalty must be a number above 0, not {repetition_penalty!r}")
        for name, value in (("frequency_penalty", frequency_penalty), ("presence_penalty", presence_penalty)):
            if not _is_number(value):
                raise ValueError(f"{name} must be a number, not {value!r}")
        bias = {} if logit_bias is None else logit_bias
        if not isinstance(bias, Mapping) or not all(isinstance(token, int) for token in bias):
            raise TypeError(f"logit_bias must map token ids to numbers, not {logit_bias!r}")
        for token, value in bias.items():
            if not _is_number(value) or not 0 <= token < _MAX_TOKENS:
                raise ValueError(f"logit_bias must map token ids to finite numbers, not {token!r} to {value!r}")
        self._repetition = repetition_penalty
        self._frequency = frequency_penalty
        self._presence = presence_penalty
        self._biased = np.array(list(bias), dtype=np.intp)
        self._bias = np.array(list(bias.values()), dtype=np.float32)
        self._is_silent = not (bias or repetition_penalty != 1 or frequency_penalty or presence_penalty)

    def check(self, vocab_size: int) -> None:
        """Check that a vocabulary has the tokens of `logit_bias`.

        Raises:
            ValueError: it has not.
        """
        if self._biased.size and int(self._biased.max()) >= vocab_size:
            raise ValueError(f"logit_bias names token {self._biased.max()}, but the vocabulary has {vocab_size} tokens")

    def adjusted(
        self, logits: NDArray[np.float32], prompt_ids: Sequence[int], token_ids: Sequence[int]
    ) -> NDArray[np.float32]:
        """Return the logits of the next token, changed; the logits themselves where nothing is asked for.

        Args:
            logits: float32[V].
            prompt_ids: the tokens before the answer.
            token_ids: the answer so far.
        """
        if self._is_silent:
            return logits
        size = logits.shape[0]
        found = logits.astype(np.float32, copy=True)
        if self._repetition != 1:
            seen = np.unique(np.array([*prompt_ids, *token_ids], dtype=np.intp))
            seen = seen[seen < size]
            found[seen] = np.where(found[seen] > 0, found[seen] / self._repetition, found[seen] * self._repetition)
        if token_ids and (self._frequency or self._presence):
            written, counts = np.unique(np.array(token_ids, dtype=np.intp), return_counts=True)
            found[written] -= (self._frequency * counts + self._presence).astype(np.float32)
        if self._biased.size:
            found[self._biased] += self._bias
        return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
