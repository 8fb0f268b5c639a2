"""Files as tables of text: how they are opened, what columns hold, and how reading stops.

Text stays text until `Scores` makes exact numbers of it; here cells are only checked to be numbers.
Nothing in a file is executed, and what it may need is bounded before it is unpacked.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path, PurePath
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from permtest._errors import optional

#: The most bytes of a file, unpacked, and the most cells of a table; about 2 GB of memory.
MOST_BYTES, MOST_CELLS = 2**28, 2 * 10**7
TOO_LARGE = f"it is too large: at most {MOST_BYTES // 2**20} MB, unpacked, and {MOST_CELLS:,} cells"

#: What messages call a table that is in memory; and columns that no file has: which file a line is
#: from, and the right label where that comes from a file of its own.
FRAME, FILE, GOLD = "frame", "\0file", "\0gold"

#: A number by the mark of its decimals, and what logical values are written as.
_DIGITS, _POWER = r"[+-]?(\d{1,300}%s?\d{0,300}|%s\d{1,300})", r"([eE][+-]?\d{1,3})?"
NUMBER = {x: re.compile(_DIGITS.replace("%s", f"[{x}]") + _POWER, re.ASCII) for x in ".,"}
TRUTH = {"true": "1", "false": "0"}

#: Letters of a number that may have been printed from a float64, and of a text that is shown;
#: columns of a file that are; and values by which the kind of a column is told.
DIGITS, LETTERS, COLUMNS, SAMPLE = 20, 40, 30, 10_000

#: How gzip, archives (such as workbooks) and other tables begin; and zstd as archives number it.
GZIP, ZSTANDARD = b"\x1f\x8b", 93
KINDS = {b"PK\x03\x04": "archive", b"PAR1": "parquet", b"ARRO": "feather"}

#: File -> its columns: their numbers from 1, names, first cells, and what they hold.
Columns = Mapping[str, Sequence[tuple[int, str, str, str]]]


class ReadError(ValueError):
    r"""Files cannot be read as they were declared.

    Parameters
    ----------
    problem : str
        What is wrong, and what to do; options go by their names in Python.
    columns : mapping of str to sequence of tuple
        File -> its columns, where they have to be declared: the number of each from 1, its name,
        its first cells, and what it holds.
    proposal : dict or None
        Keyword arguments of `permtest.read`, or of `permtest.read_many` if `many` is true, that
        would read these files, with "paths".

    Examples
    --------
    >>> error = ReadError("say which", proposal={"paths": ["a.csv"], "statistic": "f1"})
    >>> print(error.on_command_line())
    say which
    For example:  permtest compare a.csv --metric f1
    """

    def __init__(self, problem: str, columns: Columns | None = None, proposal: Any = None) -> None:
        super().__init__(problem)
        self.problem, self.columns, self.proposal = problem, columns or {}, proposal
        self.many = False

    def __str__(self) -> str:
        given = dict(self.proposal or {})
        parts = [x if x == FRAME else repr(x) for x in given.pop("paths", ())]
        parts += [f"{key}={value!r}" for key, value in given.items()]
        return self._with(f"pt.read{'_many' * self.many}({', '.join(parts)})")

    def on_command_line(self, command: str = "permtest compare") -> str:
        """The same with a command in place of a call."""
        given = dict(self.proposal or {})
        words = [command, *map(quote, given.pop("paths", ()))]
        if (higher := given.pop("higher_is_better", None)) is not None:
            words.append("--higher-is-better" if higher else "--lower-is-better")
        for key, value in given.items():
            name = {"statistic": "metric"}.get(key, key.replace("_", "-"))
            for one in [",".join(listed(value))] if key == "systems" else map(str, listed(value)):
                words.append(f"--{name}{'=' if one[:1] == '-' else ' '}{quote(one)}")
        return self._with(" ".join(words))

    def _with(self, example: str) -> str:
        lines = [self.problem + ":" * bool(self.columns)]
        for name, columns in self.columns.items():
            lines += [f"{name}:"] * (len(self.columns) > 1)
            widths = [max(len(str(x)) for x in column) for column in zip(*columns, strict=True)]
            for one in columns[:COLUMNS]:
                cells = (str(cell).ljust(width) for cell, width in zip(one, widths, strict=True))
                lines.append(f"  {'  '.join(cells)}".rstrip())
            lines += [f"  and {len(columns) - COLUMNS} more"] * (len(columns) > COLUMNS)
        return "\n".join([*lines, *[f"For example:  {example}"] * bool(self.proposal)])


def listed(value: Any) -> list[Any]:
    """One name as a list, and several as they are."""
    return [] if value is None else [value] if isinstance(value, str | int) else list(value)


def printable(text: Any, most: int = 200) -> str:
    """A text on one line, without what a terminal would obey."""
    line = "".join(x if x.isprintable() else ascii(x)[1:-1] for x in str(text)[: most + 1])
    return line if len(line) <= most else f"{line[: most - 3]}..."


def shown(text: Any) -> str:
    """A cell or a name in a message."""
    return repr(printable(text, LETTERS))


def some(names: Sequence[Any], most: int = 5) -> str:
    """The first names of a list."""
    return ", ".join(printable(x, 60) for x in names[:most]) + ", ..." * (len(names) > most)


@dataclass(frozen=True, eq=False)
class File:
    r"""A file in memory, which can be read as if it had a path.

    Parameters
    ----------
    path : str
        Its path, or another name.
    data : bytes

    Examples
    --------
    >>> from permtest import read
    >>> new = File("new.csv", b"id,points\n1,3\n2,5\n")
    >>> print(read(new, File("old.csv", b"id,points\n2,4\n1,4\n")))
    new against old, 2 items paired by id
    """

    path: str
    data: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.data) > MOST_BYTES:
            raise self.error(TOO_LARGE)

    @classmethod
    def load(cls, source: Any) -> Any:
        """Read a path, or "-" for standard input; what is in memory stays as it is."""
        if isinstance(source, str) and source == "-":
            source = cls(source, sys.stdin.buffer.read(MOST_BYTES + 1))
        elif isinstance(source, str | PurePath):
            with Path(source).open("rb") as file:
                source = cls(str(source), file.read(MOST_BYTES + 1))
        if not isinstance(source, File):
            return source
        if source.data.startswith(GZIP):
            return source._part(gzip.open)
        single = source.kind == "archive" and len(source.members) == 1
        return source.member(source.members[0]) if single else source

    @cached_property
    def kind(self) -> str:
        """What it is: an archive or a workbook, a parquet or feather table, JSON, or lines."""
        first = self.data[:999].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        return KINDS.get(self.data[:4], "json" if first in (b"{", b"[") else "lines")

    @cached_property
    def members(self) -> list[str]:
        """The names of the files in an archive, or in a workbook, which is one."""
        with self.reading(), zipfile.ZipFile(BytesIO(self.data)) as archive:
            return [x for x in archive.namelist() if x[-1:] != "/"]

    def member(self, name: str) -> File:
        """A file in an archive, which must be below the limit."""
        archive: Any = zipfile.ZipFile(BytesIO(self.data))
        if archive.getinfo(name).compress_type == ZSTANDARD and sys.version_info < (3, 14):
            module = "backports.zstd.zipfile"
            module = optional(module, needed_by=printable(self.path), extra="inspect")
            archive = module.ZipFile(BytesIO(self.data))
        return self._part(lambda _: archive.open(name))

    def _part(self, opened: Any) -> File:
        with self.reading(), opened(BytesIO(self.data)) as stream:
            return File(self.path, stream.read(MOST_BYTES + 1))

    @cached_property
    def text(self) -> str:
        """The text, in UTF-8, or else in cp1252."""
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = self.data.decode("cp1252", errors="replace")
        if "\0" in text or "\ufffd" in text:
            raise self.error("it is no text in UTF-8 or cp1252; save the table as CSV")
        return text

    def error(self, problem: str) -> ReadError:
        """An error of this file."""
        return ReadError(f"{printable(self.path)}: {problem}")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Whatever is wrong with a file that is not as it should be, as an error of this file."""
        try:
            yield
        except (ReadError, ImportError, MemoryError):
            raise
        except Exception as bad:
            text = " ".join(f"{type(bad).__name__}: {bad}".split())
            raise self.error(f"it cannot be read ({printable(text)})") from None


class Facts(NamedTuple):
    """What the cells of a column are like, but for the empty ones."""

    kind: str  # in words
    text: bool
    fractions: bool  # numbers that are not all whole
    even: bool  # each value as often as the others
    distinct: int
    mixed: bool  # text in a column of numbers


@dataclass(frozen=True, eq=False)
class Table:
    """The cells of one file or of several, all as text; an empty cell is an empty text."""

    path: str
    frame: pd.DataFrame
    header: bool = True
    decimal: str = "."
    first: str = "row 1"  # where the first row stands
    file: File | None = None
    tool: bool = False  # a tool calls its columns id, system, run and target, and all others scores
    called: str = ""  # the system, where the file says it
    parts: Sequence[Table] = ()  # the tables of several files
    index: Sequence[str] = ()  # the named index of a frame
    _facts: dict[str, Facts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.frame.columns[self.frame.columns.duplicated()][:1]:
            raise ReadError(f"{printable(self.path)}: two columns called {shown(name)}; rename one")

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> list[str]:
        """The names of the columns; numbers from 1 where there is no header."""
        return [x for x in self.frame if x not in (FILE, GOLD)]

    @property
    def files(self) -> Sequence[Table]:
        """The table of each file."""
        return self.parts or [self]

    @property
    def shown(self) -> Columns:
        """What a person sees of its columns, or of those of each file if they differ."""
        found: dict[str, Any] = {}
        for table in [self] if all(x.names == self.names for x in self.files) else self.files:
            rows = found[printable(table.path)] = []
            for i, name in enumerate(table.names, 1):
                cells = [x for x in table.frame[name].head(50).unique() if x]
                texts = ", ".join(printable(x, 20) for x in cells[:3]) + " ..." * (len(cells) > 3)
                rows.append((i, printable(name, LETTERS), texts, table.facts(name).kind))
        return found

    def named(self, wanted: Any) -> str:
        """The name of a column that may be declared by its number."""
        text = str(wanted)
        number = int(text) if text.isdecimal() and text not in self.names else 0
        return self.names[number - 1] if 0 < number <= len(self.names) else text

    def column(self, wanted: Any, option: str) -> str:
        """The name of a column that is declared; ReadError if a file lacks it."""
        name = self.named(wanted)
        for file in self.files:
            if name not in file.names:
                problem = f"{option} {printable(name, LETTERS)}: no such column in "
                tip = "; counts need a metric" * (option == "column" and f"{name}_tp" in file.names)
                raise ReadError(f"{problem}{printable(file.path)}{tip}", file.shown)
        return name

    def place(self, row: int) -> tuple[str, str]:
        """The file that a row is from, and where it stands there."""
        for part in self.parts:
            if row < len(part):
                return part.place(row)
            row -= len(part)
        kind, first = self.first.split()
        return printable(self.path), f"{kind} {row + int(first)}"

    def error(self, row: int, problem: str, column: str = "") -> ReadError:
        """An error that names the line, and the column."""
        where = f", column {printable(column, LETTERS)}" if column else ""
        return ReadError(f"{', '.join(self.place(row))}{where}: {problem}")

    def number(self, cell: str) -> str | None:
        """A number with a decimal point; None if a cell is no number, nor empty."""
        good = not cell or NUMBER[self.decimal].fullmatch(cell)
        return cell.replace(",", ".") if good else TRUTH.get(cell.lower())

    def numbers(self, name: str) -> Any:
        """The cells of a column as numbers, or texts that are; ReadError at the first other one."""
        codes, texts = pd.factorize(self.frame[name])
        found = np.array([*map(self.number, texts), ""], dtype=object)[:-1]
        for i in np.flatnonzero([x is None for x in found])[:1]:
            problem = f"{shown(texts[i])} is no number"
            problem += " beside decimal commas" * (self.decimal == "," and "." in texts[i])
            problem += "; write it like 1234.5, empty the cell, or remove a line that is no item"
            raise self.error(int((codes == i).argmax()), problem, name)
        if all(len(x) <= DIGITS or x == repr(float(x)) for x in found):
            floats = pd.to_numeric(found)
            if np.nanmax(np.abs(floats), initial=0) < 2**53:
                found = floats  # which stand for the decimals that they are printed as
        return found[codes]

    def facts(self, name: str) -> Facts:
        """What the cells of a column are like; of a long one, the first values say the kind."""
        if name not in self._facts:
            often = self.frame[name].mask(self.frame[name] == "").value_counts()
            head = [self.number(x) for x in often.index[:SAMPLE]]
            text, even, size = None in head, often.nunique() == 1, often.size
            values = {float(x or 0) for x in head} if head and not text else {0.5}
            fractions, low, high = any(x % 1 for x in values), min(values), max(values)
            kind = f"text, {size:,} different" if text else "numbers" if head else "empty"
            if mixed := text and 2 * head.count(None) < size:
                kind = f"numbers, and {shown(often.index[head.index(None)])}"
            if values <= {0, 1}:
                kind = "0 or 1"
            elif even and not fractions and 2 < size == high - low + 1 and low in (0, 1):
                kind = f"counts {low:g} to {high:g}"
            self._facts[name] = Facts(kind, text, fractions and not text, even, size, mixed)
        return self._facts[name]


def joined(tables: Sequence[Table], columns: Sequence[Any] = ()) -> Table:
    """One table of all lines, where columns that are declared by their numbers have one name."""
    if len(tables) == 1:
        return tables[0]
    stems = [PurePath(x.path.removesuffix(".gz")).stem or x.path for x in tables]
    numbered = [f"{stem} ({i})" for i, stem in enumerate(stems, 1)]
    choices = [x.called for x in tables], stems, numbered
    called = next([*map(printable, x)] for x in choices if all(x) and len({*x}) == len(x))
    numbers, parts = [x for x in columns if str(x).isdecimal()], list[Table]()
    for table in tables:
        alike = {table.named(x): tables[0].named(x) for x in numbers}
        parts.append(replace(table, frame=table.frame.rename(columns=alike), _facts={}))
    frame = pd.concat([x.frame for x in parts], ignore_index=True).fillna("")
    frame[FILE] = pd.Categorical(called, called).repeat([len(x) for x in parts])
    decimal = "," if any(x.decimal == "," for x in tables) else "."
    more: Any = {"tool": all(x.tool for x in tables), "parts": parts, "index": tables[0].index}
    return Table(tables[0].path, frame, any(x.header for x in tables), decimal, **more)


def of_frame(frame: Any, path: str = FRAME, **fields: Any) -> Table:
    """The table of a data frame, records or columns; its index is a column if it says anything."""
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else pd.DataFrame(frame)
    index = [printable(x) for x in frame.index.names if x is not None]
    if not isinstance(frame.index, pd.RangeIndex) or index:
        frame = frame.reset_index(names=["index" if x is None else x for x in frame.index.names])
    header = not isinstance(frame.columns, pd.RangeIndex)
    cells = frame.astype(object).mask(frame.isna(), "").map(lambda x: str(x).strip()).astype(object)
    cells.columns = pd.Index([printable(x) if header else str(x + 1) for x in frame], dtype=object)
    return Table(path, cells, header, index=index, **fields)


def table_of(file: Any, records: str | None = None) -> Table:
    """The table in a file of any kind, or of a frame."""
    if not isinstance(file, File):
        return of_frame(file)
    if file.kind == "json":
        return _of_json(file, records)
    if records is not None:
        raise file.error("it is no JSON, and only JSON has a path of records")
    with file.reading():
        if file.kind == "lines":
            return _of_lines(file)
        if file.kind != "archive":
            module = optional(f"pyarrow.{file.kind}", needed_by=file.kind, extra="frames")
            found = module.read_table(BytesIO(file.data))
            if found.num_rows * found.num_columns > MOST_CELLS:
                raise file.error(TOO_LARGE)
            found.validate(full=True)  # pandas would read texts from wherever the file says
            return of_frame(found.to_pandas(integer_object_nulls=True), file.path, file=file)
        if sum(x.file_size for x in zipfile.ZipFile(BytesIO(file.data)).infolist()) > MOST_BYTES:
            raise file.error(TOO_LARGE)
        sheets = pd.read_excel(BytesIO(file.data), None, header=None, dtype=object, na_filter=False)
        names = [x for x, frame in sheets.items() if frame.size]
        if len(names) != 1:
            raise file.error(f"it has {len(names)} sheets with cells, {some(names)}: keep one")
        return _headed(of_frame(sheets[names[0]]).frame, file)


def _of_lines(file: File) -> Table:
    """The table in a text whose cells are separated by what splits its first lines alike."""
    lines = file.text[: 10**6].splitlines()[:2] or [""]
    if not lines[0].strip():
        raise file.error("line 1 is empty")
    separator, width = ",", len(lines[0].split(","))
    for mark in (" ", ",", ";", "\t"):
        two = [" ".join(x.split()) for x in lines] if mark == " " else lines
        first, *_, second = (len(x) for x in csv.reader([*two, *two[-1:]], delimiter=mark))
        if first == second > 1:
            separator, width = r"\s+" if mark == " " else mark, first
    if (file.text.count("\n") + file.text.count("\r")) * width > MOST_CELLS:
        raise file.error(TOO_LARGE)
    how: dict[str, Any] = {"sep": separator, "skipinitialspace": separator != "\t"}
    how |= {"dtype": object, "na_filter": False, "skip_blank_lines": False, "header": None}
    frame = pd.read_csv(StringIO(file.text), **how)
    if re.search(r"[ \t]+(\n|\r|[,;\t])", file.text):
        frame = frame.apply(lambda cells: cells.str.strip()).astype(object)
    comma = separator == ";" and re.search(r"(^|;)\s*[+-]?\d*,\d+\s*(;|$)", file.text, re.MULTILINE)
    kind = "row" if len(frame) < file.text.count("\n") else "line"  # cells have line breaks
    return _headed(frame, file, decimal="," if comma else ".", kind=kind)


def _headed(frame: Any, file: File, decimal: str = ".", kind: str = "row") -> Table:
    """The table in cells, whose first row may be the header."""
    filled = (frame != "").any(axis=1).to_numpy()
    frame = frame.iloc[: np.flatnonzero(filled).max(initial=-1) + 1]
    if not (len(frame) and filled[: len(frame)].all()):
        raise file.error(f"{kind} {filled.argmin() + 1} is empty")
    bare = Table(file.path, frame, decimal=decimal)
    cells = [str(x) for x in frame.iloc[0]]
    numbers = [bool(x) and bare.number(x) is not None for x in cells]
    again = any(x and (frame.iloc[1:, i] == x).any() > numbers[i] for i, x in enumerate(cells))
    header = not (again or all(numbers))
    if header and any(numbers):
        problem = f"is line 1 a header? {shown(cells[numbers.index(True)])} is a number; add a line"
        raise file.error(f"{problem} of names above it, or rename the column")
    frame = frame.iloc[int(header) :].reset_index(drop=True)
    if not len(frame):
        raise file.error("it has a header and no lines")
    frame.columns = [printable(x) if header and x else str(i) for i, x in enumerate(cells, 1)]
    return Table(file.path, frame, header, decimal, f"{kind} {1 + header}", file=file)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError(f"an object has a key twice, of {some([*found])}")
    return found


def documents(file: File) -> Iterator[Any]:
    """The document that a file is, or those of JSON lines; numbers stay the text that they are."""
    if sum(map(file.text.count, ",[{")) > MOST_CELLS:
        raise file.error(TOO_LARGE)
    lines = [x for x in file.text.split("\n") if x.strip()]
    try:
        json.loads(lines[0])
    except (ValueError, RecursionError):
        lines = [file.text]
    for line in lines:
        with file.reading():
            document = json.loads(line, parse_float=str, parse_int=str, object_pairs_hook=_once)
        yield document


def _of_json(file: File, records: str | None) -> Table:
    """The table of JSON lines, of a list of records, or of what `records` names."""
    lines = list(documents(file))
    found = whole = lines if len(lines) > 1 else lines[0]
    for key in () if records in (None, ".") else str(records).split("."):
        inside = found if isinstance(found, dict) else dict(enumerate(listed(found)))
        found = {str(i): x for i, x in inside.items()}.get(key)
    if records is not None and isinstance(found, dict):
        each = found.items()
        found = [{"key": k} | (x if isinstance(x, dict) else {"value": x}) for k, x in each]
    with file.reading():
        if isinstance(found, list) and found:
            return of_frame(pd.json_normalize(found), file.path, file=file)
        lists = sorted(_lists_in(whole), reverse=True)[:COLUMNS]
    if not lists:
        raise file.error("it holds no list of records")
    columns = [(i, *one[1:]) for i, one in enumerate(lists, 1)]
    problem = f"say where the records are (records). {printable(file.path)} has lists in"
    raise ReadError(problem, {printable(file.path): columns}, {"records": lists[0][1]})


def _lists_in(value: Any, path: str = "") -> Iterator[tuple[int, str, str, str]]:
    """Length, path and fields of each list of records, or object of records."""
    keyed = isinstance(value, dict)
    inside = list(value.values()) if keyed else value if isinstance(value, list) else []
    kinds = {*map(type, inside)}
    if len(inside) > 1 and (kinds == {dict} or (keyed and kinds <= {str, bool})):
        fields = ["key"] * keyed + (list(inside[0]) if kinds == {dict} else ["value"])
        yield len(inside), path or ".", f"{len(inside):,} records", some(fields, 8)
        return
    for key in value if keyed else ():
        yield from _lists_in(value[key], f"{path}.{key}".strip("."))
