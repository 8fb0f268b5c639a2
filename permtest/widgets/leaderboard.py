"""One more system on a leaderboard: how many items it has to win before it stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ipywidgets as controls
import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from permtest.alternatives.result import rejects
from permtest.many import CORRECTIONS, Leaderboard, ScoreTable, compare_many
from permtest.plots import plot_ranking, roles
from permtest.plots.boards import p_text
from permtest.widgets.frame import Explorer, beside, wide

MOST = 11  # systems that are there already
REACH = 0.15  # of the items may be won or lost
PLACE = (0.255, 0.14, 0.43, 0.75)  # of the axes in the picture
LETTERS = 300.0  # points of size that the letters of the longest name have together


class LeaderboardExplorer(Explorer):
    """Let one more system win and lose some items; its rank, and its ties, follow at once.

    Parameters
    ----------
    table : data frame, mapping, or ScoreTable
        As in `compare_many`: the scores of 2 to 11 systems, 0 or 1 for each item. A `ScoreTable`
        may have clusters, which are swapped as a whole.
    base : str, optional
        The system that the new one resembles, at first. Default: the best one.
    name : str, default "new"
        What the new one is called.
    alpha : float, default 0.05
        Level of the board.
    rng : int, default 0
        Seed of the items that are won and lost, and of "max_t".

    Attributes
    ----------
    base, correction : ipywidgets.Dropdown
    gains, losses : ipywidgets.IntSlider
        Items that the new system has right and the base wrong, and the other way round: up to 15 %
        of all.
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    board : Leaderboard
        What is shown: the exact tests of all pairs.

    Notes
    -----
    The axis holds all that the new system can score, whatever the base, and stands still.

    Examples
    --------
    >>> from permtest.widgets import LeaderboardExplorer
    >>> explorer = LeaderboardExplorer({"good": [1] * 60 + [0] * 40, "bad": [0] * 60 + [1] * 40})
    >>> explorer.gains.value = 12
    >>> explorer.board.order(), explorer.board.tied_with_best()
    (['new', 'good', 'bad'], ('new',))
    """

    board: Leaderboard

    def __init__(
        self,
        table: Any,
        *,
        base: str | None = None,
        name: str = "new",
        alpha: float = 0.05,
        rng: int = 0,
    ) -> None:
        self._table = _right_or_wrong(table)
        self._name, self._alpha, self._rng = name, alpha, rng
        self._shares = [float(x) for x in self._table.exact_values]
        best = self._table.systems[int(np.argmax(self._shares))]
        with_variant(self._table, base or best, 0, 0, name=name)  # refuses what is none
        self._reach = max(1, round(REACH * self._table.n_items))
        self._make_picture(PLACE)
        self._make_controls(base or best)
        self._follow(self.gains, self.losses, self.correction)
        self.base.observe(self._on_base, names="value")

    def _make_controls(self, base: str) -> None:
        short: dict[str, Any] = {"style": {"description_width": "5.5em"}}
        self.base = controls.Dropdown(
            options=self._table.systems, value=base, description="Base", **short
        )
        titles = {entry.title: key for key, entry in CORRECTIONS.items()}
        self.correction = controls.Dropdown(options=titles, description="Correction", **short)
        words = "Right, base is wrong", "Wrong, base is right"
        self.gains, self.losses = (
            controls.IntSlider(0, 0, end, description=text, **wide("13em"))
            for text, end in zip(words, self._ends(base), strict=True)
        )
        self._stack(beside(self.base, self.correction), self.gains, self.losses)

    def _ends(self, base: str) -> tuple[int, int]:
        """How many items a variant of the base can win, and how many it can lose."""
        right = int(np.count_nonzero(self._table.scores[self._table.systems.index(base)]))
        return min(self._reach, self._table.n_items - right), min(self._reach, right)

    def _on_base(self, change: Any) -> None:
        """Let the sliders end where this base ends, and update once."""
        with self._quietly():
            ends = self._ends(self.base.value)
            for slider, end in zip((self.gains, self.losses), ends, strict=True):
                slider.max = end
        self._on_change(change)

    def _update(self) -> None:
        counts = self.gains.value, self.losses.value
        names: dict[str, Any] = {"name": self._name, "rng": self._rng}
        table = with_variant(self._table, self.base.value, *counts, **names)
        options: dict[str, Any] = {"alpha": self._alpha, "rng": self._rng}
        self.board = compare_many(table, correction=self.correction.value, **options)
        alt = f"What {len(table.systems)} systems score, and their ranks"
        self._show(alt, describe(self.board, self.base.value, *counts))

    def _paint(self) -> None:
        (ax,), reach = self._axes, self._reach / self._table.n_items
        low, high = (f(self._shares) for f in (min, max))
        plot_ranking(self.board, ax=ax)
        ax.set_xlim(max(0.0, low - reach) - 0.03, min(1.0, high + reach) + 0.16)
        ax.set_xlabel("share of the items that are right")
        _make_room(ax, max(map(len, self.board.systems)))
        _mark(ax, self.board.order().index(self._name))


def _right_or_wrong(table: Any) -> ScoreTable:
    """A table of zeros and ones, or an error that says where it is something else."""
    found = table if isinstance(table, ScoreTable) else ScoreTable.of(table)
    if found.statistic.name != "mean":
        raise ValueError(
            f"table is for statistic={found.statistic.name!r}, but this explorer is for 'mean'"
        )
    if len(found.systems) > MOST or not found.n_items:
        raise ValueError(
            f"table has {len(found.systems)} systems and {found.n_items} items; one picture shows "
            f"2 to {MOST} systems, and needs an item"
        )
    for name, row in zip(found.systems, found.scores, strict=True):
        for bad in np.flatnonzero((row != 0) & (row != found.scale))[:1]:
            raise ValueError(
                f"table[{name!r}][{bad}] = {int(row[bad]) / found.scale:g} is neither 0 nor 1; "
                "items are right or wrong here"
            )
    return found


def _make_room(ax: Axes, longest: int) -> None:
    """No title, which the sentence below makes needless, a key in one line, small letters."""
    legend, size = ax.get_legend(), ax.yaxis.get_ticklabels()[0].get_fontsize()
    assert legend is not None
    ax.set_title("", loc="left")
    labels = [text.get_text() for text in legend.get_texts()]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.55, 1), "frameon": False}
    place |= {"ncols": 3, "fontsize": 11, "columnspacing": 1.3, "handletextpad": 0.5}
    ax.legend(handles=legend.legend_handles, labels=labels, **place)
    ax.tick_params(axis="y", labelsize=min(size, LETTERS / (1.4 * longest)))
    for text in ax.texts:
        text.set_fontsize(11)


def _mark(ax: Axes, y: int) -> None:
    """A band behind the new system (gid "new")."""
    ax.axhspan(y - 0.45, y + 0.45, color=roles.BAND, zorder=-1, gid="new")
    for text in ax.texts:
        box = text.get_bbox_patch()
        if box is not None and isinstance(text, Annotation) and text.xy[1] == y:
            box.set_facecolor(roles.BAND)


def describe(board: Leaderboard, base: str, gains: int, losses: int) -> str:
    """Where the last system of a board stands, in words.

    Parameters
    ----------
    board : Leaderboard
        Of right and wrong answers; its last system is the new one.
    base : str
        The system that it resembles.
    gains, losses : int
        As in `with_variant`.

    Returns
    -------
    str
    """
    new, size = len(board.systems) - 1, board.n[0]
    at = (board.first == board.systems.index(base)) & (board.second == new)
    low, high = board.rank_ranges()[new].tolist()
    ranks = f"its rank is {low}" if low == high else f"its rank may be {low} to {high}"
    p, adjusted = (
        p_text(float(values[0, at][0]), board.alpha) for values in (board.pvalue, board.adjusted)
    )
    title = CORRECTIONS[board.correction].title
    return (
        f"With {gains:,} more and {losses:,} fewer right than {base}, {board.systems[new]} has "
        f"{round(board.values[0, new] * size):,} of {size:,} right, and both agree on "
        f"{100 * (1 - (gains + losses) / size):.1f}% of the items: {ranks}, {_relations(board)}. "
        f"Against {base}: p = {p}, adjusted for {len(board)} tests {adjusted} ({title})."
    )


def _relations(board: Leaderboard) -> str:
    """Whom the last system is ahead of, tied with and behind."""
    new = len(board.systems) - 1
    lead, adjusted = (board.matrix(what)[new] for what in ("statistic", "adjusted"))
    sides: dict[str, list[str]] = {"ahead of": [], "tied with": [], "behind": []}
    for name in board.order():
        i = board.systems.index(name)
        if i != new:
            differs = bool(rejects(adjusted[i], board.alpha))
            side = "tied with" if not differs else "ahead of" if lead[i] > 0 else "behind"
            sides[side].append(name)
    return "; ".join(f"{side} {_listed(names)}" for side, names in sides.items() if names)


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def with_variant(
    table: ScoreTable, base: str, gains: int, losses: int, *, name: str = "new", rng: int = 0
) -> ScoreTable:
    """Add a system that is another one but for some items, drawn at random.

    Parameters
    ----------
    table : ScoreTable
        Of the statistic "mean", with a score of 0 or 1 for each item.
    base : str
        The system that the new one resembles.
    gains, losses : int
        How many of the items that the base has wrong it has right, and the other way round.
    name : str, default "new"
        What it is called.
    rng : int, default 0
        Seed. With the same one, more gains are the same items and others.

    Returns
    -------
    ScoreTable

    Raises
    ------
    ValueError
        If there is no such base, a system of that name already, or not so many items.

    Examples
    --------
    >>> from permtest import ScoreTable
    >>> from permtest.widgets.leaderboard import with_variant
    >>> table = ScoreTable.of({"old": [1, 1, 0, 0, 0], "older": [1, 0, 0, 0, 0]})
    >>> more = with_variant(table, "old", 2, 1)
    >>> more.systems, [float(x) for x in more.exact_values]
    (('old', 'older', 'new'), [0.4, 0.2, 0.6])
    """
    if base not in table.systems:
        raise ValueError(f"base={base!r} is no system; there are {', '.join(table.systems)}")
    if name in table.systems:
        raise ValueError(f"name={name!r} is a system already; choose another name")
    scores = table.scores[table.systems.index(base)].copy()
    order = np.random.default_rng(rng).permutation(scores.size)
    right = scores[order] != 0
    for what, number, items, score in (
        ("gains", gains, order[~right], table.scale),
        ("losses", losses, order[right], 0),
    ):
        if not 0 <= number <= items.size:
            raise ValueError(f"{what}={number} must lie between 0 and {items.size}")
        scores[items[:number]] = score
    rows = np.concatenate([table.scores, scores[None]])
    return replace(table, systems=(*table.systems, name), scores=rows, source={})
