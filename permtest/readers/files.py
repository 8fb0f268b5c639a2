"""A file as text with its fingerprint, and the error that every reader raises."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

StrPath: TypeAlias = "str | os.PathLike[str]"


class ReadError(ValueError):
    """A file that cannot be read as pairs; the message says where, why, and what to do."""

    @classmethod
    def at(
        cls, path: str, problem: str, *, line: int | None = None, column: str | None = None
    ) -> ReadError:
        """The error at a place in a file.

        Parameters
        ----------
        path : str
            The file, as the caller wrote it.
        problem : str
            What is wrong, and what to do.
        line : int, optional
            Counted from 1.
        column : str, optional
            How to call the column.
        """
        place = [path]
        if line is not None:
            place.append(f"line {line}")
        if column is not None:
            place.append(column)
        return cls(f"{', '.join(place)}: {problem}")


@dataclass(frozen=True)
class TextFile:
    """The content of a text file.

    Parameters
    ----------
    path : str
        The file, as the caller wrote it.
    sha256 : str
        Hexadecimal digest of its bytes.
    text : str
        Decoded, without a byte-order mark.
    """

    path: str
    sha256: str
    text: str

    @classmethod
    def load(cls, path: StrPath) -> TextFile:
        """Read a UTF-8 file, with or without a byte-order mark.

        Raises
        ------
        ReadError
            If there is no such file, or if it is not UTF-8 text.
        """
        written = os.fspath(path)
        data = _bytes(written)
        return cls(written, hashlib.sha256(data).hexdigest(), _decode(written, data))

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return Path(self.path).name

    @cached_property
    def lines(self) -> list[str]:
        """The lines, whichever way they ended, without the blank ones at the end."""
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        while lines and not lines[-1].strip(" "):
            lines.pop()
        return lines


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        problem = "there is no such file; check the name and the folder"
    except IsADirectoryError:
        problem = "this is a folder; name one file in it"
    except OSError as error:
        problem = f"cannot be opened: {error.strerror or error}"
    raise ReadError.at(path, problem)


def _decode(path: str, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ReadError.at(path, "looks like UTF-16; the encoding must be UTF-8: save it as UTF-8")
    if b"\0" in data:
        raise ReadError.at(
            path, "is a binary file, not text; save the table as CSV (comma-separated UTF-8 text)"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # With a byte-order mark, the error counts from behind it.
        seen = error.object[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        problem = (
            f"byte 0x{error.object[error.start]:02x} is not UTF-8, the encoding this file must "
            "have; save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
        )
        raise ReadError.at(path, problem, line=seen.count(b"\n") + 1) from None
