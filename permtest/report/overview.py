"""An overview of one comparison as files: what the suffix of a path asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permtest.monte_carlo import monte_carlo
from permtest.report.files import Layout, write_files
from permtest.report.pages import check_jinja2, on_page, page
from permtest.report.pictures import (
    MOST_CELLS,
    answers_figure,
    check_matplotlib,
    drawing,
    drawn,
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
from permtest.study.sections import p_text

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

#: Whether, and where, an overview can be written.
check_overview = Layout(OVERVIEW_FORMATS, "report", pictures=tuple(OVERVIEW_PICTURES)).check

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

    Examples
    --------
    >>> from permtest import Pairs
    >>> from permtest.report import report_files
    >>> from permtest.study import overview
    >>> found = overview(Pairs.of([1, 1, 1, 0], [0, 1, 0, 0], ("new", "old")))
    >>> files = report_files(found, ["tex", "json"], stem="mine")
    >>> list(files), files["mine.json"][:1]
    (['mine.tex', 'mine.json'], b'{')
    """
    chosen = _checked(formats)
    pictures = {}
    if {"html", "md"} & set(chosen):
        check_jinja2()
        pictures = drawn(drawings(overview))
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
    return write_files(where, files, overwrite=overwrite)


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
            return {"png": png, "svg": svg}[kind](settled(_estimation(found, with_null=True)))
    if kind == "json":
        return (found.to_json(indent=2) + "\n").encode()
    if kind == "tex":
        return found.to_latex().encode("ascii")
    shown = on_page(kind, pictures, partial(_caption, found), BROAD, f"{stem}-")
    return page(kind, found, shown).encode()


# ---- pictures ----------------------------------------------------------------------------------


def drawings(found: Overview) -> dict[str, Callable[[], Figure]]:
    """Chapter -> what draws it."""
    return {
        "estimation": lambda: _estimation(found),
        "null": lambda: on_axes((8, 4.5), lambda ax: _draw_null(found, ax)),
        "answers": lambda: answers_figure(found.answers, found.alpha),
    }


def _estimation(found: Overview, *, with_null: bool = False) -> Figure:
    """The differences, above the null distribution if that is asked for."""
    from matplotlib.figure import Figure

    from permtest.plots.differences import HEIGHT, WIDTH, estimation_axes, plot_estimation

    figure = Figure(figsize=(WIDTH, HEIGHT + 4.4 * with_null), layout="constrained")
    axes = estimation_axes(figure, more=4.0 * with_null)
    plot_estimation(found, ax=axes[:3])
    if with_null:
        _draw_null(found, axes[3])
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


def _caption(found: Overview, key: str) -> str:
    return OVERVIEW_PICTURES[key] + note(found, key)


def note(found: Overview, key: str) -> str:
    """What is special about a picture."""
    if key != "null":
        return ""
    text = p_text(found)
    if not _is_too_long(found.exact):
        return f"; {text}"
    way = "drawn by random labellings"
    if not isinstance(found.exact, StructuredTestResult):
        way = "differences are rounded for the picture"
    return f"; {text} ({way}, and p in it is that of the picture)"
