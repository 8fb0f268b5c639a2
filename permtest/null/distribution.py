"""Probabilities, and laws on equally spaced integers.

A probability is never 0 unless its event is impossible, and comes with its logarithm and a bound on
its relative error. A law gives P(S = offset + unit t) for t = 0, 1, ..., M - 1, as f(z) in the
paper; of several sums it lists the points that can be reached. `pmf` is the law of one entry under
the null hypothesis: stay or swap, each with probability 1/2 (Eq. 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import exp, inf, ldexp, log, log1p, log10
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest._integers import IntArray
from permtest._jit import Floats

EPS = float(np.finfo(np.float64).eps)

#: Below this a sum of float64 cells may have lost some to underflow, and logarithms take over.
UNDERFLOW = 1e-300
SMALLEST = float(np.nextafter(0.0, 1.0))


class Probability(NamedTuple):
    """A probability, its natural logarithm, and a bound on the relative error of the former.

    `value` is 0 for nothing but what is impossible: what is smaller than any float64 becomes the
    smallest one. Then `log` still has the digits, and `error_bound` speaks of its exponential.
    """

    value: float
    log: float
    error_bound: float

    @classmethod
    def of(cls, value: float, error_bound: float) -> Probability:
        """From a float above `UNDERFLOW`, or 0 for what is impossible."""
        if value == 0:
            return IMPOSSIBLE
        value = min(value, 1.0)
        return cls(value, log(value), error_bound)

    @classmethod
    def of_log(cls, log_value: float, error_bound: float) -> Probability:
        """From a logarithm with few roundings, which exp magnifies."""
        if log_value == -inf:
            return IMPOSSIBLE
        log_value = min(log_value, 0.0)
        value = max(exp(log_value), SMALLEST)
        return cls(value, log_value, error_bound + EPS * (2 + 2 * abs(log_value)))

    @classmethod
    def of_ratio(cls, count: int, exponent: int) -> Probability:
        """count / 2^exponent, rounded once."""
        if count == 0:
            return IMPOSSIBLE
        p = Fraction(count, 2**exponent)
        if p > UNDERFLOW:
            return cls.of(float(p), EPS / 2)
        return cls.of_log(log(count) - exponent * log(2.0), EPS * exponent)

    @classmethod
    def of_product(cls, high: float, low: float, factor: float, error_bound: float) -> Probability:
        """exp(high + low) * factor, `low` being a rounding of `high`, which is at most 0."""
        log_value = min(high + (low + log(factor)), 0.0)
        if log_value < log(UNDERFLOW):
            return cls(max(exp(log_value), SMALLEST), log_value, error_bound)
        # Half of the exponent at a time: exp(high) alone could underflow.
        value = exp(high / 2) * (1 + low) * factor * exp(high / 2)
        return cls(min(value, 1.0), log_value, error_bound + 4 * EPS)

    @property
    def log10(self) -> float:
        """The decimal logarithm; of `value` as it is printed, where that is above 1e-300."""
        return log10(self.value) if self.value > UNDERFLOW else self.log / log(10.0)

    def plus(self, other: Probability) -> Probability:
        """The probability of either of two events that exclude each other."""
        if other.value == 0:
            return self
        doubled = self.value == other.value  # which rounds nothing
        bound = max(self.error_bound, other.error_bound) + (0.0 if doubled else EPS)
        if max(self.value, other.value) > UNDERFLOW:
            return Probability.of(self.value + other.value, bound)
        high, low = max(self.log, other.log), min(self.log, other.log)
        return Probability.of_log(high + log1p(exp(low - high)), bound)

    def halved(self, times: int) -> Probability:
        """p / 2^times, exactly where that is above 1e-300."""
        value, log_value = ldexp(self.value, -times), self.log - times * log(2.0)
        if times == 0 or value > UNDERFLOW:
            return Probability(value, log_value, self.error_bound)
        return Probability.of_log(log_value, self.error_bound)

    def complement(self) -> Probability:
        """1 - p, for p at most about 1/2, where nothing cancels."""
        value = 1.0 - self.value
        return Probability.of(value, self.error_bound * self.value / value + EPS)


CERTAIN = Probability(1.0, 0.0, 0.0)
#: Not a p-value: of an event beyond the ends of the support.
IMPOSSIBLE = Probability(0.0, -inf, 0.0)


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
        cells = np.arange(self.pmf.size, dtype=np.int64)
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
