"""Pictures, with matplotlib. Everything that is drawn is read from a result."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from permtest.result import PermutationTestResult
from permtest.views import BARS, SMALLEST, THIN, Scale, View, heights_in_view, look, marks

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.colors import to_rgba
    from matplotlib.patches import StepPatch
    from matplotlib.ticker import (
        FixedLocator,
        FuncFormatter,
        MaxNLocator,
        NullLocator,
        StrMethodFormatter,
    )

    from permtest.captions import (
        add_title_and_legend,
        headroom_for,
        in_points,
        label_marks,
        name_axes,
        number,
        text_width,
    )
except ModuleNotFoundError as error:
    raise ImportError("pictures need matplotlib: pip install 'permtest[plot]'") from error

#: The style sheet. ``plt.style.use("permtest.permtest")`` applies it to pictures of your own.
STYLE = Path(__file__).with_name("permtest.mplstyle")

BODY, REJECTED = "C0", "C1"  # colours of the style sheet, or of the caller's settings
NICE = [1, 2, 2.5, 5, 10]  # steps between the ticks of an axis
FEW = [1, 2, 2.5, 3, 4, 5, 10]  # the same where there is room for three ticks at most

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
    The picture is Fig. 2 of Zmigrod, Vieira and Cotterell (2022). The horizontal axis shows where
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
        ax = _new_axes() if ax is None else ax
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


def style() -> AbstractContextManager[None]:
    """The project's style sheet for the time of a ``with`` statement.

    Returns
    -------
    context manager
        Matplotlib's settings are as before after it.

    Examples
    --------
    >>> import matplotlib
    >>> from permtest.plots import style
    >>> with style():
    ...     inside = matplotlib.rcParams["axes.titlesize"]
    >>> inside, matplotlib.rcParams["axes.titlesize"]
    (16.0, 'large')
    """
    return mpl.rc_context(_settings())


@cache
def _settings() -> mpl.RcParams:
    return mpl.rc_params_from_file(STYLE, use_default_template=False)


def _new_axes() -> Axes:
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _set_axes(ax: Axes, view: View, scale: Scale) -> None:
    """Limits and ticks, as many as there is room for."""
    keep_y = ax.get_ylim() if not ax.get_autoscaley_on() else None
    ax.set_yscale(scale)
    ax.set_xlim(view.left, view.right)
    ax.set_ylim(*(keep_y or heights_in_view(view, scale)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x, view.reach)))
    widest = max(number(view.left, view.reach), number(view.right, view.reach), key=len)
    room = ax.bbox.width / (1.3 * text_width(ax, widest, mpl.rcParams["xtick.labelsize"]))
    bins = min(8, max(1, int(room)))
    ax.xaxis.set_major_locator(
        MaxNLocator(bins, steps=NICE if bins > 3 else FEW, integer=True, min_n_ticks=1)
    )


def _divide_probabilities(ax: Axes) -> None:
    if ax.get_yscale() == "log":
        ax.yaxis.set_major_locator(FixedLocator(_decades(*ax.get_ylim())))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        bins = 5 if in_points(ax, ax.bbox.height) > 120 else 3
        ax.yaxis.set_major_locator(MaxNLocator(bins, steps=NICE))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.4g}"))


def _decades(bottom: float, top: float) -> list[float]:
    """Some seven powers of ten to label; none above 1, which no probability exceeds."""
    first, last = ceil(log10(bottom)), min(0, floor(log10(top)))
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (last - first) / step <= 7)
    return [10.0**k for k in range(last - last % step, first - 1, -step) if k <= last]


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
