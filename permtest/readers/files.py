"""A file as bytes, text or JSON, within bounds, and the error that every reader raises."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

from permtest._optional import optional
from permtest.readers.cells import MAX_DIGITS, Digits, bounded, printable
from permtest.readers.cells import Twice as Twice
from permtest.readers.cells import for_json as for_json

StrPath: TypeAlias = "str | os.PathLike[str]"

#: How much memory a file may need when it is read, and how large it may be, in bytes.
MEMORY = 2**30
LARGEST = 2**29

#: What a value of a JSON document, or a cell of a table, needs at most beside its text, in bytes.
PER_VALUE = 100

#: Characters of a message.
LONGEST_MESSAGE = 1000

BOM = b"\xef\xbb\xbf"

#: The end of a path that names a sheet of a workbook: "results.xlsx#second sheet".
SHEET = re.compile(r"(?<=\.xls[xm])#(?P<sheet>.+)$", re.IGNORECASE | re.DOTALL)

DEEP = "JSON that is nested too deeply to be an evaluation; check where the file comes from"


class ReadError(ValueError):
    r"""A file that cannot be read as pairs; the message says where, why, and what to do.

    Parameters
    ----------
    message : str
        Whatever it quotes from a file, it becomes one line that a terminal can show.

    Examples
    --------
    >>> from permtest.readers import File, ReadError, read
    >>> try:
    ...     read(File("scores.csv", b"old,new\n3,4\n5,x\n"), a="new", b="old")
    ... except ReadError as error:
    ...     print(str(error).split(";")[0])
    scores.csv, line 3, column 'new': 'x' is not a number
    """

    def __init__(self, message: str) -> None:
        text = printable(message)
        if len(text) > LONGEST_MESSAGE:
            text = f"{text[: LONGEST_MESSAGE - 405]} ... {text[-400:]}"
        super().__init__(text)

    @classmethod
    def at(
        cls, path: str, problem: str, *, line: int | None = None, column: str | None = None
    ) -> ReadError:
        """The error at a line, counted from 1, or at a column or any other place of a file."""
        place = [path, None if line is None else f"line {line}", column]
        return cls(f"{', '.join(part for part in place if part is not None)}: {problem}")


@dataclass(frozen=True, eq=False)
class File:
    r"""The content of a file: of one on a disk, or of one that was handed over.

    Parameters
    ----------
    path : str
        The file as the caller wrote it; of an upload no more than a name.
    data : bytes
        What is compressed is unpacked, and UTF-16 becomes UTF-8.
    table : tuple, optional
        What was handed over in place of bytes: see `permtest.readers.tables.load`.

    Examples
    --------
    >>> from permtest.readers import File, read
    >>> upload = File("scores.csv", b"old,new\n3,4\n5,5\n")
    >>> read(upload, a="new", b="old").u
    array([4, 5])
    """

    path: str
    data: bytes
    table: tuple[Any, ...] | None = None

    @classmethod
    def load(cls, path: StrPath) -> File:
        """Read a file, or standard input ("-"); ReadError if there is none, or it is too large."""
        written = os.fspath(path)
        if written == "-":
            return cls.of_buffer("standard input", getattr(sys.stdin, "buffer", sys.stdin))
        try:
            with open(SHEET.sub("", written), "rb") as file:
                return cls.of_buffer(written, file)
        except FileNotFoundError:
            problem = "there is no such file; check the name and the folder"
        except IsADirectoryError:
            problem = "this is a folder; name one file in it"
        except (OSError, ValueError) as error:
            if isinstance(error, ReadError):
                raise
            said = getattr(error, "strerror", None) or error
            problem = f"cannot be opened: {said}; check its name and who may read it"
        raise ReadError.at(written, problem)

    @classmethod
    def of_buffer(cls, path: str, buffer: Any) -> File:
        """What is left to read in an open file of bytes or of text."""
        data = buffer.read(LARGEST + 1)
        return cls(path, data.encode(errors="replace") if isinstance(data, str) else bytes(data))

    def __post_init__(self) -> None:
        for magic, unpack in _PACKED.items():
            if re.match(magic, self.data):
                self.sha256  # noqa: B018 - kept from now on, as the digest of what is on the disk
                with reading(self.path, "is compressed, or encoded as UTF-16, and damaged"):
                    object.__setattr__(self, "data", unpack(self.data))
                break
        if len(self.data) > LARGEST:
            most = f"{LARGEST / 2**20:.0f} MiB, compressed or not"
            problem = f"has more than {most}; keep the scores alone, or pass arrays"
            raise ReadError.at(self.path, f"{problem} to exact_perm_test")

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return Path(self.path).name

    @property
    def sheet(self) -> str | None:
        """The sheet of a workbook that the path names."""
        match = SHEET.search(self.path)
        return match and match["sheet"]

    @property
    def stem(self) -> str:
        """The sheet; or the name without its folder, its last suffix and that of a compression."""
        name = re.sub(r"\.(gz|bz2|xz|zst|zip)$", "", self.path, flags=re.IGNORECASE)
        return self.sheet or Path(name).stem

    @property
    def folder(self) -> str:
        """The name of the folder that the file is in, "" where none was written."""
        return Path(self.path).parent.name

    @cached_property
    def sha256(self) -> str:
        """Hexadecimal digest of the bytes, compressed as they were, or of the cells of a table."""
        cells = b"" if self.table is None else repr(self.table).encode(errors="replace")
        return hashlib.sha256(self.data or cells).hexdigest()

    @cached_property
    def text(self) -> str:
        """Decoded, without a byte-order mark; ReadError where it is not UTF-8 text."""
        return _decode(self.path, self.data.removeprefix(BOM))

    @cached_property
    def lines(self) -> list[str]:
        """The lines, whichever way they ended, without the blank ones at the end."""
        ends = self.data.count(b"\n") + self.data.count(b"\r") - self.data.count(b"\r\n")
        check_memory(self.path, PER_VALUE * ends + text_size(self.data, 3))
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        while lines and not lines[-1].strip(" "):
            lines.pop()
        return lines

    @cached_property
    def is_json(self) -> bool:
        """Whether the file looks like JSON, one document or several."""
        start = self.data[:4096].removeprefix(BOM).lstrip()[:1]
        return start in (b"{", b"[")

    @cached_property
    def document(self) -> Any:
        """The JSON document; a list of documents where there are several."""
        found = [document for _, document in self.documents()]
        return found[0] if len(found) == 1 else found

    def documents(self) -> Iterator[tuple[int, Any]]:
        """The JSON documents that follow each other, and the lines on which they begin."""
        check_json(self.path, self.data)
        line, start, end = 1, 0, 0
        while (match := _NOT_BLANK.search(self.text, end)) is not None:
            line += self.text.count("\n", start, match.start())
            start = match.start()
            with _parsing(self.path, line):
                document, end = _DECODER.raw_decode(self.text, start)
            yield line, document

    def records(self) -> Iterator[tuple[int, Any]]:
        """The number of each line that is not blank, and the JSON document on it."""
        # Line by line, so that memory is that of what is kept of them.
        for number, line in enumerate(BytesIO(self.data.removeprefix(BOM)), 1):
            if line.strip():
                check_json(self.path, line)
                text = _decode(self.path, line, number)
                with _parsing(self.path, number, "a line must be one JSON object"):
                    document = parsed_json(text)
                yield number, document


# ---- text and JSON -----------------------------------------------------------------------------


def _decode(path: str, data: bytes, line: int = 1) -> str:
    """The text that begins on a line of a file."""
    if b"\0" in data:
        problem = "is a binary file, not text; save the table as CSV (comma-separated UTF-8 text)"
        raise ReadError.at(path, problem)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"byte 0x{data[error.start]:02x} is not UTF-8, the encoding this file must have; "
        problem += "save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
        line += data.count(b"\n", 0, error.start)
        raise ReadError.at(path, problem, line=line) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which `Twice` is the value of a name that does not occur once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        every: dict[str, list[Any]] = {}
        for name, value in pairs:
            every.setdefault(name, []).append(value)
        found |= {name: Twice(name, some) for name, some in every.items() if len(some) > 1}
    return found


def _decimal(number: str) -> Decimal | Digits:
    """A number as it is written; what is too large, too small or too long stays text."""
    if len(number) < 30 and "e" not in number and "E" not in number:
        return Decimal(number)  # quickly
    found = bounded(number)
    return Digits(number) if found is None else found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=_decimal,
    parse_int=lambda number: int(number) if len(number) <= MAX_DIGITS else Digits(number),
)
_NOT_BLANK = re.compile(r"\S")
parsed_json = _DECODER.decode


@contextmanager
def _parsing(
    path: str, line: int, remedy: str = "write it with a program, such as Python's json"
) -> Iterator[None]:
    """What is wrong with JSON that begins on a line, as the error of its file."""
    try:
        yield
    except RecursionError:
        raise ReadError.at(path, DEEP, line=line) from None
    except json.JSONDecodeError as error:
        line = max(line, error.lineno)
        raise ReadError.at(path, no_json(error.msg, remedy), line=line) from None


def no_json(error: ValueError | str, remedy: str) -> str:
    """What is wrong with text that is no JSON."""
    return f"not JSON ({error}); {remedy}"


# ---- bounds ------------------------------------------------------------------------------------


def check_json(path: str, data: bytes) -> None:
    """Refuse JSON whose values would not fit into memory, before they are made."""
    values = sum(data.count(mark) for mark in (b",", b"{", b"[", b":"))
    check_memory(path, PER_VALUE * values + text_size(data, 2))


def text_size(data: bytes, copies: int) -> int:
    """Bytes that UTF-8 text needs so many times over, and once undecoded."""
    return len(data) * (1 + copies * (1 if data.isascii() else 4))


def check_memory(path: str, needed: int) -> None:
    """Refuse a file that would need too much memory; `needed` is in bytes."""
    if needed > MEMORY:
        raise ReadError.at(
            path,
            f"reading it may take {needed / 2**30:.1f} GiB of memory, more than "
            f"{MEMORY / 2**30:.0f} GiB; keep the scores alone, or split the file, or pass arrays "
            "to exact_perm_test",
        )


@contextmanager
def reading(path: str, problem: str, remedy: str = "save or copy it again") -> Iterator[None]:
    """Whatever a library raises because a file is damaged, as the error of that file."""
    try:
        yield
    except (ReadError, ImportError):
        raise
    except Exception as error:  # each library has errors of its own, and some of Python's
        said = f"{type(error).__name__}: {error}"
        raise ReadError.at(path, f"{problem} ({said}); {remedy}") from None


# ---- compression -------------------------------------------------------------------------------


def _of_xz(data: bytes) -> bytes:
    decompressor = lzma.LZMADecompressor(memlimit=MEMORY)  # it may say that it needs any amount
    content = decompressor.decompress(data, LARGEST + 1)
    if not decompressor.eof and len(content) <= LARGEST:
        raise EOFError("the end is missing")
    return content


def _of_zstd(data: bytes) -> bytes:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    zstd = optional(name, needed_by="a file compressed with Zstandard", extra="inspect")
    with zstd.ZstdFile(BytesIO(data)) as stream:
        return bytes(stream.read(LARGEST + 1))


def _of_zip(data: bytes) -> bytes:
    """The only member; the archive itself where it has several, or belongs to NumPy."""
    if data.count(b"PK\x01\x02") > 3:  # without the list of members, which may be endless
        return data
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
        names = [name for name in names if not name.endswith("/")]
        if len(names) != 1 or names[0].endswith(".npy"):
            return data
        with archive.open(names[0]) as stream:
            return stream.read(LARGEST + 1)


#: What packed files begin with, and what unpacks at most one byte more than is allowed.
_PACKED: dict[bytes, Callable[[bytes], bytes]] = {
    rb"\x1f\x8b\x08": lambda data: gzip.GzipFile(fileobj=BytesIO(data)).read(LARGEST + 1),
    rb"BZh[1-9]1AY&SY": lambda data: bz2.BZ2File(BytesIO(data)).read(LARGEST + 1),
    rb"\xfd7zXZ\x00": _of_xz,
    rb"\x28\xb5\x2f\xfd": _of_zstd,
    rb"PK\x03\x04": _of_zip,
    rb"\xff\xfe|\xfe\xff": lambda data: data.decode("utf-16").encode(),
}
