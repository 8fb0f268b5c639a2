"""The scores of many systems on the same items, validated once for all comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.integers import IntArray, exact_sum, in_common_units
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
    array([0.75, 0.25])
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
    ) -> ScoreTable:
        """Validate a table.

        Parameters
        ----------
        table : data frame, or mapping of str to array_like
            A column for each system, of N scores; for counts an array of shape (N, c).
        statistic, systems, clusters
            As in `compare_many`.

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
        columns = _columns(table, systems, clusters)
        found = (_of_counts if entry.columns else _of_scores)(columns, entry)
        if found.n_items == 0:
            raise ValueError("table has no items; a comparison needs one at least")
        if clusters is None:
            return found
        if isinstance(clusters, str):
            clusters = _column(table, clusters, f"clusters={clusters!r} is no column of table")
        first, head = next(iter(columns.items()))
        check_aligned(head, clusters, (f"table[{first!r}]", "clusters"))
        cluster_numbers(clusters, found.n_items)
        return replace(found, clusters=tuple(np.asarray(clusters, dtype=object).tolist()))

    @property
    def n_items(self) -> int:
        """N, the number of items."""
        return int(self.scores.shape[1])

    @cached_property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        scores = self.scores
        return not self.statistic.columns and bool(((scores == 0) | (scores == self.scale)).all())

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


def _columns(table: Any, systems: Sequence[str] | None, clusters: Any) -> dict[str, Any]:
    """The columns of the systems by their names."""
    if not hasattr(table, "keys") and not hasattr(table, "columns"):
        raise TypeError(
            "table must be a data frame with a column for each system, or a mapping of names to "
            f"scores, not {type(table).__name__}"
        )
    if isinstance(systems, str):
        raise TypeError(f"systems={systems!r} must be a list of names")
    there = _names(table)
    besides = [clusters] if isinstance(clusters, str) else []
    chosen = [x for x in there if x not in besides] if systems is None else list(systems)
    odd = [x for x in chosen if not NO_SYSTEM.isdisjoint(tokens(str(x)))]
    if systems is None and hasattr(table, "columns") and 0 < len(odd) < len(chosen):
        raise ValueError(
            f"table has a column {odd[0]!r}, which does not look like a system; name the "
            "systems (systems=[...]), or leave the column out"
        )
    found = {str(x): _column(table, x, f"table has no system {x!r}") for x in chosen}
    if len(found) != len(chosen) or len(set(there)) != len(there):
        raise ValueError("table has several systems with the same name; names must differ")
    if len(chosen) < 2:
        number = counted(len(chosen), "systems")
        raise ValueError(f"table has {number}, but a comparison needs two or more")
    return found


def _of_scores(columns: Mapping[str, Any], entry: Any) -> ScoreTable:
    labels = [f"table[{system!r}]" for system in columns]
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


def _of_counts(columns: Mapping[str, Any], entry: Any) -> ScoreTable:
    found, (first, second, *_) = [], columns
    for system, column in columns.items():
        other = second if system == first else first
        try:
            pairs = entry.pairs(column, columns[other], None)
            entry.measure(pairs)
        except (TypeError, ValueError) as error:
            names = f"u is table[{system!r}], v is table[{other!r}]"
            raise type(error)(f"{error} ({names})") from None
        found.append(pairs.u)
    return ScoreTable(tuple(columns), np.stack(found), entry)


def table_of(table: Any, *, statistic: Any, **options: Any) -> ScoreTable:
    """A `ScoreTable` as it is, or one of another table; options as in `compare_many`."""
    if not isinstance(table, ScoreTable):
        return ScoreTable.of(table, statistic=statistic or "mean", **options)
    given = [key for key, value in options.items() if value is not None]
    if statistic is not None and repr(lookup(statistic)) != repr(table.statistic):
        given.append("statistic")
    if given:
        raise ValueError(
            f"table is a ScoreTable, which has {' and '.join(given)} of its own; leave them out, "
            "or give them when the table is made"
        )
    return table
