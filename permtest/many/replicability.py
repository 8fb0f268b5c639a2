"""On how many data sets is one system better than another, and on which?

The count is the partial conjunction of Dror, Baumer, Bogomolov and Reichart (2017, after
Benjamini and Heller, 2008). p^{u/D} tests whether a system is better on fewer than u of D data
sets. If it is better on k, the count exceeds k only where p^{(k+1)/D}, whose hypothesis is true,
is at most alpha. That one event has probability alpha at most, so that the count is a lower
confidence bound of k, and nothing needs to be corrected for the choice among u = 1 ... D.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._html import grid, said, together
from permtest._json import AsJson
from permtest._optional import pandas
from permtest.many.combining import (
    COUNTING,
    Floats,
    Ints,
    as_logs,
    at_most,
    check_sides,
    partial_conjunction,
    replicability_count,
)

if TYPE_CHECKING:
    import pandas as pd

#: Pairs that are shown; all are in `Replicability.to_frame`.
MOST_SHOWN = 20
HEADER = ("first", "second", "first is better on", "second is better on")


@dataclass(frozen=True, eq=False)
class Replicability(AsJson):
    """On how many of D data sets the systems of each of P pairs differ, and which way.

    Made by `replicability`. ``print(found)`` lines up the first pairs, ``found["new", "old"]`` is
    the part about one pair, and ``found.to_frame()`` has them all.

    Parameters
    ----------
    systems : tuple of str
        Names of the systems.
    data_sets : tuple of D str
        Names of the data sets.
    first, second : ndarray of int64 of shape (P,)
        Which systems make up each pair.
    first_better, second_better : ndarray of int64 of shape (P,)
        On how many data sets, at least, the one system is better, and on how many the other one.
    better : ndarray of int8 of shape (D, P)
        On which data sets, by Holm's correction: 1 where the first is better, -1 where the second
        is, 0 where neither is shown.
    alpha : float
        For each pair, both counts hold with confidence ``1 - alpha``, and so do all entries of
        `better`.
    method : str
        "bonferroni" or "fisher": how data sets were counted.
    """

    systems: tuple[str, ...]
    data_sets: tuple[str, ...]
    first: Ints
    second: Ints
    first_better: Ints
    second_better: Ints
    better: NDArray[np.int8]
    alpha: float
    method: str

    def __post_init__(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    def __len__(self) -> int:
        return self.first.size

    def __getitem__(self, pair: tuple[str, str]) -> Replicability:
        try:
            i, j = map(self.systems.index, pair)
        except (TypeError, ValueError):
            known = ", ".join(self.systems)
            raise KeyError(f"{pair!r} are not two of the systems, which are {known}") from None
        for turn, a, b in ((1, self.first, self.second), (-1, self.second, self.first)):
            where = np.flatnonzero((a == i) & (b == j))[:1]
            if where.size:
                counts = (self.first_better[where], self.second_better[where])[::turn]
                return replace(
                    self,
                    first=a[where],
                    second=b[where],
                    first_better=counts[0],
                    second_better=counts[1],
                    better=turn * self.better[:, where],
                )
        raise KeyError(f"{pair[0]!r} and {pair[1]!r} have not been compared")

    def heading(self) -> str:
        """What is counted, and how sure it is."""
        return (
            f"Of {len(self.data_sets)} data sets, on how many one system is better than the other: "
            f"at least so many, with an error probability of {self.alpha:.3g} for each pair "
            f"({COUNTING[self.method]}), and which ones by Holm's correction"
        )

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Both systems of each pair, and on how many and which data sets each is better."""
        for pair, (i, j) in enumerate(zip(self.first, self.second, strict=True)):
            first = self._told(self.first_better[pair], self.named(pair, 1))
            second = self._told(self.second_better[pair], self.named(pair, -1))
            yield self.systems[i], self.systems[j], first, second

    def named(self, pair: int, sign: int) -> tuple[str, ...]:
        """The data sets on which the first (1) or second (-1) system of a pair is found better."""
        found = np.flatnonzero(self.better[:, pair] == sign)
        return tuple(self.data_sets[d] for d in found)

    @staticmethod
    def _told(count: int, names: tuple[str, ...]) -> str:
        return f"{count} ({', '.join(names)})" if names else f"{count}"

    def _shown(self) -> tuple[list[tuple[str, ...]], str]:
        """The first rows of the table, and how many more there are."""
        more = len(self) - MOST_SHOWN
        note = f"and {more} more pairs, all in to_frame()" if more > 0 else ""
        return list(islice(self.rows(), MOST_SHOWN)), note

    def __str__(self) -> str:
        rows, note = self._shown()
        table = [HEADER, *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        )
        return "\n".join([f"{self.heading()}.", "", *lines, *filter(None, [note])])

    def _repr_html_(self) -> str:
        rows, note = self._shown()
        return together(grid(HEADER, rows, self.heading()), said(note))

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, strings and lists."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        lists = {k: x.tolist() for k, x in fields.items() if isinstance(x, np.ndarray)}
        names = {"systems": list(self.systems), "data_sets": list(self.data_sets)}
        return fields | lists | names

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with a row for each pair; names of data sets are joined by commas."""
        names = np.array(self.systems, dtype=object)
        columns: dict[str, Any] = {"first": names[self.first], "second": names[self.second]}
        for side, sign in (("first", 1), ("second", -1)):
            columns[f"{side}_better"] = getattr(self, f"{side}_better")
            named = (self.named(pair, sign) for pair in range(len(self)))
            columns[f"{side}_better_on"] = [", ".join(found) for found in named]
        return pandas().DataFrame(columns)


def replicability(
    systems: Sequence[str],
    data_sets: Sequence[str],
    first: Any,
    second: Any,
    greater: Any,
    less: Any,
    *,
    alpha: float = 0.05,
    method: str = "bonferroni",
) -> Replicability:
    """Count and name the data sets on which one system of each pair is better than the other.

    Parameters
    ----------
    systems, data_sets : sequence of str
        Names; D data sets, two at least.
    first, second : array_like of int of shape (P,)
        Which systems make up each pair.
    greater, less : array_like of float of shape (D, P)
        Decimal logarithms of one-sided p-values: that the first is better, and the second.
    alpha : float, default 0.05
        In (0, 1); half of it is for each direction.
    method : {"bonferroni", "fisher"}, default "bonferroni"
        How to count, as in `partial_conjunction`; data sets are named by Holm's correction.

    Returns
    -------
    Replicability

    Raises
    ------
    TypeError, ValueError
        If shapes or names do not fit, or a number is no logarithm of a p-value.

    Notes
    -----
    The confidence is that of each pair by itself. For statements about all P pairs at once, give
    ``alpha / P``. By "bonferroni" as many data sets are named as are counted; "fisher" may count
    more than can be named, and less where p-values of 1 weigh it down.

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.many.replicability import replicability
    >>> greater = np.log10([[0.001, 0.9], [0.004, 0.6], [0.01, 0.1]])
    >>> less = np.log10([[1, 0.11], [0.999, 0.5], [0.995, 0.92]])
    >>> systems, data_sets = ["new", "old", "base"], ["ewt", "gum", "pud"]
    >>> found = replicability(systems, data_sets, [0, 0], [1, 2], greater, less)
    >>> for row in found.rows():
    ...     print(*row, sep=" | ")
    new | old | 3 (ewt, gum, pud) | 0
    new | base | 0 | 0
    """
    check_level(alpha)
    names = _as_names(systems, "systems"), _as_names(data_sets, "data_sets")
    i, j = (_as_indices(x, len(names[0]), k) for x, k in ((first, "first"), (second, "second")))
    sides = as_logs(greater, "greater"), as_logs(less, "less")
    for logs, which in zip(sides, ("greater", "less"), strict=True):
        if logs.shape != (len(names[1]), i.size) or i.size != j.size:
            raise ValueError(
                f"{which} has shape {logs.shape}, but there are {len(names[1])} data sets, and "
                f"first and second name {i.size} and {j.size} systems"
            )
    check_sides(*sides)
    ahead, behind = (replicability_count(x, alpha=alpha / 2, method=method) for x in sides)
    up, down = (at_most(_holm(x), alpha / 2).astype(np.int8) for x in sides)
    return Replicability(*names, i, j, ahead, behind, up - down, alpha, method)


def _holm(logs: Floats) -> Floats:
    """P-values adjusted among the data sets of each pair."""
    adjusted = np.empty_like(logs)
    sorted_ones = partial_conjunction(logs, method="bonferroni")
    np.put_along_axis(adjusted, np.argsort(logs, axis=0), sorted_ones, axis=0)
    return adjusted


def _as_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    found = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise TypeError(f"{what}={names!r} must be a list of names")
    if len(found) < 2 or len(set(found)) < len(found):
        raise ValueError(f"{what}={names!r} must be two names or more, all different")
    return found


def _as_indices(indices: Any, size: int, name: str) -> Ints:
    found = np.asarray(indices)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a list of integers, the places of systems")
    if np.any((found < 0) | (found >= size)):
        raise ValueError(f"{name} has entries outside of 0 to {size - 1}, the places of systems")
    return found.astype(np.int64)
