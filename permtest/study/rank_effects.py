"""Effect sizes of ranks: Wilcoxon r, rank-biserial correlation, Hodges-Lehmann estimate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from permtest._checks import check_option
from permtest._integers import IntArray
from permtest.alternatives.counts import wilson
from permtest.alternatives.ranks import SignedRanks, walsh_interval
from permtest.alternatives.sample import PairedSample, nearest, within_floats
from permtest.alternatives.walsh import hodges_lehmann_sum, signed_rank_quantile
from permtest.study.effect import CORRELATION, EffectSize

#: How many pairs the least number of trials counts for, against what a sample says; by simulation
#: the smallest number with which the interval for r errs in no more than 6% of samples of 10 on.
PRIOR = 25


@dataclass(frozen=True)
class _Ranks:
    """The signed ranks of the differences that are not 0.

    W+ adds up, over all i <= j, whether d_i + d_j is above 0, a sum of 0 counting one half; so
    its share of what it can be at most, `share`, is nearly the chance that two differences sum to
    more than 0.
    """

    n: int
    w_plus: float
    deviation: float
    share: float
    effective: float

    @classmethod
    def of(cls, sample: PairedSample) -> _Ranks:
        """Rank the differences of a sample."""
        found = SignedRanks.of(sample.gaps, "wilcox")
        n = found.n_nonzero
        if n == 0:
            raise ValueError(
                "a and b are equal in every pair: there are no ranks, and no effect to speak of"
            )
        share = found.plus / (n * (n + 1) / 2)
        nonzero = sample.gaps[sample.gaps != 0]
        return cls(n, found.plus, found.deviation, share, _effective_size(nonzero, share))

    @property
    def z(self) -> float:
        """W+ standardised, without a correction for continuity."""
        return (self.w_plus - self.n * (self.n + 1) / 4) / self.deviation

    def interval(self, unit: float, centre: float, confidence_level: float) -> tuple[float, float]:
        """Wilson's for `share`, as if of so many independent trials, on another scale."""
        low, high = wilson(self.share, self.effective, confidence_level)
        return unit * (low - centre), unit * (high - centre)


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
        At most ``sqrt(1.5 (n + 1) / (2 n + 1))``, with n the pairs that differ, where no magnitudes
        tie, and as far below 0: from 1 for one pair down to 0.87 for many. Ties can raise it to 1.

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
    check_option("per", per, sizes)
    details = {f"r_{key}": ranks.z / sqrt(n) for key, n in sizes.items()}
    details |= {"z": ranks.z, "w_plus": ranks.w_plus, "n_nonzero": ranks.n}
    details |= {"rank_biserial": 2 * ranks.share - 1, "share": ranks.share}
    unit = ranks.n * (ranks.n + 1) / 2 / (ranks.deviation * sqrt(sizes[per]))

    return EffectSize(
        "wilcoxon_r",
        "Wilcoxon's r",
        ranks.z / sqrt(sizes[per]),
        sample.n,
        "Wilson interval for a U-statistic",
        sample.names,
        details,
        CORRELATION,
        _interval=partial(ranks.interval, unit, 0.5),
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

    return EffectSize(
        "rank_biserial",
        "Rank-biserial correlation",
        (2 * ranks.w_plus - total) / total,
        sample.n,
        "Wilson interval for a U-statistic",
        sample.names,
        {"w_plus": ranks.w_plus, "w_minus": total - ranks.w_plus, "n_nonzero": ranks.n},
        CORRELATION,
        _interval=partial(ranks.interval, 2, 0.5),
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
    details = {"i_le_j": nearest(usual)}
    value = usual
    if n > 1:
        other = hodges_lehmann_sum(sample.gaps, diagonal=False) / doubled
        details["i_lt_j"] = nearest(other)
        value = usual if diagonal else other
    k, error = signed_rank_quantile(n, 0.025)
    details |= {"k": k, "achieved_level": 1 - 2 * error}
    return EffectSize(
        "hodges_lehmann",
        "Hodges-Lehmann estimate",
        within_floats(nearest(value), "Hodges-Lehmann estimate"),
        n,
        "exact law of signed ranks",
        sample.names,
        details,
        _interval=partial(walsh_interval, sample.gaps, sample.scale, "two-sided"),
    )
