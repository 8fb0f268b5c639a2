"""McNemar's test and two proportions, against known answers and SciPy."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import permtest as pt
from permtest import alternatives as alt
from tests.alternatives import known

SIDES = ("two-sided", "greater", "less")
counts = st.integers(0, 30)
exactly = partial(pytest.approx, rel=1e-12)


def found(result):
    return result.statistic, result.pvalue


@pytest.mark.parametrize(("numbers", "exact", "chi2", "edwards", "midp"), known.MCNEMAR, ids=str)
def test_mcnemar_has_the_known_answers(numbers, exact, chi2, edwards, midp):
    b, c, n = numbers
    assert alt.mcnemar(b, c).pvalue == exactly(exact[0])
    assert alt.mcnemar(b, c, alternative="greater").pvalue == exactly(exact[1])
    assert found(alt.mcnemar(b, c, method="chi2")) == exactly(chi2)
    assert found(alt.mcnemar(b, c, method="chi2-corrected")) == exactly(edwards)
    assert alt.mcnemar(b, c, method="midp").pvalue == exactly(midp)
    assert alt.mcnemar(np.int8(b), float(c), n=n).estimate == (b - c) / n


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
            ties = exact.null_distribution(exact.marks[0]) * (1 + (alternative == "two-sided"))
            assert middle == pytest.approx(exact.pvalue - ties / 2)


@given(counts, counts, st.integers(0, 60), st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=60)
def test_intervals_exclude_0_where_p_is_small(b, c, rest, level):
    result = alt.mcnemar(b, c, method="chi2", n=b + c + rest or None)
    if b + c + rest == 0:
        with pytest.raises(ValueError, match="has no interval"):
            result.confidence_interval(level)
        return
    low, high = result.confidence_interval(level)
    assert low <= result.estimate <= high
    if abs(result.pvalue - (1 - level)) > 1e-9 and b + c > 0:
        assert (low <= 0 <= high) == (result.pvalue > 1 - level)


two_by_two = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda t: t[0] + t[1] and t[2] + t[3])


@given(two_by_two, st.sampled_from(SIDES))
def test_chi_squared_is_scipys_and_z_its_signed_root(cells, alternative):
    x1, y1, x2, y2 = cells
    z = alt.two_proportion_z(x1, x1 + y1, x2, x2 + y2, alternative=alternative)
    chi = alt.chi_squared([[x1, y1], [x2, y2]], alternative=alternative)
    assert z.pvalue == pytest.approx(chi.pvalue, rel=1e-11, abs=1e-15)
    assert z.statistic**2 == pytest.approx(chi.statistic, rel=1e-11)
    if x1 + x2 == 0 or y1 + y2 == 0:
        assert z.statistic == chi.statistic == 0
        return
    peer = stats.chi2_contingency([[x1, y1], [x2, y2]], correction=False)
    own = alt.chi_squared([[x1, y1], [x2, y2]])
    assert found(own) == pytest.approx(peer[:2], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alt.mcnemar(-1, 2), "b=-1 must be at least 0"),
        (lambda: alt.mcnemar(1, 2, n=2), "n=2 is less than b"),
        (lambda: alt.mcnemar(1, 2, method="chi"), "method='chi' is not known; choose one of"),
        (lambda: alt.two_proportion_z(3, 2, 1, 2), "x1 = 3 and n1 = 2: n must be positive"),
        (lambda: alt.chi_squared([[1, 2]]), r"shape \(1, 2\)"),
        (lambda: alt.chi_squared([[1, 2], [3, -1]]), r"table\[1, 1\]=-1 must be at least 0"),
    ],
)
def test_bad_counts(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
