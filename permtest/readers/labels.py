"""Predicted labels beside what is right: which columns they are, and how they are scored.

A missing prediction is wrong; for "f1" and its like it finds nothing. ``true`` and ``false`` are 1
and 0 where the right labels are, and labels that differ in case or blanks alone are the same, which
is said. A system none of whose labels ever occurs is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from permtest._integers import IntArray
from permtest.readers.files import ReadError, check_memory, kind_of, printable, shown, text_of
from permtest.readers.shape import GOLD_NAMES, NO_SYSTEM, Sheet
from permtest.readers.systems import SystemScores
from permtest.score import tokens
from permtest.statistics import STATISTICS, CountStatistic

#: How labels are written that mean the same, where all right ones are of one kind.
ALIKE = (
    ({"0", "1", ""}, {"false": "0", "true": "1"}),
    ({"false", "true", ""}, {"0": "false", "1": "true"}),
)

#: The score of a prediction, and the label of two that is to be found, in small letters.
PREDICTION, POSITIVE = "prediction", ("1", "true", "yes")

#: What the counts of a class, and of two classes, are.
BY_CLASS, CONFUSION = ("tp", "fp", "fn"), ("tp", "fp", "fn", "tn")


# ---- which columns -------------------------------------------------------------------------------


def gold_of(sheet: Sheet, *, alone: bool) -> int | None:
    """The column of what is right, if a table is one of predictions and nothing else.

    None unless one column is called so, others hold labels too (as text, or under a name with
    "pred" in it), and no scores could be compared instead.
    """
    found = [i for i in range(sheet.width) if sheet.name(i).lower() in GOLD_NAMES]
    if len(found) != 1:
        return None
    below = not alone or sheet.is_long()
    said = (_answers if below else _all_answers)(sheet, range(len(sheet)), found[0])
    answers = [i for i in said if i not in sheet.numeric or _says_predicted(sheet, i)]
    scores = [
        i
        for i in sheet.numeric
        if i not in (*answers, *found, *sheet.apart) and NO_SYSTEM.isdisjoint(tokens(sheet.name(i)))
    ]
    return found[0] if len(answers) > (not below) and len(scores) < 2 - below else None


def predictions(sheets: Sequence[Sheet], gold: Any) -> tuple[list[SystemScores], list[str]]:
    """The predictions of each system, and the names of the systems that are usually meant."""
    alone, found, usual = len(sheets) == 1, [], []
    for sheet in sheets:
        right = gold_of(sheet, alone=alone) if gold is None else _named(sheet, gold)
        assert right is not None
        if alone and not sheet.is_long():
            rows = range(len(sheet))
            answers = _all_answers(sheet, rows, right)
            rest = [i for i in candidates(sheet, right) if i not in sheet.numeric]
            columns: dict[str, tuple[Sequence[int], int]] = {
                sheet.name(i): (rows, i) for i in sorted({*answers, *rest})
            }
            usual += [sheet.name(i) for i in answers or rest]
        else:
            parts = (
                sheet.rows_by_system()
                if sheet.is_long()
                else {sheet.table.file.stem: range(len(sheet))}
            )
            columns = {
                name: (rows, _only_answer(sheet, rows, right)) for name, rows in parts.items()
            }
            usual += list(columns)
        if not columns:
            raise sheet.error(
                f"no column of predictions beside {sheet.key(right)!r}; {sheet.columns()}"
            )
        cells = sheet.table.columns
        for name, (some, i) in columns.items():
            labels = [label_of(cells[right][row]) for row in some]
            if "" in labels:
                problem = "the right label is missing; write it, or remove the line"
                raise sheet.error(problem, some[labels.index("")], right)
            known = sheet.common(some, {right, i})
            if alone and not sheet.is_long() and known["ids"] is None:
                known["paired_by"] = "row"
            found.append(
                SystemScores(
                    name,
                    sheet.table.file,
                    {PREDICTION: [label_of(cells[i][row]) for row in some]},
                    agree={"gold": labels},
                    columns={PREDICTION: [sheet.label(i)]},
                    **known,
                )
            )
    return found, usual


def _named(sheet: Sheet, gold: Any) -> int:
    try:
        return sheet.find(gold)
    except ReadError as error:
        problem = f"{error}; of a table, gold (--gold) is the column that says what is right"
        raise ReadError(problem) from None


def _only_answer(sheet: Sheet, rows: Sequence[int], gold: int) -> int:
    columns = _answers(sheet, rows, gold)
    if len(columns) != 1:
        names = ", ".join(map(sheet.label, columns)) or "none"
        raise sheet.error(
            f"one column must hold what the system predicted, but there are {len(columns)} with "
            f"labels of {sheet.label(gold)} ({names}); keep one, or call it 'prediction'"
        )
    return columns[0]


def _answers(sheet: Sheet, rows: Sequence[int], gold: int) -> list[int]:
    """The columns of predictions: called so, or else with labels that occur in gold."""
    columns = candidates(sheet, gold)
    if called := [i for i in columns if _says_predicted(sheet, i)]:
        return called
    cells = sheet.table.columns
    right = {label_of(cells[gold][row]).casefold() for row in rows} - {""}
    alike = words_of(right)

    def fits(i: int) -> bool:
        said = [label_of(cells[i][row]).casefold() for row in rows]
        shared = sum(alike.get(label, label) in right for label in said)
        return 2 * shared >= len(rows) if i in sheet.numeric else shared > 0

    return [i for i in columns if fits(i)]


def _all_answers(sheet: Sheet, rows: Sequence[int], gold: int) -> list[int]:
    """The columns of predictions of several systems: of two texts one may never be right."""
    found = _answers(sheet, rows, gold)
    texts = [i for i in candidates(sheet, gold) if i not in sheet.numeric]
    return texts if len(found) == 1 and len(texts) == 2 and found[0] in texts else found


def candidates(sheet: Sheet, gold: int) -> list[int]:
    """The columns that are not known to hold anything else."""
    return [i for i in range(sheet.width) if i not in sheet.apart and i != gold]


def _says_predicted(sheet: Sheet, i: int) -> bool:
    return "pred" in sheet.name(i).lower()


def looks_right(sheet: Sheet, systems: Sequence[SystemScores]) -> int | None:
    """The column of what may be right, if all systems have labels that occur in it."""
    gold = sheet.called(GOLD_NAMES)
    if gold is None:
        return None
    answers = {sheet.name(i) for i in _answers(sheet, range(len(sheet)), gold)}
    return gold if {one.system for one in systems} <= answers else None


# ---- labels --------------------------------------------------------------------------------------


def words_of(right: Collection[str]) -> Mapping[str, str]:
    """How predictions are rewritten: true as 1 if right labels are 1 and 0, or the reverse."""
    return next((words for labels, words in ALIKE if labels.issuperset(right)), {})


def label_of(cell: Any) -> str:
    """A label as it is compared: 1.0 is 1, True is true, and "" is none.

    Examples
    --------
    >>> [label_of(cell) for cell in ("1.0", True, "nan", "Paris", "01")]
    ['1', 'true', '', 'Paris', '01']
    """
    text = text_of(cell)
    if text.lower() in ("nan", "true", "false"):
        return text.lower().removeprefix("nan")
    if "." in text and kind_of(text) == "integer":
        return text.partition(".")[0]
    return printable(text)


def _matched(
    right: Sequence[str], answers: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]], list[str]]:
    """Labels that mean the same written alike, and what is to be said of that."""
    labels = set(right)
    shape: dict[str, set[str]] = {}
    for label in labels:
        shape.setdefault(label.casefold().strip(), set()).add(label)
    alike = words_of({label.casefold() for label in labels})
    merged: dict[str, str] = {}

    def one(label: str) -> str:
        if label in labels:
            return label
        rough = label.casefold().strip()
        found = shape.get(rough) or shape.get(alike.get(rough, rough)) or {label}
        if len(found) > 1 or found == {label}:
            return label
        (known,) = found
        if alike.get(label) != known:
            merged[label] = known
        return known

    written = [[one(label) for label in column] for column in answers]
    some = ", ".join(f"{shown(a)} is {shown(b)}" for a, b in list(merged.items())[:3])
    note = f"labels are compared without regard to case and blanks around them: {some}"
    return list(right), written, [note] if merged else []


def is_missing(label: str | None, known: Collection[str]) -> bool:
    """Whether a prediction says nothing: blank, or such as "N/A" where that is no label."""
    return label is None or (label not in known and kind_of(label) == "missing")


Fail = Callable[[str], ValueError]


def judged(
    names: Sequence[str],
    right: Sequence[str],
    answers: Sequence[Sequence[str]],
    entry: Any,
    positive: str | None,
    fail: Fail,
) -> tuple[list[IntArray], tuple[str, ...], dict[str, Any]]:
    """The scores of several systems' predictions.

    Parameters
    ----------
    names : sequence of S str
        The systems, for messages.
    right, answers : sequences of labels
        What is right, and what each system says; "" where it says nothing.
    entry : Statistic or CountStatistic
    positive : str or None
        The label that is to be found, of those that "f1" and its like are of.
    fail : callable
        Makes the error of a problem.

    Returns
    -------
    scores : list of S ndarray
        1 or 0 for each item; or counts, of shape (N, 4), or (N, classes, 3).
    columns : tuple of str
        What is counted.
    facts : dict
        ``notes``, and ``classes`` where there are some.
    """
    right, written, notes = _matched(right, answers)
    known = set(right)
    written = [["" if is_missing(label, known) else label for label in c] for c in written]
    given = [set(column) - {""} for column in written]
    _check_shared(names, given, known, fail)
    counted = isinstance(entry, CountStatistic) and not entry.average
    wrong = "finding nothing (fn where gold is positive, else tn)" if counted else "wrong"
    for name, column in zip(names, written, strict=True):
        if holes := column.count(""):
            notes.append(f"{holes} predictions of {name!r} are missing, and count as {wrong}")
    every = sorted(known.union(*given))
    number = {"": 0} | {label: i for i, label in enumerate(every, 1)}
    gold = np.array([number[label] for label in right])
    said = [np.array([number[label] for label in column]) for column in written]
    if not isinstance(entry, CountStatistic):
        if entry.name not in ("accuracy", "sum", "mean", "exact_match"):
            raise fail(
                f"{entry.name!r} cannot be computed from labels, which are only right or wrong"
            )
        return [np.asarray(gold == one, dtype=np.int64) for one in said], (), {"notes": notes}
    layouts = [measure.columns for measure in entry.measures]
    if entry.average and BY_CLASS in layouts:
        check_memory(f"counts of {len(every)} labels", 6 * 3 * 8 * len(every) * len(gold))
        used = np.arange(1, len(every) + 1)
        facts = {"notes": notes, "classes": every}
        return [_by_class(used, gold, one) for one in said], BY_CLASS, facts
    if CONFUSION not in layouts:
        problem = f"labels are right or wrong, but {entry.name!r} needs {entry.layouts()}"
        raise fail(f"{problem}; choose accuracy or macro_f1 (--metric)")
    target = positive_of(every, positive)
    if target is None:
        which = f", and {positive!r} is not one" if positive is not None else ""
        raise fail(
            f"{entry.name!r} needs one positive label, but there are {len(every)} ({_some(every)})"
            f"{which}; name it (--pos-label), or choose macro_f1 (--metric macro_f1)"
        )
    return [_confusion(number[target], gold, one) for one in said], CONFUSION, {"notes": notes}


def _check_shared(
    names: Sequence[str], given: Sequence[set[str]], known: set[str], fail: Fail
) -> None:
    """Refuse a system whose labels no other says, and gold has none of."""
    seen = known.union(*(labels for labels in given if labels & known))
    for name, labels in zip(names, given, strict=True):
        if labels and not labels & seen:
            raise fail(
                f"{name!r} predicts {_some(labels)}, but gold has {_some(known)}: no label in "
                "common; write the same labels in both, or choose another column"
            )


def positive_of(labels: Collection[str], wanted: str | None) -> str | None:
    """The label that is to be found: the one that is named, or 1, true or yes of two."""
    if wanted is not None:
        return next((label for label in labels if label == label_of(wanted)), None)
    found = [label for label in labels if label.lower() in POSITIVE]
    return found[0] if len(found) == 1 and len(labels) <= 2 else None


def fitting(labels: Collection[str], positive: str | None) -> tuple[str, ...]:
    """What can be tested of predictions, the most fitting first."""
    names = ["accuracy"]
    if positive_of(labels, positive) is not None:
        names += [name for name in STATISTICS if _layout(name) == CONFUSION]
    classes = [name for name in STATISTICS if _layout(name) == BY_CLASS]
    return (*names, *sorted(classes, key=lambda name: name not in ("macro_f1", "micro_f1")))


def _layout(name: str) -> tuple[str, ...] | None:
    """The counts of labels that a statistic takes."""
    entry = STATISTICS[name]
    if not isinstance(entry, CountStatistic) or entry.name != name:
        return None
    wanted = BY_CLASS if entry.average else CONFUSION
    return wanted if any(measure.columns == wanted for measure in entry.measures) else None


def _some(labels: Collection[str]) -> str:
    said = ", ".join(shown(label) for label in sorted(labels)[:10])
    return f"{said}, ..." if len(labels) > 10 else said


def _by_class(used: IntArray, right: IntArray, answers: IntArray) -> IntArray:
    """tp, fp, fn of each label, of shape (N, labels, 3)."""
    own, other = right[:, np.newaxis] == used, answers[:, np.newaxis] == used
    hits = own & (answers == right)[:, np.newaxis]
    return np.stack([hits, other & ~hits, own & ~hits], axis=-1).astype(np.int64)


def _confusion(positive: int, right: IntArray, answers: IntArray) -> IntArray:
    """tp, fp, fn, tn, of shape (N, 4); no answer finds nothing."""
    own, found = right == positive, answers == positive
    return np.stack([own & found, ~own & found, own & ~found, ~own & ~found], axis=-1).astype(
        np.int64
    )
