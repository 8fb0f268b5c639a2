"""Laws of differences on a lattice, of which only how often each occurs is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.alternatives.result import rejects
from permtest.alternatives.tails import binomial_pvalue
from permtest.study.laws import FINEST, law_pvalues
from permtest.study.simulation import portions, rejections

#: Scores that must be rounded are rounded to multiples of their standard deviation over this.
PER_DEVIATION = 8

#: Roundings of a bound of p that may not decide.
NEAR = 1e-10

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """A law of differences: integers, and how probable each is.

    Parameters
    ----------
    values : ndarray of shape (U,), int64
        Distinct; for the sign test -1, 0 and 1.
    shares : ndarray of shape (U,)
        They add up to 1.
    rounded : float
        The unit that values are rounded to, in scores; 0 where they are not.
    """

    values: Ints
    shares: Floats
    rounded: float

    @classmethod
    def of(cls, steps: NDArray[Any], counts: Ints, scale: int, delta: Fraction | None) -> Cells:
        """The law of one of `steps` / `scale`, of which there are `counts`, shifted to `delta`."""
        steps, counts = steps[counts > 0], counts[counts > 0]
        shift = Fraction(0) if delta is None else delta - mean_of(steps, counts, scale)
        whole = [int(d) * shift.denominator + int(shift.numerator * scale) for d in steps]
        unit = gcd(*whole) or 1
        shares = np.array(counts / sum(counts.tolist()), dtype=np.float64)
        if max(map(abs, whole)) <= FINEST * unit:
            return cls._merged(np.array([d // unit for d in whole]), shares, 0.0)
        total = scale * shift.denominator
        x = np.array([float(Fraction(d, total)) for d in whole])
        spread = sqrt(float(shares @ (x - shares @ x) ** 2))
        step = max(spread / PER_DEVIATION, float(np.abs(x).max()) / FINEST)
        low = np.floor(x / step)
        upper = x / step - low
        values = np.concatenate([low, low + 1]).astype(np.int64)
        return cls._merged(values, np.concatenate([shares * (1 - upper), shares * upper]), step)

    @classmethod
    def normal(cls, mean: float, deviation: float) -> Cells:
        """The law of a normal draw that is rounded to its nearest cell."""
        from scipy.special import ndtr

        unit = deviation / PER_DEVIATION
        # Beyond, every draw is on the same side of 0, and p depends on nothing else.
        middle = min(max(mean / unit, -float(FINEST)), float(FINEST))
        low, high = (round(middle + side * 10 * PER_DEVIATION) for side in (-1, 1))
        values = np.arange(low, high + 1)
        z = (values[:, None] + [-0.5, 0.5] - middle) / PER_DEVIATION
        below = ndtr(z)
        above = ndtr(-z)
        shares = np.where(z[:, 0] < 0, below[:, 1] - below[:, 0], above[:, 0] - above[:, 1])
        return cls(values, shares / shares.sum(), unit)

    @classmethod
    def _merged(cls, values: Ints, shares: Floats, rounded: float) -> Cells:
        """Equal values are added up, and those without mass left out."""
        distinct, where = np.unique(values, return_inverse=True)
        total = np.bincount(where.ravel(), shares)
        there = total > 0
        return cls(distinct[there], total[there] / total.sum(), rounded)

    def parts(self, experiments: int, n: int) -> list[int]:
        """How many samples of n pairs are drawn at a time."""
        del n
        return portions(experiments, self.values.size)

    def rejected(
        self, rng: np.random.Generator, part: int, n: int, alpha: float, alternative: str
    ) -> int:
        """How many of so many samples of n pairs the exact test rejects."""
        counts = rng.multinomial(n, self.shares, size=part)
        p, unknown = self.bounds(counts, alpha, alternative)
        p[unknown] = law_pvalues(self.values, counts[unknown], alternative)
        return rejections(p, alpha)

    def bounds(
        self, counts: Ints, alpha: float, alternative: str
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Bounds of p that are on one side of alpha as p is, and for which samples there are none.

        With z^2 the square of the sum over the sum of squares, the tail of a sum with random signs
        is at most exp(-z^2 / 2) (Hoeffding), and both tails are at least (1 - z^2)^2 / 3 for z < 1
        (Paley and Zygmund, as the fourth moment is at most three times the squared variance).
        """
        lead, squares = counts @ self.values, counts @ self.values**2
        z2 = lead.astype(np.float64) ** 2 / np.maximum(squares, 1)
        two = alternative == "two-sided"
        along = lead > 0 if alternative == "greater" else lead < 0
        small = np.where(along | two, (2 if two else 1) * np.exp(-np.minimum(z2, 700.0) / 2), 1.0)
        large = np.maximum(1.0 - z2, 0.0) ** 2 / (3 if two else 6)
        large = np.where(along | two, large, 0.5)
        below, above = small <= alpha, ~rejects(large * (1 - NEAR), alpha)
        return np.where(below, small, large), ~(below | above)


@dataclass(frozen=True, eq=False)
class Signs:
    """How probable it is that a pair is lost, tied and won: all that the sign test looks at."""

    shares: Floats

    def parts(self, experiments: int, n: int) -> list[int]:
        """How many samples of n pairs are drawn at a time."""
        del n
        return portions(experiments, self.shares.size)

    def rejected(
        self, rng: np.random.Generator, part: int, n: int, alpha: float, alternative: str
    ) -> int:
        """How many of so many samples of n pairs the sign test rejects."""
        lost, _, won = rng.multinomial(n, self.shares, size=part).T
        return rejections(binomial_pvalue(won, lost, alternative), alpha)


def mean_of(steps: NDArray[Any], counts: Ints, scale: int) -> Fraction:
    """The mean of `steps` / `scale`, of which there are `counts`."""
    total = sum(d * c for d, c in zip(steps.tolist(), counts.tolist(), strict=True))
    return Fraction(total, scale * sum(counts.tolist()))
