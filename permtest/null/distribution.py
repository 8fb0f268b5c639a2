"""A probability mass function on equally spaced integers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest._integers import IntArray
from permtest._jit import Floats


@dataclass(frozen=True, eq=False)
class LatticeDistribution:
    """The law of a random variable on offset, offset + unit, offset + 2 unit, ... over `scale`.

    One local entry, a partial sum and the whole null distribution all have this form, and
    ``f(z)`` reads as in the paper: the probability of z.

    Parameters
    ----------
    offset : int
        The smallest value.
    unit : int
        The distance between neighbouring values, at least 1.
    pmf : ndarray of shape (M,)
        Probabilities, float64. A cell between attainable values holds exactly 0. A probability
        below 5e-324, the smallest float64, rounds to 0 too: p-values never rely on such a cell.
    absolute_error : float, default 0
        0 if each probability is accurate relative to itself; otherwise what each may be off by.
    scale : int, default 1
        What `offset` and `unit` are divided by: 100 for the law of a sum with two decimals.
    log_cells : ndarray of shape (M,), optional
        Natural logarithms of the probabilities, where they are known better than from `pmf`.

    Examples
    --------
    >>> from permtest import pmf
    >>> f = pmf(stay=2, swap=-2)
    >>> f.support.tolist(), f.pmf.tolist(), f(2), f(0)
    ([-2, 2], [0.5, 0.5], 0.5, 0.0)
    """

    offset: int
    unit: int
    pmf: Floats
    absolute_error: float = 0.0
    scale: int = 1
    log_cells: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.unit < 1 or np.ndim(self.pmf) != 1 or np.size(self.pmf) == 0:
            raise ValueError(
                f"a LatticeDistribution needs unit >= 1 and a non-empty 1-D pmf, got "
                f"unit={self.unit} and a pmf of shape {np.shape(self.pmf)}"
            )
        frozen = np.array(self.pmf, dtype=np.float64, copy=None)
        frozen.flags.writeable = False
        object.__setattr__(self, "pmf", frozen)

    @cached_property
    def log_pmf(self) -> Floats:
        """Natural logarithms of the M probabilities, -inf where nothing can be.

        Where the law was made for it, as `null_distribution` is, they go on below 5e-324.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(self.pmf) if self.log_cells is None else self.log_cells.view()
        logs.flags.writeable = False
        return np.asarray(logs)

    @cached_property
    def support(self) -> NDArray[Any]:
        """The M values, ascending: int64 (Python integers beyond its range), or floats."""
        cells = np.arange(self.pmf.size)
        span = self.unit * (self.pmf.size - 1)
        if max(abs(self.offset), abs(self.offset + span), span) >= 2**63:
            cells = cells.astype(object)
        values = self.offset + self.unit * cells
        return values if self.scale == 1 else np.asarray(values / self.scale, dtype=np.float64)

    def value(self, cell: int) -> float:
        """The value in a cell, 0 being the lowest; an integer unless there are decimals."""
        total = self.offset + self.unit * cell
        return total if self.scale == 1 else total / self.scale

    @property
    def step(self) -> float:
        """The distance between neighbouring values; an integer unless there are decimals."""
        return self.unit if self.scale == 1 else self.unit / self.scale

    def __call__(self, z: float) -> float:
        """The probability of the single value z; 0 if no labelling gives it."""
        if z != z or abs(z) == inf:
            return 0.0
        # A float stands for the decimal that it is printed as, as it does in scores.
        cell, rest = divmod(Fraction(str(z)) * self.scale - self.offset, self.unit)
        return float(self.pmf[int(cell)]) if rest == 0 and 0 <= cell < self.pmf.size else 0.0

    def cdf(self, x: ArrayLike) -> Any:
        """P(S <= x), summed from the left so that small values stay accurate.

        x is a number or an array of any shape; where it is NaN, so is the result.
        """
        return self._at(self._below, x)

    def sf(self, x: ArrayLike) -> Any:
        """P(S > x), the survival function as SciPy defines it (strictly greater)."""
        return self._at(self._above, x)

    def quantile(self, q: ArrayLike) -> Any:
        """The smallest value whose cdf reaches q, for q in [0, 1]."""
        levels = np.asarray(q, dtype=float)
        if not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(f"q must lie in [0, 1], got {q!r}")
        cells = np.searchsorted(self._below[1:], np.minimum(levels, self._below[-1]))
        return self.support[cells]

    def mean(self) -> float:
        """The expectation, measured from the middle, where a symmetric law has it exactly."""
        middle = (self.pmf.size - 1) / 2
        shift = float((np.arange(self.pmf.size) - middle) @ self.pmf)
        return (self.offset + self.unit * middle + self.unit * shift) / self.scale

    def std(self) -> float:
        """The standard deviation."""
        cells = np.arange(self.pmf.size)
        return self.step * float(np.sqrt((cells - cells @ self.pmf) ** 2 @ self.pmf))

    @cached_property
    def _below(self) -> Floats:
        """P(S < cell i) for i = 0..M, summed from the left so that small values stay accurate."""
        return np.minimum(np.concatenate(([0.0], np.cumsum(self.pmf))), 1.0)

    @cached_property
    def _above(self) -> Floats:
        """P(S >= cell i) for i = 0..M, summed from the right."""
        return np.minimum(np.concatenate((np.cumsum(self.pmf[::-1])[::-1], [0.0])), 1.0)

    def _at(self, table: Floats, x: ArrayLike) -> Any:
        values = np.asarray(x)
        found = table[np.searchsorted(self.support, values, side="right")]
        found = np.where(values != values, np.nan, found)
        return float(found) if np.ndim(found) == 0 else found


def pmf(stay: int, swap: int) -> LatticeDistribution:
    """The law of one entry under the null hypothesis: stay or swap, each with probability 1/2.

    Parameters
    ----------
    stay : int
        g(u_n, v_n).
    swap : int
        g(v_n, u_n).

    Returns
    -------
    LatticeDistribution
        Two values, or one where both effects are equal (Eq. 4).

    Raises
    ------
    TypeError
        If an effect is not an integer.

    Examples
    --------
    >>> from permtest import pmf
    >>> pmf(3, -1).support.tolist(), pmf(3, 3).pmf.tolist()
    ([-1, 3], [1.0])
    """
    for name, effect in (("stay", stay), ("swap", swap)):
        if not hasattr(effect, "__index__"):
            raise TypeError(f"{name} = {effect!r} must be an integer")
    low, high = sorted((index(stay), index(swap)))
    if low == high:
        return LatticeDistribution(low, 1, np.ones(1))
    return LatticeDistribution(low, high - low, np.full(2, 0.5))


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """The law of m sums on the points that they can reach.

    Parameters
    ----------
    support : ndarray of shape (M, m)
        Values of the sums, integers; floats where they are differences of a user's metric.
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
    pmf: Floats
    parts: tuple[str, ...]
    absolute_error: float = 0.0

    def __post_init__(self) -> None:
        self.support.flags.writeable = False
        self.pmf.flags.writeable = False

    def __call__(self, *sums: int) -> float:
        """The probability that the sums are these; 0 if no labelling gives them."""
        found = (self.support == np.array(sums, dtype=self.support.dtype)).all(axis=1)
        return float(self.pmf[found].sum())

    def mean(self) -> Floats:
        """The expectations of the sums."""
        return np.asarray(self.pmf @ self.support.astype(np.float64) / self.pmf.sum())

    def cov(self) -> Floats:
        """The covariance matrix of the sums."""
        centred: Any = self.support.astype(np.float64) - self.mean()
        return np.asarray((centred * self.pmf[:, None]).T @ centred / self.pmf.sum())
