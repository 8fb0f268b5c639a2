"""How the p-values of a leaderboard allow for the number of tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest.many.multiplicity import adjusted_pvalues, check_correction
from permtest.many.pairings import Pairings

#: What belongs to a family of tests.
FAMILIES = ("each", "all")


class Adjustment(NamedTuple):
    """A correction, the families it is made in, and the random labellings of "max_t"."""

    correction: str
    family: str
    K: int

    def adjusted(self, pairings: Pairings, pvalue: NDArray[np.float64]) -> NDArray[np.float64]:
        """Adjusted p-values, of shape (D, P) as `pvalue`."""
        numbers = list(range(len(pairings.tables)))
        families = [numbers] if self.family == "all" else [[k] for k in numbers]
        found = [self._family(pairings, family, pvalue[family]) for family in families]
        return np.concatenate(found)

    def _family(
        self, pairings: Pairings, family: list[int], pvalue: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.correction != "max_t":
            return adjusted_pvalues(pvalue, self.correction)
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
        return np.maximum(found.adjusted, pvalue)  # which sampling could fall below


def check_adjustment(correction: str, family: str) -> None:
    """Raise ValueError unless both are known."""
    check_correction(correction)
    if family not in FAMILIES:
        raise ValueError(f"family={family!r} must be 'each' or 'all'")
