"""Two systems' scores on the same items, validated, and their local effects.

Whatever people hold their scores in (lists, arrays of any integer dtype, booleans, pandas or
polars columns), what leaves this module are two integer arrays of one length whose arithmetic
cannot wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import SAFE, IntArray, largest, with_room

#: Up to which D floats are recognised as multiples of 1 / D.
LARGEST_DENOMINATOR = 1000


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
    labels : tuple of two str
        How error messages call `u` and `v`; not kept.
    """

    u: IntArray
    v: IntArray
    names: tuple[str, str] = ("u", "v")
    source: dict[str, Any] = field(default_factory=dict, repr=False)
    scale: int = 1
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = field(default=None, repr=False)
    clusters: tuple[str, ...] | None = field(default=None, repr=False)
    labels: InitVar[tuple[str, str]] = ("u", "v")

    @classmethod
    def of(
        cls,
        u: Any,
        v: Any,
        names: tuple[str, str] | None = None,
        *,
        labels: tuple[str, str] = ("u", "v"),
    ) -> Pairs:
        """Validate two columns of scores.

        Parameters
        ----------
        u, v : array_like of shape (N,)
            Numbers: a sequence, an array of any integer, boolean or float dtype, or a pandas or
            polars column. A float stands for the decimal that it is printed as, 0.1 for one
            tenth; but where a column has more than four decimals and all of it lies within
            rounding of multiples of 1 / D, D up to 1000, such as means of three, for those
            fractions. `Decimal` and `Fraction` are taken as they are.
        names : tuple of two str, optional
            Default: the names of the columns if they carry any, else the `labels`.
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
        return cls(u, v, _names(u, v, labels) if names is None else names, labels=labels)

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
        if self.columns:
            object.__setattr__(self, "u", as_counts(self.u, "u"))
            object.__setattr__(self, "v", as_counts(self.v, "v"))
        else:
            self._scale_up(labels)
        _check_lengths(len(self.u), len(self.v), labels)
        for name, texts in (("ids", self.ids), ("clusters", self.clusters)):
            if texts is not None and len(texts) != len(self):
                raise ValueError(f"{name} has {len(texts)} entries for {len(self)} pairs")

    def _scale_up(self, labels: tuple[str, str]) -> None:
        """Make integers of the scores."""
        (u, v), scale = in_common_units((self.u, self.v), labels)
        object.__setattr__(self, "u", u)
        object.__setattr__(self, "v", v)
        object.__setattr__(self, "scale", self.scale * scale)

    def __len__(self) -> int:
        return len(self.u)

    def by_cluster(self) -> Pairs:
        """One pair for each cluster: the sums of its items, called by its label.

        Raises ValueError if there are no clusters.
        """
        if self.clusters is None:
            raise ValueError("these pairs have no clusters; read them with clusters=, or set them")
        return replace(self.folded(self.clusters), ids=tuple(dict.fromkeys(self.clusters)))

    def score(self, total: int) -> float:
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
        return replace(self, u=u, v=v, ids=None, clusters=None)


@dataclass(frozen=True)
class LocalEffects:
    """The local effects of all N entries: g(u_n, v_n) if entry n stays, g(v_n, u_n) if swapped.

    Parameters
    ----------
    stay, swap : ndarray of shape (N,)
        Integers; of shape (N, m) where there are several sums.
    """

    stay: IntArray
    swap: IntArray

    def folded(self, clusters: Any) -> LocalEffects:
        """The effects of whole clusters; see `Pairs.folded`."""
        labels = cluster_numbers(clusters, len(self.stay))
        return LocalEffects(add_up(self.stay, labels), add_up(self.swap, labels))

    @classmethod
    def of(cls, u: Sequence[Any], v: Sequence[Any], g: Callable[[Any, Any], Any]) -> LocalEffects:
        """Call the user's `g` on every entry both ways (Alg. 2, lines 3-4).

        Parameters
        ----------
        u, v : sequence of length N
            Entries of any kind; integer columns are handed to `g` as Python integers.
        g : callable
            ``g(u_n, v_n)`` returns an integer.

        Returns
        -------
        LocalEffects

        Raises
        ------
        ValueError
            If `g` returns something that is not an integer.
        """
        check_aligned(u, v)
        a, b = _entries(u), _entries(v)
        _check_lengths(len(a), len(b))
        stay = as_integers([g(x, y) for x, y in zip(a, b, strict=True)], "g(u, v)")
        swap = as_integers([g(y, x) for x, y in zip(a, b, strict=True)], "g(v, u)")
        return cls(stay, swap)


def check_unclustered(pairs: Any) -> None:
    """Refuse clusters where a test takes items by themselves."""
    if isinstance(pairs, Pairs) and pairs.clusters is not None:
        raise ValueError(
            "these pairs have clusters, but this test takes items by themselves; test "
            "pairs.by_cluster(), the sums of whole clusters"
        )


def labels_of(u: Any, clusters: Any) -> Any:
    """The clusters of a test of `u`: those that are given, else those that `Pairs` bring."""
    check_aligned(u, clusters, ("u", "clusters"))
    return u.clusters if clusters is None and isinstance(u, Pairs) else clusters


def cluster_numbers(clusters: Any, n: int, name: str = "clusters") -> NDArray[np.int64]:
    """The number of the cluster that each entry belongs to, counted as they first occur.

    `name` is what errors call the labels.

    Raises TypeError or ValueError if there is not one label for each entry.
    """
    unordered = isinstance(clusters, str | bytes | dict | set | frozenset)
    if unordered or not hasattr(clusters, "__iter__"):
        raise TypeError(f"{name} must be one label for each entry, not {clusters!r}")
    labels = clusters.tolist() if hasattr(clusters, "tolist") else list(clusters)
    if len(labels) != n:
        raise ValueError(f"{name} has {len(labels)} labels for {n} entries; give one for each")
    numbers: dict[Any, int] = {}
    for i, label in enumerate(labels):
        if _no_label(label):
            raise ValueError(f"{name}[{i}] = {label} is missing; say where entry {i} belongs")
        try:
            numbers.setdefault(label, len(numbers))
        except TypeError:
            raise TypeError(f"{name}[{i}] = {label!r} is no number or string") from None
    return np.array([numbers[label] for label in labels], dtype=np.int64)


def _no_label(label: Any) -> bool:
    """Whether it is None, NaN or the NA of pandas, which is not even equal or unequal to itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def add_up(scores: IntArray, labels: NDArray[np.int64]) -> IntArray:
    """Sums over the entries of each cluster, as wide integers where int64 could overflow."""
    scores = with_room(scores, max(len(scores), 1))
    totals = np.zeros((int(labels.max(initial=-1)) + 1, *scores.shape[1:]), dtype=scores.dtype)
    np.add.at(totals, labels, scores)
    return totals


def as_counts(values: IntArray, name: str) -> IntArray:
    """Return `values` as an array of integers, none of them negative or rounded.

    Parameters
    ----------
    values : ndarray of any shape
    name : str
        How error messages call `values`.

    Returns
    -------
    ndarray of the same shape
        int64 where every count is below 2**60, Python integers (dtype object) otherwise.
    """
    if values.dtype.kind in "iub" and values.size and values.min() >= 0 and values.max() < SAFE:
        return values.astype(np.int64)
    listed = [_whole(x, name, i, values.shape) for i, x in enumerate(values.ravel().tolist())]
    array = np.array(listed, dtype=object).reshape(values.shape)
    return array if max(listed, default=0) >= SAFE else array.astype(np.int64)


def _whole(value: Any, name: str, position: int, shape: tuple[int, ...]) -> int:
    place = f"{name}[{', '.join(map(str, np.unravel_index(position, shape)))}]"
    number = _as_rational(value, place)
    if number.denominator != 1 or number < 0:
        kind = "below 0" if number < 0 else "not a whole number"
        raise ValueError(f"{place} = {value} is {kind}, but counts are whole numbers from 0 on")
    return int(number)


def _table(values: Any, columns: Sequence[tuple[str, ...]], name: str) -> NDArray[Any]:
    """An array of counts; the columns of a frame or a mapping are chosen by their names."""
    labels = list(values.keys()) if hasattr(values, "keys") else getattr(values, "columns", None)
    if labels is not None:
        called = {str(label).lower(): label for label in labels} | {x: x for x in labels}
        for wanted in columns:
            if set(wanted) <= set(called):
                return np.stack([np.asarray(values[called[c]]) for c in wanted], axis=-1)
        sets = " or ".join(f"({', '.join(c)})" for c in columns)
        raise ValueError(
            f"{name} has the columns {list(labels)}, but this statistic needs {sets}; rename them, "
            f"or pass {name}.to_numpy() with columns in this order"
        )
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a table of counts, not {type(values).__name__}")
    try:
        table = np.asarray(values if hasattr(values, "__len__") else list(values))
        # A list of integers beyond int64 has become floats, and lost digits.
        lossy = table.dtype.kind == "f" and not isinstance(values, np.ndarray)
        return np.array(values, dtype=object) if lossy else table
    except ValueError:
        raise ValueError(f"{name} must be a table, but its rows differ in length") from None


def unscaled(number: int, scale: int) -> float:
    """``number / scale``: an integer for scale 1, else the nearest float."""
    return number if scale == 1 else float(Fraction(number, scale))


def as_integers(values: Any, name: str) -> IntArray:
    """Return `values` as an integer array in which nothing was rounded or wrapped around.

    Parameters
    ----------
    values : array_like of shape (N,)
    name : str
        How error messages call `values`.

    Returns
    -------
    ndarray of shape (N,)
        int64 where every magnitude is below 2**60, Python integers (dtype object) otherwise.
    """
    array, scale = as_scaled(values, name)
    if scale != 1:
        for i, value in enumerate(_listed(values)):
            if Fraction(str(value)).denominator != 1:
                raise ValueError(
                    f"{name}[{i}] = {value} is not a whole number; multiply decimals by a power of "
                    "ten, or count correct items instead of averaging them"
                )
    return array if array.dtype == object or largest(array) < SAFE else array.astype(object)


def as_scaled(values: Any, name: str) -> tuple[IntArray, int]:
    """Return integers and the number to divide them by, nothing being rounded.

    Parameters
    ----------
    values : array_like of shape (N,)
        Floats are read as `Pairs.of` says: as the decimals that they are printed as, or as
        multiples of 1 / D.
    name : str
        How error messages call `values`.

    Returns
    -------
    integers : ndarray of shape (N,)
        int64, or Python integers (dtype object) where those are too small.
    scale : int
    """
    if isinstance(values, str | bytes | dict | set | frozenset) or not hasattr(values, "__iter__"):
        raise TypeError(
            f"{name} must be a one-dimensional sequence of numbers, not {type(values).__name__}"
        )
    if not hasattr(values, "__len__"):
        values = list(values)
    array = _as_array(values, name)
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64, copy=False), 1
    if array.dtype.kind == "u" and largest(array) < SAFE:
        return array.astype(np.int64), 1
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and (found := recognised(array)):
        return found
    ratios = [_as_ratio(value, name, i) for i, value in enumerate(_listed(values))]
    scale = lcm(*{denominator for _, denominator in ratios})
    return _packed([numerator * (scale // denominator) for numerator, denominator in ratios]), scale


def in_common_units(columns: Sequence[Any], labels: Sequence[str]) -> tuple[list[IntArray], int]:
    """Several columns as integers with one number to divide them by, nothing being rounded.

    Parameters
    ----------
    columns : sequence of array_like of shape (N,)
        As in `as_scaled`; equal floats are equal in all of them.
    labels : sequence of str
        How error messages call them.

    Returns
    -------
    columns : list of ndarray of shape (N,)
    scale : int
    """
    found = [as_scaled(x, label) for x, label in zip(columns, labels, strict=True)]
    if len({scale for _, scale in found}) > 1 and (same := _made_equal(columns, found)):
        found = [as_scaled(x, label) for x, label in zip(same, labels, strict=True)]
    common = lcm(*(scale for _, scale in found))
    return [_times(x, common // scale) for x, scale in found], common


def _made_equal(
    columns: Sequence[Any], found: Sequence[tuple[IntArray, int]]
) -> list[list[Any]] | None:
    """Scores in which equal floats are equal, where some columns alone were taken for fractions.

    `found` is what `as_scaled` made of each column. None where nothing has to change. A third in
    one column and 0.3333333333333333 in another would be no tie otherwise.
    """
    if all(_is_decimal(scale) for _, scale in found):
        return None
    floats = [getattr(np.asarray(x), "dtype", np.dtype(object)).kind == "f" for x in columns]
    listed = [_listed(x) if one else [] for x, one in zip(columns, floats, strict=True)]
    meant = [
        {x: Fraction(int(n), scale) for x, n in zip(some, scaled.tolist(), strict=False)}
        for some, (scaled, scale) in zip(listed, found, strict=True)
    ]
    every: dict[Any, Fraction] = {}
    for own in meant:
        for x, value in own.items():
            # The fraction is what has the smaller denominator.
            every[x] = min(every.get(x, value), value, key=lambda f: f.denominator)
    if all(every[x] == value for own in meant for x, value in own.items()):
        return None
    return [
        [every[x] for x in some] if one else column
        for some, one, column in zip(listed, floats, columns, strict=True)
    ]


def _is_decimal(scale: int) -> bool:
    """Whether numbers over `scale` have finitely many decimals."""
    while scale % 2 == 0:
        scale //= 2
    while scale % 5 == 0:
        scale //= 5
    return scale == 1


def recognised(array: NDArray[np.floating[Any]]) -> tuple[IntArray, int] | None:
    """Integers and what to divide them by, of floats that are whole, decimals, or k / D.

    Parameters
    ----------
    array : ndarray of shape (N,)

    Returns
    -------
    (ndarray of shape (N,), int), or None
        None where there are too many digits for the quick ways, or a value is not finite.
    """
    # Beyond its mantissa a float is not printed as the whole number that it equals.
    limit = 2.0 ** (np.finfo(array.dtype).nmant + 1)
    if np.all((np.abs(array) < limit) & (np.floor(array) == array)):
        return array.astype(np.int64), 1
    return _few_decimals(array) or _small_fractions(array)


def _few_decimals(array: NDArray[np.floating[Any]]) -> tuple[IntArray, int] | None:
    """The quick way for scores of up to four decimals and fifteen digits, which are unambiguous."""
    if array.dtype != np.float64:
        return None
    for scale in (10, 100, 1000, 10_000):
        for some in (array[:8], array):  # most scales fail at once
            with np.errstate(over="ignore"):
                scaled = np.rint(some * scale)
            if not (np.all(np.abs(scaled) < 1e15) and np.array_equal(scaled / scale, some)):
                break
        else:
            return scaled.astype(np.int64), scale
    return None


def _small_fractions(array: NDArray[np.floating[Any]]) -> tuple[IntArray, int] | None:
    """Scores that were computed as k / D, such as means of three, with the rounding taken off.

    They must all be within four units in the last place of multiples of 1 / D: numbers that are
    no such fractions have hardly a chance to be, and ties between them would be lost otherwise.
    """
    if array.dtype.itemsize < 4 or not np.all(np.isfinite(array)):
        return None
    values, near = array.astype(np.float64), 4 * np.spacing(np.abs(array)).astype(np.float64)

    def fit(some: slice, d: Any) -> tuple[Any, Any]:
        with np.errstate(over="ignore"):
            numerators = np.rint(values[some] * d)
            off = np.abs(values[some] - numerators / d)
        return numerators, np.all((off <= near[some]) & (np.abs(numerators) <= 1e5), axis=-1)

    every = np.arange(2, LARGEST_DENOMINATOR + 1)
    for d in every[fit(slice(0, 8), every[:, np.newaxis])[1]].tolist():  # few denominators are left
        numerators, fits = fit(slice(None), d)
        if fits:
            return numerators.astype(np.int64), d
    return None


def _listed(values: Any) -> list[Any]:
    """The elements as they are written: a float32 has fewer digits than the float it equals."""
    narrow = isinstance(values, np.ndarray) and values.dtype in (np.float16, np.float32)
    if narrow or not hasattr(values, "tolist"):
        return list(values)
    return list(values.tolist())


def _as_array(values: Any, name: str) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and (bad := np.flatnonzero(values.mask)).size:
        raise ValueError(f"{name}[{bad[0]}] is masked; remove the pair or fill in its score")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be one-dimensional, but its rows differ in length") from None
    if array.ndim != 1:
        hint = "; pass one column for each system" if array.ndim == 2 else ""
        raise ValueError(f"{name} must be one-dimensional, but has shape {array.shape}{hint}")
    return array


def _packed(numbers: list[int]) -> IntArray:
    """int64 where all numbers are below `SAFE`, else Python integers."""
    if all(-SAFE < x < SAFE for x in numbers):
        return np.array(numbers, dtype=np.int64)
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array


def _times(values: IntArray, factor: int) -> IntArray:
    if factor == 1:
        return values
    if values.dtype == object or max(largest(values), 1) * factor >= SAFE:
        return _packed([int(x) * factor for x in values])
    return values * factor


def _is_missing(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _as_ratio(value: Any, name: str, i: int) -> tuple[int, int]:
    """One score, exactly as it is written, in lowest terms; the usual types without a detour."""
    if type(value) is int:
        return value, 1
    if type(value) is float and isfinite(value):
        value = Decimal(repr(value))
    if type(value) is Decimal and value.is_finite():
        return value.as_integer_ratio()
    number = _as_rational(value, f"{name}[{i}]")
    return number.numerator, number.denominator


def _as_rational(value: Any, where: str) -> int | Fraction:
    """One score, exactly as it is written."""
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal):
        finite = value.is_finite()
    else:
        finite = isinstance(value, float | np.floating) and bool(np.isfinite(value))
    if finite:
        return Fraction(str(value))
    if _is_missing(value):
        problem, remedy = "is missing", "remove the pair from both systems, or score it"
    elif isinstance(value, float | np.floating | Decimal):
        problem, remedy = "is not finite", "remove the pair, or score it"
    else:
        problem, remedy = "is not a number", "convert it first"
    shown = value.item() if isinstance(value, np.generic) else value
    raise ValueError(f"{where} = {shown!r} {problem}; {remedy}")


def _entries(values: Any) -> list[Any]:
    """The entries as Python objects, so that the user's `g` cannot wrap around."""
    if isinstance(values, np.ndarray) and values.ndim > 1 and values.dtype.kind in "biu":
        return list(values.astype(object if values.dtype == np.uint64 else np.int64))
    return [x.item() if isinstance(x, np.generic) else x for x in values]


def _check_lengths(n_u: int, n_v: int, labels: tuple[str, str] = ("u", "v")) -> None:
    if n_u != n_v:
        a, b = labels
        raise ValueError(
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
        row = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
        raise ValueError(
            f"{a} and {b} have different indexes (row {row}: {first[row]} and {second[row]}), so "
            f"their rows are not the same items; align them, for example with {a}.align({b}, "
            f"join='inner'), or pass {a}.to_numpy() and {b}.to_numpy() to pair by order"
        )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return two different names as they are, or say what is wrong with them."""
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(n, str) for n in names):
        raise ValueError(f"names={names!r} must be two strings")
    if names[0] == names[1]:
        raise ValueError(f"names={names!r} must differ, or nobody knows which system is meant")
    return names[0], names[1]


def _names(u: Any, v: Any, labels: tuple[str, str] = ("u", "v")) -> tuple[str, str]:
    """Names of the columns where they carry any that differ."""

    def label(values: Any, default: str) -> str:
        name = getattr(values, "name", None)
        return name if isinstance(name, str) and name else default

    first, second = label(u, labels[0]), label(v, labels[1])
    return (first, second) if first != second else labels
