"""Upper tail probabilities of T, accurate relative to themselves: of one law, and of many at once.

A tail is a sum of cells. What can go wrong is the size of those cells: an FFT is accurate to
1e-16 absolutely, and a float64 holds nothing below 5e-324. Exponential tilting (Keich 2005) moves
the mass next to the tail before convolving, and the tilt is undone in closed form:

    P(T = t) = exp(K(tau) - tau t) P_tau(T = t),  K(tau) = sum_k c_k log((1 + exp(tau w_k)) / 2),

where T = sum_k w_k Binomial(c_k, 1/2) for U distinct widths w_k that c_k entries have, as in
`TwoPointSum`. So p = 1e-300 is a number of ordinary size under the tilt, times exp(K - tau t). A
sum over frequencies gives the former: in `tail_kernels`, or here in NumPy while that is short.

Many tests are solved together, in one call of a kernel: of few entries the labellings beyond the
threshold are counted, by Alg. 3 in integers; of more the tail is summed under a tilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial, wraps
from itertools import combinations
from math import ceil, exp, inf, log
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest import _jit
from permtest._errors import TooHard
from permtest._jit import NUMBA, Floats, Ints, compile_from_now_on, jit
from permtest.null import tail_kernels as kernels
from permtest.null.bracket import log_count, peaks
from permtest.null.convolution import ROUNDLESS, dp_cells, dp_rounding, fft_cells, norm
from permtest.null.distribution import (
    CERTAIN,
    EPS,
    IMPOSSIBLE,
    MAX_CELLS,
    SMALLEST,
    TABLE,
    UNDERFLOW,
    Probability,
    TwoPointSum,
    add_counts,
    count_rows,
    from_widths,
)
from permtest.null.labellings import QUICK, can_halve, count_tail
from permtest.null.multinomial_sum import EXTENDED, LONG_EPS, MOST_CELLS

#: How many widths `tail_tilted` looks at before it gives up, 5 ns each: half a minute.
MOST_LOOKS = 6 * 10**9
#: Pairs of a width and a cell that NumPy takes in the time of a look; and additions that cost as
#: much as a cell of its Fourier transform, and as a width at a frequency that may matter.
IN_NUMPY, CELL, WIDTH = 200, 30, 120
#: Widths times frequencies that NumPy may look at.
MOST_IN_NUMPY = 2**27
#: Widths that the tilted tail may look at, and cells that dynamic programming may update, in a
#: first try and in a second one: a hundredth of a second, some tenths.
LOOKS, UPDATES = 2 * 10**6, 2 * 10**7
MORE_LOOKS, MORE_UPDATES = 5 * 10**7, 3 * 10**8
#: In NumPy, dynamic programming is quicker than the tilted tail if no more than PAIRS differ, and
#: no more than SHORT cells are updated.
PAIRS, SHORT = 200, 5 * 10**7
#: Looks that are always granted; more only up to the updates of dynamic programming.
LEAST = 10**5
#: The second try is hopeless if the largest width has so many cells, unless there are FEW widths:
#: |phi| may have as many peaks, each of which takes some looks at a hundred widths.
HOPELESS, FEW = 10**5, 20
#: The peaks of |phi| are found on a grid if there are MANY entries, and the largest width is at
#: least LONG and CELLS_EACH times their number.
LONG, CELLS_EACH, MANY = 3000, 20, 150
#: Logarithm of the number of labellings up to which those beyond a threshold are counted: as a
#: rule halves have no more sums than can be listed.
MOST_COUNTED = 23.0

#: P(T >= t0) of a law under the null hypothesis.
Tail: TypeAlias = Callable[[TwoPointSum, int], Probability]


def _by_symmetry(tail: Callable[..., Probability]) -> Callable[..., Probability]:
    """Extend a tail that is valid above the centre to every t0, by symmetry; the ends are exact."""

    @wraps(tail)
    def anywhere(law: TwoPointSum, t0: int, **how: Any) -> Probability:
        if t0 <= 0:
            return CERTAIN
        if t0 >= law.top:
            return IMPOSSIBLE if t0 > law.top else CERTAIN.halved(law.n_informative)
        if 2 * t0 <= law.top:
            return anywhere(law, law.top - t0 + 1, **how).complement()
        return tail(law, t0, **how)

    return anywhere


@_by_symmetry
def tail_tilted(law: TwoPointSum, t0: int, work: int = MOST_LOOKS) -> Probability:
    """P(T >= t0) by inverting the characteristic function of the tilted law, at the tail only.

    The lattice spans some 20 standard deviations; all but a few of its frequencies are left out,
    with a bound (Pagano and Tritchler 1983; Keich 2005). TooHard beyond `work` looks at a width.
    """
    spread = 21 * law.deviation
    room = float(law.widths[-1]) * min(law.top + 1.0, spread)
    fits, steps = law.top < 2**53 and room <= 2**62, spread * law.widths.size
    if fits and CELL * spread <= _jit.patience and steps < IN_NUMPY * work:
        with suppress(TooHard):
            return tail_in_numpy(law, t0, most=_jit.patience / WIDTH)
    if fits and NUMBA:
        tilted, window = kernels.tilt_towards(law.widths, law.counts, law.top, t0)
        whole, n = np.array([[1, window.m // 2]]), law.n_informative
        parts, record, (high, low, error) = iter([(whole, 0.0)]), np.zeros(5), window.scale
        if law.widths[-1] >= max(LONG, CELLS_EACH * n) and n >= MANY:
            parts = peaks(tilted, window.m, window.cut, min(50 * work, 10**9))
        for ranges, rest in parts:
            record[kernels.LEFT_OUT] += rest
            factor, rough, left = kernels.tail_sum(tilted, window, work, ranges, record)
            if record[kernels.LOOKED] >= work:
                break
        if left > 0:
            return Probability.of_product(high, low, factor, error + rough / (factor - rough))
    raise TooHard(
        f"the exact p-value of {law.n_informative:,} differing pairs with {law.widths.size:,} "
        "distinct sizes of differences would take too long; "
        "method='bracket' gives bounds that contain it, monte_carlo an estimate",
    )


@_by_symmetry
def tail_in_numpy(law: TwoPointSum, t0: int, most: float = MOST_IN_NUMPY) -> Probability:
    """What `tail_tilted` finds, by arrays: the formulas of `tail_kernels` in extended precision."""
    widths, counts, whole = law.widths, law.counts, 2 * t0 - law.top
    tau = kernels.newton(widths, counts, 0.5 * whole)
    x = EXTENDED(tau) * widths
    odds, likely = np.exp(-x), x > 2.0
    # Entries that are likely to move are measured from where they move to, in what follows.
    whole -= int((widths * counts)[likely].sum())
    rest = np.where(likely, -2 * odds / (1 + odds), np.tanh(x / 2))
    even = np.log1p(2 * np.sinh(np.minimum(x, 2.0) / 4) ** 2)
    parts = np.where(likely, np.log1p(odds) - np.log(EXTENDED(2)), even)
    high = parts @ counts - EXTENDED(tau) * whole / 2  # K(tau) - tau t0
    error = 8 * LONG_EPS * (float(np.abs(parts) @ counts) + tau * abs(whole))
    shift = float((rest * widths) @ counts - whole) / 2
    spread = (4 * odds / (1 + odds) ** 2).astype(np.float64)
    squares = 0.25 * counts * widths.astype(np.float64) ** 2
    variance = float(squares @ spread)
    far = kernels.reach(kernels.OUTSIDE, variance, float(squares.sum()), float(widths[-1]))
    cells = min(ceil(max(far + shift, 0.0)) + 1, law.top - t0 + 1)
    m = cells + ceil(max(far - shift, 0.0)) + 1
    m += -m % (1 << max(m.bit_length() - 4, 0))  # a length that a Fourier transform takes quickly
    if m > law.top:
        m, cells = law.top + 1, law.top - t0 + 1
    cut = kernels.SMALL + log(1 + variance) / 2
    which = _frequencies(law, spread, m, cut + 1, min(most, MOST_IN_NUMPY))
    log_phi = partial(_log_phi, law, whole, (likely, rest.astype(np.float64), spread), m)
    factor, rough = kernels.add_up(log_phi, which, m, cells, tau, widths.size)
    rough += (2 + 2 / tau) * exp(-cut) + 2 * exp(-kernels.OUTSIDE)
    if factor <= 4 * rough:
        raise TooHard("the tail is lost in rounding")
    low = float(high - EXTENDED(float(high)))
    return Probability.of_product(float(high), low, factor, error + rough / (factor - rough))


def _frequencies(law: TwoPointSum, spread: Floats, m: int, cut: float, most: float) -> Ints:
    """The frequencies up to m / 2 at which |phi| may exceed exp(-cut)."""
    if m > MOST_CELLS:
        raise TooHard("the lattice of the tail has too many points for NumPy")
    # As -log(1 - y) >= y + y^2 / 2 for y = spread sin^2, sums of cosines bound -log |phi|.
    widths, counts = law.widths, law.counts
    once, twice = counts * spread * (1 / 4 + spread / 8), counts * spread**2 / 32
    places = (np.concatenate([widths, 2 * widths]) % m).astype(np.intp)
    waves = np.fft.rfft(np.bincount(places, np.concatenate([-once, twice]), m)).real
    which = np.flatnonzero(waves + (once - twice).sum() < cut).astype(np.int64)
    if which.size * widths.size > most:
        raise TooHard("too many frequencies matter for NumPy")
    return which


def _log_phi(law: TwoPointSum, whole: int, tilt: Any, m: int, j: Ints) -> tuple[Any, Floats]:
    """log E exp(i theta (T - t0)) at theta = 2 pi j / m, and its rounding error."""
    (likely, rest, spread), counts = tilt, law.counts
    place = np.multiply.outer(j, law.widths)
    turns = (2 * place + m) // (2 * m)
    half = np.pi / m * (place - m * turns)  # angles are reduced in integers
    sine, cosine = np.sin(half), np.cos(half)
    y = spread * sine**2
    square = np.where(y < 0.5, 1 - y, np.maximum(cosine**2 + (rest * sine) ** 2, 1e-300))
    logs = np.where(y < 0.5, np.log1p(-np.minimum(y, 0.5)), np.log(square))
    across = np.where(likely, rest * sine * cosine, rest * sine)
    turn = np.arctan2(across, np.where(likely, 1 + rest * sine**2, cosine))
    size, odd = 0.5 * logs @ counts, np.where(likely, 0, turns) @ counts % 2
    angle = turn @ counts + np.pi * (odd - j * (whole % (2 * m)) % (2 * m) / m)
    rough = np.abs(half) * (np.abs(rest) + spread * np.abs(sine * cosine)) / square
    return size + 1j * angle, EPS * (8 - 3 * size + (2 * rough + 4 * np.abs(turn)) @ counts)


@_by_symmetry
def tail_dp(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by dynamic programming; tilted only where plain cells would underflow."""
    # By symmetry this is P(T <= top - t0): only the cells up to there are made, and entries of
    # greater width must stay, each with probability 1/2.
    size = law.top - t0 + 1
    free = law.widths < size
    rest, stuck = law.only(free), int(law.counts[~free].sum())
    t0 = rest.top - size + 1
    if t0 <= 0:
        return CERTAIN.halved(stuck)
    tail = float(np.sum(dp_cells(rest, size)))
    if tail > UNDERFLOW:
        return Probability.of(tail, dp_rounding(rest)).halved(stuck)
    _, window = kernels.tilt_towards(rest.widths, rest.counts, rest.top, t0)
    cells = dp_cells(rest.tilted(-window.tau), size)[::-1]
    tail = float(cells @ np.exp(-window.tau * np.arange(size)))
    high, low, error = window.scale
    return Probability.of_product(high, low, tail, 8 * dp_rounding(rest) + error).halved(stuck)


def attempts(law: TwoPointSum, t0: int, *, long: bool = True) -> Iterator[tuple[str, Tail]]:
    """Names and functions for P(T >= t0), the quickest first; on shorter lattices if `long`."""
    size = max(min(law.top - t0 + 1, t0), 1)  # of the tail, or of its complement
    updates = law.dp_operations(size) if size <= MAX_CELLS else inf
    enough = max(updates, LEAST)
    if _jit.patience and law.n_informative <= PAIRS and updates <= SHORT:
        yield "dp", tail_dp
    yield "tilted", partial(tail_tilted, work=int(min(LOOKS, enough)))
    if updates <= UPDATES:
        yield "dp", tail_dp
    if long and (short := shorten(law, t0)) is not None:
        for name, tail in attempts(*short, long=False):
            yield name, partial(_on_shorter, tail=tail)
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
    return Probability.of_ratio(count_tail(law, t0), 2**law.n_informative)


@_by_symmetry
def _on_shorter(law: TwoPointSum, t0: int, tail: Tail) -> Probability:
    """P(T >= t0) on a shorter lattice."""
    return tail(*(shorten(law, t0) or (law, t0)))  # it is there, as that depends on the law alone


@_by_symmetry
def tail_fft(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by FFT convolution (Alg. 4): tilt, convolve, add up the tail, undo the tilt."""
    law.check_size("the null distribution")
    _, window = kernels.tilt_towards(law.widths, law.counts, law.top, t0)
    undo = np.exp(-window.tau * np.arange(law.top - t0 + 1))
    found = fft_cells(law.tilted(window.tau))
    tail, (high, low, error) = float(np.sum(found.cells[t0:] * undo)), window.scale
    error += found.relative + found.noise * norm(undo) / tail
    return Probability.of_product(high, low, tail, error)


#: With more distinct widths it is not tried; it would take a second, and hardly ever succeed.
MAX_WIDTHS = 200
#: Up to so many, differences of two widths are tried as L too; and how often it is done again.
MAX_PAIRED, ROUNDS = 40, 8


def shorten(law: TwoPointSum, t0: int, rounds: int = ROUNDS) -> tuple[TwoPointSum, int] | None:
    """A law and a threshold with the same P(T >= t0), on a short lattice; None if none is found.

    Thirds that were printed as decimals, or millions and ones, make long lattices with hardly
    anything on them. Write w = a L + r with a small remainder r. Then T = L K + R, and where R has
    less room than L, T is ordered by K first and by R second. Any other L with as much room as R
    needs gives the same order, hence the same tails. O(U^2), or O(U^3) for few distinct widths.
    """
    if law.widths.size > MAX_WIDTHS or rounds == 0:
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
        # Nothing divides all of these: as L is a width or the difference of two, it would divide
        # `shorter`, hence each r / step.
        found = from_widths(law.n, *add_counts(a * shorter + r // step, law.counts)), threshold
        return shorten(*found, rounds - 1) or found
    return None


# ---- many laws at once -------------------------------------------------------------------------

#: What a tail takes in NumPy, in additions.
STEPS = 10**6


class Laws(NamedTuple):
    """Law i is ``starts[i] : starts[i + 1]`` of `widths` and `counts`, in units of its own.

    A `unit` of 0 marks a test that the kernel cannot count.
    """

    starts: Ints
    widths: Ints
    counts: Ints
    lead: Ints
    unit: Ints
    top: Ints
    n_informative: Ints

    @classmethod
    def of(cls, rows: Ints | None, first: Ints, second: Ints) -> Laws:
        """The laws of tests of two rows each; without rows of int64 scores none is counted."""
        size = first.size
        most = min(rows.shape[1], TABLE - 1) if rows is not None else 0
        facts, starts = np.zeros((size, 5), dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        widths, counts = np.empty((2, size * most), dtype=np.int64)
        if rows is not None:
            count_rows((rows, first, second), facts, (starts, widths, counts))
        total_u, total_v, *rest = facts.T.copy()
        return cls(starts, widths, counts, total_u - total_v, *rest)

    @classmethod
    def of_counts(cls, values: Ints, times: Ints) -> Laws:
        """Of tests in which ``values[k]`` occurs ``times[i, k]`` times; values are distinct."""
        sizes, where = np.unique(np.abs(values), return_inverse=True)
        folded = np.zeros((len(times), sizes.size), dtype=np.int64)
        for column, k in zip(times.T, where.ravel().tolist(), strict=True):
            folded[:, k] += column if sizes[k] else 0
        rows, columns = folded.nonzero()
        unit = np.maximum(np.gcd.reduce(np.where(folded > 0, sizes, 0), axis=1, initial=0), 1)
        starts = np.searchsorted(rows, np.arange(len(times) + 1))
        widths, lead, top = sizes[columns] // unit[rows], times @ values, (folded @ sizes) // unit
        counts = folded[rows, columns]
        return cls(starts, widths, counts, lead, unit, top, folded.sum(axis=1))

    def solve(self, alternative: str) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Rows of p, log10 p and error bounds; where labellings were counted; which are too hard.

        Labellings of few entries are counted.
        """
        t = (self.lead // np.maximum(self.unit, 1) + self.top) // 2
        t0 = t if alternative == "greater" else self.top - t  # p is P(T >= t0)
        if alternative == "two-sided":  # twice that, unless tails that meet are everything
            t0 = np.maximum(t, self.top - t)
            t0 = np.where(2 * t0 - self.top <= 1, 0, t0)
        few = self.n_informative <= ROUNDLESS
        solve = self._compiled if STEPS * t0.size > _jit.patience else self._in_numpy
        (p, log_p, bound), hard = solve(t0, few)
        if alternative == "two-sided":
            p, log_p = np.where(t0 > 0, (2 * p, log_p + log(2.0)), (p, log_p))
        tiny, p = p <= UNDERFLOW, np.maximum(p, SMALLEST)
        bound += np.where(tiny, 4 * EPS * (1 + np.abs(log_p)), 0.0)
        log10_p = np.where(tiny, log_p / log(10.0), np.log10(p))
        return np.stack([p, log10_p, bound]), few, hard | (self.unit == 0)

    def _compiled(self, t0: Ints, few: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
        """P(T >= t0), its logarithm and error bound, by the kernels; and where that is too hard."""
        some, below = t0 > 0, 2 * t0 <= self.top
        beyond = np.where(below, self.top - t0 + 1, t0)  # of the shorter tail
        tails, hits = np.ones((t0.size, 4)), np.ones_like(t0)
        kernels.upper_tails(*self[:3], self.top, np.where(some & ~few, beyond, 0), LOOKS, tails)
        count_at_most(*self[:3], np.where(some & few, self.top - beyond, -1), hits)
        p, log_p, bound, left = tails.T
        whole = few | (beyond >= self.top)  # at the top there is one labelling
        logs = np.log(hits) - self.n_informative * log(2.0)
        log_p = np.where(whole, logs, np.minimum(log_p, 0.0))
        counted = np.ldexp(hits.astype(np.float64), -self.n_informative)
        p, bound = np.where(whole, (counted, 0.0 * p), (np.minimum(p, 1.0), bound))
        rest = np.maximum(1 - p, EPS)
        others = np.stack([rest, np.log(rest), np.where(few, 0.0, bound * p / rest + EPS)])
        found = np.where(below, others, np.stack([p, log_p, bound]))
        found[:, ~some] = [[1.0], [0.0], [0.0]]
        return found, left <= 0

    def _in_numpy(self, t0: Ints, few: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
        """The same, one test after the other."""
        found, hard = np.zeros((3, t0.size)), np.zeros(t0.size, dtype=bool)
        found[0] = 1.0
        for i in np.flatnonzero(t0 > 0).tolist():
            part = slice(self.starts[i], self.starts[i + 1])
            law = from_widths(int(self.n_informative[i]), self.widths[part], self.counts[part])
            tail = tail_dp if few[i] else next(attempts(law, int(t0[i])))[1]
            try:
                found[:, i] = tail(law, int(t0[i]))
            except TooHard:
                hard[i] = True
        return found, hard


def compile_kernels(rows: Ints | None = None) -> None:
    """Call the kernels once, before several threads do; `rows` are like the scores, but none."""
    compile_from_now_on()
    rows, none = np.zeros((0, 0), dtype=np.int64) if rows is None else rows, np.zeros(0, np.int64)
    Laws.of(rows, none, none).solve("greater")


@jit
def count_at_most(starts: Ints, widths: Ints, counts: Ints, most: Ints, hits: Ints) -> None:
    """How many labellings of law r have T <= most[r], if that is no less than 0; up to 62 entries.

    Alg. 3 in integers; entries of greater width must stay.
    """
    cells = np.zeros(np.max(np.append(most, 0)) + 1, dtype=np.int64)
    for r in np.flatnonzero(most >= 0):
        cells[: most[r] + 1] = 0
        cells[0] = 1
        reach = 0
        for k in range(starts[r], starts[r + 1]):
            for _ in range(counts[k]):
                reach = min(reach + widths[k], most[r])
                for t in range(reach, widths[k] - 1, -1):
                    cells[t] += cells[t - widths[k]]
        hits[r] = cells[: reach + 1].sum()
