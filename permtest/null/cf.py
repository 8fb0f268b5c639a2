"""The null distribution from its characteristic function (Pagano and Tritchler 1983).

The discrete Fourier transform of a sum of independent entries is a product with one factor for
each distinct entry, and that factor is known in closed form. So one inverse FFT does it, and no
forward one. A tilted law can be had on any window that holds its mass.
"""

from __future__ import annotations

from math import exp, inf, log2

import numpy as np
from numpy.typing import NDArray

from permtest.null.distribution import LatticeDistribution
from permtest.null.fft import SAFETY, Rounded, norm
from permtest.null.grouping import LocalLaws, TwoPointSum, as_two_point_sum, attainable
from permtest.null.probability import EPS
from permtest.null.tail_kernels import (
    LIKELY,
    OUTSIDE,
    characteristic,
    find_window,
    log_scale,
)


def convolve_cf(pmfs: LocalLaws) -> LatticeDistribution:
    """The law of the sum of independent entries, from its characteristic function.

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
    Time O(A U + A log A) at worst and space O(A), for U distinct widths and A the largest sum of
    widths: one product of cosines for each frequency, cut short where it is negligible, and one
    inverse FFT. Source: Pagano and Tritchler (1983).

    Examples
    --------
    >>> from permtest import convolve_cf, pmf
    >>> F = convolve_cf([pmf(1, -1), pmf(1, -1)])
    >>> F.support.tolist(), F.pmf.round(15).tolist()
    ([-2, 0, 2], [0.25, 0.5, 0.25])
    """
    law = as_two_point_sum(pmfs)
    found = cf_cells(law)
    return law.distribution(found.cells, found.noise)


def cf_cells(law: TwoPointSum) -> Rounded:
    """Probabilities of T on all ``top + 1`` cells, with their errors."""
    from scipy import fft

    law.check_size("the null distribution")
    m = fft.next_fast_len(law.top + 1, real=True)
    weights = law.counts * law.widths.astype(np.float64)
    centre = round(law.top / 2 + float(weights @ (law.move - law.stay)) / 2)
    *_, shift = log_scale(0.0, 2 * centre - law.top, law.widths, law.counts, tilt_of(law))
    found = _invert(law, centre, shift, 0, m, inf)
    cells = np.maximum(found.cells[: law.top + 1], 0.0)
    return found._replace(cells=np.where(attainable(law), cells, 0.0))


def cf_window(
    law: TwoPointSum, centre: int, shift: tuple[float, float], work: float
) -> tuple[int, Rounded]:
    """Probabilities of T around `centre`, by `shift` below the mean of a tilted law.

    Returns the first cell, and the cells: few where the law is narrow, whatever the size of the
    lattice. Mass outside of them is below 1e-21. Their noise is infinite if more than `work` widths
    would have to be looked at.
    """
    from scipy import fft

    m, above = find_window(law.top, law.top - centre, shift, law.widths, law.counts, tilt_of(law))
    if m > law.top:
        return 0, cf_cells(law)
    first = centre - (m - above)
    found = _invert(law, centre, shift, first, fft.next_fast_len(m, real=True), work)
    skipped = max(-first, 0)
    return first + skipped, found._replace(
        cells=found.cells[skipped:m], noise=found.noise + 2 * exp(-OUTSIDE)
    )


def tilt_of(law: TwoPointSum) -> NDArray[np.float64]:
    """beta = move - stay as the kernels want it: base, rest, and spread = 1 - beta^2."""
    base = np.where(law.move > LIKELY, 1.0, np.where(law.stay > LIKELY, -1.0, 0.0))
    rest = np.where(base > 0, -2 * law.stay, np.where(base < 0, 2 * law.move, law.move - law.stay))
    return np.array([base, rest, 4 * law.stay * law.move])


def _invert(
    law: TwoPointSum,
    centre: int,
    shift: tuple[float, float],
    first: int,
    m: int,
    work: float,
) -> Rounded:
    """The m cells from `first` on, of the law wrapped around a lattice of m points."""
    from scipy import fft

    values = np.zeros(m // 2 + 1, dtype=np.complex128)
    squares, common = characteristic(m, shift, work, law.widths, law.counts, tilt_of(law), values)
    cells: NDArray[np.float64] = np.roll(fft.irfft(values, m), centre - first)
    own, size = (2 * squares) ** 0.5 / m, norm(cells)
    # `own` adds up what each rounding can be at its worst, four times what it is as a rule.
    noise = SAFETY * (own / 4 + EPS * (log2(m + 1) / m) ** 0.5 * size)
    return Rounded(cells, SAFETY / 4 * common, noise)  # low frequencies move many cells alike
