"""Intervals that hold together: for the differences of many pairs of systems at once.

What a board shows is chosen from its scores: the best of twelve equal systems is the one that was
lucky, and an interval for the difference from it, taken by itself, covers too seldom. So intervals
are as long as the largest of all standardised differences makes necessary, whose law is that of
normal numbers with the covariance of the scores (Hothorn, Bretz and Westfall 2008).
"""

from __future__ import annotations

from functools import cached_property
from math import ceil, inf, sqrt

import numpy as np

from permtest._jit import Floats, Ints
from permtest._parallel import in_parallel, seeds, stream
from permtest.alternatives.answer import fewest_units, one_sided
from permtest.alternatives.parametric import t_quantile
from permtest.interval import score_ends
from permtest.many.corrections import BLOCK, CELLS
from permtest.many.table import ScoreTable

#: Draws of the largest difference: at most, at least, and differences that they take together. The
#: error of intervals is 0.05 give or take 0.002 after 10 000 draws, and 0.007 after 1 000.
MOST, LEAST, QUICK = 10_000, 1_000, 2**28
#: A share of the largest variance that is as good as 0.
NOTHING = 1e-12


class Simultaneous:
    """Intervals for the differences of pairs of systems; all hold with probability 1 - alpha.

    Parameters
    ----------
    table : ScoreTable
        The scores.
    first, second : ndarray of shape (P,)
        Numbers of the systems of each pair.
    alternative, alpha
        As in `compare_many`.

    Notes
    -----
    Each is the interval of a single comparison at a higher level, the same for all: Tango's for
    scores of 0 and 1 that are not in clusters, otherwise Student's for what each unit adds to the
    difference. Where few units differ, the deviation of their differences is too small, or 0. So
    it counts t^2 / 2 units more, half of them in favour of each system, with t the quantile: the 2
    that Agresti and Min (2005) and Bonett and Price (2012) add to scores of 0 and 1 at 95%. Tango's
    takes the same quantile, of Student's law. ``python -m benchmarks.calibration`` measures how
    often all intervals hold.
    """

    def __init__(
        self, table: ScoreTable, first: Ints, second: Ints, alternative: str, alpha: float
    ) -> None:
        self.table, self.first, self.second = table, first, second
        self.alternative, self.alpha = alternative, alpha
        self.sides = 2 if alternative == "two-sided" else 1
        # What units add to the value of each system, less that of the first.
        others = [table.effects(i, 0) for i in range(1, len(table.systems))]
        self._values = np.stack([np.zeros_like(others[0]), *others])
        self._binary = table.is_binary and table.clusters is None
        mean = table.statistic.columns or table.statistic.name == "mean"
        self._times = 1 if mean else table.n_items

    @cached_property
    def tail(self) -> float:
        """The error on each side of each interval.

        Never more than that of an interval that stands alone, nor less than Bonferroni's.
        """
        from scipy.special import ndtr

        alone, n = self.alpha / self.sides, self._values.shape[1]
        if self.first.size == 1 or n < 2:
            return alone
        together = float(ndtr(-self.critical()))
        return min(max(together, alone / self.first.size), alone)

    def critical(self) -> float:
        """What the largest standardised difference exceeds with probability alpha."""
        centred = self._values - self._values.mean(axis=1, keepdims=True)
        # Not by BLAS, whose sums depend on the number of its threads.
        covariance = np.einsum("in,jn->ij", centred, centred)
        variances, (i, j) = np.diag(covariance), (self.first, self.second)
        squares = variances[i] + variances[j] - 2 * covariance[i, j]
        there = squares > NOTHING * variances.max()
        if not there.any():
            return 0.0
        scales = 1 / np.sqrt(squares[there])
        pairs = i[there], j[there], scales, self.sides == 2
        draws = min(max(QUICK // scales.size, LEAST), MOST)
        chunks = [range(x, min(x + BLOCK, draws)) for x in range(0, draws, BLOCK)]
        shared = seeds(np.random.default_rng(0)), _root(covariance), *pairs
        found = np.sort(np.concatenate([*in_parallel(_largest, chunks, *shared)]))
        place = ceil(round((1 - self.alpha) * (draws + 1), 6))
        return float(found[place - 1]) if place <= draws else inf

    @cached_property
    def _typical(self) -> float:
        """The size of differences, of all neighbouring rows."""
        return _size(np.diff(self._values, axis=0))

    def interval(self, i: int, j: int) -> tuple[float, float]:
        """The interval for the difference of two systems, i less j."""
        from scipy.special import ndtr

        gaps, times = self._values[i] - self._values[j], self._times
        n = gaps.size
        reach = t_quantile(self.tail, n - 1) if n > 1 else inf
        if self._binary:
            b, c = int(np.sum(gaps > 0)), int(np.sum(gaps < 0))
            low, high = score_ends(b, c, n, float(ndtr(-reach)), self.alternative)
            return low * times, high * times
        if n < max(fewest_units(self.tail * self.sides, self.alternative), 2):
            return -inf, inf
        added = reach**2 / 2 * (_size(gaps) or self._typical) ** 2
        error = sqrt((float(np.var(gaps)) * n + added) / (n * (n - 1)))
        gap = float(self.table.exact_values[i] - self.table.exact_values[j])
        reach *= error * times
        return one_sided(self.alternative, gap - reach, gap + reach)


def _size(gaps: Floats) -> float:
    """The root mean square of those that are not 0; 0 if all are."""
    some = gaps[gaps != 0]
    return sqrt(float(np.mean(some * some))) if some.size else 0.0


def _root(covariance: Floats) -> Floats:
    """A lower triangle whose product with itself is the covariance, which may be singular."""
    rest, root = covariance.copy(), np.zeros_like(covariance)
    least = NOTHING * float(np.diag(covariance).max())
    for k in range(len(rest)):  # LAPACK wants all variances to be above 0
        if rest[k, k] > least:
            root[k:, k] = rest[k:, k] / sqrt(rest[k, k])
            rest[k:, k:] -= np.outer(root[k:, k], root[k:, k])
    return root


def _largest(
    chunk: range,
    origin: np.random.SeedSequence,
    root: Floats,
    first: Ints,
    second: Ints,
    scales: Floats,
    two_sided: bool,
) -> Floats:
    """The largest standardised difference in each of some draws."""
    draws, highest = len(chunk), np.full(len(chunk), -inf)
    values = root @ stream(origin, chunk.start).standard_normal((len(root), draws))
    step = max(CELLS // draws, 1)
    for start in range(0, first.size, step):
        part = slice(start, start + step)
        gaps = values[first[part]] - values[second[part]]
        if two_sided:
            np.abs(gaps, out=gaps)
        gaps *= scales[part, None]
        np.maximum(highest, gaps.max(axis=0), out=highest)
    return highest
