"""Several data sets: one p-value from theirs, and on how many one system is better than another.

The count is the partial conjunction of Dror, Baumer, Bogomolov and Reichart (2017, after
Benjamini and Heller, 2008). p^{u/D} tests whether a system is better on fewer than u of D data
sets. If it is better on k, the count exceeds k only where p^{(k+1)/D}, whose hypothesis is true,
is at most alpha. That one event has probability alpha at most, so that the count is a lower
confidence bound of k, and nothing needs to be corrected for the choice among u = 1 ... D.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level, check_option
from permtest._html import grid, said, together
from permtest._jit import Floats, Ints
from permtest._json import AsJson
from permtest.alternatives.result import SMALLEST, rejects

if TYPE_CHECKING:
    import pandas as pd

#: Ways to count data sets, and what they ask of them.
COUNTING = {
    "bonferroni": "Bonferroni, however the data sets depend on each other",
    "fisher": "Fisher, independent data sets",
}
#: Pairs that are shown; all are in `Replicability.to_frame`.
MOST_SHOWN = 20
HEADER = ("first", "second", "first is better on", "second is better on")


def combined_pvalues(greater: Floats, less: Floats, method: str = "fisher") -> Floats:
    """P-values that combine those of data sets, one-sided and of shape (D, P), into one a pair.

    Each side is combined by itself, as by `scipy.stats.combine_pvalues`, and the answer is twice
    the smaller p: two-sided p-values would let effects of opposite directions add up. P-values of
    permutation tests are discrete, hence larger than the uniform ones that the methods are made
    for: all stay valid, and are cautious where data sets are small. "stouffer" is so to the
    extreme: a p of 1, which a data set without differences has, makes the whole 1.
    """
    check_option("method", method, ("fisher", "stouffer", "tippett", "bonferroni"))
    sides = [_combined(np.asarray(p, dtype=np.float64), method) for p in (greater, less)]
    return np.asarray(np.clip(2 * np.minimum(*sides), SMALLEST, 1.0))


def _combined(p: Floats, method: str) -> Floats:
    from scipy.stats import chi2, norm

    size, least = len(p), p.min(axis=0)
    if method == "fisher":
        found = chi2.sf(-2 * np.log(p).sum(axis=0), 2 * size)
    elif method == "stouffer":
        found = norm.sf(norm.isf(p).sum(axis=0) / size**0.5)
    elif method == "tippett":
        with np.errstate(divide="ignore"):  # p of 1
            found = -np.expm1(size * np.log1p(-least))
    else:
        found = size * least
    return np.asarray(found)


def partial_conjunction(p: Floats, method: str = "bonferroni") -> Floats:
    """p^{u/D} in row u - 1: whether effects are on u data sets at least; p-values of shape (D, P).

    "bonferroni": D - u + 1 times the u-th smallest p, for data sets that may share items; these
    are Holm's adjusted p-values, sorted. "fisher": the D - u + 1 largest p-values combined, for
    independent data sets only; it finds more where many p-values are rather small.
    """
    check_option("method", method, COUNTING)
    ordered = np.sort(p, axis=0)
    rows = [_combined(ordered[u:], method) for u in range(len(ordered))]
    return np.maximum.accumulate(np.minimum(np.stack(rows), 1.0), axis=0)


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

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.many.data_sets import Replicability
    >>> greater = np.array([[0.001, 0.9], [0.004, 0.6], [0.01, 0.1]])
    >>> less = np.array([[1, 0.11], [0.999, 0.5], [0.995, 0.92]])
    >>> names = ("new", "old", "base"), ("ewt", "gum", "pud")
    >>> found = Replicability.of(*names, [0, 0], [1, 2], greater, less, alpha=0.05)
    >>> for row in found.rows():
    ...     print(*row, sep=" | ")
    new | old | 3 (ewt, gum, pud) | 0
    new | base | 0 | 0
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
        method: str = "bonferroni",
    ) -> Replicability:
        """Count and name data sets, from one-sided p-values that the first or second is better.

        Half of `alpha` is for each direction. By "bonferroni" as many data sets are named as are
        counted; "fisher" may count more than can be named, and less where p-values of 1 weigh it
        down.
        """
        check_level(alpha)
        counts, named = [], []
        for p in (greater, less):
            counts.append(rejects(partial_conjunction(p, method), alpha / 2).sum(axis=0))
            holm = np.empty_like(p)
            np.put_along_axis(holm, np.argsort(p, axis=0), partial_conjunction(p), axis=0)
            named.append(rejects(holm, alpha / 2).astype(np.int8))
        i, j = (np.array(x, dtype=np.int64) for x in (first, second))
        better = named[0] - named[1]
        return cls(systems, data_sets, i, j, counts[0], counts[1], better, alpha, method)

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
                better = turn * self.better[:, where]
                return replace(
                    self,
                    first=a[where],
                    second=b[where],
                    first_better=counts[0],
                    second_better=counts[1],
                    better=better,
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
            cells = []
            for sign, counts in ((1, self.first_better), (-1, self.second_better)):
                names = ", ".join(self.named(pair, sign))
                cells.append(f"{counts[pair]} ({names})" if names else f"{counts[pair]}")
            yield self.systems[i], self.systems[j], cells[0], cells[1]

    def named(self, pair: int, sign: int) -> tuple[str, ...]:
        """The data sets on which the first (1) or second (-1) system of a pair is found better."""
        return tuple(self.data_sets[d] for d in np.flatnonzero(self.better[:, pair] == sign))

    def _shown(self) -> tuple[list[tuple[str, ...]], str]:
        """The first rows of the table, and how many more there are."""
        more = len(self) - MOST_SHOWN
        note = f"and {more} more pairs, all in to_frame()" if more > 0 else ""
        return [row for row, _ in zip(self.rows(), range(MOST_SHOWN), strict=False)], note

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
        return {k: np.asarray(x).tolist() for k, x in fields.items()}

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
