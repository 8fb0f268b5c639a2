"""A table becomes the scores of systems: which columns are items, systems, scores, groups.

A line is an item of all systems, which have a column each (wide); or an item of one system (long);
or the table is of one system. What names and cells do not settle is refused, with the option that
settles it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias, overload

from permtest.readers.cells import is_number, kind_of, printable, shown, text_of
from permtest.readers.files import ReadError
from permtest.readers.names import (
    CLUSTER_NAMES,
    GOLD_NAMES,
    GROUP_NAMES,
    ID_NAMES,
    KEYS,
    NO_SYSTEM,
    OF_THE_ITEM,
    OUTPUTS,
    REPEAT_NAMES,
    SUMMARIES,
    SYSTEM_NAMES,
    TEXT_NAMES,
    TOTALS,
    WORDS,
    is_summary,
    layouts,
    measured,
    readings,
    systems_in,
    tokens,
    words,
    written,
)
from permtest.readers.systems import ORDER, ROW, SystemScores, did_you_mean, listed
from permtest.readers.tables import Table
from permtest.statistics import CountStatistic

Column: TypeAlias = "str | int"
Columns: TypeAlias = "Column | Sequence[Column]"

#: Systems that one file may have.
MOST = 1000

#: Distinct cells of a column that say what it holds.
SOME = 5000

SWAPPED = (
    "whole values of {!r} are swapped by default, since that column is called so (--no-clusters "
    "swaps items)"
)


@dataclass(frozen=True)
class How:
    """What the user says of tables; None where the columns have to say it.

    Parameters
    ----------
    id : str, int, sequence of them, False or None
        The columns that say which item a line is; False: items are paired by their order.
    system, repeat, clusters, gold : str, int or None
        The columns that say whose a line is, which repeat, which cluster, what is right.
    score : str or None
        Which measure is meant.
    thousands : str or None
        What separates thousands in numbers: "." or ","; "" says that a point is a decimal point.
    """

    id: Columns | bool | None = None
    system: Column | None = None
    repeat: Column | None = None
    clusters: Column | bool | None = None
    gold: Column | None = None
    score: str | None = None
    thousands: str | None = None


class Lazy(Sequence[Any]):
    """A list whose entries are made when they are looked at."""

    def __init__(self, size: int, make: Callable[[int], Any]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, i: int) -> Any: ...
    @overload
    def __getitem__(self, i: slice) -> list[Any]: ...
    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return [self._make(k) for k in range(*i.indices(self._size))]
        if not -self._size <= i < self._size:
            raise IndexError(i)
        return self._make(i % self._size)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table, what its columns hold, and what the user says of them."""

    table: Table
    how: How
    notes: tuple[str, ...] = ()
    known_by: str = ""

    @classmethod
    def of(cls, table: Table, how: How) -> Sheet:
        """The table without a row of totals, its thousands as numbers without separators."""
        sheet = cls(table, how)
        if how.thousands:
            sheet = sheet._without_separators(how.thousands)
        sheet = sheet._without_summary()
        sheet._check_twice()
        return sheet

    # ---- columns

    def __len__(self) -> int:
        return len(self.table.columns[0])

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.table.columns)

    def key(self, i: int) -> Column:
        """The name of a column, or its number from 1."""
        name = self.table.names[i] if self.table.names else ""
        return name or i + 1

    def name(self, i: int) -> str:
        """How a column is called."""
        key = self.key(i)
        return key if isinstance(key, str) else f"column {key}"

    def label(self, i: int) -> str:
        """How messages call a column."""
        key = self.key(i)
        return f"column {key!r}" if isinstance(key, str) else f"column {key}"

    def columns(self) -> str:
        """Which columns there are."""
        if self.table.names is None:
            return f"it has columns 1 to {self.width}"
        return f"its columns are {listed([repr(self.key(i)) for i in range(self.width)])}"

    def error(self, problem: str, row: int | None = None, column: int | None = None) -> ReadError:
        """The error of a place in the table."""
        return self.table.error(problem, row, column)

    def find(self, wanted: object) -> int:
        """The column of that name, or of that number from 1."""
        names = self.table.names or ()
        if isinstance(wanted, str) and wanted in names and wanted:
            return names.index(wanted)
        text = str(wanted)
        if text.isascii() and text.isdecimal() and 1 <= int(text) <= self.width:
            return int(text) - 1
        hint = did_you_mean(wanted, names)
        said = wanted if isinstance(wanted, int) else repr(wanted)
        raise self.error(f"no column {said}{hint}; {self.columns()}")

    def called(self, names: Collection[str]) -> int | None:
        """The column that has the first of these names, in whatever case."""
        said = [name.lower() for name in self.table.names or ()]
        return next((said.index(name) for name in names if name in said), None)

    def texts(self, i: int) -> list[str]:
        """The cells of a column as text that can be printed."""
        if i not in self._texts:
            cells = self.table.columns[i]
            plain = set(map(type, cells)) == {str} and "".join(cells).isprintable()  # as most are
            self._texts[i] = cells if plain else [printable(text_of(cell)) for cell in cells]
        return self._texts[i]

    @cached_property
    def _texts(self) -> dict[int, list[str]]:
        return {}

    @cached_property
    def _kinds(self) -> list[Counter[str]]:
        """How many cells of each column are a "number", "missing", "text", or a "decimal"."""
        return [_kinds(self.texts(i)) for i in range(self.width)]

    @cached_property
    def numeric(self) -> list[int]:
        """The columns of numbers, among which there may be slips."""
        found = enumerate(self._kinds)
        return [i for i, kinds in found if kinds["number"] >= max(kinds["text"], 1)]

    @cached_property
    def ids(self) -> list[int]:
        """The columns that say which item a line is."""
        if self.how.id is False:
            return []
        if self.how.id is not None and self.how.id is not True:
            return [self.find(one) for one in as_list(self.how.id)]
        found = self.called(ID_NAMES)
        if found is None and (keys := [i for i in range(self.width) if self._is_key(i)]):
            found = keys[0] if len(set(self.texts(keys[0]))) == len(self) else None
        if found is None and self.how.repeat is not None:
            each = self.texts(self.find(self.how.repeat))
            for i in range(self.width):
                if i not in self.numeric and self._is_unique(i, each):
                    return [i]
        return [] if found is None else [found]

    def _is_unique(self, i: int, beside: Sequence[str]) -> bool:
        """Whether a column differs in every row, together with another one and the system's."""
        rows = [self.texts(i), beside, *(self.texts(k) for k in self._whose)]
        return len(set(zip(*rows, strict=True))) == len(self)

    def _is_key(self, i: int) -> bool:
        """Whether a column is called like the id of something that is no system."""
        name = self.name(i).lower()
        return name.endswith("_id") and name not in (*SYSTEM_NAMES, *CLUSTER_NAMES)

    @cached_property
    def system(self) -> int | None:
        """The column that says whose a line is."""
        return self.called(SYSTEM_NAMES) if self.how.system is None else self.find(self.how.system)

    @cached_property
    def cluster(self) -> int | None:
        """The column whose values are swapped as a whole."""
        if self.how.clusters is False:
            return None
        if self.how.clusters is not None and self.how.clusters is not True:
            return self.find(self.how.clusters)
        found = self.called(CLUSTER_NAMES)
        return found if found is not None and len(set(self.texts(found))) > 1 else None

    @cached_property
    def repeat(self) -> int | None:
        """The column that tells repeats of an item apart, where there are some."""
        if self.how.repeat is not None:
            return self.find(self.how.repeat)
        if not self.ids or self.cluster in self.ids:
            return None
        for name in REPEAT_NAMES:
            column = self.called([name])
            if column is None or column in self.ids:
                continue
            rows = [self.texts(i) for i in (*self.ids, *self._whose)]
            once = len(set(zip(*rows, strict=True)))
            if once < len(self) == len(set(zip(*rows, self.texts(column), strict=True))):
                return column
        return None

    @property
    def _whose(self) -> list[int]:
        return [] if self.system is None or self.system in self.numeric else [self.system]

    @cached_property
    def apart(self) -> set[int]:
        """The columns that surely hold no scores."""
        named = [i for i in range(self.width) if self.name(i).lower() in GROUP_NAMES]
        known = (self.repeat, self.cluster, self.called(CLUSTER_NAMES))
        some = [*self.ids, *self._whose, *named, *(i for i in known if i is not None)]
        return {
            *some,
            *(i for i in range(self.width) if self.name(i).lower().endswith("_id")),
            *filter(self._is_of_item, range(self.width)),
        }

    # ---- whole rows

    def _without_summary(self) -> Sheet:
        """The same without a last row that sums or averages the others, which is said."""
        if self.how.id not in (None, False) or len(self) < 3:
            return self
        named = [self.called(ID_NAMES), *(i for i in range(self.width) if i not in self.numeric)]
        column = next((i for i in (*self.ids, *named) if i is not None), None)
        if column is None or self.table.names is None:
            if len(self) > 4 and self.how.id is None and self._sums_up(largest=True):
                problem = "the last line holds the sums of all others; remove it, or say that lines"
                raise self.error(f"{problem} are items (--by-order)", len(self) - 1)
            return self
        texts, last = self.texts(column), len(self) - 1
        written = "\n".join(texts).lower()
        some = any(word in written for word in SUMMARIES)
        called = [row for row, label in enumerate(texts) if some and is_summary(label)]
        totals = (called == [last] or not (called or texts[last])) and self._sums_up()
        sure = [row for row in called if not TOTALS.isdisjoint(tokens(texts[row]))]
        if not totals and (sure or {0, last} & set(called)):
            row = (sure or called)[-1]
            problem = f"a row is called {texts[row]!r}; remove it, or say that it is an item "
            raise self.error(f"{problem}(--id {self.key(column)})", row, column)
        if not totals:
            return self
        note = f"the last row, {texts[last]!r}, holds totals of the others and is left out"
        columns = [cells[:-1] for cells in self.table.columns]
        return Sheet(replace(self.table, columns=columns), self.how, (*self.notes, note))

    def _sums_up(self, *, largest: bool = False) -> bool:
        """Whether the last row has the sums, or the means, of all columns of scores.

        `largest` asks for sums alone that are larger than all other cells.
        """
        found = []
        for i in self.numeric:
            numbers = [_value(text) for text in self.texts(i)]
            *rest, total = numbers
            if i in self.apart or total is None or None in rest:
                continue
            whole = sum(x for x in rest if x is not None)
            near = 1e-9 + 0.006 * abs(total)
            if largest and (
                total <= max(1.0, *(x for x in rest if x is not None)) or whole != total
            ):
                return False
            found.append(min(abs(total - whole), abs(total - whole / len(rest))) <= near)
        return bool(found) and all(found)

    def _check_twice(self) -> None:
        """Refuse a row that is there twice, where rows have texts that differ otherwise."""
        if self.ids or self.table.names is None or self.table.index is not None:
            return
        text = [i for i in range(self.width) if i not in self.numeric and i not in self._whose]

        def differs(i: int) -> bool:
            number = len(set(self.texts(i)))
            return (2 * number if self._is_of_item(i) else number / 0.9) > len(self)

        if self.how.id is False or not any(map(differs, text)):
            return
        seen: dict[tuple[str, ...], int] = {}
        for row, cells in enumerate(zip(*map(self.texts, range(self.width)), strict=True)):
            if seen.setdefault(cells, row) != row:
                problem = (
                    f"the same as {self.table.place(seen[cells])}; remove it, or say that lines "
                )
                raise self.error(f"{problem}are items by themselves (--by-order)", row)

    def _without_separators(self, mark: str) -> Sheet:
        grouped = re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+(\.\d+)?")
        columns = [list(column) for column in self.table.columns]
        for i in self.numeric if mark == "." else range(self.width):
            for row, cell in enumerate(columns[i]):
                if isinstance(cell, str) and mark in cell and grouped.fullmatch(cell):
                    columns[i][row] = cell.replace(mark, "")
                elif isinstance(cell, str) and mark == "." in cell and is_number(cell):
                    problem = f"{cell!r} has a point that separates no thousands (--thousands .)"
                    raise self.error(f"{problem}; write numbers alike", row, i)
        return Sheet(replace(self.table, columns=columns), self.how, self.notes)

    def may_be_key(self, i: int) -> bool:
        """Whether a column may say which item a line is: text, or whole numbers called so."""
        kinds, name = self._kinds[i], tokens(self.name(i))
        if i in (self.system, self.cluster, self.repeat) or kinds["missing"] or kinds["decimal"]:
            return False
        if any(isinstance(cell, list | dict) for cell in self.table.columns[i][:1]):
            return False
        if i in self.numeric:
            bare = self.table.names is not None and not self.table.names[i]
            return bare or self._is_of_item(i) or not KEYS.isdisjoint(name)
        return OUTPUTS.isdisjoint(name)

    def _is_of_item(self, i: int) -> bool:
        """Whether a column shows what an item is, but for what is right."""
        name = self.name(i).lower()
        return name in TEXT_NAMES and name not in GOLD_NAMES

    # ---- rows of systems

    def is_long(self) -> bool:
        """Whether a line is an item of one system, and there are several systems."""
        return self._long

    @cached_property
    def _long(self) -> bool:
        if self.system is None or self.table.names is None:
            return False
        whose = self.texts(self.system)
        if len(set(whose)) < 2:
            return False
        if self.how.system is not None:
            return True
        if not self.ids:
            return len(self._wide_columns()) < 2
        items = list(zip(*map(self.texts, self.ids), strict=True))
        if len(set(zip(items, whose, strict=True))) > len(set(items)):
            return True
        return len(set(self.numeric) - self.apart) < 2

    def rows_by_system(self) -> dict[str, list[int]]:
        """The rows of each system; ReadError where one does not say whose it is."""
        assert self.system is not None
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(
            self.labels(self.system, "a missing system; write whose line it is")
        ):
            rows.setdefault(name, []).append(row)
        if len(rows) > MOST:
            raise self.error(
                f"more than {MOST} systems; keep those to be compared", None, self.system
            )
        return rows

    def labels(self, column: int, problem: str) -> list[str]:
        """The cells of a column, none of which may be missing."""
        found = self.texts(column)
        for text in () if column in self._whole else dict.fromkeys(found):
            if (len(text) < 5 or text[0] == "-") and kind_of(text) == "missing":
                raise self.error(f"{text!r} is {problem}", found.index(text), column)
        self._whole.add(column)
        return found

    @cached_property
    def _whole(self) -> set[int]:
        """The columns in which nothing is missing."""
        return set()

    def common(self, rows: Sequence[int], taken: Collection[int] = ()) -> dict[str, Any]:
        """What is known of the items of some rows, whatever their scores: ids, groups, texts."""
        whole = len(rows) == len(self)

        def some(column: Sequence[Any]) -> Sequence[Any]:
            return column if whole else [column[row] for row in rows]

        ids, by, swapped, notes = self._identity(rows)
        groups = {}
        for i in range(self.width) if self.table.names or self.how.clusters else ():
            if i in taken or (i in self.ids and i != self.cluster):
                continue
            kinds = self._kinds[i]
            if i == self.cluster:
                groups[self.name(i)] = some(
                    self.labels(i, "a missing label; write where the item belongs")
                )
            elif kinds["decimal"] == 0 and not (kinds["number"] and kinds["text"]):
                labels = some(self.texts(i))
                if 1 < len(set(labels)) < len(labels):
                    groups[self.name(i)] = labels
        if swapped is not None:
            groups |= {swapped[0]: swapped[1]}
        name = None if swapped is None else swapped[0]
        if self.cluster is not None:
            name = self.name(self.cluster)
            if self.how.clusters is None or self.how.clusters is True:
                notes.append(SWAPPED.format(self.key(self.cluster)))
        text = self.called(TEXT_NAMES)
        return {
            "ids": ids,
            "paired_by": by,
            "clusters": groups,
            "swapped": name,
            "notes": (*self.notes, *notes),
            "places": Lazy(len(rows), lambda i: self.table.place(rows[i])),
            "texts": None if text is None else some(self.table.columns[text]),
        }

    def _identity(
        self, rows: Sequence[int]
    ) -> tuple[list[str] | None, str, tuple[str, list[str]] | None, list[str]]:
        """Ids of rows, what they are, the repeats that are swapped together, and notes."""
        index = self.table.index
        if not self.ids and self.how.repeat is not None:
            problem = (
                "tells repeats of an item apart, but no column says which item; name it (--id)"
            )
            raise self.error(problem, None, self.repeat)
        if not self.ids and index is None:
            return None, ORDER, None, []
        if self.ids:
            parts = [self.labels(i, "an item without a name; write one") for i in self.ids]
            by = self.known_by or " and ".join(map(str, map(self.key, self.ids)))
        else:
            parts, by = (
                [[printable(text_of(one)) for one in index or ()]],
                self.table.index_name or "index",
            )
        items = [parts[0][row] for row in rows]
        if len(parts) > 1:
            items = [" / ".join(part[row].replace("/", "//") for part in parts) for row in rows]
        if self.cluster is not None and self.ids == [self.cluster] and len(set(items)) < len(items):
            return None, ORDER, None, []
        if self.repeat is None:
            return items, by, None, []
        which = self.labels(self.repeat, "a repeat without a name; write one")
        ids = [
            f"{item} ({self.name(self.repeat)} {which[row]})"
            for item, row in zip(items, rows, strict=True)
        ]
        by += f" and {self.key(self.repeat)}"
        if len(set(items)) == len(items):
            return ids, by, None, []
        note = f"repeats of an item, told apart by {self.key(self.repeat)!r}, are swapped together"
        notes = [note] if self.how.clusters is None else []
        return ids, by, (" and ".join(self.name(i) for i in self.ids), items), notes

    def agreeing(self, rows: Sequence[int], taken: Collection[int]) -> dict[str, dict[str, Any]]:
        """Texts of the items: those that must agree, and those that must not be permuted."""
        found: dict[str, dict[str, Any]] = {"agree": {}, "beside": {}}
        for i in range(self.width) if self.table.names else ():
            name = self.name(i).lower()
            free = i not in self.ids and i not in taken and i != self.system
            listed = any(isinstance(cell, list | dict) for cell in self.table.columns[i][:1])
            of_item = not self._kinds[i]["decimal"] and words(name) <= NO_SYSTEM
            plain = i not in self.numeric or of_item or self.may_be_key(i)
            if free and not listed and plain and OUTPUTS.isdisjoint(tokens(name)):
                column = [self.texts(i)[row] for row in rows]
                found["agree" if name in TEXT_NAMES else "beside"][name] = column
        return found

    # ---- one system

    def only_system(self) -> str:
        """What the one system of a table is called; ReadError where it may be of several."""
        if self.table.names is None and self.width > 1:
            raise self.error(
                f"{self.width} columns and no header, but a file for each system holds one number "
                "a line; put names above the columns, such as 'id' and 'score'; a file of both "
                "systems is read alone",
                0,
            )
        names = list(dict.fromkeys(self.texts(self.system))) if self.system is not None else []
        if len(names) > 1 and not self.ids:
            problem = f"{len(names)} systems and no ids; add a column 'id' that says which item a "
            raise self.error(
                f"{problem}line is, or write a file for each system", None, self.system
            )
        return printable(names[0]) if len(names) == 1 else self.table.file.stem

    def of_system(self, system: str, rows: Sequence[int]) -> SystemScores:
        """The scores and counts of one system, of which these rows are."""
        single = [0] if self.table.names is None else self._single()
        bare = self._counts().get("", {})
        known = self._tables(bare, rows)
        if not single and not known["scores"]:
            raise self.error(f"no column of numbers; {self.columns()}")
        cells, name = self.table.columns, self.name if self.table.names else lambda _: "score"
        scores = {name(i): [cells[i][row] for row in rows] for i in single}
        shared = [(count, used[0]) for count, used in bare.items() if count in OF_THE_ITEM]
        same = {count: [_plain(cells[i][row]) for row in rows] for count, i in shared}
        taken = {*single, *self._counted}
        texts = self.agreeing(rows, taken)
        return SystemScores(
            system,
            self.table.file,
            scores | known["scores"],
            counts=known["counts"],
            columns={name(i): [self.label(i)] for i in single} | known["columns"],
            agree=texts["agree"] | (same if known["scores"] else {}),
            beside=texts["beside"],
            **self.common(rows, taken if len(taken) == 1 else ()),
        )

    def _single(self) -> list[int]:
        """The columns of single scores, the likely ones first."""
        found = [i for i in self._wide_columns() if i not in self._counted]
        return sorted(found, key=lambda i: words(self.name(i)) <= NO_SYSTEM)

    def _counts(self) -> dict[str, dict[str, list[int]]]:
        """The columns of each system, by what they count; "" is no system."""
        return systems_in([self.name(i) for i in range(self.width)] if self.table.names else [])

    def _sets(self, counts: Mapping[str, list[int]]) -> dict[tuple[str, ...], list[int]]:
        """The complete sets of counts, and their columns."""
        found = {}
        for names in layouts():
            if counts.keys() >= set(names):
                for count in names:
                    if len(counts[count]) > 1:
                        both = " and ".join(self.label(i) for i in counts[count])
                        raise self.error(f"{both} both hold {count}; rename one of them")
                found[names] = [counts[count][0] for count in names]
        return found

    def _tables(self, counts: Mapping[str, list[int]], rows: Sequence[int]) -> dict[str, Any]:
        """The scores that are sets of counts, with what `SystemScores` must know of them."""
        sets = {written(names): (names, used) for names, used in self._sets(counts).items()}
        return {
            "scores": {", ".join(k): self._tuples(*both, rows) for k, both in sets.items()},
            "counts": {", ".join(k): k for k in sets},
            "columns": {
                ", ".join(k): [self.label(i) for i in (used if len(used) == len(k) else used * 10)]
                for k, (_, used) in sets.items()
            },
        }

    def _tuples(
        self, columns: tuple[str, ...], used: Sequence[int], rows: Sequence[int]
    ) -> list[tuple[Any, ...]]:
        """The counts of each row; those of sacreBLEU are lists of four."""
        cells = [self.table.columns[i] for i in used]
        if columns[0] != "counts":
            return [tuple(column[row] for column in cells) for row in rows]
        found = []
        for row in rows:
            parts: list[Any] = []
            for column, i in zip(cells, used, strict=True):
                cell = column[row]
                four = re.findall(r"\d+", str(cell)) if str(cell).startswith("[") else [cell]
                if len(four) != (4 if len(parts) < 8 else 1):
                    raise self.error(f"{shown(str(cell))} is no list of four counts", row, i)
                parts += four
            found.append(tuple(parts))
        return found

    # ---- systems side by side

    def _wide_columns(self) -> list[int]:
        return [i for i in self.numeric if i not in self.apart]

    def wide(self) -> tuple[list[SystemScores], list[str], str, list[str]]:
        """The systems of a table with columns for each.

        Returns
        -------
        found : list of SystemScores
            All that can be named.
        usual : list of str
            Those that are meant unless others are named.
        doubt : str
            Why none is meant; "" where some are.
        others : list of str
            The columns that are no systems.
        """
        rows = range(len(self))
        common = self.common(rows) | {"paired_by": ROW}
        found = [self._column(i, common) for i in self.numeric if i not in self.ids]
        names = {one.system for one in found}
        shared = {k: v for k, v in self._counts().get("", {}).items() if k in OF_THE_ITEM}
        for system, counts in self._counts().items():
            known = self._tables(shared | counts, rows) if system and system not in names else {}
            if known.get("scores"):
                found.append(SystemScores(system, self.table.file, **known, **common))
        usual, doubt = self._usual()
        keys = [self.name(i) for i in range(self.width)]
        return found, usual, doubt, [key for key in keys if key not in usual]

    def check_not_systems(self) -> None:
        """Refuse lines that are systems and no items: a model in each, and tasks beside it."""
        if self.system is None or self.ids or self.how.id is False or self.system in self.numeric:
            return
        names = self.texts(self.system)
        if len(names) > 1 and len(set(names)) == len(names):
            problem = (
                "a line is a system, not an item; write a column for each system and a line for"
            )
            raise self.error(
                f"{problem} each item, or pair lines as they are (--by-order)", 0, self.system
            )

    def column_system(self, wanted: object) -> SystemScores:
        """The system that is one column of a wide table, whatever it holds."""
        common = self.common(range(len(self)))
        return self._column(self.find(wanted), common | {"paired_by": ROW})

    def _column(self, i: int, common: dict[str, Any]) -> SystemScores:
        cells, label = {"score": self.table.columns[i]}, {"score": [self.label(i)]}
        return SystemScores(self.name(i), self.table.file, cells, columns=label, **common)

    def listed_system(self, wanted: Any, entry: CountStatistic, option: str) -> SystemScores:
        """The system whose counts are in these columns, listed in the order of the counts."""
        columns = [self.find(one) for one in wanted]
        fitting = [m.columns for m in entry.measures if len(m.columns) == len(columns)]
        if not fitting:
            number = f"{len(columns)} column{'s' * (len(columns) != 1)}"
            problem = f"{option} lists {number}, but {entry.name!r} needs {entry.layouts()} of each"
            raise self.error(f"{problem} system; {self.columns()}")
        said = [readings(self.name(i)) if self.table.names else [] for i in columns]
        for i, count, ways in zip(columns, fitting[0], said, strict=True):
            if columns.count(i) > 1:
                problem = f"{option} lists {self.label(i)} {columns.count(i)} times; list each once"
                raise self.error(problem)
            said_of = {word for _, word in ways} & set(WORDS.values())
            if said_of and count not in said_of:
                problem = f"{option} lists {self.label(i)} where {count} belongs; list the columns "
                order = ", ".join(fitting[0])
                raise self.error(f"{problem}in the order {order}, or rename this one")
        own = [{system for system, _ in ways} for ways in said]
        common = set.intersection(*own) if own and all(own) else set()
        if any("" in systems for systems in own):  # a count of the item beside those of the system
            rest = [systems for systems in own if "" not in systems]
            common = set.intersection(*rest) if rest else set()
        name = common.pop() if len(common) == 1 else option.upper()
        cells = list(zip(*(self.table.columns[i] for i in columns), strict=True))
        return SystemScores(
            name,
            self.table.file,
            {", ".join(fitting[0]): cells},
            counts={", ".join(fitting[0]): fitting[0]},
            columns={", ".join(fitting[0]): [self.label(i) for i in columns]},
            **(self.common(range(len(self))) | {"paired_by": ROW}),
        )

    def halves(self, entry: CountStatistic) -> list[SystemScores]:
        """Two systems where no header names any: the first half of the columns and the second."""
        columns = [i + 1 for i in range(self.width) if i not in self.apart]
        for size in (len(measure.columns) for measure in entry.measures):
            if len(columns) == 2 * size:
                both = zip((columns[:size], columns[size:]), "ab", strict=True)
                return [self.listed_system(some, entry, option) for some, option in both]
        problem = f"{len(columns)} columns and no header, but {entry.name!r} needs "
        names = ", ".join(f"A_{count}" for count in entry.columns)
        remedy = f"call the columns of a system A {names}, or list those of each as a and b"
        raise self.error(f"{problem}{entry.layouts()} of each system; {remedy}")

    def holds_bare_counts(self) -> bool:
        """Whether columns are called like counts of no system, or like four without a header."""
        names = self.table.names
        if names is None:
            return self.width == 4
        return sum(name.lower() in WORDS for name in names) > 1

    def _usual(self) -> tuple[list[str], str]:
        """The columns that are systems since they look alike, or why that is not clear."""
        single = [i for i in self._wide_columns() if i not in self._counted]
        if self.table.names is None:
            if self.width == 4 == len(single) and not any(k["decimal"] for k in self._kinds):
                return [], "four whole numbers a line: of which systems?"
            return [self.name(i) for i in (single if self.width > 2 else range(self.width))], ""
        gold = self.called(GOLD_NAMES)
        if gold in single:
            name = self.name(gold)
            problem = f"column {name!r} may say what is right, and others what systems predicted: "
            return [], f"{problem}score them by it (--gold {name}), or name the columns of scores"
        families = self._families(single)
        known = ", ".join(repr("_".join(what)) for what in families if what) or "none"
        if self.how.score is not None:
            wanted = tuple(tokens(self.how.score))
            fitting = [what for what in families if what == wanted]
            fitting = fitting or [what for what in families if set(wanted) <= set(what)]
            if len(fitting) != 1:
                problem = f"no measure {self.how.score!r} in the names of columns"
                return [], f"{problem}; there are {known}"
            return [self.name(i) for i in families[fitting[0]]], ""
        main = {what: some for what, some in families.items() if not what or set(what) - NO_SYSTEM}
        # Costs, times and the like beside the systems themselves are no other measure.
        offered = main if len(families.get((), ())) > 1 else families
        several = {what: some for what, some in offered.items() if len(some) > 1}
        if len(several) > 1:
            return [], f"several measures of each system ({known}); choose one (--score)"
        if not several and len(main) > 1:
            return [], f"columns of different measures ({known}): which are systems?"
        some = next(iter((several or main or families).values()), [])
        if len(some) > 1 and not _alike([self.texts(i) for i in some]):
            names = ", ".join(repr(self.key(i)) for i in some)
            return [], f"columns of numbers that do not look alike ({names}): which are systems?"
        return [self.name(i) for i in some], ""

    def _families(self, columns: Sequence[int]) -> dict[tuple[str, ...], list[int]]:
        """The columns by what they measure, if any of these is of a system by its name."""
        found: dict[tuple[str, ...], list[int]] = {}
        for i in columns:
            found.setdefault(measured(self.name(i))[0], []).append(i)
        return {
            what: some
            for what, some in found.items()
            if any(measured(self.name(i))[1] for i in some)
        }

    @cached_property
    def _counted(self) -> set[int]:
        """The columns that are counts of something: of a system that has a full set of them."""
        shared = self._counts().get("", {})
        sets = [self._sets(shared | counts) for counts in self._counts().values()]
        return {i for some in sets for used in some.values() for i in used}


# ---- cells and names -----------------------------------------------------------------------------


def as_list(wanted: Any) -> list[Any]:
    """One or several columns as a list."""
    wanted = wanted.tolist() if hasattr(wanted, "tolist") else wanted
    return list(wanted) if isinstance(wanted, list | tuple | range) else [wanted]


def _plain(cell: Any) -> str:
    """A number as text that is the same however it is written."""
    text = text_of(cell)
    return text.partition(".")[0] if kind_of(text) == "integer" else text


def _value(text: str) -> float | None:
    """A cell as a float, None where it is no number."""
    word = text.lower()
    if word in ("true", "false"):
        return float(word == "true")
    return float(text) if is_number(text) else None


def _kinds(column: Sequence[str]) -> Counter[str]:
    """How many cells are a "number", "missing" or "text"; some number a "decimal"."""
    found: Counter[str] = Counter()
    distinct = Counter(column)
    for cell in islice(distinct, SOME):
        kind = kind_of(cell)
        found[kind if kind in ("missing", "text") else "number"] += distinct[cell]
        found["decimal"] += kind in ("decimal", "scientific")
    return found


def _alike(columns: Sequence[Sequence[str]]) -> bool:
    """Whether columns of numbers are of one kind, with ranges within a factor of twenty."""
    values = [{x for x in map(_value, set(column)) if x is not None} for column in columns]
    most = [max(map(abs, some), default=0.0) for some in values]
    known = [x for x in most if x > 0]
    binary = [some <= {0.0, 1.0} for some in values]
    mixed = sum(binary) > 1 and any(x > 1 for x in most)
    return not mixed and (not known or max(known) <= 20 * min(known))
