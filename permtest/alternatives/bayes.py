"""The Bayes test of two models: how probable it is that one is better, from counts of folds.

Cells of a confusion matrix with a symmetric Dirichlet prior are independent Gamma variables up to
their sum. So precision, recall, accuracy (gain g = 1) and F1 (g = 2) are g Z / (g Z + 1 - Z) with
Z ~ Beta(a, b), and their log-odds are log g + log-odds of Z. In log-odds all densities are
analytic, and the trapezoidal rule converges exponentially; it is the only quadrature here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, log, log1p, nan, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from permtest._errors import check_finite, check_level, check_share
from permtest._text import Shown, counted, interval, number, p_value
from permtest.alternatives.folds import LARGEST, METRICS, as_counts, as_weight
from permtest.alternatives.registry import Floats
from permtest.scores import check_names

#: Log-odds beyond which a share is 0 or 1: e^-65 of a law with the smallest prior, 0.1.
END = 650.0
#: The smallest probability that is reported; tails less than TINY are taken for that.
LEAST, TINY = 1e-300, 1e-305
#: How a rule finds its integrand: SCOUTS places at a time, until it is less than e^-NEGLIGIBLE of
#: its largest value beyond the ends. Its nodes are NODES or more, no further apart than STEP:
#: densities without misses, exp(-x - exp(-x)), are bounded within pi / 2 of the real axis.
SCOUTS, NEGLIGIBLE, NODES, STEP = 65, 40.0, 320, 0.2


class Posterior(Shown):
    """A distribution whose methods have the names that SciPy's have, and take arrays."""

    ppf: Callable[[ArrayLike], Any]

    def interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """The credible interval that leaves out equal probabilities at both ends."""
        tail = (1 - check_level(confidence_level, "confidence_level")) / 2
        low, high = self.ppf([tail, 1 - tail])
        return float(low), float(high)


@dataclass(frozen=True, eq=False)
class MetricPosterior(Posterior):
    """The posterior of a metric on [0, 1], whose log-odds are log(gain) + those of Beta(a, b)."""

    metric: str
    a: float
    b: float
    gain: float

    def pdf(self, value: ArrayLike) -> Any:
        """Probability density at `value`, an array_like of any shape; 0 outside of [0, 1]."""
        t = np.asarray(value, dtype=np.float64)
        x = np.clip(_log_odds(t), -END, END)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.exp(self.log_density(x) - x + 2 * np.logaddexp(0, x))
        infinite = ((t == 0) & (self.a < 1)) | ((t == 1) & (self.b < 1))
        return np.where(infinite, inf, np.where((t < 0) | (t > 1), 0.0, found))[()]

    def cdf(self, value: ArrayLike) -> Any:
        """P(metric <= value)."""
        return self.tails(_log_odds(value))[0][()]

    def sf(self, value: ArrayLike) -> Any:
        """P(metric > value); small ones keep their digits."""
        return self.tails(_log_odds(value))[1][()]

    def ppf(self, q: ArrayLike) -> Any:
        """The value that is not exceeded with probability q; NaN for q outside of [0, 1]."""
        from scipy.special import betainccinv, betaincinv

        odds = self.gain * betaincinv(self.a, self.b, q)
        return odds / (odds + betainccinv(self.b, self.a, q))

    def mean(self) -> float:
        """The expected value."""
        return self._moments()[0]

    def var(self) -> float:
        """The variance."""
        return self._moments()[1]

    def _moments(self) -> tuple[float, float]:
        from scipy.special import expit

        x, _ = _nodes(self.log_density, -END, END)
        shares = np.exp(self.log_density(x))
        shares /= shares.sum()
        mean = float(shares @ expit(x))
        small = expit(x if mean < 0.5 else -x)
        return mean, float(shares @ (small - shares @ small) ** 2)

    def __str__(self) -> str:
        mean, ends = number(self.mean(), 4), interval(*self.interval())
        return f"{METRICS[self.metric].title}: mean {mean}, 95% credible interval {ends}"

    def log_density(self, x: Floats) -> Floats:
        """Logarithm of the density of the log-odds at `x`."""
        a, b, x = self.a, self.b, x - log(self.gain)
        if a > b:
            a, b, x = b, a, -x
        # That at the mode, and a difference: a log-beta constant costs nine digits at a million.
        top = log(a / (2 * pi) * b / (a + b)) / 2 - _stirling(a) - _stirling(b) + _stirling(a + b)
        d = x - log(a / b)
        return np.asarray(top + a * d - (a + b) * np.log1p(a / (a + b) * np.expm1(d)))

    def tails(self, x: Floats) -> tuple[Floats, Floats]:
        """Probabilities of log-odds up to `x`, and beyond; small ones keep their digits."""
        from scipy.special import betainc, betaincc, expit

        z = np.asarray(x - log(self.gain))
        # The smaller tail is computed: the larger one, nearly 1, is NaN in a browser.
        low = z < log(self.a / self.b)
        y = np.where(low, z, -z)
        a, b = np.where(low, self.a, self.b), np.where(low, self.b, self.a)
        tail, rest = np.asarray(betainc(a, b, expit(y))), np.asarray(expit(-y))
        # A share near 1 has lost the digits of the rest; betaincc keeps them, but takes a hundred
        # times as long, and a very small tail may be NaN in a browser.
        near = rest < 0.01
        precise = betaincc(b[near], a[near], rest[near])
        tail[near] = np.where(np.isnan(precise), tail[near], precise)
        return np.where(low, tail, 1 - tail), np.where(low, 1 - tail, tail)


@dataclass(frozen=True, eq=False)
class DifferencePosterior(Posterior):
    """The posterior of model B's metric minus model A's, from -1 to 1, if these are independent."""

    b: MetricPosterior
    a: MetricPosterior

    def sf(self, difference: ArrayLike) -> Any:
        """P(B - A > difference)."""
        return _ahead(self.b, self.a, np.asarray(difference, np.float64))

    def cdf(self, difference: ArrayLike) -> Any:
        """P(B - A <= difference)."""
        return _ahead(self.a, self.b, -np.asarray(difference, np.float64))

    def pdf(self, difference: ArrayLike) -> Any:
        """Probability density at `difference`; 0 outside of (-1, 1)."""
        return _ahead(self.b, self.a, np.asarray(difference, np.float64), density=True)

    def ppf(self, q: ArrayLike) -> Any:
        """The difference that is not exceeded with probability q; NaN for q outside of [0, 1]."""
        return np.reshape([self._quantile(x) for x in np.ravel(q).tolist()], np.shape(q))[()]

    def _quantile(self, q: float) -> float:
        from scipy.optimize import brentq
        from scipy.special import ndtri

        if not 0 < q < 1:
            return {0.0: -1.0, 1.0: 1.0}.get(q, nan)
        tail, share = (self.cdf, q) if q <= 0.5 else (self.sf, 1 - q)

        def excess(x: float) -> float:  # nearly linear
            return float(ndtri(np.clip(tail(x), LEAST, 1 - 1e-16)) - ndtri(share))

        return float(brentq(excess, -1.0, 1.0, xtol=1e-14))

    def mean(self) -> float:
        """The difference of both expected values."""
        return self.b.mean() - self.a.mean()


def posterior(
    counts: Any, metric: str = "f1", *, prior: float = 1.0, weight: float | None = None
) -> MetricPosterior:
    """The posterior of a metric, given counts of one hold-out set or of the folds of an m x 2 CV.

    A distribution like SciPy's, with `pdf`, `cdf`, `sf`, `ppf`, `interval`, `mean` and `var`.

    Parameters
    ----------
    counts : array_like of shape (folds, 3) or (3,)
        As `folds_a` of `bayes_test`.
    metric, prior, weight : as in `bayes_test`

    Notes
    -----
    Of the sums times the weight; for one fold this is Goutte and Gaussier (2005), for six Wang and
    Li (2019), Eq. 22-30, where the exponents of Eq. 25 and 26 should read TP_e + lambda - 1 etc.

    Examples
    --------
    >>> from permtest.alternatives import posterior
    >>> f1 = posterior([90, 10, 20])
    >>> round(f1.mean(), 4), [round(end, 3) for end in f1.interval(0.95)]
    (0.8499, [0.795, 0.897])
    """
    table = as_counts(counts, metric)
    if not 0.1 <= check_finite(prior, "prior") <= LARGEST:
        raise ValueError(f"prior={prior} must be a number from 0.1 to {LARGEST:g}")
    cells, of = as_weight(weight, len(table)) * table.sum(axis=0) + prior, METRICS[metric]
    gain, (a, b) = max(of.hits), (float(cells @ x[: cells.size]) for x in (of.hits, of.misses))
    return MetricPosterior(metric, a / gain, b, gain)


def _ahead(
    upper: MetricPosterior, lower: MetricPosterior, gap: Floats, density: bool = False
) -> Any:
    """P(upper > lower + gap), or the density of upper - lower, at gaps of any shape."""
    from scipy.special import expit

    # What is narrower is to have the density: P(1 - lower > 1 - upper + gap).
    if 1 / upper.a + 1 / upper.b < 1 / lower.a + 1 / lower.b:
        upper, lower = (MetricPosterior(x.metric, x.b, x.a, 1 / x.gain) for x in (lower, upper))
    inside = np.clip(gap, -1 + 1e-16, 1 - 1e-16)[..., None]
    far, near = np.maximum(-inside, 0), np.maximum(inside, 0)
    room = 1 - near - far

    def integrand(y: Floats) -> Floats:
        # At lower = far + s and upper = near + s, where s / room has the log-odds y.
        s, t = room * expit(y), room * expit(-y)
        hit, miss, up, down = map(np.log, (far + s, near + t, near + s, far + t))
        logs = lower.log_density(hit - miss) + np.log(s * t / room) - hit - miss
        if density:
            return np.asarray(logs + upper.log_density(up - down) - up - down)
        return np.asarray(logs + np.log(np.maximum(upper.tails(up - down)[1], TINY)))

    y, step = _nodes(integrand, np.full_like(inside, -END), np.full_like(inside, END))
    found = np.exp(integrand(y)).sum(axis=-1) * step[..., 0]
    if density:
        pole = (gap == 0) & (min(lower.a + upper.a, lower.b + upper.b) <= 1)
        return np.where(np.abs(gap) >= 1, 0.0, np.where(pole, inf, found))[()]
    found = np.minimum(found + lower.cdf(far[..., 0]), 1.0)
    return np.where(np.abs(gap) >= 1, gap < 0, found)[()]


def _nodes(function: Callable[[Floats], Floats], low: Any, high: Any) -> tuple[Floats, Floats]:
    """Nodes (rows, nodes) and steps (rows, 1) for exp(function), with one peak in each row."""
    while True:
        x, before = low + (high - low) * np.linspace(0, 1, SCOUTS), high - low
        logs = function(x)
        seen = logs > logs.max(axis=-1, keepdims=True) - NEGLIGIBLE
        first = np.maximum(seen.argmax(axis=-1, keepdims=True) - 1, 0)
        last = np.minimum(SCOUTS - seen[..., ::-1].argmax(axis=-1, keepdims=True), SCOUTS - 1)
        low, high = (np.take_along_axis(x, ends, axis=-1) for ends in (first, last))
        if (high - low > before / 2).all():
            break
    steps = int(max(NODES, (high - low).max(initial=0) / STEP))
    return low + (high - low) * np.linspace(0, 1, steps + 1), (high - low) / steps


def _stirling(x: float) -> float:
    """The logarithm of Gamma(x), less Stirling's (x - 1/2) log x - x + log(2 pi) / 2."""
    if x < 20:
        return _stirling(x + 1) + (x + 0.5) * log1p(1 / x) - 1
    y = x**-2
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x


def _log_odds(value: ArrayLike) -> Floats:
    from scipy.special import logit

    return np.asarray(logit(np.clip(value, 0, 1)))


@dataclass(frozen=True, eq=False)
class BayesTestResult(Shown):
    """What `bayes_test` found, and what it was given.

    Parameters
    ----------
    metric, prior, weight, rope, names, counts_a, counts_b
        As the test took them.
    posterior_a, posterior_b : MetricPosterior
        What is known of the metric of the established model A, and of the new model B.
    difference : DifferencePosterior
        The posterior of the metric of B minus the metric of A, with the same methods.
    p_h0, p_h1 : float
        P(metric of B <= metric of A), and P(metric of B > metric of A): B is better.
    p_a_better, p_equivalent, p_b_better : float
        P(A ahead by more than `rope`), P(neither is), P(B ahead by more than `rope`).
    """

    metric: str
    counts_a: Floats = field(repr=False)
    counts_b: Floats = field(repr=False)
    prior: float
    weight: float
    rope: float
    names: tuple[str, str]
    posterior_a: MetricPosterior = field(repr=False)
    posterior_b: MetricPosterior = field(repr=False)
    difference: DifferencePosterior = field(repr=False)
    p_h0: float
    p_h1: float
    p_a_better: float
    p_equivalent: float
    p_b_better: float

    @property
    def title(self) -> str:
        """The name of the metric in sentences."""
        return METRICS[self.metric].title

    def chances(self, digits: int = 4) -> dict[str, str]:
        """The probabilities of B, of neither (if there is a `rope`) and of A, as text."""
        neither = {"neither": self.p_equivalent} if self.rope else {}
        found = {"b": self.p_b_better, **neither, "a": self.p_a_better}
        return {who: p_value(max(p, LEAST), digits=digits) for who, p in found.items()}

    def __str__(self) -> str:
        (a, b), what = self.names, self.title[:1].upper() + self.title[1:]
        sides = {"b": f"{b} better", "neither": f"within {self.rope:g} of each other"}
        sides["a"] = f"{a} better{'' if self.rope else ' or equal'}"
        chances = ", ".join(f"P({sides[who]}) = {p}" for who, p in self.chances().items())
        gap, rows = self.difference, counted(len(self.counts_a), "rows")
        return (
            f"{what} of {b} and {a}: {chances}; {b} minus {a}: {number(gap.mean(), 4)}, "
            f"95% credible interval {interval(*gap.interval())} "
            f"({rows} of counts, weight {number(self.weight, 4)}, prior {self.prior:g})."
        )


def bayes_test(
    folds_a: Any,
    folds_b: Any,
    metric: str = "f1",
    prior: float = 1.0,
    weight: float | None = None,
    *,
    rope: float = 0.0,
    names: tuple[str, str] | None = None,
) -> BayesTestResult:
    """Compute the probability that model B is better than model A, given counts of folds.

    Parameters
    ----------
    folds_a, folds_b : array_like of shape (folds, 3) or (3,)
        Counts of both models, those of the new one second: columns tp, fp, fn; for "accuracy"
        correct, wrong; also as a data frame or mapping. One row is a hold-out set, 2 m rows are a
        block-regularised m x 2 cross-validation. Only their sums matter.
    metric : {"f1", "precision", "recall", "accuracy"}
    prior : float, default 1.0
        The lambda of the symmetric Dirichlet prior, at least 0.1: what every cell is taken to hold
        before counting. Precision and recall then have the prior Beta(lambda, lambda): flat for 1,
        Jeffreys' for 1/2.
    weight : float, optional
        What share of the summed counts independent items would make. Default: by design, 1 for
        one row and `block_weight(m)` for 2 m rows; needed for other numbers of rows. Rows for
        single sentences have 1.
    rope : float, default 0.0
        Differences of the metric up to this are of no practical importance ("region of practical
        equivalence"); in [0, 1].
    names : tuple of two str, optional
        What the models are called; "A" and "B" by default.

    Notes
    -----
    The test treats the metrics of both models as independent, as the paper does. If models share
    data and mistakes, this is conservative: equal models get probabilities near a half more often
    than a calibrated test would give them. Unlike in the other tests of this package the new model
    comes second, as in the paper. Probabilities are accurate to about 1e-12, and to 1e-11 at counts
    of 10^9; small ones are accurate relative to themselves, too, and 1e-300 stands for all that are
    smaller. Cost: some 2 ms; a credible interval takes five times as long. Source: Wang and Li
    (2019), Eq. 25-33 and Algorithm 1, of which lines 16 to 18 have the two hypotheses the wrong way
    round: H1 is nu_B > nu_A.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"))
    >>> round(r.p_h1, 4), round(r.posterior_b.mean(), 3)
    (0.8086, 0.88)
    """
    a, b = as_counts(folds_a, metric, "folds_a"), as_counts(folds_b, metric, "folds_b")
    if len(a) != len(b):
        raise ValueError(f"folds_b has {len(b)} folds, folds_a has {len(a)}; they must match")
    share = as_weight(weight, len(a))
    given = metric, a, b, prior, share, check_share(rope, "rope"), check_names(names or ("A", "B"))
    old, new = (posterior(x, metric, prior=prior, weight=share) for x in (a, b))
    gap, ends = DifferencePosterior(new, old), np.unique([-rope, 0.0, rope])
    ahead, behind = (np.maximum(p, LEAST).tolist() for p in (gap.sf(ends), gap.cdf(ends)))
    middle = len(ends) // 2  # of three, or of one
    near = ahead if ahead[-1] < behind[0] else behind  # both ends of it are small
    found = behind[middle], ahead[middle], behind[0], abs(near[0] - near[-1]), ahead[-1]
    return BayesTestResult(*given, old, new, gap, *found)
