"""Sizes and power: against known answers, statsmodels, full searches and plain simulation."""

import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

import permtest as pt
from permtest.study import (
    exact_power,
    minimum_detectable_effect,
    power_curve,
    power_t,
    sample_size,
    sample_size_binary,
)
from permtest.study.power import PowerCurve, _exact_powers, _rejected, population, units_needed

SIDES = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}
RNG = np.random.default_rng(7)
A, B = RNG.poisson(4, 60), RNG.poisson(3.4, 60)
RIGHT = np.repeat([[1, 0], [0, 1], [1, 1]], [15, 10, 75], axis=0).T  # p_b = .15, p_c = .1

sides = pytest.mark.parametrize("alternative", SIDES)


def errors(share):
    """Five standard errors of a share of 2 000 samples."""
    return 5 * (share * (1 - share) / 2000) ** 0.5 + 1e-9


@given(st.integers(2, 400), st.floats(-2, 2), st.floats(0.001, 0.3), st.sampled_from([*SIDES]))
def test_power_by_statsmodels(n, effect, alpha, alternative):
    shifts = [side * effect for side in SIDES[alternative]]
    tails = [TTestPower().power(x, n, alpha / len(shifts), alternative="larger") for x in shifts]
    # SciPy has no number for a tail that is nearly 0 or 1.
    tails = [x > 0 if np.isnan(p) else p for x, p in zip(shifts, tails, strict=True)]
    found = power_t(n, 3 * effect, 3, alpha=alpha, alternative=alternative)
    assert found == pytest.approx(sum(tails), rel=1e-7, abs=1e-10)


@settings(max_examples=60)
@given(st.floats(0.003, 4), st.floats(0.3, 0.99), st.sampled_from(["two-sided", "greater"]))
def test_the_size_is_the_smallest(effect, power, alternative):
    n = sample_size(effect, 1, power=power, alternative=alternative)
    assert power_t(n, effect, 1, alternative=alternative) >= power
    assert n == 2 or power_t(n - 1, effect, 1, alternative=alternative) < power


@sides
def test_the_effect_that_a_size_can_find_is_the_inverse(alternative):
    delta = minimum_detectable_effect(40, 2.5, power=0.9, alternative=alternative)
    assert power_t(40, delta, 2.5, alternative=alternative) == pytest.approx(0.9, abs=1e-9)
    assert (delta < 0) == (alternative == "less")


def enumerated(p_b: float, p_c: float, n: int, alpha: float, alternative: str) -> float:
    """Power of the exact test from all b and c."""
    law, found = stats.multinomial(n, [p_b, p_c, 1 - p_b - p_c]), 0.0
    for b, c in (x for x in np.ndindex(n + 1, n + 1) if sum(x) <= n):
        p = stats.binomtest(b, b + c, alternative=alternative).pvalue if b + c else 1
        found += law.pmf([b, c, n - b - c]) * (p <= alpha + 1e-9)
    return float(found)


@sides
@pytest.mark.parametrize("alpha", [0.05, 0.0625, 0.5, 0.9])
def test_exact_power_is_the_enumerated_one(alternative, alpha):
    for n in (1, 6, 17):
        for p_b, p_c in ((0.3, 0.1), (0.5, 0.5), (0, 0.4), (1, 0), (0, 0)):
            found = exact_power(p_b, p_c, n, alpha=alpha, alternative=alternative)
            expected = enumerated(p_b, p_c, n, alpha, alternative)
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("chances", [(0.6, 0.4), (0.3, 0.05), (0.75, 0.25), (0.1, 0.02)])
def test_the_size_for_a_power_is_the_one_that_a_full_search_finds(chances):
    enough = np.array([exact_power(*chances, n) for n in range(1, 400)]) >= 0.8
    assert sample_size_binary(*chances) == int(np.flatnonzero(~enough)[-1]) + 2


@sides
def test_what_a_study_needs_is_what_the_functions_say(alternative):
    how = {"alpha": 0.1, "alternative": alternative}
    side = -1 if alternative == "less" else 1
    needed = units_needed({"delta": side * 2, "sigma": 2.5}, power=0.8, **how)
    assert needed == sample_size(side * 2, 2.5, **how)
    shares = dict(zip(("p_b", "p_c"), (0.7, 0.2)[::side], strict=True))
    assert units_needed(shares, power=0.8, **how) == sample_size_binary(**shares, **how)
    few = units_needed({"delta": side * 9, "sigma": 1}, power=0.8, **how)
    assert 0.5**few * (1 + (alternative == "two-sided")) <= 0.1, "or no p is so small"


def test_many_items_of_which_few_differ_need_what_exact_tests_do():
    how = {"alpha": 0.05, "alternative": "two-sided"}
    for p_b, p_c in ((0.0008, 0.0003), (1e-6, 2e-6)):
        n = units_needed({"p_b": p_b, "p_c": p_c}, power=0.8, **how)
        found = [float(_exact_powers(x, p_b, p_c, **how)) for x in (n - 1, n)]
        assert n > 10_000
        assert found[0] < 0.8 <= found[1]
    many = units_needed({"p_b": 0.051, "p_c": 0.049}, power=0.8, **how)
    assert many == sample_size(0.002, (0.1 - 0.002**2) ** 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_size(0, 1), "not enough: the difference is too small, 0, or on the other"),
        (lambda: sample_size(1, 1, power=0.05), "power=0.05 must exceed alpha=0.05"),
        (lambda: sample_size(-1, 1, alternative="greater"), "or on the other side"),
        (lambda: exact_power(85, 80, 9), "p_b=85 .* shares of all items"),
        (lambda: sample_size_binary(0.7, 0.6), "of 1 together"),
        (lambda: exact_power(0.1, 0.2, 10**12), "power_t is as good"),
        (lambda: sample_size_binary(0.2, 0.2), "1,000,000 items are not enough"),
        (lambda: minimum_detectable_effect(9, 1, power=0.04), "power=0.04 must exceed alpha=0.05"),
        (lambda: power_curve(A, B, test="t"), "test='t' is not known; choose one of 'ex"),
        (lambda: power_curve(A, B, sizes=[5, 0]), r"sizes\[1\]=0 must be at least 1"),
        (lambda: power_curve(A, B, experiments=10**7), "more than 1,000,000: "),
        (lambda: power_curve(A, B, test="mcnemar"), "test='mcnemar' is for scores of 0 and 1"),
        (lambda: power_curve(A, B, test="sign", delta=0), "test='sign' is not about"),
        (lambda: power_curve(A, B[:5]), "a has 60 entries and b has 5"),
    ],
)
def test_what_is_wrong_or_cannot_be_planned_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_are_even_as_in_the_manual():
    a = np.arange(100) % 3
    curve = partial(power_curve, experiments=10, rng=0)
    assert curve(a, 1 - a, sizes=5).sizes == (20, 40, 60, 80, 100)
    assert curve(a, 1 - a, sizes=[300, 7, 7]).sizes == (7, 300)
    assert curve(a[:5], a[5:10]).sizes == (2, 3, 4, 5)
    assert curve([1], [0]).sizes == (1,)


@sides
def test_the_exact_test_of_answers_has_its_exact_power(alternative):
    curve = power_curve(*RIGHT, sizes=[50, 200, 800], alternative=alternative, rng=0)
    for size, found in zip(curve.sizes, curve.power, strict=True):
        exact = exact_power(0.15, 0.1, size, alternative=alternative)
        assert abs(found - exact) < errors(exact)


@sides
@pytest.mark.parametrize("alpha", [0.4, 0.05, 0.001])
@pytest.mark.parametrize("n", [1, 5, 30, 400])
def test_bounds_decide_no_sample_otherwise_than_its_exact_test(n, alpha, alternative):
    _, _, values, shares = population(pt.Scores.of(A, B))
    times = np.random.default_rng(n).multinomial(n, shares, size=150)
    rows = np.array([np.repeat(values, t) for t in times])
    p = pt.exact_perm_test(rows, np.zeros_like(rows), axis=1, alternative=alternative).pvalue
    assert _rejected(values, times, alpha, alternative) == np.count_nonzero(p <= alpha)


@sides
def test_t_tests_of_normal_differences_have_the_power_of_noncentral_t(alternative):
    d = stats.norm.ppf((np.arange(4000) + 0.5) / 4000).round(3)
    how = {"sizes": [10, 40, 100], "alternative": alternative, "rng": 0, "delta": 0.3}
    for test, more in (("exact", 0.02), ("paired_t", 0)):  # nearly as powerful
        curve = power_curve(d, 0 * d, test=test, **how)
        for size, found in zip(curve.sizes, curve.power, strict=True):
            expected = power_t(size, 0.3, d.std(), alternative=alternative)
            assert abs(found - expected) < errors(expected) + more


def test_extreme_data():
    curve = partial(power_curve, experiments=9, rng=0)
    assert curve([3], [1], sizes=[1, 5, 6]).power == (0, 0, 1)
    assert set(curve([2, 2, 2], [2, 2, 2], sizes=3).power) == {0}
    assert curve([0.3, 0.5, 0.9], [0.1, 0.3, 0.7], sizes=[4, 6]).power == (0, 1)
    assert curve([10**30, 5], [0, 5 - 10**30], sizes=[3, 8]).power == (0, 1)


def test_a_curve_can_be_read():
    def curve(*shares: float) -> PowerCurve:
        sizes, ends = (100, 200, 300, 400)[: len(shares)], tuple((x, x) for x in shares)
        return PowerCurve(sizes, shares, ends, "exact", 0.05, "two-sided", 2000)

    falling = curve(0.3, 0.7, 0.6, 0.85)  # which is read off the nearest that never falls
    assert [falling.needed(x) for x in (0.75, 0.649, 0.2, 0.9)] == [350, 200, 100, None]
    assert str(curve(0.3, 0.85)).endswith("2000 samples); 191 pairs have a power of 80%.")
    assert str(curve(0.3)).endswith("no size here reaches 80%.")
    real = power_curve(*RIGHT, sizes=[*range(500, 1200, 100)], rng=0)
    assert real.needed(0.8) == pytest.approx(sample_size_binary(0.15, 0.1), rel=0.07)
    assert json.loads(real.to_json())["intervals"][0] == list(real.intervals[0])
