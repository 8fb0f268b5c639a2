"""What single items say: which system scores higher, and on which they differ most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from permtest._integers import exact_sum
from permtest.alternatives.sample import PairedSample
from permtest.measures import Bleu, Matthews, MeanOfRatios, Measure
from permtest.pairs import Pairs
from permtest.statistics import CountStatistic, Statistic

Floats = NDArray[np.float64]

#: Measures of single items that differ by less are the same.
CLOSE = 1e-12

#: Letters of a name in a text, and of an id.
NAME, ID = 48, 60


@dataclass(frozen=True)
class ItemDifference:
    """An item on which two systems differ.

    Parameters
    ----------
    id : str
        What the file calls it; "item 17" where it has no name.
    a, b : float or None
        What either system scores on it; None where a measure of counts is 0 / 0 there.
    difference : float
        ``a - b``; of counts what the item adds to the difference of the whole.
    """

    id: str
    a: float | None
    b: float | None
    difference: float


@dataclass(frozen=True)
class Record:
    """On how many items either system scores higher.

    Parameters
    ----------
    wins, ties, losses : int
        Items on which the first system scores higher, neither, and the second one; for error
        rates higher is worse.
    rule : str
        What decides an item.
    """

    wins: int
    ties: int
    losses: int
    rule: str


@dataclass(frozen=True, eq=False)
class ItemScores:
    """Two systems item by item.

    Parameters
    ----------
    a, b : ndarray of shape (N,)
        What either system scores; NaN where a measure of counts is 0 / 0.
    worth : ndarray of shape (N,)
        By how much the first system is ahead on each item, on the scale on which their mean is the
        difference per item: ``a - b``. A measure of counts is no mean of items. There it is N / 2
        times what the difference would lose if the two systems' counts of the item were exchanged,
        and the mean is the difference but for terms of second order.
    lead : ndarray of shape (N,)
        1 where the first system scores higher, -1 where the second one does, else 0.
    rule : str
        What decides an item.
    """

    a: Floats
    b: Floats
    worth: Floats
    lead: NDArray[np.int8]
    rule: str

    @classmethod
    def of(cls, pairs: Pairs, entry: Statistic | CountStatistic) -> ItemScores:
        """Measure every item by itself.

        Parameters
        ----------
        pairs : Pairs
            Single scores, or counts.
        entry : Statistic or CountStatistic

        Returns
        -------
        ItemScores
        """
        if isinstance(entry, CountStatistic):
            return _of_counts(pairs, entry)
        sample = PairedSample(pairs)
        lead = np.array(sample.gaps > 0, np.int8) - np.array(sample.gaps < 0, np.int8)
        return cls(
            sample.a, sample.b, sample.differences, lead, "items are compared by their scores"
        )

    @property
    def record(self) -> Record:
        """On how many items either system scores higher."""
        wins, losses = (int(np.count_nonzero(self.lead == side)) for side in (1, -1))
        return Record(wins, self.lead.size - wins - losses, losses, self.rule)


def _of_counts(pairs: Pairs, entry: CountStatistic) -> ItemScores:
    """The measure of each item, where it has one, and what it is worth in the whole."""
    measure, *addends = entry.measure(pairs)
    first, second = (x.astype(np.float64) for x in addends)
    own = [np.where(_undefined(measure, x), np.nan, measure.values(x)) for x in (first, second)]
    totals = [np.array([exact_sum(column) for column in x.T], np.float64) for x in addends]
    moved = second - first
    swapped = measure.values(totals[0] + moved) - measure.values(totals[1] - moved)
    seen = measure.values(totals[0][None]) - measure.values(totals[1][None])
    worth = np.where(moved.any(axis=1), (seen - swapped) * len(pairs) / 2, 0.0)
    unknown = np.isnan(own[0]) | np.isnan(own[1])
    gap = np.where(unknown, worth / len(pairs), own[0] - own[1])
    lead = np.array(gap > CLOSE, np.int8) - np.array(gap < -CLOSE, np.int8)
    rule = f"items are compared by their own {entry.title}"
    if count := np.count_nonzero(unknown & moved.any(axis=1)):
        rule += (
            f"; where that is 0 / 0 ({count:,} of those that differ), by which system's "
            f"{entry.title} in all is lower once the counts of the item are exchanged"
        )
    return ItemScores(own[0], own[1], worth, lead, rule)


def _undefined(measure: Measure, addends: Floats) -> NDArray[np.bool_]:
    """Where a measure of one item is 0 / 0, or has no logarithm."""
    if isinstance(measure, MeanOfRatios):
        hits, rest = addends[:, 0::2], addends[:, 1::2]
        return np.asarray(((hits + rest if measure.whole else rest) == 0).any(axis=1))
    if isinstance(measure, Matthews):
        tp, fp, fn, tn = addends.T
        return np.asarray((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn) == 0)
    if isinstance(measure, Bleu):
        return np.asarray((addends[:, :4] == 0).any(axis=1))
    return np.zeros(len(addends), dtype=np.bool_)


def most_different(pairs: Pairs, scores: ItemScores, size: int) -> tuple[ItemDifference, ...]:
    """The items on which two systems differ most, in descending order.

    Parameters
    ----------
    pairs : Pairs
    scores : ItemScores
    size : int
        How many at most; items without a difference are left out.

    Returns
    -------
    tuple of ItemDifference
    """
    order = np.argsort(-np.abs(scores.worth), kind="stable")[:size]
    share = len(pairs) if pairs.columns else 1
    return tuple(
        ItemDifference(
            pairs.ids[i] if pairs.ids is not None else f"item {i + 1}",
            _known(scores.a[i]),
            _known(scores.b[i]),
            float(scores.worth[i] / share),
        )
        for i in order.tolist()
        if scores.worth[i] != 0
    )


def _known(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


# ---- names -------------------------------------------------------------------------------------


def legible(text: str, width: int = ID) -> str:
    r"""A name or id from a file as one line of moderate length, all of which can be seen.

    Parameters
    ----------
    text : str
    width : int, default 60
        Letters at most; of a longer text the middle is left out.

    Returns
    -------
    str
        Blanks of all kinds are blanks, and what cannot be seen (control characters, marks that
        turn the direction of writing, halves of characters) stands as U+FFFD.

    Examples
    --------
    >>> from permtest.study.overview_items import legible
    >>> legible("two\nlines"), legible("0123456789", 7)
    ('two lines', '0123…89')
    """
    if len(text) > width:
        tail = (width - 1) // 3
        text = f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"
    return "".join(map(_seen, text)).strip() or "(blank)"


def _seen(letter: str) -> str:
    kind = category(letter)
    if letter.isspace() or kind[0] == "Z":
        return " "
    return "\N{REPLACEMENT CHARACTER}" if kind[0] == "C" else letter


def legible_names(names: tuple[str, str], width: int = NAME) -> tuple[str, str]:
    """Legible names of two systems, which differ."""
    a, b = (legible(name, width) for name in names)
    return (a, b) if a != b else (f"{a} (A)", f"{b} (B)")
