"""The far tail: p of any lead against enumeration, tilted laws, and the picture of both."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest.widgets import TailExplorer, frame
from tests import naive, strategies

RNG = np.random.default_rng(6)
U, V = RNG.integers(0, 9, (2, 120))
TOP = int(np.abs(U - V).sum())


def artists(ax, gid):
    return [child for child in ax.get_children() if child.get_gid() == gid]


@pytest.fixture(autouse=True)
def unseen(monkeypatch):
    """Explorers draw as ever, but make no PNG file of it."""
    monkeypatch.setattr(frame, "png", lambda figure: b"")


# ---- another lead ------------------------------------------------------------------------------


def at(u, v, observed):
    return pt.exact_perm_test(u, v).at(observed)


@given(strategies.pairs(kinds=("binary", "small", "signed")), st.data())
def test_p_at_any_lead_is_the_share_of_labellings_that_reach_it(scores, data):
    u, v = scores
    sums = naive.labellings(u, v)
    observed = data.draw(st.sampled_from(sums))
    share = Fraction(sum(abs(s) >= abs(observed) for s in sums), len(sums))
    result = at(u, v, observed)
    assert result.fraction() == share
    assert result.pvalue == pytest.approx(float(share), rel=1e-12)
    assert (result.statistic, result.n) == (observed, len(u))


@pytest.mark.parametrize("observed", [1, 10, -10, 0, 2.5])
def test_sums_that_no_labelling_has_are_refused(observed):
    message = rf"observed={observed} is a sum that no labelling has; .* from -8 to 8 in steps of 2"
    with pytest.raises(ValueError, match=message):
        at([3, 5], [0, 0], observed)


# ---- the tilted law ----------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(strategies.pairs(kinds=("binary", "small", "signed"), max_size=8), st.data())
def test_the_tilted_law_is_the_null_law_times_an_exponential(scores, data):
    u, v = scores
    sums, e = naive.labellings(u, v), TailExplorer(u, v)
    e.lead.value = data.draw(st.sampled_from([value for _, value in e.lead.options]))
    weights = {s: sums.count(s) * exp(e.tau * (s - max(sums))) for s in set(sums)}
    for s, weight in weights.items():
        assert e.tilted(s) == pytest.approx(weight / sum(weights.values()), rel=1e-9)
    assert e.tau >= 0


# ---- the picture -------------------------------------------------------------------------------


def test_what_is_drawn_is_both_laws():
    e = TailExplorer(U, V)
    lead = e.lead.value = min((x for _, x in e.lead.options), key=lambda x: abs(x - TOP + 60))
    (upper, lower), null = e._axes, e.result.null_distribution
    logs = null.log_pmf / log(10)
    (body,), (extreme,) = artists(upper, "null"), artists(upper, "extreme")
    reached = np.isfinite(logs)
    is_extreme = np.abs(null.support) >= lead
    for patch, cells in ((body, ~is_extreme), (extreme, is_extreme)):
        np.testing.assert_array_equal(patch.get_data()[0], np.where(reached & cells, logs, np.nan))
    assert extreme.get_hatch()
    (line,) = artists(upper, "tilted")
    above = line.get_ydata() > upper.get_ylim()[0]
    expected = e.tilted.log_pmf[reached] / log(10)
    np.testing.assert_allclose(line.get_ydata()[above], expected[above])
    for gid, law in (("null", null), ("tilted", e.tilted)):
        (patch,) = artists(lower, gid)
        np.testing.assert_allclose(patch.get_data()[0], law.pmf / law.pmf.max(), rtol=1e-12)


def test_what_cannot_be_drawn_is_refused_at_once():
    with pytest.raises(ValueError, match="has 1,000,002 cells, too many to draw"):
        TailExplorer([10**6, 1], [0, 0])
    assert at([10**6, 1], [0, 0], 10**6 - 1).pvalue == 1.0
