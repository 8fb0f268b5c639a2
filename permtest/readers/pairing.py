"""The one place where items of systems are put together, and where cells become exact numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from permtest.decimals import in_common_units
from permtest.pairs import Pairs
from permtest.readers import labels
from permtest.readers.cells import as_printed, as_score, brief, kind_of, printable, shown
from permtest.readers.files import ReadError, check_memory
from permtest.readers.names import (
    DERIVED,
    GOLD_NAMES,
    NO_SYSTEM,
    OF_THE_ITEM,
    OUTPUTS,
    SURENESS,
    count_statistics,
    words,
)
from permtest.readers.shape import How, Sheet, as_list
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


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What files say, before systems are chosen.

    Parameters
    ----------
    format : Format
    found : tuple of SystemScores
        All systems, under names that differ.
    usual : tuple of str or None
        Those that are meant unless others are named; None: all.
    doubt : str
        Why none is meant, where that is not clear.
    others : tuple of str
        Columns of a table that are no systems.
    sheet : Sheet or None
        The table, where systems are columns of one.
    how : How
        What the user says of tables.
    missing : {"drop", "zero", "error"} or None
        What becomes of items without a score of every system.
    positive : str or None
        The label that is to be found.
    same_scale : bool
        Whether scores up to 1 and up to 100 are on one scale all the same.
    higher_is_better : bool or None
        What the user says of it.
    """

    format: Format
    found: tuple[SystemScores, ...]
    usual: tuple[str, ...] | None = None
    doubt: str = ""
    others: tuple[str, ...] = ()
    sheet: Sheet | None = None
    how: How = field(default_factory=How)
    missing: str | None = None
    positive: str | None = None
    same_scale: bool = False
    higher_is_better: bool | None = None

    # ---- what there is

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems: those that have counts, or those that are meant, or all."""
        counted = tuple(one.system for one in self.found if self.sheet and one.counts)
        return counted or self.usual or tuple(one.system for one in self.found)

    @property
    def groupings(self) -> tuple[str, ...]:
        """Names of what items may belong to."""
        return tuple(dict.fromkeys(name for one in self.found for name in one.clusters))

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
            return labels.fitting(used - {""}, self.positive)
        counted = [c for name, c in two[0].counts.items() if name in two[1].counts]
        if counted and (score is None or score in two[0].counts):
            return count_statistics([DERIVED.get(columns, columns) for columns in counted])
        name = self._score(two, score, None)
        numbers = [x for c in _numbers(two, name, [range(len(one)) for one in two]) for x in c]
        counts = all(x is None or (x >= 0 and x == int(x)) for x in numbers)
        return ("accuracy", *ANY_SCORE[::-1]) if counts else ANY_SCORE[::-1]

    def text(self, name: str) -> str:
        """What an item is, for people to read; "" where the files do not say."""
        known = (one for one in self.found if one.texts is not None and name in one.positions)
        return next((brief(str(one.texts[one.positions[name]]), 300) for one in known), "")  # type: ignore[index]

    def preview(self, rows: int = 8) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The first items: their ids, scores, and groups."""
        if not self.found:
            assert self.sheet is not None
            cells = [self.sheet.texts(i)[:rows] for i in range(self.sheet.width)]
            names = tuple(brief(self.sheet.name(i)) for i in range(self.sheet.width))
            return names, [tuple(map(brief, line)) for line in zip(*cells, strict=True)]
        one = self.found[0]
        beside = [x for x in self.found if x.file is one.file and len(x) == len(one)]
        columns: dict[str, Sequence[Any]] = {}
        if self.is_labels:
            columns = {"gold": one.agree["gold"]}
            columns |= {x.system: x.scores[labels.PREDICTION] for x in beside}
        elif self.sheet is not None:
            columns = {x.system: c for x in beside for c in x.scores.values()}
        columns = (columns or dict(one.scores)) | dict(one.clusters)
        ids = one.ids if one.ids is not None else [str(i + 1) for i in range(len(one))]
        head = (one.paired_by if one.ids is not None else "item", *columns)
        some = range(min(rows, len(one)))
        body = [(ids[i], *(str(c[i]) for c in columns.values())) for i in some]
        return tuple(map(brief, head)), [tuple(map(brief, line)) for line in body]

    # ---- what is chosen

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
            kind = "systems" if self.sheet is None else "columns"
            raise self._error(
                f"{given} is given without {other}; name both {kind}; {self._known()}"
            )
        two = self._meant(entry) if a is None else []
        if a is not None:
            two = [self._named("a", a, entry), self._named("b", b, entry)]
            if two[0].system == two[1].system:
                what = "column " * (self.sheet is not None) + repr(two[0].system)
                raise self._error(f"a and b are both {what}; name two; {self._known()}")
            self._check_apart(two)
        if len(two) != 2:
            raise self._too_few(two, entry, "choose two as a and b (--a, --b)")
        chosen = self._chosen(two, score, entry)
        names = [one.system for one in two]
        if self.sheet is not None and self.sheet.table.names is None:
            names = ["A", "B"]
        first, second = told_apart(names, "AB")
        if chosen.columns:
            u, v = chosen.numbers
            pairs = Pairs(u, v, (first, second), columns=chosen.columns)
        else:
            u, v = map(as_printed, chosen.numbers)
            pairs = Pairs.of(u, v, (first, second), labels=(first, second))
        grouping = self._grouping(two, clusters)
        source = chosen.source(self.format.name, grouping)
        group = None if grouping is None else chosen.group(grouping)
        measure = self._kind(chosen)
        return replace(pairs, ids=chosen.ids, clusters=group, source=source, score=measure)

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
        some = self._meant(entry) if systems is None else []
        if systems is not None:
            some = [self._named(f"systems[{i}]", one, entry) for i, one in enumerate(systems)]
        if len(some) < 2:
            raise self._too_few(some, entry, "name columns as systems (--systems)")
        names = tuple(one.system for one in some)
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ValueError(f"systems[{i}] = {name!r} is there before; list it once")
        chosen = self._chosen(some, score, entry)
        check_memory("all systems together", 30 * sum(np.size(x) for x in chosen.numbers))
        scale, off, reading = 1, None, ""
        if chosen.columns:
            scores = np.stack(chosen.numbers)
        else:
            units = in_common_units([as_printed(x) for x in chosen.numbers], names)
            scores, scale, reading = np.stack(units.columns), units.scale, units.reading
            off = None if units.rounding is None else np.stack(units.rounding)
        grouping = self._grouping(some, clusters)
        group = None if grouping is None else chosen.group(grouping)
        source = chosen.source(self.format.name, grouping) | {
            "strata": strata,
            "no_systems": self._no_systems(some) if systems is None else [],
            "n_clusters": None if group is None else len(set(group)),
        }
        source["read"] = describe(source, self.format.title)
        kind = self._kind(chosen)
        found = ScoreTable(
            names, scores, entry, scale, group, chosen.ids, source, off, reading, kind
        )
        stratum = None if strata is None else self._grouping(some, strata)
        return found if stratum is None else found.stratified(chosen.group(stratum))

    def _no_systems(self, some: Sequence[SystemScores]) -> list[str]:
        """The columns of a table that are not compared."""
        used = {label for one in some for labels in one.columns.values() for label in labels}
        return [name for name in self.others if f"column {name!r}" not in used]

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
            if isinstance(wanted, str) and wanted in counted:
                return counted[wanted]
            if isinstance(wanted, str) and ("," in wanted or wanted.isdecimal()):
                parts = [part.strip() for part in wanted.split(",")]
            elif isinstance(wanted, str):
                known = (
                    f"its systems are {listed([*map(repr, counted)])}" if counted else self._known()
                )
                hint = did_you_mean(wanted, list(counted))
                raise self._error(f"no columns of system {wanted!r}{hint}; {known}")
            return self.sheet.listed_system(parts, entry, option)
        if len(parts) != 1:
            raise self._error(
                f"{option} lists {len(parts)} columns, but {entry.name!r} takes one score of each "
                "system; choose one column, or a statistic of counts, such as 'f1' (--metric f1)"
            )
        return self._system(parts[0], option)

    def _check_apart(self, two: Sequence[SystemScores]) -> None:
        """Refuse one column of counts for both systems, unless it is of the item."""
        for name in two[0].counts.keys() & two[1].counts.keys():
            if any(name not in one.columns for one in two):
                continue
            both = zip(two[0].counts[name], *(one.columns[name] for one in two), strict=False)
            own = {label for count, label, _ in both if count not in OF_THE_ITEM}
            if taken := own & set(two[1].columns[name]):
                raise self._error(f"{min(taken)} is in both a and b; choose two systems")

    def _meant(self, entry: Entry) -> list[SystemScores]:
        """The systems that are meant where none is named."""
        if self.sheet is not None and isinstance(entry, CountStatistic):
            if entry.average is not None:
                raise ValueError(
                    f"{entry.name!r} is for counts of several classes, which only predictions "
                    "beside what is right tell; name the column of what is right as gold (--gold); "
                    f"in Python, exact_perm_test(u, v, statistic={entry.name!r}) takes arrays of "
                    f"shape (N, classes, {len(entry.columns)})"
                )
            if self.sheet.table.names is None:
                return self.sheet.halves(entry)
            wanted = [measure.columns for measure in entry.measures]
            layouts = [[DERIVED.get(c, c) for c in one.counts.values()] for one in self.found]
            return [
                one
                for one, own in zip(self.found, layouts, strict=True)
                if any(columns in wanted for columns in own)
            ]
        return [one for one in self.found if self.usual is None or one.system in self.usual]

    def _too_few(self, some: Sequence[SystemScores], entry: Entry, remedy: str) -> ReadError:
        """The error that it is not clear which systems are meant."""
        names = f" ({listed([repr(one.system) for one in some], NAMED)})" if some else ""
        problem = f"{len(some)} system{'s' * (len(some) != 1)}{names}"
        if isinstance(entry, CountStatistic) and not some:
            problem = f"no system has {entry.layouts()}"
        if self.sheet is None:
            remedy = "add the file of another" if len(some) < 2 else remedy
            return self._error(f"{problem}; {remedy}")
        if len(some) < 2:
            remedy += ", or add the files of others"
        hint, gold = "", self.sheet.called(GOLD_NAMES)
        if any(one.counts for one in self.found) or self.sheet.holds_bare_counts():
            hint = "; if these are counts, choose a statistic of counts, such as 'f1' (--metric f1)"
        elif gold is not None:
            name = self.sheet.name(gold)
            hint = f"; if {name!r} says what is right, name it as gold (--gold {name})"
        return self._error(f"{self.doubt or problem}; {remedy}; {self._known()}{hint}")

    # ---- scores

    def _score(self, some: Sequence[SystemScores], wanted: str | None, entry: Entry | None) -> str:
        """The name of the score that is meant, which all of the systems have."""
        head, last = some[0], some[-1]
        names = [name for name in head.scores if all(name in one.scores for one in some)]
        if not names:
            both = (f"{', '.join(one.scores)} of {one.system!r}" for one in (head, last))
            problem = f"no score in common: {' and '.join(both)}; score all alike"
            raise ReadError.at(last.file.path, problem)
        if isinstance(entry, CountStatistic):
            counts = {head.counts[name]: name for name in names if name in head.counts}
            own = {DERIVED.get(columns, columns): name for columns, name in counts.items()}
            fitting = [own[m.columns] for m in entry.measures if m.columns in own]
            if fitting and wanted is None:
                return fitting[0]
        elif single := [name for name in names if name not in head.counts]:
            names = single if wanted is None or wanted in single else names
        meant = entry.name if entry is not None else names[0]
        if wanted is None and self.format.names_scores and meant in OWN_SCORES:
            wanted = meant
        whole = [name for name in names if name.rpartition(".")[0] not in names]
        if wanted is None and head.columns:  # a table: what an item is, or costs, is no score
            likely = [name for name in whole if not words(name) <= NO_SYSTEM | OUTPUTS]
            whole = likely or [name for name in whole if words(name).isdisjoint(SURENESS)]
        if wanted is None and len(whole) == 1:
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
        if self.is_labels:
            return Score.of("correct", self.higher_is_better)
        if self.sheet is not None and not chosen.columns:
            return Score.shared([one.system for one in chosen.systems], self.higher_is_better)
        return Score.of("" if chosen.columns else chosen.score, self.higher_is_better)

    # ---- items

    def _chosen(self, some: Sequence[SystemScores], score: str | None, entry: Entry) -> Chosen:
        """The items of some systems, put together, and their numbers."""
        if self.is_labels and score is not None:
            problem = "score is for files of scores; of predictions, choose a statistic (--metric)"
            raise self._error(problem)
        if self.positive is not None and not self.is_labels:
            raise self._error(
                "pos_label (--pos-label) is for predictions; name the column of what "
                "is right as gold (--gold)"
            )
        name = labels.PREDICTION if self.is_labels else self._score(some, score, entry)
        every, rows = _together(some)
        zero = self.missing == "zero"
        both = [k for k in range(len(every)) if zero or all(own[k] is not None for own in rows)]
        if self.missing == "error" and len(both) < len(every):
            k, j = min((own.index(None), j) for j, own in enumerate(rows) if None in own)
            problem = f"no item {shown(str(every[k]))} of {some[j].system!r}; add it, or say what "
            remedy = "becomes of such items (--missing drop, --missing zero)"
            raise ReadError.at(some[j].file.path, problem + remedy)
        if not both:
            raise _nothing_in_common(some)
        alone = [
            [] if zero else [str(k) for k, i in zip(every, r, strict=True) if i is None]
            for r in rows
        ]
        chosen = Chosen(
            some, name, [every[k] for k in both], [[r[k] for k in both] for r in rows], alone
        )
        chosen = (self._judged if self.is_labels else self._counted)(chosen, entry)
        return replace(chosen, notes=[*chosen.notes, *self._disagreements(chosen)])

    def _judged(self, chosen: Chosen, entry: Entry) -> Chosen:
        """Predictions as numbers."""
        some, name = chosen.systems, labels.PREDICTION
        cells = chosen.cells(name)
        if self.missing in ("drop", "error"):
            gold = set(some[0].agree["gold"])
            cells = [[None if labels.is_missing(x, gold) else x for x in c] for c in cells]
            chosen, cells = self._with_all(chosen, cells)
        gold_of = [one.agree["gold"] for one in some]
        right = [
            next(gold[i] for gold, i in zip(gold_of, own, strict=True) if i is not None)
            for own in zip(*chosen.rows, strict=True)
        ]
        said = [["" if x is None else x for x in column] for column in cells]
        names = [one.system for one in some]
        numbers, columns, facts = labels.judged(
            names, right, said, entry, self.positive, self._error
        )
        notes = facts.pop("notes")
        return replace(chosen, numbers=numbers, columns=columns, notes=notes, facts=facts)

    def _counted(self, chosen: Chosen, entry: Entry) -> Chosen:
        """Cells as numbers, or as counts."""
        some, name = chosen.systems, chosen.score
        columns = _columns(some, name, entry)
        if self.how.thousands is None and not columns:
            _check_thousands(chosen)
        cells = _numbers(some, name, chosen.rows)
        notes = []
        if self.missing == "zero":
            blank: Any = (0,) * len(some[0].counts.get(name, ())) or 0
            for one, column in zip(some, cells, strict=True):
                if number := column.count(None):
                    notes.append(f"{number} missing scores of {one.system!r} count as 0")
            cells = [[blank if x is None else x for x in column] for column in cells]
        else:
            chosen, cells = self._with_all(chosen, cells)
        if columns:
            numbers: Any = _tables(chosen, cells, columns, entry)
            return replace(chosen, numbers=numbers, columns=columns, notes=notes)
        _check_scores(chosen, cells, entry)
        self._check_scales(some, cells)
        gold = None if self.sheet is None else labels.looks_right(self.sheet, some)
        if self.sheet is not None and gold is not None:
            key, (a, b, *_) = self.sheet.key(gold), [one.system for one in some]
            said = f"--gold {key} scores {a} and {b} against it"
            notes.append(f"column {key!r} looks like right answers; {said}")
        return replace(chosen, numbers=cells, notes=notes)

    def _with_all(self, chosen: Chosen, cells: list[list[Any]]) -> tuple[Chosen, list[list[Any]]]:
        """The items that have a cell of every system; an error where they must have."""
        some, name = chosen.systems, chosen.score
        gone = {k for column in cells for k, cell in enumerate(column) if cell is None}
        if not gone:
            return chosen, cells
        if (self.missing or ("error" if some[0].paired_by == ROW else "drop")) == "error":
            raise _missing(some, name, chosen.rows, cells, min(gone))
        if len(gone) == len(chosen.keys):
            problem = f"no item has the score {shown(name)} of all systems; score all alike"
            raise ReadError.at(some[-1].file.path, problem)
        kept = [k for k in range(len(chosen.keys)) if k not in gone]
        head = some[0]
        left = [
            head.place(chosen.rows[0][k]) if head.ids is None else chosen.keys[k]
            for k in sorted(gone)
        ]
        less = replace(
            chosen,
            keys=[chosen.keys[k] for k in kept],
            rows=[[own[k] for k in kept] for own in chosen.rows],
            dropped=left,
        )
        return less, [[column[k] for k in kept] for column in cells]

    def _disagreements(self, chosen: Chosen) -> list[str]:
        """Refuse items that are not the same; say so where the user named what pairs them."""
        notes: list[str] = []
        first: dict[str, tuple[SystemScores, Sequence[Any], Sequence[Any]]] = {}
        for one, own in zip(chosen.systems, chosen.rows, strict=True):
            for name, theirs in {**one.agree, **one.beside}.items():
                head, mine, rows = first.setdefault(name, (one, theirs, own))
                if mine is theirs or name == chosen.score.lower():
                    continue
                both = [(i, j) for i, j in zip(rows, own, strict=True) if None not in (i, j)]
                i, j = next(((i, j) for i, j in both if mine[i] != theirs[j]), (None, None))
                if i is None or j is None:
                    continue
                strict = name in one.agree and name in head.agree
                if not strict and sorted(mine[i] for i, _ in both) != sorted(
                    theirs[j] for _, j in both
                ):
                    continue  # it may be something of the system
                problem = f"{one.place(j)} has another {name} ({shown(theirs[j])}) than in "
                problem += f"{head.file.path} ({shown(mine[i])})"
                if self.how.id is None or name in OF_THE_ITEM or self.is_labels:
                    remedy = "both systems must have been scored on the same items"
                    if self.how.id is None:
                        remedy += "; name the columns that pair them (--id), or pair them by order "
                        remedy += "(--by-order)"
                    raise ReadError.at(one.file.path, f"{problem}; {remedy}")
                notes.append(problem)
        return notes

    def _check_scales(self, some: Sequence[SystemScores], cells: Sequence[Sequence[Any]]) -> None:
        """Refuse scores up to 1 beside scores up to 100."""
        most = [max(column) for column in cells]
        low, high = most.index(min(most)), most.index(max(most))
        if self.same_scale or len(cells[0]) < 2 or not 0 < most[low] <= 1 < most[high] <= 1000:
            return
        broken = any(x != int(x) for x in cells[low])
        total, other = (sum(map(float, cells[j])) for j in (high, low))
        ratio = total / (other or 1.0)
        if most[high] > 20 or (broken and 30 < ratio < 300):
            raise ReadError.at(
                some[high].file.path,
                f"the scores of {some[low].system!r} go up to {float(most[low]):g}, those of "
                f"{some[high].system!r} up to {float(most[high]):g}; write both on one scale, "
                "or say that they are (--same-scale)",
            )


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some systems on the same items.

    Parameters
    ----------
    systems : sequence of S SystemScores
    score : str
    keys : list of N ids, or numbers
    rows : sequence of S lists of N int or None
        Where each system has the items.
    alone : list of S lists of str
        The items that each system lacks.
    dropped : list of str
        The items without a score.
    numbers : sequence of S columns
    columns : tuple of str
        What is counted.
    """

    systems: Sequence[SystemScores]
    score: str
    keys: list[Any]
    rows: Sequence[Sequence[Any]]
    alone: list[list[str]]
    dropped: list[str] = field(default_factory=list)
    numbers: Any = ()
    columns: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...] | None:
        """What the items are called."""
        return None if self.systems[0].ids is None else tuple(self.keys)

    def cells(self, name: str) -> list[list[Any]]:
        """The cells of a score of each system; None where it lacks the item."""
        both = zip(self.systems, self.rows, strict=True)
        return [[None if i is None else one.scores[name][i] for i in own] for one, own in both]

    def _unscored(self, one: SystemScores) -> int:
        """How many items a system has without a score."""
        cells = Counter(one.scores[self.score]) if self.dropped or any(self.alone) else Counter()
        parts = {cell: cell if isinstance(cell, tuple) else (cell,) for cell in cells}
        return sum(
            number
            for cell, number in cells.items()
            if any(x is None or kind_of(x) == "missing" for x in parts[cell])
        )

    def group(self, grouping: str) -> tuple[str, ...]:
        """What each item belongs to, which all systems must agree in."""
        columns = [one.clusters[grouping] for one in self.systems]
        result = []
        for k in range(len(self.keys)):
            own = [
                (c[r[k]], j)
                for j, (c, r) in enumerate(zip(columns, self.rows, strict=True))
                if r[k] is not None
            ]
            label, first = own[0]
            for other, j in own[1:]:
                if other != label:
                    one, place = self.systems[j], self.systems[j].place(self.rows[j][k])
                    problem = f"{place} belongs to {grouping} {shown(other)}, but in "
                    there = f"{self.systems[first].file.path} to {shown(label)}; make them agree"
                    raise ReadError.at(one.file.path, problem + there)
            result.append(str(label))
        return tuple(result)

    def source(self, loader: str, grouping: str | None) -> dict[str, Any]:
        """Where the scores come from, and what was left out."""
        head, last = self.systems[0], self.systems[-1]
        left = [*dict.fromkeys(key for gone in self.alone for key in gone), *self.dropped]
        files: dict[tuple[str, str], list[str]] = {}
        for one in self.systems:
            files.setdefault((one.file.name, one.file.sha256), []).append(one.system)
        twins = head.file is not last.file and head.file.sha256 == last.file.sha256
        same = (
            f"{last.file.path} has the content of {head.file.path}: a file is compared with itself"
        )
        found = [same] * twins + [note for one in self.systems for note in one.notes] + self.notes
        notes = list(dict.fromkeys(found))
        more = [f"{len(notes) - NAMED} more notes are left out here"] * (len(notes) > NAMED)
        lacking = [
            (one, len(gone) + self._unscored(one))
            for one, gone in zip(self.systems, self.alone, strict=True)
        ]
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
            "lacking": {one.system: number for one, number in lacking if number and left},
            "notes": [*notes[:NAMED], *more],
            **self.facts,
        }


def _no_score(some: Sequence[SystemScores], names: Sequence[str], wanted: str | None) -> ReadError:
    if wanted is None:
        choice = ", ".join(map(shown, names))
        problem = f"{len(names)} scores ({choice}); choose one as score (--score)"
    else:
        notes = dict.fromkeys(note for one in some for note in one.notes)
        there = "; ".join([", ".join(names), *notes])
        problem = f"no score {wanted!r}{did_you_mean(wanted, names)}; there are {there}"
    return ReadError.at(some[0].file.path, problem)


def _together(some: Sequence[SystemScores]) -> tuple[list[Any], list[list[int | None]]]:
    """All items of some systems, and where each system has them; None where it has not."""
    head, *others = some
    for one in others:
        if (one.ids is None) != (head.ids is None):
            bare, known = (head, one) if head.ids is None else (one, head)
            problem = f"has no ids, but {known.file.path} has; give both or neither, or name the "
            raise ReadError.at(bare.file.path, problem + "columns that pair them (--id)")
        if head.ids is None and len(one) != len(head):
            raise ReadError.at(
                one.file.path,
                f"{len(one)} items, but {len(head)} of {head.system!r}, and no ids to pair by; "
                "both systems must have been scored on the same items, in the same order",
            )
        if head.ids is not None and one.paired_by != head.paired_by:
            raise ReadError.at(
                one.file.path,
                f"its items are known by {one.paired_by}, but those of {head.file.path} by "
                f"{head.paired_by}; if these are ids of the same items, give both one name, or "
                "evaluate both systems with the same version of the tool",
            )
    every: list[Any] = list(range(len(head)) if head.ids is None else head.ids)
    if head.ids is None or all(one.ids is head.ids or one.ids == head.ids for one in others):
        return every, [list(range(len(head))) for _ in some]
    every = list(dict.fromkeys(key for one in some for key in one.positions))
    return every, [[one.positions.get(key) for key in every] for one in some]


def _nothing_in_common(some: Sequence[SystemScores]) -> ReadError:
    head = some[0]
    for one in some[1:]:
        if not head.positions.keys() & one.positions.keys():
            mine, theirs = shown((head.ids or ("",))[0]), shown((one.ids or ("",))[0])
            problem = f"no {head.paired_by} in common with {head.file.path} (first: {theirs} and "
            remedy = f"{mine}); both systems must have been scored on the same items"
            return ReadError.at(one.file.path, problem + remedy)
    fewest = min(some, key=len)
    problem = f"no item has a score of all {len(some)} systems; leave some out, such as "
    return ReadError.at(fewest.file.path, f"{problem}{fewest.system!r}")


# ---- numbers -------------------------------------------------------------------------------------


def _exact(cell: Any) -> Any:
    """The number in a cell, or those in a tuple; None where it is missing."""
    if isinstance(cell, tuple):
        parts = tuple(map(_exact, cell))
        return None if None in parts else parts
    return None if cell is None or kind_of(cell) == "missing" else as_score(cell)


def _numbers(
    some: Sequence[SystemScores], name: str, rows: Sequence[Sequence[Any]]
) -> list[list[Any]]:
    """The numbers of a score; the error is that of the first bad item."""
    found = []
    for one, own in zip(some, rows, strict=True):
        cells = [None if i is None else one.scores[name][i] for i in own]
        try:
            known = {cell: _exact(cell) for cell in dict.fromkeys(cells)}
            found.append([known[cell] for cell in cells])
        except (ValueError, TypeError):
            break
    else:
        return found
    for k in range(max(map(len, rows))):
        for one, own in zip(some, rows, strict=True):
            cell = None if k >= len(own) or own[k] is None else one.scores[name][own[k]]
            for part, value in enumerate(cell if isinstance(cell, tuple) else (cell,)):
                try:
                    _exact(value)
                except (ValueError, TypeError) as error:
                    raise one.error(own[k], str(error), name, part) from None
    raise AssertionError("no cell is bad")


def _check_thousands(chosen: Chosen) -> None:
    """Refuse numbers whose point may separate thousands: 1.005 beside 998."""
    every = (x for column in chosen.cells(chosen.score) for x in column)
    cells = {x for x in every if isinstance(x, str) and len(x) < 20}
    pointed = sorted(x for x in cells if "." in x)
    whole = max((int(x.lstrip("+-")) for x in cells if x.lstrip("+-").isdecimal()), default=0)
    if whole < 100 or not pointed:
        return
    grouped = all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", x) for x in pointed)
    if grouped and min(abs(int(x.replace(".", ""))) for x in pointed) <= 10 * whole:
        for one, own in zip(chosen.systems, chosen.rows, strict=True):
            for i in own:
                if i is not None and one.scores[chosen.score][i] == pointed[0]:
                    problem = (
                        f"{pointed[0]!r} beside {whole}: the point may separate thousands; say so "
                    )
                    remedy = "(--thousands .), or that it is a decimal point (--thousands none)"
                    raise one.error(i, problem + remedy, chosen.score)


def _missing(
    some: Sequence[SystemScores], name: str, rows: Sequence[Sequence[Any]], cells: Any, k: int
) -> ReadError:
    """The error that an item has no score."""
    j = next(j for j, column in enumerate(cells) if column[k] is None)
    cell = some[j].scores[name][rows[j][k]]
    parts = cell if isinstance(cell, tuple) else (cell,)
    part = next((p for p, x in enumerate(parts) if x is None or kind_of(x) == "missing"), 0)
    written = shown("" if parts[part] is None else str(parts[part]))
    problem = f"{written} is a missing score; score the item for all systems, or say what becomes "
    return some[j].error(rows[j][k], f"{problem}of it (--missing drop, --missing zero)", name, part)


def _columns(some: Sequence[SystemScores], name: str, entry: Entry) -> tuple[str, ...]:
    """What a score counts, which must suit the statistic; empty where it is one number."""
    counts = [DERIVED.get(one.counts.get(name, ()), one.counts.get(name, ())) for one in some]
    problem = ""
    if isinstance(entry, CountStatistic):
        wanted = [measure.columns for measure in entry.measures]
        if entry.average or counts[0] not in wanted:
            kind = f"counts {', '.join(counts[0])}" if counts[0] else "one number an item"
            problem = (
                f"{shown(name)} is {kind}, but {entry.name!r} needs {entry.layouts()}; choose "
            )
            problem += "another statistic (--metric) or score"
    elif counts[0]:
        best = " or ".join(count_statistics([counts[0]])[:3])
        problem = f"{shown(name)} has counts ({', '.join(counts[0])}) of each item, but "
        problem += f"{entry.name!r} takes one number; choose {best} as statistic (--metric)"
    if problem:
        raise ReadError.at(some[0].file.path, problem)
    return counts[0]


def _check_scores(chosen: Chosen, cells: Sequence[Sequence[Any]], entry: Entry) -> None:
    """Refuse scores that a statistic cannot have, such as counts below 0."""
    assert isinstance(entry, Statistic)
    if entry.minimum is None:
        return
    for k, numbers in enumerate(zip(*cells, strict=True)):
        for j, number in enumerate(numbers):
            if problem := entry.problem(number):
                raise chosen.systems[j].error(chosen.rows[j][k], problem, chosen.score)


def _tables(
    chosen: Chosen, cells: Sequence[Sequence[Any]], columns: tuple[str, ...], entry: Entry
) -> list[Any]:
    """Arrays of counts, none of which is broken, below 0 or impossible."""
    assert isinstance(entry, CountStatistic)
    written = chosen.systems[0].counts[chosen.score]
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
        if written != columns:  # those of jiwer
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
    """The score of that name, or the only one whose name begins so, a comma following."""
    if wanted in names:
        return wanted
    begun = [name for name in names if name.partition(",")[0] == wanted]
    return begun[0] if len(begun) == 1 else None


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
    matched, left_out = source["matched"], source["left_out"]
    systems = sum(len(one["systems"]) for one in source["files"])
    text = f"{title}: {matched} item{'s' * (matched != 1)}"
    text += f" of {systems} systems," * (systems != 2) + f" paired by {source['paired_by']}"
    for number, names, side in zip(
        source["unmatched"], source["unmatched_ids"], "AB", strict=False
    ):
        if number:
            text += f"; {number} only in {side} ({_some(names, number)})"
    if source["unmatched"] and source["dropped"]:
        names = _some(source["dropped_ids"], source["dropped"])
        text += f"; {source['dropped']} without a score ({names})"
    elif left_out and not source["unmatched"]:
        which = listed([f"{name} {count}" for name, count in source["lacking"].items()], NAMED)
        text += f"; {left_out} left out ({_some(source['left_out_ids'], left_out)})"
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


def _some(names: Sequence[str], number: int) -> str:
    return ", ".join(map(shown, names)) + ", ..." * (number > len(names))
