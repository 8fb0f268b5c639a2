"""Tests of counts: items that one of two systems gets right alone, and two proportions.

SciPy has neither the mid-p, nor one-sided chi-squared, nor these tests of arrays.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import copysign, sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from permtest._errors import check_count, check_option
from permtest.alternatives import registry
from permtest.alternatives.means import t_pvalue, t_quantile
from permtest.alternatives.registry import AlternativeResult, Array, by_sides, makes
from permtest.interval import score_ends
from permtest.statistics import Alternative

#: How to compute the p of McNemar's test.
McNemarMethod: TypeAlias = Literal["exact", "midp", "chi2", "chi2-corrected"]


@makes("mcnemar")
@makes("mcnemar_midp", method="midp")
@makes("mcnemar_chi2", method="chi2")
def mcnemar(
    b: int,
    c: int,
    *,
    method: McNemarMethod = "exact",
    n: int | None = None,
    alternative: Alternative = "two-sided",
) -> AlternativeResult:
    """McNemar's test of two systems that each get an item right or wrong.

    Parameters
    ----------
    b, c : int
        How many items only the first, and only the second system gets right.
    method : {"exact", "midp", "chi2", "chi2-corrected"}
        "exact" is binomial, and the paired-permutation test of accuracy; "midp" counts ties with
        the observed numbers by half; "chi2" is asymptotic, "chi2-corrected" with Edwards'
        continuity correction.
    n : int, optional
        Number of items, of which the estimate is the difference of the accuracies; by default
        b + c, those that tell.
    alternative : as in `paired_t`
        For chi-squared the signed root is taken.

    Notes
    -----
    The interval is Tango's (1998), which excludes 0 where the p of "chi2" is small. With b + c = 0
    there is no evidence: p = 1. With b = c, corrected chi-squared is 0, as in R.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> alt.mcnemar(15, 5).pvalue, round(alt.mcnemar(15, 5, method="midp").pvalue, 6)
    (0.04138946533203125, 0.026604)
    """
    check_option("method", method, get_args(McNemarMethod))
    b, c = check_count(b, "b", 0), check_count(c, "c", 0)
    size = b + c if n is None else check_count(n, "n", 0)
    if size < b + c:
        raise ValueError(f"n={size} is less than b + c = {b + c}")
    statistic = b if method in ("exact", "midp") else float(_root(b, c, method, alternative)) ** 2
    found = statistic, float(mcnemar_pvalue(b, c, method, alternative)), alternative, size
    details, ends = {"least_expected": (b + c) / 2}, partial(score_ends, b, c, size)
    test, gap = "mcnemar" if method == "exact" else f"mcnemar_{method}", (b - c) / max(size, 1)
    return AlternativeResult(test, *found, gap, details=details, _ends=ends if size else None)


@makes("sign", many=True)
@makes("mcnemar", many=True)
@makes("mcnemar_midp", many=True, method="midp")
@makes("mcnemar_chi2", many=True, method="chi2")
def signs_pvalues(
    a: Array, b: Any, axis: int = -1, *, alternative: str, method: str = "exact"
) -> Any:
    """p of McNemar's test, or the sign test, of the signs of differences."""
    d = registry.differences(a, b)
    wins, losses = (np.count_nonzero(some, axis=axis) for some in (d > 0, d < 0))
    return mcnemar_pvalue(wins, losses, method, alternative)


def mcnemar_pvalue(b: Any, c: Any, method: str, alternative: str) -> Any:
    """p of McNemar's test by one of its methods, for arrays of b and c; 1 where both are 0."""
    n = b + c
    if method == "exact":
        return by_sides(alternative, _at_most(c, n), _at_most(b, n))
    if method == "midp":
        middle = [(_at_most(k, n) + _at_most(k - 1, n)) / 2 for k in (c, b)]
        known = (n > 0) & ((b != c) | (alternative != "two-sided"))
        return np.where(known, by_sides(alternative, *middle), 1.0)
    return np.where(n > 0, t_pvalue(_root(b, c, method, alternative), np.inf, alternative), 1.0)


def _at_most(k: Any, n: Any) -> Any:
    """P(at most k heads in n throws of a fair coin)."""
    from scipy.special import betainc

    p = betainc(np.maximum(n - k, 1), np.maximum(k + 1, 1), 0.5)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, p))


def _root(b: Any, c: Any, method: str, alternative: str) -> Any:
    """The signed root of chi-squared; a correction moves it to 0 at most if both sides count."""
    gap, off = np.asarray(b - c, dtype=np.float64), float(method == "chi2-corrected")
    towards: dict[str, Any] = {"greater": off, "less": -off}
    towards["two-sided"] = np.sign(gap) * np.minimum(np.abs(gap), off)
    return (gap - towards[alternative]) / np.sqrt(np.maximum(b + c, 1))


@makes("two_proportion_z")
def two_proportion_z(
    x1: int, n1: int, x2: int, n2: int, *, alternative: Alternative = "two-sided"
) -> AlternativeResult:
    """z-test of two proportions, which it assumes to be independent of each other.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        x1 of n1 > 0 items, and x2 of n2; such as the correct ones of either system.
    alternative : as in `paired_t`

    Notes
    -----
    The standard error is that of one common proportion. Two systems on the same items are not
    independent: `mcnemar` uses that. If both proportions are 0, or both 1, there is no evidence:
    p = 1. Source: Yeh (2000), sec. 2.1.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.two_proportion_z(85, 100, 75, 100).pvalue, 6)
    0.0771
    """
    given = {"x1": x1, "n1": n1, "x2": x2, "n2": n2}
    x1, n1, x2, n2 = (check_count(value, name, 0) for name, value in given.items())
    for x, n, i in ((x1, n1, 1), (x2, n2, 2)):
        if n == 0 or x > n:
            raise ValueError(f"x{i} = {x} and n{i} = {n}: n must be positive and x at most n")
    n, gap, common = n1 + n2, x1 * n2 - x2 * n1, (x1 + x2) / (n1 + n2)
    spread = n1 * n2 * (x1 + x2) * (n - x1 - x2)  # n times the variance of the gap, n1 n2 times too
    z = copysign(sqrt(gap * gap * n / spread), gap) if spread else 0.0
    found = z, float(t_pvalue(z, np.inf, alternative)), alternative, n, x1 / n1 - x2 / n2
    details = {"least_expected": min(n1, n2) * min(common, 1 - common)}
    return AlternativeResult("two_proportion_z", *found, details=details)


@makes("chi_squared")
def chi_squared(table: Any, *, alternative: Alternative = "two-sided") -> AlternativeResult:
    """Chi-squared test of a 2x2 table, which assumes that its rows are independent.

    Parameters
    ----------
    table : array_like of shape (2, 2)
        A row for each system: items of the first kind (correct, relevant, ...) and all others.
    alternative : as in `two_proportion_z`

    Notes
    -----
    It is `two_proportion_z`, squared, without a continuity correction. The example is precision in
    Yeh (2000), sec. 2.2: 47 relevant and 48 spurious answers, against 25 and 14.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.chi_squared([[47, 48], [25, 14]])
    >>> round(r.statistic, 2), round(r.pvalue, 3)
    (2.38, 0.123)
    """
    rows = np.asarray(table, dtype=object)
    if rows.shape != (2, 2):
        raise ValueError(f"table has shape {rows.shape}, but must be (2, 2), a row for each system")
    x1, y1, x2, y2 = (check_count(x, f"table[{i}, {j}]", 0) for (i, j), x in np.ndenumerate(rows))
    found = two_proportion_z(x1, x1 + y1, x2, x2 + y2, alternative=alternative)
    return replace(found, test="chi_squared", statistic=found.statistic**2)


def wilson(share: float, trials: float, confidence_level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval: the probabilities that a normal test of a share of trials accepts."""
    z2 = t_quantile(registry.tail_level("two-sided", confidence_level), np.inf) ** 2
    centre, unit = share + z2 / (2 * trials), 1 + z2 / trials
    reach = sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials * trials)))
    low = 0.0 if share <= 0 else max((centre - reach) / unit, 0.0)
    return low, 1.0 if share >= 1 else min((centre + reach) / unit, 1.0)
