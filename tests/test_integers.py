"""Scores with decimals are exact on their lattice; a float is the decimal that it is printed as."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import permtest as pt
from permtest.scores import Scores
from tests import naive
from tests.strategies import alternatives

decimals = st.integers(-300, 300).map(lambda x: x / 100)


@given(rows=st.lists(st.tuples(decimals, decimals), max_size=9), alternative=alternatives)
def test_decimals_are_as_exact_as_integers(rows, alternative):
    u, v = [a for a, _ in rows], [b for _, b in rows]
    whole = [[round(100 * x) for x in column] for column in (u, v)]
    result = pt.exact_perm_test(u, v, alternative=alternative)
    assert result.fraction() == naive.pvalue(*whole, h=naive.h_of(alternative))
    exact = Fraction(sum(whole[0]) - sum(whole[1]), 100)
    assert result.statistic == float(exact)
    assert float(result.null_distribution(result.statistic)) > 0
    assert result.to_json()
    assert result._repr_html_()


@pytest.mark.parametrize(
    ("column", "integers", "scale"),
    [
        ([0.25, 1], [25, 100], 100),
        (np.array([0.5, 0.125]), [500, 125], 1000),
        (np.float32([0.1, 0.7]), [1, 7], 10),
        ([Decimal("0.10"), Decimal(3)], [1, 30], 10),
        ([Fraction(1, 3), 2], [1, 6], 3),
        ([1e-5, 1.0], [1, 10**5], 10**5),
        ([1e30, 0.5], [2 * 10**30, 1], 2),
        ([True, 0.5], [10, 5], 10),
        ([np.float32(0.1), 0.5], [1, 5], 10),
        ([2.0**40, 0.5], [2**41, 1], 2),
    ],
)
def test_what_decimals_are_kept_as(column, integers, scale):
    pairs = Scores.of(column, [0] * len(column))
    assert (pairs.u.tolist(), pairs.scale) == (integers, scale)


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


# ---- scores as they come -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_float_means_the_same_in_any_column(dtype):
    """Whole or not, the columns hold the decimals that are printed."""
    large = dtype(2.0 ** (np.finfo(dtype).nmant + 2) + 8)
    whole, halves = np.array([large, 1, 1], dtype), np.array([large, 0.5, 0.5], dtype)
    result = pt.exact_perm_test(whole, halves)
    assert (result.statistic, result.n_informative) == (1.0, 2)


def test_the_observed_sum_is_one_that_can_be_observed():
    rng = np.random.default_rng(2)
    for n in (5, 30, 100):
        result = pt.exact_perm_test(rng.random(n), rng.random(n))
        assert result.at(result.statistic) == result
    thirds = pt.exact_perm_test(rng.integers(0, 4, 30) / 3, rng.integers(0, 4, 30) / 3)
    assert thirds.at(thirds.statistic) == thirds
    with pytest.raises(ValueError, match="method='foo' is not known"):
        thirds.at(thirds.statistic, method="foo")
    for bad in ("1", float("inf"), float("nan"), 10**9, thirds.statistic + 0.1):
        with pytest.raises(ValueError, match="observed="):
            thirds.at(bad)


def test_scores_that_change_after_the_test_are_noticed():
    u, v = np.array([3, 5, 4, 8]), np.array([2, 3, 1, 6])
    result = pt.exact_perm_test(u, v)
    u[:] = 0
    with pytest.raises(ValueError, match="changed after the test"):
        result.confidence_interval()


def test_any_h_on_a_long_lattice_keeps_its_bound():
    """Cells are added up as exactly as they are known; math.fsum says how far off the sum is."""
    rng = np.random.default_rng(1)
    d = rng.integers(1, 60, 3000)
    d[rng.random(3000) < 0.3] *= -1
    result = pt.exact_perm_test(d, 0 * d, h=lambda s: abs(s) if s % 4 else 0)
    logs = result.null_distribution.log_pmf[result.extreme]
    top = logs.max()
    exact = top + math.log(math.fsum(np.exp(logs - top).tolist()))
    assert abs(result.log10_pvalue * math.log(10) - exact) <= 2e-14 * abs(exact)
    assert result.error_bound <= 1.5e-12


@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=9),
    denominator=st.sampled_from([3, 6, 7, 9, 11, 12, 360, 997]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_means_tie_where_their_counts_do(rows, denominator, dtype):
    """Divided by 3 or by 7 and rounded, scores keep every tie that the counts have."""
    u, v = np.array(rows).T
    result = pt.exact_perm_test((u / denominator).astype(dtype), (v / denominator).astype(dtype))
    assert result.fraction() == pt.exact_perm_test(u, v).fraction()


# ---- scores as programs compute them -----------------------------------------------------------


def judges(rng, n):
    counts = rng.integers(300, 1000, (n, 3))
    return (counts / 1000).mean(axis=1), [Fraction(int(row.sum()), 3000) for row in counts]


def weighted(rng, n):
    a, b = rng.integers(0, 1000, (2, n)).tolist()
    exact = [Fraction(3 * x + 7 * y, 10_000) for x, y in zip(a, b, strict=True)]
    return 0.3 * (np.array(a) / 1000) + 0.7 * (np.array(b) / 1000), exact


def reciprocal_ranks(rng, n):
    ranks = rng.integers(1, 40, n)
    return 1 / ranks, [Fraction(1, r) for r in ranks.tolist()]


def f1_of_items(rng, n):
    hits, wrong = rng.integers(0, 30, (2, n))
    below = np.maximum(2 * hits + wrong, 1)
    exact = [Fraction(2 * k, m) for k, m in zip(hits.tolist(), below.tolist(), strict=True)]
    return 2 * hits / below, exact


def differences(rng, n):
    a, b = rng.integers(0, 1000, (2, n))
    return a / 1000 - b / 1000, [Fraction(x, 1000) for x in (a - b).tolist()]


def narrow_in_wide(rng, n):
    scores, exact = judges(rng, n)
    return scores.astype(np.float32).astype(np.float64), exact


FAMILIES = [judges, weighted, reciprocal_ranks, f1_of_items, differences, narrow_in_wide]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [12, 25, 150])
def test_floats_are_the_fractions_that_they_came_from(family, n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        (u, exact_u), (v, exact_v) = family(rng, n), family(rng, n)
        pairs = Scores.of(u, v)
        assert pairs.tolerance is None
        assert [Fraction(x, pairs.scale) for x in pairs.u.tolist()] == exact_u
        assert [Fraction(x, pairs.scale) for x in pairs.v.tolist()] == exact_v


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
