"""Bootstrap tests, Koehn's paired bootstrap, and the exact permutation test among the others.

SciPy's bootstrap has intervals without p, draws each item by itself, and knows no measures of
sums. Here a p-value is always the inversion of an interval, and every interval has the form of
quantiles of K numbers, one for each resample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import copysign, gcd, inf, isfinite
from operator import index
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_option
from permtest._parallel import RNG, as_generator, in_parallel, progress, seeds, stream
from permtest.alternatives import registry
from permtest.alternatives.answer import (
    AlternativeResult,
    Names,
    PairedSample,
    as_floats,
    as_threshold,
    by_sides,
    first,
    result_of,
)
from permtest.alternatives.parametric import mean_in_errors
from permtest.batch import exact_perm_test_batch
from permtest.exact import exact_perm_test
from permtest.integers import exact_sum, largest
from permtest.interval import ConfidenceInterval
from permtest.null.distribution import count_values
from permtest.pairs import Pairs, check_unclustered
from permtest.question import TIE
from permtest.result import PermutationTestResult
from permtest.statistics import Alternative, Statistic, lookup

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

#: How an interval is made of resamples.
Interval: TypeAlias = Literal["studentised", "percentile"]

#: A number for each resample is kept: 80 MB.
MAX_RESAMPLES = 10**7

#: How many numbers are held at a time while resampling (2 MB), and how many are worth a thread.
AT_ONCE, LEAST = 2**18, 2**15

#: How many where many tests share their resamples, so that a matrix product finds their sums.
SHARED = 2**21

#: Drawing how often a value occurs takes as long as drawing so many single items.
ITEMS_PER_VALUE = 16


@registry.makes("bootstrap_mean")
@registry.makes("bootstrap_median", statistic="median")
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
    names: Names = None,
) -> AlternativeResult:
    """Bootstrap test of the mean or the median difference: an interval, inverted.

    Pairs are drawn with replacement, as many as there are, K times. How far the resampled
    estimates scatter about the estimate stands for how far the estimate may be from the truth.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        As in `paired_t`; the differences must not all be the same.
    statistic : {"mean", "median"}, default "mean"
        Of the differences a - b.
    interval : {"studentised", "percentile"}, optional
        Which interval is inverted. "percentile", all that there is for the median: quantiles of
        the resampled estimates. "studentised", the default for the mean, which holds its level
        better where differences are skewed: the estimate, less quantiles of
        ``t* = (resampled - estimate) / its standard error`` times the standard error of the
        estimate.
    K : int, default 10000
        Number of resamples, from 1 to 10**7.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the resamples reproducible.
    alternative, delta, names : as in `paired_t`

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
    ValueError
        If there are fewer than two pairs, or all differences are equal.

    Notes
    -----
    A bootstrap is not an exact test: its level is right only in the limit of many pairs. With few
    pairs and skewed differences, it rejects true null hypotheses more often than it should; for the
    mean less often by the studentised interval.

    In resamples that consist of one value, t* is infinite, or 0 at the estimate itself. Where
    differences take few values, there can be so many that an end of the studentised interval is
    infinite.

    The bootstrap test in the manual of NLPStatTest (its Algorithm 1) counts resamples whose
    estimate is at least as large as the observed one, without centring them under the null
    hypothesis. About half of them are, whatever the scores: that p is always near 0.5.

    Equal differences are drawn together: time O(K U) for U distinct ones, at most O(K N), shared
    among the processors, or the workers of ``joblib.parallel_config``, with the same numbers.
    Source: Efron and Tibshirani (1993), ch. 12 to 16.

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
    check_option("statistic", statistic, ("mean", "median"))
    of_mean, size = statistic == "mean", check_resamples(K)
    kind = interval or ("studentised" if of_mean else "percentile")
    check_option("interval", kind, get_args(Interval) if of_mean else ("percentile",))
    sample = PairedSample.of(a, b, delta, names, least=2)
    values, counts, unit = _grouped(sample)
    if values.size < 2:
        raise ValueError(
            f"a and b differ by {sample.differences[0]:g} in every pair, so all resamples are "
            "the same; use exact_perm_test, which needs no spread"
        )
    estimates = partial(_sums_and_errors if of_mean else _medians, values)
    observed, drawn = estimates(counts[None]), resampled(estimates, counts, size, as_generator(rng))
    theta, step = float(observed[0, 0]), unit / (sample.n if of_mean else 2)
    pivots = Pivots(np.sort(drawn[0]), step, sample.delta, TIE * float(np.abs(drawn[0]).max()))
    error = float(np.std(drawn[0], ddof=1)) if size > 1 else 0.0
    details: dict[str, Any] = {"interval": kind, "distinct": values.size}
    if kind == "studentised":
        error, gap = float(observed[1, 0]), drawn[0] - theta
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(gap == 0, 0.0, gap / drawn[1])
        pivots = replace(pivots, values=np.sort(theta - error * t))
        details["constant"] = int(np.count_nonzero(drawn[1] == 0))
    estimate = float(sample.delta + Fraction(theta) * step)
    test, t_value = f"bootstrap_{statistic}", theta / error if error else copysign(inf, theta)
    return result_of(
        test,
        sample=sample,
        alternative=alternative,
        title=f"{kind} {registry.TESTS[test].title}",
        statistic=t_value if kind == "studentised" else estimate,
        statistic_name="t" if kind == "studentised" else statistic,
        pvalue=pivots.pvalue(alternative),
        estimate=estimate,
        details={"standard_error": float(Fraction(error) * step), **details},
        n_samples=size,
        ends=pivots.ends,
    )


@registry.makes("paired_bootstrap", statistic="mean")
def paired_bootstrap(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic = "sum",
    K: int = 10_000,
    rng: RNG = None,
    alternative: Alternative = "two-sided",
    delta: float | Fraction = 0.0,
    names: Names = None,
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
    alternative, delta, names : as in `paired_t`
        Of the measure, which for error rates is worse where it is greater.

    Returns
    -------
    AlternativeResult
        p is (C + 1) / (K + 1), where in C resamples the first system is not ahead by more than
        `delta`; for "less" the second one; two-sided twice the smaller of both. The statistic is
        the share of resamples in which the first system is ahead, the `details` have all three
        shares (`won`, `lost`, `tied`), and `confidence_interval` is the percentile interval of the
        difference, made of the same resamples: it leaves out `delta` if and only if p is at most
        1 - confidence_level.

    Raises
    ------
    ValueError
        If entries are not what the statistic needs, or all resamples have the same difference.

    Notes
    -----
    This is not a test under a null hypothesis: it resamples nothing as if the systems were equal.
    It inverts the percentile interval, which presumes that the measure errs to both sides alike;
    the level of that can be off, to either side, and mostly exceeds what it says if there are few
    entries. `exact_perm_test` has no such doubt.

    Time O(K U) for U distinct entries of counts or distinct differences of scores, shared as in
    `bootstrap`. Source: Koehn (2004), Statistical Significance Tests for Machine Translation
    Evaluation.

    Examples
    --------
    >>> from permtest.alternatives import paired_bootstrap
    >>> a = [[3, 0, 0], [2, 1, 0], [0, 1, 1], [4, 0, 1]]           # tp, fp, fn of four sentences
    >>> b = [[2, 1, 1], [2, 0, 0], [0, 2, 1], [2, 2, 3]]
    >>> r = paired_bootstrap(a, b, statistic="f1", rng=0, alternative="greater")
    >>> round(r.estimate, 4), r.statistic > 0.9, r.pvalue < 0.1
    (0.2727, True, True)
    """
    size, entry, threshold = check_resamples(K), lookup(statistic), as_threshold(delta)
    make = _measure_of if entry.columns else _sums_of
    pairs, gaps, counts, step, estimate, tie = make(u, v, names, entry, threshold)
    values = np.sort(resampled(gaps, counts, size, as_generator(rng)))
    if values[0] == values[-1] != 0:
        raise ValueError(
            "u and v have the same difference in all resamples, which says nothing about other "
            "entries; use exact_perm_test, which needs no spread"
        )
    pivots, zero = Pivots(values, step, threshold, TIE * tie), float(-threshold / step)
    lost, most = (int(np.searchsorted(values, zero + side * pivots.tie)) for side in (-1, 1))
    shares = {"won": 1 - most / size, "lost": lost / size, "tied": (most - lost) / size}
    return result_of(
        "paired_bootstrap",
        alternative=alternative,
        statistic=shares["won"],
        pvalue=pivots.pvalue(alternative),
        n=len(pairs),
        estimate=estimate,
        estimate_name=f"{entry.title or entry.name} difference",
        names=pairs.names,
        delta=float(threshold),
        details=shares,
        n_samples=size,
        ends=pivots.ends,
    )


def _sums_of(u: Any, v: Any, names: Names, entry: Any, delta: Fraction) -> tuple[Any, ...]:
    """Pairs, what is made of resamples, of what, its unit, the difference, and what is a tie."""
    sample = PairedSample.of(u, v, names=names, least=2, labels=("u", "v"))
    pairs, divisor = sample.pairs, sample.n if entry.name == "mean" else 1
    entry.check(pairs, pairs.low)
    values, counts, unit = _grouped(replace(sample, delta=delta * divisor / sample.n))
    estimate = float(Fraction(exact_sum(sample.gaps), sample.scale * divisor))
    gaps, tie = partial(_sums, values), float(np.abs(values).sum())
    return pairs, gaps, counts, unit / divisor, estimate, tie


def _measure_of(u: Any, v: Any, names: Names, entry: Any, delta: Fraction) -> tuple[Any, ...]:
    """The same of rows of both systems' counts side by side, some of which a resample adds up."""
    check_unclustered(u)
    pairs = u if isinstance(u, Pairs) and v is None else entry.pairs(u, v, names)
    pairs = replace(pairs, names=names or pairs.names)
    if len(pairs) < 2:
        raise ValueError(f"u and v have {len(pairs)} entries, but this test needs 2 or more")
    measure, *both = entry.measure(pairs)
    first, second = (measure.exact([exact_sum(column) for column in x.T]) for x in both)
    rows = np.concatenate(both, axis=1).astype(np.float64)
    rows, counts = np.unique(rows, axis=0, return_counts=True)
    gaps = partial(_measured, rows, measure.values, float(delta))
    tie = max(1.0, abs(float(first)), abs(float(second)))
    return pairs, gaps, counts, Fraction(1), float(first - second), tie


@registry.makes("exact")
def randomisation(
    pairs: Pairs,
    statistic: Any = "mean",
    *,
    alternative: Alternative = "two-sided",
    delta: float | Fraction = 0.0,
    rng: RNG = None,
) -> AlternativeResult:
    """The exact permutation test in the form of the others; sampled if no exact p is in reach.

    Of single scores it tests the mean difference against `delta`, by the signs of the differences
    less `delta`; its interval has all shifts that are not rejected.
    """
    entry = lookup(statistic)
    if not entry.columns:
        sample = PairedSample.of(pairs, delta=delta)
        steps = sample.steps
        return _as_alternative(
            exact_perm_test(steps, np.zeros_like(steps), alternative=alternative, rng=rng),
            sample=sample,
            statistic=float(Fraction(exact_sum(steps), sample.scale)),
            estimate=sample.mean,
            assumptions=(sample.symmetry, registry.ITEMS),
            _interval=partial(_shifts, pairs, alternative),
        )
    found = exact_perm_test(pairs, statistic=entry, alternative=alternative, rng=rng)
    title = entry.title or entry.name
    return _as_alternative(
        found,
        title=f"{'' if found.n_samples else 'exact '}permutation test of {title}",
        n=found.n,
        names=found.names,
        statistic=float(found.statistic),
        statistic_name="difference",
        estimate=float(found.statistic),
        estimate_name=f"{title} difference",
        assumptions=(registry.LABELS, registry.ITEMS),
    )


@registry.makes("exact", batch=True)
def exact_pvalue(d: NDArray[Any], axis: int = -1, *, alternative: str) -> Floats:
    """p of the exact tests of integers along the axis."""
    zeros, d = np.zeros(d.shape[axis], np.int64), np.moveaxis(d, axis, -1)
    return exact_perm_test_batch(d, zeros, axis=-1, alternative=alternative).pvalue


def _shifts(pairs: Pairs, alternative: Alternative, confidence_level: float) -> ConfidenceInterval:
    return exact_perm_test(pairs, alternative=alternative).confidence_interval(confidence_level)


def _as_alternative(found: PermutationTestResult, **more: Any) -> AlternativeResult:
    """The exact test in the form of the others, and in its details how p was computed."""
    method = registry.UPPER_BOUND if found.method == "bracket" else "exact"
    details: dict[str, Any] = {"method": found.method, "error_bound": found.error_bound}
    if found.n_samples is not None:
        low, high = found.pvalue_interval()
        method, details = registry.SAMPLED, {"pvalue_low": low, "pvalue_high": high}
    return result_of(
        "exact",
        alternative=found.alternative,
        pvalue=found.pvalue,
        method=method,
        details=details,
        n_samples=found.n_samples,
        **more,
    )


@registry.makes("bootstrap_mean", batch=True)
def studentised_pvalue(
    d: NDArray[Any], axis: int = -1, *, alternative: str, K: int, rng: np.random.Generator
) -> Any:
    """p of the studentised bootstrap of the mean, by the same resamples for all tests."""
    rows = np.moveaxis(d, axis, -1)
    *shape, n = rows.shape
    d = rows.reshape(-1, n)
    beyond = np.ones((2, len(d)))
    spread = np.maximum(d.std(axis=1, keepdims=True), 1e-300)
    # Rows that are sorted alike would do alike in the resamples that they share.
    x = rng.permuted((d - d.mean(axis=1, keepdims=True)) / spread, axis=1)
    seen = np.clip(mean_in_errors(d), -1e300, 1e300)[:, None]
    slack = 1e-9 * (1 + np.abs(seen))

    starts = range(0, K, each := max(SHARED // max(n, len(d)), 1))
    for start in progress(starts, total=len(starts), what="resamples"):
        size = min(each, K - start)
        items = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(items.ravel().astype(np.intp), minlength=n * size)
        weights = times.reshape(size, n).T / n
        gap = x @ weights
        error = np.sqrt(np.maximum(x**2 @ weights - gap**2, 0.0) / (n - 1))
        # Where a resample has one value only, its t is infinite, or 0 at the mean itself.
        gap, error = (np.where(np.abs(y) < 1e-7, 0.0, y) for y in (gap, error))
        with np.errstate(divide="ignore", invalid="ignore"):
            star = np.clip(np.nan_to_num(gap / error), -1e300, 1e300)
        beyond[0] += np.count_nonzero(star >= seen - slack, axis=1)
        beyond[1] += np.count_nonzero(star <= seen + slack, axis=1)
    return by_sides(alternative, *(beyond / (K + 1))).reshape(shape)


# ---- resamples -----------------------------------------------------------------------------------


def check_resamples(K: Any) -> int:
    """K as an integer; TypeError or ValueError if it is none, or out of range."""
    try:
        size = index(K)
    except TypeError:
        raise TypeError(f"K must be an integer, not {type(K).__name__}") from None
    if not 1 <= size <= MAX_RESAMPLES:
        raise ValueError(f"K = {size} samples; from 1 to {MAX_RESAMPLES} are possible")
    return size


def _grouped(sample: PairedSample) -> tuple[Floats, Counts, Fraction]:
    """Distinct differences less `delta`, how often each occurs, and their unit in scores.

    They are integers where sums of integers are exact as floats, else from -1 to 1.
    """
    steps, counts = count_values(sample.steps)
    top, unit = largest(steps), gcd(*steps.tolist()) or 1
    if top // unit * sample.n >= 2**53:
        return as_floats(steps, top), counts, Fraction(top, sample.scale)
    return (steps // unit).astype(np.float64), counts, Fraction(unit, sample.scale)


def _sums(values: Floats, counts: Counts) -> Floats:
    """Sums of resamples, in bits that do not depend on how many threads BLAS has."""
    return np.asarray(np.einsum("ij,j...->i...", counts, values))


def _sums_and_errors(values: Floats, counts: Counts) -> Floats:
    """N times the mean and its standard error; squares are of what is left without the mean."""
    n = int(counts[0].sum())
    sums = _sums(values, counts)
    squares = values - (sums / n)[:, None]
    squares *= squares
    return np.stack([sums, np.sqrt(np.einsum("ij,ij->i", counts, squares) * (n / (n - 1)))])


def _medians(values: Floats, counts: Counts) -> Floats:
    """Twice the median: the sum of the two middle values."""
    n, below = int(counts[0].sum()), counts.cumsum(axis=1)
    lower, upper = ((below < rank).sum(axis=1) for rank in ((n + 1) // 2, n // 2 + 1))
    return np.asarray(values[lower] + values[upper])[None]


def _measured(
    rows: Floats, values: Callable[[Floats], Floats], delta: float, counts: Counts
) -> Floats:
    """By how much the first system is ahead by more than `delta`, in resamples of rows of both."""
    first, second = np.hsplit(_sums(rows, counts), 2)
    return np.asarray(values(first) - values(second) - delta)


def resampled(
    values: Callable[[Counts], Floats], counts: Counts, size: int, rng: np.random.Generator
) -> Floats:
    """What a function makes of resamples of all items, drawn with replacement.

    The function takes how often each of U values occurs in M resamples, of shape (M, U), and
    returns an array whose last axis has length M. The result depends on `rng`, `counts` and `size`,
    and on nothing that can compute side by side: threads, or the workers of joblib.
    """
    n, distinct = int(counts.sum()), counts.size
    few = ITEMS_PER_VALUE * distinct <= n
    width = distinct if few else n
    rows = max(1, min(AT_ONCE, max(LEAST, size * width // 16)) // width)
    labels = None if few else np.repeat(np.arange(distinct), counts.astype(np.intp))
    if size <= rows:  # a stream takes longer to make than few resamples
        return values(_drawn(rng, size, counts, labels))
    parts = [(i, min(rows, size - start)) for i, start in enumerate(range(0, size, rows))]
    found = in_parallel(_part, parts, seeds(rng), values, counts, labels)
    return np.concatenate(list(progress(found, total=len(parts), what="resamples")), axis=-1)


def _part(
    part: tuple[int, int],
    origin: np.random.SeedSequence,
    values: Callable[[Counts], Floats],
    counts: Counts,
    labels: Counts | None,
) -> Floats:
    """What the function makes of some of the resamples."""
    return values(_drawn(stream(origin, part[0]), part[1], counts, labels))


def _drawn(rng: np.random.Generator, m: int, counts: Counts, labels: Counts | None) -> Counts:
    """How often each value occurs in m resamples, by values, or by the labels of all items."""
    n, distinct = int(counts.sum()), counts.size
    if labels is None:
        return rng.multinomial(n, counts / n, size=m)
    cells = labels[rng.integers(n, size=(m, n))] + distinct * np.arange(m)[:, None]
    return np.bincount(cells.ravel(), minlength=m * distinct).reshape(m, distinct)


@dataclass(frozen=True, eq=False)
class Pivots:
    """K ascending numbers: the ends of an interval are the m-th smallest and the m-th largest.

    Percentile: the resampled estimates themselves. Studentised: estimate - standard error * t*. A
    difference is rejected from below if fewer than m of them are as small as it, which is all that
    p needs. They are less `delta`, in units of `unit`; what is no further from 0 than `tie` counts
    as 0.
    """

    values: Floats
    unit: Fraction
    delta: Fraction
    tie: float = 0.0

    def pvalue(self, alternative: str) -> float:
        """The level at which the interval just leaves out `delta`."""
        below = int(np.searchsorted(self.values, -self.tie))
        up_to = int(np.searchsorted(self.values, self.tie, "right"))
        greater, less = self.tail(up_to), self.tail(self.values.size - below)
        return float(by_sides(alternative, greater, less))

    def tail(self, count: int) -> float:
        """One-sided p of a difference that `count` values do not exceed, or do not fall below."""
        return (count + 1) / (self.values.size + 1)

    def ends(self, tail: float) -> tuple[float, float]:
        """The smallest and the largest difference, in scores, whose one-sided p exceeds `tail`."""
        m = first(lambda count: self.tail(count) > tail, 0, self.values.size)
        return (self.score(self.values[m - 1]), self.score(self.values[-m])) if m else (-inf, inf)

    def score(self, value: float) -> float:
        """What a value is in scores."""
        found = float(value)
        return float(self.delta + Fraction(found) * self.unit) if isfinite(found) else found
