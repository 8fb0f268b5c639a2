"""Files as bytes, text or JSON within bounds; what a cell holds; the error that readers raise."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property, lru_cache
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

StrPath: TypeAlias = "str | os.PathLike[str]"

#: How much memory a file may need when it is read, and how large it may be, in bytes.
MEMORY = 2**30
LARGEST = 2**29

#: What a value of a JSON document, or a cell of a table, needs at most beside its text, in bytes.
PER_VALUE = 100

#: Digits of a number, and characters of a message.
MAX_DIGITS, LONGEST_MESSAGE = 1000, 1000

BOM = b"\xef\xbb\xbf"

#: The end of a path that names a sheet of a workbook: "results.xlsx#second sheet".
SHEET = re.compile(r"(?<=\.xls[xm])#(.+)$", re.IGNORECASE | re.DOTALL)

DEEP = "JSON that is nested too deeply for an evaluation; check where the file comes from"

#: What terminals obey, what ends a line or turns its direction, and what UTF-8 cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_KIND = re.compile(
    r"(?P<missing>|[+-]?nan|na|n/a|<na>|null|none|-+|\?|\.)"
    r"|(?P<integer>[+-]?\d+(?:\.0*)?|true|false)"
    r"|(?P<decimal>[+-]?\d*\.\d+)"
    r"|(?P<scientific>[+-]?(?:\d+(?:\.\d*)?|\.\d+)e[+-]?\d+)"
    r"|(?P<percent>[+-]?(?:\d+(?:\.\d*)?|\.\d+)\s?%)",
    re.ASCII | re.IGNORECASE,
)

#: Words that are scores, where no column says that they are labels: of right first, then of wrong.
VERDICTS = [w.split() for w in ("true false", "pass fail", "passed failed", "correct incorrect")]
VERDICTS += [["yes", "no"]]
_VERDICT = {word: 1 - i for pair in VERDICTS for i, word in enumerate(pair)}

PROBLEMS = {
    "missing": "{} is a missing score; score the item for both systems, or remove its line",
    "long": f"{{}} has more than {MAX_DIGITS} digits; use a coarser unit",
    "scientific": "{} is in scientific notation, which may have been rounded; write all its digits",
    "text": "{} is not a number; write digits without separators of thousands, with a point for "
    "decimals and - as minus",
    "label": "{} is not a number; write the score, or leave the cell empty (null in JSON) and say "
    "what becomes of such items (--missing drop, --missing zero), or, if these are predicted "
    "labels, name the right ones (--gold)",
}

#: The options that settle what a file leaves open, as messages end.
SETTLE = {
    "id": "name the column that pairs them (--id COL), or pair lines by order (--by-order)",
    "missing": "add it, or say what becomes of such items (--missing drop, --missing zero)",
}

#: What options of the command line are in Python, where an argument is not called as they are.
ARGUMENTS = {
    "by-order": "id=False",
    "no-clusters": "clusters=False",
    "higher-is-better": "higher_is_better=True",
    "lower-is-better": "higher_is_better=False",
    "metric": "statistic",
}

# ---- text for people -----------------------------------------------------------------------------


def printable(text: str) -> str:
    """`text` with characters escaped that a terminal or a file could not show."""
    if text.isprintable():  # which is quick, and says so of none of those characters
        return text
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


def brief(text: str, width: int = 100) -> str:
    """`text` as a table for people shows it: printable, and cut if it is long."""
    return printable(text if len(text) <= width else f"{text[: width - 3]}...")


def shown(text: str, width: int = 40) -> str:
    """`text` in quotes, on one line, cut if it is long."""
    return repr(text if len(text) <= width else text[: width - 3] + "...")


def did_you_mean(wanted: object, names: Sequence[str]) -> str:
    """A phrase with names that are nearly right, or ""."""
    close = get_close_matches(str(wanted), list(names), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def as_arguments(text: str) -> str:
    """A message with arguments of Python in place of the options in its brackets."""

    def spelled(match: re.Match[str]) -> str:
        ways = ["permtest.read(..."] * bool(match[1])
        for way in re.split(r", (?=--)", match[2]):
            found: dict[str, list[str]] = {}
            for option, value in re.findall(r"--([a-z-]+)(?: (.+?))?(?= --|$)", way):
                name = ARGUMENTS.get(option, option.replace("-", "_"))
                said = value if value[:1] in "'\"" else repr(value)
                found.setdefault(name, []).append(said if value else "...")
            for name, values in found.items():
                said = values[0] if len(values) == 1 else f"[{', '.join(values)}]"
                ways.append(name if "=" in name else f"{name}={said}")
        return f"({', '.join(ways)}{')' * bool(match[1])})"

    return re.sub(r"\((permtest compare (?=--a ))?(--[^()]+)\)", spelled, text)


def listed(names: Sequence[str], most: int = 30) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


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
    def at(cls, path: str, problem: str, *where: str | None, settle: str = "") -> ReadError:
        """The error at a line, a column or another place of a file, and which option settles it."""
        end = f"; {SETTLE[settle]}" if settle else ""
        return cls(f"{', '.join([path, *filter(None, where)])}: {problem}{end}")


# ---- what a cell holds ---------------------------------------------------------------------------


def text_of(cell: Any) -> str:
    """A cell as text: numbers with all their digits, "" where it is missing, lists as JSON."""
    if isinstance(cell, str):
        return cell
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | list | tuple | dict):
        return json.dumps(cell, ensure_ascii=False, default=float)
    if isinstance(cell, float):
        cell = Decimal(repr(cell))
    exact = isinstance(cell, Decimal) and cell.is_finite() and abs(cell.adjusted()) < MAX_DIGITS
    return f"{cell:f}" if exact else str(cell)


def kind_of(cell: Any) -> str:
    """What a cell holds: "missing", "text", or the kind of its number, as `_KIND` has them."""
    if isinstance(cell, Fraction):
        return "decimal"
    text = text_of(cell).strip()
    match = _KIND.fullmatch(text)
    kind = (match and match.lastgroup) or "text"
    # The digits of 1e-05 and of 1.25e+01 reach the units, but those of 1e3 do not.
    if kind == "scientific" and len(text) <= 100 and len(text.lower().partition("e")[2]) <= 4:
        return "decimal" if int(Decimal(text).as_tuple().exponent) <= 0 else kind
    if kind in ("integer", "decimal", "percent") and len(text) > MAX_DIGITS:
        return "long" if sum(map(str.isdigit, text)) > MAX_DIGITS else kind
    return kind


def is_number(cell: Any) -> bool:
    """Whether `cell` holds a number of whatever kind."""
    return kind_of(cell) not in ("missing", "text")


def number_or_none(text: str) -> float | None:
    """A cell as a float, None where it is no number."""
    word = text.strip().lower()
    if word in _VERDICT:
        return float(_VERDICT[word])
    return float(word.rstrip("% ")) if is_number(word) else None


def not_a_score(text: str) -> str:
    """Why a cell holds no score, and what to do; text that begins with no digit may be a label."""
    kind = kind_of(text)
    kind = "label" if kind == "text" and not re.match(r"\W*\d", text) else kind
    return PROBLEMS[kind].format(shown(text.strip()))


def as_score(cell: Any) -> int | Decimal | Fraction:
    """The number in a cell, exactly, or before its %, or 1 or 0 for a verdict; or ValueError."""
    return cell if isinstance(cell, Fraction) else _number_in(text_of(cell))


@lru_cache(maxsize=4096)  # the same few scores come again and again
def _number_in(cell: str) -> int | Decimal:
    kind, text = kind_of(cell), cell.strip().lower()
    if text in _VERDICT:
        return _VERDICT[text]
    if kind == "percent":
        text = text.rstrip("% ")
        kind = kind_of(text)
    if kind == "decimal":
        return Decimal(text)
    if kind != "integer":
        raise ValueError(not_a_score(cell))
    return int(text.partition(".")[0])


def as_printed(column: Sequence[Any]) -> list[Any]:
    """Numbers, those that print all digits of a float as floats, which may stand for fractions.

    Programs print the same double as 0.1 and as 0.10000000000000001, and it must tie with itself.
    """

    def all_digits(number: Decimal) -> bool:
        return 15 <= len(number.as_tuple().digits) <= 17 and number != number.to_integral_value()

    return [float(x) if isinstance(x, Decimal) and all_digits(x) else x for x in column]


# ---- files ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class File:
    r"""The content of a file, on disk or passed as an object.

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
    >>> read(upload, a="new", b="old").u.tolist()
    [4, 5]
    """

    path: str
    data: bytes
    table: tuple[Any, ...] | None = None

    @classmethod
    def load(cls, path: StrPath) -> File:
        """Read a file, or standard input ("-"); ReadError if it is missing or too large."""
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
        except ReadError:
            raise
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or error
            problem = f"cannot be opened: {said}; check its name and its permissions"
        raise ReadError.at(written, problem)

    @classmethod
    def of_buffer(cls, path: str, buffer: Any) -> File:
        """The rest of an open file of bytes or text."""
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
            problem = f"has more than {LARGEST / 2**20:.0f} MiB, compressed or not; keep the scores"
            raise ReadError.at(self.path, f"{problem} alone")

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return Path(self.path).name

    @property
    def sheet(self) -> str | None:
        """The sheet of a workbook that the path names."""
        return match[1] if (match := SHEET.search(self.path)) else None

    @property
    def stem(self) -> str:
        """The sheet; or the name without its folder, its last suffix and that of a compression."""
        if self.table is not None:
            return self.path
        name = re.sub(r"\.(gz|zip)$", "", self.path, flags=re.IGNORECASE)
        return self.sheet or Path(name).stem

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
        return self.data[:4096].removeprefix(BOM).lstrip()[:1] in (b"{", b"[")

    @cached_property
    def start(self) -> tuple[Any, bool]:
        """The first record, of lines or of a list, else the document; and whether of lines."""
        start, lines = None, not self.data[:4096].removeprefix(BOM).lstrip().startswith(b"[")
        with suppress(ReadError):
            start = next(self.records(), (0, None))[1] if self.is_json and lines else None
        with suppress(ReadError):
            if self.is_json and start is None:
                start, lines = self.document, False
        return start[0] if isinstance(start, list) and start else start, lines

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


def _decode(path: str, data: bytes, line: int = 1) -> str:
    """The text that begins on a line of a file."""
    if b"\0" in data:
        problem = "is a binary file, not text; save the table as CSV (comma-separated UTF-8 text)"
        raise ReadError.at(path, problem)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = (
            f"byte 0x{data[error.start]:02x} is not UTF-8; save it as UTF-8 (in a spreadsheet: "
        )
        line += data.count(b"\n", 0, error.start)
        raise ReadError.at(path, f"{problem}CSV UTF-8)", f"line {line}") from None


# ---- JSON ----------------------------------------------------------------------------------------


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{shown(name)} is twice in one object; remove one")
    return found


def _decimal(number: str) -> Decimal | str:
    """A number as it is written; what is beyond all floats, or too long, stays text."""
    exponent = number.lower().partition("e")[2]
    if len(number) > 30 or exponent:
        if len(number) > MAX_DIGITS or len(exponent) > 6 or not isfinite(float(number)):
            return number  # which must not be expanded
        if abs(Decimal(number).adjusted()) >= MAX_DIGITS:
            return number
    return Decimal(number)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=_decimal,
    parse_int=lambda number: int(number) if len(number) <= MAX_DIGITS else number,
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
        raise ReadError.at(path, DEEP, f"line {line}") from None
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError):
            raise ReadError.at(path, str(error), f"line {line}") from None
        found = error.lineno
        if error.doc[error.pos :].strip()[:1] in ("", "{", "["):  # what is before it never ends
            found = error.doc[: error.pos].rstrip().count("\n") + 1
        line = max(line, found)
        said = f"not JSON ({error.msg}); {remedy}"
        raise ReadError.at(path, said, f"line {line}") from None


# ---- bounds --------------------------------------------------------------------------------------


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
        problem = f"reading it may take {needed / 2**30:.1f} GiB of memory, more than "
        raise ReadError.at(path, f"{problem}{MEMORY / 2**30:.0f} GiB; keep the scores alone")


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


# ---- compression ---------------------------------------------------------------------------------


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
    rb"PK\x03\x04": _of_zip,
    rb"\xff\xfe|\xfe\xff": lambda data: data.decode("utf-16").encode(),
}
