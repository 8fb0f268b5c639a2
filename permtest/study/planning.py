"""How many items a comparison needs, before it is made."""

from __future__ import annotations

from collections.abc import Callable
from math import asin, isfinite, sqrt
from statistics import NormalDist
from typing import Any

from permtest._checks import (
    check_above_zero,
    check_count,
    check_finite,
    check_level,
    check_option,
    check_share,
)
from permtest._html import said
from permtest.statistics import check_alternative
from permtest.study.noncentral import noncentral_t

NORMAL = NormalDist()

#: More items than this nobody has; the effect is then as good as none.
MOST = 10**15


class SampleSize(int):
    """A number of items, which is an int, with the power that it gives.

    Parameters
    ----------
    n : int
        The smallest number with the power that is wanted.
    power : float
        What n items achieve.
    power_before : float
        What n - 1 items achieve, less than is wanted; 0 where a test needs n at least.
    method : str
        From which law the power was computed.

    Examples
    --------
    >>> from permtest.study import sample_size
    >>> n = sample_size(0.1, 0.5)
    >>> n, round(n.power, 4), round(n.power_before, 4)
    (199, 0.8017, 0.7997)
    """

    power: float
    power_before: float
    method: str

    def __new__(cls, n: int, power: float, power_before: float, method: str) -> SampleSize:
        """The number, to which the powers are fastened."""
        number = super().__new__(cls, n)
        vars(number).update(power=power, power_before=power_before, method=method)
        return number

    def __getnewargs__(self) -> tuple[int, float, float, str]:  # type: ignore[override]
        return int(self), self.power, self.power_before, self.method

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} cannot be set: a sample size does not change")

    def __str__(self) -> str:
        return (
            f"{int(self):,} items give a power of {self.power:.4f}, "
            f"one less {self.power_before:.4f} ({self.method})"
        )

    def _repr_html_(self) -> str:
        return said(str(self))

    def __format__(self, spec: str) -> str:
        return format(int(self), spec)

    def to_dict(self) -> dict[str, Any]:
        """All numbers by their names, as plain numbers and strings."""
        return {"n": int(self), **vars(self)}


def power_t(
    n: int, delta: float, sigma: float, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Power of the paired t test: how often it finds a difference that is there.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    delta : float
        The true mean difference.
    sigma : float
        The true standard deviation of the differences; above 0.
    alpha : float, default 0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Two-sided: both tails are counted, the one on the wrong side too.

    Returns
    -------
    float
        To about 1e-12.

    Raises
    ------
    TypeError, ValueError
        If an argument is no number or out of range.

    Notes
    -----
    Assumes normal differences. For those the exact permutation test of the mean needs about as
    many pairs, at usual levels.

    Examples
    --------
    >>> from permtest.study import power_t
    >>> round(power_t(199, 0.1, 0.5), 4)
    0.8017
    """
    check_alternative(alternative)
    n, delta, sigma = _pairs(n), check_finite(delta, "delta"), check_above_zero(sigma, "sigma")
    return _power_t(n, delta / sigma, check_level(alpha), alternative)


def _power_t(n: int, effect: float, alpha: float, alternative: str) -> float:
    from scipy.special import stdtrit

    df, shift = n - 1, effect * sqrt(n)
    if not isfinite(shift):
        return 1.0 if (shift > 0) == (alternative != "less") or alternative == "two-sided" else 0.0
    tail = alpha / 2 if alternative == "two-sided" else alpha
    critical = -float(stdtrit(df, tail))
    above = noncentral_t(critical, df, shift)[1] if alternative != "less" else 0.0
    below = noncentral_t(-critical, df, shift)[0] if alternative != "greater" else 0.0
    return min(above + below, 1.0)


def sample_size(
    delta: float,
    sigma: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> SampleSize:
    """The smallest number of pairs with which the paired t test has a given power.

    Parameters
    ----------
    delta : float
        The mean difference that is to be found; not 0.
    sigma : float
        The standard deviation of the differences; above 0.
    power : float, default 0.8
        How often it is to be found, in (alpha, 1).
    alpha : float, default 0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default "two-sided"

    Returns
    -------
    SampleSize
        An int, with the `power` that it gives and that of one pair less.

    Raises
    ------
    TypeError, ValueError
        If an argument is no number or out of range, `delta` points the other way than
        `alternative`, or more than 10^15 pairs would be needed.

    Notes
    -----
    The power comes from the noncentral t distribution. The usual shortcut, normal quantiles whose
    n is then put into quantiles of t once or twice, gives too few pairs where `delta` exceeds
    about 1.5 `sigma`. Assumes normal differences (NLPStatTest manual, F.1).

    Examples
    --------
    >>> from permtest.study import sample_size
    >>> sample_size(0.1, 0.5), sample_size(2, 1), sample_size(0.1, 0.1, power=0.9)
    (199, 5, 13)
    """
    effect = check_finite(delta, "delta") / check_above_zero(sigma, "sigma")
    _check_levels(power, alpha, alternative)
    _check_direction("delta", delta, alternative)
    return _smallest(
        lambda n: _power_t(n, effect, alpha, alternative),
        power,
        2,
        f"delta={delta} is {abs(effect):.3g} standard deviations",
        "noncentral t distribution",
    )


def minimum_detectable_effect(
    n: int,
    sigma: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """The smallest mean difference that n pairs find with a given power, by the paired t test.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    sigma : float
        The standard deviation of the differences; above 0.
    power : float, default 0.8
        In (alpha, 1).
    alpha : float, default 0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default "two-sided"

    Returns
    -------
    float
        Above 0; below 0 for "less".

    Raises
    ------
    TypeError, ValueError
        If an argument is no number or out of range.

    Examples
    --------
    >>> from permtest.study import minimum_detectable_effect
    >>> round(minimum_detectable_effect(199, 0.5), 4)
    0.0998
    """
    from scipy.optimize import brentq

    n, sigma = _pairs(n), check_above_zero(sigma, "sigma")
    _check_levels(power, alpha, alternative)
    way = "two-sided" if alternative == "two-sided" else "greater"
    high = 1 / sqrt(n)
    while _power_t(n, high, alpha, way) < power:
        high *= 2
    effect = brentq(lambda x: _power_t(n, x, alpha, way) - power, 0.0, high, xtol=1e-14 * high)
    return float(-sigma * effect if alternative == "less" else sigma * effect)


def sample_size_proportions(
    p1: float,
    p2: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    method: str = "pooled",
) -> SampleSize:
    """How many items each of two systems needs, if they are tested on different items.

    Parameters
    ----------
    p1, p2 : float
        The true accuracies, different, in [0, 1].
    power : float, default 0.8
        In (alpha, 1).
    alpha : float, default 0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
    method : {"pooled", "cohen_h"}, default "pooled"
        "pooled": the z test whose variance under the null is that of the pooled proportion.
        "cohen_h": the test of the difference of arcsines.

    Returns
    -------
    SampleSize
        Items of one system; both need as many.

    Raises
    ------
    TypeError, ValueError
        If an argument is no number or out of range, or `p1 - p2` points the other way than
        `alternative`.

    Notes
    -----
    Normal approximations, in which the tail on the wrong side of a two-sided test is left out.
    Systems that are run on the same items need fewer as a rule: `sample_size_mcnemar`.

    Examples
    --------
    >>> from permtest.study import sample_size_proportions
    >>> sample_size_proportions(0.85, 0.8), sample_size_proportions(0.85, 0.8, method="cohen_h")
    (906, 903)
    """
    p1, p2 = check_share(p1, "p1"), check_share(p2, "p2")
    _check_levels(power, alpha, alternative)
    _check_direction("p1 - p2", p1 - p2, alternative)
    check_option("method", method, ("pooled", "cohen_h"))
    z = _critical(alpha, alternative)
    if method == "pooled":
        mean = (p1 + p2) / 2
        null, true = sqrt(2 * mean * (1 - mean)), sqrt(p1 * (1 - p1) + p2 * (1 - p2))
        gap = abs(p1 - p2)
    else:
        null = true = sqrt(2)
        gap = abs(2 * asin(sqrt(p1)) - 2 * asin(sqrt(p2)))
    return _smallest(
        lambda n: _normal_power(gap * sqrt(n) - z * null, true),
        power,
        1,
        f"p1={p1} and p2={p2} are nearly equal",
        f"normal approximation, {method}",
    )


def sample_size_mcnemar(
    p_b: float,
    p_c: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> SampleSize:
    """How many items McNemar's test needs, if two systems are tested on the same items.

    Parameters
    ----------
    p_b, p_c : float
        Shares of the items that the first system alone, and the second alone, gets right; both at
        least 0, different, and at most 1 together.
    power : float, default 0.8
        In (alpha, 1).
    alpha : float, default 0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default "two-sided"

    Returns
    -------
    SampleSize
        Number of items, those on which both are right or both are wrong included.

    Raises
    ------
    TypeError, ValueError
        If an argument is no number or out of range, or `p_b - p_c` points the other way than
        `alternative`.

    Notes
    -----
    The normal approximation of Connor (1987), for the test without a correction; the exact test
    needs a few items more.

    Examples
    --------
    >>> from permtest.study import sample_size_mcnemar
    >>> sample_size_mcnemar(0.06, 0.03)
    783
    """
    p_b, p_c = check_share(p_b, "p_b"), check_share(p_c, "p_c")
    if p_b + p_c > 1:
        raise ValueError(f"p_b={p_b} and p_c={p_c} are shares of the same items: more than 1")
    _check_levels(power, alpha, alternative)
    gap, differing = p_b - p_c, p_b + p_c
    _check_direction("p_b - p_c", gap, alternative)
    null, true = sqrt(differing), sqrt(max(differing - gap * gap, 0.0))
    z = _critical(alpha, alternative)
    return _smallest(
        lambda n: _normal_power(abs(gap) * sqrt(n) - z * null, true),
        power,
        1,
        f"p_b={p_b} and p_c={p_c} are nearly equal",
        "normal approximation (Connor)",
    )


# ---- what all share -----------------------------------------------------------------------------


def _smallest(
    power_of: Callable[[int], float], power: float, least: int, what: str, method: str
) -> SampleSize:
    """The smallest n from `least` on with power_of(n) >= power; the power rises with n."""
    low, high = least - 1, least
    while power_of(high) < power:
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"{what}, which would take more than {MOST:,} items to find")
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(middle) < power:
            low = middle
        else:
            high = middle
    return SampleSize(high, power_of(high), power_of(low) if low >= least else 0.0, method)


def _normal_power(excess: float, deviation: float) -> float:
    if deviation == 0:
        return 1.0 if excess >= 0 else 0.0
    return NORMAL.cdf(excess / deviation)


def _critical(alpha: float, alternative: str) -> float:
    return -NORMAL.inv_cdf(alpha / 2 if alternative == "two-sided" else alpha)


def _pairs(n: int) -> int:
    why = "a single pair has no standard deviation"
    return check_count(n, "n", 2, why=why)


def _check_levels(power: float, alpha: float, alternative: str) -> None:
    check_alternative(alternative)
    check_level(alpha)
    if not alpha < check_level(power, "power"):
        raise ValueError(
            f"power={power} must exceed alpha={alpha}, which a test has where nothing differs"
        )


def _check_direction(name: str, value: float, alternative: str) -> None:
    if value == 0:
        raise ValueError(f"{name} is 0: no number of items finds a difference that is not there")
    if (value < 0) != (alternative == "less") and alternative != "two-sided":
        raise ValueError(
            f"{name}={value:g} has the wrong sign for alternative={alternative!r}; "
            "swap the systems or the alternative"
        )
