"""Confidence intervals for the mean difference: shifts of every pair, or shares of 0/1 scores.

Take a shift delta off all differences, and the one-sided p-value is the share of the subsets of
pairs, the empty one included, whose mean difference is at most delta: with I the swapped pairs,

    p(delta) = P(sum of d_n over I <= delta |I|),   every subset I having probability 2^-N.

So p rises with delta, in steps, and only at means of subsets (Hartigan's typical values, 1969):
fractions with denominators up to N. With clusters, which change places as a whole, d_n is the sum
of a cluster, and |I| the number of pairs in the clusters of I. The lower end of an interval is the
step at which p exceeds the level. A saddlepoint approximation says where that is, to a
ten-thousandth of a standard error from a hundred pairs on. Two p-values on either side, for which
bounds do, prove it. Where p is had quickly, the simplest fraction near by is tried instead: it is
the end if p is at most alpha just before it and above alpha at it. Bounds are taken at fractions
that are anything but simple, where sums do not pile up. The upper end of an interval is the lower
end for -d.

No shift of every pair turns scores of 0 and 1 into scores of 0 and 1: it would move the ties too.
For these the interval has the differences of shares that Tango's score test (1998) does not reject.
If b items go to the first system alone and c to the second, of n, and the true difference is delta,

    z(delta) = (b - c - n delta) / sqrt(n (2 q + delta (1 - delta))),

where q, the likeliest share of items that go to the second alone, is the larger root of
2 n q^2 + ((2 n - b + c) delta - b - c) q - c delta (1 - delta) = 0. That is an approximation, which
`python -m benchmarks.calibration` measures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import copysign, floor, gcd, inf, isfinite, nextafter, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import TooHard, check_level
from permtest.integers import IntArray, exact_dot
from permtest.null.bracket import tail_bracket
from permtest.null.distribution import UNDERFLOW, Probability, TwoPointSum, add_counts, from_widths
from permtest.null.enumeration import count_tail
from permtest.null.tail import tail_dp, tail_tilted
from permtest.question import Differences, SumQuestion

#: Labellings of so many pairs are counted, in some milliseconds; of so many ends are always exact.
MAX_COUNTED, MAX_EXACT = 36, 30
#: Dynamic programming may update so many cells, and the tilted tail look at so many widths if pairs
#: are so many: some milliseconds each.
UPDATES, WORK, MANY = 4 * 10**6, 4 * 10**6, 150
#: Beyond this largest width of a shifted law p is not computed, but has bounds; on coarse lattices,
#: where bounds take long, beyond the second.
LONG, LONGEST = 4000, 60_000
#: An end that is not exact is found to about so many standard errors.
TOLERANCE = Fraction(1, 8000)
#: Bounds are not made narrower than this, relative to p; so many shifts are looked at.
NARROWEST, MOST = 5e-5, 300

#: Ends of score intervals are rounded outward, by the width of the range halved so often.
HALVINGS = 60

#: A mean of skewed differences needs so many pairs times the squared skewness (Cochran's rule of
#: thumb), unless skewness is within so many of its standard errors in normal samples.
PER_SQUARED_SKEWNESS, CHANCE = 25, 2.5
#: So many pairs have to differ where one in so many is equal.
FEW, TIES = 20, 4

NORMAL = NormalDist()
#: An end that nothing excludes, and by how much it may lie outside.
OPEN = (-inf, 0.0)

_Bounds: TypeAlias = tuple[Fraction, Fraction]


class ConfidenceInterval(NamedTuple("Ends", [("low", float), ("high", float)])):
    """The pair (low, high), in scores per pair, with how sure it is and how sharp.

    Unpacks, indexes and compares as the pair of its ends: ``low, high = interval``.

    Parameters
    ----------
    low, high : float
        The ends; infinite where there are too few pairs for any shift to be excluded, and on the
        side that a one-sided interval leaves open. Both belong to the interval.
    confidence_level : float, default 0.95
        With what probability at least the interval covers the shift.
    resolution : float, default 0.0
        By how much an end may lie outside of the exact interval, at most, in scores per pair. 0:
        the ends are exact, each the float nearest to a fraction. Otherwise they are rounded
        outward, so that the confidence level holds all the same.
    warning : str, optional
        What to know before believing it: differences that look skewed or are mostly 0, although
        the interval assumes that every pair is shifted by the same amount. Default: None.
    method : {"shift", "score"}
        Which differences are inside: shifts of every pair that the exact test does not reject, or,
        for scores of 0 and 1, differences of shares that Tango's score test does not reject.

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
    warning: str | None
    method: str

    def __new__(
        cls,
        low: float,
        high: float,
        confidence_level: float = 0.95,
        resolution: float = 0.0,
        warning: str | None = None,
        method: str = "shift",
    ) -> ConfidenceInterval:
        """The pair, to which the other properties are fastened."""
        pair = super().__new__(cls, low, high)
        vars(pair).update(confidence_level=confidence_level, resolution=resolution)
        vars(pair).update(warning=warning, method=method)
        return pair


def interval_of(question: SumQuestion, confidence_level: float) -> ConfidenceInterval:
    """The interval for the mean difference per pair that fits the scores."""
    check_level(confidence_level, "confidence_level")
    alpha = 1 - Fraction(str(confidence_level))
    if question.alternative == "two-sided":
        alpha /= 2
    if question.wins is not None:
        ends = score_ends(*question.wins, float(alpha), question.alternative)
        return ConfidenceInterval(*ends, confidence_level, method="score")
    return _shift_interval(question, alpha, confidence_level)


# ---- scores of 0 and 1 --------------------------------------------------------------------------


def score_statistic(b: int, c: int, n: int, delta: float) -> float:
    """z at a difference of shares from -1 to 1; 0 where nothing can be said."""
    if delta < 0:  # nothing cancels in the variance if it is a sum of positive numbers
        return -score_statistic(c, b, n, -delta)
    linear, fixed = (2 * n - b + c) * delta - b - c, delta * (1 - delta)
    product = 8.0 * n * c * fixed
    root = sqrt(linear**2 + product)
    share = root - linear if linear <= 0 else product / (root + linear)
    variance, gap = share / 2 + n * fixed, b - c - n * delta
    if variance > 0:
        return gap / sqrt(variance)
    return copysign(inf, gap) if gap else 0.0


def score_ends(
    b: int, c: int, n: int, tail: float, alternative: str = "two-sided"
) -> tuple[float, float]:
    """The differences of shares with z within the quantile of `tail`, on either side or on one."""
    z = -_quantile(tail)

    def most(b: int, c: int) -> float:
        """The largest difference with z at least minus the quantile."""
        inside, outside = -1.0, 1.0
        if score_statistic(b, c, n, outside) >= -z:
            return outside
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            if score_statistic(b, c, n, middle) >= -z:
                inside = middle
            else:
                outside = middle
        return outside

    low = -1.0 if alternative == "less" else -most(c, b)
    return low, 1.0 if alternative == "greater" else most(b, c)


# ---- shifts of every pair -----------------------------------------------------------------------


def _shift_interval(
    question: SumQuestion, alpha: Fraction, confidence_level: float
) -> ConfidenceInterval:
    """All shifts that the exact test does not reject, with ends exact or rounded outward."""
    lattice = _Lattice.of(question)
    low, high = OPEN, OPEN
    if question.alternative != "less":
        low = _lower_end(lattice, alpha)
    if question.alternative != "greater":
        high = _lower_end(lattice.mirrored(), alpha)
    warning = shift_warning(question.differences, question.swapped)
    # No shift moves further than a difference of two rounded scores does.
    off = question.tolerance / (2 * question.scale * max(question.n_entries or lattice.n, 1))
    off = off if question.ties_doubtful else 0.0
    ends, resolution = (low[0] - off, 0.0 - high[0] + off), max(low[1], high[1]) + off
    return ConfidenceInterval(*ends, confidence_level, resolution, warning)


def _as_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf


# ---- the differences, and p for any shift ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Lattice:
    """Differences as ``origin * sizes + unit * steps``; each step is a whole number from 0 on.

    Sizes are those of clusters, and 1 of pairs; `top` is the largest step for each pair in it.
    """

    n: int
    origin: Fraction
    unit: Fraction
    steps: IntArray
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    top: Fraction

    @classmethod
    def of(cls, question: SumQuestion) -> _Lattice:
        values, sizes, counts = question.differences
        common = int(np.gcd.reduce(sizes)) if sizes.size else 1
        return cls._of(values, sizes // common, counts, Fraction(1, question.scale * common))

    @classmethod
    def _of(
        cls, values: IntArray, sizes: NDArray[np.int64], counts: NDArray[np.int64], scale: Fraction
    ) -> _Lattice:
        """Of whole numbers, which times `scale` are differences."""
        rows = [*zip(map(int, values), sizes.tolist(), strict=True)]
        first = min((Fraction(d, size) for d, size in rows), default=Fraction(0))
        a, b = first.as_integer_ratio()
        above = [b * d - a * size for d, size in rows]
        unit = gcd(*above) or 1
        steps = [d // unit for d in above]
        kind = np.int64 if max(steps, default=0) < 2**61 else object
        found = np.array(steps, dtype=kind), sizes, counts
        top = max((Fraction(d, size) for d, (_, size) in zip(steps, rows, strict=True)), default=0)
        n = int(counts.sum())
        return cls(n, first * scale, Fraction(unit, b) * scale, *found, Fraction(top))

    @property
    def longest(self) -> int:
        """The largest step of all."""
        return max(map(int, self.steps))

    @property
    def n_pairs(self) -> int:
        """How many pairs there are, in units of the common size of all clusters."""
        return int(self.sizes @ self.counts)

    def mirrored(self) -> _Lattice:
        """The negative differences."""
        if self.n == 0:
            return self
        a, b = self.top.as_integer_ratio()
        down = a * self.sizes.astype(object) - b * self.steps.astype(object)
        found = self._of(down, self.sizes, self.counts, self.unit / b)
        return replace(found, origin=-self.score(self.top))

    def score(self, shift: Fraction) -> Fraction:
        return self.origin + self.unit * shift

    def expected(self, z: float) -> tuple[float, float]:
        """About where p has this normal quantile, and in what length p rises by one, of `top`."""
        shares = np.array([int(s) / self.top for s in self.steps], dtype=np.float64)
        mean = float(shares @ self.counts) / self.n_pairs
        spread = float((shares - mean * self.sizes) ** 2 @ self.counts) / self.n
        # The normal approximation, whose variance at the end is about the end.
        error = sqrt(spread / max(self.n - z * z, 1.0)) * self.n / self.n_pairs
        near, last, slope = mean + z * error, mean, error
        z_last = 0.0
        for _ in range(4):
            near = min(max(near, 0.0), 1.0)
            found = _saddlepoint(shares - near * self.sizes, self.counts)
            if not (isfinite(found) and (near - last) * (found - z_last) > 0):
                break
            slope = (near - last) / (found - z_last)
            last, z_last, near = near, found, near + (z - found) * slope
        return min(max(near, 0.0), 1.0), slope

    def law(self, shift: Fraction) -> tuple[TwoPointSum, int]:
        """A law and the cell from which on its tail is p; that beyond is p just below the shift."""
        a, b = shift.as_integer_ratio()
        fits = max(b * self.longest, abs(a) * int(self.sizes.max())) < 2**62
        kind = np.int64 if fits else object
        moved = b * self.steps.astype(kind) - a * self.sizes.astype(kind)
        law = from_widths(self.n, *add_counts(np.abs(moved), self.counts))
        ahead = moved > 0
        # Swapped pairs sum to <= 0: as many behind the shift swap, and ahead of it stay, as that.
        return law, exact_dot(moved[ahead], self.counts[ahead]) // law.unit


@np.errstate(all="ignore")
def _saddlepoint(x: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """About the normal quantile of P(sum of x over I <= 0), if it is finite (Daniels 1987)."""
    total, t = counts @ x, np.float64(0)
    if total < 0:
        return -_saddlepoint(-x, counts)
    for _ in range(50):
        beta = np.tanh(t * x)
        step = (total - counts @ (x * beta)) / (counts @ (x * x * (1 - beta * beta)))
        t += step
        if not step > 1e-9 * t:
            break
    beta = np.tanh(t * x)
    spread = 1 - beta * beta
    logs = abs(t * x) + np.log1p(np.exp(-2 * abs(t * x))) - np.log(2)
    w = np.sqrt(2 * (t * total - counts @ logs))
    if not w > 0.01:
        return float(-w)
    variance = counts @ (x * x * spread)
    u = t * np.sqrt(variance)
    skew = -2 * (counts @ (x**3 * beta * spread)) / variance**1.5
    excess = counts @ (x**4 * spread * (6 * beta * beta - 2)) / variance**2
    terms = 1 / u - 1 / w + (excess / 8 - 5 * skew**2 / 24) / u
    terms += 1 / w**3 - 1 / u**3 - skew / (2 * u * u)
    root = float(w + np.log(u / w) / w)  # without the terms of the second order
    p, rough = NORMAL.cdf(-w) + NORMAL.pdf(w) * float(terms), NORMAL.cdf(-root)
    return NORMAL.inv_cdf(p) if rough / 2 < p < min(2 * rough, 1) else -root


def _tail(law: TwoPointSum, t0: int) -> _Bounds:
    """A lower and an upper bound of P(T >= t0); TooHard unless that is quick."""
    if law.n <= MAX_COUNTED:
        share = Fraction(count_tail(law, t0), 2**law.n_informative)
        return share, share
    if law.dp_operations(max(min(law.top - t0 + 1, t0), 1)) <= UPDATES:
        p = tail_dp(law, t0)
    elif law.n >= MANY:
        p = tail_tilted(law, t0, work=WORK)
    else:
        raise TooHard("the lattice of the sums is long for so few pairs")
    return _rounded(p, -1), _rounded(p, 1)


def _rounded(p: Probability, sign: int) -> Fraction:
    """A probability, moved by more than its error."""
    if p.value <= UNDERFLOW:
        return Fraction(UNDERFLOW) if sign > 0 else Fraction(0)
    return Fraction(p.value) * (1 + sign * (2 * Fraction(p.error_bound) + Fraction(1, 10**14)))


# ---- the search --------------------------------------------------------------------------------


def _lower_end(lattice: _Lattice, alpha: Fraction) -> tuple[float, float]:
    """The smallest shift with p > alpha, or a number below it and by how much it may be."""
    if lattice.n == 0 or Fraction(1, 2**lattice.n) > alpha:
        return OPEN
    if lattice.top == 0:
        return _as_float(lattice.origin), 0.0
    search = _Search(lattice, alpha)
    end = search.run()
    if end is not None:
        return _as_float(lattice.score(end)), 0.0
    low = nextafter(_as_float(lattice.score(search.low)), -inf)
    if low == -inf:
        return low, inf
    return low, nextafter(_as_float(lattice.score(search.high) - Fraction(low)), inf)


class _Search:
    """The lower end lies above `low` and not above `high`, in steps."""

    # It is expected within `reach` of `near`, where p rises by a normal quantile in each `error`.
    # Shifts whose denominator is `hard` or more have no other p than bounds, and then it is found
    # to `loose`. `slow` is how often in a row the bracket has not been halved.

    def __init__(self, lattice: _Lattice, alpha: Fraction) -> None:
        """p is 2^-N below all differences, and 1 at the largest."""
        self.lattice, self.alpha, self.z = lattice, alpha, _quantile(alpha)
        self.low, self.high = Fraction(-1), lattice.top
        near, error = lattice.expected(self.z)
        self.near, self.error = lattice.top * Fraction(near), lattice.top * Fraction(error)
        self.reach, self.slow = self.error / 50, 0
        # Bounds of p for few pairs are wide, or slow.
        loose = self.error * TOLERANCE * Fraction(2 ** min(max(13.3 - lattice.n / 5, 0.0), 6.0))
        self.tolerance, self.loose, self.hard = loose, loose, inf
        if lattice.n <= MAX_COUNTED:
            self.tolerance = self.error * TOLERANCE / (1 if lattice.n > MAX_EXACT else 10**4)
        else:  # bounds take long where a lattice has few steps in a standard error
            coarse = loose * lattice.n < 0.7
            self.hard = (LONGEST if coarse else LONG) // lattice.longest + 1

    def run(self) -> Fraction | None:
        """The end, if it can be told from all other fractions."""
        n = self.lattice.n
        for _ in range(MOST):
            if simplest(self.low, self.high).denominator > self.lattice.n_pairs:
                return self.high
            gap, shift = self.high - self.low, simplest(*self.window())
            long = n > MAX_EXACT and shift.denominator * self.lattice.longest > LONG
            if gap <= self.tolerance and long:
                break
            if shift.denominator < self.hard:
                try:
                    if self.is_end(shift):
                        return shift
                except TooHard:
                    self.hard, self.tolerance = shift.denominator, max(self.tolerance, self.loose)
            elif gap <= self.tolerance:
                break
            else:
                self.narrow_by_bounds()
            self.slow = self.slow + 1 if 2 * (self.high - self.low) > gap else 0
        return None

    def window(self) -> tuple[Fraction, Fraction]:
        """Where to look next: about the expected end, or beyond it from an end of the bracket."""
        gap, first, last = self.high - self.low, self.near - self.reach, self.near + self.reach
        if gap <= self.tolerance and self.lattice.n > MAX_EXACT:
            return max(first, self.low), min(last, self.high)
        if self.slow >= 4 or (first <= self.low and self.high <= last):
            self.slow = 0
            return self.low + gap / 4, self.high - gap / 4
        if first <= self.low:
            first = self.near + self.reach / 4
        elif self.high <= last:
            last = self.near - self.reach / 4
        return first, last

    def is_end(self, shift: Fraction) -> bool:
        """Narrow the bracket by the exact p at one shift; whether p steps over alpha there."""
        law, t0 = self.lattice.law(shift)
        p = before = _tail(law, t0)
        if p[0] > self.alpha:
            # Before the step ties are not reached; the empty subset always counts.
            before = _tail(law, t0 + 1)
            if before[1] + Fraction(1, 2 ** min(self.lattice.n, 1000)) <= self.alpha:
                return True
        self.learn(shift, p, before)
        return False

    def narrow_by_bounds(self) -> None:
        """Narrow the bracket by bounds of p a little beyond the expected end."""
        reach = self.tolerance * 2 / 5
        if self.near - self.low > self.high - self.near:
            first, last = self.near - reach, self.near - reach * 7 / 8
        else:
            first, last = self.near + reach * 7 / 8, self.near + reach
        if not self.low < first < last < self.high:
            gap = self.high - self.low
            first, last = self.low + gap / 3, self.high - gap / 3
        shift = generic(first, last) if self.lattice.longest < 2**30 else simplest(first, last)
        away = float(abs(shift - self.near) / self.error)
        hazard = NORMAL.pdf(self.z) / NORMAL.cdf(-abs(self.z))
        width = min(max(1.3 * away * hazard, NARROWEST), 1e-2)
        low, high = tail_bracket(*self.lattice.law(shift), width=width)
        p = _rounded(low, -1), _rounded(high, 1)
        self.learn(shift, p, p)

    def learn(self, shift: Fraction, p: _Bounds, before: _Bounds) -> None:
        """Move an end of the bracket to a shift with this p, and expect the end anew."""
        if p[1] <= self.alpha:
            self.low = shift
        elif p[0] > self.alpha:
            self.high = shift
        else:
            self.tolerance *= 2
        z = _quantile((before[0] + before[1]) / 2)
        near = shift + Fraction(self.z - z) * self.error
        self.reach = max(abs(near - self.near), self.tolerance * 2 / 5)
        self.near = min(max(near, self.low), self.high)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator among low < x < high."""
    whole = floor(low) + 1
    if whole < high:
        return Fraction(whole)
    whole -= 1
    if low == whole:
        return whole + Fraction(1, floor(1 / (high - whole)) + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def generic(low: Fraction, high: Fraction) -> Fraction:
    """A fraction inside, at about the golden section, with multiples far from whole numbers."""
    first = simplest(low, high)
    second = simplest(first, high)
    return Fraction(
        610 * first.numerator + 987 * second.numerator,
        610 * first.denominator + 987 * second.denominator,
    )


def _quantile(p: Fraction | float) -> float:
    return NORMAL.inv_cdf(min(max(float(p), UNDERFLOW), 1 - 2**-53))


# ---- whether every pair may be shifted alike ----------------------------------------------------


def shift_warning(differences: Differences, swapped: str = "pairs") -> str | None:
    """What is to be said where differences look skewed, or are mostly 0."""
    # ``python -m benchmarks.calibration`` has the coverage on either side of these rules.
    values, _, counts = differences
    n, zeros = differences.n, int(counts[values == 0].sum())
    if TIES * zeros >= n > 0 and n - zeros < FEW:
        few = {0: "none differ", 1: "only 1 differs"}.get(n - zeros, f"only {n - zeros:,} differ")
        return (
            f"Of {n:,} {swapped} {few}. Intervals for the mean difference and "
            "tests against a margin assume that every pair is shifted by the same amount, ties "
            f"too; with fewer than {FEW} {swapped} that differ, a 95% interval may cover the mean "
            "in fewer than 90% of samples."
        )
    g1 = skewness(values, counts)
    needed = PER_SQUARED_SKEWNESS * g1**2
    if n >= needed or not looks_skewed(g1, n):
        return None
    return (
        f"The differences look skewed: for g1 = {g1:.2g}, the rule of thumb 25 g1^2 asks for "
        f"{needed:,.0f} {swapped}, and there are {n:,}. Intervals for the mean difference and "
        "tests against a margin assume that differences are symmetric about it. If they are not, "
        "errors are more frequent than they should be: with 20 lognormal differences, a 95% "
        "interval covers the mean in 88% of samples. The studentised bootstrap, "
        "alternatives.bootstrap, does not assume symmetry"
        f"{'' if swapped == 'pairs' else '; Scores.by_cluster() has the sums that it takes'}."
    )


def looks_skewed(g1: float, n: int) -> bool:
    """Whether n normal numbers would hardly ever have such a skewness."""
    if n < 3:
        return False
    error = sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))  # of g1, in normal samples
    return abs(g1) > CHANCE * error


def skewness(values: NDArray[Any], counts: NDArray[np.int64]) -> float:
    """g1 = m3 / m2^(3/2); 0 if all values are equal."""
    low = int(min(values, default=0))
    room = int(max(values, default=0)) - low
    if room == 0:
        return 0.0
    shares, weights = np.array([(int(d) - low) / room for d in values]), counts / counts.sum()
    centred = shares - shares @ weights
    return float(centred**3 @ weights / (centred**2 @ weights) ** 1.5)
