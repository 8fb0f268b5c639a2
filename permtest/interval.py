"""Confidence intervals for a shift, by inverting the exact test.

Take a shift delta off all differences, and the one-sided p-value is the share of the subsets of
pairs, the empty one included, whose mean difference is at most delta: with I the swapped pairs,

    p(delta) = P(sum of d_n over I <= delta |I|),   every subset I having probability 2^-N.

So p rises with delta, in steps, and only at means of subsets (Hartigan's typical values, 1969):
fractions with denominators up to N. The lower end of an interval is the first step at which p
exceeds the level. It is found by narrowing a bracket, always at the simplest fraction near where
the end is expected; once the bracket has no fraction inside whose denominator is N or less, its
upper end is the one, exactly. The upper end of an interval is the lower end for -d.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, gcd, inf, nextafter, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._integers import IntArray, exact_dot
from permtest.comparison import Comparison
from permtest.null.dp import dp_operations
from permtest.null.enumeration import MAX_ENTRIES, count_tail
from permtest.null.grouping import MAX_CELLS, TwoPointSum, add_counts, from_widths
from permtest.null.probability import UNDERFLOW, Probability, TooHard
from permtest.null.tail import tail_dp, tail_tilted

#: Widths that the tilted tail may look at in a first and in a second try, and cells that dynamic
#: programming may update in between: a hundredth of a second, a tenth, a tenth.
FIRST_TRY, SECOND_TRY, UPDATES = 2 * 10**6, 2 * 10**7, 10**8

#: Rounding differences to these multiples of the standard error is tried in turn where the exact
#: lattice is too hard; an end is then off by twice that at most.
GRIDS = (Fraction(1, 20_000), Fraction(1, 2000), Fraction(1, 200), Fraction(1, 20))

NORMAL = NormalDist()


class _Ends(NamedTuple):
    low: float
    high: float


class ConfidenceInterval(_Ends):
    """The pair (low, high), in scores per pair, with how sure it is and how sharp.

    Unpacks, indexes and compares as the pair of its ends: ``low, high = interval``.

    Parameters
    ----------
    low, high : float
        The ends; infinite where there are too few pairs for any shift to be excluded, and on the
        side that a one-sided interval leaves open. Both belong to the interval.
    confidence_level : float
        With what probability at least the interval covers the shift.
    resolution : float, default 0.0
        By how much an end may lie outside of the exact interval, at most, in scores per pair. 0:
        the ends are exact, each the float nearest to a fraction. Otherwise they are rounded
        outward, so that the confidence level holds all the same.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> result = exact_perm_test([3, 5, 4, 6, 2, 7], [2, 3, 4, 3, 1, 3])
    >>> interval = result.confidence_interval(0.9)
    >>> low, high = interval
    >>> low, high, interval.confidence_level, interval.resolution
    (0.5, 3.0, 0.9, 0.0)
    """

    confidence_level: float
    resolution: float

    def __new__(
        cls, low: float, high: float, confidence_level: float, resolution: float = 0.0
    ) -> ConfidenceInterval:
        """The pair, to which the two properties are fastened."""
        pair = super().__new__(cls, low, high)
        vars(pair).update(confidence_level=confidence_level, resolution=resolution)
        return pair

    def __getnewargs__(self) -> tuple[float, float, float, float]:
        return self.low, self.high, self.confidence_level, self.resolution

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} cannot be set: a confidence interval does not change")

    def __repr__(self) -> str:
        ends = f"low={self.low}, high={self.high}"
        rest = f"confidence_level={self.confidence_level}, resolution={self.resolution}"
        return f"ConfidenceInterval({ends}, {rest})"


def shift_interval(comparison: Comparison, confidence_level: float) -> ConfidenceInterval:
    """All shifts of the differences that the exact test does not reject.

    Parameters
    ----------
    comparison : Comparison
        Without `h`. Two-sided: both ends leave out half of the error probability each. "greater":
        only the lower end is finite; "less": only the upper one.
    confidence_level : float
        In (0, 1); stands for the decimal that it is printed as.

    Returns
    -------
    ConfidenceInterval
        The shifts with p > alpha, closed: p is the one-sided p-value, ties included, and alpha is
        ``1 - confidence_level``, or half of that for each end of a two-sided interval. So 0 lies
        inside if and only if p of the test exceeds ``1 - confidence_level``.

    Raises
    ------
    ValueError
        If `confidence_level` is out of range, or the statistic is no sum of differences.

    Notes
    -----
    Assumes that the differences are symmetric about a shift that is the same for all pairs; then
    it covers that shift with at least the stated probability, at any N. Ends are exact where the
    search gets down to fractions with denominator N before a single p takes more than a tenth of a
    second. Otherwise they are rounded outward, by no more than `resolution`: less than 1e-3
    standard errors as a rule, where many decimals make the lattice of the sums very long. Cost:
    ten to twenty exact tests for each end, some sixty where few scores have many digits.
    """
    check_level(confidence_level, "confidence_level")
    alpha = 1 - Fraction(str(confidence_level))
    if comparison.alternative == "two-sided":
        alpha /= 2
    lattice = _Lattice.of(comparison)
    low = _OPEN if comparison.alternative == "less" else _lower_end(lattice, alpha)
    high = _OPEN if comparison.alternative == "greater" else _lower_end(lattice.mirrored(), alpha)
    resolution = max(low.float_resolution(), high.float_resolution())
    return ConfidenceInterval(low.as_float(), 0.0 - high.as_float(), confidence_level, resolution)


class _End(NamedTuple):
    """The lower end of an interval, None if infinite, and how far outside it may lie."""

    value: Fraction | None
    resolution: Fraction = Fraction(0)

    def as_float(self) -> float:
        """The nearest float to an exact end, one not above it otherwise."""
        if self.value is None:
            return -inf
        near = _as_float(self.value)
        return near if self.resolution == 0 else nextafter(near, -inf)

    def float_resolution(self) -> float:
        """How far outside the float may lie; 0 for what is exact but for being a float."""
        if self.value is None or self.resolution == 0:
            return 0.0
        low = self.as_float()
        if low == -inf:
            return inf
        return nextafter(_as_float(self.resolution + self.value - Fraction(low)), inf)


_OPEN = _End(None)


def _as_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf


# ---- the differences, and p for any shift ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Lattice:
    """Differences as ``origin + unit * steps``, in scores; shifts are measured in steps.

    `steps` are distinct, ascending and start at 0. `rounded` is by how many scores the differences
    may be too small.
    """

    n: int
    origin: Fraction
    unit: Fraction
    steps: IntArray
    counts: NDArray[np.int64]
    rounded: Fraction = field(default=Fraction(0))

    @classmethod
    def of(cls, comparison: Comparison) -> _Lattice:
        values, counts = comparison.differences
        numbers = [int(d) for d in values]
        first = numbers[0] if numbers else 0
        unit = gcd(*(d - first for d in numbers)) or 1
        steps = _integers([(d - first) // unit for d in numbers])
        scale = comparison.scale
        return cls(comparison.law.n, Fraction(first, scale), Fraction(unit, scale), steps, counts)

    @property
    def top(self) -> int:
        return int(self.steps[-1])

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation, as shares of `top`."""
        shares = np.array([int(s) / self.top for s in self.steps])
        mean = float(shares @ self.counts) / self.n
        return mean, sqrt(float((shares - mean) ** 2 @ self.counts) / self.n)

    def mirrored(self) -> _Lattice:
        """The negative differences."""
        if self.n == 0:
            return self
        steps, counts = (self.top - self.steps)[::-1], self.counts[::-1]
        return replace(self, origin=-self.score(Fraction(self.top)), steps=steps, counts=counts)

    def coarser(self, step: int) -> _Lattice:
        """Differences rounded down to multiples of so many steps; p of no shift gets smaller."""
        steps, counts = add_counts(self.steps // step, self.counts)
        rounded = step * self.unit
        return replace(
            self, unit=rounded, steps=_integers(steps.tolist()), counts=counts, rounded=rounded
        )

    def score(self, shift: Fraction) -> Fraction:
        return self.origin + self.unit * shift

    def error_at(self, shift: Fraction) -> float:
        """Standard error of the mean under the null of this shift, as a share of `top`."""
        mean, deviation = self.moments
        return sqrt((deviation**2 + (mean - float(shift / self.top)) ** 2) / self.n)

    def pvalue(self, shift: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds of p, equal for few pairs. Raises TooHard if it would take long."""
        a, b = shift.numerator, shift.denominator
        fits = max(b * self.top, abs(a)) < 2**62
        moved = b * (self.steps if fits else self.steps.astype(object)) - a
        law = from_widths(self.n, *add_counts(np.abs(moved), self.counts))
        ahead = moved > 0
        # Swapped pairs sum to <= 0: as many behind the shift swap, and ahead of it stay, as that.
        t0 = exact_dot(moved[ahead], self.counts[ahead]) // law.unit
        if law.n_informative <= MAX_ENTRIES:
            p = Fraction(count_tail(law, t0), 2**law.n_informative)
            return p, p
        return _bounds(_tail(law, t0))


def _integers(numbers: list[int]) -> IntArray:
    return np.array(numbers, dtype=np.int64 if max(numbers, default=0) < 2**61 else object)


def _tail(law: TwoPointSum, t0: int) -> Probability:
    """P(T >= t0) by whatever is quick; TooHard if nothing is."""
    try:
        return tail_tilted(law, t0, FIRST_TRY)
    except TooHard:
        cells = law.top - t0 + 1
        if cells <= MAX_CELLS and dp_operations(law, cells) <= UPDATES:
            return tail_dp(law, t0)
        return tail_tilted(law, t0, SECOND_TRY)


def _bounds(p: Probability) -> tuple[Fraction, Fraction]:
    if p.value <= UNDERFLOW:
        return Fraction(0), Fraction(UNDERFLOW)
    value, off = Fraction(p.value), 2 * Fraction(p.error_bound)
    return value * (1 - off), value * (1 + off)


# ---- the search --------------------------------------------------------------------------------


def _lower_end(lattice: _Lattice, alpha: Fraction) -> _End:
    """The smallest shift with p > alpha, or a number a little below it."""
    if lattice.n == 0 or Fraction(1, 2**lattice.n) > alpha:
        return _OPEN
    if lattice.top == 0:
        return _End(lattice.origin)
    search = _Search.start(lattice, alpha)
    if search.run(lattice.n):
        return search.end()
    error = lattice.top * Fraction(lattice.moments[1] / sqrt(lattice.n))
    for grid in GRIDS:
        if search.high - search.low <= 2 * grid * error:
            break
        rough = _Search.start(lattice.coarser(max(floor(grid * error), 1)), alpha)
        if rough.run(1):
            return rough.end()
    return search.end()


@dataclass
class _Search:
    """A bracket of the lower end, in steps: `low` is rejected, `high` is not known to be.

    `sure` is the smallest shift that certainly is not rejected. `z_low` and `z_high` are normal
    quantiles of p at `low` and `high`, None as long as nothing has been computed there.
    """

    lattice: _Lattice
    alpha: Fraction
    z: float
    low: Fraction
    high: Fraction
    sure: Fraction
    z_low: float | None = None
    z_high: float | None = None
    closed: bool = False
    slow: int = 0

    @classmethod
    def start(cls, lattice: _Lattice, alpha: Fraction) -> _Search:
        """p is 2^-N below all differences, and 1 at the largest."""
        top = Fraction(lattice.top)
        return cls(lattice, alpha, _quantile(alpha), Fraction(-1), top, top)

    def run(self, finest: int) -> bool:
        """Narrow the bracket until no fraction inside has a denominator up to `finest`.

        False if that was not reached, because p at the next one would take too long.
        """
        try:
            while (shift := self.next(finest)) is not None:
                self.narrow(shift, *self.lattice.pvalue(shift))
        except TooHard:
            return False
        self.closed = finest == self.lattice.n
        return True

    def end(self) -> _End:
        """What has been found: exactly, or rounded outward."""
        exact = self.closed and self.lattice.rounded == 0 and self.sure == self.high
        if exact:
            return _End(self.lattice.score(self.high))
        gap = self.lattice.unit * (self.sure - self.low)
        return _End(self.lattice.score(self.low), gap + self.lattice.rounded)

    def narrow(self, shift: Fraction, least: Fraction, most: Fraction) -> None:
        """Move one end of the bracket to `shift`, where p is between two bounds."""
        width = self.high - self.low
        if most <= self.alpha:
            self.low, self.z_low = shift, _quantile(most)
        else:
            self.high, self.z_high = shift, _quantile(most)
            self.sure = shift if least > self.alpha else self.sure
        self.slow = self.slow + 1 if 2 * (self.high - self.low) > width else 0

    def next(self, finest: int) -> Fraction | None:
        """Where to look next: the simplest fraction in a part of the bracket, or in all of it."""
        first, last = self.window()
        shift = simplest(first, last)
        if shift.denominator > finest or not self.low < shift < self.high:
            shift = simplest_inside(self.low, self.high)
        return shift if shift.denominator <= finest else None

    def window(self) -> tuple[Fraction, Fraction]:
        """The part of the bracket to look in: around and a little beyond the expected end.

        Beyond, so that the expected end lies between two shifts soon, close to each other.
        """
        if self.z_low is None and self.z_high is None:
            return self.first_guess()
        width = self.high - self.low
        if self.slow >= 2:
            self.slow = 0
            return self.low + width / 3, self.high - width / 3
        from_low, from_high, least = self.distances()
        reach = min(max(2 * min(from_low, from_high), least), width / 2)
        if from_low <= from_high:
            return self.low + reach * 3 / 4, self.low + reach * 3 / 2
        return self.high - reach * 3 / 2, self.high - reach * 3 / 4

    def first_guess(self) -> tuple[Fraction, Fraction]:
        """Where the normal approximation, of variance sum (d - delta)^2, has p = alpha."""
        top, (mean, deviation) = self.lattice.top, self.lattice.moments
        error = deviation / sqrt(max(self.lattice.n - self.z**2, 1.0))
        middle, some = top * Fraction(mean + self.z * error), top * Fraction(error) / 50
        return middle - some, middle + some

    def distances(self) -> tuple[Fraction, Fraction, Fraction]:
        """How far from `low` and from `high` the end is expected, and the least way to go.

        By linear interpolation between quantiles; from one side, with the normal slope.
        """
        width = self.high - self.low
        if self.z_low is not None and self.z_high is not None and self.z_low < self.z_high:
            share = (self.z - self.z_low) / (self.z_high - self.z_low)
            from_low = width * Fraction(min(max(share, 0.0), 1.0))
            return from_low, width - from_low, width / 64
        known = self.low if self.z_low is not None else self.high
        error = self.lattice.top * Fraction(self.lattice.error_at(known))
        if self.z_low is not None:
            return abs(Fraction(self.z - self.z_low)) * error, width, error / 50
        assert self.z_high is not None
        return width, abs(Fraction(self.z_high - self.z)) * error, error / 50


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator among low <= x <= high."""
    whole = ceil(low)
    if whole <= high:
        return Fraction(whole)
    whole -= 1
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def simplest_inside(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator among low < x < high."""
    whole = floor(low) + 1
    if whole < high:
        return Fraction(whole)
    whole -= 1
    if low == whole:
        return whole + Fraction(1, floor(1 / (high - whole)) + 1)
    return whole + 1 / simplest_inside(1 / (high - whole), 1 / (low - whole))


def _quantile(p: Fraction) -> float:
    return NORMAL.inv_cdf(min(max(float(p), UNDERFLOW), 1 - 2**-53))
