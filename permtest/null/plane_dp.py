"""The tilted law of two sums by dynamic programming, where few moves are likely.

Near the labellings of greatest statistic hardly any move away from them is left, so that the law
tilted to them has few cells. All terms are positive: each cell is accurate relative to itself,
which the inversion of a characteristic function is not.
"""

from __future__ import annotations

from functools import cache
from math import frexp

import numpy as np
from numpy.typing import NDArray

from permtest.null.grouping import MAX_CELLS
from permtest.null.plane_kernels import add_moves
from permtest.null.probability import EPS, TooHard

#: Entries that are folded in together: their binomial coefficients are floats, squared as well.
TOGETHER = 500


def spread_out(
    moves: NDArray[np.int64],
    counts: NDArray[np.int64],
    push: NDArray[np.float64],
    negligible: float,
) -> tuple[NDArray[np.float64], tuple[int, int], int, float, float]:
    """Sum over all sets of moves of exp(-push), in the cell where the moves lead.

    Parameters
    ----------
    moves : ndarray of shape (K, 2)
        Columns s and r, integers.
    counts : ndarray of shape (K,)
        How many entries have each.
    push : ndarray of shape (K,)
        Minus the logarithm of the odds of each, exact, of no more than 30 bits.
    negligible : float
        Share of the mass that may be left out.

    Raises
    ------
    TooHard
        If the table would not fit in memory.

    Returns
    -------
    table : ndarray of shape (R, S)
        Row r, column s, times 2^-power, so that all cells add up to less than 1.
    lows : tuple of two int
        The first column and the first row.
    power : int
    lost : float
        Share of the mass that has been left out.
    rounding : float
        Bound on the relative error of each cell.
    """
    # Moves that spread most come last, so that the table is small for long.
    spread = (counts * np.exp(-push))[:, None] * moves.astype(np.float64) ** 2
    order = (spread / (spread.sum(axis=0) + 1e-300)).sum(axis=1).argsort().tolist()
    most, numbers = TOGETHER, counts.tolist()
    parts = [(k, min(most, numbers[k] - n)) for k in order for n in range(0, numbers[k], most)]
    each = negligible / (5 * max(len(parts), 1))
    table, lows, mass, power, lost, rounding = np.ones((1, 1)), [0, 0], 1.0, 0, 0.0, 0.0
    for k, n in parts:
        weights = _binomials(n) * np.exp(-push[k] * np.arange(n + 1))
        whole = float(weights.sum())
        kept = n + 1 - int(np.searchsorted(np.cumsum(weights[::-1]), each * whole, "right"))
        lost += float(weights[kept:].sum()) / whole
        mass, shift = frexp(mass * whole)
        power += shift
        s, r = moves[k].tolist()
        room = (table.shape[0] + abs(r) * (kept - 1)) * (table.shape[1] + abs(s) * (kept - 1))
        if room > MAX_CELLS:
            raise TooHard(f"the tilted law of the two sums has {room:,} cells")
        longer, r0, r1, s0, s1, left_out = add_moves(
            table, np.ldexp(weights[:kept], -shift), s, r, each * mass
        )
        table, lost = longer[r0:r1, s0:s1], lost + left_out / mass
        lows = [lows[0] + s0 + min(s, 0) * (kept - 1), lows[1] + r0 + min(r, 0) * (kept - 1)]
        rounding += EPS * (3 + kept / 2)
    return table, (lows[0], lows[1]), power, lost, rounding


def spread_operations(
    counts: NDArray[np.int64],
    q: NDArray[np.float64],
    sizes: tuple[float, float],
) -> float:
    """About how many cells `spread_out` updates for moves of probability q, on so large a table."""
    mean = counts * q
    terms = np.minimum(counts, mean + 9.5 * np.sqrt(mean * (1 - q)) + 8) + 1
    return float(terms.sum()) * sizes[0] * sizes[1] / 3


@cache
def _binomials(n: int) -> NDArray[np.float64]:
    """n over m for m = 0, ..., n."""
    row = [1]
    for m in range(n):
        row.append(row[-1] * (n - m) // (m + 1))
    return np.array(row, dtype=np.float64)
