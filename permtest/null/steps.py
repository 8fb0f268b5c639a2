"""Alg. 3 entry by entry: what each turn of its outer loop adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from permtest.null.distribution import LatticeDistribution, pmf
from permtest.null.dp import convolve_dp
from permtest.null.grouping import as_two_point_sum, attainable


class Copy(NamedTuple):
    """The law so far, moved by one of the effects of the incoming entry, and weighted."""

    effect: int
    weight: float
    law: LatticeDistribution


@dataclass(frozen=True)
class Step:
    """One turn of the outer loop of Alg. 3.

    Parameters
    ----------
    n : int
        How many entries are in; 0 before the first turn.
    copies : tuple of Copy
        What lines 6 to 8 add up, one for each effect, the smaller effect first; none for n = 0.
    law : LatticeDistribution
        F_n, their sum.
    n_values : int
        How many values the sum can have. (A cell of the law can be 0 because it is too small.)

    Examples
    --------
    >>> from permtest import pmf
    >>> from permtest.null.steps import Step
    >>> step = Step.of([pmf(0, 1), pmf(-2, 2)], 2)
    >>> step.law.support, step.law.pmf
    (array([-2, -1,  0,  1,  2,  3]), array([0.25, 0.25, 0.  , 0.  , 0.25, 0.25]))
    >>> [copy.effect for copy in step.copies]
    [-2, 2]
    """

    n: int
    copies: tuple[Copy, ...]
    law: LatticeDistribution
    n_values: int

    @classmethod
    def of(cls, laws: Sequence[LatticeDistribution], n: int) -> Step:
        """The step that lets in entry n, counted from 1."""
        check_n(n, len(laws))
        grouped = as_two_point_sum(laws[:n])
        after, n_values = convolve_dp(grouped), int(attainable(grouped).sum())
        if n == 0:
            return cls(0, (), after, n_values)
        before, entry = laws[: n - 1], laws[n - 1]
        effects = entry.support[entry.pmf > 0].tolist()
        copies = (Copy(z, entry(z), convolve_dp([*before, pmf(z, z)])) for z in effects)
        return cls(n, tuple(copies), after, n_values)


def check_n(n: int, size: int) -> None:
    """Refuse what is no number of entries."""
    if not 0 <= n <= size:
        raise ValueError(f"n={n} must lie between 0 and the number of laws, {size}")


def spacing(laws: Sequence[LatticeDistribution]) -> int:
    """The distance of neighbouring values of the sum of all entries."""
    law = as_two_point_sum(laws)
    return law.unit if law.n_informative else 1
