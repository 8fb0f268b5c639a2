"""Posterior distributions of precision, recall, F-scores and other ratios of counts.

Cells of a confusion matrix with a symmetric Dirichlet prior are independent Gamma variables up to
their sum, so that a ratio  h U / (h U + sum_i m_i V_i)  has the log-odds

    log h + log U - log sum_i m_i V_i = shift + log-odds of Z,    Z ~ Beta(a, b),

with one shift where the m_i are equal (precision, recall, F1, Jaccard), else a mixture of shifts
over the share of the V_i (F-beta). All is computed in log-odds, where these densities are analytic
and log-concave, and relative to their modes, as a log-beta constant costs nine digits at counts of
a million.
"""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Any

import numpy as np

from permtest.alternatives.folds import LARGEST, FoldCounts, as_number, as_weight, metric_of
from permtest.alternatives.log_odds import Floats, gauss, trapezoid
from permtest.alternatives.metric_posterior import MetricPosterior
from permtest.statistics import CountStatistic

#: Parameters of Beta below this would make quadratures long.
SMALLEST_PARAMETER = 0.01

#: A mixture has so many shifts at most; polynomials of them up to degree 127 keep their means.
SHIFTS = 64

#: Log-odds beyond which a share is 0 or 1, in all its digits.
SATURATED = 40.0


def posterior(
    counts: Any,
    metric: str | CountStatistic = "f1",
    *,
    prior: float = 1.0,
    weight: float | None = None,
) -> MetricPosterior:
    """What is known of a metric after counts of one hold-out set, or of the folds of an m x 2 CV.

    Parameters
    ----------
    counts : array_like of shape (folds, 3) or (3,)
        Columns tp, fp, fn; or tp, fp, fn, tn; for "accuracy" also correct, wrong. A data frame or
        mapping that has these names will do. Finite and >= 0.
    metric : str or CountStatistic, default "f1"
        "precision", "recall", "f1", "f2" and other F-scores, "jaccard", "specificity",
        "accuracy".
    prior : float, default 1.0
        The lambda of the symmetric Dirichlet prior: what every cell is taken to hold before
        counting. Precision and recall then have the prior Beta(lambda, lambda): flat for 1,
        Jeffreys' for 1/2.
    weight : float, optional
        What share of the summed counts independent items would make. Default: by design, 1 for one
        hold-out set and `block_weight(m)` for the 2 m folds of a block-regularised m x 2
        cross-validation.

    Returns
    -------
    MetricPosterior

    Raises
    ------
    ValueError
        If a count is negative or not finite, the metric is no ratio of counts, an option is out of
        range, or the folds are no m x 2 cross-validation and there is no weight.

    Notes
    -----
    Effective counts are weight times the sums; for one fold this is Goutte and Gaussier (2005),
    for six Wang and Li (2019), Eq. 22-30, where the exponents of Eq. 25 and 26 should read
    TP_e + lambda - 1 and so on. F-scores other than F1 are mixtures of up to 64 shifts, whose
    probabilities are exact to 1e-13, but not relative to themselves where they are smaller. Cost:
    none to speak of, some ten milliseconds for such mixtures.

    Examples
    --------
    >>> from permtest.alternatives import posterior
    >>> f1 = posterior([90, 10, 20])
    >>> low, high = f1.interval(0.95)
    >>> round(f1.mode(), 4), round(low, 3), round(high, 3)
    (0.8543, 0.795, 0.897)
    """
    seen = FoldCounts.of(counts, metric_of(metric))
    return of_totals(seen, as_prior(prior), as_weight(weight, seen.n_folds))


def as_prior(prior: float) -> float:
    """A number above 0; ValueError says so."""
    number = as_number(prior, "prior")
    if not 0 < number < inf:
        raise ValueError(f"prior={prior} must be a number above 0; 1 is flat, 0.5 is Jeffreys'")
    return number


def of_totals(seen: FoldCounts, prior: float, weight: float) -> MetricPosterior:
    """The posterior for validated counts."""
    ratio = seen.ratio
    cells = weight * seen.totals + prior
    hits, misses = np.array(ratio.hits[0]), np.array(ratio.misses[0])
    a, b = float(cells[hits > 0].sum()), float(cells[misses > 0].sum())
    if max(a, b) > 10 * LARGEST:
        raise ValueError(f"prior={prior} is too large; {LARGEST:g} is more than enough")
    if min(a, b) < SMALLEST_PARAMETER:
        raise ValueError(f"prior={prior} is too small for these counts; use 0.01 or more")
    gain, factors = float(hits.max()), np.unique(misses[misses > 0])
    if factors.size == 1:
        shifts, weights = np.array([log(gain / factors[0])]), np.ones(1)
    else:
        shares = [float(cells[misses == factor].sum()) for factor in factors]
        shifts, weights = _mixture(gain, factors, shares, sqrt(1 / a + 1 / b))
    return MetricPosterior(seen.metric.name, a, b, shifts, weights)


def _mixture(gain: float, factors: Any, cells: Any, width: float) -> tuple[Floats, Floats]:
    """Shifts of a ratio with two unlike misses, over the share of the first, and their weights.

    `width` is that of the density which is shifted.
    """
    from scipy.special import expit

    (first, second), (one, other) = cells, map(float, factors)
    share = MetricPosterior("", first, second, np.zeros(1), np.ones(1))
    steepest = -log(one / other) / 2  # where the shift changes most with the log-odds of the share

    def bend(w: Floats) -> Floats:
        z = expit(np.clip(steepest, w[..., :-1], w[..., 1:]))
        slope = (one - other) * z * (1 - z) / (one * z + other * (1 - z))
        return np.asarray(share.bounds(w)[1] + (slope / width) ** 2)

    low, high = (min(max(end, -SATURATED), SATURATED) for end in share.log_odds_support)
    w, weights = trapezoid(share.log_odds_logpdf, low, high, bend)
    # Where shares are 0 or 1 the rest of the rule is a geometric series.
    for end, rate, cut in ((0, first, low == -SATURATED), (-1, second, high == SATURATED)):
        weights[end] /= -np.expm1(-rate * (w[1] - w[0])) if cut else 1.0
    shifts = log(gain) - np.log(one * expit(w) + other * expit(-w))
    return gauss(shifts, weights / weights.sum(), SHIFTS)
