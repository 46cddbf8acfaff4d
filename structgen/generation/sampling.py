"""Sampling of a token from logits and a mask: greedy, or temperature, top-k and top-p over the allowed tokens only."""

from __future__ import annotations

import sys
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.bitmask import apply_token_bitmask, check_not_too_wide, is_sparse, tokens_of
from structgen.errors import ModelError

__all__ = ["Sampler", "checked_logits", "without_nan"]


_TOO_NARROW = (
    "use the model's own tokenizer; if tokens were added to it, widen the model: "
    "hf_model.resize_token_embeddings(len(tokenizer))"
)


def checked_logits(logits: NDArray[np.float32], rows: int, vocab_size: int) -> NDArray[np.float32]:
    """Return a model's logits without those that pad them.

    Args:
        logits: as the model returned them.
        rows: the number of rows that it was asked for.
        vocab_size: the number of tokens V of its vocabulary.

    Returns:
        float32[rows, V].

    Raises:
        ModelError: the logits have another number of rows, or are narrower than the vocabulary.
        VocabularyError: the logits are more than twice as wide as the vocabulary.
    """
    shape = tuple(logits.shape)
    if len(shape) != 2 or shape[0] != rows or shape[1] < vocab_size:
        is_narrow = len(shape) == 2 and shape[0] == rows
        raise ModelError(
            f"the model returned logits of shape {list(shape)}, where [{rows}, {vocab_size}] is needed",
            hint=_TOO_NARROW if is_narrow else "`Session.forward` returns as many rows as `keep` says",
        )
    check_not_too_wide(shape[1], vocab_size)
    return logits if shape[1] == vocab_size else logits[:, :vocab_size]


def without_nan(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return logits in which NaN is minus infinity.

    Raises:
        ModelError: all of them are NaN.
    """
    found = logits.astype(np.float64)
    is_none = np.isnan(found)
    if is_none.all():
        raise ModelError("the model's logits are NaN", hint="half precision may overflow: try float32")
    found[is_none] = -np.inf
    return found


class Sampler:
    """A sampler that never picks a token that the mask forbids, whatever the logits are (NaN and infinities included).

    The filters see the masked distribution: `top_p=0.9` keeps nine tenths of the probability that the grammar allows,
    not of the model's own distribution. The temperature comes first.

    Args:
        temperature: 0 picks the most probable token; 1 samples the model's own distribution.
        top_k: sample among this number of most probable tokens; None for all.
        top_p: sample among the fewest most probable tokens that together reach this probability; None for all.
        min_p: sample among the tokens that are at least this many times as probable as the most probable one; None for
            all.
        seed: makes sampling repeatable; None draws fresh randomness.

    Raises:
        ValueError: a value out of its range, or a filter without a temperature.
    """

    __slots__ = ("_min_p", "_random", "_temperature", "_top_k", "_top_p")

    def __init__(
        self,
        *,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        seed: int | None = None,
    ) -> None:
        if not (isinstance(temperature, int | float) and 0 <= temperature <= sys.float_info.max):
            raise ValueError(f"temperature must be a finite number >= 0, not {temperature!r}")
        if top_k is not None and not (isinstance(top_k, int) and top_k >= 1):
            raise ValueError(f"top_k must be a whole number >= 1, not {top_k!r}")
        if top_p is not None and not (isinstance(top_p, int | float) and 0 < top_p <= 1):
            raise ValueError(f"top_p must be in (0, 1], not {top_p!r}")
        if min_p is not None and not (isinstance(min_p, int | float) and 0 <= min_p <= 1):
            raise ValueError(f"min_p must be in [0, 1], not {min_p!r}")
        if seed is not None and not (isinstance(seed, Integral) and seed >= 0):
            raise ValueError(f"seed must be a whole number >= 0, not {seed!r}")
        if temperature == 0 and not (top_k is None and top_p is None and min_p is None):
            raise ValueError(
                "top_k, top_p and min_p need a temperature above 0: at 0 the most probable token is picked"
            )
        self._temperature = float(temperature)
        self._top_k = top_k
        self._top_p = top_p
        self._min_p = min_p
        self._random = np.random.default_rng(seed)

    def sample(
        self,
        logits: NDArray[np.float32],
        mask: NDArray[np.uint32],
        temperature: float | None = None,
        allowed: NDArray[np.intp] | None = None,
    ) -> int:
        """Return an allowed token.

        Args:
            logits: float32[V]; not changed.
            mask: uint32[ceil(V/32)], token t is bit t % 32 of word t // 32. At least one bit below V is set.
            temperature: in place of the sampler's own; None for that one.
            allowed: the tokens of the mask in ascending order, if they are known.

        Raises:
            ModelError: several tokens are allowed, and all their logits are NaN.
        """
        temperature = self._temperature if temperature is None else temperature
        if allowed is None and temperature == 0 and not is_sparse(mask):
            best = _best(logits, mask)
            if best >= 0:
                return best
        if allowed is None:
            allowed = tokens_of(mask, logits.shape[0])
        if allowed.shape[0] == 1:
            return int(allowed[0])
        given = logits.take(allowed)
        if temperature == 0:
            at = int(given.argmax())
            if given[at] == given[at]:
                return int(allowed[at])
        candidates = without_nan(given)
        if temperature == 0:
            return int(allowed[candidates.argmax()])
        return int(allowed[self._draw(candidates, temperature)])

    def _draw(self, logits: NDArray[np.float64], temperature: float) -> int:
        """Return an index into the candidates' logits, drawn from their distribution after the filters."""
        top = logits.max()
        if not np.isfinite(top):
            # All are -inf, or some are +inf: the best ones are equally likely.
            weights = (logits == top).astype(np.float64)
        else:
            with np.errstate(over="ignore"):
                weights = np.exp((logits - top) / temperature)
        if self._min_p is not None:
            weights[weights < self._min_p * weights.max()] = 0.0
        if self._top_k is None and self._top_p is None:
            return self._pick(weights)
        order = np.argsort(-weights, kind="stable")
        if self._top_k is not None:
            order = order[: self._top_k]
        if self._top_p is not None:
            share = np.cumsum(weights[order]) / weights[order].sum()
            order = order[: int(np.searchsorted(share, self._top_p)) + 1]
        return int(order[self._pick(weights[order])])

    def _pick(self, weights: NDArray[np.float64]) -> int:
        total = np.cumsum(weights)
        # side="right" never lands on a weight of zero; rounding may put the draw on the last sum itself.
        index = int(np.searchsorted(total, self._random.random() * total[-1], side="right"))
        return min(index, int(np.flatnonzero(weights)[-1]))


def _best(logits: NDArray[np.float32], mask: NDArray[np.uint32]) -> int:
    """Return the allowed token with the highest logit; -1 where it has none above minus infinity, or some have NaN."""
    best = int(logits.argmax())
    # When the best of all tokens is allowed, as it mostly is, the mask need not be applied, and neither when the second
    # best is. argmax returns a NaN where there is one.
    if not _is_allowed(best, logits, mask) and logits.flags.writeable:
        value = logits[best]
        logits[best] = -np.inf
        second = int(logits.argmax())
        logits[best] = value
        best = second if value == value else best
    if _is_allowed(best, logits, mask):
        return best
    masked = np.array(logits, np.float32)
    apply_token_bitmask(masked, mask)
    best = int(masked.argmax())
    return best if masked[best] > -np.inf else -1


def _is_allowed(token_id: int, logits: NDArray[np.float32], mask: NDArray[np.uint32]) -> bool:
    """Return whether a token is allowed, and its logit is more than minus infinity."""
    return bool(int(mask[token_id >> 5]) >> (token_id & 31) & 1 and logits[token_id] > -np.inf)
