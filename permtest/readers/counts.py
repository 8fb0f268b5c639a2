"""Tables of counts, such as true positives, of which each system has several columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from permtest._integers import IntArray
from permtest.measures import Measure
from permtest.pairs import Pairs
from permtest.readers.files import ReadError
from permtest.readers.headers import Systems, readings, systems_in
from permtest.readers.names import check_both, did_you_mean, told_apart
from permtest.readers.table import Column, Columns, Table, as_list
from permtest.statistics import CountStatistic

#: Counts that are of the item, not of a system, so that both may have one column of them.
OF_THE_ITEM = {"wer": "length", "bleu": "reference_length"}

#: The columns of a system for each set of counts that it has.
Sets: TypeAlias = "dict[tuple[str, ...], list[int]]"


class Side(NamedTuple):
    """One system: what it is called, and its columns for each set of counts that it has."""

    name: str
    sets: Sets


def check_has_files(entry: CountStatistic) -> None:
    """Raise ValueError if no file holds what the statistic needs."""
    if entry.average is not None:
        shape = f"(N, classes, {len(entry.columns)})"
        raise ValueError(
            f"{entry.name!r} is for counts of several classes, which only predictions beside what "
            "is right tell; name the column of what is right as gold (--gold); in Python, "
            f"exact_perm_test(u, v, statistic={entry.name!r}) takes arrays of shape {shape} with "
            f"{', '.join(entry.columns)} of each class"
        )


def count_pairs(
    table: Table,
    entry: CountStatistic,
    a: Columns | None = None,
    b: Columns | None = None,
    apart: Collection[int] = (),
) -> Pairs:
    """The counts of two systems in a table.

    Parameters
    ----------
    table : Table
    entry : CountStatistic
        What the counts are for.
    a, b
        As in `permtest.read`.
    apart : collection of int
        Columns, counted from 0, that hold something else.

    Returns
    -------
    Pairs
    """
    chooser = Chooser(table, entry, apart)
    sides = chooser.both(a, b)
    measure, first, second = chooser.agreed(*sides)
    # Line by line, so that an error names the first bad line.
    chosen = first + second
    rows = [[int(table.number(row, i, count_problem)) for i in chosen] for row in table.rows]
    u, v = np.hsplit(count_table(rows), 2)
    a_name, b_name = told_apart([side.name for side in sides], "AB")
    pairs = Pairs(u, v, (a_name, b_name), columns=measure.columns)
    for side, i, problem in impossible(measure, pairs):
        raise table.error(f"{pairs.names[side]!r} has {problem}", table.rows[i])
    return replace(pairs, source=table.source([table.keys(i) for i in (first, second)]))


def count_table(rows: Sequence[Sequence[int]]) -> IntArray:
    """Left to itself, NumPy makes floats of integers that need 64 bits beside smaller ones."""
    try:
        return np.array(rows, dtype=np.int64)
    except OverflowError:
        return np.array(rows, dtype=object)


def impossible(measure: Measure, pairs: Pairs) -> Iterator[tuple[int, int, str]]:
    """For each system that has some, 0 or 1, the first row that a measure cannot be of, and why."""
    addends = [measure.addends(counts) for counts in (pairs.u, pairs.v)]
    for side in range(2):
        if bad := measure.problem(addends[side], addends[1 - side]):
            yield side, int(bad[0]), bad[1]


def count_problem(count: float | Decimal) -> str | None:
    """What is wrong with a number that is to be a count, and what to do about it."""
    if count != int(count):
        return f"{count} is not a whole number, but counts are; write how many, not rates or means"
    if count < 0:
        return f"{count} is below 0, but counts are not; write how many there are"
    return None


# ---- which columns -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Chooser:
    """Finds the columns of two systems.

    Parameters
    ----------
    table : Table
    entry : CountStatistic
    apart : collection of int
        Columns, counted from 0, that hold something else.
    """

    table: Table
    entry: CountStatistic
    apart: Collection[int]

    @cached_property
    def systems(self) -> Systems:
        """What the header speaks of."""
        return systems_in(self.table.header)

    def both(self, a: Columns | None, b: Columns | None) -> tuple[Side, Side]:
        """The two systems, named, listed, or the only ones."""
        check_both(self.table.file.path, a, b, "columns", self.table.columns())
        if a is not None and b is not None:
            return self._side("a", a), self._side("b", b)
        return self._only_two() if self.table.header else self._halves()

    def agreed(self, a: Side, b: Side) -> tuple[Measure, list[int], list[int]]:
        """The first measure whose columns both have, and these."""
        for measure in self.entry.measures:
            if measure.columns in a.sets and measure.columns in b.sets:
                first, second = a.sets[measure.columns], b.sets[measure.columns]
                self._check_apart(measure, first, second)
                return measure, first, second
        counts = (f"{_said(side.sets)} of {side.name!r}" for side in (a, b))
        raise self.table.error(f"{' but '.join(counts)}; both need the same counts")

    def _check_apart(self, measure: Measure, first: list[int], second: list[int]) -> None:
        for i in (i for i in first if i in second):
            roles = {measure.columns[first.index(i)], measure.columns[second.index(i)]}
            if first == second or roles != {OF_THE_ITEM.get(self.entry.name)}:
                raise self.table.error(
                    f"{self.table.label(i)} is in both a and b; choose two systems; {self._has()}"
                )

    # ---- named systems

    def _sets(self, system: str) -> Sets:
        """The complete sets of counts that a system has."""
        found = self._counts(system) if system else {}
        return {
            measure.columns: [self._only(system, count, found[count]) for count in measure.columns]
            for measure in self.entry.measures
            if found.keys() >= set(measure.columns)
        }

    def _counts(self, system: str) -> dict[str, list[int]]:
        """The columns of a system by what they hold, also those of the item."""
        shared = OF_THE_ITEM.get(self.entry.name)
        of_item = {k: v for k, v in self.systems.get("", {}).items() if k == shared}
        return of_item | self.systems.get(system, {})

    def _only(self, system: str, count: str, columns: list[int]) -> int:
        if len(columns) > 1:
            names = " and ".join(self.table.label(i) for i in columns)
            raise self.table.error(f"{names} both hold {count} of {system!r}; rename one of them")
        return columns[0]

    def complete(self) -> dict[str, set[tuple[str, ...]]]:
        """The systems that have a complete set of counts, and their sets."""
        wanted = [measure.columns for measure in self.entry.measures]
        found = {
            system: {columns for columns in wanted if self._counts(system).keys() >= set(columns)}
            for system in self.systems
            if system
        }
        return {system: sets for system, sets in found.items() if sets}

    def _only_two(self) -> tuple[Side, Side]:
        found = list(self.complete())
        if len(found) == 2:
            return Side(found[0], self._sets(found[0])), Side(found[1], self._sets(found[1]))
        if len(found) > 2:
            names = ", ".join(map(repr, found))
            raise self.table.error(f"{len(found)} systems ({names}); choose two as a and b")
        if begun := self._begun():
            raise self._missing(begun)
        seen = f"only one system, {found[0]!r}" if found else "no system that has counts"
        raise self.table.error(f"{seen}; {self._needs()}; {self._remedy()}")

    def _begun(self) -> str | None:
        """The incomplete system that lacks least, if there is one."""
        wanted = {count for measure in self.entry.measures for count in measure.columns}
        begun = [
            system
            for system in self.systems
            if system and system not in self.complete() and self.systems[system].keys() & wanted
        ]
        return min(begun, key=lambda system: len(self._lacking(system)), default=None)

    def _lacking(self, system: str) -> list[str]:
        """What a system lacks of the set of counts that it has most of."""
        known = self._counts(system).keys()
        lacking = [[c for c in m.columns if c not in known] for m in self.entry.measures]
        fewest = min(map(len, lacking))
        return next(counts for counts in lacking if len(counts) == fewest)

    def _missing(self, system: str) -> ReadError:
        """What to say of a system that is unknown or incomplete."""
        if system in self.systems:
            counts = ", ".join(self._lacking(system))
            return self.table.error(
                f"no {counts} of system {system!r}; {self._needs()}; {self._has()}"
            )
        if self.table.header is None:
            return self.table.error(f"no header names a system {system!r}; {self._remedy()}")
        remedy = self._has() if self.complete() else self._remedy()
        hint = did_you_mean(system, list(self.complete()))
        return self.table.error(f"no columns of system {system!r}{hint}; {remedy}")

    # ---- listed columns

    def _side(self, option: str, wanted: Columns) -> Side:
        if isinstance(wanted, str):
            if sets := self._sets(wanted):
                return Side(wanted, sets)
            if "," not in wanted and not wanted.isdecimal():
                raise self._missing(wanted)
            wanted = [part.strip() for part in wanted.split(",")]
        return self._listed(option, as_list(wanted))

    def _listed(self, option: str, wanted: Sequence[Column]) -> Side:
        fitting = [m for m in self.entry.measures if len(m.columns) == len(wanted)]
        if not fitting:
            number = f"{len(wanted)} column{'s' * (len(wanted) != 1)}"
            raise self.table.error(f"{option} lists {number}, but {self._needs()}; {self._has()}")
        columns = [self.table.find(column) for column in wanted]
        for i, count in Counter(columns).items():
            if count > 1:
                raise self.table.error(
                    f"{option} lists {self.table.label(i)} {count} times; list each once"
                )
        self._check_order(option, columns, fitting[0].columns)
        return Side(self._common_name(columns, option), {fitting[0].columns: columns})

    def _check_order(self, option: str, columns: list[int], counts: tuple[str, ...]) -> None:
        """Refuse columns whose names say that they hold something else."""
        for i, count in zip(columns, counts, strict=True):
            said = {word for _, word in self._readings(i)}
            if said and count not in said:
                raise self.table.error(
                    f"{option} lists {self.table.label(i)} where {count} belongs; list the columns "
                    f"in the order {', '.join(counts)}, or rename this one"
                )

    def _common_name(self, columns: list[int], option: str) -> str:
        """The system that the names of all columns speak of, those of the item left out."""
        said = [{system for system, _ in self._readings(i)} for i in columns]
        own = [systems for systems in said if "" not in systems]
        common = set.intersection(*own) if own else set()
        return common.pop() if len(common) == 1 else option.upper()

    def _readings(self, column: int) -> list[tuple[str, str]]:
        return readings(self.table.header[column]) if self.table.header else []

    # ---- no names at all

    def _halves(self) -> tuple[Side, Side]:
        """The first half of the columns and the second, where there are as many as needed."""
        columns = self.table.besides(self.apart)
        for measure in self.entry.measures:
            size = len(measure.columns)
            if len(columns) == 2 * size:
                first, second = columns[:size], columns[size:]
                return Side("A", {measure.columns: first}), Side("B", {measure.columns: second})
        problem = f"{len(columns)} columns and no header, but {self._needs()}"
        raise self.table.error(f"{problem}; {self._remedy()}")

    # ---- messages

    def _needs(self) -> str:
        return f"{self.entry.name!r} needs {self.entry.layouts()} of each system"

    def _remedy(self) -> str:
        """How to say which columns hold what."""
        counts = self.entry.columns
        names = ", ".join(f"A_{count}" for count in counts)
        numbers = ",".join(str(i) for i in range(1, len(counts) + 1))
        return (
            f"call the columns of a system A {names}, or list those of each system in this order "
            f"as a and b, such as {numbers}; {self._has()}"
        )

    def _has(self) -> str:
        """What there is instead."""
        found = ", ".join(map(repr, self.complete()))
        return f"its systems are {found}" if found else self.table.columns()


def _said(sets: Sets) -> str:
    return " or ".join(", ".join(columns) for columns in sets)
