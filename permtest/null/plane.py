"""The tail of a ratio statistic of two sums, without their joint distribution.

F1 and its relatives are a / (a + i) for two sums that vary, hits a and misses i. The difference of
two systems grows with the first one's hits and falls with its misses, so that the labellings with
at least the observed difference form a staircase in the plane of a and i. Their probability comes
from the joint law tilted to the most likely point of the staircase. Where many moves are likely,
by its characteristic function: only some hundred frequencies matter, a sum along a row of the
lattice is geometric, and the rows are added up one by one. Near the labellings of greatest
statistic few cells are left, and dynamic programming has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from math import ceil, exp, floor, frexp, fsum, gcd, inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from permtest._integers import exact_dot
from permtest.null.lattice import LatticeSum
from permtest.null.plane_dp import spread_operations, spread_out
from permtest.null.plane_kernels import (
    EPS,
    SMALL,
    Plane,
    Tilt,
    find_tilt,
    frequencies,
    row_starts,
    rows_that_matter,
    staircase_sum,
    tail_bound,
    weighted_rows,
)
from permtest.null.probability import IMPOSSIBLE, UNDERFLOW, Probability, TooHard

#: Logarithm of the tilted mass that may lie beyond each side of the window, or that dynamic
#: programming leaves out, and of the bound on rows that do not matter relative to that of t0.
OUTSIDE = 42.0
#: Weights beyond exp(STEEP) are too uneven.
STEEP = 250.0
#: What all errors together may be; below 1e-300 relative to the logarithm.
ACCEPTED = 1e-12
#: Moves that may be looked at, and rows that may be added up, some nanoseconds each: about a
#: second; and how large the window may be.
WORK, MAX_ROWS, LONGEST = 2e8, 2**23, 10**7
#: How many cells dynamic programming updates in the time that a look at a move takes; and the most
#: in such units, about a second, or a hundredth without a tilt.
DEARER, CELLS, BRIEF = 4, 2.5e8, 2.5e6
#: What a move costs at a frequency that matters, in units of what it costs to leave it out.
DEAR = 20
#: Sums up to this size are exact as floats, with room for products of steps and frequencies.
LARGEST = 2**40
#: ln 2, its leading digits first: whole numbers times those are exact.
LOG2 = (0.693147180369123816490, 1.90821492927058770002e-10)


class Unreached(TooHard):
    """The event cannot happen."""


@dataclass(frozen=True, eq=False)
class Staircase:
    """The event that a / (a + i), or a / i, of one system exceeds that of the other by enough.

    Parameters
    ----------
    lattice : LatticeSum
        Null law of (a, i) of the first system; of rank 2.
    totals : tuple of two int
        Sums of both systems together.
    whole : bool
        Whether the hits a are part of the denominator.
    zero_division : Fraction
        What 0 / 0 is.
    least : Fraction
        By how much.
    strict : bool
        Whether a difference of exactly `least` is too small.
    """

    lattice: LatticeSum
    totals: tuple[int, int]
    whole: bool
    zero_division: Fraction
    least: Fraction
    strict: bool

    def tail(self) -> Probability:
        """The probability of the event under the null hypothesis.

        Returns
        -------
        Probability
            Its bound covers roundings (each operation at its worst, errors added up), the
            frequencies or cells that were left out, and the mass outside of the window.

        Raises
        ------
        TooHard
            If it would take more than a second or so: the characteristic function has too many
            peaks, and too many cells matter.
        """
        if self.least < 0 or (self.least == 0 and not self.strict):
            # By symmetry the difference is at most -x as often as it is at least x.
            return replace(self, least=-self.least, strict=not self.strict).tail().complement()
        if not self._possible():
            return IMPOSSIBLE
        reason = "one tilt is not accurate enough for this staircase"
        # Tiny laws may have no tilt that puts the mass where the tail begins.
        for way in chain(self._tilted.ways(), _Tilted(self, level=True).ways()):
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
        """Two bounds that contain the probability of an event that has been observed.

        Returns
        -------
        Probability, Probability
            That of the labelling that has been observed, and Chernoff's bound.

        Raises
        ------
        TooHard
            If there is no bound below 1/2, or sums are too large.
        """
        log_bound = self._tilted.bound() if self.least > 0 and not self.strict else 0.0
        if log_bound > -log(2.0):
            raise TooHard("no bound is known for this staircase")
        least = Probability.of_log(-float(self.lattice.counts.sum()) * log(2.0), 0.0)
        return least, Probability.of_log(log_bound, 0.0)

    @cached_property
    def _tilted(self) -> _Tilted:
        if max(self.totals) >= LARGEST or max(self.lattice.extents) >= LARGEST:
            raise TooHard("sums beyond 2^40 are too large for the tilted tail")
        return _Tilted(self)

    def reached(self, a: int, i: int) -> bool:
        """Whether the event happens where the first system has these sums, in integers."""
        a, i = min(max(a, 0), self.totals[0]), min(max(i, 0), self.totals[1])
        gap = self._ratio(a, i) - self._ratio(self.totals[0] - a, self.totals[1] - i)
        return gap > self.least if self.strict else gap >= self.least

    def _ratio(self, a: int, i: int) -> Fraction | float:
        below = a + i if self.whole else i
        if below == 0:  # infinite where no labelling can be; else it would not grow with a
            return self.zero_division if a == 0 else inf
        return Fraction(a, below)

    def _possible(self) -> bool:
        """Whether the event could happen if the most hits came with the fewest misses."""
        sums = self.lattice.steps @ self.lattice.basis
        best = []
        for axis, most in ((0, np.maximum), (1, np.minimum)):
            gained = exact_dot(most(sums[:, axis], 0), self.lattice.counts)
            best.append(int(self.lattice.origin[axis]) + gained)
        return self.reached(*best)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The lattice in rows: numbered by r, the points of a row by s."""

    origin: tuple[int, int]  # the sums at s = r = 0
    along: tuple[int, int]  # what one step in s adds to them
    across: tuple[int, int]  # and one in r
    steps: NDArray[np.int64]  # moves in coordinates (s, r), of shape (K, 2)
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, lattice: LatticeSum) -> _Rows:
        """Rows along which misses fall and hits stay; s depends as little on r as can be."""
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
        along, across = (0, p * i + q * j), (x * a + y * b, x * i + y * j)
        first, second = lattice.steps.T
        steps = np.stack((y * first - x * second, p * second - q * first), axis=1).astype(np.int64)
        origin = (int(lattice.origin[0]), int(lattice.origin[1]))
        return cls(origin, along, across, steps, lattice.counts)

    def ends(self, axis: int) -> tuple[int, int]:
        """The smallest and the largest value of a coordinate."""
        e = self.steps[:, axis]
        return int(np.minimum(e, 0) @ self.counts), int(np.maximum(e, 0) @ self.counts)

    @property
    def frame(self) -> NDArray[np.float64]:
        """Origin and both directions, for the kernels."""
        return np.array((self.origin, self.along, self.across), dtype=np.float64)

    def sums(self, s: int, r: int) -> tuple[int, int]:
        """Both sums at a point of the lattice."""
        (a, i), (b, j), (c, k) = self.origin, self.along, self.across
        return a + s * b + r * c, i + s * j + r * k


@dataclass(frozen=True, eq=False)
class _Region:
    """The rows that matter, and where the region begins in each."""

    origin: NDArray[np.int64]  # t0: the start of the row nearest to where the tilt puts the mean
    first: int
    starts: NDArray[np.int64]
    height: float  # log of the largest weight exp(-tau (T - t0)) in these rows
    rest: float  # bound on the probability of the region in all others, times exp(-unit)
    unit: float

    def beyond(self, scale: float) -> float:
        """The same bound, relative to exp(scale)."""
        return self.rest * exp(min(self.unit - scale, 600.0))


class _Tilted:
    """One tilt, the rows that matter, and two ways to the tail."""

    def __init__(self, event: Staircase, level: bool = False) -> None:
        self.level, self.event, self.rows = level, event, _Rows.of(event.lattice)
        rows, floats = self.rows, self.rows.steps.astype(np.float64)
        least, largest = float(event.least), 1.0 if event.whole else float(event.totals[0])
        band = 32 * EPS * max(largest, abs(least))
        self.sure, totals = least + band, np.array(event.totals, dtype=np.float64)
        ratio = (totals, event.whole, float(event.zero_division))
        self.plane = Plane(floats, rows.counts, rows.frame, *ratio, least - band)
        tau = np.zeros(2) if level else np.array(find_tilt(self.plane))
        # So few bits that products with whole numbers are exact.
        unit = 2.0 ** (frexp(float(np.abs(tau).max()))[1] - 24)
        self.tau = np.rint(tau / unit) * unit
        push = floats @ self.tau
        likely = push > 0
        # Moves as seen from the far corner: each is the less likely side.
        self.moves = np.where(likely[:, None], rows.steps, -rows.steps)
        self.push = np.abs(push)
        odds = np.exp(-self.push)
        self.q = odds / (1 + odds)
        self.corner = np.array([int(e[likely] @ rows.counts[likely]) for e in rows.steps.T])
        self.spread = 4 * self.q * (1 - self.q)
        leading = np.round(self.q * 2.0**26) / 2.0**26
        self.digits = np.array((self.q, leading, self.q - leading, np.tanh(self.push / 2)))
        self.means = [self._from_mean(axis, 0) for axis in (0, 1)]

    def ways(self) -> Iterator[Callable[[], Probability]]:
        """How the tail can be had in about a second, the quickest first."""
        sizes, points, moved = [], 0.5, np.abs(self.moves[self.rows.counts * self.q > 1e-20])
        for axis in (0, 1):
            (first, last), (variance, _, _) = self._window(axis), self._moments(axis)
            jump = int(moved[:, axis].max(initial=0))
            low, high = self.rows.ends(axis)
            sizes.append(min(19 * variance**0.5 + 3 * jump, float(high - low)) + 1)
            # Frequencies that matter around the peak.
            around = (SMALL / (2 * np.pi * variance)) ** 0.5 if variance else 1.0
            points *= (last - first + 1) * min(around, 1.0)
        cells = spread_operations(self.rows.counts, self.q, (sizes[0], sizes[1])) / DEARER
        looks = points * (DEAR * self.rows.counts.size + sizes[1])
        if not self.level and looks < cells:
            yield partial(self.by_frequencies, min(cells, WORK))
        if cells <= (BRIEF if self.level else CELLS):
            yield self.by_cells

    @cached_property
    def reference(self) -> Tilt:
        """Where weights and rows are measured from: t0, the start of the row nearest the mean."""
        low, high = self.rows.ends(1)
        if high - low >= MAX_ROWS:
            raise TooHard(f"the staircase of the two sums has {high - low + 1:,} rows")
        origin = self._nearest_start(low, high)
        tilt = np.linalg.solve(self.rows.frame[1:], self.tau)  # in coordinates of both sums
        rising = np.array((max(tilt[0], 0.0), min(tilt[1], 0.0)))  # but for roundings the same
        scale = self._log_scale(origin)[0] + float(np.abs(tilt - rising) @ self.plane.totals)
        return Tilt(rising, origin, scale, self.means[1], *self._moments(1))

    def beyond(self, unit: float) -> tuple[int, int, float]:
        """First and last row whose bounds exceed exp(unit), and a bound on others in that unit."""
        (s0, s1), (low, high) = (self.rows.ends(axis) for axis in (0, 1))
        room = 2 * (s1 - s0 + high - low)  # starts that no labelling reaches count too
        far = np.array((s0 - room, s1 + room))
        upper, above = rows_that_matter(high, unit, self.reference, far, self.plane)
        lower, below = rows_that_matter(low, unit, self.reference, far, self.plane)
        return lower, upper, above + below

    def bound(self) -> float:
        """Bound on the log of the tail: that of the row of t0, and those of all others."""
        for more in (1.0, 10.0, 100.0):
            unit = self.reference.scale + more
            lower, upper, rest = self.beyond(unit)
            if lower == upper:
                return min(unit + log1p(rest), 0.0)
        return 0.0

    @cached_property
    def region(self) -> _Region:
        """The rows that matter."""
        origin, unit = self.reference.origin, self.reference.scale - OUTSIDE
        first, last, rest = self.beyond(unit)
        starts = self._starts(first, last - first + 1)
        heights = self._heights(starts, first, origin)[starts <= self.rows.ends(0)[1]]
        return _Region(origin, first, starts, float(heights.max()), rest, unit)

    def _nearest_start(self, low: int, high: int) -> NDArray[np.int64]:
        """The start of the row that is nearest to the mean, of those that have one."""
        middle = int(np.clip(round(self.means[1]), low, high))
        for reach in (0, 64, high - low):
            first = max(middle - reach, low)
            starts = self._starts(first, min(middle + reach, high) - first + 1)
            inside = np.flatnonzero(starts <= self.rows.ends(0)[1])
            if inside.size:
                n = int(inside[np.abs(inside + first - middle).argmin()])
                return np.array((starts[n], first + n), dtype=np.int64)
        raise Unreached("no labelling reaches the staircase")

    def by_cells(self) -> Probability:
        """The tail from cells of the tilted law, by dynamic programming."""
        region = self.region
        if region.height > STEEP:
            raise TooHard("the staircase is far from where a tilt puts the mass")
        negligible = exp(-(2 if self.level else 1) * OUTSIDE - region.height)
        found = spread_out(self.moves, self.rows.counts, self.push, negligible)
        (table, lows, power, lost, rounding), n = found, int(self.rows.counts.sum())
        size_r, size_s = table.shape
        low_s, low_r = (self.corner - lows - (size_s - 1, size_r - 1)).tolist()
        first = max(region.first, low_r)
        last = max(min(region.first + region.starts.size, low_r + size_r), first)
        starts = region.starts[first - region.first : last - region.first]
        starts, sums = np.clip(starts, low_s, low_s + size_s), np.zeros(starts.size)
        table = table[::-1, ::-1][first - low_r : last - low_r]
        weighted_rows(table, starts - low_s, np.exp(-self.tau[0] * np.arange(size_s)), sums)
        heights = np.minimum(self._heights(starts, first, region.origin), region.height)
        total = fsum(np.exp(heights) * sums)
        terms = [float(x) for x in self.tau * (self.corner - region.origin)]
        terms += [(power - n) * x for x in LOG2]
        high = fsum(terms)
        left_out = lost * exp(region.height) + region.beyond(high)
        if total <= 0:
            # What has been left out may be too little for a single labelling.
            if left_out == 0 or high + log(left_out) < -n * log(2.0) - 1.0:
                return IMPOSSIBLE
            raise TooHard("the staircase is far from where a tilt puts the mass")
        error = rounding + EPS * (size_s / 2 + 16) + left_out / total
        return Probability.of_product(high, fsum([*terms, -high]), total, error)

    def by_frequencies(self, work: float = WORK) -> Probability:
        """The tail by inverting the tilted characteristic function."""
        region = self.region
        (s0, s1), (r0, r1) = (self._window(axis) for axis in (0, 1))
        s0 = min(s0, max(int(region.starts.min()), self.rows.ends(0)[0]))
        r0, r1 = min(r0, region.first), max(r1, region.first + region.starts.size - 1)
        if r1 - r0 >= MAX_ROWS or s1 - s0 >= LONGEST:
            raise TooHard(
                f"the window of the tilted tail has {r1 - r0 + 1:,} rows of {s1 - s0 + 1:,} cells"
            )
        m = np.array([(s1 - s0 + 1) | 1, (r1 - r0 + 1) | 1], dtype=np.int64)  # both odd
        points, rest = self._points(m, work)
        starts = np.minimum(region.starts, s1 + 1)
        weights, lasts = (
            np.where(starts <= s1, np.exp(self._heights(s, region.first, region.origin)), 0.0)
            for s in (starts, np.full_like(starts, s1 + 1))
        )
        cells = (self.tau[0], region.origin, region.first, s1 + 1, starts, weights, lasts)
        shift = np.array([self._from_mean(axis, int(region.origin[axis])) for axis in (0, 1)])
        law = (self.moves, self.rows.counts, self.digits)
        total, error, largest = staircase_sum(points, m, cells, shift, *law)
        if not 0 < total < inf:
            raise TooHard("the staircase is far from where a tilt puts the mass")
        high, low, rounding = self._log_scale(region.origin)
        # Mass outside of the window is not there, or wraps around into it.
        outside = 2 * self._outside((s0, s1), (r0, r1)) * exp(min(region.height, 600.0))
        error += rest * largest + outside + region.beyond(high)
        return Probability.of_product(high, low, total, rounding + error / total)

    def _heights(
        self, s: NDArray[np.int64], first: int, origin: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """-tau (T - t0) at s in each row from the first on; the products are exact."""
        rows = np.arange(first, first + s.size)
        heights = -self.tau[0] * (s - origin[0]) - self.tau[1] * (rows - origin[1])
        return np.asarray(np.minimum(heights, 600.0))

    def _from_mean(self, axis: int, origin: int) -> float:
        """The tilted mean of a coordinate less a whole number, rounded once."""
        weights = (self.rows.counts * self.moves[:, axis]).astype(np.float64)
        parts = [(weights * q).tolist() for q in self.digits[1:3]]
        return float(self.corner[axis] - origin) - fsum(parts[0] + parts[1])

    def _log_scale(self, origin: NDArray[np.int64]) -> tuple[float, float, float]:
        """K(tau) - tau t0 in two parts, and its error: sum c log cosh(push / 2) + tau (mid - t0).

        The products of tau and of push are exact, and small where the mass is near the middle.
        """
        counts, push, small = self.rows.counts, self.push, self.push < 1
        twice = 2 * (self.corner - origin) - counts @ self.moves
        exact = counts * np.where(small, 0.0, push / 2)
        series = np.log1p(2 * np.sinh(np.minimum(push, 1) / 4) ** 2)
        rounded = counts * np.where(small, series, np.log1p(np.exp(-push)) - np.log(2.0))
        terms = np.concatenate((exact, rounded, self.tau * twice / 2)).tolist()
        total = fsum(terms)
        return total, fsum([*terms, -total]), 4 * EPS * float(np.abs(rounded).sum())

    def _moments(self, axis: int) -> tuple[float, float, float]:
        """Variance with the tilt, variance without, and the largest step."""
        squares = self.rows.counts * self.moves[:, axis].astype(np.float64) ** 2
        jump = float(np.abs(self.moves[:, axis]).max())
        return float(squares @ self.spread) / 4, float(squares.sum()) / 4, jump

    def _window(self, axis: int) -> tuple[int, int]:
        """First and last value of a coordinate; mass beyond either is below exp(-OUTSIDE)."""
        variance, fair, jump = self._moments(axis)
        x = OUTSIDE * jump / 3
        x = min(x + (x * x + 2 * OUTSIDE * variance) ** 0.5, (2 * OUTSIDE * fair) ** 0.5)
        low, high = self.rows.ends(axis)
        return max(floor(self.means[axis] - x), low), min(ceil(self.means[axis] + x), high)

    def _outside(self, *window: tuple[int, int]) -> float:
        """Bound on the tilted mass outside of the window."""
        total = 0.0
        for axis, (edges, mean) in enumerate(zip(window, self.means, strict=True)):
            for edge, end in zip(edges, self.rows.ends(axis), strict=True):
                if edge != end:
                    total += exp(float(tail_bound(abs(edge - mean), *self._moments(axis))))
        return total

    def _starts(self, first: int, size: int) -> NDArray[np.int64]:
        """Where the region begins in each row; ties are decided in integers."""
        starts, ends = np.empty(size, dtype=np.int64), np.array(self.rows.ends(0), dtype=np.int64)
        for n in row_starts(first, self.sure, ends, self.plane, starts):
            row = partial(self.rows.sums, r=first + n)
            while starts[n] <= ends[1] and not self.event.reached(*row(int(starts[n]))):
                starts[n] += 1
        return starts

    def _points(self, m: NDArray[np.int64], work: float) -> tuple[NDArray[np.int64], float]:
        """The frequencies that matter, and a bound on the rest."""
        each = DEAR * self.rows.counts.size + int(m[1])  # of the work
        most = min(int(work / each), int(m[0]) * int(m[1]) // 2) + 1
        found = np.empty((most, 2), dtype=np.int64)
        n, rest = frequencies(m, SMALL, work, self.rows.steps, self.rows.counts, self.spread, found)
        if n < 0:
            raise TooHard("the characteristic function of the two sums has too many peaks")
        order = np.argsort(found[:n, 0], kind="stable")
        return np.concatenate((np.zeros((1, 2), dtype=np.int64), found[:n][order])), rest
