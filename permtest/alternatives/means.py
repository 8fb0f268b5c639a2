"""Tests of the mean difference that assume a normal law: t and z.

SciPy has the distributions; its tests take twice as long, with no p for a row without spread.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from permtest.alternatives import registry
from permtest.alternatives.registry import AlternativeResult, Array, by_sides, makes
from permtest.integers import exact_sum, in_common_units
from permtest.scores import Scores
from permtest.statistics import Alternative


@makes("paired_t")
def paired_t(a: Any, b: Any = None, *, alternative: Alternative = "two-sided") -> AlternativeResult:
    """Student's t-test of the differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items, N >= 2; or one `Scores`. The scores of the folds
        of a cross-validation are not independent items; see `corrected_resampled_t`.
    alternative : {"two-sided", "greater", "less"}
        "greater": `a` scores higher.

    Returns
    -------
    AlternativeResult
        Its interval is for the mean difference. `details` has df and the standard error.

    Raises
    ------
    TypeError, ValueError
        As in all tests, if an entry is missing or none of what it should be, lengths differ, or an
        option is unknown. Here also if all differences are equal: t would be infinite, whatever N.

    Notes
    -----
    Exact for normal differences, and nearly right for others if there are many pairs. The numbers
    of SciPy's ``ttest_rel``; cost O(N). Source: Yeh (2000), sec. 3.1; NLPStatTest manual, Eq. 8.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.paired_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue, 4)
    0.0516
    """
    return of_mean(a, b, "paired_t", alternative=alternative)


@makes("normal_z", name="normal_z", df=inf)
def of_mean(
    a: Any, b: Any = None, name: str = "", *, alternative: str, ratio: float = 0, df: float = 0
) -> AlternativeResult:
    """t or z (Yeh, Eq. 1 and 2) of a mean; `ratio` times the variance of d is added to its own."""
    scores = registry.scores_of(a, b, least=2)
    n, d = len(scores), scores.differences()
    lead = float(Fraction(exact_sum(d), n * scores.scale))
    error = float(registry.from_first(d, scores.scale).std(ddof=1)) * sqrt(1 / n + ratio)
    if error == 0:
        what = f"all {n} differences are {lead:g}, so they have no standard error"
        raise ValueError(f"{what}; use exact_perm_test")
    return _student(name, lead, error, df or n - 1, alternative, n, scores.names)


@makes("independent_t")
def independent_t(
    a: Any, b: Any = None, *, equal_var: bool = True, alternative: Alternative = "two-sided"
) -> AlternativeResult:
    """Two-sample t-test, which assumes that the two systems' scores are independent of each other.

    Scores of two systems on the same items hardly ever are: with a correlation r12 the standard
    error is too large by 1 / sqrt(1 - r12), if both vary equally; see `compare_all`.

    Parameters
    ----------
    a, b : array_like of shape (N1,) and (N2,)
        Scores; not necessarily of the same items. Or `Scores`, and None.
    equal_var : bool, default True
        Whether both systems vary equally; False gives Welch's test.
    alternative : as in `paired_t`

    Notes
    -----
    The numbers of SciPy's ``ttest_ind``. `n` is N1 + N2. Source: Yeh (2000), sec. 2.1.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.independent_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue, 4)
    0.147
    """
    if isinstance(a, Scores) and b is None:
        scores, scale, names = [a.u, a.v], a.scale, a.names
    else:
        (scores, scale, *_), names = in_common_units((a, b), ("a", "b")), ("a", "b")
    registry.check_size(scale, *scores)
    n1, n2 = map(len, scores)
    if min(n1, n2) < 2:
        raise ValueError(f"a has {n1} scores and b {n2}, but this test needs 2 or more of each")
    x, y = np.split(registry.from_first(np.concatenate(scores), scale), [n1])
    shares, df = np.array([x.var(ddof=1) / n1, y.var(ddof=1) / n2]), float(n1 + n2 - 2)
    error = float(np.sqrt(shares.sum()))
    if error == 0:
        raise ValueError("all scores of a are equal, and so are those of b; use exact_perm_test")
    if equal_var:
        error = sqrt((shares @ (n1 * (n1 - 1), n2 * (n2 - 1))) * (1 / n1 + 1 / n2) / df)
    else:
        df = 1 / float((shares / error**2) ** 2 @ (1 / (n1 - 1), 1 / (n2 - 1)))
    test, lead = "independent_t" if equal_var else "welch_t", float(x.mean() - y.mean())
    return _student(test, lead, error, df, alternative, n1 + n2, names)


def _student(
    test: str, lead: float, error: float, df: float, side: str, n: int, names: tuple[str, str]
) -> AlternativeResult:
    """The t-test of an estimate and its standard error; z if df is inf."""
    found = lead / error, float(t_pvalue(lead / error, df, side)), side, n, lead, names
    details, ends = {"df": df, "standard_error": error}, partial(_around, lead, error, df)
    return AlternativeResult(test, *found, details, _ends=ends)


def _around(centre: float, error: float, df: float, tail: float) -> tuple[float, float]:
    reach = error * t_quantile(tail, df)
    return centre - reach, centre + reach


@makes("paired_t", many=True)
@makes("normal_z", many=True, normal=True)
def mean_pvalues(
    a: Array, b: Any, axis: int = -1, *, alternative: str, normal: bool = False
) -> Any:
    """p of the t-test of differences, or of z."""
    d = registry.differences(a, b)
    return t_pvalue(mean_in_errors(d, axis), inf if normal else d.shape[axis] - 1, alternative)


def mean_in_errors(d: Array, axis: int = -1) -> Any:
    """The mean of differences in standard errors, infinite without spread; 0 if all are 0."""
    if d.shape[axis] < 2:
        raise ValueError("there is 1 score of a system, but this test needs 2 or more")
    return in_errors(d.mean(axis), d.std(axis, ddof=1) / sqrt(d.shape[axis]))


def in_errors(lead: Any, error: Any) -> Any:
    """How many standard errors a lead is; none, even without spread, where there is no lead."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lead == 0, 0.0, lead / error)


def t_pvalue(t: Any, df: float, alternative: str) -> Any:
    """p of test statistics that have Student's t distribution; the normal one if df is inf."""
    from scipy.special import ndtr, stdtr

    below = ndtr if df == inf else partial(stdtr, df)
    return by_sides(alternative, below(-t), below(t))


def t_quantile(tail: float, df: float) -> float:
    """The value that Student's t exceeds with probability `tail`; normal if df is inf."""
    from scipy.special import ndtri, stdtrit

    q = -float(ndtri(tail) if df == inf else stdtrit(df, tail))
    return q if isfinite(q) or df == inf else t_quantile(tail, inf)
