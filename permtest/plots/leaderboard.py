"""A ranking of many systems with honest ties, or how they differ from a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from permtest.plots import roles
from permtest.plots.board_texts import (
    entitle,
    measure,
    numbers,
    p_text,
    readable,
    settle,
    write_across,
)
from permtest.plots.parts import name_rows
from permtest.plots.sheet import NICE, new_figure, plain, style

if TYPE_CHECKING:
    from permtest.many.leaderboard import Leaderboard

WIDTH, ROW, REST = 11.0, 0.4, 2.6  # inches: of a ranking, of a row, of all but the rows
PANELS = 12  # data sets in one picture
LANES = 90.0  # points that bars beside each other take at most


# ---- the ranking ---------------------------------------------------------------------------------


class Row(NamedTuple):
    """A system, where it stands, whether it is marked (None: the baseline), and a note."""

    name: str
    place: float
    marked: bool | None
    note: str


def plot_ranking(
    board: Leaderboard,
    data_set: str | None = None,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    most: int = 30,
) -> tuple[Axes, ...]:
    """Draw what each system scores, which ones do not differ, and the ranks that each may have.

    Parameters
    ----------
    board : Leaderboard
        Of `compare_many`.
    data_set : str, optional
        Which one to draw. Default: all, below each other.
    ax : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, with the settings of the caller: one for each data set. Default: a new
        figure in the style of the project, as high as the rows need.
    most : int, default 30
        Systems that are drawn, from the best one on; the picture says how many are not.

    Returns
    -------
    tuple of matplotlib.axes.Axes
        One for each data set, with a row for each system, the best at the top, at 0. Gids: "tied"
        for the best system and those tied with it, "behind" for the others, "group" for the bars
        beside the axes that join systems of which no two differ, "note" for the ranks. With a
        baseline the rows show differences from it: "differs", "same", "baseline", and as notes
        the adjusted p-values.

    Raises
    ------
    ValueError
        If there is no such data set, too many for one picture, or `most` is less than 1.

    Notes
    -----
    Filled circles and bold names are systems tied with the best, or that differ from the baseline;
    the others are hollow squares. A bar that reaches the lower edge goes on below it.

    Examples
    --------
    >>> import permtest as pt
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_ranking
    >>> board = pt.compare_many({
    ...     "old": [2, 3, 4, 3, 1, 0, 2, 3], "new": [3, 5, 4, 6, 2, 2, 3, 5],
    ...     "copy": [2, 3, 4, 3, 1, 0, 2, 3]})
    >>> (ax,) = plot_ranking(board, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts if text.get_gid() == "note"]
    ['rank 1', 'rank 2 to 3', 'rank 2 to 3']
    """
    if most < 1:
        raise ValueError(f"most={most} must be 1 or more")
    chosen = _chosen(board, data_set)
    if ax is None:
        with style():
            rows = min(most, len(board.systems))
            return plot_ranking(board, data_set, ax=_panels(rows, len(chosen)), most=most)
    axes = (ax,) if isinstance(ax, Axes) else tuple(ax)
    if len(axes) != len(chosen):
        raise ValueError(f"ax has {len(axes)} axes, but there are {len(chosen)} data sets to draw")
    board = readable(board)
    shown = [_draw_ranking(panel, board, k, most) for panel, k in zip(axes, chosen, strict=True)]
    settle(axes[0])
    for panel, k, handles in zip(axes, chosen, shown, strict=True):
        write_across(panel, panel.xaxis.label, panel.get_xlabel())
        entitle(panel, board, k, handles)
    return axes


def plot_rankings(rankings: Sequence[tuple[Leaderboard, str]]) -> tuple[Axes, ...]:
    """Draw the rankings of several boards below each other, in a new figure.

    Parameters
    ----------
    rankings : sequence of (Leaderboard, str)
        Boards, each with the name of one of its data sets.

    Returns
    -------
    tuple of matplotlib.axes.Axes
        As of `plot_ranking`.

    Raises
    ------
    ValueError
        If there are more than one figure can show.

    Examples
    --------
    >>> from permtest import compare_many
    >>> from permtest.plots import plot_rankings
    >>> board = compare_many({"new": [1, 1, 1, 0], "old": [0, 1, 0, 0]})
    >>> len(plot_rankings([(board, "")]))
    1
    """
    if len(rankings) > PANELS + 1:
        raise ValueError(
            f"there are {len(rankings)} rankings, but one picture shows {PANELS + 1} at most; "
            "write a page (.html), or the board of one data set"
        )
    with style():
        rows = min(max(len(board.systems) for board, _ in rankings), 30)
        axes = _panels(rows, len(rankings))
        for (board, name), ax in zip(rankings, axes, strict=True):
            plot_ranking(board, name, ax=ax)
    return axes


def _chosen(board: Leaderboard, data_set: str | None) -> list[int]:
    """Numbers of the data sets."""
    if data_set is not None or len(board.data_sets) == 1:
        board.order(data_set)  # refuses what is none
        return [0 if data_set is None else board.data_sets.index(data_set)]
    if len(board.data_sets) > PANELS:
        raise ValueError(
            f"board has {len(board.data_sets)} data sets, but one picture shows {PANELS} at most; "
            "choose one: data_set=..."
        )
    return list(range(len(board.data_sets)))


def _panels(rows: int, panels: int) -> tuple[Axes, ...]:
    figure = new_figure((WIDTH, panels * (ROW * rows + REST)))
    return tuple(figure.subplots(panels, 1, squeeze=False)[:, 0])


def _draw_ranking(ax: Axes, board: Leaderboard, k: int, most: int) -> list[Line2D]:
    """All but the title, with the key to which it leaves room."""
    every = _rows(board, k) if board.baseline is None else _rows_beside(board, k)
    rows = every[:most]
    _set_rows(ax, rows)
    _draw_marks(ax, rows, board.baseline is not None)
    width = 0.0 if board.baseline is not None else _draw_groups(ax, board, k, rows)
    beside: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "va": "center"}
    beside |= {"textcoords": "offset points", "xytext": (14 + width, 0)}
    for y, row in enumerate(rows):
        ax.annotate(row.note, (1, y), gid="note", **beside)
    left_out = len(every) - len(rows)
    note = f"; the last {left_out} of {len(every)} systems are not drawn" if left_out else ""
    plain(ax.xaxis.label, f"{measure(board)}{note}")
    return _key_to_ranking(ax, board, rows, width > 0)


def _rows(board: Leaderboard, k: int) -> list[Row]:
    """All systems, those marked that are tied with the best."""
    name = board.data_sets[k]
    tied, ranges = set(board.tied_with_best(name)), board.rank_ranges(name).tolist()
    found = []
    for system in board.order(name):
        i = board.systems.index(system)
        low, high = ranges[i]
        ranks = f"rank {low}" if low == high else f"rank {low} to {high}"
        found.append(Row(system, float(board.values[k, i]), system in tied, ranks))
    return found


def _rows_beside(board: Leaderboard, k: int) -> list[Row]:
    """All systems, those marked that differ from the baseline."""
    pairs = {board.systems[i]: p for p, i in enumerate(board.first.tolist())}
    found = []
    for system in board.order(board.data_sets[k]):
        if system == board.baseline:
            found.append(Row(system, 0.0, None, "baseline"))
            continue
        p = pairs[system]
        text = p_text(float(board.adjusted[k, p]), board.alpha)
        note = f"p {text}" if text[0] in "<>" else f"p = {text}"
        differs = bool(board.differs[k, p])
        found.append(Row(system, float(board.statistic[k, p]), differs, note))
    return found


def _set_rows(ax: Axes, rows: Sequence[Row]) -> None:
    """A line for each system, named on the vertical axis; marked ones are bold."""
    name_rows(ax, [row.name for row in rows])
    for y, (row, label) in enumerate(zip(rows, ax.get_yticklabels(), strict=True)):
        label.set_fontweight("bold" if row.marked else "normal")
        ax.axhline(y, color="0.88", linewidth=1, zorder=0, gid="row")
    low, high = min(row.place for row in rows), max(row.place for row in rows)
    span = high - low or 0.1 * abs(low) or 1.0
    ax.set_xlim(low - (0.2 if low < 0 else 0.06) * span, high + 0.2 * span)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=NICE))
    ax.ticklabel_format(axis="x", useOffset=False)


def _draw_marks(ax: Axes, rows: Sequence[Row], zero: bool) -> None:
    """Where the systems stand, and how much that is; with a line at 0 if that is a baseline."""
    if zero:
        ax.axvline(0, zorder=1, gid="zero", **roles.EQUAL.line())
    gids = {True: "differs", False: "same"} if zero else {True: "tied", False: "behind"}
    box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.0}
    beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "bbox": box}
    written = numbers([row.place for row in rows], "+" * zero)
    for y, (row, number) in enumerate(zip(rows, written, strict=True)):
        gid = "baseline" if row.marked is None else gids[row.marked]
        ax.plot([row.place], [y], linestyle="none", gid=gid, **_look(ax, row.marked))
        if row.marked is not None:
            away = -1 if zero and row.place < 0 else 1  # from the line
            side: dict[str, Any] = {"xytext": (11 * away, 0), "ha": "left" if away > 0 else "right"}
            ax.annotate(number, (row.place, y), gid="value", **beside | side)


def _look(ax: Axes, marked: bool | None) -> dict[str, Any]:
    if marked is None:
        return {"marker": "D", "markersize": 8, "color": roles.ink()}
    return (roles.HOLDS if marked else roles.BROKEN).dot(ax)


def _draw_groups(ax: Axes, board: Leaderboard, k: int, rows: Sequence[Row]) -> float:
    """Bars beside the axes, in as few lanes as they need; how many points they take."""
    where = {row.name: y for y, row in enumerate(rows)}
    lanes: list[int] = []  # where the last bar of each one ends
    bars = []
    for group in board.groups(board.data_sets[k]):
        inside = [where[name] for name in group if name in where]
        if not inside:
            continue
        end = max(inside) + (0.28 if len(inside) == len(group) else 0.6)
        free = (i for i, stop in enumerate(lanes) if stop < min(inside))
        lane = next(free, len(lanes))
        lanes[lane : lane + 1] = [max(inside)]
        bars.append((lane, min(inside) - 0.28, end))
    step = min(14.0, LANES / max(len(lanes), 1))
    look: dict[str, Any] = {
        "color": roles.ink(),
        "solid_capstyle": "butt",
        "clip_on": False,
    }
    for lane, top, end in bars:
        inches = (lane + 0.7) * step / 72
        beside = ax.get_yaxis_transform() + ScaledTranslation(inches, 0, ax.figure.dpi_scale_trans)
        ax.plot([1, 1], [top, end], transform=beside, linewidth=0.45 * step, gid="group", **look)
    return step * len(lanes)


def _key_to_ranking(
    ax: Axes, board: Leaderboard, rows: Sequence[Row], grouped: bool
) -> list[Line2D]:
    """The marks that are there."""
    words = {True: "best, or tied with it", False: "behind the best"}
    if board.baseline is not None:
        verb = {"greater": "score more", "less": "score less"}.get(board.alternative, "differ")
        words = {True: f"shown to {verb}", False: f"not shown to {verb}"}
    there = {row.marked for row in rows}
    found = [
        Line2D([], [], linestyle="none", label=label, **_look(ax, marked))
        for marked, label in words.items()
        if marked in there
    ]
    bar: dict[str, Any] = {"color": roles.ink(), "linestyle": "none", "marker": "|"}
    bar |= {"markersize": 16, "markeredgewidth": 5, "label": "no two of them differ"}
    return [*found, Line2D([], [], **bar)] if grouped else found
