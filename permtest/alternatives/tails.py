"""p-values of test statistics whose law is known, for one or for arrays of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def by_sides(below: Callable[[Any], Any], x: Any, alternative: str) -> Any:
    """p of x under a law that is symmetric about 0, `below` being its distribution function."""
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * below(-np.abs(x)))
    return below(-x if alternative == "greater" else x)


def normal_pvalue(z: Any, alternative: str) -> Any:
    """p of standard normal test statistics."""
    from scipy.special import ndtr

    return by_sides(ndtr, z, alternative)


def t_pvalue(t: Any, df: float, alternative: str) -> Any:
    """p of test statistics that have Student's t distribution."""
    from scipy.special import stdtr

    return by_sides(partial(stdtr, df), t, alternative)


def binomial_pvalue(wins: Any, losses: Any, alternative: str) -> Any:
    """Exact p of so many heads and tails of a fair coin; 1 where there are none."""
    n = wins + losses
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * _at_most(np.minimum(wins, losses), n))
    return _at_most(losses if alternative == "greater" else wins, n)


def _at_most(k: Any, n: Any) -> Any:
    """P(at most k heads in n throws)."""
    from scipy.special import betainc

    p = betainc(np.maximum(n - k, 1), k + 1, 0.5)
    return np.where(k >= n, 1.0, p)


def mcnemar_pvalue(b: Any, c: Any, method: str, alternative: str) -> Any:
    """p of McNemar's test by one of its methods, for arrays of b and c; 1 where both are 0."""
    n = b + c
    if method == "exact":
        return binomial_pvalue(b, c, alternative)
    if method == "midp":
        return np.where(n > 0, _midp(b, c, alternative), 1.0)
    gap = np.asarray(b - c, dtype=np.float64)
    root = corrected_root(gap, 1.0 if method == "chi2-corrected" else 0.0, alternative)
    return np.where(n > 0, normal_pvalue(root / np.sqrt(np.maximum(n, 1)), alternative), 1.0)


def _midp(b: Any, c: Any, alternative: str) -> Any:
    """Half of the probability of what was observed taken off; from both sides at most 1."""
    from scipy.stats import binom

    half = binom.pmf(b, b + c, 0.5) / 2
    if alternative == "two-sided":
        return np.where(b == c, 1.0, 2 * (_at_most(np.minimum(b, c), b + c) - half))
    return binomial_pvalue(b, c, alternative) - half


def corrected_root(gap: Any, correction: float, alternative: str) -> Any:
    """`gap` moved towards 0, not beyond it if both sides count; by its sign one-sided."""
    if alternative == "two-sided":
        return np.sign(gap) * np.maximum(np.abs(gap) - correction, 0.0)
    return gap + (correction if alternative == "less" else -correction)
