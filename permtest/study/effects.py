"""How large a difference is: effect sizes with intervals, and the test that each belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import asin, atanh, inf, pi, sqrt, tanh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_level, check_option, count
from permtest._html import facts, together
from permtest._integers import IntArray
from permtest._json import AsJson
from permtest.alternatives.counts import wilson
from permtest.alternatives.discordant import mcnemar
from permtest.alternatives.parametric import normal_quantile
from permtest.alternatives.ranks import SignedRanks, walsh_interval
from permtest.alternatives.result import finite, interval_text, tail_level
from permtest.alternatives.sample import PairedSample, as_floats, check_magnitude, nearest
from permtest.alternatives.walsh import hodges_lehmann_sum, signed_rank_quantile
from permtest.decimals import as_scaled
from permtest.interval import ConfidenceInterval
from permtest.pairs import Pairs
from permtest.study.describe import checked_sample

Floats = NDArray[np.float64]

#: Which effect size says how large the difference is that a test finds.
BELONGS_TO = {
    **dict.fromkeys(("exact", "paired_t", "normal_z", "bootstrap_mean"), "cohen_d"),
    **dict.fromkeys(("paired_bootstrap", "independent_t", "independent_z"), "cohen_d"),
    **dict.fromkeys(("permutation_median", "bootstrap_median"), "hodges_lehmann"),
    **dict.fromkeys(("mcnemar", "mcnemar_midp"), "odds_ratio"),
    **dict.fromkeys(("chi_squared", "chi_squared_yates"), "phi"),
    "mcnemar_chi2": "risk_difference",
    "two_proportion_z": "cohen_h",
    "wilcoxon": "wilcoxon_r",
    "sign": "win_loss",
}

#: From which magnitude on Cohen calls an effect small, medium and large; or what its unit is.
STANDARDISED, CORRELATION = (0.2, 0.5, 0.8), (0.1, 0.3, 0.5)
SCORES, SHARES = "in units of the scores", "a difference of shares of the items"

#: What an effect is called, how its interval is made, and thresholds or unit.
KINDS: dict[str, tuple[str, str, tuple[float, ...] | str]] = {
    "cohen_d": ("Cohen's d", "noncentral t distribution", STANDARDISED),
    "hedges_g": ("Hedges' g", "noncentral t distribution", STANDARDISED),
    "wilcoxon_r": ("Wilcoxon's r", "Wilson interval for a U-statistic", CORRELATION),
    "rank_biserial": (
        "Rank-biserial correlation",
        "Wilson interval for a U-statistic",
        CORRELATION,
    ),
    "hodges_lehmann": ("Hodges-Lehmann estimate", "exact law of signed ranks", SCORES),
    "win_loss": ("Win-loss difference", "Tango's score interval", SHARES),
    "risk_difference": ("Risk difference", "Tango's score interval", SHARES),
    "odds_ratio": ("Odds ratio", "Clopper-Pearson interval", "odds; 1 where systems are equal"),
    "cohen_h": ("Cohen's h", "normal approximation of arcsines", STANDARDISED),
    "phi": ("Phi", "normal approximation of atanh", CORRELATION),
}

WORDS = ("less than small", "small", "medium", "large")
CAUTION = "in Cohen's words, made for the behavioural sciences and not for comparing systems"

#: How many pairs the least number of trials counts for, against what a sample says of the variance
#: of W+: the fewest with which, in simulations, the interval errs in at most 6% of samples.
PRIOR = 25


@dataclass(frozen=True)
class EffectSize(AsJson):
    """How large a difference is.

    Parameters
    ----------
    name : str
        Of the function that computed it, such as "cohen_d".
    value : float
        Above 0, or an odds ratio above 1, where the first system scores higher.
    n : int
        Number of pairs, or of items of both systems together where they are not paired.
    names : tuple of two str
        What the systems are called.
    details : mapping of str to number
        What else was computed, the same effect by other definitions included.
    method : str
        How the interval is made. Default: as is usual for the effect.

    Examples
    --------
    >>> from permtest.study import cohen_d
    >>> effect = cohen_d([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> low, high = effect.confidence_interval(0.9)
    >>> round(effect.value, 3), effect.label, round(low, 3), round(high, 3)
    (1.228, 'large', 0.17, 2.185)
    """

    name: str
    value: float
    n: int
    names: tuple[str, str]
    details: Mapping[str, float]
    _interval: Callable[[float], tuple[float, ...]] = field(repr=False, compare=False)
    method: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", self.method or KINDS[self.name][1])

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """A two-sided interval for the effect in the population, of a level in (0, 1)."""
        check_level(confidence_level, "confidence_level")
        low, high = self._interval(confidence_level)
        return ConfidenceInterval(float(low), float(high), confidence_level)

    @property
    def title(self) -> str:
        """What sentences and tables call it."""
        return KINDS[self.name][0]

    @property
    def thresholds(self) -> tuple[float, ...]:
        """From where on it is called small, medium and large; empty where it has a unit."""
        found = KINDS[self.name][2]
        return () if isinstance(found, str) else found

    @property
    def label(self) -> str:
        """Cohen's word for the magnitude; empty for an effect that has a unit."""
        above = sum(abs(self.value) >= least for least in self.thresholds)
        return WORDS[above] if self.thresholds else ""

    @property
    def interpretation(self) -> str:
        """The word and what to think of it, or the unit."""
        return f"{self.label} {CAUTION}" if self.label else str(KINDS[self.name][2])

    def __str__(self) -> str:
        word = f"{self.label}; " if self.label else ""
        return (
            f"{self.title} of {self.names[0]} over {self.names[1]} {self.value:.4g}, "
            f"95% interval {interval_text(self.confidence_interval())} ({word}n = {self.n})."
        )

    def to_dict(self, confidence_level: float = 0.95) -> dict[str, Any]:
        """Fields, interval and interpretation for JSON; numbers that are not finite are None."""
        shown = {x: getattr(self, x) for x in ("name", "title", "n", "method", "interpretation")}
        ends = [finite(end) for end in self.confidence_interval(confidence_level)]
        details = {key: finite(value) for key, value in self.details.items()}
        found = {"value": finite(self.value), "interval": ends, "names": list(self.names)}
        return shown | found | {"details": details}

    def _repr_html_(self) -> str:
        rows = {
            self.title: f"{self.value:.6g}",
            "95% interval": f"{interval_text(self.confidence_interval())} ({self.method})",
            "n": f"{self.n}",
            "size": self.interpretation,
        }
        return together(facts(rows, f"{self.title}: {self.names[0]} against {self.names[1]}"))


def effect_sizes(pairs: Pairs) -> tuple[EffectSize, ...]:
    """The effect sizes that suit the scores.

    Parameters
    ----------
    pairs : Pairs
        Single scores of two systems on the same items.

    Notes
    -----
    For scores of 0 and 1 the risk difference, the odds ratio and h; for others d, g, the
    Hodges-Lehmann estimate, r and the win-loss difference. What is not defined is left out.

    Examples
    --------
    >>> from permtest import Pairs
    >>> from permtest.study import effect_sizes
    >>> [effect.name for effect in effect_sizes(Pairs.of([1, 1, 0, 1], [0, 1, 0, 0]))]
    ['risk_difference', 'odds_ratio', 'cohen_h']
    """
    binary: tuple[Callable[..., EffectSize], ...] = (risk_difference, odds_ratio, cohen_h)
    graded = (cohen_d, hedges_g, hodges_lehmann, wilcoxon_r, win_loss)
    found = []
    for effect in binary if checked_sample(pairs).is_binary else graded:
        try:
            found.append(effect(pairs))
        except ValueError:  # there is none for these scores
            continue
    return tuple(found)


# ---- differences of means -----------------------------------------------------------------------


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

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, too few, or do not vary.

    Notes
    -----
    `details` has the mean, sd, t and df; for pairs also d_s and d_av, over the root of the mean of
    both variances, which are on the scale of studies without pairs. The interval inverts SciPy's
    noncentral t distribution: it is exact for normal differences, and only for these.

    Examples
    --------
    >>> from permtest.study import cohen_d
    >>> d = cohen_d([5, 7, 6, 9], [4, 6, 6, 6])
    >>> round(d.value, 4), d.label
    (0.9934, 'large')
    """
    if paired:
        sample = checked_sample(a, b, names, least=2)
        x, y, n, names = sample.a, sample.b, sample.n, sample.names
        mean, sd, df, per_t = sample.mean, sample.deviation, n - 1, 1 / sqrt(n)
        constant = f"a and b differ by {sample.differences[0]:g} in every pair"
    else:
        x, y, names = _two_samples(a, b, names)
        n, df, per_t = x.size + y.size, x.size + y.size - 2, sqrt(1 / x.size + 1 / y.size)
        mean, sd = float(x.mean() - y.mean()), _pooled(x, y)
        constant = "the scores of a and of b do not vary"
    if sd == 0:
        raise ValueError(
            f"{constant}: without a standard deviation there is no standardised difference; "
            "report the difference itself"
        )
    d = mean / sd
    details = {"mean": mean, "sd": sd, "t": d / per_t, "df": df}
    if paired:  # with as many scores of either system, pooling variances is taking their mean
        details["d_s"] = details["d_av"] = mean / _pooled(x, y) if _pooled(x, y) else inf
    details["standard_error"] = sqrt(per_t**2 + d**2 / (2 * n))
    return EffectSize("cohen_d", d, n, names, details, partial(_noncentral, d, per_t, df))


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
    a, b, paired
        As in `cohen_d`; at least 3 pairs.
    correction : {"approximate", "exact"}, default "approximate"
        The factor J: ``1 - 3 / (4 df - 1)``, or the ratio of gamma functions that it stands for.
        df is n - 1 for pairs, n_a + n_b - 2 otherwise (NLPStatTest manual, Eq. 15).
    names : tuple of two str, optional

    Notes
    -----
    It is J times d, with J times its interval. `details` has both factors and, for pairs,
    `g_df_n_minus_2`, from one degree of freedom too few, as some programs have it.

    Examples
    --------
    >>> from permtest.study import hedges_g
    >>> round(hedges_g([5, 7, 6, 9], [4, 6, 6, 6]).value, 4)
    0.7225
    """
    from scipy.special import poch

    check_option("correction", correction, ("approximate", "exact"))
    d = cohen_d(a, b, paired=paired, names=names)
    df = d.details["df"]
    if df < 2:
        raise ValueError("a and b have 2 pairs, but Hedges' correction needs 3")
    near, exact = 1 - 3 / (4 * df - 1), float(poch((df - 1) / 2, 0.5)) / sqrt(df / 2)
    details = {"d": d.value, "df": df, "J_approximate": near, "J_exact": exact}
    details |= {"g_approximate": near * d.value, "g_exact": exact * d.value}
    if paired and df > 2:
        details["g_df_n_minus_2"] = (1 - 3 / (4 * df - 5)) * d.value

    def interval(confidence_level: float) -> tuple[float, ...]:
        ends = d.confidence_interval(confidence_level)
        return tuple(details[f"J_{correction}"] * end for end in ends)

    return EffectSize("hedges_g", details[f"g_{correction}"], d.n, d.names, details, interval)


def _noncentral(d: float, per_t: float, df: int, confidence_level: float) -> tuple[float, float]:
    """All effects under which t lies neither in the upper nor in the lower tail."""
    from scipy.optimize import brentq
    from scipy.stats import nct

    t, tail = d / per_t, tail_level("two-sided", confidence_level)
    reach = 3 * max(normal_quantile(tail), 1) * sqrt(1 + t * t / df)  # more than is needed

    def end(share: float) -> float:
        def gap(x: float) -> float:  # SciPy's is NaN where it is all but 0 or 1
            return float(np.nan_to_num(nct.cdf(t, df, x), nan=float(x < t))) - share

        return float(brentq(gap, t - reach, t + reach, xtol=1e-13))

    return end(1 - tail) * per_t, end(tail) * per_t


def _pooled(x: Floats, y: Floats) -> float:
    """Standard deviation of the scores of two systems, each about its own mean."""
    squares = sum((z.size - 1) * float(z.var(ddof=1)) if np.ptp(z) else 0.0 for z in (x, y))
    return sqrt(squares / (x.size + y.size - 2))


def _two_samples(
    a: Any, b: Any, names: tuple[str, str] | None
) -> tuple[Floats, Floats, tuple[str, str]]:
    """Scores of two systems that need not have as many items."""
    if b is None:
        sample = checked_sample(a, None, names, least=2)
        return sample.a, sample.b, sample.names
    columns = [as_scaled(scores, name) for scores, name in ((a, "a"), (b, "b"))]
    for (numbers, scale), name in zip(columns, "ab", strict=True):
        check_magnitude([numbers], scale, name)
        if numbers.size < 2:
            raise ValueError(f"{name} has {numbers.size} scores, but Cohen's d needs 2")
    x, y = (as_floats(numbers, scale) for numbers, scale in columns)
    return x, y, names or ("a", "b")


# ---- ranks --------------------------------------------------------------------------------------


def wilcoxon_r(
    a: Any, b: Any = None, *, per: str = "nonzero", names: tuple[str, str] | None = None
) -> EffectSize:
    """r of the signed-rank test: z over the root of n, with the sign of z.

    Parameters
    ----------
    a, b
        As in `cohen_d`; one pair at least has to differ.
    per : {"nonzero", "pairs", "observations"}, default "nonzero"
        What n is: pairs that differ, all pairs, or twice as many. Sources disagree; `details` has
        all three.
    names : tuple of two str, optional

    Notes
    -----
    z has the variance corrected for ties and no correction for continuity (NLPStatTest manual,
    Eq. 17, whose sum of t^3 - t is over groups of ties). Without ties, r is at most
    ``sqrt(1.5 (n + 1) / (2 n + 1))``. The interval is Wilson's, for the chance that two differences
    sum to more than 0, with as many trials as give W+ its variance as a U-statistic. It assumes
    nothing of their shape, and is a little wide below some 50 pairs.

    Examples
    --------
    >>> from permtest.study import wilcoxon_r
    >>> r = wilcoxon_r([5, 7, 6, 9, 8], [4, 5, 6, 6, 9])
    >>> round(r.value, 4), r.details["w_plus"], r.details["n_nonzero"]
    (0.6444, 8.5, 4)
    """
    sample = PairedSample.of(a, b, names=names)
    ranks, interval = _signed_ranks(sample)
    sizes = {"nonzero": ranks.n_nonzero, "pairs": sample.n, "observations": 2 * sample.n}
    check_option("per", per, sizes)
    details = {f"r_{key}": ranks.z() / sqrt(size) for key, size in sizes.items()}
    value = details[f"r_{per}"]
    details |= {"z": ranks.z(), "w_plus": ranks.plus, "n_nonzero": ranks.n_nonzero}
    unit = (ranks.plus + ranks.minus) / (2 * ranks.deviation * sqrt(sizes[per]))
    return EffectSize("wilcoxon_r", value, sample.n, sample.names, details, partial(interval, unit))


def rank_biserial(a: Any, b: Any = None, *, names: tuple[str, str] | None = None) -> EffectSize:
    """The matched-pairs rank-biserial correlation: (W+ - W-) / (W+ + W-).

    Parameters
    ----------
    a, b, names
        As in `wilcoxon_r`, whose interval it has on another scale.

    Examples
    --------
    >>> from permtest.study import rank_biserial
    >>> rank_biserial([5, 7, 6, 9, 8], [4, 5, 6, 6, 9]).value
    0.7
    """
    sample = PairedSample.of(a, b, names=names)
    ranks, interval = _signed_ranks(sample)
    details = {"w_plus": ranks.plus, "w_minus": ranks.minus, "n_nonzero": ranks.n_nonzero}
    value = (ranks.plus - ranks.minus) / (ranks.plus + ranks.minus)
    return EffectSize(
        "rank_biserial", value, sample.n, sample.names, details, partial(interval, 1.0)
    )


def _signed_ranks(
    sample: PairedSample,
) -> tuple[SignedRanks, Callable[[float, float], tuple[float, ...]]]:
    """Ranks of the differences that are not 0, and an interval for what is linear in W+ - W-."""
    d = sample.gaps[sample.gaps != 0]
    if d.size == 0:
        raise ValueError(
            "a and b are equal in every pair: there are no ranks, and no effect to speak of"
        )
    ranks = SignedRanks.of(d, "wilcox")
    share = ranks.plus / (ranks.plus + ranks.minus)
    trials = _effective_size(d, share)
    return ranks, lambda unit, level: tuple(
        unit * (2 * end - 1) for end in wilson(share, trials, level)
    )


def _effective_size(d: IntArray, share: float) -> float:
    """Of how many independent trials W+ has the variance, as far as the sample tells.

    The mean of k(x, y), 1 where x + y > 0, has the variance 2 (2 (n - 2) z1 + z2) / (n (n - 1)),
    with z2 the variance of k and z1 that of its mean over y (Hoeffding 1948). As 2 z1 <= z2, there
    are at least n / 2 trials; what a small sample says of z1 is drawn towards that, and more than n
    trials, which a share near 0 or 1 may suggest, would make intervals too short.
    """
    n = d.size
    if n < 3 or not 0 < share < 1:
        return n / 2
    ordered = np.sort(d)
    above = n - np.searchsorted(ordered, -d, side="right")
    equal = n - np.searchsorted(ordered, -d, side="left") - above
    means = (above + equal / 2 - (d > 0)) / (n - 1)  # each without itself
    squares = float(np.sum(above + equal / 4 - (d > 0))) / (n * (n - 1))
    z2 = squares - float(means.mean()) ** 2
    # The variance of the means has a part from their being means of n - 1 values each.
    z1 = max((float(means.var(ddof=1)) - z2 / (n - 1)) * (n - 1) / (n - 2), 0.0)
    variance = 2 * (2 * (n - 2) * z1 + z2) / (n * (n - 1))
    trials = min(max(share * (1 - share) / variance, n / 2), n) if variance > 0 else n / 2
    return float(n * trials + PRIOR * n / 2) / (n + PRIOR)


def hodges_lehmann(
    a: Any, b: Any = None, *, diagonal: bool = True, names: tuple[str, str] | None = None
) -> EffectSize:
    """The Hodges-Lehmann estimate: the median of the means of two differences.

    Parameters
    ----------
    a, b
        As in `cohen_d`.
    diagonal : bool, default True
        Whether the means (d_i + d_j) / 2 are over i <= j, as is usual; with False they are over
        i < j (NLPStatTest manual, Eq. 18), which takes 2 pairs.
    names : tuple of two str, optional

    Notes
    -----
    The interval runs from the k-th smallest mean (i <= j) to the k-th largest, with k from the
    exact law of the signed-rank sum: `details` has the k of 95%, and the level achieved. If the
    differences are symmetric it covers their centre with that probability at least; an end is
    infinite where there are too few pairs. O(N log N), as the means are not listed.

    Examples
    --------
    >>> from permtest.study import hodges_lehmann
    >>> hodges_lehmann([0.5, 0.7, 0.6, 0.9], [0.4, 0.5, 0.6, 0.6]).value
    0.15
    """
    sample = checked_sample(a, b, names, least=1 if diagonal else 2)
    details: dict[str, float] = {
        key: nearest(hodges_lehmann_sum(sample.gaps, diagonal=whole) / (2 * sample.scale))
        for key, whole in (("i_le_j", True), ("i_lt_j", False))
        if whole or sample.n > 1
    }
    value = details["i_le_j" if diagonal else "i_lt_j"]
    k, error = signed_rank_quantile(sample.n, 0.025)
    details |= {"k": k, "achieved_level": 1 - 2 * error}
    interval = partial(walsh_interval, sample.gaps, sample.scale, "two-sided")
    return EffectSize("hodges_lehmann", value, sample.n, sample.names, details, interval)


# ---- wins, and right and wrong answers ----------------------------------------------------------


def win_loss(a: Any, b: Any = None, *, names: tuple[str, str] | None = None) -> EffectSize:
    """How much more often the first system scores higher than lower: P(A > B) - P(B > A).

    Parameters
    ----------
    a, b, names
        As in `cohen_d`. Pairs without a difference count for neither system.

    Examples
    --------
    >>> from permtest.study import win_loss
    >>> print(win_loss([5, 7, 6, 9, 8], [4, 5, 6, 6, 9]))
    Win-loss difference of a over b 0.4, 95% interval -0.3493 to 0.8264 (n = 5).
    """
    sample = PairedSample.of(a, b, names=names)
    wins, losses = int(np.sum(sample.gaps > 0)), int(np.sum(sample.gaps < 0))
    details = {"wins": wins, "losses": losses, "ties": sample.n - wins - losses}
    interval = mcnemar(wins, losses, n=sample.n).confidence_interval
    return EffectSize(
        "win_loss", (wins - losses) / sample.n, sample.n, sample.names, details, interval
    )


def risk_difference(
    a: Any, b: Any = None, *, interval: str = "tango", names: tuple[str, str] | None = None
) -> EffectSize:
    """The difference of two shares of right answers to the same questions.

    Parameters
    ----------
    a, b
        Scores of both systems on the same items, all 0 or 1; or `Pairs`, and None.
    interval : {"tango", "newcombe"}, default "tango"
        "tango" inverts McNemar's score test (Tango 1998). "newcombe" makes one of the Wilson
        intervals of both shares and their correlation (Newcombe 1998, method 10).
    names : tuple of two str, optional

    Examples
    --------
    >>> from permtest.study import risk_difference
    >>> found = risk_difference([1, 1, 1, 0, 1], [0, 1, 0, 0, 1])
    >>> found.value, found.details["b"], found.details["c"]
    (0.4, 2, 0)
    """
    check_option("interval", interval, ("tango", "newcombe"))
    sample, (both, b, c, neither) = _answers(a, b, names)
    details = {"p1": (both + b) / sample.n, "p2": (both + c) / sample.n, "b": b, "c": c}
    ends: Any = mcnemar(b, c, n=sample.n).confidence_interval
    method = ""
    if interval == "newcombe":
        ends, method = partial(_newcombe, both, b, c, neither), "Newcombe's interval for pairs"
    return EffectSize(
        "risk_difference", (b - c) / sample.n, sample.n, sample.names, details, ends, method
    )


def _newcombe(
    both: int, b: int, c: int, neither: int, confidence_level: float
) -> tuple[float, float]:
    n = both + b + c + neither
    p, q = (both + b) / n, (both + c) / n
    (low, high), (under, over) = (wilson(share, n, confidence_level) for share in (p, q))
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    gap = both * neither - b * c
    r = (max(gap - n / 2, 0) if gap > 0 else gap) / sqrt(margins) if margins else 0.0
    down = sqrt((p - low) ** 2 - 2 * r * (p - low) * (over - q) + (over - q) ** 2)
    up = sqrt((high - p) ** 2 - 2 * r * (high - p) * (q - under) + (q - under) ** 2)
    return p - q - down, p - q + up


def odds_ratio(a: Any, b: Any = None, *, names: tuple[str, str] | None = None) -> EffectSize:
    """b / c: how many items the first system alone gets right for each that only the second does.

    Parameters
    ----------
    a, b, names
        As in `risk_difference`; one item at least is right for one system alone.

    Notes
    -----
    It is the conditional odds ratio of McNemar's test, infinite where c = 0. The interval is Clopper
    and Pearson's for b among b + c, which excludes 1 only where the exact test rejects.

    Examples
    --------
    >>> from permtest.study import odds_ratio
    >>> odds_ratio([1, 1, 1, 0, 1, 0], [0, 1, 0, 1, 1, 0]).value
    2.0
    """
    sample, (_, b, c, _) = _answers(a, b, names)
    if b + c == 0:
        raise ValueError("a and b are equal in every pair: there is no odds ratio")
    test = mcnemar(b, c)  # its interval is for the difference of the shares of b and c in b + c

    def interval(confidence_level: float) -> tuple[float, ...]:
        ends = test.confidence_interval(confidence_level)
        return tuple((1 + end) / (1 - end) if end < 1 else inf for end in ends)

    return EffectSize(
        "odds_ratio", b / c if c else inf, sample.n, sample.names, {"b": b, "c": c}, interval
    )


def cohen_h(
    x1: Any,
    n1: Any = None,
    x2: int | None = None,
    n2: int | None = None,
    *,
    paired: bool = True,
    names: tuple[str, str] | None = None,
) -> EffectSize:
    """Cohen's h: the difference of two shares of right answers on the arcsine scale.

    Parameters
    ----------
    x1, n1 : array_like of shape (N,), or int
        Scores of both systems on the same items, as in `risk_difference`. Or, for systems that were
        tested on different items, how many of its items the first gets right, and how many it has.
    x2, n2 : int, optional
        The same numbers of the second system.
    paired : bool, default True
        False takes scores for those of different items, as numbers of items always are.
    names : tuple of two str, optional

    Notes
    -----
    h = 2 asin(sqrt(p1)) - 2 asin(sqrt(p2)), with a normal interval. Its variance is 1 / n1 + 1 / n2
    for independent systems and (2 - 2 r12) / n for pairs, with r12 the correlation of the answers;
    it takes their four numbers one half larger than they are, to be defined and below 1.

    Examples
    --------
    >>> from permtest.study import cohen_h
    >>> round(cohen_h(85, 100, 75, 100).value, 4)
    0.2518
    >>> round(cohen_h([1, 1, 0, 0, 1], [0, 1, 0, 1, 1]).details["r12"], 4)
    0.125
    """
    r12 = 0.0
    if x2 is None and n2 is None:
        sample, (both, b, c, neither) = _answers(x1, n1, names)
        names, x1, x2, n1 = sample.names, both + b, both + c, sample.n
        n, n2 = (n1 if paired else 2 * n1), n1
        r12 = _phi(both + 0.5, b + 0.5, c + 0.5, neither + 0.5)[0] if paired else 0.0
    else:
        x1, n1, x2, n2 = (*_proportion(x1, n1, "1"), *_proportion(x2, n2, "2"))
        n = n1 + n2
    shares = x1 / n1, x2 / n2
    value = 2 * asin(sqrt(shares[0])) - 2 * asin(sqrt(shares[1]))
    error = sqrt((1 / n1 + 1 / n2) * (1 - r12))
    details = {"p1": shares[0], "p2": shares[1], "r12": r12, "standard_error": error}

    def interval(confidence_level: float) -> tuple[float, float]:
        half = error * normal_quantile(tail_level("two-sided", confidence_level))
        return max(value - half, -pi), min(value + half, pi)

    return EffectSize("cohen_h", value, n, names or ("a", "b"), details, interval)


def phi(table: Any, *, names: tuple[str, str] = ("a", "b")) -> EffectSize:
    """Phi: the correlation in a table of two by two counts.

    Parameters
    ----------
    table : array_like of shape (2, 2)
        Counts. Rows are two systems, columns right and wrong answers: phi is above 0 where the
        first row has the greater share of right ones.
    names : tuple of two str, default ("a", "b")
        What the rows are called.

    Notes
    -----
    The interval is normal on the scale of atanh(phi), with the large-sample variance of phi
    (Bishop, Fienberg and Holland 1975, sec. 11.3) for N independent items. Where a cell is empty it
    is that of the table with one half added to each, and reaches to 1 or -1 on the side of phi.

    Examples
    --------
    >>> from permtest.study import phi
    >>> phi([[85, 15], [75, 25]]).value
    0.125
    """
    array = np.asarray(table, dtype=object)
    if array.shape != (2, 2):
        raise ValueError(f"table has shape {array.shape}, but must be two by two")
    p, q, r, s = (count(array[i, j], f"table[{i}, {j}]") for i in (0, 1) for j in (0, 1))
    for name, sums in (("row", (p + q, r + s)), ("column", (p + r, q + s))):
        if 0 in sums:
            raise ValueError(f"{name} {sums.index(0)} of table is empty: there is no correlation")
    value, error = _phi(p, q, r, s)
    half = 0.5 if 0 in (p, q, r, s) else 0.0
    centre, spread = _phi(p + half, q + half, r + half, s + half)

    def interval(confidence_level: float) -> tuple[float, float]:
        reach = normal_quantile(tail_level("two-sided", confidence_level)) * spread
        low, high = (tanh(atanh(centre) + side * reach / (1 - centre**2)) for side in (-1, 1))
        ahead = p * s > q * r
        return (low if ahead or not half else -1.0, high if not (half and ahead) else 1.0)

    n = p + q + r + s
    details = {"chi_squared": n * value**2, "standard_error": error}
    return EffectSize("phi", value, n, names, details, interval)


def _phi(p: float, q: float, r: float, s: float) -> tuple[float, float]:
    """Phi of a table with no empty row or column, and its standard error."""
    rows, columns = (p + q, r + s), (p + r, q + s)
    products = rows[0] * rows[1], columns[0] * columns[1]
    value = min(max((p * s - q * r) / sqrt(products[0] * products[1]), -1.0), 1.0)
    tilts = [(x - y) / sqrt(x * y) for x, y in (rows, columns)]
    skewed = value * (1 + value**2 / 2) * tilts[0] * tilts[1]
    variance = 1 - value**2 + skewed - 0.75 * value**2 * (tilts[0] ** 2 + tilts[1] ** 2)
    return value, sqrt(max(variance, 0.0) / (p + q + r + s))


def _answers(
    a: Any, b: Any, names: tuple[str, str] | None
) -> tuple[PairedSample, tuple[int, int, int, int]]:
    """Scores of 0 and 1, and how many items both, a alone, b alone and neither get right."""
    sample = PairedSample.of(a, b, names=names)
    u, v = sample.pairs.u, sample.pairs.v
    if not sample.is_binary:
        raise ValueError("a and b must be 0 or 1 for each item: the answer is wrong, or right")
    only_u, only_v, both = (int(x.sum()) for x in (u > v, v > u, u & v))
    return sample, (both, only_u, only_v, sample.n - both - only_u - only_v)


def _proportion(x: Any, n: Any, which: str) -> tuple[int, int]:
    right, items = count(x, f"x{which}"), check_count(n, f"n{which}")
    if right > items:
        raise ValueError(f"x{which}={x} must lie between 0 and n{which}={n}")
    return right, items
