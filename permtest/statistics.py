"""What is tested: ready-made statistics, and measures made of counts.

Where an entry has a single score, the g of Eq. 3 is the difference u_n - v_n; where it has counts,
the sums are those that a measure needs of either system, and h is the difference of the measures.

A measure is hits / (hits + misses), both of them weighted sums of counts over the entries, or the
mean of that over classes. Since a swap leaves the totals of both systems together as they are, the
sums of the first one say everything (App. B).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from reprlib import repr as shown
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from permtest._errors import check_option
from permtest.integers import IntArray, exact_sum, with_room
from permtest.scores import COUNTS, TWO_COUNTS, Scores, check_length

#: Weights that make a mean of ratios one sum are no larger than this, so that sums fit an int64.
LARGEST_WEIGHT = 2**36

#: What the alternative hypothesis says of the first system's statistic.
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES = get_args(Alternative)


@dataclass(frozen=True)
class MeanOfRatios:
    """The mean over R ratios, hits / (hits + misses) each; 0 / 0 is 0."""

    #: What is added up: hits and misses of every ratio in turn.
    parts: tuple[str, ...]

    def exact(self, sums: Sequence[int]) -> Fraction:
        """The measure for 2 R sums."""
        ratios = zip(sums[0::2], sums[1::2], strict=True)
        total = sum(Fraction(hits, hits + rest) for hits, rest in ratios if hits + rest)
        return Fraction(2 * total, len(self.parts))

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The measure for sums of shape (M, 2 R), to some roundings."""
        hits, below = sums[:, 0::2], sums[:, 0::2] + sums[:, 1::2]
        ratios = np.where(below == 0, 0.0, hits / np.where(below == 0, 1.0, below))
        return np.asarray(ratios.mean(axis=1))

    def as_one_ratio(self, u: IntArray, v: IntArray) -> tuple[MeanOfRatios, IntArray, IntArray]:
        """The same measure and its addends as one ratio, where denominators are fixed."""
        below = u[:, 0::2] + u[:, 1::2]
        sizes = [exact_sum(column) for column in below.T]
        common = lcm(*filter(None, sizes))
        fixed = np.array_equal(below, v[:, 0::2] + v[:, 1::2])
        if len(sizes) == 1 or not fixed or common > LARGEST_WEIGHT:
            return self, u, v
        # Each class has the denominator `common` then, also one without items, which has no hits.
        weights = np.array([common // size if size else 0 for size in sizes])
        both = [np.stack([x[:, 0::2] @ weights, x[:, 1::2] @ weights], axis=1) for x in (u, v)]
        for x in both:
            x[:1, 1] += common * sizes.count(0)
        return MeanOfRatios(("hits", "misses")), both[0], both[1]


@dataclass(frozen=True)
class Statistic:
    """A ready-made statistic: a difference of sums, of means, or of measures made of counts.

    Parameters
    ----------
    name : str
        Its name in ``statistic=`` and ``--metric``.
    title : str
        What sentences and axes call a measure; empty for sums and means of single scores.
    unit : str
        What single scores count, for axes and sentences; "points" if they may be any numbers.
    hits, misses : tuple of three int
        How often a measure, hits / (hits + misses), counts true positives, false positives and
        false negatives; empty where an entry has a single score.
    macro : bool
        Whether the measure is averaged over classes, for counts of shape (N, classes, 3).
    higher_is_better : bool or None
        Whether more is better; None for scores of any kind, of which permtest cannot know it.

    Examples
    --------
    >>> from permtest import STATISTICS
    >>> accuracy, f1 = STATISTICS["accuracy"], STATISTICS["f1"]
    >>> accuracy.unit, accuracy.columns, accuracy.higher_is_better
    ('correct answers', (), True)
    >>> f1.columns, f1.hits, f1.misses
    (('tp', 'fp', 'fn'), (2, 0, 0), (0, 1, 1))
    """

    name: str
    title: str = ""
    unit: str = ""
    hits: tuple[int, ...] = ()
    misses: tuple[int, ...] = ()
    macro: bool = False
    higher_is_better: bool | None = True

    def __post_init__(self) -> None:
        both = self.hits, self.misses
        sound = (len(x) == 3 and any(x) and {*map(type, x)} == {int} and min(x) >= 0 for x in both)
        if any(both) and not all(sound):
            raise ValueError(f"hits and misses {both} must each be three integers >= 0, not all 0")

    @property
    def columns(self) -> tuple[str, ...]:
        """The counts that an entry needs; empty where it has one score."""
        return COUNTS if self.hits else ()

    @property
    def layouts(self) -> tuple[tuple[str, ...], ...]:
        """All sets of columns that will do: two where both kinds of mistakes weigh the same."""
        same = all(x[1:2] == x[2:] for x in (self.hits, self.misses))
        return (COUNTS, TWO_COUNTS) if same else (COUNTS,)


def measured(entry: Statistic, scores: Scores) -> tuple[MeanOfRatios, list[IntArray]]:
    """The measure for the columns of some scores, and each system's addends, of shape (N, 2 R).

    Raises ValueError if there is none, naming the columns.
    """
    if scores.columns not in entry.layouts or scores.u.ndim != 2 + entry.macro:
        lead = "(N, classes, columns)" if entry.macro else "(N, columns)"
        wanted = " or ".join(f"({', '.join(c)})" for c in entry.layouts)
        have = f"columns {', '.join(scores.columns)}" if scores.columns else "no counts"
        raise ValueError(
            f"statistic={entry.name!r} needs, for each system, counts of shape {lead} with columns "
            f"{wanted}, but u has shape {scores.u.shape} and {have}"
        )
    weights = [x[: len(scores.columns)] for x in (entry.hits, entry.misses)]
    classes = [f"_{k + 1}" for k in range(scores.u.shape[1])] if entry.macro else [""]
    parts = tuple(_terms(some, scores.columns, number) for number in classes for some in weights)
    addends = [_addends(x, weights).reshape(len(x), len(parts)) for x in scores.arrays]
    return MeanOfRatios(parts), addends


def _terms(weights: Sequence[int], columns: Sequence[str], number: str) -> str:
    """A weighted sum of columns in words."""
    terms = [(w, column + number) for w, column in zip(weights, columns, strict=True) if w]
    return " + ".join(column if w == 1 else f"{w} {column}" for w, column in terms)


def _addends(counts: IntArray, weights: Sequence[Sequence[int]]) -> IntArray:
    """Hits and misses, along a new last axis."""
    counts = with_room(counts, max(map(sum, weights)))
    # There is no quick product of integer matrices, and most weights are 0.
    both = [sum(w * counts[..., k] for k, w in enumerate(some) if w) for some in weights]
    return np.stack(both, axis=-1)


# ---- the table -----------------------------------------------------------------------------------

#: F-scores by name, such as "f0.5" and "macro_f2".
F_SCORE = re.compile(r"(?P<macro>macro_)?f(?P<beta>\d+(?:\.\d+)?)")


def _f_score(beta: str) -> Statistic:
    """(1 + b) tp / ((1 + b) tp + b fn + fp) with b = beta^2, in whole numbers."""
    square = Fraction(beta) ** 2
    if not 0 < square <= 10**6:
        raise ValueError(f"beta={beta} must be above 0, and at most 1000")
    a, b = square.as_integer_ratio()
    return Statistic(f"f{beta}", f"F{beta}", hits=(a + b, 0, 0), misses=(0, b, a))


def _macro(one: Statistic) -> Statistic:
    """The average of a measure over classes."""
    return replace(one, name=f"macro_{one.name}", title=f"macro {one.title}", macro=True)


_SUMS = (
    Statistic("sum", unit="points", higher_is_better=None),
    Statistic("mean", unit="points", higher_is_better=None),
    Statistic("accuracy", unit="correct answers"),
    Statistic("uas", unit="correct heads"),
    Statistic("las", unit="correct arcs"),
)
_MEASURES = (
    Statistic("precision", "precision", hits=(1, 0, 0), misses=(0, 1, 0)),
    Statistic("recall", "recall", hits=(1, 0, 0), misses=(0, 0, 1)),
    _f_score("1"),
    Statistic("jaccard", "Jaccard index", hits=(1, 0, 0), misses=(0, 1, 1)),
)

#: The table of statistics.
STATISTICS: dict[Any, Statistic] = {
    entry.name: entry for entry in (*_SUMS, *_MEASURES, *map(_macro, _MEASURES))
}


def lookup(name: str | Statistic) -> Statistic:
    """The entry called `name`, an F-score with any beta too; ValueError lists what there is."""
    if isinstance(name, Statistic):
        return name
    if isinstance(name, str) and name in STATISTICS:
        return STATISTICS[name]
    if isinstance(name, str) and (match := F_SCORE.fullmatch(name)):
        entry = _f_score(match["beta"])
        return _macro(entry) if match["macro"] else entry
    known = ", ".join(map(repr, STATISTICS))
    raise ValueError(
        f"statistic={name!r} is not known; choose one of {known}, or 'f' with any beta, as 'f0.5'"
    )


def check_alternative(alternative: str) -> None:
    """Raise ValueError unless `alternative` is one of scipy's three."""
    check_option("alternative", alternative, ALTERNATIVES)


# ---- labels --------------------------------------------------------------------------------------


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
        "accuracy" and the like need 1 or 0; "f1" and other measures of one label tp, fp and fn;
        "macro_f1" and the like the same of each label.
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
        If a label is needed that is not named, or a system uses none of the labels.
    """
    entry, right = lookup(statistic), [str(x) for x in gold]
    said = {name: [str(x) for x in column] for name, column in predictions.items()}
    _check_labels(right, said)
    fields.setdefault("higher_is_better", entry.higher_is_better)
    if pos_label is not None and (entry.macro or not entry.columns):
        raise ValueError(f"pos_label is for measures of one label, such as f1, not {entry.name!r}")
    every = [x for column in (right, *said.values()) for x in column]
    labels, numbers = np.unique(every, return_inverse=True)
    truth, *answers = numbers.reshape(1 + len(said), len(right))
    if not entry.columns:
        return Scores([(truth == x).astype(np.int64) for x in answers], tuple(said), **fields)
    chosen: Any = np.arange(len(labels))
    if not entry.macro:
        chosen = labels.tolist().index(_positive(labels.tolist(), pos_label, entry.name))
    own, *found = (np.equal.outer(x, chosen) for x in (truth, *answers))
    arrays = [np.stack([own & x, x & ~own, own & ~x], axis=-1).astype(np.int64) for x in found]
    return Scores(arrays, tuple(said), columns=COUNTS, **fields)


def _check_labels(right: Sequence[str], said: Mapping[str, Sequence[str]]) -> None:
    """Refuse predictions of another number, or in other words, than there are right answers."""
    known = {*right}.union(*(column for column in said.values() if {*column} & {*right}))
    for name, column in said.items():
        check_length(right, column, ("gold", name))
        if column and not known & {*column}:
            theirs, ours = shown(sorted({*column})), shown(sorted({*right}))
            raise ValueError(
                f"{name} predicts {theirs}, but gold has {ours}: no label in common; write the "
                "same labels in both, or choose another column"
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
        f"{statistic!r} is of one label, and the labels are {shown(labels)}{which}; name it with "
        "pos_label, or choose macro_f1"
    )
