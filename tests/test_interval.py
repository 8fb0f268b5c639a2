"""Intervals for a shift: held against all subset means, and against p on either side of an end."""

import csv
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from permtest import exact_perm_test, interval, monte_carlo
from permtest.comparison import compare
from permtest.interval import ConfidenceInterval, generic, simplest
from permtest.null.probability import Probability, TooHard
from permtest.solvers import solve
from tests import naive
from tests.strategies import alternatives, pairs

EWT = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "ud_en_ewt_pos.csv"

levels = st.sampled_from([0.1, 0.5, 0.75, 0.8, 0.9, 0.9375, 0.95, 0.99])
decimals = st.decimals(-9, 9, places=2)
decimal_pairs = st.lists(st.tuples(decimals, decimals), max_size=8).map(
    lambda rows: ([a for a, _ in rows], [b for _, b in rows])
)


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


@given(columns=decimal_pairs, level=levels, alternative=alternatives)
def test_ends_of_scores_with_decimals(columns, level, alternative):
    found = exact_perm_test(*columns, alternative=alternative).confidence_interval(level)
    assert found == floats(brute_force(*columns, level, alternative))


@given(columns=pairs(("small", "signed", "binary"), 9), level=st.sampled_from([0.7, 0.8, 0.95]))
def test_ends_without_counting_labellings(columns, level):
    """The way that more pairs go: tilted tails, with rounded p."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "MAX_COUNTED", 0)
        patch.setattr(interval, "MAX_LISTED", 0)
        found = exact_perm_test(*columns).confidence_interval(level)
    assert found == floats(brute_force(*columns, level))


@given(columns=pairs(("small", "signed"), 9), level=st.sampled_from([0.5, 0.75, 0.9375]))
def test_where_p_is_alpha_but_for_rounding_the_interval_is_too_long_rather_than_too_short(
    columns, level
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "MAX_COUNTED", 0)
        patch.setattr(interval, "MAX_LISTED", 0)
        found = exact_perm_test(*columns).confidence_interval(level)
    assert_just_outside(found, floats(brute_force(*columns, level)))


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
        return Probability.of(interval.count_tail(law, t0) / 2**law.n_informative, 1e-15)

    def dp(law, t0):
        if law.top > longest:
            raise TooHard("refused")
        return count(law, t0)

    def bracket(law, t0, **_):
        p = count(law, t0)
        off = narrowest * min(p.value, 1 - p.value)
        return Probability.of(p.value - off, 1e-15), Probability.of(p.value + off, 1e-15)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "MAX_COUNTED", 0)
        patch.setattr(interval, "MAX_LISTED", 0)
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
    comparison = compare(u, v, None, None, statistic="sum", alternative=alternative, names=None)
    return solve(comparison.shifted(shift)).p.value


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


def test_p_steps_over_alpha_for_one_bit_scores_and_decimals():
    rng = np.random.default_rng(7)
    assert_p_steps_over(rng.binomial(1, 0.9, 500), rng.binomial(1, 0.8, 500), 0.95)
    u, v = rng.integers(-20, 20, (2, 30)) / 10
    assert_p_steps_over(u, v, 0.95, scale=10)


def test_taggers():
    with EWT.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    u, v = ([int(row[f"{name}_correct"]) for row in rows] for name in ("svm_window", "crf_base"))
    assert_p_steps_over(u, v, 0.95)
    low, high = exact_perm_test(u, v).confidence_interval()
    assert low < (sum(u) - sum(v)) / len(u) < high


def test_a_hundred_thousand_pairs_are_near_the_normal_interval():
    rng = np.random.default_rng(3)
    u, v = rng.binomial(1, 0.9, 10**5), rng.binomial(1, 0.89, 10**5)
    d = u - v
    found = exact_perm_test(u, v).confidence_interval()
    error = d.std() / len(d) ** 0.5
    assert np.allclose(found, d.mean() + error * np.array([-1.96, 1.96]), atol=0.01 * error)
    assert found.resolution <= 1e-3 * error


def test_many_decimals():
    rng = np.random.default_rng(15)
    u, v = rng.normal(size=(2, 60))
    found = exact_perm_test(u, v).confidence_interval()
    assert 0 < found.resolution < 2e-3 * (u - v).std() / 60**0.5
    comparison = compare(u, v, None, None, statistic="sum", alternative="greater", names=None)
    slack, near = Fraction(found.resolution) + Fraction(1, 10**4), Fraction(round(found.low, 4))
    outside, inside = (solve(comparison.shifted(near + x), "bracket").p for x in (-slack, slack))
    assert outside.value < 0.025 < inside.value / (1 + inside.error_bound)


# ---- what an interval has to be ----------------------------------------------------------------


@given(columns=pairs(max_size=9), level=levels, alternative=alternatives)
def test_zero_lies_inside_if_and_only_if_p_exceeds_alpha(columns, level, alternative):
    result = exact_perm_test(*columns, alternative=alternative)
    low, high = result.confidence_interval(level)
    assert (low <= 0 <= high) == (result.fraction() > 1 - Fraction(str(level)))


@given(columns=pairs(("small", "signed"), 9), shift=st.fractions(-12, 12, max_denominator=20))
def test_p_of_a_shift_is_that_of_brute_force(columns, shift):
    for alternative in ("greater", "less"):
        p = p_at(*columns, shift, alternative)
        exact = naive.shifted_pvalue(differences(*columns), shift, alternative)
        assert p == pytest.approx(float(exact), rel=1e-12)


@given(columns=pairs(max_size=9), alternative=alternatives)
def test_more_confidence_makes_it_longer(columns, alternative):
    result = exact_perm_test(*columns, alternative=alternative)
    found = [result.confidence_interval(level) for level in (0.1, 0.5, 0.8, 0.95, 0.999)]
    for inner, outer in pairwise(found):
        assert outer.low <= inner.low
        assert inner.high <= outer.high


@given(columns=pairs(("small", "signed"), 9), c=st.integers(-5, 5), level=levels)
def test_adding_a_constant_shifts_it(columns, c, level):
    u, v = columns
    low, high = exact_perm_test(u, v).confidence_interval(level)
    moved = exact_perm_test([x + c for x in u], v).confidence_interval(level)
    assert moved == pytest.approx((low + c, high + c), abs=1e-12)


@given(columns=pairs(max_size=9), level=levels)
def test_exchanging_the_systems_mirrors_it(columns, level):
    u, v = columns
    low, high = exact_perm_test(u, v).confidence_interval(level)
    assert exact_perm_test(v, u).confidence_interval(level) == (-high, -low)
    greater = exact_perm_test(u, v, alternative="greater").confidence_interval(level)
    less = exact_perm_test(v, u, alternative="less").confidence_interval(level)
    assert (greater.low, inf) == (-less.high, -less.low)


@given(columns=pairs(("small", "signed"), 9), level=levels)
def test_g_and_order_and_unit_do_not_matter(columns, level):
    u, v = columns
    found = exact_perm_test(u, v).confidence_interval(level)
    assert exact_perm_test(u, v, lambda a, b: a - b).confidence_interval(level) == found
    assert exact_perm_test(u[::-1], v[::-1]).confidence_interval(level) == found
    tenfold = exact_perm_test([10 * x for x in u], [10 * x for x in v]).confidence_interval(level)
    assert tenfold == pytest.approx((10 * found.low, 10 * found.high), rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_it_covers_the_shift_as_often_as_it_says(alternative):
    """Too rarely would be an error, much too often as well."""
    rng, level, shift, rounds = np.random.default_rng(11), 0.8, 0.37, 300
    covered = 0
    for _ in range(rounds):
        d = np.round(rng.standard_t(3, 11), 3) + shift
        result = exact_perm_test(np.round(d, 3), np.zeros(11), alternative=alternative)
        low, high = result.confidence_interval(level)
        covered += low <= shift <= high
    deviation = (level * (1 - level) / rounds) ** 0.5
    assert abs(covered / rounds - level) < 3 * deviation


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


def test_pairs_that_agree_count():
    """They do not matter for p, but they do once differences are shifted."""
    u, v = [2, 3, 1, 4, 2, 3], [0] * 6
    few = exact_perm_test(u, v).confidence_interval(0.9)
    more = exact_perm_test(u + [0] * 6, v + [0] * 6).confidence_interval(0.9)
    assert more.low < few.low
    assert more.high < few.high


def test_level_stands_for_its_decimal():
    result = exact_perm_test([3, 4, 1, 5, 2], [1, 1, 1, 1, 1])
    for level in (Decimal("0.9"), Fraction(9, 10), np.float64(0.9), np.float32(0.9)):
        assert result.confidence_interval(level) == result.confidence_interval(0.9)


def test_a_pair_that_does_not_change():
    found = exact_perm_test([3, 5, 4, 6, 2, 2], [2, 3, 4, 3, 1, 0]).confidence_interval(0.9)
    low, high = found
    assert (found[0], found[1], len(found)) == (low, high, 2)
    assert (found.low, found.high) == found
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    shown = {"confidence_level": 0.9, "resolution": 0.0, "warning": None}
    assert vars(again) == vars(found) == shown
    assert repr(found) == (
        f"ConfidenceInterval(low={low}, high={high}, confidence_level=0.9, resolution=0.0)"
    )
    for name in ("low", "resolution", "other"):
        with pytest.raises(AttributeError, match=name):
            setattr(found, name, 0.0)


def test_an_interval_of_few_skewed_differences_has_a_warning():
    found = exact_perm_test([50] + [0] * 29, [1] * 30).confidence_interval()
    assert found.warning.startswith("The differences look skewed: g1 = 5.2")
    assert pickle.loads(pickle.dumps(found)).warning == found.warning
    assert found.warning in repr(found)


def test_zero_has_no_sign():
    assert str(exact_perm_test([0] * 9, [0] * 9).confidence_interval().high) == "0.0"


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan")])
def test_levels_that_are_none(level):
    with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\), got"):
        exact_perm_test([1, 2], [0, 0]).confidence_interval(level)


def test_what_has_no_interval():
    u, v = [1, 2, 3], [0, 0, 1]
    with pytest.raises(ValueError, match="leave h out"):
        exact_perm_test(u, v, h=abs).confidence_interval()
    with pytest.raises(ValueError, match="entry 2 has g"):
        exact_perm_test(u, v, lambda a, b: a * (1 + b) - b).confidence_interval()
    with pytest.raises(ValueError, match="needs an exact p"):
        monte_carlo(u, v, K=100, rng=0).confidence_interval()


# ---- the simplest fraction ---------------------------------------------------------------------


@given(
    low=st.fractions(-5, 5, max_denominator=30),
    width=st.fractions(Fraction(1, 900), 2, max_denominator=900),
)
def test_simplest_fractions(low, width):
    high = low + width
    b = next(b for b in range(1, 2000) if low * b // 1 + 1 < high * b)
    inside = simplest(low, high)
    assert inside.denominator == b
    assert low < inside < high


@given(
    low=st.fractions(-5, 5, max_denominator=30),
    width=st.fractions(Fraction(1, 10**6), 2, max_denominator=10**6),
)
def test_generic_fractions_lie_inside(low, width):
    assert low < generic(low, low + width) < low + width


def test_multiples_of_a_generic_fraction_are_far_from_whole_numbers():
    x = generic(Fraction(0), Fraction(1))
    assert min(k * abs(k * x - round(k * x)) for k in range(1, 500)) > Fraction(1, 4)


@pytest.mark.parametrize("n", [20, 40, 100])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_the_saddlepoint_approximation_is_close(n, level):
    d = np.sort(np.random.default_rng(n).normal(size=n).round(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "MAX_LISTED", 0)
        found = exact_perm_test(d, np.zeros(n)).confidence_interval(level)
    z = interval._saddlepoint(d - found.low, np.ones(n, dtype=np.int64))
    assert z == pytest.approx(interval._quantile(Fraction((1 - level) / 2)), abs=4 / n**1.5)


# ---- rounding ----------------------------------------------------------------------------------


@given(value=st.fractions(-9, 9), resolution=st.fractions(Fraction(1, 10**9), 1))
def test_an_end_that_is_not_exact_is_rounded_outward(value, resolution):
    assert interval._End(value).as_float() == float(value)
    end = interval._End(value, resolution)
    assert end.as_float() < value
    assert end.float_resolution() > value + resolution - Fraction(end.as_float())
    assert end.float_resolution() == pytest.approx(float(resolution), rel=1e-6)
