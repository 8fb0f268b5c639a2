"""The log-odds of a Beta variable: density, tails, and the rule that integrates them.

In log-odds the density of Beta(a, b) is analytic and log-concave, so that the trapezoidal rule
converges exponentially. Densities are taken relative to their modes, as a log-beta constant costs
nine digits at counts of a million, and tails from whichever side is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, pi, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
LogFunction: TypeAlias = Callable[[Floats], Floats]

#: A density counts as 0 where it is so far (in logarithms) below its mode.
NEGLIGIBLE = 40.0

#: Steps of the trapezoidal rule in the width of the narrowest feature, and the longest one. The
#: error is exp(-2 pi^2 FINE^2) for a normal shape, and exp(-pi^2 / LONGEST) where there are no
#: misses: exp(-x - exp(-x)) is bounded only within pi / 2 of the real axis.
FINE, LONGEST = 2.0, 0.25

#: Logarithms below this are those of no float.
NOTHING = -760.0

#: Log-odds within which shapes are fine, and the width of the widest rule with equal steps.
CORE, FLAT = 40.0, 1000.0

#: Points at which a rule looks where its function is.
SCOUTS = 64

#: Beyond these log-odds a tail is the first term of its series, with all digits.
FAR = 650.0


def log_density(a: float, b: float, x: Floats) -> Floats:
    """Logarithm of the density at `x` of the log-odds of Beta(a, b)."""
    if a > b:  # so that what cancels is as small as it can be
        return log_density(b, a, -x)
    d = x - log(a / b)
    with np.errstate(invalid="ignore"):
        # log(1 + p (e^d - 1)), which from e^500 on grows as d does
        growth = np.log1p(a / (a + b) * np.expm1(np.minimum(d, 500))) + np.maximum(d - 500, 0)
        logs = a * d - (a + b) * growth
    return _log_height(a, b) + np.where(np.isinf(d), -inf, logs)


def bounds(a: float, b: float, left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The largest slope, without its sign, and curvature of `log_density` between two log-odds."""
    from scipy.special import expit

    slopes = (np.abs(a - (a + b) * expit(end)) for end in (left, right))
    nearest = np.clip(0.0, left, right)
    return np.maximum(*slopes), np.asarray((a + b) * expit(nearest) * expit(-nearest))


def log_tail(a: float, b: float, x: Floats) -> Floats:
    """Logarithm of P(log-odds of Beta(a, b) <= x), from whichever tail is smaller at x."""
    from scipy.special import betainc, betaincc, betaln, expit

    left, away = x < 0, np.abs(x)
    parameter, near = np.where(left, a, b), np.asarray(expit(-away))
    near[left], near[~left] = betainc(a, b, near[left]), betaincc(b, a, near[~left])
    with np.errstate(divide="ignore", under="ignore"):
        near = np.log(near)
        tail = -parameter * away - np.log(parameter) - betaln(a, b)
        far = np.where(left, tail, np.log1p(-np.exp(np.minimum(tail, 0))))
    return np.asarray(np.where(away > FAR, far, near))


def support(a: float, b: float) -> tuple[float, float]:
    """Log-odds beyond which the density of Beta(a, b) is less than e^-750 times its largest."""
    middle = log(a / b)
    return middle - _reach(a, b), middle + _reach(b, a)


def trapezoid(
    function: LogFunction,
    low: ArrayLike,
    high: ArrayLike,
    bend: LogFunction,
) -> tuple[Floats, Floats]:
    """Nodes and weights (density included) of the trapezoidal rule for log-concave densities.

    Parameters
    ----------
    function : callable
        Logarithm of the density, analytic near the real axis; of nodes in the last axis.
    low, high : array_like of shape (...)
        Beyond them it need not be looked at. Each pair is an integral of its own.
    bend : callable
        About the largest -function'' between neighbouring nodes, of which there is one more.

    Returns
    -------
    ndarray, ndarray of shape (..., nodes)
        The sum of their products is the integral, to about 1e-15 of its value: the error of the
        rule falls exponentially with 1 / step for analytic functions.
    """
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    while True:
        left, right, peak = _seen(function, low, high)
        wide = right - left > (high - low) / 2
        if wide.all():
            break
        low, high = np.where(wide, low, left), np.where(wide, high, right)
    gap = (high - low) / (SCOUTS - 1)  # an end may be as far out
    if np.max(gap, initial=0.0) > LONGEST:
        left = _seen(function, left, left + gap, peak)[0]
        right = _seen(function, right - gap, right, peak)[1]
    with np.errstate(divide="ignore"):
        most = bend(np.linspace(left, right, SCOUTS, axis=-1)).max(axis=-1)
        longest = np.minimum(1 / (FINE * np.sqrt(most)), LONGEST)
    longest = np.where(peak < NOTHING, right - left, longest)
    if np.max(right - left, initial=0.0) <= FLAT:
        x, step = _nodes(left, right, longest)
        return x, np.exp(function(x)) * step
    # Far out there is but a slow exponential: steps of x = C sinh u grow with x.
    u, step = _nodes(np.arcsinh(left / CORE), np.arcsinh(right / CORE), longest / (2 * CORE))
    x = CORE * np.sinh(u)
    return x, np.exp(function(x)) * CORE * np.cosh(u) * step


def _seen(
    function: LogFunction, low: Floats, high: Floats, peak: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Scouts just outside of the part that is not negligible, and the highest value at any."""
    x = np.linspace(low, high, SCOUTS, axis=-1)
    logs = function(x)
    top = logs.max(axis=-1) if peak is None else peak
    seen = logs > top[..., None] - NEGLIGIBLE
    first = np.maximum(seen.argmax(axis=-1) - 1, 0)
    last = SCOUTS - 1 - np.maximum(seen[..., ::-1].argmax(axis=-1) - 1, 0)
    left, right = (np.take_along_axis(x, k[..., None], -1)[..., 0] for k in (first, last))
    return left, right, top


def _nodes(left: Floats, right: Floats, longest: Floats) -> tuple[Floats, Floats]:
    """Equally spaced nodes for each integral, as many for all, and their distances."""
    steps = int(np.max((right - left) / longest, initial=1.0)) + 1
    return np.linspace(left, right, steps + 1, axis=-1), ((right - left) / steps)[..., None]


def gauss(nodes: Floats, weights: Floats, most: int) -> tuple[Floats, Floats]:
    """The Gauss rule with `most` nodes for a discrete law, or the law itself if it has no more.

    By the method of Lanczos, with every vector orthogonalised against all before it.
    """
    from scipy.linalg import eigh_tridiagonal

    if nodes.size <= most:
        return nodes, weights
    basis, diagonal, beside = np.zeros((most, nodes.size)), np.zeros(most), np.zeros(most)
    vector = np.sqrt(weights)
    for k in range(most):
        beside[k] = np.linalg.norm(vector)
        basis[k] = vector / beside[k]
        vector = nodes * basis[k]
        diagonal[k] = basis[k] @ vector
        for _ in range(2):  # once leaves roundings
            vector = vector - basis[: k + 1].T @ (basis[: k + 1] @ vector)
    found, vectors = eigh_tridiagonal(diagonal, beside[1:])
    shares = vectors[0] ** 2
    return found, shares / shares.sum()


def _reach(towards: float, other: float) -> float:
    """How far from its mode, in log-odds, a density falls by e^-750 on the side of `towards`."""
    total = towards + other
    spread = sqrt(total / (towards * other))
    return 750 / towards + 40 * spread + log(total / towards) + 1


def _log_height(a: float, b: float) -> float:
    """Logarithm of the density of the log-odds of Beta(a, b) at its mode."""
    stirling = _remainder(a + b) - _remainder(a) - _remainder(b)
    return 0.5 * log(a / (a + b) * b / (2 * pi)) + stirling


def _remainder(x: float) -> float:
    """log Gamma(x) less Stirling's (x - 1/2) log x - x + log(2 pi) / 2, without cancellation."""
    from scipy.special import gammaln

    if x < 15:
        return float(gammaln(x)) - ((x - 0.5) * log(x) - x + 0.5 * log(2 * pi))
    square = 1 / (x * x)
    series = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
    return float(np.polyval(series[::-1], square)) / x
