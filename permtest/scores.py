"""What people pass: the scores of systems on the same items, as integers over one scale.

Scores come as lists, arrays of any dtype, or pandas or polars columns. They leave this module as
integer arrays of one length whose arithmetic cannot wrap around. Everything else in the package
takes `Scores`, or makes them of its arguments at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest import integers
from permtest._errors import ScoreError
from permtest.integers import IntArray

#: The counts of an item, all three, or right and wrong ones.
COUNTS, TWO_COUNTS = ("tp", "fp", "fn"), ("tp", "incorrect")


class Runs(NamedTuple):
    """The runs of one system: scores, item after item, times `scale`; and how many each item has.

    Runs of one label are of one run over all items; without labels, those of one place are.
    """

    scores: IntArray
    sizes: NDArray[np.intp]
    labels: tuple[str, ...] | None = None
    scale: int = 1

    @property
    def totals(self) -> IntArray:
        """The sum of the scores of each item."""
        return add_up(self.scores, np.repeat(np.arange(self.sizes.size), self.sizes))


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
    tolerance : tuple of S float, or None
        By how much the sum of each system's scores may be off; None if none is.
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
    tolerance: tuple[float, ...] | None = field(default=None, repr=False)
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
        v: Any = None,
        names: tuple[str, str] | None = None,
        *,
        counts: bool = False,
        labels: tuple[str, str] = ("u", "v"),
        **fields: Any,
    ) -> Scores:
        """Validate two columns of scores; `Scores` of two systems pass, as `u` alone.

        Parameters
        ----------
        u, v : array_like of shape (N,)
            Numbers: a sequence, an array of any integer, boolean or float dtype, or a pandas or
            polars column. A float stands for the decimal that it is printed as, if that is short,
            else for the first fraction with a denominator up to 20 000 within some units in the
            last place of the largest score, such as 1234/3000 for a mean of three. What is left
            is a floating-point number, and `tolerance` says by how much sums may be off.
            `Decimal`, `Fraction` and texts that are numbers are taken as they are.
        names : tuple of two str, optional
            Default: the names of the columns if they carry any, else the `labels`.
        counts : bool, default False
            Whether `u` and `v` are tables as `of_counts` takes them.
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
        if isinstance(u, Scores):
            a, b = labels
            if v is not None:
                raise TypeError(f"{a} is Scores, which hold both systems; leave {b} out")
            if len(u.systems) != 2:
                how = f"choose two with {a}.pair(i, j), or use compare_many"
                raise ValueError(f"{a} has {len(u.systems)} systems; {how}")
            fields |= {"systems": check_names(names)} if names else {}
            return replace(u, **fields) if fields else u
        names = check_names(names) if names else names_of(u, v, labels)
        make = cls.of_counts if counts else cls.of_columns
        return make(dict(zip(names, (u, v), strict=True)), labels=labels, **fields)

    @classmethod
    def of_columns(
        cls, columns: Mapping[str, Any], *, labels: Sequence[str] = (), **fields: Any
    ) -> Scores:
        """Validate a column of scores for each of two or more systems, by name, as `of` does."""
        labels, given = labels or [f"scores[{x!r}]" for x in columns], list(columns.values())
        ready = True  # arrays of integers already, told without a call on the way to p
        for x in given:
            ready = ready and type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.int64
        if not ready:
            for label, x in zip(labels, given, strict=True):
                check_aligned(given[0], x, (labels[0], label))
            given, scale, off, reading = integers.in_common_units(given, labels)
            sums = None if off is None else tuple(float(x.sum()) for x in off)
            fields = {"scale": scale, "tolerance": sums, "reading": reading} | fields
        for label, x in zip(labels, given, strict=True):
            check_length(given[0], x, (labels[0], label))
        return cls(given, tuple(columns), **fields)

    @classmethod
    def of_counts(
        cls, tables: Mapping[str, Any], *, labels: Sequence[str] = (), **fields: Any
    ) -> Scores:
        """Validate a table of counts for each of two or more systems, by name.

        Tables have the shape (N, c), or (N, classes, c): whole numbers, none below 0, in three
        columns tp, fp and fn, or in two tp and incorrect. In a data frame, or a mapping of names
        to columns, they go by these names, and others are left alone. Which direction is better
        the measure says, unless `higher_is_better` does. Errors are those of `of`.
        """
        labels, given, found = labels or [f"scores[{x!r}]" for x in tables], [*tables.values()], []
        for label, values in zip(labels, given, strict=True):
            check_aligned(given[0], values, (labels[0], label))
            found.append(_counts(_table(values, label), label))
            if found[0].shape != found[-1].shape:
                raise ValueError(
                    f"{labels[0]} has shape {found[0].shape} and {label} {found[-1].shape}; count "
                    "all systems on the same items, in the same columns"
                )
        columns = COUNTS if found[0].shape[-1] == len(COUNTS) else TWO_COUNTS
        return cls(found, tuple(tables), columns=columns, **fields)

    @classmethod
    def of_runs(cls, runs: Mapping[str, Any], **fields: Any) -> Scores:
        """Validate repeated runs of each of two or more systems, by name; scores are their means.

        The runs of a system are an array of shape (N, K), a list of N sequences, as items may have
        different numbers of runs, or `Runs`. All get one scale. Errors are those of `of`; no item
        may be without runs, and no score a floating-point number that stands for no fraction.
        """
        given, head = {name: _runs(values, name) for name, values in runs.items()}, next(iter(runs))
        for name, one in given.items():
            check_length(given[head].sizes, one.sizes, (head, name))
        try:
            found, scale, off, reading = integers.in_common_units(
                [one.scores for one in given.values()], list(runs)
            )
        except ScoreError as error:
            sizes = given[error.argument].sizes
            item = np.repeat(np.arange(sizes.size), sizes)[error.index[0]]
            raise error.at((item, error.index[0] - sizes[:item].sum())) from None
        if off is not None:
            raise ValueError(
                "scores of runs are floating-point numbers whose rounding can decide ties; round "
                "them to some decimals first"
            )
        both = zip(given.values(), found, strict=True)
        known = tuple(one._replace(scores=x, scale=scale) for one, x in both)
        most, means = lcm(*{size for one in known for size in one.sizes.tolist()}), []
        for one in known:
            means.append(integers.with_room(one.totals, most) * (most // one.sizes))
        return cls(means, tuple(runs), scale * most, runs=known, reading=reading, **fields)

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
        inside = f" in {len(set(self.clusters))} clusters" if self.clusters else ""
        by = self.source.get("paired_by", "their order" if self.ids is None else "their ids")
        two = len(self.systems) == 2
        names = " against ".join(self.systems) if two else f"{len(self.systems)} systems"
        return f"{names}, {len(self)} items{inside} paired by {by}"

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
        return tuple(Fraction(integers.exact_sum(x), whole) for x in self.arrays)

    def differences(self) -> IntArray:
        """Scores of the first system less those of the second, times `scale`."""
        return integers.with_room(self.u) - integers.with_room(self.v)

    # ---- others made of them ---------------------------------------------------------------------

    def pair(self, i: int, j: int) -> Scores:
        """Two of the systems."""
        every = {x: getattr(self, x) for x in ("arrays", "systems", "tolerance", "runs")}
        some: dict[str, Any] = {x: y and (y[i], y[j]) for x, y in every.items()}
        return replace(self, **some)

    def clustered(self, clusters: Any) -> Scores:
        """The same with clusters, one label for each item; unchanged where they are None."""
        if clusters is None:
            return self
        cluster_numbers(clusters, len(self))
        return replace(self, clusters=tuple(getattr(clusters, "tolist", lambda: clusters)()))

    @cached_property
    def units(self) -> Scores:
        """What tests swap: the sums of clusters, as they first occur; the items if there are none.

        Clusters are called by their labels.
        """
        if self.clusters is None:
            return self
        labels = cluster_numbers(self.clusters, len(self))
        arrays, ids = [add_up(x, labels) for x in self.arrays], dict.fromkeys(self.clusters)
        return replace(self, arrays=arrays, ids=tuple(map(str, ids)), clusters=None, runs=None)


# ---- clusters ------------------------------------------------------------------------------------


def cluster_numbers(clusters: Any, n: int) -> NDArray[np.intp]:
    """The number of the cluster that each item belongs to, counted as they first occur."""
    if integers.is_unordered(clusters) or getattr(clusters, "ndim", 1) != 1:
        raise TypeError(f"clusters must be one label for each entry, not {clusters!r}")
    labels = clusters.tolist() if hasattr(clusters, "tolist") else list(clusters)
    if len(labels) != n:
        raise ValueError(f"clusters has {len(labels)} labels for {n} entries; give one for each")
    numbers: dict[Any, int] = {}
    for i, label in enumerate(labels):
        if integers.is_missing(label):
            raise ValueError(f"clusters[{i}] = {label} is missing; say where entry {i} belongs")
        try:
            numbers.setdefault(label, len(numbers))
        except TypeError:
            raise TypeError(f"clusters[{i}] = {label!r} is not a number or a string") from None
    return np.array([numbers[label] for label in labels], dtype=np.intp)


def add_up(scores: IntArray, labels: NDArray[np.intp]) -> IntArray:
    """Sums over the items of each cluster, as wide integers where int64 could overflow."""
    scores = integers.with_room(scores, max(len(scores), 1))
    totals = np.zeros((int(labels.max(initial=-1)) + 1, *scores.shape[1:]), dtype=scores.dtype)
    np.add.at(totals, labels, scores)
    return totals


# ---- arguments -----------------------------------------------------------------------------------


def _table(values: Any, name: str) -> NDArray[Any]:
    """An array of counts; the columns of a frame or a mapping are chosen by their names."""
    columns = list(values) if hasattr(values, "keys") else getattr(values, "columns", None)
    if columns is not None:
        wanted = next((some for some in (COUNTS, TWO_COUNTS) if {*some} <= {*columns}), None)
        if wanted is None:
            raise ValueError(
                f"{name} has the columns {[*columns]}, but counts are tp, fp, fn, or tp, "
                f"incorrect; rename them, or pass {name}.to_numpy() with columns in this order"
            )
        chosen = [integers.as_integers(values[x], f"{name}[{x!r}]") for x in wanted]
        return np.stack(chosen, axis=-1)
    if integers.is_unordered(values):
        raise TypeError(f"{name} must be a table of counts, not {type(values).__name__}")
    return integers.plain_array(values, name, "a table")


def _counts(table: NDArray[Any], name: str) -> IntArray:
    """Counts of items, or of several classes of each, as integers from 0 on."""
    if table.ndim not in (2, 3) or table.shape[-1] not in (len(COUNTS), len(TWO_COUNTS)):
        raise ValueError(
            f"{name} has shape {table.shape}, but counts have shape (N, columns), or of several "
            "classes (N, classes, columns), with columns tp, fp, fn, or tp, incorrect"
        )
    try:
        counts = integers.as_integers(table.ravel(), name).reshape(table.shape)
    except ScoreError as error:
        raise error.at(np.unravel_index(error.index[0], table.shape)) from None
    for index in map(tuple, np.argwhere(counts < 0)[:1].tolist()):
        problem = f"= {counts[index]} is below 0"
        raise ScoreError(name, index, problem, "counts are whole numbers from 0 on")
    return counts


def _runs(values: Any, name: str) -> Runs:
    """The runs of one system, with their scores as they are given."""
    if isinstance(values, Runs):
        return values
    scores: Any = []
    if getattr(values, "ndim", None) == 2 or hasattr(values, "columns"):
        table = integers.plain_array(values, name, "a table of runs")
        scores, sizes = table.ravel(), [table.shape[1]] * len(table)
    else:
        rows = [integers.plain_array(row, f"{name}[{i}]") for i, row in enumerate(values)]
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
    a, b = getattr(u, "name", ""), getattr(v, "name", "")
    a = a if isinstance(a, str) and a else labels[0]
    b = b if isinstance(b, str) and b else labels[1]
    return (a, b) if a != b else labels
