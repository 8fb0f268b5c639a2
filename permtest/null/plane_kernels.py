"""The tail of two sums under a tilted law: the jitted loops.

Hits a and misses i are those of a labelling at T = (s, r), s counted along a row of equal hits and
r the number of the row. A tilt (x, y) makes each move of the sums e likelier by exp(x e_a + y e_i);
K(x, y) = log E exp(x a + y i) is the sum over moves of log((1 + exp(push)) / 2), its gradient the
tilted mean and its Hessian the tilted covariance. No tail exceeds exp(K - x a - y i) where it lies
beyond (a, i) (Chernoff).

Moves are turned so that under the tilt each is the less likely side, made with probability
q <= 1/2. T is then the far corner less the moves that are made, and its characteristic function a
product, of which a lattice of m[0] by m[1] frequencies holds all that is needed.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from permtest._jit import Floats, Ints, jit, numpy_first, python_first, spend
from permtest.null.probability import EPS

Number = TypeVar("Number", float, complex)

LOG2 = float(np.log(2.0))
#: Beyond this, times a long step, a tilt leaves next to nothing to chance.
FURTHEST = 120.0
#: Moves less likely than this have their angle measured from staying, others from the middle.
RARE = 0.25
#: Rows whose terms are added up in plain floats.
RUN = 8


class Plane(NamedTuple):
    """What kernels need of a law and a statistic on it."""

    #: What moves add to both sums, of shape (K, 2), and how many entries have each.
    steps: Floats
    counts: Ints
    #: Both sums at T = 0, what one step in s adds to them, and one in r.
    frame: Floats
    #: Sums of both systems; whether hits are part of the denominator; what 0 / 0 is.
    totals: Floats
    whole: bool
    zero: float
    #: From where on the statistic is extreme, less what roundings may come to.
    least: float


class Cells(NamedTuple):
    """The rows of the region that matter: s from ``starts[n]`` to ``stop - 1`` in each."""

    first: int
    starts: Ints
    stop: int
    #: Where weights are 1, and exp(-tau (T - t0)) at the start of each row and just beyond its end.
    origin: Ints
    weights: Floats
    lasts: Floats
    #: What one step along a row takes off the logarithm of the weight.
    decay: float


@jit
def gap(a: float, i: float, plane: Plane) -> float:
    """f(a, i) - f(A - a, I - i), f(a, i) = a / (a + i), or a / i; never falls with a or -i.

    Outside of 0 <= a <= A, 0 <= i <= I its value is that at the nearest point inside.
    """
    totals = plane.totals
    a, i = min(max(a, 0.0), totals[0]), min(max(i, 0.0), totals[1])
    b, j = totals[0] - a, totals[1] - i
    below, other = (a + i, b + j) if plane.whole else (i, j)
    first = a / below if below > 0.0 else (plane.zero if a == 0.0 else np.inf)
    second = b / other if other > 0.0 else (plane.zero if b == 0.0 else np.inf)
    return first - second


@python_first
def row_starts(rows: Ints, ends: Ints, plane: Plane, starts: Ints, gaps: Floats) -> None:
    """Fill in the first s of each row with `gap` >= least, and the gap there.

    s is sought from ``ends[0]`` to ``ends[1]``, from the last one found on in steps that double
    until the threshold has been passed; beyond them it is ``ends[1] + 1``.
    """
    f, at = plane.frame, ends[0]
    for n in range(rows.size):
        a, i = f[0, 0] + rows[n] * f[2, 0], f[0, 1] + rows[n] * f[2, 1]
        low, high, step = ends[0] - 1, ends[1] + 1, 1  # low is too small, high is not
        at = min(at, ends[1])
        while high - low > 1:
            if gap(a, i + at * f[1, 1], plane) >= plane.least:
                high = at
            else:
                low = at
            if low < ends[0]:
                at = max(high - step, ends[0])
            elif high > ends[1]:
                at = min(low + step, ends[1])
            else:
                at = (low + high) // 2
            step *= 2
        starts[n] = at = high
        gaps[n] = gap(a, i + high * f[1, 1], plane)


@python_first
def cumulants(x: float, y: float, plane: Plane) -> tuple[float, float, float, float, float, float]:
    """K of a tilt in both sums, its gradient and its second derivatives."""
    steps, a, i = plane.steps, plane.frame[0, 0], plane.frame[0, 1]
    value, aa, ai, ii = x * a + y * i, 0.0, 0.0, 0.0
    for k in range(plane.counts.size):
        c, e, f = plane.counts[k], steps[k, 0], steps[k, 1]
        push = x * e + y * f
        odds = np.exp(-abs(push))
        move = c * (1.0 if push > 0.0 else odds) / (1.0 + odds)
        spread = c * odds / (1.0 + odds) ** 2
        value += c * (max(push, 0.0) + np.log1p(odds) - LOG2)
        a, i = a + move * e, i + move * f
        aa, ai, ii = aa + spread * e * e, ai + spread * e * f, ii + spread * f * f
    return value, a, i, aa, ai, ii


@python_first
def find_tilt(plane: Plane) -> tuple[float, float]:
    """The tilt towards the most likely point of the region, no less than one standard deviation.

    There the tilt points along the gradient of the statistic (Lagrange), and the tilted mean lies
    on the boundary. Both conditions are met in turn; any tilt gives the right tail, this one puts
    the mass where the tail begins.
    """
    x, y, totals = 0.0, 0.0, plane.totals
    for _ in range(40):
        _, a, i, _, _, _ = cumulants(x, y, plane)
        n_a, n_i = 0.0, 0.0
        for b, j in ((a, i), (totals[0] - a, totals[1] - i)):
            below = b + j if plane.whole else j
            if below > 0.0:
                n_a += j / (below * below)
                n_i -= b / (below * below)
        reach = np.abs(n_a * plane.steps[:, 0] + n_i * plane.steps[:, 1])
        deviation = 0.5 * np.sqrt(np.sum(plane.counts * reach * reach))
        if deviation == 0.0:
            break
        n_a, n_i, long_step = n_a / deviation, n_i / deviation, np.sort(reach)[reach.size * 9 // 10]
        size, low, high = 1.0, 1.0, np.inf
        furthest = FURTHEST / max(long_step / deviation, 1e-6)
        while high - low > 1e-3 * max(1.0, 0.03 * low):
            _, a, i, _, _, _ = cumulants(size * n_a, size * n_i, plane)
            if size >= furthest or gap(a, i, plane) >= plane.least:
                high = size
            else:
                low = size
            size = 2.0 * size if high == np.inf else 0.5 * (low + high)
        size = high
        moved = abs(size * n_a - x) + abs(size * n_i - y)
        x, y = size * n_a, size * n_i
        if moved < 1e-3 * (abs(x) + abs(y)):
            break
    return x, y


@python_first
def best_tilt(a: float, i: float, x: float, y: float, plane: Plane) -> tuple[float, float, float]:
    """K and the tilt that bound the mass of at least a hits and at most i misses best, about.

    Any tilt with x >= 0 >= y bounds it; Newton's method looks for the smallest bound.
    """
    best, found = np.inf, (0.0, x, y)
    longest, furthest = np.max(np.abs(plane.steps[:, 0]) + np.abs(plane.steps[:, 1])), 8.0
    for _ in range(40):
        value, by_a, by_i, aa, ai, ii = cumulants(x, y, plane)
        by_a, by_i, bound = by_a - a, by_i - i, value - x * a - y * i
        if bound < best:
            best, found = bound, (value, x, y)
        else:
            furthest *= 0.5
        aa, ii = aa * 1.0001 + 1e-9, ii * 1.0001 + 1e-9
        size = aa * ii - ai * ai
        dx, dy = (ai * by_i - ii * by_a) / size, (ai * by_a - aa * by_i) / size
        short = min(1.0, furthest / ((abs(dx) + abs(dy)) * longest + 1e-9))
        dx, dy = max(short * dx, -x), min(short * dy, -y)
        if abs(dx * by_a + dy * by_i) < 0.1:
            break
        x, y = x + dx, y + dy
    return found


@python_first
def kept(sums: Floats, most: float) -> tuple[int, int, float]:
    """First and end of what is left without the outermost sums that come to `most` at either end.

    And what has been left out.
    """
    first, end, below, above = 0, sums.size, 0.0, 0.0
    while first < end and below + sums[first] <= most:
        below += sums[first]
        first += 1
    while end > first and above + sums[end - 1] <= most:
        end -= 1
        above += sums[end]
    return first, end, below + above


def _add_moves(table: Floats, weights: Floats, step_s: int, step_r: int) -> Floats:
    """`add_moves` in NumPy."""
    n, (height, width) = weights.size - 1, table.shape
    spend((n + 1) * (2 + table.size // 1000))
    longer = np.zeros((height + n * abs(step_r), width + n * abs(step_s)))
    for m, weight in enumerate(weights.tolist()):
        down = m * step_r if step_r >= 0 else (m - n) * step_r
        right = m * step_s if step_s >= 0 else (m - n) * step_s
        longer[down : down + height, right : right + width] += weight * table
    return longer


@numpy_first(_add_moves)
def add_moves(table: Floats, weights: Floats, step_s: int, step_r: int) -> Floats:
    """Sum over m of the table shifted by m steps, times ``weights[m]``.

    Steps that are negative are measured from the last shift.
    """
    n, (height, width) = weights.size - 1, table.shape
    longer = np.zeros((height + n * abs(step_r), width + n * abs(step_s)))
    for r in range(longer.shape[0]):
        for m in range(n + 1):
            source = r - (m * step_r if step_r >= 0 else (m - n) * step_r)
            if 0 <= source < height:
                right = m * step_s if step_s >= 0 else (m - n) * step_s
                weight, old, new = weights[m], table[source], longer[r, right : right + width]
                for s in range(width):
                    new[s] += weight * old[s]
    return longer


@jit
def frequencies(
    m: Ints, cut: float, work: float, steps: Ints, counts: Ints, q: Floats, points: Ints
) -> tuple[int, float]:
    """Fill `points` with the frequencies (j_s, j_r) at which |phi| may exceed exp(-cut).

    |phi|^2 = prod_k (1 - 4 q (1 - q) sin^2(pi x))^c, x = steps * (j_s / m_s, j_r / m_r); in a box
    of frequencies the sine is smallest where x is nearest to a whole number. Boxes are halved until
    they do not matter, or one point is left: of each pair of opposite ones only one, and (0, 0) not
    at all; both m are odd. Returns how many there are, and a bound on the sum of |phi| over what
    was left out; -1 for the former where more than `work` moves would have to be looked at, or
    `points` has no room.
    """
    h_s, h_r, by_s, by_r = (m[0] - 1) // 2, (m[1] - 1) // 2, 0.5 / m[0], 0.5 / m[1]
    boxes = [(1, h_s, -h_r, h_r), (0, 0, 1, h_r)]
    found, rest, asked = 0, 0.0, 0
    while len(boxes) > 0:
        s1, s2, r1, r2 = boxes.pop()
        if s1 > s2 or r1 > r2:
            continue
        if asked > work or found == len(points):
            return -1, rest
        # All of the box together may be as large as a single point.
        size, bound = (s2 - s1 + 1.0) * (r2 - r1 + 1.0), 0.0
        enough = cut + np.log(size)
        for k in range(counts.size):
            asked += 1
            x = steps[k, 0] * (s1 + s2) * by_s + steps[k, 1] * (r1 + r2) * by_r
            x = abs(x - np.rint(x)) - 4.0 * EPS * (1.0 + abs(x))
            x -= abs(steps[k, 0]) * (s2 - s1) * by_s + abs(steps[k, 1]) * (r2 - r1) * by_r
            if x > 0.0:
                sine = np.pi * x * (1.0 - x) * (1.0 + x * (1.0 - x))  # at most
                x = 4.0 * q[k] * (1.0 - q[k]) * sine * sine
                bound += 0.5 * counts[k] * x * (1.0 + 0.5 * x)
                if bound > enough:
                    break
        if bound > enough:
            rest += 2.0 * size * np.exp(-bound)
        elif s1 == s2 and r1 == r2:
            points[found, 0], points[found, 1] = s1, r1
            found += 1
        elif (s2 - s1) * m[1] > (r2 - r1) * m[0]:
            boxes += [((s1 + s2) // 2 + 1, s2, r1, r2), (s1, (s1 + s2) // 2, r1, r2)]
        else:  # floors, for either sign
            boxes += [(s1, s2, (r1 + r2) // 2 + 1, r2), (s1, s2, r1, (r1 + r2) // 2)]
    return found, rest


@jit
def phi(
    j_s: int, j_r: int, m: Ints, twice: Ints, steps: Ints, counts: Ints, q: Floats, beta: Floats
) -> tuple[float, float, float]:
    """log |phi|, argument and rounding error of E exp(i theta (T - t0)), theta = 2 pi j / m.

    `twice` is twice the distance from t0 to where T would be if rare moves were not made, and half
    of the others; whole turns are taken off in integers. beta is 1 - 2 q.
    """
    log_size, angle, log_low, low, rough, odd = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for k in range(counts.size):
        c, whole_s, whole_r = counts[k], steps[k, 0] * j_s, steps[k, 1] * j_r
        n_s, n_r = int(np.rint(whole_s / m[0])), int(np.rint(whole_r / m[1]))
        x, y = (whole_s - n_s * m[0]) / m[0], (whole_r - n_r * m[1]) / m[1]
        size, turn = abs(x) + abs(y), np.rint(x + y)
        x += y - turn
        sine, cosine = np.sin(np.pi * x), np.cos(np.pi * x)
        spread = 4.0 * q[k] * (1.0 - q[k])
        term = 0.5 * c * np.log1p(-min(spread * sine * sine, 1.0 - 1e-300))
        log_size, log_low = add(log_size, log_low, term)
        if q[k] < RARE:
            slope = q[k]
            term = -np.arctan2(2.0 * slope * sine * cosine, 1.0 - 2.0 * slope * sine * sine)
        else:
            slope = 0.5 * beta[k]
            term = np.arctan2(beta[k] * sine, cosine)
            odd ^= c & (n_s + n_r + int(turn)) & 1
        angle, low = add(angle, low, c * term)
        rough += c * size * (slope + 0.25 * spread * abs(sine))
    error = EPS * (8.0 - 3.0 * log_size + 16.0 * rough + 2.0 * abs(angle))
    half = (twice[0] * j_s % (2 * m[0])) / m[0] + (twice[1] * j_r % (2 * m[1])) / m[1] + odd
    return log_size + log_low, np.pi * half + (angle + low), error


@jit
def staircase_sum(
    points: Ints, m: Ints, cells: Cells, twice: Ints, steps: Ints, counts: Ints, tilt: Floats
) -> tuple[float, float, float]:
    """Sum of E_tau exp(-tau (T - t0)) over the region, its error, and the largest sum of weights.

    Points come in order of j_s. A sum along a row is geometric; those of all rows are added up one
    by one, in short runs and then in twice the precision of a float.
    """
    starts, origin, decay = cells.starts, cells.origin, np.exp(-cells.decay)
    rows, below, current = np.empty(starts.size, dtype=np.complex128), 1.0 + 0.0j, -1
    size = np.sum(cells.weights) + np.sum(cells.lasts)
    circle_s, circle_r = circle(m[0]), circle(m[1])
    total, rest, error, largest = 0.0, 0.0, 0.0, 0.0
    for p in range(len(points)):
        j_s, j_r = points[p, 0], points[p, 1]
        if j_s != current:
            current, sine = j_s, np.sin(np.pi * j_s / m[0])
            last = circle_s[(j_s * (cells.stop - origin[0])) % m[0]]
            for n in range(rows.size):
                z = circle_s[(j_s * (starts[n] - origin[0])) % m[0]]
                rows[n] = cells.weights[n] * z - cells.lasts[n] * last
            below = complex(
                -np.expm1(-cells.decay) + 2.0 * decay * sine * sine,
                decay * np.sin(2.0 * np.pi * j_s / m[0]),
            )
        at, step = j_r * (cells.first - origin[1]) % m[1], j_r % m[1]
        z, low = 0.0j, 0.0j
        for start in range(0, rows.size, RUN):
            part = 0.0j
            for n in range(start, min(start + RUN, rows.size)):
                part += rows[n] * circle_r[at]
                at += step
                if at >= m[1]:
                    at -= m[1]
            z, low = add(z, low, part)
        z = (z + low) / below
        log_size, angle, rounding = phi(j_s, j_r, m, twice, steps, counts, tilt[0], tilt[1])
        absolute = np.exp(log_size) * (1.0 if j_s == 0 and j_r == 0 else 2.0)
        term = absolute * (np.cos(angle) * z.real - np.sin(angle) * z.imag)
        total, rest = add(total, rest, term)
        error += absolute * abs(z) * (rounding + 8.0 * EPS)
        error += absolute * size * EPS * (RUN + 8.0) / abs(below)
        largest = max(largest, size / abs(below))
    whole = float(m[0]) * m[1]
    return (total + rest) / whole, error / whole, largest / whole


@jit
def circle(m: int) -> NDArray[np.complex128]:
    """exp(-2 pi i j / m) for all j."""
    points = np.empty(m, dtype=np.complex128)
    for j in range(m):
        angle = 2.0 * np.pi * (j if 2 * j <= m else j - m) / m
        points[j] = np.cos(angle) - 1j * np.sin(angle)
    return points


@jit
def add(high: Number, low: Number, term: Number) -> tuple[Number, Number]:
    """high + low + term, in twice the precision of a float (Knuth 1969)."""
    total = high + term
    shifted = total - high
    return total, low + ((high - (total - shifted)) + (term - shifted))
