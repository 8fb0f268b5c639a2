"""The tail of a ratio statistic of two sums, without their joint distribution.

F1 and its relatives are a / (a + i) for two sums that vary, hits a and misses i. The difference of
two systems grows with the first one's hits and falls with its misses, so that the labellings with
at least the observed difference form a staircase in the plane of a and i: in each row of a lattice
of points T = (s, r), the cells from some start on. With K(tau) = log E exp(tau T),

    P(T in the staircase) = exp(K - tau t0) E_tau[exp(-tau (T - t0)); T in the staircase],

tau being the tilt to its most likely point and t0 a corner there. Where many moves are likely, the
mean on the right comes from the characteristic function: only some hundred frequencies matter, a
sum along a row is geometric, and the rows are added up one by one. Near the labellings of greatest
statistic few cells are left, and dynamic programming has them; all its terms are positive, so that
each cell is accurate relative to itself. Rows that do not matter are bounded, not added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from math import ceil, exp, floor, frexp, fsum, gcd, inf, log, log1p
from typing import NamedTuple

import numpy as np

from permtest._integers import exact_dot
from permtest._jit import Floats, Ints
from permtest.null.grouping import MAX_CELLS
from permtest.null.lattice import LatticeSum
from permtest.null.plane_kernels import (
    RARE,
    Cells,
    Plane,
    add_moves,
    best_tilt,
    cumulants,
    find_tilt,
    frequencies,
    kept,
    row_starts,
    staircase_sum,
)
from permtest.null.probability import EPS, IMPOSSIBLE, UNDERFLOW, Probability, TooHard
from permtest.null.tail_kernels import reach

#: Logarithm of the tilted mass that may lie beyond each side of the window, or that dynamic
#: programming leaves out, and of the bound on rows that do not matter relative to that of t0.
OUTSIDE = 42.0
#: Frequencies with |phi| below exp(-SMALL) are left out, with a bound.
SMALL = 42.0
#: Weights beyond exp(STEEP) are too uneven, and cut off at exp(STEEPEST).
STEEP, STEEPEST = 250.0, 600.0
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
#: Rows are bounded one by one up to so far from the middle, in blocks of more beyond.
BLOCKS = 64
#: Entries that are folded in together: their binomial coefficients are floats, squared as well.
TOGETHER = 500
#: Sums up to this size are exact as floats, with room for products of steps and frequencies.
LARGEST = 2**40
#: ln 2, its leading digits first: whole numbers times those are exact.
LOG2 = (0.693147180369123816490, 1.90821492927058770002e-10)


class Unreached(TooHard):
    """The event cannot happen."""


@dataclass(frozen=True, eq=False)
class Staircase:
    """The event that a / (a + i), or a / i, of one system exceeds that of the other by enough."""

    #: Null law of (a, i) of the first system, of rank 2, and the sums of both systems together.
    lattice: LatticeSum
    totals: tuple[int, int]
    #: Whether the hits a are part of the denominator, and what 0 / 0 is.
    whole: bool
    zero_division: Fraction
    #: By how much, and whether a difference of exactly that is too small.
    least: Fraction
    strict: bool

    def tail(self) -> Probability:
        """The probability of the event under the null hypothesis.

        Its error bound covers roundings (each operation at its worst, errors added up), what was
        left out, and the mass outside of the window. Raises TooHard if it would take more than a
        second or so: the characteristic function has too many peaks, and too many cells matter.
        """
        if self.least < 0 or (self.least == 0 and not self.strict):
            # By symmetry the difference is at most -x as often as it is at least x.
            return replace(self, least=-self.least, strict=not self.strict).tail().complement()
        if not self._possible():
            return IMPOSSIBLE
        reason = "one tilt is not accurate enough for this staircase"
        for way in self._ways():
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

    def _ways(self) -> Iterator[Callable[[], Probability]]:
        yield from self._tilted.ways()
        # Tiny laws may have no tilt that puts the mass where the tail begins.
        yield from _Tilted(self, level=True).ways()

    def bracket(self) -> tuple[Probability, Probability]:
        """Two bounds of the probability of what has been observed: one labelling's, and Chernoff's.

        Raises TooHard if there is no bound below 1/2, or sums are too large.
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
    """One tilt, the rows that matter, and two ways to the tail."""

    def __init__(self, event: Staircase, level: bool = False) -> None:
        self.level, self.event, self.counts = level, event, event.lattice.counts
        self.frame, self.steps = _in_rows(event.lattice)
        turns = (np.minimum(self.steps, 0), np.maximum(self.steps, 0))
        self.ends = np.stack([self.counts @ e for e in turns], axis=1)
        least, largest = float(event.least), 1.0 if event.whole else float(event.totals[0])
        band = 32 * EPS * max(largest, abs(least))
        frame, totals = (np.array(x, dtype=np.float64) for x in (self.frame, event.totals))
        ratio = (totals, event.whole, float(event.zero_division))
        self.plane = Plane(self.steps @ frame[1:], self.counts, frame, *ratio, least - band)
        self.sure = least + band
        tau = np.zeros(2) if level else frame[1:] @ np.array(find_tilt(self.plane))
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

    def ways(self) -> Iterator[Callable[[], Probability]]:
        """How the tail can be had in about a second, the quickest first."""
        made = self.counts * self.q
        deviations, moved = self.moments[0] ** 0.5, np.abs(self.moves[made > 1e-20])
        sizes = 19 * deviations + 3 * moved.max(axis=0, initial=0)
        sizes = np.minimum(sizes, self.ends[:, 1] - self.ends[:, 0]) + 1
        terms = np.minimum(self.counts, made + 9.5 * np.sqrt(made * (1 - self.q)) + 8) + 1
        cells = float(terms.sum() * sizes.prod()) / (3 * DEARER)
        # Frequencies that matter around the peak.
        around = (SMALL / (2 * np.pi)) ** 0.5 / np.maximum(deviations, 1e-9)
        (s0, s1), (r0, r1) = self._window(0), self._window(1)
        points = (s1 - s0 + 1) * (r1 - r0 + 1) * float(np.minimum(around, 1.0).prod()) / 2
        looks = points * (DEAR * self.counts.size + sizes[1])
        if not self.level and looks < cells:
            yield partial(self.by_frequencies, min(cells, WORK))
        if cells <= (BRIEF if self.level else CELLS):
            yield self.by_cells

    @cached_property
    def region(self) -> _Region:
        """The rows that matter: all but those whose bounds are next to nothing."""
        return self._rows_above(-OUTSIDE)

    def _rows_above(self, least: float) -> _Region:
        """The rows whose bounds, relative to the scale, are above exp(least)."""
        low, high = (int(x) for x in self.ends[1])
        if high - low >= MAX_ROWS:
            raise TooHard(f"the staircase of the two sums has {high - low + 1:,} rows")
        middle = int(np.clip(round(self.means[1]), low, high))
        # Rows are taken together in blocks, the longer the further they are away.
        away = np.arange(BLOCKS * (log1p((high - low) / BLOCKS) + 1))
        away = np.expm1(away / BLOCKS) * BLOCKS
        rows = np.clip(middle + np.concatenate((-away, away)).astype(np.int64), low, high)
        rows = np.unique(np.append(rows, (low, high)))
        starts = self._starts(rows)
        there = np.flatnonzero(starts <= self.ends[0, 1])
        if not there.size:
            raise Unreached("no labelling reaches the staircase")
        nearest = there[np.abs(rows[there] - middle).argmin()]
        origin = np.array((starts[nearest], rows[nearest]))
        scale = self._log_scale(origin)
        bounds = self._bounds(rows, starts, nearest, least + scale[0]) - scale[0]
        matter = np.flatnonzero(bounds > least)
        first, end = int(rows[matter[0]]), int(np.append(rows, high + 1)[matter[-1] + 1])
        rest = float(np.exp(np.delete(bounds, slice(matter[0], matter[-1] + 1))).sum())
        starts = self._starts(np.arange(first, end))
        heights = self._heights(starts, first, origin)
        heights[starts > self.ends[0, 1]] = -inf
        return _Region(origin, scale, first, starts, heights, float(heights.max()), rest)

    def _bounds(self, rows: Ints, starts: Ints, nearest: int, enough: float) -> Floats:
        """Bounds on the log of the probability of the region in blocks that begin at these rows.

        All of a row has the same hits. Between two rows the boundary rises in both sums, so that a
        block of rows has no more misses than its ends and, starts being whole numbers, one step
        along a row. There a tilt leaves no more than the largest weight times its mass, or times 1
        (Chernoff) for the best one for the outermost block, until that has a bound above `enough`.
        """
        frame, number = self.plane.frame, np.arange(rows.size)
        after = np.minimum(number + 1, rows.size - 1)
        after = np.where(rows[after] - rows > 1, after, number)
        hits = frame[0, 0] + rows * frame[2, 0]
        most = frame[0, 1] + self.ends[0, 0] * frame[1, 1] + rows * frame[2, 1]
        misses = most + (starts - self.ends[0, 0]) * frame[1, 1]
        misses[starts > self.ends[0, 1]] = -1e300
        misses = np.maximum(misses, misses[after]) + (after > number) * abs(frame[1, 1])
        cut = np.minimum(starts, starts[after]) <= self.ends[0, 0]
        misses[cut] = np.maximum(most, most[after])[cut]
        low = np.minimum(hits, hits[after])  # weights rise with -hits and misses
        tilt = np.linalg.solve(frame[1:], self.tau)  # in coordinates of both sums
        x, y = max(tilt[0], 0.0), min(tilt[1], 0.0)  # but for roundings the same
        distances = np.maximum(rows - self.means[1], self.means[1] - rows[after])
        bounds = self._log_mass(1, distances) + float(np.abs(tilt - (x, y)) @ self.plane.totals)
        bounds += cumulants(x, y, self.plane)[0] - x * low - y * misses
        bounds[nearest] = inf  # the row of t0 matters whatever its bound
        for end in (0, -1):
            while (k := np.flatnonzero(bounds > enough)[end]) != nearest:
                value, x, y = best_tilt(low[k], misses[k], x, y, self.plane)
                bounds = np.minimum(bounds, value - x * low - y * misses)
                bounds[nearest] = inf
                if bounds[k] > enough:
                    break
        return np.asarray(bounds)

    def bound(self) -> float:
        """Bound on the log of the tail.

        The mean of a weight is no more than what the largest one so far, from t0 outwards, gains at
        each row, times the mass from there on.
        """
        region = self._rows_above(-4.0)
        rows, mean = region.first + np.arange(region.starts.size), self.means[1]
        total, at = 1.0 + region.rest, int(region.origin[1]) - region.first
        for sign, side in ((1, slice(at, None)), (-1, slice(at, None, -1))):
            gains = np.diff(np.exp(np.maximum.accumulate(region.heights[side])))
            total += float(gains @ np.exp(self._log_mass(1, sign * (rows[side] - mean)))[1:])
        # Weights that have been cut off bound nothing.
        return min(region.scale[0] + log(total), 0.0) if region.height < STEEPEST else 0.0

    def by_cells(self) -> Probability:
        """The tail from cells of the tilted law, by dynamic programming."""
        region = self.region
        if region.height > STEEP:
            raise TooHard("the staircase is far from where a tilt puts the mass")
        negligible = exp(-(2 if self.level else 1) * OUTSIDE - region.height)
        table, (low_s, low_r), power, lost, rounding = self._cells(negligible)
        entries = int(self.counts.sum())
        first = max(region.first, low_r)
        table = table[first - low_r : max(region.first + region.starts.size - low_r, 0)]
        starts = region.starts[first - region.first :][: len(table)]
        starts = np.clip(starts, low_s, low_s + table.shape[1])
        decay = np.exp(-self.tau[0] * np.arange(table.shape[1]))
        sums = [
            float(row[s:] @ decay[: row.size - s])
            for row, s in zip(table, starts - low_s, strict=True)
        ]
        heights = np.minimum(self._heights(starts, first, region.origin), region.height)
        total = fsum(np.exp(heights) * sums)
        terms = [*(self.tau * (self.corner - region.origin)).tolist()]
        terms += [(power - entries) * x for x in LOG2]
        high = fsum(terms)
        left_out = lost * exp(region.height) + region.rest * exp(min(region.scale[0] - high, 600.0))
        if total <= 0:
            # What has been left out may be too little for a single labelling.
            if left_out == 0 or high + log(left_out) < -entries * log(2.0) - 1.0:
                return IMPOSSIBLE
            raise TooHard("the staircase is far from where a tilt puts the mass")
        error = rounding + EPS * (table.shape[1] / 2 + 16) + left_out / total
        return Probability.of_product(high, fsum([*terms, -high]), total, error)

    def _cells(self, negligible: float) -> tuple[Floats, tuple[int, int], int, float, float]:
        """The tilted law as a table (row r, column s), without a negligible share of its mass.

        Each set of moves has weight exp(-push) times 2^-power, so that all add up to less than 1.
        Also the first column and row, the power, the share of mass that was left out, and a bound
        on the relative error of each cell: all terms are positive.
        """
        # Moves that spread most come last, so that the table is small for long.
        spread = (self.counts * self.q)[:, None] * self.moves.astype(np.float64) ** 2
        order = (spread / (spread.sum(axis=0) + 1e-300)).sum(axis=1).argsort().tolist()
        numbers = self.counts.tolist()
        parts = [
            (k, min(TOGETHER, numbers[k] - n))
            for k in order
            for n in range(0, numbers[k], TOGETHER)
        ]
        table, lows, mass, power, lost, rounding = np.ones((1, 1)), self.corner, 1.0, 0, 0.0, 0.0
        most = negligible / (5 * len(parts))
        for k, n in parts:
            weights = _binomials(n) * np.exp(-self.push[k] * np.arange(n + 1))
            whole = fsum(weights.tolist())
            mass, shift = frexp(mass * whole)
            m0, m1, below = kept(weights, most * whole)
            step, longest = -self.moves[k], m1 - m0 - 1
            shape = table.shape + np.abs(step[::-1]) * longest
            if shape.prod() > MAX_CELLS:
                raise TooHard(f"the tilted law of the two sums has {shape.prod():,} cells")
            weights = np.ldexp(weights[m0:m1], -shift)
            table = add_moves(table, weights, int(step[0]), int(step[1]))
            r0, r1, beneath = kept(table.sum(axis=1), most * mass)
            s0, s1, beside = kept(table.sum(axis=0), most * mass)
            table = table[r0:r1, s0:s1]
            lows = lows + step * m0 + np.minimum(step, 0) * longest + (s0, r0)
            lost += below / whole + (beneath + beside) / mass
            power, rounding = power + shift, rounding + EPS * (3.5 + longest / 2)
        return table, (int(lows[0]), int(lows[1])), power, lost, rounding

    def by_frequencies(self, work: float = WORK) -> Probability:
        """The tail by inverting the tilted characteristic function."""
        region = self.region
        most = OUTSIDE + max(region.height, 0.0)
        (s0, s1), (r0, r1) = self._window(0, most), self._window(1, most)
        s0 = min(s0, max(int(region.starts.min()), int(self.ends[0, 0])))
        r0, r1 = min(r0, region.first), max(r1, region.first + region.starts.size - 1)
        if r1 - r0 >= MAX_ROWS or s1 - s0 >= LONGEST:
            raise TooHard(
                f"the window of the tilted tail has {r1 - r0 + 1:,} rows of {s1 - s0 + 1:,} cells"
            )
        m = np.array([(s1 - s0 + 1) | 1, (r1 - r0 + 1) | 1], dtype=np.int64)  # both odd
        law = (self.moves, self.counts)
        each = DEAR * self.counts.size + int(m[1])  # of the work
        points = np.zeros((min(int(work / each), int(m.prod()) // 2) + 2, 2), dtype=np.int64)
        n, rest = frequencies(m, most, work, *law, self.q, points[1:])
        if n < 0:
            raise TooHard("the characteristic function of the two sums has too many peaks")
        points = points[np.argsort(points[: n + 1, 0], kind="stable")]
        starts = np.minimum(region.starts, s1 + 1)
        weights, lasts = (
            np.where(starts <= s1, np.exp(self._heights(s, region.first, region.origin)), 0.0)
            for s in (starts, np.full_like(starts, s1 + 1))
        )
        cells = Cells(region.first, starts, s1 + 1, region.origin, weights, lasts, self.tau[0])
        twice = self._twice(region.origin) % (2 * m)
        tilt = np.array((self.q, np.tanh(self.push / 2)))
        total, error, largest = staircase_sum(points, m, cells, twice, *law, tilt)
        if not 0 < total < inf:
            raise TooHard("the staircase is far from where a tilt puts the mass")
        high, low, rounding = region.scale
        # Mass outside of the window is not there, or wraps around into it.
        outside = (
            2
            * exp(region.height)
            * sum(
                exp(float(self._log_mass(axis, abs(edge - self.means[axis]))))
                for axis, window in enumerate(((s0, s1), (r0, r1)))
                for edge, end in zip(window, self.ends[axis], strict=True)
                if edge != end
            )
        )
        error += rest * largest + outside + region.rest
        return Probability.of_product(high, low, total, rounding + error / total)

    def _heights(self, s: Ints, first: int, origin: Ints) -> Floats:
        """-tau (T - t0) at s in each row from the first on, exactly; at most STEEPEST."""
        rows = np.arange(first, first + s.size)
        heights = -self.tau[0] * (s - origin[0]) - self.tau[1] * (rows - origin[1])
        return np.asarray(np.minimum(heights, STEEPEST))

    def _twice(self, origin: Ints) -> Ints:
        """Twice the distance from t0 to T with no rare moves and half of the others."""
        even = self.q >= RARE
        return np.asarray(2 * (self.corner - origin) - self.counts[even] @ self.moves[even])

    def _log_scale(self, origin: Ints) -> tuple[float, float, float]:
        """K(tau) - tau t0 in two parts, and its error.

        From the corner for rare moves, K is the sum of log1p(odds) less that of ln 2; for others,
        from the middle, that of log cosh(push / 2). The products of tau are exact, and small where
        the mass is near.
        """
        rare, push = self.q < RARE, self.push
        cosh = np.log1p(2 * np.sinh(np.where(rare, 0, push) / 4) ** 2)
        rounded = self.counts * np.where(rare, np.log1p(np.exp(-push)), cosh)
        exact = self.tau * self._twice(origin) / 2
        fair = [-float(self.counts[rare].sum()) * x for x in LOG2]
        terms = [*exact.tolist(), *rounded.tolist(), *fair]
        total = fsum(terms)
        return total, fsum([*terms, -total]), 4 * EPS * float(np.abs(rounded).sum())

    def _log_mass(self, axis: int, x: Floats | float) -> Floats:
        """Bound on the log of the tilted mass further than x from the mean, on one side.

        Bennett's and Hoeffding's.
        """
        variance, fair, jump = (max(float(moment[axis]), 1e-290) for moment in self.moments)
        x = np.maximum(x, 0.0)
        u = jump * x / variance
        bennett = variance / jump**2 * ((1 + u) * np.log1p(u) - u)
        return -np.maximum(bennett, x * x / (2 * fair))

    def _window(self, axis: int, outside: float = OUTSIDE) -> tuple[int, int]:
        """First and last value of a coordinate; mass beyond either is below exp(-outside)."""
        x = reach(outside, *(float(moment[axis]) for moment in self.moments))
        mean, (low, high) = float(self.means[axis]), self.ends[axis]
        return max(floor(mean - x), int(low)), min(ceil(mean + x), int(high))

    def _starts(self, rows: Ints) -> Ints:
        """Where the region begins in each row; ties are decided in integers."""
        starts, gaps = np.empty_like(rows), np.empty(rows.size)
        row_starts(rows, self.ends[0], self.plane, starts, gaps)
        end, ((a, i), (_, j), (b, k)) = self.ends[0, 1], self.frame
        for n in np.flatnonzero((gaps <= self.sure) & (starts <= end)):
            s, r = int(starts[n]), int(rows[n])
            while s <= end and not self.event.reached(a + r * b, i + s * j + r * k):
                s += 1
            starts[n] = s
        return starts


def _in_rows(lattice: LatticeSum) -> tuple[tuple[tuple[int, int], ...], Ints]:
    """Both sums at s = r = 0, what a step in s adds to them, and one in r; moves in (s, r).

    Along a row misses fall and hits stay; s depends as little on r as can be.
    """
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
    origin = (int(lattice.origin[0]), int(lattice.origin[1]))
    return (origin, (0, p * i + q * j), (x * a + y * b, x * i + y * j)), steps


@cache
def _binomials(n: int) -> Floats:
    """n over m for m = 0, ..., n."""
    row = [1]
    for m in range(n):
        row.append(row[-1] * (n - m) // (m + 1))
    return np.array(row, dtype=np.float64)
