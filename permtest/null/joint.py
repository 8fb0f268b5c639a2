"""The joint law of several sums, as points with probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """The law of m sums on the points that they can reach.

    Parameters
    ----------
    support : ndarray of shape (M, m)
        Values of the sums, integers.
    pmf : ndarray of shape (M,)
        Their probabilities.
    parts : tuple of m str
        What the sums are.
    absolute_error : float
        0 if each probability is accurate relative to itself; otherwise what each may be off by,
        and points that are less likely than that are left out; of samples, the standard error of
        a probability of one half, the largest of all.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> u, v = [[2, 0, 0], [1, 2, 0]], [[1, 0, 1], [1, 0, 0]]
    >>> law = exact_perm_test(u, v, statistic="f1").null_distribution
    >>> law.parts, law.support.tolist(), law.pmf.tolist()
    (('2 tp', 'fp + fn'), [[4, 1], [6, 0], [4, 3], [6, 2]], [0.25, 0.25, 0.25, 0.25])
    """

    support: IntArray
    pmf: NDArray[np.float64]
    parts: tuple[str, ...]
    absolute_error: float = 0.0

    def __post_init__(self) -> None:
        self.support.flags.writeable = False
        self.pmf.flags.writeable = False

    def __call__(self, *sums: int) -> float:
        """The probability that the sums are these; 0 if no labelling gives them."""
        found = (self.support == np.array(sums, dtype=self.support.dtype)).all(axis=1)
        return float(self.pmf[found].sum())

    def mean(self) -> NDArray[np.float64]:
        """The expectations of the sums."""
        return np.asarray(self.pmf @ self.support.astype(np.float64) / self.pmf.sum())

    def cov(self) -> NDArray[np.float64]:
        """The covariance matrix of the sums."""
        centred: Any = self.support.astype(np.float64) - self.mean()
        return np.asarray((centred * self.pmf[:, None]).T @ centred / self.pmf.sum())
