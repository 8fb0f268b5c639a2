"""A document as files: for browsers, papers and programs.

An overview, a study and a leaderboard are all written by `write_report`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from permtest.report.pages import content, pictures_of
from permtest.study.document import Document

__all__ = ["report_files", "write_report"]


def report_files(
    document: Document, formats: Iterable[str] | None = None, *, stem: str | None = None
) -> dict[str, bytes]:
    """A document as files in memory; the same document makes the same bytes.

    Parameters
    ----------
    document : Document
        What `study.overview` or `study.run_study` returns, or the document of a leaderboard.
    formats : iterable of str, optional
        Some of "html" (a page that needs nothing else), "md" (with figures beside it), "tex" (a
        table), "json", "png" and "svg" (one picture); of a leaderboard also "csv" and "parquet"
        (all pairs). Default: all but "parquet".
    stem : str, optional
        How the names of the files begin. Default: "report", or "leaderboard".

    Returns
    -------
    dict of str to bytes
        Name -> content.

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
    >>> list(report_files(found, ["tex", "json"], stem="mine"))
    ['mine.tex', 'mine.json']
    """
    if isinstance(formats, str):
        raise TypeError(f"formats={formats!r} must be a list of formats")
    chosen = document.formats if formats is None else tuple(formats)
    known = (*document.formats, *document.further_formats)
    for name in chosen:
        if name not in known:
            raise ValueError(f"formats: {name!r} is not known; choose among {', '.join(known)}")
    stem = stem or document.stem
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
        As in `report_files`.
    path : str or path-like
        A file, whose suffix is one of the formats of `report_files`. Or a folder, which is made
        if there is none: all formats but .parquet.
    overwrite : bool, default False
        Whether files that exist may be replaced.

    Returns
    -------
    tuple of Path
        The files. None is ever half written.

    Raises
    ------
    ImportError
        As in `report_files`.
    OSError, ValueError
        If files exist and may not be replaced, the folder of a file does not exist, or the suffix
        is unknown; nothing is computed or written then.

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
    place, stem, formats = destination(document, path, overwrite=overwrite)
    files = report_files(document, formats, stem=stem)
    _check_free(place, files, overwrite)
    place.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():  # under another name first, so that none is half written
        hidden = place / f".{name}.{secrets.token_hex(4)}"
        try:
            hidden.write_bytes(data)
            hidden.replace(place / name)
        finally:
            hidden.unlink(missing_ok=True)
    return tuple(place / name for name in files)


def destination(
    document: Document | type[Document], path: str | PathLike[str], *, overwrite: bool
) -> tuple[Path, str, tuple[str, ...]]:
    """The folder, how names of files begin, and their formats; an error if they cannot be there."""
    place = Path(path)
    if place.is_dir() or not place.suffix:
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(f"{place}: this is a file; name a folder, or end in .html")
        folder, stem, formats = place, document.stem, document.formats
    else:
        suffix, known = place.suffix[1:].lower(), (*document.formats, *document.further_formats)
        if suffix not in known:
            listed = ", ".join(f".{name}" for name in known)
            raise ValueError(f"{place}: a report ends in {listed}, or is a folder")
        folder, stem, formats = place.parent, place.stem, (suffix,)
        if not folder.is_dir():
            raise FileNotFoundError(f"{path}: there is no folder {folder}; create it first")
    _check_free(folder, [f"{stem}.{name}" for name in formats], overwrite)
    return folder, stem, formats


def _check_free(folder: Path, names: Iterable[str], overwrite: bool) -> None:
    """Raise FileExistsError if a file may not, or a folder cannot, be replaced."""
    for place in (folder / name for name in names if (folder / name).exists()):
        if place.is_dir():
            raise FileExistsError(f"{place}: this is a folder")
        if not overwrite:
            raise FileExistsError(f"{place}: the file exists")
