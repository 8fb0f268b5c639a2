"""What a leaderboard says, as a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
    """A leaderboard as a document: the ranking on each data set, and the tests."""

    board: Leaderboard
    overall: Leaderboard | None = None  # what ``board.overall()`` returns
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of `read_many`
    seed: int | None = None  # what `compare_many` was given as ``rng``

    formats = ("html", "md", "tex", "json", "png", "svg", "csv")
    further_formats = ("parquet",)
    stem = "leaderboard"

    @property
    def title(self) -> str:
        """How many systems there are."""
        return f"Leaderboard of {counted(len(self.board.systems), 'systems')}"

    @property
    def rankings(self) -> list[tuple[Leaderboard, str]]:
        """Board and data set of each ranking, that of all data sets first."""
        boards = [self.board] if self.overall is None else [self.overall, self.board]
        return [(board, name) for board in boards for name in board.data_sets]

    def sentence(self) -> str:
        """What was found, or, on several data sets, what was compared."""
        if self.overall is not None:
            return self.overall.sentence()
        one = len(self.board.data_sets) == 1
        return self.board.sentence() if one else str(self.board).partition("\n")[0]

    @property
    def parts(self) -> Mapping[str, Callable[[], Section]]:
        """The rankings, on how many data sets they agree, and what was tested."""
        makers: dict[str, Callable[[], Section]] = {}
        for i, (board, name) in enumerate(self.rankings, 1):
            makers[f"ranking-{i}"] = partial(self._ranking, f"ranking-{i}", board, name)
            if board.baseline is None and len(board.systems) <= MOST_DRAWN:
                makers[f"pairs-{i}"] = partial(self._pairs, f"pairs-{i}", board, name)
        if len(self.board.data_sets) > 1:
            makers["replicability"] = self._replicability
        return makers | {"tested": self._tested}

    @property
    def picture(self) -> Figure:
        """The rankings of the board, those of all data sets together first."""
        return Figure("plot_rankings", (tuple(self.rankings),), "What the systems score")

    @property
    def paper_tables(self) -> tuple[Table, ...]:
        """The first ranking, without the columns that are not for a paper."""
        table = _ranking(*self.rankings[0])
        columns = [i for i, head in enumerate(table.head) if head not in UNPRINTED]
        head, *rows = (tuple(row[i] for i in columns) for row in (table.head, *table.rows))
        return (Table(head, tuple(rows), self.sentence()),)

    @property
    def descending(self) -> tuple[str, ...]:
        """The columns of a ranking whose largest number is the best."""
        best = () if self.board.ascending else (self.board.metric, _less(self.board))
        return (*best, "same", "both right")

    def to_dict(self) -> dict[str, Any]:
        """The board, its rankings, and what is known of all data sets, as plain values."""
        rankings, several = [], len(self.board.data_sets) > 1
        for board, name in sorted(self.rankings, key=lambda one: one[0] is self.overall):
            systems = [
                {k: None if x != x or x in (inf, -inf) else x for k, x in row.items()}
                for row in board.standings(name)
            ]
            found = {"data_set": name, "systems": systems, "sentence": board.sentence(name)}
            found["next"] = _next(board, name)
            if board.baseline is None:
                tied, groups = board.tied_with_best(name), board.groups(name)
                found |= {"tied_with_best": tied, "groups": groups}
            rankings.append(found)
        return self.board.to_dict() | {
            "rankings": rankings,
            "sources": {name: dict(source) for name, source in self.sources.items()},
            "overall": None if self.overall is None else self.overall.to_dict(),
            "replicability": self.board.replicability().to_dict() if several else None,
            "version": computed_with()["permtest"],
        }

    def __str__(self) -> str:
        parts = []
        for board, name in sorted(self.rankings, key=lambda one: one[0] is self.overall):
            read = self.sources.get(name, {}).get("read", "")
            parts += [name, *_in_terminal(board, name), wrapped(_notes(board, name))]
            parts += [board.sentence(name), wrapped(_next(board, name))]
            parts += [f"data   {read}" * bool(read)]
        if len(self.board.data_sets) > 1:
            parts.append(str(self.board.replicability()))
        return "\n\n".join(filter(None, parts))

    # ---- sections

    def _ranking(self, key: str, board: Leaderboard, name: str) -> Section:
        """A ranking, or a comparison with a baseline, and what to be cautious of."""
        on, n = f" on {name}" if name else "", len(board.systems)
        if board.baseline is None:
            best = board.order(name)[: int(np.sum(board.places(name) == 1))]
            some = ", ".join(best[:3]) + f" and {len(best) - 3} more" * (len(best) > 3)
            alt = f"What {counted(n, 'systems')} score{on}; best: {some}"
            limits = "Tied systems may still differ"
        else:
            alt = f"How {counted(n - 1, 'systems')} differ from {board.baseline}{on}"
            more = {"greater": "more", "less": "less"}.get(board.alternative, "")
            than = f"are not shown to score {more} than" if more else "are not shown to differ from"
            limits = f"Systems that {than} {board.baseline} may still differ from it"
        return Section(
            key=key,
            heading=name or "Ranking",
            sentence=" ".join([self.sources.get(name, {}).get("read", ""), _next(board, name)]),
            tables=(_ranking(board, name),),
            figure=Figure("plot_ranking", (board, name), alt),
            limits=f"{limits}, by less than these items can show. {_notes(board, name)}",
        )

    def _pairs(self, key: str, board: Leaderboard, name: str) -> Section:
        on = f" on {name}" if name else ""
        size = counted(len(board.systems), "systems")
        alt = f"Differences and corrected p of all pairs of {size}{on}"
        return Section(key, f"All pairs{on}", "", figure=Figure("plot_pairs", (board, name), alt))

    def _replicability(self) -> Section:
        found, heading = self.board.replicability(), "On how many data sets"
        head = ("first", "second", "first is better on", "second is better on")
        table = _cut(head, list(found.rows()))
        return Section("replicability", heading, f"{found.heading()}.", (table,))

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
        if len(board.data_sets) > 1:
            rows["tests corrected together"] = "those of one data set"
        if board.correction == "max_t":
            rows["random labellings"] = str(board.K)
        if board.correction == "max_t" or "monte_carlo" in board.method:
            key = "random numbers start from" if self.seed is None else "seed"
            rows[key] = str(board.seed if self.seed is None else self.seed)
        rows |= computed_with()
        files = [
            (name or "-", file["file"], counted(len(file["systems"]), "systems"), file["sha256"])
            for name, source in self.sources.items()
            for file in source.get("files", ())
        ]
        tables = [Table(("", "value"), tuple((k, v) for k, v in rows.items() if v is not None))]
        tables += [_cut(("data set", "file", "of", "SHA-256"), files)] if files else []
        head = str(board).partition("\n")[0]
        return Section("tested", "What was tested", head, tuple(tables))


# ---- cells of a ranking -------------------------------------------------------------------------


def _ranking(board: Leaderboard, name: str) -> Table:
    """All that is known of each system, as people write it."""
    rows = board.cells(name)
    cells = (tuple(x and legible(x, VALUE) for x in row.values()) for row in rows)
    return Table(tuple(rows[0]), tuple(cells))


def _less(board: Leaderboard) -> str:
    return f"minus {board.baseline or 'the best'}"


def _in_terminal(board: Leaderboard, name: str) -> list[str]:
    """The ranking with a bar for each interval, and what stands behind it, in 100 columns."""
    table, rows = _ranking(board, name), board.standings(name)[:MOST_SHOWN]
    columns = dict(zip(table.head, zip(*table.rows[:MOST_SHOWN], strict=True), strict=True))
    columns["system"] = tuple(legible(x, NAME) for x in columns["system"])
    columns[f"{_less(board)}: |"] = _bars(rows, BAR)
    columns["ranks"] = columns.get("possible ranks", ())
    groups = [["rank", "system", board.metric, "ranks", "alike", f"{_less(board)}: |"]]
    groups += [["system", _less(board), *(x for x in table.head if x.endswith("interval"))]]
    groups[1] += ["p", "adjusted p", "differs"]
    groups += [["system", "p before", "adjusted before"]]
    groups[2] += [f"{board.unit(name)} to separate", "same", "both right"]
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


def _notes(board: Leaderboard, name: str) -> str:
    """What the columns are."""
    several, alone = board.baseline is None, len(board.systems) == 2
    other = "the system above it" if several else str(board.baseline)
    text = "Systems that share a letter do not differ significantly, but need not be equal. "
    text *= several and any(board.groups(name))
    text += "Each interval covers its own difference, not all of them together. For up to 12 "
    text += "systems, intervals are exact, or Tango's for scores of 0 and 1 without clusters; for "
    text += "more systems, or measures such as F1, they are approximate, by Student's t. "
    text += f"p before: the p of the comparison with {other}. " * (several and not alone)
    unit = board.unit(name)
    text += f"{unit.capitalize()} to separate: how many {unit} would separate a system from "
    text += f"{other} with a power of 80% at the level {board.alpha:g}"
    if board.correction != "none" and (tests := board.first.size) > 1:
        text += f" / {tests} (Bonferroni)"
    text += ", if difference and spread stay as observed"
    runs = unit == "items" and board[name].n_clusters[0] is not None
    text += f". Same: the share of {'runs' if runs else 'items'} on which it scores like {other}."
    both = "both_right" in board.standings(name)[0]
    return text + " Both right: the share on which both of them score 1." * both


def _next(board: Leaderboard, name: str) -> str:
    """What to do next."""
    rows, k, base = board.standings(name), board.data_sets.index(name), board.baseline
    if board.undecided[k].any():
        return "Next: draw more labellings (K) to decide the pairs that are too close to call."
    tied = [row for row in rows if not isnan(row["low"]) and not row.get("differs")]
    tied = [row for row in tied if row.get("tied_with_best", True)]
    if not tied:
        first = base or rows[0]["system"]
        rest = [row["system"] for row in rows if row["system"] != first]
        other = "another system" if rest[1:] else rest[0]
        return f"Next: make a report on {first} and {other}, to see on which items they differ."
    unit, there = board.unit(name), board.n_clusters[k] or board.n[k]
    # The others differ from those before them, or are too few for a rough formula.
    tied = [row for row in tied if row["separating_n"] > there]
    if not tied:
        return f"Next: more {unit} of the same kind would separate systems that are tied."
    row = min(tied, key=lambda row: row["separating_n"])
    other, n = base or rows[rows.index(row) - 1]["system"], row["separating_n"]
    if not isfinite(n):
        return f"Next: more items of the same kind will hardly separate others from {other}."
    about, share = (f"{float(f'{x:.2g}'):,g}" for x in (n, n / there))
    return (
        f"Next: about {about} {unit}, {share} times as many, would separate {row['system']} from "
        f"{other} with a power of 80%."
    )


def _cut(header: tuple[str, ...], cells: list[tuple[Any, ...]]) -> Table:
    """A table that is not too long; its caption says what is missing."""
    shown = (map(str, row) for row in cells[:MOST_ROWS])
    rows = tuple(tuple(cell and legible(cell, VALUE) for cell in row) for row in shown)
    more = len(cells) - MOST_ROWS
    return Table(header, rows, f"and {more} more rows" if more > 0 else "")
