"""Permutation tests against all 2^N choices of signs, and against integer arithmetic."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permtest.alternatives.medians import _SignFlips
from scipy.stats import binomtest

from permtest import Pairs, exact_perm_test
from permtest import alternatives as alt
from permtest.margins import noninferiority_test
from tests import naive
from tests.strategies import alternatives

# ---- the median ---------------------------------------------------------------------------------


def median(values):
    x = sorted(values)
    return Fraction(x[(len(x) - 1) // 2] + x[len(x) // 2]) / 2


def every_median(d):
    """The median under each of the 2^N choices of signs, and how many choices have it."""
    return Counter(median(row) for row in product(*((x, -x) for x in d)))


def naive_pvalue(d, alternative):
    law, h = every_median(d), naive.h_of(alternative)
    extreme = sum(ways for m, ways in law.items() if h(m) >= h(median(d)))
    return Fraction(extreme, 2 ** len(d))


HUGE = [10**30, -(10**30), 10**30 + 3, 2**62, -(2**62), 0]
differences = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=9),
    st.lists(st.integers(-40, 60), min_size=1, max_size=9),
    st.lists(st.sampled_from(HUGE), min_size=1, max_size=7),
)


@settings(max_examples=150)
@given(differences, alternatives)
def test_median_is_exact(d, alternative):
    r = alt.permutation_median(d, [0] * len(d), alternative=alternative)
    assert r.pvalue == pytest.approx(float(naive_pvalue(d, alternative)), rel=1e-13)
    assert r.statistic == float(median(d)) == r.estimate
    assert r.details["zeros"] == d.count(0)


@settings(max_examples=60)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8), st.integers(-30, 30))
def test_the_whole_law_of_the_median(d, m):
    law = every_median(d)
    tail = Fraction(sum(ways for x, ways in law.items() if 2 * x >= m), 2 ** len(d))
    found = _SignFlips.of(np.array(d)).upper_tail(m)
    assert found == pytest.approx(float(tail), rel=1e-13)


@settings(max_examples=60)
@given(
    st.lists(st.integers(-6, 9), min_size=1, max_size=7),
    st.fractions(-8, 8, max_denominator=6),
    alternatives,
)
def test_delta_shifts_the_differences(d, delta, alternative):
    r = alt.permutation_median(d, [0] * len(d), alternative=alternative, delta=delta)
    shifted = [x - delta for x in d]
    assert r.pvalue == pytest.approx(float(naive_pvalue(shifted, alternative)), rel=1e-13)
    assert (r.statistic, r.estimate) == (float(median(shifted)), float(median(d)))


@settings(max_examples=40)
@given(
    st.lists(st.integers(-4, 6), min_size=1, max_size=8),
    alternatives,
    st.sampled_from([0.2, 0.5, 0.8, 0.9, 0.95]),
)
def test_the_interval_has_the_shifts_that_are_not_rejected(d, alternative, level):
    r = alt.permutation_median(d, [0] * len(d), alternative=alternative)
    low, high = r.confidence_interval(level)
    alpha = 1 - Fraction(str(level))
    for quarter in range(4 * (min(d) - 12), 4 * (max(d) + 12) + 1, 2):
        for shift in (Fraction(quarter, 4), Fraction(quarter, 4) + Fraction(1, 4)):
            p = naive_pvalue([x - shift for x in d], alternative) if len(d) < 6 else None
            if p is None:
                p = alt.permutation_median(
                    d, [0] * len(d), alternative=alternative, delta=shift
                ).pvalue
            assert (low <= shift <= high) == (p > float(alpha) * (1 + 1e-12))


def test_ends_are_closed_and_exact():
    rng = np.random.default_rng(3)
    for n in (30, 31, 400, 401):
        d = rng.integers(-300, 500, size=n) / 100
        for level in (0.9, 0.95):
            test = alt.permutation_median(d, np.zeros(n))
            for end, inwards in zip(test.confidence_interval(level), (1, -1), strict=True):
                at = Fraction(str(end))
                assert (at * 400).denominator == 1
                for shift, inside in ((at, True), (at - Fraction(inwards, 10**6), False)):
                    p = alt.permutation_median(d, np.zeros(n), delta=shift).pvalue
                    assert (p > 1 - level + 1e-12) == inside


def test_too_few_pairs_exclude_nothing():
    d = [1, 2, 3, 4, 5]
    r = alt.permutation_median(d, [0] * 5)
    assert r.pvalue == 2 * 2**-3
    assert tuple(r.confidence_interval()) == (-inf, inf)
    assert r.confidence_interval(0.7).low > 0
    greater = alt.permutation_median(d, [0] * 5, alternative="greater")
    assert greater.confidence_interval(0.8).high == inf
    assert greater.confidence_interval(0.8).low > 0


def exact_tail(d, m):
    """P(twice the median >= m > 0) to sixty digits, one middle value after the other."""
    w, n = sorted(map(abs, d)), len(d)
    with localcontext(prec=60):
        if n % 2:
            large, half = sum(2 * x >= m for x in w), (n + 1) // 2
            term = Decimal(comb(large, half))
            total = term
            for k in range(half + 1, large + 1):
                term = term * (large - k + 1) / k
                total += term
            return total / Decimal(2) ** large
        total, half = Decimal(0), n // 2
        for i in range(half):
            free = n - max(i + 1, sum(x < m - w[i] for x in w))
            total += Decimal(comb(free, half)) / Decimal(2) ** (n - i)
        return total + Decimal(comb(sum(x >= m + w[0] for x in w), half)) / Decimal(2) ** n


@pytest.mark.parametrize("n", [700, 701])
@pytest.mark.parametrize("m", [1, 8, 60, 300, 500])
def test_far_tails_keep_their_digits(n, m):
    d = np.random.default_rng(n).integers(-400, 401, size=n).tolist()
    expected = exact_tail(d, m)
    found = _SignFlips.of(np.array(d)).upper_tail(m)
    if expected > Decimal("1e-300"):
        assert found == pytest.approx(float(expected), rel=1e-12)
    else:
        assert found < 1e-290


def test_a_hundred_thousand_pairs():
    n = 100_001
    d = np.random.default_rng(1).integers(-500, 501, size=n)
    expected = float(exact_tail(d.tolist(), 20))
    assert expected < 1e-3
    assert _SignFlips.of(d).upper_tail(20) == pytest.approx(expected, rel=1e-12)
    even = _SignFlips.of(d[1:]).upper_tail(20)
    assert even == pytest.approx(expected, rel=0.2)  # one pair more or less
    p = alt.permutation_median(np.abs(d) + 1, np.zeros(n, dtype=int)).pvalue
    assert p == 5e-324


def test_medians_of_symmetric_differences_hold_their_level():
    rejected = []
    for k in range(600):
        rng = np.random.default_rng([3, k])
        d = (rng.lognormal(size=20) - rng.lognormal(size=20)).round(4)
        rejected.append(alt.permutation_median(d, np.zeros(20)).pvalue <= 0.05)
    assert np.mean(rejected) <= 0.05 + 3 * 0.009


# ---- the mean -----------------------------------------------------------------------------------


def test_mean_is_the_exact_test():
    u, v = [3, 5.5, 4, 6, 2, 4, 9, 8], [2, 3, 4.25, 3, 1, 5, 4, 7]
    for alternative in ("two-sided", "greater", "less"):
        r = alt.permutation_mean(u, v, alternative=alternative)
        exact = exact_perm_test(u, v, alternative=alternative)
        assert (r.pvalue, r.statistic) == (exact.pvalue, exact.statistic)
        assert r.details["method"] == exact.method
        assert r.details["error_bound"] == exact.error_bound
        assert r.confidence_interval(0.9) == exact.confidence_interval(0.9)
    assert (r.test, r.method, r.names) == ("exact", "exact", ("a", "b"))


def test_mean_at_a_margin():
    u, v = [4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4]
    r = alt.permutation_mean(u, v, delta=-0.5, alternative="greater", names=("x", "y"))
    assert r.pvalue == noninferiority_test(u, v, 0.5).pvalue == 3 / 32
    assert (r.delta, r.estimate, r.statistic, r.names) == (-0.5, 0.0, 3.0, ("x", "y"))
    free = alt.permutation_mean(u, v, alternative="greater")
    assert r.confidence_interval() == free.confidence_interval()
    assert {a.name for a in r.assumptions} != {a.name for a in free.assumptions}


@settings(max_examples=30)
@given(
    st.lists(st.integers(-6, 9), min_size=1, max_size=8),
    st.fractions(-8, 8, max_denominator=6),
    alternatives,
)
def test_mean_against_any_delta(d, delta, alternative):
    r = alt.permutation_mean(d, [0] * len(d), alternative=alternative, delta=delta)
    shifted = [int((x - delta) * delta.denominator) for x in d]
    expected = naive.pvalue(shifted, [0] * len(d), h=naive.h_of(alternative))
    assert r.pvalue == pytest.approx(float(expected), rel=1e-13)


def test_huge_scores():
    u, v = [10**40, 10**40 + 5, 3], [0, 10**40, 3]
    assert alt.permutation_mean(u, v).pvalue == 0.5
    assert alt.permutation_median(u, v).pvalue == 0.5 == naive_pvalue([10**40, 5, 0], "two-sided")
    assert alt.permutation_median(u, v).estimate == 5


# ---- any measure --------------------------------------------------------------------------------


def naive_randomisation(u, v, measure, alternative, clusters=None):
    """The share of all swaps at least as extreme."""
    n = len(u)
    labels = (
        list(range(n)) if clusters is None else [sorted(set(clusters)).index(c) for c in clusters]
    )
    h, found = naive.h_of(alternative), []
    for swaps in product([False, True], repeat=max(labels) + 1):
        first = [v[i] if swaps[labels[i]] else u[i] for i in range(n)]
        second = [u[i] if swaps[labels[i]] else v[i] for i in range(n)]
        found.append(h(measure(first) - measure(second)))
    return sum(x >= found[0] - 1e-9 for x in found) / len(found)


def covers(result, p):
    """Whether a sampled p agrees with the exact one, but for one time in 100 000."""
    count = round(result.pvalue * (result.n_samples + 1)) - 1
    low, high = binomtest(count, result.n_samples).proportion_ci(1 - 1e-5, "exact")
    return low <= p <= high


U, V = [9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("measure", [np.median, np.mean, np.ptp])
def test_callables_against_all_swaps(measure, alternative):
    r = alt.randomisation(U, V, statistic=measure, alternative=alternative, K=4000, rng=0)
    p = naive_randomisation(U, V, measure, alternative)
    assert covers(r, p)
    assert r.estimate == measure(U) - measure(V)
    low, high = r.details["pvalue_low"], r.details["pvalue_high"]
    share = round(r.pvalue * 4001 - 1) / 4000
    assert 0 <= low <= share <= high <= 1
    assert high - low < 0.04
    assert (r.method, r.n_samples, r.n) == ("sampled", 4000, 8)


def test_clusters_are_swapped_as_wholes():
    clusters = ["x", "x", "y", "z", "z", "z", "w", "w"]
    r = alt.randomisation(U, V, statistic=np.mean, clusters=clusters, K=4000, rng=0)
    p = naive_randomisation(U, V, np.mean, "two-sided", clusters)
    assert p != naive_randomisation(U, V, np.mean, "two-sided")
    assert covers(r, p)
    assert r.n == 4
    named = alt.randomisation(U, V, clusters=clusters)
    assert named.pvalue == exact_perm_test(U, V, clusters=clusters).pvalue


def test_rows_and_objects():
    u = [(3, 1), (2, 0), (0, 2), (4, 1), (2, 2)]
    v = [(1, 1), (2, 2), (0, 3), (1, 3), (2, 0)]

    def share(rows):
        hits, misses = np.sum(rows, axis=0)
        return hits / (hits + misses)

    exact = naive_randomisation(u, v, share, "greater")
    rows = alt.randomisation(u, v, statistic=share, alternative="greater", K=3000, rng=2)
    assert covers(rows, exact)
    words, others = ["a", "bb", "cc", "dddd"], ["a", "b", "", "dd"]

    def letters(texts):
        assert all(isinstance(text, str) for text in texts)
        return len("".join(texts))

    r = alt.randomisation(words, others, statistic=letters, K=3000, rng=1)
    assert covers(r, exact_perm_test([1, 2, 2, 4], [1, 1, 0, 2]).pvalue)
    assert r.estimate_name == "letters difference"


def test_ties_count_in_spite_of_rounding():
    u, v = [0.1, 0.2, 0.3, 0.7], [0.3, 0.1, 0.2, 0.4]
    r = alt.randomisation(u, v, statistic=sum, K=2000, rng=0)
    assert covers(r, exact_perm_test(u, v).pvalue)
    level = alt.randomisation([0.1, 0.2, 0.3], [0.3, 0.1, 0.2], statistic=np.sum, K=500, rng=0)
    assert level.pvalue == 1


def test_names_are_exact():
    r = alt.randomisation(U, V, names=("new", "old"))
    assert (r.pvalue, r.method, r.details["method"]) == (0.0625, "exact", "dp")
    assert (r.names, r.n_samples, r.estimate) == (("new", "old"), None, 12)
    a, b = (
        [(3, 0, 0), (2, 1, 0), (0, 1, 1), (4, 0, 1)],
        [(2, 1, 1), (2, 0, 0), (0, 2, 1), (2, 2, 3)],
    )
    assert alt.randomisation(a, b, statistic="f1").pvalue == 0.375
    pairs = Pairs.of_counts(a, b, [("tp", "fp", "fn")], ("x", "y"))
    assert alt.randomisation(pairs, statistic="f1").names == ("x", "y")


def test_names_out_of_reach_are_sampled():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 40, size=(2, 60, 6, 3))
    r = alt.randomisation(a, b, statistic="macro_f1", rng=0)
    assert r.method == "sampled"
    assert r.n_samples > 0
    assert r.details["pvalue_low"] < r.pvalue < r.details["pvalue_high"]


def test_seeds():
    first, again = (alt.randomisation(U, V, statistic=np.median, K=300, rng=5) for _ in range(2))
    assert first.pvalue == again.pvalue
    other = [alt.randomisation(U, V, statistic=np.ptp, K=300, rng=k).pvalue for k in range(5)]
    assert len(set(other)) > 1


@pytest.mark.parametrize(
    ("u", "v", "options", "error", "message"),
    [
        ([], [], {"statistic": len}, ValueError, "no entries"),
        ([1, 2], [2], {"statistic": sum}, ValueError, "2 entries and v has 1"),
        ([1, 2], [2, 1], {"statistic": sum, "K": 0}, ValueError, "K = 0"),
        ([1, 2], [2, 1], {"statistic": sum, "clusters": [1]}, ValueError, "clusters has 1 labels"),
        ([1, 2], [2, 1], {"statistic": sum, "rng": "x"}, TypeError, "rng must be"),
        ([1, 2], [2, 1], {"statistic": "som"}, ValueError, "did you mean 'sum'"),
        ([1, 2], [2, 1], {"alternative": "up"}, ValueError, "alternative='up'"),
        ([1, 2], [2, 1], {"statistic": lambda x: float("nan")}, ValueError, "returned nan"),
    ],
)
def test_bad_arguments_are_named(u, v, options, error, message):
    with pytest.raises(error, match=message):
        alt.randomisation(u, v, **options)


@pytest.mark.parametrize("test", [alt.permutation_mean, alt.permutation_median])
def test_bad_scores_are_named(test):
    with pytest.raises(ValueError, match="0 pairs"):
        test([], [])
    with pytest.raises(ValueError, match=r"a\[0\]"):
        test([float("nan")], [1])
    with pytest.raises(ValueError, match="alternative='up'"):
        test([1], [1], alternative="up")
    assert test(Pairs.of([1, 2], [0, 0], ("x", "y"))).names == ("x", "y")
