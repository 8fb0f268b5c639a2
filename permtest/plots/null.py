"""Null distributions, and the plane of two sums."""

from __future__ import annotations

from contextlib import nullcontext
from math import ceil
from typing import Any, TypeAlias, get_args

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, StepPatch
from matplotlib.path import Path as Outline
from matplotlib.patheffects import withStroke
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    MaxNLocator,
    NullLocator,
    StrMethodFormatter,
)
from numpy.typing import NDArray

from permtest.captions import (
    add_title_and_legend,
    headroom_for,
    in_points,
    label_marks,
    legend_of_plane,
    name_axes,
    name_sums,
    text_width,
    title_of_plane,
    written,
)
from permtest.plots.sheet import NICE, decades, new_axes, style
from permtest.result import PermutationTestResult, StructuredTestResult
from permtest.views import (
    BARS,
    SMALLEST,
    THIN,
    Plane,
    Scale,
    View,
    heights_in_view,
    look,
    look_at_plane,
    marks,
)

BODY, REJECTED = "C0", "C1"  # colours of the style sheet, or of the caller's settings
FEW = [1, 2, 2.5, 3, 4, 5, 10]  # the same where there is room for three ticks at most
MIDDLE = 0.7  # how dark the region of a plane becomes: hatches must be seen on it
COARSE, FINE = 8, 160  # of rows and columns of a plane: lines of equal values need so many at least

Steps: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


def plot_null(
    result: PermutationTestResult, *, ax: Axes | None = None, scale: Scale = "linear"
) -> Axes:
    """Draw the null distribution, what was observed, and what counts as at least as extreme.

    Parameters
    ----------
    result : PermutationTestResult
        Of `exact_perm_test` or `monte_carlo`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings (`matplotlib.rcParams`) of the caller. Limits that were
        set on it beforehand are kept. Title, legend and labels are chosen for its present size:
        what does not fit is written shorter, or left out. Default: a new figure in the style of
        the project.
    scale : {"linear", "log"}, default "linear"
        How the axis of probabilities is divided. "log" shows how thin the tails are.

    Returns
    -------
    matplotlib.axes.Axes
        Its artists carry the gids "body", "rejected", "region", "observed" and "mirrored".

    Notes
    -----
    The picture is Fig. 2 of Zmigrod, Vieira and Cotterell (2022). For a statistic of several sums,
    such as F1, it has the values of the statistic: `plot_values`. The horizontal axis shows where
    the mass is and what was observed. Values of probability 0 are not drawn. With more than 1200
    values in view, neighbours share a column, which is as high as the most likely of them; the cost
    is that of reading the distribution once.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import exact_perm_test
    >>> from permtest.plots import plot_null
    >>> result = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> plot_null(result, ax=Figure().subplots()).get_ylabel()
    'probability'
    """
    if scale not in get_args(Scale):
        raise ValueError(f"scale={scale!r} is not known; choose 'linear' or 'log'")
    with style() if ax is None else nullcontext():
        ax = new_axes() if ax is None else ax
        view = look(result, scale, ax.get_xlim() if not ax.get_autoscalex_on() else None)
        free = ax.get_autoscaley_on()
        _set_axes(ax, view, scale)
        _draw_columns(ax, view)
        name_axes(ax, result)
        below = add_title_and_legend(ax, result)
        headroom, labelled = headroom_for(ax, below)
        if free:
            ax.set_ylim(*heights_in_view(view, scale, headroom))
        _divide_probabilities(ax)
        _draw_marks(ax, result)
        if labelled:
            label_marks(ax, view, result, below)
    return ax


def plot_values(
    result: StructuredTestResult, *, ax: Axes | None = None, scale: Scale = "linear"
) -> Axes:
    """Draw the null distribution of a statistic that is made of several sums, such as F1.

    Parameters
    ----------
    result : StructuredTestResult
        Of `exact_perm_test` with a statistic of counts, `exact_perm_test_m`, or `monte_carlo`.
    ax, scale
        As in `plot_null`.

    Returns
    -------
    matplotlib.axes.Axes
        With the same artists as that of `plot_null`.

    Raises
    ------
    ValueError
        If the result is that of a single sum.
    MemoryError
        If the joint law of the sums does not fit; `monte_carlo` has samples of it to be drawn.

    Notes
    -----
    Up to 64 values, or 1200 where the sums all lie on one line, have a column each; more are
    gathered in some 60 columns of equal width, whose heights are the probabilities of all values
    in them. Cost: that of the joint law, and of the statistic at each of its points.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import exact_perm_test
    >>> from permtest.plots import plot_values
    >>> u, v = [[3, 1, 0], [2, 0, 1]], [[2, 2, 1], [2, 1, 1]]      # tp, fp, fn of two sentences
    >>> result = exact_perm_test(u, v, statistic="f1")
    >>> plot_values(result, ax=Figure().subplots()).get_title()
    'p = 0.5 (both tails)'
    """
    if not isinstance(result, StructuredTestResult):
        raise ValueError("plot_values is for a statistic of several sums; call plot_null")
    return plot_null(result, ax=ax, scale=scale)


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
        name_sums(ax, result)
        two = result.alternative == "two-sided"
        title_of_plane(ax, result, "both hatched regions" if two else "the hatched region")
        legend_of_plane(ax, handles)
    return ax


def _set_axes(ax: Axes, view: View, scale: Scale) -> None:
    """Limits and ticks, as many as there is room for."""
    keep_y = ax.get_ylim() if not ax.get_autoscaley_on() else None
    ax.set_yscale(scale)
    ax.set_xlim(view.left, view.right)
    ax.set_ylim(*(keep_y or heights_in_view(view, scale)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: written(x, view)))
    widest = max(written(view.left, view), written(view.right, view), key=len)
    room = ax.bbox.width / (1.3 * text_width(ax, widest, mpl.rcParams["xtick.labelsize"]))
    bins = min(8, max(1, int(room)))
    ax.xaxis.set_major_locator(
        MaxNLocator(bins, steps=NICE if bins > 3 else FEW, integer=view.whole, min_n_ticks=1)
    )


def _divide_probabilities(ax: Axes) -> None:
    if ax.get_yscale() == "log":
        ax.yaxis.set_major_locator(FixedLocator(decades(*ax.get_ylim())))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        bins = 5 if in_points(ax, ax.bbox.height) > 120 else 3
        ax.yaxis.set_major_locator(MaxNLocator(bins, steps=NICE))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.4g}"))


def _draw_columns(ax: Axes, view: View) -> None:
    """The pmf, and the part of it that is at least as extreme as what was observed."""
    bottom = SMALLEST if ax.get_yscale() == "log" else 0.0
    body, rejected = _bars(view)
    hatched: dict[str, Any] = {
        "facecolor": to_rgba(REJECTED),
        "edgecolor": ax.get_facecolor(),
        "hatch": "//",
    }
    for artist in (
        _region(ax, view),
        _filled(*body, bottom, gid="body", facecolor=to_rgba(BODY)),
        _filled(*rejected, bottom, gid="rejected", **hatched),
    ):
        ax.add_artist(artist)


def _region(ax: Axes, view: View) -> StepPatch:
    """A tint behind all extreme values, up to the ends of the axis: thin tails are seen by it."""
    edges = view.edges.copy()
    edges[0], edges[-1] = min(edges[0], view.left), max(edges[-1], view.right)
    tint, lines = to_rgba(REJECTED, 0.10), to_rgba(REJECTED, 0.30)
    heights = np.where(view.region, 1.0, np.nan)
    region = _filled(heights, edges, 0.0, gid="region", facecolor=tint, edgecolor=lines, hatch="//")
    region.set_transform(ax.get_xaxis_transform())
    return region


def _filled(
    heights: NDArray[np.float64], edges: NDArray[np.float64], bottom: float, **look: Any
) -> StepPatch:
    """Columns from `bottom` up as one artist, however many there are."""
    return StepPatch(heights, edges, baseline=bottom, fill=True, linewidth=0, **look)


def _bars(view: View) -> tuple[Steps, Steps]:
    """Heights and edges of both kinds of columns; a few are bars, as wide as can be seen."""
    occupied = np.flatnonzero(~np.isnan(view.body) | ~np.isnan(view.rejected))
    if not 0 < occupied.size <= BARS:
        return (view.body, view.edges), (view.rejected, view.edges)
    middles = (view.edges[occupied] + view.edges[occupied + 1]) / 2
    half = (view.edges[occupied + 1] - view.edges[occupied]) / 2
    half *= 0.8
    room = np.diff(middles, prepend=-np.inf, append=np.inf) / 2
    thin = THIN * (view.right - view.left) / 2
    half = np.maximum(half, np.minimum(thin, np.minimum(room[:-1], room[1:])))
    edges = np.column_stack((middles - half, middles + half)).ravel()
    gaps = np.full((occupied.size, 1), np.nan)
    body, rejected = (
        np.column_stack((heights[occupied], gaps)).ravel()[:-1]
        for heights in (view.body, view.rejected)
    )
    return (body, edges), (rejected, edges)


def _draw_marks(ax: Axes, result: PermutationTestResult) -> None:
    """Lines at the observed sum and at its mirror image."""
    looks: list[dict[str, Any]] = [
        {"gid": "observed", "linestyle": "--", "linewidth": 2.2},
        {"gid": "mirrored", "linestyle": ":", "linewidth": 1.4},
    ]
    for value, how in zip(marks(result), looks, strict=False):
        ax.axvline(float(value), color=mpl.rcParams["text.color"], **how)


# ---- the plane of two sums ----------------------------------------------------------------------


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
    ax.add_artist(PathPatch(outline, hatch="//", gid="region", **lines))
    _draw_levels(ax, plane)
    edges = LineCollection(
        list(_staircase(plane)), colors=mpl.rcParams["text.color"], linewidths=1.6
    )
    edges.set_capstyle("round")
    edges.set_gid("staircase")
    ax.add_collection(edges, autolim=False)


def _shades(plane: Plane) -> NDArray[np.uint8]:
    """Colours of the cells, from light to dark as probability goes from 0 to its peak."""
    known = ~np.isnan(plane.cells)
    cells = np.where(known, plane.cells, 0.0)
    depth = np.round(255 * np.sqrt(cells / (cells.max() or 1.0))).astype(np.uint8)
    palette = np.array([_palette(BODY, 0.08, 1.0), _palette(REJECTED, 0.12, MIDDLE)])
    shades = palette[plane.region.astype(np.intp), depth]
    shades[..., 3] = 255 * known
    return np.asarray(shades)


def _palette(name: str, light: float, dark: float) -> NDArray[np.uint8]:
    """256 shades of a colour, from a light one to a dark one."""
    colour = np.array(to_rgba(name))
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
    look: dict[str, Any] = {"colors": mpl.rcParams["text.color"], "alpha": 0.7}
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
    return f"{value:+.4g}".replace("-", "\N{MINUS SIGN}") if value else "0"


def _keys_of_plane(ax: Axes) -> list[Patch]:
    """What the shades and hatches mean."""
    hatched: dict[str, Any] = {
        "facecolor": to_rgba(REJECTED, MIDDLE / 2),
        "edgecolor": _hatch_colour(),
        "hatch": "//",
    }
    return [
        Patch(facecolor=to_rgba(BODY), edgecolor=ax.get_facecolor(), label="null distribution"),
        Patch(linewidth=0, label="at least as extreme", **hatched),
    ]


def _hatch_colour() -> Any:
    """Dark enough for the most likely cells of the region."""
    return to_rgba(mpl.rcParams["text.color"], 0.7)


def _mark_points(ax: Axes, plane: Plane) -> list[Line2D]:
    """The observed point and its mirror image."""
    black, white = mpl.rcParams["text.color"], ax.get_facecolor()
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
