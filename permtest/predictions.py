"""Predicted labels beside what is right: how they are scored, and what can be tested of them.

A missing prediction is wrong; for "f1" and its like it finds nothing. ``true`` and ``false`` are 1
and 0 where the right labels are, and labels that differ in case or blanks alone are the same, which
is said. A system none of whose labels ever occurs is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.integers import IntArray
from permtest.statistics import STATISTICS, Statistic

#: How labels are written that mean the same, where all right ones are of one kind.
ALIKE = (
    ({"0", "1"}, {"false": "0", "true": "1"}),
    ({"false", "true"}, {"0": "false", "1": "true"}),
)

#: The label of two that is to be found, in small letters.
POSITIVE = ("1", "true", "yes")

#: What the counts of a class, and of two classes, are; and the bytes that they may need.
BY_CLASS, CONFUSION, MEMORY = ("tp", "fp", "fn"), ("tp", "fp", "fn", "tn"), 2**30


def judged(
    names: Sequence[str],
    right: Sequence[str],
    answers: Sequence[Sequence[str]],
    entry: Statistic,
    positive: str | None,
    fail: Callable[[str], ValueError],
    called: tuple[str, str],
) -> tuple[list[IntArray], tuple[str, ...], dict[str, Any]]:
    """The scores of several systems' predictions, what is counted, and facts with ``notes``."""
    # Scores are 1 or 0 for each item; or counts, of shape (N, 4), or (N, classes, 3). "" is no
    # label; `positive` is the label that "f1" and its like find; `fail` makes errors, in which
    # the statistic and that label are `called` as the caller's arguments.
    answers, notes = _spelt_alike(set(right), answers)
    every = sorted({*right, *chain(*answers)} - {""})
    _check_shared(names, [set(said) - {""} for said in answers], set(right), fail)
    columns = _wanted(entry, positive, fail, called)
    metric, pos_label = called
    wrong = "wrong"
    if columns == CONFUSION:
        wrong = "finding nothing (fn where gold is positive, else tn)"
    for name, said in zip(names, answers, strict=True):
        if holes := said.count(""):
            verbs = ("s", "are", "") if holes > 1 else ("", "is", "s")
            note = "{} prediction{} of {!r} {} missing, and count{} as {}"
            notes.append(note.format(holes, verbs[0], name, *verbs[1:], wrong))
    number = {"": 0} | {label: i for i, label in enumerate(every, 1)}
    gold, *given = (np.array([number[x] for x in said]) for said in (right, *answers))
    facts: dict[str, Any] = {"notes": notes}
    if columns == BY_CLASS:
        if (needed := 6 * 3 * 8 * len(every) * len(gold)) > MEMORY:
            problem = f"counts of {len(every)} labels may take {needed / 2**30:.1f} GiB of memory"
            raise fail(f"{problem}; choose accuracy as {metric}, or leave items out")
        facts["classes"] = every
        return [_by_class(len(every), gold, said) for said in given], columns, facts
    if columns == ():
        return [np.asarray(gold == said, dtype=np.int64) for said in given], columns, facts
    target = positive_of(every, positive)
    if target is None:
        which = f", and {positive!r} is not one" if positive is not None else ""
        raise fail(
            f"{entry.name!r} needs one positive label, but there are {len(every)} ({_some(every)})"
            f"{which}; name it with {pos_label}, or choose macro_f1 as {metric}"
        )
    found = [_confusion(gold == number[target], said == number[target]) for said in given]
    return found, columns, facts


def _wanted(
    entry: Statistic,
    positive: str | None,
    fail: Callable[[str], ValueError],
    called: tuple[str, str],
) -> tuple[str, ...]:
    """What a statistic counts of labels; an error if it counts none, or not those of one label."""
    columns = _counts(entry)
    metric, pos_label = called
    if columns is None:
        needs = entry.layouts() if entry.columns else "other scores"
        problem = f"labels can only be right or wrong, but {entry.name!r} needs {needs}"
        raise fail(f"{problem}; choose accuracy or macro_f1 as {metric}")
    if positive is not None and columns != CONFUSION:
        which = "f1, precision, recall or another measure of one label"
        raise fail(f"{pos_label} needs {metric} {which}")
    return columns


def words_of(right: Collection[str]) -> Mapping[str, str]:
    """How predictions are rewritten: true as 1 if right labels are 1 and 0, or the reverse."""
    return next((words for labels, words in ALIKE if labels.issuperset(right)), {})


def _spelt_alike(
    right: set[str], answers: Sequence[Sequence[str]]
) -> tuple[list[list[str]], list[str]]:
    """Predictions written as the right labels that mean the same, and what is to be said of it."""
    known: dict[str, set[str]] = {}
    for label in right:
        known.setdefault(label.casefold().strip(), set()).add(label)
    words, spelling, merged = words_of(known.keys()), {label: label for label in right}, []
    for label in dict.fromkeys(chain(*answers)):
        rough = label.casefold().strip()
        found = known.get(rough) or known.get(words.get(rough, rough)) or {label}
        usual = spelling.setdefault(label, label if len(found) > 1 else next(iter(found)))
        if usual not in (label, words.get(label)):
            merged.append(f"{_shown(label)} is {_shown(usual)}")
    note = "case and surrounding blanks of labels are ignored: "
    written = [[spelling[label] for label in said] for said in answers]
    return written, [note + ", ".join(merged[:3])] if merged else []


def _check_shared(
    names: Sequence[str],
    given: Sequence[set[str]],
    right: set[str],
    fail: Callable[[str], ValueError],
) -> None:
    """Refuse a system whose labels no other says, and gold has none of."""
    seen = right.union(*(labels for labels in given if labels & right))
    for name, labels in zip(names, given, strict=True):
        if labels and not labels & seen:
            raise fail(
                f"{name!r} predicts {_some(labels)}, but gold has {_some(right)}: no label in "
                "common; write the same labels in both, or choose another column"
            )


def _some(labels: Collection[str]) -> str:
    said = ", ".join(map(_shown, sorted(labels)[:10]))
    return f"{said}, ..." if len(labels) > 10 else said


def _shown(label: str) -> str:
    return repr(label if len(label) <= 40 else f"{label[:37]}...")


def positive_of(labels: Collection[str], wanted: str | None) -> str | None:
    """The label that is to be found: the one that is named, or 1, true or yes of two."""
    if wanted is not None:
        return wanted if wanted in labels else None
    found = [label for label in labels if label.lower() in POSITIVE]
    return found[0] if len(found) == 1 and len(labels) <= 2 else None


def fitting(labels: Collection[str], positive: str | None) -> tuple[str, ...]:
    """What can be tested of predictions, the most fitting first."""
    counts = {name: _counts(entry) for name, entry in STATISTICS.items() if entry.name == name}
    names = ["accuracy"]
    if positive_of(labels, positive) is not None:
        names += [name for name, columns in counts.items() if columns == CONFUSION]
    classes = [name for name, columns in counts.items() if columns == BY_CLASS]
    return (*names, *sorted(classes, key=lambda name: name not in ("macro_f1", "micro_f1")))


def _counts(entry: Statistic) -> tuple[str, ...] | None:
    """What a statistic counts of labels, () if whether they are right; None if it has none."""
    if not entry.columns:
        return () if entry.name in ("accuracy", "sum", "mean", "exact_match") else None
    wanted = BY_CLASS if entry.average else CONFUSION
    return wanted if any(measure.columns == wanted for measure in entry.measures) else None


def _by_class(classes: int, right: IntArray, answers: IntArray) -> IntArray:
    """tp, fp, fn of each label, of shape (N, classes, 3)."""
    used = np.arange(1, classes + 1)
    own, other = right[:, np.newaxis] == used, answers[:, np.newaxis] == used
    return np.stack([own & other, other & ~own, own & ~other], axis=-1).astype(np.int64)


def _confusion(own: NDArray[np.bool_], found: NDArray[np.bool_]) -> IntArray:
    """tp, fp, fn, tn, of shape (N, 4)."""
    cells = [own & found, ~own & found, own & ~found, ~own & ~found]
    return np.stack(cells, axis=-1).astype(np.int64)
