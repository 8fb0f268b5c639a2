"""The plane of two sums, such as hits and misses, and the staircase beyond which p lies."""

from __future__ import annotations

import re
from math import gcd
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from permtest.plots import roles, sheet
from permtest.result import StructuredTestResult

Floats: TypeAlias = NDArray[np.floating[Any]]
Ends: TypeAlias = tuple[float, float]

CELLS = 640  # at most so many rows and columns are drawn
SPARSE = 8  # and at most so many cells for each point that some labelling reaches
SEEN = 1e-6  # of the peak: less likely points of a plane are not sought
COARSE, FINE = 8, 160  # rows and columns that lines of equal values need, and use at most
NEAR = 0.06, 0.12  # of the axes: closer to a mark, no value is written
DARK = 0.7  # how dark the region becomes: hatches must be seen on it


class Plane(NamedTuple):
    """The joint law of two sums as a picture: R x C cells, and what is marked on them."""

    limits: tuple[Ends, Ends]  # of the axes, of misses and of hits
    x: Floats  # C + 1 boundaries between columns
    y: Floats  # R + 1 boundaries between rows
    cells: Floats  # probability of the likeliest point of each cell; NaN where there is none
    region: NDArray[np.bool_]  # which cells hold a point as extreme as what was observed
    values: Floats  # the statistic of some point; NaN where there is none
    marks: list[Ends]  # the observed point and, in a two-sided test, its mirror image


def hits_weight(part: str) -> tuple[int, str]:
    """What the hits of a ratio are counted with, and what they are: of "2 tp", 2 and "tp"."""
    match = re.fullmatch(r"(\d+) (\w+)", part)
    return (int(match[1]), match[2]) if match else (1, part)


def look_at_plane(
    result: StructuredTestResult, x: Ends | None = None, y: Ends | None = None
) -> Plane:
    """What is in view between limits of misses and hits, by default all that can be seen."""
    null, weight = result.null_distribution, hits_weight(result.parts[0])[0]
    both = [result.sums]
    if result.alternative == "two-sided" and result.other_sums not in (None, result.sums):
        both.append(result.other_sums or ())
    marks = [(float(misses), float(hits / weight)) for hits, misses in both]
    points = null.support[:, ::-1]
    seen = null.pmf >= SEEN * null.pmf.max()
    limits, inside = [], np.ones(len(points), bool)
    for k, given in enumerate((x, y)):
        axis = (points[:, k] / (1, weight)[k]).astype(np.float64)
        places = [*axis[seen], *(mark[k] for mark in marks)] if given is None else given
        low, high = float(min(places)), float(max(places))
        margin = max(0.04 * (high - low), 1.0) if given is None else 0.0
        limits.append((low - margin, high + margin))
        inside &= (axis >= limits[k][0]) & (axis <= limits[k][1])
    (columns, x_edges), (rows, y_edges) = _grid(points[inside])
    shape = (len(y_edges) - 1, len(x_edges) - 1)
    cells, values = np.full(shape, -np.inf), np.full(shape, np.nan)
    region = np.zeros(shape, dtype=bool)
    np.maximum.at(cells, (rows, columns), null.pmf[inside])
    cells[np.isneginf(cells)] = np.nan
    values[rows, columns] = result.null_values[inside]
    extreme = result.extreme[inside]
    region[rows[extreme], columns[extreme]] = True
    ends = (limits[0], limits[1])
    return Plane(ends, x_edges, y_edges / weight, cells, region, values, marks)


def _grid(points: NDArray[Any]) -> list[tuple[NDArray[np.int64], Floats]]:
    """For x and y: the cell of each point, and the boundaries of cells, none of them too small."""
    if not len(points):
        return [(np.zeros(0, np.int64), np.array([0.0, 1.0]))] * 2
    lows = points.min(axis=0)
    steps = [gcd(*map(int, np.unique(axis))) or 1 for axis in (points - lows).T]
    x, y = (((points - lows)[:, k] // steps[k]).astype(np.int64) for k in (0, 1))
    order = np.lexsort((x, y))
    within = np.diff(x[order])[np.diff(y[order]) == 0]
    sizes = [max(1, int(np.gcd.reduce(within))), 1]  # points of a row may be several steps apart
    while True:
        shape = [int(axis.max()) // size + 1 for axis, size in zip((x, y), sizes, strict=True)]
        if max(shape) <= CELLS and shape[0] * shape[1] <= SPARSE * len(points) + 4000:
            break
        sizes[shape[1] > shape[0]] *= 2
    return [
        (axis // size, float(low) + step * (size * np.arange(n + 1) - 0.5))
        for axis, size, low, step, n in zip((x, y), sizes, lows, steps, shape, strict=True)
    ]


def plot_plane(result: StructuredTestResult, *, ax: Axes | None = None) -> Axes:
    """Draw the joint null law of two sums, and the staircase beyond which p lies.

    Every cell is a pair of sums that the first system may have, the darker the likelier (the shade
    goes with the square root of the probability). Hatched cells are at least as extreme as what was
    observed: p is their probability. Thin lines have the same value of the statistic everywhere.

    The gids are "cells", "region", "staircase", "levels", "observed" and "mirrored".

    Parameters
    ----------
    result : StructuredTestResult
        Of a statistic of two sums that vary independently, as F1, precision and Jaccard are.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Limits that were set on it beforehand are kept.
    """
    if not isinstance(result, StructuredTestResult):
        raise ValueError("plot_plane is for a statistic of two sums; call plot_null for one sum")
    if len(result.parts) != 2 or result.rank != 2:
        why = f"has {len(result.parts)}"
        if len(result.parts) == 2:
            lie = "move together on a line" if result.rank else "are the same in all labellings"
            why = f"has no plane, as {' and '.join(result.parts)} {lie}"
        raise ValueError(
            f"plot_plane is for a statistic of two sums, but {result.metric} {why}; "
            "call plot_values"
        )
    with sheet.canvas(ax) as ax:
        x = None if ax.get_autoscalex_on() else ax.get_xlim()
        y = None if ax.get_autoscaley_on() else ax.get_ylim()
        try:
            plane = look_at_plane(result, x, y)
        except MemoryError as error:
            why = str(error).split(";")[0]
            raise MemoryError(
                f"{why}; samples of monte_carlo can be drawn by plot_values"
            ) from None
        handles = _draw_plane(ax, plane)
        ax.set(xlim=plane.limits[0], ylim=plane.limits[1])
        parts = (result.parts[1], hits_weight(result.parts[0])[1])
        whose = "" if result.other_sums is None else f" of {result.names[0]}"
        for axis, part in zip((ax.xaxis, ax.yaxis), parts, strict=True):
            sheet.counts(axis)
            sheet.literal(axis.label, f"{sheet.SUMS.get(part, part)}{whose}", 36)
        two = result.alternative == "two-sided"
        regions = "both hatched regions" if two else "the hatched region"
        sheet.key(ax, handles, f"{sheet.p_text(result)} ({regions})")
    return ax


def _draw_plane(ax: Axes, plane: Plane) -> list[Any]:
    """The cells, the region and its edge, lines of equal values and marks; what is in the key."""
    dark = to_rgba(roles.ink(), 0.7)  # enough for hatches on the likeliest cells of the region
    extent = (*plane.x[[0, -1]], *plane.y[[0, -1]])
    look: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
    ax.imshow(shades(plane), extent=extent, zorder=0.5, gid="cells", **look)
    hatched: dict[str, Any] = {"hatch": roles.TAIL.hatch, "edgecolor": dark, "linewidth": 0}
    ax.add_artist(PathPatch(outline(plane), facecolor="none", gid="region", **hatched))
    _draw_levels(ax, plane)
    edges = LineCollection(list(staircase(plane)), colors=roles.ink(), linewidths=1.6)
    edges.set(gid="staircase", capstyle="round")
    ax.add_collection(edges, autolim=False)
    found: list[Any] = [
        Patch(label="null distribution", **roles.NULL.area(ax)),
        Patch(label="at least as extreme", facecolor=roles.TAIL.rgba(DARK / 2), **hatched),
    ]
    white, ink = ax.get_facecolor(), roles.ink()
    looks = [("observed", "o", ink, white), ("mirrored", "D", white, ink)]
    for place, (gid, marker, face, edge) in zip(plane.marks, looks, strict=False):
        look = {"marker": marker, "markerfacecolor": face, "markeredgecolor": edge, "zorder": 4}
        look |= {"markersize": 10, "markeredgewidth": 1.6, "linestyle": "none"}
        found += ax.plot(*place, gid=gid, label=gid, **look)
    return found


def shades(plane: Plane) -> NDArray[np.uint8]:
    """Colours of the cells, from light to dark as probability goes from 0 to its peak."""
    known = ~np.isnan(plane.cells)
    cells = np.where(known, plane.cells, 0.0)
    depth = np.round(255 * np.sqrt(cells / (cells.max() or 1.0))).astype(np.uint8)
    palette = [
        1 - np.linspace(light, dark, 256)[:, None] * (1 - np.array(role.rgba()))
        for role, light, dark in ((roles.NULL, 0.08, 1.0), (roles.TAIL, 0.12, DARK))
    ]
    found = np.round(255 * np.array(palette)).astype(np.uint8)[plane.region.astype(int), depth]
    found[..., 3] = 255 * known
    return np.asarray(found)


def outline(plane: Plane) -> Outline:
    """The region as rectangles, one for each run of cells in a row."""
    turns = np.diff(np.pad(plane.region, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, first = np.nonzero(turns == 1)
    left, right = plane.x[first], plane.x[np.nonzero(turns == -1)[1]]
    low, high = plane.y[rows], plane.y[rows + 1]
    corners = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    points = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1).reshape(-1, 2)
    codes = [Outline.MOVETO, *[Outline.LINETO] * 3, Outline.CLOSEPOLY] * rows.size
    return Outline(points, codes or None)


def staircase(plane: Plane) -> Floats:
    """Sides of cells between the region and the other cells, as pairs of points."""
    x, y, known = plane.x, plane.y, ~np.isnan(plane.cells)
    inner, other = plane.region & known, ~plane.region & known
    r, c = np.nonzero((inner[:, 1:] & other[:, :-1]) | (other[:, 1:] & inner[:, :-1]))
    upright = np.stack((x[c + 1], y[r], x[c + 1], y[r + 1]), axis=1)
    r, c = np.nonzero((inner[1:] & other[:-1]) | (other[1:] & inner[:-1]))
    level = np.stack((x[c], y[r + 1], x[c + 1], y[r + 1]), axis=1)
    return np.asarray(np.concatenate((upright, level)).reshape(-1, 2, 2))


def _draw_levels(ax: Axes, plane: Plane) -> None:
    """Lines of equal values of the statistic, where there are cells enough to see them."""
    rows, columns = (-(-n // FINE) for n in plane.values.shape)
    values = np.ma.masked_invalid(plane.values[::rows, ::columns])
    if min(values.shape) < COARSE or values.count() < 0.3 * values.size or np.ptp(values) == 0:
        return
    x, y = ((edges[1:] + edges[:-1]) / 2 for edges in (plane.x, plane.y))
    levels = MaxNLocator(7, steps=sheet.NICE).tick_values(float(values.min()), float(values.max()))
    thin: dict[str, Any] = {"linewidths": 0.7, "linestyles": "dotted", "alpha": 0.7}
    drawn = ax.contour(x[::columns], y[::rows], values, levels=levels, colors=roles.ink(), **thin)
    drawn.set_gid("levels")
    size = sheet.SMALL * sheet.font()
    written = ax.clabel(drawn, fontsize=size, fmt=lambda x: sheet.digits(x, "+.4g") if x else "0")
    spans = [high - low for low, high in plane.limits]
    for label in written:
        label.set(path_effects=roles.halo(ax), clip_on=True)
        place = label.get_position()
        for mark in plane.marks:  # a mark would hide the sign
            far = np.abs(np.subtract(place, mark)) / spans > NEAR
            label.set_visible(label.get_visible() and bool(far.any()))
