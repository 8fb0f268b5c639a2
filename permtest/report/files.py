"""Files of which none is ever half written."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, bytes], *, overwrite: bool = True) -> None:
    """Write all files under other names, then rename them one by one.

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
