"""Predicted labels beside what is right: answers that are scored here.

A missing prediction is wrong; for "f1" and its like it finds nothing: a false negative where there
was something to be found, a true negative where there was not. ``true`` and ``false`` are 1 and 0
where the right labels are. A system none of whose labels ever occurs is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from permtest._integers import IntArray
from permtest.pairs import Pairs
from permtest.readers.answers import Part, candidates, label_of, parts_of, words_of
from permtest.readers.cells import brief, kind_of, shown
from permtest.readers.columns import swapped_column
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import MEMORY, ReadError
from permtest.readers.one_system import groups, identity, side_by_side
from permtest.readers.scores import ORDER, Format, SystemScores
from permtest.readers.table import Table
from permtest.statistics import STATISTICS, CountStatistic, Statistic, lookup

FORMAT = Format(
    name="predictions",
    title="predictions beside what is right",
    rows="the right label and those that systems predicted: y_true, y_pred_a, y_pred_b",
    pairs_on="row; id where each system has a file of its own",
    example="permtest compare predictions.csv --gold y_true --metric macro_f1",
    gold="optional",
)

#: What the score of a prediction, and the right labels, are called inside.
ANSWER, GOLD = "prediction", "gold"

#: The label of two that precision and recall are of, in small letters.
POSITIVE = ("1", "true", "yes")

#: What the counts of a class, and of two classes, are.
BY_CLASS, CONFUSION = ("tp", "fp", "fn"), ("tp", "fp", "fn", "tn")


def predictions(tables: Sequence[Table], gold: str | None) -> Predictions:
    """What systems predicted, according to one or several tables.

    Parameters
    ----------
    tables : sequence of Table
        One with columns for several systems, or with lines for several; or one for each system.
    gold : str or None
        The column of what is right; None if it is recognised.

    Returns
    -------
    Predictions
    """
    parts = [part for table in tables for part in parts_of(table, gold, alone=len(tables) == 1)]
    used = set()
    for _, rows, right, *answers in parts:
        known = {label_of(row.cells[right]) for row in rows}
        words = words_of(known)
        said = [i for columns in answers for i in columns.values()]
        used |= known | {label_of(row.cells[i], words) for row in rows for i in said}
    labels = tuple(sorted(used - {""}))
    found, others = [], []
    for part in parts:
        found += _systems(part, part.columns, labels)
        others += _systems(part, part.others, labels)
    if not (found or others):
        (gold_column,) = tables[0].keys([parts[0].gold])
        problem = f"no column of predictions beside {gold_column!r}; {tables[0].columns()}"
        raise tables[0].error(problem)
    return Predictions(FORMAT, side_by_side(found or others), labels, tuple(others))


def _systems(part: Part, columns: dict[str, int], labels: Sequence[str]) -> list[SystemScores]:
    """One system for each column; a score is the number of the right label and of the other."""
    if not columns:
        return []
    table, rows, gold = part.table, part.rows, part.gold
    for column in (gold, *columns.values()):
        table.check_once(column)
    number = {"": 0} | {label: i for i, label in enumerate(labels, 1)}
    right = [label_of(row.cells[gold]) for row in rows]
    for row, label in zip(rows, right, strict=True):
        if not label:
            raise table.error("the right label is missing; write it, or remove the line", row, gold)
    known, words = set(right), words_of(right)
    scored = [*part.columns.values(), *table.numeric]
    free = [i for i in candidates(table, gold) if i not in scored]
    taken = table.besides([*free, swapped_column(table)])
    common = identity(table, rows) | groups(table, rows, taken)

    def score(label: str, cell: str) -> int:
        answer = label_of(cell, words)
        missing = answer not in known and kind_of(cell) == "missing"
        return number[label] * len(number) + (0 if missing else number[answer])

    return [
        SystemScores(
            name,
            table.file,
            {ANSWER: [score(x, row.cells[i]) for x, row in zip(right, rows, strict=True)]},
            agree={GOLD: right},
            **common,
        )
        for name, i in columns.items()
    ]


@dataclass(frozen=True, eq=False)
class Predictions(ItemEvaluation):
    """Predicted labels, before two systems and a statistic are chosen.

    Parameters
    ----------
    format : Format
    found : tuple of SystemScores
        Their score of an item is ``g * (len(labels) + 1) + p``, where g and p are the numbers,
        from 1, of the right and of the predicted label; p is 0 if there is none.
    labels : tuple of str
    others : tuple of SystemScores
        Columns that are chosen by name only.
    """

    labels: tuple[str, ...]
    others: tuple[SystemScores, ...]

    def score_names(self, a: str, b: str) -> tuple[str, ...]:
        """Nothing: a prediction is right or wrong."""
        del a, b
        return ()

    def statistics(self, a: str, b: str, score: str | None = None) -> tuple[str, ...]:
        """What can be tested of two systems, the most fitting first."""
        del score
        pairs = super().pairs(a, b, clusters=False)
        size = len(self.labels) + 1
        used = {*(pairs.u // size), *(pairs.u % size), *(pairs.v % size)} - {0}
        names = ["accuracy"]
        if self._positive([int(i) for i in used]) is not None:
            names += [name for name in STATISTICS if _layout(name) == CONFUSION]
        names += sorted((name for name in STATISTICS if _layout(name) == BY_CLASS), key=_rank)
        return tuple(names)

    def preview(self, rows: int = 8) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Ids, what is right, and what the systems of the first file predicted."""
        first = self.found[0]
        beside = [one for one in self.found if one.agree[GOLD] is first.agree[GOLD]]
        some = range(min(rows, len(first)))
        names = [str(i + 1) for i in some] if first.ids is None else first.ids
        labels = ("", *self.labels)
        body = [
            (
                names[i],
                first.agree[GOLD][i],
                *(labels[one.scores[ANSWER][i] % len(labels)] for one in beside),
            )
            for i in some
        ]
        head = "item" if first.ids is None else first.paired_by
        heads = (head, GOLD, *(one.system for one in beside))
        return tuple(map(brief, heads)), [tuple(map(brief, cells)) for cells in body]

    def pairs(
        self,
        a: Any = None,
        b: Any = None,
        *,
        score: str | None = None,
        statistic: str | Statistic | CountStatistic = "sum",
        clusters: Any = None,
    ) -> Pairs:
        """Two systems: 1 or 0 for each item, or counts by class; a missing label is wrong."""
        path, entry = self.found[0].file.path, lookup(statistic)
        if score is not None:
            problem = "score is for files of scores; of predictions, choose a statistic (--metric)"
            raise ReadError.at(path, problem)
        pairs = super().pairs(a, b, clusters=clusters)
        right, first = np.divmod(pairs.u, len(self.labels) + 1)
        second = pairs.v % (len(self.labels) + 1)
        self._check_words(pairs.names, right, (first, second))
        found = isinstance(entry, CountStatistic) and not entry.average
        wrong = "finding nothing (fn where gold is positive, else tn)" if found else "wrong"
        notes = [
            f"{np.sum(answers == 0)} predictions of {name!r} are missing, and count as {wrong}"
            for name, answers in zip(pairs.names, (first, second), strict=True)
            if not answers.all()
        ]
        by = "row" if pairs.source["paired_by"] == ORDER and self._is_one() else None
        source = pairs.source | {"notes": [*pairs.source["notes"], *notes]}
        pairs = replace(pairs, source=source | ({"paired_by": by} if by else {}))
        if isinstance(entry, Statistic):
            return replace(pairs, u=_ints(first == right), v=_ints(second == right))
        make, columns, classes = self._counts_of(entry, right, first, second)
        u, v = make(right, first), make(right, second)
        return replace(pairs, u=u, v=v, columns=columns, source=pairs.source | classes)

    def _is_one(self) -> bool:
        return len({id(one.file) for one in self.found}) == 1

    def _system(self, wanted: Any, option: str) -> SystemScores:
        named = [one for one in self.others if one.system == wanted]
        return named[0] if named else super()._system(wanted, option)

    def _check_words(
        self, names: Sequence[str], right: IntArray, answers: Sequence[IntArray]
    ) -> None:
        """ReadError if no label of a system is in gold, nor of a system that has some of gold."""
        gold = set(right.tolist())
        given = [set(labels.tolist()) - {0} for labels in answers]
        known = gold.union(*(labels for labels in given if labels & gold))
        for name, labels in zip(names, given, strict=True):
            if labels and not labels & known:
                raise ReadError.at(
                    self.found[0].file.path,
                    f"{name!r} predicts {self._listed(labels)}, but gold has "
                    f"{self._listed(gold)}: no label in common; write the same labels in both, or "
                    "choose another column",
                )

    def _listed(self, numbers: Collection[int]) -> str:
        said = ", ".join(shown(self.labels[i - 1]) for i in sorted(numbers)[:10])
        return f"{said}, ..." if len(numbers) > 10 else said

    # ---- counts

    def _counts_of(
        self, entry: CountStatistic, *numbers: IntArray
    ) -> tuple[Callable[[IntArray, IntArray], IntArray], tuple[str, ...], dict[str, list[str]]]:
        """How to count what the statistic needs, the names of the counts, and those of classes."""
        used = [int(x) for x in np.unique(np.concatenate(numbers)) if x]
        path, layouts = self.found[0].file.path, [measure.columns for measure in entry.measures]
        if entry.average and BY_CLASS in layouts:
            self._check_room(len(numbers[0]) * len(used), len(used))
            classes = {"classes": [self.labels[i - 1] for i in used]}
            return partial(_by_class, np.array(used)), BY_CLASS, classes
        if CONFUSION not in layouts:
            problem = f"labels are right or wrong, but {entry.name!r} needs {entry.layouts()}"
            raise ReadError.at(path, f"{problem}; choose accuracy or macro_f1 (--metric)")
        positive = self._positive(used)
        if positive is None:
            raise ReadError.at(
                path,
                f"{entry.name!r} is of two labels, one of them 1, true or yes, but there are "
                f"{len(used)} ({self._listed(used)}); call the label 1 that "
                "is to be found, and the other one 0, or choose macro_f1 (--metric macro_f1)",
            )
        return partial(_confusion, positive), CONFUSION, {}

    def _positive(self, used: Sequence[int]) -> int | None:
        """The number of the label that is to be found, where there are two."""
        found = [i for i in used if self.labels[i - 1].lower() in POSITIVE]
        return found[0] if len(found) == 1 and len(used) <= 2 else None

    def _check_room(self, cells: int, classes: int) -> None:
        needed = 6 * 3 * 8 * cells
        if needed > MEMORY:
            raise ReadError.at(
                self.found[0].file.path,
                f"counts of {classes} labels may take {needed / 2**30:.1f} GiB of memory, more "
                f"than {MEMORY / 2**30:.0f} GiB; choose accuracy, or merge labels that are rare",
            )


def _ints(found: Any) -> IntArray:
    return np.asarray(found, dtype=np.int64)


def _by_class(used: IntArray, right: IntArray, answers: IntArray) -> IntArray:
    """tp, fp, fn of each label, of shape (N, labels, 3)."""
    hit = answers == right
    own, other = right[:, np.newaxis] == used, answers[:, np.newaxis] == used
    hits = own & hit[:, np.newaxis]
    return _ints(np.stack([hits, other & ~hits, own & ~hits], axis=-1))


def _confusion(positive: int, right: IntArray, answers: IntArray) -> IntArray:
    """tp, fp, fn, tn, of shape (N, 4); no answer finds nothing."""
    own, found = right == positive, answers == positive
    return _ints(np.stack([own & found, ~own & found, own & ~found, ~own & ~found], axis=-1))


def _rank(name: str) -> bool:
    return name not in ("macro_f1", "micro_f1")


def _layout(name: str) -> tuple[str, ...] | None:
    """The counts of labels that a statistic takes."""
    entry = STATISTICS[name]
    if not isinstance(entry, CountStatistic) or entry.name != name:
        return None
    wanted = BY_CLASS if entry.average else CONFUSION
    return wanted if any(measure.columns == wanted for measure in entry.measures) else None
