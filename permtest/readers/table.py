"""Lines of cells: two columns of scores, or a wide table of which some columns are named."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeAlias

from permtest.pairs import Pairs
from permtest.readers.cells import as_score, is_number, kind_of, shown
from permtest.readers.files import ReadError, StrPath, TextFile
from permtest.readers.headers import systems_in
from permtest.statistics import Statistic

#: A column: its name, or its number counted from 1.
Column: TypeAlias = "str | int"

#: The columns of a system: one, the name that several begin with, or a list.
Columns: TypeAlias = "Column | Sequence[Column]"

#: What may stand between two cells; runs of blanks count where none of these splits a line.
SEPARATORS = ("\t", ";", ",")
BLANKS = " "


class Record(NamedTuple):
    """The cells of one item, and the line on which they begin."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class Table:
    """A file cut into cells.

    Parameters
    ----------
    file : TextFile
    separator : str
    header : list of str, or None
        Names of the columns; "" where one has none.
    rows : list of Record
        All of one width, at least one.
    """

    file: TextFile
    separator: str
    header: list[str] | None
    rows: list[Record]

    @classmethod
    def load(cls, path: StrPath) -> Table:
        """Read a file and cut it into cells; ReadError where it is no table."""
        return cls.of(TextFile.load(path))

    @classmethod
    def of(cls, file: TextFile) -> Table:
        """Cut `file` into cells; ReadError where it is no table."""
        separator, records = _cut(file)
        _check_shape(file, records)
        header = _header(file, records[0])
        rows = records if header is None else records[1:]
        if not rows:
            raise ReadError.at(file.path, "has a header but no scores below it")
        return cls(file, separator, header, rows)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0].cells)

    def besides(self, apart: int | None) -> list[int]:
        """All columns but one, counted from 0."""
        return [column for column in range(self.width) if column != apart]

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
            label = self.label(column)
            raise ReadError.at(self.file.path, str(error), line=row.line, column=label) from None
        return number

    def labels(self, wanted: Column) -> list[str]:
        """The text of all cells of a column; ReadError if one is missing."""
        column = self.find(wanted)
        for line, cells in self.rows:
            if kind_of(cells[column]) == "missing":
                problem = f"{shown(cells[column])} is a missing label; write where the item belongs"
                raise ReadError.at(self.file.path, problem, line=line, column=self.label(column))
        return [row.cells[column] for row in self.rows]

    def find(self, wanted: Column) -> int:
        """The column, counted from 0, of a name, or of a number counted from 1; no name is one."""
        if wanted and self.header and wanted in self.header:
            return self.header.index(str(wanted))
        text = str(wanted)
        if text.isascii() and text.isdecimal() and 1 <= int(text) <= self.width:
            return int(text) - 1
        close = get_close_matches(text, filter(None, self.header or []), n=3)
        hint = f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
        raise ReadError.at(self.file.path, f"no column {wanted!r}{hint}; {self.columns()}")

    def keys(self, columns: Sequence[int]) -> list[Column]:
        """What columns are called: their names, or numbers counted from 1."""
        return [self.name(i, "") or i + 1 for i in columns]

    def source(self, columns: Sequence[object]) -> dict[str, Any]:
        """Where pairs come from, `columns` being those of the first and of the second system."""
        return {
            "file": self.file.name,
            "sha256": self.file.sha256,
            "loader": "table",
            "columns": list(columns),
            "separator": self.separator,
            "header": self.header is not None,
            "rows": len(self.rows),
            "paired_by": "row",
        }

    def columns(self) -> str:
        """All columns in a phrase for error messages."""
        if self.header is None:
            return f"it has columns 1 to {self.width} and no header"
        names = [repr(name) if name else f"number {i}" for i, name in enumerate(self.header, 1)]
        more = f" and {len(names) - 30} more" if len(names) > 30 else ""
        return f"its columns are {', '.join(names[:30])}{more}"


def score_pairs(
    table: Table,
    entry: Statistic,
    a: Columns | None = None,
    b: Columns | None = None,
    apart: int | None = None,
) -> Pairs:
    """The scores of two systems in a table.

    Parameters
    ----------
    table : Table
    entry : Statistic
        What the scores are for.
    a, b
        As in `permtest.read`.
    apart : int or None
        A column, counted from 0, that holds something else.

    Returns
    -------
    Pairs
    """
    columns = _choose(table, entry, a, b, apart)
    # Line by line, so that an error names the first bad line.
    scores = [table.number(row, column, entry.problem) for row in table.rows for column in columns]
    first, second = columns
    names = table.name(first, "A"), table.name(second, "B")
    pairs = Pairs.of(scores[::2], scores[1::2], names)
    return replace(pairs, source=table.source(table.keys(columns)))


# ---- lines to cells ----------------------------------------------------------------------------


def _cut(file: TextFile) -> tuple[str, list[Record]]:
    """The separator, and the cells it gives.

    Taken is the first separator that cuts all lines into the same number of cells, two or more;
    failing that, the first that cuts line 1, so that an error names the line that differs.
    """
    possible = [separator for separator in SEPARATORS if _cuts_first_line(file, separator)]
    if len(possible) > 1:
        possible = [s for s in possible if _is_regular(file, s)] or possible
    separator = possible[0] if possible else BLANKS
    return separator, list(_records(file, separator))


def _records(file: TextFile, separator: str) -> Iterator[Record]:
    lines = file.lines
    if separator == BLANKS:
        lines = [BLANKS.join(line.split()) for line in lines]
    # A quoted cell may hold line breaks, so that a record is not always a line.
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = f"not CSV ({error}); close every quote, and double the quotes inside a cell"
            raise ReadError.at(file.path, problem, line=line) from None
        if cells is None:
            return
        yield Record(line, [cell.strip() for cell in cells])


def _cuts_first_line(file: TextFile, separator: str) -> bool:
    try:
        first = next(_records(file, separator), None)
    except ReadError:
        return False
    return first is not None and len(first.cells) > 1


def _is_regular(file: TextFile, separator: str) -> bool:
    try:
        return len({len(record.cells) for record in _records(file, separator)}) == 1
    except ReadError:
        return False


def _check_shape(file: TextFile, records: list[Record]) -> None:
    if not records:
        raise ReadError.at(file.path, "the file is empty; a line must hold the scores of an item")
    width = len(records[0].cells)
    for line, cells in records:
        if len(cells) < 2 and not any(cells):
            problem = "a blank line; remove it, or write the missing item there"
        elif width == 1:
            problem = f"only one column ({shown(cells[0])}); a line must hold both systems' scores"
        elif len(cells) != width:
            problem = f"{_count(len(cells))}, but line {records[0].line} has {width}; every line "
            problem += "needs the same columns (quote cells that contain the separator)"
        else:
            continue
        raise ReadError.at(file.path, problem, line=line)


def _count(cells: int) -> str:
    return f"{cells} column{'s' * (cells != 1)}"


def _header(file: TextFile, first: Record) -> list[str] | None:
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
    return first.cells


def _check_distinct(file: TextFile, header: Record) -> None:
    for name, count in Counter(header.cells).items():
        if name and count > 1:
            places = [str(i) for i, cell in enumerate(header.cells, 1) if cell == name]
            problem = f"columns {' and '.join(places)} are all called {name!r}; rename all but one"
            raise ReadError.at(file.path, problem, line=header.line)


# ---- which two columns -------------------------------------------------------------------------


def check_both(table: Table, a: Columns | None, b: Columns | None) -> None:
    """Raise ReadError if one system is chosen and not the other."""
    if (a is None) != (b is None):
        given, other = ("b", "a") if a is None else ("a", "b")
        problem = f"{given} is given without {other}; name both columns; {table.columns()}"
        raise ReadError.at(table.file.path, problem)


def as_list(wanted: Columns) -> list[Column]:
    """All columns of a system; whatever is no list is one column."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        return [wanted]
    return list(wanted)


def _choose(
    table: Table, entry: Statistic, a: Columns | None, b: Columns | None, apart: int | None
) -> tuple[int, int]:
    check_both(table, a, b)
    if a is None or b is None:
        return _only_two(table, apart)
    first, second = _one(table, entry, "a", a), _one(table, entry, "b", b)
    if first == second:
        problem = f"a and b are both {table.label(first)}; name two columns; {table.columns()}"
        raise ReadError.at(table.file.path, problem)
    return first, second


def _one(table: Table, entry: Statistic, option: str, wanted: Columns) -> int:
    """The one column of a system."""
    listed = as_list(wanted)
    if len(listed) != 1:
        problem = (
            f"{option} lists {_count(len(listed))}, but {entry.name!r} takes one score of each "
            "system; choose one column, or a statistic of counts, such as 'f1' (--metric f1)"
        )
        raise ReadError.at(table.file.path, problem)
    try:
        return table.find(listed[0])
    except ReadError as error:
        raise ReadError(f"{error}{_hint(table)}") from None


def _only_two(table: Table, apart: int | None) -> tuple[int, int]:
    columns = table.besides(apart)
    if len(columns) == 2:
        return columns[0], columns[1]
    kinds = [kind_of(table.rows[0].cells[column]) for column in columns]
    if table.header is None and kinds == ["integer"] * 4:
        problem = (
            "four numbers on a line and no header: if these are counts of two systems (true "
            "positives and incorrect ones of each), choose a statistic of counts, such as 'f1' "
            "(--metric f1); if they are scores of four systems, choose two as a and b, by number"
        )
        raise ReadError.at(table.file.path, problem)
    numeric = [
        column for column in columns if any(is_number(row.cells[column]) for row in table.rows)
    ]
    if len(numeric) == 2:
        return numeric[0], numeric[1]
    problem = f"{_count(len(numeric))} with numbers; choose two as a and b; {table.columns()}"
    raise ReadError.at(table.file.path, problem + _hint(table))


def _hint(table: Table) -> str:
    """What to do where the table is one of counts."""
    if not any({"tp", "fp"} <= counts.keys() for counts in systems_in(table.header).values()):
        return ""
    return "; if these are counts, choose a statistic of counts, such as 'f1' (--metric f1)"
