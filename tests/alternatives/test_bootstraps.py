"""Bootstrap tests against all resamples of small samples, the jackknife done, and SciPy."""

from fractions import Fraction
from itertools import product
from math import comb, inf, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permtest.alternatives.bootstraps import INTERVALS
from permtest.alternatives.resamples import (
    MAX_RESAMPLES,
    Differences,
    Mean,
    Median,
    resampled,
)
from permtest.alternatives.sample import PairedSample
from scipy import stats

from permtest import Pairs
from permtest import alternatives as alt

NORMAL = NormalDist()
STATISTICS = {"mean": np.mean, "median": np.median}
EVERY = list(product(STATISTICS, INTERVALS))


def zeros(d):
    return np.zeros_like(d)


def grouped(d, delta=0):
    return Differences.of(PairedSample.of(d, zeros(np.asarray(d)), delta))


def maritz_jarrett(x):
    """The standard deviation of the median of a resample of an odd number of values."""
    x, n = sorted(x), len(x)
    assert n % 2, "the median is one of the values"

    def below(i):
        """Whether most of n draws are among the i smallest."""
        ways = (comb(n, k) * i**k * (n - i) ** (n - k) for k in range(n // 2 + 1, n + 1))
        return Fraction(sum(ways), n**n)

    weights = [below(i + 1) - below(i) for i in range(n)]
    mean = sum(w * Fraction(v) for w, v in zip(weights, x, strict=True))
    return sqrt(sum(w * (Fraction(v) - mean) ** 2 for w, v in zip(weights, x, strict=True)))


# ---- what is computed from how often each value occurs ------------------------------------------

samples = st.lists(st.integers(-5, 5), min_size=2, max_size=12)


@settings(max_examples=80)
@given(samples, st.integers(0, 2**32 - 1))
def test_estimates_and_errors_of_a_resample_are_those_of_its_values(d, seed):
    data, d = grouped(d), np.array(d)
    values, n = np.unique(d), len(d)
    counts = np.random.default_rng(seed).multinomial(n, np.ones(values.size) / values.size, size=5)
    mean, median = Mean(data), Median(data)
    errors = mean.errors(counts, mean.estimates(counts)) * float(mean.unit)
    spreads = median.errors(counts, median.estimates(counts)) * float(median.unit)
    for k, row in enumerate(counts):
        x = np.repeat(values, row)
        assert Fraction(mean.estimates(counts)[k]) * mean.unit == Fraction(int(x.sum()), n)
        assert float(Fraction(median.estimates(counts)[k]) * median.unit) == np.median(x)
        assert errors[k] == pytest.approx(x.std(ddof=1) / sqrt(n), abs=1e-12)
        if n % 2:
            assert spreads[k] == pytest.approx(maritz_jarrett(x.tolist()), rel=1e-9, abs=1e-12)


@settings(max_examples=80)
@given(samples.filter(lambda d: len(set(d)) > 1), st.sampled_from(list(STATISTICS)))
def test_acceleration_is_that_of_the_jackknife(d, statistic):
    data = grouped(d)
    estimator = (Mean if statistic == "mean" else Median)(data)
    left = np.array([STATISTICS[statistic](d[:i] + d[i + 1 :]) for i in range(len(d))])
    rest = left.mean() - left
    below = 6 * np.sum(rest**2) ** 1.5
    expected = np.sum(rest**3) / below if below > 1e-12 else 0.0
    assert estimator.acceleration() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("counts", [[60, 39, 1], [2, 1, 1, 1, 3]], ids=["by value", "by item"])
def test_resamples_are_multinomial(counts):
    counts, size = np.array(counts), 40_000
    drawn = resampled(np.transpose, counts, size, np.random.default_rng(5)).T
    n, share = counts.sum(), counts / counts.sum()
    assert drawn.shape == (size, counts.size)
    assert np.all(drawn.sum(axis=1) == n)
    error = np.sqrt(n * share * (1 - share) / size)
    assert np.all(np.abs(drawn.mean(axis=0) - counts) < 5 * error)
    covariance = n * (np.diag(share) - np.outer(share, share))
    assert np.allclose(np.cov(drawn.T), covariance, atol=0.04 * covariance.max())


# ---- p, against all resamples -------------------------------------------------------------------


def every_resample(d, statistic):
    """Estimates and standard errors of all n^n resamples, equally likely."""
    rows = np.array(list(product(d, repeat=len(d))), dtype=float)
    if statistic == "mean":
        return rows.mean(axis=1), rows.std(axis=1, ddof=1) / sqrt(len(d))
    errors = {x: maritz_jarrett(x) for x in set(map(tuple, np.sort(rows).tolist()))}
    return np.median(rows, axis=1), np.array([errors[tuple(x)] for x in np.sort(rows).tolist()])


def share_p(shares):
    """Two-sided p from the limits of both one-sided ones."""
    return min(1.0, 2 * min(shares))


def all_shares(d, statistic, interval):
    """Both one-sided p against 0 as K grows, as textbooks have them."""
    estimates, errors = every_resample(d, statistic)
    theta = STATISTICS[statistic](d)
    if interval == "percentile":
        return np.mean(estimates <= 1e-9), np.mean(estimates >= -1e-9)
    if interval == "basic":
        return (
            np.mean(estimates - theta >= theta - 1e-9),
            np.mean(estimates - theta <= theta + 1e-9),
        )
    if interval == "studentised":
        own = stats.sem(d) if statistic == "mean" else maritz_jarrett(d)
        gap = estimates - theta
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(np.abs(gap) < 1e-12, 0.0, gap / np.where(errors < 1e-9, 0.0, errors))
        return np.mean(t >= theta / own - 1e-9), np.mean(t <= theta / own + 1e-9)
    ties = np.isclose(estimates, theta)
    z0 = NORMAL.inv_cdf(np.mean((estimates < theta) & ~ties) + np.mean(ties) / 2)
    left = np.array([STATISTICS[statistic](d[:i] + d[i + 1 :]) for i in range(len(d))])
    rest = left.mean() - left
    a = np.sum(rest**3) / (6 * np.sum(rest**2) ** 1.5) if np.ptp(left) > 0 else 0.0
    found = []
    for sign, share in ((1, np.mean(estimates <= 1e-9)), (-1, np.mean(estimates >= -1e-9))):
        x = NORMAL.inv_cdf(share) - sign * z0
        found.append(NORMAL.cdf(x / (1 + sign * a * x) - sign * z0))
    return tuple(found)


@pytest.mark.parametrize(("statistic", "interval"), EVERY)
@pytest.mark.parametrize("d", [[3, -1, 2, 2, 7], [-2, 0, 1, 4, 1]], ids=str)
def test_p_converges_to_the_share_of_all_resamples(d, statistic, interval):
    greater, less = all_shares(d, statistic, interval)
    assert 0 < greater < 1
    size, found = 40_000, {}
    for alternative in ("greater", "less", "two-sided"):
        options = {"statistic": statistic, "interval": interval, "alternative": alternative}
        found[alternative] = alt.bootstrap(d, [0] * len(d), K=size, rng=3, **options).pvalue
    error = 5 * 0.5 / sqrt(size)
    assert found["greater"] == pytest.approx(greater, abs=error)
    assert found["less"] == pytest.approx(less, abs=error)
    assert found["two-sided"] == share_p((found["greater"], found["less"]))


def test_p_of_a_small_sample_counts_ties():
    # Of the four resamples of 0 and 1 one has a mean of 0, which is as small as delta.
    r = alt.bootstrap([0, 1], [0, 0], interval="percentile", alternative="greater", K=20_000, rng=1)
    assert r.pvalue == pytest.approx(0.25, abs=0.02)
    r = alt.bootstrap([0, 1], [0, 0], interval="basic", alternative="greater", K=20_000, rng=1)
    assert r.pvalue == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize(("statistic", "interval"), EVERY)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_interval_has_the_differences_that_are_not_rejected(statistic, interval, alternative):
    rng = np.random.default_rng(8)
    d = rng.exponential(size=31).round(3) - 0.5 + rng.integers(0, 2, 31)
    options = {"statistic": statistic, "interval": interval, "alternative": alternative}

    def test(delta):
        return alt.bootstrap(d, zeros(d), delta=delta, K=999, rng=4, **options)

    for level in (0.5, 0.9, 0.95):
        ends = test(0.0).confidence_interval(level)
        assert np.all(np.isfinite(ends)) == (alternative == "two-sided")
        assert ends == pytest.approx(test(0.4).confidence_interval(level), abs=1e-12)
        for end, inwards in zip(ends, (1e-7, -1e-7), strict=True):
            if abs(end) < inf:
                assert test(end + inwards).pvalue > 1 - level - 1e-12
                assert test(end - inwards).pvalue <= 1 - level + 1e-12


@pytest.mark.parametrize(("statistic", "interval"), EVERY)
def test_too_few_resamples_exclude_nothing(statistic, interval):
    d = np.array([1, 2, 3, 5, 8, 2, 4])
    r = alt.bootstrap(d, zeros(d), statistic=statistic, interval=interval, K=30, rng=0)
    assert r.pvalue >= 2 / 31
    assert tuple(r.confidence_interval(0.95)) == (-inf, inf)
    assert r.confidence_interval(0.5).low > -inf


def test_uncentred_resamples_say_nothing():
    # The manual's Algorithm 1: how many resampled means are at least as large as the mean.
    rng = np.random.default_rng(2)
    d = rng.normal(3, 1, size=50).round(4)
    data = grouped(d)
    mean = Mean(data)
    counts = resampled(np.transpose, data.counts, 4000, rng).T
    beyond = mean.estimates(counts) >= mean.estimates(data.counts[None, :])
    assert beyond.mean() == pytest.approx(0.5, abs=0.05)
    for interval in INTERVALS:
        assert alt.bootstrap(d, zeros(d), interval=interval, K=4000, rng=0).pvalue < 0.001


# ---- peers, level and coverage ------------------------------------------------------------------


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("interval", ["percentile", "basic", "bca"])
def test_intervals_agree_with_scipy(statistic, interval):
    d = np.random.default_rng(3).exponential(size=41).round(3) - 0.3
    ours = alt.bootstrap(d, zeros(d), statistic=statistic, interval=interval, K=20_000, rng=2)
    function, rng = STATISTICS[statistic], np.random.default_rng(1)
    name = "BCa" if interval == "bca" else interval
    theirs = stats.bootstrap((d,), function, n_resamples=20_000, method=name, rng=rng)
    noise = 0.1 * theirs.standard_error
    assert tuple(ours.confidence_interval()) == pytest.approx(
        tuple(theirs.confidence_interval), abs=noise
    )
    assert ours.details["standard_error"] == pytest.approx(theirs.standard_error, rel=0.05)


def test_a_median_among_many_ties_has_an_interval_where_scipy_has_none():
    d = np.random.default_rng(3).integers(-3, 6, size=60)
    for interval in INTERVALS:
        r = alt.bootstrap(d, zeros(d), statistic="median", interval=interval, rng=0)
        low, high = r.confidence_interval()
        assert low <= np.median(d) <= high


def rejections(draw, level=0.05, runs=400, **options):
    """How often a true null hypothesis is rejected."""
    p = [
        alt.bootstrap(d, zeros(d), K=399, rng=k, **options).pvalue
        for k, d in enumerate(draw(np.random.default_rng([11, k])) for k in range(runs))
    ]
    return np.mean(np.array(p) <= level)


def test_the_studentised_mean_holds_its_level_where_percentiles_do_not():
    def skewed(rng):
        return (rng.exponential(size=20) - 1).round(4)

    level = rejections(skewed)
    percentiles, basic = (rejections(skewed, interval=i) for i in ("percentile", "basic"))
    assert level < 0.08
    assert level < percentiles < basic


def test_coverage_of_a_normal_mean_and_median():
    def normal(rng):
        return rng.normal(size=40).round(4)

    for statistic in STATISTICS:
        assert 0.015 < rejections(normal, statistic=statistic) < 0.095


# ---- arguments ----------------------------------------------------------------------------------


def test_the_default_depends_on_the_statistic():
    d = np.array([1, 2, 2, 3, -1, 5])
    assert alt.bootstrap(d, zeros(d), rng=0).details["interval"] == "studentised"
    median = alt.bootstrap(d, zeros(d), statistic="median", rng=0)
    assert median.details["interval"] == "percentile"
    assert (median.test, median.n_samples, median.method) == ("bootstrap_median", 10_000, "sampled")
    assert median.estimate == 2


def test_seeds_generators_and_names():
    u, v = [3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5]
    first, again = (alt.bootstrap(u, v, rng=7) for _ in range(2))
    assert first.pvalue == again.pvalue
    assert first.confidence_interval() == again.confidence_interval()
    assert alt.bootstrap(u, v, rng=np.random.default_rng(7)).pvalue == first.pvalue
    assert alt.bootstrap(u, v, rng=8).pvalue != first.pvalue
    assert alt.bootstrap(Pairs.of(u, v, ("x", "y"))).names == ("x", "y")
    assert "bootstrap" in str(first)
    assert first.to_dict()["details"]["interval"] == "studentised"


@pytest.mark.parametrize(("statistic", "interval"), EVERY)
def test_the_size_of_the_numbers_does_not_matter(statistic, interval):
    d = np.random.default_rng(9).integers(-9, 15, size=25)
    options = {"statistic": statistic, "interval": interval, "K": 500}
    small = alt.bootstrap(d, zeros(d), rng=1, **options)
    huge = [int(x) * (10**40 + 1) for x in d]
    large = alt.bootstrap(huge, [0] * len(d), rng=1, **options)
    one = Fraction(1, 3**50)
    tiny = alt.bootstrap([(int(x) + 1) * one for x in d], [one] * len(d), rng=1, **options)
    assert small.pvalue == pytest.approx(large.pvalue, rel=1e-9)
    assert small.pvalue == pytest.approx(tiny.pvalue, rel=1e-9)
    ends = np.array(large.confidence_interval()) / 1e40
    assert ends == pytest.approx(tuple(small.confidence_interval()), rel=1e-9)
    mixed = [*(10**30 + int(x) for x in d), 0.5]  # no float holds these sums
    with_half = alt.bootstrap(mixed, [10**30] * len(d) + [0], rng=1, **options)
    near = alt.bootstrap([*d, 0.5], [0] * (len(d) + 1), rng=1, **options)
    assert with_half.pvalue == pytest.approx(near.pvalue, rel=1e-9)


def test_sums_that_no_float_holds():
    rng = np.random.default_rng(4)
    u = [int(x) for x in rng.integers(0, 2**59, size=40)]
    v = [int(x) for x in rng.integers(0, 2**59, size=40)]
    for statistic, interval in EVERY:
        options = {"statistic": statistic, "interval": interval, "K": 500, "rng": 1}
        exact = alt.bootstrap(u, v, **options)
        assert not grouped([a - b for a, b in zip(u, v, strict=True)]).exact
        rounded = alt.bootstrap([x // 2**20 for x in u], [x // 2**20 for x in v], **options)
        assert exact.pvalue == pytest.approx(rounded.pvalue, rel=0.02)


def test_resamples_without_spread_make_infinite_t():
    d = [0, 0, 0, 0, 1]
    r = alt.bootstrap(d, [0] * 5, rng=0, K=2000)
    assert 0.25 < r.details["constant"] / 2000 < 0.4  # (4/5)^5 of them are all 0
    assert r.confidence_interval().high == inf
    opposite = alt.bootstrap([-x for x in d], [0] * 5, rng=0, K=2000, alternative="greater")
    assert opposite.pvalue > 0.9  # infinite t speak against it as well


def test_a_median_that_is_certain():
    d = np.repeat([0, 1], [4000, 1000])
    r = alt.bootstrap(d, zeros(d), statistic="median", interval="studentised", K=99, rng=0)
    assert r.pvalue == 1
    assert tuple(r.confidence_interval(0.9)) == (0, 0)
    other = alt.bootstrap(d, zeros(d), statistic="median", delta=0.5, K=99, rng=0)
    assert other.pvalue == 2 / 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "mode"}, "statistic='mode'"),
        ({"interval": "normal"}, "interval='normal'"),
        ({"alternative": "both"}, "alternative='both'"),
        ({"K": 0}, "K = 0"),
        ({"K": MAX_RESAMPLES + 1}, "K = "),
        ({"delta": inf}, "delta=inf"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        alt.bootstrap([1, 2, 4], [0, 0, 0], **options)


def test_bad_scores_are_named():
    with pytest.raises(TypeError, match="K must be an integer, not float"):
        alt.bootstrap([1, 2], [0, 0], K=10.0)
    with pytest.raises(ValueError, match=r"differ by 1 in every pair.*exact_perm_test"):
        alt.bootstrap([1, 2, 4], [0, 1, 3])
    with pytest.raises(ValueError, match="1 pairs, but"):
        alt.bootstrap([1], [0])
    with pytest.raises(ValueError, match=r"b\[1\]"):
        alt.bootstrap([1, 2], [0, float("nan")])


# ---- Koehn --------------------------------------------------------------------------------------

A = [(3, 0, 0), (2, 1, 0), (0, 1, 1), (4, 0, 1)]
B = [(2, 1, 1), (2, 0, 0), (0, 2, 1), (2, 2, 3)]


def f1(rows):
    tp, fp, fn = np.sum(rows, axis=0)
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


@pytest.mark.parametrize("statistic", ["f1", f1], ids=["name", "callable"])
def test_f1_against_all_resamples(statistic):
    gaps = []
    for chosen in product(range(4), repeat=4):
        gaps.append(f1([A[i] for i in chosen]) - f1([B[i] for i in chosen]))
    gaps, size = np.array(gaps), 10_000
    for delta in (0.0, 0.2):
        results = {
            side: alt.paired_bootstrap(
                A, B, statistic=statistic, K=size, rng=6, alternative=side, delta=delta
            )
            for side in ("greater", "less", "two-sided")
        }
        shares = np.mean(gaps <= delta + 1e-9), np.mean(gaps >= delta - 1e-9)
        assert results["greater"].pvalue == pytest.approx(shares[0], abs=0.025)
        assert results["less"].pvalue == pytest.approx(shares[1], abs=0.025)
        p = [results[side].pvalue for side in ("greater", "less")]
        assert results["two-sided"].pvalue == share_p(p)
        won = results["greater"].details
        assert won["won"] == pytest.approx(np.mean(gaps > 1e-9), abs=0.025)
        assert won["tied"] == pytest.approx(np.mean(np.abs(gaps) <= 1e-9), abs=0.025)
        assert won["won"] + won["lost"] + won["tied"] == pytest.approx(1)
    result = results["two-sided"]
    assert result.estimate == pytest.approx(f1(A) - f1(B))
    assert result.statistic == won["won"]
    ends = np.quantile(gaps, [0.025, 0.975])
    assert tuple(result.confidence_interval()) == pytest.approx(tuple(ends), abs=0.08)


def test_sums_and_means_are_the_percentile_bootstrap():
    u, v = [9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]
    plain = alt.bootstrap(u, v, interval="percentile", K=500, rng=3)
    means = alt.paired_bootstrap(u, v, statistic="mean", K=500, rng=3)
    sums = alt.paired_bootstrap(u, v, K=500, rng=3)
    assert plain.pvalue == means.pvalue == sums.pvalue
    assert (means.estimate, sums.estimate) == (1.5, 12)
    assert means.confidence_interval() == plain.confidence_interval()
    assert np.array(sums.confidence_interval()) == pytest.approx(
        8 * np.array(means.confidence_interval())
    )
    shifted = alt.paired_bootstrap(u, v, delta=8, K=500, rng=3)
    assert (
        shifted.pvalue == alt.bootstrap(u, v, interval="percentile", delta=1, K=500, rng=3).pvalue
    )
    assert shifted.details == sums.details
    assert shifted.confidence_interval() == sums.confidence_interval()


def test_entries_of_any_kind():
    u, v = ["yes", "no", "yes", "yes"], ["no", "no", "no", "yes"]

    def share(answers):
        assert isinstance(answers, list)
        return answers.count("yes") / len(answers)

    r = alt.paired_bootstrap(u, v, statistic=share, K=2000, rng=0, alternative="greater")
    assert r.estimate_name == "share difference"
    assert r.estimate == 0.5
    assert r.pvalue == pytest.approx((1 / 2) ** 4, abs=0.03)  # neither "yes" for "no" drawn
    with_pairs = alt.paired_bootstrap(
        Pairs.of([0.5, 1, 2], [0.25, 1, 1], ("x", "y")), statistic=np.median, K=50, rng=0
    )
    assert (with_pairs.estimate, with_pairs.names) == (0.0, ("x", "y"))


def test_equal_systems_are_level_and_constant_leads_refused():
    r = alt.paired_bootstrap(A, A, statistic="f1", K=100, rng=0, names=("x", "y"))
    assert (r.pvalue, r.details["tied"], r.names) == (1, 1, ("x", "y"))
    with pytest.raises(ValueError, match="same difference in all resamples"):
        alt.paired_bootstrap([1, 2, 3], [0, 1, 2], K=100)


def test_bleu_of_resamples():
    rng = np.random.default_rng(1)
    totals = np.sort(rng.integers(5, 20, size=(30, 4)), axis=1)[:, ::-1]
    tables = [
        np.hstack([np.maximum(totals - rng.integers(1, worse, size=(30, 4)), 0), totals,
                   totals[:, :1], totals[:, :1] + 1])
        for worse in (3, 5)
    ]  # fmt: skip
    r = alt.paired_bootstrap(*tables, statistic="bleu", K=300, rng=0)

    def bleu(rows):
        sums = np.sum(rows, axis=0)
        if not sums[:4].all():
            return 0.0
        precision = np.exp(np.mean(np.log(sums[:4] / sums[4:8])))
        return precision * np.exp(min(0.0, 1 - sums[9] / sums[8]))

    assert r.estimate == pytest.approx(bleu(tables[0]) - bleu(tables[1]), rel=1e-12)
    same = alt.paired_bootstrap(*tables, statistic=bleu, K=300, rng=0)
    assert tuple(r.confidence_interval()) == pytest.approx(
        tuple(same.confidence_interval()), abs=0.3 * np.ptp(r.confidence_interval())
    )


@pytest.mark.parametrize(
    ("u", "v", "options", "error", "message"),
    [
        ([1], [0], {}, ValueError, "1 entries, but this test needs 2"),
        ([(1, 0, 0)], [(1, 0, 0)], {"statistic": "f1"}, ValueError, "1 entries"),
        (["a"], ["b"], {"statistic": len}, ValueError, "1 entries"),
        (["a", "b"], ["b"], {"statistic": len}, ValueError, "2 entries and v has 1"),
        ("ab", "ba", {"statistic": len}, TypeError, "u must be a sequence of entries, not str"),
        ([1, 2], None, {"statistic": len}, TypeError, "v is missing"),
        ([1, 2], [2, 3], {"statistic": lambda x: "much"}, TypeError, "returned 'much'"),
        ([1, 2], [2, 3], {"statistic": lambda x: np.inf}, ValueError, "returned inf for 2"),
        ([1, 2], [2, 3], {"statistic": "f3x"}, ValueError, "statistic='f3x' is not known"),
        ([0.5, 2], [2, 3], {"statistic": "accuracy"}, ValueError, r"u\[0\] = 0.5"),
        ([[1, 2], [2, 3]], [[1], [2]], {"statistic": np.sum}, ValueError, "shape"),
        (Pairs.of_counts(A, B, [("tp", "fp", "fn")]), None, {}, ValueError, "tp, fp, fn"),
    ],
)
def test_bad_entries_are_named(u, v, options, error, message):
    with pytest.raises(error, match=message):
        alt.paired_bootstrap(u, v, K=10, **options)
