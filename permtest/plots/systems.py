"""What systems score: two of them item by item, and many in a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from permtest._text import p_value
from permtest.plots import roles, sheet

if TYPE_CHECKING:
    from permtest.many import Leaderboard
    from permtest.scores import Scores

BINS = 41  # bars of a histogram at most; odd, so that one of them has 0 in its middle
CUT, MUCH = 1.25, 2.0  # the bar of equal items ends at so many times the others, if it is as high
MOST = 30  # systems that are drawn in a ranking
LANE, LANES = 14.0, 60.0  # points that a bar beside the axes takes, and all of them at most


def plot_estimation(
    scores: Scores, interval: Sequence[float] | None = None, *, ax: Any = None
) -> tuple[Axes, Axes]:
    """Draw the differences of two systems item by item, and below them the overall difference.

    Differences have the gids "first", "equal" and "second", by the system that is ahead; the mean
    has "interval" and "zero". Where most items are equal, the bar of these is cut, and the key says
    so.

    Parameters
    ----------
    scores : Scores
        Single scores of two systems.
    interval : sequence of two floats, optional
        Of the difference, first minus second, as ``result.confidence_interval()``.
    ax : sequence of two matplotlib.axes.Axes, or matplotlib.figure.Figure, optional
        Where to draw differences and their mean.

    Returns
    -------
    tuple of two matplotlib.axes.Axes

    Examples
    --------
    >>> import permtest as pt
    >>> from matplotlib.figure import Figure
    >>> scores = pt.Scores.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], ("new", "old"))
    >>> ends = pt.exact_perm_test(scores).confidence_interval(0.8)
    >>> differences, mean = pt.plots.plot_estimation(scores, ends, ax=Figure())
    >>> [text.get_text() for text in differences.get_legend().get_texts()]
    ['new higher: 4', 'equal: 1', 'old higher: 0']
    """
    if scores.columns:
        raise ValueError("counts have no difference item by item; draw the test with plot_null")
    names, apart = sheet.distinct(scores.names), scores.differences() / scores.scale
    apart = np.asarray(apart, dtype=np.float64)
    what = f"difference of {scores.score or 'scores'}, {names[0]} minus {names[1]}"
    two = partial(Figure.subplots, nrows=2, height_ratios=(3, 1))
    with sheet.canvas(ax, (sheet.NARROW, 4.5), two) as ax:
        upper, lower = ax
        _draw_differences(upper, apart, names, scores.higher_is_better)
        sheet.literal(upper.xaxis.label, what, upper)
        _draw_mean(lower, float(apart.mean()) if apart.size else 0.0, interval)
    return upper, lower


def plot_scores(scores: Scores, *, ax: sheet.Where = None) -> Axes:
    """Draw histograms of what two systems score, bar beside bar, and above them their means.

    Gids: "first" and "second" for the bars, "mean" for the means.

    Parameters
    ----------
    scores : Scores
        Single scores of two systems.
    ax : matplotlib.axes.Axes or matplotlib.figure.Figure, optional
        Where to draw.
    """
    columns = [np.asarray(x / scores.scale, dtype=np.float64) for x in scores.arrays[:2]]
    edges, names = _edges(np.concatenate(columns)), sheet.distinct(scores.names)
    with sheet.canvas(ax) as ax:
        for side, (x, role) in enumerate(zip(columns, (roles.A, roles.B), strict=True)):
            width = 0.45 * np.diff(edges)
            look = role.area(ax, label=names[side], gid=("first", "second")[side])
            middles = (edges[1:] + edges[:-1]) / 2 + (side - 0.5) * width
            ax.bar(middles, np.histogram(x, edges)[0], width, **look)
        top = ax.get_ylim()[1]
        for x, role in zip(columns, (roles.A, roles.B), strict=True):
            look = role.dot(ax, linestyle="none", label=f"mean {sheet.number(x.mean(), 4)}")
            ax.plot([x.mean()], [top], gid="mean", **look)
        ax.set_ylabel("items")
        sheet.ticks(ax.xaxis, 7)
        sheet.ticks(ax.yaxis, 5, whole=True)
        sheet.literal(ax.xaxis.label, f"{scores.score or 'score'} of an item", ax)
        sheet.key(ax, [x for pair in zip(ax.containers, ax.lines, strict=True) for x in pair])
    return ax


def _draw_differences(
    ax: Axes, apart: Any, names: Sequence[str], higher_is_better: bool | None
) -> None:
    """Bars of the items' differences, by which system is ahead; that at 0 may be cut."""
    word = "higher" if higher_is_better is None else "better"
    ahead = np.sign(apart) * (-1 if higher_is_better is False else 1)
    edges = _edges(np.append(apart, 0.0), centred=True)
    middles, below, handles = (edges[1:] + edges[:-1]) / 2, np.zeros(edges.size - 1), []
    kinds = [("first", 1, roles.A, f"{names[0]} {word}"), ("equal", 0, roles.NEITHER, "equal")]
    for gid, sign, role, label in (*kinds, ("second", -1, roles.B, f"{names[1]} {word}")):
        heights, look = np.histogram(apart[ahead == sign], edges)[0], role.area(ax)
        ax.bar(middles, heights, 0.9 * np.diff(edges), bottom=below, gid=gid, **look)
        below += heights
        handles.append(Patch(label=f"{label}: {(ahead == sign).sum()}", **look))
    middle = int(np.argmin(np.abs(middles)))
    unequal, top = below.copy(), float(below.max())
    unequal[middle] -= (ahead == 0).sum()  # equal items alone may be cut
    others = float(unequal.max(initial=0.0))
    if 0 < MUCH * others < top:
        top = CUT * others
        handles[1].set_label(f"{handles[1].get_label()} (bar cut)")
    ax.set_ylim(0, 1.06 * max(top, 1.0))
    ax.margins(x=0.03)
    ax.set_ylabel("items")
    sheet.ticks(ax.xaxis, 7)
    sheet.ticks(ax.yaxis, 5, whole=True)
    sheet.key(ax, handles)


def _draw_mean(ax: Axes, mean: float, interval: Sequence[float] | None) -> None:
    """The overall difference with its interval, near 0."""
    ends, level = [*(interval or ())], getattr(interval, "confidence_level", None)
    ax.axvline(0, gid="zero", **roles.EQUAL.line())
    seen = [end if np.isfinite(end) else mean for end in ends]
    sheet.fit(ax, [0.0, mean, *seen], 0.12, 1.0)
    sheet.draw_interval(ax, 0, ends or [mean, mean], mean, marker="o", markersize=9, gid="interval")
    ax.set(ylim=(-1, 1), yticks=[])
    ax.spines["left"].set_visible(False)
    sheet.ticks(ax.xaxis, 7)
    words = f"mean difference {sheet.signed(mean, 4)}"
    if ends:
        words += f", {'' if level is None else f'{100 * level:g}% '}interval {sheet.span(*ends)}"
    sheet.literal(ax.xaxis.label, words, ax)


def _edges(values: Any, centred: bool = False) -> NDArray[np.float64]:
    """Of bars for all values: one for each if there are few and they are evenly spaced."""
    distinct = np.unique(values)
    low, high = float(distinct[0]), float(distinct[-1])
    gaps = np.diff(distinct)
    step = float(gaps.min()) if gaps.size else 1.0
    even = bool(np.all(np.abs(gaps / step - np.rint(gaps / step)) < 1e-6))
    if not even or (high - low) / step >= BINS:
        wide = (high - low) / (BINS - 1)
        step = step * np.ceil(wide / step) if even else wide
    start = -step * np.ceil(-low / step - 1e-9) if centred else low
    return np.asarray(start + step * (np.arange(int((high - start) / step + 0.5 + 1e-9) + 2) - 0.5))


def plot_ranking(board: Leaderboard, *, ax: sheet.Where = None) -> Axes:
    """Draw each system's score, which systems do not differ, and the ranks that each may have.

    Filled circles and bold names are systems tied with the first (gid "tied"), or that differ from
    the baseline ("differs"); the others are hollow squares ("behind", "same"). Bars beside the axes
    ("group") join systems of which no two differ. Ranks or adjusted p-values are notes ("note").
    The first 30 systems are drawn; the picture says how many are not.

    Parameters
    ----------
    board : Leaderboard
        Of `compare_many`.
    ax : matplotlib.axes.Axes or matplotlib.figure.Figure, optional
        Where to draw. An empty figure becomes as high as the picture needs.

    Examples
    --------
    >>> import permtest as pt
    >>> from matplotlib.figure import Figure
    >>> board = pt.compare_many({
    ...     "old": [2, 3, 4, 3, 1, 0, 2, 3], "new": [3, 5, 4, 6, 2, 2, 3, 5],
    ...     "copy": [2, 3, 4, 3, 1, 0, 2, 3]})
    >>> ax = pt.plots.plot_ranking(board, ax=Figure())
    >>> [text.get_text() for text in ax.texts if text.get_gid() == "note"]
    ['3.75  rank 1', '2.25  rank 2 to 3', '2.25  rank 2 to 3']
    """
    rows, beside, kinds = board.rows()[:MOST], board.baseline is not None, _words(board)
    places = [float(row["difference"] or 0) if beside else row["value"] for row in rows]
    marked = [row["differs"] if beside else row["tied_with_best"] for row in rows]
    looks = roles.HOLDS, roles.BROKEN
    with sheet.canvas(ax, (sheet.WIDE, 0.45 * len(rows) + 2.5)) as ax:
        sheet.name_rows(ax, sheet.distinct([row["system"] for row in rows], 20), marked)
        sheet.fit(ax, [*places, *[0.0] * beside], 0.1, 0.02 * abs(places[0]) or 1.0)
        sheet.ticks(ax.xaxis, 4)
        away = 14 if beside else _draw_groups(ax, board.groups(), [row["system"] for row in rows])
        for y, row in enumerate(rows):
            gid, look = kinds[not marked[y]][0], looks[not marked[y]].dot(ax)
            ranks = row.get("ranks", row.get("rank"))
            note = "baseline" if beside else f"{sheet.number(places[y], 4)}  rank {ranks}"
            if beside and row["difference"] is None:
                gid, look = note, {"marker": "D", "markersize": 8, "color": roles.ink()}
            elif beside:
                note = f"{sheet.signed(places[y], 4)}  p = {p_value(row['adjusted'])}"
            ax.axhline(y, color="0.88", linewidth=1, zorder=0)
            ax.plot([places[y]], [y], **look, linestyle="none", gid=gid)
            sheet.write_beside(ax, y, note, "note", away)
        keys = [sheet.dot(x, **look.dot(ax)) for (_, x), look in zip(kinds, looks, strict=True)]
        if beside:
            ax.axvline(0, zorder=1, gid="zero", **roles.EQUAL.line())
        elif away > 14:
            bar = {"color": roles.ink(), "marker": "|", "markersize": 16, "markeredgewidth": 5}
            keys.append(sheet.dot("joined: not shown to differ", **bar))
        left_out = len(board.systems) - len(rows)
        words = _measure(board) + f"; {left_out} more systems are not drawn" * (left_out > 0)
        sheet.literal(ax.xaxis.label, words, ax)
        sheet.key(ax, keys, board.sentence(), fontweight="normal")
    return ax


def _words(board: Leaderboard) -> list[tuple[str, str]]:
    """Gid and words for systems that are marked, and for those that are not."""
    if board.baseline is None:
        return [("tied", "first, or tied with it"), ("behind", "behind the first")]
    return [("differs", "shown to differ"), ("same", "not shown to differ")]


def _draw_groups(ax: Axes, groups: Sequence[Sequence[str]], drawn: Sequence[str]) -> float:
    """Bars beside the axes; how many points away there is room for notes."""
    step = min(LANE, LANES / max(len(groups), 1))
    look: dict[str, Any] = {"color": roles.ink(), "solid_capstyle": "butt", "clip_on": False}
    for lane, group in enumerate(groups):
        rows = [row for row, system in enumerate(drawn) if system in group]
        move = ScaledTranslation((lane + 0.7) * step / 72, 0, ax.figure.dpi_scale_trans)
        look |= {"transform": ax.get_yaxis_transform() + move, "linewidth": 0.45 * step}
        if rows:  # it goes on below if not all of them are drawn
            end = rows[-1] + (0.28 if len(rows) == len(group) else 0.6)
            ax.plot([1, 1], [rows[0] - 0.28, end], gid="group", **look)
    return 14 + step * len(groups)


def _measure(board: Leaderboard) -> str:
    """What the values are, or the differences from a baseline."""
    words = board.title + " score" * (board.title in ("mean", "sum"))
    words += " (lower is better)" * (board.higher_is_better is False)
    return words if board.baseline is None else f"{words}, minus that of {board.baseline}"
