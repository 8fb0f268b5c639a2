"""monte_carlo against the exact test, and how many samples it takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from permtest import exact_perm_test, monte_carlo, samples_needed
from tests.strategies import alternatives, pairs


@given(columns=pairs(max_size=12), alternative=alternatives)
def test_the_exact_p_lies_in_the_interval(columns, alternative):
    exact = exact_perm_test(*columns, alternative=alternative).pvalue
    result = monte_carlo(*columns, K=500, rng=0, alternative=alternative)
    low, high = result.pvalue_interval(1 - 1e-9)
    shares = binomtest(result.n_extreme, result.n_samples).proportion_ci(1 - 1e-9, "exact")
    assert (low, high) == pytest.approx(tuple(shares), rel=1e-6)
    assert low <= exact <= high or exact == pytest.approx(low) or exact == pytest.approx(high)
    assert result.pvalue == (result.n_extreme + 1) / (result.n_samples + 1)


def test_reproducible_from_a_seed_and_from_a_generator():
    u, v = list(range(100)), list(range(100, 0, -1))
    first = monte_carlo(u, v, K=300, rng=5)
    assert monte_carlo(u, v, K=300, rng=5) == first
    assert monte_carlo(u, v, K=300, rng=np.random.default_rng(5)) == first
    counts = {monte_carlo(u[:50], v[50:], K=300, rng=seed).n_extreme for seed in range(5)}
    assert len(counts) > 1 or counts == {0}


def test_never_zero_even_when_no_sample_is_extreme():
    result = monte_carlo([1] * 100, [0] * 100, K=50, rng=0)
    assert (result.n_extreme, result.pvalue, result.error_bound) == (0, 1 / 51, None)
    assert result.pvalue_interval()[0] == 0.0


def test_its_null_distribution_is_what_was_sampled():
    result = monte_carlo([1, 2, 3], [0, 0, 0], K=1000, rng=0)
    law = result.null_distribution
    assert law.pmf.sum() == pytest.approx(1)
    assert law.support.tolist() == [-6, -4, -2, 0, 2, 4, 6]
    assert law.pmf[result.extreme].sum() * 1000 == pytest.approx(result.n_extreme)
    with pytest.raises(ValueError, match="fraction needs an exact p"):
        result.fraction()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        *(({"K": K}, ValueError) for K in (0, -3, 10**9)),
        ({"K": 2.5}, TypeError),
        *(({"rng": rng}, TypeError) for rng in ("0", 1.5)),
    ],
)
def test_number_of_samples_and_rng_are_checked(options, error):
    with pytest.raises(error, match="K" if "K" in options else "rng=.* must be a seed"):
        monte_carlo([1], [0], **{"K": 10} | options)


unit_interval = st.floats(1e-12, 1, exclude_max=True)


@given(p=unit_interval, error=st.floats(1e-3, 10), level=st.floats(0.01, 0.999999))
def test_samples_needed_is_the_smallest_that_will_do(p, error, level):
    size = samples_needed(p, error, confidence_level=level)
    wanted = norm.isf((1 - level) / 2) ** 2 * (1 - p) / (p * error**2)
    assert isinstance(size, int)
    assert size >= 1
    assert size >= wanted * (1 - 1e-9)
    assert size == 1 or size - 1 < wanted * (1 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 0.1), ValueError, "p=0 must be above 0"),
        ((1.5, 0.1), ValueError, r"p=1.5 must lie in \[0, 1\]"),
        ((float("nan"), 0.1), ValueError, "p=nan must be finite"),
        ((True, 0.1), TypeError, "p=True must be a number"),
        ((0.1, 0), ValueError, "relative_error=0 must be above 0"),
        ((0.1, None), TypeError, "relative_error=None must be a number"),
    ],
)
def test_samples_needed_checks_its_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        samples_needed(*arguments)
