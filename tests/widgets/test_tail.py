"""The far tail: p of any lead against enumeration, tilted laws, and the picture of both."""

from fractions import Fraction
from math import exp, log

import matplotlib as mpl
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


def test_at_the_observed_lead_it_is_the_test_itself():
    result = pt.exact_perm_test(U, V, names=("a", "b"))
    assert result.at(result.statistic) == result
    with pytest.raises(ValueError, match="needs an exact p"):
        pt.monte_carlo(U, V, K=9, rng=0).at(result.statistic)


def test_another_lead_has_no_totals():
    assert at([5, 4], [1, 2], -2).totals is None
    assert at([5, 4], [1, 2], 6).totals == (9, 3)


@pytest.mark.parametrize("method", ["dp", "integer"])
def test_all_methods_are_there(method):
    result = pt.exact_perm_test(U, V).at(TOP, method=method)
    assert result.method == method
    assert result.log10_pvalue == pytest.approx(at(U, V, TOP).log10_pvalue, rel=1e-12)


def test_decimals():
    result = at([0.5, 0.25, 1.0], [0.0, 0.0, 0.0], 0.75)
    assert (result.statistic, result.fraction()) == (0.75, Fraction(3, 4))


@pytest.mark.parametrize("observed", [1, 10, -10, 0, 2.5])
def test_sums_that_no_labelling_has_are_refused(observed):
    message = rf"observed={observed} is a sum that no labelling has; .* from -8 to 8 in steps of 2"
    for make in (at, FarTail.of):
        with pytest.raises(ValueError, match=message):
            make([3, 5], [0, 0], observed)


@pytest.mark.parametrize("observed", ["many", float("nan"), [2]])
def test_a_lead_is_a_number(observed):
    with pytest.raises(ValueError, match="is not a number; give a sum of scores"):
        at([3, 5], [0, 0], observed)


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


@pytest.mark.parametrize("side", [1, -1])
def test_the_tilted_law_has_its_mean_at_the_lead(side):
    deviation = FarTail.of(U, V).null.std()
    for lead in range(TOP // 4 * 2, TOP - 30, 20):
        lead += (TOP - lead) % 2
        tail = FarTail.of(U, V, side * lead)
        assert tail.tilted.mean() == pytest.approx(lead, abs=0.01 * deviation)
        assert tail.tilted.std() < deviation


def test_logarithms_go_on_where_floats_end():
    tail = FarTail.of([1] * 3000, [0] * 3000, 3000)
    assert tail.null.pmf[0] == 0
    assert tail.tilted.log_pmf[0] < -3000 * log(2)
    assert tail.tilted.mean() == pytest.approx(2998, abs=1.0)
    assert np.isfinite(drawn(tail)[0].get_ylim()).all()


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


def test_the_lead_and_the_noise_are_marked():
    for side in (1, -1):
        tail = FarTail.of(U, V, side * 40)
        upper, lower = drawn(tail)
        for ax in (upper, lower):
            (line,) = artists(ax, "observed")
            assert set(line.get_xdata()) == {40}
        (line,) = artists(upper, "noise")
        assert set(line.get_ydata()) == {np.log10(tail.noise)}
    fft = pt.convolve_cf([pt.pmf(int(d), -int(d)) for d in U - V])
    assert tail.noise == fft.absolute_error
    off = np.abs(fft.pmf - tail.null.pmf).max()
    assert off <= tail.noise < 1e-15


def test_without_axes_a_figure_is_made_in_the_style_of_the_project():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = dict(mpl.rcParams)
    upper, lower = plot_tail(FarTail.of(U, V))
    assert upper.figure is lower.figure
    assert upper.figure.get_size_inches().tolist() == [8.0, 4.4]
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()
    pyplot.close(upper.figure)


def test_what_cannot_be_drawn_is_refused_at_once():
    with pytest.raises(ValueError, match="has 1,000,002 cells, too many to be drawn"):
        FarTail.of([10**6, 1], [0, 0])
    assert at([10**6, 1], [0, 0], 10**6 - 1).pvalue == 1.0
