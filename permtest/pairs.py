"""Two systems' scores on the same items, validated, and their local effects.

Scores come as lists, arrays of any dtype, or pandas or polars columns; they leave this module as
two integer arrays of one length whose arithmetic cannot wrap around.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.integers import (
    IntArray,
    as_counts,
    as_integers,
    in_common_units,
    is_missing,
    is_unordered,
    plain_array,
    roomy,
    unscaled,
    with_room,
)
from permtest.score import Score, counted, shared_score


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one system: whole scores one item after the other, and how many each item has.

    Runs of one label are of one run over all items; without labels, those of one place are.
    """

    scores: IntArray
    sizes: NDArray[np.intp]
    labels: tuple[str, ...] | None = None

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """The sum over the runs of each item."""
        starts = np.cumsum(self.sizes) - self.sizes
        return np.add.reduceat(values, starts) if values.size else values

    @cached_property
    def totals(self) -> IntArray:
        """The sum of the scores of each item."""
        return self.sums(with_room(self.scores, int(self.sizes.max(initial=1))))

    def place(self, run: int) -> tuple[int, int]:
        """To which item a run belongs, and which of its runs it is."""
        item = int(np.searchsorted(np.cumsum(self.sizes), run, side="right"))
        return item, run - int(self.sizes[:item].sum())


@dataclass(frozen=True, eq=False)
class Pairs:
    """The scores of two systems on the same N items, in the same order.

    Build it with `Pairs.of`, or read it from a file with `permtest.read`.

    Parameters
    ----------
    u, v : ndarray of shape (N,), or (N, c), or (N, classes, c)
        Scores of the first and of the second system, times `scale`. Whatever is given, they are
        kept as int64, or as Python integers where those are too small. Of more than one dimension
        where an entry has several counts, such as true positives.
    names : tuple of two str
        What the systems are called in sentences, tables and pictures.
    source : dict, optional
        Where the scores come from, as the reader recorded it.
    scale : int, default 1
        By what the integers have to be divided: 100 for scores with two decimals.
    columns : tuple of str
        Names of the c counts; empty where there is one score an entry.
    ids : tuple of N str, or None
        What the items are called; None where they have an order only.
    clusters : tuple of N str, or None
        What each item belongs to, such as its document. Tests swap whole clusters then.
    rounding : ndarray of shape (2, N), or None
        By how much each score may be off, in scores; None if none is.
    ties_doubtful : bool
        Whether scores that are equal may have differed before they were rounded, as `rounded_by`
        says. Floats that are equal are taken for equal scores.
    reading : str
        What floats were taken for, where that is not the decimals that they are printed as.
    score : Score
        What the scores are called, their unit, and whether higher is better.
    runs : tuple of Runs, Runs and int, or None
        Both systems' runs of each item and by what their scores have to be divided, where a file
        has different numbers of them, so that `u` and `v` are means; for `exact_runs_test`.
    labels : tuple of two str
        How error messages call `u` and `v`; not kept.

    Examples
    --------
    >>> from permtest import Pairs, exact_perm_test
    >>> pairs = Pairs.of([0.3, 0.5], [0.2, 0.7], ("new", "old"))
    >>> pairs.u.tolist(), pairs.scale
    ([3, 5], 10)
    >>> exact_perm_test(pairs).statistic
    -0.1
    >>> print(Pairs.of([3, 5], [2, 7], ("loss_new", "loss_old")))
    loss_new against loss_old, 2 pairs
    paired by their order
    score loss, lower is better, inferred from the name 'loss'
    """

    u: IntArray
    v: IntArray
    names: tuple[str, str] = ("u", "v")
    source: dict[str, Any] = field(default_factory=dict, repr=False)
    scale: int = 1
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = field(default=None, repr=False)
    clusters: tuple[str, ...] | None = field(default=None, repr=False)
    rounding: NDArray[np.float64] | None = field(default=None, repr=False)
    ties_doubtful: bool = field(default=False, repr=False)
    reading: str = field(default="", repr=False)
    score: Score = field(default=Score(), repr=False)
    runs: tuple[Runs, Runs, int] | None = field(default=None, repr=False)
    labels: InitVar[tuple[str, str]] = ("u", "v")

    @classmethod
    def of(
        cls,
        u: Any,
        v: Any,
        names: tuple[str, str] | None = None,
        *,
        score: Score | None = None,
        labels: tuple[str, str] = ("u", "v"),
    ) -> Pairs:
        """Validate two columns of scores.

        Parameters
        ----------
        u, v : array_like of shape (N,)
            Numbers: a sequence, an array of any integer, boolean or float dtype, or a pandas or
            polars column. A float stands for the decimal that it is printed as, 0.1 for one
            tenth, if that has up to twelve digits; else for the fraction within rounding whose
            numerator and denominator are small (a product up to 2^28, such as 1234/3000 for a mean
            of three), if there is one. What is left is a floating-point number, which may be off
            by two epsilons of the largest score, or of 1024 times itself if that is less:
            `rounding` says so. `Decimal` and `Fraction` are taken as they are.
        names : tuple of two str, optional
            Default: the names of the columns if they carry any, else the `labels`.
        score : Score, optional
            What they are called, and whether higher is better. Default: what the names have in
            common, as "loss" in "loss_a" and "loss_b".
        labels : tuple of two str
            How error messages call `u` and `v`.

        Returns
        -------
        Pairs

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
        check_aligned(u, v, labels)
        names = names_of(u, v, labels) if names is None else check_names(names)
        score = shared_score(names) if score is None else score
        return cls(u, v, names, score=score, labels=labels)

    @classmethod
    def of_counts(
        cls,
        u: Any,
        v: Any,
        columns: Sequence[tuple[str, ...]],
        names: tuple[str, str] | None = None,
        *,
        classes: bool = False,
    ) -> Pairs:
        """Validate two tables of counts.

        Parameters
        ----------
        u, v : array_like of shape (N, c), or (N, classes, c)
            Whole numbers, none below 0. A data frame, or a mapping of names to columns, must have
            all columns of one of the sets; others in it are left alone.
        columns : sequence of tuple of str
            The sets of columns that will do.
        names : tuple of two str, optional
            Default: "u" and "v".
        classes : bool, default False
            Whether there are counts for each of several classes.

        Returns
        -------
        Pairs

        Raises
        ------
        TypeError, ValueError
            If something is not a whole number, negative or missing, if the shapes differ, or if
            columns are missing.
        """
        if v is None:
            raise TypeError("v is missing: pass the counts of both systems, u and v")
        check_aligned(u, v)
        first, second = (_table(x, columns, name) for x, name in ((u, "u"), (v, "v")))
        for name, table in (("u", first), ("v", second)):
            widths = sorted({len(c) for c in columns})
            if table.ndim != 2 + classes or table.shape[-1] not in widths:
                lead = "N, classes" if classes else "N"
                sets = " or ".join(f"{len(c)} ({', '.join(c)})" for c in columns)
                raise ValueError(
                    f"{name} has shape {table.shape}, but this statistic needs counts of shape "
                    f"({lead}, columns), with columns {sets}"
                )
        if first.shape[1:] != second.shape[1:]:
            raise ValueError(f"u has shape {first.shape} and v {second.shape}; they must be alike")
        chosen = next(c for c in columns if len(c) == first.shape[-1])
        return cls(first, second, names or ("u", "v"), columns=tuple(chosen))

    def __post_init__(self, labels: tuple[str, str]) -> None:
        check_names(self.names)
        known: dict[str, Any] = {}
        if self.columns:
            known |= {"u": as_counts(self.u, "u"), "v": as_counts(self.v, "v")}
        else:
            found = in_common_units((self.u, self.v), labels)
            known |= {"u": found.columns[0], "v": found.columns[1]}
            known |= {"scale": self.scale * found.scale, "reading": found.reading or self.reading}
            if found.rounding is not None and len(known["u"]) == len(known["v"]):
                known["rounding"] = np.stack(found.rounding)
        for name, value in known.items():
            object.__setattr__(self, name, value)
        if len(self.u) != len(self.v):
            raise _unequal(len(self.u), len(self.v), labels)
        for name, texts in (("ids", self.ids), ("clusters", self.clusters)):
            if texts is not None and len(texts) != len(self.u):
                raise ValueError(f"{name} has {len(texts)} entries for {len(self.u)} pairs")

    def __len__(self) -> int:
        return len(self.u)

    def __str__(self) -> str:
        number = len(set(self.clusters or ()))
        inside = f" in {counted(number, 'clusters')}" * (0 < number < len(self))
        by = self.source.get("paired_by", "their order" if self.ids is None else "their ids")
        what = ", ".join(self.columns) if self.columns else f"score {self.score.described}"
        head = f"{self.names[0]} against {self.names[1]}, {counted(len(self), 'pairs')}{inside}"
        return f"{head}\npaired by {by}\n{what}"

    def by_cluster(self) -> Pairs:
        """One pair for each cluster: the sums of its items, called by its label.

        Raises ValueError if there are no clusters.
        """
        if self.clusters is None:
            raise ValueError("these pairs have no clusters; read them with clusters=, or set them")
        return replace(self.folded(self.clusters), ids=tuple(dict.fromkeys(self.clusters)))

    @cached_property
    def runs_each(self) -> str:
        """How many runs items have, where entries are runs: "2 runs each"; else empty."""
        return runs_each(self.source, self.clusters)

    @property
    def low(self) -> int:
        """The smallest of the integers; 0 of none."""
        return min(int(self.u.min()), int(self.v.min())) if len(self) else 0

    @property
    def is_binary(self) -> bool:
        """Whether every entry has one score of each system, which is 0 or 1."""
        if self.columns or self.rounding is not None or not len(self):
            return False
        return all(bool(((x == 0) | (x == self.scale)).all()) for x in (self.u, self.v))

    def differences(self) -> IntArray:
        """u - v, times `scale`."""
        return roomy(self.u) - roomy(self.v)

    @property
    def slack(self) -> int:
        """By how much a sum of differences may be off, relative to another, times `scale`."""
        if self.rounding is None:
            return 0
        return ceil(2 * Fraction(float(self.rounding.sum()) * (1 + 1e-12)) * self.scale)

    def rounded_by(self, rounding: float) -> Pairs:
        """The same, where each score may be off by so much; 0 for scores that are exact."""
        if isinstance(rounding, bool) or not isinstance(rounding, Real):
            raise TypeError(
                f"rounding={rounding!r} must be a number, the most by which a score may be off"
            )
        if not 0 <= rounding < inf:
            raise ValueError(f"rounding={rounding} must be 0 or more, and finite")
        off = np.full((2, len(self)), float(rounding)) if rounding else None
        reading = f"each score may be off by up to {rounding:g}" if rounding else ""
        return replace(self, rounding=off, ties_doubtful=rounding > 0, reading=reading)

    def in_scores(self, total: int) -> float:
        """A sum of the integers as a sum of scores: divided by `scale`."""
        return unscaled(total, self.scale)

    def folded(self, clusters: Any) -> Pairs:
        """The scores of whole clusters, in the order in which they first occur.

        Parameters
        ----------
        clusters : array_like of shape (N,)
            What each entry belongs to: numbers or strings.

        Returns
        -------
        Pairs
        """
        labels = cluster_numbers(clusters, len(self))
        u, v = (add_up(scores, labels) for scores in (self.u, self.v))
        off = self.rounding
        off = None if off is None else np.stack([add_up(x, labels) for x in off])
        return replace(self, u=u, v=v, ids=None, clusters=None, rounding=off, runs=None)


def runs_each(source: Mapping[str, Any], clusters: Sequence[Any] | None) -> str:
    """How many entries each cluster has, if the reader took them for runs of one item."""
    if clusters is None or not source.get("runs") or len(set(clusters)) == len(clusters):
        return ""
    sizes = Counter(clusters).values()
    least, most = min(sizes), max(sizes)
    return f"{most} runs each" if least == most else f"{least} to {most} runs each"


def per_item(pairs: Pairs) -> Pairs:
    """A pair for each cluster, if there are some, on the scale of items; counts are added up."""
    if pairs.clusters is None:
        return pairs
    found = pairs.by_cluster()
    if pairs.columns:
        return found
    # Sums over the mean size of clusters have the mean of the items; p does not depend on that.
    n, size = len(found), Fraction(len(pairs), len(found))
    u, v = (with_room(x, n) * size.denominator for x in (found.u, found.v))
    off = None if found.rounding is None else found.rounding / float(size)
    return replace(found, u=u, v=v, scale=found.scale * size.numerator, rounding=off)


def local_effects(
    u: Any, v: Any, g: Callable[[Any, Any], Any], name: str = "g"
) -> tuple[IntArray, IntArray]:
    """g(u_n, v_n) if entry n stays, and g(v_n, u_n) if it is swapped (Alg. 2, lines 3-4)."""
    if isinstance(u, Pairs) and v is None:
        u, v = u.u, u.v
    check_aligned(u, v)
    a, b = _entries(u, "u"), _entries(v, "v")
    if len(a) != len(b):
        raise _unequal(len(a), len(b), ("u", "v"))
    stay = as_integers([g(x, y) for x, y in zip(a, b, strict=True)], f"{name}(u, v)")
    return stay, as_integers([g(y, x) for x, y in zip(a, b, strict=True)], f"{name}(v, u)")


def check_unclustered(pairs: Any) -> None:
    """Refuse clusters where a test takes items by themselves."""
    if isinstance(pairs, Pairs) and pairs.clusters is not None:
        raise ValueError(
            "these pairs have clusters, but this test treats items separately; test "
            "pairs.by_cluster(), the sums of whole clusters"
        )


def labels_of(u: Any, clusters: Any) -> Any:
    """The clusters of a test of `u`: those that are given, else those that `Pairs` bring."""
    if clusters is None:
        return u.clusters if isinstance(u, Pairs) else None
    check_aligned(u, clusters, ("u", "clusters"))
    return clusters


def cluster_numbers(clusters: Any, n: int, name: str = "clusters") -> NDArray[np.intp]:
    """The number of the cluster that each entry belongs to, counted as they first occur."""
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
    """Sums over the entries of each cluster, as wide integers where int64 could overflow."""
    if scores.dtype.kind != "f":
        scores = with_room(scores, max(len(scores), 1))
    totals = np.zeros((int(labels.max(initial=-1)) + 1, *scores.shape[1:]), dtype=scores.dtype)
    np.add.at(totals, labels, scores)
    return totals


def _table(values: Any, columns: Sequence[tuple[str, ...]], name: str) -> NDArray[Any]:
    """An array of counts; the columns of a frame or a mapping are chosen by their names."""
    labels = list(values.keys()) if hasattr(values, "keys") else getattr(values, "columns", None)
    if labels is None:
        if is_unordered(values):
            raise TypeError(f"{name} must be a table of counts, not {type(values).__name__}")
        return plain_array(values if hasattr(values, "__len__") else list(values), name, "a table")
    called = {str(label).lower(): label for label in labels} | {x: x for x in labels}
    wanted = next((some for some in columns if set(some) <= set(called)), None)
    if wanted is None:
        sets = " or ".join(f"({', '.join(c)})" for c in columns)
        raise ValueError(
            f"{name} has the columns {list(labels)}, but this statistic needs {sets}; rename them, "
            f"or pass {name}.to_numpy() with columns in this order"
        )
    chosen = [plain_array(values[called[c]], f"{name}[{called[c]!r}]") for c in wanted]
    if len(shapes := {column.shape for column in chosen}) > 1:
        raise ValueError(
            f"{name} has columns of the shapes {', '.join(map(str, sorted(shapes)))}; give one "
            "count for each entry, and each column once"
        )
    if len({column.dtype.kind for column in chosen}) > 1:  # no number becomes one of another kind
        chosen = [column.astype(object) for column in chosen]
    return np.stack(chosen, axis=-1)


def _entries(values: Any, name: str) -> list[Any]:
    """The entries as Python objects, so that the user's `g` cannot wrap around."""
    if is_unordered(values) or hasattr(values, "columns") or getattr(values, "ndim", 1) == 0:
        remedy = "its rows as frame.to_numpy()" if hasattr(values, "columns") else "a list"
        kind = type(values).__name__
        raise TypeError(f"{name} must be a sequence of entries for g, not {kind}; pass {remedy}")
    if isinstance(values, np.ndarray):
        array = plain_array(values, name)
        if array.ndim > 1 and array.dtype.kind in "biu":
            return list(array.astype(object if array.dtype == np.uint64 else np.int64))
    dates = np.datetime64 | np.timedelta64  # stay what they are
    return [
        x.item() if isinstance(x, np.generic) and not isinstance(x, dates) else x for x in values
    ]


def _unequal(n_u: int, n_v: int, labels: tuple[str, str]) -> ValueError:
    a, b = labels
    return ValueError(
        f"{a} has {n_u} entries and {b} has {n_v}: a paired test needs the scores of both "
        "systems on the same items; align them by item first"
    )


def check_aligned(u: Any, v: Any, labels: tuple[str, str] = ("u", "v")) -> None:
    """Refuse two pandas columns whose indexes say that the rows are different items."""
    first: Any = getattr(u, "index", None)
    second: Any = getattr(v, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals") and len(u) == len(v)):
        return  # a list's .index is something else
    if not first.equals(second):
        a, b = labels
        if set(first).isdisjoint(second):
            raise ValueError(
                f"the indexes of {a} and {b} have no label in common (first: {first[0]} and "
                f"{second[0]}), so they do not say which rows are of one item; make a column of "
                "each system, for example with df.pivot(index='item', columns='system', "
                "values='score'), or read the whole table with permtest.read(df), or pass "
                f"{a}.to_numpy() and {b}.to_numpy() to pair by order"
            )
        row = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
        raise ValueError(
            f"{a} and {b} have different indexes (row {row}: {first[row]} and {second[row]}), so "
            f"their rows are not the same items; align them, for example with {a}.align({b}, "
            f"join='inner'), or pass {a}.to_numpy() and {b}.to_numpy() to pair by order"
        )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return two different names as they are, or say what is wrong with them."""
    two = not isinstance(names, str) and len(names) == 2
    if not (two and isinstance(names[0], str) and isinstance(names[1], str)):
        raise ValueError(f"names={names!r} must be two strings")
    if names[0] == names[1]:
        raise ValueError(f"names={names!r} must differ, or nobody can tell the systems apart")
    return names[0], names[1]


def names_of(u: Any, v: Any, labels: tuple[str, str] = ("u", "v")) -> tuple[str, str]:
    """Names of the columns where they carry any that differ."""
    first, second = getattr(u, "name", None), getattr(v, "name", None)
    a = first if isinstance(first, str) and first else labels[0]
    b = second if isinstance(second, str) and second else labels[1]
    return (a, b) if a != b else labels
