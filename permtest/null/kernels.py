"""The jitted loops: numbers in, numbers out, nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit


@jit
def add_steps(
    widths: NDArray[np.int64],
    counts: NDArray[np.int64],
    stay: NDArray[np.float64],
    move: NDArray[np.float64],
    n: int,
    table: NDArray[np.float64],
    spare: NDArray[np.float64],
) -> tuple[bool, int]:
    """Fold ``counts[k]`` independent steps of length ``widths[k]`` into a law on 0, 1, 2, ...

    A step moves with probability ``move[k]`` and stays with ``stay[k]`` (Alg. 3, lines 4-8).
    `table` starts with a law on its first n cells, such as the mass of no step in cell 0; both
    arrays have one length, and what moves beyond it is lost, without a trace in the cells below.
    Returns whether the result ended up in `spare`, and how many cells it occupies. Only those are
    read.
    """
    flipped = False
    for k in range(widths.size):
        w, s, m = widths[k], stay[k], move[k]
        for _ in range(counts[k]):
            end = min(n + w, table.size)
            both = max(n - w, 0)  # cells reached by staying and by moving
            # Slices let every loop start at 0, which is what makes the compiler vectorise it.
            stayed = table[w:n] if w < n else table[:0]
            for t in range(n - both):
                spare[t] = s * table[t]
            for t in range(n, min(w, end)):
                spare[t] = 0.0
            middle = spare[n - both : n]
            for t in range(both):
                middle[t] = s * stayed[t] + m * table[t]
            moved, far = table[both:n], spare[max(n, w) : end]
            for t in range(far.size):
                far[t] = m * moved[t]
            table, spare = spare, table
            flipped = not flipped
            n = end
    return flipped, n


@jit
def add_fair_steps(
    widths: NDArray[np.int64],
    counts: NDArray[np.int64],
    table: NDArray[np.float64],
    powers: NDArray[np.int64],
    spare: NDArray[np.float64],
    spare_powers: NDArray[np.int64],
) -> bool:
    """`add_steps` with probabilities 1/2 and numbers ``table[t] * 2.0**(512 * powers[t])``.

    No cell underflows, however unlikely. Empty cells start with value 0 and a power far below any
    other; cell 0 starts with 1 and 0. Returns True if the result ended up in the spare arrays.
    """
    n = 1
    flipped = False
    for k in range(widths.size):
        w = widths[k]
        for _ in range(counts[k]):
            for t in range(n + w):
                x, power = table[t], powers[t]
                if t >= w:
                    y, other = table[t - w], powers[t - w]
                    if other > power:
                        x, y, power, other = y, x, other, power
                    if power == other:
                        x += y
                    elif power == other + 1:
                        x += y * 2.0**-512
                x /= 2
                if 0.0 < x < 2.0**-256:
                    x, power = x * 2.0**512, power - 1
                elif x > 2.0**256:
                    x, power = x * 2.0**-512, power + 1
                spare[t], spare_powers[t] = x, power
            table, spare = spare, table
            powers, spare_powers = spare_powers, powers
            flipped = not flipped
            n += w
    return flipped
