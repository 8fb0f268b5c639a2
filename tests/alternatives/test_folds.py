"""Folds: their counts, what these are worth, a test of scores, and block-regularised folds."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from permtest import alternatives as alt
from permtest.alternatives import folds
from tests import naive


@pytest.mark.parametrize("m", [1, 2, 3, 10])
def test_weight_is_the_average_over_both_correlations(m):
    assert folds.as_weight(None, 2 * m) == alt.block_weight(m)
    assert alt.block_weight(m) == pytest.approx(float(naive.fold_weight(m)), rel=1e-13)
    for first, second in [(0, 0), (0.5, 0.25), (1, 1), (-0.05, 0.1)]:
        # The variance of a mean of 2 m folds of unit variance is 1 / (2 m weight).
        correlations = np.full((2 * m, 2 * m), float(second))
        for j in range(0, 2 * m, 2):
            correlations[j : j + 2, j : j + 2] = [[1, first], [first, 1]]
        weight = alt.block_weight(m, rho=(first, second))
        assert 1 / (2 * m * weight) == pytest.approx(correlations.mean(), rel=1e-13)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, np.array])
def test_counts_are_read_by_name_and_shape(make):
    given = {"fn": [2, 3], "fold": [0, 1], "tp": [5, 4], "fp": [1, 0.5]}
    table = np.array([[5.0, 1, 2], [4, 0.5, 3]])
    counts = folds.as_counts(table if make is np.array else make(given), "f1")
    assert counts.tolist() == table.tolist()
    one = folds.as_counts(pd.Series({"fn": 20, "tp": 90, "fp": 10}), "recall")
    assert one.tolist() == [[90, 10, 20]]


of = partial(folds.as_counts, metric="f1")
cut = alt.BlockRegularizedCV().blocks
resampled = alt.corrected_resampled_t


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: of([[1, 2, 3], [4, -5, 6]]), r"counts\[1\] has fp = -5; counts are"),
        (lambda: of([2 * 10**10, 2, 3]), r"counts\[0\] has tp = 2e\+10; .* from 0 to 1e\+10"),
        (lambda: of(np.zeros((0, 3))), r"shape \(folds, 3: tp, fp, fn\), got \(0, 3\)"),
        (lambda: of(np.ma.array([1, 2, 3], mask=[0, 0, 1])), r"counts\[0\] has fn = nan"),
        (lambda: folds.as_weight(None, 5), "5 rows are not the folds of an m x 2 .* pass weight="),
        (lambda: folds.as_weight(np.nan, 2), "weight=nan must"),
        (lambda: resampled([1, 2, 3], [1, 2]), r"a has shape \(3,\) and b \(2,\)"),
        (lambda: resampled([0.3, 0.4], [0.2, 0.3]), "; use exact_perm_test"),
        (lambda: cut(range(3)), "there are 3 items, or groups, for four blocks"),
        (lambda: cut(range(9), groups=[1, 2, None] * 3), "groups must have a label"),
        (lambda: cut(range(9), ["a", None, *"bcdefgh"]), "y must have 9 .* none missing"),
    ],
)
def test_what_will_not_do_is_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@given(st.integers(0, 2**32), st.sampled_from([(6,), (4, 3)]))
@settings(max_examples=40)
def test_the_statistic_is_spelled_out(seed, shape):
    a, b = np.random.default_rng(seed).integers(0, 1000, (2, *shape)) / 1000
    d, found = a - b, alt.corrected_resampled_t(a, b)
    error = math.sqrt((1 / d.size + 1 / (shape[-1] - 1)) * d.var(ddof=1))
    assert found.statistic == pytest.approx(d.mean() / error, rel=1e-9)
    assert found.pvalue == pytest.approx(2 * stats.t.sf(abs(found.statistic), d.size - 1), rel=1e-9)
    interval = stats.t.interval(0.9, d.size - 1, d.mean(), error)
    assert tuple(found.confidence_interval(0.9))[:2] == pytest.approx(interval, rel=1e-9)


def sets(splits):
    return [(set(train.tolist()), set(test.tolist())) for train, test in splits]


def test_three_partitions_are_table_1_and_share_quarters():
    cv = alt.BlockRegularizedCV(rng=0)
    b1, b2, b3, b4 = (set(np.flatnonzero(cv.blocks(range(40)) == b).tolist()) for b in range(4))
    table = [(b1 | b2, b3 | b4), (b1 | b3, b2 | b4), (b2 | b3, b1 | b4)]
    found = sets(cv.split(range(40)))
    assert found == [fold for s, t in table for fold in ((s, t), (t, s))]
    counted = [[len(s & t) / 40 for t, _ in found] for s, _ in found]
    pairs, same = np.kron(np.eye(3), np.ones((2, 2))), np.eye(6) / 2
    assert counted == np.where(pairs, same, 0.25).tolist()


@given(st.integers(4, 40), st.integers(0, 2**32), st.booleans())
@settings(max_examples=50)
def test_each_item_is_validated_once_a_partition(n, seed, labelled):
    rng = np.random.default_rng(seed)
    classes, numbers = rng.choice(["x", "y", "z"], n), rng.normal(size=n)
    balance = None if labelled else {"c": classes, "x": numbers}
    cv = alt.BlockRegularizedCV(balance=balance, rng=seed)
    found = sets(cv.split(list(range(n)), classes))
    assert len(found) == cv.get_n_splits()
    for (s, t), (back, again) in zip(found[::2], found[1::2], strict=True):
        assert (s, t, s & t, s | t) == (again, back, set(), set(range(n)))
    assert np.ptp(np.bincount(cv.blocks(range(n), classes), minlength=4)) <= 1


@pytest.mark.parametrize("groups", [False, True])
def test_a_corpus_is_balanced_far_better_than_at_random(groups):
    rng = np.random.default_rng(7)
    tokens = rng.geometric(1 / 12.3, 4078)
    data = {"ORG": rng.poisson(0.13 * tokens / 12.3), "tokens": tokens}
    documents = np.arange(4078) // 10 if groups else np.arange(4078)
    cv, given = alt.BlockRegularizedCV(balance=data, rng=0), documents if groups else None
    for values in data.values():
        halves = [values[x].sum() / values.sum() for x, _ in cv.split(range(4078), groups=given)]
        assert max(abs(2 * half - 1) for half in halves) < (0.012 if groups else 0.004)
    blocks = pd.Series(cv.blocks(range(4078), groups=given))
    assert (blocks.groupby(documents).nunique() == 1).all()


def test_classes_and_columns_are_dealt_evenly():
    y, n, x = np.repeat(["a", "b"], [170, 30]), pd.Series(range(200)), ["y", "z"] * 100
    frame = pd.DataFrame({"n": n, "x": x})
    for balance in (n, frame, frame.to_numpy()[:, :1], None):
        blocks = alt.BlockRegularizedCV(balance=balance, rng=0).blocks(range(200), y)
        for labels, known in ((y, balance is None), (x, balance is frame)):
            table = pd.crosstab(blocks, np.array(labels)).to_numpy()
            assert (np.ptp(table, axis=0).max() <= 2) >= known
    same = [alt.BlockRegularizedCV(balance=b, rng=0).blocks(range(200)) for b in (n, n.to_numpy())]
    assert np.array_equal(*same)


def test_scikit_learn_takes_it_for_one_of_its_own():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    X = rng.normal(size=(120, 3)) + y[:, None]
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=alt.BlockRegularizedCV(rng=0))
    assert search.fit(X, y, groups=np.arange(120) // 4).n_splits_ == 6
