"""A file for each system: one number a line, or a table with ids and scores."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from permtest.readers.cells import is_number, kind_of, printable
from permtest.readers.columns import Lazy, counts_in, numbers, swapped_column, texts, tuples
from permtest.readers.files import ReadError
from permtest.readers.headers import (
    GROUP_NAMES,
    ID_NAMES,
    SCORE_NAMES,
    SWAPPED,
    SYSTEM_NAMES,
    column_of,
)
from permtest.readers.names import names_of, told_apart
from permtest.readers.scores import ORDER, Format, SystemScores
from permtest.readers.table import NAMELESS, SOME, Record, Table, some_columns

FORMAT = Format(
    name="one_system",
    title="a file for each system",
    rows="one number; or an id and one or several scores or counts, in columns with names",
    pairs_on="id; order where there are no ids",
    example="permtest compare new.txt old.txt",
)

#: What scores are called where the files call them differently, or not at all.
SCORE = "score"

#: Counts that must be the same for both systems, by the statistic that they are for.
SHARED = {"wer": "length"}


def system_of(table: Table) -> SystemScores:
    """What a table says of the one system that it is of.

    Parameters
    ----------
    table : Table

    Returns
    -------
    SystemScores
        Called by its column "system" or "model" if it has one, else by the file.
    """
    if table.header is None and table.width > 1:
        raise table.error(
            f"{some_columns(table.width)} and no header, but a file for each system holds one "
            "number a line; put names above the columns, such as 'id' and 'score'; a file of both "
            "systems is read alone",
            table.rows[0],
        )
    column = column_of(table.header, SYSTEM_NAMES)
    systems = dict.fromkeys(row.cells[column] for row in table.rows) if column is not None else {}
    if column is not None and len(systems) == 1:
        return of_rows(table, printable(next(iter(systems))), table.rows, [column])
    if len(systems) > 1 and table.ids is None:
        problem = f"{len(systems)} systems and no ids; add a column 'id' that says which item a "
        raise table.error(f"{problem}line is, or write a file for each system", column=column)
    return of_rows(table, table.file.stem, table.rows, [])


def of_rows(
    table: Table, system: str, rows: Sequence[Record], apart: Collection[int]
) -> SystemScores:
    """One system, of which some rows of a table are.

    Parameters
    ----------
    table : Table
    system : str
    rows : sequence of Record
    apart : collection of int
        Columns, counted from 0, that hold something else.

    Returns
    -------
    SystemScores
    """
    scores, sets = score_columns(table, apart), counts_in(table)
    if not scores and not sets:
        raise table.error(f"no column of numbers; {table.columns()}")

    def lazy(read: Any, *columns: Any, **options: Any) -> Lazy:
        return Lazy(len(rows), partial(read, table, rows, *columns, **options))

    shared = [SHARED[name] for name in sets if name in SHARED]
    only = len(scores) + len(sets) == 1
    surely = [i for name, i in scores.items() if only or name.lower() in SCORE_NAMES]
    return SystemScores(
        system,
        table.file,
        {
            f"{name}, each item" if name in sets else name: lazy(numbers, column, holes=True)
            for name, column in scores.items()
        }
        | {name: lazy(tuples, [*columns.values()]) for name, columns in sets.items()},
        **identity(table, rows),
        **groups(table, rows, [*apart, *surely, *_used(sets)]),
        counts={name: tuple(columns) for name, columns in sets.items()},
        agree={name: lazy(_texts, _column(sets, name)) for name in shared},
    )


def identity(table: Table, rows: Sequence[Record]) -> dict[str, Any]:
    """What the items of some rows are called, and where they are."""
    places = Lazy(len(rows), lambda: [table.place(row) for row in rows])
    found: dict[str, Any] = {"places": places, "texts": texts(table, rows)}
    if table.ids is None:
        return found | {"ids": None, "paired_by": ORDER}
    part = replace(table, rows=list(rows), key=table.ids)
    ids = part.labels(table.ids + 1, NAMELESS)
    return found | {"ids": ids, "paired_by": str(table.keys([table.ids])[0])}


def groups(table: Table, rows: Sequence[Record], apart: Collection[int]) -> dict[str, Any]:
    """What the items of some rows belong to: texts, or whole numbers, that are repeated."""
    swapped, clusters = swapped_column(table), {}
    for column in table.besides([*apart, table.ids] if table.header else range(table.width)):
        labels = [row.cells[column] for row in rows]
        distinct = set(labels)
        kinds = {"text", "integer"} if column not in table.numeric else {"integer"}
        repeated = 1 < len(distinct) < len(rows) and {kind_of(x) for x in distinct} <= kinds
        if column == swapped or repeated:
            clusters[str(table.keys([column])[0])] = list(map(printable, labels))
    if swapped is None:
        return {"clusters": clusters}
    table.labels(swapped + 1)  # none may be missing
    name = str(table.keys([swapped])[0])
    return {"clusters": clusters, "swapped": name, "notes": (SWAPPED.format(name),)}


# ---- which columns are scores ------------------------------------------------------------------


def score_columns(table: Table, apart: Collection[int]) -> dict[str, int]:
    """Names and columns of the single scores: numbers that are neither ids, groups nor counts."""
    if table.header is None:
        return {SCORE: 0}
    taken = {*apart, *_used(counts_in(table)), *_labels(table)}
    found = [column for column in table.numeric if column not in taken]
    if not found and not counts_in(table):
        # A column that is called a score, or the only one with numbers, may have a slip in it.
        called = column_of(table.header, SCORE_NAMES)
        some = [column for column in table.besides(taken) if _mostly_numbers(table, column)]
        found = some if called is None or called in taken else [called]
    return {str(table.keys([column])[0]): column for column in found}


def _labels(table: Table) -> list[int]:
    """The columns whose names say that they hold labels."""
    names = [name.lower() for name in table.header or ()]
    said = {*ID_NAMES, *GROUP_NAMES}
    found = [i for i, name in enumerate(names) if name in said or name.endswith("_id")]
    return found if table.ids is None else [*found, table.ids]


def _mostly_numbers(table: Table, column: int) -> bool:
    some = table.rows[:SOME]
    return 2 * sum(is_number(row.cells[column]) for row in some) > len(some)


def _used(sets: dict[str, dict[str, int]]) -> list[int]:
    return [column for columns in sets.values() for column in columns.values()]


def _column(sets: dict[str, dict[str, int]], count: str) -> int:
    return next(columns[count] for columns in sets.values() if count in columns)


def _texts(table: Table, rows: Sequence[Record], column: int) -> list[str]:
    """Numbers as text, however they are written."""
    found = numbers(table, rows, column, holes=True)
    return ["" if x is None else str(Fraction(x)) for x in found]


# ---- several files -----------------------------------------------------------------------------


def side_by_side(found: Sequence[SystemScores]) -> tuple[SystemScores, ...]:
    """The systems of several files, all under different names, their scores under the same.

    Parameters
    ----------
    found : sequence of SystemScores

    Returns
    -------
    tuple of SystemScores
    """
    _check_ids(found)
    names = [one.system for one in found]
    if len(set(names)) < len(names):
        files = list(dict.fromkeys(one.file for one in found))
        called = dict(zip(files, names_of(files), strict=True))
        own = [one.system == one.file.stem for one in found]  # called by the file already
        both = list(zip(found, own, strict=True))
        names = told_apart(
            [called[one.file] if by_file else one.system for one, by_file in both],
            [None if by_file else called[one.file] for one, by_file in both],
        )
    return tuple(
        one if one.system == name else replace(one, system=name)
        for one, name in zip(_alike(found), names, strict=True)
    )


def _check_ids(found: Sequence[SystemScores]) -> None:
    first = found[0]
    for one in found:
        if one.ids is not None and first.ids is not None and one.paired_by != first.paired_by:
            raise ReadError.at(
                one.file.path,
                f"its ids are in column {one.paired_by!r}, but those of {first.file.path} in "
                f"{first.paired_by!r}; if these are ids of the same items, give both one name",
            )


def _alike(found: Sequence[SystemScores]) -> list[SystemScores]:
    """Each system's only score under one name, if the columns are called so or like the systems."""
    names = [next(iter(one.scores)) for one in found]
    single = all(len(one.scores) == 1 and not one.counts for one in found)
    if not single or len(set(names)) == 1:
        return list(found)
    likely = all(map(_is_called_like, found, names))
    if not likely and not {name.lower() for name in names} <= set(SCORE_NAMES):
        i = next(i for i, name in enumerate(names) if name != names[0])
        raise ReadError.at(
            found[i].file.path,
            f"its only score is column {names[i]!r}, but that of {found[0].file.path} is "
            f"{names[0]!r}; if these are the same measure, give both columns the same name",
        )
    return [
        replace(
            one,
            scores={SCORE: one.scores[name]},
            notes=(*one.notes, f"Scores of {one.file.name} are its column {name!r}"),
        )
        for one, name in zip(found, names, strict=True)
    ]


def _is_called_like(one: SystemScores, name: str) -> bool:
    """Whether a column is called like its file or its system."""
    return name.lower() in (one.system.lower(), one.file.stem.lower())
