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
    TiltedLaw,
    characteristic,
    log_scale,
    tilt_towards,
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
    tilted = _for_kernels(law)
    *_, shift = log_scale(0.0, 2 * centre - law.top, tilted)
    found = _invert(tilted, shift, m, centre, inf)
    cells = np.maximum(found.cells[: law.top + 1], 0.0)
    return found._replace(cells=np.where(attainable(law), cells, 0.0))


def _for_kernels(law: TwoPointSum) -> TiltedLaw:
    """The law with beta = move - stay as the kernels want it: base, rest, and 1 - beta^2."""
    base = np.where(law.move > LIKELY, 1.0, np.where(law.stay > LIKELY, -1.0, 0.0))
    rest = np.where(base > 0, -2 * law.stay, np.where(base < 0, 2 * law.move, law.move - law.stay))
    return TiltedLaw(law.widths, law.counts, np.array([base, rest, 4 * law.stay * law.move]))


def _invert(
    law: TiltedLaw, shift: tuple[float, float], m: int, before: int, work: float
) -> Rounded:
    """The law wrapped around a lattice of m points, from `before` cells below t0 on.

    t0 is by `shift` below the mean. The noise is infinite if more than `work` widths would have to
    be looked at.
    """
    from scipy import fft

    values = np.zeros(m // 2 + 1, dtype=np.complex128)
    squares, common = characteristic(m, shift, work, law, values)
    cells: Floats = np.roll(fft.irfft(values, m), before)
    own, size = (2 * squares) ** 0.5 / m, norm(cells)
    # `own` adds up what each rounding can be at its worst, four times what it is as a rule.
    noise = SAFETY * (own / 4 + EPS * (log2(m + 1) / m) ** 0.5 * size)
    return Rounded(cells, SAFETY / 4 * common, noise)  # low frequencies move many cells alike


# The whole law with relative accuracy everywhere. Under a tilt the cells within a few deviations of
# its mean are large, so that the absolute accuracy of a transform is relative accuracy there. Tile
# by tile this covers the lattice.

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
#: Cell updates up to which dynamic programming is as quick as a few tiles, and which it may take
#: where tiles do not do: some seconds.
QUICK, PATIENCE = 10**7, 5 * 10**8


def log_cells(law: TwoPointSum) -> tuple[Floats, float]:
    """log P(T = t) on all cells of a null law, -inf where nothing can be, and an error.

    P is off by no more than error + 5 EPS |log P|, relative to itself. Time O(A log A): tiles of
    four standard deviations, each from one FFT some 20 deviations long. Raises TooHard if it would
    take too long: laws with cells between two humps, which no tilt makes likely, and laws of many
    large widths need dynamic programming.
    """
    law.check_size("the null distribution")
    updates = dp_operations(law)
    found = tiled(law) if updates > QUICK else None
    if found is not None:
        return found
    if updates > PATIENCE:
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
    deviation, tick, spent = law.deviation, 0, 0
    while t <= law.top and spent <= BUDGET * (law.top + 10**5):
        centre = min(t + int(REACH * deviation), law.top - 1)
        for towards in (centre, min(t, law.top - 1)):
            tile, error, deviation, points = _tile(law, towards, possible, t)
            spent += points
            if tile.size:
                break
        else:
            return
        logs[t : t + tile.size] = tile
        errors.append(error)
        t += tile.size
        while tick < TICKS * (t - start) // (law.top + 1 - start):
            tick += 1
            yield tick


def _tile(
    law: TwoPointSum, centre: int, possible: NDArray[np.bool_], start: int
) -> tuple[Floats, float, float, int]:
    """log P of the accurate cells from `start` on under the tilt to `centre`.

    There are none if the first one that can be reached is not accurate. Also their error, the
    standard deviation of the tilted law, and how many points the transform had.
    """
    from scipy import fft

    tilted, window = tilt_towards(law.widths, law.counts, law.top, centre)
    m, before, work = window.m, window.m - window.cells, LOOKS if window.m <= law.top else inf
    found = _invert(tilted, window.shift, fft.next_fast_len(m, real=True), before, work)
    cells, rough = found.cells[start - centre + before : m], found.noise + 2 * exp(-OUTSIDE)
    reached = possible[start:][: cells.size]
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(reached, rough / np.maximum(cells - rough, 0.0), 0.0)
        end = int(np.argmax(np.append(noise > TOLERANCE, True)))
        logs = np.where(reached, np.log(np.maximum(cells, 0.0)), -np.inf)[:end]
    if not reached[:end].any() and start + end <= law.top:
        end = 0
    high, low, _ = window.scale
    logs += high + low - window.tau * (start - centre + np.arange(logs.size))
    error = found.relative + float(noise[:end].max(initial=0.0))
    return logs[:end], error, window.deviation, m
