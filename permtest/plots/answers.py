"""What several tests answer to the same question, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, isfinite
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from permtest._checks import check_level
from permtest.plots import roles
from permtest.plots.parts import draw_interval, name_rows
from permtest.plots.sheet import NICE, decades, legend_above, new_figure, plain, style
from permtest.plots.words import digits, span

if TYPE_CHECKING:
    from permtest.alternatives.compare import Answer, AnswerTable
    from permtest.alternatives.result import AlternativeResult

WIDTH, ROW, REST = 13.0, 0.42, 2.0  # inches: of the picture, of a row, and of all but the rows
LEFTMOST = 1e-322  # an axis of p-values does not go on below; what is smaller is drawn there
WIDE = 4  # times as wide as the others an interval may be without leaving the axes
SMALL = 0.85  # size of notes, in sizes of the letters around them


def plot_answers(
    table: AnswerTable, *, ax: Axes | Sequence[Axes] | None = None, alpha: float | None = None
) -> tuple[Axes, ...]:
    """Draw p of every test in a table, and beside it the intervals of what they estimate.

    Parameters
    ----------
    table : AnswerTable
        Of `compare_all`.
    ax : matplotlib.axes.Axes or sequence of two, optional
        Where to draw, with the settings of the caller. A single one gets the p-values only.
        Default: two in a new figure in the style of the project, as high as the rows need.
    alpha : float, optional
        A level of significance to mark, in (0, 1). Default: 1 less the confidence level of the
        table.

    Returns
    -------
    tuple of matplotlib.axes.Axes
        First the p-values, on a logarithmic axis, with gids "held", "violated", "refused" and
        "level"; then the intervals, with gids "interval", "null" and "other". Both share their
        rows, the first of which is at the top, at 0; that of the exact test stands on a grey band
        (gid "exact").

    Raises
    ------
    ValueError
        If the table is empty, or an option is out of range.

    Notes
    -----
    A filled circle is a test of which no assumption was seen to be violated, a hollow square one
    with a violated assumption; which one that is the table says. The second axes have the scale of
    the estimate of the exact test, or of the first test that has an interval; what other tests
    estimate is written into their rows. A p of 5e-324 stands for all that are smaller.

    Examples
    --------
    >>> import permtest as pt
    >>> from permtest.plots import plot_answers
    >>> table = pt.compare_all([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], tests=["exact", "paired_t"])
    >>> from matplotlib.figure import Figure
    >>> pvalues, intervals = plot_answers(table, ax=Figure().subplots(1, 2))
    >>> [float(line.get_xdata()[0]) for line in pvalues.lines if line.get_gid() == "held"][0]
    0.125
    """
    if not table.answers:
        raise ValueError("table has no answers; name at least one test in compare_all(tests=...)")
    level = check_level(1 - table.confidence_level if alpha is None else alpha)
    if ax is None:
        with style():
            return plot_answers(table, ax=_two_axes(len(table.answers)), alpha=level)
    axes = (ax,) if isinstance(ax, Axes) else tuple(ax)
    if len(axes) not in (1, 2):
        raise ValueError(f"ax has {len(axes)} axes; pass one, for p-values, or two")
    _draw_pvalues(axes[0], table, level)
    for beside in axes[1:]:
        _draw_intervals(beside, table)
        beside.tick_params(labelleft=False)
    return axes


def _two_axes(rows: int) -> tuple[Axes, ...]:
    figure = new_figure((WIDTH, ROW * rows + REST))
    return tuple(figure.subplots(1, 2, width_ratios=(4, 7)))


def _set_rows(ax: Axes, table: AnswerTable) -> None:
    """A row for each test, named on the vertical axis; that of the exact one stands out."""
    name_rows(ax, [answer.title for answer in table.answers])
    for row, label in enumerate(ax.get_yticklabels()):
        if table.answers[row].test == "exact":
            label.set_fontweight("bold")
            ax.axhspan(row - 0.45, row + 0.45, color=roles.BAND, linewidth=0, zorder=0, gid="exact")


# ---- p-values ------------------------------------------------------------------------------------


def _draw_pvalues(ax: Axes, table: AnswerTable, alpha: float) -> None:
    ax.set_xscale("log")
    found = [answer.result.pvalue for answer in table.answers if answer.result]
    left = max(min([*found, alpha / 10]) / 3, LEFTMOST)
    ax.set_xlim(left, left**-0.03)
    ax.xaxis.set_major_locator(FixedLocator(decades(*ax.get_xlim(), most=4)))
    ax.xaxis.set_minor_locator(NullLocator())
    _set_rows(ax, table)
    ax.axvline(alpha, zorder=1, gid="level", **roles.LEVEL.line())
    for row, answer in enumerate(table.answers):
        _draw_pvalue(ax, row, answer)
    one = "" if table.alternative == "two-sided" else "one-sided: "
    ax.set_xlabel(f"p-value ({one}{table.alternative})")
    level = Line2D([], [], label=f"level {alpha:.3g}", **roles.LEVEL.line())
    # It ends where the axes do: the names of the tests leave more room than they have width.
    legend_above(ax, [*_keys(ax), level], loc="lower right", bbox_to_anchor=(1, 1))


def _draw_pvalue(ax: Axes, row: int, answer: Answer) -> None:
    """A dot, and p itself beside the axes."""
    if answer.result is None:
        where: dict[str, Any] = {"ha": "center", "va": "center", "fontstyle": "italic"}
        middle = ax.get_yaxis_transform()
        ax.text(0.5, row, "does not fit these data", gid="refused", transform=middle, **where)
        return
    look = _look(ax, answer.held)
    gid = "violated" if answer.held is False else "held"
    place = max(answer.result.pvalue, ax.get_xlim()[0])
    ax.plot([place], [row], linestyle="none", clip_on=False, gid=gid, **look)
    beside: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
    text = answer.result.pvalue_text()
    ax.annotate(text, (1, row), xytext=(12, 0), va="center", gid="p", **beside)


def _look(ax: Axes, held: bool | None) -> dict[str, Any]:
    return (roles.BROKEN if held is False else roles.HOLDS).dot(ax)


def _keys(ax: Axes) -> list[Line2D]:
    return [
        Line2D([], [], linestyle="none", label="no assumption violated", **_look(ax, True)),
        Line2D([], [], linestyle="none", label="one violated", **_look(ax, False)),
    ]


# ---- intervals -----------------------------------------------------------------------------------


def _draw_intervals(ax: Axes, table: AnswerTable) -> None:
    """One scale, that of the exact test; what is estimated on others is written out."""
    scale = _scale(table)
    same = {i: answer for i, answer in enumerate(table.answers) if _is_on(answer, scale)}
    _set_limits(ax, table, list(same.values()))
    _set_rows(ax, table)
    ax.axvline(table.delta, zorder=1, gid="null", **roles.EQUAL.line())
    for row, answer in enumerate(table.answers):
        if row in same:
            _draw_interval(ax, row, answer)
        elif answer.result is not None:
            _write_estimate(ax, row, answer)
    a, b = table.names
    what = scale.estimate_name if scale else "estimate"
    words = f"{what}, {a} minus {b} ({100 * table.confidence_level:.4g}% interval)"
    plain(ax.xaxis.label, words, 46)
    null = Line2D([], [], label=f"null hypothesis: {table.delta:g}", **roles.EQUAL.line())
    legend_above(ax, [null])


def _scale(table: AnswerTable) -> AlternativeResult | None:
    """Whose estimate the axis shows: that of the exact test, if it was made and has an interval."""
    with_interval = [answer for answer in table.answers if answer.result and answer.interval]
    with_interval.sort(key=lambda answer: answer.test != "exact")
    return with_interval[0].result if with_interval else None


def _is_on(answer: Answer, scale: AlternativeResult | None) -> bool:
    """Whether a test estimates the same, as a difference of accuracies is one of means."""
    if scale is None or answer.result is None or answer.interval is None:
        return False
    result = answer.result
    same = isclose(result.estimate, scale.estimate, rel_tol=1e-9)
    return result.estimate_name == scale.estimate_name or (
        same and result.estimate_name.startswith("difference of")
    )


def _set_limits(ax: Axes, table: AnswerTable, answers: Sequence[Answer]) -> None:
    """All estimates, the ends that the alternative leaves closed, and the null hypothesis.

    Tests that take systems for independent can have intervals so wide that no other would be seen;
    then the ends are those of the tests none of whose assumptions are violated.
    """
    one = {"greater": ("low",), "less": ("high",)}.get(table.alternative, ("low", "high"))
    ends = _finite_ends(answers, one)
    fit = _finite_ends([answer for answer in answers if answer.held is not False], one)
    if len(fit) > 1 and np.ptp(ends) > WIDE * np.ptp(fit) > 0:
        ends = fit
    ends += [answer.result.estimate for answer in answers if answer.result]
    seen = [end for end in ends if isfinite(end)] + [table.delta]
    span = max(seen) - min(seen) or 1.0
    room = [0.08 * span if end in one else 0.3 * span for end in ("low", "high")]
    ax.set_xlim(min(seen) - room[0], max(seen) + room[1])
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=NICE))


def _finite_ends(answers: Sequence[Answer], ends: tuple[str, ...]) -> list[float]:
    found = [float(getattr(answer.interval, end)) for answer in answers for end in ends]
    return [end for end in found if isfinite(end)]


def _draw_interval(ax: Axes, row: int, answer: Answer) -> None:
    """That of the exact test is thicker."""
    assert answer.result is not None
    assert answer.interval is not None
    look = _look(ax, answer.held) | ({"linewidth": 4} if answer.test == "exact" else {})
    draw_interval(ax, row, answer.interval, answer.result.estimate, gid="interval", **look)


def _write_estimate(ax: Axes, row: int, answer: Answer) -> None:
    """What is estimated on another scale, in words."""
    assert answer.result is not None
    words = f"{answer.result.estimate_name} {digits(answer.result.estimate)}"
    words += f" ({span(*answer.interval)})" if answer.interval is not None else ""
    box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.5}
    size = SMALL * mpl.rcParams["font.size"]
    where: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.get_yaxis_transform()}
    note = ax.text(0.5, row, "", fontsize=size, bbox=box, gid="other", **where)
    plain(note, words)
