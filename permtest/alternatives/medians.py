"""The exact permutation test of the median."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, with_room
from permtest.alternatives.permutations import assumed
from permtest.alternatives.result import (
    AlternativeResult,
    one_sided,
    rejects,
    result_of,
    tail_level,
)
from permtest.alternatives.sample import PairedSample, nearest
from permtest.statistics import Alternative, check_alternative


def permutation_median(
    a: Any,
    b: Any = None,
    *,
    alternative: Alternative = "two-sided",
    delta: float | Fraction = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """Exact paired-permutation test of the median difference.

    Under the null hypothesis the labels of the two systems mean nothing, so that every difference
    has either sign with probability 1/2. p is the share of all 2^N choices of signs whose median
    is at least as extreme as the observed one; ties count.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of the two systems on the same items, in the same order; or `Pairs`, and None.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the first system scores higher.
    delta : float or Fraction, default 0.0
        The median difference under the null hypothesis, in scores: the signs of what differences
        exceed it by are exchanged.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    AlternativeResult
        The statistic is the median of the differences less `delta`, the mean of the two middle ones
        for even N. The interval has all shifts that are not rejected, its ends included; they are
        exact. The `details` have the number of differences that are `delta` itself (`zeros`).

    Raises
    ------
    TypeError, ValueError
        If scores are not numbers of equal number, there are none, or an option is unknown.

    Notes
    -----
    Nothing is listed or sampled. For odd N the median is m > 0 or more where (N + 1) / 2 of the
    differences whose magnitude is m or more, or more of them, are positive: a binomial tail. For
    even N, with w_1 <= ... <= w_N the magnitudes, let the lower of the two middle ones be w_i with
    a positive sign. Then smaller ones are below it whatever their signs; the upper middle one must
    be at least 2 m - w_i, so larger ones below that must be negative; and of the f that are left
    N / 2 must be positive: ``C(f, N / 2) / 2^(N - i + 1)``, which is added up over i. Negative can
    be w_1 alone. Comparisons are made in integers; p is right to 1e-12 of itself down to 1e-300.

    p rises with `delta` (for "greater"), in steps at shifts where some choice of signs ties with
    what was observed; those are multiples of a quarter of the unit of the scores, so that
    bisection finds the ends of the interval among whole numbers.

    Time O(N log N), for the interval times the logarithm of the range of the scores.

    Examples
    --------
    >>> from permtest.alternatives import permutation_median
    >>> new, old = [9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]
    >>> r = permutation_median(new, old)
    >>> r.statistic, r.pvalue
    (2.0, 0.0625)
    """
    check_alternative(alternative)
    sample = PairedSample.of(a, b, delta, names, least=1)
    law = _SignFlips.of(sample.steps)
    gaps = np.sort(sample.gaps)
    middle = Fraction(law.doubled_median, 2 * sample.scale)
    return result_of(
        sample,
        "permutation_median",
        alternative,
        statistic=nearest(middle),
        statistic_name="median",
        pvalue=law.pvalue(alternative),
        estimate=nearest(middle + sample.delta),
        estimate_name="median difference",
        method="exact",
        assumptions=assumed(sample),
        details={"zeros": int(np.count_nonzero(sample.steps == 0))},
        _interval=partial(_shifts, gaps, sample.scale, alternative),
    )


@dataclass(frozen=True, eq=False)
class _SignFlips:
    """The law of the median of integers whose signs are drawn at random.

    Twice the median, the sum of the two middle ones, is an integer for odd and for even N alike.

    Parameters
    ----------
    magnitudes : ndarray of shape (N,)
        Ascending.
    doubled_median : int
        Observed.
    """

    magnitudes: IntArray
    doubled_median: int

    @classmethod
    def of(cls, steps: IntArray, doubled_median: int | None = None) -> _SignFlips:
        """Of any integers; `doubled_median` saves looking for it."""
        if doubled_median is None:
            doubled_median = _doubled_median(np.sort(steps))
        # A stable sort merges what is ascending or descending already.
        return cls(np.sort(np.abs(with_room(steps, 4)), kind="stable"), doubled_median)

    def pvalue(self, alternative: str) -> float:
        """Ties included."""
        m = self.doubled_median
        if alternative == "two-sided":
            return min(1.0, 2 * self.upper_tail(abs(m))) if m else 1.0
        return self.upper_tail(m if alternative == "greater" else -m)

    def upper_tail(self, m: int) -> float:
        """P(twice the median >= m); the law is symmetric about 0."""
        if m <= 0:
            return 1.0 - self.upper_tail(1 - m)
        return self._odd_tail(m) if len(self.magnitudes) % 2 else self._even_tail(m)

    def _odd_tail(self, m: int) -> float:
        """(N + 1) / 2 or more must be positive, of those that are large enough."""
        from scipy.special import betainc

        n = len(self.magnitudes)
        large, half = n - int(np.searchsorted(self.magnitudes, (m + 1) // 2)), (n + 1) // 2
        return float(betainc(half, large - half + 1, 0.5)) if large >= half else 0.0

    def _even_tail(self, m: int) -> float:
        """The sum over the lower one of the two in the middle; see `permutation_median`."""
        from scipy.stats import binom

        w, n = self.magnitudes, len(self.magnitudes)
        half = n // 2
        # Entry i has i before it; if it is the lower middle one, half - 1 at least stay below.
        i = np.arange(half)
        free = n - np.maximum(i + 1, np.searchsorted(w, m - w[:half]))
        fixed = n - i - free  # entry i and those that must be negative
        above = np.append(free, n - np.searchsorted(w, m + w[0]))
        fixed = np.append(fixed, n - above[-1])
        possible = above >= half
        terms = np.ldexp(binom.pmf(half, above[possible], 0.5), -fixed[possible])
        return min(float(np.sum(terms)), 1.0)


def _doubled_median(ordered: NDArray[Any]) -> int:
    n = len(ordered)
    return int(ordered[(n - 1) // 2]) + int(ordered[n // 2])


def _shifts(
    gaps: IntArray, scale: int, alternative: str, confidence_level: float
) -> tuple[float, float]:
    """All differences that the test does not reject."""
    alpha = tail_level(alternative, confidence_level)
    low, high = _lower_end(gaps, alpha), _lower_end(-gaps[::-1], alpha)
    return one_sided(alternative, _quarters(low, scale), -_quarters(high, scale))


def _lower_end(gaps: IntArray, alpha: float) -> int | None:
    """Four times the smallest shift with one-sided p > alpha; None if there is none.

    Changing the signs of some gaps about a shift, and adding it again, gives a median that rises
    with the shift, and reaches the observed one where twice the shift is ``gap + median``, or for
    even N where two or four times the shift are sums and differences of two gaps and of twice the
    median: at multiples of 1/4, no further from the median than the gaps are from each other.
    """
    middle, reach = _doubled_median(gaps), int(gaps[-1]) - int(gaps[0]) + 1
    gaps = 4 * with_room(gaps, 64)

    def rejected(shift: int) -> bool:
        found = _SignFlips.of(gaps - shift, 4 * middle - 2 * shift)
        return bool(rejects(found.pvalue("greater"), alpha))

    low, high = 2 * middle - 4 * reach, 2 * middle + 4 * reach
    if not rejected(low):
        return None
    while high - low > 1:
        shift = (low + high) // 2
        low, high = (shift, high) if rejected(shift) else (low, shift)
    return high


def _quarters(end: int | None, scale: int) -> float:
    return -inf if end is None else nearest(Fraction(end, 4 * scale))
