"""Tests that assume a normal law: t-tests, and z with and without the systems' correlation.

SciPy's t-tests take differences of floats, which do not tie where decimals do, and lose those of
large scores; its distributions are used here, with means and deviations of exact differences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import hypot, isfinite, sqrt
from typing import Any

import numpy as np

from permtest.alternatives.answer import (
    ROWS,
    AlternativeResult,
    Names,
    PairedSample,
    as_floats,
    as_threshold,
    check_magnitude,
    one_sided,
    result_of,
    spread,
    tail_level,
)
from permtest.integers import in_common_units, roomy
from permtest.pairs import Pairs
from permtest.statistics import Alternative


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
        Scores of both systems on the same items, N >= 2; or one `Pairs`.
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
    error = sample.deviation / sqrt(sample.n)
    found = {"sample": sample, "estimate": sample.mean}
    return student("paired_t", alternative, sample.lead, error, sample.n - 1, **found)


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

    Scores of two systems on the same items hardly ever are: the standard error is then too large
    by the factor that `inflation` gives.

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
    n1, n2, (s1, s2) = x.size, y.size, (spread(v - v.mean()) for v in (x, y))
    if s1 == s2 == 0:
        raise ValueError(
            "all scores of a are equal, and so are all scores of b, so a t-test has no "
            "standard error; use exact_perm_test if they are scores of the same items"
        )
    error, df = hypot(s1 / sqrt(n1), s2 / sqrt(n2)), float(n1 + n2 - 2)
    if equal_var:
        error = hypot(s1 * sqrt(n1 - 1), s2 * sqrt(n2 - 1)) * sqrt((1 / n1 + 1 / n2) / df)
    else:
        share = (s1 / error) ** 2 / n1
        df = 1 / (share**2 / (n1 - 1) + (1 - share) ** 2 / (n2 - 1))
    estimate, null = float(x.mean() - y.mean()), float(threshold)
    found = {"estimate": estimate, "delta": null, "n": n1 + n2, "names": names or ("a", "b")}
    if not equal_var:
        assumptions = ROWS["independent_t"].assumptions[:-1]
        found |= {"title": "Welch's two-sample t-test", "assumptions": assumptions}
    return student("independent_t", alternative, estimate - null, error, df, **found)


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
    s1, s2 = (spread(x - x.mean()) / sqrt(sample.n) for x in (sample.a, sample.b))
    error, r12 = sample.deviation / sqrt(sample.n), correlation or 0.0
    if correlation is not None:
        error = hypot(sqrt((1 - r12) / 2) * (s1 + s2), sqrt((1 + r12) / 2) * (s1 - s2))
    if error == 0:
        sample.refuse_constant("a z-test")
        raise ValueError(f"with correlation={correlation} the difference has no standard error")
    z, details = sample.lead / error, {"s1": s1, "s2": s2, "r12": sample.correlation}
    return result_of(
        "independent_z" if correlation == 0 else "normal_z",
        sample=sample,
        alternative=alternative,
        statistic=z,
        pvalue=float(normal_pvalue(z, alternative)),
        estimate=sample.mean,
        details=details | {"standard_error": error, "inflation": sample.inflation},
        _interval=partial(around, sample.mean, error, alternative, normal_quantile),
    )


def inflation(correlation: float) -> float:
    """The factor by which assuming independence inflates a standard deviation (Yeh, sec. 2.1).

    Parameters
    ----------
    correlation : float
        r12 of two systems whose standard deviations are equal; below 1.

    Returns
    -------
    float
        ``1 / sqrt(1 - r12)``.

    Raises
    ------
    ValueError
        If `correlation` is not in [-1, 1).

    Examples
    --------
    >>> from permtest.alternatives import inflation
    >>> [round(inflation(r), 2) for r in (0.38, 0.5, 0.8)]
    [1.27, 1.41, 2.24]
    """
    if not -1 <= correlation < 1:
        raise ValueError(f"correlation must lie in [-1, 1), got {correlation}")
    return 1 / sqrt(1 - correlation)


# ---- p and quantiles, for one number or for arrays -----------------------------------------------


def student(
    test: str, alternative: str, gap: float, error: float, df: float, **found: Any
) -> AlternativeResult:
    """The t-test of an estimate that exceeds the null hypothesis by `gap`."""
    quantile = partial(t_quantile, df=df)
    return result_of(
        test,
        alternative=alternative,
        statistic=gap / error,
        pvalue=float(t_pvalue(gap / error, df, alternative)),
        details={"df": df, "standard_error": error, **found.pop("details", {})},
        _interval=partial(around, found["estimate"], error, alternative, quantile),
        **found,
    )


def t_pvalue(t: Any, df: float, alternative: str) -> Any:
    """p of test statistics that have Student's t distribution."""
    from scipy.special import stdtr

    return _by_sides(partial(stdtr, df), t, alternative)


def normal_pvalue(z: Any, alternative: str) -> Any:
    """p of standard normal test statistics."""
    from scipy.special import ndtr

    return _by_sides(ndtr, z, alternative)


def _by_sides(below: Callable[[Any], Any], x: Any, alternative: str) -> Any:
    """p of x under a law that is symmetric about 0, `below` being its distribution function."""
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * below(-np.abs(x)))
    return below(-x if alternative == "greater" else x)


def normal_quantile(tail: float) -> float:
    """z with that much of a standard normal law above it."""
    from scipy.special import ndtri

    return -float(ndtri(tail))


def t_quantile(tail: float, df: float) -> float:
    """The value that Student's t exceeds with probability `tail`."""
    from scipy.special import stdtrit

    q = -float(stdtrit(df, tail))
    return q if isfinite(q) else normal_quantile(tail)


def around(
    centre: float, error: float, alternative: str, quantile: Any, confidence_level: float
) -> tuple[float, float]:
    """centre +- quantile * error."""
    reach = error * quantile(tail_level(alternative, confidence_level))
    return one_sided(alternative, centre - reach, centre + reach)
