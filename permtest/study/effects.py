"""How large a difference is: effect sizes with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any

import numpy as np

from permtest._errors import check_level
from permtest._text import Shown, interval, number, plain
from permtest.alternatives import ranks, registry
from permtest.alternatives.counts import mcnemar, wilson
from permtest.alternatives.means import paired_t, t_quantile
from permtest.alternatives.registry import Ends, Names
from permtest.integers import IntArray
from permtest.interval import PER_SQUARED_SKEWNESS, ConfidenceInterval, looks_skewed, skewness
from permtest.scores import Scores

#: From which magnitude on Cohen calls an effect small, medium and large.
STANDARDISED, CORRELATION = (0.2, 0.5, 0.8), (0.1, 0.3, 0.5)
WORDS = ("less than small", "small", "medium", "large")

#: What an effect is called, how its interval is made, and thresholds if it has no unit.
KINDS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "cohen_d": ("Cohen's d", "noncentral t distribution", STANDARDISED),
    "hedges_g": ("Hedges' g", "noncentral t distribution", STANDARDISED),
    "wilcoxon_r": ("Wilcoxon's r", "Wilson interval for a U-statistic", CORRELATION),
    "hodges_lehmann": ("Hodges-Lehmann estimate", "exact law of signed ranks", ()),
    "risk_difference": ("Risk difference", "Tango's score interval", ()),
}

#: How many pairs the least number of trials counts for against what a sample says of the variance
#: of W+: with fewer the interval erred in more than 6% of simulated samples.
PRIOR = 25

#: The skewness of differences times d may be so large: it is what skewness adds to n times the
#: variance of d, whatever n is.
MOST_SKEWED = 0.5


@dataclass(frozen=True)
class EffectSize(Shown):
    """How large a difference is, above 0 where the first system scores higher."""

    name: str
    value: float
    n: int
    names: tuple[str, str]
    details: Mapping[str, float]
    _ends: Ends = field(repr=False, compare=False)
    warning: str | None = None

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """A two-sided interval for the effect in the population, of a level in (0, 1)."""
        check_level(confidence_level, "confidence_level")
        low, high = self._ends(registry.tail_level("two-sided", confidence_level))
        return ConfidenceInterval(float(low), float(high), confidence_level, warning=self.warning)

    @property
    def title(self) -> str:
        """The name of the effect in sentences and tables."""
        return KINDS[self.name][0]

    @property
    def label(self) -> str:
        """Cohen's word for the magnitude; empty for an effect that has a unit."""
        thresholds = KINDS[self.name][2]
        return WORDS[sum(abs(self.value) >= x for x in thresholds)] if thresholds else ""

    def __str__(self) -> str:
        ends, word = interval(*self.confidence_interval()), f"{self.label}; " * bool(self.label)
        return (
            f"{self.title} of {self.names[0]} over {self.names[1]} {number(self.value, 4)}, "
            f"95% interval {ends} ({word}n = {self.n}). {self.warning or ''}".rstrip()
        )

    def rows(self) -> list[dict[str, Any]]:
        """All fields, with what the effect is called, its label and its 95% interval: one row."""
        more = {"title": self.title, "label": self.label, "method": KINDS[self.name][1]}
        return [super().rows()[0] | more | {"interval": plain(tuple(self.confidence_interval()))}]


def effect_sizes(a: Any, b: Any = None, *, names: Names = None) -> tuple[EffectSize, ...]:
    """The effect sizes that suit the scores.

    For scores of 0 and 1 that is the risk difference; for others d, g, r and the Hodges-Lehmann
    estimate, but for those that are not defined.

    Parameters
    ----------
    a, b, names
        As in `cohen_d`; a single pair is enough.

    Examples
    --------
    >>> from permtest.study import effect_sizes
    >>> {effect.name: round(effect.value, 3) for effect in effect_sizes([1, 1, 0, 1], [0, 1, 1, 0])}
    {'risk_difference': 0.25}
    """
    scores, found = registry.scores_of(a, b, names), []
    graded = (cohen_d, hedges_g, hodges_lehmann, wilcoxon_r)
    for effect in (risk_difference,) if scores.is_binary else graded:
        try:
            found.append(effect(scores))
        except ValueError:  # there is none for these scores
            continue
    return tuple(found)


def cohen_d(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """Cohen's d for pairs: the mean of the differences over their standard deviation (d_z).

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, of which a float stands for the decimal that it is printed as; or
        `Scores`, and None. At least 2.
    names : tuple of two str, optional
        The names of the two systems.

    Returns
    -------
    EffectSize
        Its `value`, `label` (Cohen's word for it) and `confidence_interval(level)`; `details` has
        t, df, d and its standard error, and J, the factor of `hedges_g`, or 1.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, too few, or their differences do not vary.

    Notes
    -----
    The interval inverts the noncentral t distribution: it is exact for normal differences only.
    Where differences look skewed, beyond what normal samples show, it has a `warning`: if there are
    fewer than 25 g1^2 pairs, or g1 d is beyond 0.5, as the interval is then wrong for any number of
    pairs.

    Examples
    --------
    >>> from permtest.study import cohen_d
    >>> d = cohen_d([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> low, high = d.confidence_interval(0.9)
    >>> round(d.value, 3), d.label, round(low, 3), round(high, 3)
    (1.228, 'large', 0.17, 2.185)
    """
    return _standardised("cohen_d", registry.scores_of(a, b, names, least=2))


def hedges_g(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """Hedges' g: Cohen's d without the bias that it has in small samples.

    It is J = ``1 - 3 / (4 df - 1)`` times d and its interval, with df = n - 1 (NLPStatTest manual,
    Eq. 15), which stands for a ratio of gamma functions.

    Parameters
    ----------
    a, b, names
        As in `cohen_d`; at least 3 pairs.

    Examples
    --------
    >>> from permtest.study import hedges_g
    >>> round(hedges_g([5, 7, 6, 9], [4, 6, 6, 6]).value, 4)
    0.7225
    """
    return _standardised("hedges_g", registry.scores_of(a, b, names, least=3))


def _standardised(name: str, scores: Scores) -> EffectSize:
    """Cohen's d or Hedges' g, with a warning where differences look skewed."""
    from scipy.optimize import brentq
    from scipy.stats import nct

    n, t, differences = len(scores), paired_t(scores).statistic, scores.differences()
    df, d, warning = n - 1, t / sqrt(n), None
    near = 1 - 3 / (4 * df - 1) if name == "hedges_g" else 1.0
    g1 = skewness(*np.unique(differences, return_counts=True))
    if looks_skewed(g1, n) and (n < PER_SQUARED_SKEWNESS * g1**2 or abs(g1 * d) > MOST_SKEWED):
        warning = (
            f"The differences look skewed (g1 = {g1:.2g}), but the interval assumes that they are "
            "normal. If they are not, it may miss the effect more often than it should: of 100 "
            "lognormal differences, a 95% interval covers it in 82% of samples."
        )

    def gap(x: float, share: float) -> float:  # SciPy's is NaN where it is all but 0 or 1
        return float(np.nan_to_num(nct.cdf(t, df, x), nan=float(x < t))) - share

    def ends(tail: float) -> tuple[float, float]:
        # All noncentralities under which t lies neither in the upper nor in the lower tail.
        reach = 3 * max(t_quantile(tail, inf), 1) * sqrt(1 + t * t / df)  # more than is needed
        low, high = (brentq(gap, t - reach, t + reach, args=share) for share in (1 - tail, tail))
        return near * low / sqrt(n), near * high / sqrt(n)

    details = {"t": t, "df": df, "d": d, "standard_error": sqrt(1 / n + d**2 / (2 * n)), "J": near}
    return EffectSize(name, near * d, n, scores.names, details, ends, warning)


def wilcoxon_r(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """r of the signed-rank test: z over the root of the number of pairs that differ, signed.

    Parameters
    ----------
    a, b, names
        As in `cohen_d`; one pair at least has to differ.

    Notes
    -----
    z has the variance corrected for ties and no correction for continuity (NLPStatTest manual,
    Eq. 17). Without ties, r is at most ``sqrt(1.5 (n + 1) / (2 n + 1))``. `details` has z, W+ and
    the rank-biserial correlation. The interval is Wilson's, for the chance that two differences
    sum to more than 0, with as many trials as give W+ its variance as a U-statistic: it assumes
    nothing of their shape.

    Examples
    --------
    >>> from permtest.study import wilcoxon_r
    >>> r = wilcoxon_r([5, 7, 6, 9, 8], [4, 5, 6, 6, 9])
    >>> round(r.value, 4), r.details["w_plus"], r.details["n_nonzero"]
    (0.6444, 8.5, 4)
    """
    scores = registry.scores_of(a, b, names)
    d = scores.differences()
    d = d[d != 0]
    if d.size == 0:
        raise ValueError("a and b are equal in every pair, so there are no ranks and no effect")
    signed = ranks.signed_ranks(d)
    spread = float(np.linalg.norm(signed)) / 4  # of W+ under random signs
    z = float(signed.sum()) / 4 / spread
    plus, total = (int(x.sum()) / 2 for x in (np.maximum(signed, 0), np.abs(signed)))
    share, trials = plus / total, _trials(d, plus / total)
    details = {"z": z, "w_plus": plus, "n_nonzero": d.size, "rank_biserial": 2 * share - 1}
    unit = total / (2 * spread * sqrt(d.size))

    def ends(tail: float) -> tuple[float, float]:
        low, high = wilson(share, trials, 1 - 2 * tail)
        return unit * (2 * low - 1), unit * (2 * high - 1)

    value = z / sqrt(d.size)
    return EffectSize("wilcoxon_r", value, len(scores), scores.names, details, ends)


def _trials(d: IntArray, share: float) -> float:
    """Of how many independent trials W+ has the variance, as far as the sample tells."""
    # The mean of k(x, y), 1 where x + y > 0, has the variance 2 (2 (n - 2) z1 + z2) / (n (n - 1)),
    # with z2 the variance of k and z1 that of its mean over y (Hoeffding 1948). As 2 z1 <= z2, that
    # makes n / 2 trials or more; what a small sample says of z1 is drawn towards that. More than n
    # trials, which a share near 0 or 1 may suggest, would make intervals too short.
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


def hodges_lehmann(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """The Hodges-Lehmann estimate: the median of the means (d_i + d_j) / 2 over i <= j.

    Parameters
    ----------
    a, b, names
        As in `cohen_d`; a single pair is enough.

    Notes
    -----
    The interval runs from the k-th smallest mean to the k-th largest, with k from the exact law of
    the signed-rank sum. Of symmetric differences it covers the centre at least so often; an end is
    infinite where there are too few pairs. O(N log N). The manual of NLPStatTest (Eq. 18) has the
    median over i < j.

    Examples
    --------
    >>> from permtest.study import hodges_lehmann
    >>> hodges_lehmann([0.5, 0.7, 0.6, 0.9], [0.4, 0.5, 0.6, 0.6]).value
    0.15
    """
    scores = registry.scores_of(a, b, names)
    d, scale = scores.differences(), scores.scale
    value = float(ranks.hodges_lehmann_sum(d) / (2 * scale))

    def ends(tail: float) -> tuple[float, float]:
        low, high = ranks.walsh_ends(d, tail)
        return low / scale, high / scale

    return EffectSize("hodges_lehmann", value, len(scores), scores.names, {}, ends)


def risk_difference(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """The difference of two shares of right answers to the same questions.

    The interval inverts McNemar's score test (Tango 1998). `details` has both shares, and the
    numbers of items right for one system alone.

    Parameters
    ----------
    a, b, names
        As in `cohen_d`, all scores 0 or 1; a single pair is enough.

    Examples
    --------
    >>> from permtest.study import risk_difference
    >>> found = risk_difference([1, 1, 1, 0, 1], [0, 1, 0, 0, 1])
    >>> found.value, found.details["b"], found.details["c"]
    (0.4, 2, 0)
    """
    scores = registry.scores_of(a, b, names)
    if not scores.is_binary:
        raise ValueError("a and b must be 0 or 1 for each item: the answer is wrong, or right")
    n, u, v = len(scores), scores.u > 0, scores.v > 0
    b_only, c_only = int(np.sum(u & ~v)), int(np.sum(v & ~u))
    details = {"p1": float(u.mean()), "p2": float(v.mean()), "b": b_only, "c": c_only}

    def ends(tail: float) -> tuple[float, float]:
        return mcnemar(b_only, c_only, n=n).confidence_interval(1 - 2 * tail)

    return EffectSize("risk_difference", (b_only - c_only) / n, n, scores.names, details, ends)
