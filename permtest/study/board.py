"""What a leaderboard says, as a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from permtest.result import counted
from permtest.study.document import VALUE, Document, Figure, Section, Table, legible
from permtest.study.sections import computed_with

if TYPE_CHECKING:
    from permtest.many import Leaderboard

#: Systems whose pairs are drawn, and rows of a table, at most.
MOST_DRAWN, MOST_ROWS = 100, 500


@dataclass(frozen=True, eq=False)
class BoardDocument(Document):
    """What `board_document` returns: the ranking on each data set, and what was tested."""

    board: Leaderboard
    overall: Leaderboard | None = None
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seed: int | None = None

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
        """The first ranking."""
        from permtest.many.wording import ranking

        header, cells = ranking(*self.rankings[0])
        return (Table(header, tuple(cells), self.sentence()),)

    def frame(self) -> Any:
        """All pairs, a row each, as a `pandas.DataFrame`."""
        return self.board.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """The board, its rankings, and what is known of all data sets, as plain values."""
        rankings, several = [], len(self.board.data_sets) > 1
        for board, name in sorted(self.rankings, key=lambda one: one[0] is self.overall):
            systems = board[name].ranking().to_dict("records")
            found = {"data_set": name, "systems": systems, "sentence": board.sentence(name)}
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

    # ---- sections

    def _ranking(self, key: str, board: Leaderboard, name: str) -> Section:
        """A ranking, or a comparison with a baseline, and what to be cautious of."""
        from permtest.many.wording import ranking

        header, cells = ranking(board, name)
        on, n = f" on {name}" if name else "", len(board.systems)
        best = [system for rank, system, *_ in cells if rank == "1"]
        some = ", ".join(best[:3]) + f" and {len(best) - 3} more" * (len(best) > 3)
        alt = f"What {counted(n, 'systems')} score{on}; best: {some}"
        limits = "Tied systems are not shown to be equal: they may differ by less than these items "
        limits += "can show."
        if board.baseline is not None:
            alt = f"How {counted(n - 1, 'systems')} differ from {board.baseline}{on}"
            more = {"greater": "more", "less": "less"}.get(board.alternative, "")
            than = f"are not shown to score {more} than" if more else "do not differ from"
            limits = f"Systems which {than} {board.baseline} are not shown to be as good: the "
            limits += "difference may be too small for these items."
        return Section(
            key=key,
            heading=name or "Ranking",
            sentence=self.sources.get(name, {}).get("read", ""),
            tables=(_cut(header, cells),),
            figure=Figure("plot_ranking", (board, name), alt),
            limits=limits,
        )

    def _pairs(self, key: str, board: Leaderboard, name: str) -> Section:
        on = f" on {name}" if name else ""
        size = counted(len(board.systems), "systems")
        alt = f"Differences and corrected p of all pairs of {size}{on}"
        return Section(key, f"All pairs{on}", "", figure=Figure("plot_pairs", (board, name), alt))

    def _replicability(self) -> Section:
        found = self.board.replicability()
        header = ("first", "second", "first is better on", "second is better on")
        sentence, rows = f"{found.heading()}.", list(found.rows())
        return Section("replicability", "On how many data sets", sentence, (_cut(header, rows),))

    def _tested(self) -> Section:
        """What was tested, on what, and what the tests depend on."""
        from permtest.many import CORRECTIONS

        board = self.board
        chosen, several = CORRECTIONS[board.correction], len(board.data_sets) > 1
        rows = {
            "alternative": board.alternative,
            "baseline": board.baseline,
            "correction": chosen.title,
            "it controls": f"{chosen.controls}, {chosen.holds}",
            "level": f"{board.alpha:g}",
        }
        if several:
            family = "all data sets" if board.family == "all" else "those of one data set"
            rows["tests corrected together"] = family
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


def _cut(header: tuple[str, ...], cells: list[tuple[Any, ...]]) -> Table:
    """A table that is not too long; its caption says what is missing."""
    more = len(cells) - MOST_ROWS
    rows = tuple(
        tuple(str(cell) and legible(str(cell), VALUE) for cell in row) for row in cells[:MOST_ROWS]
    )
    return Table(header, rows, f"and {more} more rows" if more > 0 else "")


def board_document(
    board: Leaderboard,
    *,
    overall: Leaderboard | None = None,
    sources: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int | None = None,
) -> BoardDocument:
    """What a leaderboard says, for `permtest.report.write_report`.

    Parameters
    ----------
    board : Leaderboard
        Of `compare_many`.
    overall : Leaderboard, optional
        What ``board.overall()`` returns, to stand before the others.
    sources : mapping of str to dict, optional
        Data set -> the ``source`` of what `read_many` returned.
    seed : int, optional
        What `compare_many` was given as ``rng``. Default: what the board drew from it.

    Returns
    -------
    BoardDocument

    Examples
    --------
    >>> from permtest import compare_many
    >>> from permtest.study import board_document
    >>> board = compare_many({"new": [1, 1, 1, 0], "old": [0, 1, 0, 0], "base": [0, 0, 0, 0]})
    >>> board_document(board)["ranking-1"].tables[0].rows[0]
    ('1', 'new', '0.75', '1 to 3', 'a', 'yes')
    """
    return BoardDocument(board, overall, sources or {}, seed)
