"""What tests answer: p and intervals, power, posteriors."""

from __future__ import annotations

from functools import partial
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from permtest._errors import check_level
from permtest.plots import roles, sheet

if TYPE_CHECKING:
    from permtest.alternatives import AnswerTable
    from permtest.alternatives.bayes import BayesTestResult
    from permtest.study.power import PowerCurve

LEFTMOST = 1e-322  # an axis of p-values does not go on below; what is smaller is drawn there
KINDS = {
    True: ("met", roles.HOLDS, "assumptions met or unknown"),
    False: ("not met", roles.BROKEN, "an assumption not met"),
}
TAIL = 0.001  # a curve leaves out as much at both ends
ROW = 0.13  # of the height: what a row of an interval takes


def plot_answers(
    table: AnswerTable, *, ax: Any = None, alpha: float | None = None
) -> tuple[Axes, ...]:
    """Draw p of every test in a table, and beside it the intervals of what they estimate.

    Intervals are of the difference that the exact test is about; tests that estimate another one
    have none here. Intervals of tests whose assumptions are not met may leave the axes, with an
    arrow.

    The first axes have the p-values, with gids "met", "not met", "p" and "level"; the second ones
    have the intervals, with gids "interval" and "null". The exact test has a bold name and a thick
    line.

    Parameters
    ----------
    table : AnswerTable
        Of `compare_all`.
    ax : sequence of two matplotlib.axes.Axes, or matplotlib.figure.Figure, optional
        Where to draw. An empty figure keeps its width; in a narrow one the parts stand below each
        other.
    alpha : float, optional
        A level of significance to mark, in (0, 1). Default: 1 less the confidence level of the
        table.

    Returns
    -------
    tuple of two matplotlib.axes.Axes

    Examples
    --------
    >>> import permtest as pt
    >>> from permtest.plots import plot_answers
    >>> table = pt.compare_all([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], tests=["exact", "paired_t"])
    >>> from matplotlib.figure import Figure
    >>> pvalues, intervals = plot_answers(table, ax=Figure())
    >>> [text.get_text() for text in pvalues.texts]
    ['0.125', '0.0516']
    """
    level = check_level(1 - table.confidence_level if alpha is None else alpha)
    height = 0.45 * len(table.answers) + 1.8
    make = partial(Figure.subplots, ncols=2, width_ratios=(3, 7))
    with sheet.canvas(ax, (sheet.WIDE, height), make, (height, height)) as ax:
        axes = tuple(ax)
        exact = [answer.test == "exact" for answer in table.answers]
        for each in axes:
            sheet.name_rows(each, [answer.title for answer in table.answers], exact)
        beside = axes[0].get_position().x0 < axes[1].get_position().x0
        axes[1].tick_params(labelleft=not beside)
        _draw_pvalues(axes[0], table, level, 2 if beside else 4)
        _draw_intervals(axes[1], table)
    return axes


def _draw_pvalues(ax: Axes, table: AnswerTable, alpha: float, labels: int) -> None:
    """A dot for each test on a logarithmic axis, and p itself beside the axes."""
    ax.set_xscale("log")
    found = [answer.result.pvalue for answer in table.answers if answer.result]
    left = max(min([*found, alpha / 10]) / 3, LEFTMOST)
    ax.set_xlim(left, left**-0.03)
    sheet.decades(ax.xaxis, most=labels)
    line = ax.axvline(alpha, **roles.LEVEL.line(label=f"level {alpha:.3g}", gid="level", zorder=1))
    for row, answer in enumerate(table.answers):
        if answer.result is None:
            sheet.write_beside(ax, row, "does not fit", "p")
            continue
        gid, role, _ = KINDS[answer.held is not False]
        look = role.dot(ax, linestyle="none", clip_on=False, gid=gid)
        ax.plot([max(answer.result.pvalue, left)], [row], **look)
        sheet.write_beside(ax, row, answer.pvalue_text, "p")
    ax.set_xlabel(f"p-value ({table.alternative})")
    dots = [sheet.dot(label, **role.dot(ax)) for _, role, label in KINDS.values()]
    sheet.key(ax, [*dots, line])
    if legend := ax.get_legend():  # the names of tests leave room there
        legend.set(loc="lower right", bbox_to_anchor=(1, 1))


def _draw_intervals(ax: Axes, table: AnswerTable) -> None:
    """One scale, that of the exact test, with room on both sides of every estimate."""
    answers = [answer for answer in table.answers if answer.result and answer.interval]
    answers.sort(key=lambda answer: answer.test != "exact")
    same, places = answers[:1], [0.0]
    for answer in answers[1:]:  # a difference of accuracies is one of means
        alike = answer.estimate_name.startswith("difference of")
        equal = isclose(answer.estimate or 0.0, same[0].estimate or 0.0, rel_tol=1e-9)
        if answer.estimate_name == same[0].estimate_name or (alike and equal):
            same.append(answer)
    for answer in [x for x in same if x.held is not False] or same:
        middle = answer.estimate or 0.0
        places += [x for end in answer.interval or () for x in (end, middle, 2 * middle - end)]
    sheet.fit(ax, places, 0.15)
    sheet.ticks(ax.xaxis, 4)
    null = roles.EQUAL.line(label="null hypothesis: 0", gid="null", zorder=1)
    sheet.key(ax, [ax.axvline(0, **null)])
    for answer in same:
        look = KINDS[answer.held is not False][1].dot(ax, gid="interval")
        look |= {"linewidth": 4} if answer.test == "exact" else {}
        row, low_high = table.answers.index(answer), answer.interval or ()
        sheet.draw_interval(ax, row, low_high, answer.estimate or 0.0, **look)
    words = "{}, {} minus {}".format(same[0].estimate_name if same else "estimate", *table.names)
    words += f" ({100 * table.confidence_level:.4g}% interval)"
    sheet.literal(ax.xaxis.label, words, 38)


def plot_power(curve: PowerCurve, *, ax: sheet.Where = None, target: float = 0.8) -> Axes:
    """Draw the power of a test against the number of pairs.

    Gids: "power" for the simulated shares, "simulation" for the band of their 95% intervals,
    "target" for the line at the target, "needed" for the size that reaches it, which is
    ``curve.needed(target)``.

    Parameters
    ----------
    curve : PowerCurve
        Of `power_curve`.
    ax : matplotlib.axes.Axes or matplotlib.figure.Figure, optional
        Where to draw; a logarithmic axis of sizes stays one.
    target : float, default 0.8
        The power that is wanted, in (0, 1).
    """
    check_level(target, "target")
    enough, role = curve.needed(target), roles.CURVE
    with sheet.canvas(ax) as ax:
        low, high = zip(*curve.intervals, strict=True)
        band: dict[str, Any] = {"alpha": 0.2, "linewidth": 0, "label": "95% interval"}
        line = role.line(markersize=7, gid="power", label=curve.test.replace("_", " "))
        shown: list[Any] = ax.plot(curve.sizes, curve.power, **role.dot(ax) | line)
        band |= {"gid": "simulation", "facecolor": role.rgba()}
        shown.append(ax.fill_between(curve.sizes, low, high, **band))
        line = roles.LEVEL.line(gid="target", zorder=1, label=f"{target:.0%}: not reached")
        if enough is not None:
            line["label"] = f"{target:.0%}: {'at most ' * (enough == curve.sizes[0])}{enough} pairs"
            ax.plot([enough] * 2, [0, target], **role.line(linewidth=1.2, gid="needed", zorder=1))
            cross: dict[str, Any] = {"marker": "X", "markersize": 11, "markeredgecolor": "w"}
            ax.plot([enough], [target], color=roles.ink(), gid="needed", zorder=4, **cross)
        shown.append(ax.axhline(target, **line))
        ax.set(ylim=(0, 1.02), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1], ylabel="power")
        ax.set_xlabel(f"pairs (level {curve.alpha:g}, {curve.alternative})")
        sheet.key(ax, shown)
    return ax


def plot_posteriors(result: BayesTestResult, *, ax: sheet.Where = None) -> Axes:
    """Draw the posterior of the metric of both models, with 95% credible intervals.

    Curves go from the 0.001 to the 0.999 quantile, and leave the axes where they are infinite. The
    mark of an interval is the mean.

    Gids: "a" and "b" for the densities, "interval a" and "interval b" for the rows below.

    Parameters
    ----------
    result : BayesTestResult
        Of `bayes_test`.
    ax : matplotlib.axes.Axes or matplotlib.figure.Figure, optional
        Where to draw.
    """
    laws = [(result.posterior_a, roles.A, "a"), (result.posterior_b, roles.B, "b")]
    top, ends, keys = 0.0, [], []
    with sheet.canvas(ax, (sheet.NARROW, 4.2)) as ax:
        for (law, role, gid), name in zip(laws, result.names, strict=True):
            quantiles = law.ppf(np.linspace(TAIL, 1 - TAIL, 201))  # dense where the mass is
            values = np.union1d(quantiles, np.linspace(quantiles[0], quantiles[-1], 201))
            heights, (left, right) = law.pdf(values), law.interval(0.9)
            top = max(top, float(heights[(values >= left) & (values <= right)].max()))
            look = role.line(linewidth=2.5, label=name, gid=gid, solid_capstyle="butt")
            keys += ax.plot(values, heights, **look)
            ends += [*law.interval(), *values[[0, -1]]]
        room = len(laws) * ROW
        bottom = -top * room / (1 - room)
        ax.axhline(0, color="0.6", linewidth=1, zorder=1)
        ax.set(ylim=(bottom, 1.08 * top), yticks=[], ylabel="density")
        ax.spines["left"].set_visible(False)
        for k, (law, role, gid) in enumerate(laws):
            row = bottom * (k + 0.5) / len(laws)
            dot = role.dot(ax, markersize=8, linewidth=2.5)
            sheet.draw_interval(ax, row, law.interval(), law.mean(), gid=f"interval {gid}", **dot)
        sheet.fit(ax, ends, 0.03, 1e-9)
        sheet.ticks(ax.xaxis, 5)
        sheet.literal(ax.xaxis.label, f"{result.title} (mean, 95% credible interval)", ax)
        sheet.key(ax, keys)
    return ax
