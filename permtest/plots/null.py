"""Null distributions: of a sum, of a statistic made of sums, sampled."""

from __future__ import annotations

from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch
from numpy.typing import NDArray

from permtest._text import counted
from permtest.plots import roles, sheet
from permtest.result import PermutationTestResult

#: How the axis of probabilities is divided.
Scale: TypeAlias = Literal["linear", "log"]
Floats: TypeAlias = NDArray[np.floating[Any]]
Ends: TypeAlias = tuple[float, float]

BARS = 64  # up to so many possible values in view, each is a bar with gaps beside it
COLUMNS, BINS = 1200, 60  # at most so many columns for cells of a lattice, and for other values
UNSEEN = {"linear": 1e-5, "log": 1e-10}  # the mass at either end that is left out
HEADROOM = 0.06  # of the height of the axes, above the highest column
SMALLEST = 1e-300  # where a logarithmic axis ends at the latest
TAILS = {"two-sided": "both tails", "greater": "right tail", "less": "left tail"}


class View(NamedTuple):
    """The part of a null distribution that is in view, as columns."""

    limits: Ends  # of the horizontal axis
    edges: Floats  # M + 1 boundaries between columns
    body: Floats  # mass of what is less extreme than what was observed; NaN where there is none
    rejected: Floats  # mass of the rest

    def heights(self, scale: Scale) -> Ends:
        """Limits of the axis of probabilities, a little above the highest column."""
        drawn = np.concatenate((self.body, self.rejected))
        drawn = drawn[~np.isnan(drawn)]
        peak, least = (float(drawn.max()), float(drawn.min())) if drawn.size else (1.0, 1.0)
        if scale == "linear":
            return 0.0, peak * (1 + HEADROOM)
        bottom = max(min(least / 3, peak / 30), SMALLEST)
        return bottom, peak * (peak / bottom) ** HEADROOM


def marks(result: PermutationTestResult) -> tuple[float, ...]:
    """The observed value and, for a two-sided test, its mirror image if that is another one."""
    mirrored = result.mirrored_sum
    return (float(result.observed_sum), *([] if mirrored is None else [float(mirrored)]))


def look(result: PermutationTestResult, scale: Scale, limits: Ends | None = None) -> View:
    """What is in view between these limits, by default all that can be seen, as columns."""
    law = result.null_distribution.pmf
    order = np.argsort(result.null_values, kind="stable")
    order = order[law[order] > 0]
    values, pmf, extreme = result.null_values[order], law[order], result.extreme[order]
    if limits is None:
        ends = [
            x[np.searchsorted(y.cumsum(), UNSEEN[scale])]
            for x, y in ((values, pmf), (values[::-1], pmf[::-1]))
        ]
        low, high = (float(end(*ends, *marks(result))) for end in (min, max))
        margin = max(0.06 * (high - low), 0.7 * _step(values)) or max(1.0, 0.5 * abs(high))
        limits = low - margin, high + margin
    inside = (values >= limits[0]) & (values <= limits[1])
    values, pmf, extreme = values[inside], pmf[inside], extreme[inside]
    start = max(marks(result)) + (1e-9 if result.alternative == "less" else -1e-9) * np.ptp(limits)
    edges, gaps = _edges(values, limits, start, start - min(marks(result)) - 1e-9 * np.ptp(limits))
    both = [np.histogram(values, edges, weights=np.where(x, pmf, 0)) for x in (~extreme, extreme)]
    body, rejected = (np.where(mass > 0, mass, np.nan) for mass, _ in both)
    if gaps:  # bars, with a column of nothing between each two of them
        width = 0.1 * np.diff(edges)
        edges = np.ravel((edges[:-1] + width, edges[1:] - width), "F")
        between = np.arange(1, body.size)
        body, rejected = (np.insert(heights, between, np.nan) for heights in (body, rejected))
    return View(limits, edges, body, rejected)


def _step(values: Floats) -> float:
    """The smallest distance of values, of which closer ones differ by rounding alone."""
    steps = np.diff(values)
    steps = steps[steps > 1e-9 * np.ptp(values)] if steps.size else steps
    return float(steps.min()) if steps.size else 0.0


def _edges(values: Floats, limits: Ends, start: float, apart: float) -> tuple[Floats, bool]:
    """Boundaries of columns, and whether there are gaps between them.

    Each possible value has its column if there are few, or if most steps of a lattice are possible.
    Else a column begins at `start`, where what was observed is, and another one so far `apart`.
    """
    length = limits[1] - limits[0]
    step = _step(values) or length / 15
    most = length / step
    dense = 2 * values.size > most
    if most <= BARS or (dense and most <= COLUMNS):
        start, width = (values[0] if values.size else limits[0]) - step / 2, step
    elif dense:
        start, width = values[0] - step / 2, step * np.ceil(most / COLUMNS)
    else:
        width = length / BINS
        width = apart / max(round(apart / width), 1) if apart > width / 2 else width
    first, last = np.floor((limits[0] - start) / width), np.ceil((limits[1] - start) / width)
    return start + width * np.arange(first, last + 1), most <= BARS


def plot_null(
    result: PermutationTestResult, *, ax: sheet.Where = None, scale: Scale = "linear"
) -> Axes:
    """Draw the null distribution, the observed value, and all values at least as extreme.

    This is Fig. 2 of Zmigrod, Vieira and Cotterell (2022). For F1 and its relatives it has the
    values of the statistic. Neighbouring values share a column where there are more than pixels, or
    where values form no lattice; it is as high as all of them together.

    The gids are "body", "rejected", "region", "observed" and "mirrored".

    Parameters
    ----------
    result : PermutationTestResult
        Of `exact_perm_test` or `monte_carlo`.
    ax : matplotlib.axes.Axes or matplotlib.figure.Figure, optional
        Where to draw. Limits that were set on axes beforehand are kept. An empty figure keeps its
        width, and becomes as high as the picture needs.
    scale : {"linear", "log"}, default "linear"
        How the axis of probabilities is divided. "log" shows how thin the tails are.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import exact_perm_test
    >>> from permtest.plots import plot_null
    >>> result = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> plot_null(result, ax=Figure()).get_title(loc="left")
    'p = 0.125 (both tails)'
    """
    if scale not in get_args(Scale):
        raise ValueError(f"scale={scale!r} is not known; choose 'linear' or 'log'")
    with sheet.canvas(ax) as ax:
        view = look(result, scale, None if ax.get_autoscalex_on() else ax.get_xlim())
        heights = view.heights(scale) if ax.get_autoscaley_on() else ax.get_ylim()
        ax.set_yscale(scale)
        ax.set(xlim=view.limits, ylim=heights)
        _draw_tails(ax, result)
        parts = {"body": view.body, "rejected": np.nan_to_num(view.body) + view.rejected}
        shown = draw_law(ax, result, parts, view.edges, SMALLEST if scale == "log" else 0.0)
        rules = {"observed": roles.OBSERVED, "mirrored": roles.MIRRORED}
        for value, (gid, rule) in zip(marks(result), rules.items(), strict=False):
            label = f"{gid} {sheet.signed(value, 4)}"
            shown.append(ax.axvline(value, gid=gid, label=label, **rule.line()))
        sheet.ticks(ax.xaxis, min(8, sheet.letters(ax) // 7))
        if scale == "log":
            sheet.decades(ax.yaxis)
        else:
            sheet.ticks(ax.yaxis, 5)
        ax.set_ylabel("probability" if result.n_samples is None else "share of the samples")
        sheet.literal(ax.xaxis.label, name_of_sum(result), ax)
        where = TAILS[result.alternative] if _has_tails(result) else "the hatched values"
        where = "every labelling" if result.pvalue == 1 else where
        sheet.key(ax, shown, f"{sheet.p_text(result)} ({where})")
    return ax


def _draw_tails(ax: Axes, result: PermutationTestResult) -> None:
    """A tint by which thin tails are seen."""
    ends = sorted(marks(result))
    tails = {"greater": [(ends[0], inf)], "less": [(-inf, ends[0])]}
    both = [(-inf, ends[0]), (ends[-1], inf)]
    for tail in tails.get(result.alternative, both) if _has_tails(result) else ():
        low, high = np.clip(tail, *ax.get_xlim()).tolist()
        ax.axvspan(low, high, color=roles.TAIL.rgba(0.13), linewidth=0, gid="region", zorder=0)


def draw_columns(
    ax: Axes, heights: Floats, edges: Floats, bottom: Any, role: roles.Look, **more: Any
) -> StepPatch:
    """Columns from `bottom` up as one artist, however many there are; limits are not touched."""
    options: dict[str, Any] = role.area(ax) | {"fill": True, "linewidth": 0} | more
    artist = StepPatch(heights, edges, baseline=bottom, **options)
    ax.add_artist(artist)
    return artist


def draw_law(
    ax: Axes, result: PermutationTestResult, parts: dict[str, Floats], edges: Floats, bottom: float
) -> list[Any]:
    """Columns of a law, by gid, and on them those of its extreme part; what is in the key."""
    name = "null distribution"
    if result.n_samples is not None:
        name = f"{result.n_samples} random labellings"
    (first, body), (second, rejected) = parts.items()
    base, tail = (
        np.where(np.isnan(body), bottom, body),
        f"at least as extreme: {sheet.p_text(result)}",
    )
    return [
        draw_columns(ax, body, edges, bottom, roles.NULL, gid=first, label=name),
        draw_columns(ax, rejected, edges, base, roles.TAIL, gid=second, label=tail),
    ]


def name_of_sum(result: PermutationTestResult) -> str:
    """What the horizontal axis has: the difference of what, of which systems, over how many."""
    over = f"over {counted(result.n, result.swapped)}"
    if not _has_tails(result):
        several = len(result.parts) > 0
        return f"{result.metric} of the sums {over}" if several else f"sum of g {over}"
    what = "scores" if result.unit == "points" else result.unit
    total = "" if result.parts or result.totals is None else "summed "
    return "difference of {}, {} minus {}, {}{}".format(what, *result.names, total, over)


def _has_tails(result: PermutationTestResult) -> bool:
    """Whether values are extreme on the far side of a mark, which a function h need not say."""
    return result.sides_text() != "upper-tailed"
