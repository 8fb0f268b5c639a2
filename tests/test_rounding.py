"""Scores that may be off: p is exact where that decides no tie, and else lies in a bracket."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import permtest as pt
from tests import naive
from tests.strategies import alternatives


def test_measurements_get_a_bracket_and_say_so():
    rng = np.random.default_rng(5)
    u, v = rng.normal(size=120), rng.normal(size=120)
    result = pt.exact_perm_test(u, v)
    low, high = result.pvalue_interval()
    assert result.method == "bracket"
    assert result.pvalue == high
    assert 0 < high / low - 1 < 1e-3
    assert "p lies between" in str(result)
    sampled = pt.monte_carlo(u, v, K=200_000, rng=0).pvalue_interval(0.9999)
    assert sampled[0] < high
    assert low < sampled[1]
    with pytest.raises(MemoryError, match="cells"):
        _ = result.null_distribution
    assert "too long to draw" in result._repr_html_()


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 8),
    alternative=alternatives,
    method=st.sampled_from(["auto", "bracket", "dp"]),
)
def test_a_stated_rounding_is_covered(seed, n, alternative, method):
    """The p-value of scores with all their digits, from the same scores with one decimal."""
    u, v = np.random.default_rng(seed).random((2, n)).round(6)
    whole = [[round(10**6 * x) for x in column] for column in (u, v)]
    truth = naive.pvalue(*whole, h=naive.h_of(alternative))
    options = {"alternative": alternative, "method": method}
    low, high = pt.exact_perm_test(
        u.round(1), v.round(1), rounding=0.05 + 1e-12, **options
    ).pvalue_interval()
    assert low <= float(truth) * (1 + 1e-12)
    assert float(truth) <= high * (1 + 1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_both_ends_of_p_where_rounding_decides_ties(alternative):
    """Sums may be off by 0.4 in all, on a lattice of fifths: three cells further out, two in."""
    tenths, scale = [4, 6, -4, 5, 2], {"two-sided": abs, "greater": int, "less": lambda s: -s}
    u = [x / 10 for x in tenths]
    result = pt.exact_perm_test(u, [0] * 5, rounding=0.02, alternative=alternative)
    sums = [scale[alternative](s) for s in naive.labellings(tenths, [0] * 5)]
    observed = 2 if alternative == "two-sided" else 1  # extreme, however ties break
    far = sum(s >= sums[0] + 6 for s in sums) + observed
    near = sum(s >= sums[0] - 4 for s in sums)
    assert result.method == "bracket"
    assert result.pvalue_interval() == pytest.approx((far / 32, near / 32), rel=1e-14)


def test_rounding_is_a_size_and_h_wants_exact_scores():
    for bad in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="rounding="):
            pt.exact_perm_test([0.5, 1], [0.25, 0], rounding=bad)
    with pytest.raises(ValueError, match="rounding=0"):
        pt.exact_perm_test([0.5, 1], [0.25, 0], h=abs, rounding=0.1)
    exact = pt.exact_perm_test([math.pi, 1], [math.e, 0], h=abs, rounding=0)
    assert exact.pvalue == 0.5


def test_an_interval_moves_out_by_stated_rounding():
    u, v = [0.5, 0.7, 0.4, 0.9, 0.6, 0.8, 0.7], [0.3, 0.4, 0.4, 0.5, 0.5, 0.6, 0.2]
    plain = pt.exact_perm_test(u, v).confidence_interval(0.9)
    wide = pt.exact_perm_test(u, v, rounding=0.05).confidence_interval(0.9)
    for moved in (plain.low - wide.low, wide.high - plain.high, wide.resolution):
        assert 0.1 <= moved + 1e-12 < 0.11
