"""How large a difference of means is, in standard deviations, with intervals."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import hypot, inf, sqrt
from typing import Any

import numpy as np

from permtest._checks import check_option
from permtest._integers import IntArray, exact_sum
from permtest.alternatives.result import tail_level
from permtest.alternatives.sample import PairedSample, nearest, rescaled, within_floats
from permtest.decimals import as_scaled
from permtest.pairs import Pairs
from permtest.study.effect import STANDARDISED, EffectSize


def cohen_d(
    a: Any, b: Any = None, *, paired: bool = True, names: tuple[str, str] | None = None
) -> EffectSize:
    """Cohen's d: the mean difference in standard deviations.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, of which a float stands for the decimal that it is printed as; or
        `Pairs`, and None. At least 2 each.
    paired : bool, default True
        True: d_z, the mean of the differences over their standard deviation. False: d_s, over the
        pooled standard deviation of the scores, for systems that were tested on different items;
        `a` and `b` may then differ in length.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    EffectSize
        In `details`, for pairs: `t` and `df`; `d_s`, and `d_av` over the root of the mean of both
        variances, which are on the scale of studies without pairs; and `standard_error`, that of
        the usual normal approximation, sqrt(1 / n + d^2 / (2 n)).

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, too few, or do not vary.

    Notes
    -----
    Standard deviations have n - 1 (or n_a + n_b - 2) in the denominator. The interval inverts the
    noncentral t distribution, whatever n: it is exact for normal differences, and only for these.

    Examples
    --------
    >>> from permtest.study import cohen_d
    >>> d = cohen_d([5, 7, 6, 9], [4, 6, 6, 6])
    >>> round(d.value, 4), d.label
    (0.9934, 'large')
    """
    return _standardised(a, b, paired, names)[0]


def hedges_g(
    a: Any,
    b: Any = None,
    *,
    paired: bool = True,
    correction: str = "approximate",
    names: tuple[str, str] | None = None,
) -> EffectSize:
    """Hedges' g: Cohen's d without the bias that it has in small samples.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        As in `cohen_d`, at least 3 pairs.
    paired : bool, default True
        As in `cohen_d`.
    correction : {"approximate", "exact"}, default "approximate"
        The factor J: ``1 - 3 / (4 df - 1)``, or the ratio of gamma functions that it stands for.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    EffectSize
        In `details`, d, both factors and what they make of d; and for pairs `g_df_n_minus_2`, from
        the factor with one degree of freedom too few that some programs use.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, too few, or do not vary.

    Notes
    -----
    df is n - 1 for pairs, n_a + n_b - 2 otherwise (NLPStatTest manual, Eq. 15). The interval is J
    times that of d, as is usual; for n below 10 this covers the effect a little less often.

    Examples
    --------
    >>> from permtest.study import hedges_g
    >>> round(hedges_g([5, 7, 6, 9], [4, 6, 6, 6]).value, 4)
    0.7225
    """
    check_option("correction", correction, ("approximate", "exact"))
    d, df = _standardised(a, b, paired, names)
    if df < 2:
        raise ValueError("a and b have 2 pairs, but Hedges' correction needs 3")
    near, exact = 1 - 3 / (4 * df - 1), _gamma_ratio(df)
    details = {"d": d.value, "df": df, "J_approximate": near, "J_exact": exact}
    details |= {"g_approximate": near * d.value, "g_exact": exact * d.value}
    if paired and df > 2:
        details["g_df_n_minus_2"] = (1 - 3 / (4 * (df - 1) - 1)) * d.value
    factor = near if correction == "approximate" else exact

    return EffectSize(
        "hedges_g",
        "Hedges' g",
        factor * d.value,
        d.n,
        d.method,
        d.names,
        details,
        STANDARDISED,
        _interval=partial(_scaled, factor, d),
    )


def _scaled(factor: float, d: EffectSize, confidence_level: float) -> tuple[float, float]:
    low, high = d.confidence_interval(confidence_level)
    return factor * low, factor * high


def _standardised(
    a: Any, b: Any, paired: bool, names: tuple[str, str] | None
) -> tuple[EffectSize, int]:
    """Cohen's d and its degrees of freedom."""
    if paired:
        sample = PairedSample.of(a, b, names=names, least=2)
        value, per_t, details = _of_pairs(sample)
        n, names = sample.n, sample.names
    else:
        first, second, names = _two_samples(a, b, names)
        value, per_t, details = _of_two(first, second)
        n = first.n + second.n
    df = int(details["df"])

    method, title = "noncentral t distribution", "Cohen's d"
    d = EffectSize(
        "cohen_d",
        title,
        value,
        n,
        method,
        names,
        details,
        STANDARDISED,
        _interval=partial(_noncentral, value / per_t, per_t, df),
    )
    return d, df


def _noncentral(t: float, per_t: float, df: int, confidence_level: float) -> tuple[float, float]:
    """All d whose noncentral t law has t neither in its upper nor in its lower tail."""
    tail = tail_level("two-sided", confidence_level)
    return noncentrality(t, df, 1 - tail) * per_t, noncentrality(t, df, tail) * per_t


def noncentrality(t: float, df: float, probability: float) -> float:
    """The shift at which P(T <= t) is `probability`."""
    from scipy.special import nctdtrinc

    return float(nctdtrinc(df, probability, t))


def _of_pairs(sample: PairedSample) -> tuple[float, float, dict[str, float]]:
    """d_z, what makes t of it, and the rest."""
    n, given, sample = sample.n, sample, sample.tame
    sd, power = sample.deviation, sample.power
    if sd == 0:
        raise ValueError(
            f"a and b differ by {given.differences[0]:g} in every pair: without a standard "
            "deviation there is no standardised difference; report the difference itself"
        )
    pairs = sample.pairs
    first, second = (_alone(scores, pairs.scale) for scores in (pairs.u, pairs.v))
    spread = hypot(first.deviation, second.deviation) / sqrt(2)
    value = sample.mean / sd
    other = sample.mean / spread if spread > 0 else inf
    details = _in_scores(sample.mean, sd, power) | {"t": value * sqrt(n), "df": n - 1}
    # With as many scores of either system, pooling the variances is taking their mean.
    details |= {"d_s": other, "d_av": other}
    details["standard_error"] = sqrt(1 / n + value**2 / (2 * n))
    return value, 1 / sqrt(n), details


def _in_scores(mean: float, sd: float, power: int) -> dict[str, float]:
    """The mean and the standard deviation, which were over ``2**power``."""
    return {
        "mean": within_floats(rescaled(mean, power), "mean difference"),
        "sd": within_floats(rescaled(sd, power), "standard deviation"),
    }


def _of_two(first: PairedSample, second: PairedSample) -> tuple[float, float, dict[str, float]]:
    """d_s, what makes t of it, and the rest."""
    n1, n2, df = first.n, second.n, first.n + second.n - 2
    # Both over the same power of two, whichever of them is much larger than the other.
    power = max((s.tame.power for s in (first, second) if np.any(s.gaps)), default=0)
    own = ((s.tame, sqrt((s.n - 1) / df)) for s in (first, second))
    sd = hypot(*(rescaled(s.deviation * share, s.power - power) for s, share in own))
    if sd == 0:
        raise ValueError(
            "the scores of a and of b do not vary: without a standard deviation there is no "
            "standardised difference; report the difference itself"
        )
    mean = nearest((_exact_mean(first) - _exact_mean(second)) * Fraction(2) ** -power)
    value, per_t = mean / sd, sqrt(1 / n1 + 1 / n2)
    details = _in_scores(mean, sd, power) | {"t": value / per_t, "df": df}
    details["standard_error"] = sqrt(per_t**2 + value**2 / (2 * (n1 + n2)))
    return value, per_t, details


def _exact_mean(sample: PairedSample) -> Fraction:
    return Fraction(exact_sum(sample.gaps), sample.scale * sample.n)


def _alone(scores: IntArray, scale: int) -> PairedSample:
    """The scores of one system, beside a system that has none."""
    return PairedSample(Pairs(scores, np.zeros_like(scores), scale=scale))


def _two_samples(
    a: Any, b: Any, names: tuple[str, str] | None
) -> tuple[PairedSample, PairedSample, tuple[str, str]]:
    """Scores of two systems that need not have as many items."""
    if b is None:
        sample = PairedSample.of(a, names=names, least=2)
        pairs = sample.pairs
        return _alone(pairs.u, pairs.scale), _alone(pairs.v, pairs.scale), sample.names
    columns = []
    for scores, name in ((a, "a"), (b, "b")):
        numbers, scale = as_scaled(scores, name)
        if numbers.size < 2:
            raise ValueError(f"{name} has {numbers.size} scores, but Cohen's d needs 2")
        columns.append(_alone(numbers, scale))
    return columns[0], columns[1], names or ("a", "b")


def _gamma_ratio(df: int) -> float:
    """Gamma(df / 2) / (sqrt(df / 2) Gamma((df - 1) / 2)), of which 1 - 3 / (4 df - 1) is close."""
    from scipy.special import gammaln

    if df > 1000:  # the next terms are below 1e-15, and logarithms of gamma functions cancel
        x = 1 / df
        return 1 - x * (3 / 4 + x * (7 / 32 + x * (9 / 128 - x * (59 / 2048 + x * 483 / 8192))))
    return float(np.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / sqrt(df / 2))
