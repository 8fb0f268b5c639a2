"""Simulated power against closed forms, and exact power against enumeration."""

import json
import tracemalloc
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

import permtest as pt
from benchmarks import power_curves
from permtest._rng import seeds, stream
from permtest.alternatives.sample import PairedSample
from permtest.study import discordant_power, simulation
from permtest.study.cells import Cells
from permtest.study.discordant_power import exact_power, exact_power_n
from permtest.study.laws import law_pvalues
from permtest.study.power import PowerCurve, power_at, power_curve, power_curve_normal
from permtest.study.row_tests import MCNEMAR, TESTS
from permtest.study.sources import OF_MEANS, Plan, Resampled

RNG = np.random.default_rng(7)
A, B = RNG.poisson(4, 60), RNG.poisson(3.4, 60)
RIGHT = np.repeat([[1, 0], [0, 1], [1, 1]], [15, 10, 75], axis=0).T  # p_b = .15, p_c = .1


def five_errors(share: float, experiments: int = 2000) -> float:
    return 5 * (share * (1 - share) / experiments) ** 0.5 + 1e-9


# ---- curves ------------------------------------------------------------------------------------


def test_sizes_are_even_as_in_the_manual():
    a = np.arange(100) % 3
    curve = power_curve(a, 1 - a, sizes=5, experiments=10, rng=0)
    assert curve.sizes == (20, 40, 60, 80, 100)
    assert power_curve(a, 1 - a, sizes=[300, 7, 7], experiments=10, rng=0).sizes == (7, 300)
    assert power_curve(a[:5], a[5:10], experiments=10, rng=0).sizes == (2, 3, 4, 5)
    assert power_curve([1], [0], experiments=10, rng=0).sizes == (1,)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_exact_test_of_answers_has_its_exact_power(alternative):
    curve = power_curve(*RIGHT, sizes=[50, 200, 800], alternative=alternative, rng=0)
    for size, found in zip(curve.sizes, curve.power, strict=True):
        exact = exact_power(0.15, 0.1, size, alternative=alternative)
        assert abs(found - exact) < five_errors(exact)


@pytest.mark.parametrize("test", ["sign", "mcnemar", "mcnemar_midp", "mcnemar_chi2", "wilcoxon"])
def test_other_tests_of_answers_have_theirs(test):
    curve = power_curve(*RIGHT, sizes=[60, 240], test=test, rng=0)
    for size, found in zip(curve.sizes, curve.power, strict=True):
        exact = exact_power(0.15, 0.1, size, test="mcnemar" if test == "wilcoxon" else test)
        assert abs(found - exact) < five_errors(exact)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_t_tests_of_normal_differences_have_the_power_of_noncentral_t(alternative):
    options = {"sizes": [10, 40, 100], "alternative": alternative, "rng": 0}
    curve = power_curve_normal(0.15, 0.5, test="paired_t", **options)
    side = {"two-sided": "two-sided", "greater": "larger"}[alternative]
    exact = power_curve_normal(0.15, 0.5, test="exact", **options)
    for i, size in enumerate(curve.sizes):
        expected = TTestPower().power(0.3, size, 0.05, alternative=side)
        assert abs(curve.power[i] - expected) < five_errors(expected)
        assert abs(exact.power[i] - expected) < five_errors(expected) + 0.02  # nearly as powerful


def test_resampled_means_have_the_power_of_a_normal_law():
    """At size, the power of exact and t is that of z with the sample's mean and deviation."""
    from scipy.special import ndtr

    d = A - B
    expected = ndtr(d.mean() / d.std() * np.sqrt(400) - 1.96)
    for test in ("exact", "paired_t", "normal_z"):
        (found,) = power_curve(A, B, test=test, sizes=[400], rng=1).power
        assert abs(found - expected) < five_errors(expected) + 0.01
    (normal,) = power_curve(A, B, method="normal", sizes=[400], rng=1).power
    assert abs(normal - expected) < five_errors(expected) + 0.01


SKEWED = np.random.default_rng(4).exponential(size=400).round(2)


@pytest.mark.parametrize("test", OF_MEANS)
def test_a_shift_sets_the_true_difference(test):
    """Of skewed differences too, as all these tests are about the mean, if n is not small."""
    options = {"test": test, "sizes": [60], "rng": 0, "K": 200}
    options["experiments"] = 100 if test == "paired_bootstrap" else 2000
    null = power_curve(SKEWED, 0 * SKEWED, delta=0, **options)
    assert null.delta == 0
    assert null.power[0] < 0.05 + five_errors(0.05, options["experiments"]) + 0.02
    same = power_curve(A, B, delta=float((A - B).mean()), **options)
    (expected,) = power_curve(A, B, **options | {"rng": 1}).power
    assert abs(same.power[0] - expected) < 2 * five_errors(expected, options["experiments"])


@pytest.mark.parametrize("test", [test for test in TESTS if test not in OF_MEANS])
@pytest.mark.parametrize("method", ["bootstrap", "normal"])
def test_a_shift_of_the_mean_is_not_for_tests_of_something_else(test, method):
    with pytest.raises(ValueError, match=f"delta sets the mean .* but test='{test}' is not about"):
        power_curve(*RIGHT, test=test, delta=0, method=method)


def test_functions_may_be_tests_of_shifted_scores():
    def always(u, v):
        return float(np.mean(u - v) < 7)

    curve = power_curve(A, B, test=always, delta=10, sizes=[40], experiments=5, rng=0)
    assert (curve.test, curve.power) == ("always", (1,))


def test_a_shift_of_half_a_point_is_exact_and_others_are_rounded():
    a, b = [1, 2, 3, 6], [1, 1, 1, 1]  # mean 2
    assert power_curve(a, b, delta=0.5, sizes=[4], experiments=5, rng=0).rounded == 0
    fine = power_curve(a, b, delta=0.12345, sizes=[4], experiments=5, rng=0)
    assert fine.rounded == pytest.approx(np.std([0, 1, 2, 5]) / 8)


def test_rounding_keeps_the_mean():
    cells = Cells.of(np.array([-7, 1, 30_011]), np.array([3, 4, 2]), 10, None)
    values = cells.values * cells.rounded
    d = np.repeat([-0.7, 0.1, 3001.1], [3, 4, 2])
    assert cells.shares @ values == pytest.approx(d.mean(), rel=1e-12)
    variance = cells.shares @ values**2 - (cells.shares @ values) ** 2
    assert d.var() < variance <= d.var() + cells.rounded**2 / 4


def test_the_level_of_exact_tests_holds_under_the_null():
    """Differences that are symmetric about 0."""
    d = np.array([-5, -2, -1, -1, 0, 0, 1, 1, 2, 5])
    for test in ("exact", "sign", "wilcoxon"):
        for found in power_curve(d, 0 * d, test=test, sizes=[5, 12, 40], rng=2).power:
            assert found < 0.05 + five_errors(0.05)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2, 0.6])
def test_bounds_of_p_decide_as_p_does(alternative, alpha):
    """They are bounds, and on the same side of the level as p, which is 2^-k for k equal ones."""
    rng = np.random.default_rng(3)
    for values in ([-3, -1, 0, 1, 2], [1], [-2, 2]):
        cells = Cells(np.array(values), np.full(len(values), 1 / len(values)), 0.0)
        for n in (1, 2, 4, 9, 40):
            counts = rng.multinomial(n, cells.shares, size=400)
            bounds, unknown = cells.bounds(counts, alpha, alternative)
            p = law_pvalues(cells.values, counts, alternative)
            np.testing.assert_array_equal((bounds <= alpha)[~unknown], (p <= alpha)[~unknown])
            assert (bounds >= p * (1 - 1e-12))[~unknown & (bounds <= alpha)].all()
            assert (bounds <= p * (1 + 1e-12))[~unknown & (bounds > alpha)].all()


def test_both_ways_of_resampling_agree():
    """How often each difference occurs, or which items: the same law of p."""
    by_counts = power_curve(A, B, sizes=[30, 90], rng=0)
    by_items = power_curve(
        A, B, test=lambda u, v: pt.exact_perm_test(u, v).pvalue, sizes=[30], experiments=500, rng=0
    )
    assert by_items.power[0] == pytest.approx(by_counts.power[0], abs=five_errors(0.5, 500))
    function = power_curve(
        None,
        method=lambda rng, k, n: (A[i := rng.integers(60, size=(k, n))], B[i]),
        sizes=[30, 90],
        rng=0,
    )
    assert function.method == "<lambda>"
    assert function.delta is None
    assert function.power == pytest.approx(by_counts.power, abs=2 * five_errors(0.4))


@pytest.mark.parametrize("test", ["independent_t", "bootstrap_mean", "permutation_median"])
def test_every_test_has_a_curve(test):
    curve = power_curve(A, B, test=test, sizes=[8], experiments=20, rng=0, K=50)
    assert curve.test == test
    assert 0 <= curve.power[0] <= 1


def test_curves_are_reproducible():
    first, again, other = (power_curve(A, B, sizes=3, rng=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_extreme_data():
    assert power_curve([3], [1], sizes=[1, 5, 6], experiments=9, rng=0).power == (0, 0, 1)
    ties = power_curve([2, 2, 2], [2, 2, 2], sizes=3, experiments=9, rng=0)
    assert set(ties.power) == {0}
    decimals = power_curve([0.3, 0.5, 0.9], [0.1, 0.3, 0.7], sizes=[4, 6], experiments=9, rng=0)
    assert decimals.power == (0, 1)
    assert decimals.delta == 0.2
    huge = power_curve([10**30, 5], [0, 5 - 10**30], sizes=[3, 8], experiments=9, rng=0)
    assert huge.power == (0, 1)
    for test in ("paired_t", "wilcoxon", "sign"):
        found = power_curve([10**30, 5], [0, 4], test=test, sizes=[4], experiments=9, rng=0)
        assert 0 <= found.power[0] <= 1
    real = power_curve([0.1234567, 2.7182818, 3.1415926], [0, 0, 0], sizes=[8], rng=0)
    assert real.power[0] > 0.95  # where small ones are rounded to 0, p can be 1/16


@pytest.mark.parametrize("test", ["exact", "sign", "wilcoxon", "independent_t"])
def test_samples_are_drawn_some_at_a_time(test, monkeypatch):
    """Each part has its own random numbers, and all of them count."""
    monkeypatch.setattr(simulation, "AT_ONCE", 64)
    curve = power_curve(A, B, test=test, sizes=[7, 20], experiments=50, rng=3)
    plan = Plan.of(test, 50, 0.05, "two-sided", 1000)
    sampler = Resampled(PairedSample.of(A, B), None).sampler(plan)
    origin = seeds(np.random.default_rng(3))
    for i, (n, power) in enumerate(zip(curve.sizes, curve.power, strict=True)):
        parts = enumerate(sampler.parts(50, n))
        streams = [(stream(origin, i, number), part) for number, part in parts]
        assert len(streams) > 1
        found = [sampler.rejected(rng, part, n, 0.05, "two-sided") for rng, part in streams]
        assert sum(found) == round(50 * power)
    assert len(simulation.portions(50, 20)) == 17
    assert sum(simulation.portions(50, 20)) == 50
    monkeypatch.setattr(simulation, "AT_ONCE", 10**6)
    assert simulation.portions(2200, 20) == [1000, 1000, 200]  # for several workers
    for slow in ("paired_bootstrap", max):
        assert simulation.portions(220, 20, "exact", slow) == [100, 100, 20]


def test_large_samples_take_little_memory():
    """A table of all counts would take 320 MB."""
    tracemalloc.start()
    power_at(np.arange(-999, 1001), 10**9, experiments=20_000, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_a_mean_far_from_0_is_found_by_six_pairs():
    assert power_curve_normal(1e300, 1, sizes=[5, 6], experiments=3).power == (0, 1)
    assert power_curve_normal(-1e12, 1, sizes=[6], experiments=3, alternative="greater").power == (
        0,
    )


# ---- what a curve tells ------------------------------------------------------------------------


def curve_of(*shares: float) -> PowerCurve:
    sizes = tuple(100 * (i + 1) for i in range(len(shares)))
    ends = tuple((max(x - 0.02, 0), min(x + 0.02, 1)) for x in shares)
    return PowerCurve(sizes, shares, ends, "exact", 0.05, "two-sided", 2000, "bootstrap", 0.5)


def test_needed_reads_off_a_curve_that_never_falls():
    curve = curve_of(0.3, 0.7, 0.6, 0.85)
    assert curve.smoothed == pytest.approx((0.3, 0.65, 0.65, 0.85))
    assert curve.needed(0.75) == 350
    assert curve.needed(0.649) == 200
    assert curve.needed(0.2) == 100
    assert curve.needed(0.9) is None
    with pytest.raises(ValueError, match="power must lie"):
        curve.needed(80)


def test_needed_is_near_the_exact_size():
    curve = power_curve(*RIGHT, sizes=[*range(500, 1200, 100)], rng=0)
    assert curve.needed(0.8) == pytest.approx(exact_power_n(0.15, 0.1, 0.8), rel=0.07)


def test_a_curve_can_be_read():
    curve = curve_of(0.3, 0.85)
    assert str(curve) == (
        "With 200 pairs the power of the exact permutation test of the mean is 0.850 (95% interval "
        "0.830 to 0.870; alpha = 0.05, two-sided, 2000 samples by bootstrap). A power of 80% takes "
        "about 191 pairs."
    )
    assert str(curve_of(0.3)).endswith("No size here has a power of 80%.")
    assert str(curve_of(0.9)).endswith("A power of 80% takes no more than 100 pairs.")
    assert json.loads(curve.to_json())["intervals"] == [[0.3 - 0.02, 0.3 + 0.02], [0.83, 0.87]]
    frame = curve.to_frame()
    assert list(frame.columns) == ["size", "power", "low", "high"]
    assert frame["power"].tolist() == [0.3, 0.85]
    assert curve._repr_html_().count("<tr>") == 3


# ---- one size, for sliders ---------------------------------------------------------------------


def test_power_at_a_size():
    values, counts = [-1, 0, 1], [10, 75, 15]
    exact = exact_power(0.15, 0.1, 500)
    found = power_at(values, 500, counts=counts, rng=0)
    assert abs(found - exact) < five_errors(exact)
    d = np.repeat(values, counts)
    assert power_at(d, 500, rng=0) == pytest.approx(found, abs=2 * five_errors(exact))
    assert power_at(d, 500, delta=0, rng=0) < 0.05 + five_errors(0.05)
    assert power_at(values, 10**6, counts=counts, rng=0) == 1
    assert power_at([0.5, -0.25], 40, counts=[3, 1], rng=0) > 0.9


# ---- without simulation ------------------------------------------------------------------------


def enumerated(p_b: float, p_c: float, n: int, alpha: float, alternative: str) -> float:
    """Power of the exact test from all b and c, in fractions."""
    b_share, c_share, level = (Fraction(str(x)) for x in (p_b, p_c, alpha))
    total = Fraction(0)
    for b in range(n + 1):
        for c in range(n + 1 - b):
            k = {"two-sided": min(b, c), "greater": c, "less": b}[alternative]
            tail = Fraction(sum(comb(b + c, i) for i in range(k + 1)), 2 ** (b + c))
            if min(2 * tail if alternative == "two-sided" else tail, 1) <= level:
                rest = (1 - b_share - c_share) ** (n - b - c)
                total += comb(n, b) * comb(n - b, c) * b_share**b * c_share**c * rest
    return float(total)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("alpha", [0.05, 0.0625, 0.5, 0.9])
def test_exact_power_is_the_enumerated_one(alternative, alpha):
    for n in (1, 6, 17):
        for p_b, p_c in ((0.3, 0.1), (0.5, 0.5), (0, 0.4), (1, 0), (0, 0)):
            found = exact_power(p_b, p_c, n, alpha=alpha, alternative=alternative)
            expected = enumerated(p_b, p_c, n, alpha, alternative)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("test", MCNEMAR)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_exact_power_sums_what_a_test_rejects(test, alternative):
    """All b and c, with the p-values of the rows."""
    from scipy.stats import multinomial

    from permtest.alternatives.tails import mcnemar_pvalue

    n, shares = 14, (0.5, 0.2, 0.3)
    b, c = (x.ravel() for x in np.mgrid[: n + 1, : n + 1])
    b, c = b[there := b + c <= n], c[there]
    for alpha in (0.01, 0.1, 0.6):
        rejected = mcnemar_pvalue(b, c, MCNEMAR[test], alternative) <= alpha
        chances = multinomial.pmf(np.stack([b, c, n - b - c], axis=1), n, shares)
        found = exact_power(*shares[:2], n, test=test, alternative=alternative, alpha=alpha)
        assert found == pytest.approx(chances[rejected].sum(), abs=1e-12)


def test_the_mass_that_exact_power_leaves_out_is_small():
    """With level just below 1, all but the most balanced numbers reject: the sum is their mass."""
    always = exact_power(0.2, 0.1, 100_000, alpha=0.999999)
    assert always == pytest.approx(1, abs=1e-12)


def test_exact_power_is_summed_some_at_a_time(monkeypatch):
    whole = exact_power(0.15, 0.1, 3000)
    monkeypatch.setattr(discordant_power, "AT_ONCE", 7)
    assert exact_power(0.15, 0.1, 3000) == pytest.approx(whole, rel=1e-13)


@pytest.mark.parametrize("chances", [(0.6, 0.4), (0.3, 0.05), (0.75, 0.25), (0.1, 0.02)])
def test_the_size_for_a_power_is_the_one_that_a_full_search_finds(chances):
    target = 0.8
    powers = [exact_power(*chances, n) for n in range(1, 500)]
    enough = np.array(powers) >= target
    assert exact_power_n(*chances, target, first=True) == int(np.argmax(enough)) + 1
    assert exact_power_n(*chances, target) == int(np.flatnonzero(~enough)[-1]) + 2


def test_sizes_of_one_sided_and_other_tests():
    less = exact_power_n(0.1, 0.15, alternative="less")
    assert less == exact_power_n(0.15, 0.1, alternative="greater") < exact_power_n(0.15, 0.1)
    assert exact_power_n(0.15, 0.1, test="mcnemar_midp") < exact_power_n(0.15, 0.1)


# ---- speed -------------------------------------------------------------------------------------


def test_a_power_curve_is_measured_beside_the_t_test():
    """Generous by a factor of about five, so that only a real loss of speed fails."""
    section = power_curves.run(1000, 5, 400)
    assert section.failures == []
    (ratio,) = power_curves.ratios(section, 1000).values()
    assert ratio < 20
    times = section.data["times"]
    assert times["exact"] < times["one by one"]
    assert "| exact, by counts" in section.text


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"test": "t"}, ValueError, "test='t' is not known; choose one of 'exact', "),
        ({"sizes": []}, ValueError, "sizes is empty"),
        ({"sizes": [3, 0]}, ValueError, r"sizes\[1\]=0 must be at least 1"),
        ({"sizes": 2.5}, TypeError, "sizes = 2.5 must be a whole number"),
        ({"experiments": 0}, ValueError, "experiments=0 must be at least 1"),
        ({"alpha": 0}, ValueError, r"alpha must lie in \(0, 1\), got 0"),
        ({"alternative": "x"}, ValueError, "alternative='x' is not known"),
        ({"method": "jackknife"}, ValueError, "method='jackknife' must be 'bootstrap', 'normal'"),
        ({"delta": "x"}, TypeError, "delta='x' must be a number"),
        ({"sizes": 10**8}, ValueError, "sizes=100000000 is more than 1,000: list the size"),
        ({"sizes": range(1, 2000)}, ValueError, "sizes has 1999 elements, more than 1,000"),
        ({"sizes": [10**20]}, ValueError, r"sizes\[0\] = 1"),
        ({"sizes": [10**12]}, ValueError, r"sizes\[0\]=1\d* is more than 1,000,000,000: a simul"),
        ({"sizes": [9, 10**8], "test": "wilcoxon"}, ValueError, r"sizes\[1\]=1.* than 10,000,000"),
        ({"sizes": "some"}, TypeError, r"sizes\[0\] = 's' must be a whole number"),
        ({"sizes": None}, TypeError, "sizes = None must be a whole number"),
        ({"experiments": 10**7}, ValueError, "experiments=10000000 is more than 1,000,000: "),
        ({"experiments": "x"}, TypeError, "experiments = 'x' must be a whole number"),
        ({"alpha": "x"}, TypeError, "alpha='x' must be a number"),
        ({"K": 0}, ValueError, "K = 0 samples; from 1"),
        ({"test": ["exact"]}, ValueError, r"test=\['exact'\] is not known"),
        ({"test": "mcnemar"}, ValueError, r"a\[\d+\] = \d, but test='mcnemar' needs scores that"),
        ({"test": "mcnemar", "method": "normal"}, ValueError, "normal differences are not; use"),
        ({"b": B[:5]}, ValueError, "a has 60 entries and b has 5"),
        ({"b": A, "method": "normal"}, ValueError, "the differences are all equal"),
        ({"method": lambda *_: None, "delta": 1}, ValueError, "delta is for samples"),
    ],
)
def test_errors_of_curves(options, error, message):
    with pytest.raises(error, match=message):
        power_curve(A, **{"b": B, "experiments": 4, **options})


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: power_curve_normal(1, 0, 5), ValueError, "sigma=0 must be above 0"),
        (lambda: power_curve_normal(np.nan, 1, 5), ValueError, "delta=nan must be finite"),
        (lambda: power_curve_normal(1, 1), ValueError, "list the sizes instead"),
        (lambda: power_curve_normal("a", 1, 5), TypeError, "delta='a' must be a number"),
        (lambda: power_curve_normal(1, 1, 10**10), ValueError, "n=10000000000 is more than 1,000"),
        (lambda: power_at([1], 10**12), ValueError, "n=1.* is more than 1,000,000,000"),
        (lambda: power_at([1], "x"), TypeError, "n = 'x' must be a whole number"),
        (lambda: exact_power("a", 0.05, 10), TypeError, "p_b='a' must be a number"),
        (lambda: exact_power(0.1, 0.05, 10**15), ValueError, "n=1.* is more than 10,000,000,000: "),
        (lambda: exact_power_n(0.1, 0.05, "x"), TypeError, "power='x' must be a number"),
        (lambda: power_at([], 5), ValueError, "differences are empty"),
        (lambda: power_at([1], 0), ValueError, "n=0 must be at least 1"),
        (lambda: power_at([1, 2], 5, counts=[1]), ValueError, "counts has 1 elements for 2"),
        (lambda: power_at([1, 2], 5, counts=[1, -1]), ValueError, r"counts\[1\] = -1 is below 0"),
        (lambda: power_at([1, 2], 5, counts=[0, 0]), ValueError, "counts are all 0"),
        (lambda: exact_power(0.6, 0.5, 5), ValueError, "are more than 1 together"),
        (lambda: exact_power(-0.1, 0.5, 5), ValueError, r"p_b=-0.1 must lie in \[0, 1\]"),
        (lambda: exact_power(0.1, 0.5, 5.5), TypeError, "n = 5.5 must be a whole number"),
        (lambda: exact_power(0.1, 0.5, 5, test="z"), ValueError, "test='z' has no exact power"),
        (lambda: exact_power_n(0.1, 0.1), ValueError, "leave nothing to find"),
        (lambda: exact_power_n(0.2, 0.1, alternative="less"), ValueError, "nothing to find"),
        (lambda: exact_power_n(0.2, 0.1, 1), ValueError, "power must lie"),
        (lambda: exact_power_n(0.2, 0.2 - 1e-9), ValueError, "it takes more than 1,000,000 items"),
    ],
)
def test_other_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
