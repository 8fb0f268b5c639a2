"""Tests that assume a normal law: t-tests, and z with and without the systems' correlation."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import exact_sum, roomy
from permtest.alternatives.assumptions import (
    EQUAL_VARIANCES,
    INDEPENDENT_ITEMS,
    INDEPENDENT_SYSTEMS,
    LARGE_SAMPLE,
    NORMAL_DIFFERENCES,
    NORMAL_SCORES,
)
from permtest.alternatives.names import TITLES
from permtest.alternatives.result import AlternativeResult, one_sided, result_of, tail_level
from permtest.alternatives.sample import (
    PairedSample,
    as_floats,
    as_threshold,
    nearest,
    rescaled,
    tamed,
    within_floats,
)
from permtest.alternatives.tails import normal_pvalue, t_pvalue
from permtest.decimals import in_common_units
from permtest.pairs import Pairs, check_names
from permtest.statistics import Alternative, check_alternative


def paired_t(
    a: Any,
    b: Any = None,
    *,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: tuple[str, str] | None = None,
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
    ValueError
        If all differences are equal: t would be infinite, whatever N.

    Notes
    -----
    Exact for normal differences, and for many pairs about right for others. SciPy's
    ``ttest_rel``; cost O(N). Source: Yeh (2000), sec. 3.1; NLPStatTest manual, Eq. 8.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> round(alt.paired_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue, 4)
    0.0516
    """
    check_alternative(alternative)
    sample = PairedSample.of(a, b, delta, names, least=2)
    refuse_constant(sample, "a t-test")
    tame = sample.tame
    error, df = tame.deviation / sqrt(sample.n), sample.n - 1
    found = student(tame.mean, lead(tame), error, df, alternative)
    found = in_scores(found, tame.power)
    assumed = INDEPENDENT_ITEMS, NORMAL_DIFFERENCES
    return result_of(sample, "paired_t", alternative, assumptions=assumed, **found)


def independent_t(
    a: Any,
    b: Any = None,
    *,
    equal_var: bool = True,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """Two-sample t-test, which takes the scores of the two systems for independent of each other.

    Scores of two systems on the same items hardly ever are: the standard error is then too large
    by the factor that `inflation` gives.

    Parameters
    ----------
    a, b : array_like of shape (N1,) and (N2,)
        Scores; not necessarily of the same items. Or `Pairs`, and None.
    equal_var : bool, default True
        Whether both systems vary equally; False gives Welch's test.
    alternative : {"two-sided", "greater", "less"}
    delta : float, default 0.0
        The difference of the means under the null hypothesis.
    names : tuple of two str, optional

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
    check_alternative(alternative)
    threshold = as_threshold(delta)
    if isinstance(a, Pairs) and b is None:
        names = names or a.names
    x, y, power = columns(a, b)
    if np.ptp(x) == 0 and np.ptp(y) == 0:
        raise ValueError(
            "all scores of a are equal, and all of b: a t-test has no standard error then; "
            "use exact_perm_test if they are scores of the same items"
        )
    estimate = float(x.mean() - y.mean())
    gap = estimate - nearest(threshold * Fraction(2) ** -power)
    error, df = _unpaired(x, y, equal_var)
    found = in_scores(student(estimate, gap, error, df, alternative), power)
    within_floats(found["estimate"], found["estimate_name"])
    title = TITLES["independent_t"] if equal_var else "Welch's two-sample t-test"
    normal = (NORMAL_SCORES, EQUAL_VARIANCES) if equal_var else (NORMAL_SCORES,)
    return AlternativeResult(
        test="independent_t",
        title=title,
        alternative=alternative,
        n=x.size + y.size,
        names=check_names(names or ("a", "b")),
        delta=float(threshold),
        assumptions=(INDEPENDENT_ITEMS, INDEPENDENT_SYSTEMS, *normal),
        **found,
    )


def _unpaired(
    x: NDArray[np.float64], y: NDArray[np.float64], equal_var: bool
) -> tuple[float, float]:
    """Standard error of the difference of two means, and degrees of freedom."""
    first, second = (float(v.var(ddof=1)) for v in (x, y))
    n1, n2 = x.size, y.size
    if equal_var:
        pooled = (first * (n1 - 1) + second * (n2 - 1)) / (n1 + n2 - 2)
        return sqrt(pooled / n1 + pooled / n2), n1 + n2 - 2
    total = first / n1 + second / n2
    share = first / n1 / total
    return sqrt(total), 1 / (share**2 / (n1 - 1) + (1 - share) ** 2 / (n2 - 1))


def normal_z(
    a: Any,
    b: Any = None,
    *,
    correlation: float | None = None,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """z-test of the mean difference, from the standard errors of both means and their correlation.

    The variance of the difference is ``s1^2 + s2^2 - 2 r12 s1 s2``, with the standard errors s1
    and s2 of the two means and the correlation r12 of the two systems' scores.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items, N >= 2; or one `Pairs`.
    correlation : float, optional
        r12, in [-1, 1]; 0 assumes that the systems are independent. Default: that of the scores.
    alternative : {"two-sided", "greater", "less"}
    delta : float, default 0.0
        The mean difference under the null hypothesis.
    names : tuple of two str, optional

    Returns
    -------
    AlternativeResult
        `details` has both standard errors, r12 of the scores, the standard error of the
        difference, and `inflation`: how many times that would be as large with r12 = 0.

    Raises
    ------
    ValueError
        If the standard error is 0, or `correlation` out of range.

    Notes
    -----
    With r12 of the scores, it differs from `paired_t` in taking a normal in place of a t
    distribution. Cost O(N). Source: Yeh (2000), Eq. 1 and 2.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.normal_z([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> round(r.pvalue, 4), round(r.details["inflation"], 2)
    (0.006, 1.71)
    """
    check_alternative(alternative)
    sample = PairedSample.of(a, b, delta, names, least=2)
    tame = sample.tame
    s1, s2 = (float(x.std(ddof=1)) / sqrt(sample.n) for x in (tame.a, tame.b))
    own = tame.deviation / sqrt(sample.n)
    error = own if correlation is None else _correlated(s1, s2, correlation)
    if error == 0:
        refuse_constant(sample, "a z-test")
        raise ValueError(f"with correlation={correlation} the difference has no standard error")
    z = lead(tame) / error
    independent = correlation == 0
    test = "independent_z" if independent else "normal_z"
    assumed = (INDEPENDENT_ITEMS, INDEPENDENT_SYSTEMS) if independent else (INDEPENDENT_ITEMS,)
    found = {
        "statistic": z,
        "statistic_name": "z",
        "pvalue": float(normal_pvalue(z, alternative)),
        "estimate": tame.mean,
        "estimate_name": "mean difference",
        "method": "normal approximation",
        "details": {
            "s1": s1,
            "s2": s2,
            "r12": sample.correlation,
            "standard_error": error,
            "inflation": sample.inflation,
        },
        "_interval": partial(around, tame.mean, error, alternative, normal_quantile),
    }
    found = in_scores(found, tame.power)
    return result_of(sample, test, alternative, assumptions=(*assumed, LARGE_SAMPLE), **found)


def _correlated(s1: float, s2: float, r12: float) -> float:
    """Yeh's Eq. 2."""
    if not -1 <= r12 <= 1:
        raise ValueError(f"correlation must lie in [-1, 1], got {r12}")
    return sqrt(max(s1**2 + s2**2 - 2 * r12 * s1 * s2, 0.0))


# ---- shared with other families -----------------------------------------------------------------


def refuse_constant(sample: PairedSample, what: str) -> None:
    """Raise ValueError if all differences are equal."""
    if np.all(sample.gaps == sample.gaps[0]):
        raise ValueError(
            f"all {sample.n} differences are {sample.differences[0]:g}: {what} has no standard "
            "error then; use exact_perm_test"
        )


def lead(sample: PairedSample) -> float:
    """The mean difference less `delta`, rounded once."""
    return nearest(Fraction(exact_sum(sample.steps), sample.scale * sample.n))


def in_scores(found: dict[str, Any], power: int) -> dict[str, Any]:
    """What was found of scores over ``2**power``; t, z and p are the same in any unit."""
    if not power:
        return found
    details = {
        key: rescaled(value, power) if key in ("standard_error", "s1", "s2") else value
        for key, value in found["details"].items()
    }
    estimate, ends = rescaled(found["estimate"], power), partial(_ends, found["_interval"], power)
    return found | {"estimate": estimate, "details": details, "_interval": ends}


def _ends(interval: Any, power: int, confidence_level: float) -> tuple[float, float]:
    low, high = interval(confidence_level=confidence_level)
    return rescaled(low, power), rescaled(high, power)


def columns(a: Any, b: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Two columns of at least two scores each, as floats, less the first score of `a`.

    So that scores may be large and their differences small. They are over ``2**power``, which
    comes last.
    """
    if isinstance(a, Pairs) and b is None:
        pairs = PairedSample.of(a).pairs
        scores, scale = [pairs.u, pairs.v], pairs.scale
    else:
        scores, scale, *_ = in_common_units((a, b), ("a", "b"))
    for name, column in zip("ab", scores, strict=True):
        if column.size < 2:
            raise ValueError(f"{name} has {column.size} scores, but this test needs 2")
    both = roomy(np.concatenate(scores))
    (moved,), scale, power = tamed([both - int(both[0])], scale)
    floats = as_floats(moved, scale)
    return floats[: scores[0].size], floats[scores[0].size :], power


def student(
    estimate: float, gap: float, error: float, df: float, alternative: str, **details: float
) -> dict[str, Any]:
    """What t-tests find: `gap` is by how much the estimate exceeds the null hypothesis."""
    t = gap / error
    return {
        "statistic": t,
        "statistic_name": "t",
        "pvalue": float(t_pvalue(t, df, alternative)),
        "estimate": estimate,
        "estimate_name": "mean difference",
        "method": "t distribution",
        "details": {"df": df, "standard_error": error, **details},
        "_interval": partial(around, estimate, error, alternative, partial(t_quantile, df=df)),
    }


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
