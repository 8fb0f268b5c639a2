"""Several sums at once: their joint null law, reduced to the smallest lattice that holds it.

Every entry adds one vector if it stays and another if it is swapped, so that the vector of sums is
the sum over n of stay_n + B_n (swap_n - stay_n), B_n a fair coin. Sums that always move together
are one sum: what varies is a point T of the lattice that the differences generate, whose dimension
is their rank (two for F1, of the four sums in Eq. 16). Equal differences, up to sign, are counted
once. The lattice can be laid out as a line (Kronecker's substitution), and then whatever works for
one sum works for many.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, exact_dot, exact_sum, largest
from permtest.null.grouping import TwoPointSum, add_counts, count_values, from_widths

#: No sum of products of steps and counts below this wraps around.
ROOM = 2**62
#: Of more sums no box fits in any memory; they can be sampled all the same.
MOST_REDUCED = 8


@dataclass(frozen=True, eq=False)
class LatticeSum:
    """X = origin + T @ basis with T = sum over k of steps[k] * (moves among counts[k] entries).

    Of more than `MOST_REDUCED` sums, which can only be sampled, the basis is left as it is.

    Parameters
    ----------
    n : int
        Number of entries, those that cannot move included.
    origin : tuple of m int
        The sums X where no entry moves.
    basis : ndarray of shape (r, m)
        Independent vectors; their integer combinations are what the moves can add up to.
    steps : ndarray of shape (K, r)
        Distinct moves in coordinates of the lattice, no two of them opposite.
    counts : ndarray of shape (K,)
        How many entries have each.
    """

    n: int
    origin: tuple[int, ...]
    basis: IntArray
    steps: IntArray
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, stay: IntArray, swap: IntArray) -> LatticeSum:
        """Group local effects, find the lattice, and coordinates in which it is small.

        Parameters
        ----------
        stay, swap : ndarray of shape (N, m)
            Integers whose differences do not overflow.

        Returns
        -------
        LatticeSum
            Cost: a few passes over the input, and a sort where the differences are large.
        """
        change = swap - stay
        moves, counts = _group(change)
        # What would be gained if every entry that was turned did move.
        turned = _column_sums(change) - counts @ moves.astype(object)
        origin = _column_sums(stay) + turned // 2
        if moves.shape[1] <= MOST_REDUCED:
            basis = _lattice_basis(moves)
            basis, steps = _reduce(basis, _coordinates(moves, basis), counts)
        else:
            varying = np.flatnonzero((moves != 0).any(axis=0))
            basis, steps = (
                np.eye(moves.shape[1], dtype=np.int64)[varying],
                _small(moves[:, varying]),
            )
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
        strides = [1]
        for extent in self.extents[:-1]:
            strides.append(strides[-1] * (extent + 1))
        return strides[: self.rank]

    @cached_property
    def line(self) -> TwoPointSum:
        """The same law on a line: cells of the box around T, one row after the other."""
        widths = self._on_line()
        distinct, counts = add_counts(np.abs(widths), self.counts)
        return from_widths(self.n, distinct, counts, self._start)

    def sums(self, cells: NDArray[Any]) -> IntArray:
        """X in the given cells of `line`.

        Parameters
        ----------
        cells : ndarray of shape (M,)

        Returns
        -------
        ndarray of shape (M, m)
            int64, or Python integers where those are too small.
        """
        return self.at(self.coordinates(cells))

    def coordinates(self, cells: NDArray[Any]) -> IntArray:
        """T in the given cells of `line`, of shape (M, r)."""
        wide = self.line.top * self.line.unit >= ROOM
        place = self._start + self.line.unit * (cells.astype(object) if wide else cells)
        digits = [
            _small(place // stride % (extent + 1) + low)
            for stride, extent, low in zip(self.strides, self.extents, self.lows, strict=True)
        ]
        return np.stack(digits, axis=1) if digits else np.zeros((len(cells), 0), dtype=np.int64)

    def at(self, coordinates: IntArray) -> IntArray:
        """X at points T, of shape (M, m)."""
        if coordinates.dtype == object or self._largest >= ROOM:
            coordinates = coordinates.astype(object)
        elif self._largest < 2**53:  # exact as floats, whose matrices are multiplied quickly
            coordinates = coordinates.astype(np.float64)
        moved = coordinates @ self.basis.astype(coordinates.dtype)
        if moved.dtype == np.float64:
            moved = np.rint(moved).astype(np.int64)
        return np.asarray(moved + np.array(self.origin, dtype=moved.dtype))

    def cell(self, sums: list[int]) -> int | None:
        """The cell of `line` at which X is `sums`; None if no cell is there."""
        found = self.locate(sums)
        if found is None:
            return None
        shifts = [t - low for t, low in zip(found, self.lows, strict=True)]
        if not all(0 <= s <= e for s, e in zip(shifts, self.extents, strict=True)):
            return None
        place = sum(s * stride for s, stride in zip(shifts, self.strides, strict=True))
        cell, rest = divmod(place - self._start, self.line.unit)
        return cell if rest == 0 and 0 <= cell <= self.line.top else None

    def locate(self, sums: list[int]) -> list[int] | None:
        """The point T of the lattice at which X is `sums`; None if there is none."""
        rest = [x - o for x, o in zip(sums, self.origin, strict=True)]
        if self.rank == 0:
            return None if any(rest) else []
        basis = self.basis.astype(object)
        target = basis @ np.array(rest, dtype=object)
        found = _solve((basis @ basis.T).tolist(), target.tolist())
        if found is None or (np.array(found, dtype=object) @ self.basis).tolist() != rest:
            return None
        return found

    @cached_property
    def _largest(self) -> int:
        """A bound on every sum, and on what it is added up from."""
        reach = [max(abs(low), low + e) for low, e in zip(self.lows, self.extents, strict=True)]
        most = exact_dot(np.array(reach, dtype=object), np.abs(self.basis).astype(object).sum(1))
        return most + max(map(abs, self.origin), default=0)

    @cached_property
    def _start(self) -> int:
        """The lowest cell of the box that some labelling reaches, as laid out on the line."""
        corner = sum(low * s for low, s in zip(self.lows, self.strides, strict=True))
        return exact_dot(np.minimum(self._on_line(), 0), self.counts) - corner

    def _on_line(self) -> IntArray:
        wide = (self.strides[-1] * (self.extents[-1] + 1) if self.strides else 1) >= ROOM
        steps = self.steps.astype(object) if wide else self.steps
        strides = np.array(self.strides, dtype=steps.dtype)
        return np.asarray(steps @ strides)


def _group(moves: IntArray) -> tuple[IntArray, NDArray[np.int64]]:
    """Distinct moves up to sign, without zero, and how often each occurs."""
    distinct, counts = _distinct_rows(moves)
    leading = np.zeros(len(distinct), dtype=distinct.dtype)
    for column in distinct.T[::-1]:
        leading = np.where(column != 0, column, leading)
    signs = np.sign(leading).astype(distinct.dtype)
    seen = Counter[tuple[int, ...]]()
    for row, count in zip((distinct * signs[:, None]).tolist(), counts.tolist(), strict=True):
        seen[tuple(row)] += count
    seen.pop((0,) * moves.shape[1], None)
    rows = np.array(list(seen), dtype=moves.dtype).reshape(len(seen), moves.shape[1])
    return rows, np.array(list(seen.values()), dtype=np.int64)


def _distinct_rows(rows: IntArray) -> tuple[IntArray, NDArray[np.int64]]:
    """Distinct rows in lexicographic order, and how often each occurs."""
    if len(rows) == 0 or rows.shape[1] == 0:
        return rows[:0], np.zeros(0, dtype=np.int64)
    lows = [int(c.min()) for c in rows.T]
    sizes = [int(c.max()) - low + 1 for c, low in zip(rows.T, lows, strict=True)]
    total = 1
    for size in sizes:
        total *= size
    if total < ROOM:  # each row is one integer
        keys = np.zeros(len(rows), dtype=np.int64)
        for column, low, size in zip(rows.T, lows, sizes, strict=True):
            keys = keys * size + (column - low).astype(np.int64)
        distinct, counts = count_values(keys)
        columns: list[Any] = []
        for low, size in zip(lows[::-1], sizes[::-1], strict=True):
            columns.append((distinct % size).astype(rows.dtype) + low)
            distinct = distinct // size
        return np.stack(columns[::-1], axis=1).astype(rows.dtype), counts
    seen = sorted(Counter(map(tuple, rows.tolist())).items())
    table = np.array([row for row, _ in seen], dtype=rows.dtype)
    return table, np.array([count for _, count in seen], dtype=np.int64)


def _lattice_basis(moves: IntArray) -> IntArray:
    """Independent rows, in echelon form, with the same integer combinations as `moves`."""
    pivots: dict[int, NDArray[Any]] = {}
    for row in moves.astype(object):
        for j in range(row.size):
            if row[j] == 0:
                continue
            if j not in pivots:
                pivots[j] = row
                break
            pivots[j], row = _combine(pivots[j], row, j)
    places = sorted(pivots)
    for number, j in enumerate(places):
        for above in places[:number]:  # small remainders keep coordinates small
            pivots[above] = pivots[above] - (pivots[above][j] // pivots[j][j]) * pivots[j]
    rows = [pivots[j] for j in places]
    return np.array(rows, dtype=object).reshape(len(rows), moves.shape[1])


def _combine(a: NDArray[Any], b: NDArray[Any], j: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two combinations of a and b that generate the same, the second with 0 in place j."""
    while b[j] != 0:
        a, b = b, a - (a[j] // b[j]) * b
    return a, b


def _coordinates(moves: IntArray, basis: IntArray) -> IntArray:
    """The moves as integer combinations of a basis in echelon form."""
    rest, found = moves.astype(object), []
    for row in basis:
        j = int(np.flatnonzero(row)[0])
        times = rest[:, j] // row[j]
        rest = rest - times[:, None] * row
        found.append(times)
    return np.stack(found, axis=1) if found else np.zeros((len(moves), 0), dtype=np.int64)


def _reduce(basis: IntArray, steps: IntArray, counts: NDArray[np.int64]) -> tuple[Any, Any]:
    """Another basis of the same lattice, in which the box around T is small.

    Taking a multiple of one coordinate off another one keeps the lattice. First what makes the
    variance of a coordinate smallest, as Gauss reduces a basis of two vectors; then what makes its
    extent shortest.
    """
    basis, steps, rank = basis.copy(), steps.astype(object), steps.shape[1]
    if rank < 2:
        return _small(basis), _small(steps)
    weights, improved = counts.astype(object), True
    while improved:
        improved = False
        for i, j in permutations(range(rank), 2):
            weighted = weights * steps[:, j]
            times = _nearest(int(weighted @ steps[:, i]), int(weighted @ steps[:, j]))
            if times:
                _shear(basis, steps, i, j, times)
                improved = True
    steps, improved = _small(steps), True
    weights = counts.astype(steps.dtype)
    while improved:
        improved = False
        for i, j in permutations(range(rank), 2):
            for times in _median_ratio(steps[:, i], steps[:, j], weights):
                shorter = np.abs(steps[:, i] - times * steps[:, j]) @ weights
                if shorter < np.abs(steps[:, i]) @ weights:
                    _shear(basis, steps, i, j, times)
                    improved = True
    return _small(basis), _small(steps)


def _median_ratio(a: IntArray, b: IntArray, weights: IntArray) -> tuple[int, int]:
    """Whole numbers next to the k at which the sum of weights * |a - k b| is smallest."""
    some = np.flatnonzero(b)
    if some.size == 0:
        return 0, 0
    ratios = a[some].astype(np.float64) / b[some].astype(np.float64)
    order = np.argsort(ratios, kind="stable")
    mass = np.cumsum((np.abs(b[some]) * weights[some]).astype(np.float64)[order])
    middle = float(ratios[order[np.searchsorted(mass, mass[-1] / 2)]])
    return floor(middle), ceil(middle)


def _shear(basis: IntArray, steps: IntArray, i: int, j: int, times: int) -> None:
    """Take a multiple of coordinate j off coordinate i."""
    steps[:, i] = steps[:, i] - times * steps[:, j]
    basis[j] = basis[j] + times * basis[i]


def _nearest(above: int, below: int) -> int:
    """The whole number nearest to a fraction, 0 for a half."""
    size = (2 * abs(above) + below - 1) // (2 * below)
    return size if above > 0 else -size


def _small(values: IntArray) -> IntArray:
    """The same integers as int64 where that leaves room for sums of them."""
    return values.astype(object if largest(values) >= 2**40 else np.int64)


def _column_sums(rows: IntArray) -> NDArray[Any]:
    return np.array([exact_sum(column) for column in rows.T], dtype=object)


def _solve(matrix: list[list[int]], target: list[int]) -> list[int] | None:
    """The integer solution of a regular system of equations, if it has one (Bareiss 1968)."""
    size = len(target)
    rows = [[*row, t] for row, t in zip(matrix, target, strict=True)]
    last = 1
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(size):
            if i != k:
                rows[i] = [
                    (rows[k][k] * x - rows[i][k] * y) // last
                    for x, y in zip(rows[i], rows[k], strict=True)
                ]
        last = rows[k][k]
    found = [divmod(row[-1], row[k]) for k, row in enumerate(rows)]
    return [q for q, _ in found] if not any(r for _, r in found) else None
