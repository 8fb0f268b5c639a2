"""The tail of T by inverting its tilted characteristic function: the jitted loops.

With y = tau w / 2 an entry of width w moves under the tilted law with probability (1 + beta) / 2,
beta = tanh(y). Everything is written in terms of beta and of excess = t0 - top / 2, the distance
to the centre, because sums that are measured from there do not cancel. For the same reason beta is
kept as base + rest, base being 0 or 1, and never added up: near the ends of the support most
entries move with a probability close to 1.

A tilt is an array of three rows, base, rest and spread = 1 - beta^2, with a column for each width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from permtest._jit import Floats, Ints, jit
from permtest.null.distribution import EPS

#: -log of the tilted mass that may lie outside of the window (2e-22).
OUTSIDE = 50.0
#: Points of the characteristic function below exp(-SMALL) / sd are left out, with a bound.
SMALL = 45.0
#: What one width costs in `phi`, in units of what it costs in `square_bound`.
DEAR = 8
#: What a sum keeps a record of: |phi| left out, looks at a width, its two parts and its error.
LEFT_OUT, LOOKED, TOTAL, LOW, ERROR = range(5)
#: Probabilities to move above this are kept by their distance from 1.
LIKELY = 0.9
#: In NumPy, how many numbers are held at a time.
AT_ONCE = 2**20
#: What is taken off x (1 - x), times 1 + w, for the rounding of x = w j / m modulo 1.
ROUNDING = 2.0**-52

#: log phi at frequencies, and a bound on its rounding.
LogPhi: TypeAlias = Callable[[Ints], "tuple[Any, Floats]"]


class TiltedLaw(NamedTuple):
    """Distinct widths, ascending, how many entries have each, and the tilt."""

    widths: Ints | Floats
    counts: Ints
    tilt: Floats


class Window(NamedTuple):
    """The lattice on which the tail of a law tilted to t0 is summed."""

    tau: float
    #: By how much the tilted mean exceeds t0, in two parts.
    shift: tuple[float, float]
    #: K(tau) - tau t0 in two parts, and its error.
    scale: tuple[float, float, float]
    #: Points of the lattice, cells of the tail, and -log of the |phi| that may be left out.
    m: int
    cells: int
    cut: float


@jit
def divergence(base: float, rest: float) -> float:
    """Kullback-Leibler divergence of a coin with mean (1 + beta) / 2 from a fair one, to 2 EPS.

    ((1 + beta) log(1 + beta) + (1 - beta) log(1 - beta)) / 2; a power series where those cancel.
    """
    if base != 0.0:
        q = 0.5 * abs(rest)  # of the less likely side
        return float(np.log(2.0) + (q * np.log(q) if q > 0.0 else 0.0) + (1.0 - q) * np.log1p(-q))
    x = rest * rest
    total = 0.0
    for k in range(8 if x < 0.01 else (24 if x < 0.16 else 80), 0, -1):
        total = total * x + 1.0 / (2.0 * k * (2.0 * k - 1.0))
    return total * x


@jit
def add_product(a: float, b: float, high: float, low: float) -> tuple[float, float]:
    """high + low + a b, in twice the precision of a float (Dekker 1971)."""
    product = a * b
    big = 134217729.0  # 2^27 + 1 splits a float into halves
    a1 = big * a - (big * a - a)
    b1 = big * b - (big * b - b)
    a2, b2 = a - a1, b - b1
    error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    total = high + product
    shifted = total - high
    low += (high - (total - shifted)) + (product - shifted) + error
    return total, low


def newton(widths: Ints | Floats, counts: Ints, excess: float) -> float:
    """tau at which the tilted mean is the threshold, but no less than one over the deviation."""
    # sum_k c_k w_k tanh(tau w_k / 2) / 2 = excess; the left side is concave, so that Newton's
    # method rises to the root. Any tau > 0 gives the right tail; here the mass is where it begins.
    most = 0.5 * counts * widths
    variance = 0.5 * np.sum(most * widths)
    tau = excess / variance
    for _ in range(200):
        beta = np.tanh(0.5 * tau * widths)
        gap = excess - np.sum(most * beta)
        slope = 0.5 * np.sum(most * widths * (1.0 - beta * beta))
        if gap <= 1e-3 * np.sqrt(slope) or slope <= 0.0:
            break
        tau += gap / slope
    return float(max(tau, 1.0 / np.sqrt(variance)))


find_tilt = jit(newton)


@jit
def tilt_of(tau: float, widths: Ints | Floats) -> Floats:
    """The tilt with beta_k = tanh(tau w_k / 2), tau >= 0."""
    tilt, odds = np.empty((3, widths.size)), np.exp(-tau * widths)
    likely = 1.0 / (1.0 + odds)
    near = likely > LIKELY
    tilt[0] = np.where(near, 1.0, 0.0)
    tilt[1] = np.where(near, -2.0 * odds * likely, np.tanh(0.5 * tau * widths))
    tilt[2] = 4.0 * odds * likely * likely
    return tilt


@jit
def log_scale(
    tau: float, twice_excess: float, law: TiltedLaw
) -> tuple[float, float, float, tuple[float, float]]:
    """K(tau) - tau t0 in two parts, its error, and by how much the tilted mean exceeds t0, in two.

    This is tau (mean - t0) - sum_k c_k divergence(beta_k), stationary in every beta.
    """
    widths, counts, tilt = law
    high, low = 0.5 * (np.sum(counts * widths * tilt[0]) - twice_excess), 0.0
    for k in range(widths.size):
        high, low = add_product(0.5 * counts[k] * widths[k], tilt[1, k], high, low)
    shift = high + low
    shift_low = (high - shift) + low
    high, low = add_product(tau, shift, 0.0, 0.0)
    magnitude = abs(high)
    for k in range(widths.size):
        d = divergence(tilt[0, k], tilt[1, k])
        high, low = add_product(-float(counts[k]), d, high, low)
        magnitude += counts[k] * d
    return high, low, 2.5 * EPS * magnitude, (shift, shift_low)


def reach(outside: float, variance: float, fair: float, longest: float) -> float:
    """How far from its mean a sum has all but exp(-outside) of its mass: Bernstein, Hoeffding."""
    jump = outside * longest / 3.0
    bernstein = jump + np.sqrt(jump * jump + 2.0 * outside * variance)
    return float(min(bernstein, np.sqrt(2.0 * outside * fair)))


_reach = jit(reach)


@jit
def find_window(widths: Ints, counts: Ints, top: int, t0: int) -> tuple[Floats, tuple[Any, ...]]:
    """The tilt to t0 > top / 2, and what a `Window` holds; top < 2^53, and M w below 2^63."""
    twice_excess = 2 * t0 - top
    tau = find_tilt(widths, counts, 0.5 * twice_excess)
    law = TiltedLaw(widths, counts, tilt_of(tau, widths))
    high, low, error, shift = log_scale(tau, twice_excess, law)
    squares = 0.25 * counts * widths * widths
    variance = np.sum(squares * law.tilt[2])
    x = _reach(OUTSIDE, variance, float(np.sum(squares)), float(widths[-1]))
    above = min(np.ceil(max(x + shift[0], 0.0)), top - t0) + 1.0
    below = np.ceil(max(x - shift[0], 0.0)) + 1.0
    fits = above + below <= top  # or else all cells are taken
    m, cells = (int(above + below), int(above)) if fits else (top + 1, top - t0 + 1)
    cut = SMALL + np.log1p(np.sqrt(variance))
    return law.tilt, (tau, shift, (high, low, error), m, cells, cut)


def tilt_towards(widths: Ints, counts: Ints, top: int, t0: int) -> tuple[TiltedLaw, Window]:
    """The law tilted to t0 > top / 2, and its lattice."""
    tilt, window = find_window(widths, counts, top, t0)
    return TiltedLaw(widths, counts, tilt), Window(*window)


@jit
def square_bound(first: int, last: int, m: int, enough: float, law: TiltedLaw) -> tuple[float, int]:
    """Bound on |phi(2 pi j / m)|^2 for first <= j <= last, and how many widths were asked.

    |phi|^2 = prod_k (1 - spread_k sin^2(w_k theta / 2))^c_k, and over an interval the sine is
    smallest at an end unless it passes through 0; x (1 - x) (1 + x (1 - x)) <= sin(pi x) / pi.
    """
    widths, counts, tilt = law
    product, step, looked = 1.0, 1.0 / m, 0
    for k in range(widths.size):
        looked = k + 1
        length = widths[k] * step * (last - first)
        if length >= 1.0:
            break  # as for all greater widths: the sine passes through 0
        x = widths[k] * float(first) * step
        x -= np.floor(x)
        if x + length >= 1.0:
            continue
        x = min(x * (1.0 - x), (x + length) * (1.0 - x - length))
        x -= ROUNDING * (1.0 + widths[k])
        if x > 0.0:
            x *= np.pi * (1.0 + x)
            product *= (1.0 - tilt[2, k] * x * x) ** counts[k]
            if product < enough:
                break
    return product, looked


@jit
def share_of_turn(j: int, m: int, high: float, low: float) -> float:
    """j (high + low) / m without whole turns, for 0 < j < m < 2^53."""
    product, error = add_product(float(j), high, 0.0, 0.0)
    return float((np.fmod(product, float(m)) + error + j * low) / m)


@jit
def phi(
    j: int, m: int, shift: tuple[float, float], cut: float, law: TiltedLaw
) -> tuple[float, float, float]:
    """log |phi|, argument and rounding error of E exp(i theta (T - t0)) at theta = 2 pi j / m."""
    # Angles are reduced in integers, by n turns, and measured from their mean.
    (widths, counts, tilt), log_size, log_low, angle_low, rough = law, 0.0, 0.0, 0.0, 0.0
    angle = 2.0 * np.pi * share_of_turn(j, m, shift[0], shift[1])
    high, low, odd = 0.0, 0.0, 0
    for k in range(widths.size):
        c, rest = counts[k], tilt[1, k]
        remainder, n = (widths[k] * j) % m, (widths[k] * j) // m
        if 2 * remainder > m:
            remainder -= m
            n += 1
        half = np.pi * remainder / m
        sine, cosine = np.sin(half), np.cos(half)
        square = cosine * cosine + rest * rest * sine * sine  # 1 - spread sin^2, if base is 0
        if tilt[0, k] == 0.0 and square < 0.5:
            log_size, log_low = add_product(0.5 * c, np.log(max(square, 1e-300)), log_size, log_low)
        else:
            square = 1.0 - tilt[2, k] * sine * sine
            part = np.log1p(-tilt[2, k] * sine * sine)
            log_size, log_low = add_product(0.5 * c, part, log_size, log_low)
        if log_size < -cut:
            return log_size, 0.0, 4.0  # no sign: all of it is error
        if tilt[0, k] == 0.0:
            turn = np.arctan2(rest * sine, cosine)
            odd ^= c & n & 1
        else:  # of the side that is less likely; its probability is |rest| / 2
            turn = np.arctan2(rest * sine * cosine, 1.0 - abs(rest) * sine * sine)
        angle, angle_low = add_product(float(c), turn - rest * half, angle, angle_low)
        rough += c * abs(half) * (abs(rest) + tilt[2, k] * abs(sine * cosine)) / max(square, 1e-300)
        if n > 0:
            high, low = add_product(float(c * n), rest, high, low)
    turns = (high - 2.0 * np.floor(0.5 * high)) + low + odd
    error = EPS * (8.0 - 3.0 * log_size + 2.0 * rough + abs(angle))
    return log_size + log_low, angle + angle_low - np.pi * turns, error


@jit
def geometric(j: int, m: int, tau: float, cells: int) -> tuple[float, float]:
    """sum_{s < cells} exp(-(tau + i theta) s) at theta = 2 pi j / m, real and imaginary part."""
    decay, sine = np.exp(-tau), np.sin(np.pi * j / m)
    x = -np.expm1(-tau) + 2.0 * decay * sine * sine
    y = decay * np.sin(2.0 * np.pi * j / m)
    size = x * x + y * y
    decay, turn = np.exp(-tau * cells), share_of_turn(j, m, float(cells), 0.0)
    sine = np.sin(np.pi * turn)
    a = -np.expm1(-tau * cells) + 2.0 * decay * sine * sine
    b = decay * np.sin(2.0 * np.pi * turn)
    return (a * x + b * y) / size, (b * x - a * y) / size


@jit
def next_point(stack: Ints, record: Floats, m: int, cut: float, work: float, law: TiltedLaw) -> int:
    """The next point j, 0 < j <= m / 2, at which |phi| may exceed exp(-cut); 0 if there is none."""
    # The stack[0, 0] intervals (first, last) are halved until a bound says that they do not matter.
    enough = np.exp(-2.0 * cut)
    while stack[0, 0] > 0 and record[LOOKED] < work:
        top = stack[0, 0]
        first, last = stack[top, 0], stack[top, 1]
        stack[0, 0] -= 1
        bound, looked = square_bound(first, last, m, enough, law)
        record[LOOKED] += looked
        if bound < enough:
            record[LEFT_OUT] += (last - first + 1) * np.sqrt(bound)
        elif first == last:
            record[LOOKED] += DEAR * law.widths.size
            return int(first)
        else:
            middle = (first + last) // 2
            stack[top, 0], stack[top, 1] = middle + 1, last
            stack[top + 1, 0], stack[top + 1, 1] = first, middle
            stack[0, 0] += 2
    return 0


@jit
def tail_sum(
    law: TiltedLaw, window: Window, work: int, ranges: Ints, record: Floats
) -> tuple[float, float, int]:
    """E_tau[exp(-tau (T - t0)); T >= t0] on m points, its error, and the work left, if any.

    The points that matter have a j in one of the `ranges`, or were added to the record already.
    """
    tau, shift, m, cells, cut = window.tau, window.shift, window.m, window.cells, window.cut
    stack = np.zeros((128, 2), dtype=np.int64)
    for r in range(len(ranges)):
        stack[0, 0], stack[1, 0], stack[1, 1] = 1, ranges[r, 0], ranges[r, 1]
        while record[LOOKED] < work:
            j = next_point(stack, record, m, cut, float(work), law)
            if j == 0:
                break
            log_size, angle, rounding = phi(j, m, shift, cut, law)
            x, y = geometric(j, m, tau, cells)
            absolute = np.exp(log_size) * (1.0 if 2 * j == m else 2.0)
            term = absolute * (np.cos(angle) * x - np.sin(angle) * y)
            record[TOTAL], record[LOW] = add_product(term, 1.0, record[TOTAL], record[LOW])
            record[ERROR] += absolute * max(np.sqrt(x * x + y * y), 1.0) * rounding
    largest, _ = geometric(0, m, tau, cells)
    total, low = add_product(largest, 1.0, record[TOTAL], record[LOW])
    error = record[ERROR] + largest * (8.0 * EPS + 2.0 * record[LEFT_OUT])
    found, error = (total + low) / m, error / m + 2.0 * np.exp(-OUTSIDE)
    return found, error, int(work - record[LOOKED]) if found > 4.0 * error else 0


def add_up(
    log_phi: LogPhi, which: Ints, m: int, cells: int, tau: float, each: int
) -> tuple[float, float]:
    """sum_j phi(theta_j) G(theta_j) / M over frequencies, and a bound on its roundings.

    `each` is how many numbers a frequency takes.
    """
    total, error = 0.0, 0.0
    for j in np.array_split(which, 1 + which.size * each // AT_ONCE):
        logs, rounding = log_phi(j)
        turn = j * (cells % m) % m * (2 * np.pi / m)  # theta times the cells, reduced
        above = np.expm1(-tau * cells - 1j * turn) / np.expm1(-tau - 2j * np.pi * j / m)
        terms = np.exp(logs) * above * np.where((j == 0) | (2 * j == m), 1, 2)
        total, error = total + terms.real.sum(), error + np.abs(terms) @ rounding
    return float(total) / m, float(error) / m


@jit
def upper_tails(
    starts: Ints, widths: Ints, counts: Ints, tops: Ints, t0: Ints, work: int, found: Floats
) -> None:
    """P(T >= t0) of laws ``starts[r] : starts[r + 1]``, unless t0 is not above the centre.

    ``found[r]`` becomes p, its logarithm, a bound on the relative error of p, and the work left.
    """
    ranges = np.ones((1, 2), dtype=np.int64)
    for r in range(t0.size):
        if tops[r] < 2 * t0[r] < 2 * tops[r]:
            w, c = widths[starts[r] : starts[r + 1]], counts[starts[r] : starts[r + 1]]
            tilt, (tau, shift, scale, m, cells, cut) = find_window(w, c, tops[r], t0[r])
            law, window = TiltedLaw(w, c, tilt), Window(tau, shift, scale, m, cells, cut)
            ranges[0, 1] = m // 2
            factor, error, left = tail_sum(law, window, work, ranges, np.zeros(5))
            (high, low, rounding), half = scale, np.exp(0.5 * scale[0])
            found[r, 0], found[r, 1] = half * (1.0 + low) * factor * half, high + low
            found[r, 1] += np.log(factor)
            found[r, 2], found[r, 3] = rounding + error / (factor - error) + 4.0 * EPS, left
