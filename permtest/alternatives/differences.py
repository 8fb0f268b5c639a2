"""The posterior distribution of the difference of one metric of two models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest._rng import RNG, as_generator
from permtest.alternatives.log_odds import NOTHING, Floats, trapezoid
from permtest.alternatives.metric_posterior import MetricPosterior, Posterior

Bounds = Callable[[Floats], tuple[Floats, Floats]]

#: Integrals that are made at a time.
ROWS = 1024

#: Steps of Newton's method, at most; some five are the rule.
NEWTON = 200


@dataclass(frozen=True, eq=False)
class DifferencePosterior(Posterior):
    """What is known of the metric of model B minus that of model A, from -1 to 1.

    The two posteriors are taken for independent. Where both models were judged on the same items
    that is conservative: mistakes that they share widen the difference though they cancel in it.

    Parameters
    ----------
    b, a : MetricPosterior
        Of the model that is asked about, and of the one that it is held against.

    Notes
    -----
    Every value is one quadrature by the trapezoidal rule, whose error falls exponentially with the
    number of nodes here: about 1e-13 of either tail (for F-scores other than F1 absolutely, not
    relative to small tails). Cost: about a millisecond for one value, a twentieth of that for each
    of many, ten for an interval; thirty times as much for F-scores other than F1.

    Examples
    --------
    >>> from permtest.alternatives import DifferencePosterior, posterior
    >>> lead = DifferencePosterior(b=posterior([95, 9, 15]), a=posterior([90, 10, 20]))
    >>> low, high = lead.interval(0.9)
    >>> round(lead.mean(), 3), round(low, 3), round(high, 3)
    (0.03, -0.027, 0.088)
    >>> round(float(lead.sf(0)), 4)
    0.8086
    """

    b: MetricPosterior
    a: MetricPosterior

    def sf(self, difference: ArrayLike) -> Any:
        """P(B - A > difference)."""
        return _by_sign(
            difference, partial(exceeds, self.b, self.a), partial(reaches, self.b, self.a)
        )

    def cdf(self, difference: ArrayLike) -> Any:
        """P(B - A <= difference)."""
        return _by_sign(
            difference, partial(reaches, self.a, self.b), partial(exceeds, self.a, self.b)
        )

    def pdf(self, difference: ArrayLike) -> Any:
        """Probability density at `difference`; 0 outside of (-1, 1)."""
        ahead, behind = partial(_density, self.b, self.a), partial(_density, self.a, self.b)
        return _by_sign(difference, ahead, behind)

    def _ends(self, tail: float) -> tuple[float, float]:
        """Both at once, which takes half as many quadratures."""
        low, high = self._quantile(np.full(2, tail), np.array([False, True]))
        return float(low), float(high)

    def mean(self) -> float:
        """The expected difference."""
        return self.b.mean() - self.a.mean()

    def var(self) -> float:
        """The variance."""
        return self.b.var() + self.a.var()

    def rvs(self, size: int | tuple[int, ...] | None = None, *, rng: RNG = None) -> Any:
        """Random differences, an array of shape `size`; a single one by default."""
        generator = as_generator(rng)
        return self.b.rvs(size, rng=generator) - self.a.rvs(size, rng=generator)

    def __str__(self) -> str:
        low, high = self.interval()
        return (
            f"{self.b.metric} of B less that of A: {self.mean():.4g}, 95% {low:.4g} to {high:.4g}"
        )

    def _quantile(self, q: Floats, upper: NDArray[np.bool_] | bool) -> Any:
        """Where the smaller tail has its probability, by Newton's method for its logarithm.

        The logarithms of both tails are concave, so that it converges from any side; it is halved
        where it would leave its bracket.
        """
        from scipy.special import ndtri

        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            right = ((q > 0.5) != upper).ravel()  # the tail that is looked at is the upper one
            target = np.where(q > 0.5, 1 - q, q).ravel()
            low, high = np.full(target.shape, -1.0), np.full(target.shape, 1.0)
            sign = np.where(right, -1.0, 1.0)
            x = np.clip(self.mean() + sign * ndtri(target) * self.std(), low, high)
            for _ in range(NEWTON):
                tail = np.empty(x.shape)
                tail[right], tail[~right] = self.sf(x[right]), self.cdf(x[~right])
                gap = sign * np.log(tail / target)
                low, high = np.where(gap < 0, x, low), np.where(gap > 0, x, high)
                density = self.pdf(x)
                moved = x - gap * tail / density
                # It may be infinite at 0.
                inside = (moved >= low) & (moved <= high) & np.isfinite(density)
                moved = np.where(gap == 0, x, np.where(inside, moved, (low + high) / 2))
                done = np.nanmax(np.abs(moved - x), initial=0.0) <= 1e-12 * self.std() + 1e-15
                x = moved
                if done:
                    break
            else:
                raise ArithmeticError("the search for a quantile of the difference did not settle")
            ends = np.where(target == 0, -sign, x)
        return np.where((target >= 0) & (target <= 1), ends, nan).reshape(q.shape)[()]


def exceeds(upper: MetricPosterior, lower: MetricPosterior, margin: Floats) -> Floats:
    """P(upper > lower + margin) for independent metrics and margins >= 0, by quadrature.

    The integral of the narrower density times the tail of the other one.
    """
    if upper.spread < lower.spread:  # P(1 - lower > 1 - upper + margin)
        return exceeds(lower.mirrored, upper.mirrored, margin)

    def integrand(change: _Change, y: Floats) -> Floats:
        tail = upper.log_odds_logsf(change.shifted(y))
        return lower.log_odds_logpdf(change.plain(y)) + tail - change.per_plain(y)

    def bend(change: _Change, y: Floats) -> Floats:
        return change.bend(y, lower.bounds, partial(upper.bounds, tail=True))

    change = _Change.of(margin)
    low, high = (change.from_plain(end) for end in lower.log_odds_support)
    high = np.minimum(high, change.from_shifted(upper.log_odds_support[1]))
    return np.minimum(_integrals(integrand, bend, change, low, high), 1.0)


def reaches(upper: MetricPosterior, lower: MetricPosterior, margin: Floats) -> Floats:
    """P(upper > lower - margin), likewise: certain where lower <= margin, else by quadrature."""
    if upper.spread < lower.spread:
        return reaches(lower.mirrored, upper.mirrored, margin)

    def integrand(change: _Change, y: Floats) -> Floats:
        tail = upper.log_odds_logsf(change.plain(y))
        return lower.log_odds_logpdf(change.shifted(y)) + tail - change.per_shifted(y)

    def bend(change: _Change, y: Floats) -> Floats:
        return change.bend(y, partial(upper.bounds, tail=True), lower.bounds)

    change = _Change.of(margin)
    low, high = (change.from_shifted(end) for end in lower.log_odds_support)
    # Below a margin the integrand falls as e^y; without one there is nothing below the support.
    floor = np.where(margin > 0, change.offset + NOTHING, lower.log_odds_support[0])
    low = np.maximum(low, floor)
    high = np.minimum(high, change.from_plain(upper.log_odds_support[1]))
    found = lower.cdf(margin) + _integrals(integrand, bend, change, low, high)
    return np.asarray(np.minimum(found, 1.0))


def _density(upper: MetricPosterior, lower: MetricPosterior, difference: Floats) -> Floats:
    """The density of upper - lower at differences >= 0."""

    def integrand(change: _Change, y: Floats) -> Floats:
        x = change.shifted(y)
        per_value = 2 * np.logaddexp(0, x) - x  # of d log-odds / d value
        both = lower.log_odds_logpdf(change.plain(y)) + upper.log_odds_logpdf(x)
        return both + per_value - change.per_plain(y)

    def bend(change: _Change, y: Floats) -> Floats:
        return change.bend(y, lower.bounds, upper.bounds)

    change = _Change.of(difference)
    low, high = (change.from_plain(end) for end in lower.log_odds_support)
    high = np.minimum(high, change.from_shifted(upper.log_odds_support[1]))
    found = _integrals(integrand, bend, change, low, high)
    pole = min(lower.a + upper.a, lower.b + upper.b) <= 1
    return np.where((difference == 0) & pole, inf, found)


def _integrals(
    integrand: Callable[[_Change, Floats], Floats],
    bend: Callable[[_Change, Floats], Floats],
    change: _Change,
    low: Floats,
    high: Floats,
) -> Floats:
    """Of exp(integrand) from `low` to `high`, for each margin of `change`; NaN where that is."""
    found = np.where(np.isnan(change.left), nan, np.zeros(low.shape))
    kept = np.flatnonzero(low < high)
    for start in range(0, kept.size, ROWS):
        rows = kept[start : start + ROWS]
        these = _Change(change.left[rows, None], change.offset[rows, None])
        with np.errstate(over="ignore"):  # where a density is infinite
            parts = trapezoid(
                partial(integrand, these), low[rows], high[rows], partial(bend, these)
            )
        found[rows] = parts[1].sum(axis=1)
    return found


class _Change(NamedTuple):
    """The variable y of integrals over t from 0 to 1 - margin: the log-odds of t / (1 - margin).

    The whole line serves, and both ends are approached smoothly.
    """

    left: Floats  # log(1 - margin)
    offset: Floats  # log(margin)

    @classmethod
    def of(cls, margin: Floats) -> _Change:
        with np.errstate(divide="ignore"):
            return cls(np.log1p(-np.minimum(margin, 1)), np.log(margin))

    def plain(self, y: Floats) -> Floats:
        """Log-odds of t."""
        return self.left + y - self.per_plain(y)

    def shifted(self, y: Floats) -> Floats:
        """Log-odds of t + margin."""
        return np.logaddexp(self.offset, y) - self.left

    def per_plain(self, y: Floats) -> Floats:
        """Minus the logarithm of d plain / dy."""
        return np.logaddexp(0, self.offset + y)

    def per_shifted(self, y: Floats) -> Floats:
        """Minus the logarithm of d shifted / dy."""
        return np.logaddexp(0, self.offset - y)

    def from_plain(self, x: float) -> Floats:
        """The y at which t has the log-odds `x`; infinite where t + margin is beyond 1."""
        log_t = -float(np.logaddexp(0, -x))
        room = (
            np.exp(self.left) - np.exp(log_t) if x < 0 else -np.expm1(log_t) - np.exp(self.offset)
        )
        with np.errstate(divide="ignore"):
            return np.asarray(log_t - np.log(np.maximum(room, 0)))

    def from_shifted(self, x: float) -> Floats:
        """The y at which t + margin has the log-odds `x`; minus infinity where t is below 0."""
        mirrored = self.from_plain(-x)  # of 1 - margin - t
        return -mirrored

    def bend(self, y: Floats, plain: Bounds, shifted: Bounds) -> Floats:
        """Bounds on the curvature in y of functions of both log-odds, by the chain rule."""
        return _bent(self.offset + y, *plain(self.plain(y))) + _bent(
            self.offset - y, *shifted(self.shifted(y))
        )


def _bent(flat: Floats, slope: Floats, curvature: Floats) -> Floats:
    """The curvature in y where dx/dy is 1 / (1 + e^flat)."""
    from scipy.special import expit

    rate = np.maximum(expit(-flat[..., :-1]), expit(-flat[..., 1:]))
    turns = expit(flat) * expit(-flat)
    turn = np.maximum(turns[..., :-1], turns[..., 1:])
    return np.asarray(curvature * rate**2 + slope * turn)


def _by_sign(
    values: ArrayLike,
    positive: Callable[[Floats], Floats],
    negative: Callable[[Floats], Floats],
) -> Any:
    """One function of values >= 0, the other of those below without their sign."""
    given = np.asarray(values, dtype=np.float64)
    flat = given.ravel()
    found, right = np.empty(flat.shape), flat >= 0
    found[right], found[~right] = positive(flat[right]), negative(-flat[~right])
    return found.reshape(given.shape)[()]
