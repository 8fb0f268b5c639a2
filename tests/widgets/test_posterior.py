"""The explorer of posteriors: its controls, and what it draws and says."""

import re
from base64 import b64decode
from html import unescape
from io import BytesIO

import numpy as np
import pytest
from matplotlib import image

from permtest.alternatives import bayes_test, block_weight
from permtest.widgets import PosteriorExplorer, posterior
from permtest.widgets.posterior import WHOLE, close_up, describe, same_gold

A, B = (90, 10, 20), (95, 9, 15)
ZERO, MILLION = (0, 0, 0), (10**6, 10**5, 10**5)
FOLDS_A = [[10, 2, 3], [9, 3, 2], [8, 4, 1], [10, 2, 2], [9, 3, 3], [11, 1, 4]]
FOLDS_B = [[12, 2, 1], [10, 3, 1], [9, 3, 0], [10, 2, 2], [10, 2, 2], [12, 2, 3]]


def shown(e):
    return e.picture.value, e.sentence.value


def pixels(e):
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


def parts(e, which, *gids):
    ax = e._axes[which]
    return [x for x in (*ax.lines, *ax.texts, *ax.collections, *ax.patches) if x.get_gid() in gids]


# ---- one gold standard ---------------------------------------------------------------------------


def test_a_hit_more_is_a_miss_less():
    assert same_gold((93, 10, 20), B, "tp_a", 500) == ((93, 10, 17), B)
    assert same_gold(A, (80, 9, 15), "tp_b", 500) == (A, (80, 9, 30))
    assert same_gold((200, 10, 20), B, "tp_a", 500)[0] == (110, 10, 0)  # all there is
    assert same_gold((0, 10, 20), (95, 9, 100), "tp_a", 100)[0] == (95, 10, 100)


def test_more_to_be_found_is_more_for_both():
    assert same_gold((90, 10, 40), B, "fn_a", 500) == ((90, 10, 40), (95, 9, 35))
    assert same_gold(A, (95, 9, 0), "fn_b", 500) == ((90, 10, 5), (95, 9, 0))
    assert same_gold((90, 10, 0), B, "fn_a", 500) == ((90, 10, 5), (95, 9, 0))
    assert same_gold((90, 10, 500), (20, 0, 90), "fn_a", 500) == ((90, 10, 430), (20, 0, 500))


def test_different_gold_standards_become_the_larger_one():
    assert same_gold(A, (30, 5, 5), "", 500) == (A, (30, 5, 80))


@pytest.mark.parametrize("moved", ["tp_a", "fn_a", "tp_b", "fn_b", ""])
def test_no_count_leaves_its_slider(moved):
    for counts in np.random.default_rng(3).integers(0, 11, (200, 2, 3)).tolist():
        a, b = same_gold(*map(tuple, counts), moved, 10)
        assert a[0] + a[2] == b[0] + b[2]
        assert min(*a, *b) >= 0
        assert max(*a, *b) <= 10
        assert [a[1], b[1]] == [counts[0][1], counts[1][1]]


# ---- the explorer --------------------------------------------------------------------------------


def test_it_starts_at_the_counts():
    e = PosteriorExplorer(A, B, rope=0.02, names=("old", "new"))
    assert [slider.value for slider in e.counts.values()] == [*A, *B]
    assert {slider.max for slider in e.counts.values()} == {200}
    assert e.linked.value
    assert e.linked.description.endswith("standard: 110 to be found")
    exact = bayes_test(A, B, rope=0.02, names=("old", "new"))
    assert (e.result.p_b_better, e.result.p_equivalent) == (exact.p_b_better, exact.p_equivalent)
    assert pixels(e).shape[:2] == (440, 800)


def test_it_opens_a_result_with_its_folds_added_up():
    found = bayes_test(FOLDS_A, FOLDS_B, "recall", 0.7, rope=0.06, threshold=0.8, names=("x", "y"))
    e = PosteriorExplorer.of(found)
    assert [slider.value for slider in e.counts.values()] == [57, 15, 15, 63, 14, 9]
    assert (e.metric.value, e.prior.value, e.rope.value) == ("recall", 0.7, 0.06)
    assert e.weight.value == block_weight(3)
    assert e.result.p_b_better == pytest.approx(found.p_b_better, abs=1e-9)
    assert (e.result.threshold, e.result.names) == (0.8, ("x", "y"))
    assert 1 / 6 in e.weight.options.values()


def test_options_that_are_not_to_be_chosen_are_added():
    e = PosteriorExplorer(A, B, metric="jaccard", weight=0.3, prior=3.0)
    assert e.metric.value == "jaccard"
    assert "as given (weight 0.3)" in e.weight.options
    assert (e.result.weight, e.result.prior) == (0.3, 3.0)
    other = PosteriorExplorer(
        [(*row, 9) for row in FOLDS_A[:4]], [(*row, 9) for row in FOLDS_B[:4]]
    )
    assert list(other.weight.options.values()) == [block_weight(2), 1.0, 0.25]
    assert other.counts["tp_a"].value == 37  # true negatives are no part of F1


def test_every_choice_changes_what_is_shown():
    e = PosteriorExplorer(A, B)
    choices = {"metric": "recall", "prior": 10.0, "weight": 1 / 6, "rope": 0.03, "axes": False}
    for control, value in choices.items():
        before = shown(e)
        getattr(e, control).value = value
        assert e.picture.value != before[0]
        assert (e.sentence.value == before[1]) == (control == "axes")
        assert control == "axes" or getattr(e.result, control) == value
    wanted = bayes_test(A, B, "recall", 10.0, 1 / 6, rope=0.03)
    assert e.result.p_b_better == pytest.approx(wanted.p_b_better, abs=1e-8)


def test_every_count_changes_what_is_shown():
    e = PosteriorExplorer(A, B)
    for cell in list(e.counts):
        before = shown(e)
        e.counts[cell].value += 7
        assert all(new != old for new, old in zip(shown(e), before, strict=True))
        counts = [slider.value for slider in e.counts.values()]
        assert counts[0] + counts[2] == counts[3] + counts[5]
        assert e.result.p_h1 == bayes_test(counts[:3], counts[3:]).p_h1


@pytest.mark.usefixtures("unseen")
def test_linked_counts_make_one_update_and_unlinked_ones_move_alone(monkeypatch):
    e, calls = PosteriorExplorer(A, B), []
    update = e._update
    monkeypatch.setattr(e, "_update", lambda: (calls.append(1), update()))
    e.counts["fn_a"].value = 40
    assert e.counts["fn_b"].value == 35
    assert len(calls) == 1
    e.linked.value = False
    e.counts["fn_a"].value = 60
    assert e.counts["fn_b"].value == 35
    assert "150 to be found for A and 130 for B" in e.sentence.value
    e.linked.value = True
    assert e.counts["fn_b"].value == 55
    assert "for A and" not in e.sentence.value.split("independent")[0].split("says")[1]


@pytest.mark.usefixtures("unseen")
def test_axes_stand_still_until_they_are_chosen():
    e = PosteriorExplorer(A, B)

    def limits():
        return tuple(ax.get_xlim() for ax in e._axes)

    first = limits()
    e.counts["tp_a"].value = 20
    assert limits() == first
    e.metric.value, e.counts["tp_a"].value = "recall", 99
    assert limits() == first
    e.axes.value = False
    assert limits() == WHOLE
    e.axes.value = True
    assert limits() == close_up(e.result) != first


def test_what_lies_outside_is_an_arrow_and_its_probability_stays():
    e = PosteriorExplorer(A, B)
    assert not parts(e, 0, "open")
    e.counts["tp_a"].value = 10
    (arrow,) = parts(e, 0, "open")
    assert (arrow.get_marker(), arrow.get_xdata()[0]) == ("<", e._limits[0][0])
    (arrow,) = parts(e, 1, "open")
    assert (arrow.get_marker(), arrow.get_xdata()[0]) == (">", e._limits[1][1])
    assert "B better" in e._axes[1].get_legend().get_texts()[-1].get_text()


def test_posteriors_intervals_and_region_are_drawn():
    e = PosteriorExplorer(A, B, rope=0.02)
    for letter, law in (("a", e.result.posterior_a), ("b", e.result.posterior_b)):
        (bar,) = parts(e, 0, f"interval {letter}")
        assert tuple(bar.get_xdata()) == law.interval()
    (bar,) = parts(e, 1, "interval")
    assert tuple(bar.get_xdata()) == e.result.difference.interval()
    assert parts(e, 1, "rope")
    solid, dashed = parts(e, 0, "a", "b")
    assert solid.get_linestyle() == "-" != dashed.get_linestyle()
    e.rope.value = 0
    assert not parts(e, 1, "rope")


@pytest.mark.parametrize(
    ("a", "b", "metric", "prior"),
    [
        (ZERO, ZERO, "f1", 0.5),
        (ZERO, MILLION, "f2", 1.0),
        (MILLION, (10**6, 0, 0), "precision", 2.0),
        (ZERO, A, "recall", 0.5),
    ],
)
def test_edges_have_a_picture(a, b, metric, prior):
    e = PosteriorExplorer(a, b, metric=metric, prior=prior)
    assert pixels(e).shape[:2] == (440, 800)
    assert "P(B better than A)" in e.sentence.value
    assert "nan" not in e.sentence.value
    for limits in e._limits:
        assert limits[0] < limits[1]


def test_texts_stay_in_the_picture():
    e = PosteriorExplorer(A, B, rope=0.02, names=("a tagger of 1999", "with $x$ and $y$"))
    frame = e._figure.bbox
    for ax in e._axes:
        texts = [ax.xaxis.label, *ax.get_yticklabels(), *ax.texts]
        for box in [text.get_window_extent() for text in texts if text.get_text()]:
            assert frame.x0 <= box.x0 < box.x1 <= frame.x1
            assert frame.y0 <= box.y0 < box.y1 <= frame.y1


def test_the_sentence_states_the_numbers():
    e = PosteriorExplorer(A, B, rope=0.02)
    text = unescape(e.sentence.value)
    assert describe(e.result) in text
    assert str(e.result) in text
    low, high = e.result.posterior_a.interval()
    assert f"F1 is {low:.4g} to {high:.4g} for A" in text
    assert "The rule of Wang and Li, which takes what is more probable than not, says H1" in text
    equal = describe(bayes_test(A, A, "f2"))
    assert "says H0, B is not better." in equal
    assert "Undecided at a threshold of 0.95" in equal
    assert describe(bayes_test(A, (90, 10, 10))).count("were both judged on the same items?") == 1


def test_an_error_in_a_callback_is_shown_and_forgotten(monkeypatch):
    e = PosteriorExplorer(A, B)
    before = shown(e)

    def broken(*_, **__):
        raise RuntimeError("<b>no</b>")

    with monkeypatch.context() as patch:
        patch.setattr(posterior, "plot_difference", broken)
        e.prior.value = 2.0
        assert "RuntimeError: &lt;b&gt;no&lt;/b&gt;" in e.sentence.value
        assert not e.picture.value
    e.prior.value = 1.0
    assert shown(e) == before


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ((1, 2), B, {}, "folds_a must have shape"),
        ((1, -2, 3), B, {}, "fp = -2"),
        ((1, 2.5, 3), B, {}, "a has fp = 2.5; sliders need whole numbers"),
        (A, (1, 2, 0.5), {}, "b has fn = 0.5; sliders need whole numbers"),
        (FOLDS_A, FOLDS_B[:5], {}, "they must match"),
        (A, B, {"metric": "bleu"}, "metric='bleu' is no ratio"),
        ((*A, 9), (*B, 9), {"metric": "specificity"}, "'specificity' takes more than tp, fp, fn"),
        (A, B, {"prior": 0}, "prior=0 must be a number from 0.1"),
        (A, B, {"weight": -1}, "weight=-1 must be a number above 0"),
        (A, B, {"rope": 1.0}, "rope=1.0 must lie in"),
        (A, B, {"threshold": 0.2}, "threshold=0.2 must lie in"),
        (A, B, {"names": ("x", "x")}, "must differ"),
    ],
)
def test_arguments_are_checked(a, b, options, message):
    with pytest.raises(ValueError, match=message):
        PosteriorExplorer(a, b, **options)
