"""Columns of a table as scores of items: exact numbers, counts, labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, overload

from permtest.readers.cells import kind_of
from permtest.readers.counts import count_problem
from permtest.readers.headers import CLUSTER_NAMES, TEXT_NAMES, column_of, systems_in
from permtest.readers.names import count_statistics
from permtest.readers.table import Record, Table
from permtest.readers.values import short
from permtest.statistics import STATISTICS, CountStatistic

Number: TypeAlias = "int | Decimal | Fraction"


class Lazy(Sequence[Any]):
    """A list that is made when it is first looked into, so that only what is chosen can fail.

    Parameters
    ----------
    size : int
    make : callable
        Returns a list of that size.
    """

    def __init__(self, size: int, make: Callable[[], list[Any]]) -> None:
        self._size, self._make = size, make

    @cached_property
    def _values(self) -> list[Any]:
        return self._make()

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, i: int) -> Any: ...
    @overload
    def __getitem__(self, i: slice) -> list[Any]: ...
    def __getitem__(self, i: int | slice) -> Any:
        return self._values[i]


# ---- numbers -----------------------------------------------------------------------------------


def any_number(number: int | Decimal) -> None:
    """Nothing is wrong with any number."""
    del number


def numbers(
    table: Table,
    rows: Sequence[Record],
    column: int,
    problem: Callable[[int | Decimal], str | None] = any_number,
    *,
    holes: bool = False,
) -> list[Number | None]:
    """The numbers of some rows of a column.

    Parameters
    ----------
    table : Table
    rows : sequence of Record
    column : int
        Counted from 0.
    problem : callable
        What is wrong with a number, if anything.
    holes : bool, default False
        Whether a missing number is None, and no error.

    Returns
    -------
    list

    Raises
    ------
    ReadError
        At the first row that has no number.
    """
    cells = [row.cells[column] for row in rows]
    first = dict(zip(reversed(cells), reversed(rows), strict=True))  # a row of each cell
    known: dict[str, Number | None] = {}
    for cell in dict.fromkeys(cells):
        missing = holes and kind_of(cell) == "missing"
        known[cell] = None if missing else table.number(first[cell], column, problem)
    return [known[cell] for cell in cells]


# ---- labels ------------------------------------------------------------------------------------


def swapped_column(table: Table) -> int | None:
    """The column of clusters, if one is called so and there are several."""
    column = column_of(table.header, CLUSTER_NAMES)
    several = column is not None and len({row.cells[column] for row in table.rows}) > 1
    return column if several else None


def texts(table: Table, rows: Sequence[Record]) -> Sequence[str] | None:
    """What items are, for people to read; None where no column is called so."""
    column = column_of(table.header, TEXT_NAMES)
    if column is None:
        return None
    return Lazy(len(rows), lambda: [short(row.cells[column]) for row in rows])


# ---- counts ------------------------------------------------------------------------------------


def counts_in(table: Table) -> dict[str, dict[str, int]]:
    """The sets of counts that the names of columns speak of without naming a system.

    Parameters
    ----------
    table : Table

    Returns
    -------
    dict of dict of int
        The statistic that they are for -> each count and its column. A set that is part of a
        larger one is left out.
    """
    known = systems_in(table.header).get("", {})
    layouts = dict.fromkeys(
        measure.columns
        for entry in STATISTICS.values()
        if isinstance(entry, CountStatistic)
        for measure in entry.measures
        if known.keys() >= set(measure.columns)
    )
    found: dict[str, dict[str, int]] = {}
    for layout in sorted(layouts, key=len, reverse=True):
        if any(set(layout) < set(other) for other in layouts):
            continue
        for count in layout:
            if len(known[count]) > 1:
                names = " and ".join(table.label(i) for i in known[count])
                raise table.error(f"{names} both hold {count}; rename one of them")
        columns = {count: known[count][0] for count in layout}
        found.setdefault(count_statistics([layout])[0], columns)
    return found


def tuples(table: Table, rows: Sequence[Record], columns: Sequence[int]) -> list[Any]:
    """The counts of some rows, None where one is missing."""
    found = [numbers(table, rows, column, count_problem, holes=True) for column in columns]
    return [None if None in counts else counts for counts in zip(*found, strict=True)]
