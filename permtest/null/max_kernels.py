"""Random sums of many columns, and the largest of many statistics: the jitted loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

#: Columns whose partial sums fit the cache next to the processor.
WIDTH = 128


@jit
def add_heads(rows: NDArray[Any], bits: NDArray[np.uint8], sums: NDArray[Any]) -> None:
    """Add to ``sums[b]`` the rows whose coins show heads in column b of `bits`.

    The coin of row ``8 k + i`` is bit i of ``bits[k]``, and the number of rows a multiple of 8. The
    256 sums of eight rows are made once, for all columns.
    """
    table = np.zeros((256, WIDTH), dtype=rows.dtype)
    for left in range(0, rows.shape[1], WIDTH):
        width = min(WIDTH, rows.shape[1] - left)
        for k in range(bits.shape[0]):
            for i in range(8):
                row = rows[8 * k + i, left : left + width]
                for v in range(2**i):
                    without, there = table[v], table[2**i + v]
                    for x in range(width):
                        there[x] = without[x] + row[x]
            for b in range(bits.shape[1]):
                part, total = table[bits[k, b]], sums[b, left : left + width]
                for x in range(width):
                    total[x] += part[x]


@jit
def count_maxima(
    sums: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    weights: NDArray[np.float64],
    sign: float,
    least: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> None:
    """Add to ``counts[m]`` in how many columns the values from the m-th on have `least[m]` or more.

    They are ``max(v, sign * v)`` with ``v = (sums[first] - sums[second]) * weights``, and never
    held: there are far more pairs than sums. Going up row by row, the maximum so far is written to
    another array than it is read from; in one array it would be stored only where it rises, which
    no compiler makes fast.
    """
    highest = np.full((2, sums.shape[1]), -np.inf)
    for m in range(first.size - 1, -1, -1):
        a, b, weight = sums[first[m]], sums[second[m]], weights[m]
        old, new = highest[m % 2], highest[1 - m % 2]
        bound, hits = least[m], 0
        for x in range(a.size):
            value = (a[x] - b[x]) * weight
            other = sign * value
            value = value if value > other else other
            top = value if value > old[x] else old[x]
            new[x] = top
            hits += top >= bound
        counts[m] += hits
