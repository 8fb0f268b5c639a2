"""Bounds of errors, and of what is left out, from both sides: never too small, never absurd."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp

import mpmath as mp
import numpy as np
import pytest

from permtest.methods import _between, _box, _from_logs
from permtest.null import bracket, convolution, multinomial_sum, ratio_tail, tail, tail_kernels
from permtest.null import lattice as several
from permtest.null.bracket import zone_of
from permtest.null.convolution import SAFETY, Rounded, dp_cells, fft_cells
from permtest.null.distribution import Probability
from permtest.null.labellings import count_labellings
from permtest.null.lattice import LatticeSum, box_law
from permtest.null.multinomial_sum import Draw, MultinomialSum
from permtest.question import ask
from tests.null import counted, holds, law_of, relative_error, sum_of
from tests.null.test_ratio_tail import counted as counted_plane
from tests.null.test_ratio_tail import event, joint_counts, spans
from tests.null.test_tail import tail_in_kernels

RNG = np.random.default_rng(0)
LAWS = {
    "one width": np.ones(900),
    "scores": RNG.integers(1, 13, 400),
    "comb": [2] * 300 + [3, 5],
    "giant": [1] * 200 + [2000],
    "uneven": [1] * 46 + [10] * 352,
}
EACH_LAW = pytest.mark.parametrize("law", [*map(law_of, LAWS.values())], ids=LAWS)
mp.mp.dps = 40


def tail_of(kind, share):
    """A law, and a threshold that is a share of its largest value."""
    law = law_of(LAWS[kind])
    return law, int(law.top * share) + 1


TAILS = {f"{kind} {x}": tail_of(kind, x) for kind in LAWS for x in (0.52, 0.6, 0.97)}
EACH_TAIL = pytest.mark.parametrize(("law", "t0"), TAILS.values(), ids=TAILS)


def log_mean(steps, counts, z, t0):
    """log E exp(z (T - t0)) of fair coins; z and t0 are lists, as T may be a vector."""
    value = -mp.fdot(z, t0)
    for step, count in zip(steps.reshape(len(counts), -1).tolist(), counts.tolist(), strict=True):
        value += count * mp.log((1 + mp.exp(mp.fdot(z, step))) / 2)
    return value


def tilted_phi(steps, counts, tau, theta, t0):
    """E exp(i theta (T - t0)) under the tilted law."""
    z = [mp.mpc(*both) for both in zip(tau, theta, strict=True)]
    return mp.exp(log_mean(steps, counts, z, t0) - log_mean(steps, counts, [*map(mp.re, z)], t0))


def sizes_of(spread, angles, counts):
    """|phi|, from the halves of angles."""
    sines = np.minimum(spread * np.sin(angles) ** 2, 1 - 1e-16)
    return np.exp(0.5 * np.log1p(-sines) @ counts)


def taken_of(ranges, size):
    """Which numbers from 1 on are in one of the ranges, and none in two."""
    times = np.zeros(size, dtype=int)
    for first, last in ranges.tolist():
        times[first - 1 : last] += 1
    assert times.max() <= 1
    return times > 0


@EACH_LAW
def test_noise_of_cells(law):
    exact = np.array([float(Fraction(x, 2**law.n_informative)) for x in count_labellings(law)])
    found = fft_cells(law)
    off = np.abs(found.cells - exact)
    assert holds(off, found.noise + found.relative * exact + 2.0**-53 * exact, 1e-16)
    off = np.abs(dp_cells(law) - exact)[exact > 1e-290]
    assert holds(off / exact[exact > 1e-290], convolution.dp_rounding(law) + 2**-53)


@pytest.mark.parametrize("seed", range(6))
def test_noise_of_sums_of_cells(seed):
    rng = np.random.default_rng(seed)
    law = law_of(rng.choice(rng.integers(1, 2001, 35), 110))
    cells, exact = fft_cells(law), dp_cells(law)
    chosen = [np.cumsum(exact) < below for below in (1e-4, 1e-8, 1e-12)]
    p, noise = np.transpose([cells.probability(some) for some in chosen])
    off = abs(p - [exact[some].sum() for some in chosen])
    assert holds(off, noise + cells.relative * p, 1e-17)


@pytest.mark.parametrize("noisy", [(1, 0), (0, 1), (1, 1)])
def test_noise_of_factors_goes_through_a_convolution(noisy):
    """What two factors of unlike norms are off by is found again in the middle of their product."""
    bells = [np.exp(-((np.arange(n) - n / 2) ** 2) / n) for n in (100, 3000)]
    both = [(bell / bell.sum(), 1e-7 * x) for bell, x in zip(bells, noisy, strict=True)]
    f, g = (Rounded(bell, 0.0, SAFETY * x) for bell, x in both)
    changes = []
    for _ in range(200):
        df, dg = (x * RNG.standard_normal(bell.size) for bell, x in both)
        changes.append((np.convolve(f.cells, dg) + np.convolve(df, g.cells))[1550])
    assert 0.7 <= np.std(changes) / (convolution._product(f, g).noise / SAFETY) <= 1.3


@pytest.mark.parametrize("n", [5, 400, 30_000])
@pytest.mark.parametrize("move", [0.5, 0.3125])
def test_relative_errors_of_binomial_laws(n, move):
    law = replace(law_of([1] * n), stay=np.array([1 - move]), move=np.array([move]))
    found, middle, reach = convolution._binomial(law, 0), int(n * move), ceil(8 * (n * move) ** 0.5)
    errors = []
    for k in range(max(middle - reach, 0), min(middle + reach, n), max(reach // 200, 1)):
        exact = mp.binomial(n, k) * mp.mpf(move) ** k * mp.mpf(1 - move) ** (n - k)
        errors.append(abs(float(found.cells[k] / exact - 1)))
    assert holds(errors, found.relative)


def in_window(lattice, box):
    """The exact probability of each cell of a window; 0 where no labelling is."""
    exact = dp_cells(lattice.line)
    sums = lattice.sums(np.arange(exact.size)).tolist()
    known = dict(zip(map(tuple, sums), exact, strict=True))
    points = lattice.at(box.coordinates(np.arange(box.cells.size))).tolist()
    return np.array([known.get(tuple(point), 0.0) for point in points])


def test_noise_of_a_window_of_several_sums():
    lattice = LatticeSum.of(RNG.integers(0, 3, (60, 2)), np.zeros((60, 2), dtype=int))
    box = box_law(lattice)
    truth = in_window(lattice, box)
    assert holds(np.abs(box.cells.reshape(-1) - truth), box.noise, 0.0)
    assert 0 <= 1 - truth.sum() <= box.outside + 1e-14 <= 1e-13


@pytest.mark.parametrize("outside", [0, 1e-9])
def test_p_of_a_window_is_off_by_what_lies_outside_and_by_rounding(outside, monkeypatch):
    monkeypatch.setattr("permtest.methods.box_law", lambda x: replace(box_law(x), outside=outside))
    found = _box(ask(*np.random.default_rng(0).integers(0, 4, (2, 40, 3)), statistic="f1"))
    assert 64 * convolution.EPS <= found.error_bound - outside / found.value <= 1e-12


def test_roundings_of_frequencies_of_several_sums():
    rows, shape = np.random.default_rng(0).integers(0, 3, (60, 2)), (1001, 30)
    lattice = LatticeSum.of(rows, np.zeros_like(rows))
    found, squares = several._fair_product(np.array(shape), lattice)
    off = []
    for i, j in np.argwhere(np.abs(found) > 1e-3)[::5].tolist():
        turns = lattice.steps @ np.diag((i, j)) @ np.array((30, 1001))  # of 1001 * 30
        cosines = [mp.cos(mp.pi * x / (1001 * 30)) for x in turns.tolist()]
        exact = mp.fprod(x**c for x, c in zip(cosines, lattice.counts.tolist(), strict=True))
        off.append(float(exact - found[i, j]))
    assert 1e-3 * squares**0.5 <= np.linalg.norm(off) <= squares**0.5


@EACH_TAIL
def test_what_a_tilted_tail_leaves_out(law, t0):
    """Mass beyond the window, frequencies, and the rounding of those that are taken."""
    tilted, lattice = tail_kernels.tilt_towards(law.widths, law.counts, law.top, t0)
    cells, t = dp_cells(law.tilted(lattice.tau)), np.arange(law.top + 1)
    mean = float(t @ cells)
    fair, deviation = float(law.counts @ law.widths**2) / 4, float((t - mean) ** 2 @ cells) ** 0.5
    for outside in (2.0, 10.0):
        x = tail_kernels.reach(outside, deviation**2, fair, float(law.widths[-1]))
        for beyond in (cells[t > mean + x], cells[t < mean - x]):
            assert beyond.sum() <= exp(-outside)
        assert x <= 4 * outside * deviation + outside * law.widths[-1]
    x = tail_kernels.reach(tail_kernels.OUTSIDE, deviation**2, fair, float(law.widths[-1]))
    if lattice.m <= law.top:  # not all cells are taken, but those up to mean + x
        assert -1e-6 <= t0 + lattice.cells - 1 - min(mean + x, law.top) <= 1 + 1e-6
    m, cut = lattice.m, 12.0
    stack, book, found = np.zeros((128, 2), dtype=np.int64), np.zeros(2), []
    stack[:2] = (1, 0), (1, m // 2)
    while j := tail_kernels.next_point(stack, book, m, cut, 1e12, tilted):
        found.append(j)
    every = np.arange(1, m // 2 + 1)
    spread = 4 * law.tilted(lattice.tau).stay * law.tilted(lattice.tau).move
    sizes = sizes_of(spread, np.pi * (np.outer(every, law.widths) % m) / m, law.counts)
    left_out = np.delete(sizes, np.array(found, dtype=int) - 1)
    assert left_out.max(initial=0) <= exp(-cut)
    assert len(found) <= 3 * np.sum(sizes > exp(-2 * cut)) + 3
    # A bound of less than exp(-2 cut) is as good as any.
    assert left_out.sum() <= book[0] <= left_out.size * exp(-cut)
    for j in found[:3] + found[-3:]:
        log_size, angle, rough = tail_kernels.phi(j, m, lattice.shift, cut, tilted)
        if log_size > -cut:
            exact = tilted_phi(law.widths, law.counts, [lattice.tau], [2 * mp.pi * j / m], [t0])
            off = abs(mp.expj(mp.mpf(angle)) * mp.exp(log_size) / exact - 1)
            assert holds(float(off), rough, 1e-11)


@EACH_TAIL
def test_the_scale_of_a_tilted_tail(law, t0):
    """K(tau) - tau t0 and the tilted mean, in 40 digits."""
    _, lattice = tail_kernels.tilt_towards(law.widths, law.counts, law.top, t0)
    high, low, error = lattice.scale
    tau, ahead = mp.mpf(lattice.tau), mp.mpf(-t0)
    for w, c in zip(law.widths.tolist(), law.counts.tolist(), strict=True):
        ahead += c * w / (1 + mp.exp(-tau * w))
    off = float(abs(mp.mpf(high) + low - log_mean(law.widths, law.counts, [tau], [t0])))
    assert abs(mp.fsum(lattice.shift) - ahead) <= 4e-16 * law.top
    assert abs(low) <= 2**-50 * abs(high)
    assert off <= error <= max(100 * off, 1e-14 * (1 + abs(high)))


@EACH_TAIL
def test_logarithms_of_tails(law, t0):
    """The exponent of tables, and p from the logarithms of cells, with errors of both."""
    tables = [([0, w], [1, 1], c) for w, c in zip(law.widths, law.counts.tolist(), strict=True)]
    coins = sum_of(tables)
    tilt = multinomial_sum._tilt_to(coins, t0)
    found, error = multinomial_sum._exponent(tilt, t0)
    found = mp.mpf(float(found)) + float(found - multinomial_sum.EXTENDED(float(found)))
    off = found - log_mean(law.widths, law.counts, [mp.mpf(tilt.tau)], [t0])
    assert holds(float(abs(off)), error, 1e-19)
    widths = np.repeat(law.widths, law.counts)
    asked = ask(widths, 0 * widths, alternative="greater")
    asked = replace(asked, observed_sums=(asked.law.offset + asked.law.unit * t0,))
    p, exact = _from_logs(asked), counted(law)(t0)
    assert relative_error(p, exact) <= p.error_bound
    each = convolution.log_cells(law)[1] + 5 * 2.0**-52 * abs(p.log)
    assert each <= p.error_bound <= 1.2 * each


@pytest.mark.parametrize("name", ["tail_sum", "add_up"])
def test_errors_of_sums_over_frequencies_are_errors_of_p(name, monkeypatch):
    right, law = getattr(tail_kernels, name), law_of(LAWS["scores"])

    def wrong(*args):
        total, _, *left = right(*args)
        return total * (1 - 1e-6), total * 1e-6, *left

    monkeypatch.setattr(tail_kernels, name, wrong)
    p = (tail.tail_in_numpy if name == "add_up" else tail_in_kernels)(law, 1600)
    assert relative_error(p, counted(law)(1600)) <= p.error_bound <= 1.1e-6


@EACH_TAIL
def test_frequencies_in_numpy(law, t0, monkeypatch):
    """In 40 digits; and those that are left out are small."""
    found = []
    monkeypatch.setattr(tail_kernels, "SMALL", 5.0)
    monkeypatch.setattr(tail_kernels, "add_up", lambda *args: found.append(args) or (1.0, 0.0))
    tail.tail_in_numpy(law, t0)
    log_phi, which, m, _, tau, _ = found[0]
    logs, errors = log_phi(np.arange(m // 2 + 1))
    assert np.delete(logs.real, which).max(initial=-9) <= -5
    for j in range(0, m // 2, m // 40 + 1):
        exact = tilted_phi(law.widths, law.counts, [tau], [2 * mp.pi * j / m], [t0])
        assert holds(float(abs(mp.exp(mp.mpc(logs[j])) / exact - 1)), errors[j], 1e-11)


@pytest.mark.parametrize("deviations", [0.5, 2, 4])
def test_characteristic_functions_of_draws(deviations):
    """Their errors, from angles next to 0 to some that go round the circle."""
    tables = [([0, 2, 7], [3, 1, 2], 20), ([0, 1], [1, 1], 3), ([0, 5, 6, 40], [1, 5, 2, 1], 7)]
    draws = [
        Draw((0, 0, 3, 4, 9), 2, 5),
        Draw((0, 1, 2, 8, 9, 20), 3, 2, -7),
        Draw((0, 6, 6), 2, 1),
    ]
    law = MultinomialSum.of([*sum_of(tables).draws, *draws])
    t0 = int(law.flat.mean + deviations * law.flat.variance**0.5)
    tilt, js, m = multinomial_sum._tilt_to(law, t0), np.array([1, 2, 5, 20, 50, 400]), 1001
    turns = np.exp(2j * multinomial_sum.PI / m * np.arange(m))
    ahead = -t0 - sum(int(block.lows @ block.counts) for block in law.blocks)
    found, errors = multinomial_sum._log_phi(tilt, ahead, m, turns, js)
    for j, log_phi, error in zip(js.tolist(), found.tolist(), errors.tolist(), strict=True):
        total = mp.expj(-2 * mp.pi * j * (t0 + law.offset) / m)
        for one in law.draws:
            odds = {x: w * mp.exp(mp.mpf(tilt.tau) * x) for x, w in one.table().items()}
            turned = mp.fsum(w * mp.expj(2 * mp.pi * j * x / m) for x, w in odds.items())
            total *= (turned / mp.fsum(odds.values())) ** one.times
        off = float(abs(mp.exp(mp.mpc(log_phi)) / total - 1))
        assert off <= error <= 1000 * off + 1e-13


@EACH_TAIL
@pytest.mark.parametrize(("slack", "outside", "lost"), [(0, 17.0, 1e-5), (3, 45.0, 0.0)])
def test_brackets_of_exact_means(law, t0, slack, outside, lost, monkeypatch):
    """Nothing keeps them apart but roundings, and what the lower one may lose to its period."""
    p = counted(law)
    tilted = bracket._Tilted(law, t0)
    tau = mp.mpf(tilted.tau) / tilted.largest  # the threshold is half a cell below t0
    scale = log_mean(law.widths, law.counts, [tau], [t0 - mp.mpf(0.5)])
    far, near = (mp.mpf(x.numerator) / x.denominator for x in (p(t0 + slack), p(t0 - slack)))

    def means(_, delta):
        moved = mp.exp(mp.mpf(tilted.tau) * delta)
        return float(far / mp.exp(scale) * moved), float(near / mp.exp(scale) / moved), 0.0

    monkeypatch.setattr(bracket, "OUTSIDE", outside)
    monkeypatch.setattr(bracket._Spectrum, "means", means)
    low, high = tilted.bounds(1e-5, slack)
    rounding = 3e-14 * law.n_informative
    assert 0 <= mp.log(far) - low.log <= rounding + lost
    assert 0 <= high.log - mp.log(near) <= rounding


@EACH_LAW
@pytest.mark.parametrize("phis", [bracket.phis, bracket._phis])
def test_characteristic_functions_of_brackets(law, phis):
    tilted, period, js = bracket._Tilted(law, int(law.top * 0.6) + 1), 20.0, np.arange(1, 100, 9)
    found, others = phis(js, period, tilted.widths, tilted.counts, tilted.beta)
    tau, middle = mp.mpf(tilted.tau) / tilted.largest, mp.mpf(law.top) / 2
    off = []
    for j, value in zip(js.tolist(), found, strict=True):
        theta = 2 * mp.pi * j / (tilted.largest * mp.mpf(period))
        exact = tilted_phi(law.widths, law.counts, [tau], [theta], [middle])
        off.append(float(abs(mp.mpc(value) - exact)))
    bounds = bracket._Spectrum(tilted, period)._rounding(js) * others
    assert np.all(off <= bounds)
    assert np.max(off / bounds) >= 1e-3


@pytest.mark.parametrize("off", [-1e-3, 1e-3])
def test_errors_of_frequencies_are_errors_of_a_bracket(off, monkeypatch):
    law, right = law_of(LAWS["scores"]), bracket.phis

    def wrong(*args):
        values, others = right(*args)
        return values * (1 + off), others

    monkeypatch.setattr(bracket, "phis", wrong)
    monkeypatch.setattr(bracket._Spectrum, "_rounding", lambda _, js: np.full(js.size, abs(off)))
    t0 = int(law.top * 0.52)
    low, high = bracket._Tilted(law, t0).bounds(1e-5, 0)
    assert low.value <= counted(law)(t0) <= high.value
    assert high.log - low.log <= 20 * abs(off)


@pytest.mark.parametrize("entries", [1, 60])
@pytest.mark.parametrize("cut", [2.0, 12.0])
@pytest.mark.parametrize("spread", [0.05, 0.9, 1.0])
def test_cosines_bound_a_characteristic_function(entries, cut, spread):
    """From below, at points of a grid and between two; closely somewhere, where all turn alike."""
    widths, counts = np.linspace(1.0, 0.4, entries)[::-1], np.full(entries, 120 // entries)
    some, zone = zone_of((widths, counts, np.full(entries, spread)), 3.0, 90.0, cut, 90.0)
    (a, b, c), step = zone.terms, zone.step
    theta = zone.start + step * np.add.outer(np.arange(zone.size), np.linspace(0, 1, 9))
    turns = np.multiply.outer(theta, zone.widths)
    bounds = a.sum() - np.cos(turns) @ b + np.cos(2 * turns) @ c
    sines = np.minimum(spread * np.sin(turns / 2) ** 2, 1 - 1e-16)
    above = -0.5 * np.log1p(-sines) @ counts[some] - bounds
    drops = np.minimum(bounds[:, 0], bounds[:, -1]) - bounds.min(axis=1)
    assert above.min() >= -1e-9
    assert drops.max() <= zone.slack <= max(bracket.SLACK, a.sum() / 3)
    if entries == 1:
        assert above.min() <= 1e-5
        assert zone.slack <= 4 * drops.max()


def tilted_plane(n=120):
    return ratio_tail._Tilted(event(*spans(n, 3, 0.1, 0.13)))


@pytest.mark.parametrize("length", [1, 2, 9])
def test_weights_in_blocks_of_rows(length, monkeypatch):
    """Misses go by twelves in each row, so that a row may have more than both ends of a block."""
    ones, wide, same = [(1, 1)] * 80, [(0, 12)] * 40, [(9, 1)] * 20
    law = ratio_tail._Tilted(event(ones + [(0, 0)] * 40 + same, [(0, 0)] * 80 + wide + same))
    region, tilt = law.region, np.linalg.solve(law.frame[1:], law.tau)
    first = np.arange(0, region.starts.size, length)
    monkeypatch.setattr(ratio_tail, "OTHERS", ())
    monkeypatch.setattr(law, "log_mass", lambda *_: 0.0)
    monkeypatch.setattr(law, "_cumulants", lambda _: (0.0,))
    bounds = law._bounds(region.first + first, region.starts[first])
    bounds += tilt @ law.frame[0] + law.tau @ region.origin
    off = (bounds - np.maximum.reduceat(region.heights, first))[1:-1]
    most = 12 * abs(tilt[1]) + length * np.abs(tilt * law.frame[2]).sum() if length > 1 else 0
    assert -1e-12 <= off.min() <= off.max() <= most + 1e-10


def test_what_frequencies_of_a_plane_leave_out():
    law, m, cut = tilted_plane(), np.array([45, 63]), 12.0
    points, rest = ratio_tail._Phi(law, m).search(cut, 1e9)
    every = np.array([(s, r) for s in range(23) for r in range(-31, 32) if s > 0 or r > 0])
    spread = 4 * law.q * (1 - law.q)
    sizes = sizes_of(spread, np.pi * (every / m) @ law.moves.T, law.counts)
    taken = {tuple(point) for point in points.tolist()}
    left_out = np.array([tuple(point) not in taken for point in every.tolist()])
    assert left_out.any()
    assert sizes[left_out].max() <= exp(-cut)
    assert 2 * sizes[left_out].sum() <= rest <= 2 * left_out.sum() * exp(-cut)
    assert points[0].tolist() == [0, 0]
    assert len(taken) == len(points) <= 3 * np.sum(sizes > exp(-2 * cut)) + 3


def test_roundings_of_frequencies_of_a_plane():
    law, m = tilted_plane(), np.array([45, 63])
    origin = law.region.origin.tolist()
    points = np.array([(0, 0), (0, 1), (1, 0), (2, -3), (22, 31), (17, -20)])
    values, errors = ratio_tail._Phi(law, m).at(points)
    off = []
    for (j_s, j_r), found in zip(points.tolist(), values, strict=True):
        theta = [2 * mp.pi * j_s / 45, 2 * mp.pi * j_r / 63]
        exact = tilted_phi(law.steps, law.counts, law.tau.tolist(), theta, origin)
        off.append(float(abs(exact - mp.mpc(found))))
    assert holds(off, errors)


@pytest.mark.parametrize("second", [0.13, 0.4])
def test_the_scale_and_the_bound_of_a_plane(second):
    """K(tau) - tau t0 in 40 digits, and the bound on rows that do not matter."""
    u, v = spans(40, 5, 0.1, second)
    law = ratio_tail._Tilted(event(u, v))
    origin = law.region.origin
    high, low, error = law._log_scale(origin)
    tau = [*map(mp.mpf, law.tau.tolist())]
    off = float(abs(mp.mpf(high) + low - log_mean(law.steps, law.counts, tau, origin.tolist())))
    assert off <= error <= max(100 * off, 1e-14 * (1 + abs(high)))
    (a, _), _, (b, _) = law.exact_frame
    _, rows, (rest, every) = law.find_rows(2.0)
    beyond = {x: n for x, n in joint_counts(u, v).items() if law.event.reached(*x)}
    left_out = sum(n for (hits, _), n in beyond.items() if (hits - a) // b not in rows)
    assert 0 < left_out <= exp(rest) * 2**40 <= 2 * sum(beyond.values()) <= exp(every) * 2**41


def test_mass_of_a_plane_that_is_left_out():
    """On either side of the means, against all cells."""
    law = tilted_plane(40)
    table, lows, *_, lost, rounding = ratio_tail._cells(law, 1e-300)
    assert lost < 1e-280
    assert rounding < 1e-12
    for axis, low in enumerate(lows):
        one = table.sum(axis=axis) / table.sum()
        values, mean = low + np.arange(one.size), float(law.means[axis])
        for x in (0.5, 3.0, 20.0):
            bound = float(np.exp(law.log_mass(axis, x)))
            for side in (one[values >= mean + x], one[values <= mean - x]):
                assert side.sum() <= bound * (1 + 1e-12) <= 1 + 1e-12
        least, most = law.window(axis, 5.0)
        assert one[(values < least) | (values > most)].sum() <= 2 * exp(-5)


@pytest.mark.parametrize("room", [5, 60, 10**6])
def test_frequencies_that_a_bracket_leaves_out(room, monkeypatch):
    """Of two hundred points, by blocks of 64; sixty intervals are found in the second."""
    monkeypatch.setattr(bracket, "TOGETHER", 1)
    widths, cut, period = np.sort(np.random.default_rng(0).random(12)), 3.0, 400.0
    widths, counts, rho = widths / widths[-1], np.ones(12), np.full(12, 0.9)
    _, zone = zone_of((widths, counts, rho), 3.0, 200.0, cut, 2 * cut)
    found, bound, seen = bracket._scan(zone, period, cut, room)
    js = np.arange(1, 13_000)
    theta = 2 * np.pi * js / period
    end = zone.start + seen * zone.step
    inside = (theta >= zone.start + 1e-9) & (theta <= end - 1e-9)
    sizes = sizes_of(rho, np.outer(theta, widths) / 2, counts)
    taken = taken_of(bracket._apart(found, 1, js.size), js.size)
    assert (seen < zone.size) == (len(found) == room)
    assert (seen > 64) == (room > 5)
    left_out = inside & ~taken
    assert left_out.any()
    assert sizes[left_out].max() <= exp(-cut)
    most = np.sum(2 * exp(-cut) / js[theta >= zone.start])
    assert np.sum(sizes[left_out] / js[left_out]) <= bound <= most
    assert np.sum(taken) <= 0.9 * inside.sum()


def test_peaks_of_a_long_lattice_that_are_left_out():
    """All widths are even, so that there is a peak at the last frequency too."""
    law, cut = law_of(np.append(RNG.integers(1, 51, 12), 50)), 3.0
    widths = 2 * law.widths
    tilted = tail_kernels.TiltedLaw(widths, law.counts, tail_kernels.tilt_of(0.01, widths))
    for m in range(256, 700, 8):
        ranges, rests = zip(*bracket.peaks(tilted, m, cut, 1e9), strict=True)
        js, rest = np.arange(1, m // 2 + 1), sum(rests)
        sizes = sizes_of(tilted.tilt[2], np.pi * np.outer(js, widths) / m, law.counts)
        taken = taken_of(np.concatenate(ranges), js.size)
        assert sizes[~taken].max(initial=0) <= exp(-cut)
        assert sizes[~taken].sum() <= rest <= 4 * js.size * exp(-cut)
        assert taken.sum() <= 0.9 * js.size


# ---- truncation so crude that it shows ---------------------------------------------------------


def covered(pairs, most):
    """Bounds cover errors that show that something was left out, and are `most` at most."""
    errors, bounds = np.array(pairs).T
    assert np.all(errors <= bounds)
    assert errors.max() > 1e-12
    assert bounds.max() <= most


@pytest.mark.parametrize("crude", [5.0, 8.0])
@pytest.mark.parametrize("what", ["region", "window", "frequencies"])
def test_crude_tails_of_a_plane_are_within_their_bounds(what, crude, monkeypatch):
    """Each kind of truncation by itself; the window of cells is what they leave out."""
    search, cut = ratio_tail._Phi.search, crude if what == "frequencies" else 60.0
    monkeypatch.setattr(ratio_tail._Phi, "search", lambda phi, _, work: search(phi, cut, work))
    found = []
    for seed in range(8):
        u, v = np.random.default_rng(seed).integers(0, 4, (2, 40, 2))
        seen = event(u, v) if event(u, v).least >= 0 else event(v, u)
        tilted, exact = ratio_tail._Tilted(seen), counted_plane(seen, u.tolist(), v.tolist())
        monkeypatch.setattr(ratio_tail, "OUTSIDE", crude if what == "region" else 42.0)
        assert tilted.region.rest < 1  # it is kept from now on
        monkeypatch.setattr(ratio_tail, "OUTSIDE", crude if what == "window" else 42.0)
        ways = ratio_tail.by_frequencies, ratio_tail.by_cells
        for p in (way(tilted) for way in ways[: 1 if what == "frequencies" else 2]):
            found.append((relative_error(p, exact), p.error_bound))
    covered(found, 600 * exp(-crude))


def test_errors_of_frequencies_are_errors_of_the_tail(monkeypatch):
    right = ratio_tail._Phi.at

    def wrong(self, *args):
        values, _ = right(self, *args)
        return values * (1 + 1e-7), 1e-7 * np.abs(values)

    law = tilted_plane(40)
    exact = ratio_tail.by_frequencies(law)
    monkeypatch.setattr(ratio_tail._Phi, "at", wrong)
    found = ratio_tail.by_frequencies(law)
    assert 0.99e-7 < found.value / exact.value - 1 <= found.error_bound < 1e-5


@pytest.mark.parametrize("error", [0.0, 1e-9])
def test_errors_of_frequencies_are_noise_of_a_window(error, monkeypatch):
    """None, so that what a transform rounds is left, or far more."""
    lattice = LatticeSum.of(RNG.integers(0, 3, (60, 2)), np.zeros((60, 2), dtype=int))
    exact, right = box_law(lattice), several._fair_product

    def wrong(*args):
        values, _ = right(*args)
        off = error * values * RNG.standard_normal(values.shape)
        return values + off, float(np.sum(off**2))

    monkeypatch.setattr(several, "_fair_product", wrong)
    found = box_law(lattice)
    off = np.abs(found.cells - exact.cells)
    assert off.max() <= found.noise <= max(100 * off.max(), 1e-15)
    assert found.noise > 1e-20


def test_what_a_window_leaves_out(monkeypatch):
    monkeypatch.setattr(several, "OUTSIDE", 2.0)
    lattice = LatticeSum.of(RNG.integers(0, 3, (60, 2)), np.zeros((60, 2), dtype=int))
    box = box_law(lattice)
    inside = in_window(lattice, box).sum()
    assert 1e-9 < 1 - inside <= box.outside <= 4.001 * exp(-2.0)


@pytest.mark.parametrize("crude", [7.0, 11.0])
@pytest.mark.parametrize("what", ["window", "frequencies"])
def test_crude_tails_of_many_points_are_within_their_bounds(what, crude, monkeypatch):
    search, (outer, inner) = multinomial_sum._frequencies, (46.0, crude)
    if what == "window":
        inner, outer = outer, inner

    def frequencies(*args):
        monkeypatch.setattr(multinomial_sum, "CUT", inner)
        found = search(*args)
        monkeypatch.setattr(multinomial_sum, "CUT", outer)
        return found

    monkeypatch.setattr(multinomial_sum, "CUT", outer)
    monkeypatch.setattr(multinomial_sum, "_frequencies", frequencies)
    found = []
    for n in (20, 60, 200):
        tables = [(sorted({0, int(RNG.integers(3, 9)), 2}), [3, 1, 2], n), ([0, 1], [1, 1], 3)]
        law = sum_of(tables)
        for deviations in (0.2, 2, 4):
            t0 = int(law.flat.mean + deviations * law.flat.variance**0.5)
            p = multinomial_sum._inverted(law, t0)
            found.append((relative_error(p, law.tail_fraction(t0)), p.error_bound))
    covered(found, 300 * exp(-crude))


@pytest.mark.parametrize("kind", ["scores", "giant"])
@pytest.mark.parametrize("share", [0.52, 0.6])
def test_crude_tails_of_a_law_are_within_their_bounds(kind, share):
    """Frequencies that are small, or in no range, are left out of a sum."""
    law, t0 = tail_of(kind, share)
    tilted, lattice = tail_kernels.tilt_towards(law.widths, law.counts, law.top, t0)
    half, whole = lattice.m // 2, [[1, lattice.m // 2]]
    exact, error, _ = tail_kernels.tail_sum(tilted, lattice, 10**9, np.array(whole), np.zeros(5))
    assert error <= 1e-12 * exact
    largest, _ = tail_kernels.geometric(0, lattice.m, lattice.tau, lattice.cells)
    last = half // 40
    js = np.arange(last + 1, half + 1)
    logs = [tail_kernels.phi(j, lattice.m, lattice.shift, 700.0, tilted)[0] for j in js.tolist()]
    left_out = sum(map(exp, logs))
    for cut, ranges, rest in ((4.0, whole, 0), (7.0, whole, 0), (45.0, [[1, last]], left_out)):
        crude, record = lattice._replace(cut=cut), np.append(rest, np.zeros(4))
        value, bound, _ = tail_kernels.tail_sum(tilted, crude, 10**9, np.array(ranges), record)
        assert abs(value - exact) <= bound <= largest * (exp(-cut) + 2.001 * rest / lattice.m)
        assert abs(value - exact) > 1e-12 * exact


@pytest.mark.parametrize(
    ("what", "crude", "width", "most"),
    [("OUTSIDE", 5.0, 1e-4, 0.4), ("OUTSIDE", 9.0, 1e-4, 0.01), ("SMALL", 2.0, 1e-6, 0.01)],
)
def test_crude_brackets_contain_p(what, crude, width, most, monkeypatch):
    """They pay for what a short period loses, and for the end of the peak of |phi|."""
    monkeypatch.setattr(bracket, what, crude)
    apart = []
    for kind in ("scores", "uneven"):
        law = law_of(LAWS[kind])
        cells = dp_cells(law)
        for deviations in (0.05, 0.5, 2, 4):
            t0 = int(law.top / 2 + deviations * law.deviation)
            low, high = bracket._Tilted(law, t0).bounds(width, 0)
            assert low.value <= cells[t0:].sum() <= high.value
            apart.append(high.log - low.log)
    assert 2 * width < max(apart) < most


def test_bounds_of_frequencies_allow_for_rounded_angles():
    """Of a width next to 2^40: to a turn its angles have four digits left."""
    m, js, widths = 1000, np.arange(1, 501), np.array([2**40 + 7])
    law = tail_kernels.TiltedLaw(widths, np.array([1]), tail_kernels.tilt_of(1e-14, widths))
    squares = [tail_kernels.square_bound(j, j, m, 0.0, law)[0] for j in js.tolist()]
    sizes = sizes_of(law.tilt[2], np.pi / m * (np.outer(js, widths) % m), law.counts)
    assert np.all(np.sqrt(squares) >= sizes)


def test_what_frequencies_of_draws_leave_out(monkeypatch):
    """All but one, under a tilt so strong that all are of one size."""
    monkeypatch.setattr(multinomial_sum, "CUT", 0.0)
    monkeypatch.setattr(multinomial_sum, "FEW", 0)
    tilt = multinomial_sum._tilted(sum_of([([0, 1], [1, 1], 60)]), 20.0)
    turns = np.exp(2j * np.pi / 61 * np.arange(61))
    which, left_out = multinomial_sum._frequencies(tilt, 61, turns)
    assert which.tolist() == [0]
    assert 60 / 61 - 1e-6 <= left_out <= 1.1


def test_a_bracket_covers_the_errors_of_its_ends():
    found = _between(Probability.of(0.002, 1e-5), Probability.of(0.004, 1e-4))
    assert 0.004 * (1 + 1e-4) <= found.value <= 0.004 * (1 + 1.01e-4)
    assert 0.002 * (1 - 1.1e-5) <= found.value / (1 + found.error_bound) <= 0.002 * (1 - 1e-5)
    for other in (0.1, 0.3):  # a sum is rounded, unless both are the same
        both = Probability.of(0.3, 0.0).plus(Probability.of(other, 0.0))
        off = abs(Fraction(both.value) / (Fraction(0.3) + Fraction(other)) - 1)
        assert off <= both.error_bound <= (other != 0.3) * 2.0**-52
    for n in range(2, 990, 13):  # logarithms are rounded too
        found = _between(*(Probability.of_ratio(count, 2**n) for count in (1, 3)))
        low = Fraction(found.value) / (1 + Fraction(found.error_bound)) * 2**n
        assert 1 - 1e-12 <= low <= 1
