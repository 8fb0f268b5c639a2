"""A file as bytes, text or JSON, within bounds, and the error that every reader raises."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from io import BytesIO
from pathlib import Path
from select import select
from stat import S_ISFIFO
from typing import Any, TypeAlias

from permtest.readers.cells import ALL_DIGITS, Digits, bounded, printable

StrPath: TypeAlias = "str | os.PathLike[str]"

#: How much memory a file may need when it is read, and how large it may be, in bytes.
MEMORY = 2**30
LARGEST = 2**29

#: What a value of a JSON document, or a cell of a table, needs at most beside its text, in bytes.
PER_VALUE = 100

#: Seconds that a program may take between two things that it writes into a pipe.
SILENCE = 30

#: Characters of a message.
LONGEST_MESSAGE = 1000

#: What a file may begin with to say how it is encoded.
BOM, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")


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


@dataclass(frozen=True, eq=False)
class File:
    r"""The content of a file: of one on a disk, or of one that was handed over.

    Parameters
    ----------
    path : str
        The file as the caller wrote it; of an upload no more than a name.
    data : bytes

    Examples
    --------
    >>> from permtest.readers import File, read
    >>> upload = File("scores.csv", b"old,new\n3,4\n5,5\n")
    >>> read(upload, a="new", b="old").u
    array([4, 5])
    """

    path: str
    data: bytes

    @classmethod
    def load(cls, path: StrPath) -> File:
        """Read a file; ReadError if there is none, or if it is too large."""
        written = os.fspath(path)
        return cls(written, _bytes(written))

    def __post_init__(self) -> None:
        if len(self.data) > LARGEST:
            raise ReadError.at(self.path, _too_large())

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return Path(self.path).name

    @property
    def stem(self) -> str:
        """The name without its folder and its last suffix."""
        return Path(self.path).stem

    @property
    def folder(self) -> str:
        """The name of the folder that the file is in, "" where none was written."""
        return Path(self.path).parent.name

    @cached_property
    def sha256(self) -> str:
        """Hexadecimal digest of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> str:
        """Decoded, without a byte-order mark; ReadError where it is not UTF-8 text."""
        return _decode(self.path, self.data)

    @cached_property
    def lines(self) -> list[str]:
        """The lines, whichever way they ended, without the blank ones at the end."""
        ends = self.data.count(b"\n") + self.data.count(b"\r") - self.data.count(b"\r\n")
        check_memory(self.path, PER_VALUE * ends + text_size(self.data, 3))
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        while lines and not lines[-1].strip(" "):
            lines.pop()
        return lines

    # ---- JSON

    @cached_property
    def is_json(self) -> bool:
        """Whether the file looks like JSON, one document or one a line."""
        start = self.data[:4096].removeprefix(BOM).lstrip()[:1]
        return start in (b"{", b"[")

    @cached_property
    def document(self) -> Any:
        """The JSON document; a list of documents where there is one a line.

        Raises
        ------
        ReadError
            If it is no JSON, too deep, or too large.
        """
        check_json(self.path, self.data)
        text = self.text
        try:
            return parsed_json(text)
        except RecursionError:
            raise ReadError.at(self.path, DEEP) from None
        except ValueError as error:
            problem = error
        try:
            return [record for _, record in self.records()]
        except ReadError as error:
            if self.is_lines:
                raise
            line = getattr(problem, "lineno", None)
            said = no_json(problem, "write it with a program, such as Python's json")
            raise ReadError.at(self.path, said, line=line) from error

    @cached_property
    def is_lines(self) -> bool:
        """Whether the first line is a JSON object of its own, and not the only one."""
        lines = BytesIO(self.data.removeprefix(BOM))
        first, second = lines.readline().strip(), lines.readline().strip()
        return first.startswith(b"{") and first.endswith(b"}") and second.startswith(b"{")

    def records(self) -> Iterator[tuple[int, Any]]:
        """The number of each line that is not blank, and the JSON document on it."""
        if b"\0" in self.data or self.data.startswith(UTF_16):
            _decode(self.path, self.data)
        # Line by line, so that memory is that of what is kept of them.
        for number, line in enumerate(BytesIO(self.data.removeprefix(BOM)), 1):
            if not line.strip():
                continue
            check_json(self.path, line)
            try:
                yield number, parsed_json(line.decode())
            except UnicodeDecodeError:
                problem = "not UTF-8, the encoding this file must have; save it as UTF-8"
                raise ReadError.at(self.path, problem, line=number) from None
            except RecursionError:
                raise ReadError.at(self.path, DEEP, line=number) from None
            except ValueError as error:
                problem = no_json(error, "a line must be one JSON object")
                raise ReadError.at(self.path, problem, line=number) from None


# ---- JSON --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Twice:
    """What stands for the value of a name that is twice in one object of JSON.

    Whoever reads that value refuses it; nobody minds where it is not read.

    Parameters
    ----------
    name : str
    values : list
        All that the name has.
    """

    name: str
    values: list[Any]


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which `Twice` is the value of a name that does not occur once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        every: dict[str, list[Any]] = {}
        for name, value in pairs:
            every.setdefault(name, []).append(value)
        found |= {name: Twice(name, some) for name, some in every.items() if len(some) > 1}
    return found


def for_json(value: Any) -> Any:
    """What JSON can show of a value that it has no word for: all values, or a float."""
    return value.values if isinstance(value, Twice) else float(value)


def _decimal(number: str) -> Decimal | Digits:
    """A number as it is written; what is too large, too small or too long stays text."""
    usual = len(number) < ALL_DIGITS[0] or repr(float(number)) == number
    if usual and "e" not in number and "E" not in number:
        return Decimal(number)  # quickly
    found = bounded(number)
    return Digits(number) if found is None else found


parsed_json = json.JSONDecoder(object_pairs_hook=unique, parse_float=_decimal).decode


def no_json(error: ValueError, remedy: str) -> str:
    """What is wrong with text that is no JSON."""
    return f"not JSON ({error}); {remedy}"


DEEP = "JSON that is nested too deeply to be an evaluation; check where the file comes from"


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


def _too_large() -> str:
    most = f"{LARGEST / 2**20:.0f} MiB"
    return f"has more than {most}; keep the scores alone, or pass arrays to exact_perm_test"


def _bytes(path: str) -> bytes:
    try:
        status = Path(path).stat()
        if status.st_size > LARGEST:
            raise ReadError.at(path, _too_large())
        if S_ISFIFO(status.st_mode):
            return _of_pipe(path)
        with Path(path).open("rb") as file:
            return file.read(LARGEST + 1)  # what is no regular file does not say its size
    except FileNotFoundError:
        problem = "there is no such file; check the name and the folder"
    except IsADirectoryError:
        problem = "this is a folder; name one file in it"
    except (OSError, ValueError) as error:
        if isinstance(error, ReadError):
            raise
        problem = f"cannot be opened: {getattr(error, 'strerror', None) or error}; check its name "
        problem += "and who may read it"
    raise ReadError.at(path, problem)


def _of_pipe(path: str) -> bytes:
    """What a program writes into a pipe; ReadError where it writes nothing for long."""
    parts, size = [], 0
    # Opened without waiting for someone to write, which may be never.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
        while size <= LARGEST:
            if not select([pipe], [], [], SILENCE)[0]:
                problem = f"nothing came through this pipe for {SILENCE} s; check the program that "
                raise ReadError.at(path, problem + "writes into it, or save its output as a file")
            if not (part := pipe.read(2**20)):
                break
            parts.append(part)
            size += len(part)
    return b"".join(parts)


def _decode(path: str, data: bytes) -> str:
    if data.startswith(UTF_16):
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
