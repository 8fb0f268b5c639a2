"""The one pass over the scores: the jitted loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

#: Differences below this are counted in tables that stay in the fastest cache.
TABLE = 1024


@jit
def count_differences(
    u: NDArray[np.int64], v: NDArray[np.int64], tables: NDArray[np.int64], block: NDArray[np.int64]
) -> tuple[bool, int, int, int, int]:
    """Count |u_i - v_i| and describe the scores, in one pass.

    `tables` has four rows, of which each counts every fourth entry, so that equal neighbours do
    not wait for each other. Returns whether all differences fit the tables, both sums, the
    smallest and the largest score; differences that wrap around do not fit, or the largest
    magnitude gives them away.
    """
    total_u, total_v = np.int64(0), np.int64(0)
    low, high = np.int64(0), np.int64(0)
    if u.size > 0:
        low = high = u[0]
    for start in range(0, u.size, block.size):
        a, b = u[start : start + block.size], v[start : start + block.size]
        widest = np.int64(0)
        for i in range(a.size):
            x, y = a[i], b[i]
            total_u += x
            total_v += y
            low, high = min(low, min(x, y)), max(high, max(x, y))
            d = abs(x - y)
            block[i] = d
            widest = max(widest, d)
        if widest >= tables.shape[1] or low < -(2**60) or high > 2**60:
            return False, 0, 0, 0, 0
        whole = a.size - a.size % 4
        for i in range(0, whole, 4):
            tables[0, block[i]] += 1
            tables[1, block[i + 1]] += 1
            tables[2, block[i + 2]] += 1
            tables[3, block[i + 3]] += 1
        for i in range(whole, a.size):
            tables[0, block[i]] += 1
    return True, int(total_u), int(total_v), int(low), int(high)
