"""Posterior distributions of two models' metrics, and of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isnan, log
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from permtest.plots import roles, sheet

if TYPE_CHECKING:
    from permtest.alternatives.bayes import BayesTestResult, Floats, MetricPosterior

TAIL = 0.001  # a curve leaves out as much at both ends
INNER = 0.05  # the highest value between these quantiles sets the height; others may be infinite
POINTS = 121  # of the curve of a difference, each of which is a quadrature
ROW = 0.13  # of the height: what a row of an interval takes
CURVE, THIN = 2.5, 1.1  # width of lines, and of those of conservative versions


class Curve(NamedTuple):
    """A density at some values, how high it goes where it is finite, and its interval."""

    values: Floats
    heights: Floats
    top: float
    interval: tuple[float, float]


def density(law: MetricPosterior, level: float) -> Curve:
    """The density of a metric between its outer quantiles, dense at the ends of [0, 1]."""
    low, high = (float(end) for end in np.clip(law.interval(1 - 2 * TAIL), 1e-15, 1 - 1e-15))
    odds = np.linspace(log(low / (1 - low)), log(high / (1 - high)), 101)
    values = np.union1d(np.linspace(low, high, 201), 1 / (1 + np.exp(-odds)))
    heights = law.pdf(values)
    left, right = law.interval(1 - 2 * INNER)
    top = float(heights[(values >= left) & (values <= right)].max())
    return Curve(values, heights, top, law.interval(level))


def density_of_difference(result: BayesTestResult, level: float) -> Curve:
    """The same of B less A; the edges of the areas below it are among the values."""
    low, high = result.difference.interval(1 - 2 * TAIL)
    edges = [edge for edge in (-result.rope, result.rope) if low < edge < high]
    values = np.union1d(np.linspace(low, high, POINTS), edges)
    heights = result.difference.pdf(values)
    top = float(np.sort(heights[np.isfinite(heights)])[-3])  # a pole is a point or two wide
    return Curve(values, heights, top, result.difference.interval(level))


def plot_posteriors(
    result: BayesTestResult | Sequence[BayesTestResult],
    *,
    ax: Axes | Sequence[Axes] | None = None,
    confidence_level: float = 0.95,
    conservative: bool = False,
) -> Any:
    r"""Draw what is known of the metric of both models, with credible intervals.

    Curves go from the 0.001 to the 0.999 quantile, and leave the axes where they are infinite. The
    mark of an interval is the most likely value; it has none if both ends of [0, 1] are infinite.

    One result has one axes. Gids: "a" and "b" for the densities, "interval a" and "mode a", ... for
    the rows below; the conservative ones end in " conservative".

    Parameters
    ----------
    result : BayesTestResult or sequence of BayesTestResult
        Of `bayes_test`; several, as of precision, recall and F1, stand side by side.
    ax : matplotlib.axes.Axes or sequence of them, optional
        Where to draw; one for each result.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    conservative : bool, default False
        Whether to draw, in thin lines, also the posteriors with correlations of 1, where all folds
        together are worth one.
    """
    several = isinstance(result, Sequence)
    results = list(result) if isinstance(result, Sequence) else [result]
    if not results:
        raise ValueError("result is empty; pass at least one result of bayes_test")
    make = partial(Figure.subplots, ncols=len(results))
    with sheet.canvas(ax, (11.0 if len(results) > 1 else 8.0, 4.2), make) as ax:
        axes = sheet.check_axes(ax, len(results), "results")
        for place, each in zip(axes, results, strict=True):
            _draw_posteriors(place, each, confidence_level, conservative)
            if place is not axes[0] and each.names == results[0].names:
                place.tick_params(labelleft=False)
    return axes if several else axes[0]


def _draw_posteriors(ax: Axes, result: BayesTestResult, level: float, conservative: bool) -> None:
    wider = [(result.conservative, " conservative", THIN)] if conservative else []
    shown, names = [], []
    for role, letter, name in zip((roles.A, roles.B), "ab", result.names, strict=True):
        for source, kind, width in [(result, "", CURVE), *wider]:
            law: MetricPosterior = getattr(source, f"posterior_{letter}")
            shown.append((law, density(law, level), role, letter + kind, width))
            names.append("\N{GREEK SMALL LETTER RHO} = 1" if kind else name)
    rows, values = _set_rows(ax, names, max(curve.top for _, curve, *_ in shown)), []
    for row, (law, curve, role, gid, width) in zip(rows, shown, strict=True):
        look = role.line(linewidth=width, solid_capstyle="butt")
        ax.plot(curve.values, curve.heights, gid=gid, **look)
        ends = roles.INTERVAL | {"linewidth": width, "color": look["color"]}
        ax.plot(curve.interval, [row] * 2, gid=f"interval {gid}", **ends)
        mark = role._replace(hollow=width == THIN).dot(ax, markersize=8, linestyle="none")
        if not isnan(mode := law.mode()):
            ax.plot([mode], [row], clip_on=False, gid=f"mode {gid}", **mark)
        values += [*curve.interval, *curve.values[[0, -1]]]
    sheet.fit(ax, values, 0.03, 1e-9)
    sheet.ticks(ax.xaxis, 5)
    sheet.literal(ax.xaxis.label, f"{result.title} (mode, {sheet.sure(level)} credible)", ax)


def _set_rows(ax: Axes, names: Sequence[str], highest: float) -> list[float]:
    """Where the rows of intervals are, below a base line; the first one is the upper one."""
    share = min(ROW * len(names), 0.6)
    bottom = -highest * share / (1 - share)
    rows = [float(bottom * (row + 0.5) / len(names)) for row in range(len(names))]
    ax.axhline(0, color="0.6", linewidth=1, zorder=1)
    ax.set_ylim(bottom, 1.08 * highest)
    ax.set_yticks([*rows, highest / 2], [*("\n".join(wrap(x, 20)) for x in names), "density"])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return rows


def plot_difference(
    result: BayesTestResult, *, ax: Axes | None = None, confidence_level: float = 0.95
) -> Axes:
    """Draw what is known of the difference of both models, with the probability that B is better.

    Parameters
    ----------
    result : BayesTestResult
        Of `bayes_test`.
    ax : matplotlib.axes.Axes, optional
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).

    Returns
    -------
    matplotlib.axes.Axes
        The difference is that of B less that of A. Gids: "density" for the curve; "b better",
        "a better" and "equivalent" for the areas below it, whose probabilities are in the key;
        "rope" for the region of practical equivalence, "zero" for the line where both are equal,
        "interval" and "mean" for the row below.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.alternatives import bayes_test
    >>> from permtest.plots import plot_difference
    >>> result = bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"))
    >>> ax = plot_difference(result, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['old better or equal: 0.19', 'new better: 0.81']
    """
    curve, (a, b), rope = density_of_difference(result, confidence_level), result.names, result.rope
    with sheet.canvas(ax) as ax:
        row = _set_rows(ax, [f"mean, {sheet.sure(confidence_level)}"], curve.top)[0]
        black, handles = roles.ink(), []
        ax.plot(curve.values, curve.heights, color=black, gid="density")
        ax.axvline(0, zorder=2, gid="zero", **roles.EQUAL.line())
        chances = {
            who: x.replace(" - ", " \N{MINUS SIGN} ") for who, x in result.chances(2).items()
        }
        words = f"{a} better{'' if rope else ' or equal'}: {chances['a']}"
        first = roles.A.area(ax, facecolor=roles.A.rgba(0.45))
        areas = [("a better", words, first, -1.0, -rope)]
        if rope:
            ax.axvspan(-rope, rope, color=roles.BAND, linewidth=0, zorder=0, gid="rope")
            words = f"within {sheet.digits(rope)}: {chances['neither']}"
            white = {"facecolor": ax.get_facecolor(), "edgecolor": "0.5"}
            areas.append(("equivalent", words, white, -rope, rope))
        second = roles.B.area(ax, facecolor=roles.B.rgba(0.7))
        areas.append(("b better", f"{b} better: {chances['b']}", second, rope, 1.0))
        for gid, words, look, low, high in areas:
            inside = (curve.values >= low) & (curve.values <= high)
            heights = np.minimum(curve.heights[inside], 2 * curve.top)
            ax.fill_between(curve.values[inside], heights, gid=gid, linewidth=0, **look)
            handles.append(Patch(label=words, linewidth=0.5, **look))
        ax.plot(curve.interval, [row] * 2, color=black, gid="interval", **roles.INTERVAL)
        mean = result.difference.mean()
        ax.plot([mean], [row], marker="o", color=black, markersize=8, gid="mean")
        sheet.fit(ax, [*curve.values[[0, -1]], *curve.interval, -rope, rope], 0.03, 1e-9)
        sheet.ticks(ax.xaxis, 5)
        sheet.literal(ax.xaxis.label, f"{result.title} of {b} less that of {a}", ax)
        sheet.key(ax, handles)
    return ax
