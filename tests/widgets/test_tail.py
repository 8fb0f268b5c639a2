"""The far tail: p of any lead against enumeration, tilted laws, and the explorer of both."""

import re
from base64 import b64decode
from fractions import Fraction
from io import BytesIO
from math import exp, log

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import image
from matplotlib.figure import Figure

import permtest as pt
from permtest.plots import FarTail, plot_tail
from permtest.widgets import TailExplorer
from permtest.widgets.tail import STOPS, describe
from tests import naive, strategies

RNG = np.random.default_rng(6)
U, V = RNG.integers(0, 9, (2, 120))
TOP = int(np.abs(U - V).sum())


def explorer(**options: object) -> TailExplorer:
    return TailExplorer(U, V, **options)


def shown(e: TailExplorer) -> tuple[str, str]:
    return e.picture.value, e.sentence.value


def pixels(e: TailExplorer) -> np.ndarray:
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


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


# ---- the explorer ------------------------------------------------------------------------------


def test_the_first_view_is_what_was_observed():
    e = explorer(names=("'a'", "b"))
    result = pt.exact_perm_test(U, V)
    assert e.lead.value == abs(result.statistic)
    assert e.tail.result.pvalue == result.pvalue
    assert "alt='Null law of &#x27;a&#x27; minus b and the law tilted to" in e.picture.value
    assert "aria-live='polite'" in e.sentence.value
    assert pixels(e).shape[:2] == (440, 800)
    assert explorer(observed=-TOP).lead.value == TOP


def test_the_slider_has_every_lead_that_can_be():
    labels, values = zip(*TailExplorer([2, 3, 3], [0, 0, 0]).lead.options, strict=True)
    assert values == (2, 4, 8)  # of ±2 ±3 ±3
    assert labels == ("2", "4", "8")
    many = TailExplorer([1] * 9000, [0] * 9000)
    values = [value for _, value in many.lead.options]
    assert STOPS / 2 < len(values) <= STOPS + 2
    assert (values[0], values[-1], many.lead.value) == (0, 9000, 9000)


def test_every_position_shows_its_own_p():
    e = explorer()
    before, first = shown(e), e.lead.value
    for lead in (TOP - 100, TOP - 8, TOP):
        e.lead.value = lead
        assert e.tail.result.log10_pvalue == at(U, V, lead).log10_pvalue
        assert f"p = {e.tail.result.pvalue_text()} (log10 p = " in e.sentence.value
        assert e.picture.value != before[0]
    e.lead.value = first
    assert shown(e) == before


def test_the_sentence_says_what_the_picture_shows():
    tail = FarTail.of(U, V, 40)
    text = describe(tail)
    assert text.startswith(
        f"A lead of 40 points, for either system, has p = {tail.result.pvalue:.3g}"
    )
    assert f"{40 / tail.null.std():.3g} standard deviations out" in text
    assert "can still make out the cells" in text
    assert f"a factor of {exp(tail.tau):.3g} per point" in text
    assert f"a standard deviation of {tail.tilted.std():.3g}." in text
    assert "sees nothing but its own noise" in describe(FarTail.of(U, V, TOP - 2))
    assert describe(FarTail.of(U, V, -40)) == text


def test_identical_systems():
    e = TailExplorer([1, 2], [1, 2])
    assert "A lead of 0 points, for either system, has p = 1: no swap" in e.sentence.value
    assert [value for _, value in e.lead.options] == [0]
    assert pixels(e).shape[:2] == (440, 800)


@pytest.mark.usefixtures("unseen")
def test_axes_stand_still():
    e = explorer()
    limits = set()
    for _, lead in e.lead.options[::20]:
        e.lead.value = lead
        limits.add(tuple(limit for ax in e._axes for limit in (*ax.get_xlim(), *ax.get_ylim())))
        left, right = e._axes[1].get_xlim()
        assert left < lead < right
    assert len(limits) == 1


def test_an_error_in_a_callback_is_shown_and_forgotten(monkeypatch):
    e = explorer()
    before, first = shown(e), e.lead.value

    def broken(*_: object) -> None:
        raise RuntimeError("the <b>test</b> is broken")

    with monkeypatch.context() as patch:
        patch.setattr("permtest.result.solve", broken)
        e.lead.value = TOP
        assert "RuntimeError: the &lt;b&gt;test&lt;/b&gt; is broken" in e.sentence.value
        assert "role='alert'" in e.sentence.value
        assert not e.picture.value
    e.lead.value = first
    assert shown(e) == before


def test_what_cannot_be_drawn_is_refused_at_once():
    with pytest.raises(ValueError, match="has 1,000,002 cells, too many to be drawn"):
        TailExplorer([10**6, 1], [0, 0])
    assert at([10**6, 1], [0, 0], 10**6 - 1).pvalue == 1.0
