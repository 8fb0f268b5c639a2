"""A study as files: one page for browsers, one in Markdown, one for programs."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from permtest._progress import progress
from permtest.alternatives.sample import PairedSample
from permtest.exact import exact_perm_test
from permtest.pairs import Pairs
from permtest.study.config import StrPath
from permtest.study.options import FORMATS
from permtest.study.sections import Chapter

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

    from permtest.result import PermutationTestResult
    from permtest.study.pipeline import Study

TEMPLATES = Path(__file__).with_name("templates")

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

#: A null distribution that has more cells is drawn for rounded differences, with about as many.
MOST_CELLS, ROUNDED_CELLS = 5 * 10**6, 10**5

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
    Files are written under other names and renamed when all of them are complete. The same study
    makes the same bytes.
    """
    chosen = study.config.report.formats if formats is None else tuple(formats)
    where = Path(folder)
    check_writable(where, chosen, overwrite=overwrite)
    files = _files(study, chosen)
    where.mkdir(parents=True, exist_ok=True)
    write_files(where, files, overwrite=overwrite)
    for name in _names(FORMATS):
        if (
            overwrite and name not in files
        ):  # of another study, which must not be taken for a part of this one
            (where / name).unlink(missing_ok=True)
    return tuple(where / name for name in files)


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


def write_files(folder: Path, files: Mapping[str, bytes], *, overwrite: bool = True) -> None:
    """Write all files under other names, then rename them.

    Parameters
    ----------
    folder : Path
        It exists.
    files : mapping of str to bytes
        Name -> content.
    overwrite : bool, default True

    Raises
    ------
    FileExistsError
        If a file has come into the way meanwhile.
    OSError
        If one cannot be written; none of the others is then.
    """
    token = secrets.token_hex(4)
    hidden = {name: folder / f".{name}.{token}" for name in files}
    try:
        for name, content in files.items():
            with hidden[name].open("xb") as file:
                file.write(content)
        there = [name for name in files if (folder / name).exists()]
        if there and not overwrite:
            raise FileExistsError(f"{folder}: {', '.join(there)} would be overwritten")
        for name, path in hidden.items():
            path.replace(folder / name)
    finally:
        for path in hidden.values():
            with suppress(OSError):
                path.unlink(missing_ok=True)


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
    chapters = study.chapters()
    pictures = _pictures(study) if {"html", "md"} & set(formats) else {}
    files = {}
    for name in formats:
        if name == "json":
            text = study.to_json(indent=2) + "\n"
        else:
            text = _page(name, study, chapters, pictures)
        files[PAGES[name]] = text.encode()
    if "md" in formats:
        files |= {f"{key}.svg": picture for key, picture in pictures.items()}
    return files | {CONFIGURATION: study.config.to_yaml().encode()}


# ---- pages -------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """A picture on a page."""

    source: str
    alt: str
    broad: bool


def _page(
    kind: str, study: Study, chapters: tuple[Chapter, ...], pictures: dict[str, bytes]
) -> str:
    page = {
        "study": study,
        "title": f"{study.names[0]} against {study.names[1]}",
        "chapters": chapters,
        "pictures": {
            key: Shown(
                _data_uri(svg) if kind == "html" else f"{key}.svg",
                PICTURES[key] + _note(study, key),
                key in BROAD,
            )
            for key, svg in pictures.items()
        },
    }
    return _environment(kind).get_template(f"report.{kind}").render(page)


def _note(study: Study, key: str) -> str:
    """What is special about a picture."""
    if key == "test" and study.exact.n_cells > MOST_CELLS:
        return "; differences are rounded for the picture, and p in it is that of the rounded ones"
    return ""


def _environment(kind: str) -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise ImportError("reports need jinja2: pip install 'permtest[study]'") from None
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=kind == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=None if kind == "html" else _markdown,
    )
    environment.filters["code"] = _Verbatim
    return environment


class _Verbatim(str):
    """Text in a block of code, where nothing needs escaping."""

    __slots__ = ()


#: What Markdown, or the HTML in it, would take for a mark.
MARKS = {ord(mark): f"\\{mark}" for mark in "\\`*_[]|#~$"}
MARKS |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;", ord("\n"): " "}


def _markdown(value: Any) -> Any:
    """Text in which no character is a mark."""
    if isinstance(value, _Verbatim) or not isinstance(value, str):
        return value
    return value.translate(MARKS)


def _data_uri(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


# ---- pictures ----------------------------------------------------------------------------------


def _pictures(study: Study) -> dict[str, bytes]:
    """Chapter or stage -> SVG, of everything that was found."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("reports need matplotlib: pip install 'permtest[study]'") from None
    jobs = [(key, draw) for key, draw in _drawings(study).items() if key in PICTURES]

    def drawn() -> Iterator[tuple[str, bytes]]:
        for key, draw in jobs:
            with _drawing():
                yield key, _svg(draw())

    return dict(progress(drawn(), total=len(jobs), what="pictures"))


@contextmanager
def _drawing() -> Iterator[None]:
    """The project's style, and SVG that is the same every time."""
    import matplotlib as mpl

    from permtest.plots import style

    with style(), mpl.rc_context({"svg.hashsalt": "permtest", "svg.fonttype": "path"}):
        yield


def _svg(figure: Figure) -> bytes:
    buffer = BytesIO()
    about = {"Date": None, "Creator": None}
    figure.savefig(buffer, format="svg", metadata=about, bbox_inches="tight", pad_inches=0.1)
    return buffer.getvalue()


def _drawings(study: Study) -> dict[str, Callable[[], Figure]]:
    """Stage -> what draws it; only stages that found something."""
    from permtest import plots

    level, alpha = study.config.effects.confidence_level, study.config.significance.alpha
    target = study.config.prospective.power
    jobs: dict[str, Callable[[], Figure]] = {
        "data": lambda: _on_axes(
            (13, 4), lambda axes: plots.plot_histograms(study.description, ax=axes), columns=3
        ),
        "test": lambda: _on_axes((8, 4.5), lambda ax: plots.plot_null(drawable(study), ax=ax)),
        "answers": lambda: _on_axes(
            (13, 2 + 0.42 * len(study.answers)),
            lambda axes: plots.plot_answers(study.answers, ax=axes, alpha=alpha),
            columns=2,
            width_ratios=(4, 7),
        ),
    }
    if study.unit_sizes is not None:
        sizes = study.unit_sizes
        jobs["units"] = lambda: _on_axes((8, 4), lambda ax: plots.plot_unit_sizes(sizes, ax=ax))
    if study.effects:
        effects, height = study.effects, 1.6 + 0.6 * len(study.effects)
        jobs["effects"] = lambda: _on_axes(
            (8, height), lambda ax: plots.plot_effects(effects, ax=ax, confidence_level=level)
        )
    if study.power is not None:
        curve = study.power
        jobs["power"] = lambda: _on_axes(
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
    d = PairedSample.of(study.units.pairs, None, chosen.delta).shifted
    digits = floor(log10(ROUNDED_CELLS / float(np.abs(d).sum())))
    cells = [int(x) for x in np.rint(d * 10.0**digits)]
    coarse = Pairs(
        np.array([x * 10 ** max(-digits, 0) for x in cells], dtype=object),
        np.zeros(d.size, dtype=np.int64),
        study.exact.names,
        scale=10 ** max(digits, 0),
    )
    return exact_perm_test(coarse, statistic="mean", alternative=chosen.alternative)


def _on_axes(
    size: tuple[float, float], draw: Callable[[Any], Any], columns: int = 1, **options: Any
) -> Figure:
    """A figure that no window shows, with so many axes beside each other to draw on."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(1, columns, **options))
    return figure
