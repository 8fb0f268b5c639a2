"""A frozen distribution on [0, 1]: what is known of a metric after counts were seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, inf, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from permtest._checks import check_level
from permtest._html import said
from permtest._rng import RNG, as_generator
from permtest.alternatives.log_odds import (
    NEGLIGIBLE,
    Floats,
    bounds,
    log_density,
    log_tail,
    support,
    trapezoid,
)

#: Values of a mixture that are computed at a time.
CHUNK = 20_000

#: SciPy's quantiles of Beta laws end near here.
TINY = 1e-300


class Posterior(ABC):
    """What the law of a metric, and that of a difference of metrics, have in common."""

    @abstractmethod
    def _quantile(self, q: Floats, upper: bool) -> Any:
        """The value that is exceeded, or else is not, with each probability."""

    @abstractmethod
    def var(self) -> float:
        """The variance."""

    def ppf(self, q: ArrayLike) -> Any:
        """The value that is not exceeded with probability q; NaN for q outside of [0, 1]."""
        return self._quantile(np.asarray(q, dtype=np.float64), upper=False)[()]

    def isf(self, q: ArrayLike) -> Any:
        """The value that is exceeded with probability q; NaN for q outside of [0, 1]."""
        return self._quantile(np.asarray(q, dtype=np.float64), upper=True)[()]

    def interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """The credible interval that leaves out equal probabilities at both ends.

        Raises ValueError if `confidence_level` does not lie in (0, 1).
        """
        check_level(confidence_level, "confidence_level")
        if confidence_level not in self._intervals:
            self._intervals[confidence_level] = self._ends((1 - confidence_level) / 2)
        return self._intervals[confidence_level]

    @cached_property
    def _intervals(self) -> dict[float, tuple[float, float]]:
        return {}

    def _ends(self, tail: float) -> tuple[float, float]:
        return float(self.ppf(tail)), float(self.isf(tail))

    def median(self) -> float:
        """The value that is as likely exceeded as not."""
        return float(self.ppf(0.5))

    def std(self) -> float:
        """The standard deviation."""
        return sqrt(self.var())

    def _repr_html_(self) -> str:
        return said(str(self))


@dataclass(frozen=True, eq=False)
class MetricPosterior(Posterior):
    """What is known of a metric after counts were seen: a frozen distribution on [0, 1].

    Made by `posterior`. Methods have the names that SciPy's distributions have, and take arrays.

    Parameters
    ----------
    metric : str
        "precision", "recall", "f1", ...
    a, b : float
        Of the Beta variable in its log-odds: hits and misses, prior included.
    shifts : ndarray of shape (S,)
        What is added to the log-odds of that variable; log 2 for F1, 0 for precision and recall.
    weights : ndarray of shape (S,)
        Probabilities of the shifts.

    Examples
    --------
    >>> from permtest.alternatives import posterior
    >>> recall = posterior([90, 10, 20], "recall")
    >>> round(recall.mean(), 4), round(recall.std(), 4)
    (0.8125, 0.0367)
    >>> round(float(recall.sf(0.8)), 4)
    0.6491
    """

    metric: str
    a: float
    b: float
    shifts: Floats = field(repr=False)
    weights: Floats = field(repr=False)

    def pdf(self, value: ArrayLike) -> Any:
        """Probability density at `value`, an array_like of any shape; 0 outside of [0, 1]."""
        with np.errstate(over="ignore"):
            return np.exp(self.logpdf(value))[()]

    def logpdf(self, value: ArrayLike) -> Any:
        """Logarithm of `pdf`."""
        t = np.asarray(value, dtype=np.float64)
        inside = (t > 0) & (t < 1)
        safe = np.where(inside, t, 0.5)
        found = self.log_odds_logpdf(_log_odds(safe)) - np.log(safe) - np.log1p(-safe)
        with np.errstate(divide="ignore"):
            ends = np.log(np.where(t == 0, self._at_zero, np.where(t == 1, self._at_one, 0.0)))
        return np.where(np.isnan(t), nan, np.where(inside, found, ends))[()]

    def cdf(self, value: ArrayLike) -> Any:
        """P(metric <= value)."""
        return np.exp(self.logcdf(value))[()]

    def sf(self, value: ArrayLike) -> Any:
        """P(metric > value); small ones keep their digits, but for F-scores other than F1."""
        return np.exp(self.logsf(value))[()]

    def logcdf(self, value: ArrayLike) -> Any:
        """Logarithm of `cdf`."""
        return self.log_odds_logcdf(_clipped_log_odds(value))[()]

    def logsf(self, value: ArrayLike) -> Any:
        """Logarithm of `sf`."""
        return self.log_odds_logsf(_clipped_log_odds(value))[()]

    def mean(self) -> float:
        """The expected value."""
        return self._moments[0]

    def var(self) -> float:
        """The variance."""
        return self._moments[1]

    def mode(self) -> float:
        """The most likely value; NaN where there is none: densities infinite at both ends, or flat.

        For precision and recall with a prior of 1 it is the ratio of the counts; the mode of F1 is
        not the F1 of the counts.
        """
        ends = {0.0: self._at_zero, 1.0: self._at_one}
        if min(ends.values()) == inf:
            return nan
        peaks = self._stationary_points()
        heights = ends | {float(t): float(self.pdf(t)) for t in peaks}
        if not peaks and ends[0.0] == ends[1.0]:
            return nan
        return max(heights, key=lambda t: heights[t])

    def rvs(self, size: int | tuple[int, ...] | None = None, *, rng: RNG = None) -> Any:
        """Random values, an array of shape `size`; a single one by default."""
        from scipy.special import expit

        generator = as_generator(rng)
        x = _log_gamma(self.a, size, generator) - _log_gamma(self.b, size, generator)
        if self.shifts.size > 1:
            return expit(x + generator.choice(self.shifts, size, p=self.weights))
        return expit(x + self.shifts[0])

    # ---- in log-odds --------------------------------------------------------------------------

    def log_odds_logpdf(self, x: ArrayLike) -> Floats:
        """Logarithm of the density of the log-odds of the metric at `x`."""
        return self._mixed(log_density, np.asarray(x, dtype=np.float64))

    def log_odds_logcdf(self, x: ArrayLike) -> Floats:
        """Logarithm of P(log-odds of the metric <= x)."""
        return self._mixed(log_tail, np.asarray(x, dtype=np.float64))

    def log_odds_logsf(self, x: ArrayLike) -> Floats:
        """Logarithm of P(log-odds of the metric > x)."""
        return self.mirrored.log_odds_logcdf(-np.asarray(x, dtype=np.float64))

    def _mixed(self, function: Callable[[float, float, Floats], Floats], x: Floats) -> Floats:
        """Logarithm of the mean of exp(function(a, b, .)) over the shifts."""
        from scipy.special import logsumexp

        if self.shifts.size == 1:
            return function(self.a, self.b, x - self.shifts[0])
        flat, found = x.ravel(), np.empty(x.size)
        for start in range(0, x.size, CHUNK):
            part = slice(start, start + CHUNK)
            logs = function(self.a, self.b, flat[part, None] - self.shifts)
            found[part] = logsumexp(logs, axis=-1, b=self.weights)
        return found.reshape(x.shape)

    def bounds(self, x: Floats, *, tail: bool = False) -> tuple[Floats, Floats]:
        """No less than slope and curvature of log_odds_logpdf between neighbours in the last axis.

        With `tail`, of log_odds_logsf, which is flat where nothing of the density is to the left.
        """
        low, high = x[..., :-1] - self.shifts.max(), x[..., 1:] - self.shifts.min()
        if not tail:
            return bounds(self.a, self.b, low, high)
        low, high = np.maximum(low, self._begin), np.maximum(high, self._begin)
        slope, curvature = bounds(self.a, self.b, low, high)
        bent = high > self._begin
        return np.where(bent, slope + np.sqrt(curvature), 0.0), np.where(bent, curvature, 0.0)

    @cached_property
    def _begin(self) -> float:
        """Log-odds of the Beta variable with next to nothing of the density to their left."""
        from scipy.special import betaincinv, logit

        share = betaincinv(self.a, self.b, exp(-NEGLIGIBLE))
        # It has no answer for some of the smallest parameters.
        return float(logit(share)) if share > 0 else -inf

    @cached_property
    def mirrored(self) -> MetricPosterior:
        """The law of 1 less the metric."""
        return MetricPosterior(self.metric, self.b, self.a, -self.shifts, self.weights)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the log-odds of the Beta variable, roughly."""
        return sqrt(1 / self.a + 1 / self.b)

    @cached_property
    def log_odds_support(self) -> tuple[float, float]:
        """Log-odds beyond which the density is less than e^-750 times that at its mode."""
        low, high = support(self.a, self.b)
        return low + float(self.shifts.min()), high + float(self.shifts.max())

    # ---- values -------------------------------------------------------------------------------

    @property
    def _at_zero(self) -> float:
        """The density at 0: infinite, or 0 where there are hits."""
        edge = float(self.weights @ np.exp(-self.shifts)) * self.b
        return inf if self.a < 1 else edge if self.a == 1 else 0.0

    @property
    def _at_one(self) -> float:
        edge = float(self.weights @ np.exp(self.shifts)) * self.a
        return inf if self.b < 1 else edge if self.b == 1 else 0.0

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and variance, by the trapezoidal rule in log-odds."""
        from scipy.special import expit

        x, weights = trapezoid(
            self.log_odds_logpdf, *self.log_odds_support, lambda x: self.bounds(x)[1]
        )
        t = expit(x)
        mean = float(weights @ t / weights.sum())
        return mean, float(weights @ (t - mean) ** 2 / weights.sum())

    def _quantile(self, q: Floats, upper: bool) -> Floats:
        from scipy.special import betainccinv, betaincinv, expit, logit

        with np.errstate(divide="ignore", invalid="ignore"):
            if self.shifts.size > 1:
                return np.asarray(expit(self._bisected(q, upper)))
            near, far = (self.b, self.a) if upper else (self.a, self.b)
            part, rest = betaincinv(near, far, q), betainccinv(far, near, q)
            # The smaller of the two is used, so that neither loses digits.
            x = np.where(part < 0.5, logit(part), -logit(rest))
            x = (-x if upper else x) + self.shifts[0]
            lost = (q > 0) & (q < 1) & ~((part > TINY) & (rest > TINY))
            if lost.any():  # both are without answer where floats end
                x = np.where(lost, self._bisected(q, upper), x)
            return np.asarray(expit(x))

    def _bisected(self, q: Floats, upper: bool) -> Floats:
        """Log-odds of quantiles, by halving brackets."""
        low = np.full(q.shape, self.log_odds_support[0])
        high = np.full(q.shape, self.log_odds_support[1])
        target = np.log(q)
        while np.max(high - low, initial=0.0) > 1e-13 * max(1.0, *map(abs, self.log_odds_support)):
            middle = (low + high) / 2
            tail = self.log_odds_logsf(middle) if upper else self.log_odds_logcdf(middle)
            left = (tail < target) != upper
            stuck = (middle == low) | (middle == high)
            low, high = np.where(left, middle, low), np.where(left, high, middle)
            if stuck.all():
                break
        ends = {0.0: inf, 1.0: -inf} if upper else {0.0: -inf, 1.0: inf}
        x = (low + high) / 2
        for probability, end in ends.items():
            x = np.where(q == probability, end, x)
        return np.where((q >= 0) & (q <= 1), x, nan)

    def _stationary_points(self) -> list[float]:
        """Values inside (0, 1) where the density may be largest."""
        if self.shifts.size > 1:
            return [self._highest()]
        # With k = e^shift, (a-1)/t - (b-1)/(1-t) - (a+b)(1-k)/(k+(1-k)t) = 0 is quadratic in t.
        k = exp(float(self.shifts[0]))
        square, constant = 2 * (1 - k), (self.a - 1) * k
        linear = (self.a - 1) * (1 - 2 * k) - (self.b - 1) * k - (self.a + self.b) * (1 - k)
        disc = linear * linear - 4 * square * constant
        if disc < 0:
            return []
        half = -(linear + (sqrt(disc) if linear >= 0 else -sqrt(disc))) / 2
        pairs = ((half, square), (constant, half))
        return [above / below for above, below in pairs if below and 0 < above / below < 1]

    def _highest(self) -> float:
        """Where the density of a mixture is largest, between 0 and 1."""
        from scipy.optimize import minimize_scalar
        from scipy.special import expit

        x, _ = trapezoid(self.log_odds_logpdf, *self.log_odds_support, lambda x: self.bounds(x)[1])
        values = expit(x)
        at = int(np.argmax(self.pdf(values)))
        low, high = values[max(at - 1, 0)], values[min(at + 1, values.size - 1)]
        options = {"xatol": 1e-12 * (high - low)}
        found = minimize_scalar(
            lambda t: -self.pdf(t), bounds=(low, high), method="bounded", options=options
        )
        return float(found.x)

    def __str__(self) -> str:
        low, high = self.interval()
        return (
            f"{self.metric}: mode {self.mode():.4g}, mean {self.mean():.4g}, 95% credible interval "
            f"{low:.4g} to {high:.4g}"
        )


def _log_gamma(shape: float, size: Any, generator: np.random.Generator) -> Floats:
    """Logarithms of Gamma variables, which for small shapes are no floats themselves."""
    boosted = np.log(generator.standard_gamma(shape + 1, size))
    return np.asarray(boosted - generator.standard_exponential(size) / shape)


def _clipped_log_odds(value: ArrayLike) -> Floats:
    with np.errstate(divide="ignore"):
        return _log_odds(np.clip(np.asarray(value, dtype=np.float64), 0, 1))


def _log_odds(t: Floats) -> Floats:
    return np.asarray(np.log(t) - np.log1p(-t))
