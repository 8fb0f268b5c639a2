"""Bounds that contain a tail probability whose lattice is too long to be exact on.

Under the law tilted to the threshold, P(T >= t) is the mean of exp(-lambda x) 1{x >= 0}, where x is
T - t in cells and lambda the tilt of a cell. Graham and Vaaler (1981) found the functions next to
that one, above and below, whose Fourier transforms vanish beyond one cycle a cell: their means are
sums over the frequencies below that, of which all but some thousands are small, and differ by the
mass of about one cell. So bounds get as close as the frequencies reach, on any lattice of widths.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, factorial, floor, inf, log, log1p, pi, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._errors import TooHard
from permtest._jit import Floats, Ints, compiled_or
from permtest.null.distribution import CERTAIN, EPS, IMPOSSIBLE, Probability, TwoPointSum
from permtest.null.tail_kernels import TiltedLaw, find_tilt, log_scale, reach, tilt_of

Complex: TypeAlias = NDArray[np.complex128]
Singles: TypeAlias = NDArray[np.float32]

#: How narrow a bracket is made, relative to p, where nothing else is asked for.
WIDTH = 1e-5
#: Rounding errors that one tilt serves, relative to a standard deviation.
NEXT_TO_NOTHING = 0.01
#: Logarithm of the tilted mass that the lower bound may lose to its period.
OUTSIDE = 17.0
#: Values of |phi| below exp(-SMALL) at the end of the peak at 0 are left to a bound.
SMALL = 22.0
#: Frequencies with a bound above exp(-EXCEPTIONAL) are computed, as long as there is time,
#: but for those that turn out to be below exp(-NEGLIGIBLE).
EXCEPTIONAL, NEGLIGIBLE = 12.5, 17.0
#: Cosines of the grid, and factors of phi, that may be computed: each about .01 s.
COSINES, FACTORS = 6 * 10**7, 4 * 10**6
#: What a frequency costs beside its factors, in factors.
EACH = 20
#: How often cells are made smaller where T is more likely at the threshold than was expected.
ROUNDS = 3
#: Entries of one width that a bound of |phi| makes use of.
MOST_ALIKE = 300
#: Up to so many factors all frequencies of a zone are computed; beyond, its grid has some points.
BRIEF, FEWEST = 10**5, 64
#: So many entries bound |phi| at a frequency that -log of the bound is this on average.
ENOUGH = 28.0
#: By how much -log |phi| may be less between two points of a grid; more where it is above LOW.
SLACK, LOW = 0.4, 20.0


def tail_bracket(
    law: TwoPointSum, t0: int, *, width: float = WIDTH, slack: int = 0
) -> tuple[Probability, Probability]:
    """A lower bound of P(T >= t0 + slack), and an upper bound of P(T >= t0 - slack).

    They hold with certainty, roundings included, for widths of any size, and are about `width`
    apart, relative to p: further where |phi| has too many peaks, and by what `slack` makes of T.
    """
    if slack and not (slack < t0 <= law.top - slack and slack < NEXT_TO_NOTHING * law.deviation):
        low, _ = tail_bracket(law, t0 + slack, width=width)
        _, high = tail_bracket(law, t0 - slack, width=width)
        return low, high
    if t0 <= 0 or t0 >= law.top:
        p = CERTAIN if t0 <= 0 else CERTAIN.halved(law.n_informative)
        return (IMPOSSIBLE, IMPOSSIBLE) if t0 > law.top else (p, p)
    if 2 * t0 <= law.top:
        low, high = tail_bracket(law, law.top - t0 + 1, width=width, slack=slack)
        below = log(-expm1(high.log)) - EPS if high.log < -1e-9 else -inf
        return Probability.of_log(below, 0.0), Probability.of_log(log1p(-low.value) + EPS, 0.0)
    free = law.widths <= law.top - t0 + slack
    if not free.all():  # wider entries must move
        rest, stuck = law.only(free), int(law.counts[~free].sum())
        low, high = tail_bracket(rest, t0 - law.top + rest.top, width=width, slack=slack)
        return low.halved(stuck), high.halved(stuck)
    low, high = _Tilted(law, t0).bounds(width, slack)
    least = CERTAIN.halved(law.n_informative)  # the one labelling in which every entry moves
    return max(low, least), max(high, least)


def log_count(law: TwoPointSum, t0: int) -> float:
    """About the logarithm of how many labellings have T >= t0; of the others, if they are fewer."""
    above = max(t0, law.top - t0 + 1)
    if above >= law.top:
        return 0.0
    return _Tilted(law, above).scale + law.n_informative * log(2.0)


class _Tilted:
    """The law tilted to its threshold t, in units of the largest width.

    `excess` is how far t lies above the centre, `spread` is 1 - beta^2, `scale` K(tau) - tau t,
    `shift` by how much the tilted mean exceeds t, and `rate` about P(T = t) / P(T >= t) per unit.
    """

    def __init__(self, law: TwoPointSum, t0: int) -> None:
        self.largest, self.counts = int(law.widths[-1]), law.counts
        self.widths = (law.widths / self.largest).astype(np.float64)
        # Between t0 - 1 and t0 there is nothing.
        self.excess = float(Fraction(2 * t0 - 1 - law.top, 2 * self.largest))
        self.tau = find_tilt(self.widths, self.counts, self.excess)
        tilted = TiltedLaw(self.widths, self.counts, tilt_of(self.tau, self.widths))
        high, low, _, (self.shift, _) = log_scale(self.tau, 2 * self.excess, tilted)
        base, more, self.spread = tilted.tilt
        self.scale, self.beta = high + low, base + more
        self.variance = max(float(self.counts @ (self.widths**2 * self.spread)) / 4, 1e-200)
        rate = min(self.tau, self.excess / self.variance)
        self.rate = (rate + sqrt(rate**2 + 4 / self.variance)) / 2  # Birnbaum 1942

    def bounds(self, width: float, slack: int) -> tuple[Probability, Probability]:
        """The bracket, if T may be off by `slack`, in cells."""
        tau, scale, whole = self.tau, self.scale, float(self.widths @ self.counts)
        delta = slack / self.largest + 4 * EPS * whole
        # Each entry adds log 2 at most to K, and tau w to what is added up plainly.
        rounding = EPS * (24 * float(self.counts.sum()) + (self.counts.size + 8) * tau * whole)
        fair = float(self.counts @ self.widths**2) / 4
        inside = reach(OUTSIDE, self.variance, fair, 1.0)
        beyond = (OUTSIDE + log1p(3 * tau * sqrt(self.variance))) / tau
        period = beyond + max(inside - self.shift, 0.0) + 2 * delta
        lost = (2 * exp(-OUTSIDE) + exp(-tau * beyond)) / -expm1(-tau * period)
        spectrum = _Spectrum(self, period)
        cells, most = max(int(period * self.rate / (0.95 * width)) + 1, 2), 2 * period / delta
        for _ in range(ROUNDS):
            spectrum.extend(max(int(min(cells, most)), 2))
            low, high, error = spectrum.means(delta)
            wide = (high - low - error) / (width * high)
            if wide <= 1.2 or spectrum.cells < cells:
                break
            cells = int(min(1.1 * wide, 16) * cells)
        low -= lost
        below = scale - tau * delta + log(low) - rounding if low > 0 else -inf
        above = scale + tau * delta + log(high) + rounding
        return Probability.of_log(below, 0.0), Probability.of_log(above, 0.0)


class _Spectrum:
    """phi at the j < `cells` that matter; `rest` bounds the sum of |phi_j| / j over others."""

    def __init__(self, tilted: _Tilted, period: float) -> None:
        self.tilted, self.period, self.cells, self.rest = tilted, period, 1, 0.0
        self.js, self.others = np.zeros(1, dtype=np.int64), np.ones(1)
        self.values: Complex = np.ones(1, dtype=np.complex128)
        self.cosines, self.factors = COSINES, FACTORS

    def extend(self, cells: int) -> None:
        """Reach up to `cells`, or less far where that would take too long."""
        size = self.tilted.widths.size
        if self.cells == 1:
            self._add_peak(min(int(self.period / 2), cells - 1))
        while self.cells < cells:
            first, last = self.cells, min(2 * self.cells, cells)
            if (last - first) * size <= BRIEF:
                js = np.arange(first, last, dtype=np.int64)
                self._add(js, *self._phis(js))
                self.cells = last
            elif not self._add_exceptions(last):
                break

    def means(self, delta: float) -> tuple[float, float, float]:
        """Means of the minorant and the majorant, less and more their errors; and those of both."""
        # The Fourier transform of F at t = j / cells is (1 - t) sum_n F(n) e^(-2 pi i n t) +
        # sum_n F'(n) e^(-2 pi i n t) / (2 pi i). Both functions meet exp(-lam x) at the whole
        # numbers n > 0, with its slope; at 0 they are 1 and 0, and all slopes add up to 0.
        js, cells, lam = self.js, self.cells, self.tilted.tau * self.period / self.cells
        t, theta = js / cells, 2 * pi / self.period * js
        decay, slope = exp(-lam), lam * exp(-lam) / -expm1(-lam)
        sine, cosine, turn = np.sin(np.pi * t), np.cos(np.pi * t), np.exp(-2j * np.pi * t)
        # 1 - exp(-lam) turn, in which nothing cancels where both are small.
        inverse = 1.0 / (-expm1(-lam) + 2.0 * decay * sine * (sine + 1j * cosine))
        slopes = np.where(js > 0, slope - lam * decay * turn * inverse, 0.0) / (2j * np.pi)
        upper, between = (1.0 - t) * inverse + slopes, 1.0 - t
        weights = np.where(js > 0, 2.0, 1.0) / cells
        turned = weights * self.values * np.exp(-1j * (theta * self.tilted.excess))
        back = np.exp(1j * (theta * delta))
        high = float(np.sum((upper * turned * back).real))
        low = float(np.sum(((upper - between) * turned * back.conj()).real))
        errors = self._rounding(js) * self.others + EPS * js.size
        error = float(weights @ (errors * (np.abs(upper) + between)))
        apart = 4.4 * self.rest + 2 * error
        return low - 3.2 * self.rest - error, high + 1.2 * self.rest + error, apart

    def _rounding(self, js: Ints) -> Floats:
        """Of phi at these frequencies, relative to `others`."""
        n = float(self.tilted.counts.sum())
        return np.asarray(EPS * n * (16 + 8 * pi / self.period * js))

    def _phis(self, js: Ints, some: Any = slice(None)) -> tuple[Complex, Floats]:
        law = self.tilted
        return phis(js, self.period, law.widths[some], law.counts[some], law.beta[some])

    def _add(self, js: Ints, values: Complex, others: Floats) -> None:
        self.js = np.concatenate([self.js, js])
        self.values = np.concatenate([self.values, values])
        self.others = np.concatenate([self.others, others])

    def _add_peak(self, most: int) -> None:
        """|phi| falls as long as theta times the largest width stays below pi, up to `most`."""
        last = 0
        while last < most and abs(self.values[-1]) > exp(-SMALL):
            js = np.arange(last + 1, min(2 * last + 16, most) + 1, dtype=np.int64)
            last = int(js[-1])
            self._add(js, *self._phis(js))
        if 0 < last < most:
            self.rest = float(abs(self.values[-1])) * log((most + 1) / last)
        self.cells = most + 1

    def _add_exceptions(self, last: int) -> bool:
        """The frequencies up to `last` too, or fewer; False if there is no time for any."""
        law, first = self.tilted, self.cells
        ends = 2 * pi * first / self.period, 2 * pi * last / self.period
        some, zone = zone_of((law.widths, law.counts, law.spread), *ends, EXCEPTIONAL, ENOUGH)
        price = some.size + EACH
        size, room = min(zone.size, self.cosines // some.size), self.factors // price
        if size == 0 or room <= 0:
            return False
        cut = zone._replace(size=size)
        found, bound, seen = _scan(cut, self.period, EXCEPTIONAL, min(size, room))
        if seen < zone.size:  # what was not looked at has no bound
            last = int((zone.start + seen * zone.step) * self.period / (2 * pi) - 1e-6) + 1
        starts, ends = _apart(found, first, last - 1).T
        sizes = ends - starts + 1
        js = np.arange(sizes.sum()) + np.repeat(ends + 1 - np.cumsum(sizes), sizes.astype(np.intp))
        if js.size > room:
            last, js = int(js[room]), js[:room]
        self.cosines -= seen * some.size
        self.factors -= js.size * price
        values, others = self._phis(js, some)
        sizes = np.abs(values) + self._rounding(js) * others
        kept = sizes > exp(-NEGLIGIBLE)
        if last <= first or np.sum(kept) * law.widths.size > self.factors:
            return False
        self.rest += bound + float(np.sum(sizes[~kept] / js[~kept]))
        js, values, others = js[kept], values[kept], others[kept]
        if some.size < law.widths.size:
            self.factors -= js.size * law.widths.size
            values, others = self._phis(js)
        self._add(js, values, others)
        self.cells = last
        return True


def _apart(ranges: Ints, first: int, last: int) -> Ints:
    """Ascending ranges of numbers, from `first` to `last`, without what they share."""
    starts, ends = np.clip(ranges, first, last).T
    starts = np.maximum(starts, np.append(first, ends[:-1] + 1))
    return np.asarray(np.stack([starts, ends], axis=1)[starts <= ends])


def peaks(law: TiltedLaw, m: int, cut: float, budget: float) -> Iterator[tuple[Ints, float]]:
    """Ranges of j up to m / 2 outside of which |phi| is below exp(-cut), and its sum there."""
    (widths, counts, (_, _, spread)), largest, half = law, float(law.widths[-1]), m // 2
    start, turn = max(int(m / largest / 2), 1) + 1, 2 * pi * largest / m
    ends = [*(start << k for k in range((half // start).bit_length())), half + 1]
    found = [
        zone_of((widths / largest, counts, spread), turn * i, turn * j, cut, 1.7 * cut)
        for i, j in pairwise(ends)
    ]
    if sum(some.size * zone.size for some, zone in found) > budget:
        raise TooHard("the lattice of the sums is too long")
    yield np.array([[1, start - 1]]), 0.0
    for first, last, (_, zone) in zip(ends, ends[1:], found, strict=False):
        exceptions, bound, _ = _scan(zone, m / largest, cut, zone.size)
        yield _apart(exceptions, first, last - 1), bound * last


class _Zone(NamedTuple):
    """A grid of frequencies, and the terms of a bound of -log |phi|; see `_scan`."""

    start: float
    step: float
    size: int
    slack: float
    widths: Floats
    terms: Floats


def zone_of(
    law: tuple[Floats, Ints, Floats], start: float, stop: float, cut: float, enough: float
) -> tuple[Ints, _Zone]:
    """The grid from one frequency to another, and the entries whose cosines bound |phi| there."""
    # -log(1 - x), where x = spread sin^2, is at least alpha x + beta x^2, for x times any tangent
    # of -log(1 - x) / x: the bound is closest near exp(-cut). So many entries are looked at that
    # -log |phi| is `enough` on average; the smallest that have turned make steps longest.
    widths, counts, spread = law
    counts = np.minimum(counts, MOST_ALIKE)  # fewer entries have a bound too
    level = counts * spread * (0.25 + 3 / 32 * spread)
    some = np.flatnonzero(widths * start >= 1.5)
    reached = np.cumsum(level[some])
    if some.size and reached[-1] >= enough:
        some = some[: int(np.searchsorted(reached, enough)) + 1]
    else:
        some = np.flatnonzero(widths * start >= 0.2)
    widths, spread, counts = widths[some], spread[some], counts[some]
    shares = np.arange(0.05, 0.76, 0.05)
    levels = -np.log1p(-np.outer(shares, spread)) @ counts / 2
    share = shares[min(int(np.searchsorted(levels, cut)), shares.size - 1)]
    x = np.maximum(share * spread, 1e-6)
    value = -np.log1p(-x) / x
    beta = 1 / (x * (1 - x)) - value / x
    alpha = value - beta * x
    first, second = counts * spread / 4, counts * beta * spread**2 / 16
    terms = np.array([alpha * first + 3 * second, alpha * first + 4 * second, second])
    curvature = float((terms[1] + 4 * terms[2]) @ widths**2)
    # Where the bound is low even on average, a fine grid saves more factors than it costs cosines.
    slack = max(SLACK, (float(terms[0].sum()) - LOW) / 3)
    step = (stop - start) / FEWEST
    if curvature * step**2 > 8 * slack:
        step = sqrt(8 * slack / curvature)
    size = int((stop - start) / step) + 1
    return some, _Zone(start, step, size, curvature * step**2 / 8, widths, terms)


# The jitted loops. Widths are floats, at most 1; frequencies are theta_j = 2 pi j / period. Inner
# loops are products and sums alone, over a block of frequencies, for the sake of vectors.

#: Frequencies that are looked at together, and blocks of them.
BLOCK, TOGETHER = 64, 512
#: Bounds of -log |phi| are told apart up to here.
NOTHING = np.float32(80.0)
#: What float32 may add to a bound of -log |phi|, which has some hundred terms below 1.
ROUNDING = 0.01
#: Coefficients of sin(x) / x and cos(x) in x^2: enough of them for all digits up to |x| = pi / 2.
SINE = tuple((-1.0) ** n / factorial(2 * n + 1) for n in range(10))
COSINE = tuple((-1.0) ** n / factorial(2 * n) for n in range(11))


def _phis(
    js: Ints, period: float, widths: Floats, counts: Ints, beta: Floats
) -> tuple[Complex, Floats]:
    """`phis` in NumPy."""
    values, others = np.empty(js.size, dtype=np.complex128), np.empty(js.size)
    some = max(2**16 // max(widths.size, 1), 1)
    for part in (slice(n, n + some) for n in range(0, js.size, some)):
        half = np.outer(js[part], widths / period)  # half turns; whole turns change all signs
        half = np.pi * (half - 2.0 * np.rint(half / 2.0))
        factors = np.cos(half) + 1j * beta * np.sin(half)
        values[part] = np.prod(factors**counts, axis=1)
        least = np.abs(factors).min(axis=1, initial=1.0)
        others[part] = np.abs(values[part]) / np.maximum(least, 1e-150) + 1e-150
    return values, np.minimum(others, 1.0)


@compiled_or(_phis)
def phis(
    js: Ints, period: float, widths: Floats, counts: Ints, beta: Floats
) -> tuple[Complex, Floats]:
    """E exp(i theta (T - top / 2)) at frequencies, and what all factors but one can be at most."""
    values, others = np.empty(js.size, dtype=np.complex128), np.empty(js.size)
    real, imaginary, least = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    cosines, sines = np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, js.size, BLOCK):
        block = js[start : start + BLOCK]
        real[:], imaginary[:], least[:] = 1.0, 0.0, 1.0
        for k in range(widths.size):
            turn, twice = 0.5 * widths[k] / period, 2.0 * beta[k]
            for i in range(block.size):  # cos, beta sin of 2 pi j turn: Taylor's series of half
                x = block[i] * turn
                x = np.pi * (x - np.floor(x + 0.5))  # |x| <= pi / 2
                y = x * x
                sine, cosine = SINE[9], COSINE[10] * y + COSINE[9]
                for n in range(8, -1, -1):
                    sine, cosine = sine * y + SINE[n], cosine * y + COSINE[n]
                sine *= x
                cosines[i], sines[i] = 1.0 - 2.0 * sine * sine, twice * sine * cosine
                least[i] = min(least[i], cosines[i] * cosines[i] + sines[i] * sines[i])
            power = counts[k]
            while power > 0:  # by squares, for each binary digit of the power
                if power % 2:
                    for i in range(block.size):
                        x, y = real[i], imaginary[i]
                        real[i] = x * cosines[i] - y * sines[i]
                        imaginary[i] = x * sines[i] + y * cosines[i]
                power //= 2
                for i in range(block.size if power else 0):
                    x, y = cosines[i], sines[i]
                    cosines[i], sines[i] = x * x - y * y, 2.0 * x * y
        for i in range(block.size):
            value = complex(real[i], imaginary[i])
            values[start + i] = value
            others[start + i] = min(abs(value) / np.sqrt(max(least[i], 1e-300)) + 1e-150, 1.0)
    return values, others


def _cosines(turn: Floats, inside: Floats, terms: Floats) -> Singles:
    """`cosines` in NumPy."""
    (_, b, c), parts = terms, (np.cos, np.sin)
    table = np.concatenate([f(n * inside) for n in (1, 2) for f in parts]).astype(np.float32)
    angles = (-b * np.cos(turn), b * np.sin(turn), c * np.cos(2 * turn), -c * np.sin(2 * turn))
    return np.concatenate(angles, axis=1).astype(np.float32) @ table


@compiled_or(_cosines)
def cosines(turn: Floats, inside: Floats, terms: Floats) -> Singles:
    """sum_k c_k cos(2 x) - b_k cos(x) at x = ``turn[n, k] + inside[k, i]``, rows equally spaced."""
    bounds = np.empty((len(turn), BLOCK), dtype=np.float32)
    table = np.cos(inside).astype(np.float32), np.sin(inside).astype(np.float32)
    at, by = np.exp(1j * turn[0]), np.exp(1j * (turn[min(1, len(turn) - 1)] - turn[0]))
    for n in range(len(turn)):
        sums = bounds[n]
        sums[:] = np.float32(-np.sum(terms[2]))
        for k in range(len(inside)):
            cosine, sine = np.float32(at[k].real), np.float32(at[k].imag)
            b, c = np.float32(terms[1, k]), np.float32(2.0 * terms[2, k])
            x, y = table[0][k], table[1][k]
            for i in range(BLOCK):
                z = cosine * x[i] - sine * y[i]
                sums[i] += (c * z - b) * z
            at[k] *= by[k]
    return bounds


def _scan(zone: _Zone, period: float, enough: float, room: int) -> tuple[Ints, float, int]:
    """First and last j of intervals where |phi| may exceed exp(-enough), and a bound on others.

    -log |phi| is at least sum_k a_k - b_k cos(theta w_k) + c_k cos(2 theta w_k), the rows of
    `terms`, and between two points of the grid less by `slack` at most. The bound is on the sum of
    |phi_j| / j; the last number is how many were looked at, until more than `room` were found.
    """
    start, step, size, slack, widths, terms = zone
    inside, a_turn = np.outer(widths, step * np.arange(BLOCK)), period / (2.0 * np.pi)
    found, total, many, before = [np.zeros((0, 2), dtype=np.int64)], 0.0, 0, np.float32(-np.inf)
    for first in range(0, size + 1, TOGETHER * BLOCK):
        # Interval n is from point n to the next; the one before the first has no bound.
        blocks = np.arange(first, min(first + TOGETHER * BLOCK, size + 1), BLOCK)
        starts = start + step * (blocks - 1)
        bounds = cosines(np.outer(start + step * blocks, widths), inside, terms).ravel()
        bounds += np.float32(terms[0].sum() - slack - ROUNDING)
        lows = np.minimum(np.append(before, bounds[:-1]), bounds)[: size + 1 - first]
        before, rare = bounds[-1], lows >= enough
        masses = np.zeros(bounds.size, dtype=np.float32)
        masses[: lows.size] = np.exp(-np.clip(lows, np.float32(0.0), NOTHING)) * rare
        # An interval has no more j than this, each of them no less than the first of the block.
        each = (floor(step * a_turn) + 1.0) / np.maximum(starts * a_turn, 1.0)
        total += 1.0001 * float(each @ masses.reshape(-1, BLOCK).sum(axis=1))
        n = first - 1 + np.flatnonzero(~rare)
        n = n[n >= 0]
        # Rounding may let an interval have a point too many, but none too few.
        js = np.ceil((start + n * step) * a_turn - 1e-6)
        ends = np.floor((start + (n + 1) * step) * a_turn + 1e-6)
        some = np.flatnonzero(ends >= js)
        found.append(np.stack([js[some], ends[some]], axis=1)[: room - many].astype(np.int64))
        if many + some.size > room:
            return np.concatenate(found), total, int(n[some[room - many]])
        many += some.size
    return np.concatenate(found), total, size
