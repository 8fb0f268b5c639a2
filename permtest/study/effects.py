"""How large a difference is: effect sizes with intervals."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np

from permtest._errors import check_level
from permtest._text import Shown, interval, number, plain
from permtest.alternatives import ranks, registry
from permtest.alternatives.counts import wilson
from permtest.alternatives.means import paired_t, t_quantile
from permtest.alternatives.registry import Ends, Names
from permtest.interval import ConfidenceInterval, score_ends

#: Cohen's words for magnitudes, and from which one on an effect is small, medium and large.
WORDS = ("less than small", "small", "medium", "large")
STANDARDISED = (0.2, 0.5, 0.8)
#: What an effect is called, how its interval is made, and Cohen's thresholds if it has no unit.
KINDS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "cohen_d": ("Cohen's d", "noncentral t, for normal differences", STANDARDISED),
    "hedges_g": ("Hedges' g", "noncentral t, for normal differences", STANDARDISED),
    "wilcoxon_r": ("Wilcoxon's r", "approximation by Wilson", (0.1, 0.3, 0.5)),
    "hodges_lehmann": ("Hodges-Lehmann estimate", "exact law of signed ranks", ()),
    "risk_difference": ("Risk difference", "Tango's score interval", ()),
}


@dataclass(frozen=True)
class EffectSize(Shown):
    """How large a difference is, above 0 where the first system scores higher; in Cohen's word."""

    name: str
    value: float
    n: int
    names: tuple[str, str]
    _ends: Ends = field(repr=False, compare=False)
    _per: float = field(default=1, repr=False, compare=False)  # by which ends are divided
    title: str = field(init=False)
    label: str = field(init=False)
    method: str = field(init=False)

    def __post_init__(self) -> None:
        title, method, limits = KINDS[self.name]
        label = WORDS[sum(abs(self.value) >= x for x in limits)] if limits else ""
        vars(self).update(title=title, method=method, label=label)

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """A two-sided interval for the effect in the population, of a level in (0, 1)."""
        check_level(confidence_level, "confidence_level")
        ends = self._ends(registry.tail_level("two-sided", confidence_level))
        low, high = (float(end / self._per) for end in ends)
        return ConfidenceInterval(low, high, confidence_level)

    def __str__(self) -> str:
        ends, word = interval(*self.confidence_interval()), f"{self.label}; " * bool(self.label)
        return (
            f"{self.title} of {self.names[0]} over {self.names[1]} {number(self.value, 4)}, "
            f"95% interval {ends} ({word}n = {self.n})."
        )

    def rows(self) -> list[dict[str, Any]]:
        """All fields, and the 95% interval: one row."""
        return [super().rows()[0] | {"interval": plain(tuple(self.confidence_interval()))}]


def effect_sizes(a: Any, b: Any = None, *, names: Names = None) -> tuple[EffectSize, ...]:
    """The risk difference of scores of 0 and 1; of others d, g, Hodges-Lehmann and r, if there are.

    Parameters
    ----------
    a, b, names : as in `describe`

    Examples
    --------
    >>> from permtest.study import effect_sizes
    >>> {effect.name: round(effect.value, 3) for effect in effect_sizes([1, 1, 0, 1], [0, 1, 1, 0])}
    {'risk_difference': 0.25}
    """
    scores, found = registry.scores_of(a, b, names), []
    graded = (cohen_d, hedges_g, hodges_lehmann, wilcoxon_r)
    for effect in (risk_difference,) if scores.is_binary else graded:
        with suppress(ValueError):  # there is none for these scores
            found.append(effect(scores))
    return tuple(found)


def cohen_d(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """Cohen's d for pairs: the mean of the differences over their standard deviation (d_z).

    The interval inverts the noncentral t distribution. It is exact for normal differences, and too
    short for skewed ones, however many: a 95% interval of 100 lognormal ones covers the effect in
    82% of samples.

    Parameters
    ----------
    a, b, names : as in `describe`, at least 2 pairs, whose differences vary

    Examples
    --------
    >>> from permtest.study import cohen_d
    >>> d = cohen_d([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> low, high = d.confidence_interval(0.9)
    >>> round(d.value, 3), d.label, round(low, 3), round(high, 3)
    (1.228, 'large', 0.17, 2.185)
    """
    from scipy.optimize import brentq
    from scipy.stats import nct

    scores = registry.scores_of(a, b, names, least=2)
    n, t, df = len(scores), paired_t(scores).statistic, len(scores) - 1

    def gap(x: float, share: float) -> float:  # SciPy's is NaN where it is all but 0 or 1
        return float(np.nan_to_num(nct.cdf(t, df, x), nan=float(x < t))) - share

    def ends(tail: float) -> tuple[float, float]:
        # All noncentralities under which t lies neither in the upper nor in the lower tail.
        reach = 3 * max(t_quantile(tail, inf), 1) * sqrt(1 + t * t / df)  # more than is needed
        low, high = (brentq(gap, t - reach, t + reach, args=share) for share in (1 - tail, tail))
        return low, high

    return EffectSize("cohen_d", t / sqrt(n), n, scores.names, ends, sqrt(n))


def hedges_g(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """Hedges' g: Cohen's d without the bias that it has in small samples.

    It is ``1 - 3 / (4 df - 1)`` times d and its interval, with df = n - 1 (NLPStatTest manual,
    Eq. 15), which stands for a ratio of gamma functions.

    Parameters
    ----------
    a, b, names : as in `describe`, at least 3 pairs, whose differences vary

    Examples
    --------
    >>> from permtest.study import hedges_g
    >>> round(hedges_g([5, 7, 6, 9], [4, 6, 6, 6]).value, 4)
    0.7225
    """
    scores = registry.scores_of(a, b, names, least=3)
    d, near = cohen_d(scores), 1 - 3 / (4 * (len(scores) - 1) - 1)
    return replace(d, name="hedges_g", value=near * d.value, _per=d._per / near)


def wilcoxon_r(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """r of the signed-rank test: z over the root of the number of pairs that differ, signed.

    z has the variance corrected for ties and no correction for continuity (NLPStatTest manual,
    Eq. 17). Without ties, r is at most ``sqrt(1.5 (n + 1) / (2 n + 1))``. The interval is
    approximate: Wilson's, for the chance that two differences sum to more than 0, with the variance
    in z. It has 0 outside where a z-test rejects, and is a little too short for skewed differences.

    Parameters
    ----------
    a, b, names : as in `describe`, with at least one pair that differs

    Examples
    --------
    >>> from permtest.study import wilcoxon_r
    >>> round(wilcoxon_r([5, 7, 6, 9, 8], [4, 5, 6, 6, 9]).value, 4)
    0.6444
    """
    scores = registry.scores_of(a, b, names)
    d = scores.differences()
    if not np.any(d):
        raise ValueError("a and b are equal in every pair, so there are no ranks and no effect")
    signed = ranks.signed_ranks(d[d != 0])
    total, lead = int(np.abs(signed).sum()), int(signed.sum())
    # So many tosses of a coin have the variance in z.
    trials = (total / float(np.linalg.norm(signed))) ** 2
    unit, share = sqrt(trials / signed.size), (1 + lead / total) / 2

    def ends(tail: float) -> tuple[float, float]:
        low, high = wilson(share, trials, 1 - 2 * tail)
        return 2 * low - 1, 2 * high - 1

    return EffectSize("wilcoxon_r", unit * lead / total, len(scores), scores.names, ends, 1 / unit)


def hodges_lehmann(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """The Hodges-Lehmann estimate: the median of the means (d_i + d_j) / 2 over i <= j.

    The interval runs from the k-th smallest mean to the k-th largest, with k from the exact law of
    the signed-rank sum. Of symmetric differences it covers the centre at least so often; an end is
    infinite where there are too few pairs. O(N log N). The manual of NLPStatTest (Eq. 18) has the
    median over i < j.

    Parameters
    ----------
    a, b, names : as in `describe`

    Examples
    --------
    >>> from permtest.study import hodges_lehmann
    >>> hodges_lehmann([0.5, 0.7, 0.6, 0.9], [0.4, 0.5, 0.6, 0.6]).value
    0.15
    """
    scores = registry.scores_of(a, b, names)
    d, scale = scores.differences(), scores.scale
    value, ends = float(ranks.hodges_lehmann_sum(d) / (2 * scale)), partial(ranks.walsh_ends, d)
    return EffectSize("hodges_lehmann", value, len(scores), scores.names, ends, scale)


def risk_difference(a: Any, b: Any = None, *, names: Names = None) -> EffectSize:
    """The difference of two shares of right answers; its interval is Tango's, of score tests.

    Parameters
    ----------
    a, b, names : as in `describe`, all scores 0 or 1

    Examples
    --------
    >>> from permtest.study import risk_difference
    >>> risk_difference([1, 1, 1, 0, 1], [0, 1, 0, 0, 1]).value
    0.4
    """
    scores = registry.scores_of(a, b, names)
    if not scores.is_binary:
        raise ValueError("a and b must be 0 or 1 for each item: the answer is wrong, or right")
    n, d = len(scores), scores.differences()
    wins, losses = int(np.sum(d > 0)), int(np.sum(d < 0))
    seen, ends = (wins - losses) / n, partial(score_ends, wins, losses, n)
    return EffectSize("risk_difference", seen, n, scores.names, ends)
