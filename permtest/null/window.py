"""The joint law of several sums in the box that holds practically all of its mass."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, floor, log2, prod

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray
from permtest._jit import jit
from permtest.null.fft import SAFETY
from permtest.null.grouping import MAX_CELLS
from permtest.null.lattice import LatticeSum
from permtest.null.probability import EPS

#: Logarithm of the mass beyond either end of a coordinate.
OUTSIDE = 42.0
#: Values of the characteristic function below exp(-SMALL) stay 0.
SMALL = 60.0


@dataclass(frozen=True, eq=False)
class Window:
    """Cells of a lattice around its middle, and their probabilities.

    Parameters
    ----------
    lows : tuple of r int
        The first value of each coordinate.
    cells : r-dimensional ndarray
        Probabilities, accurate absolutely; where they are lost in the noise, of any sign.
    noise : float
        What the rounding of a cell comes to: `SAFETY` standard deviations.
    outside : float
        Bound on the mass of all cells that are not here.
    """

    lows: tuple[int, ...]
    cells: NDArray[np.float64]
    noise: float
    outside: float

    def coordinates(self, chosen: NDArray[np.int64]) -> IntArray:
        """The points of the lattice in cells of these (flat) numbers, of shape (M, r)."""
        places = np.unravel_index(chosen, self.cells.shape)
        return np.stack([p + low for p, low in zip(places, self.lows, strict=True)], axis=1)


def window_shape(lattice: LatticeSum) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first value of each coordinate, and how many there are, in the box (Hoeffding)."""
    lows, sizes = [], []
    for low, extent, e in zip(lattice.lows, lattice.extents, lattice.steps.T, strict=True):
        squares = float(lattice.counts @ (e.astype(np.float64) ** 2))
        reach, middle = (OUTSIDE * squares / 2) ** 0.5, low + extent / 2
        first, last = max(floor(middle - reach), low), min(ceil(middle + reach), low + extent)
        lows.append(first)
        sizes.append(last - first + 1)
    return tuple(lows), tuple(sizes)


def window(lattice: LatticeSum) -> Window:
    """The joint law from its characteristic function, by one inverse FFT.

    Parameters
    ----------
    lattice : LatticeSum
        Of rank 1 or more.

    Returns
    -------
    Window

    Raises
    ------
    MemoryError
        If there are more than 2**25 cells; the message names how many.

    Notes
    -----
    Time O(C log C) for C cells, about (18 standard deviations)^r, and O(K) more for some of them.
    """
    from scipy import fft

    lows, sizes = window_shape(lattice)
    check_cells(lattice, prod(sizes))
    steps = lattice.steps.astype(np.int64)
    shape = tuple(fft.next_fast_len(size, real=True) for size in sizes)
    values = np.zeros((*shape[:-1], shape[-1] // 2 + 1))
    squares = fair_product(np.array(shape), steps, lattice.counts, values.reshape(-1))
    turned = values.astype(np.complex128)
    for axis, (low, extent, first) in enumerate(
        zip(lattice.lows, lattice.extents, lows, strict=True)
    ):
        m = shape[axis]
        j = np.arange(values.shape[axis])
        # Twice the distance is a whole number, so that angles can be reduced exactly.
        twice = j * (2 * low + extent - 2 * first) % (2 * m)
        phase = np.exp(-1j * np.pi * twice / m)
        turned *= phase.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    cells = fft.irfftn(turned, shape)[tuple(slice(size) for size in sizes)]
    total = prod(shape)
    size = float(np.linalg.norm(values)) * 2**0.5
    noise = SAFETY * ((2 * squares) ** 0.5 + EPS * size * (log2(total + 1) ** 0.5 + 4)) / total
    cut = any(s <= e for s, e in zip(sizes, lattice.extents, strict=True))
    outside = 2 * lattice.rank * exp(-OUTSIDE) if cut else 0.0
    return Window(lows, cells, noise, outside)


def check_cells(lattice: LatticeSum, cells: int) -> None:
    """Refuse a lattice that would not fit in memory."""
    if cells >= MAX_CELLS:
        sums = f"{lattice.rank} independent sums" if lattice.rank > 1 else "the sum"
        raise MemoryError(
            f"the joint null distribution of {sums} needs {_counted(cells)} cells, more than "
            f"{MAX_CELLS:,}, the limit; monte_carlo has an estimate of p with an interval"
        )


def _counted(number: int) -> str:
    """All digits of a number, or its size."""
    return f"{number:,}" if number < 10**15 else f"about 1e{len(str(number)) - 1}"


@jit
def fair_product(
    shape: NDArray[np.int64],
    steps: NDArray[np.int64],
    counts: NDArray[np.int64],
    values: NDArray[np.float64],
) -> float:
    """Fill `values` with E cos(theta (T - E T)) at theta = 2 pi j / shape, row after row.

    Of the last axis only the first half, as for a real transform. The law is symmetric, so that
    this is all there is: prod_k cos(pi x_k)^c_k with x = steps * j / shape. Returns the sum of
    squared rounding errors.
    """
    rank = shape.size
    half = shape[rank - 1] // 2 + 1
    index = np.zeros(rank, dtype=np.int64)
    squares = 0.0
    for flat in range(values.size):
        rest = flat // half
        index[rank - 1] = flat % half
        for axis in range(rank - 2, -1, -1):
            index[axis] = rest % shape[axis]
            rest //= shape[axis]
        log_size, odd, rough = 0.0, 0, 0.0
        for k in range(counts.size):
            x = 0.0
            for axis in range(rank):
                x += ((steps[k, axis] * index[axis]) % shape[axis]) / shape[axis]
                # Whole turns of one angle turn half of it, which changes the sign.
                odd ^= counts[k] & ((steps[k, axis] * index[axis]) // shape[axis]) & 1
            turns = int(np.rint(x))
            odd ^= counts[k] & turns & 1
            x -= turns
            sine, cosine = np.sin(np.pi * x), np.cos(np.pi * x)
            far = abs(cosine) < 0.7  # from 1, so that its logarithm has all digits
            log_size += counts[k] * (np.log(abs(cosine)) if far else 0.5 * np.log1p(-sine * sine))
            rough += counts[k] * abs(sine) / max(abs(cosine), 1e-300)
            if log_size < -SMALL:
                break
        if log_size >= -SMALL:
            size = np.exp(log_size)
            values[flat] = -size if odd else size
            squares += (size * (10.0 - log_size + rank * rough) * 2.0**-52) ** 2
    return squares
