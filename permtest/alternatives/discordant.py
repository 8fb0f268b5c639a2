"""McNemar's test: items that one of two systems gets right, and the other wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from permtest._checks import check_option, count
from permtest.alternatives.assumptions import INDEPENDENT_ITEMS
from permtest.alternatives.counts import LARGE_COUNTS, two_sided_level
from permtest.alternatives.names import TITLES
from permtest.alternatives.parametric import normal_quantile
from permtest.alternatives.result import AlternativeResult, one_sided, tail_level
from permtest.alternatives.sample import PairedSample
from permtest.alternatives.tails import corrected_root, mcnemar_pvalue
from permtest.pairs import Pairs, check_names
from permtest.statistics import Alternative, check_alternative

#: How to compute the p of McNemar's test.
McNemarMethod: TypeAlias = Literal["exact", "midp", "chi2", "chi2-corrected"]

#: Which interval for McNemar's test.
PairedInterval: TypeAlias = Literal["score", "wald", "conditional"]


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
        "greater": the first system scores higher. For chi-squared the signed root is taken.
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
    check_option("method", method, get_args(McNemarMethod))
    kind = interval or ("conditional" if n is None else "score")
    check_option("interval", kind, get_args(PairedInterval))
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
        level = two_sided_level(tail_level(alternative, confidence_level))
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


def score_interval(
    pairs: Pairs, alternative: str = "two-sided"
) -> Callable[[float], tuple[float, float]] | None:
    """Tango's interval of the mean difference, by its level; None unless scores are 0 or 1.

    All shifts that the exact test does not reject would move ties as well, and be too short where
    few items differ.
    """
    sample = None if pairs.columns or pairs.clusters is not None else PairedSample(pairs)
    if sample is None or not sample.is_binary:
        return None
    b, c = int(np.sum(sample.gaps > 0)), int(np.sum(sample.gaps < 0))
    return partial(_paired_score, b, c, sample.n, alternative)


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
    if z <= 0:
        return first
    while first < (middle := (first + last) / 2) < last:  # some 55 halvings, to the last bit
        first, last = (middle, last) if score(middle) >= 0 else (first, middle)
    return first
