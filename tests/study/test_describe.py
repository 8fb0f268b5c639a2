"""Descriptions, evaluation units and samples against SciPy, lists, and known answers."""

import json
from collections import Counter
from fractions import Fraction
from math import isnan
from statistics import mean, median, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from permtest.study import SAMPLES, describe, evaluation_units, sample_data, unit_sizes
from permtest.study.describe import dependence
from tests.alternatives.known import SAMPLES as KNOWN
from tests.study import known

METRICS = {"mean": mean, "median": median}
scores = st.one_of(st.integers(-9, 9), st.integers(-99, 99).map(lambda x: x / 10))


def columns(least, most=30):
    return st.lists(st.tuples(scores, scores), min_size=least, max_size=most).map(
        lambda rows: [[*column] for column in zip(*rows, strict=True)]
    )


# ---- descriptions --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KNOWN)
def test_summaries_are_known(kind):
    mean, sd, median, skewness, w, p = known.SUMMARY[kind]
    found = describe(*KNOWN[kind])
    d = found.difference
    expected = pytest.approx((mean, sd, median, skewness), rel=1e-9, abs=1e-12)
    assert (d.mean, d.sd, d.median, d.skewness) == expected
    assert (found.shapiro_w, found.shapiro_p) == pytest.approx((w, p), rel=1e-4)


@given(columns(1))
def test_summaries_by_numpy_and_counts_by_lists(pair):
    a, b = (np.round(np.multiply(x, 10)).astype(int) for x in pair)
    found = describe(a, b)
    for summary, values in ((found.a, a), (found.b, b), (found.difference, a - b)):
        quartiles = np.percentile(values, [0, 25, 50, 75, 100])
        assert summary[3:7] == pytest.approx([*quartiles[:2], *quartiles[3:]])
        assert (summary.mean, summary.median) == pytest.approx((values.mean(), quartiles[2]))
        if len(a) > 2 and np.ptp(values):
            assert summary.sd == pytest.approx(values.std(ddof=1))
            assert summary.skewness == pytest.approx(stats.skew(values), abs=1e-12)
        else:
            assert summary.skewness == 0
        assert summary.values.tolist() == values.tolist()
    sizes = Counter(np.abs(a - b)[a != b].tolist())
    assert (found.n, found.n_zeros) == (len(a), np.sum(a == b))
    assert found.n_tied == sum(count for count in sizes.values() if count > 1)


@pytest.mark.parametrize(
    ("differences", "shape", "statistic"),
    [
        ([-2, -1, 0, 1, 2], "symmetric", "mean"),
        ([0, 0, 0, 0, 1, 1, 2, 3], "slightly skewed", "median"),
        ([0, 0, 0, 0, 0, 0, 0, 9], "highly skewed", "median"),
        ([3, 3, 3], "symmetric", "mean"),
    ],
)
def test_the_rule_of_skewness(differences, shape, statistic):
    found = describe(differences, [0] * len(differences))
    assert (found.shape, found.test_statistic) == (shape, statistic)
    assert found.symmetric == (shape == "symmetric")


def test_normality():
    d = np.random.default_rng(0).normal(size=300).round(4)
    assert describe(d, 0 * d).normal
    assert not describe(np.exp(d).round(4), 0 * d).normal
    few = describe([1, 2], [0, 0])
    assert few.normal is None
    assert isnan(few.shapiro_p)


def test_what_a_description_says():
    found = describe(*KNOWN["tied"], names=("crf", "<b>"))
    lines = [line.split() for line in str(found).splitlines()]
    assert ["mean", "2.667", "2.292", "0.375"] in lines
    assert "24; 1 without a difference, 22 of equal size" in str(found)
    assert json.loads(found.to_json())["difference"]["lower_quartile"] == -1
    assert describe([1], [0]).to_dict()["difference"]["sd"] is None


@pytest.mark.parametrize(
    ("differences", "ids", "parts"),
    [
        ([1, 2, 1, 2, 1, 2, 1, 2], None, []),
        ([3, 3, 3], None, []),
        ([1] * 8 + [0] * 8, None, ["correlation 0.81, beyond 2 / sqrt(16) = 0.50", "clusters"]),
        ([1, 2] * 4, [f"doc{i // 4}-s{i}" for i in range(8)], ["2 documents, such as 'doc0' with"]),
        ([1, 2] * 4, [f"weblog_ENG_{i // 3}-{i:04}" for i in range(8)], ["3 documents"]),
        ([1, 2] * 4, [f"test-s{i}" for i in range(8)], []),
    ],
)
def test_what_speaks_against_independent_items(differences, ids, parts):
    found = dependence(differences, ids)
    assert all(part in found for part in parts)
    assert bool(found) == bool(parts)


# ---- evaluation units ----------------------------------------------------------------------------


def naive_units(values, size, metric):
    exact = [Fraction(str(x)) for x in values]
    starts = range(0, len(exact) - size + 1, size)
    return [METRICS[metric](exact[i : i + size]) for i in starts]


@given(columns(1), st.data(), st.sampled_from(list(METRICS)))
def test_units_are_what_they_say(pair, data, metric):
    size = data.draw(st.integers(1, len(pair[0])))
    found = evaluation_units(*pair, size, metric=metric, remainder="drop")
    for values, units in zip(pair, (found.pairs.u, found.pairs.v), strict=True):
        exact = [Fraction(int(x), found.pairs.scale) for x in units]
        assert exact == naive_units(values, size, metric)
    assert found.left_out.tolist() == list(range(len(found.pairs) * size, len(pair[0])))


def test_both_systems_are_shuffled_alike():
    a = np.arange(20)
    found = evaluation_units(a, a + 100, 5, rng=3).pairs
    order = np.random.default_rng(3).permutation(20)
    assert (found.u / found.scale).tolist() == a[order].reshape(4, 5).mean(axis=1).tolist()
    assert ((found.v - found.u) / found.scale).tolist() == [100] * 4


@given(columns(4), st.sampled_from(list(METRICS)), st.floats(0, 3))
def test_deviations_by_lists(pair, metric, tolerance):
    sizes = range(1, len(pair[0]) // 2 + 1)
    found = unit_sizes(*pair, sizes, metric=metric, tolerance=tolerance)
    for i, size in enumerate(sizes):
        u, v = (naive_units(x, size, metric) for x in pair)
        gaps = [x - y for x, y in zip(u, v, strict=True)]
        assert found.sds[i] == pytest.approx(float(stdev(gaps)), abs=1e-9)
        assert found.n_units[i] == len(gaps)
    steps = np.abs(np.diff(found.sds))
    assert list(found.stable) == [i + 2 for i, step in enumerate(steps) if step <= tolerance][:10]


def test_the_default_sizes_and_tolerance():
    a, b = np.random.default_rng(0).integers(0, 100, (2, 3000))
    found = unit_sizes(a, b, rng=1)
    assert found.sizes.tolist() == list(range(1, 101))
    assert found.tolerance == 0.01 * found.sds[0]
    assert len(found.stable) == 10
    # Means of m independent items vary less by the root of m, for ever.
    assert found.sds * np.sqrt(found.sizes) == pytest.approx(found.sds[0], rel=0.35)
    assert str(found).startswith("Standard deviation of units of 1 to 100 items: ")
    assert unit_sizes(a[:9], b[:9]).sizes.tolist() == [1]


# ---- refusals, and samples -----------------------------------------------------------------------

TEN = range(10), range(10)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: describe([], []), ValueError, "0 pairs"),
        (lambda: evaluation_units(*TEN, 4), ValueError, "size=4 leaves 2 of 10 items.*'drop'"),
        (lambda: evaluation_units(*TEN, 0), ValueError, "size=0 must be at least 1: there are 10"),
        (lambda: evaluation_units(*TEN, 11), ValueError, "size=11 is more than 10: there are 10"),
        (lambda: evaluation_units(*TEN, 2.5), TypeError, "size = 2.5 must be a whole number"),
        (lambda: evaluation_units(*TEN, 5, metric="sum"), ValueError, "metric='sum' is not known"),
        (lambda: evaluation_units(*TEN, 5, remainder="pad"), ValueError, "remainder='pad' is not"),
        (lambda: evaluation_units(*TEN, 5, rng="x"), TypeError, "rng must be"),
        (lambda: unit_sizes(*TEN, [2, 1]), ValueError, r"sizes=\[2, 1\] must ascend"),
        (lambda: unit_sizes(*TEN, [6]), ValueError, r"sizes\[0\]=6 is more than 5: there are 10"),
        (lambda: unit_sizes(*TEN, tolerance=-1), ValueError, "tolerance=-1 must not be negative"),
        (lambda: sample_data("none"), ValueError, "name='none' is not known"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", SAMPLES)
def test_means_and_medians_of_samples_are_as_told(name):
    spec, n = SAMPLES[name], 200_000
    a, b = sample_data(name, n, rng=1)
    d = a - b
    assert abs(d.mean() - spec.mean_difference) < 5 * d.std() / np.sqrt(n)
    above, below = np.mean(d > spec.median_difference), np.mean(d < spec.median_difference)
    assert max(above, below) < 0.5 + 5 / np.sqrt(n) / 2 or "binary" in name
    assert np.median(d) == pytest.approx(spec.median_difference, abs=0.02)
