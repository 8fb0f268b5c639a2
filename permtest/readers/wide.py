"""A table with a line for each item and columns for each system."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from permtest.pairs import Pairs
from permtest.readers.answers import gold_beside
from permtest.readers.cells import as_printed, brief, is_number, kind_of, shown
from permtest.readers.columns import numbers, swapped_column, texts
from permtest.readers.counts import Chooser, check_has_files, count_pairs
from permtest.readers.files import ReadError
from permtest.readers.headers import (
    CLUSTER_NAMES,
    GOLD_NAMES,
    ID_NAMES,
    PART_NAMES,
    SCORE_NAMES,
    SWAPPED,
    SYSTEM_NAMES,
    WORDS,
    column_of,
    systems_in,
)
from permtest.readers.names import check_both, count_statistics, single_statistics
from permtest.readers.scores import Format
from permtest.readers.table import Column, Columns, Table, as_list, some_columns
from permtest.statistics import STATISTICS, CountStatistic, Statistic, lookup


@dataclass(frozen=True, eq=False)
class WideTable:
    """A table before two systems are chosen; what `Evaluation` asks for.

    Parameters
    ----------
    format : Format
    table : Table
    """

    format: Format
    table: Table

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that have counts; else the columns of numbers, by name or number.

        Last those whose names say that they are no scores: of what an item is, or how large.
        """
        numbered = [str(key) for key in self.table.keys(self._numeric)]
        names = () if self._is_of_one and not self._counts else numbered
        return tuple(self._counts) or tuple(sorted(names, key=is_of_the_item))

    @cached_property
    def _is_of_one(self) -> bool:
        """Whether a line seems to be an item of one system, though nothing says which item."""
        header = self.table.header
        system = column_of(header, SYSTEM_NAMES)
        score = column_of(header, SCORE_NAMES)
        return system is not None and score is not None and system not in self._numeric

    @property
    def groupings(self) -> tuple[str, ...]:
        """Names of the columns in which some items have the same text."""
        table, swapped = self.table, swapped_column(self.table)
        apart = [column for column in self._numeric if column != swapped]
        found = [
            column
            for column in table.besides(apart)
            if table.header and 1 < len({row.cells[column] for row in table.rows}) < len(table.rows)
        ]
        return tuple(str(table.keys([column])[0]) for column in found)

    def score_names(self, a: str, b: str) -> tuple[str, ...]:
        """Nothing: a system is one score, or has one set of counts."""
        del a, b
        return ()

    def statistics(self, a: str, b: str, score: str | None = None) -> tuple[str, ...]:
        """What can be tested of two systems, the most fitting first."""
        del score
        if a in self._counts and b in self._counts:
            both = self._counts[a] & self._counts[b]
            return count_statistics(sorted(both, key=len))
        pairs = self.pairs(a, b, clusters=False)
        return single_statistics([int(pairs.u.min()), int(pairs.v.min()), 1 / pairs.scale])

    def pairs(
        self,
        a: Columns | None = None,
        b: Columns | None = None,
        *,
        score: str | None = None,
        statistic: str | Statistic | CountStatistic = "sum",
        clusters: Any = None,
    ) -> Pairs:
        """Two systems; a line is a pair."""
        table, entry = self.table, lookup(statistic)
        if score is not None:
            problem = "score is for files with several scores of a system; name columns as a and b"
            raise table.error(problem)
        column = None
        if clusters is not False:
            column = swapped_column(table) if clusters is None else table.find(clusters)
        named = column_of(table.header, CLUSTER_NAMES)
        apart = [*self._ids, *(i for i in (column, named) if i is not None)]
        if isinstance(entry, CountStatistic):
            check_has_files(entry)
            halves = table.header is None and isinstance(a, str) and (a, b) == ("A", "B")
            a, b = (None, None) if halves else (a, b)
            pairs = count_pairs(table, entry, a, b, apart)
        else:
            pairs = score_pairs(table, entry, a, b, apart)
        if column is not None and column == table.ids and self._repeats_items:
            pairs = replace(pairs, source=pairs.source | {"ids": None})
        else:
            pairs = replace(pairs, ids=table.names_of_items)
        if column is None:
            return pairs
        pairs = self.grouped(pairs, column + 1)
        note = SWAPPED.format(pairs.source["clusters"])
        return _noted(pairs, note) if clusters is None else pairs

    def grouped(self, pairs: Pairs, wanted: Column) -> Pairs:
        """The same pairs with the labels of a column, which holds no scores, as clusters.

        Parameters
        ----------
        pairs : Pairs
            What `pairs` returns.
        wanted : str or int
            The column: its name, or its number from 1.

        Returns
        -------
        Pairs

        Raises
        ------
        ReadError
            If there is no such column, it holds scores of the pairs, or a label is missing.
        """
        column = self.table.find(wanted)
        (key,) = self.table.keys([column])
        chosen = pairs.source["columns"]
        if key in chosen or any(isinstance(columns, list) and key in columns for columns in chosen):
            label = self.table.label(column)
            problem = f"{label} holds the clusters; choose other columns as a and b"
            raise self.table.error(problem)
        labels = tuple(self.table.labels(column + 1))
        return replace(pairs, clusters=labels, source=pairs.source | {"clusters": key})

    def preview(self, rows: int = 8) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The first lines."""
        head = tuple(brief(str(key)) for key in self.table.keys(range(self.table.width)))
        return head, [tuple(map(brief, row.cells)) for row in self.table.rows[:rows]]

    def text(self, name: str) -> str:
        """What an item is, for people to read; "" where no column is called so."""
        return self._texts.get(name, "")

    @cached_property
    def _texts(self) -> dict[str, str]:
        names, found = self.table.names_of_items, texts(self.table, self.table.rows)
        return dict(zip(names, found, strict=True)) if names and found else {}

    @property
    def _ids(self) -> list[int]:
        return [] if self.table.ids is None else [self.table.ids]

    @cached_property
    def _repeats_items(self) -> bool:
        """Whether some lines have one id."""
        names = {row.cells[i] for row in self.table.rows for i in self._ids}
        return 0 < len(names) < len(self.table.rows)

    @cached_property
    def _numeric(self) -> list[int]:
        """The columns that hold numbers."""
        return [column for column in self.table.numeric if column not in self._ids]

    @cached_property
    def _counts(self) -> dict[str, set[tuple[str, ...]]]:
        """The systems that have counts, and the sets of these."""
        if self.table.header is None:
            return self._halves()
        found: dict[str, set[tuple[str, ...]]] = {}
        for entry in STATISTICS.values():
            if isinstance(entry, CountStatistic) and entry.average is None:
                for system, sets in Chooser(self.table, entry, ()).complete().items():
                    found.setdefault(system, set()).update(sets)
        return found

    def _halves(self) -> dict[str, set[tuple[str, ...]]]:
        """Two systems where lines of whole numbers, four or six, can be counts of both."""
        kinds = {4: ("tp", "incorrect"), 6: ("tp", "fp", "fn")}
        whole = all(kind_of(cell) == "integer" for row in self.table.rows[:100] for cell in row[1])
        columns = kinds.get(self.table.width) if whole else None
        return {} if columns is None else {"A": {columns}, "B": {columns}}


def is_of_the_item(name: str) -> bool:
    """Whether a column says by its name that it is no score: what an item is, or how large.

    Parameters
    ----------
    name : str
        In whatever case.

    Returns
    -------
    bool
    """
    said = name.lower()
    return said in (*ID_NAMES, *PART_NAMES) or said.startswith(("n_", "num_"))


def score_pairs(
    table: Table,
    entry: Statistic,
    a: Columns | None = None,
    b: Columns | None = None,
    apart: Collection[int] = (),
) -> Pairs:
    """The scores of two systems in a table.

    Parameters
    ----------
    table : Table
    entry : Statistic
        What the scores are for.
    a, b
        As in `permtest.read`.
    apart : collection of int
        Columns, counted from 0, that hold something else.

    Returns
    -------
    Pairs
    """
    columns = _choose(table, entry, a, b, apart)
    try:
        u, v = (numbers(table, table.rows, column, entry.problem) for column in columns)
    except ReadError:
        for row in table.rows:  # line by line, so that the error names the first bad line
            for column in columns:
                table.number(row, column, entry.problem)
        raise
    first, second = columns
    names = table.name(first, "A"), table.name(second, "B")
    pairs = Pairs.of(as_printed(u), as_printed(v), names)
    pairs = replace(pairs, source=table.source(table.keys(columns)))
    gold = gold_beside(table, columns)
    if gold is None:
        return pairs
    (key,) = table.keys([gold])
    said = f"--gold {key} scores {pairs.names[0]} and {pairs.names[1]} against it"
    return _noted(pairs, f"column {key!r} looks like right answers; {said}")


def _noted(pairs: Pairs, note: str) -> Pairs:
    return replace(pairs, source=pairs.source | {"notes": [*pairs.source["notes"], note]})


def _choose(
    table: Table, entry: Statistic, a: Columns | None, b: Columns | None, apart: Collection[int]
) -> tuple[int, int]:
    check_both(table.file.path, a, b, "columns", table.columns())
    if a is None or b is None:
        return _only_two(table, apart)
    first, second = _one(table, entry, "a", a), _one(table, entry, "b", b)
    if first == second:
        problem = f"a and b are both {table.label(first)}; name two columns; {table.columns()}"
        raise table.error(problem)
    return first, second


def _one(table: Table, entry: Statistic, option: str, wanted: Columns) -> int:
    """The one column of a system."""
    listed = as_list(wanted)
    if len(listed) != 1:
        problem = (
            f"{option} lists {some_columns(len(listed))}, but {entry.name!r} takes one score of "
            "each system; choose one column, or a statistic of counts, such as 'f1' (--metric f1)"
        )
        raise table.error(problem)
    try:
        return table.find(listed[0])
    except ReadError as error:
        raise ReadError(f"{error}{_hint(table)}") from None


def _only_two(table: Table, apart: Collection[int]) -> tuple[int, int]:
    if table.width == 1:
        problem = f"only one column ({shown(table.rows[0].cells[0])}); a line must hold both "
        problem += "systems' scores, or add the file of the other system"
        raise table.error(problem, table.rows[0])
    system = column_of(table.header, SYSTEM_NAMES)
    columns = table.besides([*apart, *([] if system in table.numeric else [system])])
    if len(columns) == 2:
        return _systems(table, columns)
    kinds = [kind_of(table.rows[0].cells[column]) for column in columns]
    if table.header is None and kinds == ["integer"] * 4:
        problem = (
            "four numbers on a line and no header: if these are counts of two systems (true "
            "positives and incorrect ones of each), choose a statistic of counts, such as 'f1' "
            "(--metric f1); if they are scores of four systems, choose two as a and b, by number"
        )
        raise table.error(problem)
    numeric = [
        column for column in columns if any(is_number(row.cells[column]) for row in table.rows)
    ]
    if len(numeric) == 2:
        return _systems(table, numeric)
    problem = f"{some_columns(len(numeric))} with numbers; choose two as a and b"
    problem += f"{', or add the file of the other system' * (len(numeric) == 1)}; {table.columns()}"
    raise table.error(problem + _hint(table))


def _systems(table: Table, columns: Sequence[int]) -> tuple[int, int]:
    """The only two columns, unless a name says that one is no system."""
    first, second = columns
    for column in columns:
        if table.name(column, "").lower() in (*SCORE_NAMES, *GOLD_NAMES, *WORDS):
            raise table.error(
                "by its name no system, but something of one; add the file of the other system, "
                f"or choose two columns as a and b; {table.columns()}{_hint(table)}",
                column=column,
            )
    return first, second


def _hint(table: Table) -> str:
    """What to do where the table is one of counts, of labels, or of systems below each other."""
    if any({"tp", "fp"} <= counts.keys() for counts in systems_in(table.header).values()):
        return "; if these are counts, choose a statistic of counts, such as 'f1' (--metric f1)"
    if (gold := column_of(table.header, GOLD_NAMES)) is not None:
        name = table.name(gold, "")
        return f"; if {name!r} says what is right, name it as gold (--gold {name})"
    if column_of(table.header, SYSTEM_NAMES) is not None and table.ids is None:
        remedy = "call the column that says which item 'id', or add one"
        return f"; if a line is an item of one system, {remedy}"
    return ""
