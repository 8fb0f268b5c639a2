"""Bootstrap tests of the mean and of the median: resample the pairs, and invert an interval.

A p-value here is always the inversion of an interval. Every interval has the form of quantiles of
K numbers, one for each resample (see `Pivots`), so that one piece of code counts, and finds ends.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from permtest._checks import check_option
from permtest._rng import RNG, as_generator
from permtest.alternatives.assumptions import INDEPENDENT_ITEMS, REPRESENTATIVE
from permtest.alternatives.names import TITLES
from permtest.alternatives.pivots import Pivots
from permtest.alternatives.resamples import (
    Differences,
    Estimator,
    Mean,
    Median,
    Resamples,
    check_resamples,
)
from permtest.alternatives.result import AlternativeResult, result_of
from permtest.alternatives.sample import PairedSample, nearest
from permtest.comparison import TIE
from permtest.statistics import Alternative, check_alternative

#: How an interval is made of resamples.
Interval: TypeAlias = Literal["studentised", "percentile", "basic", "bca"]
INTERVALS: tuple[str, ...] = get_args(Interval)

#: What is done where nothing else is asked for.
DEFAULT = {"mean": "studentised", "median": "percentile"}


def bootstrap(
    a: Any,
    b: Any = None,
    *,
    statistic: Literal["mean", "median"] = "mean",
    interval: Interval | None = None,
    K: int = 10_000,
    rng: RNG = None,
    alternative: Alternative = "two-sided",
    delta: float | Fraction = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """Bootstrap test of the mean or the median difference: an interval, inverted.

    Pairs are drawn with replacement, as many as there are, K times. How far the resampled
    estimates scatter about the estimate stands for how far the estimate may be from the truth.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of the two systems on the same items, in the same order; or `Pairs`, and None. At
        least two pairs, whose differences must not all be the same.
    statistic : {"mean", "median"}, default "mean"
        Of the differences a - b.
    interval : {"studentised", "percentile", "basic", "bca"}, optional
        Which interval is inverted. "studentised": the estimate, less quantiles of
        ``t* = (resampled - estimate) / its standard error`` times the standard error of the
        estimate; for medians that is Maritz and Jarrett's. "percentile": quantiles of the
        resampled estimates. "basic": those, mirrored at the estimate, which is what resampling
        from centred differences gives. "bca": percentiles, corrected for bias and for
        acceleration. Default: "studentised" for the mean, which holds its level best where
        differences are skewed; "percentile" for the median.
    K : int, default 10000
        Number of resamples, from 1 to 10**7.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the resamples reproducible.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the first system scores higher.
    delta : float or Fraction, default 0.0
        The difference under the null hypothesis, in scores.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    AlternativeResult
        One-sided p-values are (C + 1) / (K + 1), where C resamples speak against the alternative;
        two-sided ones twice the smaller of both. ``confidence_interval(level)`` has all
        differences whose p exceeds ``1 - level``, no more and no less, from the same resamples; an
        end is infinite where K is too small for that level. The `details` have the standard error
        (of the resamples, unless the interval is studentised), the number of distinct differences,
        and `constant`: in how many resamples the standard error is 0.

    Raises
    ------
    TypeError, ValueError
        If scores are not numbers of equal number, there are fewer than two pairs, all differences
        are equal, or an option is unknown.

    Notes
    -----
    A bootstrap is no exact test: its level is right in the limit of many pairs. With few whose
    differences are skewed, true null hypotheses are rejected more often than they should be; for
    the mean least often by the studentised interval, most often by the basic one.

    The p of "bca" solves the formula of its ends for the level; as it extrapolates the law of the
    resamples, it is not let below 1 / (K + 1). Its acceleration is that of the jackknife, which
    for medians says nothing at even N and little at odd N.

    In resamples that consist of one value, t* is infinite, or 0 at the estimate itself. Where
    differences take few values, there can be so many that an end of the studentised interval is
    infinite. Medians of such differences mostly have a standard error near 0, wherefore they have
    another default.

    The bootstrap test in the manual of NLPStatTest (its Algorithm 1) counts resamples whose
    estimate is at least as large as the observed one, without centring them under the null
    hypothesis. About half of them are, whatever the scores: that p is always near 0.5.

    Equal differences are drawn together: time O(K U) for U distinct ones, at most O(K N), shared
    among the processors, or the workers of ``joblib.parallel_config``, with the same numbers.
    Source: Efron and Tibshirani (1993), ch. 12 to 16; Maritz and Jarrett (1978).

    Examples
    --------
    >>> from permtest.alternatives import bootstrap
    >>> new, old = [9, 7, 8, 6, 5, 9, 4, 8, 7, 6], [7, 7, 5, 6, 3, 5, 5, 6, 7, 5]
    >>> r = bootstrap(new, old, rng=0)
    >>> r.estimate, 0.001 < r.pvalue < 0.05
    (1.3, True)
    >>> low, high = r.confidence_interval()
    >>> low > 0
    True
    """
    check_alternative(alternative)
    kind = _checked(statistic, interval)
    size = check_resamples(K)
    sample = PairedSample.of(a, b, delta, names, least=2)
    data = Differences.of(sample)
    if data.values.size < 2:
        raise ValueError(
            f"a and b differ by {sample.differences[0]:g} in every pair, so that all resamples are "
            "the same; use exact_perm_test, which needs no spread"
        )
    estimator = Mean(data) if statistic == "mean" else Median(data)
    found = Resamples.draw(estimator, size, as_generator(rng), studentise=kind == "studentised")
    pivots, details = _invert(kind, estimator, found, sample.delta)
    estimate = nearest(sample.delta + Fraction(found.estimate) * estimator.unit)
    shown: tuple[float, str] = (estimate, statistic)
    if kind == "studentised" and found.error > 0:
        shown = (found.estimate / found.error, "t")
    return result_of(
        sample,
        f"bootstrap_{statistic}",
        alternative,
        title=f"{_KINDS[kind]} {TITLES[f'bootstrap_{statistic}']}",
        statistic=shown[0],
        statistic_name=shown[1],
        pvalue=pivots.pvalue(alternative),
        estimate=estimate,
        estimate_name=f"{statistic} difference",
        method="sampled",
        assumptions=(INDEPENDENT_ITEMS, REPRESENTATIVE),
        details=details,
        n_samples=size,
        _interval=partial(pivots.interval, alternative),
    )


_KINDS = {
    "studentised": "studentised",
    "percentile": "percentile",
    "basic": "basic",
    "bca": "bias-corrected and accelerated",
}


def _checked(statistic: str, interval: str | None) -> str:
    if statistic not in DEFAULT:
        raise ValueError(
            f"statistic={statistic!r} is not known; choose 'mean' or 'median', or use "
            "paired_bootstrap, which takes any"
        )
    kind = interval or DEFAULT[statistic]
    check_option("interval", kind, INTERVALS)
    return kind


def _invert(
    kind: str, estimator: Estimator, found: Resamples, delta: Fraction
) -> tuple[Pivots, dict[str, Any]]:
    """The numbers whose quantiles the interval is made of, and what is worth telling."""
    x, theta, bias, acceleration = found.estimates, found.estimate, 0.0, 0.0
    error, exact = found.error, estimator.data.exact and kind != "studentised"
    tie = 0.0 if exact else TIE * (abs(theta) + error)
    if kind == "studentised":
        x = found.studentised()
    else:
        error = float(np.std(x, ddof=1)) if x.size > 1 else 0.0
    if kind == "basic":
        x = 2 * theta - x
    details: dict[str, Any] = {
        "interval": kind,
        "standard_error": nearest(Fraction(error) * estimator.unit),
        "distinct": estimator.data.values.size,
    }
    if kind == "studentised":
        details["constant"] = int(np.count_nonzero(found.errors == 0))
    if kind == "bca":
        bias, acceleration = found.bias(), estimator.acceleration()
        details |= {"bias": bias, "acceleration": acceleration}
    return Pivots(np.sort(x), estimator.unit, delta, tie, bias, acceleration), details
