"""Files of which none is ever half written."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import NamedTuple


class Layout(NamedTuple):
    """Which files a report may consist of.

    Parameters
    ----------
    formats : tuple of str
        What a folder gets.
    stem : str
        How the names of files in a folder begin.
    single : tuple of str
        Further formats, of which a folder has none.
    pictures : tuple of str
        What stands beside a page in Markdown.
    """

    formats: tuple[str, ...]
    stem: str
    single: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()

    def check(
        self, path: str | PathLike[str], *, overwrite: bool
    ) -> tuple[Path, tuple[str, ...], str]:
        """Refuse what could not be written: unknown suffixes, files in the way.

        Parameters
        ----------
        path : str or path-like
            A file, whose suffix is the format; or a folder, or a path without suffix: all formats.
        overwrite : bool

        Returns
        -------
        folder : Path
        formats : tuple of str
        stem : str

        Raises
        ------
        FileExistsError, FileNotFoundError, NotADirectoryError, ValueError
            If a file may not, or a folder cannot, be replaced; the folder of a file does not exist;
            a file is in its place; or the suffix is unknown.
        """
        folder, formats, stem = self._place(Path(path))
        pictures = self.pictures if "md" in formats else ()
        names = [*(f"{stem}.{name}" for name in formats), *(f"{stem}-{x}.svg" for x in pictures)]
        check_free(folder, names, overwrite=overwrite)
        return folder, formats, stem

    def _place(self, place: Path) -> tuple[Path, tuple[str, ...], str]:
        if place.is_dir() or not place.suffix:
            if place.exists() and not place.is_dir():
                raise NotADirectoryError(f"{place}: this is a file; name a folder, or end in .html")
            return place, self.formats, self.stem
        suffix, known = place.suffix[1:].lower(), (*self.formats, *self.single)
        if suffix not in known:
            listed = ", ".join(f".{name}" for name in known)
            raise ValueError(f"{place}: a report ends in {listed}, or is a folder")
        if not place.parent.is_dir():
            raise FileNotFoundError(f"{place}: there is no folder {place.parent}; create it first")
        return place.parent, (suffix,), place.stem


def check_free(folder: Path, names: Iterable[str], *, overwrite: bool) -> None:
    """Raise FileExistsError if there is a file that may not, or a folder that cannot, be replaced.

    Parameters
    ----------
    folder : Path
    names : iterable of str
    overwrite : bool
    """
    for name in (name for name in names if (folder / name).exists()):
        if (folder / name).is_dir():
            raise FileExistsError(f"{folder / name}: this is a folder")
        if not overwrite:
            raise FileExistsError(f"{folder / name}: the file exists")


def write_files(
    folder: Path, files: Mapping[str, bytes], *, overwrite: bool = True
) -> tuple[Path, ...]:
    """Write all files under other names, then rename them one by one.

    Parameters
    ----------
    folder : Path
        It exists.
    files : mapping of str to bytes
        Name -> content.
    overwrite : bool, default True

    Returns
    -------
    tuple of Path

    Raises
    ------
    FileExistsError
        If a file has come into the way meanwhile.
    OSError
        If one cannot be written: then no file has changed. Or if one cannot be renamed: those
        before it are new then, and the others as they were.
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
    return tuple(folder / name for name in files)
