"""The sampled paired-permutation test (Alg. 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil
from numbers import Rational, Real
from operator import index
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._rng import RNG, as_generator
from permtest.comparison import compare
from permtest.null.probability import Probability
from permtest.null.sampling import sample_cells
from permtest.result import PermutationTestResult, Samples
from permtest.solvers import Question, Solution
from permtest.statistics import Alternative, CountStatistic, Statistic, lookup
from permtest.structured import compare_functions, compare_measures

#: More than minutes of work, and up to 1.6 GB where all samples differ.
MAX_SAMPLES = 10**8


def monte_carlo(
    u: Any,
    v: Any = None,
    g: Callable[[Any, Any], Any] | Sequence[Callable[[Any, Any], Any]] | None = None,
    h: Callable[..., Any] | None = None,
    K: int = 20_000,
    *,
    rng: RNG = None,
    statistic: str | Statistic | CountStatistic = "sum",
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> PermutationTestResult:
    """Paired-permutation test from K random labellings (Alg. 1).

    Parameters
    ----------
    u, v, g, h
        As in `exact_perm_test`; or, with a sequence of several g, as in `exact_perm_test_m`.
    K : int, default 20000
        Number of samples, from 1 to 10**8.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the samples reproducible, whatever the number of processors.
    statistic, alternative, names, clusters
        As in `exact_perm_test`.

    Returns
    -------
    PermutationTestResult
        Its `pvalue` is (C + 1) / (K + 1) for C samples at least as extreme as what was observed,
        which is never 0 and makes a valid test (Phipson and Smyth 2010); the paper's C / K is
        ``r.n_extreme / r.n_samples``. `pvalue_interval` gives an interval for the exact p, and
        `null_distribution` the sampled distribution.

    Raises
    ------
    TypeError, ValueError
        As in `exact_perm_test`, and for a K out of range.

    Notes
    -----
    Time O(N + K N' / 64): one random bit for each of the N' pairs that differ, added up by
    counting bits, on all processors. Memory O(N + K). Where it takes longer than a second, and
    tqdm is installed, a bar shows how far it has come. `samples_needed` says which K to choose.

    Examples
    --------
    >>> from permtest import exact_perm_test, monte_carlo
    >>> u, v = [3, 5, 4, 6, 2], [2, 3, 4, 3, 1]
    >>> r = monte_carlo(u, v, K=1000, rng=0)
    >>> low, high = r.pvalue_interval(0.99)
    >>> low < exact_perm_test(u, v).pvalue < high
    True
    """
    entry = lookup(statistic)
    options: dict[str, Any] = {"alternative": alternative, "names": names, "clusters": clusters}
    comparison: Question
    if isinstance(g, Sequence):
        if h is None or entry.name != "sum" or alternative != "two-sided":
            raise ValueError("several g need an h of all their sums, and no statistic or side")
        comparison = compare_functions(u, v, g, h, names=names, clusters=clusters)
    elif isinstance(entry, Statistic):
        comparison = compare(u, v, g, h, statistic=entry, **options)
    elif g is None and h is None:
        comparison = compare_measures(u, v, entry, **options)
    else:
        raise ValueError(f"statistic={entry.name!r} brings a g and an h of its own; leave them out")
    return sample(comparison, K, rng, "asked for")


def sample(comparison: Question, K: int, rng: RNG, reason: str) -> PermutationTestResult:
    """The sampled p of any question, and why it is sampled.

    Parameters
    ----------
    comparison : Comparison or StructuredComparison
    K, rng
        As in `monte_carlo`.
    reason : str

    Returns
    -------
    PermutationTestResult
    """
    drawn = sample_cells(comparison.law, check_samples(K), as_generator(rng))
    return from_samples(comparison, *drawn, reason)


def check_samples(K: Any) -> int:
    """K as an int, or an error unless it is one from 1 to `MAX_SAMPLES`."""
    try:
        size = index(K)
    except TypeError:
        raise TypeError(f"K must be an integer, not {type(K).__name__}") from None
    if not 1 <= size <= MAX_SAMPLES:
        raise ValueError(f"K = {size} samples; from 1 to {MAX_SAMPLES} are possible in one call")
    return size


def from_samples(
    comparison: Question, cells: NDArray[Any], counts: NDArray[np.int64], reason: str
) -> PermutationTestResult:
    """(C + 1) / (K + 1) from distinct cells and how often each was drawn."""
    samples = Samples(cells, counts, int(counts[comparison.reaches(cells)].sum()))
    p = Probability.of((samples.n_extreme + 1) / (samples.size + 1), 0.0)
    return PermutationTestResult.of(comparison, Solution(p, "monte_carlo", reason), samples)


def samples_needed(
    p: float | Fraction, relative_error: float, *, confidence_level: float = 0.95
) -> int:
    """How many random labellings it takes to estimate a p-value to a given relative error.

    Parameters
    ----------
    p : float or Fraction
        The exact p-value, in (0, 1].
    relative_error : float
        What C / K may be off by, as a share of `p`; positive.
    confidence_level : float, default 0.95
        How often C / K shall be that close, in (0, 1).

    Returns
    -------
    int
        The smallest K >= 1 with ``K >= z**2 * (1 - p) / (p * relative_error**2)``, where z is the
        quantile of the standard normal law that leaves (1 - confidence_level) / 2 above it.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range.

    Notes
    -----
    The number C of extreme samples has a Binomial(K, p) law, so the paper's estimator C / K has
    the relative standard error ``sqrt((1 - p) / (p K))`` (Alg. 1). The normal approximation of
    that law is good where K p, the number of extreme samples to expect, is ten or more; it then
    holds for (C + 1) / (K + 1) as well, which differs by one sample.

    Examples
    --------
    >>> from permtest import exact_perm_test, monte_carlo, samples_needed
    >>> samples_needed(0.05, 0.1)
    7299
    >>> u, v = [3, 5, 4, 6, 2, 4, 5, 3, 4], [2, 3, 4, 3, 1, 4, 4, 3, 5]
    >>> p = exact_perm_test(u, v).pvalue
    >>> r = monte_carlo(u, v, K=samples_needed(p, 0.1), rng=0)
    >>> abs(r.n_extreme / r.n_samples - p) < 0.1 * p
    True
    """
    exact = _number(p, "p")
    error = _number(relative_error, "relative_error")
    level = _number(confidence_level, "confidence_level")
    if not 0 < exact <= 1:
        raise ValueError(f"p = {p} is no p-value; pass a number in (0, 1]")
    if not error > 0:
        raise ValueError(f"relative_error = {relative_error} must be positive; 0.1 means 10 %")
    check_level(level, "confidence_level")
    # The lower tail keeps its digits where the level is close to 1.
    z = Fraction(NormalDist().inv_cdf(float((1 - level) / 2)))
    return max(1, ceil(z**2 * (1 - exact) / (exact * error**2)))


def _number(value: Any, name: str) -> Fraction:
    """Exactly, so that no p is too small to be divided by."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    try:
        return Fraction(value) if isinstance(value, Rational) else Fraction(float(value))
    except (ValueError, OverflowError):
        raise ValueError(f"{name} = {value} is not finite; pass a finite number") from None
