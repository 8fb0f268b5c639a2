"""Tests of counts: McNemar's for paired answers, and those that compare two proportions."""

from __future__ import annotations

from functools import partial
from math import inf, sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from permtest.alternatives.assumptions import (
    INDEPENDENT_ITEMS,
    INDEPENDENT_SYSTEMS,
    Assumption,
)
from permtest.alternatives.names import TITLES
from permtest.alternatives.parametric import normal_quantile
from permtest.alternatives.result import AlternativeResult, one_sided, tail_level
from permtest.alternatives.sample import as_threshold
from permtest.alternatives.tails import corrected_root, mcnemar_pvalue, normal_pvalue
from permtest.pairs import check_names
from permtest.statistics import Alternative, check_alternative

#: How to compute the p of McNemar's test.
McNemarMethod: TypeAlias = Literal["exact", "midp", "chi2", "chi2-corrected"]

#: Which interval for McNemar's test.
PairedInterval: TypeAlias = Literal["score", "wald", "conditional"]

#: Which interval for a difference of proportions.
ProportionInterval: TypeAlias = Literal["newcombe", "wald"]

#: The largest count; beyond, the binomial law is not exact.
LARGEST = 2**53

#: Expected counts from which on a chi-squared law fits well enough, by Cochran's rule.
ENOUGH = 5
LARGE_COUNTS = Assumption("large counts", f"all expected counts are at least {ENOUGH}")


def mcnemar(
    b: int,
    c: int,
    *,
    method: McNemarMethod = "exact",
    n: int | None = None,
    interval: PairedInterval | None = None,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
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
        Number of items, for the difference of the accuracies. Without it the estimate is the
        difference of the shares of b and c among the b + c items that tell.
    interval : {"score", "wald", "conditional"}, optional
        "score", the default where there is an `n`, is that of Tango (1998) for the difference of
        the accuracies, which excludes 0 where the p of "chi2" is small. "wald" is the textbook one,
        too short for few items. "conditional", the default without `n`, takes b + c as given, and
        is for the difference of the shares of b and c among them; it excludes 0 where p is small,
        by any method.
    alternative : {"two-sided", "greater", "less"}
        "greater": the first system is better. For chi-squared the signed root is taken.
    names : tuple of two str, optional

    Returns
    -------
    AlternativeResult

    Raises
    ------
    TypeError, ValueError
        If a count is no whole number or negative, or an option is unknown.

    Notes
    -----
    With b + c = 0 there is no evidence: p = 1. With b = c, corrected chi-squared is 0, as in R
    (statsmodels has 1 / (b + c)). Cost: none.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> alt.mcnemar(15, 5).pvalue, round(alt.mcnemar(15, 5, method="midp").pvalue, 6)
    (0.04138946533203125, 0.026604)
    """
    check_alternative(alternative)
    _check_option("method", method, get_args(McNemarMethod))
    kind = interval or ("conditional" if n is None else "score")
    _check_option("interval", kind, get_args(PairedInterval))
    b, c = count(b, "b"), count(c, "c")
    size = b + c if n is None else count(n, "n")
    if size < b + c:
        raise ValueError(f"n={size} is less than b + c = {b + c}")
    if kind != "conditional" and n is None:
        raise ValueError(f"interval={kind!r} needs n, the number of items")
    among = b + c if kind == "conditional" else size
    exact = method in ("exact", "midp")
    ends: Any = {
        "conditional": partial(_conditional, b, c, method, alternative),
        "wald": partial(_paired_wald, b, c, size, alternative),
        "score": partial(_paired_score, b, c, size, alternative),
    }[kind]
    test = "mcnemar" if method == "exact" else f"mcnemar_{method.replace('-', '_')}"
    return AlternativeResult(
        test=test,
        title=TITLES.get(test, "McNemar's test, corrected"),
        statistic=_statistic(b, c, method, alternative),
        statistic_name="wins" if exact else "chi2",
        pvalue=float(mcnemar_pvalue(b, c, method, alternative)),
        alternative=alternative,
        n=size,
        estimate=(b - c) / among if among else 0.0,
        estimate_name="difference of wins" if kind == "conditional" else "difference of accuracies",
        method={"exact": "exact", "midp": "exact, mid-p"}.get(method, "chi-squared approximation"),
        names=check_names(names or ("a", "b")),
        assumptions=(INDEPENDENT_ITEMS,) if exact else (INDEPENDENT_ITEMS, LARGE_COUNTS),
        details={"b": b, "c": c, "least_expected": (b + c) / 2},
        _interval=ends,
    )


def _statistic(b: int, c: int, method: str, alternative: str) -> float:
    """b for the exact methods, else chi-squared."""
    if method in ("exact", "midp") or b + c == 0:
        return b
    correction = 1.0 if method == "chi2-corrected" else 0.0
    return float(corrected_root(b - c, correction, alternative)) ** 2 / (b + c)


def _conditional(
    b: int, c: int, method: str, alternative: str, confidence_level: float
) -> tuple[float, float]:
    """The interval for the share of b in b + c, as a difference of the shares of b and c."""
    from scipy import stats

    if b + c == 0:
        return -1.0, 1.0
    if method == "midp":
        low, high = _midp_interval(b, c, tail_level(alternative, confidence_level))
    else:
        kind = {"exact": "exact", "chi2": "wilson", "chi2-corrected": "wilsoncc"}[method]
        test = stats.binomtest(b, b + c)
        level = _two_sided_level(tail_level(alternative, confidence_level))
        low, high = test.proportion_ci(level, method=kind)
    return one_sided(alternative, 2 * low - 1, 2 * high - 1, -1.0, 1.0)


def _midp_interval(b: int, c: int, tail: float) -> tuple[float, float]:
    """Shares at which one mid-p tail is `tail`; 0 and 1 where b or c is 0."""
    from scipy import stats
    from scipy.optimize import brentq

    n = b + c

    def above(share: float) -> float:
        return float(stats.binom.sf(b, n, share) + stats.binom.pmf(b, n, share) / 2)

    low = 0.0 if b == 0 else brentq(lambda x: above(x) - tail, 0.0, 1.0, xtol=1e-15)
    high = 1.0 if c == 0 else brentq(lambda x: 1 - above(x) - tail, 0.0, 1.0, xtol=1e-15)
    return float(low), float(high)


def _paired_wald(
    b: int, c: int, n: int, alternative: str, confidence_level: float
) -> tuple[float, float]:
    """The difference of paired proportions plus and minus its standard error."""
    centre = (b - c) / n if n else 0.0
    error = sqrt(max(b + c - (b - c) ** 2 / n, 0.0)) / n if n else inf
    reach = normal_quantile(tail_level(alternative, confidence_level)) * error
    return one_sided(alternative, centre - reach, centre + reach, -1.0, 1.0)


def _paired_score(
    b: int, c: int, n: int, alternative: str, confidence_level: float
) -> tuple[float, float]:
    """All differences that the score test does not reject (Tango 1998)."""
    if n == 0:
        return -1.0, 1.0
    z = normal_quantile(tail_level(alternative, confidence_level))
    low, high = _score_end(c, b, n, z), _score_end(b, c, n, z)
    return one_sided(alternative, -low, high, -1.0, 1.0)


def _score_end(b: int, c: int, n: int, z: float) -> float:
    """The largest difference whose score is not below -z."""
    from scipy.optimize import brentq

    def score(delta: float) -> float:
        """(b - c - n delta) over its standard deviation, at the likeliest share of c."""
        linear = (2 * n - b + c) * delta - b - c
        share = (sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0)) - linear) / (4 * n)
        variance = n * (2 * share + delta * (1 - delta))
        gap = b - c - n * delta
        if variance > 0:
            return gap / sqrt(variance) + z
        return z if gap == 0 else float(np.sign(gap)) * inf

    first, last = (b - c) / n, 1.0
    if first >= last or score(last - 1e-15) >= 0:
        return last
    return float(brentq(score, first, last - 1e-15, xtol=1e-14)) if z > 0 else first


# ---- two proportions ----------------------------------------------------------------------------


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
    _check_option("interval", interval, get_args(ProportionInterval))
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
    return AlternativeResult(
        test="two_proportion_z",
        title=TITLES["two_proportion_z"],
        statistic=z,
        statistic_name="z",
        pvalue=float(normal_pvalue(z, alternative)),
        alternative=alternative,
        n=n1 + n2,
        estimate=p1 - p2,
        estimate_name="difference of proportions",
        method="normal approximation",
        names=check_names(names or ("a", "b")),
        delta=threshold,
        assumptions=(INDEPENDENT_ITEMS, INDEPENDENT_SYSTEMS, LARGE_COUNTS),
        details={"p1": p1, "p2": p2, "least_expected": _least_expected(counts)},
        _interval=partial(_difference_interval, counts, interval, alternative),
    )


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
    _check_option("interval", interval, get_args(ProportionInterval))
    rows = np.asarray(table, dtype=object)
    if rows.shape != (2, 2):
        raise ValueError(f"table has shape {rows.shape}, but must be (2, 2), a row for each system")
    (x1, y1), (x2, y2) = ([count(rows[i, j], f"table[{i}, {j}]") for j in (0, 1)] for i in (0, 1))
    counts = _two_counts(x1, x1 + y1, x2, x2 + y2)
    root = _chi_root(x1, y1, x2, y2, correction, alternative)
    test = "chi_squared_yates" if correction else "chi_squared"
    return AlternativeResult(
        test=test,
        title=TITLES[test],
        statistic=root**2,
        statistic_name="chi2",
        pvalue=float(normal_pvalue(root, alternative)),
        alternative=alternative,
        n=sum(counts[1::2]),
        estimate=x1 / counts[1] - x2 / counts[3],
        estimate_name="difference of proportions",
        method="chi-squared approximation",
        names=check_names(names or ("a", "b")),
        assumptions=(INDEPENDENT_ITEMS, INDEPENDENT_SYSTEMS, LARGE_COUNTS),
        details={
            "p1": x1 / counts[1],
            "p2": x2 / counts[3],
            "least_expected": _least_expected(counts),
        },
        _interval=partial(_difference_interval, counts, interval, alternative),
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


def count(value: Any, name: str) -> int:
    """`value` as an int, or an error that names it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        whole = isinstance(value, float | np.floating) and float(value).is_integer()
        if not whole:
            raise TypeError(f"{name} = {value!r} must be a whole number")
    if value < 0:
        raise ValueError(f"{name} = {value} is below 0, but it is a count")
    if value > LARGEST:
        raise ValueError(f"{name} = {value} is above {LARGEST:,}, the most that is counted exactly")
    return int(value)


def _two_counts(x1: Any, n1: Any, x2: Any, n2: Any) -> tuple[int, int, int, int]:
    x1, n1, x2, n2 = (count(v, s) for v, s in ((x1, "x1"), (n1, "n1"), (x2, "x2"), (n2, "n2")))
    for x, n, i in ((x1, n1, 1), (x2, n2, 2)):
        if n == 0:
            raise ValueError(f"n{i} is 0: system {i} has no items, and no proportion")
        if x > n:
            raise ValueError(f"x{i} = {x} is more than n{i} = {n}")
    return x1, n1, x2, n2


def _least_expected(counts: tuple[int, int, int, int]) -> float:
    """The smallest of the four counts that are expected where the proportions are equal."""
    x1, n1, x2, n2 = counts
    share = (x1 + x2) / (n1 + n2)
    return min(n1, n2) * min(share, 1 - share)


def _difference_interval(
    counts: tuple[int, int, int, int], kind: str, alternative: str, confidence_level: float
) -> tuple[float, float]:
    x1, n1, x2, n2 = counts
    p1, p2, tail = x1 / n1, x2 / n2, tail_level(alternative, confidence_level)
    if kind == "wald":
        error = sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
        reach = normal_quantile(tail) * error
        return one_sided(alternative, p1 - p2 - reach, p1 - p2 + reach, -1.0, 1.0)
    (l1, h1), (l2, h2) = (_wilson(x, n, tail) for x, n in ((x1, n1), (x2, n2)))
    low = p1 - p2 - sqrt((p1 - l1) ** 2 + (h2 - p2) ** 2)
    high = p1 - p2 + sqrt((h1 - p1) ** 2 + (p2 - l2) ** 2)
    return one_sided(alternative, low, high, -1.0, 1.0)


def _wilson(x: int, n: int, tail: float) -> tuple[float, float]:
    """Wilson's interval for a proportion, with that much left out on each side."""
    from scipy import stats

    test = stats.binomtest(x, n)
    low, high = test.proportion_ci(_two_sided_level(tail), method="wilson")
    return float(low), float(high)


def _two_sided_level(tail: float) -> float:
    """The level of a two-sided interval that leaves so much on each side."""
    if tail >= 0.5:
        raise ValueError(f"confidence_level={1 - tail:g} is too low for a one-sided interval")
    return 1 - 2 * tail


def _check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, known))}")
