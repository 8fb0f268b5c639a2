"""Null distributions: of a sum, of a statistic made of sums, sampled, of two sums."""

from __future__ import annotations

import re
from functools import partial
from math import gcd
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch, PathPatch, Rectangle, StepPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from permtest._checks import TooLarge
from permtest.plots import roles, sheet
from permtest.result import PermutationTestResult, StructuredTestResult

#: How the axis of probabilities is divided.
Scale: TypeAlias = Literal["linear", "log"]
Floats: TypeAlias = NDArray[np.floating[Any]]
Ends: TypeAlias = tuple[float, float]

BARS = 64  # up to so many values in view, each is a bar with a gap beside it
COLUMNS, BINS = 1200, 60  # at most so many columns for cells of a lattice, and for other values
THIN = 1 / 60  # of the width of the axes: no lonely bar is thinner, so that it can be seen
UNSEEN = {"linear": 1e-5, "log": 1e-10}  # the mass at either end that is left out
HEADROOM = 0.06  # of the height of the axes, above the highest column
SMALLEST = 1e-300  # where a logarithmic axis ends at the latest
CELLS = 640  # at most so many rows and columns are drawn
SPARSE = 8  # and at most so many cells for each point that some labelling reaches
SEEN = 1e-6  # of the peak: less likely points of a plane are not sought
COARSE, FINE = 8, 160  # rows and columns that lines of equal values need, and use at most
NEAR = 0.06, 0.12  # of the axes: closer to a mark, no value is written
TAILS = {"two-sided": "both tails", "greater": "right tail", "less": "left tail"}
DARK = 0.7  # how dark the region becomes: hatches must be seen on it


class View(NamedTuple):
    """The part of a null distribution that is in view, as columns."""

    left: float  # limits of the horizontal axis
    right: float
    edges: Floats  # M + 1 boundaries between columns
    body: Floats  # heights of columns less extreme than what was observed; NaN where there is none
    rejected: Floats  # heights of the others
    region: list[tuple[float, float]]  # intervals of values that are at least as extreme

    @property
    def reach(self) -> float:
        """The largest absolute value in view."""
        return max(abs(self.left), abs(self.right))


def look(
    result: PermutationTestResult, scale: Scale, limits: tuple[float, float] | None = None
) -> View:
    """What is in view between these limits, by default all that can be seen, as columns."""
    values, pmf, extreme = _law(result)
    if limits is None:  # what can be seen, the marks, and a margin
        ends = [
            x[np.searchsorted(y.cumsum(), UNSEEN[scale])]
            for x, y in ((values, pmf), (values[::-1], pmf[::-1]))
        ]
        low, high = (float(end(*ends, *marks(result))) for end in (min, max))
        margin = 0.06 * (high - low) or max(1.0, 0.5 * abs(high))
        limits = low - margin, high + margin
    left, right = limits
    middles = (values[1:] + values[:-1]) / 2
    ends, first = [-np.inf, *middles[np.diff(extreme)], np.inf], bool(extreme[0])
    region = [
        (max(low, left), min(high, right))
        for low, high in zip(ends[1 - first :: 2], ends[2 - first :: 2], strict=False)
        if low < right and high > left
    ]
    inside = (values >= left) & (values <= right)
    values, pmf, extreme = values[inside], pmf[inside], extreme[inside]
    if not values.size:
        nothing = np.array([np.nan])
        return View(left, right, np.array([left, right]), nothing, nothing, region)
    starts = _starts(result, values, extreme, right - left)
    merge = np.add if isinstance(result, StructuredTestResult) else np.maximum
    heights, kinds = merge.reduceat(pmf, starts), extreme[starts]
    if values.size <= BARS:  # bars with gaps; a lonely one is as wide as can be seen
        places, thin = values[starts], THIN * (right - left)
        gaps = np.diff(places, prepend=-np.inf, append=np.inf)
        least = float(gaps.min()) if places.size > 1 else 4 * thin
        half = np.maximum(0.4 * least, np.minimum(thin, np.minimum(gaps[:-1], gaps[1:])) / 2)
        edges, between = np.ravel((places - half, places + half), "F"), np.arange(1, places.size)
        heights, kinds = np.insert(heights, between, np.nan), np.insert(kinds, between, False)
    else:
        middles = (values[starts[1:]] + values[starts[1:] - 1]) / 2
        rim = min(values[1] - values[0], middles[0] - values[0])
        edges = np.concatenate(([values[0] - rim], middles, [values[-1] + rim]))
    body, rejected = (np.where(kind, heights, np.nan) for kind in (~kinds, kinds))
    return View(left, right, edges, body, rejected, region)


def _law(result: PermutationTestResult) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Values that are possible, ascending, their probabilities, and which are extreme."""
    if not isinstance(result, StructuredTestResult):
        null = result.null_distribution
        seen = null.pmf > 0
        return null.support[seen].astype(np.float64), null.pmf[seen], result.extreme[seen]
    every, law, extreme = result.null_values, result.null_distribution.pmf, result.extreme
    order = np.argsort(every, kind="stable")
    order = order[law[order] > 0]
    values = every[order]
    apart = np.diff(values, prepend=-np.inf) > 1e-9 * (np.ptp(values) if values.size else 0.0)
    starts = np.flatnonzero(apart)  # values closer than that differ by rounding alone
    pmf = np.add.reduceat(law[order], starts)
    return values[starts], pmf, np.logical_or.reduceat(extreme[order], starts)


def _starts(
    result: PermutationTestResult, values: Floats, extreme: NDArray[np.bool_], width: float
) -> NDArray[np.int64]:
    """Where columns begin: no column holds both kinds of values."""
    lattice = not isinstance(result, StructuredTestResult) or result.rank == 1
    if values.size <= BARS:
        apart = np.diff(values) > THIN * width / 16  # closer ones are seen as one
    elif lattice and values.size <= COLUMNS:
        apart = np.ones(values.size - 1, dtype=bool)
    else:
        step, (observed, *others) = width / (COLUMNS if lattice else BINS), marks(result)
        if others and abs(observed) > step:
            step = 2 * abs(observed) / round(2 * abs(observed) / step)  # both marks are edges
        apart = np.diff(np.floor((values - observed) / step + 1e-9)) != 0
    return np.flatnonzero(np.append(True, apart | np.diff(extreme)))


def marks(result: PermutationTestResult) -> tuple[float, ...]:
    """The observed value and, for a two-sided test, its mirror image if that is another one."""
    mirrored = result.mirrored_sum
    return (float(result.observed_sum), *([] if mirrored is None else [float(mirrored)]))


def heights_in_view(view: View, scale: Scale) -> tuple[float, float]:
    """Limits of the axis of probabilities, a little above the highest column."""
    heights = np.concatenate((view.body, view.rejected))
    drawn = heights[~np.isnan(heights)]
    peak, least = (float(drawn.max()), float(drawn.min())) if drawn.size else (1.0, 1.0)
    if scale == "linear":
        return 0.0, peak * (1 + HEADROOM)
    bottom = max(min(least / 3, peak / 30), SMALLEST)
    return bottom, peak * (peak / bottom) ** HEADROOM


def plot_null(
    result: PermutationTestResult, *, ax: Axes | None = None, scale: Scale = "linear"
) -> Axes:
    """Draw the null distribution, the observed value, and all values at least as extreme.

    This is Fig. 2 of Zmigrod, Vieira and Cotterell (2022). For F1 and its relatives it has the
    values of the statistic. Neighbouring values share a column where there are more than pixels; it
    is as high as the likeliest of them, or as all together where values form no lattice.

    The gids are "body", "rejected", "region", "observed" and "mirrored".

    Parameters
    ----------
    result : PermutationTestResult
        Of `exact_perm_test` or `monte_carlo`.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Limits that were set on it beforehand are kept.
    scale : {"linear", "log"}, default "linear"
        How the axis of probabilities is divided. "log" shows how thin the tails are.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import exact_perm_test
    >>> from permtest.plots import plot_null
    >>> result = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> plot_null(result, ax=Figure().subplots()).get_title(loc="left")
    'p = 0.125 (both tails)'
    """
    if scale not in get_args(Scale):
        raise ValueError(f"scale={scale!r} is not known; choose 'linear' or 'log'")
    with sheet.canvas(ax) as ax:
        view = look(result, scale, None if ax.get_autoscalex_on() else ax.get_xlim())
        heights = heights_in_view(view, scale) if ax.get_autoscaley_on() else ax.get_ylim()
        ax.set_yscale(scale)
        ax.set(xlim=(view.left, view.right), ylim=heights)
        for low, high in view.region:  # thin tails are seen by a tint
            # `axvspan` makes a polygon of it in matplotlib 3.8, which explorers could not move.
            tint = Rectangle((low, 0.0), high - low, 1.0, transform=ax.get_xaxis_transform())
            tint.set(linewidth=0, color=roles.TAIL.rgba(0.13), gid="region", zorder=0)
            ax.add_patch(tint)
        parts = {"body": view.body, "rejected": view.rejected}
        shown = draw_law(ax, result, parts, view.edges, SMALLEST if scale == "log" else 0.0)
        rules = {"observed": roles.OBSERVED, "mirrored": roles.MIRRORED}
        for value, (gid, rule) in zip(marks(result), rules.items(), strict=False):
            label = f"{gid} {sheet.signed(value, view.reach)}"
            shown.append(ax.axvline(value, gid=gid, label=label, **rule.line()))
        written = partial(sheet.number, reach=view.reach)
        sheet.ticks(ax.xaxis, min(8, sheet.letters(ax) // 7), written)
        if scale == "log":
            sheet.decades(ax.yaxis)
        else:
            sheet.ticks(ax.yaxis, 5)
            ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.4g}"))
        ax.set_ylabel("probability" if result.n_samples is None else "share of the samples")
        sheet.literal(ax.xaxis.label, name_of_sum(result), ax)
        where = "the hatched values" if _has_h(result) else TAILS[result.alternative]
        where = "every labelling" if result.pvalue == 1 else where
        sheet.key(ax, shown, f"{sheet.p_text(result)} ({where})")
    return ax


def draw_columns(
    ax: Axes, heights: Floats, edges: Floats, bottom: float, role: roles.Look, **more: Any
) -> StepPatch:
    """Columns from `bottom` up as one artist, however many there are; limits are not touched."""
    look: dict[str, Any] = role.area(ax) | {"fill": True, "linewidth": 0} | more
    artist = StepPatch(heights, edges, baseline=bottom, **look)
    ax.add_artist(artist)
    return artist


def draw_law(
    ax: Axes, result: PermutationTestResult, parts: dict[str, Floats], edges: Floats, bottom: float
) -> list[Any]:
    """Columns of a law and of its extreme part, by gid; what is in the key."""
    sampled = result.n_samples is not None
    name = f"{result.n_samples:,} random labellings" if sampled else "null distribution"
    looks = (roles.NULL, name), (roles.TAIL, f"at least as extreme: {sheet.p_text(result)}")
    return [
        draw_columns(ax, heights, edges, bottom, role, gid=gid, label=label)
        for (gid, heights), (role, label) in zip(parts.items(), looks, strict=True)
    ]


def name_of_sum(result: PermutationTestResult) -> str:
    """What the horizontal axis has: whose sum or difference, in which unit, over how many items."""
    items = f"{result.n:,} pair{'s' * (result.n != 1)}"
    lead = "{} minus {}".format(*result.names)
    if isinstance(result, StructuredTestResult):
        if _has_h(result):
            return f"{result.metric} of the sums over {items}"
        items = f"{result.n:,} clusters" if result.n_entries is not None else items
        return f"{result.unit}: {lead}, over {items}"
    if _has_h(result):
        return f"sum of g over {items} ({result.unit})"
    return f"{lead} ({result.unit}, over {items})"


def _has_h(result: PermutationTestResult) -> bool:
    """Whether a function of the caller says what is extreme, which need not be a tail."""
    structured = isinstance(result, StructuredTestResult)
    return (result.scores if structured else result.totals) is None


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
            f"plot_plane is for a statistic of two sums, but {result.metric} {why}; call plot_null"
        )
    with sheet.canvas(ax) as ax:
        x = None if ax.get_autoscalex_on() else ax.get_xlim()
        y = None if ax.get_autoscaley_on() else ax.get_ylim()
        try:
            plane = look_at_plane(result, x, y)
        except TooLarge as error:
            remedy = "plot_null can draw samples of monte_carlo"
            raise TooLarge(error.problem, remedy) from None
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
