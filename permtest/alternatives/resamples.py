"""Resamples of pairs, drawn with replacement, and the estimates that they give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import gcd
from operator import index
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._integers import largest
from permtest._parallel import in_parallel
from permtest._progress import progress
from permtest._rng import seeds, stream
from permtest.alternatives.sample import PairedSample, as_floats, tamed
from permtest.null.grouping import count_values

#: A number for each is kept: 80 MB.
MAX_RESAMPLES = 10**7
#: How many numbers are held at a time while resampling (2 MB), and how many are worth a thread.
AT_ONCE, LEAST = 2**18, 2**15
#: Drawing how often a value occurs takes as long as drawing so many single items.
ITEMS_PER_VALUE = 16

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

NORMAL = NormalDist()


def check_resamples(K: Any) -> int:
    """K as an integer; TypeError or ValueError if it is none, or out of range."""
    try:
        size = index(K)
    except TypeError:
        raise TypeError(f"K must be an integer, not {type(K).__name__}") from None
    if not 1 <= size <= MAX_RESAMPLES:
        raise ValueError(f"K = {size} samples; from 1 to {MAX_RESAMPLES} are possible")
    return size


def batches(size: int) -> list[range]:
    """The numbers of resamples, in at most a hundred parts: for functions that may be slow."""
    each = -(-size // 100)
    return [range(start, min(start + each, size)) for start in range(0, size, each)]


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences less `delta`, equal ones counted together.

    Parameters
    ----------
    values : ndarray of shape (U,)
        Distinct, ascending, in units of `unit`: integers where their sums are exact as floats.
    counts : ndarray of shape (U,)
    unit : Fraction
        One of them in scores.
    exact : bool
        Whether they are.
    """

    values: Floats
    counts: Counts
    unit: Fraction
    exact: bool

    @property
    def n(self) -> int:
        """N, the number of pairs."""
        return int(self.counts.sum())

    @classmethod
    def of(cls, sample: PairedSample) -> Differences:
        """Group equal differences of a sample."""
        steps, counts = count_values(sample.steps)
        unit = gcd(*steps.tolist()) or 1
        if largest(steps) // unit * max(sample.n, 2) < 2**53:
            values = (steps // unit).astype(np.float64)
            return cls(values, counts, Fraction(unit, sample.scale), True)
        (steps,), scale, power = tamed([steps], sample.scale)
        return cls(as_floats(steps, scale), counts, Fraction(2) ** power, False)


class Estimator(ABC):
    """A mean or a median, and its standard error, of many resamples at once.

    Parameters
    ----------
    data : Differences

    Attributes
    ----------
    unit : Fraction
        In which the estimates are counted, so that they are integers where the data are.
    """

    unit: Fraction

    def __init__(self, data: Differences) -> None:
        self.data = data

    @abstractmethod
    def estimates(self, counts: Counts) -> Floats:
        """Of resamples in which the U values occur so often, of shape (M, U)."""

    @abstractmethod
    def errors(self, counts: Counts, estimates: Floats) -> Floats:
        """Their standard errors."""

    @abstractmethod
    def acceleration(self) -> float:
        """A sixth of the skewness of the jackknife, which is that of the estimate."""


class Mean(Estimator):
    """The mean, as a sum."""

    def __init__(self, data: Differences) -> None:
        super().__init__(data)
        self.unit = data.unit / data.n

    def estimates(self, counts: Counts) -> Floats:
        """Means of resamples."""
        return sums(counts, self.data.values, self.data.exact)

    def errors(self, counts: Counts, estimates: Floats) -> Floats:
        """N times sd / sqrt(N); a sum of squares of what is left after the mean is taken off."""
        n = self.data.n
        squares = self.data.values - (estimates / n)[:, None]
        squares *= squares
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", counts, squares) * (n / (n - 1))))

    def acceleration(self) -> float:
        """That of the jackknife, in closed form."""
        data = self.data
        rest = data.values - (data.counts @ data.values) / data.n
        return _skew(rest / np.abs(rest).max(), data.counts)


class Median(Estimator):
    """The median, as the sum of the two middle values."""

    def __init__(self, data: Differences) -> None:
        from scipy.special import betainc

        super().__init__(data)
        self.unit, half = data.unit / 2, (data.n + 1) / 2
        # The law of the median of a resample, if it were a middle value of a continuous rank.
        self.law = np.asarray(betainc(half, half, np.arange(data.n + 1) / data.n))

    def estimates(self, counts: Counts) -> Floats:
        """Medians of resamples."""
        values, n = self.data.values, self.data.n
        below = counts.cumsum(axis=1)
        lower, upper = ((below < rank).sum(axis=1) for rank in ((n + 1) // 2, n // 2 + 1))
        return np.asarray(values[lower] + values[upper])

    def errors(self, counts: Counts, estimates: Floats) -> Floats:
        """Maritz and Jarrett's: the spread of the values, weighted with the law of the median."""
        del estimates
        weights = np.diff(self.law[counts.cumsum(axis=1)], axis=1, prepend=0.0)
        squares = self.data.values - sums(weights, self.data.values, exact=False)[:, None]
        squares *= squares
        errors = 2 * np.sqrt(np.einsum("ij,ij->i", weights, squares))
        return np.where(counts.max(axis=1) == self.data.n, 0.0, errors)

    def acceleration(self) -> float:
        """Leaving out one pair moves the median to one of three places at most."""
        data, n = self.data, self.data.n
        if n % 2 == 0:
            return 0.0  # to one of two, by half of the pairs each
        ends = data.counts.cumsum()
        middle = n // 2 + 1
        below, at, above = (
            data.values[np.searchsorted(ends, rank)] for rank in (middle - 1, middle, middle + 1)
        )
        moved = -np.array([at + above, below + above, below + at])
        times = np.array([n // 2, 1, n // 2])
        rest = moved - (times @ moved) / n
        spread = np.abs(rest).max()
        return _skew(rest / spread, times) if spread > 0 else 0.0


def _skew(rest: Floats, counts: Counts) -> float:
    return float(counts @ rest**3 / (6 * (counts @ rest**2) ** 1.5))


class Resamples(NamedTuple):
    """Estimates and standard errors (0 if not needed) of the sample and of K resamples."""

    estimate: float
    error: float
    estimates: Floats
    errors: Floats

    @classmethod
    def draw(
        cls, estimator: Estimator, size: int, rng: np.random.Generator, *, studentise: bool
    ) -> Resamples:
        """Draw them, with their standard errors if they are asked for."""
        both = partial(_both, estimator=estimator, studentise=studentise)
        counts = estimator.data.counts
        estimate = estimator.estimates(counts[None, :])
        error = estimator.errors(counts[None, :], estimate)
        return cls(float(estimate[0]), float(error[0]), *resampled(both, counts, size, rng))

    def studentised(self) -> Floats:
        """The estimate less its standard error times t*, which is infinite where that has none."""
        if self.error == 0:
            return np.full(self.estimates.size, self.estimate)
        gap = self.estimates - self.estimate
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.where(gap == 0, 0.0, gap / self.errors)
        return np.asarray(self.estimate - self.error * t)

    def bias(self) -> float:
        """z0: where the estimate lies among the resampled ones, ties counted by half."""
        below = np.count_nonzero(self.estimates < self.estimate)
        ties = np.count_nonzero(self.estimates == self.estimate)
        return NORMAL.inv_cdf((below + (ties + 1) / 2) / (self.estimates.size + 1))


def sums(counts: NDArray[Any], values: Floats, exact: bool) -> Floats:
    """``counts @ values``, in bits that do not depend on how many threads BLAS has.

    Where sums are `exact`, no order of adding rounds.
    """
    return np.asarray(counts @ values if exact else np.einsum("ij,j...->i...", counts, values))


def _both(counts: Counts, estimator: Estimator, studentise: bool) -> Floats:
    """Estimates of resamples and, if they are asked for, their standard errors."""
    estimates = estimator.estimates(counts)
    errors = estimator.errors(counts, estimates) if studentise else np.zeros_like(estimates)
    return np.stack([estimates, errors])


def resampled(
    values: Callable[[Counts], Floats], counts: Counts, size: int, rng: np.random.Generator
) -> Floats:
    """What a function makes of resamples of all N items, drawn with replacement.

    Parameters
    ----------
    values : callable
        Takes how often each of U values occurs in M resamples, of shape (M, U); returns an array
        whose last axis has length M.
    counts : ndarray of shape (U,)
        How often they occur in the sample.
    size : int
        Number of resamples.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray
        With `size` on the last axis. It depends on `rng`, `counts` and `size`, and on nothing that
        can compute side by side: threads, or the workers of ``joblib.parallel_config``.
    """
    n, distinct = int(counts.sum()), counts.size
    few = ITEMS_PER_VALUE * distinct <= n
    width = distinct if few else n
    rows = max(1, min(AT_ONCE, max(LEAST, size * width // 16)) // width)
    labels = None if few else np.repeat(np.arange(distinct), counts)
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
    number, m = part
    return values(_drawn(stream(origin, number), m, counts, labels))


def _drawn(rng: np.random.Generator, m: int, counts: Counts, labels: Counts | None) -> Counts:
    """How often each value occurs in m resamples, by values, or by the labels of all items."""
    n, distinct = int(counts.sum()), counts.size
    if labels is None:
        return rng.multinomial(n, counts / n, size=m)
    cells = labels[rng.integers(n, size=(m, n))] + distinct * np.arange(m)[:, None]
    return np.bincount(cells.ravel(), minlength=m * distinct).reshape(m, distinct)
