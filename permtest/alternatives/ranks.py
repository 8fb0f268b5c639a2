"""Wilcoxon's test, exact with ties and zeros, the sign test, and the exact test of the median.

SciPy's exact Wilcoxon test is wrong with ties, and it has no interval for any of these tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from math import inf, sqrt
from statistics import NormalDist
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_option
from permtest.alternatives import registry
from permtest.alternatives.counts import corrected_root, mcnemar_pvalue
from permtest.alternatives.means import t_pvalue
from permtest.alternatives.registry import AlternativeResult, Names, by_sides, first, makes
from permtest.batch import exact_perm_test_batch
from permtest.exact import exact_perm_test
from permtest.integers import IntArray, with_room
from permtest.null.distribution import count_values
from permtest.statistics import Alternative

#: What becomes of differences that are zero.
ZeroMethod: TypeAlias = Literal["wilcox", "pratt", "zsplit"]


@makes("wilcoxon")
def wilcoxon(
    a: Any,
    b: Any = None,
    *,
    zero_method: ZeroMethod = "wilcox",
    method: Literal["exact", "approx"] = "exact",
    correction: bool = False,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """Wilcoxon's signed-rank test, exact with any ties and zeros.

    It is the exact paired-permutation test of the signed ranks: the null distribution is that of
    the ranks that these data have, so that ties make it no less exact.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items, N >= 1; or one `Scores`.
    zero_method : {"wilcox", "pratt", "zsplit"}
        "wilcox" drops differences of zero before ranking, "pratt" after it; "zsplit" gives half of
        their ranks to either side, which changes W+, but no p.
    method : {"exact", "approx"}
        "approx" is the normal approximation with the variance corrected for ties.
    correction : bool, default False
        Whether the approximation moves W+ by one half towards its mean.
    alternative, delta, names : as in `paired_t`
        `delta` is the centre of the differences under the null hypothesis.

    Returns
    -------
    AlternativeResult
        `statistic` is W+, the sum of the ranks of positive differences; `details` has W-, z, the
        numbers of zeros and of other differences, and sum(t^3 - t) over groups of ties. The
        estimate is that of Hodges and Lehmann, with its exact interval (for untied ranks; with
        ties it covers at least as often). The interval keeps zeros, which p does not count: with
        many of them it may contain `delta` though p is small.

    Notes
    -----
    Differences are formed in integers, so that 0.3 - 0.1 ties with 0.2. Cost O(N log N), and the
    exact tail of N ranks: 5 ms for N = 2 000, 0.2 s for 100 000 that are all different. SciPy's
    exact method needs data without ties; its normal approximation with "zsplit" keeps the zeros in
    the variance, which no swap moves, so that its z is closer to 0 than here. Source: Yeh (2000),
    sec. 3.1; NLPStatTest manual, D.3 and Eq. 17.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.wilcoxon([3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5])
    >>> r.pvalue, r.statistic, r.details["n_zero"]
    (0.25, 13.0, 1)
    """
    check_option("zero_method", zero_method, get_args(ZeroMethod))
    check_option("method", method, ("exact", "approx"))
    scores, shift = registry.scores_of(a, b, names, delta)
    d = scores.differences()
    ranks, zeros = signed_ranks(d, zero_method=zero_method), int(np.sum(d == 0))
    if method == "approx":
        p = float(_approximate(ranks, -1, alternative, 0.5 * correction))
    else:
        p = exact_perm_test(ranks, np.zeros_like(ranks), alternative=alternative).pvalue
    share = zeros * (zeros + 1) / 4 if zero_method == "zsplit" else 0.0
    plus, minus = (int(np.maximum(x, 0).sum()) / 2 + share for x in (ranks, -ranks))
    ties = np.unique(np.abs(ranks[ranks != 0]), return_counts=True)[1]
    details = {"W-": minus, "z": float(rank_z(ranks)), "n_nonzero": d.size - zeros}
    details |= {"n_zero": zeros, "tie_sum": int((ties**3 - ties).sum())}
    middle = hodges_lehmann_sum(d) / (2 * scores.scale)
    test = "wilcoxon" if method == "exact" else "wilcoxon_approx"
    rest = float(middle + shift), scores.names, float(shift), details
    ends = partial(_moved, walsh_ends, d, scores.scale, shift)
    return AlternativeResult(test, plus, p, alternative, d.size, *rest, _ends=ends)


@makes("sign")
def sign(
    a: Any,
    b: Any = None,
    *,
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """The exact sign test of the median difference.

    It is the exact paired-permutation test of the signs of the differences.

    Parameters
    ----------
    a, b, alternative, delta, names : as in `paired_t`
        N >= 1, and `delta` is the median difference under the null hypothesis.

    Returns
    -------
    AlternativeResult
        `details` has the numbers of positive, negative and zero differences (less `delta`). Zeros
        do not count. The interval is for the median of all differences, from order statistics.

    Notes
    -----
    Binomial at every N, never approximate. Cost O(N log N). The interval keeps zeros, as that of
    `wilcoxon` does. Source: Yeh (2000), sec. 3.1; NLPStatTest manual, D.2.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.sign([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> r.pvalue, r.details
    (0.125, {'n_positive': 4, 'n_negative': 0, 'n_zero': 1})
    """
    scores, shift = registry.scores_of(a, b, names, delta)
    d = np.sort(scores.differences())
    wins, losses = int(np.sum(d > 0)), int(np.sum(d < 0))
    p = float(mcnemar_pvalue(wins, losses, "exact", alternative))
    details = {"n_positive": wins, "n_negative": losses, "n_zero": d.size - wins - losses}
    middle = Fraction(_doubled_median(d), 2 * scores.scale)
    rest = float(middle + shift), scores.names, float(shift), details
    ends = partial(_moved, _order_statistics, d, scores.scale, shift)
    return AlternativeResult("sign", wins, p, alternative, d.size, *rest, _ends=ends)


@makes("permutation_median")
def permutation_median(
    a: Any,
    b: Any = None,
    *,
    alternative: Alternative = "two-sided",
    delta: float | Fraction = 0.0,
    names: Names = None,
) -> AlternativeResult:
    """Exact paired-permutation test of the median difference.

    Under the null hypothesis the labels of the two systems mean nothing, so that every difference
    has either sign with probability 1/2. p is the share of all 2^N choices of signs whose median
    is at least as extreme as the observed one; ties count.

    Parameters
    ----------
    a, b, alternative, delta, names : as in `paired_t`
        N >= 1, and `delta` is the median difference under the null hypothesis: the signs of what
        differences exceed it by are exchanged.

    Returns
    -------
    AlternativeResult
        The statistic is the median of the differences less `delta`, the mean of the two middle ones
        for even N. The interval has all shifts that are not rejected, its ends included; they are
        exact. The `details` have the number of differences that are `delta` itself (`zeros`).

    Notes
    -----
    Nothing is listed or sampled. For odd N the median is m > 0 or more where (N + 1) / 2 of the
    differences whose magnitude is m or more, or more of them, are positive: a binomial tail. For
    even N, with w_1 <= ... <= w_N the magnitudes, let the lower of the two middle ones be w_i with
    a positive sign. Then smaller ones are below it whatever their signs; the upper middle one must
    be at least 2 m - w_i, so larger ones below that must be negative; and of the f that are left
    N / 2 must be positive: ``C(f, N / 2) / 2^(N - i + 1)``, which is added up over i. Negative can
    be w_1 alone. Comparisons are made in integers; p is right to 1e-12 of itself down to 1e-300.

    p rises with `delta` (for "greater"), in steps at shifts where some choice of signs ties with
    what was observed; those are multiples of a quarter of the unit of the scores, so that
    bisection finds the ends of the interval among whole numbers.

    Time O(N log N), for the interval times the logarithm of the range of the scores.

    Examples
    --------
    >>> from permtest.alternatives import permutation_median
    >>> new, old = [9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]
    >>> r = permutation_median(new, old)
    >>> r.statistic, r.pvalue
    (2.0, 0.0625)
    """
    scores, shift = registry.scores_of(a, b, names, delta)
    d = np.sort(scores.differences())
    doubled = _doubled_median(d)
    middle, details = Fraction(doubled, 2 * scores.scale), {"zeros": int(np.sum(d == 0))}
    p = by_sides(alternative, *(median_tail(d, side * doubled) for side in (1, -1)))
    found = float(middle), p, alternative, d.size, float(middle + shift), scores.names
    ends = partial(_moved, _median_shifts, d, scores.scale, shift)
    return AlternativeResult("permutation_median", *found, float(shift), details, _ends=ends)


def _moved(
    ends: Callable[..., Any], d: IntArray, scale: int, delta: Fraction, tail: float
) -> tuple[float, float]:
    """Ends of an interval in scores, with `delta` added again, each rounded once."""
    low, high = (x if abs(x) == inf else Fraction(x) / scale + delta for x in ends(d, tail))
    return float(low), float(high)


# ---- ranks ---------------------------------------------------------------------------------------


def signed_ranks(d: NDArray[Any], axis: int = -1, zero_method: str = "wilcox") -> NDArray[np.int64]:
    """Twice the midranks of absolute differences, with their signs; 0 for zeros.

    SciPy's `rankdata` takes half as long again, and no large integers.
    """
    sizes = np.moveaxis(np.abs(d), axis, -1)
    order, places = np.argsort(sizes, axis=-1), np.arange(sizes.shape[-1])
    ordered, starts = np.take_along_axis(sizes, order, -1), np.ones(sizes.shape, np.bool_)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    before = np.maximum.accumulate(np.where(starts, places, 0), axis=-1)
    ends = np.roll(starts, -1, axis=-1)[..., ::-1]
    after = np.maximum.accumulate(np.where(ends, places, 0), axis=-1)[..., ::-1]
    ranks = np.empty(sizes.shape, np.int64)
    np.put_along_axis(ranks, order, before + 1 + places.size - after, -1)
    if zero_method == "wilcox":
        ranks -= 2 * np.count_nonzero(sizes == 0, axis=-1, keepdims=True)
    return np.asarray(np.sign(d).astype(np.int64) * np.moveaxis(ranks, -1, axis))


def rank_deviation(ranks: NDArray[np.int64], axis: int = -1) -> Any:
    """Standard deviation of W+ under random signs, which ties make smaller."""
    return np.linalg.norm(ranks, axis=axis) / 4


def rank_z(
    ranks: NDArray[np.int64],
    axis: int = -1,
    correction: float = 0.0,
    alternative: str = "two-sided",
) -> Any:
    """W+ less its mean, and less a correction, over its standard deviation, if that is not 0."""
    deviation = rank_deviation(ranks, axis)
    gap = corrected_root(ranks.sum(axis) / 4, correction, alternative)
    return gap / np.where(deviation > 0, deviation, 1.0)


def _approximate(ranks: NDArray[Any], axis: int, alternative: str, correction: float = 0.0) -> Any:
    """p by the normal approximation; 1 if there is nothing to rank."""
    z = rank_z(ranks, axis, correction, alternative)
    return np.where(ranks.any(axis), t_pvalue(z, inf, alternative), 1.0)


@makes("exact", many=True)
def exact_pvalues(a: NDArray[Any], b: Any, axis: int = -1, *, alternative: str) -> Any:
    """p of the exact tests of integers."""
    d = np.moveaxis(a - b, axis, -1)
    zeros = np.zeros(d.shape[-1], np.int64)
    return exact_perm_test_batch(d, zeros, axis=-1, alternative=alternative).pvalue


@makes("wilcoxon", many=True)
@makes("wilcoxon_approx", many=True, approximate=True)
def signed_rank_pvalues(
    a: NDArray[Any], b: Any, axis: int = -1, *, alternative: str, approximate: bool = False
) -> Any:
    """p of Wilcoxon's test."""
    ranks = signed_ranks(registry.differences(a, b), axis)
    if approximate:
        return _approximate(ranks, axis, alternative)
    return exact_pvalues(ranks, 0, axis, alternative=alternative)


# ---- medians -------------------------------------------------------------------------------------


def _order_statistics(ordered: IntArray, tail: float) -> tuple[Any, Any]:
    """d_(k) to d_(n+1-k) with the largest k whose tail does not exceed the level."""
    n = ordered.size
    k = first(lambda k: bool(mcnemar_pvalue(k, n - k, "exact", "less") > tail), 0, n)
    return (int(ordered[k - 1]), int(ordered[n - k])) if k else (-inf, inf)


def _doubled_median(ordered: NDArray[Any]) -> int:
    """Twice the median, the sum of the two middle ones, is an integer for odd and for even N."""
    n = len(ordered)
    return int(ordered[(n - 1) // 2]) + int(ordered[n // 2])


def median_tail(steps: IntArray, m: int) -> float:
    """P(twice the median >= m) of integers whose signs are drawn; see `permutation_median`."""
    if m <= 0:
        return 1.0 - median_tail(steps, 1 - m)  # the law is symmetric about 0
    # A stable sort merges what is ascending or descending already.
    w, n = np.sort(np.abs(with_room(steps, 4)), kind="stable"), len(steps)
    half = (n + 1) // 2
    if n % 2:
        large = n - int(np.searchsorted(w, (m + 1) // 2))
        return float(mcnemar_pvalue(half, large - half, "exact", "greater")) if large >= half else 0
    from scipy.stats import binom

    # Entry i has i before it; if it is the lower middle one, half - 1 at least stay below.
    i = np.arange(half)
    free = n - np.maximum(i + 1, np.searchsorted(w, m - w[:half]))
    fixed = n - i - free  # entry i and those that must be negative
    above = np.append(free, n - np.searchsorted(w, m + w[0]))
    fixed = np.append(fixed, n - above[-1])
    possible = above >= half
    terms = np.ldexp(binom.pmf(half, above[possible], 0.5), -fixed[possible])
    return min(float(np.sum(terms)), 1.0)


def _median_shifts(d: IntArray, tail: float) -> tuple[Any, Any]:
    """All differences that the test of the median does not reject.

    Changing the signs of some of d about a shift, and adding it again, gives a median that rises
    with the shift; it reaches the observed one where two or four times the shift are sums and
    differences of two of d and of twice the median, no further from that than any two of d are.
    """

    def lower_end(d: IntArray) -> Any:
        middle, reach = _doubled_median(d), int(d[-1]) - int(d[0]) + 1
        d, low = 4 * with_room(d, 64), 2 * middle - 4 * reach

        def accepted(shift: int) -> bool:
            return not registry.rejects(median_tail(d - shift, 4 * middle - 2 * shift), tail)

        shift = first(accepted, low, 2 * middle + 4 * reach)
        return -inf if shift == low else Fraction(shift, 4)

    return lower_end(d), -lower_end(-d[::-1])


# ---- sums of two differences ---------------------------------------------------------------------
#
# The Walsh averages of N differences d are (d_i + d_j) / 2 for i <= j. Their median is the estimate
# of Hodges and Lehmann (1963), and W+ counts those above 0, so that an interval for the centre runs
# from the k-th smallest to the k-th largest, with k from the law of W+. The sums d_i + d_j are kept
# in integers and never listed.


def walsh_ends(d: IntArray, tail: float) -> tuple[Any, Any]:
    """The k-th smallest and the k-th largest mean of two differences, each with itself too."""
    n = d.size
    k, _ = signed_rank_quantile(n, tail)
    if k == 0:
        return -inf, inf
    low, high = kth_walsh(d, [k, n * (n + 1) // 2 + 1 - k])
    return Fraction(low, 2), Fraction(high, 2)


def hodges_lehmann_sum(steps: IntArray, *, diagonal: bool = True) -> Fraction:
    """The median of all sums of two differences: twice the Hodges-Lehmann estimate.

    Without the diagonal, only pairs i < j are summed.
    """
    n = len(steps)
    size = n * (n + 1) // 2 if diagonal else n * (n - 1) // 2
    return Fraction(sum(kth_walsh(steps, [(size + 1) // 2, size // 2 + 1], diagonal=diagonal)), 2)


def kth_walsh(steps: IntArray, k: Sequence[int], *, diagonal: bool = True) -> list[int]:
    """The k-th smallest of all sums d_i + d_j: bisection on the value, O(N log N) a step."""
    values, counts = count_values(np.asarray(steps))
    below = np.concatenate(([0], np.cumsum(counts)))

    def up_to(value: int) -> int:
        """How many sums do not exceed the value."""
        ordered = int(counts @ below[np.searchsorted(values, value - values, side="right")])
        doubled = int(below[np.searchsorted(values, value // 2, side="right")])
        return (ordered + (doubled if diagonal else -doubled)) // 2

    def smallest(rank: int) -> int:
        """The smallest value that so many sums do not exceed."""
        return first(lambda value: up_to(value) >= rank, 2 * int(values[0]), 2 * int(values[-1]))

    return [smallest(rank) for rank in k]


@lru_cache(maxsize=4096)
def signed_rank_quantile(n: int, alpha: float) -> tuple[int, float]:
    """The largest k with P(W+ < k) at most alpha, for n ranks without ties; and that probability.

    One bound at the k-th sum holds with probability ``1 - error``, two with ``1 - 2 * error``.
    """

    def below(k: int) -> float:
        """P(W+ < k), as the p of signed ranks with W+ = k - 1: the largest ranks that fit."""
        signed, rest = -np.arange(1, n + 1), k - 1
        for i in range(n - 1, -1, -1):
            if i < rest:
                signed[i], rest = i + 1, rest - i - 1
        return exact_perm_test(signed, 0 * signed, alternative="less").pvalue if k else 0.0

    # The expansion of Cornish and Fisher is rarely off by more than one.
    squares = n * (n + 1) * (2 * n + 1) // 6
    kurtosis = -2 * (squares * (3 * n**2 + 3 * n - 1) // 5) / squares**2
    z = NormalDist().inv_cdf(alpha)
    z += kurtosis / 24 * (z**3 - 3 * z) - kurtosis**2 / 384 * (3 * z**5 - 24 * z**3 + 29 * z)
    near = max(round(n * (n + 1) / 4 + z * sqrt(squares) / 2), 0)
    low, high = near - 2, near + 3
    if low < 0 or below(low) > alpha or below(high) <= alpha:
        low, high = 0, n * (n + 1) // 2 + 1
    k = first(lambda k: below(k) > alpha, low, high) - 1
    return k, below(k)
