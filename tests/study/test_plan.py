"""Sample sizes against known answers, statsmodels and a direct search."""

from fractions import Fraction
from math import ceil, comb, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from permtest.study.plan import outlook, units_needed
from permtest.study import (
    exact_power,
    exact_power_n,
    minimum_detectable_effect,
    power_t,
    sample_size,
)
from tests.study.known import PROSPECTIVE_MCNEMAR, PROSPECTIVE_T

LARGER = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
sides = pytest.mark.parametrize("alternative", LARGER)


# ---- the t test ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PROSPECTIVE_T)
def test_sizes_for_the_t_test_are_known(case):
    delta, sigma, power, alpha, sides = case
    n, achieved, before = PROSPECTIVE_T[case]
    level = {"alpha": alpha, "alternative": {1: "greater", 2: "two-sided"}[sides]}
    assert sample_size(delta, sigma, power=power, **level) == n
    found = [power_t(size, delta, sigma, **level) for size in (n, n - 1)]
    assert found == pytest.approx([achieved, before], rel=1e-9)
    if sides == 1:
        assert sample_size(-delta, sigma, power=power, alpha=alpha, alternative="less") == n


@given(
    st.integers(2, 400),
    st.floats(-2, 2),
    st.sampled_from([0.05, 0.01, 0.2]),
    st.sampled_from(list(LARGER)),
)
def test_power_by_statsmodels(n, effect, alpha, alternative):
    expected = TTestPower().power(effect, n, alpha, alternative=LARGER[alternative])
    found = power_t(n, 3 * effect, 3, alpha=alpha, alternative=alternative)
    if np.isnan(expected):  # where the power is nearly 0 or 1
        assert min(found, 1 - found) < 1e-3
    else:
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-10)


@settings(max_examples=60)
@given(st.floats(0.003, 4), st.floats(0.3, 0.99), st.sampled_from(["two-sided", "greater"]))
def test_the_size_is_the_smallest_and_that_of_statsmodels(effect, power, alternative):
    n = sample_size(effect, 1, power=power, alternative=alternative)
    assert power_t(n, effect, 1, alternative=alternative) >= power
    assert n == 2 or power_t(n - 1, effect, 1, alternative=alternative) < power
    if 4 < n < 10_000:
        options = {"power": power, "alpha": 0.05, "alternative": LARGER[alternative]}
        assert n == ceil(TTestPower().solve_power(effect, **options) - 1e-6)


@sides
def test_the_effect_that_a_size_can_find_is_the_inverse(alternative):
    delta = minimum_detectable_effect(40, 2.5, power=0.9, alternative=alternative)
    assert power_t(40, delta, 2.5, alternative=alternative) == pytest.approx(0.9, abs=1e-9)
    assert (delta < 0) == (alternative == "less")


# ---- scores of 0 and 1 ---------------------------------------------------------------------------


def test_size_for_mcnemar_is_known():
    p_b, p_c, expected = PROSPECTIVE_MCNEMAR
    of = {"p_b": p_b, "p_c": p_c}
    found = units_needed(of, power=0.8, alpha=0.05, alternative="two-sided", most=0)
    assert found == ceil(expected)


def enumerated(p_b: float, p_c: float, n: int, alpha: float, alternative: str) -> float:
    """Power of the exact test from all b and c, in fractions."""
    b_share, c_share, level = (Fraction(str(x)) for x in (p_b, p_c, alpha))
    total = Fraction(0)
    for b in range(n + 1):
        for c in range(n + 1 - b):
            k = {"two-sided": min(b, c), "greater": c, "less": b}[alternative]
            tail = Fraction(sum(comb(b + c, i) for i in range(k + 1)), 2 ** (b + c))
            if min(2 * tail if alternative == "two-sided" else tail, 1) <= level:
                rest = (1 - b_share - c_share) ** (n - b - c)
                total += comb(n, b) * comb(n - b, c) * b_share**b * c_share**c * rest
    return float(total)


@sides
@pytest.mark.parametrize("alpha", [0.05, 0.0625, 0.5, 0.9])
def test_exact_power_is_the_enumerated_one(alternative, alpha):
    for n in (1, 6, 17):
        for p_b, p_c in ((0.3, 0.1), (0.5, 0.5), (0, 0.4), (1, 0), (0, 0)):
            found = exact_power(p_b, p_c, n, alpha=alpha, alternative=alternative)
            expected = enumerated(p_b, p_c, n, alpha, alternative)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("chances", [(0.6, 0.4), (0.3, 0.05), (0.75, 0.25), (0.1, 0.02)])
def test_the_size_for_a_power_is_the_one_that_a_full_search_finds(chances):
    enough = np.array([exact_power(*chances, n) for n in range(1, 400)]) >= 0.8
    assert exact_power_n(*chances) == int(np.flatnonzero(~enough)[-1]) + 2


# ---- the next study ------------------------------------------------------------------------------


@sides
def test_the_outlook_is_what_the_functions_say(alternative):
    how = {"alpha": 0.1, "alternative": alternative}
    d = np.array([3, 5, -1, 4, 0, 2, 2, -2, 6, 1, 0, 3]) * (-1 if alternative == "less" else 1)
    mean, deviation, found = d.mean(), d.std(ddof=1), outlook(d, **how)
    assert found.power == power_t(12, mean, deviation, **how)
    assert found.needed == sample_size(mean, deviation, **how)
    assert found.detectable == minimum_detectable_effect(12, deviation, **how)
    shares, found = (np.mean(d > 0), np.mean(d < 0)), outlook(np.sign(d), **how)
    assert found.power == exact_power(*shares, 12, **how)
    assert found.needed == exact_power_n(*shares, **how)


FEW = "5 units cannot give a p of 0.05 or less; you need 6"
FAR = "no difference is large enough that 10 units"


@pytest.mark.parametrize(
    ("d", "limit", "power", "detectable", "needed", "problem"),
    [
        ([1, 2, 3, 4, 5], inf, 0.0, False, 6, FEW),
        ([1, -1, 2, -2, 1, -1], inf, 0.05, True, None, "the systems tie, and no"),
        ([0.5, -0.9] * 5, 0.1, None, False, True, FAR),
    ],
)
def test_what_no_study_finds_is_told(d, limit, power, detectable, needed, problem):
    found = outlook(d, limit=limit)
    assert found.problem.startswith(problem)
    assert (found.detectable is not None) == detectable
    assert found.needed == needed or needed is True
    assert power is None or found.power == pytest.approx(power)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sample_size(0, 1), ValueError, "delta is 0"),
        (lambda: sample_size(0.1, 0), ValueError, "sigma=0 must be above 0"),
        (lambda: sample_size("x", 1), TypeError, "delta='x' must be a number"),
        (lambda: sample_size(1, 1, power=1), ValueError, "power must lie in .*, got 1"),
        (lambda: sample_size(1, 1, power=0.05), ValueError, "power=0.05 must exceed alpha=0.05"),
        (lambda: sample_size(1, 1, alternative="more"), ValueError, "alternative='more'"),
        (lambda: sample_size(-1, 1, alternative="greater"), ValueError, "wrong sign"),
        (lambda: sample_size(1e-9, 1), ValueError, "you would need more than"),
        (lambda: power_t(1, 1, 1), ValueError, "n=1 must be at least 2: a single pair"),
        (lambda: power_t(5, 10**400, 1), ValueError, "delta is too large for a float"),
        (lambda: exact_power(85, 80, 9), ValueError, "p_b=85 .* not percent"),
        (lambda: exact_power_n(0.7, 0.6), ValueError, "more than 1"),
        (lambda: exact_power(0.1, 0.2, 10**12), ValueError, r"power_t\(n, -0.1, 0.538516\) is as"),
        (lambda: exact_power_n(0.2, 0.2), ValueError, "p_b - p_c is 0"),
        (lambda: exact_power_n(0.1, 0.1001), ValueError, r"sample_size\(-0.0001, 0.447325\) is as"),
        (lambda: outlook([1, 1, 1]), ValueError, "all differences are equal"),
    ],
)
def test_what_cannot_be_planned(call, error, message):
    with pytest.raises(error, match=message):
        call()
