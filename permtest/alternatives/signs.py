"""The sign test: how many items each system wins."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from permtest._integers import IntArray
from permtest.alternatives.assumptions import INDEPENDENT_ITEMS
from permtest.alternatives.result import AlternativeResult, one_sided, result_of, tail_level
from permtest.alternatives.sample import PairedSample, nearest
from permtest.alternatives.tails import binomial_pvalue
from permtest.statistics import Alternative, check_alternative


def sign(
    a: Any,
    b: Any = None,
    *,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """The exact sign test of the median difference.

    It is the exact paired-permutation test of the signs of the differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items, N >= 1; or one `Pairs`.
    alternative : {"two-sided", "greater", "less"}
        "greater": `a` scores higher.
    delta : float, default 0.0
        The median difference under the null hypothesis.
    names : tuple of two str, optional

    Returns
    -------
    AlternativeResult
        `details` has the numbers of positive, negative and zero differences (less `delta`). Zeros
        do not count. The interval is for the median of all differences, from order statistics.

    Notes
    -----
    Binomial at every N, never approximate. Cost O(N log N). The interval
    keeps zeros, so that with many of them it may contain `delta` though p is small. Source: Yeh
    (2000), sec. 3.1; NLPStatTest manual, D.2.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.sign([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> r.pvalue, r.details
    (0.125, {'n_positive': 4, 'n_negative': 0, 'n_zero': 1})
    """
    check_alternative(alternative)
    sample = PairedSample.of(a, b, delta, names)
    positive, negative = int(np.sum(sample.steps > 0)), int(np.sum(sample.steps < 0))
    ordered = np.sort(sample.gaps)
    middle = int(ordered[(sample.n - 1) // 2]) + int(ordered[sample.n // 2])
    return result_of(
        sample,
        "sign",
        alternative,
        statistic=positive,
        statistic_name="wins",
        pvalue=float(binomial_pvalue(positive, negative, alternative)),
        estimate=nearest(Fraction(middle, 2 * sample.scale)),
        estimate_name="median difference",
        method="exact",
        assumptions=(INDEPENDENT_ITEMS,),
        details={
            "n_positive": positive,
            "n_negative": negative,
            "n_zero": sample.n - positive - negative,
        },
        _interval=partial(_order_statistics, ordered, sample.scale, alternative),
    )


def _order_statistics(
    ordered: IntArray, scale: int, alternative: str, confidence_level: float
) -> tuple[float, float]:
    """d_(k) to d_(n+1-k) with the largest k whose tail does not exceed the level."""
    from scipy import stats

    n, tail = ordered.size, tail_level(alternative, confidence_level)
    k = int(stats.binom.ppf(tail, n, 0.5)) + 2
    while k > 0 and stats.binom.cdf(k - 1, n, 0.5) > tail:
        k -= 1
    if k == 0:
        return -np.inf, np.inf
    low, high = (nearest(Fraction(int(ordered[i]), scale)) for i in (k - 1, n - k))
    return one_sided(alternative, low, high)
