"""Upper tail probabilities of T, accurate relative to themselves.

A tail is a sum of cells. What can go wrong is the size of those cells: an FFT is accurate to
1e-16 absolutely, and a float64 holds nothing below 5e-324. Exponential tilting (Keich 2005) moves
the mass next to the tail before convolving, and the tilt is undone in closed form:

    P(T = t) = exp(K(tau) - tau t) P_tau(T = t),  K(tau) = sum_k c_k log((1 + exp(tau w_k)) / 2).
"""

from __future__ import annotations

from math import exp, fsum, log, log1p, sinh, tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest.null.dp import dp_cells
from permtest.null.fft import EPS, fft_cells
from permtest.null.grouping import TwoPointSum

#: Below this, a sum of float64 cells may have lost some of them to underflow.
UNDERFLOW = 1e-280


class Probability(NamedTuple):
    """A probability, its natural logarithm, and a bound on the relative error of the former.

    `value` is never 0: what is smaller than any float64 becomes the smallest one, and `log`
    still has the digits.
    """

    value: float
    log: float
    error_bound: float

    @classmethod
    def of(cls, value: float, error_bound: float) -> Probability:
        """From a positive float."""
        value = min(value, 1.0)
        return cls(value, log(value), error_bound)

    @classmethod
    def of_log(cls, log_value: float, error_bound: float) -> Probability:
        """From a logarithm, of which exp amplifies the rounding."""
        log_value = min(log_value, 0.0)
        value = max(exp(log_value), float(np.nextafter(0.0, 1.0)))
        return cls(value, log_value, error_bound + EPS * (2 + abs(log_value)))

    def doubled(self) -> Probability:
        """Twice the probability, at most 1."""
        if self.value > UNDERFLOW:
            return Probability.of(2 * self.value, self.error_bound)
        return Probability.of_log(self.log + log(2.0), self.error_bound)


CERTAIN = Probability(1.0, 0.0, 0.0)


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
    rounding = EPS * (law.n_informative + 16)
    tail = float(np.sum(dp_cells(law)[t0:]))
    if tail > UNDERFLOW:
        return Probability.of(tail, rounding)
    tau = tilt_to(law, t0)
    tail = float(dp_cells(law.tilted(tau))[t0:] @ _undo(law, t0, tau))
    return Probability.of_log(_log_scale(law, t0, tau) + log(tail), 4 * rounding)


def tail_fft(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by FFT convolution of the tilted law; arguments as in `tail_dp`."""
    if t0 <= 0:
        return CERTAIN
    if t0 == law.top:  # the one labelling in which every entry moves
        return Probability.of_log(-law.n_informative * log(2.0), EPS)
    tau = tilt_to(law, t0)
    cells, error = fft_cells(law.tilted(tau))
    undo = _undo(law, t0, tau)
    tail = float(cells[t0:] @ undo)
    error *= float(np.linalg.norm(undo)) / tail
    return Probability.of_log(_log_scale(law, t0, tau) + log(tail), error + 16 * EPS)


def log_cells(law: TwoPointSum) -> NDArray[np.float64]:
    """log P(T = t) on all cells, each accurate relative to P, far below what a float64 can hold.

    Tilts step from the centre to the upper end: each gives the cells around its own mean, and
    the lower half follows by symmetry. Cells that cannot be reached are -inf.

    Parameters
    ----------
    law : TwoPointSum
        With equal probabilities to stay and to move.

    Returns
    -------
    ndarray of shape (top + 1,)
        Cost: one dynamic program for every 60 or so standard deviations.
    """
    logs = np.full(law.top + 1, -np.inf)
    reached = law.top // 2
    while True:
        tau = tilt_to(law, reached)
        cells = dp_cells(law.tilted(tau))
        new = np.flatnonzero(np.isinf(logs) & (cells > UNDERFLOW))
        shift = _log_scale(law, reached, tau)
        logs[new] = np.log(cells[new]) + shift - tau * (new - reached)
        if new.size == 0 or new[-1] == law.top:
            return np.asarray(np.maximum(logs, logs[::-1]))
        reached = int(new[-1])


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
    """K(tau) - tau t0, arranged so that nothing cancels.

    With y = tau w / 2 the terms log cosh(y) - y tanh(y) are all negative; what is left is the
    distance of t0 from the tilted mean, both measured from the centre.
    """
    entropy, reach = [], [law.top / 2 - t0]
    for width, count in zip(law.widths, law.counts, strict=True):
        y = tau * float(width) / 2
        entropy.append(int(count) * _log_cosh_minus_tilt(y))
        reach.append(int(count) * float(width) * tanh(y) / 2)
    return fsum(entropy) + tau * fsum(reach)


def _log_cosh_minus_tilt(y: float) -> float:
    """log(cosh(y)) - y tanh(y) for y >= 0."""
    if y < 1:
        return log1p(sinh(y) ** 2) / 2 - y * tanh(y)
    decay = exp(-2 * y)
    return log1p(decay) - log(2.0) + 2 * y * decay / (1 + decay)
