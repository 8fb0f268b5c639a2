"""Wilcoxon's and the sign test: exact whatever ties and zeros there are."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import permtest as pt
from permtest import alternatives as alt
from permtest.alternatives.ranks import SignedRanks
from tests.alternatives import known

DATA = {"plain": known.PLAIN, "tied": known.TIED}
SIDES = ("two-sided", "greater", "less")
sides = st.sampled_from(SIDES)
differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def midranks(values):
    """Twice the midrank of each value, by counting."""
    return [sum(y < x for y in values) * 2 + sum(y == x for y in values) + 1 for x in values]


def enumerated(d, alternative, zero_method):
    """p of the signed-rank test from all 2^n signs, as a fraction."""
    if zero_method == "wilcox":
        d = [x for x in d if x]
    ranks = [r if x else 0 for r, x in zip(midranks([abs(x) for x in d]), d, strict=True)]
    observed = sum(r if x > 0 else -r for r, x in zip(ranks, d, strict=True))
    sums = [
        sum(s * r for s, r in zip(signs, ranks, strict=True))
        for signs in product([1, -1], repeat=len(d))
    ]
    h = {"two-sided": abs, "greater": lambda s: s, "less": lambda s: -s}[alternative]
    return Fraction(sum(h(s) >= h(observed) for s in sums), len(sums))


@given(differences, sides, st.sampled_from(["wilcox", "pratt", "zsplit"]), st.integers(-2, 2))
@settings(max_examples=300)
def test_wilcoxon_equals_enumeration(d, alternative, zero_method, delta):
    zeros = [0] * len(d)
    options = {"alternative": alternative, "zero_method": zero_method, "delta": delta}
    result = alt.wilcoxon(d, zeros, **options)
    expected = enumerated([x - delta for x in d], alternative, zero_method)
    assert result.pvalue == pytest.approx(float(expected), rel=1e-12)
    moved = [x - delta for x in d]
    n = len(d) - (moved.count(0) if zero_method == "wilcox" else 0)
    zeros_left = 0 if zero_method != "pratt" else moved.count(0)
    total = n * (n + 1) / 2 - zeros_left * (zeros_left + 1) / 2
    assert result.statistic + result.details["W-"] == total
    assert result.details["n_zero"] == moved.count(0)


@pytest.mark.parametrize("name", DATA)
def test_wilcoxon_has_the_known_answers(name):
    (plus, minus, z, ties), exact, approximate, corrected, centre, interval = known.WILCOXON[name]
    a, b = DATA[name]
    for alternative, p in zip(SIDES, exact, strict=True):
        assert alt.wilcoxon(a, b, alternative=alternative).pvalue == pytest.approx(p, rel=1e-13)
    result = alt.wilcoxon(a, b)
    found = (result.statistic, *(result.details[key] for key in ("W-", "z", "tie_sum")))
    assert found == pytest.approx((plus, minus, z, ties), rel=1e-13)
    rough = alt.wilcoxon(a, b, method="approx")
    assert rough.pvalue == pytest.approx(approximate, rel=1e-12)
    assert rough.method == "normal approximation"
    assert alt.wilcoxon(a, b, method="approx", correction=True).pvalue == pytest.approx(corrected)
    assert result.estimate == pytest.approx(centre, rel=1e-14)
    assert result.confidence_interval() == pytest.approx(interval, rel=1e-13, abs=1e-15)


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=25).filter(any), sides, st.booleans())
@settings(max_examples=60)
def test_approximation_is_scipys(d, alternative, correction):
    for zero_method in ("wilcox", "pratt"):
        options = {"zero_method": zero_method, "correction": correction}
        peer = stats.wilcoxon(d, method="asymptotic", alternative=alternative, **options)
        found = alt.wilcoxon(d, [0] * len(d), method="approx", alternative=alternative, **options)
        if correction and alternative == "two-sided" and abs(found.details["z"]) < 1e-9:
            continue  # SciPy moves W+ beyond its mean, or not, by the sign of a zero
        assert found.pvalue == pytest.approx(peer.pvalue, rel=1e-11)


def test_exact_is_scipys_without_ties():
    rng = np.random.default_rng(1)
    d = rng.choice(np.arange(1, 200), 40, replace=False) * rng.choice([1, 1, -1], 40)
    for alternative in SIDES:
        peer = stats.wilcoxon(d, method="exact", alternative=alternative).pvalue
        p = alt.wilcoxon(d, np.zeros(40, int), alternative=alternative).pvalue
        assert p == pytest.approx(peer, rel=1e-12)


def test_float_noise_breaks_no_ties():
    a, b = [0.3, 0.5, 0.9, 0.4], [0.1, 0.3, 0.2, 0.6]
    assert len({x - y for x, y in zip(a, b, strict=True)}) == 4, "as floats all differ"
    assert alt.wilcoxon(a, b).details["tie_sum"] == 3**3 - 3


def test_nothing_to_rank():
    for zero_method in ("wilcox", "pratt", "zsplit"):
        for method in ("exact", "approx"):
            result = alt.wilcoxon([1, 2], [1, 2], zero_method=zero_method, method=method)
            assert result.pvalue == 1
    assert alt.sign([1, 2], [1, 2]).pvalue == 1
    assert alt.wilcoxon([1], [0]).pvalue == 1
    assert alt.wilcoxon([1], [0]).confidence_interval() == (-np.inf, np.inf)


def test_size():
    rng = np.random.default_rng(0)
    d = rng.choice([-1, 1], 100_000, p=[0.49, 0.51]) * rng.permutation(100_000)
    result = alt.wilcoxon(d, np.zeros(100_000, int))
    assert result.method == "exact"
    z = result.details["z"]
    assert result.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-2)
    ranks = SignedRanks.of(np.array([10**30, -(10**30), 3, 0], dtype=object), "wilcox")
    assert ranks.doubled.tolist() == [5, -5, 2]


def test_unknown_options():
    with pytest.raises(ValueError, match="zero_method='drop' is not known; choose one of 'wilcox'"):
        alt.wilcoxon([1, 2], [2, 1], zero_method="drop")
    with pytest.raises(ValueError, match="method='fast' is not known; choose one of 'exact'"):
        alt.wilcoxon([1, 2], [2, 1], method="fast")


# ---- the sign test ------------------------------------------------------------------------------


@given(differences, sides, st.integers(-2, 2))
def test_sign_test_is_the_permutation_test_of_signs(d, alternative, delta):
    result = alt.sign(d, [0] * len(d), alternative=alternative, delta=delta)
    signs = np.sign(np.array(d) - delta)
    expected = pt.exact_perm_test(signs, np.zeros(len(d), int), alternative=alternative)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    counts = tuple(result.details[key] for key in ("n_positive", "n_negative", "n_zero"))
    assert counts == (np.sum(signs > 0), np.sum(signs < 0), np.sum(signs == 0))


@pytest.mark.parametrize("name", DATA)
def test_sign_test_has_the_known_answers(name):
    for alternative, p in zip(SIDES, known.SIGN[name], strict=True):
        assert alt.sign(*DATA[name], alternative=alternative).pvalue == pytest.approx(p, rel=1e-13)


@given(
    st.lists(st.integers(-99, 99), min_size=1, max_size=40, unique=True),
    sides,
    st.sampled_from([0.5, 0.8, 0.95, 0.99]),
)
def test_interval_of_the_median_is_what_the_sign_test_does_not_reject(d, alternative, level):
    zeros = [0] * len(d)
    result = alt.sign(d, zeros, alternative=alternative)
    low, high = result.confidence_interval(level)
    for delta in (x + 0.5 for x in range(-101, 101, 7)):
        p = alt.sign(d, zeros, alternative=alternative, delta=delta).pvalue
        assert (low <= delta <= high) == (p > 1 - level)
