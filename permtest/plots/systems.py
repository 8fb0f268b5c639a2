"""Two systems item by item: their scores, their differences, and the mean of these."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch, Patch
from numpy.typing import NDArray

from permtest.alternatives.result import PairedSample
from permtest.exact import exact_perm_test
from permtest.monte_carlo import monte_carlo
from permtest.pairs import Pairs
from permtest.plots import roles, sheet
from permtest.plots.null import plot_null
from permtest.plots.plane import plot_plane
from permtest.result import PermutationTestResult, StructuredTestResult
from permtest.study.document import legible
from permtest.study.overview import Overview, item_scores, overview
from permtest.study.sections import is_long

if TYPE_CHECKING:
    from permtest.statistics import CountStatistic, Statistic
    from permtest.study.describe import Description, UnitSizes

Floats: TypeAlias = NDArray[np.float64]

WIDE, HIGH = 11.0, 5.0  # inches: of pictures side by side
FEW = 40  # items that are joined by a line each
BINS = 41  # bars of a histogram at most; odd, so that one of them has 0 in its middle
NAME = 20  # letters of a system's name
CUT, MUCH = 1.25, 2.0  # the bar of equal items ends at so many times the others, if it is as high
DROPS = 300  # of a raincloud; of more items, so many are drawn, evenly spread over the ranks
POINTS = 1000  # the same for a Q-Q plot
ROUNDED_CELLS, SAMPLES = 10**5, 20_000  # about as many cells, or labellings, where a law is long
KINDS = {"higher": (1, roles.A), "equal": (0, roles.NEITHER), "lower": (-1, roles.B)}


# ---- the comparison ------------------------------------------------------------------------------


def plot_estimation(
    pairs: Pairs | Overview,
    *,
    statistic: str | Statistic | CountStatistic = "mean",
    ax: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes, Axes]:
    """Draw what both systems score, how they differ item by item, and what that amounts to.

    Counts have no score of their own where a measure is 0 / 0; those items are left out of the
    scores. Differences are then what an item contributes to the whole, times the number of items.
    Where most items are equal, the bar of these is cut, and says so.

    Scores are those of `plot_raincloud`, or bars (gid "bars") if they are 0 or 1. Differences
    have the gids "higher", "lower" and "equal", the mean has "interval" and "zero".

    Parameters
    ----------
    pairs : Pairs or Overview
        Single scores or counts; or what `permtest.study.overview` made of them, whose statistic
        and interval are drawn.
    statistic : str, or what `statistic` returns, default "mean"
        What is compared, if it is not an overview that says it.
    ax : sequence of three matplotlib.axes.Axes, optional
        Where to draw: scores, differences of items, and their mean, which has its place below.
    """
    found = pairs if isinstance(pairs, Overview) else overview(pairs, statistic=statistic)
    with sheet.canvas(ax, (WIDE, HIGH), _three_axes) as ax:
        scores, differences, mean = sheet.check_axes(ax, 3, "parts")
        _draw_scores(scores, found)
        _draw_differences(differences, found)
        _draw_mean(mean, found, differences)
    return scores, differences, mean


def plot_comparison(found: Overview) -> tuple[Axes, ...]:
    """Draw the estimation plot above the null distribution, in a new figure.

    Those of `plot_estimation`, and of `plot_test`.

    Parameters
    ----------
    found : Overview
        Of `permtest.study.overview`.
    """
    with sheet.canvas(None, (WIDE, HIGH + 4.4), partial(_three_axes, fourth=4.0)) as axes:
        plot_estimation(found, ax=axes[:3])
        plot_test(found, ax=axes[3])
    return tuple(axes)


def _three_axes(figure: Figure, fourth: float = 0.0) -> tuple[Axes, ...]:
    """Scores on the left, differences above their mean; below all, a fourth one of this height."""
    heights = [3.0, 1.0, *([fourth] if fourth else [])]
    grid = figure.add_gridspec(len(heights), 2, width_ratios=(4, 6), height_ratios=heights)
    places = (grid[:2, 0], grid[0, 1], grid[1, 1], *([grid[2, :]] if fourth else []))
    return tuple(figure.add_subplot(place) for place in places)


def plot_test(found: Overview, *, ax: Axes | None = None) -> Axes:
    """Draw the null distribution of an overview; of two sums, the plane that they span.

    A law that is too long to be drawn is that of rounded differences, or of random labellings; p in
    the picture is that of the law in it.

    That of `plot_null` or `plot_plane`.

    Parameters
    ----------
    found : Overview
        Of `permtest.study.overview`.
    ax : matplotlib.axes.Axes, optional
    """
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


def _names(names: Sequence[str]) -> tuple[str, str]:
    """As they can be drawn, and different."""
    a, b = (legible(name, NAME) for name in names)
    return (a, b) if a != b else (f"{a} (A)", f"{b} (B)")


def _draw_scores(ax: Axes, found: Overview) -> None:
    """What both systems score on the items, as far as these have scores of their own."""
    items, names = found.items, _names(found.names)
    known = ~(np.isnan(items.a) | np.isnan(items.b))
    a, b = items.a[known], items.b[known]
    if not found.pairs.columns and np.isin((a, b), (0, 1)).all():
        _draw_outcomes(ax, names, a, b)
        return
    what = f"{found.measured} of an item" if found.pairs.columns else "score of an item"
    left_out = np.count_nonzero(~known)
    _draw_clouds(ax, names, a, b)
    what += f" ({left_out:,} without one left out)" * bool(left_out)
    sheet.literal(ax.xaxis.label, what, ax)


def _draw_outcomes(ax: Axes, names: tuple[str, str], a: Floats, b: Floats) -> None:
    """Bars: both right, the first one only, the second one only, neither."""
    equal = roles.NEITHER.area(ax)
    empty = equal | {"facecolor": ax.get_facecolor(), "edgecolor": "0.45"}
    rows = [
        ("both 1", a * b, equal),
        (f"only\n{names[0]} 1", a * (1 - b), roles.A.area(ax)),
        (f"only\n{names[1]} 1", b * (1 - a), roles.B.area(ax)),
        ("both 0", (1 - a) * (1 - b), empty),
    ]
    for row, (_, which, look) in enumerate(rows):
        bar = ax.barh([row], [which.sum()], gid="bars", **look)
        ax.bar_label(bar, [f"{which.sum():,.0f} ({which.mean() if a.size else 0:.1%})"], padding=6)
    sheet.name_rows(ax, [name for name, _, _ in rows], pad=4)
    ax.set_xlim(0, 1.5 * max(*(which.sum() for _, which, _ in rows), 1))
    sheet.counts(ax.xaxis, 3)
    ax.set_xlabel("items")


def _draw_differences(ax: Axes, found: Overview) -> None:
    """Bars of the items' differences, by which system is higher; that at 0 may be cut."""
    (a, b), worth, lead = _names(found.names), found.items.worth, found.items.lead
    edges = _edges(worth, centred=True)
    middles, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    width = 0.8 * width if edges.size <= 12 else width
    below, handles = np.zeros(middles.size), []
    words = {"higher": f"{a} higher", "equal": "equal", "lower": f"{b} higher"}
    for kind, (side, role) in KINDS.items():
        heights = np.histogram(worth[lead == side], edges)[0]
        ax.bar(middles, heights, width, bottom=below, gid=kind, **role.area(ax))
        below = below + heights
        label = f"{words[kind]}: {np.count_nonzero(lead == side):,}"
        handles.append(Patch(label=label, **role.area(ax, linewidth=0.5)))
    middle = int(np.argmin(np.abs(middles)))
    others = float(np.delete(below, middle).max(initial=0.0))
    ax.set_ylim(0, 1.06 * max(float(below.max()), 1.0))
    if 0 < MUCH * others < below[middle]:
        ax.set_ylim(0, CUT * others)
        look: dict[str, Any] = {"xytext": (8, -2), "textcoords": "offset points", "va": "top"}
        text = f"\N{UPWARDS ARROW} {below[middle]:,.0f}"
        note = ax.annotate(text, (0, CUT * others), gid="cut", **look)
        note.set_path_effects(list(roles.halo(ax)))
    ax.margins(x=0.03)
    ax.set_ylabel("items")
    (sheet.counts if np.all(worth == np.rint(worth)) else sheet.ticks)(ax.xaxis, 7)
    sheet.counts(ax.yaxis)
    what = f"{a} minus {b}, item by item"
    if found.pairs.columns:
        what = f"what an item adds to the difference in {found.measured}, \N{MULTIPLICATION SIGN}"
        what += f" {len(found.pairs):,}"
    sheet.key(ax, handles, what)


def _draw_mean(ax: Axes, found: Overview, above: Axes) -> None:
    """The difference per item with its interval, on a part of the axis above."""
    counted = bool(found.pairs.columns)
    per_item = 1.0 if counted or found.statistic.name == "mean" else len(found.pairs)
    mean = found.difference / per_item
    ends = [] if found.interval is None else [end / per_item for end in found.interval]
    seen = [0.0, mean, *(end for end in ends if isfinite(end))]
    room = 0.12 * (max(seen) - min(seen)) or 0.5 * float(np.ptp(above.get_xlim()))
    ax.set_xlim(min(seen) - room, max(seen) + room)
    ax.axvline(0, gid="zero", **roles.EQUAL.line())
    sheet.draw_interval(ax, 0, ends or [mean, mean], mean, marker="o", markersize=9, gid="interval")
    ax.set(ylim=(-1, 1), yticks=[])
    ax.spines["left"].set_visible(False)
    sheet.ticks(ax.xaxis, 7)
    text = f"difference in {found.measured}" if counted else "mean difference"
    text += f" {mean:+.4g}" if mean else " 0"
    if ends:
        low, high = (f"{end:.4g}" if isfinite(end) else "open" for end in ends)
        text += f"\n{100 * found.confidence_level:.4g}% interval {low} to {high}"
    sheet.literal(ax.xaxis.label, text, ax)
    limits = above.get_xlim()
    for x, side in zip(ax.get_xlim(), (0, 1), strict=True):  # thin lines to where it lies above
        ends_of = (side, 1), (min(max(x, limits[0]), limits[1]), 0)
        look: dict[str, Any] = {"color": "0.6", "linewidth": 1, "gid": "link", "zorder": -1}
        link = ConnectionPatch(*ends_of, ax.transAxes, above.get_xaxis_transform(), **look)
        link.set_in_layout(False)
        ax.figure.add_artist(link)
    for label in above.get_xticklabels():
        label.set_bbox({"facecolor": above.get_facecolor(), "edgecolor": "none", "pad": 1.0})


# ---- distributions of scores ---------------------------------------------------------------------


def plot_raincloud(pairs: Pairs, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of both systems as rainclouds: histogram, quartiles, single items.

    Up to 40 items are joined by lines in the look of the system that scores higher. Of more than
    300, so many dots are drawn, evenly spread over the ranks; dots are moved apart at random.

    The first system is above. Gids: "cloud", "quartiles", "mean" and "rain" for each system;
    "higher", "lower" and "equal" for lines.

    Parameters
    ----------
    pairs : Pairs
        Single scores.
    ax : matplotlib.axes.Axes, optional
    """
    with sheet.canvas(ax) as ax:
        sample = PairedSample(pairs)
        _draw_clouds(ax, _names(pairs.names), sample.a, sample.b)
        ax.set_xlabel("score of an item")
    return ax


def _draw_clouds(ax: Axes, names: tuple[str, str], a: Floats, b: Floats) -> None:
    """One cloud upwards, one downwards, and the rain between them."""
    if not a.size:
        return
    edges, moved = _edges(np.concatenate((a, b))), np.random.default_rng(0)
    peak = max(np.histogram(x, edges)[0].max() for x in (a, b))
    joined = a.size <= FEW
    rain = [side * (0.3 if joined else 0.22) for side in (1, -1)]
    for kind, (sign, role) in KINDS.items() if joined else ():
        for x, y in zip(a[np.sign(a - b) == sign], b[np.sign(a - b) == sign], strict=True):
            ax.plot([x, y], rain, linewidth=1.2, zorder=1, gid=kind, **role.line())
    for x, side, role, drops in zip((a, b), (1, -1), (roles.A, roles.B), rain, strict=True):
        heights = side * 0.8 * np.histogram(x, edges)[0] / peak + side * 0.7
        ax.stairs(heights, edges, baseline=side * 0.7, fill=True, gid="cloud", **role.area(ax))
        low, middle, high = np.quantile(x, (0.25, 0.5, 0.75))
        box: dict[str, Any] = {"color": roles.ink(), "solid_capstyle": "butt", "gid": "quartiles"}
        ax.plot([low, high], [side * 0.55] * 2, linewidth=7, **box)
        white: dict[str, Any] = {"color": ax.get_facecolor(), "marker": "|", "markersize": 9}
        ax.plot([middle], [side * 0.55], gid="median", markeredgewidth=2.5, **white)
        ax.plot([x.mean()], [side * 0.55], gid="mean", **role.dot(ax, markeredgecolor="w"))
        chosen = np.sort(x)[_spread(x.size, DROPS)]
        away = 0.0 if joined else moved.uniform(-0.16, 0.16, chosen.size)
        dots: dict[str, Any] = {"linestyle": "none", "markersize": 5 if joined else 3}
        dots |= {"alpha": 0.7, "markeredgewidth": 0, "gid": "rain"}
        ax.plot(chosen, drops + away * np.ones(chosen.size), **role.dot(ax) | dots)
    margin = 0.03 * float(edges[-1] - edges[0])
    ax.set(xlim=(edges[0] - margin, edges[-1] + margin), ylim=(-1.6, 1.6))
    ax.set_yticks([0.9, -0.9], ["\n".join(name.split(" ", 1)) for name in names])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.tick_params(axis="y", length=0)
    sheet.ticks(ax.xaxis, 5)
    parts = [("mean", "o", 8), ("quartiles", "s", 6)]
    handles = [
        ax.plot([], [], marker, color=roles.ink(), markersize=size, label=label)[0]
        for label, marker, size in parts
    ]
    sheet.key(ax, handles)


def plot_histograms(
    description: Description, *, ax: Sequence[Axes] | None = None
) -> tuple[Axes, Axes, Axes]:
    """Draw the scores of both systems and their differences as histograms.

    Scores of the first system, of the second one, differences. The first two have the same
    limits. Gids: "bars", "mean", "median", and "zero" for the line where the systems are equal.

    Parameters
    ----------
    description : Description
        Of `describe`.
    ax : sequence of three matplotlib.axes.Axes, optional
    """
    found = description
    with sheet.canvas(ax, (WIDE, 4.2), partial(Figure.subplots, ncols=3)) as ax:
        first, second, third = sheet.check_axes(ax, 3, "histograms")
        a, b = _names(found.names)
        both = _edges(np.concatenate((found.a.values, found.b.values)))  # the same, to be compared
        parts = [
            (first, found.a, a, roles.A, both),
            (second, found.b, b, roles.B, both),
            (third, found.difference, f"{a} minus {b}", roles.NEITHER, None),
        ]
        tops = []
        for place, summary, title, role, edges in parts:
            edges = _edges(summary.values, centred=True) if edges is None else edges
            heights = np.histogram(summary.values, edges)[0]
            tops.append(heights.max())
            ax_look = role.area(place, gid="bars")
            place.bar(edges[:-1], heights, np.diff(edges), align="edge", **ax_look)
            for name, value, dash in (
                ("mean", summary.mean, "-"),
                ("median", summary.median, ":"),
            ):
                look = {"color": roles.ink(), "linewidth": 2.4, "path_effects": roles.halo(place)}
                place.axvline(value, linestyle=dash, label=name, gid=name, **look)
            sheet.ticks(place.xaxis, 5)
            sheet.counts(place.yaxis)
            place.set_xlabel("difference of scores" if place is third else "score")
            sheet.key(place, place.lines, title)
        third.axvline(0, zorder=1, gid="zero", **roles.EQUAL.line())
        for place in (first, second):
            place.set_ylim(0, 1.06 * max(tops[:2]))
        first.set_ylabel("pairs")
    return first, second, third


def plot_quantiles(pairs: Pairs, *, ax: Axes | None = None) -> Axes:
    """Draw the differences against those that a normal law would have (a Q-Q plot).

    Gids: "differences" for the points, of which there are at most a thousand; "normal" for
    the line on which they would lie, with the mean and the standard deviation of the data.

    Parameters
    ----------
    pairs : Pairs
        Single scores.
    ax : matplotlib.axes.Axes, optional
    """
    from scipy.special import ndtri

    with sheet.canvas(ax) as ax:
        differences = np.sort(PairedSample(pairs).differences)
        chosen = _spread(differences.size, POINTS)
        normal = ndtri((chosen + 0.5) / differences.size)
        dots = roles.HOLDS.dot(ax, linestyle="none", markersize=5, gid="differences")
        shown = ax.plot(normal, differences[chosen], label="observed", **dots)
        ends = np.array(ax.get_xlim())
        expected = differences.mean() + differences.std() * ends
        look = roles.EQUAL.line(label="a normal law with this mean and standard deviation")
        shown += ax.plot(ends, expected, zorder=1, gid="normal", **look)
        a, b = _names(pairs.names)
        ax.set(xlim=ends, xlabel="standard normal quantile")
        sheet.literal(ax.yaxis.label, f"{a} minus {b}", 36)
        sheet.key(ax, shown)
    return ax


def plot_unit_sizes(found: UnitSizes, *, ax: Axes | None = None) -> Axes:
    """Draw how much the differences of units vary, for units of several sizes.

    Gids: "deviations" for the curve, "stable" for the sizes that are called stable.

    Parameters
    ----------
    found : UnitSizes
        Of `unit_sizes`.
    ax : matplotlib.axes.Axes, optional
    """
    with sheet.canvas(ax) as ax:
        sizes, sds = np.asarray(found.sizes), np.asarray(found.sds)
        curve = roles.CURVES[0].line(marker="." if sizes.size > 1 else "o", gid="deviations")
        shown = ax.plot(sizes, sds, label=f"units of the {found.metric}", **curve)
        stable = np.isin(sizes, found.stable)
        mark = roles.BROKEN.dot(ax, color=roles.ink(), linestyle="none", gid="stable")
        change = f"changes by {found.tolerance:.2g} or less (first {stable.sum()})"
        shown += ax.plot(sizes[stable], sds[stable], label=change, **mark)
        margin = 0.04 * max(float(sizes[-1] - sizes[0]), 1.0)
        ax.set_xlim(float(sizes[0]) - margin, float(sizes[-1]) + margin)
        ax.set_ylim(0, 1.1 * float(sds.max()) or 1.0)
        sheet.counts(ax.xaxis, 8)
        ax.set(xlabel="items in a unit", ylabel="sd of unit differences")
        sheet.key(ax, shown if stable.any() else shown[:1])
    return ax


def _spread(size: int, most: int) -> NDArray[np.int64]:
    """At most so many ranks of `size`, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).astype(np.int64))


def _edges(values: Floats, centred: bool = False) -> Floats:
    """Of bars for all values: one for each if there are few and they are evenly spaced."""
    distinct = np.unique(np.append(values, 0.0) if centred else values)
    low, high = float(distinct[0]), float(distinct[-1])
    gaps = np.diff(distinct)
    step = float(gaps.min()) if gaps.size else 1.0
    even = bool(np.all(np.abs(gaps / step - np.rint(gaps / step)) < 1e-6))
    if not even or (high - low) / step >= BINS:
        wide = (high - low) / (BINS - 1)
        step = step * np.ceil(wide / step) if even else wide
    start = -step * np.ceil(-low / step - 1e-9) if centred else low
    return np.asarray(start + step * (np.arange(round((high - start) / step) + 2) - 0.5))
