"""Folds of a cross-validation: counts and what they are worth, and t- and F-tests of their scores."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from math import inf, log, log1p, nan, sqrt
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import plain_array
from permtest.alternatives.assumptions import NORMAL_DIFFERENCES, Assumption
from permtest.alternatives.parametric import around, t_quantile
from permtest.alternatives.result import AlternativeResult, result_of
from permtest.alternatives.sample import PairedSample
from permtest.alternatives.tails import t_pvalue
from permtest.measures import MeanOfRatios
from permtest.statistics import Alternative, CountStatistic, check_alternative, lookup

Floats: TypeAlias = NDArray[np.float64]
Names: TypeAlias = tuple[str, str] | None

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

#: Cells of a confusion matrix, and those that an item is in for a model that errs where others do
#: not.
OPPOSITES = {"tp": "fn", "fn": "tp", "fp": "tn", "tn": "fp", "correct": "wrong", "wrong": "correct"}

#: Partitions that a cross-validation may have; more rows are rather something else.
MOST = 50

#: With larger counts, tails of Beta variables lose their digits.
LARGEST = 1e10

# ---- counts ------------------------------------------------------------------------------------


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

    table: Floats
    columns: tuple[str, ...]
    metric: CountStatistic

    @classmethod
    def of(cls, counts: Any, metric: CountStatistic, name: str = "counts") -> FoldCounts:
        """Validate an array of shape (..., columns), or a frame or mapping; `name` is for errors.

        Raises ValueError if there are no folds or other columns, or at the first number that is no
        count.
        """
        layouts = [ratio.columns for ratio in ratios(metric)]
        wanted = " or ".join(f"{len(layout)}: {', '.join(layout)}" for layout in layouts)
        keys = counts.keys() if hasattr(counts, "keys") else getattr(counts, "columns", ())
        if any(isinstance(key, str) for key in keys):
            layouts = [layout for layout in layouts if set(layout) <= set(keys)]
            if not layouts:
                raise ValueError(f"{name} has columns {', '.join(keys)}, but needs {wanted}")
            columns = max(layouts, key=len)
            counts = np.column_stack([plain_array(counts[x], f"{name}[{x!r}]") for x in columns])
        array = plain_array(counts, name, "numbers, of shape (folds, columns)")
        fits = [layout for layout in layouts if array.ndim and len(layout) == array.shape[-1]]
        if array.ndim not in (1, 2, 3) or not array.size or not fits:
            raise ValueError(
                f"{name} must have shape (folds, {wanted}) for {metric.title}, got {array.shape}"
            )
        columns, cells = fits[0], array.reshape(-1, array.shape[-1])
        for (fold, column), x in np.ndenumerate(cells):
            if not _is_number(x) or not 0 <= x <= LARGEST:
                raise ValueError(
                    f"{name}[{fold}] has {columns[column]} = {x}; counts are numbers from 0 to "
                    f"{LARGEST:g}"
                )
        table = cells.astype(np.float64)
        if metric is ACCURACY and len(columns) > 2:
            columns, table = ACCURACY.columns, np.stack([table[:, [0, 3]], table[:, 1:3]], 1).sum(2)
        table.flags.writeable = False
        return cls(table, columns, metric)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.table)

    @property
    def weights(self) -> Floats:
        """(2, columns): how often each cell counts among the hits of the metric, and its misses."""
        found = next(ratio for ratio in ratios(self.metric) if ratio.columns == self.columns)
        return np.array([found.hits[0], found.misses[0]], dtype=np.float64)

    @property
    def totals(self) -> Floats:
        """Sums over the folds, of shape (columns,)."""
        return np.asarray(self.table.sum(axis=0))

    @property
    def value(self) -> float:
        """The metric of the summed counts; NaN for 0 / 0."""
        hits, misses = map(float, self.weights @ self.totals)
        return hits / (hits + misses) if hits + misses else nan

    def gold(self) -> Floats:
        """How much there was to be found in every fold: tp + fn, or correct + wrong."""
        return np.asarray(self.table[:, [x not in ("fp", "tn") for x in self.columns]].sum(axis=1))


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
        and OPPOSITES.keys() >= set(measure.columns)
        and len(set(measure.hits[0]) - {0}) == 1
        and len(set(measure.misses[0]) - {0}) in (1, 2)
    ]


def as_number(value: Any, name: str) -> float:
    """A float; ValueError names what is none."""
    if not _is_number(value):
        raise ValueError(f"{name}={value!r} must be a number")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


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
        first, second = map(float, rho) if np.shape(rho) == (2,) else (nan, nan)
        inflated = 1 + first + c * second
        if not (abs(first) <= 1 and abs(second) <= 1 and inflated > 0):
            raise ValueError(f"rho={rho!r} must be two correlations that {2 * m} folds can have")
        return 1 / inflated

    def step(x: float) -> float:
        """h(x + 1/2) - h(x) + 1/2, without cancellation."""
        return 0.5 * log(x) + (x + 0.5) * log1p(0.5 / x)

    return 8 / c * (step(1 + c / 2) - step(1 + c / 4)) if c else 2 * log(1.5)


def as_weight(weight: float | None, n_folds: int) -> float:
    """A weight that was given, or that by design: 1, or `block_weight` for 2, 4, 6, ... folds."""
    if weight is not None:
        if not 0 < as_number(weight, "weight") <= 1:
            raise ValueError(
                f"weight={weight} must be a number above 0 and at most 1, where all counts count "
                "fully"
            )
        return float(weight)
    if n_folds > 2 * MOST:
        raise ValueError(
            f"{n_folds} rows are hardly the folds of a cross-validation; add up the counts of "
            "sentences, or pass weight=1"
        )
    if n_folds > 1 and n_folds % 2:
        raise ValueError(
            f"{n_folds} folds are no m x 2 cross-validation; pass weight=, the share of the summed "
            "counts that independent items would make (1 where every item is validated once and "
            "overlapping training sets are neglected)"
        )
    return block_weight(n_folds // 2) if n_folds > 1 else 1.0


# ---- tests of scores ---------------------------------------------------------------------------

INDEPENDENT_FOLDS = Assumption("independent folds", "folds do not depend on each other")
EQUAL_FOLDS = Assumption("equal folds", "differences of all folds have one mean and one variance")
CORRELATED_FOLDS = Assumption("correlated folds", "folds correlate as the test takes for granted")

_INDEPENDENT = (INDEPENDENT_FOLDS, EQUAL_FOLDS, NORMAL_DIFFERENCES)
_CORRELATED = (CORRELATED_FOLDS, EQUAL_FOLDS, NORMAL_DIFFERENCES)


def kfold_t(
    a: Any,
    b: Any,
    *,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """Student's t-test of the scores of K folds, which it takes for independent.

    They are not: training sets of K-fold cross-validation share most of their items. Differences
    then correlate, and the standard error is too small; see `corrected_resampled_t`.

    Parameters
    ----------
    a, b : array_like of shape (K,)
        Scores of both models on the same K folds, K >= 2.
    alternative : {"two-sided", "greater", "less"}
        "greater": `a` scores higher.
    delta : float, default 0.0
        The difference under the null hypothesis.
    names : tuple of two str, optional

    Returns
    -------
    AlternativeResult
        `details` has df, the variance of the differences, and the standard error of their mean.

    Raises
    ------
    ValueError
        If shapes are others, a score is missing or no number (TypeError), or all differences are
        equal.

    Notes
    -----
    `paired_t` of folds; cost O(K). Source: Dietterich (1998), sec. 3; Daelemans and Hoste (2002).

    Examples
    --------
    >>> from permtest.alternatives import kfold_t
    >>> round(kfold_t([85, 87, 84, 90, 88], [84, 85, 84, 87, 87]).pvalue, 4)
    0.0516
    """
    sample, shape = _folds(a, b, delta, names)
    _check_shape(len(shape) == 1 and shape[0] > 1, shape, "(K,), K >= 2")
    error = sample.deviation / sqrt(sample.n)
    return _student("kfold_t", sample, alternative, error, sample.n - 1, correlation=0.0)


def corrected_resampled_t(
    a: Any,
    b: Any,
    *,
    test_train_ratio: float | None = None,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """t-test of fold scores whose variance allows for training sets that overlap.

    The variance of the mean of J differences with the sample variance s^2 is taken for
    ``(1 / J + n_test / n_train) s^2``, where independent folds would have ``s^2 / J``.

    Parameters
    ----------
    a, b : array_like of shape (K,) or (r, K)
        Scores of K-fold cross-validation, or of r repetitions of it, one a row; J is their number.
        Or of J random splits, in one row, with `test_train_ratio`.
    test_train_ratio : float, optional
        n_test / n_train, above 0: 1 / 9 where a tenth is tested on. Default: 1 / (K - 1).
    alternative, delta, names : as in `kfold_t`

    Returns
    -------
    AlternativeResult
        `details` as in `kfold_t`, and the ratio and the correlation of folds that it amounts to.

    Raises
    ------
    ValueError
        If shapes are others, a score is missing or no number (TypeError), all differences are
        equal, or the ratio is not above 0.

    Notes
    -----
    Exact for normal differences that all correlate by n_test / (n_test + n_train), which is a rule
    of thumb. Cost O(J). Source: Nadeau and Bengio (2003); repetitions: Bouckaert and Frank (2004).

    Examples
    --------
    >>> from permtest.alternatives import corrected_resampled_t
    >>> round(corrected_resampled_t([85, 87, 84, 90, 88], [84, 85, 84, 87, 87]).pvalue, 4)
    0.1412
    """
    sample, shape = _folds(a, b, delta, names)
    _check_shape(len(shape) in (1, 2) and shape[-1] > 1, shape, "(K,) or (r, K), K >= 2")
    given = 1 / (shape[-1] - 1) if test_train_ratio is None else test_train_ratio
    ratio = as_number(given, "test_train_ratio")
    if not 0 < ratio < inf:
        raise ValueError(f"test_train_ratio must be above 0 and finite, got {test_train_ratio}")
    error, df = sample.deviation * sqrt(1 / sample.n + ratio), sample.n - 1
    more = {"test_train_ratio": ratio, "correlation": ratio / (1 + ratio)}
    return _student("corrected_resampled_t", sample, alternative, error, df, **more)


def five_by_two_t(
    a: Any,
    b: Any,
    *,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """t-test of five repetitions of 2-fold cross-validation, by the difference of the first fold.

    It is divided by the root of the mean of the five partitions' variances.

    Parameters
    ----------
    a, b : array_like of shape (5, 2)
        Scores of both models on the same folds, one partition a row.
    alternative, delta, names : as in `kfold_t`

    Returns
    -------
    AlternativeResult
        Estimate and interval of the first difference. `details` has df (5) and the mean variance.

    Raises
    ------
    ValueError
        If shapes are others, a score is missing or no number (TypeError), or no partition has
        differences that vary.

    Notes
    -----
    The answer depends on which fold is the first, and the law is approximate: partitions are of
    the same items, and a difference is not independent of its own partition's variance. Cost
    O(1). Source: Dietterich (1998), sec. 3.

    Examples
    --------
    >>> from permtest.alternatives import five_by_two_t
    >>> a = [[85, 87], [84, 90], [88, 86], [85, 88], [87, 86]]
    >>> b = [[82, 85], [84, 87], [87, 84], [83, 84], [84, 85]]
    >>> round(five_by_two_t(a, b).pvalue, 4)
    0.0815
    """
    sample, variance = _five_by_two(a, b, delta, names)
    return _student("five_by_two_t", sample, alternative, sqrt(variance), 5, variance=variance)


def five_by_two_f(a: Any, b: Any, *, delta: float = 0.0, names: Names = None) -> AlternativeResult:
    """F-test of five repetitions of 2-fold cross-validation, by all ten differences; two-sided.

    The sum of the ten squared differences over twice the sum of the five partitions' variances.

    Parameters
    ----------
    a, b : array_like of shape (5, 2)
        Scores of both models on the same folds, one partition a row.
    delta, names : as in `kfold_t`

    Returns
    -------
    AlternativeResult
        `details` has both degrees of freedom (10 and 5) and the mean of the five variances.

    Raises
    ------
    ValueError
        If shapes are others, a score is missing or no number (TypeError), or no partition has
        differences that vary.

    Notes
    -----
    As approximate as `five_by_two_t`, but the order of folds does not matter. It has no interval:
    where partitions differ much, every `delta` is rejected. Cost O(1). Source: Alpaydin (1999).

    Examples
    --------
    >>> from permtest.alternatives import five_by_two_f
    >>> a = [[85, 87], [84, 90], [88, 86], [85, 88], [87, 86]]
    >>> b = [[82, 85], [84, 87], [87, 84], [83, 84], [84, 85]]
    >>> round(five_by_two_f(a, b).pvalue, 4)
    0.1185
    """
    from scipy.special import fdtrc

    sample, variance = _five_by_two(a, b, delta, names)
    f = float(sample.shifted @ sample.shifted) / (10 * variance)
    return result_of(
        sample,
        "five_by_two_f",
        "two-sided",
        statistic=f,
        statistic_name="F",
        pvalue=float(fdtrc(10, 5, f)),
        estimate=sample.mean,
        estimate_name="mean difference",
        method="F distribution",
        assumptions=_INDEPENDENT,
        details={"df1": 10, "df2": 5, "variance": variance},
    )


def block_3x2_t(
    a: Any,
    b: Any,
    *,
    rho: tuple[float, float] = (0.4, 0.4),
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """t-test of blocked 3 x 2 cross-validation, by the mean of all six differences.

    Parameters
    ----------
    a, b : array_like of shape (3, 2)
        Scores of both models on the same folds, one partition a row.
    rho : tuple of two float, default (0.4, 0.4)
        Correlations of the differences of two folds: of one partition, and of different ones.
    alternative, delta, names : as in `kfold_t`

    Returns
    -------
    AlternativeResult
        `details` as in `kfold_t`, and both correlations.

    Raises
    ------
    ValueError
        If shapes are others, a score is missing or no number (TypeError), all differences are
        equal, or six differences cannot have such correlations.

    Notes
    -----
    With ``c = 1 + rho1 + 4 rho2`` and the sum SS of squared deviations of the differences from
    their mean, ``c / (6 - c) SS / 6`` is an unbiased variance of the mean; df is Satterthwaite's.
    Equal correlations give 5, and an exact test for normal differences.

    Source: Wang, Wang, Jia and Li (2014), whose authors' programs have ``mean / sqrt(SS / 6)``
    with 5 degrees of freedom; that is the default here. The formula as printed was not compared,
    and that (0.4, 0.4) makes theirs exact is derived here. Of the correlations that they report,
    rho1 in [0, 1/2] and rho2 in [1/4, 1/2], (0.5, 0.5) has the largest standard error. Cost O(1).

    Examples
    --------
    >>> from permtest.alternatives import block_3x2_t
    >>> a, b = [[85, 87], [84, 90], [88, 86]], [[82, 85], [84, 87], [87, 84]]
    >>> [round(block_3x2_t(a, b, rho=(r, r)).pvalue, 4) for r in (0.4, 0.5)]
    [0.1465, 0.2062]
    """
    sample, shape = _folds(a, b, delta, names)
    _check_shape(shape == (3, 2), shape, "(3, 2)")
    rho1, rho2 = map(float, rho) if np.shape(rho) == (2,) else (nan, nan)
    c, across = 1 + rho1 + 4 * rho2, 1 + rho1 - 2 * rho2
    if not (c > 0 and across >= 0 and 1 - rho1 >= 0 and 6 - c > 0):
        raise ValueError(
            f"rho={rho!r} must be two correlations that six differences can have; take the first "
            "from [0, 1/2] and the second from [1/4, 1/2]"
        )
    df = 5.0 if rho1 == rho2 else (6 - c) ** 2 / (3 * (1 - rho1) ** 2 + 2 * across**2)
    error = sample.deviation * sqrt(c / (6 - c) * 5 / 6)
    return _student("block_3x2_t", sample, alternative, error, df, rho1=rho1, rho2=rho2)


def _folds(a: Any, b: Any, delta: float, names: Names) -> tuple[PairedSample, tuple[int, ...]]:
    """The scores in one row, and the shape that both had."""
    first, second = plain_array(a, "a"), plain_array(b, "b")
    _check_shape(first.shape == second.shape, second.shape, f"{first.shape}, as a has")
    return PairedSample.of(first.ravel(), second.ravel(), delta, names), first.shape


def _check_shape(fits: bool, shape: tuple[int, ...], wanted: str) -> None:
    if not fits:
        raise ValueError(
            f"b has shape {shape}, but this test takes scores of both models, {wanted}"
        )


def _five_by_two(a: Any, b: Any, delta: float, names: Names) -> tuple[PairedSample, float]:
    """The ten scores, and the mean of the five variances."""
    sample, shape = _folds(a, b, delta, names)
    _check_shape(shape == (5, 2), shape, "(5, 2)")
    if np.array_equal(sample.gaps[0::2], sample.gaps[1::2]):
        raise ValueError("both differences of each partition are equal; use exact_perm_test")
    between = sample.differences[0::2] - sample.differences[1::2]
    return sample, float(between @ between) / 10


def _student(
    test: str, sample: PairedSample, alternative: str, error: float, df: float, **more: float
) -> AlternativeResult:
    """The t-test of the mean difference, or of the first one, with that standard error."""
    check_alternative(alternative)
    if np.all(sample.gaps == sample.gaps[0]):
        raise ValueError(f"all {sample.n} differences are equal; use exact_perm_test")
    first = test == "five_by_two_t"
    estimate = float(sample.differences[0]) if first else sample.mean
    t = (estimate - float(sample.delta)) / error
    return result_of(
        sample,
        test,
        alternative,
        statistic=t,
        statistic_name="t",
        pvalue=float(t_pvalue(t, df, alternative)),
        estimate=estimate,
        estimate_name="difference in the first fold" if first else "mean difference",
        method="t distribution",
        assumptions=_INDEPENDENT if first or test == "kfold_t" else _CORRELATED,
        details={"df": df, "standard_error": error, "variance": sample.deviation**2, **more},
        _interval=partial(around, estimate, error, alternative, partial(t_quantile, df=df)),
    )
