"""Beam search under the mask: the most probable answers.

N beginnings stand side by side. In each step all their continuations are compared by the probability that the model
gives to the whole text so far, and the best N go on:

    2 beams      {"a": 0.5    {"b": 0.4                       {"c": 0.1 is dropped
    next step    {"b": 1 0.4*0.9    {"b": 2 0.4*0.1           all that follows {"a" is below

Probabilities only fall. So the search ends when the best complete answers are above all beginnings. It is exact where
no beginning of one of them was dropped; with one beam, it is the greedy answer under the mask. Short answers have an
advantage, since each token costs probability.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from structgen.generation.aligned.awrs import MAX_REFUSED
from structgen.generation.aligned.target import NO_TOKEN, Prefix, Target, log_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structgen.generation.aligned.reader import PrefixReader

__all__ = ["beam_search"]


def beam_search(target: Target, reader: PrefixReader, count: int) -> list[Prefix]:
    """Return the likeliest answers that are found.

    Args:
        target: the distribution.
        reader: reads the beginnings of answers.
        count: the number N of beginnings that go on, and of answers to return.

    Returns:
        At most N answers, the likeliest first. If none is complete, one beginning that is not.
    """
    beams = [target.root()]
    last = beams[0]
    complete: list[Prefix] = []
    while beams:
        last = beams[0]
        beams, ended = _step(target, reader, beams, count)
        complete = sorted([*complete, *ended], key=lambda prefix: -prefix.logprob)[:count]
        if len(complete) == count:
            beams = [prefix for prefix in beams if prefix.logprob > complete[-1].logprob]
    return complete or [last]


def _step(target: Target, reader: PrefixReader, beams: list[Prefix], count: int) -> tuple[list[Prefix], list[Prefix]]:
    """Return the best continuations of some beginnings, and the answers that are no worse than these."""
    rows = reader.logits([prefix.token_ids for prefix in beams])
    ranked = [
        _ranked(target, at, prefix, target.probabilities(prefix, row))
        for at, (prefix, row) in enumerate(zip(beams, rows))
    ]
    longer: list[Prefix] = []
    ended: list[Prefix] = []
    for _, at, token_id, logprob in heapq.merge(*ranked):
        found = target.after(beams[at], token_id, logprob)
        (ended if found.is_complete else longer).append(found)
        if len(longer) == count or len(ended) == count:
            break
    return longer, ended


def _ranked(
    target: Target, at: int, prefix: Prefix, probabilities: NDArray[np.float64]
) -> Iterator[tuple[float, int, int, float]]:
    """Yield the tokens that may follow a beginning, the likeliest first.

    Args:
        target: the distribution.
        at: the number of the beginning.
        prefix: the beginning.
        probabilities: float64[V] of the next token.

    Yields:
        The negative log-probability of beginning and token, `at`, the token, and its log-probability.
    """
    if target.is_full(prefix):
        end = target.end_of(prefix)
        token_ids = [] if end == NO_TOKEN else [end]
    else:
        allowed = target.allowed(prefix)
        token_ids = allowed[np.argsort(-probabilities[allowed], kind="stable")].tolist()
    refused, yielded = 0, set()
    for token_id in token_ids:
        if not target.fits(prefix, token_id):
            refused += 1
            if refused < MAX_REFUSED:
                continue
            token_id = target.shortest(prefix)
            if token_id == NO_TOKEN or token_id in yielded:
                return
        yielded.add(token_id)
        logprob = log_of(float(probabilities[token_id]))
        if logprob == -math.inf:
            return
        yield -prefix.logprob - logprob, at, token_id, logprob
        if refused == MAX_REFUSED:
            return
