"""Two systems' scores on the same items, validated, and their local effects.

Whatever people hold their scores in (lists, arrays of any integer dtype, booleans, pandas or
polars columns), what leaves this module are two integer arrays of one length whose arithmetic
cannot wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: An integer array: int64 where every value is below `SAFE`, Python integers (dtype object) else.
IntArray: TypeAlias = NDArray[Any]

#: Below this magnitude a difference of differences of two scores still fits an int64.
SAFE = 2**60


@dataclass(frozen=True, eq=False)
class Pairs:
    """The scores of two systems on the same N items, in the same order.

    Build it with `Pairs.of`, or read it from a file with `permtest.read`.

    Parameters
    ----------
    u, v : ndarray of shape (N,)
        Scores of the first and of the second system. Whatever integers are given, they are kept
        as int64, or as Python integers where int64 could overflow.
    names : tuple of two str
        What the systems are called in sentences, tables and pictures.
    source : dict, optional
        Where the scores come from, as the reader recorded it.
    """

    u: IntArray
    v: IntArray
    names: tuple[str, str] = ("u", "v")
    source: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, u: Any, v: Any, names: tuple[str, str] | None = None) -> Pairs:
        """Validate two columns of scores.

        Parameters
        ----------
        u, v : array_like of shape (N,)
            Integers: a sequence, an array of any integer or boolean dtype, or a pandas or
            polars column. Floats are accepted where they hold whole numbers.
        names : tuple of two str, optional
            Default: the names of the columns if they carry any, else "u" and "v".

        Returns
        -------
        Pairs

        Raises
        ------
        TypeError
            If `u` or `v` is not a one-dimensional sequence of numbers.
        ValueError
            If a value is missing or not whole, if the lengths differ, or if two pandas columns
            carry different indexes.
        """
        if v is None:
            raise TypeError(
                "v is missing: pass the scores of both systems, u and v, such as two columns "
                "frame['a'] and frame['b']"
            )
        _check_aligned(u, v)
        return cls(u, v, _names(u, v) if names is None else names)

    def __post_init__(self) -> None:
        object.__setattr__(self, "u", as_integers(self.u, "u"))
        object.__setattr__(self, "v", as_integers(self.v, "v"))
        check_names(self.names)
        _check_lengths(len(self.u), len(self.v))

    def __len__(self) -> int:
        return len(self.u)

    def effects(self, g: Callable[[Any, Any], Any]) -> LocalEffects:
        """Stay and swap effects of a `g` that works on whole arrays."""
        return LocalEffects(g(self.u, self.v), g(self.v, self.u))


@dataclass(frozen=True)
class LocalEffects:
    """The local effects of all N entries: g(u_n, v_n) if entry n stays, g(v_n, u_n) if swapped.

    Parameters
    ----------
    stay, swap : ndarray of shape (N,)
        Integers.
    """

    stay: IntArray
    swap: IntArray

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
        _check_aligned(u, v)
        a, b = _entries(u), _entries(v)
        _check_lengths(len(a), len(b))
        stay = as_integers([g(x, y) for x, y in zip(a, b, strict=True)], "g(u, v)")
        swap = as_integers([g(y, x) for x, y in zip(a, b, strict=True)], "g(v, u)")
        return cls(stay, swap)


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
    if isinstance(values, str | bytes | dict | set | frozenset) or not hasattr(values, "__iter__"):
        raise TypeError(
            f"{name} must be a one-dimensional sequence of integers, not {type(values).__name__}"
        )
    if not hasattr(values, "__len__"):
        values = list(values)
    array = _as_array(values, name)
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        array = array.astype(np.int64)
        if array.size == 0 or max(-int(array.min()), int(array.max())) < SAFE:
            return array
    return _as_exact(array.tolist() if array.dtype.kind in "iu" else values, name)


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


def _as_exact(values: Any, name: str) -> IntArray:
    """Element by element, for what NumPy's integer dtypes cannot hold or should not convert."""
    numbers = [_as_int(value, f"{name}[{i}]") for i, value in enumerate(values)]
    if all(-SAFE < x < SAFE for x in numbers):
        return np.array(numbers, dtype=np.int64)
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array


def _as_int(value: Any, where: str) -> int:
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, float | np.floating):
        if float(value).is_integer():
            return int(value)
        if np.isfinite(value):
            raise ValueError(
                f"{where} = {value} is not a whole number; scores must be integers, so multiply "
                "decimals by a power of ten, or count correct items instead of averaging them"
            )
    if value is None or type(value).__name__ == "NAType" or value != value:
        problem, remedy = "is missing", "remove the pair from both systems, or score it"
    else:
        problem, remedy = "is not an integer", "convert it first"
    shown = value.item() if isinstance(value, np.generic) else value
    raise ValueError(f"{where} = {shown!r} {problem}; {remedy}")


def _entries(values: Any) -> list[Any]:
    """The entries as Python objects, so that the user's `g` cannot wrap around."""
    if isinstance(values, np.ndarray) and values.ndim > 1 and values.dtype.kind in "biu":
        return list(values.astype(object if values.dtype == np.uint64 else np.int64))
    return [x.item() if isinstance(x, np.generic) else x for x in values]


def _check_lengths(n_u: int, n_v: int) -> None:
    if n_u != n_v:
        raise ValueError(
            f"u has {n_u} entries and v has {n_v}: a paired test needs the scores of both systems "
            "on the same items; align them by item first"
        )


def _check_aligned(u: Any, v: Any) -> None:
    """Refuse two pandas columns whose indexes say that the rows are different items."""
    first: Any = getattr(u, "index", None)
    second: Any = getattr(v, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals") and len(u) == len(v)):
        return  # a list's .index is something else
    if not first.equals(second):
        row = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
        raise ValueError(
            f"u and v have different indexes (row {row}: {first[row]} and {second[row]}), so "
            "their rows are not the same items; align them, for example with "
            "u.align(v, join='inner'), or pass u.to_numpy() and v.to_numpy() to pair by order"
        )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return two different names as they are, or say what is wrong with them."""
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(n, str) for n in names):
        raise ValueError(f"names={names!r} must be two strings")
    if names[0] == names[1]:
        raise ValueError(f"names={names!r} must differ, or nobody knows which system is meant")
    return names[0], names[1]


def _names(u: Any, v: Any) -> tuple[str, str]:
    """Names of the columns where they carry any that differ."""

    def label(values: Any, default: str) -> str:
        name = getattr(values, "name", None)
        return name if isinstance(name, str) and name else default

    first, second = label(u, "u"), label(v, "v")
    return (first, second) if first != second else ("u", "v")


def exact_sum(values: IntArray) -> int:
    """The sum as a Python integer, whatever its size."""
    if values.size == 0:
        return 0
    largest = max(abs(int(values.min())), abs(int(values.max())))
    if values.dtype != object and largest * values.size < 2**63:
        return int(values.sum())
    return sum(map(int, values))
