"""What pairs that differ, and pairs that do not, say about ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest.many.pairwise import Ints
from permtest.measures import Exact


class Verdicts(NamedTuple):
    """All pairs of S systems.

    Parameters
    ----------
    places : ndarray of shape (S,)
        Ranks, 1 for the best; equal values share the better rank.
    better : ndarray of shape (S, S)
        Whether the system of the row differs from that of the column, and is better.
    """

    places: Ints
    better: NDArray[np.bool_]

    @property
    def order(self) -> list[int]:
        """The systems from the best to the worst; equal ones as they were given."""
        return [int(i) for i in np.argsort(self.places, kind="stable")]

    @property
    def ranges(self) -> Ints:
        """The ranks that each system may have, of shape (S, 2).

        It is behind those that are better, and before those that are worse, as in Mogstad, Romano,
        Shaikh and Wilhelm (2024), who make them of one-sided tests.
        """
        beaten_by, beats = self.better.sum(axis=0), self.better.sum(axis=1)
        return np.stack([1 + beaten_by, len(self.places) - beats], axis=1)

    @property
    def tied_with_best(self) -> list[int]:
        """The best systems, and those that none of them is known to beat, best first."""
        best = np.flatnonzero(self.places == 1)
        beaten = np.atleast_1d(self.better[best].any(axis=0))
        return [i for i in self.order if not beaten[i]]

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """Longest runs of neighbours in the ranking of which no two differ, best first.

        A run of one system is none. Two runs may overlap: A may not differ from B, nor B from C,
        and yet A from C.
        """
        order = self.order
        differ = np.triu(self.better[np.ix_(order, order)], 1)
        numbers = np.arange(len(order))
        # The last one before each system that it differs from; -1 if there is none.
        last = np.where(differ, numbers[:, None], -1).max(axis=0, initial=-1)
        runs: list[tuple[int, ...]] = []
        stop = 0
        for start in range(len(order)):
            before = stop
            while stop < len(order) and last[stop] < start:
                stop += 1
            if stop > max(before, start + 1):
                runs.append(tuple(order[start:stop]))
        return runs


def in_order(values: Sequence[Exact]) -> Ints:
    """Numbers that are in the same order as exact values, and equal where they are."""
    codes = {value: code for code, value in enumerate(sorted(set(values)))}
    return np.array([codes[value] for value in values], dtype=np.int64)


def verdicts(values: Ints, first: Ints, second: Ints, differs: NDArray[np.bool_]) -> Verdicts:
    """From all pairs of the systems.

    Parameters
    ----------
    values : ndarray of shape (S,)
        The larger the better.
    first, second : ndarray of shape (P,)
    differs : ndarray of shape (P,)
        Whether the two are known to differ.
    """
    lead = values[first] - values[second]
    better = np.zeros((values.size, values.size), dtype=bool)
    better[first, second] = differs & (lead > 0)
    better[second, first] = differs & (lead < 0)
    places = 1 + values.size - np.searchsorted(np.sort(values), values, side="right")
    return Verdicts(places.astype(np.int64), better)
