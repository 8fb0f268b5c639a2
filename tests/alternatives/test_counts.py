"""McNemar's test and two proportions, against known answers, SciPy and statsmodels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

import permtest as pt
from permtest import alternatives as alt
from tests.alternatives import known

SIDES = ("two-sided", "greater", "less")
counts = st.integers(0, 30)


@pytest.mark.parametrize(
    ("numbers", "exact", "chi2", "edwards", "midp", "wald"), known.MCNEMAR, ids=str
)
def test_mcnemar_has_the_known_answers(numbers, exact, chi2, edwards, midp, wald):
    b, c, n = numbers
    assert alt.mcnemar(b, c).pvalue == pytest.approx(exact[0], rel=1e-13)
    assert alt.mcnemar(b, c, alternative="greater").pvalue == pytest.approx(exact[1], rel=1e-13)
    for method, (statistic, p) in (("chi2", chi2), ("chi2-corrected", edwards)):
        result = alt.mcnemar(b, c, method=method)
        assert (result.statistic, result.pvalue) == pytest.approx((statistic, p), rel=1e-12)
    assert alt.mcnemar(b, c, method="midp").pvalue == pytest.approx(midp, rel=1e-12)
    result = alt.mcnemar(b, c, n=n, interval="wald")
    assert result.estimate == (b - c) / n
    assert result.confidence_interval() == pytest.approx(wald, rel=1e-12, abs=1e-15)


@given(counts, counts)
def test_mcnemar_is_the_permutation_test_of_accuracy(b, c):
    u, v = [1] * b + [0] * c + [1], [0] * b + [1] * c + [1]
    for alternative in SIDES:
        exact = pt.exact_perm_test(u, v, statistic="accuracy", alternative=alternative)
        assert alt.mcnemar(b, c, alternative=alternative).pvalue == pytest.approx(exact.pvalue)
        middle = alt.mcnemar(b, c, method="midp", alternative=alternative).pvalue
        if b == c and alternative == "two-sided":  # nothing is less extreme: no half of ties
            assert middle == 1
        elif b + c:
            assert middle == pytest.approx(exact.mid_pvalue, rel=1e-12)
    if b != c:
        table = [[0, b], [c, 0]]
        for method, options in (("chi2", {"correction": False}), ("chi2-corrected", {})):
            peer = peer_mcnemar(table, exact=False, **options)
            found = alt.mcnemar(b, c, method=method)
            assert (found.statistic, found.pvalue) == pytest.approx((peer.statistic, peer.pvalue))


@given(counts, counts, st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=60)
def test_conditional_interval_excludes_0_where_p_is_small(b, c, level):
    for method in ("exact", "chi2"):
        result = alt.mcnemar(b, c, method=method)
        low, high = result.confidence_interval(level)
        assert low <= result.estimate <= high
        if abs(result.pvalue - (1 - level)) > 1e-9 and b + c > 0:
            assert (low <= 0 <= high) == (result.pvalue > 1 - level), method


@pytest.mark.parametrize(
    ("numbers", "pooled", "unpooled", "yates", "fisher", "wald", "newcombe"),
    known.PROPORTIONS,
    ids=str,
)
def test_proportions_have_the_known_answers(
    numbers, pooled, unpooled, yates, fisher, wald, newcombe
):
    x1, n1, x2, n2 = numbers
    table = [[x1, n1 - x1], [x2, n2 - x2]]
    for pool, (z, p) in ((True, pooled), (False, unpooled)):
        result = alt.two_proportion_z(*numbers, pooled=pool)
        assert (result.statistic, result.pvalue) == pytest.approx((z, p), rel=1e-12)
    result = alt.chi_squared(table)
    assert (result.statistic, result.pvalue) == pytest.approx((pooled[0] ** 2, pooled[1]))
    assert result.confidence_interval() == pytest.approx(newcombe, rel=1e-12)
    result = alt.chi_squared(table, correction=True, interval="wald")
    assert (result.statistic, result.pvalue) == pytest.approx(yates, rel=1e-12)
    assert result.confidence_interval() == pytest.approx(wald, rel=1e-12)
    assert alt.fisher_exact(table).pvalue == pytest.approx(fisher, rel=1e-12)


two_by_two = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda t: t[0] + t[1] and t[2] + t[3])


@given(two_by_two, st.sampled_from(SIDES))
def test_chi_squared_and_z_are_those_of_scipy_and_statsmodels(cells, alternative):
    x1, y1, x2, y2 = cells
    table = [[x1, y1], [x2, y2]]
    z = alt.two_proportion_z(x1, x1 + y1, x2, x2 + y2, alternative=alternative)
    chi = alt.chi_squared(table, alternative=alternative)
    assert z.pvalue == pytest.approx(chi.pvalue, rel=1e-11, abs=1e-15)
    if x1 + x2 == 0 or y1 + y2 == 0:
        assert z.statistic == chi.statistic == 0
        return
    words = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
    peer = proportions_ztest([x1, x2], [x1 + y1, x2 + y2], alternative=words[alternative])
    assert (z.statistic, z.pvalue) == pytest.approx(peer, rel=1e-10, abs=1e-12)
    for correction in (False, True):
        peer = stats.chi2_contingency(table, correction=correction)
        found = alt.chi_squared(table, correction=correction)
        assert (found.statistic, found.pvalue) == pytest.approx(
            (peer.statistic, peer.pvalue), rel=1e-10, abs=1e-12
        )
    ends = confint_proportions_2indep(x1, x1 + y1, x2, x2 + y2, method="newcomb")
    assert alt.chi_squared(table).confidence_interval() == pytest.approx(ends, rel=1e-9, abs=1e-9)


def test_yehs_precision_needs_the_right_test():
    """47 of 95 answers against 25 of 39: chi-squared sees nothing, swaps do (sec. 2.2)."""
    found = alt.chi_squared([[47, 48], [25, 14]])
    assert round(found.statistic, 2) == 2.38
    assert 0.1 < found.pvalue < 0.2
    assert found.estimate == pytest.approx(0.495 - 0.641, abs=5e-4)


def test_a_threshold_for_two_proportions():
    found = alt.two_proportion_z(60, 100, 50, 100, delta=0.1)
    assert (found.statistic, found.pvalue) == (pytest.approx(0, abs=1e-15), 1)
    with pytest.raises(ValueError, match="both proportions are 0 or 1"):
        alt.two_proportion_z(5, 5, 0, 5, delta=0.5)
    with pytest.raises(ValueError, match="both proportions are 0 or 1"):
        alt.two_proportion_z(1, 1, 0, 1, pooled=False)
    assert alt.two_proportion_z(5, 5, 5, 5).pvalue == 1
    with pytest.raises(ValueError, match="delta=5 must lie between -1 and 1"):
        alt.two_proportion_z(5, 5, 0, 5, delta=5)


def likeliest_score(b, c, n, delta):
    """The score statistic at the share of c that is likeliest if p_b - p_c = delta."""
    low, high = max(0.0, -delta), (1 - delta) / 2

    def loss(q):
        shares = ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
        return -sum(k * math.log(max(p, 1e-300)) for k, p in shares if k)

    q = optimize.minimize_scalar(loss, bounds=(low, high), options={"xatol": 1e-12}).x
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))


@given(counts, counts, st.integers(1, 60), st.sampled_from([0.8, 0.95]))
@settings(max_examples=40)
def test_score_interval_ends_where_the_score_does(b, c, rest, level):
    n = b + c + rest
    z = stats.norm.ppf(0.5 + level / 2)
    low, high = alt.mcnemar(b, c, n=n).confidence_interval(level)
    for end, expected in ((low, z), (high, -z)):
        assert likeliest_score(b, c, n, end) == pytest.approx(expected, abs=1e-4)


def test_score_interval_covers_the_difference():
    """Exactly, over all outcomes: at least 93 of 100 times where 95 are promised."""
    n = 60
    for p_b, p_c in ((0.3, 0.0), (0.1, 0.05), (0.3, 0.02), (0.2, 0.2)):
        covered = 0.0
        for b in range(n + 1):
            for c in range(n + 1 - b):
                chance = stats.multinomial.pmf([b, c, n - b - c], n, [p_b, p_c, 1 - p_b - p_c])
                if chance > 1e-7:
                    low, high = alt.mcnemar(b, c, n=n).confidence_interval()
                    covered += chance * (low <= p_b - p_c <= high)
        assert 0.93 < covered < 0.99, (p_b, p_c)


def test_chi_squared_of_mcnemar_and_the_score_interval_agree():
    for b, c in ((15, 5), (9, 4), (10, 4), (31, 12), (6, 6)):
        result = alt.mcnemar(b, c, n=100, method="chi2")
        low, high = result.confidence_interval()
        assert (low <= 0 <= high) == (result.pvalue > 0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alt.mcnemar(-1, 2), "b = -1 is below 0"),
        (lambda: alt.mcnemar(1, 2.5), "c = 2.5 must be a whole number"),
        (lambda: alt.mcnemar(1, True), "c = True must be a whole number"),
        (lambda: alt.mcnemar(1, 2, n=2), "n=2 is less than b"),
        (lambda: alt.mcnemar(1, 2, n=4, interval="exact"), "interval='exact' is not known"),
        (lambda: alt.mcnemar(1, 2, method="chi"), "method='chi' is not known; choose one of"),
        (lambda: alt.two_proportion_z(3, 2, 1, 2), "x1 = 3 and n1 = 2: there must be items"),
        (lambda: alt.two_proportion_z(0, 0, 1, 2), "x1 = 0 and n1 = 0"),
        (lambda: alt.chi_squared([[1, 2]]), r"shape \(1, 2\)"),
        (lambda: alt.chi_squared([[1, 2], [3, -1]]), r"table\[1, 1\] = -1 is below 0"),
        (
            lambda: alt.mcnemar(1, 2, alternative="less").confidence_interval(0.3),
            "confidence_level=0.3 is too low",
        ),
    ],
)
def test_bad_counts(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_whole_floats_and_numpy_integers_are_counts():
    assert alt.mcnemar(np.int8(15), 5.0).pvalue == alt.mcnemar(15, 5).pvalue
