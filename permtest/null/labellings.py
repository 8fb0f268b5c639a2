"""Labellings themselves: all of them listed or counted, in integers, or some drawn at random.

For N <= 24 the 2^N labellings are listed one by one (Eq. 4). Of T = T_1 + T_2, sums over two halves
of the entries, the 2^(N/2) values of each are listed in order, and #{T <= t} is the sum over T_1 of
#{T_2 <= t - T_1} (Horowitz and Sahni 1974). All counts together are the coefficients in

    sum_t #{T = t} X^t = prod_k (1 + X^w_k)^c_k,

found by multiplying integers: its value at a power of ten has the coefficients as its digits
(Kronecker's substitution). A random labelling (Alg. 1) has T = sum_k w_k Binomial(c_k, 1/2), and a
binomial number is the number of ones among c_k random bits, a few words of them, not N coin flips.
"""

from __future__ import annotations

import sys
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from math import log10
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest._errors import TooHard
from permtest._jit import Ints, compiled_or
from permtest._random import in_parallel
from permtest.integers import IntArray, as_integers, with_room
from permtest.null.distribution import TwoPointSum, add_counts, count_values

#: 2^24 labellings take 128 MiB as int64, and up to 1 GiB as Python integers.
MAX_ENTRIES = 24
#: Lists of so many sums take some hundredths of a second to make and to combine.
MAX_SUMS = 2**21
#: Entries that need no longer lists, that need .05 s, and of Python integers, which take longer.
MAX_HALVED, QUICK, MAX_HALVED_HUGE = 42, 38, 28


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
    # int64 where no sum can overflow, Python integers otherwise.
    both = ((stay, "stay"), (swap, "swap"))
    stays, swaps = (with_room(as_integers(x, name), 2 * MAX_ENTRIES) for x, name in both)
    if stays.size != swaps.size:
        raise ValueError(f"stay and swap must be alike, not {stays.size} and {swaps.size} effects")
    if stays.size > MAX_ENTRIES:
        raise MemoryError(
            f"enumerating 2^{stays.size} labellings is refused above N = {MAX_ENTRIES}, and above "
            f"N = {MAX_HALVED} where p is a tail; method='auto' gives the same p-value"
        )
    steps = swaps - stays
    sums = np.empty(2**steps.size, dtype=steps.dtype)
    sums[0] = int(stays.sum())
    for i, step in enumerate(steps):
        sums[2**i : 2 ** (i + 1)] = sums[: 2**i] + step
    return sums


def can_halve(law: TwoPointSum, most: int = MAX_HALVED) -> bool:
    """Whether `count_tail` needs lists no longer than for `most` entries, at any threshold."""
    return law.n_informative <= (MAX_HALVED_HUGE if law.top >= 2**62 else most)


def count_tail(law: TwoPointSum, t0: int) -> int:
    """How many labellings have T >= t0: those that lack top - t0 at most, from two halves.

    O(2^(N'/2)), far less near the end; TooHard if a half has too many sums to list.
    """
    if 2 * t0 <= law.top:  # the others are fewer
        return int(2**law.n_informative) - count_tail(law, law.top - t0 + 1)
    lacking = law.top - t0
    chosen = law.widths <= lacking
    widths = np.repeat(law.widths[chosen], law.counts[chosen].astype(np.intp))
    widths = widths.astype(np.int64 if lacking < 2**62 else object)
    first, second = subset_sums(widths[::2], lacking), subset_sums(widths[1::2], lacking)
    if first.size and second.size:
        both = np.concatenate([second, (lacking - first)[::-1]])
        # Merging is quicker than searching: of what is equal, the sums of `second` come first.
        places = np.flatnonzero(both.argsort(kind="stable") >= second.size)
        return int(places.sum(dtype=np.int64)) - places.size * (places.size - 1) // 2
    raise TooHard(f"{widths.size} differing pairs have too many labellings to count")


def subset_sums(widths: IntArray, most: int) -> IntArray:
    """The sums of all subsets that are `most` or less, ascending; none if they are too many."""
    sums = np.zeros(1, dtype=widths.dtype)
    room = MAX_SUMS if widths.dtype == np.int64 else 2 ** (MAX_HALVED_HUGE // 2)
    for w in widths.tolist():
        with_w = sums[: np.searchsorted(sums, most - w, side="right")] + w
        if sums.size + with_w.size > room:
            return sums[:0]
        sums = np.sort(np.concatenate([sums, with_w]), kind="stable")  # merges what is in order
    return sums


#: Digits of the largest product that is formed; 17 million take 1.5 s.
MAX_DIGITS = 5 * 10**7


def count_labellings(law: TwoPointSum) -> list[int]:
    """How many labellings of the informative entries give T = 0, 1, ..., top; they sum to 2^N'.

    Decimals multiply in quasi-linear time, and nothing is rounded. MemoryError from N' = 14 280 on.
    """
    size = int(law.n_informative * log10(2)) + 2  # digits for the largest possible count, 2^N'
    digits = size * (law.top + 1)
    # Python converts strings of 4300 digits at most, which 2^N' has at N' = 14 280.
    if digits > MAX_DIGITS or size > (sys.get_int_max_str_digits() or MAX_DIGITS):
        raise MemoryError(
            f"integer arithmetic would need numbers of {digits:,} digits ({law.n_informative:,} "
            f"differing pairs, {law.top + 1:,} cells), more than the limit of {MAX_DIGITS:,}; "
            "method='auto' gives p, or bounds of it, in floating point",
        )
    exact = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
    groups = zip(law.widths.tolist(), law.counts.tolist(), strict=True)
    factors = [_binomial(count, size * width, size) for width, count in groups]
    while len(factors) > 1:  # the two smallest first
        factors.sort(key=Decimal.adjusted, reverse=True)
        factors.append(exact.multiply(factors.pop(), factors.pop()))
    text = format(factors[0] if factors else Decimal(1), "f").rjust(digits, "0")
    return [int(text[i : i + size]) for i in range(0, digits, size)]


def _binomial(n: int, spacing: int, size: int) -> Decimal:
    """(1 + X)^n with X = 10^spacing; its coefficients read the same from both ends."""
    coefficient, parts = 1, ["1".rjust(size, "0")]
    for j in range(n):
        coefficient = coefficient * (n - j) // (j + 1)
        parts.append(str(coefficient).rjust(spacing, "0"))
    return Decimal("".join(parts))


# ---- random labellings ---------------------------------------------------------------------------

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
