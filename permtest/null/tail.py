"""Upper tail probabilities of T, accurate relative to themselves.

A tail is a sum of cells. What can go wrong is the size of those cells: an FFT is accurate to
1e-16 absolutely, and a float64 holds nothing below 5e-324. Exponential tilting (Keich 2005) moves
the mass next to the tail before convolving, and the tilt is undone in closed form:

    P(T = t) = exp(K(tau) - tau t) P_tau(T = t),  K(tau) = sum_k c_k log((1 + exp(tau w_k)) / 2),

where T = sum_k w_k Binomial(c_k, 1/2) for U distinct widths w_k that c_k entries have, as in
`TwoPointSum`. So p = 1e-300 is a number of ordinary size under the tilt, times exp(K - tau t); the
sum over frequencies that gives the former is in `tail_kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial, wraps
from itertools import combinations
from math import inf
from typing import TypeAlias

import numpy as np

from permtest._checks import TooHard
from permtest._jit import NUMBA, worth_compiling
from permtest.null.bracket import log_count, peaks
from permtest.null.convolution import dp_cells, dp_rounding, fft_cells, norm
from permtest.null.distribution import (
    CERTAIN,
    IMPOSSIBLE,
    MAX_CELLS,
    UNDERFLOW,
    Probability,
    TwoPointSum,
    add_counts,
    from_widths,
)
from permtest.null.enumeration import QUICK, can_halve, count_tail
from permtest.null.many_point import ManyPointSum
from permtest.null.tail_kernels import (
    TiltedLaw,
    find_tilt,
    log_scale,
    tail_sum,
    tilt_of,
    tilt_towards,
)

#: How many widths `tail_tilted` looks at before it gives up, 5 ns each: half a minute.
PATIENCE = 6 * 10**9

#: Widths and cells that NumPy takes together in the time of a look; and additions in that of one.
IN_NUMPY, COSINE = 200, 10

#: Widths that the tilted tail may look at, and cells that dynamic programming may update, in a
#: first try and in a second one: a hundredth of a second, some tenths.
LOOKS, UPDATES = 2 * 10**6, 2 * 10**7
MORE_LOOKS, MORE_UPDATES = 5 * 10**7, 3 * 10**8

#: In NumPy, dynamic programming is quicker than the tilted tail of so few pairs that differ,
#: if it updates no more cells.
PAIRS, SHORT = 300, 10**6

#: Looks that are always granted, because so few take no time.
LEAST = 10**5

#: The second try is hopeless where the largest width has so many cells, unless widths are few: each
#: takes some looks at a hundred widths.
HOPELESS, FEW = 10**5, 20

#: From this width on, which is longer for more entries, and with so many of them, the peaks of
#: |phi| are found on a grid.
LONG, CELLS_EACH, MANY = 3000, 20, 150

#: Logarithm of the number of labellings up to which those beyond a threshold are counted: as a
#: rule halves have no more sums than can be listed.
MOST_COUNTED = 23.0

#: P(T >= t0) of a law under the null hypothesis.
Tail: TypeAlias = Callable[[TwoPointSum, int], Probability]


def _by_symmetry(tail: Callable[..., Probability]) -> Callable[..., Probability]:
    """Extend a tail that is valid above the centre to every t0, by symmetry; the ends are exact."""

    @wraps(tail)
    def anywhere(law: TwoPointSum, t0: int, **how: int) -> Probability:
        if t0 <= 0:
            return CERTAIN
        if t0 >= law.top:
            return IMPOSSIBLE if t0 > law.top else CERTAIN.halved(law.n_informative)
        if 2 * t0 <= law.top:
            return anywhere(law, law.top - t0 + 1, **how).complement()
        return tail(law, t0, **how)

    return anywhere


@_by_symmetry
def tail_tilted(law: TwoPointSum, t0: int, work: int = PATIENCE) -> Probability:
    """P(T >= t0) by inverting the characteristic function of the tilted law, at the tail only.

    The lattice spans some 20 standard deviations; all but a few of its frequencies are left out,
    with a bound: O(U) for U widths that are small for their number. Raises TooHard if more than
    `work` widths would be looked at. After Pagano and Tritchler (1983) and Keich (2005).
    """
    if law.top >= 2**53 or float(law.widths[-1]) * min(law.top + 1.0, 21 * law.deviation) > 2**62:
        raise _too_hard(law)
    steps = 21 * law.deviation * law.widths.size
    if not worth_compiling(COSINE * steps) and steps < IN_NUMPY * work:
        with suppress(TooHard):  # the same in NumPy, at all frequencies
            return ManyPointSum.of_coins(law.widths, law.counts).tail(t0)
    if NUMBA:
        return _sum_tail(law, t0, work)
    raise _too_hard(law)


def _sum_tail(law: TwoPointSum, t0: int, work: int) -> Probability:
    """P(T >= t0) by the kernel; TooHard if that takes more `work`."""
    tilted, window = tilt_towards(law.widths, law.counts, law.top, t0)
    ranges, rest = np.array([[1, window.m // 2]]), 0.0
    n = law.n_informative
    if law.widths[-1] >= max(LONG, CELLS_EACH * n) and n >= MANY:
        ranges, rest = peaks(tilted, window.m, window.cut, min(50 * work, 10**9))
    factor, rough, left = tail_sum(tilted, window, work, ranges, rest)
    if left <= 0:
        raise _too_hard(law)
    high, low, error = window.scale
    return Probability.of_product(high, low, factor, error + rough / (factor - rough))


@_by_symmetry
def tail_dp(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by dynamic programming; tilted only where plain cells would underflow.

    By symmetry this is P(T <= top - t0), so that only the cells up to there are made, and entries
    of greater width must stay, each with probability 1/2.
    """
    size = law.top - t0 + 1
    free = law.widths < size
    rest, stuck = law.only(free), int(law.counts[~free].sum())
    t0 = rest.top - size + 1
    if t0 <= 0:
        return CERTAIN.halved(stuck)
    tail = float(np.sum(dp_cells(rest, size)))
    if tail > UNDERFLOW:
        return Probability.of(tail, dp_rounding(rest)).halved(stuck)
    tau = tilt_to(rest, t0)
    tail = float(dp_cells(rest.tilted(-tau), size)[::-1] @ np.exp(-tau * np.arange(size)))
    return _untilted(rest, t0, tau, tail, 8 * dp_rounding(rest)).halved(stuck)


def attempts(law: TwoPointSum, t0: int) -> Iterator[tuple[str, Tail]]:
    """Names and functions to try for P(T >= t0), one after the other until one is not too hard.

    The quickest first; dynamic programming once it takes no more than some times what was tried.
    """
    size = max(min(law.top - t0 + 1, t0), 1)  # of the tail, or of its complement
    updates = law.dp_operations(size) if size <= MAX_CELLS else inf
    enough = max(updates, LEAST)
    if not worth_compiling(0) and law.n_informative <= PAIRS and updates <= SHORT:
        yield "dp", tail_dp
    yield "tilted", partial(tail_tilted, work=int(min(LOOKS, enough)))
    if updates <= UPDATES:
        yield "dp", tail_dp
    if shorten(law, t0) is not None:
        yield "tilted", _tail_shortened
    if is_countable(law, t0):
        yield "enumeration", tail_counted
    if law.widths[-1] <= HOPELESS or law.widths.size < FEW:
        yield "tilted", partial(tail_tilted, work=int(min(MORE_LOOKS, enough)))
    if updates <= MORE_UPDATES:
        yield "dp", tail_dp


def is_countable(law: TwoPointSum, t0: int) -> bool:
    """Whether the labellings on one side of a threshold are likely to be few enough to count."""
    return can_halve(law, QUICK) or (law.top < 2**62 and log_count(law, t0) <= MOST_COUNTED)


def tail_counted(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) from the number of labellings, in integers."""
    return Probability.of_ratio(count_tail(law, t0), law.n_informative)


@_by_symmetry
def _tail_shortened(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) on a shorter lattice."""
    found = shorten(law, t0)
    assert found is not None, "it depends on the law alone whether there is one"
    for _, tail in attempts(*found):
        try:
            return tail(*found)
        except TooHard:
            continue
    raise _too_hard(law)


@_by_symmetry
def tail_fft(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by FFT convolution (Alg. 4): tilt, convolve, add up the tail, undo the tilt."""
    law.check_size("the null distribution")
    tau = tilt_to(law, t0)
    found, undo = fft_cells(law.tilted(tau)), np.exp(-tau * np.arange(law.top - t0 + 1))
    tail = float(np.sum(found.cells[t0:] * undo))
    return _untilted(law, t0, tau, tail, found.relative + found.noise * norm(undo) / tail)


def tilt_to(law: TwoPointSum, t0: int) -> float:
    """tau >= 0 with tilted mean t0, about; any tau would be exact, this one puts the mass there."""
    excess = t0 - law.top / 2
    return find_tilt(law.widths, law.counts, excess) if excess > 0 else 0.0


def _untilted(law: TwoPointSum, t0: int, tau: float, tail: float, error: float) -> Probability:
    """exp(K(tau) - tau t0) times what a tilted law has for the tail."""
    tilted = TiltedLaw(law.widths, law.counts, tilt_of(tau, law.widths))
    high, low, rounding, _ = log_scale(tau, 2 * t0 - law.top, tilted)
    return Probability.of_product(high, low, tail, error + rounding)


def _too_hard(law: TwoPointSum) -> TooHard:
    return TooHard(
        f"the exact p-value of {law.n_informative:,} differing pairs with {law.widths.size:,} "
        "distinct sizes of differences would take too long",
        "method='bracket' gives bounds that contain it, monte_carlo an estimate",
    )


#: With more distinct widths it is not tried; it would take a second, and hardly ever succeed.
MAX_WIDTHS = 200
#: Up to so many, differences of two widths are tried as L too.
MAX_PAIRED = 40


def shorten(law: TwoPointSum, t0: int) -> tuple[TwoPointSum, int] | None:
    """A law and a threshold with the same P(T >= t0), on a shorter lattice; None if none is found.

    Thirds that were printed as decimals, counts with one giant among them, millions and ones: such
    widths, of any size, make long lattices with hardly anything on them. Write w = a L + r with a
    small remainder r. Then T = L K + R, and where R has less room than L, T is ordered by K first
    and by R second. Any other L with as much room as R needs gives the same order, hence the same
    tails. Cost O(U^2), or O(U^3) for few distinct widths.
    """
    if law.widths.size > MAX_WIDTHS:
        return None
    widths, lengths = law.widths.astype(object), set(law.widths.tolist())
    if widths.size <= MAX_PAIRED:
        lengths |= {b - a for a, b in combinations(widths.tolist(), 2)}
    for length in sorted(lengths - {1}, reverse=True):
        a = (2 * widths + length - 1) // (2 * length)  # so that r is as small as can be
        r = widths - length * a
        below, room = law.counts @ np.minimum(r, 0), law.counts @ np.abs(r)
        step = int(np.gcd.reduce(r)) or 1
        shorter = room // step + 1
        if room >= length or shorter >= length:
            continue
        # T - below = L K + (R - below), and the last term is from 0 to room.
        multiple, rest = divmod(t0 - below, length)
        rest = -(-rest // step)
        if rest > room // step:
            multiple, rest = multiple + 1, 0
        threshold = multiple * shorter + rest + below // step
        new = from_widths(law.n, *add_counts(a * shorter + r // step, law.counts))
        return new, -(-threshold // new.unit)
    return None
