"""Scores that may be off: p is exact where that decides no tie, and else lies in a bracket."""

import math
from fractions import Fraction

import numpy as np
import pytest

import permtest as pt
from tests import naive


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


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_both_ends_of_p_where_rounding_decides_ties(alternative):
    """Sums may be off by 0.4 in all, on a lattice of fifths: three cells further out, two in."""
    tenths, scale = [4, 6, -4, 5, 2], {"two-sided": abs, "greater": int, "less": lambda s: -s}
    u = [x / 10 for x in tenths]
    scores = pt.Scores.of(u, [0] * 5, tolerance=(0.1, 0.1))
    result = pt.exact_perm_test(scores, alternative=alternative)
    sums = [scale[alternative](s) for s in naive.labellings(tenths, [0] * 5)]
    observed = 2 if alternative == "two-sided" else 1  # extreme, however ties break
    far = sum(s >= sums[0] + 6 for s in sums) + observed
    near = sum(s >= sums[0] - 4 for s in sums)
    assert result.method == "bracket"
    assert result.pvalue_interval() == pytest.approx((far / 32, near / 32), rel=1e-14)
    alike = pt.exact_perm_test([math.pi], [math.pi], alternative=alternative)
    assert alike.pvalue_interval()[0] >= 1 - 1e-15


def test_h_wants_exact_scores():
    u, v = [math.pi, 1], [math.e, 0]
    with pytest.raises(ValueError, match="pass Fraction"):
        pt.exact_perm_test(u, v, h=abs)
    exact = ([Fraction(x) for x in column] for column in (u, v))
    assert pt.exact_perm_test(*exact, h=abs).pvalue == 0.5
