"""Posteriors of ratios of counts, and the test: exact fractions, SciPy, ball arithmetic, draws."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from permtest import alternatives as alt
from tests import naive
from tests.alternatives import known
from tests.alternatives.known import FOLDS_A, FOLDS_B

A, B = [90, 10, 20], [95, 9, 15]
METRICS = ("precision", "recall", "f1")
counts = st.sampled_from([0, 1, 3, 30, 400]).flatmap(lambda top: st.integers(0, top))
cells = st.tuples(counts, counts, counts)


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
    pieces, mean = [*pairwise(law.ppf([1e-13, 0.01, 0.5, 0.99, 1 - 1e-13]))], law.mean()
    area, off, variance = (
        sum(integrate.quad(lambda t: (t - mean) ** k * law.pdf(t), *x, epsabs=0)[0] for x in pieces)  # noqa: B023
        for k in range(3)
    )
    assert (area, mean + off) == pytest.approx((1, mean), rel=1e-11)
    assert law.var() == pytest.approx(variance, rel=1e-9)


def test_ends_and_shapes():
    law = alt.posterior([0, 3, 0], "precision")  # Beta(1, 4)
    assert law.pdf([-1, 0, 1, 2]) == pytest.approx([0, 4, 0, 0], rel=1e-13)
    assert law.cdf([-1, 0, 1, 2]).tolist() == [0, 0, 1, 1]
    assert law.sf([-1, 0, 1, 2]).tolist() == [1, 1, 0, 0]
    assert alt.posterior([0, 3, 0], "precision", prior=0.5).pdf(0) == math.inf
    for both, low in ((alt.posterior([4, 2, 1]), 0), (alt.bayes_test(A, B).difference, -1)):
        assert both.ppf([0, 1]).tolist() == [low, 1]
        assert np.isnan(both.ppf([-1.1, 1.1, math.nan])).all()
        for method in (both.pdf, both.cdf, both.sf, both.ppf):
            assert np.isnan(method(math.nan))
            assert method(np.full((2, 3), 0.5)).shape == (2, 3)
        with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\), got 1"):
            both.interval(1)


@pytest.mark.parametrize(("a", "b", "metric", "p", "moments", "interval"), known.BAYES)
def test_known_answers(a, b, metric, p, moments, interval):
    found, near = (alt.bayes_test(a, b, metric, weight=0.3688, rope=x) for x in (0, 0.01))
    assert (found.p_h1, found.p_h0) == (found.p_b_better, found.p_a_better)
    got = (found.p_h1, found.p_h0, near.p_b_better, near.p_equivalent)
    assert got == pytest.approx(p, rel=1e-9, abs=1e-12)
    assert (found.p_equivalent, near.p_h1) == (0, pytest.approx(found.p_h1, rel=1e-13))
    law = found.posterior_a
    assert (law.mean(), math.sqrt(law.var())) == pytest.approx(moments, rel=1e-12)
    assert law.interval() == pytest.approx(interval, rel=1e-11)


@pytest.mark.parametrize(("metric", "prior", "a", "b", "margin", "p", "q"), known.AHEAD)
def test_probabilities_in_ball_arithmetic(metric, prior, a, b, margin, p, q):
    found = alt.bayes_test(a, b, metric, prior, rope=margin)
    got = found.p_b_better, found.p_a_better
    assert got == pytest.approx((p, q), rel=3e-10, abs=1e-300)
    assert np.abs(np.subtract(got, (p, q))).max() <= 2e-12


far = [((200, 0), (0, 210)), ((0, 120), (120, 0)), ((46, 0), (0, 120)), ((120, 1), (1, 45))]
whole = st.sampled_from(far).map(lambda ab: [(x, 0, y) for x, y in ab])


@given(whole | st.tuples(cells, cells), st.sampled_from([1, 2]), st.sampled_from(METRICS))
@settings(max_examples=60)
def test_whole_priors_have_exact_fractions_and_far_tails_keep_their_digits(ab, prior, metric):
    first, second = (naive.hits_and_misses(metric, *(x + prior for x in c)) for c in ab)
    found, exact = alt.bayes_test(*ab, metric, prior), naive.better(*second, *first)
    got, expected = (found.p_h1, found.p_h0), (float(exact), float(1 - exact))
    assert got == pytest.approx(expected, rel=1e-11, abs=0)
    assert np.abs(np.subtract(got, expected)).max() < 1e-12


def test_folds_are_added_and_weighted():
    found = alt.bayes_test(FOLDS_A, FOLDS_B)
    a, b = (np.sum(folds, axis=0) for folds in (FOLDS_A, FOLDS_B))
    assert found.weight == alt.block_weight(3)
    for weight in (alt.block_weight(3), 1e-6, 0.25):
        p = alt.bayes_test(FOLDS_A[::-1], FOLDS_B, weight=weight).p_h1
        assert p == pytest.approx(alt.bayes_test(a * weight, b * weight).p_h1, rel=1e-12)


def test_tails_next_to_1_are_not_asked_for(monkeypatch):
    """SciPy's betaincc is NaN in a browser where it is 1 but for something tiny."""
    betaincc, x = special.betaincc, [-0.9, -0.5930073730119747, -0.1, 0.01, 0.5]
    gap = alt.bayes_test([1742, 0, 564], [1787, 0, 532]).difference
    expected = [*gap.sf(x), *gap.cdf(x), *gap.interval()]

    def lost(a, b, x):
        return np.where(special.betainc(a, b, x) < 1e-100, math.nan, betaincc(a, b, x))

    monkeypatch.setattr(special, "betaincc", lost)
    assert [*gap.sf(x), *gap.cdf(x), *gap.interval()] == expected


def test_difference():
    gap = alt.bayes_test(A, B).difference
    q = np.array([1e-40, 1e-12, 0.025, 0.4, 0.9])
    assert gap.cdf(gap.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    grid = np.linspace(-0.4, 0.4, 161)
    law, variance = gap.pdf(grid) * 0.005, gap.a.var() + gap.b.var()
    moments = law.sum(), law @ grid, law @ (grid - gap.mean()) ** 2
    assert moments == pytest.approx((1, gap.mean(), variance), rel=1e-10)
    assert gap.sf(grid) + gap.cdf(grid) == pytest.approx(np.ones(161), abs=1e-12)
    assert gap.pdf([-1, 1, 2, -2]).tolist() == [0, 0, 0, 0]
    assert gap.cdf([-1, 1, 2, -2]).tolist() == [0, 1, 1, 0]
    flat = alt.bayes_test([0, 0, 0], [0, 0, 0], "recall").difference
    assert flat.pdf([-0.5, 0, 0.25]) == pytest.approx([0.5, 1, 0.75], rel=1e-12)
    assert flat.cdf([-0.5, 0, 0.25]) == pytest.approx([1 / 8, 1 / 2, 1 - 9 / 32], rel=1e-12)
    pole = alt.bayes_test([0, 9, 9], [0, 9, 9], "recall", 0.1).difference
    assert pole.pdf(0) == math.inf, "both densities are t^-0.9 near 0"


def test_rope_has_a_probability():
    near = alt.bayes_test(A, B, rope=0.2)
    assert near.p_a_better + near.p_equivalent + near.p_b_better == pytest.approx(1, abs=1e-13)
    tiny = alt.bayes_test([3000, 10, 300], [2000, 10, 1000], "recall", rope=0.001)
    p = integrate.trapezoid(tiny.difference.pdf(np.linspace(-0.001, 0.001, 401)), dx=5e-6)
    assert tiny.p_equivalent == pytest.approx(p, rel=1e-3, abs=0), "a quadrature, too"


def test_a_sentence_and_json():
    found = alt.bayes_test(A, B, names=("<old>", "new"), rope=0.01)
    assert json.loads(found.to_json())["p_h1"] == found.p_h1
    assert str(found).startswith(
        "F1 of new and <old>: P(new better) = 0.7203, P(within 0.01 of each other) = 0.1567, "
        "P(<old> better) = 0.1229; new minus <old>: 0.03038, 95% credible interval -0.03807 to "
    )
    assert "6 rows of counts, weight 0.3688" in str(alt.bayes_test(FOLDS_A, FOLDS_B))
    assert "&lt;old&gt;" in found._repr_html_()
    sure = alt.bayes_test([0, 10**6, 10**6], [10**6, 0, 0])
    assert (sure.p_h0, sure.chances()["a"]) == (1e-300, "1e-300")
    apart = alt.bayes_test([0, 10**6, 10**6], [10**6, 0, 0], rope=0.1)
    assert (apart.p_equivalent, apart.chances()["neither"]) == (0, "1e-300")


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="folds_b has 2 folds, folds_a has 1"):
        alt.bayes_test(A, [B, B])
    with pytest.raises(ValueError, match="prior=0 must be a number"):
        alt.bayes_test(A, B, prior=0)
