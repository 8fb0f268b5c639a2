"""Bounds that contain a tail probability whose lattice is too long to be exact on.

Under the law tilted to the threshold, P(T >= t) is the mean of exp(-lambda x) 1{x >= 0}, where x is
T - t in cells and lambda the tilt of a cell. Graham and Vaaler (1981) found the functions next to
that one, above and below, whose Fourier transforms vanish beyond one cycle a cell: their means are
sums over the frequencies below that, of which all but some thousands are small, and differ by the
mass of about one cell. So the bounds get as close as the frequencies reach; the lattice of the
widths does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, inf, log, log1p, pi, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.null.bracket_kernels import means, phis, scan
from permtest.null.enumeration import QUICK, can_halve, count_tails
from permtest.null.grouping import TwoPointSum
from permtest.null.probability import (
    CERTAIN,
    EPS,
    IMPOSSIBLE,
    SMALLEST,
    Probability,
    TooHard,
)
from permtest.null.tail_kernels import find_tilt, log_scale, reach, set_tilt

#: How narrow a bracket is made, relative to p, where nothing else is asked for.
WIDTH = 1e-5
#: What may become of that, at most, by the entries that are left out because they are so small.
DUST = 0.1
#: Rounding errors that one tilt serves, relative to a standard deviation.
NEXT_TO_NOTHING = 0.01
#: Logarithm of the tilted mass that the lower bound may lose to its period.
OUTSIDE = 17.0
#: Values of |phi| below exp(-SMALL) at the end of the peak at 0 are left to a bound.
SMALL = 22.0
#: Frequencies with a bound above exp(-EXCEPTIONAL) are computed, as long as there is time,
#: but for those that turn out to be below exp(-NEGLIGIBLE).
EXCEPTIONAL, NEGLIGIBLE = 12.5, 17.0
#: Cosines of the grid that may be looked at, and factors of phi that may be computed: about a
#: hundredth of a second each.
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
#: By how much -log |phi| may be less between two points of a grid at least, and more where the
#: bound of it is above LOW on average.
SLACK, LOW = 0.4, 20.0

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def tail_bracket(
    law: TwoPointSum, t0: int, *, width: float = WIDTH, slack: int = 0
) -> tuple[Probability, Probability]:
    """A lower bound of P(T >= t0 + slack), and an upper bound of P(T >= t0 - slack).

    Parameters
    ----------
    law : TwoPointSum
        With equal probabilities to stay and to move; widths of any size.
    t0 : int
    width : float, default 1e-5
        How narrow the bracket is to be, relative to p. It gets wider where |phi| has too many
        peaks, and by what `slack` does.
    slack : int, default 0
        By how much T may be off.

    Returns
    -------
    low, high : Probability
        The bounds hold with certainty, roundings included.
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
        below = _bound(log(-expm1(high.log)) - EPS) if high.log < -1e-9 else IMPOSSIBLE
        return below, _bound(log1p(-low.value) + EPS)
    free = law.widths <= law.top - t0 + slack
    if not free.all():  # wider entries must move
        rest, stuck = law.only(free), int(law.counts[~free].sum())
        low, high = tail_bracket(rest, t0 - law.top + rest.top, width=width, slack=slack)
        return low.halved(stuck), high.halved(stuck)
    tilted = _Tilted.of(law, t0)
    # Entries that can hardly make a difference count as an uncertainty about T.
    kept = np.cumsum(tilted.widths * tilted.counts) > DUST * width / tilted.rate
    giants, low, high = law.only(kept), IMPOSSIBLE, CERTAIN
    dusty = giants.top < law.top and t0 + slack < giants.top
    if dusty:
        dust = law.top - giants.top
        low, high = _without_dust(giants, t0 - dust // 2, width, slack + dust - dust // 2)
    # A second try only where that was quick, or where what was left out made a difference.
    enough = (2 if can_halve(giants, QUICK) else 300) * width
    if not dusty or high.log - low.log > enough:
        whole = tilted.bounds(width, slack)
        low, high = max(low, whole[0]), min(high, whole[1])
    # The one labelling in which every entry moves is there.
    least = _bound(-law.n_informative * log(2.0) * (1 + 2 * EPS))
    return max(low, least), max(high, least)


def _without_dust(
    law: TwoPointSum, t0: int, width: float, slack: int
) -> tuple[Probability, Probability]:
    """`tail_bracket` of the large widths, by counting labellings if they are few."""
    if not can_halve(law, QUICK):
        return _Tilted.of(law, t0).bounds(width, slack)
    counts = count_tails(law, t0 + slack, t0 - slack)
    low, high = (Probability.of_ratio(count, law.n_informative) for count in counts)
    return low, high


def log_count(law: TwoPointSum, t0: int) -> float:
    """About the logarithm of how many labellings have T >= t0; of the others, if they are fewer."""
    above = max(t0, law.top - t0 + 1)
    if above >= law.top:
        return 0.0
    return _Tilted.of(law, above).scale + law.n_informative * log(2.0)


def _bound(log_value: float) -> Probability:
    log_value = min(log_value, 0.0)
    return Probability(max(exp(log_value), SMALLEST), log_value, 0.0)


@dataclass(frozen=True, eq=False)
class _Tilted:
    """The law tilted to its threshold, in units of the largest width.

    `excess` is how far the threshold t lies above the centre, `rho` is 1 - beta^2, `scale` K(tau) -
    tau t, `shift` by how much the tilted mean exceeds t, `variance` that of the tilted law, and
    `rate` about P(T = t) / P(T >= t), times a unit of length.
    """

    largest: int
    widths: Floats
    counts: Ints
    excess: float
    tau: float
    beta: Floats
    rho: Floats
    scale: float
    shift: float
    variance: float
    rate: float

    @classmethod
    def of(cls, law: TwoPointSum, t0: int) -> _Tilted:
        largest, counts = int(law.widths[-1]), law.counts
        if law.widths.dtype == object:
            widths = np.array([int(w) / largest for w in law.widths])
        else:
            widths = law.widths / float(largest)
        # Between t0 - 1 and t0 there is nothing.
        excess = float(Fraction(2 * t0 - 1 - law.top, 2 * largest))
        tau = find_tilt(widths, counts, excess)
        tilt = np.empty((3, widths.size))
        set_tilt(tau, widths, tilt)
        high, low, _, shift = log_scale(tau, 2 * excess, widths, counts, tilt)
        beta, rho = tilt[0] + tilt[1], tilt[2]
        variance = max(float(counts @ (widths**2 * rho)) / 4, 1e-200)
        rate = min(tau, excess / variance)
        rate = (rate + sqrt(rate**2 + 4 / variance)) / 2  # Birnbaum 1942
        return cls(
            largest, widths, counts, excess, tau, beta, rho, high + low, shift[0], variance, rate
        )

    def bounds(self, width: float, slack: int) -> tuple[Probability, Probability]:
        """The bracket, if T may be off by `slack`, in cells."""
        tau, scale, whole = self.tau, self.scale, float(self.widths @ self.counts)
        delta = slack / self.largest + 4 * EPS * whole
        # Each entry adds log 2 at most to K, and tau w to what is added up plainly.
        rounding = 8 * EPS * (2 * float(self.counts.sum()) - scale)
        rounding += EPS * (self.counts.size + 8) * tau * whole
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
        return _bound(below), _bound(scale + tau * delta + log(high) + rounding)


class _Spectrum:
    """phi at the frequencies j < `cells` that matter.

    `others` bounds the product of all factors of phi but one, and `rest` the sum of |phi_j| / j
    over the frequencies that were left out.
    """

    def __init__(self, tilted: _Tilted, period: float) -> None:
        self.tilted, self.period, self.cells, self.rest = tilted, period, 1, 0.0
        self.js, self.others = np.zeros(1, dtype=np.int64), np.ones(1)
        self.values: NDArray[np.complex128] = np.ones(1, dtype=np.complex128)
        self.cosines, self.factors = COSINES, FACTORS

    def extend(self, cells: int) -> None:
        """Reach up to `cells`, or less far where that would take too long."""
        size = self.tilted.widths.size
        if self.cells == 1:
            self._add_peak(min(int(self.period / 2), cells - 1))
        while self.cells < cells:
            first, last = self.cells, min(2 * self.cells, cells)
            if (last - first) * size <= BRIEF:
                js = np.arange(first, last)
                self._add(js, *self._phis(js), last)
            elif not self._add_exceptions(last):
                break

    def means(self, delta: float) -> tuple[float, float, float]:
        """Of the minorant and of the majorant, and how much of their difference is error."""
        law, theta = self.tilted, 2 * pi / self.period
        errors, lam = self._rounding(self.js) * self.others, law.tau * self.period / self.cells
        ends = law.excess, delta
        low, high, error = means(self.js, self.values, errors, theta, self.cells, lam, *ends)
        apart = 4.4 * self.rest + 2 * error
        return low - 3.2 * self.rest - error, high + 1.2 * self.rest + error, apart

    def _rounding(self, js: Ints) -> Floats:
        """Of phi at these frequencies, relative to `others`."""
        n = float(self.tilted.counts.sum())
        return np.asarray(EPS * n * (16 + 8 * pi / self.period * js))

    def _phis(self, js: Ints, some: Any = slice(None)) -> tuple[NDArray[np.complex128], Floats]:
        law = self.tilted
        return phis(js, self.period, law.widths[some], law.counts[some], law.beta[some])

    def _add(self, js: Ints, values: NDArray[np.complex128], others: Floats, cells: int) -> None:
        self.js = np.concatenate([self.js, js])
        self.values = np.concatenate([self.values, values])
        self.others = np.concatenate([self.others, others])
        self.cells = cells

    def _add_peak(self, most: int) -> None:
        """|phi| falls as long as theta times the largest width stays below pi, up to `most`."""
        last = 0
        while last < most and abs(self.values[-1]) > exp(-SMALL):
            js = np.arange(last + 1, min(2 * last + 16, most) + 1)
            last = int(js[-1])
            self._add(js, *self._phis(js), last + 1)
        if 0 < last < most:
            self.rest = float(abs(self.values[-1])) * log((most + 1) / last)
        self.cells = most + 1

    def _add_exceptions(self, last: int) -> bool:
        """The frequencies up to `last` too, or fewer; False if there is no time for any."""
        law, first = self.tilted, self.cells
        ends = 2 * pi * first / self.period, 2 * pi * last / self.period
        some, zone = zone_of(law.widths, law.counts, law.rho, *ends, EXCEPTIONAL, ENOUGH)
        price = some.size + EACH
        size, room = min(zone.size, self.cosines // some.size), self.factors // price
        if size == 0 or room <= 0:
            return False
        found = np.empty((min(size, room), 2), dtype=np.int64)
        bound, number, seen = scan(*zone._replace(size=size), self.period, EXCEPTIONAL, found)
        if seen < zone.size:
            last = int((zone.start + seen * zone.step) * self.period / (2 * pi) - 1e-6) + 1
        js = _all_within(found[:number], first, last - 1)
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
        self._add(js, values, others, last)
        return True


def _all_within(ranges: Ints, first: int, last: int) -> Ints:
    """The numbers in ascending ranges, given by their ends, from `first` to `last`; each once."""
    starts, ends = np.maximum(ranges[:, 0], first), np.minimum(ranges[:, 1], last)
    sizes = np.maximum(ends - starts + 1, 0)
    places = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers = np.repeat(starts, sizes) + places
    return np.asarray(numbers[np.diff(numbers, prepend=first - 1) > 0])


def peaks(
    widths: Ints,
    counts: Ints,
    rho: Floats,
    m: int,
    cut: float,
    budget: float,
) -> tuple[Ints, float]:
    """Ranges of j up to m / 2 outside of which |phi| at 2 pi j / m is below exp(-cut).

    Also a bound on the sum of |phi| there. On a long lattice a grid finds the peaks some ten times
    as fast as a search by halving does. Raises TooHard where it takes more cosines than `budget`.
    """
    largest = float(widths[-1])
    first, rest = int(m / largest / 2) + 1, 0.0
    found = [np.array([[1, min(first - 1, m // 2)]])]
    while first <= m // 2:
        last = min(2 * first, m // 2 + 1)
        ends_at = 2 * pi * first * largest / m, 2 * pi * last * largest / m
        some, zone = zone_of(widths / largest, counts, rho, *ends_at, cut, 1.7 * cut)
        budget -= zone.size * some.size
        if budget < 0:
            raise TooHard("the lattice of the sums is too long")
        ends = np.empty((zone.size, 2), dtype=np.int64)
        bound, number, _ = scan(*zone, m / largest, cut, ends)
        found.append(np.clip(ends[:number], first, last - 1))
        rest += bound * last
        first = last
    ranges = np.concatenate(found)
    starts = np.maximum(ranges[:, 0], np.append(0, np.maximum.accumulate(ranges[:-1, 1])) + 1)
    return np.stack([starts, ranges[:, 1]], axis=1)[starts <= ranges[:, 1]], rest


class _Zone(NamedTuple):
    """A grid of frequencies, and the terms of a bound of -log |phi|; see `scan`."""

    start: float
    step: float
    size: int
    slack: float
    widths: Floats
    terms: Floats


def zone_of(
    widths: Floats,
    counts: Ints,
    rho: Floats,
    start: float,
    stop: float,
    cut: float,
    enough: float,
) -> tuple[Ints, _Zone]:
    """The grid from one frequency to another, and the entries whose cosines bound |phi| there.

    -log(1 - x), where x = rho sin^2, is at least alpha x + beta x^2, for x times any tangent of
    -log(1 - x) / x: the bound is closest near exp(-cut). So many entries are looked at that -log
    |phi| is `enough` on average; the smallest of those that have turned make steps longest.
    """
    counts = np.minimum(counts, MOST_ALIKE)  # fewer entries have a bound too
    level = counts * rho * (0.25 + 3 / 32 * rho)
    some = np.flatnonzero(widths * start >= 1.5)
    reached = np.cumsum(level[some])
    if some.size and reached[-1] >= enough:
        some = some[: int(np.searchsorted(reached, enough)) + 1]
    else:
        some = np.flatnonzero(widths * start >= 0.2)
    widths, rho, counts = widths[some], rho[some], counts[some]
    shares = np.arange(0.05, 0.76, 0.05)
    levels = -np.log1p(-np.outer(shares, rho)) @ counts / 2
    share = shares[min(int(np.searchsorted(levels, cut)), shares.size - 1)]
    x = np.maximum(share * rho, 1e-6)
    value = -np.log1p(-x) / x
    beta = 1 / (x * (1 - x)) - value / x
    alpha = value - beta * x
    first, second = counts * rho / 4, counts * beta * rho**2 / 16
    terms = np.array([alpha * first + 3 * second, alpha * first + 4 * second, second])
    curvature = float((terms[1] + 4 * terms[2]) @ widths**2)
    # Where the bound is low even on average, a fine grid saves more factors than it costs cosines.
    slack = max(SLACK, (float(terms[0].sum()) - LOW) / 3)
    step = (stop - start) / FEWEST
    if curvature * step**2 > 8 * slack:
        step = sqrt(8 * slack / curvature)
    size = int((stop - start) / step) + 1
    return some, _Zone(start, step, size, curvature * step**2 / 8, widths, terms)
