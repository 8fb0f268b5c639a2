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
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path, PurePath
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from permtest._errors import optional

if TYPE_CHECKING:
    import pandas as pd

#: The most bytes of a file, unpacked, and the most cells of a table; about 2 GB of memory.
MOST_BYTES, MOST_CELLS = 2**28, 2 * 10**7
TOO_LARGE = f"it is too large: at most {MOST_BYTES // 2**20} MB, unpacked, and {MOST_CELLS:,} cells"

#: What messages call a table that is in memory.
FRAME = "frame"

#: A number by the mark of its decimals, and what logical values are written as.
_DIGITS, _POWER = r"[+-]?(\d{1,300}%s?\d{0,300}|%s\d{1,300})", r"([eE][+-]?\d{1,3})?"
NUMBER = {x: re.compile(_DIGITS.replace("%s", f"[{x}]") + _POWER, re.ASCII) for x in ".,"}
TRUTH = {"true": "1", "false": "0"}

#: Letters of a number that may have been printed from a float64.
DIGITS = 20

#: Letters of a text that are shown, columns of a file, and values by which their kinds are told.
LETTERS, COLUMNS, SAMPLE = 40, 30, 10_000

#: How archives and workbooks begin, and compressed files; a way to compress members of archives.
ZIP, GZIP, ZSTANDARD = b"PK\x03\x04", b"\x1f\x8b", 93
#: How files of tables with types begin, and what opens them.
TYPED = {b"PAR1": "read_parquet", b"ARROW1": "read_feather"}

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
        Keyword arguments of `permtest.read` that would read these files, with "paths".
    many : bool
        Whether they are for `permtest.read_many`.

    Examples
    --------
    >>> from permtest import read
    >>> try:
    ...     read(File("marks.csv", b"student,before,after\n17,2.3,2.0\n4,3.7,2.3\n"))
    ... except ReadError as error:
    ...     print(error.proposal)
    {'paths': ['marks.csv'], 'id': 'student', 'a': 'before', 'b': 'after'}
    """

    def __init__(
        self,
        problem: str,
        columns: Columns | None = None,
        proposal: Mapping[str, Any] | None = None,
        many: bool = False,
    ) -> None:
        super().__init__(problem, columns, proposal, many)  # all of it, so that it can be pickled
        self.problem, self.columns, self.proposal = problem, columns or {}, proposal
        self.many = many

    def __str__(self) -> str:
        given = dict(self.proposal or {})
        parts = [x if x == FRAME else repr(x) for x in given.pop("paths", ())]
        parts += [f"{key}={value!r}" for key, value in given.items()]
        return self._with(f"pt.read{'_many' * self.many}({', '.join(parts)})")

    def on_command_line(self, command: str = "permtest compare") -> str:
        """The same with a command in place of a call."""
        given, words = dict(self.proposal or {}), [command]
        words += [quote(x) for x in given.pop("paths", ())]
        for key, value in given.items():
            name = f"--{'metric' if key == 'statistic' else key.replace('_', '-')}"
            if key == "higher_is_better":
                words.append("--higher-is-better" if value else "--lower-is-better")
                continue
            for one in [",".join(listed(value))] if key == "systems" else map(str, listed(value)):
                words.append(f"{name}{'=' if one[:1] == '-' else ' '}{quote(one)}")
        return self._with(" ".join(words))

    def _with(self, example: str) -> str:
        lines = [self.problem + ":" * bool(self.columns)]
        for name, columns in self.columns.items():
            lines += [f"{name}:"] * (len(self.columns) > 1)
            widths = [max(len(str(x[i])) for x in columns) for i in range(3)]
            for one in columns[:COLUMNS]:
                cells = (f"{text!s:<{width}}" for text, width in zip(one, widths, strict=False))
                lines.append(f"  {'  '.join(cells)}  {one[-1]}".rstrip())
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


# ---- files ---------------------------------------------------------------------------------------


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
        """Read a path, "-" for standard input, or a buffer; what is in memory stays as it is."""
        stream = sys.stdin.buffer if isinstance(source, str) and source == "-" else source
        if isinstance(stream, str | PurePath):
            with Path(stream).open("rb") as file:
                source = cls(str(source), file.read(MOST_BYTES + 1))
        elif callable(getattr(stream, "read", None)):
            data = stream.read(MOST_BYTES + 1)
            name = source if source == "-" else getattr(stream, "name", "buffer")
            source = cls(str(name), data.encode() if isinstance(data, str) else data)
        if not isinstance(source, File):
            return source
        names = source.members()
        if len(names) == 1:
            return source.member(names[0])
        return source._part(gzip.open) if source.data.startswith(GZIP) else source

    def members(self) -> list[str]:
        """The names of the files in an archive, or in a workbook, which is one; none of others."""
        if not self.data.startswith(ZIP):
            return []
        with self.reading():
            return [x for x in zipfile.ZipFile(BytesIO(self.data)).namelist() if x[-1:] != "/"]

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

    @property
    def binary(self) -> bool:
        """Whether it is a workbook, another archive, or a table with types."""
        return self.data.startswith((ZIP, *TYPED))

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


# ---- tables --------------------------------------------------------------------------------------


class Facts(NamedTuple):
    """What the cells of a column are like."""

    numbers: bool  # all that are not empty, and some are not
    whole: bool
    distinct: int
    even: bool  # each value as often as the others
    counts: str  # "1 to 36", where it counts


@dataclass(frozen=True, eq=False)
class Table:
    """A table of texts, "" where there is none.

    `known` holds what the format of a tool declares: the columns "id", "run" and "system", the
    list of the "scores", and those columns that must "agree" between systems.
    """

    path: str
    frame: pd.DataFrame
    header: bool = True
    decimal: str = "."
    first: str = "row 1"  # where the first row stands
    known: Mapping[str, Any] = field(default_factory=dict)
    called: str = ""  # the system, where the file says it
    file: File | None = None

    def __post_init__(self) -> None:
        for name in self.frame.columns[self.frame.columns.duplicated()][:1]:
            where = printable(self.path)
            raise ReadError(f"{where}: two columns are called {shown(name)}; rename one")
        if self.frame.size > MOST_CELLS:
            raise ReadError(f"{printable(self.path)}: {TOO_LARGE}")

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns; numbers from 1 where there is no header."""
        return list(self.frame)

    def named(self, wanted: Any) -> str:
        """The name of a column that may be declared by its number."""
        text = str(wanted)
        number = int(text) if text.isdecimal() and text not in self.names else 0
        return self.names[number - 1] if 0 < number <= len(self.names) else text

    def column(self, wanted: Any, option: str) -> str:
        """The name of a column that is declared; ReadError if there is none."""
        if (name := self.named(wanted)) in self.names:
            return name
        problem = f"{option} {printable(name, LETTERS)}: no such column in {printable(self.path)}"
        raise ReadError(problem, columns_of([self]))

    def error(self, row: int, problem: str, column: str = "") -> ReadError:
        """An error that names the line, and the column."""
        where = f", column {printable(column, LETTERS)}" if column else ""
        return ReadError(f"{printable(self.path)}, {self.place(row)}{where}: {problem}")

    def place(self, row: int) -> str:
        """Where a row stands in the file."""
        kind, first = self.first.split()
        return f"{kind} {row + int(first)}"

    def number(self, cell: str) -> str | None:
        """A number with a decimal point; None if a cell is no number, nor empty."""
        good = not cell or NUMBER[self.decimal].fullmatch(cell)
        return cell.replace(",", ".") if good else TRUTH.get(cell.lower())

    def numbers(self, name: str) -> Any:
        """The cells of a column as numbers, or texts that are; ReadError at the first other one."""
        import pandas as pd

        codes, texts = pd.factorize(self.frame[name])
        found = np.array([*map(self.number, texts), ""], dtype=object)[:-1]
        for i in np.flatnonzero([x is None for x in found])[:1]:
            problem = f"{shown(texts[i])} is no number"
            problem += " beside decimal commas" * (self.decimal == "," and "." in texts[i])
            problem += "; empty the cell if the score is missing, or remove a line that is no item"
            raise self.error(int((codes == i).argmax()), problem, name)
        if all(len(x) <= DIGITS or x == repr(float(x)) for x in found):
            floats = pd.to_numeric(found)
            if np.nanmax(np.abs(floats), initial=0) < 2**53:
                found = floats  # which stand for the decimals that they are printed as
        return found[codes]

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """What the cells of each column are like; of long ones, the first values say the kind."""
        found = {}
        for name in self.names:
            often = self.frame[name].mask(self.frame[name] == "").value_counts()
            head = [self.number(x) for x in often.index[:SAMPLE]]
            numbers, even, size = bool(head) and None not in head, often.nunique() == 1, often.size
            values = [float(x or 0) for x in head] if numbers else [0.5]
            whole, low, high = not any(x % 1 for x in values), min(values), max(values)
            counts = whole and even and 2 < size <= SAMPLE and low in (0, 1)
            text = f"{low:g} to {high:g}" if counts and high - low == size - 1 else ""
            found[name] = Facts(numbers, whole, size, even, text)
        return found


def columns_of(tables: Sequence[Table]) -> Columns:
    """What a person sees of the columns of tables; once where they are called alike."""
    found: dict[str, Any] = {}
    for table in tables[:1] if all(x.names == tables[0].names for x in tables) else tables:
        rows = found[printable(table.path)] = []
        for i, (name, facts) in enumerate(table.facts.items(), 1):
            cells = [x for x in table.frame[name].head(50).unique() if x]
            texts = ", ".join(printable(x, 20) for x in cells[:3]) + " ..." * (len(cells) > 3)
            kind = "numbers" if facts.numbers else f"text, {facts.distinct:,} different"
            about = f"counts {facts.counts}" if facts.counts else kind
            rows.append((i, printable(name, LETTERS), texts, about if cells else "empty"))
    return found


def of_frame(frame: Any, path: str = FRAME, **fields: Any) -> Table:
    """The table of a data frame, records or columns; its index is a column if it says anything."""
    import pandas as pd

    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else pd.DataFrame(frame)
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        frame = frame.reset_index(names=["index" if x is None else x for x in frame.index.names])
    header = not isinstance(frame.columns, pd.RangeIndex)
    cells = frame.astype(object).mask(frame.isna(), "").map(_text).astype(object)
    cells.columns = pd.Index([printable(x) if header else str(x + 1) for x in frame], dtype=object)
    return Table(path, cells, header, **fields)


def _text(cell: Any) -> str:
    return json.dumps(cell) if isinstance(cell, dict | list) else str(cell).strip()


def table_of(file: File, records: str | None = None) -> Table:
    """The table in a file of any kind."""
    import pandas as pd

    if records is not None and (file.binary or file.text.lstrip()[:1] not in ("{", "[")):
        raise file.error("it is no JSON, and only JSON has a path of records")
    if not file.binary:
        return _of_json(file, records) if file.text.lstrip()[:1] in ("{", "[") else _of_lines(file)
    with file.reading():
        for method in [y for x, y in TYPED.items() if file.data.startswith(x)]:
            return of_frame(getattr(pd, method)(BytesIO(file.data)), file.path, file=file)
        if sum(x.file_size for x in zipfile.ZipFile(BytesIO(file.data)).infolist()) > MOST_BYTES:
            raise file.error(TOO_LARGE)
        how: dict[str, Any] = {"header": None, "dtype": object, "na_filter": False}
        sheets = pd.read_excel(BytesIO(file.data), sheet_name=None, **how)
        names = [x for x, frame in sheets.items() if frame.size]
        if len(names) != 1:
            problem = f"it has {len(names)} sheets with cells: {some(names)}"
            raise file.error(f"{problem}; keep one, or save that as CSV")
        return _headed(sheets[names[0]].map(_text).astype(object), file)


def _of_lines(file: File) -> Table:
    """The table in a text whose cells are separated by tabs, semicolons, commas or blanks."""
    import pandas as pd

    lines = file.text[: 10**6].splitlines()[:2]
    if not lines or not lines[0].strip():
        raise file.error("line 1 is empty")
    with file.reading():
        separator, first, width = _separator(lines)
        if (file.text.count("\n") + file.text.count("\r")) * width > MOST_CELLS:
            raise file.error(TOO_LARGE)
        how: dict[str, Any] = {"sep": separator, "skipinitialspace": separator != "\t"}
        how |= {"dtype": object, "na_filter": False, "skip_blank_lines": False, "header": None}
        frame = pd.read_csv(StringIO(file.text), names=range(width), **how)
    if width == first + 1:  # as R writes row names, which have no name
        frame.iloc[0] = ["row", *frame.iloc[0, :-1]]
    if re.search(r"[ \t]+(\n|\r|[,;\t])", file.text):
        frame = frame.apply(lambda cells: cells.str.strip()).astype(object)
    comma = separator == ";" and re.search(r"(^|;)\s*[+-]?\d*,\d+\s*(;|$)", file.text, re.MULTILINE)
    kind = "row" if len(frame) < file.text.count("\n") else "line"  # cells have line breaks
    return _headed(frame, file, decimal="," if comma else ".", kind=kind)


def _separator(lines: Sequence[str]) -> tuple[str, int, int]:
    """What separates cells, and how many cells the first line has, and the second at least."""
    for separator in ("\t", ";", ",", " "):
        lines = [" ".join(x.split()) for x in lines] if separator == " " else lines
        first, *_, second = (len(x) for x in csv.reader([*lines, *lines[-1:]], delimiter=separator))
        if max(first, second) > 1 and second - first in (0, 1):
            return r"\s+" if separator == " " else separator, first, second
    width = len(lines[0].split(","))
    return ",", width, width


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
        both = [shown(cells[numbers.index(x)]) for x in (True, False)]
        problem = f"is line 1 a header? {both[0]} is a number and {both[1]} is none; add a line of "
        raise file.error(f"{problem}names above it, or rename the column")
    frame = frame.iloc[int(header) :].reset_index(drop=True)
    if not len(frame):
        raise file.error("it has a header and no lines")
    frame.columns = [printable(x) if header and x else str(i) for i, x in enumerate(cells, 1)]
    return Table(file.path, frame, header, decimal, f"{kind} {1 + header}", file=file)


# ---- JSON ----------------------------------------------------------------------------------------


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError(f"an object has a key twice, of {some([*found])}")
    return found


def documents(file: File) -> Iterator[Any]:
    """The document that a file is; or those of JSON lines, one after the other."""
    lines = [x for x in file.text.split("\n") if x.strip()]
    try:
        json.loads(lines[0])
    except (ValueError, RecursionError):
        lines = [file.text]
    return (parsed(file, x) for x in lines)


def parsed(file: File, text: str) -> Any:
    """A document of JSON, in which numbers stay the text that they are."""
    if text.count(",") + text.count("[") + text.count("{") > MOST_CELLS:
        raise file.error(TOO_LARGE)
    how: dict[str, Any] = {"parse_float": str, "parse_int": str, "object_pairs_hook": _once}
    with file.reading():
        return json.loads(text, parse_constant=lambda _: None, **how)


def _of_json(file: File, records: str | None) -> Table:
    """The table of JSON lines, of a list of records, or of what `records` names."""
    import pandas as pd

    lines = list(documents(file))
    found = whole = lines if len(lines) > 1 else lines[0]
    for key in () if records in (None, ".") else str(records).split("."):
        inside = found if isinstance(found, dict) else dict(enumerate(listed(found)))
        found = {str(i): x for i, x in inside.items()}.get(key)
    if records is not None and isinstance(found, dict):
        pairs = ((k, x if isinstance(x, dict) else {"value": x}) for k, x in found.items())
        found = [{"key": k} | x for k, x in pairs]
    if isinstance(found, list) and found:
        with file.reading():
            return of_frame(pd.json_normalize(found), file.path, file=file)
    with file.reading():
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
