"""Estimation plots: both systems' scores, their differences item by item, and the mean of these."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.patches import ConnectionPatch, Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from permtest.exact import exact_perm_test
from permtest.monte_carlo import monte_carlo
from permtest.pairs import Pairs
from permtest.plots import roles
from permtest.plots.null import plot_null
from permtest.plots.parts import draw_interval, literal, name_rows
from permtest.plots.plane import plot_plane
from permtest.plots.sheet import NICE, legend_above, new_axes, new_figure, plain, style
from permtest.result import PermutationTestResult, StructuredTestResult
from permtest.study.document import legible
from permtest.study.overview import Overview, item_scores, overview
from permtest.study.sections import is_long

if TYPE_CHECKING:
    from permtest.statistics import CountStatistic, Statistic

WIDTH, HEIGHT = 13.0, 5.2  # inches
WIDTHS, HEIGHTS = (5, 7), (3, 1)  # of scores and differences; of differences and their mean
FEW = 40  # items that have a line each
BINS = 41  # bars of a histogram; odd, so that one of them has 0 in its middle
NAME = 22  # letters of a system's name
CUT = 1.25  # times the highest other bar: that of equal items ends there
MUCH = 2.0  # times as high it must be for that
ROUNDED_CELLS, SAMPLES = 10**5, 20_000  # about as many cells, or labellings, where a law is long
MANY_BARS = 12  # from so many on they touch each other

Floats = NDArray[np.float64]


def plot_estimation(
    pairs: Pairs | Overview,
    *,
    statistic: str | Statistic | CountStatistic = "mean",
    ax: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes, Axes]:
    """Draw what both systems score, how they differ item by item, and what that amounts to.

    Parameters
    ----------
    pairs : Pairs or Overview
        Single scores or counts; or what `permtest.study.overview` made of them, whose statistic
        and interval are drawn.
    statistic : str, or what `statistic` returns, default "mean"
        What is compared, if it is not an overview that says it.
    ax : sequence of three matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller: scores, differences of items, and their
        mean, which has its place below. Default: a new figure in the style of the project.

    Returns
    -------
    tuple of three matplotlib.axes.Axes
        Scores: items as lines from one system to the other (gids "higher", "lower", "equal") if
        there are few, bars of both right, one right, none right (gid "bars") if they are 0 or 1,
        else both systems' histograms back to back (gids "first", "second"). Differences: bars
        with the gids "higher", "lower" and "equal". Mean: gids "interval" and "zero"; its axis is
        a part of the one above, to whose ends thin lines lead.

    Raises
    ------
    ValueError
        If `ax` has not three axes.

    Notes
    -----
    Counts have no score of their own where a measure is 0 / 0; those items are left out of the
    scores. Differences are then what an item contributes to the whole, times the number of items,
    so that their mean is the difference. Where most items are equal, the bar of these is cut, and
    says so. Cost: a few passes over the items.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import Pairs
    >>> from permtest.plots import plot_estimation
    >>> pairs = Pairs.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], ("new", "old"))
    >>> scores, differences, mean = plot_estimation(pairs, ax=Figure().subplots(1, 3))
    >>> mean.get_xlabel()
    'mean difference +1.4'
    """
    found = pairs if isinstance(pairs, Overview) else overview(pairs, statistic=statistic)
    if ax is None:
        with style():
            return plot_estimation(found, ax=estimation_axes())
    if len(ax) != 3:
        raise ValueError(f"ax has {len(ax)} axes, but there are three to draw on")
    scores, differences, mean = ax
    _draw_scores(scores, found)
    _draw_differences(differences, found)
    _draw_mean(mean, found, differences)
    return scores, differences, mean


def plot_comparison(found: Overview) -> tuple[Axes, ...]:
    """Draw the estimation plot above the null distribution, in a new figure.

    Parameters
    ----------
    found : Overview
        Of `permtest.study.overview`.

    Returns
    -------
    tuple of four matplotlib.axes.Axes
        Those of `plot_estimation`, and of `plot_test`.

    Examples
    --------
    >>> from permtest import Pairs
    >>> from permtest.plots import plot_comparison
    >>> from permtest.study import overview
    >>> len(plot_comparison(overview(Pairs.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]))))
    4
    """
    with style():
        axes = estimation_axes(new_figure((WIDTH, HEIGHT + 4.4)), more=4.0)
        plot_estimation(found, ax=axes[:3])
        plot_test(found, ax=axes[3])
    return axes


def plot_test(found: Overview, *, ax: Axes | None = None) -> Axes:
    """Draw the null distribution of an overview; of two sums, the plane that they span.

    Parameters
    ----------
    found : Overview
        Of `permtest.study.overview`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.

    Returns
    -------
    matplotlib.axes.Axes
        That of `plot_null` or `plot_plane`. A law that is too long to be drawn is that of rounded
        differences, or of random labellings; p in the picture is that of the law in it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import Pairs
    >>> from permtest.plots import plot_test
    >>> from permtest.study import overview
    >>> found = overview(Pairs.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]))
    >>> plot_test(found, ax=Figure().subplots()).get_ylabel()
    'probability'
    """
    if ax is None:
        with style():
            return plot_test(found, ax=new_axes())
    result = drawable(found)
    if not isinstance(result, StructuredTestResult) or result.n_samples is not None:
        return plot_null(result, ax=ax)
    plane = result.rank == len(result.parts) == 2
    return plot_plane(result, ax=ax) if plane else plot_null(result, ax=ax)


def drawable(found: Overview) -> PermutationTestResult:
    """The exact test, or one like it whose null distribution is not too long."""
    how: dict[str, Any] = {"statistic": found.statistic, "alternative": found.alternative}
    if not is_long(found.exact):
        return found.exact
    if isinstance(found.exact, StructuredTestResult):
        return monte_carlo(found.pairs, K=SAMPLES, rng=found.seed, **how)
    worth = item_scores(found.units, found.statistic).worth - found.delta
    digits = floor(log10(ROUNDED_CELLS / float(np.abs(worth).sum())))
    cells = [int(x) * 10 ** max(-digits, 0) for x in np.rint(worth * 10.0**digits)]
    u = np.array(cells, dtype=object)
    coarse = Pairs(u, 0 * u, found.names, scale=10 ** max(digits, 0))
    return exact_perm_test(coarse, statistic="mean", alternative=found.alternative)


def estimation_axes(figure: Any = None, more: float = 0.0) -> tuple[Axes, ...]:
    """Axes for the three parts, in a figure of their own unless one is given.

    `more`: height of a fourth one below, in quarters of what the three have.
    """
    figure = figure or new_figure((WIDTH, HEIGHT))
    rows = [*HEIGHTS, more][: 3 if more else 2]
    grid = figure.add_gridspec(len(rows), 2, width_ratios=WIDTHS, height_ratios=rows)
    places = (grid[:2, 0], grid[0, 1], grid[1, 1], *([grid[2, :]] if more else []))
    return tuple(figure.add_subplot(place) for place in places)


def _names(found: Overview) -> tuple[str, str]:
    a, b = (legible(name, NAME) for name in found.names)
    return (a, b) if a != b else (f"{a} (A)", f"{b} (B)")


# ---- looks, that can be told apart in grey -------------------------------------------------------


def _looks(ax: Axes) -> dict[str, dict[str, Any]]:
    """Of items on which the first system is higher, the second one, or neither."""
    return {
        "higher": roles.A.area(ax),
        "lower": roles.B.area(ax),
        "equal": roles.NEITHER.area(ax),
    }


def _legend_of_record(ax: Axes, found: Overview) -> None:
    """What the axis shows, and on how many items either system is higher."""
    (a, b), record, looks = _names(found), found.record, _looks(ax)
    what = f"difference, {a} minus {b}"
    if found.pairs.columns:
        what = (
            f"what an item adds to the difference in {found.measured}, times {len(found.pairs):,}"
        )
    numbers = {"higher": record.wins, "equal": record.ties, "lower": record.losses}
    words = {"higher": f"{a} higher", "equal": "equal", "lower": f"{b} higher"}
    handles = [
        Patch(linewidth=0.5, label=f"{words[kind]}: {count:,}", **looks[kind])
        for kind, count in numbers.items()
    ]
    title = "\n".join(wrap(what, 52))
    legend = legend_above(ax, handles, columns=1, title=title, alignment="left")
    literal(legend.get_title(), *legend.get_texts())
    legend.get_title().set_fontsize(mpl.rcParams["axes.labelsize"])


def _count(axis: Axis) -> None:
    """Numbers of items along an axis."""
    axis.set_major_locator(MaxNLocator(4, steps=NICE, integer=True))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


# ---- scores --------------------------------------------------------------------------------------


def _draw_scores(ax: Axes, found: Overview) -> None:
    items = found.items
    known = ~(np.isnan(items.a) | np.isnan(items.b))
    a, b = items.a[known], items.b[known]
    one = f"{found.measured} of an item" if found.pairs.columns else "score of an item"
    left_out = int(np.count_nonzero(~known))
    note = f"\n({left_out:,} without one left out)" if left_out else ""
    if not found.pairs.columns and _binary(a) and _binary(b):
        _draw_outcomes(ax, found, a, b)
    elif a.size <= FEW:
        _draw_lines(ax, found, a, b)
        plain(ax.yaxis.label, f"{one}{note}")
    else:
        _draw_histograms(ax, found, a, b)
        plain(ax.yaxis.label, f"{one}{note}")


def _binary(scores: Floats) -> bool:
    return bool(np.all((scores == 0) | (scores == 1)))


def _draw_outcomes(ax: Axes, found: Overview, a: Floats, b: Floats) -> None:
    """Bars: both right, the first one only, the second one only, neither."""
    (first, second), looks = _names(found), _looks(ax)
    rows = [
        ("both 1", np.sum((a == 1) & (b == 1)), looks["equal"]),
        (f"only\n{first} 1", np.sum(a > b), looks["higher"]),
        (f"only\n{second} 1", np.sum(a < b), looks["lower"]),
        (
            "both 0",
            np.sum((a == 0) & (b == 0)),
            looks["equal"] | {"facecolor": "1.0", "edgecolor": "0.45"},
        ),
    ]
    for row, (_, count, look) in enumerate(rows):
        ax.barh([row], [count], gid="bars", **look)
        ax.annotate(
            f"{count:,} ({count / a.size:.1%})",
            (float(count), row),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
        )
    name_rows(ax, [name for name, _, _ in rows], pad=4)
    ax.set_xlim(0, 1.45 * max(max(int(count) for _, count, _ in rows), 1))
    _count(ax.xaxis)
    ax.set_xlabel("items")


def _draw_lines(ax: Axes, found: Overview, a: Floats, b: Floats) -> None:
    """A line for each item, from the first system to the second."""
    looks = {
        kind: role.line(marker=role.mark)
        for kind, role in (("higher", roles.A), ("lower", roles.B), ("equal", roles.NEITHER))
    }
    for x, y in zip(a, b, strict=True):
        kind = "higher" if x > y else "lower" if x < y else "equal"
        ax.plot([0, 1], [x, y], gid=kind, linewidth=1.4, markersize=6, **looks[kind])
    if a.size:
        means = [float(a.mean()), float(b.mean())]
        ax.plot([-0.15, 1.15], means, gid="mean", color=roles.ink(), marker="o", linestyle="none")
    ax.set_xlim(-0.35, 1.35)
    _name_sides(ax, found, [0, 1])
    ax.yaxis.set_major_locator(MaxNLocator(6, steps=NICE))


def _draw_histograms(ax: Axes, found: Overview, a: Floats, b: Floats) -> None:
    """The first system to the left, the second to the right, with their means."""
    looks, black = _looks(ax), roles.ink()
    edges = _edges(np.concatenate((a, b)))
    counts = [np.histogram(x, edges)[0] for x in (a, b)]
    middles, height = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    most = max(int(count.max()) for count in counts)
    for side, count, gid in ((-1, counts[0], "first"), (1, counts[1], "second")):
        look = looks["higher" if side < 0 else "lower"]
        ax.barh(middles, side * count, height, gid=gid, **look)
    mean: dict[str, Any] = {"color": black, "linewidth": 2.2, "path_effects": roles.halo(ax)}
    for side, x in ((-1, a), (1, b)):
        ax.plot([0, 1.04 * side * most], [x.mean()] * 2, gid="mean", **mean)
    ax.axvline(0, color=black, linewidth=1)
    ax.set_xlim(-1.1 * most, 1.1 * most)
    ax.set_ylim(edges[0], edges[-1])
    _name_sides(ax, found, [-most / 2, most / 2])
    ax.tick_params(axis="x", length=0)
    ax.yaxis.set_major_locator(MaxNLocator(6, steps=NICE))
    line = [Line2D([], [], label="mean over items", **mean)]
    legend_above(ax, line)


def _name_sides(ax: Axes, found: Overview, places: Sequence[float]) -> None:
    lines = (wrap(name, 18 if len(name) <= 18 else 12) for name in _names(found))
    ax.set_xticks(places, ["\n".join(words) for words in lines])
    literal(*ax.get_xticklabels())


def _edges(values: Floats, centred: bool = False) -> Floats:
    """Of bars for all values: one for each if there are few and they are evenly spaced."""
    distinct = np.unique(values)
    low, high = float(distinct[0]), float(distinct[-1])
    if centred:
        low, high = min(low, 0.0), max(high, 0.0)
    gaps = np.diff(np.unique(np.append(distinct, 0.0) if centred else distinct))
    step = float(gaps.min()) if gaps.size else 1.0
    even = gaps.size == 0 or bool(np.all(np.abs(gaps / step - np.rint(gaps / step)) < 1e-6))
    if not even or (high - low) / step >= BINS:
        step = (high - low) / (BINS - 1)
        if even and gaps.size:
            step = float(gaps.min()) * np.ceil(step / float(gaps.min()))
    start = -step * np.ceil(-low / step - 1e-9) if centred else low
    number = round((high - start) / step - 1e-9) + 1
    return np.asarray(start + step * (np.arange(number + 1) - 0.5))


# ---- differences ---------------------------------------------------------------------------------


def _draw_differences(ax: Axes, found: Overview) -> None:
    """Bars of the items' differences, by which system is higher; that at 0 may be cut."""
    worth, lead, looks = found.items.worth, found.items.lead, _looks(ax)
    edges = _edges(worth, centred=True)
    middles, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    if edges.size <= MANY_BARS:
        width = 0.8 * width
    below = np.zeros(middles.size)
    for kind, side in (("equal", 0), ("higher", 1), ("lower", -1)):
        counts = np.histogram(worth[lead == side], edges)[0]
        ax.bar(middles, counts, width, bottom=below, gid=kind, **looks[kind])
        below += counts
    _set_height(ax, below, int(np.argmin(np.abs(middles))))
    margin = 0.03 * float(edges[-1] - edges[0])
    ax.set_xlim(float(edges[0]) - margin, float(edges[-1]) + margin)
    ax.set_ylabel("items")
    whole = bool(np.all(worth == np.rint(worth)))
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=NICE, integer=whole))
    _count(ax.yaxis)
    _legend_of_record(ax, found)


def _set_height(ax: Axes, heights: Floats, middle: int) -> None:
    """All bars; where that at 0 dwarfs the others it goes on above the axes, and says so."""
    others = float(np.delete(heights, middle).max(initial=0.0))
    if not 0 < MUCH * others < heights[middle]:
        ax.set_ylim(0, 1.06 * max(float(heights.max()), 1.0))
        return
    ax.set_ylim(0, CUT * others)
    ax.annotate(
        f"\N{UPWARDS ARROW} {heights[middle]:,.0f}",
        (0, CUT * others),
        xytext=(8, -2),
        textcoords="offset points",
        va="top",
        gid="cut",
        bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.5},
    )


# ---- the mean ------------------------------------------------------------------------------------


def _draw_mean(ax: Axes, found: Overview, above: Axes) -> None:
    """The difference per item with its interval, on a part of the axis above."""
    per_item = 1.0 if found.pairs.columns or found.statistic.name == "mean" else len(found.pairs)
    mean = found.difference / per_item
    ends = [] if found.interval is None else [end / per_item for end in found.interval]
    seen = [0.0, mean, *(end for end in ends if isfinite(end))]
    room = 0.12 * (max(seen) - min(seen)) or 0.5 * float(np.ptp(above.get_xlim()))
    ax.set_xlim(min(seen) - room, max(seen) + room)
    ax.axvline(0, gid="zero", **roles.EQUAL.line())
    draw_interval(ax, 0, ends or [mean, mean], mean, marker="o", markersize=9, gid="interval")
    ax.set_ylim(-1, 1)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=NICE))
    plain(ax.xaxis.label, _mean_text(found, mean, ends))
    _link(ax, above)


def _mean_text(found: Overview, mean: float, ends: list[float]) -> str:
    name = f"difference in {found.measured}" if found.pairs.columns else "mean difference"
    text = f"{name} {mean:+.4g}" if mean else f"{name} 0"
    if not ends:
        return text
    low, high = (f"{end:.4g}" if isfinite(end) else "open" for end in ends)
    return f"{text}\n{100 * found.confidence_level:.4g}% interval {low} to {high}"


def _link(ax: Axes, above: Axes) -> None:
    """Thin lines from the ends of the axis to where they lie on the one above."""
    low, high = above.get_xlim()
    for x, side in zip(ax.get_xlim(), (0, 1), strict=True):
        place = min(max(x, low), high)
        link = ConnectionPatch(
            (side, 1),
            (place, 0),
            ax.transAxes,
            above.get_xaxis_transform(),
            color="0.6",
            linewidth=1,
        )
        link.set_in_layout(False)
        link.set_gid("link")
        link.set_zorder(-1)  # below the numbers of the axis, which stand on a ground of their own
        ax.figure.add_artist(link)
    for label in above.get_xticklabels():
        label.set_bbox({"facecolor": above.get_facecolor(), "edgecolor": "none", "pad": 1.0})
