"""The Bayes test of two models: how probable it is that one is better, from counts of folds.

Cells of a confusion matrix with a symmetric Dirichlet prior are independent Gamma variables up to
their sum. So precision, recall, accuracy (g = 1) and F1 (g = 2) are g Z / (g Z + 1 - Z) with
Z ~ Beta(a, b), and their log-odds are log g + log-odds of Z. In log-odds all densities are
analytic, and the trapezoidal rule converges exponentially; it is the only quadrature here.
Densities are taken relative to their modes, as a log-beta constant costs nine digits at counts of
a million, and tails from whichever side is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf, log, nan, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest._checks import check_finite, check_level
from permtest._forms import AsSentence, plain
from permtest._text import interval as interval_text
from permtest.alternatives.folds import OPPOSITES, FoldCounts, Ratio, as_weight, block_weight
from permtest.alternatives.registry import SMALLEST
from permtest.pairs import check_names

Floats: TypeAlias = NDArray[np.float64]
Function: TypeAlias = Callable[[Floats], Floats]

#: Log-odds beyond which a share is 0 or 1; e^-65 of a law is beyond them for the smallest prior.
END, SMALLEST_PRIOR, LARGEST_PRIOR = 650.0, 0.1, 1e10

#: An integrand is not looked at where it is less than e^-NEGLIGIBLE of its largest value.
NEGLIGIBLE = 40.0

#: Places where a rule looks for its integrand, its nodes at least, and its longest step: densities
#: without misses, exp(-x - exp(-x)), are bounded within pi / 2 of the real axis.
SCOUTS, NODES, STEP = 65, 320, 0.2

#: Integrals at a time.
AT_ONCE = 512

#: Correlations of posteriors are at most this, in absolute value.
CLOSEST = 0.999

#: So many rows at least tell how the errors of two models correlate.
ROWS = 30

# ---- posteriors --------------------------------------------------------------------------------


class Posterior:
    """Methods that the posteriors of metrics and of differences share."""

    _quantile: Callable[[float, bool], float]

    def ppf(self, q: ArrayLike) -> Any:
        """The value that is not exceeded with probability q; NaN for q outside of [0, 1]."""
        p = np.asarray(q, dtype=np.float64)
        tail = np.fmax(np.minimum(p, 1 - p), 0)
        values = np.vectorize(self._quantile, otypes=[float])(tail, p <= 0.5)
        return np.where((p >= 0) & (p <= 1), values, nan)[()]

    def interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """The credible interval that leaves out equal probabilities at both ends.

        Raises ValueError if `confidence_level` does not lie in (0, 1).
        """
        check_level(confidence_level, "confidence_level")
        tail = (1 - confidence_level) / 2
        return self._quantile(tail, True), self._quantile(tail, False)


@dataclass(frozen=True, eq=False)
class MetricPosterior(Posterior, AsSentence):
    """The posterior of a metric, given counts: a frozen distribution on [0, 1].

    Made by `posterior`. Methods have the names that SciPy's distributions have, and take arrays.

    Parameters
    ----------
    metric : str
        "precision", "recall", "f1" or "accuracy".
    a, b : float
        Of the Beta variable in its log-odds: hits and misses, prior included.
    gain : float
        By what the odds of that variable are multiplied: 2 for F1, 1 for the others.

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
    gain: float

    def pdf(self, value: ArrayLike) -> Any:
        """Probability density at `value`, an array_like of any shape; 0 outside of [0, 1]."""
        t, x = np.asarray(value, dtype=np.float64), _log_odds(value)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.exp(self.log_odds_logpdf(x) - x + 2 * np.logaddexp(0, x))
        infinite = ((t == 0) & (self.a < 1)) | ((t == 1) & (self.b < 1))
        return np.where(infinite, inf, np.where((t < 0) | (t > 1), 0.0, found))[()]

    def cdf(self, value: ArrayLike) -> Any:
        """P(metric <= value)."""
        inside = np.exp(self.log_tails(_log_odds(value))[0])
        return np.where(np.less_equal(value, 0), 0.0, inside)[()]

    def sf(self, value: ArrayLike) -> Any:
        """P(metric > value); small ones keep their digits."""
        inside = np.exp(self.log_tails(_log_odds(value))[1])
        return np.where(np.greater_equal(value, 1), 0.0, inside)[()]

    def mean(self) -> float:
        """The expected value."""
        _, shares, t, _ = self._rule
        return float(shares @ t)

    def var(self) -> float:
        """The variance."""
        _, shares, t, rest = self._rule
        small = t if t @ shares < 0.5 else rest
        return float(shares @ (small - shares @ small) ** 2)

    def std(self) -> float:
        """The standard deviation."""
        return sqrt(self.var())

    def mode(self) -> float:
        """The most likely value; NaN where there is none: densities infinite at both ends, or flat.

        For precision and recall with a prior of 1 it is the ratio of the counts; the mode of F1 is
        not the F1 of the counts.
        """
        a, b, g = self.a, self.b, self.gain
        if max(a, b) < 1 or a == b == g == 1:
            return nan
        if min(a, b) < 1:
            return float(b < 1)
        # The slope of the density is 0 where 2 (g - 1) t^2 + linear t = g (a - 1).
        linear, end = g * a + b - 3 * g + 1, g * (a - 1)
        root = sqrt(linear**2 + 8 * (g - 1) * end)
        return 2 * end / (linear + root) if linear > 0 else (root - linear) / (4 * (g - 1))

    def __str__(self) -> str:
        middle = f"mode {self.mode():.4g}, mean {self.mean():.4g}"
        return f"{self.metric}: {middle}, 95% credible interval {interval_text(self.interval())}"

    # ---- in log-odds --------------------------------------------------------------------------

    def log_odds_logpdf(self, x: Floats) -> Floats:
        """Logarithm of the density of the log-odds of the metric at `x`."""
        return self._relative(x) - self._rule[0]

    def log_tails(self, x: Floats) -> tuple[Floats, Floats]:
        """Logarithms of the probabilities of log-odds up to `x`, and beyond."""
        from scipy.special import betainc, betaincc, expit

        z = np.asarray(x - log(self.gain))
        # The smaller tail is computed: the larger one, nearly 1, is NaN in a browser.
        low = z < log(self.a / self.b)
        y = np.where(low, z, -z)
        a, b = np.where(low, self.a, self.b), np.where(low, self.b, self.a)
        share, rest = np.asarray(expit(y)), np.asarray(expit(-y))
        tail = np.asarray(betainc(a, b, share))
        # A share near 1 has lost the digits of the rest; betaincc keeps them, but takes a hundred
        # times as long, and a very small tail may be NaN in a browser.
        near = rest < 0.01
        precise = betaincc(b[near], a[near], rest[near])
        tail[near] = np.where(np.isnan(precise), tail[near], precise)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Where the tail is no float, it falls as the density over its slope, nearly.
            far = self.log_odds_logpdf(x) - np.log(a * rest - b * share)
            small, large = np.where(tail < 1e-305, far, np.log(tail)), np.log1p(-tail)
        return np.where(low, small, large), np.where(low, large, small)

    def log_odds_scores(self, x: Floats) -> Floats:
        """The standard normal values that are exceeded with the same probability as `x`."""
        from scipy.special import ndtri_exp

        low, high = self.log_tails(x)
        return np.asarray(np.where(low < high, ndtri_exp(low), -ndtri_exp(high)))

    @cached_property
    def mirrored(self) -> MetricPosterior:
        """The law of 1 minus the metric."""
        law = MetricPosterior(self.metric, self.b, self.a, 1 / self.gain)
        area, shares, t, rest = self._rule
        vars(law).update(mirrored=self, _rule=(area, shares, rest, t))  # what is known already
        return law

    @property
    def spread(self) -> float:
        """Standard deviation of the log-odds of the Beta variable, roughly."""
        return sqrt(1 / self.a + 1 / self.b)

    def _relative(self, x: Floats) -> Floats:
        """`log_odds_logpdf` relative to the mode, without cancellation."""
        a, b, x = self.a, self.b, x - log(self.gain)
        if a > b:
            a, b, x = b, a, -x
        d = x - log(a / b)
        return np.asarray(a * d - (a + b) * np.log1p(a / (a + b) * np.expm1(d)))

    @cached_property
    def _rule(self) -> tuple[float, Floats, Floats, Floats]:
        """Logarithm of the integral of exp(_relative); shares of it, values, what is left to 1."""
        from scipy.special import expit

        x, step = _nodes(self._relative, -END, END)
        heights = np.exp(self._relative(x))
        total = float(heights.sum())
        return log(total * step.item()), heights / total, expit(x), expit(-x)

    def _quantile(self, q: float, lower: bool) -> float:
        from scipy.special import betainccinv, betaincinv

        own, other = (betaincinv, betainccinv) if lower else (betainccinv, betaincinv)
        gained = self.gain * own(self.a, self.b, q)
        return float(gained / (gained + other(self.b, self.a, q)))


@dataclass(frozen=True, eq=False)
class DifferencePosterior(Posterior, AsSentence):
    """The posterior of model B's metric minus model A's, from -1 to 1.

    Parameters
    ----------
    b, a : MetricPosterior
        Of the model that is asked about, and of the one that it is held against.
    correlation : float, default 0.0
        Of the normal scores of both metrics (a Gaussian copula), in (-1, 1); 0 takes the posteriors
        for independent. Others are experimental.
    freedom : float, default inf
        Degrees of freedom of a spread that was estimated: the difference then has the law whose
        Student's t scores are what the normal scores of the copula's difference are.

    Notes
    -----
    Every value is one quadrature by the trapezoidal rule, whose error falls exponentially with the
    number of nodes here: about 1e-13 of either tail. Cost: about a millisecond for one value, a
    twentieth of that for each of many, ten for an interval; up to three times that with a copula.

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
    correlation: float = 0.0
    freedom: float = inf

    def sf(self, difference: ArrayLike) -> Any:
        """P(B - A > difference)."""
        return self._tail(self.b, self.a, np.asarray(difference, dtype=np.float64))

    def cdf(self, difference: ArrayLike) -> Any:
        """P(B - A <= difference)."""
        return self._tail(self.a, self.b, np.negative(difference, dtype=np.float64))

    def pdf(self, difference: ArrayLike) -> Any:
        """Probability density at `difference`; 0 outside of (-1, 1)."""
        from scipy.special import ndtri, poch

        d, k = np.asarray(difference, dtype=np.float64), self.freedom
        found = self._integrals(self.b, self.a, d, density=True)
        if k == inf:
            return found
        tails = self._integrals(self.b, self.a, d), self._integrals(self.a, self.b, -d)
        z = np.maximum(ndtri(np.minimum(*tails)), -38.5)  # that of the smallest float
        # Times the ratio of Student's density to the normal one.
        logs = log(poch(k / 2, 0.5) / sqrt(k / 2)) + z * z / 2 - (k + 1) / 2 * np.log1p(z * z / k)
        with np.errstate(divide="ignore"):
            return np.exp(np.log(found) + logs)[()]

    def mean(self) -> float:
        """The difference of both expected values."""
        return self.b.mean() - self.a.mean()

    def __str__(self) -> str:
        interval = interval_text(self.interval())
        return f"{self.b.metric}, B minus A: {self.mean():.4g}, 95% {interval}"

    def _quantile(self, q: float, lower: bool) -> float:
        from scipy.optimize import brentq
        from scipy.special import ndtri

        tail = self.cdf if lower else self.sf

        def excess(x: float) -> float:  # nearly linear
            return float(ndtri(min(max(float(tail(x)), 1e-300), 1 - 1e-16)) - ndtri(q))

        return float(brentq(excess, -1.0, 1.0, xtol=1e-14)) if q else -1.0 if lower else 1.0

    def _tail(self, upper: MetricPosterior, lower: MetricPosterior, gap: Floats) -> Any:
        """P(upper > lower + gap), by the t scores if a spread was estimated."""
        from scipy.special import ndtri, stdtr

        found = self._integrals(upper, lower, gap)
        if self.freedom == inf:
            return found
        rest = self._integrals(lower, upper, -gap)
        small = stdtr(self.freedom, ndtri(np.minimum(found, rest)))
        return np.where(found <= rest, small, 1 - small)[()]

    def _integrals(
        self, upper: MetricPosterior, lower: MetricPosterior, gap: Floats, density: bool = False
    ) -> Any:
        """P(upper > lower + gap), or the density of upper - lower at the gap, for each gap."""
        flat = gap.ravel()
        found = np.where(np.isnan(flat), nan, 0.0 if density else (flat <= -1).astype(float))
        inside = np.flatnonzero(np.abs(flat) < 1)
        size = max(1, int(AT_ONCE * sqrt(1 - self.correlation**2)))
        # What is narrower is to have the density: P(1 - lower > 1 - upper + gap).
        if upper.spread < lower.spread:
            upper, lower = lower.mirrored, upper.mirrored
        for start in range(0, inside.size, size):
            these = inside[start : start + size]
            found[these] = _exceeds(upper, lower, flat[these, None], self.correlation, density)
        return found.reshape(gap.shape)[()]


def _exceeds(
    upper: MetricPosterior, lower: MetricPosterior, gap: Floats, r: float, density: bool
) -> Floats:
    """P(upper > lower + gap), or the density of upper - lower, for gaps (rows, 1) in (-1, 1)."""
    from scipy.special import expit, log_ndtr

    far, near = np.maximum(-gap, 0), np.maximum(gap, 0)
    room, rest = 1 - near - far, sqrt(1 - r * r)

    def integrand(y: Floats, alone: bool = False) -> Floats:
        """At lower = far + s and upper = near + s, where s / room has the log-odds y."""
        s, t = room * expit(y), room * expit(-y)
        hit, miss, up, down = map(np.log, (far + s, near + t, near + s, far + t))
        logs = lower.log_odds_logpdf(hit - miss) + np.log(s * t / room) - hit - miss
        if alone:
            return np.asarray(logs)
        if r:
            u, v = lower.log_odds_scores(hit - miss), upper.log_odds_scores(up - down)
        if density:
            logs += upper.log_odds_logpdf(up - down) - up - down
            logs += (u * u - ((u - r * v) / rest) ** 2) / 2 - log(rest) if r else 0.0
        else:
            logs += log_ndtr((r * u - v) / rest) if r else upper.log_tails(up - down)[1]
        return np.asarray(logs)

    ends = np.full_like(gap, -END), np.full_like(gap, END)
    if r:  # There is one peak where the narrower law is, but maybe others far away.
        ends = _zoomed(partial(integrand, alone=True), *ends, depth=END)
    y, step = _nodes(integrand, *ends, finest=rest)
    found = (np.exp(integrand(y)) * step).sum(axis=-1)
    if not density:
        return np.asarray(np.minimum(found + lower.cdf(far[:, 0]), 1.0))
    pole = r == 0 and min(lower.a + upper.a, lower.b + upper.b) <= 1
    return np.where((gap[:, 0] == 0) & pole, inf, found)


def _nodes(function: Function, low: Any, high: Any, finest: float = 1.0) -> tuple[Floats, Floats]:
    """Nodes (rows, nodes) and steps (rows, 1) of the trapezoidal rule for exp(function).

    `function` is analytic and has one peak in each row between `low` and `high`; `finest` is a
    width of what it has inside of that, relative to the peak's.
    """
    low, high = _zoomed(function, low, high, NEGLIGIBLE)
    steps = int(max(NODES, (high - low).max() / STEP) / finest)
    return low + (high - low) * np.linspace(0, 1, steps + 1), (high - low) / steps


def _zoomed(function: Function, low: Any, high: Any, depth: float) -> tuple[Floats, Floats]:
    """About where a function is not less than its peak less `depth`."""
    while True:
        x, before = low + (high - low) * np.linspace(0, 1, SCOUTS), high - low
        logs = function(x)
        seen = logs > logs.max(axis=-1, keepdims=True) - depth
        first = np.maximum(seen.argmax(axis=-1, keepdims=True) - 1, 0)
        last = np.minimum(SCOUTS - seen[..., ::-1].argmax(axis=-1, keepdims=True), SCOUTS - 1)
        low, high = (np.take_along_axis(x, ends, axis=-1) for ends in (first, last))
        if (high - low > before / 2).all():
            return low, high


def _log_odds(value: ArrayLike) -> Floats:
    from scipy.special import logit

    return np.asarray(np.clip(logit(np.clip(value, 0, 1)), -END, END))


def posterior(
    counts: Any,
    metric: str = "f1",
    *,
    prior: float = 1.0,
    weight: float | None = None,
) -> MetricPosterior:
    """The posterior of a metric, given counts of one hold-out set or of the folds of an m x 2 CV.

    Parameters
    ----------
    counts : array_like of shape (folds, 3) or (3,)
        As either of those of `bayes_test`.
    metric, prior, weight : as in `bayes_test`

    Returns
    -------
    MetricPosterior

    Notes
    -----
    Errors are those of `bayes_test`. Effective counts are weight times the sums; for one fold this
    is Goutte and Gaussier (2005), for six Wang and Li (2019), Eq. 22-30, where the exponents of Eq.
    25 and 26 should read TP_e + lambda - 1 and so on. Cost: none to speak of.

    Examples
    --------
    >>> from permtest.alternatives import posterior
    >>> f1 = posterior([90, 10, 20])
    >>> low, high = f1.interval(0.95)
    >>> round(f1.mode(), 4), round(low, 3), round(high, 3)
    (0.8543, 0.795, 0.897)
    """
    seen = FoldCounts.of(counts, metric)
    return _posterior(seen, _as_prior(prior), as_weight(weight, seen.n_folds))


def _as_prior(prior: float) -> float:
    number = check_finite(prior, "prior")
    if not SMALLEST_PRIOR <= number <= LARGEST_PRIOR:
        raise ValueError(
            f"prior={prior} must be a number from {SMALLEST_PRIOR} to {LARGEST_PRIOR:g}; 1 is "
            "flat, 0.5 is Jeffreys'"
        )
    return number


def _posterior(seen: FoldCounts, prior: float, weight: float) -> MetricPosterior:
    """The posterior for validated counts."""
    cells = weight * seen.totals + prior
    a, b = _sides(seen.metric) @ cells
    return MetricPosterior(seen.metric.name, float(a), float(b), max(seen.metric.hits))


def _sides(metric: Ratio) -> NDArray[np.bool_]:
    """Which columns are hits, and which are misses."""
    return np.array([metric.hits, metric.misses]) > 0


# ---- the test ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BayesTestResult(AsSentence):
    """The result of `bayes_test`, which compares model B with model A.

    Parameters
    ----------
    counts_a, counts_b : FoldCounts
    prior, weight, rope, threshold, names : as in `bayes_test`
    correlation : float
        Of the posteriors of both models; 0 takes them for independent.
    rows : int or None
        From how many rows the correlation was estimated; None where it was counted, or is 0.
    freedom : float
        Degrees of freedom of the spread of the difference, where it was estimated from rows.
    paired : BayesTestResult or None
        The same with a correlation, where there was one to find; experimental.

    Attributes
    ----------
    posterior_a, posterior_b : MetricPosterior
        What is known of the metric of each model.
    difference : DifferencePosterior
        The posterior of the metric of B minus the metric of A.
    p_h0, p_h1 : float
        P(metric of B <= metric of A), and P(metric of B > metric of A): B is better.
    p_a_better, p_equivalent, p_b_better : float
        P(A ahead by more than `rope`), P(neither is), P(B ahead by more than `rope`).

    Examples
    --------
    >>> from permtest.alternatives import bayes_test
    >>> old, new = [[60, 22, 18], [58, 20, 20]], [[70, 15, 12], [69, 14, 11]]
    >>> result = bayes_test(old, new, metric="f1", names=("old", "new"))
    >>> round(result.p_h0, 3), round(result.p_h1, 3)
    (0.007, 0.993)
    >>> round(result.posterior_b.mean(), 3)
    0.837
    """

    counts_a: FoldCounts = field(repr=False, compare=False)
    counts_b: FoldCounts = field(repr=False, compare=False)
    prior: float
    weight: float
    rope: float
    threshold: float
    names: tuple[str, str] = ("A", "B")
    correlation: float = 0.0
    rows: int | None = None
    freedom: float = inf
    paired: BayesTestResult | None = None

    posterior_a: MetricPosterior = field(init=False, repr=False, compare=False)
    posterior_b: MetricPosterior = field(init=False, repr=False, compare=False)
    difference: DifferencePosterior = field(init=False, repr=False, compare=False)
    p_h0: float = field(init=False)
    p_h1: float = field(init=False)
    p_a_better: float = field(init=False)
    p_equivalent: float = field(init=False)
    p_b_better: float = field(init=False)

    def __post_init__(self) -> None:
        a, b = (_posterior(x, self.prior, self.weight) for x in (self.counts_a, self.counts_b))
        difference = DifferencePosterior(b, a, self.correlation, self.freedom)
        ends = np.unique([-self.rope, 0.0, self.rope])  # three, or 0 alone
        b_ahead, a_ahead = tails = difference.sf(ends), difference.cdf(-ends)
        near = min(tails, key=lambda tail: float(tail[-1]))  # so that both ends of it are small
        found = {"p_h1": b_ahead[ends.size // 2], "p_b_better": b_ahead[-1]}
        found |= {"p_h0": a_ahead[ends.size // 2], "p_a_better": a_ahead[-1]}
        found = {name: max(float(p), SMALLEST) for name, p in found.items()}
        found["p_equivalent"] = max(float(near[0] - near[-1]), 0.0)
        vars(self).update(found, posterior_a=a, posterior_b=b, difference=difference)

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.counts_a.metric.name

    @property
    def title(self) -> str:
        """The name of the metric in sentences."""
        return self.counts_a.metric.title

    @property
    def n_folds(self) -> int:
        """Number of folds of either model."""
        return self.counts_a.n_folds

    @property
    def accepted(self) -> Literal["H0", "H1"]:
        """The paper's rule: "H1" (B is better) if that is more probable, otherwise "H0".

        For equal models that is the toss of a coin; `decision` asks for more.
        """
        return "H0" if self.p_h0 >= self.p_h1 else "H1"

    @property
    def decision(self) -> Literal["a better", "equivalent", "b better", "undecided"]:
        """The decision whose probability reaches `threshold`; "undecided" if there is none."""
        if self.p_a_better >= self.threshold:
            return "a better"
        if self.p_b_better >= self.threshold:
            return "b better"
        return "equivalent" if self.p_equivalent >= self.threshold else "undecided"

    @property
    def conservative(self) -> BayesTestResult:
        """The same with all folds together worth one (correlations of 1): wider posteriors."""
        return replace(self, weight=min(self.weight, 1 / self.n_folds), paired=None)

    @property
    def trusted(self) -> BayesTestResult:
        """The paired answer, unless there is none or its spread is from fewer than 30 rows."""
        paired = self.paired
        return self if paired is None or (paired.rows or ROWS) < ROWS else paired

    @property
    def notes(self) -> tuple[str, ...]:
        """Reasons, seen in the counts, not to take the probabilities at face value."""
        a, b = self.counts_a.gold(), self.counts_b.gold()
        return tuple(
            f"row {row} has {a[row]:g} to find for {self.names[0]} but {b[row]:g} for "
            f"{self.names[1]}; were both judged on the same items?"
            for row in np.flatnonzero(a != b)[:1]
        )

    def chances(self, digits: int = 4) -> dict[str, str]:
        """The probabilities of B, of neither (if there is a `rope`) and of A, as text."""
        b, neither, a = self.p_b_better, self.p_equivalent, self.p_a_better
        found = {"b": (b, neither + a), "neither": (neither, a + b), "a": (a, b + neither)}
        keys = ("b", "neither", "a") if self.rope else ("b", "a")
        return {key: _chance(*found[key], digits) for key in keys}

    def verdict(self) -> str:
        """The decision in words."""
        a, b = self.names
        words = {"equivalent": "Practically equivalent", "undecided": "Undecided"}
        words |= {"a better": f"{a} is better", "b better": f"{b} is better"}
        return f"{words[self.decision]} at a threshold of {self.threshold:g}"

    def advice(self) -> str:
        """Which of both answers to trust, and why."""
        if self.trusted is not self.paired:
            return (
                "The paired answer is experimental, and so few rows cannot estimate a spread well. "
                "Trust the first answer, which is cautious if the items of a row are independent."
            )
        return (
            "Trust the paired answer, though it is experimental: the first one assumes independent "
            "models, but both were judged on the same items."
        )

    def __str__(self) -> str:
        seen = zip((self.counts_a, self.counts_b), self.names, strict=True)
        values = [f"{x.value:.4g}".replace("nan", "undefined") + f" for {who}" for x, who in seen]
        text = f"{self.title[:1].upper()}{self.title[1:]} is {' and '.join(values)}: "
        text += self._answer()
        if self.paired:
            text += f" Paired: {self.paired._answer()} {self.advice()}"
        return text + "".join(f" Note: {note}" for note in self.notes)

    def _answer(self) -> str:
        """Probabilities, interval and decision, and of what they were made."""
        (a, b), gap = self.names, self.difference
        sides = {"b": f"{b} better than {a}", "neither": f"within {self.rope:g} of each other"}
        sides["a"] = f"{a} better{'' if self.rope else ' or equal'}"
        chances = ", ".join(
            f"P({sides[who]}) {'= ' * (text[0] != '<')}{text}"
            for who, text in self.chances().items()
        )
        interval = f"{b} minus {a}: {gap.mean():.4g}, 95% credible {interval_text(gap.interval())}"
        return f"{chances}; {interval}. {self.verdict()} ({self._basis()})."

    def _basis(self) -> str:
        """Of what the answer was made, and how."""
        n, whole = self.n_folds, self.weight == 1
        if self.rows:
            return f"spread of the difference estimated from {self.rows} rows, experimental"
        if self.correlation:
            return f"correlation {self.correlation:.2f}, from the counts they share, experimental"
        if n == 1:
            what = "one hold-out set" if whole else "counts added up"
        else:
            what = f"{n} {'rows' if whole else 'folds'}"
            what += f" of {n // 2} x 2 cross-validation" * self._halved
        return f"{what}, weight {self.weight:.4g}, prior {self.prior:g}"

    @property
    def _halved(self) -> bool:
        """Whether the weight is that of as many folds as there are, two of each partition."""
        n = self.n_folds
        return n % 2 == 0 and self.weight == block_weight(n // 2)

    def to_dict(self) -> dict[str, Any]:
        """Probabilities, decisions, options, counts and intervals, as plain numbers and strings."""
        keys = "metric p_h0 p_h1 p_a_better p_equivalent p_b_better prior weight rope threshold "
        keys += "n_folds accepted decision correlation rows notes"
        found = {key: getattr(self, key) for key in keys.split()}
        a, b = (self.counts_a, self.posterior_a), (self.counts_b, self.posterior_b)
        found["models"] = [
            {
                "name": name,
                "counts": dict(zip(counts.columns, counts.totals, strict=True)),
                "observed": counts.value,
                "mode": law.mode(),
                "mean": law.mean(),
                "interval": law.interval(),
            }
            for name, (counts, law) in zip(self.names, (a, b), strict=True)
        ]
        gap = self.difference
        found["difference"] = {"mean": gap.mean(), "interval": gap.interval()}
        paired = self.paired and self.paired.to_dict() | {"trusted": self.trusted is self.paired}
        return dict(plain(found | {"paired": paired}))


def _chance(p: float, rest: float, digits: int) -> str:
    """A probability as people write it; those next to 0 and 1 keep their digits."""
    if p < 1e-300:
        return "< 1e-300"
    edge = 0.5 * 10.0**-digits
    if p > 1 - edge:
        return f"1 - {rest:.1g}" if rest >= 1e-300 else "1"
    return f"{p:.{digits}f}" if p >= edge else f"{p:.1g}"


def bayes_test(
    folds_a: Any,
    folds_b: Any,
    metric: str = "f1",
    prior: float = 1.0,
    weight: float | None = None,
    *,
    paired: Any = None,
    rope: float = 0.0,
    threshold: float = 0.95,
    names: tuple[str, str] | None = None,
) -> BayesTestResult:
    """Compute the probability that model B is better than model A, given the counts of their folds.

    Parameters
    ----------
    folds_a, folds_b : array_like of shape (folds, 3) or (3,)
        Counts of both models, those of the new one second: columns tp, fp, fn; for "accuracy"
        correct, wrong. Finite and >= 0. A data frame or mapping that has these
        names will do. One row is a hold-out set, 2 m rows are a block-regularised m x 2
        cross-validation, six the 3 x 2 one of the paper. Only their sums matter, not their order.
    metric : {"f1", "precision", "recall", "accuracy"}
    prior : float, default 1.0
        The lambda of the symmetric Dirichlet prior, at least 0.1: what every cell is taken to hold
        before counting. Precision and recall then have the prior Beta(lambda, lambda): flat for 1,
        Jeffreys' for 1/2.
    weight : float, optional
        What share of the summed counts independent items would make. Default: by design, 1 for
        one row and `block_weight(m)` for 2 m rows. Rows for single sentences have 1.
    paired : array_like of the shape of `folds_a`, True or None, default None
        What both models have in common, in the same columns: items that both found (tp), that both
        took wrongly for one (fp), that both missed (fn). True takes the spread of the difference
        from the rows. Either adds a second answer, which is `paired` in the result. Both are
        experimental.
    rope : float, default 0.0
        Differences of the metric up to this are of no practical importance ("region of practical
        equivalence"); in [0, 1).
    threshold : float, default 0.95
        How probable something has to be for `decision`; in [0.5, 1).
    names : tuple of two str, optional
        What the models are called; "A" and "B" by default.

    Returns
    -------
    BayesTestResult
        With p_h0 = P(B <= A), p_h1 = P(B > A), and both posteriors.

    Raises
    ------
    TypeError, ValueError
        If counts are no counts or of unlike folds, more is shared than there is, an option is out
        of range, or the folds are no m x 2 cross-validation and there is no weight.

    Notes
    -----
    The test treats the metrics of both models as independent, as the paper does. If models share
    data and mistakes, this is conservative: equal models get probabilities near a half more often
    than a calibrated test would give them. Unlike in the other tests of this package the new model
    comes second: in the paper A is the established one and H1 says that B is better.

    The paired answer joins the same two posteriors by a Gaussian copula. Its correlation is, to
    first order, that of the log-odds of both metrics if each joint outcome (found by both models,
    by A alone, ...) has a Gamma variable with its count, times the weight, plus lambda / 2: the
    Dirichlet model of the pair, whose margins are exactly the posteriors of the paper. That assumes
    that folds make counts of the two models covary as they make them vary, by 1 / weight, and
    counts items: where items of a row depend on each other, it is surer than it may be.

    With `paired=True`, rows, such as sentences or documents, are taken for independent draws, and
    the items of a row may depend on each other. The variance of the difference in log-odds is a
    jackknife's: how much the difference changes if one row is left out. Where the metrics of both
    models vary more from row to row than independent items would make them, the weight is as much
    smaller; the correlation is then the one with which the posteriors have the variance of the
    difference. As that is an estimate, the difference has the tails of Student's t, with as many
    degrees of freedom as there are rows, less 1, and fewer if rows are of unlike sizes. With the
    weight of an m x 2 cross-validation, rows are halves of the same items, which makes m degrees
    of freedom. `python -m benchmarks.calibration` measures how often each answer is above 95% for
    equal models.

    Probabilities are quadratures, accurate to about 1e-12 (to 1e-9 beyond counts of 10^7, where
    SciPy's tails lose digits). Small ones are accurate relative to themselves, too; 5e-324 stands
    for all that are smaller than 1e-300. Correlations beyond 0.999 are taken for 0.999. Cost: some
    3 ms; a credible interval takes five times as long.

    Source: Wang and Li (2019), Eq. 25-33 and Algorithm 1, of which lines 16 to 18 have the two
    hypotheses the wrong way round: H1 is nu_B > nu_A. The paired answer is this package's.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"))
    >>> round(r.p_h1, 4), r.accepted, r.decision
    (0.8086, 'H1', 'undecided')

    Both found 88 of the same entities, and five of their errors are the same:

    >>> r = alt.bayes_test([90, 10, 20], [95, 9, 15], paired=[88, 5, 13])
    >>> round(r.paired.p_h1, 4), r.trusted is r.paired
    (0.9295, True)
    """
    first = FoldCounts.of(folds_a, metric, "folds_a")
    second = _alike(first, folds_b, "folds_b")
    margin, least = check_finite(rope, "rope"), check_finite(threshold, "threshold")
    if not 0 <= margin < 1:
        raise ValueError(f"rope={rope} must lie in [0, 1), in units of the metric")
    if not 0.5 <= least < 1:
        raise ValueError(f"threshold={threshold} must lie in [0.5, 1)")
    found = BayesTestResult(
        first,
        second,
        prior=_as_prior(prior),
        weight=as_weight(weight, first.n_folds),
        rope=margin,
        threshold=least,
        names=check_names(names or ("A", "B")),
    )
    if paired is None or paired is False:
        return found
    known = _of_rows(found) if paired is True else _of_items(found, _alike(first, paired, "paired"))
    known["correlation"] = min(max(known["correlation"], -CLOSEST), CLOSEST)
    return replace(found, paired=replace(found, **known))


def _alike(first: FoldCounts, counts: Any, name: str) -> FoldCounts:
    """Counts of as many folds as the first ones have."""
    found = FoldCounts.of(counts, first.metric.name, name)
    if first.n_folds != found.n_folds:
        raise ValueError(
            f"{name} has {found.n_folds} folds, folds_a has {first.n_folds}; they must match"
        )
    return found


def _of_items(found: BayesTestResult, shared: FoldCounts) -> dict[str, Any]:
    """The correlation of the log-odds of both metrics, from how many items have each outcome."""
    a, b, columns = found.counts_a, found.counts_b, shared.columns
    opposite = [columns.index(OPPOSITES[column]) for column in columns]
    moved = np.not_equal(opposite, range(len(columns)))  # in another column than A has them
    alone, others = a.table - shared.table, (b.table - shared.table)[:, opposite]
    for fold, k in np.argwhere((alone < 0) | (others < 0))[:1]:
        more = f"more {columns[k]} or {OPPOSITES[columns[k]]} than a model has"
        raise ValueError(f"paired[{fold}] has {more}")
    for fold, k in np.argwhere((alone != others) & moved)[:1]:
        raise ValueError(
            f"paired[{fold}] leaves {alone[fold, k]:g} {columns[k]} to {found.names[0]} alone, and "
            f"{others[fold, k]:g} {OPPOSITES[columns[k]]} to {found.names[1]}; they are the same "
            "items"
        )
    cells = [found.weight * x.totals + found.prior for x in (a, b)]
    both, one = (found.weight * x.sum(axis=0) + found.prior / 2 for x in (shared.table, alone))
    hits, misses = np.array([a.metric.hits, a.metric.misses], dtype=np.float64)
    u, v = (hits / (hits @ x) - misses / (misses @ x) for x in cells)  # slopes of the log-odds
    covariance = both @ (u * v) + one @ (moved * u * v[opposite])
    return {"correlation": float(covariance / sqrt((cells[0] @ u**2) * (cells[1] @ v**2)))}


def _of_rows(found: BayesTestResult) -> dict[str, Any]:
    """What the rows say: the weight, correlation and degrees of freedom of the paired answer.

    With these, the log-odds of both metrics differ by as much as rows that are left out one by one
    say that they do (a jackknife, to first order).
    """
    n, halved = found.n_folds, found._halved
    if n < 2:
        raise ValueError(
            "paired=True needs two rows or more; pass the counts that both models share instead"
        )
    tables = np.stack([found.counts_a.table, found.counts_b.table])
    hits, misses = np.moveaxis(tables @ _sides(found.counts_a.metric).T, 2, 0)  # (2, rows) each
    sizes = hits + misses
    total = np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
    # By how much the log-odds change without each row, which is 1 / (t (1 - t)) times as much as t
    # itself does.
    laws = (found.posterior_a, found.posterior_b)
    t = np.array([[law.a / (law.a + law.b)] for law in laws])
    off = hits - hits.sum(axis=1, keepdims=True) / total * sizes
    u, v = off / np.maximum(total - sizes, 1e-9 * total) / (t * (1 - t))
    # Residuals of two halves are the same but for the sign, and half as large in the square as
    # those of independent rows.
    scale = 2 * ((n - 1) / n) ** 2 if halved else (n - 1) / n
    spread, apart = scale * float(u @ u + v @ v), scale * float((v - u) @ (v - u))
    counted = [found.weight * law.spread**2 for law in laws]  # if each item stood for itself
    # Items that depend on each other count for less, but none counts for more. What a weight that
    # is not by design says of rows, rows say themselves.
    design = found.weight if halved else 1.0
    weight = min(found.weight, design * sum(counted) / spread) if spread else found.weight
    r = (sum(counted) - weight / design * apart) / (2 * sqrt(counted[0] * counted[1]))
    shares = (sizes / total).mean(axis=0)
    rest = n // 2 if halved else 1 / max(float(shares @ shares), 1 / n) - 1
    return {"weight": weight, "correlation": r, "rows": n, "freedom": max(rest, 1.0)}
