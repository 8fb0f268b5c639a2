"""An overview of one comparison as files: what the suffix of a path asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from permtest._progress import progress
from permtest.monte_carlo import monte_carlo
from permtest.report.files import check_free, place_of, write_files
from permtest.report.pages import Shown, check_jinja2, data_uri, page
from permtest.report.pictures import (
    MOST_CELLS,
    check_matplotlib,
    drawing,
    on_axes,
    png,
    rounded,
    settled,
    svg,
)
from permtest.result import PermutationTestResult, StructuredTestResult
from permtest.study.config import StrPath
from permtest.study.overview import Overview
from permtest.study.overview_items import ItemScores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What an overview can be written as; a file ends like its format.
OVERVIEW_FORMATS = ("html", "md", "tex", "json", "png", "svg")

#: The chapters that have a picture, each with what it shows.
OVERVIEW_PICTURES = {
    "estimation": "Scores of both systems, differences item by item, and below these the "
    "difference with its interval",
    "null": "Null distribution of the test, with the observed difference marked",
    "answers": "p-values of all tests side by side, with the intervals of what they estimate",
}

#: Those that are too broad for a small screen, where they are moved sideways.
BROAD = ("estimation", "answers")

#: A joint law of more points than this is not computed for a picture; so many samples are drawn.
MOST_POINTS, SAMPLES = 10**7, 20_000


def report_files(
    overview: Overview, formats: Iterable[str] = OVERVIEW_FORMATS, *, stem: str = "report"
) -> dict[str, bytes]:
    """An overview as files in memory.

    Parameters
    ----------
    overview : Overview
        Of `permtest.study.overview`.
    formats : iterable of str
        Some of "html" (a page that needs nothing else), "md" (with pictures beside it), "tex" (a
        table), "json", "png" and "svg" (one picture). Default: all.
    stem : str, default "report"
        How the names of the files begin.

    Returns
    -------
    dict of str to bytes
        Name -> content. The same overview makes the same bytes.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is missing, and needed.
    ValueError
        If a format is unknown.
    """
    chosen = _checked(formats)
    pictures = {}
    if {"html", "md"} & set(chosen):
        check_jinja2()
        pictures = _pictures(overview)
    files = {f"{stem}.{name}": _content(overview, name, pictures, stem) for name in chosen}
    if "md" in chosen:
        files |= {f"{stem}-{key}.svg": picture for key, picture in pictures.items()}
    return files


def write_overview(
    overview: Overview, path: StrPath, *, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write an overview as a report.

    Parameters
    ----------
    overview : Overview
        Of `permtest.study.overview`.
    path : str or path-like
        A file, whose suffix is the format: .html, .md (with pictures beside it, whose names begin
        like its own), .tex, .json, .png or .svg. Or a folder, which is made if there is none, or
        a path without suffix: all of them.
    overwrite : bool, default False
        Whether files that exist may be replaced.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    FileExistsError
        If files exist and may not be replaced; nothing is written then.
    ImportError
        If jinja2 or matplotlib is missing, and needed.
    ValueError
        If the suffix is unknown.
    OSError
        If a file cannot be written, or the folder of a file does not exist.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from permtest import Pairs
    >>> from permtest.report import write_overview
    >>> from permtest.study import overview
    >>> found = overview(Pairs.of([1, 1, 1, 0], [0, 1, 0, 0], ("new", "old")))
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_overview(found, f"{folder}/table.tex")]
    ['table.tex']
    """
    where, formats, stem = check_overview(path, overwrite=overwrite)
    files = report_files(overview, formats, stem=stem)
    where.mkdir(parents=True, exist_ok=True)
    write_files(where, files, overwrite=overwrite)
    return tuple(where / name for name in files)


def check_overview(path: StrPath, *, overwrite: bool) -> tuple[Path, tuple[str, ...], str]:
    """Refuse what could not be written: unknown suffixes, files in the way.

    Parameters
    ----------
    path : str or path-like
    overwrite : bool

    Returns
    -------
    folder : Path
    formats : tuple of str
    stem : str

    Raises
    ------
    FileExistsError, FileNotFoundError, NotADirectoryError, ValueError
        As for `write_overview`.
    """
    where, formats, stem = place_of(path, OVERVIEW_FORMATS, "report")
    pictures = [f"{stem}-{key}.svg" for key in OVERVIEW_PICTURES] if "md" in formats else []
    names = [*(f"{stem}.{name}" for name in formats), *pictures]
    check_free(where, names, overwrite=overwrite)
    return where, formats, stem


def _checked(formats: Iterable[str]) -> tuple[str, ...]:
    if isinstance(formats, str):
        raise TypeError(f"formats={formats!r} must be a list of formats")
    chosen = tuple(formats)
    for name in chosen:
        if name not in OVERVIEW_FORMATS:
            known = ", ".join(OVERVIEW_FORMATS)
            raise ValueError(f"formats: {name!r} is not known; choose among {known}")
    return chosen


def _content(found: Overview, kind: str, pictures: dict[str, bytes], stem: str) -> bytes:
    if kind in ("png", "svg"):
        check_matplotlib()
        with drawing():
            return {"png": png, "svg": svg}[kind](settled(_poster(found)))
    if kind == "json":
        return (found.to_json(indent=2) + "\n").encode()
    if kind == "tex":
        return found.to_latex().encode("ascii")
    shown = {
        key: Shown(
            data_uri(picture) if kind == "html" else f"{quote(stem)}-{key}.svg",
            OVERVIEW_PICTURES[key] + note(found, key),
            key in BROAD,
        )
        for key, picture in pictures.items()
    }
    return page(kind, found, shown).encode()


# ---- pictures ----------------------------------------------------------------------------------


def _pictures(found: Overview) -> dict[str, bytes]:
    """Chapter -> SVG."""
    check_matplotlib()
    jobs = drawings(found)

    def drawn() -> Iterator[tuple[str, bytes]]:
        for key, draw in jobs.items():
            with drawing():
                yield key, svg(settled(draw()))

    return dict(progress(drawn(), total=len(jobs), what="pictures"))


def drawings(found: Overview) -> dict[str, Callable[[], Figure]]:
    """Chapter -> what draws it."""
    from permtest import plots

    return {
        "estimation": lambda: _estimation(found),
        "null": lambda: on_axes((8, 4.5), lambda ax: _draw_null(found, ax)),
        "answers": lambda: on_axes(
            (13, 2 + 0.42 * len(found.answers)),
            lambda axes: plots.plot_answers(found.answers, ax=axes, alpha=found.alpha),
            columns=2,
            width_ratios=(4, 7),
        ),
    }


def _estimation(found: Overview) -> Figure:
    from matplotlib.figure import Figure

    from permtest.plots.differences import HEIGHT, WIDTH, estimation_axes, plot_estimation

    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    plot_estimation(found, ax=estimation_axes(figure))
    return figure


def _poster(found: Overview) -> Figure:
    """The differences above the null distribution."""
    from matplotlib.figure import Figure

    from permtest.plots.differences import HEIGHT, WIDTH, estimation_axes, plot_estimation

    figure = Figure(figsize=(WIDTH, HEIGHT + 4.4), layout="constrained")
    *axes, below = estimation_axes(figure, more=4.0)
    plot_estimation(found, ax=axes)
    _draw_null(found, below)
    return figure


def _draw_null(found: Overview, ax: Any) -> None:
    from permtest import plots

    result = _drawable(found)
    if isinstance(result, StructuredTestResult) and _is_plane(result):
        plots.plot_plane(result, ax=ax)
    else:
        plots.plot_null(result, ax=ax)


def _is_plane(result: StructuredTestResult) -> bool:
    """Whether there is an exact law of two sums; samples are drawn as values of the metric."""
    return result.n_samples is None and result.rank == len(result.parts) == 2


def _is_too_long(exact: PermutationTestResult) -> bool:
    if isinstance(exact, StructuredTestResult):
        return exact.n_samples is None and exact.n_points > MOST_POINTS
    return exact.n_cells > MOST_CELLS


def _drawable(found: Overview) -> PermutationTestResult:
    """The exact test, or one like it whose null distribution is not too long."""
    if not _is_too_long(found.exact):
        return found.exact
    if isinstance(found.exact, StructuredTestResult):
        how: dict[str, Any] = {"statistic": found.statistic, "alternative": found.alternative}
        return monte_carlo(found.pairs, K=SAMPLES, rng=found.seed, **how)
    worth = ItemScores.of(found.units, found.statistic).worth
    return rounded(worth, found.names, found.alternative)


def note(found: Overview, key: str) -> str:
    """What is special about a picture."""
    if key != "null":
        return ""
    text = "p " + found.exact.bracket_text() if found.exact.method == "bracket" else ""
    text = text or f"p = {found.exact.pvalue_text()}"
    if not _is_too_long(found.exact):
        return f"; {text}"
    way = "drawn by random labellings"
    if not isinstance(found.exact, StructuredTestResult):
        way = "differences are rounded for the picture"
    return f"; {text} ({way}, and p in it is that of the picture)"
