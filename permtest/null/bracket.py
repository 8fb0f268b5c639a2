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
from permtest.null.tail import TooHard, attempts, tail_tilted

#: Steps of the lattice in the largest width, tried in turn.
FINENESS = (2**12, 2**15, 2**17)
#: How narrow a bracket has to be, relative to p, for the next step not to be tried.
NARROW = 2e-4
#: Probability, relative to that of the tail, that rounding moves T by more than is allowed for.
NEGLIGIBLE = 1e-9
#: How many cells dynamic programming may update for each step: a second.
PATIENCE = 10**9


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
            low, high = _on_lattice(law, t0, fineness, None if best is None else best[1].log)
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


def _on_lattice(
    law: TwoPointSum, t0: int, fineness: int, log_p: float | None
) -> tuple[Probability, Probability]:
    """Bounds from widths rounded to multiples of h, the largest width over `fineness`.

    T / h = K + R, where K has the rounded widths, and R, of mean sum r / 2, deviates from it by
    more than epsilon in either direction with probability exp(-2 epsilon^2 / sum r^2) at most.
    Any guess of log p makes the bounds valid, a close one makes them narrow.
    """
    largest = int(law.widths[-1])
    rounded = [(2 * fineness * w + largest) // (2 * largest) for w in law.widths.tolist()]
    entries = zip(law.widths.tolist(), rounded, law.counts.tolist(), strict=True)
    residues = [(fineness * w - largest * k, c) for w, k, c in entries]  # r times `largest`
    cut = Fraction(2 * fineness * t0 - sum(c * r for r, c in residues), 2 * largest)
    square = float(Fraction(sum(c * r * r for r, c in residues), largest**2))
    coarse = from_widths(law.n, *add_counts(np.array(rounded), law.counts))
    least = -law.n_informative * log(2.0)
    guess = max(_tail(coarse, ceil(cut)).log if log_p is None else log_p, least)
    slack = -guess - log(NEGLIGIBLE)
    reach = Fraction(sqrt(square * slack / 2) * (1 + 1e-9))
    low, high = _tail(coarse, ceil(cut + reach)), _tail(coarse, ceil(cut - reach))
    return _moved(low, -1, -slack, least), _moved(high, 1, -slack, least)


def _tail(coarse: TwoPointSum, threshold: int) -> Probability:
    """P(K >= threshold)."""
    t0 = -(-threshold // coarse.unit)
    for _, tail in attempts(coarse, t0, PATIENCE):
        try:
            return tail(coarse, t0)
        except TooHard:
            continue
    raise TooHard("the lattice is too fine")


def _moved(tail: Probability, sign: int, log_negligible: float, least: float) -> Probability:
    """Add (or take off) the rounding of the tail and the negligible probability.

    No p is below `least`: the observed labelling is one of those counted.
    """
    off = sign * exp(log_negligible - max(tail.log, log_negligible)) + sign * tail.error_bound
    if tail.log <= log_negligible:
        log_value = log(2.0) + log_negligible if sign > 0 else least
    else:
        log_value = tail.log + log1p(off) if off > -1 else least
    log_value = min(max(log_value, least), 0.0)
    return Probability(max(exp(log_value), SMALLEST), log_value, 0.0)
