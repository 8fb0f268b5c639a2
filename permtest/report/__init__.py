"""A document as files: for browsers, papers and programs.

An overview, a study and a leaderboard are all written by `write_report`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path

from permtest.report.pages import content, pictures_of
from permtest.study.document import FORMATS, Document

__all__ = ["check_report", "report_files", "write_files", "write_report"]


def report_files(
    document: Document, formats: Iterable[str] | None = None, *, stem: str = "report"
) -> dict[str, bytes]:
    """A document as files in memory.

    Parameters
    ----------
    document : Document
        What `study.overview`, `study.run_study` or `study.board_document` returns.
    formats : iterable of str, optional
        Some of "html" (a page that needs nothing else), "md" (with figures beside it), "tex" (a
        table), "json", "png" and "svg" (one picture); of a leaderboard also "csv" and "parquet"
        (all pairs). Default: all but "parquet".
    stem : str, default "report"
        How the names of the files begin.

    Returns
    -------
    dict of str to bytes
        Name -> content. The same document makes the same bytes.

    Raises
    ------
    ImportError
        If jinja2, matplotlib or pyarrow is missing, and needed.
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
    if isinstance(formats, str):
        raise TypeError(f"formats={formats!r} must be a list of formats")
    chosen = document.formats if formats is None else tuple(formats)
    known = (*document.formats, *document.further_formats)
    for name in chosen:
        if name not in known:
            raise ValueError(f"formats: {name!r} is not known; choose among {', '.join(known)}")
    sections = document.sections if {"html", "md"} & set(chosen) else ()
    figures = pictures_of(sections)
    files = {f"{stem}.{x}": content(document, x, sections, figures, stem) for x in chosen}
    if "md" in chosen:
        files |= {f"{stem}-{key}.svg": picture for key, picture in figures.items()}
    return files


def write_report(
    document: Document, path: str | PathLike[str], *, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a document: an overview, a study, or a leaderboard.

    Parameters
    ----------
    document : Document
        What `study.overview`, `study.run_study` or `study.board_document` returns.
    path : str or path-like
        A file, whose suffix is one of the formats of `report_files`. Or a folder, which is made
        if there is none, or a path without suffix: all formats but .parquet, and of a study
        ``study.yml``, which repeats it.
    overwrite : bool, default False
        Whether files that exist may be replaced.

    Returns
    -------
    tuple of Path
        The files. None is ever half written, and the same document makes the same bytes.

    Raises
    ------
    FileExistsError
        If files exist and may not be replaced; nothing is written then.
    ImportError
        If jinja2, matplotlib or pyarrow is missing, and needed.
    ValueError
        If the suffix is unknown.
    OSError
        If a file cannot be written, or the folder of a file does not exist.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from permtest import Pairs
    >>> from permtest.report import write_report
    >>> from permtest.study import overview
    >>> found = overview(Pairs.of([1, 1, 1, 0], [0, 1, 0, 0], ("new", "old")))
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_report(found, f"{folder}/table.tex")]
    ['table.tex']
    """
    own = (*document.formats, *document.further_formats)
    folder, formats, stem = check_report(path, overwrite=overwrite, known=own)
    single = formats is not None
    files = report_files(document, formats, stem=stem)
    if not single:
        files |= {name: text.encode() for name, text in document.attachments.items()}
    _check_free(folder, files, overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    return write_files(folder, files, overwrite=overwrite)


def check_report(
    path: str | PathLike[str], *, overwrite: bool = False, known: Iterable[str] = FORMATS
) -> tuple[Path, tuple[str, ...] | None, str]:
    """Refuse what could not be written before anything is computed for it.

    Parameters
    ----------
    path : str or path-like
        As for `write_report`.
    overwrite : bool, default False
    known : iterable of str
        Formats that a file may have.

    Returns
    -------
    folder : Path
    formats : tuple of str or None
        None where it is a folder.
    stem : str
        How the names of files begin.

    Raises
    ------
    FileExistsError, FileNotFoundError, NotADirectoryError, ValueError
        As for `write_report`.
    """
    place = Path(path)
    if place.is_dir() or not place.suffix:
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(f"{place}: this is a file; name a folder, or end in .html")
        _check_free(place, [f"report.{name}" for name in known], overwrite)
        return place, None, "report"
    suffix, names = place.suffix[1:].lower(), tuple(known)
    if suffix not in names:
        listed = ", ".join(f".{name}" for name in names)
        raise ValueError(f"{place}: a report ends in {listed}, or is a folder")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"{place}: there is no folder {place.parent}; create it first")
    _check_free(place.parent, [f"{place.stem}.{suffix}"], overwrite)
    return place.parent, (suffix,), place.stem


def _check_free(folder: Path, names: Iterable[str], overwrite: bool) -> None:
    """Raise FileExistsError if a file may not, or a folder cannot, be replaced."""
    for place in (folder / name for name in names if (folder / name).exists()):
        if place.is_dir():
            raise FileExistsError(f"{place}: this is a folder")
        if not overwrite:
            raise FileExistsError(f"{place}: the file exists")


def write_files(
    folder: Path, files: Mapping[str, bytes], *, overwrite: bool = True
) -> tuple[Path, ...]:
    """Write all files under other names, then rename them one by one.

    If one cannot be written, no file has changed; if one cannot be renamed, those before it are
    new and the others as they were.
    """
    token = secrets.token_hex(4)
    hidden = {name: folder / f".{name}.{token}" for name in files}
    try:
        for name, data in files.items():
            with hidden[name].open("xb") as file:
                file.write(data)
        _check_free(folder, () if overwrite else files, overwrite=False)
        for name, path in hidden.items():
            path.replace(folder / name)
    finally:
        for path in hidden.values():
            with suppress(OSError):
                path.unlink(missing_ok=True)
    return tuple(folder / name for name in files)
