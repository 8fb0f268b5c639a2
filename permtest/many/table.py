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

from permtest.integers import IntArray, exact_sum, in_common_units, with_room
from permtest.pairs import Pairs, add_up, check_aligned, cluster_numbers, runs_each
from permtest.score import Score, counted, tokens
from permtest.statistics import Statistic, lookup


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
    statistic : Statistic
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
    statistic: Statistic
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
        statistic: str | Statistic = "mean",
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
        statistic, systems, clusters, strata
            As in `compare_many`.
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
        columns = _columns(table, systems, [x for x in labels.values() if isinstance(x, str)], name)
        of_kind = _of_counts if entry.columns else _of_scores
        found = of_kind(columns, entry, name)
        if found.n_items == 0:
            raise ValueError(f"{name} has no items; a comparison needs one at least")
        first, head = next(iter(columns.items()))
        for key, given in labels.items():
            if isinstance(given, str):
                labels[key] = _column(table, given, f"{key}={given!r} is no column of {name}")
            check_aligned(head, labels[key], (f"{name}[{first!r}]", key))
        if clusters is not None:
            cluster_numbers(labels["clusters"], found.n_items)
            listed = np.asarray(labels["clusters"], dtype=object).tolist()
            found = replace(found, clusters=tuple(listed))
        return found if strata is None else found.stratified(labels["strata"])

    @property
    def n_items(self) -> int:
        """N, the number of items."""
        return int(self.scores.shape[1])

    @cached_property
    def runs_each(self) -> str:
        """As that of `Pairs`: how many runs items have, where entries are runs."""
        return runs_each(self.source, self.clusters)

    @cached_property
    def compared(self) -> Score:
        """What is compared: the `score`, with the direction of the statistic if that has one."""
        if self.statistic.columns:
            return self.score.known(self.statistic.name, "", not self.statistic.ascending)
        return self.statistic.score(self.score, self.scale, self.scores.min(initial=0), self.scores)

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
        """The table of weighted scores, whose mean is the mean over strata of their means."""
        if self.statistic.name != "mean":
            raise ValueError(
                f"strata are averaged, but statistic={self.statistic.name!r} cannot be; use "
                "statistic='mean'"
            )
        numbers = cluster_numbers(strata, self.n_items, "strata")
        sizes = np.bincount(numbers)
        weights = [Fraction(self.n_items, sizes.size * size) for size in sizes.tolist()]
        common = lcm(*(weight.denominator for weight in weights))
        whole = [int(weight * common) for weight in weights]
        shared = gcd(common, *whole)
        factors = np.array([x // shared for x in whole], dtype=object)[numbers]
        scores = with_room(self.scores, max(factors.tolist(), default=1))
        if scores.dtype != object:
            factors = factors.astype(np.int64)
        off = self.rounding
        if off is not None:
            off = off * np.array([float(weight) for weight in weights])[numbers]
        scale = self.scale * (common // shared)
        return replace(self, scores=scores * factors, scale=scale, rounding=off)

    @classmethod
    def joined(cls, tables: Sequence[ScoreTable]) -> ScoreTable:
        """All items of several tables of the same systems and statistic in one.

        For "mean", every table counts alike, however many items it has: the statistic is the mean
        of their means. Others are of the sums of all items. Clusters of different tables differ.
        """
        average = getattr(tables[0].statistic, "average", None)
        if average is not None:
            raise ValueError(
                f"statistic={tables[0].statistic.name!r} counts classes, which may differ "
                "between data sets; put all items into one table, with counts for every class"
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
        runs = all(table.runs_each for table in tables)
        off = [np.zeros(x.scores.shape[:2]) if x.rounding is None else x.rounding for x in tables]
        found = replace(
            tables[0],
            scores=np.concatenate(parts, axis=1),
            scale=scale,
            clusters=tuple(labels) if clustered else None,
            ids=None,
            source={"runs": True} if runs else {},
            rounding=None if all(x.rounding is None for x in tables) else np.concatenate(off, 1),
            reading="; ".join(dict.fromkeys(x.reading for x in tables if x.reading)),
        )
        if found.statistic.name != "mean":
            return found
        return found.stratified(np.repeat(np.arange(len(tables)), [x.n_items for x in tables]))

    def pairs(self, i: int, j: int) -> Pairs:
        """Two systems, as `exact_perm_test` takes them."""
        columns: tuple[str, ...] = ()
        if self.statistic.columns:
            layouts = [measure.columns for measure in self.statistic.measures]
            columns = next(x for x in layouts if len(x) == self.scores.shape[-1])
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

    @cached_property
    def exact_values(self) -> tuple[Fraction, ...]:
        """The statistic of each system."""
        if not self.statistic.columns:
            mean = self.statistic.name == "mean"
            whole = self.scale * (max(self.n_items, 1) if mean else 1)
            return tuple(Fraction(exact_sum(row), whole) for row in self.scores)
        found = []
        for i in range(len(self.systems)):
            measure, addends, _ = self.statistic.measure(self.pairs(i, i - 1))
            found.append(measure.exact([exact_sum(column) for column in addends.T]))
        return tuple(found)

    def effects(self, i: int, j: int) -> NDArray[np.float64]:
        """What each item, or cluster, adds to the difference of two systems, whose mean that is.

        Of measures such as F1 the pseudo-values of the jackknife; of sums the difference per item.
        """
        if not self.statistic.columns:
            gaps = (self.folded.scores[i] - self.folded.scores[j]).astype(np.float64)
            return np.asarray(gaps * (len(gaps) / self.n_items) / self.scale)
        measure, *both = self.statistic.measure(self.folded.pairs(i, j))
        values = []
        for addends in both:
            x, n = addends.astype(np.float64), len(addends)
            whole = x.sum(axis=0)
            values.append(n * measure.values(whole[None]) - (n - 1) * measure.values(whole - x))
        return np.asarray(values[0] - values[1])


# ---- the columns of a table --------------------------------------------------------------------


#: Words in names of columns that describe items or runs, and are no systems.
NO_SYSTEM = frozenset(["id", "item", "index", "cost", "latency", "duration", "tokens", "length"])


def _names(table: Any) -> list[Any]:
    return list(table.columns if hasattr(table, "columns") else table.keys())


def _column(table: Any, name: Any, problem: str) -> Any:
    if name not in (there := _names(table)):
        raise ValueError(f"{problem}; it has {', '.join(map(str, there))}")
    return table[name]


def _columns(
    table: Any, systems: Sequence[str] | None, besides: Sequence[str], name: str
) -> dict[str, Any]:
    """The columns of the systems by their names."""
    if not hasattr(table, "keys") and not hasattr(table, "columns"):
        raise TypeError(
            f"{name} must be a data frame with a column for each system, or a mapping of names to "
            f"scores, not {type(table).__name__}"
        )
    if isinstance(systems, str):
        raise TypeError(f"systems={systems!r} must be a list of names")
    there = _names(table)
    chosen = [x for x in there if x not in besides] if systems is None else list(systems)
    odd = [x for x in chosen if not NO_SYSTEM.isdisjoint(tokens(str(x)))]
    if systems is None and hasattr(table, "columns") and 0 < len(odd) < len(chosen):
        raise ValueError(
            f"{name} has a column {odd[0]!r}, which does not look like a system; name the "
            "systems (systems=[...]), or leave the column out"
        )
    found = {str(x): _column(table, x, f"{name} has no system {x!r}") for x in chosen}
    if len(found) != len(chosen) or len(set(there)) != len(there):
        raise ValueError(f"{name} has several systems with the same name; names must differ")
    if len(chosen) < 2:
        number = counted(len(chosen), "systems")
        raise ValueError(f"{name} has {number}, but a comparison needs two or more")
    return found


def _of_scores(columns: Mapping[str, Any], entry: Any, name: str) -> ScoreTable:
    labels = [f"{name}[{system!r}]" for system in columns]
    found = in_common_units(list(columns.values()), labels)
    head, scale = next(iter(columns.values())), found.scale
    for label, column, row in zip(labels, columns.values(), found.columns, strict=True):
        check_aligned(head, column, (labels[0], label))
        if row.size != found.columns[0].size:
            raise ValueError(
                f"{label} has {row.size} scores and {labels[0]} {found.columns[0].size}: all "
                "systems need scores on the same items in the same order; align them first"
            )
        entry.refuse(label, row, scale)
    return ScoreTable(
        tuple(columns),
        np.stack(found.columns),
        entry,
        scale,
        rounding=None if found.rounding is None else np.stack(found.rounding),
        reading=found.reading,
        score=Score.shared([*columns]),
    )


def _of_counts(columns: Mapping[str, Any], entry: Any, name: str) -> ScoreTable:
    found, (first, second, *_) = [], columns
    for system, column in columns.items():
        other = second if system == first else first
        try:
            pairs = entry.pairs(column, columns[other], None)
            entry.measure(pairs)
        except (TypeError, ValueError) as error:
            names = f"u is {name}[{system!r}], v is {name}[{other!r}]"
            raise type(error)(f"{error} ({names})") from None
        found.append(pairs.u)
    return ScoreTable(tuple(columns), np.stack(found), entry)


# ---- several data sets -------------------------------------------------------------------------


def tables_of(table: Any, *, statistic: Any, **options: Any) -> dict[str, ScoreTable]:
    """The table of each data set, "" being the name of one alone; options as in `compare_many`."""
    if not isinstance(table, Mapping) or not any(_is_table(x, statistic) for x in table.values()):
        return {"": _table(table, statistic, options, "table")}
    found: dict[str, ScoreTable] = {}
    for name, one in table.items():
        if not _is_table(one, statistic):
            kind = type(one).__name__
            raise TypeError(f"table[{name!r}] must be a table, as others are, not {kind}")
        found[str(name)] = _table(one, statistic, options, f"table[{name!r}]")
    _check_alike(found)
    return found


def _check_alike(tables: Mapping[str, ScoreTable]) -> None:
    """Refuse data sets that have other systems, or another statistic, than the first."""
    first, head = next(iter(tables.items()))
    for name, one in tables.items():
        if one.systems != head.systems:
            raise ValueError(
                f"data set {name!r} has the systems {', '.join(one.systems)}, but {first!r} "
                f"{', '.join(head.systems)}; choose the same ones in the same order: systems=[...]"
            )
        if repr(one.statistic) != repr(head.statistic):
            raise ValueError(
                f"data set {name!r} is compared by {one.statistic.name!r}, but {first!r} by "
                f"{head.statistic.name!r} or a variant of it; make all tables with one statistic"
            )


def _is_table(value: Any, statistic: Any) -> bool:
    """Whether it is a data set, and neither a column nor the counts of one system."""
    frame = hasattr(value, "columns") and getattr(value, "ndim", 2) == 2
    if not frame and not isinstance(value, Mapping):
        return isinstance(value, ScoreTable)
    measures = getattr(None if statistic is None else lookup(statistic), "measures", ())
    names = {str(x).lower() for x in _names(value)}
    return not any(set(measure.columns) <= names for measure in measures)


def _table(table: Any, statistic: Any, options: Mapping[str, Any], name: str) -> ScoreTable:
    if not isinstance(table, ScoreTable):
        return ScoreTable.of(table, statistic=statistic or "mean", name=name, **options)
    given = [key for key, value in options.items() if value is not None]
    if statistic is not None and repr(lookup(statistic)) != repr(table.statistic):
        given.append("statistic")
    if given:
        raise ValueError(
            f"{name} is a ScoreTable, which has {' and '.join(given)} of its own; leave them out, "
            "or give them when the table is made"
        )
    return table
