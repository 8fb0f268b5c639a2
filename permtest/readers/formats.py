"""All formats, and which of them a file has."""

from __future__ import annotations

from permtest.readers import records, tables
from permtest.readers.files import File
from permtest.readers.scores import Format

#: Every format by its name, in the order in which files are tried; a table is what remains.
FORMATS: dict[str, Format] = {
    kind.name: kind
    for kind in (
        records.FORMAT,
        tables.FORMAT,
    )
}

#: Those that become tables.
TABLES = (records.FORMAT.name, tables.FORMAT.name)


def format_of(file: File) -> Format:
    """What the content of a file is.

    Parameters
    ----------
    file : File

    Returns
    -------
    Format
        A table where it is nothing else.
    """
    return next((kind for kind in FORMATS.values() if kind.recognises(file)), tables.FORMAT)
