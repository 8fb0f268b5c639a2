"""Sums of two differences, and which of them bound an interval.

The Walsh averages of N differences d are (d_i + d_j) / 2 for i <= j. Their median is the estimate
of Hodges and Lehmann (1963), and W+ of the signed-rank test counts those above 0, so that an
interval for the centre of the differences runs from the k-th smallest to the k-th largest, with k
from the law of W+. Here the sums d_i + d_j are kept in integers and never listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, sqrt
from statistics import NormalDist
from typing import NamedTuple, overload

import numpy as np

from permtest._integers import SAFE, IntArray, largest
from permtest.null.enumeration import count_labellings
from permtest.null.grouping import TwoPointSum, count_values, from_widths
from permtest.null.tail import tail_dp, tail_tilted

#: Up to so many ranks labellings are counted, and up to so many dynamic programming is quickest.
COUNTED, SHORT = 30, 250

#: Up to so many ranks k comes from the law itself; beyond from its second, fourth and sixth
#: cumulant, with an error of about n^-3 standard deviations.
LONGEST = 10**5

NORMAL = NormalDist()

#: Steps of the search that go where the density points; after them the bracket is halved.
STEERED = 20


@overload
def kth_walsh(steps: IntArray, k: int, *, diagonal: bool = True) -> int: ...


@overload
def kth_walsh(steps: IntArray, k: Sequence[int], *, diagonal: bool = True) -> list[int]: ...


def kth_walsh(steps: IntArray, k: int | Sequence[int], *, diagonal: bool = True) -> int | list[int]:
    """The k-th smallest of all sums of two differences.

    Parameters
    ----------
    steps : ndarray of shape (N,)
        Integers: int64, or Python integers (dtype object).
    k : int, or sequence of int
        From 1 to N (N + 1) / 2, or N (N - 1) / 2 without the diagonal.
    diagonal : bool, default True
        Whether d_i + d_i are among the sums.

    Returns
    -------
    int, or list of int
        Sums d_i + d_j: twice the Walsh averages.

    Raises
    ------
    ValueError
        If there is no such sum.

    Notes
    -----
    Bisects on the value, counting by one search for each distinct difference: O(N log N) a step,
    of which there are as many as the range of the differences has bits.

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.alternatives.walsh import kth_walsh
    >>> kth_walsh(np.array([0, 1, 5]), [1, 2, 3, 4, 5, 6])
    [0, 1, 2, 5, 6, 10]
    """
    wanted = [k] if isinstance(k, int | np.integer) else [int(x) for x in k]
    sums = _Sums(steps, diagonal)
    for x in wanted:
        if not 1 <= x <= sums.size:
            raise ValueError(f"k={x} must lie between 1 and {sums.size}, the number of sums")
    found = [sums.kth(int(x)) for x in wanted]
    return found[0] if isinstance(k, int | np.integer) else found


def hodges_lehmann_sum(steps: IntArray, *, diagonal: bool = True) -> Fraction:
    """The median of all sums of two differences: twice the Hodges-Lehmann estimate.

    Parameters
    ----------
    steps : ndarray of shape (N,)
        Integers, N at least 1, or 2 without the diagonal.
    diagonal : bool, default True
        Whether d_i + d_i are among the sums, as is usual; with False only pairs i < j are.

    Returns
    -------
    Fraction
        Halves occur where the number of sums is even.

    Raises
    ------
    ValueError
        If there are no sums.

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.alternatives.walsh import hodges_lehmann_sum
    >>> hodges_lehmann_sum(np.array([0, 1, 5]))
    Fraction(7, 2)
    """
    count = n_sums(len(steps), diagonal=diagonal)
    if count < 1:
        least = 1 if diagonal else 2
        raise ValueError(f"steps has {len(steps)} differences, but a median needs {least}")
    low, high = kth_walsh(steps, [(count + 1) // 2, count // 2 + 1], diagonal=diagonal)
    return Fraction(low + high, 2)


def n_sums(n: int, *, diagonal: bool = True) -> int:
    """How many sums of two of n differences there are."""
    return n * (n + 1) // 2 if diagonal else n * (n - 1) // 2


class _Sums:
    """All d_i + d_j, i <= j or i < j, of distinct values with counts."""

    def __init__(self, steps: IntArray, diagonal: bool) -> None:
        self.diagonal = diagonal
        self.size = n_sums(len(steps), diagonal=diagonal)
        self.values, self.counts = count_values(np.asarray(steps))
        self.below = np.concatenate(([0], np.cumsum(self.counts)))

    def kth(self, k: int) -> int:
        """The smallest value that k sums do not exceed."""
        low, high = self._bracket(k)
        while low < high:
            middle = (low + high) // 2
            if self.up_to(middle) >= k:
                high = middle
            else:
                low = middle + 1
        return low

    def up_to(self, value: int) -> int:
        """How many sums do not exceed `value`."""
        places = np.searchsorted(self.values, value - self.values, side="right")
        ordered = int(self.counts @ self.below[places])
        doubled = int(self.below[np.searchsorted(self.values, value // 2, side="right")])
        return (ordered + (doubled if self.diagonal else -doubled)) // 2

    def _bracket(self, k: int) -> tuple[int, int]:
        """Two values that the k-th sum lies between.

        Python integers are slow to compare. Rounded down to multiples of a power of two, they
        fit machine integers, and a sum of two is too small by less than two multiples.
        """
        if self.values.dtype != object:
            return 2 * int(self.values[0]), 2 * int(self.values[-1])
        shift = max(largest(self.values).bit_length() - (SAFE.bit_length() - 2), 0)
        rounded = _Sums.__new__(_Sums)
        rounded.__dict__.update(vars(self))
        rounded.values = (self.values >> shift).astype(np.int64)
        near = rounded.kth(k)
        return near << shift, (near + 2) << shift


# ---- the law of W+ -----------------------------------------------------------------------------


class RankQuantile(NamedTuple):
    """Which sum bounds an interval, and how often such a bound fails.

    Parameters
    ----------
    k : int
        The k-th smallest sum is the lower bound, the k-th largest the upper one; 0: there is none.
    error : float
        P(W+ < k), at most alpha: how often the centre lies beyond one of the two bounds. One bound
        holds with probability ``1 - error``, two with ``1 - 2 * error``.
    """

    k: int
    error: float


def signed_rank_quantile(n: int, alpha: float) -> RankQuantile:
    """The largest k with P(W+ < k) at most alpha, for n ranks without ties.

    Parameters
    ----------
    n : int
        Number of ranks, from 0.
    alpha : float
        In (0, 1/2]: the error probability of one bound.

    Returns
    -------
    RankQuantile
        ``k, error``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Exact: labellings are counted, or a tail computed to a relative 1e-12, twice or thrice. Some
    milliseconds to n = 10 000 and half a second at 100 000. Beyond, the expansion of Cornish and
    Fisher with the sixth cumulant gives k; from n = 5 000 on it is the exact one for usual alphas.

    Examples
    --------
    >>> from permtest.alternatives.walsh import signed_rank_quantile
    >>> k, error = signed_rank_quantile(12, 0.025)
    >>> k, 1 - 2 * error
    (14, 0.95751953125)
    """
    if n < 0:
        raise ValueError(f"n={n} must not be negative")
    if not 0 < alpha <= 0.5:
        raise ValueError(f"alpha={alpha} must lie in (0, 1/2]")
    return _quantile(int(n), float(alpha))


@lru_cache(maxsize=4096)
def _quantile(n: int, alpha: float) -> RankQuantile:
    if n <= COUNTED:
        return _counted(n, alpha)
    law = _RankLaw(n)
    if n > LONGEST:
        q = law.guess(alpha)
        return RankQuantile(floor(q) + 1, alpha - law.density(q) * (q - floor(q)))
    return _search(law, alpha)


def _counted(n: int, alpha: float) -> RankQuantile:
    allowed, below = Fraction(alpha) * 2**n, 0
    for k, count in enumerate(count_labellings(_rank_sum(n))):
        if below + count > allowed:
            return RankQuantile(k, below / 2**n)
        below += count
    raise AssertionError("alpha is at most 1/2")


def _rank_sum(n: int) -> TwoPointSum:
    """The law of W+: the sum of the ranks 1 to n, each with probability 1/2."""
    return from_widths(n, np.arange(1, n + 1), np.ones(n, dtype=np.int64))


class _RankLaw:
    """P(W+ <= q), and where it reaches alpha, nearly."""

    def __init__(self, n: int) -> None:
        self.n, self.law = n, _rank_sum(n)
        # The cumulants of a fair coin times i are i^2 / 4, -i^4 / 8 and i^6 / 4.
        squares = n * (n + 1) * (2 * n + 1) // 6
        fourths = squares * (3 * n**2 + 3 * n - 1) // 5
        sixths = squares * (3 * n**4 + 6 * n**3 - 3 * n + 1) // 7
        self.mean, self.sd = n * (n + 1) / 4, sqrt(squares) / 2
        self.kurtosis = -2 * fourths / squares**2
        self.sixth = 16 * sixths / squares**3

    def up_to(self, q: int) -> float:
        """P(W+ <= q), which is the chance of as large a sum from the other end."""
        t0 = self.law.top - q
        tail = tail_dp(self.law, t0) if self.n <= SHORT else tail_tilted(self.law, t0)
        return tail.value

    def density(self, q: float) -> float:
        """P(W+ = q) by the normal law."""
        return NORMAL.pdf((q - self.mean) / self.sd) / self.sd

    def guess(self, alpha: float) -> float:
        """Where the law reaches alpha, nearly: the expansion of Cornish and Fisher."""
        z = NORMAL.inv_cdf(alpha)
        z += (
            self.kurtosis / 24 * (z**3 - 3 * z)
            + self.sixth / 720 * (z**5 - 10 * z**3 + 15 * z)
            - self.kurtosis**2 / 384 * (3 * z**5 - 24 * z**3 + 29 * z)
        )
        return min(max(self.mean - 0.5 + self.sd * z, 0.0), self.mean)


def _search(law: _RankLaw, alpha: float) -> RankQuantile:
    """Narrow low <= k <= high, with P(W+ < low) <= alpha < P(W+ <= high)."""
    low, high, error = 0, law.law.top, 0.0
    q = round(law.guess(alpha))
    for step in range(200):
        found = law.up_to(q)
        cells = (alpha - found) / max(law.density(q), 1e-300)
        if found > alpha:
            high = q
            q -= min(ceil(-cells), q)
        else:
            low, error = q + 1, found
            q += 1 + min(floor(cells), high)
        if low == high:
            return RankQuantile(low, error)
        q = (low + high) // 2 if step > STEERED else min(max(q, low), high - 1)
    raise AssertionError("halving ends")
