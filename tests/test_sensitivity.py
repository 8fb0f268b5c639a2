"""Rosenbaum's bound: against all biased signs one by one, and where significance ends."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import exact_perm_test, monte_carlo
from tests import naive
from tests.strategies import alternatives, pairs


@given(pairs(("binary", "small", "signed"), max_size=8), alternatives, st.sampled_from([1, 1.5, 4]))
def test_bounds_against_all_biased_signs(both, alternative, gamma):
    u, v = both
    sizes = [abs(x - y) for x, y in zip(u, v, strict=True) if x != y]
    lead, odds = sum(u) - sum(v), Fraction(str(gamma))
    towards = {"greater": lead, "less": -lead, "two-sided": abs(lead)}[alternative]
    exact = naive.biased_tail(sizes, towards, odds)
    if alternative == "two-sided":
        exact = min(Fraction(1), 2 * exact) if lead else Fraction(1)
    result = exact_perm_test(u, v, alternative=alternative)
    found = result.sensitivity(gamma)
    assert abs(Fraction(found.pvalue) - exact) <= Fraction(found.error_bound + 3e-16) * exact
    if gamma == 1:
        assert found.pvalue == pytest.approx(result.pvalue, rel=1e-12)


@pytest.mark.parametrize("most", [1, 10, 400])
def test_without_bias_it_is_p(most):
    """At sizes that no enumeration reaches, next to the mean and far from it."""
    rng = np.random.default_rng(most)
    u, v = rng.integers(0, most + 1, (2, 400))
    for lead in (0, 1):
        result = exact_perm_test(u + lead * (rng.random(400) < 0.4) * most, v)
        found = result.sensitivity(1)
        bound = found.error_bound + result.error_bound + 1e-15 * abs(found.log10_pvalue)
        assert found.error_bound < 1e-12
        assert found.pvalue == pytest.approx(result.pvalue, rel=bound)
        assert found.log10_pvalue == pytest.approx(result.log10_pvalue, rel=1e-13, abs=1e-12)


def test_a_tail_whose_transform_nearly_vanishes():
    found = exact_perm_test([-4, 2], [0, 0], alternative="less").sensitivity(3)
    assert abs(found.pvalue - 0.75) <= found.error_bound < 1e-13


def test_with_an_enormous_bias_anything_could_be():
    u, v = np.random.default_rng(2).integers(0, 400, (2, 400))
    assert exact_perm_test(u, v).sensitivity(1e5).pvalue == 1


def test_significance_ends_where_the_bound_reaches_alpha():
    rng = np.random.default_rng(0)
    v = rng.integers(0, 20, 500)
    result = exact_perm_test(v + rng.integers(-4, 6, 500), v)
    gamma = result.tipping_gamma(0.01)
    assert result.sensitivity(gamma).pvalue <= 0.01 < result.sensitivity(gamma * 1.001).pvalue
    assert exact_perm_test([1, 0], [0, 1]).tipping_gamma() is None
    assert f"up to {gamma:g} times" in str(result.sensitivity(gamma))


def test_scores_of_many_digits_are_rounded_outward():
    u, v = np.random.default_rng(1).normal([[0.2], [0]], 1, (2, 400))
    bound, exact = (
        exact_perm_test(*scores).sensitivity(1.3).pvalue
        for scores in ((u, v), (np.round(u, 4), np.round(v, 4)))
    )
    assert exact * 0.999 < bound < exact * 1.02


def test_a_giant_among_ones_leaves_the_bound_exact():
    bound = exact_perm_test([10**7, 1, 1, 1], [0] * 4, alternative="greater").sensitivity(3)
    assert abs(bound.pvalue - 0.75**4) <= bound.error_bound * 0.75**4


def test_differences_that_rounding_makes_nothing_of():
    u = [10**9, 10**8 + 1, 10**7 + 1, 3 * 10**6, 1, 1]
    bound = exact_perm_test(u, [0] * 6, alternative="greater").sensitivity(3).pvalue
    exact = naive.biased_tail(list(map(abs, u)), sum(u), Fraction(3))
    assert exact <= Fraction(bound) < 3 * exact


def test_the_far_side_of_small_differences_next_to_a_large_one():
    u = [-48908, 3] + [-3] * 112
    bound = exact_perm_test(u, [0] * len(u), alternative="greater").sensitivity(3)
    assert bound.pvalue == pytest.approx(1, rel=1e-12)


def test_floats_whose_ties_are_in_doubt_count_as_ties():
    u, v = np.random.default_rng(1).normal(size=(2, 40))
    result = exact_perm_test(u, v, rounding=1e-3)
    assert result.sensitivity(1).pvalue >= result.pvalue_interval()[0]


def test_what_has_no_bound():
    f1 = exact_perm_test([[1, 0, 0]], [[0, 1, 1]], statistic="f1")
    with pytest.raises(ValueError, match="tests of one sum, not for f1"):
        f1.sensitivity(2)
    with pytest.raises(ValueError, match="exact p"):
        monte_carlo([1], [0], rng=0).sensitivity(2)
    with pytest.raises(ValueError, match=r"gamma=0\.5 must be 1 or more"):
        exact_perm_test([1], [0]).sensitivity(0.5)
    with pytest.raises(ValueError, match="leave h out"):
        exact_perm_test([1, 3], [0, 5], h=lambda x: -abs(x)).sensitivity(2)
