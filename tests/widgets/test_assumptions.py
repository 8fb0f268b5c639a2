"""Correlated systems: the scores are as asked for, the tests those of the package, all is shown."""

import re
from base64 import b64decode
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image
from matplotlib.figure import Figure

from permtest import alternatives as alt
from permtest.widgets import AssumptionsExplorer, assumptions
from permtest.widgets.assumptions import Dependence, describe, plot_dependence, two_systems


def shown(e):
    return e.picture.value, e.sentence.value


def pixels(e):
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


def lines(ax, *gids):
    return [line for line in ax.lines if line.get_gid() in gids]


def drawn(found):
    return plot_dependence(found, axes=Figure().subplots(1, 2))


# ---- the scores ----------------------------------------------------------------------------------


@pytest.mark.parametrize("r12", [-1, -0.5, 0, 0.38, 0.8, 0.99])
@pytest.mark.parametrize("n", [3, 10, 200])
def test_samples_have_just_the_moments_that_are_asked_for(r12, n):
    a, b = two_systems(r12, n=n, lead=3)
    assert a.size == b.size == n
    assert np.corrcoef(a, b)[0, 1] == pytest.approx(r12, abs=3e-3)
    assert [x.mean() for x in (a, b)] == pytest.approx([53, 50], abs=0.02)
    assert [x.std(ddof=1) for x in (a, b)] == pytest.approx([10, 10], abs=0.03)
    np.testing.assert_allclose(20 * a, np.rint(20 * a), atol=1e-9)


def test_differences_keep_their_pattern():
    one, other = (np.subtract(*two_systems(r12, lead=0)) for r12 in (0.5, 0.875))
    np.testing.assert_allclose(one, 2 * other, atol=0.16)
    np.testing.assert_array_equal(*(two_systems(0.5, rng=7)[0] for _ in range(2)))
    assert not np.array_equal(two_systems(0.5, rng=7)[0], two_systems(0.5)[0])


@pytest.mark.parametrize(("r12", "factor"), [(0.38, 1.27), (0.5, 1.41), (0.8, 2.24)])
def test_the_factors_of_yeh(r12, factor):
    found = Dependence.of(*two_systems(r12, n=60))
    assert round(found.believed / found.spread, 2) == factor == round(alt.inflation(r12), 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"r12": 1}, r"r12 must lie in \[-1, 1\), got 1"),
        ({"r12": 0, "n": 2}, "n must be between 3 and 200, got 2"),
        ({"r12": 0, "n": 201}, "n must be between 3 and 200, got 201"),
    ],
)
def test_scores_that_cannot_be_made(arguments, message):
    with pytest.raises(ValueError, match=message):
        two_systems(**arguments)


def test_the_tests_are_those_of_the_package():
    a, b = two_systems(0.6, n=40)
    found = Dependence.of(a, b, ("x", "y"))
    assert found.exact.pvalue == alt.permutation_mean(a, b).pvalue
    assert found.paired.pvalue == alt.paired_t(a, b).pvalue
    assert found.independent.pvalue == alt.independent_t(a, b).pvalue
    assert found.spread == pytest.approx(np.std(a - b, ddof=1))
    assert found.believed == pytest.approx(np.hypot(a.std(ddof=1), b.std(ddof=1)))
    assert found.sample.names == found.paired.names == found.independent.names == ("x", "y")


# ---- the picture ---------------------------------------------------------------------------------


def test_scores_intervals_and_p_values_are_drawn():
    found = Dependence.of(*two_systems(0.6, n=40))
    cloud, leads = drawn(found)
    (dots,) = lines(cloud, "items")
    np.testing.assert_array_equal(dots.get_xdata(), found.sample.b)
    np.testing.assert_array_equal(dots.get_ydata(), found.sample.a)
    both = (found.paired, found.independent)
    for line, result in zip(lines(leads, "interval"), both, strict=True):
        low, high = result.confidence_interval()
        assert line.get_xdata() == pytest.approx([low, result.estimate, high])
    assert cloud.get_title(loc="left") == "40 items, r12 = 0.60"
    assert leads.get_title(loc="left") == f"exact p = {found.exact.pvalue_text()}"
    names = [label.get_text() for label in leads.get_yticklabels()]
    assert [name.split(" = ")[0] for name in names] == ["paired t\np", "two-sample t\np"]
    paired, hollow = lines(leads, "interval")
    assert (paired.get_marker(), hollow.get_marker()) == ("o", "s")
    assert hollow.get_markerfacecolor() == leads.get_facecolor()


def test_without_axes_a_figure_is_made_in_the_style_of_the_project():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = dict(mpl.rcParams)
    axes = plot_dependence(Dependence.of(*two_systems(0.5)))
    assert not axes[0].spines["top"].get_visible()
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()
    pyplot.close(axes[0].figure)


# ---- the explorer --------------------------------------------------------------------------------


@pytest.mark.parametrize(("control", "value"), [("r12", 0.8), ("n", 120), ("lead", 4.5)])
def test_every_control_changes_what_is_shown(control, value):
    e = AssumptionsExplorer()
    before, first = getattr(e, control).value, shown(e)
    getattr(e, control).value = value
    assert all(new != old for new, old in zip(shown(e), first, strict=True))
    expected = Dependence.of(*two_systems(e.r12.value, n=e.n.value, lead=e.lead.value))
    assert e.found.exact.pvalue == expected.exact.pvalue
    getattr(e, control).value = before
    assert shown(e) == first


@pytest.mark.usefixtures("unseen")
def test_independence_hides_what_pairs_show():
    e = AssumptionsExplorer(r12=0.0, lead=3.0, n=60)
    blind, seen = e.found.independent.pvalue, e.found.exact.pvalue
    for r12 in (0.4, 0.8):
        e.r12.value = r12
        assert e.found.independent.pvalue == pytest.approx(blind, rel=0.01)
        assert e.found.exact.pvalue < seen
        seen = e.found.exact.pvalue
    assert "only the tests of pairs see the difference" in e.sentence.value


def test_axes_stand_still_and_hold_everything():
    e = AssumptionsExplorer()
    limits = set()
    for r12, n, lead in ((-0.5, 10, 6), (0.95, 200, 0), (0.5, 50, 2)):
        e.r12.value, e.n.value, e.lead.value = r12, n, lead
        limits.add(tuple(end for ax in e._axes for end in (*ax.get_xlim(), *ax.get_ylim())))
        for line in lines(e._axes[1], "interval"):
            assert e._axes[1].get_xlim()[0] < min(line.get_xdata())
            assert e._axes[1].get_xlim()[1] > max(line.get_xdata())
    assert len(limits) == 1
    assert pixels(e).shape[:2] == (440, 800)


@pytest.mark.parametrize("r12", [-0.5, 0.95])
def test_texts_stay_in_the_picture_and_apart(r12):
    e = AssumptionsExplorer(r12=r12, n=10, lead=6.0)
    boxes = []
    for ax in e._axes:
        parts = [ax.xaxis.label, ax.yaxis.label, ax._left_title]
        parts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
        boxes += [part.get_window_extent() for part in parts if part.get_text()]
    for i, box in enumerate(boxes):
        assert e._figure.bbox.x0 <= box.x0 < box.x1 <= e._figure.bbox.x1
        assert e._figure.bbox.y0 <= box.y0 < box.y1 <= e._figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_the_sentence_states_the_numbers():
    found = Dependence.of(*two_systems(0.8, n=60, lead=2), ("x", "y"))
    text = describe(found)
    assert "correlation r12 = 0.80" in text
    assert "standard deviation of 6.3 points" in text
    assert "believes 14.1, 2.24 times as much" in text
    assert "x is 2.00 points ahead of y, on 60 items" in text
    for result in (found.exact, found.paired, found.independent):
        assert f"{result.pvalue_text()} by the " in text
    assert "two-sample test alone rejects" in describe(
        Dependence.of(*two_systems(-0.5, n=50, lead=4.2))
    )
    assert "they all let it pass" in describe(Dependence.of(*two_systems(0, lead=0)))
    assert "they all reject" in describe(Dependence.of(*two_systems(0.8, lead=6)))


def test_an_error_in_a_callback_is_shown_and_forgotten(monkeypatch):
    e = AssumptionsExplorer()
    before = shown(e)

    def broken(*_, **__):
        raise RuntimeError("<b>no</b>")

    with monkeypatch.context() as patch:
        patch.setattr(assumptions, "paired_t", broken)
        e.n.value = 60
        assert "RuntimeError: &lt;b&gt;no&lt;/b&gt;" in e.sentence.value
        assert not e.picture.value
    e.n.value = 50
    assert shown(e) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"r12": 0.97}, "r12=0.97 is not on the slider, from -0.5 to 0.95"),
        ({"n": 5}, "n=5 is not on the slider"),
        ({"lead": -1}, "lead=-1 is not on the slider"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        AssumptionsExplorer(**arguments)
