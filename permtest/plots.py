"""Pictures, with matplotlib. Everything that is drawn is read from a result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import ceil, floor, inf, log10
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from permtest.result import PermutationTestResult

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.colors import to_rgba
    from matplotlib.legend import Legend
    from matplotlib.patches import StepPatch
    from matplotlib.text import Annotation, Text
    from matplotlib.ticker import (
        FixedLocator,
        FuncFormatter,
        MaxNLocator,
        NullLocator,
        StrMethodFormatter,
    )
except ModuleNotFoundError as error:
    raise ImportError("pictures need matplotlib: pip install 'permtest[plot]'") from error

#: How the axis of probabilities is divided.
Scale: TypeAlias = Literal["linear", "log"]

#: The style sheet. ``plt.style.use("permtest.permtest")`` applies it to pictures of your own.
STYLE = Path(__file__).with_name("permtest.mplstyle")

BODY, REJECTED = "C0", "C1"  # colours of the style sheet, or of the caller's settings
BARS = 64  # up to so many cells in view, each is a bar with a gap beside it
COLUMNS = 1200  # at most so many columns are drawn, about as many as there are pixels
THIN = 1 / 60  # of the width of the axes: no lonely column is thinner, so that it can be seen
VISIBLE = {"linear": 1e-4, "log": 1e-9}  # cells lower than this share of the peak are not sought
MOST = 0.65  # of the height of the axes: more is not taken by legend and labels
HEADROOM = 0.22  # of the height of the axes, above the highest column: labels stand there
LARGE = 10**15  # from here on numbers are written with an exponent
NICE = [1, 2, 2.5, 5, 10]  # steps between the ticks of an axis
FEW = [1, 2, 2.5, 3, 4, 5, 10]  # the same where there is room for three ticks at most
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
        than what was observed, and among the others; NaN where there is none. Of each column at
        least one is NaN: where both kinds meet, they stand side by side.
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

    @property
    def reach(self) -> float:
        """The largest absolute value in view."""
        return max(abs(self.left), abs(self.right))

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
        _name_axes(ax, result)
        below = _add_title_and_legend(ax, result)
        headroom, labelled = _headroom(ax, below)
        if free:
            ax.set_ylim(*heights_in_view(view, scale, headroom))
        _divide_probabilities(ax)
        _draw_marks(ax, result)
        if labelled:
            _label_marks(ax, view, result, below)
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
    starts = np.arange(0, cells.size, _cells_per_column(cells))
    edges = np.append(first + starts, first + cells.size) - 0.5
    view = View(
        left,
        right,
        float(null.offset) + null.unit * edges,
        _highest(np.where(inside, 0.0, cells), starts),
        _highest(np.where(inside, cells, 0.0), starts),
        np.logical_or.reduceat(inside, starts) if starts.size else inside,
    )
    return _side_by_side(view, inside[starts])


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
    """Limits and ticks, as many as there is room for."""
    keep_y = ax.get_ylim() if not ax.get_autoscaley_on() else None
    ax.set_yscale(scale)
    ax.set_xlim(view.left, view.right)
    ax.set_ylim(*(keep_y or heights_in_view(view, scale)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x, view.reach)))
    widest = max(number(view.left, view.reach), number(view.right, view.reach), key=len)
    room = ax.bbox.width / (1.3 * _width(ax, widest, mpl.rcParams["xtick.labelsize"]))
    bins = min(8, max(1, int(room)))
    ax.xaxis.set_major_locator(
        MaxNLocator(bins, steps=NICE if bins > 3 else FEW, integer=True, min_n_ticks=1)
    )


def _divide_probabilities(ax: Axes) -> None:
    if ax.get_yscale() == "log":
        ax.yaxis.set_major_locator(FixedLocator(_decades(*ax.get_ylim())))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        bins = 5 if _points(ax, ax.bbox.height) > 120 else 3
        ax.yaxis.set_major_locator(MaxNLocator(bins, steps=NICE))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.4g}"))


def _decades(bottom: float, top: float) -> list[float]:
    """Some seven powers of ten to label; none above 1, which no probability exceeds."""
    first, last = ceil(log10(bottom)), min(0, floor(log10(top)))
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (last - first) / step <= 7)
    return [10.0**k for k in range(last - last % step, first - 1, -step) if k <= last]


def heights_in_view(view: View, scale: Scale, headroom: float = HEADROOM) -> tuple[float, float]:
    """Limits of the axis of probabilities; a share of it above all columns remains free."""
    peak = float(view.heights.max())
    if scale == "linear":
        return 0.0, peak / (1 - headroom)
    bottom = max(min(float(view.heights.min()) / 3, peak / 30), SMALLEST)
    return bottom, peak * (peak / bottom) ** (headroom / (1 - headroom))


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


Steps: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


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
    for value, look in zip(_marks(result), looks, strict=False):
        ax.axvline(float(value), color=mpl.rcParams["text.color"], **look)


def _label_marks(ax: Axes, view: View, result: PermutationTestResult, below: float) -> None:
    """Name the lines where there is room, `below` points under the upper edge."""
    values = [float(value) for value in _marks(result)]
    labels = [
        _mark_label(ax, value, kind, signed(value, view.reach), below)
        for kind, value in zip(("observed", "mirrored"), values, strict=False)
    ]
    widths = [_share_of_width(ax, label) for label in labels]
    for label, side in zip(labels, _sides([*map(view.position, values)], widths), strict=True):
        if side == 0:
            label.remove()
        label.set_horizontalalignment("left" if side > 0 else "right")
        label.xyann = (6 * side, -below)


def _mark_label(ax: Axes, value: float, kind: str, text: str, below: float) -> Annotation:
    label = ax.annotate(
        f"{kind} {text}",
        (value, 0.98),
        xycoords=ax.get_xaxis_transform(),
        xytext=(0, -below),
        textcoords="offset points",
        va="top",
        gid=f"{kind} label",
        annotation_clip=True,
    )
    label.set_in_layout(False)
    return label


def _share_of_width(ax: Axes, label: Annotation) -> float:
    """How much of the width of the axes a label takes, with a gap on both sides."""
    points = _points(ax, _width(ax, label.get_text(), label.get_fontsize())) + 12
    return points / _points(ax, ax.bbox.width)


def _sides(places: Sequence[float], widths: Sequence[float]) -> list[int]:
    """For each mark, whether its label stands to the left (-1), to the right (1) or nowhere (0).

    Two labels turn towards each other if there is room between the marks, and else away from each
    other. Where only one fits, it is that of the observed value, which comes first.
    """
    if len(places) == 2:
        side = 1 if places[0] < places[1] else -1
        choices = [[side, -side], [-side, side]]
    else:
        side = 1 if places[0] >= 0.5 else -1
        choices = [[side], [-side]]
    for sides in choices:
        if _apart(places, widths, sides):
            return sides
    return [*_sides(places[:1], widths[:1]), 0] if len(places) == 2 else [0]


def _apart(places: Sequence[float], widths: Sequence[float], sides: Sequence[int]) -> bool:
    """Whether labels on these sides stay inside of the axes and clear of each other."""
    spans = sorted(
        sorted((place, place + side * width))
        for place, width, side in zip(places, widths, sides, strict=True)
    )
    clear = all(first[1] <= second[0] for first, second in pairwise(spans))
    return clear and spans[0][0] >= 0 and spans[-1][1] <= 1


def signed(value: float, reach: float = 0) -> str:
    """A difference with its sign: +91, −91, 0."""
    return "+" * (value > 0) + number(value, reach)


def number(value: float, reach: float = 0) -> str:
    """A number as it is written where numbers up to `reach` are: 2,077, −91, 1e+30."""
    large = value != 0 and max(abs(value), reach) >= LARGE
    return f"{value:{'.4g' if large else ',.0f'}}".replace("-", "\N{MINUS SIGN}")


# ---- what is written, as far as it fits --------------------------------------------------------


def _name_axes(ax: Axes, result: PermutationTestResult) -> None:
    """The longest names that fit."""
    sampled = result.n_samples is not None
    names = ["share of the samples", "share"] if sampled else ["probability"]
    _fit(ax.yaxis.label, names, "height", ax.bbox.height)
    ax.xaxis.label.set_parse_math(False)
    for text in _sum_labels(result):
        _fit(ax.xaxis.label, _narrower(text), "width", ax.bbox.width)
        if _has_layout(ax) or _bottom(ax) >= -1:
            return


def _add_title_and_legend(ax: Axes, result: PermutationTestResult) -> float:
    """Title, and the key to colours and hatches; how many points of the axes it takes.

    The legend stands between the axes and the title if there is room, else in the axes, else
    nowhere.
    """
    p = f"p {p_text(result)}"
    title = ax.set_title(p)
    _fit(title, [f"{p} ({_tails(result)})", p], "width", ax.bbox.width)
    short = [_body_label(result), "at least as extreme"]
    full = [short[0], f"{short[1]}: {p}"]
    legend = _legend(ax, full, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    height = _points(ax, legend.get_window_extent().height)
    needed = height + 10 + 1.3 * _size(title)
    if _fits(ax, legend) and _room_above(ax) >= needed:
        ax.set_title(title.get_text(), y=1.0, pad=height + 10)
        return 0.0
    inside = {"loc": "upper left", "frameon": True, "framealpha": 1.0, "edgecolor": "none"}
    for labels, columns in ((full, 2), (short, 1)):
        legend = _legend(ax, labels, ncols=columns, **inside)
        legend.set_in_layout(False)
        if _fits(ax, legend):
            return _points(ax, ax.bbox.y1 - legend.get_window_extent().y0)
    legend.remove()
    return 0.0


def _legend(ax: Axes, labels: list[str], **options: Any) -> Legend:
    handles = [child for child in ax.patches if child.get_gid() in ("body", "rejected")]
    return ax.legend(handles, labels, **{"ncols": 2, "columnspacing": 1.6} | options)


def _fits(ax: Axes, legend: Legend) -> bool:
    """Whether a legend is narrower than the axes, and leaves some of their height."""
    box = legend.get_window_extent()
    return bool(box.width <= ax.bbox.width and _points(ax, box.height) <= MOST * _height(ax))


def _headroom(ax: Axes, below: float) -> tuple[float, bool]:
    """The share of the height kept for legend and labels of the marks; whether these fit."""
    with_labels = (below + 1.8 * _size(Text())) / _height(ax)
    if with_labels <= MOST:
        return max(HEADROOM, with_labels), True
    return max(HEADROOM, min(MOST, below / _height(ax))), False


def _height(ax: Axes) -> float:
    """Of the axes in points, less what a layout will take away for names and title."""
    height = _points(ax, ax.bbox.height)
    if not _has_layout(ax):
        return height
    name = ax.xaxis.label
    return max(0.85 * height - 1.2 * _size(name) * len(name.get_text().splitlines()), 1.0)


def _fit(text: Text, wordings: Iterable[str], side: str, room: float) -> None:
    """Write the first wording that is not larger than the room, or else the last one."""
    for wording in wordings:
        text.set_text(wording)
        if getattr(text.get_window_extent(), side) <= room:
            return


def _narrower(text: str) -> Iterator[str]:
    """The same words in more and more lines."""
    yield text
    lines = text.replace(" minus ", "\nminus ", 1).splitlines()
    limit = max(map(len, lines))
    while limit > 8:
        yield "\n".join(part for line in lines for part in wrap(line, limit))
        limit = limit * 9 // 10


def _has_layout(ax: Axes) -> bool:
    """Whether something makes room for what stands outside of the axes."""
    return ax.figure.get_layout_engine() is not None


def _bottom(ax: Axes) -> float:
    """Where the name of the horizontal axis ends, in points above the edge of the figure."""
    box = ax.xaxis.get_tightbbox()
    return _points(ax, box.y0 - ax.figure.bbox.y0) if box is not None else 0.0


def _room_above(ax: Axes) -> float:
    """Points between axes that have the figure to themselves and its upper edge."""
    if len(ax.figure.axes) > 1:
        return 0.0
    return inf if _has_layout(ax) else _points(ax, ax.figure.bbox.y1 - ax.bbox.y1)


def _points(ax: Axes, pixels: float) -> float:
    return pixels * 72 / ax.figure.dpi


def _size(text: Text) -> float:
    """Of its letters, in points; that of a new text is the caller's setting."""
    return float(text.get_fontsize())


def _width(ax: Axes, text: str, size: Any) -> float:
    """Of a line of text, in pixels."""
    probe = Text(0, 0, text, fontsize=size)
    probe.set_figure(ax.figure)
    return float(probe.get_window_extent().width)


def p_text(result: PermutationTestResult) -> str:
    """p with its relation: "= 0.0303", "≈ 0.03"; "= 1" only if it is exactly 1."""
    text = result.pvalue_text()
    if text == "1" and not _is_certain(result):
        return "> 0.999"
    return f"{'=' if result.n_samples is None else '≈'} {text}"


def _is_certain(result: PermutationTestResult) -> bool:
    """Whether every labelling is extreme, so that p is 1 and not only close to it."""
    return result.pvalue == 1 and not result.null_distribution.pmf[~result.extreme].any()


def _body_label(result: PermutationTestResult) -> str:
    if result.n_samples is None:
        return "null distribution"
    return f"{result.n_samples:,} random labellings"


def _sum_labels(result: PermutationTestResult) -> list[str]:
    """Names of the horizontal axis, the one that says most first."""
    pairs = f"{result.n:,} pair{'s' * (result.n != 1)}"
    if result.totals is None:
        return [f"sum of g over {pairs} ({result.unit})", f"sum of g ({result.unit})"]
    lead = "{} minus {}".format(*result.names)
    what = f"{result.unit}, over {pairs}"
    return [f"{lead}\n{what}", f"{lead}, {what}", f"{lead}, {result.unit}", lead]


def _tails(result: PermutationTestResult) -> str:
    """Which ends of the distribution count as extreme; "shaded" where h says it otherwise."""
    if _is_certain(result):
        return "every labelling"
    if result.alternative == "two-sided":
        return "both tails"
    if result.alternative == "less":
        return "left tail"
    null = result.null_distribution
    beyond = null.support >= result.observed_sum
    possible = null.pmf > 0
    return (
        "right tail" if np.array_equal(result.extreme & possible, beyond & possible) else "shaded"
    )
