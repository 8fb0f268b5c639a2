"""The one place where items of systems are put together, and where cells become exact numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from permtest.decimals import in_common_units
from permtest.pairs import Pairs
from permtest.readers import labels
from permtest.readers.files import (
    VERDICTS,
    ReadError,
    as_printed,
    as_score,
    brief,
    check_memory,
    kind_of,
    printable,
    shown,
    text_of,
)
from permtest.readers.shape import (
    DERIVED,
    GOLD_NAMES,
    NO_SYSTEM,
    OF_THE_ITEM,
    OUTPUTS,
    SURENESS,
    WORDS,
    How,
    Sheet,
    as_ids,
    as_list,
    count_statistics,
    words,
)
from permtest.readers.systems import ROW, Format, SystemScores, did_you_mean, listed, told_apart
from permtest.score import Score
from permtest.statistics import CountStatistic, Statistic, lookup

if TYPE_CHECKING:
    from permtest.many import ScoreTable

#: Ids, and notes, that are named in messages and in the provenance, at most.
NAMED = 5

#: The statistics that say which score they are of, and those that say nothing of it.
OWN_SCORES, ANY_SCORE = ("exact_match", "uas", "las"), ("sum", "mean")

MISSING = ("drop", "zero", "error")
Entry: TypeAlias = Statistic | CountStatistic

#: A table, and its rows of one system.
Part: TypeAlias = "tuple[Sheet, Sequence[int]]"


# ---- which column says what an item is, where none is called an id -------------------------------


def keyed(parts: Sequence[Part]) -> list[Part]:
    """The same with a column as ids that differs in every row and is the same in all parts."""
    sheets = [sheet for sheet, _ in parts]
    head = sheets[0]
    known = any(sheet.ids or sheet.table.index is not None for sheet in sheets)
    if known or head.how.id is False or any(sheet.table.names is None for sheet in sheets):
        return list(parts)
    columns = [
        {k: as_ids([sheet.texts(k)[row] for row in rows]) for k in sheet.keys}
        for sheet, rows in parts
    ]
    values = [{k: frozenset(cells) for k, cells in own.items()} for own in columns]
    unique = [
        {k: some for k, some in own.items() if len(some) == len(every[k])}
        for own, every in zip(values, columns, strict=True)
    ]
    found = []  # the columns of all tables that have the same values
    for i, cells in unique[0].items():
        same = [[k for k, some in others.items() if some == cells] for others in unique[1:]]
        if all(same):
            name = head.name(i).lower()
            rest = zip(sheets[1:], same, strict=True)
            found.append([i, *(min(k, key=lambda x: s.name(x).lower() != name) for s, k in rest)])
    found = [some for some in found if some[0] != head.numbered] or found
    if not found:
        _check_no_key(sheets, values, unique)
        for own, sheet in zip(unique, sheets, strict=True):
            texts = [i for i in own if i not in sheet.numeric]
            if texts and not all(any(map(one.may_be_key, one.keys)) for one in sheets):
                problem = f"{sheet.label(texts[0])} may say which item a line is, but not all files"
                raise sheet.error(f"{problem} have one; pair lines by their order (--by-order)")
        return list(parts)
    first, *others = found
    for other in others:
        both = zip(columns, first, other, strict=True)
        pairings = [dict(zip(own[i], own[k], strict=True)) for own, i, k in both]
        if any(one != pairings[0] for one in pairings[1:]):
            names = f"{head.name(first[0])!r} and {head.name(other[0])!r}"
            problem = f"columns {names} could both say which item a line is, and pair the items "
            raise head.error(f"{problem}differently; choose one (--id)")
    name = head.name(first[0])
    note = f"items are paired by {name!r}, which differs in every row and is the same for all"
    return [
        (Sheet(sheet.table, replace(sheet.how, id=i + 1), (*sheet.notes, note), name), rows)
        for (sheet, rows), i in zip(parts, first, strict=True)
    ]


def _check_no_key(
    sheets: Sequence[Sheet],
    values: Sequence[Mapping[int, frozenset[str]]],
    unique: Sequence[Mapping[int, frozenset[str]]],
) -> None:
    """Refuse columns of one name that are nearly a key, before order pairs the items."""
    head = sheets[0]
    for i, own in values[0].items():
        if not head.may_be_key(i):
            continue  # numbers that are called like nothing of an item
        for sheet, some, alone in zip(sheets[1:], values[1:], unique[1:], strict=True):
            k = next((k for k in some if sheet.name(k).lower() == head.name(i).lower()), None)
            if k is None or (i not in unique[0] and k not in alone):
                continue
            alike = {*map(_rough, own)} == {*map(_rough, some[k])}
            if (shared := len(own & some[k])) or alike:
                problem = f"{head.label(i)} may say which item a line is: {shared} of {len(own)} "
                problem += f"values are in {sheet.table.file.path} too"
                if alike and own != some[k]:
                    problem += ", others are written differently"
                elif gone := len(own) - shared:
                    problem += f", {gone} {'is' if gone == 1 else 'are'} missing there"
                else:
                    problem += ", but some of them are twice in one of the files"
                problem += "; make them agree, pair by it all the same "
                raise head.error(f"{problem}(--id {head.name(i)}), or by order (--by-order)")


# ---- what files say, and what is chosen of it ----------------------------------------------------


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What files say, before systems are chosen."""

    format: Format
    found: tuple[SystemScores, ...]  # all systems, under names that differ
    usual: tuple[str, ...] | None = None  # those that are meant unless others are named; None: all
    doubt: str = ""  # why none is meant, where that is not clear
    sheet: Sheet | None = None  # the table, where systems are columns of one
    how: How = field(default_factory=How)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems: those that have counts, or those that are meant, or all."""
        counted = tuple(one.system for one in self.found if self.sheet and one.counts)
        return counted or self.usual or tuple(one.system for one in self.found)

    @property
    def groupings(self) -> tuple[str, ...]:
        """Names of what items may belong to, which is never a count."""
        counts = {x for one in self.found for name in one.counts for x in one.columns.get(name, ())}
        every = dict.fromkeys(name for one in self.found for name in one.clusters)
        return tuple(name for name in every if f"column {name!r}" not in counts)

    @property
    def is_labels(self) -> bool:
        """Whether there are predictions, which are scored here."""
        return self.format.name == "predictions"

    def score_names(self, a: str, b: str) -> tuple[str, ...]:
        """Names of the scores that two systems have, in the order of the first."""
        if self.sheet is not None or self.is_labels:
            return ()
        first, second = self._system(a, "a"), self._system(b, "b")
        return tuple(name for name in first.scores if name in second.scores)

    def statistics(self, a: str, b: str, score: str | None = None) -> tuple[str, ...]:
        """Names of the statistics that can be tested of two systems, the most fitting first."""
        two = [self._system(a, "a"), self._system(b, "b")]
        if self.is_labels:
            used = {x for one in two for x in (*one.agree["gold"], *one.scores[labels.PREDICTION])}
            return labels.fitting(used - {""}, self.how.positive)
        counted = [c for name, c in two[0].counts.items() if name in two[1].counts]
        if counted and (score is None or score in two[0].counts):
            return count_statistics([DERIVED.get(columns, columns) for columns in counted])
        name = self._score(two, score, None)
        every = Chosen(two, name, [], [range(len(one)) for one in two])
        numbers = [x for column in _numbers(every) for x in column]
        counts = all(x is None or (x >= 0 and x == int(x)) for x in numbers)
        return ("accuracy", "mean", "sum") if counts else ("mean", "sum")

    def text(self, name: str) -> str:
        """What an item is, for people to read; "" where the files do not say."""
        known = (one for one in self.found if one.texts is not None and name in one.positions)
        return next((brief(str(one.texts[one.positions[name]]), 300) for one in known), "")  # type: ignore[index]

    def preview(self, rows: int = 8) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The first items: their ids, scores, and groups."""
        columns: dict[str, Sequence[Any]] = {}
        if not self.found:
            assert self.sheet is not None
            columns = {self.sheet.name(i): self.sheet.texts(i) for i in range(self.sheet.width)}
        else:
            one = self.found[0]
            beside = [x for x in self.found if x.file is one.file and len(x) == len(one)]
            numbered = [str(i + 1) for i in range(len(one))]
            columns = {one.paired_by: one.ids} if one.ids is not None else {"item": numbered}
            if self.is_labels:
                columns |= {"gold": one.agree["gold"]}
                columns |= {x.system: x.scores[labels.PREDICTION] for x in beside}
            elif self.sheet is not None:
                columns |= {x.system: c for x in beside for c in x.scores.values()}
            else:
                columns |= {
                    name: [", ".join(map(str, x)) if isinstance(x, tuple) else x for x in c[:rows]]
                    for name, c in one.scores.items()
                }
            columns |= {name: one.clusters[name] for name in self.groupings if name in one.clusters}
        lines = list(zip(*(column[:rows] for column in columns.values()), strict=True))
        return tuple(map(brief, columns)), [tuple(brief(str(x)) for x in line) for line in lines]

    def pairs(
        self,
        a: Any = None,
        b: Any = None,
        *,
        score: str | None = None,
        statistic: str | Entry = "sum",
        clusters: Any = None,
    ) -> Pairs:
        """Two systems, as `permtest.read` says."""
        entry = lookup(statistic)
        if (a is None) != (b is None):
            given, other = ("b", "a") if a is None else ("a", "b")
            both = f"name both {'systems' if self.sheet is None else 'columns'}"
            raise self._error(f"{given} is given without {other}; {both}; {self._known()}")
        if a is None:
            two = self._meant(entry)
        else:
            two = [self._named("a", a, entry), self._named("b", b, entry)]
            if two[0].system == two[1].system:
                what = "column " * (self.sheet is not None) + repr(two[0].system)
                raise self._error(f"a and b are both {what}; name two; {self._known()}")
            self._check_apart(two)
        if len(two) != 2:
            raise self._too_few(two, entry, "say which two are compared (--a, --b)")
        chosen = self._chosen(two, score, entry)
        bare = self.sheet is not None and self.sheet.table.names is None
        first, second = told_apart(["A", "B"] if bare else [one.system for one in two], "AB")
        if chosen.columns:
            u, v = chosen.numbers
            pairs = Pairs(u, v, (first, second), columns=chosen.columns)
        else:
            u, v = map(as_printed, chosen.numbers)
            pairs = Pairs.of(u, v, (first, second), labels=(first, second))
        grouping = self._grouping(two, clusters)
        group, source = chosen.group(grouping), chosen.source(self.format.name, grouping)
        source["no_systems"] = [] if a is not None else self._no_systems(two, numbers=True)
        kind = self._kind(chosen)
        return replace(pairs, ids=chosen.ids, clusters=group, source=source, score=kind)

    def table(
        self,
        systems: Sequence[Any] | None = None,
        *,
        score: str | None = None,
        statistic: str | Entry = "mean",
        clusters: Any = None,
        strata: Any = None,
    ) -> ScoreTable:
        """Two systems or more, as `permtest.read_many` says."""
        from permtest.many.table import ScoreTable  # more than two systems have to load

        entry = lookup(statistic)
        if isinstance(systems, str | int):
            raise TypeError(f"systems={systems!r} must be a list of names")
        if systems is None:
            some = self._meant(entry)
        else:
            some = [self._named(f"systems[{i}]", one, entry) for i, one in enumerate(systems)]
        if len(some) < 2:
            raise self._too_few(some, entry, "name columns as systems (--systems)")
        names = tuple(one.system for one in some)
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ValueError(f"systems[{i}] = {name!r} is there before; list it once")
        chosen = self._chosen(some, score, entry)
        check_memory("all systems together", 30 * sum(np.size(x) for x in chosen.numbers))
        grouping = self._grouping(some, clusters)
        group, source = chosen.group(grouping), chosen.source(self.format.name, grouping)
        source |= {"strata": strata, "n_clusters": None if group is None else len(set(group))}
        source["no_systems"] = [] if systems is not None else self._no_systems(some)
        source["read"] = describe(source, self.format.title)
        if chosen.columns:
            scores, scale, off, reading = np.stack(chosen.numbers), 1, None, ""
        else:
            units = in_common_units([as_printed(x) for x in chosen.numbers], names)
            scores, scale, reading = np.stack(units.columns), units.scale, units.reading
            off = None if units.rounding is None else np.stack(units.rounding)
        where = (chosen.ids, source, off, reading, self._kind(chosen))
        found = ScoreTable(names, scores, entry, scale, group, *where)
        stratum = chosen.group(None if strata is None else self._grouping(some, strata))
        return found if stratum is None else found.stratified(stratum)

    def _no_systems(self, some: Sequence[SystemScores], *, numbers: bool = False) -> list[str]:
        """The columns of a table that are not compared; or those of numbers alone."""
        if (sheet := self.sheet) is None:
            return []
        used = {x for one in some for labels in one.columns.values() for x in labels}
        every = sorted({*sheet.numeric} - sheet.apart) if numbers else range(sheet.width)
        return [sheet.name(i) for i in every if sheet.label(i) not in used]

    # ---- systems

    def _error(self, problem: str) -> ReadError:
        path = self.sheet.table.file.path if self.sheet is not None else self.found[0].file.path
        return ReadError.at(path, problem)

    def _known(self) -> str:
        if self.sheet is not None:
            return self.sheet.columns()
        return f"the systems are {listed([repr(one.system) for one in self.found])}"

    def _system(self, wanted: Any, option: str) -> SystemScores:
        names = [one.system for one in self.found]
        if wanted in names:
            return self.found[names.index(wanted)]
        if self.sheet is not None:
            return self.sheet.column_system(wanted)
        number = str(wanted)
        if number.isascii() and number.isdecimal() and 1 <= int(number) <= len(names):
            return self.found[int(number) - 1]
        hint = did_you_mean(wanted, names)
        raise self._error(f"{option}: no system {wanted!r}{hint}; {self._known()}")

    def _named(self, option: str, wanted: Any, entry: Entry) -> SystemScores:
        """The system that is called so, or whose counts are in the columns that are listed."""
        parts = as_list(wanted)
        if self.sheet is not None and isinstance(entry, CountStatistic):
            counted = {one.system: one for one in self.found if one.counts}
            if not isinstance(wanted, str):
                return self.sheet.listed_system(parts, entry, option)
            if wanted in counted:
                return counted[wanted]
            if "," in wanted or wanted.isdecimal():
                parts = [part.strip() for part in wanted.split(",")]
                return self.sheet.listed_system(parts, entry, option)
            known = f"its systems are {listed([*map(repr, counted)])}" if counted else self._known()
            hint = did_you_mean(wanted, list(counted))
            raise self._error(f"no columns of system {wanted!r}{hint}; {known}")
        if len(parts) != 1:
            problem = f"{option} lists {len(parts)} columns, but {entry.name!r} takes one score of "
            problem += "each system; choose one column, or a statistic of counts, such as 'f1' "
            raise self._error(f"{problem}(--metric f1)")
        return self._system(parts[0], option)

    def _check_apart(self, two: Sequence[SystemScores]) -> None:
        """Refuse one column of counts for both systems of a table, unless it is of the item."""
        if self.sheet is None:  # columns of several files may be called alike
            return
        for name in two[0].counts.keys() & two[1].counts.keys():
            if any(name not in one.columns for one in two):
                continue
            both = zip(two[0].counts[name], *(one.columns[name] for one in two), strict=False)
            own = {label for count, label, _ in both if count not in OF_THE_ITEM}
            if taken := own & set(two[1].columns[name]):
                raise self._error(f"{min(taken)} is in both a and b; choose two systems")

    def _meant(self, entry: Entry) -> list[SystemScores]:
        """The systems that are meant where none is named."""
        sheet = self.sheet
        if sheet is None or not isinstance(entry, CountStatistic):
            return [one for one in self.found if self.usual is None or one.system in self.usual]
        if entry.average is not None:
            raise ValueError(
                f"{entry.name!r} is for counts of several classes, which only predictions "
                "beside what is right tell; name the column of what is right as gold (--gold); "
                f"in Python, exact_perm_test(u, v, statistic={entry.name!r}) takes arrays of "
                f"shape (N, classes, {len(entry.columns)})"
            )
        wanted = [measure.columns for measure in entry.measures]
        if sheet.table.names is not None:
            fits = [any(DERIVED.get(c, c) in wanted for c in x.counts.values()) for x in self.found]
            return [one for one, fit in zip(self.found, fits, strict=True) if fit]
        columns = [i + 1 for i in range(sheet.width) if i not in sheet.apart]
        half = len(columns) // 2
        if len(columns) == 2 * half and half in map(len, wanted):
            both = (columns[:half], "a"), (columns[half:], "b")
            return [sheet.listed_system(some, entry, option) for some, option in both]
        problem = f"{len(columns)} columns and no header, but {entry.name!r} needs "
        problem += f"{entry.layouts()} of each system; call the columns of a system A "
        names = ", ".join(f"A_{count}" for count in entry.columns)
        raise sheet.error(f"{problem}{names}, or list those of each as a and b")

    def _too_few(self, some: Sequence[SystemScores], entry: Entry, remedy: str) -> ReadError:
        """The error that it is not clear which systems are meant."""
        names = f" ({listed([repr(one.system) for one in some], NAMED)})" if some else ""
        problem = f"{len(some)} system{'s' * (len(some) != 1)}{names}"
        if isinstance(entry, CountStatistic) and not some:
            problem = f"no system has {entry.layouts()}"
            single = [one.system for one in self.found if not one.counts]
            if self.sheet is not None and len(single) == len(self.found) == 2:
                columns = ", ".join(f"{single[0]}_{count}" for count in entry.columns)
                needs = f"{entry.name!r} needs columns such as {columns}"
                return self._error(f"{needs}; this file has one score for each system")
        if self.sheet is None:
            remedy = "add the file of another" if len(some) < 2 else remedy
            return self._error(f"{problem}; {remedy}")
        if len(some) < 2:
            remedy += ", or add the files of others"
        gold = self.sheet.called(GOLD_NAMES)
        hint = self.sheet.obstacle() if len(some) < 2 and not self.doubt else ""
        called = self.sheet.table.names
        known = sum(name.lower() in WORDS for name in called or ())
        bare = known > 1 or (called is None and self.sheet.width == 4)
        if bare or any(one.counts for one in self.found):
            hint += "; for counts, choose a statistic of counts, such as 'f1' (--metric f1)"
        elif gold is not None and gold not in self.sheet.numeric:
            name = self.sheet.name(gold)
            hint += f"; if {name!r} says what is right, name it as gold (--gold {name})"
        return self._error(f"{self.doubt or problem}; {remedy}; {self._known()}{hint}")

    # ---- scores

    def _score(self, some: Sequence[SystemScores], wanted: str | None, entry: Entry | None) -> str:
        """The name of the score that is meant, which all of the systems have."""
        head, last = some[0], some[-1]
        names = [name for name in head.scores if all(name in one.scores for one in some)]
        if not names:
            both = " and ".join(f"{', '.join(x.scores)} of {x.system!r}" for x in (head, last))
            raise ReadError.at(last.file.path, f"no score in common: {both}; score all alike")
        if isinstance(entry, CountStatistic):
            own = {DERIVED.get(c, c): name for name, c in head.counts.items() if name in names}
            fitting = [own[m.columns] for m in entry.measures if m.columns in own]
            if fitting and wanted is None:
                return fitting[0]
        elif single := [name for name in names if name not in head.counts]:
            names = single if wanted is None or wanted in single else names
        meant = entry.name if entry is not None else names[0]
        if wanted is None and self.format.names_scores and meant in OWN_SCORES:
            wanted = meant
        if wanted is None:
            whole = [name for name in names if name.rpartition(".")[0] not in names]
            if head.columns:  # a table: what an item is, or costs, is no score
                likely = [name for name in whole if not words(name) <= NO_SYSTEM | OUTPUTS]
                whole = likely or [name for name in whole if words(name).isdisjoint(SURENESS)]
            if len(whole) == 1:
                return whole[0]
        meant = "" if meant in ANY_SCORE else meant
        chosen = find_score(meant if wanted is None else wanted, names)
        if chosen is not None or self.sheet is not None:
            return chosen or names[0]
        raise _no_score(some, names, wanted)

    def _grouping(self, some: Sequence[SystemScores], wanted: Any) -> str | None:
        """The grouping whose groups are swapped as a whole, if any."""
        if wanted is None:
            wanted = next((one.swapped for one in some if one.swapped), False)
        if wanted is False:
            return None
        name = str(wanted)
        if self.sheet is not None:
            column = self.sheet.find(wanted)
            name, label = self.sheet.name(column), self.sheet.label(column)
            if any(label in parts for one in some for parts in one.columns.values()):
                raise self._error(f"{label} holds the clusters; choose other columns as a and b")
        if all(name in one.clusters for one in some):
            return name
        known = [one for one in some[0].clusters if all(one in x.clusters for x in some)]
        there = f"there are {', '.join(known)}" if known else "these files have no groups"
        raise self._error(f"clusters: no {name!r} of both systems; {there}")

    def _kind(self, chosen: Chosen) -> Score:
        """What the scores are, and which of them are better."""
        if self.sheet is not None and not chosen.columns and not self.is_labels:
            names, way = [one.system for one in chosen.systems], self.how.higher_is_better
            found = Score.shared(names, way)
            return found if found.name else Score.of(self.how.score or "", way)
        name = "correct" if self.is_labels else "" if chosen.columns else chosen.score
        return Score.of(name, self.how.higher_is_better)

    # ---- items

    def _chosen(self, some: Sequence[SystemScores], score: str | None, entry: Entry) -> Chosen:
        """The items of some systems, put together, and their numbers."""
        if self.is_labels and score is not None:
            problem = "score is for files of scores; of predictions, choose a statistic (--metric)"
            raise self._error(problem)
        if self.how.positive is not None and not self.is_labels:
            problem = "pos_label (--pos-label) is for predictions; name the column of what is right"
            raise self._error(f"{problem} as gold (--gold)")
        name = labels.PREDICTION if self.is_labels else self._score(some, score, entry)
        every, rows = _together(some)
        zero = self.how.missing == "zero"
        both: Sequence[int] = range(len(every))
        if not zero and any(None in own for own in rows):
            both = [k for k, own in enumerate(zip(*rows, strict=True)) if None not in own]
        if self.how.missing == "error" and len(both) < len(every):
            k, j = min((own.index(None), j) for j, own in enumerate(rows) if None in own)
            problem = f"no item {shown(str(every[k]))} of {some[j].system!r}; add it, or say what "
            remedy = "becomes of such items (--missing drop, --missing zero)"
            raise ReadError.at(some[j].file.path, problem + remedy)
        if not both:
            raise _nothing_in_common(some)
        chosen = Chosen(some, name, every, rows)
        if len(both) < len(every):
            chosen.alone = [
                [str(key) for key, i in zip(every, own, strict=True) if i is None] for own in rows
            ]
            chosen.keep(both)
            first, *others = ({*map(_rough, gone)} for gone in chosen.alone)
            if len(others) == 1 and first & others[0]:
                note = "some ids are left out that agree but for case, folders or leading zeros"
                chosen.notes.append(note)
        (self._judge if self.is_labels else self._count)(chosen, entry)
        chosen.notes += self._disagreements(chosen)
        return chosen

    def _judge(self, chosen: Chosen, entry: Entry) -> None:
        """Predictions become numbers."""
        cells = chosen.cells()
        if self.how.missing in ("drop", "error"):
            gold = set(chosen.systems[0].agree["gold"])
            cells = [[None if labels.is_missing(x, gold) else x for x in c] for c in cells]
            cells = self._complete(chosen, cells)
        gold_of = [one.agree["gold"] for one in chosen.systems]
        right = [
            next(gold[i] for gold, i in zip(gold_of, own, strict=True) if i is not None)
            for own in zip(*chosen.rows, strict=True)
        ]
        said = [["" if x is None else x for x in column] for column in cells]
        names = [one.system for one in chosen.systems]
        chosen.numbers, chosen.columns, chosen.facts = labels.judged(
            names, right, said, entry, self.how.positive, self._error
        )
        chosen.notes += chosen.facts.pop("notes")

    def _count(self, chosen: Chosen, entry: Entry) -> None:
        """Cells become numbers, or counts."""
        some, name = chosen.systems, chosen.score
        columns = _columns(some, name, entry)
        if not columns:
            chosen.notes += _check_writing(chosen, points=self.how.thousands is None)
        cells = _numbers(chosen)
        if self.how.missing == "zero":
            blank: Any = (0,) * len(some[0].counts.get(name, ())) or 0
            for one, column in zip(some, cells, strict=True):
                if number := column.count(None):
                    many, verb = ("s", "count") if number > 1 else ("", "counts")
                    note = f"{number} missing score{many} of {one.system!r} {verb} as 0"
                    chosen.notes.append(note)
            cells = [[blank if x is None else x for x in column] for column in cells]
        else:
            cells = self._complete(chosen, cells)
        if columns:
            assert isinstance(entry, CountStatistic)
            chosen.numbers, chosen.columns = _tables(chosen, cells, columns, entry), columns
            return
        _check_scores(chosen, cells, entry)
        if not self.how.same_scale:
            _check_scales(some, cells)
        gold = None if self.sheet is None else labels.looks_right(self.sheet, some)
        if self.sheet is not None and gold is not None:
            key, (a, b, *_) = self.sheet.key(gold), [one.system for one in some]
            said = f"--gold {key} scores {a} and {b} against it"
            chosen.notes.append(f"column {key!r} looks like right answers; {said}")
        chosen.numbers = cells

    def _complete(self, chosen: Chosen, cells: list[list[Any]]) -> list[list[Any]]:
        """The cells of items that have one of every system; an error where they must have."""
        some, name, keys = chosen.systems, chosen.score, chosen.keys
        gone = {k for column in cells if None in column for k, x in enumerate(column) if x is None}
        if not gone:
            return cells
        if (self.how.missing or ("error" if some[0].paired_by == ROW else "drop")) == "error":
            k = min(gone)
            j = next(j for j, column in enumerate(cells) if column[k] is None)
            cell = some[j].scores[name][chosen.rows[j][k]]
            parts = cell if isinstance(cell, tuple) else (cell,)
            part = next((p for p, x in enumerate(parts) if x is None or _is_missing(x)), 0)
            problem = f"{shown(text_of(parts[part]))} is a missing score; score the item for all "
            problem += "systems, or say what becomes of it (--missing drop, --missing zero)"
            raise some[j].error(chosen.rows[j][k], problem, name, part)
        if len(gone) == len(keys):
            problem = f"no item has the score {shown(name)} of all systems; score all alike"
            raise ReadError.at(some[-1].file.path, problem)
        bare = some[0].ids is None
        chosen.dropped = [
            some[0].place(chosen.rows[0][k]) if bare else keys[k] for k in sorted(gone)
        ]
        kept = [k for k in range(len(keys)) if k not in gone]
        chosen.keep(kept)
        return [[column[k] for k in kept] for column in cells]

    def _disagreements(self, chosen: Chosen) -> list[str]:
        """Refuse items that are not the same; say so where the user named what pairs them."""
        notes: list[str] = []
        first: dict[str, tuple[SystemScores, Sequence[Any], Sequence[Any]]] = {}
        for one, own in zip(chosen.systems, chosen.rows, strict=True):
            for name, theirs in {**one.agree, **one.beside}.items():
                head, mine, rows = first.setdefault(name, (one, theirs, own))
                if mine is theirs or name == chosen.score.lower():
                    continue
                both = [  # which are none, mostly
                    (i, j)
                    for i, j in zip(rows, own, strict=True)
                    if i is not None and j is not None and mine[i] != theirs[j]
                ]
                strict = name in one.agree and name in head.agree
                permuted = Counter(mine[i] for i, _ in both) == Counter(theirs[j] for _, j in both)
                if not both or not (strict or permuted):
                    continue  # it may be something of the system
                i, j = both[0]
                problem = f"{one.place(j)} has another {name} ({shown(theirs[j])}) than in "
                problem += f"{head.file.path} ({shown(mine[i])})"
                if self.how.id is not None and name not in OF_THE_ITEM and not self.is_labels:
                    notes.append(problem)
                    continue
                remedy = "both systems must have been scored on the same items"
                if self.how.id is None:
                    remedy += "; name the columns that pair them (--id), or pair them by order "
                    remedy += "(--by-order)"
                raise ReadError.at(one.file.path, f"{problem}; {remedy}")
        return notes


@dataclass(eq=False)
class Chosen:
    """Some systems on the same items."""

    systems: Sequence[SystemScores]
    score: str
    keys: list[Any]  # ids, or numbers
    rows: Sequence[Sequence[Any]]  # where each system has the items; None where it has not
    alone: list[list[str]] = field(default_factory=list)  # the items that each system lacks
    dropped: list[str] = field(default_factory=list)  # the items without a score
    numbers: Any = ()  # a column of each system
    columns: tuple[str, ...] = ()  # what is counted
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alone = self.alone or [[] for _ in self.systems]

    @property
    def ids(self) -> tuple[str, ...] | None:
        """What the items are called."""
        return None if self.systems[0].ids is None else tuple(self.keys)

    def keep(self, kept: Sequence[int]) -> None:
        """Leave all other items out."""
        self.keys = [self.keys[k] for k in kept]
        self.rows = [[own[k] for k in kept] for own in self.rows]

    def cells(self) -> list[list[Any]]:
        """The cells of the score of each system; None where it lacks the item."""
        both = zip(self.systems, self.rows, strict=True)
        return [[None if i is None else x.scores[self.score][i] for i in own] for x, own in both]

    def group(self, grouping: str | None) -> tuple[str, ...] | None:
        """What each item belongs to, which all systems must agree in."""
        if grouping is None:
            return None
        result: dict[int, tuple[Any, SystemScores]] = {}
        for one, own in zip(self.systems, self.rows, strict=True):
            for k, i in enumerate(own):
                if i is None:
                    continue
                label = one.clusters[grouping][i]
                known, head = result.setdefault(k, (label, one))
                if label != known:
                    problem = f"{one.place(i)} belongs to {grouping} {shown(label)}, but in "
                    there = f"{head.file.path} to {shown(known)}; make them agree"
                    raise ReadError.at(one.file.path, problem + there)
        return tuple(str(result[k][0]) for k in range(len(self.keys)))

    def source(self, loader: str, grouping: str | None) -> dict[str, Any]:
        """Where the scores come from, and what was left out."""
        head, last = self.systems[0], self.systems[-1]
        left = [*dict.fromkeys(key for gone in self.alone for key in gone), *self.dropped]
        files: dict[tuple[str, str], list[str]] = {}
        for one in self.systems:
            files.setdefault((one.file.name, one.file.sha256), []).append(one.system)
        notes = [note for one in self.systems for note in one.notes] + self.notes
        if head.file is not last.file and head.file.sha256 == last.file.sha256:
            said = f"{last.file.path} has the content of {head.file.path}: a file is compared with"
            notes = [f"{said} itself", *notes]
        notes = list(dict.fromkeys(notes))
        more = [f"{len(notes) - NAMED} more notes are left out here"] * (len(notes) > NAMED)
        lacking = {}
        for one, gone in zip(self.systems, self.alone, strict=True):
            unscored = sum(map(_is_missing, one.scores[self.score])) if left else 0
            if number := len(gone) + unscored:
                lacking[one.system] = number
        both = self.alone[::-1] if len(self.systems) == 2 else []  # what the other one lacks
        gold = head.gold
        alone = {"file": head.file.name, "sha256": head.file.sha256} if len(files) == 1 else {}
        return {
            "loader": loader,
            **alone,
            "files": [{"file": k[0], "sha256": k[1], "systems": own} for k, own in files.items()],
            "gold": None if gold is None else {"file": gold.name, "sha256": gold.sha256},
            "score": self.score,
            "clusters": grouping,
            "paired_by": head.paired_by,
            "matched": len(self.keys),
            "unmatched": [len(gone) for gone in both],
            "unmatched_ids": [gone[:NAMED] for gone in both],
            "dropped": len(self.dropped),
            "dropped_ids": self.dropped[:NAMED],
            "left_out": len(left),
            "left_out_ids": left[:NAMED],
            "lacking": lacking,
            "notes": [*notes[:NAMED], *more],
            **self.facts,
        }


def _no_score(some: Sequence[SystemScores], names: Sequence[str], wanted: str | None) -> ReadError:
    problem = f"{len(names)} scores ({', '.join(map(shown, names))}); choose one as score (--score)"
    if len({re.sub(r"\d+", "", name) for name in names}) == 1:
        problem += "; if they are runs of one score, see exact_runs_test in Python"
    if wanted is not None:
        notes = dict.fromkeys(note for one in some for note in one.notes)
        there = "; ".join([", ".join(names), *notes])
        problem = f"no score {wanted!r}{did_you_mean(wanted, names)}; there are {there}"
    return ReadError.at(some[0].file.path, problem)


# ---- items ---------------------------------------------------------------------------------------


def _together(some: Sequence[SystemScores]) -> tuple[list[Any], list[list[int | None]]]:
    """All items of some systems, and where each system has them; None where it has not."""
    head, *others = some
    for one in others:
        problem = ""
        if one.ids is head.ids and len(one) == len(head):  # columns of one table
            continue
        if (one.ids is None) != (head.ids is None):
            one, known = (head, one) if head.ids is None else (one, head)
            problem = f"has no ids, but {known.file.path} has; give both or neither, or name the "
            problem += "columns that pair them (--id)"
        elif head.ids is None and len(one) != len(head):
            problem = f"{len(one)} items, but {len(head)} of {head.system!r}, and no ids to pair "
            problem += "by; both systems must have been scored on the same items, in the same order"
        elif head.ids is not None and one.paired_by != head.paired_by:
            problem = f"its items are known by {one.paired_by}, but those of {head.file.path} by "
            problem += f"{head.paired_by}; if these are ids of the same items, give both one name, "
            problem += "or evaluate both systems with the same version of the tool"
        elif {_first_number(one), _first_number(head)} == {0, 1} and len(one) == len(head):
            problem = f"its {one.paired_by} counts from {_first_number(one)}, that of "
            problem += f"{head.file.path} from {_first_number(head)}; number items alike, or pair "
            problem += "lines by their order (--by-order)"
        if problem:
            raise ReadError.at(one.file.path, problem)
    every: list[Any] = list(range(len(head)) if head.ids is None else head.ids)
    if head.ids is None or all(one.ids is head.ids or one.ids == head.ids for one in others):
        return every, [list(range(len(head))) for _ in some]
    every = list(dict.fromkeys(key for one in some for key in one.positions))
    return every, [[one.positions.get(key) for key in every] for one in some]


def _first_number(one: SystemScores) -> int | None:
    """Where the ids of a system begin that are all whole numbers from there on; or None."""
    if one.ids is None or one.paired_by == "index" or len(one) < 2:  # a frame may be a part
        return None
    for start in (0, 1) if one.ids[0].isdecimal() else ():
        if all(str(i) in one.positions for i in range(start, start + len(one))):
            return start
    return None


def _rough(name: str) -> str:
    """An id without regard to folders, case and leading zeros."""
    return name.replace("\\", "/").rpartition("/")[2].casefold().strip().lstrip("0")


def _nothing_in_common(some: Sequence[SystemScores]) -> ReadError:
    head = some[0]
    for one in some[1:]:
        if not head.positions.keys() & one.positions.keys():
            mine, theirs = shown((head.ids or ("",))[0]), shown((one.ids or ("",))[0])
            problem = f"no {head.paired_by} in common with {head.file.path} (first: {theirs} and "
            problem += f"{mine}); "
            if not {*map(_rough, head.positions)}.isdisjoint(map(_rough, one.positions)):
                problem += "the ids agree but for case, folders or zeros; write them alike, "
            else:
                problem += "both systems must have been scored on the same items; "
            problem += (
                "name the column that pairs them (--id COL), or pair lines by order (--by-order)"
            )
            return ReadError.at(one.file.path, problem)
    fewest = min(some, key=len)
    problem = f"no item has a score of all {len(some)} systems; leave some out, such as "
    return ReadError.at(fewest.file.path, f"{problem}{fewest.system!r}")


# ---- numbers -------------------------------------------------------------------------------------


def _is_missing(cell: Any) -> bool:
    """Whether a cell, or one in a tuple, holds no score."""
    parts = cell if isinstance(cell, tuple) else (cell,)
    return any(x is None or kind_of(x) == "missing" for x in parts)


def _exact(cell: Any) -> Any:
    """The number in a cell, or those in a tuple; None where it is missing."""
    if isinstance(cell, tuple):
        parts = tuple(map(_exact, cell))
        return None if None in parts else parts
    return None if cell is None or kind_of(cell) == "missing" else as_score(cell)


def _numbers(chosen: Chosen) -> list[list[Any]]:
    """The numbers of a score; the error is that of the first bad item."""
    cells = chosen.cells()
    try:
        known = {cell: _exact(cell) for column in cells for cell in dict.fromkeys(column)}
        return [[known[cell] for cell in column] for column in cells]
    except (ValueError, TypeError):
        for k, row in enumerate(zip_longest(*cells)):
            for j, cell in enumerate(row):
                for part, value in enumerate(cell if isinstance(cell, tuple) else (cell,)):
                    try:
                        _exact(value)
                    except (ValueError, TypeError) as error:
                        place = chosen.rows[j][k], str(error), chosen.score, part
                        raise chosen.systems[j].error(*place) from None
        raise


def _check_writing(chosen: Chosen, *, points: bool) -> list[str]:
    """Notes of percentages and verdicts; refuse them beside other numbers, and unclear points."""
    cells = chosen.cells()
    try:
        every = dict.fromkeys(chain(*cells))
    except TypeError:  # lists, which are no numbers
        return []
    texts = [x for x in every if isinstance(x, str) and len(x) < 20]
    said = {x: x.strip().lower() for x in texts if kind_of(x) != "missing"}

    def error(text: str, problem: str) -> ReadError:
        """The error of the first cell that holds this text."""
        j = next(j for j, column in enumerate(cells) if text in column)
        i = chosen.rows[j][cells[j].index(text)]
        return chosen.systems[j].error(i, f"{shown(text)} {problem}", chosen.score)

    typed, notes = not all(isinstance(x, str | None) for x in every), []
    for right, wrong in (("%", ""), *VERDICTS):
        some = [x for x, word in said.items() if word in (right, wrong) or word[-1] == right]
        if some and right != "true" and (typed or len(some) < len(said)):
            rest = [x for x in said if x not in some]
            odd, other = (rest, some) if 0 < len(rest) < len(some) and not typed else (some, rest)
            beside = shown(other[0]) if other else "numbers"
            raise error(odd[0], f"stands beside {beside}; write all scores alike")
        read = f"{right} is read as 1, and {wrong} as 0"
        if some:
            notes.append(read if wrong else f"{some[0]!r} is read as {as_score(some[0])}")
    pointed = [x for x in said if "." in x] if points else []
    whole = max((int(x.lstrip("+-")) for x in said if x.lstrip("+-").isdecimal()), default=0)
    grouped = all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", x) for x in pointed)
    least = min((abs(int(x.replace(".", ""))) for x in pointed if grouped), default=0)
    if whole >= 100 and 0 < least <= 10 * whole:
        problem = f"beside {whole}: the point may separate thousands; say so (--thousands .), "
        raise error(pointed[0], f"{problem}or that it is a decimal point (--thousands none)")
    return notes


def _check_scores(chosen: Chosen, cells: Sequence[Sequence[Any]], entry: Entry) -> None:
    """Refuse scores that a statistic cannot have, such as counts below 0."""
    if not isinstance(entry, Statistic) or entry.minimum is None:
        return
    for k, numbers in enumerate(zip(*cells, strict=True)):
        for j, number in enumerate(numbers):
            if problem := entry.problem(number):
                raise chosen.systems[j].error(chosen.rows[j][k], problem, chosen.score)


def _check_scales(some: Sequence[SystemScores], cells: Sequence[Sequence[Any]]) -> None:
    """Refuse scores up to 1 beside scores up to 100."""
    most = [max(column) for column in cells]
    low, high = most.index(min(most)), most.index(max(most))
    if len(cells[0]) < 2 or not 0 < most[low] <= 1 < most[high] <= 1000:
        return
    broken = any(x != int(x) for x in cells[low])
    total, other = (sum(map(float, cells[j])) for j in (high, low))
    if most[high] > 20 or (broken and 30 < total / (other or 1.0) < 300):
        problem = f"the scores of {some[low].system!r} go up to {float(most[low]):g}, those of "
        problem += f"{some[high].system!r} up to {float(most[high]):g}; write both on one scale, or"
        raise ReadError.at(some[high].file.path, f"{problem} say that they are (--same-scale)")


def _columns(some: Sequence[SystemScores], name: str, entry: Entry) -> tuple[str, ...]:
    """What a score counts, which must suit the statistic; empty where it is one number."""
    counts = DERIVED.get(some[0].counts.get(name, ()), some[0].counts.get(name, ()))
    problem = ""
    if isinstance(entry, CountStatistic):
        if entry.average or counts not in [measure.columns for measure in entry.measures]:
            kind = f"counts {', '.join(counts)}" if counts else "one number an item"
            problem = f"{shown(name)} is {kind}, but {entry.name!r} needs {entry.layouts()}; "
            problem += "choose another statistic (--metric) or score"
    elif counts:
        best = " or ".join(count_statistics([counts])[:3])
        problem = f"{shown(name)} has counts ({', '.join(counts)}) of each item, but "
        problem += f"{entry.name!r} takes one number; choose {best} as statistic (--metric)"
    if problem:
        raise ReadError.at(some[0].file.path, problem)
    return counts


def _tables(
    chosen: Chosen, cells: Sequence[Sequence[Any]], columns: tuple[str, ...], entry: CountStatistic
) -> list[Any]:
    """Arrays of counts, none of which is broken, below 0 or impossible."""
    for k, rows in enumerate(zip(*cells, strict=True)):
        for j, counts in enumerate(rows):
            for part, count in enumerate(counts):
                if count != int(count):
                    problem = f"{count} is not a whole number, but counts are; write how many"
                elif count < 0:
                    problem = f"{count} is below 0, but counts are not; write how many there are"
                else:
                    continue
                raise chosen.systems[j].error(chosen.rows[j][k], problem, chosen.score, part)
    arrays = []
    for column in cells:
        table = np.array([[int(count) for count in counts] for counts in column], dtype=object)
        if chosen.systems[0].counts[chosen.score] != columns:  # those of jiwer
            hits, wrong, left_out, put_in = table.T
            table = np.stack([wrong + left_out + put_in, hits + wrong + left_out], axis=1)
        fits = max(map(int, table.ravel()), default=0) < 2**63
        arrays.append(table.astype(np.int64) if fits else table)
    measure = next(m for m in entry.measures if m.columns == columns)
    addends = [measure.addends(table) for table in arrays]
    for j, one in enumerate(chosen.systems):
        if bad := measure.problem(addends[j], addends[j - 1]):
            raise one.error(chosen.rows[j][int(bad[0])], f"{one.system!r} has {bad[1]}")
    return arrays


# ---- names and sentences -------------------------------------------------------------------------


def find_score(wanted: str, names: Sequence[str]) -> str | None:
    """The score of that name, or the only one that begins so, a comma following, or ends so."""
    if wanted in names:
        return wanted
    begun = [name for name in names if name.partition(",")[0] == wanted]
    ended = [name for name in names if wanted and re.search(rf"[./]{re.escape(wanted)}$", name)]
    return next((some[0] for some in (begun, ended) if len(some) == 1), None)


def describe(source: Mapping[str, Any], title: str) -> str:
    r"""What was read, in a sentence: the format, how items were paired, what was left out.

    Parameters
    ----------
    source : mapping
        What the reader recorded: ``pairs.source``.
    title : str
        What the sentence calls the format; those of `FORMATS` have a ``title``.

    Returns
    -------
    str

    Examples
    --------
    >>> from permtest.readers import File, describe, read
    >>> pairs = read(File("scores.csv", b"item,old,new\ns1,3,4\ns2,5,5\n"), a="new", b="old")
    >>> describe(pairs.source, "a table")
    'a table: 2 items paired by row.'
    """

    def some(names: str, number: str) -> str:
        more = ", ..." * (source[number] > len(source[names]))
        return f"{', '.join(map(shown, source[names]))}{more}"

    matched, left_out = source["matched"], source["left_out"]
    systems = sum(len(one["systems"]) for one in source["files"])
    text = f"{title}: {matched} item{'s' * (matched != 1)}"
    text += f" of {systems} systems," * (systems != 2) + f" paired by {source['paired_by']}"
    sides = zip(source["unmatched"], source["unmatched_ids"], "AB", strict=False)
    for number, names, side in sides:
        if number:
            first = ", ".join(map(shown, names)) + ", ..." * (number > len(names))
            text += f"; {number} only in {side} ({first})"
    if source["unmatched"] and source["dropped"]:
        text += f"; {source['dropped']} without a score ({some('dropped_ids', 'dropped')})"
    elif left_out and not source["unmatched"]:
        which = listed([f"{name} {count}" for name, count in source["lacking"].items()], NAMED)
        text += f"; {left_out} left out ({some('left_out_ids', 'left_out')})"
        text += f", which these systems lack: {which}" * bool(which)
    if left_out > matched:
        text += "; most items are left out, so that this is a part of the data"
    clusters = source.get("n_clusters")
    number = f" ({clusters} cluster{'s' * (clusters != 1)})" if clusters is not None else ""
    for key, what in (("clusters", f"swapped together{number}"), ("strata", "averaged first")):
        if source.get(key) is not None:
            text += f"; items of one {shown(str(source[key]))} are {what}"
    columns = ", ".join(source.get("no_systems", ()))
    notes = [f"columns taken for no systems: {columns}"] if columns else []
    more = [f"{note[:1].upper()}{note[1:]}" for note in (*notes, *source["notes"])]
    return printable(" ".join(f"{part.rstrip('.')}." for part in (text, *more)))
