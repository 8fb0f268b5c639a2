"""Alg. 2, 3 and 4 of the paper as they are printed, in plain NumPy, to hold the package against.

Every entry is an entry of its own here, equal ones are not grouped, and nothing is dropped (the
published code drops cells below 1e-8). ``permtest.convolve_dp`` and ``permtest.convolve_fft`` are
the same algorithms, grown up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Scores = NDArray[np.int64]


class Pmf(NamedTuple):
    """Probabilities of low, low + 1, low + 2, ..."""

    low: int
    cells: NDArray[np.float64]


def local_pmf(stay: int, swap: int) -> Pmf:
    """Eq. 4: two values of probability 1/2, or one of probability 1."""
    cells = np.zeros(abs(stay - swap) + 1)
    cells[0] += 0.5
    cells[-1] += 0.5
    return Pmf(min(stay, swap), cells)


def convolve_dp(pmfs: Sequence[Pmf]) -> Pmf:
    """Alg. 3, O(G N^2): F_n from F_{n-1}, by one shift for each value that entry n can take."""
    low, total = 0, np.ones(1)  # F_0
    for f in pmfs:
        longer = np.zeros(total.size + f.cells.size - 1)
        for shift in np.flatnonzero(f.cells):  # one or two
            longer[shift : shift + total.size] += f.cells[shift] * total
        low, total = low + f.low, longer
    return Pmf(low, total)


def convolve_fft(pmfs: Sequence[Pmf]) -> Pmf:
    """Alg. 4, O(G N log(G N) log N): convolve the first half with the second half."""
    if len(pmfs) <= 1:
        return pmfs[0] if pmfs else Pmf(0, np.ones(1))
    middle = len(pmfs) // 2
    return convolve_two(convolve_fft(pmfs[:middle]), convolve_fft(pmfs[middle:]))


def convolve_two(f: Pmf, g: Pmf) -> Pmf:
    """Eq. 8 through the Fourier transform, at a length at which nothing wraps around."""
    size = f.cells.size + g.cells.size - 1
    m = fft.next_fast_len(size, real=True)
    product = fft.rfft(f.cells, m) * fft.rfft(g.cells, m)
    return Pmf(f.low + g.low, fft.irfft(product, m)[:size])


def exact_perm_test(
    u: Scores,
    v: Scores,
    convolve: Callable[[Sequence[Pmf]], Pmf],
    g: Callable[[Any, Any], Any] = np.subtract,
    h: Callable[[Any], Any] = np.abs,
) -> float:
    """Alg. 2; g and h are applied to whole arrays."""
    stay, swap = g(u, v), g(v, u)
    total = convolve([local_pmf(x, y) for x, y in zip(stay.tolist(), swap.tolist(), strict=True)])
    observed = h(stay.sum())
    values = total.low + np.arange(total.cells.size)
    return float(total.cells[h(values) >= observed].sum())
