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
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from math import lcm
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from permtest._checks import ScoreError, check_option
from permtest.integers import IntArray, exact_sum, unscaled, with_room
from permtest.pairs import Pairs
from permtest.score import Score

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
    def signs(self) -> tuple[int, ...]:
        """1 for sums in which the measure never falls, -1 for those in which it never rises."""
        return (1, -1) * (len(self.rows) // 2)

    @property
    def parts(self) -> tuple[str, ...]:
        """What is added up: hits and misses of every ratio in turn."""
        named = ([(w, c) for w, c in zip(row, self.columns, strict=True) if w] for row in self.rows)
        return tuple(" + ".join(c if w == 1 else f"{w} {c}" for w, c in terms) for terms in named)

    def linear(self, u: IntArray, v: IntArray) -> tuple[Linear, IntArray, IntArray] | None:
        """The same measure and its addends as one sum of hits, where denominators are fixed."""
        below = u[:, 0::2] + u[:, 1::2]
        if not self.whole or not np.array_equal(below, v[:, 0::2] + v[:, 1::2]):
            return None
        sizes = [exact_sum(column) for column in below.T]
        common = lcm(*(size for size in sizes if size))
        if common > LARGEST_WEIGHT:
            return None
        weights = np.array([common // size if size else 0 for size in sizes])
        # Hits are at most the size, so that no product exceeds `common`.
        return Linear(common * (len(self.rows) // 2)), *(
            x[:, 0::2] @ weights[:, None] for x in (u, v)
        )

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

    def exact(self, sums: list[int]) -> Fraction:
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


@dataclass(frozen=True, eq=False)
class Linear:
    """One sum over a constant number."""

    scale: int
    parts: tuple[str, ...] = ("score",)
    signs: tuple[int, ...] = (1,)

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scaled sum."""
        return np.asarray(sums[:, 0] / self.scale)

    def exact(self, sums: list[int]) -> Fraction:
        """The scaled sum."""
        return Fraction(sums[0], self.scale)


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
    ascending : bool
        Whether less is better, as of errors.

    Examples
    --------
    >>> from permtest import STATISTICS
    >>> accuracy, f1 = STATISTICS["accuracy"], STATISTICS["f1"]
    >>> accuracy.about, accuracy.minimum, accuracy.columns
    ('correct answers of each entry', 0, ())
    >>> f1.columns, f1.ascending, STATISTICS["wer"].ascending
    (('tp', 'fp', 'fn'), False, True)
    """

    name: str
    about: str
    title: str = ""
    unit: str = ""
    minimum: int | None = None
    maximum: int | None = None
    measures: tuple[MeanOfRatios, ...] = ()
    average: Average | None = None
    ascending: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The counts that an entry needs, in the usual order; empty where it has one score."""
        return self.measures[0].columns if self.measures else ()

    def problem(self, score: float | Decimal) -> tuple[str, str] | None:
        """What is wrong with one score, and what to do about it; None if it can be tested."""
        if self.minimum is None:
            return None
        instead = f"need 'sum' in place of {self.name!r}"
        if score != int(score):
            problem = f"{score} is not a whole number, but {self.name} counts {self.unit}"
            return problem, f"means and other decimals {instead}"
        if self.maximum is not None and score > self.maximum:
            problem = f"{score} is above {self.maximum}, the most that {self.name} can be"
            return f"{problem} for an entry", f"larger scores {instead}"
        if score >= self.minimum:
            return None
        problem = f"{score} is below {self.minimum}, but {self.name} counts {self.unit}"
        return problem, f"scores that may be negative {instead}"

    def refuse(self, label: str, scores: IntArray, scale: int) -> None:
        """Raise ScoreError at the first of some scores, times `scale`, that has a `problem`."""
        if self.minimum is None:
            return
        bad = (scores % scale != 0) | (scores < self.minimum * scale)
        if self.maximum is not None:
            bad |= scores > self.maximum * scale
        for i in np.flatnonzero(bad)[:1].tolist():
            if found := self.problem(unscaled(int(scores[i]), scale)):
                raise ScoreError(label, (i,), f"= {found[0]}", found[1])

    def check(self, pairs: Pairs, low: int) -> None:
        """`refuse` scores of `pairs`, the smallest of which is `low`."""
        if self.maximum is not None or low < (self.minimum or 0) or pairs.scale != 1:
            self.refuse("u", pairs.u, pairs.scale)
            self.refuse("v", pairs.v, pairs.scale)

    def score(self, score: Score, scale: int, low: int, *scores: IntArray) -> Score:
        """What is compared; `scores` are integers, times `scale`, and the smallest is `low`."""
        if self.name not in ("sum", "mean"):
            return score.known(self.name, self.unit)
        counts = scale == 1 and low >= 0
        binary = counts and max(x.max(initial=0) for x in scores) <= 1
        return score.of_numbers(counts=counts, binary=binary)

    def layouts(self) -> str:
        """All sets of columns that will do, for messages."""
        return " or ".join(f"{len(m.columns)} ({', '.join(m.columns)})" for m in self.measures)

    def pairs(self, u: Any, v: Any, names: tuple[str, str] | None) -> Pairs:
        """Validate the tables of counts of two systems."""
        if isinstance(u, Pairs) and v is None:
            return u
        known = [m.columns for m in self.measures]
        return Pairs.of_counts(u, v, known, names, classes=self.average is not None)

    def measure(self, pairs: Pairs) -> tuple[MeanOfRatios, IntArray, IntArray]:
        """The measure for the columns of `pairs`, and both systems' addends, of shape (N, m).

        Raises ValueError if there is none, naming the columns, or at the first impossible entry.
        """
        wanted = 3 if self.average else 2
        found = [m for m in self.measures if len(m.columns) == pairs.u.shape[-1]]
        if pairs.columns and pairs.columns not in (m.columns for m in found):
            raise ValueError(
                f"statistic={self.name!r} needs columns {self.layouts()}, but these pairs have "
                f"{', '.join(pairs.columns)}"
            )
        if pairs.u.ndim != wanted or not found:
            lead = "N, classes" if self.average else "N"
            hint = ""
            if pairs.u.ndim == 3:
                hint = "; for counts by class there are 'micro_f1', 'macro_f1' and others"
            raise ValueError(
                f"statistic={self.name!r} needs, for each system, an array of shape ({lead}, "
                f"columns) with columns {self.layouts()}, but u has shape {pairs.u.shape}{hint}"
            )
        measure, u, v = found[0], pairs.u, pairs.v
        if self.average == "micro":
            u, v = (with_room(x, x.shape[1]).sum(axis=1) for x in (u, v))
        elif self.average == "macro":
            measure = _by_class(measure, u.shape[1])
            u, v = u.reshape(len(u), -1), v.reshape(len(v), -1)
        first, second = measure.addends(u), measure.addends(v)
        for label, addends, other in (("u", first, second), ("v", second, first)):
            if bad := measure.problem(addends, other):
                raise ValueError(f"{label}[{bad[0]}] has {bad[1]}")
        return measure, first, second


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
    Statistic("sum", "difference of sums of any scores", unit="points"),
    Statistic("mean", "difference of means of any scores", unit="points"),
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
        ascending=True,
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
