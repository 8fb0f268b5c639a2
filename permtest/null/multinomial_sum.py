"""Tails of a sum of independent variables that take several values each, accurate relative to p.

T = sum of T_i, where T_i is the sum of n of the steps of item i, drawn without replacement, or one
of its steps, with probabilities in proportion to weights. Items that are alike are counted once.
With K(tau) = sum_i log E exp(tau T_i), tilting moves the mass next to the threshold, as in `tail`,
and the characteristic function phi of the tilted law is inverted at the tail alone (Pagano and
Tritchler 1983; Keich 2005):

    P(T >= t0) = exp(K - tau t0) / M sum_j phi(theta_j) e^(-i theta_j t0) G(theta_j),

with theta_j = 2 pi j / M and G the sum of e^(-(tau + i theta) s) over the cells s above t0. M
cells hold all but a negligible mass (Bernstein). Of the frequencies only those count at which |phi|
is not negligible, some forty as a rule; Fourier transforms of a few items find them.

A draw without replacement is one of independent coins, given how many of them are heads (Chen and
Liu 1997). Let coin k have the odds p_k / q_k = e^(tau x_k), times what is the same for all. Step by
step, for h = 0, ..., n heads so far,

    state_h <- q_k state_h + p_k f_k(state_(h - 1)),

where f_k says what drawing step k does: it turns a number by e^(i theta x_k), moves cells by x_k,
or adds to moments. So no table of all sums is needed, which is longer the more digits there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import comb, exp, gcd, inf, log, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._errors import TooHard
from permtest._jit import Floats, Ints
from permtest.null.distribution import CERTAIN, EPS, IMPOSSIBLE, LatticeDistribution, Probability
from permtest.null.tail_kernels import add_up, reach

#: Extended precision, for large exponents; not where it lacks its functions, as in browsers.
PRECISE = abs(np.log(np.exp(TRIED := np.longdouble(0.7))) - TRIED) < 8 * np.finfo(TRIED).eps
EXTENDED: Any = np.longdouble if PRECISE else np.float64
LONG_EPS, PI = float(np.finfo(EXTENDED).eps), 4 * np.arctan(EXTENDED(1))
#: e^-CUT of the mass may lie outside of the window, or at frequencies that are left out.
CUT = 46.0
#: Cells of the window or of a whole law, and additions of numbers: ten seconds or so.
MOST_CELLS, MOST_WORK = 2**22, 10**9
#: Bits of the integers that count all ways, at most.
MOST_BITS = 2**27
#: Beyond FEW frequencies more items are looked at, some AT_ONCE; other steps take some TOGETHER.
FEW, AT_ONCE, TOGETHER = 64, 2**13, 32
#: Additions that may be made to find in how many ways the runs of an item can be dealt.
MOST_WAYS = 10**7
#: Where it takes too long.
REMEDY = "round scores to fewer digits, or test null='items'"


class Draw(NamedTuple):
    """Items of which each adds `base` and the sum of `n` of its steps, drawn without replacement.

    With `weights` one step is drawn, with probabilities in proportion to them. Steps ascend.
    """

    steps: Sequence[int]
    n: int = 1
    times: int = 1
    base: int = 0
    weights: Sequence[int] = ()

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the largest of what it may add."""
        return self.base + sum(self.steps[: self.n]), self.base + sum(self.steps[-self.n :])

    @property
    def at_top(self) -> int:
        """In how many ways it adds the most."""
        chosen = self.steps[-self.n :]
        ties = self.steps.count(chosen[0]), chosen.count(chosen[0])
        return self.weights[-1] if self.weights else comb(*ties)

    @property
    def every(self) -> int:
        """The number of all ways, or the sum of the weights."""
        return sum(self.weights) if self.weights else comb(len(self.steps), self.n)

    def mirrored(self) -> Draw:
        """What adds -x as often as this adds x."""
        turned = [-x for x in self.steps[::-1]]
        return self._replace(steps=turned, base=-self.base, weights=self.weights[::-1])

    def table(self) -> dict[int, int]:
        """What it may add, and in how many ways, or with which weight."""
        drawn = zip(self.steps, self.weights, strict=True) if self.weights else None
        return {self.base + x: w for x, w in drawn or ways(self.steps, self.n).items()}


def ways(pool: Sequence[int], n: int) -> dict[int, int]:
    """In how many ways n of some numbers have each sum."""
    left, work = len(pool), 0
    chosen = Counter({(0, 0): 1})  # how many are drawn so far, and their sum
    for score, times in Counter(pool).items():
        left -= times
        more: Counter[tuple[int, int]] = Counter()
        for (size, total), number in chosen.items():
            some = range(max(0, n - size - left), min(times, n - size) + 1)
            work += len(some)
            if work > MOST_WAYS:
                raise TooHard(f"there are too many ways to deal the runs; {REMEDY}")
            for taken in some:
                more[size + taken, total + taken * score] += number * comb(times, taken)
        chosen = more
    return {total: number for (_, total), number in chosen.items()}


class _Block(NamedTuple):
    """Items with equally many steps, one a column; rows are steps, less the item's n-th largest."""

    n: int
    steps: Ints
    weights: NDArray[Any]
    counts: Ints
    #: The least sum and the largest.
    lows: Ints
    tops: Ints

    @classmethod
    def of(cls, draws: Sequence[Draw], unit: int) -> _Block:
        """The arrays of some items."""
        n, own = draws[0].n, [one.weights or [1] * len(one.steps) for one in draws]
        steps = np.array([[(x - y.steps[-n]) // unit for x in y.steps] for y in draws], np.int64).T
        totals = np.array([sum(one.weights) or 1 for one in draws], dtype=EXTENDED)
        weights = np.array(own, dtype=EXTENDED).T / totals
        counts, lows, tops = [one.times for one in draws], steps[:n], steps[-n:]
        return cls(n, steps, weights, np.array(counts), lows.sum(axis=0), tops.sum(axis=0))

    def odds(self, tau: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Logarithms of the odds of the coins, less the n-th largest of an item, and that one."""
        logs = EXTENDED(tau) * self.steps + np.log(self.weights)
        nth = np.sort(logs, axis=0)[-self.n]
        return logs - nth, nth

    def chances(self, tau: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """p and q of the coins, in extended precision."""
        with np.errstate(all="ignore"):
            odds = np.exp(self.odds(tau)[0])
            return 1 / (1 + 1 / odds), 1 / (1 + odds)

    def log_mean(self, tau: float) -> NDArray[Any]:
        """log E exp(tau T_i), without what is the same for all tau."""
        (odds, nth), (p, q) = self.odds(tau), self.chances(tau)
        heads = _drawn(self.n, q, np.ones_like(nth), lambda k, x: p[k] * x)
        return np.asarray(np.log(heads) + np.logaddexp(0, odds).sum(axis=0) + self.n * nth)

    def moments(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        """E T_i and its variance, of coins."""
        x, start = self.steps, np.zeros((3, self.counts.size))
        start[0] = 1

        def add(k: int, state: Floats) -> Floats:
            drawn = p[k] * state
            drawn[:, 2] += x[k] * (2 * drawn[:, 1] + x[k] * drawn[:, 0])
            drawn[:, 1] += x[k] * drawn[:, 0]
            return np.asarray(drawn)

        one, first, second = _drawn(self.n, q, start, add)
        return np.asarray(first / one), np.maximum(second / one - (first / one) ** 2, 0)

    def cells(self, i: int, p: Floats, q: Floats, m: int) -> Floats:
        """The law of T_i of item i, modulo m."""
        size, steps = int(min(self.tops[i] - self.lows[i] + 1, m)), self.steps[:, i].tolist()
        start = np.zeros(size)
        start[-int(self.lows[i]) % size] = 1
        found = _drawn(self.n, q[:, i], start, lambda k, x: p[k, i] * np.roll(x, steps[k], -1))
        return np.asarray(found / found.sum())


def _drawn(n: int, q: NDArray[Any], start: NDArray[Any], draw: Callable[..., Any]) -> NDArray[Any]:
    """The state after all steps, with n heads; on the way only numbers that can still become n."""
    state, size = np.zeros((n + 1, *start.shape), start.dtype), len(q)
    state[0], numbers = start, state.view(q.dtype)  # real ones
    for k in range(size):
        low, high = max(n - size + k + 1, 0), min(k + 1, n)
        first = max(low, 1)
        drawn = draw(k, state[first - 1 : high])
        numbers[low : high + 1] *= q[k]
        state[first : high + 1] += drawn
    return np.asarray(state[n])


def _turned(n: int, p: NDArray[Any], q: NDArray[Any], turns: NDArray[Any]) -> NDArray[Any]:
    """The mean of the product of the turns of the steps that are drawn, at each frequency."""
    drawn, heads = p[..., None] * turns, _drawn(n, q, np.ones_like(p[0]), lambda k, x: p[k] * x)
    found = _drawn(n, q[..., None], np.ones_like(drawn[0]), lambda k, x: drawn[k] * x)
    return np.asarray(found / heads[:, None])


@dataclass(frozen=True, eq=False)
class MultinomialSum:
    """The law of T, in units of S = offset + unit T."""

    draws: Sequence[Draw]
    blocks: Sequence[_Block]
    offset: int
    unit: int
    #: The largest value.
    top: int

    @classmethod
    def of(cls, draws: Sequence[Draw]) -> MultinomialSum:
        """Of items of all sorts; steps are integers of any sign."""
        ends = [one.ends for one in draws]
        offset = sum(low * one.times for (low, _), one in zip(ends, draws, strict=True))
        unit = gcd(*(x - one.steps[0] for one in draws for x in one.steps)) or 1
        spans = [(high - low) // unit for low, high in ends]
        top = sum(span * one.times for span, one in zip(spans, draws, strict=True))
        if top >= 2**52:
            raise TooHard(f"sums have about {float(top):.1g} possible values, too many to invert")
        # Those that vary most come first: they tell which frequencies count.
        varied = sorted(zip(draws, spans, strict=True), key=lambda x: -x[0].times * x[1] ** 2)
        alike: defaultdict[Any, list[Draw]] = defaultdict(list)
        for one in (one for one, span in varied if span):
            alike[one.n, len(one.steps)].append(one)
        parts = (x[i : i + TOGETHER] for x in alike.values() for i in range(0, len(x), TOGETHER))
        return cls(draws, [_Block.of(part, unit) for part in parts], offset, unit, top)

    def mirrored(self) -> MultinomialSum:
        """The law of top - T."""
        return MultinomialSum.of([one.mirrored() for one in self.draws])

    @cached_property
    def flat(self) -> _Tilt:
        """The law as it is."""
        return _tilted(self, 0.0)

    def tail(self, t0: int) -> Probability:
        """P(T >= t0), with a bound on its relative error; TooHard where that would take long."""
        if t0 <= 0:
            return CERTAIN
        if t0 > self.top:
            return IMPOSSIBLE
        if t0 == self.top:  # every item adds the most that it can
            count = prod(one.at_top**one.times for one in self.draws)
            return Probability.of_ratio(count, prod(one.every**one.times for one in self.draws))
        if t0 >= self.flat.mean:
            return _inverted(self, t0)
        low = self.mirrored().tail(self.top - t0 + 1)
        return low.complement() if low.value < 0.9 else _inverted(self, t0)

    def tail_fraction(self, t0: int) -> Fraction:
        """P(T >= t0) as a fraction: tables are polynomials, packed into integers (MemoryError)."""
        total = prod(one.every**one.times for one in self.draws)
        bits = total.bit_length() + 1
        if bits * (self.top + 1) > MOST_BITS:
            raise MemoryError(
                f"the exact fraction needs integers of {bits * (self.top + 1):,} bits, more than "
                f"{MOST_BITS:,}; pvalue is accurate to its error_bound"
            )
        packed = 1
        for one in self.draws:
            cells = {(x - one.ends[0]) // self.unit: w for x, w in one.table().items()}
            packed *= sum(w << (bits * x) for x, w in cells.items()) ** one.times
        # Modulo 2^bits - 1 the digits of what lies above t0 add up.
        return Fraction((packed >> (bits * max(t0, 0))) % ((1 << bits) - 1), total)

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
        for block, p, q in self.flat.blocks:
            for i, n in enumerate(block.counts.tolist()):
                product *= np.fft.rfft(block.cells(i, p, q, padded), padded) ** n
        noise = 4 * EPS * log(padded + 1.0) * sqrt(1 + sum(one.times for one in self.draws))
        cells = np.fft.irfft(product, padded)[:size]
        cells[cells < noise] = 0.0
        return LatticeDistribution(self.offset, self.unit, cells, noise, scale)


class _Tilt(NamedTuple):
    """A tilt, p and q of blocks, and the mean and the variance of T."""

    tau: float
    blocks: list[tuple[_Block, Floats, Floats]]
    mean: float
    variance: float


def _tilted(law: MultinomialSum, tau: float) -> _Tilt:
    blocks, mean, variance = [], 0.0, 0.0
    for block in law.blocks:
        p, q = (x.astype(np.float64) for x in block.chances(tau))
        blocks.append((block, p, q))
        means, variances = block.moments(p, q)
        mean += float((means - block.lows) @ block.counts)
        variance += float(variances @ block.counts)
    return _Tilt(tau, blocks, mean, variance)


def _tilt_to(law: MultinomialSum, t0: int) -> _Tilt:
    """Newton's method, within bounds, for the tilt with mean t0, at least 1 / deviation or so."""
    deviation = max(sqrt(law.flat.variance), 1e-3)
    found = _tilted(law, 1.0 / deviation)
    # Where a giant step is very rare, the tilt may move the mean far beyond t0.
    while found.mean - t0 > 8 * deviation:
        found = _tilted(law, found.tau / 2)
    low, high, narrowest = 0.0, inf, min(int((x.tops - x.lows).min()) for x in law.blocks)
    for _ in range(200):
        gap, near = t0 - found.mean, 1e-3 * max(sqrt(found.variance), 1e-6)
        # Beyond 600 nearly all of the mass is at the top.
        if abs(gap) <= near or (gap < 0 and low == 0) or found.tau * narrowest > 600:
            break
        low, high = (found.tau, high) if gap > 0 else (low, found.tau)
        step = found.tau + gap / max(found.variance, 1e-300)
        inside = low < step < min(high, 2 * found.tau + 1)
        found = _tilted(law, step if inside else (2 * low if high == inf else (low + high) / 2))
    return found


def _inverted(law: MultinomialSum, t0: int) -> Probability:
    """P(T >= t0) for a t0 that is not far below the mean, by inversion of the tilted law."""
    size = sum(one.steps.size * one.n for one in law.blocks)
    if FEW * size > MOST_WORK:
        raise TooHard(f"the runs of different items are too many; {REMEDY}")
    tilt = _tilt_to(law, t0)
    longest = max(float((one.tops - one.lows).max()) for one in law.blocks)
    far = abs(tilt.mean - t0) + reach(CUT, tilt.variance, inf, longest) + 1
    m = int(min(law.top + 1, 2 * far + 4))
    m += -m % (1 << max(m.bit_length() - 4, 0))  # a length that a Fourier transform takes quickly
    if m > MOST_CELLS:
        raise TooHard(f"the sums have some {m:,} likely values, more than {MOST_CELLS:,}; {REMEDY}")
    r = law.top - t0 + 1 if m > law.top else m // 2
    # T - t0 is this and the steps that are drawn, which are less the n-th largest of their item.
    ahead = -t0 - sum(int(one.lows @ one.counts) for one in law.blocks)
    turns = np.exp(2j * PI / m * np.arange(m))
    which, left_out = _frequencies(tilt, m, turns.astype(np.complex128))
    log_phi = partial(_log_phi, tilt, ahead, m, turns)
    each = 8 * max(one.steps.size for one in law.blocks)
    factor, rough = add_up(log_phi, which, m, r, tilt.tau, each)
    rough += left_out + 2 * exp(-CUT)
    if not factor > 4 * rough:
        raise TooHard("the tail is lost in the rounding of its own inversion")
    exponent, error = _exponent(tilt, t0)
    error += rough / (factor - rough) + 16 * EPS
    high = float(exponent)
    return Probability.of_product(high, float(exponent - EXTENDED(high)), factor, error)


def _exponent(tilt: _Tilt, t0: int) -> tuple[Any, float]:
    """K(tau) - tau t0, and a bound on its error."""
    exponent, off = -EXTENDED(tilt.tau) * t0, tilt.tau * t0
    for block, *_ in tilt.blocks:
        moved = EXTENDED(tilt.tau) * block.lows
        each = block.log_mean(tilt.tau) - block.log_mean(0.0) - moved
        exponent += each @ block.counts
        off += float((np.abs(each) + np.abs(moved) + len(block.steps)) @ block.counts)
    return exponent, 4 * LONG_EPS * off


def _frequencies(tilt: _Tilt, m: int, turns: NDArray[Any]) -> tuple[Ints, float]:
    """The frequencies up to m / 2 at which |phi| counts, and what the others add at most."""
    half = m // 2 + 1
    alive, logs, work = np.arange(half, dtype=np.int64), np.zeros(half), 0
    for block, p, q in tilt.blocks:
        row, size = 0, len(p) * block.n
        while row < block.counts.size and alive.size > FEW:
            some = slice(row, row + max(AT_ONCE // alive.size, 1))
            counts, span = block.counts[some], min(int(block.tops[row] - block.lows[row]), m)
            many = alive.size > AT_ONCE
            work += 8 * m + size * span if many else alive.size * size * counts.size
            if work > MOST_WORK:
                raise TooHard(f"the {m:,} likely sums take too long; {REMEDY}")
            if many:
                modulus = np.abs(np.fft.rfft(block.cells(row, p, q, m), m))[None, alive]
            else:
                turned = turns[block.steps[:, some, None] % m * alive % m]
                modulus = np.abs(_turned(block.n, p[:, some], q[:, some], turned))
            off = EPS * (4 * sqrt(m) * log(m + 1) + 8 * size)
            logs, row = logs + counts @ np.log(modulus + off), row + counts.size
            alive, logs = alive[logs > -CUT], logs[logs > -CUT]
    return alive, half * exp(-CUT) / m * (2.0 + 2.0 / tilt.tau)


def _log_phi(
    tilt: _Tilt, ahead: int, m: int, turns: NDArray[Any], j: Ints
) -> tuple[NDArray[np.complex128], Floats]:
    """log phi e^(-i theta t0) at some frequencies, and bounds on its error."""
    total, error = 2j * PI / m * (j * (ahead % m) % m), np.zeros(j.size)
    for block, *_ in tilt.blocks:
        p, q = block.chances(tilt.tau)
        found = _turned(block.n, p, q, turns[block.steps[..., None] % m * j % m])
        modulus = np.maximum(np.abs(found), EPS)
        total = total + block.counts @ (np.log(modulus) + 1j * np.angle(found))
        error = error + block.counts @ (LONG_EPS * (4 + 2 * len(p)) / modulus)
    total = total.real + 1j * (total.imag % (2 * PI))
    return total.astype(np.complex128), error + EPS * (8 + np.abs(total.real))
