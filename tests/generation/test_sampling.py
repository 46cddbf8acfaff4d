"""The sampler: only allowed tokens, whatever the logits are; and the distribution of the options."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structgen.errors import ModelError, VocabularyError
from structgen.generation.sampling import Sampler, checked_logits


def mask_of(tokens, size):
    mask = np.zeros((size + 31) // 32, np.uint32)
    for token in tokens:
        mask[token >> 5] |= np.uint32(1 << (token & 31))
    return mask


anything = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(
    logits=hnp.arrays(np.float32, st.integers(1, 100), elements=anything),
    chosen=st.data(),
    temperature=st.sampled_from([0.0, 1e-30, 0.1, 1.0, 1e30]),
    top_k=st.sampled_from([None, 1, 3, 1000]),
    top_p=st.sampled_from([None, 1e-9, 0.5, 1.0]),
)
def test_an_allowed_token_or_an_error_where_all_are_nan(logits, chosen, temperature, top_k, top_p):
    size = logits.shape[0]
    allowed = chosen.draw(st.sets(st.integers(0, size - 1), min_size=1))
    filters = {"top_k": top_k, "top_p": top_p} if temperature else {}
    sampler = Sampler(temperature=temperature, seed=0, **filters)
    before = logits.copy()
    if len(allowed) > 1 and np.isnan(logits[list(allowed)]).all():
        with pytest.raises(ModelError, match="NaN"):
            sampler.sample(logits, mask_of(allowed, size))
    else:
        assert sampler.sample(logits, mask_of(allowed, size)) in allowed
    np.testing.assert_array_equal(logits, before)


def test_greedy_takes_the_best_allowed_token():
    logits = np.array([5, 1, 3, 2], np.float32)
    sampler = Sampler()
    assert sampler.sample(logits, mask_of({0, 1, 2, 3}, 4)) == 0
    assert sampler.sample(logits, mask_of({1, 2, 3}, 4)) == 2
    assert sampler.sample(np.array([np.nan, 1, 3], np.float32), mask_of({0, 1, 2}, 3)) == 2


def frequencies(logits, allowed, draws=20_000, **options):
    sampler = Sampler(seed=1, **options)
    mask = mask_of(allowed, len(logits))
    logits = np.array(logits, np.float32)
    counts = np.bincount([sampler.sample(logits, mask) for _ in range(draws)], minlength=len(logits))
    return counts / draws


def test_temperature_one_is_the_masked_distribution():
    logits = np.log([0.4, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(frequencies(logits, {1, 2, 3}, temperature=1.0), [0, 0.5, 1 / 3, 1 / 6], atol=0.015)


def test_temperature_sharpens_and_flattens():
    logits = np.log([0.8, 0.2])
    np.testing.assert_allclose(frequencies(logits, {0, 1}, temperature=0.5), [16 / 17, 1 / 17], atol=0.015)
    np.testing.assert_allclose(frequencies(logits, {0, 1}, temperature=2.0), [2 / 3, 1 / 3], atol=0.015)


def test_top_k_counts_allowed_tokens_only():
    logits = np.log([0.4, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(frequencies(logits, {1, 2, 3}, temperature=1.0, top_k=2), [0, 0.6, 0.4, 0], atol=0.015)


def test_top_p_keeps_the_fewest_that_reach_it():
    logits = np.log([0.1, 0.2, 0.3, 0.4])  # best last: the order must not matter
    everything = {0, 1, 2, 3}
    np.testing.assert_allclose(
        frequencies(logits, everything, temperature=1.0, top_p=0.65), [0, 0, 3 / 7, 4 / 7], atol=0.015
    )
    np.testing.assert_allclose(
        frequencies(logits, everything, temperature=1.0, top_p=0.75), [0, 2 / 9, 3 / 9, 4 / 9], atol=0.015
    )
    np.testing.assert_allclose(frequencies(logits, everything, temperature=1.0, top_p=0.01), [0, 0, 0, 1])


def test_a_seed_makes_draws_repeatable():
    logits = np.zeros(64, np.float32)
    mask = mask_of(range(64), 64)
    one, two = (Sampler(temperature=1.0, seed=7) for _ in range(2))
    assert [one.sample(logits, mask) for _ in range(20)] == [two.sample(logits, mask) for _ in range(20)]
    unseeded = Sampler(temperature=1.0)
    assert len({unseeded.sample(logits, mask) for _ in range(200)}) > 30


@pytest.mark.parametrize("options", [{}, {"temperature": 1.0}, {"temperature": 0.7, "top_k": 3, "top_p": 0.8}], ids=str)
def test_known_tokens_of_the_mask_change_no_draw(options):
    rng = np.random.default_rng(3)
    allowed = np.array([1, 4, 33, 50, 63], np.intp)
    one, two = Sampler(**options, seed=5), Sampler(**options, seed=5)
    for _ in range(20):
        logits = rng.normal(size=64).astype(np.float32)
        mask = mask_of(allowed, 64)
        assert one.sample(logits, mask) == two.sample(logits, mask, allowed=allowed)


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"temperature": "hot"},
        {"temperature": 10**400},
        {"temperature": 1.0, "top_k": 0},
        {"temperature": 1.0, "top_k": 1.5},
        {"temperature": 1.0, "top_p": 0.0},
        {"temperature": 1.0, "top_p": 1.1},
        {"top_k": 5},
        {"top_p": 0.9},
        {"seed": "x"},
        {"seed": -1},
        {"seed": 1.5},
    ],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=r"temperature|top_k|top_p|seed must be a whole number"):
        Sampler(**options)


def test_logits_of_the_wrong_shape():
    """Padding is cut off; rows of another number and widths of another model are errors that say what to do."""
    assert checked_logits(np.zeros((2, 120), np.float32), 2, 100).shape == (2, 100)
    for shape, error, message in [
        ((1, 100), ModelError, r"shape \[1, 100\], where \[2, 100\]"),
        ((200,), ModelError, r"shape \[200\]"),
        ((2, 99), ModelError, r"shape \[2, 99\][^\0]*resize_token_embeddings"),
        ((2, 32_000), VocabularyError, "32000 logits a row, more than twice the 100 tokens"),
    ]:
        with pytest.raises(error, match=message):
            checked_logits(np.zeros(shape, np.float32), 2, 100)


@pytest.mark.parametrize("is_writeable", [True, False])
def test_greedy_under_a_mask_that_refuses_the_best(is_writeable):
    rng = np.random.default_rng(0)
    for refused in (1, 2, 5):
        logits = rng.normal(size=1000).astype(np.float32)
        before = logits.copy()
        mask = mask_of(range(1000), 1000)
        order = np.argsort(-logits)
        for token in order[:refused]:
            mask[token >> 5] &= ~np.uint32(1 << (token & 31))
        logits.flags.writeable = is_writeable
        assert Sampler().sample(logits, mask) == order[refused]
        assert (logits == before).all()
