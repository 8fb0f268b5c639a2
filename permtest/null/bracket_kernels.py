"""Bounds of a tail by band-limited functions: the jitted loops.

An entry of width w moves under the tilted law with probability (1 + beta) / 2, as in
`tail_kernels`; widths are floats here, at most 1. Frequencies are theta_j = 2 pi j / period.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: Points of the grid that are looked at together.
BLOCK = 64
#: What float32 may add to a bound of -log |phi|, which has some hundred terms below 1.
ROUNDING = 0.01
#: Above this a bound of -log |phi| makes no difference.
NOTHING = 80.0


@jit
def phi(theta: float, widths: Floats, counts: Ints, beta: Floats) -> complex:
    """E exp(i theta (T - top / 2)) under the tilted law."""
    value = 1.0 + 0.0j
    for k in range(widths.size):
        half = 0.5 * theta * widths[k]
        factor = complex(np.cos(half), beta[k] * np.sin(half))
        if counts[k] < 4:
            for _ in range(counts[k]):
                value *= factor
        else:
            value *= factor ** counts[k]
    return value


@jit
def peak(
    period: float, low: float, most: int, widths: Floats, counts: Ints, beta: Floats
) -> tuple[NDArray[np.complex128], int]:
    """phi at j = 1, 2, ... until it is below `low` for good, or j reaches `most`; and how many.

    |phi| falls as long as theta times the largest width stays below pi.
    """
    values = np.empty(most, dtype=np.complex128)
    for j in range(1, most + 1):
        values[j - 1] = phi(2.0 * np.pi * j / period, widths, counts, beta)
        if abs(values[j - 1]) < low:
            return values, j
    return values, most


@jit
def scan(
    start: float,
    step: float,
    size: int,
    slack: float,
    widths: Floats,
    terms: Floats,
    period: float,
    enough: float,
    points: Ints,
) -> tuple[float, int, int]:
    """Bound the sum of |phi_j| / j over `size` intervals of frequencies, and list the exceptions.

    -log |phi| is at least sum_k a_k - b_k cos(theta w_k) + c_k cos(2 theta w_k), the rows of
    `terms`, and between two points of the grid less by `slack` at most. Intervals with less than
    `enough` are left out of the bound; `points` gets the first and the last j of each. Returns the
    bound, how many such intervals there are, and the number of intervals that were looked at: it is
    below `size` where `points` had no room.
    """
    table = np.empty((2, widths.size, BLOCK), dtype=np.float32)
    for k in range(widths.size):
        x, y, cosine, sine = 1.0, 0.0, np.cos(step * widths[k]), np.sin(step * widths[k])
        for i in range(BLOCK):
            table[0, k, i], table[1, k, i] = x, y
            x, y = x * cosine - y * sine, x * sine + y * cosine
    turn = np.empty((4, widths.size))
    turn[0], turn[1] = np.cos(start * widths), np.sin(start * widths)
    turn[2], turn[3] = np.cos(BLOCK * step * widths), np.sin(BLOCK * step * widths)
    whole = np.sum(terms[0]) - np.sum(terms[2]) - slack - ROUNDING
    total, found, before, bounds = 0.0, 0, -np.inf, np.empty(BLOCK, dtype=np.float32)
    for block in range(0, size + 1, BLOCK):
        add_cosines(table, turn, terms, bounds)
        for i in range(min(BLOCK, size + 1 - block)):
            n = block + i - 1  # the number of the interval that ends here
            here = whole + bounds[i]
            low = min(before, here)
            before = here
            if n < 0 or low > NOTHING:
                continue
            # Rounding may let an interval have a point too many, but none too few.
            j = int(np.ceil((start + n * step) * period / (2.0 * np.pi) - 1e-6))
            last = int(np.floor((start + (n + 1) * step) * period / (2.0 * np.pi) + 1e-6))
            if low >= enough:
                total += (last - j + 1) * np.exp(-low) / j
            elif last >= j:
                if found == len(points):
                    return total, found, n
                points[found, 0], points[found, 1] = j, last
                found += 1
    return total, found, size


@jit
def add_cosines(
    table: NDArray[np.float32], turn: Floats, terms: Floats, bounds: NDArray[np.float32]
) -> None:
    """Fill in sum_k 2 c_k cos^2 - b_k cos for a block of the grid, and turn to the next block.

    cos(theta w) comes from the angle at the start of the block, in `turn`, and those inside of a
    block, in `table`: nothing but products, eight at a time.
    """
    bounds[:] = 0.0
    for k in range(len(turn[0])):
        x, y = turn[0, k], turn[1, k]
        turn[0, k] = x * turn[2, k] - y * turn[3, k]
        turn[1, k] = x * turn[3, k] + y * turn[2, k]
        cosine, sine = np.float32(x), np.float32(y)
        b, c = np.float32(terms[1, k]), np.float32(2.0 * terms[2, k])
        cosines, sines = table[0, k], table[1, k]
        for i in range(BLOCK):
            z = cosine * cosines[i] - sine * sines[i]
            bounds[i] += (c * z - b) * z


@jit
def phis(
    js: Ints, period: float, widths: Floats, counts: Ints, beta: Floats
) -> NDArray[np.complex128]:
    """phi at all of these frequencies."""
    values = np.empty(js.size, dtype=np.complex128)
    for i in range(js.size):
        values[i] = phi(2.0 * np.pi * js[i] / period, widths, counts, beta)
    return values
