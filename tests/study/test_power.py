"""How often tests reject: against formulas, single tests and plain simulation."""

import json
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

import permtest as pt
from permtest import alternatives as alt
from permtest.alternatives.means import normal_z
from permtest.study import (
    PowerCurve,
    exact_power,
    exact_power_n,
    power,
    power_curve,
)
from permtest.study.power import OF_MEANS, _pvalues, _rejection_rates, measured_rates

RNG = np.random.default_rng(7)
A, B = RNG.poisson(4, 60), RNG.poisson(3.4, 60)
RIGHT = np.repeat([[1, 0], [0, 1], [1, 1]], [15, 10, 75], axis=0).T  # p_b = .15, p_c = .1
SKEWED = np.random.default_rng(4).exponential(size=400).round(2)

sides = pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])


def errors(share, experiments=2000, number=5):
    """So many standard errors of a simulated share."""
    return number * (share * (1 - share) / experiments) ** 0.5 + 1e-9


# ---- curves --------------------------------------------------------------------------------------


def test_sizes_are_even_as_in_the_manual():
    a = np.arange(100) % 3
    curve = partial(power_curve, experiments=10, rng=0)
    assert curve(a, 1 - a, sizes=5).sizes == (20, 40, 60, 80, 100)
    assert curve(a, 1 - a, sizes=[300, 7, 7]).sizes == (7, 300)
    assert curve(a[:5], a[5:10]).sizes == (2, 3, 4, 5)
    assert curve([1], [0]).sizes == (1,)


@sides
def test_the_exact_test_of_answers_has_its_exact_power(alternative):
    curve = power_curve(*RIGHT, sizes=[50, 200, 800], alternative=alternative, rng=0)
    for size, found in zip(curve.sizes, curve.power, strict=True):
        exact = exact_power(0.15, 0.1, size, alternative=alternative)
        assert abs(found - exact) < errors(exact)


@sides
@pytest.mark.parametrize("alpha", [0.4, 0.05, 0.001])
@pytest.mark.parametrize("n", [1, 5, 30, 400])
def test_bounds_decide_no_sample_otherwise_than_its_exact_test(n, alpha, alternative):
    law = power._Resampling.of(A, B, 1, None)
    times = np.random.default_rng(n).multinomial(n, law.shares, size=150)
    rows = np.array([np.repeat(law.values, t) for t in times])
    p = pt.exact_perm_test(rows, np.zeros_like(rows), axis=1, alternative=alternative).pvalue
    found = law.rejected(np.random.default_rng(n), 150, n, alpha, alternative)
    assert found == np.count_nonzero(p <= alpha)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_t_tests_of_normal_differences_have_the_power_of_noncentral_t(alternative):
    d = stats.norm.ppf((np.arange(400) + 0.5) / 400).round(3)
    d = 0.5 * d / d.std(ddof=1)
    options = {"sizes": [10, 40, 100], "alternative": alternative, "rng": 0}
    options |= {"method": "normal", "delta": 0.15}
    curve = power_curve(d, 0 * d, test="paired_t", **options)
    exact = power_curve(d, 0 * d, **options)
    side = {"two-sided": "two-sided", "greater": "larger"}[alternative]
    for i, size in enumerate(curve.sizes):
        expected = TTestPower().power(0.3, size, 0.05, alternative=side)
        assert abs(curve.power[i] - expected) < errors(expected)
        assert abs(exact.power[i] - expected) < errors(expected) + 0.02  # nearly as powerful
    assert (exact.rounded, curve.rounded) == (pytest.approx(0.5 / 8), 0)


@pytest.mark.parametrize("test", OF_MEANS)
def test_a_shift_sets_the_true_difference(test):
    """Of skewed differences too, as all these tests are about the mean, if n is not small."""
    options = {"test": test, "sizes": [60], "rng": 0, "experiments": 1000}
    null = power_curve(SKEWED, 0 * SKEWED, delta=0, **options)
    assert null.delta == 0
    assert null.power[0] < 0.05 + errors(0.05, 1000) + 0.02
    same = power_curve(A, B, delta=float((A - B).mean()), **options)
    (expected,) = power_curve(A, B, **options | {"rng": 1}).power
    assert abs(same.power[0] - expected) < 2 * errors(expected, 1000)


def test_extreme_data():
    curve = partial(power_curve, experiments=9, rng=0)
    assert curve([3], [1], sizes=[1, 5, 6]).power == (0, 0, 1)
    assert set(curve([2, 2, 2], [2, 2, 2], sizes=3).power) == {0}
    decimals = curve([0.3, 0.5, 0.9], [0.1, 0.3, 0.7], sizes=[4, 6])
    assert (decimals.power, decimals.delta) == ((0, 1), 0.2)
    assert curve([10**30, 5], [0, 5 - 10**30], sizes=[3, 8]).power == (0, 1)
    for test in ("paired_t", "wilcoxon", "sign", alt.permutation_median, "independent_t"):
        assert 0 <= curve([10**30, 5], [0, 4], test=test, sizes=[4]).power[0] <= 1


def test_a_curve_can_be_read():
    def curve(*shares: float) -> PowerCurve:
        sizes = tuple(100 * (i + 1) for i in range(len(shares)))
        ends = tuple((x - 0.02, x + 0.02) for x in shares)
        return PowerCurve(sizes, shares, ends, "exact", 0.05, "two-sided", 2000, "bootstrap", 0.5)

    falling = curve(0.3, 0.7, 0.6, 0.85)  # which is read off the nearest that never falls
    assert [falling.needed(x) for x in (0.75, 0.649, 0.2, 0.9)] == [350, 200, 100, None]
    assert str(curve(0.3, 0.85)) == (
        "With 200 pairs the power of the exact permutation test of the mean is 0.850 (95% interval "
        "0.830 to 0.870; alpha = 0.05, two-sided, 2000 samples by bootstrap). A power of 80% takes "
        "about 191 pairs."
    )
    assert str(curve(0.3)).endswith("No size here has a power of 80%.")
    assert str(curve(0.9)).endswith("A power of 80% takes no more than 100 pairs.")
    real = power_curve(*RIGHT, sizes=[*range(500, 1200, 100)], rng=0)
    assert real.needed(0.8) == pytest.approx(exact_power_n(0.15, 0.1, 0.8), rel=0.07)
    assert json.loads(real.to_json())["intervals"][0] == list(real.intervals[0])


# ---- p-values of rows ----------------------------------------------------------------------------

#: Single tests, by the name of the batch.
SINGLE = {
    "exact": pt.exact_perm_test,
    "paired_t": alt.paired_t,
    "independent_t": alt.independent_t,
    "normal_z": normal_z,
    "sign": alt.sign,
    "wilcoxon": alt.wilcoxon,
}

#: Shapes of data: many ties, decimals, thirds, differences beyond the table of the batch kernel.
KINDS = {
    "counts": lambda shape, rng: rng.poisson(3, shape),
    "answers": lambda shape, rng: rng.integers(0, 2, shape),
    "decimals": lambda shape, rng: rng.integers(0, 100, shape) / 10,
    "thirds": lambda shape, rng: rng.integers(0, 9, shape) / 3,
    "large": lambda shape, rng: rng.integers(-20, 20, shape) * 10**7 + rng.integers(0, 9, shape),
}

#: Those that are integers, as the exact test takes them.
WHOLE = ("counts", "answers", "large")


def drawn(kind, shape, seed=0):
    rng = np.random.default_rng(seed)
    return KINDS[kind](shape, rng), KINDS[kind](shape, rng)


@pytest.mark.parametrize(
    ("test", "kind"),
    [(x, kind) for x in SINGLE for kind in KINDS if x != "exact" or kind in WHOLE],
)
@sides
def test_rows_are_single_tests(test, kind, alternative):
    options = {"alternative": alternative}
    for n in (3, 20):
        a, b = drawn(kind, (8, n), n)
        spread = (np.ptp(a, axis=1) > 0) & (np.ptp(b, axis=1) > 0) & (np.ptp(a - b, axis=1) > 1e-9)
        a, b = a[spread], b[spread]
        expected = [SINGLE[test](u, v, **options).pvalue for u, v in zip(a, b, strict=True)]
        np.testing.assert_allclose(_pvalues(test, a, b, **options), expected, rtol=1e-8)


@sides
@pytest.mark.parametrize("method", ["exact", "midp", "chi2"])
def test_rows_of_answers_are_tests_of_their_counts(method, alternative):
    a, b = drawn("answers", (40, 14), 1)
    a[0], b[0] = 1, 1
    a[1:20] |= drawn("answers", (19, 14), 2)[0]
    counts = zip((a > b).sum(axis=1).tolist(), (a < b).sum(axis=1).tolist(), strict=True)
    how = {"alternative": alternative}
    expected = [alt.mcnemar(*x, method=method, **how).pvalue for x in counts]
    test = "mcnemar" if method == "exact" else f"mcnemar_{method}"
    np.testing.assert_allclose(_pvalues(test, a, b, **how), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("exact", 3),
        *product(["wilcoxon", "paired_t", "normal_z", "bootstrap_mean"], [3, 0.1, 1 / 7]),
    ],
)
def test_rows_that_are_all_equal(test, value):
    """No spread: nothing to see if there is no difference, else what the limit of the test is."""
    a, b = np.full((3, 8), value), np.full((3, 8), value)
    a[1], a[2] = 2 * value, -value
    two, greater, less = (
        _pvalues(test, a, b, alternative=side, rng=0, K=99)
        for side in ("two-sided", "greater", "less")
    )
    assert two[0] == 1
    assert max(two[1], two[2], greater[1], less[2]) < 0.03
    assert min(greater[0], less[0], greater[2], less[1]) >= 0.5


# ---- how often tests reject ----------------------------------------------------------------------


def test_rates_without_an_effect_are_levels():
    """Normal differences: t is exact, ranks are as good, z errs."""

    def noise(rng, experiments, n):
        return rng.normal(size=(experiments, n)), np.zeros((experiments, n))

    tests = {"z": "normal_z", "t": "paired_t", "ranks": "wilcoxon", "always": lambda a, b: 0.0}
    rates = _rejection_rates(tests, noise, n=8, experiments=2000, alpha=0.05, rng=2)
    assert rates["t"] == pytest.approx(0.05, abs=errors(0.05))
    assert rates["ranks"] < 0.05 + errors(0.05) < rates["z"] < rates["always"] == 1


@pytest.mark.parametrize(("n", "level"), [(20, 0.163), (100, 0.075)])
def test_the_level_of_the_exact_test_depends_on_skewness_and_size(n, level):
    """Differences 0 (70 %), 1 (25 %) and -5 (5 %): their mean is 0."""
    d = np.repeat([0, 1, -5], [n * 7 // 10, n // 4, n // 20])
    found = measured_rates(d, 1, ["exact", "bootstrap_mean", "paired_t"], samples=4000)
    assert found["exact"][0] == pytest.approx(level, abs=errors(level, 4000, 4))
    if n == 100:
        assert found["bootstrap_mean"][0] < 0.058 < found["exact"][0]


# ---- refusals ------------------------------------------------------------------------------------

FEW = {"a": A, "b": B, "experiments": 4}


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [
        (power_curve, FEW | {"test": "t"}, ValueError, "test='t' is not known; choose one of 'ex"),
        (power_curve, FEW | {"sizes": []}, ValueError, "sizes is empty"),
        (power_curve, FEW | {"sizes": 10**8}, ValueError, "sizes=1.* is more than 1,000: list"),
        (power_curve, FEW | {"sizes": [10**8]}, ValueError, "n=1.* is more than 10,000,000: "),
        (power_curve, FEW | {"experiments": 10**7}, ValueError, "more than 1,000,000: "),
        (power_curve, FEW | {"method": "jackknife"}, ValueError, "method='jackknife' is not"),
        (power_curve, FEW | {"test": "mcnemar"}, ValueError, r"[ab]\[\d+, \d+\] = \d, but mcnemar"),
        (power_curve, FEW | {"test": "sign", "delta": 0}, ValueError, "test='sign' is not about"),
        (power_curve, FEW | {"b": B[:5]}, ValueError, "a has 60 entries and b has 5"),
        (power_curve, FEW | {"b": A, "method": "normal"}, ValueError, "differences are all equal"),
        (power_curve, FEW | {"test": lambda a, b: 2}, ValueError, "returned 2.0 for data set 0"),
        (power_curve, FEW | {"test": "paired_t", "sizes": [1]}, ValueError, "a row has 1 pair"),
    ],
)
def test_errors_name_what_is_wrong(function, options, error, message):
    with pytest.raises(error, match=message):
        function(**options)
