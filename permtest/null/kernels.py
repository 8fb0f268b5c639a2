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
    table: NDArray[np.float64],
    spare: NDArray[np.float64],
) -> bool:
    """Fold ``counts[k]`` independent steps of length ``widths[k]`` into a law on 0, 1, 2, ...

    A step moves with probability ``move[k]`` and stays with ``stay[k]`` (Alg. 3, lines 4-8).
    `table` starts with the mass of no step in cell 0; both arrays have sum(widths * counts) + 1
    cells. Returns True if the result ended up in `spare`. Only the occupied prefix of n cells is
    read.
    """
    n = 1
    flipped = False
    for k in range(widths.size):
        w, s, m = widths[k], stay[k], move[k]
        for _ in range(counts[k]):
            both = max(n - w, 0)  # cells reached by staying and by moving
            # Slices let every loop start at 0, which is what makes the compiler vectorise it.
            stayed, moved = table[w:n], table[both:n]
            for t in range(n - both):
                spare[t] = s * table[t]
            for t in range(n, w):
                spare[t] = 0.0
            middle = spare[w : w + both]
            for t in range(both):
                middle[t] = s * stayed[t] + m * table[t]
            end = spare[w + both : w + n]
            for t in range(n - both):
                end[t] = m * moved[t]
            table, spare = spare, table
            flipped = not flipped
            n += w
    return flipped


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


@jit
def weighted_popcounts(
    words: NDArray[np.uint64],
    masks: NDArray[np.uint64],
    weights: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """``sums[i] = sum_j weights[j] * popcount(words[i, j] & masks[j])``.

    One set bit is one swap: a row of `words` is one sampled labelling (Alg. 1, line 8).
    """
    for i in range(words.shape[0]):
        total = np.int64(0)
        for j in range(words.shape[1]):
            # The number of set bits by adding neighbours; compilers know the idiom.
            x = words[i, j] & masks[j]
            x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
            x = (x & np.uint64(0x3333333333333333)) + (
                (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
            )
            x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            bits = np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
            total += weights[j] * bits
        sums[i] = total
