"""The null distribution from its characteristic function (Pagano and Tritchler 1983).

The discrete Fourier transform of a sum of independent entries is a product with one factor for
each distinct entry, and that factor is known in closed form. So one inverse FFT does it, and no
forward one. A tilted law can be had on any window that holds its mass.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, inf, log2

import numpy as np
from numpy.typing import NDArray

from permtest._jit import Floats
from permtest._progress import progress
from permtest.null.distribution import LatticeDistribution
from permtest.null.dp import dp_log_cells, dp_operations, dp_rounding
from permtest.null.fft import SAFETY, Rounded, norm
from permtest.null.grouping import LocalLaws, TwoPointSum, as_two_point_sum, attainable
from permtest.null.probability import EPS, TooHard
from permtest.null.tail_kernels import (
    LIKELY,
    OUTSIDE,
    characteristic,
    find_tilt,
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


def tilt_of(law: TwoPointSum) -> Floats:
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
    cells: Floats = np.roll(fft.irfft(values, m), centre - first)
    own, size = (2 * squares) ** 0.5 / m, norm(cells)
    # `own` adds up what each rounding can be at its worst, four times what it is as a rule.
    noise = SAFETY * (own / 4 + EPS * (log2(m + 1) / m) ** 0.5 * size)
    return Rounded(cells, SAFETY / 4 * common, noise)  # low frequencies move many cells alike


#: What the noise in a cell may be, relative to it.
TOLERANCE = 3e-13
#: Half of the width of a tile, in standard deviations.
REACH = 2.0
#: Points that all tiles together may need, for each cell of the lattice.
BUDGET = 20
#: Widths that may be looked at for one tile: a tenth of a second.
LOOKS = 2e7
#: How often a bar that shows progress moves.
TICKS = 64
#: Cell updates up to which dynamic programming is as quick as a few tiles.
QUICK = 10**7
#: Cell updates that dynamic programming may take where tiles do not do: some seconds.
PATIENCE = 5 * 10**8


def log_cells(law: TwoPointSum) -> tuple[Floats, float]:
    """log P(T = t) on all cells, and how accurate each P is relative to itself.

    Parameters
    ----------
    law : TwoPointSum
        With equal probabilities to stay and to move.

    Returns
    -------
    logs : ndarray of shape (top + 1,)
        -inf where nothing can be.
    error : float
        P is off by no more than error + 5 EPS |log P|, relative to itself.

    Raises
    ------
    MemoryError
        If there are too many cells.
    TooHard
        If they would take too long: laws with cells between two humps, which no tilt makes likely,
        and laws of many large widths need dynamic programming.

    Notes
    -----
    Time O(A log A): tiles of four standard deviations, each from one FFT some 20 deviations long.
    """
    law.check_size("the null distribution")
    if dp_operations(law) <= QUICK:
        return dp_log_cells(law), 2 * dp_rounding(law)
    found = tiled(law)
    if found is not None:
        return found
    if dp_operations(law) > PATIENCE:
        raise TooHard(
            f"the null distribution of {law.n_informative:,} entries on {law.top + 1:,} cells has "
            "gaps that only dynamic programming could fill with relative accuracy, which would "
            "take long; method='cf' has absolute accuracy"
        )
    return dp_log_cells(law), 2 * dp_rounding(law)


def tiled(law: TwoPointSum) -> tuple[Floats, float] | None:
    """`log_cells` from tiles alone; None if some cell is not likely under any tilt."""
    logs, errors = np.full(law.top + 1, np.nan), [0.0]
    ticks = _cover(law, logs, errors)
    for _ in progress(ticks, total=TICKS, what="null distribution"):
        pass
    middle = (law.top + 1) // 2
    if np.isnan(logs[-1]):
        return None
    logs[: law.top + 1 - middle] = logs[middle:][::-1]
    return logs, max(errors)


def _cover(law: TwoPointSum, logs: Floats, errors: list[float]) -> Iterator[int]:
    """Fill `logs` from the middle to the upper end, tile by tile; stop where no tile will do.

    Stops too where the widths are so large that tiles near the end need far more points than
    they cover. Yields `TICKS` times on the way.
    """
    possible = attainable(law)
    start = t = (law.top + 1) // 2
    deviation, tick, spent = law.deviation, 0, [0]
    while t <= law.top:
        if spent[0] > BUDGET * (law.top + 10**5):
            return
        centre = min(t + int(REACH * deviation), law.top - 1)
        tile = _tile(law, centre, t, possible, spent)
        if tile is None and centre > t:
            tile = _tile(law, t, t, possible, spent)
        if tile is None:
            return
        cells, error, deviation = tile
        logs[t : t + cells.size] = cells
        errors.append(error)
        t += cells.size
        while tick < TICKS * (t - start) // (law.top + 1 - start):
            tick += 1
            yield tick


def _tile(
    law: TwoPointSum, centre: int, start: int, possible: NDArray[np.bool_], spent: list[int]
) -> tuple[Floats, float, float] | None:
    """log P of the accurate cells from `start` on under the tilt to `centre`.

    Also their error and the standard deviation of the tilted law; `spent` adds up the points of
    the transforms. None if the first cell that can be reached is not accurate.
    """
    tau = find_tilt(law.widths, law.counts, max(centre - law.top / 2, 0.0))
    tilted = law.tilted(tau)
    tilt = tilt_of(tilted)
    deviation = float(np.sqrt(law.counts * tilt[2] @ law.widths.astype(float) ** 2)) / 2
    high, low, _, shift = log_scale(tau, 2 * centre - law.top, law.widths, law.counts, tilt)
    first, found = cf_window(tilted, centre, shift, LOOKS)
    spent[0] += found.cells.size
    cells, reached = found.cells[start - first :], possible[start:]
    reached = reached[: cells.size]
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(reached, found.noise / np.maximum(cells - found.noise, 0.0), 0.0)
    bad = np.flatnonzero(noise > TOLERANCE)
    end = int(bad[0]) if bad.size else cells.size
    if not reached[:end].any() and start + end <= law.top:
        return None
    with np.errstate(divide="ignore"):
        logs = np.where(reached[:end], np.log(np.maximum(cells[:end], 0.0)), -np.inf)
    steps = start - centre + np.arange(end)
    return (
        logs + (high + low) - tau * steps,
        found.relative + float(noise[:end].max(initial=0.0)),
        deviation,
    )
