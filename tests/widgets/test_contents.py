"""What each explorer shows is what the functions of the package find."""

from fractions import Fraction
from html import unescape
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest import alternatives as alt
from permtest.result import answer
from permtest.study import minimum_detectable_effect, power_t, sample_size
from permtest.widgets import PosteriorExplorer, PowerExplorer, TailExplorer, frame
from permtest.widgets.explore_systems import MEASURES, StaircaseExplorer, TwoSystemsExplorer
from tests import naive, strategies
from tests.widgets.test_explorers import COUNTS, SCORES, A, B


@pytest.fixture(autouse=True)
def unseen(monkeypatch):
    """Explorers paint as ever, but make no PNG file of it, which takes most of their time."""
    monkeypatch.setattr(frame, "png", lambda figure: b"")


def part(e, gid):
    return next(x for ax in e._axes for x in ax.get_children() if x.get_gid() == gid)


@pytest.mark.parametrize("tails", ["two-sided", "greater"])
def test_every_two_systems_are_tested(tails):
    a, b = "good", "weak"
    e = TwoSystemsExplorer(SCORES, a=a, b=b, statistic="accuracy")
    e.tails.value, e.n.value = tails, 37
    options = {"alternative": tails, "statistic": "accuracy"}
    expected = pt.exact_perm_test(SCORES[a][:37], SCORES[b][:37], names=(a, b), **options)
    assert str(expected) in e.sentence.value
    both = [np.nansum(part(e, gid).get_data()[0]) for gid in ("body", "rejected")]
    assert both[1] == pytest.approx(expected.pvalue)
    assert sum(both) == pytest.approx(1)
    assert part(e, "observed").get_xdata() == [expected.marks[0]] * 2


@pytest.mark.parametrize("side", ["two-sided", "greater"])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_staircase_is_the_test_at_the_point_that_is_chosen(measure, side):
    e = StaircaseExplorer(*COUNTS, names=("new", "old"))
    e.statistic.value, e.tails.value = measure, side
    base = pt.exact_perm_test(*COUNTS, statistic=measure, alternative=side, names=("new", "old"))
    assert e.result == base
    assert " This is the observed value." in e.sentence.value
    e.hits.value -= 4
    e.misses.value += 2
    weight = base.sums[0] // int(COUNTS[0][:, 0].sum())
    question = base._question.observing((weight * e.hits.value, e.misses.value))
    assert e.result == answer(question) != base
    assert str(e.result) in unescape(e.sentence.value)
    assert "observed" not in e.sentence.value
    assert ("move together" in e.sentence.value) == (e.result.rank == 1)
    if e.result.rank == 2:
        at = part(e, "observed").get_data()
        assert [float(x[0]) for x in at] == [e.misses.value, e.hits.value]


@pytest.mark.parametrize("swapped", [False, True])
def test_power_is_that_of_the_functions(swapped):
    u, v = (B, A) if swapped else (A, B)
    e, d = PowerExplorer(u, v, lead=-0.3 if swapped else 0.3), u - v
    e.alpha.value, e.n.value = 0.1, 90
    lead, sd = e.lead.value, d.std(ddof=1)
    assert e.power == power_t(90, lead, sd, alpha=0.1)
    assert e.needed == sample_size(lead, sd, alpha=0.1)
    assert e.detectable == minimum_detectable_effect(90, sd, alpha=0.1)
    low, high, *_ = alt.paired_t(u, v).confidence_interval(0.9)
    assert e.expected == pytest.approx((low + lead - d.mean(), high + lead - d.mean()))
    assert tuple(part(e, "interval").get_xdata()) == (e.expected[0], lead, e.expected[1])
    assert f"has a power of {100 * e.power:.1f}%; " in e.sentence.value


X, Y = (90, 10, 20), (95, 9, 15)


def test_counts_are_dragged_and_what_is_to_be_found_is_the_same_for_both():
    e = PosteriorExplorer(X, Y, rope=0.02, names=("old", "new"))
    e.counts["tp_a"].value = 40
    wanted = alt.bayes_test((40, 10, 70), Y, rope=0.02, names=("old", "new"))
    assert e.result.p_b_better == wanted.p_b_better
    assert str(wanted) in unescape(e.sentence.value)
    for gid, law in (("a", wanted.posterior_a), ("b", wanted.posterior_b)):
        assert tuple(part(e, f"interval {gid}").get_xdata()[[0, 2]]) == law.interval()
    e.counts["gold_b"].value = 60
    assert [bar.value for bar in e.counts.values()] == [40, 10, 60, 60, 9, 60]


@pytest.mark.parametrize(("metric", "idle"), [("f1", ""), ("recall", "fp"), ("precision", "gold")])
def test_a_count_that_the_metric_does_not_look_at_cannot_be_moved(metric, idle, monkeypatch):
    monkeypatch.setattr(PosteriorExplorer, "_draw", lambda _: None)
    e = PosteriorExplorer(X, Y)
    e.metric.value = metric
    for name, bar in e.counts.items():
        said = e.sentence.value
        bar.value -= 1
        assert (e.sentence.value == said) == bar.disabled == (name[:-2] == idle)


def test_it_opens_with_folds_added_up():
    folds = [[57, 15, 15], [3, 1, 2]], [[63, 14, 9], [2, 2, 3]]
    found = alt.bayes_test(*folds, "recall", 0.7, rope=0.06, names=("x", "y"))
    e = PosteriorExplorer(*folds, metric="recall", prior=0.7, rope=0.06, names=("x", "y"))
    assert [bar.value for bar in e.counts.values()] == [60, 16, 77, 65, 16, 77]
    assert e.result.p_b_better == pytest.approx(found.p_b_better, abs=1e-9)
    kept = ("metric", "prior", "rope", "weight", "names")
    assert all(getattr(e.result, name) == getattr(found, name) for name in kept)


@settings(max_examples=20, deadline=None)
@given(strategies.pairs(kinds=("binary", "small", "signed"), max_size=8), st.data())
def test_p_of_any_lead_is_a_share_and_the_tilted_law_an_exponential_times_the_null(scores, data):
    u, v = scores
    sums, e = naive.labellings(u, v), TailExplorer(u, v)
    lead = e.lead.value = data.draw(st.sampled_from([value for _, value in e.lead.options]))
    share = Fraction(sum(abs(s) >= lead for s in sums), len(sums))
    assert e.result.fraction() == share
    assert e.result.pvalue == pytest.approx(float(share), rel=1e-12)
    weights = {s: sums.count(s) * exp(e.tau * (s - max(sums))) for s in set(sums)}
    for s, weight in weights.items():
        assert e.tilted(s) == pytest.approx(weight / sum(weights.values()), rel=1e-9)
    assert e.tau >= 0
