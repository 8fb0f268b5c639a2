"""What people pass: the scores of systems on the same items, as integers over one scale.

Scores come as lists, arrays of any dtype, or pandas or polars columns. They leave this module as
integer arrays of one length whose arithmetic cannot wrap around, with what the items are called,
which of them are swapped together, and what was declared of the score. Everything else in the
package takes `Scores`, or makes them of its arguments at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._checks import ScoreError
from permtest.integers import (
    IntArray,
    as_counts,
    exact_sum,
    in_common_units,
    is_missing,
    is_unordered,
    plain_array,
    roomy,
    unscaled,
    with_room,
)


class Runs(NamedTuple):
    """The runs of one system: scores, item after item, times `scale`; and how many each item has.

    Runs of one label are of one run over all items; without labels, those of one place are.
    """

    scores: IntArray
    sizes: NDArray[np.intp]
    labels: tuple[str, ...] | None = None
    scale: int = 1

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """The sum over the runs of each item."""
        starts = np.cumsum(self.sizes) - self.sizes
        return np.add.reduceat(values, starts) if values.size else values

    @property
    def totals(self) -> IntArray:
        """The sum of the scores of each item."""
        return self.sums(with_room(self.scores, int(self.sizes.max(initial=1))))

    def place(self, run: int) -> tuple[int, int]:
        """To which item a run belongs, and which of its runs it is."""
        item = int(np.searchsorted(np.cumsum(self.sizes), run, side="right"))
        return item, run - int(self.sizes[:item].sum())


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of two or more systems on the same N items, in the same order.

    Build them with `Scores.of`, `of_columns`, `of_counts` or `of_runs`, or read them from files
    with `permtest.read`. Every test takes them in place of `u` and `v`.

    Parameters
    ----------
    arrays : sequence of S integer arrays of shape (N,), or (N, c), or (N, classes, c)
        Scores of each system, times `scale`: int64, or Python integers where those are too small.
        Of more than one dimension where an item has several counts, such as true positives.
    systems : tuple of S str
        What the systems are called in sentences, tables and pictures.
    scale : int, default 1
        By what the integers have to be divided: 100 for scores with two decimals.
    columns : tuple of str
        Names of the c counts; empty where there is one score an item.
    ids : tuple of N str, or None
        What the items are called; None where they have an order only.
    clusters : tuple of N labels, or None
        What each item belongs to, such as its document. Tests swap whole clusters then.
    tolerance : ndarray of shape (S, N), or None
        By how much each score may be off, in scores; None if none is.
    reading : str
        What floats were taken for, where that is not the decimals that they are printed as.
    score : str
        What the scores are called; empty if nobody says.
    higher_is_better : bool or None
        As declared; None if nobody said so. Names are not understood: a loss is higher or lower.
    runs : tuple of S Runs, or None
        The runs of each system, where scores are means over runs of an item.
    source : mapping
        Where the scores come from, as the reader recorded it.

    Examples
    --------
    >>> from permtest import Scores, exact_perm_test
    >>> scores = Scores.of([0.3, 0.5], [0.2, 0.7], ("new", "old"))
    >>> scores.u.tolist(), scores.scale
    ([3, 5], 10)
    >>> exact_perm_test(scores).statistic
    -0.1
    >>> print(scores)
    new against old, 2 items paired by their order
    """

    arrays: Sequence[IntArray]
    systems: tuple[str, ...] = ("u", "v")
    scale: int = 1
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = field(default=None, repr=False)
    clusters: tuple[Any, ...] | None = field(default=None, repr=False)
    tolerance: NDArray[np.float64] | None = field(default=None, repr=False)
    reading: str = field(default="", repr=False)
    score: str = ""
    higher_is_better: bool | None = None
    runs: tuple[Runs, ...] | None = field(default=None, repr=False)
    source: Mapping[str, Any] = field(default_factory=dict, repr=False)

    # ---- making them -----------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        u: Any,
        v: Any,
        names: tuple[str, str] | None = None,
        *,
        labels: tuple[str, str] = ("u", "v"),
        **fields: Any,
    ) -> Scores:
        """Validate two columns of scores.

        Parameters
        ----------
        u, v : array_like of shape (N,)
            Numbers: a sequence, an array of any integer, boolean or float dtype, or a pandas or
            polars column. A float stands for the decimal that it is printed as, if that is short,
            else for the first fraction with a denominator up to 20 000 within four units in the
            last place, such as 1234/3000 for a mean of three. What is left is a floating-point
            number, and `tolerance` says by how much it may be off. `Decimal`, `Fraction` and texts
            that are numbers are taken as they are.
        names : tuple of two str, optional
            Default: the names of the columns if they carry any, else the `labels`.
        labels : tuple of two str
            How error messages call `u` and `v`.
        **fields
            Other fields, such as `score` and `higher_is_better`.

        Returns
        -------
        Scores

        Raises
        ------
        TypeError
            If `u` or `v` is not a one-dimensional sequence of numbers.
        ValueError
            If a value is missing or infinite, if the lengths differ, or if two pandas columns
            carry different indexes.
        """
        if v is None:
            a, b = labels
            raise TypeError(
                f"{b} is missing: pass the scores of both systems, {a} and {b}, such as two "
                "columns frame['a'] and frame['b']"
            )
        names = check_names(names or names_of(u, v, labels))
        return cls._of_arrays([u, v], labels, systems=names, **fields)

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any], **fields: Any) -> Scores:
        """Validate a column of scores for each of two or more systems, as `of` does.

        Parameters
        ----------
        columns : mapping of str to array_like of shape (N,)
        **fields
            Other fields.

        Returns
        -------
        Scores
        """
        labels = [f"scores[{name!r}]" for name in columns]
        return cls._of_arrays(list(columns.values()), labels, systems=tuple(columns), **fields)

    @classmethod
    def of_counts(
        cls,
        tables: Mapping[str, Any],
        layouts: Sequence[tuple[str, ...]],
        *,
        classes: bool = False,
        labels: Sequence[str] = (),
        **fields: Any,
    ) -> Scores:
        """Validate a table of counts for each of two or more systems.

        Parameters
        ----------
        tables : mapping of str to array_like of shape (N, c), or (N, classes, c)
            Whole numbers, none below 0. A data frame, or a mapping of names to columns, must have
            all columns of one of the layouts; others in it are left alone.
        layouts : sequence of tuple of str
            The sets of columns that will do.
        classes : bool, default False
            Whether there are counts for each of several classes.
        labels : sequence of str, optional
            How error messages call the tables.
        **fields
            Other fields.

        Returns
        -------
        Scores

        Raises
        ------
        TypeError, ValueError
            If something is not a whole number, negative or missing, if the shapes differ, or if
            columns are missing.
        """
        labels = labels or [f"scores[{name!r}]" for name in tables]
        head, found = next(iter(tables.values())), []
        for label, values in zip(labels, tables.values(), strict=True):
            check_aligned(head, values, (labels[0], label))
            table = _table(values, layouts, label)
            if table.ndim != 2 + classes or table.shape[-1] not in map(len, layouts):
                lead = "N, classes" if classes else "N"
                sets = " or ".join(f"{len(c)} ({', '.join(c)})" for c in layouts)
                raise ValueError(
                    f"{label} has shape {table.shape}, but this statistic needs counts of shape "
                    f"({lead}, columns), with columns {sets}"
                )
            found.append(as_counts(table, label))
            if found[0].shape != table.shape:
                raise ValueError(
                    f"{labels[0]} has shape {found[0].shape} and {label} {table.shape}; a paired "
                    "test needs the counts of all systems on the same items, in the same columns"
                )
        chosen = next(c for c in layouts if len(c) == found[0].shape[-1])
        return cls(found, tuple(tables), columns=tuple(chosen), **fields)

    @classmethod
    def of_runs(cls, runs: Mapping[str, Any], **fields: Any) -> Scores:
        """Validate repeated runs of each of two or more systems; scores are their means.

        Parameters
        ----------
        runs : mapping of str to array_like of shape (N, K), to list of N sequences, or to Runs
            The scores of the runs of each item; items may have different numbers of them.
        **fields
            Other fields.

        Returns
        -------
        Scores
            With `runs`, all of one scale.

        Raises
        ------
        TypeError, ValueError
            As in `of`, or if an item has no runs, or systems have different numbers of items.
        """
        runs_of = {name: _runs(values, name) for name, values in runs.items()}
        given, head = list(runs_of.values()), next(iter(runs))
        for name, one in runs_of.items():
            check_length(given[0].sizes, one.sizes, (head, name))
        try:
            exact = in_common_units([one.scores for one in given], list(runs))
        except ScoreError as error:
            raise error.at(runs_of[error.argument].place(error.index[0])) from None
        if exact.tolerance is not None:
            raise ValueError(
                "scores of runs are floating-point numbers whose rounding can decide ties; round "
                "them to some decimals first"
            )
        both = zip(given, exact.columns, strict=True)
        found = tuple(one._replace(scores=x, scale=exact.scale) for one, x in both)
        most, means = lcm(*{size for one in found for size in one.sizes.tolist()}), []
        for one in found:
            factors = most // one.sizes
            means.append(with_room(one.totals, int(factors.max(initial=1))) * factors)
        scale, reading = exact.scale * most, exact.reading
        return cls(means, tuple(runs), scale, runs=found, reading=reading, **fields)

    @classmethod
    def _of_arrays(cls, arrays: list[Any], labels: Sequence[str], **fields: Any) -> Scores:
        for label, other in zip(labels[1:], arrays[1:], strict=True):
            check_aligned(arrays[0], other, (labels[0], label))
        exact = in_common_units(arrays, labels)
        for label, column in zip(labels[1:], exact.columns[1:], strict=True):
            check_length(exact.columns[0], column, (labels[0], label))
        off = None if exact.tolerance is None else np.stack(exact.tolerance)
        how: dict[str, Any] = {"scale": exact.scale, "tolerance": off, "reading": exact.reading}
        return cls(exact.columns, **how | fields)

    def __post_init__(self) -> None:
        names, arrays = self.systems, tuple(self.arrays)
        object.__setattr__(self, "arrays", arrays)
        if len(names) < 2 or len(set(names)) < len(names) or len(names) != len(arrays):
            raise ValueError(f"systems={names!r} must be two or more different names, one for each")
        for name in ("ids", "clusters"):
            labels = getattr(self, name)
            if labels is not None and len(labels) != len(self):
                raise ValueError(f"{name} has {len(labels)} entries for {len(self)} items")

    # ---- what they are ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __str__(self) -> str:
        number = len(set(self.clusters or ()))
        inside = f" in {number} clusters" * (number > 0)
        by = self.source.get("paired_by", "their order" if self.ids is None else "their ids")
        names = " against ".join(self.systems[:2]) if self.n_systems == 2 else ""
        names = names or f"{self.n_systems} systems"
        return f"{names}, {len(self)} items{inside} paired by {by}"

    @property
    def n_systems(self) -> int:
        """S, the number of systems."""
        return len(self.systems)

    @cached_property
    def values(self) -> IntArray:
        """The integers of all systems in one array, the systems first; read-only."""
        values = np.stack(self.arrays)
        values.flags.writeable = False
        return values

    @property
    def u(self) -> IntArray:
        """The integers of the first system."""
        return self.arrays[0]

    @property
    def v(self) -> IntArray:
        """The integers of the second system."""
        return self.arrays[1]

    @property
    def names(self) -> tuple[str, str]:
        """What the first two systems are called."""
        return self.systems[0], self.systems[1]

    @property
    def is_binary(self) -> bool:
        """Whether every item has one score of each system, which is 0 or 1."""
        if self.columns or self.tolerance is not None or not len(self):
            return False
        return all(bool(((x == 0) | (x == self.scale)).all()) for x in self.arrays)

    @property
    def means(self) -> tuple[Fraction, ...]:
        """The mean score of each system; 0 of no items."""
        whole = self.scale * max(len(self), 1)
        return tuple(Fraction(exact_sum(x), whole) for x in self.arrays)

    def in_scores(self, total: int) -> float:
        """A sum of the integers as a sum of scores: divided by `scale`."""
        return unscaled(total, self.scale)

    def differences(self) -> IntArray:
        """Scores of the first system less those of the second, times `scale`."""
        return roomy(self.u) - roomy(self.v)

    @property
    def sum_tolerance(self) -> int:
        """By how much a sum of differences may be off, relative to another, times `scale`."""
        if self.tolerance is None:
            return 0
        return ceil(2 * Fraction(float(self.tolerance.sum()) * (1 + 1e-12)) * self.scale)

    # ---- others made of them ---------------------------------------------------------------------

    def pair(self, i: int, j: int) -> Scores:
        """Two of the systems."""
        pick = i, j
        return replace(
            self,
            arrays=[self.arrays[k] for k in pick],
            systems=tuple(self.systems[k] for k in pick),
            tolerance=None if self.tolerance is None else self.tolerance[[i, j]],
            runs=None if self.runs is None else tuple(self.runs[k] for k in pick),
        )

    def clustered(self, clusters: Any) -> Scores:
        """The same with clusters, one label for each item; unchanged where they are None."""
        if clusters is None:
            return self
        cluster_numbers(clusters, len(self))
        labels = clusters.tolist() if hasattr(clusters, "tolist") else clusters
        return replace(self, clusters=tuple(labels))

    @cached_property
    def units(self) -> Scores:
        """What tests swap as a whole: sums of clusters, in the order in which they first occur."""
        if self.clusters is None:
            return self
        labels = cluster_numbers(self.clusters, len(self))
        off = self.tolerance
        return replace(
            self,
            arrays=[add_up(x, labels) for x in self.arrays],
            tolerance=None if off is None else np.stack([add_up(x, labels) for x in off]),
            ids=tuple(map(str, dict.fromkeys(self.clusters))),
            clusters=None,
            runs=None,
        )

    def by_cluster(self) -> Scores:
        """One item for each cluster: the sums of its items, called by its label.

        Raises ValueError if there are no clusters.
        """
        if self.clusters is None:
            raise ValueError("these scores have no clusters; read them with clusters=, or set them")
        return self.units


# ---- clusters ------------------------------------------------------------------------------------


def check_unclustered(scores: Any) -> None:
    """Refuse clusters where a test takes items by themselves."""
    if isinstance(scores, Scores) and scores.clusters is not None:
        raise ValueError(
            "these scores have clusters, but this test treats items separately; test "
            "scores.by_cluster(), the sums of whole clusters"
        )


def cluster_numbers(clusters: Any, n: int, name: str = "clusters") -> NDArray[np.intp]:
    """The number of the cluster that each item belongs to, counted as they first occur."""
    if is_unordered(clusters) or getattr(clusters, "ndim", 1) != 1:
        raise TypeError(f"{name} must be one label for each entry, not {clusters!r}")
    labels = clusters.tolist() if hasattr(clusters, "tolist") else list(clusters)
    if len(labels) != n:
        raise ValueError(f"{name} has {len(labels)} labels for {n} entries; give one for each")
    numbers: dict[Any, int] = {}
    for i, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(f"{name}[{i}] = {label} is missing; say where entry {i} belongs")
        try:
            numbers.setdefault(label, len(numbers))
        except TypeError:
            raise TypeError(f"{name}[{i}] = {label!r} is not a number or a string") from None
    return np.array([numbers[label] for label in labels], dtype=np.intp)


def add_up(scores: IntArray, labels: NDArray[np.intp]) -> IntArray:
    """Sums over the items of each cluster, as wide integers where int64 could overflow."""
    if scores.dtype.kind != "f":
        scores = with_room(scores, max(len(scores), 1))
    totals = np.zeros((int(labels.max(initial=-1)) + 1, *scores.shape[1:]), dtype=scores.dtype)
    np.add.at(totals, labels, scores)
    return totals


# ---- arguments -----------------------------------------------------------------------------------


def _table(values: Any, layouts: Sequence[tuple[str, ...]], name: str) -> NDArray[Any]:
    """An array of counts; the columns of a frame or a mapping are chosen by their names."""
    labels = list(values.keys()) if hasattr(values, "keys") else getattr(values, "columns", None)
    if labels is None:
        if is_unordered(values):
            raise TypeError(f"{name} must be a table of counts, not {type(values).__name__}")
        return plain_array(values if hasattr(values, "__len__") else list(values), name, "a table")
    wanted = next((some for some in layouts if set(some) <= set(labels)), None)
    if wanted is None:
        sets = " or ".join(f"({', '.join(c)})" for c in layouts)
        raise ValueError(
            f"{name} has the columns {list(labels)}, but this statistic needs {sets}; rename them, "
            f"or pass {name}.to_numpy() with columns in this order"
        )
    chosen = [plain_array(values[c], f"{name}[{c!r}]") for c in wanted]
    for c, column in zip(wanted, chosen, strict=True):
        check_length(chosen[0], column, (f"{name}[{wanted[0]!r}]", f"{name}[{c!r}]"))
    if len({column.dtype.kind for column in chosen}) > 1:  # no number becomes one of another kind
        chosen = [column.astype(object) for column in chosen]
    return np.stack(chosen, axis=-1)


def _runs(values: Any, name: str) -> Runs:
    """The runs of one system, with their scores as they are given."""
    if isinstance(values, Runs):
        return values
    if is_unordered(values):
        kind = type(values).__name__
        raise TypeError(f"{name} must be an array of (items, runs), or a list of runs, not {kind}")
    scores: Any = []
    if getattr(values, "ndim", None) == 2 or hasattr(values, "columns"):
        table = plain_array(values, name, "a table of runs")
        scores, sizes = table.ravel(), [table.shape[1]] * len(table)
    else:
        rows = [plain_array(row, f"{name}[{i}]") for i, row in enumerate(values)]
        sizes = [row.size if row.ndim == 1 else 0 for row in rows]
        scores = [x for row in rows for x in row.tolist()] if all(sizes) else []
    if 0 in sizes:
        where = f"{name}[{sizes.index(0)}]"
        raise ValueError(f"{where} is no list of runs, or has none; leave it out of all systems")
    return Runs(scores, np.array(sizes, dtype=np.intp))


def check_length(first: Collection[Any], other: Collection[Any], labels: tuple[str, str]) -> None:
    """Refuse columns of different lengths."""
    if len(first) != len(other):
        a, b = labels
        raise ValueError(
            f"{a} has {len(first)} entries and {b} has {len(other)}: a paired test needs the "
            "scores of all systems on the same items; align them by item first"
        )


def check_aligned(u: Any, v: Any, labels: tuple[str, str] = ("u", "v")) -> None:
    """Refuse two pandas columns whose indexes say that the rows are different items."""
    first: Any = getattr(u, "index", None)
    second: Any = getattr(v, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals") and len(u) == len(v)):
        return  # a list's .index is something else
    if not first.equals(second):
        a, b = labels
        row = next(i for i, (x, y) in enumerate(zip(first, second, strict=True)) if x != y)
        raise ValueError(
            f"{a} and {b} have different indexes (row {row}: {first[row]} and {second[row]}), so "
            f"their rows are not the same items; align them, for example with {a}.align({b}, "
            f"join='inner'), or pass {a}.to_numpy() and {b}.to_numpy() to pair by order"
        )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return two different names as they are, or say what is wrong with them."""
    two = isinstance(names, tuple | list) and all(isinstance(x, str) for x in names)
    if not two or len({*names}) != 2 or len(names) != 2:
        raise ValueError(f"names={names!r} must be two strings that differ")
    return names[0], names[1]


def names_of(u: Any, v: Any, labels: tuple[str, str] = ("u", "v")) -> tuple[str, str]:
    """Names of the columns where they carry any that differ."""
    first, second = getattr(u, "name", None), getattr(v, "name", None)
    a = first if isinstance(first, str) and first else labels[0]
    b = second if isinstance(second, str) and second else labels[1]
    return (a, b) if a != b else labels
