"""Intervals whose ends are quantiles of resamples, and the p-values that they invert to."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.alternatives.result import one_sided, tail_level
from permtest.alternatives.sample import nearest

Floats: TypeAlias = NDArray[np.float64]

NORMAL = NormalDist()


@dataclass(frozen=True, eq=False)
class Pivots:
    """K numbers, among which the ends of an interval are the m-th smallest and the m-th largest.

    Percentile: the resampled estimates x themselves. Basic: 2 estimate - x. Studentised:
    estimate - standard error * t*. A difference is rejected from below if fewer than m of them
    are as small as it, which is all that p needs.

    Parameters
    ----------
    values : ndarray of shape (K,)
        Ascending, less `delta`, in units of `unit`; some may be infinite.
    unit : Fraction
        One of them in scores.
    delta : Fraction
        The difference under the null hypothesis, in scores.
    tie : float
        Values that are no further from 0 than this count as 0.
    bias, acceleration : float
        z0 and a of the BCa interval; 0 and 0 give the others.
    """

    values: Floats
    unit: Fraction
    delta: Fraction
    tie: float = 0.0
    bias: float = 0.0
    acceleration: float = 0.0

    def pvalue(self, alternative: str) -> float:
        """The level at which the interval just leaves out `delta`."""
        size = self.values.size
        greater = self.tail(int(np.searchsorted(self.values, self.tie, "right")), 1)
        less = self.tail(size - int(np.searchsorted(self.values, -self.tie, "left")), -1)
        if alternative == "two-sided":
            return min(1.0, 2 * min(greater, less))
        return greater if alternative == "greater" else less

    def tail(self, count: int, side: int) -> float:
        """One-sided p of a difference that `count` values do not exceed (-1: fall below)."""
        size = self.values.size
        share = (count + 1) / (size + 1)
        if self.bias == self.acceleration == 0:
            return share
        bias, acceleration = side * self.bias, side * self.acceleration
        x = NORMAL.inv_cdf(min(share, 1 - 2**-53)) - bias
        slope = 1 + acceleration * x
        y = x / slope if slope > 0 else (inf if x > 0 else -inf)
        return max(NORMAL.cdf(y - bias), 1 / (size + 1))

    def interval(self, alternative: str, confidence_level: float) -> tuple[float, float]:
        """All differences with p > 1 - confidence_level, in scores."""
        alpha = tail_level(alternative, confidence_level)
        return one_sided(alternative, self._end(alpha, 1), self._end(alpha, -1))

    def _end(self, alpha: float, side: int) -> float:
        size = self.values.size
        least = bisect_right(range(size + 1), alpha, key=lambda count: self.tail(count, side))
        if least == 0:
            return -side * inf
        value = float(self.values[min(least, size) - 1 if side > 0 else max(size - least, 0)])
        return self.score(value) if isfinite(value) else value

    def score(self, value: float) -> float:
        """A value as a difference of scores, rounded once; infinite if beyond all floats."""
        return nearest(self.delta + Fraction(value) * self.unit)
