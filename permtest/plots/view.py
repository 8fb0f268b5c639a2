"""What part of a null distribution is in view: numbers only, for whatever draws them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.result import PermutationTestResult, StructuredTestResult, ValueDistribution

#: How the axis of probabilities is divided.
Scale: TypeAlias = Literal["linear", "log"]

BARS = 64  # up to so many cells in view, each is a bar with a gap beside it
COLUMNS = 1200  # at most so many columns are drawn, about as many as there are pixels
THIN = 1 / 60  # of the width of the axes: no lonely column is thinner, so that it can be seen
VISIBLE = {"linear": 1e-4, "log": 1e-9}  # cells lower than this share of the peak are not sought
HEADROOM = 0.22  # of the height of the axes, above the highest column: labels stand there
SMALLEST = 1e-300  # where a logarithmic axis ends at the latest
BINS = 60  # about so many columns for values that are no lattice


@dataclass(frozen=True)
class View:
    """What part of a result is in view: an interval of values, and the heights of its columns.

    Parameters
    ----------
    left, right : float
        Limits of the horizontal axis.
    edges : ndarray of shape (M + 1,)
        Boundaries between columns.
    body, rejected : ndarray of shape (M,)
        Probability of the most likely cell of each column among the cells that are less extreme
        than what was observed, and among the others; NaN where there is none. Of each column at
        least one is NaN: where both kinds meet, they stand side by side.
    region : ndarray of shape (M,)
        Which columns hold values at least as extreme as what was observed.
    whole : bool
        Whether all values are whole numbers.
    """

    left: float
    right: float
    edges: NDArray[np.float64]
    body: NDArray[np.float64]
    rejected: NDArray[np.float64]
    region: NDArray[np.bool_]
    whole: bool = True

    @property
    def heights(self) -> NDArray[np.float64]:
        """All probabilities that are drawn; not empty."""
        heights = np.concatenate((self.body, self.rejected))
        drawn = heights[~np.isnan(heights)]
        return drawn if drawn.size else np.ones(1)

    @property
    def reach(self) -> float:
        """The largest absolute value in view."""
        return max(abs(self.left), abs(self.right))

    def position(self, value: float) -> float:
        """Where a value lies, from 0 (left) to 1 (right)."""
        return (value - self.left) / (self.right - self.left)


def look(
    result: PermutationTestResult, scale: Scale, limits: tuple[float, float] | None = None
) -> View:
    """Choose what is in view and gather its columns.

    Parameters
    ----------
    result : PermutationTestResult
    scale : {"linear", "log"}
    limits : tuple of two float, optional
        Left and right end of the axis. Default: all of the mass that can be seen, the observed
        value, and a margin.

    Returns
    -------
    View
    """
    if isinstance(result, StructuredTestResult):
        return _look_at_values(result, scale, limits)
    null, extreme = result.null_distribution, result.extreme
    left, right = limits or _limits(result, scale)
    first = max(0, int(np.ceil((left - null.value(0)) / null.step)))
    last = min(null.pmf.size - 1, int(np.floor((right - null.value(0)) / null.step)))
    last = max(first, last)
    cells = null.pmf[first : last + 1]
    inside = extreme[first : last + 1]
    starts = np.arange(0, cells.size, _cells_per_column(cells))
    edges = np.append(first + starts, first + cells.size) - 0.5
    view = View(
        left,
        right,
        float(null.value(0)) + float(null.step) * edges,
        _highest(np.where(inside, 0.0, cells), starts),
        _highest(np.where(inside, cells, 0.0), starts),
        np.logical_or.reduceat(inside, starts) if starts.size else inside,
    )
    return _side_by_side(view, inside[starts])


def heights_in_view(view: View, scale: Scale, headroom: float = HEADROOM) -> tuple[float, float]:
    """Limits of the axis of probabilities; a share of it above all columns remains free."""
    peak = float(view.heights.max())
    if scale == "linear":
        return 0.0, peak / (1 - headroom)
    bottom = max(min(float(view.heights.min()) / 3, peak / 30), SMALLEST)
    return bottom, peak * (peak / bottom) ** (headroom / (1 - headroom))


def marks(result: PermutationTestResult) -> tuple[float, ...]:
    """The observed sum and, for a two-sided test, its mirror image if that is another value."""
    if isinstance(result, StructuredTestResult):
        value = float(result.statistic)
        two = result.alternative == "two-sided" and value != 0
        return (value, -value) if two else (value,)
    null, observed = result.null_distribution, result.observed_sum
    mirrored = null.value(null.pmf.size - 1 - result.observed_cell)
    two = result.alternative == "two-sided" and mirrored != observed
    return (observed, mirrored) if two else (observed,)


def _cells_per_column(cells: NDArray[np.float64]) -> int:
    """Columns are about as wide as a pixel, or wider if few of them would hold anything."""
    if cells.size <= COLUMNS:
        return 1
    fine = -(-cells.size // COLUMNS)
    occupied = np.unique(np.flatnonzero(cells) // fine)
    return fine if occupied.size > BARS else ceil(cells.size * THIN)


def _side_by_side(view: View, starts_extreme: NDArray[np.bool_]) -> View:
    """Halve the columns that hold both kinds of cells: one kind to the left, one to the right."""
    mixed = np.flatnonzero(~np.isnan(view.body) & ~np.isnan(view.rejected))
    if mixed.size == 0:
        return view
    middles = (view.edges[mixed] + view.edges[mixed + 1]) / 2
    twice = np.insert(np.arange(view.body.size), mixed, mixed)
    body, rejected, region = view.body[twice], view.rejected[twice], view.region[twice]
    left = mixed + np.arange(mixed.size)
    extreme = left + ~starts_extreme[mixed]
    other = 2 * left + 1 - extreme
    body[extreme], rejected[other], region[other] = np.nan, np.nan, False
    edges = np.insert(view.edges, mixed + 1, middles)
    return View(view.left, view.right, edges, body, rejected, region)


def _limits(result: PermutationTestResult, scale: Scale) -> tuple[float, float]:
    """Ends of the axis: visible mass and marks, and a margin."""
    null = result.null_distribution
    visible = null.pmf >= null.pmf.max() * VISIBLE[scale]
    first, last = int(visible.argmax()), null.pmf.size - 1 - int(visible[::-1].argmax())
    places = [null.value(first), null.value(last), *marks(result)]
    low, high = float(min(places)), float(max(places))
    margin = max(0.06 * (high - low), 1.5 * null.step)
    return low - margin, high + margin


def _highest(cells: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The highest cell of each column, NaN where all are 0."""
    if starts.size == 0:
        return np.zeros(0)
    heights = np.maximum.reduceat(cells, starts)
    return np.where(heights > 0, heights, np.nan)


# ---- the statistic of several sums ---------------------------------------------------------------


def _look_at_values(
    result: StructuredTestResult, scale: Scale, limits: tuple[float, float] | None
) -> View:
    """Columns for the values that a statistic of several sums can have."""
    law = result.value_distribution
    left, right = limits or _limits_of_values(result, law, scale)
    inside = (law.pmf > 0) & (law.values >= left) & (law.values <= right)
    law = ValueDistribution(law.values[inside], law.pmf[inside], law.extreme[inside])
    whole = bool((law.values == np.round(law.values)).all())
    distinct = _distinct(law.values, 1e-9 * (right - left))
    if distinct.size <= BARS:
        edges = _round_values(distinct, right - left)
    elif result.rank == 1 and distinct.size <= COLUMNS:
        edges = _between(distinct)
    else:
        edges = _bins(marks(result), left, right, result.alternative)
    view = _histogram(law, left, right, edges)
    return View(left, right, view.edges, view.body, view.rejected, view.region, whole)


def _histogram(
    law: ValueDistribution, left: float, right: float, edges: NDArray[np.float64]
) -> View:
    """The mass of each column; where both kinds meet, they stand side by side."""
    size = edges.size - 1
    column = np.clip(np.searchsorted(edges, law.values, side="right") - 1, 0, size - 1)
    kinds = (~law.extreme, law.extreme)
    body, rejected = (
        np.asarray(np.bincount(column[kind], law.pmf[kind], size), dtype=np.float64)
        for kind in kinds
    )
    firsts = [np.full(size, np.inf) for _ in kinds]
    for first, kind in zip(firsts, kinds, strict=True):
        np.minimum.at(first, column[kind], law.values[kind])
    body, rejected = (np.where(heights > 0, heights, np.nan) for heights in (body, rejected))
    region = _filled(~np.isnan(body), ~np.isnan(rejected))
    view = View(left, right, edges, body, rejected, region)
    return _side_by_side(view, firsts[1] < firsts[0])


def _filled(body: NDArray[np.bool_], rejected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Extreme columns, and empty ones that have no others beside them."""
    occupied = np.flatnonzero(body | rejected)
    if occupied.size == 0:
        return rejected
    after = np.searchsorted(occupied, np.arange(body.size))
    right = rejected[occupied[np.minimum(after, occupied.size - 1)]]
    left = rejected[occupied[np.maximum(after - 1, 0)]]
    return np.where(body | rejected, rejected, left & right)


def _limits_of_values(
    result: StructuredTestResult, law: ValueDistribution, scale: Scale
) -> tuple[float, float]:
    """Ends of the axis: visible mass and marks, and a margin."""
    low, high = float(law.values.min()), float(law.values.max())
    if high > low:
        column = ((law.values - low) / (high - low) * (10 * BINS - 1)).astype(np.int64)
        mass = np.bincount(column, law.pmf)
        seen = np.flatnonzero(mass >= mass.max() * VISIBLE[scale])
        width = (high - low) / (10 * BINS)
        low, high = low + float(seen[0]) * width, low + float(seen[-1] + 1) * width
    places = [low, high, *marks(result)]
    low, high = min(places), max(places)
    margin = 0.06 * (high - low) or max(0.5, 0.5 * abs(high))
    return low - margin, high + margin


def _distinct(values: NDArray[np.float64], close: float) -> NDArray[np.float64]:
    """Sorted values; of those that differ by rounding alone, one."""
    found = np.unique(values)
    return found[np.diff(found, prepend=-np.inf) > close] if found.size else np.zeros(1)


def _round_values(values: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """Boundaries of columns with single values in their middles, and of the gaps between them."""
    half = min(float(np.diff(values).min(initial=np.inf)), reach / 10) / 2
    return np.column_stack((values - half, values + half)).ravel()


def _between(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Boundaries of columns half-way between values."""
    middles = (values[1:] + values[:-1]) / 2
    first, last = 2 * values[0] - middles[0], 2 * values[-1] - middles[-1]
    return np.concatenate(((first,), middles, (last,)))


def _bins(
    places: tuple[float, ...], left: float, right: float, alternative: str
) -> NDArray[np.float64]:
    """Boundaries of equal columns, of which some are at the marks: extreme values begin there."""
    width, mark = (right - left) / BINS, abs(places[0])
    if len(places) > 1 and mark > width / 8:
        width = 2 * mark / max(1, round(2 * mark / width))
    low = places[0] if len(places) == 1 else -mark
    high = places[0] if len(places) == 1 else mark
    before = low - width * np.arange(max(0, ceil((low - left) / width)), 0, -1)
    inner = np.linspace(low, high, 1 + round((high - low) / width)) if high > low else [low]
    if len(inner) == 1 and high > low:
        inner = [low, high]
    after = high + width * np.arange(1, 1 + max(1, ceil((right - high) / width)))
    edges = np.concatenate((before, inner, after))
    # What counts as extreme may be less so than the mark by rounding.
    inward = {"greater": np.ones(1), "less": -np.ones(1)}.get(alternative, np.sign(edges))
    return np.asarray(edges - 1e-9 * width * inward)
