"""t and z tests against SciPy, and Yeh's variance of a difference."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from permtest import Scores
from permtest import alternatives as alt
from permtest.alternatives.registry import TESTS
from tests.alternatives import known

welch = partial(alt.independent_t, equal_var=False)
normal_z = partial(TESTS["normal_z"].single, alternative="two-sided")
scores = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=30
).filter(lambda rows: len({x - y for x, y in rows}) > 1 and len({x for x, _ in rows}) > 1)
sides = st.sampled_from(["two-sided", "greater", "less"])


def close(got, expected, tolerance=1e-12):
    assert got == pytest.approx(expected, rel=tolerance, abs=tolerance)


@given(scores, sides)
def test_t_tests_are_scipys(rows, alternative):
    a, b = np.array(rows).T / 10
    found = alt.paired_t(a, b, alternative=alternative)
    peer = stats.ttest_1samp(a - b, 0, alternative=alternative)
    close([found.statistic, found.pvalue], [peer.statistic, peer.pvalue], 1e-9)
    close(found.confidence_interval(0.9), peer.confidence_interval(0.9), 1e-9)
    z = normal_z(a, b)
    close([z.statistic, z.pvalue], [peer.statistic, 2 * stats.norm.sf(abs(z.statistic))], 1e-9)
    b = np.append(b, [6, -6])  # of unequal numbers
    for equal in (True, False):
        found = alt.independent_t(a, b, equal_var=equal, alternative=alternative)
        peer = stats.ttest_ind(a, b, equal_var=equal, alternative=alternative)
        close([found.statistic, found.pvalue], [peer.statistic, peer.pvalue], 1e-11)
        close(found.confidence_interval(), peer.confidence_interval(), 1e-9)


def test_p_is_never_zero_and_decimals_are_no_floats():
    a = np.arange(1000) % 3 + 10**9
    for test in (alt.paired_t, normal_z):
        result = test(a, np.zeros(1000, dtype=int))
        assert (result.pvalue, "p < 5e-324" in str(result)) == (5e-324, True)
    assert 0.3 - 0.1 != 0.5 - 0.3, "floats differ"
    close(alt.paired_t([0.3, 0.5, 0.9], [0.3, 0.5, 0.8]).statistic, 1.0)
    # Large scores that differ little are not rounded before they are subtracted.
    large, small = [10**20 + x for x in (1, 2, 4, 8)], [1, 2, 4, 8]
    for test in (alt.paired_t, alt.independent_t, welch, normal_z):
        expected = test(small, [0, 1, 0, 0])
        result = test(large, [10**20 + x for x in (0, 1, 0, 0)])
        close([result.pvalue, result.estimate], [expected.pvalue, expected.estimate])
        assert 0 < test([10**99, 3, 4], [0, 1, 2]).pvalue < 1
        with pytest.raises(ValueError, match="its square is no float; divide all"):
            test([10**200, 1], [3, 10**199])
    pairs = Scores.of(*known.TIED, ("new", "old"))
    found = alt.independent_t(pairs)
    assert (found.pvalue, found.names) == (alt.independent_t(*known.TIED).pvalue, ("new", "old"))


ONES = np.ones((2, 3, 1))
THREE = Scores.of_columns({"a": [1, 2], "b": [2, 1], "c": [1, 1]})
COUNTS = Scores.of_counts({"u": [[1, 0, 2]], "v": [[1, 1, 2]]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alt.paired_t([2, 3, 4], [1, 2, 3]), "all 3 differences are 1, so they"),
        (lambda: normal_z([1], [0]), "1 pairs, but this needs 2"),
        (lambda: TESTS["normal_z"].many(*ONES, alternative="less"), "there is 1 score of a"),
        (lambda: alt.independent_t([1, 2], [0]), "a has 2 scores and b 1, but this"),
        (lambda: alt.independent_t([1, 1], [2, 2]), "all scores of a are equal, and so are"),
        (lambda: alt.independent_t([math.inf, 2], [1, 2]), r"a\[0\] = inf is not finite"),
        (lambda: alt.paired_t([1, 2], [1, 3], alternative="better"), "alternative='better'"),
        (lambda: alt.paired_t([1, 2]), "b must be a one-dimensional sequence"),
        (lambda: alt.paired_t(COUNTS), r"have counts \(tp, fp, fn\)"),
        (lambda: alt.paired_t(THREE), r"a has 3 systems; choose two with a.pair\(i, j\)"),
        (lambda: alt.sign([1], [0]).confidence_interval(95), "confidence_level must lie in"),
    ],
)
def test_bad_input_names_the_argument(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
