"""Intervals for a shift: held against all subset means, and against p on either side of an end."""

import pickle
from fractions import Fraction
from math import comb, inf

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from permtest import Pairs, exact_perm_test, interval, monte_carlo, noninferiority_test
from permtest.interval import ConfidenceInterval
from tests import naive
from tests.strategies import alternatives, graded_pairs

levels = st.sampled_from([0.1, 0.5, 0.75, 0.8, 0.9, 0.9375, 0.95, 0.99])
decimals = st.decimals(-9, 9, places=2)


def differences(u, v) -> list[Fraction]:
    return [Fraction(a) - Fraction(b) for a, b in zip(u, v, strict=True)]


def brute_force(u, v, level, alternative="two-sided") -> tuple[Fraction | None, Fraction | None]:
    """Both ends by `naive.lower_end`; None if infinite."""
    alpha = (1 - Fraction(str(level))) / (2 if alternative == "two-sided" else 1)
    d = differences(u, v)
    low = None if alternative == "less" else naive.lower_end(d, alpha)
    high = None if alternative == "greater" else naive.lower_end([-x for x in d], alpha)
    return low, None if high is None else -high


def floats(ends) -> tuple[float, float]:
    low, high = ends
    return -inf if low is None else float(low), inf if high is None else float(high)


# ---- against all subset means ------------------------------------------------------------------


#: Most means tie at 0, next to which the end lies.
TIED = [10**30] * 9 + [2**63], [10**30] * 8 + [-(10**30), -(2**63)]


@given(columns=graded_pairs(max_size=10), level=levels, alternative=alternatives)
@example(columns=TIED, level=0.1, alternative="two-sided")
def test_ends_are_those_of_brute_force(columns, level, alternative):
    found = exact_perm_test(*columns, alternative=alternative).confidence_interval(level)
    assert found == floats(brute_force(*columns, level, alternative))
    assert found.resolution == 0
    assert found.confidence_level == level


@given(
    columns=graded_pairs(("small", "signed", "even"), 9), level=st.sampled_from([0.7, 0.8, 0.95])
)
def test_ends_without_counting_labellings(columns, level):
    """The way that more pairs go: tilted tails, with rounded p."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "MAX_COUNTED", 0)
        patch.setattr(interval, "MAX_EXACT", 0)
        found = exact_perm_test(*columns).confidence_interval(level)
    assert found == floats(brute_force(*columns, level))


@given(columns=graded_pairs(max_size=12), level=levels, data=st.data())
def test_every_pair_of_a_cluster_is_shifted(columns, level, data):
    d = differences(*columns)
    labels = st.lists(st.integers(0, 6), min_size=len(d), max_size=len(d))
    clusters = data.draw(labels)
    names = list(dict.fromkeys(clusters))
    sizes = [clusters.count(x) for x in names]
    sums = [sum(one for one, c in zip(d, clusters, strict=True) if c == x) for x in names]
    found = exact_perm_test(*columns, clusters=clusters).confidence_interval(level)
    alpha = (1 - Fraction(str(level))) / 2
    low, high = (naive.lower_end([sign * x for x in sums], alpha, sizes) for sign in (1, -1))
    assert found == floats((low, None if high is None else -high))
    assert found.resolution == 0


def test_many_clusters_of_many_sizes():
    """The ends of all shifts of the pairs, not of the sums over the mean size of clusters."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(60), rng.integers(1, 9, 60))
    u, v = rng.integers(0, 9, (2, clusters.size))
    low, high = exact_perm_test(u, v, clusters=clusters).confidence_interval()
    for end, alternative, sign in ((low, "greater", 1), (high, "less", -1)):
        inside, outside = (
            exact_perm_test(
                (u - Fraction(end - sign * x).limit_denominator(10**6)).tolist(),
                v.tolist(),
                clusters=clusters,
                alternative=alternative,
            ).pvalue_interval()
            for x in (-1e-3, 1e-3)
        )
        assert outside[1] < 0.025 < inside[0]


def assert_just_outside(found: ConfidenceInterval, exact: tuple[float, float]) -> None:
    slack = 1e-12 * (1 + max(abs(x) for x in (*exact, 0) if abs(x) != inf))
    assert exact[0] - found.resolution - slack <= found.low <= exact[0]
    assert exact[1] <= found.high <= exact[1] + found.resolution + slack


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

    def count(law, t0):
        return interval.Probability.of(interval.count_tail(law, t0) / 2**law.n_informative, 1e-15)

    def dp(law, t0):
        if law.top > longest:
            raise interval.TooHard("refused")
        return count(law, t0)

    def bracket(law, t0, **_):
        p = count(law, t0)
        off = narrowest * min(p.value, 1 - p.value)
        return interval.Probability.of(p.value - off, 1e-15), interval.Probability.of(
            p.value + off, 1e-15
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "MAX_COUNTED", 0)
        patch.setattr(interval, "MAX_EXACT", 0)
        patch.setattr(interval, "tail_dp", dp)
        patch.setattr(interval, "tail_bracket", bracket)
        found = exact_perm_test(u, v).confidence_interval(level)
    assert_just_outside(found, floats(brute_force(u, v, level)))
    spread = np.std([float(x) for x in differences(u, v)])
    if longest == 10**5:
        assert found.resolution <= 0.05 * spread
    elif narrowest == 1e-6:  # with few pairs that differ the ends are searched more roughly
        assert found.resolution <= 0.25 * spread


# ---- p on either side of an end, for more pairs ------------------------------------------------


def before(end: Fraction, n: int) -> Fraction:
    """The largest fraction below `end` whose denominator is at most n."""
    a, b = end.numerator, end.denominator
    q = pow(a, -1, b) if b > 1 else 0
    q += (n - q) // b * b
    return Fraction(a * q - 1, b * q)


def p_at(u, v, shift: Fraction, alternative: str) -> float:
    moved = [Fraction(a) - shift for a in map(str, u)]
    return exact_perm_test(moved, list(map(Fraction, map(str, v))), alternative=alternative).pvalue


def assert_p_steps_over(u, v, level: float, scale: int = 1) -> None:
    """p exceeds alpha / 2 at both ends, and no longer at the next fraction outside."""
    found = exact_perm_test(u, v).confidence_interval(level)
    assert found.resolution == 0
    for end, alternative, sign in ((found.low, "greater", 1), (found.high, "less", -1)):
        exact = Fraction(end * scale).limit_denominator(len(u))
        assert float(exact / scale) == end
        outside = sign * before(sign * exact, len(u)) / scale
        inside, beyond = p_at(u, v, exact / scale, alternative), p_at(u, v, outside, alternative)
        assert beyond <= (1 - level) / 2 < inside


@pytest.mark.parametrize("n", [25, 41, 100, 333, 1000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
def test_p_steps_over_alpha_at_the_ends(n, level):
    rng = np.random.default_rng(n)
    assert_p_steps_over(rng.binomial(20, 0.9, n), rng.binomial(20, 0.88, n), level)


def test_many_decimals():
    rng = np.random.default_rng(15)
    u, v = rng.normal(size=(2, 60))
    found = exact_perm_test(u, v).confidence_interval()
    assert 0 < found.resolution < 2e-3 * (u - v).std() / 60**0.5
    slack = found.resolution + 1e-4
    outside, inside = (
        exact_perm_test(u - found.low - x, v, alternative="greater").pvalue_interval()
        for x in (-slack, slack)
    )
    assert outside[1] < 0.025 < inside[0]


# ---- what an interval has to be ----------------------------------------------------------------


@given(columns=graded_pairs(max_size=9), level=levels, alternative=alternatives)
def test_zero_lies_inside_if_and_only_if_p_exceeds_alpha(columns, level, alternative):
    result = exact_perm_test(*columns, alternative=alternative)
    low, high = result.confidence_interval(level)
    assert (low <= 0 <= high) == (result.fraction() > 1 - Fraction(str(level)))


# ---- few pairs, and odd ones -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "v", "level", "ends"),
    [
        ([], [], 0.5, (-inf, inf)),
        ([3], [1], 0.9, (-inf, inf)),
        ([3, 4], [1, 1], 0.4, (2, 3)),
        ([2] * 4, [1] * 4, 0.9, (-inf, inf)),  # 2^-4 is more than 0.05
        ([2] * 5, [1] * 5, 0.9, (1, 1)),
        ([2] * 40, [2] * 40, 0.95, (0, 0)),
        ([10**400] * 8, [0] * 8, 0.9, (inf, inf)),
    ],
)
def test_few_pairs_and_equal_ones(u, v, level, ends):
    assert exact_perm_test(u, v).confidence_interval(level) == ends


def test_it_is_the_pair_of_its_ends():
    found = exact_perm_test([3, 5, 4, 6, 2, 2], [2, 3, 3, 3, 1, 0]).confidence_interval(0.9)
    low, high = found
    assert (found.low, found.high) == found == (low, high)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    shown = {"confidence_level": 0.9, "resolution": 0.0, "warning": None, "method": "shift"}
    assert vars(again) == vars(found) == shown


def test_an_interval_of_few_skewed_differences_has_a_warning():
    found = exact_perm_test([50] + [0] * 29, [1] * 30).confidence_interval()
    assert found.warning.startswith("The differences look skewed: for g1 = 5.2")
    assert pickle.loads(pickle.dumps(found)).warning == found.warning


def test_an_interval_of_scores_that_mostly_tie_has_a_warning():
    few = exact_perm_test([4] * 19 + [3] * 81, [3] * 100).confidence_interval()
    assert few.warning.startswith("Of 100 pairs only 19 differ.")
    assert exact_perm_test([4] * 20 + [3] * 80, [3] * 100).confidence_interval().warning is None
    assert exact_perm_test([4, 5] * 9, [3] * 18).confidence_interval().warning is None  # no ties


# ---- scores of 0 and 1 --------------------------------------------------------------------------

#: Wins, losses, items, level, and the ends of Tango's interval.
SHARES = [
    (0, 0, 10, 0.9, (-0.212942, 0.212942)),
    (5, 2, 50, 0.95, (-0.053327, 0.182420)),
    (10, 0, 10, 0.95, (0.444934, 1.0)),
]


def shares(b: int, c: int, n: int) -> tuple[list[int], list[int]]:
    return [1] * b + [0] * (n - b), [0] * b + [1] * c + [0] * (n - b - c)


@pytest.mark.parametrize(("b", "c", "n", "level", "ends"), SHARES)
def test_scores_of_0_and_1_have_tangos_interval(b, c, n, level, ends):
    found = exact_perm_test(*shares(b, c, n)).confidence_interval(level)
    in_tenths = Pairs(*(10 * np.array(x) for x in shares(b, c, n)), scale=10)
    assert exact_perm_test(in_tenths).confidence_interval(level) == found
    assert found == pytest.approx(ends, abs=1e-6)
    assert found == pytest.approx(naive.tango_ends(b, c, n, level), abs=1e-6)
    assert (found.method, found.warning) == ("score", None)
    assert exact_perm_test(*shares(b, c, n), alternative="greater").confidence_interval(
        (1 + level) / 2
    ) == (found.low, 1.0)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 40), st.sampled_from([0.5, 0.95]))
def test_ends_of_shares_are_where_the_score_test_begins_to_reject(b, c, ties, level):
    n = b + c + ties
    if n == 0:
        return
    found = exact_perm_test(*shares(b, c, n)).confidence_interval(level)
    assert found == pytest.approx(naive.tango_ends(b, c, n, level), abs=1e-6)
    mirrored = exact_perm_test(*shares(b, c, n)[::-1]).confidence_interval(level)
    assert mirrored == pytest.approx((-found.high, -found.low))


def test_intervals_of_few_wins_cover_what_they_say():
    """By enumeration of all tables; shifts of every pair cover .863 and .802 of the same."""
    for n, p, q in ((50, 0.04, 0.02), (100, 0.03, 0.0)):
        covered = 0.0
        for b in range(12):
            for c in range(12):
                chance = comb(n, b) * comb(n - b, c) * p**b * q**c * (1 - p - q) ** (n - b - c)
                low, high = interval.score_ends(b, c, n, 0.025, "two-sided")
                covered += chance * (low <= p - q <= high)
        assert 0.968 < covered < 0.970


@pytest.mark.parametrize(("alternative", "ends"), [("greater", (0.25, 1)), ("less", (-1, 0.25))])
def test_a_level_next_to_0_leaves_the_difference_itself_or_less(alternative, ends):
    found = exact_perm_test(*shares(2, 1, 4), alternative=alternative).confidence_interval(1e-300)
    assert found.low >= ends[0]
    assert found.high <= ends[1]


def test_scores_that_only_look_like_0_and_1_are_shifted():
    ones, zeros = [1, 1, 0, 1], [0, 1, 0, 0]
    for test in (
        exact_perm_test(ones, zeros, clusters=[1, 1, 2, 2]),
        exact_perm_test(ones, zeros, rounding=0.4),
        exact_perm_test(ones, zeros, lambda x, y: x - y),
        exact_perm_test([2, 1, 0, 1], zeros),
    ):
        assert test.confidence_interval(0.5).method == "shift"


def test_clusters_of_one_pair_are_no_clusters():
    u, v = shares(5, 2, 50)
    alone = exact_perm_test(u, v, clusters=range(50)).confidence_interval()
    assert alone == exact_perm_test(u, v).confidence_interval()
    assert noninferiority_test(u, v, 0.05, clusters=range(50)).method == "score"


def test_both_ways_to_say_rounding_are_one():
    pairs = Pairs.of([1, 1, 1], [0, 1, 1]).rounded_by(0.5)
    stated = exact_perm_test([1, 1, 1], [0, 1, 1], rounding=0.5)
    assert exact_perm_test(pairs).pvalue_interval() == stated.pvalue_interval()
    assert stated.pvalue_interval() == pytest.approx((0.25, 1.0))
    graded, level = [3, 5, 4, 6, 2], 0.8
    pairs = Pairs.of(graded, [2, 3, 4, 3, 1]).rounded_by(0.1)
    stated = exact_perm_test(graded, [2, 3, 4, 3, 1], rounding=0.1).confidence_interval(level)
    exact = exact_perm_test(graded, [2, 3, 4, 3, 1]).confidence_interval(level)
    assert exact_perm_test(pairs).confidence_interval(level) == stated
    # Both scores of five pairs may be off by 0.1, which rounded up to whole points is 1.5 in all.
    assert stated == pytest.approx((exact.low - 0.3, exact.high + 0.3))
    margin = noninferiority_test(pairs, 1)
    assert margin.confidence_interval(0.9).low == pytest.approx(stated.low)
    assert margin.pvalue_interval()[0] < margin.pvalue_interval()[1]
    assert exact_perm_test(pairs.rounded_by(0)).pvalue == 0.125


def test_what_has_no_interval():
    u, v = [1, 2, 3], [0, 0, 1]
    with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\), got 95"):
        exact_perm_test(u, v).confidence_interval(95)
    with pytest.raises(ValueError, match="leave h out"):
        exact_perm_test(u, v, h=abs).confidence_interval()
    with pytest.raises(ValueError, match="entry 2 has g"):
        exact_perm_test(u, v, lambda a, b: a * (1 + b) - b).confidence_interval()
    with pytest.raises(ValueError, match="needs an exact p"):
        monte_carlo(u, v, K=100, rng=0).confidence_interval()
