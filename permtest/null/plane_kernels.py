"""The tail of two sums by inverting their tilted characteristic function: the jitted loops.

T = (s, r) is a point of a plane lattice, s counted along a row and r the number of the row. The
rejection region is a staircase: in each row it holds all cells from some start on. Moves are
turned so that under the tilt each is the less likely side, with probability q <= 1/2; T is then
the far corner less the moves that are made.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

EPS, LOG2 = 2.0**-52, float(np.log(2.0))
Circle: TypeAlias = NDArray[np.complex128]
Box: TypeAlias = tuple[int, int, int, int]
#: tau_s, t0, the first row, the end of all rows, and of each row start, weight, and last weight.
Cells: TypeAlias = tuple[float, Ints, int, int, Ints, Floats, Floats]

#: Beyond this, times a long step, a tilt leaves next to nothing to chance.
FURTHEST = 60.0
#: Frequencies with |phi| below exp(-SMALL) are left out, with a bound.
SMALL = 42.0
#: Moves less likely than this are measured from staying, others from the middle.
RARE = 0.05
#: Rows whose terms are added up in plain floats.
RUN = 16


class Tilt(NamedTuple):
    """A tilt, as bounds on rows need it."""

    #: In coordinates of both sums.
    tilt: Floats
    #: t0, from where weights are measured, and log E exp(tau (T - t0)).
    origin: Ints
    scale: float
    #: The tilted law of r: mean, variance, variance without a tilt, longest step.
    mean_r: float
    variance: float
    fair: float
    jump: float


class Plane(NamedTuple):
    """What kernels need of a law and a statistic on it."""

    #: Moves in coordinates (s, r), of shape (K, 2), and how many entries have each.
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


@jit
def sums_at(s: float, r: float, plane: Plane) -> tuple[float, float]:
    """Hits and misses at a point of the plane."""
    f = plane.frame
    return f[0, 0] + s * f[1, 0] + r * f[2, 0], f[0, 1] + s * f[1, 1] + r * f[2, 1]


@jit
def tilted_mean(tau_s: float, tau_r: float, plane: Plane) -> tuple[float, float]:
    """Mean of both sums if each move is made with odds exp(tau * step)."""
    s, r, steps = 0.0, 0.0, plane.steps
    for k in range(plane.counts.size):
        likely = 1.0 / (1.0 + np.exp(-(tau_s * steps[k, 0] + tau_r * steps[k, 1])))
        s += plane.counts[k] * likely * steps[k, 0]
        r += plane.counts[k] * likely * steps[k, 1]
    return sums_at(s, r, plane)


@jit
def unit_normal(tau_s: float, tau_r: float, plane: Plane) -> tuple[float, float, float]:
    """The direction in which the statistic grows fastest where the tilt puts the mean.

    In units of one over the standard deviation of the law without a tilt in that direction. Also
    the step in it that a tenth of all exceed; zeros where the statistic does not grow at all.
    """
    a, i = tilted_mean(tau_s, tau_r, plane)
    by_a, by_i, frame, steps = 0.0, 0.0, plane.frame, plane.steps
    for x, y in ((a, i), (plane.totals[0] - a, plane.totals[1] - i)):
        below = x + y if plane.whole else y
        if below > 0.0:
            by_a += y / (below * below)
            by_i -= x / (below * below)
    n_s = by_a * frame[1, 0] + by_i * frame[1, 1]
    n_r = by_a * frame[2, 0] + by_i * frame[2, 1]
    reach = np.abs(n_s * steps[:, 0] + n_r * steps[:, 1])
    variance, long_step = 0.25 * np.sum(plane.counts * reach * reach), np.sort(reach)
    if variance <= 0.0:
        return 0.0, 0.0, 0.0
    unit = 1.0 / np.sqrt(variance)
    return n_s * unit, n_r * unit, long_step[int(0.9 * reach.size)] * unit


@jit
def find_tilt(plane: Plane) -> tuple[float, float]:
    """The tilt towards the most likely point of the region, no less than one standard deviation.

    There the tilt points along the gradient of the statistic (Lagrange), and the tilted mean lies
    on the boundary. Both conditions are met in turn; any tilt gives the right tail, this one puts
    the mass where the tail begins.
    """
    tau_s, tau_r = 0.0, 0.0
    for _ in range(40):
        n_s, n_r, long_step = unit_normal(tau_s, tau_r, plane)
        if n_s == 0.0 and n_r == 0.0:
            break
        low, high, short = 0.0, 1.0, True
        for _ in range(60):
            size = high if short else 0.5 * (low + high)
            a, i = tilted_mean(size * n_s, size * n_r, plane)
            enough = gap(a, i, plane) >= plane.least
            short = short and not enough and high * long_step < FURTHEST
            if enough:
                high = size
            elif short:
                low, high = high, 2.0 * high
            else:
                low = size
            if not short and high - low < 1e-3 * max(1.0, 0.03 * low):
                break
        size = max(high, 1.0)
        moved = abs(size * n_s - tau_s) + abs(size * n_r - tau_r)
        tau_s, tau_r = size * n_s, size * n_r
        if moved < 1e-3 * (abs(tau_s) + abs(tau_r)):
            break
    return tau_s, tau_r


@jit
def row_start(row: int, guess: int, ends: Ints, plane: Plane) -> int:
    """The first s from ``ends[0]`` to ``ends[1]`` with `gap` >= least, or ``ends[1] + 1``.

    Sought from `guess` on, in steps that double until the threshold has been passed.
    """
    low, high = ends[0] - 1, ends[1] + 1  # low is too small, high is not
    at, step = min(max(guess, low + 1), high - 1), 1
    while high - low > 1:
        a, i = sums_at(at, row, plane)
        if gap(a, i, plane) >= plane.least:
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
    return int(high)


@jit
def row_starts(first: int, sure: float, ends: Ints, plane: Plane, starts: Ints) -> list[int]:
    """Fill ``starts[n]`` with the first s of row ``first + n`` at which `gap` may reach `least`.

    s is sought from ``ends[0]`` to ``ends[1]``, beyond which it is ``ends[1] + 1``. Returns the n
    where the float is not above `sure`.
    """
    guess, close = ends[0], [0 for _ in range(0)]
    for n in range(starts.size):
        guess = row_start(first + n, guess, ends, plane)
        starts[n] = guess
        a, i = sums_at(guess, first + n, plane)
        if guess <= ends[1] and gap(a, i, plane) <= sure:
            close.append(n)
    return close


@jit
def tail_bound(x: float, variance: float, fair: float, jump: float) -> float:
    """Bound on the log of the mass further than x from the mean, on one side.

    Bennett's and Hoeffding's; `fair` is the variance without a tilt, `jump` the largest step.
    """
    if x <= 0.0:
        return 0.0
    variance = max(variance, 1e-290)
    u = jump * x / variance
    bennett = variance / (jump * jump) * ((1.0 + u) * np.log1p(u) - u) if u > 1e-3 else 0.0
    return -max(bennett, 0.5 * x * x / (variance + jump * x / 3.0), 0.5 * x * x / fair)


@jit
def chernoff_bound(low: float, high: float, i: float, tilt: Floats, plane: Plane) -> float:
    """Bound on the log of the probability of `low` to `high` hits and at most i misses.

    Any tilt, in both sums, with tilt[1] <= 0 gives one; from the given one on, Newton's method
    looks for the best.
    """
    frame, steps = plane.frame, plane.steps
    best, last, x, y, furthest = 0.0, np.inf, tilt[0], tilt[1], 8.0
    for _ in range(40):
        by_a, by_i, longest = frame[0, 0] - (low if x >= 0.0 else high), frame[0, 1] - i, 0.0
        value, aa, ai, ii = x * by_a + y * by_i, 0.0, 0.0, 0.0
        for k in range(plane.counts.size):
            c = plane.counts[k]
            e = steps[k, 0] * frame[1, 0] + steps[k, 1] * frame[2, 0]
            f = steps[k, 0] * frame[1, 1] + steps[k, 1] * frame[2, 1]
            push = x * e + y * f
            odds = np.exp(-abs(push))
            move = (1.0 if push > 0.0 else odds) / (1.0 + odds)
            value += c * (max(push, 0.0) + np.log1p(odds) - LOG2)
            spread = c * odds / (1.0 + odds) ** 2
            by_a, by_i = by_a + c * move * e, by_i + c * move * f
            aa, ai, ii = aa + spread * e * e, ai + spread * e * f, ii + spread * f * f
            longest = max(longest, abs(e) + abs(f))
        furthest *= 1.0 if value < last else 0.5
        best, last = min(best, value), value
        aa, ii = aa * 1.0001 + 1e-9, ii * 1.0001 + 1e-9
        size = aa * ii - ai * ai
        dx, dy = (ai * by_i - ii * by_a) / size, (ai * by_a - aa * by_i) / size
        short = min(1.0, furthest / ((abs(dx) + abs(dy)) * longest + 1e-9))
        new_x, new_y = x + short * dx, min(y + short * dy, 0.0)
        if abs((new_x - x) * by_a + (new_y - y) * by_i) < 0.1:
            break
        x, y = new_x, new_y
    return best


@jit
def block_bound(
    row: int, stop: int, guess: int, mass: float, enough: float, at: Tilt, ends: Ints, plane: Plane
) -> tuple[float, bool, int]:
    """Bound on the log of the probability of the region from one row to another, `stop`.

    All of a row has the same hits. Between two rows the boundary rises in both sums, so that the
    block has no more misses than its ends and, starts being whole numbers, one step along a row.
    There a tilt leaves no more than the largest weight times exp(mass); Chernoff's bound is tried
    where that is not enough. Also whether a row is cut off at an end, in which case only
    single rows are bounded, and where the last row starts.
    """
    low, high, i, cut = np.inf, -np.inf, -np.inf, False
    for r in (stop, row):
        guess = row_start(r, guess, ends, plane)
        cut = cut or guess <= ends[0] or guess > ends[1]
        x, y = sums_at(guess, r, plane)
        low, high, i = min(low, x), max(high, x), max(i, y)
    if cut and row != stop:
        return np.inf, cut, guess
    if guess > ends[1]:
        return -np.inf, cut, guess
    if row != stop:
        i += abs(plane.frame[1, 1])
    x, y = sums_at(at.origin[0], at.origin[1], plane)
    bound = at.scale + mass - at.tilt[0] * (low - x) - at.tilt[1] * (i - y)
    if bound > enough:
        bound = min(bound, chernoff_bound(low, high, i, at.tilt, plane))
    return bound, cut, guess


@jit
def rows_that_matter(
    end: int, negligible: float, at: Tilt, ends: Ints, plane: Plane
) -> tuple[int, float]:
    """The last row from that of t0 to `end` that matters, and a bound on the region beyond.

    A row matters if the log of its bound is above `negligible`; what is returned is relative to
    that. The first one that does not is sought by doubling and halving the distance; beyond it
    rows are taken in blocks that grow as long as they do not matter.
    """
    first = at.origin[1]
    sign = 1 if end >= first else -1
    rows, near, guess, doubling, n, size, rest = abs(end - first) + 1, 0, ends[0], True, 1, 1, 0.0
    far = rows
    while n < rows:
        seeking = far - near > 1
        stop = n if seeking else min(n + size, rows) - 1
        row = first + sign * n
        mass = tail_bound(sign * (row - at.mean_r), at.variance, at.fair, at.jump)
        bound, cut, guess = block_bound(
            row, first + sign * stop, guess, mass, negligible, at, ends, plane
        )
        if seeking:
            if bound > negligible:
                near = n
            else:
                far, doubling = n, False
            n = min(2 * n, far - 1) if doubling else (near + far) // 2
            n = far if far - near <= 1 else max(n, near + 1)
        elif bound <= negligible:
            rest += np.exp(bound - negligible)
            n, size = stop + 1, size if cut else 2 * size
        elif size > 1:
            size //= 2
        else:
            near, far, rest, n = n, n + 1, 0.0, n + 1
    return int(first + sign * near), rest


@jit
def add_moves(
    table: Floats, weights: Floats, step_s: int, step_r: int, most: float
) -> tuple[Floats, int, int, int, int, float]:
    """Sum over m of the table shifted by m steps, times ``weights[m]``.

    Rows and columns are cut off at either end as long as they hold no more than `most` together.
    Returns the longer table, its first row, its end, its first column, its end, and what has been
    cut off. Steps that are negative are measured from the last shift.
    """
    n, (height, width) = weights.size - 1, table.shape
    longer = np.zeros((height + n * abs(step_r), width + n * abs(step_s)))
    rows, columns = np.zeros(longer.shape[0]), np.zeros(longer.shape[1])
    for r in range(rows.size):
        target = longer[r]
        for m in range(n + 1):
            source = r - (m * step_r if step_r >= 0 else (m - n) * step_r)
            if 0 <= source < height:
                right = m * step_s if step_s >= 0 else (m - n) * step_s
                weight, old, new = weights[m], table[source], target[right : right + width]
                for s in range(width):
                    new[s] += weight * old[s]
        for s in range(columns.size):
            columns[s] += target[s]
        rows[r] = np.sum(target)
    first_r, end_r, lost_r = middle_part(rows, most)
    first_s, end_s, lost_s = middle_part(columns, most)
    return longer, first_r, end_r, first_s, end_s, lost_r + lost_s


@jit
def middle_part(sums: Floats, most: float) -> tuple[int, int, float]:
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


@jit
def weighted_rows(table: Floats, starts: Ints, decay: Floats, sums: Floats) -> None:
    """Fill `sums` with each row's sum from its start on, times `decay` by the distance from it."""
    for r in range(starts.size):
        total = 0.0
        for s in range(max(starts[r], 0), table.shape[1]):
            total += table[r, s] * decay[s - starts[r]]
        sums[r] = total


@jit
def box_bound(
    box: Box, m: Ints, cut: float, steps: Ints, counts: Ints, spread: Floats
) -> tuple[float, int]:
    """Bound on -log |phi| over a box of frequencies, and how many moves were asked.

    |phi|^2 = prod_k (1 - spread_k sin^2(pi x_k))^c_k, x = steps * (j_s / m_s, j_r / m_r), and the
    sine is smallest where x is nearest to a whole number.
    """
    s1, s2, r1, r2 = box
    total, looked = 0.0, 0
    by_s, by_r = 0.5 / m[0], 0.5 / m[1]
    for k in range(counts.size):
        looked = k + 1
        x = steps[k, 0] * (s1 + s2) * by_s + steps[k, 1] * (r1 + r2) * by_r
        half = abs(steps[k, 0]) * (s2 - s1) * by_s + abs(steps[k, 1]) * (r2 - r1) * by_r
        size = abs(x)
        x = abs(x - np.rint(x)) - half - 4.0 * EPS * (1.0 + size)
        if x > 0.0:
            x *= 1.0 - x
            x *= np.pi * (1.0 + x)
            x *= spread[k] * x
            total += 0.5 * counts[k] * x * (1.0 + 0.5 * x)
            if total > cut:
                break
    return total, looked


@jit
def frequencies(
    m: Ints, cut: float, work: float, steps: Ints, counts: Ints, spread: Floats, points: Ints
) -> tuple[int, float]:
    """Fill `points` with the frequencies (j_s, j_r) at which |phi| may exceed exp(-cut).

    Of each pair of opposite ones only one, and (0, 0) not at all; both m are odd. Returns how many
    there are, and a bound on the sum of |phi| over what was left out; -1 for the former where more
    than `work` moves would have to be looked at, or `points` has no room.
    """
    h_s, h_r = (m[0] - 1) // 2, (m[1] - 1) // 2
    boxes = [(1, h_s, -h_r, h_r), (0, 0, 1, h_r)]
    found, rest, asked = 0, 0.0, 0.0
    while len(boxes) > 0:
        s1, s2, r1, r2 = boxes.pop()
        if s1 > s2 or r1 > r2:
            continue
        if asked > work or found == len(points):
            return -1, rest
        # All of the box together may be as large as a single point.
        size = (s2 - s1 + 1.0) * (r2 - r1 + 1.0)
        enough = cut + np.log(size)
        bound, looked = box_bound((s1, s2, r1, r2), m, enough, steps, counts, spread)
        asked += looked
        if bound > enough:
            rest += 2.0 * size * np.exp(-bound)
        elif s1 == s2 and r1 == r2:
            points[found, 0], points[found, 1] = s1, r1
            found += 1
        elif (s2 - s1) * m[1] > (r2 - r1) * m[0]:
            middle = (s1 + s2) // 2
            boxes += [(middle + 1, s2, r1, r2), (s1, middle, r1, r2)]
        else:
            middle = (r1 + r2) // 2  # floor, for either sign
            boxes += [(s1, s2, middle + 1, r2), (s1, s2, r1, middle)]
    return found, rest


@jit
def phi(
    j_s: int, j_r: int, m: Ints, shift: Floats, steps: Ints, counts: Ints, q: Floats
) -> tuple[float, float, float]:
    """log |phi|, argument and rounding error of E exp(i theta (T - t0)), theta = 2 pi j / m.

    Every move's angle is measured from its mean, and the mean of T, `shift` from t0, comes in
    once. Whole turns are taken off in integers. Rows of q: the probability of the move, its
    leading and its other digits, so that many turns times q keep their fraction, and 1 - 2 q.
    """
    log_size, rough = 0.0, 0.0
    turn_s, turn_r = j_s * shift[0] / m[0], j_r * shift[1] / m[1]
    angle, turns = 2.0 * np.pi * (turn_s + turn_r), 0.0
    for k in range(counts.size):
        c, p = counts[k], q[0, k]
        whole_s, whole_r = steps[k, 0] * j_s, steps[k, 1] * j_r
        n_s, n_r = int(np.rint(whole_s / m[0])), int(np.rint(whole_r / m[1]))
        x, y = (whole_s - n_s * m[0]) / m[0], (whole_r - n_r * m[1]) / m[1]
        n, size = n_s + n_r, abs(x) + abs(y)
        x += y
        if abs(x) > 0.5:
            turn = np.rint(x)
            x -= turn
            n += int(turn)
        sine, cosine = np.sin(np.pi * x), np.cos(np.pi * x)
        spread = 4.0 * p * (1.0 - p)
        log_size += 0.5 * c * np.log1p(-min(spread * sine * sine, 1.0 - 1e-300))
        if p < RARE:
            slope = p
            angle += c * (
                2.0 * np.pi * p * x
                - np.arctan2(2.0 * p * sine * cosine, 1.0 - 2.0 * p * sine * sine)
            )
        else:
            slope = 0.5 * q[3, k]
            angle += c * (np.arctan2(q[3, k] * sine, cosine) - np.pi * q[3, k] * x)
        rough += c * size * (slope + 0.25 * spread * abs(sine))
        if n != 0:
            whole = float(c * n)
            turns += np.fmod(whole * q[1, k], 1.0) + whole * q[2, k]
    turns -= np.rint(turns)
    error = EPS * (8.0 - 3.0 * log_size + 16.0 * rough + 2.0 * abs(angle))
    error += EPS * 8.0 * (abs(turn_s) + abs(turn_r))
    return log_size, angle + 2.0 * np.pi * turns, error


@jit
def row_sum(rows: NDArray[np.complex128], at: int, step: int, circle_r: Circle) -> complex:
    """sum over n of rows[n] times the point ``at + n step`` of the circle.

    Sums of short runs are added up in twice the precision of a float.
    """
    m, step = circle_r.size, step % circle_r.size
    at %= m
    x, y, x_low, y_low = 0.0, 0.0, 0.0, 0.0
    for start in range(0, rows.size, RUN):
        part = 0.0j
        for n in range(start, min(start + RUN, rows.size)):
            part += rows[n] * circle_r[at]
            at += step
            if at >= m:
                at -= m
        x, x_low = add(x, x_low, part.real)
        y, y_low = add(y, y_low, part.imag)
    return complex(x + x_low, y + y_low)


@jit
def staircase_sum(
    points: Ints, m: Ints, cells: Cells, shift: Floats, steps: Ints, counts: Ints, q: Floats
) -> tuple[float, float, float]:
    """Sum of E_tau exp(-tau (T - t0)) over the region, its error, and the largest sum of weights.

    The region holds, in row ``first + n``, the cells s from ``starts[n]`` to ``stop - 1``;
    `weights` are exp(-tau (T - t0)) at the start of every row, and `lasts` just beyond its end.
    Points come in order of j_s.
    """
    tau_s, origin, first, stop, starts, weights, lasts = cells
    rows, below, current = np.empty(starts.size, dtype=np.complex128), 1.0 + 0.0j, -1
    size = np.sum(weights) + np.sum(lasts)
    circle_s, circle_r = circle(m[0]), circle(m[1])
    total, rest, error, largest = 0.0, 0.0, 0.0, 0.0
    for p in range(len(points)):
        j_s, j_r = points[p, 0], points[p, 1]
        if j_s != current:  # sums along all rows, which are geometric
            current = j_s
            last = circle_s[(j_s * (stop - origin[0])) % m[0]]
            for n in range(rows.size):
                z = circle_s[(j_s * (starts[n] - origin[0])) % m[0]]
                rows[n] = weights[n] * z - lasts[n] * last
            decay, sine = np.exp(-tau_s), np.sin(np.pi * j_s / m[0])
            below = complex(
                -np.expm1(-tau_s) + 2.0 * decay * sine * sine,
                decay * np.sin(2.0 * np.pi * j_s / m[0]),
            )
        z = row_sum(rows, j_r * (first - origin[1]), j_r, circle_r) / below
        log_size, angle, rounding = phi(j_s, j_r, m, shift, steps, counts, q)
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
def add(high: float, low: float, term: float) -> tuple[float, float]:
    """high + low + term, in twice the precision of a float (Knuth 1969)."""
    total = high + term
    shifted = total - high
    return total, low + ((high - (total - shifted)) + (term - shifted))
