"""What is tested: ready-made statistics, what their columns must look like, and measures.

The test statistic is t(u, v) = h(sum_n g(u_n, v_n)) (Eq. 3), or a function of several such sums
(Eq. 12). Where an entry has a single score, g is the difference u_n - v_n; where it has counts, the
sums are those that a measure needs of either system, and h is the difference of the measures.
`alternative=` supplies the sides; any other g or h is passed to the test itself.

A measure says which counts it needs of every entry, which integers are added up over the entries,
and what number their sums make: as floats for many sums at once, and exactly for one. Two systems
are compared by the difference of their measures; since a swap leaves the totals of both systems
together as they are, the sums of the first one say everything (App. B).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import lcm
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from permtest._checks import ScoreError, check_option
from permtest.integers import IntArray, exact_sum, unscaled, with_room
from permtest.scores import Scores

#: Weights that make a mean of ratios one sum are no larger than this, so that sums fit an int64.
LARGEST_WEIGHT = 2**36


@dataclass(frozen=True, eq=False)
class MeanOfRatios:
    """The mean over R ratios, hits / (hits + misses) each, or hits / misses; 0 / 0 is 0."""

    #: Names of the counts that an entry has, in the order of the columns.
    columns: tuple[str, ...]
    #: Weights of the columns in the hits, and in the misses, of every ratio in turn.
    rows: tuple[tuple[int, ...], ...]
    #: Whether the hits are part of the denominator.
    whole: bool = True

    @property
    def parts(self) -> tuple[str, ...]:
        """What is added up: hits and misses of every ratio in turn."""
        named = ([(w, c) for w, c in zip(row, self.columns, strict=True) if w] for row in self.rows)
        return tuple(" + ".join(c if w == 1 else f"{w} {c}" for w, c in terms) for terms in named)

    def as_one_ratio(self, u: IntArray, v: IntArray) -> tuple[MeanOfRatios, IntArray, IntArray]:
        """The same measure and its addends as one ratio, where denominators are fixed."""
        below = u[:, 0::2] + u[:, 1::2]
        if not self.whole or not np.array_equal(below, v[:, 0::2] + v[:, 1::2]):
            return self, u, v
        sizes = [exact_sum(column) for column in below.T]
        common = lcm(*filter(None, sizes))
        if common > LARGEST_WEIGHT:
            return self, u, v
        # Each class has the denominator `common` then, also one without items, which has no hits.
        weights = np.array([common // size if size else 0 for size in sizes])
        first, second = (
            np.stack([x[:, 0::2] @ weights, x[:, 1::2] @ weights], axis=1) for x in (u, v)
        )
        for x in (first, second):
            x[:1, 1] += common * sizes.count(0)
        return MeanOfRatios(("hits", "misses"), ((1, 0), (0, 1))), first, second

    def addends(self, counts: IntArray) -> IntArray:
        """Hits and misses of every ratio in turn, of shape (N, 2 R)."""
        counts = with_room(counts, max(map(sum, self.rows)))
        added = np.zeros((len(counts), len(self.rows)), dtype=counts.dtype)
        for part, weights in zip(added.T, self.rows, strict=True):
            for weight, column in zip(weights, counts.T, strict=True):
                if weight:  # most are 0; there is no quick product of integer matrices
                    part += weight * column
        return added

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The measure for sums of shape (M, m), to some roundings."""
        hits, rest = sums[:, 0::2], sums[:, 1::2]
        below = hits + rest if self.whole else rest
        ratios = np.where(below == 0, 0.0, hits / np.where(below == 0, 1.0, below))
        return np.asarray(ratios.mean(axis=1))

    def exact(self, sums: Sequence[int]) -> Fraction:
        """The measure for m sums."""
        total = Fraction(0)
        for hits, rest in zip(sums[0::2], sums[1::2], strict=True):
            below = hits + rest if self.whole else rest
            total += Fraction(hits, below) if below else 0
        return 2 * total / len(self.rows)

    def problem(self, addends: IntArray, other: IntArray) -> tuple[int, str] | None:
        """The first entry of one system, next to the `other` one, with hits but no denominator."""
        hits, below = addends[:, 0::2], addends[:, 1::2]
        if self.whole or (below.any() and np.array_equal(below, other[:, 1::2])):
            return None
        for n in np.flatnonzero(((hits != 0) & (below == 0)).any(axis=1))[:1]:
            above, length = self.parts[0], self.parts[1]
            return int(n), (
                f"{above} = {addends[n, 0]} but {length} = 0, and {length} differs between the "
                "systems, so the ratio could become infinite; give both systems the same"
            )
        return None


# ---- statistics --------------------------------------------------------------------------------

#: What the alternative hypothesis says of the first system's statistic.
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[str, ...] = get_args(Alternative)


#: How the counts of several classes become one measure.
Average: TypeAlias = Literal["micro", "macro"]


@dataclass(frozen=True)
class Statistic:
    """A ready-made statistic: a difference of sums, of means, or of measures made of counts.

    Parameters
    ----------
    name : str
        Its name in ``statistic=`` and ``--metric``.
    about : str
        What it is, in a few words; of a measure its formula.
    title : str
        What sentences and axes call a measure; empty for sums and means of single scores.
    unit : str
        What one unit of a single score is, for axes and sentences.
    minimum, maximum : int or None
        The smallest and the largest single score that make sense, if there are such.
    measures : tuple of MeanOfRatios
        What is computed from counts, such as true positives: one measure for each set of columns
        that will do, the usual one first. Empty where an entry has a single score.
    average : {"micro", "macro"} or None
        For counts of several classes, of shape (N, classes, columns): whether they are added up
        over the classes, or the measures of the classes averaged.
    higher_is_better : bool or None
        Whether more is better; None for scores of any kind, of which permtest cannot know it.

    Examples
    --------
    >>> from permtest import STATISTICS
    >>> accuracy, f1 = STATISTICS["accuracy"], STATISTICS["f1"]
    >>> accuracy.about, accuracy.minimum, accuracy.columns
    ('correct answers of each entry', 0, ())
    >>> f1.columns, f1.higher_is_better, STATISTICS["wer"].higher_is_better
    (('tp', 'fp', 'fn'), True, False)
    """

    name: str
    about: str
    title: str = ""
    unit: str = ""
    minimum: int | None = None
    maximum: int | None = None
    measures: tuple[MeanOfRatios, ...] = ()
    average: Average | None = None
    higher_is_better: bool | None = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The counts that an entry needs, in the usual order; empty where it has one score."""
        return self.measures[0].columns if self.measures else ()

    def layouts(self) -> str:
        """All sets of columns that will do, for messages."""
        return " or ".join(f"{len(m.columns)} ({', '.join(m.columns)})" for m in self.measures)

    def counts(self, tables: dict[str, Any], labels: Sequence[str] = (), **fields: Any) -> Scores:
        """Validate the tables of counts of some systems."""
        known, classes = [m.columns for m in self.measures], self.average is not None
        fields.setdefault("higher_is_better", self.higher_is_better)
        return Scores.of_counts(tables, known, classes=classes, labels=labels, **fields)


def check_scores(entry: Statistic, scores: Scores, low: int | None = None) -> None:
    """Raise ScoreError at the first score that the statistic cannot have.

    `low` is the smallest of the integers, if somebody has looked.
    """
    if entry.minimum is None:
        return
    if entry.maximum is None and scores.scale == 1 and low is not None and low >= entry.minimum:
        return
    one = scores.scale
    for label, column in zip(_labels(scores), scores.arrays, strict=True):
        bad = (column % one != 0) | (column < entry.minimum * one)
        if entry.maximum is not None:
            bad |= column > entry.maximum * one
        for i in np.flatnonzero(bad)[:1].tolist():
            score = unscaled(int(column[i]), one)
            problem = f"is not a whole number, but {entry.name} counts {entry.unit}"
            if score == int(score):
                kind = "below" if score < entry.minimum else "above"
                limit = entry.minimum if score < entry.minimum else entry.maximum
                problem = f"is {kind} {limit}, but {entry.name} counts {entry.unit}"
            remedy = f"other scores need 'sum' in place of {entry.name!r}"
            raise ScoreError(label, (i,), f"= {score} {problem}", remedy)


def _labels(scores: Scores) -> Sequence[str]:
    """How errors name the arguments: two systems are u and v, several ones have names."""
    two = scores.n_systems == 2
    return ("u", "v") if two else [f"scores[{name!r}]" for name in scores.systems]


def measured(entry: Statistic, scores: Scores) -> tuple[MeanOfRatios, list[IntArray]]:
    """The measure for the columns of some scores, and each system's addends, of shape (N, m).

    Raises ValueError if there is none, naming the columns, or at the first impossible item.
    """
    shape, wanted = scores.u.shape, 3 if entry.average else 2
    found = [m for m in entry.measures if len(m.columns) == shape[-1]]
    if scores.columns and scores.columns not in (m.columns for m in found):
        raise ValueError(
            f"statistic={entry.name!r} needs columns {entry.layouts()}, but these scores have "
            f"{', '.join(scores.columns)}"
        )
    if len(shape) != wanted or not found:
        lead = "N, classes" if entry.average else "N"
        raise ValueError(
            f"statistic={entry.name!r} needs, for each system, an array of shape ({lead}, "
            f"columns) with columns {entry.layouts()}, but u has shape {shape}"
        )
    measure, arrays = found[0], list(scores.arrays)
    if entry.average == "micro":
        arrays = [with_room(x, x.shape[1]).sum(axis=1) for x in arrays]
    elif entry.average == "macro":
        measure = _by_class(measure, shape[1])
        arrays = [x.reshape(len(x), -1) for x in arrays]
    addends = [measure.addends(x) for x in arrays]
    for k, label in enumerate(_labels(scores)):
        if bad := measure.problem(addends[k], addends[k - 1]):
            raise ValueError(f"{label}[{bad[0]}] has {bad[1]}")
    return measure, addends


def _by_class(measure: MeanOfRatios, classes: int) -> MeanOfRatios:
    """The mean of a measure over classes, whose columns stand side by side."""
    size = len(measure.columns)
    columns = tuple(f"{column}_{k + 1}" for k in range(classes) for column in measure.columns)
    rows = tuple(
        (0,) * (size * k) + row + (0,) * (size * (classes - 1 - k))
        for k in range(classes)
        for row in measure.rows
    )
    return MeanOfRatios(columns, rows, measure.whole)


#: F-scores by name, such as "f0.5" and "macro_f2".
F_SCORE = re.compile(r"(?P<lead>micro_|macro_)?f(?P<beta>\d+(?:\.\d+)?)")

COUNTS = ("tp", "fp", "fn")
CONFUSION = (*COUNTS, "tn")
#: Hits and misses of recall and of specificity.
RATES = ("tp", "fn", "tn", "fp")


def _f_score(lead: str, beta: str) -> Statistic:
    """(1 + b) tp / ((1 + b) tp + b fn + fp) with b = beta^2, in whole numbers."""
    square = Fraction(beta) ** 2
    if not 0 < square <= 10**6:
        raise ValueError(f"beta={beta} must be above 0, and at most 1000")
    a, b = square.numerator, square.denominator
    measures = [MeanOfRatios(COUNTS, ((a + b, 0, 0), (0, b, a)))]
    if square == 1:
        measures.append(MeanOfRatios(("tp", "incorrect"), ((2, 0), (0, 1))))
    measures.append(MeanOfRatios(CONFUSION, ((a + b, 0, 0, 0), (0, b, a, 0))))
    formula = "2 tp / (2 tp + fp + fn)" if square == 1 else f"F-score with beta = {beta}"
    return _averaged(lead, f"f{beta}", f"F{beta}", formula, tuple(measures))


def _averaged(
    lead: str, name: str, title: str, about: str, measures: tuple[MeanOfRatios, ...]
) -> Statistic:
    """A measure of counts of two classes, or, with a `lead`, of several ones."""
    if not lead:
        return Statistic(name, about, title, measures=measures)
    average: Average = "micro" if lead == "micro_" else "macro"
    about += ", of the counts of all classes" if average == "micro" else ", averaged over classes"
    return Statistic(lead + name, about, f"{average} {title}", measures=measures, average=average)


def _ratio(name: str, title: str, about: str, hits: str, misses: str, lead: str = "") -> Statistic:
    """hits / (hits + misses), both named as sums of columns."""
    layouts = [CONFUSION] if "tn" in hits + misses else [COUNTS, CONFUSION]
    measures = [
        MeanOfRatios(columns, (_weights(hits, columns), _weights(misses, columns)))
        for columns in layouts
    ]
    if misses == "fp + fn":
        measures.insert(1, MeanOfRatios(("tp", "incorrect"), ((1, 0), (0, 1))))
    return _averaged(lead, name, title, about, tuple(measures))


def _weights(terms: str, columns: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(column in terms.split(" + ")) for column in columns)


def _family(lead: str) -> list[Statistic]:
    """Ratios of counts, plain or for several classes."""
    return [
        _ratio("precision", "precision", "tp / (tp + fp)", "tp", "fp", lead),
        _ratio("recall", "recall", "tp / (tp + fn)", "tp", "fn", lead),
        _f_score(lead, "1"),
        _ratio("jaccard", "Jaccard index", "tp / (tp + fp + fn)", "tp", "fp + fn", lead),
    ]


_ENTRIES = (
    Statistic("sum", "difference of sums of any scores", unit="points", higher_is_better=None),
    Statistic("mean", "difference of means of any scores", unit="points", higher_is_better=None),
    Statistic("accuracy", "correct answers of each entry", unit="correct answers", minimum=0),
    Statistic("exact_match", "1 or 0 for each entry", unit="matches", minimum=0, maximum=1),
    Statistic("uas", "correct heads of each sentence", unit="correct heads", minimum=0),
    Statistic("las", "correct heads and labels of each sentence", unit="correct arcs", minimum=0),
    *_family(""),
    *_family("micro_"),
    *_family("macro_"),
    _ratio("specificity", "specificity", "tn / (tn + fp)", "tn", "fp"),
    Statistic(
        "balanced_accuracy",
        "mean of recall and specificity",
        "balanced accuracy",
        measures=(MeanOfRatios(CONFUSION, tuple(_weights(x, CONFUSION) for x in RATES)),),
    ),
    Statistic(
        "wer",
        "errors / length; the lower the better",
        "error rate",
        measures=(MeanOfRatios(("errors", "length"), ((1, 0), (0, 1)), whole=False),),
        higher_is_better=False,
    ),
)

#: The table of statistics.
STATISTICS: dict[str, Statistic] = {entry.name: entry for entry in _ENTRIES}
STATISTICS["iou"] = STATISTICS["jaccard"]


def lookup(name: str | Statistic) -> Statistic:
    """The entry called `name`, an F-score with any beta too; ValueError lists what there is."""
    if isinstance(name, Statistic):
        return name
    if isinstance(name, str) and name in STATISTICS:
        return STATISTICS[name]
    if isinstance(name, str) and (match := F_SCORE.fullmatch(name)):
        return _f_score(match["lead"] or "", match["beta"])
    known = ", ".join(map(repr, STATISTICS))
    close = get_close_matches(f"{name}".lower(), STATISTICS)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise ValueError(
        f"statistic={name!r} is not known{hint}; choose one of {known}, or 'f' with any beta, as "
        "'f0.5'"
    )


def check_alternative(alternative: str) -> None:
    """Raise ValueError unless `alternative` is one of scipy's three."""
    if alternative not in ALTERNATIVES:
        check_option("alternative", alternative, ALTERNATIVES)


# ---- labels ------------------------------------------------------------------------------------

#: Bytes that counts of labels may take.
MEMORY = 2**30


def score_labels(
    gold: Sequence[Any],
    predictions: Mapping[str, Sequence[Any]],
    statistic: str | Statistic = "accuracy",
    pos_label: Any = None,
    **fields: Any,
) -> Scores:
    """Score predicted labels: 1 or 0 where they are right or wrong, or as counts.

    Parameters
    ----------
    gold : sequence of N labels
        What is right.
    predictions : mapping of str to sequence of N labels
        What each system says. Labels are equal if they are the same text.
    statistic : str or Statistic, default "accuracy"
        "accuracy" and the like need 1 or 0; "f1" and other measures of one label tp, fp, fn and
        tn; "macro_f1" and the like tp, fp and fn of each label.
    pos_label : label, optional
        The label that "f1" and its like are of; not needed where the two labels are 0 and 1, or
        false and true.
    **fields
        Other fields of `Scores`.

    Returns
    -------
    Scores

    Raises
    ------
    ValueError
        If the statistic has no counts of labels, or needs a label that is not named, or a system
        uses none of the labels.
    MemoryError
        If the counts of all labels would take more than a gibibyte.
    """
    entry, right = lookup(statistic), [str(x) for x in gold]
    said = {name: [str(x) for x in column] for name, column in predictions.items()}
    _check_labels(right, said)
    fields.setdefault("higher_is_better", entry.higher_is_better)
    wanted = COUNTS if entry.average else CONFUSION if entry.columns else ()
    known = [measure.columns for measure in entry.measures] or [()]
    if wanted not in known or entry.unit not in ("", "points", "correct answers", "matches"):
        raise ValueError(
            f"labels can only be right or wrong, but {entry.name!r} needs other scores or counts; "
            "choose accuracy or macro_f1"
        )
    if pos_label is not None and wanted != CONFUSION:
        raise ValueError(f"pos_label is for measures of one label, such as f1, not {entry.name!r}")
    every, numbers = np.unique(
        [x for some in (right, *said.values()) for x in some], return_inverse=True
    )
    truth, *answers = numbers.reshape(1 + len(said), len(right))
    if not wanted:
        return Scores([(truth == x).astype(np.int64) for x in answers], tuple(said), **fields)
    labels = every.tolist()
    chosen: Any = np.arange(len(labels))
    if wanted == CONFUSION:
        chosen = labels.index(_positive(labels, pos_label, entry.name))
    elif (needed := 18 * 8 * len(labels) * len(right)) > MEMORY:
        raise MemoryError(
            f"counts of {len(labels)} labels may take {needed / 2**30:.1f} GiB; choose accuracy"
        )
    own, *found = (np.equal.outer(x, chosen) for x in (truth, *answers))
    arrays = []
    for one in found:
        cells = [own & one, one & ~own, own & ~one, ~own & ~one][: len(wanted)]
        arrays.append(np.stack(cells, axis=-1).astype(np.int64))
    return Scores(arrays, tuple(said), columns=wanted, **fields)


def _check_labels(right: Sequence[str], said: Mapping[str, Sequence[str]]) -> None:
    """Refuse predictions of another number, or in other words, than there are right answers."""
    known = {*right}.union(*(column for column in said.values() if {*column} & {*right}))
    for name, column in said.items():
        if len(column) != len(right):
            raise ValueError(
                f"gold has {len(right)} labels and {name} has {len(column)}; give one for each item"
            )
        if column and not known & {*column}:
            raise ValueError(
                f"{name} predicts {_some({*column})}, but gold has {_some({*right})}: no label in "
                "common; write the same labels in both, or choose another column"
            )


def _positive(labels: Sequence[str], wanted: Any, statistic: str) -> str:
    """The label that is to be found: the one that is named, or the 1 or true of two."""
    if wanted is not None and str(wanted) in labels:
        return str(wanted)
    found = [x for x in labels if x.lower() in ("1", "true")]
    if wanted is None and len(found) == 1 and len(labels) <= 2:
        return found[0]
    which = "" if wanted is None else f", and {wanted!r} is not one of them"
    raise ValueError(
        f"{statistic!r} is of one label, and there are {_some(labels)}{which}; name it with "
        "pos_label, or choose macro_f1"
    )


def _some(labels: Collection[str]) -> str:
    said = ", ".join(repr(x[:40] + "..." * (len(x) > 40)) for x in sorted(labels)[:10])
    return f"{said}, ..." if len(labels) > 10 else said
