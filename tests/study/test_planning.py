"""Sample sizes against known answers, statsmodels, and simulation."""

import pickle
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from permtest.study.planning import (
    minimum_detectable_effect,
    power_t,
    sample_size,
    sample_size_mcnemar,
    sample_size_proportions,
)
from tests.study.known import PROSPECTIVE_MCNEMAR, PROSPECTIVE_PROPORTIONS, PROSPECTIVE_T

SIDES = {1: "greater", 2: "two-sided"}


@pytest.mark.parametrize("case", PROSPECTIVE_T)
def test_sizes_for_the_t_test_are_known(case):
    delta, sigma, power, alpha, sides = case
    n, achieved, before = PROSPECTIVE_T[case]
    options = {"power": power, "alpha": alpha, "alternative": SIDES[sides]}
    found = sample_size(delta, sigma, **options)
    assert found == n
    assert (found.power, found.power_before) == pytest.approx((achieved, before), rel=1e-9)
    if sides == 1:
        assert sample_size(-delta, sigma, **options | {"alternative": "less"}) == n


@given(
    st.integers(2, 400),
    st.floats(-2, 2),
    st.sampled_from([0.05, 0.01, 0.2]),
    st.sampled_from(["two-sided", "greater", "less"]),
)
def test_power_by_statsmodels(n, effect, alpha, alternative):
    names = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
    expected = TTestPower().power(effect, n, alpha, alternative=names[alternative])
    found = power_t(n, 3 * effect, 3, alpha=alpha, alternative=alternative)
    if np.isnan(expected):  # where the power is nearly 0 or 1
        assert min(found, 1 - found) < 1e-3
    else:
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_power_by_simulation():
    rng = np.random.default_rng(0)
    p = stats.ttest_1samp(rng.normal(0.5, 1, (20_000, 25)), 0, axis=1).pvalue
    assert np.mean(p <= 0.05) == pytest.approx(power_t(25, 0.5, 1), abs=0.012)


@settings(max_examples=150)
@given(st.floats(0.003, 4), st.floats(0.3, 0.99), st.sampled_from(["two-sided", "greater"]))
def test_the_size_is_the_smallest(effect, power, alternative):
    n = sample_size(effect, 1, power=power, alternative=alternative)
    assert power_t(n, effect, 1, alternative=alternative) >= power
    assert n == 2 or power_t(n - 1, effect, 1, alternative=alternative) < power


def test_ten_million_pairs():
    """The power of n is that of a normal law, nearly."""
    n = sample_size(7e-4, 1, alternative="greater")
    assert 10**7 < n < 2 * 10**7
    z = stats.norm.isf(0.05)
    assert abs(n - ((z + stats.norm.isf(0.2)) / 7e-4) ** 2 - z * z / 2) < 1
    assert power_t(10**7, 1, 1) == 1.0


def test_the_effect_that_a_size_can_find_is_the_inverse():
    for alternative in ("two-sided", "greater", "less"):
        delta = minimum_detectable_effect(40, 2.5, power=0.9, alternative=alternative)
        found = power_t(40, delta, 2.5, alternative=alternative)
        assert found == pytest.approx(0.9, abs=1e-9)
        assert (delta < 0) == (alternative == "less")


@pytest.mark.parametrize("shares", PROSPECTIVE_PROPORTIONS)
def test_sizes_for_proportions_are_known(shares):
    pooled, arcsine = PROSPECTIVE_PROPORTIONS[shares]
    assert sample_size_proportions(*shares) == ceil(pooled)
    assert sample_size_proportions(*shares, method="cohen_h") == ceil(arcsine)
    assert sample_size_proportions(*shares[::-1], alternative="less") < ceil(pooled)


def test_size_for_mcnemar_is_known():
    p_b, p_c, n = PROSPECTIVE_MCNEMAR
    found = sample_size_mcnemar(p_b, p_c)
    assert found == ceil(n)
    assert found.power_before < 0.8 <= found.power


def test_size_for_mcnemar_by_simulation():
    n = sample_size_mcnemar(0.12, 0.05)
    rng = np.random.default_rng(3)
    b, c, _ = rng.multinomial(n, [0.12, 0.05, 0.83], 20_000).T
    rejected = (b - c) ** 2 >= stats.chi2.isf(0.05, 1) * (b + c)
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.02)


def test_a_size_is_an_int_that_knows_its_power():
    n = sample_size(0.1, 0.5)
    assert str(n) == (
        "199 items give a power of 0.8017, one less 0.7997 (noncentral t distribution)"
    )
    assert (repr(n), f"{n:,}", n + 1, range(n)[-1]) == ("199", "199", 200, 198)
    assert pickle.loads(pickle.dumps(n)).power == n.power
    assert n.to_dict() == {
        "n": 199,
        "power": n.power,
        "power_before": n.power_before,
        "method": "noncentral t distribution",
    }
    with pytest.raises(AttributeError, match="does not change"):
        n.power = 1.0


def test_two_pairs_at_least():
    found = sample_size(1e6, 1)
    assert (found, found.power_before) == (2, 0.0)
    assert power_t(2, 1e300, 1e-300) == 1.0
    assert power_t(2, 1e300, 1e-300, alternative="less") == 0.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sample_size(0, 1), ValueError, "delta is 0"),
        (lambda: sample_size(0.1, 0), ValueError, "sigma=0 must be above 0"),
        (lambda: sample_size(0.1, -1), ValueError, "sigma=-1 must be above 0"),
        (lambda: sample_size("x", 1), TypeError, "delta='x' must be a number"),
        (lambda: sample_size(float("nan"), 1), ValueError, "delta=nan must be finite"),
        (lambda: sample_size(1, 1, power=1), ValueError, "power must lie in .*, got 1"),
        (lambda: sample_size(1, 1, power=0.05), ValueError, "power=0.05 must exceed alpha=0.05"),
        (lambda: sample_size(1, 1, alpha=0), ValueError, "alpha must lie in .*, got 0"),
        (lambda: sample_size(1, 1, alternative="more"), ValueError, "alternative='more'"),
        (lambda: sample_size(-1, 1, alternative="greater"), ValueError, "wrong sign"),
        (lambda: sample_size(1e-9, 1), ValueError, "delta=1e-09 is 1e-09 standard deviations"),
        (lambda: power_t(1, 1, 1), ValueError, "n=1 must be at least 2: a single pair"),
        (lambda: power_t(True, 1, 1), TypeError, "n = True must be a whole number"),
        (lambda: power_t(5, 10**400, 1), ValueError, "delta is too large for a float"),
        (lambda: power_t(2.5, 1, 1), TypeError, "n = 2.5 must be a whole number"),
        (lambda: sample_size_proportions(85, 80), ValueError, "p1=85 .* not percent"),
        (lambda: sample_size_proportions(0.5, 0.5), ValueError, "p1 - p2 is 0"),
        (lambda: sample_size_proportions(0.5, 0.4, method="z"), ValueError, "method='z'"),
        (lambda: sample_size_mcnemar(0.7, 0.6), ValueError, "more than 1"),
        (lambda: sample_size_mcnemar(0.1, 0.2, alternative="greater"), ValueError, "wrong sign"),
    ],
)
def test_what_cannot_be_planned(call, error, message):
    with pytest.raises(error, match=message):
        call()
