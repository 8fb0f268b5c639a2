"""Intervals and tests against margins: by all subset means, on either side of an end, in words."""

import json
import pickle
from decimal import Decimal
from fractions import Fraction
from math import inf, log, pi, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from permtest import Scores, equivalence_test, exact_perm_test, interval, noninferiority_test
from permtest.interval import against
from permtest.question import ask
from tests import naive
from tests.strategies import alternatives, graded_pairs

levels = st.sampled_from([0.1, 0.5, 0.75, 0.8, 0.9, 0.9375, 0.95, 0.99])
decimals = st.decimals(-9, 9, places=2)
margins = st.fractions(Fraction(1, 20), 8, max_denominator=20)
U, V = [4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4]


def differences(u, v) -> list[Fraction]:
    return [Fraction(a) - Fraction(b) for a, b in zip(u, v, strict=True)]


def ends(d, level, alternative="two-sided", sizes=None) -> tuple[float, float]:
    """Both ends by all subset means."""
    alpha = (1 - Fraction(str(level))) / (2 if alternative == "two-sided" else 1)
    low, high = (naive.lower_end([sign * x for x in d], alpha, sizes) for sign in (1, -1))
    return (
        -inf if low is None or alternative == "less" else float(low),
        inf if high is None or alternative == "greater" else float(-high),
    )


def shares(b: int, c: int, n: int) -> tuple[list[int], list[int]]:
    return [1] * b + [0] * (n - b), [0] * b + [1] * c + [0] * (n - b - c)


# ---- shifts of every pair ----------------------------------------------------------------------

#: Most means tie at 0, next to which the end lies.
TIED = [10**30] * 9 + [2**63], [10**30] * 8 + [-(10**30), -(2**63)]


@given(graded_pairs(max_size=10), st.sampled_from([1, 20]), levels, alternatives)
@example(TIED, 1, 0.1, "two-sided")
@example(([5] * 6, [2] * 6), 20, 0.9, "two-sided")
def test_ends_are_those_of_all_subset_means(columns, scale, level, alternative):
    columns = [[Fraction(x, scale) for x in column] for column in columns]
    result = exact_perm_test(*columns, alternative=alternative)
    found = result.confidence_interval(level)
    assert found == ends(differences(*columns), level, alternative)
    assert (found.resolution, found.confidence_level) == (0, level)
    assert (found.low <= 0 <= found.high) == (result.fraction() > 1 - Fraction(str(level)))


@given(columns=graded_pairs(max_size=12), level=levels, data=st.data())
def test_every_pair_of_a_cluster_is_shifted(columns, level, data):
    d = differences(*columns)
    clusters = data.draw(st.lists(st.integers(0, 6), min_size=len(d), max_size=len(d)))
    names = list(dict.fromkeys(clusters))
    sums = [sum(one for one, c in zip(d, clusters, strict=True) if c == x) for x in names]
    found = exact_perm_test(*columns, clusters=clusters).confidence_interval(level)
    assert found == ends(sums, level, sizes=[clusters.count(x) for x in names])


@given(
    rows=st.lists(st.tuples(decimals, decimals), min_size=6, max_size=10).filter(
        lambda rows: not {x for row in rows for x in row} <= {0, 1}
    ),
    level=st.sampled_from([0.6, 0.8, 0.9]),
    longest=st.sampled_from([0, 10, 100, 1000, 10**5]),
    narrowest=st.sampled_from([1e-6, 1e-3, 0.1, 1.0]),
)
def test_where_p_has_only_bounds_the_ends_are_rounded_outward(rows, level, longest, narrowest):
    """`longest`: beyond which length of the lattice p is refused."""
    u, v = zip(*rows, strict=True)

    def count(law, t0, off=0.0):
        p = interval.count_tail(law, t0) / 2**law.n_informative
        return interval.Probability.of(p + off * min(p, 1 - p), 1e-15)

    def dp(law, t0):
        if law.top > longest:
            raise interval.TooHard("refused")
        return count(law, t0)

    def bracket(law, t0, **_):
        return count(law, t0, -narrowest), count(law, t0, narrowest)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"MAX_COUNTED": 0, "MAX_EXACT": 0, "tail_dp": dp}.items():
            patch.setattr(interval, name, value)
        patch.setattr(interval, "tail_bracket", bracket)
        found = exact_perm_test(u, v).confidence_interval(level)
    low, high = ends(differences(u, v), level)
    slack = found.resolution + 1e-12 * (1 + max(abs(x) for x in (low, high, 0) if abs(x) != inf))
    assert low - slack <= found.low <= low
    assert high <= found.high <= high + slack
    spread = np.std([float(x) for x in differences(u, v)])
    if longest == 10**5:
        assert found.resolution <= 0.05 * spread
    elif narrowest == 1e-6:  # with few pairs that differ the ends are searched more roughly
        assert found.resolution <= 0.25 * spread


def before(end: Fraction, n: int) -> Fraction:
    """The largest fraction below `end` whose denominator is at most n."""
    a, b = end.numerator, end.denominator
    q = pow(a, -1, b) if b > 1 else 0
    q += (n - q) // b * b
    return Fraction(a * q - 1, b * q)


@pytest.mark.parametrize("n", [25, 41, 100, 333, 1000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
def test_p_steps_over_alpha_at_the_ends(n, level):
    rng = np.random.default_rng(n)
    u, v = rng.binomial(20, 0.9, n).tolist(), rng.binomial(20, 0.88, n).tolist()
    found = exact_perm_test(u, v).confidence_interval(level)
    assert found.resolution == 0
    for end, alternative, sign in ((found.low, "greater", 1), (found.high, "less", -1)):
        exact = Fraction(end).limit_denominator(n)
        assert float(exact) == end
        inside, beyond = (
            exact_perm_test([x - shift for x in u], v, alternative=alternative).pvalue
            for shift in (exact, sign * before(sign * exact, n))
        )
        assert beyond <= (1 - level) / 2 < inside


@pytest.mark.parametrize("clustered", [False, True])
def test_p_of_shifts_on_either_side_of_an_end_that_is_rounded(clustered):
    rng = np.random.default_rng(15)
    sizes = rng.integers(1, 9, 60) if clustered else np.ones(60, int)
    labels, (u, v) = np.repeat(np.arange(60), sizes), rng.normal(size=(2, sizes.sum())).round(9)
    found = exact_perm_test(u, v, clusters=labels).confidence_interval()
    assert 0 < found.resolution < 1e-2 * (u - v).std() / len(u) ** 0.5
    for end, side, sign in ((found.low, "greater", 1), (found.high, "less", -1)):
        outside, inside = (
            exact_perm_test(u - end - sign * x, v, clusters=labels, alternative=side)
            for x in (-found.resolution - 1e-4, found.resolution + 1e-4)
        )
        assert outside.pvalue_interval()[1] < 0.025 < inside.pvalue_interval()[0]


def test_an_interval_is_the_pair_of_its_ends_and_has_a_warning():
    found = exact_perm_test([50] + [0] * 29, [1] * 30).confidence_interval(0.9)
    low, high = found
    assert (found.low, found.high) == found == (low, high)
    assert found.warning.startswith("The differences look skewed, so an interval may not")
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.warning, again.method) == (found, found.warning, "shift")
    few = exact_perm_test([4] * 19 + [3] * 81, [3] * 100).confidence_interval()
    assert few.warning.startswith("Of 100 pairs only 19 differ, ")
    assert exact_perm_test([4] * 20 + [3] * 80, [3] * 100).confidence_interval().warning is None
    assert exact_perm_test([4, 5] * 9, [3] * 18).confidence_interval().warning is None  # no ties


@pytest.mark.parametrize(
    ("options", "level", "message"),
    [
        ({}, 95, r"confidence_level must lie in \(0, 1\), got 95"),
        ({"h": abs}, 0.9, "a test with g or h is not about a mean difference"),
    ],
)
def test_what_has_no_interval(options, level, message):
    with pytest.raises(ValueError, match=message):
        exact_perm_test([1, 2, 3], [0, 0, 1], **options).confidence_interval(level)


# ---- scores of 0 and 1 -------------------------------------------------------------------------


@settings(max_examples=30)  # the naive ends take long
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 40), st.integers(1, 99))
def test_ends_of_shares_are_where_the_score_test_begins_to_reject(b, c, ties, hundredths):
    u, v = shares(b, c, n := b + c + ties + 1)
    found = exact_perm_test(u, v).confidence_interval(0.9)
    assert found == pytest.approx(naive.tango_ends(b, c, n, 0.9), abs=1e-6)
    assert (found.method, found.warning) == ("score", None)
    in_tenths = Scores([10 * np.array(x) for x in (u, v)], scale=10)
    alone = exact_perm_test(u, v, clusters=range(n))
    for same in (exact_perm_test(in_tenths), alone):
        assert same.confidence_interval(0.9) == found
    one_sided = exact_perm_test(u, v, alternative="greater")
    assert one_sided.confidence_interval(0.95) == (found.low, 1.0)
    mirrored = exact_perm_test(v, u).confidence_interval(0.9)
    assert mirrored == pytest.approx((-found.high, -found.low))
    margin = hundredths / 100
    p = noninferiority_test(u, v, margin).pvalue
    assert (found.low > -margin) == (p < 0.05) or abs(p - 0.05) < 1e-6


def test_scores_that_only_look_like_0_and_1_are_shifted():
    ones, zeros = [1, 1, 0, 1], [0, 1, 0, 0]
    for test in (
        exact_perm_test(ones, zeros, clusters=[1, 1, 2, 2]),
        exact_perm_test([2, 1, 0, 1], zeros),
    ):
        assert test.confidence_interval(0.5).method == "shift"


def test_p_of_shares_against_a_margin():
    found = noninferiority_test([1] * 50, [1] * 50, 0.05)
    assert found.pvalue == pytest.approx(0.0524, abs=1e-4)
    assert (found.method, found.error_bound) == ("score", None)
    assert "p = 0.0524 (one-sided Tango score test)" in str(found)
    assert "two one-sided Tango score tests" in str(equivalence_test([1] * 9, [1] * 9, 0.2))
    for n in (1360, 1380, 10**5):  # on either side of where floats end; z = sqrt(n)
        found = noninferiority_test([1] * n, [1] * n, 0.5)
        exact = (
            float(mpmath.log10(mpmath.ncdf(-sqrt(n))))
            if n < 10**5
            else ((-n / 2 - log(sqrt(2 * pi * n))) / log(10))
        )
        assert found.log10_pvalue == pytest.approx(exact, rel=1e-9)
    assert found.pvalue == 5e-324
    with pytest.raises(ValueError, match=r"margin = 1 is out of range.* such as 0\.05"):
        noninferiority_test([1, 0, 1], [1, 1, 1], 1)


# ---- margins -----------------------------------------------------------------------------------


@given(columns=graded_pairs(max_size=9), low=margins, high=margins)
def test_margins_are_brute_force_on_shifted_differences(columns, low, high):
    d, result = differences(*columns), against(ask(*columns), -low, high)
    lower, upper = naive.shifted_pvalue(d, -low, "greater"), naive.shifted_pvalue(d, high, "less")
    assert noninferiority_test(*columns, low).pvalue == pytest.approx(float(lower), rel=1e-12)
    worse = noninferiority_test(Scores.of(*columns, higher_is_better=False), margin=high)
    assert worse.pvalue == pytest.approx(float(upper), rel=1e-12)
    assert (worse.alternative, worse.margins) == ("less", (-inf, float(high)))
    assert result.pvalues == pytest.approx((float(lower), float(upper)), rel=1e-12)
    assert result.pvalue == max(result.pvalues)
    assert 10**result.log10_pvalue == pytest.approx(result.pvalue, rel=1e-12)


@given(
    columns=graded_pairs(("small", "signed", "even"), 9),
    margin=margins,
    alpha=st.sampled_from(["0.01", "0.05", "0.1", "0.25", "0.3", "0.45"]),
)
def test_intervals_agree_with_the_tests(columns, margin, alpha):
    """Equivalent at level alpha if and only if the 1 - 2 alpha interval is inside the margins."""
    a, m = Fraction(alpha), float(margin)
    both, one = equivalence_test(*columns, margin), noninferiority_test(*columns, margin)
    low, high = both.confidence_interval(1 - 2 * a)
    assert (-m < low and high < m) == (both.pvalue <= a)
    assert (-m < one.confidence_interval(1 - a).low) == (one.pvalue <= a)


@pytest.mark.parametrize("docs", ["aabbcc", "abbccc"])
def test_clusters_are_shifted_as_their_pairs_are(docs):
    d, sizes = differences(U, V), [docs.count(x) for x in "abc"]
    sums = [sum(one for one, c in zip(d, docs, strict=True) if c == x) for x in "abc"]
    result = equivalence_test(Scores.of(U, V).clustered([*docs]), margin=0.5)
    exact = [
        naive.shifted_pvalue(sums, sign * Fraction(1, 2), side, sizes)
        for sign, side in ((-1, "greater"), (1, "less"))
    ]
    assert result.pvalue == pytest.approx(float(max(exact)), rel=1e-12)
    assert result.pvalue == equivalence_test(U, V, 0.5, clusters=[*docs]).pvalue
    assert "over 6 pairs in 3 clusters" in str(result)
    skewed = noninferiority_test([30, 1, *[1, 0] * 11], [0] * 24, 1, clusters=np.arange(24) // 2)
    assert "clusters, and there are 12" in skewed.warning


@pytest.mark.parametrize("margin", [0.1, np.float32(0.1), Decimal("0.1"), Fraction(1, 10)])
def test_a_margin_is_the_number_that_is_written(margin):
    found = noninferiority_test([0.3, 0.5, 0.2, 0.9], [0.4, 0.4, 0.3, 0.7], margin)
    assert found.pvalue == float(naive.shifted_pvalue([-1, 1, -1, 2], -1))


@pytest.mark.parametrize(
    ("margin", "error", "message"),
    [
        (0, ValueError, "margin=0 must be above 0"),
        (float("nan"), ValueError, "margin=nan must be finite"),
        (None, TypeError, "margin=None must be a number"),
        (True, TypeError, "margin=True must be a number"),
    ],
)
def test_margins_that_are_none(margin, error, message):
    with pytest.raises(error, match=message):
        equivalence_test(U, V, margin)
    with pytest.raises(error, match=message):
        noninferiority_test(U, V, margin)


def test_words_and_json():
    found = noninferiority_test(U, V, 0.5, names=("small", "large"))
    assert str(found) == (
        "To show that small minus large is above -0.5 on average: p = 0.0938 (one-sided exact "
        "paired-permutation test); the mean difference is 0 over 6 pairs. " + found.warning
    )
    assert found.warning.startswith("Of 6 pairs only 2 differ, ")
    both = equivalence_test(U, V, 0.5, names=("small", "large"))
    assert "is between -0.5 and 0.5 on average: p = 0.0938 (two one-sided exact" in str(both)
    facts = json.loads(both.to_json())
    assert (facts["margins"], facts["pvalue"]) == ([-0.5, 0.5], both.pvalue)
    assert json.loads(found.to_json())["margins"] == [-0.5, None]
    nothing = equivalence_test([], [], 1)
    assert (nothing.pvalue, nothing.statistic, nothing.n) == (1.0, 0.0, 0)
    assert "over 1 pair." in str(noninferiority_test([3], [2], 1))
