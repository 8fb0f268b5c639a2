"""Bounds that contain a tail probability whose lattice is too large to be exact on.

Widths are rounded to multiples of a step h. What rounding does to T is a sum of small independent
terms, which Hoeffding's inequality bounds; so the tail of the rounded sum, at a threshold moved by
that much either way, brackets the tail of T.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, log, log1p, sqrt

import numpy as np

from permtest.null.grouping import TwoPointSum, add_counts, from_widths
from permtest.null.probability import SMALLEST, Probability
from permtest.null.tail import TooHard, tail_tilted

#: Steps of the lattice in the largest width, tried in turn.
FINENESS = (2**10, 2**13, 2**16, 2**18)
#: How narrow a bracket has to be, relative to p, for the next step not to be tried.
NARROW = 1e-4
#: Probability, relative to that of the tail, that rounding moves T by more than is allowed for.
NEGLIGIBLE = 1e-9
#: How many widths `tail_tilted` may look at for each step: half a second.
PATIENCE = 10**8


def tail_bracket(law: TwoPointSum, t0: int) -> tuple[Probability, Probability]:
    """A lower and an upper bound of P(T >= t0).

    Parameters
    ----------
    law : TwoPointSum
        With equal probabilities to stay and to move; widths of any size.
    t0 : int

    Returns
    -------
    low, high : Probability
        The bounds hold with certainty; their `error_bound` has been added to them.

    Raises
    ------
    TooHard
        If not even the coarsest lattice can be computed on.
    """
    if 0 < t0 <= law.top - t0:
        low, high = tail_bracket(law, law.top - t0 + 1)
        return high.complement(), low.complement()
    if not 0 < t0 < law.top:
        return tail_tilted(law, t0), tail_tilted(law, t0)
    best: tuple[Probability, Probability] | None = None
    for fineness in FINENESS:
        try:
            low, high = _on_lattice(law, t0, Fraction(int(law.widths[-1]), fineness))
        except TooHard:
            break
        if best is None or high.log - low.log < best[1].log - best[0].log:
            best = low, high
        if best[1].log - best[0].log < NARROW:
            break
    if best is None:
        raise TooHard(
            f"no bounds could be had for {law.n_informative:,} differing pairs; monte_carlo gives "
            "an estimate with an interval"
        )
    return best


def _on_lattice(law: TwoPointSum, t0: int, step: Fraction) -> tuple[Probability, Probability]:
    """Bounds from widths rounded to multiples of `step`.

    T = step K + R, where K has the rounded widths, and R, of mean sum r / 2, deviates from it by
    more than epsilon in either direction with probability exp(-2 epsilon^2 / sum r^2) at most.
    """
    rounded = [round(int(w) / step) for w in law.widths]
    residues = [int(w) - step * k for w, k in zip(law.widths, rounded, strict=True)]
    counts = law.counts.tolist()
    drift = sum((c * r for c, r in zip(counts, residues, strict=True)), Fraction(0)) / 2
    square = float(sum(c * r * r for c, r in zip(counts, residues, strict=True)))
    coarse = _merge(law, rounded)
    cut = (t0 - drift) / step
    guess = _tail(coarse, ceil(cut))
    slack = -guess.log - log(NEGLIGIBLE)
    reach = Fraction(sqrt(square * slack / 2) * (1 + 1e-9)) / step
    least = -law.n_informative * log(2.0)
    low, high = _tail(coarse, ceil(cut + reach)), _tail(coarse, ceil(cut - reach))
    return _moved(low, -1, -slack, least), _moved(high, 1, -slack, least)


def _merge(law: TwoPointSum, rounded: list[int]) -> TwoPointSum:
    """The law of K: rounded widths, some of which are equal now."""
    return from_widths(law.n, *add_counts(np.array(rounded), law.counts))


def _tail(coarse: TwoPointSum, threshold: int) -> Probability:
    """P(K >= threshold)."""
    return tail_tilted(coarse, -(-threshold // coarse.unit), PATIENCE)


def _moved(tail: Probability, sign: int, log_negligible: float, least: float) -> Probability:
    """Add (or take off) the rounding of the tail and the negligible probability."""
    off = tail.error_bound + exp(min(log_negligible - tail.log, 0.0))
    log_value = tail.log + log1p(sign * off) if off < 1 or sign > 0 else least
    log_value = min(max(log_value, least), 0.0)
    return Probability(max(exp(log_value), SMALLEST), log_value, 0.0)
