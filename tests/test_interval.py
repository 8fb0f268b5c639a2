"""Intervals for a shift: held against all subset means, and against p on either side of an end."""

import pickle
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from permtest import exact_perm_test, interval, monte_carlo
from permtest.interval import ConfidenceInterval
from tests import naive
from tests.strategies import alternatives, pairs

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


@given(columns=pairs(max_size=10), level=levels, alternative=alternatives)
@example(columns=TIED, level=0.1, alternative="two-sided")
def test_ends_are_those_of_brute_force(columns, level, alternative):
    found = exact_perm_test(*columns, alternative=alternative).confidence_interval(level)
    assert found == floats(brute_force(*columns, level, alternative))
    assert found.resolution == 0
    assert found.confidence_level == level


@given(columns=pairs(("small", "signed", "binary"), 9), level=st.sampled_from([0.7, 0.8, 0.95]))
def test_ends_without_counting_labellings(columns, level):
    """The way that more pairs go: tilted tails, with rounded p."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "MAX_COUNTED", 0)
        patch.setattr(interval, "MAX_EXACT", 0)
        found = exact_perm_test(*columns).confidence_interval(level)
    assert found == floats(brute_force(*columns, level))


def assert_just_outside(found: ConfidenceInterval, exact: tuple[float, float]) -> None:
    slack = 1e-12 * (1 + max(abs(x) for x in (*exact, 0) if abs(x) != inf))
    assert exact[0] - found.resolution - slack <= found.low <= exact[0]
    assert exact[1] <= found.high <= exact[1] + found.resolution + slack


@given(
    rows=st.lists(st.tuples(decimals, decimals), min_size=6, max_size=10),
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


@given(columns=pairs(max_size=9), level=levels, alternative=alternatives)
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
        ([1] * 4, [0] * 4, 0.9, (-inf, inf)),  # 2^-4 is more than 0.05
        ([1] * 5, [0] * 5, 0.9, (1, 1)),
        ([0] * 40, [0] * 40, 0.95, (0, 0)),
        ([10**400] * 8, [0] * 8, 0.9, (inf, inf)),
    ],
)
def test_few_pairs_and_equal_ones(u, v, level, ends):
    assert exact_perm_test(u, v).confidence_interval(level) == ends


def test_it_is_the_pair_of_its_ends():
    found = exact_perm_test([3, 5, 4, 6, 2, 2], [2, 3, 4, 3, 1, 0]).confidence_interval(0.9)
    low, high = found
    assert (found.low, found.high) == found == (low, high)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    shown = {"confidence_level": 0.9, "resolution": 0.0, "warning": None}
    assert vars(again) == vars(found) == shown


def test_an_interval_of_few_skewed_differences_has_a_warning():
    found = exact_perm_test([50] + [0] * 29, [1] * 30).confidence_interval()
    assert found.warning.startswith("The differences look skewed: for g1 = 5.2")
    assert pickle.loads(pickle.dumps(found)).warning == found.warning


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
