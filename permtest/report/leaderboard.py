"""A leaderboard as files: what the suffix of a path asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permtest import __version__
from permtest._optional import optional
from permtest.many import CORRECTIONS, Leaderboard
from permtest.many.wording import ranking
from permtest.report.files import Layout, write_files
from permtest.report.pages import Shown, data_uri, page
from permtest.report.pictures import check_matplotlib, drawing, on_axes, png, settled, svg
from permtest.result import counted
from permtest.study.config import StrPath
from permtest.study.sections import Chapter, Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Whether, and where, a leaderboard can be written.
check_leaderboard = Layout(
    ("html", "csv", "json", "png", "svg"), "leaderboard", single=("parquet",)
).check

#: Systems of a page whose pairs are drawn, and rows of one of its tables, at most.
MOST_DRAWN, MOST_ROWS = 100, 500

TIES = "That tied systems are equal: they may differ by less than these items can show."
BESIDE = "That systems which {0} {1} are as good: the difference may be too small for these items."


def write_leaderboard(
    board: Leaderboard,
    path: StrPath,
    *,
    overall: Leaderboard | None = None,
    sources: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int | None = None,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write a leaderboard as a page, a table of all pairs, or a picture.

    Parameters
    ----------
    board : Leaderboard
        Of `compare_many`.
    path : str or path-like
        A file, whose suffix is the format: .html, .csv and .parquet (all pairs), .json, .png or
        .svg (the ranking). Or a folder, which is made if there is none, or a path without suffix:
        all of them but .parquet.
    overall : Leaderboard, optional
        What ``board.overall()`` returns, to be on the page and in the picture as well.
    sources : mapping of str to dict, optional
        Where the scores of each data set come from, for the page: the ``source`` of what
        `read_many` returns.
    seed : int, optional
        What `compare_many` was given as ``rng``, for the page. Default: what the board drew from
        it is said instead.
    overwrite : bool, default False
        Whether files that exist may be replaced.

    Returns
    -------
    tuple of Path
        The files. The same board makes the same bytes.

    Raises
    ------
    FileExistsError
        If files exist and may not be replaced; nothing is written then.
    ImportError
        If jinja2, matplotlib or pyarrow is missing, and needed.
    ValueError
        If the suffix is unknown, or there are more data sets than a picture can show.
    OSError
        If a file cannot be written, or the folder of a file does not exist.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from permtest import compare_many
    >>> from permtest.report.leaderboard import write_leaderboard
    >>> board = compare_many({"new": [1, 1, 1, 0], "old": [0, 1, 0, 0], "base": [0, 0, 0, 0]})
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_leaderboard(board, f"{folder}/pairs.csv")]
    ['pairs.csv']
    """
    where, formats, stem = check_leaderboard(path, overwrite=overwrite)
    shown = _Page(board, overall, sources or {}, seed)
    makers: dict[str, Callable[[], bytes]] = {
        "html": shown.html,
        "csv": lambda: _csv(board),
        "parquet": lambda: _parquet(board),
        "json": lambda: (board.to_json(indent=1) + "\n").encode(),
        "png": lambda: _picture(shown, png),
        "svg": lambda: _picture(shown, svg),
    }
    files = {f"{stem}.{name}": makers[name]() for name in formats}
    where.mkdir(parents=True, exist_ok=True)
    return write_files(where, files, overwrite=overwrite)


def _csv(board: Leaderboard) -> bytes:
    """All pairs, a line each."""
    text: str = board.to_frame().to_csv(index=False, lineterminator="\n", na_rep="nan")
    return text.encode()


def _parquet(board: Leaderboard) -> bytes:
    parquet = optional("pyarrow.parquet", needed_by=".parquet", extra="many")
    table = optional("pyarrow", needed_by=".parquet", extra="many").table
    stream = BytesIO()
    parquet.write_table(table(board.to_frame().to_dict("list")), stream)
    return stream.getvalue()


# ---- pictures ----------------------------------------------------------------------------------


def _picture(shown: _Page, save: Callable[[Figure], bytes]) -> bytes:
    """The ranking on all data sets, that of all together first."""
    check_matplotlib()
    with drawing():
        return save(settled(_ranking([(board, name) for _, board, name in shown.rankings])))


def _ranking(shown: Sequence[tuple[Leaderboard, str]]) -> Figure:
    """Rankings below each other."""
    from matplotlib.figure import Figure

    from permtest.plots.leaderboard import PANELS, REST, ROW, WIDTH, plot_ranking

    if len(shown) > PANELS + 1:
        raise ValueError(
            f"there are {len(shown)} rankings, but one picture shows {PANELS + 1} at most; write "
            "a page (.html), or the board of one data set"
        )
    high = ROW * min(len(shown[0][0].systems), 30) + REST
    figure = Figure(figsize=(WIDTH, len(shown) * high), layout="constrained")
    axes = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    for (board, name), ax in zip(shown, axes, strict=True):
        plot_ranking(board, name, ax=ax)
    return figure


def _matrix(board: Leaderboard, data_set: str) -> Figure:
    from permtest.plots import plot_pairs

    few, size = len(board.systems) <= 12, len(board.systems)
    wide, high = (0.92 * size, 0.5 * size) if few else (min(0.3 * size, 9.0),) * 2
    inches = (max(wide, 6.0) + 2.5, max(high, 1.4) + 2.4)
    return on_axes(inches, lambda ax: plot_pairs(board, data_set, ax=ax))


# ---- the page ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Page:
    """What the page says, in the form that all reports have."""

    board: Leaderboard
    overall: Leaderboard | None
    sources: Mapping[str, Mapping[str, Any]]
    seed: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.board.systems

    @property
    def rankings(self) -> list[tuple[str, Leaderboard, str]]:
        """Key, board and data set of each ranking, that of all data sets first."""
        boards = [self.board] if self.overall is None else [self.overall, self.board]
        pairs = [(board, name) for board in boards for name in board.data_sets]
        return [(f"ranking-{number}", *pair) for number, pair in enumerate(pairs, 1)]

    def sentence(self) -> str:
        """What was found, or, on several data sets, what was compared."""
        if self.overall is not None:
            return self.overall.sentence()
        one = len(self.board.data_sets) == 1
        return self.board.sentence() if one else str(self.board).partition("\n")[0]

    def chapters(self) -> list[Chapter]:
        found = [self._ranked(*one) for one in self.rankings]
        several = [self._replicated()] if len(self.board.data_sets) > 1 else []
        return [*found, *several, self._tested()]

    def _ranked(self, key: str, board: Leaderboard, name: str) -> Chapter:
        """A ranking; what it means stands above its picture."""
        header, cells = ranking(board, name)
        pictures = (key, f"{key}-pairs") if _has_matrix(board) else (key,)
        source = self.sources.get(name, {})
        return Chapter(
            key,
            name or "Ranking",
            source.get("read", ""),
            (_grid(header, cells),),
            limits=_limits(board),
            pictures=pictures,
        )

    def _replicated(self) -> Chapter:
        found = self.board.replicability()
        header = ("first", "second", "first is better on", "second is better on")
        grid = _grid(header, list(found.rows()))
        return Chapter("replicability", "On how many data sets", f"{found.heading()}.", (grid,))

    def _tested(self) -> Chapter:
        """What was tested, on what, and how to have the same again."""
        head = str(self.board).partition("\n")[0]
        grids = [Grid(("", "value"), tuple(_settings(self.board, self.seed)))]
        files = [
            (name, file["file"], counted(len(file["systems"]), "systems"), file["sha256"])
            for name, source in self.sources.items()
            for file in source.get("files", ())
        ]
        header, skip = ("data set", "file", "of", "SHA-256"), self.board.data_sets == ("",)
        cells = [file[skip:] for file in files]
        grids += [_grid(header[skip:], cells)] if files else []
        return Chapter("tested", "What was tested", head, tuple(grids))

    def html(self) -> bytes:
        check_matplotlib()
        shown: dict[str, Shown] = {}
        for key, board, name in self.rankings:
            with drawing():
                shown[key] = _shown(_ranking([(board, name)]), _alt(board, name))
                if _has_matrix(board):
                    size = counted(len(board.systems), "systems")
                    alt = f"Differences and corrected p of all pairs of {size}{_on(name)}"
                    shown[f"{key}-pairs"] = _shown(_matrix(board, name), alt)
        title = f"Leaderboard of {counted(len(self.names), 'systems')}"
        return page("html", self, shown, title).encode()


def _settings(board: Leaderboard, seed: int | None) -> Iterator[tuple[str, str]]:
    """What the tests depend on."""
    chosen = CORRECTIONS[board.correction]
    yield "alternative", board.alternative
    if board.baseline is not None:
        yield "baseline", board.baseline
    yield "correction", chosen.title
    yield "it controls", f"{chosen.controls}, {chosen.holds}"
    yield "level", f"{board.alpha:g}"
    if len(board.data_sets) > 1:
        together = "all data sets" if board.family == "all" else "those of one data set"
        yield "tests corrected together", together
    if board.correction == "max_t":
        yield "random labellings", str(board.K)
    if board.correction == "max_t" or "monte_carlo" in board.method:
        drawn = ("random numbers start from", str(board.seed))
        yield drawn if seed is None else ("seed", str(seed))
    yield "permtest", __version__


def _limits(board: Leaderboard) -> str:
    """What a ranking, or a comparison with a baseline, does not say."""
    if board.baseline is None:
        return TIES
    verbs = {
        "greater": "are not shown to score more than",
        "less": "are not shown to score less than",
    }
    return BESIDE.format(verbs.get(board.alternative, "do not differ from"), board.baseline)


def _alt(board: Leaderboard, name: str) -> str:
    """What the picture of a ranking shows."""
    if board.baseline is not None:
        others = counted(len(board.systems) - 1, "systems")
        return f"How {others} differ from {board.baseline}{_on(name)}"
    places = board.places(name).tolist()
    best = [system for system in board.order(name) if places[board.systems.index(system)] == 1]
    more = f" and {len(best) - 3} more" if len(best) > 3 else ""
    size = counted(len(board.systems), "systems")
    return f"What {size} score{_on(name)}; best: {', '.join(best[:3])}{more}"


def _on(name: str) -> str:
    return f" on {name}" if name else ""


def _has_matrix(board: Leaderboard) -> bool:
    return board.baseline is None and len(board.systems) <= MOST_DRAWN


def _shown(figure: Figure, alt: str) -> Shown:
    return Shown(data_uri(svg(settled(figure))), alt, True)


def _grid(header: tuple[str, ...], cells: list[tuple[Any, ...]]) -> Grid:
    """A table that is not too long; its caption says what is missing."""
    more = len(cells) - MOST_ROWS
    return Grid(header, tuple(cells[:MOST_ROWS]), f"and {more} more rows" if more > 0 else "")
