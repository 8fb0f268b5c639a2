"""Soft pairwise accuracy: against enumeration, with missing scores, floats, and errors."""

from itertools import combinations

import numpy as np
import pytest

from permtest import exact_perm_test
from permtest.many import soft_pairwise_accuracy
from tests import naive


def slowly(human, metric):
    """1 - mean |p - q| by 2^N labellings."""
    gaps = []
    for i, j in combinations(range(len(human)), 2):
        both = [
            naive.pvalue(table[i], table[j], h=naive.h_of("greater")) for table in (human, metric)
        ]
        gaps.append(abs(both[0] - both[1]))
    return 1 - float(sum(gaps) / len(gaps))


@pytest.mark.parametrize("seed", range(3))
def test_accuracy_by_all_labellings(seed):
    human, metric = np.random.default_rng(seed).integers(0, 5, (2, 4, 7)).tolist()
    found = soft_pairwise_accuracy(human, metric)
    assert found.accuracy == pytest.approx(slowly(human, metric), abs=1e-13)
    assert found.error_bound < 1e-12


@pytest.mark.parametrize(
    ("n", "digits", "missing"), [(9, 3, 0.1), (63, 1, 0.1), (200, 2, 0.1), (300, 4, 0)]
)
@pytest.mark.parametrize("way", ["greater", "less"])
def test_each_p_is_that_of_the_exact_test(n, digits, missing, way):
    rng = np.random.default_rng(n)
    human, metric = np.round(rng.normal(size=(2, 3, n)), digits)
    metric[0, n // 2 :] = metric[1, n // 2 :]
    human[rng.random(human.shape) < missing] = np.nan
    up = way == "greater"
    side = {"human_higher_is_better": up, "metric_higher_is_better": up}
    found = soft_pairwise_accuracy(human, metric, **side)
    for i, j in combinations(range(3), 2):
        both = ~np.isnan(human[i] + human[j])
        for table, p in ((human, found.human_pvalues), (metric, found.metric_pvalues)):
            exact = exact_perm_test(table[i, both], table[j, both], alternative=way).pvalue
            assert p[i, j] == pytest.approx(exact, rel=1e-12)
    missing = np.isnan(human).sum()
    assert (found.n_missing, " missing" in str(found)) == (missing, missing > 0)
    turned = soft_pairwise_accuracy(human, -metric, **side | {"metric_higher_is_better": not up})
    assert turned.accuracy == found.accuracy


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_floats_have_a_bound(kind):
    rng = np.random.default_rng(2)
    human = rng.integers(0, 9, (3, 60))
    metric = (human + rng.normal(size=(3, 60))).astype(kind)
    found = soft_pairwise_accuracy(human, metric)
    near = soft_pairwise_accuracy(human, np.round(metric.astype(float), 5))
    assert 0 < found.error_bound < 1e-3
    assert abs(found.accuracy - near.accuracy) < found.error_bound + 1e-4


@pytest.mark.parametrize(
    ("human", "metric", "message"),
    [
        ([[1, 2]], [[1, 2]], "a pair needs two"),
        ([[1, 2], [3, 4]], [[1, 2, 3], [3, 4, 5]], "same systems on the same segments"),
        ([[1, 2], [3, 4]], [[1, None], [3, 4]], r"metric\[0, 1\] is missing"),
        ([[1, None], [None, 4]], [[1, 2], [3, 4]], "no segment in common"),
        ([1, 2], [3, 4], r"\(systems, segments\)"),
    ],
)
def test_bad_tables(human, metric, message):
    with pytest.raises(ValueError, match=message):
        soft_pairwise_accuracy(human, metric)
