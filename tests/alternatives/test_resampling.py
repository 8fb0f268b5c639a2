"""Bootstraps against all resamples of small samples."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats

from permtest import Scores
from permtest import alternatives as alt
from permtest.alternatives.resampling import MAX_RESAMPLES, resampled

SIDES = ("two-sided", "greater", "less")
EVERY = {
    "studentised mean": (alt.bootstrap, np.mean),
    "percentile mean": (partial(alt.paired_bootstrap, statistic="mean"), np.mean),
    "percentile median": (partial(alt.bootstrap, statistic="median"), np.median),
}


@pytest.mark.parametrize("counts", [[60, 39, 1], [2, 1, 1, 1, 3]], ids=["by value", "by item"])
def test_resamples_are_multinomial(counts):
    counts, size = np.array(counts), 40_000
    drawn = resampled(np.transpose, counts, size, 5).T
    n, share = counts.sum(), counts / counts.sum()
    assert np.all(drawn.sum(axis=1) == n)
    error = np.sqrt(n * share * (1 - share) / size)
    assert np.all(np.abs(drawn.mean(axis=0) - counts) < 5 * error)
    covariance = n * (np.diag(share) - np.outer(share, share))
    assert np.allclose(np.cov(drawn.T), covariance, atol=0.04 * covariance.max())


def all_shares(d, kind):
    """Both one-sided p against 0 as K grows, as textbooks have them, from all n^n resamples."""
    rows = np.array(list(product(d, repeat=len(d))), dtype=float)
    estimates, theta = EVERY[kind][1](rows, axis=1), EVERY[kind][1](d)
    if kind.startswith("percentile"):
        return np.mean(estimates <= 1e-9), np.mean(estimates >= -1e-9)
    errors, gap = rows.std(axis=1, ddof=1) / sqrt(len(d)), estimates - theta
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(gap) < 1e-12, 0.0, gap / np.where(errors < 1e-9, 0.0, errors))
    own = stats.sem(d)
    return np.mean(t >= theta / own - 1e-9), np.mean(t <= theta / own + 1e-9)


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("d", [[3, -1, 2, 2, 7], [-2, 0, 1, 4, 1]], ids=str)
def test_p_converges_to_the_share_of_all_resamples(d, kind):
    test, how = EVERY[kind][0], {"K": 40_000, "rng": 3}
    found = [test(d, [0] * 5, alternative=side, **how).pvalue for side in SIDES]
    expected = all_shares(d, kind)
    assert found[1:] == pytest.approx(expected, abs=5 * 0.5 / sqrt(40_000))
    assert found[0] == min(1.0, 2 * min(found[1:]))


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("alternative", SIDES)
def test_the_interval_has_the_differences_that_are_not_rejected(kind, alternative):
    rng = np.random.default_rng(8)
    d = rng.exponential(size=31).round(3) - 0.5 + rng.integers(0, 2, 31)

    def test(shift):
        return EVERY[kind][0](d, 0 * d + shift, K=999, rng=4, alternative=alternative)

    for level in (0.5, 0.9, 0.95):
        ends = test(0.0).confidence_interval(level)
        assert np.all(np.isfinite(ends)) == (alternative == "two-sided")
        moved = np.array(test(0.4).confidence_interval(level)) + 0.4
        assert ends == pytest.approx(tuple(moved), abs=1e-12)
        for end, inwards in zip(ends, (1e-7, -1e-7), strict=True):
            if abs(end) < inf:
                assert test(end + inwards).pvalue > 1 - level - 1e-12
                assert test(end - inwards).pvalue <= 1 - level + 1e-12


@pytest.mark.parametrize("kind", EVERY)
def test_few_resamples_and_large_numbers(kind):
    d, test = [1, 2, 3, 5, 8, 2, 4, -3, -6, 7], EVERY[kind][0]
    few = test(d, [0] * 10, K=30, rng=0)
    assert few.pvalue >= 2 / 31
    assert tuple(few.confidence_interval(0.95)) == (-inf, inf)
    small = test(d, [0] * 10, rng=1, K=500)
    for unit in (10**40 + 1, Fraction(1, 3**50)):
        scaled = test([x * unit for x in d], [0] * 10, rng=1, K=500)
        assert scaled.pvalue == pytest.approx(small.pvalue, rel=1e-9)
        ends = np.array(scaled.confidence_interval()) / float(unit)
        assert ends == pytest.approx(tuple(small.confidence_interval()), rel=1e-9)


def test_resamples_without_spread_make_infinite_t():
    d, how = np.array([0, 0, 0, 0, 1]), {"K": 2000, "rng": 0}
    assert alt.bootstrap(d, 0 * d, **how).confidence_interval().high == inf
    assert alt.bootstrap(0 * d, d, alternative="greater", **how).pvalue > 0.9, "infinite t, too"


A = [(3, 0, 0), (2, 1, 0), (0, 1, 1), (4, 0, 1)]
B = [(2, 1, 1), (2, 0, 0), (0, 2, 1), (2, 2, 3)]
COUNTS = Scores.of_counts({"u": A, "v": B})


def f1(rows):
    tp, fp, fn = np.sum(rows, axis=0)
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def test_f1_against_all_resamples():
    chosen = list(product(range(4), repeat=4))
    gaps = np.array([f1([A[i] for i in x]) - f1([B[i] for i in x]) for x in chosen])
    how = {"statistic": "f1", "K": 10_000, "rng": 6}
    result, *one_sided = (alt.paired_bootstrap(A, B, alternative=side, **how) for side in SIDES)
    p = [x.pvalue for x in one_sided]
    assert p == pytest.approx([np.mean(gaps <= 1e-9), np.mean(gaps >= -1e-9)], abs=0.025)
    assert result.pvalue == min(1.0, 2 * min(p))
    assert result.statistic == pytest.approx(np.mean(gaps > 1e-9), abs=0.025)
    assert result.estimate == pytest.approx(f1(A) - f1(B))
    ends = tuple(np.quantile(gaps, [0.025, 0.975]))
    assert tuple(result.confidence_interval()) == pytest.approx(ends, abs=0.08)


def test_sums_and_means_have_the_same_resamples():
    u, v = [9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]
    means = alt.paired_bootstrap(u, v, statistic="mean", K=500, rng=3)
    sums = alt.paired_bootstrap(u, v, K=500, rng=3)
    assert means.pvalue == sums.pvalue
    assert (means.estimate, sums.estimate) == (1.5, 12)
    assert (means.estimate_name, sums.estimate_name) == ("mean difference", "sum difference")
    times = tuple(8 * np.array(means.confidence_interval()))
    assert tuple(sums.confidence_interval()) == pytest.approx(times)
    level = alt.paired_bootstrap(A, A, statistic="f1", K=100, rng=0)
    assert (level.pvalue, level.statistic) == (1, 0)


THREE = [1, 2, 4], [0, 0, 0]


@pytest.mark.parametrize(
    ("test", "pair", "options", "message"),
    [
        (alt.bootstrap, THREE, {"statistic": "mode"}, "statistic='mode'"),
        (alt.bootstrap, THREE, {"K": MAX_RESAMPLES + 1}, "K=10000001 is more"),
        (alt.bootstrap, ([1, 2, 4], [0, 1, 3]), {}, "alike in every pair.*exact_perm_test"),
        (alt.paired_bootstrap, ([1], [0]), {}, "same difference in all"),
        (alt.paired_bootstrap, ([1, 2, 3], [0, 1, 2]), {}, "same difference in all resamples"),
        (alt.paired_bootstrap, (COUNTS, None), {}, "tp, fp, fn"),
    ],
)
def test_bad_arguments_are_named(test, pair, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        test(*pair, **options)
