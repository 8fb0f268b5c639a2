"""Counts of folds, and the constant of the m x 2 cross-validation against a double integral."""

import numpy as np
import pandas as pd
import pytest

from permtest import alternatives as alt
from permtest import statistic
from permtest.alternatives import folds
from tests import naive

F1 = statistic("f1")


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 10])
def test_weight_is_the_average_over_both_correlations(m):
    assert alt.block_weight(m) == pytest.approx(float(naive.fold_weight(m)), rel=1e-13)


def test_weight_as_printed():
    printed = [0.8109, 0.5053, 0.3688, 0.2907, 0.2401]
    assert [round(alt.block_weight(m), 4) for m in range(1, 6)] == printed
    assert alt.block_weight(np.int64(3)) == alt.block_weight()
    # For many partitions the correlation of partitions is all that matters.
    assert alt.block_weight(10**7) * 2e7 == pytest.approx(4 * np.log(2), rel=1e-6)


@pytest.mark.parametrize("m", [1, 3, 7])
def test_weight_for_given_correlations(m):
    for first, second in [(0, 0), (0.5, 0.25), (1, 1), (-0.2, 0.1)]:
        weight = alt.block_weight(m, rho=(first, second))
        # The variance of a mean of 2 m folds of unit variance is 1 / (2 m weight).
        correlations = np.full((2 * m, 2 * m), float(second))
        for j in range(0, 2 * m, 2):
            correlations[j : j + 2, j : j + 2] = [[1, first], [first, 1]]
        assert 1 / (2 * m * weight) == pytest.approx(correlations.mean(), rel=1e-13)


def test_weight_refuses():
    for m in (0, -1, 2.0, True, "3"):
        with pytest.raises(ValueError, match=f"m={m!r} must be a whole number"):
            alt.block_weight(m)
    for rho in ((0.5, 1.1), (np.nan, 0), (0, -np.inf), 0.5, (1, 1, 1), (-1, -1)):
        with pytest.raises(
            (TypeError, ValueError), match=r"rho=.* must be two correlations that 6"
        ):
            alt.block_weight(3, rho=rho)


def test_weight_by_design():
    assert folds.as_weight(None, 1) == 1
    assert folds.as_weight(None, 6) == alt.block_weight(3)
    with pytest.raises(ValueError, match="5 folds are no m x 2 cross-validation; pass weight="):
        folds.as_weight(None, 5)
    assert folds.as_weight(0.2, 5) == 0.2
    for weight in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"weight=.* must be a number above 0"):
            folds.as_weight(weight, 2)
    with pytest.raises((TypeError, ValueError), match="weight='x'"):
        folds.as_weight("x", 2)


def test_counts_are_kept():
    table = np.array([[5, 1, 2], [4, 0.5, 3]])
    counts = folds.FoldCounts.of(table, F1)
    table[:] = 0
    assert counts.columns == ("tp", "fp", "fn")
    assert (counts.n_folds, counts.totals.tolist()) == (2, [9, 1.5, 5])
    assert counts.gold().tolist() == [7, 7]
    with pytest.raises(ValueError, match="read-only"):
        counts.table[0, 0] = 1
    one = folds.FoldCounts.of([3, 1], folds.ACCURACY)
    assert (one.n_folds, one.columns, one.gold().tolist()) == (1, ("correct", "wrong"), [4])


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_columns_are_found_by_name(make):
    given = make({"fn": [2, 3], "fold": [0, 1], "tp": [5, 4], "fp": [1, 0]})
    counts = folds.FoldCounts.of(given, F1)
    assert counts.columns == ("tp", "fp", "fn")
    assert counts.table.tolist() == [[5, 1, 2], [4, 0, 3]]
    with pytest.raises(ValueError, match="x has columns tp, fp, but needs 3: tp, fp, fn or 4"):
        folds.FoldCounts.of(make({"tp": [1], "fp": [2]}), F1, "x")
    scalar = folds.FoldCounts.of({"tn": 1, "fn": 2, "fp": 3, "tp": 4}, F1)
    assert scalar.table.tolist() == [[4, 3, 2, 1]]


def test_counts_refuse():
    cases = {
        r"counts\[1\] has fp = -5; counts are": [[1, 2, 3], [4, -5, 6]],
        r"counts\[0\] has fn = nan": [1, 2, np.nan],
        r"counts\[0\] has tp = inf": [np.inf, 2, 3],
        r"counts must have shape \(folds, 3: tp, fp, fn or 4: .* for F1, got \(2,\)": [1, 2],
        r"counts must have shape .* got \(0, 3\)": np.zeros((0, 3)),
        r"counts must have shape .* got \(2, 2, 2, 3\)": np.ones((2, 2, 2, 3)),
        r"counts must be numbers": [[1, 2, 3], [1, 2]],
        r"counts\[0\] has tp = x": [["x", 2, 3]],
        r"counts .*(rows|length|size)": {"tp": [1, 2], "fp": [1], "fn": [1, 2]},
    }
    for message, given in cases.items():
        with pytest.raises(ValueError, match=message):
            folds.FoldCounts.of(given, F1)


def test_metrics_are_ratios_of_cells():
    assert folds.metric_of("accuracy") is folds.ACCURACY
    assert folds.metric_of("f3").name == "f3"
    for name in ("mcc", "bleu", "wer", "balanced_accuracy", "micro_f1", "macro_recall", "sum"):
        with pytest.raises(ValueError, match=f"metric='{name}' is no ratio of tp, fp, fn and tn"):
            folds.metric_of(name)
    with pytest.raises(ValueError, match="did you mean 'recall'"):
        folds.metric_of("recal")


def test_a_series_and_partitions_are_read_by_name_and_shape():
    series = pd.Series({"fn": 20, "tp": 90, "fp": 10})
    assert folds.FoldCounts.of(series, F1).table.tolist() == [[90, 10, 20]]
    assert folds.FoldCounts.of(pd.Series([90, 10, 20]), F1).table.tolist() == [[90, 10, 20]]
    cube = np.arange(18).reshape(3, 2, 3)
    assert folds.FoldCounts.of(cube, F1).table.tolist() == cube.reshape(6, 3).tolist()
    with pytest.raises(ValueError, match=r"counts\[2\] is masked"):
        folds.FoldCounts.of(np.ma.array([1, 2, 3], mask=[0, 0, 1]), F1)
    with pytest.raises(ValueError, match="2078 rows are hardly the folds"):
        folds.as_weight(None, 2078)
