"""Pictures, with matplotlib. Everything that is drawn is read from a result."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import StepPatch
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter
from numpy.typing import NDArray

from permtest.result import PermutationTestResult

#: How the axis of probabilities is divided.
Scale: TypeAlias = Literal["linear", "log"]

#: The style sheet. ``plt.style.use("permtest.permtest")`` applies it to pictures of your own.
STYLE = Path(__file__).with_name("permtest.mplstyle")

BODY, REJECTED, MARK = "C0", "C1", "C3"  # colours of the style sheet
BARS = 64  # up to so many cells in view, each is a bar with a gap beside it
COLUMNS = 1200  # at most so many columns are drawn, about as many as there are pixels
VISIBLE = {"linear": 1e-4, "log": 1e-9}  # cells lower than this share of the peak are not sought
LONG = 60  # characters; a longer name of an axis takes two lines
NICE = [1, 2, 2.5, 5, 10]  # steps between the ticks of an axis
SMALLEST = 1e-300  # where a logarithmic axis ends at the latest


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
        than what was observed, and among the others; NaN where there is none.
    region : ndarray of shape (M,)
        Which columns hold values at least as extreme as what was observed.
    """

    left: float
    right: float
    edges: NDArray[np.float64]
    body: NDArray[np.float64]
    rejected: NDArray[np.float64]
    region: NDArray[np.bool_]

    @property
    def heights(self) -> NDArray[np.float64]:
        """All probabilities that are drawn; not empty."""
        heights = np.concatenate((self.body, self.rejected))
        drawn = heights[~np.isnan(heights)]
        return drawn if drawn.size else np.ones(1)

    def position(self, value: float) -> float:
        """Where a value lies, from 0 (left) to 1 (right)."""
        return (value - self.left) / (self.right - self.left)


def plot_null(
    result: PermutationTestResult, *, ax: Axes | None = None, scale: Scale = "linear"
) -> Axes:
    """Draw the null distribution, what was observed, and what counts as at least as extreme.

    Parameters
    ----------
    result : PermutationTestResult
        Of `exact_perm_test` or `monte_carlo`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; limits that were set on it beforehand are kept. Default: a new figure.
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
    with style():
        ax = _new_axes() if ax is None else ax
        view = look(result, scale, ax.get_xlim() if not ax.get_autoscalex_on() else None)
        _set_axes(ax, view, scale)
        _draw_columns(ax, view, result)
        _draw_marks(ax, view, result)
        _write(ax, result)
    return ax


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
    null, extreme = result.null_distribution, result.extreme
    left, right = limits or _limits(result, scale)
    first = max(0, int(np.ceil((left - null.offset) / null.unit)))
    last = min(null.pmf.size - 1, int(np.floor((right - null.offset) / null.unit)))
    last = max(first, last)
    cells = null.pmf[first : last + 1]
    inside = extreme[first : last + 1]
    per_column = -(-max(cells.size, 1) // COLUMNS)
    starts = np.arange(0, cells.size, per_column)
    edges = np.append(first + starts, first + cells.size) - 0.5
    return View(
        left,
        right,
        float(null.offset) + null.unit * edges,
        _highest(np.where(inside, 0.0, cells), starts),
        _highest(np.where(inside, cells, 0.0), starts),
        np.logical_or.reduceat(inside, starts) if starts.size else inside,
    )


def _limits(result: PermutationTestResult, scale: Scale) -> tuple[float, float]:
    """Ends of the axis: visible mass and marks, and a margin."""
    null = result.null_distribution
    visible = null.pmf >= null.pmf.max() * VISIBLE[scale]
    first, last = int(visible.argmax()), null.pmf.size - 1 - int(visible[::-1].argmax())
    marks = [null.offset + null.unit * first, null.offset + null.unit * last, *_marks(result)]
    low, high = float(min(marks)), float(max(marks))
    margin = max(0.06 * (high - low), 1.5 * null.unit)
    return low - margin, high + margin


def _marks(result: PermutationTestResult) -> tuple[int, ...]:
    """The observed sum and, for a two-sided test, its mirror image if that is another value."""
    null, observed = result.null_distribution, result.observed_sum
    mirrored = 2 * null.offset + null.unit * (null.pmf.size - 1) - observed
    two = result.alternative == "two-sided" and mirrored != observed
    return (observed, mirrored) if two else (observed,)


def _highest(cells: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The highest cell of each column, NaN where all are 0."""
    if starts.size == 0:
        return np.zeros(0)
    heights = np.maximum.reduceat(cells, starts)
    return np.where(heights > 0, heights, np.nan)


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
    """Limits, with room above the highest column for what is written there."""
    keep_y = ax.get_ylim() if not ax.get_autoscaley_on() else None
    ax.set_yscale(scale)
    ax.set_xlim(view.left, view.right)
    ax.set_ylim(*(keep_y or heights_in_view(view, scale)))
    wide = max(abs(view.left), abs(view.right)) >= 10_000
    ax.xaxis.set_major_locator(MaxNLocator(5 if wide else 8, steps=NICE, integer=True))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if scale == "log":
        ax.yaxis.set_major_locator(FixedLocator(_decades(*ax.get_ylim())))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(5, steps=NICE))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.4g}"))


def _decades(bottom: float, top: float) -> list[float]:
    """Some seven powers of ten to label; none above 1, which no probability exceeds."""
    first, last = ceil(log10(bottom)), min(0, floor(log10(top)))
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (last - first) / step <= 7)
    return [10.0**k for k in range(last - last % step, first - 1, -step) if k <= last]


def heights_in_view(view: View, scale: Scale) -> tuple[float, float]:
    """Limits of the axis of probabilities."""
    peak = float(view.heights.max())
    if scale == "linear":
        return 0.0, 1.3 * peak
    bottom = max(min(float(view.heights.min()) / 3, peak / 30), SMALLEST)
    return bottom, peak * (peak / bottom) ** 0.25


def _draw_columns(ax: Axes, view: View, result: PermutationTestResult) -> None:
    """The pmf, and the part of it that is at least as extreme as what was observed."""
    bottom = SMALLEST if ax.get_yscale() == "log" else 0.0
    body, rejected = _bars(view.body, view.edges), _bars(view.rejected, view.edges)
    colour, label = to_rgba(REJECTED), f"at least as extreme: p {_equals(result)}"
    for artist in (
        _region(ax, view),
        _filled(*body, bottom, gid="body", facecolor=to_rgba(BODY), label=_body_label(result)),
        _filled(
            *rejected,
            bottom,
            gid="rejected",
            facecolor=colour,
            edgecolor="w",
            hatch="//",
            label=label,
        ),
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


def _bars(
    heights: NDArray[np.float64], edges: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same columns, with gaps between them if they are few."""
    if not 0 < heights.size <= BARS:
        return heights, edges
    gap = 0.1 * np.diff(edges)
    values = np.full(2 * heights.size - 1, np.nan)
    values[::2] = heights
    return values, np.column_stack((edges[:-1] + gap, edges[1:] - gap)).ravel()


def _draw_marks(ax: Axes, view: View, result: PermutationTestResult) -> None:
    """Lines at the observed sum and at its mirror image, labelled where there is room."""
    observed, *mirrored = _marks(result)
    _mark(ax, view, observed, "observed", linestyle="--", linewidth=2.2)
    for value in mirrored:
        _mark(ax, view, value, "mirrored", linestyle=":", linewidth=1.4)


def _mark(ax: Axes, view: View, value: int, kind: str, **look: Any) -> None:
    ax.axvline(float(value), color=to_rgba(MARK), gid=kind, **look)
    place = view.position(float(value))
    to_the_right = place < 0.25 or 0.5 <= place < 0.75
    ax.annotate(
        f"{kind} {signed(value)}",
        (float(value), 0.98),
        xycoords=ax.get_xaxis_transform(),
        xytext=(6 if to_the_right else -6, 0),
        textcoords="offset points",
        ha="left" if to_the_right else "right",
        va="top",
        gid=f"{kind} label",
        annotation_clip=True,
    )


def signed(value: int) -> str:
    """A difference with its sign: +91, −91, 0."""
    return f"{value:+,d}".replace("-", "\N{MINUS SIGN}") if value else "0"


def _write(ax: Axes, result: PermutationTestResult) -> None:
    """Title, names of the axes, and the key to the colours and hatches."""
    sampled = result.n_samples is not None
    ax.set_title(f"p {_equals(result)} ({_tails(result)})", y=1.0, pad=34)
    ax.set_xlabel(_sum_label(result), parse_math=False)
    ax.set_ylabel("share of the samples" if sampled else "probability")
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2, columnspacing=1.6
    )


def _equals(result: PermutationTestResult) -> str:
    sign = "=" if result.n_samples is None else "\N{ALMOST EQUAL TO}"
    return f"{sign} {result.pvalue_text()}"


def _body_label(result: PermutationTestResult) -> str:
    if result.n_samples is None:
        return "null distribution"
    return f"{result.n_samples:,} random labellings"


def _sum_label(result: PermutationTestResult) -> str:
    pairs = f"{result.n:,} pair{'s' * (result.n != 1)}"
    if result.totals is None:
        return f"sum of g over {pairs} ({result.unit})"
    first, second = result.names
    line = f"{first} minus {second}, {result.unit}, over {pairs}"
    return line if len(line) <= LONG else line.replace(" minus ", "\nminus ", 1)


def _tails(result: PermutationTestResult) -> str:
    """Which ends of the distribution count as extreme: read from what does, whatever h is."""
    left, right = bool(result.extreme[0]), bool(result.extreme[-1])
    possible = result.extreme[result.null_distribution.pmf > 0]
    if np.count_nonzero(np.diff(possible, prepend=False) & possible) > left + right:
        return "shaded"
    if left and right:
        return "every labelling" if result.pvalue == 1 else "both tails"
    return "left tail" if left else "right tail"
