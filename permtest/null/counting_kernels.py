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


@jit
def count_rows(
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    facts: NDArray[np.int64],
    starts: NDArray[np.int64],
    widths: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """`count_differences` of many tests, with their distinct differences in place of the tables.

    Test r is of ``u[first[r]]`` and ``v[second[r]]``. Its differences become
    ``widths[starts[r] : starts[r + 1]]``, ascending and divided by their greatest common divisor,
    with their `counts`, and ``facts[r]`` the difference of the sums, the smallest score, the
    divisor, the sum of the divided differences, and how many are not 0; a divisor of 0 says that
    the test does not fit.
    """
    tables, block = np.zeros((4, TABLE), dtype=np.int64), np.empty(2048, dtype=np.int64)
    end = np.int64(0)
    for r in range(first.size):
        begin = starts[r] = end
        a, b = u[first[r]], v[second[r]]
        fits, total_u, total_v, low, high = count_differences(a, b, tables, block)
        if not fits or max(-float(low), float(high)) * u.shape[1] >= 2.0**61:
            facts[r] = 0
            tables[:] = 0
            continue
        used = min(TABLE, high - low + 1)
        unit, top, differing = np.int64(0), np.int64(0), np.int64(0)
        for w in range(1, used):
            count = tables[0, w] + tables[1, w] + tables[2, w] + tables[3, w]
            if count > 0:
                widths[end], counts[end] = w, count
                end += 1
                differing += count
                top += w * count
                unit, rest = np.int64(w), unit
                while rest > 0:
                    unit, rest = rest, unit % rest
        tables[:, :used] = 0
        unit = max(unit, np.int64(1))
        for k in range(begin, end):
            widths[k] //= unit
        facts[r, 0], facts[r, 1] = total_u - total_v, low
        facts[r, 2], facts[r, 3], facts[r, 4] = unit, top // unit, differing
    starts[-1] = end
