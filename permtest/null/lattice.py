"""Several sums at once: their joint null law, reduced to the smallest lattice that holds it.

Every entry adds one vector if it stays and another if it is swapped, so that the vector of sums is
the sum over n of stay_n + B_n (swap_n - stay_n), B_n a fair coin. Sums that always move together
are one sum: what varies is a point T of the lattice that the differences generate, whose dimension
is their rank (two for F1, of the four sums in Eq. 16). Equal differences, up to sign, are counted
once. Laid out as a line (Kronecker's substitution), the lattice is that of a single sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import ceil, exp, floor, log2, prod
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._jit import Floats, Ints
from permtest.integers import IntArray, exact_dot, exact_sum, largest
from permtest.null.convolution import SAFETY
from permtest.null.distribution import (
    EPS,
    MAX_CELLS,
    TwoPointSum,
    add_counts,
    count_values,
    from_widths,
)

#: No sum of products of steps and counts below this wraps around.
ROOM = 2**62
#: Of more sums no box fits in any memory; they can be sampled all the same.
MOST_REDUCED = 8


@dataclass(frozen=True, eq=False)
class LatticeSum:
    """X = origin + T @ basis with T = sum over k of steps[k] * (moves among counts[k] entries).

    Of more than `MOST_REDUCED` sums, which can only be sampled, the basis is left as it is.
    """

    #: Number of entries, those that cannot move included.
    n: int
    #: The m sums X where no entry moves.
    origin: tuple[int, ...]
    #: Independent vectors, (r, m); their integer combinations are what the moves can add up to.
    basis: IntArray
    #: Distinct moves in coordinates of the lattice, (K, r), no two of them opposite.
    steps: IntArray
    #: How many entries have each.
    counts: Ints

    @classmethod
    def of(cls, stay: IntArray, swap: IntArray) -> LatticeSum:
        """Group local effects, rows of m integers, in coordinates in which the box is small."""
        moves, counts = _group(swap - stay)
        # Whether it was turned or not, an entry adds this if it does not move, and then its move.
        both = np.array([exact_sum(column) for column in (stay + swap).T], dtype=object)
        origin = (both - counts @ moves.astype(object)) // 2
        if moves.shape[1] <= MOST_REDUCED:
            basis = _lattice_basis(moves)
            basis, steps = _reduce(basis, _coordinates(moves, basis), counts)
        else:
            varying = (moves != 0).any(axis=0)
            basis = np.eye(moves.shape[1], dtype=np.int64)[varying]
            steps = _small(moves[:, varying])
        return cls(len(stay), tuple(origin.tolist()), basis, steps, counts)

    @property
    def rank(self) -> int:
        """The dimension of the lattice; of many sums, how many of them vary."""
        return int(self.steps.shape[1])

    @cached_property
    def lows(self) -> list[int]:
        """The smallest value of each coordinate of T."""
        return [exact_dot(np.minimum(e, 0), self.counts) for e in self.steps.T]

    @cached_property
    def extents(self) -> list[int]:
        """The largest value of each coordinate, less the smallest."""
        return [exact_dot(np.abs(e), self.counts) for e in self.steps.T]

    @cached_property
    def strides(self) -> list[int]:
        """How many cells of the line lie between neighbours in each direction."""
        sizes = [extent + 1 for extent in self.extents]
        return [prod(sizes[:axis]) for axis in range(self.rank)]

    @cached_property
    def line(self) -> TwoPointSum:
        """The same law on a line: cells of the box around T, one row after the other."""
        size = prod(extent + 1 for extent in self.extents)
        steps = self.steps.astype(object) if size >= ROOM else self.steps
        moves = steps @ np.array(self.strides, dtype=steps.dtype)
        return self._sum(moves, -sum(map(mul, self.lows, self.strides)))

    def along(self, weights: Sequence[int]) -> TwoPointSum:
        """The law of a weighted sum of X."""
        moves = self.steps.astype(object) @ (self.basis.astype(object) @ np.array(weights, object))
        return self._sum(moves, sum(map(mul, weights, self.origin)))

    def _sum(self, moves: IntArray, start: int) -> TwoPointSum:
        """The law of a sum that is `start` where no entry moves."""
        lowest = start + exact_dot(np.minimum(moves, 0), self.counts)
        return from_widths(self.n, *add_counts(np.abs(moves), self.counts), lowest)

    def sums(self, cells: NDArray[Any]) -> IntArray:
        """X in some cells of `line`, of shape (M, m); Python integers where int64 is too small."""
        wide = self.line.top * self.line.unit >= ROOM
        place = self.line.offset + self.line.unit * (cells.astype(object) if wide else cells)
        digits = [
            _small(place // stride % (extent + 1) + low)
            for stride, extent, low in zip(self.strides, self.extents, self.lows, strict=True)
        ]
        return self.at(np.stack(digits, axis=1) if digits else np.zeros((len(cells), 0)))

    def at(self, coordinates: IntArray) -> IntArray:
        """X at points T, of shape (M, m)."""
        most = (1 + largest(coordinates)) * sum(map(abs, self.basis.ravel().tolist()))
        kind = np.int64 if most + max(map(abs, self.origin), default=0) < ROOM else object
        moved = coordinates.astype(kind) @ self.basis.astype(kind)
        return np.asarray(moved + np.array(self.origin, dtype=kind))

    def cell(self, sums: Sequence[int]) -> int:
        """The cell of `line` at which X, of rank 1, is `sums`, as some labelling makes it."""
        steps = zip(sums, self.origin, self.basis[0].tolist(), strict=True)
        place: int = next((x - start) // step for x, start, step in steps if step)
        return (place - self.lows[0]) // self.line.unit


def _group(moves: IntArray) -> tuple[IntArray, Ints]:
    """Distinct moves up to sign, without zero, and how often each occurs."""
    reach = [largest(column) for column in moves.T]
    wide = prod(2 * r + 1 for r in reach) >= ROOM
    # A row becomes one number, digits of which may be negative: opposite rows, opposite numbers.
    keys = np.zeros(len(moves), dtype=object if wide else np.int64)
    for column, r in zip(moves.T, reach, strict=True):
        keys = keys * (2 * r + 1) + column
    keys, counts = count_values(np.abs(keys))
    keys, counts = keys[keys > 0], counts[keys > 0]
    rows = np.zeros((len(keys), moves.shape[1]), dtype=moves.dtype)
    for j, r in reversed(list(enumerate(reach))):
        digit = (keys + r) % (2 * r + 1) - r
        rows[:, j], keys = digit, (keys - digit) // (2 * r + 1)
    return rows, counts


def _lattice_basis(moves: IntArray) -> IntArray:
    """Independent rows, in echelon form, with the same integer combinations as `moves`."""
    pivots: dict[int, NDArray[Any]] = {}
    for row in moves.astype(object):
        for j in range(row.size):
            if row[j] != 0 and j not in pivots:
                pivots[j] = row
                break
            while row[j] != 0:  # Euclid's algorithm; what is left has 0 in place j
                pivots[j], row = row, pivots[j] - (pivots[j][j] // row[j]) * row
    places = sorted(pivots)
    for number, j in enumerate(places):
        for above in places[:number]:  # small remainders keep coordinates small
            pivots[above] = pivots[above] - (pivots[above][j] // pivots[j][j]) * pivots[j]
    rows = [pivots[j] for j in places]
    return np.array(rows, dtype=object).reshape(len(rows), moves.shape[1])


def _coordinates(points: IntArray, basis: IntArray) -> IntArray:
    """Points as integer combinations of a basis in echelon form; wrong where they are none."""
    rest, found = points.astype(object), np.zeros((len(points), len(basis)), dtype=object)
    for i, row in enumerate(basis):
        j = int(np.flatnonzero(row)[0])
        found[:, i] = rest[:, j] // row[j]
        rest = rest - found[:, i, None] * row
    return found


def _reduce(basis: IntArray, steps: IntArray, counts: Ints) -> tuple[Any, Any]:
    """Another basis of the same lattice, in which the box around T is small."""
    # Taking a multiple of one coordinate off another one keeps the lattice. The best multiple makes
    # the sum of |a - k b| smallest, which is a weighted median of the ratios a / b.
    steps, improved = _small(steps), True
    weights = counts.astype(steps.dtype)
    while improved:
        improved = False
        for i, j in permutations(range(steps.shape[1]), 2):
            a, b = steps[:, i], steps[:, j]
            some = b != 0
            ratios = (a[some] / b[some]).astype(np.float64)
            order = np.argsort(ratios, kind="stable")
            mass = np.cumsum((np.abs(b[some]) * weights[some]).astype(np.float64)[order])
            middle = float(ratios[order[np.searchsorted(mass, mass[-1] / 2)]])
            for times in {floor(middle), ceil(middle)} - {0}:
                if np.abs(steps[:, i] - times * b) @ weights < np.abs(steps[:, i]) @ weights:
                    steps[:, i] = steps[:, i] - times * b
                    basis[j] = basis[j] + times * basis[i]
                    improved = True
    return _small(basis), _small(steps)


def _small(values: IntArray) -> IntArray:
    """The same integers as int64 where that leaves room for sums of them."""
    return values.astype(object if largest(values) >= 2**40 else np.int64)


#: Logarithm of the mass beyond either end of a coordinate.
OUTSIDE = 42.0
#: Values of the characteristic function below exp(-SMALL) stay 0.
SMALL = 60.0
#: Cells whose values are computed together.
BLOCK = 2**14


@dataclass(frozen=True, eq=False)
class Box:
    """Cells of a lattice around its middle, and their probabilities, accurate absolutely."""

    #: The first values of the coordinates.
    lows: tuple[int, ...]
    cells: Floats
    #: `SAFETY` standard deviations of what rounding adds to a cell, and a bound on the mass beyond.
    noise: float
    outside: float

    def coordinates(self, chosen: Ints) -> IntArray:
        """The points of the lattice in cells of these (flat) numbers, of shape (M, r)."""
        places = np.unravel_index(chosen, self.cells.shape)
        return np.stack([p + low for p, low in zip(places, self.lows, strict=True)], axis=1)


def box_shape(lattice: LatticeSum) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first value of each coordinate, and how many there are, in the box (Hoeffding)."""
    lows, sizes = [], []
    for low, extent, e in zip(lattice.lows, lattice.extents, lattice.steps.T, strict=True):
        squares = float(lattice.counts @ (e.astype(np.float64) ** 2))
        reach, middle = (OUTSIDE * squares / 2) ** 0.5, low + extent / 2
        first, last = max(floor(middle - reach), low), min(ceil(middle + reach), low + extent)
        lows.append(first)
        sizes.append(last - first + 1)
    return tuple(lows), tuple(sizes)


def box_law(lattice: LatticeSum) -> Box:
    """The joint law from its characteristic function, by one inverse FFT, for rank 1 or more.

    O(C log C + C K) for C cells, about (18 standard deviations)^r; MemoryError beyond MAX_CELLS.
    """
    from scipy import fft

    lows, sizes = box_shape(lattice)
    if prod(sizes) >= MAX_CELLS:
        sums = f"{lattice.rank} independent sums" if lattice.rank > 1 else "the sum"
        raise MemoryError(
            f"the joint null distribution of {sums} needs {prod(sizes):,} "
            f"cells, more than {MAX_CELLS:,}, the limit; "
            "p does not need it (method='auto'); monte_carlo has a sampled distribution",
        )
    shape = tuple(fft.next_fast_len(size, real=True) for size in sizes)
    values, squares = _fair_product(np.array(shape, dtype=np.int64), lattice)
    turned = values.astype(np.complex128)
    axes = zip(shape, lattice.lows, lattice.extents, lows, strict=True)
    for axis, (m, low, extent, first) in enumerate(axes):
        j = np.arange(values.shape[axis], dtype=np.int64)
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
    return Box(lows, cells, noise, outside)


def _fair_product(shape: Ints, lattice: LatticeSum) -> tuple[Floats, float]:
    """E cos(theta (T - E T)) at theta = 2 pi j / shape, and the sum of squared rounding errors."""
    # By symmetry this is prod_k cos(pi x_k)^c_k with x = steps * j / shape; below exp(-SMALL) it
    # stays 0. Of the last axis only the first half, as for a real transform.
    half = (*shape[:-1].tolist(), int(shape[-1]) // 2 + 1)
    values, squares, counts = np.zeros(prod(half)), 0.0, lattice.counts.tolist()
    steps, sizes = lattice.steps.astype(np.int64), shape[:, None]
    order = np.argsort(-lattice.counts * np.abs(steps / shape).max(axis=1), kind="stable").tolist()
    for start in range(0, values.size, BLOCK):
        flat = np.arange(start, min(start + BLOCK, values.size))
        index = np.stack(np.unravel_index(flat, half))
        log_sizes, rough, odd = (np.zeros(flat.size, dtype=t) for t in (float, float, np.int64))
        for k in order:
            turns, rest = np.divmod(steps[k, :, None] * index, sizes)
            x = (rest / sizes).sum(axis=0)
            whole = np.rint(x)
            # Whole turns of one angle turn half of it, which changes the sign.
            odd ^= counts[k] & (turns.sum(axis=0) + whole.astype(np.int64)) & 1
            x = np.pi * (x - whole)
            sine, cosine = np.sin(x), np.abs(np.cos(x))
            with np.errstate(divide="ignore"):  # near 1, the logarithm has all digits by the sine
                logs = np.where(cosine < 0.7, np.log(cosine), 0.5 * np.log1p(-sine * sine))
            log_sizes += counts[k] * logs
            rough += counts[k] * np.abs(sine) / np.maximum(cosine, 1e-300)
            kept = log_sizes >= -SMALL
            if not kept.all():
                flat, index, log_sizes = flat[kept], index[:, kept], log_sizes[kept]
                rough, odd = rough[kept], odd[kept]
                if flat.size == 0:
                    break
        size = np.exp(log_sizes)
        values[flat] = np.where(odd, -size, size)
        squares += float(np.sum((size * (10.0 - log_sizes + len(half) * rough) * EPS) ** 2))
    return values.reshape(half), squares
