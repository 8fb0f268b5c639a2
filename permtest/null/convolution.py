"""The whole null distribution: Alg. 3, Alg. 4, and the characteristic function.

The sum of N independent entries has the law f_1 * ... * f_N. Dynamic programming (Alg. 3) folds
entries in one after the other,

    F_n(z) = stay_n F_{n-1}(z - low_n) + move_n F_{n-1}(z - high_n),

all terms being positive, so that cells are accurate relative to themselves. Divide and conquer
(Alg. 4) convolves halves by the fast Fourier transform; roundings are then absolute, 1e-16 or so.
The discrete Fourier transform of F is known in closed form too (Pagano and Tritchler 1983), a
product with one factor for each distinct width,

    phi(theta) = prod_k (stay_k + move_k exp(i theta w_k))^c_k,

so that one inverse transform does it, and no forward one. Of a tilted law it needs no more than a
window that holds its mass, tile by tile the whole lattice with relative accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, exp, hypot, inf, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._checks import TooHard
from permtest._jit import Floats, Ints, numpy_first, spend
from permtest._progress import progress
from permtest.null.distribution import EPS, LatticeDistribution, pmf
from permtest.null.grouping import MAX_CELLS, LocalLaws, TwoPointSum, as_two_point_sum, attainable
from permtest.null.tail_kernels import (
    LIKELY,
    OUTSIDE,
    TiltedLaw,
    characteristic,
    log_scale,
    tilt_towards,
)

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


#: Powers of 2^512 by which a number is smaller than another, up to two, beyond which it is lost.
SHIFTS = np.array([1.0, 2.0**-512, 0.0])
#: So many halvings of a number above 2^-256 do not make it underflow.
SAFE_STEPS = 256


def dp_log_cells(law: TwoPointSum) -> Floats:
    """log P(T = t) on all cells, far below what a float64 can hold; -inf where nothing can be.

    Each is accurate relative to P, where staying and moving are equally likely. Cells are numbers
    ``table[t] * 2.0**(512 * powers[t])``. Some ten times as slow as `dp_cells`.
    """
    law.check_size("the null distribution")
    table, powers = np.zeros(law.top + 1), np.full(law.top + 1, -(2**40), dtype=np.int64)
    table[0], powers[0], n = 1.0, 0, 1
    widths = np.repeat(law.widths.astype(np.int64), law.counts.astype(np.intp)).tolist()
    for done, w in enumerate(widths, 1):
        x, y, stay, move = table[w : n + w], table[:n], powers[w : n + w], powers[:n]
        power = np.maximum(stay, move)
        x = x * SHIFTS[np.minimum(power - stay, 2)] + y * SHIFTS[np.minimum(power - move, 2)]
        table[w : n + w], powers[w : n + w] = x, power
        n += w
        table[:n] *= 0.5
        if done % SAFE_STEPS == 0 or done == len(widths):
            small = (table[:n] > 0) & (table[:n] < 2.0**-256)
            table[:n][small] *= 2.0**512
            powers[:n] -= small
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


#: Rounding noise is stated as so many times its standard deviation.
SAFETY = 16.0


class Rounded(NamedTuple):
    """Cells of a law with two kinds of error.

    `relative` bounds the relative error that comes from the leaves, those of different leaves
    being independent. `noise` is `SAFETY` times the standard deviation that the rounding errors of
    the FFTs have in each cell, errors of different cells being as good as uncorrelated.
    """

    cells: Floats
    relative: float
    noise: float


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
    return law.distribution(found.cells, found.noise)


def fft_cells(law: TwoPointSum) -> Rounded:
    """Probabilities of T on all ``top + 1`` cells, with their errors."""
    law.check_size("the null distribution")
    found = _convolve([_binomial(law, k) for k in range(law.widths.size)])
    return found._replace(cells=np.where(attainable(law), np.maximum(found.cells, 0.0), 0.0))


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
    """One convolution through a real FFT, with its errors.

    A transform of length m adds noise of relative size EPS sqrt(log2 m) at most, spread evenly;
    noise that a factor has already is averaged by the other factor.
    """
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
    """Law of the k-th group: width * Binomial(count, move), from the mode outwards.

    Roundings accumulate with the distance from the mode, a few standard deviations, that is a few
    times sqrt(n); measured, they stay below a third of the bound given here.
    """
    n, stay, move = int(law.counts[k]), float(law.stay[k]), float(law.move[k])
    mode = min(int((n + 1) * move), n)
    up, down = np.arange(mode, n), np.arange(mode, 0, -1)
    rises = np.cumprod((n - up) * move / ((up + 1) * stay))
    falls = np.cumprod(down * stay / ((n - down + 1) * move))
    weights = np.concatenate((falls[::-1], [1.0], rises))
    cells = np.zeros(int(law.widths[k]) * n + 1)
    cells[:: int(law.widths[k])] = weights / weights.sum()
    return Rounded(cells, EPS * (8 + 2 * n**0.5), 0.0)


def convolve_cf(pmfs: LocalLaws) -> LatticeDistribution:
    """The law of the sum of independent entries, from its characteristic function.

    Parameters
    ----------
    pmfs : sequence of LatticeDistribution
        As in `convolve_dp`.

    Returns
    -------
    LatticeDistribution
        As accurate as that of `convolve_fft`.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `convolve_dp`.

    Notes
    -----
    Time O(A U + A log A) at worst and space O(A), for U distinct widths and A the largest sum of
    widths: one product of cosines for each frequency, cut short where it is negligible, and one
    inverse FFT. Source: Pagano and Tritchler (1983).

    Examples
    --------
    >>> from permtest import convolve_cf, pmf
    >>> F = convolve_cf([pmf(1, -1), pmf(1, -1)])
    >>> F.support.tolist(), F.pmf.round(15).tolist()
    ([-2, 0, 2], [0.25, 0.5, 0.25])
    """
    law = as_two_point_sum(pmfs)
    found = cf_cells(law)
    return law.distribution(found.cells, found.noise)


def cf_cells(law: TwoPointSum) -> Rounded:
    """Probabilities of T on all ``top + 1`` cells, with their errors."""
    from scipy import fft

    law.check_size("the null distribution")
    m = fft.next_fast_len(law.top + 1, real=True)
    weights = law.counts * law.widths.astype(np.float64)
    centre = round(law.top / 2 + float(weights @ (law.move - law.stay)) / 2)
    tilted = _for_kernels(law)
    *_, shift = log_scale(0.0, 2 * centre - law.top, tilted)
    found = _invert(tilted, shift, m, centre, inf)
    cells = np.maximum(found.cells[: law.top + 1], 0.0)
    return found._replace(cells=np.where(attainable(law), cells, 0.0))


def _for_kernels(law: TwoPointSum) -> TiltedLaw:
    """The law with beta = move - stay as the kernels want it: base, rest, and 1 - beta^2."""
    base = np.where(law.move > LIKELY, 1.0, np.where(law.stay > LIKELY, -1.0, 0.0))
    rest = np.where(base > 0, -2 * law.stay, np.where(base < 0, 2 * law.move, law.move - law.stay))
    return TiltedLaw(law.widths, law.counts, np.array([base, rest, 4 * law.stay * law.move]))


def _invert(
    law: TiltedLaw, shift: tuple[float, float], m: int, before: int, work: float
) -> Rounded:
    """The law wrapped around a lattice of m points, from `before` cells below t0 on.

    t0 is by `shift` below the mean. The noise is infinite if more than `work` widths would have to
    be looked at.
    """
    from scipy import fft

    values = np.zeros(m // 2 + 1, dtype=np.complex128)
    squares, common = characteristic(m, shift, work, law, values)
    cells: Floats = np.roll(fft.irfft(values, m), before)
    own, size = (2 * squares) ** 0.5 / m, norm(cells)
    # `own` adds up what each rounding can be at its worst, four times what it is as a rule.
    noise = SAFETY * (own / 4 + EPS * (log2(m + 1) / m) ** 0.5 * size)
    return Rounded(cells, SAFETY / 4 * common, noise)  # low frequencies move many cells alike


# The whole law with relative accuracy everywhere. Under a tilt the cells within a few deviations of
# its mean are large, so that the absolute accuracy of a transform is relative accuracy there. Tile
# by tile this covers the lattice.

#: What the noise in a cell may be, relative to it.
TOLERANCE = 3e-13
#: Half of the width of a tile, in standard deviations.
REACH = 2.0
#: Points that all tiles together may need, for each cell of the lattice.
BUDGET = 20
#: Widths that may be looked at for one tile: a tenth of a second.
LOOKS = 2e7
#: How often a bar that shows progress moves.
TICKS = 64
#: Cell updates up to which dynamic programming is as quick as a few tiles, and which it may take
#: where tiles do not do: some seconds.
QUICK, PATIENCE = 2 * 10**6, 3 * 10**8


def log_cells(law: TwoPointSum) -> tuple[Floats, float]:
    """log P(T = t) on all cells of a null law, -inf where nothing can be, and an error.

    P is off by no more than error + 5 EPS |log P|, relative to itself. Time O(A log A): tiles of
    four standard deviations, each from one FFT some 20 deviations long. Raises TooHard if it would
    take too long: laws with cells between two humps, which no tilt makes likely, and laws of many
    large widths need dynamic programming.
    """
    law.check_size("the null distribution")
    updates = dp_operations(law)
    found = tiled(law) if updates > QUICK else None
    if found is not None:
        return found
    if updates > PATIENCE:
        raise TooHard(
            f"the null distribution of {law.n_informative:,} entries on {law.top + 1:,} cells has "
            "gaps that only dynamic programming could fill with relative accuracy, which would "
            "take long; method='cf' has absolute accuracy"
        )
    return dp_log_cells(law), 2 * dp_rounding(law)


def tiled(law: TwoPointSum) -> tuple[Floats, float] | None:
    """`log_cells` from tiles alone; None if some cell is not likely under any tilt."""
    logs, errors = np.full(law.top + 1, np.nan), [0.0]
    ticks = _cover(law, logs, errors)
    for _ in progress(ticks, total=TICKS, what="null distribution"):
        pass
    middle = (law.top + 1) // 2
    if np.isnan(logs[-1]):
        return None
    logs[: law.top + 1 - middle] = logs[middle:][::-1]
    return logs, max(errors)


def _cover(law: TwoPointSum, logs: Floats, errors: list[float]) -> Iterator[int]:
    """Fill `logs` from the middle to the upper end, tile by tile; stop where no tile will do.

    Stops too where the widths are so large that tiles near the end need far more points than
    they cover. Yields `TICKS` times on the way.
    """
    possible = attainable(law)
    start = t = (law.top + 1) // 2
    deviation, tick, spent = law.deviation, 0, 0
    while t <= law.top and spent <= BUDGET * (law.top + 10**5):
        centre = min(t + int(REACH * deviation), law.top - 1)
        for towards in (centre, min(t, law.top - 1)):
            tile, error, deviation, points = _tile(law, towards, possible, t)
            spent += points
            if tile.size:
                break
        else:
            return
        logs[t : t + tile.size] = tile
        errors.append(error)
        t += tile.size
        while tick < TICKS * (t - start) // (law.top + 1 - start):
            tick += 1
            yield tick


def _tile(
    law: TwoPointSum, centre: int, possible: NDArray[np.bool_], start: int
) -> tuple[Floats, float, float, int]:
    """log P of the accurate cells from `start` on under the tilt to `centre`.

    There are none if the first one that can be reached is not accurate. Also their error, the
    standard deviation of the tilted law, and how many points the transform had.
    """
    from scipy import fft

    tilted, window = tilt_towards(law.widths, law.counts, law.top, centre)
    m, before, work = window.m, window.m - window.cells, LOOKS if window.m <= law.top else inf
    found = _invert(tilted, window.shift, fft.next_fast_len(m, real=True), before, work)
    cells, rough = found.cells[start - centre + before : m], found.noise + 2 * exp(-OUTSIDE)
    reached = possible[start:][: cells.size]
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(reached, rough / np.maximum(cells - rough, 0.0), 0.0)
        end = int(np.argmax(np.append(noise > TOLERANCE, True)))
        logs = np.where(reached, np.log(np.maximum(cells, 0.0)), -np.inf)[:end]
    if not reached[:end].any() and start + end <= law.top:
        end = 0
    high, low, _ = window.scale
    logs += high + low - window.tau * (start - centre + np.arange(logs.size))
    error = found.relative + float(noise[:end].max(initial=0.0))
    return logs[:end], error, window.deviation, m


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
    >>> from permtest.null.convolution import Step
    >>> step = Step.of([pmf(0, 1), pmf(-2, 2)], 2)
    >>> step.law.support.tolist(), step.law.pmf
    ([-2, -1, 0, 1, 2, 3], array([0.25, 0.25, 0.  , 0.  , 0.25, 0.25]))
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
