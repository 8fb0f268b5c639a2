"""Lines of cells, and the columns that they make."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from permtest.readers.cells import (
    TwiceCell,
    as_score,
    is_number,
    kind_of,
    printable,
    shown,
    twice,
)
from permtest.readers.files import PER_VALUE, File, ReadError, check_memory, text_size
from permtest.readers.headers import ID_NAMES, column_of
from permtest.readers.names import did_you_mean, listed, place_of

#: A column: its name, or its number counted from 1.
Column: TypeAlias = "str | int"

#: The columns of a system: one, the name that several begin with, or a list.
Columns: TypeAlias = "Column | Sequence[Column]"

#: What may stand between two cells; runs of blanks count where none of these splits a line.
SEPARATORS = ("\t", ";", ",")
BLANKS = " "

#: What may surround a cell.
WHITE = re.compile(r"[^\S\r\n]")

#: Columns, at most.
MOST_COLUMNS = 10_000

#: How many records are looked at to see what a column holds.
SOME = 1000

#: What is said of an id that is missing.
NAMELESS = "an item without a name; give each its own"


class Record(NamedTuple):
    """The cells of one item, and the line on which they begin."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class Table:
    """A file cut into cells.

    Parameters
    ----------
    file : File
    separator : str
    header : list of str, or None
        Names of the columns; "" where one has none.
    rows : list of Record
        All of one width, at least one.
    kind : str
        The name of the format.
    unit : str
        What the numbers of records count, in messages.
    key : int or None
        The column, counted from 0, of what the items are called, where its name does not say so.
    """

    file: File
    separator: str
    header: list[str] | None
    rows: list[Record]
    kind: str = "table"
    unit: str = "line"
    key: int | None = None

    @classmethod
    def of(cls, file: File) -> Table:
        """Cut `file` into cells; ReadError where it is no table."""
        cells = sum(file.data.count(mark) for mark in (b"\n", b"\t", b";", b",", b" "))
        check_memory(file.path, PER_VALUE * cells + text_size(file.data, 3))
        separator, records = _cut(file)
        _check_shape(file, records)
        header = _header(file, records[0])
        rows = records if header is None else records[1:]
        if not rows:
            raise ReadError.at(file.path, "has a header but no scores below it; add them")
        return cls(file, separator, header, rows)

    def __post_init__(self) -> None:
        if self.width > MOST_COLUMNS:
            problem = (
                f"has {self.width} columns, more than {MOST_COLUMNS}; keep those of the scores"
            )
            raise ReadError.at(self.file.path, problem)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0].cells)

    @cached_property
    def ids(self) -> int | None:
        """The column, counted from 0, of what the items are called; None if none says so."""
        return column_of(self.header, ID_NAMES) if self.key is None else self.key

    @cached_property
    def numeric(self) -> list[int]:
        """The columns that hold numbers, perhaps with holes, as far as the first lines tell."""
        some = self.rows[:SOME]

        def holds_numbers(column: int) -> bool:
            cells = {row.cells[column] for row in some}
            kinds = {kind_of(x.first if isinstance(x, TwiceCell) else x) for x in cells}
            return "text" not in kinds and kinds != {"missing"}

        return [column for column in range(self.width) if holds_numbers(column)]

    def besides(self, apart: Iterable[int | None]) -> list[int]:
        """All columns but some, counted from 0."""
        left_out = set(apart)
        return [column for column in range(self.width) if column not in left_out]

    @cached_property
    def names_of_items(self) -> tuple[str, ...] | None:
        """What the items are called; ReadError if two have one name, or one has none."""
        if self.ids is None:
            return None
        names = self.labels(self.ids + 1, NAMELESS)
        first: dict[str, Record] = {}
        for row, name in zip(self.rows, names, strict=True):
            if first.setdefault(name, row) is not row:
                problem = (
                    f"{shown(name)} is on {self.place(first[name])}, too; a line is one item: "
                    "remove one of them, or call the column something else if it holds no ids"
                )
                (key,) = self.keys([self.ids])
                problem += f", or name what items are repeated by: clusters (--clusters {key})"
                raise self.error(problem, row, self.ids)
        return tuple(names)

    def place(self, row: Record) -> str:
        """Where a record is, for messages."""
        return f"{self.unit} {row.line}"

    def error(
        self, problem: str, row: Record | None = None, column: int | None = None
    ) -> ReadError:
        """The error of a record, or of a column, or of both."""
        places = [] if row is None else [self.place(row)]
        places += [] if column is None else [self.label(column)]
        return ReadError.at(self.file.path, problem, column=", ".join(places) or None)

    def label(self, column: int) -> str:
        """How error messages call a column, counted from 0."""
        name = self.header[column] if self.header else ""
        return f"column {name!r}" if name else f"column {column + 1}"

    def name(self, column: int, default: str) -> str:
        """What the system in a column is called; `default` where there is no header."""
        return default if self.header is None else self.header[column] or f"column {column + 1}"

    def number(
        self, row: Record, column: int, problem: Callable[[int | Decimal], str | None]
    ) -> int | Decimal:
        """The number in a cell; ReadError if there is none, or it has a `problem`."""
        try:
            number = as_score(row.cells[column])
            if found := problem(number):
                raise ValueError(found)
        except ValueError as error:
            raise self.error(str(error), row, column) from None
        return number

    def labels(
        self, wanted: Column, missing: str = "a missing label; write where the item belongs"
    ) -> list[str]:
        """The text of all cells of a column; ReadError if one is `missing`."""
        column = self.find(wanted)
        self.check_once(column)
        labels = [row.cells[column] for row in self.rows]
        # What stands for a missing label is short, or a line of dashes.
        few = {label for label in labels if len(label) < 5 or label[0] == "-"}
        absent = {label for label in few if kind_of(label) == "missing"}
        for row in self.rows if absent else ():
            if row.cells[column] in absent:
                raise self.error(f"{shown(row.cells[column])} is {missing}", row, column)
        return labels if all(map(str.isprintable, labels)) else list(map(printable, labels))

    def check_once(self, column: int) -> None:
        """Refuse a column of JSON in which a cell has several values."""
        for row in self.rows if self.is_json else ():
            cell = row.cells[column]
            if isinstance(cell, TwiceCell):
                raise self.error(twice(cell.name), row, column)

    @property
    def is_json(self) -> bool:
        """Whether the cells come from JSON."""
        return self.kind == "records"

    def find(self, wanted: Column) -> int:
        """The column, counted from 0, of a name, or of a number counted from 1; no name is one."""
        if wanted and self.header and wanted in self.header:
            return self.header.index(str(wanted))
        place = place_of(wanted, self.width)
        if place is None:
            hint = did_you_mean(wanted, [name for name in self.header or () if name])
            raise self.error(f"no column {wanted!r}{hint}; {self.columns()}")
        return place

    def keys(self, columns: Sequence[int]) -> list[Column]:
        """What columns are called: their names, or numbers counted from 1."""
        return [self.name(i, "") or i + 1 for i in columns]

    def source(self, columns: Sequence[object]) -> dict[str, Any]:
        """Where pairs come from, `columns` being those of the first and of the second system."""
        return {
            "file": self.file.name,
            "sha256": self.file.sha256,
            "loader": self.kind,
            "columns": list(columns),
            "separator": self.separator,
            "header": self.header is not None,
            "rows": len(self.rows),
            "ids": None if self.ids is None else self.keys([self.ids])[0],
            "paired_by": "row",
            "matched": len(self.rows),
            "unmatched": [0, 0],
            "unmatched_ids": [[], []],
            "dropped": 0,
            "dropped_ids": [],
            "notes": [],
        }

    def columns(self) -> str:
        """All columns in a phrase for error messages."""
        if self.header is None:
            return f"it has columns 1 to {self.width} and no header"
        names = [repr(name) if name else f"number {i}" for i, name in enumerate(self.header, 1)]
        return f"its columns are {listed(names)}"


# ---- lines to cells ----------------------------------------------------------------------------


def _cut(file: File) -> tuple[str, list[Record]]:
    """The separator, and the cells it gives.

    Taken is the first separator that cuts all lines into the same number of cells, two or more;
    failing that, the first that cuts line 1, so that an error names the line that differs.
    """
    possible = [separator for separator in SEPARATORS if _cuts_first_line(file, separator)]
    if len(possible) > 1:
        possible = [s for s in possible if _is_regular(file, s)] or possible
    separator = possible[0] if possible else BLANKS
    return separator, list(_records(file, separator))


def _records(file: File, separator: str) -> Iterator[Record]:
    # Without quotes a record is a line, and splitting it is quicker than reading CSV.
    if '"' in file.text or max(map(len, file.lines), default=0) > csv.field_size_limit():
        return _csv_records(file, separator)
    mark = None if separator == BLANKS else separator
    if WHITE.search(file.text):
        cells = (list(map(str.strip, line.split(mark))) for line in file.lines)
    else:
        cells = (line.split(mark) for line in file.lines)
    return map(Record._make, enumerate(cells, 1))


def _csv_records(file: File, separator: str) -> Iterator[Record]:
    lines = file.lines
    if separator == BLANKS:
        lines = [BLANKS.join(line.split()) for line in lines]
    # A quoted cell may hold line breaks, so that a record is not always a line.
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            yield Record(line, list(map(str.strip, cells)))
            line = reader.line_num + 1
    except csv.Error as error:
        problem = f"not CSV ({error}); close every quote, and double the quotes inside a cell"
        raise ReadError.at(file.path, problem, line=line) from None


def _cuts_first_line(file: File, separator: str) -> bool:
    try:
        first = next(_csv_records(file, separator), None)
    except ReadError:
        return False
    return first is not None and len(first.cells) > 1


def _is_regular(file: File, separator: str) -> bool:
    try:
        return len({len(record.cells) for record in _records(file, separator)}) == 1
    except ReadError:
        return False


def _check_shape(file: File, records: list[Record]) -> None:
    if not records:
        raise ReadError.at(file.path, "the file is empty; a line must hold the scores of an item")
    width = len(records[0].cells)
    if width > 1 and {len(cells) for _, cells in records} == {width}:
        return
    for line, cells in records:
        if len(cells) < 2 and not any(cells):
            problem = "a blank line; remove it, or write the missing item there"
        elif len(cells) != width:
            problem = f"{some_columns(len(cells))}, but line {records[0].line} has {width}; every "
            problem += "line needs the same columns (quote cells that contain the separator)"
        else:
            continue
        raise ReadError.at(file.path, problem, line=line)


def some_columns(cells: int) -> str:
    """So many columns, in words."""
    return f"{cells} column{'s' * (cells != 1)}"


def _header(file: File, first: Record) -> list[str] | None:
    """The cells of the first record if they are names: text, and no number among it."""
    if first.cells[0].startswith("#"):
        problem = "a comment; remove the line, or the # if it holds the names of the columns"
        raise ReadError.at(file.path, problem, line=first.line)
    text = [cell for cell in first.cells if kind_of(cell) == "text"]
    numbers = [cell for cell in first.cells if is_number(cell)]
    if not text:
        return None
    if numbers:
        problem = (
            f"text ({shown(text[0])}) and numbers ({shown(numbers[0])}) on the first line, which "
            "may be a header or an item; if it is an item, put a line with names of the columns "
            "above it; if it is the header, use names that are not numbers"
        )
        raise ReadError.at(file.path, problem, line=first.line)
    _check_distinct(file, first)
    return list(map(printable, first.cells))


def _check_distinct(file: File, header: Record) -> None:
    for name, count in Counter(header.cells).items():
        if name and count > 1:
            places = [str(i) for i, cell in enumerate(header.cells, 1) if cell == name]
            problem = f"columns {' and '.join(places)} are all called {name!r}; rename all but one"
            raise ReadError.at(file.path, problem, line=header.line)


# ---- columns of a system -----------------------------------------------------------------------


def as_list(wanted: Columns) -> list[Column]:
    """All columns of a system; whatever is no list is one column."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        return [wanted]
    return list(wanted)
