"""The far tail: any sum that might have been observed, and the tilted law that gives its p."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from permtest.comparison import compare
from permtest.null.cf import cf_cells
from permtest.null.distribution import LatticeDistribution
from permtest.null.grouping import TwoPointSum
from permtest.null.tail import tilt_to
from permtest.result import PermutationTestResult
from permtest.solvers import solve

LARGEST = 20_000  # cells of a law that is drawn
TWO = "two-sided"


@dataclass(frozen=True, eq=False)
class FarTail:
    """A p-value, and the tilted law whose mass lies where the tail begins.

    Parameters
    ----------
    result : PermutationTestResult
        The test.
    null : LatticeDistribution
        The null law of the sum.
    tau : float
        The tilt: a sum larger by one unit becomes exp(tau) times as likely as it was. 0 or more.
    tilted : LatticeDistribution
        The null law times exp(tau s), divided by its sum.
    noise : float
        By how much each cell may be off if the null law is made by FFT, without a tilt.

    Examples
    --------
    >>> from permtest.study.far_tail import FarTail
    >>> tail = FarTail.of([1] * 90, [0] * 90, observed=60)
    >>> tail.result.pvalue_text(), round(tail.tau, 3)
    ('9.18e-11', 0.805)
    """

    result: PermutationTestResult
    null: LatticeDistribution
    tau: float
    tilted: LatticeDistribution
    noise: float

    @classmethod
    def of(
        cls,
        u: Any,
        v: Any = None,
        observed: Any = None,
        *,
        statistic: str = "sum",
        names: tuple[str, str] | None = None,
    ) -> FarTail:
        """What there is to be seen at one sum, some labelling's; by default the observed one.

        Other arguments are those of `exact_perm_test`.
        """
        return FarTails.of(u, v, statistic, names).tail(observed)

    @property
    def mirrored(self) -> float:
        """The sum on the other side of the middle that is as extreme as the observed one."""
        return self.null.value(self.null.pmf.size - 1 - self.result.observed_cell)

    @property
    def lead(self) -> float:
        """The larger of both sums."""
        return max(self.result.observed_sum, self.mirrored)


class FarTails(NamedTuple):
    """What is the same for all sums that might be observed."""

    result: PermutationTestResult
    steps: TwoPointSum
    law: LatticeDistribution
    noise: float

    @classmethod
    def of(cls, u: Any, v: Any, statistic: str, names: tuple[str, str] | None) -> FarTails:
        """The law of the sum, and how well an FFT knows it; arguments as in `FarTail.of`."""
        comparison = compare(u, v, None, None, statistic=statistic, alternative=TWO, names=names)
        law = comparison.law
        if law.top >= LARGEST:
            raise ValueError(
                f"the sum has {law.top + 1:,} cells, too many to be drawn at each step; take "
                "fewer pairs, or divide all scores by the same number and round them"
            )
        result = PermutationTestResult.of(comparison, solve(comparison))
        return cls(result, law, result.null_distribution, cf_cells(law).noise)

    def tail(self, observed: Any) -> FarTail:
        """The test of one sum, and the law tilted towards it: to its mirror image if that is it."""
        result = self.result if observed is None else self.result.at(observed)
        cell, top, null = result.observed_cell, self.steps.top, self.law
        cell = max(cell, top - cell)
        tau = tilt_to(self.steps, min(cell, top - 1))  # at the very end it would be infinite
        logs = null.log_pmf + tau * (np.arange(top + 1) - cell)
        logs = logs - np.logaddexp.reduce(logs)
        tilted = replace(null, pmf=np.exp(logs), log_cells=logs)
        return FarTail(result, null, tau / float(null.step), tilted, self.noise)
