"""What a test loses that takes two systems for independent, on simulated scores."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._rng import RNG, as_generator
from permtest.alternatives import (
    AlternativeResult,
    PairedSample,
    independent_t,
    paired_t,
    permutation_mean,
)

MEAN, SD = 50, 10  # of the scores of either system, in points
GRAIN = 0.05  # points that scores are multiples of
MOST = 200  # items


@dataclass(frozen=True, eq=False)
class Dependence:
    """The same pairs, tested as pairs and as if the two systems were independent.

    Parameters
    ----------
    sample : PairedSample
        The scores.
    exact, paired, independent : AlternativeResult
        Of the exact permutation test of the mean, of the paired t-test and of the two-sample
        t-test.

    Examples
    --------
    >>> from permtest.study.dependence import Dependence
    >>> found = Dependence.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.exact.pvalue, round(found.independent.pvalue, 3)
    (0.125, 0.147)
    >>> round(found.spread, 2), round(found.believed, 2)
    (1.14, 1.95)
    """

    sample: PairedSample
    exact: AlternativeResult
    paired: AlternativeResult
    independent: AlternativeResult

    @classmethod
    def of(cls, a: Any, b: Any, names: tuple[str, str] | None = None) -> Dependence:
        """All three tests of scores `a` and `b`, of shape (N,)."""
        sample = PairedSample.of(a, b, names=names, least=2)
        return cls(
            sample=sample,
            exact=permutation_mean(sample.pairs),
            paired=paired_t(sample.pairs),
            independent=independent_t(sample.a, sample.b, names=sample.names),
        )

    @property
    def spread(self) -> float:
        """Standard deviation of the differences, as they are."""
        return float(self.paired.details["standard_error"]) * sqrt(self.sample.n)

    @property
    def believed(self) -> float:
        """What it would be if the two systems did not depend on each other."""
        return float(self.independent.details["standard_error"]) * sqrt(self.sample.n)


def two_systems(
    r12: float, *, n: int = 50, lead: float = 2.0, rng: RNG = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of two systems on the same items, with a given correlation.

    Parameters
    ----------
    r12 : float
        Pearson's correlation of the two columns of scores, in [-1, 1).
    n : int, default 50
        Number of items, 3 to 200.
    lead : float, default 2.0
        By how many points the mean of the first system is higher.
    rng : numpy.random.Generator, int or None, default 0
        The same seed gives the same random numbers for all other arguments.

    Returns
    -------
    a, b : ndarray of shape (n,)
        Points, multiples of 0.05. Means of `b` are 50, standard deviations of both 10, and their
        correlation is `r12`: not about so, but up to that rounding.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    What the systems have in common is ``sqrt((1 + r12) / 2) x``, and where they differ they do so
    by ``2 sqrt((1 - r12) / 2) y``, of two random columns x and y that have been made uncorrelated.
    So with another correlation all differences shrink or grow by the same factor.

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.study.dependence import two_systems
    >>> a, b = two_systems(0.8)
    >>> round(float(np.corrcoef(a, b)[0, 1]), 2), round(float(np.mean(a - b)), 2)
    (0.8, 2.0)
    """
    if not -1 <= r12 < 1:
        raise ValueError(f"r12 must lie in [-1, 1), got {r12}")
    if not 3 <= n <= MOST:
        raise ValueError(f"n must be between 3 and {MOST}, got {n}")
    numbers = as_generator(rng).standard_normal((MOST, 2))[:n]
    x, y = (sqrt(n - 1) * np.linalg.qr(numbers - numbers.mean(axis=0))[0]).T
    common, own = sqrt((1 + r12) / 2) * x, sqrt((1 - r12) / 2) * y
    a, b = MEAN + lead + SD * (common + own), MEAN + SD * (common - own)
    # Coarse enough for exact tests to be quick, fine enough not to be seen in the moments.
    return np.round(np.rint(a / GRAIN) * GRAIN, 2), np.round(np.rint(b / GRAIN) * GRAIN, 2)
