"""How large a difference is, on scales that can be compared, with intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from html import escape
from math import asin, atanh, inf, pi, sqrt, tanh
from operator import index
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray
from permtest.alternatives.result import finite, interval_text
from permtest.alternatives.sample import PairedSample
from permtest.alternatives.walsh import hodges_lehmann_sum, kth_walsh, n_sums, signed_rank_quantile
from permtest.interval import ConfidenceInterval
from permtest.pairs import as_scaled
from permtest.study.noncentral import noncentrality

NORMAL = NormalDist()

#: From which magnitude on Cohen calls an effect small, medium and large.
STANDARDISED, CORRELATION = (0.2, 0.5, 0.8), (0.1, 0.3, 0.5)
WORDS = ("less than small", "small", "medium", "large")
CAUTION = "in Cohen's words, made for the behavioural sciences and not for comparing systems"

#: How many pairs the least number of trials counts for, against what a sample says; by simulation
#: the smallest number with which the interval for r errs in no more than 6% of samples of 10 on.
PRIOR = 25

Interval = Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class EffectSize:
    """How large a difference is.

    Parameters
    ----------
    name : str
        Of the function that computed it: "cohen_d", ...
    title : str
        What sentences and tables call it.
    value : float
        Above 0 where the first system is better.
    n : int
        Number of pairs, or of items of both systems together where they are not paired.
    method : str
        How the interval is made.
    names : tuple of two str
        What the systems are called.
    details : mapping of str to number
        What else was computed, the same effect by other definitions included.
    thresholds : tuple of three float, or empty
        From where on it is called small, medium and large; empty where it has a unit.
    """

    name: str
    title: str
    value: float
    n: int
    method: str
    names: tuple[str, str] = ("a", "b")
    details: Mapping[str, float] = field(default_factory=dict)
    thresholds: tuple[float, ...] = ()
    _interval: Interval | None = field(default=None, kw_only=True, repr=False, compare=False)

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """An interval for the effect in the population.

        Parameters
        ----------
        confidence_level : float, default 0.95
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Two-sided, each end missing the effect with half of the error probability.

        Raises
        ------
        ValueError
            If `confidence_level` is out of range.
        """
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must lie in (0, 1), got {confidence_level}")
        assert self._interval is not None, "every effect has an interval"
        low, high = self._interval(confidence_level)
        return ConfidenceInterval(float(low), float(high), confidence_level)

    @property
    def label(self) -> str:
        """Cohen's word for the magnitude; empty for an effect in units of the scores."""
        if not self.thresholds:
            return ""
        return WORDS[sum(abs(self.value) >= x for x in self.thresholds)]

    @property
    def interpretation(self) -> str:
        """The word, and what to think of it."""
        return f"{self.label} {CAUTION}" if self.label else "in units of the scores"

    def __str__(self) -> str:
        word = f"{self.label}; " if self.label else ""
        return (
            f"{self.title} of {self.names[0]} over {self.names[1]} {self.value:.4g}, "
            f"95% interval {interval_text(self.confidence_interval())} ({word}n = {self.n})."
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields, the 95% interval and the interpretation, ready for JSON.

        Numbers that are not finite are None.
        """
        return {
            "name": self.name,
            "title": self.title,
            "value": finite(self.value),
            "interval": [finite(end) for end in self.confidence_interval()],
            "n": self.n,
            "method": self.method,
            "names": list(self.names),
            "interpretation": self.interpretation,
            "details": {key: finite(value) for key, value in self.details.items()},
        }

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    def _repr_html_(self) -> str:
        rows = {
            self.title: f"{self.value:.6g}",
            "95% interval": f"{interval_text(self.confidence_interval())} ({self.method})",
            "n": f"{self.n}",
            "size": self.interpretation,
        }
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(key)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for key, text in rows.items()
        )
        heading = escape(f"{self.title}: {self.names[0]} against {self.names[1]}")
        return f"<div><table><caption>{heading}</caption>{cells}</table></div>"


# ---- standardised mean differences --------------------------------------------------------------


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
    if correction not in ("approximate", "exact"):
        raise ValueError(f"correction={correction!r} is not known; choose 'approximate' or 'exact'")
    d, df = _standardised(a, b, paired, names)
    if df < 2:
        raise ValueError("a and b have 2 pairs, but Hedges' correction needs 3")
    near, exact = 1 - 3 / (4 * df - 1), _gamma_ratio(df)
    details = {"d": d.value, "df": df, "J_approximate": near, "J_exact": exact}
    details |= {"g_approximate": near * d.value, "g_exact": exact * d.value}
    if paired and df > 2:
        details["g_df_n_minus_2"] = (1 - 3 / (4 * (df - 1) - 1)) * d.value
    factor = near if correction == "approximate" else exact

    def interval(confidence_level: float) -> tuple[float, float]:
        low, high = d.confidence_interval(confidence_level)
        return factor * low, factor * high

    return EffectSize(
        "hedges_g",
        "Hedges' g",
        factor * d.value,
        d.n,
        d.method,
        d.names,
        details,
        STANDARDISED,
        _interval=interval,
    )


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
        n = first.size + second.size
    df = int(details["df"])

    def interval(confidence_level: float) -> tuple[float, float]:
        tail = (1 - confidence_level) / 2
        t = value / per_t
        return noncentrality(t, df, 1 - tail) * per_t, noncentrality(t, df, tail) * per_t

    method, title = "noncentral t distribution", "Cohen's d"
    d = EffectSize(
        "cohen_d", title, value, n, method, names, details, STANDARDISED, _interval=interval
    )
    return d, df


def _of_pairs(sample: PairedSample) -> tuple[float, float, dict[str, float]]:
    """d_z, what makes t of it, and the rest."""
    n, sd = sample.n, float(np.std(sample.differences, ddof=1))
    if not np.any(sample.gaps != sample.gaps[0]):
        raise ValueError(
            f"a and b differ by {sample.differences[0]:g} in every pair: without a standard "
            "deviation there is no standardised difference; report the difference itself"
        )
    variances = [float(np.var(x, ddof=1)) for x in (sample.a, sample.b)]
    spread = sqrt(sum(variances) / 2)
    value = sample.mean / sd
    other = sample.mean / spread if spread > 0 else inf
    details = {"mean": sample.mean, "sd": sd, "t": value * sqrt(n), "df": n - 1}
    # With as many scores of either system, pooling the variances is taking their mean.
    details |= {"d_s": other, "d_av": other}
    details["standard_error"] = sqrt(1 / n + value**2 / (2 * n))
    return value, 1 / sqrt(n), details


def _of_two(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[float, float, dict[str, float]]:
    """d_s, what makes t of it, and the rest."""
    sizes, df = (first.size, second.size), first.size + second.size - 2
    squares = sum(float(np.sum((x - x.mean()) ** 2)) for x in (first, second))
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        raise ValueError(
            "the scores of a and of b do not vary: without a standard deviation there is no "
            "standardised difference; report the difference itself"
        )
    mean, sd = float(first.mean() - second.mean()), sqrt(squares / df)
    value, per_t = mean / sd, sqrt(1 / sizes[0] + 1 / sizes[1])
    details = {"mean": mean, "sd": sd, "t": value / per_t, "df": df}
    details["standard_error"] = sqrt(per_t**2 + value**2 / (2 * sum(sizes)))
    return value, per_t, details


def _two_samples(
    a: Any, b: Any, names: tuple[str, str] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, str]]:
    """Scores of two systems that need not have as many items."""
    if b is None:
        sample = PairedSample.of(a, names=names, least=2)
        return sample.a, sample.b, sample.names
    columns = []
    for scores, name in ((a, "a"), (b, "b")):
        numbers, scale = as_scaled(scores, name)
        if numbers.size < 2:
            raise ValueError(f"{name} has {numbers.size} scores, but Cohen's d needs 2")
        columns.append(np.array([float(Fraction(int(x), scale)) for x in numbers]))
    return columns[0], columns[1], names or ("a", "b")


def _gamma_ratio(df: int) -> float:
    """Gamma(df / 2) / (sqrt(df / 2) Gamma((df - 1) / 2)), of which 1 - 3 / (4 df - 1) is close."""
    from scipy.special import gammaln

    if df > 1000:  # the next terms are below 1e-15, and logarithms of gamma functions cancel
        x = 1 / df
        return 1 - x * (3 / 4 + x * (7 / 32 + x * (9 / 128 - x * (59 / 2048 + x * 483 / 8192))))
    return float(np.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / sqrt(df / 2))


# ---- ranks --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Ranks:
    """The signed ranks of the differences that are not 0.

    W+ adds up, over all i <= j, whether d_i + d_j is above 0, a sum of 0 counting one half; so
    its share of what it can be at most, `share`, is nearly the chance that two differences sum to
    more than 0.
    """

    n: int
    w_plus: float
    variance: float
    share: float
    effective: float

    @classmethod
    def of(cls, sample: PairedSample) -> _Ranks:
        from scipy.stats import rankdata

        d = sample.gaps[sample.gaps != 0]
        if d.size == 0:
            raise ValueError(
                "a and b are equal in every pair: there are no ranks, and no effect to speak of"
            )
        places = np.unique(np.abs(d), return_inverse=True)[1].reshape(-1)
        ranks, ties = rankdata(places), np.bincount(places).astype(object)
        n = int(d.size)
        w_plus = float(ranks[d > 0].sum())
        variance = n * (n + 1) * (2 * n + 1) / 24 - sum(t**3 - t for t in ties.tolist()) / 48
        share = w_plus / (n * (n + 1) / 2)
        return cls(n, w_plus, float(variance), share, _effective_size(d, share))

    @property
    def z(self) -> float:
        """W+ standardised, without a correction for continuity."""
        return (self.w_plus - self.n * (self.n + 1) / 4) / sqrt(self.variance)

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Wilson's for `share`, as if of so many independent trials."""
        z = NORMAL.inv_cdf(0.5 + confidence_level / 2)
        n, p = self.effective, self.share
        centre, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = ((centre + sign * half) / (1 + z * z / n) for sign in (-1, 1))
        return (max(low, 0.0) if p > 0 else 0.0), (min(high, 1.0) if p < 1 else 1.0)


def _effective_size(d: IntArray, share: float) -> float:
    """Of how many independent trials W+ has the variance, as far as the sample tells.

    W+ is a U-statistic of the kernel k(x, y), 1 where x + y > 0. The variance of its mean is
    2 (2 (n - 2) z1 + z2) / (n (n - 1)), with z2 the variance of k and z1 that of its mean over y
    (Hoeffding 1948). As 2 z1 <= z2 <= p (1 - p), there are at least n / 2 trials. What a small
    sample says of z1 is drawn towards that, as if `PRIOR` more pairs had said it, and more than n
    trials, where p is near 0 or 1, are not believed: intervals would be too short.
    """
    n = d.size
    if n < 3 or not 0 < share < 1:
        return n / 2
    ordered = np.sort(d)
    above = n - np.searchsorted(ordered, -d, side="right")
    equal = np.searchsorted(ordered, -d, side="right") - np.searchsorted(ordered, -d, side="left")
    others = above + equal / 2 - np.where(d > 0, 1.0, 0.0)  # each without itself
    squares = float(np.sum(above + equal / 4 - np.where(d > 0, 1.0, 0.0))) / (n * (n - 1))
    means = others / (n - 1)
    p = float(means.mean())
    z2 = squares - p * p
    # The variance of the means has a part from their being means of n - 1 values each.
    z1 = max((float(means.var(ddof=1)) - z2 / (n - 1)) * (n - 1) / (n - 2), 0.0)
    variance = 2 * (2 * (n - 2) * z1 + z2) / (n * (n - 1))
    trials = min(max(share * (1 - share) / variance, n / 2), n) if variance > 0 else n / 2
    return float(n * trials + PRIOR * n / 2) / (n + PRIOR)


def wilcoxon_r(
    a: Any, b: Any = None, *, per: str = "nonzero", names: tuple[str, str] | None = None
) -> EffectSize:
    """r of the signed-rank test: z over the root of n, with the sign of z.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, of which a float stands for the decimal that it is printed as; or
        `Pairs`, and None.
    per : {"nonzero", "pairs", "observations"}, default "nonzero"
        What n is: pairs that differ, all pairs, or twice as many. Sources disagree; `details` has
        all three.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    EffectSize
        Between -0.87 and 0.87, sqrt(3) / 2, unless many differences tie.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, or all pairs are equal.

    Notes
    -----
    Pairs without a difference are left out, z has the variance corrected for ties and no
    correction for continuity (NLPStatTest manual, Eq. 17, whose sum of t^3 - t is over groups of
    ties). The interval is one for the chance that two differences sum to more than 0: Wilson's,
    with as many trials as give the variance of W+ as a U-statistic, fewer where the sample is
    small. r is linear in W+, so that its ends follow. It assumes nothing of the shape of the
    differences; below some 50 pairs, and near the ends of the scale, it is a little wide.

    Examples
    --------
    >>> from permtest.study import wilcoxon_r
    >>> r = wilcoxon_r([5, 7, 6, 9, 8], [4, 5, 6, 6, 9])
    >>> round(r.value, 4), r.details["w_plus"], r.details["n_nonzero"]
    (0.6444, 8.5, 4)
    """
    sample = PairedSample.of(a, b, names=names, least=1)
    ranks = _Ranks.of(sample)
    sizes = {"nonzero": ranks.n, "pairs": sample.n, "observations": 2 * sample.n}
    if per not in sizes:
        raise ValueError(f"per={per!r} is not known; choose one of {', '.join(map(repr, sizes))}")
    details = {f"r_{key}": ranks.z / sqrt(n) for key, n in sizes.items()}
    details |= {"z": ranks.z, "w_plus": ranks.w_plus, "n_nonzero": ranks.n}
    details |= {"rank_biserial": 2 * ranks.share - 1, "share": ranks.share}
    unit = ranks.n * (ranks.n + 1) / 2 / sqrt(ranks.variance * sizes[per])

    def interval(confidence_level: float) -> tuple[float, float]:
        low, high = ranks.interval(confidence_level)
        return unit * (low - 0.5), unit * (high - 0.5)

    return EffectSize(
        "wilcoxon_r",
        "Wilcoxon's r",
        ranks.z / sqrt(sizes[per]),
        sample.n,
        "Wilson interval for a U-statistic",
        sample.names,
        details,
        CORRELATION,
        _interval=interval,
    )


def rank_biserial(a: Any, b: Any = None, *, names: tuple[str, str] | None = None) -> EffectSize:
    """The matched-pairs rank-biserial correlation: by how much positive ranks outweigh negative.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems; or `Pairs`, and None.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    EffectSize
        (W+ - W-) / (W+ + W-), from -1 to 1; pairs without a difference are left out.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, or all pairs are equal.

    Notes
    -----
    The interval is that of `wilcoxon_r`, on another scale.

    Examples
    --------
    >>> from permtest.study import rank_biserial
    >>> rank_biserial([5, 7, 6, 9, 8], [4, 5, 6, 6, 9]).value
    0.7
    """
    sample = PairedSample.of(a, b, names=names, least=1)
    ranks = _Ranks.of(sample)
    total = ranks.n * (ranks.n + 1) / 2

    def interval(confidence_level: float) -> tuple[float, float]:
        low, high = ranks.interval(confidence_level)
        return 2 * low - 1, 2 * high - 1

    return EffectSize(
        "rank_biserial",
        "Rank-biserial correlation",
        (2 * ranks.w_plus - total) / total,
        sample.n,
        "Wilson interval for a U-statistic",
        sample.names,
        {"w_plus": ranks.w_plus, "w_minus": total - ranks.w_plus, "n_nonzero": ranks.n},
        CORRELATION,
        _interval=interval,
    )


def hodges_lehmann(
    a: Any, b: Any = None, *, diagonal: bool = True, names: tuple[str, str] | None = None
) -> EffectSize:
    """The Hodges-Lehmann estimate: the median of the means of two differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, of which a float stands for the decimal that it is printed as; or
        `Pairs`, and None.
    diagonal : bool, default True
        Whether the means (d_i + d_j) / 2 are over i <= j, as is usual; with False they are over
        i < j (NLPStatTest manual, Eq. 18), which takes 2 pairs.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    EffectSize
        In units of the scores. `details` has both definitions, and for the 95% interval `k`, which
        of the ordered means it begins with, and its `achieved_level`.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers or too few.

    Notes
    -----
    The interval runs from the k-th smallest mean (i <= j) to the k-th largest, with k from the
    exact law of the signed-rank sum of all pairs, at any n. If the differences are symmetric
    about their centre it covers that with at least the stated probability, ties or not; where
    there are too few pairs for any bound, an end is infinite. O(N log N): the means are not
    listed, and differences are kept in integers, so that what ties is found.

    Examples
    --------
    >>> from permtest.study import hodges_lehmann
    >>> hodges_lehmann([0.5, 0.7, 0.6, 0.9], [0.4, 0.5, 0.6, 0.6]).value
    0.15
    """
    sample = PairedSample.of(a, b, names=names, least=1 if diagonal else 2)
    doubled, n = 2 * sample.scale, sample.n
    usual = hodges_lehmann_sum(sample.gaps) / doubled
    details = {"i_le_j": float(usual)}
    value = usual
    if n > 1:
        other = hodges_lehmann_sum(sample.gaps, diagonal=False) / doubled
        details["i_lt_j"] = float(other)
        value = usual if diagonal else other
    k, error = signed_rank_quantile(n, 0.025)
    details |= {"k": k, "achieved_level": 1 - 2 * error}
    return EffectSize(
        "hodges_lehmann",
        "Hodges-Lehmann estimate",
        float(value),
        n,
        "exact law of signed ranks",
        sample.names,
        details,
        _interval=partial(_walsh_interval, sample.gaps, doubled),
    )


def _walsh_interval(gaps: IntArray, doubled: int, confidence_level: float) -> tuple[float, float]:
    k, _ = signed_rank_quantile(len(gaps), (1 - confidence_level) / 2)
    if k == 0:
        return -inf, inf
    ends = kth_walsh(gaps, [k, n_sums(len(gaps)) + 1 - k])
    return float(Fraction(ends[0], doubled)), float(Fraction(ends[1], doubled))


# ---- proportions --------------------------------------------------------------------------------


def cohen_h(
    x1: int, n1: int, x2: int, n2: int, *, names: tuple[str, str] = ("a", "b")
) -> EffectSize:
    """Cohen's h: the difference of two proportions on the arcsine scale.

    Parameters
    ----------
    x1, n1 : int
        How many of its items the first system gets right, and how many it has.
    x2, n2 : int
        The same of the second system, on other items.
    names : tuple of two str, default ("a", "b")
        What the systems are called.

    Returns
    -------
    EffectSize
        2 asin(sqrt(p1)) - 2 asin(sqrt(p2)), from -pi to pi.

    Raises
    ------
    TypeError, ValueError
        If a number is not whole, or there are more right answers than items.

    Notes
    -----
    The interval is the normal one, with variance 1 / n1 + 1 / n2 whatever the proportions; it
    assumes that the systems are independent, and is too wide where they share their items.

    Examples
    --------
    >>> from permtest.study import cohen_h
    >>> round(cohen_h(85, 100, 75, 100).value, 4)
    0.2518
    """
    shares = [_proportion(x1, n1, "1"), _proportion(x2, n2, "2")]
    angles = [2 * asin(sqrt(p)) for p in shares]
    value, error = angles[0] - angles[1], sqrt(1 / n1 + 1 / n2)

    def interval(confidence_level: float) -> tuple[float, float]:
        half = error * NORMAL.inv_cdf(0.5 + confidence_level / 2)
        return max(value - half, -pi), min(value + half, pi)

    return EffectSize(
        "cohen_h",
        "Cohen's h",
        value,
        int(n1) + int(n2),
        "normal approximation of arcsines",
        names,
        {"p1": shares[0], "p2": shares[1], "standard_error": error},
        STANDARDISED,
        _interval=interval,
    )


def _proportion(x: Any, n: Any, which: str) -> float:
    for name, value in ((f"x{which}", x), (f"n{which}", n)):
        try:
            index(value)
        except TypeError:
            raise TypeError(f"{name}={value!r} must be a whole number") from None
    if n < 1:
        raise ValueError(f"n{which}={n} must be at least 1")
    if not 0 <= x <= n:
        raise ValueError(f"x{which}={x} must lie between 0 and n{which}={n}")
    return int(x) / int(n)


def phi(table: Any, *, names: tuple[str, str] = ("a", "b")) -> EffectSize:
    """Phi: the correlation in a table of two by two counts.

    Parameters
    ----------
    table : array_like of shape (2, 2)
        Counts. Rows are two systems, columns right and wrong answers: then phi is above 0 where
        the first row has the greater share of right answers. Its magnitude is that of
        sqrt(chi-squared / N), which has no sign.
    names : tuple of two str, default ("a", "b")
        What the rows are called.

    Returns
    -------
    EffectSize

    Raises
    ------
    ValueError
        If `table` is no two by two table of counts, or a row or column is empty.

    Notes
    -----
    The interval is normal on the scale of atanh(phi), with the large-sample variance of phi
    (Bishop, Fienberg and Holland 1975, sec. 11.3) for N independent items; where phi is 1 or -1
    it is that point.

    Examples
    --------
    >>> from permtest.study import phi
    >>> phi([[85, 15], [75, 25]]).value
    0.125
    """
    cells = _two_by_two(table)
    (p, q), (r, s) = cells
    total = p + q + r + s
    rows, columns = (p + q, r + s), (p + r, q + s)
    root = sqrt(rows[0] * rows[1] * columns[0] * columns[1])
    value = min(max((p * s - q * r) / root, -1.0), 1.0)
    error = sqrt(max(_phi_variance(value, rows, columns), 0.0) / total)

    def interval(confidence_level: float) -> tuple[float, float]:
        if abs(value) >= 1:
            return value, value
        half = NORMAL.inv_cdf(0.5 + confidence_level / 2) * error / (1 - value**2)
        return tanh(atanh(value) - half), tanh(atanh(value) + half)

    return EffectSize(
        "phi",
        "Phi",
        value,
        total,
        "normal approximation of atanh",
        names,
        {"chi_squared": total * value**2, "standard_error": error},
        CORRELATION,
        _interval=interval,
    )


def _phi_variance(value: float, rows: tuple[int, int], columns: tuple[int, int]) -> float:
    """N times the variance of phi, from the counts of rows and columns."""
    tilts = [(x - y) / sqrt(x * y) for x, y in (rows, columns)]
    skewed = value * (1 + value**2 / 2) * tilts[0] * tilts[1]
    return 1 - value**2 + skewed - 0.75 * value**2 * (tilts[0] ** 2 + tilts[1] ** 2)


def _two_by_two(table: Any) -> list[list[int]]:
    array = np.asarray(table, dtype=object)
    if array.shape != (2, 2):
        raise ValueError(f"table has shape {array.shape}, but must be two by two")
    for (i, j), value in np.ndenumerate(array):
        whole = isinstance(value, int | np.integer) or float(value).is_integer()
        if not whole or value < 0:
            raise ValueError(f"table[{i}, {j}] = {value} must be a count")
    cells = [[int(x) for x in row] for row in array]
    for name, sums in (("row", array.sum(axis=1)), ("column", array.sum(axis=0))):
        for i, total in enumerate(sums):
            if total == 0:
                raise ValueError(f"{name} {i} of table is empty: there is no correlation")
    return cells
