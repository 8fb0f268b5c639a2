"""Soft pairwise accuracy: against enumeration, with missing scores, floats, and errors."""

from itertools import combinations, permutations

import numpy as np
import pytest

from permtest import exact_perm_test
from permtest.many import pairwise_agreement, soft_pairwise_accuracy
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


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_by_all_labellings(seed):
    human, metric = np.random.default_rng(seed).integers(0, 5, (2, 4, 7)).tolist()
    found = soft_pairwise_accuracy(human, metric)
    assert found.accuracy == pytest.approx(slowly(human, metric), abs=1e-13)
    assert found.error_bound < 1e-12
    p = exact_perm_test(human[1], human[0], alternative="greater").pvalue
    assert found.human_pvalues[1, 0] == pytest.approx(p, rel=1e-13)


@pytest.mark.parametrize(
    ("n", "digits", "missing"), [(9, 3, 0.1), (62, 1, 0), (63, 1, 0.1), (200, 2, 0.1), (300, 4, 0)]
)
@pytest.mark.parametrize("upward", [True, False])
def test_each_p_is_that_of_the_exact_test(n, digits, missing, upward):
    rng = np.random.default_rng(n)
    human, metric = np.round(rng.normal(size=(2, 4, n)), digits)
    metric[0, n // 2 :] = metric[1, n // 2 :]
    human[rng.random(human.shape) < missing] = np.nan
    side = {"human_higher_is_better": upward, "metric_higher_is_better": upward}
    found = soft_pairwise_accuracy(human, metric, **side)
    for i, j in permutations(range(4), 2):
        both = ~np.isnan(human[i] + human[j])
        for table, p in ((human, found.human_pvalues), (metric, found.metric_pvalues)):
            way = "greater" if upward else "less"
            exact = exact_perm_test(table[i, both], table[j, both], alternative=way).pvalue
            assert p[i, j] == pytest.approx(exact, rel=1e-12)


def test_directions():
    human, metric = np.random.default_rng(0).integers(0, 9, (2, 3, 8))
    found = soft_pairwise_accuracy(human, metric)
    turned = soft_pairwise_accuracy(human, -metric, metric_higher_is_better=False)
    assert turned.accuracy == found.accuracy
    np.testing.assert_array_equal(turned.metric_pvalues, found.metric_pvalues)


def test_missing_human_scores():
    rng = np.random.default_rng(1)
    human, metric = rng.integers(0, 9, (2, 3, 10)).astype(float)
    human[0, 2] = human[1, 5] = np.nan
    found = soft_pairwise_accuracy(human, metric)
    keep = [0, 1, 3, 4, 6, 7, 8, 9]
    p = exact_perm_test(metric[0, keep], metric[1, keep], alternative="greater").pvalue
    assert found.metric_pvalues[0, 1] == pytest.approx(p, rel=1e-13)
    assert found.n_missing == 2
    assert "2 human scores missing" in str(found)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_floats_have_a_bound(kind):
    rng = np.random.default_rng(2)
    human = rng.integers(0, 9, (4, 60))
    metric = (human + rng.normal(size=(4, 60))).astype(kind)
    found = soft_pairwise_accuracy(human, metric)
    near = soft_pairwise_accuracy(human, np.round(metric.astype(float), 5))
    assert 0 < found.error_bound < 1e-3
    assert abs(found.accuracy - near.accuracy) < found.error_bound + 1e-4


def test_agreement_is_counted_segment_by_segment():
    human, metric = np.random.default_rng(3).integers(0, 4, (2, 5, 6)).astype(float)
    human[0, 0] = np.nan
    expected = [
        sum(
            np.sign(human[i, s] - human[j, s]) == np.sign(metric[i, s] - metric[j, s])
            for i, j in combinations(range(5), 2)
        )
        for s in range(6)
    ]
    assert pairwise_agreement(human, metric).tolist() == expected


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
