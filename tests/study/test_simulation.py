"""Every row of a batch has the p of the single test, and rates are what theory says."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest.alternatives import (
    bootstrap,
    chi_squared,
    independent_t,
    mcnemar,
    normal_z,
    paired_bootstrap,
    paired_t,
    permutation_median,
    sign,
    two_proportion_z,
    wilcoxon,
)
from permtest.study import laws, simulation
from permtest.study.laws import law_pvalues
from permtest.study.simulation import pvalues, rejection_rates, share_interval
from tests import strategies

#: Single tests, by the name of the batch.
SINGLE = {
    "paired_t": paired_t,
    "independent_t": independent_t,
    "normal_z": normal_z,
    "independent_z": partial(normal_z, correlation=0.0),
    "sign": sign,
    "wilcoxon": wilcoxon,
    "permutation_median": permutation_median,
}

#: Shapes of data: many ties, decimals, thirds, differences beyond the table of the batch kernel.
KINDS = {
    "counts": lambda shape, rng: rng.poisson(3, shape),
    "answers": lambda shape, rng: rng.integers(0, 2, shape),
    "decimals": lambda shape, rng: rng.integers(0, 100, shape) / 10,
    "thirds": lambda shape, rng: rng.integers(0, 9, shape) / 3,
    "large": lambda shape, rng: rng.integers(-20, 20, shape) * 10**7 + rng.integers(0, 9, shape),
}

two_sided_or_not = pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])


def draw(kind: str, shape: tuple[int, int], seed: int = 0):
    rng = np.random.default_rng(seed)
    return KINDS[kind](shape, rng), KINDS[kind](shape, rng)


@pytest.mark.parametrize("kind", KINDS)
@two_sided_or_not
def test_rows_of_the_exact_test_are_single_exact_tests(kind, alternative):
    for n in (1, 2, 5, 30, 100)[: 4 if kind == "large" else 5]:
        a, b = draw(kind, (12, n), n)
        expected = [
            pt.exact_perm_test(u, v, alternative=alternative).pvalue
            for u, v in zip(a, b, strict=True)
        ]
        found = pvalues("exact", a, b, alternative=alternative)
        np.testing.assert_allclose(found, expected, rtol=1e-11)


@given(strategies.pairs(("binary", "small", "signed", "huge")), strategies.alternatives)
def test_one_row_of_any_integers(columns, alternative):
    u, v = columns
    if u:
        expected = pt.exact_perm_test(u, v, alternative=alternative).pvalue
        rows = np.array([u], dtype=object), np.array([v], dtype=object)
        found = pvalues("exact", *rows, alternative=alternative)
        assert found == pytest.approx(expected, rel=1e-11)
        for name in ("sign", "wilcoxon"):
            single = SINGLE[name](u, v, alternative=alternative).pvalue
            assert pvalues(name, *rows, alternative=alternative) == pytest.approx(single, rel=1e-11)


@pytest.mark.parametrize("test", [name for name in SINGLE if name != "permutation_median"])
@pytest.mark.parametrize("kind", KINDS)
@two_sided_or_not
def test_rows_are_single_tests(test, kind, alternative):
    options = {"alternative": alternative, "delta": 0.25}
    for n in (3, 20):
        a, b = draw(kind, (20, n), n)
        spread = (np.ptp(a, axis=1) > 0) & (np.ptp(b, axis=1) > 0) & (np.ptp(a - b, axis=1) > 1e-9)
        a, b = a[spread], b[spread]
        expected = [SINGLE[test](u, v, **options).pvalue for u, v in zip(a, b, strict=True)]
        np.testing.assert_allclose(pvalues(test, a, b, **options), expected, rtol=1e-8)


def test_medians_are_permuted_one_by_one():
    a, b = draw("counts", (5, 9))
    expected = [permutation_median(u, v).pvalue for u, v in zip(a, b, strict=True)]
    assert pvalues("permutation_median", a, b).tolist() == expected


@two_sided_or_not
def test_rows_of_answers_are_tests_of_their_counts(alternative):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (60, 14)), rng.integers(0, 2, (60, 14))
    a[0], b[0] = 1, 1
    for row in (slice(1, 30), slice(30, 60)):
        a[row] |= rng.integers(0, 2, a[row].shape)
    wins, losses = ((a > b).sum(axis=1), (a < b).sum(axis=1))
    o = {"alternative": alternative}
    n = a.shape[1]
    for test, method in (
        ("mcnemar", "exact"),
        ("mcnemar_midp", "midp"),
        ("mcnemar_chi2", "chi2"),
        ("mcnemar_chi2_corrected", "chi2-corrected"),
    ):
        pairs = zip(wins, losses, strict=True)
        expected = [mcnemar(x, y, method=method, **o).pvalue for x, y in pairs]
        np.testing.assert_allclose(pvalues(test, a, b, **o), expected, rtol=1e-10)
    totals = list(zip(a.sum(axis=1).tolist(), b.sum(axis=1).tolist(), strict=True))
    expected = [two_proportion_z(x, n, y, n, **o).pvalue for x, y in totals]
    np.testing.assert_allclose(pvalues("two_proportion_z", a, b, **o), expected, rtol=1e-10)
    for test, correction in (("chi_squared", False), ("chi_squared_yates", True)):
        tables = ([[x, n - x], [y, n - y]] for x, y in totals)
        expected = [chi_squared(t, correction=correction, **o).pvalue for t in tables]
        np.testing.assert_allclose(pvalues(test, a, b, **o), expected, rtol=1e-10)


@two_sided_or_not
def test_the_bootstrap_of_a_mean_samples_the_same_p(alternative):
    """Within five standard errors of the difference of two sampled shares, both tails doubled."""
    a, b = draw("counts", (6, 15), 3)
    K = 4000
    found = pvalues("bootstrap_mean", a, b, alternative=alternative, rng=0, K=K)
    for p, u, v in zip(found, a, b, strict=True):
        single = bootstrap(u, v, alternative=alternative, K=K, rng=1).pvalue
        assert abs(p - single) < 5 * 2 * (2 * single * (1 - single / 2) / K) ** 0.5 + 2 / K


@pytest.mark.parametrize("test", ["bootstrap_median", "paired_bootstrap"])
def test_other_bootstraps_are_made_one_by_one(test):
    a, b = draw("counts", (3, 12), 5)
    rng = np.random.default_rng(0)
    single = {
        "bootstrap_median": partial(bootstrap, statistic="median", K=200, rng=rng),
        "paired_bootstrap": partial(paired_bootstrap, statistic="mean", K=200, rng=rng),
    }[test]
    expected = [single(u, v).pvalue for u, v in zip(a, b, strict=True)]
    assert pvalues(test, a, b, rng=0, K=200).tolist() == expected


DIFFERENCES = ("exact", "sign", "wilcoxon", "paired_t", "normal_z", "bootstrap_mean")


@pytest.mark.parametrize(
    "test", [*DIFFERENCES, "independent_t", "independent_z", "bootstrap_median"]
)
@pytest.mark.parametrize("value", [3, 0.1, 1 / 7])
def test_rows_that_are_all_equal(test, value):
    """No spread: nothing to see if they are equal to delta, else what the limit of the test is."""
    a, b = np.full((3, 8), value), np.full((3, 8), value)
    a[1], a[2] = 2 * value, -value
    two, greater, less = (
        pvalues(test, a, b, alternative=side, rng=0, K=99)
        for side in ("two-sided", "greater", "less")
    )
    assert (
        two[0] == greater[0] == less[0] == 1
        or test in ("normal_z", "paired_t")
        or (greater[0] == less[0] == 0.5)
    )
    assert two[0] == 1
    assert max(two[1], two[2], greater[1], less[2]) < 0.03
    assert min(greater[2], less[1]) > 0.5


@pytest.mark.parametrize("test", ["mcnemar", "mcnemar_midp", "chi_squared", "chi_squared_yates"])
def test_answers_that_are_all_right(test):
    right = np.ones((2, 5), dtype=bool)
    assert pvalues(test, right, right).tolist() == [1, 1]


def test_few_pairs():
    one = np.array([[1], [0]])
    assert pvalues("exact", one, 0 * one).tolist() == [1, 1]
    for test in ("paired_t", "normal_z", "independent_t", "bootstrap_mean"):
        with pytest.raises(ValueError, match=f"{test} needs 2"):
            pvalues(test, one, 0 * one)


def test_a_shift_is_exact_in_decimals():
    a, b = np.array([[0.3, 0.5, 0.9]]), np.array([[0.1, 0.3, 0.7]])
    for test in ("exact", "sign", "wilcoxon", "paired_t"):
        assert pvalues(test, a, b, delta=0.2).tolist() == [1]


def test_continuous_scores_are_rounded_and_keep_their_signs():
    """The exact test of rounded scores: close to that of the scores, and symmetric."""
    rng = np.random.default_rng(0)
    d = rng.normal(0.3, 1, (20, 16))
    found = pvalues("exact", d, 0 * d)
    signs = np.array([[1 if i >> k & 1 else -1 for k in range(16)] for i in range(2**16)])
    for row, p in zip(d, found, strict=True):
        exact = np.mean(np.abs(signs @ row) >= abs(row.sum()) * (1 - 1e-12))
        assert p == pytest.approx(exact, rel=0.1, abs=0.005)
    np.testing.assert_array_equal(found, pvalues("exact", 0 * d, d))
    np.testing.assert_array_equal(found, pvalues("exact", 3.7 * d, 0 * d))
    heavy = laws.lattice(rng.standard_cauchy((50, 400)))
    assert np.abs(heavy).max() <= laws.FINEST
    assert np.mean(heavy != 0) > 0.8


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=4, unique=True),
    st.integers(0, 10**6),
    strategies.alternatives,
)
def test_laws_by_convolving_by_listing_and_by_tilting(widths, seed, alternative):
    """The three ways to a tail agree, and with the single test."""
    rng = np.random.default_rng(seed)
    values = np.array(sorted({*widths, *(-w for w in widths)}))
    counts = rng.integers(0, 9, (3, values.size))
    counts[:, 0] += 40
    counts[:, -1] += 60
    found = []
    for updates, listed in ((10**9, 0), (0, 10**9), (0, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(laws, "UPDATES", updates)
            patch.setattr(laws, "LISTED", listed)
            patch.setattr(laws, "WIDE", 0)
            found.append(law_pvalues(values, counts, alternative))
    rows = (np.repeat(values, row) for row in counts)
    expected = [pt.exact_perm_test(d, 0 * d, alternative=alternative).pvalue for d in rows]
    for p in found:
        np.testing.assert_allclose(p, expected, rtol=1e-11)


def test_laws_too_hard_for_a_batch_are_made_one_by_one():
    values = np.array([-(2**40) - 1, 2**41 + 7, 2**42 + 3])
    counts = np.array([[30, 20, 25], [1, 2, 0]])
    expected = [
        pt.exact_perm_test(d, 0 * d).pvalue for d in (np.repeat(values, row) for row in counts)
    ]
    np.testing.assert_allclose(law_pvalues(values, counts), expected, rtol=1e-9)


def test_laws_of_a_thousand_million_differences():
    """A normal law with a correction for continuity, as sums lie 2 apart; nothing overflows."""
    from scipy.special import ndtr

    for values, counts in (
        ([-1, 0, 1], [10**8, 8 * 10**8 - 30_000, 10**8 + 30_000]),
        ([-999, -3, 0, 1, 998], [2 * 10**8, 10**7, 3 * 10**8, 29 * 10**7, 2 * 10**8]),
    ):
        v, c = np.array(values), np.array([counts])
        z = (abs(int((c @ v)[0])) - 1) / np.sqrt(float((c @ v**2)[0]))
        assert law_pvalues(v, c)[0] == pytest.approx(2 * ndtr(-z), rel=1e-6)


@two_sided_or_not
def test_many_rows_of_untied_ranks_share_a_law(alternative):
    rng = np.random.default_rng(0)
    a = rng.permuted(np.tile(np.arange(1, 31), (120, 1)), axis=1) * rng.choice([-1, 1], (120, 30))
    found = pvalues("wilcoxon", a, 0 * a, alternative=alternative)
    expected = [wilcoxon(row, 0 * row, alternative=alternative).pvalue for row in a[:25]]
    np.testing.assert_allclose(found[:25], expected, rtol=1e-11)


def test_functions_are_called_row_by_row():
    from scipy import stats

    a, b = draw("counts", (7, 20), 2)
    found = pvalues(stats.ttest_rel, a, b)
    np.testing.assert_allclose(found, pvalues("paired_t", a, b), rtol=1e-9)
    assert pvalues(lambda u, v: 0.25, a, b).tolist() == [0.25] * 7
    with pytest.raises(ValueError, match=r"returned 2\.0 for data set 0"):
        pvalues(lambda u, v: 2, a, b)


# ---- how often tests reject --------------------------------------------------------------------


def no_difference(rng, experiments, n):
    return rng.poisson(2, (experiments, n)), rng.poisson(2, (experiments, n))


def correlated(rng, experiments, n):
    item = rng.normal(0, 2, (experiments, n))
    return item + rng.normal(0, 1, (experiments, n)), item + rng.normal(0, 1, (experiments, n))


def test_exact_tests_hold_their_level():
    """Three standard errors of 4000 data sets are 0.0103."""
    tests = ["exact", "sign", "wilcoxon"]
    for alternative in ("two-sided", "greater"):
        rates = rejection_rates(
            tests, no_difference, n=15, experiments=4000, rng=0, alternative=alternative
        )
        assert max(rates.rates.values()) < 0.05 + 0.0103
        assert rates["exact"] > 0.03
        assert rates.too_often == ()


def test_the_level_of_continuous_scores_is_right():
    """Normal differences: t is exact, and rounding does the permutation test no harm."""
    rates = rejection_rates(
        ["exact", "paired_t", "independent_t"], correlated, n=30, experiments=4000, rng=1
    )
    assert rates["exact"] == pytest.approx(0.05, abs=0.0103)
    assert rates["paired_t"] == pytest.approx(0.05, abs=0.0103)
    assert rates["independent_t"] < 0.002


def test_a_test_that_rejects_too_often_is_named():
    def careless(rng, experiments, n):
        return rng.normal(size=(experiments, n)), np.zeros((experiments, n))

    rates = rejection_rates(["normal_z", "paired_t"], careless, n=5, experiments=2000, rng=0)
    assert rates.too_often == ("normal_z",)
    rates = rejection_rates({"always": lambda a, b: 0.0}, careless, n=5, experiments=20, rng=0)
    assert rates["always"] == 1
    assert rates.intervals["always"][1] == 1


def test_rates_are_reproducible_and_can_be_read():
    options = {"n": 12, "experiments": 200, "rng": 5}
    tests = ["exact", "bootstrap_mean", "mcnemar_chi2"][:2]
    rates = rejection_rates(tests, no_difference, **options)
    assert rates == rejection_rates(tests, no_difference, **options)
    head, blank, columns, *lines = str(rates).splitlines()
    assert head == "Share of 200 data sets of 12 pairs with p <= 0.05 (two-sided)"
    assert blank == ""
    assert {line.index("0.") for line in lines} == {columns.index("rate")}
    assert rates.to_dict()["rates"]["exact"] == rates["exact"]
    assert '"intervals"' in rates.to_json()
    assert rates._repr_html_().count("<tr>") == 3
    with pytest.raises(KeyError, match="no test 'z' here; there are exact, bootstrap_mean"):
        rates["z"]


def test_data_sets_are_drawn_some_at_a_time(monkeypatch):
    """They all count, and none is drawn twice."""
    made = []

    def right(rng, experiments, n):
        made.append(rng.integers(0, 2, (experiments, n)))
        return made[-1], np.zeros((experiments, n), dtype=int)

    monkeypatch.setattr(simulation, "AT_ONCE", 100)
    rates = rejection_rates(["exact", "sign"], right, n=10, experiments=25, rng=0)
    assert [scores.shape for scores in made] == [(10, 10), (10, 10), (5, 10)]
    a = np.concatenate(made)
    assert rates["exact"] == rates["sign"] == np.mean(pvalues("sign", a, 0 * a) <= 0.05)
    assert len({scores.tobytes() for scores in a}) > 20


def test_share_intervals_are_wilsons():
    from scipy import stats

    for count, size in ((0, 10), (3, 10), (10, 10), (500, 2000)):
        low, high = stats.binomtest(count, size).proportion_ci(method="wilson")
        assert share_interval(count, size) == pytest.approx((low, high), abs=1e-12)


def test_p_that_equals_the_level_rejects():
    """Six wins of six: p = 2^-6 one-sided."""
    always = rejection_rates(
        ["exact", "sign", "wilcoxon", "mcnemar"],
        lambda rng, experiments, n: (np.ones((experiments, n), int), np.zeros((experiments, n))),
        n=6,
        experiments=10,
        alpha=2**-6,
        alternative="greater",
    )
    assert set(always.rates.values()) == {1.0}


# ---- errors ------------------------------------------------------------------------------------

GOOD = np.array([[1, 0, 1]])


@pytest.mark.parametrize(
    ("test", "a", "b", "options", "error", "message"),
    [
        ("t", GOOD, GOOD, {}, ValueError, "test='t' is not known; choose one of 'exact', "),
        ("exact", GOOD[0], GOOD[0], {}, ValueError, r"a has shape \(3,\), but a data set in each"),
        ("exact", GOOD, GOOD[:, :2], {}, ValueError, r"a has shape \(1, 3\) and b \(1, 2\)"),
        ("exact", GOOD, [["x", "y", "z"]], {}, TypeError, "b must be an array of numbers"),
        ("sign", GOOD, [[0, np.nan, 1]], {}, ValueError, r"b\[0, 1\] = nan is not finite"),
        ("sign", GOOD, GOOD, {"alternative": "up"}, ValueError, "alternative='up' is not known"),
        ("sign", GOOD, GOOD, {"delta": np.inf}, ValueError, "delta=inf must be"),
        ("mcnemar", GOOD, 2 * GOOD, {}, ValueError, r"b\[0, 0\] = 2, but mcnemar needs scores 0"),
        ("mcnemar", GOOD, GOOD, {"delta": 0.5}, ValueError, "delta=0.5 is not for mcnemar"),
        ("bootstrap_mean", GOOD, 1 - GOOD, {"K": 0}, ValueError, "K = 0 samples; from 1"),
    ],
)
def test_errors_name_what_is_wrong(test, a, b, options, error, message):
    with pytest.raises(error, match=message):
        pvalues(test, a, b, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, ValueError, "n=0 must be at least 1"),
        ({"n": 2.5}, TypeError, "n = 2.5 must be a whole number"),
        ({"alpha": 1}, ValueError, r"alpha must lie in \(0, 1\)"),
        ({"alpha": "x"}, TypeError, "alpha='x' must be a number"),
        ({"n": 10**9}, ValueError, "n=1000000000 is more than 10,000,000: all pairs of a sample"),
        ({"experiments": 10**9}, ValueError, "experiments=1.* is more than 1,000,000: "),
        ({"experiments": None}, TypeError, "experiments = None must be a whole number"),
        ({"alternative": "up"}, ValueError, "alternative='up' is not known"),
        ({"draw": lambda rng, k, n: (GOOD, GOOD)}, ValueError, r"first array of shape \(1, 3\)"),
        ({"tests": "exact"}, TypeError, "tests='exact' must be a list of names"),
    ],
)
def test_errors_of_rates(options, error, message):
    given_options = {"tests": ["exact"], "draw": no_difference, "n": 4, **options}
    with pytest.raises(error, match=message):
        rejection_rates(**given_options)
