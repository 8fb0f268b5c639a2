"""Posterior distributions of two models' metrics, and of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, log
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from permtest.plots import roles
from permtest.plots.parts import literal
from permtest.plots.sheet import NICE, new_axes, plain, style

if TYPE_CHECKING:
    from permtest.alternatives.bayes import BayesTestResult, Floats, MetricPosterior

WIDTH, HEIGHT = 13.0, 4.5  # inches: of several posteriors side by side
TAIL = 0.001  # a curve leaves out as much at both ends
INNER = 0.05  # the highest value between these quantiles sets the height; others may be infinite
POINTS = 121  # of the curve of a difference, each of which is a quadrature
LINE, GAP, MOST = 0.075, 0.4, 0.65  # height of a line and (in lines) between rows, and of all rows
NAME, WORDS = 20, 60  # letters of a name, and of all that stands side by side, in a line
MODELS = (roles.A, roles.B)
CURVE, THIN = 2.5, 1.1  # width of lines, and of those of conservative versions
NBSP = "\N{NO-BREAK SPACE}"
Side: TypeAlias = tuple[str, str, tuple[float, float]]  # gid of an area, words about it, its ends


def plot_posteriors(
    result: BayesTestResult | Sequence[BayesTestResult],
    *,
    ax: Axes | Sequence[Axes] | None = None,
    confidence_level: float = 0.95,
    conservative: bool = False,
) -> Any:
    r"""Draw what is known of the metric of both models, with credible intervals.

    Parameters
    ----------
    result : BayesTestResult or sequence of BayesTestResult
        Of `bayes_test`; several, as of precision, recall and F1, stand side by side.
    ax : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, with the settings of the caller; one for each result. Default: a new figure
        in the style of the project.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    conservative : bool, default False
        Whether to draw, in thin lines, also the posteriors with correlations of 1, where all folds
        together are worth one.

    Returns
    -------
    matplotlib.axes.Axes or tuple of them
        One for one result. Gids: "a" and "b" for the densities, "interval a" and "mode a", ... for
        the rows below; the conservative ones end in " conservative".

    Raises
    ------
    ValueError
        If there are no results, `ax` has another number of axes than there are results, or
        `confidence_level` is out of range.

    Notes
    -----
    Curves go from the 0.001 to the 0.999 quantile, and leave the axes where they are infinite. The
    mark of an interval is the most likely value; it has none if both ends of [0, 1] are infinite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.alternatives import bayes_test
    >>> from permtest.plots import plot_posteriors
    >>> result = bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"))
    >>> plot_posteriors(result, ax=Figure().subplots()).get_xlabel()
    'F1\nmode and 95% credible interval'
    """
    if ax is None:
        with style():
            made = _side_by_side(len(result)) if isinstance(result, Sequence) else new_axes()
            both: dict[str, Any] = {"ax": made, "conservative": conservative}
            return plot_posteriors(result, confidence_level=confidence_level, **both)
    results = list(result) if isinstance(result, Sequence) else [result]
    axes = (ax,) if isinstance(ax, Axes) else tuple(ax)
    if len(axes) != len(results):
        raise ValueError(f"ax has {len(axes)} axes, but the number of results is {len(results)}")
    for place, each in zip(axes, results, strict=True):
        _draw_posteriors(place, each, confidence_level, conservative)
        if place is not axes[0] and each.names == results[0].names:
            place.tick_params(labelleft=False)
    return axes if isinstance(result, Sequence) else axes[0]


def _side_by_side(columns: int) -> Sequence[Axes]:
    from matplotlib import pyplot as plt

    if not columns:
        raise ValueError("result is empty; pass at least one result of bayes_test")
    wide: dict[str, Any] = {"figsize": (WIDTH, HEIGHT), "layout": "constrained", "squeeze": False}
    return tuple(plt.subplots(1, columns, **wide)[1][0])


def _draw_posteriors(ax: Axes, result: BayesTestResult, level: float, conservative: bool) -> None:
    wider = [(result.conservative, " conservative", THIN)] if conservative else []
    tops, shown, names = [], [], []
    for which, letter in enumerate("ab"):
        for source, kind, width in [(result, "", CURVE), *wider]:
            law: MetricPosterior = getattr(source, f"posterior_{letter}")
            look = MODELS[which].line(linewidth=width)
            tops.append(_draw_density(ax, law, look | {"gid": letter + kind}))
            shown.append((law, which, letter + kind, look))
            names.append("\N{GREEK SMALL LETTER RHO} = 1" if kind else result.names[which])
    rows = _set_rows(ax, names, max(tops))
    ends = [_draw_row(ax, row, level, *what) for row, what in zip(rows, shown, strict=True)]
    _set_limits(ax, [end for pair in ends for end in pair])
    title = result.title
    ax.set_xlabel(f"{title}\nmode and {100 * level:.4g}% credible interval")


def _draw_density(ax: Axes, law: MetricPosterior, look: dict[str, Any]) -> float:
    """A curve; returns how high it goes, not counting where it may be infinite."""
    low, high = (float(end) for end in np.clip(law.interval(1 - 2 * TAIL), 1e-15, 1 - 1e-15))
    odds = np.linspace(log(low / (1 - low)), log(high / (1 - high)), 101)
    values = np.union1d(np.linspace(low, high, 201), 1 / (1 + np.exp(-odds)))
    heights = law.pdf(values)
    ax.plot(values, heights, solid_capstyle="butt", **look)
    left, right = law.interval(1 - 2 * INNER)
    return float(heights[(values >= left) & (values <= right)].max())


def _draw_row(
    ax: Axes, row: float, level: float, law: MetricPosterior, which: int, gid: str, look: Any
) -> list[float]:
    """An interval and the mode; returns the ends of all that is drawn of a posterior."""
    interval = law.interval(level)
    width = {"linewidth": look["linewidth"]}
    ends: dict[str, Any] = roles.INTERVAL | width | {"gid": f"interval {gid}"}
    ax.plot(interval, [row] * 2, color=look["color"], **ends)
    mark = MODELS[which].dot(ax, markersize=8)
    if look["linewidth"] == THIN:
        mark["markerfacecolor"] = ax.get_facecolor()
    if not isnan(mode := law.mode()):
        ax.plot([mode], [row], linestyle="none", clip_on=False, gid=f"mode {gid}", **mark)
    return [*interval, *law.interval(1 - 2 * TAIL)]


def _set_rows(ax: Axes, names: Sequence[str], highest: float) -> list[float]:
    """Where the rows of intervals are, below a base line; the first one is the upper one."""
    labels = ["\n".join(wrap(name, NAME)) for name in names]
    lines = np.array([label.count("\n") + 1 + GAP for label in labels])
    share = min(LINE * lines.sum(), MOST)
    ends = -highest * share / (1 - share) * lines.cumsum() / lines.sum()
    rows = [float(row) for row in (np.append(0.0, ends[:-1]) + ends) / 2]
    ax.axhline(0, color="0.6", linewidth=1, zorder=1)
    ax.set_ylim(float(ends[-1]), 1.08 * highest)
    ax.set_yticks([*rows, highest / 2], [*labels, "density"])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    literal(*ax.get_yticklabels())
    return rows


def _set_limits(ax: Axes, values: Sequence[float]) -> None:
    low, high = min(values), max(values)
    margin = 0.03 * (high - low) or 1e-9
    ax.set_xlim(low - margin, high + margin)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=NICE))
    ax.ticklabel_format(axis="x", useOffset=False)


def plot_difference(
    result: BayesTestResult, *, ax: Axes | None = None, confidence_level: float = 0.95
) -> Axes:
    """Draw what is known of the difference of both models, with the probability that B is better.

    Parameters
    ----------
    result : BayesTestResult
        Of `bayes_test`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).

    Returns
    -------
    matplotlib.axes.Axes
        The difference is that of B less that of A. Gids: "density" for the curve; "b better",
        hatched, "a better" and "equivalent" for the areas below it, and the same for their
        probabilities above; "rope" for the region of practical equivalence, "zero" for the line
        where both are equal, "interval" and "mean" for the row below.

    Raises
    ------
    ValueError
        If `confidence_level` is out of range.

    Notes
    -----
    The curve goes from the 0.001 to the 0.999 quantile, and leaves the axes where it is infinite.
    Cost: a tenth of a second, as each of its sixty points is a quadrature; more for other F-beta.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.alternatives import bayes_test
    >>> from permtest.plots import plot_difference
    >>> result = bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"))
    >>> ax = plot_difference(result, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['old better or equal: 0.19', 'new better: 0.81']
    """
    if ax is None:
        with style():
            return plot_difference(result, ax=new_axes(), confidence_level=confidence_level)
    interval = result.difference.interval(confidence_level)
    values, heights = _curve(result)
    highest = float(np.sort(heights[np.isfinite(heights)])[-3])  # a pole is a point or two wide
    row = _set_rows(ax, [f"mean and {100 * confidence_level:.4g}% credible"], highest)[0]
    black = roles.ink()
    ax.plot(values, heights, color=black, gid="density")
    ax.axvline(0, zorder=2, gid="zero", **roles.EQUAL.line())
    if result.rope:
        ax.axvspan(-result.rope, result.rope, color=roles.BAND, linewidth=0, zorder=0, gid="rope")
    curve, sides = (values, np.minimum(heights, 2 * highest)), _sides(result)
    for side in sides:
        _draw_side(ax, curve, WORDS // len(sides), side)
    ax.plot(interval, [row] * 2, color=black, gid="interval", **roles.INTERVAL)
    ax.plot([result.difference.mean()], [row], marker="o", color=black, markersize=8, gid="mean")
    _set_limits(ax, [values[0], values[-1], *interval, -result.rope, result.rope])
    a, b = result.names
    plain(ax.xaxis.label, f"{result.title} of {b} less that of {a}", 70)
    return ax


def _curve(result: BayesTestResult) -> tuple[Floats, Floats]:
    """Differences, among them the edges of areas, and their densities."""
    low, high = result.difference.interval(1 - 2 * TAIL)
    edges = [edge for edge in (-result.rope, result.rope) if low < edge < high]
    values = np.union1d(np.linspace(low, high, POINTS), edges)
    return values, result.difference.pdf(values)


def _sides(result: BayesTestResult) -> list[Side]:
    """From left to right; the region of practical equivalence only if there is one."""
    (a, b), rope = result.names, result.rope
    chances = {who: _kept(text) for who, text in result.chances(2).items()}
    left = f"{a} better{'' if rope else ' or equal'}: {chances['a']}"
    sides = [
        ("a better", left, (-1.0, -rope)),
        ("b better", f"{b} better: {chances['b']}", (rope, 1.0)),
    ]
    if rope:
        sides.insert(1, ("equivalent", f"within {rope:g}: {chances['neither']}", (-rope, rope)))
    return sides


def _kept(text: str) -> str:
    """The same, in one line and with a minus sign."""
    return text.replace(" - ", " \N{MINUS SIGN} ").replace(" ", NBSP)


def _draw_side(ax: Axes, curve: Sequence[Floats], width: int, side: Side) -> None:
    """An area below the curve, and what is written about it above, in lines of `width` letters."""
    gid, words, ends = side
    look: dict[str, Any] = {"facecolor": ax.get_facecolor(), "linewidth": 0, "gid": gid}
    if gid == "a better":
        look["facecolor"] = roles.A.rgba(0.45)
    elif gid == "b better":
        look = roles.B.area(ax) | look | {"facecolor": roles.B.rgba(0.7)}
    inside = (curve[0] >= ends[0]) & (curve[0] <= ends[1])
    x, y = (of_all[inside] for of_all in curve)
    ax.fill_between(x, y, **look)
    share, to = {"b better": (1.0, "right"), "equivalent": (0.5, "center")}.get(gid, (0.0, "left"))
    place: dict[str, Any] = {"xytext": (share, 1.04), "textcoords": "axes fraction", "va": "bottom"}
    if x.size > 1:
        below = np.append(0.0, (np.diff(x) * (y[1:] + y[:-1])).cumsum())
        part = 0.25 if gid == "equivalent" else 0.5  # so that the arrow misses the line at 0
        target = float(np.interp(part * below[-1], below, x))
        place["xy"] = (target, float(np.interp(target, x, y)) / 2)
        place["arrowprops"] = {"arrowstyle": "->", "shrinkA": 0, "shrinkB": 0, "relpos": (0.5, 0)}
    note = ax.annotate("", **{"xy": (0, 0)} | place, ha=to, gid=gid)
    plain(note, words, width)
