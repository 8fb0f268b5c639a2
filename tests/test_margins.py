"""Non-inferiority and equivalence: against brute force, in words, and what they refuse."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import comb, log, pi, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import Pairs
from permtest.margins import equivalence_test, noninferiority_test
from tests import naive
from tests.strategies import graded_pairs

U, V = [4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4]

margins = st.fractions(Fraction(1, 20), 8, max_denominator=20)
alphas = st.sampled_from(["0.01", "0.05", "0.1", "0.25", "0.3", "0.45"])


def differences(u, v) -> list[Fraction]:
    return [Fraction(a) - Fraction(b) for a, b in zip(u, v, strict=True)]


@pytest.fixture
def noninferior():
    return noninferiority_test(U, V, 0.5, names=("small", "large"))


@pytest.fixture
def equivalent():
    return equivalence_test(U, V, (-1, 0.5), names=("small", "large"))


# ---- against brute force -----------------------------------------------------------------------


@given(columns=graded_pairs(max_size=9), margin=margins)
def test_noninferiority_is_brute_force_on_shifted_differences(columns, margin):
    result = noninferiority_test(*columns, margin)
    exact = naive.shifted_pvalue(differences(*columns), -margin, "greater")
    assert result.fraction() == exact
    assert result.pvalue == pytest.approx(float(exact), rel=1e-12)
    assert result.alternative == "greater"


@pytest.mark.parametrize("docs", ["aabbcc", "abbccc"])
def test_clusters_are_shifted_as_their_pairs_are(docs):
    clustered = replace(Pairs.of(U, V), clusters=tuple(docs))
    d, sizes = differences(U, V), [docs.count(x) for x in "abc"]
    sums = [sum(one for one, c in zip(d, docs, strict=True) if c == x) for x in "abc"]
    result, equivalent = noninferiority_test(clustered, 0.5), equivalence_test(clustered, 0.5)
    half = Fraction(1, 2)
    assert result.fraction() == naive.shifted_pvalue(sums, -half, "greater", sizes)
    assert equivalent.upper.fraction() == naive.shifted_pvalue(sums, half, "less", sizes)
    assert result.statistic == 0
    assert noninferiority_test(U, V, 0.5, clusters=[*docs]).fraction() == result.fraction()
    assert equivalence_test(U, V, 0.5, clusters=[*docs]).pvalue == equivalent.pvalue
    assert "over 6 pairs in 3 clusters" in str(result)
    assert "over 6 pairs in 3 clusters" in str(equivalent)
    low = naive.lower_end(sums, Fraction(1, 5), sizes)
    assert result.confidence_interval(0.8).low == float(low)


def test_skewed_clusters_are_called_so():
    skewed = Pairs.of([30, 1, *[1, 0] * 11], [0] * 24)
    warning = noninferiority_test(replace(skewed, clusters=np.arange(24) // 2), 1).warning
    assert "clusters, and there are 12" in warning
    assert "Pairs.by_cluster()" in warning


@given(columns=graded_pairs(max_size=9), low=margins, high=margins)
def test_equivalence_is_the_worse_of_two_brute_forces(columns, low, high):
    result, d = equivalence_test(*columns, (-low, high)), differences(*columns)
    lower, upper = naive.shifted_pvalue(d, -low, "greater"), naive.shifted_pvalue(d, high, "less")
    assert (result.lower.fraction(), result.upper.fraction()) == (lower, upper)
    assert result.pvalue == max(result.lower.pvalue, result.upper.pvalue)
    assert result.pvalue == pytest.approx(float(max(lower, upper)), rel=1e-12)
    assert 10**result.log10_pvalue == pytest.approx(result.pvalue, rel=1e-12)


@given(columns=graded_pairs(("small", "signed", "even"), 9), margin=margins, alpha=alphas)
def test_intervals_agree_with_the_tests(columns, margin, alpha):
    """Equivalent at level alpha if and only if the 1 - 2 alpha interval is inside the margins."""
    a = Fraction(alpha)
    result = equivalence_test(*columns, margin)
    low, high = result.confidence_interval(1 - 2 * a)
    p = max(result.lower.fraction(), result.upper.fraction())
    assert (-float(margin) < low and high < float(margin)) == (p <= a)
    one_sided = noninferiority_test(*columns, margin)
    assert (-float(margin) < one_sided.confidence_interval(1 - a).low) == (
        one_sided.fraction() <= a
    )


# ---- the arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "margin", [0.1, np.float64(0.1), np.float32(0.1), Decimal("0.1"), Fraction(1, 10)]
)
def test_a_margin_is_the_number_that_is_written(margin):
    u, v = [0.3, 0.5, 0.2, 0.9], [0.4, 0.4, 0.3, 0.7]
    tenths = [-1, 1, -1, 2]
    exact = naive.shifted_pvalue(tenths, -1)
    assert noninferiority_test(u, v, margin).fraction() == exact
    assert equivalence_test(u, v, margin).lower.fraction() == exact


@pytest.mark.parametrize("test", [noninferiority_test, equivalence_test])
@pytest.mark.parametrize(
    ("margin", "error", "message"),
    [
        (0, ValueError, "margin = 0 must be positive"),
        (-0.5, ValueError, r"margin = -0\.5 must be positive"),
        (float("nan"), ValueError, "margin = nan is not finite"),
        (float("inf"), ValueError, "margin = inf is not finite"),
        (Decimal("Infinity"), ValueError, "margin = Infinity is not finite"),
        ("1", TypeError, "margin = '1' must be a number, not str"),
        (None, TypeError, "margin = None must be a number"),
        (True, TypeError, "margin = True must be a number, not bool"),
        (1j, TypeError, "must be a number, not complex"),
    ],
)
def test_margins_that_are_none(test, margin, error, message):
    with pytest.raises(error, match=message):
        test(U, V, margin)


@pytest.mark.parametrize(
    ("margin", "error", "message"),
    [
        ((1, 2), ValueError, r"margin\[0\] = 1 must be below 0"),
        ((-2, -1), ValueError, r"margin\[1\] = -1 must be above 0"),
        ((-1, 0), ValueError, r"margin\[1\] = 0 must be above 0"),
        ((-1, 1, 2), ValueError, "margin has 3 values"),
        ((-1, float("nan")), ValueError, r"margin\[1\] = nan is not finite"),
        ((-1, "x"), TypeError, r"margin\[1\] = 'x' must be a number"),
    ],
)
def test_pairs_of_margins_that_are_none(margin, error, message):
    with pytest.raises(error, match=message):
        equivalence_test(U, V, margin)


def test_no_pairs_and_one():
    nothing = equivalence_test([], [], 1)
    assert (nothing.pvalue, nothing.statistic, nothing.n) == (1.0, 0.0, 0)
    assert str(nothing)
    assert noninferiority_test([3], [2], 1).pvalue == 0.5
    assert noninferiority_test([2], [3], 1).pvalue == 1.0  # worse by just the margin
    assert "over 1 pair;" in str(noninferiority_test([3], [2], 1))


# ---- scores of 0 and 1 --------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "margin", "p"), [(50, 0.05, 0.0524), (10, 0.01, 0.3753)])
def test_equal_shares_say_little_about_a_margin(n, margin, p):
    found = noninferiority_test([1] * n, [1] * n, margin)
    assert found.pvalue == pytest.approx(p, abs=1e-4)
    assert 10**found.log10_pvalue == pytest.approx(found.pvalue)
    assert (found.method, found.error_bound, found.n_informative) == ("score", None, 0)
    assert "by Tango's one-sided (greater) score test" in str(found)
    assert "two of Tango's one-sided score tests" in str(equivalence_test([1] * n, [1] * n, margin))


@pytest.mark.parametrize(
    ("n", "p", "q", "level"), [(50, 0.02, 0.07, 0.0302), (100, 0, 0.05, 0.0371)]
)
def test_the_level_of_a_margin_of_shares_by_enumeration(n, p, q, level):
    """Shifts of every pair reject .143 and .118 of these, which are worse by just the margin."""
    rejected = 0.0
    for b in range(10):
        for c in range(20):
            u, v = [1] * b + [0] * (n - b), [0] * b + [1] * c + [0] * (n - b - c)
            chance = comb(n, b) * comb(n - b, c) * p**b * q**c * (1 - p - q) ** (n - b - c)
            rejected += chance * (noninferiority_test(u, v, 0.05).pvalue <= 0.05)
    assert rejected == pytest.approx(level, abs=1e-4)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 40), st.integers(1, 99))
def test_margins_of_shares_agree_with_their_intervals(b, c, ties, hundredths):
    n = b + c + ties
    u, v = [1] * b + [0] * (n - b), [0] * b + [1] * c + [0] * (n - b - c)
    margin = hundredths / 100
    if n:
        found = noninferiority_test(u, v, margin)
        low, p = found.confidence_interval(0.95).low, found.pvalue
        assert (low > -margin) == (p < 0.05) or abs(p - 0.05) < 1e-6


def test_tiny_p_of_shares_have_logarithms():
    rows = [1] * 10**5
    z = sqrt(10**5 * 0.5 / 0.5)  # of a margin of a half if all tie
    found = noninferiority_test(rows, rows, 0.5)
    assert found.pvalue == 5e-324
    assert found.log10_pvalue == pytest.approx((-(z**2) / 2 - log(z * sqrt(2 * pi))) / log(10))
    for wins in (1360, 1380):  # on either side of where floats end
        found = noninferiority_test([1] * wins, [1] * wins, 0.5)
        z = sqrt(wins)
        assert found.log10_pvalue == pytest.approx(float(mpmath.log10(mpmath.ncdf(-z))), rel=1e-12)


def test_margins_of_1_are_none_for_shares():
    with pytest.raises(ValueError, match=r"margin = 1 is out of range.* such as 0\.05"):
        noninferiority_test([1, 0, 1], [1, 1, 1], 1)
    with pytest.raises(ValueError, match="fraction needs an exact p"):
        noninferiority_test([1, 0, 1], [1, 1, 1], 0.5).fraction()


# ---- the results -------------------------------------------------------------------------------


def test_sentences(noninferior, equivalent):
    assert str(noninferior) == (
        "To show that small is not worse than large by 0.5 points per pair or more: p = 0.0938 by "
        "the exact one-sided (greater) paired-permutation test (mean difference 0 over 6 pairs; "
        "higher is taken as better). " + noninferior.warning
    )
    assert noninferior.warning.startswith("Of 6 pairs only 2 differ.")
    assert str(equivalent) == (
        "To show that the mean difference of small and large lies between -1 and 0.5 points per "
        "pair: p = 0.0938 by two exact one-sided paired-permutation tests (it is 0 over 6 pairs). "
        + equivalent.warning
    )
    assert "small is not better than large by 0.5 points per pair or more" in str(equivalent.upper)
    assert "by 1 point per pair or more" in str(equivalent.lower)


def test_a_sentence_about_a_bracket():
    rough = noninferiority_test(Pairs.of(U, V).rounded_by(0.1), 0.5)
    low, high = rough.pvalue_interval()
    assert f"p lies between {low:.6g} and {high:.6g} by the one-sided (greater)" in str(rough)
    assert low < high


def test_dictionaries_and_json(noninferior, equivalent):
    record = noninferior.to_dict()
    assert (record["margin"], record["alternative"], record["n"]) == (-0.5, "greater", 6)
    both = equivalent.to_dict()
    assert json.loads(equivalent.to_json(indent=1)) == both
    assert (both["margins"], both["upper"]["margin"]) == ([-1.0, 0.5], 0.5)
    assert both["lower"] == equivalent.lower.to_dict()


def test_html(noninferior, equivalent):
    for text in ("mean difference 0 points per pair, against -0.5 or less", "6 pairs", "<svg"):
        assert text in noninferior._repr_html_()
    assert equivalent._repr_html_().count("<svg") == 2
    assert "against 0.5 or more" in equivalent._repr_html_()


@pytest.mark.parametrize("test", [noninferiority_test, equivalence_test])
def test_pairs_take_the_margin_second_too(test):
    u_and_v = Pairs.of(U, V)
    expected = test(U, V, 0.5).pvalue
    assert test(u_and_v, 0.5).pvalue == test(u_and_v, margin=0.5).pvalue == expected
    with pytest.raises(TypeError, match="margin = None must be a number"):
        test(u_and_v)
