"""Random labellings (Alg. 1), grouped.

One sample is T = sum_k w_k Binomial(c_k, 1/2), and a binomial number is the number of ones among
c_k random bits: it costs a few words of random bits, not N coin flips.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._jit import Ints, compiled_or
from permtest._random import in_parallel
from permtest.null.distribution import TwoPointSum, add_counts, count_values

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

#: Distinct cells, ascending, and how often each was drawn.
Drawn: TypeAlias = "tuple[NDArray[Any], Ints]"

#: Random words worth the trouble of handing them to a thread; counting them takes some 1 ms.
WORDS_AT_ONCE = 2**22
#: Blocks whose sums are held at a time (8 MiB), and the number of chunks to aim at for more.
BLOCKS_AT_ONCE = 512
CHUNKS = 1024
#: Bits of the digits of widths whose sums exceed int64.
DIGIT = 31


def sample_cells(law: TwoPointSum, size: int, rng: np.random.Generator) -> Drawn:
    """Draw T under random labellings (Alg. 1, line 8), and count how often each value comes up.

    What is drawn does not depend on the number of threads. O(K (N' / 64 + U)) for K samples of N'
    informative entries of U widths, shared among the processors; 8 MiB for each of them.
    """
    shape = (-(-size // BLOCK), 4, LANES)
    states = rng.integers(0, 2**64 - 1, shape, dtype=np.uint64, endpoint=True)
    _draw((0, states[:0]), law)  # compiles before there are threads
    words = max(1, BLOCK * law.n_informative // 64)
    blocks = min(max(WORDS_AT_ONCE // words, size // (BLOCK * CHUNKS), 1), BLOCKS_AT_ONCE)
    starts = range(0, len(states), blocks)
    chunks = [(min(size - i * BLOCK, blocks * BLOCK), states[i : i + blocks]) for i in starts]
    cells, counts = zip(*in_parallel(_draw, chunks, law, what="random labellings"), strict=True)
    return add_counts(np.concatenate(cells), np.concatenate(counts))


def _draw(some: tuple[int, NDArray[np.uint64]], law: TwoPointSum) -> Drawn:
    """Draw so many samples, with the states of their blocks."""
    (size, states), rest, shift = some, law.widths, 0
    # Where sums exceed int64, those of one digit of the widths do not.
    kind, bits = (np.int64, 62) if law.top < 2**62 else (object, DIGIT)
    sums, part = np.zeros(size, dtype=kind), np.empty(size, dtype=np.int64)
    while rest.any():  # the same states give the same bits for each digit
        sample_sums(states, (rest & (2**bits - 1)).astype(np.int64), law.counts, part)
        sums += part.astype(kind) << shift
        rest, shift = rest >> bits, shift + bits
    return count_values(sums)


def _sample_sums(states: NDArray[np.uint64], widths: Ints, counts: Ints, sums: Ints) -> None:
    """`sample_sums` in NumPy: all generators take a step together."""
    a, b, c, d = states.transpose(1, 0, 2).copy()
    drawn = np.zeros((-(-min(sums.size, BLOCK) // LANES), *a.shape), dtype=np.uint64)
    for total in drawn:
        free = 0  # bits of the current words that no entry has taken yet
        for width, left in zip(widths.astype(np.uint64), counts.tolist(), strict=True):
            while left > 0:
                if free == 0:
                    words, free = (((a + d) << R23) | ((a + d) >> L41)) + a, 64
                    c, d = c ^ a, d ^ b
                    a, b, c, d = a ^ d, b ^ c, c ^ (b << S17), (d << R45) | (d >> L19)
                take = min(left, free)
                total += width * np.bitwise_count(words & (ALL_BITS >> np.uint64(64 - take)))
                words = words >> np.uint64(take % 64)
                free, left = free - take, left - take
    sums[:] = drawn.transpose(1, 0, 2).ravel()[: sums.size].view(np.int64)


@compiled_or(_sample_sums)
def sample_sums(states: NDArray[np.uint64], widths: Ints, counts: Ints, sums: Ints) -> None:
    """Fill `sums` with independent draws of ``sum_k widths[k] * Binomial(counts[k], 1/2)``.

    Every entry takes one random bit, set for a swap (Alg. 1, line 8). Draw i belongs to block
    ``i // BLOCK`` and to lane ``i % LANES``, whose bits come from its own xoshiro256++ generator
    (Blackman and Vigna 2021), started with the four words ``states[block, :, lane]``.
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
