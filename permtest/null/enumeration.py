"""The definition: all 2^N labellings, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest._integers import IntArray, with_room
from permtest.decimals import as_integers
from permtest.null.grouping import TwoPointSum

#: 2^24 labellings take 128 MiB as int64, and up to 1 GiB as Python integers.
MAX_ENTRIES = 24
#: Two lists of 2^20 sums, or of 2^17 Python integers, take about a second to combine.
MAX_HALVED, MAX_HALVED_HUGE = 40, 34


def enumerate_swaps(stay: ArrayLike, swap: ArrayLike) -> NDArray[Any]:
    """The sum of local effects under each of the 2^N labellings.

    Parameters
    ----------
    stay, swap : array_like of shape (N,)
        Local effects g(u_n, v_n) and g(v_n, u_n), integers.

    Returns
    -------
    ndarray of shape (2**N,)
        Element i swaps the entries whose bits are set in i (bit 0 is entry 0), so element 0 is
        the observed labelling. int64, or Python integers where the inputs are.

    Raises
    ------
    TypeError, ValueError
        If an effect is no integer, or their numbers differ.
    MemoryError
        If N exceeds 24.

    Examples
    --------
    >>> from permtest import enumerate_swaps
    >>> enumerate_swaps([1, 2], [-1, -2]).tolist()
    [3, 1, -1, -3]
    """
    stays, swaps = _exact(stay, "stay"), _exact(swap, "swap")
    if stays.size != swaps.size:
        raise ValueError(f"stay and swap must be alike, not {stays.size} and {swaps.size} effects")
    if stays.size > MAX_ENTRIES:
        raise MemoryError(
            f"enumerating 2^{stays.size} labellings is refused above N = {MAX_ENTRIES}, and above "
            f"N = {MAX_HALVED} where p is a tail; method='auto' gives the same p-value"
        )
    kind = np.result_type(stays, swaps)
    stays, steps = stays.astype(kind), swaps.astype(kind) - stays.astype(kind)
    sums = np.empty(2**steps.size, dtype=kind)
    sums[0] = stays.sum()
    for i, step in enumerate(steps):
        sums[2**i : 2 ** (i + 1)] = sums[: 2**i] + step
    return sums


def enumerate_steps(law: TwoPointSum) -> NDArray[Any]:
    """T under each labelling of the informative entries; 2^n_informative values."""
    widths = np.repeat(law.widths.astype(object), law.counts)
    return enumerate_swaps(np.zeros_like(widths), widths)


def can_halve(law: TwoPointSum) -> bool:
    """Whether `count_tail` is quick."""
    return law.n_informative <= (MAX_HALVED_HUGE if law.top >= 2**57 else MAX_HALVED)


def count_tail(law: TwoPointSum, t0: int) -> int:
    """How many labellings have T >= t0: all of one half of the entries, with all of the other.

    Time and space O(2^(N'/2)) for N' informative entries, whatever their widths: the sums of one
    half are sorted, and each sum of the other half says how many of them suffice (Horowitz and
    Sahni 1974).
    """
    widths = np.repeat(law.widths.astype(object), law.counts)
    halves = (enumerate_swaps(np.zeros_like(w), w) for w in (widths[::2], widths[1::2]))
    first, second = (sums.astype(np.int64 if law.top < 2**62 else object) for sums in halves)
    second.sort()
    return int(np.sum(second.size - np.searchsorted(second, t0 - first)))


def _exact(values: ArrayLike, name: str) -> IntArray:
    """int64 where no sum of `MAX_ENTRIES` values can overflow, Python integers otherwise."""
    return with_room(as_integers(values, name), 2 * MAX_ENTRIES)
