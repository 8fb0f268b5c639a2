"""The noncentral t distribution, for any size of sample and of effect."""

from __future__ import annotations

from functools import cache
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

#: Nodes of the quadrature, and how many standard deviations it spans on each side.
NODES, SPAN = 240, 12.0


def noncentral_t(t: float, df: float, shift: float) -> tuple[float, float]:
    """P(T <= t) and P(T > t) for T = (Z + shift) / S, Z normal and S^2 chi-squared over df.

    Parameters
    ----------
    t : float
    df : float
        At least 1.
    shift : float
        The noncentrality.

    Returns
    -------
    lower, upper : float
        To about 1e-12 absolutely, each computed as it is, not as what the other leaves.

    Notes
    -----
    One integral over the law of S, or of Z, whichever is wider against what it weighs: with an
    effect of t / sqrt(df) the edge of P(Z <= t S - shift | S) is that many times narrower than
    the law of S. Series of the incomplete beta function need as many terms as the shift is large,
    and SciPy's give up from about 10^4 on.
    """
    if t < 0:
        upper, lower = noncentral_t(-t, df, -shift)
        return lower, upper
    return _over_scale(t, df, shift) if t * t < df else _over_normal(t, df, shift)


def _over_scale(t: float, df: float, shift: float) -> tuple[float, float]:
    """E Phi(t S - shift), by a quadrature over S = 1 + u."""
    from scipy.special import ndtr

    spread = 1 / sqrt(2 * df)
    u, weights = _nodes(max(-SPAN * spread, -1.0), 1.5 * SPAN * spread)
    with np.errstate(divide="ignore"):
        logs = np.log1p(u)
    density = weights * np.exp(df * (logs - u - u * u / 2) - logs)
    density /= density.sum()  # which no gamma function of a large number has to scale
    x = t * (1 + u) - shift
    return float(density @ ndtr(x)), float(density @ ndtr(-x))


def _over_normal(t: float, df: float, shift: float) -> tuple[float, float]:
    """E P(S >= (Z + shift) / t), by a quadrature over Z; t is above 0."""
    from scipy.special import gammainc, gammaincc, ndtr

    first = max(-shift, -SPAN)  # below that the numerator is negative, and T < t for sure
    if first >= SPAN:
        return 1.0, 0.0
    z, weights = _nodes(first, SPAN)
    density = weights * np.exp(-z * z / 2) / sqrt(2 * np.pi)
    x = df / 2 * ((z + shift) / t) ** 2
    lower = float(density @ gammaincc(df / 2, x))
    return float(ndtr(-shift)) + lower, float(density @ gammainc(df / 2, x))


def _nodes(low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, weights = _legendre()
    half = (high - low) / 2
    return low + half * (x + 1), half * weights


@cache
def _legendre() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, weights = np.polynomial.legendre.leggauss(NODES)
    return x, weights


def noncentrality(t: float, df: float, probability: float) -> float:
    """The shift at which ``P(T <= t)`` is `probability`: an end of an interval for it.

    Parameters
    ----------
    t : float
        What was observed.
    df : float
    probability : float
        In (0, 1).

    Returns
    -------
    float
    """
    from scipy.optimize import brentq

    if not abs(t) < inf:
        raise ValueError(f"t={t} must be finite")

    def gap(shift: float) -> float:
        lower, upper = noncentral_t(t, df, shift)
        return lower - probability if probability < 0.5 else (1 - probability) - upper

    width = sqrt(1 + t * t / (2 * df))
    low, high = t - 2 * width, t + 2 * width
    while gap(low) < 0:
        low -= width
        width *= 2
    while gap(high) > 0:
        high += width
        width *= 2
    return float(brentq(gap, low, high, xtol=1e-13 * max(1.0, abs(t)), rtol=1e-14))
