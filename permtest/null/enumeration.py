"""The definition: all 2^N labellings, one by one."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest.null.grouping import TwoPointSum

#: 2^24 labellings take 128 MiB as int64, and up to 1 GiB as Python integers.
MAX_ENTRIES = 24


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
    MemoryError
        If N exceeds 24.

    Examples
    --------
    >>> from permtest import enumerate_swaps
    >>> enumerate_swaps([1, 2], [-1, -2]).tolist()
    [3, 1, -1, -3]
    """
    stays, swaps = _exact(stay), _exact(swap)
    if stays.shape != swaps.shape or stays.ndim != 1:
        raise ValueError(f"stay and swap must be 1-D and alike, not {stays.shape}, {swaps.shape}")
    if stays.size > MAX_ENTRIES:
        raise MemoryError(
            f"enumerating 2^{stays.size} labellings is refused above N = {MAX_ENTRIES}; "
            "method='dp' and method='fft' give the same p-value"
        )
    sums = np.zeros(1, dtype=np.result_type(stays, swaps))
    for x, y in zip(stays, swaps, strict=True):
        sums = np.concatenate((sums + x, sums + y))
    return sums


def enumerate_steps(law: TwoPointSum) -> NDArray[Any]:
    """T under each labelling of the informative entries; 2^n_informative values."""
    widths = np.repeat(law.widths.astype(object), law.counts)
    return enumerate_swaps(np.zeros_like(widths), widths)


def _exact(values: ArrayLike) -> NDArray[Any]:
    """int64 where no sum of `MAX_ENTRIES` values can overflow, Python integers otherwise."""
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    exact = np.array([index(x) for x in array.ravel().tolist()], dtype=object)
    exact = exact.reshape(array.shape)
    return exact.astype(np.int64) if np.abs(exact).max() < 2**57 else exact
