"""Tests of fold scores against formulas spelled out, SciPy, mlxtend, and laws that are known."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlxtend.evaluate import combined_ftest_5x2cv, paired_ttest_5x2cv
from scipy import stats

from permtest.alternatives.folds import (
    block_3x2_t,
    corrected_resampled_t,
    five_by_two_f,
    five_by_two_t,
    kfold_t,
)
from permtest.alternatives.result import FOLD_TITLES

T_TESTS = [
    (kfold_t, (6,)),
    (corrected_resampled_t, (6,)),
    (corrected_resampled_t, (4, 3)),
    (five_by_two_t, (5, 2)),
    (block_3x2_t, (3, 2)),
]
TESTS = [*T_TESTS, (five_by_two_f, (5, 2))]


def close(got, expected, tolerance=1e-12):
    assert got == pytest.approx(expected, rel=tolerance, abs=tolerance)


def tables(*shape):
    """Two tables of scores in thousandths, whose differences vary within each row."""
    size = math.prod(shape)
    rows = st.lists(st.integers(0, 1000), min_size=2 * size, max_size=2 * size)
    both = rows.map(lambda x: np.array(x, dtype=float).reshape(2, *shape) / 1000)
    return both.filter(lambda ab: np.ptp((ab[0] - ab[1])[..., :2]) > 1e-6)


def example(shape, seed=3):
    a, b = np.random.default_rng(seed).normal(0.8, 0.03, (2, *shape))
    return np.round(a + 0.02, 4), np.round(b, 4)


# ---- statistics, spelled out --------------------------------------------------------------------


def mean_and_variance(d):
    mean = sum(d) / len(d)
    return mean, sum((x - mean) ** 2 for x in d) / (len(d) - 1)


def naive_resampled(d, ratio):
    mean, variance = mean_and_variance(d)
    return mean / math.sqrt((1 / len(d) + ratio) * variance)


def naive_5x2(d):
    """t and F from five rows of two differences."""
    variances = []
    for first, second in d:
        mean = (first + second) / 2
        variances.append((first - mean) ** 2 + (second - mean) ** 2)
    f = sum(x**2 for row in d for x in row) / (2 * sum(variances))
    return d[0][0] / math.sqrt(sum(variances) / 5), f


def naive_block(d, rho1, rho2):
    """t and df from the law of the mean and of both sums of squares under these correlations."""
    flat = [x for row in d for x in row]
    mean, variance = mean_and_variance(flat)
    of_mean = (1 + rho1 + 4 * rho2) / 6  # in units of the variance of a difference
    of_sample = 1 - (rho1 + 4 * rho2) / 5
    parts = [1 - rho1] * 3 + [1 + rho1 - 2 * rho2] * 2  # scales of the five chi-squared terms
    df = sum(parts) ** 2 / sum(x**2 for x in parts)
    return mean / math.sqrt(variance * of_mean / of_sample), df


@settings(max_examples=100)
@given(tables(7), st.sampled_from(["two-sided", "greater", "less"]), st.integers(-20, 20))
def test_kfold_is_scipys_paired_t(tables, alternative, hundredths):
    a, b = tables
    found = kfold_t(a, b, alternative=alternative, delta=hundredths / 100)
    peer = stats.ttest_rel(a, b + hundredths / 100, alternative=alternative)
    close([found.statistic, found.pvalue], [peer.statistic, peer.pvalue], 1e-9)
    expected = np.add(peer.confidence_interval(0.9), hundredths / 100)
    close(found.confidence_interval(0.9), expected, 1e-9)
    assert found.details["df"] == 6


@settings(max_examples=100)
@given(tables(3, 4))
def test_corrected_variance_is_spelled_out(tables):
    a, b = tables
    d = (a - b).ravel().tolist()
    for options, ratio in (({}, 1 / 3), ({"test_train_ratio": 1 / 9}, 1 / 9)):
        found = corrected_resampled_t(a, b, **options)
        close(found.statistic, naive_resampled(d, ratio), 1e-9)
        close(found.pvalue, 2 * stats.t.sf(abs(found.statistic), 11), 1e-9)
        close(found.details["correlation"], ratio / (1 + ratio))


@settings(max_examples=100)
@given(tables(5, 2))
def test_five_by_two_is_spelled_out(tables):
    a, b = tables
    t, f = naive_5x2((a - b).tolist())
    found = five_by_two_t(a, b)
    close([found.statistic, found.pvalue], [t, 2 * stats.t.sf(abs(t), 5)], 1e-8)
    found = five_by_two_f(a, b)
    close([found.statistic, found.pvalue], [f, stats.f.sf(f, 10, 5)], 1e-8)


@settings(max_examples=100)
@given(tables(3, 2), st.sampled_from([(0.4, 0.4), (0.5, 0.5), (0.0, 0.25), (0.25, 0.375)]))
def test_blocked_t_is_spelled_out(tables, rho):
    a, b = tables
    t, df = naive_block((a - b).tolist(), *rho)
    found = block_3x2_t(a, b, rho=rho)
    close([found.statistic, found.details["df"]], [t, df], 1e-9)
    close(found.pvalue, 2 * stats.t.sf(abs(t), df), 1e-9)


def test_blocked_t_has_the_two_plain_forms():
    a, b = example((3, 2))
    d = (a - b).ravel()
    squares = ((d - d.mean()) ** 2).sum()
    close(block_3x2_t(a, b).statistic, d.mean() / math.sqrt(squares / 6), 1e-10)
    cautious = block_3x2_t(a, b, rho=(0.5, 0.5))
    close(cautious.statistic, d.mean() / math.sqrt(squares / 5 * 7 / 6), 1e-10)
    assert block_3x2_t(a, b).details["df"] == cautious.details["df"] == 5
    grid = [(i / 10, 0.25 + j / 20) for i in range(6) for j in range(6)]
    errors = [block_3x2_t(a, b, rho=rho).details["standard_error"] for rho in grid]
    assert np.argmax(errors) == grid.index((0.5, 0.5))


class Scripted:
    """Learns nothing; the scorer takes the next score of its name."""

    def __init__(self, name):
        self.name = name

    def fit(self, _x, _y):
        return self


@pytest.mark.parametrize("seed", range(3))
def test_five_by_two_is_that_of_mlxtend(seed):
    a, b = example((5, 2), seed)
    for peer, ours in ((paired_ttest_5x2cv, five_by_two_t), (combined_ftest_5x2cv, five_by_two_f)):
        queues = {"a": iter(a.ravel()), "b": iter(b.ravel())}
        statistic, p = peer(
            estimator1=Scripted("a"),
            estimator2=Scripted("b"),
            X=np.zeros((8, 1)),
            y=np.array([0, 1] * 4),
            scoring=lambda model, _x, _y, queues=queues: next(queues[model.name]),
            random_seed=0,
        )
        found = ours(a, b)
        close([found.statistic, found.pvalue], [statistic, p], 1e-9)


# ---- what all of them have in common ------------------------------------------------------------


@pytest.mark.parametrize(("test", "shape"), T_TESTS)
def test_interval_holds_what_is_not_rejected(test, shape):
    a, b = example(shape)
    for alternative in ("two-sided", "greater", "less"):
        low, high = test(a, b, alternative=alternative).confidence_interval(0.9)
        for end in (low, high):
            if math.isfinite(end):
                close(test(a, b, alternative=alternative, delta=end).pvalue, 0.1, 1e-9)
        assert math.isinf(high) == (alternative == "greater")
        assert math.isinf(low) == (alternative == "less")


@pytest.mark.parametrize(("test", "shape"), T_TESTS)
def test_sides_and_orientation(test, shape):
    a, b = example(shape)
    greater, less = (test(a, b, alternative=side).pvalue for side in ("greater", "less"))
    close(greater + less, 1)
    close(test(a, b).pvalue, 2 * min(greater, less))
    mirrored = test(b, a, names=("new", "old"))
    close(mirrored.statistic, -test(a, b).statistic)
    assert mirrored.names == ("new", "old")
    assert "new over old" in str(mirrored)


@pytest.mark.parametrize(("test", "shape"), TESTS)
def test_results_say_what_they_are(test, shape):
    result = test(*example(shape))
    assert result.test == test.__name__
    assert result.title == FOLD_TITLES[result.test]
    assert result.n == math.prod(shape)
    assert len(result.assumptions) == 3
    assert result.has_interval == (test is not five_by_two_f)
    assert result.to_dict()["pvalue"] == result.pvalue


@pytest.mark.parametrize(("test", "shape"), TESTS)
def test_delta_shifts_scores(test, shape):
    a, b = example(shape)
    shifted = np.vectorize(lambda x: Fraction(str(x)) - Fraction(3, 100), otypes=[object])(a)
    found, expected = test(a, b, delta=0.03), test(shifted, b)
    close([found.statistic, found.pvalue], [expected.statistic, expected.pvalue])


def test_f_may_reject_every_delta():
    """Why it has no interval."""
    d = np.array([[0.0, 0.01], [9, 9.01], [-9, -9.01], [5, 5.01], [-5, -5.01]])
    assert max(five_by_two_f(d, 0 * d, delta=x).pvalue for x in range(-9, 10)) < 0.05


# ---- levels under the null hypothesis ----------------------------------------------------------


def differences(rho1, rho2, m, size, seed):
    """Normal differences of m x 2 folds, rho1 within and rho2 between rows."""
    covariance = np.kron(np.eye(m), np.full((2, 2), rho1 - rho2)) + rho2
    np.fill_diagonal(covariance, 1.0)
    rng = np.random.default_rng(seed)
    return rng.multivariate_normal(np.zeros(2 * m), covariance, size, method="cholesky").round(6)


def level(test, rows, **options):
    """Share of p <= .05."""
    return np.mean([test(d, 0 * d, **options).pvalue <= 0.05 for d in rows])


def test_folds_that_overlap_make_kfold_too_eager_but_not_the_corrected_test():
    k = 10
    rows = differences(1 / k, 1 / k, k // 2, 1200, seed=1)
    root = math.sqrt((1 + (k - 1) / k) / (1 - 1 / k))  # how much too small its standard error is
    exact = 2 * stats.t.sf(stats.t.isf(0.025, k - 1) / root, k - 1)
    assert 0.15 < exact < 0.16
    assert level(kfold_t, rows) == pytest.approx(exact, abs=0.03)
    assert level(corrected_resampled_t, rows) == pytest.approx(0.05, abs=0.02)
    found = [test(rows[0], 0 * rows[0]).statistic for test in (kfold_t, corrected_resampled_t)]
    close(found[0], root * found[1], 1e-9)


def test_blocked_t_keeps_its_level_where_correlations_are_as_given():
    for rho in ((0.4, 0.4), (0.25, 0.375)):
        rows = differences(*rho, 3, 800, seed=2).reshape(-1, 3, 2)
        assert level(block_3x2_t, rows, rho=rho) == pytest.approx(0.05, abs=0.024)
    rows = differences(0.5, 0.5, 3, 800, seed=3).reshape(-1, 3, 2)
    assert level(block_3x2_t, rows) > 0.06 > level(block_3x2_t, rows, rho=(0.5, 0.5))


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("test", "shape"), TESTS)
def test_scores_that_are_none_are_named(test, shape):
    a, b = example(shape)
    bad, last = b.copy(), tuple(s - 1 for s in shape)
    bad[last] = math.nan
    with pytest.raises(ValueError, match=rf"b\[{b.size - 1}\] = nan is missing"):
        test(a, bad)
    words = b.astype(object)
    words[last] = "0.8"
    with pytest.raises((TypeError, ValueError), match=rf"b\[{b.size - 1}\] = '0.8' is"):
        test(a, words)


@pytest.mark.parametrize(("test", "shape"), TESTS)
def test_wrong_shapes_are_named(test, shape):
    a, b = example(shape)
    for x, y in ((a, b[:-1]), (a[:1], b[:1].ravel()), (a[None, None], b[None, None]), ([], [])):
        with pytest.raises(ValueError, match=r"a has shape \(.*, but this test takes"):
            test(x, y)
    with pytest.raises(ValueError, match="a must be an array, but its rows differ"):
        test([[0.5], [0.5, 0.6]], b)


@pytest.mark.parametrize(("test", "shape"), TESTS)
def test_differences_without_variance_are_refused(test, shape):
    b = example(shape)[1]
    with pytest.raises(ValueError, match="are equal; use exact_perm_test"):
        test(np.round(b + 0.1, 4), b)


def test_partitions_without_variance_are_refused():
    d = np.arange(5.0)[:, None] + np.zeros((5, 2))
    for test in (five_by_two_t, five_by_two_f):
        with pytest.raises(ValueError, match="differences of each partition are equal"):
            test(d, 0 * d)


@pytest.mark.parametrize("rho", [0.4, (0.4,), (1, 1), (0.5, -0.5), (0, 0.6), (2, 1), (math.nan, 0)])
def test_impossible_correlations_are_refused(rho):
    with pytest.raises(ValueError, match=r"rho=.* must be two correlations"):
        block_3x2_t(*example((3, 2)), rho=rho)


@pytest.mark.parametrize("ratio", [0, -0.1, math.inf, math.nan])
def test_ratios_that_are_none_are_refused(ratio):
    with pytest.raises(ValueError, match="test_train_ratio must be above 0"):
        corrected_resampled_t(*example((6,)), test_train_ratio=ratio)


@pytest.mark.parametrize(("test", "shape"), T_TESTS)
def test_alternatives_are_checked(test, shape):
    with pytest.raises(ValueError, match="alternative"):
        test(*example(shape), alternative="better")
