"""On how many data sets one system is better than another.

The count is the partial conjunction of Dror, Baumer, Bogomolov and Reichart (2017, after
Benjamini and Heller, 2008). p^{u/D}, by Bonferroni D - u + 1 times the u-th smallest p, tests
whether a system is better on fewer than u of D data sets, however these depend on each other. If it
is better on k, the count exceeds k only where p^{(k+1)/D}, whose hypothesis is true, is at most
alpha. That one event has probability alpha at most, so that the count is a lower confidence bound
of k, and nothing needs to be corrected for the choice among u = 1 ... D. These are Holm's adjusted
p-values in their order: the count is how many data sets Holm's correction names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._html import grid, said, together
from permtest._jit import Floats, Ints
from permtest._json import AsJson
from permtest._text import aligned
from permtest.alternatives.result import rejects

if TYPE_CHECKING:
    import pandas as pd

#: Pairs that are shown; all are in `Replicability.to_frame`.
MOST_SHOWN = 20
HEADER = ("first", "second", "first is better on", "second is better on")


def _holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of each column."""
    steps, found = np.sort(p, axis=0) * np.arange(len(p), 0, -1)[:, None], np.empty_like(p)
    steps = np.maximum.accumulate(np.minimum(steps, 1.0), axis=0)
    np.put_along_axis(found, np.argsort(p, axis=0), steps, axis=0)
    return found


@dataclass(frozen=True, eq=False)
class Replicability(AsJson):
    """On how many of D data sets the systems of each of P pairs differ, and which way.

    Made by `Leaderboard.replicability`. ``print(found)`` lines up the first pairs,
    ``found["new", "old"]`` is the part about one pair, and ``found.to_frame()`` has them all.

    Parameters
    ----------
    systems : tuple of str
        Names of the systems.
    data_sets : tuple of D str
        Names of the data sets.
    first, second : ndarray of int64 of shape (P,)
        Which systems make up each pair.
    better : ndarray of int8 of shape (D, P)
        On which data sets, by Holm's correction: 1 where the first is better, -1 where the second
        is, 0 where neither is shown.
    alpha : float
        For each pair, all entries of `better`, and hence both counts, hold with confidence
        ``1 - alpha``.
    """

    systems: tuple[str, ...]
    data_sets: tuple[str, ...]
    first: Ints
    second: Ints
    better: NDArray[np.int8]
    alpha: float

    @classmethod
    def of(
        cls,
        systems: tuple[str, ...],
        data_sets: tuple[str, ...],
        first: Any,
        second: Any,
        greater: Floats,
        less: Floats,
        *,
        alpha: float,
    ) -> Replicability:
        """Name data sets, from p-values, (D, P), that the first, and that the second is better.

        Half of `alpha` is for each direction.
        """
        check_level(alpha)
        named = [rejects(_holm(p), alpha / 2).astype(np.int8) for p in (greater, less)]
        i, j = (np.array(x, dtype=np.int64) for x in (first, second))
        return cls(systems, data_sets, i, j, named[0] - named[1], alpha)

    def __post_init__(self) -> None:
        self.better.flags.writeable = False

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
                better = turn * self.better[:, where]
                return replace(self, first=a[where], second=b[where], better=better)
        raise KeyError(f"{pair[0]!r} and {pair[1]!r} have not been compared")

    @property
    def first_better(self) -> Ints:
        """On how many data sets, at least, the first system of each pair is better."""
        return np.asarray((self.better > 0).sum(axis=0), dtype=np.int64)

    @property
    def second_better(self) -> Ints:
        """On how many data sets, at least, the second system of each pair is better."""
        return np.asarray((self.better < 0).sum(axis=0), dtype=np.int64)

    def heading(self) -> str:
        """What is counted, and how sure it is."""
        return (
            f"Of {len(self.data_sets)} data sets, on how many one system is better than the other: "
            f"at least so many, with an error probability of {self.alpha:.3g} for each pair "
            "(Bonferroni, however the data sets depend on each other), and which ones by Holm's "
            "correction"
        )

    def named(self, pair: int, sign: int) -> tuple[str, ...]:
        """The data sets on which the first (1) or second (-1) system of a pair is found better."""
        return tuple(self.data_sets[d] for d in np.flatnonzero(self.better[:, pair] == sign))

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Both systems of each pair, and on how many and which data sets each is better."""
        for pair, (i, j) in enumerate(zip(self.first, self.second, strict=True)):
            both = [self.named(pair, sign) for sign in (1, -1)]
            cells = [f"{len(x)}" + f" ({', '.join(x)})" * bool(x) for x in both]
            yield self.systems[i], self.systems[j], cells[0], cells[1]

    def _shown(self) -> tuple[list[tuple[str, ...]], str]:
        """The first rows of the table, and how many more there are."""
        more = len(self) - MOST_SHOWN
        note = f"and {more} more pairs, all in to_frame()" if more > 0 else ""
        return [row for row, _ in zip(self.rows(), range(MOST_SHOWN), strict=False)], note

    def __str__(self) -> str:
        rows, note = self._shown()
        return "\n".join(
            [f"{self.heading()}.", "", aligned([HEADER, *rows]), *filter(None, [note])]
        )

    def _repr_html_(self) -> str:
        rows, note = self._shown()
        return together(grid(HEADER, rows, self.heading()), said(note))

    def to_dict(self) -> dict[str, Any]:
        """All fields and both counts as plain numbers, strings and lists."""
        names = (*self.__dataclass_fields__, "first_better", "second_better")
        return {name: np.asarray(getattr(self, name)).tolist() for name in names}

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with a row for each pair; names of data sets are joined by commas."""
        import pandas as pd

        names = np.array(self.systems, dtype=object)
        columns: dict[str, Any] = {"first": names[self.first], "second": names[self.second]}
        for side, sign in (("first", 1), ("second", -1)):
            columns[f"{side}_better"] = getattr(self, f"{side}_better")
            named = (self.named(pair, sign) for pair in range(len(self)))
            columns[f"{side}_better_on"] = [", ".join(found) for found in named]
        return pd.DataFrame(columns)
