"""Adaptive weighted rejection sampling: draw a token first, and check it afterwards.

Lipkin et al. 2025, "Fast Controlled Generation from Language Models with Adaptive Weighted Rejection Sampling". Tokens
are drawn without replacement until one is accepted. That one is a draw from the accepted tokens' distribution, and few
tokens were checked. What the draw costs is the sum of the accepted weights, by which a particle's weight grows. The
recursive estimator of the paper needs one more check:

    weights      a 0.5   b 0.3   c 0.2        accepted: b and c, together 0.5
    draw a       refused; 0.5 is left
    draw b       accepted
    draw c       the next one, only to estimate: accepted too, so the estimate is what was left, 0.5;
                 had it been refused, the estimate would be b's own weight, 0.3

The estimate is unbiased, together with the token: the mean of estimate * 1[token = b] is b's weight. With i drawn from
weights w of sum W: if i is accepted, the mean of the estimate is w_i + (W - w_i) * P(the next one is accepted); if it
is refused, W - w_i is left, and the rule applies again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from structgen.generation.aligned.target import NO_TOKEN, log_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structgen.generation.aligned.target import Prefix, Target

__all__ = ["Drawn", "MaskedTokens", "RejectedTokens", "draw_accepted"]

MAX_REFUSED = 64  # draws that are refused at one position

Drawn: TypeAlias = tuple[int, float]
"""A token, or `NO_TOKEN`; and the logarithm of (an estimate of) the sum of the probabilities that were accepted."""


def draw_accepted(
    weights: NDArray[np.float64],
    accepts: Callable[[int], bool],
    point: float,
    rng: np.random.Generator,
    last_resort: Callable[[NDArray[np.float64]], Drawn],
) -> Drawn:
    """Draw an index from the accepted ones, by weight, and estimate the sum of the accepted weights.

    Args:
        weights: float64[n], at least 0; not changed.
        accepts: tells whether an index is accepted.
        point: a draw from [0, 1) that decides the first index.
        rng: the other draws.
        last_resort: called with the weights that are left after `MAX_REFUSED` refusals; returns the result for these.

    Returns:
        The index, `NO_TOKEN` where none is accepted; and the logarithm of the estimate.
    """
    left = weights.copy()
    for _ in range(MAX_REFUSED):
        total, index = _draw(left, point)
        point = float(rng.random())
        if index == NO_TOKEN:
            return NO_TOKEN, -math.inf
        own, left[index] = float(left[index]), 0.0
        if accepts(index):
            _, following = _draw(left, point)
            is_enough = following == NO_TOKEN or accepts(following)
            return index, math.log(total if is_enough else own)
    return last_resort(left)


def _draw(weights: NDArray[np.float64], point: float) -> tuple[float, int]:
    """Return the sum of weights, and the index at a point of it, from [0, 1); `NO_TOKEN` where the sum is 0."""
    sums = np.cumsum(weights)
    total = float(sums[-1]) if len(sums) else 0.0
    if total <= 0:
        return 0.0, NO_TOKEN
    index = int(np.searchsorted(sums, point * total, side="right"))
    return total, min(index, int(np.flatnonzero(weights)[-1]))


class MaskedTokens:
    """The tokens after a beginning that the mask allows; draws check the budget only.

    Args:
        target: the distribution.
        prefix: the beginning.
        probabilities: float64[V] of the next token, without a mask; or weights.

    Attributes:
        token_ids: the allowed tokens.
        weights: their probabilities.
        refused: tokens that were drawn, and after which the rest does not fit the budget.
    """

    def __init__(self, target: Target, prefix: Prefix, probabilities: NDArray[np.float64]) -> None:
        self._target = target
        self._prefix = prefix
        self.token_ids = target.allowed(prefix)
        self.weights = probabilities[self.token_ids]
        self.refused: set[int] = set()

    def draw(self, point: float, rng: np.random.Generator) -> Drawn:
        """Return a token with the logarithm of what all allowed tokens weigh.

        Args:
            point: a draw from [0, 1), for the first token that is tried.
            rng: the other draws.
        """
        if not self._target.has_budget:
            total, index = _draw(self.weights, point)
            return self._token(index), log_of(total)
        index, log_total = draw_accepted(self.weights, self._fits, point, rng, self._shortest)
        return self._token(index), log_total

    def _token(self, index: int) -> int:
        return NO_TOKEN if index == NO_TOKEN else int(self.token_ids[index])

    def _fits(self, index: int) -> bool:
        token_id = int(self.token_ids[index])
        fits = self._target.fits(self._prefix, token_id)
        if not fits:
            self.refused.add(token_id)
        return fits

    def _shortest(self, left: NDArray[np.float64]) -> Drawn:
        """Return the token that leads to the end soonest, as if nothing else fitted."""
        found = np.flatnonzero(self.token_ids == self._target.shortest(self._prefix))
        return (int(found[0]), log_of(float(left[found[0]]))) if len(found) else (NO_TOKEN, -math.inf)


class RejectedTokens:
    """The tokens after a beginning, drawn from the model's own distribution and checked one by one.

    No mask is computed, unless `MAX_REFUSED` draws are refused: then the mask decides about what is left.

    Args:
        target: the distribution.
        prefix: the beginning.
        probabilities: float64[V] of the next token, without a mask.
    """

    def __init__(self, target: Target, prefix: Prefix, probabilities: NDArray[np.float64]) -> None:
        self._target = target
        self._prefix = prefix
        self._probabilities = probabilities
        self._known: dict[int, bool] = {}  # other particles may draw the same tokens

    def draw(self, point: float, rng: np.random.Generator) -> Drawn:
        """Return a token with an estimate of what all allowed tokens weigh; see `MaskedTokens.draw`."""

        def masked(left: NDArray[np.float64]) -> Drawn:
            return MaskedTokens(self._target, self._prefix, left).draw(float(rng.random()), rng)

        return draw_accepted(self._probabilities, self._accepts, point, rng, masked)

    def _accepts(self, token_id: int) -> bool:
        if token_id not in self._known:
            is_allowed = self._target.allows(self._prefix, token_id)
            self._known[token_id] = is_allowed and self._target.fits(self._prefix, token_id)
        return self._known[token_id]
