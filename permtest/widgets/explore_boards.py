"""An explorer of leaderboards: how many items one more system has to win before it stands out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from permtest.many import CORRECTIONS, Leaderboard, ScoreTable, compare_many
from permtest.plots import plot_ranking, sheet
from permtest.plots.boards import p_text
from permtest.widgets.frame import Explorer, choice, slider

MOST = 11  # systems that are there already
REACH = 0.15  # of the items may be won or lost
FIRST = (0.03, 0.01)  # of the items are won, and lost, at first
LETTERS = 300.0  # points of size that the letters of the longest name have together


class LeaderboardExplorer(Explorer):
    """Let one more system win and lose some items; its rank, and its ties, follow at once.

    Parameters
    ----------
    table : data frame, mapping, or ScoreTable
        As in `compare_many`: the scores of 2 to 11 systems, 0 or 1 for each item. A `ScoreTable`
        may have clusters, which are swapped as a whole.
    base : str, optional
        The system that the new one, "new", resembles at first. Default: the best one.

    Examples
    --------
    >>> from permtest.widgets import LeaderboardExplorer
    >>> explorer = LeaderboardExplorer({"good": [1] * 60 + [0] * 40, "bad": [0] * 60 + [1] * 40})
    >>> explorer.gains.value = 12
    >>> explorer.board.order(), explorer.board.tied_with_best()
    (['new', 'good', 'bad'], ('new',))
    """

    board: Leaderboard

    def __init__(self, table: Any, *, base: str | None = None) -> None:
        self._table = _right_or_wrong(table)
        self._shares = [float(x) for x in self._table.exact_values]
        base = base or self._table.systems[int(np.argmax(self._shares))]
        with_variant(self._table, base, 0, 0)  # refuses what is none
        self._reach = max(1, round(REACH * self._table.n_items))
        titles = {entry.title: key for key, entry in CORRECTIONS.items()}
        texts = ("Right, base is wrong", "Wrong, base is right")
        gains, losses = (
            slider(text, min(round(share * self._table.n_items), end), 0, end, label="13em")
            for text, share, end in zip(texts, FIRST, self._ends(base), strict=True)
        )
        controls = {
            "base": choice("Base", self._table.systems, base),
            "correction": choice("Correction", titles),
            "gains": gains,
            "losses": losses,
        }
        self._open([(0.255, 0.14, 0.43, 0.65)], controls, "base correction", "gains", "losses")

    def _ends(self, base: str) -> tuple[int, int]:
        """How many items a variant of the base can win, and how many it can lose."""
        right = int(np.count_nonzero(self._table.scores[self._table.systems.index(base)]))
        return min(self._reach, self._table.n_items - right), min(self._reach, right)

    def _settle(self, moved: Any) -> None:  # noqa: ARG002
        """Let the sliders end where this base ends."""
        self.gains.max, self.losses.max = self._ends(self.base.value)

    def _compute(self) -> tuple[str, str]:
        base, gains, losses = self.base.value, self.gains.value, self.losses.value
        table = with_variant(self._table, base, gains, losses)
        self.board = board = compare_many(table, correction=self.correction.value, rng=0)
        new, size = len(table.systems) - 1, table.n_items
        p, adjusted = (
            p_text(float(board.matrix(what)[new, table.systems.index(base)]), board.alpha)
            for what in ("pvalue", "adjusted")
        )
        return f"Scores and ranks of {new + 1} systems", (
            f"With {gains:,} more and {losses:,} fewer right than {base}, new has "
            f"{round(board.values[new] * size):,} of {size:,} right, and both agree on "
            f"{1 - (gains + losses) / size:.1%} of the items: {_rank(board, new)}; against {base} "
            f"p = {p}, adjusted for {len(board)} tests {adjusted}. {board.sentence()}"
        )

    def _draw(self) -> None:
        """The ranking, with a band behind the new system and small letters."""
        (ax,), reach, order = self._axes, self._reach / self._table.n_items, self.board.order()
        plot_ranking(self.board, ax=ax)
        ax.set_title("", loc="left")
        low, high = min(self._shares) - reach, max(self._shares) + reach
        ax.set(xlim=(max(0.0, low) - 0.03, min(1.0, high) + 0.16))
        ax.set_xlabel("share of the items that are right")
        letter = LETTERS / (1.4 * max(map(len, order)))
        ax.tick_params(axis="y", labelsize=min(sheet.font(), letter))
        sheet.shade_row(ax, order.index("new"), "new")
        for text in ax.texts:
            text.set_fontsize(11)
        notes = [text for text in ax.texts if text.get_gid() == "note"]
        at: dict[str, Any] = {"xytext": (14, 6), "textcoords": "offset points", "fontsize": 11}
        title = ax.annotate("", (1, 1), xycoords="axes fraction", **at)
        sheet.literal(title, "adjusted p against new", 24)
        p = self.board.matrix("adjusted")[-1]
        for note, name in zip(notes, order, strict=True):
            i = self.board.systems.index(name)
            other = f"p = {p_text(p[i], self.board.alpha)}"
            note.set_text(_rank(self.board, i) if name == "new" else other)


def _rank(board: Leaderboard, i: int) -> str:
    return f"rank {board.rank_texts()[i]}"


def _right_or_wrong(table: Any) -> ScoreTable:
    """A table of zeros and ones, or an error that says where it is something else."""
    found = table if isinstance(table, ScoreTable) else ScoreTable.of(table)
    bad = np.argwhere((found.scores != 0) & (found.scores != found.scale)).tolist()
    if found.statistic.name != "mean" or len(found.systems) > MOST or not found.n_items or bad:
        where = "".join(f", and table[{found.systems[i]!r}][{k}] is neither" for i, k in bad[:1])
        raise ValueError(
            f"table has {len(found.systems)} systems and {found.n_items} items, for statistic="
            f"{found.statistic.name!r}; this explorer takes the 'mean' of 0 and 1, of 2 to {MOST} "
            f"systems and some items{where}"
        )
    return found


def with_variant(table: ScoreTable, base: str, gains: int, losses: int) -> ScoreTable:
    """Add a system, "new", that is another one but for some items, drawn at random.

    Parameters
    ----------
    table : ScoreTable
        Of the statistic "mean", with a score of 0 or 1 for each item.
    base : str
        The system that the new one resembles.
    gains, losses : int
        How many of the items that the base has wrong it has right, and the other way round. More
        gains are the same items and others.

    Returns
    -------
    ScoreTable

    Examples
    --------
    >>> from permtest import ScoreTable
    >>> from permtest.widgets import with_variant
    >>> table = ScoreTable.of({"old": [1, 1, 0, 0, 0], "older": [1, 0, 0, 0, 0]})
    >>> more = with_variant(table, "old", 2, 1)
    >>> more.systems, [float(x) for x in more.exact_values]
    (('old', 'older', 'new'), [0.4, 0.2, 0.6])
    """
    if base not in table.systems:
        raise ValueError(f"base={base!r} is not a system; there are {', '.join(table.systems)}")
    if "new" in table.systems:
        raise ValueError("'new' is already a system; rename it")
    scores = table.scores[table.systems.index(base)].copy()
    order = np.random.default_rng(0).permutation(scores.size)
    right = scores[order] != 0
    changes = {"gains": (gains, order[~right]), "losses": (losses, order[right])}
    for what, (number, items) in changes.items():
        if not 0 <= number <= items.size:
            raise ValueError(f"{what}={number} must lie between 0 and {items.size}")
        scores[items[:number]] = table.scale if what == "gains" else 0
    rows = np.concatenate([table.scores, scores[None]])
    return replace(table, systems=(*table.systems, "new"), scores=rows, source={})
