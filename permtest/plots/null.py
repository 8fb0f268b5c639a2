"""Null distributions of one sum, or of a statistic that is made of several."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, TypeAlias, get_args

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    MaxNLocator,
    NullLocator,
    StrMethodFormatter,
)
from numpy.typing import NDArray

from permtest.plots import roles
from permtest.plots.captions import (
    add_title_and_legend,
    headroom_for,
    label_marks,
    name_axes,
    written,
)
from permtest.plots.fitting import in_points, text_width
from permtest.plots.sheet import NICE, decades, new_axes, style
from permtest.plots.view import (
    BARS,
    SMALLEST,
    THIN,
    Scale,
    View,
    heights_in_view,
    look,
    marks,
)
from permtest.result import PermutationTestResult, StructuredTestResult

FEW = [1, 2, 2.5, 3, 4, 5, 10]  # steps where there is room for three ticks at most

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
    for artist in (
        _region(ax, view),
        _filled(*body, bottom, gid="body", **roles.NULL.area(ax)),
        _filled(*rejected, bottom, gid="rejected", **roles.TAIL.area(ax)),
    ):
        ax.add_artist(artist)


def _region(ax: Axes, view: View) -> StepPatch:
    """A tint behind all extreme values, up to the ends of the axis: thin tails are seen by it."""
    edges = view.edges.copy()
    edges[0], edges[-1] = min(edges[0], view.left), max(edges[-1], view.right)
    tint = {"facecolor": roles.TAIL.rgba(0.10), "edgecolor": roles.TAIL.rgba(0.30)}
    heights = np.where(view.region, 1.0, np.nan)
    region = _filled(heights, edges, 0.0, gid="region", **roles.TAIL.area(ax) | tint)
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
    looks = [("observed", roles.OBSERVED), ("mirrored", roles.MIRRORED)]
    for value, (gid, rule) in zip(marks(result), looks, strict=False):
        ax.axvline(float(value), gid=gid, **rule.line())
