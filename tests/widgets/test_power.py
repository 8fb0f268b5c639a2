"""The explorer of power: plans against their definitions, and what is drawn of them."""

import re
from base64 import b64decode
from fractions import Fraction
from io import BytesIO
from math import inf, log10

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image
from matplotlib.figure import Figure

from permtest import alternatives as alt
from permtest.study import (
    minimum_detectable_effect,
    power_curve,
    power_curve_normal,
    power_t,
    sample_size,
)
from permtest.widgets import PowerExplorer, power
from permtest.widgets.power import (
    EXPERIMENTS,
    FEWEST,
    MOST,
    Plan,
    describe,
    plot_plan,
    stops,
)

RNG = np.random.default_rng(5)
A = RNG.integers(0, 9, 90)
B = np.clip(A + RNG.integers(-3, 3, 90), 0, 9)
LEAD, SD = float((A - B).mean()), float((A - B).std(ddof=1))
SIDES = ("two-sided", "greater", "less")


def shown(e):
    return e.picture.value, e.sentence.value


def pixels(e):
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


def lines(ax, *gids):
    return [line for line in ax.lines if line.get_gid() in gids]


# ---- a plan --------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_a_plan_holds_what_the_functions_say(side):
    lead = -0.2 if side == "less" else 0.2
    options = {"alpha": 0.01, "alternative": side}
    plan = Plan.of(lead, 0.9, 80, **options)
    assert plan.power == power_t(80, lead, 0.9, **options)
    assert plan.needed == sample_size(lead, 0.9, **options)
    assert plan.detectable == minimum_detectable_effect(80, 0.9, **options)
    assert power_t(80, plan.detectable, 0.9, **options) == pytest.approx(0.8)
    assert plan.curve([20, 80]) == [power_t(20, lead, 0.9, **options), plan.power]


@pytest.mark.parametrize("side", SIDES)
def test_the_interval_to_expect_is_that_of_scores_with_these_moments(side):
    scores, sign = ((B, A), -1) if side == "less" else ((A, B), 1)
    found = alt.paired_t(*scores, alternative=side).confidence_interval(0.9)
    plan = Plan.of(sign * LEAD, SD, 90, alpha=0.1, alternative=side)
    assert plan.expected == pytest.approx(tuple(found))
    assert (inf in plan.expected) == (side == "greater")


def test_nothing_to_find():
    plan = Plan.of(0.0, 1.0, 50)
    assert plan.needed is None
    assert plan.power == pytest.approx(0.05)
    assert "there is nothing to find" in describe(plan)


# ---- the picture ---------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["two-sided", "greater"])
def test_power_interval_and_effects_are_drawn(side):
    plan = Plan.of(0.3, 1.0, 60, alternative=side)
    exact = power_curve_normal(0.3, 1.0, sizes=(60,), experiments=50, rng=0)
    upper, lower = plot_plan(plan, exact, axes=Figure().subplots(2), sizes=[5, 50, 500])
    (curve,) = lines(upper, "power")
    assert curve.get_ydata().tolist() == plan.curve([5, 50, 500])
    assert curve.get_xdata() == pytest.approx(np.log10([5, 50, 500]))
    (needed,) = lines(upper, "needed")
    assert (needed.get_xdata()[0], needed.get_ydata()[0]) == (log10(plan.needed), 0.8)
    (now,) = lines(upper, "n")
    assert set(now.get_xdata()) == {log10(60)}
    (mark,) = lines(upper, "exact")
    assert mark.get_ydata() == pytest.approx(
        [exact.intervals[0][0], exact.power[0], exact.intervals[0][1]]
    )
    (interval,) = lines(lower, "interval")
    low, high = plan.expected
    assert interval.get_xdata() == pytest.approx([low, 0.3, min(high, lower.get_xlim()[1])])
    assert len(lines(lower, "open")) == (side == "greater")
    (found,) = lines(lower, "detectable")
    both = [-plan.detectable, plan.detectable]
    assert list(found.get_xdata()) == (both if side == "two-sided" else both[1:])
    words = [text.get_text() for text in upper.get_legend().get_texts()]
    assert words == ["n = 60", "paired t-test", "exact test", f"{plan.needed} for 80%"]


def test_what_is_needed_beyond_the_axis_is_not_marked():
    upper, _ = plot_plan(Plan.of(0.001, 1.0, 60), axes=Figure().subplots(2))
    assert not lines(upper, "needed", "exact")


def test_without_axes_a_figure_is_made_in_the_style_of_the_project():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = dict(mpl.rcParams)
    upper, lower = plot_plan(Plan.of(0.3, 1.0, 60))
    assert upper.figure is lower.figure
    assert not upper.spines["top"].get_visible()
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()
    pyplot.close(upper.figure)


# ---- the explorer --------------------------------------------------------------------------------


def test_it_starts_at_the_scores():
    e = PowerExplorer(A, B)
    assert e.n.value == 90
    assert e.plan == Plan.of(e.lead.value, SD, 90)
    assert e.lead.value == pytest.approx(LEAD)
    options = {"sizes": (90,), "experiments": EXPERIMENTS, "rng": 0}
    assert e.exact == power_curve(A, B, **options)
    e.lead.value = 0.3
    assert e.exact == power_curve(A, B, delta=Fraction(e.lead.value), **options)
    assert pixels(e).shape[:2] == (440, 800)


def test_it_starts_without_scores():
    e = PowerExplorer(lead=-0.1, sd=0.5, alpha=0.01)
    assert (e.lead.min, e.lead.max, e.n.value) == (-0.5, 0.0, 100)
    assert e.plan == Plan.of(-0.1, 0.5, 100, alpha=0.01)
    e.alternative.value = "one-sided"
    assert e.plan.alternative == e.exact.alternative == "less"
    assert e.exact.method == "normal"


@pytest.mark.parametrize(
    ("control", "value"), [("lead", 0.5), ("n", 5000), ("alpha", 0.1), ("alternative", "one-sided")]
)
def test_every_control_changes_what_is_shown(control, value):
    e = PowerExplorer(A, B, lead=0.25)
    before, first = getattr(e, control).value, shown(e)
    getattr(e, control).value = value
    assert all(new != old for new, old in zip(shown(e), first, strict=True))
    side = "greater" if control == "alternative" else "two-sided"
    assert e.plan == Plan.of(e.lead.value, SD, e.n.value, alpha=e.alpha.value, alternative=side)
    assert e.exact.sizes == (e.n.value,)
    getattr(e, control).value = before
    assert shown(e) == first


@pytest.mark.usefixtures("unseen")
def test_the_simulated_power_agrees_with_the_curve():
    e = PowerExplorer(lead=0.3, sd=1.0)
    for n in (30, 100, 259):
        e.n.value = min((value for _, value in e.n.options), key=lambda x, n=n: abs(x - n))
        low, high = e.exact.intervals[0]
        assert low - 0.05 < e.plan.power < high + 0.05


def test_the_slider_has_the_size_of_the_data():
    numbers = [value for _, value in stops(1234)]
    assert (numbers[0], numbers[-1]) == (FEWEST, MOST)
    assert 1234 in numbers
    assert numbers == sorted(set(numbers))
    assert dict(stops(1234))["1,234"] == 1234
    few = PowerExplorer([1, 2], [0, 0])
    assert few.n.value == FEWEST


@pytest.mark.usefixtures("unseen")
def test_axes_stand_still():
    e, limits = PowerExplorer(A, B), set()
    for n, lead in ((5, 0.0), (90, e.lead.max), (5000, 0.1)):
        e.n.value, e.lead.value = n, lead
        limits.add(tuple(end for ax in e._axes for end in (*ax.get_xlim(), *ax.get_ylim())))
        assert e._axes[1].get_xlim()[0] < lead < e._axes[1].get_xlim()[1]
    assert len(limits) == 1


@pytest.mark.parametrize("lead", [0.018, 0.9, -0.9])
def test_texts_stay_in_the_picture_and_apart(lead):
    e = PowerExplorer(lead=lead, sd=1.0, n=5000)
    boxes = []
    for ax in e._axes:
        left, right = ax.get_xlim()
        parts = [ax.xaxis.label, ax.yaxis.label, *ax.get_yticklabels()]
        parts += [x for x in ax.get_xticklabels() if left <= x.get_position()[0] <= right]
        boxes += [part.get_window_extent() for part in [*parts, ax.get_legend()] if part]
    boxes = [box for box in boxes if box.width]
    for i, box in enumerate(boxes):
        assert e._figure.bbox.x0 <= box.x0 < box.x1 <= e._figure.bbox.x1
        assert e._figure.bbox.y0 <= box.y0 < box.y1 <= e._figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_the_sentence_states_the_numbers():
    e = PowerExplorer(lead=0.1, sd=0.5, n=100)
    text = e.sentence.value
    assert describe(e.plan, e.exact) in text
    assert "With 100 pairs, a mean difference of 0.1 and a standard deviation of 0.5" in text
    assert f"has a power of {100 * e.plan.power:.1f}% (the exact test, simulated: " in text
    assert "80% takes 199 pairs" in text
    low, high = e.plan.expected
    assert (
        f"A 95% interval to expect is {low:.3g} to {high:.3g}.".replace("-", "\N{MINUS SIGN}")
        in text
    )
    assert f"with a power of 80% is {e.plan.detectable:.3g}." in text
    for side, words in (("greater", "or more"), ("less", "or less")):
        lead = 0.1 if side == "greater" else -0.1
        assert words in describe(Plan.of(lead, 0.5, 20, alternative=side))


def test_an_error_in_a_callback_is_shown_and_forgotten(monkeypatch):
    e = PowerExplorer(A, B)
    before = shown(e)

    def broken(*_, **__):
        raise RuntimeError("<b>no</b>")

    with monkeypatch.context() as patch:
        patch.setattr(power, "power_curve", broken)
        e.n.value = 5
        assert "RuntimeError: &lt;b&gt;no&lt;/b&gt;" in e.sentence.value
        assert not e.picture.value
    e.n.value = 90
    assert shown(e) == before


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, "give scores of two systems, a and b, or lead and sd"),
        ((), {"lead": 0.1, "sd": 0}, "sd=0 must be finite, and above 0"),
        ((), {"lead": inf, "sd": 1}, "lead=inf must be finite"),
        ((), {"lead": 0.1, "sd": 1, "alpha": 0.2}, "alpha=0.2 is not to be chosen"),
        ((), {"lead": 0.1, "sd": 1, "n": 3}, "n=3 is not on the slider, from 5 to 5000"),
        ((A, B), {"sd": 1}, "sd is that of the scores"),
        (([2, 2], [1, 1]), {}, "all 2 differences are 1; power needs some spread"),
    ],
)
def test_arguments_are_checked(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        PowerExplorer(*arguments, **options)
