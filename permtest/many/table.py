"""The scores of many systems on the same items, validated once for all comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, exact_sum, with_room
from permtest.decimals import in_common_units
from permtest.many.columns import at, columns_of, flat, is_single, labels_of
from permtest.measures import Exact, Measure
from permtest.pairs import Pairs, add_up, cluster_numbers
from permtest.score import Score
from permtest.statistics import CountStatistic, Statistic, lookup


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The scores of S systems on the same N items, in the same order.

    Build it with `ScoreTable.of`, or read it from files with `permtest.read_many`.

    Parameters
    ----------
    systems : tuple of S str
        What they are called.
    scores : ndarray of shape (S, N), or (S, N, c), or (S, N, classes, c)
        Scores times `scale`: int64, or Python integers where those are too small. Of more than
        two dimensions where an item has several counts, such as true positives.
    statistic : Statistic or CountStatistic
        What is compared.
    scale : int, default 1
        By what the integers have to be divided to be scores.
    clusters : tuple of N str, or None
        What each item belongs to. Tests swap whole clusters then.
    ids : tuple of N str, or None
        What the items are called.
    source : dict, optional
        Where the scores come from, as the reader recorded it.
    rounding : ndarray of shape (S, N), or None
        By how much each score may be off, in scores; None if none is.
    reading : str
        What floats were taken for, where that is not the decimals that they are printed as.
    score : Score
        What the scores are called, their unit, and whether higher is better.

    Examples
    --------
    >>> from permtest import ScoreTable, compare_many
    >>> table = ScoreTable.of({"new": [1, 1, 1, 0], "old": [0, 1, 0, 0]}, statistic="mean")
    >>> table.systems, table.n_items
    (('new', 'old'), 4)
    >>> compare_many(table).values
    array([[0.75, 0.25]])
    """

    systems: tuple[str, ...]
    scores: IntArray
    statistic: Statistic | CountStatistic
    scale: int = 1
    clusters: tuple[Any, ...] | None = field(default=None, repr=False)
    ids: tuple[str, ...] | None = field(default=None, repr=False)
    source: dict[str, Any] = field(default_factory=dict, repr=False)
    rounding: NDArray[np.float64] | None = field(default=None, repr=False)
    reading: str = field(default="", repr=False)
    score: Score = field(default=Score(), repr=False)

    def __post_init__(self) -> None:
        names, scores = self.systems, np.asarray(self.scores)
        if len(names) < 2 or len(set(names)) != len(names):
            raise ValueError(f"systems={names!r} must be two or more names that differ")
        if scores.ndim < 2 or len(scores) != len(names) or scores.dtype.kind not in "iO":
            raise ValueError(
                f"scores of shape {scores.shape} and dtype {scores.dtype} must be integers, a row "
                f"for each of {len(names)} systems; ScoreTable.of makes them of anything else"
            )
        if scores.flags.writeable:  # a later change would change results
            scores = np.array(scores, order="C")
            scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        statistic: str | Statistic | CountStatistic = "mean",
        systems: Sequence[str] | None = None,
        clusters: Any = None,
        strata: Any = None,
        name: str = "table",
    ) -> ScoreTable:
        """Validate a table.

        Parameters
        ----------
        table : data frame, or mapping of str to array_like
            A column for each system, of N scores; for counts an array of shape (N, c).
        statistic : str, or what `statistic` returns, default "mean"
            As in `exact_perm_test`.
        systems : sequence of str, optional
            Which columns are systems. Default: all but those that `clusters` and `strata` name.
        clusters : str, or array_like of shape (N,), optional
            What each item belongs to, such as its document: a column, or labels.
        strata : str, or array_like of shape (N,), optional
            Groups of items that count alike, however many items they have: the statistic becomes
            the mean over the strata of their means. Only for "mean".
        name : str
            How error messages call `table`.

        Returns
        -------
        ScoreTable

        Raises
        ------
        TypeError, ValueError
            If there are fewer than two systems, a score is missing or none that the statistic can
            have, or columns differ in length; the message names system, row and value.
        """
        entry = lookup(statistic)
        labels = {"clusters": clusters, "strata": strata}
        named = [x for x in labels.values() if isinstance(x, str)]
        columns = columns_of(table, systems, named, name)
        head = next(iter(columns.items()))
        clusters, strata = (labels_of(table, x, key, name, head) for key, x in labels.items())
        if isinstance(entry, CountStatistic):
            found = _of_counts(columns, entry, name)
        else:
            found = _of_scores(columns, entry, name)
        if found.n_items == 0:
            raise ValueError(f"{name} has no items; a comparison needs one at least")
        if clusters is not None:
            cluster_numbers(clusters, found.n_items)
            found = replace(found, clusters=tuple(np.asarray(clusters, dtype=object).tolist()))
        return found if strata is None else found.stratified(strata)

    @property
    def n_items(self) -> int:
        """N, the number of items."""
        return int(self.scores.shape[1])

    @cached_property
    def compared(self) -> Score:
        """What is compared: the `score`, with the direction of the statistic if that has one."""
        if isinstance(self.statistic, CountStatistic):
            return self.score.known(self.statistic.name, "", not self.statistic.ascending)
        return self.statistic.score(self.score, self.scale, self.scores.min(initial=0), self.scores)

    @cached_property
    def spread(self) -> int:
        """The largest difference between two systems on an item, or a cluster."""
        scores = self.folded.scores
        return int((scores.max(axis=0) - scores.min(axis=0)).max()) if scores.size else 0

    @cached_property
    def folded(self) -> ScoreTable:
        """The sums of whole clusters; the table itself where there are none."""
        if self.clusters is None:
            return self
        numbers = cluster_numbers(self.clusters, self.n_items)
        scores = np.stack([add_up(row, numbers) for row in self.scores])
        off = None if self.rounding is None else [add_up(row, numbers) for row in self.rounding]
        rounding = None if off is None else np.stack(off)
        return replace(self, scores=scores, clusters=None, ids=None, rounding=rounding)

    def stratified(self, strata: Any) -> ScoreTable:
        """The table whose mean is the mean over strata of their means.

        Parameters
        ----------
        strata : array_like of shape (N,)

        Returns
        -------
        ScoreTable
            Of scores that are weighted, so that each stratum counts alike.
        """
        if self.statistic.name != "mean":
            raise ValueError(
                f"strata are averaged, which statistic={self.statistic.name!r} is not made for; "
                "use statistic='mean'"
            )
        numbers = cluster_numbers(strata, self.n_items, "strata")
        sizes = np.bincount(numbers)
        weights = [Fraction(self.n_items, sizes.size * size) for size in sizes.tolist()]
        return self._weighted([weights[k] for k in numbers.tolist()])

    def _weighted(self, weights: Sequence[Fraction]) -> ScoreTable:
        """All scores of an item times its weight."""
        common = lcm(*{weight.denominator for weight in weights})
        whole = [int(weight * common) for weight in weights]
        shared = gcd(common, *set(whole))
        factors = np.array([x // shared for x in whole], dtype=object)
        scores = with_room(self.scores, max(factors.tolist(), default=1))
        if scores.dtype != object:
            factors = factors.astype(np.int64)
        rounding = None
        if self.rounding is not None:
            rounding = self.rounding * np.array([float(weight) for weight in weights])
        scale = self.scale * (common // shared)
        return replace(self, scores=scores * factors, scale=scale, rounding=rounding)

    @classmethod
    def joined(cls, tables: Sequence[ScoreTable]) -> ScoreTable:
        """All items of several tables in one.

        Parameters
        ----------
        tables : sequence of ScoreTable
            Of the same systems and statistic.

        Returns
        -------
        ScoreTable
            For "mean", every table counts alike, however many items it has: the statistic is the
            mean of their means. Others are of the sums of all items. Clusters of different tables
            are different.
        """
        average = getattr(tables[0].statistic, "average", None)
        if average is not None:
            raise ValueError(
                f"statistic={tables[0].statistic.name!r} is of classes, which may be others in "
                "each data set; put all items into one table, with counts for every class"
            )
        for k, table in enumerate(tables):
            shape, other = table.scores.shape[2:], tables[0].scores.shape[2:]
            if shape != other:
                raise ValueError(
                    f"data set {k + 1} has counts of shape {shape} for each item, but the first "
                    f"{other}; give all data sets the same columns"
                )
        scale = lcm(*(table.scale for table in tables))
        parts = [with_room(x.scores, scale // x.scale) * (scale // x.scale) for x in tables]
        labels = [
            (k, i if table.clusters is None else ("cluster", table.clusters[i]))
            for k, table in enumerate(tables)
            for i in range(table.n_items)
        ]
        clustered = any(table.clusters is not None for table in tables)
        off = [np.zeros(x.scores.shape[:2]) if x.rounding is None else x.rounding for x in tables]
        found = replace(
            tables[0],
            scores=np.concatenate(parts, axis=1),
            scale=scale,
            clusters=tuple(labels) if clustered else None,
            ids=None,
            source={},
            rounding=None if all(x.rounding is None for x in tables) else np.concatenate(off, 1),
            reading="; ".join(dict.fromkeys(x.reading for x in tables if x.reading)),
        )
        if found.statistic.name != "mean":
            return found
        return found.stratified(np.repeat(np.arange(len(tables)), [x.n_items for x in tables]))

    def pairs(self, i: int, j: int) -> Pairs:
        """Two systems, as `exact_perm_test` takes them."""
        counts = isinstance(self.statistic, CountStatistic)
        columns = self._layout.columns if counts else ()
        return Pairs(
            self.scores[i],
            self.scores[j],
            (self.systems[i], self.systems[j]),
            scale=self.scale,
            columns=columns,
            ids=self.ids,
            clusters=self.clusters,
            source=self.source,
            rounding=None if self.rounding is None else self.rounding[[i, j]],
            reading=self.reading,
            score=self.score,
        )

    @property
    def _layout(self) -> Measure:
        """The measure that has columns such as the counts."""
        assert isinstance(self.statistic, CountStatistic)
        width = self.scores.shape[-1]
        return next(m for m in self.statistic.measures if len(m.columns) == width)

    @cached_property
    def exact_values(self) -> tuple[Exact, ...]:
        """The statistic of each system: fractions, or decimals of 60 digits."""
        if isinstance(self.statistic, Statistic):
            mean = self.statistic.name == "mean"
            whole = self.scale * (max(self.n_items, 1) if mean else 1)
            return tuple(Fraction(exact_sum(row), whole) for row in self.scores)
        found = []
        for i in range(len(self.systems)):
            measure, addends, _ = self.statistic.measure(self.pairs(i, i - 1))
            found.append(measure.exact([exact_sum(column) for column in addends.T]))
        return tuple(found)


def _of_scores(columns: Mapping[str, Any], entry: Statistic, name: str) -> ScoreTable:
    labels = [at(name, label) for label in columns]
    raw = [flat(x, label) for x, label in zip(columns.values(), labels, strict=True)]
    found = in_common_units(raw, labels)
    scores, scale = np.stack(found.columns), found.scale
    for label, row in zip(columns, scores, strict=True):
        bad = entry.first_bad(row, scale)
        if bad is not None:
            score = Fraction(int(row[bad]), scale)
            shown = int(score) if score.denominator == 1 else float(score)
            raise ValueError(f"{at(name, label)}[{bad}] = {entry.problem(shown)}")
    rounding = None if found.rounding is None else np.stack(found.rounding)
    table = ScoreTable(tuple(columns), scores, entry, scale, score=Score.shared([*columns]))
    return replace(table, rounding=rounding, reading=found.reading)


def _of_counts(columns: Mapping[str, Any], entry: CountStatistic, name: str) -> ScoreTable:
    labels, tables = list(columns), list(columns.values())
    for label, column in columns.items():
        if is_single(column):
            raise ValueError(
                f"{at(name, label)} is one column, but {entry.name!r} needs counts for each item: "
                f"{entry.layouts()}; give arrays of shape (N, columns), or read columns such as "
                f"{label}_{entry.columns[0]} with permtest.read_many(frame, "
                f"statistic={entry.name!r})"
            )
    found = []
    for i, column in enumerate(tables):
        other = 1 if i == 0 else 0
        try:
            pairs = entry.pairs(column, tables[other], None)
            entry.measure(pairs)
        except (TypeError, ValueError) as error:
            u, v = at(name, labels[i]), at(name, labels[other])
            raise type(error)(f"{error} (u is {u}, v is {v})") from None
        found.append(pairs.u)
    return ScoreTable(tuple(columns), np.stack(found), entry)
