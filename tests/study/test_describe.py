"""Descriptions and evaluation units against SciPy, lists and known answers."""

import json
from fractions import Fraction
from statistics import mean, median, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from permtest.study import describe, evaluation_units, unit_sizes

METRICS = {"mean": mean, "median": median}
QUARTILES = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
scores = st.one_of(st.integers(-9, 9), st.integers(-99, 99).map(lambda x: x / 10))


def columns(least):
    rows = st.lists(st.tuples(scores, scores), min_size=least, max_size=30)
    return rows.map(lambda rows: [[*column] for column in zip(*rows, strict=True)])


@given(columns(1))
def test_summaries_by_numpy(pair):
    a, b = (np.round(np.multiply(x, 10)).astype(int) for x in pair)
    found = describe(a, b)
    for seen, values in ((found.a, a), (found.b, b), (found.difference, a - b)):
        assert [seen[key] for key in QUARTILES] == pytest.approx(
            np.quantile(values, np.arange(5) / 4)
        )
        assert seen["mean"] == pytest.approx(values.mean())
        if len(a) > 2 and np.ptp(values):
            assert seen["sd"] == pytest.approx(values.std(ddof=1))
            assert seen["skewness"] == pytest.approx(stats.skew(values), abs=1e-12)
    assert (found.n, found.n_zeros) == (len(a), np.sum(a == b))
    if len(a) > 2 and np.ptp(a - b):
        assert found.shapiro_p == pytest.approx(stats.shapiro(a - b).pvalue, rel=1e-6)


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
    assert f"The differences are {shape} " in str(found)


def test_normality_and_what_is_said_of_it():
    d = np.random.default_rng(0).normal(size=300).round(4)
    assert describe(d, 0 * d).normal
    assert "not normal (Shapiro-Wilk p = " in str(describe(np.exp(d).round(4), 0 * d))
    assert "too few to tell whether they are normal" in str(describe([1, 2], [0, 0]))
    one = json.loads(describe([1], [0]).to_json())
    assert (one["difference"]["sd"], one["normal"], one["shape"]) == (None, None, "symmetric")


def naive_units(values, size, metric):
    exact = [Fraction(str(x)) for x in values]
    return [METRICS[metric](exact[i : i + size]) for i in range(0, len(exact) - size + 1, size)]


@given(columns(1), st.data(), st.sampled_from(list(METRICS)))
def test_units_are_what_they_say(pair, data, metric):
    size = data.draw(st.integers(1, len(pair[0])))
    found = evaluation_units(*pair, size, metric=metric)
    for values, units in zip(pair, found.arrays, strict=True):
        exact = [Fraction(int(x), found.scale) for x in units]
        assert exact == naive_units(values, size, metric)
    assert found.source["left_out"] == list(range(len(found) * size, len(pair[0])))
    assert found.source["unit"] == f"the {metric} of {size} items"


def test_both_systems_are_shuffled_alike():
    a, order = np.arange(20), np.random.default_rng(3).permutation(20)
    found = evaluation_units(a, a + 100, 5, rng=3)
    assert (found.u / found.scale).tolist() == a[order].reshape(4, 5).mean(axis=1).tolist()
    assert (found.v - found.u).tolist() == [100 * found.scale] * 4


@given(columns(10), st.sampled_from(list(METRICS)), st.floats(0, 3))
def test_deviations_by_lists(pair, metric, tolerance):
    rows = unit_sizes(*pair, metric=metric, tolerance=tolerance)
    assert [row["size"] for row in rows] == [*range(1, len(pair[0]) // 5 + 1)]
    for row in rows:
        units = (naive_units(x, row["size"], metric) for x in pair)
        gaps = [x - y for x, y in zip(*units, strict=True)]
        assert row["sd"] == pytest.approx(float(stdev(gaps)), abs=1e-9)
        assert row["units"] == len(gaps)
    steps = np.abs(np.diff([row["sd"] for row in rows]))
    stable = [i + 2 for i, step in enumerate(steps) if step <= tolerance][:10]
    assert [row["size"] for row in rows if row["stable"]] == stable


def test_up_to_a_hundred_sizes_are_tried_with_a_hundredth_as_tolerance():
    a, b = np.random.default_rng(0).integers(0, 100, (2, 3000))
    rows = unit_sizes(a, b, rng=1)
    assert rows == unit_sizes(a, b, rng=1, tolerance=0.01 * rows[0]["sd"])
    assert len(rows) == 100
    assert [row["size"] for row in unit_sizes(a[:4], b[:4])] == [1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: describe([], []), "0 pairs"),
        (lambda: unit_sizes([1], [2]), "this needs 2 or more"),
        (lambda: evaluation_units([1, 2], [2, 1], 11), "size=11 is more than 2: there are 2"),
        (lambda: evaluation_units([1], [2], 1, metric="sum"), "metric='sum' is not known"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
