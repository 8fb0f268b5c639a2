"""What part of the plane of two sums is in view: numbers only, for whatever draws them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.result import StructuredTestResult

PIXELS = 800  # at most so many cells of a plane are drawn in either direction
SPARSE = 8  # and at most so many for each point that some labelling reaches
SEEN = 1e-6  # of the peak: less likely points of a plane are not sought


@dataclass(frozen=True)
class Plane:
    """The joint law of two sums as a picture: a grid of cells, and what is marked on it.

    Parameters
    ----------
    limits : tuple of four float
        Ends of the axes: left and right of the misses, bottom and top of the hits.
    extent : tuple of four float
        Where the grid begins and ends, in the same order.
    cells : ndarray of shape (R, C)
        Probability of each cell, of the most likely one where several are drawn as one; NaN where
        there is none.
    region : ndarray of shape (R, C)
        Which cells are at least as extreme as what was observed.
    values : ndarray of shape (R, C)
        The statistic; NaN where there is no cell.
    marks : tuple of one or two pairs of float
        The observed point and, in a two-sided test, its mirror image.
    weight : int
        Hits are divided by it.
    """

    limits: tuple[float, float, float, float]
    extent: tuple[float, float, float, float]
    cells: NDArray[np.float64]
    region: NDArray[np.bool_]
    values: NDArray[np.float64]
    marks: tuple[tuple[float, float], ...]
    weight: int


def look_at_plane(
    result: StructuredTestResult,
    x: tuple[float, float] | None = None,
    y: tuple[float, float] | None = None,
) -> Plane:
    """Choose what part of the plane of two sums is in view, and gather its cells.

    Parameters
    ----------
    result : StructuredTestResult
        Of two sums and rank 2.
    x, y : tuple of two float, optional
        Limits of misses and hits. Default: all of the mass that can be seen, the observed point,
        its mirror image, and a margin.

    Returns
    -------
    Plane
        Cost: some passes over the points of the joint law.
    """
    null, weight = result.null_distribution, hits_weight(result.parts[0])[0]
    points = [null.support[:, 1].astype(np.float64), null.support[:, 0] / weight]
    points[1] = points[1].astype(np.float64)
    seen = null.pmf >= SEEN * null.pmf.max()
    places = _marks_in_plane(result, weight)
    (left, right), (bottom, top) = (
        given or _ends(axis[seen], [place[k] for place in places])
        for k, (given, axis) in enumerate(zip((x, y), points, strict=True))
    )
    inside = (points[0] >= left) & (points[0] <= right)
    inside &= (points[1] >= bottom) & (points[1] <= top)
    grid = _Grid.of(null.support[inside]) if inside.any() else None
    limits = (left, right, bottom, top)
    if grid is None:
        empty = np.full((1, 1), np.nan)
        return Plane(limits, limits, empty, np.zeros((1, 1), bool), empty, places, weight)
    cells = grid.highest(null.pmf[inside])
    region, values = grid.any(result.extreme[inside]), grid.some(result.null_values[inside])
    low_x, high_x, low_y, high_y = grid.extent
    extent = (low_x, high_x, low_y / weight, high_y / weight)
    return Plane(limits, extent, cells, region, values, places, weight)


def hits_weight(part: str) -> tuple[int, str]:
    """What the hits of a ratio are counted with, and what they are: of "2 tp", 2 and "tp"."""
    match = re.fullmatch(r"(\d+) (\w+)", part)
    return (int(match[1]), match[2]) if match else (1, part)


def _marks_in_plane(result: StructuredTestResult, weight: int) -> tuple[tuple[float, float], ...]:
    """Misses and hits as observed, and where all entries are swapped."""
    found = [result.sums]
    mirrored = result.alternative == "two-sided" and result.other_sums is not None
    if mirrored and result.other_sums != result.sums:
        found.append(result.other_sums or ())
    return tuple((float(misses), float(hits / weight)) for hits, misses in found)


def _ends(values: NDArray[np.float64], marked: list[float]) -> tuple[float, float]:
    low, high = min(float(values.min()), *marked), max(float(values.max()), *marked)
    margin = max(0.04 * (high - low), 1.0)
    return low - margin, high + margin


@dataclass(frozen=True)
class _Grid:
    """Cells of a picture, and which points of a lattice are drawn in each.

    Parameters
    ----------
    extent : tuple of four float
        Left, right, bottom and top in sums.
    shape : tuple of two int
        Rows and columns.
    rows, columns : ndarray of shape (M,)
        Of each point, the first column where a point takes several.
    width : int
        How many columns a point takes.
    merged : bool
        Whether cells may hold several points.
    """

    extent: tuple[float, float, float, float]
    shape: tuple[int, int]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    width: int
    merged: bool

    @classmethod
    def of(cls, support: NDArray[Any]) -> _Grid:
        """A grid on which points are next to each other, some in one cell if there are many."""
        lows = support.min(axis=0)
        steps = [max(1, _divisor(axis)) for axis in (support - lows).T]
        y, x = (
            ((axis - low) // step).astype(np.int64)
            for axis, low, step in zip(support.T, lows, steps, strict=True)
        )
        gap = _gap(x, y)
        rows, columns = int(y.max()) + 1, int(x.max()) + gap
        high, wide = _merged(rows, columns, SPARSE * gap * len(support) + 4000)
        left = float(lows[1]) - steps[1] * gap / 2
        bottom = float(lows[0]) - steps[0] / 2
        shape = (-(-rows // high), -(-columns // wide))
        right, top = left + shape[1] * wide * steps[1], bottom + shape[0] * high * steps[0]
        extent = (left, right, bottom, top)
        return cls(extent, shape, y // high, x // wide, -(-gap // wide), high * wide > 1)

    def some(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of some point in each cell, NaN where there is none."""
        found = np.full(self.shape[0] * self.shape[1], np.nan)
        for cells in self._places():
            found[cells] = values
        return found.reshape(self.shape)

    def highest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest value in each cell, NaN where there is none."""
        if not self.merged:
            return self.some(values)
        found = np.full(self.shape[0] * self.shape[1], -np.inf)
        for cells in self._places():
            np.maximum.at(found, cells, values)
        return np.where(np.isneginf(found), np.nan, found).reshape(self.shape)

    def any(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which cells hold a chosen point."""
        found = np.zeros(self.shape[0] * self.shape[1], dtype=bool)
        for cells in self._places():
            found[cells[chosen]] = True
        return found.reshape(self.shape)

    def _places(self) -> Iterator[NDArray[np.int64]]:
        """Numbers of the cells of all points, once for each column that a point takes."""
        first = self.rows * self.shape[1]
        for shift in range(self.width):
            yield first + np.minimum(self.columns + shift, self.shape[1] - 1)


def _divisor(values: NDArray[Any]) -> int:
    return gcd(*values.tolist()) if values.dtype == object else int(np.gcd.reduce(values))


def _gap(x: NDArray[np.int64], y: NDArray[np.int64]) -> int:
    """How far points of a row are apart; 1 where no row has two."""
    order = np.argsort(y, kind="stable")
    inner = np.diff(y[order]) == 0
    return max(1, int(np.gcd.reduce(np.diff(x[order])[inner])))


def _merged(rows: int, columns: int, most: int) -> tuple[int, int]:
    """How many rows and columns become one, so that there are no more cells than can be seen."""
    high, wide = -(-rows // PIXELS), -(-columns // PIXELS)
    while (rows // high) * (columns // wide) > most:
        if rows // high > columns // wide:
            high *= 2
        else:
            wide *= 2
    return high, wide
