"""Log probabilities of tokens, in OpenAI's form: those of the distribution that is sampled, after the mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.bitmask import tokens_of
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["LogProbs"]

MIN_LOGPROB = -9999.0  # in place of minus infinity, which JSON lacks


class LogProbs:
    """An `Observer` that keeps the log probability of each token.

    A token that the grammar left no choice about has the probability 1 among the allowed ones: its entry is 0. The
    others are those of temperature 1.

    Args:
        vocabulary: the tokens.
        top: the number of likely tokens to report for each position.

    Attributes:
        entries: one for each token.
    """

    def __init__(self, vocabulary: Vocabulary, top: int) -> None:
        self.entries: list[dict[str, Any]] = []
        self._vocabulary = vocabulary
        self._ends = frozenset(vocabulary.eos_token_ids)
        self._top = top

    def begin(self, prompt_ids: list[int]) -> LogProbs:
        """Begin an attempt; see `Generator.run`."""
        self.entries.clear()
        return self

    def rolled_back(self, token_ids: Sequence[int]) -> None:
        """Do nothing: tokens are recorded when they are accepted for good; see `Observer`."""

    def accepted(
        self, token_id: int, logits: NDArray[np.float32] | None, mask: NDArray[np.uint32] | None, *, forced: bool
    ) -> None:
        """Record a token; see `Observer`."""
        if token_id in self._ends:
            return
        if logits is None or mask is None:
            self.entries.append(
                self._entry(token_id, 0.0) | {"top_logprobs": [self._entry(token_id, 0.0)][: self._top]}
            )
            return
        allowed = tokens_of(mask, logits.shape[0])
        odds = _log_softmax(logits[allowed])
        best = np.argsort(-odds, kind="stable")[: self._top]
        own = odds[np.searchsorted(allowed, token_id)]
        top = [self._entry(int(allowed[index]), float(odds[index])) for index in best]
        self.entries.append(self._entry(token_id, float(own)) | {"top_logprobs": top})

    def _entry(self, token_id: int, logprob: float) -> dict[str, Any]:
        data = self._vocabulary.token_bytes(token_id) or b""
        return {
            "token": data.decode(errors="replace"),
            "logprob": max(logprob, MIN_LOGPROB) + 0.0,
            "bytes": list(data),
        }


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    values = np.where(np.isnan(logits), -np.inf, logits).astype(np.float64)
    top = values.max()
    if not np.isfinite(top):
        values = np.where(values == top, 0.0, -np.inf)
        top = 0.0
    shifted = values - top
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))
