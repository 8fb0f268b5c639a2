"""Null distributions: of a sum, of a statistic made of sums, sampled."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from permtest._text import counted
from permtest.plots import roles, sheet
from permtest.result import PermutationTestResult

BARS = 64  # up to so many possible values in view, each is a bar with gaps beside it
COLUMNS, BINS = 1200, 60  # at most so many columns for cells of a lattice, and for other values
UNSEEN = 1e-5  # the mass at either end that is left out
HEADROOM = 0.06  # of the height of the axes, above the highest column
TAILS = {"two-sided": "both tails", "greater": "right tail", "less": "left tail"}


def plot_null(result: PermutationTestResult, *, ax: sheet.Where = None) -> Axes:
    """Draw the null distribution, the observed value, and all values at least as extreme.

    This is Fig. 2 of Zmigrod, Vieira and Cotterell (2022). For F1 and its relatives it has the
    values of the statistic. Neighbouring values share a column where there are more than pixels, or
    where values form no lattice; it is as high as all of them together.

    The gids are "body", "rejected", "observed" and "mirrored".

    Parameters
    ----------
    result : PermutationTestResult
        Of `exact_perm_test` or `monte_carlo`.
    ax : matplotlib.axes.Axes or matplotlib.figure.Figure, optional
        Where to draw. Limits that were set on the horizontal axis beforehand are kept. An empty
        figure keeps its width, and becomes as high as the picture needs.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import exact_perm_test
    >>> from permtest.plots import plot_null
    >>> result = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> plot_null(result, ax=Figure()).get_title(loc="left")
    'p = 0.125 (both tails)'
    """
    with sheet.canvas(ax) as ax:
        limits = ax.get_xlim() if not ax.get_autoscalex_on() else view(result)
        edges, body, rejected = _columns(result, limits)
        top = np.nanmax([*body, *rejected, 0.0]) or 1.0
        ax.set(xlim=limits, ylim=(0, top * (1 + HEADROOM)))
        parts = {"body": body, "rejected": np.nan_to_num(body) + rejected}
        shown = draw_law(ax, result, parts, edges, 0.0)
        rules = {"observed": roles.OBSERVED, "mirrored": roles.MIRRORED}
        for value, (gid, rule) in zip(result.marks, rules.items(), strict=False):
            label = f"{gid} {sheet.signed(value, 4)}"
            shown.append(ax.axvline(value, gid=gid, label=label, **rule.line()))
        sheet.ticks(ax.xaxis, min(8, sheet.letters(ax) // 7))
        sheet.ticks(ax.yaxis, 5)
        ax.set_ylabel("probability" if result.n_samples is None else "share of the samples")
        sheet.literal(ax.xaxis.label, name_of_sum(result), ax)
        where = TAILS[result.alternative] if _has_tails(result) else "the hatched values"
        where = "every labelling" if result.pvalue == 1 else where
        sheet.key(ax, shown, f"{sheet.p_text(result)} ({where})")
    return ax


def view(result: PermutationTestResult) -> tuple[float, float]:
    """Limits within which all can be seen but so much mass at either end."""
    values, pmf, _ = _cells(result)
    sides = (values, pmf), (values[::-1], pmf[::-1])
    ends = [x[np.searchsorted(y.cumsum(), UNSEEN)] for x, y in sides]
    low, high = (float(end(*ends, *result.marks)) for end in (min, max))
    margin = max(0.06 * (high - low), 0.7 * _step(values)) or max(1.0, 0.5 * abs(high))
    return low - margin, high + margin


def _cells(result: PermutationTestResult) -> tuple[Any, Any, Any]:
    """Possible values in order, their mass, and which of them are extreme."""
    law = result.null_distribution.pmf
    order = np.argsort(result.null_values, kind="stable")
    order = order[law[order] > 0]
    return result.null_values[order], law[order], result.extreme[order]


def _columns(result: PermutationTestResult, limits: tuple[float, float]) -> tuple[Any, Any, Any]:
    """Edges of columns, and the mass in them that is less extreme and that is not, NaN for none.

    Each possible value has its column if there are few, or if most steps of a lattice are possible.
    Else a column begins at what was observed, and if it can be, another one at its mirror image.
    """
    (values, pmf, extreme), length = _cells(result), limits[1] - limits[0]
    inside = (values >= limits[0]) & (values <= limits[1])
    values, pmf, extreme = values[inside], pmf[inside], extreme[inside]
    width = _step(values) or length / 15
    most = length / width
    dense = 2 * values.size > (np.ptp(values) / width if values.size else most)
    start = (values[0] if values.size else limits[0]) - width / 2
    if most > BARS and dense:
        width *= np.ceil(most / COLUMNS)
    elif most > BARS:
        start = max(result.marks) + (1e-9 if result.alternative == "less" else -1e-9) * length
        apart, width = start - min(result.marks) - 1e-9 * length, length / BINS
        width = apart / max(round(apart / width), 1) if apart > width / 2 else width
    first, last = np.floor((limits[0] - start) / width), np.ceil((limits[1] - start) / width)
    edges = start + width * np.arange(first, last + 1)
    masses = [np.histogram(values[x], edges, weights=pmf[x])[0] for x in (~extreme, extreme)]
    body, rejected = (np.where(mass > 0, mass, np.nan) for mass in masses)
    if most <= BARS:  # bars, with a column of nothing between each two of them
        edges = np.ravel((edges[:-1] + 0.1 * width, edges[1:] - 0.1 * width), "F")
        between = np.arange(1, body.size)
        body, rejected = (np.insert(heights, between, np.nan) for heights in (body, rejected))
    return edges, body, rejected


def _step(values: NDArray[Any]) -> float:
    """The smallest distance of values, of which closer ones differ by rounding alone."""
    steps = np.diff(values)
    return float(steps[steps > 1e-9 * np.ptp(values)].min()) if steps.size else 0.0


def draw_law(
    ax: Axes, result: PermutationTestResult, parts: dict[str, Any], edges: Any, bottom: float
) -> list[Any]:
    """Columns of a law, by gid, and on them those of its extreme part; what is in the key."""
    name = "null distribution"
    if result.n_samples is not None:
        name = f"{result.n_samples} random labellings"
    kinds = {name: roles.NULL, f"at least as extreme: {sheet.p_text(result)}": roles.TAIL}
    shown, base = [], np.asarray(bottom)
    for (gid, heights), (label, role) in zip(parts.items(), kinds.items(), strict=True):
        look = role.area(ax, gid=gid, label=label)
        shown.append(ax.stairs(heights, edges, baseline=base, fill=True, **look))
        base = np.where(np.isnan(heights), bottom, heights)
    return shown


def name_of_sum(result: PermutationTestResult) -> str:
    """What the horizontal axis has: the difference of what, of which systems, over how many."""
    over = f"over {counted(result.n, result.swapped)}"
    if not _has_tails(result):
        return f"{result.metric} of the sums {over}" if result.parts else f"sum of g {over}"
    what = "scores" if result.unit == "points" else result.unit
    total = "" if result.is_measured or result.scores is None else "summed "
    return "difference of {}, {} minus {}, {}{}".format(what, *result.names, total, over)


def _has_tails(result: PermutationTestResult) -> bool:
    """Whether values are extreme on the far side of a mark, which a function h need not say."""
    return not result.test_text().startswith("upper-tailed")
