"""How the p-values of a leaderboard allow for the number of tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest.many.multiplicity import adjusted_pvalues, check_correction
from permtest.many.pairings import Pairings

#: What belongs to a family of tests.
FAMILIES = ("each", "all")


class Adjusted(NamedTuple):
    """Adjusted p-values of shape (D, P), and whether those of each data set are sampled."""

    pvalue: NDArray[np.float64]
    sampled: tuple[bool, ...]


class Adjustment(NamedTuple):
    """A correction, the families it is made in, and the random labellings of "max_t"."""

    correction: str
    family: str
    K: int

    def adjusted(self, pairings: Pairings, pvalue: NDArray[np.float64]) -> Adjusted:
        """Adjusted p-values for `pvalue`, which is of shape (D, P)."""
        numbers = list(range(len(pairings.tables)))
        families = [numbers] if self.family == "all" else [[k] for k in numbers]
        found, sampled = [], []
        for family in families:
            if self.correction == "max_t":
                values, exact = self._by_maxima(pairings, family, pvalue[family])
            else:
                values, exact = adjusted_pvalues(pvalue[family], self.correction), True
            found.append(values)
            sampled += [not exact] * len(family)
        return Adjusted(np.concatenate(found), tuple(sampled))

    def _by_maxima(
        self, pairings: Pairings, family: list[int], pvalue: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], bool]:
        from permtest.many.max_t import max_t  # few boards are corrected by sampling

        tables = list(pairings.tables.values())
        rng = np.random.default_rng([pairings.seed, 2, pairings.numbers[family[0]]])
        found = max_t(
            [tables[k].folded for k in family],
            pairings.first,
            pairings.second,
            alternative=pairings.alternative,
            K=self.K,
            rng=rng,
        )
        # What was sampled could fall below p, which is exact.
        return np.maximum(found.adjusted, pvalue), found.exact


def check_adjustment(correction: str, family: str) -> None:
    """Raise ValueError unless both are known."""
    check_correction(correction)
    if family not in FAMILIES:
        raise ValueError(f"family={family!r} must be 'each' or 'all'")
