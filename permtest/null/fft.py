"""Alg. 4: the null distribution by divide and conquer and the fast Fourier transform."""

from __future__ import annotations

from math import hypot, log2
from typing import NamedTuple

import numpy as np

from permtest._jit import Floats
from permtest.null.distribution import LatticeDistribution
from permtest.null.grouping import LocalLaws, TwoPointSum, as_two_point_sum, attainable
from permtest.null.probability import EPS

#: Rounding noise is stated as so many times its standard deviation.
SAFETY = 16.0


class Rounded(NamedTuple):
    """Cells of a law with two kinds of error.

    `relative` bounds the relative error that comes from the leaves, those of different leaves
    being independent. `noise` is `SAFETY` times the standard deviation that the rounding errors of
    the FFTs have in each cell, errors of different cells being as good as uncorrelated.
    """

    cells: Floats
    relative: float
    noise: float


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
        Accurate to about 1e-16 *absolutely*, as its `absolute_error` says; cells below that are
        noise, cut off at 0. Use `convolve_dp` where far tails matter.

    Raises
    ------
    TypeError, ValueError
        If an element is no law, or has more than two values.
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
    found = fft_cells(law)
    return law.distribution(found.cells, found.noise)


def fft_cells(law: TwoPointSum) -> Rounded:
    """Probabilities of T on all ``top + 1`` cells, with their errors."""
    law.check_size("the null distribution")
    found = _convolve([_binomial(law, k) for k in range(law.widths.size)])
    return found._replace(cells=np.where(attainable(law), np.maximum(found.cells, 0.0), 0.0))


def _convolve(leaves: list[Rounded]) -> Rounded:
    """Halve, convolve the halves, multiply (Alg. 4)."""
    if not leaves:
        return Rounded(np.ones(1), 0.0, 0.0)
    if len(leaves) == 1:
        return leaves[0]
    ends = np.cumsum([leaf.cells.size for leaf in leaves])
    middle = int(np.searchsorted(ends, ends[-1] / 2))  # halves of equal length, not equal number
    middle = min(max(middle, 1), len(leaves) - 1)
    return _product(_convolve(leaves[:middle]), _convolve(leaves[middle:]))


def norm(cells: Floats) -> float:
    """The Euclidean norm, without the threads of a linear algebra library."""
    return float(np.sqrt(np.sum(np.square(cells))))


def _product(f: Rounded, g: Rounded) -> Rounded:
    """One convolution through a real FFT, with its errors.

    A transform of length m adds noise of relative size EPS sqrt(log2 m) at most, spread evenly;
    noise that a factor has already is averaged by the other factor.
    """
    from scipy import fft

    n = f.cells.size + g.cells.size - 1
    m = fft.next_fast_len(n, real=True)
    waves = fft.rfft(f.cells, m)
    waves *= fft.rfft(g.cells, m)
    cells = fft.irfft(waves, m, overwrite_x=True)[:n]
    f_norm, g_norm = norm(f.cells), norm(g.cells)
    new = SAFETY * EPS * (log2(m + 1) / m) ** 0.5 * (f_norm * g_norm + min(f_norm, g_norm))
    noise = hypot(f.noise * g_norm, g.noise * f_norm, new)
    return Rounded(cells, hypot(f.relative, g.relative), noise)


def _binomial(law: TwoPointSum, k: int) -> Rounded:
    """Law of the k-th group: width * Binomial(count, move), from the mode outwards.

    Roundings accumulate with the distance from the mode, a few standard deviations, that is a few
    times sqrt(n); measured, they stay below a third of the bound given here.
    """
    n, stay, move = int(law.counts[k]), float(law.stay[k]), float(law.move[k])
    mode = min(int((n + 1) * move), n)
    up, down = np.arange(mode, n), np.arange(mode, 0, -1)
    rises = np.cumprod((n - up) * move / ((up + 1) * stay))
    falls = np.cumprod(down * stay / ((n - down + 1) * move))
    weights = np.concatenate((falls[::-1], [1.0], rises))
    cells = np.zeros(int(law.widths[k]) * n + 1)
    cells[:: int(law.widths[k])] = weights / weights.sum()
    return Rounded(cells, EPS * (8 + 2 * n**0.5), 0.0)
