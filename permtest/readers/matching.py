"""Items of two systems that belong together, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from permtest.pairs import Pairs
from permtest.readers.cells import as_printed, printable, shown
from permtest.readers.counts import count_table, impossible
from permtest.readers.files import ReadError
from permtest.readers.names import count_statistics, told_apart
from permtest.readers.scores import ORDER, SystemScores
from permtest.statistics import CountStatistic, Statistic

#: Ids that are named in messages and in the provenance, at most.
NAMED = 5


@dataclass(frozen=True)
class Match:
    """Two systems and which of their items belong together."""

    a: SystemScores
    b: SystemScores
    score: str
    rows: tuple[list[int], list[int]]
    unscored: tuple[str, ...]

    @classmethod
    def of(cls, a: SystemScores, b: SystemScores, score: str) -> Match:
        """Match by id, or by order; ReadError if nothing matches, or the items differ."""
        first, second = _matched(a, b)
        u, v = a.scores[score][:], b.scores[score][:]  # at once: a lazy column is slow one by one
        holes = {i for i, j in zip(first, second, strict=True) if u[i] is None or v[j] is None}
        unscored = [a.place(i) if a.ids is None else a.ids[i] for i in first if i in holes]
        if holes:
            rows = [(i, j) for i, j in zip(first, second, strict=True) if i not in holes]
            first, second = [i for i, _ in rows], [j for _, j in rows]
        if not first:
            problem = f"no item has the score {shown(score)} of both systems; score both alike"
            raise ReadError.at(b.file.path, problem)
        match = cls(a, b, score, (first, second), tuple(unscored))
        match._check_agreement()
        return match

    def _check_agreement(self) -> None:
        for name in self.a.agree.keys() & self.b.agree.keys():
            mine, theirs = self.a.agree[name], self.b.agree[name]
            for i, j in zip(*self.rows, strict=True):
                if mine[i] != theirs[j]:
                    raise ReadError.at(
                        self.b.file.path,
                        f"{self.b.place(j)} has another {name} ({shown(theirs[j])}) than in "
                        f"{self.a.file.path} ({shown(mine[i])}); both systems must have been "
                        "scored on the same items",
                    )

    def pairs(self, entry: Statistic | CountStatistic, grouping: str | None) -> Pairs:
        """The scores of both systems."""
        columns = (one.scores[self.score][:] for one in (self.a, self.b))
        u, v = ([x[i] for i in rows] for x, rows in zip(columns, self.rows, strict=True))
        first, second = told_apart((self.a.system, self.b.system), "AB")
        names = (first, second)
        counts = self.a.counts.get(self.score, ())
        self._check_statistic(entry, counts)
        if counts:
            pairs = Pairs(count_table(u), count_table(v), names, columns=counts)
            self._check_counts(entry, pairs)
        else:
            self._check_scores(entry, u, v)
            pairs = Pairs.of(as_printed(u), as_printed(v), names, labels=names)
        ids, labels = self.a.ids, None
        if grouping is not None:
            labels = self._labels(grouping)
        return replace(
            pairs,
            ids=None if ids is None else tuple(ids[i] for i in self.rows[0]),
            clusters=labels,
        )

    def _check_statistic(self, entry: Statistic | CountStatistic, counts: tuple[str, ...]) -> None:
        if isinstance(entry, CountStatistic):
            if counts not in (measure.columns for measure in entry.measures) or entry.average:
                kind = f"counts {', '.join(counts)}" if counts else "one number an item"
                raise ReadError.at(
                    self.a.file.path,
                    f"{shown(self.score)} is {kind}, but {entry.name!r} needs {entry.layouts()}; "
                    "choose another statistic (--metric) or score",
                )
        elif counts:
            raise ReadError.at(
                self.a.file.path,
                f"{shown(self.score)} has counts ({', '.join(counts)}) of each item, but "
                f"{entry.name!r} takes one number; choose "
                f"{' or '.join(count_statistics([counts])[:3])} as statistic (--metric)",
            )

    def _check_scores(self, entry: Statistic | CountStatistic, u: list[Any], v: list[Any]) -> None:
        assert isinstance(entry, Statistic)
        if entry.minimum is None:
            return
        for one, rows, scores in ((self.a, self.rows[0], u), (self.b, self.rows[1], v)):
            for i, score in zip(rows, scores, strict=True):
                if problem := entry.problem(score):
                    raise ReadError.at(one.file.path, f"{one.place(i)}: {problem}")

    def _check_counts(self, entry: Statistic | CountStatistic, pairs: Pairs) -> None:
        assert isinstance(entry, CountStatistic)
        measure = next(m for m in entry.measures if m.columns == pairs.columns)
        for side, i, problem in impossible(measure, pairs):
            one, row = (self.a, self.b)[side], self.rows[side][i]
            raise ReadError.at(one.file.path, f"{one.place(row)} has {problem}")

    def _labels(self, grouping: str) -> tuple[str, ...]:
        mine, theirs = self.a.clusters[grouping], self.b.clusters[grouping]
        for i, j in zip(*self.rows, strict=True):
            if mine[i] != theirs[j]:
                raise ReadError.at(
                    self.b.file.path,
                    f"{self.b.place(j)} belongs to {grouping} {shown(theirs[j])}, but in "
                    f"{self.a.file.path} to {shown(mine[i])}; make them agree",
                )
        return tuple(mine[i] for i in self.rows[0])

    def source(self, grouping: str | None) -> dict[str, Any]:
        """Where the pairs come from, and what was left out."""
        unmatched = [_besides(self.a, self.b), _besides(self.b, self.a)]
        files = [
            {"file": one.file.name, "sha256": one.file.sha256, "system": one.system}
            for one in (self.a, self.b)
        ]
        gold = self.a.gold
        return {
            "files": files,
            "gold": None if gold is None else {"file": gold.name, "sha256": gold.sha256},
            "score": self.score,
            "clusters": grouping,
            "paired_by": self.a.paired_by if self.a.ids is not None else ORDER,
            "matched": len(self.rows[0]),
            "unmatched": [len(names) for names in unmatched],
            "unmatched_ids": [names[:NAMED] for names in unmatched],
            "dropped": len(self.unscored),
            "dropped_ids": list(self.unscored[:NAMED]),
            "notes": list(dict.fromkeys((*self._twins(), *self.a.notes, *self.b.notes))),
        }

    def _twins(self) -> list[str]:
        """What one should know of a file that was given twice."""
        first, second = self.a.file, self.b.file
        if first is second or first.sha256 != second.sha256:
            return []
        return [f"{second.path} has the content of {first.path}: a file is compared with itself"]


def _matched(a: SystemScores, b: SystemScores) -> tuple[list[int], list[int]]:
    """The positions of the items that both systems have, in the order of the first."""
    if (a.ids is None) != (b.ids is None):
        one, other = (a, b) if a.ids is None else (b, a)
        raise ReadError.at(
            one.file.path, f"has no ids, but {other.file.path} has; give both or neither"
        )
    if a.ids is None:
        if len(a) != len(b):
            raise ReadError.at(
                b.file.path,
                f"{len(b)} items, but {len(a)} of {a.system!r}, and no ids to pair them by; both "
                "systems must have been scored on the same items, in the same order",
            )
        return list(range(len(a))), list(range(len(b)))
    if a.paired_by != b.paired_by:
        raise ReadError.at(
            b.file.path,
            f"its items are known by {b.paired_by}, but those of {a.file.path} by {a.paired_by}; "
            "evaluate both systems with the same version of the tool",
        )
    if a.ids == b.ids:
        return list(range(len(a))), list(range(len(b)))
    there = [b.positions.get(name) for name in a.ids]
    first = [i for i, j in enumerate(there) if j is not None]
    if not first:
        mine, theirs = shown(a.ids[0]), shown((b.ids or ("",))[0])
        raise ReadError.at(
            b.file.path,
            f"no {a.paired_by} in common with {a.file.path} (first: {theirs} and {mine}); both "
            "systems must have been scored on the same items",
        )
    return first, [j for j in there if j is not None]


def _besides(a: SystemScores, b: SystemScores) -> list[str]:
    """The ids that only the first system has."""
    if a.ids is None or a.ids == b.ids:
        return []
    return [name for name in a.ids if name not in b.positions]


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
    items = f"{source['matched']} item{'s' * (source['matched'] != 1)}"
    text = f"{title}: {items} paired by {source['paired_by']}"
    for (number, names), side in zip(
        zip(source["unmatched"], source["unmatched_ids"], strict=True), "AB", strict=True
    ):
        if number:
            text += f"; {number} only in {side} ({some(names, number)})"
    if source["matched"] < max(source["unmatched"]):
        text += "; most items of one system have no partner, so that this is a part of the data"
    if source["dropped"]:
        names = some(source["dropped_ids"], source["dropped"])
        text += f"; {source['dropped']} without a score ({names})"
    if source.get("clusters") is not None:
        text += f"; items of one {shown(str(source['clusters']))} are swapped together"
    return sentences(text, source["notes"])


def sentences(text: str, notes: Iterable[str]) -> str:
    """What was read, and what one should know of it."""
    more = [f"{note[:1].upper()}{note[1:]}" for note in notes]
    return printable(" ".join(f"{part.rstrip('.')}." for part in (text, *more)))


def some(names: Sequence[str], number: int) -> str:
    """The first of so many names, in quotes."""
    dots = ", ..." if number > len(names) else ""
    return ", ".join(shown(name) for name in names) + dots
