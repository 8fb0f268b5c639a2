"""From a comparison to the probability of its extreme cells, one function per method."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np
from numpy.typing import NDArray

from permtest.comparison import Comparison
from permtest.null.distribution import LatticeDistribution
from permtest.null.dp import convolve_dp, dp_cells, dp_operations
from permtest.null.enumeration import MAX_ENTRIES, enumerate_steps
from permtest.null.fft import EPS, convolve_fft, fft_cells
from permtest.null.grouping import MAX_CELLS, TwoPointSum
from permtest.null.integer import count_labellings
from permtest.null.tail import CERTAIN, UNDERFLOW, Probability, log_cells, tail_dp, tail_fft

#: Cell updates up to which dynamic programming is preferred to the FFT: it is as fast there, and
#: its bound is tighter. A whole law with any `h` needs its relative accuracy for longer.
DP_FOR_TAIL = 5 * 10**7
DP_FOR_LAW = 10**10


def choose(comparison: Comparison) -> str:
    """The method that ``method="auto"`` stands for."""
    law = comparison.law
    if law.n_informative <= MAX_ENTRIES and 2**law.n_informative <= law.top:
        return "enumeration"
    limit = DP_FOR_TAIL if comparison.h is None else DP_FOR_LAW
    return "dp" if law.top >= MAX_CELLS or dp_operations(law) <= limit else "fft"


def null_distribution(law: TwoPointSum) -> LatticeDistribution:
    """The whole law, accurate relative to each cell unless that would take seconds."""
    return convolve_dp(law) if dp_operations(law) <= 20 * DP_FOR_TAIL else convolve_fft(law)


def exact_fraction(comparison: Comparison) -> Fraction:
    """The p-value as a fraction of all labellings, in integer arithmetic."""
    law = comparison.law
    counts = count_labellings(law)
    extreme = np.flatnonzero(comparison.extreme())
    return Fraction(sum(counts[t] for t in extreme), 2**law.n_informative)


def _dp(comparison: Comparison) -> Probability:
    if comparison.h is None:
        return _from_tail(comparison, tail_dp)
    law, extreme = comparison.law, comparison.extreme()
    rounding = EPS * (law.n_informative + 16)
    p = float(np.sum(dp_cells(law)[extreme]))
    if p > UNDERFLOW:
        return Probability.of(p, rounding)
    logs = log_cells(law)[extreme]
    return Probability.of_log(float(np.logaddexp.reduce(logs)), 4 * rounding)


def _fft(comparison: Comparison) -> Probability:
    if comparison.h is None:
        return _from_tail(comparison, tail_fft)
    cells, error = fft_cells(comparison.law)
    extreme = comparison.extreme()
    p, error = float(np.sum(cells[extreme])), error * float(np.sqrt(np.sum(extreme)))
    if p <= 2 * error:
        raise ArithmeticError(
            f"p is below {2 * error:.1g}, the absolute accuracy of method='fft' with a general h; "
            "method='dp' has relative accuracy"
        )
    return Probability.of(p, error / (p - error))


def _enumeration(comparison: Comparison) -> Probability:
    sums, repeats = np.unique(enumerate_steps(comparison.law), return_counts=True)
    count = int(repeats[comparison.reaches(sums)].sum())
    return Probability.of(count / 2**comparison.law.n_informative, 0.0)


def _integer(comparison: Comparison) -> Probability:
    p = exact_fraction(comparison)
    if p > UNDERFLOW:
        return Probability.of(float(p), EPS / 2)
    return Probability.of_log(log(p.numerator) - log(p.denominator), EPS * log(p.denominator))


def _from_tail(
    comparison: Comparison, tail: Callable[[TwoPointSum, int], Probability]
) -> Probability:
    """The null law is symmetric about its centre, so one upper tail serves all alternatives."""
    law = comparison.law
    lower, upper = comparison.thresholds
    if upper - lower <= 1:
        return CERTAIN
    if comparison.alternative == "greater":
        return tail(law, upper)
    one_tail = tail(law, law.top - lower)
    return one_tail.doubled() if comparison.alternative == "two-sided" else one_tail


#: How to solve, by the name of the method.
SOLVERS: dict[str, Callable[[Comparison], Probability]] = {
    "dp": _dp,
    "fft": _fft,
    "enumeration": _enumeration,
    "integer": _integer,
}


def sampled_distribution(
    law: TwoPointSum, cells: NDArray[np.int64], counts: NDArray[np.int64]
) -> LatticeDistribution:
    """The relative frequencies of sampled cells, on the whole lattice."""
    law.check_size("the sampled distribution")
    frequencies = np.zeros(law.top + 1)
    frequencies[cells.astype(np.int64)] = counts / counts.sum()
    return law.distribution(frequencies)
