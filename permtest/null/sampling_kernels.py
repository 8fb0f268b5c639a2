"""The jitted loop that draws random labellings: numbers in, numbers out, nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

#: Samples drawn from one set of generators, whatever the number of threads; a multiple of LANES.
BLOCK = 2048
#: Generators that run side by side, so that the compiler can put several into one instruction.
LANES = 64

# Counting bits: the smallest neighbours are added first, and the bytes by one multiplication.
ONE, TWO, FOUR, HIGH = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
PAIRS, NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
BYTES, ALL_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
ALL_BITS = np.uint64(2**64 - 1)

# Distances of the shifts and rotations of xoshiro256++.
S17, R23, L41 = np.uint64(17), np.uint64(23), np.uint64(41)
R45, L19 = np.uint64(45), np.uint64(19)

# One array holds the state of all lanes, so that the compiler sees that nothing overlaps.
B, C, D, WORD, ONES, SUM = (LANES * i for i in range(1, 7))


@jit
def sample_sums(
    states: NDArray[np.uint64],
    widths: NDArray[np.int64],
    counts: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Fill `sums` with independent draws of ``sum_k widths[k] * Binomial(counts[k], 1/2)``.

    Every entry takes one random bit, set for a swap (Alg. 1, line 8). Draw i belongs to block
    ``i // BLOCK`` and to lane ``i % LANES``, whose bits come from its own xoshiro256++ generator
    (Blackman and Vigna 2021), started with the four words ``states[block, :, lane]``. Sums are
    taken modulo 2**64.
    """
    s = np.empty(7 * LANES, dtype=np.uint64)
    for start in range(0, sums.size, LANES):
        if start % BLOCK == 0:
            s[:WORD] = states[start // BLOCK].ravel()
        s[SUM:] = 0
        free = 0  # bits of the current words that no entry has taken yet
        for k in range(widths.size):
            s[ONES:SUM] = 0
            left = counts[k]
            while left > 0:
                if free == 0:
                    for i in range(LANES):
                        a, b, c, d = s[i], s[B + i], s[C + i], s[D + i]
                        s[WORD + i] = (((a + d) << R23) | ((a + d) >> L41)) + a
                        c, d = c ^ a, d ^ b
                        s[i], s[B + i], s[C + i] = a ^ d, b ^ c, c ^ (b << S17)
                        s[D + i] = (d << R45) | (d >> L19)
                    free = 64
                take = min(left, free)
                first, mask = np.uint64(64 - free), ALL_BITS >> np.uint64(64 - take)
                for i in range(LANES):
                    x = (s[WORD + i] >> first) & mask
                    x = x - ((x >> ONE) & PAIRS)
                    x = (x & NIBBLES) + ((x >> TWO) & NIBBLES)
                    s[ONES + i] += (((x + (x >> FOUR)) & BYTES) * ALL_BYTES) >> HIGH
                free, left = free - take, left - take
            width = np.uint64(widths[k])
            for i in range(LANES):
                s[SUM + i] += width * s[ONES + i]
        for i in range(min(LANES, sums.size - start)):
            sums[start + i] = np.int64(s[SUM + i])
