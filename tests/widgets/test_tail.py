"""The far tail: p of any lead against enumeration, tilted laws, and the picture of both."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import permtest as pt
from permtest.plots import FarTail, plot_tail
from tests import naive, strategies

RNG = np.random.default_rng(6)
U, V = RNG.integers(0, 9, (2, 120))
TOP = int(np.abs(U - V).sum())


def drawn(tail: FarTail):
    return plot_tail(tail, axes=Figure().subplots(2))


def artists(ax, gid):
    return [child for child in ax.get_children() if child.get_gid() == gid]


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
    for make in (at, FarTail.of):
        with pytest.raises(ValueError, match=message):
            make([3, 5], [0, 0], observed)


# ---- the tilted law ----------------------------------------------------------------------------


@given(strategies.pairs(kinds=("binary", "small", "signed"), max_size=8), st.data())
def test_the_tilted_law_is_the_null_law_times_an_exponential(scores, data):
    u, v = scores
    sums = naive.labellings(u, v)
    tail = FarTail.of(u, v, data.draw(st.sampled_from(sums)))
    weights = {s: sums.count(s) * exp(tail.tau * (s - max(sums))) for s in set(sums)}
    for s, weight in weights.items():
        assert tail.null(s) == pytest.approx(sums.count(s) / len(sums), rel=1e-12)
        assert tail.tilted(s) == pytest.approx(weight / sum(weights.values()), rel=1e-9)
    assert tail.tau >= 0


# ---- the picture -------------------------------------------------------------------------------


def test_what_is_drawn_is_both_laws():
    lead = TOP - 60
    tail = FarTail.of(U, V, lead)
    upper, lower = drawn(tail)
    logs = tail.null.log_pmf / log(10)
    (body,), (extreme,) = artists(upper, "null"), artists(upper, "extreme")
    reached = np.isfinite(logs)
    is_extreme = np.abs(tail.null.support) >= lead
    for patch, cells in ((body, ~is_extreme), (extreme, is_extreme)):
        np.testing.assert_array_equal(patch.get_data()[0], np.where(reached & cells, logs, np.nan))
    assert extreme.get_hatch()
    (line,) = artists(upper, "tilted")
    np.testing.assert_array_equal(line.get_xdata(), tail.null.support[reached])
    above = line.get_ydata() > upper.get_ylim()[0]
    expected = tail.tilted.log_pmf[reached] / log(10)
    np.testing.assert_allclose(line.get_ydata()[above], expected[above])
    for gid, law in (("null", tail.null), ("tilted", tail.tilted)):
        (patch,) = artists(lower, gid)
        heights, edges, _ = patch.get_data()
        for height, left, right in zip(heights, edges, edges[1:], strict=False):
            assert height == pytest.approx(law((left + right) / 2) / law.pmf.max(), rel=1e-12)
        assert heights.max() == 1


def test_what_cannot_be_drawn_is_refused_at_once():
    with pytest.raises(ValueError, match="has 1,000,002 cells, too many to draw"):
        FarTail.of([10**6, 1], [0, 0])
    assert at([10**6, 1], [0, 0], 10**6 - 1).pvalue == 1.0
