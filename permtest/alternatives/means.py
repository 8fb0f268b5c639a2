"""Tests of the mean difference that assume a normal law: t and z.

The differences are those of integers, so that decimals tie. SciPy has the distributions; its tests
take twice as long, and have no p for a row without spread.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.alternatives import registry
from permtest.alternatives.registry import AlternativeResult, as_floats, by_sides, makes
from permtest.integers import exact_sum, in_common_units, roomy
from permtest.scores import Scores
from permtest.statistics import Alternative


@makes("paired_t")
def paired_t(
    a: Any, b: Any = None, *, alternative: Alternative = "two-sided", delta: float = 0.0
) -> AlternativeResult:
    """Student's t-test of the differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items, N >= 2; or one `Scores`. The scores of the folds
        of a cross-validation are not independent items; see `corrected_resampled_t`.
    alternative : {"two-sided", "greater", "less"}
        "greater": `a` scores higher.
    delta : float, default 0.0
        The mean difference under the null hypothesis.

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
    return of_mean("paired_t", *registry.scores_of(a, b, None, delta, least=2), alternative)


@makes("normal_z")
def normal_z(a: Any, b: Any = None, *, alternative: str = "two-sided", delta: Any = 0) -> Any:
    """z-test of the mean difference (Yeh, Eq. 1 and 2)."""
    scores, shift = registry.scores_of(a, b, None, delta, least=2)
    return of_mean("normal_z", scores, shift, alternative, df=inf)


def of_mean(
    test: str, scores: Scores, delta: Fraction, alternative: str, *, ratio: float = 0, df: float = 0
) -> AlternativeResult:
    """A test of the mean of differences, of which `delta` was taken off; df is N - 1 unless given.

    Its variance is larger by `ratio` times that of a difference than that of independent ones.
    """
    n = len(scores)
    lead = float(Fraction(exact_sum(scores.differences()), n * scores.scale))
    error = registry.deviation(scores) * sqrt(1 / n + ratio)
    if error == 0:
        raise ValueError(
            f"all {n} differences are {lead + float(delta):g}, so a "
            f"{'z' if df == inf else 't'}-test has no standard error; use exact_perm_test"
        )
    found = lead, float(delta), error, df or n - 1, alternative
    return _student(test, *found, n=n, names=scores.names)


@makes("independent_t")
def independent_t(
    a: Any,
    b: Any = None,
    *,
    equal_var: bool = True,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
) -> AlternativeResult:
    """Two-sample t-test, which assumes that the two systems' scores are independent of each other.

    Scores of two systems on the same items hardly ever are: with a correlation r12 the standard
    error is too large by 1 / sqrt(1 - r12), if both vary equally. `compare_all` returns r12 and
    that factor as `correlation` and `inflation`.

    Parameters
    ----------
    a, b : array_like of shape (N1,) and (N2,)
        Scores; not necessarily of the same items. Or `Scores`, and None.
    equal_var : bool, default True
        Whether both systems vary equally; False gives Welch's test.
    alternative, delta : as in `paired_t`

    Returns
    -------
    AlternativeResult
        `n` is N1 + N2; `details` has df and the standard error.

    Notes
    -----
    Too few scores, or equal ones, are a ValueError. The same as SciPy's ``ttest_ind``; cost O(N).
    Source: Yeh (2000), sec. 2.1.

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
        raise ValueError("there is 1 score of a system, but this test needs 2 or more")
    # Less the first score, as scores may be large and their differences small.
    both = roomy(np.concatenate(scores))
    x, y = np.split(as_floats(both - int(both[0]), scale), [n1])
    shares, df = np.array([x.var(ddof=1) / n1, y.var(ddof=1) / n2]), float(n1 + n2 - 2)
    error = float(np.sqrt(shares.sum()))
    if error == 0:
        raise ValueError(
            "all scores of a are equal, and so are all scores of b; use exact_perm_test"
        )
    if equal_var:
        error = sqrt((shares @ (n1 * (n1 - 1), n2 * (n2 - 1))) * (1 / n1 + 1 / n2) / df)
    else:
        df = 1 / float((shares / error**2) ** 2 @ (1 / (n1 - 1), 1 / (n2 - 1)))
    test, shift = "independent_t" if equal_var else "welch_t", float(registry.as_threshold(delta))
    found = float(x.mean() - y.mean()) - shift, shift, error, df, alternative
    return _student(test, *found, n=n1 + n2, names=names)


def _student(
    test: str, lead: float, delta: float, error: float, df: float, alternative: str, **rest: Any
) -> AlternativeResult:
    """The t-test of an estimate that exceeds `delta` by `lead`; z if df is inf."""
    found = lead / error, float(t_pvalue(lead / error, df, alternative)), alternative
    rest |= {"estimate": lead + delta, "details": {"df": df, "standard_error": error}}
    ends = partial(_around, lead + delta, error, df)
    return AlternativeResult(test, *found, delta=delta, **rest, _ends=ends)


def _around(centre: float, error: float, df: float, tail: float) -> tuple[float, float]:
    reach = error * t_quantile(tail, df)
    return centre - reach, centre + reach


# ---- many tests along an axis, and p for one number or for arrays --------------------------------


@makes("paired_t", many=True)
@makes("normal_z", many=True, normal=True)
def mean_pvalues(
    a: NDArray[Any], b: Any, axis: int = -1, *, alternative: str, normal: bool = False
) -> Any:
    """p of the t-test of differences, or of z."""
    d = registry.differences(a, b)
    return t_pvalue(mean_in_errors(d, axis), inf if normal else d.shape[axis] - 1, alternative)


def mean_in_errors(d: NDArray[Any], axis: int = -1) -> Any:
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
