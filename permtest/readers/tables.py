"""Tables of whatever source, text, JSON, workbooks, Arrow files, arrays, frames, as columns."""

from __future__ import annotations

import csv
import json
import os
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from io import BytesIO, StringIO
from itertools import islice
from typing import Any

import numpy as np

from permtest._checks import optional
from permtest.integers import in_common_units
from permtest.readers.files import (
    PER_VALUE,
    File,
    ReadError,
    check_memory,
    is_number,
    kind_of,
    printable,
    reading,
    shown,
    text_of,
    text_size,
)

#: What may stand between two cells; runs of blanks count where none of these splits a line.
SEPARATORS, BLANKS = ("\t", ";", ",", "|"), " "

#: Columns, and objects of JSON in each other, at most.
MOST_COLUMNS, DEPTH = 10_000, 8

#: What the place of a cell, a member of an archive, and a byte of a workbook need in memory, in
#: bytes.
PER_CELL, PER_MEMBER, PER_BYTE = 8, 1000, 5

#: Floats of fewer digits than Python's, as pandas and Arrow call them, and as NumPy does.
NARROW = {"float16": "f2", "halffloat[pyarrow]": "f2", "float32": "f4", "float[pyarrow]": "f4"}

COMMENT = (
    "a comment; remove the lines that begin with #, or the # of the one that holds the names of "
    "the columns"
)
RECORDS = (
    "write a list of objects, or an object a line, each of one item: in pandas "
    "frame.to_json(path, orient='records')"
)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of cells, all of one length, at least one.

    A cell is text as it is written, a number, a bool, what JSON has, or None where there is
    nothing. Columns without a name are called ""; without a header, `names` is None. The `index` is
    the columns that index a data frame; `place` is what messages call a row, counted from 0; `mark`
    is what separates the cells of text.
    """

    file: File
    names: list[str] | None
    columns: list[list[Any]]
    index: tuple[int, ...] = ()
    place: Callable[[int], str] = "row {}".format
    mark: str = ""

    def __post_init__(self) -> None:
        if not self.columns or not self.columns[0]:
            raise self.error("has no rows or no columns; write a row for each item")
        if len(self.columns) > MOST_COLUMNS:
            problem = f"has {len(self.columns)} columns, more than {MOST_COLUMNS}"
            raise self.error(f"{problem}; keep those of the scores")
        for name, count in Counter(self.names).items():
            if name and count > 1:
                raise self.error(f"{count} columns are called {shown(name)}; rename all but one")

    def label(self, column: int) -> str:
        """How messages call a column, counted from 0."""
        name = self.names[column] if self.names else ""
        return f"column {name!r}" if name else f"column {column + 1}"

    def error(
        self, problem: str, row: int | None = None, column: int | None = None, settle: str = ""
    ) -> ReadError:
        """The error of a row, or of a column, or of both, counted from 0."""
        where = None if row is None else self.place(row)
        what = None if column is None else self.label(column)
        return ReadError.at(self.file.path, problem, where, what, settle=settle)


def load(source: Any, number: int = 1) -> File:
    """Open a path ("results.xlsx#dev", "-"), a buffer, or cells, which `number` names."""
    if isinstance(source, File):
        return source
    if isinstance(source, str | os.PathLike):
        return File.load(source)
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return File.of_buffer(name if isinstance(name, str) else f"buffer {number}", source)
    if isinstance(source, list | tuple | dict):
        path = f"records {number}"
        with reading(path, "cannot be written as JSON", "pass dicts with names of columns"):
            data = json.dumps(
                source, default=lambda x: [*map(str, x)] if getattr(x, "ndim", 0) else str(x)
            )
            return File(path, data.encode(errors="replace"))
    path = f"{'array' if isinstance(source, np.ndarray) else 'frame'} {number}"
    remedy = "pass a path, an open file, a frame, an Arrow table, records, columns, or an array "
    with reading(path, "cannot be made a table", f"{remedy}of (items,) or (items, systems)"):
        return File(path, b"", _of_frame(path, source))


def table_of(file: File) -> Table:
    """The cells of a file, as text where they are text, and as numbers where they are typed."""
    if file.table is not None:
        return Table(file, *file.table)
    for magic, read in _BINARY.items():
        if file.data.startswith(magic):
            if isinstance(read, str):
                raise ReadError.at(file.path, read)
            return read(file)
    return _of_json(file) if file.is_json else _of_text(file)


# ---- text ----------------------------------------------------------------------------------------


def _of_text(file: File) -> Table:
    """A line of text is a row; or several are, where a quoted cell holds line breaks."""
    check_memory(file.path, needed := text_size(file.data, 3))
    text = file.text.replace("\r\n", "\n").replace("\r", "\n").rstrip(" \n")
    if not text:
        raise ReadError.at(file.path, "the file is empty; write the scores of an item on each line")
    said = re.match(r'(")?sep=(.)(?(1)")[,;\t]*\n', text, re.IGNORECASE)  # as spreadsheets say it
    text, above = (text[said.end() :], 1) if said else (text, 0)
    mark = said[2] if said else _separator(text)
    check_memory(file.path, needed + PER_VALUE * (text.count(mark) + text.count("\n")))
    rows: list[list[str]] = []
    starts, reader = [above + 1], _reader(text, mark)
    try:
        for row in reader:
            rows.append(row)
            starts.append(above + reader.line_num + 1)
    except csv.Error as error:
        problem = f"not CSV ({error}); close every quote, and double the quotes inside a cell"
        raise ReadError.at(file.path, problem, f"line {starts[-1]}") from None
    for start, row in zip(starts, rows, strict=False):
        if len(row) != (width := len(rows[0])) or not row:
            if "".join(rows[0][:1]).strip().startswith("#"):
                raise ReadError.at(file.path, COMMENT, "line 1")
            many = f"{len(row)} column{'s' * (len(row) > 1)}, but line {starts[0]} has {width}"
            problem = (
                f"{many if any(row) else 'a blank line'}; write the missing item there, remove "
            )
            problem += "the line, or quote cells with the separator"
            raise ReadError.at(file.path, problem, f"line {start}")
    columns = [list(map(str.strip, column)) for column in zip(*rows, strict=True)]
    place = "line {}".format
    return _with_header(Table(file, None, columns, (), lambda row: place(starts[row]), mark))


def _separator(text: str) -> str:
    """What cuts the first rows into as many cells each, or at least the first into several."""
    widths: dict[str, list[int]] = {mark: [] for mark in SEPARATORS}
    for mark, found in widths.items():
        with suppress(csv.Error):
            found.extend(map(len, islice(_reader(text, mark), 100)))
    several = [mark for mark, found in widths.items() if found and found[0] > 1]
    even = [mark for mark in several if len(set(widths[mark])) == 1]
    return (even or several or [BLANKS])[0]


def _reader(text: str, mark: str) -> Any:
    """The rows of cells; it knows on which line it is."""
    lines: Iterable[str] = StringIO(text)
    if mark == BLANKS:
        lines = (f"{BLANKS.join(line.split())}\n" for line in lines)
    return csv.reader(lines, delimiter=mark, strict=True, skipinitialspace=True)


def _with_header(table: Table) -> Table:
    """The table below its first row, if that holds names: text, and no number among it.

    Lines of empty cells alone at the end, which spreadsheets write, are no rows.
    """
    while len(table.columns) > 1 < len(table.columns[0]) and not any(
        text_of(column[-1]) for column in table.columns
    ):
        for column in table.columns:
            del column[-1]
    first = [text_of(column[0]) for column in table.columns]
    text = [cell for cell in first if kind_of(cell) == "text"]
    numbers = [cell for cell in first if is_number(cell)]
    if first[0].startswith("#"):
        raise table.error(COMMENT, 0)
    if not text:
        return table
    if numbers:
        problem = f"text ({shown(text[0])}) and numbers ({shown(numbers[0])}) on the first line; "
        raise table.error(f"{problem}put a line with names of columns above it", 0)
    if len(table.columns[0]) == 1:
        raise table.error("has a header but no scores below it; add them")
    for column in table.columns:
        del column[0]
    return replace(table, names=list(map(printable, first)), place=lambda i: table.place(i + 1))


# ---- JSON ----------------------------------------------------------------------------------------


def _of_json(file: File) -> Table:
    """Objects or lists, one for each item; or one document that holds all of them."""
    found = list(file.documents())
    rows, names = [document for _, document in found], None
    if len(rows) > 1:
        return _of_rows(file, rows, None, lambda i: f"line {found[i][0]}")
    if isinstance(rows := rows[0], dict):
        rows, names = _in_object(file, rows)
    return _of_rows(file, rows, names, lambda i: f"record {i + 1}")


def _in_object(file: File, document: dict[str, Any]) -> tuple[list[Any], list[str] | None]:
    """The rows in one object: below names, or in its only list of objects, or across its lists."""
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    names, rows = lists.get("columns"), lists.get("data")
    if names and rows and isinstance(rows[0], list):
        index, called = lists.get("index", []), [printable(text_of(name)) for name in names]
        if len(index) == len(rows) and index != list(range(len(rows))):  # of pandas
            return [[name, *row] for name, row in zip(index, rows, strict=True)], ["index", *called]
        return rows, called
    objects = [value for value in lists.values() if value and isinstance(value[0], dict)]
    if len(objects) == 1:
        return objects[0], None
    if objects or len({len(value) for value in lists.values()}) != 1:
        said = ", ".join(f"{shown(name)} {len(value)}" for name, value in [*lists.items()][:10])
        alike = "there are several lists of records" if objects else ""
        alike = alike or "its columns are not lists of the same length"
        problem = f"one object, but {alike} ({said or 'none'})"
        raise ReadError.at(file.path, f"{problem}; {RECORDS}")
    same = {name: value for name, value in document.items() if not isinstance(value, list | dict)}
    across = zip(*lists.values(), strict=True)
    return [dict(zip(lists, row, strict=True)) | same for row in across], None


def _of_rows(
    file: File, rows: list[Any], names: list[str] | None, place: Callable[[int], str]
) -> Table:
    """Objects as rows with names; or lists of one length, or single values, as rows without."""
    if not rows:
        raise ReadError.at(file.path, "holds no record; write a record for each item")
    listed = [row if isinstance(row, list | dict) else [row] for row in rows]
    kinds = [-1 if isinstance(row, dict) else len(row) for row in listed]
    wanted = len(names) if names else kinds[0]
    for i, kind in enumerate(kinds):
        if kind != wanted:
            problem = f"{shown(text_of(rows[i]))} is not of the same kind as the first; {RECORDS}"
            raise ReadError.at(file.path, problem, place(i))
    if wanted < 0:
        return Table(file, *_flat(file.path, listed), place=place)
    return Table(file, names, [_cells(column) for column in zip(*listed, strict=True)], place=place)


def _flat(path: str, records: Sequence[Any]) -> tuple[list[str], list[list[Any]]]:
    """Columns of all values in objects, their names those of the keys with dots between."""
    columns: dict[str, list[Any]] = {}

    def leaves(value: dict[str, Any], start: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
        for key, inner in value.items():
            if isinstance(inner, dict) and depth < DEPTH:
                yield from leaves(inner, f"{start}{key}.", depth + 1)
            else:
                yield start + key, inner

    for row, record in enumerate(records):
        for name, value in leaves(record):
            if name not in columns:
                needed = PER_CELL * len(records) + 4 * len(name)
                check_memory(path, needed * (len(columns) + 1))
                columns[name] = [None] * len(records)
            columns[name][row] = _cell(value)
    return list(map(printable, columns)), list(columns.values())


# ---- what has types ------------------------------------------------------------------------------

_PLAIN = {int, bool, type(None), Fraction, list, dict}


def _cell(value: Any) -> Any:
    """A value of JSON or of a library as a cell."""
    if isinstance(value, str):
        return value.strip()
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.floating):
        value = float(str(value))  # the shortest number that prints as it
    if isinstance(value, float | Decimal):
        return None if value != value else value
    if hasattr(value, "tolist"):
        return value.tolist()
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


def _cells(values: Sequence[Any]) -> list[Any]:
    return list(values if {*map(type, values)} <= _PLAIN else map(_cell, values))


def _column(column: Any) -> list[Any]:
    if column.dtype == "category":  # repetitions share one text
        known = [*_cells(column.cat.categories.tolist()), None]
        return [known[code] for code in column.cat.codes]
    kind = NARROW.get(str(column.dtype).lower())
    if kind is None:
        return _cells(column.tolist())
    narrow = column.to_numpy(dtype=kind, na_value=np.nan)
    found = np.array([float(str(number)) for number in narrow])
    finite = np.isfinite(narrow)
    units = in_common_units([narrow[finite]], ["scores"])
    if not units.rounding:  # thirds, such as no decimal of so few digits is
        found[finite] = units.columns[0] / units.scale
    return _cells(found.tolist())


def _of_frame(path: str, frame: Any) -> tuple[Any, ...]:
    """The names and the columns of whatever has columns, its index first, and where that is."""
    import pandas

    if hasattr(frame, "to_frame"):  # a series
        frame = frame.to_frame()
    if hasattr(frame, "get_columns"):  # of polars, which needs no Arrow
        floats = {one.name: one.to_numpy() for one in frame if one.dtype.is_float()}
        objects = {x.name: pandas.Series(x.to_list(), dtype=object) for x in frame}
        frame = pandas.DataFrame(objects | floats)
    if hasattr(frame, "to_pandas"):  # of Arrow; texts in dictionaries are in memory once
        check_memory(path, 2 * frame.nbytes)
        frame = frame.to_pandas(
            types_mapper=lambda kind: None if "dictionary" in str(kind) else pandas.ArrowDtype(kind)
        )
    bare, levels = isinstance(frame, np.ndarray) and not frame.dtype.names, 0
    frame = pandas.DataFrame(frame)
    check_memory(path, PER_VALUE * frame.size)
    if any(frame.index.names) and set(frame.index.names) <= set(frame.columns):
        frame = frame.reset_index(drop=True)
    if frame.index.name is not None or not frame.index.equals(pandas.RangeIndex(len(frame))):
        levels = frame.index.nlevels
        known = enumerate(frame.index.names)
        index = [f"level {i}" if levels > 1 and x is None else x or "index" for i, x in known]
        frame = frame.reset_index(names=index)
    several = [name if isinstance(name, tuple) else (name,) for name in frame.columns]
    names = [printable("_".join(str(x) for x in parts if x != "")) for parts in several]
    columns = [_column(frame.iloc[:, i]) for i in range(len(names))]
    if any(isinstance(cell, dict) for column in columns for cell in column):
        rows = zip(*columns, strict=True)
        names, columns = _flat(path, [dict(zip(names, row, strict=True)) for row in rows])
    return None if bare else names, columns, tuple(range(levels))


# ---- files that are no text ----------------------------------------------------------------------


def _of_arrow(file: File) -> Table:
    name = "parquet" if file.data.startswith(b"PAR1") else "feather"
    arrow = optional(f"pyarrow.{name}", needed_by=f"{file.path}, a {name} file,", extra="many")
    with reading(file.path, f"is a damaged {name} file"):
        if name == "feather":
            table = arrow.read_table(BytesIO(file.data))
        else:
            opened = arrow.ParquetFile(BytesIO(file.data))
            about, names = opened.metadata, opened.schema_arrow.names
            size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            check_memory(file.path, size + PER_VALUE * about.num_rows * about.num_columns)
            # Of a text that is repeated, so that it takes its room once; other columns ignore it.
            table = arrow.read_table(BytesIO(file.data), read_dictionary=names)
        table.validate(full=True)  # what is invalid may end the process
        return Table(file, *_of_frame(file.path, table))


def _of_numpy(file: File) -> Table:
    import pandas

    problem = "is damaged, no table, or holds Python objects, which could run code"
    with reading(file.path, problem, "save one array, or columns of one length"):
        found = np.load(BytesIO(file.data), allow_pickle=False)
        if not isinstance(found, np.ndarray):
            arrays = {name: found[name] for name in found.files}
            found = pandas.DataFrame(arrays) if len(arrays) > 1 else arrays.popitem()[1]
        return Table(file, *_of_frame(file.path, found))


def _of_archive(file: File) -> Table:
    """A workbook, or arrays, or what must be unpacked first."""
    check_memory(file.path, PER_MEMBER * file.data.count(b"PK\x01\x02"))
    with reading(file.path, "is a damaged archive"), zipfile.ZipFile(BytesIO(file.data)) as archive:
        sizes = {member.filename: member.file_size for member in archive.infolist()}
    if "xl/workbook.xml" in sizes:
        check_memory(file.path, PER_BYTE * sum(sizes.values()))
        return _of_workbook(file)
    if sizes and all(name.endswith(".npy") for name in sizes):
        check_memory(file.path, sum(sizes.values()))
        return _of_numpy(file)
    problem = f"an archive of {len(sizes)} files and not a workbook; unpack it and name one file"
    raise ReadError.at(file.path, problem)


def _of_workbook(file: File) -> Table:
    """The sheet that the path names, or the only one that is not empty."""
    optional("openpyxl", needed_by=f"{file.path}, a workbook,", extra="excel")
    import pandas

    plain: dict[str, Any] = {"header": None, "dtype": object, "na_filter": False}
    with reading(file.path, "is a damaged workbook"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it does not read, such as pictures
        found = pandas.read_excel(BytesIO(file.data), sheet_name=None, engine="openpyxl", **plain)
    wanted = {x: one for x, one in found.items() if file.sheet in (None, x) and one.size}
    if len(wanted) != 1:
        said, start = ", ".join(map(shown, [*found][:20])), file.path.removesuffix(f"#{file.sheet}")
        end = f"{start}#{next(iter(found))}"
        problem = f"has the sheets {said}; name one that is not empty behind a #, as {end}"
        raise ReadError.at(file.path, problem)
    ((title, sheet),) = wanted.items()
    columns = [_cells(sheet[i].tolist()) for i in sheet]
    place = "row {} of sheet {}".format
    table = Table(file, None, columns, place=lambda i: place(i + 1, shown(title)))
    if len(columns) == 1 and "" in columns[0]:
        problem = "is blank; remove it, or write the missing item there"
        raise table.error(problem, columns[0].index(""))
    return _with_header(table)


_PICKLE = "is a pickle, which could run code when it is read; save the table as CSV or parquet"

#: What files begin with that are no text, and what reads them, or why nothing does.
_BINARY: dict[bytes, Callable[[File], Table] | str] = {
    b"PAR1": _of_arrow,
    b"ARROW1": _of_arrow,
    b"\x93NUMPY": _of_numpy,
    **dict.fromkeys((b"PK\x03\x04", b"PK\x05\x06"), _of_archive),
    b"\xd0\xcf\x11\xe0": "is a workbook in the old format; save it as .xlsx or CSV",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), _PICKLE),
}
