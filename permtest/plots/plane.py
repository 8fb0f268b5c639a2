"""The plane of two sums, such as hits and misses, and the staircase beyond which p lies."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from math import ceil
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path as Outline
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from permtest.plots import roles
from permtest.plots.fitting import fit, fits, in_points, room_above, size_of
from permtest.plots.plane_view import Plane, hits_weight, look_at_plane
from permtest.plots.sheet import NICE, new_axes, style
from permtest.plots.words import SUMS, digits, p_text
from permtest.result import StructuredTestResult

MIDDLE = 0.7  # how dark the region of a plane becomes: hatches must be seen on it
COARSE, FINE = 8, 160  # of rows and columns of a plane: lines of equal values need so many at least


def plot_plane(result: StructuredTestResult, *, ax: Axes | None = None) -> Axes:
    """Draw the joint null law of two sums, and the staircase beyond which p lies.

    Parameters
    ----------
    result : StructuredTestResult
        Of a statistic of two sums that vary independently, as F1, precision and Jaccard are.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Limits that were set on it beforehand are
        kept. Default: a new figure in the style of the project.

    Returns
    -------
    matplotlib.axes.Axes
        Its artists carry the gids "cells", "region", "staircase", "levels", "observed" and
        "mirrored".

    Raises
    ------
    ValueError
        If there are not two sums, or if they do not vary independently; the message says which
        picture there is instead.
    MemoryError
        If the joint law of the sums does not fit.

    Notes
    -----
    Every cell is a pair of sums that the first system may have: misses to the right, hits upwards.
    It is the darker the more likely it is; the shade goes with the square root of the probability,
    so that thin parts can be seen. Hatched cells are at least as extreme as what was observed, and
    p is their probability; where p was sampled, all are cells that were drawn. Where they meet the
    others, a line follows the edges of the cells: the staircase. Thin lines have the same value of
    the statistic everywhere. Cost: that of the joint law, some passes over its points, and up to
    640,000 cells to be drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import exact_perm_test
    >>> from permtest.plots import plot_plane
    >>> u, v = [[3, 1, 0], [2, 0, 1]], [[2, 2, 1], [2, 1, 1]]      # tp, fp, fn of two sentences
    >>> ax = plot_plane(exact_perm_test(u, v, statistic="f1"), ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('false positives and negatives of u', 'true positives of u')
    """
    _check_plane(result)
    with style() if ax is None else nullcontext():
        ax = new_axes() if ax is None else ax
        plane = _plane_in_view(result, ax)
        ax.set_xlim(plane.limits[:2])
        ax.set_ylim(plane.limits[2:])
        _draw_plane(ax, plane)
        handles = [*_keys_of_plane(ax), *_mark_points(ax, plane)]
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(6, steps=NICE, integer=True, min_n_ticks=1))
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        _name_sums(ax, result)
        two = result.alternative == "two-sided"
        _entitle(ax, result, "both hatched regions" if two else "the hatched region")
        _add_legend(ax, handles)
    return ax


def _check_plane(result: StructuredTestResult) -> None:
    if not isinstance(result, StructuredTestResult):
        raise ValueError("plot_plane is for a statistic of two sums; call plot_null for one sum")
    if len(result.parts) != 2:
        raise ValueError(
            f"plot_plane is for a statistic of two sums, but {result.metric} has "
            f"{len(result.parts)}; call plot_values"
        )
    if result.rank != 2:
        lie = "move together on a line" if result.rank else "are the same in all labellings"
        raise ValueError(
            f"{result.parts[0]} and {result.parts[1]} {lie}, so there is no plane; call plot_values"
        )


def _plane_in_view(result: StructuredTestResult, ax: Axes) -> Plane:
    """With the limits of the axes, if they were set."""
    x = None if ax.get_autoscalex_on() else ax.get_xlim()
    y = None if ax.get_autoscaley_on() else ax.get_ylim()
    try:
        return look_at_plane(result, x, y)
    except MemoryError as error:
        size = str(error).split(";")[0]
        raise MemoryError(f"{size}; samples of monte_carlo can be drawn by plot_values") from None


def _draw_plane(ax: Axes, plane: Plane) -> None:
    """The cells, the region and its edge, and lines of equal values."""
    image = ax.imshow(
        _shades(plane),
        extent=plane.extent,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        zorder=0.5,
    )
    image.set_gid("cells")
    ax.set_xlim(plane.limits[:2])
    ax.set_ylim(plane.limits[2:])
    outline = _outline(plane)
    lines: dict[str, Any] = {"facecolor": "none", "edgecolor": _hatch_colour(), "linewidth": 0}
    ax.add_artist(PathPatch(outline, hatch=roles.TAIL.hatch, gid="region", **lines))
    _draw_levels(ax, plane)
    edges = LineCollection(list(_staircase(plane)), colors=roles.ink(), linewidths=1.6)
    edges.set_capstyle("round")
    edges.set_gid("staircase")
    ax.add_collection(edges, autolim=False)


def _shades(plane: Plane) -> NDArray[np.uint8]:
    """Colours of the cells, from light to dark as probability goes from 0 to its peak."""
    known = ~np.isnan(plane.cells)
    cells = np.where(known, plane.cells, 0.0)
    depth = np.round(255 * np.sqrt(cells / (cells.max() or 1.0))).astype(np.uint8)
    palette = np.array([_palette(roles.NULL, 0.08, 1.0), _palette(roles.TAIL, 0.12, MIDDLE)])
    shades = palette[plane.region.astype(np.intp), depth]
    shades[..., 3] = 255 * known
    return np.asarray(shades)


def _palette(role: roles.Look, light: float, dark: float) -> NDArray[np.uint8]:
    """256 shades of a colour, from a light one to a dark one."""
    colour = np.array(role.rgba())
    shades = 1 - np.linspace(light, dark, 256)[:, None] * (1 - colour)
    return np.asarray(np.round(255 * shades), dtype=np.uint8)


def _edges_of(plane: Plane) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boundaries between the columns and between the rows of the grid."""
    left, right, bottom, top = plane.extent
    rows, columns = plane.cells.shape
    return np.linspace(left, right, columns + 1), np.linspace(bottom, top, rows + 1)


def _outline(plane: Plane) -> Outline:
    """The region as rectangles, one for each run of cells in a row."""
    x, y = _edges_of(plane)
    padded = np.pad(plane.region, ((0, 0), (1, 1))).astype(np.int8)
    turns = np.diff(padded, axis=1)
    rows, first = np.nonzero(turns == 1)
    last = np.nonzero(turns == -1)[1]
    left, right, low, high = x[first], x[last], y[rows], y[rows + 1]
    corners = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    points = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1).reshape(-1, 2)
    codes = [Outline.MOVETO, *[Outline.LINETO] * 3, Outline.CLOSEPOLY] * rows.size
    return Outline(points, codes if codes else None)


def _staircase(plane: Plane) -> NDArray[np.float64]:
    """Sides of cells between the region and the other cells, as pairs of points."""
    x, y = _edges_of(plane)
    known = ~np.isnan(plane.cells)
    inner, other = plane.region & known, ~plane.region & known
    r, c = np.nonzero((inner[:, 1:] & other[:, :-1]) | (other[:, 1:] & inner[:, :-1]))
    upright = np.stack((x[c + 1], y[r], x[c + 1], y[r + 1]), axis=1)
    r, c = np.nonzero((inner[1:] & other[:-1]) | (other[1:] & inner[:-1]))
    level = np.stack((x[c], y[r + 1], x[c + 1], y[r + 1]), axis=1)
    return np.asarray(np.concatenate((upright, level)).reshape(-1, 2, 2))


def _draw_levels(ax: Axes, plane: Plane) -> None:
    """Lines of equal values of the statistic, where there are cells enough to see them."""
    rows, columns = (ceil(n / FINE) for n in plane.values.shape)
    values = np.ma.masked_invalid(plane.values[::rows, ::columns])
    if min(values.shape) < COARSE or values.count() < 0.3 * values.size or np.ptp(values) == 0:
        return
    x, y = _edges_of(plane)
    middles = [(edges[1:] + edges[:-1]) / 2 for edges in (x, y)]
    levels = MaxNLocator(7, steps=NICE).tick_values(float(values.min()), float(values.max()))
    look: dict[str, Any] = {"colors": roles.ink(), "alpha": 0.7}
    thin: dict[str, Any] = {"linewidths": 0.7, "linestyles": "dotted"}
    drawn = ax.contour(
        middles[0][::columns], middles[1][::rows], values, levels=levels, **look, **thin
    )
    drawn.set_gid("levels")
    size = 0.75 * mpl.rcParams["font.size"]
    for label in ax.clabel(drawn, fontsize=size, fmt=_level):
        label.set_path_effects([withStroke(linewidth=2.5, foreground=ax.get_facecolor())])
        label.set_clip_on(True)


def _level(value: float) -> str:
    return digits(value, "+.4g") if value else "0"


def _keys_of_plane(ax: Axes) -> list[Patch]:
    """What the shades and hatches mean."""
    shade = {"facecolor": roles.TAIL.rgba(MIDDLE / 2), "edgecolor": _hatch_colour()}
    return [
        Patch(label="null distribution", **roles.NULL.area(ax)),
        Patch(linewidth=0, label="at least as extreme", **roles.TAIL.area(ax) | shade),
    ]


def _hatch_colour() -> Any:
    """Dark enough for the most likely cells of the region."""
    return to_rgba(roles.ink(), 0.7)


def _mark_points(ax: Axes, plane: Plane) -> list[Line2D]:
    """The observed point and its mirror image."""
    black, white = roles.ink(), ax.get_facecolor()
    looks: list[dict[str, Any]] = [
        {"gid": "observed", "marker": "o", "markersize": 11, "markerfacecolor": black},
        {"gid": "mirrored", "marker": "D", "markersize": 9, "markerfacecolor": white},
    ]
    edge: dict[str, Any] = {"markeredgewidth": 1.6, "linestyle": "none", "zorder": 4}
    colours = [white, black]
    drawn = []
    for place, how, colour in zip(plane.marks, looks, colours, strict=False):
        label = str(how["gid"])
        drawn += ax.plot(*place, label=label, markeredgecolor=colour, **how, **edge)
    return drawn


# ---- what is written on it ----------------------------------------------------------------------


def _name_sums(ax: Axes, result: StructuredTestResult) -> None:
    """Names of both axes of a plane: what the sums of the first system are, as far as it fits."""
    hits, misses = hits_weight(result.parts[0])[1], result.parts[1]
    whose = "" if result.other_sums is None else f" of {result.names[0]}"
    for label, part, side in ((ax.yaxis.label, hits, "height"), (ax.xaxis.label, misses, "width")):
        label.set_parse_math(False)
        words = SUMS.get(part, part)
        fit(label, [f"{words}{whose}", words, part], side, getattr(ax.bbox, side))


def _entitle(ax: Axes, result: StructuredTestResult, regions: str) -> None:
    """p, and what is marked as the event."""
    p = f"p {p_text(result)}"
    fit(ax.set_title(p), [f"{p} ({regions})", p], "width", ax.bbox.width)


def _add_legend(ax: Axes, handles: Sequence[Any]) -> None:
    """The key to a plane: between axes and title if there is room, else in the axes, or nowhere."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    tight: dict[str, Any] = {"columnspacing": 0.9, "handletextpad": 0.5}
    full = [handle.get_label() for handle in handles]
    short = [label.removeprefix("at least ") for label in full]
    for labels, columns in ((full, len(full)), (short, len(full)), (full, 2)):
        legend = ax.legend(handles, labels, ncols=columns, **place, **tight)
        height = in_points(ax, legend.get_window_extent().height)
        needed = height + 10 + 1.3 * size_of(ax.title)
        if fits(ax, legend) and room_above(ax) >= needed:
            loc = mpl.rcParams["axes.titlelocation"]
            ax.set_title(ax.get_title(loc=loc), y=1.0, pad=height + 8)
            return
    # In this corner there are many hits and many misses, which rarely come together.
    inside: dict[str, Any] = {"loc": "upper right", "frameon": True, "edgecolor": "none"}
    legend = ax.legend(handles, full, **inside, **tight)
    legend.set_in_layout(False)
    if not fits(ax, legend):
        legend.remove()
