"""The whole law with relative accuracy everywhere, from overlapping tilts.

Under a tilt the cells within a few deviations of its mean are large, so that the absolute
accuracy of a Fourier transform is relative accuracy there. Tile by tile this covers the lattice.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from permtest._progress import progress
from permtest.null.cf import cf_window, tilt_of
from permtest.null.dp import dp_log_cells, dp_operations, dp_rounding
from permtest.null.grouping import TwoPointSum, attainable
from permtest.null.probability import TooHard
from permtest.null.tail_kernels import find_tilt, log_scale

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


def log_cells(law: TwoPointSum) -> tuple[NDArray[np.float64], float]:
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


def tiled(law: TwoPointSum) -> tuple[NDArray[np.float64], float] | None:
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


def _cover(law: TwoPointSum, logs: NDArray[np.float64], errors: list[float]) -> Iterator[int]:
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
) -> tuple[NDArray[np.float64], float, float] | None:
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
