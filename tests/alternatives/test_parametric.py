"""t and z tests against SciPy, and Yeh's variance of a difference."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from permtest import Pairs
from permtest import alternatives as alt
from permtest.alternatives.parametric import normal_z
from tests.alternatives import known

DATA = {"plain": known.PLAIN, "tied": known.TIED}


def close(got, expected, tolerance=1e-12):
    assert got == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    ("test", "answers"),
    [
        (alt.paired_t, known.PAIRED_T),
        (alt.independent_t, known.POOLED_T),
        (lambda a, b, **o: alt.independent_t(a, b, equal_var=False, **o), known.WELCH_T),
    ],
    ids=["paired", "pooled", "Welch"],
)
def test_t_tests_have_the_known_answers(name, test, answers):
    statistic, two, greater, interval = answers[name]
    a, b = DATA[name]
    result = test(a, b)
    close([result.statistic, result.pvalue], [statistic, two], 1e-11)
    close(result.confidence_interval(), interval, 1e-11)
    close(test(a, b, alternative="greater").pvalue, greater, 1e-11)
    close(test(a, b, alternative="less").pvalue, 1 - greater, 1e-11)


scores = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=30
).filter(lambda rows: len({x - y for x, y in rows}) > 1 and len({x for x, _ in rows}) > 1)
sides = st.sampled_from(["two-sided", "greater", "less"])


@given(scores, sides, st.integers(-20, 20))
def test_paired_t_is_scipys(rows, alternative, tenths):
    a, b = np.array(rows).T / 10
    found = alt.paired_t(a, b, alternative=alternative, delta=tenths / 10)
    peer = stats.ttest_1samp(a - b, tenths / 10, alternative=alternative)
    close(found.statistic, peer.statistic, 1e-9)
    close(found.pvalue, peer.pvalue, 1e-9)
    close(found.confidence_interval(0.9), peer.confidence_interval(0.9), 1e-9)


@given(scores, sides)
def test_independent_t_is_scipys(rows, alternative):
    a, b = np.array(rows).T
    b = np.append(b, [60, -60])  # also of unequal numbers
    found = alt.independent_t(a, b, alternative=alternative)
    peer = stats.ttest_ind(a, b, alternative=alternative)
    close([found.statistic, found.pvalue], [peer.statistic, peer.pvalue])
    close(found.confidence_interval(), peer.confidence_interval(), 1e-9)


@given(scores)
def test_correlated_variance_is_that_of_the_differences(rows):
    a, b = np.array(rows).T
    found = normal_z(a, b)
    n = len(a)
    close(found.details["standard_error"], (a - b).std(ddof=1) / math.sqrt(n))
    s1, s2, r12 = (found.details[key] for key in ("s1", "s2", "r12"))
    if np.isfinite(r12):  # Yeh's Eq. 2
        close(s1**2 + s2**2 - 2 * r12 * s1 * s2, found.details["standard_error"] ** 2, 1e-9)
        again = normal_z(a, b, correlation=float(r12))
        assert again.statistic == pytest.approx(found.statistic, rel=1e-6, abs=1e-9)
    close(found.pvalue, 2 * stats.norm.sf(abs(found.statistic)))


def test_assuming_independence_costs_what_yeh_says():
    assert [round(alt.inflation(r), 2) for r in (0.38, 0.5, 0.8)] == [1.27, 1.41, 2.24]
    # Two systems with equal variances and r12 = 0.5: all eight patterns of three fair coins.
    shared, x, y = np.array([[i >> k & 1 for k in range(3)] for i in range(8)]).T
    result = normal_z(shared + x, shared + y, correlation=0.0)
    close(result.details["r12"], 0.5)
    close(result.details["inflation"], math.sqrt(2))
    assert result.test == "independent_z"
    assert [a.name for a in result.assumptions].count("independent systems") == 1
    with pytest.raises(ValueError, match=r"correlation must lie in \[-1, 1\), got 1"):
        alt.inflation(1)


def test_p_is_never_zero():
    a = np.arange(1000) % 3 + 10**9
    for test in (alt.paired_t, normal_z):
        result = test(a, np.zeros(1000, dtype=int))
        assert result.pvalue == 5e-324
        assert "p < 5e-324" in str(result)


def test_differences_are_decimals_not_floats():
    result = alt.paired_t([0.3, 0.5, 0.9], [0.1, 0.3, 0.6], delta=0.2)
    assert 0.3 - 0.1 != 0.5 - 0.3, "floats differ"
    close(result.statistic, 1.0)


@pytest.mark.parametrize("test", [alt.paired_t, normal_z])
def test_constant_differences_are_refused(test):
    with pytest.raises(ValueError, match=r"all 3 differences are 1: a .-test"):
        test([2, 3, 4], [1, 2, 3])
    with pytest.raises(ValueError, match="1 pairs, but this needs 2"):
        test([1], [0])
    with pytest.raises(ValueError, match="all scores of a are equal, and all of b"):
        alt.independent_t([1, 1, 1], [2, 2])


def test_bad_input_names_the_argument():
    with pytest.raises(ValueError, match=r"b\[1\] = nan is missing"):
        alt.paired_t([1, 2, 3], [1, math.nan, 3])
    with pytest.raises(ValueError, match="a has 2 entries and b has 3"):
        alt.sign([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"a\[0\] = inf is not finite"):
        alt.independent_t([math.inf, 2], [1, 2])
    with pytest.raises(ValueError, match="delta=nan must be a finite number"):
        alt.wilcoxon([1, 2], [1, 3], delta=math.nan)
    with pytest.raises(TypeError, match="delta='x' must be a number"):
        alt.wilcoxon([1, 2], [1, 3], delta="x")
    with pytest.raises(ValueError, match="alternative='better'"):
        alt.paired_t([1, 2], [1, 3], alternative="better")
    with pytest.raises(TypeError, match="b is missing"):
        alt.paired_t([1, 2])
    with pytest.raises(ValueError, match="counts for each entry"):
        alt.paired_t(Pairs.of_counts([[1, 0, 2]], [[1, 1, 2]], [("tp", "fp", "fn")]))
    with pytest.raises(ValueError, match="confidence_level must lie in"):
        alt.paired_t([1, 2, 4], [1, 3, 2]).confidence_interval(95)


def test_independent_t_takes_pairs():
    a, b = known.TIED
    found = alt.independent_t(Pairs.of(a, b, ("new", "old")))
    assert found.pvalue == alt.independent_t(a, b).pvalue
    assert found.names == ("new", "old")
