"""Tests of fold scores: t-tests and an F-test of cross-validation, one score for each fold."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, nan, sqrt
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import plain_array
from permtest._integers import with_room
from permtest.alternatives.folds import as_number
from permtest.alternatives.parametric import student
from permtest.alternatives.result import (
    AlternativeResult,
    PairedSample,
    as_floats,
    result_of,
)
from permtest.statistics import Alternative, check_alternative

_INDEPENDENT = ("independent folds", "equal folds", "normal differences")
_CORRELATED = ("correlated folds", "equal folds", "normal differences")


def kfold_t(
    a: Any,
    b: Any,
    *,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: tuple[str, str] | None = None,
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
    sample, _ = _folds(a, b, "(K,), K >= 2", lambda s: len(s) == 1 and s[0] >= 2, delta, names)
    error = sample.deviation / sqrt(sample.n)
    return _student("kfold_t", sample, alternative, error, sample.n - 1, correlation=0.0)


def corrected_resampled_t(
    a: Any,
    b: Any,
    *,
    test_train_ratio: float | None = None,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: tuple[str, str] | None = None,
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
    wanted = "(K,) or (r, K), K >= 2"
    sample, shape = _folds(a, b, wanted, lambda s: len(s) in (1, 2) and s[-1] >= 2, delta, names)
    ratio = 1 / (shape[-1] - 1)
    if test_train_ratio is not None:
        ratio = as_number(test_train_ratio, "test_train_ratio")
    if not (isfinite(ratio) and ratio > 0):
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
    names: tuple[str, str] | None = None,
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


def five_by_two_f(
    a: Any, b: Any, *, delta: float = 0.0, names: tuple[str, str] | None = None
) -> AlternativeResult:
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
    names: tuple[str, str] | None = None,
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
    sample, _ = _folds(a, b, "(3, 2)", lambda s: s == (3, 2), delta, names)
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


def _folds(
    a: Any, b: Any, wanted: str, fits: Callable[[tuple[int, ...]], bool], delta: float, names: Any
) -> tuple[PairedSample, tuple[int, ...]]:
    """The scores in one row, and the shape that both had."""
    first, second = _scores(a, "a"), _scores(b, "b")
    if first.shape != second.shape or not (first.size and fits(first.shape)):
        raise ValueError(
            f"a has shape {first.shape} and b {second.shape}, but this test takes scores of both "
            f"models on the same folds, {wanted}"
        )
    sample = PairedSample.of(first.ravel(), second.ravel(), delta, names)
    return sample, first.shape


def _scores(values: Any, name: str) -> NDArray[np.object_]:
    """The scores as they came, each of them a finite number."""
    plain_array(values, name, "a table of scores")
    scores = np.asarray(values, dtype=object)
    for index, score in np.ndenumerate(scores):
        place = f"{name}[{', '.join(map(str, index))}]" if index else name
        if isinstance(score, bool | np.bool_ | np.timedelta64) or not isinstance(score, Real):
            raise TypeError(f"{place} = {score!r} is not a number; give one score for each fold")
        if not isfinite(score):
            raise ValueError(f"{place} = {score} is not a score; evaluate that fold again")
    return scores


def _five_by_two(a: Any, b: Any, delta: float, names: Any) -> tuple[PairedSample, float]:
    """The ten scores, and the mean of the five variances."""
    sample, _ = _folds(a, b, "(5, 2)", lambda s: s == (5, 2), delta, names)
    gaps = with_room(sample.gaps, 2)
    between = as_floats(gaps[0::2] - gaps[1::2], sample.scale)
    if not between.any():
        both = f"both differences of each partition are equal, the first {sample.differences[0]:g}"
        raise ValueError(f"{both}: all variances are 0; use exact_perm_test")
    return sample, float(between @ between) / 10


def _student(
    test: str, sample: PairedSample, alternative: str, error: float, df: float, **more: float
) -> AlternativeResult:
    """The t-test of the mean difference, or of the first one, with that standard error."""
    check_alternative(alternative)
    sample.refuse_constant("a t-test")
    estimate, gap, first = sample.mean, sample.lead, test == "five_by_two_t"
    if first:
        estimate, gap = float(sample.differences[0]), float(sample.shifted[0])
    details = {"variance": sample.deviation**2} | more
    found = student(estimate, gap, error, df, alternative, **details)
    found |= {"estimate_name": "difference in the first fold"} if first else {}
    found["assumptions"] = _INDEPENDENT if first or test == "kfold_t" else _CORRELATED
    return result_of(sample, test, alternative, **found)
