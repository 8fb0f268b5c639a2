"""Permutation tests: exact of the mean and of measures, by sampling of anything else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import exact_sum
from permtest._parallel import over_workers
from permtest._progress import progress
from permtest._rng import RNG, as_generator, seeds, stream
from permtest.alternatives.assumptions import (
    EXCHANGEABLE,
    INDEPENDENT_ITEMS,
    SYMMETRIC,
    Assumption,
)
from permtest.alternatives.resamples import batches, check_resamples
from permtest.alternatives.result import UPPER_BOUND, AlternativeResult, result_of
from permtest.alternatives.sample import PairedSample, nearest
from permtest.alternatives.systems import Systems
from permtest.comparison import TIE
from permtest.exact import exact_perm_test
from permtest.interval import ConfidenceInterval
from permtest.pairs import Pairs, cluster_numbers, labels_of
from permtest.result import PermutationTestResult
from permtest.statistics import (
    Alternative,
    CountStatistic,
    Statistic,
    check_alternative,
    lookup,
)


def randomisation(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic | CountStatistic | Callable[[Any], float] = "sum",
    K: int = 10_000,
    rng: RNG = None,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> AlternativeResult:
    """Approximate randomisation of any measure: random swaps of the two systems' entries.

    The measure need not be a function of sums: medians of scores, areas under a curve, or whatever
    a function computes from all entries of a system. Measures that have a name get an exact p.

    Parameters
    ----------
    u, v : array_like of shape (N,) or (N, columns), or sequence of length N
        Entries of the two systems: scores, counts as `exact_perm_test` takes them for the
        statistic, or, with a callable, entries of any kind; or `Pairs`, and None.
    statistic : str, Statistic, CountStatistic or callable, default "sum"
        One of `STATISTICS`, what `permtest.statistic` returns, or a function that takes the
        entries of one system and returns a number. It is handed an array, or a list where entries
        are neither numbers nor rows of numbers.
    K : int, default 10000
        Number of random swaps for a callable, from 1 to 10**7.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the swaps reproducible.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the measure of the first system is greater, which for error rates is worse.
    names : tuple of two str, optional
        What the systems are called.
    clusters : array_like of shape (N,), optional
        What each entry belongs to; whole clusters are swapped.

    Returns
    -------
    AlternativeResult
        With a callable p is (C + 1) / (K + 1) for C swaps whose difference is at least as extreme
        as the observed one, and the `details` have `pvalue_low` and `pvalue_high`, the interval of
        Clopper and Pearson that covers the share of all 2^N swaps with 95 %. With a name p is that
        of `exact_perm_test`: `method` is "exact", and the `details` say how; or "sampled", where
        an exact p is out of reach.

    Raises
    ------
    TypeError, ValueError
        If entries are not what the statistic needs, or a callable returns something else than a
        finite number.

    Notes
    -----
    Differences that fall short of the observed one by no more than 1e-12, relative to the larger of
    both measures, count as ties, and ties count. Cost: 2 K calls of a callable, with a bar, which
    the workers of ``joblib.parallel_config`` share, if there are any, with the same numbers.
    Source: Yeh (2000), sec. 3.3; Noreen (1989).

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.alternatives import randomisation
    >>> new, old = [9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]
    >>> r = randomisation(new, old, statistic=np.median, K=2000, rng=0)
    >>> r.estimate, r.details["pvalue_low"] < r.pvalue < r.details["pvalue_high"]
    (2.0, True)
    >>> randomisation(new, old).pvalue, randomisation(new, old).method
    (0.0625, 'exact')
    """
    check_alternative(alternative)
    size = check_resamples(K)
    if callable(statistic):
        systems = Systems.of(u, v, statistic, names)
        clusters = labels_of(u, clusters)
        return _sampled(systems, clusters, size, as_generator(rng), alternative)
    entry = lookup(statistic)
    options: dict[str, Any] = {"alternative": alternative, "names": names, "clusters": clusters}
    found = exact_perm_test(u, v, statistic=entry, rng=rng, **options)
    details = {"method": found.method, "error_bound": found.error_bound}
    if found.n_samples is not None:
        low, high = found.pvalue_interval()
        details = {"pvalue_low": low, "pvalue_high": high}
    try:
        estimate = float(found.statistic)
    except OverflowError:
        raise ValueError(
            "u and v differ by more than a float holds; divide all scores by a power of ten, or "
            "use exact_perm_test"
        ) from None
    title = entry.title if isinstance(entry, CountStatistic) else entry.name
    return AlternativeResult(
        test="randomisation",
        title=f"{'' if found.n_samples else 'exact '}permutation test of {title}",
        statistic=estimate,
        statistic_name="difference",
        pvalue=found.pvalue,
        alternative=alternative,
        n=found.n,
        estimate=estimate,
        estimate_name=f"{title} difference",
        method=_how(found),
        names=found.names,
        assumptions=(EXCHANGEABLE, INDEPENDENT_ITEMS),
        details=details,
        n_samples=found.n_samples,
    )


def _how(found: PermutationTestResult) -> str:
    """What kind of number its p is."""
    if found.n_samples is not None:
        return "sampled"
    return UPPER_BOUND if found.method == "bracket" else "exact"


def _sampled(
    systems: Systems, clusters: Any, size: int, rng: np.random.Generator, alternative: str
) -> AlternativeResult:
    """The test of a callable."""
    from scipy.stats import binomtest

    n = len(systems)
    labels = np.arange(n) if clusters is None else cluster_numbers(clusters, n)
    if n == 0:
        raise ValueError("u and v have no entries, so that there is nothing to measure")
    units, observed = int(labels.max()) + 1, systems.observed
    parts = batches(size)
    found = over_workers(_extreme, parts, systems, labels, alternative, seeds(rng))
    extreme = sum(progress(found, total=len(parts), what="random swaps"))
    covers = binomtest(extreme, size).proportion_ci(0.95, "exact")
    return AlternativeResult(
        test="randomisation",
        title="approximate randomisation",
        statistic=observed,
        statistic_name="difference",
        pvalue=(extreme + 1) / (size + 1),
        alternative=alternative,
        n=units,
        estimate=observed,
        estimate_name=f"{systems.title} difference",
        method="sampled",
        names=systems.names,
        assumptions=(EXCHANGEABLE, INDEPENDENT_ITEMS),
        details={"pvalue_low": float(covers.low), "pvalue_high": float(covers.high)},
        n_samples=size,
    )


def _extreme(
    part: range,
    systems: Systems,
    labels: NDArray[np.int64],
    alternative: str,
    origin: np.random.SeedSequence,
) -> int:
    """How many of the swaps with these numbers are at least as extreme as what was observed."""
    rng, units, side = stream(origin, part.start), int(labels.max()) + 1, _SIDES[alternative]
    least = side(systems.observed) - TIE * systems.size
    swaps = (systems.swapped(rng.integers(2, size=units) == 1, labels) for _ in part)
    return sum(side(gap) >= least for gap in swaps)


#: What has to be as large as observed.
_SIDES: dict[str, Callable[[float], float]] = {
    "two-sided": abs,
    "greater": float,
    "less": float.__neg__,
}


def permutation_mean(
    a: Any,
    b: Any = None,
    *,
    alternative: Alternative = "two-sided",
    delta: float | Fraction = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """The exact paired-permutation test of the mean difference, among its alternatives.

    `exact_perm_test` in the form of all the others, and against any `delta`.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of the two systems on the same items, in the same order; or `Pairs`, and None.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the first system scores higher.
    delta : float or Fraction, default 0.0
        The mean difference under the null hypothesis, in scores: the signs of what differences
        exceed it by are exchanged.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    AlternativeResult
        The statistic is the sum of the differences less `delta`; the interval is that of all
        shifts not rejected. The `details` have `method` and `error_bound` of `exact_perm_test`;
        where scores have so many digits that it brackets p, `method` is "upper bound".

    Raises
    ------
    TypeError, ValueError
        If scores are not numbers of equal number, there are none, or an option is unknown.

    Examples
    --------
    >>> from permtest.alternatives import permutation_mean
    >>> u, v = [4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4]
    >>> r = permutation_mean(u, v, delta=-0.5, alternative="greater")
    >>> r.estimate, r.pvalue
    (0.0, 0.09375)
    """
    check_alternative(alternative)
    sample = PairedSample.of(a, b, delta, names, least=1)
    steps = sample.steps
    found = exact_perm_test(steps, np.zeros_like(steps), alternative=alternative)
    return result_of(
        sample,
        "exact",
        alternative,
        statistic=nearest(Fraction(exact_sum(steps), sample.scale)),
        statistic_name="sum",
        pvalue=found.pvalue,
        estimate=sample.mean,
        estimate_name="mean difference",
        method=_how(found),
        assumptions=assumed(sample),
        details={
            "method": found.method,
            "error_bound": found.error_bound,
            "differing": found.n_informative,
        },
        _interval=partial(_shifts, sample.pairs, alternative),
    )


def _shifts(pairs: Pairs, alternative: Alternative, confidence_level: float) -> ConfidenceInterval:
    return exact_perm_test(pairs, alternative=alternative).confidence_interval(confidence_level)


def assumed(sample: PairedSample) -> tuple[Assumption, ...]:
    """Equal systems can be exchanged; of others, differences must be symmetric about delta."""
    return (SYMMETRIC if sample.delta else EXCHANGEABLE, INDEPENDENT_ITEMS)
