"""Tests that compare two proportions as if they were independent of each other."""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from permtest._checks import check_option, count
from permtest.alternatives.assumptions import INDEPENDENT_ITEMS, INDEPENDENT_SYSTEMS
from permtest.alternatives.counts import LARGE_COUNTS, two_sided_level, wilson
from permtest.alternatives.names import TITLES
from permtest.alternatives.parametric import normal_quantile
from permtest.alternatives.result import AlternativeResult, one_sided, tail_level
from permtest.alternatives.sample import as_threshold
from permtest.alternatives.tails import corrected_root, normal_pvalue
from permtest.pairs import check_names
from permtest.statistics import Alternative, check_alternative

#: Which interval for a difference of proportions.
ProportionInterval: TypeAlias = Literal["newcombe", "wald"]

#: x1 of n1 items, and x2 of n2.
Counts: TypeAlias = tuple[int, int, int, int]


def two_proportion_z(
    x1: int,
    n1: int,
    x2: int,
    n2: int,
    *,
    pooled: bool = True,
    interval: ProportionInterval = "newcombe",
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """z-test of two proportions that are taken for independent of each other.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        x1 of n1 items, and x2 of n2; such as the correct ones of either system.
    pooled : bool, default True
        Whether the standard error is that of one common proportion; only for ``delta=0``.
    interval : {"newcombe", "wald"}
        For the difference: Newcombe's, of Wilson intervals for both, or the textbook one.
    alternative : {"two-sided", "greater", "less"}
    delta : float, default 0.0
        The difference of the proportions under the null hypothesis.
    names : tuple of two str, optional

    Returns
    -------
    AlternativeResult
        `details` has both proportions.

    Raises
    ------
    TypeError, ValueError
        If a count is no whole number, negative, or above its n, or an n is 0.

    Notes
    -----
    Two systems on the same items are not independent: `mcnemar` uses that. Where no standard error
    can be computed, as both proportions are 0 or 1, p = 1 if they differ by `delta`, and there is
    an error if not. Cost: none. Source: Yeh (2000), sec. 2.1.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.two_proportion_z(85, 100, 75, 100).pvalue, 6)
    0.0771
    """
    check_alternative(alternative)
    check_option("interval", interval, get_args(ProportionInterval))
    threshold = float(as_threshold(delta))
    if not -1 < threshold < 1:
        raise ValueError(f"delta={delta} must lie between -1 and 1, as a difference of proportions")
    counts = _two_counts(x1, n1, x2, n2)
    x1, n1, x2, n2 = counts
    p1, p2 = x1 / n1, x2 / n2
    common = (x1 + x2) / (n1 + n2)
    if pooled and threshold == 0:
        variance = common * (1 - common) * (1 / n1 + 1 / n2)
    else:
        variance = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    gap = (x1 * n2 - x2 * n1) / (n1 * n2) - threshold
    if variance == 0 and gap != 0:
        raise ValueError(
            f"both proportions are 0 or 1 (x1 = {x1}, n1 = {n1}, x2 = {x2}, n2 = {n2}), so that "
            "their difference has no standard error; use pooled=True with delta=0, or fisher_exact"
        )
    z = gap / sqrt(variance) if variance else 0.0
    found = {"statistic": z, "statistic_name": "z", "method": "normal approximation"}
    found |= {"pvalue": float(normal_pvalue(z, alternative)), "delta": threshold}
    return _result("two_proportion_z", counts, interval, alternative, names, **found)


def chi_squared(
    table: Any,
    *,
    correction: bool = False,
    interval: ProportionInterval = "newcombe",
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """Chi-squared test of a 2x2 table, which takes its rows for independent of each other.

    Parameters
    ----------
    table : array_like of shape (2, 2)
        A row for each system: items of the first kind (correct, relevant, ...) and all others.
    correction : bool, default False
        Whether to apply Yates' continuity correction, which makes p larger, as a rule too large.
    interval : {"newcombe", "wald"}
        For the difference of the shares of the first kind.
    alternative : {"two-sided", "greater", "less"}
        One-sided tests take the signed root of chi-squared.
    names : tuple of two str, optional

    Returns
    -------
    AlternativeResult

    Raises
    ------
    TypeError, ValueError
        If the table is not 2x2, an entry is no count, or a row is empty.

    Notes
    -----
    Without correction it is `two_proportion_z`, squared. Yeh's example of precision: 47 relevant
    and 48 spurious answers of one method against 25 and 14 of the other. If a column is empty there
    is no evidence: p = 1. Cost: none. Source: Yeh (2000), sec. 2.2.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.chi_squared([[47, 48], [25, 14]])
    >>> round(r.statistic, 2), round(r.pvalue, 3)
    (2.38, 0.123)
    """
    check_alternative(alternative)
    check_option("interval", interval, get_args(ProportionInterval))
    rows = np.asarray(table, dtype=object)
    if rows.shape != (2, 2):
        raise ValueError(f"table has shape {rows.shape}, but must be (2, 2), a row for each system")
    (x1, y1), (x2, y2) = ([count(rows[i, j], f"table[{i}, {j}]") for j in (0, 1)] for i in (0, 1))
    counts = _two_counts(x1, x1 + y1, x2, x2 + y2)
    root = _chi_root(x1, y1, x2, y2, correction, alternative)
    test = "chi_squared_yates" if correction else "chi_squared"
    found = {"statistic": root**2, "statistic_name": "chi2", "method": "chi-squared approximation"}
    found |= {"pvalue": float(normal_pvalue(root, alternative))}
    return _result(test, counts, interval, alternative, names, **found)


def _result(
    test: str,
    counts: Counts,
    interval: str,
    alternative: str,
    names: tuple[str, str] | None,
    **found: Any,
) -> AlternativeResult:
    """What tests of two proportions have in common."""
    x1, n1, x2, n2 = counts
    p1, p2 = x1 / n1, x2 / n2
    return AlternativeResult(
        test=test,
        title=TITLES[test],
        alternative=alternative,
        n=n1 + n2,
        estimate=p1 - p2,
        estimate_name="difference of proportions",
        names=check_names(names or ("a", "b")),
        assumptions=(INDEPENDENT_ITEMS, INDEPENDENT_SYSTEMS, LARGE_COUNTS),
        details={"p1": p1, "p2": p2, "least_expected": _least_expected(counts)},
        _interval=partial(_difference_interval, counts, interval, alternative),
        **found,
    )


def _chi_root(x1: int, y1: int, x2: int, y2: int, correction: bool, alternative: str) -> float:
    """The signed root of chi-squared; 0 where a column is empty."""
    n, margins = x1 + y1 + x2 + y2, (x1 + y1) * (x2 + y2) * (x1 + x2) * (y1 + y2)
    if margins == 0:
        return 0.0
    gap = corrected_root(float(x1 * y2 - x2 * y1), n / 2 if correction else 0.0, alternative)
    return float(gap) / sqrt(margins / n)


def fisher_exact(
    table: Any,
    *,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """Fisher's exact test of a 2x2 table, which takes its rows for independent of each other.

    Parameters
    ----------
    table : array_like of shape (2, 2)
        As in `chi_squared`.
    alternative : {"two-sided", "greater", "less"}
        Two-sided: tables that are at most as likely count, as in SciPy and R.
    names : tuple of two str, optional

    Returns
    -------
    AlternativeResult
        Its interval is Newcombe's, for the difference of the proportions.

    Raises
    ------
    TypeError, ValueError
        If the table is not 2x2, an entry is no count, or a row is empty.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.fisher_exact([[85, 15], [75, 25]]).pvalue, 6)
    0.11088
    """
    from dataclasses import replace

    from scipy import stats

    base = chi_squared(table, alternative=alternative, names=names)
    found = stats.fisher_exact(np.asarray(table), alternative=alternative)
    return replace(
        base,
        test="fisher_exact",
        title="Fisher's exact test",
        statistic=float(found.statistic),
        statistic_name="odds ratio",
        pvalue=float(found.pvalue),
        method="exact",
        assumptions=(INDEPENDENT_ITEMS, INDEPENDENT_SYSTEMS),
    )


def _two_counts(x1: Any, n1: Any, x2: Any, n2: Any) -> Counts:
    x1, n1, x2, n2 = (count(v, s) for v, s in ((x1, "x1"), (n1, "n1"), (x2, "x2"), (n2, "n2")))
    for x, n, i in ((x1, n1, 1), (x2, n2, 2)):
        if n == 0:
            raise ValueError(f"n{i} is 0: system {i} has no items, and no proportion")
        if x > n:
            raise ValueError(f"x{i} = {x} is more than n{i} = {n}")
    return x1, n1, x2, n2


def _least_expected(counts: Counts) -> float:
    """The smallest of the four counts that are expected where the proportions are equal."""
    x1, n1, x2, n2 = counts
    share = (x1 + x2) / (n1 + n2)
    return min(n1, n2) * min(share, 1 - share)


def _difference_interval(
    counts: Counts, kind: str, alternative: str, confidence_level: float
) -> tuple[float, float]:
    x1, n1, x2, n2 = counts
    p1, p2, tail = x1 / n1, x2 / n2, tail_level(alternative, confidence_level)
    if kind == "wald":
        error = sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
        reach = normal_quantile(tail) * error
        return one_sided(alternative, p1 - p2 - reach, p1 - p2 + reach, -1.0, 1.0)
    level = two_sided_level(tail)
    (l1, h1), (l2, h2) = wilson(p1, n1, level), wilson(p2, n2, level)
    low = p1 - p2 - sqrt((p1 - l1) ** 2 + (h2 - p2) ** 2)
    high = p1 - p2 + sqrt((h1 - p1) ** 2 + (p2 - l2) ** 2)
    return one_sided(alternative, low, high, -1.0, 1.0)
