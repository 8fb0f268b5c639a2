"""The one place where items of systems are put together, and where cells become exact numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from math import lcm
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from permtest.integers import Scores, as_integers, in_common_units
from permtest.pairs import Pairs, Runs
from permtest.predictions import fitting, judged
from permtest.readers.files import (
    SETTLE,
    VERDICTS,
    ReadError,
    as_printed,
    as_score,
    brief,
    check_memory,
    did_you_mean,
    kind_of,
    listed,
    number_or_none,
    printable,
    shown,
    text_of,
)
from permtest.readers.labels import PREDICTION, is_missing
from permtest.readers.names import (
    OF_THE_ITEM,
    ROLES,
    SAYS,
    WORDS,
    count_statistics,
    is_judged,
    owner_and_measure,
    predicted,
    words,
)
from permtest.readers.shape import ARE_SCORES, PREDICTED, How, Sheet, as_ids, as_list
from permtest.readers.systems import ROW, Format, SystemScores, told_apart
from permtest.score import Score, counted
from permtest.statistics import Statistic, lookup

if TYPE_CHECKING:
    from permtest.many import ScoreTable

#: Ids, and notes, that are named in messages and in the provenance, at most.
NAMED = 5

#: The statistics that say which score they are of, and those that say nothing of it.
OWN_SCORES, ANY_SCORE = ("exact_match", "uas", "las"), ("sum", "mean")

#: Zeros in front of a number in an id.
ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")

MISSING = ("drop", "zero", "error")

Systems: TypeAlias = "Sequence[SystemScores]"

#: A table, and its rows of one system.
Part: TypeAlias = "tuple[Sheet, Sequence[int]]"


def keyed(parts: Sequence[Part]) -> list[Part]:
    """The same with a column as ids that differs in every row and is the same in all parts."""
    sheets = [sheet for sheet, _ in parts]
    head = sheets[0]
    if head.how.id is False or any(sheet.ids or sheet.names is None for sheet in sheets):
        return list(parts)
    columns = [
        {k: as_ids([sheet.texts[k][row] for row in rows]) for k in sheet.keys}
        for sheet, rows in parts
    ]
    values = [{k: frozenset(cells) for k, cells in own.items()} for own in columns]
    found = []  # the columns of all tables that have the same values
    for i, cells in values[0].items():
        same = [[k for k, others in own.items() if others == cells] for own in values[1:]]
        if len(cells) == len(columns[0][i]) and all(same):
            name, rest = head.name(i).lower(), zip(sheets[1:], same, strict=True)
            found.append([i, *(min(k, key=lambda x: s.name(x).lower() != name) for s, k in rest)])
    found = [some for some in found if some[0] != head.numbered] or found
    if not found:
        _check_no_key(parts, columns)
        return list(parts)
    first, name = found[0], head.name(found[0][0])
    for other in found[1:]:
        both = zip(columns, first, other, strict=True)
        pairings = [dict(zip(own[i], own[k], strict=True)) for own, i, k in both]
        if any(one != pairings[0] for one in pairings[1:]):
            problem = f"columns {name!r} and {head.name(other[0])!r} pair the lines differently"
            raise head.error(f"{problem}; choose one (--id)")
    note = f"items are paired by {name!r}, which differs in every row and is the same in all files"
    return [
        (replace(x, how=replace(head.how, id=i + 1), notes=(*x.notes, note), known_by=name), rows)
        for (x, rows), i in zip(parts, first, strict=True)
    ]


def _check_no_key(parts: Sequence[Part], columns: Sequence[Mapping[int, list[str]]]) -> None:
    """Refuse columns that are nearly a key, or one in some files, before order pairs the items."""
    (head, first), *others = parts
    for i in (i for i in columns[0] if head.may_be_key(i)):  # but numbers called like no item
        own, name = columns[0][i], head.name(i)
        _check_no_repeats(parts, name, own)
        for (sheet, rows), cells in zip(others, columns[1:], strict=True):
            called = (cells[k] for k in cells if sheet.name(k).lower() == name.lower())
            theirs = next(called, [])
            if not theirs or not (_differ(own) or _differ(theirs)):
                continue
            both = f"are in {sheet.file.path} too"
            if sheet is head and sheet.system is not None:  # a table of both
                mine, other = (sheet.texts[sheet.system][x[0]] for x in (first, rows))
                both = f"of {mine!r} are of {other!r} too"
            shared = f"{len({*own} & {*theirs})} of {len({*own})} values of {head.label(i)} {both}"
            problem = f"{shared}; make them agree, or pair by it (--id {name})"
            order = ", or pair lines by their order (--by-order)" * (len(rows) == len(first))
            raise head.error(problem + order)
    if all(any(map(sheet.may_be_key, sheet.keys)) for sheet, _ in parts):
        return
    for (sheet, _), some in zip(parts, columns, strict=True):
        for i in (i for i, cells in some.items() if i not in sheet.numeric and _differ(cells)):
            problem = f"not all files have a {sheet.label(i)}; add it, or pair by order"
            raise sheet.error(f"{problem} (--by-order)")


def _check_no_repeats(parts: Sequence[Part], name: str, own: Sequence[str]) -> None:
    """Refuse a column of which each value comes as often, twice or more, the same in all files."""
    number = Counter(own)
    times = number[own[0]]
    if not (1 < times <= len(number) and {*number.values()} == {times}):
        return  # the fewer values there are, the likelier they are groups of items
    for sheet, rows in parts[1:]:
        same = [k for k in range(sheet.width) if sheet.name(k) == name]
        if (
            sheet is parts[0][0]
            or not same
            or as_ids([sheet.texts[same[0]][row] for row in rows]) != own
        ):
            return
    problem = f"each value comes {times} times, in the same order in all files; if these are "
    problem += f"repeats of an item, swap them together (--clusters {name}), else pair lines by "
    head = parts[0][0]
    raise head.error(f"{problem}order (--by-order)", None, head.find(name))


def _differ(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The content of files before the user chooses systems."""

    format: Format
    found: tuple[SystemScores, ...]  # all systems, under names that differ
    usual: tuple[str, ...] | None = None  # those that are meant unless others are named; None: all
    sheet: Sheet | None = None  # the table, where systems are columns of one
    first: Sheet | None = None  # the first table, for people to look at
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

    def score_names(self, *systems: str) -> tuple[str, ...]:
        """Names of the scores that all of these systems have, in the order of the first."""
        if self.sheet is not None or self.is_labels:
            return ()
        head, *others = (self._system(*one) for one in zip(systems, "ab", strict=True))
        return tuple(name for name in head.scores if all(name in one.scores for one in others))

    def statistics(self, a: str, b: str, score: str | None = None) -> tuple[str, ...]:
        """Names of the statistics that can be tested of two systems, the most fitting first."""
        two = [self._system(a, "a"), self._system(b, "b")]
        if self.is_labels:
            used = {x for one in two for x in (*one.agree["gold"], *one.scores[PREDICTION])}
            return fitting(used - {""}, self.how.positive)
        counted = [c for name, c in two[0].counts.items() if name in two[1].counts]
        if counted and (score is None or score in two[0].counts):
            return count_statistics(counted)
        numbers = chain(*_Chosen.of_rows(two, self._score(two, score, None)).exact())
        counts = all(x is None or (x >= 0 and x == int(x)) for x in numbers)
        return ("accuracy", "mean", "sum") if counts else ("mean", "sum")

    def text(self, name: str) -> str:
        """What an item is, for people to read; "" where the files do not say."""
        for one in self.found:
            if one.texts is not None and name in one.positions:
                return brief(str(one.texts[one.positions[name]]), 300)
        return ""

    def preview(self, rows: int = 8) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The first lines of a table; else ids and scores of the first system's first items."""
        columns: dict[str, Sequence[Any]]
        if self.first is not None:
            columns = {self.first.name(i): cells for i, cells in enumerate(self.first.texts)}
        else:
            head = self.found[0]
            columns = {head.paired_by: head.ids or range(1, len(head) + 1), **head.scores}
        cells = [[brief(text_of(x)) for x in column[:rows]] for column in columns.values()]
        return tuple(map(brief, columns)), list(zip(*cells, strict=True))

    def pairs(
        self,
        a: Any = None,
        b: Any = None,
        *,
        score: str | None = None,
        statistic: str | Statistic = "sum",
        clusters: Any = None,
    ) -> Pairs:
        """Two systems, as `permtest.read` says."""
        entry = lookup(statistic)
        two = self._compared(a, b, entry)
        name = self._measure(two, score, entry)
        own = clusters is None or clusters in {one.items_by for one in two}
        chosen, grouping = self._on_items(two, name, entry, clusters, strict=not own)
        bare = self.sheet is not None and self.sheet.names is None
        first, second = told_apart(["A", "B"] if bare else [one.system for one in two], "AB")
        (u, v), names = chosen.numbers, (first, second)
        if chosen.columns:
            pairs = Pairs(u, v, names, columns=chosen.columns)
        elif chosen.sizes:
            made, runs, scale = _means(chosen.numbers, chosen.sizes, names)
            off = None if made.rounding is None else np.stack(made.rounding)
            how: dict[str, Any] = {"scale": made.scale, "rounding": off, "reading": made.reading}
            (u, v), labels = made.columns, chosen.labels
            a, b = (replace(x, labels=own) for x, own in zip(runs, labels, strict=True))
            pairs = Pairs(u, v, names, runs=(a, b, scale), **how)
        else:
            pairs = Pairs.of(as_printed(u), as_printed(v), names, labels=names)
        source = chosen.source(self.format.name, grouping)
        rest = self._no_systems(two, numbers=True)
        source["no_systems"] = [x for x in rest if a is None or x.lower() in ROLES["gold"]]
        group, kind = chosen.group(grouping), self._kind(chosen)
        return replace(pairs, ids=chosen.ids, clusters=group, source=source, score=kind)

    def table(
        self,
        systems: Sequence[Any] | None = None,
        *,
        score: str | None = None,
        statistic: str | Statistic = "mean",
        clusters: Any = None,
    ) -> ScoreTable:
        """Two systems or more, as `permtest.read_many` says."""
        from permtest.many.table import ScoreTable  # more than two systems have to load

        entry = lookup(statistic)
        if isinstance(systems, str | int):
            raise TypeError(f"systems={systems!r} must be a list of names")
        some = self._meant(entry) if systems is None else []
        for i, wanted in enumerate(() if systems is None else systems):
            some.append(self._named(f"systems[{i}]", wanted, entry))
            if some[i].system in [one.system for one in some[:i]]:
                raise ValueError(f"systems[{i}] = {some[i].system!r} is a repeat; list it once")
            self._check_measures(some[0].system, some[i].system)
        if len(some) < 2:
            raise self._too_few(some, entry, "name columns as systems (--systems)")
        names, measure = tuple(one.system for one in some), self._measure(some, score, entry)
        chosen, grouping = self._on_items(some, measure, entry, clusters)
        check_memory("all systems together", 30 * sum(np.size(x) for x in chosen.numbers))
        group, source = chosen.group(grouping), chosen.source(self.format.name, grouping)
        source["n_clusters"] = None if group is None else len(set(group))
        source["no_systems"] = [] if systems is not None else self._no_systems(some)
        source["read"] = describe(source, self.format.title)
        if chosen.columns:
            scores, scale, off, reading = np.stack(chosen.numbers), 1, None, ""
        else:
            units = _means(chosen.numbers, chosen.sizes, names)[0]
            scores, scale, reading = np.stack(units.columns), units.scale, units.reading
            off = None if units.rounding is None else np.stack(units.rounding)
        where = (chosen.ids, source, off, reading, self._kind(chosen))
        return ScoreTable(names, scores, entry, scale, group, *where)

    def _compared(self, a: Any, b: Any, entry: Statistic) -> Systems:
        if (a is None) != (b is None):
            given = "b is given without a" if a is None else "a is given without b"
            what = "systems" if self.sheet is None else "columns"
            raise self._error(f"{given}; name both {what}; {self._known()}")
        if a is None:
            if len(two := self._meant(entry)) != 2:
                all_of_them = ", or compare all with permtest leaderboard" * (len(two) > 2)
                remedy = f"say which two to compare (--a, --b){all_of_them}"
                raise self._too_few(two, entry, remedy)
            return two
        one, other = self._named("a", a, entry), self._named("b", b, entry)
        self._check_measures(one.system, other.system)
        if one.system == other.system:
            what = "column " * (self.sheet is not None) + repr(one.system)
            raise self._error(f"a and b are both {what}; name two; {self._known()}")
        for name in one.counts.keys() & other.counts.keys() if self.sheet is not None else ():
            both = zip(one.counts[name], one.columns[name], strict=True)
            own = {label for count, label in both if count not in OF_THE_ITEM}
            if taken := own & set(other.columns[name]):
                raise self._error(f"{min(taken)} is in both a and b; choose two systems")
        return [one, other]

    def _check_measures(self, a: str, b: str) -> None:
        """Refuse crf_accuracy beside hmm_loss where there are hmm_accuracy and crf_loss, too."""
        names = (self.sheet.names if self.sheet is not None else None) or ()
        known = {owner_and_measure(name): name for name in names}
        (p, x), (q, y) = owner_and_measure(a), owner_and_measure(b)
        of_b, of_a = known.get((q, x)), known.get((p, y))
        if p and q and p != q and x != y and of_a and of_b and not {*x, *y} <= SAYS["no system"]:
            problem = f"columns {a!r} and {b!r} hold different measures ({'_'.join(x)} and "
            problem += f"{'_'.join(y)}); compare {a!r} with {of_b!r}, or {of_a!r} with {b!r}"
            raise self._error(problem)
        one, other = Score.of(a), Score.of(b)
        told = self.sheet is None or self.how.higher_is_better is not None
        differ = one.higher_is_better != other.higher_is_better
        if differ and one.basis == other.basis == "inferred" and not told:
            problem = f"by their names, higher is better in one of {a!r} and {b!r} and lower in "
            problem += "the other; compare columns of one measure, or say which is better in both "
            raise self._error(f"{problem}(--higher-is-better, --lower-is-better)")

    def _check_labels(self, some: Systems, names: Sequence[str]) -> None:
        """Refuse scores that may be labels, or say how sure a system was of some."""
        if (first := self.first) is None or self.how.score is not None:
            return
        gold, used = first.called("gold"), dict[str, str]()
        for one in some:
            for name in (name for name in names if name not in one.counts):
                used |= dict.fromkeys(one.columns.get(name, ()), name)
        columns = [i for i in range(first.width) if first.label(i) in used]
        unsure, problem = ([], "") if gold is None else first.no_labels(gold)
        if unsure and not {gold, *unsure}.isdisjoint(columns):
            raise self._error(problem + ARE_SCORES * (problem == PREDICTED))
        right = "FILE" if gold is None else first.name(gold)
        plain = [x for x in some[0].scores if x != right and not predicted(x)]
        for label, name in used.items():
            is_gold = gold is not None and label == first.label(gold) and self.sheet is None
            if word := predicted(label):
                what = "predicted labels, which are not scores; name the right labels"
                right = "FILE" if is_gold else right
            elif is_gold:
                what = "the right labels, which are not scores; score predictions by it"
            else:
                continue
            which = word if self.sheet is not None else (plain or [name])[0]
            problem = f"{label} may hold {what} (--gold {right}), or say which numbers are scores"
            raise self._error(f"{problem} (--score {which})")
        said = map(first.sureness, columns) if self.sheet is None else [first.holds_labels(columns)]
        if problem := next(filter(None, said), ""):
            raise self._error(problem)

    def _no_systems(self, some: Systems, *, numbers: bool = False) -> list[str]:
        """The columns of a table that are not compared; or those of numbers alone."""
        if (sheet := self.sheet) is None:
            return []
        used = {x for one in some for labels in one.columns.values() for x in labels}
        every = sorted({*sheet.numeric} - sheet.apart) if numbers else range(sheet.width)
        return [sheet.name(i) for i in every if sheet.label(i) not in used]

    def _error(self, problem: str) -> ReadError:
        return ReadError.at((self.sheet or self.found[0]).file.path, problem)

    def _known(self) -> str:
        if self.sheet is not None:
            return self.sheet.known()
        return f"the systems are {listed([repr(one.system) for one in self.found])}"

    def _system(self, wanted: Any, option: str) -> SystemScores:
        names, number = [one.system for one in self.found], str(wanted)
        if wanted in names:
            return self.found[names.index(wanted)]
        if self.sheet is not None:
            return self.sheet.column_system(wanted)
        if number.isascii() and number.isdecimal() and 1 <= int(number) <= len(names):
            return self.found[int(number) - 1]
        hint = did_you_mean(wanted, names)
        raise self._error(f"{option}: no system {wanted!r}{hint}; {self._known()}")

    def _named(self, option: str, wanted: Any, entry: Statistic) -> SystemScores:
        """The system that is called so, or whose counts are in the columns that are listed."""
        parts = as_list(wanted)
        if self.sheet is None or not entry.columns:
            if len(parts) == 1:
                return self._system(parts[0], option)
            problem = f"{option} lists {len(parts)} columns, but {entry.name!r} takes one score of "
            raise self._error(f"{problem}each; name one, or choose counts, such as --metric f1")
        if isinstance(wanted, str):
            counted = {one.system: one for one in self.found if one.counts}
            if wanted in counted:
                return counted[wanted]
            if "," not in wanted and not wanted.isdecimal():
                known = f"its systems are {listed([*map(repr, counted)])}"
                problem = f"no columns of system {wanted!r}{did_you_mean(wanted, list(counted))}"
                raise self._error(f"{problem}; {known if counted else self._known()}")
            parts = [part.strip() for part in wanted.split(",")]
        return self.sheet.listed_system(parts, entry, option)

    def _meant(self, entry: Statistic) -> list[SystemScores]:
        sheet = self.sheet
        if sheet is None or not entry.columns:
            return [one for one in self.found if self.usual is None or one.system in self.usual]
        if entry.average is not None:
            raise ValueError(
                f"{entry.name!r} needs predictions and right labels (--gold); in Python, "
                f"exact_perm_test(u, v, statistic={entry.name!r}) takes arrays of shape "
                f"(N, classes, {len(entry.columns)})"
            )
        wanted = [measure.columns for measure in entry.measures]
        if sheet.names is not None:
            return [one for one in self.found if any(c in wanted for c in one.counts.values())]
        columns = [i + 1 for i in range(sheet.width) if i not in sheet.apart]
        half = len(columns) // 2
        if len(columns) == 2 * half and half in map(len, wanted):
            both = (columns[:half], "a"), (columns[half:], "b")
            return [sheet.listed_system(some, entry, option) for some, option in both]
        names = ", ".join(f"A_{count}" for count in entry.columns)
        problem = f"{len(columns)} columns and no header, but {entry.name!r} needs "
        problem += f"{entry.layouts()} of each system; call them {names}, or list them as a and b"
        raise sheet.error(problem)

    def _too_few(self, some: Systems, entry: Statistic, remedy: str) -> ReadError:
        """The error that it is not clear which systems are meant."""
        sheet, found = self.sheet, [one.system for one in some]
        if sheet is not None and not some and len(sheet.scored) == 1:  # the only scores
            found = [sheet.name(sheet.scored[0])]
        names = f" ({listed(list(map(repr, found)), NAMED)})" if found else ""
        problem = f"{len(found)} system{'s' * (len(found) != 1)}{names}"
        if sheet is None:
            gold = [
                x.system for x in self.found if x not in some and x.system.lower() in ROLES["gold"]
            ]
            if gold:
                problem += f", since column {gold[0]!r} may hold the right labels; name it (--gold "
                return self._error(f"{problem}{gold[0]}), or {remedy}")
            remedy = "add the file of another" if len(some) < 2 else remedy
            return self._error(f"{problem}; {remedy}")
        if entry.columns and not some:
            columns = ", ".join(f"new_{count}" for count in entry.columns)
            needed = "; or ".join(", ".join(measure.columns) for measure in entry.measures)
            problem = f"no system has the counts that {entry.title} needs: {needed}, in columns "
            problem += f"such as {columns}"
        doubt, called = sheet.usual[1], sheet.names
        scored = {*sheet.numeric} - sheet.apart
        if len(scored) < 2 and not (entry.columns or doubt.text):
            remedy = sheet.of_one_system(scored)
        elif len(some) < 2:
            remedy += ", or add the files of others"
        remedy = f", and {remedy}" * doubt.columns if doubt.settled else f"; {remedy}"
        cause = sheet.obstacle() if len(some) < 2 and not doubt.text else ""
        bare = sum(x.lower() in WORDS for x in called) > 1 if called else sheet.width == 4
        if bare or any(one.counts for one in self.found):
            cause += "; for counts, choose a statistic of counts, such as 'f1' (--metric f1)"
        return self._error(f"{doubt.text or problem}{remedy}; {self._known()}{cause}")

    def _measure(self, some: Systems, wanted: str | None, entry: Statistic) -> str:
        """The name of the score that is meant; refused where it may be labels."""
        if self.is_labels:
            if wanted is not None:
                raise self._error("predictions have no score; choose a statistic (--metric)")
            return PREDICTION
        if self.how.positive is not None:
            problem = "pos_label (--pos-label) is for predictions; name the right labels (--gold)"
            raise self._error(problem)
        name = self._score(some, wanted, entry)
        if wanted is None:
            self._check_labels(some, [name])
        return name

    def _score(self, some: Systems, wanted: str | None, entry: Statistic | None) -> str:
        """The name of the score that is meant, which all of the systems have."""
        head, last = some[0], some[-1]
        names = [name for name in head.scores if all(name in one.scores for one in some)]
        if not names:
            both = " and ".join(f"{', '.join(x.scores)} of {x.system!r}" for x in (head, last))
            problem = f"no score in common: {both}; give those of one measure the same name"
            raise ReadError.at(last.file.path, problem)
        if wanted is None:
            counted = {head.counts[name]: name for name in names if name in head.counts}
            for measure in entry.measures if entry is not None and entry.columns else ():
                if measure.columns in counted:
                    return counted[measure.columns]
            if entry is None or not entry.columns:
                names = [name for name in names if name not in head.counts] or names
        meant = names[0] if entry is None else "" if entry.name in ANY_SCORE else entry.name
        likely = _likely(names, table=bool(head.columns))
        if wanted is None and len(likely) == 1 and (head.columns or meant not in OWN_SCORES):
            return likely[0]
        found = find_score(meant if wanted is None else wanted, names)
        if found is not None or self.sheet is not None:
            return found or names[0]
        raise self._unclear(some, names, wanted)

    def _unclear(self, some: Systems, names: Sequence[str], wanted: str | None) -> ReadError:
        """The error that it is not clear which score is meant."""
        if wanted is not None:
            there = dict.fromkeys([", ".join(names), *(x for one in some for x in one.notes)])
            hint = did_you_mean(wanted, names)
            return self._error(f"no score {wanted!r}{hint}; there are {'; '.join(there)}")
        self._check_labels(some, names)
        problem = f"{len(names)} score{'s' * (len(names) > 1)} ({', '.join(map(shown, names))}); "
        problem += "choose one as score (--score)"
        if len(names) > 1 and len({re.sub(r"\d+", "", name) for name in names}) == 1:
            problem += "; if they are runs of one score, see exact_runs_test in Python"
        return self._error(problem)

    def _grouping(self, some: Systems, wanted: Any) -> str | None:
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
        lacking = [one for one in some if name not in one.clusters]
        if not lacking:
            return name
        known = [x for x in some[0].clusters if all(x in one.clusters for one in some)]
        problem = f"clusters: {lacking[0].system!r} has no {name!r} for its items; all share "
        raise ReadError.at(lacking[0].file.path, problem + (", ".join(known) or "none"))

    def _kind(self, chosen: _Chosen) -> Score:
        way = self.how.higher_is_better
        if self.is_labels or chosen.columns:
            return Score.of("correct" if self.is_labels else "", way)
        if self.sheet is None:
            bare = self.first is not None and self.first.names is None
            return Score.of("" if bare else chosen.score, way)
        shared = Score.shared([one.system for one in chosen.systems], way)
        return shared if shared.name else Score.of(self.how.score or "", way)

    def _on_items(
        self,
        some: Systems,
        name: str,
        entry: Statistic,
        clusters: Any,
        *,
        strict: bool = False,
    ) -> tuple[_Chosen, str | None]:
        """The items of systems with their numbers, and the grouping that is swapped as a whole."""
        if self._has_unequal_runs(some, name, entry, clusters):
            return self._of_runs(some, name, entry), self._above_items(some, clusters)
        return self._chosen(some, name, entry, strict=strict), self._grouping(some, clusters)

    def _chosen(
        self, some: Systems, score: str, entry: Statistic, *, strict: bool = False
    ) -> _Chosen:
        """The items of systems, and their numbers; `strict` runs must be the same by default."""
        runs = any(one.items is not None for one in some)
        missing = self.how.missing or ("error" if strict and runs else None)
        chosen = _Chosen.matched(some, score, missing)
        if self.is_labels:
            self._judge(chosen, entry)
        else:
            self._count(chosen, entry)
        chosen.check_agreement(self.how)
        return chosen

    def _judge(self, chosen: _Chosen, entry: Statistic) -> None:
        cells = chosen.cells()
        for one in chosen.systems:
            label, gold = one.columns[PREDICTION][0], {*one.agree["gold"]}
            if is_judged(label, {*one.scores[PREDICTION]}, gold):
                other = shown(min(x for x in gold if number_or_none(x) not in (0, 1)))
                problem = f"{label} looks like correctness (0/1), but gold holds labels such as "
                problem += f"{other}; leave gold (--gold) out to compare scores as they are, or, "
                raise self._error(f"{problem}if it holds predictions, add pred to its name")
        if chosen.missing in ("drop", "error"):
            gold = set(chosen.systems[0].agree["gold"])
            cells = [[None if is_missing(x, gold) else x for x in c] for c in cells]
            cells = chosen.complete(cells)
        gold_of = [one.agree["gold"] for one in chosen.systems]
        right = [
            next(gold[i] for gold, i in zip(gold_of, own, strict=True) if i is not None)
            for own in zip(*chosen.rows, strict=True)
        ]
        said = [["" if x is None else x for x in column] for column in cells]
        names = [one.system for one in chosen.systems]
        called = ("statistic (--metric)", "pos_label (--pos-label)")
        made = judged(names, right, said, entry, self.how.positive, self._error, called)
        chosen.numbers, chosen.columns, chosen.facts = made
        chosen.notes += chosen.facts.pop("notes")

    def _count(self, chosen: _Chosen, entry: Statistic) -> None:
        if counts := _counts(chosen.systems, chosen.score, entry):
            chosen.columns = counts
            chosen.numbers = _tables(chosen, chosen.complete(chosen.exact()), entry)
            return
        chosen.numbers = chosen.complete(self._numbers(chosen, entry))

    def _numbers(self, chosen: _Chosen, entry: Statistic) -> list[list[Any]]:
        """The numbers of a score, None where one is missing; what is doubtful is refused."""
        chosen.check_writing()
        cells = chosen.exact()
        if entry.minimum is not None:
            chosen.refuse(lambda x: None if x is None else "; ".join(entry.problem(x) or ()), cells)
        return cells

    def _has_unequal_runs(self, some: Systems, name: str, entry: Statistic, clusters: Any) -> bool:
        """Whether systems have other runs of the items that all have."""
        keys = [one.items or one.ids or () for one in some]
        known = {one.items_by if one.items else one.paired_by for one in some}
        plain = self.is_labels or entry.columns or all(one.items is None for one in some)
        kept = clusters is not False and self.how.missing not in ("zero", "error")
        if plain or not kept or len(known) > 1 or () in keys:
            return False
        shared = {*keys[0]}.intersection(*keys[1:])
        bare = any(one.ids is None for one in some)
        first, *others = (
            [run for run, x in zip(own if bare else one.ids or (), own, strict=True) if x in shared]
            for one, own in zip(some, keys, strict=True)
        )
        apart = any(x != first if bare else {*x} != {*first} for x in others)
        gone = self.how.missing == "drop" or some[0].paired_by != ROW
        gone = gone and any(_is_missing(x) for one in some for x in one.scores[name])
        if not shared or name in some[0].counts or not (apart or gone):
            return False
        group = self._above_items(some, clusters)
        return group is None or all(
            len({*zip(own, one.clusters[group], strict=True)}) == len({*own})
            for one, own in zip(some, keys, strict=True)
        )

    def _above_items(self, some: Systems, clusters: Any) -> str | None:
        """The grouping that is swapped as a whole, if any, where rows are runs of items."""
        every = next((x.swapped for x in some if x.swapped), None)
        wanted = every if clusters is None else clusters
        own = wanted in {one.items_by for one in some}
        if own or (clusters is None and not all(wanted in one.clusters for one in some)):
            return None
        name = self._grouping(some, wanted)
        # Items by another name, such as the samples of a log, are no groups.
        same = (x.items is not None and x.clusters[name] == x.items for x in some if name)
        return None if any(same) else name

    def _of_runs(self, some: Systems, name: str, entry: Statistic) -> _Chosen:
        """The items of systems that have different runs of them, and the numbers of all."""
        cells = self._numbers(_Chosen.of_rows(some, name), entry)
        whole = [_of_items(one, name, column) for one, column in zip(some, cells, strict=True)]
        chosen = _Chosen.matched(whole, name, self.how.missing)
        every = chosen.complete(chosen.cells())
        chosen.sizes = [list(map(len, own)) for own in every]
        chosen.numbers = [[*chain(*own)] for own in every]
        chosen.labels = [
            _labels(one, column, chosen.keys) for one, column in zip(some, cells, strict=True)
        ]
        own = [f"{len(x)} of {y.system}" for x, y in zip(chosen.numbers, some, strict=True)]
        said = " and ".join(own) if len(own) == 2 else listed(own, NAMED)
        note = f"the systems have different runs of these items, {said}"
        chosen.notes.append(
            f"{note}: an item scores the mean of its runs, or their pass@k if asked"
        )
        chosen.check_agreement(self.how)
        return chosen


@dataclass(eq=False)
class _Chosen:
    """Some systems on the same items."""

    systems: Systems
    score: str
    keys: list[Any]  # ids, or numbers
    rows: Sequence[Sequence[Any]]  # where each system has the items; None where it has not
    alone: list[list[str]] = field(default_factory=list)  # the items that each system lacks
    dropped: list[str] = field(default_factory=list)  # the items without a score
    numbers: Any = ()  # a column of each system
    columns: tuple[str, ...] = ()  # what is counted
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    missing: str | None = None  # what becomes of items without a score of every system
    sizes: list[list[int]] = field(default_factory=list)  # how many numbers are of each item
    labels: list[tuple[str, ...]] = field(default_factory=list)  # of all these numbers, as runs

    @classmethod
    def of_rows(cls, some: Systems, score: str) -> _Chosen:
        """All that each system has, row by row, whatever the items are."""
        return cls(some, score, [], [range(len(one)) for one in some])

    @classmethod
    def matched(cls, some: Systems, score: str, missing: str | None) -> _Chosen:
        """The items that all systems have; all items, where those that one lacks count as 0."""
        head, alone = some[0], [list[str]() for _ in some]
        for one in some[1:]:
            if one.ids is not head.ids or len(one) != len(head):
                _check_alike(head, one, missing)
        every: list[Any] = list(head.ids or range(len(head)))
        if all(one.ids is head.ids or one.ids == head.ids for one in some):
            return cls(some, score, every, [range(len(every))] * len(some), alone, missing=missing)
        where = [one.positions for one in some]
        every = list(dict.fromkeys(chain(*where)))
        rows = [[own.get(key) for key in every] for own in where]
        both = [k for k, own in enumerate(zip(*rows, strict=True)) if None not in own]
        if missing == "error" and len(both) < len(every):
            k, j = min((own.index(None), j) for j, own in enumerate(rows) if None in own)
            problem = f"no item {shown(str(every[k]))} of {some[j].system!r}"
            raise ReadError.at(some[j].file.path, problem, settle="missing")
        if missing is None and head.ids is not None and 0 < len(both) < len(every):
            _check_zeros(some, where)
        chosen = cls(some, score, every, rows, alone, missing=missing)
        if missing != "zero":
            if not both:
                raise _nothing_in_common(some, where)
            chosen.alone = [[str(key) for key in every if key not in own] for own in where]
            chosen.keep(both)
        return chosen

    @property
    def ids(self) -> tuple[str, ...] | None:
        return None if self.systems[0].ids is None else tuple(self.keys)

    def keep(self, kept: Sequence[int]) -> None:
        self.keys = [self.keys[k] for k in kept]
        self.rows = [[own[k] for k in kept] for own in self.rows]

    def cells(self) -> list[list[Any]]:
        both = zip(self.systems, self.rows, strict=True)
        return [[None if i is None else x.scores[self.score][i] for i in own] for x, own in both]

    def refuse(
        self, problem: Callable[[Any], str | None], cells: Sequence[Sequence[Any]] | None = None
    ) -> None:
        """Raise the error of the first item with a cell, or a count, that has a problem."""
        for k, row in enumerate(zip_longest(*(cells or self.cells()))):
            for j, cell in enumerate(row):
                for part, value in enumerate(cell if isinstance(cell, tuple) else (cell,)):
                    if said := problem(value):
                        raise self.systems[j].error(self.rows[j][k], said, self.score, part)

    def exact(self) -> list[list[Any]]:
        """The numbers of the score; the error is that of the first bad item."""

        def problem(cell: Any) -> str | None:
            try:
                return _exact(cell) and None
            except (ValueError, TypeError) as error:
                return str(error)

        cells = self.cells()
        try:
            known = {cell: _exact(cell) for column in cells for cell in dict.fromkeys(column)}
            return [[known[cell] for cell in column] for column in cells]
        except (ValueError, TypeError):
            self.refuse(problem)
            raise

    def complete(self, cells: list[list[Any]]) -> list[list[Any]]:
        """The cells of items that have one of every system; an error where they must have."""
        some, keys = self.systems, self.keys
        gone = {k for column in cells if None in column for k, x in enumerate(column) if x is None}
        if not gone:
            return cells
        if self.missing == "zero":
            blank: Any = (0,) * len(some[0].counts.get(self.score, ())) or 0
            for one, column in zip(some, cells, strict=True):
                if number := column.count(None):
                    many, verb = ("s", "count") if number > 1 else ("", "counts")
                    self.notes.append(f"{number} missing score{many} of {one.system!r} {verb} as 0")
            return [[blank if x is None else x for x in column] for column in cells]
        if (self.missing or ("error" if some[0].paired_by == ROW else "drop")) == "error":
            said = f"{{}} is a missing score; {SETTLE['missing']}".format
            self.refuse(lambda x: said(shown(text_of(x))) if _is_missing(x) else None)
        bare = some[0].ids is None
        self.dropped = [some[0].place(self.rows[0][k]) if bare else keys[k] for k in sorted(gone)]
        kept = [k for k in range(len(keys)) if k not in gone]
        if not kept:
            problem = f"no item has the score {shown(self.score)} of all systems; score all alike"
            raise ReadError.at(some[-1].file.path, problem)
        self.keep(kept)
        return [[column[k] for k in kept] for column in cells]

    def check_agreement(self, how: How) -> None:
        """Refuse items that are not the same; note it where the user named what pairs them."""
        named = how.id is not None
        first: dict[str, tuple[SystemScores, Sequence[Any], Sequence[Any]]] = {}
        for one, own in zip(self.systems, self.rows, strict=True):
            for name, theirs in {**one.agree, **one.beside}.items():
                head, mine, rows = first.setdefault(name, (one, theirs, own))
                if mine is theirs or name == self.score.lower():
                    continue
                pairs = ((i, j) for i, j in zip(rows, own, strict=True) if None not in (i, j))
                both = [(i, j) for i, j in pairs if mine[i] != theirs[j]]  # none, mostly
                strict = name in one.agree and name in head.agree
                permuted = Counter(mine[i] for i, _ in both) == Counter(theirs[j] for _, j in both)
                if not both or not (strict or permuted):
                    continue  # it may be something of the system
                i, j = both[0]
                problem = f"{one.place(j)} has another {name} ({shown(theirs[j])}) than in "
                problem += f"{head.file.path} ({shown(mine[i])})"
                sure = named and (self.score != PREDICTION or name != "gold")
                if not sure or name in OF_THE_ITEM:
                    problem += "; both systems must have been scored on the same items"
                    raise ReadError.at(one.file.path, problem, settle="" if named else "id")
                others = len(both) - 1
                more = f"; the same is true of {others} more line{'s' * (others > 1)}"
                self.notes.append(problem + more * (others > 0))

    def check_writing(self) -> None:
        """Note percentages and verdicts; refuse them beside other numbers."""
        try:
            every = dict.fromkeys(chain(*self.cells()))
        except TypeError:  # lists, which are no numbers
            return
        texts = [x for x in every if isinstance(x, str) and len(x) < 20]
        said = {x: x.strip().lower() for x in texts if kind_of(x) != "missing"}
        typed = not all(isinstance(x, str | None) for x in every)
        doubts: dict[Any, str] = {}
        for right, wrong in (("%", ""), *VERDICTS):
            some = [x for x, word in said.items() if word in (right, wrong) or word[-1] == right]
            rest = [x for x in said if x not in some]
            if some and right != "true" and (typed or rest):
                odd, other = (rest, some) if 0 < len(rest) < len(some) > typed else (some, rest)
                beside = shown(other[0]) if other else "numbers"
                doubts.setdefault(odd[0], f"stands beside {beside}; write all scores alike")
            read = f"{right} is read as 1, and {wrong} as 0"
            if some:
                self.notes.append(read if wrong else f"{some[0]!r} is read as {as_score(some[0])}")
        if doubts:
            self.refuse(lambda x: f"{shown(x)} {doubts[x]}" if x in doubts else None)

    def group(self, grouping: str | None) -> tuple[str, ...] | None:
        """What each item belongs to, which all systems must agree in."""
        if grouping is None:
            return None
        known: dict[int, tuple[str, SystemScores]] = {}
        for one, own in zip(self.systems, self.rows, strict=True):
            labels = one.clusters[grouping]
            for k, i in ((k, i) for k, i in enumerate(own) if i is not None):
                label, head = known.setdefault(k, (labels[i], one))
                if labels[i] != label:
                    problem = f"{one.place(i)} belongs to {grouping} {shown(labels[i])}, but in "
                    problem += f"{head.file.path} to {shown(label)}; make them agree"
                    raise ReadError.at(one.file.path, problem)
        return tuple(str(known[k][0]) for k in range(len(self.keys)))

    def source(self, loader: str, grouping: str | None) -> dict[str, Any]:
        head, last = self.systems[0], self.systems[-1]
        left = [*dict.fromkeys(chain(*self.alone)), *self.dropped]
        files: dict[tuple[str, str], list[str]] = {}
        for one in self.systems:
            files.setdefault((one.file.name, one.file.sha256), []).append(one.system)
        notes = [note for one in self.systems for note in one.notes] + self.notes
        if head.file is not last.file and head.file.sha256 == last.file.sha256:
            said = f"{last.file.path} has the content of {head.file.path}"
            notes = [f"{said}: a file is compared with itself", *notes]
        related = dict.fromkeys(x for one in self.systems for x in one.related)
        cautions = [
            f"items of one {x!r} may be alike; if they are, swap them together (--clusters {x})"
            for x in related
        ]
        runs = head.items is not None and grouping in (head.items_by, head.swapped)
        runs_of = Counter(self.group(grouping) or ()) if runs and not self.sizes else {}
        if len({*runs_of.values()}) > 1:
            weigh = ", except in exact_runs_test (permtest compare --null items)"
            cautions.append(f"items with more runs weigh more{weigh * (not self.columns)}")
        notes = list(dict.fromkeys([*cautions, *notes]))
        more = [f"{len(notes) - NAMED} more notes are left out here"] * (len(notes) > NAMED)
        lacking = {}
        for one, gone in zip(self.systems, self.alone, strict=True):
            unscored = sum(map(_is_missing, one.scores[self.score])) if left else 0
            if number := len(gone) + unscored:
                lacking[one.system] = number
        both = self.alone[::-1] if len(self.systems) == 2 else []  # what the other one lacks
        alone = {"file": head.file.name, "sha256": head.file.sha256} if len(files) == 1 else {}
        return {
            "loader": loader,
            **alone,
            "files": [{"file": k[0], "sha256": k[1], "systems": own} for k, own in files.items()],
            "gold": head.gold and {"file": head.gold.name, "sha256": head.gold.sha256},
            "score": self.score,
            "clusters": grouping,
            "runs": runs,
            "items": len(runs_of) * (len(runs_of) < len(self.keys)),
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
            "cautions": cautions,
            **self.facts,
        }


# ---- items ---------------------------------------------------------------------------------------


def _of_items(one: SystemScores, score: str, column: Sequence[Any]) -> SystemScores:
    """A system whose rows are runs of items as one whose rows are items, each with all numbers."""
    first = dict[str, int]()
    runs = dict[str, tuple[Any, ...]]()
    for i, (item, number) in enumerate(zip(one.items or one.ids or (), column, strict=True)):
        first.setdefault(item, i)
        runs[item] = (*runs.get(item, ()), *(() if number is None else (number,)))
    rows, notes = [*first.values()], one.notes
    if gone := sum(number is None for number in column):
        what = "runs are" if gone > 1 else "run is"
        notes += (f"{gone} {what} left out, as {one.system!r} has no score there",)

    def of_first(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        return {name: [cells[i] for i in rows] for name, cells in columns.items()}

    return replace(
        one,
        scores={score: [own or None for own in runs.values()]},
        paired_by=one.items_by or one.paired_by,
        ids=[*first],
        items=None,
        clusters=of_first(one.clusters),
        agree=of_first(one.agree),
        beside=of_first(one.beside),
        texts=None,
        notes=notes,
        at=lambda k: one.place(rows[k]),
    )


def _labels(one: SystemScores, column: Sequence[Any], keys: Sequence[str]) -> tuple[str, ...]:
    """What the runs of items with a number are called, such as " (seed 1)"; "" without a name."""
    items, found = one.items or one.ids or (), {key: list[str]() for key in keys}
    for run, item, number in zip(one.ids or items, items, column, strict=True):
        if number is not None and item in found:
            found[item].append(run.removeprefix(item))
    return tuple(chain(*found.values()))


def _check_alike(head: SystemScores, one: SystemScores, missing: str | None) -> None:
    """Refuse two systems whose items cannot be put together by what is known of them."""
    if one.ids is None or head.ids is None:
        if one.ids is not head.ids:
            one, known = (head, one) if head.ids is None else (one, head)
            problem = f"has no ids, but {known.file.path} has; give both or neither"
            raise ReadError.at(one.file.path, problem, settle="id")
        if len(one) != len(head):
            problem = (
                f"{len(one)} item{'s' * (len(one) > 1)}, but {len(head)} of {head.system!r}, and "
                "no ids to pair by; both systems must have been scored on the same items, in the "
                "same order"
            )
            raise ReadError.at(one.file.path, problem)
        return
    by, where = one.paired_by, head.file.path
    if by != head.paired_by:
        problem = f"its items are identified by {by}, but those of {where} by {head.paired_by}; "
        problem += "give both one name if these are the same ids"
        raise ReadError.at(one.file.path, problem, settle="id")
    (start, end, text), other = _counted_from(one.ids), _counted_from(head.ids)
    # Else the first item is missing; and an index of a frame may be a part of it.
    shifted = {start, other[0]} == {0, 1} and end != other[1] and text == other[2]
    same = len(one) == len(head)
    if shifted and by != "index" and (same or missing != "drop"):
        order = "pair lines by order, if that is the same (--by-order)"
        rest = order if same else "say that each may lack some (--missing drop)"
        problem = f"its {by} counts from {start}, but in {where} from {other[0]}; number items "
        raise ReadError.at(one.file.path, f"{problem}alike, or {rest}")


def _counted_from(ids: Sequence[str]) -> tuple[int | None, int, str]:
    """The number from which ids count, 0 or 1, the one behind the last, and the text before it."""
    text = ids[0].rstrip("0123456789") if len(ids) > 1 else ""
    found = {x[len(text) :] for x in ids if x.startswith(text)}
    size, numbers = len({*ids}), {int(x) for x in found if x.isdecimal() and len(x) < 20}
    known = size > 1 and len(numbers) == len(found) == size and max(numbers) - min(numbers) < size
    start = min(numbers) if known else None
    return (start, start + size, text) if start in (0, 1) else (None, size, text)


def _check_zeros(some: Systems, where: Sequence[Mapping[str, int]]) -> None:
    """Refuse ids without a partner that are the same but for zeros in front of a number."""
    seen: dict[str, tuple[str, SystemScores]] = {}
    for one, own in zip(some, where, strict=True):
        for x in (x for x in own if not all(x in others for others in where)):
            other, first = seen.setdefault(ZEROS.sub("", x), (x, one))
            if x != other and x not in where[some.index(first)]:
                beside = f" of {first.file.path}" * (first.file.path != one.file.path)
                problem = f"{shown(x)} may be the same item as {shown(other)}{beside}; write the "
                problem += "ids alike, or, if the items differ, say that each may lack some "
                raise ReadError.at(one.file.path, f"{problem}(--missing drop)", one.place(own[x]))


def _nothing_in_common(some: Systems, where: Sequence[Any]) -> ReadError:
    def rough(names: Sequence[str]) -> set[str]:  # without folders, case and leading zeros
        last = (x.replace("\\", "/").rpartition("/")[2] for x in names)
        return {x.casefold().strip().lstrip("0") for x in last}

    head, fewest = some[0], min(some, key=len)
    for one, own in zip(some[1:], where[1:], strict=True):
        if where[0].keys().isdisjoint(own):
            mine, theirs = (shown(next(iter(x))) for x in (where[0], own))
            said = "both systems must have been scored on the same items"
            if number := len(rough(where[0]) & rough(own)):
                said = f"except for case, folders or zeros, {number} of {len(own)} ids agree; "
                said += "write them alike"
            problem = f"no {head.paired_by} in common with {head.file.path} (first: {theirs} and "
            return ReadError.at(one.file.path, f"{problem}{mine}); {said}", settle="id")
    problem = f"no item has a score of all {len(some)} systems; leave some out, such as "
    problem += f"{fewest.system!r}, or compare two (permtest compare --a {head.system!r} --b "
    return ReadError.at(fewest.file.path, f"{problem}{some[1].system!r})")


# ---- numbers -------------------------------------------------------------------------------------


def _is_missing(cell: Any) -> bool:
    parts = cell if isinstance(cell, tuple) else (cell,)
    return any(x is None or kind_of(x) == "missing" for x in parts)


def _exact(cell: Any) -> Any:
    """The number in a cell, or those in a tuple; None where it is missing."""
    if isinstance(cell, tuple):
        parts = tuple(map(_exact, cell))
        return None if None in parts else parts
    return None if _is_missing(cell) else as_score(cell)


def _means(
    columns: Sequence[Any], sizes: Any, names: Sequence[str]
) -> tuple[Scores, list[Runs], int]:
    """The mean of each item's runs, if `sizes` says how many there are; the runs; their scale."""
    units, common = in_common_units([*map(as_printed, columns)], names), lcm(*chain(*sizes))
    if not sizes:
        return units, [], units.scale
    runs = [Runs(x, np.array(n, dtype=np.intp)) for x, n in zip(units.columns, sizes, strict=True)]
    means = [
        as_integers([x * (common // n) for x, n in zip(one.totals.tolist(), own, strict=True)], "")
        for one, own in zip(runs, sizes, strict=True)
    ]
    off = None
    if units.rounding is not None:
        off = [one.sums(x) / one.sizes for one, x in zip(runs, units.rounding, strict=True)]
    return Scores(means, units.scale * common, off, units.reading), runs, units.scale


def _counts(some: Systems, name: str, entry: Statistic) -> tuple[str, ...]:
    """What a score counts, which must suit the statistic; empty where it is one number."""
    counts, problem = some[0].counts.get(name, ()), ""
    fits = not entry.average and counts in [measure.columns for measure in entry.measures]
    if entry.columns and not fits:
        problem = f"{entry.name!r} needs {entry.layouts()}; choose another (--metric), or a score"
    elif counts and not entry.columns:
        best = " or ".join(count_statistics([counts])[:3])
        problem = f"{entry.name!r} takes one number; choose {best} as statistic (--metric)"
    if problem:
        kind = f"counts ({', '.join(counts)}) of each item" if counts else "one number per item"
        raise ReadError.at(some[0].file.path, f"{shown(name)} has {kind}, but {problem}")
    return counts


def _tables(chosen: _Chosen, cells: Sequence[Sequence[Any]], entry: Statistic) -> list[Any]:
    """Arrays of counts, none of which is broken, below 0 or impossible."""

    def problem(count: Any) -> str | None:
        if count != int(count):
            return f"{count} is not a whole number; write how many there are"
        return f"{count} is below 0; write how many there are" if count < 0 else None

    chosen.refuse(problem, cells)
    arrays = []
    for column in cells:
        table = np.array([[int(count) for count in counts] for counts in column], dtype=object)
        fits = max(map(int, table.ravel()), default=0) < 2**63
        arrays.append(table.astype(np.int64) if fits else table)
    measure = next(m for m in entry.measures if m.columns == chosen.columns)
    addends = [measure.addends(table) for table in arrays]
    for j, one in enumerate(chosen.systems):
        if bad := measure.problem(addends[j], addends[j - 1]):
            raise one.error(chosen.rows[j][int(bad[0])], f"{one.system!r} has {bad[1]}")
    return arrays


# ---- names and sentences -------------------------------------------------------------------------


def _likely(names: Sequence[str], *, table: bool) -> list[str]:
    """The scores that are no part of another; of a table, those that are of no item or cost."""
    whole = [name for name in names if name.rpartition(".")[0] not in names]
    if table:
        likely = [name for name in whole if not words(name) <= SAYS["no system"] | SAYS["output"]]
        whole = likely or [name for name in whole if words(name).isdisjoint(SAYS["sureness"])]
    return whole


def find_score(wanted: str, names: Sequence[str]) -> str | None:
    """The score of that name, or the only one that begins so, a comma following, or ends so."""
    if wanted in names:
        return wanted
    begun = [name for name in names if name.partition(",")[0] == wanted]
    ended = [name for name in names if wanted and re.search(rf"[./]{re.escape(wanted)}$", name)]
    return next((some[0] for some in (begun, ended) if len(some) == 1), None)


def _lacking(lacking: Mapping[str, int], left_out: int) -> str:
    """Which systems have no score for how many of the items that are left out."""
    if not lacking:
        return ""
    if left_out == 1:
        verb = "has" if len(lacking) == 1 else "have"
        return f": {listed([*lacking], NAMED)} {verb} no score for it"
    (first, number), *others = lacking.items()
    which = [f"{first} has no score for {number}", *(f"{name} for {n}" for name, n in others)]
    return f": {listed(which, NAMED)}"


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

    def some(names: Sequence[str], number: int) -> str:
        return ", ".join([*map(shown, names), *["..."] * (number > len(names))])

    matched, left_out = source["matched"], source["left_out"]
    named = [name for one in source["files"] for name in one["systems"]]
    runs = source.get("items", 0)  # how many items, where rows are runs of them
    entries = "runs" if runs else "items"
    text = f"{title}: " + f"{counted(runs, 'items')}, " * bool(runs) + counted(matched, entries)
    text += f" of {len(named)} systems" * (len(named) != 2) + "," * bool(runs or len(named) != 2)
    text += f" paired by {source['paired_by']}"
    sides = zip(source["unmatched"], source["unmatched_ids"], named, strict=False)
    for number, ids, side in sides:
        text += f"; {number} only in {side} ({some(ids, number)})" if number else ""
    if source["unmatched"] and (dropped := source["dropped"]):
        text += f"; {dropped} without a score ({some(source['dropped_ids'], dropped)})"
    elif left_out and not source["unmatched"]:
        text += (
            f"; {counted(left_out, entries)} left out ({some(source['left_out_ids'], left_out)})"
        )
        text += _lacking(source["lacking"], left_out)
    if left_out > matched:
        text += "; most items are left out, so this is only a part of the data"
    clusters = source.get("n_clusters")
    number = f" ({counted(clusters, 'clusters')})" if clusters and not runs else ""
    if source.get("clusters") is not None:
        text += f"; {entries} of one {shown(str(source['clusters']))} are swapped together{number}"
    columns = ", ".join(source.get("no_systems", ()))
    files, more = {one["file"] for one in source["files"]}, []
    notes = [f"columns not treated as systems: {columns}"] * bool(columns) + source["notes"]
    for note in notes:
        head = note.partition(" ")[0]  # the name of a file, a system or a task stays as it is
        kept = head.endswith(":") or PurePath(head).name in files
        kept |= note.startswith(tuple(f"{name} " for name in (*named, *files)))
        more.append(note if kept else f"{note[:1].upper()}{note[1:]}")
    return printable(" ".join(f"{part.rstrip('.')}." for part in (text, *more)))
