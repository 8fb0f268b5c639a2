"""Alg. 4: the null distribution by divide and conquer and the fast Fourier transform."""

from __future__ import annotations

from math import log2

import numpy as np
from numpy.typing import NDArray

from permtest.null.distribution import LatticeDistribution
from permtest.null.grouping import LocalLaws, TwoPointSum, as_two_point_sum, attainable

EPS = float(np.finfo(np.float64).eps)

#: Cells of a law, and a bound on the Euclidean norm of their errors.
Bounded = tuple[NDArray[np.float64], float]


def convolve_fft(pmfs: LocalLaws) -> LatticeDistribution:
    """The law of the sum of independent entries, by recursive FFT convolution (Alg. 4).

    Entries of equal law are convolved in closed form first (a binomial law on multiples of their
    width); halves of what remains are convolved recursively. Cells that no labelling reaches are
    exactly 0.

    Parameters
    ----------
    pmfs : sequence of LatticeDistribution
        The local laws f_1, ..., f_N, each with at most two values, as `pmf` makes them. An empty
        sequence gives the law of the constant 0.

    Returns
    -------
    LatticeDistribution
        Accurate to about 1e-16 *absolutely*: use `convolve_dp` where far tails matter.

    Raises
    ------
    ValueError
        If a law has more than two values.
    MemoryError
        If the sum has more than 2**25 cells.

    Notes
    -----
    Time O(A log(A) log(U)) and space O(A) for U distinct widths and A the largest sum of widths.

    Examples
    --------
    >>> from permtest import convolve_fft, pmf
    >>> F = convolve_fft([pmf(1, -1), pmf(1, -1)])
    >>> F.support.tolist(), F.pmf.round(15).tolist()
    ([-2, 0, 2], [0.25, 0.5, 0.25])
    """
    law = as_two_point_sum(pmfs)
    return law.distribution(fft_cells(law)[0])


def fft_cells(law: TwoPointSum) -> Bounded:
    """Probabilities of T on all ``top + 1`` cells, and a bound on the norm of their errors."""
    law.check_size("the null distribution")
    cells, error = _convolve([_binomial(law, k) for k in range(law.widths.size)])
    return np.where(attainable(law), np.maximum(cells, 0.0), 0.0), error


def _convolve(leaves: list[Bounded]) -> Bounded:
    """Halve, convolve the halves, multiply (Alg. 4)."""
    if not leaves:
        return np.ones(1), 0.0
    if len(leaves) == 1:
        return leaves[0]
    ends = np.cumsum([cells.size for cells, _ in leaves])
    middle = int(np.searchsorted(ends, ends[-1] / 2))  # halves of equal length, not equal number
    middle = min(max(middle, 1), len(leaves) - 1)
    return _product(_convolve(leaves[:middle]), _convolve(leaves[middle:]))


def _product(a: Bounded, b: Bounded) -> Bounded:
    """One convolution through a real FFT, with its error."""
    from scipy import fft

    (f, f_error), (g, g_error) = a, b
    n = f.size + g.size - 1
    m = fft.next_fast_len(n, real=True)
    cells = fft.irfft(fft.rfft(f, m) * fft.rfft(g, m), m)[:n]
    # Each transform errs by at most eps log2(m) in relative norm; a law's 1-norm is 1, so errors
    # of the factors are not magnified.
    f_norm, g_norm = float(np.linalg.norm(f)), float(np.linalg.norm(g))
    rounding = EPS * log2(m + 1) * (f_norm + g_norm + 2 * min(f_norm, g_norm))
    return cells, f_error + g_error + rounding


def _binomial(law: TwoPointSum, k: int) -> Bounded:
    """Law of the k-th group: width * Binomial(count, move), from the mode outwards."""
    n, stay, move = int(law.counts[k]), float(law.stay[k]), float(law.move[k])
    mode = min(int((n + 1) * move), n)
    up, down = np.arange(mode, n), np.arange(mode, 0, -1)
    rises = np.cumprod((n - up) * move / ((up + 1) * stay))
    falls = np.cumprod(down * stay / ((n - down + 1) * move))
    weights = np.concatenate((falls[::-1], [1.0], rises))
    cells = np.zeros(int(law.widths[k]) * n + 1)
    cells[:: int(law.widths[k])] = weights / weights.sum()
    return cells, float(np.linalg.norm(cells)) * EPS * (8 + n**0.5)
