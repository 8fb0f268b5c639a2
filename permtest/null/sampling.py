"""Random labellings, grouped: one sample costs a few words of random bits, not N coin flips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.null.distribution import LatticeDistribution
from permtest.null.grouping import TwoPointSum
from permtest.null.kernels import weighted_popcounts

#: Random words drawn at a time (8 MiB); samples do not depend on it.
WORDS_AT_ONCE = 2**20
DIGIT = 31


def sample_steps(law: TwoPointSum, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draw T under random labellings (Alg. 1, line 8).

    A Binomial(c, 1/2) number of moves is the number of ones among c random bits.

    Parameters
    ----------
    law : TwoPointSum
        With equal probabilities to stay and to move.
    size : int
        Number of samples K.
    rng : numpy.random.Generator
        The only source of randomness; its state after the call depends on `law` and `size` only.

    Returns
    -------
    ndarray of shape (size,)
        int64, or Python integers where sums exceed its range. Time O(K N' / 64) for N'
        informative entries; memory O(K).
    """
    masks, group = _layout(law.counts)
    sums = np.zeros(size, dtype=np.int64 if law.top < 2**62 else object)
    start = 0
    for words in _random_words(size, masks.size, rng):
        rows = slice(start, start + len(words))
        for shift, digits in _digits(law.widths):
            part = np.empty(len(words), dtype=np.int64)
            weighted_popcounts(words, masks, digits[group], part)
            sums[rows] += part.astype(sums.dtype) << shift
        start += len(words)
    return sums


def sampled_distribution(
    law: TwoPointSum, cells: NDArray[np.int64], counts: NDArray[np.int64]
) -> LatticeDistribution:
    """The relative frequencies of sampled cells, on the whole lattice."""
    law.check_size("the sampled distribution")
    frequencies = np.zeros(law.top + 1)
    frequencies[cells.astype(np.int64)] = counts / counts.sum()
    return law.distribution(frequencies)


def _layout(counts: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Whole words for every group: which bits of each word count, and whose they are."""
    per_group = -(-counts // 64)
    group = np.repeat(np.arange(counts.size), per_group)
    masks = np.full(group.size, 2**64 - 1, dtype=np.uint64)
    last = np.cumsum(per_group) - 1
    masks[last] >>= ((-counts) % 64).astype(np.uint64)
    return masks, group


def _random_words(size: int, width: int, rng: np.random.Generator) -> Iterator[NDArray[np.uint64]]:
    rows = max(1, WORDS_AT_ONCE // max(1, width))
    for start in range(0, size, rows):
        shape = (min(rows, size - start), width)
        yield rng.integers(0, 2**64 - 1, size=shape, dtype=np.uint64, endpoint=True)


def _digits(widths: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The widths in base 2^31, so that no int64 sum of one digit can overflow."""
    if widths.dtype != object and (widths.size == 0 or int(widths.max()) < 2**DIGIT):
        yield 0, widths
        return
    rest, shift = widths.astype(object), 0
    while rest.any():
        yield shift, (rest & (2**DIGIT - 1)).astype(np.int64)
        rest, shift = rest >> DIGIT, shift + DIGIT
