"""ASAp: adaptive sampling with approximate expected futures.

Park et al. 2024, "Grammar-Aligned Decoding". Answers are drawn one after the other. For each beginning that was seen,
the tree below remembers an upper bound of its *future*: the probability that the model, unmasked, goes on from it to an
answer of the constraint. The future of a beginning that was not seen is taken for 1. Tokens are drawn by probability
times future:

    first draw     {"b": tr          "tr" had probability 0.0001 among all tokens: nothing else was allowed
    learned        future of {"b":   0.0001
    second draw    {"a" or {"b"      the second one with its probability times 0.0001

With more draws the bounds fall to the true futures, and the draws come from the target itself. Until then each draw has
a weight, target / proposal up to a constant, as in adaptive importance sampling: every draw is made with what the
earlier ones taught, so the mean weight estimates the normalizing constant without bias.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from structgen.generation.aligned.awrs import Drawn, MaskedTokens
from structgen.generation.aligned.smc import Population, end_only
from structgen.generation.aligned.target import NO_TOKEN, Prefix, Target, log_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structgen.generation.aligned.reader import PrefixReader

__all__ = ["adaptive_sampling"]


@dataclass(slots=True)
class _Node:
    """A node of the tree of the beginnings seen so far: one for each sequence of tokens.

    Attributes:
        future: an upper bound of the probability that the model goes on to an answer.
        longer: the nodes of the beginnings with one more token that were seen.
    """

    future: float = 1.0
    longer: dict[int, _Node] = field(default_factory=dict)


def adaptive_sampling(target: Target, reader: PrefixReader, count: int, rng: np.random.Generator) -> Population:
    """Return weighted answers of adaptive sampling, in the order in which they were drawn.

    Args:
        target: the distribution.
        reader: reads the beginnings of answers.
        count: the number of draws.
        rng: draws.
    """
    root = _Node()
    draws = [_draw(target, reader, root, rng) for _ in range(count)]
    return Population([prefix for prefix, _ in draws], np.array([log_weight for _, log_weight in draws]))


def _draw(target: Target, reader: PrefixReader, root: _Node, rng: np.random.Generator) -> tuple[Prefix, float]:
    """Draw one answer with its log-weight, and lower the bounds along it."""
    prefix, node, log_weight = target.root(), root, 0.0
    passed: list[tuple[_Node, float, float, _Node]] = []  # a node, a token's probability and future then, its node
    while not prefix.is_complete and log_weight > -math.inf:
        probabilities = target.probabilities(prefix, reader.logits([prefix.token_ids])[0])
        token_id, log_total = _next_token(target, prefix, node, probabilities, rng)
        if token_id == NO_TOKEN:
            node.future, log_weight = 0.0, -math.inf
            break
        probability = float(probabilities[token_id])
        longer = node.longer.setdefault(token_id, _Node())
        log_weight += log_total - log_of(longer.future)
        passed.append((node, probability, longer.future, longer))
        prefix, node = target.after(prefix, token_id, log_of(probability)), longer
    for node, probability, future, longer in reversed(passed):
        node.future = max(0.0, node.future - probability * (future - longer.future))
    return prefix, log_weight


def _next_token(
    target: Target, prefix: Prefix, node: _Node, probabilities: NDArray[np.float64], rng: np.random.Generator
) -> Drawn:
    """Draw a token by probability times future, and set the node's future to the sum of these products."""
    if target.is_full(prefix):
        end, log_total = end_only(target, prefix, probabilities)
        node.future = math.exp(log_total)
        return end, log_total
    weights = probabilities.copy()
    for token_id, longer in node.longer.items():
        weights[token_id] *= longer.future
    tokens = MaskedTokens(target, prefix, weights)
    drawn = tokens.draw(float(rng.random()), rng)
    for token_id in tokens.refused:
        node.longer[token_id] = _Node(0.0)
        weights[token_id] = 0.0
    node.future = float(weights[tokens.token_ids].sum())
    return drawn
