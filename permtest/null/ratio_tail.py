"""The tail of a ratio statistic of two sums, without their joint distribution.

F1 and its relatives are a / (a + i) for two sums that vary, hits a and misses i (App. B, Eq. 16;
what both systems have together does not change). The difference of two systems grows with the
first one's hits and falls with its misses, so that the labellings with at least the observed
difference form a staircase in the plane of a and i: in each row r of a lattice of points T = (s,
r), the cells from some start s_r on. With K(tau) = log E exp(tau T), to which a move adds
log((1 + exp(push)) / 2), push = tau step,

    P(T in the staircase) = exp(K - tau t0) E_tau[exp(-tau (T - t0)); T in the staircase],

tau being the tilt to its most likely point and t0 a corner there. Moves are turned so that under
the tilt each is the less likely side, made with probability q <= 1/2; T is then the far corner less
the moves that are made, and with x = steps * (j_s / m_s, j_r / m_r) its characteristic function has

    |phi(j)|^2 = prod_k (1 - 4 q_k (1 - q_k) sin^2(pi x_k))^c_k.

Where many moves are likely, the mean on the right is a sum over the frequencies j of a lattice of
m_s by m_r cells, of which only some thousand matter:

    1 / (m_s m_r) sum_j phi(j) sum_r exp(-tau ((s_r, r) - t0) - i theta_j r) / (1 - exp(-tau_s - i
    theta_s)),

a sum along a row being geometric, and that over rows a Fourier transform for each j_s. Near the
labellings of greatest statistic few cells are left, and dynamic programming has them; all its terms
are positive, so that each cell is accurate relative to itself. Rows that do not matter are bounded,
not added up: for x >= 0 >= y no tail beyond (a, i) exceeds exp(K(x, y) - x a - y i) (Chernoff).
Where both take too long, two half-planes bound p (`Staircase.bracket`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import product
from math import ceil, comb, exp, floor, frexp, fsum, gcd, inf, isqrt, log, log1p, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._errors import TooHard
from permtest._jit import Floats, Ints
from permtest.null.bracket import tail_bracket
from permtest.null.distribution import CERTAIN, EPS, IMPOSSIBLE, MAX_CELLS, UNDERFLOW, Probability
from permtest.null.lattice import LatticeSum
from permtest.null.tail_kernels import reach

#: Logarithm of the tilted mass that may lie beyond each side of the window, or that dynamic
#: programming leaves out, of |phi| at frequencies that are left out, and of bounds on rows that do
#: not matter, relative to the largest; and the same of rows that a chord leaves out.
OUTSIDE, BEYOND = 42.0, 16.0
#: Weights are cut off at exp(STEEP); a tail that needs such is refused.
STEEP = 590.0
#: What all errors together may be; below 1e-300 relative to the logarithm.
ACCEPTED = 1e-12
#: Moves that may be looked at, rows that may be added up, about a second, and the longest window.
WORK, MAX_ROWS, LONGEST = 2e8, 2**20, 10**7
#: Cells that dynamic programming updates in the time of a look at a move; and the most, a second.
DEARER, CELLS = 4, 2.5e8
#: What a move costs at a frequency that matters, in units of what it costs to leave it out.
DEAR = 20
#: Rows are bounded by so many times the tilt too, in either sum.
OTHERS = (0.0, 0.5, 1.0, 1.6, 3.0)
#: Rows are bounded one by one up to so far from the middle, in blocks of more beyond.
BLOCKS = 64
#: Entries that are folded in together: their binomial coefficients are floats, squared as well.
TOGETHER = 500
#: Beyond this, times a long step, a tilt leaves next to nothing to chance.
FURTHEST = 120.0
#: Moves less likely than this have their angle measured from staying, others from the middle.
RARE = 0.25
#: Boxes of frequencies, and moves at frequencies, that are looked at together.
BOXES, AT_ONCE = 4096, 2**13
#: Sums up to this size are exact as floats, with room for products of steps and frequencies.
LARGEST = 2**40
#: Odd lengths of which a Fourier transform is quick, up to the largest window.
LENGTHS: list[int] = [3**a * 5**b * 7**c for a in range(16) for b in range(11) for c in range(9)]
#: ln 2, its leading digits first: whole numbers times those are exact.
LOG2 = (0.693147180369123816490, 1.90821492927058770002e-10)


class Unreached(TooHard):
    """The event cannot happen."""


@dataclass(frozen=True, eq=False)
class Staircase:
    """The event that a / (a + i) of one system exceeds that of the other by enough; 0 / 0 is 0."""

    #: Null law of (a, i) of the first system, of rank 2, and the sums of both systems together.
    lattice: LatticeSum
    totals: tuple[int, int]
    #: By how much, and whether a difference of exactly that is too small.
    least: Fraction
    strict: bool = False

    def tail(self) -> Probability:
        """Its probability; TooHard if that would take more than a second or so.

        The error bound covers roundings (each operation at its worst) and what was left out.
        """
        if self.least < 0 or (self.least == 0 and not self.strict):
            # By symmetry the difference is at most -x as often as it is at least x.
            return replace(self, least=-self.least, strict=not self.strict).tail().complement()
        reason = "one tilt is not accurate enough for this staircase"
        for way in _ways(self._tilted):
            try:
                found = way()
            except Unreached:
                return IMPOSSIBLE
            except TooHard as error:
                reason = str(error)
                continue
            # Also false if the bound is no number.
            if found.error_bound <= ACCEPTED * (1.0 if found.value > UNDERFLOW else -found.log):
                return found
        raise TooHard(f"{reason}; method='auto' tries others, method='bracket' has bounds")

    def bracket(self) -> tuple[Probability, Probability]:
        """Bounds: of a half-plane within the region, and of one around the rows that matter."""
        # Of D = A + I both systems have together, let the first have (D + Y) / 2, and (A + X) / 2
        # of the hits. The difference is 2 (D X - A Y) / (D^2 - Y^2): the region lies beyond a
        # parabola. All beyond a tangent is in it; its rows between two points lie beyond the chord.
        if self.least < 0 or (self.least == 0 and not self.strict):
            low, high = replace(self, least=-self.least, strict=not self.strict).bracket()
            return high.complement(), low.complement()
        law = self._tilted
        try:
            _, rows, logs = law.find_rows(BEYOND)
        except Unreached:
            return IMPOSSIBLE, IMPOSSIBLE
        # At |Y| = D, where one system has nothing, the parabola says nothing about the difference.
        whole, mean = sum(self.totals), float((law.frame[0] + law.means @ law.frame[1:]).sum())
        middle = min(max(round(2 * mean) - whole, 1 - whole), whole - 1)
        (a, _), _, (b, _) = law.exact_frame
        ends = [y for r in (rows[0], rows[-1]) for y in self._crossing(a + b * r)]
        low, _ = self._beyond(middle, middle, self.strict)
        _, high = self._beyond(min(ends), max(ends), strict=False)  # where Y = D is on the line
        # Sums of logarithms are rounded by far less than a thousandth.
        rest, every = (Probability.of_log(min(x + 1e-3, 0.0), 0.0) for x in logs.tolist())
        high = min(high.plus(rest), every)
        if self.strict:
            return low, high
        observed = CERTAIN.halved(int(law.counts.sum()))  # one labelling is what was observed
        return max(low, observed), max(high, observed)

    def _crossing(self, a: int) -> tuple[int, int]:
        """Y where the parabola passes these hits, rounded down and up; any Y if it is a line."""
        (hits, misses), (p, q) = self.totals, self.least.as_integer_ratio()
        whole, x = p * (hits + misses), 2 * a - hits
        root = isqrt((q * hits) ** 2 - 2 * whole * q * x + whole**2)
        return ((q * hits - root - 1) // p, -((root - q * hits) // p)) if p else (0, 0)

    def _beyond(self, y1: int, y2: int, strict: bool) -> tuple[Probability, Probability]:
        """Bounds of the probability of points beyond the line through two of the parabola.

        There 2 q (D X - A Y) + p (y1 + y2) Y >= p (D^2 + y1 y2), for a difference of p / q.
        """
        (hits, misses), (p, q) = self.totals, self.least.as_integer_ratio()
        whole, slope = hits + misses, p * (y1 + y2) - 2 * q * hits
        law = self.lattice.along((4 * q * whole + 2 * slope, 2 * slope))
        least = p * (whole**2 + y1 * y2) + (2 * q * hits + slope) * whole - law.offset
        return tail_bracket(law, least // law.unit + 1 if strict else -(-least // law.unit))

    @cached_property
    def _tilted(self) -> _Tilted:
        if max(self.totals) >= LARGEST or max(self.lattice.extents) >= LARGEST:
            raise TooHard("sums beyond 2^40 are too large; method='auto' tries others")
        return _Tilted(self)

    def reached(self, a: int, i: int) -> bool:
        """Whether the event happens where the first system has these sums, in integers."""
        a, i = min(max(a, 0), self.totals[0]), min(max(i, 0), self.totals[1])
        others = self.totals[0] - a, self.totals[1] - i
        gap = Fraction(a, max(a + i, 1)) - Fraction(others[0], max(sum(others), 1))
        return gap > self.least if self.strict else gap >= self.least


class _Region(NamedTuple):
    """The rows that matter, and where the region begins in each."""

    origin: Ints  # t0: the start of the row nearest to where the tilt puts the mean
    scale: tuple[float, float, float]  # log E exp(tau (T - t0)), in two parts, and its error
    first: int
    starts: Ints
    heights: Floats  # log of the weight exp(-tau (T - t0)) at these starts
    height: float  # and the largest one
    rest: float  # bound on the probability of the region in all others, relative to the scale


class _Tilted:
    """The law under one tilt, the rows that matter, and bounds on all others."""

    def __init__(self, event: Staircase) -> None:
        self.event, self.counts = event, event.lattice.counts
        self.exact_frame, self.steps = _in_rows(event.lattice)
        turns = (np.minimum(self.steps, 0), np.maximum(self.steps, 0))
        self.ends = np.stack([self.counts @ e for e in turns], axis=1)
        # All terms of a sum are exact as floats, so that nothing is lost where they cancel.
        largest = np.array([1, *np.abs(self.ends).max(axis=1).tolist()], dtype=object)
        if (largest @ np.abs(np.array(self.exact_frame, dtype=object))).max() >= 2**52:
            raise TooHard("both sums need numbers that are too large; method='auto' tries others")
        # From where on the statistic is extreme, less and more what roundings may come to.
        least, band = float(event.least), 32 * EPS
        self.least, self.sure = least - band, least + band
        # Both sums at T = 0, what one step in s adds to them, and one in r; what moves add to them.
        self.frame = np.array(self.exact_frame, dtype=np.float64)
        self.sums = self.steps @ self.frame[1:]
        tau = self.frame[1:] @ self._find_tilt()
        # So few bits that products with whole numbers are exact.
        unit = 2.0 ** (frexp(float(np.abs(tau).max()))[1] - 24)
        self.tau = np.rint(tau / unit) * unit
        push = self.steps @ self.tau
        likely = push > 0
        # Moves as seen from the far corner: each is the less likely side.
        self.moves = np.where(likely[:, None], self.steps, -self.steps)
        self.corner = self.counts[likely] @ self.steps[likely]
        self.push, odds = np.abs(push), np.exp(-np.abs(push))
        self.q = odds / (1 + odds)
        squares = self.moves.astype(np.float64) ** 2
        self.means = self.corner - (self.counts * self.q) @ self.moves
        # Of both coordinates: the variance with the tilt and without, and the longest step.
        spread = self.counts * self.q * (1 - self.q)
        self.moments = (spread @ squares, self.counts @ squares / 4, squares.max(axis=0) ** 0.5)

    @cached_property
    def region(self) -> _Region:
        """The rows that matter: all but those whose bounds are next to nothing."""
        origin, rows, (rest, _) = self.find_rows(OUTSIDE)
        scale, starts = self._log_scale(origin), self._starts(_every(rows))
        heights = self.heights(starts, rows[0], origin)
        heights[starts > self.ends[0, 1]] = -inf
        height = float(heights.max())
        if max(height, scale[0]) >= STEEP:
            raise TooHard("the staircase is far from where a tilt puts the mass")
        rest = float(np.exp(rest - scale[0]))
        return _Region(origin, scale, rows[0], starts, heights, height, rest)

    def find_rows(self, outside: float) -> tuple[Ints, range, Floats]:
        """t0, the rows that matter, and two logs: what the others come to at most, and what all do.

        The others' bounds are below exp(-outside) times the largest, or its scale if that is less.
        """
        low, high = (int(x) for x in self.ends[1])
        middle = int(np.clip(round(self.means[1]), low, high))
        # Rows are taken together in blocks, the longer the further they are away.
        away = np.arange(BLOCKS * (log1p((high - low) / BLOCKS) + 1))
        away = np.expm1(away / BLOCKS) * BLOCKS
        rows = np.clip(middle + np.concatenate((-away, away)).astype(np.int64), low, high)
        rows = np.unique(np.append(rows, (low, high)))
        starts = self._starts(rows)
        if starts.min() > self.ends[0, 1]:  # there may be a row between them
            rows = _every(range(low, high + 1))
            starts = self._starts(rows)
        there = np.flatnonzero(starts <= self.ends[0, 1])
        if not there.size:
            raise Unreached("no labelling reaches the staircase")
        nearest = there[np.abs(rows[there] - middle).argmin()]
        origin = np.array((starts[nearest], rows[nearest]))
        bounds = self._bounds(rows, starts)
        largest = min(self._log_scale(origin)[0], bounds.max())
        matter = np.flatnonzero(bounds >= largest - outside)
        start, stop = min(matter[0], nearest), max(matter[-1], nearest) + 1
        some = range(int(rows[start]), int(np.append(rows, high + 1)[stop]))
        rest = np.logaddexp.reduce(np.delete(bounds, slice(start, stop)))
        return origin, some, np.array([rest, np.logaddexp.reduce(bounds)])

    def _bounds(self, rows: Ints, starts: Ints) -> Floats:
        """Bounds on the log of the probability of the region in blocks that begin at these rows."""
        # All of a row has the same hits. Between two rows the boundary rises in both sums, so that
        # a block has no more misses than its ends and, starts being whole, one step along a row.
        frame, number = self.frame, np.arange(rows.size)
        after = np.minimum(number + 1, rows.size - 1)
        after = np.where(rows[after] - rows > 1, after, number)
        hits = frame[0, 0] + rows * frame[2, 0]
        most = frame[0, 1] + self.ends[0, 0] * frame[1, 1] + rows * frame[2, 1]
        misses = most + (starts - self.ends[0, 0]) * frame[1, 1]
        misses = np.maximum(misses, misses[after]) + (after > number) * abs(frame[1, 1])
        cut = np.minimum(starts, starts[after]) <= self.ends[0, 0]
        misses[cut] = np.maximum(most, most[after])[cut]
        # Between two rows out of reach there may be one within it, unless the most hits of both
        # with the fewest misses are not enough.
        fewest = most + (self.ends[0, 1] - self.ends[0, 0]) * frame[1, 1]
        best = self.gap(np.maximum(hits, hits[after]), np.minimum(fewest, fewest[after]))
        out = (best < self.least) | ((starts > self.ends[0, 1]) & (after == number))
        # A tilt leaves no more than the largest weight times the mass there, or 1 (Chernoff).
        low = np.minimum(hits, hits[after])  # weights rise with -hits and misses
        tilt = np.linalg.solve(frame[1:], self.tau)  # in coordinates of both sums
        x, y = max(tilt[0], 0.0), min(tilt[1], 0.0)  # but for roundings the same
        distances = np.maximum(rows - self.means[1], self.means[1] - rows[after])
        bounds = self.log_mass(1, distances) + float(np.abs(tilt - (x, y)) @ self.event.totals)
        bounds += self._cumulants(np.array((x, y)))[0] - x * low - y * misses
        for a, b in product(OTHERS, OTHERS):  # any tilt has a bound without the mass
            other = self._cumulants(np.array((a * x, b * y)))[0] - a * x * low - b * y * misses
            bounds = np.minimum(bounds, other)
        # No term is more than a few times this, and each is rounded a few times.
        largest = float(np.array((x, -y)) @ self.event.totals) + float(self.counts.sum())
        return np.where(out, -inf, bounds + EPS * (512 + self.q.size) * largest)

    def heights(self, s: Ints, first: int, origin: Ints) -> Floats:
        """-tau (T - t0) at s in each row from the first on, exactly; at most STEEP."""
        rows = np.arange(first, first + s.size, dtype=np.int64)
        heights = -self.tau[0] * (s - origin[0]) - self.tau[1] * (rows - origin[1])
        return np.asarray(np.minimum(heights, STEEP))

    def twice(self, origin: Ints) -> Ints:
        """Twice the distance from t0 to T with no rare moves and half of the others."""
        even = self.q >= RARE
        return np.asarray(2 * (self.corner - origin) - self.counts[even] @ self.moves[even])

    def _log_scale(self, origin: Ints) -> tuple[float, float, float]:
        """K(tau) - tau t0 in two parts, and its error; products of tau are exact."""
        # Rare moves add log1p(odds) - ln 2, from the corner; others log cosh(push / 2).
        rare, push = self.q < RARE, self.push
        cosh = np.log1p(2 * np.sinh(np.where(rare, 0, push) / 4) ** 2)
        rounded = self.counts * np.where(rare, np.log1p(np.exp(-push)), cosh)
        exact = self.tau * self.twice(origin) / 2
        high, low = _add_up([*exact, *rounded], -int(self.counts[rare].sum()))
        return high, low, 4 * EPS * float(np.abs(rounded).sum())

    def log_mass(self, axis: int, x: Floats | float) -> Floats:
        """Bennett's and Hoeffding's bound on the log of the tilted mass beyond mean +- x."""
        variance, fair, jump = (max(float(moment[axis]), 1e-250) for moment in self.moments)
        x = np.maximum(x, 0.0)
        u = jump * x / variance
        bennett = variance / jump**2 * ((1 + u) * np.log1p(u) - u)
        return -np.maximum(bennett, x * x / (2 * fair))

    def window(self, axis: int, outside: float) -> tuple[int, int]:
        """First and last value of a coordinate; mass beyond either is below exp(-outside)."""
        x = reach(outside, *(float(moment[axis]) for moment in self.moments))
        mean, (low, high) = float(self.means[axis]), self.ends[axis]
        return max(floor(mean - x), int(low)), min(ceil(mean + x), int(high))

    def _starts(self, rows: Ints) -> Ints:
        """Where the region begins in each row; ties are decided in integers."""
        f, (first, end) = self.frame, self.ends[0].tolist()
        low, high = (np.full(rows.size, x, dtype=np.int64) for x in (first - 1, end + 1))
        hits, misses = (f[0] + rows[:, None] * f[2]).T
        for _ in range(int(end - first + 2).bit_length()):  # low is too small, high is not
            middle = (low + high) // 2
            inside = self.gap(hits, misses + middle * f[1, 1]) >= self.least
            high = np.where(inside & (middle > low), middle, high)
            low = np.where(inside, low, middle)
        starts, gaps = high, self.gap(hits, misses + high * f[1, 1])
        for n in np.flatnonzero((gaps <= self.sure) & (starts <= end)).tolist():
            starts[n] = self._start(int(rows[n]), int(starts[n]))
        return starts

    def _start(self, r: int, s: int) -> int:
        """Where the region begins in row r, from s on, by integers; beyond the end if nowhere."""
        (a, i), (_, j), (b, k) = self.exact_frame

        def inside(s: int) -> bool:
            return self.event.reached(a + r * b, i + s * j + r * k)

        rest = range(s, int(self.ends[0, 1]) + 1)
        return s if inside(s) else s + bisect_left(rest, True, key=inside)

    def gap(self, a: Floats, i: Floats) -> Floats:
        """The difference of the ratios, with sums kept in range; never falls with a or -i."""
        most, worst = self.event.totals
        a, i = np.minimum(np.maximum(a, 0.0), most), np.minimum(np.maximum(i, 0.0), worst)
        mine, theirs = np.maximum(a + i, 1e-300), np.maximum(most - a + (worst - i), 1e-300)
        return np.asarray(a / mine - (most - a) / theirs)

    def _cumulants(self, tilt: Floats) -> tuple[float, Floats]:
        """K(x, y) = log E exp(x a + y i) of a tilt, and its gradient, the tilted mean."""
        push = self.sums @ tilt
        odds = np.exp(-np.abs(push))
        logs = np.maximum(push, 0.0) + np.log1p(odds) - log(2.0)
        shares = np.where(push > 0, 1.0, odds) / (1.0 + odds)
        value = float(self.frame[0] @ tilt + self.counts @ logs)
        return value, self.frame[0] + (self.counts * shares) @ self.sums

    def _find_tilt(self) -> Floats:
        """The tilt towards the most likely point of the region, no less than one deviation."""
        # There it points along the gradient of the statistic (Lagrange), and the tilted mean lies
        # on the boundary: met in turn. Any other tilt would give the right tail too.
        found, totals = np.zeros(2), np.array(self.event.totals, dtype=float)
        for _ in range(40):
            mean, slope = self._cumulants(found)[1], np.zeros(2)
            for a, i in (mean, totals - mean):
                if a + i > 0:
                    slope += np.array((i, -a)) / (a + i) ** 2
            lengths = np.abs(self.sums @ slope)
            deviation = 0.5 * float(np.sqrt(self.counts @ lengths**2))
            if deviation == 0:
                break
            slope /= deviation
            furthest = FURTHEST / max(np.sort(lengths)[lengths.size * 9 // 10] / deviation, 1e-6)
            size, low, high = 1.0, 1.0, inf
            while high - low > 1e-3 * max(1.0, 0.03 * low):
                if size >= furthest or self.gap(*self._cumulants(size * slope)[1]) >= self.least:
                    high = size
                else:
                    low = size
                size = 2.0 * size if high == inf else 0.5 * (low + high)
            found, moved = high * slope, high * slope - found
            if np.abs(moved).sum() < 1e-3 * np.abs(found).sum():
                break
        return found


def _every(rows: range) -> Ints:
    """All of these rows, if they are not too many."""
    if len(rows) > MAX_ROWS:
        raise TooHard(f"the staircase of the two sums has {len(rows):,} rows")
    return np.arange(rows.start, rows.stop, dtype=np.int64)


def _in_rows(lattice: LatticeSum) -> tuple[tuple[tuple[int, int], ...], Ints]:
    """Both sums at s = r = 0, what a step in s adds to them, and one in r; moves in (s, r)."""
    # Along a row misses fall and hits stay; s depends as little on r as can be.
    (a, i), (b, j) = ([int(x) for x in row] for row in lattice.basis)
    g = gcd(a, b)
    sign = 1 if b * i < a * j else -1
    p, q = sign * b // g, -sign * a // g
    # (x, y) with p y - q x = 1 completes (p, q) to a basis.
    y = pow(p, -1, abs(q)) if q else p
    x = (p * y - 1) // q if q else 0
    e = lattice.steps.astype(np.float64)
    covariance = (e * lattice.counts[:, None]).T @ e
    s, r = np.array((y, -x), dtype=float), np.array((-q, p), dtype=float)
    shear = round(float(s @ covariance @ r) / float(r @ covariance @ r))
    x, y = x + shear * p, y + shear * q
    first, second = lattice.steps.T
    steps = np.stack((y * first - x * second, p * second - q * first), axis=1).astype(np.int64)
    hits, misses = lattice.origin
    return ((hits, misses), (0, p * i + q * j), (x * a + y * b, x * i + y * j)), steps


def _add_up(terms: Iterable[float], twos: int) -> tuple[float, float]:
    """Their sum, and so many times ln 2, in two parts."""
    terms = [*terms, *(twos * x for x in LOG2)]
    total = fsum(terms)
    return total, fsum([*terms, -total])


# ---- the tail from cells -------------------------------------------------------------------------


def by_cells(law: _Tilted) -> Probability:
    """The tail from cells of the tilted law, by dynamic programming."""
    region = law.region
    table, (low_s, low_r), power, lost, rounding = _cells(law, exp(-OUTSIDE - region.height))
    width, entries = table.shape[1], int(law.counts.sum())
    first = max(region.first, low_r)
    table = table[first - low_r : max(region.first + region.starts.size - low_r, 0)]
    starts = region.starts[first - region.first :][: len(table)].clip(low_s, low_s + width)
    decay = np.exp(-law.tau[0] * np.arange(width))
    by_row = zip(table, starts - low_s, strict=True)
    sums = [float(row[s:] @ decay[: width - s]) for row, s in by_row]
    heights = np.minimum(law.heights(starts, first, region.origin), region.height)
    total = fsum(np.exp(heights) * sums)
    high, low = _add_up(law.tau * (law.corner - region.origin), power - entries)
    left_out = lost * exp(region.height) + region.rest * exp(min(region.scale[0] - high, 600.0))
    if total <= 0:
        # What has been left out may be too little for a single labelling.
        if high + log(left_out) < -entries * log(2.0) - 1.0:
            return IMPOSSIBLE
        raise TooHard("the staircase is far from where a tilt puts the mass")
    error = rounding + EPS * (width / 2 + 16) + left_out / total
    return Probability.of_product(high, low, total, error)


def _cells(law: _Tilted, negligible: float) -> tuple[Floats, tuple[int, int], int, float, float]:
    """The tilted law as a table (row r, column s), without a negligible share of its mass.

    Also its first column and row, the power of two that weights exp(-push) were divided by, the
    share that was left out, and the relative error of each cell.
    """
    # Moves that spread most come last, so that the table is small for long.
    spread = (law.counts * law.q)[:, None] * law.moves.astype(np.float64) ** 2
    order = (spread / (spread.sum(axis=0) + 1e-300)).sum(axis=1).argsort().tolist()
    numbers = law.counts.tolist()
    parts = [
        (k, min(TOGETHER, numbers[k] - n)) for k in order for n in range(0, numbers[k], TOGETHER)
    ]
    table, lows, mass, power, rounding = np.ones((1, 1)), law.corner, 1.0, 0, 0.0
    lost = 1e-300  # with room for what is below the smallest float
    most = negligible / (5 * len(parts))
    binomials = cache(lambda n: np.array([comb(n, m) for m in range(n + 1)], dtype=np.float64))
    for k, n in parts:
        weights = binomials(n) * np.exp(-law.push[k] * np.arange(n + 1))
        whole = fsum(weights)
        mass, shift = frexp(mass * whole)
        m0, m1, below = _kept(weights, most * whole)
        step, longest = -law.moves[k], m1 - m0 - 1
        shape = table.shape + np.abs(step[::-1]) * longest
        if shape.prod() > MAX_CELLS:
            raise TooHard(f"the tilted law of the two sums has {shape.prod():,} cells")
        weights = np.ldexp(weights[m0:m1], -shift)
        table = _add_moves(table, weights, int(step[0]), int(step[1]))
        r0, r1, beneath = _kept(table.sum(axis=1), most * mass)
        s0, s1, beside = _kept(table.sum(axis=0), most * mass)
        table = table[r0:r1, s0:s1]
        lows = lows + step * m0 + np.minimum(step, 0) * longest + (s0, r0)
        lost += below / whole + (beneath + beside) / mass
        power, rounding = power + shift, rounding + EPS * (3.5 + longest / 2)
    return table, (int(lows[0]), int(lows[1])), power, lost, rounding


def _kept(sums: Floats, most: float) -> tuple[int, int, float]:
    """First and end without outermost sums that come to `most` at either end, and their sum."""
    below = np.cumsum(sums)
    first = int(np.searchsorted(below, most, side="right"))
    above = np.cumsum(sums[first:][::-1])
    last = int(np.searchsorted(above, most, side="right"))
    left_out = (below[first - 1] if first else 0.0) + (above[last - 1] if last else 0.0)
    return first, sums.size - last, float(left_out)


def _add_moves(table: Floats, weights: Floats, step_s: int, step_r: int) -> Floats:
    """Sum over m of ``weights[m]`` times the table shifted by m steps, m - n of negative ones."""
    n, (height, width) = weights.size - 1, table.shape
    longer = np.zeros((height + n * abs(step_r), width + n * abs(step_s)))
    for m, weight in enumerate(weights.tolist()):
        down, right = (m * step - min(n * step, 0) for step in (step_r, step_s))
        longer[down : down + height, right : right + width] += weight * table
    return longer


# ---- the tail from frequencies -------------------------------------------------------------------


def by_frequencies(law: _Tilted, work: float = WORK) -> Probability:
    """The tail by inverting the tilted characteristic function."""
    region = law.region
    most = OUTSIDE + max(region.height, 0.0)
    (s0, s1), (r0, r1) = law.window(0, most), law.window(1, most)
    s0 = min(s0, max(int(region.starts.min()), int(law.ends[0, 0])))
    r0, r1 = min(r0, region.first), max(r1, region.first + region.starts.size - 1)
    width, height = s1 - s0 + 1, r1 - r0 + 1
    if height > MAX_ROWS or width > LONGEST:
        raise TooHard(f"the window of the tilted tail has {height:,} rows of {width:,} cells")
    m = [min(n for n in LENGTHS if n >= size) for size in (width, height)]
    phi = _Phi(law, np.array(m, dtype=np.int64))
    points, rest = phi.search(most, work)
    total, error, largest = phi.add_up(points, s1 + 1)
    if not 0 < total < inf:
        raise TooHard("the staircase is far from where a tilt puts the mass")
    # Mass outside of the window is not there, or wraps around into it.
    edges = np.array(((s0, s1), (r0, r1)))
    masses = np.exp([law.log_mass(a, np.abs(edges[a] - law.means[a])) for a in (0, 1)])
    outside = float(masses[edges != law.ends].sum())
    high, low, rounding = region.scale
    error += rest * largest + 2 * exp(region.height) * outside + region.rest
    return Probability.of_product(high, low, total, rounding + error / total)


class _Phi(NamedTuple):
    """The characteristic function of the tilted law, on a lattice of m_s by m_r frequencies."""

    law: _Tilted
    m: Ints

    def search(self, cut: float, work: float) -> tuple[Ints, float]:
        """The frequencies at which |phi| may exceed exp(-cut), and a bound on all the others."""
        # Boxes are cut in four until they do not matter, or one point is left; of opposite ones
        # only one is looked at, as both m are odd.
        law, (h_s, h_r) = self.law, ((self.m - 1) // 2).tolist()
        stack = [np.array([(1, h_s, -h_r, h_r), (0, 0, 1, h_r)], dtype=np.int64)]
        found, rest = [np.zeros((1, 2), dtype=np.int64)], 0.0
        each = DEAR * law.q.size + int(self.m[1])
        while stack:
            boxes = stack.pop()
            boxes = boxes[(boxes[:, 0] <= boxes[:, 1]) & (boxes[:, 2] <= boxes[:, 3])]
            # All of the box together may be as large as a single point.
            sizes = np.prod(boxes[:, 1::2] - boxes[:, ::2] + 1.0, axis=1)
            bounds, asked = self.bounds(boxes, cut + np.log(sizes))
            beyond = bounds > cut + np.log(sizes)
            rest += float(2 * sizes[beyond] @ np.exp(-bounds[beyond]))
            point = ~beyond & (sizes == 1)
            found.append(boxes[point][:, ::2])
            work -= asked + each * float(point.sum())
            if work < 0:
                raise TooHard("the characteristic function of the two sums has too many peaks")
            boxes = boxes[~beyond & ~point]
            middles = (boxes[:, ::2] + boxes[:, 1::2]) // 2  # floors, for either sign
            for axis in (0, 1):
                low, high = boxes.copy(), boxes
                low[:, 2 * axis + 1] = middles[:, axis]
                high[:, 2 * axis] = middles[:, axis] + 1
                boxes, middles = np.concatenate([low, high]), np.concatenate([middles, middles])
            stack += [boxes[n : n + BOXES] for n in range(0, len(boxes), BOXES)][::-1]
        points = np.concatenate(found)
        return points[np.argsort(points[:, 0], kind="stable")], rest

    def bounds(self, boxes: Ints, enough: Floats) -> tuple[Floats, float]:
        """Bounds on -log |phi| in boxes of frequencies, and how many moves were looked at."""
        # The sine is smallest where x is nearest to a whole number; |sin(pi x)| is at least
        # pi x (1 - x) (1 + x (1 - x)), and -log(1 - y) at least y + y^2 / 2.
        (law, m), bounds, asked = self, np.zeros(len(boxes)), 0.0
        spread = 4 * law.q * (1 - law.q)
        middles, halves = (boxes[:, ::2] + boxes[:, 1::2]) / 2, (boxes[:, 1::2] - boxes[:, ::2]) / 2
        # Around the peak |phi| is about that of a normal law, and no bound would be large enough.
        around = (law.moves.T * (law.counts * spread)) @ law.moves * np.pi**2 / np.outer(m, m)
        left = np.flatnonzero(((middles @ around) * middles).sum(axis=1) > 2 * enough)
        # Moves that make |phi| small come first.
        order = np.argsort(-spread * law.counts * np.abs(law.moves).max(axis=1), kind="stable")
        start, some = 0, 8
        while left.size and start < order.size:
            part = order[start : start + some]
            steps = (law.moves[part] / m).T
            x = np.abs(middles[left] @ steps)
            x = np.abs(x - np.rint(x)) - 4 * EPS * (1 + x) - halves[left] @ np.abs(steps)
            x = np.maximum(x, 0.0)
            x *= 1.0 - x
            y = spread[part] * (np.pi * x * (1.0 + x)) ** 2
            bounds[left] += (y * (1.0 + 0.5 * y)) @ (0.5 * law.counts[part])
            asked += left.size * part.size
            left, start = left[bounds[left] <= enough[left]], start + some
            some = min(4 * some, max(8 * AT_ONCE // max(left.size, 1), 8))
        return bounds, asked

    def at(self, points: Ints) -> tuple[NDArray[np.complex128], Floats]:
        """E exp(i theta (T - t0)) at theta = 2 pi j / m, and its rounding error."""
        # Angles are measured from where T would be if rare moves were not made, and half of the
        # others; whole turns are taken off in integers. With t = tan(pi x) a factor has the angle
        # arctan(a t / (1 + b t^2)), -2 log of its size is log1p(spread t^2 / d), d = 1 + beta^2
        # t^2, and the square of its derivative by pi x is (c + e t^2) / d: nothing cancels.
        law, m = self
        q, counts, rare = law.q[:, None], law.counts.astype(np.float64), law.q[:, None] < RARE
        beta, spread = np.tanh(law.push / 2)[:, None], 4 * q * (1 - q)
        a, b = np.where(rare, -2 * q, beta), np.where(rare, 1 - 2 * q, 0.0)
        c, e = np.where(rare, 2 * q, beta) ** 2, np.where(rare, 2 * q, 1.0) ** 2
        even, twice = np.where(law.q < RARE, 0.0, counts), law.twice(law.region.origin) % (2 * m)
        whole, half, places = float(m[0]) * float(m[1]), np.zeros(len(points)), []
        for axis, n in enumerate(m.tolist()):
            j, at = np.unique(points[:, axis], return_inverse=True)
            steps = law.moves[:, axis, None] * j
            turns = np.rint(steps / n)
            places.append(((steps - turns.astype(np.int64) * n) * (whole / n), at))
            half += (even @ turns % 2)[at] + twice[axis] * points[:, axis] % (2 * n) / n
        (x_s, at_s), (x_r, at_r) = places
        sums, block = np.empty((4, len(points))), max(AT_ONCE // counts.size, 64)
        for part in (slice(n, n + block) for n in range(0, len(points), block)):
            x = x_s.take(at_s[part], axis=1)
            x += x_r.take(at_r[part], axis=1)
            turns = np.rint(x / whole)
            x -= whole * turns  # exact so far
            x *= np.pi / whole
            t = np.tan(x)
            square = t * t
            d = 1 + beta * beta * square
            sums[0, part] = even @ turns
            sums[1, part] = _dot(counts, np.log1p(spread * square / d))
            sums[2, part] = _dot(counts, np.arctan(a * t / (1 + b * square)))
            sums[3, part] = counts @ (np.abs(x) * np.sqrt((c + e * square) / d))
        odd, logs, angle, rough = sums
        sizes = np.exp(-0.5 * logs)
        values = sizes * np.exp(1j * (np.pi * ((half + odd) % 2) + angle))
        return values, EPS * sizes * (8 + 6 * rough + 2 * np.abs(angle))

    def add_up(self, points: Ints, stop: int) -> tuple[float, float, float]:
        """Sum of exp(-tau (T - t0)) over rows up to `stop`, its error, the largest sum of weights.

        Points come in order of j_s, (0, 0) first.
        """
        law, m = self
        decay, first, origin = float(law.tau[0]), law.region.first, law.region.origin
        starts = np.minimum(law.region.starts, stop)
        # At the start of each row, and just beyond its end.
        weights, lasts = (
            np.where(starts < stop, np.exp(law.heights(s, first, origin)), 0.0)
            for s in (starts, np.full_like(starts, stop))
        )
        places, size = starts - origin[0], float(np.sum(weights) + np.sum(lasts))
        circle, sums = _circle(int(m[0])), np.empty(len(points), dtype=np.complex128)
        begins = np.unique(points[:, 0], return_index=True)[1]
        for part in np.split(np.arange(len(points)), begins[1:]):
            j = points[part[0], 0]
            z = weights * circle[j * places % m[0]] - lasts * circle[j * (stop - origin[0]) % m[0]]
            sums[part] = np.fft.fft(z, int(m[1]))[points[part, 1] % m[1]]
        sums *= _circle(int(m[1]))[points[:, 1] * (first - origin[1]) % m[1]]
        sine, cosine = (f(np.pi * points[:, 0] / m[0]) for f in (np.sin, np.cos))
        below = -np.expm1(-decay) + 2 * np.exp(-decay) * sine * (sine + 1j * cosine)
        values, errors = self.at(points)
        twice = np.where(np.arange(len(points)) == 0, 1.0, 2.0)
        terms, sizes = values * sums / below, size / np.abs(below)
        error = errors * np.abs(sums / below) + np.abs(values) * sizes * EPS * (2 * log2(m[1]) + 10)
        total, whole = fsum(twice * terms.real), float(m[0]) * float(m[1])
        return total / whole, float(twice @ error) / whole, float(sizes.max()) / whole


def _dot(counts: Floats, terms: Floats) -> Floats:
    """Products with whole numbers, added up as if rounded once (Rump, Ogita and Oishi 2008)."""
    most = float(counts.sum()) * max(float(terms.max()), -float(terms.min()))
    unit = 2.0 ** (frexp(most)[1] + 2)
    leading = (terms + unit) - unit
    return np.asarray(counts @ leading + counts @ (terms - leading))


def _circle(m: int) -> NDArray[np.complex128]:
    """exp(-2 pi i j / m) for all j."""
    j = np.arange(m)
    return np.asarray(np.exp(-2j * np.pi * np.where(2 * j <= m, j, j - m) / m))


def _ways(law: _Tilted) -> Iterator[Callable[[], Probability]]:
    """How the tail can be had in about a second, the quickest first."""
    made = law.counts * law.q
    deviations, moved = law.moments[0] ** 0.5, np.abs(law.moves[made > 1e-20])
    sizes = 19 * deviations + 3 * moved.max(axis=0, initial=0)
    sizes = np.minimum(sizes, law.ends[:, 1] - law.ends[:, 0]) + 1
    terms = np.minimum(law.counts, made + 9.5 * np.sqrt(made * (1 - law.q)) + 8) + 1
    cells = float(terms.sum() * sizes.prod()) / (3 * DEARER)
    # Frequencies that matter around the peak.
    around = (OUTSIDE / (2 * np.pi)) ** 0.5 / np.maximum(deviations, 1e-9)
    (s0, s1), (r0, r1) = law.window(0, OUTSIDE), law.window(1, OUTSIDE)
    points = (s1 - s0 + 1) * (r1 - r0 + 1) * float(np.minimum(around, 1.0).prod()) / 2
    looks = points * (DEAR * law.counts.size + sizes[1])
    if looks < cells:
        yield partial(by_frequencies, law, min(cells, WORK))
    if cells <= CELLS:
        yield partial(by_cells, law)
