"""Bounds that contain a tail probability whose lattice is too long to be exact on.

Under the law tilted to the threshold, P(T >= t) is the mean of exp(-lambda x) 1{x >= 0}, where x is
T - t in cells and lambda the tilt of a cell. Graham and Vaaler (1981) found the functions next to
that one, above and below, whose Fourier transforms vanish beyond one cycle a cell: their means are
sums over the frequencies below that, of which all but some dozens are small, and differ by the
mass of about one cell. So the bounds get as close as the frequencies reach; the lattice of the
widths does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, inf, log, log1p, pi, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.null.bracket_kernels import peak, phis, scan
from permtest.null.enumeration import MAX_HALVED, count_tail
from permtest.null.grouping import TwoPointSum
from permtest.null.probability import (
    CERTAIN,
    EPS,
    IMPOSSIBLE,
    SMALLEST,
    Probability,
    TooHard,
)

#: How narrow a bracket is made, relative to p, where nothing else is asked for.
WIDTH = 1e-5
#: Logarithm of the tilted mass that the lower bound may lose to its period.
OUTSIDE = 20.0
#: Values of |phi| below exp(-SMALL) at the end of the peak at 0 are left to a bound.
SMALL = 22.0
#: Frequencies with a bound above exp(-EXCEPTIONAL) are computed, as long as there is time,
#: but for those that turn out to be below exp(-NEGLIGIBLE).
EXCEPTIONAL, NEGLIGIBLE = 12.0, 17.0
#: Cosines of the grid that may be looked at, and factors of phi that may be computed: less than a
#: tenth of a second each.
COSINES, FACTORS = 2 * 10**8, 10**6
#: Widths may be left out if the largest one is so many times their sum.
NO_DUST = 20_000
#: Entries of one width that a bound of |phi| makes use of.
MOST_ALIKE = 300
#: Up to so many factors all frequencies of a zone are computed; beyond, its grid has some points.
BRIEF, FEWEST = 10**5, 64
#: So many entries bound |phi| at a frequency that -log of the bound is this on average.
ENOUGH = 28.0

Floats: TypeAlias = NDArray[np.float64]


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
    if slack and not slack < t0 <= law.top - slack:
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
    # Of the one labelling in which every entry moves.
    least = -law.n_informative * log(2.0) * (1 + 2 * EPS)
    low_log, high_log = _Tilted.of(law, t0, slack).bounds(width)
    low, high = _bound(max(low_log, least)), _bound(max(high_log, least))
    if high.log - low.log > 2 * width and (found := _without_dust(law, t0, slack)):
        return max(low, found[0]), min(high, found[1])
    return low, high


def _without_dust(law: TwoPointSum, t0: int, slack: int) -> tuple[Probability, Probability] | None:
    """Bounds from the labellings of the largest widths, if the others make hardly a difference."""
    places = np.cumsum(law.counts[::-1])[::-1] <= MAX_HALVED
    giants = law.only(places)
    dust = law.top - giants.top
    if not 0 < dust * NO_DUST <= int(law.widths[-1]) or giants.top >= 2**62:
        return None
    low, high = (
        Probability.of_ratio(count_tail(giants, t), giants.n_informative)
        for t in (t0 + slack, t0 - slack - dust)
    )
    return low, high


def log_count(law: TwoPointSum, t0: int) -> float:
    """About the logarithm of how many labellings have T >= t0; of the others, if they are fewer."""
    above = max(t0, law.top - t0 + 1)
    if above >= law.top:
        return 0.0
    return _Tilted.of(law, above, 0).scale()[0] + law.n_informative * log(2.0)


def _bound(log_value: float) -> Probability:
    log_value = min(log_value, 0.0)
    return Probability(max(exp(log_value), SMALLEST), log_value, 0.0)


@dataclass(frozen=True, eq=False)
class _Tilted:
    """The law tilted to its threshold, in units of the largest width.

    `excess` is how far the threshold lies above the centre, `delta` by how much T may be off, its
    rounding included. `rho` is 1 - beta^2.
    """

    widths: Floats
    counts: NDArray[np.int64]
    excess: float
    delta: float
    tau: float
    beta: Floats
    rho: Floats

    @classmethod
    def of(cls, law: TwoPointSum, t0: int, slack: int) -> _Tilted:
        largest, counts = int(law.widths[-1]), law.counts
        if law.widths.dtype == object:
            widths = np.array([int(w) / largest for w in law.widths])
        else:
            widths = law.widths / float(largest)
        # Between t0 - 1 and t0 there is nothing.
        excess = float(Fraction(2 * t0 - 1 - law.top, 2 * largest))
        whole = float(widths @ counts)
        delta = slack / largest + 4 * EPS * whole
        variance = float(counts @ widths**2) / 4
        tau = excess / variance
        for _ in range(200):
            beta = np.tanh(tau / 2 * widths)
            gap = excess - float(counts @ (widths * beta)) / 2
            slope = float(counts @ (widths**2 * (1 - beta * beta))) / 4
            if gap <= 1e-6 * sqrt(slope) or slope <= 0:
                break
            tau += gap / slope
        tau = max(tau, 1 / sqrt(variance))
        odds = np.exp(-tau * widths)
        beta, rho = np.tanh(tau / 2 * widths), 4 * odds / (1 + odds) ** 2
        return cls(widths, counts, excess, delta, tau, beta, rho)

    def bounds(self, width: float) -> tuple[float, float]:
        """Logarithms of both bounds."""
        tau, delta = self.tau, self.delta
        scale, shift, rounding = self.scale()
        deviation = sqrt(float(self.counts @ (self.widths**2 * self.rho)) / 4)
        fair = float(self.counts @ self.widths**2) / 4
        jump = OUTSIDE / 3
        reach = min(jump + sqrt(jump**2 + 2 * OUTSIDE * deviation**2), sqrt(2 * OUTSIDE * fair))
        beyond = (OUTSIDE + log1p(3 * tau * deviation)) / tau
        period = beyond + max(reach - shift, 0.0) + 2 * delta
        # About P(T = t) / P(T >= t), times a unit of length (Birnbaum 1942).
        rate = min(tau, self.excess / deviation**2)
        rate = (rate + sqrt(rate**2 + 4 / deviation**2)) / 2
        cells = max(int(period / max(0.85 * width / rate, delta / 2)) + 1, 2)
        js, values, rest, cells = self._frequencies(period, cells)
        upper, between = _transforms(tau * period / cells, js / cells)
        twice = np.where(js > 0, 2.0, 1.0) / cells
        theta = 2 * pi / period * js
        size = EPS * self.counts.sum() * (16 + 4 * theta) * twice * np.abs(values)
        errors = float(size @ (np.abs(upper) + between))
        high, low = 1.2 * rest + errors, -3.2 * rest - errors
        turned = values * np.exp(-1j * theta * (self.excess - delta))
        high += float(twice @ (upper * turned).real)
        turned = values * np.exp(-1j * theta * (self.excess + delta))
        low += float(twice @ ((upper - between) * turned).real)
        low -= (2 * exp(-OUTSIDE) + exp(-tau * beyond)) / -expm1(-tau * period)
        return (
            scale - tau * delta + log(low) - rounding if low > 0 else -inf,
            scale + tau * delta + log(high) + rounding,
        )

    def scale(self) -> tuple[float, float, float]:
        """K(tau) - tau t, by how much the tilted mean exceeds t, and the error of the former."""
        odds = np.exp(-self.tau * self.widths)
        q = odds / (1 + odds)
        terms = self.counts * (
            log(2.0) + q * np.log(np.maximum(q, SMALLEST)) + (1 - q) * np.log1p(-q)
        )
        lead = self.counts * self.widths * self.beta / 2
        shift = float(lead.sum()) - self.excess
        total = self.tau * shift - float(terms.sum())
        size = float(self.counts.sum() + terms.sum() + 2 * self.tau * lead.sum())
        return total, shift, 8 * EPS * (size + abs(total))

    def _frequencies(self, period: float, cells: int) -> _Frequencies:
        """The frequencies j < `cells` that matter, or fewer where that would take too long."""
        data = self.widths, self.counts, self.beta
        most = min(int(period / 2), cells - 1)  # theta times the largest width is up to pi
        values, known = peak(period, exp(-SMALL), most, *data)
        rest = abs(values[known - 1]) * log((most + 1) / known) if 0 < known < most else 0.0
        found = _Frequencies(
            np.arange(known + 1), np.concatenate([[1.0], values[:known]]), rest, most + 1
        )
        left = np.array([COSINES, FACTORS])
        while found.cells < cells:
            first, last = found.cells, min(2 * found.cells, cells)
            if (last - first) * self.widths.size <= BRIEF:
                js = np.arange(first, last)
                found = found.more(js, phis(js, period, *data), 0.0, last)
            elif (more := self._zone_bounded(found, last, period, left)) is not None:
                found = more
            else:
                break
        return found

    def _zone_bounded(
        self, found: _Frequencies, last: int, period: float, left: NDArray[np.int64]
    ) -> _Frequencies | None:
        """The frequencies up to `last` too; None where there are too many peaks.

        `left` is how many cosines, and how many factors of phi, may still be computed.
        """
        ends_at = 2 * pi * found.cells / period, 2 * pi * last / period
        some, zone = zone_of(self.widths, self.counts, self.rho, *ends_at)
        left[0] -= zone.size * some.size
        if left[0] < 0:
            return None
        ends = np.empty((max(int(left[1]) // some.size, 1), 2), dtype=np.int64)
        bound, number, seen = scan(*zone, period, EXCEPTIONAL, ends)
        pairs = ends[:number].tolist()
        ranges = [np.arange(max(a, found.cells), min(b + 1, last)) for a, b in pairs]
        js = np.unique(np.concatenate([found.js[:0], *ranges]))
        left[1] -= js.size * some.size
        if seen < zone.size or left[1] < 0:
            return None
        sizes = np.abs(phis(js, period, self.widths[some], self.counts[some], self.beta[some]))
        small = sizes < exp(-NEGLIGIBLE)
        left[1] -= int(np.sum(~small)) * self.widths.size
        if left[1] < 0:
            return None
        bound += float(np.sum(sizes[small] / js[small])) + exp(-80.0) * last
        values = phis(js[~small], period, self.widths, self.counts, self.beta)
        return found.more(js[~small], values, bound, last)


def peaks(
    widths: NDArray[np.int64],
    counts: NDArray[np.int64],
    rho: Floats,
    m: int,
    cut: float,
    budget: float,
) -> tuple[NDArray[np.int64], float]:
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
        some, zone = zone_of(widths / largest, counts, rho, *ends_at, enough=1.7 * cut)
        budget -= zone.size * some.size
        if budget < 0:
            raise TooHard("the lattice of the sums is too long")
        ends = np.empty((zone.size, 2), dtype=np.int64)
        bound, number, _ = scan(*zone, m / largest, cut, ends)
        found.append(np.clip(ends[:number], first, last - 1))
        rest += (bound + exp(-80.0)) * last
        first = last
    ranges = np.concatenate(found)
    starts = np.maximum(ranges[:, 0], np.append(0, np.maximum.accumulate(ranges[:-1, 1])) + 1)
    return np.stack([starts, ranges[:, 1]], axis=1)[starts <= ranges[:, 1]], rest


def zone_of(
    widths: Floats,
    counts: NDArray[np.int64],
    rho: Floats,
    start: float,
    stop: float,
    enough: float = ENOUGH,
) -> tuple[NDArray[np.int64], _Zone]:
    """The grid from one frequency to another, and the entries whose cosines bound |phi| there.

    -log(1 - x) is at least alpha x + beta x^2, where x = rho sin^2: its first terms or, where
    entries are few, x times the tangent of -log(1 - x) / x at 3 rho / 4, which is the best on
    average. The smallest of the widths that have turned make the steps of the grid longest.
    """
    counts = np.minimum(counts, MOST_ALIKE)  # fewer entries have a bound too
    level = counts * rho * (0.25 + 3 / 32 * rho)
    turned = widths * start >= 1.5
    few = float(level[turned].sum()) < enough
    some = np.flatnonzero(widths * start >= 0.2 if few else turned)
    some = some if few else some[: int(np.searchsorted(np.cumsum(level[some]), enough)) + 1]
    widths, rho, counts = widths[some], rho[some], counts[some]
    alpha, beta = _tangent(0.75 * rho * turned[some]) if few else (1.0, 0.5)
    terms = (
        counts
        / 2
        * np.array(
            [
                (alpha + 0.75 * beta * rho) * rho / 2,
                (alpha + beta * rho) * rho / 2,
                beta * rho**2 / 8,
            ]
        )
    )
    curvature = float((terms[1] + 4 * terms[2]) @ widths**2)
    slack = 0.15 * float(terms[0].sum())
    step = (stop - start) / FEWEST
    if curvature * step**2 > 8 * slack:
        step = sqrt(8 * slack / curvature)
    size, slack = int((stop - start) / step) + 1, curvature * step**2 / 8
    return some, _Zone(start, step, size, slack, widths, terms)


class _Frequencies(NamedTuple):
    """Frequencies j < `cells`, phi there, and a bound on the sum of |phi_j| / j of the others."""

    js: NDArray[np.int64]
    values: NDArray[np.complex128]
    rest: float
    cells: int

    def more(
        self, js: NDArray[np.int64], values: NDArray[np.complex128], rest: float, cells: int
    ) -> _Frequencies:
        """The same, up to more cells."""
        every = np.concatenate([self.js, js]), np.concatenate([self.values, values])
        return _Frequencies(*every, self.rest + rest, cells)


class _Zone(NamedTuple):
    """A grid of frequencies, and the terms of a bound of -log |phi|; see `scan`."""

    start: float
    step: float
    size: int
    slack: float
    widths: Floats
    terms: Floats


def _tangent(x: Floats) -> tuple[Floats, Floats]:
    """alpha and beta such that -log(1 - y) / y >= alpha + beta y for all y < 1, with = at y = x."""
    x = np.maximum(x, 1e-6)
    value = -np.log1p(-x) / x
    beta = 1 / (x * (1 - x)) - value / x
    return value - beta * x, beta


def _transforms(lam: float, t: Floats) -> tuple[NDArray[np.complex128], Floats]:
    """Fourier transforms at 0 <= t < 1 cycle a cell.

    Of the majorant of exp(-lam x) 1{x >= 0}, and of the difference of majorant and minorant, whose
    transforms are (1 - t) sum_n F(n) e^(-2 pi i n t) + sum_n F'(n) e^(-2 pi i n t) / (2 pi i).
    Both functions meet the exponential at the whole numbers n > 0, with its slope; at 0 they are 1
    and 0, with the slope that makes all slopes add up to 0.
    """
    above = np.exp(-lam - 2j * pi * t)
    sine = np.sin(pi * t)  # so that nothing cancels where both are small
    real = -expm1(-lam) + 2 * exp(-lam) * sine**2
    values = 1 / (real + 1j * exp(-lam) * np.sin(2 * pi * t))
    slopes = -lam * exp(-lam) / expm1(-lam) - lam * above * values
    majorant = (1 - t) * values
    majorant[1:] += slopes[1:] / (2j * pi)
    return majorant, 1 - t
