"""Tails of a sum of independent variables that take several values each, accurate relative to p.

T = sum of T_i, where T_i is the step s of its table with probability w_s / sum(w). Items with the
same table are counted once. With K(tau) = sum_i log E exp(tau T_i), tilting moves the mass next to
the threshold, as in `tail`, and the characteristic function of the tilted law, centred at its mean
m, is inverted at the tail alone (Pagano and Tritchler 1983; Keich 2005):

    P(T >= t0) = exp(K - tau t0) / M sum_j phi(theta_j) e^(i theta_j (m - t0)) G(theta_j),

with theta_j = 2 pi j / M and G the sum of e^(-(tau + i theta) s) over the cells s above t0. M
cells hold all but a negligible mass (Bernstein). Of the frequencies only those count at which |phi|
is not negligible, some thirty as a rule; an FFT of each table finds them, and only there are the
logarithms of phi computed to all digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp, gcd, inf, log, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._errors import TooHard
from permtest._jit import Floats, Ints
from permtest.null.distribution import CERTAIN, EPS, IMPOSSIBLE, LatticeDistribution, Probability
from permtest.null.tail_kernels import add_up, reach

#: Extended precision, where the platform has it: exponents of small p have thousands of units.
EXTENDED = np.longdouble
LONG_EPS = float(np.finfo(EXTENDED).eps)
#: e^-CUT of the mass may lie outside of the window, or at frequencies that are left out.
CUT = 46.0
#: Cells of the window or of a whole law, and cells of tables that are transformed, at most.
MOST_CELLS, MOST_WORK = 2**22, 2**27
#: Bits of the integers that count all ways, at most.
MOST_BITS = 2**27
#: At so many frequencies or fewer a table is summed at each, instead of transformed.
FEW = 512


@dataclass(frozen=True, eq=False)
class MultinomialSum:
    """The law of T, a sum of independent items with tables of several steps."""

    steps: Ints
    weights: Sequence[int]
    starts: Ints
    counts: Ints
    offset: int = 0
    unit: int = 1

    @classmethod
    def of(cls, tables: Sequence[tuple[Sequence[int], Sequence[int], int]]) -> MultinomialSum:
        """Tables of (values, weights, number of items); values are integers of any sign."""
        offset = sum(min(values) * n for values, _, n in tables)
        kept = [table for table in tables if max(table[0]) > min(table[0])]
        moved = [[x - low for x in values] for values, _, _ in kept for low in [min(values)]]
        unit = gcd(*(x for steps in moved for x in steps)) or 1
        counts = [n for _, _, n in kept]
        top = sum(max(steps) // unit * n for steps, n in zip(moved, counts, strict=True))
        if top >= 2**52:
            raise TooHard(f"sums have about {float(top):.1g} possible values, too many to invert")
        steps = np.array([x // unit for steps in moved for x in steps], dtype=np.int64)
        starts = np.cumsum([0, *map(len, moved)], dtype=np.intp)[:-1]
        weights = [w for _, some, _ in kept for w in some]
        return cls(steps, weights, starts, np.array(counts, dtype=np.int64), offset, unit)

    @cached_property
    def sizes(self) -> Ints:
        """How many steps each table has."""
        return np.diff(self.starts, append=self.steps.size).astype(np.intp)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Where each table starts, and where it ends."""
        return list(zip(self.starts.tolist(), (self.starts + self.sizes).tolist(), strict=True))

    @cached_property
    def tops(self) -> Ints:
        """The largest step of each table."""
        return np.asarray(np.maximum.reduceat(self.steps, self.starts))

    @cached_property
    def top(self) -> int:
        """The largest value of T."""
        return int(self.tops @ self.counts)

    @cached_property
    def _log_shares(self) -> NDArray[Any]:
        """Logarithms of the probabilities of all steps, in extended precision."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._shares))

    @cached_property
    def _shares(self) -> NDArray[Any]:
        """The probabilities of all steps, in extended precision."""
        if sum(self.weights) < 2**63:
            whole = np.array(self.weights, dtype=np.int64)
            return np.asarray(whole.astype(EXTENDED) / np.repeat(self._sum(whole), self.sizes))
        totals = [sum(self.weights[a:b]) for a, b in self.parts for _ in range(a, b)]
        return np.array([*map(_long_ratio, self.weights, totals)], dtype=EXTENDED)

    def mirrored(self) -> MultinomialSum:
        """The law of top - T."""
        return replace(self, steps=np.repeat(self.tops, self.sizes) - self.steps)

    @cached_property
    def mean(self) -> float:
        """The expectation of T."""
        return float(self._sum(self._shares * self.steps) @ self.counts)

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of T."""
        return sqrt(self._moments(self._shares)[1])

    def _sum(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.add.reduceat(values, self.starts, axis=-1)

    def _moments(self, shares: NDArray[Any]) -> tuple[NDArray[Any], float]:
        """The mean of each table, and the variance of T, under some probabilities."""
        means = self._sum(shares * self.steps)
        centred = self.steps - np.repeat(means, self.sizes)
        return means, float(self._sum(shares * centred**2) @ self.counts)

    def tail(self, t0: int) -> Probability:
        """P(T >= t0), with a bound on its relative error; TooHard where that would take long."""
        if t0 <= 0:
            return CERTAIN
        if t0 > self.top:
            return IMPOSSIBLE
        if t0 == self.top:  # every item takes its largest step
            logs = self._log_shares[self.steps == np.repeat(self.tops, self.sizes)]
            total, each = logs @ self.counts, 2 * abs(logs) + 4
            high, error = float(total), LONG_EPS * float(each @ self.counts)
            return Probability.of_product(high, float(total - high), 1.0, error)
        if t0 >= self.mean:
            return _inverted(self, t0)
        low = self.mirrored().tail(self.top - t0 + 1)
        return low.complement() if low.value < 0.9 else _inverted(self, t0)

    def tail_fraction(self, t0: int) -> Fraction:
        """P(T >= t0) as a fraction: tables are polynomials, packed into integers (MemoryError)."""
        if t0 <= 0:
            return Fraction(1)
        numbers, tables = self.counts.tolist(), [self.weights[a:b] for a, b in self.parts]
        total = prod(sum(table) ** n for table, n in zip(tables, numbers, strict=True))
        bits = total.bit_length() + 1
        if bits * (self.top + 1) > MOST_BITS:
            raise MemoryError(
                f"the exact fraction needs integers of {bits * (self.top + 1):,} bits, more than "
                f"{MOST_BITS:,}; pvalue is accurate to its error_bound"
            )
        ways, steps = 1, self.steps.tolist()
        for (start, end), n in zip(self.parts, numbers, strict=True):
            ways *= sum(self.weights[j] << (bits * steps[j]) for j in range(start, end)) ** n
        # Modulo 2^bits - 1 the digits of what lies above t0 add up.
        return Fraction((ways >> (bits * t0)) % ((1 << bits) - 1), total)

    def distribution(self, scale: int = 1) -> LatticeDistribution:
        """The whole law of S / scale, each probability accurate absolutely."""
        size = self.top + 1
        if size > MOST_CELLS:
            raise MemoryError(
                f"the null distribution needs {size:,} cells, more than {MOST_CELLS:,}; "
                "p does not need it"
            )
        padded = 1 << (2 * size - 1).bit_length()
        product = np.ones(padded // 2 + 1, dtype=np.complex128)
        for (start, end), n in zip(self.parts, self.counts.tolist(), strict=True):
            shares = self._shares[start:end].astype(np.float64)
            product *= np.fft.rfft(_dense(self.steps[start:end], shares, padded)) ** n
        noise = 4 * EPS * log(padded + 1.0) * sqrt(float(self.counts.sum()) + 1)
        cells = np.fft.irfft(product, padded)[:size]
        cells[cells < noise] = 0.0
        return LatticeDistribution(self.offset, self.unit, cells, noise, scale)


@lru_cache(maxsize=1000)
def _long_ratio(weight: int, total: int) -> Any:
    """Their ratio in extended precision."""
    share = Fraction(weight, total)
    high = float(share)
    return EXTENDED(high) + EXTENDED(float(share - Fraction(high)))


def _dense(steps: Ints, shares: Floats, m: int) -> Floats:
    """A table as an array of m cells, steps modulo m."""
    cells = np.bincount((steps % m).astype(np.intp), shares, minlength=m)
    return cells.astype(np.float64, copy=False)


class _Tilt(NamedTuple):
    """A tilt, the tilted probabilities, the mean of each table, and the variance of T."""

    tau: float
    shares: NDArray[Any]
    means: NDArray[Any]
    variance: float


def _tilted(law: MultinomialSum, tau: float) -> _Tilt:
    logs = law._log_shares + EXTENDED(tau) * law.steps
    logs = logs - np.repeat(np.maximum.reduceat(logs, law.starts), law.sizes)
    shares = np.exp(logs)
    shares = shares / np.repeat(law._sum(shares), law.sizes)
    return _Tilt(tau, shares, *law._moments(shares))


def _tilt_to(law: MultinomialSum, t0: int) -> _Tilt:
    """Newton's method, within bounds, for the tilt with mean t0, at least 1 / deviation or so."""
    least = 1.0 / max(law.deviation, 1e-3)
    found = _tilted(law, least)
    # Where a giant step is very rare, the tilt may move the mean far beyond t0.
    while float(found.means @ law.counts) - t0 > 8 * law.deviation:
        found = _tilted(law, found.tau / 2)
    if float(found.means @ law.counts) >= t0:
        return found
    low, high = least, inf
    for _ in range(200):
        gap = t0 - float(found.means @ law.counts)
        if abs(gap) <= 1e-6 * max(sqrt(found.variance), 1e-6):
            break
        low, high = (found.tau, high) if gap > 0 else (low, found.tau)
        step = found.tau + gap / max(found.variance, 1e-300)
        inside = low < step < min(high, 2 * found.tau + 1)
        found = _tilted(law, step if inside else (2 * low if high == inf else (low + high) / 2))
        if found.tau * float(law.tops.min()) > 600:
            break  # nearly all of the mass is at the top
    return found


def _inverted(law: MultinomialSum, t0: int) -> Probability:
    """P(T >= t0) for a t0 that is not far below the mean, by inversion of the tilted law."""
    tilt = _tilt_to(law, t0)
    centred = law.steps - np.repeat(tilt.means, law.sizes)
    ahead = tilt.means @ law.counts - t0  # of the threshold, in extended precision
    exponent, error = _exponent(law, tilt, centred, ahead)
    far = abs(float(ahead)) + reach(CUT, tilt.variance, inf, float(np.abs(centred).max())) + 1
    m = int(min(law.top + 1, 2 * far + 4))
    unit = 1 << max(m.bit_length() - 4, 0)
    m = -(-m // unit) * unit  # a length that a Fourier transform takes quickly
    if m > MOST_CELLS:
        raise TooHard(
            f"the sums have some {m:,} likely values, more than {MOST_CELLS:,}; round scores to "
            "fewer digits"
        )
    r = law.top - t0 + 1 if m > law.top else m // 2
    which, left_out = _frequencies(law, tilt, m)
    shares, steps = tilt.shares.astype(np.float64), centred.astype(np.float64)

    def log_phi(j: Ints) -> tuple[Any, Floats]:
        logs, off = _log_phi(law, shares, steps, j, m)
        turn = 2 * np.pi * j / m * float(ahead)
        return logs @ law.counts + 1j * turn, off @ law.counts + EPS * (8 + 4 * np.abs(turn))

    factor, rough = add_up(log_phi, which, m, r, tilt.tau, law.steps.size)
    rough += left_out + 2 * exp(-CUT)
    if not factor > 4 * rough:
        raise TooHard("the tail is lost in the rounding of its own inversion")
    error += rough / (factor - rough) + 16 * EPS
    high = float(exponent)
    return Probability.of_product(high, float(exponent - EXTENDED(high)), factor, error)


def _exponent(
    law: MultinomialSum, tilt: _Tilt, centred: NDArray[Any], ahead: Any
) -> tuple[Any, float]:
    """K(tau) - tau t0 without cancellation between items, and a bound on its error."""
    x = EXTENDED(tilt.tau) * centred
    with np.errstate(over="ignore"):
        terms = law._shares * np.expm1(np.minimum(x, EXTENDED(11000)))
    sums = law._sum(terms)
    logs = x + law._log_shares
    top = np.maximum.reduceat(logs, law.starts)
    direct = top + np.log(law._sum(np.exp(logs - np.repeat(top, law.sizes))))
    small = np.abs(sums) < 0.5
    each = np.where(small, np.log1p(np.where(small, sums, 0)), direct)
    off = np.where(small, law._sum(np.abs(terms)), np.abs(direct) + 1)
    exponent = each @ law.counts + EXTENDED(tilt.tau) * ahead
    moved = float(np.abs(tilt.means) @ law.counts) * tilt.tau  # what rounds in `ahead`
    return exponent, 16 * LONG_EPS * (float(off @ law.counts) + moved + abs(float(exponent)))


def _frequencies(law: MultinomialSum, tilt: _Tilt, m: int) -> tuple[Ints, float]:
    """The frequencies up to m / 2 at which |phi| counts, and what the others add at most."""
    half, shares = m // 2 + 1, tilt.shares.astype(np.float64)
    alive = np.arange(half, dtype=np.int64)
    logs = np.zeros(alive.size)
    centred = law.steps - np.repeat(tilt.means, law.sizes)
    spread = law._sum(tilt.shares * centred**2).astype(np.float64) * law.counts
    order = np.argsort(-spread)
    work, parts, waves = 0, law.parts, np.exp(2j * np.pi / m * np.arange(m))
    for number in order.tolist():
        part = slice(*parts[number])
        size = part.stop - part.start
        if alive.size * size <= 4 * m or alive.size <= FEW:
            turns = law.steps[part] % m * alive[:, None] % m
            modulus = np.abs(waves[turns] @ shares[part])
            work += alive.size * size
        else:
            modulus = np.abs(np.fft.rfft(_dense(law.steps[part], shares[part], m)))[alive]
            work += m
        with np.errstate(divide="ignore"):
            logs = logs + law.counts[number] * np.log(modulus + 4 * EPS)
        kept = logs > -CUT
        alive, logs = alive[kept], logs[kept]
        if work > MOST_WORK:
            raise TooHard(
                f"{law.counts.size:,} different items have {m:,} likely sums; that takes too long"
            )
    return alive, half * exp(-CUT) / m * (2.0 + 2.0 / tilt.tau)


def _log_phi(
    law: MultinomialSum, shares: Floats, centred: Floats, j: Ints, m: int
) -> tuple[NDArray[np.complex128], Floats]:
    """log phi of each table at some frequencies, centred, and bounds on their errors."""
    # Near 0 what is small is computed as such: 1 - Re phi by sines of half angles, and the
    # imaginary part without its first-order term, which is 0 at the mean.
    theta = (2 * np.pi * j / m)[:, None]
    x = theta * centred
    near = np.abs(x) < 0.5
    square = x * x
    series = 1 - square / 156  # of sin(x) - x
    for product in (110, 72, 42, 20):
        series = 1 - square / product * series
    series *= -x * square / 6
    down = -2 * np.sin(x / 2) ** 2
    real = law._sum(shares * down)
    wide = ~np.logical_and.reduceat(near | (np.abs(x) < 2), law.starts, axis=1)
    imaginary = law._sum(shares * np.where(near, series, np.sin(x) - x))
    # Near 0 the square of the modulus has lost what the modulus has not.
    modulus = np.maximum(np.hypot(1 + real, imaginary), EPS)
    excess = 2 * real + real**2 + imaginary**2
    logs = np.where(excess < -0.5, np.log(modulus), 0.5 * np.log1p(np.maximum(excess, -0.5)))
    value = logs + 1j * np.arctan2(imaginary, 1 + real)
    off = 8 * EPS * (law._sum(shares * (np.abs(down) + np.abs(x) ** 3 / 6)))
    off = np.where(wide, 8 * EPS * (1 + np.abs(law._sum(shares * np.abs(x)))), off)
    return value, off / modulus
