"""Random labellings, grouped: one sample costs a few words of random bits, not N coin flips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._parallel import in_parallel
from permtest._progress import progress
from permtest.null.distribution import LatticeDistribution
from permtest.null.grouping import TwoPointSum, add_counts
from permtest.null.sampling_kernels import BLOCK, LANES, sample_sums

#: Distinct cells, ascending, and how often each was drawn.
Tally: TypeAlias = "tuple[NDArray[Any], NDArray[np.int64]]"

#: Random words worth the trouble of handing them to a thread; counting them takes some 1 ms.
WORDS_AT_ONCE = 2**22
#: Blocks whose sums are held at a time (8 MiB), and the number of chunks to aim at for more.
BLOCKS_AT_ONCE = 512
CHUNKS = 1024
DIGIT = 31


def sample_cells(law: TwoPointSum, size: int, rng: np.random.Generator) -> Tally:
    """Draw T under random labellings (Alg. 1, line 8), and count how often each value comes up.

    A Binomial(c, 1/2) number of moves is the number of ones among c random bits.

    Parameters
    ----------
    law : TwoPointSum
        With equal probabilities to stay and to move.
    size : int
        Number of samples K.
    rng : numpy.random.Generator
        Starts the generators of the bits. What is drawn depends on it, `law` and `size`, and not
        on the number of threads.

    Returns
    -------
    cells : ndarray of shape (M,)
        The distinct values, ascending; int64, or Python integers where they exceed its range.
    counts : ndarray of shape (M,)
        How often each was drawn, int64; they add up to K.

    Notes
    -----
    Time O(K N' / 64) for N' informative entries, plus O(K U) for U distinct widths, shared among
    the processors. Memory O(M), a byte for each sample, and 8 MiB a processor.
    """
    shape = (-(-size // BLOCK), 4, LANES)
    states = rng.integers(0, 2**64 - 1, shape, dtype=np.uint64, endpoint=True)
    _draw((0, states[:0]), law)  # compiles before there are threads
    chunks = [
        (len(part), states[part.start // BLOCK :][: -(-len(part) // BLOCK)])
        for part in _chunks(law, size)
    ]
    parts = progress(in_parallel(_draw, chunks, law), total=len(chunks), what="random labellings")
    return _merge(list(parts))


def sampled_distribution(
    law: TwoPointSum, cells: NDArray[np.int64], counts: NDArray[np.int64], scale: int = 1
) -> LatticeDistribution:
    """The relative frequencies of sampled cells, on the whole lattice over `scale`."""
    law.check_size("the sampled distribution")
    frequencies = np.zeros(law.top + 1)
    frequencies[cells.astype(np.int64)] = counts / counts.sum()
    return law.distribution(frequencies, scale=scale)


def _chunks(law: TwoPointSum, size: int) -> list[range]:
    """The numbers of the samples, in runs of whole blocks."""
    words = max(1, BLOCK * law.n_informative // 64)
    blocks = max(WORDS_AT_ONCE // words, size // (BLOCK * CHUNKS), 1)
    step = BLOCK * min(blocks, BLOCKS_AT_ONCE)
    return [range(start, min(start + step, size)) for start in range(0, size, step)]


def _draw(some: tuple[int, NDArray[np.uint64]], law: TwoPointSum) -> Tally:
    """Draw so many samples, with the states of their blocks."""
    size, states = some
    sums = np.zeros(size, dtype=np.int64 if law.top < 2**62 else object)
    part = np.empty(size, dtype=np.int64)
    for shift, digits in _digits(law):
        # The same states give the same bits for each digit.
        sample_sums(states, digits, law.counts, part)
        sums += part.astype(sums.dtype) << shift
    return _tally(sums)


def _digits(law: TwoPointSum) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The widths; in base 2^31 where sums exceed int64, since no sum of one digit does."""
    if law.top < 2**62:
        yield 0, law.widths.astype(np.int64)
        return
    rest, shift = law.widths.astype(object), 0
    while rest.any():
        yield shift, (rest & (2**DIGIT - 1)).astype(np.int64)
        rest, shift = rest >> DIGIT, shift + DIGIT


def _tally(sums: NDArray[Any]) -> Tally:
    """Distinct sums, ascending, and how often each occurs; by counting where they lie close."""
    if sums.size == 0 or sums.dtype == object or np.ptp(sums) > 4 * sums.size + 4096:
        return np.unique(sums, return_counts=True)
    low = sums.min()
    table = np.bincount(sums - low)
    found = np.flatnonzero(table)
    return found + low, table[found]


def _merge(parts: list[Tally]) -> Tally:
    """One tally of all chunks."""
    if len(parts) == 1:
        return parts[0]
    every, times = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return add_counts(every, times)
