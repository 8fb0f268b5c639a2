"""Descriptions against SciPy, lists, and known answers."""

import json
from collections import Counter
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from permtest.study import describe
from permtest.study.describe import dependence
from tests.study.known import SAMPLES, SUMMARY

scores = st.integers(-5, 5)
columns = st.lists(st.tuples(scores, scores), min_size=1, max_size=25)


@pytest.mark.parametrize("kind", SAMPLES)
def test_summaries_are_known(kind):
    mean, sd, median, skewness, w, p = SUMMARY[kind]
    found = describe(*SAMPLES[kind])
    d = found.difference
    assert (d.mean, d.sd, d.median, d.skewness) == pytest.approx(
        (mean, sd, median, skewness), rel=1e-9, abs=1e-12
    )
    assert (found.shapiro_w, found.shapiro_p) == pytest.approx((w, p), rel=1e-4)


@given(columns)
def test_summaries_by_numpy_and_counts_by_lists(rows):
    a, b = np.array(rows).T
    found = describe(a, b)
    for summary, values in ((found.a, a), (found.b, b), (found.difference, a - b)):
        assert (summary.mean, summary.median) == pytest.approx((values.mean(), np.median(values)))
        assert (summary.minimum, summary.maximum) == (values.min(), values.max())
        quartiles = np.percentile(values, [25, 75])
        assert [summary.lower_quartile, summary.upper_quartile] == pytest.approx(list(quartiles))
        if len(rows) > 1:
            assert summary.sd == pytest.approx(values.std(ddof=1))
        if len(rows) > 2 and np.ptp(values):
            assert summary.skewness == pytest.approx(stats.skew(values), abs=1e-12)
        else:
            assert summary.skewness == 0
        assert summary.values.tolist() == values.tolist()
    magnitudes = Counter(abs(x - y) for x, y in rows if x != y)
    assert found.n_zeros == sum(x == y for x, y in rows)
    assert found.n_tied == sum(c for c in magnitudes.values() if c > 1)
    assert found.n == len(rows)


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
    rng = np.random.default_rng(0)
    d = rng.normal(size=300).round(4)
    assert describe(d, 0 * d).normal
    assert not describe(np.exp(d).round(4), 0 * d).normal
    few = describe([1, 2], [0, 0])
    assert few.normal is None
    assert isnan(few.shapiro_p)


def test_what_a_description_says():
    found = describe(*SAMPLES["tied"], names=("crf", "<b>"))
    lines = [line.split() for line in str(found).splitlines()]
    assert ["mean", "2.667", "2.292", "0.375"] in lines
    assert "24; 1 without a difference, 22 of equal size" in str(found)
    assert json.loads(found.to_json())["difference"]["lower_quartile"] == -1
    assert "&lt;b&gt;" in found._repr_html_()
    single = describe([1], [0])
    assert single.to_dict()["difference"]["sd"] is None
    assert "not defined" in str(single)
    with pytest.raises(ValueError, match="0 pairs"):
        describe([], [])


@pytest.mark.parametrize(
    ("differences", "ids", "parts"),
    [
        ([1, 2, 1, 2, 1, 2, 1, 2], None, []),
        ([3, 3, 3], None, []),
        ([1] * 8 + [0] * 8, None, ["correlation 0.81, beyond 2 / sqrt(16) = 0.50", "clusters"]),
        ([1, 2] * 4, [f"doc{i // 4}-s{i}" for i in range(8)], ["2 documents, such as 'doc0' with"]),
        ([1, 2] * 4, [f"weblog_ENG_{i // 3}-{i:04}" for i in range(8)], ["3 documents"]),
        ([1, 2] * 4, [f"s{i}" for i in range(8)], []),
        ([1, 2] * 4, [f"test-s{i}" for i in range(8)], []),
    ],
)
def test_what_speaks_against_independent_items(differences, ids, parts):
    found = dependence(differences, ids)
    assert all(part in found for part in parts)
    assert bool(found) == bool(parts)
