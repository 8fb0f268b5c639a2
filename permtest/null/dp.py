"""Alg. 3: the null distribution by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._jit import Floats, Ints, jit, numpy_first, spend
from permtest._progress import progress
from permtest.null.distribution import LatticeDistribution, pmf
from permtest.null.grouping import MAX_CELLS, LocalLaws, TwoPointSum, as_two_point_sum, attainable
from permtest.null.probability import EPS

#: Up to so many informative entries all probabilities are exact in a float64.
ROUNDLESS = 52

#: Cell updates between two movements of a bar that shows progress.
AT_ONCE = 2 * 10**8

#: The mass that is spread. A power of two, so that dividing by it is exact; a large one keeps far
#: cells out of the subnormal numbers, with which processors are slow.
MASS = 2.0**1000


def convolve_dp(pmfs: LocalLaws) -> LatticeDistribution:
    """The law of the sum of independent entries, by dynamic programming (Alg. 3).

    Entries are folded in one after the other, shortest first, over the occupied cells only, with
    two buffers in turn. Every term is positive, so every cell is accurate relative to itself: to
    N' * 1.1e-16 at worst for N' informative entries, down to the smallest normal float64, 2e-308.

    Parameters
    ----------
    pmfs : sequence of LatticeDistribution
        The local laws f_1, ..., f_N, each with at most two values, as `pmf` makes them. An empty
        sequence gives the law of the constant 0.

    Returns
    -------
    LatticeDistribution

    Raises
    ------
    TypeError, ValueError
        If an element is no law, or has more than two values.
    MemoryError
        If the sum has more than 2**25 cells.

    Notes
    -----
    Time O(N' A) and space O(A), A being the largest sum of widths (O(G N) in the paper's
    symbols). For integer scores this is the shift algorithm of Streitberg and Röhmel (1986).

    Examples
    --------
    >>> from permtest import convolve_dp, pmf
    >>> F = convolve_dp([pmf(1, -1), pmf(2, -2)])
    >>> F.support.tolist(), F.pmf.tolist()
    ([-3, -1, 1, 3], [0.25, 0.25, 0.25, 0.25])
    """
    law = as_two_point_sum(pmfs)
    return law.distribution(dp_cells(law))


def dp_cells(law: TwoPointSum, size: int | None = None) -> Floats:
    """Probabilities of T on the first `size` cells, or on all ``top + 1``, unless too many."""
    size = law.top + 1 if size is None else size
    if size > MAX_CELLS:
        law.check_size("the null distribution")
    table, spare, n = np.zeros(size), np.zeros(size), 1
    table[0] = MASS
    parts = _parts(law, dp_operations(law, size))
    for widths, counts, stay, move in progress(parts, total=len(parts), what="all sums"):
        flipped, n = add_steps(widths, counts, stay, move, n, table, spare)
        if flipped:
            table, spare = spare, table
    table /= MASS
    return table


def _parts(law: TwoPointSum, operations: float) -> Sequence[tuple[NDArray[Any], ...]]:
    """Entries that are folded in together: all of them, or as many as take some tenths."""
    pieces = ceil(operations / AT_ONCE)
    columns = (law.widths, law.counts, law.stay, law.move)
    if pieces <= 1:
        return [columns]
    most = ceil(law.n_informative / pieces)
    return [
        (widths, np.array([min(most, int(counts[0]) - start)]), stay, move)
        for widths, counts, stay, move in zip(*(x[:, None] for x in columns), strict=True)
        for start in range(0, int(counts[0]), most)
    ]


def dp_rounding(law: TwoPointSum) -> float:
    """Bound on the relative error of a sum of `dp_cells` of the null law.

    Halving is exact; each cell has been added to once for each entry, each time with a relative
    rounding of at most EPS / 2, and the sum over cells is NumPy's, in pairs. With few entries
    nothing is rounded at all: every sum is a multiple of 2^-N'.
    """
    return EPS / 2 * (law.n_informative + 64) if law.n_informative > ROUNDLESS else 0.0


def dp_log_cells(law: TwoPointSum) -> Floats:
    """log P(T = t) on all cells, far below what a float64 can hold; -inf where nothing can be.

    Each is accurate relative to P, where staying and moving are equally likely. Some six times as
    slow as `dp_cells`.
    """
    law.check_size("the null distribution")
    table, spare = np.zeros(law.top + 1), np.zeros(law.top + 1)
    powers, spare_powers = (np.full(law.top + 1, -(2**40)) for _ in range(2))
    table[0], powers[0] = 1.0, 0
    if add_fair_steps(law.widths, law.counts, table, powers, spare, spare_powers):
        table, powers = spare, spare_powers
    logs = np.full(law.top + 1, -np.inf)
    np.log(table, out=logs, where=table > 0)
    logs += powers * (512 * np.log(2.0))
    return logs


#: From here on a lattice is out of reach, and its length may be beyond all floats.
HUGE = 10**18


def dp_operations(law: TwoPointSum, size: int | None = None) -> float:
    """About how many cells `dp_cells` updates: the cost that a choice of method weighs."""
    if law.widths.dtype == object and law.top >= HUGE:
        return inf
    counts, lengths = law.counts.astype(float), (law.widths * law.counts).astype(float)
    # How many cells are occupied, on average, after an entry of a group has come in.
    middles = np.cumsum(lengths) - lengths / 2 + law.widths.astype(float) / 2
    return float(np.minimum(middles, law.top + 1.0 if size is None else size) @ counts)


def _add_steps(
    widths: Ints, counts: Ints, stay: Floats, move: Floats, n: int, table: Floats, spare: Floats
) -> tuple[bool, int]:
    """`add_steps` in NumPy."""
    spend(int(counts.sum()) * (2 + table.size // 1000))
    for w, count, s, m in zip(*(x.tolist() for x in (widths, counts, stay, move)), strict=True):
        for _ in range(count):
            end = min(n + w, table.size)
            moved = spare[: max(end - w, 0)]
            np.multiply(table[: moved.size], m, out=moved)
            table[:n] *= s
            table[n:end] = 0.0
            table[end - moved.size : end] += moved
            n = end
    return False, n


@numpy_first(_add_steps)
def add_steps(
    widths: Ints, counts: Ints, stay: Floats, move: Floats, n: int, table: Floats, spare: Floats
) -> tuple[bool, int]:
    """Fold ``counts[k]`` independent steps of length ``widths[k]`` into a law on 0, 1, 2, ...

    A step moves with probability ``move[k]`` and stays with ``stay[k]`` (Alg. 3, lines 4-8).
    `table` starts with a law on its first n cells, such as the mass of no step in cell 0; both
    arrays have one length, and what moves beyond it is lost, without a trace in the cells below.
    Returns whether the result ended up in `spare`, and how many cells it occupies. Only those are
    read.
    """
    flipped = False
    for k in range(widths.size):
        w, s, m = widths[k], stay[k], move[k]
        for _ in range(counts[k]):
            end = min(n + w, table.size)
            both = max(n - w, 0)  # cells reached by staying and by moving
            # Slices let every loop start at 0, which is what makes the compiler vectorise it.
            stayed = table[w:n] if w < n else table[:0]
            for t in range(n - both):
                spare[t] = s * table[t]
            for t in range(n, min(w, end)):
                spare[t] = 0.0
            middle = spare[n - both : n]
            for t in range(both):
                middle[t] = s * stayed[t] + m * table[t]
            moved, far = table[both:n], spare[max(n, w) : end]
            for t in range(far.size):
                far[t] = m * moved[t]
            table, spare = spare, table
            flipped = not flipped
            n = end
    return flipped, n


@jit
def add_fair_steps(
    widths: Ints, counts: Ints, table: Floats, powers: Ints, spare: Floats, spare_powers: Ints
) -> bool:
    """`add_steps` with probabilities 1/2 and numbers ``table[t] * 2.0**(512 * powers[t])``.

    No cell underflows, however unlikely. Empty cells start with value 0 and a power far below any
    other; cell 0 starts with 1 and 0. Returns True if the result ended up in the spare arrays.
    """
    n = 1
    flipped = False
    for k in range(widths.size):
        w = widths[k]
        for _ in range(counts[k]):
            for t in range(n + w):
                x, power = table[t], powers[t]
                if t >= w:
                    y, other = table[t - w], powers[t - w]
                    if other > power:
                        x, y, power, other = y, x, other, power
                    if power == other:
                        x += y
                    elif power == other + 1:
                        x += y * 2.0**-512
                x /= 2
                if 0.0 < x < 2.0**-256:
                    x, power = x * 2.0**512, power - 1
                elif x > 2.0**256:
                    x, power = x * 2.0**-512, power + 1
                spare[t], spare_powers[t] = x, power
            table, spare = spare, table
            powers, spare_powers = spare_powers, powers
            flipped = not flipped
            n += w
    return flipped


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
    >>> from permtest.null.dp import Step
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
