"""From a comparison to the probability of its extreme cells, one function per method."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np

from permtest.comparison import Comparison
from permtest.null.distribution import LatticeDistribution
from permtest.null.dp import convolve_dp, dp_cells, dp_log_cells, dp_operations, dp_rounding
from permtest.null.enumeration import MAX_ENTRIES, enumerate_steps
from permtest.null.fft import convolve_fft, fft_cells
from permtest.null.grouping import MAX_CELLS, TwoPointSum
from permtest.null.integer import count_labellings
from permtest.null.probability import CERTAIN, EPS, UNDERFLOW, Probability
from permtest.null.tail import tail_dp, tail_fft

#: Cell updates and entries up to which dynamic programming is as fast, and as accurate, as the
#: FFT is for a tail.
DP_OPERATIONS = 5 * 10**7
DP_ENTRIES = 8000
#: Cell updates up to which it is preferred where all cells are wanted: the FFT has no relative
#: accuracy there.
DP_FOR_LAW = 2 * 10**9


def choose(comparison: Comparison) -> str:
    """The method that ``method="auto"`` stands for."""
    law = comparison.law
    if _few(law):
        return "enumeration"
    if law.top >= MAX_CELLS:
        return "dp"  # which says that it is too large
    operations = dp_operations(law)
    if comparison.tails is None:
        return "dp" if operations <= DP_FOR_LAW else "fft"
    small = operations <= DP_OPERATIONS and law.n_informative <= DP_ENTRIES
    return "dp" if small else "fft"


def null_distribution(law: TwoPointSum) -> LatticeDistribution:
    """The whole law, accurate relative to each cell unless that would take seconds."""
    return convolve_dp(law) if dp_operations(law) <= DP_FOR_LAW else convolve_fft(law)


def exact_fraction(comparison: Comparison) -> Fraction:
    """The p-value as a fraction of all labellings, in integer arithmetic."""
    law = comparison.law
    if _few(law):
        return Fraction(_count_extreme(comparison), 2**law.n_informative)
    counts = count_labellings(law)
    hits = sum(counts[t] for t in np.flatnonzero(comparison.extreme))
    return Fraction(hits, 2**law.n_informative)


def _few(law: TwoPointSum) -> bool:
    """Whether there are fewer labellings than cells."""
    return law.n_informative <= MAX_ENTRIES and 2**law.n_informative <= law.top


def _count_extreme(comparison: Comparison) -> int:
    """How many labellings of the informative entries are extreme, one by one."""
    sums, repeats = np.unique(enumerate_steps(comparison.law), return_counts=True)
    return int(repeats[comparison.reaches(sums)].sum())


def _enumeration(comparison: Comparison) -> Probability:
    return Probability.of(_count_extreme(comparison) / 2**comparison.law.n_informative, 0.0)


def _integer(comparison: Comparison) -> Probability:
    p = exact_fraction(comparison)
    if p > UNDERFLOW:
        return Probability.of(float(p), EPS / 2)
    log_p = log(p.numerator) - log(p.denominator)
    return Probability.of_log(log_p, EPS * log(p.denominator))


def _dp(comparison: Comparison) -> Probability:
    if comparison.tails is not None:
        return _tails(comparison.law, comparison.tails, tail_dp)
    law, extreme = comparison.law, comparison.extreme
    p = float(np.sum(dp_cells(law)[extreme]))
    if p > UNDERFLOW:
        return Probability.of(p, dp_rounding(law))
    logs = dp_log_cells(law)[extreme]
    return Probability.of_log(float(np.logaddexp.reduce(logs)), 2 * dp_rounding(law))


def _fft(comparison: Comparison) -> Probability:
    if comparison.tails is not None:
        return _tails(comparison.law, comparison.tails, tail_fft)
    found, extreme = fft_cells(comparison.law), comparison.extreme
    p, noise = float(np.sum(found.cells[extreme])), found.noise * float(np.sqrt(extreme.sum()))
    if p <= 2 * noise:
        raise ArithmeticError(
            f"p is below {2 * noise:.1g}, the absolute accuracy of method='fft' where h does not "
            "single out tails; method='dp' has relative accuracy"
        )
    return Probability.of(p, found.relative + noise / (p - noise))


def _tails(
    law: TwoPointSum, tails: tuple[int, int], tail: Callable[[TwoPointSum, int], Probability]
) -> Probability:
    """P(T <= lower or T >= upper); the null law is symmetric, so both are upper tails."""
    lower, upper = tails
    if upper - lower <= 1:
        return CERTAIN
    if lower < 0:
        return tail(law, upper)
    below = tail(law, law.top - lower)
    if upper > law.top:
        return below
    return below.plus(below if upper == law.top - lower else tail(law, upper))


#: How to solve, by the name of the method.
SOLVERS: dict[str, Callable[[Comparison], Probability]] = {
    "dp": _dp,
    "fft": _fft,
    "enumeration": _enumeration,
    "integer": _integer,
}
