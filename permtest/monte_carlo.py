"""The sampled paired-permutation test (Alg. 1)."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from permtest._rng import RNG, as_generator
from permtest.comparison import compare
from permtest.null.probability import Probability
from permtest.null.sampling import sample_steps
from permtest.result import PermutationTestResult, Samples
from permtest.statistics import Alternative

#: 8 bytes a sample, and as much again to sort them: 1.6 GB.
MAX_SAMPLES = 10**8


def monte_carlo(
    u: Any,
    v: Any = None,
    g: Callable[[Any, Any], Any] | None = None,
    h: Callable[[int], Any] | None = None,
    K: int = 20_000,
    *,
    rng: RNG = None,
    statistic: str = "sum",
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
) -> PermutationTestResult:
    """Paired-permutation test from K random labellings (Alg. 1).

    Parameters
    ----------
    u, v, g, h
        As in `exact_perm_test`.
    K : int, default 20000
        Number of samples, from 1 to 10**8.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the samples reproducible.
    statistic, alternative, names
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
    counting bits. Memory O(N + K).

    Examples
    --------
    >>> from permtest import exact_perm_test, monte_carlo
    >>> u, v = [3, 5, 4, 6, 2], [2, 3, 4, 3, 1]
    >>> r = monte_carlo(u, v, K=1000, rng=0)
    >>> low, high = r.pvalue_interval(0.99)
    >>> low < exact_perm_test(u, v).pvalue < high
    True
    """
    comparison = compare(u, v, g, h, statistic=statistic, alternative=alternative, names=names)
    try:
        size = index(K)
    except TypeError:
        raise TypeError(f"K must be an integer, not {type(K).__name__}") from None
    if not 1 <= size <= MAX_SAMPLES:
        raise ValueError(f"K = {size} samples; from 1 to {MAX_SAMPLES} are possible in one call")
    steps = sample_steps(comparison.law, size, as_generator(rng))
    cells, counts = np.unique(steps, return_counts=True)
    n_extreme = int(counts[comparison.reaches(cells)].sum())
    samples = Samples(cells, counts, n_extreme)
    p = Probability.of((n_extreme + 1) / (size + 1), 0.0)
    return PermutationTestResult.of(comparison, p, "monte_carlo", samples)
