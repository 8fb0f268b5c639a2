"""Bounds of a tail by band-limited functions: the jitted loops.

An entry of width w moves under the tilted law with probability (1 + beta) / 2, as in
`tail_kernels`; widths are floats here, at most 1. Frequencies are theta_j = 2 pi j / period. The
inner loops are products and sums alone, over a block of frequencies, for the sake of vectors.
"""

from __future__ import annotations

from math import factorial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

EPS = 2.0**-52
#: Frequencies that are looked at together.
BLOCK = 64
#: What float32 may add to a bound of -log |phi|, which has some hundred terms below 1.
ROUNDING = 0.01
#: Bounds of -log |phi| are told apart up to here, in so many steps a unit.
NOTHING, STEPS = 80, 8
#: Up to so many equal entries are multiplied one by one.
FEW = 8
#: Coefficients of sin(x) / x and cos(x) in x^2: enough of them for all digits up to |x| = pi / 2.
SINE = tuple((-1.0) ** n / factorial(2 * n + 1) for n in range(10))
COSINE = tuple((-1.0) ** n / factorial(2 * n) for n in range(11))


@jit
def phis(
    js: Ints, period: float, widths: Floats, counts: Ints, beta: Floats
) -> tuple[NDArray[np.complex128], Floats]:
    """E exp(i theta (T - top / 2)) under the tilted law at these frequencies.

    Also what the product of all factors but one can be at most, for the rounding of that one.
    """
    values, others = np.empty(js.size, dtype=np.complex128), np.empty(js.size)
    real, imaginary, least = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    cosines, sines = np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, js.size, BLOCK):
        block = js[start : start + BLOCK]
        real[:], imaginary[:], least[:] = 1.0, 0.0, 1.0
        for k in range(widths.size):
            fill_factors(block, 0.5 * widths[k] / period, beta[k], cosines, sines)
            for i in range(block.size):
                least[i] = min(least[i], cosines[i] * cosines[i] + sines[i] * sines[i])
            some = counts[k]
            if some > FEW:
                some = 1
                for i in range(block.size):
                    power = complex(cosines[i], sines[i]) ** counts[k]
                    cosines[i], sines[i] = power.real, power.imag
            for _ in range(some):
                for i in range(block.size):
                    x, y = real[i], imaginary[i]
                    real[i] = x * cosines[i] - y * sines[i]
                    imaginary[i] = x * sines[i] + y * cosines[i]
        for i in range(block.size):
            value = complex(real[i], imaginary[i])
            values[start + i] = value
            others[start + i] = min(abs(value) / np.sqrt(max(least[i], 1e-300)) + 1e-150, 1.0)
    return values, others


@jit
def fill_factors(block: Ints, turn: float, beta: float, cosines: Floats, sines: Floats) -> None:
    """cos(x) and beta sin(x) at x = 2 pi j `turn` for each j, by Taylor's series at x / 2."""
    for i in range(block.size):
        x = block[i] * turn
        x = np.pi * (x - np.floor(x + 0.5))  # |x| <= pi / 2
        y = x * x
        sine, cosine = SINE[9], COSINE[10] * y + COSINE[9]
        for n in range(8, -1, -1):
            sine, cosine = sine * y + SINE[n], cosine * y + COSINE[n]
        sine *= x
        cosines[i], sines[i] = 1.0 - 2.0 * sine * sine, 2.0 * beta * sine * cosine


@jit
def means(
    js: Ints,
    values: NDArray[np.complex128],
    errors: Floats,
    theta: float,
    cells: int,
    lam: float,
    excess: float,
    delta: float,
) -> tuple[float, float, float]:
    """Means of the minorant and the majorant of exp(-lam x) 1{x >= 0}, and an error of both.

    Their Fourier transforms at t = j / cells are (1 - t) sum_n F(n) e^(-2 pi i n t) + sum_n F'(n)
    e^(-2 pi i n t) / (2 pi i). Both functions meet the exponential at the whole numbers n > 0, with
    its slope; at 0 they are 1 and 0, with the slope that makes all slopes add up to 0. Thresholds
    are `excess`, by `delta` more and less; phi at theta j is off by `errors`.
    """
    low, high, error = 0.0, 0.0, 0.0
    decay, slope = np.exp(-lam), -lam * np.exp(-lam) / np.expm1(-lam)
    for i in range(js.size):
        t = js[i] / cells
        sine, turn = np.sin(np.pi * t), 2.0 * np.pi * t
        x = -np.expm1(-lam) + 2.0 * decay * sine * sine  # nothing cancels where both are small
        y = decay * np.sin(turn)
        inverse = complex(x, -y) / (x * x + y * y)
        upper, between = (1.0 - t) * inverse, 1.0 - t
        weight = 1.0 / cells
        if js[i] > 0:
            slopes = slope - lam * decay * complex(np.cos(turn), -np.sin(turn)) * inverse
            upper += complex(slopes.imag, -slopes.real) / (2.0 * np.pi)
            weight *= 2.0
        angle, small = theta * js[i] * excess, theta * js[i] * delta
        turned = weight * values[i] * complex(np.cos(angle), -np.sin(angle))
        back = complex(np.cos(small), np.sin(small))
        high += (upper * turned * back).real
        low += ((upper - between) * turned * back.conjugate()).real
        error += weight * (errors[i] + EPS * js.size) * (abs(upper) + between)
    return low, high, error


@jit
def scan(
    start: float,
    step: float,
    size: int,
    slack: float,
    widths: Floats,
    terms: Floats,
    period: float,
    enough: float,
    points: Ints,
) -> tuple[float, int, int]:
    """Bound the sum of |phi_j| / j over `size` intervals of frequencies, and list the exceptions.

    -log |phi| is at least sum_k a_k - b_k cos(theta w_k) + c_k cos(2 theta w_k), the rows of
    `terms`, and between two points of the grid less by `slack` at most. Intervals with less than
    `enough` are left out of the bound; `points` gets the first and the last j of each. Returns the
    bound, how many such intervals there are, and the number of intervals that were looked at: it is
    below `size` where `points` had no room.
    """
    table = np.empty((2, widths.size, BLOCK), dtype=np.float32)
    for k in range(widths.size):
        x, y, cosine, sine = 1.0, 0.0, np.cos(step * widths[k]), np.sin(step * widths[k])
        for i in range(BLOCK):
            table[0, k, i], table[1, k, i] = x, y
            x, y = x * cosine - y * sine, x * sine + y * cosine
    turn = np.empty((4, widths.size))
    turn[0], turn[1] = np.cos(start * widths), np.sin(start * widths)
    turn[2], turn[3] = np.cos(BLOCK * step * widths), np.sin(BLOCK * step * widths)
    whole = np.float32(np.sum(terms[0]) - np.sum(terms[2]) - slack - ROUNDING)
    bounds, places = np.empty(BLOCK + 1, dtype=np.float32), np.empty(BLOCK, dtype=np.int32)
    bounds[BLOCK] = -np.inf  # of the point before the first one
    masses, found = np.zeros(NOTHING * STEPS + 1), 0
    a_turn = period / (2.0 * np.pi)
    for block in range(0, size + 1, BLOCK):
        bounds[0] = bounds[BLOCK]
        add_cosines(table, turn, terms, whole, bounds[1:])
        for i in range(BLOCK):
            low = min(bounds[i], bounds[i + 1])
            places[i] = np.int32(
                min(max(low * STEPS, np.float32(0.0)), np.float32(NOTHING * STEPS))
            )
        # An interval has no more j than this, each of them no less than the first of the block.
        mass = (np.floor(step * a_turn) + 1.0) / max((start + (block - 1) * step) * a_turn, 1.0)
        for i in range(min(BLOCK, size + 1 - block)):
            if places[i] >= enough * STEPS:
                masses[places[i]] += mass
                continue
            n = block + i - 1  # the number of the interval that ends here
            if n < 0:
                continue
            # Rounding may let an interval have a point too many, but none too few.
            j = int(np.ceil((start + n * step) * a_turn - 1e-6))
            last = int(np.floor((start + (n + 1) * step) * a_turn + 1e-6))
            if last >= j:
                if found == len(points):
                    return add_up(masses), found, n
                points[found, 0], points[found, 1] = j, last
                found += 1
    return add_up(masses), found, size


@jit
def add_cosines(
    table: NDArray[np.float32],
    turn: Floats,
    terms: Floats,
    whole: np.float32,
    bounds: NDArray[np.float32],
) -> None:
    """Fill in `whole` + sum_k 2 c_k cos^2 - b_k cos for a block of the grid; turn to the next.

    cos(theta w) comes from the angle at the start of the block, in `turn`, and those inside of a
    block, in `table`.
    """
    bounds[:] = whole
    for k in range(len(turn[0])):
        x, y = turn[0, k], turn[1, k]
        turn[0, k] = x * turn[2, k] - y * turn[3, k]
        turn[1, k] = x * turn[3, k] + y * turn[2, k]
        cosine, sine = np.float32(x), np.float32(y)
        b, c = np.float32(terms[1, k]), np.float32(2.0 * terms[2, k])
        cosines, sines = table[0, k], table[1, k]
        for i in range(BLOCK):
            z = cosine * cosines[i] - sine * sines[i]
            bounds[i] += (c * z - b) * z


@jit
def add_up(masses: Floats) -> float:
    """sum exp(-bound) over what `scan` counted by its bound."""
    total = 0.0
    for place in range(masses.size):
        total += masses[place] * np.exp(-place / STEPS)
    return total
