"""Upper tail probabilities of T, accurate relative to themselves.

A tail is a sum of cells. What can go wrong is the size of those cells: an FFT is accurate to
1e-16 absolutely, and a float64 holds nothing below 5e-324. Exponential tilting (Keich 2005) moves
the mass next to the tail before convolving, and the tilt is undone in closed form:

    P(T = t) = exp(K(tau) - tau t) P_tau(T = t),  K(tau) = sum_k c_k log((1 + exp(tau w_k)) / 2).
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import log

import numpy as np
from numpy.typing import NDArray

from permtest.null.dp import dp_cells, dp_rounding
from permtest.null.fft import fft_cells
from permtest.null.grouping import TwoPointSum
from permtest.null.probability import CERTAIN, UNDERFLOW, Probability

#: Forty digits: K(tau) and tau t0 may be a million times larger than their difference.
DIGITS = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN)


def tail_dp(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by dynamic programming; tilted only where plain cells would underflow.

    Parameters
    ----------
    law : TwoPointSum
        With equal probabilities to stay and to move.
    t0 : int
        At most ``law.top``.

    Returns
    -------
    Probability
    """
    if t0 <= 0:
        return CERTAIN
    tail = float(np.sum(dp_cells(law)[t0:]))
    if tail > UNDERFLOW:
        return Probability.of(tail, dp_rounding(law))
    tau = tilt_to(law, t0)
    tail = float(dp_cells(law.tilted(tau))[t0:] @ _undo(law, t0, tau))
    return Probability.of_log(_log_scale(law, t0, tau) + log(tail), 8 * dp_rounding(law))


def tail_fft(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by FFT convolution of the tilted law; arguments as in `tail_dp`."""
    if t0 <= 0:
        return CERTAIN
    if t0 == law.top:  # the one labelling in which every entry moves
        return Probability.of_log(-law.n_informative * log(2.0), 0.0)
    tau = tilt_to(law, t0)
    found, undo = fft_cells(law.tilted(tau)), _undo(law, t0, tau)
    tail = float(found.cells[t0:] @ undo)
    noise = found.noise * float(np.linalg.norm(undo)) / tail
    return Probability.of_log(_log_scale(law, t0, tau) + log(tail), found.relative + noise)


def tilt_to(law: TwoPointSum, t0: int) -> float:
    """tau >= 0 with tilted mean t0; any tau would be exact, this one puts the mass where it helps.

    The mean sum_k c_k w_k / (1 + exp(-tau w_k)) rises from top / 2 to top.
    """
    excess = t0 - law.top / 2
    if excess <= 0:
        return 0.0
    widths = law.widths.astype(np.float64)

    def reach(tau: float) -> float:
        return float(np.sum(law.counts * widths * np.tanh(tau * widths / 2)) / 2)

    low, high = 0.0, 1.0 / float(widths[-1])
    while reach(high) < excess and high * float(widths[0]) < 80:
        high *= 2
    for _ in range(48):
        middle = (low + high) / 2
        low, high = (middle, high) if reach(middle) < excess else (low, middle)
    return low


def _undo(law: TwoPointSum, t0: int, tau: float) -> NDArray[np.float64]:
    """exp(-tau s) for the cells t0 + s of the tail."""
    return np.asarray(np.exp(-tau * np.arange(law.top + 1 - t0)))


def _log_scale(law: TwoPointSum, t0: int, tau: float) -> float:
    """K(tau) - tau t0, in decimals because the two nearly cancel."""
    with localcontext(DIGITS):
        exact, total = Decimal(tau), Decimal(0)
        for width, count in zip(law.widths.tolist(), law.counts.tolist(), strict=True):
            total += count * ((1 + (exact * width).exp()) / 2).ln()
        return float(total - exact * t0)
