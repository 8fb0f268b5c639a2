"""The whole null distribution: Alg. 3 and Alg. 4.

The sum of N independent entries has the law f_1 * ... * f_N. Dynamic programming (Alg. 3) folds
entries in one after the other,

    F_n(z) = stay_n F_{n-1}(z - low_n) + move_n F_{n-1}(z - high_n),

all terms being positive, so that cells are accurate relative to themselves. Divide and conquer
(Alg. 4) convolves halves by the fast Fourier transform; roundings are then absolute, 1e-16 or so.
Cells that are too small for a float64 are of ordinary size under an exponential tilt,

    P(T = t) = exp(K(tau) - tau t) P_tau(T = t),

so that a few tilted laws, side by side, have the logarithms of all cells.
"""

from __future__ import annotations

from math import hypot, log, log2
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest import _jit
from permtest._errors import TooHard
from permtest._jit import Floats, compiled_or
from permtest.null.distribution import (
    EPS,
    MAX_CELLS,
    LatticeDistribution,
    LocalLaws,
    TwoPointSum,
    as_two_point_sum,
    attainable,
)
from permtest.null.tail_kernels import tilt_towards

#: A width, how many entries have it, and their probabilities to stay and to move.
Group: TypeAlias = tuple[int, int, float, float]

#: Up to so many informative entries all probabilities are exact in a float64.
ROUNDLESS = 52
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
    return _spread(law, law.top + 1 if size is None else size) / MASS


def _spread(law: TwoPointSum, size: int) -> Floats:
    """`MASS` times the probabilities of T on the first `size` cells."""
    if size > MAX_CELLS:
        law.check_size("the null distribution")
    widths = np.minimum(law.widths, size).astype(np.int64)
    # NumPy takes some microseconds an entry, and a nanosecond a cell.
    steps = float(law.n_informative) * (4_000 + size)
    fold, n = add_steps if steps > _jit.patience else _add_steps, 1
    # Below the cells are as many zeros as entries may move by.
    table, spare = np.zeros((2, int(widths.max(initial=0)) + size))
    table[-size] = MASS
    columns = (x.tolist() for x in (widths, law.counts, law.stay, law.move))
    for group in zip(*columns, strict=True):
        flipped, n = fold(group, n, size, table, spare)
        if flipped:
            table, spare = spare, table
    return table[-size:]


def dp_rounding(law: TwoPointSum) -> float:
    """Bound on the relative error of a sum of `dp_cells` of the null law, added up in pairs.

    Entries are rounded by EPS / 2 at most, one by one; with few, cells are multiples of 2^-N'.
    """
    return EPS / 2 * (law.n_informative + 64) if law.n_informative > ROUNDLESS else 0.0


def _add_steps(group: Group, n: int, size: int, table: Floats, spare: Floats) -> tuple[bool, int]:
    """`add_steps` in NumPy."""
    (w, count, stay, move), pad = group, table.size - size
    for _ in range(count):
        n = min(n + w, size)
        moved = np.multiply(table[pad - w : pad - w + n], move, out=spare[:n])
        table[pad : pad + n] *= stay
        table[pad : pad + n] += moved
    return False, n


@compiled_or(_add_steps)
def add_steps(group: Group, n: int, size: int, table: Floats, spare: Floats) -> tuple[bool, int]:
    """Fold entries of one width into a law on n of the last `size` cells (Alg. 3, lines 4-8).

    `table` has zeros before them, no fewer than the width, and `spare` has zeros. Returns whether
    the result is in `spare`, and how many cells it has.
    """
    (w, count, stay, move), pad = group, table.size - size
    for _ in range(count):
        n = min(n + w, size)
        # A loop from 0 to the length of a slice is what the compiler vectorises.
        stayed, moved = table[pad : pad + n], table[pad - w : pad - w + n]
        both = spare[pad : pad + n]
        for t in range(both.size):
            both[t] = stay * stayed[t] + move * moved[t]
        table, spare = spare, table
    return count % 2 == 1, n


#: Rounding noise is stated as so many times its standard deviation.
SAFETY = 16.0


class Rounded(NamedTuple):
    """Cells of a law with two kinds of error.

    `relative` bounds the relative error that comes from the leaves, which are independent. `noise`
    is `SAFETY` times the standard deviation of the rounding errors of the FFTs in each cell.
    """

    cells: Floats
    relative: float
    noise: float

    def probability(self, chosen: NDArray[np.bool_]) -> tuple[float, float]:
        """The sum of some cells, and its noise, which comes on top of `relative`."""
        # Errors of low frequencies do not average out over many cells: they come to a few EPS.
        noise = self.noise * float(chosen.sum()) ** 0.5 + SAFETY * EPS
        return float(np.sum(self.cells[chosen])), noise


def convolve_fft(pmfs: LocalLaws) -> LatticeDistribution:
    """The law of the sum of independent entries, by recursive FFT convolution (Alg. 4).

    Entries of equal law are convolved in closed form first (a binomial law on multiples of their
    width); halves of what remains are convolved recursively. Cells that no labelling reaches are
    exactly 0.

    Parameters
    ----------
    pmfs : sequence of LatticeDistribution
        As in `convolve_dp`.

    Returns
    -------
    LatticeDistribution
        Accurate to about 1e-16 *absolutely*, as its `absolute_error` says; cells below that are
        noise, cut off at 0. Use `convolve_dp` where far tails matter.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `convolve_dp`.

    Notes
    -----
    Time O(A log(A) log(U)) and space O(A) for U distinct widths and A the largest sum of widths.

    Examples
    --------
    >>> from permtest import convolve_fft, pmf
    >>> F = convolve_fft([pmf(1, -1), pmf(1, -1)])
    >>> F.support.tolist(), F.pmf.round(15).tolist()
    ([-2, 0, 2], [0.25, 0.5, 0.25])
    """
    law = as_two_point_sum(pmfs)
    found = fft_cells(law)
    return law.distribution(np.maximum(found.cells, 0.0), found.noise)


def fft_cells(law: TwoPointSum) -> Rounded:
    """Probabilities of T on all ``top + 1`` cells, with errors; rounding may leave some below 0."""
    law.check_size("the null distribution")
    found = _convolve([_binomial(law, k) for k in range(law.widths.size)])
    return found._replace(cells=np.where(attainable(law), found.cells, 0.0))


def _convolve(leaves: list[Rounded]) -> Rounded:
    """Halve, convolve the halves, multiply (Alg. 4)."""
    if not leaves:
        return Rounded(np.ones(1), 0.0, 0.0)
    if len(leaves) == 1:
        return leaves[0]
    ends = np.cumsum([leaf.cells.size for leaf in leaves])
    middle = int(np.searchsorted(ends, ends[-1] / 2))  # halves of equal length, not equal number
    middle = min(max(middle, 1), len(leaves) - 1)
    return _product(_convolve(leaves[:middle]), _convolve(leaves[middle:]))


def norm(cells: Floats) -> float:
    """The Euclidean norm, without the threads of a linear algebra library."""
    return float(np.sqrt(np.sum(np.square(cells))))


def _product(f: Rounded, g: Rounded) -> Rounded:
    """One convolution through a real FFT, with its errors."""
    # A transform of length m adds noise, EPS sqrt(log2 m) at most; factors average each other's.
    from scipy import fft

    n = f.cells.size + g.cells.size - 1
    m = fft.next_fast_len(n, real=True)
    waves = fft.rfft(f.cells, m)
    waves *= fft.rfft(g.cells, m)
    cells = fft.irfft(waves, m, overwrite_x=True)[:n]
    f_norm, g_norm = norm(f.cells), norm(g.cells)
    new = SAFETY * EPS * (log2(m + 1) / m) ** 0.5 * (f_norm * g_norm + min(f_norm, g_norm))
    noise = hypot(f.noise * g_norm, g.noise * f_norm, new)
    return Rounded(cells, hypot(f.relative, g.relative), noise)


def _binomial(law: TwoPointSum, k: int) -> Rounded:
    """Law of the k-th group, width * Binomial(count, move), from the mode outwards."""
    # Roundings add up with the distance from there, a few times sqrt(n); measured: a third of this.
    n, stay, move = int(law.counts[k]), float(law.stay[k]), float(law.move[k])
    mode = min(int((n + 1) * move), n)
    up, down = np.arange(mode, n), np.arange(mode, 0, -1)
    rises = np.cumprod((n - up) * move / ((up + 1) * stay))
    falls = np.cumprod(down * stay / ((n - down + 1) * move))
    weights = np.concatenate((falls[::-1], [1.0], rises))
    cells = np.zeros(int(law.widths[k]) * n + 1)
    cells[:: int(law.widths[k])] = weights / weights.sum()
    return Rounded(cells, EPS * (8 + 2 * n**0.5), 0.0)


#: Cells of `MASS` below this may have lost digits to underflow.
FAINT = 1e-290
#: Cell updates that take about a second.
MOST_UPDATES = 3 * 10**9


def log_cells(law: TwoPointSum) -> tuple[Floats, float]:
    """log P(T = t) on all cells of a null law, -inf where nothing can be, and an error.

    P is off by no more than error + 5 EPS |log P|, relative to itself. TooHard if it takes long, or
    if no tilted law has enough left where the one before, nearer to the centre, has too little.
    """
    possible, spent, tau, scale = attainable(law), 0.0, 0.0, -log(MASS)
    logs, end, centre = np.full(law.top + 1, -np.inf), law.top // 2 + 1, 0
    while end > 0:
        spent += law.dp_operations(end)
        cells = _spread(law.tilted(-tau), end) if spent <= MOST_UPDATES else np.zeros(end)
        lost = np.flatnonzero(possible[:end] & (cells < FAINT))
        start = int(lost[-1]) + 1 if lost.size else 0
        if start == end:
            raise TooHard(
                f"the null distribution of {law.n_informative:,} entries on {law.top + 1:,} cells "
                "would take long with relative accuracy; method='fft' has absolute accuracy"
            )
        found = np.arange(start, end)[possible[start:end]]
        logs[found] = np.log(cells[found]) + (scale + tau * (found - centre))
        end = start
        if end > 0:
            centre = max(end - 1, 1)
            _, window = tilt_towards(law.widths, law.counts, law.top, law.top - centre)
            tau, scale = window.tau, window.scale[0] - log(MASS)
    return np.maximum(logs, logs[::-1]), 8 * dp_rounding(law) + 2 * EPS * log(MASS)
