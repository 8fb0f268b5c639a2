"""What tests answer: p and intervals of several, sizes of effects, power, what a plan can show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from math import copysign, isclose, isfinite
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from permtest._checks import check_level
from permtest.alternatives import (
    AlternativeResult,
)
from permtest.alternatives.result import TITLES
from permtest.plots import roles, sheet
from permtest.study import PowerCurve

if TYPE_CHECKING:
    from permtest.alternatives.compare import Answer, AnswerTable
    from permtest.study.effects import EffectSize

WIDE, NARROW = 11.0, 8.0  # inches
LEFTMOST = 1e-322  # an axis of p-values does not go on below; what is smaller is drawn there
BROAD = 4  # times as wide as the others an interval may be without leaving the axes
SMALL = 0.85  # size of notes, in sizes of the letters around them
FEWEST, MOST = 5, 5000  # pairs, the ends of the axis of a plan
STEPS = 14  # numbers of pairs in a decade
WIDEST = 1.5  # standard deviations of the differences that the axis of differences reaches beyond 0


# ---- several tests -------------------------------------------------------------------------------


def plot_answers(
    table: AnswerTable, *, ax: Axes | Sequence[Axes] | None = None, alpha: float | None = None
) -> tuple[Axes, ...]:
    """Draw p of every test in a table, and beside it the intervals of what they estimate.

    The axis of intervals is that of the exact test; estimates of another kind are written out.
    Intervals of tests whose assumptions are not met may leave the axes, with an arrow.

    The p-values, with gids "met", "not met", "refused" and "level"; then the intervals, with
    gids "interval", "null" and "other". The exact test stands on a grey band (gid "exact").

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
    size = (WIDE, sheet.height_of_rows(len(table.answers)))
    with sheet.canvas(ax, size, partial(Figure.subplots, ncols=2, width_ratios=(3, 7))) as ax:
        axes = (ax,) if isinstance(ax, Axes) else tuple(ax)
        if len(axes) not in (1, 2):
            raise ValueError(f"ax has {len(axes)} axes; pass one, for p-values, or two")
        for each in axes:
            sheet.name_rows(each, [answer.title for answer in table.answers])
            for row, label in enumerate(each.get_yticklabels()):
                if table.answers[row].test == "exact":
                    label.set_fontweight("bold")
                    band: dict[str, Any] = {"color": roles.BAND, "linewidth": 0, "zorder": 0}
                    each.axhspan(row - 0.45, row + 0.45, gid="exact", **band)
        _draw_pvalues(axes[0], table, level)
        for beside in axes[1:]:
            _draw_intervals(beside, table)
            beside.tick_params(labelleft=False)
    return axes


def _look(ax: Axes, held: bool | None) -> dict[str, Any]:
    return (roles.BROKEN if held is False else roles.HOLDS).dot(ax)


def _draw_pvalues(ax: Axes, table: AnswerTable, alpha: float) -> None:
    """A dot for each test on a logarithmic axis, and p itself beside the axes."""
    ax.set_xscale("log")
    found = [answer.result.pvalue for answer in table.answers if answer.result]
    left = max(min([*found, alpha / 10]) / 3, LEFTMOST)
    ax.set_xlim(left, left**-0.03)
    ax.xaxis.set_major_locator(FixedLocator(sheet.decades(*ax.get_xlim(), most=2)))
    ax.xaxis.set_minor_locator(NullLocator())
    level = roles.LEVEL.line(label=f"level {alpha:.3g}", gid="level")
    line = ax.axvline(alpha, zorder=1, **level)
    sides: dict[str, Any] = {"va": "center", "xycoords": ax.get_yaxis_transform()}
    for row, answer in enumerate(table.answers):
        if answer.result is None:
            words = {"ha": "center", "fontstyle": "italic", "gid": "refused"}
            ax.annotate("does not fit these data", (0.5, row), **sides | words)
            continue
        gid = "not met" if answer.held is False else "met"
        dot = _look(ax, answer.held) | {"linestyle": "none", "clip_on": False, "gid": gid}
        ax.plot([max(answer.result.pvalue, left)], [row], **dot)
        away: dict[str, Any] = {"xytext": (12, 0), "textcoords": "offset points", "gid": "p"}
        ax.annotate(answer.result.pvalue_text(), (1, row), **sides | away)
    one = "" if table.alternative == "two-sided" else "one-sided: "
    ax.set_xlabel(f"p-value ({one}{table.alternative})")
    named = {True: "assumptions met, or unknown", False: "one not met"}
    dots = [
        Line2D([], [], linestyle="none", label=label, **_look(ax, held))
        for held, label in named.items()
    ]
    sheet.key(ax, [dots[0], line, dots[1]], columns=2)
    legend = ax.get_legend()
    assert legend is not None
    legend.set(loc="lower right", bbox_to_anchor=(1, 1))  # the names of tests leave room there


def _draw_intervals(ax: Axes, table: AnswerTable) -> None:
    """One scale, that of the exact test; what is estimated on others is written out."""
    with_interval = [answer for answer in table.answers if answer.result and answer.interval]
    with_interval.sort(key=lambda answer: answer.test != "exact")
    scale = with_interval[0].result if with_interval else None
    same = [answer for answer in with_interval if _is_on(answer, scale)]
    _set_limits(ax, table, same)
    null = roles.EQUAL.line(label=f"null hypothesis: {table.delta:g}", gid="null")
    shown = ax.axvline(table.delta, zorder=1, **null)
    for row, answer in enumerate(table.answers):
        if answer.result is None:
            continue
        estimate = answer.result.estimate
        if answer in same:
            thick = {"linewidth": 4} if answer.test == "exact" else {}
            look = _look(ax, answer.held) | thick | {"gid": "interval"}
            sheet.draw_interval(ax, row, answer.interval or (), estimate, **look)
            continue
        words = f"{answer.result.estimate_name} {sheet.digits(estimate)}"
        words += f" ({sheet.span(*answer.interval)})" if answer.interval is not None else ""
        where: dict[str, Any] = {"ha": "center", "va": "center", "gid": "other"}
        where |= {"transform": ax.get_yaxis_transform(), "path_effects": roles.halo(ax)}
        note = ax.text(0.5, row, "", fontsize=SMALL * mpl.rcParams["font.size"], **where)
        sheet.literal(note, words, ax)
    what = scale.estimate_name if scale else "estimate"
    a, b = table.names
    sure = f"{100 * table.confidence_level:.4g}% interval"
    sheet.literal(ax.xaxis.label, f"{what}, {a} minus {b} ({sure})", 38)
    sheet.key(ax, [shown])


def _is_on(answer: Answer, scale: AlternativeResult | None) -> bool:
    """Whether a test estimates the same, as a difference of accuracies is one of means."""
    assert answer.result is not None
    if scale is None or answer.result.estimate_name == scale.estimate_name:
        return scale is not None
    alike = answer.result.estimate_name.startswith("difference of")
    return alike and isclose(answer.result.estimate, scale.estimate, rel_tol=1e-9)


def _set_limits(ax: Axes, table: AnswerTable, answers: Sequence[Answer]) -> None:
    """All estimates, the ends that the alternative leaves closed, and the null hypothesis."""
    one = {"greater": ("low",), "less": ("high",)}.get(table.alternative, ("low", "high"))

    def finite_ends(some: Sequence[Answer]) -> list[float]:
        ends = [float(getattr(answer.interval, end)) for answer in some for end in one]
        return [end for end in ends if isfinite(end)]

    ends = finite_ends(answers)
    fit = finite_ends([answer for answer in answers if answer.held is not False])
    if len(fit) > 1 and np.ptp(ends) > BROAD * np.ptp(fit) > 0:
        ends = fit
    ends += [answer.result.estimate for answer in answers if answer.result]
    seen = [end for end in ends if isfinite(end)] + [table.delta]
    reach = max(seen) - min(seen) or 1.0
    room = [0.08 * reach if end in one else 0.3 * reach for end in ("low", "high")]
    ax.set_xlim(min(seen) - room[0], max(seen) + room[1])
    sheet.ticks(ax.xaxis, 5)


# ---- sizes of effects ----------------------------------------------------------------------------


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
    with sheet.canvas(ax, (NARROW, sheet.height_of_rows(len(rows), 2))) as ax:
        intervals = [effect.confidence_interval(confidence_level) for effect in rows]
        placed = [row for row, effect in enumerate(rows) if effect.thresholds]
        ends = [0.0, *(copysign(rows[row].thresholds[-1], rows[row].value) for row in placed)]
        ends += [end for row in placed for end in intervals[row] if isfinite(end)]
        margin = 0.06 * (max(ends) - min(ends)) or 1.0
        ax.set_xlim(min(ends) - margin, max(ends) + margin)
        alone = len({effect.names for effect in rows}) == 1
        whose = "" if alone else " ({} over {})"
        sheet.name_rows(ax, [effect.title + whose.format(*effect.names) for effect in rows], pad=2)
        ax.axvline(0, zorder=1, gid="none", **roles.EQUAL.line())
        small = SMALL * mpl.rcParams["font.size"]
        for row, effect in enumerate(rows):
            if row in placed:
                look = roles.HOLDS.dot(ax, gid="effect")
                sheet.draw_interval(ax, row, intervals[row], effect.value, **look)
                continue
            words = f"{sheet.digits(effect.value)} ({sheet.span(*intervals[row])})\n"
            words += effect.interpretation
            where: dict[str, Any] = {"ha": "center", "va": "center", "gid": "unit"}
            where |= {"transform": ax.get_yaxis_transform(), "path_effects": roles.halo(ax)}
            sheet.literal(ax.text(0.5, row, "", fontsize=small, **where), words, ax)
        _draw_thresholds(ax, rows, small)
        sheet.ticks(ax.xaxis, 7)
        sure = f"{100 * confidence_level:.4g}% intervals)\nS, M, L: small, medium, large"
        whose = " of {} over {}".format(*rows[0].names) if alone else ""
        sheet.literal(ax.xaxis.label, f"size of the effect{whose} ({sure}", ax)
    return ax


def _draw_thresholds(ax: Axes, rows: Sequence[EffectSize], size: float) -> None:
    """Where effects are called small, medium and large, in the rows that this is for."""
    row, (left, right) = 0, ax.get_xlim()
    look: dict[str, Any] = {"color": "0.35", "linestyle": ":", "linewidth": 1.6, "zorder": 1}
    for thresholds, block in groupby(rows, key=lambda effect: effect.thresholds):
        first, row = row, row + len(list(block))
        for value, word in zip(thresholds, "SML", strict=False):
            for place in (value, -value):
                if left < place < right:
                    ax.plot([place] * 2, [first - 0.25, row - 0.6], gid="threshold", **look)
                    text: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": size}
                    ax.text(place, first - 0.25, word, gid="word", **text)


# ---- power ---------------------------------------------------------------------------------------


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
