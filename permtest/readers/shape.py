"""A table becomes the scores of systems: which columns are items, systems, scores, groups.

A line is an item of all systems, which have a column each (wide); or an item of one system (long);
or the table is of one system. What names and cells do not settle is refused, with the option that
settles it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from permtest.readers.files import (
    VERDICTS,
    brief,
    did_you_mean,
    kind_of,
    listed,
    not_a_score,
    number_or_none,
    printable,
    shown,
    text_of,
)
from permtest.readers.names import (
    ITEMS,
    LAYOUTS,
    NO_KEYS,
    OF_THE_ITEM,
    ROLES,
    SAYS,
    no_system,
    owner_and_measure,
    predicted,
    readings,
    says,
    words,
)
from permtest.readers.systems import ORDER, ROW, SystemScores, twice
from permtest.readers.tables import Table
from permtest.score import tokens
from permtest.statistics import Statistic

Column: TypeAlias = "str | int"
Columns: TypeAlias = "Column | Sequence[Column]"

#: Systems that one file may have; distinct cells of a column that say what it holds.
MOST, SOME = 1000, 5000

#: How the names of many language models begin, by which rows of them are told from items.
MODELS = re.compile(r"\b(gpt|claude|llama|mi[sx]tral|gem(ini|ma)|qwen|deepseek|\w*berta?\b)", re.I)
PROBABILITIES = "these are probabilities; write the predicted label, or the Brier score or log loss"
PREDICTED = (
    "decimals beside the right ones may be predictions, not scores; write a column of each "
    "system's errors (lower is better), or call permtest.metric_test in Python with a function of "
    "your own"
)
ARE_SCORES = ", or, if they are scores, say so (--score correct)"

# ---- a table and what its columns hold -----------------------------------------------------------


@dataclass(frozen=True)
class How:
    """The user's options; None if permtest has to infer them from names and cells."""

    id: Columns | bool | None = None  # the columns that pair items; False: their order does
    system: Column | None = None  # the column that says whose a line is, and so on
    repeat: Column | None = None
    cluster: Column | bool | None = None
    gold: Column | None = None
    score: str | None = None  # which measure is meant
    missing: str | None = None  # what becomes of items without a score of every system
    positive: str | None = None  # the label that is to be found
    higher_is_better: bool | None = None


class Doubt(NamedTuple):
    """Why it is not clear which columns are systems; no text if it is."""

    text: str = ""
    settled: bool = False  # whether the text says what to do
    columns: bool = True  # whether the columns have to be named as well


@dataclass(frozen=True, eq=False)
class Sheet(Table):
    """A table, what its columns hold, and the user's options."""

    how: How = How()
    notes: tuple[str, ...] = ()
    known_by: str = ""  # what pairs the items, where it is called differently in another file

    @classmethod
    def of(cls, table: Table, how: How) -> Sheet:
        """The table with plain numbers; a row of totals is refused."""
        sheet = cls(**vars(table), how=how)
        for plain in (cls._without_blanks, cls._with_points, cls._of_measure):
            sheet = plain(sheet)
        if how.id in (None, False) and len(sheet) > 2:
            sheet._check_summary()
        if sheet.names is not None and not sheet.ids and how.id is not False:
            sheet._check_twice()
        return sheet

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    def key(self, i: int) -> Column:
        """The name of a column, or its number from 1."""
        return (self.names[i] if self.names else "") or i + 1

    def name(self, i: int) -> str:
        """The name of a column."""
        return (self.names[i] if self.names else "") or f"column {i + 1}"

    def known(self) -> str:
        """Which columns there are, for a message."""
        if self.names is None:
            return "it has " + (f"columns 1 to {self.width}" if self.width > 1 else "one column")
        return f"its columns are {listed([brief(repr(self.key(i))) for i in range(self.width)])}"

    def find(self, wanted: object) -> int:
        """The column of that name, or of that number from 1."""
        names, text = self.names or (), str(wanted)
        if isinstance(wanted, str) and wanted in names and wanted:
            return names.index(wanted)
        if text.isascii() and text.isdecimal() and 1 <= int(text) <= self.width:
            return int(text) - 1
        said = wanted if isinstance(wanted, int) else repr(wanted)
        raise self.error(f"no column {said}{did_you_mean(wanted, names)}; {self.known()}")

    def called(self, role: str) -> int | None:
        """The column that has the first of the names of a role, in whatever case."""
        said = [name.lower() for name in self.names or ()]
        return next((said.index(name) for name in ROLES[role] if name in said), None)

    @cached_property
    def texts(self) -> list[list[str]]:
        """The cells of each column as text that can be printed."""
        return [  # most are text already
            cells
            if {*map(type, cells)} == {str} and "".join(cells).isprintable()
            else [printable(text_of(cell)) for cell in cells]
            for cells in self.columns
        ]

    @cached_property
    def kinds(self) -> list[Counter[str]]:
        """How many cells of each column are a "number", "missing", "text"; some a "decimal"."""
        found = [Counter[str]() for _ in self.columns]
        for kinds, cells in zip(found, map(Counter, self.texts), strict=True):
            for cell in islice(cells, SOME):
                kind = kind_of(cell)
                kinds[kind if kind in ("missing", "text") else "number"] += cells[cell]
                kinds["decimal"] += kind in ("decimal", "scientific", "percent")
        return found

    @cached_property
    def has_gold(self) -> bool:
        """Whether a column holds the right labels, so that others may hold predictions."""
        return self.how.gold is not None or self.called("gold") is not None

    @cached_property
    def numeric(self) -> list[int]:
        """The columns of numbers, among which there may be slips; or of verdicts as scores."""
        found = [i for i, k in enumerate(self.kinds) if k["number"] >= max(k["text"], 1)]
        if self.has_gold:
            return found
        alone = all(no_system(self.name(i)) or self._is_key(i) for i in found)
        rest = (i for i in range(self.width) if i not in found)
        return sorted([*found, *(i for i in rest if self._has_verdicts(i, alone=alone))])

    def _has_verdicts(self, i: int, *, alone: bool) -> bool:
        """Whether cells say pass or fail, and names that they are scores, or no others could be."""
        name, cells = self.name(i), {x.lower() for x in self.texts[i]} - {""}
        of_item = any(name.lower() in ROLES[role] for role in ("text", "system", "id"))
        if of_item or says(name, "output") or not (alone or says(name, "judged")):
            return False
        return bool(cells) and any(cells <= {*pair} for pair in VERDICTS)

    @cached_property
    def ids(self) -> list[int]:
        """The columns that say which item a line is."""
        if self.how.id is not None:
            named = [] if self.how.id is False else as_list(self.how.id)
            return list(dict.fromkeys(map(self.find, named)))
        if (found := self.called("id")) is not None:
            return [found]
        if self.index:
            return [i for i in self.index if i != self.system] or [*self.index]
        keys = [i for i in range(self.width) if self._is_key(i)][:1]
        return keys if keys and self._distinct(keys) == len(self) else self._recurring

    @property
    def _recurring(self) -> list[int]:
        """The column that shows what an item is, where items come twice or more on average."""
        what = [i for i in range(self.width) if self.name(i).lower() in ITEMS]
        if not what and (item := self.called("item")) is not None:
            what = [item]
        number = self._distinct([*what, *self._whose]) if what else len(self)
        if 2 * number > len(self):
            return []
        group = self.name(what[0]).lower() in ("name", "task")  # of many items, perhaps
        if group and number * self._distinct(what) < len(self):
            return []
        for i in (i for i in range(self.width) if i != self.numbered):
            text = i not in self.numeric and not says(self.name(i), "output")
            if (text or says(self.name(i), "key")) and self._distinct([i]) == len(self):
                return []
        return what[:1] if self._distinct(what) > 1 else []

    def _distinct(self, columns: Sequence[int]) -> int:
        rows = (self.texts[i] for i in columns)
        return len(set(next(rows) if len(columns) == 1 else zip(*rows, strict=True)))

    def _is_key(self, i: int) -> bool:
        name = self.name(i).lower()
        return name.endswith("_id") and name not in (*ROLES["system"], *ROLES["cluster"])

    @cached_property
    def system(self) -> int | None:
        """The column that says which system a line belongs to."""
        return self.called("system") if self.how.system is None else self.find(self.how.system)

    @cached_property
    def cluster(self) -> int | None:
        """The column whose values are swapped as a whole."""
        if self.how.cluster is not None:
            return None if self.how.cluster is False else self.find(self.how.cluster)
        found = self.called("cluster")
        return None if found is None or self._distinct([found]) < 2 else found

    @cached_property
    def repeat(self) -> int | None:
        """The column that tells repeats of an item apart, where there are some."""
        if self.how.repeat is not None:
            if (found := self.find(self.how.repeat)) in self.ids:
                problem = "says which item a line is; name another that tells repeats apart"
                raise self.error(f"{problem} (--repeat)", None, found)
            return found
        if not self.ids or self.cluster in self.ids:
            return None
        rows, said = [*self.ids, *self._whose], [name.lower() for name in self.names or ()]
        if self._distinct(rows) == len(self):
            return None
        some = (said.index(name) for name in ROLES["repeat"] if name in said)
        fits = (i for i in some if i not in rows and self._distinct([*rows, i]) == len(self))
        return next(fits, None)

    @property
    def _runs(self) -> int | None:
        """The column that by its name tells runs apart, where nothing says of which items."""
        if self.names is None or self.how.id is False or self.cluster is not None:
            return None
        lines = {i: self._distinct([i]) for i in range(self.width)}
        if any(lines[i] == len(self) and self.may_be_key(i) for i in lines):
            return None
        called = {*ROLES["repeat"]} - {"fold", "turn"}  # of which each may hold other items
        some = (i for i in lines if self.name(i).lower() in called)
        return next((i for i in some if 1 < lines[i] < len(self)), None)

    @property
    def _whose(self) -> list[int]:
        return [] if self.system is None or self.system in self.numeric else [self.system]

    @cached_property
    def apart(self) -> set[int]:
        """The columns that surely hold no scores."""
        known = (self.repeat, self.cluster, self.called("cluster"), self.numbered)
        called = [self.name(i).lower() for i in range(self.width)]
        named = {i for i, x in enumerate(called) if x in ROLES["group"] or x.endswith("_id")}
        named |= {i for i in range(self.width) if self.is_of_item(i)}
        named |= {i for i in known if i is not None}
        return named.union(self.ids, self.passed_over, self.index, self._whose)

    @cached_property
    def numbered(self) -> int | None:
        """The first column where, without a name, it numbers the rows, as pandas and R do."""
        bare = self.width > 1 and len(self) > 2 if self.names is None else not self.names[0]
        bare |= self.names is not None and self.names[0] == "Unnamed: 0"
        counts = ([str(k + start) for k in range(len(self))] for start in (0, 1))
        return 0 if bare and self.texts[0] in counts else None

    @cached_property
    def keys(self) -> list[int]:
        """The columns that may say which item a line is, whole numbers beside scores too."""
        return [i for i in range(self.width) if self.may_be_key(i, beside=True)]

    def may_be_key(self, i: int, *, beside: bool = False) -> bool:
        """Whether a column may say which item a line is: text, numbers called so, `beside` any."""
        kinds, name = self.kinds[i], self.name(i)
        if i in (self.system, self.cluster, self.repeat) or kinds["missing"] or kinds["decimal"]:
            return False
        if isinstance(self.columns[i][0], list | dict):
            return False
        if i not in self.numeric:
            return not says(name, "output")
        if not kinds["number"]:  # verdicts
            return False
        bare = self.names is not None and not self.names[i]
        if bare or self.is_of_item(i) or says(name, "key"):
            return True
        scores = not NO_KEYS.isdisjoint(tokens(name)) or says(name, "output")
        if not beside or scores or kinds["text"] or i in self._counted:
            return False
        return self.has_gold or any(k != i for k in self._wide_columns)

    def is_of_item(self, i: int) -> bool:
        """Whether a column shows what an item is, but for what is right."""
        name = self.name(i).lower()
        return name in ROLES["text"] and name not in ROLES["gold"]

    def sureness(self, i: int) -> str:
        """Why numbers may say how sure a system was of labels beside them; "" if they do not."""
        said, gold = {*tokens(self.name(i))}, self.called("gold")
        doubtful, judged = SAYS["doubtful"], SAYS["judged"] - SAYS["doubtful"]
        plain = said.isdisjoint(doubtful) or not said.isdisjoint(judged)
        if plain or self.names is None or not self.kinds[i]["decimal"]:
            return ""
        named = [k for k in range(self.width) if k != i and predicted(self.name(k))]
        named = [k for k in named if not self.kinds[k]["decimal"]]
        named = [k for k in named if k != gold] or named  # a label alone is what was predicted
        for k in named:
            labels = {x.casefold() for x in self.texts[k]} - {""}
            right = {x.casefold() for x in self.texts[gold]} if gold not in (None, k) else ()
            few = len(labels) <= max(len(self) // 10, min(len(self) // 2, 20))
            if max(map(len, labels), default=99) <= 40 and (few or labels <= {*right}):
                where = self.name(gold) if gold not in (None, k) else "FILE"
                what = "_".join(owner_and_measure(self.name(i))[1])
                what = self.name(i) if self.is_long or what not in self.name(i) else what
                problem = f"{self.label(i)} may say how sure the system was of {self.label(k)}; "
                problem += f"compare what is right (--gold {where}), or, if these numbers are what "
                return f"{problem}you compare, choose them (--score {what})"
        return ""

    def of_one_system(self, scored: Collection[int]) -> str:
        """What to do about a table with no more than one column of scores."""
        text, others = "add the file of another system", {*range(self.width)} - {*scored}
        if others - {*self.ids, *self.apart}:
            text += ", or name the column that says whose a line is (--system-col)"
        if self.names is None and self.numbered is not None:
            text += ", or, if column 1 does not number the lines, name both (--a 1 --b 2)"
        if any((number_or_none(x) or 0) < 0 for i in scored for x in self.texts[i]):
            text += "; if these are differences, add a column of zeros, and name both as systems"
        return text

    def obstacle(self) -> str:
        """What keeps a column from being one of scores, for a message: no number, or a label."""
        gold, labels = self.called("gold"), ""
        if gold is not None and gold not in self.numeric:
            said = f"; if {self.name(gold)!r} holds the right labels, name it as gold (--gold "
            return f"{said}{self.name(gold)}), else name the file of right answers (--gold)"
        for i in sorted({*range(self.width)} - {*self.apart, *self.numeric, self.system}):
            texts = [x for x in self.texts[i] if kind_of(x) == "text"]
            slips = [x for x in texts if number_or_none(x) is None]  # among verdicts
            slips = slips if 2 * len(slips) < len(self) else []
            for number in (x for x in texts if x in slips or re.search(r"\d", x)):
                said = f"; {self.place(self.texts[i].index(number))}, {self.label(i)}: "
                return said + not_a_score(number)
            if texts and not labels:
                labels = f"; {self.label(i)} holds labels; name the right answers (--gold)"
        return labels

    # ---- rows that are no items, and numbers that are written otherwise

    def _without_blanks(self) -> Sheet:
        """The same without lines of empty cells alone, where ids say which items the others are."""
        if not self.ids or "" not in self.texts[self.ids[0]] or self.width < 2:
            return self
        rows = [row for row, cells in enumerate(zip(*self.texts, strict=True)) if any(cells)]
        if not (gone := len(self) - len(rows)) or not rows:
            return self
        note = f"{gone} line{'s' * (gone > 1)} of empty cells {'are' if gone > 1 else 'is'} skipped"
        return replace(
            self,
            columns=[[cells[k] for k in rows] for cells in self.columns],
            place=lambda k: self.place(rows[k]),
            notes=(*self.notes, note),
        )

    def _with_points(self) -> Sheet:
        """The same with decimal commas as points, where semicolons separate the cells."""
        found = []
        for i, distinct in enumerate(map(set, self.texts)) if self.mark == ";" else ():
            commas = {x for x in distinct if re.fullmatch(r"[+-]?\d+,\d+(\s?%)?", x)}
            if commas and {*map(kind_of, distinct - commas)} <= {"integer", "missing", "percent"}:
                found.append(i)
        if not found:
            return self
        columns = [
            [x.replace(",", ".") for x in self.texts[i]] if i in found else cells
            for i, cells in enumerate(self.columns)
        ]
        names = ", ".join(repr(self.key(i)) for i in found)
        note = f"commas in column{'s' * (len(found) > 1)} {names} are read as decimal points"
        return replace(self, columns=columns, notes=(*self.notes, note))

    def _of_measure(self) -> Sheet:
        """The rows of the measure that is meant, where a column says which one a line holds."""
        i = self.called("measure")
        if i is None or i in self.numeric or self.key(i) in as_list(self.how.id):
            return self
        known, wanted = list(dict.fromkeys(self.texts[i])), self.how.score
        if not 1 < len(known) < len(self):
            return self
        if wanted not in known:
            problem = f"several measures ({listed(list(map(shown, known)))}); choose one (--score "
            raise self.error(f"{problem}{known[0]})", None, i)
        rows, own = [k for k, x in enumerate(self.texts[i]) if x == wanted], self._wide_columns
        number = own[0] if len(own) == 1 else self.called("score")
        return replace(
            self,
            names=[str(wanted) if k == number else x for k, x in enumerate(self.names or ())],
            columns=[[cells[k] for k in rows] for cells in self.columns],
            place=lambda k: self.place(rows[k]),
            how=replace(self.how, score=None),
        )

    def _check_summary(self) -> None:
        """Refuse a row that sums up others, by its name, or where it has none by its numbers."""
        last, beside = len(self) - 1, {*self.numeric, *self._whose}
        text = [i for i in range(self.width) if i not in beside]
        column = self.called("id") if self.how.id is False else next(iter(self.ids), None)
        if column is None:  # the text that tells most lines apart
            column = max(text, key=lambda i: self._distinct([i]), default=None)
        texts = [""] * len(self) if column is None or self.names is None else self.texts[column]
        all_texts = "\n".join(texts).lower()
        likely = any(word in all_texts for word in SAYS["summary"])  # which is quick
        called = [row for row, label in enumerate(texts if likely else ()) if _is_summary(label)]
        sure = [row for row in called if says(texts[row], "total")]
        if column is not None and (sure or {0, last} & set(called)):
            row = (sure or called)[-1]
            problem = f"{texts[row]!r} may not be an item; remove it; if it really is one, say so "
            raise self.error(f"{problem}(--id {self.key(column)})", row, column)
        nameless = column is not None and self.names is not None and not texts[last]
        many = last > 3 and self.how.id is None
        least = 1 if nameless or column is None else 2
        if (nameless or many) and self._sums_up(least, nameless=nameless):
            way = "--by-order" if column is None else f"--id {self.key(column)}"
            problem = f"the last line {'has no name and ' * nameless}holds the sums or the means "
            problem += f"of all lines above; remove it; if it really is an item, say so ({way})"
            raise self.error(problem, last)

    def _sums_up(self, least: int, *, nameless: bool) -> bool:
        """Whether the last row has the sums or the means of the scores above, in so many columns.

        Items may have such numbers by accident. So sums must be the highest numbers, and means
        must have more digits than what they are of, except where the row has no name.
        """
        sums, means, finer = list[bool](), list[bool](), False
        for i in self.numeric:
            known = {x: number_or_none(x) for x in {*self.texts[i]}}
            *above, last = (known[x] for x in self.texts[i])
            numbers = [x for x in above if x is not None]
            if i in self.apart or self.may_be_key(i) or last is None or len(numbers) < len(above):
                continue
            *others, digits = (len(x.partition(".")[2]) for x in self.texts[i])
            total, highest = sum(numbers), last > max(1.0, *numbers)
            finer |= digits > max(others)
            rounded = 0.51 / 10 ** min(digits, 300) if nameless or digits > max(others) else 1e-9
            sums.append(abs(last - total) <= 1e-9 * max(1.0, total) and (highest or nameless))
            means.append(abs(last - total / len(numbers)) <= rounded)
        return len(sums) >= least and (all(sums) or (all(means) and (finer or nameless)))

    def _check_twice(self) -> None:
        text = [i for i in range(self.width) if i not in (*self.numeric, *self._whose)]
        share = [self._distinct([i]) * (2 if self.is_of_item(i) else 1 / 0.9) for i in text]
        seen: dict[tuple[str, ...], int] = {}
        sure = max(share, default=0) > len(self)
        for row, cells in enumerate(zip(*self.texts, strict=True) if sure else ()):
            if (first := seen.setdefault(cells, row)) != row:
                problem = f"the same as {self.place(first)}; remove it, or pair by order"
                raise self.error(f"{problem} (--by-order)", row)

    # ---- rows of systems

    @cached_property
    def is_long(self) -> bool:
        """Whether a line is an item of one system, and there are several systems."""
        if self.system is None or self.names is None or self._distinct([self.system]) < 2:
            return False
        if self.how.system is not None or len(self._wide_columns) < 2:
            return True
        if self.ids:
            return self._distinct([*self.ids, self.system]) > self._distinct(self.ids)
        each = self._distinct([self.system])
        return each < len(self) and any(
            self._distinct([i]) * each == len(self) == self._distinct([i, self.system])
            for i in self.keys
        )

    def rows_by_system(self) -> dict[str, Sequence[int]]:
        """The rows of each system; ReadError where it is not clear whose one is."""
        names = [] if self.system is None else list(dict.fromkeys(self.texts[self.system]))
        if not self.is_long and self.names is None and self.width > 1:
            problem = f"{self.width} columns and no header; put names above them, such as 'id' and "
            raise self.error(f"{problem}'score', or give one file that has both systems", 0)
        if not self.is_long and len(names) > 1 and not self.ids:
            problem = f"{len(names)} systems, but no column says which item a line is"
            raise self.error(problem, None, self.system, settle="id")
        if not self.is_long or self.system is None:
            return {names[0] if len(names) == 1 else self.file.stem: range(len(self))}
        if len(names) > MOST:
            problem = f"more than {MOST} systems; keep those to compare"
            raise self.error(problem, None, self.system)
        rows: dict[str, list[int]] = {name: [] for name in names}
        missing = "a missing system; write which system the line belongs to"
        for row, name in enumerate(self._labels(self.system, range(len(self)), missing)):
            rows[name].append(row)
        return {**rows}

    def _some(self, column: Any, rows: Sequence[int]) -> Any:
        return column if len(rows) == len(self) else [column[row] for row in rows]

    def _labels(self, column: int, rows: Sequence[int], problem: str) -> list[str]:
        found: list[str] = self._some(self.texts[column], rows)
        for text in dict.fromkeys(found):
            if (len(text) < 5 or text[0] == "-") and kind_of(text) == "missing":
                raise self.error(f"{text!r} is {problem}", rows[found.index(text)], column)
        return found

    def common(self, rows: Sequence[int], taken: Collection[int] = ()) -> dict[str, Any]:
        """What is known of the items of some rows, whatever their scores: ids, groups, texts."""
        ids, by, items, notes = self._identity(rows)
        once = items is None or len({*items}) == len(items)
        groups, own = self._groups(rows, taken), " and ".join(map(self.name, self.ids))
        related = [x for x in groups if x.lower() in ROLES["related"]] if once else []
        if not once or (items and self._distinct([*self.ids, *self._whose]) < len(self)):
            groups[own] = items  # also of a system with a single run of each item
        if self.cluster is not None and self.how.cluster is None:
            note = f"{self.key(self.cluster)!r} groups items because of the column's name "
            notes = [*notes, f"{note}(--no-clusters swaps single items)"]
        text = self.called("text")
        return {
            "ids": ids,
            "paired_by": by,
            "clusters": groups,
            "swapped": self.name(self.cluster)
            if self.cluster is not None
            else own * (not once) or None,
            "items": items,
            "items_by": self._known,
            "notes": (*self.notes, *notes),
            "related": () if self.cluster is not None or self.how.cluster is False else related,
            "at": lambda i: self.place(rows[i]),
            "texts": None if text is None else self._some(self.columns[text], rows),
        }

    def _groups(self, rows: Sequence[int], taken: Collection[int]) -> dict[str, Any]:
        """The columns that items may belong to, by name: text or whole numbers that recur."""
        groups = {}
        for i in range(self.width) if self.names or self.how.cluster else ():
            kinds = self.kinds[i]
            if i == self.cluster and i not in taken:
                missing = "a missing label; write where the item belongs"
                groups[self.name(i)] = self._labels(i, rows, missing)
            elif not (i in taken or i in self.ids or kinds["decimal"]):
                labels = self._some(self.texts[i], rows)
                if not (kinds["number"] and kinds["text"]) and 1 < len(set(labels)) < len(labels):
                    groups[self.name(i)] = labels
        return groups

    @property
    def _known(self) -> str:
        """What says which item a line is, but for repeats."""
        return self.known_by or " and ".join(str(self.key(i)) for i in self.ids)

    def _identity(self, rows: Sequence[int]) -> tuple[Any, str, Any, list[str]]:
        """Ids of rows, what they are, the items of which they are repeats, and notes."""
        if not self.ids:
            runs = self._runs if self.how.repeat is None else self.repeat
            if runs is None:
                return None, ORDER, None, self._repeated(rows)
            problem = "tells repeats apart, but no column says which item; name it (--id COL)"
            order = ", or pair lines by order (--by-order)" * (self.how.repeat is None)
            raise self.error(problem + order, None, runs)
        nameless = "an item without a name; write one"
        parts, by = [as_ids(self._labels(i, rows, nameless)) for i in self.ids], self._known
        items = parts[0]
        if len(parts) > 1:
            both = zip(*parts, strict=True)
            items = [" / ".join(part.replace("/", "//") for part in some) for some in both]
        once = len(set(items)) == len(items)
        if self.repeat is None and not once and self.ids == [self.cluster]:
            return None, ORDER, items, []
        if self.repeat is None:
            if not once:
                raise twice(self.file, items, lambda i: self.place(rows[i]), by)
            return items, by, None, []
        which = self._labels(self.repeat, rows, "a repeat without a name; write one")
        both = zip(items, which, strict=True)
        ids = [f"{item} ({self.name(self.repeat)} {repeat})" for item, repeat in both]
        note = f"repeats of an item are told apart by {self.key(self.repeat)!r}"
        notes = [note] if self.how.cluster is None and not once else []
        return ids, f"{by} and {self.key(self.repeat)}", items, notes

    @cached_property
    def passed_over(self) -> list[int]:
        """The column that would say which item a line is, if order did not."""
        if self.how.id is not False or self.names is None:
            return []
        return self._recurring if (found := self.called("id")) is None else [found]

    def unpaired(self, rows: Sequence[int]) -> dict[str, Any]:
        """The ids of some rows, by the name of their column, where order pairs the lines."""
        return {self.name(i): as_ids([self.texts[i][k] for k in rows]) for i in self.passed_over}

    def _repeated(self, rows: Sequence[int]) -> list[str]:
        """A note on items that come several times, although order pairs the lines."""
        notes = []
        for i in self.passed_over if self.how.cluster is None else ():
            if (most := max(times := {*Counter(self._some(self.texts[i], rows)).values()})) > 1:
                each = "each {!r} comes" if len(times) == 1 else "one {!r} comes up to"
                name, more = self.name(i), "; if these are repeats of an item, swap them together "
                more = f"{more}(--clusters {name})" * (name.lower() not in ROLES["related"])
                notes.append(f"{each.format(name)} {most} times{more}")
        return notes

    def _agreeing(self, rows: Sequence[int], taken: Collection[int]) -> dict[str, Any]:
        """Texts of the items: those that must agree, and those that must not be permuted."""
        found: dict[str, dict[str, Any]] = {"agree": {}, "beside": {}}
        for i in range(self.width) if self.names else ():
            name = self.name(i).lower()
            of_item = not self.kinds[i]["decimal"] and no_system(name)
            plain = i not in self.numeric or of_item or self.may_be_key(i)
            plain &= not isinstance(self.columns[i][0], list | dict)
            free = i not in {*self.ids, *taken, self.system, self.numbered}
            if free and plain and not says(name, "output"):
                column = [self.texts[i][row] for row in rows]
                found["agree" if name in ROLES["text"] else "beside"][name] = column
        found["agree"] |= self.unpaired(rows)
        for counts, own in self._sets.get("", {}).items():
            for count, i in zip(counts, own, strict=True):
                if count in OF_THE_ITEM:
                    found["agree"][count] = [_plain(self.columns[i][row]) for row in rows]
        return found

    # ---- one system

    def _system(
        self, system: str, rows: Sequence[int], used: Mapping[Any, Sequence[int]], **known: Any
    ) -> SystemScores:
        """A system whose scores, or sets of counts, are in these columns."""
        scores: dict[str, Any] = {}
        counts, columns = {}, {}
        for what, own in used.items():
            parts = [self._some(self.columns[i], rows) for i in own]
            name = what
            if isinstance(what, tuple):
                name = ", ".join(what)
                counts[name], parts = what, [list(zip(*parts, strict=True))]
            scores[name], columns[name] = parts[0], list(map(self.label, own))
        return SystemScores(system, self.file, scores, counts=counts, columns=columns, **known)

    def of_system(self, system: str, rows: Sequence[int]) -> SystemScores:
        """The scores and counts of one system, of which these rows are."""
        single = [i for i in self._wide_columns if i not in self._counted]
        single = sorted(single, key=lambda i: no_system(self.name(i)))
        used: dict[Any, Sequence[int]] = {self.name(i): [i] for i in single}
        used |= self._sets.get("", {})
        if self.names is None:
            single, used = [0], {"score": [0]}
        if not used:
            raise self.error(f"no column of numbers; {self.known()}{self.obstacle()}")
        taken = {*single, *self._counted}
        common = self.common(rows, taken if len(taken) == 1 else ())
        return self._system(system, rows, used, **self._agreeing(rows, taken), **common)

    # ---- counts

    @cached_property
    def _sets(self) -> dict[str, dict[tuple[str, ...], list[int]]]:
        """The complete sets of counts of each system, and their columns; "" is no system."""
        known: dict[str, dict[str, list[int]]] = {}
        for i in range(self.width) if self.names else ():
            for system, count in readings(self.name(i)):
                known.setdefault(system, {}).setdefault(count, []).append(i)
        shared = {k: v for k, v in known.get("", {}).items() if k in OF_THE_ITEM}
        found: dict[str, dict[tuple[str, ...], list[int]]] = {}
        for system, own in known.items():
            counts = shared | own
            for layout in (one for one in LAYOUTS if counts.keys() >= set(one)):
                for count in (count for count in layout if len(counts[count]) > 1):
                    both = " and ".join(self.label(i) for i in counts[count])
                    raise self.error(f"{both} both hold {count}; rename one of them")
                found.setdefault(system, {})[layout] = [counts[count][0] for count in layout]
        return found

    @cached_property
    def _counted(self) -> set[int]:
        """The columns that are counts of something: of a system that has a full set of them."""
        return {i for sets in self._sets.values() for used in sets.values() for i in used}

    def listed_system(self, wanted: Any, entry: Statistic, option: str) -> SystemScores:
        """The system whose counts are in these columns, listed in the order of the counts."""
        columns = [self.find(one) for one in wanted]
        counts = next((m.columns for m in entry.measures if len(m.columns) == len(columns)), None)
        if counts is None:
            problem = f"{option} lists {len(columns)} column{'s' * (len(columns) != 1)}, but "
            raise self.error(f"{problem}{entry.name!r} needs {entry.layouts()}; {self.known()}")
        for i, count in zip(columns, counts, strict=True):
            if columns.count(i) > 1:
                raise self.error(f"{option} lists {self.label(i)} more than once; list it once")
            ways = readings(self.name(i)) if self.names else []
            if ways and count not in {word for _, word in ways}:
                problem = f"{option} lists {self.label(i)} where {count} belongs; list the columns "
                raise self.error(f"{problem}in the order {', '.join(counts)}")
        return self._system(option.upper(), range(len(self)), {counts: columns}, **self._side)

    # ---- systems side by side

    @cached_property
    def _wide_columns(self) -> list[int]:
        return [i for i in self.numeric if i not in self.apart]

    @property
    def scored(self) -> list[int]:
        """The columns of numbers that may be scores."""
        return [i for i in self._wide_columns if not no_system(self.name(i))]

    @cached_property
    def _side(self) -> dict[str, Any]:
        """What is known of the items of systems that are columns of the table."""
        derived = [x for x in map(self.name, self._wide_columns) if words(x) <= SAYS["derived"]]
        notes = [f"column {name!r} is derived from others" for name in derived]
        notes += ["column 1 numbers the lines"] * (self.names is None and self.numbered == 0)
        common = self.common(range(len(self))) | {"paired_by": ROW}
        return common | {"notes": (*common["notes"], *self.usual[2], *notes)}

    def wide(self) -> list[SystemScores]:
        """The systems of a table that has columns for each."""
        bare = self.names is not None and not self.names[0]
        whose = next(iter([*self._whose, *self.index, *([0] * bare)]), None)
        rows = [] if whose is None else self.texts[whose]
        models = len(rows) if self._whose else 2 * sum(map(bool, map(MODELS.search, rows)))
        known = self.ids and self.ids != [*self.index]
        if 1 < len(set(rows)) == len(rows) <= models and not known and self.how.id is not False:
            problem = f"a line is a system ({shown(rows[0])}), not an item; transpose the table, or"
            raise self.error(f"{problem} pair lines as they are (--by-order)", 0, whose)
        side = self._side  # which refuses items that are there twice
        found = [self.column_system(i + 1) for i in self.numeric if i not in self.ids]
        taken = {"", *(one.system for one in found)}
        return found + [
            self._system(system, range(len(self)), sets, **side)
            for system, sets in self._sets.items()
            if system not in taken
        ]

    def column_system(self, wanted: object) -> SystemScores:
        """The system that is one column of a wide table, whatever it holds."""
        i = self.find(wanted)
        return self._system(self.name(i), range(len(self)), {"score": [i]}, **self._side)

    @cached_property
    def usual(self) -> tuple[list[str], Doubt, tuple[str, ...]]:
        """The columns that are systems since they look alike, or why that is not clear; notes."""
        single = [i for i in self._wide_columns if i not in self._counted]
        if self.names is None:
            if self.width == 4 == len(single) and not any(k["decimal"] for k in self.kinds):
                return [], Doubt("four whole numbers a line, and no names"), ()
            every = single if self.width > 2 or self.numbered == 0 else range(self.width)
            return [self.name(i) for i in every], Doubt(), ()
        lines = self._distinct([self.system]) if self.system is not None and not self.ids else 0
        if 1 < lines < len(self) and self.how.id is None:
            whose = f"{self.name(self.system or 0)!r} seems to say whose a line is"
            return [], Doubt(f"{whose}; which column is the item? (--id)"), ()
        single = [i for i in single if i != self.called("gold")]
        some, problem = self._family(single)
        kept, notes = self._underived(some)
        doubt = self._may_be_labels(kept or single) if self.how.score is None else Doubt()
        if not doubt.text:
            doubt = Doubt(problem) if problem else self._unlike(kept)
        return ([], doubt, ()) if doubt.text else ([self.name(i) for i in kept], doubt, notes)

    def _unlike(self, kept: Sequence[int]) -> Doubt:
        """The doubt whether columns are systems that do not look alike, or look like copies."""
        names = ", ".join(repr(self.key(i)) for i in kept)
        end = "." + min(map(self.name, kept), key=len, default="")  # of paths in one record of JSON
        if len(kept) > 1 and all(
            f".{self.name(i)}".endswith(end) and self.texts[i] == self.texts[kept[0]] for i in kept
        ):
            return Doubt(f"columns that hold the same ({names})")
        if len(kept) < 2 or _alike([self.texts[i] for i in kept]):
            return Doubt()
        return Doubt(f"columns of numbers that do not look alike ({names})")

    def _may_be_labels(self, columns: Sequence[int]) -> Doubt:
        """The doubt whether columns say what was predicted, or how surely, beside right labels."""
        gold = self.called("gold")
        unsure, problem = ([], "") if gold is None else self.no_labels(gold)
        what = [owner_and_measure(self.name(i)) for i in self.scored if i != gold]
        scores = [x for x in ("_".join(x) for own, x in what if own and x) if not predicted(x)]
        if not set(columns).isdisjoint(unsure):
            if problem == PROBABILITIES:
                return Doubt(problem)
            text = (
                f"{problem}, or, if others are scores, say so (--score {[*scores, 'correct'][0]})"
            )
            return Doubt(text, settled=True, columns=not scores)
        if sure := next(filter(None, map(self.sureness, columns)), ""):
            return Doubt(sure, settled=True, columns=False)
        if gold is None or gold in self.apart:
            return Doubt()
        others = {*range(self.width)} - {gold, *self.apart}
        plain = len(columns) > 0 or len(others) < 2
        if gold in self.numeric:  # beside 0 and 1, which say what was right
            binary = [self._values(i) <= {0, 1, None} for i in (gold, *columns)]
            plain = len(columns) > 0 and not binary[0] and all(binary[1:])
        if plain:
            return Doubt()
        problem = f"column {self.name(gold)!r} may hold the right labels, and others predictions: "
        problem += f"score them by it (--gold {self.name(gold)}), or, if others are scores, "
        text = f"{problem}say so (--score {[*scores, 'correct'][0]})"
        return Doubt(text, settled=True, columns=not scores)

    def _values(self, i: int) -> set[float | None]:
        return {*map(number_or_none, {*self.texts[i]})}

    def no_labels(self, gold: int) -> tuple[list[int], str]:
        """The columns of decimals beside right labels 0 and 1, or right decimals; what to do."""
        some = [i for i in self.numeric if self.kinds[i]["decimal"] and i != gold]
        some = [i for i in some if NO_KEYS.isdisjoint(tokens(self.name(i)))]  # but no Brier scores
        if self._values(gold) == {0, 1}:
            some = [i for i in some if all(0 <= (x or 0) <= 1 for x in self._values(i))]
            return some, PROBABILITIES
        if gold not in self.numeric or 2 * self.kinds[gold]["decimal"] <= len({*self.texts[gold]}):
            return [], ""
        equal = {i: sum(map(str.__eq__, self.texts[i], self.texts[gold])) for i in some}
        return [i for i in some if 2 * equal[i] < len(self)], PREDICTED

    def holds_labels(self, columns: Collection[int]) -> str:
        """Why some columns may hold predictions of the labels in another; "" if they do not."""
        gold = self.called("gold")
        if gold is None or gold in columns:
            return ""
        right = {x.casefold() for x in as_ids(self.texts[gold])}
        said = {x.casefold() for i in columns for x in as_ids(self.texts[i])}
        said = {x for x in said if kind_of(x) != "missing"}
        judged = {*map(number_or_none, said)} <= {0, 1} < {*map(number_or_none, right)} | {0, 1}
        named = any(says(self.name(i), "judged") for i in columns)
        if judged or named or 2 * len(said & right) <= len(said):
            return ""
        problem = f"column {self.name(gold)!r} may hold the right labels, and those that you name "
        problem += f"predictions: score them by it (--gold {self.name(gold)}), or, if they are "
        return f"{problem}scores, say so (--score correct)"

    def _family(self, columns: Sequence[int]) -> tuple[list[int], str]:
        """The columns of the measure that is meant, or why it is not clear which."""
        families: dict[tuple[str, ...], list[int]] = {}
        owned = set()  # the measures that some column has of a system by its name
        for i in columns:
            own, what = owner_and_measure(self.name(i))
            families.setdefault(what, []).append(i)
            owned |= {what} if own else set()
        families = {what: some for what, some in families.items() if what in owned}
        known = ", ".join(repr("_".join(what)) for what in families if what) or "none"
        if self.how.score is not None:
            wanted = tuple(tokens(self.how.score))
            fitting = [what for what in families if set(wanted) <= set(what)]
            fitting = [wanted] if wanted in families else fitting
            if len(fitting) == 1:
                return families[fitting[0]], ""
            return [], f"no measure {self.how.score!r} in the names of columns; there are {known}"
        main = {x: some for x, some in families.items() if not x or set(x) - SAYS["no system"]}
        # Costs, times and the like beside the systems themselves are no other measure.
        offered = main if len(families.get((), ())) > 1 else families
        several = {what: some for what, some in offered.items() if len(some) > 1}
        if len(several) > 1:
            return [], f"several measures of each system ({known}); choose one (--score)"
        if not several and len(main) > 1:
            names = ", ".join(repr(self.name(i)) for some in main.values() for i in some)
            return [], f"columns of different measures ({names})"
        return next(iter((several or main or families).values()), []), ""

    def _underived(self, columns: Sequence[int]) -> tuple[list[int], tuple[str, ...]]:
        """The columns but for sums, means and differences of those before them, which are said."""
        kept: list[int] = []
        notes: list[str] = []
        first = total = np.zeros(len(self))
        for i in columns:
            known = {text: number_or_none(text) or 0.0 for text in {*self.texts[i]}}
            own = np.array([known[text] for text in self.texts[i]])
            ways = [("sum", total), ("mean", total / max(len(kept), 1))]
            if len(kept) == 2:  # total - 2 first = second - first
                ways += [("difference", total - 2 * first), ("difference", 2 * first - total)]
            copy = any(self.texts[i] == self.texts[k] for k in kept)
            sure = len(kept) > 1 and len(self) > 2 and not copy and not {*own} <= {0.0, 1.0}
            found = [what for what, made in ways if sure and np.allclose(own, made, 1e-9, 1e-9)]
            if found:
                notes.append(f"{self.label(i)} is the {found[0]} of the systems before it")
            else:
                first = first if kept else own
                kept, total = [*kept, i], total + own
        return kept, tuple(notes)


# ---- cells ---------------------------------------------------------------------------------------


def _is_summary(label: str) -> bool:
    """Whether a row is called like a summary: "Total", "macro avg", "Mean:"."""
    parts = {x for x in re.findall(r"[^\W_]+", label.lower()) if not x.isdecimal()}
    return len(parts) <= 2 and not SAYS["summary"].isdisjoint(parts)


def as_list(wanted: Any) -> list[Any]:
    """One or several columns as a list."""
    wanted = wanted.tolist() if hasattr(wanted, "tolist") else wanted
    return list(wanted) if isinstance(wanted, list | tuple | range) else [wanted]


def as_ids(cells: Sequence[str]) -> list[str]:
    """Cells as ids, of which 1.0 is 1."""
    return [_plain(x) if x[-2:] == ".0" else x for x in cells]


def _plain(cell: Any) -> str:
    """A number as text that is the same however it is written."""
    text = text_of(cell)
    return text.partition(".")[0] if kind_of(text) == "integer" else text


def _alike(columns: Sequence[Sequence[str]]) -> bool:
    """Whether columns of numbers are of one kind, with ranges within a factor of twenty."""
    values = [{x for x in map(number_or_none, set(c)) if x is not None} for c in columns]
    most = [max(map(abs, some), default=0.0) for some in values]
    known = [x for x in most if x > 0]
    mixed = sum(some <= {0.0, 1.0} for some in values) > 1 and any(x > 1 for x in most)
    return not mixed and (not known or max(known) <= 20 * min(known))
