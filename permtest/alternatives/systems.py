"""Two systems' entries of any kind, and a measure that is a function of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.pairs import Pairs, check_aligned, check_names


@dataclass(frozen=True, eq=False)
class Systems:
    """Entries of any kind of two systems, and a user's measure of one system.

    Parameters
    ----------
    u, v : ndarray of shape (N,) or (N, ...)
        Objects where entries are neither numbers nor rows of numbers.
    measure : callable
    names : tuple of two str
    """

    u: NDArray[Any]
    v: NDArray[Any]
    measure: Callable[[Any], float]
    names: tuple[str, str]

    @classmethod
    def of(
        cls, u: Any, v: Any, measure: Callable[[Any], float], names: tuple[str, str] | None
    ) -> Systems:
        """Validate the entries."""
        if isinstance(u, Pairs) and v is None:
            names = names or u.names
            u, v = (x if u.scale == 1 else x / u.scale for x in (u.u, u.v))
        if v is None:
            raise TypeError("v is missing: pass the entries of both systems, u and v")
        check_aligned(u, v)
        first, second = _as_entries(u, "u"), _as_entries(v, "v")
        if first.dtype == object or second.dtype == object:
            first, second = _objects(first), _objects(second)
        if len(first) != len(second):
            raise ValueError(
                f"u has {len(first)} entries and v has {len(second)}: a paired test needs the "
                "entries of both systems for the same items; align them by item first"
            )
        if first.shape != second.shape:
            raise ValueError(f"u has shape {first.shape} and v {second.shape}; they must be alike")
        return cls(first, second, measure, check_names(names or ("u", "v")))

    def __len__(self) -> int:
        return len(self.u)

    @cached_property
    def _both(self) -> tuple[float, float]:
        return self.value(self.u), self.value(self.v)

    @property
    def observed(self) -> float:
        """By how much the first system is ahead."""
        return self._both[0] - self._both[1]

    @property
    def size(self) -> float:
        """The larger magnitude of both measures, to which roundings are relative."""
        return max(map(abs, self._both))

    @property
    def title(self) -> str:
        """What to call the measure."""
        name = getattr(self.measure, "__name__", "<lambda>")
        return "measured" if name == "<lambda>" else str(name)

    def value(self, entries: NDArray[Any]) -> float:
        """The measure of some entries; an error unless it is a finite number."""
        given = self.measure(entries.tolist() if entries.dtype == object else entries)
        try:
            value = float(given)
        except (TypeError, ValueError):
            raise TypeError(
                f"statistic returned {given!r} for the entries of one system; it must return a "
                "number"
            ) from None
        if not isfinite(value):
            raise ValueError(
                f"statistic returned {value} for {len(entries)} entries of one system; it must be "
                "finite for any of them, so give it a value where it is not defined"
            )
        return value

    def swapped(self, swap: NDArray[np.bool_], labels: NDArray[np.int64]) -> float:
        """The difference after the entries of some clusters have been exchanged."""
        where = swap[labels].reshape(-1, *[1] * (self.u.ndim - 1))
        return self.difference(np.where(where, self.v, self.u), np.where(where, self.u, self.v))

    def difference(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """By how much the measure of the first entries is ahead."""
        return self.value(first) - self.value(second)


def _as_entries(entries: Any, name: str) -> NDArray[Any]:
    if isinstance(entries, str | bytes | dict | set | frozenset) or not hasattr(
        entries, "__iter__"
    ):
        raise TypeError(f"{name} must be a sequence of entries, not {type(entries).__name__}")
    if hasattr(entries, "to_numpy"):
        entries = entries.to_numpy()
    listed = entries if isinstance(entries, np.ndarray) else list(entries)
    try:
        array = np.asarray(listed)
    except ValueError:  # rows of different lengths
        return _objects(listed)
    return array if array.dtype.kind in "biuf" and array.ndim else _objects(listed)


def _objects(entries: Any) -> NDArray[Any]:
    """One-dimensional, whatever the entries are."""
    array = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        array[i] = entry
    return array
