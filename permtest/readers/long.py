"""A table with a line for each item and system."""

from __future__ import annotations

from permtest.readers.cells import shown
from permtest.readers.headers import SYSTEM_NAMES, column_of
from permtest.readers.one_system import of_rows
from permtest.readers.scores import Format, SystemScores
from permtest.readers.table import Record, Table
from permtest.readers.values import MOST

FORMAT = Format(
    name="long",
    title="a table with a line for each item and system",
    rows="id, system, and one or several scores or counts, in columns with names; perhaps cluster",
    pairs_on="id",
    example="permtest compare results.csv --a new --b old",
)


def is_long(table: Table) -> bool:
    """Whether a line is an item of one system.

    It is if there are ids, and a column "system" or "model" with two systems or more, of which
    some item has several; or if it has no two columns of numbers besides, so that nothing could
    be compared line by line.
    """
    column = column_of(table.header, SYSTEM_NAMES)
    if column is None or table.ids is None:
        return False
    if len({row.cells[column] for row in table.rows}) < 2:
        return False
    first: dict[str, str] = {}
    for _, cells in table.rows:
        if first.setdefault(cells[table.ids], cells[column]) != cells[column]:
            return True
    return len(set(table.numeric) - {column, table.ids}) < 2


def systems_of(table: Table) -> list[SystemScores]:
    """What a long table says of each system, in the order in which they first occur.

    Parameters
    ----------
    table : Table
        For which `is_long`.

    Returns
    -------
    list of SystemScores
    """
    column = column_of(table.header, SYSTEM_NAMES)
    assert column is not None
    return [of_rows(table, name, rows, [column]) for name, rows in rows_by_system(table).items()]


def rows_by_system(table: Table) -> dict[str, list[Record]]:
    """The lines of each system; ReadError where one does not say whose it is."""
    column = column_of(table.header, SYSTEM_NAMES)
    assert column is not None
    systems = table.labels(column + 1, "a missing system; write which one the line is of")
    rows: dict[str, list[Record]] = {system: [] for system in systems}
    if len(rows) > MOST:
        one_more = list(rows)[MOST]
        problem = f"is one more system than {MOST}; keep those that you want to compare"
        row = table.rows[systems.index(one_more)]
        raise table.error(f"{shown(one_more)} {problem}", row, column)
    for system, row in zip(systems, table.rows, strict=True):
        rows[system].append(row)
    return rows
