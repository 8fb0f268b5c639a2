"""The p-values of every row: tests of one data set as formulas for whole arrays.

What `permtest.alternatives` does for one data set is done here for thousands. The exact test of a
row needs no more than how often each difference occurs in it (see `laws`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._progress import progress
from permtest.alternatives.resamples import check_resamples
from permtest.alternatives.tails import (
    binomial_pvalue,
    corrected_root,
    mcnemar_pvalue,
    normal_pvalue,
    t_pvalue,
)
from permtest.exact import exact_perm_test
from permtest.study.laws import AT_ONCE, exact_rows, lattice
from permtest.study.rows import Rows

#: Rows that share their resamples in "bootstrap_mean".
SHARED = 32

#: So many rows of untied ranks are worth the whole null distribution of their sum.
WORTH_A_LAW = 50

#: The methods of McNemar's test, by the names of tests that are it for scores of 0 and 1.
MCNEMAR = {
    "exact": "exact",
    "sign": "exact",
    "mcnemar": "exact",
    "mcnemar_midp": "midp",
    "mcnemar_chi2": "chi2",
    "mcnemar_chi2_corrected": "chi2-corrected",
}

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Options:
    """What else a test is told."""

    test: str
    alternative: str
    rng: np.random.Generator
    K: int


# ---- sums, ranks and signs -----------------------------------------------------------------------


def _exact(rows: Rows, options: Options) -> Floats:
    steps = rows.steps if rows.scale else lattice(rows.steps)
    return exact_rows(steps, options.alternative)


def _wilcoxon(rows: Rows, options: Options) -> Floats:
    """The exact test of twice the midranks, zeros left out."""
    from scipy.stats import rankdata

    _, codes = np.unique(np.abs(rows.steps), return_inverse=True)
    zeros = np.sum(rows.signs == 0, axis=1)
    ranks = rankdata(codes.reshape(rows.steps.shape), axis=1) - zeros[:, None]
    doubled = rows.signs * np.rint(2 * ranks).astype(np.int64)
    left = rows.n - zeros
    untied = 3 * np.sum(doubled**2, axis=1) == 2 * left * (left + 1) * (2 * left + 1)
    p = np.empty(rows.steps.shape[0])
    rest = np.ones(p.size, dtype=bool)
    for n in np.unique(left[untied]):
        some = untied & (left == n)
        if np.count_nonzero(some) >= WORTH_A_LAW and n > 1:
            p[some] = _rank_pvalues(int(n), doubled[some].sum(axis=1), options.alternative)
            rest &= ~some
    if rest.any():
        p[rest] = exact_rows(doubled[rest], options.alternative)
    return p


def _rank_pvalues(n: int, lead: Ints, alternative: str) -> Floats:
    """p of many sums of n untied doubled ranks, from the whole null distribution."""
    ranks = np.arange(1, n + 1)
    below = np.cumsum(exact_perm_test(ranks, 0 * ranks).null_distribution.pmf)
    top = below.size - 1
    t = (lead // 2 + top) // 2
    if alternative == "greater":
        return np.asarray(below[top - t])
    if alternative == "less":
        return np.asarray(below[t])
    return np.asarray(np.where(2 * t == top, 1.0, 2 * below[np.minimum(t, top - t)]))


def _sign(rows: Rows, options: Options) -> Floats:
    return np.asarray(binomial_pvalue(*rows.wins, options.alternative))


# ---- means -------------------------------------------------------------------------------------


def _moments(d: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each row; a variance of 0 where all are equal, whatever is rounded."""
    mean = d.mean(axis=1)
    return mean, np.where(np.ptp(d, axis=1) == 0, 0.0, d.var(axis=1, ddof=1))


def _ratio(gap: Floats, error: Floats) -> Floats:
    """gap / error, and its limit where the error is 0."""
    safe = np.where(error > 0, error, 1.0)
    return np.where(error > 0, gap / safe, np.where(gap == 0, 0.0, np.copysign(np.inf, gap)))


def _paired_t(rows: Rows, options: Options) -> Floats:
    rows.need(2, "paired_t")
    mean, variance = _moments(rows.shifted)
    return np.asarray(
        t_pvalue(_ratio(mean, np.sqrt(variance / rows.n)), rows.n - 1, options.alternative)
    )


def _normal_z(rows: Rows, options: Options) -> Floats:
    """Yeh's Eq. 1 and 2: with r12 of the scores, s_d is that of the differences."""
    rows.need(2, "normal_z")
    mean, variance = _moments(rows.shifted)
    return np.asarray(normal_pvalue(_ratio(mean, np.sqrt(variance / rows.n)), options.alternative))


def _independent(rows: Rows, test: str) -> Floats:
    """The mean difference over its standard error with r12 = 0."""
    rows.need(2, test)
    variances = [_moments(x)[1] for x in rows.scores]
    return _ratio(rows.shifted.mean(axis=1), np.sqrt((variances[0] + variances[1]) / rows.n))


def _independent_t(rows: Rows, options: Options) -> Floats:
    statistic = _independent(rows, "independent_t")
    return np.asarray(t_pvalue(statistic, 2 * rows.n - 2, options.alternative))


def _independent_z(rows: Rows, options: Options) -> Floats:
    return np.asarray(normal_pvalue(_independent(rows, "independent_z"), options.alternative))


def _bootstrap_mean(rows: Rows, options: Options) -> Floats:
    """Studentised: t* = (resampled mean - mean) / its standard error, against t."""
    rows.need(2, "bootstrap_mean")
    size = check_resamples(options.K)
    mean, variance = _moments(rows.shifted)
    t = _ratio(mean, np.sqrt(variance / rows.n))
    p = np.empty(mean.size)
    starts = range(0, mean.size, SHARED)
    for start in progress(starts, total=len(starts), what="bootstrap tests"):
        some = slice(start, start + SHARED)
        centred = rows.shifted[some] - mean[some, None]
        centred[variance[some] == 0] = 0.0
        above, below = _extreme_resamples(centred, t[some], size, options.rng)
        p[some] = _sampled_pvalues(above, below, options)
    return p


def _extreme_resamples(
    centred: Floats, t: Floats, size: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """In how many resamples t* >= t, and in how many t* <= t."""
    n = centred.shape[1]
    above, below = np.zeros((2, t.size), dtype=np.int64)
    spread = centred.std(axis=1)[:, None]
    scaled = centred / np.where(spread > 0, spread, 1.0)
    finite = np.where(np.isfinite(t), t, np.sign(t) * 1e300)[:, None]
    each = max(AT_ONCE // n, 1)
    for start in range(0, size, each):
        number = min(each, size - start)
        items = rng.integers(n, size=(number, n)) + n * np.arange(number)[:, None]
        times = np.bincount(items.ravel(), minlength=n * number).reshape(number, n).T
        weights = times.astype(np.float64) / n
        gap = scaled @ weights
        error = np.sqrt(np.maximum(scaled**2 @ weights - gap**2, 0.0) / (n - 1))
        # Where a resample has one value only, its t* is infinite.
        gap, error = (np.where(np.abs(x) < 1e-7, 0.0, x) for x in (gap, error))
        star, slack = _ratio(gap, error), 1e-9 * (1 + np.abs(finite))
        above += np.count_nonzero(star >= finite - slack, axis=1)
        below += np.count_nonzero(star <= finite + slack, axis=1)
    return above, below


# ---- right or wrong ----------------------------------------------------------------------------


def _mcnemar(rows: Rows, options: Options) -> Floats:
    rows.need_answers(options.test)
    return np.asarray(mcnemar_pvalue(*rows.wins, MCNEMAR[options.test], options.alternative))


def _proportions(rows: Rows, options: Options) -> Floats:
    """The pooled z, which is the signed root of chi-squared, with Yates' correction or without."""
    rows.need_answers(options.test)
    x, y = (np.sum(scores != 0, axis=1).astype(np.float64) for scores in (rows.a, rows.b))
    correction = 1.0 if options.test == "chi_squared_yates" else 0.0
    gap = corrected_root(x - y, correction, options.alternative)
    share = (x + y) / (2 * rows.n)
    spread = 2 * rows.n * share * (1 - share)
    # Where all answers are right, or all wrong, there is nothing to see.
    z = np.where(spread > 0, gap / np.sqrt(np.where(spread > 0, spread, 1.0)), 0.0)
    return np.asarray(normal_pvalue(z, options.alternative))


# ---- one by one --------------------------------------------------------------------------------


def looped(test: Callable[[Any, Any], Any], a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """p of each row by a function of two rows."""
    found = progress(map(test, a, b), total=a.shape[0], what="tests")
    return np.fromiter(_plain_pvalues(found), np.float64, a.shape[0])


def _plain_pvalues(found: Iterator[Any]) -> Iterator[float]:
    for i, result in enumerate(found):
        p = float(getattr(result, "pvalue", result))
        if not 0 <= p <= 1:
            raise ValueError(f"the test returned {p} for data set {i}, which is no p-value")
        yield p


def _single(rows: Rows, options: Options) -> Floats:
    """The tests that are made row by row; 1 where all differences are `delta`."""
    from permtest.alternatives.bootstraps import bootstrap
    from permtest.alternatives.koehn import paired_bootstrap
    from permtest.alternatives.medians import permutation_median

    common: dict[str, Any] = {"alternative": options.alternative, "delta": rows.delta}
    sampled = {**common, "K": options.K, "rng": options.rng}
    tests: dict[str, Callable[[Any, Any], Any]] = {
        "permutation_median": lambda a, b: permutation_median(a, b, **common),
        "bootstrap_median": lambda a, b: bootstrap(a, b, statistic="median", **sampled),
        "paired_bootstrap": lambda a, b: paired_bootstrap(a, b, statistic="mean", **sampled),
    }
    if options.test != "permutation_median":
        check_resamples(options.K)
    test, p = tests[options.test], np.ones(rows.a.shape[0])
    a, b = rows.scores
    constant = np.all(rows.steps == rows.steps[:, :1], axis=1)
    if options.test == "bootstrap_median" and constant.any():
        p[constant] = _constant_pvalues(rows.signs[constant, 0], options)
    else:
        constant = np.zeros_like(constant)
    p[~constant] = looped(test, a[~constant], b[~constant])
    return p


def _constant_pvalues(signs: Ints, options: Options) -> Floats:
    """p of K resamples that all have the sign of the only difference that there is."""
    above, below = np.where(signs <= 0, options.K, 0), np.where(signs >= 0, options.K, 0)
    return _sampled_pvalues(above, below, options)


def _sampled_pvalues(above: Ints, below: Ints, options: Options) -> Floats:
    """p of so many resamples among K on either side; two-sided, twice the smaller one."""
    greater, less = (above + 1) / (options.K + 1), (below + 1) / (options.K + 1)
    both = np.minimum(1.0, 2 * np.minimum(greater, less))
    return np.asarray({"greater": greater, "less": less}.get(options.alternative, both))


#: What computes the p-values of all rows, by the name of the test.
TESTS: dict[str, Callable[[Rows, Options], Floats]] = {
    "exact": _exact,
    "permutation_median": _single,
    "paired_t": _paired_t,
    "independent_t": _independent_t,
    "normal_z": _normal_z,
    "independent_z": _independent_z,
    "sign": _sign,
    "wilcoxon": _wilcoxon,
    "bootstrap_mean": _bootstrap_mean,
    "bootstrap_median": _single,
    "paired_bootstrap": _single,
    "mcnemar": _mcnemar,
    "mcnemar_midp": _mcnemar,
    "mcnemar_chi2": _mcnemar,
    "mcnemar_chi2_corrected": _mcnemar,
    "two_proportion_z": _proportions,
    "chi_squared": _proportions,
    "chi_squared_yates": _proportions,
}


def one_by_one(test: str | Callable[[Any, Any], Any]) -> bool:
    """Whether the rows are tested one after the other, which takes long."""
    return callable(test) or TESTS.get(test) is _single
