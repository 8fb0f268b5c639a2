"""What tests answer: p and intervals of several, sizes of effects, power, what a plan can show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from math import copysign, isclose
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from permtest._checks import check_level
from permtest.alternatives import AlternativeResult
from permtest.alternatives.result import TITLES
from permtest.plots import roles, sheet
from permtest.study import PowerCurve

if TYPE_CHECKING:
    from permtest.alternatives.compare import Answer, AnswerTable
    from permtest.study.effects import EffectSize

LEFTMOST = 1e-322  # an axis of p-values does not go on below; what is smaller is drawn there
BROAD = 4  # times as wide as the others an interval may be without leaving the axes
KINDS = {
    True: ("met", roles.HOLDS, "assumptions met, or unknown"),
    False: ("not met", roles.BROKEN, "one not met"),
}


def plot_answers(
    table: AnswerTable, *, ax: Axes | Sequence[Axes] | None = None, alpha: float | None = None
) -> tuple[Axes, ...]:
    """Draw p of every test in a table, and beside it the intervals of what they estimate.

    The axis of intervals is that of the exact test; estimates of another kind are written out.
    Intervals of tests whose assumptions are not met may leave the axes, with an arrow.

    The first axes have the p-values, with gids "met", "not met", "refused" and "level"; the second
    ones have the intervals, with gids "interval", "null" and "other". The exact test stands on a
    grey band (gid "exact").

    Parameters
    ----------
    table : AnswerTable
        Of `compare_all`.
    ax : matplotlib.axes.Axes or sequence of two, optional
        Where to draw. A single one gets the p-values only.
    alpha : float, optional
        A level of significance to mark, in (0, 1). Default: 1 less the confidence level of the
        table.

    Examples
    --------
    >>> import permtest as pt
    >>> from permtest.plots import plot_answers
    >>> table = pt.compare_all([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], tests=["exact", "paired_t"])
    >>> from matplotlib.figure import Figure
    >>> pvalues, intervals = plot_answers(table, ax=Figure().subplots(1, 2))
    >>> [text.get_text() for text in pvalues.texts]
    ['0.125', '0.0516']
    """
    if not table.answers:
        raise ValueError("table has no answers; name at least one test in compare_all(tests=...)")
    level = check_level(1 - table.confidence_level if alpha is None else alpha)
    size = (sheet.WIDE, sheet.height_of_rows(len(table.answers)))
    with sheet.canvas(ax, size, partial(Figure.subplots, ncols=2, width_ratios=(3, 7))) as ax:
        axes = sheet.check_axes(ax, 1 if isinstance(ax, Axes) else 2, "parts")
        exact = [answer.test == "exact" for answer in table.answers]
        for each in axes:
            sheet.name_rows(each, [answer.title for answer in table.answers], exact)
            for row in np.flatnonzero(exact):
                band: dict[str, Any] = {"color": roles.BAND, "linewidth": 0, "zorder": 0}
                each.axhspan(row - 0.45, row + 0.45, gid="exact", **band)
        _draw_pvalues(axes[0], table, level)
        for beside in axes[1:]:
            _draw_intervals(beside, table)
            beside.tick_params(labelleft=False)
    return axes


def _draw_pvalues(ax: Axes, table: AnswerTable, alpha: float) -> None:
    """A dot for each test on a logarithmic axis, and p itself beside the axes."""
    ax.set_xscale("log")
    found = [answer.result.pvalue for answer in table.answers if answer.result]
    left = max(min([*found, alpha / 10]) / 3, LEFTMOST)
    ax.set_xlim(left, left**-0.03)
    sheet.decades(ax.xaxis, most=2)
    level = roles.LEVEL.line(label=f"level {alpha:.3g}", gid="level", zorder=1)
    line = ax.axvline(alpha, **level)
    for row, answer in enumerate(table.answers):
        if answer.result is None:
            sheet.write_row(ax, row, "does not fit these data", "refused")
            continue
        gid, role, _ = KINDS[answer.held is not False]
        look = role.dot(ax, linestyle="none", clip_on=False, gid=gid)
        ax.plot([max(answer.result.pvalue, left)], [row], **look)
        sheet.write_beside(ax, row, answer.result.pvalue_text(), "p")
    one = "" if table.alternative == "two-sided" else "one-sided: "
    ax.set_xlabel(f"p-value ({one}{table.alternative})")
    dots = [sheet.dot(label, **role.dot(ax)) for _, role, label in KINDS.values()]
    sheet.key(ax, [dots[0], line, dots[1]], columns=2)
    legend = ax.get_legend()
    assert legend is not None
    legend.set(loc="lower right", bbox_to_anchor=(1, 1))  # the names of tests leave room there


def _draw_intervals(ax: Axes, table: AnswerTable) -> None:
    """One scale, that of the exact test; what is estimated on others is written out."""
    answers = [answer for answer in table.answers if answer.result and answer.interval]
    answers.sort(key=lambda answer: answer.test != "exact")
    scale = answers[0].result if answers else None
    same = [answer for answer in answers if _is_on(answer.result, scale)]
    _set_limits(ax, table, same)
    null = roles.EQUAL.line(label=f"null hypothesis: {table.delta:g}", gid="null", zorder=1)
    sheet.key(ax, [ax.axvline(table.delta, **null)])
    for row, answer in enumerate(table.answers):
        if answer in same and answer.result and answer.interval:
            look = KINDS[answer.held is not False][1].dot(ax, gid="interval")
            look |= {"linewidth": 4} if answer.test == "exact" else {}
            sheet.draw_interval(ax, row, answer.interval, answer.result.estimate, **look)
        elif answer.result:
            words = f"{answer.result.estimate_name} {sheet.digits(answer.result.estimate)}"
            words += f" ({sheet.span(*answer.interval)})" if answer.interval is not None else ""
            sheet.write_row(ax, row, words, "other")
    what = scale.estimate_name if scale else "estimate"
    whose = "{} minus {}".format(*table.names)
    words = f"{what}, {whose} ({sheet.sure(table.confidence_level)} interval)"
    sheet.literal(ax.xaxis.label, words, 38)


def _is_on(result: AlternativeResult | None, scale: AlternativeResult | None) -> bool:
    """Whether a test estimates the same, as a difference of accuracies is one of means."""
    if result is None or scale is None or result.estimate_name == scale.estimate_name:
        return scale is not None
    alike = result.estimate_name.startswith("difference of")
    return alike and isclose(result.estimate, scale.estimate, rel_tol=1e-9)


def _set_limits(ax: Axes, table: AnswerTable, answers: Sequence[Answer]) -> None:
    """All estimates, the ends that the alternative leaves closed, and the null hypothesis."""
    closed = {"greater": [0], "less": [1]}.get(table.alternative, [0, 1])
    ends = np.array([answer.interval for answer in answers], float).reshape(-1, 2)[:, closed]
    met = ends[[answer.held is not False for answer in answers]]
    if met.size > 1 and np.ptp(ends) > BROAD * np.ptp(met) > 0:
        ends = met
    estimates = [answer.result.estimate for answer in answers if answer.result]
    sheet.fit(ax, [*ends.ravel(), *estimates, table.delta], 0.08)
    if len(closed) == 1:  # the other end has room for an arrow
        low, high = ax.get_xlim()
        ax.set_xlim(
            low - 0.2 * (high - low) * closed[0], high + 0.2 * (high - low) * (1 - closed[0])
        )
    sheet.ticks(ax.xaxis, 5)


def plot_effects(
    effects: EffectSize | Sequence[EffectSize],
    *,
    ax: Axes | None = None,
    confidence_level: float = 0.95,
) -> Axes:
    """Draw sizes of effects with their intervals, and where Cohen calls them small and large.

    Gids: "effect" for the intervals, "none" for the line at 0, "threshold" for the lines where
    an effect is called small (S), medium (M) and large (L), "unit" for effects with a unit.

    Parameters
    ----------
    effects : EffectSize or sequence of EffectSize
        Of `cohen_d` and its relatives. The first is drawn at the top. Those that have a unit have
        no place on the axis; their numbers are written in their rows.
    ax : matplotlib.axes.Axes, optional
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    """
    rows = list(effects) if isinstance(effects, Sequence) else [effects]
    if not rows:
        raise ValueError("effects is empty; pass at least one size of an effect")
    alone = len({effect.names for effect in rows}) == 1
    title = "{}" if alone else "{} ({} over {})"
    with sheet.canvas(ax, (sheet.NARROW, sheet.height_of_rows(len(rows), 2))) as ax:
        sheet.name_rows(ax, [title.format(effect.title, *effect.names) for effect in rows], pad=2)
        ax.axvline(0, zorder=1, gid="none", **roles.EQUAL.line())
        intervals = [effect.confidence_interval(confidence_level) for effect in rows]
        placed = [row for row, effect in enumerate(rows) if effect.thresholds]
        ends = [copysign(rows[row].thresholds[-1], rows[row].value) for row in placed]
        sheet.fit(ax, [0.0, *ends, *(end for row in placed for end in intervals[row])])
        for row, (effect, interval) in enumerate(zip(rows, intervals, strict=True)):
            if effect.thresholds:
                look = roles.HOLDS.dot(ax, gid="effect")
                sheet.draw_interval(ax, row, interval, effect.value, **look)
            else:
                words = f"{sheet.digits(effect.value)} ({sheet.span(*interval)})\n"
                sheet.write_row(ax, row, words + effect.interpretation, "unit")
        row, (left, right) = 0, ax.get_xlim()
        line: dict[str, Any] = {"color": "0.35", "linestyle": ":", "linewidth": 1.6, "zorder": 1}
        words_at: dict[str, Any] = {"ha": "center", "fontsize": sheet.SMALL * sheet.font()}
        for thresholds, block in groupby(rows, key=lambda effect: effect.thresholds):
            first, row = row, row + len(list(block))
            for value, word in zip(
                (*thresholds, *(-x for x in thresholds)), "SMLSML", strict=False
            ):
                if left < value < right:
                    ax.plot([value] * 2, [first - 0.25, row - 0.6], gid="threshold", **line)
                    ax.text(value, first - 0.25, word, va="bottom", gid="word", **words_at)
        sheet.ticks(ax.xaxis, 7)
        whose = " of {} over {}".format(*rows[0].names) * alone
        words = f"size of the effect{whose} ({sheet.sure(confidence_level)} intervals)\n"
        sheet.literal(ax.xaxis.label, words + "S, M, L: small, medium, large", ax)
    return ax


def plot_power(
    curves: PowerCurve | Sequence[PowerCurve], *, ax: Axes | None = None, target: float = 0.8
) -> Axes:
    """Draw the power of one or more tests against the number of pairs.

    Gids: "power" for the simulated shares, "simulation" for the bands of their 95% intervals,
    "target" for the line at the target, "needed" for the sizes that reach it, which are those
    of ``curve.needed(target)``.

    Parameters
    ----------
    curves : PowerCurve or sequence of up to five
        Of `power_curve`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a logarithmic axis of sizes stays one.
    target : float, default 0.8
        The power that is wanted, in (0, 1).
    """
    several = list(curves) if isinstance(curves, Sequence) else [curves]
    if not 0 < len(several) <= len(roles.CURVES):
        raise ValueError(f"curves has {len(several)} entries; pass 1 to {len(roles.CURVES)}")
    check_level(target, "target")
    names = [c.test.replace("_", " ") if c.test in TITLES else c.test for c in several]
    alike = len(set(names)) < len(names)
    with sheet.canvas(ax) as ax:
        ax.axhline(target, zorder=1, gid="target", **roles.LEVEL.line())
        shown: list[Line2D] = []
        for curve, name, role in zip(several, names, roles.CURVES, strict=False):
            low, high = zip(*curve.intervals, strict=True)
            band: dict[str, Any] = {"color": role.rgba(), "alpha": 0.2, "linewidth": 0}
            ax.fill_between(curve.sizes, low, high, gid="simulation", **band)
            name += f", difference {curve.delta:.3g}" if alike and curve.delta is not None else ""
            enough, reached = curve.needed(target), f"{target:.0%} not reached"
            if enough is not None:
                most = "at most " if enough == curve.sizes[0] else ""
                reached = f"{most}{enough:,} pairs for {target:.0%}"
                thin = role.line(linewidth=1.2, gid="needed", zorder=1)
                ax.plot([enough] * 2, [0, target], **thin)
                cross: dict[str, Any] = {"marker": "X", "markersize": 11, "markeredgecolor": "w"}
                ax.plot([enough], [target], **role.line(gid="needed", zorder=4, **cross))
            look = role.line(marker=role.mark, markersize=7, gid="power")
            shown += ax.plot(curve.sizes, curve.power, label=f"{name}: {reached}", **look)
        ax.set(ylim=(0, 1.02), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1], ylabel="power")
        levels = " and ".join(dict.fromkeys(f"{c.alpha:g}, {c.alternative}" for c in several))
        ax.set_xlabel(f"pairs (level {levels})")
        sheet.key(ax, shown)
    return ax
