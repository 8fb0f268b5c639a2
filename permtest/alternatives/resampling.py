"""Bootstrap tests of the mean and the median, and Koehn's paired bootstrap.

SciPy's bootstrap has intervals without p, is not studentised, draws equal differences one by one
and knows no measures of sums. Here a p-value is the inversion of an interval, and every interval
has the form of quantiles of K numbers, one for each resample.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any, Literal

import numpy as np

from permtest._errors import check_count, check_option
from permtest._random import RNG, as_generator, in_parallel, seeds, stream
from permtest.alternatives import registry
from permtest.alternatives.means import in_errors, mean_in_errors
from permtest.alternatives.registry import AlternativeResult, Array, Ends, Floats, by_sides, makes
from permtest.integers import exact_sum, largest
from permtest.null.distribution import count_values
from permtest.question import TIE
from permtest.statistics import Alternative, Statistic, lookup, measured

NO_SPREAD = "so resamples say nothing of others; use exact_perm_test, which needs no spread"
#: A number for each resample is kept: 80 MB.
MAX_RESAMPLES = 10**7
#: How many numbers are held at a time while resampling (2 MB), or where many tests share resamples;
#: and drawing how often a value occurs takes as long as drawing so many single items.
AT_ONCE, SHARED, ITEMS_PER_VALUE = 2**18, 2**21, 16


@makes("bootstrap_mean")
@makes("bootstrap_median", statistic="median")
def bootstrap(
    a: Any,
    b: Any = None,
    *,
    statistic: Literal["mean", "median"] = "mean",
    K: int = 10_000,
    rng: RNG = None,
    alternative: Alternative = "two-sided",
) -> AlternativeResult:
    """Bootstrap test of the mean or the median difference: an interval, inverted.

    Scores are drawn with replacement, as many as there are, K times. How far the resampled
    estimates scatter about the estimate stands for how far this may be from the truth.

    Parameters
    ----------
    a, b : as in `paired_t`
        The differences must not all be the same.
    statistic : {"mean", "median"}, default "mean"
        Of the differences a - b. For the mean the studentised interval is inverted: the estimate,
        less its standard error times quantiles of ``t* = (resampled - estimate) / its standard
        error``. For the median it is the percentile interval, quantiles of the resampled estimates;
        ``paired_bootstrap(a, b, statistic="mean")`` has that of the mean.
    K : int, default 10000
        Number of resamples, from 1 to 10**7.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the resamples reproducible.
    alternative : as in `paired_t`

    Notes
    -----
    One-sided p-values are (C + 1) / (K + 1), where C resamples speak against the alternative;
    two-sided ones twice the smaller of both. ``confidence_interval(level)`` has all differences
    whose p exceeds ``1 - level``, no more and no less, from the same resamples; an end is infinite
    where K is too small for that level.

    A bootstrap is not an exact test: its level is right only in the limit of many pairs. With few
    pairs and skewed differences, it rejects true null hypotheses more often than it should. In
    resamples that consist of one value, t* is infinite, or 0 at the estimate itself. Time O(K U)
    for U distinct differences, at most O(K N), shared among the processors, or the workers of
    ``joblib.parallel_config``, with the same numbers. Source: Efron and Tibshirani (1993), ch. 12
    to 16.

    Examples
    --------
    >>> from permtest.alternatives import bootstrap
    >>> new, old = [9, 7, 8, 6, 5, 9, 4, 8, 7, 6], [7, 7, 5, 6, 3, 5, 5, 6, 7, 5]
    >>> r = bootstrap(new, old, rng=0)
    >>> r.estimate, 0.001 < r.pvalue < 0.05, r.confidence_interval()[0] > 0
    (1.3, True, True)
    """
    makers = {"mean": _means_and_errors, "median": _medians}
    check_option("statistic", statistic, makers)
    size = check_count(K, "K", most=MAX_RESAMPLES)
    scores = registry.scores_of(a, b, least=2)
    values, counts = count_values(scores.differences())
    if values.size < 2:
        raise ValueError(f"a and b differ alike in every pair, {NO_SPREAD}")
    floats, unit = _floats(values, scores.scale)
    of = partial(makers[statistic], floats)
    (theta, *errors), (drawn, *spreads) = of(counts[None])[:, 0], resampled(of, counts, size, rng)
    tie, estimate = TIE * unit * float(np.abs(drawn).max()), float(theta) * unit
    seen = estimate
    if statistic == "mean":
        seen = float(theta / errors[0])
        drawn = theta - errors[0] * in_errors(drawn - theta, spreads[0])
    p, ends = _inverted(drawn * unit, tie, alternative)
    found = seen, p, alternative, len(scores), estimate, scores.names
    return AlternativeResult(f"bootstrap_{statistic}", *found, _ends=ends)


@makes("paired_bootstrap", statistic="mean")
def paired_bootstrap(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic = "sum",
    K: int = 10_000,
    rng: RNG = None,
    alternative: Alternative = "two-sided",
) -> AlternativeResult:
    """Koehn's paired bootstrap: in how many resamples of the test set is the first system ahead?

    Entries are drawn with replacement, the same ones for both systems, and either system is
    measured on them.

    Parameters
    ----------
    u, v : array_like of shape (N,) or (N, columns)
        Scores as in `paired_t`, or counts as `exact_perm_test` takes them for the statistic.
    statistic : str or Statistic, default "sum"
        One of `STATISTICS` ("sum", "mean", "f1", "macro_f1", ...).
    K, rng : as in `bootstrap`
    alternative : as in `paired_t`
        Of the measure, which for error rates is worse where it is greater.

    Notes
    -----
    p and the interval, a percentile interval of the difference, are made as those of `bootstrap`:
    C counts the resamples in which the first system is not ahead. The statistic is the share of
    resamples in which it is. There is none if all resamples have the same difference.

    This is not a test under a null hypothesis: it resamples nothing as if the systems were equal.
    A percentile interval presumes that the measure errs to both sides alike; its level can be off,
    to either side, and mostly exceeds what it says if there are few entries. Source: Koehn (2004),
    Statistical Significance Tests for Machine Translation Evaluation.

    Examples
    --------
    >>> from permtest.alternatives import paired_bootstrap
    >>> a = [[3, 0, 0], [2, 1, 0], [0, 1, 1], [4, 0, 1]]           # tp, fp, fn of four sentences
    >>> b = [[2, 1, 1], [2, 0, 0], [0, 2, 1], [2, 2, 3]]
    >>> r = paired_bootstrap(a, b, statistic="f1", rng=0, alternative="greater")
    >>> round(r.estimate, 4), r.statistic > 0.9, r.pvalue < 0.1
    (0.2727, True, True)
    """
    size, entry = check_count(K, "K", most=MAX_RESAMPLES), lookup(statistic)
    scores = registry.scores_of(u, v, labels=("u", "v"), entry=entry)
    if entry.columns:
        measure, both = measured(entry, scores)
        first, second = (measure.exact([exact_sum(column) for column in x.T]) for x in both)
        rows = np.concatenate(both, axis=1).astype(np.float64)
        rows, counts = np.unique(rows, axis=0, return_counts=True)
        of, unit, estimate = partial(_measured, rows, measure.values), 1.0, float(first - second)
    else:
        d, parts = scores.differences(), 1 if entry.name == "mean" else len(scores)
        steps, counts = count_values(d)
        floats, unit = _floats(steps, scores.scale)
        of, unit = partial(_means, floats), unit * parts
        estimate = float(Fraction(exact_sum(d) * parts, scores.scale * len(scores)))
    values = resampled(of, counts, size, rng)[0] * unit
    if len(scores) < 2 or np.ptp(values) == 0 != values[0]:
        raise ValueError(f"u and v have the same difference in all resamples, {NO_SPREAD}")
    tie = TIE * max(float(bool(entry.columns)), float(np.abs(values).max()))
    p, ends = _inverted(values, tie, alternative)
    found = float(np.mean(values > tie)), p, alternative, len(scores), estimate, scores.names
    what = f"{entry.title or entry.name} difference"
    return AlternativeResult("paired_bootstrap", *found, estimate_name=what, _ends=ends)


def _inverted(values: Floats, tie: float, alternative: str) -> tuple[float, Ends]:
    """p of 0, and the interval that it inverts: quantiles of K numbers, one for each resample."""
    # The ends are the m-th smallest and the m-th largest; numbers no further off than `tie` tie.
    tails = ((1 + int(np.sum(side * values <= tie))) / (values.size + 1) for side in (1, -1))
    return float(by_sides(alternative, *tails)), partial(_quantiles, np.sort(values))


def _quantiles(ordered: Floats, tail: float) -> tuple[float, float]:
    """The smallest and the largest number whose one-sided p exceeds the tail."""
    size = ordered.size
    m = int(np.searchsorted(np.arange(1, size + 1) / (size + 1), tail, side="right"))
    return (float(ordered[m - 1]), float(ordered[-m])) if m else (-inf, inf)


def resampled(of: Callable[[Array], Floats], counts: Array, size: int, rng: RNG) -> Floats:
    """What a function makes of resamples: of how often each of U values is in M ones, (M, U)."""
    n, origin = int(counts.sum()), seeds(as_generator(rng))
    few = ITEMS_PER_VALUE * counts.size <= n
    rows = max(1, AT_ONCE // (counts.size if few else n))
    items = np.repeat(np.arange(counts.size), counts.astype(np.intp))

    def part(i: int) -> Floats:
        """Of some of the resamples, by values or by items."""
        own, m = stream(origin, i), min(rows, size - i * rows)
        if few:
            return of(own.multinomial(n, counts / n, size=m))
        return of(_times(items[own.integers(n, size=(m, n))], counts.size))

    parts = range(-(-size // rows))
    return np.concatenate(list(in_parallel(part, parts, what="resamples")), axis=-1)


def _times(items: Array, width: int) -> Array:
    """How often each number below `width` is in each row."""
    cells = items + width * np.arange(len(items))[:, None]
    return np.bincount(cells.ravel(), minlength=width * len(items)).reshape(-1, width)


def _floats(steps: Array, scale: int) -> tuple[Floats, float]:
    """Differences as multiples of a unit, and this unit; whole numbers, unless they are huge."""
    parts = max(largest(steps) >> 300, 1)  # whose squares are floats
    return registry.as_floats(steps, parts), float(Fraction(parts, scale))


def _means(values: Floats, counts: Array) -> Floats:
    """Means of resamples, in bits that do not depend on how many threads BLAS has."""
    return np.asarray(np.einsum("ij,j->i", counts, values) / counts[0].sum())[None]


def _means_and_errors(values: Floats, counts: Array) -> Floats:
    """The mean and its standard error; squares are of what is left without the mean."""
    n, (means,) = int(counts[0].sum()), _means(values, counts)
    squares = (values - means[:, None]) ** 2
    return np.stack([means, np.sqrt(np.einsum("ij,ij->i", counts, squares) / (n * (n - 1)))])


def _medians(values: Floats, counts: Array) -> Floats:
    """The mean of the two middle values."""
    n, below = int(counts[0].sum()), counts.cumsum(axis=1)
    lower, upper = ((below < rank).sum(axis=1) for rank in ((n + 1) // 2, n // 2 + 1))
    return np.asarray((values[lower] + values[upper]) / 2)[None]


def _measured(rows: Floats, values: Callable[[Floats], Floats], counts: Array) -> Floats:
    """By how much the first system is ahead in resamples of rows of both."""
    first, second = np.hsplit(np.einsum("ij,jk->ik", counts, rows), 2)
    return np.asarray(values(first) - values(second))[None]


@makes("bootstrap_mean", many=True)
def studentised_pvalues(
    a: Array, b: Any, axis: int = -1, *, alternative: str, K: int, rng: np.random.Generator
) -> Any:
    """p of the studentised bootstrap of the mean, by the same resamples for all tests."""
    rows = np.moveaxis(registry.differences(a, b), axis, -1)
    d = rows.reshape(-1, rows.shape[-1])
    n, beyond = d.shape[1], np.ones((2, len(d)))
    spread = np.maximum(d.std(axis=1, keepdims=True), 1e-300)
    # Rows that are sorted alike would do alike in the resamples that they share.
    x = rng.permuted((d - d.mean(axis=1, keepdims=True)) / spread, axis=1)
    seen = np.clip(mean_in_errors(d), -1e300, 1e300)[:, None]
    slack = 1e-9 * (1 + np.abs(seen))
    for start in range(0, K, each := max(SHARED // max(n, len(d)), 1)):
        weights = _times(rng.integers(n, size=(min(each, K - start), n)), n).T / n
        gap = x @ weights
        error = np.sqrt(np.maximum(x**2 @ weights - gap**2, 0.0) / (n - 1))
        # Where a resample has one value only, its t is infinite, or 0 at the mean itself.
        gap, error = (np.where(np.abs(y) < 1e-7, 0.0, y) for y in (gap, error))
        star = np.clip(in_errors(gap, error), -1e300, 1e300)
        beyond[0] += np.count_nonzero(star >= seen - slack, axis=1)
        beyond[1] += np.count_nonzero(star <= seen + slack, axis=1)
    return by_sides(alternative, *(beyond / (K + 1))).reshape(rows.shape[:-1])
