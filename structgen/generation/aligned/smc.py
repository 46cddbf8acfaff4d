"""Sequential Monte Carlo: answers that grow together, and carry weights.

Loula et al. 2025, "Syntactic and Semantic Control of Large Language Models via Sequential Monte Carlo". N particles
begin empty. In each step every one of them gets a token, drawn from the allowed ones, and its weight is multiplied by
the probability that the model gave to all of these together. So a particle that was led into a corner, where the model
wanted something else, becomes light:

    particle     allowed tokens weigh         weight
    {"a": 1      0.9 * 0.8 * 0.7              0.5
    {"b": tr     0.9 * 0.8 * 0.0001           0.00007

When a few particles have nearly all the weight, all are drawn anew by weight, and go on with equal ones. The mean
weight estimates the normalizing constant without bias. The distance of the weighted particles to the target falls as
1 / sqrt(N), or faster: particles with the same beginning draw their next tokens together, so that the tokens spread.

`awrs` is the same with tokens that are drawn first and checked afterwards; see `structgen.generation.aligned.awrs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from structgen.generation.aligned.awrs import Drawn, MaskedTokens, RejectedTokens
from structgen.generation.aligned.target import NO_TOKEN, log_of
from structgen.generation.logprobs import log_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structgen.generation.aligned.reader import PrefixReader
    from structgen.generation.aligned.target import Prefix, Target

__all__ = ["Population", "effective_sample_size", "end_only", "particle_filter"]

RESAMPLE_BELOW = 0.5  # of the particles: the effective sample size below which they are drawn anew

Tokens: TypeAlias = "Callable[[Target, Prefix, NDArray[np.float64]], MaskedTokens | RejectedTokens]"


@dataclass(frozen=True, slots=True)
class Population:
    """Weighted answers.

    Attributes:
        prefixes: the answers; those of weight 0 may be incomplete.
        log_weights: float64[N]. The mean of the weights estimates the normalizing constant.
    """

    prefixes: list[Prefix]
    log_weights: NDArray[np.float64]


def particle_filter(
    target: Target, reader: PrefixReader, count: int, rng: np.random.Generator, tokens: Tokens = MaskedTokens
) -> Population:
    """Return weighted answers of sequential Monte Carlo.

    Args:
        target: the distribution.
        reader: reads the beginnings of answers.
        count: the number N of particles.
        rng: draws.
        tokens: draws the next tokens: `MaskedTokens` or `RejectedTokens`.
    """
    prefixes = [target.root()] * count
    log_weights = np.zeros(count)
    while True:
        active = [at for at, prefix in enumerate(prefixes) if not prefix.is_complete and log_weights[at] > -np.inf]
        if not active:
            return Population(prefixes, log_weights)
        _step(target, reader, prefixes, log_weights, active, rng, tokens)
        total = log_sum(log_weights)
        if total > -np.inf and effective_sample_size(log_weights) < RESAMPLE_BELOW * count:
            prefixes = [prefixes[at] for at in _resampled(log_weights, rng)]
            log_weights = np.full(count, total - np.log(count))


def effective_sample_size(log_weights: NDArray[np.float64]) -> float:
    """Return how many samples of equal weight are worth as much: (sum of weights)² / sum of squares; 0 for none."""
    total = log_sum(log_weights)
    return float(np.exp(2 * total - log_sum(2 * log_weights))) if total > -np.inf else 0.0


def _step(
    target: Target,
    reader: PrefixReader,
    prefixes: list[Prefix],
    log_weights: NDArray[np.float64],
    active: list[int],
    rng: np.random.Generator,
    tokens: Tokens,
) -> None:
    """Draw the next token of each active particle. Those with the same beginning share its pass and its mask."""
    sharing: dict[Prefix, list[int]] = {}
    for at in active:
        sharing.setdefault(prefixes[at], []).append(at)
    rows = reader.logits([prefix.token_ids for prefix in sharing])
    for (prefix, members), row in zip(sharing.items(), rows):
        probabilities = target.probabilities(prefix, row)
        is_full = target.is_full(prefix)
        source = None if is_full else tokens(target, prefix, probabilities)
        longer: dict[int, Prefix] = {}
        for at, point in zip(members, _spread_points(len(members), rng)):
            token_id, log_total = end_only(target, prefix, probabilities) if source is None else source.draw(point, rng)
            log_weights[at] += log_total
            if token_id == NO_TOKEN:
                log_weights[at] = -np.inf
                continue
            if token_id not in longer:
                longer[token_id] = target.after(prefix, token_id, log_of(float(probabilities[token_id])))
            prefixes[at] = longer[token_id]


def _spread_points(count: int, rng: np.random.Generator) -> list[float]:
    """Return draws from [0, 1), one in each of equal parts, in random order.

    Each of them alone is uniform. Together they spread: of 10 particles, 4 get a token of probability 0.4.
    """
    points: list[float] = ((rng.permutation(count) + rng.random()) / count).tolist()
    return points


def end_only(target: Target, prefix: Prefix, probabilities: NDArray[np.float64]) -> Drawn:
    """Return the end of an answer with its log-probability, where the budget has no room for another token."""
    end = target.end_of(prefix)
    return end, -np.inf if end == NO_TOKEN else log_of(float(probabilities[end]))


def _resampled(log_weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return particles drawn by weight, as many as there are: one in each of N equal parts of the whole weight."""
    shares = np.cumsum(np.exp(log_weights - log_sum(log_weights)))
    count = len(log_weights)
    points = np.array(_spread_points(count, rng)) * shares[-1]
    last = int(np.flatnonzero(np.isfinite(log_weights))[-1])  # rounding may put a point on the last sum itself
    found: NDArray[np.intp] = np.minimum(np.searchsorted(shares, points, side="right"), last)
    return found
