"""Tests that assume a normal law: t-tests, and z with and without the systems' correlation.

SciPy's t-tests take differences of floats, which do not tie where decimals do, and lose those of
large scores; its distributions are used here, with means and deviations of exact differences.
"""

from __future__ import annotations

from functools import partial
from math import hypot, inf, isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.alternatives import registry
from permtest.alternatives.answer import (
    AlternativeResult,
    Names,
    PairedSample,
    as_floats,
    as_threshold,
    by_sides,
    check_magnitude,
    result_of,
    spread,
)
from permtest.integers import in_common_units, roomy
from permtest.pairs import Pairs
from permtest.score import counted
from permtest.statistics import Alternative


@registry.makes("paired_t")
def paired_t(
    a: Any,
    b: Any = None,
    *,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """Student's t-test of the differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items, N >= 2; or one `Pairs`. The scores of the folds
        of a cross-validation are not independent items; see `corrected_resampled_t`.
    alternative : {"two-sided", "greater", "less"}
        "greater": `a` scores higher.
    delta : float, default 0.0
        The mean difference under the null hypothesis.
    names : tuple of two str, optional

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
    Exact for normal differences, and nearly right for others if there are many pairs. SciPy's
    ``ttest_rel``; cost O(N). Source: Yeh (2000), sec. 3.1; NLPStatTest manual, Eq. 8.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.paired_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue, 4)
    0.0516
    """
    sample = PairedSample.of(a, b, delta, names, least=2)
    sample.refuse_constant("a t-test")
    found = sample.mean, sample.lead, sample.error, sample.n - 1
    return student("paired_t", alternative, *found, sample=sample)


@registry.makes("independent_t")
def independent_t(
    a: Any,
    b: Any = None,
    *,
    equal_var: bool = True,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """Two-sample t-test, which assumes that the two systems' scores are independent of each other.

    Scores of two systems on the same items hardly ever are: with a correlation r12 the standard
    error is too large by 1 / sqrt(1 - r12), if both vary equally. `compare_all` returns r12 and
    that factor as `correlation` and `inflation`.

    Parameters
    ----------
    a, b : array_like of shape (N1,) and (N2,)
        Scores; not necessarily of the same items. Or `Pairs`, and None.
    equal_var : bool, default True
        Whether both systems vary equally; False gives Welch's test.
    alternative, delta, names : as in `paired_t`

    Returns
    -------
    AlternativeResult
        `n` is N1 + N2; `details` has df and the standard error.

    Raises
    ------
    ValueError
        If there are too few scores, or those of each system are all equal.

    Notes
    -----
    The same as SciPy's ``ttest_ind``; cost O(N). Source: Yeh (2000), sec. 2.1.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.independent_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue, 4)
    0.147
    """
    threshold = as_threshold(delta)
    if isinstance(a, Pairs) and b is None:
        pairs = PairedSample.of(a).pairs
        scores, scale, names = [pairs.u, pairs.v], pairs.scale, names or pairs.names
    else:
        scores, scale, *_ = in_common_units((a, b), ("a", "b"))
        check_magnitude(scores, scale, "ab")
    for name, column in zip("ab", scores, strict=True):
        if column.size < 2:
            raise ValueError(f"{name} has {column.size} scores, but this test needs 2")
    # Less the first score, as scores may be large and their differences small.
    both = roomy(np.concatenate(scores))
    x, y = np.split(as_floats(both - int(both[0]), scale), [scores[0].size])
    gap, error, df = map(float, two_samples(x, y, equal_var=equal_var))
    if error == 0:
        raise ValueError(
            "all scores of a are equal, and so are all scores of b, so a t-test has no "
            "standard error; use exact_perm_test if they are scores of the same items"
        )
    found: dict[str, Any] = {"n": both.size, "names": names, "delta": float(threshold)}
    if not equal_var:
        found["title"] = "Welch's two-sample t-test"
        found["assumptions"] = registry.ITEMS, registry.SYSTEMS, registry.NORMAL_SCORES
    return student("independent_t", alternative, gap, gap - found["delta"], error, df, **found)


@registry.makes("normal_z")
@registry.makes("independent_z", correlation=0.0)
def normal_z(
    a: Any,
    b: Any = None,
    *,
    correlation: float | None = None,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
) -> AlternativeResult:
    """z-test of the mean difference (Yeh, Eq. 1 and 2), by the correlation r12 of both systems.

    Its variance is ``s1^2 + s2^2 - 2 r12 s1 s2``, with standard errors s1 and s2 of both means. r12
    is that of the scores unless another `correlation` is given; 0 assumes independent systems.
    """
    sample = PairedSample.of(a, b, delta, least=2)
    s1, s2 = (float(spread(x - x.mean())) / sqrt(sample.n) for x in (sample.a, sample.b))
    error, r12 = sample.error, correlation or 0.0
    if correlation is not None:
        error = hypot(sqrt((1 - r12) / 2) * (s1 + s2), sqrt((1 + r12) / 2) * (s1 - s2))
    if error == 0:
        sample.refuse_constant("a z-test")
        raise ValueError(f"with correlation={correlation} the difference has no standard error")
    details = {"s1": s1, "s2": s2, "r12": sample.correlation, "inflation": sample.inflation}
    test = "independent_z" if correlation == 0 else "normal_z"
    found = sample.mean, sample.lead, error, inf
    return student(test, alternative, *found, sample=sample, details=details)


# ---- many tests along an axis --------------------------------------------------------------------


@registry.makes("paired_t", batch=True)
@registry.makes("normal_z", batch=True, normal=True)
def mean_pvalue(d: NDArray[Any], axis: int = -1, *, alternative: str, normal: bool = False) -> Any:
    """p of the t-test of differences, or of z."""
    df = inf if normal else d.shape[axis] - 1
    return t_pvalue(mean_in_errors(d, axis), df, alternative)


@registry.makes("independent_t", batch=True)
def two_sample_pvalue(a: NDArray[Any], b: NDArray[Any], axis: int = -1, *, alternative: str) -> Any:
    """p of the two-sample t-test."""
    gap, error, df = two_samples(a, b, axis)
    return t_pvalue(_in_errors(gap, error), df, alternative)


def mean_in_errors(d: NDArray[Any], axis: int = -1) -> Any:
    """The mean of differences in standard errors, infinite without spread; 0 if all are 0."""
    n, mean = _several(d, axis), d.mean(axis, keepdims=True)
    centred = d - mean
    return _in_errors(mean.squeeze(axis), spread(centred, axis, out=centred) / sqrt(n))


def two_samples(
    a: NDArray[Any], b: NDArray[Any], axis: int = -1, *, equal_var: bool = True
) -> tuple[Any, Any, Any]:
    """The difference of two means, its standard error, and the degrees of freedom."""
    n1, n2 = _several(a, axis), _several(b, axis)
    m1, m2 = (x.mean(axis, keepdims=True) for x in (a, b))
    gap, s1, s2 = (m1 - m2).squeeze(axis), spread(a - m1, axis), spread(b - m2, axis)
    if equal_var:
        df = n1 + n2 - 2
        error = np.hypot(s1 * sqrt(n1 - 1), s2 * sqrt(n2 - 1)) * sqrt((1 / n1 + 1 / n2) / df)
        return gap, error, df
    error = np.hypot(s1 / sqrt(n1), s2 / sqrt(n2))
    share = (s1 / np.where(error > 0, error, 1.0)) ** 2 / n1
    return gap, error, 1 / (share**2 / (n1 - 1) + (1 - share) ** 2 / (n2 - 1))


def _several(x: NDArray[Any], axis: int) -> int:
    """The number of scores along the axis, of which a spread needs two."""
    if x.shape[axis] < 2:
        raise ValueError(f"a row has {counted(x.shape[axis], 'pairs')}, but this test needs 2")
    return int(x.shape[axis])


def _in_errors(lead: Any, error: Any) -> Any:
    """How many standard errors a lead is; none, even without spread, where there is no lead."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lead == 0, 0.0, lead / error)


# ---- p and quantiles, for one number or for arrays -----------------------------------------------


def student(
    test: str, alternative: str, estimate: float, lead: float, error: float, df: float, **found: Any
) -> AlternativeResult:
    """The t-test of an estimate that exceeds the null hypothesis by `lead`; z if df is inf."""
    freedom = {} if df == inf else {"df": df}
    return result_of(
        test,
        alternative=alternative,
        statistic=lead / error,
        pvalue=float(t_pvalue(lead / error, df, alternative)),
        estimate=estimate,
        details={**freedom, "standard_error": error, **found.pop("details", {})},
        ends=partial(around, estimate, error, df),
        **found,
    )


def t_pvalue(t: Any, df: float, alternative: str) -> Any:
    """p of test statistics that have Student's t distribution; the normal one if df is inf."""
    from scipy.special import ndtr, stdtr

    below = ndtr if df == inf else partial(stdtr, df)
    return by_sides(alternative, below(-t), below(t))


def normal_pvalue(z: Any, alternative: str) -> Any:
    """p of standard normal test statistics."""
    return t_pvalue(z, inf, alternative)


def t_quantile(tail: float, df: float) -> float:
    """The value that Student's t exceeds with probability `tail`; normal if df is inf."""
    from scipy.special import ndtri, stdtrit

    q = -float(ndtri(tail) if df == inf else stdtrit(df, tail))
    return q if isfinite(q) or df == inf else t_quantile(tail, inf)


def normal_quantile(tail: float) -> float:
    """z with that much of a standard normal law above it."""
    return t_quantile(tail, inf)


def around(centre: float, error: float, df: float, tail: float) -> tuple[float, float]:
    """The centre, less and plus an error times a quantile of t."""
    reach = error * t_quantile(tail, df)
    return centre - reach, centre + reach
