"""A study as files in a folder: pages, their pictures, JSON and its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from permtest.alternatives.sample import PairedSample
from permtest.report.files import write_files
from permtest.report.pages import on_page, page
from permtest.report.pictures import MOST_CELLS, answers_figure, drawn, on_axes, rounded
from permtest.study.config import StrPath
from permtest.study.options import FORMATS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from permtest.result import PermutationTestResult
    from permtest.study.pipeline import Study

#: What a report may consist of; a picture is called after its chapter.
PAGES = {"html": "report.html", "md": "report.md", "json": "report.json"}
CONFIGURATION = "study.yml"

#: The stages that have a picture, each with what it shows.
PICTURES = {
    "data": "Histograms of the scores of both systems and of their differences",
    "units": "Standard deviation of the difference against the size of an evaluation unit",
    "test": "Null distribution of the exact test, with the observed difference marked",
    "answers": "p-values of all tests side by side, with the intervals of what they estimate",
    "effects": "Effect sizes with their intervals",
    "power": "Power against the number of units, with an interval at each size",
}

#: Those that are too broad for a small screen, where they are moved sideways.
BROAD = ("data", "answers")


def write_report(
    study: Study,
    folder: StrPath,
    *,
    formats: Iterable[str] | None = None,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write a study as a report.

    Parameters
    ----------
    study : Study
        Of `run_study`.
    folder : str or path-like
        Where to; it is made if there is none, and its parent if need be.
    formats : iterable of str, optional
        Some of "html" (one file that needs nothing else: ``report.html``), "md" (``report.md``,
        with pictures beside it) and "json" (``report.json``). The configuration, ``study.yml``,
        always comes with them. Default: those of the configuration.
    overwrite : bool, default False
        Whether files of a report that is there already may be replaced. Those that the new one
        does not have are removed.

    Returns
    -------
    tuple of Path
        The files, in the order of the formats.

    Raises
    ------
    FileExistsError
        If files exist and may not be replaced; the message names them. Nothing is written then.
    ImportError
        If jinja2 or matplotlib is missing.
    ValueError
        If a format is unknown.
    OSError
        If a file cannot be written.

    Notes
    -----
    Files are written under other names and, when all of them are complete, renamed one by one. The
    same study makes the same bytes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from permtest.report import write_report
    >>> from permtest.study import run_study
    >>> quick = {"power": {"sizes": 0}, "significance": {"K": 99}}
    >>> study = run_study([9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6], quick)
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_report(study, f"{folder}/report", formats=["json"])]
    ['report.json', 'study.yml']
    """
    chosen = study.config.report.formats if formats is None else tuple(formats)
    where = Path(folder)
    check_writable(where, chosen, overwrite=overwrite)
    files = _files(study, chosen)
    where.mkdir(parents=True, exist_ok=True)
    written = write_files(where, files, overwrite=overwrite)
    # What is left of another study must not be taken for a part of this one.
    for name in set(_names(FORMATS)) - files.keys() if overwrite else ():
        (where / name).unlink(missing_ok=True)
    return written


def check_writable(folder: Path, formats: Iterable[str], *, overwrite: bool) -> None:
    """Refuse what could not be written: unknown formats, files in the way.

    Parameters
    ----------
    folder : Path
    formats : iterable of str
    overwrite : bool

    Raises
    ------
    FileExistsError, NotADirectoryError, ValueError
        As for `write_report`.
    """
    names = _names(formats)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder}: this is a file; name a folder")
    there = [name for name in names if (folder / name).exists()]
    for name in there:
        if (folder / name).is_dir():
            raise FileExistsError(f"{folder}: {name} is a folder there")
    if there and not overwrite:
        raise FileExistsError(f"{folder}: {', '.join(there)} would be overwritten")


def _names(formats: Iterable[str]) -> list[str]:
    """All files that these formats may need, pictures included."""
    chosen = tuple(formats)
    for name in chosen:
        if name not in FORMATS:
            raise ValueError(f"formats: {name!r} is not known; choose among {', '.join(FORMATS)}")
    pictures = [f"{key}.svg" for key in PICTURES] if "md" in chosen else []
    return [*(PAGES[name] for name in chosen), *pictures, CONFIGURATION]


def _files(study: Study, formats: tuple[str, ...]) -> dict[str, bytes]:
    """Name -> content of every file."""
    pictures = drawn(_drawings(study)) if {"html", "md"} & set(formats) else {}
    files = {}
    for name in formats:
        if name == "json":
            text = study.to_json(indent=2) + "\n"
        else:
            caption = partial(_caption, study)
            text = page(name, study, on_page(name, pictures, caption, BROAD))
        files[PAGES[name]] = text.encode()
    if "md" in formats:
        files |= {f"{key}.svg": picture for key, picture in pictures.items()}
    return files | {CONFIGURATION: study.config.to_yaml().encode()}


# ---- pages and pictures --------------------------------------------------------------------------


def _caption(study: Study, key: str) -> str:
    """What a picture shows, and what is special about it."""
    if key == "test" and study.exact.n_cells > MOST_CELLS:
        rounded = "differences are rounded for the picture, and p in it is that of the rounded ones"
        return f"{PICTURES[key]}; {rounded}"
    return PICTURES[key]


def _drawings(study: Study) -> dict[str, Callable[[], Figure]]:
    """Stage -> what draws it; only stages that found something."""
    from permtest import plots

    level, alpha = study.config.effects.confidence_level, study.config.significance.alpha
    target = study.config.prospective.power
    jobs: dict[str, Callable[[], Figure]] = {
        "data": lambda: on_axes(
            (13, 4), lambda axes: plots.plot_histograms(study.description, ax=axes), columns=3
        ),
        "test": lambda: on_axes((8, 4.5), lambda ax: plots.plot_null(drawable(study), ax=ax)),
        "answers": lambda: answers_figure(study.answers, alpha),
    }
    if study.unit_sizes is not None:
        sizes = study.unit_sizes
        jobs["units"] = lambda: on_axes((8, 4), lambda ax: plots.plot_unit_sizes(sizes, ax=ax))
    if study.effects:
        effects, height = study.effects, 1.6 + 0.6 * len(study.effects)
        jobs["effects"] = lambda: on_axes(
            (8, height), lambda ax: plots.plot_effects(effects, ax=ax, confidence_level=level)
        )
    if study.power is not None:
        curve = study.power
        jobs["power"] = lambda: on_axes(
            (8, 4), lambda ax: plots.plot_power(curve, ax=ax, target=target)
        )
    return {key: jobs[key] for key in PICTURES if key in jobs}


def drawable(study: Study) -> PermutationTestResult:
    """The exact test; where its null distribution is too long, that of rounded differences.

    Parameters
    ----------
    study : Study

    Returns
    -------
    PermutationTestResult
    """
    if study.exact.n_cells <= MOST_CELLS:
        return study.exact
    chosen = study.config.significance
    differences = PairedSample.of(study.units.pairs, None, chosen.delta).shifted
    return rounded(differences, study.exact.names, chosen.alternative)
