"""Posteriors of ratios of counts against SciPy's Beta, printed formulas and ball arithmetic."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from permtest import alternatives as alt
from tests import naive
from tests.alternatives import known

SINGLE = ("precision", "recall", "f1", "jaccard", "specificity")
METRICS = (*SINGLE, "f2", "f0.5")
counts = st.sampled_from([0, 1, 2, 7, 30, 400]).flatmap(lambda top: st.integers(0, top))
cells = st.tuples(counts, counts, counts, counts)
priors = st.sampled_from([0.5, 1.0, 2.0])
TAILS = [1e-12, 1e-3, 0.025, 0.5, 0.975, 1 - 1e-3]


def parameters(metric, tp, fp, fn, tn, prior):
    return naive.hits_and_misses(metric, *(cell + prior for cell in (tp, fp, fn, tn)))


@pytest.mark.parametrize(("a", "_", "metric", "__", "moments", "interval"), known.BAYES)
def test_known_modes_moments_and_intervals(a, _, metric, __, moments, interval):
    law = alt.posterior(a, metric, weight=0.3688)
    assert (law.mode(), law.mean(), law.std()) == pytest.approx(moments, rel=1e-12, abs=1e-15)
    assert law.interval() == pytest.approx(interval, rel=1e-11)


@pytest.mark.parametrize(("metric", "prior", "seen", "value", "answers"), known.POSTERIORS)
def test_density_and_tails_in_ball_arithmetic(metric, prior, seen, value, answers):
    law = alt.posterior(seen, metric, prior=prior)
    found = law.pdf(value), law.cdf(value), law.sf(value)
    # A rounding of the value alone changes these by parts in 1e11 at counts of a million.
    assert found == pytest.approx(answers, rel=3e-10, abs=0)


@given(cells, priors, st.sampled_from(["precision", "recall", "specificity"]))
@settings(max_examples=50)
def test_ratios_of_two_cells_are_beta(seen, prior, metric):
    a, b = parameters(metric, *seen, prior)
    law, peer = alt.posterior(seen, metric, prior=prior), stats.beta(a, b)
    t = peer.ppf(TAILS)
    assert law.ppf(TAILS) == pytest.approx(t, rel=1e-10, abs=0)
    assert 1 - law.isf(TAILS) == pytest.approx(stats.beta(b, a).ppf(TAILS), rel=1e-9, abs=1e-15)
    inner = t[(t > 0) & (t < 1)]
    assert law.pdf(inner) == pytest.approx(peer.pdf(inner), rel=1e-9, abs=0)
    assert law.cdf(inner) == pytest.approx(peer.cdf(inner), rel=1e-9, abs=0)
    assert law.sf(inner) == pytest.approx(peer.sf(inner), rel=1e-9, abs=0)
    assert (law.mean(), law.var()) == pytest.approx((peer.mean(), peer.var()), rel=1e-11)
    if min(a, b) > 1:
        assert law.mode() == pytest.approx((a - 1) / (a + b - 2), rel=1e-13, abs=1e-15)


@given(st.tuples(counts, counts, counts), priors)
@settings(max_examples=50)
def test_f1_has_the_printed_density_and_interval(seen, prior):
    b, a = parameters("f1", *seen, 0, prior)  # the paper's a are the misses
    law, t = alt.posterior(seen, "f1", prior=prior), np.array([0.03, 0.4, 0.77, 0.98])
    logs = a * np.log(2) + (a - 1) * np.log1p(-t) - (a + b) * np.log(2 - t) + (b - 1) * np.log(t)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    finite = logs - log_beta > -700
    density = np.log(law.pdf(t[finite]))
    assert density == pytest.approx((logs - log_beta)[finite], rel=1e-11, abs=1e-10)
    odds = stats.betaprime(a, b).ppf([0.975, 0.025])
    assert law.interval() == pytest.approx(2 / (2 + odds), rel=1e-9)
    jaccard = alt.posterior(seen, "jaccard", prior=prior)
    assert law.cdf(t) == pytest.approx(jaccard.cdf(t / (2 - t)), rel=1e-11)


@pytest.mark.parametrize(("metric", "beta"), [("f2", 2), ("f0.5", 0.5), ("f1", 1)])
def test_f_scores_are_ratios_of_gamma_variables(metric, beta):
    law = alt.posterior((40, 6, 3), metric)
    for t in (0.3, 0.8, 0.97):
        twin = float(naive.f_density(t, 41, 7, 4, beta))
        assert law.pdf(t) == pytest.approx(twin, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seen", [(3, 1, 0, 2), (500, 20, 90, 40)])
def test_a_law_agrees_with_itself(metric, seen):
    law = alt.posterior(seen, metric)
    q = np.array([1e-12, 1e-4, 0.3, 0.5, 0.9])
    assert law.cdf(law.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    # Next to 1 a float has no more digits than this.
    assert law.sf(law.isf(q)) == pytest.approx(q, rel=1e-9, abs=1e-15)
    low, middle, high = (*law.ppf([1e-13, 0.5]), law.isf(1e-13))
    pieces = [low, law.ppf(0.01), middle, law.isf(0.01), high]

    def integral(function):
        return sum(integrate.quad(function, *ends, epsabs=1e-13)[0] for ends in pairwise(pieces))

    assert integral(law.pdf) == pytest.approx(1, abs=1e-11)
    mean = integral(lambda t: t * law.pdf(t))
    assert law.mean() == pytest.approx(mean, rel=1e-11)
    assert law.var() == pytest.approx(integral(lambda t: (t - mean) ** 2 * law.pdf(t)), rel=1e-9)
    assert law.median() == middle
    ends = law.interval(0.8)
    assert law.cdf(ends) == pytest.approx([0.1, 0.9], abs=3e-12)
    around = law.mode() + np.array([-1e-4, 0, 1e-4]) * law.std()
    assert np.argmax(law.pdf(around)) == 1


@pytest.mark.parametrize("metric", METRICS)
def test_a_million_counts_keep_their_digits(metric):
    law, few = (alt.posterior((10**6, n, 2 * n, 10**6), metric) for n in (10**5, 0))
    q = np.array([1e-12, 1e-6, 0.5])
    for each in (law, few):
        assert each.cdf(each.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
        x = each.isf(q)
        # The spacing of floats near 1 is all that is lost.
        assert each.sf(x) == pytest.approx(q, rel=1e-9, abs=2 * each.pdf(x).max() * 1e-16)
    if metric in SINGLE:
        a, b = parameters(metric, 10**6, 10**5, 2 * 10**5, 10**6, 1)
        gain = 2 if metric == "f1" else 1
        assert law.mean() == pytest.approx(gain * a / (gain * a + b), rel=1e-6)


@pytest.mark.parametrize(("prior", "seen"), [(1, (0, 0, 10**6)), (0.5, (0, 0, 10**6))])
def test_moments_of_rare_hits(prior, seen):
    law, (a, b) = alt.posterior(seen, "recall", prior=prior), (prior, 10**6 + prior)
    assert law.mean() == pytest.approx(a / (a + b), rel=1e-12)
    assert law.var() == pytest.approx(a * b / (a + b) ** 2 / (a + b + 1), rel=1e-12)


def test_ends_and_shapes():
    law = alt.posterior([0, 3, 0], "precision")  # Beta(1, 4)
    assert law.pdf([-1, 0, 1, 2]) == pytest.approx([0, 4, 0, 0], rel=1e-13)
    assert law.cdf([-1, 0, 1, 2]).tolist() == [0, 0, 1, 1]
    assert law.sf([-1, 0, 1, 2]).tolist() == [1, 1, 0, 0]
    assert law.mode() == 0
    for n in (0.5, 5.532, 40, 10**6):
        for metric in ("precision", "f2"):
            assert alt.posterior([0, n, 9 * n], metric).mode() == 0
        assert alt.posterior([n, 0, 0], "f1", prior=0.5).mode() > 0.5
        assert alt.posterior([n, 0, 0], "precision").mode() == 1
    jeffreys = alt.posterior([0, 3, 0], "precision", prior=0.5)
    assert jeffreys.pdf(0) == math.inf
    assert jeffreys.mode() == 0
    assert math.isnan(alt.posterior([0, 0, 0], "precision", prior=0.5).mode())
    for metric in ("f1", "f2"):
        both = alt.posterior([4, 2, 1], metric)
        assert both.ppf([0, 1]).tolist() == [0, 1]
        assert both.isf([0, 1]).tolist() == [1, 0]
        assert np.isnan(both.ppf([-0.1, 1.1, math.nan])).all()
        assert np.isnan([both.pdf(math.nan), both.cdf(math.nan), both.sf(math.nan)]).all()
        for method in (both.pdf, both.cdf, both.sf, both.ppf, both.isf):
            assert method(np.full((2, 3), 0.5)).shape == (2, 3)
            assert method([]).shape == (0,)
            assert np.ndim(method(0.5)) == 0
        assert both.rvs((2, 3), rng=0).shape == (2, 3)


@pytest.mark.parametrize("metric", ["recall", "f1", "f2", "f0.5"])
def test_random_values_follow_the_law(metric):
    law = alt.posterior([30, 4, 11], metric)
    drawn = law.rvs(4000, rng=1)
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-4
    assert (drawn == law.rvs(4000, rng=1)).all()


def test_few_of_one_kind_of_error_are_no_burden():
    law = alt.posterior([10**6, 0, 10**6], "f2")
    assert law.shifts.size <= 32
    # With next to no fp it is a function of recall.
    recall = alt.posterior([10**6, 0, 10**6], "recall")
    assert law.mean() == pytest.approx(5 * recall.mean() / (4 + recall.mean()), rel=3e-6)


def test_text_and_errors():
    law = alt.posterior([90, 10, 20])
    assert str(law).startswith(
        "f1: mode 0.8543, mean 0.8499, 95% credible interval 0.7945 to 0.897"
    )
    with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\), got 1"):
        law.interval(1)
    with pytest.raises(ValueError, match=r"counts\[0\] has fn = -1"):
        alt.posterior([1, 2, -1])
    with pytest.raises(ValueError, match="prior=-1 must be a number"):
        alt.posterior([1, 2, 3], prior=-1)
    with pytest.raises((TypeError, ValueError), match="prior='flat'"):
        alt.posterior([1, 2, 3], prior="flat")
    with pytest.raises(ValueError, match=r"prior=0\.0001 must be a number from 0.1"):
        alt.posterior([1, 0, 3], "precision", prior=1e-4)
    with pytest.raises(ValueError, match="metric='mcc' is no ratio"):
        alt.posterior([1, 2, 3, 4], "mcc")


def test_accuracy_has_one_prior_for_right_and_one_for_wrong():
    cells, shares = alt.posterior([4, 1, 2, 3], "accuracy"), alt.posterior([7, 3], "accuracy")
    assert cells.interval() == shares.interval()
    assert cells.interval() == pytest.approx(stats.beta(8, 4).interval(0.95), rel=1e-12)
