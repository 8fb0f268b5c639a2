"""What a leaderboard says, as a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from permtest._forms import aligned
from permtest.score import counted
from permtest.study.document import VALUE, Document, Figure, Section, Table, legible, wrapped
from permtest.study.sections import computed_with

if TYPE_CHECKING:
    from permtest.many import Leaderboard

#: Systems whose pairs are drawn, rows of a table, and systems that a terminal shows.
MOST_DRAWN, MOST_ROWS, MOST_SHOWN = 100, 500, 100
#: Letters of a name in a terminal, and of the bar of an interval.
NAME, BAR = 24, 41
#: Columns of a ranking that a paper does without.
UNPRINTED = {"alike", "p before", "adjusted before", "same", "both right"}
UNPRINTED |= {"items to separate", "clusters to separate"}


@dataclass(frozen=True, eq=False)
class BoardDocument(Document):
    """A leaderboard as a document: the ranking, all pairs, and the tests."""

    board: Leaderboard
    source: Mapping[str, Any] = field(default_factory=dict)  # of `read_many`
    seed: int | None = None  # what `compare_many` was given as ``rng``

    formats = ("html", "md", "tex", "json", "png", "svg", "csv")
    further_formats = ("parquet",)
    stem = "leaderboard"

    @property
    def title(self) -> str:
        """How many systems there are."""
        return f"Leaderboard of {counted(len(self.board.systems), 'systems')}"

    def sentence(self) -> str:
        """What was found."""
        return self.board.sentence()

    @property
    def parts(self) -> Mapping[str, Callable[[], Section]]:
        """The ranking, all pairs, and what was tested."""
        makers: dict[str, Callable[[], Section]] = {"ranking": self._ranking}
        if self.board.baseline is None and len(self.board.systems) <= MOST_DRAWN:
            makers["pairs"] = self._pairs
        return makers | {"tested": self._tested}

    @property
    def picture(self) -> Figure:
        """The ranking."""
        return Figure("plot_ranking", (self.board,), "What the systems score")

    @property
    def paper_tables(self) -> tuple[Table, ...]:
        """The ranking, without the columns that are not for a paper."""
        table = _ranking(self.board)
        columns = [i for i, head in enumerate(table.head) if head not in UNPRINTED]
        head, *rows = (tuple(row[i] for i in columns) for row in (table.head, *table.rows))
        return (Table(head, tuple(rows), self.sentence()),)

    @property
    def descending(self) -> tuple[str, ...]:
        """The columns of a ranking whose largest number is the best."""
        best = () if self.board.ascending else (self.board.metric, _less(self.board))
        return (*best, "same", "both right")

    def to_dict(self) -> dict[str, Any]:
        """The board, its ranking, and where the scores come from, as plain values."""
        board = self.board
        ranking = [
            {k: None if x != x or x in (inf, -inf) else x for k, x in row.items()}
            for row in board.standings()
        ]
        found: dict[str, Any] = {
            "ranking": ranking,
            "sentence": board.sentence(),
            "next": _next(board),
        }
        if board.baseline is None:
            found |= {"tied_with_best": board.tied_with_best(), "groups": board.groups()}
        found |= {"source": dict(self.source), "version": computed_with()["permtest"]}
        return board.to_dict() | found

    def __str__(self) -> str:
        board, read = self.board, self.source.get("read", "")
        parts = [*_in_terminal(board), wrapped(_notes(board)), board.sentence()]
        parts += [wrapped(text) for text in board.remarks()]
        parts += [wrapped(_next(board)), f"data   {read}" * bool(read)]
        return "\n\n".join(filter(None, parts))

    # ---- sections

    def _ranking(self) -> Section:
        """A ranking, or a comparison with a baseline, and what to be cautious of."""
        board, n = self.board, len(self.board.systems)
        if board.baseline is None:
            best = board.order()[: int(np.sum(board.places() == 1))]
            some = ", ".join(best[:3]) + f" and {len(best) - 3} more" * (len(best) > 3)
            alt = f"What {counted(n, 'systems')} score; best: {some}"
            limits = "Tied systems may still differ"
        else:
            alt = f"How {counted(n - 1, 'systems')} differ from {board.baseline}"
            more = {"greater": "more", "less": "less"}.get(board.alternative, "")
            than = f"are not shown to score {more} than" if more else "are not shown to differ from"
            limits = f"Systems that {than} {board.baseline} may still differ from it"
        return Section(
            key="ranking",
            heading="Ranking",
            sentence=" ".join([self.source.get("read", ""), *board.remarks(), _next(board)]),
            tables=(_ranking(board),),
            figure=Figure("plot_ranking", (board,), alt),
            limits=f"{limits}, by less than these items can show. {_notes(board)}",
        )

    def _pairs(self) -> Section:
        size = counted(len(self.board.systems), "systems")
        alt = f"Differences and corrected p of all pairs of {size}"
        return Section("pairs", "All pairs", "", figure=Figure("plot_pairs", (self.board,), alt))

    def _tested(self) -> Section:
        """What was tested, on what, and what the tests depend on."""
        from permtest.many import CORRECTIONS

        board, chosen = self.board, CORRECTIONS[self.board.correction]
        rows = {
            "alternative": board.alternative,
            "baseline": board.baseline,
            "correction": chosen.title,
            "it controls": f"{chosen.controls}, {chosen.holds}",
            "level": f"{board.alpha:g}",
        }
        if board.correction == "max_t":
            rows["random labellings"] = str(board.K)
        if board.correction == "max_t" or "monte_carlo" in board.method:
            key = "random numbers start from" if self.seed is None else "seed"
            rows[key] = str(board.seed if self.seed is None else self.seed)
        rows["permtest"] = computed_with()["permtest"]
        files = [
            (file["file"], counted(len(file["systems"]), "systems"), file["sha256"])
            for file in self.source.get("files", ())
        ]
        tables = [Table(("", "value"), tuple((k, v) for k, v in rows.items() if v is not None))]
        tables += [_cut(("file", "of", "SHA-256"), files)] if files else []
        head = str(board).partition("\n")[0]
        return Section("tested", "What was tested", head, tuple(tables))


# ---- cells of a ranking -------------------------------------------------------------------------


def _ranking(board: Leaderboard) -> Table:
    """All that is known of each system, as people write it."""
    rows = board.cells()
    cells = (tuple(x and legible(x, VALUE) for x in row.values()) for row in rows)
    return Table(tuple(rows[0]), tuple(cells))


def _less(board: Leaderboard) -> str:
    return f"minus {board.baseline or 'the best'}"


def _in_terminal(board: Leaderboard) -> list[str]:
    """The ranking with a bar for each interval, and what stands behind it, in 100 columns."""
    table, rows = _ranking(board), board.standings()[:MOST_SHOWN]
    columns = dict(zip(table.head, zip(*table.rows[:MOST_SHOWN], strict=True), strict=True))
    columns["system"] = tuple(legible(x, NAME) for x in columns["system"])
    columns[f"{_less(board)}: |"] = _bars(rows, BAR)
    columns["ranks"] = columns.get("possible ranks", ())
    groups = [["rank", "system", board.metric, "ranks", "alike", f"{_less(board)}: |"]]
    intervals = [x for x in table.head if "interval" in x]
    if intervals[1:]:
        groups += [["system", board.metric, intervals[0]]]
    groups += [["system", _less(board), intervals[-1], "p", "adjusted p", "differs"]]
    groups += [["system", "p before", "adjusted before"]]
    groups[-1] += [f"{board.unit} to separate", "same", "both right"]
    parts = []
    for heads in groups:
        some = [(head, *columns[head]) for head in heads if any(columns.get(head, ()))]
        parts.append(aligned(list(zip(*some, strict=True))))
    more = len(table.rows) - MOST_SHOWN
    return [*parts, *[f"{more} more systems are in a report (.html, .csv)"] * (more > 0)]


def _bars(rows: Sequence[Mapping[str, Any]], width: int) -> tuple[str, ...]:
    """Each interval as a bar: o is the difference, | no difference, < and > have no end."""
    known = [row[key] for row in rows for key in ("low", "difference", "high")]
    finite = [0.0, *filter(isfinite, known)]
    low, high = min(finite), max(finite)

    def place(x: float) -> int:
        share = (min(max(x, low), high) - low) / (high - low or 1.0)
        return int(share * (width - 1) + 0.5)

    found = []
    for row in rows:
        bar = [" "] * width
        if not isnan(row["low"]):
            a, b = place(row["low"]), place(row["high"])
            bar[a : b + 1] = "-" * (b + 1 - a)
            bar[a] = "[" if isfinite(row["low"]) else "<"
            bar[b] = "]" if isfinite(row["high"]) else ">"
        bar[place(0.0)] = "|"
        if not isnan(row["low"]):
            bar[place(row["difference"])] = "o"
        found.append("".join(bar))
    return tuple(found)


def _notes(board: Leaderboard) -> str:
    """What the columns are."""
    several, alone = board.baseline is None, len(board.systems) == 2
    other = "the system above it" if several else str(board.baseline)
    text = "Systems that share a letter do not differ significantly, but need not be equal. "
    text *= several and any(board.groups())
    if several and not board.bounds_ranks:
        text += "No ranges of ranks are given, because this correction does not limit the chance "
        text += "that any range is wrong; holm and max_t do. "
    intervals = [x for x in _ranking(board).head if "interval" in x]
    if intervals[1:]:
        text += f"The {intervals[0]} is Wilson's, for each system by itself. "
    text += _about_intervals(board)
    text += f"p before: the p of the comparison with {other}. " * (several and not alone)
    unit = board.unit
    text += f"{unit.capitalize()} to separate: how many {unit} of another study would separate a "
    text += f"system from {other} with a power of 80% at the level {board.alpha:g}"
    if board.correction != "none" and (tests := board.first.size) > 1:
        text += f" / {tests} (Bonferroni)"
    text += ", at the two ends of the interval of their difference; where that contains 0, these "
    text += f"{unit} do not tell which of them is higher, and no number follows"
    runs = unit == "items" and board.n_clusters is not None
    text += f". Same: the share of {'runs' if runs else 'items'} on which it scores like {other}."
    both = "both_right" in board.standings()[0]
    return text + " Both right: the share on which both of them score 1." * both


def _about_intervals(board: Leaderboard) -> str:
    """How far the intervals of differences can be trusted."""
    binary = "value_low" in board.standings()[0]
    kind = "Tango's" if binary else "Student's, which are approximate"
    if board.first.size == 1:
        return f"The interval of the difference is {kind if binary else 'as in a report'}. "
    chosen = ", although the best one is chosen from the same scores" * (board.baseline is None)
    return (
        f"All intervals of differences hold together with a confidence of {1 - board.alpha:.6g}"
        f"{chosen}; they are {kind}. Near the level they and adjusted p may disagree. "
    )


def _next(board: Leaderboard) -> str:
    """What to do next."""
    rows, base = board.standings(), board.baseline
    if board.undecided.any():
        return "Next: draw more labellings (K) to decide the pairs that are too close to call."
    tied = [row for row in rows if not isnan(row["low"]) and not row.get("differs")]
    tied = [row for row in tied if row.get("tied_with_best", True)]
    first = base or rows[0]["system"]
    if not tied:
        rest = [row["system"] for row in rows if row["system"] != first]
        other = "another system" if rest[1:] else rest[0]
        return f"Next: make a report on {first} and {other}, to see on which items they differ."
    some = f"{len(tied)} other systems" if tied[1:] else tied[0]["system"]
    return (
        f"Next: these {board.unit} do not tell in which direction {some} and {first} differ, if at "
        f"all, so no number of {board.unit} follows from them. Decide what difference would "
        "matter; permtest plan FILE --a A --b B --delta D says how many items show it."
    )


def _cut(header: tuple[str, ...], cells: list[tuple[Any, ...]]) -> Table:
    """A table that is not too long; its caption says what is missing."""
    shown = (map(str, row) for row in cells[:MOST_ROWS])
    rows = tuple(tuple(cell and legible(cell, VALUE) for cell in row) for row in shown)
    more = len(cells) - MOST_ROWS
    return Table(header, rows, f"and {more} more rows" if more > 0 else "")
