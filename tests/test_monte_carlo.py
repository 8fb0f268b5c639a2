"""monte_carlo against the exact test."""

import numpy as np
import pytest
from hypothesis import given, settings

from permtest import exact_perm_test, monte_carlo
from tests.strategies import alternatives, pairs


@settings(max_examples=200)
@given(columns=pairs(max_size=12), alternative=alternatives)
def test_the_exact_p_lies_in_the_interval(columns, alternative):
    exact = exact_perm_test(*columns, alternative=alternative).pvalue
    result = monte_carlo(*columns, K=500, rng=0, alternative=alternative)
    low, high = result.pvalue_interval(1 - 1e-9)
    assert low <= exact <= high or exact == pytest.approx(low) or exact == pytest.approx(high)
    assert result.pvalue == (result.n_extreme + 1) / (result.n_samples + 1)


def test_coverage_of_the_interval_is_what_it_says():
    rng = np.random.default_rng(4)
    u, v = rng.integers(0, 5, 60), rng.integers(0, 5, 60)
    exact = exact_perm_test(u, v).pvalue
    hits = 0
    for seed in range(400):
        low, high = monte_carlo(u, v, K=200, rng=seed).pvalue_interval(0.9)
        hits += low <= exact <= high
    assert hits >= 0.9 * 400 - 3 * np.sqrt(400 * 0.09)


def test_any_g_and_h():
    def g(a, b):
        return 2 * a - b + 1

    def h(s):
        return s % 5

    u, v = [3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]
    exact = exact_perm_test(u, v, g, h).pvalue
    low, high = monte_carlo(u, v, g, h, 20_000, rng=1).pvalue_interval(0.9999)
    assert low < exact < high


def test_reproducible_from_a_seed_and_from_a_generator():
    u, v = list(range(100)), list(range(100, 0, -1))
    first = monte_carlo(u, v, K=300, rng=5)
    assert monte_carlo(u, v, K=300, rng=5) == first
    assert monte_carlo(u, v, K=300, rng=np.random.default_rng(5)) == first
    counts = {monte_carlo(u[:50], v[50:], K=300, rng=seed).n_extreme for seed in range(5)}
    assert len(counts) > 1 or counts == {0}


def test_never_zero_even_when_no_sample_is_extreme():
    result = monte_carlo([1] * 100, [0] * 100, K=50, rng=0)
    assert result.n_extreme == 0
    assert result.pvalue == 1 / 51
    assert result.pvalue_interval()[0] == 0.0
    assert result.error_bound is None


def test_its_null_distribution_is_what_was_sampled():
    result = monte_carlo([1, 2, 3], [0, 0, 0], K=1000, rng=0)
    law = result.null_distribution
    assert law.pmf.sum() == pytest.approx(1)
    assert law.support.tolist() == [-6, -4, -2, 0, 2, 4, 6]
    assert law.pmf[result.extreme].sum() * 1000 == pytest.approx(result.n_extreme)
    with pytest.raises(ValueError, match="sampled p-value is no exact fraction"):
        result.fraction()


@pytest.mark.parametrize(
    ("K", "error"), [(0, ValueError), (-3, ValueError), (10**9, ValueError), (2.5, TypeError)]
)
def test_number_of_samples_is_checked(K, error):
    with pytest.raises(error, match="K"):
        monte_carlo([1], [0], K=K)


@pytest.mark.parametrize("rng", ["0", 1.5, True, np.random.RandomState(0)])
def test_rng_is_checked(rng):
    with pytest.raises(TypeError, match="rng must be a seed"):
        monte_carlo([1], [0], K=10, rng=rng)
