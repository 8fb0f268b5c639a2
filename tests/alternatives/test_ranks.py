"""Wilcoxon's test, the sign test and that of the median: exact with ties and zeros."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb
from statistics import median as middle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import permtest as pt
from permtest import alternatives as alt
from permtest.alternatives.ranks import (
    hodges_lehmann_sum,
    kth_walsh,
    median_tail,
    signed_rank_pvalues,
    signed_rank_quantile,
    signed_ranks,
)
from tests import naive
from tests.alternatives import known

SIDES = ("two-sided", "greater", "less")
sides = st.sampled_from(SIDES)
differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def midranks(values):
    """Twice the midrank of each value, by counting."""
    return [sum(y < x for y in values) * 2 + sum(y == x for y in values) + 1 for x in values]


def enumerated(d, alternative):
    """p of the signed-rank test from all 2^n signs, as a fraction."""
    d = [x for x in d if x]
    ranks = midranks([abs(x) for x in d])
    observed = int(np.dot(ranks, np.sign(d)))
    sums = [int(np.dot(signs, ranks)) for signs in product([1, -1], repeat=len(d))]
    h = naive.h_of(alternative)
    return Fraction(sum(h(s) >= h(observed) for s in sums), len(sums))


@given(differences, sides)
def test_wilcoxon_equals_enumeration(d, alternative):
    result = alt.wilcoxon(d, [0] * len(d), alternative=alternative)
    assert result.pvalue == pytest.approx(float(enumerated(d, alternative)), rel=1e-12)
    m = len(d) - d.count(0)
    other = alt.wilcoxon([0] * len(d), d)
    assert result.statistic + other.statistic == m * (m + 1) / 2


@pytest.mark.parametrize("name", known.SAMPLES)
def test_tests_have_the_known_answers(name):
    plus, exact, centre = known.WILCOXON[name]
    a, b = known.SAMPLES[name]
    for alternative, p in zip(SIDES, exact, strict=True):
        assert alt.wilcoxon(a, b, alternative=alternative).pvalue == pytest.approx(p, rel=1e-13)
    result = alt.wilcoxon(a, b)
    assert result.statistic == plus
    assert result.estimate == pytest.approx(centre, rel=1e-14)
    with pytest.raises(ValueError, match="the Wilcoxon signed-rank test has no interval"):
        result.confidence_interval()


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=25).filter(any), sides)
@settings(max_examples=60)
def test_approximation_is_scipys(d, alternative):
    found = signed_rank_pvalues(
        np.array(d), np.zeros(len(d), int), alternative=alternative, approximate=True
    )
    peer = stats.wilcoxon(d, method="asymptotic", alternative=alternative)
    assert found == pytest.approx(peer.pvalue, rel=1e-11)


def test_float_noise_breaks_no_ties():
    a, b = [0.3, 0.5, 0.9, 0.4], [0.1, 0.3, 0.2, 0.6]
    assert len({x - y for x, y in zip(a, b, strict=True)}) == 4, "as floats all differ"
    assert alt.wilcoxon(a, b).pvalue == alt.wilcoxon([2, 2, 7, -2], [0] * 4).pvalue
    ranks = signed_ranks(np.array([10**30, -(10**30), 3, 0], dtype=object))
    assert ranks.tolist() == [5, -5, 2, 0]


@pytest.mark.parametrize("alternative", SIDES)
def test_nothing_to_rank(alternative):
    for test in (alt.wilcoxon, alt.sign, alt.permutation_median):
        assert test([1, 2], [1, 2], alternative=alternative).pvalue == 1
    row = np.zeros(3, int)
    assert signed_rank_pvalues(row, row, alternative=alternative, approximate=True) == 1


@given(differences, sides)
def test_sign_test_is_the_permutation_test_of_signs(d, alternative):
    result, signs = alt.sign(d, [0] * len(d), alternative=alternative), np.sign(d)
    expected = pt.exact_perm_test(signs, 0 * signs, alternative=alternative)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert result.statistic == np.sum(signs == 1)


def median_pvalue(d, alternative):
    """By all 2^N choices of signs."""
    law = Counter(middle(map(Fraction, row)) for row in product(*((x, -x) for x in d)))
    h, m = naive.h_of(alternative), middle(map(Fraction, d))
    return Fraction(sum(ways for x, ways in law.items() if h(x) >= h(m)), 2 ** len(d))


HUGE = [10**30, -(10**30), 10**30 + 3, 2**62, -(2**62), 0]
some = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=9),
    st.lists(st.integers(-40, 60), min_size=1, max_size=9),
    st.lists(st.sampled_from(HUGE), min_size=1, max_size=7),
)


@given(some, sides)
def test_median_is_exact(d, alternative):
    r = alt.permutation_median(d, [0] * len(d), alternative=alternative)
    assert r.pvalue == pytest.approx(float(median_pvalue(d, alternative)), rel=1e-13)
    assert r.statistic == r.estimate == float(middle(map(Fraction, d)))


def exact_tail(d, m):
    """P(twice the median >= m > 0), one middle value after the other."""
    w, n = sorted(map(abs, d)), len(d)
    if n % 2:
        large = sum(2 * x >= m for x in w)
        return Fraction(sum(comb(large, k) for k in range((n + 1) // 2, large + 1)), 2**large)
    free = [n - max(i + 1, sum(x < m - w[i] for x in w)) for i in range(n // 2)]
    lowest = Fraction(comb(sum(x >= m + w[0] for x in w), n // 2), 2**n)
    return lowest + sum(Fraction(comb(f, n // 2), 2 ** (n - i)) for i, f in enumerate(free))


@pytest.mark.parametrize("n", [700, 701])
@pytest.mark.parametrize("m", [1, 8, 60, 300, 500])
def test_far_tails_of_the_median_keep_their_digits(n, m):
    d = np.random.default_rng(n).integers(-400, 401, size=n)
    expected, found = float(exact_tail(d.tolist(), m)), median_tail(d, m)
    assert found == pytest.approx(expected, rel=1e-12) or max(found, expected) < 1e-290


@given(
    st.one_of(
        st.lists(x, min_size=1, max_size=12)
        for x in (st.integers(-9, 9), st.integers(-(10**30), 10**30))
    )
)
def test_every_sum_is_found_at_its_rank(steps):
    sums = sorted(x + y for x, y in combinations_with_replacement(steps, 2))
    array = np.array(steps, dtype=object if max(map(abs, steps)) >= 2**60 else np.int64)
    assert kth_walsh(array, range(1, len(sums) + 1)) == sums
    assert hodges_lehmann_sum(array) == middle(map(Fraction, sums))
    edge = np.array([1 - 2**60, 2**60 - 1, 0])  # of machine integers
    assert kth_walsh(edge, [1, 2, 6]) == [2 - 2**61, 1 - 2**60, 2**61 - 2]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 29, 30, 31, 75, 120])
@pytest.mark.parametrize("alpha", [0.5, 0.125, 0.05, 0.025, 1e-7])
def test_quantiles_of_the_law_of_ranks(n, alpha):
    k = signed_rank_quantile(n, alpha)
    counts = [1]  # of sets of ranks with each sum
    for i in range(1, n + 1):
        counts = [x + y for x, y in zip(counts + [0] * i, [0] * i + counts, strict=True)]
    below = sum(counts[:k])
    assert below <= Fraction(alpha) * 2**n < below + counts[k]
