"""Counts of the folds of a cross-validation, and how many independent items they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import log, log1p, nan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import plain_array
from permtest.measures import MeanOfRatios
from permtest.statistics import CountStatistic, lookup

#: Accuracy is no count statistic elsewhere; here it is made of these.
ACCURACY = CountStatistic(
    "accuracy",
    "accuracy",
    "correct / all",
    (
        MeanOfRatios(("correct", "wrong"), ((1, 0),), ((0, 1),)),
        MeanOfRatios(("tp", "fp", "fn", "tn"), ((1, 0, 0, 1),), ((0, 1, 1, 0),)),
    ),
)

#: Names of metrics that have posteriors, besides other F-scores.
KNOWN = ("precision", "recall", "f1", "jaccard", "specificity", "accuracy")

#: Cells of a confusion matrix, each of which gets the prior once.
CELLS = {"tp", "fp", "fn", "tn", "correct", "wrong"}

#: Partitions that a cross-validation may have; more rows are rather something else.
MOST = 50

#: With larger counts, tails of Beta variables lose their digits.
LARGEST = 1e10


@dataclass(frozen=True, eq=False)
class FoldCounts:
    """One model's counts, fold by fold.

    Parameters
    ----------
    table : ndarray of shape (folds, columns)
        Counts, none negative; read-only.
    columns : tuple of str
        What is counted: "tp", "fp", "fn", or "tp", "fp", "fn", "tn", or "correct", "wrong".
    metric : CountStatistic
        What they are counted for.

    Examples
    --------
    >>> from permtest import statistic
    >>> from permtest.alternatives import FoldCounts
    >>> counts = FoldCounts.of([[60, 22, 18], [58, 20, 20]], statistic("f1"))
    >>> counts.columns, counts.n_folds, counts.totals.tolist()
    (('tp', 'fp', 'fn'), 2, [118.0, 42.0, 38.0])
    >>> round(counts.value, 3)
    0.747
    """

    table: NDArray[np.float64]
    columns: tuple[str, ...]
    metric: CountStatistic

    @classmethod
    def of(cls, counts: Any, metric: CountStatistic, name: str = "counts") -> FoldCounts:
        """Validate what a caller gave.

        Parameters
        ----------
        counts : array_like of shape (folds, columns) or (columns,), data frame or mapping
            Finite numbers >= 0. Columns of a frame, a series or a mapping are found by their names.
            An array of shape (partitions, folds, columns) will do, too.
        metric : CountStatistic
            Says which columns will do.
        name : str, default "counts"
            What errors call it.

        Returns
        -------
        FoldCounts

        Raises
        ------
        ValueError
            If there are no folds or other columns, or at the first number that is no count.
        """
        layouts = [ratio.columns for ratio in ratios(metric)]
        columns, table = _by_name(counts, layouts, name), counts
        if columns:
            table = _side_by_side({column: counts[column] for column in columns}, name)
        table = np.atleast_2d(np.array(_numbers(table, name), dtype=np.float64))
        if table.ndim == 3:  # (partitions, folds, columns)
            table = table.reshape(-1, table.shape[-1])
        fits = [layout for layout in layouts if len(layout) == table.shape[-1]]
        if table.ndim != 2 or not len(table) or not fits:
            raise ValueError(
                f"{name} must have shape (folds, {_described(layouts)}) for {metric.title}, got "
                f"{table.shape}"
            )
        columns = columns or fits[0]
        for fold, column in np.argwhere(~((table >= 0) & (table <= LARGEST)))[:1]:
            raise ValueError(
                f"{name}[{fold}] has {columns[column]} = {table[fold, column]:.13g}; counts are "
                f"numbers from 0 to {LARGEST:g}"
            )
        if metric is ACCURACY and len(columns) > 2:
            columns, table = ACCURACY.columns, np.stack([table[:, [0, 3]], table[:, 1:3]], 1).sum(2)
        table.flags.writeable = False
        return cls(table, columns, metric)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.table)

    @property
    def ratio(self) -> MeanOfRatios:
        """The metric as a ratio of these columns."""
        return next(ratio for ratio in ratios(self.metric) if ratio.columns == self.columns)

    @property
    def value(self) -> float:
        """The metric of the summed counts; NaN for 0 / 0."""
        hits, misses = (float(self.totals @ w[0]) for w in (self.ratio.hits, self.ratio.misses))
        return hits / (hits + misses) if hits + misses else nan

    @property
    def totals(self) -> NDArray[np.float64]:
        """Sums over the folds, of shape (columns,)."""
        sums: NDArray[np.float64] = self.table.sum(axis=0)
        return sums

    def gold(self) -> NDArray[np.float64]:
        """How much there was to be found in every fold: tp + fn, or correct + wrong."""
        sizes: NDArray[np.float64] = self.table.sum(axis=1)
        if "fn" in self.columns:
            sizes = (
                self.table[:, self.columns.index("tp")] + self.table[:, self.columns.index("fn")]
            )
        return sizes


def _by_name(counts: Any, layouts: list[tuple[str, ...]], name: str) -> tuple[str, ...]:
    """The columns to take from a frame or mapping; () for plain arrays."""
    keys = counts.keys() if hasattr(counts, "keys") else getattr(counts, "columns", ())
    known = [key for key in keys if isinstance(key, str)]
    if not known:
        return ()
    for layout in sorted(layouts, key=len, reverse=True):
        if set(layout) <= set(known):
            return layout
    raise ValueError(
        f"{name} has columns {', '.join(known)}, but needs {_described(layouts)}; rename them"
    )


def _numbers(table: Any, name: str) -> NDArray[Any]:
    array = plain_array(table, name, "numbers, of shape (folds, columns)")
    wrong = [] if array.dtype.kind in "iuf" else [x for x in array.flat if not _is_real(x)]
    if wrong:
        raise ValueError(f"{name} must be numbers, of shape (folds, columns), not {wrong[0]!r}")
    return array


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, np.timedelta64)


def _side_by_side(columns: Mapping[str, Any], name: str) -> NDArray[Any]:
    arrays = [np.atleast_1d(plain_array(x, f"{name}[{key!r}]")) for key, x in columns.items()]
    for key, array in zip(columns, arrays, strict=True):
        if array.shape != arrays[0].shape:
            raise ValueError(
                f"{name} has columns of different length: {len(array)} in {key!r}, "
                f"{len(arrays[0])} in the first"
            )
    return np.column_stack(arrays)


def _described(layouts: list[tuple[str, ...]]) -> str:
    return " or ".join(f"{len(layout)}: {', '.join(layout)}" for layout in layouts)


def metric_of(metric: str | CountStatistic) -> CountStatistic:
    """The ratio of counts called `metric`; ValueError if it is not one ratio of cells."""
    if metric == "accuracy":
        return ACCURACY
    try:
        found = lookup(metric)
    except ValueError:
        found = None
    if not isinstance(found, CountStatistic) or found.average or not ratios(found):
        close = get_close_matches(f"{metric}".lower(), KNOWN, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(
            f"metric={metric!r} is no ratio of tp, fp, fn and tn{hint}; there are posteriors of "
            f"{', '.join(map(repr, KNOWN))} and of F-scores with any other beta, as 'f2'"
        )
    return found


def ratios(metric: CountStatistic) -> list[MeanOfRatios]:
    """The forms of a metric that have a posterior.

    They are one ratio of the cells of a confusion matrix, in which all hits count alike, and misses
    in one way or in two.
    """
    return [
        measure
        for measure in metric.measures
        if isinstance(measure, MeanOfRatios)
        and measure.size == 1
        and measure.whole
        and set(measure.columns) <= CELLS
        and len(set(measure.hits[0]) - {0}) == 1
        and len(set(measure.misses[0]) - {0}) in (1, 2)
    ]


def block_weight(m: int = 3, *, rho: tuple[float, float] | None = None) -> float:
    """What share of the summed counts of an m x 2 cross-validation independent items would make.

    Each item is validated m times, by models whose training sets overlap, so that the 2 m folds
    know less than as many independent ones.

    Parameters
    ----------
    m : int, default 3
        Number of partitions, of two folds each.
    rho : tuple of two float, optional
        Correlation of the two folds of one partition, and of folds of different partitions.
        Default: the average over 0 <= rho1 <= 1/2 and 1/4 <= rho2 <= 1/2, all equally likely,
        where simulations find them.

    Returns
    -------
    float
        1 / (1 + rho1 + 2 (m - 1) rho2), or its average. With rho = (1, 1) it is 1 / (2 m): all
        folds together are worth one.

    Raises
    ------
    ValueError
        If m < 1, or with these correlations the mean of the folds had a variance of 0 or less.

    Notes
    -----
    Closed form of the average, with h(x) = x log x - x and c = 2 (m - 1):
    8 / c [h(1.5 + c/2) - h(1 + c/2) - h(1.5 + c/4) + h(1 + c/4)]; 2 log 1.5 for m = 1. The paper
    prints 0.3688 for m = 3. Source: Wang and Li (2019), Eq. 14 and 22; for other m their variance
    carried over.

    Examples
    --------
    >>> from permtest.alternatives import block_weight
    >>> round(block_weight(3), 10), round(block_weight(3, rho=(0.5, 0.5)), 4)
    (0.3688021103, 0.2857)
    """
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise ValueError(f"m={m!r} must be a whole number of partitions, 1 or more")
    c = 2 * (int(m) - 1)
    if rho is not None:
        return _weight_given(c, rho)
    if c == 0:
        return 2 * log(1.5)
    return 8 / c * (_step(1 + c / 2) - _step(1 + c / 4))


def _step(x: float) -> float:
    """h(x + 1/2) - h(x) + 1/2, without cancellation."""
    return 0.5 * log(x) + (x + 0.5) * log1p(0.5 / x)


def _weight_given(c: int, rho: Any) -> float:
    given = tuple(rho) if isinstance(rho, Sequence | np.ndarray) and len(rho) == 2 else ()
    if not given or not all(isinstance(r, Real) and abs(float(r)) <= 1 for r in given):
        raise ValueError(f"rho={rho!r} must be two correlations, from -1 to 1")
    first, second = map(float, given)
    inflated = 1 + first + c * second
    if inflated <= 0:
        raise ValueError(f"rho={rho} cannot be: the mean of the folds had a negative variance")
    return 1 / inflated


def weight_by_design(n_folds: int) -> float:
    """The weight of so many folds: 1 for a hold-out set, `block_weight` for 2, 4, 6, ... folds.

    Raises ValueError for other numbers of folds, whose design is not known.
    """
    if n_folds == 1:
        return 1.0
    if n_folds > 2 * MOST:
        raise ValueError(
            f"{n_folds} rows are hardly the folds of a cross-validation; add up the counts of "
            "sentences, or pass weight="
        )
    if n_folds % 2:
        raise ValueError(
            f"{n_folds} folds are no m x 2 cross-validation; pass weight=, the share of the summed "
            "counts that independent items would make (1 where every item is validated once and "
            "overlapping training sets are neglected)"
        )
    return block_weight(n_folds // 2)


def as_weight(weight: float | None, n_folds: int) -> float:
    """A weight that was given, or the one by design."""
    if weight is None:
        return weight_by_design(n_folds)
    number = as_number(weight, "weight")
    if not 0 < number <= 1:
        raise ValueError(
            f"weight={weight} must be a number above 0 and at most 1, where all counts count fully"
        )
    return number


def as_number(value: Any, name: str) -> float:
    """A float; ValueError names what is none."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"{name}={value!r} must be a number")
    return float(value)
