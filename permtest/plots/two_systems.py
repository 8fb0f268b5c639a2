"""Two systems item by item: their scores, their differences, and the mean of these."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch, Patch
from numpy.typing import NDArray

from permtest.plots import roles, sheet
from permtest.study.document import percent
from permtest.study.overview import Overview

if TYPE_CHECKING:
    from permtest.study.describe import Description, UnitSizes

Floats: TypeAlias = NDArray[np.float64]
Kinds: TypeAlias = dict[str, tuple[int, roles.Look]]  # gid -> sign of a difference, and its look

HIGH = 5.0  # inches: of scores, differences and their mean
FEW = 40  # items that are joined by a line each
BINS = 41  # bars of a histogram at most; odd, so that one of them has 0 in its middle
NAME = 20  # letters of a system's name
CUT, MUCH = 1.25, 2.0  # the bar of equal items ends at so many times the others, if it is as high
DROPS = 300  # items of a raincloud; of more, so many are drawn


# ---- the comparison ------------------------------------------------------------------------------


def plot_estimation(
    found: Overview, *, ax: Sequence[Axes] | None = None
) -> tuple[Axes, Axes, Axes]:
    """Draw both systems' scores, their differences item by item, and the overall difference.

    Counts have no score of their own where a measure is 0 / 0; those items are left out of the
    scores. Differences are then what an item contributes to the whole, times the number of items.
    Where most items are equal, the bar of these is cut, and says so.

    Scores are rainclouds (gids "cloud", "quartiles", "mean" and "rain"), or bars (gid "bars") if
    they are 0 or 1. Differences have the gids "higher", "lower" and "equal", the mean has
    "interval" and "zero".

    Parameters
    ----------
    found : Overview
        Of `permtest.study.overview`.
    ax : sequence of three matplotlib.axes.Axes, optional
        Where to draw: scores, differences of items, and their mean, which has its place below.
    """
    higher, lower = roles.A, roles.B
    if not found.exact.score.higher_is_better:
        higher, lower = lower, higher  # the look is that of the better system
    kinds: Kinds = {"higher": (1, higher), "equal": (0, roles.NEITHER), "lower": (-1, lower)}
    with sheet.canvas(ax, (sheet.WIDE, HIGH), _three_axes) as ax:
        scores, differences, mean = sheet.check_axes(ax, 3, "parts")
        _draw_scores(scores, found, kinds)
        _draw_differences(differences, found, kinds)
        _draw_mean(mean, found, differences)
    return scores, differences, mean


def _three_axes(figure: Figure) -> tuple[Axes, ...]:
    """Scores on the left, differences above their mean."""
    grid = figure.add_gridspec(2, 2, width_ratios=(4, 6), height_ratios=(3, 1))
    return tuple(figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))


def _draw_scores(ax: Axes, found: Overview, kinds: Kinds) -> None:
    """What both systems score on the items, as far as these have scores of their own."""
    items, names = found.items, sheet.distinct(found.names, NAME)
    known = ~(np.isnan(items.a) | np.isnan(items.b))
    a, b = items.a[known], items.b[known]
    if found.pairs.columns or not np.isin((a, b), (0, 1)).all():
        _draw_clouds(ax, names, a, b, kinds)
        what = f"{found.measured} of an item" if found.pairs.columns else "score of an item"
        left_out = np.count_nonzero(~known)
        what += f" ({left_out:,} without a score left out)" * bool(left_out)
        sheet.literal(ax.xaxis.label, what, ax)
        return
    empty = {"facecolor": ax.get_facecolor(), "edgecolor": "0.45"}
    rows = {
        "both 1": (a * b, roles.NEITHER.area(ax)),
        f"only\n{names[0]} 1": (a * (1 - b), roles.A.area(ax)),
        f"only\n{names[1]} 1": (b * (1 - a), roles.B.area(ax)),
        "both 0": ((1 - a) * (1 - b), empty),
    }
    sheet.name_rows(ax, list(rows), pad=4)
    for row, (which, look) in enumerate(rows.values()):
        bar = ax.barh([row], [which.sum()], gid="bars", **look)
        ax.bar_label(bar, [f"{which.sum():,.0f} ({which.mean() if a.size else 0:.1%})"], padding=6)
    ax.set_xlim(0, 1.5 * max(*(which.sum() for which, _ in rows.values()), 1))
    sheet.counts(ax.xaxis, 3)
    ax.set_xlabel("items")


def _draw_differences(ax: Axes, found: Overview, kinds: Kinds) -> None:
    """Bars of the items' differences, by which system is better; that at 0 may be cut."""
    (a, b), worth = sheet.distinct(found.names, NAME), found.items.worth
    edges = _edges(worth, centred=True)
    middles, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    width = 0.8 * width if edges.size <= 12 else width
    below, handles = np.zeros(middles.size), []
    words = (f"{a} higher", "equal", f"{b} higher")
    words = words if found.exact.score.higher_is_better else (f"{b} lower", "equal", f"{a} lower")
    for (kind, (side, role)), label in zip(kinds.items(), words, strict=True):
        chosen = worth[found.items.lead == side]
        heights = np.histogram(chosen, edges)[0]
        ax.bar(middles, heights, width, bottom=below, gid=kind, **role.area(ax))
        below = below + heights
        handles.append(Patch(label=f"{label}: {chosen.size:,}", **role.area(ax, linewidth=0.5)))
    middle = int(np.argmin(np.abs(middles)))
    others = float(np.delete(below, middle).max(initial=0.0))
    ax.set_ylim(0, 1.06 * max(float(below.max()), 1.0))
    if 0 < MUCH * others < below[middle]:
        ax.set_ylim(0, CUT * others)
        at: dict[str, Any] = {"textcoords": "offset points", "va": "top", "gid": "cut"}
        text, halo = f"\N{UPWARDS ARROW} {below[middle]:,.0f}", roles.halo(ax)
        ax.annotate(text, (0, CUT * others), (8, -2), path_effects=halo, **at)
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
    limits = above.get_xlim()
    sheet.fit(ax, [0.0, mean, *ends], 0.12, 0.5 * float(np.ptp(limits)))
    ax.axvline(0, gid="zero", **roles.EQUAL.line())
    sheet.draw_interval(ax, 0, ends or [mean, mean], mean, marker="o", markersize=9, gid="interval")
    ax.set(ylim=(-1, 1), yticks=[])
    ax.spines["left"].set_visible(False)
    sheet.ticks(ax.xaxis, 7)
    text = f"difference in {found.measured}" if counted else "mean difference"
    text += f" {mean:+.4g}" if mean else " 0"
    if ends:
        low, high = (f"{end:.4g}" if isfinite(end) else "open" for end in ends)
        text += f"\n{percent(found.confidence_level)} interval {low} to {high}"
    sheet.literal(ax.xaxis.label, text, ax)
    for x, side in zip(ax.get_xlim(), (0, 1), strict=True):  # thin lines to where it lies above
        ends_of = (side, 1), (np.clip(x, *limits), 0)
        look: dict[str, Any] = {"color": "0.6", "linewidth": 1, "gid": "link", "zorder": -1}
        link = ConnectionPatch(*ends_of, ax.transAxes, above.get_xaxis_transform(), **look)
        link.set_in_layout(False)
        ax.figure.add_artist(link)
    for label in above.get_xticklabels():
        label.set_bbox({"facecolor": above.get_facecolor(), "edgecolor": "none", "pad": 1.0})


# ---- distributions of scores ---------------------------------------------------------------------


def _draw_clouds(ax: Axes, names: Sequence[str], a: Floats, b: Floats, kinds: Kinds) -> None:
    """Rainclouds: a histogram upwards, one downwards, between them quartiles and single items."""
    if not a.size:
        return
    edges, moved = _edges(np.concatenate((a, b))), np.random.default_rng(0)
    peak = max(np.histogram(x, edges)[0].max() for x in (a, b))
    joined = a.size <= FEW
    rain = 0.3 if joined else 0.22
    for kind, (sign, role) in kinds.items() if joined else ():
        for x, y in zip(a[np.sign(a - b) == sign], b[np.sign(a - b) == sign], strict=True):
            ax.plot([x, y], [rain, -rain], linewidth=1.2, zorder=1, gid=kind, **role.line())
    ink, white = roles.ink(), ax.get_facecolor()
    for x, side, role in ((a, 1, roles.A), (b, -1, roles.B)):
        heights = side * (0.8 * np.histogram(x, edges)[0] / peak + 0.7)
        ax.stairs(heights, edges, baseline=side * 0.7, fill=True, gid="cloud", **role.area(ax))
        low, middle, high = np.quantile(x, (0.25, 0.5, 0.75))
        thick: dict[str, Any] = {"linewidth": 7, "solid_capstyle": "butt", "gid": "quartiles"}
        ax.plot([low, high], [side * 0.55] * 2, color=ink, **thick)
        tick: dict[str, Any] = {"marker": "|", "markersize": 9, "markeredgewidth": 2.5}
        ax.plot([middle], [side * 0.55], color=white, gid="median", **tick)
        ax.plot([x.mean()], [side * 0.55], gid="mean", **role.dot(ax, markeredgecolor="w"))
        chosen = np.sort(x)[np.linspace(0, x.size - 1, min(x.size, DROPS)).astype(np.int64)]
        away = moved.uniform(-0.16, 0.16, chosen.size) * (not joined)
        dots: dict[str, Any] = {"linestyle": "none", "markersize": 5 if joined else 3}
        dots |= {"alpha": 0.7, "markeredgewidth": 0, "gid": "rain"}
        ax.plot(chosen, side * rain + away, **role.dot(ax, **dots))
    sheet.fit(ax, edges[[0, -1]], 0.03)
    ax.set_ylim(-1.6, 1.6)
    ax.set_yticks([0.9, -0.9], ["\n".join(name.split(" ", 1)) for name in names], parse_math=False)
    ax.tick_params(axis="y", length=0)
    sheet.ticks(ax.xaxis, 5)
    parts = [("mean", "o", 8), ("quartiles", "s", 6)]
    sheet.key(ax, [sheet.dot(x, color=ink, marker=mark, markersize=n) for x, mark, n in parts])


def plot_histograms(
    description: Description, *, ax: Sequence[Axes] | None = None
) -> tuple[Axes, Axes, Axes]:
    """Draw the scores of both systems and their differences as histograms.

    The axes have the scores of the first system, those of the second one, and the differences. The
    first two have the same limits. Gids: "bars", "mean", "median", and "zero" for the line where
    the systems are equal.

    Parameters
    ----------
    description : Description
        Of `describe`.
    ax : sequence of three matplotlib.axes.Axes, optional
    """
    found = description
    with sheet.canvas(ax, (sheet.WIDE, 4.2), partial(Figure.subplots, ncols=3)) as ax:
        axes = sheet.check_axes(ax, 3, "histograms")
        a, b = sheet.distinct(found.names, NAME)
        both = _edges(np.concatenate((found.a.values, found.b.values)))  # the same, to be compared
        apart = _edges(found.difference.values, centred=True)
        parts = [
            (found.a, a, roles.A, both, "score"),
            (found.b, b, roles.B, both, "score"),
            (found.difference, f"{a} minus {b}", roles.NEITHER, apart, "difference of scores"),
        ]
        for place, (summary, title, role, edges, what) in zip(axes, parts, strict=True):
            heights, look = np.histogram(summary.values, edges)[0], role.area(place, gid="bars")
            place.bar(edges[:-1], heights, np.diff(edges), align="edge", **look)
            for name, dash in (("mean", "-"), ("median", ":")):
                look = {"color": roles.ink(), "linewidth": 2.4, "path_effects": roles.halo(place)}
                value = getattr(summary, name)
                place.axvline(value, linestyle=dash, label=name, gid=name, **look)
            sheet.ticks(place.xaxis, 5)
            sheet.counts(place.yaxis)
            place.set_xlabel(what)
            sheet.key(place, place.lines, title)
        axes[2].axvline(0, zorder=1, gid="zero", **roles.EQUAL.line())
        top = max(place.get_ylim()[1] for place in axes[:2])
        axes[0].set(ylim=(0, top), ylabel="pairs")
        axes[1].set_ylim(0, top)
    return axes[0], axes[1], axes[2]


def plot_unit_sizes(found: UnitSizes, *, ax: Axes | None = None) -> Axes:
    """Draw the standard deviation of the differences of units, for units of several sizes.

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
        sheet.fit(ax, sizes[[0, -1]], 0.04)
        ax.set_ylim(0, 1.1 * float(sds.max()) or 1.0)
        sheet.counts(ax.xaxis, 8)
        ax.set(xlabel="items in a unit", ylabel="sd of unit differences")
        sheet.key(ax, shown if stable.any() else shown[:1])
    return ax


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
