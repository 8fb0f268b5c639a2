"""Posteriors of ratios of counts, and the test: exact fractions, SciPy, ball arithmetic, draws."""

import json
import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from benchmarks.calibration import beside
from permtest import alternatives as alt
from tests import naive
from tests.alternatives import known
from tests.alternatives.known import FOLDS_A, FOLDS_B

A, B = [90, 10, 20], [95, 9, 15]
METRICS = ("precision", "recall", "f1")
counts = st.sampled_from([0, 1, 3, 30, 400]).flatmap(lambda top: st.integers(0, top))
cells = st.tuples(counts, counts, counts)


def close(got, expected):
    """To 1e-12, and the smaller ones relative to themselves."""
    assert got == pytest.approx(expected, rel=1e-11, abs=0)
    assert max(abs(x - y) for x, y in zip(got, expected, strict=True)) < 1e-12


# ---- one metric --------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "prior", "seen", "value", "answers"), known.POSTERIORS)
def test_density_and_tails_in_ball_arithmetic(metric, prior, seen, value, answers):
    law = alt.posterior(seen, metric, prior=prior)
    # A rounding of the value alone changes these by parts in 1e11 at counts of a million.
    found = law.pdf(value), law.cdf(value), law.sf(value)
    assert found == pytest.approx(answers, rel=3e-10, abs=0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seen", [(3, 1, 0), (500, 20, 90), (10**6, 10**5, 2 * 10**5)])
def test_a_law_agrees_with_itself(metric, seen):
    law, q = alt.posterior(seen, metric), np.array([1e-12, 1e-4, 0.3, 0.5, 0.9])
    assert law.cdf(law.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert law.sf(law.ppf(1 - q[2:])) == pytest.approx(q[2:], rel=1e-9)
    pieces = [*law.ppf([1e-13, 0.01, 0.5, 0.99]), law.interval(1 - 2e-13)[1]]

    def integral(function):
        return sum(integrate.quad(function, *ends, epsabs=1e-13)[0] for ends in pairwise(pieces))

    assert integral(law.pdf) == pytest.approx(1, abs=1e-11)
    mean = integral(lambda t: t * law.pdf(t))
    assert law.mean() == pytest.approx(mean, rel=1e-11)
    assert law.var() == pytest.approx(integral(lambda t: (t - mean) ** 2 * law.pdf(t)), rel=1e-9)
    assert law.cdf(law.interval(0.8)) == pytest.approx([0.1, 0.9], abs=3e-12)
    around = law.mode() + np.array([-1e-4, 0, 1e-4]) * law.std()
    assert np.argmax(law.pdf(around)) == 1


def test_ends_and_shapes():
    law = alt.posterior([0, 3, 0], "precision")  # Beta(1, 4)
    assert law.pdf([-1, 0, 1, 2]) == pytest.approx([0, 4, 0, 0], rel=1e-13)
    assert law.cdf([-1, 0, 1, 2]).tolist() == [0, 0, 1, 1]
    assert law.sf([-1, 0, 1, 2]).tolist() == [1, 1, 0, 0]
    assert alt.posterior([0, 3, 27], "f1").mode() == 0
    assert alt.posterior([3, 0, 0], "precision").mode() == 1
    jeffreys = alt.posterior([0, 3, 0], "precision", prior=0.5)
    assert (jeffreys.pdf(0), jeffreys.mode()) == (math.inf, 0)
    assert math.isnan(alt.posterior([0, 0, 0], "precision", prior=0.5).mode())
    for both, low in ((alt.posterior([4, 2, 1]), 0), (alt.bayes_test(A, B).difference, -1)):
        assert both.ppf([0, 1]).tolist() == [low, 1]
        assert np.isnan(both.ppf([-1.1, 1.1, math.nan])).all()
        for method in (both.pdf, both.cdf, both.sf, both.ppf):
            assert np.isnan(method(math.nan))
            assert method(np.full((2, 3), 0.5)).shape == (2, 3)
        with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\), got 1"):
            both.interval(1)


# ---- two models --------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b", "metric", "p", "moments", "interval"), known.BAYES)
def test_known_answers(a, b, metric, p, moments, interval):
    found = alt.bayes_test(a, b, metric, weight=0.3688)
    near = alt.bayes_test(a, b, metric, weight=0.3688, rope=0.01)
    assert (found.p_h1, found.p_h0) == (found.p_b_better, found.p_a_better)
    got = (found.p_h1, found.p_h0, near.p_b_better, near.p_equivalent)
    assert got == pytest.approx(p, rel=1e-9, abs=1e-12)
    assert (found.p_equivalent, near.p_h1) == (0, pytest.approx(found.p_h1, rel=1e-13))
    law = alt.posterior(a, metric, weight=0.3688)
    assert (law.mode(), law.mean(), law.std()) == pytest.approx(moments, rel=1e-12, abs=1e-15)
    assert law.interval() == found.posterior_a.interval() == pytest.approx(interval, rel=1e-11)


@pytest.mark.parametrize(("metric", "prior", "a", "b", "margin", "p", "q"), known.AHEAD)
def test_probabilities_in_ball_arithmetic(metric, prior, a, b, margin, p, q):
    found = alt.bayes_test(a, b, metric, prior, rope=margin)
    got = found.p_b_better, found.p_a_better
    assert got == pytest.approx((p, q), rel=3e-10, abs=1e-300)
    assert np.abs(np.subtract(got, (p, q))).max() <= 2e-12


def ahead_by_inversion(a, b):
    """P(B > A) for two Beta laws: log-odds have Gamma functions for characteristic functions."""
    with mp.workdps(40):
        laws = [mp.mpf(x) for x in (*b, *a)]
        spread = mp.sqrt(mp.fsum(1 / x for x in laws))
        apart = abs(mp.log(laws[0] * laws[3] / (laws[1] * laws[2]))) / spread
        step, constant = 2 * mp.pi / (spread * (apart + 16)), mp.fsum(map(mp.loggamma, laws))
        t, area, value = mp.mpc(0, step / 2), mp.mpf(0), mp.mpf(1)
        while abs(value) > mp.mpf("1e-32"):
            turned = (x + sign * t for x, sign in zip(laws, (1, -1, -1, 1), strict=True))
            value = mp.exp(mp.fsum(map(mp.loggamma, turned)) - constant)
            area, t = area + value.imag / t.imag, t + mp.mpc(0, step)
        p = mp.mpf(1) / 2 + step / mp.pi * area
        return float(p), float(1 - p)


@pytest.mark.parametrize("n", [10**5, 10**7, 10**9])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_large_counts_agree_with_an_inverted_transform(n, share):
    a = round(n * share), n - round(n * share)
    more = round(3 * math.sqrt(a[1] * share))
    b = a[0] + more, a[1] - more
    found = alt.bayes_test(a, b, "accuracy")
    exact = ahead_by_inversion(*([x + 1 for x in counted] for counted in (a, b)))
    assert (found.p_h1, found.p_h0) == pytest.approx(exact, rel=1e-10 if n > 10**7 else 1e-11)


@given(cells, cells, st.sampled_from([1, 2]), st.sampled_from(METRICS))
@settings(max_examples=40)
def test_whole_priors_have_exact_fractions(a, b, prior, metric):
    first, second = (naive.hits_and_misses(metric, *(x + prior for x in c)) for c in (a, b))
    found, exact = alt.bayes_test(a, b, metric, prior), naive.better(*second, *first)
    close((found.p_h1, found.p_h0), (float(exact), float(1 - exact)))


@given(cells, cells, st.sampled_from([0.5, 1.0]), st.sampled_from(METRICS), st.integers(1, 9))
@settings(max_examples=25)
def test_symmetries(a, b, prior, metric, more):
    found, turned = alt.bayes_test(a, b, metric, prior), alt.bayes_test(b, a, metric, prior)
    assert found.p_h0 + found.p_h1 == pytest.approx(1, abs=1e-12)
    assert (turned.p_h0, turned.p_h1) == (found.p_h1, found.p_h0)
    same = alt.bayes_test(a, a, metric, prior)
    assert same.p_h0 == same.p_h1 == pytest.approx(0.5, abs=1e-12)
    assert (same.accepted, same.decision) == ("H0", "undecided")
    mirror = {"precision": "recall", "recall": "precision"}
    assert alt.bayes_test(a, (b[0] + more, *b[1:]), metric, prior).p_h1 >= found.p_h1 - 1e-13
    tables = [(x[0], x[2], x[1]) for x in (a, b)]
    other = alt.bayes_test(*tables, mirror.get(metric, metric), prior).p_h1
    assert other == pytest.approx(found.p_h1, rel=1e-11, abs=1e-13)


def test_folds_are_added_and_weighted():
    found = alt.bayes_test(FOLDS_A, FOLDS_B)
    a, b = (np.sum(folds, axis=0) for folds in (FOLDS_A, FOLDS_B))
    assert (found.n_folds, found.weight) == (6, alt.block_weight(3))
    for weight in (alt.block_weight(3), 1e-6, 0.25):
        p = alt.bayes_test(FOLDS_A, FOLDS_B, weight=weight).p_h1
        assert p == pytest.approx(alt.bayes_test(a * weight, b * weight).p_h1, rel=1e-12)
    assert alt.bayes_test(FOLDS_A[::-1], FOLDS_B).p_h1 == found.p_h1
    nothing = alt.bayes_test(FOLDS_A, FOLDS_B, weight=1e-300)
    assert nothing.p_h1 == pytest.approx(0.5, abs=1e-12)
    careful = found.conservative
    assert careful.p_h1 == alt.bayes_test(FOLDS_A, FOLDS_B, weight=1 / 6).p_h1
    assert careful.posterior_a.std() > found.posterior_a.std()
    # Less than all folds together are worth was asked for already.
    assert alt.bayes_test(A, B, weight=0.3).conservative.weight == 0.3


def test_tails_next_to_1_are_not_asked_for(monkeypatch):
    """SciPy's betaincc is NaN in a browser where it is 1 but for something tiny."""
    betaincc = special.betaincc

    def lost(a, b, x):
        return np.where(special.betainc(a, b, x) < 1e-100, math.nan, betaincc(a, b, x))

    b, a = alt.posterior([1787, 0, 532]), alt.posterior([1742, 0, 564])
    gap, x = alt.DifferencePosterior(b, a), [-0.9, -0.5930073730119747, -0.1, 0.01, 0.5]
    expected = [*gap.sf(x), *gap.cdf(x), *gap.interval()]
    monkeypatch.setattr(special, "betaincc", lost)
    gap = alt.DifferencePosterior(b, a)
    assert [*gap.sf(x), *gap.cdf(x), *gap.interval()] == expected


def test_rope_and_threshold_decide():
    assert alt.bayes_test(A, B).decision == "undecided"
    assert alt.bayes_test(A, B, threshold=0.8).decision == "b better"
    assert alt.bayes_test(B, A, threshold=0.8).decision == "a better"
    near = alt.bayes_test(A, B, rope=0.2)
    assert (near.decision, near.accepted) == ("equivalent", "H1")
    assert near.verdict() == "Practically equivalent at a threshold of 0.95"
    assert near.p_a_better + near.p_equivalent + near.p_b_better == pytest.approx(1, abs=1e-13)
    found = alt.bayes_test([3000, 10, 300], [2000, 10, 1000], "recall", rope=0.001)
    density = found.difference.pdf(np.linspace(-0.001, 0.001, 401))
    p = integrate.trapezoid(density, dx=5e-6)
    assert found.p_equivalent == pytest.approx(p, rel=1e-3, abs=0), "a quadrature, too"


def test_difference():
    gap = alt.bayes_test(A, B).difference
    q = np.array([1e-12, 0.025, 0.4, 0.9])
    assert gap.cdf(gap.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert gap.cdf(gap.interval(0.9)) == pytest.approx([0.05, 0.95])
    for d in (-0.05, 0.0, 0.001, 0.1):
        step = 1e-4
        ends = gap.cdf([d - 2 * step, d - step, d + step, d + 2 * step])
        assert gap.pdf(d) == pytest.approx(np.dot(ends, [1, -8, 8, -1]) / (12 * step), rel=1e-7)
        assert gap.cdf(d) + gap.sf(d) == pytest.approx(1, abs=1e-12)
    grid = np.linspace(-0.4, 0.4, 161)
    law, variance = gap.pdf(grid) * 0.005, gap.a.var() + gap.b.var()
    moments = law.sum(), law @ grid, law @ (grid - gap.mean()) ** 2
    assert moments == pytest.approx((1, gap.mean(), variance), rel=1e-10)
    assert gap.pdf([-1, 1, 2, -2]).tolist() == [0, 0, 0, 0]
    assert gap.cdf([-1, 1, 2, -2]).tolist() == [0, 1, 1, 0]
    flat = alt.bayes_test([0, 0, 0], [0, 0, 0], "recall").difference
    assert flat.pdf([-0.5, 0, 0.25]) == pytest.approx([0.5, 1, 0.75], rel=1e-12)
    assert flat.cdf([-0.5, 0, 0.25]) == pytest.approx([1 / 8, 1 / 2, 1 - 9 / 32], rel=1e-12)
    pole = alt.bayes_test([0, 9, 9], [0, 9, 9], "recall", 0.1).difference
    assert pole.pdf(0) == math.inf, "both densities are t^-0.9 near 0"


@pytest.mark.parametrize(
    ("a", "b"),
    [((200, 0), (0, 210)), ((0, 120), (120, 0)), ((46, 0), (0, 120)), ((120, 1), (1, 45))],
)
def test_far_tails_keep_their_digits(a, b):
    """Where P is tiny the integrand is narrower than either density is at its mode."""
    exact = naive.better(b[0] + 1, b[1] + 1, a[0] + 1, a[1] + 1)
    found = alt.bayes_test([a[0], 0, a[1]], [b[0], 0, b[1]], "recall")
    close((found.p_h1, found.p_h0), (float(exact), float(1 - exact)))
    gap = alt.bayes_test([200, 0, 10], [100, 0, 100], "recall").difference
    assert 0 < gap.sf(0) < gap.sf(-1e-9) < gap.sf(0) * (1 + 1e-5)
    far = alt.bayes_test([10**5, 0, 10**4], [9 * 10**4, 0, 2 * 10**4], "recall").difference
    q = np.array([1e-10, 1e-15, 1e-40])
    assert far.cdf(far.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)


def test_words_json_and_notes():
    found = alt.bayes_test(FOLDS_A, FOLDS_B, names=("<old>", "new"), rope=0.01)
    plain = json.loads(found.to_json(indent=1))
    assert (plain, plain["p_h1"]) == (found.to_dict(), found.p_h1)
    assert plain["models"][0]["counts"] == {"tp": 57, "fp": 15, "fn": 15}
    parts = "P(new better than <old>) = 0.71", "within 0.01"
    for part in (*parts, "6 folds of 3 x 2 cross-validation, weight 0.3688"):
        assert part in str(found)
    sure = str(alt.bayes_test([0, 10**6, 10**6], [10**6, 0, 0]))
    assert "P(A better or equal) < 1e-300" in sure
    found = alt.bayes_test([[9, 1, 1], [9, 1, 1]], [[8, 5, 2], [9, 1, 2]], names=("old", "new"))
    assert "row 1 has 10 to find for old but 11 for new" in found.notes[0]
    assert found.notes[0] in found._repr_html_()


@pytest.mark.parametrize(
    ("message", "folds", "options"),
    [
        (r"folds_b\[0\] has fn = nan", (A, [1, 2, math.nan]), {}),
        (r"numbers from 0 to 1e", ([2 * 10**10, 0, 0], B), {}),
        (r"folds_b has 2 folds, folds_a has 1", (A, [B, B]), {}),
        (r"rope=1 must lie in \[0, 1\)", (A, B), {"rope": 1}),
        (r"rope=nan must be finite", (A, B), {"rope": math.nan}),
        (r"threshold=0.4 must lie in \[0.5, 1\)", (A, B), {"threshold": 0.4}),
        (r"prior=0 must be a number from 0.1", (A, B), {"prior": 0}),
        (r"prior=1e\+18 must be", (A, B), {"prior": 1e18}),
        (r"names=\('A', 'A'\) must differ", (A, B), {"names": ("A", "A")}),
        (r"paired\[0\] has more tp or fn", (A, B), {"paired": [95, 5, 10]}),
        (r"leaves 10 tp to A alone, and 0 fn to B", (A, B), {"paired": [80, 5, 15]}),
        (r"paired has 2 folds", (A, B), {"paired": [[80, 5, 5]] * 2}),
        (r"paired=True needs two rows", (A, B), {"paired": True}),
    ],
)
def test_errors_name_the_argument(message, folds, options):
    with pytest.raises((TypeError, ValueError), match=message):
        alt.bayes_test(*folds, **options)


# ---- pairs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells", [(400, 20, 35, 45), (30, 4, 9, 7), (5, 1, 3, 1), (900, 50, 50, 10), (60, 0, 4, 2)]
)
def test_the_pair_is_nearly_that_of_a_dirichlet_law(cells):
    """Of the joint outcomes: both right, A alone, B alone, none."""
    both, a, b, none = cells
    counts = (both + a, b + none), (both + b, a + none)
    found = alt.bayes_test(*counts, "accuracy", paired=(both, none)).paired
    exact = stats.beta(b + 0.5, a + 0.5).sf(0.5)
    assert found.p_h1 == pytest.approx(exact, abs=0.03)
    assert (found.posterior_a.a, found.posterior_a.b) == (both + a + 1, b + none + 1)
    z = np.random.default_rng(1).standard_gamma(np.array(cells) + 0.5, (200_000, 4)).T
    assert np.mean(z[2] > z[1]) == pytest.approx(exact, abs=0.005)
    odds = np.log([(z[0] + z[1]) / (z[2] + z[3]), (z[0] + z[2]) / (z[1] + z[3])])
    assert found.correlation == pytest.approx(np.corrcoef(odds)[0, 1], abs=0.02 + 1 / none)


@pytest.mark.parametrize("r", [-0.9, 0.9, 0.999])
@pytest.mark.parametrize(
    ("a", "b"), [(A, B), ([9, 1, 2], [900, 90, 150]), ([3, 0, 300], [4000, 0, 10])]
)
def test_copulas_of_unlike_laws_are_sums_over_normal_scores(a, b, r):
    a, b = alt.posterior(a), alt.posterior(b)
    gap, ends = alt.DifferencePosterior(b, a, r), np.array([0.0, 0.003, -0.02, 0.3])
    z = np.linspace(-9, 9, 2001)
    values = np.clip(a.ppf(special.ndtr(z))[:, None] + ends, 0, 1)
    low, high = b.cdf(values), b.sf(values)
    with np.errstate(divide="ignore"):
        scores = np.where(low < 0.5, special.ndtri(low), -special.ndtri(high))
    given = special.ndtr((r * z[:, None] - scores) / math.sqrt(1 - r * r))
    assert gap.sf(ends) == pytest.approx(stats.norm.pdf(z) @ given * (z[1] - z[0]), abs=1e-6)
    assert gap.sf(ends) + gap.cdf(ends) == pytest.approx(1, abs=1e-12)


def jackknife(a, b):
    """Variance of the difference in the log-odds of F1, from rows left out one by one."""
    left = [np.delete(x, i, axis=0).sum(axis=0) for x in (a, b) for i in range(len(a))]
    odds = np.log([2 * tp / (fp + fn) for tp, fp, fn in left]).reshape(2, -1)
    return (len(a) - 1) * np.var(odds[1] - odds[0])


def test_the_spread_by_rows_is_that_of_the_rows():
    rng = np.random.default_rng(2)
    rows = beside.Rows(60, 40, 1, 1)
    a, b = beside.spans(rows, rng)
    r = alt.bayes_test(a, b, weight=1, paired=True)
    x, y = r.paired.posterior_a, r.paired.posterior_b
    both = [1 / law.a + 1 / law.b for law in (x, y)]
    found = sum(both) - 2 * r.paired.correlation * math.sqrt(both[0] * both[1])
    assert found == pytest.approx(jackknife(a, b), rel=0.05)
    assert r.paired.weight < 0.7, "items of a row depend on each other"
    known = alt.bayes_test(a, b, weight=0.7, paired=True).paired
    assert known.p_h1 == pytest.approx(r.paired.p_h1, abs=0.01), "rows say it all the same"
    assert 50 < r.paired.freedom <= 59
    assert r.trusted is r.paired
    assert "spread of the difference estimated from 60 rows, experimental" in str(r)
    assert "Trust the paired answer, though it is experimental" in str(r)
    gap = r.paired.difference
    normal = alt.DifferencePosterior(gap.b, gap.a, gap.correlation)
    far = gap.interval(0.99)
    for end, bound in zip(far, normal.interval(0.99), strict=True):
        z = special.ndtri(normal.cdf(end))
        assert gap.cdf(end) == pytest.approx(stats.t(gap.freedom).cdf(z), rel=1e-9)
        assert abs(end - gap.mean()) > abs(bound - gap.mean())
    d, step = np.linspace(*far, 5), 1e-5
    slope = (gap.cdf(d + step) - gap.cdf(d - step)) / (2 * step)
    assert gap.pdf(d) == pytest.approx(slope, rel=1e-6)
    assert gap.sf(d) + gap.cdf(d) == pytest.approx(np.ones(5), abs=1e-12)


def test_equal_models_are_seldom_called_unequal_by_rows():
    """Posteriors of items with the correlation of rows did so in a quarter of data sets."""
    section = beside.bayes_by_rows(100, [beside.Rows(60, 40, 1, 1)])
    assert section.failures == []
    unpaired, paired = (float(x) for x in section.text.splitlines()[-1].split("|")[2:4])
    assert paired < 0.1 < unpaired


def test_few_rows_and_rows_that_are_alike():
    folds = alt.bayes_test(FOLDS_A, FOLDS_B, paired=True)
    assert folds.trusted is folds
    assert folds.paired.freedom == 3, "six halves of the same items"
    assert "Trust the first answer" in str(folds)
    assert json.loads(folds.to_json())["paired"]["trusted"] is False
    assert alt.bayes_test(FOLDS_A, FOLDS_A, paired=True).paired.p_h1 == pytest.approx(0.5)
    for rows in ([[0, 0, 0]] * 2, [[5, 0, 0]] * 2, [[5, 0, 0], [0, 0, 0]]):
        same = alt.bayes_test(rows, rows, weight=1, paired=True).paired
        assert same.p_h1 == pytest.approx(0.5, abs=1e-9)
    assert alt.bayes_test(A, B, paired=False).paired is None
