"""Folds: their counts, what these are worth, a test of scores, and block-regularised folds."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from permtest import alternatives as alt
from permtest.alternatives import folds
from permtest.alternatives.registry import TESTS
from tests import naive


def close(got, expected, tolerance=1e-12):
    assert got == pytest.approx(expected, rel=tolerance, abs=tolerance)


# ---- counts, and what they are worth -----------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 10])
def test_weight_is_the_average_over_both_correlations(m):
    assert alt.block_weight(m) == pytest.approx(float(naive.fold_weight(m)), rel=1e-13)
    for first, second in [(0, 0), (0.5, 0.25), (1, 1), (-0.05, 0.1)]:
        # The variance of a mean of 2 m folds of unit variance is 1 / (2 m weight).
        correlations = np.full((2 * m, 2 * m), float(second))
        for j in range(0, 2 * m, 2):
            correlations[j : j + 2, j : j + 2] = [[1, first], [first, 1]]
        weight = alt.block_weight(m, rho=(first, second))
        assert 1 / (2 * m * weight) == pytest.approx(correlations.mean(), rel=1e-13)


def test_weight_as_printed_and_by_design():
    printed = [0.8109, 0.5053, 0.3688, 0.2907, 0.2401]
    assert [round(alt.block_weight(m), 4) for m in range(1, 6)] == printed
    # For many partitions the correlation of partitions is all that matters.
    assert alt.block_weight(10**7) * 2e7 == pytest.approx(4 * np.log(2), rel=1e-6)
    found = [folds.as_weight(None, n) for n in (1, 6)] + [folds.as_weight(0.2, 5)]
    assert found == [1, alt.block_weight(np.int64(3)), 0.2]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, np.array])
def test_counts_are_read_by_name_and_shape(make):
    given = {"fn": [2, 3], "fold": [0, 1], "tp": [5, 4], "fp": [1, 0]}
    table = np.array([[5.0, 1, 2], [4, 0, 3]])
    counts = folds.FoldCounts.of(table if make is np.array else make(given), "f1")
    assert (counts.columns, counts.n_folds) == (("tp", "fp", "fn"), 2)
    assert (counts.table.tolist(), counts.totals.tolist()) == (table.tolist(), [9, 1, 5])
    assert counts.gold().tolist() == [7, 7]
    one = folds.FoldCounts.of(pd.Series({"fn": 20, "tp": 90, "fp": 10}), "recall")
    assert one.table.tolist() == [[90, 10, 20]]
    assert folds.FoldCounts.of([3, 1], "accuracy").gold().tolist() == [4]


of = partial(folds.FoldCounts.of, metric="f1")
resampled = partial(alt.corrected_resampled_t, [3, 5, 4], [1, 2, 4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: of([[1, 2, 3], [4, -5, 6]]), r"counts\[1\] has fp = -5; counts are"),
        (lambda: of([1, 2, np.nan]), r"counts\[0\] has fn = nan"),
        (lambda: of([1, 2]), r"shape \(folds, 3: tp, fp, fn\) for F1, got \(2,\)"),
        (lambda: of(np.zeros((0, 3))), r"counts must have shape .* got \(0, 3\)"),
        (lambda: of([[1, 2, 3], [1, 2]]), "counts must be numbers"),
        (lambda: of([["x", 2, 3]]), r"counts\[0\] has tp = x"),
        (lambda: of({"tp": [1], "fp": [2]}), "counts has columns tp, fp, but needs tp, fp, fn"),
        (lambda: of(np.ma.array([1, 2, 3], mask=[0, 0, 1])), r"counts\[2\] is masked"),
        (lambda: of([1, 2, 3], metric="mcc"), "metric='mcc' is not known; choose one of"),
        (lambda: folds.as_weight(None, 5), "5 folds are not an m x 2 cross-validation; pass wei"),
        (lambda: folds.as_weight(None, 2078), "2078 rows are too many for the folds"),
        (lambda: folds.as_weight(0, 2), "weight=0 must"),
        (lambda: folds.as_weight(np.nan, 2), "weight=nan must"),
        (lambda: alt.block_weight(0), "m=0 must"),
        (lambda: alt.block_weight(2.5), "m = 2.5 must"),
        (lambda: alt.block_weight(rho=(0.5, 1.1)), "rho=.* must be two correlations that 6"),
        (lambda: alt.block_weight(rho=(1, 1, 1)), "rho=.* must be two correlations that 6"),
        (lambda: alt.block_weight(rho=(-1, -1)), "rho=.* must be two correlations that 6"),
        (lambda: alt.block_weight(rho=("a", 0)), "rho='a' must be a number"),
        (lambda: resampled(test_train_ratio=0), "_ratio=0 must be"),
        (lambda: resampled(test_train_ratio=np.nan), "_ratio=nan must be"),
    ],
)
def test_counts_weights_and_metrics_that_are_none_are_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


# ---- a test of scores --------------------------------------------------------------------------


def tables(*shape):
    """Two tables of scores in thousandths, whose differences vary within each row."""
    size = math.prod(shape)
    rows = st.lists(st.integers(0, 1000), min_size=2 * size, max_size=2 * size)
    both = rows.map(lambda x: np.array(x, dtype=float).reshape(2, *shape) / 1000)
    return both.filter(lambda ab: np.ptp((ab[0] - ab[1])[..., :2]) > 1e-6)


def example(shape, seed=3):
    a, b = np.random.default_rng(seed).normal(0.8, 0.03, (2, *shape))
    return np.round(a + 0.02, 4), np.round(b, 4)


@given(tables(5, 2))
def test_statistics_are_spelled_out(tables):
    a, b = tables
    d = a - b
    for options, ratio in (({}, 1), ({"test_train_ratio": 1 / 9}, 1 / 9)):
        found = alt.corrected_resampled_t(a, b, **options)
        close(found.statistic, d.mean() / math.sqrt((1 / 10 + ratio) * d.var(ddof=1)), 1e-9)
        close(found.pvalue, 2 * stats.t.sf(abs(found.statistic), 9), 1e-9)
        close(found.details["correlation"], ratio / (1 + ratio))


@pytest.mark.parametrize("shape", [(6,), (4, 3)])
def test_sides_intervals_names_and_thresholds(shape):
    test = alt.corrected_resampled_t
    a, b = example(shape)
    result, shifted = test(a, b), np.vectorize(lambda x: Fraction(str(x)), otypes=[object])(a)
    assert (result.test, result.title) == (test.__name__, TESTS[test.__name__].title)
    assert (result.n, len(result.assumptions)) == (math.prod(shape), 3)
    moved, expected = test(a, b, delta=0.03), test(shifted - Fraction(3, 100), b)
    close([moved.statistic, moved.pvalue], [expected.statistic, expected.pvalue])
    assert "new over old" in str(test(b, a, names=("new", "old")))
    close(test(b, a).statistic, -result.statistic)
    sides = {side: test(a, b, alternative=side) for side in ("greater", "less")}
    close(sum(x.pvalue for x in sides.values()), 1)
    close(result.pvalue, 2 * min(x.pvalue for x in sides.values()))
    for side, found in {"two-sided": result, **sides}.items():
        low, high = found.confidence_interval(0.9)
        assert (math.isinf(low), math.isinf(high)) == (side == "less", side == "greater")
        for end in filter(math.isfinite, (low, high)):
            close(test(a, b, alternative=side, delta=end).pvalue, 0.1, 1e-9)


@pytest.mark.parametrize("shape", [(6,), (4, 3)])
def test_scores_that_do_not_fit_are_named(shape):
    test = alt.corrected_resampled_t
    a, b = example(shape)
    bad = b.astype(object)
    bad[tuple(s - 1 for s in shape)] = math.nan
    with pytest.raises(ValueError, match=rf"b\[{b.size - 1}\] = nan is missing"):
        test(a, bad)
    for x, y in ((a, b[:-1]), (a[:1], b[:1].ravel()), (a[None, None], b[None, None]), ([], [])):
        with pytest.raises(ValueError, match=r"a has shape \(.*, but this test takes"):
            test(x, y)
    with pytest.raises(ValueError, match="; use exact_perm_test"):
        test(np.round(b + 0.1, 4), b)


# ---- block-regularised cross-validation --------------------------------------------------------

SIZES = {1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 7: 8, 8: 16, 15: 16, 31: 32}  # blocks by m


def sets(splits):
    return [(set(train.tolist()), set(test.tolist())) for train, test in splits]


def halves_off(partition, values):
    """How far training sets are from half of the sum, as a share of it."""
    return max(abs(2 * values[train].sum() / values.sum() - 1) for train, _ in partition.splits())


def test_three_partitions_are_table_1():
    partition = alt.BlockRegularizedCV(3, rng=0).partition(range(40))
    b1, b2, b3, b4 = (set(np.flatnonzero(partition.blocks == b).tolist()) for b in range(4))
    table = [(b1 | b2, b3 | b4), (b1 | b3, b2 | b4), (b2 | b3, b1 | b4)]
    assert sets(partition.splits()) == [fold for s, t in table for fold in ((s, t), (t, s))]


@pytest.mark.parametrize("m", SIZES)
def test_training_sets_share_a_quarter(m):
    n = 4 * SIZES[m]
    partition = alt.BlockRegularizedCV(m, rng=1).partition(range(n))
    assert 2 * len(partition.design[0]) == SIZES[m]
    found = sets(partition.splits())
    counted = [[len(s & t) / n for t, _ in found] for s, _ in found]
    pairs, same = np.kron(np.eye(m), np.ones((2, 2))), np.eye(2 * m) / 2
    assert counted == np.where(pairs, same, 0.25).tolist()


@given(
    st.sampled_from(list(SIZES)[:8]),
    st.integers(0, 40),
    st.integers(0, 2**32),
    st.sampled_from(["none", "classes", "numbers", "both"]),
)
@settings(max_examples=50)
def test_each_item_is_validated_once_a_partition(m, extra, seed, kind):
    n, rng = SIZES[m] + extra, np.random.default_rng(seed)
    classes, numbers = rng.choice(["x", "y", "z"], n), rng.normal(size=n)
    y = {"classes": classes, "numbers": numbers}.get(kind)
    cv = alt.BlockRegularizedCV(
        m, balance={"c": classes, "x": numbers} if kind == "both" else None, rng=seed
    )
    partition = cv.partition(range(n), y)
    found = sets(partition.splits())
    assert len(found) == cv.get_n_splits() == 2 * m
    for (s, t), (back, again) in zip(found[::2], found[1::2], strict=True):
        assert (s, t, s & t, s | t) == (again, back, set(), set(range(n)))
    assert np.ptp(np.bincount(partition.blocks, minlength=SIZES[m])) <= 1
    assert sets(cv.split(list(range(n)), y)) == found, "a seed makes the same ones"


@pytest.mark.parametrize("groups", [False, True])
def test_a_corpus_is_balanced_far_better_than_at_random(groups):
    rng = np.random.default_rng(7)
    tokens = rng.geometric(1 / 12.3, 4078)
    names = {"LOC": 0.18, "PER": 0.19, "ORG": 0.13}
    data = {x: rng.poisson(rate * tokens / 12.3) for x, rate in names.items()} | {"tokens": tokens}
    documents = np.arange(4078) // 10 if groups else None
    partition, plain = (
        alt.BlockRegularizedCV(balance=x, rng=0).partition(range(4078), groups=documents)
        for x in (data, None)
    )
    other = alt.BlockRegularizedCV(balance=data, rng=1).partition(range(4078), groups=documents)
    assert (other.blocks != partition.blocks).mean() > 0.5
    assert not partition.blocks.flags.writeable
    for name, values in data.items():
        assert halves_off(partition, values) < (0.008 if groups else 0.004)
        assert halves_off(partition, values) <= halves_off(plain, values)
        assert partition.balance[name].tolist() == np.bincount(partition.blocks, values).tolist()
        assert f"{halves_off(partition, values):.2%}" in str(partition)
    if groups:
        assert (pd.Series(partition.blocks).groupby(documents).nunique() == 1).all()


@pytest.mark.parametrize(
    ("balance", "y", "columns"),
    [
        (None, np.repeat(["a", "b", "c"], [700, 90, 10]), ["y=a", "y=b", "y=c"]),
        (None, np.arange(200) % 3, ["y=0", "y=1", "y=2"]),
        (np.arange(200) % 3, None, ["balance"]),  # integers are counts there
        (np.arange(400).reshape(200, 2), None, ["0", "1"]),
        ({"label": ["x", "y"] * 100, "long": [1 > 0] * 200}, None,
         ["label=x", "label=y", "long=True"]),
    ],
)  # fmt: skip
def test_classes_and_columns_are_dealt_evenly(balance, y, columns):
    for data in (balance, pd.DataFrame(balance)) if isinstance(balance, dict) else (balance,):
        cv = alt.BlockRegularizedCV(balance=data, rng=0)
        found = cv.partition(range(200 if y is None else len(y)), y).balance
        assert list(found) == ["items", *columns]
        assert all(np.ptp(sums) <= 2 for name, sums in found.items() if "=" in name)


@pytest.mark.parametrize(
    ("message", "options", "data"),
    [
        ("m=0 must be at least 1", {"m": 0}, (range(9),)),
        ("m = True must be a whole number", {"m": True}, (range(9),)),
        ("m=8 needs 16 items, or groups", {"m": 8}, (range(10),)),
        ("there are 3", {}, (range(9), None, [1, 2, 3] * 3)),
        ("y has 9 entries for 10 items", {}, (range(10), [1] * 9)),
        ("y, row 1: nan cannot be balanced", {}, (range(9), [1.0, np.nan] + [1.0] * 7)),
        ("y, row 1: (None|nan) cannot be balanced", {}, (range(9), ["a", None] + ["b"] * 7)),
        ("balance, row 8: inf cannot be", {"balance": [1] * 8 + [np.inf]}, (range(9),)),
    ],
)
def test_partitions_that_cannot_be_made_say_why(message, options, data):
    with pytest.raises((TypeError, ValueError), match=message):
        alt.BlockRegularizedCV(**options).partition(*data)


def test_scikit_learn_takes_it_for_one_of_its_own():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    X = rng.normal(size=(120, 3)) + y[:, None]
    cv = alt.BlockRegularizedCV(3, rng=0)
    assert len(cross_validate(LogisticRegression(), X, y, cv=cv)["test_score"]) == 6
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=cv)
    assert search.fit(X, y, groups=np.arange(120) // 4).n_splits_ == 6
