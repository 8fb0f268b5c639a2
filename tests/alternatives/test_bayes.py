"""The Bayes test against exact fractions, mpmath, ball arithmetic and random draws."""

import json
import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from permtest import alternatives as alt
from permtest.measures import MeanOfRatios
from permtest.statistics import CountStatistic
from tests import naive
from tests.alternatives import known

A, B = [90, 10, 20], [95, 9, 15]
SINGLE = ("precision", "recall", "f1", "jaccard", "specificity")
METRICS = (*SINGLE, "f2", "f0.5")
counts = st.sampled_from([0, 1, 3, 25]).flatmap(lambda top: st.integers(0, top))
cells = st.tuples(counts, counts, counts, counts)
FOLDS_A = [[10, 2, 3], [9, 3, 2], [8, 4, 1], [10, 2, 2], [9, 3, 3], [11, 1, 4]]
FOLDS_B = [[12, 2, 1], [10, 3, 2], [9, 3, 1], [11, 2, 2], [11, 2, 2], [12, 1, 2]]


def close(got, expected):
    """To 1e-12, and the smaller ones relative to themselves."""
    assert got == pytest.approx(expected, rel=1e-11, abs=0)
    assert max(abs(x - y) for x, y in zip(got, expected, strict=True)) < 1e-12


@pytest.mark.parametrize(("a", "b", "metric", "p", "_", "__"), known.BAYES)
def test_known_probabilities(a, b, metric, p, _, __):
    found = alt.bayes_test(a, b, metric, weight=0.3688)
    with_rope = alt.bayes_test(a, b, metric, weight=0.3688, rope=0.01)
    assert (found.p_h1, found.p_h0) == (found.p_b_better, found.p_a_better)
    got = (found.p_h1, found.p_h0, with_rope.p_b_better, with_rope.p_equivalent)
    assert got == pytest.approx(p, rel=1e-9, abs=1e-12)
    assert found.p_equivalent == 0
    assert with_rope.p_h1 == pytest.approx(found.p_h1, rel=1e-13)


@pytest.mark.parametrize(("metric", "prior", "a", "b", "margin", "p", "q"), known.AHEAD)
def test_probabilities_in_ball_arithmetic(metric, prior, a, b, margin, p, q):
    found = alt.bayes_test(a, b, metric, prior, rope=margin)
    assert (found.p_b_better, found.p_a_better) == pytest.approx((p, q), rel=3e-10, abs=1e-300)
    assert found.p_b_better == pytest.approx(p, abs=2e-12)
    assert found.p_a_better == pytest.approx(q, abs=2e-12)


@given(cells, cells, st.sampled_from([1, 2]), st.sampled_from(SINGLE))
@settings(max_examples=50)
def test_whole_priors_have_exact_fractions(a, b, prior, metric):
    first, second = (naive.hits_and_misses(metric, *(x + prior for x in c)) for c in (a, b))
    found, exact = alt.bayes_test(a, b, metric, prior), naive.better(*second, *first)
    close((found.p_h1, found.p_h0), (float(exact), float(1 - exact)))
    assert exact + naive.better(*first, *second) == 1


@pytest.mark.parametrize("margin", [0, 0.02, 0.3])
@pytest.mark.parametrize(("metric", "gain"), [("recall", 1), ("f1", 2)])
def test_margins_against_mpmath(metric, gain, margin):
    upper, lower = (
        naive.hits_and_misses(metric, *(x + 0.5 for x in c)) for c in [(14, 3, 2), (12, 1, 5)]
    )
    with mpmath.workdps(25):
        twins = [
            float(naive.ahead(*pair, margin, gain)) for pair in ((upper, lower), (lower, upper))
        ]
    found = alt.bayes_test([12, 1, 5], [14, 3, 2], metric, 0.5, rope=margin)
    close((found.p_b_better, found.p_a_better), twins)


@given(cells, cells, st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from(METRICS))
@settings(max_examples=25)
def test_one_of_both_is_better(a, b, prior, metric):
    prior = max(prior, 0.5) if metric in ("f2", "f0.5") else prior  # seconds, otherwise
    found, turned = alt.bayes_test(a, b, metric, prior), alt.bayes_test(b, a, metric, prior)
    assert found.p_h0 + found.p_h1 == pytest.approx(1, abs=1e-12)
    assert (turned.p_h0, turned.p_h1) == (found.p_h1, found.p_h0)
    assert 0 < found.p_h1 <= 1
    same = alt.bayes_test(a, a, metric, prior)
    assert same.p_h0 == same.p_h1 == pytest.approx(0.5, abs=1e-12)
    assert (same.accepted, same.decision) == ("H0", "undecided")


@given(cells, cells, st.integers(1, 9), st.sampled_from(["precision", "recall", "f1", "f2"]))
@settings(max_examples=30)
def test_more_hits_are_never_worse(a, b, more, metric):
    ahead = alt.bayes_test(a, (b[0] + more, *b[1:]), metric).p_h1
    assert ahead >= alt.bayes_test(a, b, metric).p_h1 - 1e-13


@given(cells, cells)
@settings(max_examples=8)
def test_precision_is_recall_of_the_exchanged_errors(a, b):
    def turned(c):
        return c[0], c[2], c[1], c[3]

    for one, other in (("precision", "recall"), ("f2", "f0.5"), ("f1", "f1")):
        p = alt.bayes_test(a, b, one).p_h1
        assert alt.bayes_test(turned(a), turned(b), other).p_h1 == pytest.approx(p, rel=1e-11)


def test_folds_are_added_and_weighted():
    found = alt.bayes_test(FOLDS_A, FOLDS_B)
    a, b = (np.sum(folds, axis=0) for folds in (FOLDS_A, FOLDS_B))
    assert (found.n_folds, found.weight) == (6, alt.block_weight(3))
    for weight in (alt.block_weight(3), 1e-6, 0.25):
        scaled = alt.bayes_test(a * weight, b * weight)
        assert alt.bayes_test(FOLDS_A, FOLDS_B, weight=weight).p_h1 == pytest.approx(
            scaled.p_h1, rel=1e-12
        )
    assert alt.bayes_test(FOLDS_A[::-1], FOLDS_B).p_h1 == found.p_h1
    nothing = alt.bayes_test(FOLDS_A, FOLDS_B, weight=1e-300)
    assert nothing.p_h1 == pytest.approx(0.5, abs=1e-12)
    careful = found.conservative
    assert careful.weight == 1 / 6
    assert careful.p_h1 == alt.bayes_test(FOLDS_A, FOLDS_B, weight=1 / 6).p_h1
    assert careful.posterior_a.std() > found.posterior_a.std()
    # Less than all folds together are worth was asked for already.
    assert alt.bayes_test(A, B, weight=0.3).conservative.weight == 0.3


def test_one_of_a_billion():
    found = alt.bayes_test([0, 10**9, 10**9], [10**9, 0, 0], rope=0.01)
    assert (found.p_h0, found.p_a_better) == (5e-324, 5e-324)
    assert (found.p_h1, found.p_b_better) == pytest.approx((1, 1), abs=1e-12)
    assert found.decision == "b better"
    unknown = alt.bayes_test([0, 0, 0], [0, 10**9, 10**9], "precision", 0.1)
    assert unknown.p_h0 + unknown.p_h1 == pytest.approx(1, abs=1e-12)


def test_rope_and_threshold_decide():
    assert alt.bayes_test(A, B).decision == "undecided"
    assert alt.bayes_test(A, B, threshold=0.8).decision == "b better"
    assert alt.bayes_test(B, A, threshold=0.8).decision == "a better"
    near = alt.bayes_test(A, B, rope=0.2)
    assert near.decision == "equivalent"
    assert near.verdict() == "Practically equivalent at a threshold of 0.95"
    assert near.p_a_better + near.p_equivalent + near.p_b_better == pytest.approx(1, abs=1e-13)
    assert near.p_h1 == pytest.approx(alt.bayes_test(A, B).p_h1, rel=1e-13)
    assert near.accepted == "H1"
    widths = [alt.bayes_test(A, B, rope=rope).p_equivalent for rope in (0, 1e-12, 0.01, 0.1, 0.99)]
    assert widths == sorted(widths)


@pytest.mark.parametrize("metric", ["f1", "precision", "f2"])
def test_random_draws_agree(metric):
    found = alt.bayes_test(A, B, metric)
    drawn = found.sampled(200_000, rng=0)
    assert drawn == found.sampled(200_000, rng=0)
    assert abs(drawn.p_h1 - found.p_h1) <= 4.5 * drawn.standard_error
    assert drawn.standard_error == pytest.approx(math.sqrt(drawn.p_h0 * drawn.p_h1 / 200_000))


def test_difference():
    gap = alt.bayes_test(A, B).difference
    q = np.array([1e-12, 0.025, 0.4, 0.9])
    assert gap.cdf(gap.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert gap.sf(gap.isf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert gap.cdf(gap.interval(0.9)) == pytest.approx([0.05, 0.95], abs=1e-12)
    assert gap.cdf(gap.median()) == pytest.approx(0.5, abs=1e-12)
    for d in (-0.05, 0.0, 0.001, 0.1):
        step = 1e-4
        ends = gap.cdf([d - 2 * step, d - step, d + step, d + 2 * step])
        slope = np.dot(ends, [1, -8, 8, -1]) / (12 * step)
        assert gap.pdf(d) == pytest.approx(slope, rel=1e-7)
        assert gap.cdf(d) + gap.sf(d) == pytest.approx(1, abs=1e-12)
    grid = np.linspace(-0.4, 0.4, 161)
    law = gap.pdf(grid) * 0.005
    variance = gap.a.var() + gap.b.var()
    moments = law.sum(), law @ grid, law @ (grid - gap.mean()) ** 2
    assert moments == pytest.approx((1, gap.mean(), variance), rel=1e-10)
    assert gap.pdf([-1, 1, 2, -2]).tolist() == [0, 0, 0, 0]
    assert gap.cdf([-1, 1, 2, -2]).tolist() == [0, 1, 1, 0]
    assert gap.ppf([0, 1]).tolist() == [-1, 1]
    assert np.isnan(gap.ppf([-1, 2, math.nan])).all()
    assert np.isnan([gap.pdf(math.nan), gap.cdf(math.nan), gap.sf(math.nan)]).all()
    with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\), got 0"):
        gap.interval(0)


def test_density_of_the_difference_of_two_flat_laws():
    gap = alt.bayes_test([0, 0, 0], [0, 0, 0], "recall").difference
    assert gap.pdf([-0.5, 0, 0.25]) == pytest.approx([0.5, 1, 0.75], rel=1e-12)
    assert gap.cdf([-0.5, 0, 0.25]) == pytest.approx([1 / 8, 1 / 2, 1 - 9 / 32], rel=1e-12)
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


def test_columns_go_by_name():
    table = pd.DataFrame({"fn": [20], "name": ["x"], "fp": [10], "tp": [90]})
    plain = alt.bayes_test(A, B)
    found = alt.bayes_test(table, {"tp": 95, "fn": 15, "fp": 9})
    assert (found.p_h0, found.p_h1) == (plain.p_h0, plain.p_h1)
    full = alt.bayes_test([*A, 1000], [*B, 900])
    assert full.p_h1 == plain.p_h1, "tn have no part in F1"
    same = alt.bayes_test([5, 3], [4, 4], "accuracy", prior=2)
    assert same.p_h1 == alt.bayes_test([5, 0, 3], [4, 0, 4], "recall", prior=2).p_h1


def test_unlike_gold_is_noted():
    assert alt.bayes_test([[9, 1, 1]] * 2, [[8, 5, 2]] * 2).notes == ()
    found = alt.bayes_test([[9, 1, 1], [9, 1, 1]], [[8, 5, 2], [9, 1, 2]], names=("old", "new"))
    assert len(found.notes) == 1
    for part in ("row 1", "10 to be found for old", "11 for new"):
        assert part in found.notes[0]
    assert found.notes[0] in found.to_dict()["notes"]
    assert "11 for new" in found._repr_html_()
    assert alt.bayes_test([5, 3], [4, 3], "accuracy").notes


def test_json_and_words():
    found = alt.bayes_test(FOLDS_A, FOLDS_B, prior=np.int64(1), names=("<old>", "new"), rope=0.01)
    plain = json.loads(found.to_json(indent=1))
    assert plain == found.to_dict()
    assert plain["p_h1"] == found.p_h1
    assert plain["models"][0]["counts"] == {"tp": 57, "fp": 15, "fn": 15}
    assert plain["difference"]["interval"] == list(found.difference.interval())
    nothing = alt.bayes_test([0, 0, 0], [0, 0, 0], "precision", 0.5)
    assert json.loads(nothing.to_json())["models"][0]["mode"] is None
    text = str(found)
    for part in (
        "P(new better than <old>) = 0.71",
        "within 0.01",
        "6 folds of 3 x 2 cross-validation, weight 0.3688",
    ):
        assert part in text
    assert "&lt;old&gt;" in found._repr_html_()
    assert "<old>" not in found._repr_html_()
    sure = str(alt.bayes_test([0, 10**6, 10**6], [10**6, 0, 0]))
    assert "P(A better or equal) < 1e-300" in sure


def test_a_metric_of_ones_own():
    ratio = MeanOfRatios(("tp", "fp", "fn"), ((1, 0, 0),), ((0, 3, 0),))
    mine = CountStatistic("mine", "My ratio", "tp / (tp + 3 fp)", (ratio,))
    found = alt.bayes_test(A, B, mine)
    # It rises with precision.
    assert found.p_h1 == pytest.approx(alt.bayes_test(A, B, "precision").p_h1, rel=1e-12)
    assert str(found).startswith("My ratio is 0.75 for A")
    assert found.conservative.p_h1 == found.p_h1
    assert "My ratio" in found._repr_html_()


def test_errors_name_the_argument():
    cases = [
        (r"folds_a\[1\] has fp = -5", ([[1, 2, 3], [4, -5, 6]], B), {}),
        (r"folds_b\[0\] has fn = nan", (A, [1, 2, math.nan]), {}),
        (r"folds_a has 1 folds of .*folds_b has 2", (A, [B, B]), {}),
        (r"folds_a has .*tn.*folds_b", ([*A, 5], B), {}),
        (r"3 folds are no m x 2 cross-validation; pass weight=", ([A] * 3, [B] * 3), {}),
        (r"rope=1 must lie in \[0, 1\)", (A, B), {"rope": 1}),
        (r"rope=nan must lie in \[0, 1\)", (A, B), {"rope": math.nan}),
        (r"rope='x'", (A, B), {"rope": "x"}),
        (r"threshold=0.4 must lie in \[0.5, 1\)", (A, B), {"threshold": 0.4}),
        (r"threshold=None", (A, B), {"threshold": None}),
        (r"prior=0 must be a number from 0.1", (A, B), {"prior": 0}),
        (r"prior='x'", (A, B), {"prior": "x"}),
        (r"weight=-1 must be a number above 0", (A, B), {"weight": -1}),
        (r"weight='x'", (A, B), {"weight": "x"}),
        (r"names=\('A', 'A'\) must differ", (A, B), {"names": ("A", "A")}),
        (r"metric='mcc' is no ratio", (A, B), {"metric": "mcc"}),
    ]
    shared = [
        (r"paired\[0\] has more tp or fn", [95, 5, 10]),
        (r"paired\[0\] leaves 10 tp to A alone, and 0 fn to B", [80, 5, 15]),
        (r"paired has 2 folds", [[80, 5, 5]] * 2),
        (r"paired=True needs two rows", True),
    ]
    cases += [(message, (A, B), {"paired": paired}) for message, paired in shared]
    for message, folds, options in cases:
        with pytest.raises((TypeError, ValueError), match=message):
            alt.bayes_test(*folds, **options)
    for draws in (0, 1.5, True):
        with pytest.raises(ValueError, match=f"draws={draws!r} must be a whole number above 0"):
            alt.bayes_test(A, B).sampled(draws)


def test_small_tails_across_zero_keep_their_digits():
    gap = alt.bayes_test([200, 0, 10], [100, 0, 100], "recall").difference
    assert 0 < gap.sf(0) < gap.sf(-1e-9) < gap.sf(0) * (1 + 1e-5)
    far = alt.bayes_test([10**5, 0, 10**4], [9 * 10**4, 0, 2 * 10**4], "recall").difference
    q = np.array([1e-10, 1e-15, 1e-40])
    assert np.all(np.diff(far.isf(q)) > 0)
    assert far.sf(far.isf(q)) == pytest.approx(q, rel=1e-9, abs=0)


def test_tails_add_up_at_the_largest_counts():
    gap = alt.bayes_test([10**10] * 3, [10**10] * 3, "recall").difference
    for x in (-1e-5, 0, 1e-6):
        assert gap.sf(x) + gap.cdf(x) == pytest.approx(1, abs=1e-10)
    with pytest.raises(ValueError, match="numbers from 0 to 1e"):
        alt.bayes_test([2 * 10**10, 0, 0], [1, 1, 1])
    with pytest.raises(ValueError, match="prior=1e"):
        alt.bayes_test([1, 0, 0], [1, 1, 1], prior=1e18)


def test_practical_equivalence_is_a_quadrature_too():
    found = alt.bayes_test([3000, 10, 300], [2000, 10, 1000], "recall", rope=0.001)
    gap = found.difference
    inside = np.linspace(-0.001, 0.001, 401)
    weights = np.full(401, 0.002 / 400)
    weights[[0, -1]] /= 2
    assert found.p_equivalent == pytest.approx(float(weights @ gap.pdf(inside)), rel=1e-3, abs=0)


def test_an_odd_number_of_folds_is_no_design():
    weight = alt.block_weight(1)
    found = alt.bayes_test([A] * 3, [B] * 3, weight=weight)
    assert not any("pair up" in note for note in found.notes)
    assert f"(3 folds, weight {weight:.4g}, prior 1)" in str(found)


# ---- pairs -------------------------------------------------------------------------------------


def simulated_dirichlet(cells, draws=400_000, seed=5):
    """P(B > A) of accuracy if joint outcomes have a Dirichlet law: both, A alone, B alone, none."""
    z = np.random.default_rng(seed).standard_gamma(np.array(cells) + 0.5, (draws, 4))
    return np.mean(z[:, 2] > z[:, 1])


@pytest.mark.parametrize(
    "cells", [(400, 20, 35, 45), (30, 4, 9, 7), (5, 1, 3, 1), (900, 50, 50, 10), (60, 0, 4, 2)]
)
def test_the_pair_is_nearly_that_of_a_dirichlet_law(cells):
    both, a, b, none = cells
    counts = (both + a, b + none), (both + b, a + none)
    found = alt.bayes_test(*counts, "accuracy", paired=(both, none)).paired
    exact = stats.beta(b + 0.5, a + 0.5).sf(0.5)
    assert simulated_dirichlet(cells) == pytest.approx(exact, abs=0.004)
    assert found.p_h1 == pytest.approx(exact, abs=0.03)
    assert (found.posterior_a.a, found.posterior_a.b) == (both + a + 1, b + none + 1)
    log_odds = np.random.default_rng(1).standard_gamma(np.array(cells) + 0.5, (200_000, 4)).T
    x = np.log([log_odds[0] + log_odds[1], log_odds[0] + log_odds[2]])
    x -= np.log([log_odds[2] + log_odds[3], log_odds[1] + log_odds[3]])
    assert found.correlation == pytest.approx(np.corrcoef(x)[0, 1], abs=0.02 + 1 / none)


@pytest.mark.parametrize("metric", ["f1", "precision"])
def test_a_copula_is_what_it_is_called(metric):
    law = alt.bayes_test(A, B, metric, rope=0.02, paired=[88, 5, 13]).paired
    gap, r = law.difference, law.correlation
    grid = np.linspace(-0.6, 0.6, 241)
    density = gap.pdf(grid) * 0.005
    assert (density.sum(), density @ grid) == pytest.approx((1, gap.mean()), rel=1e-9)
    assert gap.cdf(0.01) + gap.sf(0.01) == pytest.approx(1, abs=1e-11)
    assert gap.cdf(gap.interval(0.9)) == pytest.approx([0.05, 0.95], abs=1e-11)
    z = np.random.default_rng(3).multivariate_normal([0, 0], [[1, r], [r, 1]], 2000)
    a, b = (
        p.ppf(stats.norm.cdf(x))
        for p, x in zip((law.posterior_a, law.posterior_b), z.T, strict=True)
    )
    for p, event in (
        (law.p_h1, b > a),
        (law.p_b_better, b > a + 0.02),
        (law.p_equivalent, abs(b - a) <= 0.02),
    ):
        assert abs(event.mean() - p) < 4.5 * math.sqrt(p * (1 - p) / 2000)
    none = alt.DifferencePosterior(law.posterior_b, law.posterior_a, 1e-9)
    assert none.sf(0.01) == pytest.approx(
        alt.bayes_test(A, B, metric).difference.sf(0.01), rel=1e-8
    )


def test_f_scores_of_pairs():
    law = alt.bayes_test(A, B, "f2", paired=[88, 5, 13]).paired
    z = np.random.default_rng(3).standard_normal((2, 200))
    z[1] = law.correlation * z[0] + math.sqrt(1 - law.correlation**2) * z[1]
    a, b = (
        p.ppf(special.ndtr(x)) for p, x in zip((law.posterior_a, law.posterior_b), z, strict=True)
    )
    assert np.mean(b > a) == pytest.approx(law.p_h1, abs=0.1)
    assert law.p_h1 > alt.bayes_test(A, B, "f2").p_h1 + 0.05


@pytest.mark.parametrize("r", [-0.9, 0.9, 0.999])
@pytest.mark.parametrize(
    ("a", "b"), [(A, B), ([9, 1, 2], [900, 90, 150]), ([3, 0, 300], [4000, 0, 10])]
)
def test_copulas_of_unlike_laws_are_sums_over_normal_scores(a, b, r):
    a, b = alt.posterior(a), alt.posterior(b)
    gap, ends = alt.DifferencePosterior(b, a, r), np.array([0.0, 0.003, -0.02, 0.3])
    z = np.linspace(-9, 9, 2001)
    values = np.clip(a.ppf(special.ndtr(z))[:, None] + ends, 0, 1)
    with np.errstate(divide="ignore"):
        scores = np.where(
            b.cdf(values) < 0.5, special.ndtri(b.cdf(values)), -special.ndtri(b.sf(values))
        )
    given = special.ndtr((r * z[:, None] - scores) / math.sqrt(1 - r * r))
    assert gap.sf(ends) == pytest.approx(stats.norm.pdf(z) @ given * (z[1] - z[0]), abs=1e-6)
    assert gap.sf(ends) + gap.cdf(ends) == pytest.approx(1, abs=1e-12)


def test_models_that_share_everything_are_equal():
    for counts in (A, [9, 0, 1], [10**6, 10**5, 10**5]):
        found = alt.bayes_test(counts, counts, paired=counts)
        assert found.paired.p_h1 == pytest.approx(0.5, abs=1e-9)
        assert 0.6 < found.paired.correlation <= 0.999
    few = alt.bayes_test(A, B, paired=[88, 5, 13]).difference
    wide, narrow = (
        np.ptp(x.interval())
        for x in (few, alt.bayes_test(A, B, paired=[88, 5, 13]).paired.difference)
    )
    assert narrow < 0.7 * wide


def test_rows_say_how_models_correlate():
    rng = np.random.default_rng(2)
    found = rng.random((400, 3, 1)) < [0.8, 0.3, 0.3]
    a, b = (found ^ (rng.random((400, 3, 3)) < 0.1) for _ in "ab")
    a, b = (np.stack([x[:, 0].sum(1), x[:, 1].sum(1), 3 - x[:, 0].sum(1)], 1) for x in (a, b))
    r = alt.bayes_test(a, b, weight=1, paired=True)
    residuals = [
        x[:, 0] - t * (x[:, 0] + x[:, 1] + x[:, 2])
        for x, t in ((x, x[:, 0].sum() / x.sum()) for x in (a, b))
    ]
    assert r.paired.correlation == pytest.approx(np.corrcoef(residuals)[0, 1], abs=0.01)
    assert r.trusted is r.paired
    assert "estimated from 400 rows" in str(r)
    folds = alt.bayes_test(FOLDS_A, FOLDS_B, paired=True)
    assert folds.trusted is folds
    assert 0 < abs(folds.paired.correlation) < 0.9, "six rows say little"
    assert "Trust the first answer" in str(folds)
    assert json.loads(folds.to_json())["paired"]["trusted"] is False
    assert alt.bayes_test(FOLDS_A, FOLDS_A, paired=True).paired.p_h1 == pytest.approx(0.5)
    assert alt.bayes_test(A, B, paired=False).paired is None


def test_rows_have_the_posterior_mean_of_a_correlation():
    """Jeffreys' approximation beside the law of a sample correlation."""
    rho = np.linspace(-0.9999, 0.9999, 4001)
    a, b = np.array(FOLDS_A), np.array(FOLDS_B)
    found = alt.bayes_test(a, b, "recall", paired=True).paired.correlation
    u, v = (x[:, 0] - x[:, 0].sum() / x[:, [0, 2]].sum() * x[:, [0, 2]].sum(1) for x in (a, b))
    r, n = u @ v / math.sqrt(u @ u * (v @ v)), 6
    likelihood = (1 - rho**2) ** ((n - 1) / 2) * (1 - rho * r) ** (1.5 - n)
    likelihood *= special.hyp2f1(0.5, 0.5, n - 0.5, (1 + rho * r) / 2)
    assert found == pytest.approx(likelihood @ rho / likelihood.sum(), abs=0.02)
