"""Draws without replacement, and the estimate of the accepted weights, beside exact sums."""

import math

import numpy as np
import pytest

from structgen.generation.aligned import awrs
from structgen.generation.aligned.awrs import Urn, draw_accepted
from structgen.generation.aligned.target import NO_TOKEN


@pytest.mark.parametrize(
    ("weights", "accepted"),
    [
        ([0.5, 0.3, 0.2], {1, 2}),
        ([0.9, 0.06, 0.03, 0.01, 0.0], {2, 3}),
        ([1.0, 2.0, 3.0, 4.0], {0, 1, 2, 3}),
        ([7.0], {0}),
        ([0.2, 0.0, 0.3], {0}),
    ],
)
@pytest.mark.parametrize("max_refused", [1, 64])
def test_the_estimate_is_unbiased_for_each_index(weights, accepted, max_refused, monkeypatch):
    monkeypatch.setattr(awrs, "MAX_REFUSED", max_refused)
    weights = np.array(weights)
    sums = np.cumsum(weights)
    rng = np.random.default_rng(1)

    def last_resort(left):
        """Draw among the accepted ones that are left, as a mask does."""
        kept = np.array([weight if index in accepted else 0.0 for index, weight in enumerate(left)])
        if not kept.sum():
            return NO_TOKEN, -math.inf
        return int(rng.choice(len(kept), p=kept / kept.sum())), math.log(kept.sum())

    count = 6000
    found = np.zeros((count, len(weights)))
    for row in found:
        index, estimate = draw_accepted(Urn(weights, sums), accepted.__contains__, rng.random(), rng, last_resort)
        if index != NO_TOKEN:
            assert index in accepted
            row[index] = math.exp(estimate)
    errors = found.std(axis=0) / math.sqrt(count)
    for index, weight in enumerate(weights):
        expected = weight if index in accepted else 0.0
        assert abs(found[:, index].mean() - expected) <= 4 * errors[index] + 1e-9


def test_nothing_is_accepted():
    weights = np.array([0.6, 0.4, 0.0])
    rng = np.random.default_rng(0)
    assert draw_accepted(Urn(weights, np.cumsum(weights)), lambda index: False, 0.5, rng, None) == (NO_TOKEN, -math.inf)


def test_an_urn_gives_each_index_once():
    weights = np.random.default_rng(0).random(200) ** 8
    weights[::7] = 0.0
    urn = Urn(weights, np.cumsum(weights))
    rng = np.random.default_rng(1)
    order = []
    while (index := urn.draw(rng)) != NO_TOKEN:
        assert urn.total == pytest.approx(weights[[at for at in range(200) if at not in order]].sum(), rel=1e-6)
        order.append(index)
        assert urn.remove(index) == weights[index]
    assert sorted(order) == np.flatnonzero(weights).tolist()
    assert urn.left().sum() == 0
