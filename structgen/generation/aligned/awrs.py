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

__all__ = ["Drawn", "MaskedTokens", "RejectedTokens", "Urn", "draw_accepted"]

MAX_REFUSED = 64  # draws that are refused at one position

Drawn: TypeAlias = tuple[int, float]
"""A token, or `NO_TOKEN`; and the logarithm of (an estimate of) the sum of the probabilities that were accepted."""


class Urn:
    """Weights to draw from, without replacement.

    Args:
        weights: float64[n], at least 0; not changed.
        sums: their cumulative sums, which several urns may share.
    """

    def __init__(self, weights: NDArray[np.float64], sums: NDArray[np.float64]) -> None:
        self._weights = weights
        self._sums = sums
        self._whole = float(sums[-1]) if len(sums) else 0.0
        self._removed: list[int] = []
        self._removed_weight = 0.0  # of those that are still in the sums

    @property
    def total(self) -> float:
        """The sum of the weights that are left."""
        if self._removed_weight > self._whole / 2:
            self._renew()
        return self._whole - self._removed_weight

    def draw(self, rng: np.random.Generator, point: float | None = None) -> int:
        """Return an index, by weight; it stays. `NO_TOKEN` where nothing is left.

        Args:
            rng: draws.
            point: a draw from [0, 1) to begin with.
        """
        while self.total > 0:
            at = (rng.random() if point is None else point) * self._whole
            point = None
            index = int(np.searchsorted(self._sums, at, side="right"))
            if index == len(self._sums):  # by rounding
                index = int(np.flatnonzero(self._weights)[-1])
            if index not in self._removed:
                return index
        return NO_TOKEN

    def remove(self, index: int) -> float:
        """Remove an index, and return its weight."""
        weight = float(self._weights[index])
        self._removed.append(index)
        self._removed_weight += weight
        return weight

    def left(self) -> NDArray[np.float64]:
        """Return the weights, with 0 for those that were removed."""
        found = self._weights.copy()
        found[self._removed] = 0.0
        return found

    def _renew(self) -> None:
        """Sum up what is left: half of all draws would be of removed weights otherwise."""
        self._weights = self.left()
        self._sums = np.cumsum(self._weights)
        self._whole, self._removed_weight = float(self._sums[-1]), 0.0


def draw_accepted(
    urn: Urn,
    accepts: Callable[[int], bool],
    point: float,
    rng: np.random.Generator,
    last_resort: Callable[[NDArray[np.float64]], Drawn],
) -> Drawn:
    """Draw an index from the accepted ones, by weight, and estimate the sum of the accepted weights.

    Args:
        urn: the weights.
        accepts: tells whether an index is accepted.
        point: a draw from [0, 1) that decides the first index.
        rng: the other draws.
        last_resort: called with the weights that are left after `MAX_REFUSED` refusals; returns the result for these.

    Returns:
        The index, `NO_TOKEN` where none is accepted; and the logarithm of the estimate.
    """
    first: float | None = point
    for _ in range(MAX_REFUSED):
        index = urn.draw(rng, first)
        first = None
        if index == NO_TOKEN:
            return NO_TOKEN, -math.inf
        total = urn.total
        own = urn.remove(index)
        if accepts(index):
            following = urn.draw(rng)
            is_enough = following == NO_TOKEN or accepts(following)
            return index, math.log(total if is_enough else own)
    return last_resort(urn.left())


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
        self._sums = np.cumsum(self.weights)
        self.refused: set[int] = set()

    def draw(self, point: float, rng: np.random.Generator) -> Drawn:
        """Return a token with the logarithm of what all allowed tokens weigh.

        Args:
            point: a draw from [0, 1), for the first token that is tried.
            rng: the other draws.
        """
        urn = Urn(self.weights, self._sums)
        if not self._target.has_budget:
            return self._token(urn.draw(rng, point)), log_of(urn.total)
        index, log_total = draw_accepted(urn, self._fits, point, rng, self._shortest)
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
        self._sums = np.cumsum(probabilities)
        self._known: dict[int, bool] = {}  # other particles may draw the same tokens

    def draw(self, point: float, rng: np.random.Generator) -> Drawn:
        """Return a token with an estimate of what all allowed tokens weigh; see `MaskedTokens.draw`."""

        def masked(left: NDArray[np.float64]) -> Drawn:
            return MaskedTokens(self._target, self._prefix, left).draw(float(rng.random()), rng)

        return draw_accepted(Urn(self._probabilities, self._sums), self._accepts, point, rng, masked)

    def _accepts(self, token_id: int) -> bool:
        if token_id not in self._known:
            is_allowed = self._target.allows(self._prefix, token_id)
            self._known[token_id] = is_allowed and self._target.fits(self._prefix, token_id)
        return self._known[token_id]
